"""Progress: bars on a terminal, a line a minute elsewhere, nothing on standard output."""

from __future__ import annotations

import ast
import importlib
import importlib.resources
import inspect
import io
import re
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ietest_fast.cli.main import COMMANDS, _run
from ietest_fast.report import progress as progress_module
from ietest_fast.report.progress import Progress, say_time, show_progress, watch

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """Seconds, as a test sets them."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines on standard error."""
    lines: list[str] = []
    monkeypatch.setattr(progress_module, "echo", lambda line, *, err: lines.append(line))  # noqa: PLW0108
    return lines


def test_nothing_is_said_in_the_first_half_minute_and_then_a_line_a_minute(said: list[str]) -> None:
    clock = Clock()
    tell = Progress(clock=clock)("Writing pairs", 3_000)
    for second in range(301):
        clock.now = 1_000 + second
        tell(10 * second)
    assert said == [
        "Writing pairs: 300 of 3,000 (10%), 10 a second, 4 min left",
        "Writing pairs: 900 of 3,000 (30%), 10 a second, 4 min left",
        "Writing pairs: 1,500 of 3,000 (50%), 10 a second, 2 min left",
        "Writing pairs: 2,100 of 3,000 (70%), 10 a second, 2 min left",
        "Writing pairs: 2,700 of 3,000 (90%), 10 a second, 30 s left",
    ]


@pytest.mark.parametrize(
    ("told", "line"),
    [
        # What an earlier command has done counts neither for the rate nor for the time left.
        ([(0, 400, 500, 0), (100, 410, 500, 2)],
         "Training: 410 of 500 (82%), 2 running, 6.0 a minute, 15 min left"),
        ([(0, 0, None, 0), (100, 250, None, 0)], "Training: 250, 2.5 a second"),
        ([(0, 0, 10, 0), (7_200, 1, 10, 1)],
         "Training: 1 of 10 (10%), 1 running, 0.5 an hour, 18 h left"),
        ([(0, 0, 10, 1), (45, 0, 10, 1)], "Training: 0 of 10 (0%), 1 running, for 45 s"),
        ([(0, 0, 3, 0), (50, 3, 3, 0)], "Training: 3 of 3 (100%), 3.6 a minute"),
        # An estimate of the total may be too low.
        ([(0, 0, 100, 0), (100, 120, 100, 0)], "Training: 120 of 100 (100%), 1.2 a second"),
    ],
)  # fmt: skip
def test_a_line_says_what_is_done_how_fast_and_for_how_long(
    said: list[str], told: list[tuple[int, int, int | None, int]], line: str
) -> None:
    clock = Clock()
    progress = Progress(clock=clock)
    tell = progress("Training")
    for seconds, done, total, running in told:
        clock.now = 1_000.0 + seconds
        tell(done, total, running=running)
    assert said == [line]


def test_a_stage_that_has_nothing_to_tell_is_named_all_the_same(said: list[str]) -> None:
    clock = Clock()
    progress = Progress(clock=clock)
    progress("Reading")
    for clock.now in (1_029.0, 1_031.0, 1_060.0, 1_092.0):
        progress.look()
    assert said == ["Reading, for 31 s", "Reading, for 2 min"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (60, "1 min"), (3_599, "1 h"), (12_000, "3 h 20 min"),
     (172_800, "2 d"), (190_900, "2 d 5 h")],
)  # fmt: skip
def test_times_are_said_in_two_units_at_most(seconds: float, text: str) -> None:
    assert say_time(seconds) == text


def test_a_broken_standard_error_does_not_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(progress_module, "echo", fail)
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0)
    Progress()("Reading")(1, 2)


def test_parts_are_counted(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0)
    monkeypatch.setattr(progress_module, "SECONDS_BETWEEN", 0)
    clock = Clock()
    counter = Progress(clock=clock).count("Running the model, inputs")
    counter.start(20)
    clock.now += 5
    counter.advance(5)
    counter.advance(5)
    counter.start(20)
    assert [line.split(",")[1].strip() for line in said][-1] == "inputs: 10 of 40 (25%)"


def test_a_terminal_gets_bars_and_standard_output_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    err, out = Terminal(), io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0)
    with watch("ietest-fast x"), show_progress() as progress:
        tell = progress("Writing pairs", 2_000)
        tell(1_000)
        sys.stdout.write("the result\n")
    assert out.getvalue() == "the result\n"
    assert "Writing pairs" in err.getvalue()
    assert "1,000 of 2,000" in err.getvalue()
    assert "ietest-fast x" not in err.getvalue()


