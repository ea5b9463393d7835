from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    PairedCounts,
    draw_null_differences,
    draw_null_scores,
    intra_cluster_correlation,
    mcnemar_test,
    power,
    simulate,
)
from ietest_fast.stats.laws.bootstrap import LognormalLaw, StudentLaw
from ietest_fast.stats.laws.null import ObservedTables
from ietest_fast.stats.planning import simulation as module

SIZES = np.resize(np.arange(1, 7), 600)
CLUSTERS = np.repeat(np.arange(600), SIZES)


@pytest.mark.slow
def test_sizes_are_those_that_enumeration_gives() -> None:
    n, psi, s = 800, 0.1, 20_000
    result = simulate(n, psi, n_tables=s)
    line = result.size_of("paired")
    expected = power(n, psi, 0.0)
    assert abs(line.size - expected) < 4 * np.sqrt(expected / s)
    assert result.size_of("mcnemar_exact").size < line.size
    with pytest.raises(InputError, match="no size of 'clustered'; there are paired, mcnemar_exact"):
        result.size_of("clustered")
    low, high = scipy_stats.binomtest(line.n_rejected, s).proportion_ci(method="wilson")
    assert (line.low, line.high) == pytest.approx((low, high), rel=1e-12)
    assert line.excess == pytest.approx((line.size - 0.05) / np.sqrt(0.05 * 0.95 / s))


def test_p_values_are_those_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.stats.contingency_tables")
    for n10, n01 in [(5, 0), (7, 2), (9, 9), (30, 18), (100, 140), (0, 1)]:
        table = [[50, n10], [n01, 20]]
        got = module.p_values_of_counts(70 + n10 + n01, n10, n01)
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
    assert set(module.p_values_of_counts(9, 0, 0).values()) == {1.0}


def test_p_values_are_those_of_the_tests_themselves() -> None:
    for n10, n01 in [(5, 0), (7, 2), (9, 9), (30, 18), (0, 0)]:
        alone = mcnemar_test(PairedCounts(50, n10, n01, 0))
        assert module.p_values_of_counts(50 + n10 + n01, n10, n01) == {
            "paired": alone.p_value,
            "mcnemar_exact": alone.p_conditional,
            "mcnemar_mid": alone.p_mid,
            "mcnemar_asymptotic": alone.p_asymptotic,
            "mcnemar_corrected": alone.p_corrected,
        }


def test_independence_is_missed_where_there_are_clusters() -> None:
    result = simulate(
        CLUSTERS.size, 0.1, clusters=CLUSTERS, icc=0.3, tests=("paired",), n_tables=2_000
    )
    assert result.n_clusters == 600
    assert result.size_of("paired").size > 0.12
    assert not result.size_of("paired").keeps_level
    assert "Do not use on such data: paired, exact." in str(result)


@pytest.mark.slow
def test_bonferroni_holds_the_level_of_a_family() -> None:
    result = simulate(
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
        rng=1,
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
    one = draw_null_differences(CLUSTERS.size, 0.5, rng=3, table=7, **options)  # type: ignore[arg-type]
    again = draw_null_differences(CLUSTERS.size, 0.5, rng=3, table=7, **options)  # type: ignore[arg-type]
    other = draw_null_differences(CLUSTERS.size, 0.5, rng=3, table=8, **options)  # type: ignore[arg-type]
    assert (one == again).all()
    assert (one != other).any()
    sizes = [simulate(300, 0.2, n_tables=500, rng=2, n_threads=t).sizes for t in (1, 2, 3, 7)]
    assert sizes[1:] == sizes[:-1]
    assert simulate(300, 0.2, n_tables=500, rng=4).sizes != sizes[0]


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
    simulate(50, 0.5, n_tables=3, progress=told.append)
    assert told == [1, 2, 3]


def test_results_print_and_become_json() -> None:
    result = simulate(50, 0.5, n_tables=100)
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
        ({"rng": -1}, "rng"),
        ({"tests": ("magic",)}, "there is no test 'magic'"),
        ({"tests": ()}, "tests must be names of tests"),
        ({"scores": True, "df": 5, "skew": 1.0}, "name two laws"),
        ({"tests": ("clustered",)}, "does not fit"),
    ],
)
def test_impossible_settings_are_explained(arguments: dict[str, object], message: str) -> None:
    given = {"n": 20, "discordance": 0.3, "n_tables": 5, **arguments}
    with pytest.raises(InputError, match=message):
        simulate(**given)  # type: ignore[arg-type]


