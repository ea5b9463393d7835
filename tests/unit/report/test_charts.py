"""Figures of runs that are not as usual."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.report.charts import (
    accuracy_chart,
    bootstrap_chart,
    delta_chart,
    p_chart,
    snr_chart,
    t_chart,
)
from ietest_fast.report.runs import FinishedRun, read_run
from ietest_fast.stats import PairedCounts

CASES = {
    "one rho, one classifier": {0.5: [(50, 10, 5, 35)]},
    "no discordant pair": {0.0: [(60, 0, 0, 40)], 1.0: [(60, 0, 0, 40)]},
    "an infinite t": {0.0: [(0, 40, 0, 0), (0, 0, 40, 0)], 1.0: [(0, 40, 0, 0), (0, 40, 0, 0)]},
    "p = 0 and p = 1": {0.0: [(10, 90_000, 10, 10)], 1.0: [(90_000, 1, 1, 10)]},
    "many rho": {number / 30: [(500, 60 + number, 60, 380)] for number in range(31)},
}


def make_run(table, name="bert"):
    rhos = [
        RhoResult.from_cells(
            [
                CellResult.from_counts(
                    PairedCounts(*four),
                    rho=rho,
                    m=m,
                    collapsed=False,
                    alpha=0.05,
                    margin=0.01,
                )
                for m, four in enumerate(rows)
            ],
            alpha=0.05,
        )
        for rho, rows in table.items()
    ]
    return FinishedRun(
        name=name,
        source=Path("runs"),
        model=name,
        transformation="syn",
        data_name="snli",
        condition=ConditionResult(
            model=name, transformation="syn", signature=None, rhos=tuple(rhos)
        ),
    )


@pytest.mark.parametrize("case", CASES)
def test_every_figure_can_be_drawn(tmp_path, case):
    run = make_run(CASES[case])
    charts = [
        accuracy_chart(run, "a"),
        t_chart([run], "b"),
        p_chart([run], "c"),
        delta_chart(run, "d"),
        bootstrap_chart(run, "e"),
        snr_chart([run, run.renamed("other")], "f"),
    ]
    # Equal accuracies have no noise, and so no finite ratio to draw.
    assert (charts[-1] is None) == (case in {"one rho, one classifier", "no discordant pair"})
    for chart in filter(None, charts):
        page = chart.to_page()
        assert page.startswith("<svg")
        assert "nan" not in page.lower().replace("title", "")
        chart.save(tmp_path / f"{chart.name}.pdf")


def test_lines_of_different_m_are_told_apart():
    four = CASES["one rho, one classifier"]
    few, many = make_run(four), make_run({rho: rows * 3 for rho, rows in four.items()}, name="b")
    page = p_chart([few, many], "p").to_page()
    for said in ("α/M = 0.05 (M = 1)", "α/M = 0.0167 (M = 3)"):
        assert said in page
    assert "(M = 1)" not in p_chart([few], "p").to_page()


def test_names_that_matplotlib_would_read_are_drawn_as_they_are():
    run = make_run(CASES["one rho, one classifier"])
    names = ["a_$x^2$_<b>&", "_hidden", r"$\frac$", "zero\x00escape\x1b", "long " * 30]
    page = t_chart([run.renamed(name) for name in names], "t").to_page()
    legend = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    for shown in ("a_$x^2$_&lt;b&gt;&amp;", "\u200b_hidden", r"$\frac$", "zero�escape�"):
        assert shown in legend
    assert any(text.startswith("long long") and "…" in text for text in legend)
    assert "\x00" not in page
    assert "<b>" not in page
    assert "\\$" not in page


def test_of_clusters_the_law_of_independent_observations_is_drawn_with_its_own_t(first_run):
    run = read_run(first_run)
    values = run.condition.to_dict()
    for rho in values["rhos"]:
        for cell in rho["cells"]:
            test = {name: cell["test"][name] for name in ("p_value", "p_paper", "p_symmetric")}
            more = {"n_nonzero": 9, "design_effect": 4, "n_resamples": 9, "seed": 0}
            cell["clustered"] = {**test, **more, "n_clusters": 100, "t": cell["t"] / 2} | {
                "warning": None
            }
    condition = ConditionResult.model_validate_json(json.dumps(values))
    rhos = condition.rhos
    chart = bootstrap_chart(replace(run, condition=condition), "b")
    assert chart.title.endswith("as if its observations were independent")
    strongest = rhos[0].strongest
    assert f"t = {strongest.counts.t:.3f}" in chart.summary
    assert "p =" not in chart.summary
    assert "p =" in bootstrap_chart(run, "b").summary
