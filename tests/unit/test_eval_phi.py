"""``eval_phi``: the classifiers of a run on further test sets (Naik et al. 2018, Table 5)."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tomllib
from contextlib import closing

import numpy as np
import pyarrow.compute as pc
import pytest
from rich.console import Console

import ietest_fast as ie
from ietest_fast.errors import ConfigError, InputError, StoreError
from ietest_fast.evaluation import Predictions
from ietest_fast.experiment import DataGeneratingProcess, check_config
from ietest_fast.experiment.identity import training_seed
from ietest_fast.experiment.phis import plan_phis
from ietest_fast.experiment.plan import make_plan, work_settings
from ietest_fast.experiment.results import read_results
from ietest_fast.experiment.run import run
from ietest_fast.models import SplitTexts
from ietest_fast.models.bag_of_words import BagOfWordsXGBoost
from ietest_fast.report import gather, print_summary
from ietest_fast.report.further_tests import further_tables
from ietest_fast.report.provenance import to_toml
from ietest_fast.report.runs import finished_runs
from ietest_fast.report.tables import MeanSd, PValue
from ietest_fast.stats import PairedCounts, holm, paired_test
from ietest_fast.transform import Transformed, plan
from toys import QUICK, Swap, read_matched, toy_splits

OTHER = "negation:tautology='green is not red'"
WORDS = "negation:tautology=sleeps"
CONFIG = {
    "data": {"demo": True, "name": "toys"},
    "model": {"params": QUICK},
    "phi": "negation",
    "mode": "augment",
    "rho": [0, 1],
    "n_classifiers": 2,
    "n_jobs": 1,
}


def _run(folder, *, splits=None, **changes):
    return run(
        check_config({**CONFIG, **changes}),
        folder,
        splits=toy_splits() if splits is None else splits,
        transformation=changes.pop("transformation", None),
    )


def _files(folder, name="cells"):
    return {path.name: path.read_bytes() for path in (folder / name).glob("*.parquet")}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return _run(tmp_path_factory.mktemp("plain") / "out")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return _run(tmp_path_factory.mktemp("run") / "out", eval_phi=[OTHER, WORDS, "word-overlap"])


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
    assert _files(plain.folder) == _files(finished.folder)
    assert plain.evaluations == plain.evaluated == ()
    assert not (plain.folder / "evaluations").exists()
    assert plain.identity != finished.identity
    assert plain.conditions == finished.conditions


def test_results_of_before_there_were_further_test_sets_are_read_as_they_are(tmp_path):
    result = _run(tmp_path, mode="replace", rho=[0])
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


def test_processes_make_no_difference(finished, tmp_path):
    other = _run(tmp_path, eval_phi=[OTHER, WORDS, "word-overlap"], n_jobs=2)
    assert other.to_dict() == finished.to_dict()
    assert _files(tmp_path, "evaluations") == _files(finished.folder, "evaluations")
    assert read_results(tmp_path).to_dict() == finished.to_dict()


def test_answers_are_tables_of_predictions(finished):
    own = finished.evaluations[0].rhos[1]
    path = finished.folder / "evaluations" / f"{own.identities[1]}.parquet"
    table = Predictions.read(path)
    assert table.versions == ("negation:tautology=green is not red",)
    assert table.groups == ({"model": "bow-xgb", "m": 1, "rho": 1.0},)
    assert int(table.correct.sum()) == own.n_correct[1]


def test_running_again_trains_nothing_and_leaving_it_out_is_another_conclusion(plain, tmp_path):
    shutil.copytree(plain.folder, tmp_path / "run")
    with pytest.raises(InputError, match=r"eval_phi: the cell rho=0, m=0 of bow-xgb was finished"):
        _run(tmp_path / "run", eval_phi=[OTHER])
    first = _run(tmp_path / "new", eval_phi=[OTHER, "word-overlap"])
    before = (tmp_path / "new" / "results.json").read_bytes()
    started = _n_started(tmp_path / "new")
    fewer = _run(tmp_path / "new", eval_phi=["word-overlap"])
    assert [each.evaluation for each in fewer.evaluations] == ["word-overlap"]
    assert fewer.evaluations[0].rhos[0].n_correct == first.evaluations[1].rhos[0].n_correct
    assert _run(tmp_path / "new").to_dict() == plain.to_dict()
    _run(tmp_path / "new", eval_phi=[OTHER, "word-overlap"])
    assert (tmp_path / "new" / "results.json").read_bytes() == before
    assert _n_started(tmp_path / "new") == started == 4


def _n_started(folder):
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        query = "SELECT count(*) FROM executions WHERE event = 'started' AND kind = 'cell'"
        return database.execute(query).fetchone()[0]


@pytest.mark.parametrize("voters", [1, 3])
def test_kept_classifiers_answer_what_is_added_later(tmp_path, voters):
    model = {"name": "toys:Restores", "params": QUICK, "n_voters": voters}
    whole = _run(tmp_path / "whole", model=model, eval_phi=[OTHER, WORDS])
    _run(tmp_path / "late", model=model, keep_models=True)
    first = _run(tmp_path / "late", model=model, eval_phi=WORDS)
    assert [each.evaluation for each in first.evaluations] == ["negation:tautology=sleeps"]
    late = _run(tmp_path / "late", model=model, eval_phi=[OTHER, WORDS])
    assert late.to_dict() == whole.to_dict()
    assert _files(tmp_path / "late", "evaluations") == _files(tmp_path / "whole", "evaluations")
    assert _n_started(tmp_path / "late") == 4
    # One that is not there any more is noticed before any of the others answers.
    kept = sorted((tmp_path / "late" / "models").iterdir())
    assert len(kept) == 4 * voters
    shutil.rmtree(kept[-1])
    before = _files(tmp_path / "late", "evaluations")
    with pytest.raises(InputError, match=r"rho=1, m=1, negation.*its classifier was not kept"):
        _run(tmp_path / "late", model=model, eval_phi=[OTHER, WORDS, "word-overlap"])
    assert _files(tmp_path / "late", "evaluations") == before


@pytest.mark.parametrize("stage", ["before the cell", "before the row of the answers"])
def test_a_killed_run_goes_on_with_the_same_results(finished, tmp_path, stage):
    """What a kill leaves: answers without their cell, or without their row."""
    folder = tmp_path / "run"
    shutil.copytree(finished.folder, folder)
    (folder / "results.json").unlink()
    lost = finished.conditions[0].rhos[1].cells[0].identity
    answers = finished.evaluations[1].rhos[1].identities[0]
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        if stage == "before the cell":
            database.execute("DELETE FROM cells WHERE identity = ?", (lost,))
            (folder / "cells" / f"{lost}.parquet").unlink()
        database.execute("DELETE FROM evaluations WHERE identity = ?", (answers,))
        database.commit()
    started = _n_started(folder)
    again = _run(folder, eval_phi=[OTHER, WORDS, "word-overlap"])
    assert again.to_dict() == finished.to_dict()
    assert _files(folder, "evaluations") == _files(finished.folder, "evaluations")
    assert _n_started(folder) - started == (stage == "before the cell")


def test_damaged_answers_are_noticed(finished, tmp_path):
    shutil.copytree(finished.folder, tmp_path / "run")
    path = next((tmp_path / "run" / "evaluations").glob("*.parquet"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20] + b"x" + whole[-19:])
    with pytest.raises(StoreError, match=path.name):
        _run(tmp_path / "run", eval_phi=[OTHER, WORDS, "word-overlap"])
    path.unlink()
    with pytest.raises(StoreError, match="are gone"):
        _run(tmp_path / "run", eval_phi=[OTHER, WORDS, "word-overlap"])


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
        assert _files(tmp_path) == _files(plain.folder)
    # "Really" is in no training text, so the bag of words sees the test row itself.
    cell = result.conditions[0].rhos[0].cells[0]
    matched = read_matched(tmp_path, cell.identity, "negation")
    assert own[0].n_correct[0] == (matched["original"].to_numpy()[rows[known]] == 1).sum()


def test_it_comes_to_the_same_for_several_models_and_transformations(plain, tmp_path):
    result = _run(
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
    from ietest_fast.models import load_model

    return next(iter(load_model("bow-rf").presets.values())) | {"n_estimators": 5}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("no-such-thing", "eval_phi: .*no-such-thing"),
        (["word-overlap", "no-such-thing"], r"eval_phi\.1: .*no-such-thing"),
        ("negation:tautologie=x", "tautologie"),
        ([], "names no transformation"),
        ([3], r"eval_phi\.0: must be a name"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_key(given, said):
    with pytest.raises(ConfigError, match=said):
        check_config({**CONFIG, "eval_phi": given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["word-overlap", "word-overlap:times=1"], "eval_phi: .*'word-overlap' is there twice"),
        (
            "negation",
            "eval_phi: 'negation', with the same options, is a transformation of this run",
        ),
        ("numerical", "numerical makes no other text of any of the 240 test rows"),
    ],
)
def test_what_tells_nothing_is_refused_before_anything_is_trained(tmp_path, given, said):
    with pytest.raises(InputError, match=said):
        _run(tmp_path, eval_phi=given)
    assert not list(tmp_path.glob("cells/*"))


def test_a_model_that_does_not_see_the_change_is_named(tmp_path):
    said = "eval_phi: length-mismatch, for the model bow-xgb: .*nothing to test"
    with pytest.raises(InputError, match=said):
        _run(
            tmp_path,
            model={"params": QUICK, "input": "hypothesis"},
            eval_phi="length-mismatch",
        )


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


def test_the_summary_shows_every_test_set_at_every_rho(finished):
    console = Console(file=io.StringIO(), width=120, color_system=None, force_terminal=False)
    print_summary(finished, console)
    text = console.file.getvalue().partition("The same classifiers on further test sets:")[2]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    names = ["original", "negation (trained on)", *(each.key for each in finished.evaluated)]
    (condition,) = finished.conditions
    for name in names:
        assert any(line.startswith(f"{name} 240 0 ") for line in lines), name
    first, last = condition.rhos
    assert f"original 240 0 {_shown(first.accuracy_original)}" in lines
    assert any(line.startswith(f"1 {_shown(last.accuracy_transformed)} ") for line in lines)
    for each in finished.evaluations:
        for own in each.rhos:
            said = f"{own.rho:g} {_shown(own.accuracy)} "
            assert any(said in line for line in lines)
            assert any(line.endswith("reject" if own.reject else "not rejected") for line in lines)
    assert "beside the originals" in text
    assert "by Holm's rule for 3 test sets" in text


def _shown(spread):
    return f"{100 * spread.mean:.2f} ± {100 * spread.sd:.2f}"


def test_a_report_has_the_table_of_the_paper_and_the_tests(finished, plain):
    tables = {table.name: table for table in gather(finished_runs(finished)).tables}
    table = tables["further-tests"]
    assert [column.name for column in table.columns] == ["test set", "rows", "ρ = 0", "ρ = 1"]
    assert [row[0] for row in table.rows] == [
        "original",
        "negation (trained on)",
        *(each.key for each in finished.evaluated),
    ]
    own = finished.evaluations[1].rhos[1]
    assert table.rows[3][3] == MeanSd(own.accuracy.mean, own.accuracy.sd)
    tests = tables["further-tests-compared"]
    assert len(tests.rows) == 6
    assert tests.rows[3][2:] == (
        "negation:tautology=sleeps",
        1.0,
        MeanSd(own.accuracy.mean, own.accuracy.sd),
        MeanSd(own.test.delta.mean, own.test.delta.sd),
        PValue(own.p_holm, 0.05),
        own.reject,
        str(own.verdict),
    )
    assert not further_tables(finished_runs(plain))


def test_the_command_that_runs_it_again_names_them(finished):
    toml = to_toml(finished, finished.only)
    found = tomllib.loads(toml)
    assert found["mode"] == "augment"
    assert found["eval_phi"] == [each.key for each in finished.evaluated]


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
