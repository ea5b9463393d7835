"""The null law of the paired test, slow and obvious.

Three levels: every resample of a tiny sample enumerated from the definition; the sum over (K, D)
in exact rational numbers; the same sum in decimal arithmetic for tables too large for fractions.
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any


def compare_t(d1: int, k1: int, d2: int, k2: int) -> int:
    """Sign of t1 - t2 for samples of one size; t = 0 where there is no discordant pair."""
    left = 0 if k1 == 0 else Fraction(d1 * abs(d1), k1)
    right = 0 if k2 == 0 else Fraction(d2 * abs(d2), k2)
    return (left > right) - (left < right)


def p_values_from_tails(at_most: Any, at_least: Any, above: Any, beyond: Any) -> tuple[Any, ...]:
    """p_value, p_paper and p_symmetric of DESIGN's definitions."""
    return min(1, 2 * min(at_most, at_least)), 2 * min(at_most, above), beyond


def _p_values(law: dict[tuple[int, int], Any], d: int, k: int) -> tuple[Any, ...]:
    tails = (
        [Fraction(0)] * 4 if isinstance(next(iter(law.values())), Fraction) else [Decimal(0)] * 4
    )
    for (d_star, k_star), mass in law.items():
        upper = compare_t(d_star, k_star, d, k)
        tails[0] += mass * (upper <= 0)
        tails[1] += mass * (upper >= 0)
        tails[2] += mass * (upper > 0)
        tails[3] += mass * (compare_t(abs(d_star), k_star, abs(d), k) >= 0)
    return p_values_from_tails(*tails)


def enumerate_resamples(n10: int, n01: int, n_concordant: int) -> tuple[Fraction, ...]:
    """Walk through all (2n)**n equally likely resamples of the definition."""
    sample = [1] * n10 + [-1] * n01 + [0] * n_concordant
    n = len(sample)
    law: dict[tuple[int, int], Fraction] = {}
    weight = Fraction(1, (2 * n) ** n)
    for draw in itertools.product([c * x for x in sample for c in (1, -1)], repeat=n):
        key = (sum(draw), sum(map(abs, draw)))
        law[key] = law.get(key, Fraction(0)) + weight
    return _p_values(law, n10 - n01, n10 + n01)


def sum_in_fractions(n10: int, n01: int, n_concordant: int) -> tuple[Fraction, ...]:
    """Sum K ~ Binomial(n, k/n) and D | K over every value, exactly."""
    n, k = n10 + n01 + n_concordant, n10 + n01
    law: dict[tuple[int, int], Fraction] = {}
    for drawn in range(n + 1):
        p_drawn = Fraction(math.comb(n, drawn) * k**drawn * (n - k) ** (n - drawn), n**n)
        if p_drawn == 0:
            continue
        for hits in range(drawn + 1):
            mass = p_drawn * Fraction(math.comb(drawn, hits), 2**drawn)
            law[2 * hits - drawn, drawn] = mass
    return _p_values(law, n10 - n01, k)


def one_sided_in_fractions(n10: int, n01: int, n_concordant: int) -> tuple[Fraction, Fraction]:
    """P(t* >= t) and P(t* <= t), exactly."""
    n, k, d = n10 + n01 + n_concordant, n10 + n01, n10 - n01
    upper = lower = Fraction(0)
    for drawn in range(n + 1):
        p_drawn = Fraction(math.comb(n, drawn) * k**drawn * (n - k) ** (n - drawn), n**n)
        for hits in range(drawn + 1):
            mass = p_drawn * Fraction(math.comb(drawn, hits), 2**drawn)
            side = compare_t(2 * hits - drawn, drawn, d, k)
            upper += mass * (side >= 0)
            lower += mass * (side <= 0)
    return upper, lower


def upper_tail_in_decimals(n10: int, n01: int, n: int, *, digits: int = 40) -> Decimal:
    """P(t* >= t) for n10 > n01 with all its digits, by summing every K that matters."""
    with localcontext() as context:
        context.prec = digits
        context.Emin, context.Emax = -(10**9), 10**9
        k, d = n10 + n01, n10 - n01
        p = Decimal(k) / n
        total = Decimal(0)
        best = Decimal(0)
        first = -(-d * d // k)
        # P(K = first) and P(Binomial(first, 1/2) = hits) by definition, the next ones by ratios
        # that Decimal carries to all its digits.
        p_drawn = Decimal(math.comb(n, first)) * p**first * (1 - p) ** (n - first)
        hits = first
        edge = Decimal(2) ** -first
        for drawn in range(first, n + 1):
            # Fewest hits that reach t: from the last K on it grows, by one at the most.
            while 2 * hits - drawn <= 0 or (2 * hits - drawn) ** 2 * k < d * d * drawn:
                edge = edge * (drawn - hits) / (hits + 1)
                hits += 1
            term, tail = edge, Decimal(0)
            for a in range(hits, drawn + 1):
                tail += term
                term = term * (drawn - a) / (a + 1)
                if term < tail * Decimal(10) ** -25:
                    break
            summand = p_drawn * tail
            total += summand
            best = max(best, summand)
            if drawn == n or (summand < best and summand < total * Decimal(10) ** -25):
                break
            p_drawn = p_drawn * (n - drawn) / (drawn + 1) * p / (1 - p)
            edge = edge * (drawn + 1) / (drawn + 1 - hits) / 2
    return total
