"""The studentised bootstrap: what holds for every small sample."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ietest_fast import _core
from ietest_fast.philox import philox_key
from ietest_fast.stats import equivalence_test
from ietest_fast.stats.intervals import Differences, Interval
from ietest_fast.stats.scores import MeanTestResult, paired_mean_test
from ietest_fast.stats.studentised import StudentisedUnits
from reference import studentised_oracle as oracle
from simulations import could_be

PATHS = _core.runtime.instruction_sets()
S = 4_000

values = st.integers(-4, 4).map(lambda k: k / 4)
small_samples = st.lists(st.lists(values, min_size=1, max_size=3), min_size=2, max_size=4)
means = st.integers(-3, 3).map(lambda k: k / 8)
columns = st.lists(st.floats(-9, 9, allow_subnormal=False), min_size=2, max_size=40)
many = st.lists(st.floats(-9, 9, allow_subnormal=False), min_size=15, max_size=40, unique=True)


def _units(sample: list[list[float]]) -> StudentisedUnits:
    differences = Differences.of(np.array([d for cluster in sample for d in cluster]))
    codes = np.repeat(np.arange(len(sample)), [len(cluster) for cluster in sample])
    return StudentisedUnits.of(differences, codes, len(sample))


@given(small_samples, means, st.integers(0, 2**32))
@example([[0.0, -0.5], [0.0, -0.5], [-0.25, -0.5]], -0.125, 0)  # under H0 all clusters are alike
@example([[0.0], [-0.25], [-0.25], [-0.5]], -0.25, 0)  # as are pairs in some resamples
def test_tails_are_those_of_all_resamples(
    sample: list[list[float]], delta: float, seed: int
) -> None:
    units = _units(sample)
    exact = [[Fraction(d) for d in cluster] for cluster in sample]
    null = oracle.shift_to(exact, Fraction(0))
    varies = any(sum(cluster, Fraction(0)) != 0 for cluster in null)
    _, spread = oracle.numerator_and_spread(exact, Fraction(0))
    assert units.is_constant is (not varies or spread == 0)
    scaled = math.ldexp(delta, -units.exponent)
    ((at_most, at_least),), _ = units.count_tails([scaled], n_resamples=S, seed=seed)
    if units.is_constant:
        assert (at_most, at_least) == (S, S)
        return
    total, spread = oracle.numerator_and_spread(exact, Fraction(delta))
    assert math.isclose(units.t_of(scaled), float(total) / math.sqrt(spread), abs_tol=1e-9)
    for count, share in zip(
        (at_most, at_least), oracle.exact_tails(exact, Fraction(delta)), strict=True
    ):
        assert could_be(count, S, float(share))


@given(small_samples, st.integers(0, 2**32))
def test_moments_have_the_same_bits_on_every_path(sample: list[list[float]], seed: int) -> None:
    units = _units(sample)
    options = {"n_units": units.n_units, "n_replicates": 50, "key": philox_key(seed)}
    plain = _core.studentised.draw_moments(
        units.columns, **options, instruction_set="portable", n_threads=1
    )
    for path in PATHS:
        for n_threads in (1, 3):
            other = _core.studentised.draw_moments(
                units.columns, **options, instruction_set=path, n_threads=n_threads
            )
            assert (plain == other).all()


@given(columns)
def test_a_test_and_its_mirror_image_agree(d: list[float]) -> None:
    zero = np.zeros(len(d))
    options = {"null": "studentised", "n_resamples": 199}
    one = paired_mean_test(np.array(d), zero, **options)  # type: ignore[arg-type]
    other = paired_mean_test(-np.array(d), zero, **options)  # type: ignore[arg-type]
    assert one.p_value == other.p_value
    interval, mirrored = one.confidence_interval(), other.confidence_interval()
    assert math.isclose(interval.low, -mirrored.high, rel_tol=1e-6, abs_tol=1e-12)
    assert one.units.fits == other.units.fits
    assert math.isclose(one.skewness, -other.skewness, rel_tol=1e-9, abs_tol=1e-12)


def _at_level_090(d: list[float]) -> tuple[MeanTestResult, Interval]:
    result = paired_mean_test(np.array(d), np.zeros(len(d)), null="studentised", n_resamples=199)
    interval = result.confidence_interval(0.9)
    assert interval.low <= result.delta <= interval.high
    # An end at 0 up to rounding may lie on either side of it.
    assume(min(abs(interval.low), abs(interval.high)) > 1e-6 * abs(result.standard_error))
    return result, interval


@given(columns)
@example([0.0, 2.0, 3.0])  # means about 0 are not rejected; some between them and 1.67 are
def test_the_interval_holds_all_means_that_the_test_does_not_reject(d: list[float]) -> None:
    result, interval = _at_level_090(d)
    assert 0 in interval or result.p_value < 0.1


@given(many)
def test_the_interval_of_many_differences_holds_nothing_else(d: list[float]) -> None:
    result, interval = _at_level_090(d)
    assert (0 in interval) is (result.p_value >= 0.1)


@given(columns)
def test_equivalence_is_shown_where_the_interval_lies_within_the_margin(d: list[float]) -> None:
    margin = 1.5
    shown = equivalence_test(
        d, np.zeros(len(d)), scores=True, margin=margin, null="studentised", n_resamples=199
    )
    ends = (shown.interval.low + margin, margin - shown.interval.high)
    assume(min(map(abs, ends)) > 1e-6 * max(shown.standard_error, 1e-300))
    assert shown.equivalent is (min(ends) > 0)
