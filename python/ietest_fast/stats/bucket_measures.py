"""Measures of paraphrastic consistency as functions of a few sums over buckets.

The formulas are those of ``cpp/src/stats/bucket_bootstrap.cpp``, which computes the replicates; a
test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.buckets import BucketCounts

RATIO, BETWEEN, SHARE, LOWER_BOUND, UNBIASED_BETWEEN, UNBIASED_SHARE = range(6)

#: What the names of the second side's columns end in where two sides are compared.
OTHER = ", other"

_N_COLUMNS = 5


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How a measure is computed from sums."""

    formula: int
    """One of those above."""
    columns: tuple[str, ...]
    """Names of the sums that it takes."""
    least: float = 0.0
    most: float = 1.0
    """What it cannot exceed."""

    @property
    def sizes(self) -> str:
        """Name of the column that says how much of the measure a unit is."""
        if self.formula in (RATIO, SHARE, LOWER_BOUND):
            return self.columns[1]
        return self.columns[2] if self.formula == BETWEEN else self.columns[3]


def _ratio(
    numerator: str, denominator: str = "buckets", *, least: float = 0.0, most: float = 1.0
) -> Measure:
    return Measure(formula=RATIO, columns=(numerator, denominator), least=least, most=most)


_PAIRED = ("theta_paired", "theta_squared", "variance_of_theta", "paired", "variance_paired")

