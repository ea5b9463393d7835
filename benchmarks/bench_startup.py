"""What it costs to ask for help: a process from its start to its end."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.conftest import Race

HELP = "from ietest_fast.cli.main import main; main(['--help'])"


def start(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.benchmark(group="`ietest-fast --help`")
def test_help(race: Race) -> None:
    race.ours("a process", lambda: start(HELP), at_most_seconds=0.2)


@pytest.mark.benchmark(group="`ietest-fast --help`")
def test_bare_interpreter(race: Race) -> None:
    race.peer("a bare interpreter", lambda: start("pass"))
