"""The bootstrap over 10⁵ buckets, beside numpy index by index and type by type."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import BucketCounts, count_buckets, measure_consistency

if TYPE_CHECKING:
    from benchmarks.conftest import Race

N_BUCKETS = 100_000


@cache
def make_buckets() -> BucketCounts:
    """10⁵ buckets of 3 to 12 paraphrases, as right as a beta law says."""
    rng = np.random.default_rng(0)
    names = np.repeat(np.arange(N_BUCKETS), rng.integers(3, 13, N_BUCKETS))
    return count_buckets(names, rng.random(names.size) < rng.beta(2, 1, N_BUCKETS)[names])


def numpy_indices(n_resamples: int) -> tuple[float, float]:
    """The interval of P_C: draw the index of every bucket, some replicates at a time."""
    rng = np.random.default_rng(1)
    theta = make_buckets().theta
    consistency = theta**2 + (1 - theta) ** 2
    means = [
        consistency[rng.integers(N_BUCKETS, size=(10, N_BUCKETS))].mean(axis=1)
        for _ in range(max(1, n_resamples // 10))
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def numpy_types(n_resamples: int) -> tuple[float, float]:
    """The interval of P_C from draws of how often each pair (n, k) occurs."""
    rng = np.random.default_rng(1)
    buckets = make_buckets()
    pairs, weights = np.unique(
        np.stack([buckets.sizes, buckets.right], axis=1), axis=0, return_counts=True
    )
    theta = pairs[:, 1] / pairs[:, 0]
    drawn = rng.multinomial(N_BUCKETS, weights / N_BUCKETS, size=n_resamples)
    means = drawn @ (theta**2 + (1 - theta) ** 2) / N_BUCKETS
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


REPLICATE = pytest.mark.benchmark(group="bootstrap over 10⁵ buckets, a replicate")


@REPLICATE
@pytest.mark.parametrize("n_threads", [1, 2])
def test_buckets(race: Race, n_threads: int) -> None:
    buckets = make_buckets()
    drawn = race.scale(100_000, 1_000)
    race.ours(
        count(n_threads, "thread"),
        lambda: measure_consistency(
            buckets, method="resample", n_resamples=drawn, n_threads=n_threads
        ),
        units=drawn,
        rounds=3,
        note="ten measures and their BCa intervals",
    )


@REPLICATE
def test_numpy_indices(race: Race) -> None:
    drawn = race.scale(100, 10)
    race.peer(
        "rng.integers and indexing, one thread",
        lambda: numpy_indices(drawn),
        units=drawn,
        rounds=3,
        at_least={"1 thread": 20, "2 threads": 20},
        note="one measure and its percentile interval",
    )


@REPLICATE
def test_numpy_types(race: Race) -> None:
    drawn = race.scale(10_000, 100)
    race.peer(
        "rng.multinomial over types, one thread",
        lambda: numpy_types(drawn),
        units=drawn,
        rounds=3,
        note="one measure and its percentile interval",
    )


@pytest.mark.benchmark(group="10⁵ replicates over 10⁵ buckets")
def test_the_goal(race: Race) -> None:
    buckets = make_buckets()
    drawn = race.scale(100_000, 1_000)
    race.ours(
        "2 threads",
        lambda: measure_consistency(buckets, method="resample", n_resamples=drawn, n_threads=2),
        rounds=1,
        at_most_seconds=10,
    )


@pytest.mark.benchmark(group="10⁵ replicates over 10⁵ buckets in clusters of three")
def test_clusters(race: Race) -> None:
    # Whole clusters are drawn, of which few are alike.
    buckets = make_buckets()
    n = race.scale(N_BUCKETS, 1_000)
    kept = buckets.take(np.arange(n))
    names = np.repeat(np.arange(n), kept.sizes)
    rng = np.random.default_rng(2)
    clustered = count_buckets(
        names, rng.random(names.size) < 0.7, clusters=(np.arange(n) // 3)[names]
    )
    drawn = race.scale(1_000, 10)
    race.ours(
        "2 threads",
        lambda: measure_consistency(clustered, method="resample", n_resamples=drawn, n_threads=2),
        units=drawn / 100_000,
        rounds=1,
        note=f"{drawn:,} replicates timed",
    )
