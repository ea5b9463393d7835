"""Two runs on the same observations."""

from __future__ import annotations

import numpy as np
import pytest

from finished_runs import make_run
from ietest_fast.errors import InputError
from ietest_fast.experiment.finished import read_run
from ietest_fast.experiment.view.run_sections import (
    N_REPLICATES,
    are_comparable,
    comparable_pairs,
    compare_runs,
    comparison_table,
)
from ietest_fast.experiment.view.sections import RunsSource
from ietest_fast.report.contents import gather
from ietest_fast.stats import PairedCounts, paired_test
from ietest_fast.stats.scores import paired_mean_test
from toys import toy_splits


@pytest.fixture(scope="module")
def pair(first_run, second_run):
    return read_run(first_run), read_run(second_run)


def test_every_test_pairs_the_same_observations(pair):
    first, second = pair
    gold = first.read_versions().gold
    answers = first.read_answers(), second.read_answers()
    found = compare_runs(first, second, gold=gold, answers=answers, alpha=0.1)
    assert [(row.rho, row.quantity) for row in found.rows] == [
        (rho, quantity)
        for rho in (0.0, 0.5, 1.0)
        for quantity in ("original", "transformed", "loss")
    ]
    for row in found.rows:
        place = (0.0, 0.5, 1.0).index(row.rho)
        p_values, differences = [], []
        for m in range(2):
            right = [own[:, place, m] == gold[:, None] for own in answers]
            if row.quantity == "loss":
                a, b = (own[:, 0].astype(float) - own[:, 1] for own in right)
                p_values.append(paired_mean_test(a, b, n_resamples=N_REPLICATES).p_value)
            else:
                version = int(row.quantity == "transformed")
                a, b = (own[:, version] for own in right)
                p_values.append(paired_test(PairedCounts.from_outcomes(a, b)).p_value)
            differences.append(a.mean() - b.mean())
        assert row.decision.p_min == min(p_values)
        assert row.decision.threshold == 0.05
        assert row.difference.mean == pytest.approx(np.mean(differences))
    table = comparison_table(found, number=3)
    assert table.name == "comparison-3"
    assert len(table.rows) == 9


def test_a_model_is_not_better_than_itself(pair):
    first, _ = pair
    gold, answers = first.read_versions().gold, first.read_answers()
    found = compare_runs(first, first, gold=gold, answers=(answers, answers))
    assert all(row.decision.p_min == 1 and row.difference.mean == 0 for row in found.rows)


def test_a_model_that_loses_more_is_found(pair):
    first, second = pair
    gold = first.read_versions().gold
    steady = np.broadcast_to(gold[:, None, None, None], (240, 3, 2, 2)).copy()
    losing = steady.copy()
    losing[:60, :, :, 1] = (gold[:60, None, None] + 1) % 3
    found = compare_runs(first, second, gold=gold, answers=(losing, steady))
    said = {(row.rho, row.quantity): row for row in found.rows}
    assert not said[0.0, "original"].decision.reject
    for quantity, sign in (("transformed", -1), ("loss", 1)):
        row = said[0.5, quantity]
        assert row.decision.reject
        assert row.difference.mean == pytest.approx(sign * 0.25)


def test_two_transformations_of_one_test_set_can_be_compared(pair, other_words):
    other = read_run(other_words)
    assert are_comparable(pair[0], other)
    assert comparable_pairs([*pair, other]) == [
        (pair[0], pair[1]),
        (pair[0], other),
        (pair[1], other),
    ]


def test_other_test_sets_and_other_rho_cannot(tmp_path, pair):
    splits = toy_splits(n_test=200)
    shorter = read_run(make_run(tmp_path / "shorter", splits=splits, rho=[0]))
    assert not are_comparable(pair[0], shorter)
    apart = read_run(make_run(tmp_path / "apart", rho=[0.25]))
    assert not are_comparable(pair[0], apart)
    answers = pair[0].read_answers()
    with pytest.raises(InputError, match="nothing to pair"):
        compare_runs(pair[0], apart, gold=np.zeros(240, np.int8), answers=(answers, answers[:, :1]))


def test_that_runs_are_not_compared_is_said(tmp_path, pair):
    apart = read_run(make_run(tmp_path / "apart", rho=[0.25])).renamed("apart")
    (section,) = (
        each
        for each in gather(RunsSource(runs=(pair[0], apart))).sections
        if each.id == "comparisons"
    )
    assert section.parts == ()
    assert "These runs are not compared: that takes answers to the same test set" in section.intro
    (section,) = (
        each
        for each in gather(RunsSource(runs=(*pair, apart))).sections
        if each.id == "comparisons"
    )
    assert len(section.parts) == 1
    assert "Of 3 pairs of runs 2 cannot be compared" in section.intro
    (section,) = (
        each for each in gather(RunsSource(runs=tuple(pair))).sections if each.id == "comparisons"
    )
    assert "compared:" not in section.intro
