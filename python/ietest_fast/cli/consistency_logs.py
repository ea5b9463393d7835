"""Logs that ``ietest-fast consistency`` measures, and those of full test sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ietest_fast.cli.logs import OF_LOGS, read
from ietest_fast.cli.options import check_not_given

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers

# What a table with a row for each item and version has in the place of -C's columns.
_OUTCOMES = ("correct",)


def read_answers(logs: Sequence[str], options: dict[str, Any]) -> tuple[ConsistencyAnswers, ...]:
    """Read logs: each of a model if they are tables of wordings, otherwise as ``eval`` does."""
    from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ConsistencyRun
    from ietest_fast.analyses.consistency.reading import (
        name_answers,
        read_wordings,
        without_mixed,
    )
    from ietest_fast.errors import InputError

    paths = [Path(log) for log in logs]
    _check_answers(paths, reader=options["reader"])
    by_outcomes = options["correct_columns"] == _OUTCOMES
    known = [
        read_wordings(path, threshold=options["threshold"], by_outcomes=by_outcomes)
        for path in (paths if options["reader"] is None else ())
    ]
    own = [each for each in known if each is not None]
    if own and len(own) == len(paths):
        taken = {"correct-columns"} if by_outcomes else set()
        check_not_given(
            *(name for name in OF_LOGS if name not in taken),
            because="is for logs of other programs",
        )
        answers = name_answers(own, paths)
    elif own:
        other = next(path for path, each in zip(paths, known, strict=True) if each is None)
        raise InputError(
            "is no table with a row for each item and version, as the other logs are; pass it "
            "alone",
            path=other,
        )
    else:
        found = read(tuple(logs), options, keep=[options["subset"]])
        run = ConsistencyRun(warnings=found.notes)
        answers = (ConsistencyAnswers(predictions=found.predictions, run=run),)
    return tuple(map(without_mixed, answers)) if options["drop_mixed"] else answers


def _check_answers(paths: Sequence[Path], *, reader: str | None) -> None:
    """Refuse files of paraphrases that no model has answered yet."""
    if reader is not None:
        return
    from ietest_fast.analyses.consistency.reading import holds_paraphrases
    from ietest_fast.errors import InputError

    for path in paths:
        if holds_paraphrases(path):
            raise InputError(
                f"holds paraphrases, no answers; add --onnx or --model, and --test {path}",
                path=path,
            )


def read_test_sets(paths: Sequence[Path]) -> list[Any]:
    """Read answers to the full test set."""
    from ietest_fast.analyses.consistency.reading import read_wordings
    from ietest_fast.errors import InputError

    found = []
    for path in paths:
        own = read_wordings(path)
        if own is None:
            raise InputError(
                "holds no answers with probabilities to the full test set: a table with a row for "
                "each item and the version `original`, such as ietest-fast eval --out writes, or "
                "ParaNLU's predictions expected",
                path=path,
            )
        found.append(own.predictions)
    return found
