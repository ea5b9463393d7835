"""Named columns of files of values: Parquet, CSV, TSV or JSONL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ietest_fast.errors import InputError
from ietest_fast.values import common_type, is_bytes, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ietest_fast.corpus.streams import BatchReader


def read_columns(
    path: str | Path, columns: Sequence[str], *, types_of: Literal["start", "file"] = "start"
) -> pa.Table:
    """Read named columns of a Parquet, CSV, TSV or JSONL file."""
    import pyarrow as pa

    from ietest_fast.corpus.streams import TypesChangeError, open_batches

    names = list(dict.fromkeys(columns))
    try:
        with open_batches(path, columns=names, types_of=types_of) as reader:
            batches = list(reader)
    except TypesChangeError:
        with open_batches(path, columns=names, types_of="file") as reader:
            batches = list(reader)
    table = pa.Table.from_batches(batches) if batches else None
    if table is None or table.num_rows == 0:
        raise InputError("the file has no rows", path=path)
    for place, name in enumerate(table.column_names):
        plain = _decode(table.column(place), name, path)
        _check_values(plain, name, path)
        table = table.set_column(place, name, plain)
    mixed = [name for name in names if pa.types.is_large_string(table.column(name).type)]
    if mixed and reader.format.kind == "jsonl":
        _check_json_values(reader, mixed)
    return table.select(names)


def _check_json_values(reader: BatchReader, names: Sequence[str]) -> None:
    """Refuse lists and objects in columns of several types, where they have become texts."""
    from ietest_fast.corpus.formats import json_records

    for number, record in json_records(reader.path, reader.format):
        for name in names:
            value = record.get(name)
            if isinstance(value, (list, dict)):
                kind = "a list" if isinstance(value, list) else "an object"
                raise InputError(
                    f"{show_value(value)} is {kind}; expected text, numbers or true and false",
                    path=reader.path,
                    row=f"line {number}",
                    column=name,
                )


def _decode(column: pa.ChunkedArray, name: str, path: str | Path) -> pa.ChunkedArray:
    """Give the values of categories, and texts as texts, however the file keeps them."""
    import pyarrow as pa

    from ietest_fast.corpus.formats import check_utf8

    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    kind = pa.string() if pa.types.is_string_view(kind) else common_type(kind)
    if kind == column.type:
        return column
    decoded = column.cast(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        check_utf8(Path(path), decoded, name)
    return decoded


def _check_values(column: pa.ChunkedArray, name: str, path: str | Path) -> None:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_nested(kind) or is_bytes(kind):
        raise InputError(
            f"values are of type {kind}; expected text, numbers or true and false",
            path=path,
            column=name,
        )
