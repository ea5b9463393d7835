"""M classifiers at one rho, a model under a transformation, and a model under several."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, computed_field, model_validator

from ietest_fast.experiment.schema.cells import (
    CellResult,
    Correction,
    Count,
    Level,
    Number,
    Record,
    Share,
    Spread,
    Text,
    TrainSize,
    adjust,
)
from ietest_fast.experiment.schema.claims import ClaimsRecord
from ietest_fast.stats import (
    FlipVerdict,
    Interval,
    RobustnessResult,
    Verdict,
    judge,
    power,
    robustness,
)
from ietest_fast.stats.algorithm.crossed import WeightedStudent, algorithm_of_counts
from ietest_fast.stats.planning.power import difference_beside_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.stats import AlgorithmTestResult, ChurnResult

# The laws of larger test sets take too long to enumerate for a remark.
_MOST_PAIRS_FOR_POWER = 10**6

_LEVEL = 0.95
"""Of the intervals that are written down."""


class ChurnRecord(Record):
    """The excess churn of M classifiers on the reworded texts."""

    n: Annotated[int, Field(ge=2)]
    flip_rate: Share
    churn_original: Share
    churn_transformed: Share
    churn_across: Share
    excess: float
    """As of :class:`ietest_fast.stats.ChurnResult`."""
    interval: tuple[float, float]
    """Ends of the 95% interval of the excess churn."""
    p_value: Share
    method: Literal["exact", "resample"]
    n_resamples: Annotated[int, Field(ge=1)] | None
    seed: Count | None
    """As of :class:`ietest_fast.stats.ChurnResult`."""

    @computed_field
    @property
    def noise_floor(self) -> float:
        """How often two classifiers disagree on the same version."""
        return (self.churn_original + self.churn_transformed) / 2

    @classmethod
    def of(cls, result: ChurnResult) -> Self:
        """Keep what a test found."""
        return cls.from_result(result, interval=result.confidence_interval())


class AlgorithmRecord(Record):
    """What is shown of the algorithm, whichever training it gets, on the reworded texts."""

    n: Annotated[int, Field(ge=2)]
    n_units: Annotated[int, Field(ge=2)]
    n_classifiers: Annotated[int, Field(ge=2)]
    delta: float
    standard_error: Annotated[float, Field(ge=0)]
    training_weight: Share
    t: Number
    p_value: Share
    """As of :class:`ietest_fast.stats.AlgorithmTestResult`."""
    interval: tuple[float, float]
    prediction_interval: tuple[float, float]
    """Ends of the 95% intervals of the algorithm's delta, and of that of one more classifier."""
    sd_items: Annotated[float, Field(ge=0)]
    sd_classifiers: Annotated[float, Field(ge=0)]
    sd_residual: Annotated[float, Field(ge=0)]
    prediction_error: Annotated[float, Field(ge=0)]
    prediction_weight: Share
    margin: Level
    alpha: Level
    p_equivalence: Share
    """As of :class:`ietest_fast.stats.AlgorithmTestResult`."""

    def confidence_interval(self, confidence_level: float) -> Interval:
        """Return the interval of delta."""
        if confidence_level == _LEVEL:
            return Interval(*self.interval)
        law = WeightedStudent(self.training_weight, self.n_units - 1, self.n_classifiers - 1)
        half = law.quantile((1 - confidence_level) / 2) * self.standard_error
        return Interval(self.delta - half, self.delta + half)

    @computed_field
    @property
    def equivalent(self) -> bool:
        """Whether the algorithm's delta is shown to be below the margin."""
        return self.p_equivalence < self.alpha

    @classmethod
    def of(cls, result: AlgorithmTestResult) -> Self:
        """Keep what a test found."""
        return cls.from_result(
            result,
            interval=result.confidence_interval(),
            prediction_interval=result.prediction_interval(),
        )


