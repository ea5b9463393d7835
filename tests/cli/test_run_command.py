"""``ietest-fast run`` as users meet it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from command_line import run_here
from ietest_fast.cli.main import cli
from ietest_fast.cli.run import _overrides, command
from ietest_fast.corpus import demo_splits
from ietest_fast.experiment.config import ModelConfig, RunConfig
from ietest_fast.models import model_names
from waiting import wait_until

COMMAND = [sys.executable, "-W", "error", "-c", "from ietest_fast.cli.main import main; main()"]

PARAMS = [
    *("--param", "n_estimators=5", "--param", "max_depth=3", "--param", "reg_alpha=0.05"),
    *("--param", "gamma=0.05", "--param", "learning_rate=0.5", "--param", "subsample=1.0"),
    *("--param", "colsample_bytree=1.0", "--n-jobs", "1"),
]


@pytest.fixture
def ietest(tmp_path):
    """Run the command line in a fresh folder; give status, stdout, stderr."""

    def call(*arguments, status=0):
        found, out, err = run_here(*arguments, folder=tmp_path)
        assert found == status, (out, err)
        return out, err

    return call


def test_help_names_the_options():
    text = CliRunner().invoke(cli, ["run", "--help"]).output
    for option in ("--demo", "--rho", "--out", "--json", "--fail-on-reject", "--n-jobs"):
        assert option in text


def _options(*arguments):
    options = command.make_context("run", list(arguments)).params
    return _overrides({name: value for name, value in options.items() if name != "config"})


def _keys(model):
    """The dotted keys of a configuration, as its classes have them."""
    keys = set()
    for name, field in model.model_fields.items():
        kinds = (field.annotation, *getattr(field.annotation, "__args__", ()))
        below = [kind for kind in kinds if hasattr(kind, "model_fields")]
        keys |= {f"{name}.{key}" for key in _keys(below[0])} if below else {name}
    return keys


def _keys_of(values):
    keys = set()
    for name, value in values.items():
        # These two are tables of the user's own names.
        nested = isinstance(value, dict) and name not in {"options", "params"}
        keys |= {f"{name}.{key}" for key in _keys_of(value)} if nested else {name}
    return keys


def test_every_key_has_an_option():
    arguments = []
    for option in command.params:
        if option.param_type_name != "option" or option.name == "help":
            continue
        arguments.append(option.opts[0])
        if not option.is_flag:
            example = {"demo_sizes": "30,20,10", "phi": "syn.careful", "method": "exact"}
            example |= {"alpha": ".4", "margin": ".1", "flip_margin": ".1"}
            example |= {"correction": "holm", "pos": "noun", "sense_check": ".", "csv": "quoted"}
            example |= {"mode": "augment", "eval_phi": "negation"}
            pair = "a=1" if option.multiple else "1"
            arguments.append(example.get(option.name, pair))
    given = _keys_of(_options(*arguments))
    # The table [transformation] is another way to write phi.
    of_models = {f"model.{key}" for key in _keys(ModelConfig)}
    assert given == _keys(RunConfig) - {"transformation", "model"} | of_models


def test_sizes_of_the_demonstration():
    assert _options("--demo")["data"] == {"demo": True}
    sizes = {"n_train": 300, "n_valid": 20, "n_test": 10}
    assert _options("--demo", "--demo-sizes", "300,20, 10")["data"] == {"demo": sizes}
    assert _options("--demo-seed", "0")["data"] == {"demo": {"seed": 0}}


def test_how_files_are_read_can_be_told():
    assert _options("--drop-missing-texts")["data"] == {"missing_text": "drop"}
    assert _options("--quoted")["data"] == {"quoted": True}
    assert _options("--not-quoted")["data"] == {"quoted": False}
    assert _options("--csv", "delimiter=;")["data"] == {"csv": "delimiter=;"}


@pytest.mark.parametrize("sizes", ["300", "1,2,3,4", "a,b,c", "1,2,3.5"])
def test_wrong_sizes_of_the_demonstration_are_a_usage_error(ietest, sizes):
    assert "three whole numbers" in ietest("run", "--demo-sizes", sizes, status=2)[1]


def test_a_configuration_keeps_its_transformation(ietest, tmp_path):
    (tmp_path / "run.toml").write_text('phi = "syn.broad"\n[data]\ndemo = true\n')
    errors = ietest("run", "run.toml", "--pos", "noun", "--wordnet-only", status=2)[1]
    assert "--pos and --wordnet-only: CONFIG may name a transformation of its own" in errors
    assert not list(tmp_path.glob("*results*"))
    given = _options("--phi", "syn.broad", "--pos", "noun")["phi"]
    assert [each.parts[0][1].pos for each in given] == [("noun",)]


def test_nothing_to_do_is_a_usage_error(ietest):
    assert "give a CONFIG.toml" in ietest("run", status=2)[1]
    assert "name=value" in ietest("run", "--demo", "--param", "depth", status=2)[1]


def test_mistakes_are_told_at_once_with_status_1(ietest, tmp_path):
    (tmp_path / "run.toml").write_text(
        'rho = [2]\nalpha = 3\ncolour = "red"\n[data]\ntrain = "no.parquet"\n'
    )
    _, errors = ietest("run", "run.toml", status=1)
    for key in ("rho: ", "colour: ", "data.train: ", "alpha: "):
        assert key in errors
    assert not (tmp_path / "ietest-run").exists()


@pytest.mark.parametrize("alpha", ["nan", "inf", "-inf", "0", "1", "-0.1", "x"])
def test_a_level_outside_0_and_1_is_a_usage_error(ietest, tmp_path, alpha):
    (tmp_path / "p.csv").write_text("label,original,transformed\na,a,b\n")
    for arguments in (["run", "--demo"], ["test", "--counts", "1,2,3,4"], ["eval", "p.csv"]):
        out, errors = ietest(*arguments, "--alpha", alpha, status=2)
        assert out == ""
        assert "Invalid value for '--alpha': " in errors
    assert not (tmp_path / "ietest-run").exists()


@pytest.mark.parametrize("alpha", ["0.5", "0.9"])
def test_a_run_is_at_a_level_at_which_equivalence_is_tested(ietest, tmp_path, alpha):
    _, errors = ietest("run", "--demo", "--alpha", alpha, status=2)
    assert f"Invalid value for '--alpha': {alpha} is not in the range 0<x<0.5." in errors
    (tmp_path / "run.toml").write_text(f"alpha = {alpha}\n[data]\ndemo = true\n")
    _, errors = ietest("run", "run.toml", status=1)
    assert (
        f"alpha: equivalence within the margin is tested at a level below 0.5, not at {alpha}"
        in (errors)
    )
    assert not (tmp_path / "ietest-run").exists()


def test_values_of_the_wrong_type_in_toml_are_told(ietest, tmp_path):
    (tmp_path / "run.toml").write_text(
        'rho = [0, true, "1"]\nseed = "7"\nn_jobs = true\nalpha = nan\n[data]\ndemo = true\n'
    )
    _, errors = ietest("run", "run.toml", status=1)
    assert "rho.1: input should be a valid number, not True" in errors
    assert "rho.2: input should be a valid number, not '1'" in errors
    assert "seed: input should be a valid integer, not '7'" in errors
    assert "n_jobs: input should be a valid integer, not True" in errors
    assert "alpha: input should be less than 1, not nan" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--model", "nope"],
            "model.name: no model is called 'nope'; there are bow-xgb, bow-rf, align",
        ),
        (["--model", "nope", "--search", "x"], "model.name: no model is called 'nope'; there are"),
        (
            ["--model-option", "nope=1"],
            "model.options: the model 'bow-xgb' has no option 'nope'; it has weighting",
        ),
        (
            [*PARAMS, "--param", "max_depth=-1"],
            "model.params.max_depth: must be a whole number from 1 to 2,147,483,647, not -1",
        ),
        (
            [*PARAMS, "--param", "max_depth=abc"],
            "model.params.max_depth: must be a whole number from 1 to 2,147,483,647, not 'abc'",
        ),
        (
            [*PARAMS, "--param", "subsample=1.5"],
            "model.params.subsample: must be a number above 0 and at most 1, not 1.5",
        ),
        (["--search", "nope"], "the name of a preset ('table7-snli', 'table7-mnli'), not 'nope'"),
    ],
)
def test_mistakes_about_the_model_are_told_once(ietest, tmp_path, arguments, message):
    _, errors = ietest("run", "--demo", *arguments, status=2)
    assert errors.count("Error: ") == errors.count(message) == 1
    assert not (tmp_path / "ietest-run").exists()


def _write_data(folder):
    splits = demo_splits(n_train=400, n_valid=100, n_test=400, seed=1)
    for name, corpus in splits._asdict().items():
        pq.write_table(corpus.table, folder / f"{name}.parquet")


def test_a_file_with_the_wrong_columns_is_named(ietest, tmp_path):
    _write_data(tmp_path)
    table = pq.read_table(tmp_path / "test.parquet").rename_columns(["a", "b", "label"])
    pq.write_table(table, tmp_path / "test.parquet")
    files = [
        part
        for name in ("train", "valid", "test")
        for part in (f"--{name}", tmp_path / f"{name}.parquet")
    ]
    _, errors = ietest("run", *files, *PARAMS, status=1)
    assert "test.parquet" in errors
    assert not (tmp_path / "ietest-run").exists()


def test_one_class_data_is_refused(ietest, tmp_path):
    _write_data(tmp_path)
    table = pq.read_table(tmp_path / "train.parquet")
    import pyarrow.compute as pc

    table = table.filter(pc.equal(table["label"], 0))
    pq.write_table(table, tmp_path / "train.parquet")
    (tmp_path / "run.toml").write_text(
        '[data]\ntrain = "train.parquet"\nvalid = "valid.parquet"\ntest = "test.parquet"\n'
    )
    _, errors = ietest("run", "run.toml", *PARAMS, status=1)
    assert "train.parquet" in errors
    assert "two labels" in errors


SMALL = ["--rho", "0,1", "-M", "2", *PARAMS, "--n-jobs", "1"]


def _toml(folder):
    _write_data(folder)
    (folder / "run.toml").write_text(
        'rho = "0:1:0.5"\nn_classifiers = 2\nn_jobs = 1\n[data]\nname = "small"\n'
        'train = "train.parquet"\nvalid = "valid.parquet"\ntest = "test.parquet"\n'
    )
    return folder / "run.toml"


def test_a_small_run_prints_a_table_and_writes_its_files(ietest, tmp_path):
    out, errors = ietest("run", _toml(tmp_path), *PARAMS, "--out", "here")
    assert errors == ""
    assert "Paper's rule" in out
    assert "\nie|n:400|" in out
    detailed, _ = ietest("run", _toml(tmp_path), *PARAMS, "--out", "here", "--details")
    assert all(part in detailed for part in ("smallest p", "SNR", "Signature: ie|n:400|"))
    written = json.loads((tmp_path / "here" / "results.json").read_text())
    assert [rho["rho"] for rho in written["conditions"][0]["rhos"]] == [0.0, 0.5, 1.0]
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert {"accuracy.svg", "accuracy.png", "p_values.svg", "p_values.png"} <= names
    # Machines get the same; options take the place of the file's values.
    out, _ = ietest("run", _toml(tmp_path), *PARAMS, "--out", "here", "--json")
    assert json.loads(out) == written
    out, _ = ietest("run", _toml(tmp_path), *SMALL, "--out", "there", "--json")
    assert [rho["rho"] for rho in json.loads(out)["conditions"][0]["rhos"]] == [0.0, 1.0]
    _, errors = ietest("run", _toml(tmp_path), *SMALL, "--out", "here", status=1)
    assert "these differ: rho" in errors


@pytest.mark.slow
def test_rejection_can_be_a_status(ietest, tmp_path):
    arguments = ["run", _toml(tmp_path), *PARAMS, "--json", "--alpha", "0.49"]
    out, _ = ietest(*arguments)
    rejected = json.loads(out)["reject"]
    ietest(*arguments, "--fail-on-reject", status=3 if rejected else 0)


@pytest.mark.slow
def test_ctrl_c_says_how_to_continue(tmp_path):
    toml = _toml(tmp_path)
    arguments = ["run", str(toml), *PARAMS, "--rho", "0:1:0.01", "--out", str(tmp_path / "out")]
    arguments += ["--n-jobs", "2"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    wait_until(lambda: list(tmp_path.glob("out/cells/*.parquet")), process)
    os.kill(process.pid, signal.SIGINT)
    out, errors = process.communicate()
    assert process.returncode == 130
    assert "go on with:" in errors
    assert "ietest-fast run" in errors
    assert "--rho 0:1:0.01" in errors
    assert "Traceback" not in errors
    assert out == ""
    assert not list(tmp_path.rglob("*.unfinished"))


@pytest.mark.slow
def test_the_demo_runs(ietest, tmp_path):
    out, _ = ietest("run", "--demo", "--json")
    result = json.loads(out)
    assert [rho["rho"] for rho in result["conditions"][0]["rhos"]] == [0, 0.25, 0.5, 0.75, 1]
    assert all(len(rho["cells"]) == 5 for rho in result["conditions"][0]["rhos"])
    for rho in result["conditions"][0]["rhos"]:
        assert 0.55 < rho["accuracy_original"]["mean"] < 0.85


def test_models_that_cannot_be_kept_are_refused_before_anything_is_trained(ietest, tmp_path):
    arguments = ["--demo-sizes", "60,30,30", "--keep-models", "--out", str(tmp_path / "run")]
    _, errors = ietest("run", "--demo", *PARAMS, *arguments, status=1)
    assert "classifiers of the model 'bow-xgb' cannot be kept" in errors
    assert not list((tmp_path / "run" / "cells").glob("*"))


def test_the_models_are_listed():
    done = CliRunner().invoke(cli, ["run", "--model"])
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == list(model_names())
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.slow
def test_classifiers_are_evaluated_on_further_test_sets(ietest, tmp_path):
    """Table 5 of Naik et al. (2018) from one command."""
    arguments = ["run", "--demo", "--demo-sizes", "300,60,90", "--rho", "0,1", "-M", "2", *PARAMS]
    arguments += ["--phi", "negation", "--mode", "augment"]
    further = ["--eval-phi", "negation:tautology=green is not red", "--eval-phi", "word-overlap"]
    out, _ = ietest(*arguments, *further, "--out", "a")
    below = out.partition("The same classifiers on further test sets:")[2]
    for name in ("original", "negation (trained on)", "word-overlap"):
        assert f" {name} " in below
    (tmp_path / "run.toml").write_text(
        'phi = "negation"\nmode = "augment"\nrho = [0, 1]\nn_classifiers = 2\n'
        'eval_phi = [{ name = "negation", tautology = "green is not red" }, "word-overlap"]\n'
        "[data.demo]\nn_train = 300\nn_valid = 60\nn_test = 90\n"
    )
    as_json, _ = ietest("run", "run.toml", *PARAMS, "--out", "b", "--json")
    written = (tmp_path / "a" / "results.json").read_bytes()
    assert json.loads(as_json) == json.loads(written)
    assert (tmp_path / "b" / "results.json").read_bytes() == written
    # Options take the place of the file's.
    fewer, _ = ietest("run", "run.toml", *PARAMS, *further[2:], "--out", "b", "--json")
    assert [each["key"] for each in json.loads(fewer)["evaluated"]] == ["word-overlap"]
    for wrong, status, said in (
        ("no-such-thing", 1, "no-such-thing"),
        ("negation:tautologie=x", 1, "tautologie"),
        ("negation", 1, "is a transformation of this run already"),
    ):
        _, err = ietest(*arguments, "--eval-phi", wrong, "--out", "c", status=status)
        assert said in err
    _, err = ietest(*arguments, *further, *further[2:], "--out", "c", status=1)
    assert "'word-overlap' is there twice" in err
    # What is finished has not answered the other test set.
    (tmp_path / "d").mkdir()
    ietest(*arguments, "--out", "d")
    _, err = ietest(*arguments, *further, "--out", "d", status=1)
    assert "was finished without answering negation:tautology=green is not red" in err


def test_one_classifier_is_told_what_eval_tells_of_its_answers(ietest, tmp_path):
    out, _ = ietest("run", _toml(tmp_path), *PARAMS, "--rho", "0", "-M", "1", "--out", "one")
    (cell,) = (tmp_path / "one" / "cells").iterdir()
    said, _ = ietest("eval", cell)
    first = said.splitlines()[0]
    assert out.splitlines()[0] == f"bow-xgb, syn.careful: {first[:1].lower()}{first[1:]}"
    found = json.loads((tmp_path / "one" / "results.json").read_text())["conditions"][0]["claims"]
    again = json.loads(ietest("eval", cell, "--json")[0])
    assert found["verdict"] == again["invariance"]["verdict"]
    assert found["p_values"]["change"] == pytest.approx(again["invariance"]["p_difference"])
