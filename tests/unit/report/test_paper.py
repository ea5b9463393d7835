"""Files for a paper."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET

import pytest

from ietest_fast.errors import InputError
from ietest_fast.experiment.finished import read_runs
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import citation, find_left_over, write_for_paper


@pytest.mark.slow
def test_every_table_and_figure_is_written_in_every_format(tmp_path, first_run, second_run):
    contents = gather(RunsSource(runs=tuple(read_runs([first_run, second_run]))))
    paths = write_for_paper(contents, tmp_path / "new" / "paper")
    names = {path.relative_to(tmp_path / "new" / "paper").as_posix() for path in paths}
    for table in ("by-rho", "by-classifier", "snr", "comparison-1", "lengths", "hard-cases"):
        assert {f"tables/{table}.{suffix}" for suffix in ("csv", "md", "tex")} <= names
    # Of two tables with one name neither is lost.
    assert {"tables/flipping-substitutions.csv", "tables/flipping-substitutions-2.csv"} <= names
    for figure in ("accuracy-1", "accuracy-2", "t", "p-values", "delta-1", "snr", "bootstrap-2"):
        assert {f"figures/{figure}.{suffix}" for suffix in ("svg", "pdf", "png")} <= names
    assert "citation.bib" in names
    assert len(names) == len(paths)
    begin = {"pdf": b"%PDF", "png": b"\x89PNG"}
    for path in paths:
        data = path.read_bytes()
        assert data
        if path.suffix[1:] in begin:
            assert data.startswith(begin[path.suffix[1:]])
        if path.suffix == ".svg":
            ET.fromstring(data)
            assert b"var(" not in data
            assert b"#0e00" not in data
    with (tmp_path / "new" / "paper" / "tables" / "by-classifier.csv").open() as file:
        rows = list(csv.DictReader(file))
    runs = read_runs([first_run, second_run])
    cells = [cell for run in runs for cell in run.cells]
    assert [float(row["t"]) for row in rows] == [cell.t for cell in cells]
    assert [int(row["n10"]) for row in rows] == [cell.counts.n10 for cell in cells]
    # Again, over the same files: byte for byte the same.
    before = {path: path.read_bytes() for path in paths}
    write_for_paper(contents, tmp_path / "new" / "paper")
    assert {path: path.read_bytes() for path in paths} == before
    # What a smaller report does not write is still there, and told.
    written = write_for_paper(
        gather(RunsSource(runs=tuple(read_runs([first_run])))), tmp_path / "new" / "paper"
    )
    left = {path.name for path in find_left_over(tmp_path / "new" / "paper", written)}
    assert left == {path.name for path in set(paths) - set(written)}
    assert {"accuracy-2.svg", "comparison-1.csv"} < left


def test_a_file_is_no_folder(tmp_path, first_run):
    (tmp_path / "paper").touch()
    with pytest.raises(InputError, match="is a file"):
        write_for_paper(gather(RunsSource(runs=tuple(read_runs([first_run])))), tmp_path / "paper")


def test_the_citation_is_bibtex():
    text = citation()
    assert text.count("@") == 2
    assert text.count("{") == text.count("}")
    assert re.search(r"doi = \{10\.1017/S1351324923000268\}", text)
