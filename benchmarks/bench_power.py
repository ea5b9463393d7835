"""Power by enumeration beside the simulation that it replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ietest_fast.stats import power, power_curve, sample_size

if TYPE_CHECKING:
    from benchmarks.conftest import Race

N, PSI, DELTA = 10_000, 0.08, 0.01
N_SIMULATED = 10_000


def simulated_power(n: int, psi: float, delta: float, n_tables: int, seed: int = 0) -> float:
    """The usual way: draw tables, test each (McNemar's exact test of statsmodels), count."""
    from statsmodels.stats.contingency_tables import mcnemar

    rng = np.random.default_rng(seed)
    shares = [(psi + delta) / 2, (psi - delta) / 2, 1 - psi]
    rejected = 0
    for n10, n01, rest in rng.multinomial(n, shares, size=n_tables):
        rejected += mcnemar([[rest, n10], [n01, 0]], exact=True).pvalue < 0.05
    return rejected / n_tables


ONE = pytest.mark.benchmark(group="one power, n = 10⁴")


@pytest.mark.benchmark(group="power curve, 50 n up to 10⁴")
def test_curve_over_n(race: Race) -> None:
    sizes = np.linspace(N // 50, N, 50).astype(int)
    race.ours("enumerated", lambda: power_curve(PSI, n=sizes, delta=DELTA), at_most_seconds=1.0)


@pytest.mark.benchmark(group="power curve, 50 delta, n = 10⁴")
def test_curve_over_delta(race: Race) -> None:
    deltas = np.linspace(0, 0.02, 50)
    race.ours("enumerated", lambda: power_curve(PSI, n=N, delta=deltas), at_most_seconds=1.0)


@ONE
def test_one_power(race: Race) -> None:
    race.ours("enumerated", lambda: power(N, PSI, DELTA), calls=5)


@ONE
def test_simulation(race: Race) -> None:
    drawn = race.scale(200, 5)
    race.peer(
        "10⁴ simulated tables, statsmodels `mcnemar`",
        lambda: simulated_power(N, PSI, DELTA, drawn),
        units=drawn / N_SIMULATED,
        rounds=3,
        at_least=30,
        note=f"peer timed on {drawn} tables and scaled; its answer has an error of 0.5%",
    )


@pytest.mark.benchmark(group="sample size, psi = 0.08, delta = 0.01")
def test_sample_size(race: Race) -> None:
    race.ours("enumerated", lambda: sample_size(PSI, DELTA))
