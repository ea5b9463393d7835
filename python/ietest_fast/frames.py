"""Tables of every kind in, and tables of the same kind out.

Whatever offers Arrow's PyCapsule interface (pandas, polars, DuckDB, ...) comes in through it,
without any of these libraries being imported here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.values import show_names, with_common_types

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXPECTED = (
    "expected a table (pandas, polars, Arrow or datasets), a mapping of columns, a list of "
    "strings, or a list of pairs of strings"
)
_DEFAULT_COLUMNS = {1: ("text",), 2: ("premise", "hypothesis")}


def to_arrow(
    data: Any, *, columns: Sequence[str] | None = None, source: str = "<memory>"
) -> pa.Table:
    """Return a table of any kind as an Arrow table."""
    if isinstance(columns, str):
        columns = (columns,)
    try:
        table, is_named = _read(data, columns, source)
    except InputError:
        raise
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{_kind_name(data)} cannot be read as a table: {shorten_error(error)}", path=source
        ) from error
    if is_named and columns is not None:
        missing = [name for name in columns if table.column_names.count(name) != 1]
        if missing:
            raise InputError(
                f"stands {table.column_names.count(missing[0])} times among the columns "
                f"{show_names(table.column_names)}; once expected",
                path=source,
                column=missing[0],
            )
        table = table.select(list(columns))
    return with_common_types(table)


def give_back(  # noqa: PLR0911 - one line for each kind
    table: pa.Table, *, like: Any, rows: NDArray[np.int64] | None = None
) -> Any:
    """Return an Arrow table as the kind of table that the caller came with."""
    library = _library(like)
    if isinstance(like, pa.RecordBatchReader):
        return table.to_reader()
    if isinstance(like, pa.RecordBatch):
        arrays = [column.combine_chunks() for column in table.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
    if isinstance(like, pa.Array | pa.ChunkedArray):
        return table.column(0)
    if library == "pandas":
        return _to_pandas(table, like, rows)
    if library == "polars":
        import polars as pl

        frame = pl.DataFrame(table)
        return frame.to_series().alias(like.name) if isinstance(like, pl.Series) else frame
    if library == "datasets":
        return _to_dataset(table, like)
    if library == "pyarrow" or hasattr(like, "__arrow_c_stream__"):
        return table
    if isinstance(like, Mapping):
        return table.to_pydict()
    if isinstance(like, np.ndarray):
        values = [column.to_pylist() for column in table.columns]
        return np.array(values[0] if like.ndim == 1 else values, dtype=object).T
    if isinstance(like, Sequence) and not isinstance(like, str | bytes):
        if len(like) > 0 and isinstance(like[0], Mapping):
            return table.to_pylist()
        if table.num_columns == 1:
            return table.column(0).to_pylist()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return table


def check_order(columns: Mapping[str, Any], *, source: str | None = None) -> None:
    """Refuse pandas objects whose indexes say that the rows do not belong together.

    Rows are matched by their order. The same labels in different orders contradict it, and so do
    two indexes that share some of their labels, as of two columns that were filtered differently.
    An index that only counts rows says nothing: answers to filtered texts may have one.
    """
    seen: list[tuple[str, Any]] = []
    for name, index in _find_indexes(columns):
        for other, reference in seen:
            row = _find_disorder(reference, index)
            if row is not None:
                here, there = reference[row : row + 1].tolist(), index[row : row + 1].tolist()
                how, remedy = "indexes of other rows", "keep the rows that both have"
                if Counter(reference) == Counter(index):
                    how, remedy = "the same index in different orders", "sort both (sort_index)"
                raise InputError(
                    f"{other} and {name} have {how}: here {here[0]!r} and {there[0]!r}. Rows are "
                    f"matched by their order: {remedy}, or drop the index if they belong together "
                    "as they stand (reset_index(drop=True))",
                    path=source,
                    row=f"row {row}",
                )
        if not any(index is reference for _, reference in seen):
            seen.append((name, index))


def _find_disorder(one: Any, other: Any) -> int | None:
    """Return the first row at which the labels of two indexes differ, if they share some."""
    if len(one) != len(other) or one.equals(other):
        return None
    if Counter(one) != Counter(other) and (
        _only_counts(one) or _only_counts(other) or set(one).isdisjoint(other)
    ):
        return None
    pairs = enumerate(zip(one, other, strict=True))
    return next((row for row, (label, own) in pairs if label != own), None)


def _only_counts(index: Any) -> bool:
    """Whether an index is the one that pandas gives to rows without any."""
    return bool(list(index) == list(range(len(index))))


def _find_indexes(columns: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for name, values in columns.items():
        if _library(values) == "pandas":
            # Indexes, categories and arrays have none, and a frame of one column has.
            if hasattr(values, "index"):
                yield str(name), values.index
        elif isinstance(values, Mapping):
            yield from _find_indexes({f"{name}[{key!r}]": own for key, own in values.items()})
        elif isinstance(values, list | tuple) and values and _library(values[0]) == "pandas":
            yield from _find_indexes({f"{name}[{i}]": own for i, own in enumerate(values)})


def _read(  # noqa: PLR0911, PLR0912 - one line for each kind
    data: Any, columns: Sequence[str] | None, source: str
) -> tuple[pa.Table, bool]:
    """Return a table, and whether its columns had names of their own."""
    if isinstance(data, pa.Table):
        return data, True
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all(), True
    if isinstance(data, str | bytes | PathLike):
        raise InputError(
            f"is a {type(data).__name__}; {_EXPECTED} (read_corpus reads a file)", path=source
        )
    library = _library(data)
    if library == "pandas":
        if getattr(data, "ndim", 0) == 2:
            return pa.Table.from_pandas(data, preserve_index=False), True
        return _name([pa.array(data, from_pandas=True)], columns, source), False
    if library == "datasets":
        return _read_dataset(data, source), True
    if library == "polars" and hasattr(data, "collect"):
        raise InputError("is a LazyFrame; collect() it first", path=source)
    if isinstance(data, pa.Array | pa.ChunkedArray):
        return _name([data], columns, source), False
    if hasattr(data, "__arrow_c_stream__"):
        return _read_stream(data, columns, source)
    if hasattr(data, "__arrow_c_array__"):
        array = pa.array(data)
        if pa.types.is_struct(array.type):
            return pa.Table.from_struct_array(array), True
        return _name([array], columns, source), False
    if isinstance(data, Mapping):
        return _read_mapping(data, source), True
    if isinstance(data, np.ndarray) and data.ndim == 2:
        return _name([_read_column(column) for column in data.T], columns, source), False
    if isinstance(data, Sequence) or (isinstance(data, np.ndarray) and data.ndim == 1):
        return _read_rows(data, columns, source)
    raise InputError(f"is {_kind_name(data)}; {_EXPECTED}", path=source)


def _read_stream(data: Any, columns: Sequence[str] | None, source: str) -> tuple[pa.Table, bool]:
    stream = pa.chunked_array(data)
    if pa.types.is_struct(stream.type):
        # Also of no chunks at all; `pa.table` would ask for the stream a second time.
        fields = [stream.type.field(i) for i in range(stream.type.num_fields)]
        batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in stream.chunks]
        return pa.Table.from_batches(batches, pa.schema(fields)), True
    return _name([stream], columns, source), False


def _read_dataset(data: Any, source: str) -> pa.Table:
    if isinstance(data, Mapping):  # a DatasetDict
        raise InputError(
            f"is {_kind_name(data)} of the splits {', '.join(map(repr, data))}; choose one, such "
            f"as data[{next(iter(data), 'train')!r}]",
            path=source,
        )
    if not hasattr(data, "__len__"):
        raise InputError(
            "is a stream of datasets, which has no end of its own; load it without streaming=True",
            path=source,
        )
    # By way of the format, which knows of rows chosen, shuffled and filtered.
    table: pa.Table = data.with_format("arrow")[:]
    return table


def _read_mapping(data: Mapping[Any, Any], source: str) -> pa.Table:
    arrays: dict[str, Any] = {}
    for name, values in data.items():
        if not isinstance(name, str):
            raise InputError(f"column names are strings, not {name!r}", path=source)
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise InputError(
                f"is {_kind_name(values)}, a list or an array expected", path=source, column=name
            )
        try:
            arrays[name] = _read_column(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(shorten_error(error), path=source, column=name) from error
    _check_lengths(arrays, source)
    check_order(data, source=source)
    return pa.table(arrays)


def _check_lengths(arrays: Mapping[str, Any], source: str) -> None:
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} has {n}" for name, n in lengths.items())
        raise InputError(f"columns of unequal lengths: {shown}", path=source)


def _read_rows(data: Any, columns: Sequence[str] | None, source: str) -> tuple[pa.Table, bool]:
    first = next((row for row in data if row is not None), "")
    if isinstance(first, Mapping):
        return pa.Table.from_pylist(list(data)), True
    if isinstance(first, str):
        for row, value in enumerate(data):
            if value is not None and not isinstance(value, str):
                raise InputError(
                    f"is {_kind_name(value)}, a string expected", path=source, row=f"row {row}"
                )
        return _name([pa.array(data, pa.large_string())], columns, source), False
    if not isinstance(first, Sequence | np.ndarray) or isinstance(first, bytes):
        raise InputError(
            f"is {_kind_name(data)} that begins with {_kind_name(first)}; {_EXPECTED}", path=source
        )
    for row, value in enumerate(data):
        if (
            not isinstance(value, Sequence | np.ndarray)
            or isinstance(value, str | bytes)
            or len(value) != len(first)
        ):
            raise InputError(
                f"is {str(value)[:40]!r}, a row of {len(first)} fields expected as in row 0",
                path=source,
                row=f"row {row}",
            )
    fields = [_read_column(column) for column in zip(*data, strict=True)]
    return _name(fields, columns, source), False


def _read_column(values: Any) -> Any:
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    # From tuples and arrays of objects too; NaN is what pandas and NumPy have for "missing".
    return pa.array(values if hasattr(values, "dtype") else list(values), from_pandas=True)


def _name(arrays: list[Any], columns: Sequence[str] | None, source: str) -> pa.Table:
    names = _DEFAULT_COLUMNS.get(len(arrays)) if columns is None else tuple(columns)
    if names is None:
        raise InputError(f"rows have {len(arrays)} fields; name them (columns=[...])", path=source)
    if len(names) != len(arrays):
        raise InputError(
            f"rows have {len(arrays)} fields, and there are {len(names)} names for them: "
            f"{', '.join(map(repr, names))}",
            path=source,
        )
    return pa.table(arrays, list(names))


def _to_pandas(table: pa.Table, like: Any, rows: NDArray[np.int64] | None) -> Any:
    if like.ndim == 1:
        series = table.column(0).to_pandas()
        series.name = like.name
        return series if rows is None else series.set_axis(like.index.take(rows))
    # Arrow finds pandas' own types (nullable integers, say) in this note.
    note = pa.Schema.from_pandas(like.iloc[:0], preserve_index=False).metadata
    frame = table.replace_schema_metadata(note).to_pandas()
    return frame if rows is None else frame.set_axis(like.index.take(rows))


def _to_dataset(table: pa.Table, like: Any) -> Any:
    from datasets import Dataset, DatasetInfo, Features

    table = table.replace_schema_metadata(None)
    features = Features.from_arrow_schema(table.schema)
    for name, feature in like.features.items():
        # Names of classes, above all. Texts may have got longer than their old type allows.
        if name in features and feature() == table.schema.field(name).type:
            features[name] = feature
    return Dataset(table, info=DatasetInfo(features=features))


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _kind_name(data: Any) -> str:
    name = type(data).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
