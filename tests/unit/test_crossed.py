"""The crossed test of an algorithm: components, laws, clusters, and its level."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import algorithm_test
from ietest_fast.stats.algorithm.crossed import WeightedStudent
from reference import crossed_oracle
from simulations import scaled, slack


def outcomes_with(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes whose differences are d, of values -1, 0 and 1."""
    return d >= 0, d <= 0


def draw_differences(
    rng: np.random.Generator,
    *,
    n: int,
    m: int,
    discordance: float = 0.1,
    correlation: float = 0.5,
    tau: float = 0.0,
    delta: float = 0.0,
) -> np.ndarray:
    """Differences of outcomes: classifier m has its own delta, and shares draws with the others."""
    own = rng.normal(delta, tau, size=m)
    lost = (discordance + own) / 2
    shared = rng.random((n, m)) < math.sqrt(correlation)
    u = np.where(shared, rng.random((n, 1)), rng.random((n, m)))
    return (u < lost).astype(int) - (u > 1 - (discordance - lost))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], list[int] | None]:
    n, m = draw(st.integers(2, 8)), draw(st.integers(2, 4))
    row = st.lists(st.integers(-1, 1), min_size=m, max_size=m)
    d = draw(st.lists(row, min_size=n, max_size=n))
    if draw(st.booleans()):
        return d, None
    return d, [0, 1, *draw(st.lists(st.integers(0, 3), min_size=n - 2, max_size=n - 2))]


@given(given_table=tables())
@example(given_table=([[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 1, 0]], None))  # V_C = V_E, V_I = 0
def test_components_are_those_of_the_definition(
    given_table: tuple[list[list[int]], list[int] | None],
) -> None:
    d, units = given_table
    expected = [float(part) for part in crossed_oracle.components(d, units)]
    result = algorithm_test(*outcomes_with(np.array(d)), clusters=units)
    found = result.components
    assert result.delta == pytest.approx(expected[0], abs=1e-15)
    assert [found.items, found.classifiers, found.residual] == pytest.approx(
        expected[1:], rel=1e-9, abs=1e-15
    )
    _, items, classifiers, rest = crossed_oracle.components(d, units)
    variance = max(items + classifiers - rest, items, classifiers)
    assert result.standard_error == pytest.approx(math.sqrt(variance), abs=1e-9)


def test_a_variance_that_cancels_is_that_of_trainings() -> None:
    """V_C = V_E = 1/36 and V_I = 0, whose floats differ in the last digit."""
    d = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 1, 0]])
    result = algorithm_test(*outcomes_with(d))
    assert result.standard_error == pytest.approx(1 / 6)
    assert result.t == pytest.approx(2)
    assert result.p_value == pytest.approx(2 * scipy_stats.t.sf(2, 2))


def test_differences_that_cancel_out_on_every_text_are_judged_by_those_of_trainings() -> None:
    """Of each text, one classifier loses what another gains, so nothing varies between texts."""
    d = np.zeros((40, 4), int)
    d[:15, 0], d[:15, 1] = 1, -1
    d[15:29, 0], d[15:29, 1] = -1, 1
    result = algorithm_test((d == 1).astype(int), (d == -1).astype(int))
    found = result.components
    assert found.items == 0
    assert 0 < found.classifiers < found.residual
    assert result.standard_error == pytest.approx(math.sqrt(found.classifiers))
    assert result.training_weight == 1  # V_I - 2 V_E / M is below 0
    assert result.p_value == 1
    # Where delta is the margin, some answers differ.
    error = max(result.standard_error, math.sqrt(0.01 * 0.99 / 40))
    assert result.p_equivalence == pytest.approx(scipy_stats.t.sf(0.01 / error, 3))
    interval = result.confidence_interval()
    assert -interval.low == interval.high > result.standard_error


def test_the_law_has_students_quantiles_weighted() -> None:
    d = draw_differences(np.random.default_rng(0), n=400, m=4, tau=0.03, delta=0.02)
    mean, *parts = crossed_oracle.components(d.tolist())
    v_i, v_c, v_e = (float(part) for part in parts)
    v = max(v_i + v_c - v_e, v_i)
    result = algorithm_test(*outcomes_with(d), margin=0.05)
    assert result.t == pytest.approx(float(mean) / math.sqrt(v))

    def quantile(tail: float, items: float, classifiers: float) -> float:
        both = np.array([scipy_stats.t.isf(tail, 399), scipy_stats.t.isf(tail, 3)])
        return float(np.average(both, weights=[items, classifiers]))

    weights = v_i - v_e / 2, v_c
    assert quantile(result.p_value / 2, *weights) == pytest.approx(result.t, rel=1e-9)
    half = quantile(0.05, *weights) * math.sqrt(v)
    found = result.confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half))
    # Equivalent at 5% if and only if the 90% interval lies within the margin.
    assert result.equivalent == (found.low > -0.05 and found.high < 0.05)
    half = quantile(0.05, v_i, 5 * v_c) * math.sqrt(v_i + 5 * v_c)
    found = result.prediction_interval(0.9)
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half))
    one_sided = [
        algorithm_test(*outcomes_with(d), alternative=side).p_value for side in ("greater", "less")
    ]
    assert sum(one_sided) == pytest.approx(1)
    assert min(one_sided) == pytest.approx(result.p_value / 2)


