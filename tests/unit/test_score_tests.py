from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats as scipy_stats

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats import joint_test, paired_test
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.consistency import intervals as replicate_quantiles
from ietest_fast.stats.resampling import sort_into_types, sum_clusters
from ietest_fast.stats.scores import paired_mean_test
from reference import scores_oracle as oracle

THREADS = (1, 2, 3, 7)
PATHS = _core.runtime.instruction_sets()


def _draw(
    units: np.ndarray, n_resamples: int, seed: int, instruction_set: str | None = None
) -> Any:
    types = sort_into_types(units)
    drawn = _core.scores.draw_sums(
        types.values,
        types.weights,
        n_units=types.n_units,
        n_replicates=n_resamples,
        key=philox_key(seed),
        instruction_set=instruction_set,
    )
    unit = np.sqrt((units**2).sum(axis=0) / types.sums[:, 1])  # powers of 2, or 1 if exact
    return drawn * np.stack([unit, unit * unit], axis=-1)


def _is_consistent(share: float, expected: float, n: int) -> bool:
    return abs(share - expected) <= 4.5 * math.sqrt(expected * (1 - expected) / n) + 1e-12


def _ratios(sums: np.ndarray) -> np.ndarray:
    return sums[:, 0] / np.sqrt(np.maximum(sums[:, 1], 1e-300))


def _assert_one_law(a: np.ndarray, b: np.ndarray) -> None:
    """Chi-square on a dozen classes between quantiles, put between the atoms of discrete laws."""
    edges = np.unique(np.round(np.quantile(b, np.linspace(0, 1, 13)[1:-1]), 9) + 1e-9)
    classes = [np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1) for x in (a, b)]
    table = np.array(classes)[:, np.sum(classes, axis=0) > 10]
    assert table.shape[1] > 1
    assert scipy_stats.chi2_contingency(table).pvalue > 1e-5


TINY = [
    ["0.3", "-0.1"],
    ["0.5", "0.5", "-0.2"],
    ["0", "0.1", "0.3"],
    ["1", "1", "1", "-1"],
    ["0.2", "0.2", "-0.4", "0.1"],
    ["0", "0", "0.7", "0.7"],
    ["2", "-3", "0.5", "0"],
]


@pytest.mark.slow
@pytest.mark.parametrize("texts", TINY)
def test_tiny_samples_have_the_law_of_all_resamples(texts: list[str]) -> None:
    differences = [Fraction(text) for text in texts]
    at_most, at_least, beyond = oracle.exact_tails(differences)
    s = 200_000
    # Written as decimals, so that a tie on paper is none in binary.
    original = [float(d) + 0.1 for d in differences]
    for alternative, expected in [("greater", at_least), ("less", at_most)]:
        result = paired_mean_test(
            original,
            [0.1] * len(texts),
            alternative=alternative,  # type: ignore[arg-type]
            n_resamples=s,
            rng=4,
        )
        assert _is_consistent(result.p_value, float(expected), s)
        assert _is_consistent(result.p_symmetric, float(beyond), s)
        assert result.p_paper is None


