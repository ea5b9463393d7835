"""The test on a part of the observations."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ietest_fast.annotation.soundness import repeat_on
from ietest_fast.errors import InputError
from ietest_fast.experiment.finished import read_run
from ietest_fast.experiment.schema import ConditionResult
from ietest_fast.experiment.view.summary import say_verdict
from ietest_fast.stats import PairedCounts, paired_test


def test_all_rows_give_the_run_again(first_run):
    run = read_run(first_run)
    again = repeat_on(run, range(run.n))
    for cell, own in zip(again.cells, run.cells, strict=True):
        assert cell.counts == own.counts
        assert (cell.t, cell.p_value, cell.interval) == (own.t, own.p_value, own.interval)
        assert cell.collapsed == own.collapsed
    assert [(rho.p_min, rho.reject) for rho in again.rhos] == [
        (rho.p_min, rho.reject) for rho in run.rhos
    ]


def test_some_rows_are_tested_alone(first_run):
    run = read_run(first_run)
    rows = np.random.default_rng(1).choice(run.n, 50, replace=False)
    gold, answers = run.read_versions().gold, run.read_answers()
    again = repeat_on(run, rows.tolist())
    for number, cell in enumerate(again.cells):
        right = answers[rows, number // 2, number % 2] == gold[rows, None]
        counts = PairedCounts.from_outcomes(right[:, 0], right[:, 1])
        assert cell.counts == counts
        assert cell.p_value == paired_test(counts).p_value


def test_a_classifier_is_not_collapsed_for_want_of_rows(first_run):
    run = read_run(first_run)
    assert not any(cell.collapsed for cell in run.cells)
    again = repeat_on(run, [0, 1, 2])
    assert not any(cell.collapsed for cell in again.cells)


def test_collapsed_classifiers_stay_so_and_are_told(first_run):
    run = read_run(first_run)
    collapsed = run.condition.to_dict()
    for rho in collapsed["rhos"]:
        for cell in rho["cells"]:
            cell["collapsed"] = True
    condition = ConditionResult.model_validate_json(json.dumps(collapsed))
    again = repeat_on(replace(run, condition=condition), [0, 1, 2])
    assert all(cell.collapsed for cell in again.cells)
    assert "collapsed: every classifier predicts one class" in say_verdict(again)


@pytest.mark.parametrize("rows", [[], [0, 0], [-1], [240]])
def test_rows_are_checked(first_run, rows):
    with pytest.raises(InputError, match=r"rows are different|no observation"):
        repeat_on(read_run(first_run), rows)
