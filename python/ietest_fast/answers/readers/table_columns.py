"""Columns of a table by name: which there are, and their values."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.measurements import read_columns
from ietest_fast.answers.readers.base import lookup, plain_array
from ietest_fast.answers.schema import MOST_KINDS
from ietest_fast.corpus.formats import (
    Format,
    check_readable,
    column_names,
    diagnose,
    find_format,
    json_records,
    open_parquet,
)
from ietest_fast.corpus.labels import name_numbers, names_in_metadata
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import InputError
from ietest_fast.files import refuse_unpacked
from ietest_fast.values import as_numbers, parse_list, show_value, unwrap

INDEX = "__index_level_0__"
"""What pandas calls an index in a Parquet file, unless it has a name."""

_ROWS_AT_ONCE = 256  # of texts that may be long

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def read_some(path: Path, names: Sequence[str]) -> dict[str, pa.Array]:
    """Read what nobody has asked for: together, or one by one where one cannot be read."""
    if not names:
        return {}
    try:
        table = read_values(path, names)
    except InputError:
        if len(names) == 1:
            return {}
        singly = [read_some(path, [name]) for name in dict.fromkeys(names)]
        return {name: values for each in singly for name, values in each.items()}
    return {name: table[name].combine_chunks() for name in table.column_names}


def read_kinds(path: Path, names: Sequence[str], most: int) -> dict[str, pa.Array]:
    """Read those columns of which the first rows have few different values: no texts, no scores."""
    head = _read_head(path, names) if names else {}
    few = [
        name
        for name, values in head.items()
        if not is_nested(values) and len(pc.unique(values)) <= most
    ]
    return read_some(path, few)


def _read_head(path: Path, names: Sequence[str] | None = None) -> dict[str, pa.Array]:
    """Read the first rows of columns, or of all; nothing where they cannot be read."""
    with contextlib.suppress(InputError), open_batches(path, columns=names) as reader:
        for head in reader:
            return dict(zip(head.schema.names, head.columns, strict=True))
    return {}


def read_index(path: str | Path) -> pa.Array | None:
    """Return the index that pandas has stored in a Parquet file, as a column or as a range.

    None if there is none, or it cannot be read.
    """
    place = Path(path)
    try:
        if not place.is_file() or find_format(place).kind != "parquet":
            return None
        with open_parquet(place) as file:
            schema, n = file.schema_arrow, file.metadata.num_rows
        if INDEX in schema.names:
            return read_some(place, [INDEX]).get(INDEX)
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"][0]
        counted = range(said["start"], said["stop"], said["step"])  # of integers alone
    except (InputError, OSError, pa.ArrowException, ValueError, LookupError, TypeError):
        return None  # nobody has asked for it
    return pa.array(counted) if len(counted) == n else None


def list_noted(path: Path) -> list[tuple[str, ...]]:
    """Return the names of labels that a table of the ``datasets`` library notes for its columns."""
    try:
        if find_format(path).kind != "parquet":
            return []
        with open_parquet(path) as file:
            schema = file.schema_arrow
    except (InputError, OSError):
        return []
    found = (names_in_metadata(schema, name) for name in schema.names)
    return [names for names in found if names is not None]


def read_nested(path: Path, names: Sequence[str]) -> dict[str, pa.Array]:
    """Read what nobody has asked for, also objects and lists, and those that texts spell."""
    with contextlib.suppress(InputError), open_batches(path, columns=names) as reader:
        if any(pa.types.is_nested(field.type) for field in reader.schema):
            table = pa.Table.from_batches(list(reader), reader.schema)
            return {name: unfold(table[name].combine_chunks()) for name in names}
    return {name: unfold(values) for name, values in read_some(path, names).items()}


def read_with_others(
    path: Path, needed: Sequence[str], others: Sequence[str]
) -> tuple[pa.Table, tuple[str, ...]]:
    """Read columns that are needed, and others as far as they can be read, and say which cannot."""
    try:
        return read_values(path, [*needed, *others]), ()
    except InputError:
        table = read_values(path, needed)
    for name, values in read_nested(path, others).items():
        table = table.append_column(name, values)
    lost = [name for name in others if name not in table.column_names]
    note = f"Warning: {path}: not read, since their values are of several kinds: {', '.join(lost)}."
    return table, (note,) if lost else ()


def spread_values(values: pa.Array | pa.ChunkedArray) -> dict[str, pa.Array]:
    """Return the fields of objects by name, or lists of one length by place; nothing of others."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if are_named(kind):
        return _spread_named(values)
    if pa.types.is_struct(kind):
        return dict(zip((field.name for field in kind), values.flatten(), strict=True))
    if pa.types.is_map(kind):
        return _spread_rows([dict(row or ()) for row in values.to_pylist()])
    if not is_list(kind) or values.null_count:
        return {}
    lengths = pc.unique(pc.list_value_length(values)).to_pylist()
    n = lengths[0] if len(lengths) == 1 else 0
    return {str(place): pc.list_element(values, place) for place in range(min(n, MOST_KINDS))}


