from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.weightstats import ttost_paired

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    EquivalenceResult,
    MatchedSample,
    PairedCounts,
    Verdict,
    equivalence_test,
    joint_test,
    paired_test,
    pairs_to_decide,
    tango_interval,
    tango_score,
)
from ietest_fast.stats.scores import paired_mean_test
from reference import interval_oracle
from simulations import scaled, slack

TABLES = [
    PairedCounts(8000, 52, 48, 1900),
    PairedCounts(760, 42, 38, 160),
    PairedCounts(7614, 614, 292, 1304),
    PairedCounts(80000, 1200, 1000, 10000),
    PairedCounts(300, 0, 0, 20),
    PairedCounts(100, 0, 0, 20),
    PairedCounts(0, 9, 0, 0),
]


@pytest.mark.parametrize("counts", TABLES)
@pytest.mark.parametrize("margin", [0.005, 0.01, 0.2])
def test_p_values_are_tangos_scores_at_the_margins(counts: PairedCounts, margin: float) -> None:
    result = equivalence_test(counts, margin=margin)
    p_lower = scipy_stats.norm.sf(tango_score(counts, -margin))
    p_upper = scipy_stats.norm.cdf(tango_score(counts, margin))
    if counts.k < 25:  # exact, and never below the normal law: test_few_discordant.py
        assert result.p_lower >= p_lower * (1 - 1e-12)
        assert result.p_upper >= p_upper * (1 - 1e-12)
    else:
        assert (result.p_lower, result.p_upper) == pytest.approx((p_lower, p_upper))
    assert result.p_value == max(result.p_lower, result.p_upper)
    assert result.p_difference == paired_test(counts).p_value
    slow = interval_oracle.tango_score(counts.n10, counts.n01, counts.n, margin)
    assert result.statistic_upper == pytest.approx(slow, rel=1e-4)


@pytest.mark.parametrize("counts", TABLES)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_equivalent_means_that_the_interval_lies_inside_the_margins(
    counts: PairedCounts, alpha: float
) -> None:
    for margin in (0.002, 0.01, 0.03, 0.5):
        result = equivalence_test(counts, margin=margin, alpha=alpha)
        interval = tango_interval(counts, confidence_level=1 - 2 * alpha)
        assert (result.interval.low, result.interval.high) == pytest.approx(
            (interval.low, interval.high), rel=1e-12, abs=1e-15
        )
        assert result.equivalent == (-margin < interval.low and interval.high < margin)


@pytest.mark.parametrize(
    ("counts", "verdict", "words"),
    [
        (TABLES[0], Verdict.EQUIVALENT, "Equivalent within 0.01"),
        (TABLES[1], Verdict.UNDECIDED, "pairs like these would decide"),
        (TABLES[2], Verdict.DIFFERS, "beyond the margin"),
        (TABLES[3], Verdict.EQUIVALENT, "but a smaller one"),
    ],
)
def test_verdicts(counts: PairedCounts, verdict: Verdict, words: str) -> None:
    result = equivalence_test(counts)
    assert result.verdict is verdict
    assert words in result.explanation
    assert words in str(result)
    assert result.to_dict()["verdict"] == str(verdict)


def test_a_difference_below_the_margin_is_both() -> None:
    result = equivalence_test(TABLES[3])
    assert result.differs
    assert result.equivalent
    assert result.verdict is Verdict.EQUIVALENT


def test_undecided_says_what_n_would_decide() -> None:
    result = equivalence_test(TABLES[1])
    assert result.n_to_decide == pairs_to_decide(TABLES[1], margin=0.01, alpha=0.05, power=0.8)
    assert equivalence_test(TABLES[0]).n_to_decide is None


@pytest.mark.parametrize("side", [1, -1])
def test_size_on_the_border_of_the_margin(side: int) -> None:
    """All tables of n = 150 with delta = margin: close to alpha, as the score test is."""
    n, margin, rarer = 150, 0.1, 0.05
    p10, p01 = (rarer + margin, rarer) if side == 1 else (rarer, rarer + margin)
    rejected = 0.0
    for n10 in range(n + 1):
        first = scipy_stats.binom.pmf(n10, n, p10)
        others = np.arange(n + 1 - n10)
        masses = first * scipy_stats.binom.pmf(others, n - n10, p01 / (1 - p10))
        for n01, mass in zip(others.tolist(), masses, strict=True):
            if mass > 1e-9:
                counts = PairedCounts(n - n10 - n01, n10, n01, 0)
                z = (tango_score(counts, -margin), tango_score(counts, margin))
                rejected += mass * (z[0] > 1.6448536 and z[1] < -1.6448536)
    assert 0.03 < rejected < 0.062


