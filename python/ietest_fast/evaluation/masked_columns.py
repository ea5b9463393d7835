"""Columns of logs of hidden words: numbers and marks as pandas and other tools write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.formats import find_format, locate_row
from ietest_fast.errors import InputError
from ietest_fast.evaluation.schema import plain_type
from ietest_fast.values import as_numbers, find_missing, find_outcomes, show_value

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MOST_RANK = 2**31 - 1
"""The largest rank that can be kept."""

_NO_PROBABILITY = "-inf"  # the logarithm of 0, as a text


def row_error(complaint: str, path: Path, row: int, column: str) -> InputError:
    """Make an error that names a row of a file as its format counts them."""
    where = locate_row(path, find_format(path), row)
    return InputError(complaint, path=path, row=where, column=column)


def read_column(
    column: pa.ChunkedArray, field: pa.Field, path: Path, *, rows: NDArray[np.int64]
) -> pa.Array | pa.ChunkedArray:
    """Return a column of a log in the type that it has in the schema; what is missing stays so."""
    kind = field.type
    try:
        plain = column.cast(plain_type(column.type))
        if not (pa.types.is_primitive(kind) or pa.types.is_boolean(kind)):
            return pc.utf8_trim_whitespace(plain.cast(kind))
    except pa.ArrowException as error:
        raise InputError(
            f"holds {column.type}, {kind} expected", path=path, column=field.name
        ) from error
    values, is_bad, wanted = _read_values(plain, kind)
    is_missing = find_missing(plain)
    wrong = np.flatnonzero(is_bad & ~is_missing)
    if wrong.size:
        place = int(wrong[0])
        raise row_error(
            f"{show_value(plain[place].as_py())} is {wanted}; correct it, or leave the column out",
            path,
            int(rows[place]),
            field.name,
        )
    return pa.array(np.where(is_missing, 0, values).astype(kind.to_pandas_dtype()), mask=is_missing)


def _read_values(
    column: pa.ChunkedArray, kind: pa.DataType
) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """Return values of a type, which of them are none, and what these are not."""
    if pa.types.is_boolean(kind):
        marks, bad = find_outcomes(column)
        return marks, np.isin(np.arange(len(column)), bad), "neither true nor false"
    numbers = as_numbers(column)
    if pa.types.is_integer(kind):
        is_whole = (np.abs(numbers) <= MOST_RANK) & (numbers == np.round(numbers))
        return numbers, ~is_whole, "no whole number"
    numbers[_are_no_probability(column)] = -np.inf
    return numbers, np.isnan(numbers) | (numbers == np.inf), "no number"


def _are_no_probability(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.asarray(pc.fill_null(pc.equal(column, _NO_PROBABILITY), False))
    return np.zeros(len(column), dtype=np.bool_)


def read_reciprocal(
    table: pa.Table, name: str, path: Path, *, rows: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return reciprocal ranks, NaN where there is none."""
    column = table[name].cast(plain_type(table[name].type))
    values = as_numbers(column)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ranks = np.round(1 / values)
        near = (np.abs(values * ranks - 1) < 1e-6) & (ranks <= MOST_RANK)
    is_rank = (values == 0) | (near & (values > 0) & (values <= 1))
    wrong = np.flatnonzero(~is_rank & ~find_missing(column))
    if wrong.size:
        row = int(wrong[0] if rows is None else rows[wrong[0]])
        value = show_value(column[int(wrong[0])].as_py())
        raise row_error(
            f"{value} is no reciprocal rank, which is 0 or 1 over a whole number", path, row, name
        )
    return values


def read_texts(column: pa.ChunkedArray, name: str, path: Path) -> Any:
    """Return items (texts or whole numbers) or answers as texts; blanks make no other one."""
    kind = plain_type(column.type)
    is_number = name == "item" and pa.types.is_integer(kind)
    try:
        texts = column.cast(kind if is_number else pa.large_string())
        return texts if is_number else pc.utf8_trim_whitespace(texts)
    except pa.ArrowException as error:
        wanted = "whole numbers or texts" if name == "item" else "texts"
        raise InputError(
            f"holds {column.type} that cannot be read as {wanted}; write it as {wanted}",
            path=path,
            column=name,
        ) from error
