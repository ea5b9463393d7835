"""The edits of several transformations in turn as edits of the first texts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.transform.edits import COMPANION_RULES, EDIT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Sequence

# First and last byte of the old text, the new piece, and the rules that led to it.
_Edit = tuple[int, int, bytes, tuple[str, ...]]


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
    rows: list[dict[str, object]] = []
    for column, row in sorted(by_text, key=lambda text: (order[text[0]], text[1])):
        old = table[column][row].as_py().encode()
        net: list[_Edit] = []
        for _, step in sorted(by_text[column, row].items()):
            net = _compose(old, net, sorted(step))
        rows += [
            {
                "row": row,
                "column": column,
                "start": start,
                "end": end,
                "old": old[start:end].decode(),
                "new": new.decode(),
                "rule": _join(rules),
            }
            for start, end, new, rules in net
            if old[start:end] != new
        ]
    plain = pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in EDIT_SCHEMA
        ]
    )
    made = pa.Table.from_pylist(rows, schema=plain)
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
        # The next edit, and whatever overlaps what has been taken together with it.
        takes_first = place == len(second) or (
            done < len(first) and spans[done] <= second[place][:2]
        )
        low, high = spans[done] if takes_first else second[place][:2]
        from_done, from_place = done, place
        done, place = done + takes_first, place + (not takes_first)
        while True:
            if done < len(first) and _meets(spans[done], second[from_place:place]):
                low, high = min(low, spans[done][0]), max(high, spans[done][1])
                done += 1
            elif place < len(second) and _meets(second[place][:2], spans[from_done:done]):
                low, high = min(low, second[place][0]), max(high, second[place][1])
                place += 1
            else:
                break
        start, taken, given = low - shift, first[from_done:done], second[from_place:place]
        shift += sum(len(new) - (end - begin) for begin, end, new, _ in taken)
        new = _apply_within(middle, given, low, high)
        rules = tuple(rule for *_, own in [*taken, *given] for rule in own)
        net.append((start, high - shift, new, rules))
    return net


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
    pieces, spans, at, length = [], [], 0, 0
    for start, end, new, _ in edits:
        length += start - at
        spans.append((length, length + len(new)))
        pieces += [old[at:start], new]
        at, length = end, length + len(new)
    return b"".join([*pieces, old[at:]]), spans


def _apply_within(text: bytes, edits: list[_Edit], low: int, high: int) -> bytes:
    pieces, at = [], low
    for start, end, new, _ in edits:
        pieces += [text[at:start], new]
        at = end
    return b"".join([*pieces, text[at:high]])
