"""How many unsound rephrasings it would take to explain a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, say_count
from ietest_fast.stats.inputs import (
    as_outcomes,
    check_between,
    check_lengths,
    in_one_order,
    is_integer,
)
from ietest_fast.stats.matched import MatchedSample, PairedCounts, outcome_columns
from ietest_fast.stats.outcomes import outcome_test
from ietest_fast.stats.planning.power import smallest
from ietest_fast.stats.result import PValueResult

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class UnsoundnessResult(PValueResult):
    """What unsound rephrasings could explain."""

    title = "Unsound rephrasings"

    counts: PairedCounts
    """Of all pairs."""
    n_reworded: int
    """Texts that were reworded; the others cannot be unsound."""
    p_value: float
    """Of the paired test on all pairs; with fewer than 25 discordant ones the larger of it and
    McNemar's conditional exact p."""
    alpha: float
    """The level."""
    n_to_explain: int
    """The smallest number of reworded pairs whose removal leaves no difference shown; 0 if none is
    shown."""

    @property
    def statistic(self) -> float:
        """The share of the reworded texts whose removal leaves no difference shown."""
        return self.share_to_explain

    @property
    def share_to_explain(self) -> float:
        """``n_to_explain`` as a share of the reworded texts."""
        return self.n_to_explain / self.n_reworded

    def delta_bounds(self, share: float) -> tuple[float, float]:
        """Return between what the delta of the sound reworded texts lies.

        Parameters
        ----------
        share
            Of the reworded texts, in [0, 1): so many at most are unsound, whichever they are.

        Returns
        -------
        tuple of float
            The smallest and the largest delta of the sound texts of this sample, accuracy on the
            originals minus that on the rephrased ones.

        Raises
        ------
        InputError
            If the share is out of its range.
        """
        if share != 0:
            check_between(share, "the share of unsound texts", 0, 1)
        n_unsound = int(share * self.n_reworded * (1 + 1e-12))
        return (
            -_largest(self.counts.n01, self.counts.n10, self.n_reworded, n_unsound),
            _largest(self.counts.n10, self.counts.n01, self.n_reworded, n_unsound),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return {
            "n": self.counts.n,
            "n_reworded": self.n_reworded,
            "n10": self.counts.n10,
            "n01": self.counts.n01,
            "p_value": self.p_value,
            "alpha": self.alpha,
            "n_to_explain": self.n_to_explain,
            "share_to_explain": self.share_to_explain,
            "explanation": self.explanation,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [
            ("reworded texts", f"{self.n_reworded:,} of {self.counts.n:,}"),
            ("p, all of them sound", format_p(self.p_value)),
            (
                "unsound to explain it",
                f"{self.n_to_explain:,} ({self.share_to_explain:.2%})",
            ),
        ]

    @property
    def explanation(self) -> str:
        """What is shown, in plain words."""
        if self.n_to_explain == 0:
            return "No difference is shown, so there is nothing to explain."
        lost = "lost" if self.counts.delta > 0 else "won"
        return (
            f"The difference is shown at {self.alpha:g} unless {self.n_to_explain:,} or more of "
            f"the texts that are {lost} ({self.share_to_explain:.2%} of the {self.n_reworded:,} "
            "rephrasings) are unsound."
        )


@in_one_order
def unsoundness(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    reworded: Any = None,
    alpha: float = 0.05,
) -> UnsoundnessResult:
    """Compute how many unsound rephrasings could explain a difference.

    A rephrasing is unsound if it does not keep the meaning; what a classifier does on it says
    nothing about its invariance. In the worst case, unsound pairs are all among the discordant
    ones that speak for the difference. The smallest number of such pairs is found whose removal
    leaves a two-sided paired test that does not reject: the exact law of the bootstrap, and, with
    fewer than 25 discordant pairs, for which that is liberal, McNemar's conditional exact test as
    well. If you know a bound on the share of unsound rephrasings in this sample, compare it with
    ``share_to_explain``: if that is larger, they are too few to explain the difference.

    Parameters
    ----------
    sample
        Outcomes on the originals, shape (n,); a matched sample; or the four counts.
    transformed
        Outcomes on the transformed texts, shape (n,), if ``sample`` is a column.
    reworded
        Which texts were reworded: bool, shape (n,); of counts, their number. None: all of them.
    alpha
        In (0, 1).

    Raises
    ------
    InputError
        If a column holds no outcomes, lengths differ, an option is out of its range, or there are
        fewer reworded texts than discordant pairs.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, unsoundness
    >>> result = unsoundness(PairedCounts(n11=2_000, n10=120, n01=60, n00=820), reworded=700)
    >>> result.n_to_explain, round(result.share_to_explain, 3)
    (37, 0.053)
    >>> [round(delta, 3) for delta in result.delta_bounds(0.05)]
    [0.038, 0.143]
    """
    check_between(alpha, "alpha", 0, 1)
    if isinstance(sample, PairedCounts):
        if transformed is not None:
            raise InputError("counts are complete: leave the second column out")
        counts = sample
        n_reworded = counts.n if reworded is None else _as_number(reworded, counts.n)
    else:
        a, b = outcome_columns(sample, transformed)
        counts = PairedCounts.from_outcomes(a, b)
        n_reworded = counts.n if reworded is None else _count_reworded(reworded, a, b)
    if n_reworded < max(counts.k, 1):
        raise InputError(
            f"{say_count(counts.k, 'pair is', 'pairs are')} discordant, but only "
            f"{say_count(n_reworded, 'text is', 'texts are')} reworded"
        )
    return UnsoundnessResult(
        counts=counts,
        n_reworded=n_reworded,
        p_value=_p_of(counts),
        alpha=alpha,
        n_to_explain=_count_to_explain(counts, alpha),
    )


def _p_of(counts: PairedCounts) -> float:
    test = outcome_test(counts)
    return max(test.p_value, test.p_mcnemar_exact) if test.few_discordant else test.p_value


def _count_to_explain(counts: PairedCounts, alpha: float) -> int:
    """Return how many discordant pairs of the larger kind to remove until nothing is rejected.

    Each removal brings D nearer to 0, so the p-value grows, and halving finds the number.
    """

    def rejects(removed: int) -> bool:
        n10 = counts.n10 - removed * (counts.n10 > counts.n01)
        n01 = counts.n01 - removed * (counts.n10 < counts.n01)
        left = PairedCounts(counts.n11, n10, n01, counts.n00)
        return left.n > 1 and _p_of(left) < alpha

    if not rejects(0):
        return 0
    return smallest(lambda removed: not rejects(removed), 0, abs(counts.d))


def _largest(most: int, least: int, n: int, n_unsound: int) -> float:
    """Return the largest (most - least) / n after so many pairs are removed: what lowers it."""
    removed = min(n_unsound, least)
    difference = most - least + removed
    # Concordant pairs only dilute it.
    rest = min(n_unsound - removed, n - most - least) if difference > 0 else 0
    return difference / max(n - removed - rest, 1)


def _count_reworded(reworded: Any, a: NDArray[np.bool_], b: NDArray[np.bool_]) -> int:
    """Count the reworded texts; texts that were left alone cannot have another outcome."""
    mask = as_outcomes(reworded, "reworded")
    check_lengths(original=a, reworded=mask)
    left_alone = np.flatnonzero((a != b) & ~mask)
    if left_alone.size:
        n = left_alone.size
        raise InputError(
            f"{say_count(n, 'text that was', 'texts that were')} not reworded "
            f"{'has' if n == 1 else 'have'} another outcome; the versions, or the column, are not "
            "of the same texts",
            row=f"row {int(left_alone[0])}",
        )
    return int(mask.sum())


def _as_number(value: Any, n: int) -> int:
    if not is_integer(value) or not 0 <= value <= n:
        raise InputError(f"reworded must be their number, from 0 to {n:,}, not {value!r}")
    return int(value)
