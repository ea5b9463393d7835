"""Configurations: every mistake at once, each with its key."""

from __future__ import annotations

import pytest

from ietest_fast.errors import ConfigError
from ietest_fast.experiment import check_config, read_config
from ietest_fast.experiment.config import ModelConfig, parse_rho
from toys import QUICK, NothingToSearch

DEMO = {"data": {"demo": True}}


def _problems(values):
    with pytest.raises(ConfigError) as caught:
        check_config(values)
    return caught.value.problems


def test_the_demo_needs_nothing_else():
    config = check_config(DEMO)
    assert config.rho == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert (config.n_classifiers, config.alpha, config.seed, config.used_method) == (
        5,
        0.05,
        0,
        "exact",
    )
    assert config.models[0].budget == 10
    assert config.used_resamples is None


def test_all_mistakes_are_told_at_once_with_their_keys():
    problems = _problems(
        {
            "data": {"demo": 5, "bogus": 1, "train": "nowhere.parquet"},
            "transformation": {"rules": "rough", "block_list": "nowhere.txt"},
            "phi": ["syn.carefull"],
            "model": {"search": "table99"},
            "rho": [0, 1.5],
            "n_classifiers": 0,
            "alpha": 1,
            "seed": -1,
            "n_resamples": 10,
            "n_jobs": "many",
            "colour": "red",
        }
    )
    keys = {problem.split(":")[0] for problem in problems}
    assert keys == {
        "data.demo",
        "data.bogus",
        "data.train",
        "transformation.rules",
        "phi.0",
        "transformation.block_list",
        "model.search",
        "rho",
        "n_classifiers",
        "alpha",
        "seed",
        "n_resamples",
        "n_jobs",
        "colour",
    }


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        ({"search": 0}, "model.search: must be a budget of at least 1"),
        ({"search": True}, "model.search"),
        ({"name": "unheard-of"}, "model.name: no model is called 'unheard-of'; there are bow-xgb"),
        ({"name": "no.such:Model"}, "model.name: the model 'no.such:Model' cannot be imported"),
        (
            {"options": {"nope": 1}},
            "model.options: the model 'bow-xgb' has no option 'nope'; it has",
        ),
        ({"options": {"weighting": "bm25"}}, "model.options: weighting must be"),
        ({"params": {"max_depth": 3}}, "model.params.gamma: is missing"),
        ({"search": 3, "params": {}}, "model.params: leaves no room for search"),
    ],
)
def test_mistakes_about_the_model(model, complaint):
    assert any(p.startswith(complaint) for p in _problems({**DEMO, "model": model}))


def test_a_model_without_a_search_space_is_not_searched():
    for model in ("toys:NothingToSearch", ModelConfig.of(NothingToSearch())):
        (own,) = check_config({**DEMO, "model": model}).models
        assert (own.params, own.budget) == ({}, None)
    (problem,) = _problems({**DEMO, "model": {"name": "toys:NothingToSearch", "search": 5}})
    assert problem == "model.search: this model has nothing to search for; leave search out"


def test_equal_hyperparameters_are_the_same_setting():
    def params(**changes):
        config = check_config({**DEMO, "model": {"params": {**QUICK, **changes}}})
        return config.models[0].settings()["params"]

    same = params(max_depth=6.0, subsample=1)
    assert same == params(max_depth=6, subsample=1.0)
    assert (repr(same["max_depth"]), repr(same["subsample"])) == ("6", "1.0")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({}, "data: needs train, valid, test"),
        ({"demo": False}, "data: needs train, valid, test"),
        ({"demo": True, "train": "FILE"}, "data: demo leaves no room for train"),
        (
            {"test": "FILE", "train": "FILE", "split": {"file": "FILE", "n_valid": 5, "n_test": 5}},
            "data: split takes the place of test",
        ),
        ({"split": {"file": "FILE", "n_valid": 5, "n_test": 5}}, "data: with split, give either"),
        (
            {"train": "FILE", "split": {"file": "FILE", "n_valid": 5}},
            "data.split.n_test: is missing",
        ),
        ({"train": "FILE"}, "data: needs valid, test"),
    ],
)
def test_mistakes_about_the_data(tmp_path, data, complaint):
    file = tmp_path / "some.parquet"
    file.touch()

    def fill(value):
        if isinstance(value, dict):
            return {name: fill(below) for name, below in value.items()}
        return str(file) if value == "FILE" else value

    assert any(p.startswith(complaint) for p in _problems({"data": fill(data)}))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:1:0.1", [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        ("0:0.9:0.3", [0, 0.3, 0.6, 0.9]),
        ("0.5", [0.5]),
        ("1, 0,0.25", [1, 0, 0.25]),
    ],
)
def test_rho_as_text(text, values):
    assert parse_rho(text) == values
    assert check_config({**DEMO, "rho": text}).rho == tuple(values)


