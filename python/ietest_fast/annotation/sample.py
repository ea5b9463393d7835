"""A sample of transformed observations: what is in it, and the file it is kept in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, get_args

from ietest_fast.atomic import write_text
from ietest_fast.errors import InputError
from ietest_fast.files import read_json
from ietest_fast.values import show_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


T = TypeVar("T")

Unit = Literal["texts", "edits"]
"""What is marked: an observation with all its edits, or one edit by itself."""

UNITS: tuple[Unit, ...] = get_args(Unit)

Criterion = Literal["label", "meaning", "new-label"]
"""When an observation is sound: the paper's question, the stricter one, or, where a transformation
set the label of a new text, whether that label is right; see :data:`ASKED`."""

ASKED: Mapping[Criterion, str] = {
    "label": "Sound: whoever gives the first text its label would give it to the second as well, "
    "and each is English that a person could have written. Small errors of grammar do not matter.",
    "meaning": "Sound: a competent reader accepts that A and B mean the same here, so that "
    "whatever follows from one follows from the other, and that each is acceptable English.",
    "new-label": "Sound: the label is right for what you read here, and every text is acceptable "
    "English.",
}
"""What people are asked."""

_FORMAT = 3
# Of format 2 every sample was drawn from a run, and of two versions.
_READABLE = (2, _FORMAT)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Transformed observations, or edits of them, drawn at random."""

    path: Path
    """The file it is kept in."""
    test_set: str | None
    """What it was drawn from, as ``FinishedRun.test_set`` has it; None of a labelled file."""
    source: str
    """In words: data and transformation."""
    unit: Unit
    """What is marked."""
    criterion: Criterion
    """What people are asked."""
    n_reworded: int
    """How many observations it was drawn from: those with a replaced word; of a labelled file,
    different new texts."""
    seed: int
    """Which of the samples it is."""
    columns: tuple[str, ...]
    """Names of the text columns."""
    pairs: tuple[Mapping[str, Any], ...]
    """In the order drawn: ``item``, a number that marks go by (of texts the row, of edits the place
    among all edits); ``row`` of the test set or of the file; ``label``; ``first``, the version that
    is shown first, ``"original"`` or ``"rephrased"``, where there are two; and for each column
    ``pieces``: texts with what was done to them, ``"keep"``, ``"old"`` or ``"new"``."""

    @property
    def has_versions(self) -> bool:
        """Whether people see two versions; if not, new texts with the label that was set."""
        return self.criterion != "new-label"

    @property
    def items(self) -> tuple[int, ...]:
        """What is marked, in the order drawn."""
        return tuple(pair["item"] for pair in self.pairs)

    def rows_of(self, items: Iterable[int]) -> list[int]:
        """Return rows of the test set all of whose items are among `items`, in ascending order."""
        chosen = set(items)
        lacking = {pair["row"] for pair in self.pairs if pair["item"] not in chosen}
        return sorted({pair["row"] for pair in self.pairs} - lacking)

    def check_is_of_run(self) -> None:
        """Refuse a sample that was drawn from a labelled file."""
        if self.test_set is None:
            raise InputError(
                f"was drawn from a labelled file ({self.source}), whose texts no classifier of a "
                "run has answered; this needs the folder of a run, and a sample that `ietest-fast "
                "annotate draw` drew from it",
                path=self.path,
            )

    def check_coherent(self) -> None:
        """Refuse a sample that contradicts itself, as after an edit by hand."""
        if self.criterion == "new-label" and self.test_set is not None:
            self.refuse("has a run's test_set, and the criterion new-label is of labelled files")
        if len(set(self.items)) < len(self.pairs):
            self.refuse("an item is there twice")
        rows: dict[int, Any] = {}
        for pair in self.pairs:
            item, row = pair["item"], pair["row"]
            if self.unit == "texts" and item != row:
                self.refuse(f"item {item} has the row {row}, and of texts both are equal")
            own = pair["label"], join_pieces(pair, without="new")
            if rows.setdefault(row, own) != own:
                self.refuse(f"two items of row {row} have different labels or originals")
        if self.n_reworded < len(rows):
            said = f"n_reworded is {self.n_reworded:,}, and {len(rows):,}"
            self.refuse(f"{said} different rows are drawn")
        for pair in self.pairs:
            self._check_pieces(pair)

    def _check_pieces(self, pair: Mapping[str, Any]) -> None:
        """Refuse a pair of other columns than are said, or without what its unit is."""
        item, pieces = pair["item"], pair["pieces"]
        if pieces.keys() != set(self.columns):
            self.refuse(
                f"item {item} has texts of the columns {show_names(list(pieces))}, and the columns "
                f"are said to be {show_names(self.columns)}"
            )
        if not self.has_versions:
            return
        changed = [
            kinds for own in pieces.values() if {"old", "new"} & set(kinds := [k for k, _ in own])
        ]
        if not changed:
            self.refuse(f"nothing is changed in item {item}")
        # An edit is a word, and the article that goes with it.
        is_one = len(changed) == 1 and max(map(changed[0].count, ("old", "new"))) <= 2
        if self.unit == "edits" and not is_one:
            self.refuse(f"item {item} has several edits, and the unit says that each is one")

    def refuse(self, complaint: str) -> NoReturn:
        """Say what is wrong with the sample."""
        raise InputError(f"{complaint}; draw the sample anew", path=self.path)


