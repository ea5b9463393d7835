from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    PairedCounts,
    calibrate,
    draw_null_differences,
    intra_cluster_correlation,
    mcnemar_test,
    power,
)
from ietest_fast.stats import calibration as module

SIZES = np.resize(np.arange(1, 7), 600)
CLUSTERS = np.repeat(np.arange(600), SIZES)


def test_sizes_are_those_that_enumeration_gives() -> None:
    n, psi, s = 800, 0.1, 20_000
    result = calibrate(n, psi, n_tables=s)
    line = result.size_of("paired")
    expected = power(n, psi, 0.0)
    assert abs(line.size - expected) < 4 * np.sqrt(expected / s)
    assert result.size_of("mcnemar_exact").size < line.size
    low, high = scipy_stats.binomtest(line.n_rejected, s).proportion_ci(method="wilson")
    assert (line.low, line.high) == pytest.approx((low, high), rel=1e-12)
    assert line.excess == pytest.approx((line.size - 0.05) / np.sqrt(0.05 * 0.95 / s))


def test_p_values_are_those_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.stats.contingency_tables")
    for n10, n01 in [(5, 0), (7, 2), (9, 9), (30, 18), (100, 140), (0, 1)]:
        table = [[50, n10], [n01, 20]]
        got = module._p_values(70 + n10 + n01, n10, n01)
        asymptotic = sm.mcnemar(table, exact=False, correction=False).pvalue
        assert got["mcnemar_exact"] == pytest.approx(sm.mcnemar(table, exact=True).pvalue)
        assert got["mcnemar_asymptotic"] == pytest.approx(asymptotic)
        corrected = max(0, abs(n10 - n01) - 1) ** 2 / (n10 + n01)
        assert got["mcnemar_corrected"] == pytest.approx(scipy_stats.chi2.sf(corrected, 1))
        # Mid-p: what is as extreme counts half.
        law = scipy_stats.binom(n10 + n01, 0.5)
        extreme = min(n10, n01)
        # n10 = n01 is one table, and all others are more extreme (Fagerland et al. 2013).
        mid = 2 * law.cdf(extreme) - law.pmf(extreme)
        mid = 1 - law.pmf(extreme) / 2 if n10 == n01 else mid
        assert got["mcnemar_mid"] == pytest.approx(mid)
    assert set(module._p_values(9, 0, 0).values()) == {1.0}


def test_p_values_are_those_of_the_tests_themselves() -> None:
    for n10, n01 in [(5, 0), (7, 2), (9, 9), (30, 18), (0, 0)]:
        alone = mcnemar_test(PairedCounts(50, n10, n01, 0))
        assert module._p_values(50 + n10 + n01, n10, n01) == {
            "paired": alone.p_value,
            "mcnemar_exact": alone.p_conditional,
            "mcnemar_mid": alone.p_mid,
            "mcnemar_asymptotic": alone.p_asymptotic,
            "mcnemar_corrected": alone.p_corrected,
        }


def test_independence_is_missed_where_there_are_clusters() -> None:
    result = calibrate(
        CLUSTERS.size, 0.1, clusters=CLUSTERS, icc=0.3, tests=("paired",), n_tables=2_000
    )
    assert result.n_clusters == 600
    assert result.size_of("paired").size > 0.12
    assert not result.size_of("paired").keeps_level
    assert "Do not use on such data: paired, exact." in str(result)


def test_bonferroni_holds_the_level_of_a_family() -> None:
    result = calibrate(
        1_000,
        0.2,
        n_classifiers=5,
        classifier_correlation=0.5,
        tests=("paired", "mcnemar_exact"),
        n_tables=3_000,
    )
    assert result.size_of("paired").keeps_level
    assert result.size_of("paired").size > 0.02
    assert "5 (correlation 0.5); sizes are family-wise" in str(result)


def test_differences_have_the_law_and_the_correlations_asked_for() -> None:
    clusters = np.repeat(np.arange(60_000), 3)
    drawn = draw_null_differences(
        clusters.size,
        0.3,
        clusters=clusters,
        icc=0.3,
        n_classifiers=3,
        classifier_correlation=0.5,
        seed=1,
    )
    assert drawn.shape == (clusters.size, 3)
    x = drawn.astype(float)
    assert (x == 1).mean() == pytest.approx(0.15, abs=0.003)
    assert (x == -1).mean() == pytest.approx(0.15, abs=0.003)
    assert np.corrcoef(x[:, 0], x[:, 1])[0, 1] == pytest.approx(0.5, abs=0.015)
    assert np.corrcoef(x[0::3, 2], x[1::3, 2])[0, 1] == pytest.approx(0.3, abs=0.02)
    assert np.corrcoef(x[0::3, 0], x[1::3, 1])[0, 1] == pytest.approx(0.15, abs=0.02)
    assert intra_cluster_correlation(x[:, 0], clusters) == pytest.approx(0.3, abs=0.02)


