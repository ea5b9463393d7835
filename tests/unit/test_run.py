"""The run as a whole, on toys: repeatable, continuable, honest."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ietest_fast.corpus import DataGeneratingProcess
from ietest_fast.errors import InputError, StoreError, WorkerError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.identity import bootstrap_seed
from ietest_fast.experiment.run import run
from ietest_fast.experiment.schema import AlgorithmRecord, ClusteredRecord, EquivalenceRecord
from ietest_fast.experiment.store import RunStore
from ietest_fast.experiment.view.summary import algorithm_lines, summary_lines
from ietest_fast.models import EncodedSplit
from ietest_fast.models.bag_of_words import BagOfWordsXGBoost
from ietest_fast.stats import (
    PairedCounts,
    algorithm_test,
    equivalence_test,
    paired_test,
    power,
    signal_to_noise,
)
from ietest_fast.stats.clustered import clustered_test
from toys import QUICK, Swap, read_matched, toy_splits

CONFIG = {
    "data": {"demo": True, "name": "toys"},
    "model": {"params": QUICK},
    "rho": [0, 0.5, 1],
    "n_classifiers": 2,
    "n_jobs": 1,
}


def _run(folder, splits=None, swap=None, progress=None, **changes):
    return run(
        check_config({**CONFIG, **changes}),
        folder,
        splits=toy_splits() if splits is None else splits,
        transformation=Swap() if swap is None else swap,
        progress=progress,
    )


def _stored_settings(folder):
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        ((found,),) = database.execute("SELECT value FROM meta WHERE key = 'settings'")
    return json.loads(found)


def _events(folder):
    with RunStore.open(folder, _stored_settings(folder)) as store:
        return store.executions()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return _run(tmp_path_factory.mktemp("run") / "out")


def test_results_follow_from_the_matched_samples(finished):
    written = json.loads((finished.folder / "results.json").read_text())
    (condition,) = written["conditions"]
    assert [rho["rho"] for rho in condition["rhos"]] == [0.0, 0.5, 1.0]
    accuracies = []
    for rho in condition["rhos"]:
        for cell in rho["cells"]:
            matched = read_matched(finished.folder, cell["identity"])
            gold, a, b = (matched[n].to_numpy() for n in ("gold", "original", "transformed"))
            assert np.array_equal(matched["original_correct"].to_numpy(), a == gold)
            assert np.array_equal(matched["transformed_correct"].to_numpy(), b == gold)
            counts = PairedCounts.from_outcomes(a == gold, b == gold)
            test = paired_test(counts)
            assert [cell[n] for n in ("n11", "n10", "n01", "n00")] == [
                counts.n11,
                counts.n10,
                counts.n01,
                counts.n00,
            ]
            assert cell["t"] == test.t
            assert cell["p_value"] == test.p_value
            assert cell["accuracy_original"] == np.mean(a == gold)
            # What phi leaves alone cannot change the prediction.
            unchanged = ~matched["changed"].to_numpy()
            assert np.array_equal(a[unchanged], b[unchanged])
            accuracies.append(cell["accuracy_original"])
        p_values = [cell["p_value"] for cell in rho["cells"]]
        assert rho["p_min"] == min(p_values)
        assert rho["threshold"] == 0.05 / 2
        assert rho["reject"] == (min(p_values) < 0.05 / 2)
        original = [cell["accuracy_original"] for cell in rho["cells"]]
        assert rho["accuracy_original"]["mean"] == pytest.approx(np.mean(original))
        assert rho["accuracy_original"]["sd"] == pytest.approx(np.std(original, ddof=1))
    if len(set(accuracies)) > 1:
        assert condition["robustness"]["snr"] == signal_to_noise(accuracies)
    assert written["reject"]


def test_the_algorithm_is_judged_on_the_reworded_texts(finished):
    for rho in finished.rhos:
        tables = [read_matched(finished.folder, cell.identity) for cell in rho.cells]
        reworded = tables[0]["changed"].to_numpy()
        a, b = (
            np.column_stack([table[name].to_numpy()[reworded] for table in tables])
            for name in ("original_correct", "transformed_correct")
        )
        assert rho.algorithm == AlgorithmRecord.of(algorithm_test(a, b))
        assert rho.algorithm.delta == pytest.approx(rho.reworded_delta.mean)
    lines = algorithm_lines(finished.only)
    assert "about these 2 classifiers" in lines[0]


def test_every_decision_has_a_verdict_and_what_could_be_found(finished):
    written = json.loads((finished.folder / "results.json").read_text())
    for rho in written["conditions"][0]["rhos"]:
        discordance = np.mean([(cell["n10"] + cell["n01"]) / 240 for cell in rho["cells"]])
        expected = power(240, max(discordance, 0.01), 0.01, n_tests=2)
        assert rho["sensitivity"]["power"] == pytest.approx(expected, rel=1e-12)
        shown = []
        for cell in rho["cells"]:
            counts = PairedCounts(*(cell[name] for name in ("n11", "n10", "n01", "n00")))
            test = equivalence_test(counts, margin=0.01)
            assert cell["equivalence"]["p_value"] == test.p_value
            assert cell["clustered"] is None
            shown.append(test.equivalent)
        said = "differs" if rho["reject"] else "undecided"
        assert rho["verdict"] == ("equivalent within margin" if all(shown) else said)


def test_clusters_are_drawn_whole_and_decide(tmp_path):
    splits = toy_splits()
    result = _run(tmp_path, splits, data={**CONFIG["data"], "cluster": "premise"})
    premises = splits.test.table["premise"].to_pylist()
    for rho in result.rhos:
        for cell in rho.cells:
            matched = read_matched(tmp_path, cell.identity)
            again = clustered_test(
                matched["original_correct"],
                matched["transformed_correct"],
                premises,
                method="resample",
                rng=bootstrap_seed(0, rho=cell.rho, m=cell.m),
            )
            assert cell.clustered == ClusteredRecord.from_result(again)
            assert cell.p_value == again.p_value
            assert cell.equivalence == EquivalenceRecord.from_result(
                equivalence_test(
                    matched["original_correct"], matched["transformed_correct"], clusters=premises
                )
            )
        assert rho.p_min == min(cell.p_value for cell in rho.cells)
        shown = all(cell.equivalence.equivalent for cell in rho.cells)
        assert (rho.verdict == "equivalent within margin") == shown
        assert rho.sensitivity is None
        assert f"clusters:{len(set(premises))}|S:10000.resample" in rho.signature
        written = [cell.to_dict() for cell in rho.cells]
        assert [cell["test"]["method"] for cell in written] == ["exact"] * len(written)
        assert all(cell["clustered"]["warning"] is not None for cell in written if cell["n10"])
        assert all(cell["clustered"]["n_resamples"] == 10_000 for cell in written)
    assert any(cell.p_value != cell.test.p_value for cell in result.rhos[0].cells)
    assert any("few clusters" in line for line in summary_lines(result, result.only))
    with pytest.raises(InputError, match=r"author.: there is no such column; there are premise"):
        _run(tmp_path / "other", splits, data={**CONFIG["data"], "cluster": "author"})


def test_the_model_that_never_saw_the_new_word_is_found_out(finished):
    first, *_, last = finished.rhos
    assert first.reject
    assert first.accuracy_original.mean - first.accuracy_transformed.mean > 0.05
    assert not last.reject or last.t.mean < first.t.mean


def test_resamples_are_those_of_the_process(finished):
    process = DataGeneratingProcess(seed=0)
    for rho in finished.rhos:
        for cell in rho.cells:
            for split, n, found in (
                ("train", 300, cell.train_transformed),
                ("valid", 90, cell.valid_transformed),
            ):
                assert found == process.mask(split, rho=rho.rho, m=cell.m, n=n).sum()


def test_data_is_described(finished):
    test = finished.data.test
    assert test.rows == 240
    assert sum(test.labels.values()) == 240
    (phi,) = finished.transformations
    edits = pq.read_table(next(finished.folder.glob("data/*/test.edits.parquet")))
    assert phi.test_edits == {"swap": edits.num_rows}
    assert phi.n_test_reworded == phi.changed.test == edits.num_rows


def test_running_again_trains_nothing(finished):
    before = (finished.folder / "results.json").read_bytes()
    stages = []
    _run(finished.folder, progress=lambda *step: stages.append(step))
    assert (finished.folder / "results.json").read_bytes() == before
    assert ("train", 6, 6) in stages
    assert ("train", 0, 6) not in stages
    events = Counter((i, e) for kind, i, e, _ in _events(finished.folder) if kind == "cell")
    assert Counter(event for _, event in events) == {"started": 6, "finished": 6}
    assert set(events.values()) == {1}


@pytest.mark.slow
def test_processes_and_folders_make_no_difference(finished, tmp_path):
    _run(tmp_path / "elsewhere", n_jobs=2)
    assert (tmp_path / "elsewhere" / "results.json").read_bytes() == (
        finished.folder / "results.json"
    ).read_bytes()
    # Nothing unfinished, no stray files.
    names = {path.name for path in (tmp_path / "elsewhere").iterdir()}
    assert names == {
        "cells",
        "data",
        "encoded",
        "results.json",
        "run.lock",
        "run.sqlite",
    }


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_transformed_rows_may_stand_beside_their_originals(finished, tmp_path, n_jobs, monkeypatch):
    """mode = "augment": the union of originals and transformed rows (Naik et al. 2018, 4.6)."""
    fitted = []
    fit = BagOfWordsXGBoost.fit

    def counted(self, train, valid, **more):
        fitted.append((len(train.rows), len(train.labels), len(valid.rows)))
        return fit(self, train, valid, **more)

    monkeypatch.setattr(BagOfWordsXGBoost, "fit", counted)
    other = _run(tmp_path / "a", mode="augment", n_jobs=n_jobs)
    assert (other.settings.mode, finished.settings.mode) == ("augment", "replace")
    # Nothing is transformed at rho = 0, so these cells are the same ones.
    assert other.rhos[0].to_dict()["cells"] == finished.rhos[0].to_dict()["cells"]
    assert other.rhos[2].to_dict()["cells"] != finished.rhos[2].to_dict()["cells"]
    process = DataGeneratingProcess(seed=0)
    expected = []
    for rho in (0, 0.5, 1):
        for m in (0, 1):
            n, n_valid = (
                size + int(process.mask(split, rho=rho, m=m, n=size).sum())
                for split, size in (("train", 300), ("valid", 90))
            )
            expected.append((n, n, n_valid))
    if n_jobs == 1:
        assert sorted(fitted) == sorted(expected)
    # Another mode needs another folder.
    with pytest.raises(StoreError):
        _run(tmp_path / "a")


def test_added_rows_have_their_own_texts_and_labels():
    split = EncodedSplit(
        store=None,
        versions={"original": np.array([0, 1, 2]), "phi": np.array([0, 3, 4])},
        labels=np.array([2, 0, 1], np.int8),
    )
    rows = split.augment(np.array([True, False, True]), "phi")
    assert rows.rows.tolist() == [0, 1, 2, 0, 4]
    assert rows.labels.tolist() == [2, 0, 1, 2, 1]


def test_seeds_matter(finished, tmp_path):
    other = _run(tmp_path / "a", seed=1)
    assert other.rhos[1].to_dict()["cells"] != finished.rhos[1].to_dict()["cells"]


@pytest.mark.slow
def test_an_artefact_without_its_row_is_adopted_not_done_again(tmp_path):
    result = _run(tmp_path)
    before = (tmp_path / "results.json").read_bytes()
    with RunStore.open(tmp_path, _stored_settings(tmp_path)) as store:
        lost = result.rhos[0].cells[0].identity
        store._database.execute("DELETE FROM cells WHERE identity = ?", (lost,))
        store._database.execute("DELETE FROM executions WHERE event = 'finished'")
    _run(tmp_path)
    assert (tmp_path / "results.json").read_bytes() == before
    events = [(i, e) for _, i, e, _ in _events(tmp_path)]
    assert (lost, "adopted") in events
    assert events.count((lost, "started")) == 1


@pytest.mark.slow
def test_a_cell_that_was_moved_in_the_database_is_noticed(tmp_path):
    result = _run(tmp_path)
    _spoil("UPDATE cells SET rho = 0.25 WHERE rho = 0.5")(tmp_path / "run.sqlite")
    with pytest.raises(StoreError, match="says something else of its cell"):
        _run(tmp_path)
    assert result.rhos[1].rho == 0.5


def test_a_changed_artefact_is_noticed_and_once_deleted_made_anew(finished, tmp_path):
    """docs/run.md, Checksums."""
    folder = shutil.copytree(finished.folder, tmp_path / "run")
    before, n_before = (folder / "results.json").read_bytes(), len(_events(folder))
    path = folder / "cells" / f"{finished.rhos[0].cells[0].identity}.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"x")
    with pytest.raises(StoreError, match="has changed since it was written; delete it and give"):
        _run(folder)
    path.unlink()
    _run(folder)
    assert path.read_bytes() == whole
    assert (folder / "results.json").read_bytes() == before
    assert [(i, e) for _, i, e, _ in _events(folder)[n_before:]] == [
        (path.stem, event) for event in ("lost", "started", "finished")
    ]


@pytest.mark.slow
def test_other_conclusions_are_drawn_from_the_same_cells(tmp_path):
    """docs/report.md: to change alpha or margin, repeat the command."""
    first = _run(tmp_path)
    events = _events(tmp_path)
    clustered = {**CONFIG["data"], "cluster": "premise", "name": "other"}
    for changes in (
        {"margin": 0.005},
        {"alpha": 0.01},
        {"method": "multinomial", "n_resamples": 500},
        {"data": clustered},
    ):
        again = _run(tmp_path, **changes)
        whole = json.loads((tmp_path / "results.json").read_text())
        assert whole["identity"] == again.identity != first.identity
        assert [c.identity for r in again.rhos for c in r.cells] == [
            c.identity for r in first.rhos for c in r.cells
        ]
    assert _events(tmp_path) == events
    assert _run(tmp_path, margin=0.3).rhos[-1].cells[0].equivalence.equivalent


def test_a_run_that_is_refused_does_not_bind_its_folder(tmp_path):
    with pytest.raises(InputError, match="rewords none"):
        _run(tmp_path, swap=Swap(old="zebra"))
    assert not (tmp_path / "results.json").exists()
    with pytest.raises(InputError, match="premise"):  # which the transformation leaves alone
        _run(tmp_path, model={"params": QUICK, "input": "premise"})
    _run(tmp_path, rho=[0.5], n_classifiers=1)


def test_other_settings_need_another_folder(finished):
    with pytest.raises(StoreError, match=r"these differ: n_classifiers, rho\."):
        _run(finished.folder, n_classifiers=3, rho=[0])
    with pytest.raises(StoreError, match=r"these differ: transformations\.swap\.inputs"):
        _run(finished.folder, swap=Swap(new="dozes"))


def test_the_search_is_kept_and_its_best_is_used(tmp_path):
    result = _run(tmp_path, model={"search": 3}, rho=[0], n_classifiers=1)
    (search,) = result.models[0].searches
    assert [trial.number for trial in search.trials] == [0, 1, 2]
    best = max(search.trials, key=lambda trial: (trial.valid_accuracy, -trial.number))
    assert search.params == best.params
    again = _run(tmp_path, model={"search": 3}, rho=[0], n_classifiers=1)
    assert again.models == result.models
    starts = [i for kind, i, e, _ in _events(tmp_path) if (kind, e) == ("trial", "started")]
    assert len(starts) == len(set(starts)) == 3


def test_a_preset_takes_the_place_of_the_search(tmp_path):
    result = _run(tmp_path, model={"search": "table7-mnli"}, rho=[0], n_classifiers=1)
    assert result.models[0].params["n_estimators"] == 29
    assert result.models[0].searches[0].trials == ()
    assert result.rhos[0].accuracy_original.sd is None


def test_monte_carlo_methods_are_close_to_the_exact_one(finished, tmp_path):
    result = _run(tmp_path, method="multinomial", n_resamples=20_000)
    for ours, exact in zip(result.rhos, finished.rhos, strict=True):
        for a, b in zip(ours.cells, exact.cells, strict=True):
            assert a.test.p_value == pytest.approx(b.test.p_value, abs=0.03)
    assert "|S:20000.multinomial|" in result.signature


@pytest.mark.slow
def test_a_collapsed_model_is_reported_and_does_not_reject(tmp_path):
    result = _run(tmp_path, model={"name": "toys:ConstantModel", "params": QUICK})
    assert len(result.collapsed) == 6
    assert not result.reject
    assert all(cell.t == 0 and cell.test.p_value == 1 for cell in result.collapsed)
    written = json.loads((tmp_path / "results.json").read_text())
    (condition,) = written["conditions"]
    assert condition["robustness"]["snr_without_collapsed"] is None
    assert len(condition["robustness"]["collapsed"]) == 6
    assert {rho["verdict"] for rho in condition["rhos"]} == {"collapsed"}


def test_no_change_at_all_is_an_error_and_leaves_no_results(tmp_path):
    with pytest.raises(InputError, match="rewords none of the 240 test texts"):
        _run(tmp_path, swap=Swap(old="zebra"))
    assert not (tmp_path / "results.json").exists()
    with pytest.raises(InputError, match="rewords none"):
        _run(tmp_path, swap=Swap(old="zebra"))


def test_normal_form_alone_is_no_rewording(tmp_path):
    with pytest.raises(InputError, match="rewords none"):
        _run(tmp_path, swap=Swap(rule="normalise"))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_model_is_told_and_the_folder_is_free_again(tmp_path, n_jobs):
    changes = {"model": {"name": "toys:FailsModel", "params": QUICK}, "n_jobs": n_jobs}
    with pytest.raises((WorkerError, ZeroDivisionError), match="no model today"):
        _run(tmp_path, **changes)
    with pytest.raises((WorkerError, ZeroDivisionError), match="no model today"):
        _run(tmp_path, **changes)


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_once_and_that_is_recorded(tmp_path):
    model = {
        "name": "toys:DiesOnceModel",
        "options": {"marker": str(tmp_path / "marker")},
        "params": QUICK,
    }
    _run(tmp_path / "run", model=model, n_jobs=2)
    events = _events(tmp_path / "run")
    died = [(identity, detail) for _, identity, event, detail in events if event == "worker_died"]
    assert len(died) == 1
    assert "signal 9" in died[0][1]
    assert ("cell", died[0][0], "started", "attempt 2") in events
    finished = [identity for _, identity, event, _ in events if event == "finished"]
    assert len(finished) == len(set(finished)) == 6


@pytest.mark.slow
def test_a_worker_that_dies_twice_ends_the_run(tmp_path):
    model = {"name": "toys:AlwaysDiesModel", "params": QUICK}
    with pytest.raises(WorkerError, match=r"(?s)cell rho=.*signal 9.*last words.*attempt 2"):
        _run(tmp_path, model=model, n_jobs=2)
    assert not (tmp_path / "results.json").exists()


def _empty(path):
    path.write_bytes(b"")


def _remove(path):
    path.unlink()


def _flip(path):
    """Change one bit of the last byte."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def _spoil(statement):
    def spoil(path):
        database = sqlite3.connect(path)
        with database:
            database.execute(statement)
        database.close()

    return spoil


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "damage"),
    [
        ("data/*/summary.json", _empty),
        ("data/*/test.parquet", _empty),
        ("data/*/test.parquet", _remove),
        ("encoded/*/train/labels.npy", _empty),
        ("encoded/*/train/labels.npy", _remove),
        ("encoded/*/train/version0.npy", _flip),
        ("encoded/*/test/labels.npy", _flip),
        ("data/*/test.parquet", _flip),
        ("data/*/train.parquet", _flip),
        ("run.sqlite", _spoil("UPDATE meta SET value = '{bad' WHERE key = 'settings'")),
        ("run.sqlite", _spoil("DELETE FROM meta WHERE key = 'settings'")),
        ("run.sqlite", _spoil("UPDATE cells SET metrics = '{bad'")),
        ("run.sqlite", _spoil("UPDATE cells SET metrics = replace(metrics, ':0.', ':10.')")),
        ("run.sqlite", _spoil("ALTER TABLE cells RENAME COLUMN metrics TO other")),
    ],
)
def test_a_damaged_folder_says_what_to_delete(tmp_path, pattern, damage):
    _run(tmp_path)
    results = (tmp_path / "results.json").read_bytes()
    path = next(tmp_path.glob(pattern))
    damage(path)
    with pytest.raises(StoreError, match="is damaged") as error:
        _run(tmp_path)
    named = Path(str(error.value).split(":")[0])
    assert path.is_relative_to(named)
    # It keeps its word.
    if named.is_dir():
        shutil.rmtree(named)
    else:
        for part in tmp_path.glob(f"{named.name}*"):
            part.unlink()
    _run(tmp_path)
    assert (tmp_path / "results.json").read_bytes() == results