@pytest.mark.slow
@pytest.mark.parametrize("texts", TINY[:5])
def test_scipy_permutes_each_multiset_to_the_same_law(texts: list[str]) -> None:
    """Every sample drawn with replacement, swapped in all ways by scipy: one resample each."""
    values = np.array([float(Fraction(text)) for text in texts])
    n = values.size

    def statistic(x: np.ndarray, y: np.ndarray) -> float:
        return float(oracle.order_of([Fraction(str(d)) for d in np.round(x - y, 9)]))

    law: list[float] = []
    for rows in itertools.product(range(n), repeat=n):
        drawn = values[list(rows)]
        result = scipy_stats.permutation_test(
            (drawn, np.zeros(n)),
            statistic,
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=False,
        )
        law += result.null_distribution.tolist()
    assert len(law) == (2 * n) ** n
    ours = sorted(map(float, oracle.enumerate_orders([Fraction(text) for text in texts])))
    np.testing.assert_allclose(sorted(law), ours, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "kind"),
    [
        (7, "real"),
        (16, "real"),
        (30, "real"),
        (64, "real"),
        (200, "real"),
        (5000, "real"),
        (40, "zeros"),
        (900, "zeros"),
        (40, "types"),
        (900, "types"),
        (300, "mixed"),
    ],
)
def test_the_compressed_engine_draws_what_the_definition_draws(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    values = rng.standard_exponential((n, 2)) * rng.choice([-1, 1], (n, 1))
    if kind == "zeros":
        values[rng.random(n) < 0.6] = 0
    if kind == "types":
        values = np.round(values)
    if kind == "mixed":
        values[: n // 2] = np.round(values[: n // 2])
    s = 20_000 if n < 1000 else 4_000
    ours = _draw(values, s, seed=1)
    plain = oracle.resample(values, s, rng)
    for column in range(2):
        _assert_one_law(_ratios(ours[:, column]), _ratios(plain[:, column]))
        _assert_one_law(ours[:, column, 1], plain[:, column, 1])
    # Both columns share rows and coins: the cross moment is that of the units.
    product = ours[:, 0, 0] * ours[:, 1, 0]
    expected = float((values[:, 0] * values[:, 1]).sum())
    assert abs(product.mean() - expected) < 4.5 * product.std() / math.sqrt(s)


@pytest.mark.slow
def test_pairs_that_are_clusters_of_their_own_follow_the_exact_law() -> None:
    rng = np.random.default_rng(8)
    s = 100_000
    scores_of_z = []
    for seed in range(25):
        n = int(rng.integers(20, 4000))
        a = rng.random(n) < 0.8
        b = np.where(rng.random(n) < 0.1, rng.random(n) < 0.75, a)
        result = clustered_test(a, b, np.arange(n), n_resamples=s, rng=seed, alternative="greater")
        exact = result.p_independent
        assert result.t == pytest.approx(result.t_independent, rel=1e-13)
        assert result.design_effect is None or result.design_effect == pytest.approx(1)
        error = math.sqrt(exact * (1 - exact) / s)
        if error > 1e-4:
            scores_of_z.append((result.p_value - exact) / error)
    assert len(scores_of_z) > 15
    assert np.abs(scores_of_z).max() < 4.5
    assert abs(np.mean(scores_of_z)) < 4.5 / math.sqrt(len(scores_of_z))


def test_scores_of_0_and_1_follow_the_exact_law() -> None:
    a = np.repeat([1, 1, 0, 0], [300, 40, 22, 138])
    b = np.repeat([1, 0, 1, 0], [300, 40, 22, 138])
    s = 400_000
    result = paired_mean_test(a, b, n_resamples=s)
    counts = clustered_test(a, b, range(500)).counts
    exact = paired_test(counts)
    assert result.t == pytest.approx(exact.t, rel=1e-14)
    assert result.p_value == pytest.approx(exact.p_value, rel=0.05)
    assert result.p_paper == pytest.approx(exact.p_paper, rel=0.05)
    assert result.n_types == 1


@pytest.mark.parametrize("kind", ["real", "types", "mixed", "small"])
def test_every_path_gives_the_same_bits(kind: str) -> None:
    rng = np.random.default_rng(5)
    n = {"small": 9, "real": 4500, "types": 3000, "mixed": 777}[kind]
    values = rng.standard_normal((n, 3))
    if kind == "types":
        values = np.round(values * 2)
    if kind == "mixed":
        values[:400] = np.round(values[:400])
    drawn = [_draw(values, 300, seed=2, instruction_set=path) for path in PATHS]
    assert "portable" in PATHS
    for other in drawn[1:]:
        assert (drawn[0] == other).all()


@pytest.mark.parametrize("clustered", [False, True])
def test_threads_change_nothing(clustered: bool) -> None:
    rng = np.random.default_rng(6)
    a, b = rng.random((2, 3000))
    clusters = rng.integers(0, 400, 3000) if clustered else None
    results = [
        paired_mean_test(
            a,
            b,
            clusters=clusters,
            n_resamples=5001,
            quantiles=(0.025, 0.975),
            keep_replicates=True,
            n_threads=n_threads,
        )
        for n_threads in THREADS
    ]
    for other in results[1:]:
        assert other.to_dict() == results[0].to_dict()
        assert (other.replicates == results[0].replicates).all()


def test_replicates_do_not_depend_on_how_many_there_are() -> None:
    a, b = np.random.default_rng(1).random((2, 50))
    few = paired_mean_test(a, b, n_resamples=10, keep_replicates=True).replicates
    many = paired_mean_test(a, b, n_resamples=1000, keep_replicates=True).replicates
    assert few is not None
    assert many is not None
    assert (few == many[:10]).all()
    other = paired_mean_test(a, b, n_resamples=10, rng=1, keep_replicates=True).replicates
    assert other is not None
    assert not (few == other).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lattice", "real"])
def test_quantiles_drawn_again_are_those_of_held_replicates(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1.1 million replicates do not fit the buffer of a pass, so the search has several."""
    rng = np.random.default_rng(3)
    n = 40
    a = np.round(rng.random(n), 1 if kind == "lattice" else 15)
    b = np.round(rng.random(n), 1 if kind == "lattice" else 15)
    s = 1_100_000 if kind == "lattice" else 1_050_001
    levels = (0.0, 0.001, 0.025, 0.5, 0.975, 1.0)
    held = paired_mean_test(a, b, n_resamples=s, keep_replicates=True, quantiles=levels)
    monkeypatch.setattr(replicate_quantiles, "_MAX_HELD", 0)
    again = [
        paired_mean_test(a, b, n_resamples=s, quantiles=levels, n_threads=n_threads)
        for n_threads in (1, 2)
    ]
    assert held.replicates is not None
    expected = np.quantile(held.replicates, levels)
    np.testing.assert_allclose(list(held.quantiles.values()), expected, rtol=1e-12)
    assert held.quantiles == again[0].quantiles == again[1].quantiles
    assert held.replicate_mean == pytest.approx(held.replicates.mean(), abs=1e-9)
    assert held.replicate_deviation == pytest.approx(held.replicates.std(), rel=1e-9)


def test_the_statistic_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 60))
    clusters = rng.integers(0, 20, 60)
    assert paired_mean_test(a, b, n_resamples=1).t == pytest.approx(oracle.paired_t(a - b))
    sums = oracle.sum_clusters((a - b)[:, None], clusters.tolist())[:, 0]
    result = paired_mean_test(a, b, clusters=clusters, n_resamples=1)
    assert result.t == pytest.approx(oracle.paired_t(sums))
    assert (result.n, result.n_clusters) == (60, len(set(clusters.tolist())))
    assert result.delta == pytest.approx((a - b).mean())
    # A large mean beside a small difference is no reason to lose digits.
    assert paired_mean_test(a + 1e6, b + 1e6, n_resamples=1).t == pytest.approx(
        oracle.paired_t((a + 1e6) - (b + 1e6)), rel=1e-12
    )


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 2.0**40, 1e200, 9e288])
def test_the_unit_of_the_scores_does_not_matter(unit: float) -> None:
    a, b = np.random.default_rng(9).random((2, 40))
    plain = paired_mean_test(a, b)
    scaled = paired_mean_test(a * unit, b * unit)
    assert scaled.t == pytest.approx(plain.t, rel=1e-12)
    assert scaled.p_value == plain.p_value
    assert scaled.delta / unit == pytest.approx(plain.delta, rel=1e-12)
    assert scaled.mean_original / unit == pytest.approx(plain.mean_original, rel=1e-12)


def test_ctrl_c_stops_a_long_test() -> None:
    a, b = np.random.default_rng(9).random((2, 5000))
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - not before it is awaited
        timer.start()
        # Nobody could wait for the end of it: the interruption ends it, or nothing does.
        paired_mean_test(a, b, n_resamples=10**9)


def test_p_values_count_the_replicates() -> None:
    a, b = np.random.default_rng(11).random((2, 80))
    s = 4000
    result = paired_mean_test(a, b, n_resamples=s, keep_replicates=True)
    t = result.replicates
    assert t is not None
    low, high = (t <= result.t).sum(), (t >= result.t).sum()
    assert result.p_value == min(1, 2 * (min(low, high) + 1) / (s + 1))
    assert result.p_paper == 2 * min(low, (t > result.t).sum()) / s
    assert result.p_symmetric == ((np.abs(t) >= abs(result.t)).sum() + 1) / (s + 1)
    greater = paired_mean_test(a, b, n_resamples=s, alternative="greater")
    less = paired_mean_test(a, b, n_resamples=s, alternative="less")
    assert (greater.p_value, less.p_value) == ((high + 1) / (s + 1), (low + 1) / (s + 1))


def test_swapping_the_versions_mirrors_the_test() -> None:
    a, b = np.random.default_rng(12).random((2, 80))
    one = paired_mean_test(a, b, alternative="greater")
    other = paired_mean_test(b, a, alternative="greater")
    assert one.t == -other.t
    assert one.p_value + other.p_value == pytest.approx(1, abs=0.03)


def test_no_difference_is_no_evidence_and_a_constant_one_is_infinite() -> None:
    same = paired_mean_test([0.3, 0.4, 0.5], [0.3, 0.4, 0.5], quantiles=(0.5,))
    assert (same.t, same.p_value, same.p_paper, same.p_symmetric) == (0, 1, 1, 1)
    assert (same.quantiles, same.n_types) == ({0.5: 0.0}, 0)
    up = paired_mean_test([1.5] * 20, [1.25] * 20)
    assert up.t == math.inf
    assert up.p_value < 0.001
    down = paired_mean_test([1.25] * 2, [1.5] * 2, n_resamples=40_000)
    assert down.t == -math.inf
    assert down.p_value == pytest.approx(0.5, abs=0.02)  # both coins fall alike
    assert down.replicate_mean == 0
    assert json.loads(down.to_json())["t"] == "-inf"


def test_differences_that_are_the_same_on_paper_have_an_infinite_t() -> None:
    """0.3 - 0.1 and 0.4 - 0.2 are two doubles, but their spread is rounding errors."""
    original, transformed = [0.3, 0.4, 0.5, 0.6], [0.1, 0.2, 0.3, 0.4]
    up = paired_mean_test(original, transformed, keep_replicates=True)
    assert up.t == math.inf
    assert up.replicates is not None
    assert up.replicates.max() == math.inf  # the law knows the sample's own value
    down = joint_test(np.transpose([transformed] * 2), np.transpose([original] * 2))
    assert down.t == (-math.inf, -math.inf)


@pytest.mark.parametrize("unit", [1e-200, 1e-300, 1e200])
def test_each_classifier_has_a_unit_of_its_own(unit: float) -> None:
    a, b = np.random.default_rng(9).random((2, 60, 2))
    plain = joint_test(a, b)
    scaled = joint_test(a * [1, unit], b * [1, unit])
    assert scaled.t == pytest.approx(plain.t, rel=1e-12)
    assert scaled.p_value == plain.p_value
    assert scaled.p_max_t == plain.p_max_t


@pytest.mark.parametrize("n_resamples", [2, 3, 4, 5, 9, 40])
def test_quantiles_beside_infinite_replicates_are_numbers(n_resamples: int) -> None:
    levels = np.linspace(0, 1, 33)
    seen = set()
    for seed in range(20):
        options: dict[str, Any] = {"n_resamples": n_resamples, "rng": seed}
        result = paired_mean_test(
            [1.5] * 2, [1.25] * 2, quantiles=levels, keep_replicates=True, **options
        )
        assert result.replicates is not None
        found = list(result.quantiles.values())
        assert found == sorted(found)  # NaN has no order
        ordered = sorted(result.replicates.tolist())
        for level, value in result.quantiles.items():
            place = level * (n_resamples - 1)
            low = ordered[math.floor(place)]
            high = ordered[math.ceil(place)]
            assert low <= value <= high
            if place == int(place):
                assert value == low
            elif math.isinf(low) != math.isinf(high):
                assert math.isinf(value)
        seen.update(found)
    assert {-math.inf, math.inf} <= seen


def test_scores_that_cancel_on_paper_cancel_in_clusters() -> None:
    original = [0.1, 0.2, 0.3] * 10
    transformed = [0.2, 0.3, 0.1] * 10
    result = paired_mean_test(original, transformed, clusters=np.repeat(np.arange(10), 3))
    assert (result.t, result.p_value, result.n_nonzero) == (0, 1, 0)


def test_small_differences_of_large_scores_cancel_in_clusters() -> None:
    """The rounding errors are those of scores near 1, though the differences are 0.03 at most."""
    original = np.tile([0.93, 0.88, 0.80], 50)
    transformed = np.tile([0.95, 0.89, 0.77], 50)
    clusters = np.repeat(np.arange(50), 3)
    result = paired_mean_test(original, transformed, clusters=clusters)
    assert (result.delta, result.t, result.p_value, result.n_nonzero) == (0, 0, 1, 0)
    joint = joint_test(original[:, None], transformed[:, None], clusters=clusters)
    assert (joint.delta, joint.t, joint.p_value) == ((0,), (0,), (1,))
    # A difference that is there stays.
    original[0] += 1e-12
    shifted = paired_mean_test(original, transformed, clusters=clusters)
    assert (shifted.n_nonzero, shifted.t > 0) == (1, True)


def test_cluster_sums_are_added_by_label() -> None:
    values = np.array([[1.0], [2.0], [4.0], [8.0]])
    sums = sum_clusters(values, np.zeros((4, 1)), np.array([1, 0, 1, 0]), 2)
    assert sums.ravel().tolist() == [10.0, 5.0]


@pytest.mark.parametrize(
    "name", ["list", "pandas", pytest.param("polars", marks=pytest.mark.peer), "arrow"]
)
def test_columns_of_every_library_are_taken(name: str) -> None:
    library = {"list": list, "arrow": pa.array}.get(name)
    if library is None:
        library = pytest.importorskip(name).Series
    rng = np.random.default_rng(4)
    a, b = rng.random((2, 30))
    names = [f"p{i % 7}" for i in range(30)]
    expected = paired_mean_test(a, b, clusters=names).to_dict()
    got = paired_mean_test(
        library(a.tolist()), library(b.tolist()), clusters=library(names)
    ).to_dict()
    assert got == expected


def test_results_print_and_turn_into_json_and_html() -> None:
    a, b = np.random.default_rng(4).random((2, 30))
    result = paired_mean_test(a, b, quantiles=[0.5], clusters=np.arange(30) % 10)
    text = str(result)
    assert "30 in 10 clusters" in text
    assert "below 25" in text
    assert json.loads(result.to_json())["n_clusters"] == 10
    assert "<table>" in result._repr_html_()
    binary = clustered_test(a > 0.5, b > 0.5, np.arange(30) % 10)
    assert "design effect" in str(binary)
    assert json.loads(binary.to_json())["n_clusters"] == 10


def test_a_design_effect_says_how_much_the_variance_grows() -> None:
    premise = np.repeat(np.arange(200), 4)
    wrong = np.repeat(np.random.default_rng(1).random(200) < 0.2, 4)
    result = clustered_test(np.ones(800), ~wrong, premise)
    assert result.design_effect == pytest.approx(4 * (200 / 199) / (800 / 799), rel=1e-9)
    assert result.t == pytest.approx(result.t_independent / 2, rel=1e-9)
    assert result.p_value > result.p_independent


def test_the_design_effect_of_independent_pairs_is_1_whatever_the_sizes() -> None:
    """A variance of cluster sums would hold that of the sizes, times delta squared."""
    clusters = np.repeat(np.arange(400), np.tile([1, 19], 200))
    effects = []
    for seed in range(20):
        right = np.random.default_rng(seed).random(clusters.size) >= 0.3
        result = clustered_test(np.ones(clusters.size), right, clusters, n_resamples=1)
        assert result.design_effect is not None
        effects.append(result.design_effect)
    assert np.mean(effects) == pytest.approx(1, abs=4.5 * np.std(effects) / math.sqrt(20))
    assert max(effects) < 1.5


def test_the_design_effect_is_that_of_its_definition_for_clusters_of_any_size() -> None:
    rng = np.random.default_rng(0)
    # Sums of 20,000 over 4,000 clusters do not fit the exact engine; scaled ones are no sums.
    clusters = np.concatenate([np.repeat(0, 20_000), np.arange(1, 4000)])
    right = rng.random(clusters.size) >= 0.9
    result = clustered_test(np.ones(clusters.size), right, clusters, n_resamples=1)
    n, c = clusters.size, 4000
    differences = [Fraction(int(not x)) for x in right]
    delta = sum(differences) / n
    sums = [Fraction(0)] * c
    for cluster, d in zip(clusters.tolist(), differences, strict=True):
        sums[cluster] += d - delta
    expected = Fraction(c, c - 1) * sum(x * x for x in sums)
    expected /= Fraction(n, n - 1) * sum((d - delta) ** 2 for d in differences)
    assert result.design_effect == pytest.approx(float(expected), rel=1e-9)
    alike = clustered_test(np.ones(6), np.zeros(6), [0, 0, 0, 1, 1, 2], n_resamples=1)
    assert alike.design_effect is None


def _clustered_null_table(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
    """Clusters of 1 to 6 texts; outcomes threshold Gaussians with a shared part of 0.3."""
    clusters = np.repeat(np.arange(size), rng.integers(1, 7, size))
    n = clusters.size
    # What the two versions differ by is shared within a cluster, and so is the text's difficulty.
    shift, hard = rng.standard_normal((2, size))[:, clusters]
    noise = rng.standard_normal((3, n))
    base = np.sqrt(0.3) * hard + np.sqrt(0.7) * noise[0]
    half = 0.25 * (np.sqrt(0.3) * shift + np.sqrt(0.7) * noise[1])
    return base + half > -0.8, base - half > -0.8, clusters


@pytest.mark.slow
def test_clusters_keep_the_level_that_pairs_do_not() -> None:
    """10,000 null tables each; docs/statistics.md quotes the shares."""
    rng = np.random.default_rng(33)
    n_tables = 10_000
    names = ("binary", "scores", "pairs", "scores by pairs")
    rejected = dict.fromkeys(names, 0)
    for table in range(n_tables):
        a, b, clusters = _clustered_null_table(rng, 150)
        binary = clustered_test(a, b, clusters, n_resamples=399, rng=table, n_threads=1)
        shift = rng.standard_normal(150)[clusters]
        d = np.sqrt(0.3) * shift + np.sqrt(0.7) * rng.standard_normal(clusters.size)
        options: dict[str, Any] = {"n_resamples": 399, "rng": table, "n_threads": 1}
        zero = np.zeros(d.size)
        found = (
            binary.p_value,
            paired_mean_test(d, zero, clusters=clusters, **options).p_value,
            binary.p_independent,
            paired_mean_test(d, zero, **options).p_value,
        )
        for name, p in zip(names, found, strict=True):
            rejected[name] += p <= 0.05
    shares = {name: count / n_tables for name, count in rejected.items()}
    print(shares)
    error = math.sqrt(0.05 * 0.95 / n_tables)
    assert shares["binary"] < 0.05 + 3 * error
    assert shares["scores"] < 0.05 + 3 * error
    assert shares["pairs"] > 0.05 + 6 * error
    assert shares["scores by pairs"] > 0.05 + 6 * error


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [8, 16, 32])
def test_few_clusters_keep_the_level_too(n_clusters: int) -> None:
    """3,000 null tables; docs/statistics.md quotes the shares."""
    rng = np.random.default_rng(n_clusters)
    n_tables = 3_000
    rejected = {"binary": 0, "scores": 0}
    for table in range(n_tables):
        a, b, clusters = _clustered_null_table(rng, n_clusters)
        options: dict[str, Any] = {"n_resamples": 399, "rng": table, "n_threads": 1}
        rejected["binary"] += clustered_test(a, b, clusters, **options).p_value <= 0.05
        d = np.sqrt(0.3) * rng.standard_normal(n_clusters)[clusters]
        d += np.sqrt(0.7) * rng.standard_normal(clusters.size)
        rejected["scores"] += (
            paired_mean_test(d, np.zeros(d.size), clusters=clusters, **options).p_value <= 0.05
        )
    print({name: count / n_tables for name, count in rejected.items()})
    limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / n_tables)
    assert all(count / n_tables < limit for count in rejected.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"original": [0.1, math.nan, 0.3]}, r"row 1.*missing"),
        ({"original": [0.1, math.inf, 0.3]}, r"row 1.*finite"),
        ({"original": [0.1, None, 0.3]}, r"row 1.*missing"),
        ({"original": [0.1, 0.2]}, "original has 2, transformed has 3"),
        ({"original": [0.1], "transformed": [0.2]}, "at least two rows"),
        ({"original": ["a", "b", "c"]}, "numbers"),
        ({"clusters": [1, 2]}, "clusters has 2 rows"),
        ({"clusters": [1, 1, 1]}, "only one value"),
        ({"clusters": ["a", None, "b"]}, r"row 1.*missing"),
        ({"alternative": "bigger"}, "alternative must be one of"),
        ({"n_resamples": 0}, "at least 1"),
        ({"n_resamples": 2**63}, "at most"),
        ({"n_resamples": 1.5}, "must be an integer"),
        ({"rng": -1}, "rng must be 0 or more"),
        ({"n_threads": 0}, "n_threads must be at least 1"),
        ({"quantiles": [1.5]}, r"\[0, 1\]"),
        ({"quantiles": [math.nan]}, r"\[0, 1\]"),
        ({"transformed": [0.1, -1e308, 0]}, r"row 1.*transformed .*9\.745e\+288 in size at most"),
    ],
)
def test_wrong_input_is_told(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"original": [0.1, 0.2, 0.3], "transformed": [0.3, 0.2, 0.4]}
    with pytest.raises(InputError, match=message):
        paired_mean_test(**(arguments | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"original": [0, 1, 2]}, r"row 2.*must hold 0 or 1"),
        ({"transformed": ["a", "b", "c"]}, "outcomes"),
        ({"clusters": [1, 1]}, "clusters has 2 rows"),
    ],
)
def test_wrong_outcomes_are_told(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "original": [0, 1, 1],
        "transformed": [1, 1, 0],
        "clusters": [1, 2, 3],
    }
    with pytest.raises(InputError, match=message):
        clustered_test(**(arguments | change))


MEMORY = """
import resource, sys
import numpy as np
from ietest_fast.stats.scores import paired_mean_test
a, b = np.random.default_rng(0).random((2, 30))
paired_mean_test(a, b, n_resamples=1000, quantiles=(0.1,), n_threads=2)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
paired_mean_test(a, b, n_resamples=int(sys.argv[1]), quantiles=(0.1, 0.9), n_threads=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux alone")
def test_memory_does_not_grow_with_the_number_of_replicates() -> None:
    """3 million doubles would be 24 MB; a search holds at most its counts and one buffer."""

    def growth(n_resamples: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(n_resamples)],
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    assert growth(3_000_000) - growth(1_500_000) < 6_000
