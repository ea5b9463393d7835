"""Excess churn, flips, symmetry and the test of the algorithm, beside numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import algorithm_test, excess_churn_test, flip_test, symmetry_test

if TYPE_CHECKING:
    from benchmarks.conftest import Race

N = 10_000
M = 5
S = 100_000


def make_labels() -> tuple[np.ndarray, np.ndarray]:
    """Labels that five classifiers give to both versions of 10⁴ texts, shape (n, M) each."""
    rng = np.random.default_rng(0)
    edges = rng.dirichlet([0.4, 0.15, 0.15], size=N).cumsum(axis=1)[:, None, :2]
    first, second = rng.random((N, M, 1)), rng.random((N, M, 1))
    second = np.where(rng.random((N, M, 1)) < 0.7, first, second)
    return (first > edges).sum(axis=2), (second > edges).sum(axis=2)


def numpy_churn(original: np.ndarray, transformed: np.ndarray, n_replicates: int) -> np.ndarray:
    """The definition in numpy, a replicate at a time: swap by coins, count labels, square."""
    rng = np.random.default_rng(0)
    found = np.empty(n_replicates)
    labels = np.arange(3)
    flips = (original != transformed).sum()
    for r in range(n_replicates):
        swap = rng.random(original.shape) < 0.5
        a = np.where(swap, transformed, original)
        b = np.where(swap, original, transformed)
        gap = (a[:, :, None] == labels).sum(axis=1) - (b[:, :, None] == labels).sum(axis=1)
        found[r] = (gap**2).sum() / 2 - flips
    return found


def numpy_bowker(original: np.ndarray, transformed: np.ndarray, n_replicates: int) -> np.ndarray:
    """Bowker's statistic of replicates in which coins swap the two answers, in numpy."""
    rng = np.random.default_rng(0)
    found = np.empty(n_replicates)
    for r in range(n_replicates):
        swap = rng.random(original.size) < 0.5
        a, b = np.where(swap, transformed, original), np.where(swap, original, transformed)
        table = np.bincount(3 * a + b, minlength=9).reshape(3, 3)
        gap, both = table - table.T, np.maximum(table + table.T, 1)
        found[r] = (gap**2 / both).sum() / 2
    return found


def numpy_pigeonholes(differences: np.ndarray, n_replicates: int) -> np.ndarray:
    """The mean of replicates that draw texts and classifiers, in numpy."""
    rng = np.random.default_rng(0)
    n, m = differences.shape
    return np.array(
        [
            differences[rng.integers(n, size=n)][:, rng.integers(m, size=m)].mean()
            for _ in range(n_replicates)
        ]
    )


CHURN = pytest.mark.benchmark(group="excess churn, M = 5, n = 10⁴, S = 10⁵")
EXACT = pytest.mark.benchmark(group="excess churn, M = 5, n = 10⁴, exact law")
ALGORITHM = pytest.mark.benchmark(group="test of the algorithm, M = 5, n = 10⁴")
SYMMETRY = pytest.mark.benchmark(group="flips and symmetry, n = 10⁴")


@CHURN
@pytest.mark.parametrize("n_threads", [2, 1])
def test_churn(race: Race, n_threads: int) -> None:
    a, b = make_labels()
    drawn = race.scale(S, 1_000)
    race.ours(
        count(n_threads, "thread"),
        lambda: excess_churn_test(a, b, n_resamples=drawn, n_threads=n_threads),
        units=drawn / S,
        at_most_seconds=5,
    )


@CHURN
def test_numpy_swaps(race: Race) -> None:
    a, b = make_labels()
    drawn = race.scale(100, 2)
    race.peer(
        "numpy, a replicate at a time",
        lambda: numpy_churn(a, b, drawn),
        units=drawn / S,
        at_least=1_000,
    )


@EXACT
def test_exact_churn(race: Race) -> None:
    a, b = make_labels()
    race.ours("exact", lambda: excess_churn_test(a, b), units=1, at_most_seconds=1)


@EXACT
def test_numpy_swaps_for_one_p(race: Race) -> None:
    a, b = make_labels()
    drawn = race.scale(100, 2)
    race.peer(
        "numpy, S = 10⁵, a replicate at a time",
        lambda: numpy_churn(a, b, drawn),
        units=drawn / S,
        at_least=1_000,
    )


@ALGORITHM
def test_algorithm(race: Race) -> None:
    a, b = make_labels()
    race.ours("crossed", lambda: algorithm_test(a == 0, b == 0), units=1, at_most_seconds=1)


@ALGORITHM
def test_numpy_pigeonholes(race: Race) -> None:
    a, b = make_labels()
    differences = (a == 0).astype(float) - (b == 0)
    drawn = race.scale(200, 2)
    race.peer(
        "numpy, bootstrap of texts and classifiers, S = 10⁴",
        lambda: numpy_pigeonholes(differences, drawn),
        units=drawn / 10_000,
        at_least=100,
    )


@SYMMETRY
def test_flips_and_symmetry(race: Race) -> None:
    a, b = make_labels()
    original, transformed = a[:, 0], b[:, 0]

    def both() -> None:
        flip_test(original, transformed, gold=original)
        symmetry_test(original, transformed)

    race.ours("both", both, units=1, at_most_seconds=1)


@SYMMETRY
def test_numpy_coins(race: Race) -> None:
    a, b = make_labels()
    drawn = race.scale(200, 2)
    race.peer(
        "numpy, Bowker's statistic by coins, S = 10⁴",
        lambda: numpy_bowker(a[:, 0], b[:, 0], drawn),
        units=drawn / 10_000,
        at_least=20,
    )
