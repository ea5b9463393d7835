"""Tables and figures of finished runs."""

from __future__ import annotations

import io
import json
import math
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from rich.console import Console

from ietest_fast.experiment.finished import finished_runs
from ietest_fast.experiment.results import write_results
from ietest_fast.experiment.schema import (
    CellResult,
    ChangedRows,
    ConditionResult,
    DataSummary,
    ModelRecord,
    ModelSettings,
    RhoResult,
    RunResult,
    RunSettings,
    SearchRecord,
    Sensitivity,
    SplitSummary,
    Spread,
    TransformationRecord,
)
from ietest_fast.experiment.schema.run_result import DataSettings
from ietest_fast.experiment.view import print_summary, write_figures
from ietest_fast.experiment.view.charts import P_FLOOR, accuracy_chart, p_chart
from ietest_fast.numerals import brief_p
from ietest_fast.report.drawing import PAPER
from ietest_fast.stats import (
    PairedCounts,
    detectable_difference,
    equivalence_test,
    paired_test,
)
from ietest_fast.stats.planning.power import difference_beside_test


def _result(folder, table, *, collapsed=()):
    """A run with the given counts: {rho: [(n11, n10, n01, n00), ...]}."""
    rhos = []
    for rho, rows in table.items():
        cells = [
            CellResult.of(
                rho=rho,
                m=m,
                identity="ab",
                test=paired_test(PairedCounts(*four)),
                equivalence=equivalence_test(PairedCounts(*four), margin=0.03),
                valid_accuracy=0.5,
                train_transformed=0,
                valid_transformed=0,
                collapsed=(rho, m) in collapsed,
            )
            for m, four in enumerate(rows)
        ]
        n = cells[0].n
        psi = sum(cell.counts.k for cell in cells) / (n * len(cells))
        rhos.append(
            RhoResult.from_cells(
                cells,
                alpha=0.05,
                sensitivity=Sensitivity(margin=0.03, discordance=0.2, power=0.625),
                detectable_difference=difference_beside_test(n, psi, n_tests=len(cells)),
                signature="ie",
            )
        )
    split = SplitSummary(rows=1000, dropped={}, labels={})
    result = RunResult(
        identity="",
        settings=RunSettings(
            data=DataSettings(
                name=None, cluster=None, split=None, demo=None, train="1", valid="2", test="3"
            ),
            rho=tuple(table),
            n_classifiers=len(rhos[0].cells),
            alpha=0.05,
            correction="bonferroni",
            margin=0.03,
            flip_margin=0.05,
            seed=0,
            method="exact",
            n_resamples=None,
        ),
        software={},
        data=DataSummary(
            text_columns=("text",),
            label_names=("no", "yes"),
            label_column=None,
            train=split,
            valid=split,
            test=split,
        ),
        transformations=(
            TransformationRecord(
                key="syn.careful",
                name="syn.careful",
                fingerprint="1a",
                settings={"name": "synonyms"},
                inputs="2b",
                changed=ChangedRows(train=0, valid=0, test=625),
                n_test_reworded=625,
                test_edits={"article": 5, "frequency": 1000, "edit_distance": 234},
            ),
        ),
        models=(
            ModelRecord(
                key="bow-xgb",
                settings=ModelSettings(
                    name="bow-xgb",
                    options={},
                    params={},
                    search=None,
                    search_per_resample=False,
                    n_voters=1,
                    input=None,
                    backend="xgb 3",
                ),
                searches=(SearchRecord(params={}, trials=()),),
            ),
        ),
        conditions=(
            ConditionResult.of(
                model="bow-xgb",
                transformation="syn.careful",
                signature="ie|n:1000|data:toys@1f2e",
                rhos=tuple(rhos),
            ),
        ),
    )
    return result.located(folder)


TABLE = {
    0.0: [(500, 200, 50, 250), (510, 190, 60, 240)],
    0.5: [(600, 80, 70, 250), (605, 75, 75, 245)],
    1.0: [(500, 60, 110, 330), (333, 0, 0, 667)],
}


def _printed(result):
    console = Console(width=100, file=io.StringIO())
    print_summary(result, console, details=True)
    return console.file.getvalue()


