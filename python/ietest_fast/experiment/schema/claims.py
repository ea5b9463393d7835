"""What a condition comes down to: a verdict on its primary question, and what is claimed beside."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field

from ietest_fast.experiment.schema.cells import Level, Record, Share, Text
from ietest_fast.numerals import brief_points, say_count, show_change
from ietest_fast.stats import Verdict, judge

if TYPE_CHECKING:
    from ietest_fast.stats import InvarianceTestResult
    from ietest_fast.stats.algorithm.claims import AlgorithmClaims


class SlopeRecord(Record):
    """How the change in accuracy goes with rho, by a line from the smallest to the largest."""

    rhos: tuple[Share, Share]
    """The smallest and the largest."""
    change: float
    """How much larger the change is at the largest rho."""
    interval: tuple[float, float]
    is_shown: bool
    """Whether it is shown not to be 0."""


class ClaimsRecord(Record):
    """One verdict, its sentence, and the p-values that share alpha."""

    rho: Share
    """Of the classifiers that the primary question is about."""
    n: Annotated[int, Field(ge=2)]
    """Reworded texts."""
    n_trainings: Annotated[int, Field(ge=1)]
    """Trainings that are not all the same: 1 of classifiers that always answer alike."""
    accuracy_original: Share
    accuracy_transformed: Share
    """There, means over the classifiers."""
    interval: tuple[float, float]
    """Of the change in accuracy, transformed minus original, at 1 - alpha; of all versions of a
    model together."""
    p_values: dict[str, Share]
    levels: dict[str, Share]
    """By claim, and what its p-value is held to."""
    alpha: Level
    """Of all claims together."""
    n_versions: Annotated[int, Field(ge=1)]
    """How many transformations of the model share it."""
    verdict: Verdict
    headline: Text
    """In one sentence."""
    slope: SlopeRecord | None = None
    """None with a single rho, or a single training."""

    @classmethod
    def of_change(
        cls,
        accuracies: tuple[float, float],
        ends: tuple[float, float],
        within: tuple[float, float],
        *,
        p_value: float,
        p_equivalence: float,
        alpha: float,
        margin: float,
        collapsed: bool,
        **about: Any,
    ) -> Self:
        """Judge a change in accuracy by itself, where nothing is known of answers or of labels.

        `ends` are those of what is lost at 1 - alpha, `within` at 1 - 2 alpha.
        """
        differs, equivalent = p_value < alpha, p_equivalence < alpha
        verdict = judge(differs=differs, equivalent=equivalent, flips=None)
        shown = show_change(*accuracies, ends, alpha=alpha)
        inner = show_change(*accuracies, within, alpha=2 * alpha)
        said = f"Undecided: accuracy {shown} on {{texts}}."
        if collapsed:
            verdict = Verdict.COLLAPSED
            said = (
                "Collapsed: every classifier predicts one class, or is not shown to be better than "
                "chance, so nothing can be said of reworded texts."
            )
        elif verdict is Verdict.DIFFERS:
            lower = "lower" if accuracies[0] > accuracies[1] else "higher"
            said = f"Accuracy is {lower} on {{texts}}: {shown}."
        elif verdict is Verdict.EQUIVALENT:
            said = (
                f"Accuracy changes by less than {brief_points(margin)}: {inner} on {{texts}}; how "
                "many answers change is not known."
            )
        return cls(
            accuracy_original=accuracies[0],
            accuracy_transformed=accuracies[1],
            interval=(-ends[1], -ends[0]),
            p_values={"change": p_value},
            levels={"change": alpha},
            alpha=alpha,
            n_versions=1,
            verdict=verdict,
            headline=said.format(texts=say_count(about["n"], "text")),
            **about,
        )

    @property
    def change(self) -> float:
        """Accuracy on the transformed texts minus accuracy on the originals."""
        return self.accuracy_transformed - self.accuracy_original

    @classmethod
    def of_algorithm(cls, claims: AlgorithmClaims) -> Self:
        """Keep what is shown over several trainings."""
        ends = claims.change.confidence_interval(1 - claims.alpha / claims.n_versions)
        slope = None
        if claims.slope is not None:
            step = claims.span[1] - claims.span[0]
            of_slope = claims.slope.confidence_interval(1 - claims.alpha)
            slope = SlopeRecord(
                rhos=claims.span,
                change=-claims.slope.delta * step,
                interval=(-of_slope.high * step, -of_slope.low * step),
                is_shown=claims.is_shown("slope"),
            )
        return cls.from_result(
            claims,
            n=claims.change.n,
            n_trainings=claims.change.n_classifiers,
            interval=(-ends.high, -ends.low),
            levels={name: claims.levels[name] for name in claims.p_values},
            slope=slope,
        )

    @classmethod
    def of_classifier(cls, found: InvarianceTestResult, *, rho: float) -> Self | None:
        """Keep what is shown of one training; None if fewer than two texts were reworded."""
        if found.counts is None or found.equivalence is None or found.flips is None:
            return None
        ends = found.equivalence.ends_at(found.alpha / found.n_versions / 2)
        tested = found.excess or found.flips
        p_values = {"change": found.p_difference, "flips": tested.p_above}
        levels = {"change": found.levels.difference, "flips": found.levels.flips}
        if found.strata is not None:
            p_values["labels"], levels["labels"] = found.strata.pvalue, found.levels.labels
        return cls.from_result(
            found,
            rho=rho,
            n=found.counts.n,
            n_trainings=1,
            accuracy_original=found.counts.accuracy_original,
            accuracy_transformed=found.counts.accuracy_transformed,
            interval=(-ends.high, -ends.low),
            p_values=p_values,
            levels=levels,
        )
