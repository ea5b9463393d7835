"""kill -9 at random moments: nothing finished is lost, nothing is done twice."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ietest_fast.experiment.cells import read_cell_artefact
from ietest_fast.experiment.identity import training_seed
from toys import CELLS, FIT_LOG, HELD
from waiting import wait_until

TESTS = Path(__file__).parents[1]

SCRIPT = """
import os, signal, sys
from toys import QUICK, Swap, toy_splits
from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run
from ietest_fast.experiment.store import RunStore

folder, n_jobs, rows_before_death = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
add_cell = RunStore.add_cell

def finish_or_die(self, cell, *, event="finished"):
    # The artefact has its name by now; the row that names it has not been written.
    global rows_before_death
    if event == "finished":
        if rows_before_death == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        rows_before_death -= 1
    add_cell(self, cell, event=event)

RunStore.add_cell = finish_or_die
config = check_config({
    "data": {"demo": True}, "model": {"name": "toys:SlowModel", "search": 3},
    "rho": "0:1:0.25", "n_classifiers": 4, "n_jobs": n_jobs,
})
run(config, folder, splits=toy_splits(), transformation=Swap())
"""

N_TRIALS, N_CELLS = 3, 20


def _log(folder):
    return folder.with_name(f"{folder.name}.fits")


def _fits(folder):
    """What the model was asked for: the seed, and the cells that were finished by then."""
    log = _log(folder)
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def _start(folder, n_jobs, *, rows_before_death=-1, held=False):
    arguments = map(str, (folder, n_jobs, rows_before_death))
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(TESTS),
            FIT_LOG: str(_log(folder)),
            CELLS: str(folder / "cells"),
            **({HELD: "yes"} if held else {}),
        },
        stderr=subprocess.PIPE,
        text=True,
    )


def _finish(folder, n_jobs):
    process = _start(folder, n_jobs)
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def _executions(folder):
    database = sqlite3.connect(folder / "run.sqlite")
    try:
        return database.execute(
            "SELECT kind, identity, event, at FROM executions ORDER BY id"
        ).fetchall()
    finally:
        database.close()


def _finished_cells(folder):
    return {path.stem for path in folder.glob("cells/*.parquet")}


class Kills:
    """Kills a run and remembers what was finished at each death."""

    def __init__(self, folder):
        self.folder = folder
        self.deaths = []  # moment, finished cells
        self.n_in_work = 0

    def _remember(self, process, n_fits):
        process.communicate()
        died = process.returncode == -signal.SIGKILL
        self.n_in_work += died and len(_fits(self.folder)) > n_fits
        self.deaths.append((time.time(), _finished_cells(self.folder)))
        return died

    def kill_after(self, seconds, *, n_jobs, once_in_work=False):
        """Kill a run at a moment, counted from its start or from its first training."""
        n_fits = len(_fits(self.folder))
        process = _start(self.folder, n_jobs)
        while once_in_work and process.poll() is None and len(_fits(self.folder)) == n_fits:
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        self._remember(process, n_fits)

    def die_before_row(self, number, *, n_jobs):
        """Let a run die between a cell's artefact and its row, which are a moment apart."""
        n_fits = len(_fits(self.folder))
        process = _start(self.folder, n_jobs, rows_before_death=number)
        assert self._remember(process, n_fits)


def _check(kills, undisturbed):
    folder = kills.folder
    assert (folder / "results.json").read_bytes() == (undisturbed / "results.json").read_bytes()
    assert len(_finished_cells(folder)) == len(list((folder / "cells").iterdir())) == N_CELLS
    assert not list(folder.rglob("*.unfinished"))
    _check_nothing_is_done_twice(folder)
    # What was finished when a run died is not even given out again.
    begun = [(i, at) for kind, i, event, at in _executions(folder) if event == "started"]
    for moment, finished in kills.deaths:
        assert not [i for i, at in begun if i in finished and at > moment]


def _check_nothing_is_done_twice(folder):
    cell_of = {}
    for path in folder.glob("cells/*.parquet"):
        cell = read_cell_artefact(path)
        cell_of[training_seed(0, rho=cell.rho, m=cell.m)] = cell.identity
    assert len(cell_of) == N_CELLS
    fits = _fits(folder)
    assert set(cell_of) < {fit["seed"] for fit in fits}
    # A training that a kill cut short is repeated; one whose artefact has its name is not.
    assert not [fit for fit in fits if cell_of.get(fit["seed"]) in fit["finished"]]
    events = _executions(folder)
    for kind, n in (("trial", N_TRIALS), ("cell", N_CELLS)):
        over = {}
        for place, (k, identity, event, _) in enumerate(events):
            if k == kind and event in {"finished", "adopted"}:
                over[identity] = place
        assert len(over) == n
        for place, (_, identity, event, _) in enumerate(events):
            assert event != "started" or place < over.get(identity, len(events))


