"""Where tests are liberal, as docs/statistics.md says: by simulation, ``-s`` prints the figures."""

from __future__ import annotations

import numpy as np
import pytest

from ietest_fast.stats import dose_response_test, paired_test
from simulations import scaled, slack

pytestmark = pytest.mark.slow


def test_few_large_clusters_that_lose_what_small_ones_gain() -> None:
    """200 clusters, 5% of them of 20 texts; the expected sum of all differences is 0."""
    rng = np.random.default_rng(1)
    n_tables, rejected = scaled(2_000), 0
    gain = 0.05 * 20 * 0.5 / (0.95 * 2)
    for table in range(n_tables):
        is_large = rng.random(200) < 0.05
        clusters = np.repeat(np.arange(200), np.where(is_large, 20, 2))
        before = is_large[clusters]
        moved = np.where(
            before, (rng.random(200) < 0.5)[clusters], rng.random(clusters.size) < gain
        )
        after = before ^ moved
        found = paired_test(before, after, clusters=clusters, n_resamples=999, rng=table)
        rejected += found.pvalue < 0.05
    size = rejected / n_tables
    print(f"large clusters lose, small ones gain: {size:.1%}")
    assert abs(size - 0.10) < 0.02 + slack(n_tables)


def test_few_large_doses() -> None:
    """300 texts, lognormal doses up to 200, 3% discordant pairs, of which 90% are losses."""
    rng = np.random.default_rng(2)
    n_tables, rejected, covered, warned = scaled(2_000), 0, 0, 0
    for _ in range(n_tables):
        dose = np.minimum(np.ceil(rng.lognormal(0, 1.5, size=300)), 200)
        discordant, lost = rng.random(300) < 0.03, rng.random(300) < 0.9
        found = dose_response_test(
            np.where(discordant, lost, True), np.where(discordant, ~lost, True), dose
        )
        rejected += found.pvalue < 0.05
        covered += 0.0 in found.confidence_interval()
        warned += found.warning is not None
    size, coverage = rejected / n_tables, covered / n_tables
    print(f"few large doses: {size:.1%}, coverage {coverage:.1%}, warned {warned / n_tables:.0%}")
    assert 0.1 < size < 0.25
    assert warned > 0.95 * n_tables
