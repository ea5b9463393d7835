"""Laws of the differences of simulated scores, as functions of standard normal variables."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