@pytest.mark.slow
def test_death_between_artefact_and_row_loses_and_repeats_nothing(tmp_path):
    _finish(tmp_path / "whole", 1)
    kills = Kills(tmp_path / "killed")
    for number in (0, 3):
        kills.die_before_row(number, n_jobs=2)
    _finish(kills.folder, 2)
    assert kills.n_in_work == 2
    _check(kills, tmp_path / "whole")
    adopted = {i for _, i, event, _ in _executions(kills.folder) if event == "adopted"}
    assert len(adopted) >= 2
    assert adopted <= kills.deaths[-1][1]


@pytest.mark.slow
def test_ten_kills_change_nothing(tmp_path):
    _finish(tmp_path / "whole", 1)
    for seed, n_jobs in ((1, 1), (2, 2)):
        kills = Kills(tmp_path / f"killed{seed}")
        moments = random.Random(seed)
        # Some while the run begins, some while it works.
        for number in range(5):
            if number % 2:
                kills.kill_after(moments.uniform(0.1, 2.6), n_jobs=n_jobs)
            else:
                kills.kill_after(moments.uniform(0, 0.4), n_jobs=n_jobs, once_in_work=True)
        _finish(kills.folder, n_jobs)
        assert kills.n_in_work >= 1  # a test that kills nothing tests nothing
        _check(kills, tmp_path / "whole")


@pytest.mark.slow
def test_ctrl_c_ends_the_run_and_its_workers(tmp_path):
    folder = tmp_path / "run"
    process = _start(folder, 2, held=True)  # it cannot end before it is interrupted
    wait_until(lambda: list(folder.glob("cells/*.parquet")), process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    _finish(folder, 2)
    _check_nothing_is_done_twice(folder)


# Commands that write, and what they write.
_MODEL = "--onnx model --test texts.csv --out o.parquet"
_PARAMS = (
    "--param n_estimators=5 --param max_depth=3 --param reg_alpha=0.05 --param gamma=0.05 "
    "--param learning_rate=0.5 --param subsample=1.0 --param colsample_bytree=1.0"
)
WRITERS = {
    "eval": (f"eval {_MODEL} --phi negation", "o.parquet"),
    "stress": (f"stress {_MODEL}", "o.parquet"),
    "consistency": (f"consistency {_MODEL} --phi swap --phi negation", "o.parquet"),
    "transform": (
        "transform texts.csv o.csv --lexicon-from texts.csv --edits e.parquet",
        "o.csv e.parquet",
    ),
    "templates": ("templates negation --n 2000,200,200 --out o", "o/[!.]*"),
    "run": (
        f"run --demo --phi negation --rho 0,1 -M 2 --n-jobs 1 --out o {_PARAMS}",
        "o/results.json o/cells/*.parquet",
    ),
    "import": ("annotate import sample.json list.csv --person ann", "sample.json.ann.marks.jsonl"),
}
N_KILLS = int(os.environ.get("IETEST_KILLS", "14"))
SEED = int(os.environ.get("IETEST_KILLS_SEED", "0"))


def _command(folder, arguments):
    main = "from ietest_fast.cli.main import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", main, *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _complete(folder, arguments):
    process = _command(folder, arguments)
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def _written(folder, patterns):
    files = [path for pattern in patterns.split() for path in folder.glob(pattern)]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """What the commands read."""
    pytest.importorskip("onnx", reason="makes the model that is run")
    from command_line import run_here
    from tiny_models import LABELS, make_onnx_folder

    folder = tmp_path_factory.mktemp("given")
    make_onnx_folder(folder / "model")
    rows = [f"A man sits {i}.,A dog sleeps on a sofa.,{LABELS[i % 3]}" for i in range(300)]
    (folder / "texts.csv").write_text("\n".join(["premise,hypothesis,label", *rows]) + "\n")
    draw = ["annotate", "draw", "texts.csv", "sample.json", "--phi", "negation", "-n", "100"]
    for arguments in (draw, ["annotate", "export", "sample.json", "list.csv"]):
        status, _, err = run_here(*arguments, folder=folder)
        assert status == 0, err
    with (folder / "list.csv").open(newline="") as file:
        marked = [{**row, "sound": "yes"} for row in csv.DictReader(file)]
    with (folder / "list.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(marked[0]))
        writer.writeheader()
        writer.writerows(marked)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_command_killed_at_random_writes_what_an_unbroken_one_does(tmp_path, given, name):
    """IETEST_KILLS and IETEST_KILLS_SEED tell how many kills of all commands, and which."""
    line, patterns = WRITERS[name]
    arguments = line.split()
    whole = tmp_path / "whole"
    shutil.copytree(given, whole)
    begun = time.monotonic()
    _complete(whole, arguments)
    seconds = time.monotonic() - begun
    expected = _written(whole, patterns)
    assert expected
    moments = random.Random(f"{SEED} {name}")
    for number in range(-(-N_KILLS // len(WRITERS))):
        folder = tmp_path / f"killed{number}"
        shutil.copytree(given, folder)
        process = _command(folder, arguments)
        time.sleep(moments.uniform(0, seconds))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = _written(folder, patterns)
        assert left.items() <= expected.items()  # whole, or not there
        if left != expected:
            _complete(folder, arguments)
        assert _written(folder, patterns) == expected
        shutil.rmtree(folder)