def find_likeliest(values: pa.Array | pa.ChunkedArray) -> pa.Array | None:
    """Return the name or place of the largest score by row; the first of lists of words.

    None if a column holds neither.
    """
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if is_list(column.type) and pa.types.is_string(column.type.value_type):
        starts = pc.list_slice(column, 0, 1, return_fixed_size_list=True)
        return pc.list_element(starts, 0)
    return find_largest(spread_values(column))


def find_largest(parts: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Array | None:
    """Return the name of the column with the largest number by row; None without any."""
    if len(parts) < 2 or any(pa.types.is_nested(part.type) for part in parts.values()):
        return None
    chunks = [getattr(part, "chunks", [part]) for part in parts.values()]
    scores = np.array([as_numbers(pa.chunked_array(each)) for each in chunks])
    is_known = np.isfinite(scores).all(axis=0)
    if not is_known.any():
        return None
    best = np.array([*parts], dtype=object)[np.where(is_known, scores, 0).argmax(axis=0)]
    return pa.array(best, pa.string(), mask=~is_known)


def is_list(kind: pa.DataType) -> bool:
    """Whether values are lists, of whatever lengths."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(is_one(kind) for is_one in tests)


def are_named(kind: pa.DataType) -> bool:
    """Whether values are lists of labels with their scores, as pipelines of transformers give.

    Of one text alone, they give a list of one such list.
    """
    depth = 0
    while is_list(kind):
        kind, depth = kind.value_type, depth + 1
    return (
        depth in {1, 2}
        and pa.types.is_struct(kind)
        and {"label", "score"} <= {field.name for field in kind}
    )


def list_nested(path: Path) -> list[str]:
    """Return the columns that hold objects or lists, or spell them in the first rows."""
    return [name for name, values in _read_head(path).items() if is_nested(values)]


def is_nested(values: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a column holds objects or lists, or texts that all begin and end like one."""
    if not pa.types.is_string(values.type) and not pa.types.is_large_string(values.type):
        return bool(pa.types.is_nested(values.type))
    are_like = pc.match_substring_regex(values, r"^\s*(\[.*\]|\{.*\})\s*$")
    is_all: bool | None = pc.all(are_like).as_py()
    return values.null_count < len(values) and is_all is True


def unfold(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the objects or lists that texts spell; a column of anything else as it is."""
    if pa.types.is_nested(values.type) or not is_nested(values):
        return values
    found = [None if text is None else parse_list(text) for text in values.to_pylist()]
    try:
        return pa.array(found)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return values


def _spread_named(values: pa.Array) -> dict[str, pa.Array]:
    """Return the scores of each label, which may stand in any order."""
    lists = (row[0] if row and isinstance(row[0], list) else row for row in values.to_pylist())
    return _spread_rows(
        [
            {str(each["label"]): each["score"] for each in row or () if each is not None}
            for row in lists
        ]
    )


def _spread_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Return what objects say as columns, unless it has too many names for labels."""
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) > MOST_KINDS:
        return {}
    return {name: plain_array([row.get(name) for row in rows]) for name in names}


def list_columns(path: str | Path) -> list[str]:
    """Return the names of a table's columns."""
    place = Path(path)
    check_readable(place)
    return names_of(place, find_format(place))


def names_of(path: Path, form: Format) -> list[str]:
    """Return the names of a table's columns, whose format is known."""
    if form.kind != "parquet":
        return column_names(path, form)
    try:
        with open_parquet(path) as file:
            return list(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise diagnose(path, form, error) from error


def _read_parquet(path: Path, form: Format, wanted: Sequence[str]) -> pa.Table:
    """Read columns, and what stands in the objects of others."""
    with open_parquet(path) as file:
        schema = file.schema_arrow
        inside = [name for name in wanted if _leads_inside(name, schema)]
        try:
            columns = {name: _read_inside(file, name, path) for name in inside}
        except (pa.ArrowException, OSError) as error:
            raise diagnose(path, form, error) from error
    plain = [name for name in wanted if name not in inside]
    if plain:
        table = name_numbers(read_columns(path, plain), schema, path=path)
        columns |= dict(zip(plain, table.columns, strict=True))
    return pa.table({name: columns[name] for name in wanted})


def _read_inside(file: Any, name: str, path: Path) -> pa.ChunkedArray:
    """Read what stands in objects, part by part: a text may be stored once for all rows."""
    n_bytes, total, parts = path.stat().st_size, 0, []
    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[name]):
        total += batch.nbytes
        refuse_unpacked(path, total, n_bytes)
        parts.append(pc.struct_field(batch.column(0), name.split(".")[1:]))
    if not parts:
        raise InputError("the file has no rows", path=path)
    return pa.chunked_array(parts)


def _leads_inside(name: str, schema: pa.Schema) -> bool:
    """Whether a name is no column's, and leads into the objects of one."""
    head, *inner = name.split(".")
    if name in schema.names or schema.names.count(head) != 1:
        return False
    kind = schema.field(head).type
    for part in inner:
        if not pa.types.is_struct(kind) or kind.get_field_index(part) < 0:
            return False
        kind = kind.field(part).type
    return True


def read_values(path: Path, wanted: Sequence[str]) -> pa.Table:
    """Read columns; a name may lead into objects, and in JSONL a list of one is its value."""
    form = find_format(path)
    wanted = list(dict.fromkeys(wanted))
    if form.kind == "parquet":
        return _read_parquet(path, form, wanted)
    if form.kind != "jsonl":
        return read_columns(path, wanted)
    try:
        return read_columns(path, wanted)
    except InputError:
        # Again, slowly: fields of objects, and lists of one.
        try:
            records = [record for _, record in json_records(path, form)]
        except (OSError, EOFError) as error:
            raise diagnose(path, form, error) from error
        found = [[lookup(record, name) for record in records] for name in wanted]
        is_nested = any(isinstance(value, list) for values in found for value in values)
        if not records or (not is_nested and not any("." in name for name in wanted)):
            raise
    columns: dict[str, pa.Array] = {}
    for name, values in zip(wanted, found, strict=True):
        if all(value is None for value in values):
            raise InputError("there is no such field", path=path, column=name)
        plain = [unwrap(value) for value in values]
        for row, value in enumerate(plain):
            if isinstance(value, (list, dict)):
                kind = "a list of several values" if isinstance(value, list) else "an object"
                raise InputError(
                    f"{show_value(value)} is {kind}; expected text, numbers or true and false",
                    path=path,
                    row=f"row {row}",
                    column=name,
                )
        columns[name] = plain_array(plain)
    return pa.table(columns)
