from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats import combine, equivalence_test, joint_test, paired_test
from ietest_fast.stats.intervals import Differences
from ietest_fast.stats.scores import paired_mean_test
from ietest_fast.stats.studentised import TOO_SKEWED, StudentisedUnits

THREADS = (1, 2, 3, 7)


def _skewed(n: int, share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Losses of two versions that differ in some texts, skewedly and not on average."""
    rng = np.random.default_rng(seed)
    base = rng.gamma(2, size=n)
    changed = rng.random(n) < share
    return base + np.where(changed, rng.exponential(size=n) - 1, 0), base


def _units_of(d: np.ndarray, codes: np.ndarray | None = None) -> StudentisedUnits:
    n_clusters = None if codes is None else int(codes.max()) + 1
    return StudentisedUnits.of(Differences.of(d), codes, n_clusters)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("clustered", [False, True])
def test_no_result_depends_on_the_number_of_threads(share: float, clustered: bool) -> None:
    a, b = _skewed(600, share)
    clusters = np.random.default_rng(1).integers(0, 200, 600) if clustered else None
    results = [
        paired_test(
            a, b, clusters=clusters, null="studentised", n_resamples=3_000, rng=5, n_threads=t,
            quantiles=[0.025, 0.5], keep_replicates=True,
        )
        for t in THREADS
    ]  # fmt: skip
    for result in results:
        assert result.to_dict() == results[0].to_dict()
        assert (result.replicates == results[0].replicates).all()  # type: ignore[attr-defined]
    shown = [
        equivalence_test(a, b, clusters=clusters, margin=0.2, null="studentised", n_threads=t)
        for t in THREADS
    ]
    assert all(other == shown[0] for other in shown)


def test_replicates_are_those_of_a_bootstrap_written_out() -> None:
    """By numpy: the mean and the quantiles of t* for pairs, some of them without a difference."""
    a, b = _skewed(80, 0.5)
    d = a - b
    result = paired_mean_test(
        a, b, null="studentised", n_resamples=200_000, quantiles=(0.025, 0.2, 0.5, 0.8, 0.975)
    )
    rng = np.random.default_rng(3)
    null = np.where(d != 0, d - d[d != 0].mean(), 0)
    drawn = null[rng.integers(0, d.size, (50_000, d.size))]
    t = math.sqrt(d.size) * drawn.mean(axis=1) / drawn.std(axis=1)
    assert result.t == pytest.approx(math.sqrt(d.size) * d.mean() / d.std())
    assert result.replicate_mean == pytest.approx(t.mean(), abs=0.025)
    assert result.replicate_deviation == pytest.approx(t.std(), rel=0.02)
    for level, value in result.quantiles.items():
        assert (
            abs((t <= value).mean() - level) < 4 * math.sqrt(level * (1 - level) / t.size) + 0.002
        )
    two_sided = 2 * min((t <= result.t).mean(), (t >= result.t).mean())
    assert result.p_value == pytest.approx(two_sided, abs=0.02)
    assert (
        result.p_symmetric
        == paired_mean_test(a, b, n_resamples=200_000, null="symmetric").p_symmetric
    )


def test_clusters_of_different_sizes_are_studentised_as_a_ratio() -> None:
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 9, 40)
    codes = np.repeat(np.arange(40), sizes)
    d = rng.exponential(size=40)[codes] + rng.normal(0, 0.3, codes.size)
    result = paired_mean_test(
        d, np.zeros(d.size), clusters=codes, null="studentised", n_resamples=100_000
    )
    sums = np.bincount(codes, weights=d - d.mean())
    assert result.t == pytest.approx(d.sum() / math.sqrt(np.square(sums).sum()))
    rows = rng.integers(0, 40, (20_000, 40))
    total, size = sums[rows].sum(axis=1), sizes[rows].sum(axis=1)
    residuals = sums[rows] - (total / size)[:, None] * sizes[rows]
    t = total / np.sqrt(np.square(residuals).sum(axis=1))
    assert result.replicate_mean == pytest.approx(t.mean(), abs=0.05)
    error = math.sqrt(np.square(sums).sum()) / d.size
    low, high = d.mean() - np.quantile(t, [0.975, 0.025]) * error
    interval = result.confidence_interval()
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.04)


def test_clusters_of_one_pair_are_pairs() -> None:
    a, b = _skewed(200, 0.5)
    alone = paired_mean_test(a, b, null="studentised", n_resamples=999)
    each = paired_mean_test(
        a, b, clusters=np.arange(200)[::-1], null="studentised", n_resamples=999
    )
    assert each.p_value == pytest.approx(alone.p_value, abs=0.02)
    assert each.t == pytest.approx(alone.t)
    same = paired_mean_test(a, b, clusters=np.arange(200), null="studentised", n_resamples=999)
    assert same.p_value == alone.p_value
    assert same.confidence_interval() == alone.confidence_interval()


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_interval_ends_where_the_test_begins_to_reject(share: float, alternative: Any) -> None:
    a, b = _skewed(150, share, seed=4)
    s, alpha = 1_999, 0.05
    result = paired_mean_test(a, b, null="studentised", alternative=alternative, n_resamples=s)
    interval = result.confidence_interval(1 - alpha)
    units = result.units
    for end, inside in ((interval.low, 1), (interval.high, -1)):
        if math.isinf(end):
            assert alternative == ("less" if inside == 1 else "greater")
            continue
        for step, rejected in ((1e-6 * inside, False), (-1e-6 * inside, True)):
            delta = math.ldexp(end + step, -units.exponent)
            (tails,), _ = units.count_tails([delta], n_resamples=s, seed=0)
            p = (tails[1 if inside == 1 else 0] + 1) / (s + 1)
            assert (p < alpha / (2 if alternative == "two-sided" else 1)) is rejected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "codes"),
    [
        ([0, 2, 3], None),  # p rises again further out
        ([0, 2, 3, 0, 1.5], None),
        ([0, 0, 0, 1, 5, 2], None),
        ([0, 0, 4, 1, 0, -1, 2, 0, 7], [0, 0, 0, 1, 1, 2, 2, 3, 4]),
        ([0, 1, 2, 3, 0, 0, -1, 5], [0, 0, 1, 1, 2, 2, 3, 3]),
    ],
)
def test_the_interval_reaches_from_the_first_to_the_last_mean_that_is_kept(
    d: list[float], codes: list[int] | None
) -> None:
    s = 1_999
    values = np.array(d, float)
    result = paired_mean_test(
        values, np.zeros(values.size), clusters=codes, null="studentised", n_resamples=s
    )
    interval = result.confidence_interval(0.9)
    units = result.units
    step = 0.01
    means = np.arange(-30, 30, step)
    tails, _ = units.count_tails(
        [math.ldexp(mean, -units.exponent) for mean in means], n_resamples=s, seed=result.seed
    )
    kept = means[np.array([min(tail) + 1 >= 0.05 * (s + 1) - 1e-9 for tail in tails])]
    for end, last in ((interval.low, kept[0]), (interval.high, kept[-1])):
        if abs(last) < 29:
            assert 0 <= (end - last) * math.copysign(1, last - result.delta) <= step
        else:
            assert abs(end) > 29


def test_equivalence_needs_every_mean_beyond_the_margin_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = _skewed(400, 0.5, seed=1)
    options: dict[str, Any] = {"margin": 0.5, "null": "studentised", "n_resamples": 999}
    assert equivalence_test(a, b, **options).equivalent
    # Of all samples that were tried, none keeps a mean beyond a margin that is rejected.
    for kept, side in (((-0.6, 0.1), "p_lower"), ((-0.1, 0.6), "p_upper")):
        monkeypatch.setattr(StudentisedUnits, "interval", lambda *_, kept=kept, **__: kept)
        result = equivalence_test(a, b, **options)
        assert not result.equivalent
        assert getattr(result, side) == result.p_value == result.alpha


def test_an_equivalence_test_goes_by_the_same_law_and_interval() -> None:
    a, b = _skewed(400, 0.5, seed=1)
    result = equivalence_test(a, b, margin=0.1, null="studentised", n_resamples=4_999, rng=3)
    tested = paired_test(a, b, null="studentised", n_resamples=4_999, rng=3)
    assert result.p_difference == tested.pvalue
    assert result.interval == tested.confidence_interval(0.9)
    assert (result.null, result.n_resamples, result.seed) == ("studentised", 4_999, 3)
    assert result.p_floor == 1 / 5_000
    assert result.equivalent is (result.interval.low > -0.1 and result.interval.high < 0.1)
    far = equivalence_test(a, b, margin=50.0, null="studentised")
    assert far.p_value == far.p_floor
    assert "(p ≤ 9.999e-05)" in str(far)
    given = equivalence_test(a, b, margin=0.1, null="studentised", p_difference=0.25)
    assert given.p_difference == 0.25
    student = equivalence_test(a, b, margin=0.1, null="symmetric")
    assert (student.null, student.n_resamples, student.p_floor) == ("symmetric", None, None)
    assert equivalence_test(a, b, margin=1e300, null="studentised").equivalent
    assert equivalence_test(a, b, margin=1e-300, null="studentised").p_value > 0.3


def test_the_law_that_fits_is_the_default() -> None:
    rng = np.random.default_rng(0)
    skewed, normal = rng.exponential(size=60) - 1, rng.normal(size=60)
    assert paired_test(skewed, np.zeros(60)).null == "studentised"  # type: ignore[attr-defined]
    assert paired_test(normal, np.zeros(60)).null == "symmetric"  # type: ignore[attr-defined]
    one_far = normal.copy()
    one_far[0] = 12.0  # one unit, the bulk leans to no side
    assert _units_of(one_far).skewness > TOO_SKEWED
    assert _units_of(one_far).fits == "symmetric"
    assert _units_of(skewed[:9]).fits == "symmetric"  # too few to learn a law from
    many = rng.exponential(size=20_000) - 1
    assert _units_of(many).fits == "symmetric"  # so many that their mean is normal
    clusters = np.arange(120) // 2
    both = np.repeat(skewed, 2)
    assert paired_test(both, np.zeros(120), clusters=clusters).null == "studentised"  # type: ignore[attr-defined]


def test_warnings_say_what_cannot_be_trusted() -> None:
    rng = np.random.default_rng(5)
    d = rng.lognormal(0, 1.5, 60) - math.exp(1.125)
    zero = np.zeros(60)
    warning = paired_test(d, zero).warning
    assert warning is not None
    assert "too skewed for their number (skewness of the mean +0." in warning
    assert equivalence_test(d, zero, margin=1.0).warning == warning
    assert f"Warning: {warning}." in str(equivalence_test(d, zero, margin=1.0))
    forced = paired_test(d, zero, null="symmetric").warning
    assert forced is not None
    assert "the symmetric null law rejects a true H0 too often, the studentised one fits" in forced
    few = np.concatenate([d[:14], np.zeros(46)])
    assert "only 14 pairs have a difference other than 0" in (paired_test(few, zero).warning or "")
    mild = paired_test(rng.exponential(size=200) - 1, np.zeros(200))
    assert (mild.null, mild.warning) == ("studentised", None)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "d",
    [[0.25] * 12, [0.0] * 12, [0.0] * 9 + [0.5] * 3, [0.0] * 9 + [0.1 + 0.2, 0.3, 0.3]],
)
@pytest.mark.parametrize("clusters", [None, np.arange(12) // 2, np.arange(12) // 5])
def test_what_does_not_vary_shows_nothing(d: list[float], clusters: Any) -> None:
    zero = np.zeros(12)
    result = paired_mean_test(d, zero, clusters=clusters, null="studentised", quantiles=(0.5,))
    if clusters is None or len(set(d)) == 1:
        assert result.p_value == 1
        assert result.confidence_interval().high == math.inf
        assert "do not vary" in (result.warning or "")
        shown = equivalence_test(
            d, zero, clusters=clusters, margin=9.0, scores=True, null="studentised"
        )
        assert (shown.p_value, shown.equivalent) == (1, False)
    assert not math.isnan(result.t)
    assert not any(math.isnan(value) for value in result.quantiles.values())
    # By default nothing changes for such samples.
    assert paired_mean_test(d, zero, clusters=clusters).null == "symmetric"


def test_samples_that_may_draw_no_difference_have_an_open_interval() -> None:
    d = np.array([0.2, 0.9, 1.3] + [0.0] * 50)
    result = paired_mean_test(d, np.zeros(53), null="studentised", n_resamples=999)
    interval = result.confidence_interval(0.99)
    assert not math.isnan(interval.low)
    assert not math.isnan(interval.high)
    assert interval.low == -math.inf or interval.low < 0
    assert result.replicates is None
    assert 0 < result.p_value <= 1
    two = paired_mean_test([0.3, 0.1], [0.0, 0.0], null="studentised", n_resamples=99)
    assert two.confidence_interval().high == math.inf
    one = paired_mean_test([0.3, 0.1], [0.0, 0.0], null="studentised", n_resamples=1)
    assert (one.confidence_interval().low, one.p_value) == (-math.inf, 1)


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-60, 2.0**500])
@pytest.mark.parametrize("clusters", [None, np.arange(90) // 3])
def test_the_unit_of_the_scores_does_not_matter(unit: float, clusters: Any) -> None:
    a, b = _skewed(90, 0.6)
    plain = paired_mean_test(a, b, clusters=clusters, null="studentised", n_resamples=499)
    scaled = paired_mean_test(
        a * unit, b * unit, clusters=clusters, null="studentised", n_resamples=499
    )
    assert scaled.p_value == plain.p_value
    ends = plain.confidence_interval()
    assert scaled.confidence_interval().low == pytest.approx(ends.low * unit, rel=1e-6)
    assert scaled.confidence_interval().high == pytest.approx(ends.high * unit, rel=1e-6)
    margin = 0.1
    one = equivalence_test(a, b, clusters=clusters, margin=margin, null="studentised")
    other = equivalence_test(
        a * unit, b * unit, clusters=clusters, margin=margin * unit, null="studentised"
    )
    assert other.p_value == one.p_value


@pytest.mark.slow
def test_many_replicates_are_drawn_again_for_their_quantiles() -> None:
    a, b = _skewed(20, 0.5)
    options: dict[str, Any] = {"null": "studentised", "n_resamples": (1 << 20) + 5}
    held = paired_mean_test(a, b, quantiles=(0.1, 0.9), keep_replicates=True, **options)
    drawn = paired_mean_test(a, b, quantiles=(0.1, 0.9), **options)
    assert held.replicates is not None
    assert drawn.quantiles == held.quantiles
    expected = np.quantile(held.replicates[np.isfinite(held.replicates)], [0.1, 0.9])
    assert list(drawn.quantiles.values()) == pytest.approx(expected.tolist(), abs=1e-3)


def test_more_units_than_half_a_word_serves_are_drawn_evenly() -> None:
    n = (1 << 20) + 3
    values = np.linspace(-1, 1, n)
    drawn = _core.studentised.draw_moments(
        values, n_units=n, n_replicates=8, key=philox_key(1), n_threads=2
    )
    assert drawn[:, 1] / math.sqrt(n / 3) == pytest.approx(np.zeros(8), abs=4)
    assert drawn[:, 2] == pytest.approx(np.full(8, n / 3), rel=0.01)


def test_a_joint_test_warns_of_skewed_scores() -> None:
    rng = np.random.default_rng(0)
    skewed, normal = rng.exponential(size=(2, 80, 1)), rng.normal(size=(80, 1))
    original = np.hstack([normal, skewed[0]])
    result = joint_test(original, np.hstack([normal[::-1], np.full((80, 1), 1.0)]))
    assert "the differences of classifier 2 are skewed" in (result.warning or "")
    assert f"Warning: {result.warning}." in str(result)
    assert joint_test(normal, normal[::-1]).warning is None
    outcomes = rng.random((600, 2)) < 0.9
    assert joint_test(outcomes, outcomes & (rng.random((600, 2)) < 0.7)).warning is None
    family = combine(
        {"x": (original[:, 0], normal[::-1, 0]), "y": (original[:, 1], np.ones(80))},
        correction="maxt",
    )
    assert "the differences of y are skewed" in str(family)


def test_results_name_the_law_and_draw_it() -> None:
    a, b = _skewed(100, 1.0)
    result = paired_mean_test(a, b)
    assert result.to_dict()["null"] == "studentised"
    assert "units" not in result.to_dict()
    assert "null law of t            studentised (skewness of the mean +0." in str(result)
    law = result.null_law()
    assert law.mass.sum() == pytest.approx(1, abs=0.05)
    assert law.mass[: law.mass.size // 2].sum() != pytest.approx(0.5, abs=0.01)
    assert result.p_paper != result.p_value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_test([1.5, 2], [1, 1], null="t"), "null must be one of symmetric, stu"),
        (lambda: paired_test([1, 0], [1, 1], null="studentised"), "these are outcomes, whose law"),
        (lambda: equivalence_test([1, 0], [1, 1], null="symmetric"), "these are outcomes"),
        (lambda: equivalence_test([1.5, 0], [1, 1], n_resamples=0), "n_resamples must be at least"),
        (lambda: equivalence_test([1.5, 0], [1, 1], margin=1.0, null="x"), "null must be one of"),
    ],
)
def test_mistakes_are_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("columns", "n_units", "message"),
    [
        (np.ones(3), 2, "more units are listed"),
        (np.ones(3), 0, "no unit at all"),
        (np.array([1.0, math.nan]), 2, "not finite"),
        (np.ones((3, 2)), 3, "every cluster needs"),
        (np.zeros((3, 2)), 2, "a size must be positive"),
        (np.ones((2, 2)), 2, "must have shape"),
    ],
)
def test_the_core_refuses_what_is_no_sample(
    columns: np.ndarray, n_units: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _core.studentised.draw_moments(columns, n_units=n_units, n_replicates=1, key=philox_key(0))


@pytest.mark.peer
def test_intervals_are_those_of_arch() -> None:
    bootstrap = pytest.importorskip("arch.bootstrap")
    rng = np.random.default_rng(0)
    d = rng.lognormal(size=60)
    ours = paired_mean_test(d, np.zeros(60), null="studentised", n_resamples=200_000)
    theirs = bootstrap.IIDBootstrap(d, seed=1).conf_int(
        np.mean,
        reps=20_000,
        method="studentized",
        std_err_func=lambda _, x: np.array([x.std() / math.sqrt(x.size)]),
    )
    interval = ours.confidence_interval()
    assert (interval.low, interval.high) == pytest.approx(theirs.ravel().tolist(), rel=0.02)
