"""The benchmarks run at all, and their ratios and tables say what was measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.ratios import ratios_of
from benchmarks.tables import PAGE, make_tables, put_tables

ROOT = Path(__file__).parents[2]


def _bench(role, contender, median, *, units=1.0, group="g", **limits):
    info = {"role": role, "contender": contender, "units": units, "note": "", **limits}
    return {
        "fullname": "benchmarks/bench_exact.py::test_x",
        "group": group,
        "extra_info": info,
        "stats": {"median": median},
    }


def test_ratios_are_for_a_unit_of_work():
    (ratio,) = ratios_of(
        [_bench("ours", "us", 2.0, units=1000), _bench("peer", "them", 4.0, units=10, at_least=150)]
    )
    assert ratio.ratio == pytest.approx(200)
    assert not ratio.is_missed
    assert "us: 2 ms, 200x them (limit 150x)" in str(ratio)


def test_a_slower_run_misses_its_limits():
    peer = _bench("peer", "them", 4.0, at_least={"second": 3})
    ours = [_bench("ours", "first", 4.0), _bench("ours", "second", 2.0, at_most_seconds=1.0)]
    ratios = ratios_of([*ours, peer])
    found = {(r.ours, r.peer): r.is_missed for r in ratios}
    assert found == {
        ("first", "them"): False,
        ("second", None): True,
        ("second", "them"): True,
    }
    # A machine's times fail nothing.
    assert [(r.ours, r.peer) for r in ratios if r.fails] == [("second", "them")]


def test_tables_take_the_place_of_those_on_the_page():
    run = {
        "benchmarks": [_bench("ours", "us", 2e-6), _bench("peer", "them", 1e-3)],
        "machine_info": {"processor": "x", "python_version": "3.11"},
        "datetime": "2026-11-23T10:00:00",
    }
    tables = make_tables(run)
    assert "| g, us | 2 µs | them | 1 ms | 500× |" in tables["exact"]
    page = (
        "a\n<!-- table: exact -->\nold\n<!-- end -->\nb\n<!-- table: power -->\nkept\n<!-- end -->"
    )
    new = put_tables(page, tables)
    assert "old" not in new
    assert "kept" in new
    assert put_tables(new, tables) == new


def test_every_module_of_benchmarks_has_its_table():
    modules = {path.stem[len("bench_") :] for path in (ROOT / "benchmarks").glob("bench_*.py")}
    marked = {line[12:-4] for line in PAGE.read_text().splitlines() if line[:12] == "<!-- table: "}
    assert marked == modules


@pytest.mark.slow
@pytest.mark.peer
def test_the_benchmarks_run(tmp_path):
    run = tmp_path / "run.json"
    command = [sys.executable, "-m", "pytest", "benchmarks", "--benchmark-only", "--size", "quick"]
    command += ["-q", "-p", "no:cacheprovider", f"--benchmark-json={run}"]
    # A worker of xdist would tell pytest-benchmark to measure nothing.
    env = {name: value for name, value in os.environ.items() if "XDIST" not in name}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    tables = make_tables(json.loads(run.read_text()))
    assert {"exact", "multinomial", "designs", "substitution", "tagging", "sweep"} <= set(tables)
    assert tables["substitution"].count("flashtext2") >= 2
