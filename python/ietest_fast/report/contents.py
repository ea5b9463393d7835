"""What stands in a report, in its order, before it becomes a page or files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from ietest_fast.errors import InputError
from ietest_fast.registry import Registry, lacks_methods
from ietest_fast.report.parts import Figures, Numbers, Section

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.report.drawing import Chart
    from ietest_fast.report.parts import Finding
    from ietest_fast.report.tables import Table


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
    def read(cls, paths: Sequence[Path], *, alpha: float, margin: float) -> Self:
        """Read files that were recognised, and measure what they hold."""


SOURCES: Registry[type[FileSource]] = Registry(
    group="ietest_fast.sources",
    builtin={
        "stress": "ietest_fast.analyses.stress.page:StressSource",
        "logic": "ietest_fast.analyses.logic.page:LogicSource",
        "consistency": "ietest_fast.analyses.consistency.page:ConsistencySource",
        "evaluations": "ietest_fast.analyses.compare_page:EvaluationSource",
    },
    noun="source",
    check=lacks_methods(
        "sources of reports",
        "recognises",
        "read",
        "findings",
        "sections",
        "to_dict",
        see="ietest_fast.report.contents.FileSource",
    ),
)
"""Sources by name, in the order of the page. A name of another package stands behind these."""


def find_source(path: Path) -> str | None:
    """Return the name of the source that a file is of; None for none.

    Those of other packages are asked first: to the last built-in one every table of predictions is
    its own.
    """
    names = SOURCES.names()
    foreign = [name for name in names if name not in SOURCES.builtin]
    for name in (*foreign, *SOURCES.builtin):
        if SOURCES.find(name).recognises(path):
            return name
    return None


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
