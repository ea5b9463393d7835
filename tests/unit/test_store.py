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
    name = f"{'0' * 64}.parquet"
    unfinished = tmp_path / "cells" / f"{name}.1.unfinished"
    unfinished.touch()
    RunStore.open(tmp_path, SETTINGS).close()
    assert not unfinished.exists()
    with RunStore.open(tmp_path, SETTINGS):
        unfinished.touch()  # as a worker does that is stopped while it writes
    assert not unfinished.exists()
    (tmp_path / "cells" / name).write_bytes(b"PAR1 but no more")
    with pytest.raises(StoreError, match=r"0\.parquet: is damaged"):
        RunStore.open(tmp_path, SETTINGS)


def test_files_of_others_stay_whatever_they_are_called(tmp_path):
    """Only what a run itself leaves under temporary names is deleted, and only in its places."""
    RunStore.open(tmp_path, SETTINGS).close()
    theirs = [
        tmp_path / "thesis.unfinished",
        tmp_path / "thesis.12.unfinished",
        tmp_path / "cells" / "notes.12.unfinished",
        tmp_path / "deep" / "er" / f"{'0' * 64}.parquet.12.unfinished",
        tmp_path / "deep" / "cells" / f"{'0' * 64}.parquet.12.unfinished",
    ]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    ours = [
        tmp_path / "results.json.12.unfinished",
        tmp_path / "data" / f"{'a' * 16}.12.unfinished" / "train.parquet",
        tmp_path / "encoded" / f"{'a' * 16}.12.unfinished" / "train" / "labels.npy",
        tmp_path / "models" / "rho-0.25-m-1-voter-0.12.unfinished" / "model.pt",
        tmp_path / "unfinished" / f".{'0' * 64}-1.pt.{'b' * 16}.unfinished",
    ]
    for path in ours:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    with pytest.raises(StoreError, match="other settings"):
        RunStore.open(tmp_path, {**SETTINGS, "seed": 1})
    assert all(path.exists() for path in ours)  # who is refused deletes nothing
    RunStore.open(tmp_path, SETTINGS).close()
    assert [path for path in ours if path.exists()] == []
    assert all(path.read_text() == "x" for path in theirs)


def test_a_link_under_a_temporary_name_goes_and_what_it_leads_to_stays(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis").write_text("x")
    folder = tmp_path / "run"
    RunStore.open(folder, SETTINGS).close()
    (folder / "data").mkdir()
    (folder / "data" / f"{'a' * 16}.12.unfinished").symlink_to(theirs, target_is_directory=True)
    RunStore.open(folder, SETTINGS).close()
    assert list((folder / "data").iterdir()) == []
    assert (theirs / "thesis").read_text() == "x"


@pytest.mark.parametrize("name", ["results.json", "thesis.txt", "cells", "run.lock.txt"])
def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path, name):
    (tmp_path / name).write_text("theirs")
    with pytest.raises(StoreError, match="not a run's"):
        RunStore.open(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "theirs"


def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / store_module.DATABASE
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE marathons (year INTEGER)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no database of a run"):
        RunStore.open(tmp_path, SETTINGS)
    assert path.read_bytes() == before


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