def test_the_test_for_independent_pairs_keeps_its_level_on_them() -> None:
    result = simulate(CLUSTERS.size, 0.1)
    assert all(line.keeps_level for line in result.sizes)
    assert result.size_of("paired").excess > -3


@pytest.mark.slow
def test_the_test_for_clusters_keeps_its_level_on_them() -> None:
    """Clusters of 1 to 6 observations, correlation 0.3."""
    result = simulate(CLUSTERS.size, 0.1, clusters=CLUSTERS, icc=0.3, tests=("paired", "clustered"))
    assert result.size_of("clustered").keeps_level
    assert result.size_of("clustered").excess > -3
    assert result.size_of("paired").size > 0.14


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_the_joint_test_keeps_the_level_of_the_family(clustered: bool) -> None:
    """Five classifiers, correlation 0.5; docs/statistics.md has 10,000 larger tables."""
    name = "joint_clustered" if clustered else "joint"
    codes = CLUSTERS[:420]
    result = simulate(
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


@pytest.mark.parametrize(("psi", "df"), [(1.0, 3.0), (0.4, 3.0), (0.1, 8.0)])
def test_differences_of_scores_are_zeros_and_students(psi: float, df: float) -> None:
    drawn = draw_null_scores(200_000, psi, df=df, rng=1)
    assert drawn.shape == (200_000, 1)
    assert (drawn != 0).mean() == pytest.approx(psi, abs=0.005)
    assert scipy_stats.kstest(drawn[drawn != 0], scipy_stats.t(df).cdf).pvalue > 1e-3
    assert scipy_stats.binomtest(int((drawn > 0).sum()), int((drawn != 0).sum())).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("psi", "df"), [(1.0, 3.0), (0.5, 4.0), (0.1, 3.0), (0.3, 30.0)])
def test_correlation_of_differences_is_the_integral_over_two_normal_variables(
    psi: float, df: float
) -> None:
    """E[d1 d2] = E[E[d | shared part]^2], by two nested sums."""
    law = StudentLaw(psi, df)
    z = np.linspace(-9, 9, 1_501)
    masses = np.exp(-(z**2) / 2)
    masses /= masses.sum()
    for latent in (0.2, 0.6):
        given = [
            float(masses @ law.quantile(np.sqrt(latent) * shared + np.sqrt(1 - latent) * z))
            for shared in z
        ]
        expected = float(masses @ np.square(given)) / (psi * df / (df - 2))
        assert law.correlation(latent) == pytest.approx(expected, rel=2e-3)
    for correlation in (0.0, 0.05, 0.3, 0.9, 1.0):
        assert law.correlation(law.latent(correlation)) == pytest.approx(correlation, abs=1e-9)


def test_scores_have_the_correlations_asked_for() -> None:
    clusters = np.repeat(np.arange(100_000), 3)
    drawn = draw_null_scores(
        clusters.size,
        0.5,
        df=8,
        clusters=clusters,
        icc=0.3,
        n_classifiers=3,
        classifier_correlation=0.5,
        rng=2,
    )
    assert drawn.var() == pytest.approx(0.5 * 8 / 6, rel=0.02)
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(0.5, abs=0.015)
    assert np.corrcoef(drawn[0::3, 2], drawn[1::3, 2])[0, 1] == pytest.approx(0.3, abs=0.02)
    assert intra_cluster_correlation(drawn[:, 0], clusters) == pytest.approx(0.3, abs=0.02)
    alone = draw_null_scores(60_000, 0.5, df=8, clusters=clusters[:60_000], icc=0)
    assert intra_cluster_correlation(alone[:, 0], clusters[:60_000]) < 0.02
    one = draw_null_scores(30, 1.0, clusters=clusters[:30], icc=1.0, n_classifiers=2)
    assert (one.reshape(10, 3, 2) == one.reshape(10, 3, 2)[:, :1]).all()
    assert (one[:, 0] != one[:, 1]).all()
    same = draw_null_scores(30, 1.0, n_classifiers=2, classifier_correlation=1.0)
    assert (same[:, 0] == same[:, 1]).all()
    assert not draw_null_scores(30, 0.0, clusters=clusters[:30], icc=0.5).any()


