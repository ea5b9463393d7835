"""Counting the cores, and using what was counted."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ietest_fast.experiment import executors
from ietest_fast.experiment.tasks import WorkContext
from ietest_fast.runtime import _available_in_group, available_memory, core, n_cores
from ietest_fast.stats import PairedCounts, paired_test


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system binds no processes")
def test_only_the_cores_that_the_process_may_use_count():
    allowed = os.sched_getaffinity(0)
    code = (
        f"import os; os.sched_setaffinity(0, {{{min(allowed)}}});"
        "from ietest_fast.runtime import n_cores; print(n_cores())"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout == "1\n"
    assert n_cores() == len(allowed)


def test_a_request_for_many_threads_starts_no_more_than_the_machine_has_use_for():
    most = core.runtime.n_threads_for(2**31 - 1)
    assert most <= max(8, 4 * os.cpu_count())
    assert core.runtime.n_threads_for(65_536) == most
    counts = PairedCounts(900, 60, 40, 0)
    results = {
        paired_test(counts, method="resample", n_resamples=20_000, n_threads=n).p_value
        for n in (1, 65_536)
    }
    assert len(results) == 1


def test_a_run_fills_the_cores(monkeypatch):
    monkeypatch.setattr(executors, "n_cores", lambda: 7)

    def jobs(n_threads, n_jobs=None):
        context = WorkContext(models={}, seed=0, n_threads=n_threads, label_names=("a", "b", "c"))
        executor = executors.make_executor(context, n_jobs=n_jobs)
        return getattr(executor, "_n_jobs", 1)

    assert [jobs(n_threads) for n_threads in (1, 2, 3, 8)] == [7, 3, 2, 1]
    assert jobs(1, n_jobs=4) == 4


def test_available_memory_is_some_of_the_machines():
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 10**7 < available_memory() <= total


def test_a_containers_limit_counts_what_it_could_free(tmp_path):
    assert _available_in_group(tmp_path) is None
    for name, content in {
        "memory.max": "max\n",
        "memory.current": "700\n",
        "memory.stat": "anon 500\ninactive_file 150\nactive_file 50\n",
    }.items():
        (tmp_path / name).write_text(content)
    assert _available_in_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert _available_in_group(tmp_path) == 1000 - 700 + 150
