"""How workers end."""

from __future__ import annotations

import queue
from types import SimpleNamespace

import pytest

from ietest_fast.errors import WorkerError
from ietest_fast.experiment import check_config, executors
from ietest_fast.experiment.executors import ProcessExecutor, _Worker
from ietest_fast.experiment.run import run
from ietest_fast.experiment.tasks import ModelContext, TrialTask, WorkContext
from toys import LABELS, QUICK, Swap, toy_splits

RESUMING = ModelContext(name="toys:Resumes", options={}, encoded="", resumes=True)


def _context(model=RESUMING):
    return WorkContext(models={"m": model}, seed=0, n_threads=1, label_names=LABELS)


def _run(folder, name, n_jobs):
    config = {
        "data": {"demo": True},
        "model": {"name": name, "params": QUICK},
        "rho": [0],
        "n_classifiers": 1,
        "n_jobs": n_jobs,
    }
    return run(check_config(config), folder, splits=toy_splits(), transformation=Swap())


@pytest.mark.slow
def test_a_training_that_failed_has_nothing_to_save(tmp_path, monkeypatch):
    interrupted = []
    monkeypatch.setattr(_Worker, "interrupt", interrupted.append)
    with pytest.raises(WorkerError, match="no model today"):
        _run(tmp_path, "toys:FailsToResume", 2)
    assert interrupted == []


@pytest.mark.slow
def test_a_worker_without_a_task_ends_when_it_is_asked_to(tmp_path):
    _run(tmp_path, "toys:Resumes", 1)
    (encoded,) = (tmp_path / "encoded").iterdir()
    answers = queue.Queue()
    own = ModelContext(name="toys:Resumes", options={}, encoded=str(encoded), resumes=True)
    worker = _Worker(_context(own), answers)
    try:
        worker.give(TrialTask(identity="t", model="m", params=QUICK, number=0), 1, {})
        _, (header, _) = answers.get()
        assert "valid_accuracy" in header["values"]
        worker.interrupt()
        assert worker.describe_death() == "ended with status 0"
    finally:
        worker.stop()


def test_all_workers_together_have_the_time_to_save_that_one_has(monkeypatch):
    now, given = [100.0], []

    class Stuck:
        task = "a training"

        def interrupt(self):
            pass

        def stop(self, *, patience):
            given.append(patience)
            now[0] += patience

    monkeypatch.setattr(executors, "time", SimpleNamespace(monotonic=lambda: now[0]))
    executor = ProcessExecutor(_context(), n_jobs=3)
    executor._workers = [Stuck(), Stuck(), Stuck()]
    executor.close()
    assert given == [20.0, 0.0, 0.0]
