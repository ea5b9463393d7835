"""Rows of buckets: which belong to mixed items, and what wordings without a name are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PARAPHRASE = "paraphrase"
"""What wordings without a name are called; the second becomes ``paraphrase#2``."""


def find_mixed(items: pa.ChunkedArray, labels: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which rows are of items that have rows with different labels, bool (n,).

    A label that is missing is none that differs.
    """
    known = pa.table({"item": items, "label": labels})
    counts = known.group_by("item").aggregate([("label", "count_distinct")])
    mixed = counts.filter(pc.greater(counts["label_count_distinct"], 1))["item"]
    found = pc.is_in(items, value_set=mixed.combine_chunks())
    return np.asarray(found.combine_chunks().to_numpy(zero_copy_only=False), dtype=np.bool_)


def name_items(items: pa.ChunkedArray) -> tuple[str, ...]:
    """Return the distinct items, as texts; rows without one are left out."""
    return tuple(pc.unique(items.drop_null()).cast(pa.string()).to_pylist())


def number_wordings(items: pa.ChunkedArray) -> pa.Array:
    """Name wordings by their place in their item: the first is the original."""
    codes = items.combine_chunks().dictionary_encode(null_encoding="encode").indices
    places = rank_within(np.asarray(codes, dtype=np.int64))
    most = int(places.max(initial=0))
    names = [ORIGINAL, PARAPHRASE, *(f"{PARAPHRASE}#{number}" for number in range(2, most + 1))]
    return pa.array(names, pa.string()).take(pa.array(places))


def rank_within(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows of the same code stand before each row, int64 (n,)."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.searchsorted(ordered, ordered, side="left")
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - first
    return ranks


def error_of_missing(
    column: pa.ChunkedArray,
    name: str,
    source: str,
    locate: Callable[[int], str],
    source_rows: NDArray[np.int64] | None = None,
) -> InputError:
    """Return the error of a column of items or versions in which some are missing."""
    lack = say_count(column.null_count, "row has", "rows have")
    row = pc.index(pc.is_null(column), pa.scalar(True)).as_py()
    return InputError(
        f"{lack} none; every wording needs its {name}",
        path=source,
        row=locate(row if source_rows is None else int(source_rows[row])),
        column=name,
    )
