"""Peak memory of every engine that draws replicates does not grow with their number.

The exact laws draw none.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the peak of a process is reset through /proc"
)

# Prints by how many kB the peak of the process rises in a call with few replicates, and in one
# with a hundred times as many.
MEASURE = """
import sys
from pathlib import Path

import numpy as np

from ietest_fast import stats

rng = np.random.default_rng(0)
counts = stats.PairedCounts(30, 9, 6, 5)
right, rephrased = rng.random((2, 60)) < [[0.9], [0.8]]
versions = rng.random((40, 3)) < 0.7
before, after = rng.random((2, 40))
many_before, many_after = rng.random((2, 40, 3))
threes, twos = np.arange(60) // 3, np.arange(40) // 2


def call(n_resamples):
    options = {{"n_resamples": n_resamples, "n_threads": 2}}
    return {call}


def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def rise(n_resamples):
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is held now
    held = peak()
    result = call(n_resamples)
    return peak() - held


call(1_000)
print(rise({n_resamples}), rise(100 * {n_resamples}))
"""

ENGINES = {
    "multinomial": "stats.paired_test(counts, method='multinomial', **options)",
    "resample": "stats.paired_test(counts, method='resample', **options)",
    "McNemar, multinomial": "stats.mcnemar_test(counts, method='multinomial', **options)",
    "McNemar, resample": "stats.mcnemar_test(counts, method='resample', **options)",
    "Cochran, multinomial": "stats.cochran_q_test(versions, method='multinomial', **options)",
    "Cochran, resample": "stats.cochran_q_test(versions, method='resample', **options)",
    "clustered outcomes": "stats.paired_test(right, rephrased, clusters=threes, **options)",
    "scores": "stats.paired_test(before, after, **options)",
    "clustered scores": "stats.paired_test(before, after, clusters=twos, **options)",
    "max-t": "stats.joint_test(many_before, many_after, min_p=False, **options)",
    "max-t, clustered": (
        "stats.joint_test(many_before, many_after, clusters=twos, min_p=False, **options)"
    ),
}
# What they keep or collect is bounded: 8 MB of replicates, of counters or of candidates.
BOUNDED = {
    "quantiles": "stats.paired_test(before, after, quantiles=(0.1, 0.9), **options)",
    "min-p": "stats.joint_test(many_before, many_after, **options)",
    "min-p, clustered": "stats.joint_test(many_before, many_after, clusters=twos, **options)",
}


def _rises(call: str, n_resamples: int) -> tuple[int, int]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(call=call, n_resamples=n_resamples)],
        capture_output=True,
        text=True,
        check=True,
    )
    few, many = map(int, done.stdout.split())
    return few, many


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_peak_memory_does_not_depend_on_the_number_of_replicates(name: str) -> None:
    """A byte for each of 2 million replicates would be 2,000 kB."""
    few, many = _rises(ENGINES[name], 20_000)
    assert many - few < 1_500


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDED)
def test_peak_memory_of_order_statistics_has_a_bound(name: str) -> None:
    """The replicates themselves would be 32,000 kB for each classifier."""
    few, many = _rises(BOUNDED[name], 40_000)
    assert many - few < 12_000


@pytest.mark.slow
def test_replicates_that_are_kept_take_their_bytes() -> None:
    """And so would be seen where they must not be."""
    few, many = _rises("stats.paired_test(before, after, keep_replicates=True, **options)", 20_000)
    assert 15_000 < many - few < 17_500
