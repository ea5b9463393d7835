"""The line of the page on templates that makes a corpus and runs on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "templates.md"


@pytest.mark.slow
def test_a_corpus_of_templates_is_made_and_run_on_from_one_line(tmp_path: Path) -> None:
    (line,) = [
        each for each in PAGE.read_text().splitlines() if " templates " in each and "&&" in each
    ]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "train.parquet: 10,000 pairs" in done.stdout
    assert " of 1,000 texts that " in done.stdout
    # Where the demonstration has been run, its folder is not in the way.
    assert not (tmp_path / "ietest-run").exists()
