"""Power of the exact paired test, and what it takes to have enough of it.

A plan names the share psi of discordant pairs and the difference delta of the accuracies. Then n
pairs hold K ~ Binomial(n, psi) discordant ones, of which Binomial(K, (1 + delta/psi) / 2) favour
the original, and

    power = sum over k of P(K = k) * P(abs(D) >= c(k) | k),

where c(k) is the smallest abs(D) whose exact ``p_value`` lies below alpha / M. Nothing is
simulated.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    DEFAULT_POWER,
    MAX_PLANNED_PAIRS,
    check_enumeration,
    check_goal,
    check_pairs,
    check_truth,
    level_of_one_test,
    normal_quantile,
)
from ietest_fast.stats.intervals import tango_scores
from ietest_fast.stats.outcomes import FEW_DISCORDANT
from ietest_fast.stats.result import Plottable, Result, list_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# What few discordant pairs can show: exact equivalence tests, and sizes of the bootstrap test.


# Pairs expected to favour the transformed version, at which the supremum is looked for: none, and
# a few up to so many that the normal law is close.
_EXPECTED = np.concatenate([[0.0], np.geomspace(0.05, 60, 15)])
#: Given its discordant pairs, a test is called liberal if it rejects so many times too often.
LIBERAL = 1.35
# With so few pairs it is looked for at all shares.
_FEW_PAIRS = 300


@functools.lru_cache(maxsize=4096)
def exact_equivalence_p(n: int, n10: int, n01: int, margin: float) -> float:
    r"""Compute the exact unconditional p-value of H0: delta >= margin, ordered by Tango's score.

    .. math:: p = \sup_{q} P\bigl(T(\epsilon) \le t \mid P(A > B) = q + \epsilon, P(A < B) = q\bigr)

    (Hsueh, Liu and Chen 2001), at the border of H0, where the probability is largest. By Tango's
    normal law, p is just below 5% for 268 pairs without a discordant one; but all of them agree
    with probability 6.8% where delta is 0.01.
    """
    from scipy.special import betainc, ndtr

    score = float(tango_scores(n, n10, n01, margin))
    largest_q = (1 - margin) / 2
    q = _EXPECTED[n * largest_q > _EXPECTED] / n
    if n <= _FEW_PAIRS:
        q = np.append(q, np.linspace(0, largest_q, 60)[1:])
    expected = n * float(q.max())
    most = min(n, math.ceil(expected + 9 * math.sqrt(expected) + 9))
    j = np.arange(most + 1)
    largest = _largest_at_most(n, j, margin, score)
    # P(n01 = j), and P(n10 <= largest | n01 = j).
    of_j = _binomial_masses(j, n, q)
    share = np.minimum((q + margin) / (1 - q), 1.0)[:, None]
    rest = n - j
    inside = np.clip(largest, 0, np.maximum(rest - 1, 0))
    below = betainc(np.maximum(rest - inside, 1), inside + 1.0, 1 - share)
    below = np.where(largest < 0, 0.0, np.where(largest >= rest, 1.0, below))
    return min(1.0, max(float(ndtr(score)), float((of_j * below).sum(axis=1).max())))


def _binomial_masses(j: NDArray[np.int64], n: int, q: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import gammaln, xlog1py, xlogy

    choose = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    logs = choose + xlogy(j, q[:, None]) + xlog1py(n - j, -q[:, None])
    return np.asarray(np.exp(logs))


def _largest_at_most(
    n: int, n01: NDArray[np.int64], margin: float, score: float
) -> NDArray[np.int64]:
    """Return the largest n10 with a score of at most ``score`` for each n01; -1 if none has."""
    bound = score + 1e-9 * max(1.0, abs(score))  # tables with the same score are a tie
    return largest_each(lambda n10: tango_scores(n, n10, n01, margin) <= bound, n - n01 + 1)


def largest_each(
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]], above: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each place the largest number below ``above`` for which it holds; -1 if none."""
    below = np.full(above.size, -1, dtype=np.int64)
    while (above - below > 1).any():
        middle = (below + above) // 2
        is_open = above - below > 1
        reached = holds(np.maximum(middle, 0)) & is_open
        below = np.where(reached, middle, below)
        above = np.where(is_open & ~reached, middle, above)
    return below


