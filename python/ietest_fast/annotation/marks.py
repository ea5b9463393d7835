"""The marks that people give a sample: files that survive a kill, one for each person."""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ietest_fast.annotation.sample import check_number
from ietest_fast.errors import InputError, StoreError
from ietest_fast.files import check_file, read_bytes, refuse_repeats
from ietest_fast.report.tables import as_text_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ietest_fast.annotation.sample import Sample

MARKS = ("sound", "unsound")

MAJORITY = "majority"
"""Instead of a person: what more than half of those say who marked an observation."""

# What a kill leaves of a line: a beginning of one without its end, or nothing.
_CUT_OFF = re.compile(rb"(\{[^}]*)?\0*")
_PERSON = re.compile(r"[\w-]{1,40}")


def check_person(person: str) -> None:
    """Refuse a name that nobody who marks may have."""
    if not _PERSON.fullmatch(person):
        raise InputError(
            f"a person is named by at most 40 letters, digits, _ and -, not {person!r}"
        )
    if person == MAJORITY:
        raise InputError(f"a person cannot be called {MAJORITY}: that is what most people say")


def read_mark(line: str | bytes) -> tuple[int, str | None]:
    """Read a mark such as ``{"item": 7, "mark": "sound"}``; None takes one back."""
    try:
        found = json.loads(line, object_pairs_hook=refuse_repeats)
        item, mark = check_number(found["item"]), found["mark"]
        n_further = len(found) - 2
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("is no mark") from error
    if n_further:
        raise ValueError("a mark says nothing but its item and its mark")
    if mark is not None and mark not in MARKS:
        raise ValueError(f"a mark is {' or '.join(MARKS)}")
    return item, mark


