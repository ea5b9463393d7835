"""A big report: 20,000 test pairs, six models, seven rho, five resamples.

``python -m benchmarks.report_size`` makes six runs on the demonstration corpus (minutes; with
``--folder`` they are kept for the next time), builds their report in a process of its own, and
opens it in Chromium if there is one (``IETEST_CHROMIUM``, or on the path) with playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

N_TEST = 20_000
N_MODELS = 6
RHO = "0,0.2,0.4,0.5,0.6,0.8,1"
N_RESAMPLES = 5

_COMMAND = (sys.executable, "-c", "from ietest_fast.cli.main import main; main()")
_OPENINGS = 5


def make_runs(folder: Path) -> list[Path]:
    """Make the runs that are not there yet."""
    runs = []
    for number in range(N_MODELS):
        run = folder / f"model-{number}"
        runs.append(run)
        if not (run / "results.json").is_file():
            options = ["--demo", "--demo-sizes", f"3000,1000,{N_TEST}", "--seed", str(number)]
            options += ["--rho", RHO, "-M", str(N_RESAMPLES), "--search", "2", "--out", str(run)]
            subprocess.run([*_COMMAND, "run", *options], check=True, stdout=subprocess.DEVNULL)
    return runs


def build(runs: list[Path], page: Path) -> float:
    """Build the report and give the seconds of its process."""
    names = [part for run in runs for part in ("--name", run.name)]
    begun = time.perf_counter()
    subprocess.run([*_COMMAND, "report", *map(str, runs), *names, "--out", str(page)], check=True)
    return time.perf_counter() - begun


def open_page(page: Path) -> dict[str, float] | None:
    """Give the seconds until the page can be used, and those of a search; None without browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    chromium = os.environ.get("IETEST_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        return None
    with sync_playwright() as driver:
        # As root, as in containers, Chromium cannot have its own sandbox.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=options)
        tab = browser.new_page()
        begun = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector(".examples[data-ready]")
        opened = time.perf_counter() - begun
        begun = time.perf_counter()
        before = tab.inner_text(".status")
        tab.fill("[name=search]", "sofa")
        while tab.inner_text(".status") == before:
            tab.wait_for_timeout(5)
        searched = time.perf_counter() - begun
        browser.close()
    return {"opened": opened, "searched": searched}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="Where runs are kept.")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) if folder is None else folder
        runs = make_runs(place)
        page = place / "report.html"
        seconds = build(runs, page)
        size = page.stat().st_size / 1e6
        print(f"built in {seconds:.1f} s (goal 20), {size:.1f} MB (goal 15)")
        for _ in range(_OPENINGS):
            found = open_page(page)
            if found is None:
                print("not opened: there is no Chromium, or no playwright")
                return
            print(
                f"usable after {found['opened']:.2f} s (goal 2), search {found['searched']:.2f} s"
            )


if __name__ == "__main__":
    main()
