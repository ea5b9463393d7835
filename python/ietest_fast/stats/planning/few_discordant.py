"""What few discordant pairs can show: exact equivalence tests, and sizes of the bootstrap test."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.runtime import core
from ietest_fast.stats.inputs import MAX_PLANNED_PAIRS, normal_quantile
from ietest_fast.stats.intervals import tango_scores
from ietest_fast.stats.outcomes import FEW_DISCORDANT

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


# Pairs expected to favour the transformed version, at which the supremum is looked for: none, and
# a few up to so many that the normal law is close.
_EXPECTED = np.concatenate([[0.0], np.geomspace(0.05, 60, 15)])
#: Given its discordant pairs, a test is called liberal if it rejects so many times too often.
LIBERAL = 1.35
# With so few pairs it is looked for at all shares.
_FEW_PAIRS = 300


@functools.lru_cache(maxsize=4096)
def exact_equivalence_p(n: int, n10: int, n01: int, margin: float) -> float:
    r"""Compute the exact unconditional p-value of H0: delta >= margin, ordered by Tango's score.

    .. math:: p = \sup_{q} P\bigl(T(\epsilon) \le t \mid P(A > B) = q + \epsilon, P(A < B) = q\bigr)

    (Hsueh, Liu and Chen 2001), at the border of H0, where the probability is largest. By Tango's
    normal law, p is just below 5% for 268 pairs without a discordant one; but all of them agree
    with probability 6.8% where delta is 0.01.
    """
    from scipy.special import betainc, ndtr

    score = float(tango_scores(n, n10, n01, margin))
    largest_q = (1 - margin) / 2
    q = _EXPECTED[n * largest_q > _EXPECTED] / n
    if n <= _FEW_PAIRS:
        q = np.append(q, np.linspace(0, largest_q, 60)[1:])
    expected = n * float(q.max())
    most = min(n, math.ceil(expected + 9 * math.sqrt(expected) + 9))
    j = np.arange(most + 1)
    largest = _largest_at_most(n, j, margin, score)
    # P(n01 = j), and P(n10 <= largest | n01 = j).
    of_j = _binomial_masses(j, n, q)
    share = np.minimum((q + margin) / (1 - q), 1.0)[:, None]
    rest = n - j
    inside = np.clip(largest, 0, np.maximum(rest - 1, 0))
    below = betainc(np.maximum(rest - inside, 1), inside + 1.0, 1 - share)
    below = np.where(largest < 0, 0.0, np.where(largest >= rest, 1.0, below))
    return min(1.0, max(float(ndtr(score)), float((of_j * below).sum(axis=1).max())))


def _binomial_masses(j: NDArray[np.int64], n: int, q: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import gammaln, xlog1py, xlogy

    choose = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    logs = choose + xlogy(j, q[:, None]) + xlog1py(n - j, -q[:, None])
    return np.asarray(np.exp(logs))


def _largest_at_most(
    n: int, n01: NDArray[np.int64], margin: float, score: float
) -> NDArray[np.int64]:
    """Return the largest n10 with a score of at most ``score`` for each n01; -1 if none has."""
    below, above = np.full(n01.size, -1, dtype=np.int64), n - n01 + 1
    bound = score + 1e-9 * max(1.0, abs(score))  # tables with the same score are a tie
    while (above - below > 1).any():
        middle = (below + above) // 2
        is_open = above - below > 1
        reached = (tango_scores(n, np.maximum(middle, 0), n01, margin) <= bound) & is_open
        below = np.where(reached, middle, below)
        above = np.where(is_open & ~reached, middle, above)
    return below


@functools.lru_cache(maxsize=4096)
def _pairs_for_equivalence(k: int, d: int, margin: float, alpha: float) -> int:
    """Return the n from which on k discordant pairs, d more on one side, are equivalent."""
    n10, n01 = (k + d) // 2, (k - d) // 2

    def shown(n: int) -> bool:
        return exact_equivalence_p(n, n10, n01, margin) < alpha

    # The exact p-value is never below that of the normal law, and not much above it.
    least = max(2, k)
    below = _smallest(
        lambda n: float(tango_scores(n, n10, n01, margin)) < -normal_quantile(alpha),
        least - 1,
        MAX_PLANNED_PAIRS + 1,
    )
    step = max(1, below // 16)
    below, above = below - 1, below
    while not shown(above):
        if above > MAX_PLANNED_PAIRS:
            return above
        below, above = above, above + step
    return _smallest(shown, max(below, least - 1), above)


def _smallest(holds: Callable[[int], bool], below: int, above: int) -> int:
    """Return the smallest number above ``below`` at which ``holds``; it does at ``above``."""
    while above - below > 1:
        middle = (below + above) // 2
        if holds(middle):
            above = middle
        else:
            below = middle
    return above


def largest_equivalent(n: int, k: int, *, margin: float, alpha: float) -> int:
    """Return the largest abs(D) with which k of n pairs are equivalent; -1 if none is."""
    # More pairs are needed for a larger abs(D), which is k modulo 2, and so many times 2.
    below, above = -1, k // 2 + 1
    while above - below > 1:
        middle = (below + above) // 2
        if _pairs_for_equivalence(k, k % 2 + 2 * middle, margin, alpha) <= n:
            below = middle
        else:
            above = middle
    return -1 if below < 0 else k % 2 + 2 * below


@functools.lru_cache(maxsize=4096)
def size_given(k: int, n: int, level: float) -> float:
    """Compute the size of the exact bootstrap test, given k discordant pairs."""
    from scipy.special import bdtr

    if k == 0:
        return 0.0
    (critical,) = core.power.critical_differences(n, k, k, level)
    fewest = (k - int(critical)) // 2  # so few on one side
    return 0.0 if fewest < 0 else min(1.0, 2 * float(bdtr(fewest, k, 0.5)))


def is_liberal(k: int, n: int, level: float) -> bool:
    """Say whether k discordant pairs are too few for the bootstrap test to be trusted at a level.

    They are if there are fewer than :data:`FEW_DISCORDANT`, or if, given k, the test rejects more
    than :data:`LIBERAL` times as often as it should: at smaller levels that lasts longer.
    """
    return 0 < k < FEW_DISCORDANT or size_given(k, n, level) > LIBERAL * level
