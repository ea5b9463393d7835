"""Peak memory of ``ietest-fast transform`` on big corpora.

Run ``python -m benchmarks.memory_transform [PHI ...]``.
Makes synthetic pairs (10 million for most transformations), sends them through the command line
and prints the peak of the memory that the process and its helpers held, shared pages counted once
(Linux: PSS). Synonyms and antonyms learn from 100,000 other pairs.
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
    from ietest_fast.corpus.demo.sentences import DEMO_SCHEMA, demo_batches

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


def run(phi: str, source: Path, train: Path | None, target: Path) -> tuple[float, float]:
    """Give the peak in bytes and the seconds of a run."""
    code = "from ietest_fast.cli.main import main; main()"
    command = [sys.executable, "-c", code, "transform", str(source), str(target), "--phi", phi]
    if train is not None:
        command += ["--lexicon-from", str(train)]
    start = time.perf_counter()
    process = subprocess.Popen(command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _held(process.pid))
        time.sleep(0.1)
    if process.returncode != 0:
        raise SystemExit(process.returncode)
    return peak, time.perf_counter() - start


# Pairs in millions, and whether the transformation learns from a file.
CASES = {
    "syn.paper": (10.0, True),
    "syn.careful": (0.2, True),
    "word-overlap": (10.0, False),
    "negation": (10.0, False),
    "length-mismatch": (10.0, False),
    "spelling": (10.0, False),
    "swap": (10.0, False),
    "internalise": (10.0, False),
    "antonym": (10.0, True),
    "numerical": (10.0, False),
    "voice": (0.2, False),
    "permute": (0.2, False),
}
SYNONYMS = ("syn.paper", "syn.careful")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "phi", nargs="*", metavar="PHI", help=f"which of {', '.join(CASES)}; the first two if none"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the pairs to take")
    parser.add_argument("--train-pairs", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where to put the files, about 4 GB")
    arguments = parser.parse_args()
    unknown = set(arguments.phi) - set(CASES)
    if unknown:
        parser.error(f"no such transformation here: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        train = folder / "train.parquet"
        write_pairs(train, arguments.train_pairs, seed=1)
        written = 0
        source, target = folder / "in.parquet", folder / "out.parquet"
        for phi in arguments.phi or SYNONYMS:
            millions, learns = CASES[phi]
            n = int(1e6 * millions * arguments.scale)
            if n != written:
                write_pairs(source, n, seed=2)
                written = n
            size = source.stat().st_size / 1e6
            print(f"{phi}: {n:,} pairs, {size:,.0f} MB of Parquet", flush=True)
            peak, seconds = run(phi, source, train if learns else None, target)
            print(f"{phi}: peak {peak / 1e6:,.0f} MB, {seconds:,.0f} s", flush=True)
            target.unlink()


if __name__ == "__main__":
    main()
