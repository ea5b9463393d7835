"""Losses and flips that grow with the number of edits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from statsmodels.api import OLS, add_constant
from statsmodels.stats.contingency_tables import Table
from tests.reference import strata_oracle as oracle

from ietest_fast.errors import InputError
from ietest_fast.stats import dose_response_test, mcnemar_test
from simulations import scaled, slack


def draw(rng: np.random.Generator, *, n: int, loss: Any, gain: Any, most: int = 5) -> Any:
    """Doses from 1 on, skewed, and outcomes; probabilities may depend on the dose."""
    dose = np.minimum(rng.geometric(0.5, size=n), most)
    u = rng.random(n)
    lost = u < loss(dose)
    won = ~lost & (u < loss(dose) + gain(dose))
    a = np.where(lost, True, np.where(won, False, rng.random(n) < 0.8))
    return dose, a, np.where(lost, False, np.where(won, True, a))


def small() -> tuple[Any, Any, Any]:
    """Ten discordant pairs of doses 1 to 4."""
    dose = np.array([1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 1, 2, 3])
    a = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0], dtype=bool)
    b = ~a
    b[10:] = a[10:]
    return dose, a, b


def test_small_samples_agree_with_every_sign_and_every_choice() -> None:
    dose, a, b = small()
    result = dose_response_test(a, b, dose)
    signs = (a.astype(int) - b)[:10]
    t = int((dose[:10] * signs).sum())
    law = oracle.sign_law(dose[:10].tolist())
    above = float(sum(p for value, p in law.items() if value >= t))
    below = float(sum(p for value, p in law.items() if value <= t))
    assert result.weighted_sum == t
    assert result.p_weighted == pytest.approx(2 * min(above, below))
    assert dose_response_test(a, b, dose, alternative="greater").p_weighted == pytest.approx(above)
    lost = [int(((dose == e) & a & ~b).sum()) for e in (1, 2, 3, 4)]
    won = [int(((dose == e) & b & ~a).sum()) for e in (1, 2, 3, 4)]
    assert (result.losses, result.gains) == (tuple(lost), tuple(won))
    tails = oracle.trend_tails(lost, [w + k for w, k in zip(lost, won, strict=True)], (1, 2, 3, 4))
    assert result.direction is not None
    assert result.direction.method == "exact"
    assert result.direction.p_value == pytest.approx(2 * float(min(tails)))


def test_flips_are_cochran_and_armitages_test() -> None:
    rng = np.random.default_rng(0)
    dose = rng.integers(1, 5, size=400)
    gold = rng.integers(3, size=400)
    b = np.where(rng.random(400) < 0.05 * dose, (gold + 1) % 3, gold)
    result = dose_response_test(gold, b, dose, gold=gold, rng=1)
    table = np.array([result.flipped, np.subtract(result.sizes, result.flipped)])
    peer = Table(table, shift_zeros=False).test_ordinal_association(
        row_scores=np.array([1, 0]), col_scores=np.array(result.doses)
    )
    assert result.flip_trend is not None
    assert result.flip_trend.statistic == peer.statistic
    # statsmodels takes the variance with n, and the law has n - 1.
    z = (peer.statistic - peer.null_mean) / peer.null_sd * math.sqrt(399 / 400)
    assert result.flip_trend.p_asymptotic == pytest.approx(
        math.erfc(abs(z) / math.sqrt(2)), rel=0.02
    )
    assert result.flip_trend.p_value < 0.01


def test_tables_that_are_drawn_agree_with_the_exact_law() -> None:
    rng = np.random.default_rng(3)
    dose, a, b = draw(rng, n=6_000, loss=lambda e: 0.03 * e, gain=lambda e: 0.03 + 0 * e, most=40)
    drawn = dose_response_test(a, b, dose, n_resamples=40_000)
    assert drawn.direction is not None
    assert drawn.direction.method == "resample"
    assert drawn.direction.p_value == pytest.approx(drawn.direction.p_asymptotic, abs=0.01)
    few = np.minimum(dose, 3)
    exact = dose_response_test(a, b, few)
    assert exact.direction is not None
    assert exact.direction.method == "exact"


def test_the_slope_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(4)
    dose, a, b = draw(rng, n=3_000, loss=lambda e: 0.03 * e, gain=lambda e: 0.03 + 0 * e)
    clusters = np.arange(3_000) // 3
    y = a.astype(float) - b
    for own, options in (
        (None, {"cov_type": "HC1"}),
        (clusters, {"cov_type": "cluster", "cov_kwds": {"groups": clusters}}),
    ):
        result = dose_response_test(a, b, dose, clusters=own)
        peer = OLS(y, add_constant(dose.astype(float))).fit(**options)
        assert result.slope is not None
        assert result.slope.value == pytest.approx(peer.params[1])
        low, high = peer.conf_int()[1]
        assert result.slope.interval.low == pytest.approx(low, abs=0.002)
        assert result.slope.interval.high == pytest.approx(high, abs=0.002)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_interval_leaves_0_out_where_the_test_rejects(alpha: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        dose, a, b = draw(rng, n=300, loss=lambda e: 0.05 * e, gain=lambda e: 0.08 + 0 * e)
        result = dose_response_test(a, b, dose, alpha=alpha)
        interval = result.confidence_interval()
        assert (result.pvalue < alpha) == (0.0 not in interval)
        assert (result.pvalue < alpha) == ("is not shown to grow" not in result.explanation)
        assert f"{100 * (1 - alpha):g}% interval {interval}" in str(result)


def test_a_loss_that_grows_because_more_answers_change_is_seen_by_the_slope_alone() -> None:
    rng = np.random.default_rng(6)
    dose, a, b = draw(rng, n=20_000, loss=lambda e: 0.04 * e, gain=lambda e: 0.02 * e)
    result = dose_response_test(a, b, dose)
    assert result.pvalue < 0.001
    assert result.direction is not None
    assert result.direction.p_value > 0.05


def test_a_loss_that_does_not_depend_on_the_dose_is_seen_by_the_weighted_sum_alone() -> None:
    rng = np.random.default_rng(7)
    dose, a, b = draw(rng, n=20_000, loss=lambda e: 0.08 + 0 * e, gain=lambda e: 0.04 + 0 * e)
    result = dose_response_test(a, b, dose)
    assert result.pvalue > 0.05
    assert result.direction is not None
    assert result.direction.p_value > 0.05
    assert result.p_weighted < 1e-6
    assert "is not shown to grow or shrink" in result.explanation


def test_equal_doses_leave_mcnemars_test() -> None:
    a, b = np.arange(60) % 3 > 0, np.arange(60) % 4 > 0
    result = dose_response_test(a, b, np.full(60, 2))
    assert result.slope is None
    assert result.pvalue == 1
    assert "all texts have 2" in str(result)
    counts = (int((a & b).sum()), int((a & ~b).sum()), int((b & ~a).sum()), int((~a & ~b).sum()))
    from ietest_fast.stats import PairedCounts

    assert result.p_weighted == pytest.approx(mcnemar_test(PairedCounts(*counts)).p_conditional)


def test_copies_of_texts_are_no_evidence_if_they_are_clusters() -> None:
    rng = np.random.default_rng(8)
    dose, a, b = draw(rng, n=300, loss=lambda e: 0.05 * e, gain=lambda e: 0.05 + 0 * e)
    once = dose_response_test(a, b, dose, clusters=np.arange(300))
    copies = dose_response_test(
        np.tile(a, 3), np.tile(b, 3), np.tile(dose, 3), clusters=np.tile(np.arange(300), 3)
    )
    assert copies.slope.p_value == pytest.approx(once.slope.p_value)  # type: ignore[union-attr]
    assert copies.direction.p_value == pytest.approx(  # type: ignore[union-attr]
        once.direction.p_value,  # type: ignore[union-attr]
        rel=0.2,
    )
    assert copies.p_weighted == pytest.approx(once.p_weighted)
    assert copies.n_clusters == 300


def test_losses_by_clusters_are_swapped_as_wholes() -> None:
    """The share of losses against the dose: all 2^C swaps, counted."""
    rng = np.random.default_rng(9)
    clusters = np.repeat(np.arange(10), 4)
    dose = rng.integers(1, 6, 40)
    a, b = rng.random(40) < 0.6, rng.random(40) < 0.4
    found = dose_response_test(a, b, dose, clusters=clusters, n_resamples=200_000).direction
    assert found is not None
    assert (found.method, found.n_resamples) == ("clusters", 200_000)
    signs = a.astype(int) - b
    mean = dose[signs != 0].mean()
    sums = np.bincount(clusters, weights=(dose - mean) * signs)
    swapped = np.array(list(itertools.product([-1, 1], repeat=10))) @ sums
    upper, lower = (swapped >= sums.sum() - 1e-9).mean(), (swapped <= sums.sum() + 1e-9).mean()
    assert found.p_value == pytest.approx(2 * min(upper, lower), abs=0.01)


@pytest.mark.slow
def test_doses_may_differ_in_the_correlation_within_clusters() -> None:
    """40 clusters of ten texts that are won or lost as one at dose 3, beside 300 at dose 1."""
    rng = np.random.default_rng(10)
    sizes = np.full(340, 10)
    clusters = np.repeat(np.arange(340), sizes)
    dose = np.where(clusters < 40, 3, 1)
    found = dict.fromkeys(("slope", "direction", "weighted", "flips"), 0)
    n_tables = scaled(2_000)
    for table in range(n_tables):
        one = rng.random(340)[clusters]
        lost = np.where(clusters < 40, one, rng.random(3_400)) < 0.5
        discordant = rng.random(3_400) < 0.3
        a, b = ~discordant | lost, ~discordant | ~lost
        result = dose_response_test(
            a.astype(int), b.astype(int), dose, gold=np.ones(3_400, dtype=int),
            clusters=clusters, n_resamples=999, rng=table,
        )  # fmt: skip
        found["slope"] += result.slope.p_value <= 0.05  # type: ignore[union-attr]
        found["direction"] += result.direction.p_value <= 0.05  # type: ignore[union-attr]
        found["weighted"] += result.p_weighted <= 0.05
        found["flips"] += result.flip_trend.p_value <= 0.05  # type: ignore[union-attr]
    print(", ".join(f"{name} {count / n_tables:.1%}" for name, count in found.items()))
    for name in ("slope", "direction", "weighted"):
        assert found[name] / n_tables < 0.065 + slack(n_tables)


def test_without_discordant_pairs_nothing_is_shown() -> None:
    result = dose_response_test([1, 0, 1, 1], [1, 0, 1, 1], [1, 2, 3, 4])
    assert (result.pvalue, result.p_weighted) == (1, 1)
    assert math.isinf(result.slope.interval.high)  # type: ignore[union-attr]
    assert '"inf"' in result.to_json()


def test_only_reworded_texts_count() -> None:
    dose, a, b = small()
    reworded = dose > 1
    part = dose_response_test(a, b, dose, reworded=reworded)
    own = dose_response_test(a[reworded], b[reworded], dose[reworded])
    assert part.to_dict() == own.to_dict()


@pytest.mark.parametrize(
    ("dose", "options", "message"),
    [
        ([1, 2, 0.5], {}, "multiply shares by 100"),
        ([1, 2, -1], {}, "whole numbers from 0"),
        ([1, 2, None], {}, "missing"),
        ([1, 2], {}, "differ in length"),
        (None, {}, "dose is missing"),
        ([1, 2, 3], {"reworded": [0, 0, 1]}, "only 1 text is reworded"),
        ([1, 2, 3], {"alternative": "up"}, "alternative must be"),
        ([1, 2, 3], {"alpha": 1}, "alpha must lie between 0 and 1, not 1"),
    ],
)
def test_bad_input_is_named(dose: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dose_response_test([1, 0, 1], [1, 1, 0], dose, **options)


def tenth(dose: Any) -> Any:
    return 0.1 + 0 * dose


def sizes(
    *, n: int, loss: Any, gain: Any, n_tables: int, seed: int, size: int = 1
) -> dict[str, float]:
    """How often each test rejects at 5%, and how often the interval covers a slope of 0.

    With clusters of some texts, which share their dose and mostly their outcomes.
    """
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(("slope", "direction", "weighted", "flips", "covered"), 0)
    for table in range(n_tables):
        dose, a, b = draw(rng, n=n // size, loss=loss, gain=gain)
        clusters = None
        if size > 1:
            clusters = np.repeat(np.arange(n // size), size)
            kept = rng.random(clusters.size) < 0.7
            dose, a = dose[clusters], a[clusters]
            b = np.where(kept, b[clusters], a)
        gold = np.ones(a.size, dtype=int)
        result = dose_response_test(
            a.astype(int), b.astype(int), dose, gold=gold, clusters=clusters,
            n_resamples=999, rng=table,
        )  # fmt: skip
        assert result.slope is not None
        assert result.direction is not None
        assert result.flip_trend is not None
        found["slope"] += result.slope.p_value <= 0.05
        found["direction"] += result.direction.p_value <= 0.05
        found["weighted"] += result.p_weighted <= 0.05
        found["flips"] += result.flip_trend.p_value <= 0.05
        found["covered"] += 0.0 in result.slope.interval
    return {name: count / n_tables for name, count in found.items()}


NULLS: dict[str, tuple[Any, Any, str]] = {
    "no effect": (tenth, tenth, "slope direction weighted flips"),
    "a loss at every dose": (tenth, lambda e: tenth(e) / 2, "slope direction flips"),
    "more changes, no loss": (lambda e: e / 25, lambda e: e / 25, "slope direction weighted"),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("name", NULLS)
def test_level_is_kept(name: str, size: int) -> None:
    loss, gain, tested = NULLS[name]
    for n in (300, 1_500):
        found = sizes(n=n, loss=loss, gain=gain, n_tables=scaled(4_000), seed=2, size=size)
        said = ", ".join(f"{test} {rate:.1%}" for test, rate in found.items())
        print(f"{name}, n = {n}, clusters of {size}: {said}")
        assert max(found[test] for test in tested.split()) < 0.06 + slack(scaled(4_000))
        assert found["covered"] >= 0.935 - slack(scaled(4_000))


def test_losses_that_all_have_one_dose_are_as_rare_as_coins_that_agree() -> None:
    dose = np.repeat([1, 2], 500)
    a, b = np.ones(1_000, dtype=bool), np.ones(1_000, dtype=bool)
    b[-9:] = False
    assert dose_response_test(a, b, dose).pvalue == pytest.approx(2 * 0.5**9)
    assert dose_response_test(a, b, dose, alternative="greater").pvalue == 0.5**9
    assert dose_response_test(a, b, dose, alternative="less").pvalue == 1


@pytest.mark.parametrize(("n", "n_doses", "one"), [(300, 5, 2), (1_000, 5, 4), (300, 2, 1)])
@pytest.mark.parametrize("m", [2, 3, 5, 8, 10])
def test_p_is_no_smaller_than_that_of_coins_that_agree(
    n: int, n_doses: int, one: int, m: int
) -> None:
    dose = np.arange(n) % n_doses + 1
    if n_doses == 2:  # two thirds and more have the dose of the losses
        dose[: n // 2] = one
    a = np.ones(n, dtype=bool)
    b = a.copy()
    b[np.flatnonzero(dose == one)[:m]] = False
    assert dose_response_test(a, b, dose).pvalue >= 2 * 0.5**m * (1 - 1e-12)
    assert dose_response_test(b, a, dose).pvalue >= 2 * 0.5**m * (1 - 1e-12)


def test_large_doses_are_reduced_or_drawn() -> None:
    rng = np.random.default_rng(8)
    a, b = rng.random(600) < 0.8, rng.random(600) < 0.7
    small = np.arange(600) % 5 + 1
    exact = dose_response_test(a, b, small)
    assert dose_response_test(a, b, 200_000 * small).p_weighted == pytest.approx(exact.p_weighted)
    # Odd doses have no common factor: their sum is drawn.
    drawn = dose_response_test(a, b, 180_001 * small + 1, n_resamples=20_000)
    assert drawn.p_weighted == pytest.approx(exact.p_weighted, abs=0.02)
    assert (exact.weighted_n_resamples, drawn.weighted_n_resamples) == (None, 20_000)
    assert "(resample)" in dict(drawn.rows())["  weighted sum T"]


@pytest.mark.parametrize("n_resamples", [0, -1, 2.5])
def test_numbers_of_resamples_are_checked(n_resamples: Any) -> None:
    from ietest_fast.stats import stratified_test

    a, b = np.arange(60) % 3 > 0, np.arange(60) % 4 > 0
    with pytest.raises(InputError, match="n_resamples"):
        dose_response_test(a, b, np.arange(60) % 4, n_resamples=n_resamples)
    with pytest.raises(InputError, match="n_resamples"):
        stratified_test(a, b, np.arange(60) % 4, n_resamples=n_resamples)
    with pytest.raises(InputError, match="margin"):
        stratified_test(a, b, np.arange(60) % 4, margin=-3)
