"""What a command does when nobody, or nothing, takes its output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "from ietest_fast.cli.main import main; main()"
COMMANDS = [["test", "--counts", "1,2,3,4"], ["describe", "--demo", "200"]]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_question_marks(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("text,label\na,\u00e4\nb,\u00e9\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "describe", str(path)],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"? 1 (50.0%), ? 1 (50.0%)" in done.stdout


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    # The shell is what closes a stream: "$0 $1" is the command.
    return subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, MAIN], capture_output=True, text=True, check=False
    )


def test_a_closed_standard_output_is_told() -> None:
    done = _shell('exec "$0" -c "$1" test --counts 1,2,3,4 >&-')
    assert done.returncode == 1
    assert done.stderr == (
        "Error: standard output is closed; redirect it to a file or to /dev/null\n"
    )


@pytest.mark.slow
def test_a_closed_standard_error_leaves_output_and_status_alone() -> None:
    done = _shell('exec "$0" -c "$1" test --counts 1,2,3,4 2>&-')
    assert done.returncode == 0
    assert "p" in done.stdout
    done = _shell('exec "$0" -c "$1" test absent.csv --original a --transformed b 2>&-')
    assert (done.returncode, done.stdout) in {(1, ""), (2, "")}


@pytest.mark.skipif(sys.platform != "linux", reason="file names of bytes")
def test_a_locale_without_unicode_is_told_what_to_set(tmp_path: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "describe", "caf\u00e9.csv".encode()],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert b"set PYTHONUTF8=1, or LC_ALL=C.UTF-8" in done.stderr


def test_the_package_is_the_command_too() -> None:
    command = [sys.executable, "-m", "ietest_fast", "describe", "nothing.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: nothing.csv: ")
