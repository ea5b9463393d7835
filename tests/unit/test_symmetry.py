"""Bowker's and Stuart and Maxwell's tests, by themselves and by clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import SquareTable

from ietest_fast.errors import InputError
from ietest_fast.stats import PairedCounts, mcnemar_test, symmetry_test
from simulations import scaled, slack


def draw_answers(rng: np.random.Generator, *, n: int, moved: float, k: int = 3) -> tuple[Any, Any]:
    """Answers of which a share moves to any label."""
    a = rng.integers(k, size=n)
    return a, np.where(rng.random(n) < moved, rng.integers(k, size=n), a)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_statistics_are_those_of_statsmodels(k: int) -> None:
    a, b = draw_answers(np.random.default_rng(k), n=900, moved=0.3, k=k)
    result = symmetry_test(a, b)
    peer = SquareTable(result.table, shift_zeros=False)
    bowker, stuart = peer.symmetry(), peer.homogeneity()
    assert result.symmetry_statistic == pytest.approx(bowker.statistic)
    assert result.p_symmetry_asymptotic == pytest.approx(bowker.pvalue)
    assert result.symmetry_df == bowker.df
    assert result.homogeneity_statistic == pytest.approx(stuart.statistic)
    assert result.p_homogeneity == pytest.approx(stuart.pvalue)
    assert result.homogeneity_df == stuart.df


def test_two_labels_give_mcnemars_test() -> None:
    result = symmetry_test([1] * 30 + [0] * 70, [0] * 20 + [1] * 20 + [0] * 60)
    counts = PairedCounts(10, 20, 10, 60)
    mcnemar = mcnemar_test(counts)
    assert result.symmetry_statistic == pytest.approx(counts.mcnemar_statistic)
    assert result.homogeneity_statistic == pytest.approx(counts.mcnemar_statistic)
    assert result.p_symmetry == pytest.approx(mcnemar.p_conditional, abs=0.01)


def test_labels_that_flip_one_way_only_are_left_out_of_the_degrees_of_freedom() -> None:
    result = symmetry_test(["a"] * 10 + ["c"] * 10, ["b"] * 10 + ["c"] * 10)
    assert (result.symmetry_statistic, result.symmetry_df) == (pytest.approx(10), 1)
    assert result.p_symmetry == pytest.approx(2 / 2**10, abs=0.002)
    assert result.homogeneity_df == 1


def test_a_cycle_has_equal_shares_but_no_symmetry() -> None:
    a = np.repeat([0, 1, 2], 100)
    b = np.where(np.arange(300) % 5 == 0, (a + 1) % 3, a)
    result = symmetry_test(a, b)
    assert result.p_homogeneity == pytest.approx(1)
    assert result.p_symmetry < 0.001


def test_clusters_of_one_text_change_nothing() -> None:
    a, b = draw_answers(np.random.default_rng(2), n=400, moved=0.2)
    alone, single = symmetry_test(a, b), symmetry_test(a, b, clusters=np.arange(400))
    for name in ("symmetry_statistic", "homogeneity_statistic", "p_homogeneity"):
        assert getattr(single, name) == pytest.approx(getattr(alone, name))
    assert single.p_symmetry == pytest.approx(alone.p_symmetry, abs=0.02)


def test_copies_of_texts_are_no_evidence_if_they_are_clusters() -> None:
    a, b = draw_answers(np.random.default_rng(3), n=200, moved=0.3)
    once = symmetry_test(a, b)
    copies = symmetry_test(np.tile(a, 4), np.tile(b, 4), clusters=np.tile(np.arange(200), 4))
    assert copies.symmetry_statistic == pytest.approx(once.symmetry_statistic)
    assert copies.homogeneity_statistic == pytest.approx(once.homogeneity_statistic)


def test_without_flips_nothing_moves() -> None:
    result = symmetry_test([1, 2, 3], [1, 2, 3])
    assert (result.symmetry_statistic, result.p_symmetry, result.p_homogeneity) == (0, 1, 1)
    assert result.warning is None


def test_few_flips_are_warned_of() -> None:
    result = symmetry_test([1] * 50, [2] * 10 + [1] * 40)
    assert "only 10 texts" in str(result)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match="different kinds"):
        symmetry_test(["a"], [1])
    with pytest.raises(InputError, match="n_resamples"):
        symmetry_test([1, 2], [2, 1], n_resamples=0)


def sizes(*, clustered: bool, n_tables: int, seed: int) -> tuple[float, float]:
    """How often either test rejects at 5% where answers move alike both ways."""
    rng = np.random.default_rng(seed)
    symmetry = homogeneity = 0
    for table in range(n_tables):
        if clustered:  # the texts of a cluster move together
            a, b = draw_answers(rng, n=300, moved=0.3)
            a, b, clusters = np.repeat(a, 3), np.repeat(b, 3), np.repeat(np.arange(300), 3)
            kept = rng.random(900) < 0.7
            b = np.where(kept, b, a)
            result = symmetry_test(a, b, clusters=clusters, n_resamples=399, rng=table)
        else:
            a, b = draw_answers(rng, n=900, moved=0.3)
            result = symmetry_test(a, b, n_resamples=399, rng=table)
        symmetry += result.p_symmetry <= 0.05
        homogeneity += result.p_homogeneity < 0.05
    return symmetry / n_tables, homogeneity / n_tables


@pytest.mark.slow
def test_clusters_that_move_as_a_whole_but_seldom() -> None:
    """3% of 60 clusters of 50 texts move from 0 to 1, single texts as often from 1 to 0."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(60), 50)
    n_tables, symmetry, homogeneity, warned = scaled(1_000), 0, 0, 0
    for table in range(n_tables):
        moved = (rng.random(60) < 0.03)[clusters]
        a = np.where(moved, 0, rng.integers(3, size=3_000))
        back = (a == 1) & (rng.random(3_000) < 3 * 0.03 / 0.97)
        b = np.where(moved, 1, np.where(back, 0, a))
        result = symmetry_test(a, b, clusters=clusters, n_resamples=399, rng=table)
        symmetry += result.p_symmetry <= 0.05
        homogeneity += result.p_homogeneity < 0.05
        warned += result.warning is not None
    found = symmetry / n_tables, homogeneity / n_tables
    print(f"seldom: {found[0]:.1%}, equal shares {found[1]:.1%}, warned {warned / n_tables:.0%}")
    assert warned == 0
    assert abs(max(found) - 0.15) < 0.05 + slack(n_tables)


@pytest.mark.parametrize("clustered", [False, True])
def test_level_is_kept_roughly(clustered: bool) -> None:
    assert max(sizes(clustered=clustered, n_tables=300, seed=1)) < 0.09


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_level_is_kept(clustered: bool) -> None:
    found = sizes(clustered=clustered, n_tables=4_000, seed=2)
    print(f"clustered {clustered}: symmetry {found[0]:.2%}, equal shares {found[1]:.2%}")
    assert min(found) > 0.04
    assert max(found) < 0.06
