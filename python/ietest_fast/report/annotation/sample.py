"""A sample of transformed observations, and the marks that people give it."""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import write_text
from ietest_fast.transform.edits import ARTICLE_RULE, COMPANION_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ietest_fast.report.runs import FinishedRun

DEFAULT_N = 400
"""Pairs of a sample, as in the paper's Tables 1 and 16."""

MARKS = ("sound", "unsound")

Unit = Literal["texts", "edits"]
"""What is marked: an observation with all its edits, or one edit by itself."""

UNITS: tuple[Unit, ...] = get_args(Unit)

Criterion = Literal["label", "meaning"]
"""When an observation is sound: the paper's question, or the stricter one; see :data:`ASKED`."""

ASKED: Mapping[Criterion, str] = {
    "label": "Sound: whoever gives the first text its label would give it to the second as well, "
    "and each is English that a person could have written. Small errors of grammar do not matter.",
    "meaning": "Sound: a competent reader accepts that A and B mean the same here, so that "
    "whatever follows from one follows from the other, and that each is acceptable English.",
}
"""What people are asked."""

MAJORITY = "majority"
"""Instead of a person: what more than half of those say who marked an observation."""

_FORMAT = 2
_PERSON = re.compile(r"[\w-]{1,40}")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Transformed observations, or edits of them, drawn at random.

    Attributes
    ----------
    path
        The file it is kept in.
    test_set
        What it was drawn from, as ``FinishedRun.test_set`` has it.
    source
        In words: data and transformation.
    unit
        What is marked.
    criterion
        What people are asked.
    n_reworded
        How many observations it was drawn from: those with a replaced word.
    seed
        Which of the samples it is.
    columns
        Names of the text columns.
    pairs
        In the order drawn: ``item``, a number that marks go by (of texts the row, of edits the
        place among the run's edits); ``row`` of the test set; ``label``; ``first``, the version
        that is shown first, ``"original"`` or ``"rephrased"``; and for each column ``pieces``:
        texts with what was done to them, ``"keep"``, ``"old"`` or ``"new"``.
    """

    path: Path
    test_set: str
    source: str
    unit: Unit
    criterion: Criterion
    n_reworded: int
    seed: int
    columns: tuple[str, ...]
    pairs: tuple[Mapping[str, Any], ...]

    @property
    def items(self) -> tuple[int, ...]:
        """What is marked, in the order drawn."""
        return tuple(pair["item"] for pair in self.pairs)

    def rows_of(self, items: Iterable[int]) -> list[int]:
        """Return rows of the test set all of whose items are among `items`, in ascending order."""
        chosen = set(items)
        lacking = {pair["row"] for pair in self.pairs if pair["item"] not in chosen}
        return sorted({pair["row"] for pair in self.pairs} - lacking)


def draw_sample(
    run: FinishedRun,
    path: Path,
    *,
    n: int = DEFAULT_N,
    seed: int = 0,
    unit: Unit = "texts",
    criterion: Criterion = "label",
) -> Sample:
    """Draw reworded observations of a run's test set without replacement, and write them.

    Parameters
    ----------
    run
        A finished run, with its texts.
    path
        The file to make.
    n
        How many; all if there are fewer. Of edits, all those of an observation are drawn, so that
        there may be a few more.
    seed
        Which of the samples, and which version of each is shown first.
    unit, criterion
        What is marked, and what people are asked.

    Raises
    ------
    InputError
        If the file is there already, or marks of one of its name are.
    StoreError
        If the run's texts are damaged.
    """
    from ietest_fast.report.effects import find_substitutions

    if path.exists():
        raise InputError("is there already, and marks may belong to it; name another", path=path)
    left = find_marks(path)
    if left:
        raise InputError(
            f"marks of a sample of this name are still there: {', '.join(left.values())}; name "
            "another, or put them away",
            path=path,
        )
    versions = run.read_versions()
    reworded = np.flatnonzero(find_substitutions(versions).n_by_row)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(reworded)[:n]
    wanted = {int(row) for row in chosen}
    edits: dict[int, list[dict[str, Any]]] = {}
    for place, edit in enumerate(versions.edits.to_pylist()):
        if edit["row"] in wanted:
            edits.setdefault(edit["row"], []).append({**edit, "item": place})

    def show(row: int, item: int, made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            "item": item,
            "row": row,
            "label": versions.label_names[versions.gold[row]],
            "pieces": {
                name: cut_pieces(
                    versions.original[name][row].as_py(),
                    [edit for edit in made if edit["column"] == name],
                )
                for name in versions.columns
            },
        }

    pairs = []
    for row in map(int, chosen):
        if unit == "texts":
            pairs.append(show(row, row, edits[row]))
        elif len(pairs) < n:
            pairs += [show(row, own[-1]["item"], own) for own in split_edits(edits[row])]
    # After the rows, so that it is the same sample whatever is marked.
    for pair, is_first in zip(pairs, rng.random(len(pairs)) < 0.5, strict=True):
        pair["first"] = "original" if is_first else "rephrased"
    sample = Sample(
        path=path,
        test_set=str(run.test_set),
        source=f"{run.transformation} on {run.data_name}",
        unit=unit,
        criterion=criterion,
        n_reworded=len(reworded),
        seed=seed,
        columns=versions.columns,
        pairs=tuple(pairs),
    )
    described = {"format": _FORMAT, **{name: getattr(sample, name) for name in _WRITTEN}}
    write_text(path, json.dumps(described, ensure_ascii=False, indent=1) + "\n")
    return sample


_WRITTEN = (
    "test_set",
    "source",
    "unit",
    "criterion",
    "n_reworded",
    "seed",
    "columns",
    "pairs",
)


def split_edits(edits: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Part the edits of a row: each substitution, behind the article that it brought along.

    Edits that bring a text into normal form belong to none.
    """
    parts: list[list[Mapping[str, Any]]] = []
    article: Mapping[str, Any] | None = None
    for edit in sorted(edits, key=lambda edit: (edit["column"], edit["start"])):
        if edit["rule"] == ARTICLE_RULE:
            article = edit
        elif edit["rule"] not in COMPANION_RULES:
            is_own = article is not None and article["column"] == edit["column"]
            parts.append([article, edit] if article is not None and is_own else [edit])
            article = None
    return parts


def cut_pieces(text: str, edits: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Cut a text at its edits: pieces kept, taken out (``old``) and put in (``new``)."""
    data = text.encode()
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit["start"]):
        pieces.append(["keep", data[at : edit["start"]].decode()])
        pieces.append(["old", edit["old"]])
        pieces.append(["new", edit["new"]])
        at = edit["end"]
    pieces.append(["keep", data[at:].decode()])
    return [piece for piece in pieces if piece[1]]


def read_sample(path: Path) -> Sample:
    """Read a sample.

    Raises
    ------
    InputError
        If there is no such file, or it is no sample.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT:
            raise InputError(
                f"is of format {found['format']}, {_FORMAT} expected; draw it anew", path=path
            )
        columns = tuple(_check_text(name) for name in _check_list(found["columns"]))
        pairs = tuple(_read_pair(pair, columns) for pair in _check_list(found["pairs"]))
        if len({pair["item"] for pair in pairs}) < len(pairs):
            raise ValueError("an item is there twice")
        return Sample(
            path=path,
            test_set=_check_text(found["test_set"]),
            source=_check_text(found["source"]),
            unit=_check_among(found["unit"], UNITS),
            criterion=_check_among(found["criterion"], tuple(ASKED)),
            n_reworded=_check_number(found["n_reworded"]),
            seed=_check_number(found["seed"]),
            columns=columns,
            pairs=pairs,
        )
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "is no sample; `ietest-fast annotate draw` makes one", path=path
        ) from error


def _read_pair(pair: Any, columns: Sequence[str]) -> dict[str, Any]:
    pieces = {name: _check_list(pair["pieces"][name]) for name in columns}
    for kind, text in (piece for own in pieces.values() for piece in own):
        _check_among(kind, ("keep", "old", "new"))
        _check_text(text)
    return {
        "item": _check_number(pair["item"]),
        "row": _check_number(pair["row"]),
        "label": _check_text(pair["label"]),
        "first": _check_among(pair["first"], ("original", "rephrased")),
        "pieces": pieces,
    }


def _check_number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise TypeError(f"a whole number from 0 on is expected, not {value!r}")
    return value


def _check_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is expected, not {value!r}")
    return value


def _check_list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list is expected, not {value!r}")
    return value


def _check_among(value: Any, known: Sequence[str]) -> Any:
    if value not in known:
        raise ValueError(f"one of {', '.join(known)} is expected, not {value!r}")
    return value


def read_mark(line: str | bytes) -> tuple[int, str | None]:
    """Read a mark such as ``{"item": 7, "mark": "sound"}``; None takes one back.

    Raises
    ------
    ValueError
        If it is none.
    """
    try:
        found = json.loads(line)
        item, mark = _check_number(found["item"]), found["mark"]
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("is no mark") from error
    if mark is not None and mark not in MARKS:
        raise ValueError(f"a mark is {' or '.join(MARKS)}")
    return item, mark


class Marks:
    """One person's marks of a sample: a file to which every mark is added and forced to disk.

    The last mark of an item holds. A last line that was cut off by a kill or a power cut is left
    out; what was said before it stays.

    Parameters
    ----------
    sample
        The sample.
    person
        Letters, digits, ``_`` and ``-``: part of the file's name.

    Raises
    ------
    InputError
        If the name is none, or the file is not one of marks.
    """

    def __init__(self, sample: Sample, person: str) -> None:
        if not _PERSON.fullmatch(person):
            raise InputError(
                f"a person is named by at most 40 letters, digits, _ and -, not {person!r}"
            )
        if person == MAJORITY:
            raise InputError(f"a person cannot be called {MAJORITY}: that is what most people say")
        self.person = person
        self.path = marks_path(sample.path, person)
        self._items = frozenset(sample.items)
        self._marks: dict[int, str] = {}
        self._read()

    def _read(self) -> None:
        if not self.path.is_file():
            return
        lines = self.path.read_bytes().split(b"\n")
        # A line without an end was never finished, unless somebody's editor has left it so.
        if not _is_mark(lines[-1]):
            lines.pop()
        for number, line in enumerate(lines, start=1):
            try:
                item, mark = read_mark(line)
            except ValueError as error:
                raise InputError(
                    'is no mark such as {"item": 7, "mark": "sound"}',
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
        """Mark an item, or with None take its mark back; on the disk when this returns.

        Raises
        ------
        InputError
            If the item is not in the sample, or there is no such mark.
        StoreError
            If the file cannot be written; the mark then does not hold.
        """
        if mark is not None and mark not in MARKS:
            raise InputError(f"a mark is {' or '.join(MARKS)}, not {mark!r}")
        if item not in self._items:
            raise InputError(f"item {item} is not in the sample")
        line = json.dumps({"item": item, "mark": mark}).encode() + b"\n"
        try:
            with self.path.open("ab+") as file:
                self._end_last_line(file)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from error
        self._keep(item, mark)

    @staticmethod
    def _end_last_line(file: IO[bytes]) -> None:
        """Cut off what a kill has left of a line, so that the next one is not added to it."""
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole == len(content):
            return
        if _is_mark(content[whole:]):
            file.write(b"\n")
        else:
            file.truncate(whole)
            file.seek(0, os.SEEK_END)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from marking in this person's name; they would not see each other's marks.

        The file is there afterwards, if only empty.

        Raises
        ------
        InputError
            If somebody does.
        StoreError
            If the file cannot be written.
        """
        import fcntl

        try:
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


def _is_mark(line: bytes) -> bool:
    try:
        read_mark(line)
    except ValueError:
        return False
    return True


def marks_path(sample: Path, person: str) -> Path:
    """Give the file of a person's marks: beside the sample, with the name in it."""
    return sample.with_name(f"{sample.name}.{person}.marks.jsonl")


def find_marks(sample: Path) -> dict[str, str]:
    """Find the files of marks of a sample that are not empty: their names by person."""
    begin, end = f"{sample.name}.", ".marks.jsonl"
    there = [
        path for path in sample.parent.glob(f"*{end}") if path.is_file() and path.stat().st_size
    ]
    names = sorted(path.name for path in there)
    people = {name: name[len(begin) : -len(end)] for name in names if name.startswith(begin)}
    return {
        person: name
        for name, person in people.items()
        if _PERSON.fullmatch(person) and person != MAJORITY
    }


def read_all_marks(sample: Sample) -> dict[str, dict[int, str]]:
    """Read the marks of everybody who has marked something of a sample, by person.

    Raises
    ------
    InputError
        If a file is not one of marks of this sample.
    """
    found = {person: Marks(sample, person).as_dict() for person in find_marks(sample.path)}
    return {person: marks for person, marks in sorted(found.items()) if marks}
