"""Numbers of training rows as an axis of a run."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pyarrow as pa
import pytest

import ietest_fast as ie
from command_line import run_here
from ietest_fast.corpus import Corpus
from ietest_fast.corpus.dataset import DataGeneratingProcess, resampling_key
from ietest_fast.errors import ConfigError, InputError, StoreError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.data import Splits
from ietest_fast.experiment.finished import finished_runs
from ietest_fast.experiment.identity import TrainingDraw
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run import run
from ietest_fast.experiment.view import print_summary
from ietest_fast.experiment.view.learning import chosen_rhos, curves_of_runs
from ietest_fast.experiment.view.result_tables import across_tables
from ietest_fast.experiment.view.run_sections import to_toml
from toys import LABELS, QUICK, Swap, toy_corpus, toy_splits

PHIS = (Swap(), Swap(old="street", new="road", name="roads"))
NGRAMS = {"name": "ngram-linear", "search": "default", "options": {"bits": 12}}
CONFIG = {
    "data": {"demo": True, "name": "toys"},
    "model": NGRAMS,
    "rho": [0, 1],
    "n_classifiers": 2,
    "n_jobs": 1,
    "seed": 4,
}
SIZES = (60, 300, 150)


def _run(folder, phis=Swap(), splits=None, **changes):  # noqa: B008 - frozen
    config = check_config({**CONFIG, **changes})
    return run(config, folder, splits=splits or toy_splits(), transformation=phis)


@pytest.fixture(scope="module")
def sized(tmp_path_factory):
    return _run(tmp_path_factory.mktemp("run") / "sized", train_size=SIZES, rho=[0, 0.5, 1])


def _numbers(rho):
    """All but identities and signatures, which say what a classifier was trained on."""
    written = rho.to_dict()
    del written["signature"]
    for cell in written["cells"]:
        del cell["identity"]
    return written


def test_subsets_are_nested_and_those_of_numpys_generator():
    process = DataGeneratingProcess(seed=3)
    generator = np.random.Generator(np.random.Philox(key=resampling_key(3), counter=[0, 0, 2, 0]))
    order = np.argsort(generator.random(1000))
    before = set()
    for size in (1, 2, 10, 999, 1000):
        rows = process.subset(1000, size)
        assert rows.tolist() == sorted(order[:size])
        assert before <= set(rows.tolist())
        before = set(rows.tolist())
    assert (process.subset(1000, 10) != DataGeneratingProcess(seed=4).subset(1000, 10)).any()
    # They are drawn apart from which rows are transformed.
    assert (process.uniforms("train", 0, 1000) != generator.random(1000)).any()
    for size in (0, 1001):
        with pytest.raises(InputError, match=f"{size} of 1000 rows cannot be chosen"):
            process.subset(1000, size)


def test_every_size_has_a_condition_in_the_order_of_the_configuration(sized):
    assert [each.train_size for each in sized.conditions] == list(SIZES)
    assert sized.settings.train_size == SIZES
    for condition in sized.conditions:
        assert f"|train:{condition.train_size}|" in condition.signature
        for rho in condition.rhos:
            assert f"|train:{condition.train_size}|" in rho.signature
    assert len({cell.identity for cell in sized.cells}) == len(sized.cells) == 18
    assert read_results(sized.folder).to_dict() == sized.to_dict()


def test_a_size_is_a_run_on_a_file_of_these_rows(sized, tmp_path):
    whole = toy_splits()
    rows = DataGeneratingProcess(seed=4).subset(300, 60)
    few = Corpus(
        table=whole.train.table.take(pa.array(rows)),
        text_columns=whole.train.text_columns,
        label_names=LABELS,
    )
    alone = _run(tmp_path, splits=Splits(train=few, valid=whole.valid, test=whole.test))
    for place, rho in ((0, alone.rhos[0]), (2, alone.rhos[1])):
        assert _numbers(sized.conditions[0].rhos[place]) == _numbers(rho)
    assert _numbers(sized.conditions[0].rhos[0]) != _numbers(sized.conditions[2].rhos[0])


def test_all_rows_are_those_of_a_run_without_sizes(sized, tmp_path):
    plain = _run(tmp_path, rho=[0, 0.5, 1])
    assert plain.only.train_size is None
    for own, rho in zip(sized.conditions[1].rhos, plain.rhos, strict=True):
        assert _numbers(own) == _numbers(rho)


def test_a_row_is_transformed_whatever_the_size(sized):
    """Of so many rows those are transformed that are in the whole training set."""
    process = DataGeneratingProcess(seed=4)
    for condition in sized.conditions:
        rows = process.subset(300, condition.train_size)
        for cell in condition.rhos[1].cells:
            mask = process.mask("train", rho=0.5, m=cell.m, n=300)
            assert cell.train_transformed == mask[rows].sum()
        assert [cell.train_transformed for cell in condition.rhos[2].cells] == [
            condition.train_size
        ] * 2
    assert (
        len({rho.cells[0].valid_transformed for rho in (c.rhos[1] for c in sized.conditions)}) == 1
    )


def test_sizes_alone_are_as_beside_others(sized, tmp_path):
    alone = _run(tmp_path, train_size="150", rho=[0, 0.5, 1])
    assert alone.only.to_dict() == sized.conditions[2].to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["replace", "augment"])
def test_beside_transformations_and_further_test_sets(tmp_path, mode):
    result = _run(
        tmp_path / "both",
        PHIS,
        train_size=[60, 150],
        mode=mode,
        eval_phi=["negation", "word-overlap"],
    )
    keys = [(each.transformation, each.train_size) for each in result.conditions]
    assert keys == [("swap", 60), ("swap", 150), ("roads", 60), ("roads", 150)]
    assert [(each.train_size, each.rho) for each in result.across] == [
        (60, 0.0),
        (60, 1.0),
        (150, 0.0),
        (150, 1.0),
    ]
    # Classifiers of rho = 0 serve all transformations, and those of each size are others.
    first = [condition.rhos[0].cells[0].identity for condition in result.conditions]
    assert first[0] == first[2] != first[1] == first[3]
    small = _run(
        tmp_path / "small", PHIS, train_size=60, mode=mode, eval_phi=["negation", "word-overlap"]
    )
    for condition in small.conditions:
        (same,) = [
            each
            for each in result.conditions
            if (each.transformation, each.train_size) == (condition.transformation, 60)
        ]
        assert condition.to_dict() == same.to_dict()
        own, others = small.evaluations_of(condition), result.evaluations_of(same)
        assert [each.to_dict() for each in own] == [each.to_dict() for each in others]
        assert len(own) == 2
    assert [each.to_dict() for each in small.across] == [
        each.to_dict() for each in result.across[:2]
    ]
    assert read_results(result.folder).to_dict() == result.to_dict()
    holm, cochran = across_tables(finished_runs(result))
    for table in (holm, cochran):
        assert len({row[:3] for row in table.rows}) == len(table.rows)
        assert table.rows[0][0] == "ngram-linear (60 training rows)"


@pytest.mark.slow
def test_the_search_takes_the_largest_size(tmp_path):
    model = {"name": "ngram-linear", "search": 3, "options": {"bits": 12}}
    both = _run(tmp_path / "both", model=model, train_size=[10, 20], rho=0)
    (search,) = both.models[0].searches
    assert search.train_size == 20
    large = _run(tmp_path / "large", model=model, train_size=20, rho=0)
    assert large.models[0].searches == both.models[0].searches
    every = _run(tmp_path / "every", model=model, rho=0)
    assert every.models[0].searches[0].train_size is None
    assert [trial.valid_accuracy for trial in every.models[0].searches[0].trials] != [
        trial.valid_accuracy for trial in search.trials
    ]


def test_a_search_of_each_resample_takes_its_rows(tmp_path):
    model = {**NGRAMS, "search": 2, "search_per_resample": True}
    result = _run(tmp_path, model=model, train_size=[60, 150], rho=0)
    searches = result.models[0].searches
    assert [(each.m, each.train_size) for each in searches] == [
        (0, 60),
        (1, 60),
        (0, 150),
        (1, 150),
    ]
    assert read_results(result.folder).models[0].searches == searches


@pytest.mark.slow
def test_processes_change_nothing(sized, tmp_path):
    again = _run(tmp_path, train_size=SIZES, rho=[0, 0.5, 1], n_jobs=2, phis=["negation"])
    one = _run(tmp_path / "one", train_size=SIZES, rho=[0, 0.5, 1], phis=["negation"])
    assert again.to_dict() == one.to_dict()
    assert len(again.conditions) == len(sized.conditions)


@pytest.mark.slow
def test_kept_classifiers_have_names_of_their_own_and_answer_later(tmp_path):
    how = {"train_size": [60, 150], "keep_models": True}
    _run(tmp_path / "run", **how)
    kept = sorted(path.name for path in (tmp_path / "run" / "models").iterdir())
    assert kept == [
        f"train-{size}-rho-{rho}-m-{m}" for size in (150, 60) for rho in (0, 1) for m in (0, 1)
    ]
    late = _run(tmp_path / "run", eval_phi="negation", **how)
    whole = _run(tmp_path / "whole", eval_phi="negation", **how)
    assert late.to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("sizes", "match"),
    [
        ("60,many", r'train_size: must be whole numbers like "1000,5000"'),
        (1, "train_size: must be at least 2, not 1"),
        ([60, 60], "train_size: names a value more than once"),
        ([60.5], "train_size"),
        (True, "train_size: must be a whole number or a list of them, not True"),
        ({"a": 1}, "train_size: must be a whole number or a list of them"),
        (list(range(2, 1003)), "train_size: more than 1,000 sizes are too many"),
    ],
)
def test_mistakes_in_the_configuration(sizes, match):
    with pytest.raises(ConfigError, match=match):
        check_config({**CONFIG, "train_size": sizes})


def test_sizes_that_the_data_do_not_have(tmp_path):
    with pytest.raises(
        InputError, match="has 300 labelled rows, not 301; name sizes from 2 to 300"
    ):
        _run(tmp_path, train_size=[60, 301])
    corpus = toy_corpus(300, 1)
    labels = np.zeros(300, np.int8)
    last = np.setdiff1d(np.arange(300), DataGeneratingProcess(seed=4).subset(300, 299))
    labels[last] = 1
    place = corpus.table.column_names.index("label")
    one_sided = Corpus(
        table=corpus.table.set_column(place, "label", [labels]),
        text_columns=corpus.text_columns,
        label_names=LABELS,
    )
    whole = toy_splits()
    splits = Splits(train=one_sided, valid=whole.valid, test=whole.test)
    message = "the 60 rows that are drawn all have the label 'entailment'"
    with pytest.raises(InputError, match=message):
        _run(tmp_path, train_size=60, splits=splits)
    assert not list(tmp_path.iterdir())


def test_results_whose_sizes_are_not_the_settings_are_refused(sized, tmp_path):
    written = sized.to_dict()
    written["conditions"][0]["train_size"] = 61
    (tmp_path / "results.json").write_text(json.dumps(written))
    with pytest.raises(StoreError, match="the numbers of training rows are not the settings'"):
        read_results(tmp_path)


def test_a_configuration_read_back_makes_the_same_run(sized, tmp_path):
    values = tomllib.loads(to_toml(sized, sized.conditions[2]))
    assert values["train_size"] == 150
    again = _run(tmp_path, train_size=values["train_size"], rho=[0, 0.5, 1])
    assert again.only.to_dict() == sized.conditions[2].to_dict()


def test_curves_and_their_rho(sized):
    (curve,) = curves_of_runs(finished_runs(sized))
    assert [run.condition.train_size for run in curve] == [60, 150, 300]
    assert curve[0].name == "ngram-linear (60 training rows)"
    assert chosen_rhos([0.5, 0.0, 1.0, 0.25], 2) == [0.0, 1.0]
    assert chosen_rhos([0.5], 2) == [0.5]
    assert chosen_rhos([0, 1, 2, 3, 4], 3) == [0, 2, 4]


def test_the_summary_ends_with_a_table_over_sizes(sized):
    import io

    from rich.console import Console

    console = Console(file=io.StringIO(), width=140, color_system=None)
    print_summary(sized, console, details=True)
    said = console.file.getvalue()
    assert "ngram-linear under swap, trained on 60 rows" in said
    _, _, table = said.partition("ngram-linear under swap, by the number of training rows")
    rows = [line.split()[0] for line in table.splitlines() if line.strip()]
    assert [row for row in rows if row in {"60", "150", "300"}] == ["60", "150", "300"]
    assert "each number of rows by itself" in table


def test_resamples_say_their_size():
    resample = TrainingDraw.of("swap", rho=0.5, m=1, train_size=60)
    assert resample.describe() == "rho=0.5, m=1, swap, 60 training rows"
    assert resample.columns == {"rho": 0.5, "m": 1, "train_size": 60}
    assert TrainingDraw.of("swap", rho=0.5, m=1).columns == {"rho": 0.5, "m": 1}


def test_in_python(tmp_path):
    splits = toy_splits()
    tables = {name: corpus.table for name, corpus in splits.items()}
    result = ie.run(
        **tables,
        label_names=LABELS,
        model="bow-xgb",
        params=QUICK,
        phi=Swap(),
        rho=[0],
        n_classifiers=2,
        train_size=(60, 150),
        n_jobs=1,
        out=tmp_path / "run",
    )
    frame = result.to_frame()
    assert list(frame["train_size"]) == [60, 150]
    table = result.predictions.table
    assert set(table["train_size"].to_pylist()) == {60, 150}
    assert set(table["model"].to_pylist()) == {
        "bow-xgb, swap, 60 rows",
        "bow-xgb, swap, 150 rows",
    }
    assert "bow-xgb, swap, trained on 60 rows: " in str(result)


COMMAND = (
    "run", "--demo", "--demo-sizes", "400,50,200", "--model", "ngram-linear", "--search", "default",
    "--rho", "0,1", "-M", "2", "--n-jobs", "1", "--out", "run",
)  # fmt: skip


@pytest.mark.slow
def test_on_the_command_line_and_in_a_report(tmp_path):
    status, out, err = run_here(*COMMAND, "--train-size", "100,400", "--json", folder=tmp_path)
    assert status == 0, err
    found = json.loads(out)
    assert found["settings"]["train_size"] == [100, 400]
    assert [each["train_size"] for each in found["conditions"]] == [100, 400]
    assert (tmp_path / "run" / "training_rows-1.svg").is_file()
    status, out, err = run_here("report", "run", "--out", "page.html", folder=tmp_path)
    assert status == 0, err
    page = tmp_path / "page.html"
    text = page.read_text(encoding="utf-8")
    assert "Over the number of training rows" in text
    assert "Accuracy of ngram-linear under syn.careful over the training rows" in text
    assert "Loss of ngram-linear under syn.careful over the training rows" in text
    status, _, err = run_here(*COMMAND, "--train-size", "100,500", folder=tmp_path)
    assert status == 1
    assert "has 400 labelled rows, not 500" in err
    status, _, err = run_here(*COMMAND, "--train-size", "few", folder=tmp_path)
    assert status == 2
    assert 'train_size: must be whole numbers like "1000,5000"' in err
