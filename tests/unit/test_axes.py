"""Several transformations and several models in one run: each pair as in a run of its own."""

from __future__ import annotations

import json
import sqlite3
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner

from ietest_fast.cli.run import command
from ietest_fast.errors import ConfigError, IetestWarning, InputError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.config import DataConfig
from ietest_fast.experiment.plan import make_plan
from ietest_fast.experiment.run import run
from ietest_fast.experiment.store import RunStore
from ietest_fast.experiment.view.run_sections import to_toml
from ietest_fast.stats import cochran_q_test, combine, holm
from toys import QUICK, Swap, read_matched, toy_splits

PHIS = (Swap(), Swap(old="street", new="road", name="roads"))
FORESTS = {"name": "bow-rf", "search": 1}
TREES = {"name": "bow-xgb", "params": QUICK}
CONFIG = {
    "data": {"demo": True, "name": "toys"},
    "model": [TREES, FORESTS],
    "rho": [0, 0.5],
    "n_classifiers": 2,
    "n_jobs": 1,
}


def _run(folder, phis=PHIS, **changes):
    config = check_config({**CONFIG, **changes})
    return run(config, folder, splits=toy_splits(), transformation=phis)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    return _run(tmp_path_factory.mktemp("run") / "together")


def _numbers(condition):
    """All but what a cell is called: its identity counts what it was answered beside."""
    written = condition.to_dict()
    for rho in written["rhos"]:
        for cell in rho["cells"]:
            del cell["identity"]
    return written


@pytest.mark.slow
@pytest.mark.parametrize("model", [TREES, FORESTS])
@pytest.mark.parametrize("phi", PHIS)
def test_each_pair_has_the_numbers_of_a_run_of_its_own(together, tmp_path, model, phi):
    alone = _run(tmp_path, phis=phi, model=model)
    (condition,) = alone.conditions
    (same,) = [
        each
        for each in together.conditions
        if (each.model, each.transformation) == (model["name"], phi.name)
    ]
    assert _numbers(same) == _numbers(condition)
    (record,) = [each for each in together.models if each.key == model["name"]]
    assert record.searches == alone.models[0].searches


def test_classifiers_of_rho_0_are_trained_once_for_all_transformations(together):
    by_rho = {0.0: [], 0.5: []}
    for condition in together.conditions:
        for cell in condition.cells:
            by_rho[cell.rho].append(cell.identity)
    assert len(by_rho[0.0]) == 8
    assert len(set(by_rho[0.0])) == 4
    assert len(set(by_rho[0.5])) == 8
    assert len(list(together.folder.glob("cells/*.parquet"))) == 12
    assert len(list(together.folder.glob("encoded/*"))) == 2


def test_transformations_are_corrected_by_holm_and_compared_by_cochran(together):
    assert [(each.model, each.rho) for each in together.across] == [
        ("bow-xgb", 0.0),
        ("bow-xgb", 0.5),
        ("bow-rf", 0.0),
        ("bow-rf", 0.5),
    ]
    for each in together.across:
        p_values = [
            min(1.0, 2 * min(cell.p_value for cell in rho.cells))
            for condition in together.conditions
            if condition.model == each.model
            for rho in condition.rhos
            if rho.rho == each.rho
        ]
        assert each.p_values == tuple(p_values)
        assert each.p_holm == pytest.approx(tuple(holm(p_values)))
        assert len(each.cochran) == (2 if each.rho == 0 else 0)
    condition, tests = together.conditions[0], together.across[0].cochran
    for cell, found in zip(condition.rhos[0].cells, tests, strict=True):
        swap, roads = (read_matched(together.folder, cell.identity, phi.name) for phi in PHIS)
        assert swap["original"].equals(roads["original"])
        outcomes = {
            "original": swap["original_correct"],
            "swap": swap["transformed_correct"],
            "roads": roads["transformed_correct"],
        }
        assert found.statistic == cochran_q_test(outcomes, method="multinomial").statistic


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["holm", "maxt", "minp"])
def test_other_corrections_are_other_conclusions(together, correction):
    result = _run(together.folder, correction=correction)
    assert result.settings.correction == correction
    named = correction if correction == "holm" else f"10000.{correction}"
    assert f"|S:exact|stat:t|alt:two|mc:{named}|" in result.conditions[0].signature
    assert result.settings.n_resamples == (None if correction == "holm" else 10_000)
    for old, new in zip(together.conditions, result.conditions, strict=True):
        for rho, again in zip(old.rhos, new.rhos, strict=True):
            p_values = [cell.p_value for cell in again.cells]
            assert p_values == [cell.p_value for cell in rho.cells]
            if correction == "holm":
                assert again.p_adjusted == pytest.approx(tuple(holm(p_values)))
            else:
                # Joint tests use what the classifiers have in common, and stay below Bonferroni.
                assert max(np.subtract(again.p_adjusted, rho.p_adjusted)) < 0.02
    _run(together.folder)


@pytest.mark.slow
def test_joint_corrections_draw_the_same_rows_for_all(together):
    result = _run(together.folder, correction="maxt")
    rho = result.conditions[0].rhos[0]
    samples = [
        (table["original_correct"], table["transformed_correct"])
        for table in (read_matched(together.folder, cell.identity) for cell in rho.cells)
    ]
    again = combine(samples, correction="maxt")
    assert rho.p_adjusted == pytest.approx(again.p_adjusted, abs=0.02)
    # As many as were asked for: p-values are multiples of 1/(S + 1).
    few = _run(together.folder, correction="maxt", n_resamples=99)
    assert few.settings.n_resamples == 99
    for p_value in few.conditions[0].rhos[0].p_adjusted:
        assert p_value * 100 == pytest.approx(round(p_value * 100))


