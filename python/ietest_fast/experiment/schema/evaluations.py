"""The classifiers of a run on further test sets, which they were not trained for."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, JsonValue, computed_field, model_validator

from ietest_fast.experiment.schema.conditions import RhoResult
from ietest_fast.experiment.schema.parts import (
    Count,
    Identity,
    Level,
    Part,
    Share,
    Spread,
    Text,
    TrainSize,
    adjust,
)
from ietest_fast.stats import Verdict  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Sequence


class EvaluatedTransformation(Part):
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


class EvaluatedRho(Part):
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
        if self.test is None:
            return None
        churn, label_p = self.test.churn, self.test.label_p
        return self.test.judge(
            differs=bool(self.reject),
            churned=churn is not None and churn.p_value < self.alpha,
            uneven=label_p is not None and label_p < self.alpha,
        )


class EvaluationResult(Part):
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

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len({each.rho for each in self.rhos}) < len(self.rhos):
            raise ValueError("a rho is there twice")
        if len({each.n for each in self.rhos}) > 1:
            raise ValueError("the rho have different numbers of rows")
        return self


def correct_over_evaluations(tests: Sequence[RhoResult | None]) -> list[float | None]:
    """Correct the tests of further test sets at one rho by Holm's rule, in their order.

    Parameters
    ----------
    tests
        Of each; None where nothing is tested.
    """
    tested = [min(test.p_adjusted) for test in tests if test is not None]
    adjusted = iter(adjust(tested, "holm") if tested else [])
    return [None if test is None else next(adjusted) for test in tests]
