"""Warnings where a few large clusters, or pairs, decide a test."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.stats import (
    Interval,
    algorithm_test,
    dose_response_test,
    estimate,
    excess_churn_test,
    joint_test,
    paired_test,
    symmetry_test,
)
from ietest_fast.stats.resampling import count_equal, skewness_of_mean


def four_large(n_classifiers: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes of 4 clusters of 500 texts that differ as a whole, and of 600 single texts."""
    sizes = np.repeat([500, 1], [4, 600])
    clusters = np.repeat(np.arange(604), sizes)
    rng = np.random.default_rng(0)
    differs = (sizes > 1) | (rng.random(604) < 0.1)
    is_loss = rng.random((604, n_classifiers)) < 0.5
    a = (~differs[:, None] | is_loss)[clusters]
    b = (~differs[:, None] | ~is_loss)[clusters]
    return a, b, clusters


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 5)), min_size=1, max_size=12),
    st.sampled_from([1.0, 2.0**-500, 2.0**500]),
)
def test_equal_sizes_are_counted_as_fractions_say(
    cells: list[tuple[int, int]], unit: float
) -> None:
    total = sum(x * k for x, k in cells)
    squares = sum(x * x * k for x, k in cells)
    expected = Fraction(total**2, squares) if squares else Fraction(0)
    sizes, times = (np.array(column) for column in zip(*cells, strict=True))
    assert count_equal(sizes * unit, times) == pytest.approx(float(expected), rel=1e-12)
    assert count_equal(np.repeat(sizes * unit, times)) == pytest.approx(float(expected), rel=1e-12)


@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=12),
    st.sampled_from([1.0, 2.0**-500, 2.0**500]),
)
def test_skewness_of_a_mean_is_what_the_definition_gives(values: list[int], unit: float) -> None:
    e = np.array(values, dtype=float)
    squares = float((e**2).sum())
    expected = float((e**3).sum()) / squares**1.5 if squares else 0.0
    assert skewness_of_mean(e * unit) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_equal_clusters_count_as_many_as_there_are() -> None:
    clusters = np.repeat(np.arange(40), 3)
    a = np.ones(120, dtype=bool)
    found = paired_test(a, clusters % 2 == 0, clusters=clusters, n_resamples=99)
    assert found.types.n_deciding.tolist() == [20]


def test_four_large_clusters_are_warned_of() -> None:
    a, b, clusters = four_large()
    found = paired_test(a[:, 0], b[:, 0], clusters=clusters, n_resamples=999)
    assert found.n_nonzero > 25
    assert found.warning is not None
    assert "a few clusters decide: together, the clusters tell as much as 4.0 of" in found.warning
    assert "a few clusters decide" in found.to_dict()["warning"]


def test_scores_are_warned_of_alike() -> None:
    a, b, clusters = four_large()
    scores = {"scores": True, "null": "symmetric", "n_resamples": 999}
    found = paired_test(a[:, 0], b[:, 0], clusters=clusters, **scores)
    assert "a few clusters decide" in (found.warning or "")
    rng = np.random.default_rng(1)
    differences = rng.normal(size=400)
    assert paired_test(differences, np.zeros(400), **scores).warning is None
    differences[:4] = 1000, -1000, 1000, -1000
    found = paired_test(differences, np.zeros(400), **scores)
    assert "a few pairs decide" in (found.warning or "")


def test_a_joint_test_names_the_classifiers() -> None:
    a, b, clusters = four_large(2)
    b[:, 1] = a[:, 1]
    single = np.flatnonzero(clusters >= 4)[::7]
    b[single, 1] ^= True  # no large cluster differs for the second one
    found = joint_test(
        {"large": a[:, 0], "single": a[:, 1]},
        {"large": b[:, 0], "single": b[:, 1]},
        clusters=clusters,
        n_resamples=999,
    )
    assert found.warning is not None
    assert "a few clusters decide" in found.warning
    assert found.warning.endswith("too often: large (4.0)")
    assert joint_test(a, b, n_resamples=999).warning is None


