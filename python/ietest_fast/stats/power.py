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
from ietest_fast.stats.drawing import axes_or_new
from ietest_fast.stats.estimates import tango_scores
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.resampling import check_options
from ietest_fast.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DEFAULT_POWER = 0.8

#: Discordant pairs that may be expected; enumerating the power at one n then takes ten seconds
#: on two processors, and in proportion with less.
MAX_PLANNED_DISCORDANT = 10**6

#: The same where dozens of n have to be looked at, to find the right one.
MAX_SEARCHED_DISCORDANT = 2 * 10**5

#: Plans are for at most so many pairs.
MAX_PLANNED_PAIRS = 10**8

# Up to here pairs_to_decide enumerates; it stands beside results, which must not take seconds.
_MAX_ENUMERATED_DISCORDANT = 2_500


@dataclass(frozen=True, kw_only=True)
class PowerPlan(Result):
    """A sample size, a truth, and the power that the exact paired test has there.

    Attributes
    ----------
    n
        Number of pairs.
    discordance
        psi, the true share of discordant pairs.
    delta
        True accuracy on the originals minus that on the transformed texts.
    alpha
        Level of the whole test.
    n_tests
        M; each classifier's test is held to alpha / M, and ``power`` is that of one of them.
    power
        Probability that the ``p_value`` of one test lies below alpha / M.
    solved_for
        What followed from the rest: ``power``, ``n`` or ``delta``.
    """

    n: int
    discordance: float
    delta: float
    alpha: float
    n_tests: int
    power: float
    solved_for: str

    title = "Power of the exact paired test"

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the plan."""
        return {
            "n": self.n,
            "discordance": self.discordance,
            "delta": self.delta,
            "alpha": self.alpha,
            "n_tests": self.n_tests,
            "power": self.power,
            "solved_for": self.solved_for,
        }

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
class PowerCurve(Result):
    """Power against the sample size or the difference.

    Attributes
    ----------
    over
        ``n`` or ``delta``: what the horizontal axis holds.
    values, powers
        Shape (p,), float64; ``values`` in ascending order.
    discordance, alpha, n_tests
        As for :class:`PowerPlan`.
    n, delta
        The one that is held fixed; the other is None.
    """

    over: str
    values: NDArray[np.float64]
    powers: NDArray[np.float64]
    discordance: float
    alpha: float
    n_tests: int
    n: int | None
    delta: float | None

    title = "Power of the exact paired test"

    @property
    def power(self) -> NDArray[np.float64]:
        """The powers, as SciPy calls them."""
        return self.powers

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the power.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.plot(self.values, self.powers, marker=".")
        ax.set_ylim(0, 1.02)
        ax.set_xlabel("pairs" if self.over == "n" else "delta")
        ax.set_ylabel("power")
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the curve."""
        return {
            "over": self.over,
            "values": self.values.tolist(),
            "powers": self.powers.tolist(),
            "discordance": self.discordance,
            "alpha": self.alpha,
            "n_tests": self.n_tests,
            "n": self.n,
            "delta": self.delta,
        }

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
    return float(
        _powers(
            n, discordance, [delta], level=_level(alpha, n_tests, n_threads), n_threads=n_threads
        )[0]
    )


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
    level = _level(alpha, n_tests, n_threads)
    _check_goal(power, level)
    _check_truth(discordance, delta)
    if delta == 0:
        raise InputError("no number of pairs shows a difference of 0")
    z = _normal_quantile(level / 2)

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
    level = _level(alpha, n_tests, n_threads)
    _check_goal(power, level)
    _check_truth(discordance, 0.0)

    size = _whole(n)
    _check_cost(size * discordance)
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
    """Give what :func:`detectable_difference` gives for 80% power, to stand beside a result.

    Parameters
    ----------
    n, discordance, alpha, n_tests
        As for :func:`power`; the discordance is the observed one.

    Returns
    -------
    float or None
        None if no pair is discordant, not even delta = psi is shown with that power, the level is
        no less than that power, or there are more than a million pairs, for which it would take
        seconds.
    """
    if discordance == 0 or n > 10**6 or alpha / n_tests >= DEFAULT_POWER:
        return None
    best = _powers(n, discordance, [discordance], level=_level(alpha, n_tests), n_threads=None)[0]
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
    level = _level(alpha, n_tests, n_threads)
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
    level = _level(alpha, n_tests, n_threads)
    sizes, deltas = np.atleast_1d(n), np.atleast_1d(delta)
    if (np.ndim(n), np.ndim(delta)) not in {(0, 1), (1, 0)} or max(sizes.size, deltas.size) < 2:
        raise InputError("a curve needs several n and one delta, or one n and several deltas")
    over_n = np.ndim(n) == 1
    sizes, deltas = np.sort(sizes), np.sort(deltas)  # a curve is drawn from left to right
    if over_n:
        _check_truth(discordance, float(deltas[0]))
        _check_cost(sum(_whole(size) * discordance for size in sizes), n_points=sizes.size)
        powers = core.power.power_at_sizes(
            np.array([_whole(size) for size in sizes], dtype=np.int64),
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


def pairs_to_decide(
    sample: PairedCounts | MatchedSample,
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    n_tests: int = 1,
    power: float = DEFAULT_POWER,
    n_threads: int | None = None,
) -> int | None:
    """Say how many pairs would end an "undecided", if the sample's shares were the truth.

    Two verdicts end it, "differs" (the exact paired test rejects at alpha / M) and "equivalent
    within the margin" (both of Tango's score tests do, at alpha). The n is one at which the
    probability of either is high enough. At some n no table is undecided any more, so there is
    always such an n, though it may be too large.

    Up to 2,500 expected discordant pairs the probability is that of :func:`verdict_probability`,
    and n is found to a 500th of itself: n has the probability wanted, and so have those n of the
    saw tooth after it that were looked at (16, or 64 up to 300 discordant pairs). Beyond, D is
    taken for normal, and n is right to a hundredth.

    Parameters
    ----------
    sample
        A matched sample or its four counts.
    margin
        Differences smaller than this do not matter.
    alpha
        In (0, 0.5).
    n_tests, n_threads
        As for :func:`power`.
    power
        Probability of a verdict.

    Returns
    -------
    int or None
        None if no number up to 100 million is enough.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, pairs_to_decide
    >>> pairs_to_decide(PairedCounts(760, 42, 38, 160), margin=0.01)
    7484
    """
    _check_goal(power, _level(alpha, n_tests, n_threads))
    counts = sample.counts if isinstance(sample, MatchedSample) else sample
    psi, delta = counts.discordance_rate, counts.delta
    options: dict[str, Any] = {"margin": margin, "alpha": alpha, "n_tests": n_tests}
    _check_margin(margin, alpha)

    def likely(n: int) -> float:
        return _normal_verdict_probability(n, psi, delta, **options)

    rough = first_reaching(likely, power, 1, MAX_PLANNED_PAIRS)
    if rough is None or rough * psi > _MAX_ENUMERATED_DISCORDANT:
        return rough

    def exact(n: int) -> float:
        return verdict_probability(n, psi, delta, **options, n_threads=n_threads)

    return _settle(
        exact,
        power,
        rough,
        width=functools.partial(_verdict_tooth, psi, margin),
        n_points=64 if rough * psi < 300 else 16,
    )


def verdict_probability(
    n: int,
    discordance: float,
    delta: float,
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    n_tests: int = 1,
    n_threads: int | None = None,
) -> float:
    """Give the probability of a verdict, "differs" or "equivalent", by enumerating the tables.

    For each number of discordant pairs k both tests depend on abs(D) only. The test of no
    difference rejects from c(k) on; Tango's tests both reject up to some e(k), if at all. So

        P(verdict) = 1 - sum over k of P(K = k) * P(e(k) < abs(D) < c(k) | k).

    Parameters
    ----------
    n, discordance, delta, alpha, n_tests, n_threads
        As for :func:`power`; alpha is below 0.5. Equivalence is tested at alpha.
    margin
        Differences smaller than this do not matter.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    level = _level(alpha, n_tests, n_threads)
    _check_margin(margin, alpha)
    _check_truth(discordance, delta)
    size = _whole(n)
    _check_cost(size * discordance)
    first, last = core.power.likely_discordant(size, discordance)
    differs = core.power.critical_differences(size, first, last, level, n_threads=n_threads)
    k = np.arange(first, last + 1)
    equivalent = _largest_equivalent(size, k, margin=margin, z=_normal_quantile(alpha))
    # Undecided are the numbers of pairs that favour the original from one end to the other.
    low = np.where(equivalent < 0, k - differs, k + equivalent) // 2
    high = np.maximum((k + differs - 1) // 2, low)
    share = min(1.0, (1 + delta / discordance) / 2) if discordance > 0 else 0.5
    undecided = _binomial_cdf(high, k, share) - _binomial_cdf(low, k, share)
    mirrored = _binomial_cdf(high, k, 1 - share) - _binomial_cdf(low, k, 1 - share)
    undecided += np.where(equivalent < 0, 0.0, mirrored)
    weights = np.diff(_binomial_cdf(np.arange(first - 1, last + 1), size, discordance))
    return 1 - float(weights @ undecided)


def _binomial_cdf(
    at: NDArray[np.int64], n: NDArray[np.int64] | int, p: float
) -> NDArray[np.float64]:
    from scipy.special import betainc

    most = np.maximum(n, 1)
    inside = np.clip(at, 0, most - 1)
    law = betainc(most - inside, inside + 1.0, 1 - p)
    return np.where(at < 0, 0.0, np.where(at >= np.asarray(n), 1.0, law))


def _largest_equivalent(
    n: int, k: NDArray[np.int64], *, margin: float, z: float
) -> NDArray[np.int64]:
    """Give the largest abs(D) with which k discordant pairs are equivalent; -1 if none is."""
    # abs(D) is the remainder of k by 2, and so many times 2.
    below, above = np.full(k.size, -1, dtype=np.int64), k // 2 + 1
    while (above - below > 1).any():
        middle = (below + above) // 2
        d = k % 2 + 2 * np.maximum(middle, 0)
        shown = (tango_scores(n, (k + d) / 2, (k - d) / 2, margin) < -z) & (above - below > 1)
        below, above = np.where(shown, middle, below), np.where(shown, above, middle)
        above = np.maximum(above, below + 1)
    return np.where(below < 0, -1, k % 2 + 2 * below)


def _normal_verdict_probability(
    n: int, psi: float, delta: float, *, margin: float, alpha: float, n_tests: int
) -> float:
    """Approximate :func:`verdict_probability` by a normal D, at the k that is expected."""
    from scipy.special import ndtr

    k = n * psi
    differs = _normal_quantile(alpha / n_tests / 2) * math.sqrt(k)
    z = _normal_quantile(alpha)

    def gap(d: float) -> float:
        return float(tango_scores(n, (k + d) / 2, (k - d) / 2, margin)) + z

    equivalent = -1.0
    if gap(0.0) < 0:
        from scipy.optimize import brentq

        equivalent = k if gap(k) < 0 else float(brentq(gap, 0.0, k, xtol=1e-6))
    if equivalent >= differs:
        return 1.0
    centre, spread = n * abs(delta), math.sqrt(max(n * (psi - delta**2), 0))
    if spread == 0:  # all pairs, or none, are discordant
        return float(centre <= equivalent or centre > differs)
    inner = max(equivalent, 0.0)
    undecided = sum(
        float(ndtr((differs - middle) / spread) - ndtr((inner - middle) / spread))
        for middle in (centre, -centre)
    )
    return 1 - undecided


def _verdict_tooth(psi: float, margin: float, n: int) -> int:
    """Give how many more pairs change either limit of abs(D) by a step or two."""
    differs = 2 * math.sqrt(n / psi) if psi > 0 else 0.0
    return math.ceil(min(n, max(differs, 4 / margin)))


def first_reaching(
    probability: Callable[[int], float], goal: float, below: int, above: int, *, step: int = 1
) -> int | None:
    """Halve until a step is left; None if not even the upper end reaches the goal."""
    if probability(above) < goal:
        return None
    while above - below > step:
        middle = (below + above) // 2
        if probability(middle) >= goal:
            above = middle
        else:
            below = middle
    return above


def _settle(
    probability: Callable[[int], float],
    goal: float,
    rough: int,
    *,
    width: Callable[[int], int],
    n_points: int,
) -> int | None:
    """Find from about where on a probability that climbs in saw teeth stays at the goal."""
    probability = functools.cache(probability)
    above = min(rough, MAX_PLANNED_PAIRS)
    while probability(above) < goal:
        if above == MAX_PLANNED_PAIRS:
            return None
        above = min(above + 1 + above // 25, MAX_PLANNED_PAIRS)
    below = above
    while below > 0 and probability(below) >= goal:
        below -= 1 + below // 25
    step = max(1, rough // 500)
    found = first_reaching(probability, goal, below, above, step=step) or above
    while True:
        tooth = width(found)
        stride = max(1, tooth // n_points)
        last = min(found + tooth, MAX_PLANNED_PAIRS)
        short = [n for n in range(last, found, -stride) if probability(n) < goal]
        if not short:
            return found
        found = short[0] + 1
        while _fits(found) and probability(found) < goal:
            found += step
        if not _fits(found):
            return None


def _normal_sample_size(psi: float, delta: float, *, power: float, z: float) -> int:
    """Approximate by the normal law as usual (Connor 1987), to start from."""
    reach = z * math.sqrt(psi) - _normal_quantile(power) * math.sqrt(max(psi - delta**2, 0))
    return math.ceil((reach / delta) ** 2)


def _normal_quantile(tail: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(tail))


def _fits(n: int) -> bool:
    return n <= MAX_PLANNED_PAIRS


def _refuse_too_many(n: int) -> None:
    if not _fits(n):
        raise InputError(
            f"more than {MAX_PLANNED_PAIRS:,} pairs would be needed; so small a difference "
            "cannot be planned for"
        )


def _level(alpha: float, n_tests: int, n_threads: int | None = None) -> float:
    check_options(alternative="two-sided", n_resamples=1, n_threads=n_threads)
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha}")
    if isinstance(n_tests, bool) or not isinstance(n_tests, (int, np.integer)) or n_tests < 1:
        raise InputError(f"the number of tests must be 1 or more, not {n_tests}")
    return alpha / int(n_tests)


def _check_margin(margin: float, alpha: float) -> None:
    if not 0 < margin < 1:
        raise InputError(f"the margin must lie between 0 and 1, not {margin}")
    if not alpha < 0.5:
        raise InputError(f"equivalence is tested at an alpha below 0.5, not at {alpha}")


def _check_goal(power: float, level: float) -> None:
    if not level < power < 1:
        raise InputError(f"the power must lie between the level ({level:g}) and 1, not {power}")


def _check_truth(discordance: float, delta: float) -> None:
    if not 0 <= discordance <= 1:
        raise InputError(f"the discordance must lie between 0 and 1, not {discordance}")
    if not -1 <= delta <= 1:
        raise InputError(f"delta must lie between -1 and 1, not {delta}")
    if abs(delta) > discordance:
        raise InputError(
            f"delta cannot be {delta}: it is no larger than the share of discordant pairs, "
            f"{discordance}"
        )


def _whole(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InputError(f"the number of pairs must be an integer of 1 or more, not {n}")
    if n > MAX_PLANNED_PAIRS:
        raise InputError(f"power is enumerated for up to {MAX_PLANNED_PAIRS:,} pairs, not {n:,}")
    return int(n)


def _check_cost(n_discordant: float, *, n_points: int = 1) -> None:
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
    size = _whole(n)
    _check_cost(size * discordance)
    shares = []
    for delta in deltas:
        _check_truth(discordance, float(delta))
        shares.append(_shares(discordance, float(delta)))
    original, transformed = np.array(shares, dtype=np.float64).T
    powers: NDArray[np.float64] = core.power.powers(
        size,
        np.ascontiguousarray(original),
        np.ascontiguousarray(transformed),
        level,
        n_threads=n_threads,
    )
    return powers
