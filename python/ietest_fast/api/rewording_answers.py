"""Answers to wordings that a caller has: predictions, files, or tables of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.reading import as_answers, need_wordings
from ietest_fast.answers.metadata import plain_name
from ietest_fast.answers.table import Predictions
from ietest_fast.corpus.batch_writer import check_target
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow
from ietest_fast.transform.files import check_distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers


def take_answers(given: Any, name: str) -> ConsistencyAnswers:
    """Take the answers of one classifier, or read them."""
    if isinstance(given, Predictions):
        found = as_answers(given)
    elif isinstance(given, str | Path):
        found = need_wordings(given)
    else:
        try:
            table = to_arrow(given, source=name)
        except InputError as error:
            raise InputError(
                f"{name} must be predictions, a file or a table of them, not "
                f"{type(given).__name__!r}; a classifier needs data to answer"
            ) from error
        found = as_answers(Predictions.from_table(table, source=name))
    n = len(found.predictions.groups)
    if n > 1:
        raise InputError(
            f"holds answers of {n} classifiers; select one, as in predictions.select(model=...)",
            path=found.predictions.source,
        )
    return found


def name_partial(partial: Predictions) -> str:
    """Return what a classifier that saw a part of the input is called: its file, as a rule."""
    known = Path(partial.source).is_file()
    return plain_name(Path(partial.source)) if known else "partial_input"


def check_out(target: Path, read: Sequence[Any]) -> Path:
    """Find out before the work whether its result can be written, and over what."""
    check_target(target)
    if target.suffix != ".parquet":
        raise InputError("out is a Parquet file, whose name ends in .parquet", path=target)
    for file in read:
        if isinstance(file, str | Path):
            check_distinct(Path(file), target)
    return target
