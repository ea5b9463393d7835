"""The marks that people give a sample: files that survive a kill, one for each person."""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from ietest_fast.annotation.sample import check_number
from ietest_fast.errors import InputError, StoreError
from ietest_fast.files import check_file, read_bytes, refuse_repeats

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
