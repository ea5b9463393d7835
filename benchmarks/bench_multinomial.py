"""Replicates of t from the law of (K, D), beside numpy's multinomial."""

from __future__ import annotations

import numpy as np

from benchmarks.limits import machine_limits, words_note
from benchmarks.timing import Comparison, interleaved, seconds
from ietest_fast.stats import PairedCounts, paired_test

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


def measure() -> list[Comparison]:
    """Time a replicate, on one thread and on two, and a billion of them."""
    big, small = 20_000_000, 1_000_000
    one, two, numpy_time = interleaved(
        lambda: _ours(big, 1), lambda: _ours(big, 2), lambda: numpy_line(small)
    )
    billion = seconds(lambda: _ours(10**9, 2))
    peer = "rng.multinomial + numpy, one thread"
    return [
        Comparison(
            path="multinomial replicate, 1 thread",
            ours_seconds=one / big,
            peer=peer,
            peer_seconds=numpy_time / small,
            note=words_note(1, one / big, machine_limits()),
        ),
        Comparison(
            path="multinomial replicate, 2 threads",
            ours_seconds=two / big,
            peer=peer,
            peer_seconds=numpy_time / small,
            goal=15,
        ),
        Comparison(path="10⁹ replicates, 2 threads", ours_seconds=billion, goal=10),
    ]
