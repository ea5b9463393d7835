"""Means over strata: the variance by its definition, strata of few values, coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.stats import correct_consistency, count_buckets
from ietest_fast.stats.mean_difference import estimate_stratified, student_factor
from simulations import scaled, slack


def estimate(values: list[float], strata: list[int], shares: list[float], **options: Any) -> Any:
    given = {"clusters": None, "n_test": None, "alpha": 0.05} | options
    return estimate_stratified(np.array(values), np.array(strata), np.array(shares), **given)


def variance_by_definition(
    values: np.ndarray, strata: np.ndarray, shares: np.ndarray, n_test: int | None
) -> float:
    """Stratum by stratum; nearest strata by looking at all."""
    used = sorted(set(strata.tolist()))
    weight = sum(shares[place] for place in used)
    middle = sum(shares[j] * values[strata == j].mean() for j in used) / weight
    total = 0.0
    for j in used:
        own = values[strata == j]
        others = [k for k in used if k != j]
        nearest = min((abs(k - j) for k in others), default=0)
        together = np.concatenate(
            [own, *(values[strata == k] for k in others if abs(k - j) == nearest)]
        )
        within = own.var(ddof=1) if own.size > 1 else 0.0
        shrunk = ((own.size - 1) * within + together.var(ddof=1)) / own.size
        total += (shares[j] / weight) ** 2 * shrunk / own.size
        if n_test is not None:
            total += shares[j] * (own.mean() - middle) ** 2 / weight**2 / n_test
    return total


@pytest.mark.parametrize("n_test", [None, 700])
@pytest.mark.parametrize("seed", range(4))
def test_the_variance_is_that_of_the_definition(seed: int, n_test: int | None) -> None:
    rng = np.random.default_rng(seed)
    strata = np.append(rng.choice([0, 1, 2, 5, 6], 30), 8)
    values, shares = rng.beta(2, 1, 31), rng.dirichlet(np.ones(10))
    found = estimate_stratified(values, strata, shares, clusters=None, n_test=n_test, alpha=0.05)
    expected = variance_by_definition(values, strata, shares, n_test)
    assert found.standard_error == pytest.approx(math.sqrt(expected))
    single = estimate_stratified(
        values, strata, shares, clusters=np.arange(31), n_test=n_test, alpha=0.05
    )
    assert single.standard_error == pytest.approx(math.sqrt(expected), rel=0.1)


def test_one_stratum_has_students_interval_or_nearly() -> None:
    values = np.random.default_rng(0).beta(3, 3, 40)
    found = estimate(values.tolist(), [0] * 40, [1.0])
    peer = scipy_stats.ttest_1samp(values, 0).confidence_interval()
    assert found.standard_error == pytest.approx(values.std(ddof=1) / math.sqrt(40))
    assert found.df == pytest.approx(40)
    assert found.interval.low == pytest.approx(peer.low, abs=0.1 * found.standard_error)
    assert found.interval.high == pytest.approx(peer.high, abs=0.1 * found.standard_error)


def test_a_lone_value_takes_its_spread_from_the_strata_beside_it() -> None:
    beside = [0.2, 0.8, 0.4, 0.6]
    found = estimate([0.5, *beside, 1.0], [3, 2, 2, 4, 4, 9], [0, 0, 0.1, 0.8, 0.1, 0, 0, 0, 0, 0])
    # 0.5 has the strata 2 and 4 on both sides; 1.0 is farther away.
    spread = np.var([0.5, *beside], ddof=1)
    assert found.standard_error**2 > 0.8**2 * spread
    assert found.df < 2
    assert found.interval.high - found.interval.low > 0.5


@pytest.mark.parametrize(
    ("values", "strata", "clusters"),
    [([0.7], [1], None), ([0.7, 0.9, 1.0], [1, 1, 0], [5, 5, 5])],
)
def test_what_a_single_unit_says_is_void(
    values: list[float], strata: list[int], clusters: list[int] | None
) -> None:
    own = None if clusters is None else np.array(clusters)
    found = estimate(values, strata, [0.5, 0.5], clusters=own)
    assert found.standard_error is None
    assert found.df is None
    assert (found.interval.low, found.interval.high) == (0, 1)


def test_values_without_any_spread_have_an_interval_without_width() -> None:
    found = estimate([1.0] * 6, [0, 0, 0, 1, 1, 1], [0.5, 0.5], n_test=50)
    assert (found.standard_error, found.interval.low, found.interval.high) == (0, 1, 1)


def test_no_stratum_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="no stratum"):
        estimate([0.5, 0.6], [0, 0], [0.0, 1.0])


def test_students_factor() -> None:
    assert student_factor(9, 0.05) == pytest.approx(2.262157 / 1.959964, abs=1e-6)
    assert student_factor(1e9, 0.05) == pytest.approx(1)


def test_few_buckets_and_low_weight_of_pairs_are_said() -> None:
    n = 12
    names = np.concatenate([np.arange(n), np.repeat(np.arange(n), 2)])[:-1]  # the last has one
    confidence = np.where(names == n - 1, 0.95, 0.15)
    columns = {
        "is_original": np.arange(names.size) < n,
        "confidence": confidence,
    }
    buckets = count_buckets(names, np.arange(names.size) % 3 > 0, **columns)
    test = np.where(np.arange(100) < 60, 0.95, 0.15)
    with pytest.warns(IetestWarning, match=r"two paraphrases or more hold 40\.0%.*unbiased P_C"):
        result = correct_consistency(buckets, test)
    assert result.weight_used == 1
    assert result.p_c_unbiased is not None
    assert result.p_c_unbiased.weight_used == pytest.approx(0.4)
    said = " ".join(result.remarks())
    assert "1 stratum with weight has a single item" in said
    assert "degrees of freedom" in said


#: Buckets in each of ten strata, and the beta law of the confidence on the full test set.
DESIGNS = {
    "25 in each": ([25] * 10, (2, 1)),
    "as a sure model has": ([5, 2, 2, 2, 2, 2, 3, 5, 10, 217], (5, 0.4)),
    "three in each": ([3] * 10, (2, 1)),
    "single ones": ([1, 40, 1, 40, 40, 1, 45, 41, 1, 40], (2, 1)),
    "none in some": ([0, 40, 0, 42, 42, 0, 42, 42, 42, 0], (2, 1)),
    "five in the heaviest": ([27, 27, 27, 27, 27, 27, 27, 28, 28, 5], (5, 0.4)),
    "one in the heaviest": ([31, 31, 31, 31, 31, 31, 31, 31, 1, 1], (5, 0.4)),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_contain_the_truth(design: str) -> None:
    """Buckets of 3 to 12; theta is the confidence c, or every second time from beta(2c, 2 - 2c)."""
    counts, (a, b) = DESIGNS[design]
    strata, n_test, n_tables = np.repeat(np.arange(10), counts), 2000, scaled(600)
    law = scipy_stats.beta(a, b)
    edges = law.cdf(np.linspace(0, 1, 11))
    # The truth of the strata that have buckets, by 200,000 quantiles.
    sure = law.ppf((np.arange(200_000) + 0.5) / 200_000)
    sure = sure[np.array(counts)[np.minimum((10 * sure).astype(int), 9)] > 0]
    within = (sure * (1 - sure)).mean()
    rng = np.random.default_rng(1)
    hits = {"accuracy": 0, "P_C": 0}
    for table in range(n_tables):
        spreads = table % 2 == 1
        truth = {"accuracy": sure.mean(), "P_C": 1 - 2 * within * (2 / 3 if spreads else 1)}
        places = edges[strata] + (edges[strata + 1] - edges[strata]) * rng.random(strata.size)
        theta = np.clip(law.ppf(places), 1e-9, 1 - 1e-9)
        if spreads:
            theta = rng.beta(2 * theta, 2 * (1 - theta))
        n = rng.integers(3, 13, strata.size)
        k = rng.binomial(n, theta)
        shares = rng.multinomial(n_test, np.diff(edges)) / n_test
        pairs = (k * (k - 1) + (n - k) * (n - k - 1)) / (n * (n - 1))
        for name, values in (("accuracy", k / n), ("P_C", pairs)):
            found = estimate_stratified(
                values, strata, shares, clusters=None, n_test=n_test, alpha=0.05
            )
            hits[name] += truth[name] in found.interval
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"{design}: {shown} of {n_tables}")
    for name, count in hits.items():
        assert count / n_tables >= 0.935 - slack(n_tables), name


#: Buckets in each of the three highest strata, the share of their items whose theta is not 1, and
#: the least coverage that is to be expected.
SHAKY = {
    "2 in each": (2, 0.1, 0.4),
    "4 in each": (4, 0.1, 0.4),
    "10 in each": (10, 0.1, 0.6),
    "25 in each": (25, 0.1, 0.75),
    "25 in each, 3%": (25, 0.03, 0.4),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", SHAKY)
def test_heavy_strata_that_are_all_right_make_intervals_too_short(design: str) -> None:
    """Confidence on the test set is beta(5, 0.4): the top three of ten strata hold 95%.

    Theta is uniform in a tenth of the items there, and else 1. The other strata have 25 buckets
    each, with theta from beta(2, 1). Weights are known.
    """
    n_heavy, shaky, least = SHAKY[design]
    shares = np.diff(scipy_stats.beta(5, 0.4).cdf(np.linspace(0, 1, 11)))
    heavy_weight = shares[7:].sum()
    strata = np.repeat(np.arange(10), [25] * 7 + [n_heavy] * 3)
    # E theta and E 2 theta (1 - theta) of uniform and of beta(2, 1).
    truth = {
        "accuracy": heavy_weight * (1 - shaky / 2) + (1 - heavy_weight) * 2 / 3,
        "P_C": 1 - heavy_weight * shaky / 3 - (1 - heavy_weight) / 3,
    }
    n_tables = scaled(600)
    rng = np.random.default_rng(5)
    hits = {"accuracy": 0, "P_C": 0}
    for _ in range(n_tables):
        theta = rng.beta(2, 1, strata.size)
        heavy = np.where(rng.random(strata.size) < shaky, rng.random(strata.size), 1.0)
        theta = np.where(strata >= 7, heavy, theta)
        n = rng.integers(3, 13, strata.size)
        k = rng.binomial(n, theta)
        pairs = (k * (k - 1) + (n - k) * (n - k - 1)) / (n * (n - 1))
        for name, values in (("accuracy", k / n), ("P_C", pairs)):
            found = estimate_stratified(
                values, strata, shares, clusters=None, n_test=None, alpha=0.05
            )
            hits[name] += truth[name] in found.interval
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"heavy strata, {design}: {shown} of {n_tables}")
    # The page says that they are too short: if they no longer are, mend the page.
    for name, count in hits.items():
        assert least <= count / n_tables <= 0.92, name


@pytest.mark.slow
@pytest.mark.parametrize("design", ["25 in each", "single ones"])
def test_intervals_by_clusters_contain_the_truth(design: str) -> None:
    """250 buckets in 127 clusters of 1 to 10 across strata; theta = c + e c (1 - c).

    e is uniform in [-1, 1], the same in all buckets of a cluster.
    """
    counts, (a, b) = DESIGNS[design]
    strata, n_test, n_tables = np.repeat(np.arange(10), counts), 2000, scaled(2000)
    sizes = np.repeat([10, 8, 7, 6, 5, 4, 3, 2, 1], [2, 2, 2, 2, 2, 2, 13, 29, 73])
    law = scipy_stats.beta(a, b)
    edges = law.cdf(np.linspace(0, 1, 11))
    sure = law.ppf((np.arange(200_000) + 0.5) / 200_000)
    square = sure**2 + (sure * (1 - sure)) ** 2 / 3
    truth = {"accuracy": sure.mean(), "P_C": 1 - 2 * (sure - square).mean()}
    rng = np.random.default_rng(4)
    hits = {"accuracy": 0, "P_C": 0}
    for _ in range(n_tables):
        clusters = rng.permutation(np.repeat(np.arange(sizes.size), sizes))[: strata.size]
        places = edges[strata] + (edges[strata + 1] - edges[strata]) * rng.random(strata.size)
        c = law.ppf(places)
        theta = c + rng.uniform(-1, 1, sizes.size)[clusters] * c * (1 - c)
        n = rng.integers(3, 13, strata.size)
        k = rng.binomial(n, np.clip(theta, 0, 1))
        shares = rng.multinomial(n_test, np.diff(edges)) / n_test
        pairs = (k * (k - 1) + (n - k) * (n - k - 1)) / (n * (n - 1))
        for name, values in (("accuracy", k / n), ("P_C", pairs)):
            found = estimate_stratified(
                values, strata, shares, clusters=clusters, n_test=n_test, alpha=0.05
            )
            hits[name] += truth[name] in found.interval
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"clusters, {design}: {shown} of {n_tables}")
    for name, count in hits.items():
        assert count / n_tables >= 0.935 - slack(n_tables), name
