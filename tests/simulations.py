"""How many tables a simulation of a level draws, and how far chance may carry what it finds.

The pages quote simulations of thousands of tables: ``IETEST_SIMULATIONS=full`` draws as many. By
default a tenth is drawn, and the bounds are wider by three standard errors of a share of 5%.
"""

from __future__ import annotations

import math
import os

from scipy import stats as scipy_stats

IS_FULL = os.environ.get("IETEST_SIMULATIONS") == "full"


def scaled(full: int) -> int:
    """Return how many tables to draw instead of ``full``."""
    return full if IS_FULL else max(100, full // 10)


def slack(n_tables: int) -> float:
    """Return what may be added to a bound of a share near 5% that was set for all tables."""
    return 0.0 if IS_FULL else 3 * math.sqrt(0.05 * 0.95 / n_tables)


def could_be(count: int, n: int, p: float) -> bool:
    """Say whether a count of n draws of probability p is not too far out to be chance.

    This takes the binomial law itself, as standard errors say nothing where n p is small. Each tail
    is as long as that beyond 5.5 standard errors of a normal law.
    """
    law = scipy_stats.binom(n, p)
    return bool(min(law.cdf(count), law.sf(count - 1)) > scipy_stats.norm.sf(5.5))
