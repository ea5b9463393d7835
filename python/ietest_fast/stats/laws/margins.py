"""Groups of pairs with a mark on some of them: what is likely if the marks fall at random.

Of k_g pairs in group g, w_g are marked (a loss, a flip), W in all. If a mark is as likely in every
group, then given W every choice of the W marked pairs is equally likely: the w_g are multivariate
hypergeometric. Two tests are made of that law: whether groups differ, and whether marks go with a
number that each group has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.philox import philox_key
from ietest_fast.stats.laws.integer import binomial_masses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


#: The law is enumerated if that takes at most so many steps, about half a second.
MOST_STEPS = 2**24

#: Where the law is not enumerated, so many tables are drawn unless told otherwise.
DEFAULT_TABLES = 10_000

# Steps on the way to the last two groups, whose tables are kept and sorted.
_MOST_KEPT = 2**18

# Steps that are held in memory at a time.
_BLOCK = 2**16

# Numbers of tables that are held in memory at a time.
_DRAWN = 2**20


def tails_given_total(
    sizes: NDArray[np.int64],
    total: int,
    scores: Sequence[NDArray[np.int64]],
    observed: int,
) -> tuple[float, float] | None:
    """Compute P(Q <= observed) and P(Q >= observed) for Q = sum of scores[g][w_g], given W.

    Groups are added one by one, the smallest first. Tables that agree in the marks and in the
    score so far are one from then on. The number of marks in the last group is known from the
    others.
    """
    n = int(sizes.sum())
    if total in {0, n} or len(sizes) < 2:
        return 1.0, 1.0
    order = np.argsort(sizes, kind="stable")
    share = total / n
    marks = np.zeros(1, dtype=np.int64)
    values = np.zeros(1, dtype=np.int64)
    masses = np.ones(1)
    left, kept = n, 0
    for group in order[:-2]:
        k = int(sizes[group])
        left -= k
        low, high = max(0, total - (n - k)), min(k, total)
        kept += marks.size * (high - low + 1)
        if kept > _MOST_KEPT:
            return None
        w = np.arange(low, high + 1)
        own = binomial_masses(k, share, 1 - share)[w]
        marks = np.add.outer(marks, w).reshape(-1)
        values = np.add.outer(values, scores[group][w]).reshape(-1)
        masses = np.multiply.outer(masses, own).reshape(-1)
        possible = (marks <= total) & (marks >= total - left)
        marks, values, masses = _merge(marks[possible], values[possible], masses[possible])
    return _close(
        (marks, values, masses),
        first=int(order[-2]),
        last=int(order[-1]),
        sizes=sizes,
        total=total,
        scores=scores,
        observed=observed,
    )


def _merge(
    marks: NDArray[np.int64], values: NDArray[np.int64], masses: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    order = np.lexsort((values, marks))
    marks, values, masses = marks[order], values[order], masses[order]
    is_new = np.ones(marks.size, dtype=bool)
    is_new[1:] = (marks[1:] != marks[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(is_new)
    return marks[starts], values[starts], np.add.reduceat(masses, starts)


def _close(
    so_far: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    *,
    first: int,
    last: int,
    sizes: NDArray[np.int64],
    total: int,
    scores: Sequence[NDArray[np.int64]],
    observed: int,
) -> tuple[float, float] | None:
    """Add the last two groups, a block at a time: nothing of their tables is kept."""
    marks, values, masses = so_far
    k, k_last = int(sizes[first]), int(sizes[last])
    share = total / int(sizes.sum())
    w = np.arange(min(k, total) + 1)
    if marks.size * w.size > MOST_STEPS:
        return None
    own = binomial_masses(k, share, 1 - share)[w]
    own_last = binomial_masses(k_last, share, 1 - share)
    score, score_last = scores[first][w], scores[last]
    whole = at_most = at_least = 0.0
    rows = max(1, _BLOCK // w.size)
    for start in range(0, marks.size, rows):
        block = slice(start, start + rows)
        rest = np.subtract.outer(total - marks[block], w)
        possible = (rest >= 0) & (rest <= k_last)
        rest = np.where(possible, rest, 0)
        value = np.add.outer(values[block], score) + score_last[rest]
        mass = np.multiply.outer(masses[block], own) * own_last[rest] * possible
        whole += float(mass.sum())
        at_most += float(mass[value <= observed].sum())
        at_least += float(mass[value >= observed].sum())
    return min(1.0, at_most / whole), min(1.0, at_least / whole)


def draw_tables(
    sizes: NDArray[np.int64], total: int, n_tables: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    """Draw the marks of each group given their total, in parts of shape (tables, G)."""
    generator = np.random.Generator(np.random.Philox(key=philox_key(seed)))
    per_part = max(1, _DRAWN // len(sizes))
    for start in range(0, n_tables, per_part):
        yield generator.multivariate_hypergeometric(
            sizes, total, size=min(per_part, n_tables - start), method="marginals"
        )


def heterogeneity_tail(marked: NDArray[np.int64], sizes: NDArray[np.int64]) -> float | None:
    """Compute P(Pearson's statistic >= the observed one), exactly; None if that takes too long.

    With both margins given the statistic grows with the sum of w_g²/k_g. Over a common denominator
    that is an integer, so that tables as far from H0 as the observed one are counted, and not left
    to rounding.
    """
    weights = _integer_weights(sizes)
    if weights is None:
        return None
    scores = [c * np.arange(k + 1) ** 2 for c, k in zip(weights, sizes.tolist(), strict=True)]
    observed = sum(c * w * w for c, w in zip(weights, marked.tolist(), strict=True))
    tails = tails_given_total(sizes, int(marked.sum()), scores, observed)
    return None if tails is None else tails[1]


def count_heterogeneous(
    marked: NDArray[np.int64], sizes: NDArray[np.int64], *, n_tables: int, seed: int
) -> int:
    """Draw tables, and count those that are as far from H0 as the observed one."""
    weights = _integer_weights(sizes)
    reached = 0
    if weights is not None:
        exact = np.array(weights, dtype=np.int64)
        observed = int((exact * marked**2).sum())
        for tables in draw_tables(sizes, int(marked.sum()), n_tables, seed):
            reached += int((tables**2 @ exact >= observed).sum())
        return reached
    # Floating point tells tables apart unless they are very close; those are done in integers.
    common = math.lcm(*sizes.tolist())
    whole = [common // k for k in sizes.tolist()]
    aim = sum(c * w * w for c, w in zip(whole, marked.tolist(), strict=True))
    about = float((marked**2 / sizes).sum())
    for tables in draw_tables(sizes, int(marked.sum()), n_tables, seed):
        gap = tables**2 @ (1 / sizes) - about
        close = np.abs(gap) <= 1e-9 * about
        reached += int((gap[~close] > 0).sum())
        reached += sum(
            sum(c * w * w for c, w in zip(whole, row, strict=True)) >= aim
            for row in tables[close].tolist()
        )
    return reached


def _integer_weights(sizes: NDArray[np.int64]) -> list[int] | None:
    """Return the common denominator over each k_g; None if sums would overflow."""
    common = math.lcm(*sizes.tolist())
    if common * int(sizes.sum()) >= 2**62:
        return None
    return [common // k for k in sizes.tolist()]
