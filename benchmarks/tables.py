"""Make the tables of docs/benchmarks.md from the JSON of a run.

``pytest benchmarks --benchmark-only --benchmark-json=run.json && python benchmarks/tables.py
run.json`` writes, between the marks ``<!-- table: NAME -->`` and ``<!-- end -->``, the table of
``benchmarks/bench_NAME.py``. Tables of which the run has nothing stay as they are.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.ratios import Ratio, format_seconds, ratios_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
HEADER = ("path", "ours", "peer", "peer's time", "ratio", "limit", "note")


def _row(ratio: Ratio) -> tuple[str, ...]:
    path, ours = f"{ratio.group}, {ratio.ours}", format_seconds(ratio.ours_seconds)
    missed = ", **missed**" if ratio.is_missed else ""
    if ratio.ratio is None or ratio.peer_seconds is None:
        limit = "" if ratio.limit is None else f"≤ {format_seconds(ratio.limit)}{missed}"
        return path, ours, "", "", "", limit, ratio.note
    limit = "" if ratio.limit is None else f"≥ {ratio.limit:,g}×{missed}"
    peer = format_seconds(ratio.peer_seconds)
    times = f"{ratio.ratio:,.0f}×" if ratio.ratio >= 100 else f"{ratio.ratio:.3g}×"
    return path, ours, ratio.peer or "", peer, times, limit, ratio.note


def _make_rows(ratios: Iterable[Ratio]) -> Iterator[tuple[str, ...]]:
    """Say each path once, and each part of a note once in a group."""
    above, group, said = "", "", set[str]()
    for ratio in ratios:
        path, ours, *middle, note = _row(ratio)
        if ratio.group != group:
            group, said = ratio.group, set()
        parts = [part for part in note.split("; ") if part not in said]
        said.update(parts)
        shown = ("", "") if path == above else (path, ours)
        above = path
        yield (*shown, *middle, "; ".join(parts))


def make_tables(run: dict[str, Any]) -> dict[str, str]:
    """Return the Markdown of each module's table, with the machine below it."""
    modules: dict[str, list[dict[str, Any]]] = {}
    for bench in run["benchmarks"]:
        name = re.search(r"bench_(\w+)\.py", bench["fullname"])
        if name is not None and "role" in bench["extra_info"]:
            modules.setdefault(name[1], []).append(bench)
    cpu = run["machine_info"].get("cpu", {}).get("brand_raw", run["machine_info"]["processor"])
    source = f"Measured {run['datetime'][:10]} on {cpu}, Python "
    source += run["machine_info"]["python_version"] + "."
    tables = {}
    for module, benches in modules.items():
        rows = [HEADER, tuple("---" for _ in HEADER), *_make_rows(ratios_of(benches))]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        tables[module] = "\n".join([*lines, "", source])
    return tables


def put_tables(page: str, tables: dict[str, str]) -> str:
    """Replace what stands between the marks of each table."""

    def table(match: re.Match[str]) -> str:
        new = tables.get(match[1])
        return match[0] if new is None else f"<!-- table: {match[1]} -->\n{new}\n<!-- end -->"

    return re.sub(r"<!-- table: (\w+) -->\n.*?<!-- end -->", table, page, flags=re.DOTALL)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="JSON of pytest-benchmark")
    run = json.loads(parser.parse_args().run.read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(put_tables(page, make_tables(run)), encoding="utf-8")


if __name__ == "__main__":
    main()
