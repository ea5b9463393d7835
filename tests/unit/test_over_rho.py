"""What holds over all rho of a run: levels, corrections, and what a run rejects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ietest_fast.experiment.schema import (
    AlgorithmRecord,
    CellResult,
    ConditionResult,
    RewordedRecord,
    RhoResult,
)
from ietest_fast.stats import (
    PairedCounts,
    Verdict,
    algorithm_test,
    equivalence_test,
    holm,
    invariance_test,
    paired_test,
)

N = 3_000


def make_cell(counts: PairedCounts, rho: float, m: int) -> CellResult:
    return CellResult.from_counts(counts, rho=rho, m=m, collapsed=False, alpha=0.05, margin=0.01)


def make_condition(table: dict[float, list[tuple[int, int, int, int]]]) -> ConditionResult:
    rhos = [
        RhoResult.from_cells(
            [make_cell(PairedCounts(*four), rho, m) for m, four in enumerate(rows)], alpha=0.05
        )
        for rho, rows in table.items()
    ]
    return ConditionResult.of(rhos, model="model", transformation="phi")


def draw_invariant(rng: np.random.Generator, *, n_rhos: int, m: int) -> ConditionResult:
    """A run of a model that answers both versions alike but for noise.

    A tenth of the pairs is discordant, either way with the same probability.
    """
    table: dict[float, list[Any]] = {}
    for place in range(n_rhos):
        k = rng.binomial(N, 0.1, size=m)
        n10 = rng.binomial(k, 0.5)
        table[place / n_rhos] = [
            (2_000, int(a), int(b - a), N - 2_000 - int(b)) for a, b in zip(n10, k, strict=True)
        ]
    return make_condition(table)


def rejection_rates(n_rhos: int, *, n_runs: int, seed: int) -> tuple[float, float]:
    """How often a run rejects, and how often a rho by itself does."""
    rng = np.random.default_rng(seed)
    over = alone = 0
    for _ in range(n_runs):
        condition = draw_invariant(rng, n_rhos=n_rhos, m=5)
        over += condition.reject
        alone += any(rho.reject for rho in condition.rhos)
    return over / n_runs, alone / n_runs


@pytest.mark.slow
def test_a_run_rejects_less_often_than_its_rhos() -> None:
    over, alone = rejection_rates(5, n_runs=100, seed=1)
    assert over < 0.12 < alone


@pytest.mark.slow
@pytest.mark.parametrize("n_rhos", [5, 11])
def test_an_invariant_model_passes_as_often_as_it_should(n_rhos: int) -> None:
    over, alone = rejection_rates(n_rhos, n_runs=2_000, seed=2)
    print(f"{n_rhos} rho: {1 - over:.1%} pass; some rho rejects by itself in {alone:.1%}")
    assert 1 - over >= 0.94


def test_p_values_are_corrected_for_m_and_then_for_rho() -> None:
    condition = make_condition(
        {
            0.0: [(2_000, 180, 120, 700), (2_000, 150, 150, 700)],
            0.5: [(2_000, 150, 150, 700), (2_000, 152, 148, 700)],
            1.0: [(2_000, 190, 110, 700), (2_000, 170, 130, 700)],
        }
    )
    p_values = [min(rho.p_adjusted) for rho in condition.rhos]
    assert condition.over_rho.p_values == tuple(p_values)
    assert condition.over_rho.p_adjusted == pytest.approx(holm(p_values))
    assert condition.over_rho.churn_p_adjusted is None
    assert condition.over_rho.p_value == min(condition.over_rho.p_adjusted)


def test_a_difference_at_one_rho_of_many_needs_more_evidence() -> None:
    weak = (2_000, 168, 132, 700)  # p = 0.038
    even = (2_000, 20, 20, 960)
    one = make_condition({0.0: [weak]})
    assert one.reject
    assert one.verdicts == (Verdict.DIFFERS,)
    many = make_condition({0.0: [weak]} | {rho: [even] for rho in (0.25, 0.5, 0.75, 1.0)})
    assert many.rhos[0].reject
    assert not many.reject
    assert many.verdicts[0] is not Verdict.DIFFERS


def test_equivalence_at_some_rho_is_held_to_a_smaller_level_than_at_every_rho() -> None:
    # p of the equivalence test lies between 0.05 / 2 and 0.05.
    nearly = (2_000, 41, 27, 932)
    differs = (2_000, 300, 30, 670)
    cell = make_cell(PairedCounts(*nearly), 0.0, 0)
    assert 0.025 < cell.equivalence.p_value < 0.05
    every = make_condition({0.0: [nearly], 1.0: [nearly]})
    assert every.verdicts == (Verdict.EQUIVALENT, Verdict.EQUIVALENT)
    some = make_condition({0.0: [nearly], 1.0: [differs]})
    assert some.verdicts[0] is not Verdict.EQUIVALENT
    assert some.rhos[0].verdict is Verdict.EQUIVALENT  # by itself


def test_joint_p_values_are_taken_as_they_come() -> None:
    rhos = make_condition({0.0: [(2_000, 20, 20, 960)], 1.0: [(2_000, 20, 20, 960)]}).rhos
    condition = ConditionResult.of(
        rhos, model="model", transformation="phi", p_adjusted=[0.04, 0.6]
    )
    assert condition.over_rho.p_adjusted == (0.04, 0.6)
    assert condition.reject


def test_few_discordant_pairs_are_few_for_the_level_of_one_test() -> None:
    pairs = (2_000, 13, 12, 975)  # 25: enough for 5%, not for 1%
    alone, five = make_condition({0.0: [pairs]}), make_condition({0.0: [pairs] * 5})
    assert alone.rhos[0].liberal == ()
    assert len(five.rhos[0].liberal) == 5


def test_p_values_of_the_algorithm_are_corrected_for_rho() -> None:
    rng = np.random.default_rng(3)
    rhos = []
    for rho in (0.0, 0.5):
        original = rng.random((400, 3)) < 0.8
        result = algorithm_test(original, original ^ (rng.random((400, 3)) < 0.05))
        cells = [make_cell(PairedCounts(2_000, 20, 20, 960), rho, m) for m in range(3)]
        rhos.append(RhoResult.from_cells(cells, alpha=0.05, algorithm=AlgorithmRecord.of(result)))
        assert rhos[-1].algorithm is not None
        assert rhos[-1].algorithm.interval == (
            result.confidence_interval().low,
            result.confidence_interval().high,
        )
    over = ConditionResult.of(rhos, model="model", transformation="phi").over_rho
    own = [rho.algorithm.p_value for rho in rhos if rho.algorithm is not None]
    assert over.algorithm_p_adjusted == pytest.approx(holm(own))


def make_cell_that_cancels(n: int, rho: float, m: int) -> CellResult:
    """A cell that loses 20 + n texts of one label and 20 of the other, and gains the reverse."""
    gold = np.arange(2_000) % 2
    original = np.where(np.arange(2_000) < 1_600, gold, 1 - gold)
    transformed = original.copy()
    for label, n_lost, n_won in ((0, 20 + n, 20), (1, 20, 20 + n)):
        lost = np.flatnonzero((gold == label) & (original == gold))[:n_lost]
        won = np.flatnonzero((gold == label) & (original != gold))[:n_won]
        transformed[lost] = 1 - label
        transformed[won] = label
    counts = PairedCounts.from_outcomes(original == gold, transformed == gold)
    return CellResult.of(
        rho=rho,
        m=m,
        test=paired_test(counts),
        equivalence=equivalence_test(counts, margin=0.01),
        reworded=RewordedRecord.of(invariance_test(original, transformed, gold, reworded=True)),
        collapsed=False,
    )


def test_p_values_by_label_are_corrected_for_m_and_then_for_rho() -> None:
    rhos = []
    for rho, surplus in ((0.0, (11, 4, 0)), (1.0, (2, 16, 5))):
        cells = [make_cell_that_cancels(n, rho, m) for m, n in enumerate(surplus)]
        rhos.append(RhoResult.from_cells(cells, alpha=0.05))
        own = [cell.labels.p_value for cell in cells if cell.labels is not None]
        assert len(own) == 3
        assert rhos[-1].label_p == pytest.approx(3 * min(own))
    expected = [rho.label_p or 0.0 for rho in rhos]
    # By itself one classifier of the first rho would reject, and of three it does not.
    assert expected[0] / 3 < 0.05 < expected[0] < 1
    over = ConditionResult.of(rhos, model="model", transformation="phi").over_rho
    assert over.label_p_adjusted == pytest.approx(holm(expected))
    even = [make_cell_that_cancels(0, 0.0, m) for m in range(3)]
    assert RhoResult.from_cells(even, alpha=0.05).label_p == 1
