"""The numbers behind the figures of a run, and the runs beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.tables import Column, MeanSd, Range, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.experiment.results import Spread
    from ietest_fast.report.runs import FinishedRun


def runs_table(runs: Sequence[FinishedRun]) -> Table:
    """Say what was run: model, data, transformation, sizes."""
    return Table(
        name="runs",
        title="Runs",
        columns=(
            Column("model"),
            Column("data"),
            Column("transformation"),
            Column("test observations", "count"),
            Column("ρ", "count"),
            Column("M", "count"),
            Column("α", "number", -1),
            Column("margin (points)", "percent"),
            Column("ρ with a rejection", "count"),
        ),
        rows=tuple(
            (
                run.name,
                run.data_name,
                run.transformation,
                run.n,
                len(run.rhos),
                run.n_resamples,
                run.alpha,
                run.margin,
                sum(rho.decision.reject for rho in run.rhos),
            )
            for run in runs
        ),
    )


def rho_table(runs: Sequence[FinishedRun]) -> Table:
    """Give the test at every rho of every run: Figures 3 to 7 of the paper as numbers."""
    return Table(
        name="by-rho",
        title="The test at every ρ: means ± standard deviations over the M classifiers",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("original %", "percent"),
            Column("transformed %", "percent"),
            Column("δ (points)", "points"),
            Column("t", "number", 3),
            Column("smallest p", "p"),
            Column("α/M", "number", -1),
            Column("rejected", "text"),
            Column("verdict", "text"),
        ),
        rows=tuple(
            (
                run.name,
                rho.rho,
                _mean_sd(rho.accuracy_original),
                _mean_sd(rho.accuracy_transformed),
                _mean_sd(rho.delta),
                _mean_sd(rho.t),
                rho.decision.p_min,
                rho.decision.threshold,
                rho.decision.reject,
                str(rho.verdict),
            )
            for run in runs
            for rho in run.rhos
        ),
        note="Standard deviations have the divisor M − 1. δ is original minus transformed.",
    )


def cell_table(runs: Sequence[FinishedRun]) -> Table:
    """Give every classifier with its counts, its test and its interval."""
    return Table(
        name="by-classifier",
        title="Every classifier",
        columns=(
            Column("model"),
            Column("ρ", "number", -1),
            Column("m", "count"),
            *(Column(name, "count") for name in ("n11", "n10", "n01", "n00")),
            Column("original %", "percent"),
            Column("transformed %", "percent"),
            Column("δ (points)", "points"),
            Column("interval of δ", "points"),
            Column("t", "number", 3),
            Column("p", "p"),
            Column("within the margin", "text"),
            Column("collapsed", "text"),
        ),
        rows=tuple(
            (
                run.name,
                cell.rho,
                cell.m,
                cell.counts.n11,
                cell.counts.n10,
                cell.counts.n01,
                cell.counts.n00,
                cell.accuracy_original,
                cell.accuracy_transformed,
                cell.counts.delta,
                Range(cell.interval.low, cell.interval.high),
                cell.t,
                cell.p_value,
                cell.is_equivalent,
                cell.is_collapsed,
            )
            for run in runs
            for cell in run.cells
        ),
        note=(
            "n11: right on both versions; n10: on the original only; n01: on the transformed only; "
            f"n00: on neither. Intervals of δ are at {100 * (1 - 2 * runs[0].alpha):g}%, those of "
            "the equivalence test."
        ),
    )


def _mean_sd(spread: Spread) -> MeanSd:
    return MeanSd(spread.mean, spread.sd)