def test_replicates_of_cochrans_test_are_counted(tmp_path):
    config = {**CONFIG, "data": DataConfig.in_memory(), "model": [TREES], "rho": [0]}
    checked = check_config({**config, "n_classifiers": 1, "n_resamples": 99})
    result = run(checked, tmp_path / "a", splits=toy_splits(), transformation=PHIS)
    ((test,),) = [each.cochran for each in result.across]
    assert test.n_resamples == result.settings.n_resamples == 99
    assert "n_resamples" not in tomllib.loads(to_toml(result, result.conditions[0]))
    with pytest.raises(InputError, match="n_resamples: the exact method has no replicates"):
        run(checked, tmp_path / "b", splits=toy_splits(), transformation=Swap())
    assert not (tmp_path / "b").exists()


def test_names_that_are_the_same_are_numbered_and_twins_refused(tmp_path):
    phis = (Swap(), Swap(new="dozes"))
    result = _run(tmp_path / "a", phis=phis, model=[TREES], rho=[0])
    assert [each.key for each in result.transformations] == ["swap", "swap#2"]
    assert [each.name for each in result.transformations] == ["swap", "swap"]
    with pytest.raises(InputError, match="transformation 'swap' is there twice"):
        _run(tmp_path / "b", phis=(Swap(), Swap()))
    with pytest.raises(InputError, match="model 'bow-xgb' is there twice"):
        _run(tmp_path / "b", model=[TREES, TREES])
    preset = {"name": "bow-xgb", "search": "table7-snli"}
    with make_plan(check_config({**CONFIG, "model": preset}), splits=toy_splits()) as plan:
        same = {"name": "bow-xgb", "params": plan.models[0].params}
    with pytest.raises(InputError, match="model 'bow-xgb' is there twice; leave one of them out"):
        _run(tmp_path / "b", model=[preset, same])
    assert not (tmp_path / "b").exists()


def test_models_share_the_trials_that_they_have_in_common(tmp_path):
    model = [{"search": 1}, {"search": 2}, {"search": 2, "n_voters": 3}]
    result = _run(tmp_path, phis=Swap(), model=model, rho=[0], n_classifiers=1)
    small, large, voting = (own.searches[0].trials for own in result.models)
    assert small == large[:1]
    assert large == voting
    with sqlite3.connect(tmp_path / "run.sqlite") as database:
        ((n_trials,),) = database.execute("SELECT count(*) FROM trials")
    database.close()
    assert n_trials == 2


def test_models_that_share_a_name_are_encoded_apart():
    config = check_config({**CONFIG, "model": [TREES, {**TREES, "name": "toys:ConstantModel"}]})
    with make_plan(config, splits=toy_splits(), transformation=PHIS) as plan:
        assert [own.model.name for own in plan.models] == ["bow-xgb", "bow-xgb"]
        assert len({own.encoding for own in plan.models}) == 2


def test_a_transformation_that_rewords_nothing_stops_the_run(tmp_path):
    with pytest.raises(InputError, match="zebras rewords none"):
        _run(tmp_path, phis=(Swap(), Swap(old="zebra", name="zebras")))
    with RunStore.open(tmp_path, {}) as store:
        assert store.cells() == {}


def test_several_are_configured_by_lists(tmp_path):
    file = tmp_path / "several.toml"
    file.write_text(
        'rho = [0]\nphi = ["syn.careful", "identity"]\n[data]\ndemo = true\n'
        '[[model]]\nname = "bow-xgb"\n[[model]]\nname = "bow-rf"\nsearch = 2\n'
    )
    from ietest_fast.experiment import read_config

    config = read_config(file)
    assert [phi.name for phi in config.phis] == ["syn.careful", "identity"]
    assert [(own.name, own.budget) for own in config.models] == [("bow-xgb", 10), ("bow-rf", 2)]
    # What is given beside holds for each.
    config = read_config(file, {"model": {"search": 3}})
    assert [own.budget for own in config.models] == [3, 3]
    with pytest.raises(ConfigError, match=r"model\.1\.search: must be a budget"):
        check_config(
            {"data": {"demo": True}, "model": ["bow-xgb", {"name": "bow-rf", "search": 0}]}
        )
    with pytest.raises(ConfigError, match="model: names no model"):
        check_config({"data": {"demo": True}, "model": []})
    with pytest.raises(ConfigError, match="model: must be a name or a table"):
        check_config({"data": {"demo": True}, "model": 3})


@pytest.mark.slow
def test_options_may_be_repeated(tmp_path):
    arguments = [
        *("--demo", "--demo-sizes", "200,40,100", "--rho", "0", "-M", "1", "--n-jobs", "1"),
        *("--phi", "syn.careful", "--phi", "syn.paper:tagger=packaged", "--search", "1"),
        *("--model", "bow-xgb", "--model", "bow-rf", "--out", str(tmp_path / "run"), "--json"),
    ]
    with pytest.warns(IetestWarning, match="without a block list"):
        done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    written = json.loads(done.stdout)
    assert [len(each["warnings"]) for each in written["transformations"]] == [0, 1]
    pairs = [(each["model"], each["transformation"]) for each in written["conditions"]]
    assert pairs == [
        ("bow-xgb", "syn.careful"),
        ("bow-xgb", "syn.paper"),
        ("bow-rf", "syn.careful"),
        ("bow-rf", "syn.paper"),
    ]
