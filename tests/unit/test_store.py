"""The store's contract: locks, settings, repair."""

from __future__ import annotations

import fcntl
import sqlite3
import subprocess
import sys

import pytest

from ietest_fast.errors import StoreError
from ietest_fast.experiment import store as store_module
from ietest_fast.experiment.search import Trial
from ietest_fast.experiment.store import CellRecord, RunStore

SETTINGS = {"rho": [0, 1], "data": {"train": "ab"}}


def _record(identity="c1", **fields):
    return CellRecord(
        **{
            "identity": identity,
            "model": "m",
            "rho": 0.5,
            "m": 0,
            "artefact": f"{identity}.parquet",
            "sha256": "00",
            "metrics": {"valid_accuracy": 0.1},
            "seconds": 1.0,
            **fields,
        }
    )


def test_what_is_finished_is_there_again(tmp_path):
    trial = Trial(number=1, params={"depth": 3, "rate": 0.1}, valid_accuracy=1 / 3)
    with RunStore.open(tmp_path / "new" / "run", SETTINGS) as store:
        store.finish_trial("t1", trial, 0.5)
        store.finish_cell(_record())
    with RunStore.open(tmp_path / "new" / "run", SETTINGS) as store:
        assert store.trials() == {"t1": trial}
        assert store.cells() == {"c1": _record()}
        assert store.executions() == [
            ("trial", "t1", "finished", None),
            ("cell", "c1", "finished", None),
        ]


def test_a_cell_cannot_be_finished_twice(tmp_path):
    with RunStore.open(tmp_path, SETTINGS) as store:
        store.finish_cell(_record())
        with pytest.raises(sqlite3.IntegrityError):
            store.finish_cell(_record())
        assert len(store.executions()) == 1


def test_a_second_run_is_kept_out(tmp_path):
    with RunStore.open(tmp_path, SETTINGS), pytest.raises(StoreError, match="another run holds"):
        RunStore.open(tmp_path, SETTINGS)
    RunStore.open(tmp_path, SETTINGS).close()


def test_the_lock_of_another_process_counts_and_ends_with_it(tmp_path):
    code = (
        "import sys; from pathlib import Path; from ietest_fast.experiment.store import RunStore\n"
        f"store = RunStore.open(Path(sys.argv[1]), {SETTINGS!r})\n"
        "print('open', flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match=f"process {other.pid}"):
            RunStore.open(tmp_path, SETTINGS)
    finally:
        other.kill()
        other.communicate()
    RunStore.open(tmp_path, SETTINGS).close()


def test_other_settings_are_refused_and_named(tmp_path):
    RunStore.open(tmp_path, SETTINGS).close()
    with pytest.raises(StoreError, match=r"these differ: data\.train, seed"):
        RunStore.open(tmp_path, {**SETTINGS, "data": {"train": "cd"}, "seed": 1})
    RunStore.open(tmp_path, SETTINGS).close()


def test_a_folder_of_another_format_is_refused(tmp_path):
    RunStore.open(tmp_path, SETTINGS).close()
    database = sqlite3.connect(tmp_path / store_module.DATABASE)
    database.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="format 99"):
        RunStore.open(tmp_path, SETTINGS)


def test_a_damaged_database_is_named(tmp_path):
    (tmp_path / store_module.DATABASE).write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match=r"run\.sqlite: cannot be used"):
        RunStore.open(tmp_path, SETTINGS)


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        RunStore.open(tmp_path / "file", SETTINGS)


def test_unfinished_files_go_and_damaged_artefacts_are_named(tmp_path):
    RunStore.open(tmp_path, SETTINGS).close()
    unfinished = tmp_path / "cells" / "x.parquet.1.unfinished"
    unfinished.touch()
    RunStore.open(tmp_path, SETTINGS).close()
    assert not unfinished.exists()
    with RunStore.open(tmp_path, SETTINGS):
        unfinished.touch()  # as a worker does that is stopped while it writes
    assert not unfinished.exists()
    (tmp_path / "cells" / "x.parquet").write_bytes(b"PAR1 but no more")
    with pytest.raises(StoreError, match=r"x\.parquet: is damaged"):
        RunStore.open(tmp_path, SETTINGS)


def test_workers_of_a_killed_run_are_waited_for(tmp_path, monkeypatch):
    RunStore.open(tmp_path, SETTINGS).close()
    monkeypatch.setattr(store_module, "_WORKERS_PATIENCE_SECONDS", 0.2)
    with (tmp_path / store_module.WORKERS_LOCK).open("ab") as worker:
        fcntl.flock(worker, fcntl.LOCK_SH)
        with pytest.raises(StoreError, match="still alive"):
            RunStore.open(tmp_path, SETTINGS)
    RunStore.open(tmp_path, SETTINGS).close()


def test_a_missing_artefact_is_named(tmp_path):
    with RunStore.open(tmp_path, SETTINGS) as store:
        store.finish_cell(_record())
        with pytest.raises(StoreError, match=r"c1\.parquet.*is\s+gone"):
            store.cell_path(store.cells()["c1"])


def test_a_database_that_cannot_be_written_is_named(tmp_path):
    with RunStore.open(tmp_path, SETTINGS) as store:
        store._database.execute("PRAGMA max_page_count = 1")

        def fill_up():
            for number in range(1000):
                store.log("cell", f"c{number}", "started", "x" * 1000)

        with pytest.raises(StoreError, match=r"run\.sqlite: cannot be written"):
            fill_up()
