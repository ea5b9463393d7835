"""Intervals for paired proportions from their definitions, slow and obvious."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm


def tango_score(n10: int, n01: int, n: int, delta: float) -> float:
    """Tango's statistic with p01 found by maximising the likelihood under p10 = p01 + delta."""
    low, high = max(0.0, -delta), (1 - delta) / 2

    def minus_log_likelihood(p01: float) -> float:
        total = 0.0
        for count, p in ((n10, p01 + delta), (n01, p01), (n - n10 - n01, 1 - 2 * p01 - delta)):
            if count:
                if p <= 0:
                    return math.inf
                total -= count * math.log(p)
        return total

    best = minimize_scalar(
        minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    ).x
    # The bounded search stays off the borders; they may be better.
    best = min((low, best, high), key=minus_log_likelihood)
    variance = n * (2 * best + delta - delta**2)
    return (n10 - n01 - n * delta) / math.sqrt(variance)


def tango_interval(n10: int, n01: int, n: int, level: float) -> tuple[float, float]:
    """Invert the statistic by a root finder."""
    z = norm.ppf((1 + level) / 2)
    middle = (n10 - n01) / n
    ends = []
    for border, side in ((-1, 1), (1, -1)):
        if middle == border:
            ends.append(middle)
            continue
        ends.append(
            brentq(
                lambda delta, side=side: tango_score(n10, n01, n, delta) - side * z,
                border * (1 - 1e-9),
                middle - side * 1e-9 if abs(middle) < 1 else middle,
                xtol=1e-12,
            )
        )
    return ends[0], ends[1]


def bootstrap_law(clusters: list[tuple[int, int]]) -> dict[Fraction, Fraction]:
    """Law of the mean difference over all C**C draws of whole clusters (sum, size)."""
    law: dict[Fraction, Fraction] = {}
    weight = Fraction(1, len(clusters) ** len(clusters))
    for draw in itertools.product(clusters, repeat=len(clusters)):
        delta = Fraction(sum(d for d, _ in draw), sum(n for _, n in draw))
        law[delta] = law.get(delta, Fraction(0)) + weight
    return law


def percentile_ends(law: dict[Fraction, Fraction], low: float, high: float) -> tuple[float, float]:
    """Smallest value with P(at most) >= low, largest with P(at least) >= high."""
    values = sorted(law)
    below = next(x for x in values if sum(law[y] for y in values if y <= x) >= low)
    above = next(x for x in values[::-1] if sum(law[y] for y in values if y >= x) >= high)
    return float(below), float(above)


def bca_levels(
    law: dict[Fraction, Fraction], clusters: list[tuple[int, int]], alpha: float
) -> tuple[float, float]:
    """Lower-tail levels of Efron's BCa interval (1987), jackknife over clusters."""
    total, size = sum(d for d, _ in clusters), sum(n for _, n in clusters)
    estimate = Fraction(total, size)
    share = sum(p for x, p in law.items() if x < estimate) + law.get(estimate, Fraction(0)) / 2
    z0 = norm.ppf(float(share))
    left_out = [Fraction(total - d, size - n) for d, n in clusters]
    mean = sum(left_out) / len(left_out)
    u = [float(mean - x) for x in left_out]
    acceleration = sum(x**3 for x in u) / (6 * sum(x**2 for x in u) ** 1.5)
    shifted = z0 + norm.ppf([alpha / 2, 1 - alpha / 2])
    low, high = norm.cdf(z0 + shifted / (1 - acceleration * shifted))
    return float(low), float(high)


def exact_equivalence_p(n10: int, n01: int, n: int, margin: float, *, n_shares: int = 300) -> float:
    """Largest P(Tango's score <= the observed one) over all truths with delta = margin."""
    tables = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    observed = tango_score(n10, n01, n, margin)
    reached = [(a, b) for a, b in tables if tango_score(a, b, n, margin) <= observed + 1e-7]
    largest = 0.0
    for place in range(n_shares):
        p01 = (1 - margin) / 2 * place / (n_shares - 1)
        p10, p00 = p01 + margin, 1 - 2 * p01 - margin
        total = 0.0
        for a, b in reached:
            c = n - a - b
            if (p01 == 0 and b) or (p00 <= 0 and c):
                continue
            log = math.lgamma(n + 1) - sum(math.lgamma(x + 1) for x in (a, b, c))
            log += a * math.log(p10) + (b * math.log(p01) if b else 0)
            total += math.exp(log + (c * math.log(p00) if c else 0))
        largest = max(largest, total)
    return largest
