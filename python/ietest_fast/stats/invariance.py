"""Does a classifier change its mind? Accuracy and flips on the reworded texts, and one verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.numerals import format_p, say_count, say_p
from ietest_fast.stats.equivalence import EquivalenceResult, Verdict, equivalence_test
from ietest_fast.stats.flips import DEFAULT_FLIP_MARGIN, FlipResult, FlipVerdict, flip_test
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    as_outcomes,
    check_between,
    check_label_kinds,
    check_lengths,
    in_one_order,
    seed_of,
)
from ietest_fast.stats.matched import MatchedSample, PairedCounts
from ietest_fast.stats.paired import paired_test
from ietest_fast.stats.result import Result
from ietest_fast.stats.robustness import is_collapsed
from ietest_fast.stats.strata import MOST_LABELS, judge_strata, number_strata
from ietest_fast.stats.symmetry import SymmetryResult, symmetry_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.stats.strata import StratifiedResult

DEFAULT_MARGIN = 0.01

_COLLAPSED = (
    "Collapsed: on the originals, the classifier predicts one class, or is not shown to be better "
    "than always saying the most frequent label, so nothing can be said of its answers."
)


def judge(
    *, differs: bool, equivalent: bool, flips: FlipVerdict | None, uneven: bool = False
) -> Verdict:
    """Join what is shown of accuracy and of flips to one verdict.

    Parameters
    ----------
    differs
        Whether the accuracies are shown to differ.
    equivalent
        Whether their difference is shown to be smaller than the margin.
    flips
        What is shown of the flip rate; None if nothing is known of it.
    uneven
        Whether losses and gains are shown to come in another proportion for some label, and not
        shown to stay within the margin for each: then they may cancel.
    """
    if differs and not equivalent:
        return Verdict.DIFFERS
    if flips is FlipVerdict.ABOVE or uneven:
        return Verdict.CHANGES
    if not equivalent:
        return Verdict.UNDECIDED
    return Verdict.ALIKE if flips is FlipVerdict.BELOW else Verdict.EQUIVALENT


@dataclass(frozen=True, kw_only=True, eq=False)
class InvarianceTestResult(Result):
    """What is shown of one classifier on two versions of the same texts."""

    title = "Invariance"

    n: int
    """Number of pairs."""
    n_reworded: int | None
    """Pairs whose text was reworded, which all but ``p_difference`` is about. None if it is not
    known which those are: the numbers are then of all pairs, and ``ALIKE`` is never said."""
    p_difference: float
    """p-value of "the accuracies are equal", of the paired test over all pairs."""
    counts: PairedCounts | None
    """The four counts on the reworded texts; None without a reworded text."""
    equivalence: EquivalenceResult | None
    """Test of the difference of accuracies on the reworded texts against the margin; None if fewer
    than two texts (or clusters) were reworded."""
    flips: FlipResult | None
    """How often answers flip on the reworded texts; None likewise."""
    symmetry: SymmetryResult | None
    """Where answers move; None of two labels, of more than 20, or if answers are not known."""
    alpha: float
    """Level of each test."""
    strata: StratifiedResult | None = None
    """Losses and gains by label; None if the gold labels are not known, or are one or more than
    20."""
    left_alone: PairedCounts | None = None
    """The four counts on the texts that were left alone, if some of these are discordant: the
    classifier then does not answer equal texts equally, and ``p_difference`` is of other
    differences, too. None otherwise."""
    alternative: Alternative = "two-sided"
    """Of ``p_difference``."""
    collapsed: bool | None = None
    """Whether the classifier cannot be told from guessing on the originals (:func:`is_collapsed`):
    whatever it answers then, nothing is shown. None if that is not known."""

    @property
    def delta(self) -> float | None:
        """Accuracy on the originals minus accuracy on the transformed ones, of reworded texts."""
        return None if self.counts is None else self.counts.delta

    @property
    def discordance_rate(self) -> float | None:
        """Share of the reworded texts on which one of the two answers is right."""
        return None if self.counts is None else self.counts.discordance_rate

    @property
    def differs(self) -> bool:
        """Whether the accuracies are shown to differ."""
        return self.p_difference < self.alpha

    @property
    def uneven(self) -> bool:
        """Whether accuracy is shown to change by label, and may change by more than the margin."""
        return self.strata is not None and self.strata.uneven

    @property
    def verdict(self) -> Verdict:
        """What is shown; see :func:`judge`. Nothing is of a classifier that has collapsed."""
        if self.collapsed:
            return Verdict.COLLAPSED
        if self.equivalence is None:
            return Verdict.UNDECIDED  # what differs was not reworded
        flips = None if self.flips is None else self.flips.verdict
        if self.n_reworded is None and flips is FlipVerdict.BELOW:
            flips = None  # texts that were left alone may hide those that were not
        return judge(
            differs=self.differs,
            equivalent=self.equivalence.equivalent,
            flips=flips,
            uneven=self.uneven,
        )

    @property
    def statistic(self) -> float | None:
        """The difference of accuracies on the reworded texts."""
        return self.delta

    @property
    def pvalue(self) -> float:
        """The p-value of "the accuracies are equal", as SciPy calls it."""
        return self.p_difference

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name, and the verdict."""
        return {
            "n": self.n,
            "n_reworded": self.n_reworded,
            "p_difference": self.p_difference,
            "discordant_left_alone": 0 if self.left_alone is None else self.left_alone.k,
            "delta": self.delta,
            "discordance_rate": self.discordance_rate,
            "equivalence": None if self.equivalence is None else self.equivalence.to_dict(),
            "flips": None if self.flips is None else self.flips.to_dict(),
            "symmetry": None if self.symmetry is None else self.symmetry.to_dict(),
            "strata": None if self.strata is None else self.strata.to_dict(),
            "alpha": self.alpha,
            "collapsed": self.collapsed,
            "verdict": str(self.verdict),
            "explanation": self.explanation,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        if self.n_reworded is None:
            rows = [("reworded texts", f"not known; {self.n:,} texts in all")]
        else:
            share = self.n_reworded / self.n
            rows = [("reworded texts", f"{self.n_reworded:,} of {self.n:,} ({share:.1%})")]
        if self.counts is not None and self.n_reworded is not None:
            rows.append(("  accuracy", _say_accuracy(self.counts)))
            rows.append(("  discordance k/n", f"{self.counts.discordance_rate:.4f}"))
        if self.equivalence is not None:
            level = f"{100 * (1 - 2 * self.alpha):g}%"
            interval = self.equivalence.interval
            rows.append(("  delta", f"{self.equivalence.delta:+.4f}, {level} {interval}"))
        if self.flips is not None:
            rows.append(("  answers flipped", _say_flips(self.flips)))
            kinds = _say_kinds(self.flips)
            if kinds:
                rows.append(("", kinds))
        if self.symmetry is not None:
            rows += [(f"  {name}", value) for name, value in self.symmetry.rows()[-2:]]
        if self.strata is not None and self.strata.heterogeneity.df:
            by = "" if self.strata.p_adjusted is None else " over all versions"
            rows.append((f"  same by {self.strata.name}", f"{say_p(self.strata.format_p())}{by}"))
        return rows

    @property
    def explanation(self) -> str:
        """The verdict in plain words."""
        where = "over all texts" if self.n_reworded is None else "on the reworded texts"
        p = format_p(self.p_difference)
        if self.collapsed or self.equivalence is None or self.counts is None:
            return self._say_little(where, p)
        rest = self._say_rest()
        level = f"{100 * (1 - 2 * self.alpha):g}%"
        delta = f"{self.counts.delta:+.4f}, {level} interval {self.equivalence.interval}"
        margin = f"{self.equivalence.margin:g}"

        if self.verdict is Verdict.DIFFERS:
            return f"{self._say_difference(self.counts, delta, where)}{rest}"
        one_sided = p if self.alternative == "two-sided" else f"{p}, one-sided"
        if self.verdict is Verdict.CHANGES:
            by = f" {self.strata.explanation}" if self.strata is not None and self.uneven else ""
            seen = (
                f"{self._say_unseen(self.equivalence)}: delta {delta} {where} ({say_p(one_sided)})."
            )
            return f"The classifier changes its mind.{by}{rest} {seen}"
        if self.verdict is Verdict.UNDECIDED:
            return (
                f"Undecided: {where} delta is {delta}; neither a difference ({say_p(one_sided)}) "
                f"nor one below {margin} ({say_p(format_p(self.equivalence.p_value))}) is shown."
                f"{_say_plan(self.equivalence)}{rest}"
            )
        seen = f" There is a difference ({say_p(p)}), but it is smaller." if self.differs else ""
        below = (
            f"accuracy is shown to change by less than {margin} {where} (delta {delta}, "
            f"{say_p(format_p(self.equivalence.p_value))}).{seen}{rest}"
        )
        if self.verdict is Verdict.ALIKE:
            return f"Alike within the margins: {below}"
        hidden = ""
        if self.n_reworded is None:
            hidden = (
                " Texts that were not reworded dilute this: to judge the reworded ones, say which "
                "they are."
            )
        return f"{below[0].upper()}{below[1:]}{hidden}"

    def _say_difference(self, counts: PairedCounts, delta: str, where: str) -> str:
        """Say which accuracy is lower, unless texts that were left alone differ, too."""
        p = format_p(self.p_difference)
        if self.left_alone is not None:
            where = f"{where}, delta is {delta}"
            return f"Accuracy is shown to differ over all texts ({say_p(p)}); {where}."
        verb = "lower" if counts.delta > 0 else "higher"
        return f"Accuracy is shown to be {verb} {where}: delta {delta} ({say_p(p)})."

    def _say_unseen(self, equivalence: EquivalenceResult) -> str:
        """Say how little accuracy shows of it that answers change."""
        if equivalence.equivalent:
            return "Accuracy hardly shows it"
        if self.alternative == "two-sided":
            return "No overall change in accuracy is shown"
        more = "higher" if self.alternative == "greater" else "lower"
        return f"Accuracy on the originals is not shown to be {more}"

    @property
    def caveat(self) -> str | None:
        """Why the p-value does not speak of reworded texts alone; None if nothing is against it."""
        rest = None if self.left_alone is None else self._say_left_alone(self.left_alone)
        if self.equivalence is not None:
            return rest
        few = "Only one text or one cluster was" if self.n_reworded else "No text was"
        p = format_p(self.p_difference)
        said = f"{few} reworded: there is nothing to tell two versions by ({say_p(p)})."
        return said if rest is None else f"{said} {rest}"

    def _say_little(self, where: str, p: str) -> str:
        """Say why there is no verdict on what rephrasing does."""
        before = f"{_COLLAPSED} " if self.collapsed else ""
        if self.equivalence is None or self.counts is None:
            return f"{before}{self.caveat}"
        delta = f"{self.counts.delta:+.4f}"
        return f"{before}Accuracy {where}: delta {delta} ({say_p(p)}).{self._say_rest()}"

    def _say_rest(self) -> str:
        """Say what flips, and what is to be said against p."""
        said = (None if self.flips is None else self.flips.explanation, self.caveat)
        return "".join(f" {each}" for each in said if each is not None)

    def _say_left_alone(self, left_alone: PairedCounts) -> str:
        both = [left_alone] if self.counts is None else [left_alone, self.counts]
        delta = sum(each.n10 - each.n01 for each in both) / self.n
        n = left_alone.k
        texts = say_count(n, "text that was", "texts that were")
        return (
            f"Warning: {texts} left alone {'has' if n == 1 else 'have'} another outcome, so "
            "the classifier does not answer equal texts equally. p = "
            f"{format_p(self.p_difference)} tests all texts, whose delta is {delta:+.4f}, and not "
            "the reworded ones alone."
        )


def _say_plan(equivalence: EquivalenceResult) -> str:
    n = equivalence.n_to_decide
    return "" if n is None else f" Some {n:,} texts would decide (power 80%), if these are typical."


def _say_accuracy(counts: PairedCounts) -> str:
    return f"{counts.accuracy_original:.4f} → {counts.accuracy_transformed:.4f}"


def _say_flips(flips: FlipResult) -> str:
    least = "at least " if flips.is_lower_bound else ""
    said = f"{least}{flips.n_flipped:,} ({flips.rate:.2%})"
    if flips.is_lower_bound:  # an upper end would bound nothing
        bound = f"lower {100 * (1 - flips.alpha):g}% confidence bound"
        return f"{said}; {bound} {flips.interval.low:.2%}"
    return f"{said}, {100 * (1 - 2 * flips.alpha):g}% {flips.interval}"


def _say_kinds(flips: FlipResult) -> str:
    kinds = {
        "right to wrong": flips.right_to_wrong,
        "wrong to right": flips.wrong_to_right,
        "wrong to wrong": flips.wrong_to_wrong,
    }
    return ", ".join(f"{count:,} {name}" for name, count in kinds.items() if count is not None)


def judge_pairs(
    sample: PairedCounts | MatchedSample,
    *,
    p_difference: float,
    alternative: Alternative = "two-sided",
    answers: tuple[NDArray[Any], NDArray[Any]] | None = None,
    gold: NDArray[Any] | None = None,
    reworded: NDArray[np.bool_] | Literal[True] | None = None,
    clusters: NDArray[Any] | None = None,
    margin: float = DEFAULT_MARGIN,
    flip_margin: float = DEFAULT_FLIP_MARGIN,
    alpha: float = 0.05,
    labels: Any = None,
    collapsed: bool | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> InvarianceTestResult:
    """Judge a matched sample whose paired test is done; see :func:`invariance_test`.

    Parameters
    ----------
    sample
        Outcomes on both versions, or their counts, with which nothing else can come.
    p_difference, alternative
        Of the paired test.
    answers
        Labels given to both versions, shape (n,) each; None if only outcomes are known.
    gold
        Gold labels, shape (n,), for the kinds of flips.
    reworded
        Shape (n,); True: all texts; None: not known.
    clusters
        Shape (n,).
    margin, flip_margin, alpha
        As for :func:`invariance_test`.
    labels
        Shape (n,): what losses and gains are told apart by where ``gold`` is not known.
    collapsed
        Whether the classifier cannot be told from guessing on the originals; None: not known.
    n_resamples, rng, n_threads
        Of tables and clusters that are drawn.
    """
    if isinstance(sample, PairedCounts):
        return InvarianceTestResult(
            n=sample.n,
            n_reworded=sample.n if reworded is True else None,
            p_difference=p_difference,
            counts=sample,
            equivalence=equivalence_test(
                sample, margin=margin, alpha=alpha, p_difference=p_difference
            ),
            flips=flip_test(sample, margin=flip_margin, alpha=alpha),
            symmetry=None,
            alpha=alpha,
            alternative=alternative,
        )
    n = len(sample)
    rows = np.arange(n)
    if reworded is not None and reworded is not True:
        rows = np.flatnonzero(reworded)
    truth = None if gold is None else gold[rows]
    given = None if answers is None else (answers[0][rows], answers[1][rows])
    labels = gold if labels is None else labels
    own = sample.take(rows)
    units = None if clusters is None else clusters[rows]
    is_enough = rows.size >= 2 and (units is None or _has_two(units))
    equivalence = flips = symmetry = strata = None
    if is_enough:
        equivalence = equivalence_test(
            own, clusters=units, margin=margin, alpha=alpha, p_difference=p_difference
        )
        flips, symmetry = _judge_answers(
            own, given, truth, clusters=units, margin=flip_margin, alpha=alpha
        )
        strata = _judge_labels(
            own,
            labels,
            rows,
            given,
            clusters=units,
            margin=margin,
            flip_margin=flip_margin,
            alpha=alpha,
            n_resamples=n_resamples,
            rng=rng,
            n_threads=n_threads,
        )
    return InvarianceTestResult(
        n=n,
        n_reworded=None if reworded is None else int(rows.size),
        p_difference=p_difference,
        counts=own.counts if rows.size else None,
        equivalence=equivalence,
        flips=flips,
        symmetry=symmetry,
        alpha=alpha,
        strata=strata,
        left_alone=_discordant_rest(sample, rows),
        alternative=alternative,
        collapsed=collapsed,
    )


def _discordant_rest(sample: MatchedSample, rows: NDArray[np.int64]) -> PairedCounts | None:
    """Count the pairs outside ``rows``; None if all of them are concordant."""
    rest = np.ones(len(sample), bool)
    rest[rows] = False
    a, b = sample.original_correct[rest], sample.transformed_correct[rest]
    return None if (a == b).all() else PairedCounts.from_outcomes(a, b)


def _judge_answers(
    sample: MatchedSample,
    answers: tuple[NDArray[Any], NDArray[Any]] | None,
    gold: NDArray[Any] | None,
    *,
    clusters: NDArray[Any] | None,
    **options: float,
) -> tuple[FlipResult, SymmetryResult | None]:
    """Test how many answers flip, and where they move if there are neither two labels nor many."""
    if answers is None:
        return flip_test(sample, clusters=clusters, **options), None
    flips = flip_test(*answers, gold=gold, clusters=clusters, **options)
    if not 2 < np.unique(np.concatenate(answers)).size <= MOST_LABELS:
        return flips, None
    return flips, symmetry_test(*answers, clusters=clusters)


def _judge_labels(
    sample: MatchedSample,
    labels: Any,
    rows: NDArray[np.int64],
    answers: tuple[NDArray[Any], ...] | None,
    **options: Any,
) -> StratifiedResult | None:
    """Tell losses and gains apart by label; None if there is one label, or too many."""
    if labels is None:
        return None
    own = np.asarray(labels)[rows]
    if not 2 <= np.unique(own).size <= MOST_LABELS:
        return None
    names, codes = number_strata(own, "label")
    return judge_strata(sample, names, codes, answers=answers, name="label", **options)


def _has_two(labels: NDArray[Any]) -> bool:
    first = labels[0]
    return any(label != first for label in labels)


@in_one_order
def invariance_test(
    original: Any,
    transformed: Any,
    gold: Any,
    *,
    reworded: Any = None,
    clusters: Any = None,
    margin: float = DEFAULT_MARGIN,
    flip_margin: float = DEFAULT_FLIP_MARGIN,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> InvarianceTestResult:
    """Test whether a classifier changes its mind when texts are reworded.

    Three questions are asked at once. Do the accuracies differ (:func:`paired_test`, over all
    texts)? Is their difference on the reworded texts smaller than a margin
    (:func:`equivalence_test`)? How many answers flip there (:func:`flip_test`)? The classifier is
    called alike only if both of the latter are shown. It changes its mind, however equal the
    accuracies are, if more answers flip than the flip margin allows, or if a loss on texts with one
    gold label and a gain on those with another cancel (:func:`stratified_test`). Nothing is shown
    of a classifier that cannot be told from guessing on the originals, whose verdict is that it has
    collapsed (:func:`is_collapsed`).

    Parameters
    ----------
    original, transformed
        Labels that the classifier gives to both versions of the texts, shape (n,).
    gold
        Gold labels, shape (n,).
    reworded
        Shape (n,), bool: which texts are different in the two versions; True: all of them. Texts
        that a transformation left alone have the same answer twice, and dilute every effect. None:
        it is not known, so the classifier is never called alike.
    clusters
        Shape (n,), the cluster of each text.
    margin
        Differences of accuracy smaller than this do not matter.
    flip_margin
        Flip rates smaller than this do not matter.
    alpha
        Level of each test, in (0, 0.5).
    alternative, method, n_resamples, rng, n_threads
        As for :func:`paired_test`.

    Raises
    ------
    InputError
        As for the three tests.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import invariance_test
    >>> gold = np.arange(1_000) % 2
    >>> original = np.where(np.arange(1_000) < 900, gold, 1 - gold)
    >>> rephrased = np.roll(original, 80)  # as often right, but elsewhere
    >>> result = invariance_test(original, rephrased, gold)
    >>> result.delta, round(result.pvalue, 2), str(result.verdict)
    (0.0, 1.0, 'changes answers')
    """
    check_between(alpha, "alpha", 0, 0.5)
    a, b, truth = check_label_kinds(original=original, transformed=transformed, gold=gold)
    columns = {"original": a, "transformed": b, "gold": truth}
    mask: NDArray[np.bool_] | Literal[True] | None = None
    if reworded is True:
        mask = True
    elif reworded is not None:
        mask = columns["reworded"] = as_outcomes(reworded, "reworded")
    n = check_lengths(**columns)
    labels = None if clusters is None else as_clusters(clusters, n)[0]
    sample = MatchedSample(original_correct=a == truth, transformed_correct=b == truth)
    seed = seed_of(rng)
    test = paired_test(
        sample,
        clusters=labels,
        alternative=alternative,
        method=method,
        n_resamples=n_resamples,
        rng=seed,
        n_threads=n_threads,
    )
    return judge_pairs(
        sample,
        p_difference=test.p_value,
        alternative=alternative,
        answers=(a, b),
        gold=truth,
        collapsed=is_collapsed(a, truth),
        reworded=mask,
        clusters=labels,
        margin=margin,
        flip_margin=flip_margin,
        alpha=alpha,
        n_resamples=n_resamples,
        rng=seed,
        n_threads=n_threads,
    )