def join_pieces(pair: Mapping[str, Any], *, without: str) -> dict[str, str]:
    """Return the texts of a pair, without the pieces of one kind."""
    return {
        name: "".join(text for kind, text in pieces if kind != without)
        for name, pieces in pair["pieces"].items()
    }


def write_sample(sample: Sample) -> Sample:
    """Write a sample to its file, and return it."""
    kept = {name: value for name, value in vars(sample).items() if name != "path"}
    described = {"format": _FORMAT, **kept}
    write_text(sample.path, json.dumps(described, ensure_ascii=False, indent=1) + "\n")
    return sample


def read_sample(path: Path) -> Sample:
    """Read a sample."""
    try:
        found = read_json(path)
        if found["format"] not in _READABLE:
            raise InputError(
                f"is of format {found['format']}, {_FORMAT} expected; draw it anew", path=path
            )
        criterion = _check_among(found["criterion"], tuple(ASKED))
        unit = _check_among(found["unit"], UNITS)
        if criterion == "new-label" and unit == "edits":
            raise ValueError("edits are of two versions")
        columns = tuple(_check(name, str) for name in _check(found["columns"], list))
        pairs = tuple(_read_pair(pair, columns, criterion) for pair in _check(found["pairs"], list))
        sample = Sample(
            path=path,
            test_set=None if found["test_set"] is None else _check(found["test_set"], str),
            source=_check(found["source"], str),
            unit=unit,
            criterion=criterion,
            n_reworded=check_number(found["n_reworded"]),
            seed=check_number(found["seed"]),
            columns=columns,
            pairs=pairs,
        )
        sample.check_coherent()
        return sample
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "is no sample; `ietest-fast annotate draw` makes one", path=path
        ) from error


def _read_pair(pair: Any, columns: Sequence[str], criterion: Criterion) -> dict[str, Any]:
    given = dict(pair["pieces"])
    pieces = {name: _check(given[name], list) for name in dict.fromkeys((*columns, *given))}
    has_versions = criterion != "new-label"
    kinds = ("keep", "old", "new") if has_versions else ("keep",)
    for kind, text in (piece for own in pieces.values() for piece in own):
        _check_among(kind, kinds)
        _check(text, str)
    read = {
        "item": check_number(pair["item"]),
        "row": check_number(pair["row"]),
        "label": _check(pair["label"], str),
        "pieces": pieces,
    }
    if has_versions:
        read["first"] = _check_among(pair["first"], ("original", "rephrased"))
    return read


def check_number(value: object) -> int:
    """Return a whole number from 0 on as it is."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise TypeError(f"a whole number from 0 on is expected, not {value!r}")
    return value


def _check(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} is expected, not {value!r}")
    return value


def _check_among(value: Any, known: Sequence[str]) -> Any:
    if value not in known:
        raise ValueError(f"one of {', '.join(known)} is expected, not {value!r}")
    return value
