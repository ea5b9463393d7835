"""How many unsound rephrasings explain a difference, against trying every number of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import MatchedSample, PairedCounts, paired_test, unsoundness


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize(
    "counts",
    [(700, 60, 20, 120), (700, 20, 60, 120), (900, 9, 0, 91), (0, 30, 0, 0), (50, 10, 9, 31)],
)
def test_every_smaller_number_leaves_a_rejection(
    counts: tuple[int, int, int, int], alpha: float
) -> None:
    n11, n10, n01, n00 = counts
    found = unsoundness(PairedCounts(*counts), alpha=alpha)
    for removed in range(found.n_to_explain + 1):
        left = PairedCounts(n11, n10 - removed * (n10 > n01), n01 - removed * (n10 < n01), n00)
        rejects = left.n > 1 and paired_test(left).p_value < alpha
        if 0 < left.k < 25:
            rejects = rejects and paired_test(left).p_mcnemar_exact < alpha
        assert rejects == (removed < found.n_to_explain)


def test_the_p_value_grows_with_every_pair_that_is_removed() -> None:
    """On which the search by halving rests."""
    for n, n01 in itertools.product((40, 200, 2_000), (0, 1, 4, 9)):
        p_values = [
            paired_test(PairedCounts(n - n10 - n01, n10, n01, 0)).p_value
            for n10 in range(min(60, n - n01), n01, -1)
        ]
        assert all(np.diff(p_values) > 0)


def test_no_choice_of_unsound_pairs_passes_the_bounds() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        kinds = rng.choice(3, p=[0.6, 0.25, 0.15], size=9)  # concordant, lost, won
        a, b = kinds == 1, kinds == 2
        found = unsoundness(MatchedSample(original_correct=a, transformed_correct=b))
        share = float(rng.choice([0.0, 0.2, 0.45]))
        deltas = [
            np.delete(a.astype(int) - b, list(left_out)).mean()
            for size in range(int(share * 9) + 1)
            for left_out in itertools.combinations(range(9), size)
        ]
        assert found.delta_bounds(share) == pytest.approx((min(deltas), max(deltas)))


def test_only_reworded_texts_can_be_unsound() -> None:
    a = np.ones(1_000, dtype=bool)
    b = np.arange(1_000) >= 30
    mask = np.arange(1_000) < 100
    found = unsoundness(a, b, reworded=mask)
    assert found.n_to_explain == unsoundness(PairedCounts(970, 30, 0, 0)).n_to_explain
    assert found.share_to_explain == found.n_to_explain / 100
    assert "unless" in str(found)
    with pytest.raises(InputError, match="were not reworded have another outcome"):
        unsoundness(a, b, reworded=~mask)
    same = unsoundness(a, a)
    assert (same.n_to_explain, same.statistic) == (0, 0.0)
    assert "nothing to explain" in str(same)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((PairedCounts(5, 3, 1, 1),), {"reworded": 3}, "4 pairs are discordant"),
        ((PairedCounts(5, 3, 1, 1),), {"reworded": 11}, "from 0 to 10"),
        ((PairedCounts(5, 3, 1, 1),), {"reworded": True}, "must be their number"),
        ((PairedCounts(5, 3, 1, 1), [1]), {}, "leave the second column out"),
        ((PairedCounts(5, 3, 1, 1),), {"alpha": 1.0}, "alpha must lie"),
        (([1, 0], [1, 0, 1]), {}, "transformed"),
    ],
)
def test_bad_input_is_named(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        unsoundness(*arguments, **options)


@pytest.mark.parametrize("share", [-0.1, 1.0, "x"])
def test_shares_out_of_range_are_refused(share: Any) -> None:
    with pytest.raises(InputError, match="share of unsound texts"):
        unsoundness(PairedCounts(5, 3, 1, 1)).delta_bounds(share)
