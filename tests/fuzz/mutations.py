"""Good files made bad: JSON values, cells of tables, words of texts, members of archives, bytes.

Everything is drawn from a :class:`random.Random`, so that a number names an input.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import decimal
import io
import json
import random
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# What other programs, languages, spreadsheets and attackers leave in a text. The last ones name
# files that lie beside each input (see __main__.py), or that nobody should read.
TEXTS = (
    "", " ", "\x00", "\ufeff", "\u202e", "\u200b", "\x1b]0;title\x07\x1b[31m", "\r", "\n", "\r\n",
    "\t", '"', "'", "\\", ",", ";", "=", "a\\\"b", "=1+1", "+cmd|' /C x'!A0", "-2+3", "@SUM(A1)",
    "x" * 5000, "e\u0301", "\u00e9", "\U0001d4b3\U0001f469\u200d\U0001f680", "\u0661", "\u00b2",
    "0", "1", "01", "+1", "-1", "1.0", "1e0", "1e400", "1_0", "nan", "inf", "NaN", "None", "null",
    "true", "True", "no", "C", "I", "P", "N", "original", "Original", "original ", "Entailment",
    "entailment ", "contradictory", "[MASK]", "[MASK] [MASK]", "{}", "[]", "<script>", "%s%n",
    "{0}",
    "negation:times=99999", "antigravity:fly", "syn.careful", "a+b", "__class__", "doc.label",
    "pipe", "loop", "folder", "../..", "/dev/zero", "/proc/self/mem", "A" * 300 + ".csv",
    "nowhere.txt",
)  # fmt: skip


class Raw(str):
    """JSON as it is to stand in the file."""


NUMBERS = tuple(
    map(
        Raw,
        (
            "0", "-0", "1", "-1", "2", "3", "7", "0.5", "-0.0", "1.0", "1e0", "1e2", "1e308",
            "-1e308", "1e400", "5e-324", "NaN", "Infinity", "-Infinity", "2147483648", "255", "256",
            "65536", "1000000", "9007199254740993", "9223372036854775807", "9223372036854775808",
            "-9223372036854775809", "18446744073709551616", "1" + "0" * 400, "1" + "0" * 5000,
        ),
    )
)  # fmt: skip
ODD_JSON = (
    *map(Raw, ("null", "true", "false", "[]", "{}", "[[]]", "[null]", '[{"a": 1}]', '{"": null}')),
    *map(Raw, ("[" * 90 + "]" * 90, "[" * 5000 + "]" * 5000, '{"a":' * 2000 + "1" + "}" * 2000)),
    *map(Raw, (r'"\ud800"', r'"\udfff\ud800"', r'"\u0000"', '"\t"', "", "tru", "'a'", "1.", "+1")),
)


class Members(list[list[Any]]):
    """A JSON object: lists of a name and a value, in their order, also where names repeat."""


def parse_json(text: str | bytes) -> Any:
    """Read JSON so that a repeated name can be written."""
    return json.loads(text, object_pairs_hook=lambda found: Members(map(list, found)))


def dump_json(value: Any) -> str:
    """Write what :func:`parse_json` reads, and :class:`Raw` as it is."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Members):
        return "{" + ", ".join(f"{_name(name)}: {dump_json(own)}" for name, own in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump_json, value)) + "]"
    return json.dumps(value)


def _name(name: object) -> str:
    return json.dumps(str(name))


def draw_value(rng: random.Random) -> Any:
    """Return some JSON value that nobody expects."""
    return rng.choice(rng.choice((TEXTS, TEXTS, NUMBERS, NUMBERS, ODD_JSON)))


def _slots(value: Any, found: list[tuple[list[Any], int]]) -> list[tuple[list[Any], int]]:
    for number, each in enumerate(value):
        holder, index = (each, 1) if isinstance(value, Members) else (value, number)
        found.append((holder, index))
        if isinstance(holder[index], list):
            _slots(holder[index], found)
    return found


