"""A run with ``eval_phi`` that is repeated, killed, damaged, or has more to answer than before."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from further_runs import OTHER, WORDS, read_files, run_further
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.tasks import Predicted
from toys import QUICK


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run_further(tmp_path_factory.mktemp("plain") / "out")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run_further(
        tmp_path_factory.mktemp("run") / "out", eval_phi=[OTHER, WORDS, "word-overlap"]
    )


@pytest.mark.slow
def test_running_again_trains_nothing_and_leaving_it_out_is_another_conclusion(plain, tmp_path):
    shutil.copytree(plain.folder, tmp_path / "run")
    with pytest.raises(InputError, match=r"eval_phi: the cell rho=0, m=0 of bow-xgb was finished"):
        run_further(tmp_path / "run", eval_phi=[OTHER])
    first = run_further(tmp_path / "new", eval_phi=[OTHER, "word-overlap"])
    before = (tmp_path / "new" / "results.json").read_bytes()
    started = _n_started(tmp_path / "new")
    fewer = run_further(tmp_path / "new", eval_phi=["word-overlap"])
    assert [each.evaluation for each in fewer.evaluations] == ["word-overlap"]
    assert fewer.evaluations[0].rhos[0].n_correct == first.evaluations[1].rhos[0].n_correct
    assert run_further(tmp_path / "new").to_dict() == plain.to_dict()
    run_further(tmp_path / "new", eval_phi=[OTHER, "word-overlap"])
    assert (tmp_path / "new" / "results.json").read_bytes() == before
    assert _n_started(tmp_path / "new") == started == 4


def _n_started(folder):
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        query = "SELECT count(*) FROM executions WHERE event = 'started' AND kind = 'cell'"
        return database.execute(query).fetchone()[0]


@pytest.mark.parametrize("voters", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_kept_classifiers_answer_what_is_added_later(tmp_path, voters):
    model = {"name": "toys:Restores", "params": QUICK, "n_voters": voters}
    whole = run_further(tmp_path / "whole", model=model, eval_phi=[OTHER, WORDS])
    run_further(tmp_path / "late", model=model, keep_models=True)
    first = run_further(tmp_path / "late", model=model, eval_phi=WORDS)
    assert [each.evaluation for each in first.evaluations] == ["negation:tautology=sleeps"]
    late = run_further(tmp_path / "late", model=model, eval_phi=[OTHER, WORDS])
    assert late.to_dict() == whole.to_dict()
    assert read_files(tmp_path / "late", "evaluations") == read_files(
        tmp_path / "whole", "evaluations"
    )
    assert _n_started(tmp_path / "late") == 4
    # What is gone is answered again, without training.
    lost = next((tmp_path / "late" / "evaluations").glob("*.parquet"))
    answers = lost.read_bytes()
    lost.unlink()
    run_further(tmp_path / "late", model=model, eval_phi=[OTHER, WORDS])
    assert (lost.read_bytes(), _n_started(tmp_path / "late")) == (answers, 4)
    # A classifier that is not there any more is noticed before any of the others answers.
    kept = sorted((tmp_path / "late" / "models").iterdir())
    assert len(kept) == 4 * voters
    shutil.rmtree(kept[-1])
    before = read_files(tmp_path / "late", "evaluations")
    with pytest.raises(InputError, match=r"rho=1, m=1, negation.*its classifier was not kept"):
        run_further(tmp_path / "late", model=model, eval_phi=[OTHER, WORDS, "word-overlap"])
    assert read_files(tmp_path / "late", "evaluations") == before


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "run"
    model = {"name": "toys:Restores", "params": QUICK}
    run_further(folder, model=model, keep_models=True)
    return folder


def _forget(folder):
    """Make it a folder of a version that recorded nothing of kept classifiers."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("DROP TABLE models")


@pytest.mark.parametrize("harm", ["swapped", "swapped folder", "cut", "lost a file", "new file"])
def test_a_classifier_that_is_not_as_it_was_kept_is_not_asked(kept, tmp_path, harm):
    shutil.copytree(kept, tmp_path / "run")
    own, other = (tmp_path / "run" / "models" / f"rho-{rho}-m-0" for rho in (0, 1))
    path = own / "classifier"
    if harm == "swapped":
        shutil.copy(other / "classifier", path)
    elif harm == "swapped folder":
        shutil.rmtree(own)
        shutil.copytree(other, own)
    elif harm == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif harm == "lost a file":
        path.unlink()
    else:
        (own / "adapter").touch()
    name = "adapter" if harm == "new file" else "classifier"
    said = rf"rho-0-m-0: is damaged \({name} is not as it was written\); put back what was"
    with pytest.raises(StoreError, match=said):
        run_further(
            tmp_path / "run", model={"name": "toys:Restores", "params": QUICK}, eval_phi=[WORDS]
        )


@pytest.mark.parametrize("change", [lambda folder: None, _forget])
def test_a_classifier_as_it_was_kept_or_without_checksums_is_asked(kept, tmp_path, change):
    shutil.copytree(kept, tmp_path / "run")
    change(tmp_path / "run")
    model = {"name": "toys:Restores", "params": QUICK}
    late = run_further(tmp_path / "run", model=model, eval_phi=[WORDS])
    assert [each.evaluation for each in late.evaluations] == ["negation:tautology=sleeps"]


