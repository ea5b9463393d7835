"""Estimates of bucket measures: values, standard errors, and intervals.

Most measures are means over items, and of most items the value is an end of what is possible: they
are answered alike, or all rightly. An interval is then made of two parts, how many items have
another value, and what it is on average. The bootstrap knows the items that it was shown only, so
its intervals are too short where few have another value; it serves items that count differently.
"""

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
    UNBIASED_SHARE,
    evaluate,
    evaluate_difference,
    to_core,
)
from ietest_fast.stats.intervals import Interval, wilson_interval
from ietest_fast.stats.laws.bootstrap import acceleration_of, bca_levels, ratio_interval
from ietest_fast.stats.mean_difference import student_factor, student_quantile
from ietest_fast.stats.resampling import count_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.consistency.buckets import Measure, UnitTable


BootstrapMethod = Literal["exact", "resample"]
IntervalMethod = Literal["two-part", "fieller", "exact", "resample"]


# Beyond it, the ends are far enough away for the bootstrap.
_NEAR_AN_END = 0.25


@dataclass(frozen=True, kw_only=True)
class BucketEstimate:
    """An estimate with its interval."""

    value: float | None
    """The estimate; None where it is not defined."""
    standard_error: float | None
    """By the jackknife over units (buckets, or clusters of them); None if the measure is not
    defined without one of them."""
    interval: Interval | None
    """None where there are fewer than two units, the measure is undefined in a replicate as often
    as not, or none keeps its level: of the plug-in PVAP and of variances between items, and of PVAP
    where too few items tell how much items differ."""
    method: IntervalMethod
    """How the interval was found: ``two-part``; ``fieller``, of a ratio; or by the BCa bootstrap
    over units (Efron 1987), each end moved away from the value by Student's quantile over the
    normal one: ``exact``, the limit for large S, or ``resample``."""
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
    """Estimate measures of units, and the intervals; ``resample`` asks for the bootstrap."""
    alpha = 1 - confidence_level
    value_of = evaluate_difference if are_differences else evaluate
    found: dict[str, BucketEstimate] = {}
    drawn: list[tuple[str, float, float]] = []
    for name in names:
        measure = MEASURES[name]
        value = float(value_of(measure, table.columns, table.sums))
        left_out = value_of(measure, table.columns, table.sums - table.values)
        error = _jackknife_error(left_out, table.weights)
        own = None if are_differences or method == "resample" else _values_of(measure, table)
        if math.isnan(value) or table.n_units < 2 or error is None or measure.formula != RATIO:
            is_share = measure.formula == UNBIASED_SHARE and not are_differences
            found[name] = BucketEstimate(
                value=None if math.isnan(value) else value,
                standard_error=None if math.isnan(value) else error,
                interval=None if error is None or not is_share else _fieller(table, measure, alpha),
                method="fieller" if is_share else method,
            )
        elif own is not None:
            found[name] = BucketEstimate(
                value=value,
                standard_error=error,
                interval=two_part_interval(*own, most=measure.most, alpha=alpha),
                method="two-part",
            )
        elif method == "exact" and not are_differences:
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


def _values_of(
    measure: Measure, table: UnitTable
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return what a mean near an end is of, and how often each value is there; None of others.

    That is one in the outer quarters of what is possible. Units that are no part of the measure are
    left out, and the others have to count alike.
    """
    if measure.formula != RATIO or measure.least != 0:
        return None
    numerator, denominator = (table.column(column) for column in measure.columns)
    has_part = denominator > 0
    sizes = denominator[has_part]
    if sizes.size == 0 or np.ptp(sizes) > 0:
        return None
    values, weights = numerator[has_part] / sizes, table.weights[has_part]
    share = float(weights @ values) / (float(weights.sum()) * measure.most)
    return (values, weights) if min(share, 1 - share) <= _NEAR_AN_END else None


def two_part_interval(
    values: NDArray[np.float64], weights: NDArray[np.int64], *, most: float, alpha: float
) -> Interval:
    r"""Give an interval of the mean of values in [0, most], of which many may lie on one end.

    The mean is the share of values off the nearer end times their mean. Wilson's interval of the
    share and Student's of the mean, which reaches no further than from the least value to `most`,
    are joined on the scale of logarithms (Zou, Taleban and Huo 2009):

    .. math:: \log U = \log \hat\pi\hat\mu
              + \sqrt{\log^2(\pi_U / \hat\pi) + \log^2(\mu_U / \hat\mu)}.

    Parameters
    ----------
    values
        Shape (U,), in [0, most].
    weights
        Shape (U,), int64: how often each is there.
    most
        The largest value that is possible.
    alpha
        1 minus the confidence level.
    """
    n = int(weights.sum())
    if 2 * float(weights @ values) > n * most:
        turned = two_part_interval(np.maximum(most - values, 0), weights, most=most, alpha=alpha)
        return Interval(most - turned.high, most - turned.low)
    off = values > 1e-12 * most
    k = int(weights[off].sum())
    share = wilson_interval(k, n, confidence_level=1 - alpha)
    if k == 0:
        return Interval(0.0, share.high * most)
    own, times = values[off], weights[off]
    mean = float(times @ own) / k
    reach = math.inf
    if k > 1:
        variance = float(times @ np.square(own - mean)) / (k - 1)
        reach = student_quantile(k - 1, alpha) * math.sqrt(variance / k)
    low, high = max(float(own.min()), mean - reach), min(most, mean + reach)
    below = math.hypot(math.log(k / n / share.low), math.log(mean / low))
    above = math.hypot(math.log(share.high * n / k), math.log(high / mean))
    value = k / n * mean
    return Interval(value * math.exp(-below), min(most, value * math.exp(above)))


def _fieller(table: UnitTable, measure: Measure, alpha: float) -> Interval | None:
    """Give the shares p for which the variance within is not shown to be other than p of all.

    By Fieller's theorem (1954): within - p (within + between) is tested by Student's law with the
    jackknife's variance, with the degrees of freedom that the kurtosis leaves it. None if that
    bounds no share.
    """
    sums = np.vstack([table.sums, table.sums - table.values])
    theta, squares, noise, n, within = (
        sums[:, table.columns.index(name)] for name in measure.columns
    )
    if n.min() < 2 or within[0] == 0:
        return None
    within = within / n
    total = within + (squares - theta**2 / n) / (n - 1) - noise / n
    units = int(table.weights.sum())
    off = np.stack([within[1:], total[1:]])
    off -= (off @ table.weights / units)[:, None]
    (vw, cwt), (_, vt) = (units - 1) / units * (off * table.weights) @ off.T
    own = off[0] - within[0] / max(total[0], within[0]) * off[1]
    largest = float(np.abs(own).max())
    if largest < 1e-12:
        return None  # nothing tells by how much another sample would differ
    own /= largest
    kurtosis = units * float(table.weights @ own**4) / float(table.weights @ own**2) ** 2
    df = min(_freedom(measure, table), 2 * units / max(kurtosis - 1, 1e-9))
    square = student_quantile(max(df, 1.0), alpha) ** 2
    a, b = total[0] ** 2 - square * vt, within[0] * total[0] - square * cwt
    c = within[0] ** 2 - square * vw
    root = b * b - a * c
    if a <= 0 or root < 0:
        return None
    low, high = (b - math.sqrt(root)) / a, (b + math.sqrt(root)) / a
    return Interval(max(low, 0.0), min(high, 1.0)) if low < 1 and high > 0 else None


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
