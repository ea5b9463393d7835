from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    Interval,
    MatchedSample,
    PairedCounts,
    estimate,
    tango_interval,
    tango_score,
    wilson_interval,
)
from ietest_fast.stats.intervals import tango_scores
from reference import interval_oracle


@given(
    counts=st.builds(PairedCounts, st.integers(1, 400), *[st.integers(0, 400)] * 3),
    delta=st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-1, 1)),
)
def test_the_score_of_many_tables_is_that_of_each(counts: PairedCounts, delta: float) -> None:
    many = tango_scores([counts.n], [counts.n10], [counts.n01], delta)
    assert many[0] == pytest.approx(tango_score(counts, delta), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(-0.12, 0.4), "[-0.1200, 0.4000]"),
        (Interval(1e-5, 2e-5), "[1e-05, 2e-05]"),
        (Interval(9_999_999.0, 10_000_001.0), "[9999999, 10000001]"),
        (Interval(1e9, 3e9), "[1e+09, 3e+09]"),
    ],
)
def test_an_interval_shows_its_ends_apart(interval: Interval, text: str) -> None:
    assert str(interval) == text


@pytest.mark.parametrize(
    ("counts", "level", "expected"),
    [
        # Airway hyper-responsiveness before and after stem cell transplantation (Bentur et al.
        # 2009): Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014), 2850-2875.
        (PairedCounts(1, 1, 7, 12), 0.95, (-0.517, -0.026)),
        # Complete response before and after consolidation therapy (Cavo et al. 2012): the same
        # authors, Statistical Analysis of Contingency Tables (2017), chapter 8.
        (PairedCounts(59, 6, 16, 80), 0.95, (-0.1240, -0.0054)),
        # R's PropCIs, scoreci.mp(25, 28, 618, 0.90), which estimates (c - b) / n.
        (PairedCounts(300, 28, 25, 265), 0.90, (-0.0148, 0.0247)),
    ],
)
def test_published_score_intervals(
    counts: PairedCounts, level: float, expected: tuple[float, float]
) -> None:
    got = tango_interval(counts, confidence_level=level)
    digits = 3 if expected[0] == -0.517 else 4
    assert (round(got.low, digits), round(got.high, digits)) == expected


@given(
    n10=st.integers(0, 40),
    n01=st.integers(0, 40),
    rest=st.integers(0, 200),
    delta=st.floats(-0.95, 0.95),
)
def test_score_statistic_uses_the_restricted_maximum_of_the_likelihood(
    n10: int, n01: int, rest: int, delta: float
) -> None:
    if n10 + n01 + rest == 0 or abs(delta) < 1e-3:
        return
    expected = interval_oracle.tango_score(n10, n01, n10 + n01 + rest, delta)
    got = tango_score(PairedCounts(rest, n10, n01, 0), delta)
    assert got == pytest.approx(expected, rel=2e-5, abs=1e-5)


@pytest.mark.parametrize(
    "counts", [(5, 12, 3, 10), (0, 9, 1, 0), (40, 7, 7, 6), (300, 3, 0, 20), (2, 0, 30, 0)]
)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_score_interval_is_the_inversion_by_a_root_finder(
    counts: tuple[int, int, int, int], level: float
) -> None:
    _, n10, n01, _ = counts
    expected = interval_oracle.tango_interval(n10, n01, sum(counts), level)
    got = tango_interval(PairedCounts(*counts), confidence_level=level)
    assert (got.low, got.high) == pytest.approx(expected, abs=2e-6)


def test_score_at_zero_is_mcnemars_root() -> None:
    counts = PairedCounts(50, 12, 5, 20)
    assert tango_score(counts, 0) == pytest.approx(7 / math.sqrt(17), rel=1e-15)
    assert tango_score(PairedCounts(50, 0, 0, 20), 0) == 0


@pytest.mark.parametrize(
    ("n", "share", "covered"),
    [
        (100, 0.055, 0.927),
        (100, 0.9899, 0.919),
        (8, 0.978, 0.837),
        (300, 0.9995, 0.861),
        (1000, 0.999826, 0.840),
        (2, 0.9073, 0.823),
        (1, 0.794, 0.794),
    ],
)
def test_tangos_interval_covers_what_the_page_says(n: int, share: float, covered: float) -> None:
    """docs/statistics.md: all discordant pairs go one way; every number of them enumerated."""
    total = 0.0
    for k in range(n + 1):
        interval = tango_interval(PairedCounts(n - k, k, 0, 0))
        total += scipy_stats.binom.pmf(k, n, share) * (share in interval)
    print(f"n = {n}, P(+1) = {share}: {total:.1%}")
    assert round(total, 3) == covered


