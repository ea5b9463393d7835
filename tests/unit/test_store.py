"""The store's contract: locks, settings, repair."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from ietest_fast.errors import StoreError
from ietest_fast.experiment import cells as claim
from ietest_fast.experiment.cells import CellRecord, make_predictions, match, write_cell
from ietest_fast.experiment.search import Trial
from ietest_fast.experiment.store import RunStore

SETTINGS = {"rho": [0, 1], "data": {"train": "ab"}}


METRICS = {"valid_accuracy": 0.1, "train_transformed": 3, "valid_transformed": 1}


def _open(folder, settings=SETTINGS):
    store = RunStore.open(folder, settings)
    try:
        store.bind()
    except StoreError:
        store.close()
        raise
    return store


def _artefact(identity="c1"):
    labels = np.array([0, 1, 2], np.int8)
    which = {"model": "m", "rho": 0.5, "m": 0}
    predictions = make_predictions(
        labels,
        {"original": labels, "swap": labels},
        {"swap": labels > 0},
        label_names=("a", "b", "c"),
        **which,
    )
    described = {"identity": identity, "phi": "swap", "metrics": METRICS, **which}
    return write_cell(predictions, described)


def _record(identity="c1", **fields):
    return CellRecord(
        **{
            "identity": identity,
            "model": "m",
            "phi": "swap",
            "rho": 0.5,
            "m": 0,
            "artefact": f"{identity}.parquet",
            "sha256": "00",
            "metrics": METRICS,
            "seconds": 1.0,
            **fields,
        }
    )


def test_what_is_finished_is_there_again(tmp_path):
    trial = Trial(number=1, params={"depth": 3, "rate": 0.1}, valid_accuracy=1 / 3)
    with _open(tmp_path / "new" / "run") as store:
        store.finish_trial("t1", trial, 0.5)
        store.finish_cell(_artefact(), seconds=1.0)
        finished = store.cells()
    with _open(tmp_path / "new" / "run") as store:
        assert store.trials() == {"t1": trial}
        assert store.cells() == finished == {"c1": _record(sha256=finished["c1"].sha256)}
        assert store.executions() == [
            ("trial", "t1", "finished", None),
            ("cell", "c1", "finished", None),
        ]


def test_a_cell_cannot_be_finished_twice(tmp_path):
    with _open(tmp_path) as store:
        store.add_cell(_record())
        with pytest.raises(StoreError, match=r"run\.sqlite: is damaged \(UNIQUE constraint"):
            store.add_cell(_record())
        assert len(store.executions()) == 1


def test_a_second_run_is_kept_out(tmp_path):
    with _open(tmp_path), pytest.raises(StoreError, match="another run holds"):
        RunStore.open(tmp_path, SETTINGS)
    _open(tmp_path).close()


@pytest.mark.slow
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
    _open(tmp_path).close()


def test_other_settings_are_refused_and_named(tmp_path):
    _open(tmp_path).close()
    with pytest.raises(StoreError, match=r"these differ: data\.train, seed"):
        RunStore.open(tmp_path, {**SETTINGS, "data": {"train": "cd"}, "seed": 1})
    _open(tmp_path).close()


def test_a_folder_of_another_format_is_refused(tmp_path):
    _open(tmp_path).close()
    database = sqlite3.connect(tmp_path / claim.DATABASE)
    database.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="format 99"):
        RunStore.open(tmp_path, SETTINGS)


def test_a_damaged_database_is_named(tmp_path):
    (tmp_path / claim.DATABASE).write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match=r"run\.sqlite: cannot be used"):
        RunStore.open(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == [claim.DATABASE]


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        RunStore.open(tmp_path / "file", SETTINGS)


def test_unfinished_files_go_and_damaged_artefacts_are_named(tmp_path):
    _open(tmp_path).close()
    name = f"{'0' * 64}.parquet"
    unfinished = tmp_path / "cells" / f"{name}.1.unfinished"
    unfinished.touch()
    _open(tmp_path).close()
    assert not unfinished.exists()
    with _open(tmp_path):
        unfinished.touch()  # as a worker does that is stopped while it writes
    assert not unfinished.exists()
    (tmp_path / "cells" / name).write_bytes(b"PAR1 but no more")
    with pytest.raises(StoreError, match=r"0\.parquet: is damaged"):
        _open(tmp_path)


def test_files_of_others_stay_whatever_they_are_called(tmp_path):
    """Only what a run itself leaves under temporary names is deleted, and only in its places."""
    _open(tmp_path).close()
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
    _open(tmp_path).close()
    assert [path for path in ours if path.exists()] == []
    assert all(path.read_text() == "x" for path in theirs)


def test_a_link_under_a_temporary_name_goes_and_what_it_leads_to_stays(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "thesis").write_text("x")
    folder = tmp_path / "run"
    _open(folder).close()
    (folder / "data").mkdir()
    (folder / "data" / f"{'a' * 16}.12.unfinished").symlink_to(theirs, target_is_directory=True)
    _open(folder).close()
    assert list((folder / "data").iterdir()) == []
    assert (theirs / "thesis").read_text() == "x"


@pytest.mark.parametrize("name", ["results.json", "thesis.txt", "cells", "run.lock.txt"])
def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path, name):
    (tmp_path / name).write_text("theirs")
    with pytest.raises(StoreError, match="not a run's"):
        RunStore.open(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "theirs"


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path, mode):
    path = tmp_path / claim.DATABASE
    with sqlite3.connect(path) as theirs:
        theirs.execute(f"PRAGMA journal_mode={mode}")
        theirs.execute("CREATE TABLE marathons (year INTEGER)")
    theirs.close()
    before = path.read_bytes()
    # A run's lock may be there of an earlier attempt.
    for found in ([path], [path.with_name(claim.RUN_LOCK), path]):
        with pytest.raises(StoreError, match="no database of a run"):
            RunStore.open(tmp_path, SETTINGS)
        assert sorted(tmp_path.iterdir()) == found
        assert path.read_bytes() == before
        path.with_name(claim.RUN_LOCK).touch()


def test_a_missing_artefact_is_named_and_its_cell_is_not_finished(tmp_path):
    with _open(tmp_path) as store:
        store.add_cell(_record())
        with pytest.raises(StoreError, match=r"c1\.parquet.*is\s+gone; give the run's command"):
            store.read_cell(store.cells()["c1"])
    with _open(tmp_path) as store:
        assert store.cells() == {}
        assert store.executions()[-1] == ("cell", "c1", "lost", None)


def test_a_database_that_cannot_be_written_is_named(tmp_path):
    with _open(tmp_path) as store:
        store._database.execute("PRAGMA max_page_count = 1")

        def fill_up():
            for number in range(1000):
                store.log("cell", f"c{number}", "started", "x" * 1000)

        with pytest.raises(StoreError, match=r"run\.sqlite: cannot be written"):
            fill_up()


def test_a_database_that_is_damaged_where_it_is_written_is_named(tmp_path):
    _open(tmp_path).close()
    path = tmp_path / claim.DATABASE
    with sqlite3.connect(path) as database:
        ((size,),) = database.execute("PRAGMA page_size")
        named = "SELECT rootpage FROM sqlite_master WHERE name = 'executions'"
        ((page,),) = database.execute(named)
    database.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with (
        _open(tmp_path) as store,
        pytest.raises(StoreError, match=r"run\.sqlite: is damaged.*delete it"),
    ):
        store.log("cell", "c1", "started")


def test_only_cells_under_their_own_names_are_adopted(tmp_path):
    identity = "a" * 64
    cells = tmp_path / "cells"
    with _open(tmp_path) as store:
        store.finish_cell(_artefact(identity), seconds=2.0)
    (cells / "a-copy.parquet").write_bytes(b"theirs")
    with _open(tmp_path) as store:
        assert list(store.cells()) == [identity]
    (cells / f"{identity}.parquet").rename(cells / f"{'b' * 64}.parquet")
    with pytest.raises(StoreError, match=rf"{'b' * 64}\.parquet: holds another cell"):
        _open(tmp_path)


def test_a_folder_is_bound_when_its_work_has_a_point_and_not_before(tmp_path):
    RunStore.open(tmp_path, SETTINGS).close()
    other = {**SETTINGS, "rho": [1]}
    _open(tmp_path, other).close()
    with pytest.raises(StoreError, match="these differ: rho"):
        RunStore.open(tmp_path, SETTINGS)


def test_a_cell_is_written_before_its_row_and_read_as_it_was_written(tmp_path):
    artefact = _artefact()
    with _open(tmp_path) as store:
        store.finish_cell(artefact, seconds=2.0)
        (cell,) = store.cells().values()
        assert (cell.identity, cell.metrics, cell.seconds) == ("c1", METRICS, 2.0)
        assert (tmp_path / "cells" / "c1.parquet").read_bytes() == artefact
        assert match(store.read_cell(cell), "swap")["gold"].to_pylist() == [0, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        "rho = 0.75",
        "m = 1",
        "phi = NULL",
        "model = 'other'",
        "metrics = replace(metrics, '0.1', '0.2')",
    ],
)
def test_a_row_that_says_something_else_than_its_artefact_is_noticed(tmp_path, change):
    with _open(tmp_path) as store:
        store.finish_cell(_artefact(), seconds=2.0)
        store._database.execute(f"UPDATE cells SET {change}")
        with pytest.raises(StoreError, match=r"c1\.parquet: says something else"):
            store.read_cell(store.cells()["c1"])


@pytest.mark.parametrize(
    "change",
    [
        "metrics = '[]'",
        "metrics = '{}'",
        "metrics = replace(metrics, '0.1', 'NaN')",
        "metrics = replace(metrics, '0.1', '\"0.1\"')",
        "metrics = replace(metrics, '0.1', '1.1')",
        "metrics = replace(metrics, ':3', ':3.5')",
        "metrics = replace(metrics, ':3', ':true')",
        "rho = 2",
        "m = -1",
    ],
)
def test_values_of_a_cell_that_cannot_be_are_noticed(tmp_path, change):
    with _open(tmp_path) as store:
        store.finish_cell(_artefact(), seconds=2.0)
        store._database.execute(f"UPDATE cells SET {change}")
        with pytest.raises(StoreError, match=r"run\.sqlite: is damaged.*delete it"):
            store.cells()


@pytest.mark.parametrize(
    "change", ["params = '[3]'", "valid_accuracy = 0.9", "valid_accuracy = 9e999", "number = 7"]
)
def test_a_trial_that_is_not_as_it_was_recorded_is_noticed(tmp_path, change):
    with _open(tmp_path) as store:
        store.finish_trial("t1", Trial(number=1, params={"depth": 3}, valid_accuracy=0.5), 0.5)
        store._database.execute(f"UPDATE trials SET {change}")
        with pytest.raises(StoreError, match=r"run\.sqlite: is damaged.*delete it"):
            store.trials()


def test_what_is_kept_of_a_task_is_found_again_and_forgotten(tmp_path):
    identity = "a" * 64
    with _open(tmp_path) as store:
        store.keep_unfinished(f"{identity}.pt", b"old")
        store.keep_unfinished(f"{identity}.pt", b"new")
        store.keep_unfinished(f"{'b' * 64}.pt", b"other")
        assert store.read_unfinished(identity) == {f"{identity}.pt": b"new"}
        store.forget_unfinished({identity})
        assert store.read_unfinished(identity) == {}
        assert store.read_unfinished("b" * 64) == {f"{'b' * 64}.pt": b"other"}


@pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: b"", lambda data: b"x"])
def test_what_is_kept_of_a_task_is_checked_when_it_is_read(tmp_path, damage):
    name = f"{'a' * 64}-0.npz"
    with _open(tmp_path) as store:
        store.keep_unfinished(name, b"answers" * 100)
        path = tmp_path / "unfinished" / name
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(StoreError, match=rf"unfinished/{name}: is damaged.*delete it"):
            store.read_unfinished("a" * 64)


def test_a_kept_model_is_replaced_as_a_whole(tmp_path):
    with _open(tmp_path) as store:
        store.keep_model("rho-0-m-0", {"config.json": b"{}", "onnx/model.onnx": b"1"})
        assert store.has_model("rho-0-m-0")
        store.keep_model("rho-0-m-0", {"config.json": b"[]"})
    folder = tmp_path / "models" / "rho-0-m-0"
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    assert (folder / "config.json").read_bytes() == b"[]"