def mutate_json(rng: random.Random, value: Any) -> Any:
    """Change one to a few places of a value from :func:`parse_json`, in place; return it."""
    holder = [value]
    for _ in range(1 + min(rng.getrandbits(32).bit_count() // 14, 3)):
        slots = _slots(holder, [])
        own, index = rng.choice(slots)
        old = own[index]
        match rng.randrange(9):
            case 0 | 1 | 2:
                own[index] = draw_value(rng)
            case 3 if isinstance(old, list) and old:
                del old[rng.randrange(len(old))]
            case 4 if isinstance(old, list) and old:
                old.insert(rng.randrange(len(old) + 1), rng.choice(old))
            case 5 if isinstance(old, Members) and old:  # another name, or one that is there twice
                chosen = rng.choice(old)
                chosen[0] = rng.choice([name for name, _ in old] + list(TEXTS))
            case 6:
                other, place = rng.choice(slots)
                own[index], other[place] = other[place], own[index]
                if _holds_itself(holder, 0):
                    own[index], other[place] = other[place], own[index]
            case 7:
                own[index] = rng.choice(([old], Members([["a", old]]), [old, old]))
            case _:
                own[index] = _other_type(rng, old)
    return holder[0]


def _holds_itself(value: Any, depth: int) -> bool:
    if not isinstance(value, list):
        return False
    return depth > 60 or any(_holds_itself(each, depth + 1) for each in value)


def _other_type(rng: random.Random, value: Any) -> Any:
    """Return the same in another type, as other programs write it."""
    if isinstance(value, bool):
        return rng.choice((int(value), str(value), str(value).lower(), float(value)))
    if isinstance(value, (int, float)):
        return rng.choice((str(value), [value], float(value), bool(value), -value, value + 1))
    if isinstance(value, str):
        if value.strip().isdecimal():
            return str(value) if isinstance(value, Raw) else Raw(value.strip())
        return rng.choice((value.upper(), f"{value} ", value * 2, [value], value[:-1], list(value)))
    return json.dumps(str(value)[:100])


def mutate_json_text(rng: random.Random, data: bytes) -> bytes:
    """Change a file of one JSON value."""
    return _encode(dump_json(mutate_json(rng, parse_json(data))))


def mutate_json_lines(rng: random.Random, data: bytes) -> bytes:
    """Change one to all lines of a file of JSON lines, or their order and number."""
    lines = [parse_json(line) for line in data.splitlines()]
    match rng.randrange(8):
        case 0:
            lines = [mutate_json(rng, line) for line in lines]
        case 1:  # the same place of every line
            at, value = rng.random(), draw_value(rng)
            for line in lines:
                slots = _slots(line, []) or [([0], 0)]
                holder, index = slots[int(at * len(slots))]
                holder[index] = value
        case 2:
            del lines[rng.randrange(len(lines))]
        case 3:
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
        case 4:
            rng.shuffle(lines)
        case _:
            number = rng.randrange(len(lines))
            lines[number] = mutate_json(rng, lines[number])
    return _encode("".join(dump_json(line) + "\n" for line in lines))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Flip, cut, repeat, exchange or add bytes, or write them in another encoding."""
    own = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        start = rng.randrange(len(own) + 1)
        stop = min(len(own), start + rng.choice((1, 1, 4, 40, 1000)))
        match rng.randrange(9):
            case 0 | 1:
                for place in range(start, stop):
                    own[place] ^= 1 << rng.randrange(8)
            case 2:
                del own[start:]
            case 3:
                del own[start:stop]
            case 4:
                own[start:start] = own[start:stop] * rng.choice((1, 2, 50))
            case 5:
                own[start:stop] = rng.randbytes(stop - start)
            case 6:
                own[start:stop] = bytes([rng.choice((0, 1, 127, 128, 255))]) * (stop - start)
            case 7:
                own[start:start] = _encode(rng.choice(TEXTS))
            case _:
                own = bytearray(_change_encoding(rng, bytes(own)))
    return bytes(own)


def _change_encoding(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    return rng.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-le"),
            lambda: text.encode("latin-1", "replace"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: data.replace(b"\n", b"\r"),
            lambda: data.replace(b"\n", b"\r\n"),
            lambda: data.replace(b"\n", b"\n\n"),
            lambda: zlib.compress(data),
            lambda: b"",
        )
    )()


_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


def mutate_words(rng: random.Random, data: bytes) -> bytes:
    """Change words, signs and lines of a text: a TOML file, templates, a table with commas."""
    pieces = _WORDS.findall(data.decode("utf-8", "replace"))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not pieces:
            break
        at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        match rng.randrange(9):
            case 0 | 1:
                pieces[at] = rng.choice(TEXTS)
            case 2:
                pieces[at] = str(rng.choice(NUMBERS))
            case 3:
                del pieces[at : at + rng.choice((1, 1, 3, 20))]
            case 4:
                pieces.insert(other, pieces[at])
            case 5:
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case 6:  # nested, or very long
                pieces[at] *= rng.choice((2, 100, 3000))
            case 7:
                start, stop = sorted((at, other))
                pieces[start:start] = pieces[start : min(stop, start + 40)]
            case _:
                pieces[at] = rng.choice(
                    ("(", ")", "[", "]", "{", "}", "not ", "1..9999", ", ", "&")
                )
    return _encode("".join(pieces)[:400_000])


_MOMENT = dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)

# Arrow's types, each with values of it.
TYPES: tuple[tuple[pa.DataType, tuple[Any, ...]], ...] = (
    (pa.null(), (None,)),
    (pa.bool_(), (True, False, None)),
    (pa.int8(), (0, 1, -1, 127, None)),
    (pa.uint8(), (0, 1, 2, 255)),
    (pa.int32(), (0, 1, 2, -(2**31))),
    (pa.int64(), (0, 1, 2, -1, 2**63 - 1, -(2**63))),
    (pa.uint64(), (0, 1, 2**64 - 1)),
    (pa.float16(), (np.float16(0.5), np.float16("nan"))),
    (pa.float32(), (0.0, 1.0, 0.25, float("inf"))),
    (pa.float64(), (0.0, 1.0, -0.0, float("nan"), float("inf"), 1e308, -1e308, 5e-324, None)),
    (pa.decimal128(10, 2), (decimal.Decimal("1.00"), decimal.Decimal("0.50"), None)),
    (pa.decimal256(50, 3), (decimal.Decimal("0.000"), decimal.Decimal("1e20"))),
    (pa.string(), (*TEXTS, None)),
    (pa.large_string(), (*TEXTS, None)),
    (pa.string_view(), ("a", "entailment", "0", None)),
    (pa.binary(), (b"", b"a", b"\xff\xfe", None)),
    (pa.large_binary(), (b"entailment", b"\x80")),
    (pa.date32(), (_MOMENT.date(), None)),
    (pa.date64(), (_MOMENT.date(),)),
    (pa.time64("us"), (_MOMENT.time(),)),
    (pa.timestamp("us", "UTC"), (_MOMENT, None)),
    (pa.timestamp("ns"), (_MOMENT.replace(tzinfo=None),)),
    (pa.duration("s"), (dt.timedelta(seconds=1), None)),
    (pa.list_(pa.string()), (["a"], [], [None], None)),
    (pa.list_(pa.int64()), ([0], [1, 2], [])),
    (pa.list_(pa.float32()), ([0.25, 0.5, 0.25], [1.0, 0.0, 0.0], [float("nan")] * 3, None,
    [1e38])),
    (pa.list_(pa.float64(), 2), ([0.5, 0.5], [1e308, -1e308])),
    (pa.list_(pa.list_(pa.int8())), ([[1]], [[]], None)),
    (pa.struct([("a", pa.int64())]), ({"a": 1}, None)),
    (pa.map_(pa.string(), pa.int64()), ([("a", 1)], [])),
    (pa.dictionary(pa.int8(), pa.string()), ("entailment", "neutral", "", None)),
    (pa.dictionary(pa.int32(), pa.int64()), (0, 1, 2, None)),
)  # fmt: skip


def mutate_table(rng: random.Random, table: pa.Table) -> pa.Table:  # noqa: PLR0912
    """Change types, values, names and numbers of columns and rows."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        if not table.num_columns:
            break
        at = rng.randrange(table.num_columns)
        name, column = table.column_names[at], table.column(at)
        kind, values = rng.choice(TYPES)
        match rng.randrange(12):
            case 0:
                table = table.set_column(at, name, _fill(rng, kind, values, len(table)))
            case 1:
                table = table.set_column(at, name, _cast(column, kind))
            case 2 | 3:  # some cells, in the column's own type
                own = column.to_pylist()
                drawn = next((v for k, v in TYPES if k == column.type), (None,))
                for row in range(len(own)):
                    if rng.random() < rng.choice((0.05, 0.5)):
                        own[row] = rng.choice(drawn)
                table = table.set_column(at, name, _array(own, column.type))
            case 4:
                table = table.remove_column(at)
            case 5:
                table = table.append_column(name, column)
            case 6:
                table = table.append_column(
                    rng.choice(
                        (*TEXTS, "item", "version", "correct", "predicted", "gold", "changed")
                    ),
                    _fill(rng, kind, values, len(table)),
                )
            case 7:
                names = list(table.column_names)
                names[at] = rng.choice((*TEXTS[:60], *names, name.upper(), f" {name}"))
                table = table.rename_columns(names)
            case 8:
                rows = [rng.randrange(len(table)) for _ in range(len(table))]
                with contextlib.suppress(pa.ArrowNotImplementedError):  # of views
                    table = table.take(pa.array(rows))
            case 9:
                table = table.slice(rng.randrange(len(table) + 1), rng.randrange(3))
            case 10:
                other = rng.randrange(table.num_columns)
                table = table.set_column(at, name, table.column(other))
            case _:
                metadata = {
                    key: mutate_bytes(rng, own) if rng.random() < 0.7 else b"{}"
                    for key, own in (table.schema.metadata or {b"pandas": b'{"a": 1}'}).items()
                }
                table = table.replace_schema_metadata(metadata)
        if not len(table):
            break
    return table


def _fill(rng: random.Random, kind: pa.DataType, values: Sequence[Any], n: int) -> pa.Array:
    if rng.random() < 0.5:
        values = [rng.choice(values)]
    return _array([rng.choice(values) for _ in range(n)], kind)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, TypeError, ValueError, UnicodeEncodeError):
        return pa.nulls(len(values), kind)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    try:
        return column.cast(kind, safe=False)
    except (pa.ArrowException, NotImplementedError):
        return pa.nulls(len(column), kind)


def write_parquet(rng: random.Random, table: pa.Table) -> bytes:
    """Write a table, or its rows without the types that Parquet lacks."""
    options = {
        "compression": rng.choice(("snappy", "zstd", "none", "gzip", "lz4", "brotli")),
        "row_group_size": rng.choice((1 + table.num_rows // 8, 1 + table.num_rows // 2, 1000)),
        "use_dictionary": rng.random() < 0.5,
        "write_statistics": rng.random() < 0.8,
        "store_schema": rng.random() < 0.8,
    }
    while True:
        sink = io.BytesIO()
        try:
            pq.write_table(table, sink, **options)
        except (pa.ArrowException, ValueError):
            table = table.remove_column(rng.randrange(table.num_columns))
        else:
            return sink.getvalue()


def write_text_table(table: pa.Table, separator: str | None) -> bytes:
    """Write a table as CSV, TSV, or (None) as JSON lines."""
    names, columns = table.column_names, [_values(column) for column in table.columns]
    if separator is None:
        rows = [Members(map(list, zip(names, row, strict=True))) for row in zip(*columns)]  # noqa: B905
        return _encode("".join(dump_json(_plain(row)) + "\n" for row in rows))
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=separator, lineterminator="\n")
    writer.writerows([names, *zip(*columns)])  # noqa: B905 - columns of a table
    return _encode(sink.getvalue())


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_dictionary(column.type):  # whose values Python cannot have if they are damaged
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = column.cast(pa.large_binary()).to_pylist()
        return [text if text is None else text.decode("utf-8", "surrogateescape") for text in texts]
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):  # a date beyond Python's
        return [None] * len(column)
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, Members):
        return Members([name, _plain(own)] for name, own in value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return Members([name, _plain(own)] for name, own in value.items())
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def write_archive(
    members: Sequence[tuple[str, bytes]],
    method: int,
    lie: Callable[[str, dict[str, int]], None] = lambda name, entry: None,
) -> bytes:
    """Write a zip archive by hand, whose directory may lie.

    `method` is 0 (stored), 8 (deflate) or 93 (Zstandard); `lie` may change what the directory says
    of a member: ``flags``, ``method``, ``crc``, ``packed``, ``size`` and ``at``.
    """
    body, directory = bytearray(), bytearray()
    for name, data in members:
        packed = data
        if method == 8:
            squeeze = zlib.compressobj(wbits=-15)
            packed = squeeze.compress(data) + squeeze.flush()
        elif method == 93:
            packed = pa.compress(data, codec="zstd", asbytes=True)
        raw = name.encode("utf-8", "surrogatepass")[:60_000]
        entry = {
            "flags": 0x800, "method": method, "crc": zlib.crc32(data), "packed": len(packed),
            "size": len(data), "at": len(body),
        }  # fmt: skip
        fields = (entry["flags"], method, 0, 33, entry["crc"], len(packed), len(data), len(raw), 0)
        body += struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, *fields) + raw + packed
        lie(name, entry)
        for key, value in entry.items():
            entry[key] = value % (1 << (16 if key in {"flags", "method"} else 32))
        directory += struct.pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, entry["flags"], entry["method"], 0, 33,
            entry["crc"], entry["packed"], entry["size"], len(raw), 0, 0, 0, 0, 0, entry["at"],
        ) + raw  # fmt: skip
    n, at = len(members), len(body)
    return bytes(body + directory) + struct.pack(
        "<4sHHHHIIH", b"PK\5\6", 0, 0, n, n, len(directory), at, 0
    )