class Sensitivity(Record):
    """What the test of one classifier, at level alpha / M, could find."""

    margin: Level
    """A difference of the accuracies, either way."""
    discordance: Share
    """Mean share of discordant pairs, from which the rest follows."""
    power: Share
    """Probability that a difference of `margin` is found."""

    @classmethod
    def of(cls, cells: Sequence[CellResult], *, margin: float, alpha: float) -> Self | None:
        """Find it at the mean discordance of classifiers; None for more than a million pairs."""
        n = cells[0].n
        discordance = sum(cell.counts.k for cell in cells) / (n * len(cells))
        if n > _MOST_PAIRS_FOR_POWER:
            return None
        return cls(
            margin=margin,
            discordance=discordance,
            # A difference is at most the share of discordant pairs.
            power=power(n, max(discordance, margin), margin, alpha=alpha, n_tests=len(cells)),
        )


def find_detectable(cells: Sequence[CellResult], *, alpha: float) -> float | None:
    """Return the smallest difference that one of the M tests shows with 80% power."""
    return difference_beside_test(
        cells[0].n,
        float(np.mean([cell.counts.discordance_rate for cell in cells])),
        alpha=alpha,
        n_tests=len(cells),
    )


class RhoResult(Record):
    """The IE test at one rho."""

    rho: Share
    """Probability of transformation."""
    alpha: Level
    """Level of the whole test."""
    correction: Correction
    """How the M p-values become one decision."""
    p_adjusted: tuple[Share, ...]
    """The p-value of each classifier, corrected for M tests."""
    sensitivity: Sensitivity | None
    detectable_difference: Share | None
    """What could have been found, and the smallest difference that one of the M tests shows with
    80% power; None if that is not known (clusters, more than a million pairs)."""
    churn: ChurnRecord | None = None
    """The excess churn of the M classifiers on the reworded texts; None for fewer than two of
    either, or if it was read from counts."""
    algorithm: AlgorithmRecord | None = None
    """What is shown of the algorithm that trained them, on the reworded texts; None likewise."""
    signature: Text | None
    """How it came about; None if it was read from counts."""
    cells: Annotated[tuple[CellResult, ...], Field(min_length=1)]
    """M classifiers, by m."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if [cell.m for cell in self.cells] != list(range(len(self.cells))):
            raise ValueError(f"m is 0 to {len(self.cells) - 1}, each once")
        if any(cell.rho != self.rho for cell in self.cells):
            raise ValueError("a classifier is of another rho")
        if len({cell.n for cell in self.cells}) > 1:
            raise ValueError("the classifiers' counts are not of equally many observations")
        if len(self.p_adjusted) != len(self.cells):
            raise ValueError("p_adjusted does not have one value for each classifier")
        return self

    @classmethod
    def from_cells(
        cls,
        cells: Sequence[CellResult],
        *,
        alpha: float,
        correction: Correction = "bonferroni",
        p_adjusted: Sequence[float] | None = None,
        **more: Any,
    ) -> Self:
        """Decide over the classifiers of one rho, by m.

        `p_adjusted` is needed for ``"maxt"`` and ``"minp"``; it is found from the p-values
        otherwise. `more` are other fields; those that can be None are so if they are not given.
        """
        if p_adjusted is None:
            p_adjusted = adjust([cell.p_value for cell in cells], correction)
        unknown = dict.fromkeys(("sensitivity", "detectable_difference", "signature"))
        return cls.from_result(
            cells[0],
            alpha=alpha,
            correction=correction,
            p_adjusted=tuple(p_adjusted),
            cells=tuple(cells),
            **(unknown | more),
        )

    @computed_field
    @property
    def accuracy_original(self) -> Spread:
        """Accuracy on the original test set over the M classifiers."""
        return Spread.of([cell.accuracy_original for cell in self.cells])

    @computed_field
    @property
    def accuracy_transformed(self) -> Spread:
        """Accuracy on the transformed test set over the M classifiers."""
        return Spread.of([cell.accuracy_transformed for cell in self.cells])

    @computed_field
    @property
    def delta(self) -> Spread:
        """Accuracy on the originals minus accuracy on the transformed, over the classifiers."""
        return Spread.of([cell.delta for cell in self.cells])

    @computed_field
    @property
    def t(self) -> Spread:
        """The statistic over the M classifiers."""
        return Spread.of([cell.t for cell in self.cells])

    @property
    def is_joint(self) -> bool:
        """Whether the M tests are one joint test, whose corrected p-values are held to alpha."""
        return self.correction in {"maxt", "minp"}

    @computed_field
    @property
    def p_min(self) -> float:
        """The smallest p-value; the smallest corrected one under a joint test."""
        if self.is_joint:
            return min(self.p_adjusted)
        return min(cell.p_value for cell in self.cells)

    @computed_field
    @property
    def threshold(self) -> float:
        """What the smallest p-value is compared with: alpha / M, or alpha under a joint test."""
        return self.alpha if self.is_joint else self.alpha / len(self.cells)

    @computed_field
    @property
    def reject(self) -> bool:
        """Whether invariance is rejected: the smallest p-value lies below the threshold."""
        return self.p_min < self.threshold

    @computed_field
    @property
    def verdict(self) -> Verdict:
        """What is shown at this rho, by itself; see :meth:`judge`."""
        return self.judge_alone(differs=self.reject)

    def judge_alone(self, *, differs: bool) -> Verdict:
        """Return what is shown by itself, given what is decided on accuracy."""
        churned = self.churn is not None and self.churn.p_value < self.alpha
        uneven = self.label_p is not None and self.label_p < self.alpha
        return self.judge(differs=differs, churned=churned, uneven=uneven)

    @property
    def label_p(self) -> float | None:
        """The smallest p-value of "losses are as common with every label", times M.

        None if the reworded texts or their labels are not known, or are one.
        """
        found = [cell.labels.p_value for cell in self.cells if cell.labels is not None]
        return min(1.0, len(found) * min(found)) if len(found) == len(self.cells) else None

    def uneven_cells(self, level: float) -> tuple[CellResult, ...]:
        """Return the classifiers that lose and gain by label, and perhaps more than the margin.

        The level is that of the M classifiers together.
        """
        return tuple(
            cell
            for cell in self.cells
            if cell.labels is not None
            and cell.labels.p_value < level / len(self.cells)
            and not cell.labels.all_equivalent_at(level)
        )

    def judge(
        self, *, differs: bool, churned: bool, uneven: bool = False, n_rhos: int = 1
    ) -> Verdict:
        """Return what is shown, given what is decided on accuracy, on churn and on labels.

        Nothing, if every classifier has collapsed. A difference, if that is decided, unless it is
        shown to be below the margin for each of the M classifiers (no correction is needed where
        all have to be shown). Else changed answers, if these classifiers flip more than the flip
        margin allows, or the algorithm's answers change by more than retraining explains and are
        not shown to change by less than the flip margin, or losses and gains go with the label and
        are not shown to be below the margin for each. Else what is shown for each of the M
        classifiers: alike, or accuracy that is equivalent, or nothing. What is judged here is
        corrected for so many rho.
        """
        if all(cell.collapsed for cell in self.cells):
            return Verdict.COLLAPSED
        level = self.alpha / n_rhos
        flips = [cell.flips_at(below=level, above=level / len(self.cells)) for cell in self.cells]
        found: FlipVerdict | None = FlipVerdict.ABOVE if churned else FlipVerdict.OPEN
        if FlipVerdict.ABOVE in flips:
            found = FlipVerdict.ABOVE
        elif all(each is FlipVerdict.BELOW for each in flips):
            found = FlipVerdict.BELOW
        return judge(
            differs=differs,
            equivalent=all(cell.is_equivalent_at(level) for cell in self.cells),
            flips=found,
            uneven=uneven and bool(self.uneven_cells(self.alpha)),
        )

    @property
    def reworded_delta(self) -> Spread | None:
        """Delta on the reworded texts over the classifiers; None if they are not known."""
        own = [cell.reworded.delta for cell in self.cells if cell.reworded is not None]
        return Spread.of(own) if len(own) == len(self.cells) else None

    @property
    def shown_delta(self) -> Spread:
        """Delta on the reworded texts where they are known, else over all."""
        return self.delta if self.reworded_delta is None else self.reworded_delta

    @property
    def flip_rate(self) -> Spread | None:
        """Flip rate on the reworded texts over the classifiers; None if they are not known."""
        own = [cell.reworded.flips.rate for cell in self.cells if cell.reworded is not None]
        return Spread.of(own) if len(own) == len(self.cells) else None

    @property
    def rejecting(self) -> tuple[CellResult, ...]:
        """The classifiers whose own tests reject."""
        if self.correction == "bonferroni":
            return tuple(cell for cell in self.cells if cell.p_value < self.threshold)
        return tuple(
            cell for cell, p in zip(self.cells, self.p_adjusted, strict=True) if p < self.alpha
        )

    @property
    def liberal(self) -> tuple[CellResult, ...]:
        """The classifiers with too few discordant pairs for the level of their tests."""
        level = self.alpha / len(self.cells)
        return tuple(cell for cell in self.cells if cell.is_liberal_at(level))

    @property
    def strongest(self) -> CellResult:
        """The classifier with the smallest p-value, and of several the first."""
        return min(self.cells, key=lambda cell: cell.p_value)

    @property
    def power(self) -> float | None:
        """Of one test against a difference of the margin; None if that is not known."""
        return None if self.sensitivity is None else self.sensitivity.power


class OverRho(Record):
    """What holds over all rho of a condition."""

    alpha: Level
    """Level over all rho."""
    p_values: tuple[Share, ...]
    """Of each rho: the smallest of its M corrected p-values."""
    p_adjusted: tuple[Share, ...]
    """The same, corrected for the number of rho: by Holm's rule, or drawn jointly where the
    correction for M is joint."""
    churn_p_adjusted: tuple[Share, ...] | None
    """p-values of the excess churn, corrected by Holm's rule; None without them."""
    label_p_adjusted: tuple[Share, ...] | None = None
    """p-values of "losses are as common with every label", corrected for M, and by Holm's rule;
    None without them."""
    algorithm_p_adjusted: tuple[Share, ...] | None
    """p-values of "the algorithm loses and gains nothing", corrected by Holm's rule; None without
    them."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len(self.p_values) != len(self.p_adjusted):
            raise ValueError("there is not one corrected p-value for each rho")
        return self

    @computed_field
    @property
    def p_value(self) -> float:
        """The smallest corrected p-value: that of "the accuracies are equal at every rho"."""
        return min(self.p_adjusted)

    @computed_field
    @property
    def reject(self) -> bool:
        """Whether invariance is rejected at some rho, at the level alpha over all of them."""
        return self.p_value < self.alpha


def correct_over_rho(
    rhos: Sequence[RhoResult], *, p_adjusted: Sequence[float] | None = None
) -> OverRho:
    """Correct the tests of a condition for the number of its rho.

    `p_adjusted` is for tests that were all drawn jointly; it is found by Holm's rule otherwise.
    """
    p_values = [min(rho.p_adjusted) for rho in rhos]
    churn = [rho.churn.p_value for rho in rhos if rho.churn is not None]
    algorithm = [rho.algorithm.p_value for rho in rhos if rho.algorithm is not None]
    labels = [rho.label_p for rho in rhos if rho.label_p is not None]
    return OverRho(
        alpha=rhos[0].alpha,
        p_values=tuple(p_values),
        p_adjusted=tuple(adjust(p_values, "holm") if p_adjusted is None else p_adjusted),
        churn_p_adjusted=tuple(adjust(churn, "holm")) if len(churn) == len(rhos) else None,
        algorithm_p_adjusted=tuple(adjust(algorithm, "holm"))
        if len(algorithm) == len(rhos)
        else None,
        label_p_adjusted=tuple(adjust(labels, "holm")) if len(labels) == len(rhos) else None,
    )


class CellAddress(Record):
    """Which classifier of a condition."""

    rho: Share
    m: Count


class RobustnessRecord(Record):
    """Signal-to-noise ratio (eq. 15) of accuracy on the original test set, over rho and m."""

    snr: Number | None
    """Over all classifiers, and over those that have not collapsed; None of fewer than two."""
    snr_interval: tuple[Number, Number] | None
    """Their ends; None where there is no interval."""
    snr_without_collapsed: Number | None
    """Over all classifiers, and over those that have not collapsed; None of fewer than two."""
    snr_without_collapsed_interval: tuple[Number, Number] | None
    """Their ends; None where there is no interval."""
    confidence_level: Level
    """Of the intervals."""
    collapsed: tuple[CellAddress, ...]
    """The classifiers that cannot be told from guessing."""


class ConditionResult(Record):
    """One model under one transformation, at every rho."""

    model: Text
    transformation: Text
    """Keys of the records in :class:`RunResult`; names, if it was read from counts."""
    train_size: TrainSize = None
    """Number of training rows; None for all."""
    signature: Text | None
    """How it came about; None if it was read from counts."""
    rhos: Annotated[tuple[RhoResult, ...], Field(min_length=1)]
    """One test for each rho, in the order of the configuration."""
    over_rho: OverRho
    """What holds over all rho."""
    claims: ClaimsRecord | None = None
    """The answer; None if the reworded texts are not known, or are fewer than two."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len({each.rho for each in self.rhos}) < len(self.rhos):
            raise ValueError("a rho is there twice")
        if len({len(each.cells) for each in self.rhos}) > 1:
            raise ValueError("there are not equally many classifiers at every rho")
        if len(self.over_rho.p_adjusted) != len(self.rhos):
            raise ValueError("over_rho does not have one value for each rho")
        return self

    @classmethod
    def of(
        cls,
        rhos: Sequence[RhoResult],
        *,
        model: str,
        transformation: str,
        train_size: int | None = None,
        signature: str | None = None,
        p_adjusted: Sequence[float] | None = None,
    ) -> Self:
        """Decide over the rho of a model and a transformation; see :func:`correct_over_rho`."""
        return cls(
            model=model,
            transformation=transformation,
            train_size=train_size,
            signature=signature,
            rhos=tuple(rhos),
            over_rho=correct_over_rho(rhos, p_adjusted=p_adjusted),
        )

    @property
    def key(self) -> tuple[str, str, int | None]:
        """What no other condition of a run has."""
        return self.model, self.transformation, self.train_size

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """All classifiers, by rho and m."""
        return tuple(cell for rho in self.rhos for cell in rho.cells)

    @property
    def collapsed(self) -> tuple[CellResult, ...]:
        """The classifiers that cannot be told from guessing."""
        return tuple(cell for cell in self.cells if cell.collapsed)

    @computed_field
    @property
    def reject(self) -> bool:
        """Whether invariance is rejected, at the level alpha over all rho."""
        return self.over_rho.reject

    @computed_field
    @functools.cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is shown at each rho, at the level alpha over all rho.

        What is shown at every rho needs no correction for their number, as all have to be shown.
        """
        places = range(len(self.rhos))
        whole = tuple(self._judge(place, n_rhos=1) for place in places)
        corrected = tuple(self._judge(place, n_rhos=len(self.rhos)) for place in places)
        if all(verdict is Verdict.ALIKE for verdict in whole):
            return whole
        if all(verdict in {Verdict.ALIKE, Verdict.EQUIVALENT} for verdict in whole):
            return tuple(
                verdict if verdict is Verdict.ALIKE else Verdict.EQUIVALENT for verdict in corrected
            )
        return corrected

    def _judge(self, place: int, *, n_rhos: int) -> Verdict:
        over, churn = self.over_rho, self.over_rho.churn_p_adjusted
        return self.rhos[place].judge(
            differs=over.p_adjusted[place] < over.alpha,
            churned=churn is not None and churn[place] < over.alpha,
            uneven=over.label_p_adjusted is not None and over.label_p_adjusted[place] < over.alpha,
            n_rhos=n_rhos,
        )

    @functools.cached_property
    def answer(self) -> ClaimsRecord:
        """The verdict and its sentence; of the change in accuracy alone where that is all known."""
        if self.claims is not None:
            return self.claims
        first = min(self.rhos, key=lambda rho: rho.rho)
        if len(first.cells) == 1:
            found = ClaimsRecord.of_classifier(first.cells[0].judge_alone(), rho=first.rho)
            assert found is not None  # noqa: S101 - all texts are taken
            return found
        counts = [cell.counts for cell in first.cells]
        margin, known = first.cells[0].equivalence.margin, first.algorithm
        if known is not None:
            counts = [cell.reworded.counts for cell in first.cells if cell.reworded is not None]
        # Without the answers, texts are taken to vary as much as they can.
        tested = algorithm_of_counts(
            counts,
            sd_residual=0 if known is None else known.sd_residual,
            margin=margin,
            alpha=first.alpha,
        )
        shown = tested if known is None else known
        ends, within = (shown.confidence_interval(1 - k * first.alpha) for k in (1, 2))
        return ClaimsRecord.of_change(
            (
                float(np.mean([each.accuracy_original for each in counts])),
                float(np.mean([each.accuracy_transformed for each in counts])),
            ),
            (ends.low, ends.high),
            (within.low, within.high),
            p_value=shown.p_value,
            p_equivalence=shown.p_equivalence,
            alpha=first.alpha,
            margin=margin,
            collapsed=all(cell.collapsed for cell in first.cells),
            rho=first.rho,
            n=counts[0].n,
            n_trainings=len(counts),
        )

    @property
    def verdict(self) -> Verdict:
        """What is shown."""
        return self.answer.verdict

    @property
    def alike(self) -> bool:
        """Whether everything that matters is shown to be excluded."""
        return self.verdict is Verdict.ALIKE

    @functools.cached_property
    def ratios(self) -> RobustnessResult:
        """Signal-to-noise ratio (eq. 15) of accuracy on the original test set, over rho and m."""
        return robustness(
            [cell.accuracy_original for cell in self.cells],
            [cell.collapsed for cell in self.cells],
            names=[f"rho {cell.rho:g}, m {cell.m}" for cell in self.cells],
        )

    @computed_field
    @functools.cached_property
    def robustness(self) -> RobustnessRecord:
        """The same, as it is written down."""
        every, without = self.ratios.every, self.ratios.without_collapsed
        return RobustnessRecord(
            snr=every.snr if every.n > 1 else None,
            snr_interval=every.interval,
            snr_without_collapsed=None if without is None or without.n < 2 else without.snr,
            snr_without_collapsed_interval=None if without is None else without.interval,
            confidence_level=self.ratios.confidence_level,
            collapsed=tuple(CellAddress(rho=cell.rho, m=cell.m) for cell in self.collapsed),
        )


class CochranRecord(Record):
    """Cochran's test of one classifier over the original and all transformed versions."""

    m: Count
    """Which classifier."""
    statistic: Annotated[float, Field(ge=0)]
    """Cochran's Q."""
    p_value: Share
    """Of "the outcomes of a text are exchangeable over all versions"."""
    method: Text
    n_resamples: Annotated[int, Field(ge=1)] | None
    seed: Count | None
    """As of :class:`ietest_fast.stats.CochranTestResult`."""


