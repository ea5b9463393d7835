"""Paraphrastic consistency by the values of a column: of items, or of their paraphrases."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.consistency.file import confidences_of
from ietest_fast.analyses.consistency.noting import (
    COLUMN,
    CORRECT,
    DIVERSITY_MEASURES,
    RIGHT,
    WRONG,
    group_by_quantiles,
)
from ietest_fast.analyses.consistency.wordings import find_wordings
from ietest_fast.answers.table import find_originals
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.consistency.corrected import (
    COMPARED_LABELS,
    ConsistencyComparison,
    SubsetComparison,
    compare_consistency,
    compare_subsets,
    correct_consistency,
    stratum_of,
)
from ietest_fast.stats.consistency.measure import measure_consistency
from ietest_fast.stats.multiple import holm
from ietest_fast.values import name_groups, number_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.consistency.file import ConsistencyAnswers
    from ietest_fast.analyses.consistency.noting import ConsistencyOptions
    from ietest_fast.answers.table import Predictions
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.corrected import CorrectedResult
    from ietest_fast.stats.consistency.measure import ConsistencyResult
    from ietest_fast.stats.intervals import Interval

    Numbers = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float64]

# Consistency of the parts that a column makes of items or of paraphrases.


@dataclass(frozen=True, kw_only=True)
class ConsistencySubsets:
    """Consistency by the values of a column."""

    column: str
    """Its name."""
    are_items: bool
    """Whether the values part the items; otherwise they part the paraphrases of each item."""
    parts: Mapping[str, ConsistencyResult]
    """By value; without those that have no paraphrase."""
    pairs: tuple[ComparedPair, ...]
    """Of two values, the one comparison. Of more, if they part the items, each value against the
    others, and otherwise all pairs on the items that both have."""
    warnings: tuple[str, ...] = ()
    """Which of them are not compared, and why."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "column": self.column,
            "are_items": self.are_items,
            "parts": {name: part.to_dict() for name, part in self.parts.items()},
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def remarks(self) -> list[str]:
        """Return what the intervals of parts do not say, each once with the parts it is of."""
        of_line: dict[str, list[str]] = {}
        for name, part in self.parts.items():
            for line in part.limits():
                of_line.setdefault(line, []).append(name)
        return [
            *self.warnings,
            *(
                f"{self.column.replace('_', ' ')}, {' and '.join(names)}: {line}"
                for line, names in of_line.items()
            ),
        ]


# Two classifiers, or two subsets, compared by their consistency, with Holm's correction.


@dataclass(frozen=True, kw_only=True)
class ComparedMeans:
    """A mean over buckets of two sides: first minus second."""

    difference: float | None
    """First minus second."""
    interval: Interval | None
    """Of the difference; None where there is none."""
    p_value: float
    """Of equal means, two-sided."""
    p_adjusted: float
    """The same by Holm's correction over all pairs that are compared."""
    warning: str | None
    """What to know of the test; None if nothing."""


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """Two classifiers on the same items, or two subsets of the answers of one."""

    first: str
    second: str
    """What is compared."""
    result: ConsistencyComparison | SubsetComparison
    """The comparison."""
    means: Mapping[str, ComparedMeans]
    """By measure, the tests of :data:`~ietest_fast.stats.consistency.corrected.COMPARED_LABELS`
    that can be made."""

    @property
    def n_buckets(self) -> int:
        """Buckets in either set, or in both where they are the same."""
        if isinstance(self.result, SubsetComparison):
            return self.result.n_first + self.result.n_second
        return self.result.n_buckets

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "first": self.first,
            "second": self.second,
            **self.result.to_dict(),
            **{f"{name}_p_holm": own.p_adjusted for name, own in self.means.items()},
        }

    def warnings(self) -> list[str]:
        """Return what to know of the tests, as whole sentences that name the measure."""
        said = [
            f"{COMPARED_LABELS[name]}: {own.warning}."
            for name, own in self.means.items()
            if own.warning is not None
        ]
        if isinstance(self.result, SubsetComparison) and (untested := self.result.say_untested()):
            said.append(untested)
        return said


