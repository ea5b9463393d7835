"""Power by enumeration beside the simulation that it replaces."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Comparison, interleaved
from ietest_fast.stats import power, power_curve, sample_size

N, PSI, DELTA = 10_000, 0.08, 0.01
N_TABLES = 200


def simulated_power(n: int, psi: float, delta: float, n_tables: int, seed: int = 0) -> float:
    """The usual way: draw tables, test each (McNemar's exact test of statsmodels), count."""
    from statsmodels.stats.contingency_tables import mcnemar

    rng = np.random.default_rng(seed)
    shares = [(psi + delta) / 2, (psi - delta) / 2, 1 - psi]
    rejected = 0
    for n10, n01, rest in rng.multinomial(n, shares, size=n_tables):
        rejected += mcnemar([[rest, n10], [n01, 0]], exact=True).pvalue < 0.05
    return rejected / n_tables


def measure() -> list[Comparison]:
    """Time curves of 50 points, one power, one sample size."""
    sizes = np.linspace(N // 50, N, 50).astype(int)
    over_n, over_delta, single, planned, peer = interleaved(
        lambda: power_curve(PSI, n=sizes, delta=DELTA),
        lambda: power_curve(PSI, n=N, delta=np.linspace(0, 0.02, 50)),
        lambda: power(N, PSI, DELTA),
        lambda: sample_size(PSI, DELTA),
        lambda: simulated_power(N, PSI, DELTA, N_TABLES),
        rounds=7,
        numbers=(1, 2, 5, 1, 1),
    )
    return [
        Comparison(path="power curve, 50 n up to 10⁴", ours_seconds=over_n, goal=1.0),
        Comparison(path="power curve, 50 delta, n = 10⁴", ours_seconds=over_delta, goal=1.0),
        Comparison(
            path="one power, n = 10⁴",
            ours_seconds=single,
            peer="10⁴ simulated tables, statsmodels `mcnemar`",
            peer_seconds=peer * 10_000 / N_TABLES,
            note=f"peer timed on {N_TABLES} tables and scaled; its answer has an error of 0.5%",
        ),
        Comparison(path="sample size, psi = 0.08, delta = 0.01", ours_seconds=planned),
    ]
