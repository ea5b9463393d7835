"""Cochran's Q and its null law from the definition, slow and obvious."""

from __future__ import annotations

import itertools
from fractions import Fraction


def q_statistic(rows: list[tuple[int, ...]]) -> Fraction:
    """Q by Cochran's (1950) formula; 0 where no row distinguishes the versions."""
    v = len(rows[0])
    columns = [sum(row[j] for row in rows) for j in range(v)]
    levels = [sum(row) for row in rows]
    mean = Fraction(sum(columns), v)
    below = v * sum(levels) - sum(level * level for level in levels)
    if below == 0:
        return Fraction(0)
    return v * (v - 1) * sum((g - mean) ** 2 for g in columns) / below


def enumerate_resamples(rows: list[tuple[int, ...]]) -> tuple[Fraction, Fraction]:
    """P(Q* >= Q) and P(Q* > Q) over every draw of n rows and every permutation of each."""
    observed = q_statistic(rows)
    choices = [order for row in rows for order in itertools.permutations(row)]
    at_least = above = 0
    n_samples = 0
    for sample in itertools.product(choices, repeat=len(rows)):
        q = q_statistic(list(sample))
        at_least += q >= observed
        above += q > observed
        n_samples += 1
    return Fraction(at_least, n_samples), Fraction(above, n_samples)


def sum_over_subsets(rows: list[tuple[int, ...]]) -> tuple[Fraction, Fraction]:
    """Give the same by adding one drawn row at a time to a dictionary of (G, weight)."""
    n, v = len(rows), len(rows[0])
    observed = q_statistic(rows)
    law: dict[tuple[int, ...], Fraction] = {(0,) * (v + 1): Fraction(1)}
    steps: dict[tuple[int, ...], Fraction] = {}
    for row in rows:
        level = sum(row)
        subsets = list(itertools.combinations(range(v), level))
        for subset in subsets:
            step = (*(int(j in subset) for j in range(v)), level * (v - level))
            steps[step] = steps.get(step, Fraction(0)) + Fraction(1, n * len(subsets))
    for _ in range(n):
        grown: dict[tuple[int, ...], Fraction] = {}
        for state, mass in law.items():
            for step, share in steps.items():
                key = tuple(a + b for a, b in zip(state, step, strict=True))
                grown[key] = grown.get(key, Fraction(0)) + mass * share
        law = grown
    at_least = above = Fraction(0)
    for (*columns, weight), mass in law.items():
        mean = Fraction(sum(columns), v)
        spread = v * (v - 1) * sum((g - mean) ** 2 for g in columns)
        q = spread / weight if weight else Fraction(0)
        at_least += mass * (q >= observed)
        above += mass * (q > observed)
    return at_least, above
