"""How large the difference is: delta and the discordance rate, with intervals."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.drawing import axes_or_new, draw_intervals, draw_margin
from ietest_fast.stats.inputs import as_clusters
from ietest_fast.stats.intervals import Interval, check_level
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, outcome_columns
from ietest_fast.stats.result import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: The law of (sum, size) of a cluster bootstrap is listed on a grid of at most so many cells.
MAX_GRID_CELLS = 2**22

#: Of so many clusters all different samples are listed where the grid is too large.
MOST_LISTED_CLUSTERS = 9

# Log of a probability that is left out at the border of a grid.
_LOG_NOTHING = 42.0


@dataclass(frozen=True, kw_only=True)
class EstimateResult(Result):
    """Estimates of delta and of the discordance rate.

    Attributes
    ----------
    counts
        The four counts.
    n_clusters
        Number of clusters, None if the pairs are taken as independent.
    confidence_level
        Of every interval.
    delta
        Accuracy on the originals minus accuracy on the transformed texts.
    delta_score
        Tango's (1998) score interval; None with clusters, for it takes pairs as independent.
    delta_percentile
        Bootstrap percentile interval, from the exact bootstrap law.
    delta_bca
        Bootstrap BCa interval (Efron 1987), from the exact bootstrap law.
    discordance_rate
        k / n.
    discordance_wilson
        Its score interval (Wilson 1927); None with clusters.
    """

    title = "Estimates"

    counts: PairedCounts
    n_clusters: int | None
    confidence_level: float
    delta: float
    delta_score: Interval | None
    delta_percentile: Interval
    delta_bca: Interval
    discordance_rate: float
    discordance_wilson: Interval | None

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name, intervals as [low, high]."""

        def ends(interval: Interval | None) -> list[float] | None:
            return None if interval is None else [interval.low, interval.high]

        return {
            "n": self.counts.n,
            **asdict(self.counts),
            "n_clusters": self.n_clusters,
            "confidence_level": self.confidence_level,
            "delta": self.delta,
            "delta_score": ends(self.delta_score),
            "delta_percentile": ends(self.delta_percentile),
            "delta_bca": ends(self.delta_bca),
            "discordance_rate": self.discordance_rate,
            "discordance_wilson": ends(self.discordance_wilson),
        }

    def plot(self, *, margin: float | None = None, ax: Any = None) -> Any:
        """Draw delta and its intervals, against a margin if one is given.

        Parameters
        ----------
        margin
            Differences smaller than this do not matter.
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        if margin is not None:
            draw_margin(ax, margin)
        ax.axvline(0, color="black", linewidth=0.8, label="no difference")
        known = {
            "score (Tango)": self.delta_score,
            "percentile": self.delta_percentile,
            "BCa": self.delta_bca,
        }
        shown = [(name, interval) for name, interval in known.items() if interval is not None]
        draw_intervals(ax, self.delta, shown)
        ax.set_xlabel("delta (original − transformed)")
        ax.set_title(f"{100 * self.confidence_level:g}% intervals")
        ax.legend()
        return ax

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        rows = [("pairs", f"{self.counts.n:,}")]
        if self.n_clusters is not None:
            rows.append(("clusters", f"{self.n_clusters:,}"))
        rows.append(("delta", f"{self.delta:+.4f}"))
        level = f"{100 * self.confidence_level:g}%"
        if self.delta_score is not None:
            rows.append((f"  {level}, score (Tango)", str(self.delta_score)))
        rows += [
            (f"  {level}, percentile", str(self.delta_percentile)),
            (f"  {level}, BCa", str(self.delta_bca)),
            ("discordance k/n", f"{self.discordance_rate:.4f}"),
        ]
        if self.discordance_wilson is not None:
            rows.append((f"  {level}, Wilson", str(self.discordance_wilson)))
        return rows

    def remarks(self) -> list[str]:
        """Say what the numbers do not."""
        shown = {"percentile": self.delta_percentile, "BCa": self.delta_bca}
        flat = [name for name, interval in shown.items() if interval.low == interval.high]
        if not flat:
            return []
        if self.counts.k == 0:
            why = "No pair is discordant: every bootstrap sample is like the observed one"
        elif self.n_clusters is None:
            why = "The bootstrap samples hardly differ in delta"
        else:
            why = "The clusters hardly differ in delta, nor do the bootstrap samples"
        which = "bootstrap intervals have" if len(flat) == 2 else f"{flat[0]} interval has"
        nothing = "They say" if len(flat) == 2 else "It says"
        return [f"{why}, so the {which} no width. {nothing} nothing about delta."]


def estimate(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    clusters: Any = None,
    confidence_level: float = 0.95,
) -> EstimateResult:
    """Estimate delta = acc(original) - acc(transformed) and the discordance rate.

    The bootstrap intervals are those of the limit of large S: the law of delta in samples drawn
    with replacement (not under H0: nothing is swapped) is computed, not simulated.

    Parameters
    ----------
    sample
        Counts, a matched sample, or the outcomes on the originals (shape (n,), 0 and 1).
    transformed
        The outcomes on the transformed texts, shape (n,), if ``sample`` is a column.
    clusters
        Shape (n,), the cluster of each pair: whole clusters are drawn. Needs a matched sample or
        two columns. There are then no score intervals.
    confidence_level
        In (0, 1).

    Returns
    -------
    EstimateResult

    Raises
    ------
    InputError
        If the columns hold no outcomes or differ in length, the confidence level is not in
        (0, 1), or clusters come with counts.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, estimate
    >>> print(estimate(PairedCounts(59, 6, 16, 80)))
    Estimates
    pairs                    161
    delta                    -0.0621
      95%, score (Tango)     [-0.1240, -0.0054]
      95%, percentile        [-0.1180, -0.0062]
      95%, BCa               [-0.1180, -0.0062]
    discordance k/n          0.1366
      95%, Wilson            [0.0920, 0.1982]
    """
    check_level(confidence_level)
    if clusters is None:
        counts = counts_of(sample, transformed)
        n_clusters = None
        sums = np.array([1, -1, 0])
        sizes = np.ones(3, dtype=np.int64)
        frequencies = np.array([counts.n10, counts.n01, counts.n - counts.k])
        score: Interval | None = tango_interval(counts, confidence_level=confidence_level)
        wilson: Interval | None = wilson_interval(
            counts.k, counts.n, confidence_level=confidence_level
        )
    else:
        a, b = outcome_columns(sample, transformed)
        counts = PairedCounts.from_outcomes(a, b)
        codes, n_clusters = as_clusters(clusters, a.size)
        sums, sizes, frequencies = _cluster_types(a, b, codes)
        score = wilson = None
    percentile, bca = _bootstrap_intervals(sums, sizes, frequencies, 1 - confidence_level)
    return EstimateResult(
        counts=counts,
        n_clusters=n_clusters,
        confidence_level=confidence_level,
        delta=counts.delta,
        delta_score=score,
        delta_percentile=percentile,
        delta_bca=bca,
        discordance_rate=counts.discordance_rate,
        discordance_wilson=wilson,
    )


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
    """Compute :func:`tango_score` for many tables.

    Parameters
    ----------
    n, n10, n01
        Broadcast against each other: the pairs of each table, and those in which only the original
        or only the transformed version is right. They need not be whole.
    delta
        In [-1, 1].

    Returns
    -------
    ndarray of float64
        Of the common shape.
    """
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


def wilson_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Give Wilson's (1927) score interval for a proportion.

    Parameters
    ----------
    successes, n
        Counts, 0 <= successes <= n, n >= 1.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If the counts are impossible or the confidence level is not in (0, 1).
    """
    check_level(confidence_level)
    if not 0 <= successes <= n or n < 1:
        raise InputError(f"{successes} of {n} is no proportion")
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == n else min(1.0, centre + half),
    )


