"""A finished run, all that ``results.json`` holds: what was run, and what came of it."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, JsonValue, PrivateAttr, computed_field, model_validator

from ietest_fast.experiment.schema.cells import (
    Correction,
    Count,
    Identity,
    Level,
    Record,
    Share,
    Spread,
    Text,
    TrainSize,
    adjust,
)
from ietest_fast.experiment.schema.conditions import (
    AcrossTransformations,
    ConditionResult,
    RhoResult,
)
from ietest_fast.stats import Verdict  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.experiment.schema.cells import CellResult

RESULTS_FORMAT = 4
"""Counted up when ``results.json`` changes in a way that its readers have to know of."""


# What was run: settings, data, transformations and models.


class DemoSettings(Record):
    """Sizes of the demonstration corpus."""

    n_train: Count
    n_valid: Count
    n_test: Count
    seed: Count


class SplitSettings(Record):
    """How parts were taken from one file."""

    n_valid: Count
    n_test: Count
    n_train: Count | None
    seed: Count
    group_by: Text | None


class DataSettings(Record):
    """Where the three splits come from."""

    name: Text | None
    cluster: Text | None
    split: SplitSettings | None
    demo: DemoSettings | None
    """As configured; files are left out."""
    train: Text
    valid: Text
    test: Text
    """Fingerprints of the contents."""

    @property
    def fingerprints(self) -> dict[str, str]:
        """Those of the three splits, by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


class RunSettings(Record):
    """All that results depend on but for models and transformations."""

    data: DataSettings
    """Where the texts come from."""
    rho: tuple[Share, ...]
    """As configured."""
    mode: Literal["replace", "augment"] = "replace"
    """What became of transformed rows in training."""
    train_size: tuple[Annotated[int, Field(ge=2)], ...] = ()
    """Numbers of training rows; empty for all rows."""
    n_classifiers: Annotated[int, Field(ge=1)]
    alpha: Level
    correction: Correction
    margin: Level
    flip_margin: Level
    seed: Count
    method: Literal["exact", "multinomial", "resample"]
    n_resamples: Annotated[int, Field(ge=1)] | None
    strata: tuple[Text, ...] = ()
    """As configured."""


class SplitSummary(Record):
    """What a split holds."""

    rows: Annotated[int, Field(ge=1)]
    """Observations."""
    dropped: dict[str, Count]
    """Rows that were left out when it was read, by reason."""
    labels: dict[str, Count]
    """Observations by label."""


class DataSummary(Record):
    """What the data hold."""

    text_columns: Annotated[tuple[Text, ...], Field(min_length=1)]
    label_names: Annotated[tuple[Text, ...], Field(min_length=2)]
    """Of all three splits."""
    label_column: Text | None
    """Of their files, as configured; None if it was found by its name or there are no files."""
    train: SplitSummary
    valid: SplitSummary
    test: SplitSummary
    """The splits."""


class ChangedRows(Record):
    """How many rows of each split a transformation changed."""

    train: Count
    valid: Count
    test: Count


class TransformationRecord(Record):
    """A transformation, and what it did."""

    key: Text
    """What conditions call it; different for all transformations of a run."""
    name: Text
    fingerprint: Text
    """Its own."""
    settings: dict[str, JsonValue]
    """Its name and options, as it describes itself."""
    inputs: Text
    """Fingerprint of all that it hangs on, before texts are seen."""
    changed: ChangedRows
    """Rows that it changed."""
    n_test_reworded: Count
    """Test rows in which it put other words."""
    test_edits: dict[str, Count]
    """Its edits of the test set, counted by rule."""
    warnings: tuple[Text, ...] = ()
    """Sentences about options that are seldom wanted."""


class ModelSettings(Record):
    """A model as it was configured."""

    name: Text
    options: dict[str, JsonValue]
    params: dict[str, JsonValue] | None
    search: JsonValue
    search_per_resample: bool
    n_voters: Annotated[int, Field(ge=1)]
    input: Text | None
    """See :class:`ietest_fast.experiment.config.ModelConfig`."""
    backend: Text
    """What trained it."""
    n_threads: Annotated[int, Field(ge=1)] | None = None
    """Threads of a training; None for models whose results do not depend on them."""


class TrialRecord(Record):
    """Hyperparameters that were tried."""

    number: Count
    params: dict[str, JsonValue]
    valid_accuracy: Share


class SearchRecord(Record):
    """Hyperparameters that were used, and what was tried to find them."""

    params: dict[str, JsonValue]
    """Those used."""
    trials: tuple[TrialRecord, ...]
    """What was tried; empty where they were given."""
    rho: Share | None = None
    m: Count | None = None
    transformation: Text | None = None
    """The resample they are for; None for all. At rho = 0 there is no transformation."""
    train_size: TrainSize = None
    """Number of training rows that they were tried on; None for all, or if nothing was tried."""


