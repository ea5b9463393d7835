"""One sentence says what a run found."""

from __future__ import annotations

from pathlib import Path

from ietest_fast.experiment.finished import FinishedRun
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.experiment.view.result_tables import ranking_table, rho_table
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


def test_a_model_that_loses_and_gains():
    said = say_verdict(make_run(WORSE, OPEN, BETTER))
    assert said == (
        "bert changes its mind when sentences are rephrased: at ρ = 0 it loses 8 points of "
        "accuracy, at ρ = 1 it gains 1.5 points of accuracy; at ρ = 0.5 neither a difference nor "
        "one below 1 point is shown."
    )


def test_of_several_classifiers_one_at_least_is_said_to_lose():
    said = say_verdict(make_run([WORSE, SLIGHT], [BETTER, EQUAL]))
    assert said == (
        "bert changes its mind when sentences are rephrased: at ρ = 0 at least one of its 2 "
        "classifiers loses accuracy, and the mean loss is 4.2 points, at ρ = 0.5 at least one of "
        "its 2 classifiers gains accuracy, and the mean gain is 0.75 points."
    )


def test_several_rho_are_summed_up_by_the_largest():
    said = say_verdict(make_run(WORSE, (7000, 500, 100, 2400)))
    assert said.endswith("at every ρ it loses up to 8 points of accuracy.")
    said = say_verdict(make_run(WORSE, EQUAL))
    assert "at ρ = 0.5 accuracy is shown to change by less than 1 point; how many" in said


def test_a_model_that_is_shown_to_be_steady():
    assert say_verdict(make_run(EQUAL, EQUAL)) == (
        "bert keeps its accuracy when sentences are rephrased: at every ρ accuracy is shown to "
        "change by less than 1 point; how many answers change is not known."
    )
    said = say_verdict(make_run(SLIGHT, EQUAL))
    assert "(there is a smaller change at ρ = 0)" in said


def test_answers_that_swap_are_a_change_of_mind_however_equal_the_accuracies():
    assert say_verdict(make_run(SWAPS, EQUAL)) == (
        "bert changes its mind when sentences are rephrased: at least 17.8% of the answers change "
        "at ρ = 0, although no overall change in accuracy is shown; at ρ = 0.5 accuracy is shown "
        "to change by less than 1 point; how many answers change is not known."
    )


def test_changes_at_every_rho_are_a_range():
    said = say_verdict(make_run(SWAPS, SWAPS))
    assert ": at least 17.8% of the answers change at every ρ, although" in said
    said = say_verdict(make_run(SWAPS, (60_000, 8_000, 8_000, 24_000)))
    assert ": at least 16% to 17.8% of the answers change at every ρ, although" in said


def test_a_difference_below_the_margin_is_not_denied():
    said = say_verdict(make_run((70_000, 4_500, 3_900, 21_600), EQUAL))
    assert said.startswith(
        "bert changes its mind when sentences are rephrased: at least 8.4% of the answers change "
        "at ρ = 0, although no change in accuracy of more than 1 point is shown; at ρ = 0.5"
    )


def test_not_rejecting_is_not_called_invariance():
    said = say_verdict(make_run(OPEN, EQUAL))
    assert said == (
        "Whether bert treats rephrased sentences alike stays open: at ρ = 0.5 accuracy is shown to "
        "change by less than 1 point; how many answers change is not known; at ρ = 0 neither a "
        "difference nor one below 1 point is shown."
    )


def test_classifiers_at_chance_are_not_called_steady():
    dead = (3300, 0, 0, 6700)
    said = say_verdict(make_run(dead, dead, collapsed=(0, 1)))
    assert said.startswith("bert cannot be told from guessing: every")
    said = say_verdict(make_run(EQUAL, dead, collapsed=(1,)))
    assert said.endswith("(1 of 2 classifiers cannot be told from guessing.)")


def test_classifiers_that_change_in_both_directions():
    said = say_verdict(make_run([WORSE, (7000, 100, 900, 2000)]))
    assert said.endswith("at ρ = 0 its classifiers change in both directions, by up to 8 points.")


def test_of_collapsed_classifiers_table_verdict_and_headline_agree():
    run = make_run(EQUAL, EQUAL, collapsed=(0, 1))
    assert {str(rho.verdict) for rho in run.rhos} == {"collapsed"}
    assert "nothing can be said" in say_verdict(run)
    (row, *_) = rho_table([run]).rows
    assert row[-1] == "collapsed"
    page = build_page(gather(RunsSource(runs=(run,))))
    assert "equivalent within margin" not in page
    assert 'class="verdict undecided"' in page


def test_where_all_have_collapsed_at_one_rho_it_is_said_of_that_rho():
    said = say_verdict(make_run(EQUAL, EQUAL, collapsed=(1,)))
    assert said.startswith(
        "bert keeps its accuracy when sentences are rephrased: at ρ = 0 accuracy is"
    )
    assert "at ρ = 0.5 every classifier has collapsed" in said


def test_a_single_classifier_has_no_signal_to_noise_ratio():
    run, pair = make_run(EQUAL), make_run([EQUAL, WORSE])
    assert run.condition.robustness.snr is None
    rows = ranking_table([run, pair]).rows
    assert [row[5] is None for row in rows] == [False, True]
    assert "∞" not in ranking_table([run]).to_markdown()
