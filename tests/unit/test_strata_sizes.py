"""How often the tests of strata reject where there is nothing to find, and how intervals cover."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from ietest_fast.stats import Verdict, invariance_test, stratified_test
from ietest_fast.stats.symmetry import compare_strata, compare_strata_by_clusters
from simulations import scaled, slack

EVEN = (1 / 3, 1 / 3, 1 / 3)
UNEVEN = (0.85, 0.12, 0.03)


def heterogeneity_size(shares: Any, *, k: int, loss: float, n_tables: int, seed: int) -> float:
    """Size at 5% for k discordant pairs on the average, of which a share are losses."""
    rng = np.random.default_rng(seed)
    rejected = 0
    for table in range(n_tables):
        sizes = rng.multinomial(rng.poisson(k), shares)
        losses = rng.binomial(sizes, loss)
        found = compare_strata(losses, sizes - losses, n_resamples=999, seed=table)
        rejected += found.p_value <= 0.05
    return rejected / n_tables


def draw_clusters(rng: np.random.Generator, *, n: int, design: str, loss: float) -> Any:
    """Signs, strata and clusters: texts of a cluster are won and lost together."""
    size = np.full(n, 3)
    if design == "uneven sizes":  # stratum 0 has clusters of ten texts
        size = np.where(np.arange(n) % 3 == 0, 10, 1)
    clusters = np.repeat(np.arange(n), size)
    total = clusters.size
    if design in {"across", "opposed"}:  # every cluster has a text of each stratum
        strata = np.arange(total) % 3
    elif design == "uneven sizes":
        strata = clusters % 3
    else:
        strata = rng.choice(3, size=n, p=UNEVEN if design == "unbalanced" else EVEN)[clusters]
    together = rng.random(total) < 0.6
    discordant = np.where(together, (rng.random(n) < 0.15)[clusters], rng.random(total) < 0.15)
    lost = np.where(together, (rng.random(n) < loss)[clusters], rng.random(total) < loss)
    if design == "opposed":  # what one stratum loses another gains
        lost = np.where(strata == 1, ~lost, lost) if loss == 0.5 else lost
    return np.where(discordant, np.where(lost, 1, -1), 0), strata, clusters


def clustered_size(design: str, *, n: int, loss: float, n_tables: int, seed: int) -> float:
    rng = np.random.default_rng(seed)
    rejected = 0
    for table in range(n_tables):
        own = draw_clusters(rng, n=n, design=design, loss=loss)
        found = compare_strata_by_clusters(*own, 3, n_resamples=999, seed=table)
        rejected += found.p_value <= 0.05
    return rejected / n_tables


def draw_answers(rng: np.random.Generator, *, n: int, shares: Any, flips: float) -> Any:
    """Outcomes on both versions that are exchangeable, and strata."""
    strata = rng.choice(len(shares), size=n, p=shares)
    a = rng.random(n) < 0.8
    return a, np.where(rng.random(n) < flips, rng.random(n) < 0.8, a), strata


def family_sizes(
    shares: Any, *, n: int, clustered: bool, correction: Any, n_tables: int, seed: int
) -> tuple[float, float]:
    """How often any stratum's adjusted p-value rejects, and how often all intervals cover 0."""
    rng = np.random.default_rng(seed)
    rejected = covered = tested = 0
    for table in range(n_tables):
        a, b, strata = draw_answers(rng, n=n, shares=shares, flips=0.3)
        clusters = None
        if clustered:
            places = np.repeat(np.arange(n // 3), 3)
            a, b = (
                a[places * 3],
                np.where(rng.random(places.size) < 0.5, b[places * 3], a[places * 3]),
            )
            strata, clusters = strata[: places.size], places
        result = stratified_test(
            a, b, strata, clusters=clusters, correction=correction, n_resamples=999, rng=table
        )
        rejected += any(p.p_adjusted is not None and p.p_adjusted <= 0.05 for p in result.strata)
        for each in result.strata:
            if each.equivalence is not None:
                tested += 1
                covered += 0.0 in each.equivalence.interval
    return rejected / n_tables, covered / tested


def verdict_rate(*, n: int, n_tables: int, seed: int) -> float:
    """How often exchangeable versions are said to change answers by label."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(n_tables):
        gold = rng.choice(3, size=n, p=UNEVEN)
        a = np.where(rng.random(n) < 0.8, gold, (gold + 1) % 3)
        other = np.where(rng.random(n) < 0.8, gold, (gold + 1) % 3)
        b = np.where(rng.random(n) < 0.05, other, a)
        found += invariance_test(a, b, gold, reworded=True).verdict is Verdict.CHANGES
    return found / n_tables


@pytest.mark.slow
def test_levels_are_kept_roughly() -> None:
    assert heterogeneity_size(UNEVEN, k=100, loss=0.6, n_tables=500, seed=1) < 0.09
    assert clustered_size("across", n=300, loss=0.6, n_tables=200, seed=1) < 0.1
    assert (
        family_sizes(UNEVEN, n=500, clustered=False, correction="minp", n_tables=50, seed=1)[0]
        < 0.2
    )


@pytest.mark.slow
def test_level_of_heterogeneity_is_kept() -> None:
    for (name, shares), k, loss in itertools.product(
        (("even", EVEN), ("uneven", UNEVEN)), (30, 100, 300, 1_000), (0.5, 0.8)
    ):
        size = heterogeneity_size(shares, k=k, loss=loss, n_tables=scaled(10_000), seed=3)
        print(f"{name} strata, k = {k}, losses {loss:.0%}: {size:.1%}")
        assert size < 0.06 + slack(scaled(10_000))
        if k >= 100:
            assert size > 0.04 - slack(scaled(10_000))


@pytest.mark.slow
@pytest.mark.parametrize("design", ["across", "opposed", "within", "unbalanced", "uneven sizes"])
def test_level_of_heterogeneity_is_kept_by_clusters(design: str) -> None:
    n_tables = max(scaled(4_000), 1_600)  # of the first 400, 10% are rejected in one design
    for n, loss in itertools.product((300, 1_000), (0.5, 0.8)):
        size = clustered_size(design, n=n, loss=loss, n_tables=n_tables, seed=4)
        print(f"{design}, {n} clusters, losses {loss:.0%}: {size:.1%}")
        assert size < 0.06 + slack(n_tables)


@pytest.mark.slow
def test_few_clusters_of_uneven_sizes_keep_the_level() -> None:
    for n, loss in itertools.product((60, 100), (0.5, 0.8, 0.9)):
        size = clustered_size("uneven sizes", n=n, loss=loss, n_tables=scaled(4_000), seed=5)
        print(f"uneven sizes, {n} clusters, losses {loss:.0%}: {size:.1%}")
        assert size < 0.06 + slack(scaled(4_000))


# For each stratum: clusters, texts in each, and the share of clusters that are won or lost as one.
UNEQUAL = {
    "alike in 40 of 440 clusters": [(40, 10, 1.0), (400, 10, 0.0)],
    "half of 40 of 440 clusters": [(40, 10, 0.5), (400, 10, 0.0)],
    "alike in the smallest of three": [(30, 10, 1.0), (300, 10, 0.0), (300, 10, 0.0)],
    "alike in 300 of 2,300 clusters": [(300, 3, 1.0), (1_000, 3, 0.0), (1_000, 3, 0.0)],
    "alike in the largest": [(300, 10, 1.0), (30, 10, 0.0)],
    "large in one": [(60, 10, 0.6), (60, 1, 0.0), (60, 1, 0.0)],
    "five large ones in one": [(5, 100, 1.0), (500, 1, 0.0), (500, 1, 0.0)],
}


def draw_unequal(rng: np.random.Generator, strata: Any, *, loss: float) -> Any:
    """Signs, strata and clusters, whose correlation depends on the stratum."""
    signs, places, sizes = [], [], []
    for place, (n, size, share) in enumerate(strata):
        lost = np.where((rng.random(n) < share)[:, None], rng.random((n, 1)), rng.random((n, size)))
        discordant = rng.random((n, size)) < 0.3
        signs.append(np.where(discordant, np.where(lost < loss, 1, -1), 0).ravel())
        places.append(np.full(n * size, place))
        sizes.append(np.full(n, size))
    clusters = np.repeat(np.arange(sum(map(len, sizes))), np.concatenate(sizes))
    return np.concatenate(signs), np.concatenate(places), clusters


@pytest.mark.slow
@pytest.mark.parametrize("design", UNEQUAL)
def test_strata_may_differ_in_the_correlation_within_clusters(design: str) -> None:
    """Equal versions keep the level; other equal shares of losses make the test conservative."""
    n_tables = scaled(2_000)
    for loss in (0.5, 0.8, 0.9):
        rng = np.random.default_rng(6)
        rejected = 0
        for table in range(n_tables):
            own = draw_unequal(rng, UNEQUAL[design], loss=loss)
            found = compare_strata_by_clusters(
                *own, len(UNEQUAL[design]), n_resamples=999, seed=table
            )
            rejected += found.p_value <= 0.05
        print(f"{design}, losses {loss:.0%}: {rejected / n_tables:.1%}")
        assert rejected / n_tables < 0.06 + slack(n_tables)


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 10])
def test_power_of_the_comparison_of_strata_by_clusters(size: int) -> None:
    """What swapping whole clusters costs where their texts are independent."""
    n_tables, n = scaled(1_000), 4_500 // size
    clusters = np.repeat(np.arange(n), size)
    for losses in ((0.5, 0.5, 0.65), (0.65, 0.65, 0.8), (0.8, 0.8, 0.9), (0.9, 0.9, 0.97)):
        rng = np.random.default_rng(8)
        by_pairs = by_clusters = 0
        for table in range(n_tables):
            strata = np.repeat(rng.choice(3, size=n), size)
            lost = rng.random(clusters.size) < np.array(losses)[strata]
            signs = np.where(rng.random(clusters.size) < 0.15, np.where(lost, 1, -1), 0)
            counted = [np.bincount(strata[signs == sign], minlength=3) for sign in (1, -1)]
            alone = compare_strata(counted[0], counted[1], n_resamples=999, seed=table)
            found = compare_strata_by_clusters(
                signs, strata, clusters, 3, n_resamples=999, seed=table
            )
            by_pairs += alone.p_asymptotic <= 0.05
            by_clusters += found.p_value <= 0.05
        print(f"clusters of {size}, losses {losses}: pairs {by_pairs / n_tables:.0%}, "
              f"clusters {by_clusters / n_tables:.0%}")  # fmt: skip
        assert by_pairs > 0.7 * n_tables
        if losses[0] == 0.5:
            assert by_clusters > 0.75 * n_tables


@pytest.mark.slow
def test_losses_that_go_with_the_strata_of_a_cluster_make_it_liberal() -> None:
    """Another limit: clusters in both strata lose all, those in one half of their two pairs."""
    rng = np.random.default_rng(6)
    n_tables, n, rejected = scaled(1_000), 1_000, 0
    for table in range(n_tables):
        mixed = rng.random(n) < 0.9
        first = rng.integers(2, size=n)
        strata = np.column_stack([first, np.where(mixed, 1 - first, first)]).ravel()
        lost = rng.random(2 * n) < np.where(np.repeat(mixed, 2), 1.0, 0.5)
        found = compare_strata_by_clusters(
            np.where(lost, 1, -1),
            strata,
            np.repeat(np.arange(n), 2),
            2,
            n_resamples=999,
            seed=table,
        )
        rejected += found.p_value <= 0.05
    print(f"losses go with the strata of a cluster: {rejected / n_tables:.1%}")
    assert rejected / n_tables > 0.15


@pytest.mark.slow
def test_few_gains_in_a_stratum_make_it_liberal_by_clusters() -> None:
    """Another limit: every cluster has ten texts in one stratum and one in the other."""
    rng = np.random.default_rng(12)
    clusters, strata = np.repeat(np.arange(1_000), 11), np.tile([0] * 10 + [1], 1_000)
    n_tables, rejected = scaled(2_000), 0
    for table in range(n_tables):
        lost = rng.random(clusters.size) < 0.98
        signs = np.where((rng.random(1_000) < 0.1)[clusters], np.where(lost, 1, -1), 0)
        found = compare_strata_by_clusters(signs, strata, clusters, 2, n_resamples=999, seed=table)
        rejected += found.p_value <= 0.05
    print(f"two gains expected in a stratum: {rejected / n_tables:.1%}")
    assert 0.08 < rejected / n_tables < 0.25


@pytest.mark.slow
def test_losses_that_go_with_the_size_of_a_cluster_make_it_liberal() -> None:
    """The limit: equal shares in both strata, but large clusters lose a smaller one than texts."""
    rng = np.random.default_rng(9)
    sizes = np.repeat([20, 1], [100, 900])
    clusters = np.repeat(np.arange(1_000), sizes)
    strata = (np.arange(1_000) % 2)[clusters]
    n_tables, rejected = scaled(2_000), 0
    for table in range(n_tables):
        lost = rng.random(clusters.size) < np.where(sizes > 1, 0.5, 0.9)[clusters]
        signs = np.where((rng.random(1_000) < 0.3)[clusters], np.where(lost, 1, -1), 0)
        found = compare_strata_by_clusters(signs, strata, clusters, 2, n_resamples=999, seed=table)
        rejected += found.p_value <= 0.05
    print(f"losses that go with the size of a cluster: {rejected / n_tables:.1%}")
    assert 0.05 < rejected / n_tables < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_level_over_strata_is_kept(clustered: bool) -> None:
    for (name, shares), correction in itertools.product(
        (("even", EVEN), ("uneven", UNEVEN), ("ten tiny", (0.82, *([0.02] * 9)))), ("holm", "minp")
    ):
        size, coverage = family_sizes(
            shares,
            n=1_500,
            clustered=clustered,
            correction=correction,
            n_tables=scaled(4_000),
            seed=5,
        )
        print(f"clusters {clustered}, {name}, {correction}: {size:.1%}, 90% cover {coverage:.1%}")
        assert size < 0.06 + slack(scaled(4_000))


@pytest.mark.slow
def test_exchangeable_versions_seldom_change_by_label() -> None:
    rate = verdict_rate(n=10_000, n_tables=scaled(2_000), seed=6)
    print(f"changes answers: {rate:.1%}")
    assert rate < 0.06 + slack(scaled(2_000))
