"""Files that are read in batches, so that their size does not matter."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.atomic import create, give_name, name_temporary, sync_file
from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.dataset import are_categories, is_text
from ietest_fast.corpus.formats import (
    LARGEST_EXACT,
    Format,
    QuoteWatch,
    check_nesting,
    check_readable,
    check_repeats,
    check_utf8,
    column_names,
    diagnose,
    diagnosing,
    find_format,
    format_of,
    has_no_rows,
    json_records,
    open_bytes,
    open_fields,
    open_parquet,
    scan_json,
    warn_of_bad_rows,
)
from ietest_fast.errors import InputError, ResourceError
from ietest_fast.files import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from types import TracebackType

BATCH_ROWS = 65_536
_BLOCK_BYTES = 16 << 20
_SLOW_BATCH_ROWS = 4096


def csv_options(
    form: Format,
    names: Sequence[str],
    columns: Sequence[str],
    *,
    block_bytes: int,
) -> dict[str, Any]:
    """Arrow's options for a CSV or TSV file: every field a string, unquoted nothing a null."""
    import pyarrow.csv as pacsv

    return {
        "read_options": pacsv.ReadOptions(block_size=block_bytes, skip_rows=form.n_before),
        "parse_options": pacsv.ParseOptions(
            delimiter=form.delimiter,
            quote_char='"' if form.quoted else False,
            escape_char=form.escape or False,
            newlines_in_values=form.quoted,
            invalid_row_handler=(lambda _: "skip") if form.skips_bad_rows else None,
        ),
        "convert_options": pacsv.ConvertOptions(
            include_columns=list(columns),
            column_types={name: pa.string() for name in names},
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
        ),
    }


