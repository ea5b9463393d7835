"""Edits: what a transformation did to texts, made, taken back and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.files import check_file
from ietest_fast.plurals import say_count
from ietest_fast.runtime import load_core
from ietest_fast.transform.columns import (
    are_same_rows,
    as_strings,
    check_text_columns,
    replace_columns,
)
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NORMALISING_RULE = "normalise"
"""The rule of edits that bring a text into normal form and reword nothing."""

ARTICLE_RULE = "article"
"""The rule of edits that only follow from the one behind them: a -> an."""

RULES = ("frequency", "edit_distance", ARTICLE_RULE, NORMALISING_RULE, "reviewed")
"""The rules of built-in substitutions, in the order of the core's codes.

The first two are how a table chose between synonyms; the last, that readers accepted it.
"""

COMPANION_RULES = (NORMALISING_RULE, ARTICLE_RULE)
"""Rules that are counted, but are not substitutions of one wording for another."""

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
"""Columns of a table of edits: bytes ``start:end`` of the old text, ``old``, became ``new``.

``row`` counts the rows of the new table. ``rule`` is whatever the transformation calls the reason.
"""

STEP_SCHEMA = EDIT_SCHEMA.append(pa.field("step", pa.int8()))
"""Columns of the edits of several transformations in turn.

Those of ``step`` 0 are made in the old text, those of ``step`` 1 in what came out, and so on.
"""


def read_edits(path: Path) -> pa.Table:
    """Read a table of edits from a Parquet file that a run has left."""
    import pyarrow.parquet as pq

    table = pq.read_table(check_file(path))
    schema = STEP_SCHEMA if "step" in table.column_names else EDIT_SCHEMA
    table = table.select(schema.names).cast(schema)
    table.validate(full=True)
    return table


def apply_edits(table: pa.Table, edits: pa.Table) -> pa.Table:
    """Make edits in a table of old texts.

    Parameters
    ----------
    table
        Rows that the edits count from 0; where rows were left out or repeated, the old table's
        rows taken by ``source_row``.
    edits
        Table with :data:`EDIT_SCHEMA` or :data:`STEP_SCHEMA`, in any order.

    Returns
    -------
    pyarrow.Table
        With the new texts, in columns of the types that a transformation gives: those of the
        table, but strings for dictionaries.

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
        Table with :data:`EDIT_SCHEMA` or :data:`STEP_SCHEMA`, in any order.

    Returns
    -------
    pyarrow.Table
        As many rows, with the old texts.

    Raises
    ------
    InputError
        If an edit does not fit its text.
    """
    return _replace_spans(table, edits, piece="old", is_undo=True)


def _replace_spans(table: pa.Table, edits: pa.Table, *, piece: str, is_undo: bool) -> pa.Table:
    if "step" not in edits.column_names:
        return _replace_one_step(table, edits, piece=piece, is_undo=is_undo)
    for step in sorted(pc.unique(edits["step"]).to_pylist(), reverse=is_undo):
        own = edits.filter(pc.equal(edits["step"], step))
        table = _replace_one_step(table, own, piece=piece, is_undo=is_undo)
    return table


def _replace_one_step(table: pa.Table, edits: pa.Table, *, piece: str, is_undo: bool) -> pa.Table:
    for name in pc.unique(edits["column"].cast(pa.string())).to_pylist():
        check_text_columns(table.schema, [name])
        own = edits.filter(pc.equal(edits["column"].cast(pa.string()), name))
        for key in ("row", "start", "end", "old", "new"):
            if own[key].null_count:
                raise InputError(f"an edit has no {key}", column=name)
        own = own.sort_by([("row", "ascending"), ("start", "ascending"), ("end", "ascending")])
        row, start, end = (
            own[key].combine_chunks().to_numpy().astype(np.int64) for key in ("row", "start", "end")
        )
        if is_undo:
            _check_lengths(own, row, start, end, column=name)
            grown = pc.binary_length(own["new"]).to_numpy().astype(np.int64) - (end - start)
            # An edit stands in the new text where it stood in the old, moved by what the edits
            # before it in the same text have added.
            before = np.cumsum(grown) - grown
            first = np.searchsorted(row, row, side="left")
            moved = before - before[first] if len(row) else before
            start, end = start + moved, end + moved + grown
        pieces, expected = (
            own[key].cast(pa.large_string()).combine_chunks()
            for key in (piece, "new" if is_undo else "old")
        )
        texts = as_strings(table[name]).cast(pa.large_string()).combine_chunks()
        try:
            made = pa.array(load_core().text.apply_edits(texts, row, start, end, expected, pieces))
        except ValueError as error:
            raise InputError(str(error), column=name) from error
        table = replace_columns(table, {name: [made]})
    return table


def _check_lengths(
    edits: pa.Table,
    row: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    *,
    column: str,
) -> None:
    """Stop if an old piece is not as long as its place: the old text, unlike the new, is unseen."""
    sizes = pc.binary_length(edits["old"]).to_numpy().astype(np.int64)
    wrong = np.flatnonzero(sizes != end - start)
    if wrong.size:
        at = wrong[0]
        raise InputError(
            f"row {row[at]}: an edit says that bytes {start[at]}:{end[at]} of the old text were "
            f"{show_value(edits['old'][at].as_py())}, which has {say_count(int(sizes[at]), 'byte')}"
            "; correct one of them, or take the edits that belong to these texts",
            column=column,
        )


def make_edits(
    exported: Any, column: str, columns: Sequence[str], first_row: int, rules: Sequence[str]
) -> pa.Table:
    """Make a table of edits from what a kernel gave for rows from `first_row` on."""
    made = pa.RecordBatch.from_struct_array(pa.array(exported))
    n = made.num_rows
    row = pc.add(made["row"], first_row) if first_row else made["row"]
    code = list(columns).index(column)
    names = pa.DictionaryArray.from_arrays(
        pa.array(np.full(n, code, np.int8)), pa.array(list(columns), pa.string())
    )
    named = pa.DictionaryArray.from_arrays(made["rule"], pa.array(list(rules), pa.string()))
    return pa.table(
        [row, names, made["start"], made["end"], made["old"], made["new"], named],
        schema=EDIT_SCHEMA,
    )


def edits_of_column(
    column: str,
    columns: Sequence[str],
    rule: str,
    *,
    row: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    old: Any,
    new: Any,
) -> pa.Table:
    """Make a table of the edits of one column, all by one rule."""
    code = np.full(len(row), list(columns).index(column), np.int8)
    only = np.zeros(len(row), np.int8)
    texts = pa.array(list(columns), pa.string())
    return pa.table(
        [
            row,
            pa.DictionaryArray.from_arrays(pa.array(code), texts),
            start,
            end,
            old.cast(pa.large_string()),
            new.cast(pa.large_string()),
            pa.DictionaryArray.from_arrays(pa.array(only), pa.array([rule], pa.string())),
        ],
        schema=EDIT_SCHEMA,
    )


def count_rules(edits: pa.Table) -> dict[str, int]:
    """Count edits by rule, in the alphabet's order."""
    counts = pc.value_counts(edits["rule"].cast(pa.string())).to_pylist()
    return dict(sorted((item["values"], item["counts"]) for item in counts))


