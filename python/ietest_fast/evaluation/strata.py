"""Versions by label, genre or number of edits: columns of predictions that tell texts apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ietest_fast.models.measurements import as_numbers
from ietest_fast.stats import MatchedSample
from ietest_fast.stats.dose import judge_dose
from ietest_fast.stats.strata import judge_strata, read_strata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Pairs
    from ietest_fast.stats import StratifiedResult

#: As strata this is the gold label of the reference, whatever its column is called.
LABEL = "label"


def comparable_answers(pairs: Pairs) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Return both answers where they may be compared.

    Free texts that a log has marked may differ in wording alone: only the marks are compared.
    """
    columns = pairs.predictions.columns
    are_labels = pairs.predictions.label_names is not None or "correct" not in columns
    if "predicted" not in columns or not are_labels:
        return None
    return pairs.original, pairs.transformed


def look_closer(
    pairs: Pairs,
    clusters: Any,
    strata: Sequence[str],
    dose: str | None,
    *,
    reworded: str | Literal[True] | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Test the strata of columns, and the growth with another, on the reworded texts.

    What is right is taken from the predictions: a version may have labels of its own.

    Parameters
    ----------
    pairs
        The answers to both versions.
    clusters
        Shape (n,), or None.
    strata, dose
        Names of columns.
    reworded
        As for :func:`~ietest_fast.evaluation.comparison.compare_versions`.
    options
        Of :func:`ietest_fast.stats.stratified_test`.

    Returns
    -------
    dict
        ``strata`` and ``dose``; empty if there is nothing to look at.
    """
    if not strata and dose is None:
        return {}
    mask = None if reworded is True else pairs.reworded(reworded)
    rows = np.arange(len(pairs)) if mask is None else np.flatnonzero(mask)
    units = None if clusters is None else np.asarray(clusters)[rows]
    if rows.size < 2 or (units is not None and np.unique(units).size < 2):
        return {}
    sample = MatchedSample(
        original_correct=pairs.sample.original_correct[rows],
        transformed_correct=pairs.sample.transformed_correct[rows],
    )
    both = comparable_answers(pairs)
    answers = None if both is None else (both[0][rows], both[1][rows])

    def read(name: str) -> Any:
        values = pairs.column("gold") if name == LABEL else pairs.column(name, of_version=True)
        return values.take(pa.array(rows))

    def judge(name: str) -> StratifiedResult:
        names, codes = read_strata(read(name), rows.size, name=name)
        return judge_strata(
            sample, names, codes, answers=answers, clusters=units, name=name, **options
        )

    return {
        "strata": tuple(judge(name) for name in strata),
        "dose": None
        if dose is None
        else judge_dose(
            sample,
            as_numbers(pa.chunked_array([read(dose)])),
            flipped=None if answers is None else answers[0] != answers[1],
            clusters=units,
            name=dose,
            **{name: options[name] for name in ("n_resamples", "rng")},
        ),
    }
