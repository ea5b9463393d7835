"""How many texts and how many classifiers it takes to show what an algorithm does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.algorithm.crossed import VarianceComponents
from ietest_fast.stats.inputs import (
    DEFAULT_POWER,
    MAX_PLANNED_PAIRS,
    check_between,
    check_goal,
    check_truth,
    is_integer,
    is_number,
)
from ietest_fast.stats.planning.power import smallest
from ietest_fast.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable


#: Plans are for at most so many classifiers.
MAX_PLANNED_CLASSIFIERS = 10_000

# Scores may have any unit, but their squares are not to be infinite.
_LARGEST = 1e100

# The numbers of classifiers of a plan for both.
_CLASSIFIERS = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)

# Of one difference: sigma_I, tau and sigma_E.
_Spread = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class AlgorithmPlan(Result):
    """Numbers of texts and classifiers, a truth, and the power of the crossed test there."""

    n: int
    n_classifiers: int
    """Texts and classifiers, M."""
    delta: float
    """True mean difference of the algorithm's classifiers."""
    sd_items: float
    sd_classifiers: float
    sd_residual: float
    """Standard deviations of one difference, as of
    :class:`ietest_fast.stats.AlgorithmTestResult`."""
    alpha: float
    """Level of the two-sided test."""
    power: float
    """Probability that the p-value lies below alpha."""
    solved_for: str
    """What followed from the rest: ``power``, ``n``, ``n_classifiers`` or ``delta``."""

    title = "Power of the test of the algorithm"

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [
            ("texts", f"{self.n:,}"),
            ("classifiers", f"{self.n_classifiers:,}"),
            ("delta", f"{self.delta:.4g}"),
            ("sd between trainings", f"{self.sd_classifiers:.4g}"),
            ("sd between texts", f"{self.sd_items:.4g}, residual {self.sd_residual:.4g}"),
            ("level", f"{self.alpha:g}"),
            ("power", f"{self.power:.4f}"),
        ]

    def remarks(self) -> list[str]:
        """Return what was solved for."""
        if self.solved_for == "n":
            return [f"With {self.n:,} texts the power reaches its goal."]
        if self.solved_for == "n_classifiers":
            return [f"With {self.n_classifiers:,} classifiers the power reaches its goal."]
        if self.solved_for == "delta":
            return [f"Differences of {self.delta:.4g} and more are found with the power wanted."]
        return []


@dataclass(frozen=True, kw_only=True)
class AlgorithmPlans(Result):
    """Pairs of numbers, of classifiers and of texts, that have the power wanted."""

    plans: tuple[AlgorithmPlan, ...]
    """By number of classifiers."""
    too_few: tuple[int, ...]
    """Numbers of classifiers for which no number of texts is enough."""

    title = "Texts and classifiers for the test of the algorithm"

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the plans."""
        return {"plans": [plan.to_dict() for plan in self.plans], "too_few": list(self.too_few)}

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each number of classifiers."""
        return [plan.to_dict() for plan in self.plans]

    def rows(self) -> list[tuple[str, str]]:
        """Return texts by number of classifiers."""
        never = [(f"{m} classifiers", "no number of texts is enough") for m in self.too_few]
        return never + [(f"{plan.n_classifiers} classifiers", f"{plan.n:,}") for plan in self.plans]

    def remarks(self) -> list[str]:
        """Return the truth that was planned for."""
        first = self.plans[0]
        goal = f"{min(plan.power for plan in self.plans):.0%}"
        said = f"Texts needed for {goal} power to find a mean loss of {first.delta:g} at level"
        truth = f"if trainings are normal with sd {first.sd_classifiers:g}"
        rest = f"texts vary by {first.sd_items:.3g} and the rest by {first.sd_residual:.3g}"
        return [f"{said} {first.alpha:g}, {truth}, {rest}."]


