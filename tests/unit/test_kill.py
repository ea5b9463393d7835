"""kill -9 at random moments: nothing finished is lost, nothing is done twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

SCRIPT = """
import sys
from toys import QUICK, Swap, toy_splits
from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run

config = check_config({
    "data": {"demo": True}, "model": {"name": "toys:SlowModel", "search": 3},
    "rho": "0:1:0.25", "n_resamples": 4, "n_jobs": int(sys.argv[2]),
})
run(config, sys.argv[1], splits=toy_splits(), transformation=Swap())
"""


def _start(folder, n_jobs):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(folder), str(n_jobs)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(folder, n_jobs):
    process = _start(folder, n_jobs)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def _executions(folder):
    database = sqlite3.connect(folder / "run.sqlite")
    try:
        return database.execute("SELECT kind, identity, event FROM executions").fetchall()
    finally:
        database.close()


def _kill_and_continue(folder, *, n_kills, n_jobs, seed):
    """Kill a run `n_kills` times at random moments, then let it end; give the kills in mid-run."""
    moments = random.Random(seed)
    n_in_work = 0
    for _ in range(n_kills):
        process = _start(folder, n_jobs)
        time.sleep(moments.uniform(0.1, 2.6))
        n_in_work += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
    _finish(folder, n_jobs)
    return n_in_work


def _check(folder, undisturbed):
    assert (folder / "results.json").read_bytes() == (undisturbed / "results.json").read_bytes()
    events = _executions(folder)
    for kind, n in (("trial", 3), ("cell", 20)):
        done = Counter(
            i for k, i, event in events if k == kind and event in {"finished", "adopted"}
        )
        assert len(done) == n
        assert set(done.values()) == {1}
    assert len(list((folder / "cells").iterdir())) == 20
    assert not list(folder.rglob("*.unfinished"))


def test_three_kills_change_nothing(tmp_path):
    _finish(tmp_path / "whole", 1)
    _kill_and_continue(tmp_path / "killed", n_kills=3, n_jobs=1, seed=0)
    _check(tmp_path / "killed", tmp_path / "whole")


@pytest.mark.slow
def test_twenty_kills_change_nothing(tmp_path):
    _finish(tmp_path / "whole", 1)
    n_in_work = 0
    for seed, n_jobs in ((1, 1), (2, 2), (3, 2), (4, 2)):
        folder = tmp_path / f"killed{seed}"
        n_in_work += _kill_and_continue(folder, n_kills=5, n_jobs=n_jobs, seed=seed)
        _check(folder, tmp_path / "whole")
    assert n_in_work >= 10  # a test that kills nothing tests nothing


def test_ctrl_c_ends_the_run_and_its_workers(tmp_path):
    process = _start(tmp_path, 2)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("cells/*.parquet")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    _finish(tmp_path, 2)
    done = Counter(
        i for k, i, e in _executions(tmp_path) if k == "cell" and e in {"finished", "adopted"}
    )
    assert len(done) == 20
    assert set(done.values()) == {1}
