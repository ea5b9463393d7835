"""One classifier, tested."""

# mypy: disable-error-code="prop-decorator"

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, computed_field, model_validator

from ietest_fast.experiment.schema.invariance import EquivalenceRecord, RewordedRecord
from ietest_fast.experiment.schema.parts import Count, Identity, Number, Part, Share, Text
from ietest_fast.stats import (
    FlipVerdict,
    Interval,
    PairedCounts,
    equivalence_test,
    flip_test,
    paired_test,
)
from ietest_fast.stats.planning.few_discordant import is_liberal

if TYPE_CHECKING:
    from ietest_fast.experiment.schema.strata import StrataRecord
    from ietest_fast.stats import ClusteredTestResult, EquivalenceResult, PairedTestResult


class PairedRecord(Part):
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

    @classmethod
    def of(cls, result: PairedTestResult) -> Self:
        """Keep what a test found."""
        return cls(**{name: getattr(result, name) for name in cls.model_fields})


class ClusteredRecord(Part):
    """The test of a classifier that draws whole clusters.

    Attributes
    ----------
    n_clusters, n_nonzero, t, p_value, p_paper, p_symmetric, design_effect, n_resamples, seed, \
warning
        As of :class:`ietest_fast.stats.ClusteredTestResult`; `n_resamples` is S.
    """

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

    @classmethod
    def of(cls, result: ClusteredTestResult) -> Self:
        """Keep what a test found."""
        return cls(**{name: getattr(result, name) for name in cls.model_fields})


class CellResult(Part):
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
    def of(
        cls,
        *,
        rho: float,
        m: int,
        test: PairedTestResult,
        equivalence: EquivalenceResult,
        collapsed: bool,
        clustered: ClusteredTestResult | None = None,
        reworded: RewordedRecord | None = None,
        identity: str | None = None,
        valid_accuracy: float | None = None,
        train_transformed: int | None = None,
        valid_transformed: int | None = None,
    ) -> Self:
        """Keep what the tests of a classifier found; arguments as the attributes."""
        counts = test.counts
        return cls(
            rho=rho,
            m=m,
            identity=identity,
            n11=counts.n11,
            n10=counts.n10,
            n01=counts.n01,
            n00=counts.n00,
            test=PairedRecord.of(test),
            clustered=None if clustered is None else ClusteredRecord.of(clustered),
            equivalence=EquivalenceRecord.of(equivalence),
            reworded=reworded,
            valid_accuracy=valid_accuracy,
            train_transformed=train_transformed,
            valid_transformed=valid_transformed,
            collapsed=collapsed,
        )

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

    @functools.cached_property
    def counts(self) -> PairedCounts:
        """The four counts."""
        return PairedCounts(self.n11, self.n10, self.n01, self.n00)

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

    @property
    def n_clusters(self) -> int | None:
        """How many clusters the deciding test drew from; None for independent observations."""
        return None if self.clustered is None else self.clustered.n_clusters

    def is_liberal_at(self, level: float) -> bool:
        """Whether the deciding test rests on too few discordant pairs, or clusters, for a level."""
        if self.clustered is not None:
            return self.clustered.warning is not None
        return is_liberal(self.counts.k, self.n, level)
