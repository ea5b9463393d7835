"""What was run: settings, data, transformations and models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from ietest_fast.experiment.schema.parts import (
    Correction,
    Count,
    Level,
    Part,
    Share,
    Text,
    TrainSize,
)


class DemoSettings(Part):
    """Sizes of the demonstration corpus."""

    n_train: Count
    n_valid: Count
    n_test: Count
    seed: Count


class SplitSettings(Part):
    """How parts were taken from one file."""

    n_valid: Count
    n_test: Count
    n_train: Count | None
    seed: Count
    group_by: Text | None


class DataSettings(Part):
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


class RunSettings(Part):
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


class SplitSummary(Part):
    """What a split holds."""

    rows: Annotated[int, Field(ge=1)]
    """Observations."""
    dropped: dict[str, Count]
    """Rows that were left out when it was read, by reason."""
    labels: dict[str, Count]
    """Observations by label."""


class DataSummary(Part):
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


class ChangedRows(Part):
    """How many rows of each split a transformation changed."""

    train: Count
    valid: Count
    test: Count


class TransformationRecord(Part):
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


class ModelSettings(Part):
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


class TrialRecord(Part):
    """Hyperparameters that were tried."""

    number: Count
    params: dict[str, JsonValue]
    valid_accuracy: Share


class SearchRecord(Part):
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


class ModelRecord(Part):
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
