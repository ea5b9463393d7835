"""What a command does when nobody, or nothing, takes its output."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

MAIN = "from ietest_fast.cli.main import main; main()"
COMMANDS = [["test", "--counts", "1,2,3,4"], ["describe", "--demo", "200"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_closed_pipe_is_no_error(command: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *command], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_full_disk_is_an_error_without_a_traceback(command: list[str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *command], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: ")
    assert b"Traceback" not in done.stderr


def test_a_terminal_without_unicode_gets_question_marks() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "test", "--counts", "0,0,9,0"],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0
    assert b"??" in done.stdout  # minus infinity
