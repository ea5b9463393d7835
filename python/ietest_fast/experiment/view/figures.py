"""The two figures that a run leaves in its folder, and that of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.experiment.view.charts import accuracy_chart, p_chart
from ietest_fast.experiment.view.learning import curves_of_runs, size_accuracy_chart
from ietest_fast.experiment.view.runs import finished_runs, name_runs
from ietest_fast.report.drawing import Chart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

    from ietest_fast.experiment.schema import RunResult
    from ietest_fast.report.drawing import Palette
    from ietest_fast.stats import PowerCurve


def write_figures(result: RunResult) -> list[Path]:
    """Write ``accuracy`` and ``p_values``, each as SVG and PNG, into the run's folder.

    Of several models, transformations or numbers of training rows each has its own
    ``accuracy-1``, ``accuracy-2`` and so on. Of several numbers of training rows,
    ``training_rows-1`` and so on show the accuracy over them, for each model and transformation.

    Returns
    -------
    list of Path
        The files.
    """
    runs = name_runs(finished_runs(result))
    paths = []
    accuracies = [
        accuracy_chart(run, "accuracy" if len(runs) == 1 else f"accuracy-{number}")
        for number, run in enumerate(runs, start=1)
    ]
    curves = [
        size_accuracy_chart(own, f"training_rows-{number}")
        for number, own in enumerate(curves_of_runs(runs), start=1)
    ]
    for chart in (*accuracies, p_chart(runs, "p_values"), *curves):
        for suffix in ("svg", "png"):
            path = result.folder / f"{chart.name}.{suffix}"
            chart.save(path)
            paths.append(path)
    return paths


def power_chart(curve: PowerCurve) -> Chart:
    """Draw a power curve, with its goal of 0.8 and the level as lines."""
    level = f"α = {curve.alpha:g}" + (f", M = {curve.n_tests}" if curve.n_tests > 1 else "")
    fixed = f"δ = {curve.delta:g}" if curve.over == "n" else f"n = {curve.n:,}"
    title = f"{fixed}, ψ = {curve.discordance:.4g}, {level}"

    def draw(palette: Palette) -> tuple[Figure, Mapping[str, str]]:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.8, 4.7), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(curve.values, curve.powers, color=palette.series[0], linewidth=2)
        for height, label in ((0.8, "0.8"), (curve.alpha / curve.n_tests, "level")):
            axes.axhline(height, color=palette.quiet, linestyle="--", linewidth=1)
            axes.annotate(
                label,
                (1, height),
                xycoords=("axes fraction", "data"),
                xytext=(-2, 2),
                textcoords="offset points",
                ha="right",
                fontsize=9,
                color=palette.quiet,
            )
        axes.set_ylim(0, 1.02)
        axes.set_ylabel("power")
        if curve.over == "n":
            axes.set_xlabel("pairs")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        else:
            axes.set_xlabel("δ (difference of the accuracies)")
        axes.set_title(title)
        axes.grid(color=palette.grid, linewidth=0.7)
        axes.set_axisbelow(True)
        return figure, {}

    over = "pairs" if curve.over == "n" else "δ"
    return Chart(
        name="power",
        title=f"Power against {over}: {title}",
        summary=f"From {curve.powers[0]:.2f} at {curve.values[0]:g} to {curve.powers[-1]:.2f} at "
        f"{curve.values[-1]:g}.",
        draw=draw,
    )
