"""What becomes of a model over the number of its training rows, in tables."""

from __future__ import annotations

import math
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Literal

from ietest_fast.analyses.consistency.page import curve_parts
from ietest_fast.experiment.finished import name_models
from ietest_fast.experiment.run_consistency import measure_run
from ietest_fast.experiment.view.result_tables import lay_out, mean_sd
from ietest_fast.numerals import brief_p, percent, percent_of, points_of, say_count
from ietest_fast.report.contents import Heading, Note, Part
from ietest_fast.report.drawing import Chart, Hints, choose_look, draw_grid, draw_points, make_axes
from ietest_fast.report.tables import Column, PValue, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import rich.table
    from matplotlib.axes import Axes

    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.experiment.schema import (
        ConditionResult,
        EvaluatedRho,
        RunResult,
        Spread,
    )
    from ietest_fast.report.drawing import Drawn, Palette
    from ietest_fast.report.tables import Cell

# The classifiers of a run on further test sets: the tables of ``eval_phi`` (Naik et al. 2018).


_TITLE = "The same classifiers on further test sets"


# Titles of columns for a terminal: words that are as short as numbers, and those that may be long.
_WORDS = frozenset(("decision", "verdict"))
_LONG = {"test set": 1, "transformation": None}


def start_table(*titles: str) -> rich.table.Table:
    """Make a table for a terminal without rows.

    It has plain line characters in the head only, so that it can be pasted into a text file.
    """
    from rich import box
    from rich.table import Table as RichTable

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        if title in _LONG:
            table.add_column(title, overflow="fold", ratio=_LONG[title])
        else:
            justify: Literal["left", "right"] = "left" if title in _WORDS else "right"
            table.add_column(title, justify=justify, no_wrap=True)
    return table


def make_further_table(result: RunResult, condition: ConditionResult) -> rich.table.Table:
    """Make the table of a condition for a terminal: a line for each test set and rho."""
    table = start_table(
        "test set", "rows", "ρ", "accuracy %", "loss, points", "p, Holm", "decision"
    )
    for name, n, rhos in _known(result, condition):
        _add_rows(table, name, n, [_say_known(*each) for each in rhos])
    for each in result.evaluations_of(condition):
        rows = [_say_tested(own) for own in each.rhos]
        _add_rows(table, each.evaluation, each.rhos[0].n, rows)
    return table


def _add_rows(table: Any, name: str, n: int, rows: Sequence[tuple[str, ...]]) -> None:
    """Add the rows of a test set, whose name and size stand in the first."""
    for row, head in zip(rows, chain([(name, f"{n:,}")], repeat(("", ""))), strict=False):
        table.add_row(*head, *row)


def _say_known(rho: float, accuracy: Spread, loss: Spread | None) -> tuple[str, ...]:
    return f"{rho:g}", percent_of(accuracy), "" if loss is None else points_of(loss)


