"""Random search."""

from __future__ import annotations

import optuna

from ietest_fast.experiment.search import Trial, best_trial, draw_candidates
from ietest_fast.models import load_model
from ietest_fast.models.protocol import Choice, FloatRange, IntegerRange

SPACE = {
    "depth": IntegerRange(low=2, high=20),
    "rate": FloatRange(low=0.05, high=1.0, step=0.05),
    "decay": FloatRange(low=0.0, high=0.01),
    "kind": Choice(values=("a", "b")),
}


def test_candidates_lie_in_the_space_and_on_the_grid():
    drawn = draw_candidates(SPACE, budget=200, seed=0)
    assert {candidate["kind"] for candidate in drawn} == {"a", "b"}
    depths = [candidate["depth"] for candidate in drawn]
    assert (min(depths), max(depths)) == (2, 20)
    rates = {candidate["rate"] for candidate in drawn}
    assert rates <= {round(0.05 * i, 2) for i in range(1, 21)}
    assert {0.05, 1.0} <= rates
    assert all(0 <= candidate["decay"] <= 0.01 for candidate in drawn)


def test_drawing_is_repeatable_and_a_larger_budget_only_adds():
    space = load_model("bow-xgb").search_space
    assert draw_candidates(space, budget=3, seed=5) == draw_candidates(space, budget=8, seed=5)[:3]
    assert draw_candidates(space, budget=3, seed=0) != draw_candidates(space, budget=3, seed=1)


def test_optunas_verbosity_is_left_as_it_was(capfd):
    before = optuna.logging.get_verbosity()
    draw_candidates(SPACE, budget=1, seed=0)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


def test_of_equal_trials_the_first_is_best():
    trials = [Trial(number=i, params={}, valid_accuracy=a) for i, a in enumerate([0.5, 0.7, 0.7])]
    assert best_trial(trials).number == 1
    assert best_trial(trials[::-1]).number == 1