@pytest.mark.parametrize("stage", ["before the cell", "before the row of the answers"])
def test_a_killed_run_goes_on_with_the_same_results(finished, tmp_path, stage):
    """What a kill leaves: answers without their cell, or without their row."""
    folder = tmp_path / "run"
    shutil.copytree(finished.folder, folder)
    (folder / "results.json").unlink()
    lost = finished.conditions[0].rhos[1].cells[0].identity
    answers = finished.evaluations[1].rhos[1].identities[0]
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        if stage == "before the cell":
            database.execute("DELETE FROM cells WHERE identity = ?", (lost,))
            (folder / "cells" / f"{lost}.parquet").unlink()
        database.execute("DELETE FROM evaluations WHERE identity = ?", (answers,))
        database.commit()
    started = _n_started(folder)
    again = run_further(folder, eval_phi=[OTHER, WORDS, "word-overlap"])
    assert again.to_dict() == finished.to_dict()
    assert read_files(folder, "evaluations") == read_files(finished.folder, "evaluations")
    assert _n_started(folder) - started == (stage == "before the cell")


_DYING = """
import os, signal, sys
from toys import QUICK, Swap, toy_splits
from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run
from ietest_fast.experiment.store import RunStore

folder, n_jobs, method, left = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
original = getattr(RunStore, method)

def do_or_die(self, *args, **more):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return original(self, *args, **more)

setattr(RunStore, method, do_or_die)
config = check_config({
    "data": {"demo": True}, "model": {"name": "toys:SlowModel", "params": QUICK},
    "phi": "negation", "eval_phi": ["word-overlap", "length-mismatch"],
    "rho": [0, 0.5, 1], "n_classifiers": 2, "n_jobs": n_jobs,
})
run(config, folder, splits=toy_splits())
"""


@pytest.mark.slow
def test_kill_9_loses_and_repeats_nothing(tmp_path):
    """Death before answers are written, before their row, and before the row of the cell."""

    def start(folder, method="add_cell", left=-1):
        arguments = [str(tmp_path / folder), "2", method, str(left)]
        command = [sys.executable, "-W", "error", "-c", _DYING, *arguments]
        tests = str(Path(__file__).parents[1])
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": tests}, capture_output=True, check=False
        )
        return done.returncode, done.stderr

    assert start("whole") == (0, b"")
    for method, left in (
        ("finish_evaluation", 1),
        ("_add_evaluation", 3),
        ("add_cell", 1),
        ("_add_evaluation", 0),
    ):
        assert start("killed", method, left)[0] == -signal.SIGKILL
        assert not (tmp_path / "killed" / "results.json").exists()
    assert start("killed") == (0, b"")
    for name in ("cells", "evaluations"):
        assert read_files(tmp_path / "killed", name) == read_files(tmp_path / "whole", name)
    written = [(tmp_path / name / "results.json").read_bytes() for name in ("killed", "whole")]
    assert written[0] == written[1]
    assert len(read_files(tmp_path / "killed", "evaluations")) == 12
    # What has its name is not done again: each cell is over once, after all its starts.
    with closing(sqlite3.connect(tmp_path / "killed" / "run.sqlite")) as database:
        events = database.execute("SELECT identity, event FROM executions ORDER BY id").fetchall()
    for cell in {identity for identity, _ in events}:
        own = [event for identity, event in events if identity == cell]
        assert own[-1] in {"finished", "adopted"}
        assert set(own[:-1]) == {"started"}


def test_damaged_answers_are_noticed(finished, tmp_path):
    shutil.copytree(finished.folder, tmp_path / "run")
    path = next((tmp_path / "run" / "evaluations").glob("*.parquet"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20] + b"x" + whole[-19:])
    with pytest.raises(StoreError, match=rf"{path.name}: .*; delete it and give"):
        run_further(tmp_path / "run", eval_phi=[OTHER, WORDS, "word-overlap"])
    # No classifier was kept that could answer again: its cell is trained anew.
    path.unlink()
    n_before = _n_started(tmp_path / "run")
    run_further(tmp_path / "run", eval_phi=[OTHER, WORDS, "word-overlap"])
    assert path.read_bytes() == whole
    assert _n_started(tmp_path / "run") == n_before + 1
    for name in ("cells", "evaluations"):
        assert read_files(tmp_path / "run", name) == read_files(finished.folder, name)
    written = [folder / "results.json" for folder in (tmp_path / "run", finished.folder)]
    assert written[0].read_bytes() == written[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("named_then", [WORDS, OTHER])
def test_voters_of_an_unfinished_cell_are_asked_again_for_what_they_have_not_answered(
    tmp_path, named_then
):
    """The first of two voters has answered WORDS when the second fails."""
    permit = tmp_path / "permit"
    model = {"name": "toys:Keeps", "params": QUICK | {"subsample": 0.5}, "n_voters": 2}
    settings = {"model": model | {"options": {"permit": str(permit)}}, "rho": [1]}
    with pytest.raises(RuntimeError, match="second training"):
        run_further(tmp_path / "run", **settings, n_classifiers=1, eval_phi=WORDS)
    (answers,) = (tmp_path / "run/unfinished").glob("*.npz")
    (kept,) = Predicted.from_bytes(answers.read_bytes()).further.values()
    assert kept.shape == (240, 3)
    permit.touch()
    late = run_further(tmp_path / "run", **settings, n_classifiers=1, eval_phi=named_then)
    whole = run_further(tmp_path / "whole", **settings, n_classifiers=1, eval_phi=named_then)
    assert late.to_dict() == whole.to_dict()
    assert read_files(tmp_path / "run", "evaluations") == read_files(
        tmp_path / "whole", "evaluations"
    )
