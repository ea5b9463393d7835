"""What stands in a report, in its order, before it becomes a page or files."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ietest_fast.report.drawing import Chart
    from ietest_fast.report.tables import Table

MOST_OWN_FIGURES = 24
"""Of more runs the first dozen have figures of their own, and the tables have all."""

OWN_FIGURES = 12
"""How many have them then."""


class Part(Protocol):
    """A part of a section: it says itself what the page's template gets of it."""

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:
        """Return ``kind``, which the template knows, and what it shows; texts are escaped there.

        `number` makes an id of a name, which no other part has.
        """


@dataclass(frozen=True, kw_only=True)
class Heading:
    """Words above what follows."""

    text: str

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the words."""
        return {"kind": "heading", "text": self.text}


@dataclass(frozen=True, kw_only=True)
class Note:
    """A sentence below what it belongs to."""

    text: str

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the sentence."""
        return {"kind": "note", "text": self.text}


@dataclass(frozen=True, kw_only=True)
class Words:
    """Text to be copied, such as a command."""

    title: str
    text: str

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:  # noqa: ARG002
        """Return title and text."""
        return {"kind": "pre", "title": self.title, "text": self.text}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Charts beside each other."""

    charts: tuple[Chart, ...]

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the charts, drawn."""
        figures = [
            {"title": chart.title, "svg": chart.to_page(), "note": chart.note}
            for chart in self.charts
        ]
        return {"kind": "figures", "figures": figures}


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A table; folded away under some words if it is the numbers behind a figure."""

    table: Table
    folded: str | None = None

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:
        """Return the table, its cells written."""
        table = {
            "id": number(self.table.name),
            "title": self.table.title,
            "columns": self.table.columns,
            "rows": self.table.shown(),
            "note": self.table.note,
        }
        return {"kind": "table", "folded": self.folded, "table": table}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Texts to be read, that the page's script unpacks: no text stands in the page as it is."""

    kind: Literal["examples", "wordings"]
    title: str
    packed: dict[str, str]
    """What the script gets by name, each made by :func:`compress`."""

    def on_page(self, number: Callable[[str], str]) -> dict[str, Any]:
        """Return what the script unpacks."""
        return {"kind": self.kind, "id": number(self.kind), "title": self.title, **self.packed}


def compress(data: bytes) -> str:
    """Return data gzipped, in base64."""
    # Without a time, so that equal runs give equal pages.
    return base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode("ascii")


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


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence at the head of a page, and what it comes down to."""

    kind: Literal["differs", "equivalent", "undecided"]
    text: str


class Source(Protocol):
    """What a report is on: an analysis says itself what the page and the paper hold of it."""

    key: ClassVar[str]
    """Of its numbers among the data of the page."""
    title: ClassVar[str]
    """Of a page that is on nothing else."""

    def findings(self) -> list[Finding]:
        """Say in a sentence for each classifier what was found."""

    def sections(self) -> list[Section]:
        """Return what is shown, in order."""

    def to_dict(self) -> Any:
        """Return the numbers that the tables show, fit for JSON."""


class FileSource(Source, Protocol):
    """A source that is read from files of answers."""

    noun: ClassVar[str]
    """What its files are of, such as ``"stress tests"``."""

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file holds such answers; it is not read whole."""

    @classmethod
    def read(
        cls, paths: Sequence[Path], *, alpha: float, margin: float, flip_margin: float
    ) -> Self:
        """Read files that were recognised, and measure what they hold."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Contents:
    """All of a report."""

    sources: tuple[Source, ...]
    """What it is about."""
    sections: tuple[Section, ...]
    """In order."""

    @property
    def charts(self) -> list[Chart]:
        """All figures."""
        return [
            chart
            for section in self.sections
            for part in section.parts
            if isinstance(part, Figures)
            for chart in part.charts
        ]

    @property
    def tables(self) -> list[Table]:
        """All tables; several may have the same name."""
        return [
            part.table
            for section in self.sections
            for part in section.parts
            if isinstance(part, Numbers)
        ]


def gather(*sources: Source) -> Contents:
    """Work out all that a report holds, in the order of its sources.

    Raises
    ------
    InputError
        If there is none, or what a source needs does not fit together.
    StoreError
        If what a run left is damaged or gone.
    """
    if not sources:
        raise InputError("a report is on one run or several, with different names")
    sections = [section for source in sources for section in source.sections()]
    return Contents(sources=sources, sections=tuple(sections))
