"""Files that people open in a spreadsheet: text in them stays text, and computes nothing.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, which can
start a program or send other cells away. Such text gets an apostrophe before it; numbers stay
numbers. To undo it, take one apostrophe away where what follows would get one.

Only tables for people are written here. Data files that commands write for programs (``transform``,
``templates``, ``--out``) hold every text as it is, because they are read again.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Also behind blanks, quotes and signs without a width, which some programs take away first; in
# their full-width forms, which a spreadsheet in Chinese or Japanese reads alike; and a tab or a
# line end, which ends a cell where the quotes around it are lost.
_FORMULA = re.compile(r"'*[\t\r\n]|[\s\x00-\x1f'\"‘’“”`\ufeff\u200b-\u200f]*[=+\-@＝＋－＠−]")


def as_text_cell(value: object) -> object:
    """Give a text an apostrophe if a spreadsheet would compute it; anything else as it is."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def as_text_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with names and values as :func:`as_text_cell` gives them."""
    return [
        {str(as_text_cell(name)): as_text_cell(value) for name, value in row.items()}
        for row in rows
    ]


def write_cells(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, with a line feed behind each, for a spreadsheet."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(as_text_cell, row) for row in rows)
    return text.getvalue()
