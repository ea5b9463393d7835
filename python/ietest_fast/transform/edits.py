"""Edits: what a transformation did to texts, made, taken back and counted."""

from __future__ import annotations

import functools
import hashlib
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.files import check_file
from ietest_fast.numerals import say_count
from ietest_fast.runtime import load_core
from ietest_fast.values import show_names, show_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

# Columns of texts: checked, cast, compared, and put back.


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
                f"{show_names(schema.names)}",
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


def _is_string(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _cast_back(chunks: list[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    """Cast chunks to the type that the column had, where they fit it."""
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


def are_same_rows(source_row: npt.NDArray[np.int64], n_before: int) -> bool:
    """Tell whether rows are the `n_before` old ones in their order."""
    return len(source_row) == n_before and bool((source_row == np.arange(n_before)).all())


def find_changed(
    old: pa.Table, new: pa.Table, columns: Sequence[str], candidates: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Find the rows whose texts differ, among those that may.

    Edits may cancel out ("a b c" with "a b" and then "c" replaced), so a row with edits need not
    have changed.
    """
    differs = np.zeros(len(candidates), np.bool_)
    if not candidates.any():
        return differs
    for name in columns:
        before, after = as_strings(old[name]), as_strings(new[name])
        # Most changes show in the length. The others are compared byte by byte.
        differs |= candidates & (_lengths(before) != _lengths(after))
        rows = np.flatnonzero(candidates & ~differs)
        if len(rows):
            unequal = pc.not_equal(
                before.cast(pa.large_string()).take(rows), after.cast(pa.large_string()).take(rows)
            )
            differs[rows[unequal.fill_null(False).to_numpy()]] = True
    return differs


def _lengths(texts: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    lengths: npt.NDArray[np.int64] = (
        pc.binary_length(texts).cast(pa.int64()).fill_null(-1).to_numpy()
    )
    return lengths


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


def edits_of_texts(
    column: str,
    columns: Sequence[str],
    rule: str,
    rows: npt.NDArray[np.int64],
    *,
    old: pa.Array | pa.ChunkedArray,
    new: pa.Array | pa.ChunkedArray,
) -> pa.Table:
    """Make a table of the edits that replace whole texts of a column, those of some rows."""
    places = pa.array(rows)
    before = old.take(places)
    return edits_of_column(
        column,
        columns,
        rule,
        row=rows,
        start=np.zeros(len(rows), np.int64),
        end=np.asarray(pc.binary_length(before), np.int64),
        old=before,
        new=new.take(places),
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


# The edits of several transformations in turn as edits of the first texts.

# First and last byte of the old text, the new piece, and the rules that led to it.
_Edit = tuple[int, int, bytes, tuple[str, ...]]

EditRow = tuple[int, str, int, int, str, str, str]
"""What stands in the columns of :data:`EDIT_SCHEMA`."""


def merge_steps(table: pa.Table, edits: pa.Table) -> pa.Table:
    """Turn the edits of several steps into edits of the texts before the first.

    Edits of a later step that overlap those of an earlier one become one edit with them; its rule
    names theirs, joined by ``+``, companions (:data:`COMPANION_RULES`) only where there is nothing
    else. Edits that a later step takes back are gone.
    """
    if "step" not in edits.column_names:
        return edits
    by_text: dict[tuple[str, int], dict[int, list[_Edit]]] = defaultdict(lambda: defaultdict(list))
    for each in edits.to_pylist():
        piece = (each["start"], each["end"], each["new"].encode(), (each["rule"],))
        by_text[each["column"], each["row"]][each["step"]].append(piece)
    order = {name: place for place, name in enumerate(table.column_names)}
    rows: list[EditRow] = []
    for column, row in sorted(by_text, key=lambda text: (order[text[0]], text[1])):
        old = table[column][row].as_py().encode()
        net: list[_Edit] = []
        for _, step in sorted(by_text[column, row].items()):
            net = _compose(old, net, sorted(step))
        rows += [
            (row, column, start, end, old[start:end].decode(), new.decode(), _join(rules))
            for start, end, new, rules in net
            if old[start:end] != new
        ]
    return edits_of_rows(rows)


def edits_of_rows(rows: Iterable[EditRow]) -> pa.Table:
    """Make a table of edits, one a row."""
    plain = pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in EDIT_SCHEMA
        ]
    )
    named = [dict(zip(plain.names, row, strict=True)) for row in rows]
    made = pa.Table.from_pylist(named, schema=plain)
    for place, field in enumerate(EDIT_SCHEMA):
        if pa.types.is_dictionary(field.type):
            coded = pc.dictionary_encode(made.column(place)).cast(field.type)
            made = made.set_column(place, field, coded)
    return made


def _join(rules: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(rules))
    return "+".join([rule for rule in distinct if rule not in COMPANION_RULES] or distinct[:1])


def _compose(old: bytes, first: list[_Edit], second: list[_Edit]) -> list[_Edit]:
    """Return edits of `old` that do what `first`, and then `second`, do; all ordered by start."""
    if not first:
        return second
    middle, spans = _apply(old, first)
    net: list[_Edit] = []
    done = place = shift = 0  # edits of each list; shift: bytes that first has added so far
    while done < len(first) or place < len(second):
        own, others = _take_next(spans, second, done, place)
        taken, given = first[done:own], second[place:others]
        reached = [*spans[done:own], *(each[:2] for each in given)]
        done, place = own, others
        low, high = min(begin for begin, _ in reached), max(end for _, end in reached)
        start = low - shift
        shift += sum(len(new) - (end - begin) for begin, end, new, _ in taken)
        new = _apply_within(middle, given, low, high)
        rules = tuple(rule for *_, own in [*taken, *given] for rule in own)
        net.append((start, high - shift, new, rules))
    return net


def _take_next(
    spans: list[tuple[int, int]], second: list[_Edit], done: int, place: int
) -> tuple[int, int]:
    """Say where in each list the next edit ends, with whatever overlaps what is taken already."""
    takes_first = place == len(second) or (done < len(spans) and spans[done] <= second[place][:2])
    own, others = done + takes_first, place + (not takes_first)
    while True:
        if own < len(spans) and _meets(spans[own], second[place:others]):
            own += 1
        elif others < len(second) and _meets(second[others][:2], spans[done:own]):
            others += 1
        else:
            return own, others


def _meets(span: tuple[int, int], others: Sequence[tuple[int, ...] | _Edit]) -> bool:
    """Tell whether a span overlaps one of several; one without width also where it touches."""
    start, end = span
    for other in others:
        low, high = other[0], other[1]
        if start == end or low == high:
            if start <= high and low <= end:
                return True
        elif start < high and low < end:
            return True
    return False


def _apply(old: bytes, edits: list[_Edit]) -> tuple[bytes, list[tuple[int, int]]]:
    """Make edits, and say where their new pieces stand."""
    spans, shift = [], 0
    for start, end, new, _ in edits:
        spans.append((start + shift, start + shift + len(new)))
        shift += len(new) - (end - start)
    return _apply_within(old, edits, 0, len(old)), spans


def _apply_within(text: bytes, edits: list[_Edit], low: int, high: int) -> bytes:
    pieces = [(start - low, end - low, new) for start, end, new, _ in edits]
    return put_pieces(text[low:high], pieces)


def put_pieces(text: bytes, pieces: Iterable[tuple[int, int, bytes]]) -> bytes:
    """Put new pieces in the places of old ones: the bytes from one number to another."""
    made, at = [], 0
    for start, end, new in pieces:
        made += [text[at:start], new]
        at = end
    return b"".join([*made, text[at:]])


# Drawing some of the edits that a transformation can make.

# Up to so many choices all of their subsets are looked at; of more, sizes are drawn first.
_MOST_ENUMERATED = 10
# So many sets of a size can be numbered; of more, two draws are hardly ever the same.
_MOST_NUMBERED = 2**62


@dataclass(frozen=True, kw_only=True, eq=False)
class Choices:
    """What there is to choose among the edits of a table."""

    of_edit: npt.NDArray[np.int64]
    """int64 (n_edits,): the choice that each edit is made with; -1 for an edit that is always
    made."""
    row: npt.NDArray[np.int64]
    """int64 (n_choices,): the row of each choice, ascending."""

    def count(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Return how many choices each row has, int64 (n_rows,)."""
        return np.bincount(self.row, minlength=n_rows).astype(np.int64)

    def pick(self, taken: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which edits are made, bool (n_edits,), if some choices, bool (n_choices,), are."""
        return np.append(taken, True)[self.of_edit]  # -1 leads to the last


def find_choices(edits: pa.Table) -> Choices:
    """Find which edits are made together.

    Equal rewordings in one row, in whichever of its texts, are one choice: what is called a sofa in
    the premise is not to be a couch in the hypothesis. The repair of an article is made with the
    word behind it. Edits that bring a text into normal form are always made.
    """
    rule = edits["rule"].cast(pa.string())
    is_normal = np.asarray(pc.equal(rule, NORMALISING_RULE).combine_chunks()).astype(np.bool_)
    is_article = np.asarray(pc.equal(rule, ARTICLE_RULE).combine_chunks()).astype(np.bool_)
    row = edits["row"].to_numpy().astype(np.int64)
    column = np.asarray(
        edits["column"].cast(pa.string()).combine_chunks().dictionary_encode().indices
    ).astype(np.int64)
    of_edit = np.full(len(row), -1, np.int64)
    chosen = np.flatnonzero(~is_normal & ~is_article)
    keys = np.stack(
        [row[chosen], *(_codes(edits[name])[chosen] for name in ("old", "new"))], axis=1
    )
    found, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    # A row's choices in the order of its texts, whatever other rows there are.
    order = np.lexsort((first, found[:, 0]))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    of_edit[chosen] = number[where.reshape(-1)]
    articles = np.flatnonzero(is_article)
    place = np.searchsorted(chosen, articles)
    behind = chosen[np.minimum(place, max(len(chosen) - 1, 0))] if len(chosen) else articles
    fits = (place < len(chosen)) & (row[behind] == row[articles])
    fits &= column[behind] == column[articles]
    of_edit[articles[fits]] = of_edit[behind[fits]]
    return Choices(of_edit=of_edit, row=found[order, 0].astype(np.int64))


def _codes(texts: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    lowered = pc.utf8_lower(texts).combine_chunks()
    return np.asarray(lowered.dictionary_encode().indices).astype(np.int64)


def choose_edits(
    n_choices: npt.NDArray[np.int64],
    addresses: npt.NDArray[np.uint64],
    *,
    n_draws: int,
    share: float,
    key: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Draw different sets of choices for each row.

    Each choice is taken with probability `share`, independently. Sets that are empty or were drawn
    before are drawn again, so a row with u choices has at most 2**u - 1 sets.
    """
    first = np.concatenate([[0], np.cumsum(n_choices)])
    taken = np.zeros((n_draws, int(first[-1])), np.bool_)
    n_drawn = np.zeros(len(n_choices), np.int64)
    for place in np.flatnonzero(n_choices):
        rng = row_generator(key, int(addresses[place]))
        sets = draw_sets(int(n_choices[place]), n_draws, share, rng)
        taken[: len(sets), first[place] : first[place + 1]] = sets
        n_drawn[place] = len(sets)
    return taken, n_drawn


def draw_sets(
    n: int, n_draws: int, share: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Draw different sets among `n` choices, none of them empty.

    The law is that of taking each choice with probability `share`, and drawing again where a set is
    empty or was drawn before. Where all sets can be listed, that is drawing without replacement
    with unequal probabilities: the largest of ``log p + Gumbel`` (Efraimidis and Spirakis 2006, in
    logarithms). Otherwise each draw takes the size of the set first, by the weight of the sets of
    that size that are left, and then one of these, which all have the same probability.
    """
    if n <= _MOST_ENUMERATED:
        sets = _all_sets(n)
        size = sets.sum(axis=1)
        weight = size * np.log(share) + (n - size) * np.log1p(-share)
        best = np.argsort(-(weight + rng.gumbel(size=len(sets))), kind="stable")
        return sets[best[:n_draws]]
    wells = [_SetsOfSize(n, size) for size in range(1, n + 1)]
    each = np.array([w.size * np.log(share) + (n - w.size) * np.log1p(-share) for w in wells])
    found = np.zeros((min(n_draws, 2**n - 1), n), np.bool_)
    for one in found:
        weight = each + [math.log(w.n_left) if w.n_left else -np.inf for w in wells]
        until = np.cumsum(np.exp(weight - weight.max()))
        chosen = np.searchsorted(until, rng.random() * until[-1], side="right")
        one[wells[chosen].draw(rng)] = True
    return found


class _SetsOfSize:
    """The sets of one size among n choices, drawn without replacement and all equally likely."""

    def __init__(self, n: int, size: int) -> None:
        self._n = n
        self.size = size
        self.n_left = math.comb(n, size)
        self._is_numbered = self.n_left <= _MOST_NUMBERED
        # Fisher and Yates' shuffle of the numbers of all sets, of which few have moved.
        self._moved: dict[int, int] = {}
        self._seen: set[bytes] = set()

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return which choices are in the next set, int64 (size,)."""
        if not self._is_numbered:
            while True:
                members = np.sort(rng.choice(self._n, self.size, replace=False))
                if members.tobytes() not in self._seen:
                    self._seen.add(members.tobytes())
                    self.n_left -= 1
                    return members
        place = int(rng.integers(self.n_left))
        self.n_left -= 1
        number = self._moved.get(place, place)
        self._moved[place] = self._moved.pop(self.n_left, self.n_left)
        return np.array(self._find_members(number), np.int64)

    def _find_members(self, number: int) -> list[int]:
        """Return the choices in a set by its number, in the order of dictionaries."""
        members = []
        size = self.size
        for choice in range(self._n):
            with_it = math.comb(self._n - choice - 1, size - 1) if size else 0
            if number < with_it:
                members.append(choice)
                size -= 1
            else:
                number -= with_it
        return members


@functools.cache
def _all_sets(n: int) -> npt.NDArray[np.bool_]:
    numbers = np.arange(1, 2**n)
    return ((numbers[:, None] >> np.arange(n)) & 1).astype(np.bool_)


def row_generator(
    key: npt.NDArray[np.uint64], address: int, *, draw: int = 0, part: int = 0
) -> np.random.Generator:
    """Return the random numbers of one row, draw and part of a composition."""
    counter = np.array([0, address, draw, part], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def address_items(items: Iterable[object]) -> npt.NDArray[np.uint64]:
    """Return where the random numbers of items stand: 64 bits of the hash of each one's name.

    So an item has the same draws in whichever order and company it stands.
    """
    return np.array(
        [
            int.from_bytes(hashlib.blake2b(str(item).encode(), digest_size=8).digest(), "little")
            for item in items
        ],
        np.uint64,
    )
