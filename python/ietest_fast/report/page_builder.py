"""A report as one HTML file that needs nothing beside it, and as files for a paper."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ietest_fast
from ietest_fast.atomic import write_text
from ietest_fast.errors import InputError
from ietest_fast.escapes import show_controls
from ietest_fast.numerals import plain
from ietest_fast.report.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.report.contents import Contents

_MARKS = {"differs": "≠", "equivalent": "=", "undecided": "?"}


def build_page(contents: Contents, *, title: str | None = None) -> str:
    """Write a report as a page: no outside script, font or picture, and no request at all.

    Data appear in the page escaped, or packed in base64 and set as text by its script; a content
    security policy allows that one script, by its hash, and nothing else.

    Parameters
    ----------
    contents
        What :func:`~ietest_fast.report.contents.gather` has found.
    title
        Of the page. The default is that of the source if there is one alone, such as "Stress
        tests", and "Invariance under equivalence" otherwise.
    """
    numbers: Counter[str] = Counter()

    def number(name: str) -> str:
        numbers[name] += 1
        return f"{name}-{numbers[name]}"

    page, _ = fill_page(
        "report",
        title=_name_page(contents) if title is None else title,
        version=ietest_fast.__version__,
        verdicts=[
            {"kind": found.kind, "mark": _MARKS[found.kind], "text": found.text}
            for source in contents.sources
            for found in source.findings()
        ],
        sections=[
            {
                "id": section.id,
                "title": section.title,
                "intro": section.intro,
                "parts": [part.on_page(number) for part in section.parts],
            }
            for section in contents.sections
        ],
        data=_for_script({source.key: source.to_dict() for source in contents.sources}),
    )
    return page


def _name_page(contents: Contents) -> str:
    is_one = len(contents.sources) == 1
    return contents.sources[0].title if is_one else "Invariance under equivalence"


def fill_page(name: str, **values: Any) -> tuple[str, str]:
    """Return a page with its style and its script, and what allows just this script.

    The latter is a source of a content security policy.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def show(value: object) -> object:
        """Show the control characters of every text that the page gets, whatever names it."""
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return show_controls(value) if is_text else value

    environment = Environment(
        loader=PackageLoader("ietest_fast.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=show,
    )
    script = read_page_file(f"{name}.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest())
    allowed = f"sha256-{digest.decode('ascii')}"
    template = environment.get_template(f"{name}.html.j2")
    css = read_page_file("report.css")
    return template.render(css=css, js=script, script_hash=allowed, **values), allowed


def read_page_file(name: str) -> str:
    """Give the text of a file of the page's folder."""
    return (importlib.resources.files("ietest_fast.report") / "page" / name).read_text("utf-8")


def _for_script(value: dict[str, Any]) -> str:
    # What could end the element, or begin a comment, is escaped; JSON means the same.
    return json.dumps(plain(value), allow_nan=False).replace("<", "\\u003c")


# Tables and figures of a report as files for a paper.


FIGURE_FORMATS = ("svg", "pdf", "png")


def citation() -> str:
    """Give BibTeX entries for the paper of the test and for this tool."""
    return (
        "@article{salvatore2023resampling,\n"
        "  author = {Salvatore, Felipe de Souza and Finger, Marcelo and Hirata Jr., Roberto and "
        "Patriota, Alexandre Galv{\\~a}o},\n"
        "  title = {A resampling-based method to evaluate {NLI} models},\n"
        "  journal = {Natural Language Engineering},\n"
        "  publisher = {Cambridge University Press},\n"
        "  year = {2023},\n"
        "  doi = {10.1017/S1351324923000268}\n"
        "}\n\n"
        "@misc{ietestfast,\n"
        "  author = {{The ietest-fast developers}},\n"
        "  title = {ietest-fast: the Invariance-under-Equivalence test},\n"
        "  year = {2026},\n"
        f"  howpublished = {{Python package, version {ietest_fast.__version__}}}\n"
        "}\n"
    )


def check_paper_folder(folder: Path) -> None:
    """Make sure that files can be put into a folder."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, a folder expected", path=folder)


def find_left_over(folder: Path, written: Sequence[Path]) -> list[Path]:
    """Find tables and figures in a folder that :func:`write_for_paper` has not written just now."""
    there = [
        path
        for part, formats in (("tables", FORMATS), ("figures", FIGURE_FORMATS))
        for path in (folder / part).glob("*")
        if path.suffix.removeprefix(".") in formats
    ]
    return sorted(set(there) - set(written))


def write_for_paper(contents: Contents, folder: Path) -> list[Path]:
    """Write every table and figure of a report, each file whole or not at all.

    Parameters
    ----------
    contents
        The report.
    folder
        Gets ``tables/NAME.csv``, ``.md`` and ``.tex``, ``figures/NAME.svg``, ``.pdf`` and ``.png``
        and ``citation.bib``; made if need be. Files of these names are replaced.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If the folder's name is that of a file.
    StoreError
        If a file cannot be written.
    """
    check_paper_folder(folder)
    written: list[Path] = []
    counted: dict[str, int] = {}
    for table in contents.tables:
        again = counted[table.name] = counted.get(table.name, 0) + 1
        named = table if again == 1 else replace(table, name=f"{table.name}-{again}")
        for suffix in FORMATS:
            path = folder / "tables" / f"{named.name}.{suffix}"
            write_text(path, named.to_text(suffix))
            written.append(path)
    for chart in contents.charts:
        for suffix in FIGURE_FORMATS:
            path = folder / "figures" / f"{chart.name}.{suffix}"
            chart.save(path)
            written.append(path)
    path = folder / "citation.bib"
    write_text(path, citation())
    return [*written, path]
