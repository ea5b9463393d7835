"""What is shown on the reworded texts: accuracy, flips, and churn beyond that of retraining."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, computed_field, model_validator

from ietest_fast.experiment.schema.parts import Count, Level, Number, Part, Share
from ietest_fast.experiment.schema.strata import StrataRecord
from ietest_fast.stats import FlipVerdict, PairedCounts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ietest_fast.stats import (
        AlgorithmTestResult,
        ChurnResult,
        EquivalenceResult,
        FlipResult,
        InvarianceTestResult,
        StratifiedResult,
    )


class EquivalenceRecord(Part):
    """Whether the difference of a classifier is shown to be below the margin.

    Attributes
    ----------
    equivalent
        Whether p lies below alpha.
    """

    margin: Level
    """Differences smaller than this do not matter."""
    alpha: Level
    """Level of the test."""
    p_value: Share
    """Of "the difference is at least the margin"."""
    interval: tuple[float, float]
    """Ends of the interval for delta, at confidence 1 - 2 alpha."""

    @computed_field
    @property
    def equivalent(self) -> bool:
        """Whether p lies below alpha."""
        return self.p_value < self.alpha

    @classmethod
    def of(cls, result: EquivalenceResult) -> Self:
        """Keep what a test found."""
        return cls(
            margin=result.margin,
            alpha=result.alpha,
            p_value=result.p_value,
            interval=(result.interval.low, result.interval.high),
        )


class FlipRecord(Part):
    """How often a classifier's answers flip on the reworded texts."""

    n: Annotated[int, Field(ge=1)]
    n_flipped: Count
    right_to_wrong: Count
    wrong_to_right: Count
    wrong_to_wrong: Count
    """Reworded texts, and the flips among them."""
    margin: Level
    """A smaller flip rate does not matter."""
    alpha: Level
    """Level of each test."""
    interval: tuple[Share, Share]
    """Ends of the interval for the flip rate, at confidence 1 - 2 alpha."""
    p_below: Share
    p_above: Share
    """p-values of "the flip rate is at least the margin" and of "at most"."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        kinds = self.right_to_wrong + self.wrong_to_right + self.wrong_to_wrong
        if kinds != self.n_flipped or self.n_flipped > self.n:
            raise ValueError("the flips do not add up")
        return self

    @computed_field
    @property
    def rate(self) -> float:
        """The share of reworded texts whose answer flips."""
        return self.n_flipped / self.n

    @computed_field
    @property
    def verdict(self) -> FlipVerdict:
        """What is shown of the flip rate at the level alpha."""
        return self.verdict_at(self.alpha, self.alpha)

    def verdict_at(self, below: float, above: float) -> FlipVerdict:
        """Return what is shown at other levels of the two tests."""
        if self.p_above < above:
            return FlipVerdict.ABOVE
        return FlipVerdict.BELOW if self.p_below < below else FlipVerdict.OPEN

    @classmethod
    def of(cls, result: FlipResult) -> Self:
        """Keep what a test found."""
        return cls(
            n=result.n,
            n_flipped=result.n_flipped,
            right_to_wrong=result.right_to_wrong or 0,
            wrong_to_right=result.wrong_to_right or 0,
            wrong_to_wrong=result.wrong_to_wrong or 0,
            margin=result.margin,
            alpha=result.alpha,
            interval=(result.interval.low, result.interval.high),
            p_below=result.p_below,
            p_above=result.p_above,
        )


class RewordedRecord(Part):
    """A classifier on the texts that were reworded."""

    n11: Count
    n10: Count
    n01: Count
    n00: Count
    """As of :class:`CellResult`, of the reworded texts."""
    equivalence: EquivalenceRecord
    """Is the difference of accuracies there below the margin?"""
    flips: FlipRecord
    """How often answers flip there."""
    strata: tuple[StrataRecord, ...] = ()
    """Losses and gains there by column: first by ``label``, if there are 2 to 20 gold labels."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.counts.n != self.flips.n or self.counts.k > self.flips.n_flipped:
            raise ValueError("the flips are not those of the counts")
        return self

    @classmethod
    def of(
        cls, result: InvarianceTestResult, strata: Iterable[StratifiedResult] = ()
    ) -> Self | None:
        """Keep what was found; None if fewer than two texts (or clusters) were reworded.

        Parameters
        ----------
        result
            The tests of the reworded texts.
        strata
            More columns of strata than the gold labels.
        """
        if result.equivalence is None or result.flips is None or result.counts is None:
            return None
        counts = result.counts
        return cls(
            n11=counts.n11,
            n10=counts.n10,
            n01=counts.n01,
            n00=counts.n00,
            equivalence=EquivalenceRecord.of(result.equivalence),
            flips=FlipRecord.of(result.flips),
            strata=tuple(
                StrataRecord.of(each)
                for each in ((result.strata,) if result.strata is not None else ()) + tuple(strata)
            ),
        )

    @property
    def labels(self) -> StrataRecord | None:
        """Losses and gains by gold label; None if there are too many labels, or one."""
        return next((each for each in self.strata if each.name == "label"), None)

    @functools.cached_property
    def counts(self) -> PairedCounts:
        """The four counts."""
        return PairedCounts(self.n11, self.n10, self.n01, self.n00)

    @computed_field
    @property
    def n(self) -> int:
        """Number of reworded texts."""
        return self.counts.n

    @computed_field
    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed ones, of reworded texts."""
        return self.counts.delta

    @computed_field
    @property
    def discordance_rate(self) -> float:
        """Share of the reworded texts on which one of the two answers is right."""
        return self.counts.discordance_rate


class ChurnRecord(Part):
    """The excess churn of M classifiers on the reworded texts.

    Attributes
    ----------
    n, flip_rate, churn_original, churn_transformed, churn_across, excess, p_value, method, \
