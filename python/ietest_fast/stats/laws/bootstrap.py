"""The law of a mean in bootstrap samples, computed instead of simulated, and its intervals.

Units (pairs or clusters) are drawn with replacement; each has a sum of differences and a size, and
the mean is the sum of the sums over the sum of the sizes.
"""

from __future__ import annotations

import functools
import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Laws of the differences of simulated scores, as functions of standard normal variables.


#: Degrees of freedom of the differences of simulated scores, unless others are asked for.
DEFAULT_DF = 3.0
#: The fewest: nearer to 2, where the variance ends, correlations are no longer what was asked for.
MIN_DF = 2.1
#: The most skewed lognormal law, with the skewness 414.
MAX_SKEW = 2.0

# So many Hermite coefficients say how correlated differences are; those beyond matter to
# correlations near 1 only.
_N_COEFFICIENTS = 300


class ScoreLaw(ABC):
    """A law with mean 0 that is 0 with probability 1 - psi."""

    def __init__(self, psi: float) -> None:
        self._psi = psi

    @abstractmethod
    def quantile(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the law's quantiles at Phi(z)."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The law's variance."""

    def latent(self, correlation: float) -> float:
        """Return the correlation of two Z whose quantiles have the correlation asked for."""
        if correlation in (0, 1) or self._psi == 0:
            return correlation
        from scipy.optimize import brentq

        return float(brentq(lambda r: self.correlation(r) - correlation, 0.0, 1.0, xtol=1e-12))

    def correlation(self, latent: float) -> float:
        """Return the correlation of two differences from that of their Z."""
        orders, squares = self._squares
        rest = max(0.0, self.variance - float(squares.sum()))  # of the orders beyond
        powers = latent ** np.append(orders, orders[-1] + (orders[-1] - orders[-2]))
        weights = np.append(squares, rest)
        return float(weights @ powers / weights.sum())

    @functools.cached_property
    def _squares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Orders and squares of the Hermite coefficients that are not 0 by symmetry."""
        step = 1e-3
        z = np.arange(step / 2, 12, step)
        density = step * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        up, down = self.quantile(z), self.quantile(-z)
        odd, even = (up - down) * density, (up + down) * density
        coefficients = []
        before, now = np.zeros_like(z), np.ones_like(z)  # Hermite polynomials over sqrt(k!)
        for k in range(_N_COEFFICIENTS):
            coefficients.append(float(((odd if k % 2 else even) * now).sum()))
            before, now = now, (z * now - math.sqrt(k) * before) / math.sqrt(k + 1)
        orders = np.arange(1.0, _N_COEFFICIENTS, 2 if not even.any() else 1)
        return orders, np.square(coefficients)[orders.astype(np.int64)]


class StudentLaw(ScoreLaw):
    """Zeros and Student's law: symmetric, with heavy tails."""

    def __init__(self, psi: float, df: float) -> None:
        super().__init__(psi)
        if not MIN_DF <= df < math.inf:  # a NaN is not, either
            raise InputError(
                f"the degrees of freedom must be a number of {MIN_DF} or more, not {df}"
            )
        self._df = float(df)

    def quantile(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mixture's quantiles at Phi(z)."""
        from scipy.special import ndtr, stdtrit

        differences = np.zeros(z.shape)
        tail = ndtr(-np.abs(z))
        large = tail < self._psi / 2
        differences[large] = np.copysign(stdtrit(self._df, tail[large] / self._psi), z[large])
        return differences

    @property
    def variance(self) -> float:
        """The law's variance."""
        return self._psi * self._df / (self._df - 2)


class LognormalLaw(ScoreLaw):
    """Zeros and a lognormal law about its mean: few large differences to one side."""

    def __init__(self, psi: float, sigma: float) -> None:
        super().__init__(psi)
        if not 0 < sigma <= MAX_SKEW:
            raise InputError(
                f"skew, the lognormal law's sigma, must be a number above 0 and at most "
                f"{MAX_SKEW:g}, not {sigma}"
            )
        self._sigma = float(sigma)

    def quantile(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mixture's quantiles at Phi(z)."""
        from scipy.special import ndtr, ndtri

        sigma = self._sigma
        below = float(ndtr(sigma / 2))  # so much of the lognormal law lies below its mean
        differences = np.zeros(z.shape)
        low, high = ndtr(z), ndtr(-z)
        small, large = low < self._psi * below, high < self._psi * (1 - below)
        normal = np.zeros(z.shape)
        normal[small] = ndtri(low[small] / self._psi)
        normal[large] = -ndtri(high[large] / self._psi)
        drawn = small | large
        differences[drawn] = np.exp(sigma * normal[drawn]) - math.exp(sigma * sigma / 2)
        return differences

    @property
    def variance(self) -> float:
        """The law's variance."""
        square = self._sigma**2
        return self._psi * math.expm1(square) * math.exp(square)


# The law of sums of draws from real numbers, on a grid, and the intervals it gives.
#
# This is the limit of the bootstrap for S → ∞ where a measure is a mean, or a ratio of two sums.

_LEAST_LENGTH = 2**14
_MOST_LENGTH = 2**20


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """Independent draws with replacement, which are added up."""

    values: NDArray[np.float64]
    """Shape (U,): what a draw may be."""
    frequencies: NDArray[np.float64]
    """Shape (U,): how often each is there, not necessarily a whole number."""
    n_draws: int
    """How many draws."""

    @property
    def mean(self) -> float:
        """Of one draw."""
        return float(self.frequencies @ self.values / self.frequencies.sum())

    @property
    def variance(self) -> float:
        """Of one draw."""
        shares = self.frequencies / self.frequencies.sum()
        return float(shares @ np.square(self.values - self.mean))


class SumLaw:
    """The law of a sum of draws from several sets of real numbers.

    Deviations from the mean are put on a grid of ten thousand cells or more, each split between
    its two neighbours so that its mean stays; the law of the sum is a product of Fourier transforms
    (Bernstein's inequality says how wide the grid has to be). The grid adds a little variance,
    which is known and taken out again by scaling. Between cells the distribution function is
    straight.
    """

    def __init__(self, parts: Sequence[Draws]) -> None:
        spread = [part for part in parts if part.variance > 0]
        self.mean = sum(part.n_draws * part.mean for part in parts)
        reach = math.sqrt(sum(_reach(part) ** 2 for part in spread)) * math.sqrt(len(spread))
        # Splitting moves each draw by a cell at most, and their sum by some square roots of that.
        n_draws = sum(part.n_draws for part in spread)
        wanted_length = 2 ** math.ceil(math.log2(128 * math.sqrt(n_draws)))
        self._length = length = min(max(wanted_length, _LEAST_LENGTH), _MOST_LENGTH)
        moved = min(n_draws, math.ceil(5 * math.sqrt(n_draws)), length // 8)
        step = 2 * reach / (length - 4 - 2 * moved)
        transform = np.ones(length // 2 + 1, dtype=np.complex128)
        wanted = on_grid = 0.0
        for part in spread:
            shares = part.frequencies / part.frequencies.sum()
            one, upper = _split((part.values - part.mean) / step, shares, length)
            transform *= to_power(np.fft.rfft(one), part.n_draws)
            wanted += part.n_draws * part.variance
            on_grid += part.n_draws * step**2 * float(shares @ (upper * (1 - upper)))
        masses = np.clip(np.fft.fftshift(np.fft.irfft(transform, length)), 0.0, None)
        masses /= masses.sum()
        scale = math.sqrt(wanted / (wanted + on_grid))
        self._values = self.mean + scale * step * (np.arange(length) - length // 2)
        self._below = np.cumsum(masses) - 0.5 * masses

    def share_below(self, value: float) -> float:
        """Return P(below the value)."""
        return float(np.interp(value, self._values, self._below, left=0.0, right=1.0))

    def ends(self, low: float, high: float) -> Interval:
        """Return the quantiles with these probabilities below, and above."""
        return Interval(self._quantile(low), self._quantile(1 - high))

    def _quantile(self, level: float) -> float:
        last = int(np.searchsorted(self._below, level))
        if last in (0, self._length):
            return float(self._values[min(last, self._length - 1)])
        low, high = self._below[last - 1], self._below[last]
        at = (level - low) / (high - low)
        return float(self._values[last - 1] * (1 - at) + self._values[last] * at)


def _reach(part: Draws) -> float:
    shares = part.frequencies * (part.n_draws / part.frequencies.sum())
    largest = float(np.abs(part.values - part.mean).max())
    return max(reach_of(part.values, shares, part.n_draws), 2 * largest)


def ratio_interval(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64],
    frequencies: NDArray[np.int64],
    alpha: float,
) -> Interval:
    """Compute the BCa interval (Efron 1987) of a ratio of sums in the limit of large S."""
    total, size = float(frequencies @ sums), float(frequencies @ sizes)
    middle = total / size
    residuals = sums - middle * sizes
    if np.abs(residuals).max() <= 1e-12 * max(1.0, float(np.abs(sums).max())):
        return Interval(middle, middle)
    left = size - sizes
    if bool((left <= 0).any()):  # one unit is all there is
        return Interval(middle, middle)
    n = int(frequencies.sum())
    law: Law
    if bool((sizes == sizes[0]).all()):
        means = sums / size
        law = SumLaw([Draws(values=means, frequencies=frequencies.astype(np.float64), n_draws=n)])
    else:
        law = WideLaw(sums, sizes, frequencies)
    acceleration = acceleration_of((total - sums) / left, frequencies)
    return law.ends(*bca_levels(law.share_below(middle), acceleration, alpha))


#: The law of (sum, size) of a cluster bootstrap is listed on a grid of at most so many cells.
MAX_GRID_CELLS = 2**22

#: Of so many clusters all different samples are listed where the grid is too large.
MOST_LISTED_CLUSTERS = 9

# Log of a probability that is left out at the border of a grid.
_LOG_NOTHING = 42.0


def bootstrap_intervals(
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
    law: Law
    if bool((sizes == sizes[0]).all()):
        totals, masses = _law_of_sums(sums, frequencies)
        law = _ListedLaw(totals / size, masses, middle)
    elif (lengths := _grid(sums, sizes, frequencies))[0] * lengths[1] <= MAX_GRID_CELLS:
        law = _ListedLaw(*_law_of_ratios(sums, sizes, frequencies, lengths), middle)
    elif frequencies.sum() <= MOST_LISTED_CLUSTERS:
        law = _ListedLaw(*_law_of_few(sums, sizes, frequencies), middle)
    else:
        law = WideLaw(sums, sizes, frequencies)

    acceleration = acceleration_of((total - sums) / (size - sizes), frequencies)
    levels = bca_levels(law.share_below(middle), acceleration, alpha)
    return law.ends(alpha / 2, alpha / 2), law.ends(*levels)


def acceleration_of(left_out: NDArray[np.float64], frequencies: NDArray[np.int64]) -> float:
    """Return the acceleration of a BCa interval (Efron 1987)."""
    centred = float(frequencies @ left_out) / float(frequencies.sum()) - left_out
    spread = float(frequencies @ centred**2)
    return float(frequencies @ centred**3) / (6 * math.sqrt(spread) ** 3)


def bca_levels(share_below: float, acceleration: float, alpha: float) -> tuple[float, float]:
    """Return the shares of the law below and above a BCa interval at confidence 1 - alpha."""
    normal = NormalDist()
    z0 = normal.inv_cdf(min(max(share_below, 1e-16), 1 - 1e-16))
    z = normal.inv_cdf(1 - alpha / 2)

    def level(z: float) -> float:
        return normal.cdf(z0 + (z0 + z) / (1 - acceleration * (z0 + z)))

    return level(-z), 1 - level(z)


class Law(Protocol):
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


class WideLaw:
    """The law of sum / size where a grid of both would be too large, or sums are real numbers.

    sum / size <= x means that the sum of all (sum - x size) is not positive. That is one sum, of
    real numbers. They are put on a grid of some hundred thousand cells across all that can happen,
    each number split between its two neighbours so that its mean stays. With ten clusters and more
    the law has so many values that the grid moves an end by less than 0.1% of a standard error.
    """

    _LENGTH = 2**17

    def __init__(
        self, sums: NDArray[Any], sizes: NDArray[Any], frequencies: NDArray[np.int64]
    ) -> None:
        self._sums, self._sizes, self._frequencies = sums, sizes, frequencies
        self._count = int(frequencies.sum())
        ratios = sums[sizes > 0] / sizes[sizes > 0]
        self._least, self._most = float(ratios.min()), float(ratios.max())
        size = float(frequencies @ sizes)
        self._middle = float(frequencies @ sums) / size
        spread = float(frequencies @ np.square(sums - self._middle * sizes))
        self._error = math.sqrt(spread) / size

    def share_below(self, value: float) -> float:
        """Return P(below the value), half of a cell's probability added."""
        numbers = self._sums - value * self._sizes
        mean = float(self._frequencies @ numbers) / self._count
        centred = numbers - mean
        step = 2 * reach_of(centred, self._frequencies) / (self._LENGTH - 4)
        one, _ = _split(centred / step, self._frequencies / self._count, self._LENGTH)
        masses = np.fft.irfft(to_power(np.fft.rfft(one), self._count), self._LENGTH)
        # The distribution function at the cells' middles, straight in between. Cell 0 is the mean.
        threshold = -self._count * mean / step
        if abs(threshold) >= self._LENGTH // 2 - 1:  # beyond all that can happen
            return float(threshold > 0)
        cell = math.floor(threshold)
        # What lies below the mean stands behind what lies above it.
        half = self._LENGTH // 2
        below = masses[half : self._LENGTH + min(cell, 0)], masses[: max(cell, 0)]
        here, above = max(float(masses[cell]), 0.0), max(float(masses[cell + 1]), 0.0)
        middle = sum(float(np.clip(part, 0.0, None).sum()) for part in below) + here / 2
        return middle + (threshold - cell) * (here + above) / 2

    def ends(self, low: float, high: float) -> Interval:
        """Return the quantiles with these probabilities below, and above."""
        return Interval(self._quantile(low), self._quantile(1 - high))

    def _quantile(self, level: float) -> float:
        from scipy.optimize import brentq

        def excess(value: float) -> float:
            return self.share_below(value) - level

        # The normal quantile is near: it spares half of the steps.
        near = self._middle + NormalDist().inv_cdf(min(max(level, 1e-16), 1 - 1e-16)) * self._error
        low = max(self._least, near - self._error / 2)
        high = min(self._most, near + self._error / 2)
        if low < high and excess(low) < 0 < excess(high):
            return float(brentq(excess, low, high, xtol=1e-10))
        if excess(self._least) >= 0:
            return self._least
        if excess(self._most) <= 0:
            return self._most
        return float(brentq(excess, self._least, self._most, xtol=1e-10))


def _split(
    places: NDArray[np.float64], shares: NDArray[np.float64], length: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split what lies between two cells between them, and return how much the upper ones get."""
    floors = np.floor(places)
    upper = places - floors
    cells = floors.astype(np.int64)
    masses = np.zeros(length)
    masses += np.bincount(cells % length, shares * (1 - upper), length)
    masses += np.bincount((cells + 1) % length, shares * upper, length)
    return masses, upper


def to_power(numbers: NDArray[np.complex128], times: int) -> NDArray[np.complex128]:
    """Multiply complex numbers with themselves, by squaring: quicker than NumPy's large powers."""
    result = None
    while True:
        if times & 1:
            result = numbers if result is None else result * numbers
        times >>= 1
        if not times:
            return np.ones_like(numbers) if result is None else result
        numbers = numbers * numbers


def reach_of(values: NDArray[Any], frequencies: NDArray[Any], n_draws: int | None = None) -> float:
    """Return Bernstein's bound: the sum of as many draws stays this near to its mean."""
    count = int(frequencies.sum()) if n_draws is None else n_draws
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
    reach = math.ceil(reach_of(values, frequencies))
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
    reaches = (math.ceil(reach_of(values, frequencies)) for values in (sums, sizes))
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
