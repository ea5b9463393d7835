"""Rows of tables, matched by what names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError, shorten_error

if TYPE_CHECKING:
    from pathlib import Path

ID_COLUMNS = frozenset(
    {
        "id", "idx", "index", "item", "item_id", "doc_id", "example_id", "sample_id", "question_id",
        "pairid", "pair_id", "guid", "uid", "uuid", "row_id", "promptid", "prompt_id",
    }
)  # fmt: skip
"""Names, case-folded, of columns that usually tell rows apart."""


def are_ids(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether no value is missing or there twice."""
    return column.null_count == 0 and len(pc.unique(column)) == len(column)


def read_ids(
    column: pa.Array | pa.ChunkedArray, *, path: str | Path, name: str | None = None
) -> pa.Array:
    """Return ids as texts, by which 1 and "1" name the same row.

    Parameters
    ----------
    column
        Texts or numbers.
    path, name
        The source and its column, for messages.

    Raises
    ------
    InputError
        If an id is missing or there twice, or ids are neither texts nor numbers.
    """
    try:
        texts = column.cast(pa.string())
    except pa.ArrowException as error:
        raise InputError(
            f"its ids cannot be compared: {shorten_error(error)}", path=path, column=name
        ) from error
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if are_ids(texts):
        return texts
    if texts.null_count:
        row = int(np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))[0])
        raise InputError("a row has no id", path=path, row=f"row {row}", column=name)
    counts = pc.value_counts(texts)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    raise InputError(
        f"{len(repeated):,} ids occur more than once, such as {repeated[0]['values'].as_py()!r}",
        path=path,
        column=name,
    )


def match_ids(
    wanted: pa.ChunkedArray, given: pa.ChunkedArray, *, name: str, sources: tuple[str, str]
) -> pa.Array:
    """Return the row of `given` that each row of `wanted` is; both have the same ids.

    Parameters
    ----------
    wanted, given
        Columns of ids.
    name
        Of the columns, for messages.
    sources
        Where the one and the other come from, for messages.

    Raises
    ------
    InputError
        If the ids are not the same.
    """
    mine, theirs = (
        read_ids(column, path=path, name=name)
        for column, path in zip((wanted, given), sources, strict=True)
    )
    rows = pc.index_in(mine, value_set=theirs)
    if rows.null_count or len(theirs) != len(mine):
        absent = mine.filter(rows.is_null())
        which = f", such as {absent[0].as_py()!r}" if len(absent) else ""
        raise InputError(
            f"its {len(theirs):,} ids are not those of the {len(mine):,} rows of {sources[0]}: "
            f"{len(absent):,} of these are missing{which}",
            path=sources[1],
            column=name,
        )
    return rows
