"""α-NLI and δ-NLI as corpora like all others: how they are told, and what ``read_corpus`` reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ietest_fast.corpus.columns import check_columns, list_names
from ietest_fast.corpus.dataset import LABEL, Corpus
from ietest_fast.corpus.formats import check_readable, column_names, find_format
from ietest_fast.corpus.reasoning import (
    ALPHA_NLI_PARTS,
    CONTEXT,
    STORIES,
    fold_key,
    join_contexts,
    read_alpha_nli,
    read_delta_nli,
    tell_stories,
)
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class ReasoningTask:
    """A task whose two text columns are made of more texts."""

    name: str
    """For messages."""
    keys: frozenset[str]
    """Keys of the published file, in small letters, by which it is told."""
    made_of: Mapping[str, tuple[str, ...]]
    """The two text columns, and which single texts each is made of."""
    reworded: tuple[str, ...]
    """The single texts that Srikanth et al. (2024) have paraphrased."""
    compose: Callable[[pa.Table], pa.Table]
    """Makes the text columns anew of the single texts."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the text columns."""
        return tuple(self.made_of)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the single texts, each once."""
        return tuple(dict.fromkeys(part for parts in self.made_of.values() for part in parts))


ALPHA_NLI = ReasoningTask(
    name="α-NLI",
    keys=frozenset(ALPHA_NLI_PARTS),
    made_of={STORIES[0]: ("obs1", "hyp1", "obs2"), STORIES[1]: ("obs1", "hyp2", "obs2")},
    reworded=("hyp1", "hyp2"),
    compose=tell_stories,
)
"""Which of two hypotheses explains two observations (Bhagavatula et al. 2020)."""

DELTA_NLI = ReasoningTask(
    name="δ-NLI",
    keys=frozenset({"hypothesis", "update", "updatetype"}),
    made_of={CONTEXT[0]: ("premise", "hypothesis"), CONTEXT[1]: ("update",)},
    reworded=("update",),
    compose=join_contexts,
)
"""Whether an update strengthens or weakens a hypothesis (Rudinger et al. 2020)."""


def find_task(names: Sequence[str]) -> ReasoningTask | None:
    """Tell by the names of its columns which task a file is of; None if of neither."""
    known = {fold_key(name) for name in names}
    return next((task for task in (ALPHA_NLI, DELTA_NLI) if task.keys <= known), None)


def task_of_file(path: str | Path) -> ReasoningTask | None:
    """Tell which task a file is of; None if it is no JSON lines, or of neither."""
    path = Path(path)
    check_readable(path)
    form = find_format(path)
    return find_task(column_names(path, form)) if form.kind == "jsonl" else None


def task_of_corpus(corpus: Corpus) -> ReasoningTask | None:
    """Tell which task a corpus is of; None if of neither, or if it lacks the single texts."""
    names = set(corpus.table.column_names)
    return next(
        (
            task
            for task in (ALPHA_NLI, DELTA_NLI)
            if task.text_columns == corpus.text_columns and names.issuperset(task.parts)
        ),
        None,
    )


def read_task(
    path: Path,
    task: ReasoningTask,
    names: Sequence[str],
    *,
    labels_file: str | Path | None = None,
    label_names: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
) -> Corpus:
    """Read a file of a task with the columns that were asked for."""
    if task is ALPHA_NLI:
        corpus = read_alpha_nli(path, labels_file)
    elif labels_file is not None:
        raise InputError(
            f"holds {task.name}, whose labels stand in its rows; a file of labels is of α-NLI",
            path=path,
        )
    else:
        corpus = read_delta_nli(path)
    if label_names is not None and tuple(label_names) != corpus.label_names:
        raise InputError(
            f"the labels of {task.name} are {list_names(corpus.label_names)}, and "
            f"{list_names(tuple(label_names))} are expected",
            path=path,
        )
    own = {*task.text_columns, *task.parts, LABEL}
    from_file = [name for name in keep_columns if name in names and name not in own]
    table = corpus.table
    if from_file:
        raw = _read_columns(path, from_file).take(pa.array(corpus.source_rows))
        table = table.drop_columns([name for name in from_file if name in table.column_names])
        for name in from_file:
            table = table.append_column(name, raw[name])
    check_columns(path, table.column_names, keep_columns)
    wanted = dict.fromkeys([*task.text_columns, LABEL, *keep_columns])
    return replace(corpus, table=table.select(list(wanted)))


def _read_columns(path: Path, names: Sequence[str]) -> pa.Table:
    from ietest_fast.corpus.streams import open_batches

    with open_batches(path, columns=names, types_of="file") as reader:
        return pa.Table.from_batches(list(reader), reader.schema)
