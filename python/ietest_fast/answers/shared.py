"""What two tables of answers say of the same wordings: they agree, or contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.labels import find_known
from ietest_fast.answers.schema import plain_type
from ietest_fast.corpus.columns import find_text_columns
from ietest_fast.corpus.dataset import is_text
from ietest_fast.corpus.labels import NLI_LABELS, answer_key
from ietest_fast.corpus.reasoning import ABDUCTIVE, DEFEASIBLE
from ietest_fast.errors import InputError
from ietest_fast.values import as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.answers.table import Predictions

    Texts = tuple[str, ...]
    Wordings = dict[tuple[str, str], set[Texts]]


WORDING = ("item", "version", "copy")
"""What tells the wordings of a classifier apart."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedWordings:
    """Rows of two tables that are the same wordings."""

    first: Predictions
    other: Predictions
    """The tables; messages are about the other."""
    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    """Shape (n,): rows of the first, and of the other."""

    @classmethod
    def find(
        cls, first: Predictions, other: Predictions, *, keys: Sequence[str] = WORDING
    ) -> SharedWordings:
        """Match rows by what names wordings; of several in the other, the first counts."""
        found = pc.index_in(name_rows(first, keys), value_set=name_rows(other, keys))
        is_shared = found.is_valid().to_numpy(zero_copy_only=False)
        return cls(
            first=first,
            other=other,
            rows=np.flatnonzero(is_shared),
            places=np.asarray(found.drop_null(), dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.rows)

    def check_labels(self, column: str, noun: str) -> bool:
        """Refuse other labels of the same wordings in a column; False if the tables share no
        label.
        """
        if not {column} <= set(self.first.columns) & set(self.other.columns):
            return True
        mine, theirs = (list_labels(each) for each in (self.first, self.other))
        names = list(NLI_LABELS) if set(mine) <= set(NLI_LABELS) else list(mine.values())
        known = find_known(pa.array(theirs.values(), pa.string()), names).to_pylist()
        if all(place is None for place in known):
            return False
        names += [name for name, place in zip(theirs.values(), known, strict=True) if place is None]
        own, given = self._texts(column)
        same = pc.equal(find_known(own, names), find_known(given, names))
        differs = pc.and_(own.is_valid(), given.is_valid())
        differs = pc.and_(differs, pc.invert(pc.fill_null(same, False)))
        self.refuse(differs, (own, given), noun, column)
        return True

    def check_texts(self, columns: Sequence[str]) -> None:
        """Refuse other texts of the same wordings, in columns that both tables have.

        A text that is empty or missing was not shown.
        """
        for column in columns:
            if column in self.first.columns and column in self.other.columns:
                own, given = self._texts(column)
                differs = pc.fill_null(pc.not_equal(own, given), False)
                for each in (own, given):
                    differs = pc.and_(differs, pc.fill_null(pc.not_equal(each, ""), False))
                self.refuse(differs, (own, given), "the text", column)

    def check_outcomes(self) -> None:
        """Refuse a wording that is answered rightly in one of the tables only."""
        pair = [self.first.correct[self.rows], self.other.correct[self.places]]
        shown = [pa.array(np.where(each, "right", "wrong"), pa.string()) for each in pair]
        self.refuse(pa.array(pair[0] != pair[1]), shown, "an answer that is", "correct")

    def are_equal_answers(self) -> bool:
        """Whether all wordings of both tables are shared, and answered alike."""
        if not len(self) == len(self.first) == len(self.other):
            return False
        if not np.array_equal(self.first.correct[self.rows], self.other.correct[self.places]):
            return False
        if not {"predicted"} <= set(self.first.columns) & set(self.other.columns):
            return True
        own, given = self._texts("predicted")
        return bool(own.equals(given))

    def _texts(self, column: str) -> tuple[pa.Array, pa.Array]:
        own, given = (
            as_texts(each.table[column].combine_chunks().take(pa.array(rows)), path=each.source)
            for each, rows in ((self.first, self.rows), (self.other, self.places))
        )
        return own, given

    def refuse(
        self, differs: pa.Array, shown: Sequence[pa.Array], noun: str, column: str | None
    ) -> None:
        """Refuse the first wording that differs, if there is one."""
        n = pc.sum(differs).as_py() or 0
        if not n:
            return
        which = int(np.argmax(differs.to_numpy(zero_copy_only=False)))
        row = int(self.places[which])
        item, version = (
            show_value(self.other.table[name][row].as_py()) for name in ("item", "version")
        )
        before, here = (show_value(each[which].as_py()) for each in shown)
        more = f", and {n:,} of {len(self):,} shared texts differ so" if n > 1 else ""
        raise InputError(
            f"item {item} has in version {version} {noun} {here}, and {before} in "
            f"{self.first.source}{more}; both files are about the same items: give the file that "
            "belongs to it, mend what is wrong, or, if these are other items, give them other "
            "names",
            path=self.other.source,
            column=column,
        )


def name_rows(predictions: Predictions, keys: Sequence[str] = WORDING) -> pa.Array:
    """Return what tells rows apart, as texts, so that 1 and "1" are the same."""
    table, parts = predictions.table, []
    for name in keys:
        if name in table.column_names:
            column = table[name].cast(plain_type(table[name].type))
            parts.append(column.cast(pa.large_string()).combine_chunks())
        else:
            parts.append(pa.repeat(pa.scalar("0", pa.large_string()), len(predictions)))
    return pc.binary_join_element_wise(*parts, pa.scalar("\0", pa.large_string()))


def find_kinds(predictions: Predictions) -> set[str] | None:
    """Return what tells the labels of a table apart, of gold labels and answers; None for texts."""
    return set(list_labels(predictions)) if predictions.has_labels else None


def list_labels(predictions: Predictions) -> dict[str, str]:
    """Return the labels of a table: those it names, or gold labels and answers, by their keys."""
    if predictions.label_names is not None:
        return {answer_key(name): name for name in predictions.label_names}
    columns = ["gold", "predicted"] if predictions.has_labels else ["gold"]
    found = [pc.unique(predictions.table[name].cast(pa.string())).drop_null() for name in columns]
    return {answer_key(name): name for each in found for name in each.to_pylist()}


def find_answered_texts(predictions: Predictions, told: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of texts, as the file tells or by their names, so that all read the
    same.
    """
    schema = predictions.table.schema
    names = [field.name for field in schema if is_text(plain_type(field.type))]
    for choice in (told, ABDUCTIVE, DEFEASIBLE):
        if choice and set(choice) <= set(names):
            return tuple(choice)
    try:
        found = find_text_columns(predictions.source, names)[0]
    except InputError:
        return ()
    return found if set(found) <= set(names) else ()


def holds_texts(table: pa.Table, name: str) -> bool:
    """Whether a column is of texts, plain or coded."""
    return is_text(plain_type(table.schema.field(name).type))


def list_texts(table: pa.Table, name: str) -> list[str | None]:
    """Return a column as texts, whatever its type."""
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found: list[str | None] = pc.cast(column, pa.string()).to_pylist()
    return found


class Answered(Protocol):
    """Answers of a classifier, and the columns of the texts that it answered."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def predictions(self) -> Predictions:
        """All answers."""
        ...

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of columns; none where the answers do not say."""
        ...


def check_same_texts(one: Answered, other: Answered) -> None:
    """Refuse to compare answers to different texts that have the name of the same wording.

    Columns of other names are the same in their order, such as text and sentence; where there are
    more in one, nothing is known.
    """
    columns = other.text_columns
    if not columns or len(columns) != len(one.text_columns):
        return
    if _have_equal_columns(one, other):
        return
    mine, theirs = (_gather(each.predictions, each.text_columns) for each in (one, other))
    common = [key for key in mine if key in theirs]
    # Of a version in several copies, one may have more of them.
    wrong = [key for key in common if not (mine[key] <= theirs[key] or theirs[key] <= mine[key])]
    if not wrong:
        return
    item, version = key = wrong[0]
    first, second = min(mine[key] - theirs[key]), min(theirs[key] - mine[key])
    place = next(place for place, text in enumerate(first) if text != second[place])
    for_one = ", for one," if len(wrong) > 1 else ""
    raise InputError(
        f"in {len(wrong):,} of {len(common):,} wordings that {one.name} and {other.name} have, the "
        f"texts differ: version {version!r} of item {item!r}{for_one} is "
        f"{show_value(second[place])} of {other.name}, and {show_value(first[place])} of "
        f"{one.name}; let both models answer the same texts, or give other texts other names",
        path=other.predictions.source,
        column=columns[place],
    )


def _have_equal_columns(one: Answered, other: Answered) -> bool:
    """Whether two tables have the same wordings in the same order, which is quick to find out."""
    first, second = one.predictions, other.predictions
    if len(first) != len(second):
        return False
    return all(
        _read_names(first, name).equals(_read_names(second, name)) for name in ("item", "version")
    ) and all(
        _as_strings(first.table[own]).equals(_as_strings(second.table[name]))
        for own, name in zip(one.text_columns, other.text_columns, strict=True)
    )


def _gather(predictions: Predictions, columns: Sequence[str]) -> Wordings:
    """Return the texts of each item and version; a version may have several copies."""
    items, versions = (_read_names(predictions, name).to_pylist() for name in ("item", "version"))
    found: Wordings = {}
    for item, version, texts in zip(
        items, versions, read_row_texts(predictions, columns), strict=True
    ):
        if any(texts):
            found.setdefault((item, version), set()).add(texts)
    return found


def _read_names(predictions: Predictions, name: str) -> pa.Array:
    """Return items or versions as texts, which are integers in some files."""
    return as_texts(predictions.table[name], path=predictions.source, name=name)


def read_row_texts(predictions: Predictions, columns: Sequence[str]) -> list[Texts]:
    """Return the texts of each row; a missing one is an empty one, as in a CSV file."""
    listed = (_as_strings(predictions.table[name]).to_pylist() for name in columns)
    return list(zip(*listed, strict=True))


def _as_strings(column: pa.ChunkedArray) -> pa.Array:
    whole = column.cast(plain_type(column.type)).cast(pa.large_string()).combine_chunks()
    return pc.fill_null(whole, "")
