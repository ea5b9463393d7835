"""The tables of further test sets, in the summary and in reports."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from further_runs import OTHER, WORDS, run_further
from ietest_fast.report import gather, print_summary
from ietest_fast.report.further_tests import further_tables
from ietest_fast.report.runs import finished_runs
from ietest_fast.report.tables import MeanSd, PValue


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run_further(tmp_path_factory.mktemp("plain") / "out")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run_further(
        tmp_path_factory.mktemp("run") / "out", eval_phi=[OTHER, WORDS, "word-overlap"]
    )


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
