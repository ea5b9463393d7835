"""paired_test: which test the data get, SciPy's names, rng, frames, figures, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    ClusteredTestResult,
    EquivalenceResult,
    MatchedSample,
    MeanTestResult,
    PairedCounts,
    PairedTestResult,
    bin_edges,
    count_replicates,
    draw_t_replicates,
    equivalence_test,
    mcnemar_test,
    null_law_of,
    paired_test,
    power,
    robustness,
    tango_interval,
)
from ietest_fast.stats.inputs import seed_of

RNG = np.random.default_rng(1)
A = RNG.random(240) < 0.85
B = A & (RNG.random(240) < 0.93)
CLUSTERS = np.arange(240) // 4
X, Y = A + RNG.normal(0, 0.3, 240), B + RNG.normal(0, 0.3, 240)
COUNTS = PairedCounts.from_outcomes(A, B)
SAMPLE = MatchedSample(original_correct=A, transformed_correct=B)
EVERY: list[Any] = [
    paired_test(A, B),
    paired_test(A, B, method="multinomial", n_resamples=500),
    paired_test(A, B, clusters=CLUSTERS, n_resamples=500),
    paired_test(X, Y, n_resamples=500),
    paired_test(X, Y, clusters=CLUSTERS, n_resamples=500),
]


def test_the_data_choose_the_test() -> None:
    kinds = [type(result) for result in EVERY]
    assert kinds == [
        *[PairedTestResult] * 2,
        ClusteredTestResult,
        *[MeanTestResult] * 2,
    ]
    assert paired_test(COUNTS) == paired_test(SAMPLE) == EVERY[0]
    assert paired_test(A.astype(float), pa.array(B)) == EVERY[0]
    clustered = paired_test(SAMPLE, clusters=CLUSTERS, n_resamples=500)
    assert clustered.to_dict() == EVERY[2].to_dict()  # type: ignore[attr-defined]
    assert isinstance(paired_test(A, B, scores=True, n_resamples=9), MeanTestResult)
    assert isinstance(paired_test(SAMPLE, scores=True, n_resamples=9), MeanTestResult)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((COUNTS,), {}),
        ((COUNTS,), {"scores": True}),
        ((COUNTS,), {"clusters": CLUSTERS}),
        ((COUNTS, B), {}),
        ((SAMPLE,), {}),
        ((SAMPLE,), {"scores": True}),
        ((SAMPLE,), {"clusters": CLUSTERS}),
        ((SAMPLE,), {"clusters": CLUSTERS, "scores": True}),
        ((SAMPLE, B), {"scores": True}),
        ((A, B), {}),
        ((A, B), {"scores": True}),
        ((A * 1.0, B), {"clusters": CLUSTERS}),
        ((X, Y), {}),
        ((X, Y), {"clusters": CLUSTERS}),
        ((A, X), {}),
        ((X, B), {"clusters": CLUSTERS}),
        ((A, X), {"scores": True}),
        ((X,), {"scores": True}),
        ((["a", "b"], ["a", "b"]), {}),
    ],
)
def test_equivalence_takes_for_scores_what_the_test_does(arguments: Any, options: Any) -> None:
    def kind(function: Any) -> str:
        try:
            result = function(*arguments, **options)
        except InputError as error:
            return str(error)
        if isinstance(result, EquivalenceResult):
            return "scores" if result.counts is None else "outcomes"
        return "scores" if isinstance(result, MeanTestResult) else "outcomes"

    assert kind(equivalence_test) == kind(paired_test)


@pytest.mark.parametrize("result", EVERY)
def test_results_have_scipys_names(result: Any) -> None:
    assert (result.statistic, result.pvalue) == (result.t, result.p_value)
    wide, narrow = result.confidence_interval(0.99), result.confidence_interval(0.8)
    assert wide.low < narrow.low < result.delta < narrow.high < wide.high
    assert "<table>" in result._repr_html_()
    frame = result.to_frame()
    assert len(frame) == 1
    assert frame["p_value"][0] == result.p_value
    with pytest.raises(InputError, match="confidence_level"):
        result.confidence_interval(1.0)


def test_intervals_are_those_of_their_sources() -> None:
    assert EVERY[0].confidence_interval(0.9) == tango_interval(COUNTS, confidence_level=0.9)
    theirs = scipy_stats.ttest_rel(X, Y)
    ours, expected = EVERY[3].confidence_interval(0.9), theirs.confidence_interval(0.9)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high))
    for alternative in ("greater", "less"):
        ours = paired_test(X, Y, alternative=alternative, n_resamples=9).confidence_interval()
        expected = scipy_stats.ttest_rel(X, Y, alternative=alternative).confidence_interval()
        assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high))
    for clustered in (EVERY[2], EVERY[4]):
        a, b = (A, B) if clustered is EVERY[2] else (X, Y)
        shown = equivalence_test(a, b, clusters=CLUSTERS, alpha=0.05)
        ours = clustered.confidence_interval(0.9)
        assert (ours.low, ours.high) == pytest.approx((shown.interval.low, shown.interval.high))


@pytest.mark.parametrize("result", EVERY)
def test_results_draw_their_null_law(result: Any) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    axes = result.plot()
    assert axes.get_xlabel() == "t"
    assert result.null_law().mass.sum() > 0.98
    plt.close(axes.figure)


@pytest.mark.parametrize("counts", [PairedCounts(900, 22, 18, 60), PairedCounts(0, 21, 19, 0)])
def test_bins_of_a_discrete_law_show_no_false_dip(counts: PairedCounts) -> None:
    """40 discordant pairs: with 41 equal bins over the range every other one is nearly empty."""
    law = null_law_of(counts)
    middle = law.mass.size // 2
    assert law.mass == pytest.approx(law.mass[::-1], abs=1e-12)
    half = law.mass[middle:]
    assert (np.diff(half[: half.size // 2]) < 0).all()  # a single peak at 0, falling from there
    replicates = draw_t_replicates(counts, n_resamples=200_000)
    found = count_replicates(replicates, bin_edges(counts))
    assert found.mass == pytest.approx(law.mass, abs=0.006)


def test_counts_without_a_discordant_pair_have_a_law_too() -> None:
    assert null_law_of(PairedCounts(9, 0, 0, 1)).mass.tolist() == [1.0]


def test_rng_is_scipys() -> None:
    def p(rng: Any) -> tuple[float, int | None]:
        result = paired_test(COUNTS, method="multinomial", n_resamples=999, rng=rng)
        return result.pvalue, result.seed

    assert p(0) == p(np.int64(0)) == p(np.random.SeedSequence(0))
    assert p(7)[1] == 7
    assert p(np.random.default_rng(3)) == p(np.random.default_rng(3))
    generator = np.random.default_rng(3)
    assert p(generator)[1] != p(generator)[1]
    fresh = p(None)
    assert fresh[1] != p(None)[1]
    assert p(fresh[1]) == fresh
    spawned = np.random.SeedSequence(0).spawn(2)
    assert len({seed_of(child) for child in spawned} | {0}) == 3
    for wrong in (-1, True, 0.5, "1"):
        with pytest.raises(InputError, match="rng must be"):
            seed_of(wrong)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("method", ["exact", "multinomial"])
def test_mcnemar_has_the_sides_of_the_paired_test(alternative: Any, method: Any) -> None:
    counts = PairedCounts(59, 6, 16, 80)
    options: dict[str, Any] = {"alternative": alternative, "method": method}
    if method != "exact":
        options["n_resamples"] = 2_000
    ours, paired = mcnemar_test(counts, **options), paired_test(counts, **options)
    assert ours.p_value == paired.p_value
    assert ours.p_conditional == paired.p_mcnemar_exact
    assert ours.p_paper is None
    more = 6 if alternative == "greater" else 16
    binomial = scipy_stats.binom(22, 0.5)
    assert ours.p_conditional == pytest.approx(binomial.sf(more - 1))
    assert ours.p_mid == pytest.approx(binomial.sf(more) + binomial.pmf(more) / 2)
    assert ours.p_asymptotic == pytest.approx(scipy_stats.norm.sf((2 * more - 22) / 22**0.5))
    with pytest.raises(InputError, match="alternative"):
        mcnemar_test(counts, alternative="both")  # type: ignore[arg-type]


def test_a_p_value_at_its_floor_is_marked() -> None:
    a, b = np.ones(60), np.zeros(60)
    b[:5] = 1
    for options in ({"clusters": np.arange(60)}, {"scores": True}):
        result: Any = paired_test(a, b, n_resamples=99, **options)
        assert result.p_value == result.p_floor == 0.02
        assert "≤ 0.02" in str(result)
    assert "≤" not in str(paired_test(a, b))
    assert "≤" not in str(EVERY[3]) or EVERY[3].p_value == EVERY[3].p_floor


def test_the_verdict_goes_by_the_p_value_that_is_reported() -> None:
    result = EVERY[2]
    shown = equivalence_test(A, B, clusters=CLUSTERS, p_difference=result.pvalue)
    assert shown.p_difference == result.pvalue
    assert f"p = {result.pvalue:.4g}" in shown.explanation
    with pytest.raises(InputError, match="p_difference"):
        equivalence_test(A, B, p_difference=1.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_test(COUNTS, clusters=[1, 2]), "counts"),
        (lambda: paired_test(COUNTS, scores=True), "leave scores out"),
        (lambda: paired_test(X, scores=True), "the second column is missing"),
        (lambda: paired_test(X, clusters=CLUSTERS), "the second column is missing"),
        (lambda: paired_test(SAMPLE, B, clusters=CLUSTERS), "leave the second column out"),
        (lambda: paired_test([2**53 + 1, 0.5], [0.5, 0.5]), "that a float does not round"),
        (lambda: paired_test(X, Y, method="exact"), "scores are resampled"),
        (lambda: paired_test(A, B, clusters=CLUSTERS, method="multinomial"), "exact law or res"),
        (lambda: paired_test(A, B, clusters=CLUSTERS, method="exact", n_resamples=9), "no replic"),
        (lambda: paired_test(A, B, quantiles=[0.5]), "quantiles are of scores"),
        (lambda: paired_test(A, B, keep_replicates=True), "replicates are of scores"),
        (lambda: paired_test(A, X), "must hold 0 or 1"),
        (lambda: paired_test(A, B, method="best"), "method must be one of"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_test(PairedCounts(10**12, 9, 4, 0), method="resample"), "931 GiB"),
        (
            lambda: paired_test(PairedCounts(2**32 - 99, 9, 4, 0), method="resample"),
            "about 12 hours",
        ),
        (lambda: paired_test(COUNTS, method="multinomial", n_resamples=2**62), "1,461 years"),
        (lambda: mcnemar_test(COUNTS, method="multinomial", n_resamples=2**62), "1,461 years"),
        (lambda: paired_test(X, Y, n_resamples=2**62), "would take about"),
        (lambda: paired_test(A, B, clusters=CLUSTERS, n_resamples=2**62), "would take about"),
        (lambda: power(10**8, 0.5, 0.001), "takes minutes"),
    ],
)
def test_what_nobody_could_wait_for_is_refused_with_an_estimate(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_a_single_classifier_has_no_ratio() -> None:
    result = robustness([0.8])
    assert math.isnan(result.every.snr)
    assert "not defined" in str(result)
    assert robustness([0.8, 0.8]).every.snr == math.inf
