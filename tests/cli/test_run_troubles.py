"""``ietest-fast run`` with data, disks, folders and processes that are not as they should be."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import run_here, without_progress
from ietest_fast.corpus import demo_splits
from waiting import wait_until

COMMAND = [sys.executable, "-W", "error", "-c", "from ietest_fast.cli.main import main; main()"]

PARAMS = [
    *("--param", "n_estimators=5", "--param", "max_depth=3", "--param", "reg_alpha=0.05"),
    *("--param", "gamma=0.05", "--param", "learning_rate=0.5", "--param", "subsample=1.0"),
    *("--param", "colsample_bytree=1.0"),
]
SMALL = [*PARAMS, "--rho", "0,1", "-M", "2"]


def write_data(folder: Path) -> list[str]:
    """Three files; gives the options that name them."""
    options = []
    splits = demo_splits(n_train=300, n_valid=60, n_test=300, seed=1)
    for name, corpus in splits._asdict().items():
        pq.write_table(corpus.table, folder / f"{name}.parquet")
        options += [f"--{name}", f"{name}.parquet"]
    return [*options, "--data-name", "small"]


def change(path: Path, **columns: object) -> None:
    table = pq.read_table(path)
    for name, value in columns.items():
        index = table.schema.get_field_index(name)
        values = value if isinstance(value, list) else [value] * len(table)
        table = table.set_column(index, name, pa.array(values, table.schema.field(index).type))
    pq.write_table(table, path)


def run(folder: Path, *arguments: str, **options: object) -> tuple[int, str, str]:
    """Run the command here, or in a process of its own where something is to be done to it."""
    if not options:
        return run_here("run", *arguments, folder=folder)
    done = subprocess.run(
        [*COMMAND, "run", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, without_progress(done.stderr)


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "run", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_a_cell(process: subprocess.Popen[str], folder: Path) -> None:
    wait_until(lambda: list(folder.glob("ietest-run/cells/*.parquet")), process)


def results(folder: Path) -> bytes:
    return (folder / "ietest-run" / "results.json").read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the small run gives if nothing happens to it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    status, _, err = run(folder, *write_data(folder), *SMALL, "--n-jobs", "1")
    assert (status, err) == (0, "")
    return results(folder)


@pytest.mark.parametrize(
    ("broken", "columns", "message"),
    [
        ("train", {"label": 1}, "column 'label': a classifier needs rows of two labels or more"),
        ("train", {"premise": [None] + ["A dog."] * 299}, "row 0, column 'premise': the text is"),
        ("test", {"hypothesis": [*["A dog."] * 299, None]}, "row 299, column 'hypothesis': the"),
        ("valid", {"label": 7}, "row 0, column 'label': unknown label '7'; expected one of: 0 e"),
        ("valid", {"label": -1}, "no rows are left: no gold label in 60 rows"),
    ],
)
def test_data_that_is_no_use_is_told_before_a_folder_is_made(
    tmp_path: Path, broken: str, columns: dict[str, object], message: str
) -> None:
    files = write_data(tmp_path)
    change(tmp_path / f"{broken}.parquet", **columns)
    status, out, err = run(tmp_path, *files, *SMALL)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: {tmp_path / broken}.parquet")
    assert message in err
    assert not (tmp_path / "ietest-run").exists()


@pytest.mark.parametrize("broken", ["train", "valid", "test"])
def test_one_row_is_too_few(tmp_path: Path, broken: str) -> None:
    files = write_data(tmp_path)
    path = tmp_path / f"{broken}.parquet"
    pq.write_table(pq.read_table(path).slice(0, 1), path)
    status, out, err = run(tmp_path, *files, *SMALL)
    assert (status, out) == (1, "")
    assert err == f"Error: {path}: the {broken} set has 1 labelled rows; at least 2 are needed\n"
    assert not (tmp_path / "ietest-run").exists()


@pytest.mark.parametrize("n", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_test_rows_that_stand_in_the_training_set_are_counted(tmp_path: Path, n: int) -> None:
    files = write_data(tmp_path)
    train, test = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("train", "test"))
    pq.write_table(pa.concat_tables([train[:n], test[n:]]), tmp_path / "test.parquet")
    status, _, err = run(tmp_path, *files, *PARAMS, "--rho", "0", "-M", "1", "--n-jobs", "1")
    verb = "stands" if n == 1 else "stand"
    assert status == 0
    assert err == (
        f"Warning: {tmp_path / 'test.parquet'}: {n} of 300 test rows {verb} in the training set "
        "too, case and final period aside; take them out of one of both.\n"
    )


@pytest.mark.slow
def test_missing_texts_can_be_dropped_and_are_counted(tmp_path: Path) -> None:
    files = write_data(tmp_path)
    texts = pq.read_table(tmp_path / "test.parquet")["premise"].to_pylist()
    change(tmp_path / "test.parquet", premise=[None, *texts[1:]])
    status, out, _ = run(tmp_path, *files, *SMALL, "--drop-missing-texts", "--json", "--n-jobs=1")
    assert status == 0
    described = json.loads(out)["data"]["test"]
    assert (described["rows"], described["dropped"]) == (299, {"text missing": 1})


def test_texts_that_stay_as_they_are_cannot_be_tested(tmp_path: Path) -> None:
    files = write_data(tmp_path)
    change(tmp_path / "test.parquet", premise="It rains.", hypothesis="Nobody sleeps.")
    status, out, err = run(tmp_path, *files, *SMALL)
    assert (status, out) == (1, "")
    assert err.startswith(f"Error: {tmp_path / 'test.parquet'}: the transformation syn.careful")
    assert "rewords none of the 300 test texts, so there is nothing to test" in err
    assert not list(tmp_path.glob("ietest-run/results.json"))


@pytest.mark.slow
def test_a_text_too_long_to_tag_is_told(tmp_path: Path) -> None:
    files = write_data(tmp_path)
    change(tmp_path / "train.parquet", premise=["A long story. " * 80_000, *["A dog."] * 299])
    status, out, err = run(tmp_path, *files, *SMALL)
    assert (status, out) == (1, "")
    assert "the text has 1,120,000 characters, of which at most 1,000,000 can be tagged" in err
    assert "train.parquet, row 0, column 'premise'" in err


@pytest.mark.slow
def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    files = write_data(tmp_path)
    arguments = [*files, *PARAMS, "--rho", "0:1:0.001", "--n-jobs", "1"]
    first = start(tmp_path, *arguments)
    try:
        wait_for_a_cell(first, tmp_path)
        status, out, err = run(tmp_path, *arguments)
        assert first.poll() is None
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate()
    assert (status, out) == (1, "")
    assert err == (
        f"Error: ietest-run: another run holds this folder (process {first.pid}); wait for it, or "
        "choose another folder\n"
    )
    assert first.returncode == 130


@pytest.mark.slow
def test_ctrl_c_in_the_midst_of_a_training_is_not_lost(tmp_path: Path) -> None:
    """Training in the run's own process: XGBoost's callbacks swallow exceptions."""
    arguments = [*write_data(tmp_path), *PARAMS, "--rho", "0:1:0.001", "--n-jobs", "1"]
    for _ in range(3):
        process = start(tmp_path, *arguments)
        n_before = len(list(tmp_path.glob("ietest-run/cells/*.parquet")))
        wait_until(
            lambda n=n_before: len(list(tmp_path.glob("ietest-run/cells/*.parquet"))) > n, process
        )
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130
        assert without_progress(err).startswith(
            "Interrupted. What is finished is kept in ietest-run"
        )
        assert "Exception ignored" not in err


# The database is the first file; what is made of the texts comes later.
@pytest.mark.slow
@pytest.mark.parametrize("n_bytes", [100, 60_000])
def test_a_full_disk_is_told_and_the_run_goes_on_later(
    tmp_path: Path, n_bytes: int, undisturbed: bytes
) -> None:
    resource = pytest.importorskip("resource")
    arguments = [*write_data(tmp_path), *SMALL, "--n-jobs", "1"]
    status, out, err = run(
        tmp_path,
        *arguments,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes)),
    )
    assert (status, out) == (1, "")
    assert err.startswith("Error: ietest-run")
    assert not (tmp_path / "ietest-run" / "results.json").exists()
    assert not list(tmp_path.rglob("*.unfinished"))
    status, _, err = run(tmp_path, *arguments)
    assert (status, err) == (0, "")
    assert results(tmp_path) == undisturbed


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Find the workers of a run; what ends while they are looked for is none."""
    workers = []
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        for pid in children.split():
            with contextlib.suppress(OSError):
                if b"experiment/worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    workers.append(int(pid))
    return workers


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
def test_a_killed_worker_is_replaced(tmp_path: Path, undisturbed: bytes) -> None:
    process = start(tmp_path, *write_data(tmp_path), *SMALL, "--n-jobs", "2")
    workers: list[int] = []
    wait_until(lambda: workers.extend(workers_of(process)) or workers, process)
    os.kill(workers[0], signal.SIGKILL)
    _, err = process.communicate()
    assert (process.returncode, without_progress(err)) == (0, "")
    assert results(tmp_path) == undisturbed
    import sqlite3

    database = sqlite3.connect(tmp_path / "ietest-run" / "run.sqlite")
    (detail,) = database.execute(
        "SELECT detail FROM executions WHERE event = 'worker_died'"
    ).fetchone()
    database.close()
    assert detail.startswith("was killed by signal 9")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
