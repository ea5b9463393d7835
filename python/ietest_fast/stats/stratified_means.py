"""Means over strata whose shares of a population are known, or estimated from a sample of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.real_law import Draws, SumLaw
from ietest_fast.stats.resampling import count_equal

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    half = _student(df, alpha) * error
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

    return _student(df, alpha) / float(ndtri(1 - alpha / 2))


def _student(df: float, alpha: float) -> float:
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