def test_one_end_of_tangos_interval_misses_twice_as_often() -> None:
    """docs/statistics.md: n = 100, P(+1) = 0.055 and P(-1) = 0."""
    low_misses = 0.0
    for k in range(101):
        interval = tango_interval(PairedCounts(100 - k, k, 0, 0))
        low_misses += scipy_stats.binom.pmf(k, 100, 0.055) * (interval.low > 0.055)
    assert round(low_misses, 3) == 0.049


@pytest.mark.parametrize(
    ("n", "delta", "covered"),
    [(4, 0.001, 0.875), (7, 0.285, 0.894), (12, 0.4931, 0.912), (100, 0.9899, 0.909)],
)
def test_tangos_interval_where_all_pairs_differ(n: int, delta: float, covered: float) -> None:
    total = 0.0
    for k in range(n + 1):
        interval = tango_interval(PairedCounts(0, k, n - k, 0))
        total += scipy_stats.binom.pmf(k, n, (1 + delta) / 2) * (delta in interval)
    print(f"n = {n}, all discordant, delta = {delta}: {total:.1%}")
    assert round(total, 3) == covered


@given(
    n10=st.integers(0, 10**6),
    n01=st.integers(0, 10**6),
    rest=st.integers(1, 10**9),
    level=st.floats(0.5, 0.999),
)
def test_score_interval_holds_the_estimate_and_turns_with_the_sign(
    n10: int, n01: int, rest: int, level: float
) -> None:
    counts = PairedCounts(rest, n10, n01, 0)
    got = tango_interval(counts, confidence_level=level)
    assert -1 <= got.low <= counts.delta <= got.high <= 1
    assert got.low < got.high
    mirrored = tango_interval(counts.swapped(), confidence_level=level)
    assert (-mirrored.high, -mirrored.low) == (got.low, got.high)


def test_without_discordant_pairs_the_score_interval_is_wilsons() -> None:
    got = tango_interval(PairedCounts(40, 0, 0, 10))
    z2 = scipy_stats.norm.ppf(0.975) ** 2
    assert got.high == pytest.approx(z2 / (50 + z2), rel=1e-12)
    assert got.low == -got.high


def test_all_pairs_one_way() -> None:
    got = tango_interval(PairedCounts(0, 12, 0, 0))
    assert got.high == 1
    assert 0 < got.low < 1
    assert tango_score(PairedCounts(0, 12, 0, 0), 1) == 0
    assert tango_score(PairedCounts(0, 12, 1, 0), 1) == -math.inf


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 50), (593, 9824)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilsons_interval_is_that_of_statsmodels(k: int, n: int, level: float) -> None:
    low, high = proportion_confint(k, n, alpha=1 - level, method="wilson")
    got = wilson_interval(k, n, confidence_level=level)
    assert (got.low, got.high) == pytest.approx((low, high), abs=1e-14)


def _pairs(n10: int, n01: int, rest: int) -> list[tuple[int, int]]:
    return [(1, 1)] * n10 + [(-1, 1)] * n01 + [(0, 1)] * rest


@pytest.mark.slow
@pytest.mark.parametrize("cells", [(2, 1, 2), (1, 0, 4), (3, 1, 1), (2, 2, 2), (1, 3, 2)])
@pytest.mark.parametrize("level", [0.6, 0.9, 0.99])
def test_bootstrap_intervals_of_tiny_samples_are_those_of_all_resamples(
    cells: tuple[int, int, int], level: float
) -> None:
    n10, n01, rest = cells
    clusters = _pairs(n10, n01, rest)
    law = interval_oracle.bootstrap_law(clusters)
    alpha = 1 - level
    got = estimate(PairedCounts(rest, n10, n01, 0), confidence_level=level)
    expected = interval_oracle.percentile_ends(law, alpha / 2, alpha / 2)
    assert (got.delta_percentile.low, got.delta_percentile.high) == pytest.approx(expected)
    low, high = interval_oracle.bca_levels(law, clusters, alpha)
    expected = interval_oracle.percentile_ends(law, low, 1 - high)
    assert (got.delta_bca.low, got.delta_bca.high) == pytest.approx(expected)


