"""What a transformation is, and what it gives: new texts, and every edit that led to them."""

from __future__ import annotations

import abc
import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.frames import give_back, to_arrow
from ietest_fast.transform.columns import are_same_rows, check_text_columns
from ietest_fast.transform.edits import EDIT_SCHEMA, undo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.corpus import Corpus

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

    def describe(self) -> dict[str, Any]:
        """Return name and options, ready for JSON: what runs record."""
        return {"name": self.name, "options": {}}

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


def fingerprint_of(description: Mapping[str, Any]) -> str:
    """Return the sha256 of a description as JSON, 64 hexadecimal digits."""
    written = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Identity(BaseTransformation):
    """The transformation that leaves every text as it is: a control for experiments."""

    @property
    def name(self) -> str:
        """``"identity"``."""
        return "identity"

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
