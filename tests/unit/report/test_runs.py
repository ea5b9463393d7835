"""Finished runs are read back as they were, or refused."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
import sys
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from finished_runs import SWAPS, make_run
from ietest_fast.api.running import IETestResult
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.finished import FinishedRun, name_runs, read_run, read_runs
from ietest_fast.experiment.identity import identify
from ietest_fast.experiment.view.result_tables import runs_table
from ietest_fast.experiment.view.run_sections import to_toml
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import PairedCounts
from toys import toy_splits


def test_everything_equals_results_json(first_run):
    run = read_run(first_run)
    results = json.loads((first_run / "results.json").read_text())
    (condition,) = results["conditions"]
    assert [rho.rho for rho in run.rhos] == [rho["rho"] for rho in condition["rhos"]]
    for rho, expected in zip(run.rhos, condition["rhos"], strict=True):
        for name in ("accuracy_original", "accuracy_transformed", "t"):
            assert getattr(rho, name).to_dict() == expected[name]
        assert rho.p_min == expected["p_min"]
        assert rho.reject == expected["reject"]
        assert str(rho.verdict) == expected["verdict"]
        for cell, own in zip(rho.cells, expected["cells"], strict=True):
            assert (cell.m, cell.t, cell.p_value) == (own["m"], own["t"], own["p_value"])
            assert cell.counts.delta == own["delta"]
            assert [cell.interval.low, cell.interval.high] == own["equivalence"]["interval"]
    assert run.robustness.every.snr == condition["robustness"]["snr"]
    assert run.signature == condition["signature"]
    assert run.n_classifiers == 2
    assert run.n == 240


def test_texts_and_answers_are_those_of_the_run(first_run):
    run = read_run(first_run)
    versions = run.read_versions()
    test = toy_splits().test
    assert versions.columns == ("premise", "hypothesis")
    for name in versions.columns:
        originals = test.table[name].to_pylist()
        assert versions.original[name].to_pylist() == originals
        rephrased = versions.transformed[name].to_pylist()
        for old, new in zip(originals, rephrased, strict=True):
            for key, value in SWAPS.items():
                old = " ".join(  # noqa: PLW2901
                    value + word[len(key) :] if word.rstrip(".") == key else word
                    for word in old.split(" ")
                )
            assert new == old
    assert np.array_equal(versions.gold, test.labels)
    answers = run.read_answers()
    assert answers.shape == (240, 3, 2, 2)
    for r, rho in enumerate(run.rhos):
        for m, cell in enumerate(rho.cells):
            right = answers[:, r, m] == versions.gold[:, None]
            assert PairedCounts.from_outcomes(right[:, 0], right[:, 1]) == cell.counts
    # What was not changed is answered alike.
    assert (answers[~versions.changed, :, :, 0] == answers[~versions.changed, :, :, 1]).all()


def test_what_is_no_finished_run_is_refused(tmp_path, first_run):
    with pytest.raises(InputError, match="no such folder"):
        read_run(tmp_path / "absent")
    with pytest.raises(InputError, match="is no run's folder"):
        read_run(tmp_path)
    (tmp_path / "run.sqlite").touch()
    with pytest.raises(InputError, match="has not ended yet"):
        read_run(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(StoreError, match=r"results\.json: is damaged"):
        read_run(tmp_path)
    (tmp_path / "results.json").write_text('{"format": 999}')
    with pytest.raises(StoreError, match="is of format 999"):
        read_run(tmp_path)


def copy_without_checksums(folder, place):
    """Copy a run's folder in part: what is wrong is then to be found by what it says."""
    return shutil.copytree(
        folder, place, ignore=shutil.ignore_patterns("run.sqlite*", "sha256.json")
    )


@pytest.mark.parametrize("harm", ["gone", "other", "cut"])
def test_a_damaged_matched_sample_is_noticed(tmp_path, first_run, harm):
    folder = copy_without_checksums(first_run, tmp_path / "copy")
    run = read_run(folder)
    paths = [folder / "cells" / f"{cell.identity}.parquet" for cell in run.cells]
    if harm == "gone":
        paths[3].unlink()
    elif harm == "other":
        shutil.copy(paths[0], paths[3])
    else:
        paths[3].write_bytes(paths[3].read_bytes()[:-20])
    message = {"gone": "is gone", "other": "is not the matched sample", "cut": "is damaged"}[harm]
    with pytest.raises(StoreError, match=message):
        run.read_answers()


