"""Paraphrastic consistency by the values of a column: of items, or of their paraphrases."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.consistency_pairs import adjust_pairs
from ietest_fast.evaluation.consistency_partition import ConsistencySubsets
from ietest_fast.evaluation.wordings import find_originals, find_wordings
from ietest_fast.plurals import say_count
from ietest_fast.stats.consistency.comparison import compare_consistency, compare_subsets
from ietest_fast.stats.consistency.measure import measure_consistency
from ietest_fast.values import name_groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Predictions
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.measure import ConsistencyResult

#: More values than this are no subsets.
MOST_SUBSETS = 40
_MISSING = "missing"

Compared = tuple[str, str, Any]


def part_by_column(
    predictions: Predictions,
    column: str,
    *,
    clusters: str | None,
    confidence_level: float,
    **options: Any,
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
    are_items = all(len(own) == 1 for own in of_item.values())
    shared: dict[str, Any] = {"confidence_level": confidence_level}
    if are_items:
        return part_items(
            find_wordings(predictions, cluster=clusters).count(),
            {name: next(iter(own)) for name, own in of_item.items()},
            names,
            column=column,
            **shared,
            **options,
        )
    found: dict[str, tuple[ConsistencyResult, BucketCounts]] = {}
    for name in names:
        mask = is_original | (values == name)
        part = predictions.keep(mask)
        wordings = find_wordings(part, cluster=clusters)
        found[name] = wordings.measure(**shared, **options), wordings.count()
    compared = dict(options)
    compared.pop("method", None)
    return ConsistencySubsets(
        column=column,
        are_items=False,
        parts={name: result for name, (result, _) in found.items()},
        pairs=adjust_pairs(
            (one, two, compare_consistency(found[one][1], found[two][1], **shared, **compared))
            for one, two in combinations(names, 2)
            if _n_common(found[one][1], found[two][1]) > 1
        ),
    )


def part_items(
    counts: BucketCounts,
    values: Mapping[Any, str | None],
    names: Sequence[str],
    *,
    column: str,
    confidence_level: float,
    **options: Any,
) -> ConsistencySubsets:
    """Measure consistency by a value that each item has."""
    own = np.array([values.get(name) for name in counts.names.tolist()], dtype=object)
    masks = {name: np.asarray(own == name, dtype=np.bool_) for name in names}
    masks = {name: mask for name, mask in masks.items() if mask.any()}
    known = np.logical_or.reduce([*masks.values(), np.zeros(len(counts), np.bool_)])
    return ConsistencySubsets(
        column=column,
        are_items=True,
        parts={
            name: measure_consistency(
                counts.take(mask), confidence_level=confidence_level, **options
            )
            for name, mask in masks.items()
        },
        pairs=adjust_pairs(
            _compare_sets(
                counts.take(known),
                {name: mask[known] for name, mask in masks.items()},
                confidence_level,
            )
        ),
    )


def _compare_sets(
    counts: BucketCounts, masks: dict[str, NDArray[np.bool_]], confidence_level: float
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


def read_values(predictions: Predictions, column: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the values of a column as texts, and which rows are originals, shape (n,) each."""
    from ietest_fast.evaluation.difficulty_file import DIFFICULTY, check_marks

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
    values = np.array(pc.fill_null(texts, _MISSING).to_pylist(), dtype=object)
    return values, find_originals(predictions)
