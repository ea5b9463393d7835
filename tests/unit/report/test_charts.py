"""Figures of runs that are not as usual."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ietest_fast.experiment.finished import FinishedRun, read_run
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.experiment.view.charts import (
    _bins,
    accuracy_chart,
    bootstrap_chart,
    delta_chart,
    p_chart,
    snr_chart,
    t_chart,
)
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report.contents import gather
from ietest_fast.report.drawing import PAPER
from ietest_fast.stats import PairedCounts, draw_t_replicates

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
        condition=ConditionResult.of(
            model=name, transformation="syn", signature=None, rhos=tuple(rhos)
        ),
    )


@pytest.mark.slow
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


@pytest.mark.parametrize("k", [8, 13, 20, 31, 40, 57, 80, 150, 800])
def test_the_null_distribution_has_no_dip_that_its_law_has_not(k):
    n = 3000
    counts = PairedCounts(n - k - 500, k // 2, k - k // 2, 500)
    t = draw_t_replicates(counts, n_resamples=200_000)
    reach = max(float(np.abs(t).max()), 4.0)
    heights, edges = np.histogram(t, bins=_bins(reach, k))
    assert heights.sum() == len(t)
    middle = len(heights) // 2
    assert edges[middle] < 0 < edges[middle + 1]
    falling = heights[middle:][heights[middle:] > 2_000]
    assert (np.diff(falling) < 4 * np.sqrt(falling[:-1])).all()


@pytest.mark.parametrize("n", [31, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_models_have_figures_and_tables(n):
    runs = [
        make_run({0.0: [(50, 10, 5, 35)], 1.0: [(50, 9, 5, 36)]}, name=f"m{i}") for i in range(n)
    ]
    for chart in (t_chart(runs, "t"), p_chart(runs, "p"), snr_chart(runs, "s")):
        figure, _ = chart.draw(PAPER)
        assert figure.get_figheight() < 20
        for axes in figure.axes:
            box = axes.get_position()
            assert box.height * figure.get_figheight() > 2
    assert f"{n:,} runs are too many for a legend" in t_chart(runs, "t").note
    assert f"{n - 40:,} more" in snr_chart(runs, "s").note if n > 40 else True
    if n == 31:
        contents = gather(RunsSource(runs=tuple(runs)))
        assert len(contents.charts) < 50
        assert "first 12 of" in contents.sections[0].intro


def test_figures_say_what_their_bars_are():
    one, two = (make_run({0.0: [(50, 10, 5, 35)] * m}) for m in (1, 2))
    for chart in (accuracy_chart(two, "a"), t_chart([two], "t")):
        assert "mean ± standard deviation over the M classifiers" in chart.note
    assert "one classifier" in accuracy_chart(one, "a").note


def test_no_label_of_a_level_stands_where_points_are():
    runs = [
        make_run({0.0: [(50, 10, 5, 35)] * m, 1.0: [(50, 10, 5, 35)] * m}, str(m))
        for m in (1, 2, 3, 4)
    ]
    figure, _ = p_chart(runs, "p").draw(PAPER)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 4
    assert all(box.x0 > axes.get_window_extent().x1 for box in boxes)
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)
    boxes.sort(key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))
