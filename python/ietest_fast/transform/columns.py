"""Columns of texts: checked, cast, compared, and put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_text_columns(schema: pa.Schema, text_columns: Sequence[str]) -> None:
    """Raise InputError unless all columns are there, once, and hold texts."""
    if isinstance(text_columns, str):
        raise InputError(f"text_columns is a sequence of names, not the string {text_columns!r}")
    if not text_columns:
        raise InputError("no text columns are named; at least one is needed")
    if len(set(text_columns)) != len(text_columns):
        raise InputError(f"a text column is named twice: {', '.join(text_columns)}")
    for name in text_columns:
        found = schema.names.count(name)
        if found != 1:
            raise InputError(
                f"stands {found} times in the table, once expected; it has "
                f"{', '.join(map(repr, schema.names)) or 'no columns'}",
                column=name,
            )
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not _is_string(kind) and not pa.types.is_null(kind):
            raise InputError(f"is {kind}, text expected", column=name)


def as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column as string or large_string, whatever holds its texts."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    return column.cast(pa.large_string())


def replace_columns(table: pa.Table, texts: dict[str, list[pa.Array]]) -> pa.Table:
    """Put new texts in the place of columns, keeping each column's type where they fit."""
    for name, chunks in texts.items():
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        column = _cast_back(chunks, field.type)
        table = table.set_column(index, field.with_type(column.type), column)
    return table


def _is_string(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _cast_back(chunks: list[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    """Cast chunks to the type that the column had, where they fit it."""
    # A text that outgrew 32-bit offsets stays large.
    if pa.types.is_string(kind) and any(pa.types.is_large_string(c.type) for c in chunks):
        total = sum(pc.sum(pc.binary_length(chunk)).as_py() or 0 for chunk in chunks)
        kind = pa.large_string() if total > np.iinfo(np.int32).max else kind
    if pa.types.is_null(kind):
        kind = pa.large_string()
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not chunks:
        return pa.chunked_array([], kind)
    return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)


def are_same_rows(source_row: npt.NDArray[np.int64], n_before: int) -> bool:
    """Tell whether rows are the `n_before` old ones in their order."""
    return len(source_row) == n_before and bool((source_row == np.arange(n_before)).all())


def find_changed(
    old: pa.Table, new: pa.Table, columns: Sequence[str], candidates: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Find the rows whose texts differ, among those that may.

    Edits may cancel out ("a b c" with "a b" and then "c" replaced), so a row with edits need not
    have changed.
    """
    differs = np.zeros(len(candidates), np.bool_)
    if not candidates.any():
        return differs
    for name in columns:
        before, after = as_strings(old[name]), as_strings(new[name])
        # Most changes show in the length. The others are compared byte by byte.
        differs |= candidates & (_lengths(before) != _lengths(after))
        rows = np.flatnonzero(candidates & ~differs)
        if len(rows):
            unequal = pc.not_equal(
                before.cast(pa.large_string()).take(rows), after.cast(pa.large_string()).take(rows)
            )
            differs[rows[unequal.fill_null(False).to_numpy()]] = True
    return differs


def _lengths(texts: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    lengths: npt.NDArray[np.int64] = (
        pc.binary_length(texts).cast(pa.int64()).fill_null(-1).to_numpy()
    )
    return lengths
