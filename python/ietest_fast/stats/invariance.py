"""Does a classifier change its mind? Accuracy and flips on the reworded texts, and one verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.numerals import (
    brief_percent,
    brief_points,
    format_p,
    percent,
    say_count,
    say_p,
    show_change,
    show_points,
)
from ietest_fast.stats.equivalence import EquivalenceResult, Verdict, equivalence_test
from ietest_fast.stats.flips import (
    DEFAULT_FLIP_MARGIN,
    ExcessFlips,
    FlipResult,
    FlipVerdict,
    flip_test,
)
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
from ietest_fast.stats.multiple import holm, share_alpha
from ietest_fast.stats.paired import paired_test
from ietest_fast.stats.result import Result
from ietest_fast.stats.robustness import is_collapsed
from ietest_fast.stats.strata import judge_strata, number_strata
from ietest_fast.stats.symmetry import SymmetryResult, symmetry_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.stats.strata import StratifiedResult

DEFAULT_MARGIN = 0.01

#: How alpha is shared between the three things that may be claimed: a change in accuracy, which is
#: the question that is asked, flips beyond the margin, and losses that go with the label.
SHARES = {"difference": 8, "flips": 1, "labels": 1}

# With more labels than this a table of where answers move says nothing.
_MOST_MOVES = 20

_COLLAPSED = (
    "Collapsed: the classifier predicts one class, or is not shown to be better than always saying "
    "the most frequent label, so nothing can be said of its answers."
)

_WHAT_IS_TESTED = {"two-sided": "A change", "greater": "A loss", "less": "A gain"}


def judge(
    *,
    differs: bool,
    equivalent: bool,
    flips: FlipVerdict | None,
    uneven: bool = False,
    is_bounded: bool = True,
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
    is_bounded
        Whether the loss of each label is shown to be smaller than its margin.
    """
    if differs and not equivalent:
        return Verdict.DIFFERS
    if flips is FlipVerdict.ABOVE or uneven:
        return Verdict.CHANGES
    if not equivalent:
        return Verdict.UNDECIDED
    is_alike = flips is FlipVerdict.BELOW and is_bounded
    return Verdict.ALIKE if is_alike else Verdict.EQUIVALENT


@dataclass(frozen=True, kw_only=True)
class ClaimLevels:
    """What the p-value of each claim is held to, so that one false claim has probability alpha.

    The shares are :data:`SHARES`, or what Holm's weighted procedure leaves (:func:`share_alpha`).
    With several versions they share alpha, too.
    """

    difference: float
    """Of "the accuracies differ"."""
    flips: float
    """Of "more answers flip than the margin allows"."""
    labels: float
    """Of "losses go with the label", and of which labels lose."""
    alike: float
    """Of "alike within the margins", and of "equivalent": of one version alpha, of several what
    Holm's procedure leaves."""


