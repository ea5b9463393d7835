"""One verdict on accuracy and flips, and what may not be called alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    FlipVerdict,
    PairedCounts,
    Verdict,
    equivalence_test,
    flip_test,
    invariance_test,
    judge,
    judge_pairs,
    paired_test,
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
    assert result.explanation.startswith("Alike within the margins: accuracy is shown to change by")
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
    assert "lower on the reworded texts: delta +0.1500" in result.explanation
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
    assert found.verdict is Verdict.DIFFERS
    assert found.left_alone is not None
    assert found.left_alone.k == found.to_dict()["discordant_left_alone"] == 80
    assert found.delta == -0.02
    said = found.explanation
    assert said.startswith("Accuracy is shown to differ over all texts (p = ")
    assert "on the reworded texts, delta is -0.0200" in said
    assert "higher" not in said
    assert "80 texts that were left alone have another outcome" in said
    assert "whose delta is +0.0360" in said
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
    assert result.pvalue == paired_test(a == GOLD, b == GOLD).pvalue
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
    assert f"Accuracy on the originals is not shown to be {more}: delta" in found.explanation
    assert "one-sided)" in found.explanation
    assert "No overall change" not in found.explanation
