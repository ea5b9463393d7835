"""Run the benchmarks and print one table of ratios.

``python -m benchmarks`` runs all but ``inference`` and ``finetuning``, which need torch;
``python -m benchmarks exact multinomial`` runs some.
``--markdown FILE`` also writes the table, as docs/benchmarks.md has it.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import ietest_fast
from benchmarks.timing import format_seconds

if TYPE_CHECKING:
    from benchmarks.timing import Comparison

NAMES = (
    "exact",
    "multinomial",
    "designs",
    "counts",
    "power",
    "substitution",
    "tagging",
    "sweep",
)
# These need the extra bench-models, with torch in it.
MODELS = ("inference", "finetuning")


def _row(line: Comparison) -> tuple[str, ...]:
    if line.ratio is None:
        goal = "" if line.goal is None else f"≤ {format_seconds(line.goal)}"
        ours = format_seconds(line.ours_seconds)
        return line.path, ours, "", "", "", goal, _mark(line), line.note
    goal = "" if line.goal is None else f"≥ {line.goal:g}×"
    peer_seconds = format_seconds(line.peer_seconds or 0)
    return (
        line.path,
        format_seconds(line.ours_seconds),
        line.peer or "",
        peer_seconds,
        f"{line.ratio:.3g}×",
        goal,
        _mark(line),
        line.note,
    )


def _mark(line: Comparison) -> str:
    return {None: "", True: "yes", False: "NO"}[line.reached]


HEADER = ("path", "ours", "peer", "peer's time", "ratio", "goal", "reached", "note")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, *MODELS, []], help="benchmarks to run")
    parser.add_argument("--markdown", type=Path, help="also write the table here")
    arguments = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    for name in arguments.names or NAMES:
        print(f"... {name}", file=sys.stderr, flush=True)
        rows += map(_row, importlib.import_module(f"benchmarks.bench_{name}").measure())
    config = ietest_fast.build_config()
    machine = (
        f"{_processor()}, {config['n_threads']} threads, {config['compiler']}, Python "
        f"{platform.python_version()}, ietest-fast {ietest_fast.__version__}, "
        f"{time.strftime('%Y-%m-%d')}"
    )
    lines = [machine, "", *_markdown(rows)]
    print("\n".join(lines))
    if arguments.markdown is not None:
        arguments.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _markdown(rows: list[tuple[str, ...]]) -> list[str]:
    table = [HEADER, tuple("---" for _ in HEADER), *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
    return [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in table
    ]


if __name__ == "__main__":
    main()