class Marks:
    """One person's marks of a sample: a file to which every mark is added and forced to disk.

    The last mark of an item holds. A last line that was cut off by a kill or a power cut is left
    out; what was said before it stays.
    """

    def __init__(self, sample: Sample, person: str) -> None:
        check_person(person)
        self.person = person
        self.path = marks_path(sample.path, person)
        self._items = frozenset(sample.items)
        self._marks: dict[int, str] = {}
        self._read()

    def _read(self) -> None:
        if not self.path.exists():
            return
        lines = read_bytes(self.path).split(b"\n")
        if _CUT_OFF.fullmatch(lines[-1]):
            lines.pop()
        for number, line in enumerate(lines, start=1):
            try:
                item, mark = read_mark(line)
            except ValueError as error:
                raise InputError(
                    'is no mark such as {"item": 7, "mark": "sound"}, without further keys',
                    path=self.path,
                    row=f"line {number}",
                ) from error
            self._keep(item, mark)

    def _keep(self, item: int, mark: str | None) -> None:
        if item not in self._items:
            raise InputError(f"item {item} is not in the sample", path=self.path)
        if mark is None:
            self._marks.pop(item, None)
        else:
            self._marks[item] = mark

    def __len__(self) -> int:
        return len(self._marks)

    def as_dict(self) -> dict[int, str]:
        """Return the mark of every marked item."""
        return dict(self._marks)

    def add(self, item: int, mark: str | None) -> None:
        """Mark an item, or with None take its mark back; on the disk when this returns."""
        self.add_all({item: mark})

    def add_all(self, marks: Mapping[int, str | None]) -> None:
        """Mark several items, or take their marks back; see :meth:`add`."""
        for item, mark in marks.items():
            if mark is not None and mark not in MARKS:
                raise InputError(f"a mark is {' or '.join(MARKS)}, not {mark!r}")
            if item not in self._items:
                raise InputError(f"item {item} is not in the sample")
        lines = "".join(
            json.dumps({"item": item, "mark": mark}) + "\n" for item, mark in marks.items()
        ).encode()
        try:
            if self.path.exists():
                check_file(self.path)
            with self.path.open("ab+", buffering=0) as file:
                self._end_last_line(file)
                n_before = file.seek(0, os.SEEK_END)
                try:
                    if file.write(lines) < len(lines):  # as on a disk that is full by now
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    os.fsync(file.fileno())
                except OSError:
                    with suppress(OSError):
                        file.truncate(n_before)
                    raise
        except (InputError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no regular file"
            raise StoreError(f"{self.path}: cannot be written: {why}") from error
        for item, mark in marks.items():
            self._keep(item, mark)

    @staticmethod
    def _end_last_line(file: IO[bytes]) -> None:
        """Cut off what a kill has left of a line, so that the next one is not added to it."""
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole == len(content):
            return
        if _CUT_OFF.fullmatch(content[whole:]):
            file.truncate(whole)
            file.seek(0, os.SEEK_END)
        else:
            file.write(b"\n")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from marking in this person's name; they would not see each other's marks.

        The file is there afterwards, if only empty.
        """
        import fcntl

        try:
            if self.path.exists():
                check_file(self.path)
            file = self.path.open("ab")
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"{self.person} is marking this sample in another window; end that first",
                    path=self.path,
                ) from error
            except OSError as error:
                raise StoreError(f"{self.path}: cannot be locked: {error.strerror}") from error
            # What was marked between reading and locking.
            self._marks.clear()
            self._read()
            yield


def marks_path(sample: Path, person: str) -> Path:
    """Give the file of a person's marks: beside the sample, with the name in it."""
    return sample.with_name(f"{sample.name}.{person}.marks.jsonl")


def find_marks(sample: Path) -> dict[str, str]:
    """Find the files of marks of a sample that are not empty: their names by person."""
    begin, end = f"{sample.name}.", ".marks.jsonl"
    there = [
        path for path in sample.parent.glob(f"*{end}") if path.is_file() and path.stat().st_size
    ]
    names = sorted(path.name for path in there if path.name.startswith(begin))
    # With a dot it is of another sample: of s.json.b.json, and not of s.json.
    people = {person: name for name in names if "." not in (person := name[len(begin) : -len(end)])}
    for person, name in people.items():
        try:
            check_person(person)
        except InputError as error:
            raise InputError(f"{error}; rename the file", path=sample.with_name(name)) from None
    return people


def read_all_marks(sample: Sample) -> dict[str, dict[int, str]]:
    """Read the marks of everybody who has marked something of a sample, by person."""
    found = {person: Marks(sample, person).as_dict() for person in find_marks(sample.path)}
    return {person: marks for person, marks in sorted(found.items()) if marks}


# Samples as plain tables, for readers without the page, and their marks back from tables.


ITEM = "item"
"""Column: the number that a mark goes by."""

SOUND = "sound"
"""Column: empty in a list; a reader fills it in."""

WORDS: Mapping[str, str] = {
    **dict.fromkeys(("yes", "true", "1", MARKS[0]), MARKS[0]),
    **dict.fromkeys(("no", "false", "0", MARKS[1]), MARKS[1]),
}
"""What may stand in the column :data:`SOUND`, in small or capital letters."""


def list_items(sample: Sample) -> list[dict[str, Any]]:
    """Return what a reader of the page sees, one mapping for each item, in the order drawn.

    Each has ``item``; for each column of texts ``NAME A`` and ``NAME B``, in the order that the
    page shows, or, of new texts with their label, the text alone; ``label``, unless people are
    asked about the meaning; and an empty ``sound``.
    """
    rows = []
    for pair in sample.pairs:
        row: dict[str, Any] = {ITEM: pair["item"]}
        for name, pieces in pair["pieces"].items():
            if not sample.has_versions:
                row[name] = _write(pieces, "new")
                continue
            versions = ("old", "new") if pair["first"] == "original" else ("new", "old")
            for letter, version in zip("AB", versions, strict=True):
                row[f"{name} {letter}"] = _write(pieces, version)
        if sample.criterion != "meaning":
            row["label"] = pair["label"]
        rows.append({**row, SOUND: None})
    return rows


def _write(pieces: list[list[str]], version: str) -> str:
    return "".join(text for kind, text in pieces if kind in {"keep", version})


def write_list(sample: Sample, path: Path) -> None:
    """Write what :func:`list_items` returns to a new file: CSV, TSV, JSON lines or Parquet.

    In CSV and TSV, text that a spreadsheet would compute is marked as text
    (:mod:`ietest_fast.report.tables`).
    """
    import pyarrow as pa

    from ietest_fast.corpus.formats import format_of
    from ietest_fast.corpus.streams import BatchWriter, check_target

    check_target(path)
    if path.exists():
        raise InputError("is there already, and marks may stand in it; name another", path=path)
    own = {ITEM, SOUND, "label"}
    taken = [name for name in sample.columns if name in own and not sample.has_versions]
    if taken:
        raise InputError(
            f"its column of texts {taken[0]!r} is called as one of the list's own "
            f"({', '.join(sorted(own))}); rename it in the file that the sample is drawn from",
            path=sample.path,
        )
    rows = list_items(sample)
    if format_of(path).kind in {"csv", "tsv"}:
        rows = as_text_rows(rows)
    names = list(rows[0]) if rows else [ITEM, SOUND]
    schema = pa.schema([(name, pa.int64() if name == ITEM else pa.string()) for name in names])
    with BatchWriter(path, schema) as writer:
        writer.write(pa.Table.from_pylist(rows, schema=schema))


def read_list(sample: Sample, path: Path) -> dict[int, str]:
    """Read the marks in a list: columns ``item`` and ``sound``; others do not matter."""
    from ietest_fast.corpus.streams import open_batches

    def wrong(what: str, row: str, column: str) -> InputError:
        return InputError(what, path=path, row=row, column=column)

    known = set(sample.items)
    marks: dict[int, str] = {}
    seen: dict[int, str] = {}
    with open_batches(path, columns=[ITEM, SOUND], types_of="file") as batches:
        for number, line in enumerate(line for batch in batches for line in batch.to_pylist()):
            row, given, said = f"row {number}", line[ITEM], line[SOUND]
            item = _read_item(given)
            if item not in known:
                raise wrong(f"{given!r} is no item of {sample.path.name}", row, ITEM)
            if item in seen:
                what = f"the item {item} is there already, in {seen[item]}; mark it once"
                raise wrong(what, row, ITEM)
            seen[item] = row
            word = _read_word(said)
            if word and word not in WORDS:
                what = f"{said!r} is no mark; expected {', '.join(WORDS)}, or nothing"
                raise wrong(what, row, SOUND)
            if word:
                marks[item] = WORDS[word]
    if not marks:
        raise InputError("nothing is marked in it", path=path, column=SOUND)
    return marks


def _read_word(said: object) -> str:
    """Return what a cell says as the keys of :data:`WORDS` are written; nothing for nothing."""
    if said is None or said != said:  # noqa: PLR0124 - pandas writes NaN where nothing is
        return ""
    # Where a cell of a column of numbers is empty, pandas writes the others as 1.0 and 0.0.
    return str(said).strip().lower().removesuffix(".0")


def _read_item(given: object) -> int | None:
    """Return the number that a cell holds; None if it holds none."""
    if isinstance(given, bool) or not isinstance(given, int | str):
        return int(given) if isinstance(given, float) and given.is_integer() else None
    try:  # pandas writes 12 as 12.0 where a cell of the column is empty
        return int(str(given).strip().removesuffix(".0"))
    except ValueError:
        return None


def import_marks(sample: Sample, path: Path, person: str) -> Marks:
    """Add the marks in a list to those of a person: all of them, or after an error none."""
    found = read_list(sample, path)
    marks = Marks(sample, person)
    with marks.locked():
        both = [item for item in found if item in marks.as_dict()]
        if both:
            raise InputError(
                f"{person} has marked {len(both):,} of its items already, such as {both[0]} (in "
                f"{marks.path.name}); leave them out, or name another person",
                path=path,
            )
        marks.add_all(found)
    return marks