def _scores(n: int, shift: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = rng.random(n)
    return a, a - shift + rng.normal(0, 0.1, n)


@pytest.mark.parametrize(("shift", "margin"), [(0.0, 0.01), (0.004, 0.02), (0.3, 0.1)])
def test_scores_are_tested_as_statsmodels_does(shift: float, margin: float) -> None:
    a, b = _scores(300, shift, 1)
    result = equivalence_test(a, b, margin=margin)
    p, (t_lower, p_lower, df), (t_upper, p_upper, _) = ttost_paired(a, b, -margin, margin)
    assert df == 299
    assert result.statistic_lower == pytest.approx(t_lower, rel=1e-10)
    assert result.statistic_upper == pytest.approx(t_upper, rel=1e-10)
    got = (result.p_lower, result.p_upper, result.p_value)
    assert got == pytest.approx((p_lower, p_upper, p), rel=1e-9)
    peer = scipy_stats.ttest_rel(a, b)
    assert result.p_difference == pytest.approx(peer.pvalue, rel=1e-9)
    interval = peer.confidence_interval(0.9)
    ends = (result.interval.low, result.interval.high)
    assert ends == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert result.counts is None


def test_scores_that_are_undecided_say_what_n_would_decide() -> None:
    """With that n and these shares the verdict comes in four of five samples."""
    a, b = _scores(40, 0.0, 2)
    result = equivalence_test(a, b, margin=0.01)
    assert result.verdict is Verdict.UNDECIDED
    n = result.n_to_decide
    assert n is not None
    spread = result.standard_error * math.sqrt(40)
    rng = np.random.default_rng(5)
    decided = 0
    for _ in range(400):
        d = rng.normal(result.delta, spread, n)
        decided += equivalence_test(d, np.zeros(n), margin=0.01).verdict is not Verdict.UNDECIDED
    assert 0.72 < decided / 400 < 0.9


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [(0.25, Verdict.DIFFERS), (0.0, Verdict.EQUIVALENT), (0.0625, Verdict.DIFFERS)],
)
def test_constant_differences_have_no_variance_but_a_verdict(
    shift: float, verdict: Verdict
) -> None:
    a = np.arange(32) / 32
    result = equivalence_test(a, a - shift, margin=0.125, scores=True)
    assert result.verdict is verdict
    assert (result.p_difference == 1) == (shift == 0)
    assert not any(math.isnan(x) for x in (result.p_lower, result.p_upper, result.statistic_lower))


@pytest.mark.parametrize("unit", [5e-324 * 2**30, 1e-300, 1e-160, 1e160, 1e288])
@pytest.mark.parametrize("by_clusters", [False, True])
def test_the_unit_of_the_scores_and_the_margin_does_not_matter(
    unit: float, by_clusters: bool
) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2**20, size=60) / 2**20
    b = a + rng.integers(-(2**18), 2**18, size=60) / 2**20
    clusters = np.arange(60) // 3 if by_clusters else None
    # A power of 2 scales without a rounding, even where numbers have few digits left.
    unit = 2.0 ** round(math.log2(unit))
    seen = set()
    for margin in (0.01, 0.03, 0.5):
        plain = equivalence_test(a, b, clusters=clusters, margin=margin)
        scaled = equivalence_test(a * unit, b * unit, clusters=clusters, margin=margin * unit)
        for name in ("statistic_lower", "statistic_upper", "p_value", "p_difference"):
            assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-5)
        assert scaled.design_effect == plain.design_effect
        assert scaled.delta / unit == pytest.approx(plain.delta, abs=2**-30)
        assert scaled.standard_error / unit == pytest.approx(plain.standard_error, abs=2**-30)
        assert scaled.interval.high / unit == pytest.approx(plain.interval.high, abs=2**-30)
        assert scaled.verdict == plain.verdict
        if plain.n_to_decide is None:
            assert scaled.n_to_decide is None
        else:
            assert scaled.n_to_decide == pytest.approx(plain.n_to_decide, rel=1e-3)
        seen.add(plain.verdict)
    assert seen == {Verdict.UNDECIDED, Verdict.EQUIVALENT}


