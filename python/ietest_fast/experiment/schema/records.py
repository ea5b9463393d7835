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
    """Where the three splits come from.

    Attributes
    ----------
    name, cluster, split, demo
        As configured; files are left out.
    train, valid, test
        Fingerprints of the contents.
    """

    name: Text | None
    cluster: Text | None
    split: SplitSettings | None
    demo: DemoSettings | None
    train: Text
    valid: Text
    test: Text

    @property
    def fingerprints(self) -> dict[str, str]:
        """Those of the three splits, by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


class RunSettings(Part):
    """All that results depend on but for models and transformations.

    Attributes
    ----------
    data
        Where the texts come from.
    rho, n_classifiers, alpha, correction, margin, flip_margin, seed, method, n_resamples, strata
        As configured.
    mode
        What became of transformed rows in training.
    train_size
        Numbers of training rows; empty for all rows.
    """

    data: DataSettings
    rho: tuple[Share, ...]
    mode: Literal["replace", "augment"] = "replace"
    train_size: tuple[Annotated[int, Field(ge=2)], ...] = ()
    n_classifiers: Annotated[int, Field(ge=1)]
    alpha: Level
    correction: Correction
    margin: Level
    flip_margin: Level
    seed: Count
    method: Literal["exact", "multinomial", "resample"]
    n_resamples: Annotated[int, Field(ge=1)] | None
    strata: tuple[Text, ...] = ()


class SplitSummary(Part):
    """What a split holds.

    Attributes
    ----------
    rows
        Observations.
    dropped
        Rows that were left out when it was read, by reason.
    labels
        Observations by label.
    """

    rows: Annotated[int, Field(ge=1)]
    dropped: dict[str, Count]
    labels: dict[str, Count]


class DataSummary(Part):
    """What the data hold.

    Attributes
    ----------
    text_columns, label_names
        Of all three splits.
    label_column
        Of their files, as configured; None if it was found by its name or there are no files.
    train, valid, test
        The splits.
    """

    text_columns: Annotated[tuple[Text, ...], Field(min_length=1)]
    label_names: Annotated[tuple[Text, ...], Field(min_length=2)]
    label_column: Text | None
    train: SplitSummary
    valid: SplitSummary
    test: SplitSummary


class ChangedRows(Part):
    """How many rows of each split a transformation changed."""

    train: Count
    valid: Count
    test: Count


class TransformationRecord(Part):
    """A transformation, and what it did.

    Attributes
    ----------
    key
        What conditions call it; different for all transformations of a run.
    name, fingerprint
        Its own.
    settings
        Its name and options, as it describes itself.
    inputs
        Fingerprint of all that it hangs on, before texts are seen.
    changed
        Rows that it changed.
    n_test_reworded
        Test rows in which it put other words.
    test_edits
        Its edits of the test set, counted by rule.
    warnings
        Sentences about options that are seldom wanted.
    """

    key: Text
    name: Text
    fingerprint: Text
    settings: dict[str, JsonValue]
    inputs: Text
    changed: ChangedRows
    n_test_reworded: Count
    test_edits: dict[str, Count]
    warnings: tuple[Text, ...] = ()


class ModelSettings(Part):
    """A model as it was configured.

    Attributes
    ----------
    name, options, params, search, search_per_resample, n_voters, input
        See :class:`ietest_fast.experiment.config.ModelConfig`.
    backend
        What trained it.
    n_threads
        Threads of a training; None for models whose results do not depend on them.
    """

    name: Text
    options: dict[str, JsonValue]
    params: dict[str, JsonValue] | None
    search: JsonValue
    search_per_resample: bool
    n_voters: Annotated[int, Field(ge=1)]
    input: Text | None
    backend: Text
    n_threads: Annotated[int, Field(ge=1)] | None = None


class TrialRecord(Part):
    """Hyperparameters that were tried."""

    number: Count
    params: dict[str, JsonValue]
    valid_accuracy: Share


class SearchRecord(Part):
    """Hyperparameters that were used, and what was tried to find them.

    Attributes
    ----------
    params
        Those used.
    trials
        What was tried; empty where they were given.
    rho, m, transformation
        The resample they are for; None for all. At rho = 0 there is no transformation.
    train_size
        Number of training rows that they were tried on; None for all, or if nothing was tried.
    """

    params: dict[str, JsonValue]
    trials: tuple[TrialRecord, ...]
    rho: Share | None = None
    m: Count | None = None
    transformation: Text | None = None
    train_size: TrainSize = None


class ModelRecord(Part):
    """A model, and where its hyperparameters come from.

    Attributes
    ----------
    key
        What conditions call it; different for all models of a run.
    settings
        As configured.
    searches
        One for all classifiers, or one for each resample.
    """

    key: Text
    settings: ModelSettings
    searches: Annotated[tuple[SearchRecord, ...], Field(min_length=1)]

    @property
    def params(self) -> dict[str, JsonValue] | None:
        """The hyperparameters of all classifiers; None if each resample has its own."""
        return None if self.searches[0].rho is not None else self.searches[0].params
