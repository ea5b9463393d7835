"""The studentised bootstrap of scores (bootstrap-t), for differences that are skewed.

The symmetric null law swaps the versions by coins, so its law of t is symmetric. Where the
differences are skewed, that of t is not: its tail is longer on the side of the small ones. Here
units are drawn without coins from the sample, shifted so that H0 holds. Differences of 0 are kept
as they are, because rephrasing changed nothing there; only the others are shifted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.resampling import (
    FEW_UNITS,
    count_equal,
    have_no_spread,
    say_too_skewed,
    skewness_of_mean,
    warn_of_large_units,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.intervals import Differences

NullLaw = Literal["symmetric", "studentised"]
NULL_LAWS: tuple[NullLaw, ...] = get_args(NullLaw)

#: The studentised law is the default where the skewness of the mean is at least so large, ...
SKEWED = 0.1
#: ... the bulk of the units lies on the other side of the mean by so many standard errors (half as
#: many again where the warning below is given: one unit far out says little of the law), ...
LEANING = 1.0
#: ... and there are so many units with a difference.
FEWEST_UNITS = 10
#: From such a skewness of the mean on no p-value is right to a digit; a warning says so.
TOO_SKEWED = 0.25

# Units this near to the mean, in root mean squares, lean to no side.
_NEAR = 1 / 8
# Relative rounding error of a sum of differences.
_ROUNDING = 2.0**-48
# As in cpp/include/ietest/stats/scores.hpp.
_TIE_TOLERANCE = 1e-9
# An end of an interval is searched for up to so many standard errors from the estimate, in the
# moments of at most so many replicates.
_FARTHEST = 2.0**30
_MOST_HELD = 1 << 18


@dataclass(frozen=True, kw_only=True, eq=False)
class StudentisedUnits:
    """The units of a sample, centred, in the unit of :class:`Differences`."""

    columns: NDArray[np.float64]
    """Shape (k,): the k differences that are not 0, about their mean. With clusters shape (3, C):
    the sum of a cluster's centred differences, by how much its number of differences that are not 0
    exceeds what its size lets expect, its size."""
    n_units: int
    """Pairs, or clusters."""
    nonzero_share: float
    """Share of the pairs whose difference is not 0."""
    mean: float
    error: float
    """Of the differences, and its standard error with divisor n; infinite t where it is 0."""
    exponent: int
    """Differences are 2**exponent times as large as here."""
    skewness: float
    """Of the mean: ``sum(e**3) / sum(e**2)**1.5`` over the centred units e, which is their skewness
    over the root of their number. 0 where nothing varies."""
    leaning: float
    """By how many standard errors more units lie on the side of the mean that is opposite to the
    long tail."""
    n_nonzero: int
    """Units that vary: those with a difference other than 0."""
    n_unequal: int
    """Units whose sum is not 0: in a cluster differences may cancel."""
    n_deciding: float
    """How many units of equal sums would tell as much as these."""

    @classmethod
    def of(
        cls,
        differences: Differences,
        codes: NDArray[np.int64] | None = None,
        n_clusters: int | None = None,
    ) -> StudentisedUnits:
        """Centre differences, or the sums of clusters numbered by ``codes``, shape (n,)."""
        values = differences.values
        n = values.size
        if n_clusters == n:  # pairs, each a cluster of its own
            codes = None
        has_difference = values != 0
        k = int(has_difference.sum())
        centre = float(values[has_difference].mean()) if k else 0.0
        centred = np.where(has_difference, values - centre, 0.0)
        rounding = _ROUNDING * float(np.abs(values).max(initial=0.0))
        centred[np.abs(centred) <= rounding] = 0
        if have_no_spread(float(np.square(centred).sum()), float(np.square(values).sum())):
            centred[:] = 0
        spread = differences.spread
        if codes is None or n_clusters is None:
            units, n_units = centred[has_difference], n
            columns = np.ascontiguousarray(units)
            n_nonzero = n_unequal = k
            n_deciding = count_equal(np.square(values))
        else:
            n_units = n_clusters

            def add(each: NDArray[Any]) -> NDArray[np.float64]:
                return np.bincount(codes, weights=each, minlength=n_clusters).astype(np.float64)

            sizes, numbers = add(np.ones(n)), add(has_difference)
            sums = add(centred)
            sums[np.abs(sums) <= rounding * sizes] = 0
            columns = np.stack([sums, numbers - k / n * sizes, sizes])
            units = sums[numbers > 0]
            n_nonzero = units.size
            uncentred = add(values)
            uncentred[np.abs(uncentred) <= rounding * sizes] = 0
            n_unequal = int(np.count_nonzero(uncentred))
            n_deciding = count_equal(np.square(uncentred))
            about = add(values - differences.mean)
            about[np.abs(about) <= rounding * sizes] = 0
            spread = float(np.square(about).sum()) if spread > 0 else 0.0
        squares = float(np.square(units).sum())
        skewness, leaning = skewness_of_mean(units), 0.0
        if squares > 0:
            near = _NEAR * math.sqrt(squares / units.size)
            below, above = int((units < -near).sum()), int((units > near).sum())
            leaning = math.copysign(1.0, skewness) * (below - above) / math.sqrt(units.size)
        return cls(
            columns=columns,
            n_units=n_units,
            nonzero_share=k / n,
            mean=differences.mean,
            error=math.sqrt(spread) / n,
            exponent=differences.exponent,
            skewness=skewness,
            leaning=leaning,
            n_nonzero=n_nonzero,
            n_unequal=n_unequal,
            n_deciding=n_deciding,
        )

    @property
    def is_constant(self) -> bool:
        """Whether the units that have a difference do not vary: no law can be learnt from them."""
        sums = self.columns if self.columns.ndim == 1 else self.columns[0]
        return self.error == 0 or not bool(sums.any())

    @property
    def _n_listed(self) -> int:
        return int(self.columns.shape[-1])

    @property
    def fits(self) -> NullLaw:
        """The null law that is the default for such units."""
        leaning = LEANING if abs(self.skewness) < TOO_SKEWED else 1.5 * LEANING
        is_skewed = abs(self.skewness) >= SKEWED and self.leaning >= leaning
        enough = self.n_nonzero >= FEWEST_UNITS
        return "studentised" if is_skewed and enough and not self.is_constant else "symmetric"

    def choose(self, null: NullLaw | None) -> NullLaw:
        """Return the null law asked for, or the one that fits."""
        if null is not None and null not in NULL_LAWS:
            raise InputError(f"null must be one of {', '.join(NULL_LAWS)}, or None, not {null!r}")
        return self.fits if null is None else null

    def warn(self, null: NullLaw, *, unit: str) -> str | None:
        """Say why a p-value from this null law cannot be trusted; None if it can."""
        said = []
        n_left = self.n_unequal if null == "symmetric" else self.n_nonzero
        if 0 < n_left < FEW_UNITS:
            said.append(
                f"only {n_left} {unit} have a difference other than 0: below {FEW_UNITS} "
                "the bootstrap test may reject too often"
            )
        elif null == "symmetric" and (large := warn_of_large_units(self.n_deciding, unit)):
            said.append(large)
        if null == "studentised" and self.is_constant:
            said.append(
                "the differences other than 0 do not vary, so that the studentised bootstrap can "
                "show nothing: use the symmetric null law"
            )
        elif null == "symmetric" and self.fits == "studentised":
            said.append(
                "the differences are skewed: the symmetric null law rejects a true H0 too often, "
                "the studentised one fits"
            )
        if abs(self.skewness) >= TOO_SKEWED:
            said.append(say_too_skewed(self.skewness, trusted_below=TOO_SKEWED, unit=unit))
        return "; ".join(said) if said else None

    def t_of(self, delta: float) -> float:
        """Return the sample's t of H0: the mean is ``delta``, in the unit of the values."""
        gap = self.mean - delta
        if self.error > 0:
            return gap / self.error
        return 0.0 if gap == 0 else math.copysign(math.inf, gap)

    def shift_of(self, delta: float) -> float:
        """Return by how much differences other than 0 are shifted for a mean of ``delta``."""
        return 0.0 if self.error == 0 else delta / self.nonzero_share

    def count_tails(
        self,
        deltas: Sequence[float],
        *,
        n_resamples: int,
        seed: int,
        replicates: NDArray[np.float64] | None = None,
        n_threads: int | None = None,
    ) -> tuple[list[tuple[int, int]], tuple[int, float, float]]:
        """Count the replicates that are at most, and at least, the sample's t of each
        hypothesis.
        """
        tails, moments = core.studentised.replicates(
            self.columns,
            n_units=self.n_units,
            shifts=np.array([self.shift_of(delta) for delta in deltas]),
            t=np.array([self.t_of(delta) for delta in deltas]),
            n_replicates=n_resamples,
            key=philox_key(seed),
            t_replicates=replicates,
            n_threads=n_threads,
        )
        if self.is_constant:
            tails = [(n_resamples, n_resamples) for _ in deltas]
        return tails, moments

    def order_statistics(
        self, ranks: NDArray[np.int64], *, n_resamples: int, seed: int, n_threads: int | None
    ) -> NDArray[np.float64]:
        """Return the t* of a mean of 0 with these ranks; the smallest has rank 0."""
        return core.studentised.order_statistics(
            self.columns,
            n_units=self.n_units,
            ranks=ranks,
            n_replicates=n_resamples,
            key=philox_key(seed),
            n_threads=n_threads,
        )

    def interval(
        self, tail: float, *, n_resamples: int, seed: int, n_threads: int | None = None
    ) -> tuple[float, float]:
        """Return the outermost means that the one-sided tests do not reject at level ``tail``.

        A test rejects where its p-value, (c + 1) / (S + 1), is below ``tail``. All means that are
        not rejected lie in the interval. With few differences, some of which are 0, it may also
        hold means that are rejected, because p need not fall all the way to the ends. An end is
        infinite where S replicates, or replicates without spread, allow no rejection. Of more than
        2**18 replicates, the first 2**18 are used where differences of 0 make the law depend on
        the mean that is tested.
        """
        depends_on_mean = self.nonzero_share < 1
        drawn = min(n_resamples, _MOST_HELD) if depends_on_mean else n_resamples
        rank = math.ceil(tail * (drawn + 1) - 1e-9) - 1
        if self.is_constant or rank < 1:
            return -math.inf, math.inf
        if not depends_on_mean:
            ranks = np.array([drawn - rank, rank - 1])
            found = self.order_statistics(ranks, n_resamples=drawn, seed=seed, n_threads=n_threads)
            low, high = (self.mean - float(t) * self.error for t in found)
        else:
            moments = core.studentised.draw_moments(
                self.columns,
                n_units=self.n_units,
                n_replicates=drawn,
                key=philox_key(seed),
                n_threads=n_threads,
            )
            low = self._find_end(moments, -1, rank)
            high = self._find_end(moments, 1, rank)
        with np.errstate(over="ignore"):
            return float(np.ldexp(low, self.exponent)), float(np.ldexp(high, self.exponent))

    def _find_end(self, moments: NDArray[np.float64], side: int, rank: int) -> float:
        """Find the outermost mean at which ``rank`` replicates or more reach the sample's t."""

        def reaching(drawn: NDArray[np.float64], near: float, far: float) -> NDArray[np.float64]:
            """Return the replicates that may reach it somewhere so far from the estimate."""
            first, last = self.mean + side * near, self.mean + side * far
            lowest, highest = core.studentised.t_ranges_of_moments(
                drawn,
                n_units=self.n_units,
                n_listed=self._n_listed,
                first_shift=self.shift_of(first),
                last_shift=self.shift_of(last),
            )
            t = self.t_of(first)
            bound = t + side * _TIE_TOLERANCE * max(1.0, abs(t))
            return drawn[highest >= bound if side < 0 else lowest <= bound]

        # Where the end may lie, the outermost part last, and what may reach t there.
        farthest = _FARTHEST * self.error
        parts = [(0.0, farthest, moments)]
        while parts:
            near, far, drawn = parts.pop()
            left = reaching(drawn, near, far)
            if len(left) < rank:
                continue
            if far - near <= 1e-9 * max(self.error, near):
                return side * math.inf if far == farthest else self.mean + side * far
            middle = (near + far) / 2
            parts += [(near, middle, left), (middle, far, left)]
        return self.mean