@pytest.mark.parametrize(("unit", "shown"), [(1e-30, "+2.5e-31"), (1e280, "+2.5e+279")])
def test_scores_of_any_size_are_printed_in_a_few_digits(unit: float, shown: str) -> None:
    printed = str(equivalence_test([0.5 * unit, unit], [0.5 * unit, 0.5 * unit], margin=unit))
    assert f"delta                    {shown}\n" in printed
    assert max(len(line) for line in printed.splitlines()) < 250


def test_scores_far_below_the_margin_are_equivalent() -> None:
    a, b = np.random.default_rng(5).random((2, 40)) * 1e-310
    result = equivalence_test(a, b, margin=1e300, clusters=np.arange(40) // 2)
    assert (result.verdict, result.statistic_lower) == (Verdict.EQUIVALENT, math.inf)


@pytest.mark.parametrize("clusters", [None, np.arange(1000) // 4])
@pytest.mark.parametrize("size", [1, 1e4])
def test_a_difference_that_rounding_alone_makes_vary_is_constant(
    clusters: np.ndarray | None, size: float
) -> None:
    a = size * np.random.default_rng(0).random(1000)
    b = a + 0.1
    assert np.ptp(a - b) > 0
    result = equivalence_test(a, b, clusters=clusters, margin=0.1)
    assert (result.statistic_lower, result.statistic_upper) == (0, -math.inf)
    assert result.p_value == 1
    assert (result.p_difference, result.standard_error) == pytest.approx((0, 0), abs=1e-60)
    assert result.verdict is Verdict.DIFFERS
    assert result.design_effect == (None if clusters is None else 4)
    wider = equivalence_test(a, b, clusters=clusters, margin=0.11)
    assert wider.statistic_lower == math.inf
    # A share of 0.01 that lose 1 more would make 0.11, and could be missing by chance.
    assert wider.p_value == pytest.approx(0.99 ** (1000 if clusters is None else 250))
    assert wider.warning is not None
    assert paired_mean_test(a, b, clusters=clusters, n_resamples=9).t == -math.inf
    joint = joint_test(np.transpose([a, b]), np.transpose([b, a]), clusters=clusters, n_resamples=9)
    assert joint.t == (-math.inf, math.inf)


def test_a_constant_difference_on_the_border_of_the_margin_shows_no_equivalence() -> None:
    a = np.arange(8) / 8
    result = equivalence_test(a, a - 0.125, margin=0.125)
    assert result.p_value == 1
    assert result.verdict is Verdict.DIFFERS


def _clustered(rng: np.random.Generator, n_clusters: int, p10: float, p01: float) -> tuple:  # type: ignore[type-arg]
    """Clusters of 1 to 6 pairs; with intra-cluster correlation 0.3 a pair copies its cluster."""
    codes = np.repeat(np.arange(n_clusters), rng.integers(1, 7, n_clusters))

    def draw(k: int) -> np.ndarray:
        u = rng.random(k)
        return np.where(u < p10, 1, np.where(u < p10 + p01, -1, 0))

    copies = rng.random(codes.size) < math.sqrt(0.3)
    d = np.where(copies, draw(n_clusters)[codes], draw(codes.size))
    return (d > 0).astype(int), (d < 0).astype(int), codes


@pytest.mark.slow
@pytest.mark.parametrize("scores", [False, True])
def test_clusters_keep_the_level_that_single_pairs_do_not(scores: bool) -> None:
    """At delta = margin and at delta = 0, 800 tables each, nominal 5%."""
    rng = np.random.default_rng(6)
    n_tables = 800
    on_margin = on_zero = naive = 0
    options: Any = {"margin": 0.05, "scores": scores, "n_resamples": 1_999}
    for _ in range(n_tables):
        a, b, codes = _clustered(rng, 200, 0.08, 0.03)
        on_margin += equivalence_test(a, b, clusters=codes, **options).p_upper < 0.05
        naive += equivalence_test(a, b, **options).p_upper < 0.05
        a, b, codes = _clustered(rng, 200, 0.055, 0.055)
        on_zero += equivalence_test(a, b, clusters=codes, **options).differs
    error = 3 * math.sqrt(0.05 * 0.95 / n_tables)
    assert abs(on_margin / n_tables - 0.05) < error
    assert on_zero / n_tables < 0.05 + error
    assert naive / n_tables > 0.09


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [60, 300, 600])
def test_sizes_by_clusters(n_clusters: int) -> None:
    """The table of docs/statistics.md, "Clusters"; ``-s`` prints its column."""
    rng = np.random.default_rng(16)
    n_tables = scaled(3_000)
    found = np.zeros(4)
    for _ in range(n_tables):
        a, b, codes = _clustered(rng, n_clusters, 0.08, 0.03)
        found[0] += equivalence_test(a, b, clusters=codes, margin=0.05).p_upper < 0.05
        found[1] += equivalence_test(a, b, margin=0.05).p_upper < 0.05
        a, b, codes = _clustered(rng, n_clusters, 0.055, 0.055)
        found[2] += equivalence_test(a, b, clusters=codes, margin=0.05).differs
        found[3] += equivalence_test(a, b, margin=0.05).differs
    sizes = found / n_tables
    print(f"{n_clusters} clusters:", ", ".join(f"{size:.1%}" for size in sizes))
    assert sizes[[0, 2]].max() < 0.06 + slack(n_tables)
    assert sizes[[1, 3]].min() > 0.08


def test_equal_scores_of_one_large_cluster_show_little() -> None:
    """299 texts beside a cluster of 10,000, which may be all that ever changes."""
    scores = np.zeros(10_299)
    clusters = np.concatenate([np.zeros(10_000, np.int64), np.arange(1, 300)])
    result = equivalence_test(scores, scores, clusters=clusters, scores=True)
    assert result.p_value == pytest.approx(0.99**1.0299)
    equal = equivalence_test(scores[:300], scores[:300], clusters=np.arange(300) // 3, scores=True)
    assert equal.p_value == pytest.approx(0.99**100)


@pytest.mark.parametrize(
    ("n", "per", "alpha", "margin"),
    [(100, 1, 0.01, 0.01), (400, 10, 0.01, 0.01), (3, 1, 0.05, 0.3), (4, 2, 0.05, 0.3)],
)
def test_as_many_pairs_without_a_difference_as_planned_decide(
    n: int, per: int, alpha: float, margin: float
) -> None:
    def test(n: int) -> EquivalenceResult:
        ones = np.ones(n, dtype=bool)
        clusters = np.arange(n) // per
        return equivalence_test(ones, ones, clusters=clusters, alpha=alpha, margin=margin)

    planned = test(n).n_to_decide
    assert planned is not None
    enough = -(-planned // per) * per
    assert test(enough).equivalent
    assert not test(enough - per).equivalent


def test_the_design_effect_is_the_variance_over_clusters_against_that_over_pairs() -> None:
    rng = np.random.default_rng(1)
    a, b, codes = _clustered(rng, 300, 0.1, 0.05)
    result = equivalence_test(a, b, clusters=codes, margin=0.05)
    d = a - b
    sums = np.array([(d[codes == c] - d.mean()).sum() for c in range(300)])
    error = math.sqrt(300 / 299 * (sums**2).sum()) / d.size
    # The variance of outcomes has the divisor n, that of a design effect n - 1.
    error *= math.sqrt((d.size - 1) / d.size)
    assert result.n_clusters == 300
    assert result.design_effect is not None
    assert result.standard_error == pytest.approx(error, rel=1e-12)
    assert result.statistic_upper == pytest.approx(
        tango_score(result.counts, 0.05) / math.sqrt(result.design_effect),  # type: ignore[arg-type]
        rel=1e-14,
    )
    half = scipy_stats.t.ppf(0.95, 299)
    low = tango_score(result.counts, result.interval.low) / math.sqrt(result.design_effect)  # type: ignore[arg-type]
    assert low == pytest.approx(half, rel=1e-9)
    assert "design effect" in str(result)


def test_pairs_that_are_clusters_of_their_own_are_independent() -> None:
    """The design effect is 1: Tango's statistics as they are, and Student's test as it is."""
    rng = np.random.default_rng(1)
    a, b, _ = _clustered(rng, 40, 0.1, 0.05)
    for scores in (False, True):
        options = {"margin": 0.05, "scores": scores}
        one = equivalence_test(a, b, **options)  # type: ignore[arg-type]
        other = equivalence_test(a, b, clusters=np.arange(a.size), **options)  # type: ignore[arg-type]
        assert other.design_effect == pytest.approx(1, rel=1e-12)
        assert other.statistic_upper == pytest.approx(one.statistic_upper, rel=1e-12)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-12)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-10)
    assert other.interval.high == pytest.approx(one.interval.high, rel=1e-10)


def test_pairs_without_a_difference_count_by_their_clusters() -> None:
    """400 pairs alone show equivalence within 0.01; in 40 clusters of ten they may be 40."""
    ones, codes = np.ones(400, int), np.repeat(np.arange(40), 10)
    assert equivalence_test(ones, ones).verdict is Verdict.EQUIVALENT
    result = equivalence_test(ones, ones, clusters=codes)
    assert result.design_effect == 10
    assert result.verdict is Verdict.UNDECIDED


def test_undecided_clusters_need_more_pairs() -> None:
    rng = np.random.default_rng(4)
    a, b, codes = _clustered(rng, 300, 0.07, 0.055)
    one, other = (equivalence_test(a, b, clusters=c, margin=0.002) for c in (None, codes))
    assert one.n_to_decide is not None
    assert other.design_effect is not None
    # With so many clusters Student's law is nearly normal.
    assert other.n_to_decide == pytest.approx(one.n_to_decide * other.design_effect, rel=0.02)


def test_clusters_that_are_undecided_say_what_n_would_decide() -> None:
    """With so many clusters like these, eight of them here, four of five samples decide."""
    d = np.repeat([0.3, 0.25, -0.2, 0.1, 0.35, -0.05, 0.25, 0.0], 5)
    codes = np.repeat(np.arange(8), 5)
    result = equivalence_test(d, np.zeros(40), clusters=codes, margin=0.02)
    assert result.verdict is Verdict.UNDECIDED
    n = result.n_to_decide
    assert n is not None
    n_clusters = round(n / 5)
    assert 8 < n_clusters < 40
    rng = np.random.default_rng(7)
    spread = result.standard_error * math.sqrt(8)
    decided = 0
    for _ in range(400):
        drawn = np.repeat(rng.normal(result.delta, spread, n_clusters), 5)
        again = equivalence_test(
            drawn, np.zeros(drawn.size), clusters=np.repeat(np.arange(n_clusters), 5), margin=0.02
        )
        decided += again.verdict is not Verdict.UNDECIDED
    assert 0.72 < decided / 400 < 0.9


def test_alike_pairs_in_clusters_say_exactly_what_n_would_decide() -> None:
    """Without a difference nothing is random: n decides, and one cluster less does not."""
    codes = np.repeat(np.arange(40), 10)
    planned = equivalence_test(np.ones(400), np.ones(400), clusters=codes).n_to_decide
    assert planned is not None
    n_clusters = math.ceil(planned / 10)
    assert n_clusters >= 299  # as single pairs would need
    for count, verdict in ((n_clusters, Verdict.EQUIVALENT), (n_clusters - 1, Verdict.UNDECIDED)):
        ones = np.ones(10 * count)
        result = equivalence_test(ones, ones, clusters=np.repeat(np.arange(count), 10))
        assert result.verdict is verdict


@pytest.mark.parametrize(
    "columns",
    [([3, 2.1], [0, 0]), ([3, 2.1, 0.4], [0, 0, 0]), ([0.5, 0.1, 0.3, -0.02], [0, 0, 0, 0])],
)
def test_more_pairs_are_asked_for_than_there_are(columns: tuple[list[float], list[float]]) -> None:
    result = equivalence_test(*columns)
    assert result.verdict is Verdict.UNDECIDED
    assert result.n_to_decide is not None
    assert result.n_to_decide > result.n
    assert f"Some {result.n_to_decide} pairs" in result.explanation


def test_a_plan_that_the_sample_itself_refutes_is_not_given() -> None:
    """A billion pairs that are undecided are not told that a million would have decided."""
    a, b = _scores(40, 0.0, 2)
    result = equivalence_test(a, b, margin=0.01)
    per_pair = result.standard_error * math.sqrt(40)
    refuted = dataclasses.replace(result, n=10**9, standard_error=per_pair / math.sqrt(10**9))
    assert refuted.verdict is Verdict.UNDECIDED
    assert refuted.n_to_decide is None
    assert "cannot be said" in refuted.explanation


def test_outcomes_and_scores_are_told_apart_by_value() -> None:
    a, b = [1, 1, 0, 1], [1, 0, 0, 1]
    assert equivalence_test(a, b).counts == PairedCounts(2, 1, 0, 1)
    assert equivalence_test(pd.Series(a), pd.Series(b)).counts == PairedCounts(2, 1, 0, 1)
    assert equivalence_test(a, b, scores=True).counts is None
    assert equivalence_test([1, 1, 0, 0.5], b).counts is None
    sample = MatchedSample(original_correct=np.array(a), transformed_correct=np.array(b))
    assert equivalence_test(sample) == equivalence_test(a, b)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((TABLES[0],), {"margin": 0}, "margin must be a positive number"),
        ((TABLES[0],), {"margin": math.nan}, "margin must be a positive number"),
        (([0.1, 0.2], [0.1, 0.4]), {"margin": 10**400}, "margin must be a positive number"),
        ((TABLES[0],), {"margin": 1}, "lies below 1"),
        ((TABLES[0],), {"clusters": [1, 2]}, "pair by pair"),
        (([0.1, 0.2, 0.3], [0.1, 0.2, 0.4]), {"clusters": [1, 1, 1]}, "at least two clusters"),
        ((TABLES[0],), {"alpha": 0.5}, "alpha must lie between 0 and 0.5"),
        (([0.1, 0.2, 0.3],), {}, "two columns"),
        (([0.1, 0.2, 0.3], [0.1, 0.2]), {}, "original has 3, transformed has 2"),
        (([0.1, math.nan], [0.1, 0.2]), {}, "row 1: original has 1 missing"),
        (([0.1, math.inf], [0.1, 0.2]), {}, "row 1: original must hold finite"),
        ((["a", "b"], [0.1, 0.2]), {}, "must hold numbers"),
    ],
)
def test_bad_input_is_refused(
    arguments: tuple[object, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        equivalence_test(*arguments, **options)  # type: ignore[arg-type]


def test_the_result_tells_everything() -> None:
    result = equivalence_test(TABLES[3])
    assert "<table>" in result._repr_html_()
    assert '"equivalent": true' in result.to_json()


def test_two_equal_pairs_of_scores_show_nothing() -> None:
    result = equivalence_test([0.1, 0.2], [0.1, 0.2])
    assert result.p_value == pytest.approx(0.99**2)
    assert result.verdict is Verdict.UNDECIDED


def test_few_discordant_clusters_are_tested_exactly() -> None:
    right = np.ones(300, dtype=bool)
    for lost in (0, 1, 3):
        after = np.arange(300) >= lost
        alone = equivalence_test(right, after, margin=0.03)
        ones = equivalence_test(right, after, margin=0.03, clusters=np.arange(300))
        assert ones.p_value == pytest.approx(alone.p_value, rel=0.02)
        assert ones.p_value >= alone.p_value
        # As if there were 100 pairs; what is lost is rounded upwards.
        threes = equivalence_test(right, after, margin=0.03, clusters=np.arange(300) // 3)
        fewer = equivalence_test(right[:100], np.arange(100) >= min(lost, 1), margin=0.03)
        assert threes.p_value >= fewer.p_value * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_clusters", "size", "correlation", "margin"),
    [(300, 3, 0.3, 0.01), (200, 5, 0.5, 0.01), (150, 10, 0.5, 0.02), (1_000, 3, 0.3, 0.03)],
)
def test_few_discordant_clusters_keep_the_level(
    n_clusters: int, size: int, correlation: float, margin: float
) -> None:
    rng = np.random.default_rng(9)
    n_tables = scaled(2_000)
    shape = np.array([margin, 1 - margin]) * (1 - correlation) / correlation
    clusters = np.repeat(np.arange(n_clusters), size)
    right = np.ones(clusters.size, dtype=bool)
    equivalent = 0
    for _ in range(n_tables):
        own = rng.beta(*shape, size=n_clusters)
        after = rng.random(clusters.size) >= own[clusters]
        equivalent += equivalence_test(right, after, clusters=clusters, margin=margin).equivalent
    assert equivalent / n_tables <= 0.06 + slack(n_tables)