@pytest.mark.parametrize("text", ["", "a", "0:1", "0:1:0", "1:0:0.1", "0:1:-1", "0:1:1e-9", "0,,1"])
def test_rho_as_wrong_text(text):
    assert any(p.startswith("rho: ") for p in _problems({**DEMO, "rho": text}))


@pytest.mark.parametrize(
    "text",
    ["0:inf:1", "0:nan:1", "1:0:nan", "nan:1:1", "0:snan:1", "-inf:1:1", "0,inf", "nan", "snan"],
)
def test_rho_must_be_finite(text):
    (problem,) = _problems({**DEMO, "rho": text})
    assert problem.startswith("rho: must be numbers like")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0:1:0.3", r"rho: '0:1:0.3' ends at 0.9, for its steps do not lead to 1; choose another"),
        ("0.1:0.5:0.3", "rho: '0.1:0.5:0.3' ends at 0.4, for its steps do not lead to 0.5"),
        ("0:1:2", "rho: '0:1:2' ends at 0, for its steps do not lead to 1"),
        ("0:1:0.000099", "rho: more than 10,001 values"),
        ("0:1:1e-999999", "rho: more than 10,001 values"),
        ("0:1:1e-999999999999", "rho: more than 10,001 values"),
        ("0:1e999999999999:1", "rho: must be numbers like"),
        ("0:1e999999:1e999999", "rho: must"),
        ("0:1:1e999999999999", "rho: must"),
    ],
)
def test_rho_of_any_size_is_answered_at_once(text, complaint):
    (problem,) = _problems({**DEMO, "rho": text})
    assert problem.startswith(complaint)


def test_ten_thousand_steps_of_rho_are_allowed():
    values = parse_rho("0:1:0.0001")
    assert len(values) == 10_001
    assert values[3] == 0.0003
    assert values[-1] == 1.0


@pytest.mark.parametrize("rho", [[], [0, 0], [float("nan")], ["x"], None])
def test_wrong_values_of_rho(rho):
    assert any(p.startswith("rho") for p in _problems({**DEMO, "rho": rho}))


def test_toml_with_paths_from_its_folder_and_options_over_it(tmp_path):
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.parquet").touch()
    file = tmp_path / "run.toml"
    file.write_text(
        'rho = "0:1:0.5"\nseed = 3\n'
        '[data]\ntrain = "train.parquet"\nvalid = "valid.parquet"\ntest = "test.parquet"\n'
        '[model]\nsearch = "table7-snli"\n'
    )
    config = read_config(file, {"seed": 4, "model": {"search": 2}})
    assert config.data.train == tmp_path / "train.parquet"
    assert config.data_name == tmp_path.name
    assert (config.seed, config.models[0].budget, config.rho) == (4, 2, (0.0, 0.5, 1.0))


@pytest.mark.parametrize(
    ("content", "complaint"), [(b"rho = ", "is not TOML"), (b"\xff\xfe", "is not UTF-8")]
)
def test_toml_that_cannot_be_read(tmp_path, content, complaint):
    file = tmp_path / "run.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=complaint):
        read_config(file)
    with pytest.raises(ConfigError, match="no such file"):
        read_config(tmp_path / "absent.toml")


