"""Units, types and sums: what the resampling tests on scores and clusters have in common.

A *unit* is what is drawn and swapped as a whole: a pair of rows, or a cluster of them. Its values
(one for each classifier) are the sums of its rows' differences. Units with equal values, up to
the sign that a coin decides anyway, are of one *type*.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
MAX_RESAMPLES = 2**63 - 1
FEW_UNITS = 25
#: Where units differ in size, and tell no more than so many equal ones, a few decide.
FEW_DECIDING = 10.0

# Equal values leave a spread of rounding errors: as t_of in cpp/src/stats/scores.cpp has it.
RELATIVE_ROUNDING = 2.0**-22
_NO_SPREAD = RELATIVE_ROUNDING**2
_MAX_EXACT_SUM = 2.0**26  # its square is below 2**53


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitTypes:
    """The units of a paired sample, sorted into types."""

    values: NDArray[np.float64]
    """Shape (M, U), float64: the values of each type; the first that is not 0 is positive. Those of
    a column are divided by a power of 2 unless all are exact."""
    weights: NDArray[np.int64]
    """Shape (U,), int64: how many units are of the type. Units whose values are all 0 are none."""
    n_units: int
    """How many units there are, those without a type included."""
    sums: NDArray[np.float64]
    """Shape (M, 2): of the units' values, and of their squares, in the unit of ``values``."""
    t: NDArray[np.float64]
    """Shape (M,): the paired t of each column, with the units as observations; infinite where their
    values are the same but for rounding errors."""
    exact: bool
    """Whether all values are integers so small that no sum over units is ever rounded."""

    @property
    def n_types(self) -> int:
        """U."""
        return int(self.weights.size)

    @property
    def n_nonzero(self) -> int:
        """How many units have a value but 0."""
        return int(self.weights.sum())

    @property
    def n_deciding(self) -> NDArray[np.float64]:
        """Shape (M,): how many units of equal values would tell as much; 0 where all are 0."""
        return np.array([count_equal(np.square(own), self.weights) for own in self.values])


def count_equal(sizes: NDArray[np.float64], times: NDArray[np.int64] | None = None) -> float:
    """Compute how many equal sizes are worth as much: ``sum(x)**2 / sum(x**2)`` (Kish 1965)."""
    largest = sizes.max(initial=0.0)
    if largest == 0:
        return 0.0
    shares = sizes / largest
    weights = np.ones_like(shares) if times is None else times
    return float((weights @ shares) ** 2 / (weights @ np.square(shares)))


def skewness_of_mean(centred: NDArray[np.float64]) -> float:
    """Compute the skewness of a mean: ``sum(e**3) / sum(e**2)**1.5``."""
    largest = np.abs(centred).max(initial=0.0)
    if largest == 0:
        return 0.0
    e = centred / largest
    return float((e**3).sum() / np.square(e).sum() ** 1.5)


def say_too_skewed(skewness: float, *, trusted_below: float, unit: str) -> str:
    """Say that differences are too skewed for a test of their mean."""
    return (
        f"the differences are too skewed for their number (skewness of the mean {skewness:+.2f}; "
        f"trusted below {trusted_below:g}): a few {unit} decide, and p-values and intervals may be "
        "too small"
    )


def warn_of_large_units(n_deciding: float, unit: str) -> str | None:
    """Say that a few units decide, if they do."""
    if not 0 < n_deciding < FEW_DECIDING:
        return None
    return (
        f"a few {unit} decide: together, the {unit} tell as much as {n_deciding:.1f} of equal size "
        f"would; below {FEW_DECIDING:g} the test may reject too often"
    )


def sum_clusters(
    original: NDArray[np.float64],
    transformed: NDArray[np.float64],
    codes: NDArray[np.int64],
    n_clusters: int,
) -> NDArray[np.float64]:
    """Add up the differences of each cluster's rows, original minus transformed."""
    differences = original - transformed
    sums = np.empty((n_clusters, differences.shape[1]))
    for column in range(differences.shape[1]):
        total = np.bincount(codes, weights=differences[:, column], minlength=n_clusters)
        error = np.zeros(n_clusters)
        for scores in (original, transformed):
            terms = 8 * np.finfo(np.float64).eps * np.abs(scores[:, column])
            error += np.bincount(codes, weights=terms, minlength=n_clusters)
        total[np.abs(total) <= error] = 0
        sums[:, column] = total
    return sums


def design_effect(
    differences: NDArray[np.float64], codes: NDArray[np.int64], n_clusters: int
) -> float | None:
    r"""Give the variance of the mean difference by clusters over that by independent pairs.

    With clusters the mean is a ratio of two random sums, that of the differences and that of the
    sizes. Both variances are unbiased,

    .. math::
        \frac{C}{C - 1} \sum_c \Bigl(\sum_{i \in c} (d_i - \delta)\Bigr)^2 \Big/
        \frac{n}{n - 1} \sum_i (d_i - \delta)^2,

    so that pairs that are clusters of their own have a design effect of 1.
    """
    n = differences.size
    if np.ptp(differences) == 0:
        return None
    centred = differences - differences.mean()
    within = n / (n - 1) * float(np.square(centred).sum())
    sums = np.bincount(codes, weights=centred, minlength=n_clusters)
    return n_clusters / (n_clusters - 1) * float(np.square(sums).sum()) / within