class ModelRecord(Record):
    """A model, and where its hyperparameters come from."""

    key: Text
    """What conditions call it; different for all models of a run."""
    settings: ModelSettings
    """As configured."""
    searches: Annotated[tuple[SearchRecord, ...], Field(min_length=1)]
    """One for all classifiers, or one for each resample."""

    @property
    def params(self) -> dict[str, JsonValue] | None:
        """The hyperparameters of all classifiers; None if each resample has its own."""
        return None if self.searches[0].rho is not None else self.searches[0].params


# The classifiers of a run on further test sets, which they were not trained for.


class FurtherTransformation(Record):
    """A transformation of the test set alone, and what it did."""

    key: Text
    """What evaluations call it: its name, with the options that are not as usual."""
    name: Text
    fingerprint: Text
    settings: dict[str, JsonValue]
    inputs: Text
    """As of :class:`TransformationRecord`."""
    keeps_labels: bool
    """Whether its rows are those of the test set with their labels. Otherwise it sets labels, or
    has other rows, and nothing is compared pair by pair."""
    rows: Annotated[int, Field(ge=1)]
    changed: Annotated[int, Field(ge=1)]
    """Rows of its test set, and those whose texts differ from the row that they come from."""
    unlabelled: Count
    """Rows that were left out, because nobody knows their label."""
    labels: dict[str, Count]
    """Rows by label."""
    test_edits: dict[str, Count]
    """Its edits, counted by rule."""
    warnings: tuple[Text, ...] = ()
    """As of :class:`TransformationRecord`."""


class EvaluatedRho(Record):
    """The M classifiers of one rho on a further test set."""

    rho: Share
    """Probability of transformation in training."""
    n: Annotated[int, Field(ge=1)]
    """Rows of the test set."""
    n_correct: Annotated[tuple[Count, ...], Field(min_length=1)]
    """Right answers of each classifier, by m."""
    identities: tuple[Identity, ...]
    """Of their answers, by m: names of files under ``evaluations/``."""
    alpha: Level
    """Level of the tests over the further test sets."""
    test: RhoResult | None
    """The comparison with the original test set, as that of the run's own transformation; None
    where labels are not kept."""
    p_holm: Share | None
    """The smallest p-value of the M tests, corrected for M, and by Holm's rule for the further test
    sets that keep labels, at this rho; None without a test."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len(self.identities) != len(self.n_correct):
            raise ValueError("there is not one file of answers for each classifier")
        if max(self.n_correct) > self.n:
            raise ValueError("there are more right answers than rows")
        if (self.test is None) != (self.p_holm is None):
            raise ValueError("a test and its corrected p-value go together")
        if self.test is not None:
            found = tuple(cell.n11 + cell.n01 for cell in self.test.cells)
            if found != self.n_correct or any(cell.n != self.n for cell in self.test.cells):
                raise ValueError("the tests are not those of these answers")
            if self.test.rho != self.rho or self.test.alpha != self.alpha:
                raise ValueError("the tests are those of another rho or level")
        return self

    @computed_field
    @property
    def accuracy(self) -> Spread:
        """Accuracy over the M classifiers."""
        return Spread.of([n / self.n for n in self.n_correct])

    @computed_field
    @property
    def reject(self) -> bool | None:
        """Whether equal accuracy on this and the original test set is rejected; None if untested.

        At the level alpha over the further test sets of a model at one rho.
        """
        return None if self.p_holm is None else self.p_holm < self.alpha

    @computed_field
    @property
    def verdict(self) -> Verdict | None:
        """What is shown on this test set at this rho; None if untested.

        Equal accuracy is rejected as :attr:`reject` says; everything else is as at a single rho.
        """
        return None if self.test is None else self.test.judge_alone(differs=bool(self.reject))


class FurtherResult(Record):
    """One model, trained on the texts of one transformation, on a further test set."""

    model: Text
    transformation: Text
    """Keys of what was trained, and on what; as of the condition."""
    train_size: TrainSize = None
    """Number of training rows; None for all."""
    evaluation: Text
    """Key of the further transformation."""
    signature: Text | None
    """How it came about; None where nothing is tested."""
    rhos: Annotated[tuple[EvaluatedRho, ...], Field(min_length=1)]
    """In the order of the configuration."""

    @property
    def key(self) -> tuple[str, str, int | None]:
        """That of the condition whose classifiers are evaluated."""
        return self.model, self.transformation, self.train_size

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len({each.rho for each in self.rhos}) < len(self.rhos):
            raise ValueError("a rho is there twice")
        if len({each.n for each in self.rhos}) > 1:
            raise ValueError("the rho have different numbers of rows")
        return self


def correct_over_evaluations(tests: Sequence[RhoResult | None]) -> list[float | None]:
    """Correct the tests of further test sets at one rho by Holm's rule; None stays None."""
    tested = [min(test.p_adjusted) for test in tests if test is not None]
    adjusted = iter(adjust(tested, "holm") if tested else [])
    return [None if test is None else next(adjusted) for test in tests]