n_resamples, seed
        As of :class:`ietest_fast.stats.ChurnResult`.
    interval
        Ends of the 95% interval of the excess churn.
    """

    n: Annotated[int, Field(ge=2)]
    flip_rate: Share
    churn_original: Share
    churn_transformed: Share
    churn_across: Share
    excess: float
    interval: tuple[float, float]
    p_value: Share
    method: Literal["exact", "resample"]
    n_resamples: Annotated[int, Field(ge=1)] | None
    seed: Count | None

    @computed_field
    @property
    def noise_floor(self) -> float:
        """How often two classifiers disagree on the same version."""
        return (self.churn_original + self.churn_transformed) / 2

    @classmethod
    def of(cls, result: ChurnResult) -> Self:
        """Keep what a test found."""
        interval = result.confidence_interval()
        own = {name: getattr(result, name) for name in cls.model_fields if name != "interval"}
        return cls(interval=(interval.low, interval.high), **own)


class AlgorithmRecord(Part):
    """What is shown of the algorithm, whichever training it gets, on the reworded texts.

    Attributes
    ----------
    n, delta, standard_error, df, t, p_value, sd_items, sd_classifiers, sd_residual, \
prediction_error, prediction_df, p_next_loses, margin, alpha, p_equivalence
        As of :class:`ietest_fast.stats.AlgorithmTestResult`.
    interval, prediction_interval
        Ends of the 95% intervals of the algorithm's delta, and of that of one more classifier.
    """

    n: Annotated[int, Field(ge=2)]
    delta: float
    standard_error: Annotated[float, Field(ge=0)]
    df: Number
    t: Number
    p_value: Share
    interval: tuple[float, float]
    prediction_interval: tuple[float, float]
    sd_items: Annotated[float, Field(ge=0)]
    sd_classifiers: Annotated[float, Field(ge=0)]
    sd_residual: Annotated[float, Field(ge=0)]
    prediction_error: Annotated[float, Field(ge=0)]
    prediction_df: Number
    p_next_loses: Share
    margin: Level
    alpha: Level
    p_equivalence: Share

    @computed_field
    @property
    def equivalent(self) -> bool:
        """Whether the algorithm's delta is shown to be below the margin."""
        return self.p_equivalence < self.alpha

    @classmethod
    def of(cls, result: AlgorithmTestResult) -> Self:
        """Keep what a test found."""
        interval, prediction = result.confidence_interval(), result.prediction_interval()
        own = {
            name: getattr(result, name)
            for name in cls.model_fields
            if not name.endswith("interval")
        }
        return cls(
            interval=(interval.low, interval.high),
            prediction_interval=(prediction.low, prediction.high),
            **own,
        )


class OverRho(Part):
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
