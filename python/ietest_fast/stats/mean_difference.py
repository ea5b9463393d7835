"""Means of two sets of buckets: their difference, its interval, and a test that they are equal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.inputs import as_array
from ietest_fast.stats.intervals import Interval, check_level
from ietest_fast.stats.laws.bootstrap import Draws, SumLaw, ratio_interval
from ietest_fast.stats.resampling import FEW_UNITS, count_equal

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    p = 2 * float(stdtr(df, -abs(difference) / error)) if error > 0 else 1.0
    n_drawn = None
    permutes = any(lacks) or (clusters is None and equal < FEW_UNITS)
    if permutes:
        if meets:
            return None
        p, n_drawn = _permute(values, mask, units, seed)
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


# Means over strata whose shares of a population are known, or estimated from a sample of it.


@dataclass(frozen=True, kw_only=True)
class StratifiedMean:
    """A mean of values in [0, 1] over strata."""

    total: float
    """Sum over strata of share times mean; strata without values count as 0."""
    mean: float
    """The same over ``weight``."""
    weight: float
    """Shares of the strata that have values."""
    standard_error: float | None
    df: float | None
    """Of ``mean``, and its degrees of freedom (Satterthwaite 1946); None if there is a single
    value, or a single cluster."""
    interval: Interval
    """Of ``mean``; from 0 to 1 if there is no standard error."""


def estimate_stratified(
    values: NDArray[np.float64],
    strata: NDArray[np.int64],
    shares: NDArray[np.float64],
    *,
    clusters: NDArray[np.int64] | None,
    n_test: int | None,
    alpha: float,
) -> StratifiedMean:
    r"""Estimate a mean over strata, and its interval.

    The variance within stratum j is estimated by

    .. math:: \hat s_j^2 = \frac{(n_j - 1) s_j^2 + u_j^2}{n_j},

    :math:`s_j^2` being that of its own :math:`n_j` values, and :math:`u_j^2` that of these and the
    values of the nearest strata that have any (collapsed strata, Cochran 1977, section 5A.12). A
    stratum of many values keeps its own variance; of a single value, or of a few that happen to be
    alike, the strata beside it tell it.

    The law of the mean is that of a bootstrap in the limit for large S: values are drawn within
    strata, scaled to this variance (Rao and Wu 1988), and items of the sample that tells the
    shares. Its quantiles are moved out by Student's quantile over the normal one. With clusters of
    values the interval is Student's.
    """
    counts = np.bincount(strata, minlength=shares.size)
    used = counts > 0
    means = np.bincount(strata, weights=values, minlength=shares.size) / np.maximum(counts, 1)
    weight = float(shares[used].sum())
    if weight == 0:
        raise InputError("no stratum of the test set has a bucket: nothing can be said about it")
    total = float(shares @ means)
    middle = total / weight
    known = {"total": total, "mean": middle, "weight": weight}
    n_units = values.size if clusters is None else int(np.unique(clusters).size)
    if n_units < 2:
        return StratifiedMean(**known, standard_error=None, df=None, interval=Interval(0.0, 1.0))
    # What each item of the test set moves the estimate by, through the shares.
    parts: list[tuple[Draws, float]] = []
    if n_test is not None:
        moves = np.where(used, means - middle, 0.0) / weight
        drawn = Draws(values=moves / n_test, frequencies=shares, n_draws=n_test)
        parts.append((drawn, max(n_test - 1.0, 1.0)))
    within = [
        (_draw_stratum(values, strata, int(place), shares[place] / weight), float(counts[place]))
        for place in np.flatnonzero(used & (shares > 0))
    ]
    if clusters is None:
        parts += [(own, df) for (own, _), df in within]
        variances = [own.n_draws * own.variance for own, _ in parts]
    else:
        terms = (values - means[strata]) * shares[strata] / (counts[strata] * weight)
        sums = np.bincount(clusters, weights=terms)
        pulls = np.bincount(clusters, weights=shares[strata] / counts[strata])
        variances = [own.n_draws * own.variance for own, _ in parts]
        variances += [float(np.square(sums).sum()) * n_units / (n_units - 1)]
        variances += [borrowed for (_, borrowed), _ in within]
    freedoms = [df for _, df in parts]
    if clusters is not None:
        freedoms += [max(count_equal(np.square(pulls)) - 1, 1.0), *(df for _, df in within)]
    variance = math.fsum(variances)
    if variance <= 1e-30:
        return StratifiedMean(
            **known, standard_error=0.0, df=float(n_units - 1), interval=Interval(middle, middle)
        )
    df = variance**2 / math.fsum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
    error = math.sqrt(variance)
    half = student_quantile(df, alpha) * error
    low, high = -half, half
    if clusters is None:
        ends = SumLaw([own for own, _ in parts]).ends(alpha / 2, alpha / 2)
        factor = student_factor(df, alpha)
        low, high = factor * ends.low, factor * ends.high
    return StratifiedMean(
        **known,
        standard_error=error,
        df=df,
        interval=Interval(max(middle + low, 0.0), min(middle + high, 1.0)),
    )


def student_factor(df: float, alpha: float) -> float:
    """Return Student's two-sided quantile over the normal one."""
    from scipy.special import ndtri

    return student_quantile(df, alpha) / float(ndtri(1 - alpha / 2))


def student_quantile(df: float, alpha: float) -> float:
    """Return Student's two-sided quantile."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 1 - alpha / 2))


def _draw_stratum(
    values: NDArray[np.float64], strata: NDArray[np.int64], place: int, weight: float
) -> tuple[Draws, float]:
    """Return what one draw of a stratum moves the mean by, and the variance that is borrowed.

    A draw is one of the stratum's own deviations, or with the probability 1/n one of those of the
    stratum and its nearest ones together; each is scaled so that its variance is unbiased.
    """
    own = values[strata == place]
    others = np.unique(strata[strata != place])
    distance = np.abs(others - place)
    near = others[distance == distance.min()] if others.size else others
    union = values[np.isin(strata, [place, *near.tolist()])]
    n, m = own.size, union.size
    moves = np.concatenate([_deviations(own), _deviations(union)]) * weight / n
    frequencies = np.concatenate([np.full(n, (n - 1) / n**2), np.full(m, 1 / (n * m))])
    borrowed = float(np.square(_deviations(union)).mean()) * weight**2 / n**2
    return Draws(values=moves, frequencies=frequencies, n_draws=n), borrowed


def _deviations(values: NDArray[np.float64]) -> NDArray[np.float64]:
    n = values.size
    if n < 2 or np.ptp(values) == 0:
        return np.zeros(n)
    return np.asarray((values - values.mean()) * math.sqrt(n / (n - 1)))


# Interval of a mean of independent values.


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
    """
    check_level(confidence_level)
    numbers = as_array(values, "values").astype(np.float64)
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
