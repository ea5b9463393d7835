"""What the system may do to a command: one line each, and what was there stays as it was."""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from command_line import run_here
from ietest_fast.cli import main as command_line

CODE = "from ietest_fast.cli import start; start()"
ROWS = "".join(f"{'AB'[i // 5]} child drives car {i}.,It rains.,{i % 2}\n" for i in range(10))
ANSWERS = "".join(f"{i % 2},{i % 2},{i % 3 % 2}\n" for i in range(50))


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(f"premise,hypothesis,label\n{ROWS}")
    (tmp_path / "answers.csv").write_text(f"label,original,transformed\n{ANSWERS}")
    return tmp_path


def run(folder: Path, *arguments: str, **options: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE, *arguments],
        cwd=folder,
        check=False,
        text=True,
        **{"capture_output": True, **options},
    )
    return done.returncode, done.stdout or "", done.stderr or ""


def _fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let forcing a file to the disk fail, as it does on a full one."""

    def fail(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)


WRITERS = {
    "transform": (
        ["transform", "texts.csv", "out.csv", "--lexicon-from", "texts.csv", "--phi", "negation"],
        "out.csv",
    ),
    "templates": (["templates", "negation", "--n", "20,4,4", "--out", "out"], "out"),
    "difficulty": (
        [
            "difficulty",
            "texts.csv",
            "--out",
            "out.parquet",
            "--classifiers",
            "2",
            "--train-size",
            "5",
        ],
        "out.parquet",
    ),
    "run": (["run", "--demo", "--phi", "negation", "--out", "out"], "out"),
    "report": (["report", "counts.csv", "--out", "out.html"], "out.html"),
    "annotate": (
        ["annotate", "draw", "texts.csv", "out.json", "--phi", "negation", "-n", "1"],
        "out.json",
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_told_with_the_file(
    room: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "counts.csv").write_text("model,rho,n11,n10,n01,n00\na,0,50,5,4,41\n")
    arguments, target = WRITERS[name]
    _fill_the_disk(monkeypatch)
    status, out, err = run_here(*arguments, folder=room)
    assert (status, out) == (1, "")
    (line,) = [line for line in err.splitlines() if line.startswith("Error")]
    assert line.startswith(f"Error: {target}")
    assert "No space left on device" in line
    assert not (room / target).is_file()
    assert not list(room.rglob("*.unfinished"))


@pytest.mark.slow
def test_a_table_of_answers_is_told_with_its_file(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ``eval``, ``stress`` and ``consistency`` write it."""
    pytest.importorskip("onnx", reason="makes the model that is run")
    from tiny_models import LABELS, make_onnx_folder

    make_onnx_folder(room / "model")
    rows = "".join(f"A man sits {i}.,A dog sleeps.,{LABELS[i % 3]}\n" for i in range(12))
    (room / "texts.csv").write_text(f"premise,hypothesis,label\n{rows}")
    _fill_the_disk(monkeypatch)
    for command in (["eval"], ["stress"], ["consistency", "--phi", "negation"]):
        given = ["--onnx", "model", "--test", "texts.csv", "--out", "o.parquet"]
        status, out, err = run_here(*command, *given, folder=room)
        assert (status, out) == (1, "")
        lines = [line for line in err.splitlines() if line.startswith("Error")]
        assert lines == ["Error: o.parquet: No space left on device"]
        assert not list(room.glob("*o.parquet*"))


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_a_file_system_without_locks_is_told(
    room: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fail)
    status, out, err = run_here("run", "--demo", "--phi", "negation", "--out", "run", folder=room)
    assert (status, out) == (1, "")
    assert err.startswith("Error: run: its file system has no locks (")
    assert "choose a folder on a local disk" in err
    assert not list(room.glob("run/*"))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (OSError(errno.EROFS, os.strerror(errno.EROFS)), "Read-only file system"),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES)), "Permission denied"),
    ],
)
def test_a_folder_that_cannot_be_written_is_told(
    room: Path, kind: OSError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_open, is_made = os.open, os.mkdir

    def open_to_read(path: object, flags: int, *rest: object, **more: object) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise kind
        return is_open(path, flags, *rest, **more)

    def make(path: object, *rest: object, **more: object) -> None:
        if str(path).startswith(str(room)) or not str(path).startswith("/"):
            raise kind
        is_made(path, *rest, **more)

    monkeypatch.setattr(os, "open", open_to_read)
    monkeypatch.setattr(os, "mkdir", make)
    for arguments in (WRITERS["transform"][0], WRITERS["run"][0], WRITERS["annotate"][0]):
        status, out, err = run_here(*arguments, folder=room)
        assert (status, out) == (1, "")
        assert said in err.splitlines()[-1]


def test_a_folder_of_another_version_is_refused(room: Path) -> None:
    (room / "run").mkdir()
    (room / "run" / "run.lock").touch()
    with closing(sqlite3.connect(room / "run" / "run.sqlite")) as database, database:
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
        database.execute("INSERT INTO meta VALUES ('format', '99')")
    before = (room / "run" / "run.sqlite").read_bytes()
    status, out, err = run_here("run", "--demo", "--phi", "negation", "--out", "run", folder=room)
    assert (status, out) == (1, "")
    assert err == (
        "Error: run: was made by another version (format 99, this is 2); choose another folder\n"
    )
    (room / "run" / "results.json").write_text(json.dumps({"format": 99}))
    status, out, err = run_here("report", "run", folder=room)
    assert (status, out) == (1, "")
    assert "is of format 99, this version reads" in err
    assert (room / "run" / "run.sqlite").read_bytes()[:16] == before[:16]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full_is_told(room: Path) -> None:
    arguments = ["eval", "answers.csv"]
    with Path("/dev/full").open("w") as full:
        status, _, err = run(room, *arguments, capture_output=False, stdout=full, stderr=-1)
        assert (status, err) == (1, "Error: standard output: No space left on device\n")
        status, out, _ = run(room, "eval", "absent", capture_output=False, stdout=-1, stderr=full)
        assert (status, out) == (1, "")


def test_the_clock_may_go_back(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["transform", "--lexicon-from", "texts.csv", "--phi", "negation", "texts.csv"]
    assert run_here(*arguments, "first.csv", folder=room)[0] == 0
    moments = itertools.count(10**9, -3600)
    monkeypatch.setattr(time, "time", lambda: float(next(moments)))
    monkeypatch.setattr(time, "time_ns", lambda: next(moments) * 10**9)
    os.utime(room / "texts.csv", (2**32, 2**32))  # made in the future
    assert run_here(*arguments, "second.csv", folder=room)[0] == 0
    assert (room / "second.csv").read_bytes() == (room / "first.csv").read_bytes()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("x"), "KeyError: 'x'"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (AssertionError(), "AssertionError"),
        (ZeroDivisionError("a\nb"), "ZeroDivisionError: a b"),
    ],
)
def test_what_nobody_has_foreseen_is_one_line(
    room: Path, error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> None:
        raise error

    monkeypatch.setattr("ietest_fast.answers.readers.base.check_readable", fail)
    with pytest.raises(type(error)):  # tests see it as it was raised
        run_here("eval", "answers.csv", folder=room)
    monkeypatch.delenv(command_line.TRACEBACK)
    status, out, err = run_here("eval", "answers.csv", folder=room)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: answers.csv: {said}")
    assert err.endswith("please report it with what IETEST_TRACEBACK=1 shows)\n")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_packages_are_imported_is_quiet(room: Path, number: int) -> None:
    """A module that stands before click on the path sends the signal."""
    (room / "click.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    path = os.pathsep.join([str(room), os.environ.get("PYTHONPATH", "")])
    status, out, err = run(room, "--version", env={**os.environ, "PYTHONPATH": path})
    expected = (130, "Interrupted.\n") if number == signal.SIGINT else (-signal.SIGTERM, "")
    assert (status, err) == expected
    assert out == ""


def test_a_module_that_is_not_found_says_where_it_is_looked_for(room: Path) -> None:
    (room / "mine.py").write_text("x = 1\n")
    status, _, err = run(room, "eval", "answers.csv", "--reader", "mine:x", env=_without_folder())
    assert status == 1
    assert "No module named 'mine'" in err
    assert "set PYTHONPATH=." in err


def _without_folder() -> dict[str, str]:
    return {**os.environ, "PYTHONSAFEPATH": "1"}
