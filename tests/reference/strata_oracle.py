"""Tests by strata and by dose from their definitions: every table, every sign, in fractions."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def tables(sizes: Sequence[int], total: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every way to mark so many of all pairs, by the marks in each group, and its probability."""
    for marked in itertools.product(*(range(k + 1) for k in sizes)):
        if sum(marked) == total:
            ways = 1
            for k, w in zip(sizes, marked, strict=True):
                ways *= comb(k, w)
            yield marked, Fraction(ways, comb(sum(sizes), total))


def pearson(marked: Sequence[int], sizes: Sequence[int]) -> Fraction:
    """Pearson's chi-square of the table of marked and other pairs by group."""
    n, total = sum(sizes), sum(marked)
    chi = Fraction(0)
    for k, w in zip(sizes, marked, strict=True):
        for seen, all_seen in ((w, total), (k - w, n - total)):
            if k and all_seen:
                expected = Fraction(k * all_seen, n)
                chi += (seen - expected) ** 2 / expected
    return chi


def heterogeneity_p(marked: Sequence[int], sizes: Sequence[int]) -> Fraction:
    """P(a table is at least as far from equal shares as this one)."""
    observed = pearson(marked, sizes)
    return sum(
        (p for table, p in tables(sizes, sum(marked)) if pearson(table, sizes) >= observed),
        Fraction(0),
    )


def trend_tails(
    marked: Sequence[int], sizes: Sequence[int], doses: Sequence[int]
) -> tuple[Fraction, Fraction]:
    """P(T <= t) and P(T >= t) of the sum of the marked pairs' doses, given how many are marked."""
    observed = sum(w * e for w, e in zip(marked, doses, strict=True))
    below = above = Fraction(0)
    for table, p in tables(sizes, sum(marked)):
        value = sum(w * e for w, e in zip(table, doses, strict=True))
        below += p * (value <= observed)
        above += p * (value >= observed)
    return below, above


def sign_law(values: Sequence[int]) -> dict[int, Fraction]:
    """Law of a sum of values, each with a sign by a coin."""
    law: Counter[int] = Counter()
    for signs in itertools.product((-1, 1), repeat=len(values)):
        law[sum(s * e for s, e in zip(signs, values, strict=True))] += 1
    return {value: Fraction(count, 2 ** len(values)) for value, count in law.items()}


def mcnemar_p(fewer: int, k: int) -> Fraction:
    """McNemar's exact two-sided p-value with so many of k pairs in the rarer direction."""
    tail = sum(Fraction(comb(k, w), 2**k) for w in range(fewer + 1))
    return min(Fraction(1), 2 * tail)


def min_p(rarer: Sequence[int], sizes: Sequence[int]) -> list[Fraction]:
    """Step-down min-p over independent strata, by every way that their losses may fall."""
    p_values = [mcnemar_p(w, k) for w, k in zip(rarer, sizes, strict=True)]
    order = sorted(range(len(sizes)), key=p_values.__getitem__)
    adjusted = [Fraction(1)] * len(sizes)
    largest = Fraction(0)
    for place, index in enumerate(order):
        left = order[place:]
        reached = Fraction(0)
        for losses in itertools.product(*(range(sizes[s] + 1) for s in left)):
            p = Fraction(1)
            for s, w in zip(left, losses, strict=True):
                p *= Fraction(comb(sizes[s], w), 2 ** sizes[s])
            smallest = min(
                mcnemar_p(min(w, sizes[s] - w), sizes[s]) for s, w in zip(left, losses, strict=True)
            )
            reached += p * (smallest <= p_values[index])
        largest = max(largest, reached)
        adjusted[index] = largest
    return adjusted