def test_workers_that_are_killed_again_and_again_end_the_run(tmp_path: Path) -> None:
    process = start(tmp_path, *write_data(tmp_path), *SMALL, "--n-jobs", "2")
    while process.poll() is None:
        for pid in workers_of(process):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert "was killed by signal 9 (out of memory?)" in err
    assert "What is finished is kept; run again to go on." in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_more_jobs_than_there_is_work_for_start_no_more_processes(
    tmp_path: Path, undisturbed: bytes
) -> None:
    status, _, err = run(tmp_path, *write_data(tmp_path), *SMALL, "--n-jobs", "1000")
    assert (status, err) == (0, "")
    assert results(tmp_path) == undisturbed


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")  # noqa: PTH112
def test_a_folder_where_nothing_can_be_made_is_told() -> None:
    status, out, err = run(Path("/proc"), "--demo", *SMALL)
    assert (status, out) == (1, "")
    assert err.startswith("Error: ietest-run: cannot be used: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    status, out, err = run(tmp_path, "--demo", *SMALL)
    assert (status, out) == (1, "")
    assert err == "Error: ietest-run: cannot be used: Permission denied\n"


def test_a_file_in_the_folder_s_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "ietest-run").write_text("x")
    status, out, err = run(tmp_path, "--demo", *SMALL)
    assert (status, out) == (1, "")
    assert err.startswith("Error: ietest-run: cannot be used: ")
    assert (tmp_path / "ietest-run").read_text() == "x"
