"""A source of reports that another package adds: the one that CONTRIBUTING.md shows."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from ietest_fast.analyses import SOURCES, find_source
from ietest_fast.cli.main import main

GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"


@pytest.fixture
def seconds(tmp_path, monkeypatch):
    """The package of the guide, installed on the path; a file that it reads."""
    source = re.search(r"<!-- source -->\n```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    site = tmp_path / "site"
    (site / "their_seconds-1.0.dist-info").mkdir(parents=True)
    (site / "their_seconds.py").write_text(source[1])
    info = site / "their_seconds-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-seconds\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[ietest_fast.sources]\nseconds = their_seconds:SecondsSource\n"
    )
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    path = tmp_path / "models.seconds.json"
    path.write_text(json.dumps({"bert": 3.25, "<b>small</b>": 0.5}))
    return path


def test_a_source_of_another_package_has_its_page(tmp_path, seconds, capsys):
    assert SOURCES.names()[-1] == "seconds"
    assert find_source(seconds) == "seconds"
    page, paper = tmp_path / "page.html", tmp_path / "paper"
    with pytest.raises(SystemExit) as stop:
        main(["report", str(seconds), "--out", str(page), "--paper", str(paper)])
    assert not stop.value.code
    assert "1 file of seconds" in capsys.readouterr().out
    text = page.read_text()
    assert "<title>Seconds</title>" in text
    assert "bert is the slowest." in text
    assert "How long each model took." in text
    assert "<b>small</b>" not in text
    assert "3.25" in (paper / "tables" / "seconds.csv").read_text()


def test_built_in_sources_keep_their_order():
    assert SOURCES.names()[:4] == ("stress", "logic", "consistency", "evaluations")
