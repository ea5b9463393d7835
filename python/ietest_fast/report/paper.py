"""Tables and figures of a report as files for a paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import ietest_fast
from ietest_fast.atomic import write_text
from ietest_fast.errors import InputError
from ietest_fast.report.tables import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.report.contents import Contents

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
