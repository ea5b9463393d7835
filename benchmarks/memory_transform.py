"""Peak memory of ``ietest-fast transform`` on big corpora.

Run ``python -m benchmarks.memory_transform``.
Makes 10 million synthetic pairs (paper rules) and 200,000 (careful rules), each with a lexicon from
100,000 pairs, sends them through the command line and prints the peak of the memory that the
process and its helpers held, page by page shared ones counted once (Linux: PSS).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ietest_fast.corpus import BatchWriter


def write_pairs(path: Path, n: int, seed: int) -> None:
    from ietest_fast.corpus.demo.generator import DEMO_SCHEMA, demo_batches

    with BatchWriter(path, DEMO_SCHEMA) as writer:
        for batch in demo_batches(n, seed=seed):
            writer.write(batch)


def _family(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            found += _family(int(child))
    return found


def _held(pid: int) -> int:
    """Bytes that a process and its children hold now."""
    total = 0
    for member in _family(pid):
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def run(rules: str, source: Path, train: Path, target: Path, *options: str) -> tuple[float, float]:
    """Give the peak in bytes and the seconds of a run."""
    code = "from ietest_fast.cli.main import main; main()"
    command = [sys.executable, "-c", code, "transform", str(source), str(target)]
    command += ["--phi", f"syn.{rules}", "--lexicon-from", str(train), *options]
    start = time.perf_counter()
    process = subprocess.Popen(command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _held(process.pid))
        time.sleep(0.1)
    if process.returncode != 0:
        raise SystemExit(process.returncode)
    return peak, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper-pairs", type=int, default=10_000_000)
    parser.add_argument("--careful-pairs", type=int, default=200_000)
    parser.add_argument("--train-pairs", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where to put the files, about 2 GB")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        train = folder / "train.parquet"
        write_pairs(train, arguments.train_pairs, seed=1)
        for rules, n in (("paper", arguments.paper_pairs), ("careful", arguments.careful_pairs)):
            source, target = folder / "in.parquet", folder / "out.parquet"
            write_pairs(source, n, seed=2)
            size = source.stat().st_size / 1e6
            print(f"{rules}: {n:,} pairs, {size:,.0f} MB of Parquet", flush=True)
            peak, seconds = run(rules, source, train, target)
            print(f"{rules}: peak {peak / 1e6:,.0f} MB, {seconds:,.0f} s", flush=True)


if __name__ == "__main__":
    main()
