"""A run of several models and transformations, in a report."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from finished_runs import make_run
from ietest_fast.errors import InputError
from ietest_fast.experiment.results import RESULTS, read_results, write_results
from ietest_fast.experiment.schema import (
    AcrossTransformations,
    CochranRecord,
    ConditionResult,
    RunResult,
)
from ietest_fast.report import print_summary, write_figures
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.report.result_tables import across_tables, rho_table
from ietest_fast.report.runs import finished_runs, read_folder, read_run
from ietest_fast.report.sources import read_runs
from ietest_fast.stats import holm


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Two models under two transformations; their numbers are those of one of each."""
    folder = make_run(tmp_path_factory.mktemp("sweep") / "run", rho=[0, 1])
    values = json.loads((folder / RESULTS).read_text())
    for name, key in (("models", "other"), ("transformations", "typos")):
        values[name].append(json.loads(json.dumps(values[name][0])) | {"key": key})
    values["transformations"][1]["name"] = "typos"
    values["models"][1]["settings"]["name"] = "other"
    model, phi = values["models"][0]["key"], values["transformations"][0]["key"]
    values["conditions"] = [
        json.loads(json.dumps(values["conditions"][0])) | {"model": a, "transformation": b}
        for a in (model, "other")
        for b in (phi, "typos")
    ]
    result = RunResult.model_validate_json(json.dumps(values))
    across = [
        AcrossTransformations.of(
            result.conditions[first : first + 2],
            rho=0.0,
            cochran=[
                CochranRecord(
                    m=m, statistic=1.5, p_value=0.2, method="exact", n_resamples=None, seed=None
                )
                for m in range(2)
            ],
        )
        for first in (0, 2)
    ]
    result = RunResult.model_validate_json(
        json.dumps(result.to_dict() | {"across": [each.to_dict() for each in across]})
    )
    return write_results(result, folder)


def test_what_is_written_is_read(sweep):
    again = read_results(sweep.folder)
    assert again.to_dict() == sweep.to_dict()
    assert again.across[0].cochran_p_value == 0.4
    assert again.across[0].p_holm == tuple(holm(again.across[0].p_values))
    with pytest.raises(ValueError, match="has 4 conditions, not one"):
        _ = again.rhos


def test_each_model_under_each_transformation_is_a_run(sweep):
    runs = read_runs([sweep.folder])
    assert len({run.name for run in runs}) == 4
    assert [run.name for run in runs][:2] == ["bow-xgb, words", "bow-xgb, typos"]
    assert {(run.model, run.transformation) for run in runs} == {
        (model, phi) for model in ("bow-xgb", "other") for phi in ("words", "typos")
    }
    with pytest.raises(InputError, match="holds 4 models and transformations"):
        read_run(sweep.folder)


def test_what_holds_over_transformations_is_shown(sweep):
    over, cochran = across_tables(read_folder(sweep.folder))
    assert [row[2] for row in over.rows] == ["words", "typos"] * 2
    assert [row[:3] for row in cochran.rows] == [
        (model, 0.0, m) for model in ("bow-xgb", "other") for m in (0, 1)
    ]
    assert across_tables([]) == []
    assert len(rho_table(read_runs([sweep.folder])).rows) == 8


def test_summary_figures_and_page_have_all_conditions(sweep):
    console = Console(width=120, file=io.StringIO())
    print_summary(sweep, console)
    printed = console.file.getvalue()
    for model in ("bow-xgb", "other"):
        for phi in ("words", "typos"):
            assert f"{model}, {phi}\n" in printed
    names = [path.name for path in write_figures(sweep)]
    assert "accuracy-4.svg" in names
    assert "p_values.png" in names
    page = build_page(gather(read_runs([sweep.folder])))
    assert page.count('<li class="verdict') == 4
    assert "Over the transformations of each model" in page


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
