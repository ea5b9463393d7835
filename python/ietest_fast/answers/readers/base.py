"""What a reader of logs is given, and what it makes of them."""

from __future__ import annotations

import codecs
import contextlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from ietest_fast import files
from ietest_fast.corpus.formats import (
    Format,
    JsonArray,
    check_readable,
    diagnose,
    format_of,
    json_records,
    open_bytes,
)
from ietest_fast.errors import InputError
from ietest_fast.files import open_file
from ietest_fast.numerals import say_count
from ietest_fast.values import as_finite, as_outcome, as_seen, as_text, may_name_rows, show_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path


_HEAD_BYTES = 64 << 10
_MOST_NAMES = 20
_SAME = 1e-6  # of means that are the same but for their rounding
_MOST_REPEATS = 1 << 31
# Prompts are made of texts in one way; where more than one of so many lack theirs, in another.
_MOST_LACKING = 10

JOINT = "\x1f"
"""Stands between the texts of a row that are joined."""


@dataclass(frozen=True, kw_only=True)
class Fields:
    """Which parts of a log the user has named; None leaves the choice to the reader.

    Names may lead into objects, such as ``doc.label``.
    """

    item: str | None = None
    """What names a row."""
    gold: str | None = None
    """Its right answer."""
    predicted: str | None = None
    """Its answer."""
    correct: str | None = None
    """Whether the answer is right: a column, a metric, a scorer."""
    answer_columns: tuple[str | None, ...] = ()
    """In a log that holds all versions side by side: the column of answers to each."""
    correct_columns: tuple[str | None, ...] = ()
    """The same, of outcomes."""
    is_alone: bool = False
    """Whether this log is the only one, so that it has to hold all versions."""
    filter: str | None = None
    """Which of the filters of lm-evaluation-harness."""
    threshold: float | None = None
    """The least score that is right, where scores are numbers; None: 1 is right and 0 wrong."""
    keep: tuple[str, ...] = ()
    """Further columns to keep."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Repeats:
    """Which of several answers to its item each of n rows is."""

    numbers: pa.Array
    """Shape (n,), integers."""
    scores: pa.Array | None = None
    """Shape (n,), float64: what the answers are worth, null where they were not scored. None: 1 for
    a right answer, 0 for a wrong one."""
    noun: str
    """What the format calls one of them, such as ``epoch``."""
    column: str
    """The column that names the item of rows which several answers make of it."""


@dataclass(frozen=True, kw_only=True)
class NamedNumbers:
    """Which name each number in a column has in most rows, by a column of names beside it."""

    path: Path
    columns: tuple[str, str]
    """Of the numbers, and of the names."""
    names: Mapping[str, str]
    """By number."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """The answers of one classifier to one version of n items, as a log has them."""

    path: Path
    """The log."""
    name: str
    """Of the task, or the file."""
    items: pa.Array | None = None
    """Shape (n,): names of the items; None if they are known by their order only."""
    gold: pa.ChunkedArray | None = None
    predicted: pa.ChunkedArray | None = None
    """Shape (n,), as they stand in the log; None if it has none. A null in ``predicted`` is an
    answer that could not be parsed."""
    right: pa.Array | None = None
    """Shape (n,): all right answers to an item as one text, in a format that can have several, of
    which ``gold`` names one or none; only compared with those of other logs and versions."""
    correct: pa.Array | None = None
    """Shape (n,), bool: whether the log says that the answer is right, null where it does not; None
    if it does not say it at all."""
    marks: pa.Array | None = None
    marks_column: str | None = None
    """Shape (n,), bool: what a column beside gold labels and answers says of these, and its name;
    it is only compared with them."""
    is_other: pa.Array | None = None
    """Shape (n,), bool: whether the answer is another of the row's choices than the right one; None
    if the format lists no choices."""
    probabilities: pa.Array | None = None
    """Shape (n,), lists of float32 in the order of ``label_names``, or None."""
    label_names: tuple[str, ...] | None = None
    """All labels, if the log names them."""
    named: tuple[NamedNumbers, ...] = ()
    """What columns of names call the numbers of labels in a table, at its first version; all logs
    are compared."""
    inputs: pa.Array | None = None
    """Shape (n,): texts, or hashes of them; only asked whether two logs have the same."""
    input_columns: tuple[str, ...] = ()
    """Names of the columns that ``inputs`` are, in a table: others have nothing to do with them."""
    documents: pa.Array | None = None
    """Shape (n,): hashes of what the inputs were made of, in formats that know both."""
    prompts: pa.Array | None = None
    """Shape (n,): hashes of what the model was really shown, in formats that keep it beside the
    inputs; null where that is not known."""
    changed: pa.Array | None = None
    """Shape (n,), bool: which texts a table says are reworded."""
    repeats: Repeats | None = None
    """Which answer to its item each row is, in a format that can have several; ``items`` name the
    item alone."""
    repeated: str | None = None
    """The column that names the item, once each of several answers to it has a name of its own."""
    filters: tuple[str, ...] = ()
    """Names of the filters of lm-evaluation-harness, the one of these answers first."""
    judged_by: tuple[str, ...] = ()
    """What the reader has chosen among several things that say right or wrong, and then all that
    do; empty if there was no choice."""
    version: str | None = None
    """If the log names them."""
    said_version: str | None = None
    """Of a table of one version: what its column ``version`` says of all rows."""
    sides: Mapping[str, bool] = field(default_factory=dict)
    """By column that says one thing in all rows, whether that is a name of the original."""
    model: str | None = None
    """If the log names them."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How the model was asked, by name, where the log or a file beside it says so; logs, and the
    versions in one, are compared."""
    keys: Mapping[str, pa.Array] = field(default_factory=dict)
    """Of a table of predictions: ``m``, ``rho`` and ``copy``, which tell rows of an item apart."""
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    """Further columns by name, each of shape (n,)."""
    ids: Mapping[str, pa.Array] = field(default_factory=dict)
    """Columns that seem to tell rows apart, by name; compared where rows are matched by order."""
    originals: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    """Shape (n,): answers to the originals that the table of another version repeats, by column;
    only compared."""
    original_texts: Mapping[str, tuple[str, pa.Array]] = field(default_factory=dict)
    """The same of texts: by the column of texts, the column that repeats the original's, and what
    it says."""
    own_gold: pa.ChunkedArray | None = None
    own_gold_column: str | None = None
    """Shape (n,): the log's right answers where others are believed, or none, and their column;
    only compared with these."""
    gold_column: str = "label"
    gold_path: Path | None = None
    predicted_column: str = "prediction"
    """Names, for messages; the path is None if gold labels stand in the log."""
    is_by_order: bool = False
    """Whether items are named by the numbers of their rows, once logs are matched by their
    order."""
    scores: tuple[float, float] | None = None
    """The least and the largest of the scores that a threshold has made outcomes of, if known."""
    is_scored: bool = False
    """Whether answers are free texts that the log itself has marked as right or wrong."""
    marks_unparsed: bool = False
    """Whether the log says by itself that an answer could not be parsed, so that none need have
    been."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Rows of the log that are not there, by reason."""
    notes: tuple[str, ...] = ()
    """Sentences about choices that the reader has made."""

    def __len__(self) -> int:
        for values in (self.correct, self.predicted, self.gold, self.items):
            if values is not None:
                return len(values)
        return 0


