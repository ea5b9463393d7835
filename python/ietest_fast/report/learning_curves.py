"""What becomes of a model over the number of its training rows, in tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.report.shown import format_p, percent, signed_points
from ietest_fast.report.tables import Column, MeanSd, PValue, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import rich.table

    from ietest_fast.experiment.schema import ConditionResult, RunResult, Spread
    from ietest_fast.report.runs import FinishedRun


def curves_of(result: RunResult) -> list[list[ConditionResult]]:
    """Return the conditions that differ in the number of training rows alone, ascending."""
    groups: dict[tuple[str, str], list[ConditionResult]] = {}
    for each in result.conditions:
        if each.train_size is not None:
            groups.setdefault((each.model, each.transformation), []).append(each)
    return [sorted(own, key=rows_of) for own in groups.values() if len(own) > 1]


def curves_of_runs(runs: Sequence[FinishedRun]) -> list[list[FinishedRun]]:
    """Return the runs that differ in the number of training rows alone, as :func:`curves_of`."""
    groups: dict[tuple[str, str, str], list[FinishedRun]] = {}
    for run in runs:
        if run.condition.train_size is not None:
            key = str(run.source), run.model, run.transformation
            groups.setdefault(key, []).append(run)
    return [
        sorted(own, key=lambda run: rows_of(run.condition))
        for own in groups.values()
        if len(own) > 1
    ]


def rows_of(condition: ConditionResult) -> int:
    """Return the number of training rows of a condition that has one."""
    assert condition.train_size is not None  # noqa: S101 - of a curve
    return condition.train_size


def make_size_table(curve: Sequence[ConditionResult]) -> rich.table.Table:
    """Make the table of a curve for a terminal: a line for each number of rows and rho."""
    from rich import box
    from rich.table import Table as RichTable

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("rows", "ρ", "original %", "transformed %", "loss, points", "changed %", "p"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for condition in curve:
        over = condition.over_rho
        for place, rho in enumerate(condition.rhos):
            table.add_row(
                f"{condition.train_size:,}" if place == 0 else "",
                f"{rho.rho:g}",
                percent(rho.accuracy_original),
                percent(rho.accuracy_transformed),
                signed_points(rho.shown_delta),
                "" if rho.flip_rate is None else percent(rho.flip_rate),
                format_p(over.p_adjusted[place], threshold=over.alpha),
                str(condition.verdicts[place]),
            )
    return table


def size_lines(curve: Sequence[ConditionResult]) -> list[str]:
    """Return what the columns of that table are."""
    first = curve[0].rhos[0]
    where = "over all texts" if first.reworded_delta is None else "on the reworded texts"
    about = (
        "Rows of a smaller number are among those of a larger one. Accuracies are over all texts; "
        f"loss and changed answers {where}."
    )
    level = (
        f"p: equal accuracy, corrected for M = {len(first.cells)} and for {len(curve[0].rhos)} ρ, "
        f"each number of rows by itself; rejected below α = {first.alpha:g}."
    )
    return [about, level]


def size_table(curve: Sequence[FinishedRun], *, number: int) -> Table:
    """Return the table of the curve with this number for a page."""
    first = curve[0]
    return Table(
        name=f"training-rows-{number}",
        title=f"Over the number of training rows: {first.model} under {first.transformation}",
        columns=(
            Column("training rows", "count"),
            Column("ρ", "number"),
            Column("accuracy, original %", "percent"),
            Column("accuracy, transformed %", "percent"),
            Column("loss (points)", "points"),
            Column("answers changed %", "percent"),
            Column("excess churn (points)", "points"),
            Column("p", "p"),
            Column("verdict", "text"),
        ),
        rows=tuple(
            (
                rows_of(run.condition),
                rho.rho,
                _spread(rho.accuracy_original),
                _spread(rho.accuracy_transformed),
                _spread(rho.shown_delta),
                _spread(rho.flip_rate),
                None if rho.churn is None else rho.churn.excess,
                PValue(run.condition.over_rho.p_adjusted[place], run.alpha),
                str(run.condition.verdicts[place]),
            )
            for run in curve
            for place, rho in enumerate(run.rhos)
        ),
        note=" ".join(size_lines([run.condition for run in curve])),
    )


def _spread(own: Spread | None) -> MeanSd | None:
    return None if own is None else MeanSd(own.mean, own.sd)


def chosen_rhos(values: Iterable[float], most: int) -> list[float]:
    """Return the first and the last of some rho and, up to `most`, others evenly between them."""
    ordered = sorted(set(values))
    n = min(most, len(ordered))
    places = [round(i * (len(ordered) - 1) / max(n - 1, 1)) for i in range(n)]
    return [ordered[place] for place in places]