def adjust_pairs(
    found: Iterable[tuple[str, str, ConsistencyComparison | SubsetComparison]],
) -> tuple[ComparedPair, ...]:
    """Correct the p-values of comparisons by Holm, measure by measure."""
    listed = list(found)
    means = [_compare_means(result) for _, _, result in listed]
    for measure in dict.fromkeys(name for own in means for name in own):
        having = [own for own in means if measure in own]
        adjusted = holm([own[measure].p_value for own in having])
        for own, p in zip(having, adjusted, strict=True):
            own[measure] = replace(own[measure], p_adjusted=p)
    return tuple(
        ComparedPair(first=first, second=second, result=result, means=own)
        for (first, second, result), own in zip(listed, means, strict=True)
    )


def _compare_means(result: ConsistencyComparison | SubsetComparison) -> dict[str, ComparedMeans]:
    """Return the tests of a comparison by measure, none of them corrected."""
    compared: dict[str, tuple[float | None, Interval | None, Any]]
    if isinstance(result, ConsistencyComparison):
        of = result.differences
        compared = {
            name: (of[name].value, of[name].interval, test) for name, test in result.tests.items()
        }
    else:
        compared = {
            name: (own.difference, own.interval, own) for name, own in result.differences.items()
        }
    return {
        name: ComparedMeans(
            difference=difference,
            interval=interval,
            p_value=float(test.p_value),
            p_adjusted=float(test.p_value),
            warning=test.warning,
        )
        for name, (difference, interval, test) in compared.items()
    }


#: More values than this are no subsets.
MOST_SUBSETS = 40
_MISSING = "missing"

Compared = tuple[str, str, Any]


def part_by_column(
    predictions: Predictions, column: str, options: ConsistencyOptions
) -> ConsistencySubsets:
    """Measure consistency by the values that a column has in the rows of paraphrases.

    If all paraphrases of each item have one value, the values part the items, such as easy and
    difficult ones; otherwise they part the paraphrases of each item, such as those of people and of
    a program.
    """
    values, is_original = read_values(predictions, column)
    names = sorted(set(values[~is_original].tolist()))
    if not 2 <= len(names) <= MOST_SUBSETS:
        raise InputError(
            f"has {say_count(len(names), 'value')} in the rows of paraphrases; from 2 to "
            f"{MOST_SUBSETS} can split consistency",
            path=predictions.source,
            column=column,
        )
    of_item: dict[Any, set[str]] = {}
    items = predictions.table["item"].to_pylist()
    for item, value, original in zip(items, values.tolist(), is_original.tolist(), strict=True):
        if not original:
            of_item.setdefault(item, set()).add(value)
    if all(len(own) == 1 for own in of_item.values()):
        counts = find_wordings(predictions, cluster=options.clusters).count()
        own = [next(iter(of_item[item])) for item in counts.names.tolist()]
        return part_items(counts, np.array(own, dtype=object), names, column, options)
    found: dict[str, tuple[ConsistencyResult, BucketCounts]] = {}
    for name in names:
        part = predictions.keep(is_original | (values == name))
        wordings = find_wordings(part, cluster=options.clusters)
        found[name] = wordings.measure(**options.measuring), wordings.count()
    return ConsistencySubsets(
        column=column,
        are_items=False,
        parts={name: result for name, (result, _) in found.items()},
        pairs=adjust_pairs(
            (one, two, compare_consistency(found[one][1], found[two][1], **options.comparing))
            for one, two in combinations(names, 2)
            if _n_common(found[one][1], found[two][1]) > 1
        ),
        warnings=_say_parted(column, of_item, {name: own[1] for name, own in found.items()}),
    )


