"""Where tests are liberal, as docs/statistics.md says: by simulation, ``-s`` prints the figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.stats import (
    PairedCounts,
    algorithm_test,
    dose_response_test,
    equivalence_test,
    estimate,
    excess_churn_test,
    flip_test,
    joint_test,
    paired_test,
)
from ietest_fast.stats.planning.power import size_given
from simulations import scaled, slack

pytestmark = pytest.mark.slow


def test_few_large_clusters_that_lose_what_small_ones_gain() -> None:
    """200 clusters, 5% of them of 20 texts; the expected sum of all differences is 0."""
    rng = np.random.default_rng(1)
    n_tables, rejected, warned = scaled(10_000), 0, 0
    gain = 0.05 * 20 * 0.5 / (0.95 * 2)
    for table in range(n_tables):
        is_large = rng.random(200) < 0.05
        clusters = np.repeat(np.arange(200), np.where(is_large, 20, 2))
        before = is_large[clusters]
        moved = np.where(
            before, (rng.random(200) < 0.5)[clusters], rng.random(clusters.size) < gain
        )
        after = before ^ moved
        found = paired_test(before, after, clusters=clusters, n_resamples=999, rng=table)
        rejected += found.pvalue < 0.05
        warned += found.warning is not None
    size = rejected / n_tables
    print(f"large clusters lose, small ones gain: {size:.1%}, warned {warned / n_tables:.0%}")
    assert abs(size - 0.103) < 0.01 + slack(n_tables)


def test_few_large_doses() -> None:
    """300 texts, lognormal doses up to 200, 3% discordant pairs, of which 90% are losses."""
    rng = np.random.default_rng(2)
    n_tables, rejected, covered, warned = scaled(2_000), 0, 0, 0
    for _ in range(n_tables):
        dose = np.minimum(np.ceil(rng.lognormal(0, 1.5, size=300)), 200)
        discordant, lost = rng.random(300) < 0.03, rng.random(300) < 0.9
        found = dose_response_test(
            np.where(discordant, lost, True), np.where(discordant, ~lost, True), dose
        )
        rejected += found.pvalue < 0.05
        covered += 0.0 in found.confidence_interval()
        warned += found.warning is not None
    size, coverage = rejected / n_tables, covered / n_tables
    print(f"few large doses: {size:.1%}, coverage {coverage:.1%}, warned {warned / n_tables:.0%}")
    assert 0.1 < size < 0.25
    assert warned > 0.95 * n_tables


@pytest.mark.parametrize(
    ("n", "many", "rates"),
    [
        (20_000, 100, (0.105, 0.095, 0.01)),
        (20_000, 100, (0.075, 0.025, 0.05)),
        (5_000, 100, (0.105, 0.095, 0.01)),
    ],
)
def test_doses_whose_texts_are_rarely_discordant(
    n: int, many: int, rates: tuple[float, float, float]
) -> None:
    """Losses and gains of texts with one edit, losses of those with two: the same delta."""
    rng = np.random.default_rng(25)
    dose = np.where(np.arange(n) < many, 2, 1)
    n_tables, rejected, covered, warned, unwarned = scaled(1_000), 0, 0, 0, 0
    for _ in range(n_tables):
        u = rng.random(n)
        lost = u < np.where(dose == 2, rates[2], rates[0])
        won = (dose == 1) & (u > 1 - rates[1])
        found = dose_response_test(~won, ~lost, dose, n_resamples=99)
        rejected += found.pvalue < 0.05
        covered += 0.0 in found.confidence_interval()
        warned += found.warning is not None
        unwarned += found.pvalue < 0.05 and found.warning is None
    print(
        f"doses, {many} of {n}, {rates}: {rejected / n_tables:.1%}, coverage "
        f"{covered / n_tables:.1%}, warned {warned / n_tables:.0%}, unwarned "
        f"{unwarned / n_tables:.1%}"
    )
    assert unwarned / n_tables < 0.065 + slack(n_tables)


@pytest.mark.parametrize(
    ("n", "doses", "shares", "psi", "loss"),
    [
        (500, (1, 2), (0.95, 0.05), 0.05, 0.8),
        (500, (1, 5), (0.95, 0.05), 0.03, 0.9),
        (500, (1, 2), (0.9, 0.1), 0.05, 0.8),
        (1_000, (1, 3), (0.95, 0.05), 0.05, 0.7),
        (2_000, (1, 2), (0.98, 0.02), 0.05, 0.8),
        (1_000, (1, 2), (0.8, 0.2), 0.05, 0.8),
        (2_000, (1, 2), (0.9, 0.1), 0.05, 0.8),
        (3_000, (1, 5), (0.9, 0.1), 0.03, 0.9),
        (300, (1, 2, 3, 4, 5), (0.2, 0.2, 0.2, 0.2, 0.2), 0.05, 0.8),
    ],
)
def test_doses_that_few_texts_have(
    n: int, doses: tuple[int, ...], shares: tuple[float, ...], psi: float, loss: float
) -> None:
    """The dose is drawn independently of everything else."""
    rng = np.random.default_rng(17)
    n_tables, rejected, covered, warned, unwarned = scaled(4_000), 0, 0, 0, 0
    for _ in range(n_tables):
        dose = rng.choice(doses, size=n, p=shares)
        discordant, lost = rng.random(n) < psi, rng.random(n) < loss
        found = dose_response_test(
            np.where(discordant, lost, True), np.where(discordant, ~lost, True), dose
        )
        rejected += found.pvalue < 0.05
        covered += 0.0 in found.confidence_interval()
        warned += found.warning is not None
        unwarned += found.pvalue < 0.05 and found.warning is None
    size, coverage = rejected / n_tables, covered / n_tables
    print(
        f"{n}, doses {doses}, {shares}, {psi:.0%}, {loss:.0%}: {size:.1%}, coverage "
        f"{coverage:.1%}, warned {warned / n_tables:.0%}, unwarned {unwarned / n_tables:.1%}"
    )
    assert unwarned / n_tables < 0.065 + slack(n_tables)


def test_doses_that_few_texts_have_one_sided() -> None:
    """The first of these designs: nearly all its errors are on one side."""
    rng = np.random.default_rng(17)
    n_tables, rejected, unwarned = scaled(4_000), 0, 0
    for _ in range(n_tables):
        dose = rng.choice((1, 2), size=500, p=(0.95, 0.05))
        discordant, lost = rng.random(500) < 0.05, rng.random(500) < 0.8
        found = dose_response_test(
            np.where(discordant, lost, True),
            np.where(discordant, ~lost, True),
            dose,
            alternative="less",
        )
        rejected += found.pvalue < 0.05
        unwarned += found.pvalue < 0.05 and found.warning is None
    print(f"less: {rejected / n_tables:.1%}, unwarned {unwarned / n_tables:.1%}")
    assert unwarned / n_tables < 0.065 + slack(n_tables)


@pytest.mark.parametrize(
    ("n", "sigma"), [(50, 1.0), (100, 1.0), (100, 1.5), (1_000, 1.5), (1_000, 0.5)]
)
def test_skewed_scores_of_the_algorithm(n: int, sigma: float) -> None:
    """Lognormal differences between texts, five trainings alike; delta 0, and the margin."""
    rng = np.random.default_rng(18)
    n_tables, found = scaled(2_000), np.zeros(5)
    sd = np.sqrt(np.expm1(sigma**2)) * np.exp(sigma**2 / 2)
    for _ in range(n_tables):
        texts = (np.exp(sigma * rng.normal(size=n)) - np.exp(sigma**2 / 2)) / sd
        d = 0.9 * texts[:, None] + 0.44 * rng.normal(size=(n, 5))
        zero = algorithm_test(d, 0 * d, margin=0.5)
        edge = algorithm_test(d + 0.5, 0 * d, margin=0.5)
        is_warned = "skewed" in (zero.warning or "")
        decided = np.array([zero.differs, edge.equivalent])
        found += *decided, *(decided & (not is_warned)), is_warned
    *whole, level, equivalent, warned = found / n_tables
    print(
        f"n {n}, sigma {sigma}: size {whole[0]:.1%}, equivalent {whole[1]:.1%}; warned "
        f"{warned:.0%}, without a warning {level:.1%}, {equivalent:.1%} of all, "
        f"{level / (1 - warned):.0%}, {equivalent / (1 - warned):.0%} of those without"
    )
    assert level < 0.06 + slack(n_tables)
    assert equivalent < 0.07 + slack(n_tables)


@pytest.mark.parametrize(
    ("n_clusters", "size", "psi"),
    [(10, 20, 0.2), (20, 5, 0.2), (30, 20, 0.2), (60, 3, 0.1), (100, 5, 0.2), (300, 3, 0.2)],
)
def test_coverage_of_bootstrap_intervals_by_clusters(
    n_clusters: int, size: int, psi: float
) -> None:
    """Exchangeable versions; texts of a cluster are alike with intra-cluster correlation 0.3."""
    rng = np.random.default_rng(19)
    clusters = np.repeat(np.arange(n_clusters), size)
    n, n_tables, found = clusters.size, scaled(1_000), np.zeros(3)
    for _ in range(n_tables):
        copies = rng.random(n) < np.sqrt(0.3)
        u = np.where(copies, rng.random(n_clusters)[clusters], rng.random(n))
        a, b = u >= psi / 2, u <= 1 - psi / 2
        got = estimate(a, b, clusters=clusters)
        found += 0.0 in got.delta_percentile, 0.0 in got.delta_bca, bool(got.remarks())
    percentile, bca, warned = found / n_tables
    print(
        f"{n_clusters} clusters of {size}, {psi:.0%}: percentile {percentile:.1%}, BCa {bca:.1%}, "
        f"warned {warned:.0%}"
    )
    assert warned > 0.95 or percentile > 0.935 - slack(n_tables)


@pytest.mark.parametrize(
    ("n", "m", "share", "rates"),
    [
        (300, 2, 0.01, (0.98, 0.95, 0.45)),
        (300, 5, 0.02, (0.98, 0.95, 0.5)),
        (1_000, 5, 0.01, (0.99, 0.95, 0.45)),
        (1_000, 5, 0.02, (0.98, 0.95, 0.5)),
        (1_000, 2, 0.02, (0.98, 0.95, 0.5)),
        (3_000, 5, 0.02, (0.95, 0.9, 0.5)),
        (3_000, 5, 0.05, (0.95, 0.9, 0.5)),
        (1_000, 5, 0.1, (0.9, 0.9, 0.6)),
        (700, 5, 0.05, (0.9, 0.9, 0.6)),
        (1_000, 5, 0.0, (0.9, 0.9, 0.6)),
    ],
)
def test_interval_of_the_excess_churn(
    n: int, m: int, share: float, rates: tuple[float, float, float]
) -> None:
    """A share of the texts is answered with another probability, the others with the same."""
    rng = np.random.default_rng(20)
    steady, before, after = rates
    truth = share * (before - after) ** 2
    n_tables, found = scaled(1_500), np.zeros(3)
    for _ in range(n_tables):
        moves = rng.random((n, 1)) < share
        a = rng.random((n, m)) < np.where(moves, before, steady)
        b = rng.random((n, m)) < np.where(moves, after, steady)
        result = excess_churn_test(a, b)
        is_missed, is_warned = truth not in result.confidence_interval(), result.warning is not None
        found += is_missed, is_missed and not is_warned, is_warned
    missed, unwarned, warned = found / n_tables
    print(
        f"excess churn, {n} texts, M = {m}, {share:.0%}: covered {1 - missed:.1%}, warned "
        f"{warned:.0%}, missed without {unwarned:.1%}"
    )
    assert unwarned < 0.07 + slack(n_tables)


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_doses_where_nearly_all_discordant_pairs_are_losses(alternative: Any) -> None:
    """2,000 texts, one in ten with two edits; 5% are discordant, of which 98% are losses."""
    rng = np.random.default_rng(21)
    n_tables, rejected, warned, unwarned = scaled(4_000), 0, 0, 0
    for _ in range(n_tables):
        dose = np.where(rng.random(2_000) < 0.1, 2, 1)
        discordant, lost = rng.random(2_000) < 0.05, rng.random(2_000) < 0.98
        found = dose_response_test(
            np.where(discordant, lost, True),
            np.where(discordant, ~lost, True),
            dose,
            alternative=alternative,
            n_resamples=99,
        )
        rejected += found.pvalue < 0.05
        warned += found.warning is not None
        unwarned += found.pvalue < 0.05 and found.warning is None
    print(
        f"nearly all losses, {alternative}: {rejected / n_tables:.1%}, warned "
        f"{warned / n_tables:.0%}, unwarned {unwarned / n_tables:.1%}"
    )
    assert unwarned / n_tables < 0.075 + slack(n_tables)


@pytest.mark.parametrize("k", [6, 10])
def test_few_discordant_pairs_in_each_of_five_classifiers(k: int) -> None:
    """Independent classifiers, of which none changes its mind."""
    rng = np.random.default_rng(k)
    n_tables, rejected = scaled(2_000), 0
    for table in range(n_tables):
        a, b = np.zeros((1_000, 5)), np.zeros((1_000, 5))
        for j in range(5):
            rows, is_loss = rng.choice(1_000, k, replace=False), rng.random(k) < 0.5
            a[rows[is_loss], j] = 1
            b[rows[~is_loss], j] = 1
        found = joint_test(a, b, n_resamples=999, rng=table)
        assert found.warning is not None
        rejected += any(found.reject)
    size = rejected / n_tables
    print(f"min-p, {k} discordant pairs in each of five classifiers: {size:.1%}")
    assert 0.05 < size < 0.15


@pytest.mark.parametrize(
    ("large", "small", "rates", "icc"),
    [
        ((10, 50), (1_000, 1), (0.05, 0.05), (0.1, 0.1)),
        ((10, 50), (1_000, 1), (0.05, 0.05), (0.3, 0.3)),
        ((10, 50), (1_000, 1), (0.05, 0.05), (1.0, 1.0)),
        ((20, 20), (800, 1), (0.05, 0.05), (0.3, 0.3)),
        ((30, 20), (1_000, 2), (0.05, 0.05), (0.5, 0.5)),
        ((10, 20), (190, 2), (0.2, 0.2), (0.3, 0.3)),
        ((20, 20), (400, 1), (0.1, 0.0), (1.0, 1.0)),
        ((40, 20), (800, 1), (0.04, 0.0), (1.0, 1.0)),
        ((20, 100), (10_000, 1), (0.1, 0.04), (1.0, 0.0)),
        ((10, 100), (2_000, 2), (0.2, 0.05), (1.0, 0.0)),
        ((8, 100), (2_000, 2), (0.2, 0.05), (1.0, 0.0)),
        ((10, 20), (400, 2), (0.2, 0.05), (1.0, 0.0)),
        ((60, 50), (1_000, 3), (0.3, 0.05), (1.0, 0.0)),
    ],
)
def test_few_large_clusters_show_neither_few_flips_nor_equivalence(
    large: tuple[int, int],
    small: tuple[int, int],
    rates: tuple[float, float],
    icc: tuple[float, float],
) -> None:
    """Texts copy their cluster with probability sqrt(icc); large and small ones flip by rates."""
    rng = np.random.default_rng(0)
    kinds = [large[0], small[0]]
    sizes, rate = np.repeat([large[1], small[1]], kinds), np.repeat(rates, kinds)
    clusters = np.repeat(np.arange(sizes.size), sizes)
    copying = np.repeat(np.sqrt(icc), kinds)[clusters]
    margin = float((rate * sizes).sum() / sizes.sum())
    n_tables, below, equivalent, missed = scaled(1_000), 0, 0, 0
    for _ in range(n_tables):
        common, own = rng.random(sizes.size) < rate, rng.random(clusters.size) < rate[clusters]
        copies = rng.random(clusters.size) < copying
        changed = np.where(copies, common[clusters], own)
        same = np.zeros(clusters.size, int)
        flips = flip_test(same, changed.astype(int), clusters=clusters, margin=margin)
        below += flips.p_below < 0.05
        missed += margin not in flips.confidence_interval()
        lost = equivalence_test(same == 0, ~changed, clusters=clusters, margin=margin)
        equivalent += lost.equivalent
    shares = " ".join(f"{count / n_tables:.1%}" for count in (below, equivalent, missed))
    print(f"{large} + {small}, {rates}, {icc}: below, equivalent, missed: {shares}")
    assert max(below, equivalent) / n_tables < 0.02 + slack(n_tables)
    assert missed / n_tables < 0.03 + slack(n_tables)


def test_large_clusters_that_are_lost_beside_many_with_one_discordant_text() -> None:
    """40 clusters of 100, each lost with probability 0.075; of 4,000 of five, 10% tell."""
    rng = np.random.default_rng(21)
    sizes = np.repeat([100, 5], [40, 4_000])
    clusters = np.repeat(np.arange(sizes.size), sizes)
    first = np.cumsum(sizes)[40:] - 5
    n_tables, equivalent = scaled(1_000), 0
    for _ in range(n_tables):
        a, b = np.ones((2, clusters.size), int)
        b[(rng.random(sizes.size) < 0.075)[clusters] & (clusters < 40)] = 0
        tell, is_loss = rng.random(4_000) < 0.1, rng.random(4_000) < 0.5
        b[first[tell & is_loss]] = 0
        a[first[tell & ~is_loss]] = 0
        found = equivalence_test(a, b, clusters=clusters, margin=300 / clusters.size)
        equivalent += found.equivalent
    print(f"large clusters lost, small ones with one discordant text: {equivalent / n_tables:.1%}")
    assert equivalent / n_tables < 0.02 + slack(n_tables)


def test_four_large_clusters_decide() -> None:
    """Exchangeable versions: 4 clusters of 500 texts differ as a whole, 600 texts with 5%."""
    rng = np.random.default_rng(3)
    sizes = np.repeat([500, 1], [4, 600])
    clusters = np.repeat(np.arange(604), sizes)
    n_tables, rejected, warned = scaled(2_000), 0, 0
    for table in range(n_tables):
        differs = rng.random(604) < np.where(sizes > 1, 1.0, 0.05)
        is_loss = rng.random(604) < 0.5
        a, b = (~differs | is_loss)[clusters], (~differs | ~is_loss)[clusters]
        found = paired_test(a, b, clusters=clusters, n_resamples=999, rng=table)
        rejected += found.pvalue < 0.05
        warned += found.warning is not None
    size = rejected / n_tables
    print(f"four large clusters: {size:.1%}, warned {warned / n_tables:.0%}")
    assert 0.05 < size < 0.16
    assert warned > 0.95 * n_tables


@pytest.mark.parametrize(
    ("n_large", "size", "n_single", "rate"),
    [(11, 100, 400, 0.1), (16, 100, 400, 0.1), (16, 400, 1_000, 0.05)],
)
def test_some_large_clusters_decide_without_a_warning(
    n_large: int, size: int, n_single: int, rate: float
) -> None:
    """Exchangeable versions: large clusters differ as a whole, single texts with a rate."""
    rng = np.random.default_rng(4)
    sizes = np.repeat([size, 1], [n_large, n_single])
    clusters = np.repeat(np.arange(sizes.size), sizes)
    n_tables, rejected, warned = scaled(2_000), 0, 0
    for table in range(n_tables):
        differs = rng.random(sizes.size) < np.where(sizes > 1, 1.0, rate)
        is_loss = rng.random(sizes.size) < 0.5
        a, b = (~differs | is_loss)[clusters], (~differs | ~is_loss)[clusters]
        found = paired_test(a, b, clusters=clusters, n_resamples=10_000, rng=table)
        rejected += found.pvalue < 0.05
        warned += found.warning is not None
    print(
        f"{n_large} clusters of {size} beside {n_single} texts: {rejected / n_tables:.1%}, warned "
        f"{warned / n_tables:.0%}"
    )
    assert rejected / n_tables < 0.09 + slack(n_tables)
    assert warned < 0.05 * n_tables


@pytest.mark.parametrize("n_clusters", [100, 300])
def test_the_design_effect_of_independent_pairs_is_uncertain(n_clusters: int) -> None:
    rng = np.random.default_rng(n_clusters)
    n, found = 3 * n_clusters, []
    clusters = np.repeat(np.arange(n_clusters), 3)
    for _ in range(scaled(2_000)):
        is_discordant, is_loss = rng.random(n) < 0.1, rng.random(n) < 0.5
        a, b = ~is_discordant | is_loss, ~is_discordant | ~is_loss
        found.append(paired_test(a, b, clusters=clusters, n_resamples=99).design_effect)
    low, high = np.quantile(found, [0.025, 0.975])
    print(
        f"design effect of independent pairs, {n_clusters} clusters of 3: {low:.2f} to {high:.2f}"
    )
    assert low < 0.9
    assert high > 1.1


@pytest.mark.parametrize(
    ("large", "small", "whole", "scattered", "shares"),
    [
        ((60, 50), (0, 1), 0.03, 0.03, (0.16, 0.16, 0.83)),
        ((100, 50), (0, 1), 0.02, 0.03, (0.12, 0.12, 0.87)),
        ((200, 10), (0, 1), 0.02, 0.05, (0.08, 0.09, 0.94)),
        ((10, 400), (100, 100), 0.1, 0.02, (0.33, 0.33, 0.67)),
    ],
)
def test_clusters_that_seldom_change_as_a_whole(
    large: tuple[int, int],
    small: tuple[int, int],
    whole: float,
    scattered: float,
    shares: tuple[float, float, float],
) -> None:
    """Large clusters are lost as a whole, rarely; other texts flip by themselves, either way.

    Where there are small clusters, only their texts do.
    """
    rng = np.random.default_rng(11)
    sizes = np.repeat([large[1], small[1]], [large[0], small[0]])
    clusters = np.repeat(np.arange(sizes.size), sizes)
    is_large = clusters < large[0]
    each = np.where(is_large & (small[0] > 0), 0.0, scattered)
    delta = float((is_large * whole).mean())
    rate = float((is_large * whole + (1 - is_large * whole) * each).mean())
    n_tables, found = scaled(2_000 if small[0] == 0 else 1_000), np.zeros(3)
    for _ in range(n_tables):
        lost = (rng.random(sizes.size) < whole)[clusters] & is_large
        flips = ~lost & (rng.random(clusters.size) < each)
        is_loss = rng.random(clusters.size) < 0.5
        a, b = ~(flips & ~is_loss), ~(lost | (flips & is_loss))
        tested = flip_test(a, b, clusters=clusters, margin=rate)
        equal = equivalence_test(a, b, clusters=clusters, margin=delta)
        found += tested.p_below < 0.05, equal.equivalent, rate in tested.confidence_interval()
    found /= n_tables
    said = " ".join(f"{share:.1%}" for share in found)
    print(f"{large} + {small}, {whole:.0%} whole: below, equivalent, covered: {said}")
    assert np.abs(found - shares).max() < 0.03 + slack(n_tables)


@pytest.mark.parametrize(
    ("n_clusters", "whole", "size"), [(60, 0.03, 0.17), (100, 0.02, 0.135), (300, 0.05, 0.057)]
)
def test_equal_clusters_of_which_few_are_lost_while_others_gain(
    n_clusters: int, whole: float, size: float
) -> None:
    """Clusters of 50 texts (300: of ten) are lost as a whole; other texts gain as much."""
    rng = np.random.default_rng(21)
    per = 50 if n_clusters < 300 else 10
    clusters = np.repeat(np.arange(n_clusters), per)
    gain = whole / (1 - whole)
    n_tables, rejected, unwarned, warned = scaled(4_000), 0, 0, 0
    for table in range(n_tables):
        lost = (rng.random(n_clusters) < whole)[clusters]
        gains = ~lost & (rng.random(clusters.size) < gain)
        found = paired_test(~gains, ~lost, clusters=clusters, n_resamples=999, rng=table)
        rejects = found.pvalue < 0.05
        rejected += rejects
        warned += found.warning is not None
        unwarned += rejects and found.warning is None
    print(
        f"{n_clusters} of {per}, {whole:.0%} lost: size {rejected / n_tables:.1%}, warned "
        f"{warned / n_tables:.0%}, unwarned {unwarned / n_tables:.1%}"
    )
    assert abs(rejected / n_tables - size) < 0.015 + slack(n_tables)


def test_clusters_that_are_lost_by_all_classifiers() -> None:
    """The algorithm: 3% of 60 clusters of 50 texts are lost by all five; other texts gain."""
    rng = np.random.default_rng(22)
    clusters = np.repeat(np.arange(60), 50)
    gain = 0.03 / 0.97
    n_tables, rejected, unwarned, covered = scaled(1_000), 0, 0, 0
    for _ in range(n_tables):
        lost = (rng.random(60) < 0.03)[clusters, None]
        shared = rng.random((3_000, 5)) < np.sqrt(0.5)
        gains = np.where(shared, rng.random((3_000, 1)), rng.random((3_000, 5))) < gain
        found = algorithm_test(lost | ~gains, np.broadcast_to(~lost, (3_000, 5)), clusters=clusters)
        rejected += found.differs
        unwarned += found.differs and found.warning is None
        covered += 0.0 in found.confidence_interval()
    size = rejected / n_tables
    print(f"lost by all: {size:.1%}, unwarned {unwarned / n_tables:.1%}, {covered / n_tables:.1%}")
    assert abs(size - 0.17) < 0.03 + slack(n_tables)


@pytest.mark.parametrize(
    ("law", "default", "symmetric"),
    [("t2", 0.074, 0.046), ("cauchy", 0.105, 0.030), ("lognormal", 0.103, 0.036)],
)
def test_scores_of_heavy_symmetric_tails(law: str, default: float, symmetric: float) -> None:
    """50 pairs; the lognormal law with sigma 1.5 and a random sign."""
    rng = np.random.default_rng(8)
    n_tables, found = scaled(4_000), np.zeros(4)
    for table in range(n_tables):
        if law == "lognormal":
            d = np.exp(1.5 * rng.normal(size=50)) * rng.choice([-1, 1], 50)
        else:
            d = rng.standard_t(2 if law == "t2" else 1, 50)
        by_default = paired_test(d, 0 * d, n_resamples=399, rng=table)
        named = paired_test(d, 0 * d, n_resamples=399, rng=table, null="symmetric")
        rejects, is_warned = by_default.pvalue <= 0.05, by_default.warning is not None
        found += rejects, named.pvalue <= 0.05, is_warned, rejects and not is_warned
    found /= n_tables
    print(
        f"{law}: default {found[0]:.1%}, symmetric {found[1]:.1%}, warned {found[2]:.0%}, "
        f"unwarned {found[3]:.1%}"
    )
    assert abs(found[0] - default) < 0.015 + slack(n_tables)
    assert abs(found[1] - symmetric) < 0.015 + slack(n_tables)


def test_the_skewness_of_a_mean_falls_slowly_for_long_tails() -> None:
    """Lognormal differences: its median in samples of 50, 200 and 800."""
    rng = np.random.default_rng(23)
    for sigma, medians in ((1.5, (0.479, 0.379, 0.275)), (0.5, (0.173, 0.105, 0.058))):
        found = []
        for n in (50, 200, 800):
            d = np.exp(sigma * rng.normal(size=(scaled(20_000), n)))
            e = d - d.mean(axis=1, keepdims=True)
            found.append(float(np.median((e**3).sum(axis=1) / (e**2).sum(axis=1) ** 1.5)))
        print(f"skewness of the mean, sigma {sigma}: {', '.join(f'{each:.3f}' for each in found)}")
        assert found == pytest.approx(medians, abs=0.015)


@pytest.mark.parametrize(("lost", "gained"), [(0.02, 0.01), (0.015, 0.005)])
def test_outcomes_of_the_algorithm_that_are_skewed(lost: float, gained: float) -> None:
    """1,000 texts: all five classifiers lose the same ones and gain different ones."""
    rng = np.random.default_rng(24)
    n_tables, equivalent, unwarned = scaled(2_000), 0, 0
    for _ in range(n_tables):
        is_lost = rng.random((1_000, 1)) < lost
        is_gained = ~is_lost & (rng.random((1_000, 5)) < gained / (1 - lost))
        rephrased = np.broadcast_to(~is_lost, (1_000, 5))
        found = algorithm_test(is_lost | ~is_gained, rephrased, margin=lost - gained)
        equivalent += found.equivalent
        unwarned += found.equivalent and found.warning is None
    print(
        f"skewed outcomes, {lost:.1%} lost, {gained:.1%} gained: equivalent "
        f"{equivalent / n_tables:.1%}, unwarned {unwarned / n_tables:.1%}"
    )
    assert equivalent / n_tables < 0.09 + slack(n_tables)


@pytest.mark.parametrize(
    ("strata", "k", "size"), [(3, 29, 0.071), (65, 30, 0.089), (5, 6, 0.147), (86, 10, 0.155)]
)
def test_enumerated_errors_of_holm_over_strata(strata: int, k: int, size: float) -> None:
    """Independent strata with k discordant pairs (or equal clusters) each; S grows."""
    found = 1 - (1 - size_given(k, 9_824, 0.05 / strata)) ** strata
    print(f"Holm, {strata} strata with {k} each: {found:.1%}")
    assert round(found, 3) == size


@pytest.mark.parametrize(("most", "least", "size"), [(5, 5, 0.071), (4, 4, 0.074), (20, 1, 0.085)])
def test_enumerated_errors_of_min_p(most: int, least: int, size: float) -> None:
    """Independent classifiers with 25 discordant pairs or more each; S grows."""
    found = max(
        1 - (1 - size_given(k, 9_824, 1 - 0.95 ** (1 / m))) ** m
        for m in range(least, most + 1)
        for k in range(25, 120)
    )
    print(f"min-p, {least} to {most} classifiers: {found:.1%}")
    assert round(found, 3) == size


@pytest.mark.parametrize(("n", "margin", "size"), [(52, 0.295, 0.0666), (82, 0.2491, 0.0631)])
def test_enumerated_errors_of_equivalence(n: int, margin: float, size: float) -> None:
    """All pairs are discordant, and delta is the margin."""
    found = sum(
        scipy_stats.binom.pmf(a, n, (1 + margin) / 2)
        for a in range(n + 1)
        if equivalence_test(PairedCounts(0, a, n - a, 0), margin=margin).equivalent
    )
    print(f"equivalent, {n} discordant pairs, margin {margin}: {found:.2%}")
    assert round(found, 4) == size


@pytest.mark.parametrize(("n", "margin", "size"), [(428, 0.08, 0.0549), (410, 0.1, 0.0547)])
def test_enumerated_errors_of_equivalence_one_way(n: int, margin: float, size: float) -> None:
    """All discordant pairs go one way, and delta is the margin."""
    found = sum(
        scipy_stats.binom.pmf(k, n, margin)
        for k in range(4 * n // 10)
        if equivalence_test(PairedCounts(n - k, k, 0, 0), margin=margin).equivalent
    )
    print(f"equivalent, {n} pairs, discordant one way, margin {margin}: {found:.2%}")
    assert round(found, 4) == size
