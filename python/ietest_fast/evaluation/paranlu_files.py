"""ParaNLU's published files: which kind a file is, and its content."""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from ietest_fast.corpus.formats import check_readable
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import most_unpacked, open_file, parse_json, refuse_unpacked
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ParanluKind = Literal["results", "test set", "paraphrases"]


def paranlu_kind(path: str | Path) -> ParanluKind | None:
    """Say by its content which of the published files a file is; None if it is none of them.

    Only its beginning is read, so a damaged file is found out when it is read.
    """
    with open_file(path) as stream:
        head = stream.read(64 << 10)
    if head[:2] == b"\x1f\x8b":
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 64 << 10)
        except zlib.error:
            return None
    start = head.lstrip()[:1]
    if start == b"{" and b'"bucket_confidences"' in head:
        return "results"
    if start == b"[" and b'"confidence"' in head and b'"example_id"' in head:
        return "test set"
    if start == b"{" and b'"paraphrase_id"' in head and b'"original_example"' in head:
        return "paraphrases"
    return None


class DamageError(Exception):
    """Something is not as it has to be, and where."""

    def __init__(self, message: str, place: str) -> None:
        self.place = place
        super().__init__(message)


def load_paranlu(path: Path) -> tuple[Any, ParanluKind]:
    """Read a file, and say of which kind it is."""
    check_readable(path)
    try:
        with open_file(path) as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"
            n_packed = path.stat().st_size
            raw = (gzip.GzipFile(fileobj=file) if is_packed else file).read(
                most_unpacked(n_packed) + 1 if is_packed else -1
            )
            if is_packed:
                refuse_unpacked(path, len(raw), n_packed)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be decompressed: {shorten_error(error)}", path=path) from error
    content = parse_json(raw, path)
    kind = _kind_of(content)
    if kind is None:
        raise InputError(
            "is no file of ParaNLU: an object of buckets (results or lists of paraphrases), or a "
            "list of predictions expected",
            path=path,
        )
    return content, kind


def _kind_of(content: Any) -> ParanluKind | None:
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return "test set"
    if not isinstance(content, dict) or not content:
        return None
    first = next(iter(content.values()))
    if isinstance(first, dict) and "bucket_confidences" in first:
        return "results"
    return "paraphrases" if isinstance(first, list) else None


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn a :class:`DamageError` into an :class:`InputError` that names the file."""
    try:
        yield
    except DamageError as error:
        raise InputError(str(error), path=path, row=error.place) from None


def field_of(record: Any, name: str, kind: type | tuple[type, ...], place: str) -> Any:
    """Return a field of an object."""
    if not isinstance(record, dict):
        raise DamageError(f"is {show_value(record)}; an object expected", place)
    if name not in record:
        raise DamageError(
            f"has no {name!r}; it has {', '.join(map(repr, record)) or 'nothing'}", place
        )
    value = record[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DamageError(f"{name!r} is {show_value(value)}, which is of the wrong type", place)
    return value