@dataclass(frozen=True, kw_only=True)
class FileStart:
    """The beginning of a file, by which its format is told."""

    path: Path
    """The file."""
    head: bytes
    """Its first 64 KiB."""

    @classmethod
    def of(cls, path: Path) -> FileStart:
        """Read the start of a file."""
        check_readable(path)
        return cls(path=path, head=_read_head(path))

    @property
    def is_json(self) -> bool:
        """Whether the file begins like a JSON object."""
        return self.head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{"

    @cached_property
    def first_object(self) -> dict[str, Any]:
        """The object of the first line, or the first of an array; an empty one if none is there."""
        form = log_format(self.path, self.head)
        if not self.is_json and form.array is None:
            return {}
        with contextlib.suppress(InputError, OSError, EOFError):
            for _, record in json_records(self.path, form):
                return record
        return {}


def log_format(path: Path, head: bytes | None = None) -> Format:
    """Return how a log of JSON is read: one object a line, or an array of them; also compressed."""
    compression = None
    with contextlib.suppress(InputError):  # a log may have any name
        named = format_of(path)
        compression = named.compression if named.kind == "jsonl" else None
    if head is None:
        head = _read_head(path)
    bare = head.removeprefix(codecs.BOM_UTF8).lstrip()
    array = JsonArray(name=None, start=head.index(b"[") + 1) if bare[:1] == b"[" else None
    return Format(kind="jsonl", compression=compression, array=array)


def _read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked if its name says that it is packed JSON."""
    form = log_format(path, b"")
    if form.compression is not None:
        with (
            contextlib.suppress(OSError, EOFError),  # who reads it says if it is damaged
            open_bytes(path, form) as stream,
        ):
            return bytes(stream.read(_HEAD_BYTES))
    with open_file(path) as stream:
        return stream.read(_HEAD_BYTES)


class Reader(Protocol):
    """Reads one format of logs; made without arguments.

    One with a method ``name_task(start)`` beside these says what task a file is of, without
    reading all of it; otherwise its task is called like the file.
    """

    summary: str
    """One line about the format."""

    def recognises(self, start: FileStart) -> bool:
        """Say by a file's content, not by its name, whether it is of this format."""
        ...

    def read(self, path: Path, fields: Fields) -> Sequence[Log]:
        """Read a log.

        Returns
        -------
        sequence of Answers
            One for each version and classifier in it.

        Raises
        ------
        InputError
            If the log is damaged or lacks what is needed; names the file and the place in it.
        """
        ...


def find_standard_error(scores: Sequence[float]) -> float:
    """Return the standard error of the mean of scores, as harnesses state it; 0 of a single one."""
    n = len(scores)
    return float(np.std(scores, ddof=1)) / math.sqrt(n) if n > 1 else 0.0


def say_other_mean(name: str, own: float, stated: Any, path: Path, where: str) -> list[str]:
    """Say that a mean is stated otherwise than samples have it.

    What is not there says nothing; what is no number says that something failed.
    """
    there = as_finite(stated)
    if stated is None or (there is not None and abs(there - own) <= _SAME):
        return []
    shown = show_value(stated) if there is None else f"{there:.4f}"
    return [f"Warning: {name} is {own:.4f} in the samples of {path}, and {shown} in {where}."]


def lookup(record: Any, name: str) -> Any:
    """Return what a name leads to in an object: ``doc.label`` is ``label`` in ``doc``.

    A key with dots in it comes first. What is not there is None.
    """
    if isinstance(record, dict) and name in record:
        return record[name]
    head, dot, rest = name.partition(".")
    while dot:
        if isinstance(record, dict) and head in record:
            return lookup(record[head], rest)
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    if isinstance(record, list) and name.isdecimal() and int(name) < len(record):
        return record[int(name)]
    return None


def find_field(
    records: Sequence[dict[str, Any]],
    name: str,
    *,
    path: Path,
    inside: str,
    own: Collection[str] = (),
) -> str:
    """Find what a name leads to in the records of a log: ``premise`` may be ``doc.premise``."""

    def values(place: str) -> list[Any]:
        return [lookup(record, place) for record in records]

    if name in own:
        return name
    rows = [record[inside] for record in records if isinstance(record.get(inside), dict)]
    parts = dict.fromkeys(
        key for row in rows for key, value in row.items() if isinstance(value, dict)
    )
    ways = [name, f"{inside}.{name}", *(f"{inside}.{part}.{name}" for part in parts)]
    there = [way for way in ways if any(value is not None for value in values(way))]
    if not there:
        known = [f"{inside}.{key}" for key in dict.fromkeys(key for row in rows for key in row)]
        known += dict.fromkeys(key for record in records for key in record)
        known = [each for each in known if each != inside]
        more = f", and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
        raise InputError(
            f"no sample has such a field; there are {', '.join(known[:_MOST_NAMES])}{more}",
            path=path,
            column=name,
        )
    if any(values(way) != values(there[0]) for way in there[1:]):
        which = there if there[0] != name else there[1:]
        besides = "" if there[0] != name else f", beside the sample's own {name!r}"
        raise InputError(
            f"may be {' or '.join(which)}{besides}, and they differ; write the whole name",
            path=path,
            column=name,
        )
    return there[0]


def plain_question(value: Any) -> Any:
    """Return what a model is asked without what only tells one run from another.

    A chat is its roles and contents: ids, times and other notes on messages differ between runs of
    the same questions. A text is what a user says.
    """
    if isinstance(value, str):
        return [["user", value]]
    if not isinstance(value, list) or not all(
        isinstance(each, dict) and "role" in each for each in value
    ):
        return value
    return [
        [each["role"], _plain_content(each.get("content")), *_list_calls(each.get("tool_calls"))]
        for each in value
    ]


def _plain_content(content: Any) -> Any:
    """Return the text of a message, or its parts where some are none: images, files."""
    if not isinstance(content, list):
        return content
    parts = [
        part.get("text", part.get(str(part.get("type")))) if isinstance(part, dict) else part
        for part in content
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else parts


def _list_calls(calls: Any) -> list[Any]:
    """Return what a message calls tools with, without the ids of the calls."""
    return [
        [each.get("function"), each.get("arguments")]
        for each in (calls if isinstance(calls, list) else [])
        if isinstance(each, dict)
    ]


def hash_prompts(prompts: Sequence[str | None], inputs: Sequence[str]) -> pa.Array:
    """Return hashes of prompts; null for those that several inputs share, which hold none of them.

    Such are a task that is read with a tool, and the last question of a longer talk.
    """
    asked: dict[str | None, set[str]] = {}
    for prompt, text in zip(prompts, inputs, strict=True):
        asked.setdefault(prompt, set()).add(text)
    return pa.array(
        [
            None
            if prompt is None or len(asked[prompt]) > 1
            else blake2b(prompt.encode(), digest_size=16).hexdigest()
            for prompt in prompts
        ],
        pa.string(),
    )


def say_lacking_prompts(asked: Sequence[Any], shown: Sequence[Any], path: Path) -> tuple[str, ...]:
    """Count the prompts that lack the text of their item, where nearly all others hold it.

    A prompt is a list of messages, and each is a list of its parts.
    """
    holds = []
    for text, messages in zip(asked, shown, strict=True):
        if isinstance(text, str) and isinstance(messages, list):
            parts = [each if isinstance(each, list) else [each] for each in messages]
            words = "\n".join(str(part) for own in parts for part in own)
            holds.append(text in words or as_seen(text).strip() in as_seen(words))
    n = holds.count(False)
    if not n or n * _MOST_LACKING > len(holds):
        return ()
    note = (
        f"Warning: {path}: {say_count(n, 'prompt')} of {len(holds):,} lack the text of their item, "
        "which the others hold; the answers count as those to the items."
    )
    return (note,)


def repeat_numbers(values: Iterable[Any], *, first: int = 1) -> pa.Array:
    """Make the numbers of repeats; what is no number of one is the first."""
    return pa.array(
        [value if type(value) is int and 0 <= value < _MOST_REPEATS else first for value in values],
        pa.int64(),
    )


def judge_score(value: Any, threshold: float | None) -> bool | None:
    """Return whether a score says right or wrong; None for a score that says neither."""
    if threshold is None:
        return as_outcome(value)
    number = as_finite(int(value) if isinstance(value, bool) else value)
    return None if number is None else number >= threshold


def list_right(first: Log, other: Log) -> list[Any] | None:
    """Return the right answers of two logs: all of each item's, where both logs know them all."""
    for pair in ([first.right, other.right], [first.gold, other.gold]):
        if all(each is not None for each in pair):
            return pair
    return None


def name_right(answers: Collection[str]) -> str:
    """Name all right answers to an item, whatever their order; a single one is its own name."""
    own = sorted(set(answers))
    return own[0] if len(own) == 1 else str(as_text(own))


def text_array(values: Iterable[str | None]) -> pa.ChunkedArray:
    """Make a column of texts."""
    return pa.chunked_array([pa.array(list(values), pa.string())])


def plain_array(values: Sequence[Any]) -> pa.Array:
    """Make a column of JSON values: of one type if they are, otherwise of texts."""
    try:
        made = pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        made = None
    if made is None or pa.types.is_nested(made.type):
        made = pa.array([as_text(value) for value in values], pa.string())
    return made


def naming_fields(records: Sequence[Any], prefix: str) -> dict[str, pa.Array]:
    """Return the fields of what rows were made of that may tell rows apart, by their names.

    The number of a row does not: a data set that was saved in another order has the same numbers.
    """
    rows = [record if isinstance(record, dict) else {} for record in records]
    columns = {name: plain_array([row.get(name) for row in rows]) for name in rows[0]}
    return {
        f"{prefix}.{name}": values
        for name, values in columns.items()
        if may_name_rows(name, values)
    }


def plain_fields(records: Sequence[Any], prefix: str = "") -> dict[str, pa.Array]:
    """Return the fields of objects that hold a text, a number, true or false, by their names."""
    rows = [record if isinstance(record, dict) else {} for record in records]
    names = dict.fromkeys(name for row in rows for name in row)
    values = {f"{prefix}{name}": [row.get(name) for row in rows] for name in names}
    return {
        name: plain_array(own)
        for name, own in values.items()
        if not any(isinstance(each, (dict, list)) for each in own)
    }


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that is one JSON object."""
    form = log_format(path, b"")
    if form.compression is None:
        found = files.read_json(path)
    else:
        try:
            with open_bytes(path, form) as stream:
                data = stream.read(files.MOST_RECORD + 1)
        except (OSError, EOFError) as error:
            raise diagnose(path, form, error) from error
        if len(data) > files.MOST_RECORD:
            raise InputError(f"unpacks to more than {files.MOST_RECORD:,} bytes", path=path)
        found = files.parse_json(data, path)
    if not isinstance(found, dict):
        raise InputError("one JSON object expected", path=path)
    return found
