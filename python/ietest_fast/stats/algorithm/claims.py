"""Does an algorithm change its mind? What holds over its trainings, and one verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ietest_fast.errors import InputError
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
from ietest_fast.stats.algorithm.churn import read_labels, sum_products
from ietest_fast.stats.algorithm.crossed import AlgorithmTestResult, algorithm_test
from ietest_fast.stats.equivalence import Verdict
from ietest_fast.stats.flips import DEFAULT_FLIP_MARGIN, FlipVerdict
from ietest_fast.stats.inputs import as_clusters, check_lengths
from ietest_fast.stats.invariance import DEFAULT_MARGIN, judge
from ietest_fast.stats.multiple import share_alpha
from ietest_fast.stats.resampling import FEW_UNITS
from ietest_fast.stats.result import Result, list_fields
from ietest_fast.stats.robustness import is_collapsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: How alpha is shared between what may be claimed: the change in accuracy, which is the question
#: that is asked, whether it shrinks or grows with rho, answers that change by more than retraining
#: explains, and losses that go with the label.
SHARES = {"change": 7, "slope": 1, "churn": 1, "labels": 1}


@dataclass(frozen=True, kw_only=True)
class PairedChurn(Result):
    """Excess churn, tested over the pairs of trainings.

    Under H0 the M (M - 1) / 2 inner products of two classifiers' changes have mean 0 and are
    uncorrelated, however far trainings lean to some answer, and whichever texts go together. The
    pairs share M trainings, so t has Student's law with M - 1 degrees of freedom.
    """

    title = "Excess churn over pairs of trainings"

    n: int
    n_classifiers: int
    excess: float
    """As of :class:`ietest_fast.stats.ChurnResult`."""
    t: float
    p_value: float
    """One-sided."""

    @classmethod
    def of(cls, a: NDArray[np.int64], b: NDArray[np.int64]) -> Self | None:
        """Test answers as numbers, shape (n, M) each; None of fewer than three classifiers."""
        from scipy.special import stdtr

        n, m = a.shape
        if m < 3:
            return None
        products = [float(sum_products(a, b, *pair).mean()) for pair in combinations(range(m), 2)]
        mean = float(np.mean(products))
        error = float(np.std(products, ddof=1)) / math.sqrt(len(products))
        t = mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0
        return cls(n=n, n_classifiers=m, excess=mean / 2, t=t, p_value=float(stdtr(m - 1, -t)))

    @property
    def pvalue(self) -> float:
        """The p-value, as SciPy calls it."""
        return self.p_value

    @property
    def statistic(self) -> float:
        """The excess churn."""
        return self.excess

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [
            ("texts", f"{self.n:,}"),
            ("classifiers", f"{self.n_classifiers}"),
            ("excess churn", f"{self.excess:+.5f}"),
            ("p (more than retraining)", format_p(self.p_value)),
        ]


@dataclass(frozen=True, kw_only=True)
class LabelChange:
    """What an algorithm's accuracy on one label does."""

    name: str
    n: int
    """Reworded texts of that gold label."""
    delta: float
    """What it loses there."""
    p_other: float | None
    """p-value of "it loses as much as the other labels"; None of few texts that differ."""
    upper: float
    """Upper confidence bound of the loss, at 1 - alpha; 1 if it could not be tested."""
    p_bounded: float
    """p-value of "it loses the margin or more"."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmClaims(Result):
    """What is shown of an algorithm on the reworded texts: M trainings, one verdict."""

    title = "The algorithm, over its trainings"

    rho: float
    """Share of training texts that were rephrased."""
    change: AlgorithmTestResult
    """Of accuracy."""
    accuracy_original: float
    accuracy_transformed: float
    """Means over the classifiers."""
    flips: AlgorithmTestResult
    """Share of answers that change, and whether it is below the flip margin."""
    churn: PairedChurn | None
    """None of two classifiers."""
    labels: tuple[LabelChange, ...]
    """By gold label; empty if there is one."""
    slope: AlgorithmTestResult | None
    """How the loss changes from rho = 0 to 1, by a line; None with a single rho."""
    span: tuple[float, float]
    """The smallest and the largest rho."""
    collapsed: bool
    """Whether no classifier can be told from guessing on the originals."""
    alpha: float
    """Level of the family of claims."""
    levels: Mapping[str, float]
    """What the p-value of each claim is held to."""
    n_versions: int = 1
    """How many transformations share alpha: their intervals hold together."""

    @property
    def p_values(self) -> dict[str, float]:
        """The p-value of each claim."""
        found = {"change": self.change.p_value}
        if self.slope is not None:
            found["slope"] = self.slope.p_value
        if self.churn is not None:
            found["churn"] = self.churn.p_value
        tested = [each.p_other for each in self.labels if each.p_other is not None]
        if tested:
            found["labels"] = min(1.0, len(tested) * min(tested))
        return found

    @property
    def p_alike(self) -> float:
        """The p-value of "alike": the largest of those of all that has to be excluded."""
        parts = [self.change.p_equivalence, self.flips.p_upper]
        return max(parts + [each.p_bounded for each in self.labels])

    @property
    def differs(self) -> bool:
        """Whether accuracy is shown to change, of an algorithm that does not guess."""
        return self.is_shown("change") and not self.collapsed

    @property
    def verdict(self) -> Verdict:
        """What is shown; see :func:`ietest_fast.stats.judge`."""
        if self.collapsed:
            return Verdict.COLLAPSED
        level = self.levels["alike"]
        flips = FlipVerdict.ABOVE if self.is_shown("churn") else FlipVerdict.OPEN
        if self.flips.p_upper < level:
            flips = FlipVerdict.BELOW
        return judge(
            differs=self.differs,
            equivalent=self.change.p_equivalence < level,
            flips=flips,
            uneven=self.is_shown("labels") and any(each.p_bounded >= level for each in self.labels),
            is_bounded=all(each.p_bounded < level for each in self.labels),
        )

    @property
    def pvalue(self) -> float:
        """The p-value of "the algorithm's accuracy is the same"."""
        return self.change.p_value

    @property
    def statistic(self) -> float:
        """What accuracy falls by."""
        return self.change.delta

    def is_shown(self, claim: str) -> bool:
        """Whether a claim is shown, at the level that it is held to."""
        return self.p_values.get(claim, 1.0) < self.levels.get(claim, 0.0)

    def _say_change(self, alpha: float) -> str:
        ends = self.change.confidence_interval(1 - alpha / self.n_versions)
        return show_change(
            self.accuracy_original, self.accuracy_transformed, (ends.low, ends.high), alpha=alpha
        )

    @property
    def headline(self) -> str:
        """The verdict in one sentence of at most 30 words, with the estimate and its interval."""
        texts = say_count(self.change.n, "reworded text")
        change = self._say_change(self.alpha)
        margin = brief_points(self.change.margin)
        verdict = self.verdict
        if verdict is Verdict.COLLAPSED:
            return (
                "Collapsed: its trainings predict one class, or are not shown to be better than "
                "chance, so nothing can be said of reworded texts."
            )
        if verdict is Verdict.DIFFERS:
            lower = "lower" if self.change.delta > 0 else "higher"
            return f"Accuracy is {lower} on {texts}: {change}."
        if verdict is Verdict.CHANGES:
            return f"The algorithm changes its answers: {self._say_what_changes(texts)}."
        shown = f"{self._say_change(2 * self.alpha)} on {texts}"
        if verdict is Verdict.ALIKE:
            return (
                f"Alike within {margin} and {brief_percent(self.flips.margin)} of the answers: "
                f"accuracy {shown}, and {percent(self.flips.delta)} change."
            )
        if verdict is Verdict.EQUIVALENT:
            return f"Accuracy changes by less than {margin}: {shown}; {self._say_what_is_open()}."
        return f"Undecided: accuracy {change} on {texts}."

    def _say_what_changes(self, texts: str) -> str:
        if self.is_shown("churn") and self.churn is not None:
            more = f"{100 * self.churn.excess:.1f} points"
            return f"two trainings disagree {more} more often across the versions of {texts}"
        tested = [each for each in self.labels if each.p_other is not None]
        worst = min(tested, key=lambda each: each.p_other or 0.0)
        p = say_p(format_p(self.p_values["labels"]))
        return f"accuracy on {worst.name} moves by {show_points(-worst.delta)} on {texts}, {p}"

    def _say_what_is_open(self) -> str:
        loose = [each for each in self.labels if each.p_bounded >= self.levels["alike"]]
        if self.flips.p_upper < self.levels["alike"] and loose:
            worst = max(loose, key=lambda each: each.upper)
            margin = brief_points(self.change.margin)
            return f"that the label {worst.name} loses {margin} is not excluded"
        return "that few answers change is not shown"

    @property
    def trend(self) -> str | None:
        """How the change goes with rho, in one sentence; None with a single rho."""
        if self.slope is None:
            return None
        step = self.span[1] - self.span[0]
        ends = self.slope.confidence_interval(1 - self.alpha)
        return say_slope(
            self.span,
            -self.slope.delta * step,
            (-ends.high * step, -ends.low * step),
            is_shown=self.is_shown("slope"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name, and the verdict."""
        parts = {"change": self.change, "flips": self.flips}
        others = {"churn": self.churn, "slope": self.slope}
        found = list_fields(self, *parts, *others, "labels", "span", "levels")
        return found | {
            **{name: part.to_dict() for name, part in parts.items()},
            **{name: None if part is None else part.to_dict() for name, part in others.items()},
            "labels": [asdict(each) for each in self.labels],
            "span": list(self.span),
            "levels": dict(self.levels),
            "verdict": str(self.verdict),
            "headline": self.headline,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        lines = [
            ("texts", f"{self.change.n:,}"),
            ("trainings", f"{self.change.n_classifiers} at ρ = {self.rho:g}"),
            ("accuracy", self._say_change(self.alpha)),
            ("answers changed", percent(self.flips.delta)),
        ]
        return [*lines, ("verdict", f"{self.verdict} (alpha = {self.alpha:g} for all claims)")]

    def remarks(self) -> list[str]:
        """Return what the numbers say in plain words."""
        return [self.headline, *([] if self.trend is None else [self.trend])]


def say_slope(
    rhos: tuple[float, float], change: float, interval: tuple[float, float], *, is_shown: bool
) -> str:
    """Say how much larger a change in accuracy is at the largest rho, with its interval."""
    low, high = (show_points(end) for end in interval)
    moves = f"from ρ = {rhos[0]:g} to {rhos[1]:g} the change moves by {show_points(change)}"
    matters = "Training on rephrased texts matters"
    if not is_shown:
        matters = "That training on rephrased texts matters is not shown"
    return f"{matters}: {moves} ({low} to {high})."


def hold_claims_together(results: Sequence[AlgorithmClaims]) -> list[AlgorithmClaims]:
    """Share alpha between all that may be claimed of several transformations."""
    claims = [(place, *each) for place, own in enumerate(results) for each in own.p_values.items()]
    alpha = results[0].alpha
    held = share_alpha(
        [p for *_, p in claims], [SHARES[name] for _, name, _ in claims], alpha=alpha
    )
    alike = share_alpha([own.p_alike for own in results], [1] * len(results), alpha=alpha)
    found = []
    for place, own in enumerate(results):
        levels = {
            name: level for (of, name, _), level in zip(claims, held, strict=True) if of == place
        }
        levels["alike"] = alike[place]
        found.append(replace(own, levels=levels, n_versions=len(results)))
    return found


def count_distinct(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """Count the trainings that answer otherwise than those before them, of shape (n, M) each."""
    return int(np.unique(np.concatenate([a, b]), axis=1).shape[1])


def judge_algorithm(
    answers: Mapping[float, tuple[Any, Any]],
    gold: Any,
    *,
    rho: float | None = None,
    names: Sequence[str] | None = None,
    clusters: Any = None,
    margin: float = DEFAULT_MARGIN,
    flip_margin: float = DEFAULT_FLIP_MARGIN,
    alpha: float = 0.05,
) -> AlgorithmClaims:
    r"""Judge whether an algorithm changes its mind, on average over its trainings.

    The primary question is the change in accuracy of classifiers that were trained at the smallest
    rho. Beside it three more may be claimed; they share alpha by Holm's weighted procedure
    (:data:`SHARES`): the slope of the loss over rho, by least squares,
    :math:`\sum_\rho c_\rho d_{i \rho m}` with
    :math:`c_\rho = (\rho - \bar\rho) / \sum (\rho - \bar\rho)^2`; the excess churn
    (:class:`PairedChurn`); and, for each gold label, whether it loses as much as the others. All
    but the churn are tested by :func:`ietest_fast.stats.algorithm_test`.

    Parameters
    ----------
    answers
        By rho, the labels that M classifiers give to both versions of the same n reworded texts:
        two arrays of shape (n, M), M being 2 or more and the same for all rho.
    gold
        Shape (n,), the right answers.
    rho
        Which to judge; the smallest unless told otherwise.
    names
        What the labels in ``gold`` are called, where these are numbers.
    clusters
        Shape (n,), the cluster of each text.
    margin, flip_margin
        Changes of accuracy, and shares of answers that change, smaller than this do not matter.
    alpha
        Level of all that may be claimed, in (0, 0.5).

    Raises
    ------
    InputError
        If all trainings give the same answers, which makes them one classifier, and as for
        :func:`ietest_fast.stats.algorithm_test`.
    """
    rhos = sorted(answers)
    primary = rhos[0] if rho is None else rho
    tables = {own: read_labels(*pair)[:2] for own, pair in answers.items()}
    truth = np.asarray(gold)
    original, transformed = (np.asarray(each) for each in answers[primary])
    check_lengths(gold=truth, original=original)
    if count_distinct(*tables[primary]) < 2:
        raise InputError(
            "all trainings give the same answers: they are one classifier, whom invariance_test "
            "judges"
        )
    right = {
        own: tuple(np.asarray(each) == truth[:, None] for each in pair)
        for own, pair in answers.items()
    }
    options: dict[str, Any] = {"clusters": clusters, "alpha": alpha}
    change = algorithm_test(*right[primary], margin=margin, **options)
    moved = original != transformed
    flips = algorithm_test(moved, np.zeros_like(moved), margin=flip_margin, **options)
    before, after = right[primary]
    unheld = AlgorithmClaims(
        rho=primary,
        change=change,
        accuracy_original=float(before.mean()),
        accuracy_transformed=float(after.mean()),
        flips=flips,
        churn=PairedChurn.of(*tables[primary]),
        labels=tuple(_judge_labels(before, after, truth, names, margin=margin, **options)),
        slope=_test_slope(right, rhos, margin=margin, **options) if len(rhos) > 1 else None,
        span=(rhos[0], rhos[-1]),
        collapsed=all(is_collapsed(column, truth) for column in original.T),
        alpha=alpha,
        levels={},
    )
    return hold_claims_together([unheld])[0]


def _test_slope(
    right: Mapping[float, tuple[Any, ...]], rhos: Sequence[float], **options: Any
) -> AlgorithmTestResult:
    """Test the slope over rho of what is lost on each text by each training."""
    centred = np.array(rhos) - np.mean(rhos)
    weights = centred / float(np.square(centred).sum())
    slopes = sum(
        weight * (right[rho][0].astype(float) - right[rho][1])
        for weight, rho in zip(weights, rhos, strict=True)
    )
    return algorithm_test(slopes, np.zeros_like(slopes), **options)


def _judge_labels(
    before: NDArray[np.bool_],
    after: NDArray[np.bool_],
    gold: NDArray[Any],
    names: Sequence[str] | None,
    *,
    margin: float,
    alpha: float,
    clusters: Any,
) -> list[LabelChange]:
    """Test of each label whether it loses as much as the others, and bound what it loses."""
    kinds, codes = np.unique(gold, return_inverse=True)
    if kinds.size < 2:
        return []
    units = None if clusters is None else as_clusters(clusters, gold.size)[0]
    lost = before.astype(float) - after
    found = []
    for place, kind in enumerate(kinds.tolist()):
        own = codes == place
        n = int(own.sum())
        name = str(kind) if names is None else names[kind]
        delta = float(lost[own].mean())
        n_units = n if units is None else int(np.unique(units[own]).size)
        upper = p_bounded = 1.0
        if n_units > 1:
            bounded = algorithm_test(
                before[own],
                after[own],
                clusters=None if units is None else units[own],
                margin=margin,
                alpha=alpha,
            )
            upper = bounded.confidence_interval(1 - 2 * alpha).high
            p_bounded = bounded.p_upper
        differing = np.flatnonzero(own & (before != after).any(axis=1))
        n_differing = differing.size if units is None else np.unique(units[differing]).size
        p_other = None
        if n_differing >= FEW_UNITS:
            sides = np.where(own, 1 / n, -1 / (gold.size - n)) * gold.size
            contrast = lost * sides[:, None]
            p_other = algorithm_test(
                contrast, np.zeros_like(contrast), clusters=clusters, margin=1.0
            ).p_value
        found.append(
            LabelChange(
                name=name, n=n, delta=delta, p_other=p_other, upper=upper, p_bounded=p_bounded
            )
        )
    return found
