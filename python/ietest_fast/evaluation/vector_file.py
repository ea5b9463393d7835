"""Vectors of texts that another program has computed, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.formats import check_readable, open_parquet
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.evaluation.row_blocks import MOST_FEATURE, are_features, blocks
from ietest_fast.files import read_array
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_vectors(path: str | Path, *, column: str | None = None) -> NDArray[Any]:
    """Read a vector for each row of another file, numbers as they are in the file, (n, d)."""
    path = Path(path)
    check_readable(path)
    if path.suffix == ".npy":
        if column is not None:
            raise InputError("is an array without columns; name none", path=path)
        values = _read_array(path)
    elif path.suffix == ".parquet":
        values = _read_lists(path, column)
    else:
        raise InputError("holds no vectors: a .npy or .parquet file expected", path=path)
    if values.ndim != 2 or 0 in values.shape:
        shape = " x ".join(map(str, values.shape))
        raise InputError(
            f"has the shape {shape or 'of one number'}; a vector for each row expected", path=path
        )
    parts = [are_features(values[block]).all(axis=1) for block in blocks(len(values))]
    wrong = np.flatnonzero(~np.concatenate(parts))
    if wrong.size:
        raise InputError(
            f"{say_count(wrong.size, 'vector has', 'vectors have')} a number that is missing, "
            f"infinite or beyond {MOST_FEATURE:.0e}",
            path=path,
            row=f"row {wrong[0]}",
        )
    return values


def _read_array(path: Path) -> NDArray[Any]:
    found = read_array(path)
    if found.dtype.kind not in "fiu":
        raise InputError("is no array of numbers", path=path)
    return found


def _read_lists(path: Path, column: str | None) -> NDArray[Any]:
    try:
        file = open_parquet(path)
        schema = file.schema_arrow
        lists = [field.name for field in schema if _holds_vectors(field.type)]
        if column is None:
            if len(lists) != 1:
                raise InputError(
                    f"has {len(lists)} columns of lists of numbers; "
                    + ("name the one to use" if lists else "one vector for each row expected"),
                    path=path,
                )
            column = lists[0]
        check_columns(path, schema.names, [column])
        if column not in lists:
            raise InputError(
                f"is {schema.field(column).type}; lists of numbers expected",
                path=path,
                column=column,
            )
        own = file.read(columns=[column])[column].combine_chunks()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read: {shorten_error(error)}", path=path) from error
    if own.null_count:
        raise InputError(f"{own.null_count:,} vectors are missing", path=path, column=column)
    lengths = pc.list_value_length(own)
    width = pc.max(lengths).as_py() or 0
    different = np.flatnonzero(np.asarray(lengths) != width)
    if different.size:
        raise InputError(
            f"{different.size:,} vectors are shorter than the longest, which has {width} numbers",
            path=path,
            row=f"row {different[0]}",
            column=column,
        )
    flat = pc.list_flatten(own)
    if flat.null_count:
        flat = pc.fill_null(flat.cast(pa.float64()), float("nan"))
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(own), width)


def _holds_vectors(kind: pa.DataType) -> bool:
    is_list = (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
    return bool(
        is_list and (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type))
    )
