"""Models by the robustness of their accuracy (the paper's Table 2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ietest_fast.report.tables import Column, Range, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.report.runs import FinishedRun
    from ietest_fast.stats import SignalToNoise


def rank_by_snr(runs: Sequence[FinishedRun]) -> list[FinishedRun]:
    """Sort runs by their signal-to-noise ratio (eq. 15), collapsed classifiers counted in."""
    return sorted(runs, key=lambda run: -(_ratio(run.robustness.every) or 0.0))


def _ratio(found: SignalToNoise) -> float | None:
    """Return the ratio; None of a single classifier, which has no noise to hold it against."""
    return found.snr if found.n > 1 else None


def ranking_table(runs: Sequence[FinishedRun]) -> Table:
    """Make the ranking: each run's ratio with all its classifiers, and without collapsed ones."""
    rows = []
    for place, run in enumerate(rank_by_snr(runs), start=1):
        found = run.robustness
        rows.append(
            (
                place,
                run.name,
                found.every.n,
                found.every.mean,
                found.every.std,
                *_snr(found.every),
                len(found.collapsed),
                *_snr(found.without_collapsed if found.collapsed else None),
            )
        )
    level = f"{100 * runs[0].robustness.confidence_level:g}%"
    return Table(
        name="snr",
        title="Signal-to-noise ratio of the accuracy on the original test set",
        columns=(
            Column("rank", "count"),
            Column("model"),
            Column("classifiers", "count"),
            Column("mean accuracy %", "percent"),
            Column("sd %", "percent", 3),
            Column("SNR", "number", 1),
            Column(f"{level} interval", "number", 1),
            Column("collapsed", "count"),
            Column("SNR without collapsed", "number", 1),
            Column(f"{level} interval without", "number", 1),
        ),
        rows=tuple(rows),
        note=(
            "SNR is mean/sd (divisor n) over all ρ and resamples. A collapsed classifier predicts "
            "one class only, or its accuracy is no better than chance allows; none is left out, "
            "dropped or trained again."
        ),
    )


def _snr(found: SignalToNoise | None) -> tuple[float | None, Range | None]:
    if found is None:
        return None, None
    interval = found.interval
    if interval is None or not math.isfinite(interval.high):
        return _ratio(found), None
    return _ratio(found), Range(interval.low, interval.high)


def collapsed_table(runs: Sequence[FinishedRun]) -> Table | None:
    """List the collapsed classifiers; None if there is none."""
    rows = [
        (run.name, cell.rho, cell.m, cell.accuracy_original, cell.accuracy_transformed)
        for run in runs
        for cell in run.cells
        if cell.collapsed
    ]
    if not rows:
        return None
    return Table(
        name="collapsed",
        title="Classifiers that cannot be told from guessing",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("m", "count"),
            Column("original %", "percent"),
            Column("transformed %", "percent"),
        ),
        rows=tuple(rows),
    )
