"""The law of a sum of independent integers, and its tails, computed instead of simulated.

The terms come in types: all terms of a type have the same law. Sums of this kind are coins weighted
by doses, counts of changed answers, and cluster sums under random signs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

# Groups of pairs with a mark on some of them: what is likely if the marks fall at random.


#: The law is enumerated if that takes at most so many steps, about half a second.
MOST_STEPS = 2**24

#: Where the law is not enumerated, so many tables are drawn unless told otherwise.
DEFAULT_TABLES = 10_000

# Steps on the way to the last two groups, whose tables are kept and sorted.
_MOST_KEPT = 2**18

# Steps that are held in memory at a time.
_WEIGHTS_AT_ONCE = 2**16

# Numbers of tables that are held in memory at a time.
_DRAWN = 2**20
_COINS_DRAWN = 2**22


def tails_given_total(
    sizes: NDArray[np.int64],
    total: int,
    scores: Sequence[NDArray[np.int64]],
    observed: int,
) -> tuple[float, float] | None:
    """Compute P(Q <= observed) and P(Q >= observed) for Q = sum of scores[g][w_g], given W.

    Groups are added one by one, the smallest first. Tables that agree in the marks and in the
    score so far are one from then on. The number of marks in the last group is known from the
    others.
    """
    n = int(sizes.sum())
    if total in {0, n} or len(sizes) < 2:
        return 1.0, 1.0
    order = np.argsort(sizes, kind="stable")
    share = total / n
    marks = np.zeros(1, dtype=np.int64)
    values = np.zeros(1, dtype=np.int64)
    masses = np.ones(1)
    left, kept = n, 0
    for group in order[:-2]:
        k = int(sizes[group])
        left -= k
        low, high = max(0, total - (n - k)), min(k, total)
        kept += marks.size * (high - low + 1)
        if kept > _MOST_KEPT:
            return None
        w = np.arange(low, high + 1)
        own = binomial_masses(k, share, 1 - share)[w]
        marks = np.add.outer(marks, w).reshape(-1)
        values = np.add.outer(values, scores[group][w]).reshape(-1)
        masses = np.multiply.outer(masses, own).reshape(-1)
        possible = (marks <= total) & (marks >= total - left)
        marks, values, masses = _merge(marks[possible], values[possible], masses[possible])
    return _close(
        (marks, values, masses),
        first=int(order[-2]),
        last=int(order[-1]),
        sizes=sizes,
        total=total,
        scores=scores,
        observed=observed,
    )


def _merge(
    marks: NDArray[np.int64], values: NDArray[np.int64], masses: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    order = np.lexsort((values, marks))
    marks, values, masses = marks[order], values[order], masses[order]
    is_new = np.ones(marks.size, dtype=bool)
    is_new[1:] = (marks[1:] != marks[:-1]) | (values[1:] != values[:-1])
    starts = np.flatnonzero(is_new)
    return marks[starts], values[starts], np.add.reduceat(masses, starts)


def _close(
    so_far: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    *,
    first: int,
    last: int,
    sizes: NDArray[np.int64],
    total: int,
    scores: Sequence[NDArray[np.int64]],
    observed: int,
) -> tuple[float, float] | None:
    """Add the last two groups, a block at a time: nothing of their tables is kept."""
    marks, values, masses = so_far
    k, k_last = int(sizes[first]), int(sizes[last])
    share = total / int(sizes.sum())
    w = np.arange(min(k, total) + 1)
    if marks.size * w.size > MOST_STEPS:
        return None
    own = binomial_masses(k, share, 1 - share)[w]
    own_last = binomial_masses(k_last, share, 1 - share)
    score, score_last = scores[first][w], scores[last]
    whole = at_most = at_least = 0.0
    rows = max(1, _WEIGHTS_AT_ONCE // w.size)
    for start in range(0, marks.size, rows):
        block = slice(start, start + rows)
        rest = np.subtract.outer(total - marks[block], w)
        possible = (rest >= 0) & (rest <= k_last)
        rest = np.where(possible, rest, 0)
        value = np.add.outer(values[block], score) + score_last[rest]
        mass = np.multiply.outer(masses[block], own) * own_last[rest] * possible
        whole += float(mass.sum())
        at_most += float(mass[value <= observed].sum())
        at_least += float(mass[value >= observed].sum())
    return min(1.0, at_most / whole), min(1.0, at_least / whole)


def draw_tables(
    sizes: NDArray[np.int64], total: int, n_tables: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    """Draw the marks of each group given their total, in parts of shape (tables, G)."""
    generator = np.random.Generator(np.random.Philox(key=philox_key(seed)))
    per_part = max(1, _DRAWN // len(sizes))
    for start in range(0, n_tables, per_part):
        yield generator.multivariate_hypergeometric(
            sizes, total, size=min(per_part, n_tables - start), method="marginals"
        )


def draw_coins(
    counts: NDArray[np.int64], n_resamples: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    """Draw heads less tails of so many coins of each type, in parts of shape (replicates, U)."""
    generator = np.random.Generator(np.random.Philox(key=philox_key(seed)))
    per_part = max(1, _COINS_DRAWN // counts.size)
    for start in range(0, n_resamples, per_part):
        drawn = min(per_part, n_resamples - start)
        yield 2 * generator.binomial(counts, 0.5, size=(drawn, counts.size)) - counts


def heterogeneity_tail(marked: NDArray[np.int64], sizes: NDArray[np.int64]) -> float | None:
    """Compute P(Pearson's statistic >= the observed one), exactly; None if that takes too long.

    With both margins given the statistic grows with the sum of w_g²/k_g. Over a common denominator
    that is an integer, so that tables as far from H0 as the observed one are counted, and not left
    to rounding.
    """
    weights = _integer_weights(sizes)
    if weights is None:
        return None
    scores = [c * np.arange(k + 1) ** 2 for c, k in zip(weights, sizes.tolist(), strict=True)]
    observed = sum(c * w * w for c, w in zip(weights, marked.tolist(), strict=True))
    tails = tails_given_total(sizes, int(marked.sum()), scores, observed)
    return None if tails is None else tails[1]


def count_heterogeneous(
    marked: NDArray[np.int64], sizes: NDArray[np.int64], *, n_tables: int, seed: int
) -> int:
    """Draw tables, and count those that are as far from H0 as the observed one."""
    weights = _integer_weights(sizes)
    reached = 0
    if weights is not None:
        exact = np.array(weights, dtype=np.int64)
        observed = int((exact * marked**2).sum())
        for tables in draw_tables(sizes, int(marked.sum()), n_tables, seed):
            reached += int((tables**2 @ exact >= observed).sum())
        return reached
    # Floating point tells tables apart unless they are very close; those are done in integers.
    common = math.lcm(*sizes.tolist())
    whole = [common // k for k in sizes.tolist()]
    aim = sum(c * w * w for c, w in zip(whole, marked.tolist(), strict=True))
    about = float((marked**2 / sizes).sum())
    for tables in draw_tables(sizes, int(marked.sum()), n_tables, seed):
        gap = tables**2 @ (1 / sizes) - about
        close = np.abs(gap) <= 1e-9 * about
        reached += int((gap[~close] > 0).sum())
        reached += sum(
            sum(c * w * w for c, w in zip(whole, row, strict=True)) >= aim
            for row in tables[close].tolist()
        )
    return reached


def _integer_weights(sizes: NDArray[np.int64]) -> list[int] | None:
    """Return the common denominator over each k_g; None if sums would overflow."""
    common = math.lcm(*sizes.tolist())
    if common * int(sizes.sum()) >= 2**62:
        return None
    return [common // k for k in sizes.tolist()]


#: A law of more values than this is refused: its transform would take gigabytes.
MAX_VALUES = 2**26

# Minus the logarithm of the probability that lies outside the window of a transform.
_LOG_OUTSIDE = 50.0

# Minus the logarithm of what is left out of a transform: its sum over all frequencies stays far
# below the rounding errors of what remains.
_LOG_NOTHING = 80.0

# exp() of more than this is near infinity.
_MOST_EXPONENT = 700.0

# Values of exp(i x) that are computed at once.
_BLOCK = 2**20


def upper_tail(
    supports: Sequence[ArrayLike], masses: Sequence[ArrayLike], counts: ArrayLike, observed: int
) -> float:
    """Compute P(sum >= observed) for a sum of independent integer variables.

    The relative error is below 1e-9 for tails down to 1e-250: see :func:`tails_of_sum`.
    """
    return tails_of_sum(supports, masses, counts, observed)[1]


def tails_of_sum(
    supports: Sequence[ArrayLike], masses: Sequence[ArrayLike], counts: ArrayLike, observed: int
) -> tuple[float, float]:
    r"""Compute P(sum <= observed) and P(sum >= observed), with all digits of the smaller one.

    A Fourier transform alone has absolute errors, which swallow a deep tail. So every term is
    first tilted exponentially, its mass at x being multiplied by exp(lambda x) / M(lambda), where
    lambda makes the mean of the sum the observed value (Esscher 1932). With K the cumulant
    generating function of the sum and the tilted probabilities marked,

    .. math:: P(S \ge s) = e^{K(\lambda) - \lambda s}
              \sum_{y \ge s} e^{-\lambda (y - s)} P_\lambda(S = y),

    and the sum has its largest terms where the tilted law has its largest masses.
    """
    terms = _Terms.of(supports, masses, counts)
    observed = int(observed)
    if observed > terms.most:
        return 1.0, 0.0
    if observed < terms.least:
        return 0.0, 1.0
    if terms.least == terms.most:
        return 1.0, 1.0
    if observed >= terms.mean():
        beyond, there = _tail(terms, observed)
        return min(1.0, max(0.0, 1 - beyond) + there), beyond
    beyond, there = _tail(terms.negated(), -observed)
    return beyond, min(1.0, max(0.0, 1 - beyond) + there)


def binomial_masses(n: int, p: float, q: float) -> NDArray[np.float64]:
    """Compute the masses of Binomial(n, p), shape (n + 1,), each with a small relative error.

    Neighbours are found from each other, from the mode outwards, and no term is subtracted.
    """
    mode = min(n, math.floor((n + 1) * p))
    masses = np.ones(n + 1)
    up = np.arange(mode, n)
    masses[mode + 1 :] = np.cumprod((n - up) / (up + 1) * (p / q))
    down = np.arange(mode, 0, -1)
    masses[:mode] = np.cumprod(down / (n - down + 1) * (q / p))[::-1]
    return masses / math.fsum(masses.tolist())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tilted:
    """Types under exponential tilting; see :func:`tails_of_sum`."""

    rate: float
    """lambda."""
    masses: list[NDArray[np.float64]]
    """One array for each type."""
    shifts: NDArray[np.int64]
    """Shape (U,): the integer nearest to each type's mean."""
    log_moments: NDArray[np.float64]
    """Shape (U,): the logarithm of E exp(lambda (X - shift))."""
    mean: float
    variance: float
    """Of the sum."""
    variances: NDArray[np.float64]
    """Shape (U,), of one term."""
    reach: float
    """The largest distance of any value to the mean of its type."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Terms:
    """Checked types, those without terms left out."""

    supports: list[NDArray[np.int64]]
    masses: list[NDArray[np.float64]]
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls, supports: Sequence[ArrayLike], masses: Sequence[ArrayLike], counts: ArrayLike
    ) -> _Terms:
        numbers = _as_integers(counts, "counts")
        if not len(supports) == len(masses) == numbers.size:
            raise InputError(
                f"there are {len(supports)} supports, {len(masses)} arrays of masses and "
                f"{numbers.size} counts; each type needs one of each"
            )
        if (numbers < 0).any():
            raise InputError("a type cannot have fewer than 0 terms")
        kept: tuple[list[Any], list[Any]] = ([], [])
        for support, mass in zip(supports, masses, strict=True):
            values, shares = _check_law(support, mass)
            kept[0].append(values)
            kept[1].append(shares)
        there = np.flatnonzero(numbers).tolist()
        return cls(
            supports=[kept[0][u] for u in there],
            masses=[kept[1][u] for u in there],
            counts=numbers[there],
        )

    @property
    def least(self) -> int:
        return sum(int(x[0]) * c for x, c in zip(self.supports, self.counts.tolist(), strict=True))

    @property
    def most(self) -> int:
        return sum(int(x[-1]) * c for x, c in zip(self.supports, self.counts.tolist(), strict=True))

    def mean(self) -> float:
        means = [float(x @ m) for x, m in zip(self.supports, self.masses, strict=True)]
        return math.fsum(c * mean for c, mean in zip(self.counts.tolist(), means, strict=True))

    def negated(self) -> _Terms:
        return _Terms(
            supports=[-x[::-1] for x in self.supports],
            masses=[m[::-1] for m in self.masses],
            counts=self.counts,
        )

    def tilt(self, rate: float) -> _Tilted:
        masses, shifts, log_moments, means, variances = [], [], [], [], []
        reach = 0.0
        for x, mass in zip(self.supports, self.masses, strict=True):
            weights, log_moment = _tilt_one(x, mass, rate, int(x[-1]) if rate > 0 else int(x[0]))
            mean = float(x @ weights)
            shift = round(mean)
            if rate != 0:  # again from the middle, where the logarithm is smallest
                weights, log_moment = _tilt_one(x, mass, rate, shift)
            masses.append(weights)
            shifts.append(shift)
            log_moments.append(log_moment)
            means.append(mean)
            variances.append(float(np.square(x - mean) @ weights))
            reach = max(reach, float(x[-1]) - mean, mean - float(x[0]))
        counts = self.counts.astype(np.float64)
        return _Tilted(
            rate=rate,
            masses=masses,
            shifts=np.array(shifts, dtype=np.int64),
            log_moments=np.array(log_moments),
            mean=math.fsum((counts * means).tolist()),
            variance=math.fsum((counts * variances).tolist()),
            variances=np.array(variances),
            reach=reach,
        )


def _tilt_one(
    x: NDArray[np.int64], mass: NDArray[np.float64], rate: float, shift: int
) -> tuple[NDArray[np.float64], float]:
    """Return the tilted masses, and log E exp(rate (X - shift))."""
    exponents = rate * (x - shift)
    if np.abs(exponents).max() < _MOST_EXPONENT:
        weights, largest = mass * np.exp(exponents), 0.0
    else:
        exponents += np.log(mass)
        largest = float(exponents.max())
        weights = np.exp(exponents - largest)
    total = math.fsum(weights.tolist())
    return weights / total, largest + math.log(total)


def _check_law(support: ArrayLike, mass: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return different values in ascending order and their masses, none of them 0."""
    values = _as_integers(support, "supports")
    shares = np.asarray(mass, dtype=np.float64)
    if shares.shape != values.shape or values.size == 0:
        raise InputError(
            f"a law needs a mass for each of its values, not {values.size} values and "
            f"{shares.size} masses"
        )
    total = math.fsum(shares.tolist())
    if not (shares >= 0).all() or abs(total - 1) > 1e-9:
        raise InputError(f"masses must be 0 or more and sum to 1, not to {total:.12g}")
    distinct, places = np.unique(values, return_inverse=True)
    summed = np.bincount(places, weights=shares / total, minlength=distinct.size)
    there = summed > 0
    return distinct[there], summed[there]


def _as_integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    integers = array.astype(np.int64)
    if array.ndim != 1 or not np.array_equal(integers, array):
        raise InputError(f"{name} must hold integers, one for each place")
    return integers


def _tail(terms: _Terms, observed: int) -> tuple[float, float]:
    """Return P(sum >= observed) and P(sum = observed), observed being the mean or above it."""
    if observed == terms.most:
        logs = [math.log(float(mass[-1])) for mass in terms.masses]
        there = math.exp(
            math.fsum(c * log for c, log in zip(terms.counts.tolist(), logs, strict=True))
        )
        return there, there
    tilted = _tilt_to(terms, observed)
    first, law = _law_in_window(terms, tilted)
    log_scale = math.fsum((terms.counts * tilted.log_moments).tolist())
    centre = sum(
        c * shift for c, shift in zip(terms.counts.tolist(), tilted.shifts.tolist(), strict=True)
    )
    log_scale += tilted.rate * (centre - observed)
    start = observed - first
    beyond = law[start:]
    weights = np.exp(-tilted.rate * np.arange(beyond.size))
    scale = math.exp(log_scale)
    return min(1.0, scale * max(0.0, float(beyond @ weights))), scale * max(0.0, float(law[start]))


def _tilt_to(terms: _Terms, observed: int) -> _Tilted:
    """Tilt so far that the mean is near the observed value, which is less than the largest."""
    below, tilted = 0.0, terms.tilt(0.0)
    above = math.inf
    rate = 0.0
    while abs(observed - tilted.mean) > 0.05 * math.sqrt(tilted.variance):
        if tilted.mean < observed:
            below = rate
        else:
            above = rate
        # Newton's step, unless it leaves the bracket.
        step = (observed - tilted.mean) / tilted.variance if tilted.variance > 0 else math.inf
        rate += step
        if not below < rate < above:
            rate = 2 * below + 1e-3 if math.isinf(above) else (below + above) / 2
            if rate in (below, above):
                break
        elif math.isinf(above) and below > 0:
            rate = min(rate, 4 * below)
        tilted = terms.tilt(rate)
    return tilted


def _law_in_window(terms: _Terms, tilted: _Tilted) -> tuple[int, NDArray[np.float64]]:
    """Return the first value and the masses of the tilted sum, wherever it is likely to lie."""
    from scipy.fft import next_fast_len

    # Bernstein's inequality for a sum of independent, bounded and centred terms.
    linear = _LOG_OUTSIDE * tilted.reach / 3
    away = linear + math.sqrt(linear * linear + 2 * _LOG_OUTSIDE * tilted.variance)
    first = max(terms.least, math.floor(tilted.mean - away))
    last = min(terms.most, math.ceil(tilted.mean + away))
    if last - first >= MAX_VALUES:
        raise InputError(
            f"the law of the sum has {last - first + 1:,} values that matter, more than "
            f"{MAX_VALUES:,}: divide the values by a common factor, or round them"
        )
    length = int(next_fast_len(last - first + 1, real=True))
    law = np.fft.irfft(_transform(terms, tilted, length), length)
    centre = sum(
        c * shift for c, shift in zip(terms.counts.tolist(), tilted.shifts.tolist(), strict=True)
    )
    law = np.roll(law, (centre - first) % length)
    return first, law[: last - first + 1]


def _transform(terms: _Terms, tilted: _Tilted, length: int) -> NDArray[np.complex128]:
    """Return the discrete Fourier transform of the law of the sum minus its types' shifts.

    It is the product of the types' transforms to the power of their counts, and next to nothing at
    most frequencies if there are many terms. These are left out as soon as they are known, so that
    the first types cost most: those that spread the sum most come first.
    """
    n_frequencies = length // 2 + 1
    places = np.arange(n_frequencies)
    log_size, turn = np.zeros(n_frequencies), np.zeros(n_frequencies)
    for u in np.argsort(-terms.counts * tilted.variances, kind="stable").tolist():
        x = terms.supports[u] - tilted.shifts[u]
        one, angle = _transform_one(x, tilted.masses[u], places, length)
        log_size += int(terms.counts[u]) * one
        turn += int(terms.counts[u]) * angle
        there = log_size > -_LOG_NOTHING
        if 2 * int(there.sum()) < there.size:
            places, log_size, turn = places[there], log_size[there], turn[there]
    transform = np.zeros(n_frequencies, dtype=np.complex128)
    with np.errstate(under="ignore"):
        transform[places] = np.exp(log_size) * (np.cos(turn) + 1j * np.sin(turn))
    return transform


def _transform_one(
    x: NDArray[np.int64], mass: NDArray[np.float64], places: NDArray[np.int64], length: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithm of the size and the angle of a transform at some frequencies."""
    if places.size * x.size > 4 * length * max(1, length.bit_length()):
        one = np.bincount(x % length, weights=mass, minlength=length)
        values = np.fft.rfft(one)[places]
        real, imaginary = values.real - 1, values.imag
    else:
        real, imaginary = np.empty(places.size), np.empty(places.size)
        rows = max(1, _BLOCK // x.size)
        for start in range(0, places.size, rows):
            block = slice(start, start + rows)
            # In integers modulo the length, so that no large angle is rounded.
            angle = (2 * np.pi / length) * (np.outer(places[block], x) % length)
            real[block] = -2 * (np.sin(angle / 2) ** 2 @ mass)
            imaginary[block] = -(np.sin(angle) @ mass)
    # Minus 1, the transform keeps all digits of its logarithm near 1; as it is, those near 0.
    squared = real * (2 + real) + imaginary**2
    with np.errstate(divide="ignore"):  # a transform of 0 has the logarithm -inf
        log_size = np.where(
            squared < -0.5,
            np.log(np.hypot(1 + real, imaginary)),
            0.5 * np.log1p(np.maximum(squared, -0.5)),
        )
    return log_size, np.arctan2(imaginary, 1 + real)