def mutate_archive(rng: random.Random, members: Sequence[tuple[str, bytes]]) -> bytes:
    """Change members of an archive of JSON files, their number, names and sizes, or its bytes."""
    own, method = list(members), rng.choice((0, 8, 93))
    at = rng.randrange(len(own))
    name, data = own[at]
    lie: Callable[[str, dict[str, int]], None] = lambda name, entry: None  # noqa: E731
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            own[at] = (name, mutate_json_text(rng, data))
        case 4:
            own[at] = (name, mutate_bytes(rng, data))
        case 5:
            del own[at]
        case 6:  # a repeated member: the last one counts
            own.insert(rng.randrange(len(own) + 1), (name, mutate_json_text(rng, data)))
        case 7:
            own[at] = (
                rng.choice((*TEXTS, "samples/../a.json", "samples/x.json", "header.json")),
                data,
            )
        case 8:
            key = rng.choice(("flags", "method", "crc", "packed", "size", "at"))
            value = rng.choice((0, 1, 8, 93, 99, 12, 2**16 - 1, 2**31, 2**32 - 1, len(data) + 1))

            def lie(said: str, entry: dict[str, int], of: str = name) -> None:
                if said == of:
                    entry[key] = value
        case _:  # much from little
            size = rng.choice((10**4, 10**5, 2 * 10**6))
            own[at] = (name, b'{"a": "' + b"a" * size + b'"}')
    made = write_archive(own, method, lie)
    return mutate_bytes(rng, made) if rng.random() < 0.15 else made