@pytest.mark.parametrize(
    ("name", "moved", "said"),
    [
        ("valid_accuracy", lambda own, n: (round(own * n) - 1) / n, "has valid_accuracy 0"),
        ("valid_accuracy", lambda own, n: 1 / n, "has valid_accuracy 0"),
        ("valid_accuracy", lambda own, n: own, None),
    ],
)
def test_results_that_a_matched_sample_contradicts_are_noticed(
    tmp_path, first_run, name, moved, said
):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    results = json.loads((folder / "results.json").read_text())
    cell = results["conditions"][0]["rhos"][0]["cells"][1]
    cell[name] = moved(cell[name], results["data"]["valid"]["rows"])
    (folder / "results.json").write_text(json.dumps(results))
    run = read_run(folder)
    if said is None:
        run.read_answers()
        return
    with pytest.raises(StoreError, match=f"{said}.* says .* of the same matched sample"):
        run.read_answers()


def test_results_that_do_not_name_the_software_of_a_model_are_read(tmp_path, first_run):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    results = json.loads((folder / "results.json").read_text())
    del results["software"]["model"]
    (folder / "results.json").write_text(json.dumps(results))
    assert read_run(folder).cells


NAN = float("nan")


def change(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def relabel(table, label):
    labels = table["predicted"].cast(pa.string()).to_pylist()
    return change(table, "predicted", [label, *labels[1:]])


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda table: table.take(list(range(table.num_rows))[::-1]), "not in their order"),
        (lambda table: table.slice(1), "not in their order"),
        (lambda table: table.slice(0, 1), "has no version 'words'"),
        (lambda table: table.drop_columns("predicted"), "predicted"),
        (lambda table: table.drop_columns("changed"), "changed"),
        (lambda table: relabel(table, "perhaps"), "none of the labels"),
        (lambda table: relabel(table, None), "a label is missing"),
        (lambda table: change(table, "gold", pa.nulls(table.num_rows, pa.string())), "no gold"),
        (lambda table: table.slice(0, 0), "there are no predictions"),
    ],
)
def test_a_matched_sample_that_was_tampered_with_is_noticed(tmp_path, first_run, harm, message):
    folder = copy_without_checksums(first_run, tmp_path / "copy")
    run = read_run(folder)
    path = folder / "cells" / f"{run.cells[3].identity}.parquet"
    whole = pq.read_table(path)
    pq.write_table(harm(whole).replace_schema_metadata(whole.schema.metadata), path)
    with pytest.raises(StoreError, match=rf"is damaged .*{message}.* put back"):
        run.read_answers()


def read_predictions(run):
    return IETestResult(results=run.results, folder=run.source).predictions


def edit(path, column, change_value):
    """Change one value of a file that a run has written, and nothing that it says of itself."""
    whole = pq.read_table(path)
    place = whole.column_names.index(column)
    field = whole.schema.field(place)
    values = whole[column].to_pylist()
    own = next(i for i, value in enumerate(values) if change_value(value) != value)
    values[own] = change_value(values[own])
    new = pa.array(values, pa.string() if pa.types.is_dictionary(field.type) else field.type)
    pq.write_table(whole.set_column(place, field, new.cast(field.type)), path)


@pytest.mark.parametrize(
    ("files", "column", "value"),
    [
        ("data/*/test.parquet", "changed", lambda old: False),
        ("data/*/test.parquet", "premise", lambda old: old[:-1] + " and nobody laughs."),
        ("data/*/test.edits.parquet", "old", lambda old: "x" * len(old)),
        ("cells", "predicted", lambda old: "contradiction"),
        ("cells", "changed", lambda old: not old),
    ],
)
def test_a_file_that_was_edited_is_not_believed(tmp_path, first_run, files, column, value):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    run = read_run(folder)
    path = run.source / "cells" / f"{run.cells[0].identity}.parquet"
    if "cells" not in files:
        (path,) = folder.glob(files)
    edit(path, column, value)
    said = {
        "data": rf"{path.parent.name}: is damaged \({path.name} is not as it was written\)",
        "cells": rf"{path.name}: has changed since it was written",
    }[files.partition("/")[0]]
    readers = [FinishedRun.read_versions]
    if "cells" in files:
        readers += [FinishedRun.read_answers, read_predictions]
    for read in readers:
        with pytest.raises(StoreError, match=rf"{said}; put back the one that was written, or del"):
            read(run)


