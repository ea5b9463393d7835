"""The exact p-value beside the bootstrap that it replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ietest_fast.stats import PairedCounts, paired_test

if TYPE_CHECKING:
    from benchmarks.conftest import Race

TABLE = PairedCounts(7_000, 450, 350, 2_200)
BIG_TABLE = PairedCounts(840_000, 31_000, 29_000, 100_000)
S = 1000


def pandas_bootstrap(counts: PairedCounts, n_replicates: int, seed: int = 0) -> float:
    """Eq. 14 the way scripts do it: a data frame resampled in a loop."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    four = [counts.n11, counts.n10, counts.n01, counts.n00]
    frame = pd.DataFrame({"A": np.repeat([1, 1, 0, 0], four), "B": np.repeat([1, 0, 1, 0], four)})

    def paired_t(sample: pd.DataFrame) -> float:
        difference = sample["A"] - sample["B"]
        return float(np.sqrt(len(sample)) * difference.mean() / difference.std(ddof=0))

    observed = paired_t(frame)
    replicates = []
    for _ in range(n_replicates):
        sample = frame.sample(n=len(frame), replace=True, random_state=rng)
        heads = rng.random(len(sample)) < 0.5
        swapped = pd.DataFrame(
            {
                "A": np.where(heads, sample["B"], sample["A"]),
                "B": np.where(heads, sample["A"], sample["B"]),
            }
        )
        replicates.append(paired_t(swapped))
    t = np.array(replicates)
    return 2 * min((t <= observed).mean(), (t > observed).mean())


def numpy_bootstrap(counts: PairedCounts, n_replicates: int, seed: int = 0) -> float:
    """The same on one vector of differences."""
    rng = np.random.default_rng(seed)
    difference = counts.differences()
    n = difference.size
    signs = np.array([-1, 1], dtype=np.int8)
    t = np.empty(n_replicates)
    for s in range(n_replicates):
        drawn = difference[rng.integers(n, size=n)] * signs[rng.integers(2, size=n)]
        d, k = int(drawn.sum()), int(np.abs(drawn).sum())
        t[s] = d / np.sqrt(k - d * d / n)
    return 2 * min((t <= counts.t).mean(), (t > counts.t).mean())


EXACT = pytest.mark.benchmark(group="exact p, n = 10⁴, k = 800")


@EXACT
def test_exact(race: Race) -> None:
    race.ours("one test", lambda: paired_test(TABLE), calls=500, at_most_seconds=50e-6)


@EXACT
def test_pandas(race: Race) -> None:
    drawn = race.scale(100, 5)
    race.peer(
        f"pandas loop, S = {S:,}",
        lambda: pandas_bootstrap(TABLE, drawn),
        units=drawn / S,
        rounds=1,
        at_least=50_000,
        note=f"peer timed on S = {drawn} and scaled",
    )


@EXACT
def test_numpy(race: Race) -> None:
    drawn = race.scale(S, 10)
    race.peer(
        f"numpy loop, S = {S:,}",
        lambda: numpy_bootstrap(TABLE, drawn),
        units=drawn / S,
        rounds=3,
        at_least=2_000,
    )


@pytest.mark.benchmark(group="exact p, n = 10⁶, k = 6·10⁴")
def test_exact_of_many(race: Race) -> None:
    race.ours("one test", lambda: paired_test(BIG_TABLE), calls=100, at_most_seconds=1e-3)
