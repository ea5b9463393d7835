"""What a transformation is, and what it gives: new texts, and every edit that led to them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.runtime import load_core

if TYPE_CHECKING:
    from collections.abc import Sequence

# In the order of the core's codes.
RULES = ("frequency", "edit_distance", "article", "normalise")
"""Why a piece of text was changed; the values of the ``rule`` column of edits."""

EDIT_SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("column", pa.dictionary(pa.int8(), pa.string())),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("old", pa.large_string()),
        ("new", pa.large_string()),
        ("rule", pa.dictionary(pa.int8(), pa.string())),
    ]
)
"""Columns of a table of edits: bytes ``start:end`` of the old text, ``old``, became ``new``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Transformed:
    """A table of texts after a transformation.

    Attributes
    ----------
    table
        n rows and the same columns in the same order as before.
    changed
        bool (n,): whether a text of the row is another than it was.
    edits
        Table with :data:`EDIT_SCHEMA`, ordered by column, row and start; edits of a text do not
        overlap, and making them all gives the new text. None if they were not asked for.
    """

    table: pa.Table
    changed: npt.NDArray[np.bool_]
    edits: pa.Table | None

    def undo(self) -> pa.Table:
        """Give the table as it was before.

        Raises
        ------
        InputError
            If the edits were not asked for.
        """
        if self.edits is None:
            raise InputError("without edits nothing can be undone; transform with with_edits=True")
        return undo(self.table, self.edits)


@runtime_checkable
class Transformation(Protocol):
    """A map from texts to equivalent texts (phi): deterministic, picklable.

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


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The transformation that leaves every text as it is: a control for experiments."""

    @property
    def name(self) -> str:
        """``"identity"``."""
        return "identity"

    @property
    def fingerprint(self) -> str:
        """The same for all."""
        return hashlib.sha256(b"identity").hexdigest()

    @property
    def keeps_labels(self) -> bool:
        """True."""
        return True

    def transform(
        self,
        table: pa.Table,
        text_columns: Sequence[str],
        *,
        with_edits: bool = True,
        n_threads: int | None = None,  # noqa: ARG002 - the protocol's
    ) -> Transformed:
        """Give the table back; see :meth:`Transformation.transform`."""
        check_text_columns(table.schema, text_columns)
        return Transformed(
            table=table,
            changed=np.zeros(table.num_rows, np.bool_),
            edits=EDIT_SCHEMA.empty_table() if with_edits else None,
        )


def apply_edits(table: pa.Table, edits: pa.Table) -> pa.Table:
    """Make edits in a table of old texts.

    Parameters
    ----------
    table
        Rows that the edits count from 0.
    edits
        Table with :data:`EDIT_SCHEMA`, in any order.

    Returns
    -------
    pyarrow.Table
        With the new texts.

    Raises
    ------
    InputError
        If an edit does not fit its text.
    """
    return _replace_spans(table, edits, piece="new", is_undo=False)


def undo(table: pa.Table, edits: pa.Table) -> pa.Table:
    """Take edits back: from the new texts to the old ones.

    Parameters
    ----------
    table
        The texts after all of `edits` were made.
    edits
        Table with :data:`EDIT_SCHEMA`, in any order.

    Raises
    ------
    InputError
        If an edit does not fit its text.
    """
    return _replace_spans(table, edits, piece="old", is_undo=True)


def _replace_spans(table: pa.Table, edits: pa.Table, *, piece: str, is_undo: bool) -> pa.Table:
    for name in pc.unique(edits["column"].cast(pa.string())).to_pylist():
        check_text_columns(table.schema, [name])
        own = edits.filter(pc.equal(edits["column"].cast(pa.string()), name))
        own = own.sort_by([("row", "ascending"), ("start", "ascending"), ("end", "ascending")])
        row, start, end = (
            own[key].combine_chunks().to_numpy().astype(np.int64) for key in ("row", "start", "end")
        )
        if is_undo:
            grown = pc.binary_length(own["new"]).to_numpy().astype(np.int64) - (end - start)
            # An edit stands in the new text where it stood in the old, moved by what the edits
            # before it in the same text have added.
            before = np.cumsum(grown) - grown
            first = np.searchsorted(row, row, side="left")
            moved = before - before[first] if len(row) else before
            start, end = start + moved, end + moved + grown
        pieces = own[piece].cast(pa.large_string()).combine_chunks()
        column = table[name]
        texts = as_strings(column)
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.cast(pa.large_string()).combine_chunks()
        try:
            made = pa.array(load_core().text.apply_edits(texts, row, start, end, pieces))
        except ValueError as error:
            raise InputError(str(error), column=name) from error
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        table = table.set_column(index, field, _cast_back([made], column.type))
    return table


def check_text_columns(schema: pa.Schema, text_columns: Sequence[str]) -> None:
    """Raise InputError unless all columns are there, once, and hold texts."""
    if isinstance(text_columns, str):
        raise InputError(f"text_columns is a sequence of names, not the string {text_columns!r}")
    if not text_columns:
        raise InputError("no text columns are named; at least one is needed")
    if len(set(text_columns)) != len(text_columns):
        raise InputError(f"a text column is named twice: {', '.join(text_columns)}")
    for name in text_columns:
        found = schema.names.count(name)
        if found != 1:
            raise InputError(
                f"stands {found} times in the table, once expected; it has "
                f"{', '.join(map(repr, schema.names)) or 'no columns'}",
                column=name,
            )
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not _is_string(kind) and not pa.types.is_null(kind):
            raise InputError(f"is {kind}, text expected", column=name)


def as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give a column as string or large_string, whatever holds its texts."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    return column.cast(pa.large_string())


def replace_columns(table: pa.Table, texts: dict[str, list[pa.Array]]) -> pa.Table:
    """Put new texts in the place of columns, keeping each column's type where they fit."""
    for name, chunks in texts.items():
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        column = _cast_back(chunks, field.type)
        table = table.set_column(index, field.with_type(column.type), column)
    return table


def make_edits(exported: Any, column: str, columns: Sequence[str], first_row: int) -> pa.Table:
    """Make a table of edits from what a kernel gave for rows from `first_row` on."""
    made = pa.RecordBatch.from_struct_array(pa.array(exported))
    n = made.num_rows
    row = pc.add(made["row"], first_row) if first_row else made["row"]
    code = list(columns).index(column)
    names = pa.DictionaryArray.from_arrays(
        pa.array(np.full(n, code, np.int8)), pa.array(list(columns), pa.string())
    )
    rules = pa.DictionaryArray.from_arrays(made["rule"], pa.array(RULES, pa.string()))
    return pa.table(
        [row, names, made["start"], made["end"], made["old"], made["new"], rules],
        schema=EDIT_SCHEMA,
    )


def _is_string(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _cast_back(chunks: list[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    # A text that outgrew 32-bit offsets stays large.
    if pa.types.is_string(kind) and any(pa.types.is_large_string(c.type) for c in chunks):
        total = sum(pc.sum(pc.binary_length(chunk)).as_py() or 0 for chunk in chunks)
        kind = pa.large_string() if total > np.iinfo(np.int32).max else kind
    if pa.types.is_null(kind):
        kind = pa.large_string()
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not chunks:
        return pa.chunked_array([], kind)
    return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)
