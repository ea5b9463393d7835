"""Pairs of texts made of single sentences, as a transformed table with labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.transform.base import Transformed
from ietest_fast.transform.columns import replace_columns
from ietest_fast.transform.edits import EDIT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
    edits: list[dict[str, object]] = []
    for name, texts in new_texts.items():
        for row, (before, after) in enumerate(zip(old[name].to_pylist(), texts, strict=True)):
            if before == after:
                continue
            changed[row] = True
            if with_edits:
                start, end, piece = find_difference((before or "").encode(), after.encode())
                edits.append(
                    {
                        "row": row,
                        "column": name,
                        "start": start,
                        "end": end,
                        "old": (before or "").encode()[start:end].decode(),
                        "new": piece.decode(),
                        "rule": pairs[row].rule,
                    }
                )
    return Transformed(
        table=new,
        changed=changed,
        edits=_edit_table(edits) if with_edits else None,
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


def _edit_table(edits: Sequence[dict[str, object]]) -> pa.Table:
    plain = pa.schema(
        [
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in EDIT_SCHEMA
        ]
    )
    made = pa.Table.from_pylist(list(edits), schema=plain)
    for place, field in enumerate(EDIT_SCHEMA):
        if pa.types.is_dictionary(field.type):
            coded = made.column(place).dictionary_encode().cast(field.type)
            made = made.set_column(place, field, coded)
    return made
