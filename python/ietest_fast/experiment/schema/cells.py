"""One classifier, tested; before it what all results are made of, and what each test has found."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    computed_field,
    model_validator,
)

from ietest_fast.stats import (
    FlipVerdict,
    Interval,
    PairedCounts,
    bonferroni,
    equivalence_test,
    flip_test,
    holm,
    judge_pairs,
    paired_test,
)
from ietest_fast.stats.planning.power import is_liberal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ietest_fast.stats import (
        InvarianceTestResult,
        PairedTestResult,
        StratifiedResult,
    )


# What all parts of the results are made of: numbers that JSON can hold, and frozen classes.


def _read_number(value: Any) -> Any:
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("is not a number")
    return value


def _write_number(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


# JSON has no infinities.
Number = Annotated[
    float,
    Field(allow_inf_nan=True),
    BeforeValidator(_read_number),
    PlainSerializer(_write_number, return_type=float | str, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}),
]
Share = Annotated[float, Field(ge=0, le=1)]
Level = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=0)]
Text = Annotated[str, Field(max_length=100_000)]
# Files are called so: no separator, no dot leads out of the folder.
Identity = Annotated[str, Field(max_length=200, pattern=r"^[0-9A-Za-z_-]+$")]
TrainSize = Annotated[int, Field(ge=2)] | None
Correction = Literal["bonferroni", "holm", "maxt", "minp"]


class Record(BaseModel):
    """A part of the results: frozen, strict about types, without NaN.

    A field that is a part itself also takes a result of :mod:`ietest_fast.stats` that has all the
    fields of that part.
    """

    model_config = ConfigDict(
        strict=True, frozen=True, extra="ignore", allow_inf_nan=False, from_attributes=True
    )

    @classmethod
    def from_result(cls, result: object, **more: Any) -> Self:
        """Take the fields from a result, by their names, but for those that `more` gives.

        Raises
        ------
        TypeError
            If `more` gives something else than fields.
        """
        if unknown := more.keys() - cls.model_fields.keys():
            raise TypeError(f"{cls.__name__} has no {min(unknown)}")
        names = [name for name in cls.model_fields if name not in more and hasattr(result, name)]
        return cls(**{name: getattr(result, name) for name in names}, **more)

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Take the fields from settings by way of JSON, for parts are strict about lists."""
        return cls.model_validate_json(json.dumps(settings, sort_keys=True, allow_nan=False))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return self.model_dump(mode="json")


class Spread(Record):
    """Mean and standard deviation over the M classifiers."""

    mean: Number | None
    """Infinite if some numbers are; None if they are so on both sides."""
    sd: float | None
    """Divisor M - 1; None if M is 1 or the mean is not finite."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise some numbers, infinite ones allowed, none of them NaN."""
        if math.inf in values and -math.inf in values:
            return cls(mean=None, sd=None)
        mean = float(np.mean(values))
        if len(values) < 2 or not math.isfinite(mean):
            return cls(mean=mean, sd=None)
        return cls(mean=mean, sd=float(np.std(values, ddof=1)))


