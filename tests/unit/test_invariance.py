"""One verdict on accuracy and flips, and what may not be called alike."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from benchmarks import levels
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from ietest_fast.errors import InputError
from ietest_fast.numerals import show_change
from ietest_fast.stats import (
    FlipVerdict,
    MatchedSample,
    PairedCounts,
    Verdict,
    equivalence_test,
    flip_test,
    hold_together,
    holm,
    invariance_test,
    judge,
    judge_pairs,
    paired_test,
    share_alpha,
)

N = 10_000
GOLD = np.arange(N) % 3


def answers(*, n_right: int = 8_000) -> Any:
    """Answers of which the first ones are right."""
    return np.where(np.arange(N) < n_right, GOLD, (GOLD + 1) % 3)


def test_a_steady_classifier_is_alike() -> None:
    a = answers()
    b = a.copy()
    b[:20] = (b[:20] + 1) % 3  # 20 become wrong
    b[-20:] = GOLD[-20:]  # and 20 right
    result = invariance_test(a, b, GOLD, reworded=True)
    assert result.verdict is Verdict.ALIKE
    assert result.explanation.startswith(
        "Alike within 1 point and 5% of the answers: accuracy 80.00 → "
    )
    assert result.delta == 0


def test_where_it_is_not_known_which_texts_are_reworded_nothing_is_alike() -> None:
    a = answers()
    result = invariance_test(a, a, GOLD)
    assert result.verdict is Verdict.EQUIVALENT
    assert "say which they are" in result.explanation


def test_answers_that_swap_are_not_alike() -> None:
    a = answers(n_right=5_000)
    b = np.roll(a, 2_001)  # as many right ones, elsewhere
    result = invariance_test(a, b, GOLD, reworded=True)
    assert result.equivalence is not None
    assert result.verdict is Verdict.CHANGES
    assert "changes its mind" in result.explanation


def test_wrong_answers_that_become_other_wrong_ones_are_not_alike() -> None:
    a = answers(n_right=6_000)
    b = np.where((a != GOLD) & (np.arange(N) < 8_700), (GOLD + 2) % 3, a)
    result = invariance_test(a, b, GOLD, reworded=True)
    assert result.equivalence is not None
    assert result.equivalence.equivalent
    assert result.flips is not None
    assert result.flips.wrong_to_wrong == 2_700
    assert result.verdict is Verdict.CHANGES
    assert result.symmetry is not None
    assert result.symmetry.p_symmetry < 0.001


def test_texts_that_were_left_alone_do_not_hide_a_loss() -> None:
    a = answers(n_right=N)
    reworded = np.arange(N) < 500
    b = a.copy()
    b[:75] = (b[:75] + 1) % 3
    diluted = equivalence_test(PairedCounts(N - 75, 75, 0, 0))
    assert diluted.equivalent
    result = invariance_test(a, b, GOLD, reworded=reworded)
    assert result.verdict is Verdict.DIFFERS
    assert result.delta == pytest.approx(0.15)
    assert result.headline == (
        "Accuracy is lower on 500 reworded texts: 100.0 → 85.0 (−15.0, 95% −18.4 to −12.1)."
    )
    # Without that knowledge nothing is said of the reworded texts, either.
    assert invariance_test(a, b, GOLD).verdict is Verdict.EQUIVALENT


def test_a_difference_of_texts_that_were_left_alone_is_not_said_of_the_reworded_ones() -> None:
    # 200 reworded texts with 6 losses and 10 gains, 800 left alone with 60 and 20.
    gold = np.arange(1_000) % 2
    a, b = gold.copy(), gold.copy()
    reworded = np.arange(1_000) < 200
    for answers_of, start, stop in ((b, 0, 6), (a, 6, 16), (b, 200, 260), (a, 260, 280)):
        answers_of[start:stop] = 1 - gold[start:stop]
    found = invariance_test(a, b, gold, reworded=reworded)
    assert found.verdict is Verdict.UNDECIDED
    assert found.p_difference == paired_test(a[:200] == gold[:200], b[:200] == gold[:200]).pvalue
    assert found.left_alone is not None
    assert found.left_alone.k == found.to_dict()["discordant_left_alone"] == 80
    assert found.delta == -0.02
    said = found.explanation
    assert said.startswith("Undecided: accuracy 95.0 → 97.0 (+2.0, ")
    assert "80 texts that were left alone have another outcome" in said
    assert "accuracy 97.5% → 92.5% there" in said
    b[200:] = a[200:]
    steady = invariance_test(a, b, gold, reworded=reworded)
    assert steady.left_alone is None
    assert "Warning" not in steady.explanation


def test_counts_never_show_likeness() -> None:
    counts = PairedCounts(30_000, 20_000, 20_000, 30_000)
    result = judge_pairs(counts, p_difference=paired_test(counts).p_value)
    assert result.verdict is Verdict.CHANGES
    still = PairedCounts(9_000, 0, 0, 1_000)
    for reworded in (True, None):
        result = judge_pairs(still, p_difference=1.0, reworded=reworded)
        assert result.verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize("n_reworded", [0, 1])
def test_hardly_any_reworded_text_decides_nothing(n_reworded: int) -> None:
    a = answers()
    result = invariance_test(a, a, GOLD, reworded=np.arange(N) < n_reworded)
    assert result.verdict is Verdict.UNDECIDED
    assert "reworded: there is nothing to tell" in result.explanation
    assert result.to_dict()["flips"] is None


def test_reworded_texts_of_one_cluster_decide_nothing() -> None:
    a = answers()
    clusters = np.arange(N) // 100
    result = invariance_test(a, a, GOLD, reworded=np.arange(N) < 90, clusters=clusters)
    assert result.verdict is Verdict.UNDECIDED
    assert "one cluster" in result.explanation


def test_parts_are_those_of_the_single_tests() -> None:
    rng = np.random.default_rng(0)
    a, b = answers(), np.where(rng.random(N) < 0.9, answers(), rng.integers(3, size=N))
    reworded = rng.random(N) < 0.4
    result = invariance_test(a, b, GOLD, reworded=reworded, margin=0.02, flip_margin=0.1)
    own = a[reworded] == GOLD[reworded], b[reworded] == GOLD[reworded]
    # Others are not answered equally, and lose as much.
    first, second = (
        equivalence_test(a[rows] == GOLD[rows], b[rows] == GOLD[rows])
        for rows in (reworded, ~reworded)
    )
    error = np.hypot(first.standard_error, second.standard_error)
    gap = abs(first.delta - second.delta)
    beyond = 2 * norm.sf(gap / error)
    assert result.pvalue == pytest.approx(max(paired_test(*own).pvalue, beyond))
    same = np.where(reworded, b, a)
    steady = invariance_test(a, same, GOLD, reworded=reworded)
    assert steady.pvalue == paired_test(a == GOLD, same == GOLD).pvalue
    flips = flip_test(a[reworded], b[reworded], gold=GOLD[reworded], margin=0.1)
    assert result.flips == flips
    assert result.equivalence is not None
    assert (result.equivalence.margin, result.equivalence.n) == (0.02, reworded.sum())
    assert result.n_reworded == reworded.sum()


@pytest.mark.parametrize(
    ("differs", "equivalent", "flips", "verdict"),
    [
        (True, False, FlipVerdict.BELOW, Verdict.DIFFERS),
        (True, True, FlipVerdict.BELOW, Verdict.ALIKE),
        (True, True, FlipVerdict.ABOVE, Verdict.CHANGES),
        (False, False, FlipVerdict.ABOVE, Verdict.CHANGES),
        (False, False, FlipVerdict.BELOW, Verdict.UNDECIDED),
        (False, True, FlipVerdict.OPEN, Verdict.EQUIVALENT),
        (False, True, None, Verdict.EQUIVALENT),
        (False, False, None, Verdict.UNDECIDED),
    ],
)
def test_verdicts_follow_from_what_is_shown(
    differs: bool, equivalent: bool, flips: FlipVerdict | None, verdict: Verdict
) -> None:
    assert judge(differs=differs, equivalent=equivalent, flips=flips) is verdict


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="reworded must hold 0 or 1"):
        invariance_test([1, 2], [1, 2], [1, 2], reworded=[0, 3])
    with pytest.raises(InputError, match="alpha must lie"):
        invariance_test([1, 2], [1, 2], [1, 2], alpha=0.6)
    with pytest.raises(InputError, match="differ in length"):
        invariance_test([1, 2], [1, 2], [1, 2], reworded=[1])


@pytest.mark.parametrize(("alternative", "more"), [("greater", "higher"), ("less", "lower")])
def test_a_one_sided_test_is_not_read_as_one_of_no_change(alternative: Any, more: str) -> None:
    gold = np.arange(1_000) % 2
    a, b = gold.copy(), gold.copy()
    (b if alternative == "less" else a)[:90] ^= 1  # against what is tested
    found = invariance_test(a, b, gold, reworded=True, alternative=alternative)
    assert found.pvalue > 0.99
    assert found.verdict is Verdict.CHANGES
    what = "loss" if more == "higher" else "gain"
    assert f"A {what} in accuracy is not shown (p = 1, one-sided)" in found.explanation


# What is claimed at which level.


def closed_test(p_values: list[float], weights: list[int], alpha: float) -> list[bool]:
    """Reject what every intersection with it rejects, by weighted Bonferroni: the definition."""
    places = range(len(p_values))
    subsets = [
        subset for size in range(1, len(p_values) + 1) for subset in combinations(places, size)
    ]

    def rejects(subset: tuple[int, ...]) -> bool:
        total = sum(weights[place] for place in subset)
        return any(p_values[place] * total < alpha * weights[place] for place in subset)

    return [all(rejects(subset) for subset in subsets if place in subset) for place in places]


@given(
    claims=st.lists(
        st.tuples(st.integers(0, 64).map(lambda k: k / 512), st.integers(1, 8)),
        min_size=1,
        max_size=5,
    ),
    alpha=st.sampled_from([0.05, 0.11, 0.2]),
)
def test_levels_are_those_of_the_closed_test(claims: list[tuple[float, int]], alpha: float) -> None:
    p_values, weights = [p for p, _ in claims], [weight for _, weight in claims]
    levels = share_alpha(p_values, weights, alpha=alpha)
    expected = closed_test(p_values, weights, alpha)
    assert [p < level for p, level in zip(p_values, levels, strict=True)] == expected
    adjusted = holm(p_values, weights)
    far = [abs(p - alpha) > 1e-12 for p in adjusted]  # a product may be rounded either way
    assert [p < alpha or not clear for p, clear in zip(adjusted, far, strict=True)] == [
        reject or not clear for reject, clear in zip(expected, far, strict=True)
    ]
    assert holm(p_values, [1] * len(p_values)) == holm(p_values)


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1], [1, float("inf")]])
def test_weights_are_one_above_0_for_each(weights: list[float]) -> None:
    with pytest.raises(InputError, match="weight"):
        share_alpha([0.1, 0.2], weights, alpha=0.05)


def test_a_difference_is_held_to_its_share_and_the_text_says_so() -> None:
    # 60 losses and 40 gains are p = 0.046, which one question alone would call a difference.
    a = answers()
    b = a.copy()
    b[:60] = (b[:60] + 1) % 3
    b[-40:] = GOLD[-40:]
    result = invariance_test(a, b, GOLD, reworded=True, margin=0.001)
    assert 0.04 < result.p_difference < 0.05
    assert result.verdict is Verdict.UNDECIDED
    assert not result.differs
    assert f"p = {result.p_difference:.4g}, held to 0.04)" in result.explanation
    assert result.p_adjusted > 0.05


def test_versions_share_alpha_and_what_one_of_them_shows_goes_to_the_others() -> None:
    a = answers()
    b = a.copy()
    b[:61] = (b[:61] + 1) % 3
    b[-33:] = GOLD[-33:]  # p = 0.004
    one = invariance_test(a, b, GOLD, reworded=True, margin=0.001)
    same = invariance_test(a, a, GOLD, reworded=True)
    assert one.differs
    assert not any(each.differs for each in hold_together([one] + [same] * 11))
    assert hold_together([one, same])[0].differs
    strong = invariance_test(a, (a + 1) % 3, GOLD, reworded=True)
    first, second = hold_together([strong, one])
    assert first.differs
    assert second.differs
    assert first.levels.difference < second.levels.difference


# No label may lose much.


def lose(n_labels: int, n_lost: int, *, n: int = N) -> Any:
    """Answers to texts with many labels, of which the first loses some."""
    gold = np.arange(n) % n_labels
    other = gold.copy()
    other[np.flatnonzero(gold == 0)[:n_lost]] = 1
    return gold, other


@pytest.mark.parametrize("n_labels", [3, 20, 21, 150])
def test_a_label_that_loses_is_not_alike_however_many_there_are(n_labels: int) -> None:
    n_own = -(-N // n_labels)
    gold, other = lose(n_labels, max(3, n_own // 15))
    result = invariance_test(gold, other, gold, reworded=True, margin=0.05, flip_margin=0.05)
    assert result.verdict is not Verdict.ALIKE
    assert result.label_loss is not None
    assert result.label_loss.name == "0"
    assert result.label_loss.n_labels == n_labels
    assert result.label_loss.upper > 0.05
    if result.verdict is Verdict.EQUIVALENT:
        assert "Of the label 0" in result.explanation


def test_the_largest_loss_is_bounded_as_each_label_by_itself() -> None:
    gold, other = lose(4, 30)
    result = invariance_test(gold, other, gold, reworded=True)
    each = [
        equivalence_test(
            PairedCounts(n11=int((gold == label).sum()) - lost, n10=lost, n01=0, n00=0),
            margin=0.05,
        )
        for label, lost in ((0, 30), (1, 0), (2, 0), (3, 0))
    ]
    assert result.label_loss is not None
    assert result.label_loss.upper == max(one.interval.high for one in each)
    assert result.label_loss.p_value == max(one.p_upper for one in each)
    assert result.verdict is Verdict.ALIKE
    assert result.p_alike < 0.05


def test_59_texts_without_a_loss_exclude_one_of_5_points() -> None:
    for n_rare, verdict in ((59, Verdict.ALIKE), (58, Verdict.EQUIVALENT), (1, Verdict.EQUIVALENT)):
        gold = np.where(np.arange(N) < n_rare, 0, 1)
        result = invariance_test(gold, gold, gold, reworded=True, margin=0.02)
        found = judge_pairs(
            MatchedSample(original_correct=gold >= 0, transformed_correct=gold >= 0),
            p_difference=1.0, answers=(gold, gold), gold=gold, reworded=True,
        )  # fmt: skip
        assert found.verdict is verdict
        assert result.label_loss is not None
        assert result.label_loss.n == n_rare
        assert (result.label_loss.n_untested == 1) is (n_rare == 1)


def test_a_label_none_of_whose_texts_was_reworded_is_named() -> None:
    a = answers()
    result = invariance_test(a, a, GOLD, reworded=GOLD != 2)
    assert result.verdict is Verdict.ALIKE
    assert "Nothing is said of the label 2: no such text was reworded." in result.explanation
    assert result.label_loss is not None
    assert result.label_loss.left_alone == ("2",)


# Flips that happen anyway.


def vary(n_reworded: int, n_left_alone: int) -> Any:
    """Judge answers that flip on so many of 5,000 reworded texts, and of as many left alone."""
    a = answers(n_right=5_000)
    order = np.random.default_rng(0).permutation(N)
    reworded = np.zeros(N, np.bool_)
    reworded[order[: N // 2]] = True
    flipped = np.concatenate([order[:n_reworded], order[N // 2 : N // 2 + n_left_alone]])
    b = a.copy()
    b[flipped] = np.where(a[flipped] == GOLD[flipped], (a[flipped] + 1) % 3, GOLD[flipped])
    return invariance_test(a, b, GOLD, reworded=reworded)


def test_flips_that_happen_anyway_are_no_change_of_mind() -> None:
    assert vary(490, 0).verdict is Verdict.CHANGES
    noisy = vary(490, 478)
    assert noisy.flips.verdict is FlipVerdict.ABOVE
    assert noisy.verdict is not Verdict.CHANGES
    assert noisy.flip_verdict is FlipVerdict.BELOW
    assert "on 478 of 5,000 that were left alone (9.56%)" in noisy.explanation
    assert vary(1_500, 478).verdict is Verdict.CHANGES


@pytest.mark.parametrize(("x", "x0"), [(490, 478), (700, 250), (300, 1), (30, 900), (5_000, 4_000)])
def test_excess_flips_are_farrington_and_mannings(x: int, x0: int) -> None:
    n, margin = 5_000, 0.05

    def unlikeliness(q: float) -> float:
        p = q + margin
        mine = x * np.log(p) + (n - x) * np.log1p(-p)
        return -float(mine + x0 * np.log(q) + (n - x0) * np.log1p(-q))

    ends = (1e-12, 1 - margin - 1e-12)
    q = minimize_scalar(unlikeliness, bounds=ends, method="bounded", options={"xatol": 1e-13}).x
    p = q + margin
    z = ((x - x0) / n - margin) / np.sqrt((p * (1 - p) + q * (1 - q)) / n)
    found = vary(x, x0).excess
    assert found.p_above == pytest.approx(norm.sf(z), rel=1e-4, abs=1e-300)
    assert found.p_below == pytest.approx(norm.cdf(z), rel=1e-4, abs=1e-300)


def test_a_single_text_left_alone_that_flips_is_a_floor_too() -> None:
    a = answers(n_right=5_000)
    b = (a + (np.arange(N) % 8 == 0)) % 3
    reworded = np.arange(N) > 0
    found = invariance_test(a, b, GOLD, reworded=reworded)
    assert found.excess is not None
    assert (found.excess.n, found.excess.n_flipped) == (1, 1)
    units = np.arange(N) // 2
    assert invariance_test(a, b, GOLD, reworded=reworded, clusters=units).excess is not None


@pytest.mark.slow
def test_verdicts_keep_their_level() -> None:
    assert levels.main(["--n", "150"]) == 0


def test_the_largest_bound_is_that_of_the_label_of_which_least_is_known() -> None:
    gold = np.repeat(["A", "B", "R"], [300, 300, 2])
    other = gold.copy()
    other[:67] = "B"
    loss = invariance_test(gold, other, gold, reworded=True).label_loss
    assert loss is not None
    assert (loss.largest, loss.delta) == ("A", pytest.approx(67 / 300))
    assert (loss.name, loss.n) == ("R", 2)
    assert loss.upper == equivalence_test(PairedCounts(2, 0, 0, 0)).interval.high


def test_a_loss_that_texts_left_alone_have_as_well_is_none_of_rewording() -> None:
    gold = np.arange(1_000) % 2
    other = gold.copy()
    other[::8] ^= 1
    found = invariance_test(gold, other, gold, reworded=np.arange(1_000) < 500)
    assert found.verdict is not Verdict.DIFFERS
    worse = other.copy()
    worse[:500:3] = 1 - gold[:500:3]
    assert invariance_test(gold, worse, gold, reworded=np.arange(1_000) < 500).differs


def test_intervals_of_several_versions_hold_together() -> None:
    a = answers()
    b = a.copy()
    b[:300] = (b[:300] + 1) % 3
    one = invariance_test(a, b, GOLD, reworded=True)
    several = hold_together([one] * 6)[0]
    assert one.equivalence is not None
    ends = one.equivalence.ends_at(0.05 / 12)
    assert several.change == show_change(0.8, 0.77, (ends.low, ends.high))
    assert one.change != several.change


def test_a_classifier_that_guesses_differs_from_nothing() -> None:
    gold = np.arange(300) % 3
    constant = np.zeros(300, np.int64)
    found = invariance_test(constant, (gold + 1) % 3, gold, reworded=True)
    assert found.verdict is Verdict.COLLAPSED
    assert not found.differs
