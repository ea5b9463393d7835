"""Scores, clusters and several classifiers: replicates of the sampler by types, beside peers.

Peers that know no coins draw without them, which favours them. The notes give processor time on one
thread, which other work on the machine disturbs least, and the fraction of the machine's limit.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.limits import machine_limits, words_note
from benchmarks.timing import Comparison, interleaved, seconds
from ietest_fast.stats import joint_test
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.scores import paired_score_test

if TYPE_CHECKING:
    from collections.abc import Callable

N = 10_000
N_CLUSTERS = 3_300
M = 5


def processor_seconds(*calls: Callable[[], object], rounds: int = 3) -> list[float]:
    """Give the least processor time of each call over some rounds, in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for place, call in enumerate(calls):
            start = time.process_time()
            call()
            best[place] = min(best[place], time.process_time() - start)
    return best


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


def measure() -> list[Comparison]:
    """Time a replicate of each design on two threads."""
    from scipy import stats as scipy_stats

    a, b = make_scores()
    d = a - b
    gather = numba_gather()
    big, small = 40_000, 200
    calls: list[Callable[[], object]] = [
        lambda: paired_score_test(a, b, n_resamples=big, n_threads=2),
        lambda: paired_score_test(a, b, n_resamples=big, n_threads=1),
        lambda: gather(d, big // 4, 1),
        lambda: scipy_stats.bootstrap(
            (a, b),
            _paired_t,
            paired=True,
            n_resamples=small,
            method="percentile",
            batch=10,
            rng=0,
        ),
    ]
    names = [
        "",
        "",
        "numba prange gather, 2 threads",
        "scipy.stats.bootstrap, percentile, batches of 10 (its fastest)",
    ]
    sizes = [big, big, big // 4, small]
    goals: list[float | None] = [None, None, 2.0, 100.0]
    try:
        from arch.bootstrap import IIDBootstrap
    except ImportError:
        print("arch is not installed: left out", file=sys.stderr)
    else:
        calls.append(lambda: IIDBootstrap(a, b, seed=0).apply(_paired_t, small))
        names.append("arch.IIDBootstrap")
        sizes.append(small)
        goals.append(50.0)
    times = [t / size for t, size in zip(interleaved(*calls, rounds=3), sizes, strict=True)]
    on_processor = [t / size for t, size in zip(processor_seconds(*calls), sizes, strict=True)]
    # Once: it takes as long as all others together, and some GB.
    names.append("scipy.stats.bootstrap with its defaults: 9,999 resamples, BCa, one batch")
    goals.append(100.0)
    start = time.process_time()
    times.append(
        seconds(lambda: scipy_stats.bootstrap((a, b), _paired_t, paired=True, rng=0)) / 9_999
    )
    on_processor.append((time.process_time() - start) / 9_999)
    limits = machine_limits()
    rate = N / on_processor[1]
    share = ""
    if limits is not None:
        # A unit reads its value and its square; the bare loop makes a word.
        share = (
            f"; {rate / limits['philox_words']:.1f} draws in the time of a word of a bare Philox "
            f"loop; {16 * rate / limits['gather_l2_bytes']:.0%} of the bytes/s of a gather from "
            f"L2, {16 * rate / limits['stream_l2_bytes']:.0%} of a plain read's"
        )
    lines = []
    for place in range(2, len(names)):
        ratio = on_processor[place] / on_processor[1]
        note = f"processor time, ours on 1 thread: {on_processor[1] * 1e6:.2f} µs, {ratio:.3g}×"
        lines.append(
            Comparison(
                path="scores, n = 10⁴, 2 threads",
                ours_seconds=times[0],
                peer=names[place],
                peer_seconds=times[place],
                goal=goals[place],
                note=note + (share if place == 2 else ""),
            )
        )
    return lines + _measure_clusters(limits) + _measure_joint(limits)


def _measure_clusters(limits: dict[str, float] | None) -> list[Comparison]:
    a, b, clusters = make_clusters()
    sums = np.bincount(clusters, weights=a.astype(float) - b)
    big, small = 2_000_000, 20_000
    (one,) = processor_seconds(lambda: clustered_test(a, b, clusters, n_resamples=big, n_threads=1))
    two, peer = interleaved(
        lambda: clustered_test(a, b, clusters, n_resamples=big, n_threads=2),
        lambda: numpy_clusters(sums, small),
    )
    nonzero = int((sums != 0).sum())
    n_types = np.unique(np.abs(sums[sums != 0])).size
    # The number of clusters drawn, two words a type, and those drawn singly.
    extras = 2 * np.sqrt(nonzero * (2 - nonzero / N_CLUSTERS))
    words = 1 + 2 * n_types + extras * (1 + 1 / 64)
    path = "clustered binary, 10⁴ in 3,300 clusters, 2 threads"
    note = f"{n_types} types; " + words_note(words, one / big, limits)
    return [
        Comparison(path=path, ours_seconds=two / big, goal=1e-6, note=note),
        Comparison(
            path=path,
            ours_seconds=two / big,
            peer="rng.multinomial + numpy on the same types",
            peer_seconds=peer / small,
        ),
    ]


def _measure_joint(limits: dict[str, float] | None) -> list[Comparison]:
    a, b = make_joint()
    d = a.astype(float) - b
    big, small = 400_000, 100
    result = joint_test(a, b, n_resamples=big, min_p=False, n_threads=2)
    (one,) = processor_seconds(lambda: joint_test(a, b, n_resamples=big, min_p=False, n_threads=1))
    two, peer = interleaved(
        lambda: joint_test(a, b, n_resamples=big, min_p=False, n_threads=2),
        lambda: numpy_joint(d, small),
    )
    (decides,) = interleaved(lambda: joint_test(a, b, n_resamples=100_000, n_threads=2))
    nonzero = int((d != 0).any(axis=1).sum())
    extras = 2 * np.sqrt(nonzero * (2 - nonzero / N))
    words = 1 + 2 * result.n_types + extras * (1 + 1 / 64)
    path = "joint max-|t|, M = 5, n = 10⁴, 2 threads"
    note = f"{result.n_types} types; " + words_note(words, one / big, limits)
    return [
        Comparison(path=path, ours_seconds=two / big, goal=2e-6, note=note),
        Comparison(
            path=path,
            ours_seconds=two / big,
            peer="numpy, row by row",
            peer_seconds=peer / small,
            goal=100,
        ),
        Comparison(
            path="the same with step-down min-p, the default, S = 10⁵",
            ours_seconds=decides / 100_000,
            goal=2e-6,
        ),
    ]