def adjust(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Return p-values corrected for their number, in their order.

    Raises
    ------
    ValueError
        If the correction takes more than the p-values (``"maxt"``, ``"minp"``).
    """
    if correction not in {"bonferroni", "holm"}:
        raise ValueError(f"the correction {correction} needs its own adjusted p-values")
    return bonferroni(p_values) if correction == "bonferroni" else holm(p_values)


# What the tests of one classifier have found.

COUNTS = ("n11", "n10", "n01", "n00")


class Counted(Record):
    """What has the four counts among its fields; where they stand there is its own."""

    @functools.cached_property
    def counts(self) -> PairedCounts:
        """The four counts."""
        return PairedCounts(*(getattr(self, name) for name in COUNTS))


class StratumRecord(Counted):
    """The reworded texts of one stratum."""

    name: Text
    """The value that they have in common."""
    n11: Count
    n10: Count
    n01: Count
    n00: Count
    """As of :class:`CellResult`."""
    n_flipped: Count | None
    """Answers that flip; None of a stratum that is too small for a test."""
    p_value: Share | None
    p_adjusted: Share | None
    """Of "the accuracies are equal", and corrected by Holm's rule for the strata; None likewise."""
    p_equivalence: Share | None
    """Of "the difference is at least the margin"; None likewise."""

    @computed_field
    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.counts.delta

    @property
    def n(self) -> int:
        """Number of texts."""
        return self.n11 + self.n10 + self.n01 + self.n00


class StrataRecord(Record):
    """The reworded texts by the values of one column, and whether these differ."""

    name: Text
    """Of the column; ``label`` is the gold label."""
    strata: Annotated[tuple[StratumRecord, ...], Field(min_length=1)]
    """In the order of the values."""
    statistic: Number
    df: Count
    p_value: Share
    method: Literal["exact", "resample", "clusters"]
    n_resamples: Annotated[int, Field(ge=1)] | None
    seed: Count | None
    """As of :class:`ietest_fast.stats.HeterogeneityResult`: is the share of losses among discordant
    pairs the same in every stratum?"""

    @classmethod
    def of(cls, result: StratifiedResult) -> Self:
        """Keep what was found."""
        return cls.from_result(
            result.heterogeneity,
            name=result.name,
            strata=tuple(
                StratumRecord.from_result(
                    each.counts,
                    name=each.name,
                    n_flipped=None if each.flips is None else each.flips.n_flipped,
                    p_value=each.p_value,
                    p_adjusted=each.p_adjusted,
                    p_equivalence=None if each.equivalence is None else each.equivalence.p_value,
                )
                for each in result.strata
            ),
        )

    def all_equivalent_at(self, level: float) -> bool:
        """Whether delta is shown to be below the margin in every stratum, at a level."""
        return all(
            each.p_equivalence is not None and each.p_equivalence < level for each in self.strata
        )


class EquivalenceRecord(Record):
    """Whether the difference of a classifier is shown to be below the margin."""

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


class FlipRecord(Record):
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


class RewordedRecord(Counted):
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
    """Losses and gains there by column: first by ``label``, if there are several gold labels."""

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

        `strata` are those of more columns than the gold labels.
        """
        if result.counts is None or result.equivalence is None:
            return None
        labels = () if result.strata is None else (result.strata,)
        return cls.from_result(
            result.counts,
            equivalence=result.equivalence,
            flips=result.flips,
            strata=tuple(map(StrataRecord.of, (*labels, *strata))),
        )

    @property
    def labels(self) -> StrataRecord | None:
        """Losses and gains by gold label; None if there is one label."""
        return next((each for each in self.strata if each.name == "label"), None)

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


class PairedRecord(Record):
    """The paired test of a classifier, as if its observations were independent."""

    method: Literal["exact", "multinomial", "resample"]
    alternative: Literal["two-sided", "greater", "less"]
    n_resamples: Annotated[int, Field(ge=1)] | None
    seed: Count | None
    p_value: Share
    p_paper: Share | None
    p_symmetric: Share
    p_mcnemar_exact: Share
    warning: Text | None
    """As of :class:`ietest_fast.stats.PairedTestResult`; `n_resamples` is S."""


class ClusteredRecord(Record):
    """The test of a classifier that draws whole clusters."""

    n_clusters: Annotated[int, Field(ge=2)]
    n_nonzero: Count
    t: Number
    p_value: Share
    p_paper: Share | None
    p_symmetric: Share
    design_effect: Annotated[float, Field(ge=0)] | None
    n_resamples: Annotated[int, Field(ge=1)]
    seed: Count
    warning: Text | None
    """As of :class:`ietest_fast.stats.ClusteredTestResult`; `n_resamples` is S."""


class CellResult(Counted):
    """One classifier, tested."""

    rho: Share
    m: Count
    """Which cell."""
    identity: Identity | None
    """sha256 of all that affects it; None if it was read from counts."""
    n11: Count
    n10: Count
    n01: Count
    n00: Count
    """Observations on which it is right on both versions, on the original only, on the transformed
    only, on neither."""
    test: PairedRecord
    """The paired test, as if its observations were independent."""
    clustered: ClusteredRecord | None
    """The test by clusters, which then decides; None without clusters."""
    equivalence: EquivalenceRecord
    """Is the difference below the margin, over all observations?"""
    reworded: RewordedRecord | None = None
    """The same on the reworded texts, with flips; None if fewer than two were reworded, or it was
    read from counts."""
    valid_accuracy: Share | None
    """Accuracy on its (resampled) validation set; None if it was read from counts."""
    train_transformed: Count | None
    valid_transformed: Count | None
    """How many observations of its resample are transformed ones; None if it was read from
    counts."""
    collapsed: bool
    """Whether it cannot be told from guessing: one class on everything, or not above chance."""

    @model_validator(mode="after")
    def _has_pairs(self) -> Self:
        _ = self.counts  # raises what is wrong with them
        return self

    @classmethod
    def of(cls, test: PairedTestResult, **more: Any) -> Self:
        """Keep what the tests of a classifier found.

        `more` are other fields, or results of tests in their place; those that can be None are so
        if they are not given.
        """
        measured = ("valid_accuracy", "train_transformed", "valid_transformed")
        unknown = dict.fromkeys(("identity", "clustered", *measured))
        return cls.from_result(test.counts, test=test, **(unknown | more))

    @classmethod
    def from_counts(
        cls,
        counts: PairedCounts,
        *,
        rho: float,
        m: int,
        collapsed: bool,
        alpha: float,
        margin: float,
    ) -> Self:
        """Test counts as a run does, by the exact law."""
        return cls.of(
            rho=rho,
            m=m,
            test=paired_test(counts),
            equivalence=equivalence_test(counts, margin=margin, alpha=alpha),
            collapsed=collapsed,
        )

    @computed_field
    @property
    def n(self) -> int:
        """Number of observations."""
        return self.counts.n

    @computed_field
    @property
    def accuracy_original(self) -> float:
        """Accuracy on the original test set."""
        return self.counts.accuracy_original

    @computed_field
    @property
    def accuracy_transformed(self) -> float:
        """Accuracy on the transformed test set."""
        return self.counts.accuracy_transformed

    @computed_field
    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.counts.delta

    @property
    def shown_delta(self) -> float:
        """Delta on the reworded texts where they are known, else over all."""
        return self.delta if self.reworded is None else self.reworded.delta

    @computed_field
    @property
    def t(self) -> Number:
        """The statistic of the test that decides."""
        return self.counts.t if self.clustered is None else self.clustered.t

    @computed_field
    @property
    def p_value(self) -> float:
        """The p-value that decides."""
        return self.test.p_value if self.clustered is None else self.clustered.p_value

    @property
    def warning(self) -> str | None:
        """What the reader has to know of the test that decides."""
        return self.test.warning if self.clustered is None else self.clustered.warning

    @property
    def interval(self) -> Interval:
        """The interval for delta, at confidence 1 - 2 alpha."""
        return Interval(*self.equivalence.interval)

    @property
    def is_equivalent(self) -> bool:
        """Whether the difference over all observations is shown to be below the margin."""
        return self.equivalence.equivalent

    def is_equivalent_at(self, level: float) -> bool:
        """Whether that is shown, of the reworded texts where they are known, at a level."""
        own = self.equivalence if self.reworded is None else self.reworded.equivalence
        return own.p_value < level

    def flips_at(self, *, below: float, above: float) -> FlipVerdict | None:
        """Return what is shown of the flip rate at the levels of the two tests.

        From counts alone it can only be shown to be above the margin: they lack the flips from one
        wrong answer to another, and do not tell which texts are reworded.
        """
        if self.reworded is not None:
            return self.reworded.flips.verdict_at(below, above)
        if self.identity is not None:
            return None  # a run that reworded fewer than two texts
        flips = flip_test(self.counts, alpha=self.equivalence.alpha)
        return FlipVerdict.ABOVE if flips.p_above < above else None

    @property
    def labels(self) -> StrataRecord | None:
        """Losses and gains on the reworded texts by gold label; None if they are not known."""
        return None if self.reworded is None else self.reworded.labels

    def judge_alone(self) -> InvarianceTestResult:
        """Judge this classifier by its counts over all texts."""
        own = self.equivalence
        found = judge_pairs(
            self.counts, p_difference=self.p_value, margin=own.margin, alpha=own.alpha
        )
        return replace(found, collapsed=self.collapsed)

    @property
    def n_clusters(self) -> int | None:
        """How many clusters the deciding test drew from; None for independent observations."""
        return None if self.clustered is None else self.clustered.n_clusters

    def is_liberal_at(self, level: float) -> bool:
        """Whether the deciding test rests on too few discordant pairs, or clusters, for a level."""
        if self.clustered is not None:
            return self.clustered.warning is not None
        return is_liberal(self.counts.k, self.n, level)
