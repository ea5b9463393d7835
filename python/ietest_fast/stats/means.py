"""Interval of a mean of independent values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.intervals import Interval, check_level
from ietest_fast.stats.real_law import ratio_interval
from ietest_fast.stats.stratified_means import student_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def mean_interval(
    values: Sequence[float] | NDArray[Any],
    *,
    least: float = -np.inf,
    most: float = np.inf,
    confidence_level: float = 0.95,
) -> Interval | None:
    """Compute the bootstrap interval of a mean: BCa (Efron 1987), in the limit of large S.

    As for buckets of paraphrases, each end is moved away from the mean by Student's quantile over
    the normal one, because the bootstrap is too sure of few values.

    Examples
    --------
    >>> from ietest_fast.stats.means import mean_interval
    >>> print(mean_interval([1, 1 / 2, 1 / 3, 1, 1, 1 / 2], least=0, most=1))
    [0.4307, 0.9773]
    """
    check_level(confidence_level)
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or not np.isfinite(numbers).all():
        raise InputError("a mean needs values, all of them finite")
    distinct, frequencies = np.unique(numbers, return_counts=True)
    if distinct.size == 1:
        return None
    alpha, mean = 1 - confidence_level, float(numbers.mean())
    ends = ratio_interval(distinct, np.ones(distinct.size), frequencies.astype(np.int64), alpha)
    factor = student_factor(numbers.size - 1, alpha)
    return Interval(
        max(least, mean - factor * max(mean - ends.low, 0.0)),
        min(most, mean + factor * max(ends.high - mean, 0.0)),
    )
