"""Shares and sums of rates with intervals, and informedness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.consistency.buckets import OTHER, UnitTable, find_unit_types
from ietest_fast.stats.consistency.intervals import estimate_measures
from ietest_fast.stats.inputs import as_array, as_clusters, as_outcomes, in_one_order
from ietest_fast.stats.intervals import (
    Clustering,
    Differences,
    Interval,
    check_level,
    effective_size,
    wilson_interval,
)
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


# Shares of rows, with intervals.


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of rows."""

    n: int
    k: int
    """Rows, and those that count."""
    interval: Interval | None
    """At 95%, of :func:`ietest_fast.stats.proportion_interval`; None without rows."""

    @classmethod
    def of(cls, chosen: NDArray[np.bool_], clusters: NDArray[Any] | None = None) -> Share:
        """Count rows, of which those with the same label in `clusters` belong together."""
        n, k = len(chosen), int(chosen.sum())
        return cls(n=n, k=k, interval=proportion_interval(chosen, clusters) if n else None)

    @property
    def share(self) -> float | None:
        """The share, k over n; None without rows."""
        return self.k / self.n if self.n else None

    def to_dict(self, name: str) -> dict[str, Any]:
        """Return the share under a name, with its rows and its interval."""
        interval = self.interval
        return {
            name: self.share,
            f"{name}_n": self.n,
            f"{name}_interval": None if interval is None else [interval.low, interval.high],
        }


# Interval of a share of observations, some of which may belong together.


@in_one_order
def proportion_interval(
    outcomes: Sequence[bool] | NDArray[Any], clusters: Any = None, *, confidence_level: float = 0.95
) -> Interval:
    """Compute Wilson's (1927) interval of a share, of clustered outcomes at their effective number.

    The effective number is that of outcomes over their design effect, and smaller again where few
    clusters tell that effect, as for the interval of Korn and Graubard (1998). Without clusters, or
    with one outcome in each, the interval is Wilson's. Where fewer than 25 clusters hold an outcome
    that is not the commonest one, they do not tell the design effect, and the size of the largest
    cluster, which bounds it, is taken for it.

    Parameters
    ----------
    outcomes
        Shape (n,), bool, or 0 and 1; at least one.
    clusters
        Shape (n,), labels; equal ones are a cluster. None: outcomes are independent.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If there is no outcome, one is neither 0 nor 1, the confidence level is not in (0, 1), or
        clusters do not have a label for each outcome.
    """
    check_level(confidence_level)
    if len(outcomes) == 0:
        raise InputError("there is no outcome, so there is no share of them")
    values = as_outcomes(outcomes, "outcomes").astype(np.float64)
    n = values.size
    size = float(n)
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, n, fewest=1)
        if n_clusters == 1:
            size = 1.0  # whatever there is may be the same thing n times
        else:
            clustering = Clustering.of_codes(Differences.of(values), codes, n_clusters)
            size = effective_size(
                n, n_clusters, clustering.cautious_effect, (1 - confidence_level) / 2
            )
    return wilson_interval(float(values.mean()) * size, size, confidence_level=confidence_level)


# A weighted sum of rates of the same units, with an interval.


@dataclass(frozen=True, kw_only=True, eq=False)
class RatePart:
    """A rate in a weighted sum."""

    weight: float
    """Any number."""
    holds: NDArray[np.bool_]
    """bool (n,), n at least 1."""
    units: NDArray[Any]
    """(n,): labels; equal ones are the same unit in all parts."""


def sum_rates(
    parts: Sequence[RatePart],
    *,
    offset: float = 0.0,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    confidence_level: float = 0.95,
) -> tuple[float, Interval | None]:
    """Compute a weighted sum of rates, and its interval.

    The interval is Student's, with a standard error by the delta method (the infinitesimal
    jackknife) over units: a unit moves each rate by what its own instances have more than the rate.
    """
    from scipy.special import stdtrit

    check_level(confidence_level)
    if not parts or not all(len(part.holds) for part in parts):
        raise InputError("a weighted sum of rates needs rates, each of at least one instance")
    _, codes = np.unique(np.concatenate([part.units for part in parts]), return_inverse=True)
    n_units = int(codes.max()) + 1
    moved = np.zeros(n_units)
    value, start = offset, 0
    for part in parts:
        n = len(part.holds)
        rate = float(part.holds.mean())
        value += part.weight * rate
        own = codes[start : start + n]
        start += n
        moved += np.bincount(own, weights=part.weight * (part.holds - rate) / n, minlength=n_units)
    if n_units < 2:
        return value, None
    error = math.sqrt(n_units / (n_units - 1) * float(np.square(moved).sum()))
    reach = -float(stdtrit(n_units - 1, (1 - confidence_level) / 2)) * error
    low, high = bounds
    return value, Interval(max(low, value - reach), min(high, value + reach))