def _say_tested(own: EvaluatedRho) -> tuple[str, ...]:
    return (
        f"{own.rho:g}",
        percent_of(own.accuracy),
        "" if own.test is None else points_of(own.test.delta),
        "" if own.p_holm is None else brief_p(own.p_holm, threshold=own.alpha),
        {None: "", True: "reject", False: "not rejected"}[own.reject],
    )


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
        (name, n, *(mean_sd(accuracy) for _, accuracy, _ in rhos))
        for name, n, rhos in _known(run.results, run.condition)
    ]
    rows += [
        (each.evaluation, each.rhos[0].n, *(mean_sd(own.accuracy) for own in each.rhos))
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
    return lay_out(
        "further-tests-compared",
        f"{_TITLE}, compared with the originals",
        (
            (own, run, each)
            for run in runs
            if run.results is not None
            for each in run.results.evaluations_of(run.condition)
            for own in each.rhos
        ),
        {
            Column("model"): lambda _, run, __: run.name,
            Column("trained on"): lambda _, run, __: run.transformation,
            Column("test set"): lambda _, __, each: each.evaluation,
            Column("ρ", "number", -1): lambda own, _, __: own.rho,
            Column("accuracy %", "percent"): lambda own, _, __: mean_sd(own.accuracy),
            Column("loss (points)", "points"): lambda own, _, __: (
                None if own.test is None else mean_sd(own.test.delta)
            ),
            Column("p, Holm", "p"): lambda own, _, __: (
                None if own.p_holm is None else PValue(own.p_holm, own.alpha)
            ),
            Column("rejected"): lambda own, _, __: own.reject,
            Column("verdict"): lambda own, _, __: None if own.verdict is None else str(own.verdict),
        },
        note="Loss: accuracy on the originals less that on the test set. p: the smallest of the M "
        "tests, corrected for M, and by Holm's rule for the further test sets that keep labels, "
        "each ρ by itself; the verdict takes accuracy to differ where that rejects. Where a test "
        "set has rows or labels of its own, there is nothing to compare.",
    )


def _known(
    result: RunResult, condition: ConditionResult
) -> Iterator[tuple[str, int, Sequence[tuple[float, Spread, Spread | None]]]]:
    """Yield the two test sets of every run: name, rows, and by rho accuracy and loss."""
    n, rhos = result.data.test.rows, condition.rhos
    yield "original", n, [(rho.rho, rho.accuracy_original, None) for rho in rhos]
    own = [(rho.rho, rho.accuracy_transformed, rho.delta) for rho in rhos]
    yield f"{condition.transformation} (trained on)", n, own


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
    table = start_table(
        *("rows", "ρ", "original %", "transformed %", "loss, points", "changed %", "p", "verdict")
    )
    for condition in curve:
        over = condition.over_rho
        for place, rho in enumerate(condition.rhos):
            table.add_row(
                f"{condition.train_size:,}" if place == 0 else "",
                f"{rho.rho:g}",
                percent_of(rho.accuracy_original),
                percent_of(rho.accuracy_transformed),
                points_of(rho.shown_delta),
                "" if rho.flip_rate is None else percent_of(rho.flip_rate),
                brief_p(over.p_adjusted[place], threshold=over.alpha),
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
    return lay_out(
        f"training-rows-{number}",
        f"Over the number of training rows: {first.model} under {first.transformation}",
        ((rho, run, place) for run in curve for place, rho in enumerate(run.rhos)),
        {
            Column("training rows", "count"): lambda _, run, __: rows_of(run.condition),
            Column("ρ", "number"): lambda rho, _, __: rho.rho,
            Column("accuracy, original %", "percent"): lambda rho, _, __: mean_sd(
                rho.accuracy_original
            ),
            Column("accuracy, transformed %", "percent"): lambda rho, _, __: mean_sd(
                rho.accuracy_transformed
            ),
            Column("loss (points)", "points"): lambda rho, _, __: mean_sd(rho.shown_delta),
            Column("answers changed %", "percent"): lambda rho, _, __: mean_sd(rho.flip_rate),
            Column("excess churn (points)", "points"): lambda rho, _, __: (
                None if rho.churn is None else rho.churn.excess
            ),
            Column("p", "p"): lambda _, run, place: PValue(
                run.condition.over_rho.p_adjusted[place], run.alpha
            ),
            Column("verdict"): lambda _, run, place: str(run.condition.verdicts[place]),
        },
        note=" ".join(size_lines([run.condition for run in curve])),
    )


def chosen_rhos(values: Iterable[float], most: int) -> list[float]:
    """Return the first and the last of some rho and, up to `most`, others evenly between them."""
    ordered = sorted(set(values))
    n = min(most, len(ordered))
    places = [round(i * (len(ordered) - 1) / max(n - 1, 1)) for i in range(n)]
    return [ordered[place] for place in places]


# Curves over the number of training rows.

# Lines of a figure.
_MOST_RHO_OF_ACCURACY = 2
_MOST_RHO_OF_LOSS = 6

# From so many times the smallest size on the axis is logarithmic.
_LOGARITHMIC_FROM = 4

_ROWS = "training rows"


def size_accuracy_chart(curve: Sequence[FinishedRun], name: str) -> Chart:
    """Draw accuracy on both versions over the number of training rows."""
    lines = [
        (f"ρ = {rho:g}, {version}", rho, f"accuracy_{version}")
        for rho in chosen_rhos((own.rho for own in curve[0].rhos), _MOST_RHO_OF_ACCURACY)
        for version in ("original", "transformed")
    ]
    first, last = curve[0], curve[-1]
    low, high = (own.rhos[0].accuracy_original.mean for own in (first, last))
    return Chart(
        name=name,
        title=f"Accuracy of {first.model} under {first.transformation} over the training rows",
        summary=(
            f"At ρ = {first.rhos[0].rho:g}, accuracy on the originals is {percent(low)} from "
            f"{rows_of(first.condition):,} rows and {percent(high)} from "
            f"{rows_of(last.condition):,}."
        ),
        draw=_draw(curve, lines, "accuracy (%)"),
        note=say_bars([first]),
    )


def size_loss_chart(curve: Sequence[FinishedRun], name: str) -> Chart:
    """Draw the loss of accuracy over the number of training rows, a line for each rho."""
    rhos = chosen_rhos((own.rho for own in curve[0].rhos), _MOST_RHO_OF_LOSS)
    first, last = curve[0], curve[-1]
    where = "all" if first.rhos[0].reworded_delta is None else "the reworded"
    low, high = (own.rhos[0].shown_delta.mean for own in (first, last))
    return Chart(
        name=name,
        title=f"Loss of {first.model} under {first.transformation} over the training rows",
        summary=(
            f"Accuracy on the originals less accuracy on the rephrased texts, on {where} texts. "
            f"At ρ = {first.rhos[0].rho:g} it is {_points(low)} from "
            f"{rows_of(first.condition):,} rows and {_points(high)} from "
            f"{rows_of(last.condition):,}."
        ),
        draw=_draw(curve, [(f"ρ = {rho:g}", rho, "shown_delta") for rho in rhos], "loss (points)"),
        note=say_bars([first]),
    )


def _draw(
    curve: Sequence[FinishedRun], lines: Sequence[tuple[str, float, str]], title: str
) -> Callable[[Palette], Drawn]:
    """Draw lines, each with its label, its rho and the name of the quantity in its results."""
    sizes = [rows_of(run.condition) for run in curve]

    def draw(palette: Palette) -> Drawn:
        from matplotlib.ticker import NullFormatter, NullLocator

        n_columns = 2 if len(lines) == 4 else min(len(lines), 3)
        figure, axes = make_axes(legend_rows=-(-len(lines) // n_columns))
        hints = Hints()
        for number, (label, rho, quantity) in enumerate(lines):
            tests = [next(own for own in run.rhos if own.rho == rho) for run in curve]
            spreads: list[Spread] = [getattr(own, quantity) for own in tests]
            plot_series(
                axes,
                sizes,
                spreads,
                [_say_point(*each, label) for each in zip(sizes, spreads, strict=True)],
                hints,
                scale=100,
                label=label,
                look=choose_look(number, palette),
            )
        if sizes[-1] >= _LOGARITHMIC_FROM * sizes[0]:
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_minor_formatter(NullFormatter())
        shown = sizes if len(sizes) <= 6 else [sizes[0], sizes[len(sizes) // 2], sizes[-1]]
        axes.set_xticks(shown, [f"{size:,}" for size in shown])
        axes.set_xlabel(_ROWS)
        axes.set_ylabel(title)
        draw_grid(axes, palette)
        figure.legend(loc="lower center", ncols=n_columns, fontsize=9)
        return figure, hints.texts

    return draw


def _say_point(size: int, own: Spread, label: str) -> str:
    mean = math.nan if own.mean is None else 100 * own.mean
    return f"{size:,} rows, {label}: {mean:.2f}" + (f" ± {100 * own.sd:.2f}" if own.sd else "")


def plot_series(
    axes: Axes,
    x: Sequence[float],
    spreads: Sequence[Spread],
    texts: Sequence[str],
    hints: Hints,
    *,
    scale: int,
    label: str,
    look: dict[str, Any],
) -> None:
    """Draw the means of one quantity over another, with bars of standard deviations."""
    means = [own.mean for own in spreads]
    heights = [math.nan if mean is None or math.isinf(mean) else scale * mean for mean in means]
    bars = [scale * (own.sd or 0.0) for own in spreads]
    marker = look.pop("marker")
    axes.errorbar(x, heights, yerr=bars, linewidth=1.5, elinewidth=1, capsize=2.5, **look)
    # What the legend shows, drawn nowhere.
    axes.plot([], [], label=label, marker=marker, markersize=5.5, linewidth=1.5, **look)
    draw_points(axes, x, heights, texts, hints, marker=marker, markersize=6, color=look["color"])


def _points(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:+.2f} points"


def say_bars(runs: Sequence[FinishedRun]) -> str:
    """Say what the bars of a figure are, if it has any."""
    if max(run.n_classifiers for run in runs) == 1:
        return "Every point is one classifier."
    return "Points and bars: mean ± standard deviation over the M classifiers."


_MOST_RHO = 2


def run_consistency_parts(runs: Sequence[FinishedRun]) -> list[Part]:
    """Return what a page shows of P_C over the training rows; nothing without several numbers."""
    folders = {}
    for curve in curves_of_runs(runs):
        results = curve[0].results
        assert results is not None  # noqa: S101 - counts have no numbers of rows
        folders[str(curve[0].source)] = results
    if not folders:
        return []
    parts: list[Part] = [Heading(text="Paraphrastic consistency over the number of training rows")]
    for number, results in enumerate(folders.values(), 1):
        every = sorted({rho.rho for each in results.conditions for rho in each.rhos})
        shown = chosen_rhos(every, _MOST_RHO)
        curves = measure_run(results, names=name_models(results), rhos=shown)
        parts += curve_parts(curves, f"consistency-rows-{number}", of_runs=True)
        if len(shown) < len(every):
            parts.append(
                Note(
                    text=f"Only ρ = {shown[0]:g} and ρ = {shown[-1]:g} are shown; `ietest-fast "
                    "consistency` with the run's folder has all."
                )
            )
    return parts
