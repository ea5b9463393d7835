"""The flip rate: counts, exact tests against a margin, clusters."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    FlipVerdict,
    MatchedSample,
    PairedCounts,
    equivalence_test,
    flip_test,
)
from simulations import scaled, slack


def binomial_at_most(x: int, n: int, p: Fraction) -> Fraction:
    """P(Binomial(n, p) <= x), in fractions."""
    return sum((comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(x + 1)), Fraction(0))


@pytest.mark.parametrize("n_flipped", [0, 1, 3, 17, 40])
def test_p_values_are_those_of_the_binomial_law(n_flipped: int) -> None:
    answers = ["b"] * n_flipped + ["a"] * (40 - n_flipped)
    result = flip_test(["a"] * 40, answers, margin=0.1)
    margin = Fraction(1, 10)
    assert result.p_below == pytest.approx(float(binomial_at_most(n_flipped, 40, margin)))
    at_least = 1 - (binomial_at_most(n_flipped - 1, 40, margin) if n_flipped else 0)
    assert result.p_above == pytest.approx(float(at_least))


@pytest.mark.parametrize("n_flipped", [0, 1, 3, 17, 40])
def test_the_interval_is_clopper_and_pearsons(n_flipped: int) -> None:
    answers = [1] * n_flipped + [0] * (40 - n_flipped)
    result = flip_test([0] * 40, answers)
    for level, found in [(0.95, result.confidence_interval()), (0.9, result.interval)]:
        peer = binomtest(n_flipped, 40).proportion_ci(level, method="exact")
        assert (found.low, found.high) == pytest.approx((peer.low, peer.high), abs=1e-12)


def test_kinds_of_flips_are_told_by_the_gold_labels() -> None:
    gold = [0, 0, 0, 1, 1, 2, 2, 2]
    original = [0, 0, 1, 1, 0, 0, 0, 2]
    transformed = [0, 1, 0, 0, 0, 1, 2, 2]
    result = flip_test(original, transformed, gold=gold)
    assert result.n_flipped == 5
    kinds = result.right_to_wrong, result.wrong_to_right, result.wrong_to_wrong
    assert kinds == (2, 2, 1)
    assert not result.is_lower_bound
    assert flip_test(original, transformed).wrong_to_wrong is None


def test_answers_that_swap_evenly_are_not_alike() -> None:
    counts = PairedCounts(30_000, 20_000, 20_000, 30_000)
    assert equivalence_test(counts).equivalent  # accuracy hides it
    result = flip_test(counts)
    assert result.verdict is FlipVerdict.ABOVE
    assert "at least 40,000 of 100,000" in result.explanation


def test_one_wrong_answer_may_turn_into_another() -> None:
    gold = np.zeros(10_000, dtype=int)
    original = np.where(np.arange(10_000) < 6_000, 0, 1)
    transformed = np.where(np.arange(10_000) < 7_300, original, 2)
    sample = MatchedSample.from_predictions(gold, original, transformed)
    assert equivalence_test(sample).equivalent
    result = flip_test(original, transformed, gold=gold)
    assert (result.wrong_to_wrong, result.verdict) == (2_700, FlipVerdict.ABOVE)


def test_outcomes_alone_never_show_that_few_answers_flip() -> None:
    sample = MatchedSample(
        original_correct=np.ones(1_000, dtype=bool), transformed_correct=np.ones(1_000, dtype=bool)
    )
    for given in (sample, sample.counts):
        result = flip_test(given)
        assert result.p_below < 1e-20
        assert result.verdict is FlipVerdict.OPEN
        assert "one wrong answer turns into another is not known" in result.explanation


def test_decision_and_interval_agree() -> None:
    for n_flipped in range(60):
        answers = np.arange(600) < n_flipped
        result = flip_test(np.zeros(600, dtype=bool), answers, margin=0.05)
        assert (result.p_below < 0.05) == (result.interval.high < 0.05)
        assert (result.p_above < 0.05) == (result.interval.low > 0.05)


def test_clusters_of_one_pair_change_nothing_but_the_degrees_of_freedom() -> None:
    rng = np.random.default_rng(0)
    flipped = rng.random(400) < 0.1
    alone = flip_test(np.zeros(400, dtype=bool), flipped)
    single = flip_test(np.zeros(400, dtype=bool), flipped, clusters=np.arange(400))
    assert single.design_effect == pytest.approx(1)
    assert single.n_effective == pytest.approx(400)
    assert single.p_below == pytest.approx(alone.p_below)


def test_without_a_flip_clusters_count_once() -> None:
    never = np.zeros(1_000, dtype=bool)
    result = flip_test(never, never, clusters=np.arange(1_000) // 50)
    assert result.n_effective < 20
    assert result.verdict is FlipVerdict.OPEN  # 0.95**20 = 0.36
    assert flip_test(never, never).verdict is FlipVerdict.BELOW


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, "margin of a flip rate"),
        ({"alpha": 0.5}, "alpha must lie"),
        ({"gold": [1, 1, 1]}, "differ in length"),
        ({"gold": ["a", "b"]}, "different kinds"),
        ({"clusters": [1, 1]}, "only one value"),
    ],
)
def test_bad_input_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        flip_test([1, 0], [1, 1], **options)  # type: ignore[arg-type]


def test_counts_come_without_columns() -> None:
    counts = PairedCounts(1, 2, 3, 4)
    with pytest.raises(InputError, match="leave the columns out"):
        flip_test(counts, gold=[1])
    with pytest.raises(InputError, match="second column"):
        flip_test([1, 2])


def simulate_coverage(*, n_tables: int, seed: int) -> tuple[float, float, float]:
    """Return sizes of both tests on the margin and coverage of the interval, by clusters."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(200), 3)
    below = above = inside = 0
    for _ in range(n_tables):
        # Beta-binomial: correlation 0.3 within a cluster.
        rates = rng.beta(0.1 / 0.3 * 0.7, 0.9 / 0.3 * 0.7, size=200)
        flipped = rng.random(600) < rates[clusters]
        result = flip_test(np.zeros(600, dtype=bool), flipped, clusters=clusters, margin=0.1)
        below += result.p_below < 0.05
        above += result.p_above < 0.05
        inside += 0.1 in result.confidence_interval()
    return below / n_tables, above / n_tables, inside / n_tables


