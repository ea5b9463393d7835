"""The fuzzers find what they look for, and for a few seconds nothing in any reader."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from fuzz import __main__ as fuzzing
from fuzz.targets import CALLS, TARGETS, Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def fill_memory(_: str) -> None:
    raise MemoryError("no more of it")


def wait(_: str) -> None:
    with open("pipe", "rb"):  # noqa: PTH123
        pass


def compute(_: str) -> None:
    while True:
        pass


def warn(_: str) -> None:
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def paint(_: str) -> str:
    return "a \x1b[31mred\x1b[0m word"


def leave(_: str) -> None:
    from ietest_fast.errors import InputError

    with open("half.tmp", "wb"):  # noqa: PTH123
        raise InputError("is wrong", path="in")


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda _: None, "accepted"),
        (lambda _: {}["a"], "traceback"),
        (fill_memory, "memory"),
        (wait, "slow"),
        (compute, "slow"),
        (warn, "warning"),
        (paint, "control characters"),
        (leave, "left behind"),
    ],
)
def test_each_kind_of_failure_is_found_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[str], str | None], kind: str
) -> None:
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.1)
    monkeypatch.setitem(CALLS, "python:planted", call)
    planted = Target(
        make=lambda: {"in": b"good"},
        draw=lambda rng, good: ({"in": good["in"] + rng.randbytes(2)}, ["python:planted", "in"]),
    )
    monkeypatch.setitem(TARGETS, "planted", planted)
    with fuzzing.Worker("planted", 0, tmp_path / "kept") as worker:
        outcome = worker.try_one(3)
        files, _ = worker.draw(3)
    assert outcome.kind == kind, outcome
    if kind == "accepted":
        assert not (tmp_path / "kept").exists()
    else:
        (kept,) = (tmp_path / "kept" / "planted").glob("*/3")
        assert (kept / "in").read_bytes() == files["in"]
        assert "--target planted --seed 0 --only 3" in (kept / "why.txt").read_text()


@pytest.mark.parametrize("name", ["lm-eval", "inspect", "helm", "parquet", "csv", "config"])
def test_a_number_and_a_seed_name_an_input(name: str) -> None:
    with fuzzing.Worker(name, 0, None) as worker, fuzzing.Worker(name, 0, None) as again:
        drawn = [worker.draw(number) for number in range(20)]
        assert drawn == [again.draw(number) for number in range(20)]
        assert len({repr(each) for each in drawn}) == 20


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_no_reader_breaks(name: str, tmp_path: Path) -> None:
    """Two seconds of each; 10,000 inputs of each are for a person, see CONTRIBUTING.md."""
    tally = fuzzing.fuzz(name, n=10_000, seconds=2, save=tmp_path)
    assert not tally.roots, str(tally)
    assert tally.kinds["refused"], "the bad files are not bad"