def test_the_table_has_every_number(tmp_path):
    text = _printed(_result(tmp_path, TABLE))
    rows = [line.split() for line in text.splitlines() if "reject" in line and "±" in line]
    assert [row[0] for row in rows] == ["0", "0.5", "1"]
    assert rows[0][1:7] == ["70.00", "±", "0.00", "56.00", "±", "1.41"]
    assert rows[0][-2:] == ["0.62", "reject"]
    assert rows[1][-3:] == ["0.62", "not", "rejected"]
    assert "finds a difference of ±0.03" in text
    assert "margin of ±0.03: differs at ρ = 0, 1; undecided at ρ = 0.5." in text
    assert "α/M = 0.05/2 = 0.025" in text
    assert "62.5% of them reworded by syn.careful (1,234 substitutions)" in text
    assert "Signature: ie|n:1000" in text
    assert "Collapsed" not in text


def test_edits_of_any_rule_are_counted(tmp_path):
    result = _result(tmp_path, TABLE)
    (phi,) = result.transformations
    own = phi.model_copy(update={"test_edits": {"typo": 7}})
    changed = result.model_copy(update={"transformations": (own,)})
    assert "reworded by syn.careful (7 edits)" in _printed(changed)


def test_collapsed_classifiers_are_named_and_snr_is_given_both_ways(tmp_path):
    text = _printed(_result(tmp_path, TABLE, collapsed={(1.0, 1)}))
    assert "1 of 6 classifiers: ρ=1 m=1" in text
    assert "without collapsed)" in text
    everything = {(rho, m) for rho in TABLE for m in (0, 1)}
    assert "(none left without collapsed)" in _printed(
        _result(tmp_path, TABLE, collapsed=everything)
    )


def test_results_hold_the_snr_with_its_interval_both_ways(tmp_path):
    result = _result(tmp_path, TABLE, collapsed={(1.0, 1)})
    ratios = result.to_dict()["conditions"][0]["robustness"]
    found = result.only.ratios
    assert ratios["snr"] == found.every.snr
    low, high = ratios["snr_interval"]
    assert low < found.every.snr < high
    low, high = ratios["snr_without_collapsed_interval"]
    assert low < found.without_collapsed.snr < high
    assert found.collapsed == ("rho 1, m 1",)


def test_few_discordant_pairs_are_mentioned(tmp_path):
    assert "few discordant pairs" in _printed(_result(tmp_path, {0.0: [(990, 5, 2, 3)]}))
    assert "few discordant pairs" not in _printed(_result(tmp_path, TABLE))


def test_infinite_t_and_a_single_classifier_can_be_printed(tmp_path):
    result = _result(tmp_path, {0.0: [(0, 40, 0, 0)]})
    text = _printed(result)
    assert "∞" in text
    assert "±" not in next(line for line in text.splitlines() if "reject" in line and "∞" in line)
    assert result.to_dict()["conditions"][0]["rhos"][0]["cells"][0]["t"] == "inf"
    write_results(result, tmp_path)
    text = (tmp_path / "results.json").read_bytes()
    assert RunResult.model_validate_json(text).to_dict() == result.to_dict()


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.000"), (0.0123, "0.012"), (0.0004, "4.0e-04"), (0.0, "<1e-300")]
)
def test_p_values_for_people(p, text):
    assert brief_p(p) == text


def test_a_p_value_is_seen_on_its_side_of_the_threshold():
    assert brief_p(0.00996, threshold=0.01) == "0.00996"
    assert brief_p(0.0099, threshold=0.01) == "0.0099"
    assert brief_p(0.01, threshold=0.01) == "0.010"
    assert brief_p(0.0123, threshold=0.01) == "0.012"


@pytest.mark.slow
def test_figures_are_written_and_the_same_each_time(tmp_path):
    before = dict(mpl.rcParams)
    paths = write_figures(_result(tmp_path, TABLE))
    assert [path.name for path in paths] == [
        "accuracy.svg",
        "accuracy.png",
        "p_values.svg",
        "p_values.png",
    ]
    first = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in write_figures(_result(tmp_path, TABLE))] == first
    assert dict(mpl.rcParams) == before
    for path in paths[::2]:
        text = "".join(ET.parse(path).getroot().itertext())
        assert "probability that a training text is transformed" in text
    assert paths[1].read_bytes().startswith(b"\x89PNG")


def drawn(chart):
    figure, _ = chart.draw(PAPER)
    return figure.axes[0]


