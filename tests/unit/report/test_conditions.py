"""A run of several models and transformations, in a report."""

from __future__ import annotations

import io
import json
import tomllib

import pytest
from rich.console import Console

from finished_runs import SWAPS
from ietest_fast.annotation.sampling import draw_sample
from ietest_fast.errors import InputError
from ietest_fast.experiment import check_config
from ietest_fast.experiment.finished import finished_runs, read_folder, read_run, read_runs
from ietest_fast.experiment.results import RESULTS, read_results
from ietest_fast.experiment.run import run
from ietest_fast.experiment.schema import (
    ConditionResult,
)
from ietest_fast.experiment.view import print_summary, write_figures
from ietest_fast.experiment.view.charts import p_chart
from ietest_fast.experiment.view.result_tables import across_tables, rho_table
from ietest_fast.experiment.view.run_sections import to_toml
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.experiment.view.text_tables import find_substitutions
from ietest_fast.numerals import brief_p
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import PairedCounts, holm
from ietest_fast.transform import Composition, WordSubstitution, apply_edits
from toys import QUICK, toy_splits


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Two models under two transformations, whose M tests are corrected jointly."""
    tree = {"name": "bow-xgb", "params": QUICK}
    config = {
        "data": {"demo": True, "name": "toys"},
        "model": [tree, {**tree, "input": "hypothesis"}],
        "rho": [0, 1],
        "n_classifiers": 2,
        "correction": "maxt",
        "n_jobs": 1,
    }
    phis = tuple(WordSubstitution(mapping=swaps) for swaps in (SWAPS, {"waits": "tarries"}))
    folder = tmp_path_factory.mktemp("sweep")
    return run(check_config(config), folder, splits=toy_splits(), transformation=phis)


def test_what_is_written_is_read(sweep):
    again = read_results(sweep.folder)
    assert again.to_dict() == sweep.to_dict()
    assert len(again.across) == 4
    assert again.across[0].cochran_p_value == min(
        1, 2 * min(each.p_value for each in again.across[0].cochran)
    )
    assert again.across[0].p_holm == tuple(holm(again.across[0].p_values))
    with pytest.raises(ValueError, match="has 4 conditions, not one"):
        _ = again.rhos


def test_each_model_under_each_transformation_is_a_run(sweep):
    runs = read_runs([sweep.folder])
    assert len({run.name for run in runs}) == 4
    assert [run.name for run in runs][:2] == ["bow-xgb under words", "bow-xgb under words#2"]
    assert {(run.model, run.transformation) for run in runs} == {
        (model, phi)
        for model in ("bow-xgb", "bow-xgb (hypothesis only)")
        for phi in ("words", "words#2")
    }
    with pytest.raises(InputError, match="holds 4 combinations of a model, a transformation and a"):
        read_run(sweep.folder)


def test_what_holds_over_transformations_is_shown(sweep):
    over, cochran = across_tables(read_folder(sweep.folder))
    assert "Cochran" not in over.note
    assert [row[2] for row in over.rows] == ["words", "words#2"] * 4
    assert [row[:3] for row in cochran.rows] == [
        (model, 0.0, m) for model in ("bow-xgb", "bow-xgb#2") for m in (0, 1)
    ]
    assert across_tables([]) == []
    assert len(rho_table(read_runs([sweep.folder])).rows) == 8


def _print(result):
    console = Console(width=120, file=io.StringIO())
    print_summary(result, console, details=True)
    return console.file.getvalue()


def test_the_summary_ends_with_what_holds_over_transformations(sweep):
    printed = _print(sweep)
    for model in ("bow-xgb", "bow-xgb#2"):
        _, found, after = printed.partition(f"{model}, over 2 transformations\n")
        assert found
        own = [each for each in sweep.across if each.model == model]
        rows = [line.split() for line in after.splitlines() if line.strip()][2:]
        for each in own:
            for phi, p, holm_p, reject in zip(
                each.transformations, each.p_values, each.p_holm, each.reject, strict=True
            ):
                shown = [f"{each.rho:g}", phi, brief_p(p), brief_p(holm_p, threshold=0.05)]
                assert rows.pop(0) == [*shown, *(["reject"] if reject else ["not", "rejected"])]
        assert "corrected by Holm's rule for 2 transformations, lies below α = 0.05." in after
        (first, *_) = own
        said = " ".join(rows[1])
        assert said.startswith(
            "Cochran's Q at ρ = 0, H0: outcomes exchangeable over 3 versions: Q = "
        )
        assert ", ".join(f"{each.statistic:.2f}" for each in first.cochran) in said
        p = brief_p(first.cochran_p_value, threshold=0.05)
        is_rejected = "rejected" if first.cochran_p_value < 0.05 else "not rejected"
        assert said.endswith(f"corrected for 2 tests: {p}, {is_rejected} at α = 0.05.")
    assert printed.count("Cochran's Q") == 2


def test_the_summary_says_that_clusters_leave_cochran_out(tmp_path):
    config = {
        "data": {"demo": True, "cluster": "premise"},
        "model": {"name": "bow-xgb", "params": QUICK},
        "rho": [0],
        "n_classifiers": 1,
        "n_jobs": 1,
    }
    phis = tuple(WordSubstitution(mapping=swaps) for swaps in (SWAPS, {"waits": "tarries"}))
    result = run(check_config(config), tmp_path, splits=toy_splits(), transformation=phis)
    assert result.across[0].cochran_p_value is None
    printed = _print(result)
    assert "bow-xgb, over 2 transformations\n" in printed
    assert [line for line in printed.splitlines() if "Cochran" in line] == [
        "Cochran's Q is left out: it takes rows to be independent, and clusters are drawn."
    ]
    (over,) = across_tables(finished_runs(result))
    assert "Cochran's test takes observations to be independent, and is left out" in over.note


@pytest.mark.slow
def test_summary_figures_and_page_have_all_conditions(sweep):
    printed = _print(sweep)
    for model in ("bow-xgb", "bow-xgb#2"):
        for phi in ("words", "words#2"):
            assert f"{model} under {phi}\n" in printed
    names = [path.name for path in write_figures(sweep)]
    assert "accuracy-4.svg" in names
    assert "p_values.png" in names
    page = build_page(gather(RunsSource(runs=tuple(read_runs([sweep.folder])))))
    assert page.count('<li class="verdict') == 4
    assert "Over the transformations of each model" in page
    assert "words on toys, for bow-xgb, bow-xgb (hypothesis only)" in page
    assert "bow-xgb (hypothesis only) under words#2" in page


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda v: v["conditions"].append(v["conditions"][0]), "are there twice"),
        (lambda v: v["models"].append(v["models"][0]), "two models have the same key"),
        (lambda v: v["across"][0].update(p_holm=[0.0, 0.0]), "across.0: p_holm does not follow"),
        (lambda v: v["across"][0].update(p_values=[0.5]), "across.0: there is not one p-value"),
        (lambda v: v["across"][0].update(model="absent"), "across.0: there is no such condition"),
    ],
)
def test_what_does_not_fit_together_is_noticed(tmp_path, sweep, harm, message):
    values = sweep.to_dict()
    harm(values)
    (tmp_path / RESULTS).write_text(json.dumps(values))
    with pytest.raises(Exception, match=message):
        read_results(tmp_path)


def test_a_run_of_one_condition_reads_simply(first_run):
    result = read_results(first_run)
    assert result.rhos == result.conditions[0].rhos
    assert isinstance(result.only, ConditionResult)
    assert [run.name for run in finished_runs(result)] == ["bow-xgb"]


def test_a_sweep_is_reported_with_texts_answers_and_its_joint_test(sweep):
    runs = read_runs([sweep.folder])
    first, second = (each.read_versions() for each in runs[:2])
    assert first.original.equals(second.original)
    assert not first.transformed.equals(second.transformed)
    for each in runs:
        answers, gold = each.read_answers(), each.read_versions().gold
        for cell, own in zip(each.cells, answers.reshape(240, 4, 2).swapaxes(0, 1), strict=True):
            right = own == gold[:, None]
            assert PairedCounts.from_outcomes(right[:, 0], right[:, 1]) == cell.counts
        assert all(rho.threshold == 0.05 for rho in each.rhos)
        assert tomllib.loads(to_toml(each.results, each.condition))["correction"] == "maxt"
    chart = p_chart(runs, "p").to_page()
    assert "α = 0.05" in chart
    assert "α/M" not in chart.partition("<desc")[0]
    heads = [column.name for column in rho_table(runs).columns]
    assert "threshold" in heads
    assert "α/M" not in heads


def test_edits_of_a_composition_are_shown_in_the_original_texts(tmp_path):
    phi = Composition(
        parts=(
            WordSubstitution(mapping={"sleeps": "lies down", "boy": "lad"}, rule="one"),
            WordSubstitution(mapping={"down": "low", "girl": "lass", "lad": "boy"}, rule="two"),
        )
    )
    config = {
        "data": {"demo": True, "name": "toys"},
        "model": {"name": "bow-xgb", "params": QUICK},
        "rho": [0],
        "n_classifiers": 1,
        "n_jobs": 1,
    }
    run(check_config(config), tmp_path / "run", splits=toy_splits(), transformation=phi)
    found = read_run(tmp_path / "run")
    versions = found.read_versions()
    assert apply_edits(versions.original, versions.edits).equals(versions.transformed)
    assert set(find_substitutions(versions).names) == {"sleeps → lies low", "girl → lass"}
    sample = draw_sample(found, tmp_path / "sample.json", n=20, seed=0)
    for pair in sample.pairs:
        for name, pieces in pair["pieces"].items():
            for version, dropped in ((versions.original, "new"), (versions.transformed, "old")):
                text = "".join(piece for kind, piece in pieces if kind != dropped)
                assert text == version[name][pair["row"]].as_py()