# Every command, and how to see its longest loop on a small input; None: by its source alone.
SMALL: dict[str, tuple[list[str], str] | None] = {
    "run": None,
    "eval": None,
    "stress": None,
    "consistency": None,
    "difficulty": (
        ["{pairs}", "--text-columns", "a", "--train-size", "20"],
        "Training, classifiers: ",
    ),
    "masked": None,
    "export": None,
    "test": (["--counts", "50,10,20,20"], "Testing"),
    "power": (["--n", "100", "--discordance", "0.1", "--delta", "0.05"], "Planning"),
    "simulate": (
        ["--n", "50", "--discordance", "0.2", "--tables", "20"],
        "Simulating, tables: 20 of 20 (100%)",
    ),
    "transform": (
        ["{pairs}", "{folder}/new.csv", "--phi", "syn.careful", "--text-columns", "a"],
        "Transforming, rows: ",
    ),
    "templates": (["negation"], "Proving labels, shapes: "),
    "report": None,
    "annotate": None,
    "describe": (["{pairs}", "--text-columns", "a"], "Describing"),
}  # fmt: skip


def test_every_command_is_here() -> None:
    assert set(SMALL) == set(COMMANDS)


def _uses(module: str, seen: set[str]) -> bool:
    """Say whether a module of commands shows stages, or another one that it takes names from."""
    seen.add(module)
    tree = ast.parse(inspect.getsource(importlib.import_module(f"ietest_fast.cli.{module}")))
    calls = {each.func.id for each in ast.walk(tree)
             if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}  # fmt: skip
    if calls & {"show_progress", "show_stage"}:
        return True
    others = {
        each.module.rpartition(".")[2]
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("ietest_fast.cli.")
    }
    return any(_uses(each, seen) for each in others - seen if each.startswith(module))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_its_stages(name: str) -> None:
    assert _uses(name, set())


def test_nothing_else_draws_bars() -> None:
    """One mechanism: rich's bars stand in one module, and no other asks for a terminal."""
    folder = importlib.resources.files("ietest_fast") / "cli"
    others = [each for each in folder.iterdir() if each.name not in {"progress.py", "__pycache__"}]
    assert [
        each.name for each in others if re.search("rich.progress|stderr.isatty", each.read_text())
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, own in SMALL.items() if own is not None])
def test_the_long_loop_of_a_command_is_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0)
    monkeypatch.setattr(progress_module, "SECONDS_BETWEEN", 0)
    pairs = tmp_path / "pairs.csv"
    words = ["dog", "man", "house", "child", "boat", "street", "woman", "tree"]
    rows = [
        f"The {words[k % 8]} sees a {words[k % 7]} and the {words[k % 5]},{k % 2}"
        for k in range(60)
    ]
    pairs.write_text("\n".join(["a,label", *rows]) + "\n")
    own = SMALL[name]
    assert own is not None
    arguments, line = own
    arguments = [each.format(pairs=pairs, folder=tmp_path) for each in arguments]
    module = importlib.import_module(f"ietest_fast.cli.{COMMANDS[name][0]}")
    if line.endswith(")") or ": " in line:
        found = CliRunner().invoke(module.command, arguments)
        assert found.exit_code == 0, found.output
        assert line in found.stderr
        assert line not in found.stdout
        return
    # It has nothing to count: the clock is looked at beside it.
    seen: list[str] = []
    begin = Progress.__call__
    monkeypatch.setattr(
        Progress,
        "__call__",
        lambda self, label, total=None: (seen.append(label), begin(self, label, total))[1],
    )
    found = CliRunner().invoke(module.command, arguments)
    assert found.exit_code == 0, found.output
    assert line in seen


def test_a_command_without_stages_is_watched(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `--list`, which shows none; and one that shows some has these alone."""
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0)
    monkeypatch.setattr(progress_module, "SECONDS_BETWEEN", 0)
    with watch("ietest-fast eval"):
        assert progress_module._watching is not None
        progress_module._watching.look()
        with show_progress() as inner:
            inner("Reading")
            inner.look()
        progress_module._watching.look()
    assert [line.split(",")[0] for line in said] == [
        "ietest-fast eval",
        "Reading",
        "ietest-fast eval",
    ]
    assert progress_module._watching is None
    assert _run(["templates", "--list"]) == 0
