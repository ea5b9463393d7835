"""Intervals: what they are, and the spread of a difference that they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.escapes import escape_label
from ietest_fast.stats.inputs import check_between
from ietest_fast.stats.resampling import count_equal, design_effect, have_no_spread, to_squarable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.matched import PairedCounts
    from ietest_fast.stats.resampling import Alternative


class Interval(NamedTuple):
    """A closed interval from ``low`` to ``high``."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.low <= value <= self.high

    def __str__(self) -> str:
        largest, width = max(abs(self.low), abs(self.high)), self.high - self.low
        form = ".4f" if 0.01 <= largest < 1e6 else ".3g"
        if largest >= 1e6 and 0 < width < largest / 10:  # enough digits to tell the ends apart
            form = f".{min(17, 3 + math.ceil(math.log10(largest / width)))}g"
        return f"[{self.low:{form}}, {self.high:{form}}]"

    def one_sided(self, alternative: Alternative, bound: float) -> Interval:
        """Open the side that a one-sided alternative does not bound, up to ±bound."""
        if alternative == "greater":
            return Interval(self.low, bound)
        if alternative == "less":
            return Interval(-bound, self.high)
        return self


def check_level(confidence_level: float) -> None:
    """Refuse a confidence level outside (0, 1), as an :class:`InputError`."""
    check_between(confidence_level, "confidence_level", 0, 1)


