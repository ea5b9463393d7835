"""Files that used to be called alike, by every command that gives a verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from ietest_fast.cli.main import main
from ietest_fast.stats import Verdict, invariance_test

if TYPE_CHECKING:
    from pathlib import Path

N = 10_000
GOLD = np.arange(N) % 3
RIGHT = np.where(np.arange(N) < 6_000, GOLD, (GOLD + 1) % 3)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def make(kind: str) -> tuple[Any, Any, Any]:
    """Answers to both versions, and which texts are reworded."""
    everything = np.ones(N, dtype=bool)
    if kind == "steady":
        return RIGHT, np.where(np.arange(N) % 1_000 == 0, (GOLD + 2) % 3, RIGHT), everything
    if kind == "swaps":  # as often to right as to wrong
        return RIGHT, np.roll(RIGHT, 1_998), everything
    if kind == "cancels by label":  # a loss on one label, a gain on another
        lost, won = (GOLD == 0) & (np.arange(N) < 300), (GOLD == 1) & (np.arange(N) >= N - 300)
        return RIGHT, np.where(lost | won, 1, RIGHT), everything
    if kind == "wrong to wrong":
        return RIGHT, np.where(np.arange(N) < 7_300, RIGHT, (GOLD + 2) % 3), everything
    assert kind == "diluted"  # 15 points on 5% of the rows
    return RIGHT, np.where(np.arange(N) < 75, (GOLD + 1) % 3, RIGHT), np.arange(N) < 500


def write_wide(folder: Path, kind: str) -> str:
    original, transformed, reworded = make(kind)
    path = folder / "wide.csv"
    pd.DataFrame(
        {
            "label": GOLD,
            "original": original,
            "transformed": transformed,
            "A": (original == GOLD).astype(int),
            "B": (transformed == GOLD).astype(int),
            "reworded": reworded.astype(int),
        }
    ).to_csv(path, index=False)
    return str(path)


def write_long(folder: Path, kind: str) -> str:
    original, transformed, reworded = make(kind)
    parts = [
        pd.DataFrame(
            {
                "item": np.arange(N),
                "version": version,
                "gold": GOLD.astype(str),
                "predicted": predicted.astype(str),
                "changed": changed,
            }
        )
        for version, predicted, changed in (
            ("original", original, np.zeros(N, dtype=bool)),
            ("syn", transformed, reworded),
        )
    ]
    path = folder / "long.parquet"
    pd.concat(parts, ignore_index=True).to_parquet(path)
    return str(path)


EXPECTED = {
    "steady": "alike within margins",
    "swaps": "changes answers",
    "wrong to wrong": "changes answers",
    "diluted": "differs",
    "cancels by label": "changes answers",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXPECTED)
@pytest.mark.parametrize("command", ["eval", "test"])
def test_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    wide, long = write_wide(tmp_path, kind), write_long(tmp_path, kind)
    columns = ["-P", "original,transformed", "--reworded", "reworded"]
    for arguments in ([wide, *columns], [long]):
        _, out, _ = run(capsys, command, *arguments, "--json")
        assert json.loads(out)["invariance"]["verdict"] == EXPECTED[kind]
        status, out, _ = run(capsys, command, *arguments, "--fail-unless-alike")
        assert status == (0 if kind == "steady" else 3)
        assert out.startswith("Alike within") == (kind == "steady")


@pytest.mark.parametrize("kind", EXPECTED)
def test_outcomes_are_never_called_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    path = write_wide(tmp_path, kind)
    expected = {
        "steady": "equivalent within margin",
        "wrong to wrong": "equivalent within margin",  # outcomes do not tell
    }
    _, out, _ = run(capsys, "test", path, "--reworded", "reworded", "--json")
    assert json.loads(out)["invariance"]["verdict"] == expected.get(kind, EXPECTED[kind])
    status, out, _ = run(capsys, "test", path, "--all-reworded", "--fail-unless-alike")
    assert status == 3
    assert "alike" not in out.lower()


@pytest.mark.slow
def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    counts = ["test", "--counts", "30000,20000,20000,30000"]
    _, out, _ = run(capsys, *counts)
    assert out.startswith("The classifier changes its mind: at least 40.0% of its answers ")
    assert "alike" not in out.lower()
    assert json.loads(run(capsys, *counts, "--json")[1])["invariance"]["verdict"] == (
        "changes answers"
    )


@pytest.mark.parametrize("kind", EXPECTED)
def test_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    page = tmp_path / "report.html"
    status, _, err = run(capsys, "report", write_long(tmp_path, kind), "--out", str(page))
    assert status == 0, err
    text = page.read_text(encoding="utf-8")
    found = "equivalent" if kind == "steady" else "differs"
    assert f'class="verdict {found}"' in text


def test_several_versions_have_a_verdict_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"label": GOLD, "original": RIGHT})
    for kind in ("steady", "swaps"):
        frame[kind] = make(kind)[1]
    path = tmp_path / "versions.csv"
    frame.to_csv(path, index=False)
    arguments = ["eval", str(path), "-P", "original,steady,swaps", "--all-reworded"]
    status, out, _ = run(capsys, *arguments, "--fail-unless-alike")
    assert status == 3
    assert "alike within margins" in out
    assert "changes answers" in out
    assert json.loads(run(capsys, *arguments, "--json")[1])["alike"] is False


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(np.zeros_like, id="one class"),
        pytest.param(lambda gold: np.roll(gold, 1), id="never right"),
        pytest.param(lambda gold: np.where(np.arange(gold.size) % 2, gold, 2), id="at chance"),
    ],
)
@pytest.mark.parametrize("columns", ["original,again", "original,again,twice"])
def test_what_cannot_be_told_from_guessing_is_never_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answer: Any, columns: str
) -> None:
    gold = np.arange(2_000) % 4 // 2
    path = tmp_path / "constant.csv"
    frame = pd.DataFrame({"label": gold} | {name: answer(gold) for name in columns.split(",")})
    frame.to_csv(path, index=False)
    arguments = ["eval", str(path), "-P", columns, "--all-reworded", "--labels", "0,1,2"]
    status, out, _ = run(capsys, *arguments, "--fail-unless-alike")
    assert (status, "alike within" in out.lower()) == (3, False)
    assert "ollapsed" in out.partition("Paired bootstrap")[0]
    given = json.loads(run(capsys, *arguments, "--json")[1])
    for test in given.get("comparisons", [given]):
        assert test["invariance"]["verdict"] == "collapsed"
        assert test["invariance"]["explanation"].startswith("Collapsed: ")
    found = invariance_test(answer(gold), answer(gold), gold, reworded=True)
    assert (found.verdict, found.collapsed) == (Verdict.COLLAPSED, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--reworded", "label", "--all-reworded"], "exclude each other"),
        (["--flip-margin", "0.1", "--alpha", "0.6"], "--flip-margin needs an --alpha below 0.5"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    path = write_wide(tmp_path, "steady")
    status, _, err = run(capsys, "eval", path, *arguments)
    assert (status, message in err) == (2, True)


def test_a_column_that_does_not_say_what_is_reworded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_wide(tmp_path, "steady")
    status, _, err = run(capsys, "eval", path, "--reworded", "label")
    assert status == 1
    assert "says which texts were reworded by true and false" in err
    status, _, err = run(capsys, "eval", path, "--reworded", "nothing")
    assert status == 1
    status, _, err = run(capsys, "test", "--counts", "9,1,1,9", "--reworded", "x")
    assert status == 2
    scores = ["test", path, "--scores", "--original", "label", "--transformed", "original"]
    status, _, err = run(capsys, *scores, "--flip-margin", "0.1")
    assert (status, "two columns of outcomes" in err) == (2, True)
