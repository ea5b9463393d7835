"""Anytime-valid tests: e-values by their definition, and what looking after every pair costs."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import MatchedSample, PairedCounts, anytime_test, paired_test


def e_value(outcomes: tuple[int, ...]) -> Fraction:
    """Bets by the rule of Krichevsky and Trofimov: half a win and half a loss at the start."""
    e, losses, wins = Fraction(1), Fraction(1, 2), Fraction(1, 2)
    for loss in outcomes:
        share = (losses if loss else wins) / (losses + wins)
        e *= 2 * share
        losses, wins = losses + loss, wins + 1 - loss
    return e


@pytest.mark.parametrize("k", [0, 1, 2, 5, 9])
def test_the_e_value_is_what_a_gambler_wins(k: int) -> None:
    total = Fraction(0)
    for outcomes in itertools.product([0, 1], repeat=k):
        expected = e_value(outcomes)
        total += expected
        found = anytime_test(PairedCounts(3, sum(outcomes), k - sum(outcomes), 1))
        assert found.e_value == pytest.approx(float(expected))
    assert total / 2**k == 1  # a fair game


def test_the_largest_e_value_decides_where_the_order_is_known() -> None:
    a = np.array([1] * 12 + [0] * 12)
    b = 1 - a
    result = anytime_test(a, b)
    assert result.e_value < 1
    assert result.reject
    first = next(k for k in range(1, 13) if e_value((1,) * k) >= 20)
    assert result.n_to_reject == first
    assert result.p_value == pytest.approx(1 / float(e_value((1,) * 12)))
    same = anytime_test(
        MatchedSample(original_correct=a.astype(bool), transformed_correct=b.astype(bool))
    )
    assert same == result
    counts = anytime_test(PairedCounts(0, 12, 12, 0))
    assert (counts.p_value, counts.reject, counts.n_to_reject) == (1.0, False, None)


def test_deep_evidence_is_finite() -> None:
    result = anytime_test(PairedCounts(0, 10**6, 0, 0))
    assert result.e_value < np.inf
    assert result.p_value == 0
    assert "e-value" in str(result)
    assert result.to_dict()["log_e"] > 690_000


@pytest.mark.slow
def test_looking_after_every_pair_keeps_the_level() -> None:
    rng = np.random.default_rng(0)
    anytime = repeated = fixed = 0
    n_tables = 1_000
    for _ in range(n_tables):
        u = rng.random(2_000)
        a, b = u < 0.95, (u > 0.05) & (u < 0.95) | (u > 0.975) | (u < 0.025)
        anytime += anytime_test(a, b).reject
        looks = [
            paired_test(PairedCounts.from_outcomes(a[:n], b[:n])).p_value < 0.05
            for n in range(100, 2_001, 100)
        ]
        repeated += any(looks)
        fixed += looks[-1]
    print(f"anytime {anytime / 10:.1f}%, 20 looks {repeated / 10:.1f}%, one {fixed / 10:.1f}%")
    assert anytime / n_tables < 0.06
    assert repeated / n_tables > 0.15


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="alpha"):
        anytime_test(PairedCounts(1, 2, 3, 4), alpha=0)
    with pytest.raises(InputError, match="0 or 1"):
        anytime_test([0.5, 1], [1, 0])
