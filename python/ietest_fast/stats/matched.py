"""The matched sample (eq. 9) and the four counts that a test on it needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    as_column,
    as_outcomes,
    as_scores,
    check_label_kinds,
    check_lengths,
    check_orders,
    in_one_order,
    is_integer,
    is_outcomes,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class PairedCounts:
    """How often a classifier is right on two versions of the same texts.

    Raises
    ------
    InputError
        If a count is negative or no integer, all are 0, or they sum to more than 2**40.
    """

    n11: int
    """Texts on which it is right in both versions."""
    n10: int
    """Right on the original only."""
    n01: int
    """Right on the transformed version only."""
    n00: int
    """Wrong on both."""

    def __post_init__(self) -> None:
        for name in ("n11", "n10", "n01", "n00"):
            value = getattr(self, name)
            if not is_integer(value):
                raise InputError(f"{name} must be an integer, not {value!r}")
            if value < 0:
                raise InputError(f"{name} must not be negative, but is {value}")
            object.__setattr__(self, name, int(value))
        if self.n == 0:
            raise InputError("all four counts are 0: there is no pair to test")
        if self.n > core.stats.MAX_PAIRS:
            raise InputError(
                f"at most {core.stats.MAX_PAIRS:,} pairs can be tested, not {self.n:,}"
            )

    @classmethod
    @in_one_order
    def from_outcomes(cls, original: ArrayLike, transformed: ArrayLike) -> PairedCounts:
        """Count the pairs of two outcome columns.

        Parameters
        ----------
        original, transformed
            Shape (n,), bool or numbers 0 and 1: is the classifier right on text *i* (A_i), and
            on its transformed version (B_i)?

        Raises
        ------
        InputError
            On other values (NaN among them), unequal lengths or no rows.
        """
        a = as_outcomes(original, "original")
        b = as_outcomes(transformed, "transformed")
        if a.size != b.size:
            raise InputError(
                f"the two outcome columns differ in length: {a.size} and {b.size} rows"
            )
        return cls(*core.stats.count_pairs(a, b))

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.n11 + self.n10 + self.n01 + self.n00

    @property
    def k(self) -> int:
        """Number of discordant pairs, n10 + n01."""
        return self.n10 + self.n01

    @property
    def d(self) -> int:
        """The difference n10 - n01; positive when the original version fares better."""
        return self.n10 - self.n01

    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.d / self.n

    @property
    def accuracy_original(self) -> float:
        """Share of texts on which the classifier is right in the original version."""
        return (self.n11 + self.n10) / self.n

    @property
    def accuracy_transformed(self) -> float:
        """Share of texts on which the classifier is right in the transformed version."""
        return (self.n11 + self.n01) / self.n

    @property
    def t(self) -> float:
        """The paired t statistic, eq. 12 and 13; 0 if k = 0, infinite if k = n = abs(d)."""
        t: float = core.stats.paired_t(self.d, self.k, self.n)
        return t

    @property
    def mcnemar_statistic(self) -> float:
        """McNemar's statistic d**2 / k (Cochran's Q for two versions); 0 if k = 0."""
        return self.d * self.d / self.k if self.k else 0.0

    @property
    def discordance_rate(self) -> float:
        """Share of discordant pairs, k / n."""
        return self.k / self.n

    def swapped(self) -> PairedCounts:
        """Exchange the roles of the two versions."""
        return PairedCounts(self.n11, self.n01, self.n10, self.n00)

    def differences(self) -> NDArray[np.int8]:
        """One A - B for each pair, shape (n,), the order being of no account."""
        values = np.array([1, -1, 0], dtype=np.int8)
        return np.repeat(values, [self.n10, self.n01, self.n - self.k])


class OfCounts:
    """Base of results that hold the four counts."""

    counts: PairedCounts

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.counts.n

    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.counts.delta


def describe_counts(counts: PairedCounts) -> dict[str, Any]:
    """Return what the counts tell by name, as results of outcomes report it first."""
    return {"n": counts.n, **asdict(counts), "delta": counts.delta}


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchedSample:
    """Correctness of one classifier on both versions of a test set (eq. 6 and 9)."""

    original_correct: NDArray[np.bool_]
    transformed_correct: NDArray[np.bool_]
    """Shape (n,), bool: A_i and B_i."""

    def __post_init__(self) -> None:
        check_orders(
            original_correct=self.original_correct, transformed_correct=self.transformed_correct
        )
        a = as_outcomes(self.original_correct, "original_correct")
        b = as_outcomes(self.transformed_correct, "transformed_correct")
        if a.size != b.size:
            raise InputError(
                f"a matched sample needs columns of one length, not {a.size} and {b.size}"
            )
        object.__setattr__(self, "original_correct", a)
        object.__setattr__(self, "transformed_correct", b)

    @classmethod
    @in_one_order
    def from_predictions(
        cls, gold: ArrayLike, original: ArrayLike, transformed: ArrayLike
    ) -> MatchedSample:
        """Compare predictions on both versions with the gold labels.

        Parameters
        ----------
        gold, original, transformed
            Shape (n,): labels as numbers or as texts, but the same in all three.

        Raises
        ------
        InputError
            If a label is missing (null or NaN), labels are of different kinds (1 and "1"), or the
            columns differ in length.
        """
        labels, a, b = check_label_kinds(gold=gold, original=original, transformed=transformed)
        for name, column in (("original", a), ("transformed", b)):
            if column.size != labels.size:
                raise InputError(
                    f"there are {labels.size} gold labels, but {column.size} predictions on "
                    f"the {name} texts"
                )
        return cls(original_correct=a == labels, transformed_correct=b == labels)

    def __len__(self) -> int:
        return self.original_correct.size

    def take(self, rows: NDArray[np.int64]) -> MatchedSample:
        """Return the pairs of some rows, given by their places."""
        return MatchedSample(
            original_correct=self.original_correct[rows],
            transformed_correct=self.transformed_correct[rows],
        )

    @property
    def counts(self) -> PairedCounts:
        """The sufficient statistic for every test on independent pairs."""
        return PairedCounts.from_outcomes(self.original_correct, self.transformed_correct)


def counts_of(sample: PairedCounts | MatchedSample | Any, transformed: Any = None) -> PairedCounts:
    """Give the four counts of whatever a test on outcomes accepts."""
    if _is_complete(sample, transformed):
        return sample.counts if isinstance(sample, MatchedSample) else sample
    a = as_outcomes(sample, "original")
    b = as_outcomes(transformed, "transformed")
    check_lengths(original=a, transformed=b)
    return PairedCounts.from_outcomes(a, b)


def outcome_columns(
    sample: Any, transformed: Any = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return both columns of outcomes, each of shape (n,), where their order matters."""
    if _is_complete(sample, transformed):
        if isinstance(sample, PairedCounts):
            raise InputError("clusters need the outcomes pair by pair, not their counts")
        a, b = sample.original_correct, sample.transformed_correct
    else:
        a, b = as_outcomes(sample, "original"), as_outcomes(transformed, "transformed")
    check_lengths(original=a, transformed=b)
    return a, b


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedColumns:
    """The two columns of a paired sample, each of shape (n,): scores, or outcomes in clusters."""

    original: NDArray[Any]
    transformed: NDArray[Any]
    are_scores: bool


