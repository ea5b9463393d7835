"""What the sections of a report are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ietest_fast.report.examples import TestSetAnswers
    from ietest_fast.report.svg import Chart
    from ietest_fast.report.tables import Table
    from ietest_fast.report.wordings import WordingsOfItems


MOST_OWN_FIGURES = 24
"""Of more runs the first dozen have figures of their own, and the tables have all."""

OWN_FIGURES = 12
"""How many have them then."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    """Words above what follows."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Charts beside each other."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A table; folded away under some words if it is the numbers behind a figure."""

    table: Table
    folded: str | None = None


@dataclass(frozen=True, kw_only=True)
class Words:
    """Text to be copied, such as a command."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The observations of a test set, for reading."""

    title: str
    found: TestSetAnswers


@dataclass(frozen=True, kw_only=True)
class Note:
    """A sentence below what it belongs to."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Wordings:
    """Items with their paraphrases and the answers, for reading."""

    title: str
    found: WordingsOfItems


Part = Heading | Figures | Numbers | Words | Examples | Wordings | Note


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report with a heading."""

    id: str
    """Its address in a page."""
    title: str
    intro: str
    """Heading, and a sentence below it."""
    parts: tuple[Part, ...]
    """In order."""