def mutate_array(rng: random.Random, array: np.ndarray[Any, Any]) -> bytes:
    """Write an array as .npy in another shape or type, with a header that lies, or damaged."""
    kinds = ("f2", "f4", "f8", "i1", "u8", "i8", "c16", "S3", "U2", "M8[s]", "?", "O", ">f4", "V4")
    sink = io.BytesIO()
    match rng.randrange(5):
        case 0:
            with np.errstate(all="ignore"):
                np.save(sink, array.astype(rng.choice(kinds), casting="unsafe"), allow_pickle=True)
        case 1:
            shape = rng.choice(((-1,), (1, -1), (-1, 1), (0, 4), (-1, 1, 1)))
            other = array[:0] if 0 in shape else array
            np.save(sink, other if 0 in shape else other.reshape(shape))
        case 2:
            own = array.astype(np.float64)
            with np.errstate(all="ignore"):
                own[rng.randrange(len(own))] *= rng.choice(
                    (np.nan, np.inf, 1e308, -1e308, 0, 1e200)
                )
            np.save(sink, own)
        case 3:
            np.save(sink, array)
            data = sink.getvalue()
            header = mutate_words(rng, data[10:128]).replace(b"\n", b"")[:117].ljust(117) + b"\n"
            return data[:8] + struct.pack("<H", len(header)) + header + data[128:]
        case _:
            np.save(sink, array)
            return mutate_bytes(rng, sink.getvalue())
    return sink.getvalue()