def count_by_row(edits: pa.Table, column: str, *, n: int) -> npt.NDArray[np.int64]:
    """Count the edits of each row in one column, shape (n,), those left out that reword nothing.

    Edits that do not name their column count in each.
    """
    rows = edits["row"].to_numpy()
    counted = np.ones(rows.size, dtype=bool)
    if "column" in edits.column_names:
        counted &= pc.equal(edits["column"].cast(pa.string()), column).to_numpy()
    if "rule" in edits.column_names:
        companions = pa.array(COMPANION_RULES, pa.string())
        rules = edits["rule"].cast(pa.string())
        counted &= ~pc.is_in(rules, value_set=companions).to_numpy()
    return np.bincount(rows[counted], minlength=n).astype(np.int64)


def move_rows(edits: pa.Table, source_row: npt.NDArray[np.int64], n_before: int) -> pa.Table:
    """Renumber edits when rows are left out, repeated or put in another order."""
    if are_same_rows(source_row, n_before):
        return edits
    row = edits["row"].to_numpy()
    by_row = np.argsort(row, kind="stable")
    n_edits = np.bincount(row, minlength=n_before)
    first = np.cumsum(n_edits) - n_edits
    wanted = n_edits[source_row]
    n_moved = np.cumsum(wanted)
    # Edit k of the result is edit first[source] + (k - those of the rows before) of the sorted.
    place = np.arange(n_moved[-1] if len(n_moved) else 0)
    place += np.repeat(first[source_row] - (n_moved - wanted), wanted)
    taken = edits.take(by_row[place])
    new_row = np.repeat(np.arange(len(source_row)), wanted)
    moved = taken.set_column(0, EDIT_SCHEMA.field("row"), pa.array(new_row, pa.int64()))
    order = np.lexsort((moved["start"].to_numpy(), new_row, _column_codes(moved)))
    return moved.take(order)


def _column_codes(edits: pa.Table) -> npt.NDArray[np.int64]:
    names = edits["column"].cast(pa.string())
    codes: npt.NDArray[np.int64] = (
        pc.index_in(names, value_set=pc.unique(names)).cast(pa.int64()).to_numpy()
    )
    return codes