def with_strings(kind: pa.DataType) -> pa.DataType:
    """Give a type in which dates, times and decimals, nested ones too, have become strings."""
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        return pa.string()
    if pa.types.is_dictionary(kind):
        return with_strings(kind.value_type)
    if pa.types.is_map(kind):
        return pa.map_(with_strings(kind.key_type), with_strings(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        list_of = pa.large_list if pa.types.is_large_list(kind) else pa.list_
        return list_of(with_strings(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(with_strings(field.type)) for field in kind])
    return kind


class TypesChangeError(InputError):
    """Values of a JSONL file are of other types than those at its start.

    ``open_batches(..., types_of="file")`` reads such a file.
    """


class BatchReader:
    """The batches of a file, one after the other; a context manager."""

    path: Path
    format: Format
    schema: pa.Schema
    """Of every batch."""
    n_rows: int | None
    """Rows of the file if the format knows them beforehand (Parquet)."""
    n_rows_about: int | None
    """The same; of a text file that is not compressed an estimate, by the lines at its start."""

    def __init__(
        self,
        *,
        path: Path,
        schema: pa.Schema,
        form: Format,
        batches: Iterator[pa.RecordBatch],
        n_rows: int | None,
        opened: Any = None,
        explain: Callable[[Exception], InputError] | None = None,
    ) -> None:
        self.path = path
        self.schema = schema
        self.format = form
        self.n_rows = n_rows
        self.n_rows_about = _estimate_rows(path, form) if n_rows is None else n_rows
        self._batches = batches
        self._opened = opened
        self._explain = partial(diagnose, path, form) if explain is None else explain

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._batches
        except (pa.ArrowException, OSError, EOFError) as error:
            raise self._explain(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; there are no more batches then."""
        for each in (self._batches, self._opened):
            if hasattr(each, "close"):
                each.close()
        # Arrow's readers of text keep the file below them open until they are gone. Closing it here
        # would take it from the threads that read ahead.
        self._batches, self._opened = iter(()), None


def _estimate_rows(path: Path, form: Format) -> int | None:
    """Say how many rows a text file has, if its lines are as long as those at its start."""
    if form.compression is not None:
        return None
    try:
        with open_file(path) as file:
            start = file.read(_BLOCK_BYTES)
            n_bytes = file.seek(0, os.SEEK_END)
    except (InputError, OSError):
        return None  # whoever reads it says so
    n_lines = start.count(b"\n") * n_bytes // max(len(start), 1)
    return max(n_lines - (form.kind != "jsonl"), 1)


def open_batches(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    texts: Collection[str] = (),
    batch_rows: int = BATCH_ROWS,
    quoted: bool | None = None,
    types_of: Literal["start", "file"] = "start",
) -> BatchReader:
    """Open a file to read it in batches, in bounded memory.

    Parameters
    ----------
    path
        Parquet, CSV, TSV or JSONL; see :func:`ietest_fast.corpus.read_corpus`.
    columns
        The columns to read; all if None.
    texts
        Columns that hold texts: another value in one of them, where the format allows that
        (JSONL), is an error.
    batch_rows
        Most rows of a batch of a Parquet file. Text files are cut by bytes (16 MiB).
    quoted
        Whether double quotes enclose fields; None: in CSV yes, in TSV no.
    types_of
        What tells the types of the columns of JSONL: the file's start (its first 16 MiB), or, at
        the cost of a slow reading before the first batch, all of it. A column whose values are of
        several types has strings: texts as they are, other values as JSON.

    Returns
    -------
    BatchReader
        The fields of CSV and TSV are strings; a field of nothing, unquoted, is a null.

    Raises
    ------
    InputError
        At once if the file cannot be opened or lacks a column; while iterating if it is broken
        further down, naming the line.
    TypesChangeError
        While iterating, if values of JSONL are of other types than those at its start; with
        ``types_of="file"`` it can be read.
    """
    path = Path(path)
    check_readable(path)
    form = find_format(path, quoted=quoted)
    with diagnosing(path, form):
        if form.kind == "parquet":
            return _open_parquet(path, form, columns, batch_rows)
        if form.kind == "jsonl":
            return _open_jsonl(path, form, columns, texts, types_of)
        return _open_delimited(path, form, columns)


def _open_parquet(
    path: Path, form: Format, columns: Sequence[str] | None, batch_rows: int
) -> BatchReader:
    file = open_parquet(path)
    schema = file.schema_arrow
    names = list(schema.names)
    chosen = list(names if columns is None else columns)
    check_columns(path, names, chosen)
    notes = (schema.metadata or {}).get(b"huggingface")  # which may name the numbers of labels
    schema = pa.schema([schema.field(name) for name in chosen], notes and {b"huggingface": notes})

    def batches() -> Iterator[pa.RecordBatch]:
        check_repeats(path, file, chosen)
        n_rows = 0
        for batch in file.iter_batches(batch_size=batch_rows, columns=chosen):
            for name in chosen:
                kind = batch.schema.field(name).type
                if is_text(kind) or are_categories(kind):
                    check_utf8(path, batch[name], name, first_row=n_rows)
            yield batch.select(chosen)
            n_rows += batch.num_rows

    return BatchReader(
        path=path,
        schema=schema,
        form=form,
        batches=batches(),
        n_rows=file.metadata.num_rows,
        opened=file,
    )


def _open_delimited(path: Path, form: Format, columns: Sequence[str] | None) -> BatchReader:
    import pyarrow.csv as pacsv

    names = column_names(path, form)
    chosen = list(names if columns is None else columns)
    check_columns(path, names, chosen)
    warn_of_bad_rows(path, form)  # which Arrow cannot show if they are not UTF-8
    options = csv_options(form, names, chosen, block_bytes=_BLOCK_BYTES)
    try:
        reader = pacsv.open_csv(open_fields(path, form, block_bytes=_BLOCK_BYTES), **options)
    except pa.ArrowInvalid as error:
        if not has_no_rows(error):
            raise
        schema = pa.schema([(name, pa.string()) for name in chosen])
        return BatchReader(path=path, schema=schema, form=form, batches=iter(()), n_rows=None)

    def batches() -> Iterator[pa.RecordBatch]:
        watch = QuoteWatch(path, form)
        for batch in reader:
            watch.advance(_BLOCK_BYTES)  # no batch reaches beyond its block
            yield batch
        watch.advance()

    return BatchReader(
        path=path,
        schema=reader.schema,
        form=form,
        batches=batches(),
        n_rows=None,
        opened=reader,
    )


def _open_jsonl(
    path: Path,
    form: Format,
    columns: Sequence[str] | None,
    texts: Collection[str],
    types_of: Literal["start", "file"],
) -> BatchReader:
    names = column_names(path, form)
    check_columns(path, names, names if columns is None else columns)
    if types_of == "start" and form.array is None:
        check_nesting(path, form, _BLOCK_BYTES)
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return _open_uniform_json(path, form, names, columns, texts)
    return _open_mixed_json(path, form, columns, texts)


def _open_uniform_json(
    path: Path,
    form: Format,
    names: Sequence[str],
    columns: Sequence[str] | None,
    texts: Collection[str],
) -> BatchReader:
    """Read JSONL in which the values of a column are all of one type."""
    import pyarrow.json as pajson

    options = pajson.ReadOptions(block_size=_BLOCK_BYTES)
    known = [pa.field(name, pa.string()) for name in names if name in texts]
    parse = pajson.ParseOptions(explicit_schema=pa.schema(known)) if known else None
    reader = pajson.open_json(open_bytes(path, form), read_options=options, parse_options=parse)
    found = reader.schema
    # All that the first block has, in the order in which the columns occur.
    chosen = [*names, *(name for name in found.names if name not in names)]
    if columns is not None:
        chosen = list(columns)
    absent = [name for name in chosen if name not in found.names]
    if absent:
        raise InputError("is in none of the first objects", path=path, column=absent[0])
    # Arrow takes strings that look like dates for dates, but JSON has strings alone.
    schema = pa.schema([(name, with_strings(found.field(name).type)) for name in chosen])
    if any(found.field(field.name).type != field.type for field in schema) or columns is not None:
        reader.close()
        reader = pajson.open_json(
            open_bytes(path, form),
            read_options=options,
            parse_options=pajson.ParseOptions(
                explicit_schema=schema,
                unexpected_field_behavior="infer" if columns is None else "ignore",
            ),
        )

    def batches() -> Iterator[pa.RecordBatch]:
        is_known = False
        for batch in reader:
            part = batch.select(chosen)
            part.validate(full=True)  # Arrow's JSON reader lets wrong UTF-8 through
            if not is_known and _has_large_floats(part):
                _check_floats(path, form, schema, texts)
                is_known = True
            yield part

    return BatchReader(
        path=path,
        schema=schema,
        form=form,
        batches=batches(),
        n_rows=None,
        opened=reader,
        explain=partial(_explain_json, path, form, columns, texts),
    )


def _has_large_floats(batch: pa.RecordBatch) -> bool:
    """Say whether a number may have been an integer that a float cannot hold."""
    columns = [column for column in batch.columns if pa.types.is_floating(column.type)]
    return any(
        pc.any(pc.greater_equal(pc.abs(column), float(LARGEST_EXACT))).as_py() for column in columns
    )


def _check_floats(path: Path, form: Format, schema: pa.Schema, texts: Collection[str]) -> None:
    """Stop if Arrow has made floats of integers that they cannot hold, as beside decimals."""
    names = [field.name for field in schema if pa.types.is_floating(field.type)]
    found = scan_json(path, form, names, texts)
    for name, kind in found.types.items():
        if not pa.types.is_floating(kind):
            raise TypesChangeError(
                "holds integers that a number with decimals cannot hold; write them as strings",
                path=path,
                column=name,
            )


def _explain_json(
    path: Path,
    form: Format,
    columns: Sequence[str] | None,
    texts: Collection[str],
    error: Exception,
) -> InputError:
    try:
        change = scan_json(path, form, columns, texts).change
    except InputError as wrong:
        return wrong
    except (pa.ArrowException, OSError, EOFError):
        return diagnose(path, form, error)
    if change is None:
        return TypesChangeError(str(diagnose(path, form, error)))
    return TypesChangeError(str(change))


def _open_mixed_json(
    path: Path, form: Format, columns: Sequence[str] | None, texts: Collection[str]
) -> BatchReader:
    """Read JSONL in which the values of a column may be of several types."""
    types = scan_json(path, form, columns, texts).types
    schema = pa.schema(list(types.items()))

    def batches() -> Iterator[pa.RecordBatch]:
        records = (record for _, record in json_records(path, form))
        while rows := list(itertools.islice(records, _SLOW_BATCH_ROWS)):
            arrays = [
                pa.array([_as_type(row.get(field.name), field.type) for row in rows], field.type)
                for field in schema
            ]
            yield pa.record_batch(arrays, schema=schema)

    return BatchReader(path=path, schema=schema, form=form, batches=batches(), n_rows=None)


def _as_type(value: Any, kind: pa.DataType) -> Any:
    if value is None or isinstance(value, str) or not pa.types.is_large_string(kind):
        return value
    return json.dumps(value, ensure_ascii=False)


# Files that are written in batches, and appear when they are complete.


_ROW_GROUP_ROWS = 131_072
_ROW_GROUP_BYTES = 64 << 20


def check_target(path: str | Path) -> None:
    """Stop if a file cannot be written, as far as that can be told without writing."""
    path = Path(path)
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ResourceError(f"{path}: cannot be written: {error.strerror}") from error
    if path.is_dir():
        raise InputError("is a folder, a file expected", path=path)
    format_of(path)
    folder = path.parent
    if not folder.exists():
        raise ResourceError(f"{path}: cannot be written: there is no folder {str(folder)!r}")
    if not folder.is_dir():
        raise ResourceError(f"{path}: cannot be written: {str(folder)!r} is a file, not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ResourceError(
            f"{path}: cannot be written: nothing may be written in the folder {str(folder)!r}"
        )


class BatchWriter:
    """Writes a table in batches; a context manager.

    The file appears, whole, when the block is left without an error. Until then the rows stand
    under another name in the same folder, and after an error nothing is left. The format is that
    of the name: Parquet, CSV, TSV or JSONL, the text formats also compressed.

    TSV has no quotes, so a text with a tab or a line end in it is an error there. A CSV or TSV file
    of one column cannot hold a row without a value, because readers skip blank lines.
    """

    n_rows: int
    """Rows written so far."""

    def __init__(self, path: str | Path, schema: pa.Schema) -> None:
        self.path = Path(path)
        self.schema = schema
        self.n_rows = 0
        self._is_published = False
        self._format = format_of(self.path)
        self._temporary: Path | None = None
        self._sink: Any = None
        self._raw: Any = None
        self._parquet: Any = None
        self._pending: list[pa.RecordBatch] = []

    def __enter__(self) -> Self:
        check_target(self.path)
        self._check_names()
        self._temporary = name_temporary(self.path)
        try:
            try:
                self._raw = self._sink = create(self._temporary)
            except OSError as error:
                raise self._failed(error) from error
            if self._format.compression is not None:
                self._sink = pa.CompressedOutputStream(self._raw, self._format.compression)
            self._start()
        except BaseException:
            self._abandon()
            raise
        return self

    def _start(self) -> None:
        if self._format.kind == "parquet":
            import pyarrow.parquet as pq

            self._parquet = pq.ParquetWriter(self._sink, self.schema, compression="zstd")
        elif self._format.kind != "jsonl":
            self._sink.write(self._header())

    def write(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add rows; their columns and types are those of the schema."""
        if self._sink is None:
            raise RuntimeError("a BatchWriter writes inside its with block")
        batches = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        try:
            for part in batches:
                if part.schema.names != self.schema.names:
                    raise InputError(
                        f"batch with the columns {', '.join(part.schema.names)}, expected "
                        f"{', '.join(self.schema.names)}",
                        path=self.path,
                    )
                if self._format.kind == "parquet":
                    self._pending.append(part)
                    self._flush(at_end=False)
                    self.n_rows += part.num_rows
                    continue
                for start in range(0, part.num_rows, BATCH_ROWS):
                    piece = part.slice(start, BATCH_ROWS)
                    self._sink.write(self._lines(piece))
                    self.n_rows += piece.num_rows
        except OSError as error:
            raise self._failed(error) from error

    def finish(self) -> None:
        """Write all rows to the disk, under the temporary name.

        :meth:`publish` does this, too. Finish all files first if a full disk, found while one is
        finished, has to leave all of them as they were.
        """
        if self._raw.closed:
            return
        assert self._temporary is not None  # noqa: S101 - set by __enter__
        try:
            if self._parquet is not None:
                self._flush(at_end=True)
                self._parquet.close()
            if self._sink is not self._raw:
                self._sink.close()
            self._raw.close()
            sync_file(self._temporary)  # some systems tell only now that the disk is full
        except OSError as error:
            raise self._failed(error) from error

    def publish(self) -> None:
        """Finish the file and give it its name; leaving the block does this, too."""
        if self._is_published:
            return
        assert self._temporary is not None  # noqa: S101 - set by __enter__
        self.finish()
        try:
            give_name(self._temporary, self.path)
        except OSError as error:
            raise self._failed(error) from error
        self._is_published = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        if kind is not None:
            self._abandon()
            return False
        try:
            self.publish()
        except BaseException:
            self._abandon()
            raise
        self._sink = None
        return False

    def _flush(self, *, at_end: bool) -> None:
        rows = sum(batch.num_rows for batch in self._pending)
        size = sum(batch.nbytes for batch in self._pending)
        if rows > 0 and (at_end or rows >= _ROW_GROUP_ROWS or size >= _ROW_GROUP_BYTES):
            table = pa.Table.from_batches(self._pending).cast(self.schema)
            self._pending = []
            self._parquet.write_table(table)

    def _abandon(self) -> None:
        with contextlib.suppress(Exception):
            if self._parquet is not None:
                self._parquet.close()
        with contextlib.suppress(Exception):
            self._sink.close()
        with contextlib.suppress(Exception):
            self._raw.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
        self._sink = None

    def _failed(self, error: OSError) -> ResourceError:
        return ResourceError(f"{self.path}: cannot be written: {error.strerror or error}")

    def _check_names(self) -> None:
        form = self._format
        if form.kind not in ("csv", "tsv") or form.quoted:
            return
        for name in self.schema.names:
            if any(sign in name for sign in "\t\r\n"):
                raise InputError(
                    f"the name {name!r} has a tab or a line end, which a TSV file cannot hold; "
                    "rename the column, or write .csv, .jsonl or .parquet",
                    path=self.path,
                )
        if self.schema.names == [""]:
            raise InputError(
                "the only column has no name, so the header of a TSV file would be a blank line; "
                "name the column, or write .csv, .jsonl or .parquet",
                path=self.path,
            )

    def _header(self) -> bytes:
        delimiter = self._format.delimiter
        names = self.schema.names
        if self._format.quoted:
            names = ['"' + name.replace('"', '""') + '"' for name in names]
        return (delimiter.join(names) + "\n").encode()

    def _lines(self, batch: pa.RecordBatch) -> memoryview:
        if self._format.kind == "jsonl":
            return _json_lines(self._converted(batch, _json_values))
        if self._format.quoted:
            columns = self._converted(batch, _quoted_fields)
        else:
            columns = self._converted(batch, _bare_fields)
            for name, fields in columns.items():
                self._refuse(
                    pc.match_substring_regex(fields, "[\t\r\n]"),
                    name,
                    "a TSV file cannot hold a tab or a line end; write .csv, .jsonl or .parquet",
                )
        if len(columns) == 1:
            [(name, fields)] = columns.items()
            self._refuse(
                pc.equal(fields, ""),
                name,
                f"a {self._format.kind.upper()} file of one column cannot hold a row without a "
                "value: its line is blank, and readers skip blank lines; write .jsonl or .parquet",
            )
        return _join(list(columns.values()), self._format.delimiter)

    def _refuse(self, wrong: pa.Array, column: str, problem: str) -> None:
        """Raise InputError at the first row of a batch that is wrong, if there is one."""
        index = pc.index(wrong, pa.scalar(True)).as_py()
        if index >= 0:
            row = f"row {self.n_rows + index}"
            raise InputError(problem, path=self.path, row=row, column=column)

    def _converted(
        self, batch: pa.RecordBatch, convert: Callable[[pa.Array], pa.Array]
    ) -> dict[str, pa.Array]:
        converted = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                converted[name] = convert(column)
            except (pa.ArrowException, TypeError, ValueError) as error:
                raise InputError(
                    f"a value of the type {column.type} cannot be written as "
                    f"{self._format.kind}: {error}; leave the column out, or write .parquet",
                    path=self.path,
                    column=name,
                ) from error
        return converted


def _as_fields(column: pa.Array) -> pa.Array:
    column = column.cast(with_strings(column.type))
    if pa.types.is_nested(column.type):
        values = [None if v is None else json.dumps(v) for v in column.to_pylist()]
        return pa.array(values, pa.large_string())
    return column.cast(pa.large_string())


def _join(columns: Sequence[pa.Array], delimiter: str) -> memoryview:
    lines = pc.binary_join_element_wise(
        *[column.cast(pa.large_string()) for column in columns],
        pa.scalar(delimiter, pa.large_string()),
    )
    return _bytes_of_lines(lines)


def _bytes_of_lines(lines: pa.Array) -> memoryview:
    # An array of strings is already one run of bytes: join with "\n" behind every line.
    ended = pc.binary_join_element_wise(
        lines, pa.scalar("", pa.large_string()), pa.scalar("\n", pa.large_string())
    )
    _, offsets, data = ended.buffers()
    return memoryview(data)[: int(np.frombuffer(offsets, np.int64)[len(ended)])]


def _bare_fields(column: pa.Array) -> pa.Array:
    return pc.fill_null(_as_fields(column), "")


def _quoted_fields(column: pa.Array) -> pa.Array:
    fields = _as_fields(column)
    if not pa.types.is_primitive(column.type):
        fields = pc.replace_substring(fields, '"', '""')
        quote = pa.scalar('"', pa.large_string())
        fields = pc.binary_join_element_wise(quote, fields, quote, pa.scalar("", quote.type))
    return pc.fill_null(fields, "")


def _json_lines(columns: dict[str, pa.Array]) -> memoryview:
    """Make lines of columns in which each value is JSON already."""
    pieces: list[Any] = []
    for index, (name, values) in enumerate(columns.items()):
        opening = ("{" if index == 0 else ", ") + json.dumps(name, ensure_ascii=False) + ": "
        pieces += [pa.scalar(opening, pa.large_string()), values]
    pieces.append(pa.scalar("}", pa.large_string()))
    return _bytes_of_lines(pc.binary_join_element_wise(*pieces, pa.scalar("", pa.large_string())))


def _without_absent(value: Any) -> Any:
    """Leave out the keys of objects that Arrow has given them, since other rows have them."""
    if isinstance(value, dict):
        return {key: _without_absent(own) for key, own in value.items() if own is not None}
    return [_without_absent(each) for each in value] if isinstance(value, list) else value


def _json_values(column: pa.Array) -> pa.Array:
    """Each value as JSON, a large_string array without nulls."""
    kind = with_strings(column.type)
    column = column.cast(kind)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pc.fill_null(column.cast(pa.large_string()), "null")
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        values = [
            json.dumps(_without_absent(value), ensure_ascii=False, allow_nan=False)
            for value in column.to_pylist()
        ]
        return pa.array(values, pa.large_string())
    column = column.cast(pa.large_string())
    # Most texts need no escapes; only the others go through Python.
    special = pc.fill_null(pc.match_substring_regex(column, r'["\\\x00-\x1f]'), False)
    quote = pa.scalar('"', pa.large_string())
    plain = pc.binary_join_element_wise(quote, column, quote, pa.scalar("", pa.large_string()))
    if pc.any(special).as_py():
        escaped = [
            json.dumps(text, ensure_ascii=False) for text in column.filter(special).to_pylist()
        ]
        plain = pc.replace_with_mask(plain, special, pa.array(escaped, pa.large_string()))
    return pc.fill_null(plain, "null")