def read_pairs(
    sample: Any, transformed: Any = None, *, clustered: bool, scores: bool
) -> PairedCounts | PairedColumns:
    """Decide whether a paired sample holds outcomes or scores.

    Columns are scores if one of them holds a number other than 0 and 1, and neither is of type
    bool: beside a column of type bool, such numbers are a mistake.
    """
    if _is_complete(sample, transformed):
        if not (clustered or scores):
            return counts_of(sample)
        if scores and isinstance(sample, PairedCounts):
            raise InputError("counts hold outcomes: leave scores out")
        right, right_transformed = outcome_columns(sample)
        return PairedColumns(original=right, transformed=right_transformed, are_scores=scores)
    a, b = as_column(sample, "original"), as_column(transformed, "transformed")
    is_bool = "b" in (a.dtype.kind, b.dtype.kind)
    if scores or not (is_bool or (is_outcomes(a) and is_outcomes(b))):
        # From the columns as they were given: a list tells which integers NumPy has rounded.
        return PairedColumns(
            original=as_scores(sample, "original"),
            transformed=as_scores(transformed, "transformed"),
            are_scores=True,
        )
    if not clustered:
        return counts_of(a, b)
    a, b = outcome_columns(a, b)
    return PairedColumns(original=a, transformed=b, are_scores=False)


def _is_complete(sample: Any, transformed: Any) -> bool:
    """Tell whether both versions are in ``sample``, and refuse a column too few or too many."""
    if isinstance(sample, (PairedCounts, MatchedSample)):
        if transformed is not None:
            raise InputError("counts and matched samples are complete: leave the second column out")
        return True
    if transformed is None:
        raise InputError(
            "the second column is missing: this needs PairedCounts, a MatchedSample, or two columns"
        )
    return False