def upper_level(confidence_level: float, alternative: Alternative) -> float:
    """Return the level of the quantile that one end of an interval takes."""
    check_level(confidence_level)
    return (1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level


#: With fewer clusters than this that tell something, their design effect is not to be trusted.
FEW_TELLING = 25


@dataclass(frozen=True, kw_only=True, eq=False)
class Differences:
    """Differences in a unit in which their squares are neither infinite nor 0."""

    values: NDArray[np.float64]
    """Shape (n,)."""
    exponent: int
    """They are 2**exponent times as large as their values; a power of 2 rounds nothing."""
    mean: float
    """Of the values."""
    spread: float
    """Sum of the squares of their distances to the mean; 0 if that is nothing but rounding
    errors."""

    @classmethod
    def of(cls, differences: NDArray[np.float64]) -> Differences:
        """Bring differences, shape (n,), into such a unit."""
        values, exponent = to_squarable(differences)
        if np.ptp(values) == 0:  # the mean of equal numbers may be off by rounding
            return cls(values=values, exponent=exponent, mean=float(values[0]), spread=0.0)
        mean = float(values.mean())
        spread = float(np.square(values - mean).sum())
        if have_no_spread(spread, float(np.square(values).sum())):
            spread = 0.0
        return cls(values=values, exponent=exponent, mean=mean, spread=spread)

    def standard_error(self, clustering: Clustering | None) -> float:
        """Return the standard error of the mean, divisor n - 1, in the unit of ``values``."""
        n = self.values.size
        error = math.sqrt(self.spread / (n - 1)) / math.sqrt(n)
        return error if clustering is None else error * math.sqrt(clustering.design_effect)


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Clusters, and what they do to the variance of a mean."""

    n: int
    """Number of clusters."""
    design_effect: float
    """At least 1; the largest there can be where no difference varies."""
    swap_effect: float
    """What clusters do to the variance of the sum of differences if the versions of whole clusters
    are swapped by fair coins: ``sum D_c**2 / sum d_i**2``, at least 1; the largest there can be
    without a difference."""
    largest_effect: float
    """The size of the largest cluster: a bound. The share f of pairs that are 1 has a variance of
    at most ``f (1 - f) largest_effect / n``, however alike the pairs of a cluster are, and
    whichever clusters are 1 more often: ``sum n_c**2 p_c (1 - p_c) <= largest_effect sum n_c p_c (1
    - p_c)``, and p (1 - p) is concave."""
    n_telling: float
    """Clusters that hold another difference than the commonest one: what is estimated of the
    dependence within clusters is estimated from these. Of unequal sizes: the number of equal
    clusters that would tell as much, ``(sum n**2)**2 / sum n**4 - 1`` over these and the largest
    cluster of all, which may tell another thing than many small ones."""

    @property
    def cautious_effect(self) -> float:
        """The design effect, taken as large as it can be where few clusters tell it."""
        if self.n_telling < FEW_TELLING:
            return max(self.design_effect, self.largest_effect)
        return self.design_effect

    @classmethod
    def of_codes(
        cls, differences: Differences, codes: NDArray[np.int64], n_clusters: int
    ) -> Clustering:
        """Find the design effect of numbered clusters, shape (n,)."""
        values = differences.values
        sizes = np.bincount(codes, minlength=n_clusters).astype(np.float64)
        squares = np.square(sizes)
        effect = None if differences.spread == 0 else design_effect(values, codes, n_clusters)
        distinct, counts = np.unique(values, return_counts=True)
        telling = np.bincount(codes[values != distinct[np.argmax(counts)]], minlength=n_clusters)
        tells = telling > 0
        largest = float(sizes.max())
        total = float(np.square(values).sum())
        sums = np.bincount(codes, weights=values, minlength=n_clusters)
        swapped = largest if total == 0 else float(np.square(sums).sum()) / total
        return cls(
            n=n_clusters,
            # Without any spread pairs may be alike within a cluster.
            design_effect=largest if effect is None else max(1.0, effect),
            swap_effect=max(1.0, swapped),
            largest_effect=largest,
            n_telling=count_equal(np.append(squares[tells], squares.max())) - 1,
        )


def effective_size(n: int, n_clusters: int | None, effect: float | None, tail: float) -> float:
    """Return how many independent observations n clustered ones are worth."""
    if n_clusters is None or effect is None:
        return float(n)
    from scipy.special import stdtrit

    # Student's quantiles say how much less surely so few clusters tell the variance.
    freedom = float(stdtrit(n - 1, tail) / stdtrit(n_clusters - 1, tail)) ** 2
    return min(float(n), n / effect * freedom)


# Score intervals: Tango's for a difference of paired proportions, Wilson's for a proportion.


def tango_score(counts: PairedCounts, delta: float) -> float:
    r"""Compute Tango's (1998) score statistic of H0: delta = ``delta``.

    .. math:: T(\delta) = \frac{n_{10} - n_{01} - n\delta}
                              {\sqrt{n\,(2\tilde q + \delta(1-\delta))}},

    where q is the maximum-likelihood estimate of P(only the transformed version is right) if
    P(only the original is right) = q + delta: the larger root of

    .. math:: 2n\,q^2 + \bigl((2n - n_{10} + n_{01})\delta - n_{10} - n_{01}\bigr)q
              - n_{01}\,\delta(1-\delta) = 0.

    At delta = 0 it is D / sqrt(k), the signed root of McNemar's statistic.

    Parameters
    ----------
    counts
        The four counts.
    delta
        In [-1, 1].

    Returns
    -------
    float
        Decreasing in delta; close to standard normal if ``delta`` is the truth. 0 for 0 / 0.
    """
    # The same as tango_scores, which takes twenty times as long for one table.
    n = counts.n
    gap = counts.d - n * delta
    # With the roles exchanged if need be, delta >= 0 and no term below cancels another.
    b, c = (counts.n10, counts.n01) if delta >= 0 else (counts.n01, counts.n10)
    size = abs(delta)
    constant = c * size * (1 - size)
    linear = (2 * n - b + c) * size - b - c
    root = math.sqrt(linear * linear + 8 * n * constant)
    q = 2 * constant / (linear + root) if linear > 0 else (root - linear) / (4 * n)
    variance = n * (2 * q + size * (1 - size))
    if variance <= 0:
        return 0.0 if gap == 0 else math.copysign(math.inf, gap)
    return gap / math.sqrt(variance)


def tango_scores(n: ArrayLike, n10: ArrayLike, n01: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Compute :func:`tango_score` for many tables."""
    n, n10, n01 = (np.asarray(each, dtype=np.float64) for each in (n, n10, n01))
    gap = n10 - n01 - n * delta
    b, c = (n10, n01) if delta >= 0 else (n01, n10)
    size = abs(delta)
    constant = c * size * (1 - size)
    linear = (2 * n - b + c) * size - b - c
    root = np.sqrt(linear * linear + 8 * n * constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(linear > 0, 2 * constant / (linear + root), (root - linear) / (4 * n))
        variance = np.maximum(n * (2 * q + size * (1 - size)), 0)
        return np.where(gap == 0, 0.0, gap / np.sqrt(variance))


def tango_interval(counts: PairedCounts, *, confidence_level: float = 0.95) -> Interval:
    """Give Tango's (1998) score interval for delta: all delta with abs(T(delta)) <= z.

    Parameters
    ----------
    counts
        The four counts.
    confidence_level
        In (0, 1).

    Returns
    -------
    Interval
        Inside [-1, 1]; it holds the estimate, and has a width even where no pair is discordant.

    Raises
    ------
    InputError
        If the confidence level is not in (0, 1).
    """
    check_level(confidence_level)
    return invert_tango(counts, NormalDist().inv_cdf((1 + confidence_level) / 2))


def invert_tango(counts: PairedCounts, z: float) -> Interval:
    """Give all delta with abs(T(delta)) <= z, T being :func:`tango_score`."""
    middle = counts.delta
    return Interval(
        _bisect(lambda delta: tango_score(counts, delta) <= z, -1.0, middle),
        -_bisect(lambda delta: tango_score(counts, -delta) >= -z, -1.0, -middle),
    )


def _bisect(holds: Any, outside: float, inside: float) -> float:
    """Halve down to the smallest number at which ``holds``: it does inside, and not below."""
    if holds(outside):
        return outside
    while True:
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            return inside
        if holds(middle):
            inside = middle
        else:
            outside = middle


def wilson_interval(successes: float, n: float, *, confidence_level: float = 0.95) -> Interval:
    """Give Wilson's (1927) score interval for a proportion.

    Parameters
    ----------
    successes, n
        Counts, 0 <= successes <= n, n > 0; no whole numbers if they are effective ones.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If the counts are impossible or the confidence level is not in (0, 1).
    """
    check_level(confidence_level)
    if not 0 <= successes <= n or n <= 0:
        raise InputError(f"{successes} of {n} is no proportion")
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == n else min(1.0, centre + half),
    )


# What pictures of results are made of: axes, intervals, p-values, an observed statistic.


def axes_or_new(ax: Any, **figure: Any) -> Any:
    """Return matplotlib axes: those given, or of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(**figure)[1]


def draw_observed(ax: Any, value: float, *, low: float, high: float, name: str) -> None:
    """Draw an observed statistic as a line, at the edge if it lies beyond."""
    shown = min(max(value, low), high)
    beyond = "" if shown == value else f" ({name} = {value:.4g}, beyond the edge)"
    ax.axvline(shown, color="black", label=f"observed{beyond}")


def draw_intervals(ax: Any, estimate: float, intervals: Sequence[tuple[str, Interval]]) -> None:
    """Draw an estimate and intervals of it, each in a row, from the top down."""
    for row, (_, interval) in enumerate(intervals):
        ax.plot([interval.low, interval.high], [row, row], color="C0", linewidth=2, marker="|")
        ax.plot([estimate], [row], color="C0", marker="o")
    ax.set_yticks(range(len(intervals)), [escape_label(name) for name, _ in intervals])
    ax.set_ylim(len(intervals) - 0.5, -0.5)


def draw_margin(ax: Any, margin: float) -> None:
    """Draw the region in which differences do not matter."""
    ax.axvspan(-margin, margin, alpha=0.15, color="C2", label=f"margin ±{margin:g}")


def draw_p_values(
    ax: Any,
    names: Sequence[str],
    p_values: Sequence[float],
    p_adjusted: Sequence[float],
    *,
    alpha: float,
) -> None:
    """Draw p-values before and after a correction, each test in a row, and the level."""
    least = min([alpha, *(p for p in [*p_values, *p_adjusted] if p > 0)]) / 10
    rows = np.arange(len(names))
    for values, marker, label in ((p_values, "|", "p"), (p_adjusted, "o", "adjusted p")):
        # There is no 0 on a scale of logarithms: such a p is drawn at its lower end.
        shown = np.maximum(np.asarray(values, dtype=np.float64), least)
        ax.plot(shown, rows, linestyle="none", marker=marker, color="C0", label=label)
    ax.axvline(alpha, color="black", linestyle="--", label=f"α = {alpha:g}")
    ax.set_xscale("log")
    ax.set_yticks(rows, [escape_label(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