@dataclass(frozen=True, kw_only=True)
class LabelLoss:
    """The largest loss of a label that is not excluded.

    That every label loses less than the margin is shown if it is shown of each: no correction is
    needed where all have to be shown, and the largest of the upper bounds bounds the largest loss.
    """

    largest: str
    """The gold label with the largest loss that is seen."""
    delta: float
    """That loss."""
    name: str
    """The gold label whose loss is bounded worst."""
    n: int
    """Its reworded texts."""
    upper: float
    """Upper confidence bound of its loss, at 1 - alpha, and so of any label's; 1 if it could not be
    tested."""
    margin: float
    """A smaller loss does not matter."""
    p_value: float
    """p-value of H0: some label loses the margin or more."""
    n_labels: int
    """How many gold labels have reworded texts."""
    n_open: int
    """Of how many of them such a loss is not excluded at alpha, each by itself."""
    n_untested: int
    """How many have one reworded text, or one cluster of these."""
    left_alone: tuple[str, ...]
    """Labels without a reworded text, of which nothing is said."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "largest": self.largest,
            "delta": self.delta,
            "label": self.name,
            "n": self.n,
            "loss_high": self.upper,
            "margin": self.margin,
            "p_value": self.p_value,
            "n_labels": self.n_labels,
            "n_open": self.n_open,
            "n_untested": self.n_untested,
            "labels_left_alone": list(self.left_alone),
        }

    @property
    def explanation(self) -> str:
        """Say what is not excluded."""
        few = (
            "it could not be tested"
            if self.n_untested and self.upper == 1
            else (f"a loss of {100 * self.upper:.1f} points is not excluded")
        )
        others = (
            f", and of {say_count(self.n_open - 1, 'other label')} likewise"
            if self.n_open > 1
            else ""
        )
        return (
            f"Of the label {self.name} ({say_count(self.n, 'reworded text')}) {few}{others}; the "
            f"margin of a label is {100 * self.margin:g} points."
        )


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
    """p-value of "the accuracies are equal", of the paired test over all pairs; over the reworded
    ones, if the classifier does not answer all others equally."""
    p_adjusted: float
    """The same, adjusted to all that may be claimed: below alpha if, and only if, a difference is
    shown."""
    levels: ClaimLevels
    """What each claim is held to."""
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
    """Level of the family of claims."""
    strata: StratifiedResult | None = None
    """Losses and gains by label; None if the gold labels are not known, or are one."""
    label_loss: LabelLoss | None = None
    """The largest loss of a label that is not excluded; None if the gold labels are not known."""
    excess: ExcessFlips | None = None
    """Flips beyond those on texts that were left alone, by which the verdict on flips goes; None if
    no such text has two answers."""
    left_alone: PairedCounts | None = None
    """The four counts on the texts that were left alone, if some of these are discordant: the
    classifier then does not answer equal texts equally. None otherwise."""
    alternative: Alternative = "two-sided"
    """Of ``p_difference``."""
    n_versions: int = 1
    """How many versions share alpha: their intervals hold together."""
    p_floor: float | None = None
    """The smallest that ``p_difference`` can be, if it is counted among replicates; else None."""
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
        """Whether the accuracies are shown to differ, of a classifier that does not guess."""
        return self.p_difference < self.levels.difference and not self.collapsed

    @property
    def flip_verdict(self) -> FlipVerdict | None:
        """What is shown of flips, at the level of this claim; None if nothing is known of them."""
        tested = self.excess or self.flips
        if tested is None or self.flips is None:
            return None
        if tested.p_above < self.levels.flips:
            return FlipVerdict.ABOVE
        is_below = tested.p_below < self.levels.alike and not self.flips.is_lower_bound
        return FlipVerdict.BELOW if is_below else FlipVerdict.OPEN

    @property
    def p_alike(self) -> float:
        """The p-value of "alike": the largest of those of all that has to be excluded."""
        tested = self.excess or self.flips
        if self.equivalence is None or tested is None:
            return 1.0
        labels = 0.0 if self.label_loss is None else self.label_loss.p_value
        return max(self.equivalence.p_value, tested.p_below, labels)

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
        flips = self.flip_verdict
        if self.n_reworded is None and flips is FlipVerdict.BELOW:
            flips = None  # texts that were left alone may hide those that were not
        return judge(
            differs=self.differs,
            equivalent=self.equivalence.p_value < self.levels.alike,
            flips=flips,
            uneven=self.uneven,
            is_bounded=self.label_loss is None or self.label_loss.p_value < self.levels.alike,
        )

    @property
    def is_alike(self) -> bool:
        """Whether everything that matters is excluded."""
        return self.verdict is Verdict.ALIKE

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
            "p_adjusted": self.p_adjusted,
            "discordant_left_alone": 0 if self.left_alone is None else self.left_alone.k,
            "delta": self.delta,
            "discordance_rate": self.discordance_rate,
            "equivalence": None if self.equivalence is None else self.equivalence.to_dict(),
            "flips": None if self.flips is None else self.flips.to_dict(),
            "symmetry": None if self.symmetry is None else self.symmetry.to_dict(),
            "strata": None if self.strata is None else self.strata.to_dict(),
            "label_loss": None if self.label_loss is None else self.label_loss.to_dict(),
            "excess_flips": None if self.excess is None else self.excess.to_dict(),
            "alpha": self.alpha,
            "levels": asdict(self.levels),
            "collapsed": self.collapsed,
            "verdict": str(self.verdict),
            "headline": self.headline,
            "explanation": self.explanation,
        }

    def detailed_rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values of all parts, in reading order."""
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
            rows.append((f"  same by {self.strata.name}", say_p(self.strata.format_p())))
        if self.label_loss is not None and self.label_loss.n_labels > 1:
            bound = f"{100 * self.label_loss.upper:.1f} points ({self.label_loss.name})"
            rows.append(("  loss of a label", f"at most {bound}"))
        return rows

    @property
    def change(self) -> str:
        """Both accuracies on the reworded texts in percent, their difference and its interval."""
        if self.equivalence is None or self.counts is None:
            return "not known"
        return self._say_change(self.alpha)

    def _say_change(self, alpha: float) -> str:
        if self.equivalence is None or self.counts is None:
            return "not known"
        interval = self.equivalence.ends_at(alpha / self.n_versions / 2)
        before, after = self.counts.accuracy_original, self.counts.accuracy_transformed
        return show_change(before, after, (interval.low, interval.high), alpha=alpha)

    @property
    def headline(self) -> str:
        """The verdict in one sentence of at most 30 words, with the estimate and its interval."""
        if self.collapsed:
            return _COLLAPSED
        if self.equivalence is None or self.counts is None or self.flips is None:
            few = "only one text or one cluster was" if self.n_reworded else "no text was"
            return f"Undecided: {few} reworded."
        return self._say_verdict(self.verdict, self.counts, self.equivalence, self.flips)

    def _say_verdict(
        self,
        verdict: Verdict,
        counts: PairedCounts,
        equivalence: EquivalenceResult,
        flips: FlipResult,
    ) -> str:
        kind = "reworded text"
        if self.n_reworded is None:
            kind = "transformed text"
        texts = say_count(counts.n, kind)
        change = f"{self.change} on {texts}"
        if verdict is Verdict.DIFFERS:
            lower = "lower" if counts.delta > 0 else "higher"
            return f"Accuracy is {lower} on {texts}: {self.change}."
        if verdict is Verdict.CHANGES:
            return f"The classifier changes its mind: {self._say_what_changes(flips, texts)}."
        margin = brief_points(equivalence.margin)
        if verdict is Verdict.ALIKE:
            # The interval of the two one-sided tests, which lies within the margin.
            shown = f"{self._say_change(2 * self.alpha)} on {texts}"
            return (
                f"Alike within {margin} and {brief_percent(flips.margin)} of the answers: accuracy "
                f"{shown}, and {percent(flips.rate)} change."
            )
        if verdict is Verdict.EQUIVALENT:
            shown = f"{self._say_change(2 * self.alpha)} on {texts}"
            return f"Accuracy changes by less than {margin}: {shown}; {self._say_what_is_open()}."
        level = min(self.levels.difference, self.levels.alike)
        n = replace(equivalence, alpha=level).n_to_decide
        plan = "" if n is None else f"; some {n:,} would decide on accuracy"
        return f"Undecided: accuracy {change}{plan}."

    def _say_what_changes(self, flips: FlipResult, texts: str) -> str:
        """Say which answers change: many of all, or more of one label than of another."""
        if self.flip_verdict is FlipVerdict.ABOVE or self.strata is None:
            least = "at least " if flips.is_lower_bound else ""
            beyond = ""
            if self.excess is not None:
                beyond = f", {100 * self.excess.excess:.1f} points more than where left alone"
            return (
                f"{least}{percent(flips.rate)} of its answers change on {texts} "
                f"({self._say_ends(flips)}){beyond}"
            )
        parts = [
            f"{verb} on {each[0].name} ({show_points(-each[0].delta)})"
            + (f" and {say_count(len(each) - 1, 'other label')}" if len(each) > 1 else "")
            for verb, each in (("falls", self.strata.falling), ("rises", self.strata.rising))
            if each
        ]
        return f"accuracy {' and '.join(parts)}, {say_p(self.strata.format_p())}"

    def _say_ends(self, flips: FlipResult) -> str:
        """Say the interval of a flip rate; of a lower bound its lower end, as the other is none."""
        level = f"{100 * (1 - self.alpha):g}%"
        alpha = self.alpha / self.n_versions
        if flips.is_lower_bound:
            return f"{level} {100 * flips.ends_at(alpha).low:.1f} or more"
        ends = flips.ends_at(alpha / 2)
        return f"{level} {100 * ends.low:.1f} to {100 * ends.high:.1f}"

    def _say_what_is_open(self) -> str:
        """Say why accuracy is alike, and the classifier is not said to be."""
        if self.n_reworded is None:
            return "which texts were reworded is not known"
        loss = self.label_loss
        if self.flip_verdict is FlipVerdict.BELOW and loss is not None:
            return f"that the label {loss.name} loses {brief_points(loss.margin)} is not excluded"
        return "that few answers change is not shown"

    @property
    def explanation(self) -> str:
        """The verdict in plain words: the headline, and what it rests on."""
        if self.collapsed or self.equivalence is None:
            said = [self.headline, None if self.collapsed else self.caveat]
            return " ".join(each for each in said if each is not None)
        p = self._say_p()
        shown = "is" if self.differs else "is not"
        less_shown = "is" if self._is_equivalent else "is not"
        margin = brief_points(self.equivalence.margin)
        less = say_p(format_p(self.equivalence.p_value))
        tested = (
            f"{_WHAT_IS_TESTED[self.alternative]} in accuracy {shown} shown ({say_p(p)}); that it "
            f"is below {margin} {less_shown} ({less})."
        )
        said = [
            self.headline,
            tested,
            self.strata.explanation if self.strata is not None and self.uneven else None,
            self._say_flip_verdict(),
            self._say_label_loss(),
            self._say_dilution(),
            self.caveat,
        ]
        return " ".join(each for each in said if each is not None)

    @property
    def _is_equivalent(self) -> bool:
        return self.equivalence is not None and self.equivalence.p_value < self.levels.alike

    def _say_flip_verdict(self) -> str | None:
        flips = self.flip_verdict
        return None if self.flips is None or flips is None else self.flips.say(flips, self.excess)

    def _say_dilution(self) -> str | None:
        if self.n_reworded is not None or self.verdict is not Verdict.EQUIVALENT:
            return None
        return (
            "Texts that were not reworded dilute this: to judge the reworded ones, say which they "
            "are."
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values of what decides, in reading order."""
        level = f"alpha = {self.alpha:g} for all that is claimed"
        verdict = ("verdict", f"{self.verdict} ({level})")
        if self.equivalence is None or self.flips is None or self.collapsed:
            return [*self.detailed_rows()[:2], verdict]
        n = f"{self.n:,} texts; which are reworded is not known"
        if self.n_reworded is not None:
            n = f"{self.n_reworded:,} of {self.n:,} ({percent(self.n_reworded / self.n)})"
        least = "at least " if self.flips.is_lower_bound else ""
        changed = f"{percent(self.flips.rate)}, {self._say_ends(self.flips)}"
        kinds = _say_kinds(self.flips)
        rows = [
            ("texts" if self.n_reworded is None else "reworded", n),
            ("accuracy", f"{self.change}, {say_p(self._say_p())}"),
            ("answers changed", f"{least}{self.flips.n_flipped:,} ({changed})"),
        ]
        if kinds:
            rows.append(("", kinds))
        if self.excess is not None:
            floor = percent(self.excess.rate)
            rows.append(("  where left alone", f"{self.excess.n_flipped:,} ({floor})"))
        if self.label_loss is not None and self.label_loss.n_labels > 1:
            rows.append(("labels", self._say_labels(self.label_loss)))
        if self.strata is not None and self.strata.differs:
            rows.append(("", f"{self.strata.movement} ({say_p(self.strata.format_p())})"))
        return [*rows, verdict]

    def _say_labels(self, loss: LabelLoss) -> str:
        """Say which label loses most, and of which least is known."""
        most = f"{loss.largest} {show_points(-loss.delta)}" if loss.delta > 0 else "none loses"
        few = say_count(loss.n, "text")
        return (
            f"{most}; least certain: {loss.name} ({few}), a loss of up to "
            f"{100 * loss.upper:.1f} points"
        )

    def remarks(self) -> list[str]:
        """Return what speaks against the verdict, or is not looked at."""
        said = (self._say_label_loss(), self._say_dilution(), self.caveat)
        return [each for each in said if each is not None]

    @property
    def caveat(self) -> str | None:
        """Why the p-value does not speak of reworded texts alone; None if nothing is against it."""
        rest = None if self.left_alone is None else self._say_left_alone(self.left_alone)
        if self.equivalence is not None:
            return rest
        few = "Only one text or one cluster was" if self.n_reworded else "No text was"
        p = self._format_p()
        said = f"{few} reworded: there is nothing to tell two versions by ({say_p(p)})."
        return said if rest is None else f"{said} {rest}"

    def _say_label_loss(self) -> str | None:
        """Say which label stands in the way of "alike", or is not looked at; None if none is."""
        if self.label_loss is None or self.verdict not in {Verdict.ALIKE, Verdict.EQUIVALENT}:
            return None
        if self.label_loss.p_value >= self.levels.alike:
            return self.label_loss.explanation
        first, *more = self.label_loss.left_alone or (None,)
        if first is None:
            return None
        others = f" and {say_count(len(more), 'other label')}" if more else ""
        return f"Nothing is said of the label {first}{others}: no such text was reworded."

    def _say_p(self) -> str:
        """Write p, of which alternative, and what it is held to where that is not plain."""
        p = self._format_p()
        if self.alternative != "two-sided":
            p += ", one-sided"
        if self.levels.difference <= self.p_difference < self.alpha:
            p += f", held to {self.levels.difference:.3g}"
        return p

    def _format_p(self) -> str:
        return format_p(self.p_difference, floor=self.p_floor)

    def _say_left_alone(self, left_alone: PairedCounts) -> str:
        n = left_alone.k
        texts = say_count(n, "text that was", "texts that were")
        return (
            f"Warning: {texts} left alone {'has' if n == 1 else 'have'} another outcome, so "
            "the classifier does not answer equal texts equally: accuracy "
            f"{left_alone.accuracy_original:.1%} → {left_alone.accuracy_transformed:.1%} there. p "
            "asks whether the reworded ones change, and otherwise than these."
        )


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
    p_floor: float | None = None,
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
    p_difference, p_floor, alternative
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
    levels = ClaimLevels(difference=alpha, flips=alpha, labels=alpha, alike=alpha)
    if isinstance(sample, PairedCounts):
        found = InvarianceTestResult(
            n=sample.n,
            n_reworded=sample.n if reworded is True else None,
            p_difference=p_difference,
            p_adjusted=p_difference,
            levels=levels,
            counts=sample,
            equivalence=equivalence_test(
                sample, margin=margin, alpha=alpha, p_difference=p_difference
            ),
            flips=flip_test(sample, margin=flip_margin, alpha=alpha),
            symmetry=None,
            alpha=alpha,
            alternative=alternative,
            p_floor=p_floor,
        )
        return hold_together([found])[0]
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
    equivalence = flips = symmetry = strata = excess = None
    left_alone = _discordant_rest(sample, rows)
    if is_enough:
        if left_alone is not None:  # whose differences are no matter of rewording
            test = paired_test(
                own,
                clusters=units,
                alternative=alternative,
                n_resamples=n_resamples if units is not None else None,
                rng=rng,
                n_threads=n_threads,
            )
            p_difference, p_floor = test.p_value, test.p_floor
            beyond = _compare_losses(own, units, sample, rows, clusters)
            if beyond > p_difference:
                p_difference, p_floor = beyond, None
        equivalence = equivalence_test(
            own, clusters=units, margin=margin, alpha=alpha, p_difference=p_difference
        )
        flips, symmetry = _judge_answers(
            own, given, truth, clusters=units, margin=flip_margin, alpha=alpha
        )
        rest = np.ones(n, np.bool_)
        rest[rows] = False
        excess = ExcessFlips.of(
            flips,
            _find_flipped(sample, answers)[rest],
            clusters=None if clusters is None else clusters[rest],
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
    found = InvarianceTestResult(
        n=n,
        n_reworded=None if reworded is None else int(rows.size),
        p_difference=p_difference,
        p_adjusted=p_difference,
        levels=levels,
        counts=own.counts if rows.size else None,
        equivalence=equivalence,
        flips=flips,
        symmetry=symmetry,
        alpha=alpha,
        strata=strata,
        label_loss=_bound_labels(
            sample, labels, rows, clusters=clusters, margin=flip_margin, alpha=alpha
        ),
        excess=excess,
        left_alone=left_alone,
        alternative=alternative,
        p_floor=p_floor,
        collapsed=collapsed,
    )
    return hold_together([found])[0]


def hold_together(results: Sequence[InvarianceTestResult]) -> list[InvarianceTestResult]:
    """Share alpha between all that may be claimed of several versions, which have one alpha."""
    claims = [
        (place, question, p)
        for place, each in enumerate(results)
        for question, p in (
            ("difference", each.p_difference),
            ("flips", _p_of_flips(each)),
            ("labels", None if each.strata is None else each.strata.pvalue),
        )
        if p is not None
    ]
    alpha = results[0].alpha
    p_values = [p for _, _, p in claims]
    weights = [SHARES[question] for _, question, _ in claims]
    addresses = [(place, question) for place, question, _ in claims]
    held = dict(zip(addresses, share_alpha(p_values, weights, alpha=alpha), strict=True))
    adjusted = dict(zip(addresses, holm(p_values, weights), strict=True))
    alike = share_alpha([each.p_alike for each in results], [1] * len(results), alpha=alpha)
    found = []
    for place, each in enumerate(results):
        levels = ClaimLevels(
            difference=held[place, "difference"],
            flips=held.get((place, "flips"), 0.0),
            labels=held.get((place, "labels"), 0.0),
            alike=alike[place],
        )
        strata = None if each.strata is None else replace(each.strata, level=levels.labels)
        p_adjusted = adjusted[place, "difference"]
        equivalence = each.equivalence
        if equivalence is not None:
            equivalence = replace(equivalence, p_difference=p_adjusted)
        found.append(
            replace(
                each,
                levels=levels,
                p_adjusted=p_adjusted,
                strata=strata,
                equivalence=equivalence,
                n_versions=len(results),
            )
        )
    return found


def _p_of_flips(result: InvarianceTestResult) -> float | None:
    tested = result.excess or result.flips
    return None if tested is None else tested.p_above


def _find_flipped(
    sample: MatchedSample, answers: tuple[NDArray[Any], NDArray[Any]] | None
) -> NDArray[np.bool_]:
    """Return which pairs have two answers, or two outcomes if answers are not known."""
    before, after = answers or (sample.original_correct, sample.transformed_correct)
    return np.asarray(before != after, np.bool_)


def _bound_labels(
    sample: MatchedSample,
    labels: Any,
    rows: NDArray[np.int64],
    *,
    clusters: NDArray[Any] | None,
    margin: float,
    alpha: float,
) -> LabelLoss | None:
    """Bound the loss of every label on its reworded texts; None if labels are not known."""
    if labels is None or not rows.size:
        return None
    names, codes = number_strata(np.asarray(labels), "label", most=None)
    order = np.argsort(codes[rows], kind="stable")
    ends = np.cumsum(np.bincount(codes[rows], minlength=len(names)))
    parts = np.split(rows[order], ends[:-1])
    bounds: list[tuple[float, float, int]] = []
    losses: list[tuple[float, int]] = []
    for place, own in enumerate(parts):
        if not own.size:
            continue
        losses.append((sample.take(own).counts.delta, place))
        units = None if clusters is None else clusters[own]
        if own.size < 2 or (units is not None and not _has_two(units)):
            bounds.append((1.0, 1.0, place))
            continue
        pairs = sample.take(own)
        found = equivalence_test(
            pairs.counts if units is None else pairs,
            clusters=units,
            margin=margin,
            alpha=alpha,
            p_difference=1.0,
        )
        bounds.append((found.p_upper, found.interval.high, place))
    p_value = max(p for p, _, _ in bounds)
    _, upper, worst = max(bounds, key=lambda bound: (bound[1], bound[0]))
    delta, largest = max(losses, key=lambda loss: loss[0])
    return LabelLoss(
        largest=names[largest],
        delta=delta,
        name=names[worst],
        n=parts[worst].size,
        upper=upper,
        margin=margin,
        p_value=p_value,
        n_labels=len(bounds),
        n_open=sum(p >= alpha for p, _, _ in bounds),
        n_untested=sum(p == 1.0 and high == 1.0 for p, high, _ in bounds),
        left_alone=tuple(name for name, own in zip(names, parts, strict=True) if not own.size),
    )


def _compare_losses(
    own: MatchedSample,
    units: NDArray[Any] | None,
    sample: MatchedSample,
    rows: NDArray[np.int64],
    clusters: NDArray[Any] | None,
) -> float:
    """Compute the p-value of "texts that were left alone lose as much as the reworded ones".

    By the normal law, each loss with its standard error; 1 if too few were left alone.
    """
    rest = np.ones(len(sample), bool)
    rest[rows] = False
    others = None if clusters is None else clusters[rest]
    if rest.sum() < 2 or (others is not None and not _has_two(others)):
        return 0.0
    found = [
        equivalence_test(pairs, clusters=labels, p_difference=1.0)
        for pairs, labels in ((own, units), (sample.take(np.flatnonzero(rest)), others))
    ]
    error = math.hypot(*(each.standard_error for each in found))
    gap = abs(found[0].delta - found[1].delta)
    return math.erfc(gap / error / math.sqrt(2)) if error > 0 else float(gap == 0)


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
    if not 2 < np.unique(np.concatenate(answers)).size <= _MOST_MOVES:
        return flips, None
    return flips, symmetry_test(*answers, clusters=clusters)


def _judge_labels(
    sample: MatchedSample,
    labels: Any,
    rows: NDArray[np.int64],
    answers: tuple[NDArray[Any], ...] | None,
    **options: Any,
) -> StratifiedResult | None:
    """Tell losses and gains apart by label; None if there is one label."""
    if labels is None:
        return None
    own = np.asarray(labels)[rows]
    if np.unique(own).size < 2:
        return None
    names, codes = number_strata(own, "label", most=None)
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
        p_floor=test.p_floor,
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
