"""The command line, run in this process: no interpreter is started, nothing is imported twice."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from ietest_fast.cli.main import main


def run_here(*arguments: object, folder: Path) -> tuple[int, str, str]:
    """Run a command in a folder; return its exit status and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main([str(each) for each in arguments])
    return int(stop.value.code or 0), out.getvalue(), without_progress(err.getvalue())


def without_progress(err: str) -> str:
    """Leave out how far a command is, which it says where a machine is slow."""
    return re.sub(r"^\w[\w ,]*: [\d,]+ of [\d,]+\b.*\n", "", err, flags=re.MULTILINE)
