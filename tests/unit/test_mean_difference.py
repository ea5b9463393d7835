"""Two sets of items: permutations for small sets, clusters of unequal size, and the sizes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.stats import compare_subsets, count_buckets
from ietest_fast.stats.mean_difference import N_PERMUTATIONS, MeanDifference, compare_means
from reference.permutation_oracle import permutation_p
from simulations import scaled, slack


def compare(
    values: np.ndarray, mask: np.ndarray, clusters: np.ndarray | None = None
) -> MeanDifference:
    found = compare_means(values, mask, clusters, alpha=0.05, seed=0)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(6))
def test_small_sets_have_the_p_value_of_all_permutations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, 11) / 3
    mask = np.arange(11) < 3 + seed % 5
    found = compare(values, mask)
    assert found.p_value == pytest.approx(permutation_p(values, mask, np.arange(11)))
    assert (found.method, found.n_permutations) == ("permutation", None)


@pytest.mark.parametrize("seed", range(4))
def test_clusters_without_spread_are_permuted_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(8), rng.integers(1, 5, 8))
    mask = clusters < 3
    values = np.where(mask, 1.0, rng.integers(0, 4, clusters.size) / 3)
    found = compare(values, mask, clusters)
    assert found.method == "permutation"
    assert found.p_value == pytest.approx(permutation_p(values, mask, clusters))
    assert found.interval is None
    assert found.warning is not None
    assert "permuting clusters" in found.warning


def test_drawn_permutations_are_near_those_of_a_peer() -> None:
    rng = np.random.default_rng(3)
    values, mask = rng.beta(2, 1, 60), np.arange(60) < 12
    values[mask] *= 0.75
    found = compare(values, mask)
    peer = scipy_stats.permutation_test(
        (values[mask], values[~mask]),
        lambda x, y: x.mean() - y.mean(),
        n_resamples=20_000,
        vectorized=False,
        rng=1,
    )
    assert found.n_permutations == N_PERMUTATIONS
    assert found.p_floor == 1 / (N_PERMUTATIONS + 1)
    assert 0.001 < peer.pvalue < 0.5
    spread = (peer.pvalue / 10_000) ** 0.5
    assert found.p_value == pytest.approx(peer.pvalue, abs=6 * spread)
    assert found.p_value == compare(values, mask).p_value


def test_two_perfect_items_decide_nothing() -> None:
    rng = np.random.default_rng(0)
    names = np.repeat(np.arange(62), 4)
    right = rng.random(names.size) < rng.beta(2, 1, 62)[names]
    right[names < 2] = True
    buckets = count_buckets(names, right)
    result = compare_subsets(buckets, np.arange(62) < 2)
    found = result["p_c_unbiased"]
    perfect = int((buckets.pair_consistency == 1).sum())
    # At most as seldom as two items of 62 at random are both perfect.
    assert found.p_value >= perfect * (perfect - 1) / (62 * 61)
    assert found.p_value > 0.05
    assert found.interval is None
    said = " ".join(result.remarks())
    assert "one of the sets has no spread" in said
    assert "the smaller set has 2 items" in said
    assert result.to_dict()["p_c_unbiased_method"] == "permutation"
    assert "permuting items" in result.to_dict()["p_c_unbiased_warning"]


def test_sets_of_25_are_compared_by_welchs_test_and_without_a_warning() -> None:
    values = np.random.default_rng(1).beta(2, 1, 60)
    found = compare(values, np.arange(60) < 25)
    assert (found.method, found.warning, found.n_units_equal) == ("welch", None, 25)
    fewer = compare(values, np.arange(60) < 24)
    assert fewer.method == "permutation"
    assert fewer.interval is not None


def test_clusters_of_one_are_welchs_test() -> None:
    values, mask = np.random.default_rng(2).beta(2, 1, 60), np.arange(60) < 27
    alone, single = compare(values, mask), compare(values, mask, np.arange(60))
    assert single.standard_error == pytest.approx(alone.standard_error)
    assert single.df == pytest.approx(alone.df)
    assert single.p_value == pytest.approx(alone.p_value)


def test_unequal_clusters_have_fewer_degrees_of_freedom() -> None:
    sizes = np.array([10, 10, *[1] * 6, *[3] * 50])
    clusters = np.repeat(np.arange(sizes.size), sizes)
    rng = np.random.default_rng(0)
    found = compare(rng.beta(2, 1, sizes.size)[clusters], clusters < 8, clusters)
    # (2 * 100 + 6)**2 / (2 * 100**2 + 6) equal clusters.
    assert found.n_units_equal == pytest.approx(206**2 / 20_006)
    assert found.df < 3
    assert found.warning is not None
    assert "as much as 2 clusters of equal size" in found.warning


def test_a_cluster_in_both_sets_moves_both_means() -> None:
    rng = np.random.default_rng(0)
    common = rng.normal(0, 0.2, 40)
    values = 0.5 + np.concatenate([common, common]) + rng.normal(0, 0.01, 80)
    clusters, mask = np.tile(np.arange(40), 2), np.arange(80) < 40
    found = compare(values, mask, clusters)
    paired = scipy_stats.ttest_rel(values[:40], values[40:])
    assert found.df == pytest.approx(39)
    assert found.p_value == pytest.approx(paired.pvalue)


def test_no_spread_in_clusters_of_both_sets_is_left_out_and_said() -> None:
    names = np.repeat(np.arange(60), 2)
    right = np.ones(120, bool)
    right[61::3] = False
    buckets = count_buckets(names, right, clusters=names % 30)
    result = compare_subsets(buckets, np.arange(60) < 30)
    assert "accuracy_macro" in result.untested
    assert "accuracy_macro" not in result.differences
    assert "No test of accuracy, macro" in " ".join(result.remarks())


#: By name: buckets, buckets of the small set, share of items that are always right.
SMALL = {
    "2 of 60": (60, 2, 0.0),
    "3 of 60": (60, 3, 0.0),
    "5 of 60": (60, 5, 0.0),
    "10 of 60": (60, 10, 0.0),
    "2 of 60, most perfect": (60, 2, 0.7),
    "5 of 60, most perfect": (60, 5, 0.7),
    "10 of 60, most perfect": (60, 10, 0.7),
    "10 of 250": (250, 10, 0.0),
    "30 of 250, most perfect": (250, 30, 0.9),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", SMALL)
def test_small_sets_are_rarely_told_apart(design: str) -> None:
    """Buckets of 3 to 7, theta from beta(2, 1), or 1 in some items."""
    n, n_small, perfect = SMALL[design]
    n_tables = scaled(2000)
    rng = np.random.default_rng(0)
    hits = {"accuracy_macro": 0, "p_c_unbiased": 0}
    for _ in range(n_tables):
        names = np.repeat(np.arange(n), rng.integers(3, 8, n))
        theta = np.where(rng.random(n) < perfect, 1.0, rng.beta(2, 1, n))[names]
        found = compare_subsets(
            count_buckets(names, rng.random(names.size) < theta), np.arange(n) < n_small
        )
        for name in hits:
            hits[name] += found[name].p_value < 0.05
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"{design}: {shown} of {n_tables}")
    for name, count in hits.items():
        assert count / n_tables <= (0.085 if n_small >= 25 else 0.06) + slack(n_tables), name


#: By name: sizes of the clusters of either set.
UNEQUAL = {
    "two of 10 and six of 1; 50 of 3": ([10, 10, *[1] * 6], [3] * 50),
    "two of 10 and 30 of 1 on both sides": ([10, 10, *[1] * 30], [10, 10, *[1] * 30]),
    "30 of 3; 50 of 3": ([3] * 30, [3] * 50),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", UNEQUAL)
def test_unequal_clusters_are_rarely_told_apart(design: str) -> None:
    """Buckets of 3 to 7; theta from beta(2, 1), one for each cluster."""
    first, second = UNEQUAL[design]
    sizes = np.array(first + second)
    owner = np.repeat(np.arange(sizes.size), sizes)
    n_tables = scaled(2000)
    rng = np.random.default_rng(0)
    hits = {"accuracy_macro": 0, "p_c_unbiased": 0}
    for _ in range(n_tables):
        names = np.repeat(np.arange(owner.size), rng.integers(3, 8, owner.size))
        theta = rng.beta(2, 1, sizes.size)[owner][names]
        right = rng.random(names.size) < theta
        found = compare_subsets(
            count_buckets(names, right, clusters=owner[names]), owner < len(first)
        )
        for name in hits:
            hits[name] += name in found.differences and found[name].p_value < 0.05
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"{design}: {shown} of {n_tables}")
    for name, count in hits.items():
        assert count / n_tables <= 0.06 + slack(n_tables), name
