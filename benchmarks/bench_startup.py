"""What it costs to ask for help: a process from its start to its end."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.conftest import Race

HELP = "from ietest_fast.cli.main import main; main(['--help'])"


def start(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def median_seconds(code: str, rounds: int) -> float:
    def seconds() -> float:
        began = time.perf_counter()
        start(code)
        return time.perf_counter() - began

    return statistics.median(seconds() for _ in range(rounds))


@pytest.mark.benchmark(group="`ietest-fast --help`")
def test_help(race: Race) -> None:
    bare = median_seconds("pass", race.scale(11, 1))
    race.ours("a process", lambda: start(HELP), at_most_seconds=bare + 0.150)


@pytest.mark.benchmark(group="`ietest-fast --help`")
def test_bare_interpreter(race: Race) -> None:
    race.peer("a bare interpreter", lambda: start("pass"))
