"""What commands must not do: reach the network, write into the home folder, run stray code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

pytest.importorskip("onnx", reason="makes the model that is evaluated")

from ietest_fast.corpus import demo_splits
from tiny_models import make_onnx_folder

COMMAND = [str(Path(sys.executable).with_name("ietest-fast"))]
QUICK_RUN = [
    *("run", "--demo", "--demo-sizes", "60,40,60", "--rho", "0", "-M", "2", "--search", "1"),
    *("--n-jobs", "2"),
]

# Names of modules that the standard library, or a library in use, imports early or if it is there.
STRAY = ("json", "random", "queue", "struct", "numpy", "cupy", "ietest_fast", "sitecustomize")


def without_network() -> list[str]:
    """Return what goes before a command so that it sees no network, if the system allows it."""
    for prefix in (["unshare", "-n"], ["unshare", "-rn"]):
        if shutil.which("unshare") is None:
            return []
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return []


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A working folder with data, a model, and modules that leave a mark if they are executed."""
    room = tmp_path / "room"
    room.mkdir()
    test = demo_splits(n_train=30, n_valid=30, n_test=60, seed=1).test
    pa_csv.write_csv(test.table, room / "test.csv")
    pa_csv.write_csv(pa.table({"A": [1, 0, 1, 1], "B": [1, 1, 0, 1]}), room / "outcomes.csv")
    make_onnx_folder(room / "model")
    for name in STRAY:
        mark = f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r} + ' ')\n"
        (room / f"{name}.py").write_text(mark)
    return room


def execute(room: Path, home: Path, arguments: list[str]) -> None:
    """Run a command without a network, with a home folder of its own."""
    home.mkdir(exist_ok=True)
    drop = ("XDG_", "HF_", "ORT_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    done = subprocess.run(
        [*without_network(), *COMMAND, *arguments],
        cwd=room,
        env={**environment, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(QUICK_RUN, id="run"),
        pytest.param(
            ["eval", "--onnx", "model", "--test", "test.csv", "--runtime", "onnxruntime"],
            id="eval",
        ),
        pytest.param(["test", "outcomes.csv"], id="test"),
        pytest.param(
            ["transform", "test.csv", "out.csv", "--lexicon-from", "test.csv"], id="transform"
        ),
        pytest.param(["power", "--n", "1000", "--discordance", "0.1"], id="power"),
        pytest.param(["describe", "test.csv"], id="describe"),
    ],
)
def test_a_command_keeps_to_itself(room: Path, tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "home"
    execute(room, home, arguments)
    assert not (tmp_path / "executed").exists(), (tmp_path / "executed").read_text()
    # Matplotlib keeps a list of the fonts that it found, and has nowhere else to put it.
    kept = {path for path in home.rglob("*") if path.is_file() and "matplotlib" not in path.parts}
    assert kept == set()


@pytest.mark.slow
def test_tagging_helpers_run_no_stray_code(
    room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ietest_fast.lexicon.pipelines import Pipeline
    from ietest_fast.lexicon.tag_workers import TagWorkers

    monkeypatch.chdir(room)
    helpers = TagWorkers("tag", "packaged", 1)
    try:
        texts = [["A boy sleeps."], ["A dog runs."], ["A cat eats."]]
        helpers.work(texts, Pipeline.load("packaged").tag, None, n_helpers=1)
    finally:
        helpers.close()
    assert not (tmp_path / "executed").exists()