@pytest.mark.parametrize(
    "clusters",
    [
        [(1, 1), (-1, 2), (0, 3), (2, 2)],
        [(1, 2), (0, 1), (1, 1), (-1, 3), (0, 4)],
        [(2, 2), (0, 2), (-1, 2), (1, 2)],
    ],
)
@pytest.mark.parametrize("level", [0.6, 0.9])
def test_cluster_intervals_are_those_of_all_resamples(
    clusters: list[tuple[int, int]], level: float
) -> None:
    a, b, codes = [], [], []
    for code, (total, size) in enumerate(clusters):
        for i in range(size):
            a.append(int(i < total))
            b.append(int(i < -total))
            codes.append(f"premise {code}")
    got = estimate(a, b, clusters=codes, confidence_level=level)
    law = interval_oracle.bootstrap_law(clusters)
    alpha = 1 - level
    assert got.n_clusters == len(clusters)
    assert (got.delta_score, got.discordance_wilson) == (None, None)
    expected = interval_oracle.percentile_ends(law, alpha / 2, alpha / 2)
    assert (got.delta_percentile.low, got.delta_percentile.high) == pytest.approx(expected)
    low, high = interval_oracle.bca_levels(law, clusters, alpha)
    expected = interval_oracle.percentile_ends(law, low, 1 - high)
    assert (got.delta_bca.low, got.delta_bca.high) == pytest.approx(expected)


@pytest.mark.parametrize("n", [5, 37, 400])
def test_the_law_of_sums_is_the_multinomial_one(n: int) -> None:
    """To 1e-12, against the double sum over n10 and n01."""
    from ietest_fast.stats.laws.bootstrap import _law_of_sums

    n10, n01 = n // 5 + 1, n // 7
    totals, law = _law_of_sums(np.array([1, -1, 0]), np.array([n10, n01, n - n10 - n01]))
    tens = np.arange(n + 1)[:, None]
    ones = np.arange(n + 1)[None, :]
    joint = scipy_stats.multinomial.pmf(
        np.stack(np.broadcast_arrays(tens, ones, n - tens - ones), axis=-1),
        n,
        [n10 / n, n01 / n, (n - n10 - n01) / n],
    )
    expected = np.zeros(2 * n + 1)
    np.add.at(expected, np.broadcast_to(tens - ones + n, joint.shape), np.nan_to_num(joint))
    np.testing.assert_allclose(law, expected[totals + n], atol=1e-12)
    assert expected[totals + n].sum() == pytest.approx(1, abs=1e-12)


def test_clusters_of_one_pair_are_pairs() -> None:
    counts = PairedCounts(30, 12, 5, 13)
    d = np.concatenate([counts.differences(), np.zeros(0)])
    a, b = (d > 0).astype(int), (d < 0).astype(int)
    got = estimate(a, b, clusters=np.arange(60))
    expected = estimate(counts)
    assert got.delta_percentile == expected.delta_percentile
    assert got.delta_bca == expected.delta_bca


def test_bca_agrees_with_scipy() -> None:
    """To Monte Carlo error: a few steps of 1 / n, the distance of neighbouring means."""
    for counts in (PairedCounts(60, 25, 6, 9), PairedCounts(900, 40, 3, 57)):
        d = counts.differences().astype(float)
        peer = scipy_stats.bootstrap(
            (d,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(1),
            vectorized=True, batch=2000,
        ).confidence_interval  # fmt: skip
        got = estimate(counts).delta_bca
        assert (got.low, got.high) == pytest.approx((peer.low, peer.high), abs=1.01 / counts.n)


def test_cluster_percentiles_agree_with_a_simulation() -> None:
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(300), rng.integers(1, 7, 300))
    lean = rng.normal(0, 0.1, 300)[codes]
    a = rng.random(codes.size) < 0.8
    b = rng.random(codes.size) < 0.76 + lean
    got = estimate(a, b, clusters=codes)
    sums = np.bincount(codes, weights=a.astype(float) - b)
    sizes = np.bincount(codes)
    draws = rng.integers(0, 300, (40_000, 300))
    deltas = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    expected = np.quantile(deltas, [0.025, 0.975])
    error = 4.5 * deltas.std() * math.sqrt(0.025 * 0.975 / 40_000) / 0.0584
    ends = (got.delta_percentile.low, got.delta_percentile.high)
    assert ends == pytest.approx(expected, abs=error)
    independent = estimate(a, b).delta_percentile
    assert got.delta_percentile.high - got.delta_percentile.low > independent.high - independent.low