def test_settings_hold_what_results_depend_on_and_nothing_else():
    base = check_config(DEMO).settings()
    assert check_config({**DEMO, "n_jobs": 3, "n_threads": 2}).settings() == base
    for change in (
        {"seed": 1},
        {"alpha": 0.1},
        {"n_classifiers": 4},
        {"rho": [0]},
        {"method": "multinomial"},
        {"margin": 0.02},
        {"correction": "holm"},
    ):
        assert check_config({**DEMO, **change}).settings() != base
    other = check_config({**DEMO, "model": {"search": 3}}).models[0]
    assert other.settings() != check_config(DEMO).models[0].settings()
    # Said or left out, it is the same.
    said = {"model": {"search": 10}, "alpha": 0.05, "rho": "0:1:0.25"}
    assert check_config({**DEMO, **said}).settings() == base


def test_a_moved_folder_is_the_same_data_unless_it_is_named(tmp_path):
    def config(folder, **more):
        (tmp_path / folder).mkdir(exist_ok=True)
        paths = {name: tmp_path / folder / f"{name}.parquet" for name in ("train", "valid", "test")}
        for path in paths.values():
            path.touch()
        return check_config({"data": {**paths, **more}})

    here, there = config("here"), config("there")
    assert (here.data_name, there.data_name) == ("here", "there")
    assert here.settings() == there.settings()
    assert config("here", name="snli").settings() == config("there", name="snli").settings()
    assert config("here", name="snli").settings() != here.settings()


@pytest.mark.parametrize("n_resamples", [0, 2**63, 10**30])
def test_replicates_are_counted_in_64_bits(n_resamples):
    values = {**DEMO, "method": "multinomial", "n_resamples": n_resamples}
    (problem,) = _problems(values)
    assert problem.startswith("n_resamples: ")
    assert check_config({**values, "n_resamples": 2**63 - 1}).used_resamples == 2**63 - 1


def test_monte_carlo_has_a_default_number_of_replicates():
    assert check_config({**DEMO, "method": "multinomial"}).used_resamples == 10_000
    assert check_config({**DEMO, "method": "resample", "n_resamples": 7}).used_resamples == 7


def test_replicates_are_for_whatever_is_drawn():
    drawn = {**DEMO, "n_resamples": 99}
    for more in ({"correction": "maxt"}, {"correction": "minp"}, {"method": "resample"}):
        assert check_config({**drawn, **more}).used_resamples == 99
    assert check_config({**DEMO, "correction": "maxt"}).used_resamples == 10_000
    # Cochran's Q is about several transformations, at rho = 0.
    several = {"phi": ["syn.careful", "identity"]}
    assert check_config({**drawn, **several}).used_resamples == 99
    assert check_config({**DEMO, **several}).used_resamples is None
    for more in ({}, {"phi": "identity"}, {"correction": "holm"}, {**several, "rho": [0.5]}):
        (problem,) = _problems({**drawn, **more})
        assert problem.startswith("n_resamples: the exact method has no replicates")


def test_clusters_are_resampled():
    clustered = {"data": {"demo": True, "cluster": "premise"}}
    config = check_config(clustered)
    assert (config.used_method, config.used_resamples) == ("resample", 10_000)
    assert check_config({**clustered, "n_resamples": 99}).used_resamples == 99
    (problem,) = _problems({**clustered, "method": "exact"})
    assert problem == "method: clusters are resampled; 'exact' is not for them"
    assert config.settings() != check_config(DEMO).settings()


def test_an_option_does_not_hide_a_mistake_of_the_file():
    from ietest_fast.experiment.config import merge

    merged = merge({"data": "x", "model": {"name": "bow-xgb"}}, {"data": {"demo": True}})
    assert merged == {"data": "x", "model": {"name": "bow-xgb"}}


