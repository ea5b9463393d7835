"""One sentence says what a run found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ietest_fast.experiment.finished import FinishedRun
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.experiment.view.result_tables import rho_table
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.experiment.view.summary import say_verdict
from ietest_fast.report.contents import gather
from ietest_fast.report.page_builder import build_page
from ietest_fast.stats import PairedCounts


def make_run(*counts, margin=0.01, collapsed=()):
    """A run with the given classifiers (counts, or several of them) for each rho."""
    rhos = []
    for number, own in enumerate(counts):
        cells = [
            CellResult.from_counts(
                PairedCounts(*four),
                rho=number / 2,
                m=m,
                collapsed=number in collapsed,
                alpha=0.05,
                margin=margin,
            )
            for m, four in enumerate(own if isinstance(own, list) else [own])
        ]
        rhos.append(RhoResult.from_cells(cells, alpha=0.05))
    return FinishedRun(
        name="bert",
        source=Path("runs"),
        model="bert",
        transformation="syn",
        data_name="snli",
        condition=ConditionResult.of(
            model="bert", transformation="syn", signature=None, rhos=tuple(rhos)
        ),
    )


WORSE = (7000, 900, 100, 2000)
BETTER = (7000, 100, 250, 2650)
EQUAL = (7000, 50, 50, 2900)
SLIGHT = (7000, 60, 20, 2920)
OPEN = (500, 12, 8, 100)
SWAPS = (7000, 900, 880, 1220)


def test_the_smallest_rho_is_what_is_asked_about():
    assert say_verdict(make_run(WORSE, OPEN, BETTER)) == (
        "bert: accuracy is lower on 10,000 transformed texts: 79.0 → 71.0 (−8.0, 95% −8.6 to −7.4)."
    )
    said = say_verdict(make_run(BETTER, WORSE))
    assert said.startswith("bert: accuracy is higher on 10,000 transformed texts: 71.00 → 72.50")


def test_several_classifiers_are_trainings_of_one_algorithm():
    said = say_verdict(make_run([WORSE, WORSE, (7000, 880, 110, 2010)]))
    assert said.startswith("bert: accuracy is lower on 10,000 texts: 78.9 → 71.0 (−7.9, 95% −8.")
    # Two that differ do not tell what another one would do.
    assert say_verdict(make_run([WORSE, SLIGHT])).startswith("bert: undecided: accuracy 74.8 →")
    both_ways = make_run([WORSE, (7000, 100, 900, 2000), WORSE, (7000, 100, 900, 2000)])
    assert say_verdict(both_ways).startswith("bert: undecided: accuracy 75.0 → 75.0 (0.0, 95%")


def test_a_model_that_is_shown_to_be_steady():
    said = say_verdict(make_run(EQUAL, EQUAL))
    assert said.startswith("bert: accuracy changes by less than 1 point: 70.50 → 70.50 (0.00, 90%")
    assert "which texts were reworded is not known" in said
    said = say_verdict(make_run([EQUAL] * 5))
    assert said.startswith("bert: accuracy changes by less than 1 point: 70.50 → 70.50 (0.00, 90%")
    assert said.endswith("on 10,000 texts; how many answers change is not known.")


def test_answers_that_swap_are_a_change_of_mind_however_equal_the_accuracies():
    assert say_verdict(make_run(SWAPS, EQUAL)) == (
        "bert: the classifier changes its mind: at least 17.8% of its answers change on 10,000 "
        "transformed texts (95% 17.2 or more)."
    )


def test_not_rejecting_is_not_called_invariance():
    said = say_verdict(make_run(OPEN, EQUAL))
    assert said.startswith("bert: undecided: accuracy 82.6 → 81.9 (−0.6, 95% −2.2 to +0.8) on 620")


def test_classifiers_at_chance_are_not_called_steady():
    dead = (3300, 0, 0, 6700)
    for own in (dead, [dead] * 3):
        said = say_verdict(make_run(own, collapsed=(0,)))
        assert said.startswith("bert: collapsed: ")
        assert "nothing can be said" in said


@pytest.mark.parametrize("own", [WORSE, BETTER, EQUAL, SLIGHT, OPEN, SWAPS, [WORSE, SLIGHT]])
def test_a_sentence_has_thirty_words_at_most(own):
    assert len(say_verdict(make_run(own)).split()) <= 30


def test_of_collapsed_classifiers_table_verdict_and_headline_agree():
    run = make_run(EQUAL, EQUAL, collapsed=(0, 1))
    assert {str(rho.verdict) for rho in run.rhos} == {"collapsed"}
    assert "nothing can be said" in say_verdict(run)
    (row, *_) = rho_table([run]).rows
    assert row[-1] == "collapsed"
    page = build_page(gather(RunsSource(runs=(run,))))
    assert "equivalent within margin" not in page
    assert 'class="verdict undecided"' in page