def test_no_discordant_pair_leaves_the_bootstrap_without_a_width() -> None:
    got = estimate(PairedCounts(30, 0, 0, 20))
    assert got.delta_percentile == got.delta_bca == Interval(0, 0)
    assert got.delta_score is not None
    assert got.delta_score.high > 0.05
    assert "no width" in str(got)


def test_every_bootstrap_interval_without_a_width_is_told() -> None:
    remark = "nothing about delta"
    one_sided = estimate(PairedCounts(0, 10, 0, 0))
    assert one_sided.delta_percentile == Interval(1, 1)
    assert remark in str(one_sided)
    assert "No pair is discordant" not in str(one_sided)
    # Ten clusters of two pairs that cancel: no sample of clusters has a difference.
    cancelling = estimate([1, 0] * 10, [0, 1] * 10, clusters=np.repeat(np.arange(10), 2))
    assert cancelling.delta_percentile == cancelling.delta_bca == Interval(0, 0)
    assert "The clusters hardly differ" in str(cancelling)
    assert remark in str(cancelling)
    for wide in (
        PairedCounts(0, 9, 1, 0),
        PairedCounts(30, 5, 5, 0),
        PairedCounts(10_000, 9, 1, 5),
    ):
        assert estimate(wide).remarks() == []


def test_coverage_of_the_score_interval() -> None:
    """All tables of n = 60 at a few truths: at least 93% for a nominal 95%."""
    n = 60
    intervals = {}
    for p10, p01 in ((0.10, 0.05), (0.2, 0.2), (0.05, 0.02)):
        covered = 0.0
        for n10 in range(n + 1):
            for n01 in range(n + 1 - n10):
                log_mass = (
                    math.lgamma(n + 1) - math.lgamma(n10 + 1) - math.lgamma(n01 + 1)
                    - math.lgamma(n - n10 - n01 + 1) + n10 * math.log(p10)
                    + n01 * math.log(p01) + (n - n10 - n01) * math.log(1 - p10 - p01)
                )  # fmt: skip
                if log_mass < -16:
                    continue
                if (n10, n01) not in intervals:
                    intervals[n10, n01] = tango_interval(PairedCounts(n - n10 - n01, n10, n01, 0))
                covered += math.exp(log_mass) * (p10 - p01 in intervals[n10, n01])
        assert 0.93 < covered < 0.98


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "p10", "p01"),
    [
        (100, 0.055, 0),
        (200, 0.02, 0),
        (200, 0.05, 0.02),
        (200, 0.1, 0.1),
        (1_000, 0.02, 0.01),
        (1_000, 0.01, 0),
    ],
)
def test_coverage_of_all_intervals(n: int, p10: float, p01: float) -> None:
    """By enumeration: the table of docs/statistics.md."""
    covered = np.zeros(3)
    total = 0.0
    delta = round(p10 - p01, 12)  # 0.05 - 0.02 is more than 0.03 in floating point
    for n10 in range(n + 1):
        first = float(scipy_stats.binom.pmf(n10, n, p10))
        if first < 1e-7:
            continue
        others = np.arange(n + 1 - n10)
        masses = first * scipy_stats.binom.pmf(others, n - n10, p01 / (1 - p10))
        for n01 in others[masses > 1e-6].tolist():
            found = estimate(PairedCounts(n - n10 - n01, n10, n01, 0))
            total += masses[n01]
            for place, own in enumerate(
                (found.delta_score, found.delta_percentile, found.delta_bca)
            ):
                inside = own is not None and own.low - 1e-12 <= delta <= own.high + 1e-12
                covered[place] += masses[n01] * inside
    covered /= total
    shown = ", ".join(
        f"{name} {x:.1%}" for name, x in zip(("Tango", "percentile", "BCa"), covered, strict=True)
    )
    print(f"n {n} P(+1) {p10} P(-1) {p01}: {shown}")
    assert total > 0.999
    assert covered[0] >= (0.92 if n == 100 else 0.93)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((PairedCounts(1, 2, 3, 4),), {"confidence_level": 1.0}, "between 0 and 1"),
        ((PairedCounts(1, 2, 3, 4),), {"clusters": [1, 2]}, "pair by pair"),
        (([1, 0, 1],), {"clusters": [1, 2, 3]}, "two columns"),
        (([1, 0, 1], [1, 0, 0]), {"clusters": [1, 2]}, "clusters has 2 rows"),
        (([1, 0, 1], [1, 0, 0]), {"clusters": [1, None, 2]}, "missing"),
        (([1, 0, 1], [1, 0, 0]), {"clusters": [1, 1, 1]}, "at least two clusters"),
        (([1, 0, 1], [1, 0]), {}, "original has 3"),
        (([1, 0, 0.5], [1, 0, 1]), {}, "0 or 1"),
    ],
)
def test_bad_input_is_refused(
    arguments: tuple[object, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        estimate(*arguments, **options)  # type: ignore[arg-type]


def _annotated(n_clusters: int, largest: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_clusters), rng.integers(1, largest, n_clusters))
    skill = rng.normal(0, 0.02, n_clusters)[codes]
    a = rng.random(codes.size) < 0.9
    b = np.where(rng.random(codes.size) < 0.1 + skill, ~a, a)
    return a, b, codes


def test_clusters_too_wide_for_a_grid_have_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    from ietest_fast.stats.laws import bootstrap as bootstrap_law

    a, b, codes = _annotated(150, 9, 0)
    listed = estimate(a, b, clusters=codes)
    monkeypatch.setattr(bootstrap_law, "MAX_GRID_CELLS", 0)
    wide = estimate(a, b, clusters=codes)
    spread = listed.delta_percentile.high - listed.delta_percentile.low
    for name in ("delta_percentile", "delta_bca"):
        one, other = getattr(listed, name), getattr(wide, name)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=2e-3 * spread)