@pytest.mark.slow
def test_clusters_keep_level_and_coverage() -> None:
    below, above, coverage = simulate_coverage(n_tables=4_000, seed=1)
    assert max(below, above) < 0.06
    assert coverage > 0.935


def test_pairs_of_few_clusters_with_flips_are_taken_to_be_alike() -> None:
    clusters = np.repeat(np.arange(100), 4)
    for n_telling, effect in ((24, 4.0), (25, None)):
        flipped = np.isin(np.arange(400), 4 * np.arange(n_telling)).astype(int)
        result = flip_test(np.zeros(400, dtype=int), flipped, clusters=clusters, margin=0.1)
        assert result.design_effect is not None
        assert (result.design_effect == effect) == (n_telling < 25)
    # One pair of each cluster alone: the pairs are not alike, and nothing is inflated.
    assert result.design_effect == pytest.approx(1.0, abs=0.05)


def test_many_small_clusters_with_flips_do_not_tell_what_few_large_ones_do() -> None:
    clusters = np.repeat(np.arange(1_010), np.repeat([50, 1], [10, 1_000]))
    flipped = np.zeros(1_500, int)
    flipped[500:560] = 1  # 60 single texts
    flipped[:15] = 1
    result = flip_test(np.zeros(1_500, int), flipped, clusters=clusters, margin=0.1)
    # One large cluster and 60 single texts hold a flip: all flips may be in large clusters.
    assert result.design_effect == 50
    assert result.p_below > 0.05


def test_clusters_of_one_are_independent_pairs() -> None:
    flipped = (np.arange(300) < 5).astype(int)
    alone = flip_test(np.zeros(300, dtype=int), flipped, margin=0.05)
    ones = flip_test(np.zeros(300, dtype=int), flipped, margin=0.05, clusters=np.arange(300))
    assert ones.p_below == pytest.approx(alone.p_below, rel=0.02)
    assert ones.interval.high == pytest.approx(alone.interval.high, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_clusters", "size", "correlation"), [(20, 20, 0.3), (40, 20, 0.5), (60, 10, 0.3)]
)
def test_few_clusters_with_flips_keep_the_level(
    n_clusters: int, size: int, correlation: float
) -> None:
    rng = np.random.default_rng(8)
    rate, n_tables = 0.05, scaled(2_000)
    shape = np.array([rate, 1 - rate]) * (1 - correlation) / correlation
    clusters = np.repeat(np.arange(n_clusters), size)
    below = covered = 0
    for _ in range(n_tables):
        own = rng.beta(*shape, size=n_clusters)
        flipped = (rng.random(clusters.size) < own[clusters]).astype(int)
        result = flip_test(np.zeros_like(flipped), flipped, clusters=clusters, margin=rate)
        below += result.p_below < 0.05
        covered += rate in result.confidence_interval()
    assert below / n_tables <= 0.06 + slack(n_tables)
    assert covered / n_tables >= 0.935 - slack(n_tables)
