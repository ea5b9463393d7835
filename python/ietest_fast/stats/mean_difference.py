"""Means of two sets of buckets: their difference, its interval, and a test that they are equal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ietest_fast.plurals import say_count
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.resampling import FEW_UNITS, count_equal

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_PERMUTATIONS = 9_999
"""Ways to part the buckets that are drawn, where there are more than can be counted."""
MOST_COUNTED = 20_000
"""If there are no more ways than this to part the buckets, they are all counted."""

#: Numbers of buckets that are drawn at once.
_CELLS = 2_000_000
_TINY = 1e-12


@dataclass(frozen=True, kw_only=True)
class MeanDifference:
    """Means of two sets of buckets, and the test that they are equal."""

    first: float
    second: float
    """The means."""
    n_first: int
    n_second: int
    """Buckets of each set that have the measure."""
    n_units_equal: float
    """How many units of equal size the set with less to tell is worth: buckets, or clusters."""
    standard_error: float
    df: float
    """Of the difference, and its degrees of freedom."""
    interval: Interval | None
    """Of the difference, first minus second; None if a set has no spread."""
    p_value: float
    """Two-sided."""
    method: Literal["welch", "permutation"]
    """``welch``: Student's law with Welch's (1947) variance, over clusters where there are any.
    ``permutation``: the share of all ways to part the buckets (or whole clusters) into sets of
    these sizes whose means differ as much."""
    n_permutations: int | None
    """How many ways were drawn at random, the observed one not among them; None if all were
    counted, or for ``welch``."""
    warning: str | None
    """What to know of the test; None if nothing."""

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second

    @property
    def p_floor(self) -> float | None:
        """The least p-value that the number of permutations allows; None if there is none."""
        return None if self.n_permutations is None else 1 / (self.n_permutations + 1)


def compare_means(
    values: NDArray[np.float64],
    mask: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    *,
    alpha: float,
    seed: int,
) -> MeanDifference | None:
    """Compare the means of two sets of values between 0 and 1."""
    from scipy.special import stdtr, stdtrit

    sides = (mask, ~mask)
    means = [float(values[own].mean()) for own in sides]
    difference = means[0] - means[1]
    units = np.arange(values.size) if clusters is None else clusters
    found = [_spread_of(values[own], units[own]) for own in sides]
    if min(each.n_units for each in found) < 2:
        return None
    meets = np.intersect1d(units[mask], units[~mask]).size > 0
    # A cluster in both sets moves both means, so its sums are added before they are squared.
    terms = np.empty(values.size)
    for own, each, sign in zip(sides, found, (1, -1), strict=True):
        terms[own] = sign * math.sqrt(each.factor) * (values[own] - values[own].mean()) / own.sum()
    variance = float(np.square(np.bincount(units, weights=terms)).sum())
    equal = min(each.n_equal for each in found)
    error = math.sqrt(variance)
    df = equal - 1
    if variance > 0 and not meets:
        df = variance**2 / sum(each.variance**2 / (each.n_equal - 1) for each in found)
    lacks = [each.variance <= _TINY**2 for each in found]
    interval = None
    if not any(lacks):
        half = float(stdtrit(df, 1 - alpha / 2)) * error
        half = half if math.isfinite(half) else math.inf
        interval = Interval(max(difference - half, -1.0), min(difference + half, 1.0))
    n_drawn = None
    permutes = any(lacks) or (clusters is None and equal < FEW_UNITS)
    if permutes:
        if meets:
            return None
        p, n_drawn = _permute(values, mask, units, seed)
    else:
        p = 2 * float(stdtr(df, -abs(difference) / error)) if error > 0 else 1.0
    return MeanDifference(
        first=means[0],
        second=means[1],
        n_first=int(mask.sum()),
        n_second=int((~mask).sum()),
        n_units_equal=equal,
        standard_error=error,
        df=df,
        interval=interval,
        p_value=p,
        method="permutation" if permutes else "welch",
        n_permutations=n_drawn,
        warning=_warn(lacks, equal, is_clustered=clusters is not None),
    )


def _warn(lacks: list[bool], equal: float, *, is_clustered: bool) -> str | None:
    said = []
    if any(lacks):
        said.append(
            f"{'neither set has any' if all(lacks) else 'one of the sets has no'} spread, so there "
            f"is no interval, and p is that of permuting {'clusters' if is_clustered else 'items'}"
        )
    if equal < FEW_UNITS and is_clustered:
        said.append(
            f"the smaller set tells as much as {say_count(round(equal), 'cluster')} of equal size: "
            f"below {FEW_UNITS} p and interval are rough"
        )
    elif equal < FEW_UNITS:
        said.append(
            f"the smaller set has {say_count(round(equal), 'item')}: below {FEW_UNITS} p is that "
            "of permuting items, and the interval may be short"
        )
    return "; ".join(said) or None


@dataclass(frozen=True, kw_only=True)
class _Spread:
    """What a set tells of its mean."""

    n_units: int
    n_equal: float
    factor: float
    variance: float


def _spread_of(values: NDArray[np.float64], units: NDArray[np.int64]) -> _Spread:
    """Return the variance of a mean over units, as if all values of a unit were alike.

    With e equal units, the squares of the units' sums are too small by (e - 1)/e.
    """
    _, places, sizes = np.unique(units, return_inverse=True, return_counts=True)
    sums = np.bincount(places, weights=values - values.mean()) / values.size
    equal = count_equal(np.square(sizes.astype(np.float64)))
    factor = equal / (equal - 1) if sizes.size > 1 else 1.0
    return _Spread(
        n_units=int(sizes.size),
        n_equal=equal,
        factor=factor,
        variance=factor * float(np.square(sums).sum()),
    )


def _permute(
    values: NDArray[np.float64], mask: NDArray[np.bool_], units: NDArray[np.int64], seed: int
) -> tuple[float, int | None]:
    """Return the p-value of parting whole units at random, and how often that was drawn.

    Units with equal numbers are of one type: a way is how many of each type are in the first set.
    """
    _, first, places = np.unique(units, return_index=True, return_inverse=True)
    sizes = np.bincount(places).astype(np.float64)
    sums = np.bincount(places, weights=values)
    own = mask[first]
    # The smaller set is drawn: its mean tells that of the other.
    if 2 * own.sum() > own.size:
        own = ~own
    types, kinds = np.unique(
        np.stack([sizes, np.round(sums, 12)], axis=1), axis=0, return_inverse=True
    )
    kinds = kinds.reshape(-1)
    counts = np.bincount(kinds)
    total, n_total = float(sums.sum()), float(sizes.sum())

    def distance(ways: NDArray[np.int64]) -> NDArray[np.float64]:
        n, s = ways @ types[:, 0], ways @ types[:, 1]
        return np.asarray(np.abs(s / n - (total - s) / (n_total - n)))

    observed = np.bincount(kinds[own], minlength=counts.size)[None]
    limit = float(distance(observed)[0]) - 1e-9
    drawn = int(own.sum())
    if math.comb(own.size, drawn) <= MOST_COUNTED:
        from itertools import combinations

        chosen = kinds[np.array([*combinations(range(own.size), drawn)])]
        rows = np.repeat(np.arange(len(chosen)), drawn)
        ways = np.zeros((len(chosen), counts.size), np.int64)
        np.add.at(ways, (rows, chosen.ravel()), 1)
        return float((distance(ways) >= limit).mean()), None
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
    n_hits, step = 0, max(1, _CELLS // counts.size)
    for start in range(0, N_PERMUTATIONS, step):
        ways = generator.multivariate_hypergeometric(
            counts, drawn, size=min(step, N_PERMUTATIONS - start), method="count"
        )
        n_hits += int((distance(ways) >= limit).sum())
    return (n_hits + 1) / (N_PERMUTATIONS + 1), N_PERMUTATIONS
