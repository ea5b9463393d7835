"""Tags and parses kept in one SQLite file, keyed by text and pipeline."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from ietest_fast.errors import ResourceError
from ietest_fast.files import check_file
from ietest_fast.lexicon.token_table import TokenTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

T = TypeVar("T", bound=TokenTable)

_ASK_AT_ONCE = 500  # SQLite allowed 999 values in a statement until version 3.32
_CHECKSUM_BYTES = 8
_MOST_TEMPORARY_BYTES = 256 << 20
_SCHEMA = """
CREATE TABLE IF NOT EXISTS checked_tags (
    tagger BLOB NOT NULL, text BLOB NOT NULL, tokens BLOB NOT NULL, checksum BLOB NOT NULL,
    PRIMARY KEY (tagger, text)
) WITHOUT ROWID
"""


class TagCache:
    """A file of tags; safe for several processes, and for several threads, at a time.

    A text is found by a 128-bit BLAKE2b hash of itself, a pipeline by its fingerprint. Texts
    themselves are not stored. Each entry has a checksum; a damaged one counts as absent, so that
    its text is tagged again and the entry replaced.

    Parameters
    ----------
    path
        The file; made if absent. None: a temporary file, which is deleted when the cache is closed.
        It takes 256 MiB of tags; the tags of later texts are not kept.

    Raises
    ------
    ResourceError
        If the file cannot be made, or is something else.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self._name = "the temporary file of tags" if path is None else str(path)
        self._n_bytes = 0
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if os.path.lexists(self.path):
                    check_file(self.path)
            # An empty name makes SQLite create a temporary file. Threads take turns by the lock.
            self._lock = threading.Lock()
            self._connection = sqlite3.connect(
                "" if path is None else path, timeout=60, check_same_thread=False
            )
            self._connection.text_factory = bytes  # what a damaged entry may have become
            try:
                with self._connection:
                    self._connection.execute(_SCHEMA)
            except sqlite3.Error:
                self._connection.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise ResourceError(f"{self._name}: cannot be used as a tag cache ({error})") from error

    def read(self, tagger_fingerprint: str, texts: list[str], kind: type[T]) -> dict[int, T]:
        """Return what is known of different texts: index into `texts` -> that one's `kind`."""
        tagger = bytes.fromhex(tagger_fingerprint)
        index = {_key(text): i for i, text in enumerate(texts)}
        known: dict[int, T] = {}
        try:
            for keys in _batches(list(index)):
                marks = ",".join("?" * len(keys))
                with self._lock:
                    rows = self._connection.execute(
                        "SELECT text, tokens, checksum FROM checked_tags "  # noqa: S608
                        f"WHERE tagger = ? AND text IN ({marks})",
                        (tagger, *keys),
                    ).fetchall()
                for key, tokens, checksum in rows:
                    if isinstance(tokens, bytes) and _checksum(tagger, key, tokens) == checksum:
                        known[index[key]] = _unpack(kind, tokens)
        except sqlite3.Error as error:
            raise ResourceError(
                f"{self._name}: the tag cache cannot be read ({error}); delete it, and texts are "
                "tagged again"
            ) from error
        return known

    def write(self, tagger_fingerprint: str, texts: list[str], tags: TokenTable) -> None:
        """Add the tags of `texts`: all of them, or none after an error.

        A temporary file that is full takes no more.
        """
        tagger = bytes.fromhex(tagger_fingerprint)

        def rows() -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
            for i, text in enumerate(texts):
                if self.path is None and self._n_bytes > _MOST_TEMPORARY_BYTES:
                    return
                key, tokens = _key(text), _pack(tags, i)
                self._n_bytes += len(key) + len(tokens)
                yield tagger, key, tokens, _checksum(tagger, key, tokens)

        try:
            with self._lock, self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO checked_tags VALUES (?, ?, ?, ?)", rows()
                )
        except sqlite3.Error as error:
            raise ResourceError(
                f"{self._name}: the tag cache cannot be written ({error})"
            ) from error

    def __len__(self) -> int:
        with self._lock:
            found = self._connection.execute("SELECT count(*) FROM checked_tags").fetchone()
        count: int = found[0]
        return count

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _checksum(tagger: bytes, key: bytes, tokens: bytes) -> bytes:
    """Hash what an entry says, together with what it says it of."""
    return hashlib.blake2b(tagger + key + tokens, digest_size=_CHECKSUM_BYTES).digest()


def _batches(keys: list[bytes]) -> Iterator[list[bytes]]:
    for i in range(0, len(keys), _ASK_AT_ONCE):
        yield keys[i : i + _ASK_AT_ONCE]


def _pack(table: TokenTable, i: int) -> bytes:
    tokens = slice(int(table.offsets[i]), int(table.offsets[i + 1]))
    return b"".join(
        column[tokens].astype(_little_endian(table.DTYPES[name])).tobytes()
        for name, column in table.columns().items()
    )


def _unpack(kind: type[T], data: bytes) -> T:
    n = len(data) // sum(np.dtype(dtype).itemsize for dtype in kind.DTYPES.values())
    columns, at = {}, 0
    for name, dtype in kind.DTYPES.items():
        columns[name] = np.frombuffer(data, _little_endian(dtype), n, at).astype(dtype)
        at += n * np.dtype(dtype).itemsize
    return kind(offsets=np.array([0, n], np.int64), **columns)


def _little_endian(dtype: type[np.generic]) -> np.dtype[np.generic]:
    return np.dtype(dtype).newbyteorder("<")
