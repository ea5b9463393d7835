"""The tables of further test sets, in the summary and in reports."""

from __future__ import annotations

import io

import pytest

from further_runs import OTHER, WORDS, run_further
from ietest_fast.experiment.finished import finished_runs
from ietest_fast.experiment.view import print_summary
from ietest_fast.experiment.view.learning import further_tables, make_further_table
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.numerals import brief_p
from ietest_fast.report import gather
from ietest_fast.report.tables import MeanSd, PValue
from ietest_fast.report.terminal import make_console


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return run_further(tmp_path_factory.mktemp("plain") / "out")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run_further(
        tmp_path_factory.mktemp("run") / "out", eval_phi=[OTHER, WORDS, "word-overlap"]
    )


def test_the_summary_shows_every_test_set_at_every_rho(finished):
    console = make_console(io.StringIO(), width=200)
    print_summary(finished, console, details=True)
    text = console.file.getvalue().partition("The same classifiers on further test sets:")[2]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    (condition,) = finished.conditions
    expected = []
    for place, rho in enumerate(condition.rhos):
        start = "" if place else "original 240 "
        expected.append(f"{start}{rho.rho:g} {_shown(rho.accuracy_original)}")
    for place, rho in enumerate(condition.rhos):
        start = "" if place else "negation (trained on) 240 "
        shown = f"{_shown(rho.accuracy_transformed)} {_signed(rho.delta)}"
        expected.append(f"{start}{rho.rho:g} {shown}")
    for each in finished.evaluations:
        for place, own in enumerate(each.rhos):
            start = "" if place else f"{each.evaluation} 240 "
            p = brief_p(own.p_holm, threshold=own.alpha)
            decision = "reject" if own.reject else "not rejected"
            shown = f"{_shown(own.accuracy)} {_signed(own.test.delta)}"
            expected.append(f"{start}{own.rho:g} {shown} {p} {decision}")
    first = lines.index(expected[0])
    assert lines[first : first + len(expected)] == expected
    assert "beside the originals" in text
    assert "by Holm's rule for 3 test sets" in text


def _shown(spread):
    return f"{100 * spread.mean:.2f} ± {100 * spread.sd:.2f}"


def _signed(spread):
    return f"{100 * spread.mean:+.2f} ± {100 * spread.sd:.2f}"


def test_a_name_in_square_brackets_is_shown_as_it_is(finished):
    (condition,) = finished.conditions
    first, *others = finished.evaluations
    name = "negation:tautology=[/b] x [red]"
    renamed = finished.model_copy(
        update={"evaluations": (first.model_copy(update={"evaluation": name}), *others)}
    )
    shown = io.StringIO()
    make_console(shown, width=200).print(make_further_table(renamed, condition))
    assert name in shown.getvalue()


def test_a_report_has_the_table_of_the_paper_and_the_tests(finished, plain):
    tables = {
        table.name: table
        for table in gather(RunsSource(runs=tuple(finished_runs(finished)))).tables
    }
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
