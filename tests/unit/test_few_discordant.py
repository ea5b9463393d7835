"""Few discordant pairs: exact equivalence tests and their level, and sizes of the bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.stats import (
    PairedCounts,
    Verdict,
    equivalence_test,
    paired_test,
    pairs_to_decide,
    tango_score,
    verdict_probability,
)
from ietest_fast.stats.planning.power import (
    exact_equivalence_p,
    largest_equivalent,
    size_given,
)
from reference import interval_oracle


@pytest.mark.parametrize(
    ("n", "n10", "n01", "margin"),
    [(25, 0, 0, 0.1), (25, 1, 0, 0.2), (25, 0, 1, 0.2), (22, 3, 2, 0.3), (20, 2, 5, 0.15)],
)
def test_p_is_the_largest_over_all_truths_on_the_border(
    n: int, n10: int, n01: int, margin: float
) -> None:
    expected = interval_oracle.exact_equivalence_p(n10, n01, n, margin, n_shares=100)
    found = exact_equivalence_p(n, n10, n01, margin)
    # The normal law may say more than any truth does.
    normal = float(scipy_stats.norm.cdf(interval_oracle.tango_score(n10, n01, n, margin)))
    assert found == pytest.approx(max(expected, normal), rel=0.03)


@pytest.mark.parametrize(
    "margin",
    [pytest.param(0.01, marks=pytest.mark.slow), 0.05, pytest.param(0.2, marks=pytest.mark.slow)],
)
def test_a_fine_grid_of_truths_finds_no_larger_p(margin: float) -> None:
    n = 400
    for n10, n01 in ((0, 0), (2, 0), (1, 3), (6, 5)):
        found = exact_equivalence_p(n, n10, n01, margin)
        counts = PairedCounts(n - n10 - n01, n10, n01, 0)
        observed = tango_score(counts, margin)
        for expected_01 in np.linspace(0, 40, 15):
            q = expected_01 / n
            most = range(int(expected_01 + 10 * math.sqrt(expected_01) + 15))
            total = 0.0
            for j in most:
                mass = float(scipy_stats.binom.pmf(j, n, q))
                # The largest n10 whose score is no larger; scores grow with it.
                i = -1
                while i + 1 + j <= n:
                    table = PairedCounts(n - i - 1 - j, i + 1, j, 0)
                    if tango_score(table, margin) > observed + 1e-9:
                        break
                    i += 1
                if i >= 0:
                    total += mass * float(scipy_stats.binom.cdf(i, n - j, (q + margin) / (1 - q)))
            assert total <= found * 1.02


def test_without_discordant_pairs_it_is_the_probability_of_none() -> None:
    assert exact_equivalence_p(268, 0, 0, 0.01) == pytest.approx(0.99**268)
    assert equivalence_test(PairedCounts(299, 0, 0, 0)).verdict is Verdict.EQUIVALENT
    assert equivalence_test(PairedCounts(298, 0, 0, 0)).verdict is Verdict.UNDECIDED
    assert pairs_to_decide(PairedCounts(50, 0, 0, 0)) == 299


def test_both_sides_are_tested() -> None:
    result = equivalence_test(PairedCounts(900, 8, 3, 89))
    assert result.p_upper == pytest.approx(exact_equivalence_p(1_000, 8, 3, 0.01))
    assert result.p_lower == pytest.approx(exact_equivalence_p(1_000, 3, 8, 0.01))


@pytest.mark.parametrize("rarer", [0.0, 0.002, 0.01, 0.03])
@pytest.mark.parametrize("n", [200, 299, 450, 700])
def test_the_level_is_kept_at_the_margin(n: int, rarer: float) -> None:
    """By enumeration: the tables that a true difference of the margin lets pass as equivalent."""
    margin, alpha = 0.01, 0.05
    size = 0.0
    for k in range(25):
        largest = largest_equivalent(n, k, margin=margin, alpha=alpha)
        if largest < 0:
            continue
        mass = float(scipy_stats.binom.pmf(k, n, 2 * rarer + margin))
        share = (rarer + margin) / (2 * rarer + margin)
        low, high = (k - largest) // 2, (k + largest) // 2
        law = scipy_stats.binom(k, share)
        size += mass * float(law.cdf(high) - law.cdf(low - 1))
    assert size <= 0.05 + 1e-9


def test_plans_and_tests_agree_on_what_is_equivalent() -> None:
    for n, k in ((400, 1), (700, 8), (1_000, 12)):
        largest = largest_equivalent(n, k, margin=0.01, alpha=0.05)
        for d in range(k % 2, k + 1, 2):
            counts = PairedCounts(n - k, (k + d) // 2, (k - d) // 2, 0)
            assert equivalence_test(counts).equivalent == (d <= largest)
    assert largest_equivalent(200, 0, margin=0.01, alpha=0.05) == -1


@pytest.mark.slow
def test_a_planned_number_has_the_probability_wanted() -> None:
    counts = PairedCounts(990, 5, 5, 0)
    n = pairs_to_decide(counts)
    assert n is not None
    assert verdict_probability(n, 0.01, 0.0) >= 0.8


@pytest.mark.parametrize("level", [0.05, 0.01, 0.05 / 7])
def test_sizes_given_k_are_those_of_the_tables(level: float) -> None:
    n = 2_000
    for k in (0, 3, 6, 11, 24, 41):
        size = 0.0
        for n10 in range(k + 1):
            p_value = paired_test(PairedCounts(n - k, n10, k - n10, 0)).p_value
            size += math.comb(k, n10) / 2**k * (p_value < level)
        assert size_given(k, n, level) == pytest.approx(size)


def test_at_smaller_levels_the_bootstrap_is_liberal_for_more_discordant_pairs() -> None:
    assert size_given(6, 9_824, 0.01) == pytest.approx(3.1 * 0.01, rel=0.02)
    assert max(size_given(k, 9_824, 0.01) for k in range(25, 60)) > 1.3 * 0.01
    assert max(size_given(k, 9_824, 0.01) for k in range(150, 200)) < 1.25 * 0.01
