"""What is asked of a classifier, and how the consistency of its answers is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.analyses.consistency.file import ParsedAmounts
    from ietest_fast.answers.table import Predictions
    from ietest_fast.models.classifiers import Unparsed
    from ietest_fast.stats.consistency.intervals import BootstrapMethod
    from ietest_fast.stats.inputs import Rng


SOURCE = "source"
"""Column that says where a paraphrase comes from."""


@dataclass(frozen=True, kw_only=True)
class ConsistencyOptions:
    """One question about consistency; what is not said here is as in ``ie.consistency``."""

    phi: Any = None
    draws: int | None = None
    share: float | None = None
    seed: int = 0
    reword: tuple[str, ...] | None = None
    """How paraphrases are made; not at all without `phi`."""
    item_column: str | None = None
    version_column: str | None = None
    drop_mixed: bool = False
    text_columns: tuple[str, ...] | None = None
    label_column: str | None = None
    label_names: tuple[str, ...] | None = None
    keep_columns: tuple[str, ...] = ()
    from_sources: bool = False
    """How data are read, and whether they are of several sources, which answers keep."""
    input_columns: tuple[str, ...] | None = None
    label_map: Mapping[str, str] | None = None
    unparsed: Unparsed = "error"
    """How the classifier is asked."""
    subset: str | None = None
    clusters: str | None = None
    """Columns; None: as the answers say of themselves."""
    by_diversity: tuple[str, ...] = ()
    diversity_groups: int | None = None
    answered_columns: tuple[str, ...] | None = None
    """Measures of diversity, and the columns of answers that hold the texts; None: as the answers
    say, or by their names."""
    partial_input: Predictions | None = None
    partial_name: str = ""
    """Answers of a classifier that saw a part of the input, and what it is called."""
    test_sets: tuple[Predictions, ...] = ()
    n_strata: int | None = None
    """Answers to the full test set, in the order of the classifiers."""
    amounts: ParsedAmounts | None = None
    amount_column: str | None = None
    amounts_of: str | None = None
    """How much data classifiers have seen, in their order, or as a column says."""
    confidence_level: float = 0.95
    method: BootstrapMethod = "exact"
    n_resamples: int = DEFAULT_N_RESAMPLES
    rng: Rng = 0
    n_threads: int | None = None

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of data that answers keep, beside those that they have anyway."""
        source = (SOURCE,) if self.from_sources else ()
        wanted = dict.fromkeys((*self.keep_columns, self.clusters, self.subset, *source))
        return tuple(name for name in wanted if name not in {None, "item", "version"})

    @property
    def reading(self) -> dict[str, Any]:
        """Options of :func:`ietest_fast.analyses.buckets_from_table` that are known beforehand."""
        joined = {SOURCE} if self.from_sources else set()
        return {
            "item_column": self.item_column or "item",
            "version_column": self.version_column,
            "keep_columns": tuple(name for name in self.kept if name not in joined),
            "drop_mixed": self.drop_mixed,
            "label_names": self.label_names,
        }

    @property
    def comparing(self) -> dict[str, Any]:
        """Options of :func:`ietest_fast.stats.compare_consistency`."""
        names = ("confidence_level", "n_resamples", "rng", "n_threads")
        return {name: getattr(self, name) for name in names}

    @property
    def measuring(self) -> dict[str, Any]:
        """Options of :func:`ietest_fast.stats.measure_consistency`."""
        return {"method": self.method, **self.comparing}
