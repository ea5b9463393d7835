"""Replicates of t from the law of (K, D), beside numpy's multinomial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import PairedCounts, paired_test

if TYPE_CHECKING:
    from benchmarks.conftest import Race

TABLE = PairedCounts(7_000, 450, 350, 2_200)


def numpy_line(n_replicates: int, seed: int = 0) -> float:
    """S replicates with numpy: draw counts, compute t, count."""
    rng = np.random.default_rng(seed)
    n, k = TABLE.n, TABLE.k
    drawn = rng.multinomial(n, [k / (2 * n), k / (2 * n), 1 - k / n], size=n_replicates)
    d = drawn[:, 0] - drawn[:, 1]
    t = d / np.sqrt(drawn[:, 0] + drawn[:, 1] - d * d / n)
    return 2 * min((t <= TABLE.t).mean(), (t > TABLE.t).mean())


def _ours(n_replicates: int, n_threads: int) -> None:
    paired_test(TABLE, method="multinomial", n_resamples=n_replicates, n_threads=n_threads)


REPLICATE = pytest.mark.benchmark(group="multinomial replicate")


@REPLICATE
@pytest.mark.parametrize("n_threads", [1, 2])
def test_replicates(race: Race, n_threads: int) -> None:
    drawn = race.scale(20_000_000, 100_000)
    race.ours(count(n_threads, "thread"), lambda: _ours(drawn, n_threads), units=drawn)


@REPLICATE
def test_numpy(race: Race) -> None:
    drawn = race.scale(1_000_000, 1_000)
    race.peer(
        "rng.multinomial + numpy, one thread",
        lambda: numpy_line(drawn),
        units=drawn,
        at_least={"1 thread": 15, "2 threads": 15},
    )


@pytest.mark.benchmark(group="10⁹ replicates")
def test_a_billion(race: Race) -> None:
    drawn = race.scale(10**9, 10**5)
    race.ours("2 threads", lambda: _ours(drawn, 2), rounds=1, at_most_seconds=10)
