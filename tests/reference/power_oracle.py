"""Power of the paired test, slow and obvious: every table, weighed by its probability."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from reference.paired_oracle import sum_in_fractions

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def p_value(n10: int, n01: int, n: int) -> Fraction:
    """The exact p_value of a table."""
    if n10 + n01 == 0:
        return Fraction(1)
    return sum_in_fractions(n10, n01, n - n10 - n01)[0]


def enumerate_tables(
    n: int, share10: Fraction, share01: Fraction, rejects: Callable[[int, int], bool]
) -> Fraction:
    """Sum the multinomial probabilities of the tables (n10, n01) that are rejected."""
    total = Fraction(0)
    for n10 in range(n + 1):
        for n01 in range(n + 1 - n10):
            if rejects(n10, n01):
                ways = math.comb(n, n10) * math.comb(n - n10, n01)
                rest = (1 - share10 - share01) ** (n - n10 - n01)
                total += ways * share10**n10 * share01**n01 * rest
    return total