def test_the_algorithm_is_warned_of() -> None:
    a, b, clusters = four_large(5)
    found = algorithm_test(a, b, clusters=clusters)
    assert found.n_deciding < 10
    assert "a few clusters decide" in (found.warning or "")
    assert algorithm_test(a, b).warning is None


def test_doses_that_few_texts_have_are_warned_of() -> None:
    """All 15 discordant pairs are among 475 texts with one edit; none among 25 with five."""
    doses = np.repeat([1, 5], [475, 25])
    a, b = np.ones(500, dtype=int), np.ones(500, dtype=int)
    b[:14] = a[14] = 0
    found = dose_response_test(a, b, doses)
    assert found.pvalue < 0.01
    assert found.warning is not None
    assert "slope, hardly any changes between right and wrong; below 8" in found.warning
    assert f"Warning: {found.warning}." in found.remarks()
    rare = dose_response_test(a, b, doses, clusters=np.arange(500) % 250)
    assert "of the clusters whose dose decides the slope" in (rare.warning or "")
    b[-1] = 0
    one = dose_response_test(a, b, doses)
    assert "about 0.9 are expected to change between right and wrong" in (one.warning or "")
    b[-1] = 1
    even = np.tile([1, 5], 250)
    assert dose_response_test(a, b, even).warning is None


def test_skewed_scores_of_the_algorithm_are_warned_of() -> None:
    rng = np.random.default_rng(2)
    texts = rng.lognormal(0, 1.5, size=(300, 1))
    d = texts - texts.mean() + rng.normal(size=(300, 5))
    found = algorithm_test(d, 0 * d, margin=0.5)
    assert abs(found.skewness) > 0.15
    assert "too skewed for their number" in (found.warning or "")
    constant = np.full((300, 5), 0.1)
    assert algorithm_test(constant, 0 * constant, margin=0.5).skewness == 0
    alike = rng.normal(size=(300, 5))
    assert algorithm_test(alike, 0 * alike, margin=0.5).warning is None


def test_intervals_of_few_clusters_are_warned_of() -> None:
    clusters = np.repeat(np.arange(200), 3)
    a = np.ones(600, dtype=bool)
    for n_differing, is_few in ((30, True), (60, False)):
        found = estimate(a, clusters >= n_differing, clusters=clusters)
        assert found.n_deciding == n_differing
        assert any("tell as much as 30" in said for said in found.remarks()) == is_few
    assert estimate(a, clusters >= 30).remarks() == []


def test_a_symmetry_p_value_at_its_floor_is_marked() -> None:
    found = symmetry_test(["a"] * 60 + ["b"] * 10, ["b"] * 60 + ["c"] * 10, n_resamples=999)
    assert found.p_symmetry == 1 / 1000
    assert "p ≤ 0.001" in str(found)


def test_an_interval_of_excess_churn_from_few_texts_is_warned_of() -> None:
    rng = np.random.default_rng(13)
    alike = excess_churn_test(rng.random((300, 2)) < 0.98, rng.random((300, 2)) < 0.98)
    assert alike.confidence_interval() == Interval(0, 0)
    assert "no width" in (alike.warning or "")
    assert alike.remarks()[-1] == f"Warning: {alike.warning}."
    a = np.ones((400, 3), dtype=bool)
    b = a.copy()
    b[:4] = False
    few = excess_churn_test(a, b)
    assert few.skewness > 0.2
    assert "on few texts" in (few.warning or "")
    grouped = excess_churn_test(a, b, clusters=np.arange(400) // 2)
    assert "on few clusters" in (grouped.warning or "")
    many = excess_churn_test(rng.random((900, 5)) < 0.9, rng.random((900, 5)) < 0.8)
    assert many.warning is None
    assert "Warning" not in str(many)


def test_a_one_sided_slope_needs_more_texts_that_change() -> None:
    rng = np.random.default_rng(3)
    doses = np.where(rng.random(2_000) < 0.1, 2, 1)
    discordant = rng.random(2_000) < 0.05
    a, b = np.ones(2_000, dtype=int), (~discordant).astype(int)
    assert dose_response_test(a, b, doses).warning is None
    found = dose_response_test(a, b, doses, alternative="less")
    assert "below 20 the test of the slope" in (found.warning or "")
