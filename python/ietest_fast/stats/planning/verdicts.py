"""How probable a verdict is, "differs" or "equivalent", and how many pairs make it probable."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    DEFAULT_POWER,
    MAX_PLANNED_PAIRS,
    check_between,
    check_enumeration,
    check_goal,
    check_pairs,
    check_truth,
    is_number,
    level_of_one_test,
    normal_quantile,
)
from ietest_fast.stats.intervals import tango_scores
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.outcomes import FEW_DISCORDANT
from ietest_fast.stats.planning.power import largest_each, largest_equivalent, smallest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


# Up to here pairs_to_decide enumerates; it stands beside results, which must not take seconds.
_MAX_ENUMERATED_DISCORDANT = 2_500


def pairs_to_decide(
    sample: PairedCounts | MatchedSample,
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    n_tests: int = 1,
    power: float = DEFAULT_POWER,
    n_threads: int | None = None,
) -> int | None:
    """Say how many pairs would end an "undecided", if the sample's shares were the truth.

    Two verdicts end it, "differs" (the exact paired test rejects at alpha / M) and "equivalent
    within the margin" (both of Tango's score tests do, at alpha). The n is one at which the
    probability of either is high enough. At some n no table is undecided any more, so there is
    always such an n, though it may be too large.

    Up to 2,500 expected discordant pairs the probability is that of :func:`verdict_probability`,
    and n is found to a 500th of itself: n has the probability wanted, and so have those n of the
    saw tooth after it that were looked at (16, or 64 up to 300 discordant pairs). Beyond, D is
    taken for normal, and n is right to a hundredth (to three where all pairs are discordant).

    Parameters
    ----------
    sample
        A matched sample or its four counts.
    margin
        Differences smaller than this do not matter.
    alpha
        In (0, 0.5).
    n_tests, n_threads
        As for :func:`power`.
    power
        Probability of a verdict.

    Returns
    -------
    int or None
        None if no number up to 100 million is enough.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, pairs_to_decide
    >>> pairs_to_decide(PairedCounts(760, 42, 38, 160), margin=0.01)
    7484
    """
    check_goal(power, level_of_one_test(alpha, n_tests, n_threads))
    counts = sample.counts if isinstance(sample, MatchedSample) else sample
    psi, delta = counts.discordance_rate, counts.delta
    options: dict[str, Any] = {"margin": margin, "alpha": alpha, "n_tests": n_tests}
    _check_margin(margin, alpha)

    def likely(n: int) -> float:
        return _normal_verdict_probability(n, psi, delta, **options)

    rough = first_reaching(likely, power, 1, MAX_PLANNED_PAIRS)
    if rough is None or rough * psi > _MAX_ENUMERATED_DISCORDANT:
        return rough

    def exact(n: int) -> float:
        return verdict_probability(n, psi, delta, **options, n_threads=n_threads)

    return _settle(
        exact,
        power,
        rough,
        width=functools.partial(_verdict_tooth, psi, margin),
        n_points=64 if rough * psi < 300 else 16,
    )


def verdict_probability(
    n: int,
    discordance: float,
    delta: float,
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> float:
    """Give the probability of a verdict, "differs" or "equivalent", by enumerating the tables.

    For each number of discordant pairs k both tests depend on abs(D) only. The test of no
    difference rejects from c(k) on; Tango's tests both reject up to some e(k), if at all. So

        P(verdict) = 1 - sum over k of P(K = k) * P(e(k) < abs(D) < c(k) | k).

    Parameters
    ----------
    n, discordance, delta, alpha, n_tests, n_threads
        As for :func:`power`; alpha is below 0.5. Equivalence is tested at alpha.
    margin
        Differences smaller than this do not matter.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    level = level_of_one_test(alpha, n_tests, n_threads)
    _check_margin(margin, alpha)
    check_truth(discordance, delta)
    size = check_pairs(n)
    check_enumeration(size * discordance)
    first, last = core.power.likely_discordant(size, discordance)
    differs = core.power.critical_differences(size, first, last, level, n_threads=n_threads)
    k = np.arange(first, last + 1)
    equivalent = _largest_equivalent(size, k, margin=margin, z=normal_quantile(alpha))
    for place in np.flatnonzero(k < FEW_DISCORDANT).tolist():
        equivalent[place] = largest_equivalent(size, int(k[place]), margin=margin, alpha=alpha)
    # Undecided are the numbers of pairs that favour the original from one end to the other.
    low = np.where(equivalent < 0, k - differs, k + equivalent) // 2
    high = np.maximum((k + differs - 1) // 2, low)
    share = min(1.0, (1 + delta / discordance) / 2) if discordance > 0 else 0.5
    undecided = _binomial_cdf(high, k, share) - _binomial_cdf(low, k, share)
    mirrored = _binomial_cdf(high, k, 1 - share) - _binomial_cdf(low, k, 1 - share)
    undecided += np.where(equivalent < 0, 0.0, mirrored)
    weights = np.diff(_binomial_cdf(np.arange(first - 1, last + 1), size, discordance))
    return 1 - float(weights @ undecided)


def _binomial_cdf(
    at: NDArray[np.int64], n: NDArray[np.int64] | int, p: float
) -> NDArray[np.float64]:
    from scipy.special import betainc

    most = np.maximum(n, 1)
    inside = np.clip(at, 0, most - 1)
    law = betainc(most - inside, inside + 1.0, 1 - p)
    return np.where(at < 0, 0.0, np.where(at >= np.asarray(n), 1.0, law))


def _largest_equivalent(
    n: int, k: NDArray[np.int64], *, margin: float, z: float
) -> NDArray[np.int64]:
    """Give the largest abs(D) with which k discordant pairs are equivalent; -1 if none is."""
    # abs(D) is the remainder of k by 2, and so many times 2.

    def shown(half: NDArray[np.int64]) -> NDArray[np.bool_]:
        d = k % 2 + 2 * half
        return tango_scores(n, (k + d) / 2, (k - d) / 2, margin) < -z

    found = largest_each(shown, k // 2 + 1)
    return np.where(found < 0, -1, k % 2 + 2 * found)


def _normal_verdict_probability(
    n: int, psi: float, delta: float, *, margin: float, alpha: float, n_tests: int
) -> float:
    """Approximate :func:`verdict_probability` by a normal D, at the k that is expected."""
    from scipy.special import ndtr

    k = n * psi
    differs = normal_quantile(alpha / n_tests / 2) * math.sqrt(k)
    z = normal_quantile(alpha)

    def gap(d: float) -> float:
        return float(tango_scores(n, (k + d) / 2, (k - d) / 2, margin)) + z

    equivalent = -1.0
    if gap(0.0) < 0:
        from scipy.optimize import brentq

        equivalent = k if gap(k) < 0 else float(brentq(gap, 0.0, k, xtol=1e-6))
    if equivalent >= differs:
        return 1.0
    centre, spread = n * abs(delta), math.sqrt(max(n * (psi - delta**2), 0))
    if spread == 0:  # all pairs, or none, are discordant
        return float(centre <= equivalent or centre > differs)
    inner = max(equivalent, 0.0)
    undecided = sum(
        float(ndtr((differs - middle) / spread) - ndtr((inner - middle) / spread))
        for middle in (centre, -centre)
    )
    return 1 - undecided


def _verdict_tooth(psi: float, margin: float, n: int) -> int:
    """Give how many more pairs change either limit of abs(D) by a step or two."""
    differs = 2 * math.sqrt(n / psi) if psi > 0 else 0.0
    return math.ceil(min(n, max(differs, 4 / margin)))


def first_reaching(
    probability: Callable[[int], float], goal: float, below: int, above: int, *, step: int = 1
) -> int | None:
    """Halve until a step is left; None if not even the upper end reaches the goal."""

    def reaches(n: int) -> bool:
        return probability(n) >= goal

    return smallest(reaches, below, above, step=step) if reaches(above) else None


def _settle(
    probability: Callable[[int], float],
    goal: float,
    rough: int,
    *,
    width: Callable[[int], int],
    n_points: int,
) -> int | None:
    """Find from about where on a probability that climbs in saw teeth stays at the goal."""
    probability = functools.cache(probability)
    above = min(rough, MAX_PLANNED_PAIRS)
    while probability(above) < goal:
        if above == MAX_PLANNED_PAIRS:
            return None
        above = min(above + 1 + above // 25, MAX_PLANNED_PAIRS)
    below = above
    while below > 0 and probability(below) >= goal:
        below -= 1 + below // 25
    step = max(1, rough // 500)
    found = first_reaching(probability, goal, below, above, step=step) or above
    while True:
        tooth = width(found)
        stride = max(1, tooth // n_points)
        last = min(found + tooth, MAX_PLANNED_PAIRS)
        short = [n for n in range(last, found, -stride) if probability(n) < goal]
        if not short:
            return found
        found = short[0] + 1
        while found <= MAX_PLANNED_PAIRS and probability(found) < goal:
            found += step
        if found > MAX_PLANNED_PAIRS:
            return None


def _check_margin(margin: float, alpha: float) -> None:
    check_between(margin, "the margin", 0, 1)
    if is_number(alpha) and not alpha < 0.5:
        raise InputError(f"equivalence is tested at an alpha below 0.5, not at {alpha}")