@functools.lru_cache(maxsize=4096)
def _pairs_for_equivalence(k: int, d: int, margin: float, alpha: float) -> int:
    """Return the n from which on k discordant pairs, d more on one side, are equivalent."""
    n10, n01 = (k + d) // 2, (k - d) // 2

    def shown(n: int) -> bool:
        return exact_equivalence_p(n, n10, n01, margin) < alpha

    # The exact p-value is never below that of the normal law, and not much above it.
    least = max(2, k)
    below = smallest(
        lambda n: float(tango_scores(n, n10, n01, margin)) < -normal_quantile(alpha),
        least - 1,
        MAX_PLANNED_PAIRS + 1,
    )
    step = max(1, below // 16)
    below, above = below - 1, below
    while not shown(above):
        if above > MAX_PLANNED_PAIRS:
            return above
        below, above = above, above + step
    return smallest(shown, max(below, least - 1), above)


def smallest(holds: Callable[[int], bool], below: int, above: int, *, step: int = 1) -> int:
    """Halve down to the smallest number above ``below`` at which ``holds``, or to a step from it.

    It holds at ``above``, where it need not be asked, and from some number on.
    """
    while above - below > step:
        middle = (below + above) // 2
        if holds(middle):
            above = middle
        else:
            below = middle
    return above


def largest_equivalent(n: int, k: int, *, margin: float, alpha: float) -> int:
    """Return the largest abs(D) with which k of n pairs are equivalent; -1 if none is."""
    # More pairs are needed for a larger abs(D), which is k modulo 2, and so many times 2.
    shown = smallest(
        lambda half: _pairs_for_equivalence(k, k % 2 + 2 * half, margin, alpha) > n, -1, k // 2 + 1
    )
    return -1 if shown == 0 else k % 2 + 2 * (shown - 1)


@functools.lru_cache(maxsize=4096)
def size_given(k: int, n: int, level: float) -> float:
    """Compute the size of the exact bootstrap test, given k discordant pairs."""
    from scipy.special import bdtr

    if k == 0:
        return 0.0
    (critical,) = core.power.critical_differences(n, k, k, level)
    fewest = (k - int(critical)) // 2  # so few on one side
    return 0.0 if fewest < 0 else min(1.0, 2 * float(bdtr(fewest, k, 0.5)))


def is_liberal(k: int, n: int, level: float) -> bool:
    """Say whether k discordant pairs are too few for the bootstrap test to be trusted at a level.

    They are if there are fewer than :data:`FEW_DISCORDANT`, or if, given k, the test rejects more
    than :data:`LIBERAL` times as often as it should: at smaller levels that lasts longer.
    """
    return 0 < k < FEW_DISCORDANT or size_given(k, n, level) > LIBERAL * level


# What planning gives: a plan, and a curve of power.


@dataclass(frozen=True, kw_only=True)
class PowerPlan(Result):
    """A sample size, a truth, and the power that the exact paired test has there."""

    n: int
    """Number of pairs."""
    discordance: float
    """psi, the true share of discordant pairs."""
    delta: float
    """True accuracy on the originals minus that on the transformed texts."""
    alpha: float
    """Level of the whole test."""
    n_tests: int
    """M; each classifier's test is held to alpha / M, and ``power`` is that of one of them."""
    power: float
    """Probability that the ``p_value`` of one test lies below alpha / M."""
    solved_for: str
    """What followed from the rest: ``power``, ``n`` or ``delta``."""

    title = "Power of the exact paired test"

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        level = f"{self.alpha:g}"
        if self.n_tests > 1:
            level += f" / {self.n_tests}, for one of {self.n_tests} classifiers"
        return [
            ("pairs", f"{self.n:,}"),
            ("discordant", f"{self.discordance:.4g}"),
            ("delta", f"{self.delta:.4g}"),
            ("level", level),
            ("power", f"{self.power:.4f}"),
        ]

    def remarks(self) -> list[str]:
        """Say what was solved for."""
        if self.solved_for == "n":
            return [f"From {self.n:,} pairs on the power stays at or above its goal."]
        if self.solved_for == "delta":
            return [f"Differences of {self.delta:.4g} and more are found with the power wanted."]
        return []


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerCurve(Plottable, Result):
    """Power against the sample size or the difference."""

    over: str
    """``n`` or ``delta``: what the horizontal axis holds."""
    values: NDArray[np.float64]
    powers: NDArray[np.float64]
    """Shape (p,), float64; ``values`` in ascending order."""
    discordance: float
    alpha: float
    n_tests: int
    """As for :class:`PowerPlan`."""
    n: int | None
    delta: float | None
    """The one that is held fixed; the other is None."""

    title = "Power of the exact paired test"

    @property
    def power(self) -> NDArray[np.float64]:
        """The powers, as SciPy calls them."""
        return self.powers

    def draw_on(self, ax: Any) -> None:
        """Draw the power."""
        ax.plot(self.values, self.powers, marker=".")
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("pairs" if self.over == "n" else "delta")
        ax.set_ylabel("power")

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the curve."""
        points = {"values": self.values.tolist(), "powers": self.powers.tolist()}
        return list_fields(self) | points

    def rows(self) -> list[tuple[str, str]]:
        """Give the points of the curve."""
        write = "{:,.0f}" if self.over == "n" else "{:.4g}"
        return [
            (f"{self.over} = {write.format(value)}", f"{power:.4f}")
            for value, power in zip(self.values, self.powers, strict=True)
        ]

    def as_text(self, *, width: int = 60, height: int = 12) -> str:
        """Draw the curve with characters, power from 0 to 1 upwards.

        Parameters
        ----------
        width, height
            Of the plotting area, in characters.
        """
        low, high = float(self.values.min()), float(self.values.max())
        columns = np.linspace(low, high, width)
        curve = np.interp(columns, self.values, self.powers)
        grid = [[" "] * width for _ in range(height)]
        for column, power in enumerate(curve):
            grid[height - 1 - min(height - 1, int(power * height))][column] = "•"
        lines = []
        for row, cells in enumerate(grid):
            top = 1 - row / height
            label = f"{top:4.2f}" if row % 3 == 0 else ""
            lines.append(f"{label:>6} │{''.join(cells)}")
        write = "{:,.0f}" if self.over == "n" else "{:.4g}"
        left, right = write.format(low), write.format(high)
        lines += [
            f"{'0.00':>6} └{'─' * width}",
            f"{'':8}{left}{self.over:^{width - len(left) - len(right)}}{right}",
        ]
        return "\n".join(lines)


#: The same where dozens of n have to be looked at, to find the right one.
MAX_SEARCHED_DISCORDANT = 2 * 10**5


def power(
    n: int,
    discordance: float,
    delta: float,
    *,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> float:
    """Give the power of the exact paired test by enumerating its tables.

    Parameters
    ----------
    n
        Number of pairs.
    discordance
        psi in [0, 1], the true share of discordant pairs; ``PairedCounts.discordance_rate``
        estimates it.
    delta
        True difference of the accuracies, in [-psi, psi]. With 0 the result is the size of the
        test.
    alpha
        Level of the whole test.
    n_tests
        M. Each test is held to alpha / M (Bonferroni); the power is that of one test.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    float
        P(p_value < alpha / M), to about 1e-14.

    Raises
    ------
    InputError
        If an argument is out of its range; the message says which.

    Examples
    --------
    >>> from ietest_fast.stats import power
    >>> round(power(10_000, discordance=0.08, delta=0.01), 4)
    0.9432
    >>> round(power(10_000, discordance=0.08, delta=0.01, n_tests=5), 4)
    0.8328
    """
    level = level_of_one_test(alpha, n_tests, n_threads)
    return float(_powers(n, discordance, [delta], level=level, n_threads=n_threads)[0])


def sample_size(
    discordance: float,
    delta: float,
    *,
    power: float = DEFAULT_POWER,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> int:
    """Give the smallest number of pairs from which on the power stays at or above a goal.

    The power of a discrete test climbs in saw teeth: it may reach the goal, fall below and reach
    it again. The result is one more than the last n below the goal; every n of the next whole
    tooth was looked at. Teeth last about ``4 sqrt(k) / z`` discordant pairs, z being the normal
    quantile of alpha / 2M, and the valleys between them rise.

    Parameters
    ----------
    discordance, delta, alpha, n_tests, n_threads
        As for :func:`power`; delta must not be 0.
    power
        The goal, between alpha / M and 1.

    Raises
    ------
    InputError
        If an argument is out of range, or more than 100 million pairs would be needed.

    Examples
    --------
    >>> from ietest_fast.stats import sample_size
    >>> sample_size(0.08, 0.01)
    6262
    """
    level = level_of_one_test(alpha, n_tests, n_threads)
    check_goal(power, level)
    check_truth(discordance, delta)
    if delta == 0:
        raise InputError("no number of pairs shows a difference of 0")
    z = normal_quantile(level / 2)

    def tooth(n: int) -> int:
        return math.ceil(4 * math.sqrt(n / discordance) / z) + 8

    def reaches(n: int) -> bool:
        got = _powers(n, discordance, [delta], level=level, n_threads=n_threads)[0]
        return bool(got >= power)

    # A bracket about as wide as a tooth is, then every n in it and in the tooth after it.
    try:
        below, above = 0, max(2, _normal_sample_size(discordance, delta, power=power, z=z))
    except OverflowError:  # the square of what is infinite beside so small a delta
        below, above = 0, MAX_PLANNED_PAIRS + 1
    _refuse_too_many(above)
    if above * discordance > MAX_SEARCHED_DISCORDANT:
        raise InputError(
            f"about {above:,} pairs are needed by the normal approximation, which is close for so "
            f"many; to find the exact number would take minutes, for {above * discordance:,.0f} of "
            "them are discordant"
        )
    while not reaches(above):
        below, above = above, above + 1 + above // 50
        _refuse_too_many(above)
    while above - below > max(1, tooth(above) // 4):
        middle = (below + above) // 2
        if reaches(middle):
            above = middle
        else:
            below = middle
    first, last = max(1, below), above + tooth(above)
    while True:
        scanned = core.power.power_scan(
            first, last, *_shares(discordance, delta), level, n_threads=n_threads
        )
        short = np.flatnonzero(scanned < power)
        if short.size:
            below = first + int(short[-1])
        if last - below >= tooth(below + 1):
            return below + 1
        first, last = below, below + 1 + 2 * tooth(below + 1)
        _refuse_too_many(last)


def detectable_difference(
    n: int,
    discordance: float,
    *,
    power: float = DEFAULT_POWER,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> float:
    """Give the smallest difference of the accuracies that n pairs show with a given power.

    At fixed n and psi the power grows strictly with abs(delta), so there is one such difference;
    it is found to ten digits.

    Parameters
    ----------
    n, discordance, alpha, n_tests, n_threads
        As for :func:`power`.
    power
        The goal, between alpha / M and 1.

    Returns
    -------
    float
        delta > 0; -delta is as detectable.

    Raises
    ------
    InputError
        If an argument is out of range, even delta = psi (all discordant pairs favour one version)
        is not shown with that power, or the size of the test is no smaller than that power.

    Examples
    --------
    >>> from ietest_fast.stats import detectable_difference
    >>> round(detectable_difference(10_000, 0.08), 5)
    0.00792
    """
    level = level_of_one_test(alpha, n_tests, n_threads)
    check_goal(power, level)
    check_truth(discordance, 0.0)

    size = check_pairs(n)
    check_enumeration(size * discordance)
    first, last = core.power.likely_discordant(size, discordance)
    # The two shares sum to psi but for rounding, which may move an end by one.
    first, last = max(first - 1, 0), min(last + 1, size)
    critical = core.power.critical_differences(size, first, last, level, n_threads=n_threads)

    def excess(delta: float) -> float:
        original, transformed = np.array([_shares(discordance, delta)]).T.copy()
        got = core.power.powers_given(
            size, original, transformed, first, critical, n_threads=n_threads
        )
        return float(got[0]) - power

    least, best = excess(0.0), excess(discordance)
    if least >= 0:
        raise InputError(
            f"with {n:,} pairs, {discordance:g} of them discordant, this test rejects a difference "
            f"of 0 with probability {least + power:.4g}: ask for a higher power, not {power:g}"
        )
    if best < 0:
        raise InputError(
            f"{n:,} pairs, {discordance:g} of them discordant, have at most a power of "
            f"{best + power:.4g}, not {power:g}: more pairs are needed"
        )
    from scipy.optimize import brentq

    root = float(brentq(excess, 0.0, discordance, xtol=1e-10 * discordance, rtol=1e-10))
    while excess(root) < 0:  # Brent's method ends on either side
        root += 1e-10 * discordance
    return min(root, discordance)


def difference_beside_test(
    n: int, discordance: float, *, alpha: float = 0.05, n_tests: int = 1
) -> float | None:
    """Give what :func:`detectable_difference` gives for 80% power, to stand beside a result."""
    if discordance == 0 or n > 10**6 or alpha / n_tests >= DEFAULT_POWER:
        return None
    best = _powers(
        n, discordance, [discordance], level=level_of_one_test(alpha, n_tests), n_threads=None
    )[0]
    if best < DEFAULT_POWER:
        return None
    return detectable_difference(n, discordance, alpha=alpha, n_tests=n_tests)


def plan(
    *,
    discordance: float,
    n: int | None = None,
    delta: float | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> PowerPlan:
    """Solve for the one of n, delta and power that is left out.

    Parameters
    ----------
    discordance, n, delta, alpha, n_tests, n_threads
        As for :func:`power`.
    power
        The goal where n or delta is to be found; 0.8 if it is left out, too.

    Raises
    ------
    InputError
        If all three or neither n nor delta are given, or as for the function that solves it.
    """
    solved_for = "power"
    if n is not None and delta is not None:
        if power is not None:
            raise InputError("leave out n, delta or power: one follows from the other two")
    elif n is None and delta is None:
        raise InputError("a plan needs the number of pairs n or the difference delta, or both")
    else:
        goal = DEFAULT_POWER if power is None else power
        common: dict[str, Any] = {"alpha": alpha, "n_tests": n_tests, "n_threads": n_threads}
        if n is None:
            assert delta is not None  # noqa: S101 - one of the two is given
            n, solved_for = sample_size(discordance, delta, power=goal, **common), "n"
        else:
            delta = detectable_difference(n, discordance, power=goal, **common)
            solved_for = "delta"
    assert delta is not None  # noqa: S101
    level = level_of_one_test(alpha, n_tests, n_threads)
    reached = float(_powers(n, discordance, [delta], level=level, n_threads=n_threads)[0])
    return PowerPlan(
        n=n,
        discordance=discordance,
        delta=delta,
        alpha=alpha,
        n_tests=n_tests,
        power=reached,
        solved_for=solved_for,
    )


def power_curve(
    discordance: float,
    *,
    n: int | Sequence[int] | NDArray[np.int64],
    delta: float | Sequence[float] | NDArray[np.float64],
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> PowerCurve:
    """Give the power at several sample sizes or for several differences.

    Parameters
    ----------
    discordance, alpha, n_tests, n_threads
        As for :func:`power`.
    n, delta
        One of them is a number, the other a sequence of at least two, in any order: the points of
        the curve are in ascending order.

    Raises
    ------
    InputError
        If not exactly one of them is a sequence, or as for :func:`power`.
    """
    level = level_of_one_test(alpha, n_tests, n_threads)
    sizes, deltas = np.atleast_1d(n), np.atleast_1d(delta)
    if (np.ndim(n), np.ndim(delta)) not in {(0, 1), (1, 0)} or max(sizes.size, deltas.size) < 2:
        raise InputError("a curve needs several n and one delta, or one n and several deltas")
    over_n = np.ndim(n) == 1
    sizes, deltas = np.sort(sizes), np.sort(deltas)  # a curve is drawn from left to right
    if over_n:
        check_truth(discordance, float(deltas[0]))
        check_enumeration(
            sum(check_pairs(size) * discordance for size in sizes), n_points=sizes.size
        )
        powers = core.power.power_at_sizes(
            np.array([check_pairs(size) for size in sizes], dtype=np.int64),
            *_shares(discordance, float(deltas[0])),
            level,
            n_threads=n_threads,
        )
    else:
        powers = _powers(sizes[0], discordance, deltas, level=level, n_threads=n_threads)
    return PowerCurve(
        over="n" if over_n else "delta",
        values=np.asarray(sizes if over_n else deltas, dtype=np.float64),
        powers=powers,
        discordance=discordance,
        alpha=alpha,
        n_tests=n_tests,
        n=None if over_n else int(sizes[0]),
        delta=float(deltas[0]) if over_n else None,
    )


def _normal_sample_size(psi: float, delta: float, *, power: float, z: float) -> int:
    """Approximate by the normal law as usual (Connor 1987), to start from."""
    reach = z * math.sqrt(psi) - normal_quantile(power) * math.sqrt(max(psi - delta**2, 0))
    return math.ceil((reach / delta) ** 2)


def _refuse_too_many(n: int) -> None:
    if n > MAX_PLANNED_PAIRS:
        raise InputError(
            f"more than {MAX_PLANNED_PAIRS:,} pairs would be needed; so small a difference "
            "cannot be planned for"
        )


def _shares(discordance: float, delta: float) -> tuple[float, float]:
    return (discordance + delta) / 2, (discordance - delta) / 2


def _powers(
    n: int,
    discordance: float,
    deltas: Sequence[float] | NDArray[np.float64],
    *,
    level: float,
    n_threads: int | None,
) -> NDArray[np.float64]:
    size = check_pairs(n)
    for delta in deltas:
        check_truth(discordance, delta)
    check_enumeration(size * discordance)
    shares = [_shares(discordance, float(delta)) for delta in deltas]
    original, transformed = np.array(shares, dtype=np.float64).T
    powers: NDArray[np.float64] = core.power.powers(
        size,
        np.ascontiguousarray(original),
        np.ascontiguousarray(transformed),
        level,
        n_threads=n_threads,
    )
    return powers