def _say_parted(
    column: str, of_item: Mapping[Any, set[str]], counts: Mapping[str, BucketCounts]
) -> tuple[str, ...]:
    """Say which values are not compared, and which items have several where most have one."""
    alone = [
        pair for pair in combinations(counts, 2) if _n_common(counts[pair[0]], counts[pair[1]]) < 2
    ]
    said = [f"{one} and {two} share fewer than two items: not compared." for one, two in alone]
    several = [item for item, own in of_item.items() if len(own) > 1]
    if 2 * len(several) > len(of_item):
        return tuple(said)
    note = (
        f"Warning: {len(several):,} of {say_count(len(of_item), 'item')} "
        f"{'has' if len(several) == 1 else 'have'} several values of {column} (such as "
        f"{several[0]}), so the values part the paraphrases, and are compared on the items that "
        "have both; if they are of items, give each item one value."
    )
    return (note, *said)


def part_items(
    counts: BucketCounts,
    values: NDArray[Any],
    names: Sequence[str],
    column: str,
    options: ConsistencyOptions,
) -> ConsistencySubsets:
    """Measure consistency by a value of each bucket, shape (n_buckets,); None is in no part."""
    masks = {name: np.asarray(values == name, dtype=np.bool_) for name in names}
    masks = {name: mask for name, mask in masks.items() if mask.any()}
    known = np.logical_or.reduce([*masks.values(), np.zeros(len(counts), np.bool_)])
    return ConsistencySubsets(
        column=column,
        are_items=True,
        parts={
            name: measure_consistency(counts.take(mask), **options.measuring)
            for name, mask in masks.items()
        },
        pairs=adjust_pairs(
            _compare_sets(
                counts.take(known),
                {name: mask[known] for name, mask in masks.items()},
                options.confidence_level,
            )
        ),
    )


def _need_columns(
    predictions: Predictions, columns: Sequence[str], known: Sequence[str], said: str
) -> None:
    """Refuse a file that has lost what it says that it has."""
    for column in columns:
        if column not in known:
            raise InputError(
                f"is not in the file, which says that {said}",
                path=predictions.source,
                column=column,
            )


def _compare_sets(
    counts: BucketCounts, masks: dict[str, Mask], confidence_level: float
) -> list[Compared]:
    """Compare two sets of items with each other, and each of more with all others."""
    names = list(masks)
    if len(names) < 2:
        return []
    pairs = [(name, "all others") for name in names]
    wanted = [(names[0], names[1])] if len(names) == 2 else pairs
    return [
        (first, second, compare_subsets(counts, masks[first], confidence_level=confidence_level))
        for first, second in wanted
        if 2 <= int(masks[first].sum()) <= len(counts) - 2
    ]


def _n_common(one: BucketCounts, two: BucketCounts) -> int:
    return len(set(one.names.tolist()) & set(two.names.tolist()))


def read_values(predictions: Predictions, column: str) -> tuple[NDArray[Any], Mask]:
    """Return the values of a column as texts, and which rows are originals, shape (n,) each."""
    from ietest_fast.analyses.difficulty.file import DIFFICULTY, check_marks

    table = predictions.table
    if column == DIFFICULTY and "source" not in table.column_names:  # each of which marks its own
        check_marks(table, predictions.source)
    if column not in table.column_names:
        raise InputError(
            "there is no such column to split consistency by; there are version"
            f"{''.join(f', {name}' for name in predictions.extra_columns)}",
            path=predictions.source,
            column=column,
        )
    try:
        texts = name_groups(pc.cast(table[column].combine_chunks(), pa.string()))
    except pa.ArrowException as error:
        raise InputError(
            f"holds {table[column].type}, by which consistency cannot be split; a column of "
            "texts, numbers or truth values can",
            path=predictions.source,
            column=column,
        ) from error
    (missing,) = number_names([_MISSING], taken=pc.unique(texts).drop_null().to_pylist())
    values = np.array(pc.fill_null(texts, missing).to_pylist(), dtype=object)
    return values, find_originals(predictions)


# Paraphrastic consistency on items that a part of the input decides, and on others (section 7).