class RunResult(Record):
    """A finished run: what ``results.json`` holds. Nothing in it depends on time or speed."""

    format: Literal[4] = 4
    """:data:`RESULTS_FORMAT`."""
    identity: Text
    """sha256 of the settings."""
    settings: RunSettings
    """All that results depend on but for models and transformations."""
    software: dict[str, Text]
    """Versions that results depend on."""
    data: DataSummary
    """What the splits hold."""
    transformations: Annotated[tuple[TransformationRecord, ...], Field(min_length=1)]
    models: Annotated[tuple[ModelRecord, ...], Field(min_length=1)]
    """What was tested, and under what."""
    conditions: Annotated[tuple[ConditionResult, ...], Field(min_length=1)]
    """Every model under every transformation, for each number of training rows."""
    across: tuple[AcrossTransformations, ...] = ()
    """Corrections and joint tests over several transformations; empty for one."""
    evaluated: tuple[FurtherTransformation, ...] = ()
    """Further transformations, of the test set alone."""
    evaluations: tuple[FurtherResult, ...] = ()
    """Every model and transformation that it was trained on, on each of their test sets."""

    _folder: Path | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path:
        """Where the run lives.

        Raises
        ------
        ValueError
            If that is not known.
        """
        if self._folder is None:
            raise ValueError("the results were not written to a folder, nor read from one")
        return self._folder

    def located(self, folder: Path) -> Self:
        """Return the same results, with the folder of their run."""
        own = self.model_copy()
        own._folder = folder  # noqa: SLF001 - its own
        return own

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for name, records in (("model", self.models), ("transformation", self.transformations)):
            keys = [record.key for record in records]
            if len(set(keys)) < len(keys):
                raise ValueError(f"two {name}s have the same key")
            unknown = {getattr(each, name) for each in self.conditions} - set(keys)
            if unknown:
                raise ValueError(f"conditions: there is no {name} {min(unknown)!r}")
        if len({each.key for each in self.conditions}) < len(self.conditions):
            raise ValueError("conditions: a model and transformation are there twice")
        sizes = {each.train_size for each in self.conditions}
        if sizes != set(self.settings.train_size or (None,)):
            raise ValueError("conditions: the numbers of training rows are not the settings'")
        further = [each.key for each in self.evaluated]
        if len({*further, *(each.key for each in self.transformations)}) < len(further) + len(
            self.transformations
        ):
            raise ValueError("evaluated: a key is there twice")
        expected = [(each.key, key) for each in self.conditions for key in further]
        if [(each.key, each.evaluation) for each in self.evaluations] != expected:
            raise ValueError("evaluations: there is not one of each condition and test set")
        return self

    @computed_field
    @property
    def reject(self) -> bool:
        """Whether invariance is rejected for any model.

        The level holds over all rho and, by Holm's rule, all transformations of a model and all
        numbers of training rows.
        """
        return any(
            min(adjust([each.over_rho.p_value for each in own], "holm")) < own[0].over_rho.alpha
            for own in self._by_model()
        )

    @property
    def alike(self) -> bool:
        """Whether every model is shown to be alike under every transformation, at every rho."""
        return all(condition.alike for condition in self.conditions)

    def _by_model(self) -> list[list[ConditionResult]]:
        keys = dict.fromkeys(each.model for each in self.conditions)
        return [[each for each in self.conditions if each.model == key] for key in keys]

    @property
    def only(self) -> ConditionResult:
        """The condition of a run of one model and one transformation.

        Raises
        ------
        ValueError
            If there are several.
        """
        if len(self.conditions) > 1:
            raise ValueError(
                f"the run has {len(self.conditions)} conditions, not one; see RunResult.conditions"
            )
        return self.conditions[0]

    @property
    def rhos(self) -> tuple[RhoResult, ...]:
        """The tests by rho, in a run of one model and one transformation."""
        return self.only.rhos

    @property
    def signature(self) -> str | None:
        """How a run of one model and one transformation came about, on one line."""
        return self.only.signature

    @property
    def cells(self) -> tuple[CellResult, ...]:
        """All classifiers, by condition, rho and m."""
        return tuple(cell for condition in self.conditions for cell in condition.cells)

    @property
    def collapsed(self) -> tuple[CellResult, ...]:
        """The classifiers that cannot be told from guessing."""
        return tuple(cell for cell in self.cells if cell.collapsed)

    def model_of(self, condition: ConditionResult) -> ModelRecord:
        """Return the record of a condition's model."""
        return next(each for each in self.models if each.key == condition.model)

    def evaluations_of(self, condition: ConditionResult) -> tuple[FurtherResult, ...]:
        """Return what the classifiers of a condition did on further test sets."""
        return tuple(each for each in self.evaluations if each.key == condition.key)

    def transformation_of(self, condition: ConditionResult) -> TransformationRecord:
        """Return the record of a condition's transformation."""
        return next(each for each in self.transformations if each.key == condition.transformation)
