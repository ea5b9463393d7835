"""Resampling tests on scores, slow and obvious: the definitions, unit by unit.

``values`` always has shape (n, M): the difference of each unit for each of M classifiers.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np


def paired_t(differences: Any) -> float:
    """Eq. 12 and 13: mean over standard error, variance with divisor n."""
    d = np.asarray(differences, dtype=float)
    if (d == d[0]).all():
        return 0.0 if d[0] == 0 else math.copysign(math.inf, d[0])
    return float(math.sqrt(d.size) * d.mean() / d.std())


def order_of(differences: list[Fraction]) -> Fraction:
    """D|D|/Q in exact fractions, of which t is an increasing function."""
    total = sum(differences, Fraction(0))
    squares = sum((d * d for d in differences), Fraction(0))
    return total * abs(total) / squares if squares else Fraction(0)


def enumerate_orders(differences: list[Fraction]) -> list[Fraction]:
    """D|D|/Q of every resample: all n**n samples, all 2**n swaps."""
    n = len(differences)
    return [
        order_of([sign * differences[row] for sign, row in zip(signs, rows, strict=True)])
        for rows in itertools.product(range(n), repeat=n)
        for signs in itertools.product((1, -1), repeat=n)
    ]


def exact_tails(differences: list[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """P(t* <= t), P(t* >= t) and P(abs(t*) >= abs(t))."""
    observed = order_of(differences)
    law = enumerate_orders(differences)
    return (
        Fraction(sum(value <= observed for value in law), len(law)),
        Fraction(sum(value >= observed for value in law), len(law)),
        Fraction(sum(abs(value) >= abs(observed) for value in law), len(law)),
    )


def resample(values: np.ndarray, n_resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Sums and sums of squares of resamples drawn row by row, shape (S, M, 2)."""
    n = values.shape[0]
    drawn = np.empty((n_resamples, values.shape[1], 2))
    for s in range(n_resamples):
        rows = rng.integers(0, n, n)
        sample = values[rows] * rng.choice([-1.0, 1.0], n)[:, None]
        drawn[s, :, 0] = sample.sum(axis=0)
        drawn[s, :, 1] = (sample * sample).sum(axis=0)
    return drawn


def sum_clusters(values: np.ndarray, clusters: list[Any]) -> np.ndarray:
    """The sum over each cluster, in order of first appearance."""
    totals: dict[Any, np.ndarray] = {}
    for row, cluster in zip(values, clusters, strict=True):
        totals[cluster] = totals.get(cluster, 0) + row
    return np.array(list(totals.values()))


def step_down_max(observed: list[float], replicates: np.ndarray) -> list[float]:
    """Westfall and Young's (1993) step-down max-t: replicates has shape (S, M)."""
    m = len(observed)
    order = sorted(range(m), key=lambda c: -observed[c])
    adjusted = [0.0] * m
    largest = 0.0
    for place, column in enumerate(order):
        hits = 0
        for row in replicates:
            hits += any(row[other] >= observed[column] for other in order[place:])
        largest = max(largest, (hits + 1) / (len(replicates) + 1))
        adjusted[column] = largest
    return adjusted


def step_down_min_p(observed: list[float], replicates: np.ndarray) -> list[float]:
    """The same with each value replaced by its rank among the replicates and the sample.

    Replicates rank before a sample that is as large as they are.
    """
    m = len(observed)
    ranks = np.column_stack(
        [
            [
                (replicates[:, c] >= value).sum() + (observed[c] > value)
                for value in replicates[:, c]
            ]
            for c in range(m)
        ]
    )
    own = [int((replicates[:, c] >= observed[c]).sum()) + 1 for c in range(m)]
    return step_down_max([-count for count in own], -ranks)


def holm(p_values: list[float]) -> list[float]:
    """Holm (1979), from the definition: each p against what is left."""
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    return [
        min(1.0, max((m - j) * p_values[order[j]] for j in range(order.index(i) + 1)))
        for i in range(m)
    ]
