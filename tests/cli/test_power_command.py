"""``ietest-fast power`` as a shell would call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ietest_fast.cli.main import main
from ietest_fast.cli.power import _curve
from ietest_fast.stats import (
    PowerPlan,
    detectable_difference,
    plan_algorithm,
    power,
    sample_size,
    split_variance,
)


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_it_solves_for_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    psi = ["--discordance", "0.2", "--json"]
    status, out, _ = run(capsys, "power", *psi, "--n", "2000", "--delta", "0.03")
    assert status == 0
    assert json.loads(out)["power"] == power(2000, 0.2, 0.03)
    _, out, _ = run(capsys, "power", *psi, "--delta", "0.05", "--power", "0.9", "--tests", "5")
    assert json.loads(out)["n"] == sample_size(0.2, 0.05, power=0.9, n_tests=5)
    _, out, _ = run(capsys, "power", *psi, "--n", "2000", "--alpha", "0.01")
    assert json.loads(out)["delta"] == detectable_difference(2000, 0.2, alpha=0.01)


def test_it_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["power", "--psi", "0.3", "--n", "300", "--delta", "0.1", "--curve", "delta"]
    for suffix in ("svg", "png"):
        figure = tmp_path / f"power.{suffix}"
        status, out, _ = run(capsys, *arguments, "--plot", figure)
        assert status == 0
        assert figure.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    assert f"power                    {power(300, 0.3, 0.1):.4f}" in out
    assert out.count("•") == 60
    assert {path.name for path in tmp_path.iterdir()} == {"power.svg", "power.png"}


def test_the_curve_is_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["power", "--psi", "0.3", "--n", "300", "--delta", "0.1", "--curve", "n", "--json"]
    _, out, _ = run(capsys, *arguments)
    curve = json.loads(out)["curve"]
    assert curve["over"] == "n"
    assert len(curve["values"]) == len(curve["powers"]) == 50


def test_the_curve_ends_at_the_most_pairs_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}
    monkeypatch.setattr("ietest_fast.stats.power_curve", lambda _, **given: drawn.update(given))
    plan = PowerPlan(
        n=99_999_999,
        discordance=0.1,
        delta=1e-4,
        alpha=0.05,
        n_tests=1,
        power=0.8,
        solved_for="n",
    )
    _curve(plan, "n", n_threads=None)
    assert (drawn["n"][-1], len(drawn["n"])) == (10**8, 50)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--n", "10"],
        ["--psi", "0.1"],
        ["--psi", "1.5", "--n", "10"],
        ["--psi", "0.1", "--n", "10", "--delta", "0.1", "--power", "0.5"],
        ["--psi", "0.1", "--n", "10", "--plot", "x.pdf"],
        ["--psi", "0.1", "--n", "0"],
        ["--psi", "0.1", "--n", "10", "--power", "1"],
        ["--psi", "0.1", "--n", "10", "--power", "nan"],
        ["--psi", "nan", "--n", "10"],
        ["--psi", "inf", "--n", "10"],
        ["--psi", "0.1", "--delta", "nan"],
        ["--psi", "0.1", "--n", "50", "--delta", "nan"],
        ["--psi", "0.1", "--delta", "inf"],
        ["--psi", "0.1", "--delta", "-1.5"],
        ["--psi", "0.1", "--n", "100000001", "--delta", "0.1"],
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "power", *arguments)
    assert (status, out) == (2, "")
    assert "Error" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--psi", "0.1", "--delta", "0.2"], "no larger than the share"),
        (["--psi", "0.1", "--delta", "0"], "difference of 0"),
        (["--psi", "0.1", "--n", "5"], "more pairs are needed"),
        (["--psi", "0.1", "--delta", "1e-320"], "more than 100,000,000 pairs would be needed"),
        (["--psi", "0.1", "--delta", "1e-200"], "more than 100,000,000 pairs would be needed"),
        (["--psi", "1e-320", "--delta", "1e-320"], "more than 100,000,000 pairs would be needed"),
        (["--psi", "0.1", "--delta", "0.05", "--power", "0.01"], "between the level"),
    ],
)
def test_impossible_plans_are_status_1(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "power", *arguments)
    assert (status, out) == (1, "")
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--plot", ".svg"], "--plot writes .svg or .png"),
        (["--plot", "absent-folder/x.svg"], "there is no folder 'absent-folder'"),
        (["--alpha", "nan"], "--alpha"),
        (["--tests", "99999999999999999999"], "--tests"),
    ],
)
def test_mistakes_are_told_before_anything_is_computed(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["power", "--delta", "0.1", "--discordance", "0.3", *arguments])
    assert stop.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--cluster-sizes", "1-1000000000000"], "a cluster has at most 1,000,000 pairs"),
        (["--cluster-sizes", "6-1"], "neither a range"),
        (["--classifiers", "1000000000000"], "--classifiers"),
        (["--tables", "99999999999999999999999"], "--tables"),
        (["--correlation", "0.5"], "say --classifiers M"),
        (["--icc", "0.5"], "say --cluster-sizes"),
        (["--cluster-sizes", "50"], "puts all 50 pairs into one cluster"),
        (["--icc", "nan", "--cluster-sizes", "3"], "--icc"),
        (["--original", "C"], "--original names columns of a file"),
        (["--transformed", "C"], "--transformed names columns of a file"),
    ],
)
def test_simulations_beyond_any_machine_are_refused(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "--n", "50", "--psi", "0.2", *arguments])
    assert stop.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--icc", "0.5"], "say --clusters"),
        (["--correlation", "0.5"], "name their columns"),
        (["--correlation", "nan"], "--correlation"),
        (["--psi", "nan"], "--psi"),
    ],
)
def test_options_that_do_not_fit_the_file_are_refused(tmp_path, arguments, complaint, capsys):
    path = tmp_path / "data.csv"
    path.write_text("A,B\n1,0\n0,1\n")
    status, out, err = run(capsys, "simulate", path, *arguments)
    assert (status, out) == (2, "")
    assert complaint in err


def test_the_test_of_the_algorithm_is_planned(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["power", "--psi", "0.1", "--tau", "0.005", "--delta", "0.01"]
    items, residual = split_variance(0.1, delta=0.01, correlation=0.5)
    spread = {"sd_items": items, "sd_classifiers": 0.005, "sd_residual": residual}
    status, out, _ = run(capsys, *arguments, "--classifiers", "10", "--json")
    expected = plan_algorithm(delta=0.01, n_classifiers=10, **spread)
    assert (status, json.loads(out)) == (0, expected.to_dict())
    _, out, _ = run(capsys, *arguments)
    assert f"10 classifiers           {expected.n:,}" in out
    _, out, _ = run(capsys, *arguments, "--n", "5000", "--classifiers", "10")
    assert "power" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--classifiers", "5", "--n", "100"], "--classifiers is for the test of the algorithm"),
        (["--tau", "0.01", "--n", "100", "--tests", "5"], "--tests is for the test of single"),
    ],
)
def test_options_of_the_two_plans_are_told_apart(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    status, _, err = run(capsys, "power", "--psi", "0.1", *arguments)
    assert (status, message in err) == (2, True)


def test_too_few_classifiers_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--psi", "0.1", "--tau", "0.02", "--delta", "0.01", "--classifiers", "3"]
    status, _, err = run(capsys, "power", *arguments)
    assert (status, "no number of texts shows" in err) == (1, True)
