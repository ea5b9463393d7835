"""Excess churn, flips and symmetry, beside numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import excess_churn_test, flip_test, symmetry_test

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


CHURN = pytest.mark.benchmark(group="excess churn, M = 5, n = 10⁴, S = 10⁵")
EXACT = pytest.mark.benchmark(group="excess churn, M = 5, n = 10⁴, exact law")
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


@SYMMETRY
def test_flips_and_symmetry(race: Race) -> None:
    a, b = make_labels()
    original, transformed = a[:, 0], b[:, 0]

    def both() -> None:
        flip_test(original, transformed, gold=original)
        symmetry_test(original, transformed)

    race.ours("both", both, units=1, at_most_seconds=1)