def split_variance(
    discordance: float, *, delta: float = 0.0, correlation: float = 0.5
) -> tuple[float, float]:
    """Compute the spread of differences of outcomes from the share of discordant pairs.

    Parameters
    ----------
    discordance
        psi in [0, 1], the true share of discordant pairs of one classifier.
    delta
        True difference of the accuracies.
    correlation
        In [0, 1]: of two classifiers' differences on the same text.

    Returns
    -------
    sd_items, sd_residual : float
        Roots of r (psi - delta**2) and (1 - r) (psi - delta**2).

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    check_truth(discordance, delta)
    check_between(correlation, "the correlation", 0, 1, with_ends=True)
    variance = max(discordance - delta**2, 0.0)
    return math.sqrt(correlation * variance), math.sqrt((1 - correlation) * variance)


def algorithm_power(
    n: int,
    n_classifiers: int,
    delta: float,
    *,
    sd_items: float,
    sd_classifiers: float,
    sd_residual: float,
    alpha: float = 0.05,
) -> float:
    r"""Compute the power of :func:`ietest_fast.stats.algorithm_test`, two-sided.

    The variance of the mean of n texts and M classifiers is
    :math:`\sigma_I^2/n + \tau^2/M + \sigma_E^2/(nM)`. The power follows from the noncentral law of
    t with Satterthwaite's degrees of freedom at the true components, held to the quantile that the
    test has there.

    Parameters
    ----------
    n, n_classifiers
        Texts (2 or more) and classifiers, M (2 or more).
    delta
        True mean difference of the algorithm's classifiers.
    sd_items, sd_classifiers, sd_residual
        sigma_I, tau and sigma_E, as a run or an :class:`ietest_fast.stats.AlgorithmTestResult` of
        an earlier experiment reports them; see also :func:`split_variance`.
    alpha
        Level, in (0, 1).

    Returns
    -------
    float
        With M = 5 and more within about four points of what simulation gives; with fewer, and
        trainings that hardly differ, up to seven points too high.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> from ietest_fast.stats import algorithm_power, split_variance
    >>> items, residual = split_variance(0.1, correlation=0.5)
    >>> spread = {"sd_items": items, "sd_residual": residual}
    >>> round(algorithm_power(5_000, 5, 0.01, sd_classifiers=0.0, **spread), 2)
    0.82
    >>> round(algorithm_power(5_000, 5, 0.01, sd_classifiers=0.01, **spread), 2)
    0.35
    """
    _check(n, n_classifiers, alpha, sd_items, sd_classifiers, sd_residual)
    _check_delta(delta)
    return _power(n, n_classifiers, delta, (sd_items, sd_classifiers, sd_residual), alpha)


def plan_algorithm(
    *,
    n: int | None = None,
    n_classifiers: int | None = None,
    delta: float | None = None,
    power: float | None = None,
    sd_items: float,
    sd_classifiers: float,
    sd_residual: float,
    alpha: float = 0.05,
) -> AlgorithmPlan | AlgorithmPlans:
    """Solve for what is left out of texts, classifiers, difference and power.

    Parameters
    ----------
    n, n_classifiers, delta, sd_items, sd_classifiers, sd_residual, alpha
        As for :func:`algorithm_power`. Leave out one of the first three to find it, or both numbers
        to get the pairs of numbers that are enough.
    power
        The goal; 0.8 unless told otherwise. Not beside all of the first three.

    Raises
    ------
    InputError
        If too little or too much is given, or no number of texts (or of classifiers) is enough,
        because trainings (or texts) vary too much.

    Examples
    --------
    >>> from ietest_fast.stats import plan_algorithm
    >>> spread = {"sd_items": 0.22, "sd_classifiers": 0.005, "sd_residual": 0.22}
    >>> plan_algorithm(delta=0.01, n_classifiers=10, **spread).n
    5305
    """
    spread = (sd_items, sd_classifiers, sd_residual)
    _check(2 if n is None else n, 2 if n_classifiers is None else n_classifiers, alpha, *spread)
    goal = DEFAULT_POWER if power is None else power
    check_goal(goal, alpha)

    def plan(n: int, m: int, delta: float, solved_for: str) -> AlgorithmPlan:
        return AlgorithmPlan(
            n=n,
            n_classifiers=m,
            delta=delta,
            sd_items=sd_items,
            sd_classifiers=sd_classifiers,
            sd_residual=sd_residual,
            alpha=alpha,
            power=_power(n, m, delta, spread, alpha),
            solved_for=solved_for,
        )

    if delta is None:
        if n is None or n_classifiers is None:
            raise InputError("a plan needs delta, or both n and the number of classifiers")
        return plan(n, n_classifiers, _find_delta(n, n_classifiers, spread, alpha, goal), "delta")
    _check_delta(delta)
    if delta == 0:
        raise InputError("no number of texts and classifiers shows a difference of 0")
    if n is not None and n_classifiers is not None:
        if power is not None:
            raise InputError("leave out n, the classifiers, delta or power: one follows")
        return plan(n, n_classifiers, delta, "power")
    if n is not None:
        needed = _need_classifiers(n, delta, spread, alpha, goal)
        return plan(n, needed, delta, "n_classifiers")
    if n_classifiers is not None:
        texts = _need_texts(n_classifiers, delta, spread, alpha, goal)
        return plan(texts, n_classifiers, delta, "n")
    found_texts = {m: _find_texts(m, delta, spread, alpha, goal) for m in _CLASSIFIERS}
    plans = tuple(plan(k, m, delta, "n") for m, k in found_texts.items() if k is not None)
    if not plans:
        raise InputError(
            f"no number of texts shows a difference of {delta:g} with up to {_CLASSIFIERS[-1]} "
            f"classifiers, because trainings vary by {sd_classifiers:g}"
        )
    return AlgorithmPlans(
        plans=plans, too_few=tuple(m for m, k in found_texts.items() if k is None)
    )


def _power(n: int, m: int, delta: float, spread: _Spread, alpha: float) -> float:
    from scipy.special import nctdtr, ndtr

    items, classifiers, residual = (sd**2 for sd in spread)
    rest = residual / (n * m)
    expected = VarianceComponents(items / n + rest, classifiers / m + rest, rest)
    variance = expected.of_mean
    if variance == 0:
        return 1.0 if delta else alpha
    # Satterthwaite (1946): the law of the ratio, which is held to the weighted quantile.
    parts = expected.items**2 / (n - 1) + expected.classifiers**2 / (m - 1)
    df = variance**2 / parts
    shift = abs(delta) / math.sqrt(variance)
    critical = expected.law(n, m).quantile(alpha / 2)
    missed = float(nctdtr(df, shift, critical))
    if math.isnan(missed):  # far out, where the normal law is close (Johnson and Welch 1940)
        middle = critical * (1 - 1 / (4 * df)) - shift
        missed = float(ndtr(middle / math.sqrt(1 + critical**2 / (2 * df))))
    # Beyond 5 the tail on the other side is smaller than any digit that is shown.
    other = float(nctdtr(df, shift, -critical)) if shift < 5 else 0.0
    return min(1.0, 1 - missed + other)


def _find_texts(m: int, delta: float, spread: _Spread, alpha: float, goal: float) -> int | None:
    return _find_smallest(lambda n: _power(n, m, delta, spread, alpha), goal, MAX_PLANNED_PAIRS)


def _find_classifiers(
    n: int, delta: float, spread: _Spread, alpha: float, goal: float
) -> int | None:
    return _find_smallest(
        lambda m: _power(n, m, delta, spread, alpha), goal, MAX_PLANNED_CLASSIFIERS
    )


def _need_classifiers(n: int, delta: float, spread: _Spread, alpha: float, goal: float) -> int:
    """Find the number of classifiers, or refuse if none is enough."""
    needed = _find_classifiers(n, delta, spread, alpha, goal)
    if needed is None:
        raise InputError(
            f"not even {MAX_PLANNED_CLASSIFIERS:,} classifiers show a difference of {delta:g} "
            f"on {n:,} texts with a power of {goal:g}: take more texts"
        )
    return needed


def _need_texts(m: int, delta: float, spread: _Spread, alpha: float, goal: float) -> int:
    """Find the number of texts, or say how many classifiers it takes if none is enough."""
    texts = _find_texts(m, delta, spread, alpha, goal)
    if texts is not None:
        return texts
    needed = _find_classifiers(MAX_PLANNED_PAIRS, delta, spread, alpha, goal)
    remedy = "" if needed is None else f": train {needed:,} or so"
    raise InputError(
        f"no number of texts shows a difference of {delta:g} with {m} classifiers and a power of "
        f"{goal:g}, because trainings vary by {spread[1]:g}{remedy}"
    )


def _find_smallest(power: Callable[[int], float], goal: float, most: int) -> int | None:
    """Return the smallest number from 2 on that has the power; None if none has.

    With two or three classifiers power may fall again: where texts abound, all that is left of the
    variance is that between trainings, which so few tell badly.
    """
    grid: list[int] = np.unique(np.geomspace(2, most, 80).astype(np.int64)).tolist()
    place = next((place for place, n in enumerate(grid) if power(n) >= goal), None)
    if place is None:
        return None
    return smallest(lambda n: power(n) >= goal, grid[place - 1] if place else 1, grid[place])


def _find_delta(n: int, m: int, spread: _Spread, alpha: float, goal: float) -> float:
    from scipy.optimize import brentq

    items, classifiers, residual = (sd**2 for sd in spread)
    error = math.sqrt(items / n + classifiers / m + residual / (n * m))
    if error == 0:
        raise InputError("nothing varies: every difference is found")
    above = error
    while _power(n, m, above, spread, alpha) < goal:
        above *= 2
    return float(brentq(lambda d: _power(n, m, d, spread, alpha) - goal, 0.0, above))


def _check(n: Any, n_classifiers: Any, alpha: float, *spread: float) -> None:
    for name, number, most in (
        ("n", n, MAX_PLANNED_PAIRS),
        ("the number of classifiers", n_classifiers, MAX_PLANNED_CLASSIFIERS),
    ):
        if not is_integer(number):
            raise InputError(f"{name} must be an integer, not {number!r}")
        if not 2 <= number <= most:
            raise InputError(f"{name} must be at least 2 and at most {most:,}, not {number:,}")
    check_between(alpha, "alpha", 0, 1)
    for sd in spread:
        if not is_number(sd) or not 0 <= sd <= _LARGEST:
            raise InputError(
                f"a standard deviation must be 0 or more, and at most {_LARGEST:g}, not {sd!r}"
            )


def _check_delta(delta: float) -> None:
    if not is_number(delta) or not abs(delta) <= _LARGEST:
        raise InputError(f"delta must be a number of at most {_LARGEST:g} in size, not {delta!r}")
