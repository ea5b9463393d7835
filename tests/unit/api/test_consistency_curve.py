"""``ie.consistency_curve``: profiles over amounts, and runs over their training rows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ietest_fast as ie
from command_line import run_here
from ietest_fast.analyses.consistency.profile import ConsistencyProfile
from ietest_fast.api import IETestResult
from ietest_fast.errors import InputError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run import run
from toys import Swap, toy_splits

if TYPE_CHECKING:
    from pathlib import Path

MODELS = {"big": ["111", "110", "111"], "tiny": ["111", "000", "111"]}
TOKENS = {"big": 10**9, "tiny": 10**6}
QUICK: dict[str, Any] = {"n_resamples": 50, "n_threads": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curves")
    for model, items in MODELS.items():
        pd.DataFrame(
            {
                "item": item,
                "version": f"p{place}",
                "gold": "yes",
                "predicted": "yes" if sign == "1" else "no",
                "tokens": TOKENS[model],
            }
            for item, signs in enumerate(items)
            for place, sign in enumerate(signs)
        ).to_csv(folder / f"{model}.csv", index=False)
    config = check_config(
        {
            "data": {"demo": True, "name": "toys"},
            "model": {"name": "ngram-linear", "search": "default", "options": {"bits": 12}},
            "rho": [0, 1],
            "n_classifiers": 2,
            "n_jobs": 1,
            "train_size": [300, 40],
        }
    )
    run(config, folder / "sized", splits=toy_splits(), transformation=Swap())
    return folder


@pytest.fixture(scope="module")
def profiles(folder: Path) -> dict[str, ConsistencyProfile]:
    return {name: ie.consistency(folder / f"{name}.csv", **QUICK) for name in MODELS}


def commanded(folder: Path, *arguments: Any) -> list[dict[str, Any]]:
    status, out, err = run_here(
        "consistency", *arguments, "-S", "50", "--threads", "1", "--json", folder=folder
    )
    assert (status, err) == (0, "")
    curves = json.loads(out)["curves"]
    return list(curves)


def without_names(curves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for curve in curves:
        for point in curve["points"]:
            point.pop("name")
        for step in curve["steps"]:
            step.pop("first")
            step.pop("second")
    return curves


@pytest.mark.parametrize(
    ("keys", "listed"),
    [(["1B", "1M"], "1B,1M"), ([10**9, 1e6], "1B,1M"), (["50%", "1 %"], "50%,1%")],
)
def test_a_mapping_gives_the_numbers_of_the_command(
    folder: Path, profiles: dict[str, ConsistencyProfile], keys: list[Any], listed: str
) -> None:
    found = ie.consistency_curve(
        dict(zip(keys, profiles.values(), strict=True)), amounts_of="tokens", **QUICK
    )
    expected = commanded(
        folder, "big.csv", "tiny.csv", "--amounts", listed, "--amounts-of", "tokens"
    )
    curves = json.loads(found.to_json())["curves"]
    assert without_names(curves) == without_names(expected)
    (curve,) = found.curves
    first, last = listed.split(",")[::-1]
    assert [point.written for point in curve.points] == [first, last]
    assert [point.name for point in curve.points] == [first, last]
    assert f"{first}: accuracy, macro" in str(found)
    frame = found.to_frame()
    assert list(frame["amount"]) == [point["amount"] for point in expected[0]["points"]]
    assert list(frame["p_c_unbiased"]) == [point["p_c_unbiased"] for point in expected[0]["points"]]


def test_a_column_of_amounts(folder: Path, profiles: dict[str, ConsistencyProfile]) -> None:
    found = ie.consistency_curve(list(profiles.values()), amount_column="tokens", **QUICK)
    expected = commanded(folder, "big.csv", "tiny.csv", "--amount-column", "tokens")
    assert expected[0]["of"] == "tokens"
    curves = json.loads(found.to_json())["curves"]
    assert without_names(curves) == without_names(expected)


def test_models_keep_their_names(profiles: dict[str, ConsistencyProfile]) -> None:
    one, two = (replace(own, group={"model": "roberta"}) for own in profiles.values())
    (curve,) = ie.consistency_curve({2: one, 1: two}, **QUICK).curves
    assert curve.of == "amount of data"
    assert [point.name for point in curve.points] == ["roberta#2", "roberta"]
    assert [(step.first, step.second) for step in curve.steps] == [("roberta", "roberta#2")]


def test_a_run_gives_the_numbers_of_the_command(folder: Path) -> None:
    expected = commanded(folder, "sized")
    found = ie.consistency_curve(folder / "sized", **QUICK)
    assert json.loads(found.to_json())["curves"] == expected
    assert len(found.to_frame()) == 4
    result = IETestResult(results=read_results(folder / "sized"), folder=folder / "sized")
    again = ie.consistency_curve(result, **QUICK)
    assert again.to_dict() == found.to_dict()
    other = commanded(folder, "sized", "--confidence-level", "0.8", "--intervals", "resample")
    found = ie.consistency_curve(
        str(folder / "sized"), confidence_level=0.8, method="resample", **QUICK
    )
    assert json.loads(found.to_json())["curves"] == other
    assert "ngram-linear, ρ = 1, training rows" in str(found)
    assert "<table>" in found._repr_html_()


def test_it_draws_itself(folder: Path, profiles: dict[str, ConsistencyProfile]) -> None:
    pytest.importorskip("matplotlib")
    shares = {"50%": profiles["big"], "1%": profiles["tiny"]}
    axes = ie.consistency_curve(shares, amounts_of="share of the training set", **QUICK).plot()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1%", "50%"]
    assert axes.get_xlabel() == "share of the training set"
    assert axes.get_xscale() == "log"
    first = axes.get_lines()[0]
    values = [profiles[name]["p_c_unbiased"].value for name in ("tiny", "big")]
    assert list(first.get_ydata()) == values
    axes = ie.consistency_curve(folder / "sized", **QUICK).plot()
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == ["ngram-linear, ρ = 0", "ngram-linear, ρ = 1"]


def test_what_is_no_curve_is_said(folder: Path, profiles: dict[str, ConsistencyProfile]) -> None:
    big, tiny = profiles.values()

    def refuse(said: str, given: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=f"^{said}"):
            ie.consistency_curve(given, **QUICK, **options)

    refuse("profiles: 'many' is no amount", {"many": big, "2": tiny})
    refuse("profiles: 0 is no amount", {0: big, 2: tiny})
    refuse("profiles: nan is no amount", {float("nan"): big, 2: tiny})
    refuse("profiles: True is no amount", {True: big, 2: tiny})
    refuse("profiles: None is no amount", {None: big, 2: tiny})
    refuse("profiles mixes percentages", {"10%": big, 2: tiny})
    refuse("profiles: '10%,2' mixes percentages", {"10%": big, "2": tiny})
    refuse(r"profiles\['1M'\] must be what ie.consistency returns, not 'int'", {"1M": 3, "2": tiny})
    refuse("a curve over amounts needs two", {"1M": big})
    refuse(".*have the same amount, 1M", {"1M": big, "1000k": tiny})
    refuse("a list of profiles needs amount_column", [big, tiny])
    refuse(r"profiles\[1\] must be", [big, 3], amount_column="tokens")
    refuse("amount_column is for a list", {"1": big, "2": tiny}, amount_column="tokens")
    refuse(".*has no such column of amounts", [big, tiny], amount_column="rows")
    refuse("profiles must be a mapping", big)
    refuse("confidence_level is for a run", {"1": big, "2": tiny}, confidence_level=0.9)
    refuse("method is for a run", {"1": big, "2": tiny}, method="exact")
    refuse("amounts_of is for profiles; this is a run", folder / "sized", amounts_of="x")
    refuse("amount_column is for profiles", folder / "sized", amount_column="x")
    other = ie.consistency(folder / "big.csv", confidence_level=0.8, **QUICK)
    refuse("profiles have intervals of 80% and 95%", {"1": other, "2": tiny})
