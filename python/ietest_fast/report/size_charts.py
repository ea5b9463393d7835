"""Curves over the number of training rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ietest_fast.report.drawing import Hints, choose_look, draw_grid, draw_points, make_axes
from ietest_fast.report.learning_curves import chosen_rhos, rows_of
from ietest_fast.report.svg import Chart

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ietest_fast.experiment.schema import RhoResult, Spread
    from ietest_fast.report.drawing import Drawn
    from ietest_fast.report.runs import FinishedRun
    from ietest_fast.report.svg import Palette

# Lines of a figure.
_MOST_RHO_OF_ACCURACY = 2
_MOST_RHO_OF_LOSS = 6

# From so many times the smallest size on the axis is logarithmic.
_LOGARITHMIC_FROM = 4

_ROWS = "training rows"


def size_accuracy_chart(curve: Sequence[FinishedRun], name: str) -> Chart:
    """Draw accuracy on both versions over the number of training rows."""
    lines = [
        (f"ρ = {rho:g}, {label}", rho, read)
        for rho in chosen_rhos((own.rho for own in curve[0].rhos), _MOST_RHO_OF_ACCURACY)
        for label, read in (
            ("original", _read_original),
            ("transformed", _read_transformed),
        )
    ]
    first, last = curve[0], curve[-1]
    low, high = (own.rhos[0].accuracy_original.mean for own in (first, last))
    return Chart(
        name=name,
        title=f"Accuracy of {first.model} under {first.transformation} over the training rows",
        summary=(
            f"At ρ = {first.rhos[0].rho:g}, accuracy on the originals is {_percent(low)} from "
            f"{rows_of(first.condition):,} rows and {_percent(high)} from "
            f"{rows_of(last.condition):,}."
        ),
        draw=_draw(curve, lines, "accuracy (%)"),
        note=_say_bars(first),
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
        draw=_draw(curve, [(f"ρ = {rho:g}", rho, _read_loss) for rho in rhos], "loss (points)"),
        note=_say_bars(first),
    )


def _read_original(rho: RhoResult) -> Spread:
    return rho.accuracy_original


def _read_transformed(rho: RhoResult) -> Spread:
    return rho.accuracy_transformed


def _read_loss(rho: RhoResult) -> Spread:
    return rho.shown_delta


def _draw(
    curve: Sequence[FinishedRun],
    lines: Sequence[tuple[str, float, Callable[[RhoResult], Spread]]],
    title: str,
) -> Callable[[Palette], Drawn]:
    sizes = [rows_of(run.condition) for run in curve]

    def draw(palette: Palette) -> Drawn:
        from matplotlib.ticker import NullFormatter, NullLocator

        n_columns = 2 if len(lines) == 4 else min(len(lines), 3)
        figure, axes = make_axes(legend_rows=-(-len(lines) // n_columns))
        hints = Hints()
        for number, (label, rho, read) in enumerate(lines):
            spreads = [read(next(own for own in run.rhos if own.rho == rho)) for run in curve]
            heights = [math.nan if own.mean is None else 100 * own.mean for own in spreads]
            bars = [100 * (own.sd or 0.0) for own in spreads]
            look = choose_look(number, palette)
            marker = look.pop("marker")
            axes.errorbar(
                sizes, heights, yerr=bars, linewidth=1.5, elinewidth=1, capsize=2.5, **look
            )
            # What the legend shows, drawn nowhere.
            axes.plot([], [], label=label, marker=marker, markersize=5.5, linewidth=1.5, **look)
            texts = [
                f"{size:,} rows, {label}: {height:.2f}" + (f" ± {bar:.2f}" if bar else "")
                for size, height, bar in zip(sizes, heights, bars, strict=True)
            ]
            draw_points(
                axes, sizes, heights, texts, hints, marker=marker, markersize=6, color=look["color"]
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


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:.1f}%"


def _points(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:+.2f} points"


def _say_bars(run: FinishedRun) -> str:
    """Say what the bars of a figure are, if it has any."""
    if run.n_classifiers == 1:
        return "Every point is one classifier."
    return "Points and bars: mean ± standard deviation over the M classifiers."
