from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from statsmodels.stats.multitest import multipletests

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats import bonferroni, holm, joint_test
from ietest_fast.stats.resampling import sort_into_types
from ietest_fast.stats.scores import paired_mean_test
from reference import scores_oracle as oracle
from simulations import scaled

SIDES = ("two-sided", "greater", "less")


def _sample(n: int, m: int, seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Classifiers that agree on hard texts, so that their tests are dependent."""
    rng = np.random.default_rng(seed)
    hard = rng.standard_normal((n, 1))
    a = hard + 0.7 * rng.standard_normal((n, m))
    b = a + 0.5 * rng.standard_normal((n, m)) * rng.uniform(0.2, 1.5, m) + rng.uniform(0, 0.15, m)
    if kind == "binary":
        return a > -0.5, b > -0.5
    return a, b


@pytest.mark.parametrize("kind", ["binary", "real"])
@pytest.mark.parametrize("side", SIDES)
def test_adjusted_p_values_are_those_of_the_definition_on_the_same_replicates(
    kind: str, side: Any
) -> None:
    a, b = _sample(120, 4, 3, kind)
    s = 600
    result = joint_test(a, b, alternative=side, n_resamples=s, rng=5, min_p=True)
    types = sort_into_types(a.astype(float) - b.astype(float))
    drawn = _core.scores.draw_sums(
        types.values, types.weights, n_units=120, n_replicates=s, key=philox_key(5)
    )
    sums = np.concatenate([types.sums[None], drawn])
    keys = sums[..., 0] * np.abs(sums[..., 0]) / np.maximum(sums[..., 1], 1e-300)
    far = {"two-sided": np.abs(keys), "greater": keys, "less": -keys}[side]
    far = np.round(far, 9)
    observed, replicates = far[0].tolist(), far[1:]
    marginal = ((replicates >= observed).sum(axis=0) + 1) / (s + 1)
    assert result.p_value == pytest.approx(marginal.tolist(), rel=1e-12)
    assert result.p_max_t == pytest.approx(oracle.step_down_max(observed, replicates), rel=1e-12)
    expected = oracle.step_down_min_p(observed, replicates)
    assert result.p_min_p == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("clustered", [False, True])
def test_one_classifier_is_the_single_test(clustered: bool) -> None:
    a, b = _sample(300, 1, 1, "real")
    clusters = np.arange(300) // 4 if clustered else None
    joint = joint_test(a, b, clusters=clusters, n_resamples=3000, rng=2, min_p=True)
    single = paired_mean_test(a[:, 0], b[:, 0], clusters=clusters, n_resamples=3000, rng=2)
    assert joint.t == (single.t,)
    assert joint.p_value == (single.p_symmetric,)
    assert joint.p_bonferroni == joint.p_holm == joint.p_max_t == joint.p_min_p == joint.p_value


@pytest.mark.parametrize("clustered", [False, True])
def test_one_classifier_repeated_pays_nothing(clustered: bool) -> None:
    a, b = _sample(400, 1, 7, "binary")
    clusters = np.arange(400) // 4 if clustered else None
    joint = joint_test(
        np.repeat(a, 5, axis=1), np.repeat(b, 5, axis=1), clusters=clusters, min_p=True
    )
    assert joint.p_value[0] < 1
    assert len(set(joint.p_max_t)) == 1
    assert joint.p_max_t == joint.p_value == joint.p_min_p
    assert joint.p_bonferroni[0] == min(1, 5 * joint.p_value[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["binary", "real"])
def test_joint_adjustment_is_never_weaker_than_bonferroni(kind: str) -> None:
    """max-t up to Monte Carlo error where the null laws are alike, min-p always and by Holm."""
    for seed in range(30):
        m = 2 + seed % 5
        a, b = _sample(400 + 50 * seed, m, seed, kind)
        joint = joint_test(a, b, n_resamples=4000, rng=seed, min_p=True)
        assert joint.p_min_p is not None
        for p, by_bonferroni, max_t, by_holm, min_p in zip(
            joint.p_value,
            joint.p_bonferroni,
            joint.p_max_t,
            joint.p_holm,
            joint.p_min_p,
            strict=True,
        ):
            assert p <= max_t <= by_bonferroni + 4.5 * m * math.sqrt(p * (1 - p) / 4000) + 1e-12
            assert min_p <= by_holm + 1e-12
            assert by_holm <= by_bonferroni


@pytest.mark.slow
def test_the_smallest_of_many_p_values_by_few_replicates_is_not_too_small() -> None:
    """Ranked among the replicates alone, min-p would reject in 16% of these tables."""
    rng = np.random.default_rng(4)
    rejected = 0
    for table in range(300):
        d = rng.standard_normal((60, 20))
        joint = joint_test(d, np.zeros_like(d), n_resamples=99, rng=table)
        assert joint.p_min_p is not None
        rejected += min(joint.p_min_p) <= 0.05
    print(f"min-p, M = 20, S = 99: {rejected / 300:.1%}")
    assert rejected / 300 < 0.09


def test_min_p_keeps_its_promise_where_null_laws_differ() -> None:
    """Differences with one huge value beside ordinary ones: t* of the former is mostly near 1."""
    rng = np.random.default_rng(0)
    d = rng.standard_normal((200, 4))
    d[0, :2] = 1e4
    d[:, 3] = 0
    d[:5, 3] = 1
    joint = joint_test(d, np.zeros_like(d), n_resamples=5000, min_p=True)
    assert joint.p_min_p is not None
    for min_p, by_holm in zip(joint.p_min_p, joint.p_holm, strict=True):
        assert min_p <= by_holm + 1e-12


def test_the_decision_is_never_weaker_than_bonferronis() -> None:
    """Log-normal differences have a t with short tails, and pay for the others' by max-t."""
    rng = np.random.default_rng(1021)
    d = rng.standard_normal((23, 5))
    spread = np.exp(rng.uniform(0.8, 2.0) * rng.standard_normal(23))
    d[:, 0] = spread * np.where(rng.random(23) < 0.12, -1, 1)
    joint = joint_test(d, np.zeros_like(d), n_resamples=20_000)
    adjusted = (
        joint.p_bonferroni[0],
        (joint.p_min_p or (1.0,))[0],
        joint.p_max_t[0],
    )  # docs/statistics.md
    print(f"t {joint.t[0]:.2f}, p {joint.p_value[0]:.4f}, adjusted {adjusted}")
    assert joint.p_bonferroni[0] < 0.02
    assert joint.p_max_t[0] > 0.05
    assert joint.reject[0]
    assert joint.p_adjusted == joint.p_min_p
    assert all(p <= q + 1e-12 for p, q in zip(joint.p_adjusted, joint.p_holm, strict=True))
    assert "min-p" in str(joint)
    quick = joint_test(d, np.zeros_like(d), n_resamples=20_000, min_p=False)
    assert (quick.p_min_p, quick.p_adjusted) == (None, joint.p_max_t)
    assert not quick.reject[0]


def _dependent_differences(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Five classifiers whose differences correlate by 0.5; as outcomes, about a fifth differ."""
    n, m = 200, 5
    d = np.sqrt(0.5) * rng.standard_normal((n, 1)) + np.sqrt(0.5) * rng.standard_normal((n, m))
    return d if kind == "real" else np.sign(d) * (np.abs(d) > 1.28)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["real", "binary"])
def test_the_family_wise_error_is_held_under_dependence(kind: str) -> None:
    """docs/statistics.md quotes the shares of all tables."""
    rejected = {"p_max_t": 0, "p_min_p": 0, "p_holm": 0, "p_bonferroni": 0, "p_value": 0}
    n_tables = scaled(10_000)
    rng = np.random.default_rng(77)
    for table in range(n_tables):
        d = _dependent_differences(rng, kind)
        joint = joint_test(d, np.zeros_like(d), n_resamples=399, rng=table, min_p=True, n_threads=1)
        for name in rejected:
            rejected[name] += min(getattr(joint, name)) <= 0.05
    error = math.sqrt(0.05 * 0.95 / n_tables)
    print({name: count / n_tables for name, count in rejected.items()})
    for name in ("p_max_t", "p_min_p", "p_holm", "p_bonferroni"):
        assert rejected[name] / n_tables < 0.05 + 3 * error, name
    assert rejected["p_max_t"] > rejected["p_holm"] == rejected["p_bonferroni"]
    assert rejected["p_value"] / n_tables > 0.1


@pytest.mark.parametrize("clustered", [False, True])
def test_threads_change_nothing(clustered: bool) -> None:
    a, b = _sample(1500, 5, 4, "binary")
    clusters = np.arange(1500) // 3 if clustered else None
    results = [
        joint_test(a, b, clusters=clusters, n_resamples=20_001, min_p=True, n_threads=n)
        for n in (1, 2, 3, 7)
    ]
    assert all(result == results[0] for result in results[1:])


def test_a_classifier_without_any_difference_has_p_1() -> None:
    a, b = _sample(200, 3, 4, "binary")
    b[:, 1] = a[:, 1]
    joint = joint_test(a, b, min_p=True)
    assert joint.p_min_p is not None
    assert (joint.t[1], joint.p_value[1], joint.p_max_t[1], joint.p_min_p[1]) == (0, 1, 1, 1)
    nothing = joint_test(a, a, min_p=True)
    assert nothing.p_max_t == nothing.p_min_p == (1, 1, 1)


@pytest.mark.parametrize(
    "name", ["pandas", pytest.param("polars", marks=pytest.mark.peer), "arrow", "dict"]
)
def test_tables_of_every_library_are_taken(name: str) -> None:
    library = {"dict": dict, "arrow": pa.table}.get(name)
    if library is None:
        library = pytest.importorskip(name).DataFrame
    a, b = _sample(60, 2, 4, "real")
    columns = [{"bow": x[:, 0], "bert": x[:, 1]} for x in (a, b)]
    joint = joint_test(*(library(x) for x in columns))
    assert joint.names == ("bow", "bert")
    plain = joint_test(a, b)
    assert plain.names == ("classifier 1", "classifier 2")
    assert joint.p_max_t == plain.p_max_t
    assert "bert" in str(joint)
    assert json.loads(joint.to_json())["names"] == ["bow", "bert"]


@pytest.mark.parametrize(
    "name", ["pandas", pytest.param("polars", marks=pytest.mark.peer), "arrow", "dict"]
)
def test_columns_are_paired_by_name_where_both_have_the_same(name: str) -> None:
    library = {"dict": dict, "arrow": pa.table}.get(name)
    if library is None:
        library = pytest.importorskip(name).DataFrame
    a, b = _sample(60, 3, 4, "real")
    columns = [dict(zip(("x", "y", "z"), table.T, strict=True)) for table in (a, b)]
    turned = {label: columns[1][label] for label in ("z", "x", "y")}
    expected = joint_test(library(columns[0]), library(columns[1]))
    assert joint_test(library(columns[0]), library(turned)) == expected
    # Other names say nothing on what belongs together: places do.
    renamed = {f"{label} rephrased": column for label, column in columns[1].items()}
    assert joint_test(library(columns[0]), library(renamed)) == expected
    by_place = joint_test(library(columns[0]), b)
    assert by_place == joint_test(a, library(columns[1])) == expected


def test_columns_of_one_name_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    right = pandas.DataFrame(np.eye(3), columns=["x", "y", "z"])
    twice = pandas.DataFrame(np.eye(3), columns=["x", "y", "x"])
    with pytest.raises(InputError, match="original has two columns 'x'"):
        joint_test(twice, right)
    table = pa.Table.from_arrays([pa.array([0, 1, 1])] * 3, names=["x", "y", "y"])
    with pytest.raises(InputError, match="transformed has two columns 'y'"):
        joint_test(right, table)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_adjustments_agree_with_statsmodels_and_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(int(rng.integers(1, 12))) ** 3, 2).tolist()  # with ties
    for adjust in (bonferroni, holm):
        expected = multipletests(p, method=adjust.__name__)[1]
        assert adjust(p) == pytest.approx(expected.tolist(), rel=1e-12)
    assert holm(p) == pytest.approx(oracle.holm(p), rel=1e-12)


@pytest.mark.parametrize("adjust", [bonferroni, holm])
@pytest.mark.parametrize(
    ("p_values", "message"),
    [([], "no p-value"), ([0.1, math.nan], "nan"), ([1.5], "1.5")],
)
def test_impossible_adjustments_are_refused(p_values: Any, message: str, adjust: Any) -> None:
    with pytest.raises(InputError, match=message):
        adjust(p_values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"original": np.zeros(3)}, "a column for each classifier"),
        ({"original": np.zeros((3, 1))}, "1 classifiers, but transformed has 2"),
        ({"original": np.zeros((4, 2))}, "original has 4, transformed has 3"),
        ({"original": np.zeros((3, 0))}, "no classifier"),
        ({"original": [[0, 1], [1, math.nan], [0, 0]]}, r"row 1: original, classifier 2"),
        ({"original": {"x": [0, 1, 1], "y": [0, 1]}}, "differ in length"),
        ({"original": {"x": [0, 1, 1], "y": ["a", "b", "c"]}}, "column 'y' must hold numbers"),
        ({"clusters": [1, 2]}, "clusters has 2 rows"),
        ({"alternative": "up"}, "alternative"),
        ({"alpha": 0}, "alpha must lie between 0 and 1"),
        ({"n_resamples": 0}, "at least 1"),
    ],
)
def test_wrong_input_is_told(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"original": np.ones((3, 2)), "transformed": np.zeros((3, 2))}
    with pytest.raises(InputError, match=message):
        joint_test(**(arguments | change))


def test_few_discordant_pairs_are_named() -> None:
    a, b = np.ones((500, 3)), np.ones((500, 3))
    b[:6, 0] = 0
    b[:60, 1] = 0
    result = joint_test(a, b)
    assert result.warning == (
        "below 25 pairs that differ the bootstrap test may reject too often, and the correction "
        "with it: classifier 1 (6; conditional exact p 0.03125)"
    )
    assert f"Warning: {result.warning}." in str(result)
    assert "conditional exact p 0.01562" in str(joint_test(a, b, alternative="greater").warning)
    clustered = joint_test(a, b, clusters=np.arange(500) // 5)
    assert "below 25 clusters that differ" in str(clustered.warning)
    assert ": classifier 1 (2), classifier 2 (12)" in str(clustered.warning)
    scores = joint_test(a * 0.3, b * 0.3)
    assert ": classifier 1 (6)" in str(scores.warning)