def sort_into_types(units: NDArray[np.float64]) -> UnitTypes:
    """Find the types of units with values of shape (n_units, M)."""
    n_units, n_columns = units.shape
    largest = float(np.abs(units).max(initial=0.0))
    is_integer = bool((units == np.rint(units)).all())
    exact = is_integer and n_units * largest <= _MAX_EXACT_SUM
    if not exact:
        # No test depends on the unit of the scores; a power of 2 rounds nothing, and keeps the
        # squares of very large and very small scores within a double's range. Each column has a
        # unit of its own: what is small beside one classifier's scores is not so beside another's.
        units = np.column_stack([to_squarable(column)[0] for column in units.T])
    sums = np.array(
        [[_sum(column, exact=exact), _sum(column * column, exact=exact)] for column in units.T]
    ).reshape(n_columns, 2)
    t = np.array(
        [_paired_t(column, *own, exact=exact) for column, own in zip(units.T, sums, strict=True)]
    )
    nonzero = units[(units != 0).any(axis=1)]
    values, weights = _distinct(nonzero)
    return UnitTypes(
        values=np.ascontiguousarray(values.T),
        weights=weights,
        n_units=n_units,
        sums=sums,
        t=t,
        exact=exact,
    )


def _distinct(nonzero: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct rows up to their sign, the first value that is not 0 being made positive."""
    if nonzero.shape[1] == 1:
        values, counts = np.unique(np.abs(nonzero[:, 0]), return_counts=True)
        return values[:, None], counts.astype(np.int64)
    first = (nonzero != 0).argmax(axis=1)
    signs = np.sign(nonzero[np.arange(nonzero.shape[0]), first])
    positive = nonzero * signs[:, None] + 0.0  # no -0, which would be a value of its own
    return merge_rows(positive, np.ones(len(positive), dtype=np.int64))


def merge_rows(
    table: NDArray[np.float64], weights: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Put equal rows together, and add up their weights."""
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    starts = np.ones(len(ordered), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.flatnonzero(starts)
    return ordered[places], np.add.reduceat(weights[order], places)


def to_squarable(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Bring values into a unit in which their squares are neither infinite nor all 0."""
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent


def have_no_spread(spread: float, squares: float) -> bool:
    """Say whether values are all the same but for rounding errors."""
    return spread <= _NO_SPREAD * squares


def _sum(values: NDArray[np.float64], *, exact: bool) -> float:
    # Where no partial sum is rounded, the order is of no account and NumPy's is the fastest.
    return float(values.sum()) if exact else math.fsum(values)


def _paired_t(column: NDArray[np.float64], total: float, squares: float, *, exact: bool) -> float:
    n = column.size
    if total == 0 or squares == 0:
        return 0.0
    if exact:
        spread = float(n * int(squares) - int(total) ** 2)
    else:
        spread = n * math.fsum((column - total / n) ** 2)
    if have_no_spread(spread, n * squares):
        return math.copysign(math.inf, total)
    return total * math.sqrt(n) / math.sqrt(spread)


def check_options(*, alternative: str, n_resamples: int, n_threads: int | None = None) -> None:
    """Refuse options that no resampling test understands."""
    if alternative not in ALTERNATIVES:
        raise InputError(
            f"alternative must be one of {', '.join(ALTERNATIVES)}, not {alternative!r}"
        )
    for name, value in (("n_resamples", n_resamples), ("n_threads", n_threads)):
        if value is None and name == "n_threads":
            continue
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise InputError(f"{name} must be an integer, not {value!r}")
    if not 1 <= n_resamples <= MAX_RESAMPLES:
        raise InputError(f"n_resamples must be at least 1 and at most 2**63 - 1, not {n_resamples}")
    if n_threads is not None and n_threads < 1:
        raise InputError(f"n_threads must be at least 1, not {n_threads}")


def check_quantiles(quantiles: Sequence[float]) -> tuple[float, ...]:
    """Give quantile levels as floats."""
    levels = tuple(float(level) for level in quantiles)
    for level in levels:
        if not 0 <= level <= 1:
            raise InputError(f"a quantile must lie in [0, 1], not {level}")
    return levels


def monte_carlo_p(alternative: Alternative, at_most: int, at_least: int, n_resamples: int) -> float:
    """p-value from the numbers of replicates with t* <= t and t* >= t, in the (c+1)/(S+1) form."""
    return choose_tail(
        alternative, (at_most + 1) / (n_resamples + 1), (at_least + 1) / (n_resamples + 1)
    )


def choose_tail(alternative: Alternative, at_most: float, at_least: float) -> float:
    """Return the tail of a one-sided alternative, or twice the smaller one."""
    if alternative == "greater":
        return at_least
    if alternative == "less":
        return at_most
    return min(1.0, 2 * min(at_most, at_least))
