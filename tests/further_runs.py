"""Runs with further test sets, on toys: trained on one distraction, tested on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.experiment import check_config
from ietest_fast.experiment.run import run
from toys import QUICK, toy_splits

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.experiment import RunResult

OTHER = "negation:tautology='green is not red'"
WORDS = "negation:tautology=sleeps"
CONFIG = {
    "data": {"demo": True, "name": "toys"},
    "model": {"params": QUICK},
    "phi": "negation",
    "mode": "augment",
    "rho": [0, 1],
    "n_classifiers": 2,
    "n_jobs": 1,
}


def run_further(folder: Path, **changes: Any) -> RunResult:
    """Run the test on toys into a folder."""
    return run(check_config({**CONFIG, **changes}), folder, splits=toy_splits())


def read_files(folder: Path, name: str = "cells") -> dict[str, bytes]:
    """Return what is in the Parquet files of a run's folder, by name."""
    return {path.name: path.read_bytes() for path in (folder / name).glob("*.parquet")}
