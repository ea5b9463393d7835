"""Scores, clusters and several classifiers: replicates of the sampler by types, beside peers.

Peers that know no coins draw without them, which favours them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import joint_test
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.scores import paired_mean_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.conftest import Race

N = 10_000
N_CLUSTERS = 3_300
M = 5


def make_scores() -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the gold label on two versions of 10^4 texts."""
    rng = np.random.default_rng(0)
    logit = rng.normal(1.5, 2, N)
    return 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit - rng.normal(0, 0.5, N)))


def make_clusters() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes on 10^4 texts in 3,300 clusters, correlated within them."""
    rng = np.random.default_rng(1)
    clusters = np.sort(
        np.concatenate([np.arange(N_CLUSTERS), rng.integers(0, N_CLUSTERS, N - N_CLUSTERS)])
    )
    hard = rng.normal(0, 1, N_CLUSTERS)[clusters]
    base = hard + rng.normal(0, 1, N)
    return base > -1, base + rng.normal(0, 0.4, N) > -1, clusters


def make_joint() -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of five classifiers on 10^4 texts and their rephrasings."""
    rng = np.random.default_rng(2)
    base = rng.normal(0, 1, (N, 1)) + rng.normal(0, 0.7, (N, M))
    return base > -1, base + rng.normal(0, 0.25, (N, M)) > -1


def numba_gather() -> Callable[[np.ndarray, int, int], np.ndarray]:
    """The definition as numba does it best: an inlined generator, one word a draw, no array."""
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def replicates(differences: np.ndarray, n_replicates: int, seed: int) -> np.ndarray:
        n = differences.size
        t = np.empty(n_replicates)
        for r in numba.prange(n_replicates):
            state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(r + 1)
            state *= np.uint64(0xBF58476D1CE4E5B9)
            total = 0.0
            squares = 0.0
            for _ in range(n):
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                row = ((state >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)
                sign = 1.0 - 2.0 * np.float64(state & np.uint64(1))
                d = differences[row]
                total += sign * d
                squares += d * d
            t[r] = total / np.sqrt(squares - total * total / n)
        return t

    numba.set_num_threads(min(2, numba.get_num_threads()))
    return replicates


def _t(d: np.ndarray, axis: int = -1) -> Any:
    return np.sqrt(d.shape[axis]) * d.mean(axis=axis) / d.std(axis=axis)


def _paired_t(original: np.ndarray, transformed: np.ndarray, axis: int = -1) -> Any:
    return _t(original - transformed, axis)


def numpy_clusters(values: np.ndarray, n_replicates: int) -> np.ndarray:
    """numpy's multinomial over the types and binomial coins."""
    rng = np.random.default_rng(0)
    types, weights = np.unique(np.abs(values), return_counts=True)
    drawn = rng.multinomial(values.size, weights / values.size, size=n_replicates)
    signed = 2 * rng.binomial(drawn, 0.5) - drawn
    total = signed @ types
    t: np.ndarray = total / np.sqrt(drawn @ (types * types) - total * total / values.size)
    return t


def numpy_joint(differences: np.ndarray, n_replicates: int) -> np.ndarray:
    """The definition in numpy, a replicate at a time."""
    rng = np.random.default_rng(0)
    n = differences.shape[0]
    largest = np.empty(n_replicates)
    for r in range(n_replicates):
        sample = differences[rng.integers(0, n, n)] * rng.choice([-1.0, 1.0], n)[:, None]
        largest[r] = np.abs(_t(sample, axis=0)).max()
    return largest


SCORES = pytest.mark.benchmark(group="replicate of scores, n = 10⁴")
CLUSTERS = pytest.mark.benchmark(group="replicate, binary, 10⁴ in 3,300 clusters")
JOINT = pytest.mark.benchmark(group="replicate of joint max-t, M = 5, n = 10⁴")
THREADS = pytest.mark.parametrize("n_threads", [2, 1])


@SCORES
@THREADS
def test_scores(race: Race, n_threads: int) -> None:
    a, b = make_scores()
    drawn = race.scale(40_000, 100)
    race.ours(
        count(n_threads, "thread"),
        lambda: paired_mean_test(a, b, n_resamples=drawn, n_threads=n_threads),
        units=drawn,
    )


@SCORES
def test_numba(race: Race) -> None:
    a, b = make_scores()
    differences = a - b
    drawn = race.scale(10_000, 10)
    gather = numba_gather()
    gather(differences, 2, 1)
    race.peer(
        "numba prange gather, 2 threads",
        lambda: gather(differences, drawn, 1),
        units=drawn,
        at_least=2,
    )


@SCORES
def test_scipy_in_batches(race: Race) -> None:
    from scipy import stats

    a, b = make_scores()
    drawn = race.scale(200, 10)
    race.peer(
        "scipy.stats.bootstrap, percentile, batches of 10 (its fastest)",
        lambda: stats.bootstrap(
            (a, b), _paired_t, paired=True, n_resamples=drawn, method="percentile", batch=10, rng=0
        ),
        units=drawn,
        at_least=15,
    )


@SCORES
def test_scipy(race: Race) -> None:
    from scipy import stats

    a, b = make_scores()
    if race.quick:
        a, b = a[:50], b[:50]
    race.peer(
        "scipy.stats.bootstrap with its defaults: 9,999 resamples, BCa, one batch",
        lambda: stats.bootstrap((a, b), _paired_t, paired=True, rng=0),
        units=9_999,
        rounds=1,
        at_least=100,
    )


@SCORES
def test_arch(race: Race) -> None:
    bootstrap = pytest.importorskip("arch.bootstrap")
    a, b = make_scores()
    drawn = race.scale(200, 5)
    race.peer(
        "arch.IIDBootstrap",
        lambda: bootstrap.IIDBootstrap(a, b, seed=0).apply(_paired_t, drawn),
        units=drawn,
        at_least=10,
    )


@CLUSTERS
@THREADS
def test_clusters(race: Race, n_threads: int) -> None:
    a, b, clusters = make_clusters()
    drawn = race.scale(2_000_000, 1_000)
    race.ours(
        count(n_threads, "thread"),
        lambda: clustered_test(a, b, clusters, n_resamples=drawn, n_threads=n_threads),
        units=drawn,
        at_most_seconds=1e-6,
    )


@CLUSTERS
def test_numpy_on_types(race: Race) -> None:
    a, b, clusters = make_clusters()
    sums = np.bincount(clusters, weights=a.astype(float) - b)
    drawn = race.scale(20_000, 100)
    race.peer(
        "rng.multinomial + numpy on the same types",
        lambda: numpy_clusters(sums, drawn),
        units=drawn,
        at_least=1.2,
    )


@JOINT
@pytest.mark.parametrize("min_p", [False, True])
def test_joint(race: Race, min_p: bool) -> None:
    a, b = make_joint()
    drawn = race.scale(100_000 if min_p else 400_000, 1_000)
    race.ours(
        "2 threads, step-down min-p" if min_p else "2 threads",
        lambda: joint_test(a, b, n_resamples=drawn, min_p=min_p, n_threads=2),
        units=drawn,
        at_most_seconds=2e-6,
    )


@JOINT
def test_numpy_row_by_row(race: Race) -> None:
    a, b = make_joint()
    differences = a.astype(float) - b
    drawn = race.scale(100, 2)
    race.peer(
        "numpy, row by row", lambda: numpy_joint(differences, drawn), units=drawn, at_least=100
    )
