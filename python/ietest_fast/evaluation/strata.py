"""Versions by label, genre or number of edits: columns of predictions that tell texts apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.stats import MatchedSample
from ietest_fast.stats.dose import judge_dose
from ietest_fast.stats.strata import LABEL, judge_strata, read_strata
from ietest_fast.values import as_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Pairs
    from ietest_fast.stats import StratifiedResult


def look_closer(
    pairs: Pairs,
    clusters: Any,
    strata: Sequence[str],
    dose: str | None,
    *,
    reworded: str | Literal[True] | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Test the strata of columns, and the growth with another, on the reworded texts.

    What is right is taken from the predictions: a version may have labels of its own.
    """
    if not strata and dose is None:
        return {}
    mask = None if reworded is True else pairs.reworded(reworded)
    rows = np.arange(len(pairs)) if mask is None else np.flatnonzero(mask)
    both = pairs.answers

    def read(name: str) -> pa.ChunkedArray:
        column = pairs.column("gold") if name == LABEL else pairs.column(name, of_version=True)
        return pa.chunked_array([column])

    try:
        return judge_groups(
            pairs.sample,
            read,
            strata=strata,
            dose=dose,
            rows=rows,
            answers=both,
            clusters=clusters,
            options=options,
        )
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(str(error), path=pairs.predictions.source) from error


def judge_groups(
    sample: MatchedSample,
    read: Callable[[str], pa.ChunkedArray],
    *,
    strata: Sequence[str],
    dose: str | None,
    rows: NDArray[np.int64],
    answers: tuple[NDArray[Any], NDArray[Any]] | None,
    clusters: Any,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Test the strata of columns, and the growth with another, on some of n texts."""
    units = None if clusters is None else np.asarray(clusters)[rows]
    if rows.size < 2 or (units is not None and np.unique(units).size < 2):
        return {}
    own = MatchedSample(
        original_correct=sample.original_correct[rows],
        transformed_correct=sample.transformed_correct[rows],
    )
    there = None if answers is None else (answers[0][rows], answers[1][rows])

    def take(name: str) -> pa.ChunkedArray:
        return read(name).take(pa.array(rows))

    def judge(name: str) -> StratifiedResult:
        names, codes = read_strata(take(name), rows.size, name=name)
        return judge_strata(own, names, codes, answers=there, clusters=units, name=name, **options)

    return {
        "strata": tuple(judge(name) for name in strata),
        "dose": None
        if dose is None
        else judge_dose(
            own,
            _read_doses(take(dose), dose),
            flipped=None if there is None else there[0] != there[1],
            clusters=units,
            name=dose,
            **{name: options[name] for name in ("alpha", "n_resamples", "rng")},
        ),
    }


def _read_doses(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    numbers = as_numbers(column)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        first = column[int(wrong[0])].as_py()
        found = "nothing" if first is None else repr(first)
        raise InputError(
            f"{name} must hold a whole number for every text, but {wrong.size} of {numbers.size} "
            f"have none; the first holds {found}"
        )
    return numbers