class AcrossTransformations(Record):
    """What holds over several transformations of one model at one rho."""

    model: Text
    """Key of the model."""
    train_size: TrainSize = None
    """Number of training rows; None for all."""
    rho: Share
    """Which rho."""
    alpha: Level
    """Level over all transformations."""
    transformations: Annotated[tuple[Text, ...], Field(min_length=2)]
    """Keys, in the order of the run."""
    p_values: tuple[Share, ...]
    """Of each transformation: the smallest of its M corrected p-values."""
    p_holm: tuple[Share, ...]
    """The same, corrected by Holm's rule for the number of transformations."""
    cochran: tuple[CochranRecord, ...]
    """Cochran's test of each classifier over all versions; empty but at rho = 0, where all
    transformations share their classifiers."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not len(self.transformations) == len(self.p_values) == len(self.p_holm):
            raise ValueError("there is not one p-value for each transformation")
        return self

    @classmethod
    def of(
        cls,
        conditions: Sequence[ConditionResult],
        *,
        rho: float,
        cochran: Sequence[CochranRecord] = (),
    ) -> Self:
        """Correct over the conditions of one model and number of training rows."""
        tests = [next(own for own in each.rhos if own.rho == rho) for each in conditions]
        p_values = [min(test.p_adjusted) for test in tests]
        return cls(
            model=conditions[0].model,
            train_size=conditions[0].train_size,
            rho=rho,
            alpha=tests[0].alpha,
            transformations=tuple(each.transformation for each in conditions),
            p_values=tuple(p_values),
            p_holm=tuple(adjust(p_values, "holm")),
            cochran=tuple(cochran),
        )

    @computed_field
    @property
    def reject(self) -> tuple[bool, ...]:
        """Whether invariance under each transformation is rejected."""
        return tuple(p < self.alpha for p in self.p_holm)

    @computed_field
    @property
    def cochran_p_value(self) -> float | None:
        """The smallest p-value of Cochran's tests times their number; None without such tests."""
        if not self.cochran:
            return None
        return min(1.0, len(self.cochran) * min(each.p_value for each in self.cochran))
