"""The studentised bootstrap of scores, beside numpy and arch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.ratios import count
from ietest_fast.stats import paired_test

if TYPE_CHECKING:
    from benchmarks.conftest import Race

N = 10_000


def make_losses() -> tuple[np.ndarray, np.ndarray]:
    """Losses of two versions of 10^4 texts, of which rephrasing leaves none alone."""
    rng = np.random.default_rng(0)
    base = rng.gamma(2, size=N)
    return base + rng.lognormal(0, 1.5, N) - np.exp(1.125), base


def numpy_bootstrap_t(differences: np.ndarray, n_replicates: int) -> np.ndarray:
    """The definition in numpy, a replicate at a time: its fastest way, the sample fits a cache."""
    rng = np.random.default_rng(0)
    n = differences.size
    centred = differences - differences.mean()
    t = np.empty(n_replicates)
    for r in range(n_replicates):
        drawn = centred[rng.integers(0, n, n)]
        t[r] = np.sqrt(n) * drawn.mean() / drawn.std()
    return t


STUDENTISED = pytest.mark.benchmark(group="replicate of the studentised bootstrap, n = 10⁴")


@STUDENTISED
@pytest.mark.parametrize("n_threads", [2, 1])
def test_studentised(race: Race, n_threads: int) -> None:
    """With the replicates of the symmetric law that stand beside them."""
    a, b = make_losses()
    drawn = race.scale(10_000, 100)
    race.ours(
        count(n_threads, "thread"),
        lambda: paired_test(a, b, null="studentised", n_resamples=drawn, n_threads=n_threads),
        units=drawn,
        at_most_seconds=1e-4,
    )


@STUDENTISED
def test_numpy(race: Race) -> None:
    a, b = make_losses()
    drawn = race.scale(1_000, 10)
    differences = a - b
    race.peer(
        "numpy, row by row",
        lambda: numpy_bootstrap_t(differences, drawn),
        units=drawn,
        at_least=2,
    )


@STUDENTISED
def test_arch(race: Race) -> None:
    bootstrap = pytest.importorskip("arch.bootstrap")
    a, b = make_losses()
    differences = a - b
    drawn = race.scale(500, 10)
    race.peer(
        'arch.IIDBootstrap.conf_int(method="studentized")',
        lambda: bootstrap.IIDBootstrap(differences, seed=0).conf_int(
            np.mean,
            reps=drawn,
            method="studentized",
            std_err_func=lambda _, x: np.array([x.std() / np.sqrt(x.size)]),
        ),
        units=drawn,
        at_least=2,
    )