@given(
    st.floats(0, 1),
    st.sampled_from([1, 2, 4, 9, 49]),
    st.sampled_from([9, 499, 10**6]),
    st.floats(0, 30),
)
def test_tails_invert_quantiles(weight: float, few: int, many: int, t: float) -> None:
    law = WeightedStudent(weight, many, few)
    tail = law.tail(t)
    assert law.quantile(tail) == pytest.approx(t, rel=1e-9, abs=1e-9) or tail in {1e-100, 1.0}
    assert law.tail(-t) == pytest.approx(1 - tail)


@pytest.mark.slow
def test_the_components_are_unbiased() -> None:
    """By the mean over many tables: V_I + V_C - V_E is the variance of the mean."""
    rng = np.random.default_rng(1)
    n, m, tau = 40, 3, 0.05
    means, expected = [], []
    for _ in range(4_000):
        d = draw_differences(rng, n=n, m=m, discordance=0.4, tau=tau)
        found = algorithm_test(*outcomes_with(d)).components
        means.append(d.mean())
        expected.append(found.items + found.classifiers - found.residual)
    assert np.mean(expected) == pytest.approx(np.var(means), rel=0.1)


def test_frames_and_scores_are_read_as_the_joint_test_reads_them() -> None:
    import pandas as pd

    rng = np.random.default_rng(2)
    a = rng.normal(0.6, 0.1, size=(50, 3))
    b = a - rng.normal(0.02, 0.05, size=(50, 3))
    whole = algorithm_test(a, b)
    first = pd.DataFrame(a, columns=["x", "y", "z"])
    second = pd.DataFrame(b, columns=["x", "y", "z"])[["z", "x", "y"]]
    assert algorithm_test(first, second).t == pytest.approx(whole.t)
    # The unit of scores is of no account, however large or small.
    for unit in (1e-200, 1e200):
        scaled = algorithm_test(a * unit, b * unit, margin=0.01 * unit)
        assert scaled.p_value == pytest.approx(whole.p_value)
        assert scaled.p_equivalence == pytest.approx(whole.p_equivalence)
        assert scaled.sd_classifiers == pytest.approx(whole.sd_classifiers * unit)


def test_clusters_of_one_text_change_nothing() -> None:
    d = draw_differences(np.random.default_rng(3), n=200, m=5)
    alone = algorithm_test(*outcomes_with(d))
    single = algorithm_test(*outcomes_with(d), clusters=np.arange(200))
    assert single.p_value == pytest.approx(alone.p_value)
    assert single.n_clusters == 200


def test_whole_clusters_count_once() -> None:
    d = draw_differences(np.random.default_rng(4), n=200, m=5)
    alone = algorithm_test(*outcomes_with(d), margin=0.05)
    thrice = algorithm_test(
        *outcomes_with(np.repeat(d, 3, axis=0)), clusters=np.repeat(np.arange(200), 3), margin=0.05
    )
    assert thrice.p_value == pytest.approx(alone.p_value)
    assert thrice.p_equivalence == pytest.approx(alone.p_equivalence)


def test_without_a_difference_nothing_is_shown_of_few_texts() -> None:
    ones = np.ones((298, 5), dtype=bool)
    nothing = algorithm_test(ones, ones)
    assert (nothing.t, nothing.p_value) == (0.0, 1.0)
    assert nothing.p_equivalence == pytest.approx(0.99**298)
    assert not nothing.equivalent
    # The 90% interval says the same as the two tests at 5%.
    assert nothing.confidence_interval(0.9).high > 0.01
    more = np.ones((299, 5), dtype=bool)
    assert algorithm_test(more, more).equivalent
    assert algorithm_test(more, more).confidence_interval(0.9).high < 0.01
    clusters = np.repeat(np.arange(30), 10)
    many = np.ones((300, 5), dtype=bool)
    assert algorithm_test(many, many, clusters=clusters).p_equivalence == pytest.approx(0.99**30)


@pytest.mark.parametrize("n_single", [0, 1, 5])
def test_a_large_cluster_that_was_not_lost_shows_nothing(n_single: int) -> None:
    # One cluster of 100 is lost with probability 0.2, the 1,900 others never: delta is 0.01.
    original = np.ones((2_000, 5), dtype=bool)
    rephrased = original.copy()
    rephrased[1_999 - n_single : 1_999] = False
    clusters = np.concatenate([np.zeros(100, np.int64), np.arange(1, 1_901)])
    result = algorithm_test(original, rephrased, clusters=clusters)
    assert result.n_independent == 20
    assert not result.equivalent
    if n_single == 0:
        assert result.p_equivalence == pytest.approx(0.99**20)
        assert result.p_equivalence >= 1 - 0.2


