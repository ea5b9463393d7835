"""Intervals: what they are, and the spread of a difference that they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.stats.inputs import as_clusters, check_between
from ietest_fast.stats.resampling import count_equal, design_effect, have_no_spread, to_squarable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.resampling import Alternative


@dataclass(frozen=True)
class Interval:
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
    def of(cls, differences: Differences, clusters: Any) -> Clustering:
        """Find the design effect of clusters given by labels, shape (n,)."""
        values = differences.values
        codes, n = as_clusters(clusters, values.size)
        return cls.of_codes(differences, codes, n)

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
        return cls(
            n=n_clusters,
            # Without any spread pairs may be alike within a cluster.
            design_effect=largest if effect is None else max(1.0, effect),
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
