"""Excess churn by its definition, and its null law by every way of swapping, in fractions."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = "Sequence[Sequence[Any]]"


def disagreement(first: Sequence[Any], second: Sequence[Any]) -> Fraction:
    """Share of ordered pairs of different classifiers, one from each, whose answers differ."""
    m = len(first)
    differ = sum(first[j] != second[i] for j in range(m) for i in range(m) if i != j)
    return Fraction(differ, m * (m - 1))


def excess_churn(original: Rows, transformed: Rows) -> Fraction:
    """Mean over the texts of the churn across versions minus that within them."""
    total = Fraction(0)
    for a, b in zip(original, transformed, strict=True):
        within = (disagreement(a, a) + disagreement(b, b)) / 2
        total += disagreement(a, b) - within
    return total / len(original)


def null_law(
    original: Rows, transformed: Rows, units: Sequence[int] | None = None
) -> dict[Fraction, Fraction]:
    """Law of the excess churn if each unit's answers of each classifier are swapped by a coin.

    ``units`` says which unit each text belongs to; None: each is its own.
    """
    n, m = len(original), len(original[0])
    of_text = list(range(n)) if units is None else list(units)
    names = sorted(set(of_text))
    law: Counter[Fraction] = Counter()
    ways = 0
    for coins in itertools.product([False, True], repeat=len(names) * m):
        swapped = {name: coins[place * m : (place + 1) * m] for place, name in enumerate(names)}
        pairs = [
            [(y, x) if heads else (x, y) for x, y, heads in zip(a, b, swapped[unit], strict=True)]
            for a, b, unit in zip(original, transformed, of_text, strict=True)
        ]
        value = excess_churn(
            [[x for x, _ in row] for row in pairs], [[y for _, y in row] for row in pairs]
        )
        law[value] += 1
        ways += 1
    return {value: Fraction(count, ways) for value, count in law.items()}


def p_value(original: Rows, transformed: Rows, units: Sequence[int] | None = None) -> Fraction:
    """P(excess churn under swaps >= the observed one)."""
    observed = excess_churn(original, transformed)
    law = null_law(original, transformed, units)
    return sum((mass for value, mass in law.items() if value >= observed), Fraction(0))