def test_a_constant_difference_is_certain() -> None:
    ones = np.ones((50, 3), dtype=bool)
    result = algorithm_test(ones, ~ones)
    assert (result.t, result.p_value) == (math.inf, 2 * 0.5**50)
    two = algorithm_test(ones[:2], ~ones[:2])
    assert (two.p_value, two.n_differing) == (0.5, 2)
    assert "only 2 texts" in str(two.warning)
    scores = np.full((50, 3), 0.3)
    assert algorithm_test(scores, scores - 0.1).t == math.inf


def test_results_can_be_printed_and_written() -> None:
    d = draw_differences(np.random.default_rng(6), n=3_000, m=5, delta=0.03)
    result = algorithm_test(*outcomes_with(d))
    assert "The algorithm loses on rephrased texts" in str(result)
    assert result.to_frame()["p_value"][0] == result.pvalue
    assert '"prediction_interval"' in result.to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"original": [[1], [0]], "transformed": [[1], [0]]}, "two retrained classifiers"),
        ({"original": [[1, 1]], "transformed": [[1, 0]]}, "at least two"),
        ({"alternative": "both"}, "alternative must be"),
        ({"alpha": 0.5}, "below 0.5"),
        ({"margin": 0}, "margin"),
        ({"margin": 1.5}, "margin"),
        ({"clusters": [1, 1, 1]}, "two clusters"),
        ({"transformed": [[1], [0], [1]]}, "has 2 classifiers"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    table = [[1, 1], [0, 1], [1, 0]]
    with pytest.raises(InputError, match=message):
        algorithm_test(**{"original": table, "transformed": table} | options)


# How often the test rejects at 5%, and how often the 95% interval holds the truth.
LEVELS = [
    (n, m, tau, correlation)
    for n in (500, 3_000)
    for m in (5, 10)
    for tau in (0.0, 0.005, 0.02)
    for correlation in (0.3, 0.7)
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "tau", "correlation"), LEVELS)
def test_the_level_holds_whatever_trainings_vary_by(
    n: int, m: int, tau: float, correlation: float
) -> None:
    rng = np.random.default_rng(LEVELS.index((n, m, tau, correlation)))
    n_tables = scaled(2_000)
    rejected = 0
    for _ in range(n_tables):
        d = draw_differences(rng, n=n, m=m, tau=tau, correlation=correlation)
        rejected += algorithm_test(*outcomes_with(d)).differs
    size = rejected / n_tables
    print(f"n {n:5} M {m:2} tau {tau:5} correlation {correlation}: size {size:.1%}")
    assert 0.015 - slack(n_tables) <= size <= 0.055 + slack(n_tables)


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 3, 4, 5])
@pytest.mark.parametrize("tau", [0.0, 0.005, 0.02])
def test_few_classifiers_keep_the_level_and_foretell_the_next(m: int, tau: float) -> None:
    rng = np.random.default_rng(10)
    n_tables, n_rejected, n_missed = scaled(2_000), 0, 0
    for _ in range(n_tables):
        d = draw_differences(rng, n=3_000, m=m + 1, tau=tau)
        found = algorithm_test(*outcomes_with(d[:, :m]))
        n_rejected += found.differs
        low, high = found.prediction_interval()
        n_missed += not low <= d[:, m].mean() <= high
    size, missed = n_rejected / n_tables, n_missed / n_tables
    print(f"M {m} tau {tau}: size {size:.1%}, one more outside of its interval {missed:.1%}")
    assert size <= 0.055 + slack(n_tables)
    assert missed <= 0.06 + slack(n_tables)