@pytest.mark.slow
def test_wide_cluster_percentiles_agree_with_a_simulation() -> None:
    """A few annotators of up to 3,000 pairs each."""
    a, b, codes = _annotated(200, 3000, 1)
    got = estimate(a, b, clusters=codes)
    sums = np.bincount(codes, weights=a.astype(float) - b)
    sizes = np.bincount(codes)
    draws = np.random.default_rng(2).integers(0, 200, (40_000, 200))
    deltas = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    expected = np.quantile(deltas, [0.025, 0.975])
    error = 4.5 * deltas.std() * math.sqrt(0.025 * 0.975 / 40_000) / 0.0584
    ends = (got.delta_percentile.low, got.delta_percentile.high)
    assert ends == pytest.approx(expected, abs=error)
    assert got.delta in got.delta_bca


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_few_clusters_of_different_worlds(level: float) -> None:
    clusters = [(-10_000, 40_000), (0, 3), (700, 9_000), (-20, 60_000)]
    a, b, codes = [], [], []
    for code, (total, size) in enumerate(clusters):
        a.append(np.arange(size) < max(total, 0))
        b.append(np.arange(size) < max(-total, 0))
        codes.append(np.full(size, code))
    got = estimate(
        np.concatenate(a), np.concatenate(b), clusters=np.concatenate(codes), confidence_level=level
    )
    law = interval_oracle.bootstrap_law(clusters)
    tail = (1 - level) / 2
    expected = interval_oracle.percentile_ends(law, tail, tail)
    assert (got.delta_percentile.low, got.delta_percentile.high) == pytest.approx(expected)
    low, high = interval_oracle.bca_levels(law, clusters, 1 - level)
    expected = interval_oracle.percentile_ends(law, low, 1 - high)
    assert (got.delta_bca.low, got.delta_bca.high) == pytest.approx(expected)


def test_impossible_proportions_are_refused() -> None:
    with pytest.raises(InputError, match="no proportion"):
        wilson_interval(5, 4)


def test_the_result_tells_everything() -> None:
    sample = MatchedSample(original_correct=[1, 1, 0, 1], transformed_correct=[1, 0, 0, 1])
    result = estimate(sample)
    assert "Tango" in str(result)
    assert result.to_dict()["delta_score"] == [result.delta_score.low, result.delta_score.high]
    assert "<table>" in result._repr_html_()
    assert '"delta_bca"' in result.to_json()
