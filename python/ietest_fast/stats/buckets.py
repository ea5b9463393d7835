"""Buckets: items in several wordings, and how a classifier answers each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.plurals import say_count
from ietest_fast.stats.inputs import (
    as_clusters,
    as_column,
    as_outcomes,
    as_scores,
    check_label_kinds,
    in_one_order,
)

if TYPE_CHECKING:
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

        def part(values: NDArray[Any] | None) -> Any:
            return None if values is None else values[places]

        names = self.names[places]
        if not names.size:
            raise InputError("no bucket is left")
        clusters = part(self.clusters)
        n_clusters = None
        if clusters is not None:
            found, clusters = np.unique(clusters, return_inverse=True)
            n_clusters = int(found.size)
        return BucketCounts(
            names=names,
            sizes=self.sizes[places],
            right=self.right[places],
            same=part(self.same),
            originals=self.originals[places],
            flipped=self.flipped[places],
            confidence=part(self.confidence),
            original_confidence=part(self.original_confidence),
            confidence_distance=part(self.confidence_distance),
            clusters=clusters,
            n_clusters=n_clusters,
            n_without_paraphrases=0,
        )


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
        Shape (n,), labels; only asked whether a bucket has the same one in every row.
    confidence
        Shape (n,), in [0, 1]: the classifier's confidence in the gold label.
    clusters
        Shape (n,), labels: what buckets have in common, such as a source text. A bucket lies in one
        cluster.

    Returns
    -------
    BucketCounts

    Raises
    ------
    InputError
        If a value is missing or of the wrong kind, lengths differ, a bucket has two originals, two
        gold labels or two clusters, or there is no paraphrase.
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
    outside = np.flatnonzero((given < 0) | (given > 1))
    if outside.size:
        raise InputError(
            f"confidence must lie in [0, 1], but {outside.size} of {n} values do not; the first is "
            f"{given[outside[0]]}",
            row=f"row {int(outside[0])}",
        )
    own = np.full(n_buckets, np.nan)
    own[codes[original]] = given[original]
    places, scores = codes[~original], given[~original]
    sizes = np.maximum(np.bincount(places, minlength=n_buckets), 1)
    means = np.bincount(places, weights=scores, minlength=n_buckets) / sizes
    away = np.abs(scores - own[places])  # NaN where there is no original
    distances = np.bincount(places, weights=away, minlength=n_buckets) / sizes
    return means, own, distances