@pytest.mark.slow
@pytest.mark.parametrize("m", [5, 10])
def test_a_few_trainings_of_another_kind_are_not_seen(m: int) -> None:
    """One training in ten loses nine points, the others gain one: no warning tells."""
    rng = np.random.default_rng(12)
    n, n_tables = 2_000, scaled(1_000)
    rejected = 0
    for _ in range(n_tables):
        own = np.where(rng.random(m) < 0.1, 0.09, -0.01)
        shared = rng.random((n, m)) < math.sqrt(0.5)
        u = np.where(shared, rng.random((n, 1)), rng.random((n, m)))
        lost = (0.1 + own) / 2
        rejected += algorithm_test(
            *outcomes_with((u < lost).astype(int) - (u > 1 - (0.1 - lost)))
        ).differs
    print(f"M {m}, one in ten of another kind: size {rejected / n_tables:.1%}")
    assert 0.08 < rejected / n_tables < 0.4


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0.0, 0.01])
def test_the_level_holds_with_clusters_and_at_the_margin(tau: float) -> None:
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(400), 3)
    n_tables = scaled(2_000)
    differs = equivalent = covered = 0
    for _ in range(n_tables):
        both = draw_differences(rng, n=800, m=5, tau=tau)  # a text is like either of two
        d = both[clusters + 400 * (rng.random(1_200) < 0.4)]
        result = algorithm_test(*outcomes_with(d), clusters=clusters)
        differs += result.differs
        at_margin = draw_differences(rng, n=1_500, m=5, tau=tau, delta=0.02)
        result = algorithm_test(*outcomes_with(at_margin), margin=0.02)
        equivalent += result.equivalent
        covered += 0.02 in result.confidence_interval()
    sizes = differs / n_tables, equivalent / n_tables, covered / n_tables
    print(f"tau {tau}: clusters {sizes[0]:.1%}, equivalence {sizes[1]:.1%}, cover {sizes[2]:.1%}")
    assert 0.02 - slack(n_tables) <= sizes[0] <= 0.07 + slack(n_tables)
    assert sizes[1] <= 0.07 + slack(n_tables)
    assert sizes[2] >= 0.935 - slack(n_tables)


@pytest.mark.slow
def test_unlike_t_tests_of_the_classifiers_it_keeps_its_level() -> None:
    """The reason for the test: Bonferroni over M classifiers rejects where trainings vary."""
    from ietest_fast.stats import PairedCounts, paired_test

    rng = np.random.default_rng(8)
    bonferroni = crossed = 0
    for _ in range(200):
        d = draw_differences(rng, n=3_000, m=5, tau=0.02)
        a, b = outcomes_with(d)
        p_values = [
            paired_test(PairedCounts.from_outcomes(x, y)).p_value
            for x, y in zip(a.T, b.T, strict=True)
        ]
        bonferroni += min(p_values) < 0.05 / 5
        crossed += algorithm_test(a, b).differs
    assert bonferroni > 180
    assert crossed < 25


def test_fractions_are_what_the_oracle_computes() -> None:
    mean, v_i, v_c, v_e = crossed_oracle.components([[1, 0], [0, 0]])
    assert (mean, v_i, v_c, v_e) == (
        Fraction(1, 4),
        Fraction(1, 16),
        Fraction(1, 16),
        Fraction(1, 16),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(700, 5), (3_000, 5), (3_000, 10)])
@pytest.mark.parametrize("correlation", [0.3, 0.7])
@pytest.mark.parametrize("tau", [0.0, 0.005, 0.02])
def test_the_next_classifier_lies_where_it_is_predicted(
    n: int, m: int, tau: float, correlation: float
) -> None:
    rng = np.random.default_rng(11)
    n_tables = scaled(1_000)
    covered = 0
    for _ in range(n_tables):
        d = draw_differences(rng, n=n, m=m, tau=tau, correlation=correlation)
        covered += rng.normal(0, tau) in algorithm_test(*outcomes_with(d)).prediction_interval()
    share = covered / n_tables
    print(f"n {n} M {m} tau {tau} correlation {correlation}: next one covered {share:.1%}")
    assert share >= 0.935 - slack(n_tables)


SPREADS = [
    (2_000, 5, 0.0, 0.5),
    (2_000, 5, 0.0, 0.2),
    (2_000, 5, 0.01, 0.5),
    (500, 10, 0.02, 0.5),
    (5_000, 20, 0.005, 0.5),
    (2_000, 2, 0.0, 0.5),
    (2_000, 3, 0.0, 0.5),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "tau", "correlation"), SPREADS)
def test_power_is_what_simulation_gives(n: int, m: int, tau: float, correlation: float) -> None:
    from ietest_fast.stats import algorithm_power, plan_algorithm, split_variance

    items, residual = split_variance(0.1, correlation=correlation)
    spread = {"sd_items": items, "sd_residual": residual, "sd_classifiers": tau}
    delta = plan_algorithm(n=n, n_classifiers=m, power=0.7, **spread).delta
    computed = algorithm_power(n, m, delta, **spread)
    assert computed == pytest.approx(0.7, abs=1e-6)
    rng, n_tables, found = np.random.default_rng(9), scaled(4_000), 0
    for _ in range(n_tables):
        d = draw_differences(rng, n=n, m=m, tau=tau, correlation=correlation, delta=delta)
        found += algorithm_test(*outcomes_with(d)).differs
    share = found / n_tables
    print(
        f"n {n} M {m} tau {tau} correlation {correlation}: delta {delta:.4f}, power {share:.1%}, "
        "planned 70%"
    )
    assert share == pytest.approx(0.7, abs=(0.05 if m >= 5 else 0.075) + 2 * slack(n_tables))