@pytest.mark.parametrize(
    ("content", "overrides", "models"),
    [
        ('model = "bow-rf"', {"search": 3}, [("bow-rf", 3)]),
        ('model = "bow-rf"', {"name": "bow-xgb"}, [("bow-xgb", 10)]),
        ('model = ["bow-xgb", "bow-rf"]', {"search": 3}, [("bow-xgb", 3), ("bow-rf", 3)]),
        ('model = ["bow-xgb", "bow-rf"]', {"name": "bow-rf", "search": 3}, [("bow-rf", 3)]),
        ('[[model]]\nname = "bow-rf"\nsearch = 2\n', {"name": "bow-xgb"}, [("bow-xgb", 10)]),
    ],
)
def test_options_are_laid_over_every_form_of_a_model(tmp_path, content, overrides, models):
    file = tmp_path / "run.toml"
    file.write_text(f"{content}\n[data]\ndemo = true\n")
    config = read_config(file, {"model": overrides})
    assert [(own.name, own.budget) for own in config.models] == models


@pytest.mark.parametrize(
    ("content", "demo", "n_train"),
    [
        ("demo = true", {"n_train": 200}, 200),
        ("demo = false", {"n_train": 200}, 200),
        ("demo = { n_train = 300 }", {"n_test": 100}, 300),
        ("demo = { n_train = 300 }", True, 300),
    ],
)
def test_sizes_of_the_demonstration_are_laid_over_every_form_of_it(
    tmp_path, content, demo, n_train
):
    file = tmp_path / "run.toml"
    file.write_text(f"[data]\n{content}\n")
    assert read_config(file, {"data": {"demo": demo}}).data.demo.n_train == n_train


def test_options_are_laid_over_the_name_of_a_transformation(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text('transformation = "syn.paper"\n[data]\ndemo = true\n')
    (phi,) = read_config(file, {"transformation": {"tagger": "packaged"}}).phis
    ((kind, options),) = phi.parts
    assert (kind.name, options.tagger) == ("syn.paper", "packaged")


def test_an_unknown_model_is_told_once():
    for more in ({"search": "table7-snli"}, {"params": {"max_depth": 1}}, {"options": {"x": 1}}):
        (problem,) = _problems({**DEMO, "model": {"name": "unheard-of", **more}})
        assert problem.startswith("model.name: ")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"rho": [0, True]}, "rho.1: input should be a valid number, not True"),
        ({"rho": [0, "0.5"]}, "rho.1: input should be a valid number, not '0.5'"),
        ({"rho": True}, "rho: must be a number, a list"),
        ({"n_classifiers": True}, "n_classifiers: input should be a valid integer, not True"),
        ({"n_classifiers": "5"}, "n_classifiers: input should be a valid integer, not '5'"),
        ({"n_classifiers": 5.0}, "n_classifiers: input should be a valid integer, not 5.0"),
        ({"alpha": "0.1"}, "alpha: input should be a valid number, not '0.1'"),
        ({"alpha": float("nan")}, "alpha: input should be less than 1, not nan"),
        ({"seed": False}, "seed: input should be a valid integer, not False"),
        ({"data": {"demo": True, "quoted": 1}}, "data.quoted: input should be a valid boolean"),
        ({"data": {"demo": True, "name": 1}}, "data.name: input should be a valid string, not 1"),
        ({"data": {"demo": True, "label_names": ["a", 1]}}, "data.label_names.1: input should be"),
        ({"data": {"demo": {"n_train": "30"}}}, "data.demo.n_train: input should be a valid"),
        (
            {"transformation": {"block_list": 1}},
            "transformation.block_list: must be the name of a file",
        ),
    ],
)
def test_a_value_of_another_type_is_refused(values, complaint):
    assert any(p.startswith(complaint) for p in _problems({**DEMO, **values}))


FILES = dict.fromkeys(("train", "valid", "test"), __file__)


def test_whole_numbers_are_numbers():
    config = check_config({**DEMO, "rho": [0, 1], "data": {**FILES, "label_names": ["a"]}})
    assert repr(config.rho) == "(0.0, 1.0)"
    assert config.data.label_names == ("a",)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("snli/test.csv", "snli"),
        ("w/snli_1.0_test.csv", "snli-1-0"),
        ("data/mnli-dev.csv", "mnli"),
        ("w/test.csv", "w"),
    ],
)
def test_data_are_named_by_their_folder_unless_that_says_nothing(tmp_path, file, name):
    path = tmp_path / file
    path.parent.mkdir()
    path.touch()
    config = check_config({"data": {"train": path, "valid": path, "test": path}})
    assert config.data_name == name
