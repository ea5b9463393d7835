"""Estimates of bucket measures: values, standard errors, and intervals by the bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.consistency.buckets import (
    MEASURES,
    OTHER,
    RATIO,
    SHARE,
    evaluate,
    evaluate_difference,
    name_other_side,
    to_core,
)
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.laws.bootstrap import acceleration_of, bca_levels, ratio_interval
from ietest_fast.stats.mean_difference import student_factor
from ietest_fast.stats.resampling import count_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.consistency.buckets import Measure, UnitTable


BootstrapMethod = Literal["exact", "resample"]


@dataclass(frozen=True, kw_only=True)
class BucketEstimate:
    """An estimate with its interval."""

    value: float | None
    """The estimate; None where it is not defined."""
    standard_error: float | None
    """By the jackknife over units (buckets, or clusters of them); None if the measure is not
    defined without one of them."""
    interval: Interval | None
    """BCa bootstrap interval (Efron 1987) over units, each end moved away from the value by
    Student's quantile over the normal one; None where there are fewer than two units, the measure
    is undefined in a replicate as often as not, or it is a PVAP above 1."""
    method: BootstrapMethod
    """How the interval was found: ``exact``, the limit for large S, or ``resample``."""
    n_undefined: int = 0
    """Replicates in which the measure is not defined; they are left out."""

    def as_consistency(self) -> BucketEstimate:
        """Return 1 - 2 v: P_C of a variance within buckets (eq. 7)."""
        return self._turn(1.0)

    def as_difference_of_consistency(self) -> BucketEstimate:
        """Return -2 v: the difference of P_C of a difference of such variances."""
        return self._turn(0.0)

    def as_lower_bound(self) -> BucketEstimate:
        """Return A**2 + (1 - A)**2 of an accuracy A, with the image of its interval.

        Replicates would not do: the least value is that at A = 1/2, so none would lie below an
        estimate near it.
        """
        value, ends = self.value, self.interval
        image = None
        if ends is not None:
            both = [_least_consistency(ends.low), _least_consistency(ends.high)]
            image = Interval(0.5 if 0.5 in ends else min(both), max(both))
        slope = None if value is None else abs(4 * value - 2)
        return BucketEstimate(
            value=None if value is None else _least_consistency(value),
            standard_error=(
                None
                if slope is None or self.standard_error is None
                else slope * self.standard_error
            ),
            interval=image,
            method=self.method,
        )

    def _turn(self, base: float) -> BucketEstimate:
        value, error, ends = self.value, self.standard_error, self.interval
        return BucketEstimate(
            value=None if value is None else base - 2 * value,
            standard_error=None if error is None else 2 * error,
            interval=None if ends is None else Interval(base - 2 * ends.high, base - 2 * ends.low),
            method=self.method,
            n_undefined=self.n_undefined,
        )


def _least_consistency(accuracy: float) -> float:
    return accuracy**2 + (1 - accuracy) ** 2


def estimate_measures(
    table: UnitTable,
    names: Sequence[str],
    *,
    are_differences: bool = False,
    method: BootstrapMethod = "exact",
    confidence_level: float,
    n_resamples: int,
    seed: int,
    n_threads: int | None,
) -> dict[str, BucketEstimate]:
    """Estimate measures of units, and the intervals."""
    alpha = 1 - confidence_level
    value_of = evaluate_difference if are_differences else evaluate
    found: dict[str, BucketEstimate] = {}
    drawn: list[tuple[str, float, float]] = []
    for name in names:
        measure = MEASURES[name]
        value = float(value_of(measure, table.columns, table.sums))
        left_out = value_of(measure, table.columns, table.sums - table.values)
        error = _jackknife_error(left_out, table.weights)
        # A ratio that a single unit decides has no interval. Other measures may be undefined
        # without some unit, and still be defined in most samples.
        is_decided = measure.formula == RATIO and error is None
        if (
            math.isnan(value)
            or table.n_units < 2
            or is_decided
            or _is_no_share(measure, table, are_differences=are_differences)
        ):
            found[name] = BucketEstimate(
                value=None if math.isnan(value) else value,
                standard_error=None,
                interval=None,
                method=method,
            )
        elif method == "exact" and measure.formula == RATIO and not are_differences:
            numerator, denominator = (table.column(column) for column in measure.columns)
            interval = ratio_interval(numerator, denominator, table.weights, alpha)
            found[name] = BucketEstimate(
                value=value,
                standard_error=error,
                interval=_finish(interval, value, measure, _freedom(measure, table), alpha),
                method="exact",
            )
        else:
            drawn.append((name, value, _bend(left_out, table.weights)))
            found[name] = BucketEstimate(
                value=value, standard_error=error, interval=None, method="resample"
            )
    if drawn:
        resampled = _resample(
            table,
            drawn,
            are_differences=are_differences,
            alpha=alpha,
            n_resamples=n_resamples,
            seed=seed,
            n_threads=n_threads,
        )
        for (name, *_), (ends, undefined) in zip(drawn, resampled, strict=True):
            found[name] = replace(found[name], interval=ends, n_undefined=undefined)
    return found


def _is_no_share(measure: Measure, table: UnitTable, *, are_differences: bool) -> bool:
    """Whether a PVAP exceeds 1: its numerator is a mean over buckets, A is over paraphrases."""
    if measure.formula != SHARE:
        return False
    own = [float(evaluate(measure, table.columns, table.sums))]
    if are_differences:
        own.append(float(evaluate(measure, name_other_side(table.columns), table.sums)))
    return max(own) > measure.most + 1e-12


def _freedom(measure: Measure, table: UnitTable) -> float:
    """Return the degrees of freedom of a standard error: equal units worth as much, less one.

    A unit counts by the square of its size, as if all that it holds were alike.
    """
    sizes = np.square(table.column(measure.sizes))
    return max(count_equal(sizes, table.weights) - 1, 1.0)


def _differing(measure: Measure) -> Measure:
    """Return what bounds the difference of a measure."""
    reach = measure.most - measure.least
    return replace(measure, least=-reach, most=reach)


def _finish(
    interval: Interval, value: float, measure: Measure, df: float, alpha: float
) -> Interval:
    """Move the ends out by Student's quantile, up to what a measure can be."""
    factor = student_factor(df, alpha)
    # A strongly skewed law may have both ends on one side.
    low = interval.low + (factor - 1) * min(interval.low - value, 0.0)
    high = interval.high + (factor - 1) * max(interval.high - value, 0.0)
    return Interval(
        max(low, min(measure.least, value)),
        min(high, max(measure.most, value)),
    )