#: By name. P_C is 1 - 2 VAP, plug-in or unbiased, and is made of it (eq. 7).
MEASURES: Mapping[str, Measure] = {
    "accuracy_micro": _ratio("right", "paraphrases"),
    "accuracy_macro": _ratio("theta"),
    "lower_bound": Measure(formula=LOWER_BOUND, columns=("theta", "buckets")),
    "vap": _ratio("variance", most=0.25),
    "between": Measure(formula=BETWEEN, columns=("theta", "variance", "buckets"), most=0.25),
    "pvap": Measure(formula=SHARE, columns=("variance", "buckets", "right", "paraphrases")),
    "vap_unbiased": _ratio("variance_paired", "paired", most=0.5),
    "between_unbiased": Measure(formula=UNBIASED_BETWEEN, columns=_PAIRED, least=-1.0),
    "pvap_unbiased": Measure(formula=UNBIASED_SHARE, columns=_PAIRED),
    "agreement": _ratio("same"),
    "agreement_unbiased": _ratio("same_paired", "paired"),
    "flip_rate": _ratio("flipped", "beside_original"),
    "accuracy_original": _ratio("originals_right", "originals"),
    "accuracy_change": _ratio("theta_change", "originals", least=-1.0),
    "confidence_change": _ratio("confidence_change", "originals", least=-1.0),
    "confidence_distance": _ratio("confidence_distance", "originals"),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitTable:
    """What is drawn, buckets or clusters of them, by type."""

    columns: tuple[str, ...]
    """Names of the numbers that are summed."""
    values: NDArray[np.float64]
    """Shape (U, F), float64: those of each type."""
    weights: NDArray[np.int64]
    """Shape (U,), int64: how many units are of the type."""

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.weights.sum())

    @property
    def sums(self) -> NDArray[np.float64]:
        """Over all units, shape (F,)."""
        return np.asarray(self.weights @ self.values)

    def column(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of the types, shape (U,)."""
        return self.values[:, self.columns.index(name)]

    def restrict(self, names: tuple[str, ...]) -> UnitTable:
        """Return the table of some columns only: fewer numbers tell fewer types apart."""
        places = [self.columns.index(name) for name in names]
        return _merge(names, self.values[:, places], self.weights)

    def has(self, measure: Measure) -> bool:
        """Whether the sums of a measure are there."""
        return set(measure.columns) <= set(self.columns)


def tabulate(buckets: BucketCounts) -> UnitTable:
    """Compute the numbers of each unit that is drawn, and sort units into types."""
    columns = bucket_columns(buckets)
    return find_unit_types(columns, buckets.clusters, buckets.n_clusters)


def find_unit_types(
    columns: Mapping[str, NDArray[np.float64]],
    clusters: NDArray[np.int64] | None,
    n_clusters: int | None,
) -> UnitTable:
    """Sort units with numbers of shape (B,), or clusters of them, into types."""
    table = np.stack([*columns.values()], axis=1)
    if clusters is not None:
        table = np.stack(
            [np.bincount(clusters, weights=own, minlength=n_clusters or 0) for own in table.T],
            axis=1,
        )
    return _merge(tuple(columns), table, np.ones(len(table), dtype=np.int64))


def _merge(
    columns: tuple[str, ...], table: NDArray[np.float64], weights: NDArray[np.int64]
) -> UnitTable:
    """Put units together that have equal numbers."""
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    starts = np.ones(len(ordered), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.flatnonzero(starts)
    return UnitTable(
        columns=columns,
        values=np.ascontiguousarray(ordered[places]),
        weights=np.add.reduceat(weights[order], places),
    )


def bucket_columns(buckets: BucketCounts) -> dict[str, NDArray[np.float64]]:
    """Compute the numbers of each bucket by name, each of shape (B,)."""
    n, k, theta = buckets.sizes.astype(np.float64), buckets.right, buckets.theta
    paired = buckets.has_pairs.astype(np.float64)
    others = np.maximum(n - 1, 1)
    within = k * (n - k) / (n * others) * paired
    columns = {
        "buckets": np.ones(len(buckets)),
        "theta": theta,
        "variance": theta * (1 - theta),
        "right": k.astype(np.float64),
        "paraphrases": n,
        "paired": paired,
        "variance_paired": within,
        "theta_paired": theta * paired,
        "theta_squared": theta**2 * paired,
        "variance_of_theta": within / n,
    }
    if buckets.same is not None:
        columns["same"] = (buckets.same + n) / n**2
        columns["same_paired"] = buckets.same / (n * others)
    known = buckets.originals >= 0
    if known.any():
        columns["originals"] = known.astype(np.float64)
        columns["originals_right"] = (buckets.originals > 0).astype(np.float64)
        columns["theta_change"] = np.where(known, theta - buckets.originals, 0.0)
        columns["flipped"] = buckets.flipped.astype(np.float64)
        columns["beside_original"] = np.where(known, n, 0.0)
        if (
            buckets.confidence is not None
            and buckets.original_confidence is not None
            and buckets.confidence_distance is not None
        ):
            change = buckets.confidence - buckets.original_confidence
            columns["confidence_change"] = np.where(known, change, 0.0)
            columns["confidence_distance"] = np.where(known, buckets.confidence_distance, 0.0)
    return columns


def evaluate(measure: Measure, columns: tuple[str, ...], sums: NDArray[np.float64]) -> Any:
    """Compute a measure of sums of shape (..., F); NaN where it is not defined."""
    parts = [sums[..., columns.index(name)] for name in measure.columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        if measure.formula == RATIO:
            return _divide(parts[0], parts[1])
        if measure.formula == BETWEEN:
            theta, variance, n = parts
            return (theta - variance) / n - (theta / n) ** 2
        if measure.formula == SHARE:
            variance, n, right, answers = parts
            accuracy = right / answers
            return _divide(variance / n, accuracy * (1 - accuracy))
        if measure.formula == LOWER_BOUND:
            mean = parts[0] / parts[1]
            return mean**2 + (1 - mean) ** 2
        theta, squares, noise, n, variance = parts
        between = (squares - theta**2 / n) / (n - 1) - noise / n
        between = np.where(n < 2, np.nan, between)
        if measure.formula == UNBIASED_BETWEEN:
            return between
        within = variance / n
        return _divide(within, within + np.maximum(between, 0.0))


def _divide(numerator: Any, denominator: Any) -> Any:
    return np.where(denominator == 0, np.nan, numerator / denominator)


def evaluate_difference(
    measure: Measure, columns: tuple[str, ...], sums: NDArray[np.float64]
) -> Any:
    """Compute a measure of one side minus that of the other, of sums of shape (..., F)."""
    other = tuple(name.removesuffix(OTHER) if name.endswith(OTHER) else "" for name in columns)
    return evaluate(measure, columns, sums) - evaluate(measure, other, sums)


def to_core(
    measures: Sequence[Measure], columns: tuple[str, ...], *, are_differences: bool = False
) -> NDArray[np.int64]:
    """Write measures as the core wants them: formula and columns in a row each."""
    rows = []
    for measure in measures:
        row = [measure.formula]
        for suffix in ("", OTHER):
            if suffix and not are_differences:
                row += [-1] * _N_COLUMNS
                continue
            places = [columns.index(name + suffix) for name in measure.columns]
            row += places + [places[0]] * (_N_COLUMNS - len(places))
        rows.append(row)
    return np.array(rows, dtype=np.int64)
