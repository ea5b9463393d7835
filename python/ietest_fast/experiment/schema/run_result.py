"""A finished run: all that ``results.json`` holds."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, PrivateAttr, computed_field, model_validator

from ietest_fast.experiment.schema.conditions import AcrossTransformations, ConditionResult
from ietest_fast.experiment.schema.evaluations import EvaluatedTransformation, EvaluationResult
from ietest_fast.experiment.schema.parts import Part, Text, adjust
from ietest_fast.experiment.schema.records import (
    DataSummary,
    ModelRecord,
    RunSettings,
    TransformationRecord,
)

if TYPE_CHECKING:
    from ietest_fast.experiment.schema.cells import CellResult
    from ietest_fast.experiment.schema.conditions import RhoResult

RESULTS_FORMAT = 3
"""Counted up when ``results.json`` changes in a way that its readers have to know of."""


class RunResult(Part):
    """A finished run: what ``results.json`` holds. Nothing in it depends on time or speed."""

    format: Literal[3] = 3
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
    evaluated: tuple[EvaluatedTransformation, ...] = ()
    """Further transformations, of the test set alone."""
    evaluations: tuple[EvaluationResult, ...] = ()
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
        if len(set(_pairs_of(self.conditions))) < len(self.conditions):
            raise ValueError("conditions: a model and transformation are there twice")
        sizes = {each.train_size for each in self.conditions}
        if sizes != set(self.settings.train_size or (None,)):
            raise ValueError("conditions: the numbers of training rows are not the settings'")
        further = [each.key for each in self.evaluated]
        if len({*further, *(each.key for each in self.transformations)}) < len(further) + len(
            self.transformations
        ):
            raise ValueError("evaluated: a key is there twice")
        expected = [(*pair, key) for pair in _pairs_of(self.conditions) for key in further]
        found = [
            (each.model, each.transformation, each.train_size, each.evaluation)
            for each in self.evaluations
        ]
        if found != expected:
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

    def evaluations_of(self, condition: ConditionResult) -> tuple[EvaluationResult, ...]:
        """Return what the classifiers of a condition did on further test sets."""
        (own,) = _pairs_of((condition,))
        return tuple(
            each
            for each in self.evaluations
            if (each.model, each.transformation, each.train_size) == own
        )

    def transformation_of(self, condition: ConditionResult) -> TransformationRecord:
        """Return the record of a condition's transformation."""
        return next(each for each in self.transformations if each.key == condition.transformation)


def _pairs_of(conditions: tuple[ConditionResult, ...]) -> list[tuple[str, str, int | None]]:
    return [(each.model, each.transformation, each.train_size) for each in conditions]
