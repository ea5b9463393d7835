"""What a plan may ask for: checks and limits of everything that enumerates power."""

from __future__ import annotations

from typing import Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import check_between, is_number
from ietest_fast.stats.resampling import check_options

#: The power that is aimed at unless another is asked for.
DEFAULT_POWER = 0.8

#: Discordant pairs that may be expected; enumerating the power at one n then takes ten seconds
#: on two processors, and in proportion with less.
MAX_PLANNED_DISCORDANT = 10**6

#: Plans are for at most so many pairs.
MAX_PLANNED_PAIRS = 10**8


def level_of_one_test(alpha: float, n_tests: int, n_threads: int | None = None) -> float:
    """Return alpha / M, the level to which each of M tests is held."""
    check_options(alternative="two-sided", n_resamples=1, n_threads=n_threads)
    check_between(alpha, "alpha", 0, 1)
    if isinstance(n_tests, bool) or not isinstance(n_tests, (int, np.integer)) or n_tests < 1:
        raise InputError(f"the number of tests must be 1 or more, not {n_tests}")
    return alpha / int(n_tests)


def check_goal(power: float, level: float) -> None:
    """Refuse a power that is no goal for a test of this level."""
    if not is_number(power) or not level < power < 1:
        raise InputError(f"the power must lie between the level ({level:g}) and 1, not {power!r}")


def check_truth(discordance: float, delta: float) -> None:
    """Refuse a share of discordant pairs and a difference that no pair of versions can have."""
    check_between(discordance, "the discordance", 0, 1, with_ends=True)
    check_between(delta, "delta", -1, 1, with_ends=True)
    if abs(delta) > discordance:
        raise InputError(
            f"delta cannot be {delta}: it can be no larger than the share of discordant pairs, "
            f"{discordance}"
        )


def check_pairs(n: Any) -> int:
    """Return a number of pairs as an int."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InputError(f"the number of pairs must be an integer of 1 or more, not {n}")
    if n > MAX_PLANNED_PAIRS:
        raise InputError(f"power is enumerated for up to {MAX_PLANNED_PAIRS:,} pairs, not {n:,}")
    return int(n)


def check_enumeration(n_discordant: float, *, n_points: int = 1) -> None:
    """Refuse to enumerate powers if that took minutes; the time grows with the discordant pairs."""
    # Fifty points of a curve, each at the limit, would be the work of ten minutes.
    most = MAX_PLANNED_DISCORDANT * min(n_points, 10)
    if n_discordant > most:
        where = "" if n_points == 1 else f" at the {n_points} points of the curve together"
        remedy = "choose a smaller n" + ("" if n_points == 1 else ", or fewer points")
        raise InputError(
            f"{n_discordant:,.0f} discordant pairs are to be expected{where}; enumerating the "
            f"power of more than {most:,} takes minutes: {remedy}"
        )


def normal_quantile(tail: float) -> float:
    """Return what a standard normal variable exceeds with probability ``tail``."""
    from scipy.special import ndtri

    return float(-ndtri(tail))