def _cluster_types(
    a: NDArray[np.bool_], b: NDArray[np.bool_], codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give sums of differences, sizes, and how many clusters have them."""
    difference = a.astype(np.int64) - b.astype(np.int64)
    sums = np.bincount(codes, weights=difference).astype(np.int64)
    sizes = np.bincount(codes)
    types, frequencies = np.unique(np.stack([sums, sizes], axis=1), axis=0, return_counts=True)
    return types[:, 0], types[:, 1], frequencies


# ---- The exact law of the bootstrap mean ------------------------------------------------------


def _bootstrap_intervals(
    sums: NDArray[np.int64],
    sizes: NDArray[np.int64],
    frequencies: NDArray[np.int64],
    alpha: float,
) -> tuple[Interval, Interval]:
    """Give percentile and BCa intervals of sum / size, drawing units of these types."""
    seen = frequencies > 0
    sums, sizes, frequencies = sums[seen], sizes[seen], frequencies[seen]
    total, size = int(frequencies @ sums), int(frequencies @ sizes)
    middle = total / size
    if bool((sums * size == total * sizes).all()):  # no sample has another mean
        return Interval(middle, middle), Interval(middle, middle)
    law: _Law
    if bool((sizes == sizes[0]).all()):
        totals, masses = _law_of_sums(sums, frequencies)
        law = _ListedLaw(totals / size, masses, middle)
    elif (lengths := _grid(sums, sizes, frequencies))[0] * lengths[1] <= MAX_GRID_CELLS:
        law = _ListedLaw(*_law_of_ratios(sums, sizes, frequencies, lengths), middle)
    elif frequencies.sum() <= MOST_LISTED_CLUSTERS:
        law = _ListedLaw(*_law_of_few(sums, sizes, frequencies), middle)
    else:
        law = _WideLaw(sums, sizes, frequencies)

    normal = NormalDist()
    # Bias: the share of the law below the estimate, ties half.
    z0 = normal.inv_cdf(min(max(law.share_below(middle), 1e-16), 1 - 1e-16))
    # Acceleration: the jackknife over units. For a mean of equal units it is their skewness.
    left_out = (total - sums) / (size - sizes)
    centred = float(frequencies @ left_out) / float(frequencies.sum()) - left_out
    acceleration = float(frequencies @ centred**3) / (6 * float(frequencies @ centred**2) ** 1.5)

    def level(z: float) -> float:
        return normal.cdf(z0 + (z0 + z) / (1 - acceleration * (z0 + z)))

    z = normal.inv_cdf(1 - alpha / 2)
    return law.ends(alpha / 2, alpha / 2), law.ends(level(-z), 1 - level(z))


class _Law(Protocol):
    """The law of a bootstrap mean."""

    def share_below(self, value: float) -> float:
        """P(below the value), half of the ties added."""

    def ends(self, low: float, high: float) -> Interval:
        """From the first value with P(at most) >= low to the last with P(at least) >= high."""


class _ListedLaw:
    """Values in ascending order and their masses."""

    def __init__(
        self, values: NDArray[np.float64], masses: NDArray[np.float64], middle: float
    ) -> None:
        self._values, self._masses, self._middle = values, masses, middle
        self._below = np.cumsum(masses)
        self._above = np.cumsum(masses[::-1])[::-1]

    def share_below(self, value: float) -> float:
        at = int(np.searchsorted(self._values, value))
        return float(self._below[at] - 0.5 * self._masses[at])

    def ends(self, low: float, high: float) -> Interval:
        first = int(np.searchsorted(self._below, low * self._below[-1]))
        last = int((self._above >= high * self._above[0]).sum()) - 1
        top = self._values.size - 1
        return Interval(float(self._values[min(first, top)]), float(self._values[max(last, 0)]))


class _WideLaw:
    """The law of sum / size where a grid of both would be too large.

    sum / size <= x means that the sum of all (sum - x size) is not positive. That is one sum, of
    real numbers. They are put on a grid of some hundred thousand cells across all that can happen,
    each number split between its two neighbours so that its mean stays. With ten clusters and more
    the law has so many values that the grid moves an end by less than 0.1% of a standard error.
    """

    _LENGTH = 2**17

    def __init__(
        self, sums: NDArray[np.int64], sizes: NDArray[np.int64], frequencies: NDArray[np.int64]
    ) -> None:
        self._sums, self._sizes, self._frequencies = sums, sizes, frequencies
        self._count = int(frequencies.sum())
        ratios = sums / sizes
        self._least, self._most = float(ratios.min()), float(ratios.max())

    def share_below(self, value: float) -> float:
        numbers = self._sums - value * self._sizes
        mean = float(self._frequencies @ numbers) / self._count
        centred = numbers - mean
        step = 2 * _reach(centred, self._frequencies) / (self._LENGTH - 4)
        places = centred / step
        floors = np.floor(places)
        upper = places - floors
        cells = floors.astype(np.int64)
        one = np.zeros(self._LENGTH)
        np.add.at(one, cells % self._LENGTH, self._frequencies / self._count * (1 - upper))
        np.add.at(one, (cells + 1) % self._LENGTH, self._frequencies / self._count * upper)
        masses = np.fft.irfft(np.fft.rfft(one) ** self._count, self._LENGTH)
        masses = np.clip(np.fft.fftshift(masses), 0.0, None)
        # The distribution function at the cells' middles, straight in between.
        middles = np.cumsum(masses) - 0.5 * masses
        threshold = -self._count * mean / step + self._LENGTH // 2
        grid = np.arange(self._LENGTH)
        return float(np.interp(threshold, grid, middles, left=0.0, right=middles[-1]))

    def ends(self, low: float, high: float) -> Interval:
        return Interval(self._quantile(low), self._quantile(1 - high))

    def _quantile(self, level: float) -> float:
        from scipy.optimize import brentq

        def excess(value: float) -> float:
            return self.share_below(value) - level

        if excess(self._least) >= 0:
            return self._least
        if excess(self._most) <= 0:
            return self._most
        return float(brentq(excess, self._least, self._most, xtol=1e-10))


def _reach(values: NDArray[Any], frequencies: NDArray[np.int64]) -> float:
    """Bernstein's bound: the sum of as many draws stays this near to its mean."""
    count = int(frequencies.sum())
    mean = float(frequencies @ values) / count
    variance = float(frequencies @ (values - mean) ** 2)
    largest = float(np.abs(values - mean).max())
    t = _LOG_NOTHING
    bound = t * largest / 3 + math.sqrt((t * largest / 3) ** 2 + 2 * t * variance)
    return min(bound, largest * count)


def _law_of_sums(
    values: NDArray[np.int64], frequencies: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Law of the sum of C draws with replacement from C integers, by its Fourier transform."""
    from scipy.fft import next_fast_len

    count = int(frequencies.sum())
    total = int(frequencies @ values)
    reach = math.ceil(_reach(values, frequencies))
    length = next_fast_len(2 * reach + 1, real=True)
    angle = 2 * np.pi * np.arange(length // 2 + 1) / length
    # The transform of one draw minus 1, so that its logarithm keeps all digits near 1.
    real = np.zeros_like(angle)
    imaginary = np.zeros_like(angle)
    for value, frequency in zip(values.tolist(), frequencies.tolist(), strict=True):
        share = frequency / count
        real -= 2 * share * np.sin(angle * value / 2) ** 2
        imaginary += share * np.sin(angle * value)
    with np.errstate(divide="ignore"):  # a transform of 0 has the logarithm -inf
        log_size = 0.5 * np.log1p(real * (2 + real) + imaginary**2)
    turn = np.arctan2(imaginary, 1 + real)
    # The sum minus its mean, an integer; conj() because irfft turns the other way.
    transform = np.exp(count * log_size) * np.exp(-1j * (count * turn - angle * total))
    law = np.fft.irfft(transform, length)
    offsets = np.arange(
        max(-reach, count * int(values.min()) - total),
        min(reach, count * int(values.max()) - total) + 1,
    )
    law = np.clip(law[offsets % length], 0.0, None)
    return offsets + total, law / law.sum()


def _law_of_few(
    sums: NDArray[np.int64], sizes: NDArray[np.int64], frequencies: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Law of sum / size from all samples that differ by how often each cluster is drawn."""
    count = int(frequencies.sum())
    totals, lengths, masses = [], [], []
    for draw in itertools.combinations_with_replacement(range(sums.size), count):
        times = np.bincount(draw, minlength=sums.size)
        ways = math.factorial(count) // math.prod(math.factorial(x) for x in times.tolist())
        totals.append(int(times @ sums))
        lengths.append(int(times @ sizes))
        masses.append(ways * float(np.prod((frequencies / count) ** times)))
    values, place = np.unique(np.array(totals) / np.array(lengths), return_inverse=True)
    law = np.zeros(values.size)
    np.add.at(law, place, masses)
    return values, law


def _grid(
    sums: NDArray[np.int64], sizes: NDArray[np.int64], frequencies: NDArray[np.int64]
) -> tuple[int, int]:
    """Give the lengths of a grid that holds the law of (sum, size)."""
    from scipy.fft import next_fast_len

    # One cell more on each side, because the shifts to the middle are rounded.
    reaches = (math.ceil(_reach(values, frequencies)) for values in (sums, sizes))
    first, second = (int(next_fast_len(2 * reach + 3, real=True)) for reach in reaches)
    return first, second


def _law_of_ratios(
    sums: NDArray[np.int64],
    sizes: NDArray[np.int64],
    frequencies: NDArray[np.int64],
    lengths: tuple[int, int],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Law of sum / size over C draws with replacement from C clusters, from the joint law."""
    count = int(frequencies.sum())
    totals = [int(frequencies @ values) for values in (sums, sizes)]
    shifts = [round(total / count) for total in totals]
    one = np.zeros(lengths)
    places = tuple(
        (values - shift) % length
        for values, shift, length in zip((sums, sizes), shifts, lengths, strict=True)
    )
    np.add.at(one, places, frequencies / count)
    law = np.fft.irfft2(np.fft.rfft2(one) ** count, lengths)
    axes = []
    for axis, (total, shift, length) in enumerate(zip(totals, shifts, lengths, strict=True)):
        reach = (length - 1) // 2
        offsets = np.arange(-reach, reach + 1) + total - count * shift
        law = np.take(law, offsets % length, axis=axis)
        axes.append(offsets + count * shift)
    # The transform's rounding is some 1e-17 a cell; what is no larger is no probability.
    cells = np.nonzero(law > 1e-15)
    weights = law[cells]
    sizes_there = axes[1][cells[1]]
    values, place = np.unique(
        axes[0][cells[0]][sizes_there > 0] / sizes_there[sizes_there > 0], return_inverse=True
    )
    masses = np.bincount(place, weights=weights[sizes_there > 0])
    return values, masses / masses.sum()
