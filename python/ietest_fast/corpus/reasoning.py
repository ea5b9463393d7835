"""Reading α-NLI and δ-NLI in the files that were published.

Both tasks have more than two texts: α-NLI two observations and two hypotheses (Bhagavatula et al.
2020), δ-NLI a premise, a hypothesis and an update (Rudinger et al. 2020). A corpus has two, so some
are joined; the single ones are kept beside them, and :func:`tell_stories` and :func:`join_contexts`
join them anew after one of them was rephrased.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import (
    LABEL_COLUMNS,
    LABELS_BESIDE,
    check_columns,
    usual_label_column,
)
from ietest_fast.corpus.dataset import LABEL, Corpus
from ietest_fast.corpus.formats import check_readable, column_names, find_format, json_records
from ietest_fast.corpus.labels import label_key
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError
from ietest_fast.files import read_text
from ietest_fast.values import show_names, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


ALPHA_NLI_PARTS = ("obs1", "obs2", "hyp1", "hyp2")
"""Columns of the single texts of α-NLI."""

ABDUCTIVE = ("obs1", "hyp1", "hyp2", "obs2")
"""Texts of an example of abductive inference, in the order in which they are read."""

DEFEASIBLE = ("premise", "hypothesis", "update")
"""Texts of an example of defeasible inference, in their order."""

STORIES = ("first_story", "second_story")
"""Text columns of α-NLI as a choice between two stories."""

STORY_LABELS = ("hyp1", "hyp2")
"""Labels of a choice between two stories: the hypothesis of the more plausible one."""

HYPOTHESIS_LABELS = ("implausible", "plausible")
"""Labels of a hypothesis of α-NLI by itself."""

CONTEXT = ("context", "update")
"""Text columns of δ-NLI: premise and hypothesis as one text, and the update."""

UPDATE_LABELS = ("weakener", "strengthener")
"""Labels of δ-NLI."""

NO_UPDATE = "no update"
"""Why a row of δ-NLI is dropped: its annotator found it impossible to write an update."""

IMPOSSIBLE_UPDATE = "update marked as impossible"
"""Why a row of δ-NLI is dropped that has an update, which its key says nobody could write."""


def read_alpha_nli(
    path: str | Path,
    labels: str | Path | None = None,
    *,
    form: Literal["stories", "hypotheses"] = "stories",
    id_key: str | None = None,
) -> Corpus:
    """Read α-NLI (Bhagavatula et al. 2020) from its JSON lines and its file of labels.

    Parameters
    ----------
    path
        JSON lines with ``obs1``, ``obs2``, ``hyp1`` and ``hyp2``, such as ``train.jsonl``; may be
        compressed.
    labels
        One label a line, 1 or 2: which hypothesis is the more plausible. None: the file beside
        `path` that the publication gives it, ``train-labels.lst`` for ``train.jsonl``, where there
        is one, otherwise the key ``label`` or ``gold_label``. Where there are both, they are
        compared.
    form
        ``"stories"``: a row for each problem, with the texts ``first_story`` (obs1 hyp1 obs2) and
        ``second_story`` (obs1 hyp2 obs2) and the labels ``hyp1`` and ``hyp2``.
        ``"hypotheses"``: two rows for each problem, with the texts ``premise`` (obs1 obs2) and
        ``hypothesis`` and the labels ``implausible`` and ``plausible``.
    id_key
        A key whose values become the items. None: the number of the row from 0, as the published
        code numbers them.

    Returns
    -------
    Corpus
        Besides, it keeps ``item`` (in the form of hypotheses ``ITEM.1`` and ``ITEM.2``), ``story``
        (``story_id``, where the file has it: several rows may share a story) and, in the form of
        stories, the four single texts.

    Raises
    ------
    InputError
        If a text or a label is missing or is something else, there are more or fewer labels than
        rows, labels that are there twice contradict each other, or an item is there twice.
    """
    path = Path(path)
    if form not in {"stories", "hypotheses"}:
        raise InputError(f"form is 'stories' or 'hypotheses', not {form!r}")
    read = _Records.read(path)
    parts = {name: read.texts(name) for name in ALPHA_NLI_PARTS}
    codes = _alpha_labels(read, labels)
    _check_beside(read, codes)
    columns: dict[str, Any] = {
        "item": read.items(id_key),
        **{name: pa.array(texts, pa.large_string()) for name, texts in parts.items()},
        LABEL: pa.array(codes, pa.int8()),
    }
    if any("story_id" in record for record in read.objects):
        columns["story"] = pa.array(read.texts("story_id"), pa.large_string())
    table = tell_stories(pa.table(columns))
    if form == "stories":
        return Corpus(table=table, text_columns=STORIES, label_names=STORY_LABELS, source=str(path))
    return Corpus(
        table=_by_hypothesis(table, codes),
        text_columns=("premise", "hypothesis"),
        label_names=HYPOTHESIS_LABELS,
        source=str(path),
    )


def fold_key(name: str) -> str:
    """Return what a key of δ-NLI is called here, however its file writes it."""
    folded = name.lower()
    return "updatetype" if folded == "update_type" else folded


def _fold_keys(path: Path, line: int, record: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    first: dict[str, str] = {}
    for name, value in record.items():
        folded = fold_key(name)
        if folded in found:
            raise InputError(
                f"is there twice, as {first[folded]!r} and {name!r}; leave one out",
                path=path,
                row=f"line {line}",
                column=name,
            )
        found[folded], first[folded] = value, name
    return found


def read_delta_nli(path: str | Path, *, id_key: str | None = None) -> Corpus:
    """Read δ-NLI (Rudinger et al. 2020) from its JSON lines.

    Parameters
    ----------
    path
        JSON lines with ``Hypothesis``, ``Update``, ``UpdateType`` (``strengthener`` or
        ``weakener``) and, but for δ-SOCIAL, ``Premise``; names are taken in any case, and
        ``update_type`` as ``UpdateType``. May be compressed.
    id_key
        A key whose values become the items. None: the number of the row from 0.

    Returns
    -------
    Corpus
        With the texts ``context`` (premise and hypothesis, or the hypothesis where there is no
        premise) and ``update``, and the labels ``weakener`` and ``strengthener``. It keeps
        ``item``, ``premise``, ``hypothesis`` and ``pair``, a number for each pair of premise and
        hypothesis: several updates share one. Rows without an update, because its annotator found
        it impossible to write one (``UpdateTypeImpossible``), are dropped and counted.

    Raises
    ------
    InputError
        If a text is missing, a line has two keys that differ in case only, an update is neither of
        both, keys of labels contradict each other, no row has an update, or an item is there twice.
    """
    path = Path(path)
    read = _Records.read(path)
    read = replace(read, objects=[_fold_keys(path, line, record) for line, record in read])
    all_items = read.items(None if id_key is None else fold_key(id_key))
    reasons = [_why_dropped(path, line, record) for line, record in read]
    kept = [place for place, reason in enumerate(reasons) if reason is None]
    dropped = Counter(reason for reason in reasons if reason is not None)
    if not kept:
        said = ", ".join(f"{n:,} {reason}" for reason, n in dropped.items())
        raise InputError(f"no row is left: {said}", path=path)
    read = replace(
        read,
        lines=[read.lines[place] for place in kept],
        objects=[read.objects[place] for place in kept],
    )
    hypotheses = read.texts("hypothesis")
    premises = [""] * len(kept)
    if any(record.get("premise") is not None for record in read.objects):
        premises = read.texts("premise")
    pairs = list(zip(premises, hypotheses, strict=True))
    numbers: dict[tuple[str, str], int] = {}
    for pair in pairs:
        numbers.setdefault(pair, len(numbers))
    codes = [_update_code(path, line, record) for line, record in read]
    _check_other_labels(read, codes)
    table = pa.table(
        {
            "item": all_items.take(pa.array(kept)),
            "premise": pa.array(premises, pa.large_string()),
            "hypothesis": pa.array(hypotheses, pa.large_string()),
            "update": pa.array(read.texts("update"), pa.large_string()),
            LABEL: pa.array(codes, pa.int8()),
            "pair": pa.array([numbers[pair] for pair in pairs], pa.int64()),
        }
    )
    return Corpus(
        table=join_contexts(table),
        text_columns=CONTEXT,
        label_names=UPDATE_LABELS,
        dropped=dict(dropped),
        source=str(path),
        rows=np.array(kept, np.int64) if dropped else None,
    )


def tell_stories(table: pa.Table) -> pa.Table:
    """Return a table of α-NLI with its two stories, made of observations and hypotheses."""
    for name, hypothesis in zip(STORIES, ("hyp1", "hyp2"), strict=True):
        table = _put(table, name, _join(table["obs1"], table[hypothesis], table["obs2"]))
    return table


def join_contexts(table: pa.Table) -> pa.Table:
    """Return a table of δ-NLI with its contexts, made of premises and hypotheses."""
    joined = _join(table["premise"], table["hypothesis"])
    without = pc.equal(pc.binary_length(table["premise"]), 0)
    return _put(table, CONTEXT[0], pc.if_else(without, table["hypothesis"], joined))


def _join(*columns: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = [column.cast(pa.large_string()) for column in columns]
    return pc.binary_join_element_wise(*texts, pa.scalar(" ", pa.large_string()))


def _put(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def _by_hypothesis(table: pa.Table, codes: list[int]) -> pa.Table:
    n = table.num_rows
    rows = np.repeat(np.arange(n), 2)
    is_second = np.tile(np.array([False, True]), n)
    ends = pa.array(np.where(is_second, ".2", ".1"), pa.large_string())
    twice = table.take(pa.array(rows))
    names = twice["item"].cast(pa.large_string())
    made = {
        "item": pc.binary_join_element_wise(names, ends, pa.scalar("", pa.large_string())),
        "premise": _join(twice["obs1"], twice["obs2"]),
        "hypothesis": pc.if_else(pa.array(is_second), twice["hyp2"], twice["hyp1"]),
        LABEL: pa.array((np.array(codes)[rows] == is_second).astype(np.int8)),
    }
    if "story" in twice.column_names:
        made["story"] = twice["story"]
    return pa.table(made)


@dataclass(frozen=True, kw_only=True)
class _Records:
    """The objects of a file, and the line of each."""

    path: Path
    lines: list[int]
    objects: list[dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> _Records:
        check_readable(path)
        form = find_format(path)
        if form.kind != "jsonl":
            raise InputError(f"is {form.kind}, JSON lines (.jsonl) expected", path=path)
        found = list(json_records(path, form))
        if not found:
            raise InputError("the file has no objects in it", path=path)
        lines, objects = zip(*found, strict=True)
        return cls(path=path, lines=[*lines], objects=[*objects])

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return zip(self.lines, self.objects, strict=True)

    def texts(self, name: str) -> list[str]:
        texts = []
        for line, record in self:
            value = record.get(name)
            if not isinstance(value, str):
                said = f"is {show_value(value)}, text expected"
                problem = "the text is missing" if value is None else said
                raise InputError(problem, path=self.path, row=f"line {line}", column=name)
            texts.append(value)
        return texts

    def items(self, id_key: str | None) -> pa.Array:
        if id_key is None:
            return pa.array(range(len(self.objects)), pa.int64())
        values = [record.get(id_key) for record in self.objects]
        first: dict[Any, int] = {}
        for line, value in zip(self.lines, values, strict=True):
            problem = None
            if value is None:
                problem = "the id is missing"
            elif isinstance(value, bool) or not isinstance(value, str | int):
                problem = f"is {show_value(value)}, an id expected"
            elif first.setdefault(str(value), line) != line:
                problem = (
                    f"the id {show_value(value)} stands in line {first[str(value)]} already; every "
                    "row needs an id of its own"
                )
            if problem is not None:
                raise InputError(problem, path=self.path, row=f"line {line}", column=id_key)
        if all(isinstance(value, int) for value in values):
            return pa.array(values, pa.int64())
        return pa.array([str(value) for value in values], pa.large_string())


def _alpha_labels(read: _Records, labels: str | Path | None) -> list[int]:
    path, lines = read.path, read.lines
    names = dict.fromkeys(name for record in read.objects for name in record)
    key = usual_label_column(path, [*names], how="rename the other one")
    source = _beside(path) if labels is None else Path(labels)
    is_beside = labels is not None or source.is_file()
    values = [] if key is None else [record.get(key) for record in read.objects]
    if key is not None and not is_beside:
        return [_alpha_code(path, line, value) for line, value in zip(lines, values, strict=True)]
    if not is_beside:
        raise InputError(
            f"has no key 'label', and there is no {source.name} beside it; name the file of labels "
            "(--labels-file, labels_file)",
            path=path,
        )
    codes = _read_label_lines(source, path, len(lines))
    said = {
        place: _alpha_code(path, lines[place], value)
        for place, value in enumerate(values)
        if value is not None
    }
    differ = [lines[place] for place, code in said.items() if code != codes[place]]
    _refuse_contradiction(path, f"its key {key} and {source.name}", differ, len(lines))
    return codes


def _check_beside(read: _Records, codes: list[int]) -> None:
    """Stop where a key that may say the labels, too, gives another number or name than they are."""
    numbers = {"1": 0, "2": 1} | {name: code for code, name in enumerate(STORY_LABELS)}
    for name in LABELS_BESIDE:
        said = [label_key(str(record.get(name, ""))) for record in read.objects]
        differ = [
            line
            for line, value, code in zip(read.lines, said, codes, strict=True)
            if numbers.get(value, code) != code
        ]
        if set(said) <= {*numbers, "", "none"}:
            _refuse_contradiction(read.path, f"its key {name} and the labels", differ, len(codes))


def _refuse_contradiction(path: Path, both: str, differ: list[int], n_rows: int) -> None:
    """Stop where two sources of labels disagree, since nobody knows which of them is right."""
    if differ:
        raise InputError(
            f"{both} contradict each other in {len(differ):,} of {n_rows:,} rows, the first in "
            f"line {differ[0]}; correct one of them, or remove it",
            path=path,
        )


def _read_label_lines(source: Path, path: Path, n_rows: int) -> list[int]:
    check_readable(source)
    found = read_text(source).rstrip().splitlines()
    if len(found) != n_rows:
        raise InputError(
            f"has {len(found):,} labels, and {path} has {n_rows:,} rows; one label a row is "
            "expected, in the same order",
            path=source,
        )
    return [_alpha_code(source, line, value.strip()) for line, value in enumerate(found, start=1)]


def _alpha_code(source: Path, line: int, value: Any) -> int:
    if isinstance(value, bool) or str(value).strip() not in {"1", "2"}:
        raise InputError(
            f"the label is {show_value(value)}; 1 or 2 expected, the number of the more "
            "plausible hypothesis",
            path=source,
            row=f"line {line}",
        )
    return int(str(value)) - 1


def _beside(path: Path) -> Path:
    stem = path.name.partition(".")[0]
    return path.with_name(f"{stem}-labels.lst")


def _why_dropped(path: Path, line: int, record: dict[str, Any]) -> str | None:
    """Say why a row is dropped, whose key and text may contradict each other; None if it is not."""
    value = record.get("updatetypeimpossible", False)
    if not isinstance(value, bool):
        raise InputError(
            f"is {show_value(value)}, true or false expected",
            path=path,
            row=f"line {line}",
            column="UpdateTypeImpossible",
        )
    if record.get("update") in (None, ""):
        return NO_UPDATE
    return IMPOSSIBLE_UPDATE if value else None


def _update_code(path: Path, line: int, record: dict[str, Any]) -> int:
    value = record.get("updatetype")
    name = _name_update(value)
    if name is None:
        raise InputError(
            f"is {show_value(value)}; strengthener or weakener expected",
            path=path,
            row=f"line {line}",
            column="UpdateType",
        )
    return UPDATE_LABELS.index(name)


def _check_other_labels(read: _Records, codes: list[int]) -> None:
    """Stop where a usual key of labels names another update than the key of the task does."""
    for name in (*LABEL_COLUMNS, *LABELS_BESIDE):
        differ = [
            line
            for (line, record), code in zip(read, codes, strict=True)
            if (said := _name_update(record.get(name))) is not None and said != UPDATE_LABELS[code]
        ]
        both = f"its keys UpdateType and {name}"
        _refuse_contradiction(read.path, both, differ, len(codes))


def _name_update(value: Any) -> str | None:
    """Return which update a value names; None where it is a label of something else."""
    folded = label_key(value) if isinstance(value, str) else None
    return folded if folded in UPDATE_LABELS else None


# α-NLI and δ-NLI as corpora like all others: how they are told, and what ``read_corpus`` reads.


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
            f"the labels of {task.name} are {show_names(corpus.label_names)}, and "
            f"{show_names(tuple(label_names))} are expected",
            path=path,
        )
    own = {*task.text_columns, *task.parts, LABEL}
    from_file = [name for name in keep_columns if name in names and name not in own]
    table = corpus.table
    if from_file:
        with open_batches(path, columns=from_file, types_of="file") as reader:
            raw = pa.Table.from_batches(list(reader), reader.schema)
        raw = raw.take(pa.array(corpus.source_rows))
        table = table.drop_columns([name for name in from_file if name in table.column_names])
        for name in from_file:
            table = table.append_column(name, raw[name])
    check_columns(path, table.column_names, keep_columns)
    wanted = dict.fromkeys([*task.text_columns, LABEL, *keep_columns])
    return replace(corpus, table=table.select(list(wanted)))
