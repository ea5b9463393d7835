"""One sentence says what a run found."""

from __future__ import annotations

from pathlib import Path

from ietest_fast.report.runs import CellOutcome, FinishedRun, RhoOutcome
from ietest_fast.report.verdict import say_verdict
from ietest_fast.stats import PairedCounts, decide, equivalence_test, paired_test


def make_run(*counts, margin=0.01):
    """A run with one classifier for each rho."""
    rhos = []
    for number, four in enumerate(counts):
        own = PairedCounts(*four)
        test, equivalence = paired_test(own), equivalence_test(own, margin=margin, alpha=0.05)
        cell = CellOutcome(
            rho=number / 2,
            m=0,
            counts=own,
            t=test.t,
            p_value=test.p_value,
            interval=equivalence.interval,
            is_equivalent=equivalence.equivalent,
            is_collapsed=False,
        )
        rhos.append(
            RhoOutcome(rho=number / 2, cells=(cell,), decision=decide([test.p_value], alpha=0.05))
        )
    return FinishedRun(
        name="bert",
        source=Path("runs"),
        model="bert",
        transformation="syn",
        data_name="snli",
        rhos=tuple(rhos),
        margin=margin,
    )


WORSE = (7000, 900, 100, 2000)
BETTER = (7000, 100, 250, 2650)
EQUAL = (7000, 50, 50, 2900)
SLIGHT = (7000, 60, 20, 2920)
OPEN = (70, 12, 8, 10)


def test_a_model_that_loses_and_gains():
    said = say_verdict(make_run(WORSE, OPEN, BETTER))
    assert said == (
        "bert changes its mind when sentences are rephrased: at ρ = 0 it loses 8 points of "
        "accuracy, at ρ = 1 it gains 1.5 points of accuracy; at ρ = 0.5 the question stays open."
    )


def test_several_rho_are_summed_up_by_the_largest():
    said = say_verdict(make_run(WORSE, (7000, 500, 100, 2400)))
    assert said.endswith("at every ρ it loses up to 8 points of accuracy.")
    said = say_verdict(make_run(WORSE, EQUAL))
    assert "at ρ = 0.5 it is shown to change by less than 1 point." in said


def test_a_model_that_is_shown_to_be_steady():
    assert say_verdict(make_run(EQUAL, EQUAL)) == (
        "bert treats rephrased sentences alike: at every ρ its accuracy is shown to change by less "
        "than 1 point."
    )
    said = say_verdict(make_run(SLIGHT, EQUAL))
    assert said.endswith("(a smaller change is there all the same at ρ = 0).")


def test_not_rejecting_is_not_called_invariance():
    said = say_verdict(make_run(OPEN, EQUAL, margin=0.02))
    assert said == (
        "Whether bert treats rephrased sentences alike stays open: no difference is found, but at "
        "ρ = 0 one of 2 points cannot be ruled out, and at ρ = 0.5 shown to be below 2 points."
    )