def _jackknife_error(left_out: NDArray[np.float64], weights: NDArray[np.int64]) -> float | None:
    n = int(weights.sum())
    if n < 2 or not np.isfinite(left_out).all():
        return None
    mean = float(weights @ left_out) / n
    return math.sqrt((n - 1) / n * float(weights @ np.square(left_out - mean)))


def _bend(left_out: NDArray[np.float64], weights: NDArray[np.int64]) -> float:
    """Return the acceleration; 0 where it is not known, or only rounding tells the units apart."""
    if not np.isfinite(left_out).all():
        return 0.0
    if not np.ptp(left_out) > 1e-15 * max(1.0, float(np.abs(left_out).max())):
        return 0.0
    return acceleration_of(left_out, weights)


def _resample(
    table: UnitTable,
    drawn: Sequence[tuple[str, float, float]],
    *,
    are_differences: bool,
    alpha: float,
    n_resamples: int,
    seed: int,
    n_threads: int | None,
) -> list[tuple[Interval | None, int]]:
    """Return finished BCa intervals from S replicates, and how many are undefined.

    ``drawn`` has the name, value and acceleration of each measure.
    """
    wanted = [MEASURES[name] for name, *_ in drawn]
    sides = ("", OTHER) if are_differences else ("",)
    needed = dict.fromkeys(
        name + side for side in sides for measure in wanted for name in measure.columns
    )
    own = table.restrict(tuple(needed))
    measures = to_core(wanted, own.columns, are_differences=are_differences)
    bootstrap = core.buckets.Bootstrap(
        own.values, own.weights, measures, n_replicates=n_resamples, key=philox_key(seed)
    )
    located = bootstrap.locate(np.array([value for _, value, _ in drawn]), n_threads=n_threads)
    requests: list[tuple[int, int]] = []
    for place, (below, tied, defined) in enumerate(located.tolist()):
        n = max(defined, 1)
        low, high = bca_levels((below + tied / 2) / n, drawn[place][2], alpha)
        requests.append((place, min(max(math.ceil(low * n) - 1, 0), n - 1)))
        requests.append((place, min(max(n - math.ceil(high * n), 0), n - 1)))
    ends = bootstrap.order_statistics(
        np.array(requests, dtype=np.int64), n_threads=n_threads
    ).reshape(-1, 2)
    found: list[tuple[Interval | None, int]] = []
    for measure, (_, value, _), pair, defined in zip(
        wanted, drawn, ends.tolist(), located[:, 2].tolist(), strict=True
    ):
        interval = None
        if 2 * defined > n_resamples:
            bounds = _differing(measure) if are_differences else measure
            interval = _finish(Interval(*pair), value, bounds, _freedom(measure, table), alpha)
        found.append((interval, n_resamples - defined))
    return found


# Quantiles of the replicates of t, held in memory or drawn again.

# Up to here the replicates are held for their quantiles (8 MB), beyond they are drawn again.
_MAX_HELD = 1 << 20


def make_room(
    levels: tuple[float, ...], *, n_resamples: int, keep: bool
) -> NDArray[np.float64] | None:
    """Return places for all replicates if they are to be kept or held for quantiles."""
    if keep or (levels and n_resamples <= _MAX_HELD):
        return np.empty(n_resamples, dtype=np.float64)
    return None


def find_quantiles(
    levels: tuple[float, ...],
    replicates: NDArray[np.float64] | None,
    order_statistics: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    *,
    n_resamples: int,
    keep: bool,
) -> dict[float, float]:
    """Return quantiles between neighbouring order statistics, as numpy.quantile does by default."""
    if not levels:
        return {}
    places = [level * (n_resamples - 1) for level in levels]
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, n_resamples - 1)
    ranks = np.unique(np.concatenate([below, above]))
    if replicates is not None:
        to_sort = replicates.copy() if keep else replicates
        to_sort.partition(ranks)
        found = to_sort[ranks]
    else:
        found = order_statistics(ranks)
    statistics = dict(zip(ranks.tolist(), found.tolist(), strict=True))
    quantiles = {}
    for level, place, low, high in zip(levels, places, below.tolist(), above.tolist(), strict=True):
        quantiles[level] = _interpolate(statistics[low], statistics[high], place - low)
    return quantiles


def _interpolate(lower: float, upper: float, share: float) -> float:
    """Give the value a share of [0, 1) of the way up; never NaN, though either may be infinite."""
    if share == 0 or lower == upper:
        return lower
    if math.isinf(lower) and math.isinf(upper):
        return lower if share < 0.5 else upper
    if math.isinf(lower):
        return lower
    return lower + (upper - lower) * share
