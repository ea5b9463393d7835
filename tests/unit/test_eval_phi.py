"""``eval_phi``: the classifiers of a run on further test sets (Naik et al. 2018, Table 5)."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pyarrow.compute as pc
import pytest

import ietest_fast as ie
from further_runs import CONFIG, OTHER, WORDS, read_files, run_further
from ietest_fast.answers import Predictions
from ietest_fast.corpus import DataGeneratingProcess
from ietest_fast.errors import StoreError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.data import plan_phis
from ietest_fast.experiment.identity import training_seed
from ietest_fast.experiment.plan import make_plan, work_settings
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run import run
from ietest_fast.experiment.view.run_sections import to_toml
from ietest_fast.models import SplitTexts, load_model
from ietest_fast.models.bag_of_words import BagOfWordsXGBoost
from ietest_fast.stats import PairedCounts, holm, paired_test
from ietest_fast.transform import Transformed, plan
from toys import QUICK, Swap, read_matched, toy_splits


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run_further(tmp_path_factory.mktemp("plain") / "out")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run_further(
        tmp_path_factory.mktemp("run") / "out", eval_phi=[OTHER, WORDS, "word-overlap"]
    )


def _transformed(phi, table):
    with plan(phi) as planned:
        return planned.build().transform(table, ("premise", "hypothesis")).table


def _union(corpus, mask):
    """The originals and, behind them, the negated ones of the rows that are marked."""
    rows = np.flatnonzero(mask)
    texts = corpus.table.select(["premise", "hypothesis"])
    negated = _transformed("negation", texts).take(rows)
    both = {
        name: texts[name].to_pylist() + negated[name].to_pylist() for name in texts.column_names
    }
    return both, np.concatenate([corpus.labels, corpus.labels[rows]])


def _oracle(rho, m, tests):
    """Train a classifier anew, on texts, and count its right answers to each test set."""
    import pyarrow as pa

    splits, process = toy_splits(), DataGeneratingProcess(seed=0)
    parts = {
        name: _union(corpus, process.mask(name, rho=rho, m=m, n=len(corpus)))
        for name, corpus in (("train", splits.train), ("valid", splits.valid))
    }
    model = BagOfWordsXGBoost()
    found = {}
    for name, (columns, labels) in tests.items():
        encoded = model.encode(
            {
                part: SplitTexts(versions={"original": pa.table(texts)}, labels=gold)
                for part, (texts, gold) in {**parts, "test": (columns, labels)}.items()
            },
            ("premise", "hypothesis"),
        )
        classifier = model.fit(
            encoded["train"].resample(),
            encoded["valid"].resample(),
            params=QUICK,
            n_classes=3,
            seed=training_seed(0, rho=rho, m=m),
        )
        test = encoded["test"]
        found[name] = classifier.predict(test.store, test.original) == labels
    return found


@pytest.mark.slow
def test_every_accuracy_is_that_of_texts_that_are_transformed_and_predicted_one_by_one(finished):
    test = toy_splits().test
    texts = test.table.select(["premise", "hypothesis"])
    tests = {
        "original": (texts.to_pydict(), test.labels),
        "negation": (_transformed("negation", texts).to_pydict(), test.labels),
        **{
            phi: (_transformed(phi, texts).to_pydict(), test.labels)
            for phi in (OTHER, WORDS, "word-overlap")
        },
    }
    (condition,) = finished.conditions
    names = (OTHER, WORDS, "word-overlap")
    assert [each.key for each in finished.evaluated] == [
        "negation:tautology=green is not red",
        "negation:tautology=sleeps",
        "word-overlap",
    ]
    outcomes = []
    for r, rho in enumerate((0.0, 1.0)):
        for m in (0, 1):
            found = _oracle(rho, m, tests)
            cell = condition.rhos[r].cells[m]
            assert cell.accuracy_original == np.mean(found["original"])
            assert cell.accuracy_transformed == np.mean(found["negation"])
            for phi, evaluation in zip(names, finished.evaluations, strict=True):
                own = evaluation.rhos[r]
                assert own.n_correct[m] == found[phi].sum()
                paired = own.test.cells[m]
                counts = PairedCounts.from_outcomes(found["original"], found[phi])
                assert paired.counts == counts
                assert paired.p_value == paired_test(counts).p_value
                outcomes.append(int(found[phi].sum()))
    assert len(set(outcomes)) > 2  # or a wrong order would not show


def test_the_tests_are_corrected_for_m_and_for_the_further_test_sets(finished):
    for place in (0, 1):
        own = [each.rhos[place] for each in finished.evaluations]
        smallest = [min(1.0, 2 * min(cell.p_value for cell in each.test.cells)) for each in own]
        assert [each.p_holm for each in own] == pytest.approx(holm(smallest))
        assert [each.reject for each in own] == [p < 0.05 for p in holm(smallest)]
        for each in own:
            shares = [n / 240 for n in each.n_correct]
            assert each.accuracy.mean == pytest.approx(np.mean(shares))
            assert each.accuracy.sd == pytest.approx(np.std(shares, ddof=1))
    assert any(each.rhos[0].reject for each in finished.evaluations)
    # It is the run's own transformation that decides.
    signature = finished.evaluations[0].signature
    assert "|phi:negation@" in signature
    assert "|trained:negation@" in signature
    assert "|mode:augment|" in signature


def test_a_run_without_it_is_what_it_was(plain, finished):
    config = check_config(CONFIG)
    with make_plan(config, splits=toy_splits()) as own:
        assert "evaluations" not in own.settings
        bound = work_settings(own.settings)
    with make_plan(check_config({**CONFIG, "eval_phi": OTHER}), splits=toy_splits()) as own:
        assert list(own.settings["evaluations"]) == ["negation:tautology=green is not red"]
        assert work_settings(own.settings) == bound
    # Cells, their answers and the texts are the same, byte for byte, with it and without.
    assert read_files(plain.folder) == read_files(finished.folder)
    assert plain.evaluations == plain.evaluated == ()
    assert not (plain.folder / "evaluations").exists()
    assert plain.identity != finished.identity
    assert plain.conditions == finished.conditions


def test_results_of_before_there_were_further_test_sets_are_read_as_they_are(tmp_path):
    result = run_further(tmp_path, mode="replace", rho=[0])
    written = json.loads((tmp_path / "results.json").read_text())
    for name in ("evaluated", "evaluations"):
        assert written.pop(name) == []
    assert written["settings"].pop("mode") == "replace"
    (tmp_path / "results.json").write_text(json.dumps(written))
    assert read_results(tmp_path).to_dict() == result.to_dict()
    del written["settings"]["seed"]
    (tmp_path / "results.json").write_text(json.dumps(written))
    with pytest.raises(StoreError, match=r"settings\.seed"):
        read_results(tmp_path)


@pytest.mark.slow
def test_processes_make_no_difference(finished, tmp_path):
    other = run_further(tmp_path, eval_phi=[OTHER, WORDS, "word-overlap"], n_jobs=2)
    assert other.to_dict() == finished.to_dict()
    assert read_files(tmp_path, "evaluations") == read_files(finished.folder, "evaluations")
    assert read_results(tmp_path).to_dict() == finished.to_dict()


def test_answers_are_tables_of_predictions(finished):
    own = finished.evaluations[0].rhos[1]
    path = finished.folder / "evaluations" / f"{own.identities[1]}.parquet"
    table = Predictions.read(path)
    assert table.versions == ("negation:tautology=green is not red",)
    assert table.groups == ({"model": "bow-xgb", "m": 1, "rho": 1.0},)
    assert int(table.correct.sum()) == own.n_correct[1]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("n_correct", [1, 2], "the tests are not those of these answers"),
        ("p_holm", 0.5, "p_holm does not follow"),
        ("accuracy", {"mean": 0.5, "sd": 0.1}, "but the rest of the file makes it"),
        ("alpha", 0.06, "another rho or level"),
    ],
)
def test_results_that_do_not_follow_are_noticed(finished, tmp_path, key, value, said):
    written = json.loads((finished.folder / "results.json").read_text())
    written["evaluations"][0]["rhos"][1][key] = value
    (tmp_path / "results.json").write_text(json.dumps(written))
    with pytest.raises(StoreError, match=said):
        read_results(tmp_path)


class Relabels:
    """Keeps the rows of one label, twice each, and says that they are neutral."""

    name = "relabels"
    fingerprint = "ab" * 32
    keeps_labels = False

    def describe(self):
        return {"name": self.name, "options": {}}

    def transform(self, table, text_columns, *, with_edits=True, n_threads=None):
        import pyarrow as pa

        rows = np.flatnonzero(pc.match_substring(table["hypothesis"], "waits").to_numpy())
        rows = np.repeat(rows, 2)
        new = table.take(rows)
        texts = pc.binary_join_element_wise(new["hypothesis"], pa.scalar("Really."), " ")
        new = new.set_column(new.schema.get_field_index("hypothesis"), "hypothesis", texts)
        labels = ["neutral" if place % 5 else None for place in range(len(rows))]
        return Transformed(
            table=new,
            changed=np.ones(len(rows), bool),
            edits=None,
            source_row=rows,
            labels=pa.array(labels, pa.string()),
        )


@pytest.mark.slow
@pytest.mark.parametrize("voters", [1, 3])
def test_a_transformation_may_set_labels_and_add_rows(plain, tmp_path, voters):
    config = check_config(CONFIG | {"model": {"params": QUICK, "n_voters": voters}})
    result = run(config, tmp_path, splits=toy_splits(), evaluations=[Relabels(), Swap()])
    first, second = result.evaluated
    test = toy_splits().test.table
    rows = np.repeat(np.flatnonzero(pc.match_substring(test["hypothesis"], "waits").to_numpy()), 2)
    known = np.arange(len(rows)) % 5 > 0
    assert (first.key, first.keeps_labels, second.keeps_labels) == ("relabels", False, True)
    assert (first.rows, first.unlabelled) == (known.sum(), (~known).sum())
    assert first.labels == {"entailment": 0, "neutral": known.sum(), "contradiction": 0}
    own, swapped = (each.rhos for each in result.evaluations)
    assert all(each.test is None and each.p_holm is None for each in own)
    assert result.evaluations[0].signature is None
    # With one test set that keeps labels there is nothing to correct but for M.
    for each in swapped:
        assert each.p_holm == min(each.test.p_adjusted)
    table = Predictions.read(tmp_path / "evaluations" / f"{own[0].identities[0]}.parquet")
    assert table.table["item"].to_pylist() == rows[known].tolist()
    assert "copy" in table.columns
    assert int(table.correct.sum()) == own[0].n_correct[0]
    assert read_results(tmp_path).to_dict() == result.to_dict()
    if voters == 1:
        assert read_files(tmp_path) == read_files(plain.folder)
    # "Really" is in no training text, so the bag of words sees the test row itself.
    cell = result.conditions[0].rhos[0].cells[0]
    matched = read_matched(tmp_path, cell.identity, "negation")
    assert own[0].n_correct[0] == (matched["original"].to_numpy()[rows[known]] == 1).sum()


@pytest.mark.slow
def test_it_comes_to_the_same_for_several_models_and_transformations(plain, tmp_path):
    result = run_further(
        tmp_path,
        phi=["negation", "length-mismatch"],
        model=[{"params": QUICK}, {"name": "bow-rf", "params": _forest()}],
        eval_phi="word-overlap",
    )
    places = [(each.model, each.transformation) for each in result.evaluations]
    assert places == [(each.model, each.transformation) for each in result.conditions]
    assert len(places) == 4
    # Nothing is transformed at rho = 0, so these are the same classifiers.
    one, other = result.evaluations[0].rhos[0], result.evaluations[1].rhos[0]
    assert (one.identities, one.n_correct) == (other.identities, other.n_correct)


def _forest():
    return next(iter(load_model("bow-rf").presets.values())) | {"n_estimators": 5}


def test_keys_say_what_is_not_as_usual(tmp_path):
    (tmp_path / "words.csv").write_text("old,new\nboy,lad\n")
    chosen = check_config(
        {
            **CONFIG,
            "eval_phi": [
                {"name": "negation", "times": 2},
                f"words:mapping='{tmp_path / 'words.csv'}'+spelling",
                "word-overlap:columns=premise,columns=hypothesis",
            ],
        }
    ).eval_phis
    _, found = plan_phis(["negation"], chosen)
    assert [each.key for each in found] == [
        "negation:times=2",
        "words:mapping=words.csv+spelling",
        "word-overlap:columns=premise/hypothesis",
    ]
    # One that is given as an object has its name, numbered where that is taken.
    _, found = plan_phis([Swap()], [Swap(old="waits"), Swap(old="stands")])
    assert [each.key for each in found] == ["swap#2", "swap#3"]


def test_the_command_that_runs_it_again_names_them(finished):
    toml = to_toml(finished, finished.only)
    found = tomllib.loads(toml)
    assert found["mode"] == "augment"
    assert found["eval_phi"] == [each.key for each in finished.evaluated]


@pytest.mark.slow
def test_python_takes_them_too(finished, tmp_path):
    splits = toy_splits()
    result = ie.run(
        **dict(splits.items()),
        params=QUICK,
        phi="negation",
        eval_phi=[OTHER, Swap()],
        mode="augment",
        rho=[0, 1],
        n_classifiers=2,
        n_jobs=1,
        out=tmp_path,
    ).results
    assert [each.key for each in result.evaluated] == [finished.evaluated[0].key, "swap"]
    for ours, theirs in zip(result.evaluations[0].rhos, finished.evaluations[0].rhos, strict=True):
        assert ours.n_correct == theirs.n_correct


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"correction": "maxt", "n_resamples": 200, "strata": ["edits"]},
        {"data": CONFIG["data"] | {"cluster": "premise"}, "n_resamples": 200},
    ],
)
def test_they_are_tested_as_the_run_is(tmp_path, changes):
    result = run_further(tmp_path, eval_phi=[OTHER, "word-overlap"], **changes)
    for each in result.evaluations:
        for own, base in zip(each.rhos, result.conditions[0].rhos, strict=True):
            assert own.test.correction == base.correction
            clustered = [cell.clustered is not None for cell in own.test.cells]
            assert clustered == ["data" in changes] * 2
            names = [found.name for found in own.test.cells[0].reworded.strata]
            assert names == ["label", *changes.get("strata", [])]
    assert read_results(tmp_path).to_dict() == result.to_dict()


@pytest.mark.train
@pytest.mark.parametrize(
    ("name", "has_vectors"),
    [("align", False), *((name, given) for name in ("cbow", "bilstm") for given in (False, True))],
)
def test_no_model_lets_further_texts_change_its_cells(tmp_path, name, has_vectors):
    """Nor do words that only these texts have, and the file of vectors."""
    params = dict(next(iter(load_model(name).presets.values())))
    params |= {key: 8 for key in ("embedding_size", "hidden_size") if key in params}
    model = {"name": name, "params": params | ({"epochs": 1} if "epochs" in params else {})}
    if has_vectors:
        words = ["boy", "girl", "sleeps", "and", "green", "is", "not", "red", "false", "true"]
        rows = np.random.default_rng(0).normal(size=(len(words), 8)).round(3)
        lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, rows, strict=True)]
        (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
        model["options"] = {"vectors": str(tmp_path / "vectors.txt")}
        model["params"].pop("embedding_size", None)
    run_further(tmp_path / "plain", model=model, n_classifiers=1)
    further = run_further(tmp_path / "further", model=model, n_classifiers=1, eval_phi=OTHER)
    assert read_files(tmp_path / "further") == read_files(tmp_path / "plain")
    assert len(further.evaluations[0].rhos) == 2
