"""Which format a file has, and where exactly it breaks its rules.

Reading goes through Arrow, which is fast and says little about errors. When it fails, the
functions here go through the file a second time, slowly, to name the line and what is wrong.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import functools
import io
import itertools
import json
import re
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.dialects import QuoteCheck, current_dialect, explain_quotes, find_delimiter
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.files import (
    LEAST_UNPACKED,
    check_file,
    mend_halves,
    open_file,
    refuse_repeats,
    refuse_unpacked,
)
from ietest_fast.numerals import say_count
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO


# JSON that is one array of objects, or one object with such an array in it, element by element.

_BLOCK_BYTES = 1 << 20
_LONGEST_ELEMENT = 16 << 20

_STRING = r'"(?:[^"\\]|\\.)*"'
_SCALAR = rf"(?:{_STRING}|[0-9.eE+-]+|true|false|null)"
# Values without parts, then the first array of objects.
_FIELD = re.compile(
    rf"\s*\{{\s*(?:{_STRING}\s*:\s*{_SCALAR}\s*,\s*)*({_STRING})\s*:\s*\[(?=\s*\{{)", re.DOTALL
)
# How other objects begin that pandas writes.
_OF_PANDAS = {
    re.compile(rf'\s*\{{\s*{_STRING}\s*:\s*\{{\s*"0"\s*:'): (
        "is one object of columns, as pandas writes by default"
    ),
    re.compile(r'\s*\{\s*"schema"\s*:\s*\{\s*"fields"\s*:'): (
        'is a table beside its schema, as pandas writes with orient="table"'
    ),
}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(")?|[][{},]', re.DOTALL)
_MORE = re.compile(r"\[\s*\{")


@dataclass(frozen=True, kw_only=True)
class JsonArray:
    """Where the objects of a file stand."""

    name: str | None
    """The key of the array in the one object of the file; None if the file is the array."""
    start: int
    """Bytes before its first element."""


def find_array(path: Path, head: bytes) -> JsonArray | None:
    """Tell by its start whether a file of JSON is one array of objects; None if it is lines."""
    text = head.decode("utf-8", "replace")
    bare = text.removeprefix("\ufeff").lstrip()
    if bare.startswith("["):
        return JsonArray(name=None, start=head.index(b"[") + 1)
    if not bare.startswith("{") or _is_first_of_lines(bare):
        return None
    before = len(text) - len(bare)
    for other, what in _OF_PANDAS.items():
        if other.match(bare):
            remedy = 'write it with to_json(..., orient="records", lines=True)'
            raise InputError(f"{what}; {remedy}", path=path)
    found = _FIELD.match(bare)
    if found is None:
        return None
    try:
        name = json.loads(found[1], strict=False)
    except ValueError:
        return None  # whoever reads it says what is wrong
    return JsonArray(name=name, start=len(text[: before + found.end()].encode()))


def _is_first_of_lines(text: str) -> bool:
    """Whether a line is an object, and more follow."""
    line, _, rest = text.partition("\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def array_elements(path: Path, stream: BinaryIO, array: JsonArray) -> Iterator[tuple[int, str]]:
    """Line (from 1) and text of every element of an array, in bounded memory."""
    line = stream.read(array.start).count(b"\n") + 1
    decoder = codecs.getincrementaldecoder("utf-8")()
    text, begin, is_first = "", 0, True

    def wrong(what: str) -> InputError:
        return InputError(what, path=path, row=f"line {line}")

    def read_block(text: str) -> str:
        """Read what follows a text, "" at the end of the file."""
        nonlocal line
        block, more = b" ", ""
        try:
            while block and not more:  # a letter of several bytes may go on in the next block
                block = stream.read(_BLOCK_BYTES)
                more = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            line += text.count("\n") + error.object.count(b"\n", 0, error.start)
            raise wrong(f"not UTF-8: byte 0x{error.object[error.start]:02x}") from error
        return more

    def read_on(text: str) -> str:
        """Add a block to the text of an element that has not ended yet."""
        if len(text) > _LONGEST_ELEMENT:
            raise wrong(
                f"an element of the array is longer than {_LONGEST_ELEMENT >> 20} MiB, or a quote "
                "is left open"
            )
        more = read_block(text)
        if not more:
            raise wrong("the array does not end: the file is cut off, or a quote is left open")
        return text + more

    end, place, depth = _find_end(text, 0, 0)
    while True:
        if end is None:
            text, place, begin = read_on(text[begin:]), place - begin, 0
            end, place, depth = _find_end(text, place, depth)
            continue
        element = text[begin : end.start()]
        bare = element.strip()
        if bare:
            yield line + element[: element.index(bare[0])].count("\n"), bare
        elif not is_first or end[0] != "]":
            raise wrong("not JSON: a value expected between the commas of the array")
        line += element.count("\n")
        begin, is_first = place, False
        if end[0] != ",":
            rest = text[place:] or read_block("")
            while rest:
                _check_end(path, rest, array, end[0])
                more = read_block(rest)
                line += rest.count("\n")
                rest = more
            return
        end, place, depth = _find_end(text, place, 0)


def _find_end(text: str, place: int, depth: int) -> tuple[re.Match[str] | None, int, int]:
    """Find the sign behind an element, None if it is not there yet; and where to look on."""
    for token in _TOKEN.finditer(text, place):
        sign = token[0]
        if sign[0] == '"':
            if token[1] is None:  # it goes on in the next block
                return None, token.start(), depth
        elif sign in "[{":
            depth += 1
        elif depth and sign in "]}":
            depth -= 1
        elif not depth:
            return token, token.end(), 0
    return None, len(text), depth


def _check_end(path: Path, rest: str, array: JsonArray, sign: str) -> None:
    if sign != "]" or (array.name is None and rest.strip()):
        raise InputError("not JSON: more stands behind the array's end", path=path)
    if array.name is not None and _MORE.search(rest):
        raise InputError(
            f"holds several arrays of objects, {array.name!r} and more; write each to a file of "
            "its own",
            path=path,
        )


# How many values a Parquet file says that it holds, from its footer.
#
# Arrow's own way to this number ends the whole process where a footer is damaged in some places:
# an exception of C++ passes through a call that is declared to raise none. So the few fields that
# are needed are read here (Apache Thrift's compact protocol, ``parquet.thrift``); Arrow reads the
# rest, by calls that do raise.

_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY = (1, 2), 3, (4, 5, 6), 7, 8
_LISTS, _MAP, _STRUCT, _UUID = (9, 10), 11, 12, 13
# FileMetaData.row_groups, RowGroup.columns, ColumnChunk.meta_data; then ColumnMetaData.num_values.
_WAY_TO_COLUMNS, _NUM_VALUES = (4, 1, 3), 5
_DEEPEST_FOOTER = 60


class _Footer:
    """A place in a footer that moves on while it is read."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._depth = data, 0, 0

    def take(self, n: int = 1) -> bytes:
        found = self._data[self._at : self._at + n]
        if len(found) < n:
            raise ValueError("it ends too early")
        self._at += n
        return found

    def number(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise ValueError("a number has no end")

    def integer(self) -> int:
        coded = self.number()
        return (coded >> 1) ^ -(coded & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and type of each field of a struct; who asks has to read its value."""
        number = 0
        while (head := self.take()[0]) & 0x0F:
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 0x0F

    def elements(self) -> Iterator[int]:
        """Yield the type of each element of a list; who asks has to read it."""
        (head,) = self.take()
        size = head >> 4 if head >> 4 < 15 else self.number()
        for _ in range(size):
            yield head & 0x0F

    def skip(self, kind: int, *, in_struct: bool = False) -> None:
        self._depth += 1
        if self._depth > _DEEPEST_FOOTER:
            raise ValueError("it is nested too deep")
        if kind in _BOOLEANS:
            self.take(0 if in_struct else 1)
        elif kind in _INTEGERS:
            self.number()
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, in_struct=True)
        elif kind in _LISTS:
            for inner in self.elements():
                self.skip(inner)
        elif kind == _MAP:
            self._skip_map()
        else:
            sizes = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}
            self.take(self.number() if kind == _BINARY else sizes[kind])
        self._depth -= 1

    def _skip_map(self) -> None:
        size = self.number()
        (kinds,) = self.take() if size else b"\0"
        for _ in range(size):
            self.skip(kinds >> 4)
            self.skip(kinds & 0x0F)

    def count_values(self, way: tuple[int, ...] = _WAY_TO_COLUMNS) -> int:
        """Read a struct and add up the values of all columns in it."""
        total = 0
        for number, kind in self.fields():
            if not way and number == _NUM_VALUES and kind in _INTEGERS:
                total += self.integer()
            elif not way or number != way[0]:
                self.skip(kind, in_struct=True)
            elif kind in _LISTS:
                total += sum(self._count_in(inner, way[1:]) for inner in self.elements())
            else:
                total += self._count_in(kind, way[1:])
        return total

    def _count_in(self, kind: int, way: tuple[int, ...]) -> int:
        if kind != _STRUCT:
            raise ValueError("a struct is expected")
        return self.count_values(way)


def count_values(path: Path) -> int:
    """Return the number of values of all columns that the footer of a Parquet file tells."""
    with open_file(path) as file:
        end = file.seek(0, 2)
        file.seek(max(end - 8, 0))
        size = int.from_bytes(file.read(4), "little")
        file.seek(max(end - 8 - size, 0))
        data = file.read(size)
    try:
        return _Footer(data).count_values()
    except (ValueError, KeyError) as error:
        raise InputError(f"is damaged: its footer cannot be read: {error}", path=path) from error


Kind = Literal["parquet", "csv", "tsv", "jsonl"]

_KINDS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}

# Deeper than any data. Arrow's reader crashes at some thousands, Python's gives up earlier.
_MOST_NESTED = 100
_LONGEST_FIELD = 2**31 - 1
_BYTES_AT_ONCE = 1 << 20
_BYTES_OF_VALUE = 4  # of an offset, the least that a text takes
_HEAD_BYTES = 1 << 20
_WATCHED_BYTES = 1 << 20
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

LARGEST_EXACT = 2**53
"""Up to here a float holds every integer."""

SKIP_HINT = "--csv skip-bad-rows leaves such rows out, and counts them"
"""What can be done about rows with another number of fields."""

_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a file is to be read or written."""

    kind: Kind
    """``parquet``, ``csv``, ``tsv`` or ``jsonl``."""
    compression: str | None = None
    """Arrow's name of the compression around a text format; None for none."""
    quoted: bool = False
    """Whether a field in double quotes is what stands inside them. In the original SNLI and MNLI
    files, and so in every TSV file unless said otherwise, a quote is an ordinary character."""
    delimiter: str = ","
    """What separates the fields of a CSV or TSV file."""
    escape: str | None = None
    """What stands before a quote inside quotes; None: another quote."""
    skips_bad_rows: bool = False
    """Whether rows with another number of fields than the header are left out, and counted."""
    n_before: int = 0
    """Lines before the header."""
    array: JsonArray | None = None
    """Of JSON that is one array, or one object with an array in it; None for JSON lines."""


def find_format(path: Path, *, quoted: bool | None = None) -> Format:
    """Tell the format of a file to read, from its name and its start."""
    said = current_dialect()
    form = format_of(path, quoted=said.quoted if quoted is None else quoted)
    if form.kind == "parquet":
        return form
    try:
        with io.BufferedReader(open_bytes(path, form)) as stream:
            if form.kind == "jsonl":
                return replace(form, array=find_array(path, stream.read(_HEAD_BYTES)))
            line = stream.readline(_HEAD_BYTES).decode("utf-8-sig", "replace")
    except (pa.ArrowException, OSError, EOFError):
        return form  # whoever reads it says what is wrong
    delimiter, n_before = find_delimiter(line, form.delimiter)
    if said.delimiter is not None:
        delimiter = said.delimiter
    if said.escape == delimiter:
        raise InputError(f"csv: {said.escape!r} is the delimiter, and no escape", path=path)
    return replace(
        form,
        delimiter=delimiter,
        n_before=n_before,
        escape=said.escape if form.quoted else None,
        skips_bad_rows=said.skips_bad_rows,
    )


def format_of(path: Path, *, quoted: bool | None = None) -> Format:
    """Tell the format that a file has, or shall get, from its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression is not None:
        suffixes.pop()
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None or (kind == "parquet" and compression is not None):
        raise InputError(
            "the format is not clear from the name; expected "
            ".parquet, .csv, .tsv, .txt (tabs) or .jsonl, or one of the text formats with .gz",
            path=path,
        )
    return Format(
        kind=kind,
        compression=compression,
        quoted=(kind == "csv") if quoted is None else quoted,
        delimiter="," if kind == "csv" else "\t",
    )


def check_readable(path: Path) -> None:
    """Stop unless the path is a file with something in it."""
    check_file(path)
    try:
        if path.stat().st_size == 0:
            raise InputError("the file is empty", path=path)
        with open_file(path) as stream:
            start = stream.read(4)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            raise InputError(f"is encoded in {encoding}, UTF-8 expected", path=path)
    if len(start) == 4 and b"\0\0" in {start[0::2], start[1::2]}:  # of two letters without a mark
        raise InputError("is encoded in UTF-16, UTF-8 expected", path=path)


def open_bytes(path: Path, form: Format) -> Any:
    """Open the file's bytes, decompressed, as an Arrow stream."""
    status = check_file(path).stat()
    if form.compression is not None and status.st_size <= LEAST_UNPACKED // 4:
        _check_unpacked(path, form.compression, status.st_size, status.st_mtime_ns)
    return pa.input_stream(str(path), compression=form.compression)


class _WholeLineEnds(io.RawIOBase):
    r"""A stream of which no part that is read ends between "\r" and "\n".

    Arrow takes a "\n" at the start of a block for the rest of such a line end, and drops it, also
    where both stand in a quoted field (apache/arrow 51368).
    """

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = bytes(self._stream.read(size if size >= 0 else None))
        while data.endswith(b"\r") and (more := self._stream.read(1)):
            data += more
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


def open_fields(path: Path, form: Format, *, block_bytes: int) -> Any:
    """Open the bytes of CSV or TSV for Arrow's reader, which reads blocks of so many bytes."""
    stream = open_bytes(path, form)
    if not form.quoted or not (form.compression or _cuts_line_ends(path, block_bytes)):
        return stream
    return pa.PythonFile(_WholeLineEnds(stream), mode="r")


def _cuts_line_ends(path: Path, block_bytes: int) -> bool:
    with open_file(path) as file:
        for place in range(block_bytes - 1, path.stat().st_size, block_bytes):
            file.seek(place)
            if file.read(1) == b"\r":
                return True
    return False


@functools.lru_cache(maxsize=16)
def _check_unpacked(path: Path, compression: str, n_packed: int, _changed: int) -> None:
    """Stop if a small file unpacks to more than it may; a large one is believed."""
    n_bytes = 0
    with contextlib.suppress(OSError), pa.input_stream(str(path), compression=compression) as file:
        while data := file.read(_BYTES_AT_ONCE):  # who reads it says if it is damaged
            n_bytes += len(data)
            refuse_unpacked(path, n_bytes, n_packed)


# What a file begins with that only has the name of a table, and what to do.
_NO_TABLES = {
    b"PAR1": "is Parquet; end its name in .parquet",
    b"PK\x03\x04": "is a zip file, as Excel's workbooks are; export the table as CSV",
    b"\x1f\x8b": "is packed by gzip; end its name in .gz",
    b"BZh": "is packed by bzip2; end its name in .bz2",
    b"\x28\xb5\x2f\xfd": "is packed by zstd; end its name in .zst",
    b"<!DOCTYPE": "is a web page; get the file itself",
    b"<html": "is a web page; get the file itself",
    b"version https://git-lfs": "is a pointer of Git LFS; get the file itself (git lfs pull)",
}
_SPLIT = {"columns", "index", "data"}


def column_names(path: Path, form: Format) -> list[str]:
    """List the columns of a text file: its header, or the keys of its first hundred objects."""
    try:
        if form.kind == "jsonl":
            names: dict[str, None] = {}
            for _, record in itertools.islice(json_records(path, form), 100):
                names.update(dict.fromkeys(record))
            if form.array is not None and not names:
                raise InputError("the array has no objects in it", path=path)
            if names.keys() == _SPLIT:
                raise InputError(
                    "is one table as pandas writes it with orient='split'; write it with "
                    "orient='records' and lines=True",
                    path=path,
                )
            return list(names)
        for _, fields in field_records(path, form):
            return fields
    except (OSError, EOFError) as error:
        raise InputError(f"cannot be read: {_first_line(error)}", path=path) from error
    raise InputError("the file is empty", path=path)


def open_parquet(path: Path) -> Any:
    """Open a Parquet file, a ``pyarrow.parquet.ParquetFile``."""
    import pyarrow.parquet as pq

    try:
        # What Arrow reads ahead, it keeps until the whole file has been read.
        file = pq.ParquetFile(check_file(path), pre_buffer=False)
    except UnicodeDecodeError as error:
        raise InputError("the name of a column is not UTF-8", path=path) from error
    _check_values(path, file)
    return file


def _check_values(path: Path, file: Any) -> None:
    """Stop if a Parquet file says that it holds more than a file of its size can."""
    about, n_bytes = file.metadata, path.stat().st_size
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    refuse_unpacked(path, sum(group.total_byte_size for group in groups), n_bytes)
    n_values = max(count_values(path), about.num_rows * max(1, about.num_columns))
    refuse_unpacked(path, _BYTES_OF_VALUE * n_values, n_bytes)


def check_repeats(path: Path, file: Any, columns: Sequence[str] | None = None) -> None:
    """Stop if texts of a Parquet file, each stored once, are together more than it may hold.

    A large file is believed: it cannot hide many terabytes in a few megabytes.
    """
    import pyarrow.parquet as pq

    n_bytes = path.stat().st_size
    schema = file.schema_arrow
    names = [
        field.name
        for field in schema
        if (columns is None or field.name in columns)
        and (
            pa.types.is_dictionary(field.type)
            or pa.types.is_string(field.type)
            or pa.types.is_binary(field.type)
        )
    ]
    if n_bytes > LEAST_UNPACKED or not names:
        return
    with pq.ParquetFile(path, read_dictionary=names, pre_buffer=False) as coded:
        total = 0
        for batch in coded.iter_batches(columns=names):
            for column in batch.columns:
                kind = column.type
                if pa.types.is_dictionary(kind) and not pa.types.is_primitive(kind.value_type):
                    lengths = pc.binary_length(column.dictionary)
                    total += pc.sum(pc.take(lengths, column.indices)).as_py() or 0
                else:
                    total += column.nbytes
            refuse_unpacked(path, total, n_bytes)


def has_no_rows(error: pa.ArrowException) -> bool:
    """Tell whether Arrow gave up on a CSV file because nothing follows its header."""
    return "infer number of columns" in str(error)


def field_records(path: Path, form: Format) -> Iterator[tuple[int, list[str]]]:
    """First line (from 1) and fields of every record of a CSV or TSV file, header included."""
    width: int | None = None
    for number, fields in _all_records(path, form):
        width = len(fields) if width is None else width
        if len(fields) == width or not form.skips_bad_rows:
            yield number, fields


def _all_records(path: Path, form: Format) -> Iterator[tuple[int, list[str]]]:
    lines = (line for _, line in _text_lines(path, form))
    for _ in range(form.n_before):
        next(lines, None)
    if form.quoted:
        yield from _quoted_records(path, form, lines)
        return
    for number, line in enumerate(lines, start=form.n_before + 1):
        bare = line.rstrip("\r\n")
        if bare:
            yield number, bare.split(form.delimiter)


def _quoted_records(
    path: Path, form: Format, lines: Iterator[str]
) -> Iterator[tuple[int, list[str]]]:
    record: list[str] = []

    def noted() -> Iterator[str]:
        for line in lines:
            record.append(line)
            yield line

    # Python's reader follows the same rules as Arrow's where it matters: quotes, doubled quotes,
    # line ends inside quotes.
    reader = csv.reader(noted(), delimiter=form.delimiter, escapechar=form.escape, strict=True)
    header: list[str] = []
    while True:
        number = form.n_before + reader.line_num + 1
        record.clear()
        # Python gives up at 131,072 characters, which a text may have. The limit is the
        # whole program's, so it is changed for no longer than it has to be.
        limit = csv.field_size_limit(_LONGEST_FIELD)
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what, column = _explain_record(str(error), "".join(record), form, header)
            raise InputError(what, path=path, row=f"line {number}", column=column) from error
        finally:
            csv.field_size_limit(limit)
        header = header or fields
        if fields:
            yield number, fields


def _explain_record(
    said: str, record: str, form: Format, header: Sequence[str]
) -> tuple[str, str | None]:
    """Say what is wrong with a record, in other words than Python's, and in which column."""
    if "new-line character" in said:
        return "a line end of CR alone; expected LF, or CR and LF, behind every line", None
    if "expected after" in said or "unexpected end" in said:
        return explain_quotes(record, form.delimiter, form.escape, header)
    return said, None


class QuoteWatch:
    """Goes through a quoted CSV or TSV file beside Arrow, and stops where quotes break the
    rules.
    """

    def __init__(self, path: Path, form: Format) -> None:
        self._path, self._form = path, form
        self._check = QuoteCheck(form.delimiter)
        # What escapes mean, only the slower reader knows.
        self._check.is_regular = form.escape is None
        self._stream = open_bytes(path, form) if form.quoted else None

    def advance(self, n_bytes: int | None = None) -> None:
        """Look at so many more bytes; None for the rest of the file."""
        while self._stream is not None and (n_bytes is None or n_bytes > 0):
            block = self._stream.read(_WATCHED_BYTES) if self._check.is_regular else b""
            self._check.feed(block, is_last=not block)
            if n_bytes is not None:
                n_bytes -= len(block)
            if not block:
                self._stream.close()
                self._stream = None
            if not self._check.is_regular:
                for _ in _all_records(self._path, self._form):
                    pass


def warn_of_bad_rows(path: Path, form: Format) -> None:
    """Say how many rows of a file are left out because of their number of fields."""
    if not form.skips_bad_rows:
        return
    width, n = None, 0
    for _, fields in _all_records(path, form):
        width = len(fields) if width is None else width
        n += len(fields) != width
    if n:
        warnings.warn(
            f"{path}: {say_count(n, 'row')} with another number of fields than the header "
            f"{'was' if n == 1 else 'were'} left out",
            IetestWarning,
            stacklevel=2,
        )


def json_records(
    path: Path, form: Format, *, mends: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line (from 1) and object of every line of a JSONL file that is not blank.

    Of JSON that is an array: the line in which each of its objects begins. In logs, whose texts a
    model has written, half of a character is mended; in data it is an error.
    """
    for number, text in _json_texts(path, form):
        line = mend_halves(text) if mends else text
        if not line.strip():
            continue
        where = f"line {number}"
        _refuse_deep(path, where, line)
        try:
            record = json.loads(line, object_pairs_hook=refuse_repeats)
        except ValueError as error:
            raise InputError(_say_fault(error), path=path, row=where) from error
        if not isinstance(record, dict):
            raise InputError(
                f"one object {{...}} a line expected, here is {type(record).__name__}",
                path=path,
                row=where,
            )
        if "\\u" in line:
            _check_surrogates(path, where, record)
        yield number, record


def _json_texts(path: Path, form: Format) -> Iterator[tuple[int, str]]:
    if form.array is None:
        yield from _text_lines(path, form)
        return
    with io.BufferedReader(open_bytes(path, form)) as stream:
        yield from array_elements(path, stream, form.array)


def _say_fault(error: ValueError) -> str:
    """Say why a line cannot be read as JSON, in other words where Python's are for programmers."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at character {error.pos + 1}"
    if "int_max_str_digits" in str(error):
        return "an integer has more digits than can be read (4,300); write it as a string"
    return str(error)


def _refuse_deep(path: Path, where: str, line: str) -> None:
    if line.count("[") + line.count("{") <= _MOST_NESTED:
        return
    # A broken line may have an odd quote; then it is not JSON, which the parser tells.
    bare = _JSON_STRING.sub("", line)
    steps = (1 if mark in "[{" else -1 for mark in bare if mark in "[{]}")
    if max(itertools.accumulate(steps), default=0) > _MOST_NESTED:
        raise InputError(f"brackets are nested more than {_MOST_NESTED} deep", path=path, row=where)


def check_nesting(path: Path, form: Format, n_bytes: int) -> None:
    """Stop if a line among the first bytes of a JSONL file is nested too deep for Arrow.

    Arrow makes a type of what it finds there, level by level, and crashes if they are many.
    """
    with io.BufferedReader(open_bytes(path, form)) as stream:
        block = stream.read(n_bytes)
    if block.count(b"[") + block.count(b"{") <= block.count(b"\n") + _MOST_NESTED:
        return
    for number, line in enumerate(block.split(b"\n"), start=1):
        _refuse_deep(path, f"line {number}", line.decode("utf-8", "replace"))


def _check_surrogates(path: Path, where: str, record: dict[str, Any]) -> None:
    for name, value in record.items():
        try:
            json.dumps([name, value], ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = str(error.object[error.start])
            raise InputError(
                f"\\u{ord(half):04x} is half of a surrogate pair and stands alone; a character "
                "expected",
                path=path,
                row=where,
                column=json.dumps(name)[1:-1] if half in name else name,
            ) from error


@dataclass(frozen=True, kw_only=True)
class JsonColumns:
    """What stands in the columns of a whole JSONL file."""

    types: dict[str, pa.DataType]
    """Arrow's type for each column. Values of several types, lists, objects and integers beyond 64
    bits become strings: their JSON."""
    change: InputError | None
    """Where a column's values first change their type; None if none does."""


def scan_json(
    path: Path, form: Format, columns: Sequence[str] | None, texts: Collection[str]
) -> JsonColumns:
    """Go through a JSONL file, slowly, to learn the types of its columns."""
    kinds: dict[str, dict[str, int]] = {name: {} for name in columns or ()}
    nested: dict[str, _NestedValues] = {}
    change: InputError | None = None
    for number, record in json_records(path, form):
        for name in record if columns is None else columns:
            value = record.get(name)
            seen = kinds.setdefault(name, {})
            if value is None:
                continue
            kind = _json_kind(value)
            if kind in _NESTED:
                nested.setdefault(name, _NestedValues()).add(value)
            if name in texts and kind != "text":
                raise InputError(
                    f"is {show_value(value)}, text expected",
                    path=path,
                    row=f"line {number}",
                    column=name,
                )
            if kind not in seen:
                if seen and change is None:
                    before, line = next(iter(seen.items()))
                    change = InputError(
                        f"is {show_value(value)}, {before} expected as in line {line}",
                        path=path,
                        row=f"line {number}",
                        column=name,
                    )
                seen[kind] = number
    types = {
        name: nested[name].find_type()
        if name in nested and len(seen) == 1
        else _arrow_type(set(seen), is_text=name in texts)
        for name, seen in kinds.items()
    }
    return JsonColumns(types=types, change=change)


# Kinds of values that hold others.
_NESTED = ("a list", "an object")
# Types of values that hold others are found of so many at once.
_AT_ONCE = 4096
# Arrow has to find the type of each level.
_DEEPEST = 32


class _NestedValues:
    """The lists, or objects, of a column, and the one type that all of them have."""

    def __init__(self) -> None:
        self._type: pa.DataType = pa.null()
        self._waiting: list[Any] = []
        self._is_plain = True  # nothing in them keeps Arrow from giving them a type

    def add(self, value: Any) -> None:
        """Take another value."""
        self._is_plain = self._is_plain and _has_plain_numbers(value)
        if self._is_plain:
            self._waiting.append(value)
            if len(self._waiting) == _AT_ONCE:
                self._merge()

    def find_type(self) -> pa.DataType:
        """Return the type; strings where there is none, or numbers would not stay what they are."""
        if self._is_plain:
            self._merge()
        return self._type if self._is_plain else pa.large_string()

    def _merge(self) -> None:
        try:
            types = (self._type, pa.array(self._waiting).type)
            parts = [pa.schema([("values", each)]) for each in types]
            both = pa.unify_schemas(parts, promote_options="permissive")
            self._type = both.field("values").type
        except pa.ArrowException:
            self._is_plain = False
        self._waiting.clear()


def _has_plain_numbers(value: Any, depth: int = 0) -> bool:
    """Whether values within each other are few levels deep, and integers fit decimals beside."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return depth < _DEEPEST and all(_has_plain_numbers(each, depth + 1) for each in value)
    return not isinstance(value, int) or abs(value) <= LARGEST_EXACT


def _json_kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, int):
        if abs(value) <= LARGEST_EXACT:
            return "an integer"
        return "a large integer" if -(2**63) <= value < 2**63 else "a huge integer"
    return "a list" if isinstance(value, list) else "an object"


def _arrow_type(kinds: set[str], *, is_text: bool) -> pa.DataType:
    if is_text or not kinds:
        return pa.large_string() if is_text else pa.null()
    if kinds == {"true or false"}:
        return pa.bool_()
    if kinds <= {"an integer", "a large integer"}:
        return pa.int64()
    if kinds <= {"an integer", "a number"}:
        return pa.float64()
    return pa.large_string()


def locate_row(path: Path, form: Format, row: int) -> str:
    """Words for a 0-based data row: its line in a text file, its number in a table."""
    if form.kind != "parquet":
        records: Iterator[tuple[int, Any]] = (
            json_records(path, form)
            if form.kind == "jsonl"
            else itertools.islice(field_records(path, form), 1, None)
        )
        for number, _ in itertools.islice(records, row, None):
            return f"line {number}"
    return f"row {row}"


@contextlib.contextmanager
def diagnosing(path: Path, form: Format) -> Iterator[None]:
    """Say of a file that Arrow gives up on what is wrong with it."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError) as error:
        raise diagnose(path, form, error) from error


def diagnose(path: Path, form: Format, error: Exception) -> InputError:
    """Find what made Arrow give up on a file."""
    if form.kind == "parquet":
        if "UTF8" in str(error):
            # Arrow checks categories while it reads them, unless 32 bits number them.
            return InputError("holds a category whose name is not UTF-8", path=path)
        return InputError(f"not a whole Parquet file: {_first_line(error)}", path=path)
    try:
        if form.kind == "jsonl":
            for _ in json_records(path, form):
                pass
        else:
            _check_widths(path, form)
    except InputError as found:
        return found
    except (OSError, EOFError) as found:
        return InputError(f"cannot be read: {_first_line(found)}", path=path)
    if "straddl" in str(error):
        return _too_long(path, form)
    return InputError(f"cannot be read as {form.kind}: {_first_line(error)}", path=path)


def _too_long(path: Path, form: Format) -> InputError:
    """Say which row of a CSV or TSV file is longer than Arrow reads at a time: the longest."""
    header: list[str] = []
    longest, where, column = -1, "", ""
    for number, fields in field_records(path, form):
        header = header or fields
        sizes = [len(field) for field in fields]
        if sum(sizes) > longest:
            longest, where = sum(sizes), f"line {number}"
            column = header[sizes.index(max(sizes))]
    opened = " (is a quote left open?)" if form.quoted else ""
    return InputError(
        f"a row of {longest:,} characters is longer than what is read at a time{opened}; write "
        "the file as .parquet or .jsonl",
        path=path,
        row=where,
        column=column,
    )


def _check_widths(path: Path, form: Format) -> None:
    header: list[str] | None = None
    for number, fields in field_records(path, form):
        if header is None:
            header = fields
        elif len(fields) != len(header):
            opened = any("\n" in field for field in fields)
            raise InputError(
                f"{len(fields)} fields, {len(header)} expected as in the header"
                + (" (is a quote left open?)" if opened else f"; {SKIP_HINT}"),
                path=path,
                row=f"line {number}",
            )


def _text_lines(path: Path, form: Format) -> Iterator[tuple[int, str]]:
    offset = 0
    with io.BufferedReader(open_bytes(path, form)) as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                _refuse_other(path, line)
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"not UTF-8: byte 0x{line[error.start]:02x} at offset {offset + error.start}"
                    + (" (decompressed)" if form.compression is not None else ""),
                    path=path,
                    row=f"line {number}",
                ) from error
            offset += len(line)
            yield number, text


def _refuse_other(path: Path, line: bytes) -> None:
    """Stop at what has the name of a table, and is something else by its first line."""
    for start, what in _NO_TABLES.items():
        if line.startswith(start):
            raise InputError(what, path=path)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def check_utf8(path: Path, column: Any, name: str, *, first_row: int = 0) -> None:
    """Raise InputError at the first text of an Arrow column that is not UTF-8."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        for row, value in enumerate(column.cast(pa.large_binary()), start=first_row):
            try:
                (value.as_py() or b"").decode()
            except UnicodeDecodeError as wrong:
                raise InputError(
                    f"not UTF-8: byte 0x{wrong.object[wrong.start]:02x} at offset {wrong.start} "
                    "of the text",
                    path=path,
                    row=f"row {row}",
                    column=name,
                ) from error
        raise InputError(str(error), path=path, column=name) from error
