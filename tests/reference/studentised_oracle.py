"""The studentised bootstrap, slow and obvious: all n**n resamples in exact fractions.

A sample is a list of clusters, and a cluster a list of differences (one for a pair).
"""

from __future__ import annotations

import itertools
from fractions import Fraction

Sample = list[list[Fraction]]


def shift_to(sample: Sample, delta: Fraction) -> Sample:
    """Differences of 0 stay; the others are shifted, so that the mean of all is delta."""
    rows = [d for cluster in sample for d in cluster]
    others = [d for d in rows if d != 0]
    step = Fraction(0)
    if others:
        step = delta * len(rows) / len(others) - sum(others, Fraction(0)) / len(others)
    return [[d + step if d != 0 else d for d in cluster] for cluster in sample]


def numerator_and_spread(sample: Sample, delta: Fraction) -> tuple[Fraction, Fraction]:
    """What t is the quotient of, the second one under a root: sums about delta and the mean."""
    rows = [d for cluster in sample for d in cluster]
    mean = sum(rows, Fraction(0)) / len(rows)
    total = sum((d - delta for d in rows), Fraction(0))
    residuals = [sum((d - mean for d in cluster), Fraction(0)) for cluster in sample]
    return total, sum((r * r for r in residuals), Fraction(0))


def order_of(sample: Sample, delta: Fraction) -> Fraction | float:
    """t*abs(t), which orders samples as t does; infinite without spread, 0 for 0 / 0."""
    total, spread = numerator_and_spread(sample, delta)
    if total == 0:
        return Fraction(0)
    if spread == 0:
        return float("inf") if total > 0 else float("-inf")
    return total * abs(total) / spread


def exact_tails(sample: Sample, delta: Fraction) -> tuple[Fraction, Fraction]:
    """P(t* <= t) and P(t* >= t) under H0: the mean is delta."""
    observed = order_of(sample, delta)
    null = shift_to(sample, delta)
    law = [
        order_of([null[row] for row in rows], delta)
        for rows in itertools.product(range(len(null)), repeat=len(null))
    ]
    return (
        Fraction(sum(value <= observed for value in law), len(law)),
        Fraction(sum(value >= observed for value in law), len(law)),
    )