@dataclass(frozen=True, kw_only=True)
class PartialAccuracy:
    """How the model that saw a part of the input answers some items."""

    n_items: int
    """How many there are."""
    originals: float
    """Its accuracy on their originals: 1 or 0, because items are parted by it."""
    paraphrases: float | None
    """Its accuracy on their paraphrases; None if it was asked none."""
    n_paraphrases: int
    """How many it was asked."""


@dataclass(frozen=True, kw_only=True)
class ConsistencyPartial:
    """Consistency on items that a model with a part of the input gets right and wrong (Table 7)."""

    name: str
    """What that model is called."""
    subsets: ConsistencySubsets
    """The parts ``right`` and ``wrong``; without one that has no item."""
    own: Mapping[str, PartialAccuracy]
    """By part, how that model answers it."""
    corrected: Mapping[str, CorrectedResult | None]
    """By part, numbers standardised to the strata of the test set; empty without one, and None for
    a part that has no item in a stratum of the test set. The weights are those of the whole test
    set, as in the paper, not of the items in it that would be in this part: they estimate no set of
    items."""
    n_unmatched: int
    """Items that it was not asked, which are in neither part."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "model": self.name,
            "n_unmatched": self.n_unmatched,
            **self.subsets.to_dict(),
            "own": {name: vars(own) for name, own in self.own.items()},
            "corrected": {
                name: None if own is None else own.to_dict() for name, own in self.corrected.items()
            },
        }

    def remarks(self) -> list[str]:
        """Return what was left out, and what to know of the estimates."""
        said = []
        if self.n_unmatched:
            said.append(
                f"{say_count(self.n_unmatched, 'item is', 'items are')} in neither part: "
                f"{self.name}, which saw a part of the input, was not asked "
                f"{'it' if self.n_unmatched == 1 else 'them'}."
            )
        for name, own in self.corrected.items():
            if own is None:
                said.append(
                    f"No number standardised to the test set, items that it gets {name}: none of "
                    "them lies in a stratum that the test set has."
                )
            elif own.warning is not None:
                said.append(f"Warning, items that it gets {name}: {own.warning}.")
        if any(own is not None for own in self.corrected.values()):
            said.append(
                "The numbers by partial input that have the weights of the test set are "
                "standardised, as in the paper: they estimate no set of items."
            )
        return said


def part_by_partial_input(
    answers: ConsistencyAnswers,
    counts: BucketCounts,
    options: ConsistencyOptions,
    *,
    strata: tuple[int, ...] | None,
) -> ConsistencyPartial | None:
    """Measure consistency on items that a part of the input decides, and on the others."""
    predictions, notes = answers.predictions, answers.notes
    if notes.partial_input is None:
        return None
    table = predictions.table
    _need_columns(predictions, (COLUMN, CORRECT), table.column_names, "items are parted by it")
    values = dict(zip(table["item"].to_pylist(), table[COLUMN].to_pylist(), strict=True))
    own = np.array([values[name] for name in counts.names.tolist()], dtype=object)
    subsets = part_items(counts, own, (RIGHT, WRONG), COLUMN, options)
    if not subsets.parts:
        raise InputError(
            f"{notes.partial_input} was asked no item that has paraphrases", path=predictions.source
        )
    corrected: dict[str, CorrectedResult | None] = {}
    if strata is not None:
        for name in subsets.parts:
            part = counts.take(np.asarray(own == name, dtype=np.bool_))
            is_weighed = _has_weight(part, strata)
            corrected[name] = correct_by_strata(part, strata, options) if is_weighed else None
    return ConsistencyPartial(
        name=notes.partial_input,
        subsets=subsets,
        own={name: _measure_own(predictions, name, counts) for name in subsets.parts},
        corrected=corrected,
        n_unmatched=int(sum(value is None for value in own)),
    )


def _has_weight(counts: BucketCounts, strata: tuple[int, ...]) -> bool:
    """Whether the test set has an item in a stratum of some of the items."""
    known = counts.originals >= 0
    if counts.original_confidence is None or not known.any():
        return False
    used = stratum_of(counts.original_confidence[known], len(strata))
    return bool(np.asarray(strata)[used].any())


def correct_by_strata(
    counts: BucketCounts, strata: tuple[int, ...], options: ConsistencyOptions
) -> CorrectedResult:
    """Standardise to a test set that has so many items in each stratum of confidence."""
    with warnings.catch_warnings():
        # The result says it itself.
        warnings.simplefilter("ignore", IetestWarning)
        return correct_consistency(
            counts,
            confidences_of(strata),
            n_strata=len(strata),
            confidence_level=options.confidence_level,
        )


def _measure_own(predictions: Predictions, name: str, counts: BucketCounts) -> PartialAccuracy:
    table = predictions.table
    items = set(counts.names.tolist())
    is_counted = np.array([item in items for item in table["item"].to_pylist()], np.bool_)
    of_part = pc.fill_null(pc.equal(table[COLUMN], name), False).to_numpy() & is_counted
    asked = table[CORRECT].is_valid().to_numpy()
    correct = pc.fill_null(table[CORRECT], False).to_numpy()
    is_original = find_originals(predictions)
    rows: Mask = of_part & asked & ~is_original
    return PartialAccuracy(
        n_items=len(pc.unique(table["item"].filter(pa.array(of_part)))),
        originals=float(name == RIGHT),
        paraphrases=float(correct[rows].mean()) if rows.any() else None,
        n_paraphrases=int(rows.sum()),
    )


# Paraphrastic consistency by how far paraphrases are from their originals (section 6).

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
    answers: ConsistencyAnswers, counts: BucketCounts, options: ConsistencyOptions
) -> ConsistencyDiversity | None:
    """Measure consistency by groups of items with about equally diverse paraphrases."""
    predictions, notes = answers.predictions, answers.notes
    if not notes.diversity:
        return None
    table = predictions.table
    measures = [name for name in DIVERSITY_MEASURES if name in table.column_names]
    _need_columns(predictions, notes.diversity, measures, "diversity was measured")
    values = {
        name: table[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in measures
    }
    is_original = find_originals(predictions)
    is_measured = ~is_original & ~np.isnan(values["lexical_distance"])
    places = {name: place for place, name in enumerate(counts.names.tolist())}
    bucket = np.array([places.get(item, -1) for item in table["item"].to_pylist()], np.int64)
    lines = [(ALL, is_measured)]
    if options.subset is not None:
        known, _ = read_values(predictions, options.subset)
        lines += [(name, is_measured & (known == name)) for name in sorted({*known[is_measured]})]
    return ConsistencyDiversity(
        texts=notes.diversity_texts,
        column=options.subset,
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
                options,
                n_groups=notes.diversity_groups,
            )
            for measure in notes.diversity
        ),
        n_without_original=int((~is_original & ~is_measured).sum()),
    )


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _means_of(values: Floats, bucket: Numbers, is_paraphrase: Mask, n_buckets: int) -> Floats:
    rows = is_paraphrase & (bucket >= 0) & ~np.isnan(values)
    total = np.bincount(bucket[rows], values[rows], minlength=n_buckets)
    n = np.bincount(bucket[rows], minlength=n_buckets)
    means: Floats = np.divide(total, n, out=np.full(n_buckets, np.nan), where=n > 0)
    return means


def _group(
    measure: str, means: Floats, counts: BucketCounts, options: ConsistencyOptions, *, n_groups: int
) -> GroupedConsistency:
    groups = group_by_quantiles(means, measure, n_groups=n_groups)
    edges = groups.edges.tolist()
    names = [
        f"{number}: {low:.3f} to {high:.3f}"
        for number, (low, high) in enumerate(itertools.pairwise(edges), start=1)
    ]
    own = np.array([*names, None], dtype=object)[groups.codes]  # the last for code -1
    return GroupedConsistency(
        measure=measure,
        subsets=part_items(counts, own, names, measure, options),
        means={
            name: float(means[groups.codes == code].mean())
            for code, name in enumerate(names)
            if groups.sizes[code]
        },
        n_unknown=groups.n_unknown,
    )
