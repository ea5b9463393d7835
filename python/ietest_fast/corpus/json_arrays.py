"""JSON that is one array of objects, or one object with such an array in it, element by element."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_BLOCK_BYTES = 1 << 20
_LONGEST_ELEMENT = 16 << 20

_STRING = r'"(?:[^"\\]|\\.)*"'
_SCALAR = rf"(?:{_STRING}|-?[0-9.eE+-]+|true|false|null)"
# Values without parts, then the first array of objects.
_FIELD = re.compile(
    rf"\s*\{{\s*(?:{_STRING}\s*:\s*{_SCALAR}\s*,\s*)*({_STRING})\s*:\s*\[(?=\s*\{{)", re.DOTALL
)
_COLUMNS = re.compile(rf'\s*\{{\s*{_STRING}\s*:\s*\{{\s*"0"\s*:')
_WITH_SCHEMA = re.compile(r'\s*\{\s*"schema"\s*:\s*\{\s*"fields"\s*:')
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
    if _COLUMNS.match(bare):
        raise InputError(
            "is one object of columns, as pandas writes by default; write it with "
            'to_json(..., orient="records", lines=True)',
            path=path,
        )
    if _WITH_SCHEMA.match(bare):
        raise InputError(
            'is a table beside its schema, as pandas writes with orient="table"; write it with '
            'to_json(..., orient="records", lines=True)',
            path=path,
        )
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


def array_elements(  # noqa: PLR0912 - one scanner
    path: Path, stream: BinaryIO, array: JsonArray
) -> Iterator[tuple[int, str]]:
    """Line (from 1) and text of every element of an array, in bounded memory."""
    before = stream.read(array.start)
    line = before.count(b"\n") + 1
    decoder = codecs.getincrementaldecoder("utf-8")()
    text, place, depth, is_first = "", 0, 0, True

    def wrong(what: str) -> InputError:
        return InputError(what, path=path, row=f"line {line}")

    while True:
        block = stream.read(_BLOCK_BYTES)
        try:
            text += decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            line += text.count("\n") + error.object.count(b"\n", 0, error.start)
            raise wrong(f"not UTF-8: byte 0x{error.object[error.start]:02x}") from error
        begin = 0
        for token in _TOKEN.finditer(text, place):
            sign = token[0]
            place = token.end()
            if sign[0] == '"':
                if token[1] is None:  # it goes on in the next block
                    place = token.start()
                    break
            elif sign in "[{":
                depth += 1
            elif depth and sign in "]}":
                depth -= 1
            elif not depth:
                element = text[begin : token.start()]
                bare = element.strip()
                if not (bare or (is_first and sign == "]")):
                    raise wrong("not JSON: a value expected between the commas of the array")
                if bare:
                    yield line + element[: element.index(bare[0])].count("\n"), bare
                line += element.count("\n")
                begin, is_first = place, False
                if sign != ",":
                    rest = text[place:] + decoder.decode(stream.read(_BLOCK_BYTES))
                    _check_end(path, rest, array, sign)
                    return
        text, place = text[begin:], max(0, place - begin)
        if not block:
            raise wrong("the array does not end: the file is cut off, or a quote is left open")
        if len(text) > _LONGEST_ELEMENT:
            raise wrong(
                f"an element of the array is longer than {_LONGEST_ELEMENT >> 20} MiB, or a quote "
                "is left open"
            )


def _check_end(path: Path, rest: str, array: JsonArray, sign: str) -> None:
    if sign != "]" or (array.name is None and rest.strip()):
        raise InputError("not JSON: more stands behind the array's end", path=path)
    if array.name is not None and _MORE.search(rest):
        raise InputError(
            f"holds several arrays of objects, {array.name!r} and more; write each to a file of "
            "its own",
            path=path,
        )
