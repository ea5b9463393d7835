"""A report says how to run it again."""

from __future__ import annotations

import json
import tomllib

import pytest

from ietest_fast.experiment import check_config
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.schema import RunResult
from ietest_fast.experiment.view.run_sections import to_toml
from toys import QUICK


def fill_in(values, folder):
    """Name the file of words that the transformation reads."""
    path = folder / "words.csv"
    path.write_text("sleeps,slumbers\n")
    values["transformation"]["mapping"] = str(path)
    return values


def test_the_configuration_gives_the_settings_again(first_run, tmp_path):
    results = read_results(first_run)
    text = to_toml(results, results.only)
    config = check_config(fill_in(tomllib.loads(text), tmp_path))
    again = {**config.settings(), "model": config.models[0].settings()}
    recorded = {**results.settings.to_dict(), "model": results.models[0].settings.to_dict()}
    assert config.phis[0].name == results.transformations[0].settings["name"]
    for name, value in again.items():
        own = recorded[name]
        if isinstance(value, dict):
            assert value.items() <= own.items(), name
        else:
            assert value == own, name
    assert again["model"]["params"] == QUICK
    assert f"# {results.signature}" in text


def test_margins_and_strata_are_settings(first_run):
    results = json.loads((first_run / "results.json").read_text())
    results["settings"] |= {"margin": 0.03, "flip_margin": 0.07, "strata": ["genre", "edits"]}
    changed = RunResult.model_validate_json(json.dumps(results))
    found = tomllib.loads(to_toml(changed, changed.only))
    assert (found["margin"], found["flip_margin"]) == (0.03, 0.07)
    assert found["strata"] == ["genre", "edits"]


@pytest.mark.parametrize("kind", ["files", "split", "clusters"])
def test_files_are_left_to_be_filled_in(tmp_path, first_run, kind):
    results = json.loads((first_run / "results.json").read_text())
    data = results["settings"]["data"]
    data["demo"] = None
    if kind == "split":
        split = {"n_valid": 10, "n_test": 20, "n_train": None, "seed": 3, "group_by": None}
        data["split"] = split
    if kind == "clusters":
        data["cluster"] = 'a "premise"'
        results["settings"] |= {"method": "resample", "n_resamples": 500}
    changed = RunResult.model_validate_json(json.dumps(results))
    written = to_toml(changed, changed.only)
    found = tomllib.loads(written)
    assert found["data"]["train"] == "..."
    assert data["test"] in written
    if kind == "split":
        assert found["data"]["split"] == {"file": "...", "n_valid": 10, "n_test": 20, "seed": 3}
    else:
        assert found["data"]["test"] == "..."
    if kind == "clusters":
        assert found["data"]["cluster"] == 'a "premise"'
        assert found["n_resamples"] == 500
    # With names of files it is a configuration.
    path = tmp_path / "data.csv"
    path.write_text("premise,hypothesis,label\n")
    text = written.replace('"..."', json.dumps(str(path)))
    assert check_config(fill_in(tomllib.loads(text), tmp_path)).seed == 0
