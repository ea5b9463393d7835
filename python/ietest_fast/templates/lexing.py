"""Words and marks of template files, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class TemplateError(InputError):
    """A formula or a template is not what it has to be."""

    def __init__(
        self, message: str, *, line: int, column: int, path: str | Path | None = None
    ) -> None:
        self.line = line
        self.text_column = column
        super().__init__(message, path=path, row=f"line {line}, column {column}")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a mark."""

    kind: str
    """``"name"``, ``"number"``, ``"end"``, or the mark itself, as it is written in ASCII."""
    text: str
    """As it is written."""
    line: int
    column: int
    """Where it begins, 1-based."""


SAME_AS = {
    "¬": "~",
    "∧": "&",
    "∨": "|",
    "→": "->",
    "≥": ">=",
    "≠": "!=",
    "∀": "all",
    "∃": "some",
    "ι": "the",
}
"""Signs of logic, and what stands for them in ASCII."""

_MARKS = ("->", ">=", "==", "!=", "..", *"~&|()[],:>=+-/", *(sign for sign in SAME_AS))
_PATTERN = re.compile(
    r"(?P<blank>\s+|#[^\n]*)"
    r"|(?P<number>[0-9]+)"
    r"|(?P<name>(?!ι)[^\W\d_]\w*(?:(?:-(?=[^\W\d_])|\.(?=\w))\w+)*)"
    rf"|(?P<mark>{'|'.join(re.escape(mark) for mark in _MARKS)})"
)


def split_tokens(text: str, *, path: str | Path | None = None) -> list[Token]:
    """Split a text into tokens; the last one is of kind ``"end"``.

    Comments begin with ``#`` and end with the line.
    """
    return list(_tokens(text, path))


def _tokens(text: str, path: str | Path | None) -> Iterator[Token]:
    position, line, line_begin = 0, 1, 0
    while position < len(text):
        column = position - line_begin + 1
        found = _PATTERN.match(text, position)
        if found is None:
            raise TemplateError(
                f"{text[position]!r} means nothing here", line=line, column=column, path=path
            )
        own = found.group()
        if found.lastgroup == "blank":
            line += own.count("\n")
            if "\n" in own:
                line_begin = position + own.rindex("\n") + 1
        elif found.lastgroup == "mark":
            yield Token(SAME_AS.get(own, own), own, line, column)
        else:
            yield Token(str(found.lastgroup), own, line, column)
        position = found.end()
    yield Token("end", "", line, position - line_begin + 1)
