"""Cochran's replicates and exact bootstrap intervals, beside numpy, numba and scipy."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import PairedCounts, cochran_q_test, estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.conftest import Race

N, N_MIXED = 10_000, 600


def _table() -> np.ndarray:
    """Three versions of 10,000 texts, 600 of them mixed."""
    rng = np.random.default_rng(0)
    patterns = np.array([p for p in itertools.product((0, 1), repeat=3) if 0 < sum(p) < 3])
    table = np.ones((N, 3), dtype=np.uint8)
    table[: N // 6] = 0
    table[-N_MIXED:] = patterns[rng.integers(0, 6, N_MIXED)]
    return table


TABLE = _table()
LEVELS = TABLE.sum(axis=1)
SUMS = TABLE.sum(axis=0).astype(np.int64)
SPREAD = int(3 * (SUMS**2).sum() - SUMS.sum() ** 2)
WEIGHT = int((LEVELS * (3 - LEVELS)).sum())


def numpy_multinomial(n_resamples: int) -> float:
    """P(Q* >= Q) from draws of how often each of the eight patterns occurs."""
    rng = np.random.default_rng(1)
    patterns = np.array(list(itertools.product((0, 1), repeat=3)))
    ways = np.array([1, 3, 3, 1])[patterns.sum(axis=1)]
    shares = np.bincount(LEVELS, minlength=4)[patterns.sum(axis=1)] / N / ways
    drawn = rng.multinomial(N, shares, size=n_resamples)
    sums = drawn @ patterns
    spread = 3 * (sums**2).sum(axis=1) - sums.sum(axis=1) ** 2
    weight = drawn @ (patterns.sum(axis=1) * (3 - patterns.sum(axis=1)))
    return float((spread * WEIGHT >= SPREAD * weight).mean())


def make_numba_resample() -> tuple[Callable[[int], int], int]:
    """Compile the definition: a row, then one of its permutations, in parallel over replicates."""
    from numba import get_num_threads, njit, prange

    masks = np.array([[0, 0, 0], [1, 2, 4], [3, 5, 6], [7, 7, 7]])
    ways = np.array([1, 3, 3, 1])
    levels = LEVELS.astype(np.int64)

    @njit(parallel=True)
    def run(n_resamples: int) -> int:
        at_least = 0
        for _replicate in prange(n_resamples):
            a = b = c = weight = 0
            for _row in range(levels.size):
                level = levels[np.random.randint(0, levels.size)]  # noqa: NPY002
                mask = masks[level, np.random.randint(0, ways[level])]  # noqa: NPY002
                a += mask & 1
                b += mask >> 1 & 1
                c += mask >> 2
                weight += level * (3 - level)
            spread = 3 * (a * a + b * b + c * c) - (a + b + c) ** 2
            at_least += spread * WEIGHT >= SPREAD * weight
        return at_least

    run(2)
    return run, get_num_threads()


def scipy_bca(counts: PairedCounts) -> None:
    """scipy's BCa interval for delta with its default S."""
    from scipy.stats import bootstrap

    bootstrap((counts.differences().astype(float),), np.mean, method="BCa", batch=500)


REPLICATE = pytest.mark.benchmark(group="Cochran multinomial replicate, v = 3")
RESAMPLE = pytest.mark.benchmark(group="Cochran resample replicate, n = 10⁴, v = 3")
INTERVAL = pytest.mark.benchmark(group="percentile and BCa interval, n = 9,824, k = 906")
COUNTS = PairedCounts(7_614, 614, 292, 1_304)


@REPLICATE
@pytest.mark.parametrize("n_threads", [1, 2])
def test_multinomial(race: Race, n_threads: int) -> None:
    drawn = race.scale(2_000_000, 10_000)
    race.ours(
        count(n_threads, "thread"),
        lambda: cochran_q_test(TABLE, n_resamples=drawn, n_threads=n_threads),
        units=drawn,
    )


@REPLICATE
def test_numpy(race: Race) -> None:
    drawn = race.scale(50_000, 500)
    race.peer(
        "rng.multinomial over patterns + numpy, one thread",
        lambda: numpy_multinomial(drawn),
        units=drawn,
        at_least=3.5,
    )


@RESAMPLE
def test_resample(race: Race) -> None:
    drawn = race.scale(400, 4)
    race.ours(
        "all threads",
        lambda: cochran_q_test(TABLE, method="resample", n_resamples=drawn),
        units=drawn,
    )


@RESAMPLE
def test_numba(race: Race) -> None:
    drawn = race.scale(400, 4)
    run, n_threads = make_numba_resample()
    race.peer(f"numba prange, {n_threads} threads", lambda: run(drawn), units=drawn, at_least=2)


@pytest.mark.benchmark(group="Cochran exact law, v = 3, 600 mixed texts")
def test_exact(race: Race) -> None:
    table = TABLE[:: race.scale(1, 20)]
    race.ours("1 thread", lambda: cochran_q_test(table, method="exact"), rounds=1)


@INTERVAL
def test_interval(race: Race) -> None:
    race.ours("limit of large S", lambda: estimate(COUNTS), calls=50)


@INTERVAL
def test_scipy(race: Race) -> None:
    counts = COUNTS if not race.quick else PairedCounts(70, 6, 3, 13)
    race.peer(
        "scipy.stats.bootstrap BCa, S = 9,999",
        lambda: scipy_bca(counts),
        rounds=3,
        at_least=1_000,
    )
