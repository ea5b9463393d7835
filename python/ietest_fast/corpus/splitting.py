"""Cutting one corpus into disjoint parts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus.dataset import Corpus


def split(
    corpus: Corpus,
    sizes: Sequence[int] | Sequence[float],
    *,
    seed: int = 0,
    stratify: bool = False,
    group_by: str | None = None,
) -> tuple[Corpus, ...]:
    """Cut a corpus into disjoint parts, the same ones for the same seed.

    Parameters
    ----------
    corpus
        What to cut.
    sizes
        Rows of each part (integers), or shares of all rows (floats). Rows that no part takes are
        left out: sizes need not add up to everything.
    seed
        Any integer from 0.
    stratify
        Keep the shares of the labels in each part, to within a row per label.
    group_by
        A column whose equal values stay together, such as ``premise``; no value is missing.
        Parts then have at least their size as long as there are groups, and are larger by less
        than the group that filled them.

    Returns
    -------
    tuple of Corpus
        One per size; the rows of a part keep their order.

    Raises
    ------
    InputError
        If the sizes are not positive or ask for more rows than there are, or `group_by` is not a
        column of values.
    """
    if stratify and group_by is not None:
        raise InputError("rows are split by label or by group, not both", path=corpus.source)
    wanted = _row_counts(sizes, len(corpus), corpus.source)
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
    if group_by is not None:
        parts = _by_group(_group_codes(corpus, group_by), wanted, rng, corpus.source)
    elif stratify:
        parts = _by_label(corpus.labels, wanted, rng)
    else:
        order = rng.permutation(len(corpus))
        parts = np.split(order, np.cumsum(wanted))[:-1]
    return tuple(corpus.take(np.sort(part)) for part in parts)


def _row_counts(sizes: Sequence[int] | Sequence[float], n: int, source: str) -> list[int]:
    if len(sizes) == 0:
        raise InputError("give the size of at least one part", path=source)
    if all(isinstance(size, int | np.integer) for size in sizes):
        counts = [int(size) for size in sizes]
    else:
        total = float(sum(sizes))
        if total > 1 + 1e-9:
            raise InputError(f"shares add up to {total:g}, more than 1", path=source)
        # Cumulative rounding: shares that add up to one leave no row out.
        edges = [round(n * share) for share in itertools.accumulate(sizes, initial=0.0)]
        counts = [int(after - before) for before, after in itertools.pairwise(edges)]
    if min(counts) < 1:
        raise InputError(f"every part needs at least one row; asked for {counts}", path=source)
    if sum(counts) > n:
        raise InputError(f"parts of {counts} rows need {sum(counts)}, there are {n}", path=source)
    return counts


def _by_label(
    labels: NDArray[np.int8], wanted: list[int], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    # Spread each label evenly over [0, 1); any interval then has every label's share of rows.
    place = np.empty(len(labels))
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        place[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    order = np.lexsort((rng.random(len(labels)), place))
    return np.split(order, np.cumsum(wanted))[:-1]


def _group_codes(corpus: Corpus, column: str) -> NDArray[np.int64]:
    if column not in corpus.table.column_names:
        raise InputError(
            f"is not in the corpus, which has {', '.join(corpus.table.column_names)}",
            path=corpus.source,
            column=column,
        )
    values = corpus.table.column(column)
    if values.null_count:
        raise InputError(
            f"has no value in {say_count(values.null_count, 'row')}, so the group is "
            "unknown; fill it in, leave such rows out, or group by another column",
            path=corpus.source,
            row=f"row {pc.index(values.is_null(), True).as_py()} of the corpus",
            column=column,
        )
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    # One array of strings cannot have more than 2 GiB.
    plain = values.cast(pa.large_string() if pa.types.is_string(kind) else kind)
    try:
        encoded = plain.combine_chunks().dictionary_encode()
    except pa.ArrowException as error:
        raise InputError(
            f"is {kind}, by which rows cannot be grouped; expected texts or numbers",
            path=corpus.source,
            column=column,
        ) from error
    return np.asarray(encoded.indices, dtype=np.int64)


def _by_group(
    codes: NDArray[np.int64], wanted: list[int], rng: np.random.Generator, source: str
) -> list[NDArray[np.int64]]:
    groups = rng.permutation(int(codes.max()) + 1)
    ends = np.cumsum(np.bincount(codes)[groups])
    parts: list[NDArray[np.int64]] = []
    start = 0
    for size in wanted:
        before = ends[start - 1] if start > 0 else 0
        stop = min(int(np.searchsorted(ends, before + size)) + 1, len(groups))
        if stop == start:
            raise InputError(
                f"there are too few groups ({len(groups)}) for parts of {wanted} rows", path=source
            )
        parts.append(np.flatnonzero(np.isin(codes, groups[start:stop])))
        start = stop
    return parts
