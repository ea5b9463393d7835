"""Variance components of a crossed layout by their definitions, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Table = Sequence[Sequence[int]]


def components(
    d: Table, units: Sequence[int] | None = None
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Mean difference, and V_I, V_C and V_E. ``units`` numbers the cluster of each row."""
    n, m = len(d), len(d[0])
    of_unit = list(range(n)) if units is None else list(units)
    c = len(set(of_unit))
    mean = Fraction(sum(sum(row) for row in d), n * m)
    rows = [Fraction(sum(row), m) for row in d]
    columns = [Fraction(sum(row[j] for row in d), n) for j in range(m)]
    of_items = of_rest = Fraction(0)
    for unit in set(of_unit):
        own = [i for i in range(n) if of_unit[i] == unit]
        of_items += sum(rows[i] - mean for i in own) ** 2
        for j in range(m):
            of_rest += sum(d[i][j] - rows[i] - columns[j] + mean for i in own) ** 2
    unbiased = Fraction(c, (c - 1) * n * n)
    return (
        mean,
        unbiased * of_items,
        sum((own - mean) ** 2 for own in columns) / (m * (m - 1)),
        unbiased * of_rest / (m * (m - 1)),
    )
