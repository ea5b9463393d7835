"""The law of sums of draws from real numbers, on a grid, and the intervals it gives.

This is the limit of the bootstrap for S → ∞ where a measure is a mean, or a ratio of two sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.stats.bootstrap_law import (
    WideLaw,
    acceleration_of,
    bca_levels,
    reach_of,
    to_power,
)
from ietest_fast.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.bootstrap_law import Law

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