@pytest.mark.parametrize(
    "gone", ["", "run.sqlite", "data/*/sha256.json", "data/*/train.parquet", "row", "tables"]
)
def test_a_folder_that_was_copied_in_part_is_read(tmp_path, first_run, gone):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    if gone in {"row", "tables"}:
        with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database, database:
            database.execute("DROP TABLE cells" if gone == "tables" else "DELETE FROM cells")
    elif gone:
        (path,) = folder.glob(gone)
        path.unlink()
    before = {path.name for path in folder.iterdir()}
    run, whole = read_run(folder), read_run(first_run)
    assert run.read_versions().transformed.equals(whole.read_versions().transformed)
    assert np.array_equal(run.read_answers(), whole.read_answers())
    assert read_predictions(run).table.equals(read_predictions(whole).table)
    assert {path.name for path in folder.iterdir()} == before


def test_a_database_that_is_damaged_is_said(tmp_path, first_run):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    (folder / "run.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"run\.sqlite: is damaged .*delete it"):
        read_run(folder).read_answers()


def test_edits_that_are_cut_are_noticed(tmp_path, first_run):
    folder = copy_without_checksums(first_run, tmp_path / "copy")
    (path,) = folder.glob("data/*/test.edits.parquet")
    pq.write_table(pq.read_table(path).slice(0, 5), path)
    with pytest.raises(StoreError, match="its edits are not as many"):
        read_run(folder).read_versions()


@pytest.mark.parametrize(
    ("column", "values"), [("old", [{"a": 1}]), ("start", ["x"]), ("rule", [[1]]), ("end", None)]
)
def test_edits_of_other_types_are_noticed(tmp_path, first_run, column, values):
    folder = copy_without_checksums(first_run, tmp_path / "copy")
    (path,) = folder.glob("data/*/test.edits.parquet")
    table = pq.read_table(path)
    place, n = table.column_names.index(column), table.num_rows
    table = table.remove_column(place)
    if values is not None:
        table = table.add_column(place, column, pa.array(values * n))
    pq.write_table(table, path)
    with pytest.raises(StoreError, match="is damaged"):
        read_run(folder).read_versions()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("software", None, "software: "),
        ("software.model", "xgboost 9.9", "software.model: is not the backend of bow-xgb, xgboost"),
        ("models.0.settings.backend", "other 1.0", "software.model: is not the backend"),
        ("identity", 7, "identity: "),
        ("settings.alpha", "x", "settings.alpha: "),
        ("settings.margin", NAN, "settings.margin: "),
        ("settings.demo", 1, "settings.demo: is unknown"),
        ("models.0.settings.options", None, "models.0.settings.options: "),
        ("models.0.key", "other", "conditions: there is no model 'bow-xgb'"),
        ("conditions", [], "conditions: "),
        ("R", [], "rhos: "),
        ("R.0.p_min", NAN, "rhos.0.p_min: "),
        ("R.0.p_min", 0.5, "rhos.0.p_min: is 0.5, but the rest of the file makes it"),
        ("R.0.p_adjusted.1", 0.5, "rhos.0: p_adjusted does not follow"),
        ("R.0.alpha", 0.1, "rhos.0.threshold: is 0.025"),
        ("R.1.rho", 0.0, "a classifier is of another rho"),
        ("R.0.threshold", 0.5, "rhos.0.threshold: is 0.5"),
        ("R.0.reject", None, "rhos.0.reject: is None"),
        ("R.0.cells.1.m", 0, "m is 0 to 1, each once"),
        ("R.0.cells.0.t", 10**400, "rhos.0.cells.0.t: is 1000"),
        ("R.0.cells.0.identity", "../../../elsewhere", "cells.0.identity: "),
        ("R.0.cells.0.n11", 1, "not of equally many observations"),
        ("R.0.cells.0.n11", 2**70, "at most"),
        ("R.0.cells.0.t", 1.5, "rhos.0.cells.0.t: is 1.5"),
        ("R.0.cells.0.test.p_value", 0.5, "rhos.0.cells.0.p_value: is"),
        ("R.0.cells.0.test.p_mcnemar_exact", 0.5, "test.p_mcnemar_exact: is 0.5, but the rest"),
        ("R.0.cells.0.equivalence.interval", [-0.9, 0.9], "equivalence.interval.0: is"),
        ("R.0.cells.0.equivalence.equivalent", None, "equivalence.equivalent: is None"),
    ],
)
def test_results_that_were_tampered_with_are_noticed(tmp_path, first_run, place, value, message):
    results = json.loads((first_run / "results.json").read_text())
    place = place.replace("R", "conditions.0.rhos", 1) if place.startswith("R") else place
    *way, last = (int(name) if name.isdigit() else name for name in place.split("."))
    part = results
    for name in way:
        part = part[name]
    part[last] = value
    (tmp_path / "results.json").write_text(json.dumps(results))
    with pytest.raises(StoreError, match=rf"results\.json: is damaged \(ValueError: .*({message})"):
        read_run(tmp_path)