def test_a_table_of_scores_depends_on_the_seed_and_its_number() -> None:
    options = {"clusters": CLUSTERS, "icc": 0.5}
    one, again, other = (
        draw_null_scores(CLUSTERS.size, 0.5, rng=3, table=table, **options)  # type: ignore[arg-type]
        for table in (7, 7, 8)
    )
    assert (one == again).all()
    assert (one != other).any()
    results = [
        simulate(200, 0.5, scores=True, n_tables=50, n_resamples=99, n_threads=t, rng=2)
        for t in (1, 2, 3, 7)
    ]
    assert {result.to_json() for result in results} == {results[0].to_json()}


SCORES = ["scores", "scores_symmetric", "scores_studentised"]


@pytest.mark.slow
def test_scores_by_pairs_keep_their_level_unless_there_are_clusters() -> None:
    options = {"scores": True, "n_tables": 1_500, "n_resamples": 199}
    alone = simulate(300, 0.5, **options)  # type: ignore[arg-type]
    assert [line.test for line in alone.sizes] == SCORES
    assert alone.size_of("scores").keeps_level
    assert alone.size_of("scores").size > 0.02
    assert "300 pairs of scores, 0.5 different (Student's t, df 3)" in str(alone)
    assert (alone.df, simulate(50, 0.5, n_tables=2).df) == (3.0, None)
    clusters = CLUSTERS[CLUSTERS < 150]
    result = simulate(clusters.size, 0.5, clusters=clusters, icc=0.3, df=5, **options)  # type: ignore[arg-type]
    assert [line.test for line in result.sizes] == [*SCORES, *(f"{s}_clustered" for s in SCORES)]
    assert result.size_of("scores").size > 0.1
    assert result.size_of("scores_clustered").keeps_level
    assert result.size_of("scores_clustered").size > 0.02
    assert result.to_dict()["df"] == 5
    assert "Do not use on such data: paired scores; " in str(result)


@pytest.mark.slow
def test_scores_of_several_classifiers_are_tested_together() -> None:
    several = {"n_classifiers": 3, "classifier_correlation": 0.5}
    options = {"scores": True, "n_tables": 600, "n_resamples": 99}
    result = simulate(100, 0.5, clusters=np.repeat(np.arange(50), 2), **several, **options)  # type: ignore[arg-type]
    assert [line.test for line in result.sizes] == ["joint", "joint_clustered"]
    assert all(line.keeps_level and line.size > 0.02 for line in result.sizes)


@pytest.mark.slow
def test_a_lognormal_law_has_its_moments_and_correlations() -> None:
    law = LognormalLaw(0.4, 0.8)
    z = np.linspace(-9, 9, 20_001)
    masses = np.exp(-(z**2) / 2)
    masses /= masses.sum()
    values = law.quantile(z)
    assert masses @ (values == 0) == pytest.approx(0.6, abs=1e-3)
    assert masses @ values == pytest.approx(0, abs=1e-3)
    assert masses @ values**2 == pytest.approx(law.variance, rel=1e-3)
    assert (np.diff(values) >= 0).all()
    lognormal = scipy_stats.lognorm(0.8)
    expected = np.where(
        z > 0, lognormal.ppf(np.clip((scipy_stats.norm.cdf(z) - 0.6) / 0.4, 0, 1)), 0
    )
    far = (z > 2.5) & (z < 5)
    assert values[far] == pytest.approx(expected[far] - lognormal.mean(), rel=1e-6)
    for latent in (0.3, 0.7):
        given = [
            float(masses @ law.quantile(np.sqrt(latent) * shared + np.sqrt(1 - latent) * z))
            for shared in z[::50]
        ]
        weights = masses[::50] / masses[::50].sum()
        assert law.correlation(latent) == pytest.approx(
            float(weights @ np.square(given)) / law.variance, rel=5e-3
        )
    assert law.correlation(law.latent(0.2)) == pytest.approx(0.2, abs=1e-9)


