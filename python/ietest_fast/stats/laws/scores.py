"""Laws of the differences of simulated scores, as functions of standard normal variables."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.laws.bootstrap import (
    WideLaw,
    acceleration_of,
    bca_levels,
    reach_of,
    to_power,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.laws.bootstrap import Law


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
            places = (part.values - part.mean) / step
            floors = np.floor(places)
            upper = places - floors
            cells = floors.astype(np.int64)
            shares = part.frequencies / part.frequencies.sum()
            one = np.bincount(cells % length, shares * (1 - upper), length)
            one += np.bincount((cells + 1) % length, shares * upper, length)
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
