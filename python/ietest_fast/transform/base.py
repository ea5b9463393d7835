"""What a transformation is, and what it gives: new texts, and every edit that led to them."""

from __future__ import annotations

import abc
import dataclasses
import functools
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.frames import give_back, to_arrow
from ietest_fast.transform.edits import (
    EDIT_SCHEMA,
    are_same_rows,
    check_text_columns,
    edits_of_rows,
    find_changed,
    replace_columns,
    undo,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ietest_fast.corpus import Corpus
    from ietest_fast.transform.edits import EditRow

# Stands for "every row stays where it is" until the number of rows is known.
_AS_THEY_WERE: npt.NDArray[np.int64] = np.empty(0, np.int64)


class RowError(InputError):
    """A text of one row cannot be transformed.

    Parameters
    ----------
    message
        What is wrong and what was expected.
    index
        Row of the table, from 0. Who read the table from a file adds the file's name and the rows
        before.
    column
        The column's name.
    """

    def __init__(self, message: str, *, index: int, column: str) -> None:
        self.message = message
        self.index = index
        super().__init__(message, row=f"row {index}", column=column)

    def locate(self, corpus: Corpus) -> InputError:
        """Return the same error with the place in the file that a corpus was read from."""
        row = f"row {corpus.source_rows[self.index]}"
        return InputError(self.message, path=corpus.source, row=row, column=self.column)


@dataclass(frozen=True, kw_only=True, eq=False)
class Transformed:
    """A table of texts after a transformation."""

    table: Any
    """n rows and the same columns in the same order as before, in an Arrow table or the kind of
    table that was transformed."""
    changed: npt.NDArray[np.bool_]
    """bool (n,): whether a text of the row is another than that of the row that it comes from."""
    edits: pa.Table | None
    """Table with :data:`EDIT_SCHEMA`, ordered by column, row and start; edits of a text do not
    overlap, and making them all gives the new text. Of several transformations in turn:
    :data:`STEP_SCHEMA`, ordered by step first. None if they were not asked for."""
    source_row: npt.NDArray[np.int64] = field(default_factory=lambda: _AS_THEY_WERE)
    """int64 (n,): the old row that each new row comes from. Where absent, rows stay as they
    were."""
    labels: pa.Array | pa.ChunkedArray | None = None
    """Names of the labels (n,), as Arrow strings, where the transformation sets labels; null for a
    row whose label nobody knows. None where it keeps them."""
    repeated: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """int64: old rows, in order, that have no new row because all that they would give is there
    already, from another row."""

    def __post_init__(self) -> None:
        if self.source_row is _AS_THEY_WERE:
            rows = np.arange(len(self.changed), dtype=np.int64)
            object.__setattr__(self, "source_row", rows)

    def keeps_rows(self, n_before: int) -> bool:
        """Tell whether the rows are the `n_before` old ones in their order."""
        return are_same_rows(self.source_row, n_before)

    def undo(self) -> Any:
        """Return the table as it was before, in the rows of `source_row`, of the kind of `table`.

        Raises
        ------
        InputError
            If the edits were not asked for.
        """
        if self.edits is None:
            raise InputError("without edits nothing can be undone; transform with with_edits=True")
        arrow = self.table if isinstance(self.table, pa.Table) else to_arrow(self.table)
        old = undo(arrow, self.edits)
        return old if arrow is self.table else give_back(old, like=self.table)


@runtime_checkable
class Transformation(Protocol):
    """A map from texts to texts (phi): deterministic, picklable.

    :class:`BaseTransformation` is the easiest way to make one.

    Attributes
    ----------
    name
        Short, for signatures and reports: ``"syn.careful"``.
    fingerprint
        64 hexadecimal digits; equal for two transformations that do the same.
    keeps_labels
        Whether a row's label holds for its new texts.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def keeps_labels(self) -> bool: ...  # noqa: D102

    def describe(self) -> dict[str, Any]:
        """Return what runs record of it: ``name`` and ``options``, ready for JSON, no paths."""
        ...

    def transform(
        self,
        table: pa.Table,
        text_columns: Sequence[str],
        *,
        with_edits: bool = True,
        n_threads: int | None = None,
    ) -> Transformed:
        """Transform the texts of a table.

        Parameters
        ----------
        table
            n rows.
        text_columns
            Names of the columns that hold texts (string, large_string, string_view or
            dictionaries of them, which come back as plain columns); all others stay as they are. A
            missing text stays missing.
        with_edits
            Whether to list what was changed.
        n_threads
            Threads to use; None: all cores. Makes no difference to the result.

        Raises
        ------
        InputError
            If there is no such column, or it does not hold texts.
        """
        ...


class BaseTransformation(abc.ABC):
    """Most of what a :class:`Transformation` needs, for classes that inherit from it.

    A class gives :attr:`name`, :meth:`describe` and :meth:`transform_table`, and a
    :attr:`fingerprint` of its own if its options do not say all that it hangs on.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Short, for signatures and reports."""

    @property
    def keeps_labels(self) -> bool:
        """True, unless a class says otherwise: an equivalence."""
        return True

    @property
    def edits_are_independent(self) -> bool:
        """Whether some of a row's edits can be made without the others, so that they can be drawn.

        False, unless a class says otherwise: half of an exchange of two texts is none.
        """
        return False

    @property
    def fingerprint(self) -> str:
        """Sha256 of what the transformation says of itself, 64 hexadecimal digits."""
        return fingerprint_of(self.describe())

    @property
    def _options(self) -> dict[str, Any]:
        """What :meth:`describe` says of the options."""
        return {}

    def describe(self) -> dict[str, Any]:
        """Return name and options, ready for JSON: what runs record."""
        return {"name": self.name, "options": self._options}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is worked out when it is needed: some of it cannot be copied."""
        kind = type(self)
        return {
            key: value
            for key, value in self.__dict__.items()
            if not isinstance(getattr(kind, key, None), functools.cached_property)
        }

    def transform(
        self,
        table: Any,
        text_columns: Sequence[str],
        *,
        with_edits: bool = True,
        n_threads: int | None = None,
    ) -> Transformed:
        """Transform the texts of a table; see :meth:`Transformation.transform`.

        The table may be of any kind that :func:`ietest_fast.frames.to_arrow` takes (pandas, polars,
        ``datasets``, a mapping, a list of strings); the new one is of the same kind.
        """
        arrow = table if isinstance(table, pa.Table) else to_arrow(table)
        check_text_columns(arrow.schema, text_columns)
        made = self.transform_table(
            arrow, tuple(text_columns), with_edits=with_edits, n_threads=n_threads
        )
        if arrow is table:
            return made
        new = give_back(made.table, like=table, rows=made.source_row)
        return dataclasses.replace(made, table=new)

    @abc.abstractmethod
    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Transform the texts of an Arrow table whose columns have been checked."""


def put_texts(
    table: pa.Table,
    texts: dict[str, list[pa.Array]],
    edits: Sequence[pa.Table] | None,
    touched: npt.NDArray[np.bool_] | None = None,
) -> Transformed:
    """Put new texts in the place of columns; None: any row may have changed."""
    new = replace_columns(table, texts)
    candidates = np.ones(table.num_rows, np.bool_) if touched is None else touched
    return Transformed(
        table=new,
        changed=find_changed(table, new, list(texts), candidates),
        edits=None if edits is None else pa.concat_tables([EDIT_SCHEMA.empty_table(), *edits]),
    )


def fingerprint_of(description: Mapping[str, Any]) -> str:
    """Return the sha256 of a description as JSON, 64 hexadecimal digits."""
    written = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Identity(BaseTransformation):
    """The transformation that leaves every text as it is: a control for experiments."""

    name = "identity"

    @property
    def fingerprint(self) -> str:
        """The same for all."""
        return hashlib.sha256(b"identity").hexdigest()

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],  # noqa: ARG002 - the protocol's
        *,
        with_edits: bool,
        n_threads: int | None,  # noqa: ARG002 - the protocol's
    ) -> Transformed:
        """Return the table as it is."""
        return Transformed(
            table=table,
            changed=np.zeros(table.num_rows, np.bool_),
            edits=EDIT_SCHEMA.empty_table() if with_edits else None,
        )


# Pairs of texts made of single sentences, as a transformed table with labels.


@dataclass(frozen=True, kw_only=True, slots=True)
class NewPair:
    """A premise and a hypothesis made of a text."""

    row: int
    """The row whose text it was."""
    premise: str
    hypothesis: str
    """The new texts."""
    label: str
    """What holds between them."""
    rule: str
    """What the edits are counted as."""


def check_pair_columns(name: str, text_columns: Sequence[str]) -> tuple[str, str]:
    """Return the columns of premises and hypotheses."""
    if len(text_columns) != 2:
        raise InputError(
            f"the transformation {name!r} writes pairs of a premise and a hypothesis, so it needs "
            f"two columns of texts, not {len(text_columns)}: {', '.join(text_columns)}"
        )
    return text_columns[0], text_columns[1]


def keep_first(pairs: Iterable[NewPair]) -> list[NewPair]:
    """Return the pairs in the order of their rows, of equal ones the first alone."""
    first: dict[tuple[str, str], NewPair] = {}
    for pair in sorted(pairs, key=lambda pair: pair.row):
        first.setdefault((pair.premise, pair.hypothesis), pair)
    return list(first.values())


def put_pairs(
    table: pa.Table, text_columns: tuple[str, str], found: Sequence[NewPair], *, with_edits: bool
) -> Transformed:
    """Put new pairs in the place of a table's rows."""
    pairs = keep_first(found)
    repeated = {pair.row for pair in found} - {pair.row for pair in pairs}
    source = np.array([pair.row for pair in pairs], np.int64)
    old = table.take(pa.array(source))
    new_texts = {
        text_columns[0]: [pair.premise for pair in pairs],
        text_columns[1]: [pair.hypothesis for pair in pairs],
    }
    new = replace_columns(
        old, {name: [pa.array(texts, pa.large_string())] for name, texts in new_texts.items()}
    )
    changed = np.zeros(len(pairs), np.bool_)
    edits: list[EditRow] = []
    for name, texts in new_texts.items():
        for row, (before, after) in enumerate(zip(old[name].to_pylist(), texts, strict=True)):
            if before == after:
                continue
            changed[row] = True
            if with_edits:
                data = (before or "").encode()
                start, end, piece = find_difference(data, after.encode())
                was = data[start:end].decode()
                edits.append((row, name, start, end, was, piece.decode(), pairs[row].rule))
    return Transformed(
        table=new,
        changed=changed,
        edits=edits_of_rows(edits) if with_edits else None,
        source_row=source,
        labels=pa.array([pair.label for pair in pairs], pa.string()),
        repeated=np.array(sorted(repeated), np.int64),
    )


def find_difference(old: bytes, new: bytes) -> tuple[int, int, bytes]:
    """Return the span of `old` outside of which both agree, and what stands there in `new`.

    The span begins and ends between characters.
    """
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    while start > 0 and start < max(len(old), len(new)) and _splits(old, new, start):
        start -= 1
    most = shorter - start
    same = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    while same > 0 and _is_inside(old, len(old) - same):
        same -= 1
    return start, len(old) - same, new[start : len(new) - same]


def _splits(old: bytes, new: bytes, at: int) -> bool:
    return _is_inside(old, at) or _is_inside(new, at)


def _is_inside(text: bytes, at: int) -> bool:
    """Say whether a character goes on at a byte."""
    return at < len(text) and text[at] & 0xC0 == 0x80