def test_a_table_depends_on_the_seed_and_its_number() -> None:
    options = {"clusters": CLUSTERS, "icc": 0.5}
    one = draw_null_differences(CLUSTERS.size, 0.5, seed=3, table=7, **options)  # type: ignore[arg-type]
    again = draw_null_differences(CLUSTERS.size, 0.5, seed=3, table=7, **options)  # type: ignore[arg-type]
    other = draw_null_differences(CLUSTERS.size, 0.5, seed=3, table=8, **options)  # type: ignore[arg-type]
    assert (one == again).all()
    assert (one != other).any()
    sizes = [calibrate(300, 0.2, n_tables=500, seed=2, n_threads=t).sizes for t in (1, 2, 3, 7)]
    assert sizes[1:] == sizes[:-1]
    assert calibrate(300, 0.2, n_tables=500, seed=4).sizes != sizes[0]


def test_full_correlation_makes_one_of_many() -> None:
    drawn = draw_null_differences(50, 0.5, n_classifiers=4, classifier_correlation=1.0)
    assert (drawn == drawn[:, :1]).all()
    codes = np.repeat(np.arange(10), 5)
    drawn = draw_null_differences(50, 0.5, clusters=codes, icc=1.0)
    assert (drawn.reshape(10, 5) == drawn.reshape(10, 5)[:, :1]).all()


def test_the_analysis_of_variance_by_hand() -> None:
    # Two clusters of two: B = 2 * 2 * 1.5**2 / 1 = 9, W = (0.5 + 0.5) / 2, n0 = 2.
    assert intra_cluster_correlation([0, 1, 3, 4], ["a", "a", "b", "b"]) == pytest.approx(
        (9 - 0.5) / (9 + 0.5)
    )
    assert intra_cluster_correlation([0, 3, 0, 3], ["a", "a", "b", "b"]) == 0
    assert intra_cluster_correlation([1, 1, 1], ["a", "a", "b"]) == 0
    assert intra_cluster_correlation([1, 0, 1], ["a", "b", "c"]) == 0


def test_every_table_is_told_of() -> None:
    told: list[int] = []
    calibrate(50, 0.5, n_tables=3, progress=told.append)
    assert told == [1, 2, 3]


def test_results_print_and_become_json() -> None:
    result = calibrate(50, 0.5, n_tables=100)
    given = result.to_dict()
    assert [line["test"] for line in given["sizes"]] == [
        "paired",
        "mcnemar_exact",
        "mcnemar_mid",
        "mcnemar_asymptotic",
        "mcnemar_corrected",
    ]
    assert '"keeps_level": true' in result.to_json()
    assert "<table>" in result._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "at least two pairs"),
        ({"discordance": 1.5}, "discordance"),
        ({"icc": 0.3}, "needs clusters"),
        ({"icc": -0.3}, "within clusters"),
        ({"clusters": [1, 2, 3]}, "3 rows, but there are 20"),
        ({"clusters": [1] * 20}, "only one value"),
        ({"n_classifiers": 0}, "n_classifiers"),
        ({"classifier_correlation": 2}, "classifiers"),
        ({"n_tables": 0}, "n_tables"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"alpha": 1}, "alpha"),
        ({"seed": -1}, "seed"),
        ({"tests": ("magic",)}, "there is no test 'magic'"),
        ({"tests": ("clustered",)}, "does not fit"),
    ],
)
def test_impossible_settings_are_explained(arguments: dict[str, object], message: str) -> None:
    given = {"n": 20, "discordance": 0.3, "n_tables": 5, **arguments}
    with pytest.raises(InputError, match=message):
        calibrate(**given)  # type: ignore[arg-type]


def test_the_test_for_independent_pairs_keeps_its_level_on_them() -> None:
    result = calibrate(CLUSTERS.size, 0.1)
    assert all(line.keeps_level for line in result.sizes)
    assert result.size_of("paired").excess > -3


@pytest.mark.slow
def test_the_test_for_clusters_keeps_its_level_on_them() -> None:
    """Clusters of 1 to 6 observations, correlation 0.3."""
    result = calibrate(
        CLUSTERS.size, 0.1, clusters=CLUSTERS, icc=0.3, tests=("paired", "clustered")
    )
    assert result.size_of("clustered").keeps_level
    assert result.size_of("clustered").excess > -3
    assert result.size_of("paired").size > 0.14


@pytest.mark.parametrize("clustered", [False, True])
def test_the_joint_test_keeps_the_level_of_the_family(clustered: bool) -> None:
    """Five classifiers, correlation 0.5; docs/statistics.md has 10,000 larger tables."""
    name = "joint_clustered" if clustered else "joint"
    codes = CLUSTERS[:420]
    result = calibrate(
        codes.size,
        0.3,
        clusters=codes if clustered else None,
        icc=0.3 if clustered else 0.0,
        n_classifiers=5,
        classifier_correlation=0.5,
        tests=("paired", name),
        n_tables=1_500,
        n_resamples=399,
    )
    assert result.size_of(name).keeps_level
    if clustered:
        assert not result.size_of("paired").keeps_level
