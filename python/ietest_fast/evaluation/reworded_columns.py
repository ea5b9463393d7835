"""Which columns are reworded to make buckets, and which of them a model sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.corpus.columns import check_columns, list_names
from ietest_fast.corpus.reasoning import ALPHA_NLI, DELTA_NLI, task_of_corpus
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.corpus import Corpus


def choose_reworded_columns(
    corpus: Corpus, *, seen: Sequence[str] | None = None, reworded: Sequence[str] | None = None
) -> tuple[str, ...] | None:
    """Return the columns to reword, for :func:`ietest_fast.evaluation.make_buckets`."""
    texts = corpus.text_columns
    if seen is not None:
        check_columns(corpus.source, texts, seen)
    task = task_of_corpus(corpus)
    parts_of: dict[str, tuple[str, ...]]
    if task is None:
        if reworded is None:
            _check_not_joined(corpus)
            return None if seen is None else tuple(seen)
        parts_of = {name: (name,) for name in texts}
    else:
        parts_of = dict(task.made_of)
        reworded = task.reworded if reworded is None else reworded
    check_columns(corpus.source, texts if task is None else task.parts, reworded)
    visible = {part for name in seen or texts for part in parts_of[name]}
    if visible.isdisjoint(reworded):
        others = " or ".join(sorted(visible))
        raise InputError(
            f"the model sees {' and '.join(seen or texts)}, so it does not see "
            f"{' and '.join(reworded)}, which would be reworded; reword {others} "
            "(reword, --reword)",
            path=corpus.source,
        )
    return tuple(reworded)


def _check_not_joined(corpus: Corpus) -> None:
    """Refuse texts that are joined of several ones, of which some have to stay as they are."""
    for task in (ALPHA_NLI, DELTA_NLI):
        if corpus.text_columns == task.text_columns:
            missing = [name for name in task.parts if name not in corpus.table.column_names]
            raise InputError(
                f"holds the joined texts of {task.name} without the single texts "
                f"{list_names(missing)}, so all of {' and '.join(task.text_columns)} would be "
                "reworded; pass the name of the file, keep the columns (keep_columns="
                f"{list(task.parts)}), or say what to reword (reword, --reword)",
                path=corpus.source,
            )