def test_accuracy_shows_means_and_deviations(tmp_path):
    (run,) = finished_runs(_result(tmp_path, TABLE))
    axes = drawn(accuracy_chart(run, "accuracy"))
    original, transformed = axes.containers
    assert original.lines[0].get_ydata() == pytest.approx([70, 68, 44.65])
    assert transformed.lines[0].get_ydata() == pytest.approx([56, 67.5, 47.15])
    (bar, *_) = original.lines[2][0].get_segments()[2:]
    assert bar[1][1] - bar[0][1] == pytest.approx(2 * 100 * abs(0.56 - 0.333) / math.sqrt(2))
    labels = {line.get_label(): line for line in axes.lines}
    first, second = labels["original test set"], labels["transformed test set"]
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_color() != second.get_color()
    assert axes.get_ylabel() == "accuracy (%)"


def test_p_values_below_the_floor_are_arrows_on_the_axis(tmp_path):
    result = _result(tmp_path, {**TABLE, 0.25: [(100, 700, 50, 150), (500, 190, 60, 250)]})
    (run,) = finished_runs(result)
    assert run.rhos[3].p_min < P_FLOOR
    axes = drawn(p_chart([run], "p"))
    points = {line.get_xdata()[0]: line for line in axes.lines if line.get_gid() is not None}
    assert {rho: line.get_marker() == "v" for rho, line in points.items()} == {
        0.0: True,
        0.25: True,
        0.5: False,
        1.0: False,
    }
    assert points[0.25].get_ydata() == [P_FLOOR]
    assert points[0.5].get_ydata() == [run.rhos[1].p_min]
    # Filled where it is rejected.
    assert points[0.5].get_markerfacecolor() == PAPER.ground
    assert points[0.25].get_markerfacecolor() == points[0.25].get_color()
    assert axes.get_yscale() == "log"
    assert [0.025, 0.025] in [list(line.get_ydata()) for line in axes.lines]
    # Every p-value is there.
    (dots,) = [line for line in axes.lines if line.get_marker() == "."]
    assert sorted(dots.get_ydata()) == sorted(max(c.p_value, P_FLOOR) for c in run.cells)


def test_the_mean_of_infinities_of_both_signs_is_undefined(tmp_path):
    result = _result(tmp_path, {0.0: [(0, 9, 0, 0), (0, 0, 9, 0)], 1.0: [(0, 9, 0, 0)] * 2})
    assert [cell.t for cell in result.rhos[0].cells] == [math.inf, -math.inf]
    write_results(result, tmp_path)
    written = json.loads((tmp_path / "results.json").read_text())["conditions"][0]
    assert [rho["t"]["mean"] for rho in written["rhos"]] == [None, "inf"]
    assert [cell["t"] for cell in written["rhos"][0]["cells"]] == ["inf", "-inf"]
    text = _printed(result)
    assert "undefined" in text
    assert "∞" in text


@pytest.mark.parametrize(
    ("values", "mean", "sd", "written"),
    [
        ([math.inf, -math.inf, 1.0], None, None, None),
        ([math.inf, 1.0], math.inf, None, "inf"),
        ([-math.inf, -math.inf], -math.inf, None, "-inf"),
        ([1.0, 3.0], 2.0, math.sqrt(2), 2.0),
        ([1.0], 1.0, None, 1.0),
    ],
)
def test_means_with_infinities(values, mean, sd, written):
    spread = Spread.of(values)
    assert spread == Spread(mean=mean, sd=sd)
    assert spread.to_dict()["mean"] == written


def test_nan_is_never_written():
    with pytest.raises(ValueError, match="not a number"):
        Spread(mean=math.nan, sd=None)


def test_power_stands_beside_the_decision(tmp_path):
    result = _result(tmp_path, TABLE)
    first = result.rhos[0].detectable_difference
    assert first == detectable_difference(1000, 0.25, alpha=0.05, n_tests=2)
    assert result.to_dict()["conditions"][0]["rhos"][0]["detectable_difference"] == first
    found = [rho.detectable_difference for rho in result.rhos]
    assert f"shows differences of {min(found):.4f} ({max(found):.4f} at the worst ρ)" in _printed(
        result
    )
    alike = _result(tmp_path, {0.0: [(500, 0, 0, 500)]})
    assert alike.rhos[0].detectable_difference is None
    assert "80% power" not in _printed(alike)
    assert _result(tmp_path, {0.0: [(990, 2, 2, 6)]}).rhos[0].detectable_difference is None