def test_a_model_that_results_name_is_not_imported(tmp_path, first_run, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "trap")
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap" / "booby.py").write_text("raise SystemExit('imported')")
    text = (first_run / "results.json").read_text()
    name = json.loads(text)["models"][0]["settings"]["name"]
    run = tmp_path / "run"
    shutil.copytree(first_run, run)
    (run / "results.json").write_text(text.replace(f'"{name}"', '"booby:Model"'))
    with contextlib.suppress(StoreError):
        read_run(run)
    assert "booby" not in sys.modules


def test_depth_without_end_is_no_crash(tmp_path):
    (tmp_path / "results.json").write_text("[" * 200_000)
    with pytest.raises(StoreError, match="is damaged"):
        read_run(tmp_path)


def test_texts_that_are_gone_are_told(tmp_path, first_run):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    shutil.rmtree(folder / "data")
    with pytest.raises(StoreError, match="is damaged"):
        read_run(folder).read_versions()


def test_names_are_found_and_told_apart(first_run, second_run, other_words):
    runs = read_runs([first_run, second_run])
    assert [run.name for run in runs] == ["bow-xgb", "bow-xgb (hypothesis only)"]
    names = [run.name for run in read_runs([first_run, other_words])]
    assert names == ["bow-xgb, first", "bow-xgb, words"]
    names = [run.name for run in name_runs([runs[0], runs[0]])]
    assert names == ["bow-xgb", "bow-xgb (2)"]
    with pytest.raises(InputError, match="is the same folder as"):
        read_runs([first_run, first_run])
    assert [run.name for run in name_runs(runs, ["a", "b"])] == ["a", "b"]
    same = [runs[0].renamed(name) for name in ("a (2)", "a", "a")]
    assert [run.name for run in name_runs(same)] == ["a (2)", "a", "a (3)"]
    with pytest.raises(InputError, match="with different names"):
        gather(RunsSource(runs=(runs[0], runs[1].renamed(runs[0].name))))
    for wrong in (["a"], ["a", "a"]):
        with pytest.raises(InputError, match="2 runs need as many different names"):
            name_runs(runs, wrong)
    with pytest.raises(InputError, match="no run to report on"):
        read_runs([])


def test_a_checkpoint_is_named_by_its_kind_and_a_short_fingerprint(tmp_path, first_run):
    folder = shutil.copytree(first_run, tmp_path / "copy")
    results = json.loads((folder / "results.json").read_text())
    results["models"][0]["settings"] |= {
        "name": "transformer",
        "options": {"checkpoint": f"roberta@{'3f' * 32}"},
    }
    own = {key: own for key, own in results["models"][0]["settings"].items() if own is not None}
    own |= {key: None for key in ("params", "search", "input") if key not in own}
    signed = rf"model:transformer@{identify(own)[:4]}|"
    text = re.sub(r"model:bow-xgb@[0-9a-f]{4}\|", signed, json.dumps(results))
    (folder / "results.json").write_text(text)
    run = read_run(folder)
    assert run.name == "roberta@3f3f3f"
    text = to_toml(run.results, run.condition)
    assert 'options = { checkpoint = "..." }' in text
    assert f"# option checkpoint: roberta@{'3f' * 32}" in text


@pytest.mark.slow
def test_of_clusters_the_test_that_decides_is_read(tmp_path):
    data = {"demo": True, "cluster": "premise"}
    folder = make_run(tmp_path / "clustered", data=data, n_resamples=200, rho=[0])
    results = json.loads((folder / "results.json").read_text())
    run = read_run(folder)
    for cell, own in zip(run.cells, results["conditions"][0]["rhos"][0]["cells"], strict=True):
        assert (cell.t, cell.p_value) == (own["clustered"]["t"], own["clustered"]["p_value"])
        assert cell.n_clusters == own["clustered"]["n_clusters"] == 12
    assert any(cell.t != cell.counts.t for cell in run.cells)
    table = runs_table([run])
    assert table.rows[0][-1] == 12
    assert "draw whole ones" in table.note
    assert run.rhos[0].power is None
    assert tomllib.loads(to_toml(run.results, run.condition))["data"]["cluster"] == "premise"
    page = build_page(gather(RunsSource(runs=(run,))))
    assert "as if its observations were independent" in page
