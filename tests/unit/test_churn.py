"""Excess churn: its definition, its law under swaps, clusters, and what it takes for noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import excess_churn_test
from reference import churn_oracle
from simulations import IS_FULL


def draw_labels(seed: int, *, n: int, m: int, n_labels: int = 3) -> tuple[Any, Any]:
    """Labels of m classifiers on two versions of n texts, which often agree."""
    rng = np.random.default_rng(seed)
    base = rng.integers(n_labels, size=(n, 1))
    tables = []
    for share in (0.4, 0.6):
        noisy = rng.integers(n_labels, size=(n, m))
        tables.append(np.where(rng.random((n, m)) < share, noisy, base))
    return tables[0], tables[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_excess_churn_and_its_p_value_are_those_of_the_definition(seed: int) -> None:
    m = 2 + seed % 3
    a, b = draw_labels(seed, n=12 // m, m=m, n_labels=2 + seed % 4)
    result = excess_churn_test(a, b)
    assert result.method == "exact"
    assert result.excess == pytest.approx(float(churn_oracle.excess_churn(a, b)))
    assert result.p_value == pytest.approx(float(churn_oracle.p_value(a, b)))
    for found, (first, second) in zip(
        (result.churn_original, result.churn_transformed, result.churn_across),
        ((a, a), (b, b), (a, b)),
        strict=True,
    ):
        shares = [churn_oracle.disagreement(x, y) for x, y in zip(first, second, strict=True)]
        assert found == pytest.approx(float(sum(shares) / len(shares)))


@pytest.mark.parametrize(
    "seed", [0, 2, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 3, 4, 5))]
)
def test_clusters_are_swapped_whole(seed: int) -> None:
    m = 2 + seed % 2
    a, b = draw_labels(seed, n=9, m=m)
    clusters = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3])
    result = excess_churn_test(a, b, clusters=clusters)
    assert result.excess == pytest.approx(float(churn_oracle.excess_churn(a, b)))
    expected = churn_oracle.p_value(a, b, clusters.tolist())
    assert result.p_value == pytest.approx(float(expected))


def test_clusters_of_one_text_change_nothing() -> None:
    a, b = draw_labels(3, n=300, m=5)
    alone = excess_churn_test(a, b)
    single = excess_churn_test(a, b, clusters=np.arange(300))
    assert single.p_value == pytest.approx(alone.p_value, rel=1e-9)
    assert single.standard_error == pytest.approx(alone.standard_error)


@pytest.mark.parametrize("m", [2, 5, 13])
def test_replicates_and_the_exact_law_agree(m: int) -> None:
    a, b = draw_labels(m, n=200, m=m, n_labels=2)
    if m == 13:  # too many flips of a text for the exact law, unless few classifiers flip
        b = np.where(np.arange(m) < 9, b, a)
    exact = excess_churn_test(a, b)
    drawn = excess_churn_test(a, b, n_resamples=40_000, rng=1)
    assert (exact.method, drawn.method, drawn.seed) == ("exact", "resample", 1)
    error = 4 * np.sqrt(exact.p_value * (1 - exact.p_value) / 40_000) + 1e-4
    assert abs(drawn.p_value - exact.p_value) < error


def test_too_many_flips_of_a_text_are_drawn() -> None:
    a, b = draw_labels(5, n=30, m=14)
    result = excess_churn_test(a, b, n_resamples=2_000)
    assert result.method == "resample"
    assert excess_churn_test(a, b, n_resamples=2_000, n_threads=1).p_value == result.p_value
    with pytest.raises(InputError, match="more than 10 classifiers"):
        excess_churn_test(a, b, method="exact")


def test_threads_make_no_difference() -> None:
    a, b = draw_labels(8, n=500, m=5)
    found = {
        excess_churn_test(a, b, n_resamples=3_000, n_threads=n_threads).p_value
        for n_threads in (1, 2, 3, 7)
    }
    assert len(found) == 1


def test_without_flips_there_is_nothing_to_show() -> None:
    a, _ = draw_labels(1, n=50, m=5)
    for clusters in (None, np.arange(50) // 2):
        result = excess_churn_test(a, a, clusters=clusters)
        assert (result.p_value, result.flip_rate, result.n_types) == (1.0, 0.0, 0)
        assert result.excess == 0
        # Two trainings differ all the same.
        assert result.churn_across == pytest.approx(result.noise_floor)


def test_flips_of_one_classifier_are_no_excess() -> None:
    a = np.zeros((100, 5), dtype=int)
    b = a.copy()
    b[:, 0] = 1
    result = excess_churn_test(a, b)
    assert (result.excess, result.p_value) == (0.0, 1.0)


def test_labels_come_as_texts_and_by_name() -> None:
    names = np.array(["entailment", "neutral", "contradiction"])
    a, b = draw_labels(2, n=80, m=3)
    result = excess_churn_test(a, b)
    first = {f"m{m}": names[a[:, m]].tolist() for m in range(3)}
    second = {f"m{m}": names[b[:, m]].tolist() for m in (2, 0, 1)}
    assert excess_churn_test(first, second).p_value == pytest.approx(result.p_value)
    assert excess_churn_test(list(a.T), list(b.T)).excess == result.excess


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((9, 1), (9, 1)), {}, "two retrained classifiers"),
        (((9, 3), (9, 2)), {}, "each needs a column in both"),
        (((9, 3), (8, 3)), {}, "differ in length"),
        (((1, 3), (1, 3)), {}, "at least two rows"),
        (((9, 3), (9, 3)), {"method": "multinomial"}, "exact or resample"),
        (((9, 3), (9, 3)), {"method": "exact", "n_resamples": 9}, "leave n_resamples out"),
    ],
)
def test_bad_input_is_named(shapes: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        excess_churn_test(np.zeros(shapes[0]), np.ones(shapes[1]), **options)


def draw_null(rng: np.random.Generator, kind: str, *, n: int, m: int) -> tuple[Any, Any]:
    """Labels whose law over retrainings is the same on both versions."""
    if kind == "cycle":  # a -> b -> c -> a: equal laws, but no symmetry
        a = rng.integers(3, size=(n, m))
        moved = rng.random((n, m)) < 0.1
        return a, np.where(moved, (a + 1) % 3, a)
    # Each text has a law of its own over three labels; most are sure.
    laws = rng.dirichlet([0.2, 0.1, 0.1], size=n)
    edges = laws.cumsum(axis=1)[:, None, :2]
    first = rng.random((n, m, 1))
    second = rng.random((n, m, 1))
    if kind == "dependent":  # a classifier mostly keeps its answer
        second = np.where(rng.random((n, m, 1)) < 0.8, first, second)
    return (first > edges).sum(axis=2), (second > edges).sum(axis=2)


def rejection_rate(kind: str, *, n: int, m: int, n_tables: int, seed: int) -> float:
    """Share of tables that are rejected at 5%."""
    rng = np.random.default_rng(seed)
    rejected = 0
    for _ in range(n_tables):
        rejected += excess_churn_test(*draw_null(rng, kind, n=n, m=m)).p_value < 0.05
    return rejected / n_tables


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["independent", "dependent", "cycle"])
def test_noise_of_retraining_is_rarely_rejected(kind: str) -> None:
    assert rejection_rate(kind, n=300, m=5, n_tables=200, seed=4) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "least"), [("independent", 0.04), ("dependent", 0.04), ("cycle", 0)]
)
def test_noise_of_retraining_is_rejected_as_often_as_it_should_be(kind: str, least: float) -> None:
    # Where answers mostly stay, it takes more texts for p-values that are not too coarse.
    n = 5_000 if kind == "dependent" else 2_000
    size = rejection_rate(kind, n=n, m=5, n_tables=2_000, seed=5)
    print(f"{kind}: {size:.2%}")
    assert least < size < 0.06


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["independent", "dependent"])
def test_few_flips_make_it_careful(kind: str) -> None:
    size = rejection_rate(kind, n=500, m=2, n_tables=2_000, seed=6)
    print(f"{kind}: {size:.2%}")
    assert size < 0.06


def draw_leaning(rng: np.random.Generator, lean: float, *, n: int, m: int) -> tuple[Any, Any]:
    """Outcomes of classifiers that lean, each its own way, to one answer in one version."""
    ability = rng.normal(1.5, 2.0, size=(n, 1)) + rng.normal(0, 0.5, size=(n, m))
    tables = [
        ability + rng.normal(0, 0.3, size=(n, m)) + lean * rng.normal(size=m) > 0 for _ in range(2)
    ]
    return tables[0], tables[1]


@pytest.mark.slow
@pytest.mark.parametrize(("lean", "most"), [(0.0, 0.06), (0.05, 0.075), (0.1, 0.13)])
def test_classifiers_that_lean_make_it_liberal(lean: float, most: float) -> None:
    rng = np.random.default_rng(7)
    rejected, deltas = 0, []
    for _ in range(1_000):
        a, b = draw_leaning(rng, lean, n=3_000, m=5)
        rejected += excess_churn_test(a, b).p_value < 0.05
        deltas.append(a.mean(axis=0) - b.mean(axis=0))
    print(f"lean {lean}: size {rejected / 1_000:.2%}, deltas vary by {np.std(deltas):.4f}")
    assert rejected / 1_000 < most


def share_found(moved: float, *, n: int, m: int, n_tables: int, seed: int) -> float:
    """Share of tables found at 5% if rephrasing moves the law of some texts, either way alike.

    A retrained classifier is right on a text with a probability of its own, beta(4, 0.5); on the
    share ``moved`` of the texts, rephrasing draws that probability anew.
    """
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(n_tables):
        right = rng.beta(4, 0.5, size=(n, 1))
        other = np.where(rng.random((n, 1)) < moved, rng.beta(4, 0.5, size=(n, 1)), right)
        a, b = rng.random((n, m)) < right, rng.random((n, m)) < other
        found += excess_churn_test(a, b).p_value < 0.05
    return found / n_tables


@pytest.mark.slow
def test_power_is_that_of_the_docs() -> None:
    for n in (300, 1_000, 3_000) if IS_FULL else ():
        for m in (2, 5, 10):
            n_tables = 2_000 if m == 2 else 150
            powers = [
                share_found(moved, n=n, m=m, n_tables=n_tables, seed=8)
                for moved in (0.05, 0.1, 0.2)
            ]
            print(f"n = {n}, M = {m}: " + ", ".join(f"{power:.0%}" for power in powers))
    assert share_found(0.2, n=1_000, m=5, n_tables=300, seed=8) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("n", "lean"), [(681, 0.1), (681, 0.2), (3_000, 0.2)])
def test_leans_that_cancel_in_accuracy_make_it_liberal(n: int, lean: float) -> None:
    """Each training prefers some answer on each version, by the same law: H0 is true."""
    rng = np.random.default_rng(6)
    m, n_tables = 5, 1_000
    rejected = missed = warned = 0
    for _ in range(n_tables):
        base = rng.integers(3, size=(n, 1))
        tables = []
        for _ in range(2):
            noisy = np.where(rng.random((n, m)) < 0.15, rng.integers(3, size=(n, m)), base)
            preferred = rng.integers(3, size=m)
            tables.append(np.where(rng.random((n, m)) < lean, preferred, noisy))
        result = excess_churn_test(*tables)
        rejected += result.p_value < 0.05
        missed += 0.0 not in result.confidence_interval()
        warned += result.warning is not None
    print(
        f"n {n}, lean {lean}: size {rejected / n_tables:.1%}, interval misses 0 in "
        f"{missed / n_tables:.1%}, warned {warned / n_tables:.0%}"
    )
    assert rejected / n_tables > 0.06
    assert missed / n_tables > 0.05


def test_data_frames_are_tables_whose_columns_are_matched_by_name() -> None:
    first = pd.DataFrame({"one": list("enc") * 9, "two": list("ene") * 9})
    second = first.iloc[::-1].reset_index(drop=True)[["two", "one"]]
    found = excess_churn_test(first, second)
    assert found == excess_churn_test(first.to_numpy(), second[["one", "two"]].to_numpy())
    assert found == excess_churn_test(first.to_dict("list"), second.to_dict("list"))
