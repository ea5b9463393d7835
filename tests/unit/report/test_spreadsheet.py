"""Text in files for spreadsheets stays text; numbers stay numbers."""

from __future__ import annotations

import csv
import io
import re

import pytest

from ietest_fast.report.tables import as_text_cell, as_text_rows, write_cells

COMPUTED = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\rx",
    "\n",
    " =HYPERLINK(1)",
    "'=1",
    '"+1',
    "\ufeff=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "\u00a0@x",
    "−1",
]
TEXT = ["", "a", "a=b", "1", "The woman's", "'tis", '"Yes" - he said', "x\t=1", "#", "%", "(=1)"]


def undo(cell: str) -> str:
    """What the module's text says: take one away where what follows would get one."""
    begins = r"'*[\t\r\n]|[\s\x00-\x1f'\"‘’“”`\ufeff\u200b-\u200f]*[=+\-@＝＋－＠−]"
    return cell[1:] if cell.startswith("'") and re.match(begins, cell[1:]) else cell


@pytest.mark.parametrize("text", COMPUTED)
def test_what_would_be_computed_gets_an_apostrophe(text: str) -> None:
    assert as_text_cell(text) == f"'{text}"
    assert undo(f"'{text}") == text


@pytest.mark.parametrize("text", TEXT)
def test_other_text_is_as_it_is(text: str) -> None:
    assert as_text_cell(text) == text
    assert undo(text) == text


@pytest.mark.parametrize("value", [-1, 2.5, -1e-9, None, True])
def test_numbers_stay_numbers(value: object) -> None:
    assert as_text_cell(value) is value


def test_two_texts_never_become_one() -> None:
    texts = [*COMPUTED, *TEXT, *(f"'{text}" for text in (*COMPUTED, *TEXT))]
    made = [as_text_cell(text) for text in texts]
    assert [undo(str(cell)) for cell in made] == texts


def test_names_of_columns_are_cells_too() -> None:
    assert as_text_rows([{"=a": "@b", "n": -3}]) == [{"'=a": "'@b", "n": -3}]
    written = write_cells([["=a", "n"], ['say "=1"', -3], ["=1,2", None]])
    assert list(csv.reader(io.StringIO(written))) == [
        ["'=a", "n"],
        ['say "=1"', "-3"],
        ["'=1,2", ""],
    ]
