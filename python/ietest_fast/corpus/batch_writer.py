"""Files that are written in batches, and appear when they are complete."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.atomic import create, give_name, name_temporary, sync_file
from ietest_fast.corpus.formats import format_of
from ietest_fast.corpus.streams import BATCH_ROWS, with_strings
from ietest_fast.errors import InputError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

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

    Attributes
    ----------
    n_rows : int
        Rows written so far.
    """

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
