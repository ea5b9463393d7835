"""Results draw themselves, and give a statistic by SciPy's name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    PairedCounts,
    cochran_q_test,
    combine,
    equivalence_test,
    estimate,
    paired_test,
    power_curve,
)

COUNTS = PairedCounts(90, 14, 4, 92)
TABLE = np.repeat([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], [20, 9, 5, 1], axis=0)
ROWS = np.random.default_rng(0).integers(0, 2, (3, 200))


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def labels_of(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_cochran_draws_its_null_law() -> None:
    result = cochran_q_test(TABLE, method="exact")
    axes = result.plot()
    assert labels_of(axes) == ["under H0", "chi-square, df 2", "observed"]
    # The area below the bars is nearly 1, and their mean nearly that of chi-square.
    bars = axes.patches[0].get_data()
    mass = bars.values * np.diff(bars.edges)
    assert mass.sum() == pytest.approx(1, abs=0.01)
    assert mass @ (bars.edges[1:] + bars.edges[:-1]) / 2 == pytest.approx(2, abs=0.1)
    even = cochran_q_test([[1, 1], [0, 0], [1, 1]])
    assert labels_of(even.plot())[-1] == "observed"


@pytest.mark.slow
def test_intervals_are_drawn_against_the_margin() -> None:
    result = equivalence_test(COUNTS, margin=0.05)
    axes = result.plot()
    low, high = axes.lines[1].get_xdata()
    assert (low, high) == (result.interval.low, result.interval.high)
    assert labels_of(axes) == ["margin ±0.05"]
    axes = estimate(COUNTS).plot(margin=0.02)
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "score (Tango)",
        "percentile",
        "BCa",
    ]
    clusters = np.arange(200) // 4
    clustered = estimate(ROWS[0], ROWS[1], clusters=clusters).plot()
    assert [text.get_text() for text in clustered.get_yticklabels()] == ["percentile", "BCa"]


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "maxt"])
def test_combined_results_draw_their_p_values(correction: Any) -> None:
    samples = {"one": (ROWS[0], ROWS[1]), "other": (ROWS[0], ROWS[2])}
    result = combine(
        samples,
        correction=correction,
        n_resamples=200,
        method=None if correction == "maxt" else "resample",
    )
    axes = result.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["one", "other"]
    assert labels_of(axes) == ["p", "adjusted p", "α = 0.05"]
    first = result.p_adjusted.index(result.pvalue)
    ts = [
        paired_test(*sample, method="resample", n_resamples=200).statistic
        for sample in samples.values()
    ]
    assert result.statistic == pytest.approx(ts[first])


def test_p_values_alone_have_no_statistic() -> None:
    result = combine([0.0, 0.5])
    assert result.statistic is None
    assert result.plot().get_xlim()[0] > 0


def test_a_power_curve_is_drawn() -> None:
    curve = power_curve(0.1, n=[100, 400, 900], delta=0.03)
    axes = curve.plot()
    assert axes.lines[0].get_ydata().tolist() == curve.power.tolist()


@pytest.mark.parametrize(
    "result",
    [
        cochran_q_test(TABLE),
        equivalence_test(COUNTS),
        estimate(COUNTS),
        combine([0.01, 0.2]),
        power_curve(0.1, n=[100, 400], delta=0.03),
    ],
)
def test_results_are_tables_in_notebooks(result: Any) -> None:
    assert result._repr_html_().startswith("<table><caption>")


def test_clusters_with_cochran_name_the_remedy() -> None:
    with pytest.raises(InputError, match="combine"):
        cochran_q_test(TABLE, clusters=np.arange(35))
