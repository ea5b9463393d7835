"""What a spaCy pipeline says of each token of many texts, each text once."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.files import check_file
from ietest_fast.lexicon.parse_pipelines import ParsePipeline
from ietest_fast.lexicon.pipelines import LoadedPipeline, Pipeline, resolve_name
from ietest_fast.lexicon.tag_workers import TagWorkers, Task
from ietest_fast.lexicon.token_table import TokenParses, TokenTable, TokenTags
from ietest_fast.runtime import n_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Tags and parses kept in one SQLite file, keyed by text and pipeline.


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

    def __exit__(self, *_: object) -> None:
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


# About what a tagger makes a token of.
_WORD_OR_MARK = r"\w+|[^\w\s]"

MOST_TOKENS = 250_000
"""Words and marks of the longest text that is tagged."""

MOST_CHARACTERS = 1_000_000
"""Characters of the longest text that is tagged: spaCy's own limit. It takes 2 GiB of memory."""

_TEXTS_PER_CHUNK = 2000
_MOST_PROCESSES = 8


class Annotator(Generic[T]):
    """Base of what runs a spaCy pipeline over many texts, in several processes and with a cache.

    A class that inherits from it says which pipelines it loads, what they give and how helpers are
    told. It can be pickled: it is loaded again where it arrives.
    """

    task: ClassVar[Task]
    """What helping processes are told to do."""
    kind: ClassVar[type[TokenTable]]
    """The kind of table that comes out."""
    texts_per_process: ClassVar[int]
    """So many texts repay the start of one more process."""

    def __init__(self, pipeline: LoadedPipeline, work: Callable[[list[str]], T]) -> None:
        self._pipeline = pipeline
        self._work = work
        self._workers: TagWorkers[T] | None = None
        self._is_working = threading.Lock()
        self._cache: TagCache | None = None
        self._n_texts = 0

    @classmethod
    def load(cls, name: str | Path | None = None) -> Self:
        """Load a pipeline by its name."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What it was loaded by; ``"packaged"`` for the pipeline that comes with this package."""
        return self._pipeline.name

    @property
    def folder(self) -> Path:
        """Where the pipeline's files are."""
        return self._pipeline.folder

    @property
    def fingerprint(self) -> str:
        """Sha256 of the pipeline's files and of spaCy's version, 64 hexadecimal digits."""
        return self._pipeline.fingerprint

    def annotate(
        self,
        texts: pa.Array | pa.ChunkedArray | Sequence[str],
        *,
        n_process: int | None = None,
        cache: TagCache | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> T:
        """Run the pipeline over texts, over equal texts once."""
        cache = self._cache if cache is None else cache
        if isinstance(texts, str):
            raise InputError(f"texts: a list of texts is needed, not one text ({texts[:40]!r})")
        if isinstance(texts, Sequence):
            try:
                texts = pa.array(texts, pa.large_string())
            except UnicodeEncodeError as error:
                raise InputError(f"texts: one is no valid Unicode ({error.reason})") from error
        texts = texts.cast(pa.large_string())
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        encoded = pc.dictionary_encode(texts)
        too_long = find_too_long(encoded.dictionary)
        if too_long is not None:
            text = encoded.dictionary[too_long[0]].as_py()
            raise InputError(f"{too_long[1]}; it begins {text[:40]!r}")
        distinct: list[str] = encoded.dictionary.to_pylist()
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)

        # The type checker cannot tie a class variable to the class's parameter.
        kind: type[T] = self.kind  # type: ignore[assignment]
        known: dict[int, T] = {}
        if cache is not None:
            known = cache.read(self.fingerprint, distinct, kind)
        missing = [i for i in range(len(distinct)) if i not in known]
        report = None
        if on_progress is not None:
            n_known = len(known)
            on_progress(n_known, len(distinct))

            def report(n_done: int) -> None:
                on_progress(n_known + n_done, len(distinct))

        fresh = self._annotate_distinct([distinct[i] for i in missing], n_process, report)
        if not known:
            found = fresh
        else:
            # Fresh ones first, then the cache's; `place` says where each distinct text went.
            found = kind.concatenate([fresh, *known.values()])
            place = np.empty(len(distinct), np.int64)
            place[missing] = np.arange(len(missing))
            place[list(known)] = np.arange(len(missing), len(distinct))
            indices = np.where(indices < 0, -1, place[indices])
        if cache is not None and missing:
            cache.write(self.fingerprint, [distinct[i] for i in missing], fresh)
        return found.take(indices)

    def _annotate_distinct(
        self,
        texts: list[str],
        n_process: int | None,
        report: Callable[[int], None] | None,
    ) -> T:
        # Chunks are the same for any number of processes, and so is every batch inside them.
        chunks = [texts[i : i + _TEXTS_PER_CHUNK] for i in range(0, len(texts), _TEXTS_PER_CHUNK)]
        # Whoever brings many texts in parts brings more: they repay a helper together.
        self._n_texts += len(texts)
        n_process = self._n_process_for(self._n_texts) if n_process is None else n_process
        kind: type[T] = self.kind  # type: ignore[assignment]
        n_helpers = min(n_process, len(chunks)) - 1
        if n_helpers < 1:
            parts = []
            n_done = 0
            for chunk in chunks:
                parts.append(self._work(chunk))
                n_done += len(chunk)
                if report is not None:
                    report(n_done)
            return kind.concatenate(parts)

        # Helpers answer one question at a time.
        with self._is_working:
            if self._workers is None or not self._workers.usable_for(n_helpers):
                self._end_helpers()
                self._workers = TagWorkers(self.task, self.name, n_helpers)
            parts = self._workers.work(chunks, self._work, report, n_helpers=n_helpers)
        return kind.concatenate(parts)

    def keep_tags(self, cache: TagCache) -> None:
        """Keep all that is found from now on in a cache, which :meth:`close` closes."""
        self._cache = cache

    def close(self) -> None:
        """End the helping processes and close the cache, if there are any."""
        self._end_helpers()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _end_helpers(self) -> None:
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return (type(self).load, (self.name,))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _n_process_for(self, n_texts: int) -> int:
        return max(1, min(n_cores(), _MOST_PROCESSES, n_texts // self.texts_per_process))


def find_too_long(texts: pa.Array | pa.ChunkedArray) -> tuple[int, str] | None:
    """Return the first text that takes too much memory to be tagged, and what is to be said of it.

    Memory follows the tokens, all of which are processed at once.
    """
    if texts.nbytes <= MOST_TOKENS or not len(texts):
        return None
    lengths = pc.utf8_length(texts)
    long = pc.indices_nonzero(pc.fill_null(pc.greater(lengths, MOST_TOKENS), False)).to_pylist()
    for index in long:
        n = lengths[index].as_py()
        if n > MOST_CHARACTERS:
            return index, _say_too_long(f"{n:,} characters", f"{MOST_CHARACTERS:,}")
        n_tokens = pc.count_substring_regex(texts[index], _WORD_OR_MARK).as_py()
        if n_tokens > MOST_TOKENS:
            return index, _say_too_long(f"about {n_tokens:,} words and marks", f"{MOST_TOKENS:,}")
    return None


def _say_too_long(size: str, most: str) -> str:
    return f"the text has {size}, of which at most {most} can be tagged; cut it into several rows"


# Parts of speech of all tokens of many texts, by any spaCy pipeline, each text once.


class Tagger(Annotator[TokenTags]):
    """A spaCy pipeline, used for universal tags and the number of common nouns alone.

    Make one with :meth:`load`. It can be pickled: it is loaded again where it arrives.
    """

    task = "tag"
    kind = TokenTags
    # Starting one more process costs as much time as tagging some ten thousand texts.
    texts_per_process = 15_000

    @classmethod
    def load(cls, name: str | Path | None = None) -> Self:
        """Load a pipeline.

        Parameters
        ----------
        name
            None or ``"packaged"``: the small pipeline that comes with this package. Otherwise an
            installed pipeline package (``"en_core_web_sm"``) or the path of a pipeline's folder.

        Raises
        ------
        ResourceError
            If there is no such pipeline, it cannot be read, it has no component that tags, or
            the packaged one is damaged.
        """
        pipeline = Pipeline.load(resolve_name(name))
        return cls(pipeline, pipeline.tag)

    def tag(
        self,
        texts: pa.Array | pa.ChunkedArray | Sequence[str],
        *,
        n_process: int | None = None,
        cache: TagCache | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> TokenTags:
        """Tag texts, equal texts once; see :meth:`Annotator.annotate`."""
        return self.annotate(texts, n_process=n_process, cache=cache, on_progress=on_progress)


# Dependency trees of many texts, by any spaCy pipeline with a parser, each text once.


class Parser(Annotator[TokenParses]):
    """A spaCy pipeline, used for Penn tags and dependency trees.

    Make one with :meth:`load`. It can be pickled: it is loaded again where it arrives.
    """

    task = "parse"
    kind = TokenParses
    # Starting one more process costs as much time as parsing some thousand texts.
    texts_per_process = 2_000

    @classmethod
    def load(cls, name: str | Path | None = None) -> Self:
        """Load a pipeline."""
        pipeline = ParsePipeline.load(resolve_name(name))
        return cls(pipeline, pipeline.parse)

    def parse(
        self,
        texts: pa.Array | pa.ChunkedArray | Sequence[str],
        *,
        n_process: int | None = None,
        cache: TagCache | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> TokenParses:
        """Parse texts, equal texts once; see :meth:`Annotator.annotate`."""
        return self.annotate(texts, n_process=n_process, cache=cache, on_progress=on_progress)