def test_observed_differences_are_centred_and_drawn_by_whole_clusters() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(30), rng.integers(1, 5, 30))
    observed = np.where(rng.random(codes.size) < 0.5, rng.exponential(size=codes.size), 0.0)
    given = observed.copy()
    tables = ObservedTables(observed, clusters=codes, rng=3)
    assert (observed == given).all()
    centred = np.where(observed != 0, observed - observed[observed != 0].mean(), 0)
    whole = {tuple(centred[codes == c]) for c in range(30)}
    drawn, of = tables.draw(4)
    assert of is not None
    assert of.max() == 29
    assert {tuple(drawn[of == c, 0]) for c in range(30)} <= whole
    assert (tables.draw(4)[0] == drawn).all()
    assert (tables.draw(5)[0].shape, tables.draw(5)[0][:3].tolist()) != (
        drawn.shape,
        drawn[:3].tolist(),
    )
    mean = np.mean([tables.draw(t)[0].mean() for t in range(400)])
    assert abs(mean) < 0.02


@pytest.mark.slow
def test_what_is_simulated_is_as_skewed_as_the_file() -> None:
    """The symmetric law fails on a skewed file, and the sentence says so."""
    rng = np.random.default_rng(0)
    d = np.where(rng.random(1_000) < 0.1, rng.lognormal(size=1_000) - np.exp(0.5), 0.0)
    result = simulate(differences=d, n_tables=3_000, n_resamples=399)
    assert (result.n, result.law, result.icc) == (1_000, "observed", None)
    assert result.discordance == (d != 0).mean()
    assert result.size_of("scores_symmetric").keeps_level is False
    assert result.size_of("scores").size < result.size_of("scores_symmetric").size
    assert result.size_of("scores").n_warned > 0
    assert "Do not use on such data: " in str(result)
    symmetric = simulate(200, 0.5, scores=True, n_tables=400, n_resamples=99)
    assert "These differences are symmetric." in str(symmetric)
    skewed = simulate(200, 0.5, scores=True, skew=1.0, n_tables=1_500, n_resamples=199)
    assert (skewed.law, skewed.df, skewed.skew) == ("lognormal", None, 1.0)
    assert skewed.size_of("scores_symmetric").keeps_level is False
    assert "lognormal about its mean, sigma 1" in str(skewed)


def test_tables_with_a_correlation_within_no_clusters_are_refused() -> None:
    for draw in (simulate, draw_null_differences, draw_null_scores):
        with pytest.raises(InputError, match="a correlation within clusters needs clusters"):
            draw(100, 0.5, icc=0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"df": 2}, "degrees of freedom must be a number of 2.1 or more, not 2"),
        ({"df": float("nan")}, "degrees of freedom"),
        ({"df": float("inf")}, "degrees of freedom"),
        ({"skew": 0}, "skew, the lognormal law's sigma, must be a number above 0 and at most 2"),
        ({"skew": float("nan")}, "skew, the lognormal law's sigma"),
        ({"scores": False, "skew": 1.0}, "skew is of scores: say scores=True"),
        ({"scores": False, "df": 5}, "df is of scores: say scores=True"),
        (
            {"n": None, "discordance": None, "differences": [1.0, 2.0], "df": 5},
            "are those of the differences given",
        ),
        ({"n": None}, "say n and discordance, or give differences"),
        ({"differences": [1.0, 2.0]}, "are those of the differences given: leave them out"),
        ({"tests": ("paired",)}, "'paired' does not fit these tables; those that do are scores"),
        ({"tests": ("scores_clustered",)}, "does not fit these tables; those that do are scores"),
        ({"scores": False, "tests": ("scores",)}, "'scores' does not fit these tables"),
        ({"n_classifiers": 2, "tests": ("scores",)}, "those that do are joint"),
    ],
)
def test_what_does_not_fit_scores_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(**({"n": 20, "discordance": 0.5, "scores": True, "n_tables": 1} | change))  # type: ignore[arg-type]
