"""Paraphrastic consistency by how far paraphrases are from their originals (section 6)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.evaluation.consistency_subsets import part_items, read_values
from ietest_fast.evaluation.diversity import group_by_quantiles
from ietest_fast.evaluation.noting_diversity import MEASURES
from ietest_fast.evaluation.wordings import find_originals
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.consistency_partition import ConsistencySubsets
    from ietest_fast.stats.consistency.buckets import BucketCounts

ALL = "all"
"""What the line for all paraphrases is called."""


@dataclass(frozen=True, kw_only=True)
class MeanDiversity:
    """Means of some paraphrases (Table 6)."""

    name: str
    """Which paraphrases: all, or those with a value of a column."""
    n_paraphrases: int
    n_items: int
    """How many are measured, and of how many items."""
    means: Mapping[str, float | None]
    """By measure; None if it is known of no paraphrase."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "name": self.name,
            "n_paraphrases": self.n_paraphrases,
            "n_items": self.n_items,
            **self.means,
        }


@dataclass(frozen=True, kw_only=True)
class GroupedConsistency:
    """Consistency by groups of items with about equally diverse paraphrases."""

    measure: str
    """What they are grouped by: its mean over the paraphrases of an item."""
    subsets: ConsistencySubsets
    """The groups, from the lowest values to the highest; those without items are left out."""
    means: Mapping[str, float]
    """By group, the mean of the items' means."""
    n_unknown: int
    """Items in no group, because the measure is known of none of their paraphrases."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "measure": self.measure,
            "n_unknown": self.n_unknown,
            "means": dict(self.means),
            **self.subsets.to_dict(),
        }


@dataclass(frozen=True, kw_only=True)
class ConsistencyDiversity:
    """How diverse paraphrases are, and how consistency goes with it."""

    texts: tuple[str, ...]
    """Columns whose texts were compared."""
    column: str | None
    """The column by whose values paraphrases are told apart in `means`; None: none."""
    means: tuple[MeanDiversity, ...]
    """Of all paraphrases, and of those with each value."""
    groups: tuple[GroupedConsistency, ...]
    """One for each measure that was asked for."""
    n_without_original: int
    """Paraphrases that were not measured because their item has no original."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "texts": list(self.texts),
            "column": self.column,
            "n_without_original": self.n_without_original,
            "means": [own.to_dict() for own in self.means],
            "groups": [own.to_dict() for own in self.groups],
        }

    def remarks(self) -> list[str]:
        """Return what was left out."""
        said = []
        if self.n_without_original:
            one = self.n_without_original == 1
            said.append(
                f"The diversity of {say_count(self.n_without_original, 'paraphrase')} is not "
                f"known: {'its item has' if one else 'their items have'} no original."
            )
        said += [
            f"{say_count(own.n_unknown, 'item is', 'items are')} in no group by {own.measure}: it "
            f"is known of none of {'its' if own.n_unknown == 1 else 'their'} paraphrases."
            for own in self.groups
            if own.n_unknown
        ]
        return said


def part_by_diversity(
    answers: ConsistencyAnswers,
    counts: BucketCounts,
    *,
    subset: str | None,
    confidence_level: float,
    **options: Any,
) -> ConsistencyDiversity | None:
    """Measure consistency by groups of items with about equally diverse paraphrases."""
    predictions, run = answers.predictions, answers.run
    if not run.diversity:
        return None
    table = predictions.table
    measures = [name for name in MEASURES if name in table.column_names]
    missing = [name for name in run.diversity if name not in measures]
    if missing:
        raise InputError(
            "is not in the file, which says that diversity was measured",
            path=predictions.source,
            column=missing[0],
        )
    values = {
        name: table[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in measures
    }
    is_original = find_originals(predictions)
    is_measured = ~is_original & ~np.isnan(values["lexical_distance"])
    places = {name: place for place, name in enumerate(counts.names.tolist())}
    bucket = np.array([places.get(item, -1) for item in table["item"].to_pylist()], np.int64)
    lines = [(ALL, is_measured)]
    if subset is not None:
        known, _ = read_values(predictions, subset)
        lines += [(name, is_measured & (known == name)) for name in sorted({*known[is_measured]})]
    return ConsistencyDiversity(
        texts=run.diversity_texts,
        column=subset,
        means=tuple(
            MeanDiversity(
                name=name,
                n_paraphrases=int(rows.sum()),
                n_items=len(np.unique(bucket[rows])),
                means={measure: _mean(own[rows]) for measure, own in values.items()},
            )
            for name, rows in lines
        ),
        groups=tuple(
            _group(
                measure,
                _means_of(values[measure], bucket, ~is_original, len(counts)),
                counts,
                n_groups=run.diversity_groups,
                confidence_level=confidence_level,
                **options,
            )
            for measure in run.diversity
        ),
        n_without_original=int((~is_original & ~is_measured).sum()),
    )


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _means_of(
    values: NDArray[np.float64],
    bucket: NDArray[np.int64],
    is_paraphrase: NDArray[np.bool_],
    n_buckets: int,
) -> NDArray[np.float64]:
    rows = is_paraphrase & (bucket >= 0) & ~np.isnan(values)
    total = np.bincount(bucket[rows], values[rows], minlength=n_buckets)
    n = np.bincount(bucket[rows], minlength=n_buckets)
    means: NDArray[np.float64] = np.divide(total, n, out=np.full(n_buckets, np.nan), where=n > 0)
    return means


def _group(
    measure: str,
    means: NDArray[np.float64],
    counts: BucketCounts,
    *,
    n_groups: int,
    confidence_level: float,
    **options: Any,
) -> GroupedConsistency:
    groups = group_by_quantiles(means, measure, n_groups=n_groups)
    edges = groups.edges.tolist()
    names = [
        f"{number}: {low:.3f} to {high:.3f}"
        for number, (low, high) in enumerate(itertools.pairwise(edges), start=1)
    ]
    codes = dict(zip(counts.names.tolist(), groups.codes.tolist(), strict=True))
    return GroupedConsistency(
        measure=measure,
        subsets=part_items(
            counts,
            {item: names[code] for item, code in codes.items() if code >= 0},
            names,
            column=measure,
            confidence_level=confidence_level,
            **options,
        ),
        means={
            name: float(means[groups.codes == code].mean())
            for code, name in enumerate(names)
            if groups.sizes[code]
        },
        n_unknown=groups.n_unknown,
    )
