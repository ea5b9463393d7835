"""The classifiers of a run on further test sets: the tables of ``eval_phi`` (Naik et al. 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.numerals import brief_p, percent_of, points_of, say_count
from ietest_fast.report.tables import Column, MeanSd, PValue, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ietest_fast.experiment.schema import (
        ConditionResult,
        EvaluatedRho,
        EvaluationResult,
        RhoResult,
        RunResult,
        Spread,
    )
    from ietest_fast.experiment.view.runs import FinishedRun
    from ietest_fast.report.tables import Cell

_TITLE = "The same classifiers on further test sets"


def make_further_table(result: RunResult, condition: ConditionResult) -> Any:
    """Make the table of a condition for a terminal: a line for each test set and rho."""
    from rich import box
    from rich.table import Table as RichTable

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("test set", overflow="fold", ratio=1)
    for title in ("rows", "ρ", "accuracy %", "loss, points", "p, Holm"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("decision", no_wrap=True)
    for name, n, rhos in _known(result, condition):
        for place, (rho, accuracy, loss) in enumerate(rhos):
            table.add_row(
                *((name, f"{n:,}") if place == 0 else ("", "")),
                f"{rho:g}",
                percent_of(accuracy),
                "" if loss is None else points_of(loss),
            )
    for evaluation in result.evaluations_of(condition):
        for place, own in enumerate(evaluation.rhos):
            table.add_row(
                *((evaluation.evaluation, f"{own.n:,}") if place == 0 else ("", "")),
                f"{own.rho:g}",
                percent_of(own.accuracy),
                "" if own.test is None else points_of(own.test.delta),
                "" if own.p_holm is None else brief_p(own.p_holm, threshold=own.alpha),
                "" if own.reject is None else "reject" if own.reject else "not rejected",
            )
    return table


def further_lines(result: RunResult, condition: ConditionResult) -> list[str]:
    """Return the sentences below such a table."""
    n_tests = sum(each.keeps_labels for each in result.evaluated)
    m = len(condition.rhos[0].cells)
    beside = "beside" if result.settings.mode == "augment" else "in the place of"
    trained = (
        f"Trained on the originals alone at ρ = 0, and else with a share ρ of the texts as "
        f"{condition.transformation} makes them, {beside} the originals; on none of the other test "
        "sets. Loss: accuracy on the originals less that on the test set."
    )
    lines = [trained]
    if n_tests:
        tests = say_count(n_tests, "test set")
        lines.append(
            f"p: equal accuracy, corrected for M = {m}, and by Holm's rule for {tests}; each ρ by "
            f"itself. Rejected below α = {condition.rhos[0].alpha:g}."
        )
    for each in result.evaluated:
        if not each.keeps_labels:
            lines.append(
                f"{each.key} has rows or labels of its own, so they are not compared pair by pair."
            )
        if each.unlabelled:
            left_out = say_count(each.unlabelled, "row")
            lines.append(f"{each.key}: {left_out} left out, because nobody knows the right answer.")
        lines += [f"Warning: {message}." for message in each.warnings]
    return lines


def further_tables(runs: Sequence[FinishedRun]) -> list[Table]:
    """Return the tables of a page; nothing where no run has further test sets."""
    known = [run for run in runs if run.results is not None and run.results.evaluations]
    return [*(_accuracies(run) for run in known), _tests(known)] if known else []


def _accuracies(run: FinishedRun) -> Table:
    assert run.results is not None  # noqa: S101 - as the caller has seen
    rows: list[tuple[Cell, ...]] = [
        (name, n, *(_mean_sd(accuracy) for _, accuracy, _ in rhos))
        for name, n, rhos in _known(run.results, run.condition)
    ]
    rows += [
        (each.evaluation, each.rhos[0].n, *(_mean_sd(own.accuracy) for own in each.rhos))
        for each in run.results.evaluations_of(run.condition)
    ]
    beside = "beside" if run.results.settings.mode == "augment" else "in the place of"
    return Table(
        name="further-tests",
        title=f"{_TITLE}: {run.name} trained on {run.transformation}, accuracy (%)",
        columns=(
            Column("test set"),
            Column("rows", "count"),
            *(Column(f"ρ = {rho.rho:g}", "percent") for rho in run.rhos),
        ),
        rows=tuple(rows),
        note=f"Means ± standard deviations over the M classifiers. At ρ = 0 they were trained on "
        f"the originals alone, and else with a share ρ of the texts as {run.transformation} makes "
        f"them, {beside} the originals; on none of the other test sets.",
    )


def _tests(runs: Sequence[FinishedRun]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        assert run.results is not None  # noqa: S101 - as the caller has seen
        for each in run.results.evaluations_of(run.condition):
            rows += [_test_row(run, each, own) for own in each.rhos]
    return Table(
        name="further-tests-compared",
        title=f"{_TITLE}, compared with the originals",
        columns=(
            Column("model"),
            Column("trained on"),
            Column("test set"),
            Column("ρ", "number", -1),
            Column("accuracy %", "percent"),
            Column("loss (points)", "points"),
            Column("p, Holm", "p"),
            Column("rejected"),
            Column("verdict"),
        ),
        rows=tuple(rows),
        note="Loss: accuracy on the originals less that on the test set. p: the smallest of the M "
        "tests, corrected for M, and by Holm's rule for the further test sets that keep labels, "
        "each ρ by itself; the verdict takes accuracy to differ where that rejects. Where a test "
        "set has rows or labels of its own, there is nothing to compare.",
    )


def _test_row(run: FinishedRun, each: EvaluationResult, own: EvaluatedRho) -> tuple[Cell, ...]:
    test = own.test
    return (
        run.name,
        run.transformation,
        each.evaluation,
        own.rho,
        _mean_sd(own.accuracy),
        None if test is None else _mean_sd(test.delta),
        None if own.p_holm is None else PValue(own.p_holm, own.alpha),
        own.reject,
        None if own.verdict is None else str(own.verdict),
    )


def _known(
    result: RunResult, condition: ConditionResult
) -> Iterator[tuple[str, int, list[tuple[float, Spread, Spread | None]]]]:
    """Yield the two test sets of every run: name, rows, and by rho accuracy and loss."""

    def read(rho: RhoResult) -> tuple[float, Spread, Spread | None]:
        return rho.rho, rho.accuracy_transformed, rho.delta

    n = result.data.test.rows
    yield "original", n, [(rho.rho, rho.accuracy_original, None) for rho in condition.rhos]
    yield f"{condition.transformation} (trained on)", n, [read(rho) for rho in condition.rhos]


def _mean_sd(spread: Spread) -> MeanSd:
    return MeanSd(spread.mean, spread.sd)