# The measure of buckets that is a share of all that the units hold.
_SHARE = "accuracy_micro"
_COLUMNS = ("right", "paraphrases")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share of instances."""

    n: int
    k: int
    """Instances, and those that count."""
    interval: Interval | None
    """By the bootstrap over units; None without instances."""

    @property
    def value(self) -> float | None:
        """The share, k over n; None without instances."""
        return self.k / self.n if self.n else None


@dataclass(frozen=True, kw_only=True)
class Informedness:
    """Two shares and their difference, Youden's (1950) index J.

    Of a classifier that says a thing as often where it must hold as where it must not, J is 0; of
    one that says it exactly where it must hold, 1.
    """

    rate: Rate
    """How often it is said where it must hold."""
    control: Rate
    """How often it is said where it must not."""
    interval: Interval | None
    """Of the difference; None where a share is not known."""

    @property
    def value(self) -> float | None:
        """The rate less that of the control, in [-1, 1]; None where one is not known."""
        rate, control = self.rate.value, self.control.value
        return None if rate is None or control is None else rate - control


@in_one_order
def measure_rate(
    holds: Sequence[bool] | NDArray[Any],
    units: Any,
    *,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Rate:
    """Count instances of which some belong together.

    The interval is the BCa bootstrap interval over units. Where all instances hold, or none, a
    bootstrap has nothing to draw from, and it is that of :func:`proportion_interval`.

    Parameters
    ----------
    holds
        bool (n,).
    units
        (n,): labels; instances with equal ones belong together.
    confidence_level
        In (0, 1).
    n_resamples, seed, n_threads
        Of the bootstrap; 10,000 replicates where None.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1, or there is not a unit for each.
    """
    check_level(confidence_level)
    values, codes = _check(holds, units)
    n, k = len(values), int(values.sum())
    if n == 0:
        return Rate(n=0, k=0, interval=None)
    found = None
    if 0 < k < n:
        found = estimate_measures(
            _tabulate([(values, codes)]),
            [_SHARE],
            method="resample",
            confidence_level=confidence_level,
            n_resamples=DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
            seed=seed,
            n_threads=n_threads,
        )[_SHARE].interval
    if found is None:
        found = proportion_interval(values, codes, confidence_level=confidence_level)
    return Rate(n=n, k=k, interval=found)


def measure_informedness(
    holds: Sequence[bool] | NDArray[Any],
    units: Any,
    control_holds: Sequence[bool] | NDArray[Any],
    control_units: Any,
    *,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> Informedness:
    """Compare how often something is said where it must hold and where it must not.

    The interval of the difference is the BCa bootstrap interval over units, which are drawn with
    all that they have of both. Where all or none of one side hold, it is Newcombe's (1998, method
    10), made of the intervals of the two shares.

    Parameters
    ----------
    holds, units
        (n,): whether it is said where it must hold, and labels of what belongs together.
    control_holds, control_units
        (m,): the same where it must not; equal labels are the same unit as there.
    confidence_level, n_resamples, seed, n_threads
        As for :func:`measure_rate`.

    Raises
    ------
    InputError
        As for :func:`measure_rate`.
    """
    values, labels = _check(holds, units)
    others, other_labels = _check(control_holds, control_units)
    told: dict[str, Any] = {
        "confidence_level": confidence_level,
        "n_resamples": n_resamples,
        "seed": seed,
        "n_threads": n_threads,
    }
    rate, control = measure_rate(values, labels, **told), measure_rate(others, other_labels, **told)
    interval = None
    if rate.value is not None and control.value is not None:
        if 0 < rate.k < rate.n and 0 < control.k < control.n:
            interval = estimate_measures(
                _tabulate([(values, labels), (others, other_labels)]),
                [_SHARE],
                are_differences=True,
                confidence_level=confidence_level,
                n_resamples=DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
                seed=seed,
                n_threads=n_threads,
            )[_SHARE].interval
        if interval is None:
            interval = _square_and_add(rate, control)
    return Informedness(rate=rate, control=control, interval=interval)


@in_one_order
def _check(holds: Any, units: Any) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    labels = as_array(units, "units")
    if len(holds) != len(labels):
        raise InputError(f"there are {len(holds)} instances and {len(labels)} units")
    if len(holds) == 0:
        return np.empty(0, np.bool_), labels
    return as_outcomes(holds, "holds").astype(np.bool_), labels


def _tabulate(sides: Sequence[tuple[NDArray[np.bool_], NDArray[Any]]]) -> UnitTable:
    """Count instances of each unit, and those that hold, on one side or two."""
    _, codes = np.unique(np.concatenate([units for _, units in sides]), return_inverse=True)
    n_units, start = int(codes.max()) + 1, 0
    columns: dict[str, NDArray[np.float64]] = {}
    for (values, units), suffix in zip(sides, ("", OTHER), strict=False):
        own = codes[start : start + len(units)]
        start += len(units)
        for name, weights in zip(_COLUMNS, (values, np.ones(len(own))), strict=True):
            columns[name + suffix] = np.bincount(own, weights, n_units).astype(np.float64)
    return find_unit_types(columns, None, None)


def _square_and_add(one: Rate, other: Rate) -> Interval | None:
    """Return the interval of a difference of two shares from theirs."""
    if one.interval is None or other.interval is None:
        return None
    first, second = one.k / one.n, other.k / other.n
    difference = first - second
    return Interval(
        difference - math.hypot(first - one.interval.low, other.interval.high - second),
        difference + math.hypot(one.interval.high - first, second - other.interval.low),
    )
