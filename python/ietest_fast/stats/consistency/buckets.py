"""Buckets: items in several wordings, and how a classifier answers each."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.flips import FlipResult, flip_test
from ietest_fast.stats.inputs import (
    as_clusters,
    as_column,
    as_outcomes,
    as_scores,
    check_label_kinds,
    check_shares,
    in_one_order,
)
from ietest_fast.stats.matched import MatchedSample
from ietest_fast.stats.resampling import merge_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class BucketCounts:
    """Answers to the paraphrases of items, counted by item.

    A bucket is an item with its paraphrases (Srikanth et al. 2024). The original wording is no
    paraphrase of itself: it is kept apart.
    """

    names: NDArray[Any]
    """Shape (B,): the buckets that have a paraphrase, in order of occurrence."""
    sizes: NDArray[np.int64]
    """Shape (B,), int64: how many paraphrases a bucket has, n."""
    right: NDArray[np.int64]
    """Shape (B,), int64: how many of them are answered right, k."""
    same: NDArray[np.int64] | None
    """Shape (B,), int64: ordered pairs of different paraphrases with the same answer, right or
    wrong; None if answers are not known."""
    originals: NDArray[np.int8]
    """Shape (B,), int8: 1 if the original is answered right, 0 if wrong, -1 if there is none."""
    flipped: NDArray[np.int64]
    """Shape (B,), int64: paraphrases whose answer is not that to the original; if answers are not
    known, those that are right where it is wrong, or wrong where it is right. 0 where there is no
    original."""
    confidence: NDArray[np.float64] | None
    original_confidence: NDArray[np.float64] | None
    """Shape (B,), float64: mean confidence in the gold label over the paraphrases, and that of the
    original (NaN where there is none); None if not known."""
    confidence_distance: NDArray[np.float64] | None
    """Shape (B,), float64: mean distance of the paraphrases' confidence to the original's."""
    clusters: NDArray[np.int64] | None
    """Shape (B,), int64: the cluster of each bucket, 0 to C - 1; None if buckets are
    independent."""
    n_clusters: int | None
    """C, or None."""
    n_without_paraphrases: int
    """Buckets that have nothing but an original; they are left out."""

    def __len__(self) -> int:
        return int(self.sizes.size)

    @property
    def n_paraphrases(self) -> int:
        """Paraphrases in all buckets."""
        return int(self.sizes.sum())

    @cached_property
    def theta(self) -> NDArray[np.float64]:
        """Accuracy of each bucket, shape (B,)."""
        return np.asarray(self.right / self.sizes)

    @cached_property
    def has_pairs(self) -> NDArray[np.bool_]:
        """Whether a bucket has two paraphrases, which can be compared; shape (B,)."""
        return np.asarray(self.sizes >= 2)

    @property
    def splits(self) -> NDArray[np.bool_]:
        """Whether a bucket has right and wrong answers, shape (B,)."""
        return np.asarray((self.right > 0) & (self.right < self.sizes))

    @cached_property
    def pair_consistency(self) -> NDArray[np.float64]:
        """Share of pairs of different paraphrases of the same correctness; NaN without a pair."""
        wrong = self.sizes - self.right
        return self._share_of_pairs(self.right * (self.right - 1) + wrong * (wrong - 1))

    @cached_property
    def pair_agreement(self) -> NDArray[np.float64] | None:
        """Share of pairs of different paraphrases with the same answer; NaN without a pair."""
        return None if self.same is None else self._share_of_pairs(self.same)

    def _share_of_pairs(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        possible = self.sizes * (self.sizes - 1)
        shares = np.full(len(self), np.nan)
        np.divide(pairs, possible, out=shares, where=possible > 0)
        return shares

    def take(self, places: NDArray[Any]) -> BucketCounts:
        """Return some of the buckets, by their places or a mask.

        Raises
        ------
        InputError
            If no bucket is left.
        """
        if not self.names[places].size:
            raise InputError("no bucket is left")
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        columns: dict[str, Any] = {
            name: own[places] for name, own in known.items() if isinstance(own, np.ndarray)
        }
        if self.clusters is not None:
            found, columns["clusters"] = np.unique(self.clusters[places], return_inverse=True)
            columns["n_clusters"] = int(found.size)
        return replace(self, **columns, n_without_paraphrases=0)


@in_one_order
def count_buckets(
    buckets: Any,
    correct: Any,
    *,
    is_original: Any = None,
    answers: Any = None,
    gold: Any = None,
    confidence: Any = None,
    clusters: Any = None,
) -> BucketCounts:
    """Count the answers of a table with one row for each wording by bucket.

    Parameters
    ----------
    buckets
        Shape (n,), labels: which item a row is a wording of.
    correct
        Shape (n,), 0 or 1: whether the answer is right.
    is_original
        Shape (n,), 0 or 1: which rows are the original wording, at most one in a bucket. None: all
        rows are paraphrases.
    answers
        Shape (n,), labels: what the classifier answers.
    gold
        Shape (n,), labels; a bucket has the same one in every row. With `answers`, it has to agree
        with `correct`.
    confidence
        Shape (n,), in [0, 1]: the classifier's confidence in the gold label.
    clusters
        Shape (n,), labels: what buckets have in common, such as a source text. A bucket lies in one
        cluster.

    Raises
    ------
    InputError
        If a value is missing or of the wrong kind, lengths differ, a bucket has two originals, two
        gold labels or two clusters, there is no paraphrase, or `correct` says otherwise than
        `answers` and `gold`.
    """
    right = as_outcomes(correct, "correct")
    n = right.size
    codes, names = _number_buckets(buckets, n)
    original = np.zeros(n, dtype=bool)
    if is_original is not None:
        original = as_outcomes(is_original, "is_original")
        _check_length(original, n, "is_original")
    times = np.bincount(codes[original], minlength=names.size)
    if (times > 1).any():
        first = int(np.flatnonzero(times > 1)[0])
        raise InputError(
            f"bucket {_shown(names[first])} has {times[first]} originals; is_original may mark one "
            "row of a bucket"
        )
    if gold is not None:
        (truth,) = check_label_kinds(gold=gold)
        _check_length(truth, n, "gold")
        _check_constant(truth, codes, names, "gold labels; all wordings of an item share one label")
        if answers is not None:
            _check_right(right, *check_label_kinds(answers=answers, gold=gold))
    paraphrases = np.flatnonzero(~original)
    sizes = np.bincount(codes[paraphrases], minlength=names.size)
    kept = np.flatnonzero(sizes)
    if not kept.size:
        raise InputError("there is no paraphrase: every row is an original")
    of_original = np.full(names.size, -1, dtype=np.int8)
    of_original[codes[original]] = right[original]
    same, responses = None, right.astype(np.int64)
    if answers is not None:
        (given,) = check_label_kinds(answers=answers)
        _check_length(given, n, "answers")
        _, responses = np.unique(given, return_inverse=True)
        same = _count_same(responses[paraphrases], codes[paraphrases], names.size)[kept]
    first_response = np.full(names.size, -1, dtype=np.int64)
    first_response[codes[original]] = responses[original]
    own = first_response[codes[paraphrases]]
    flips = codes[paraphrases[(own >= 0) & (responses[paraphrases] != own)]]
    means, own_confidence, distances = None, None, None
    if confidence is not None:
        found_confidences = _confidences(confidence, codes, original, names.size, n)
        means, own_confidence, distances = (each[kept] for each in found_confidences)
    cluster_codes, n_clusters = None, None
    if clusters is not None:
        of_row, _ = as_clusters(clusters, n)
        _check_constant(
            of_row, codes, names, "clusters; whole buckets are drawn, so a bucket lies in one"
        )
        of_bucket = np.zeros(names.size, dtype=np.int64)
        of_bucket[codes] = of_row
        found, cluster_codes = np.unique(of_bucket[kept], return_inverse=True)
        n_clusters = int(found.size)
    k = np.bincount(codes[paraphrases], weights=right[paraphrases], minlength=names.size)
    return BucketCounts(
        names=names[kept],
        sizes=sizes[kept].astype(np.int64),
        right=k[kept].astype(np.int64),
        same=same,
        originals=of_original[kept],
        flipped=np.bincount(flips, minlength=names.size)[kept].astype(np.int64),
        confidence=means,
        original_confidence=own_confidence,
        confidence_distance=distances,
        clusters=cluster_codes,
        n_clusters=n_clusters,
        n_without_paraphrases=int(names.size - kept.size),
    )


def _number_buckets(labels: Any, n: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    column = as_column(labels, "buckets")
    _check_length(column, n, "buckets")
    if column.size == 0:
        raise InputError("there are no answers")
    if column.size > 1 and (column != column[0]).any():
        codes, _ = as_clusters(labels, n, "buckets")
    else:  # as_clusters wants two
        codes = np.zeros(n, dtype=np.int64)
    _, first = np.unique(codes, return_index=True)
    return codes, column[first]


def _check_length(column: NDArray[Any], n: int, name: str) -> None:
    if column.shape[0] != n:
        raise InputError(f"{name} has {column.shape[0]} rows, but correct has {n}")


def _check_constant(
    values: NDArray[Any], codes: NDArray[np.int64], names: NDArray[Any], what: str
) -> None:
    """Refuse a bucket with two values."""
    _, first = np.unique(codes, return_index=True)
    differs = np.flatnonzero(values != values[first[codes]])
    if differs.size:
        row = int(differs[0])
        n_mixed = int(np.unique(codes[differs]).size)
        raise InputError(
            f"{say_count(n_mixed, 'bucket has', 'buckets have')} several {what}. The first is "
            f"{_shown(names[codes[row]])}, with "
            f"{_shown(values[first[codes[row]]])} and {_shown(values[row])}",
            row=f"row {row}",
        )


def _check_right(right: NDArray[np.bool_], given: NDArray[Any], truth: NDArray[Any]) -> None:
    """Refuse answers that are right by one column and wrong by two others."""
    _check_length(given, right.size, "answers")
    wrong = np.flatnonzero((given == truth) != right)
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"correct says otherwise than answers and gold in {say_count(wrong.size, 'row')} of "
            f"{right.size:,}: there it is {int(right[row])}, the answer {_shown(given[row])} and "
            f"the gold label {_shown(truth[row])}; mend what is wrong, or leave gold out",
            row=f"row {row}",
        )


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def _count_same(
    labels: NDArray[np.int64], codes: NDArray[np.int64], n_buckets: int
) -> NDArray[np.int64]:
    """Count ordered pairs of different rows of a bucket with the same answer, shape (B,)."""
    keys, counts = np.unique(codes * (int(labels.max()) + 1) + labels, return_counts=True)
    of_bucket = keys // (int(labels.max()) + 1)
    pairs = np.bincount(of_bucket, weights=counts * (counts - 1), minlength=n_buckets)
    return np.asarray(np.rint(pairs), dtype=np.int64)


def _confidences(
    values: Any,
    codes: NDArray[np.int64],
    original: NDArray[np.bool_],
    n_buckets: int,
    n: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    given = as_scores(values, "confidence")
    _check_length(given, n, "confidence")
    check_shares(given, "confidence")
    own = np.full(n_buckets, np.nan)
    own[codes[original]] = given[original]
    places, scores = codes[~original], given[~original]
    sizes = np.maximum(np.bincount(places, minlength=n_buckets), 1)
    means = np.bincount(places, weights=scores, minlength=n_buckets) / sizes
    away = np.abs(scores - own[places])  # NaN where there is no original
    distances = np.bincount(places, weights=away, minlength=n_buckets) / sizes
    return means, own, distances


# Measures of paraphrastic consistency as functions of a few sums over buckets.
#
# The formulas are those of ``cpp/src/stats/bucket_bootstrap.cpp``, which computes the replicates;
# a test holds the two together.

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
        values, weights = merge_rows(self.values[:, places], self.weights)
        return UnitTable(columns=names, values=values, weights=weights)

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
    values, weights = merge_rows(table, np.ones(len(table), dtype=np.int64))
    return UnitTable(columns=tuple(columns), values=values, weights=weights)


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
    return evaluate(measure, columns, sums) - evaluate(measure, name_other_side(columns), sums)


def name_other_side(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Give the columns of the second side the names of measures, and those of the first none."""
    return tuple(name.removesuffix(OTHER) if name.endswith(OTHER) else "" for name in columns)


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


# Answers to paraphrases against those to their originals, paraphrase by paraphrase.


def find_flips(
    buckets: Any,
    correct: NDArray[np.bool_],
    is_original: NDArray[np.bool_],
    *,
    answers: Any = None,
    gold: Any = None,
    clusters: Any = None,
) -> FlipResult | None:
    """Compare the answers to paraphrases with those to their originals."""
    codes, names = _number_buckets(buckets, correct.size)
    place = np.full(names.size, -1, dtype=np.int64)
    place[codes[is_original]] = np.flatnonzero(is_original)
    rows = np.flatnonzero(~is_original & (place[codes] >= 0))
    own = place[codes[rows]]
    together = codes if clusters is None else as_clusters(clusters, correct.size)[0]
    if rows.size < 2 or (together[rows] == together[rows[0]]).all():
        return None
    if answers is None:
        sample = MatchedSample(original_correct=correct[own], transformed_correct=correct[rows])
        return flip_test(sample, clusters=together[rows])
    given = as_column(answers, "answers")
    truth = None if gold is None else as_column(gold, "gold")[rows]
    return flip_test(given[own], given[rows], gold=truth, clusters=together[rows])
