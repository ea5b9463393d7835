"""Losses, gains and flips by label, or by another column of the test set."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, computed_field

from ietest_fast.experiment.schema.parts import Count, Number, Part, Share, Text
from ietest_fast.stats import PairedCounts

if TYPE_CHECKING:
    from ietest_fast.stats import StratifiedResult, StratumResult


class StratumRecord(Part):
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
        return PairedCounts(self.n11, self.n10, self.n01, self.n00).delta

    @property
    def n(self) -> int:
        """Number of texts."""
        return self.n11 + self.n10 + self.n01 + self.n00

    @classmethod
    def of(cls, result: StratumResult) -> Self:
        """Keep what was found."""
        counts = result.counts
        return cls(
            name=result.name,
            n11=counts.n11,
            n10=counts.n10,
            n01=counts.n01,
            n00=counts.n00,
            n_flipped=None if result.flips is None else result.flips.n_flipped,
            p_value=result.p_value,
            p_adjusted=result.p_adjusted,
            p_equivalence=None if result.equivalence is None else result.equivalence.p_value,
        )


class StrataRecord(Part):
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
        found = result.heterogeneity
        return cls(
            name=result.name,
            strata=tuple(StratumRecord.of(each) for each in result.strata),
            statistic=found.statistic,
            df=found.df,
            p_value=found.p_value,
            method=found.method,
            n_resamples=found.n_resamples,
            seed=found.seed,
        )

    def all_equivalent_at(self, level: float) -> bool:
        """Whether delta is shown to be below the margin in every stratum, at a level."""
        return all(
            each.p_equivalence is not None and each.p_equivalence < level for each in self.strata
        )
