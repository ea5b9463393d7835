"""The figures of a report: Figures 3 to 8 of the paper, and what its readers would ask next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.escapes import escape_label, plain_label
from ietest_fast.experiment.finished import finished_runs, name_runs
from ietest_fast.experiment.view.learning import (
    curves_of_runs,
    plot_series,
    say_bars,
    size_accuracy_chart,
)
from ietest_fast.experiment.view.result_tables import rank_by_snr
from ietest_fast.numerals import format_t, percent, say_p, show_p
from ietest_fast.report.drawing import (
    WIDTH,
    Chart,
    Drawn,
    Hints,
    Palette,
    choose_look,
    draw_grid,
    draw_points,
    label_width,
    legend_columns,
    legend_rows,
    make_axes,
)
from ietest_fast.stats import draw_t_replicates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.experiment.schema import CellResult, RunResult
    from ietest_fast.experiment.view.text_tables import Substitutions
    from ietest_fast.stats import PowerCurve, RobustnessResult, SignalToNoise

P_FLOOR = 1e-12
"""Smaller p-values are drawn at this height: the axis should show where the decision is."""

N_REPLICATES = 10_000
"""S of the bootstrap distributions that are drawn."""

MOST_NAMED = 21
"""Of more runs a figure shows the lines alone, without points and names."""

_MOST_RANKED = 40
_MOST_PANELS = 6
_LEGEND_SIZE = 9
_RHO = "ρ (probability that a training text is transformed)"


def _rho_axis(axes: Axes, runs: Sequence[FinishedRun], palette: Palette) -> None:
    axes.set_xlabel(_RHO)
    rho = sorted({each.rho for run in runs for each in run.rhos})
    if len(rho) <= 11:
        axes.set_xticks(rho)
    draw_grid(axes, palette)


def _plain_lines(
    axes: Axes,
    lines: Sequence[tuple[FinishedRun, Sequence[float | None]]],
    palette: Palette,
) -> None:
    """Draw many runs as thin lines without names."""
    for run, values in lines:
        heights = [math.nan if v is None or math.isinf(v) else v for v in values]
        axes.plot(
            [rho.rho for rho in run.rhos],
            heights,
            color=palette.series[0],
            marker="." if len(heights) == 1 else None,
            linewidth=0.7,
            alpha=0.5,
        )


def accuracy_chart(run: FinishedRun, name: str) -> Chart:
    """Draw accuracy on both versions against rho (Figures 4, 5 and 7)."""

    def draw(palette: Palette) -> Drawn:
        figure, axes = make_axes(legend_rows=1)
        hints = Hints()
        span = max(rho.rho for rho in run.rhos) - min(rho.rho for rho in run.rhos) or 1.0
        for number, (label, spreads) in enumerate(
            (
                ("original test set", [rho.accuracy_original for rho in run.rhos]),
                ("transformed test set", [rho.accuracy_transformed for rho in run.rhos]),
            )
        ):
            shift = (-1, 1)[number] * 0.003 * span
            plot_series(
                axes,
                [rho.rho + shift for rho in run.rhos],
                spreads,
                [
                    f"ρ = {rho.rho:g}, {label}: {100 * (spread.mean or 0):.2f}%"
                    + ("" if spread.sd is None else f" ± {100 * spread.sd:.2f}")
                    for rho, spread in zip(run.rhos, spreads, strict=True)
                ],
                hints,
                scale=100,
                label=label,
                look=choose_look(number, palette),
            )
        axes.set_ylabel("accuracy (%)")
        _rho_axis(axes, [run], palette)
        figure.legend(loc="lower center", ncols=2)
        return figure, hints.texts

    first, last = run.rhos[0], run.rhos[-1]
    return Chart(
        name=name,
        title=f"Accuracy of {run.name} on both versions of the test set, against ρ",
        summary=(
            f"Means over {run.n_classifiers} classifiers with standard deviations. At ρ = "
            f"{first.rho:g}: {percent(first.accuracy_original.mean)} on the originals, "
            f"{percent(first.accuracy_transformed.mean)} on the transformed; at ρ = {last.rho:g}: "
            f"{percent(last.accuracy_original.mean)} and "
            f"{percent(last.accuracy_transformed.mean)}."
        ),
        draw=draw,
        note=say_bars([run]),
    )


def t_chart(runs: Sequence[FinishedRun], name: str) -> Chart:
    """Draw the statistic against rho (Figure 6)."""

    def draw(palette: Palette) -> Drawn:
        figure, axes = make_axes(legend_rows=_legend_rows(runs))
        hints = Hints()
        axes.axhline(0, color=palette.quiet, linewidth=1)
        if len(runs) > MOST_NAMED:
            _plain_lines(axes, [(run, [rho.t.mean for rho in run.rhos]) for run in runs], palette)
        for number, run in enumerate(runs if len(runs) <= MOST_NAMED else ()):
            plot_series(
                axes,
                [rho.rho for rho in run.rhos],
                [rho.t for rho in run.rhos],
                [
                    f"{run.name}, ρ = {rho.rho:g}: t = "
                    + ("undefined" if rho.t.mean is None else format_t(rho.t.mean))
                    + ("" if rho.t.sd is None else f" ± {rho.t.sd:.3f}")
                    for rho in run.rhos
                ],
                hints,
                scale=1,
                label=escape_label(run.name),
                look=choose_look(number, palette),
            )
        axes.set_ylabel("t")
        _rho_axis(axes, runs, palette)
        _legend(figure, runs)
        return figure, hints.texts

    return Chart(
        name=name,
        title="The statistic t against ρ",
        summary=(
            "Means over the classifiers with standard deviations. Above 0 the originals fare "
            "better, below 0 the transformed texts. " + _say_range(runs)
        ),
        draw=draw,
        note=" ".join(filter(None, [say_bars(runs), _say_unnamed(runs)])),
    )


def _say_range(runs: Sequence[FinishedRun]) -> str:
    said = []
    for run in runs:
        means = [rho.t.mean for rho in run.rhos if rho.t.mean is not None]
        if means:
            said.append(f"{run.name}: from {format_t(means[0])} to {format_t(means[-1])}.")
    return " ".join(said)


def _say_unnamed(runs: Sequence[FinishedRun]) -> str:
    if len(runs) <= MOST_NAMED:
        return ""
    return f"{len(runs):,} runs are too many for a legend; the table below has their names."


def _legend_rows(runs: Sequence[FinishedRun]) -> int:
    if len(runs) > MOST_NAMED:
        return 0
    return legend_rows([run.name for run in runs], size=_LEGEND_SIZE)


def _legend(figure: Figure, runs: Sequence[FinishedRun]) -> None:
    if 1 < len(runs) <= MOST_NAMED:
        columns = legend_columns([run.name for run in runs], size=_LEGEND_SIZE)
        figure.legend(loc="lower center", ncols=columns, fontsize=_LEGEND_SIZE)


def p_chart(runs: Sequence[FinishedRun], name: str) -> Chart:
    """Draw the smallest p-value against rho with the line alpha / M (Figure 3).

    A point is filled where invariance is rejected; an arrow at the foot stands for a value below
    ``P_FLOOR``. Of one run alone every p-value is a small dot besides.
    """
    thresholds = sorted({run.rhos[0].threshold for run in runs}, reverse=True)
    is_cut = any(rho.p_min < P_FLOOR for run in runs for rho in run.rhos)
    signs = ["Filled: rejected."] if len(runs) <= MOST_NAMED else [_say_unnamed(runs)]
    if len(runs) == 1:
        signs.append("Small dots: every classifier.")
    if is_cut and len(runs) <= MOST_NAMED:
        signs.append(f"Arrows at the foot: p below {show_p(P_FLOOR)}.")

    def draw(palette: Palette) -> Drawn:
        figure, axes = make_axes(left=0.85, right=1.45, legend_rows=_legend_rows(runs))
        hints = Hints()
        axes.set_yscale("log")
        lowest = max(min(rho.p_min for run in runs for rho in run.rhos), P_FLOOR)
        axes.set_ylim(min(lowest, *thresholds) / 5, 2)
        _draw_levels(figure, axes, {own: _say_level(runs, own) for own in thresholds}, palette)
        if len(runs) == 1:
            _draw_p_values(axes, runs[0].cells, palette)
        if len(runs) > MOST_NAMED:
            lines = [(run, [max(rho.p_min, P_FLOOR) for rho in run.rhos]) for run in runs]
            _plain_lines(axes, lines, palette)
        for number, run in enumerate(runs if len(runs) <= MOST_NAMED else ()):
            _draw_smallest(axes, run, choose_look(number, palette), palette, hints)
        axes.set_ylabel("smallest p-value (filled: rejected)")
        _rho_axis(axes, runs, palette)
        _legend(figure, runs)
        return figure, hints.texts

    rejected = "; ".join(
        f"{run.name}: " + (", ".join(f"{rho.rho:g}" for rho in run.rhos if rho.reject) or "nowhere")
        for run in runs
    )
    return Chart(
        name=name,
        title="The smallest of the M p-values against ρ",
        summary=f"Below the line α/M invariance is rejected. Rejected at ρ of {rejected}.",
        draw=draw,
        note=" ".join(signs),
    )


def _draw_levels(figure: Figure, axes: Axes, levels: Mapping[float, str], palette: Palette) -> None:
    """Draw the levels that p-values are held against, named beside the axes, where no point is."""
    height = math.inf
    for level, said in levels.items():
        axes.axhline(level, color=palette.ink, linestyle="--", linewidth=1)
        # Lines may be close, so labels make way.
        height = min(height - 11, _height(figure, axes, level))
        axes.annotate(
            said,
            (1, 0),
            xycoords="axes fraction",
            xytext=(4, height),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=8,
            color=palette.ink,
        )


def _draw_p_values(axes: Axes, cells: Sequence[CellResult], palette: Palette) -> None:
    axes.plot(
        [cell.rho for cell in cells],
        [max(cell.p_value, P_FLOOR) for cell in cells],
        linestyle="none",
        marker=".",
        markersize=3.5,
        color=palette.quiet,
    )


def _draw_smallest(
    axes: Axes, run: FinishedRun, look: dict[str, Any], palette: Palette, hints: Hints
) -> None:
    """Draw the smallest p-values of a run, filled where it rejects."""
    marker = look.pop("marker")
    heights = [max(rho.p_min, P_FLOOR) for rho in run.rhos]
    axes.plot([rho.rho for rho in run.rhos], heights, linewidth=1.5, **look)
    axes.plot([], [], label=escape_label(run.name), marker=marker, markersize=5.5, **look)
    for rho, height in zip(run.rhos, heights, strict=True):
        p, is_rejected = rho.p_min, rho.reject
        said = "rejected" if is_rejected else "not rejected"
        draw_points(
            axes,
            [rho.rho],
            [height],
            [f"{run.name}, ρ = {rho.rho:g}: smallest {say_p(show_p(p))}, {said}"],
            hints,
            marker="v" if p < P_FLOOR else marker,
            markersize=6,
            color=look["color"],
            markerfacecolor=look["color"] if is_rejected else palette.ground,
        )


def _height(figure: Figure, axes: Axes, value: float) -> float:
    """Say how high a value of a logarithmic axis lies, in points above its foot."""
    low, high = map(math.log, axes.get_ylim())
    whole = float(axes.get_position().height * figure.get_figheight() * 72)
    return whole * (math.log(value) - low) / (high - low)


def _say_level(runs: Sequence[FinishedRun], threshold: float) -> str:
    """Name a line; where there are several, by the number of classifiers of their runs."""
    name = "α" if all(run.rhos[0].is_joint for run in runs) else "α/M"
    if len({run.rhos[0].threshold for run in runs}) == 1:
        return f"{name} = {threshold:.3g}"
    of = {run.n_classifiers for run in runs if run.rhos[0].threshold == threshold}
    return f"{name} = {threshold:.3g} (M = {', '.join(map(str, sorted(of)))})"


def delta_chart(run: FinishedRun, name: str) -> Chart:
    """Draw delta of every classifier with its interval, and the margin of equivalence."""
    level = f"{100 * (1 - 2 * run.alpha):g}%"

    def draw(palette: Palette) -> Drawn:
        figure, axes = make_axes(legend_rows=1)
        hints = Hints()
        margin = 100 * run.margin
        axes.axhspan(-margin, margin, color=palette.grid, alpha=0.55, linewidth=0)
        axes.axhline(0, color=palette.quiet, linewidth=1)
        rho = [each.rho for each in run.rhos]
        steps = np.diff(sorted(rho))
        width = 0.6 * (float(steps.min()) if len(steps) else 1.0)
        looks: dict[bool, dict[str, Any]] = {
            True: {"color": palette.series[0], "marker": "o"},
            False: {"color": palette.series[1], "marker": "s"},
        }
        for each in run.rhos:
            for number, cell in enumerate(each.cells):
                shift = width * ((number + 0.5) / len(each.cells) - 0.5)
                low, high = 100 * cell.interval.low, 100 * cell.interval.high
                delta = 100 * cell.counts.delta
                look = looks[cell.is_equivalent]
                x = each.rho + shift
                axes.plot([x, x], [low, high], linewidth=1.2, color=look["color"])
                draw_points(
                    axes,
                    [x],
                    [delta],
                    [
                        f"ρ = {each.rho:g}, m = {cell.m}: δ = {delta:+.2f} points, {level} "
                        f"interval {low:+.2f} to {high:+.2f}"
                        + (", within the margin" if cell.is_equivalent else "")
                    ],
                    hints,
                    markersize=4.5,
                    **look,
                )
        axes.plot([], [], label="shown to be within the margin", markersize=5, **looks[True])
        axes.plot([], [], label="not shown", markersize=5, **looks[False])
        axes.set_ylabel("δ (points)")
        _rho_axis(axes, [run], palette)
        axes.grid(visible=False, axis="y")
        figure.legend(loc="lower center", ncols=2)
        return figure, hints.texts

    inside = sum(cell.is_equivalent for cell in run.cells)
    width = f"{100 * run.margin:g} {'point' if run.margin == 0.01 else 'points'}"
    return Chart(
        name=name,
        title=f"δ of every classifier of {run.name}, with its {level} interval",
        summary=(
            f"δ is accuracy on the originals minus accuracy on the transformed. {inside} of "
            f"{len(run.cells)} classifiers are shown to differ by less than {width}, the shaded "
            "band."
        ),
        draw=draw,
        note=f"Shaded: the margin of ±{width}. Every classifier of a ρ stands beside the others.",
    )


def bootstrap_chart(run: FinishedRun, name: str) -> Chart:
    """Draw the null distribution of t with the statistic marked, at up to six rho."""
    wanted = np.linspace(0, len(run.rhos) - 1, min(_MOST_PANELS, len(run.rhos)))
    chosen = [run.rhos[round(place)] for place in wanted]

    def draw(palette: Palette) -> Drawn:
        from matplotlib.figure import Figure

        n_columns = min(3, len(chosen))
        n_rows = -(-len(chosen) // n_columns)
        height = 1.9 * n_rows + 0.5
        figure = Figure(figsize=(WIDTH, height))
        figure.subplots_adjust(
            left=0.02,
            right=0.98,
            top=1 - 0.3 / height,
            bottom=0.62 / height,
            hspace=0.5,
            wspace=0.08,
        )
        hints = Hints()
        all_axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True)
        for axes in all_axes.flat[len(chosen) :]:
            axes.set_visible(False)
        for axes, rho in zip(all_axes.flat, chosen, strict=False):
            cell = rho.strongest
            # The law that is drawn is that of independent observations; so is this t.
            t = cell.counts.t
            replicates = draw_t_replicates(cell.counts, n_resamples=N_REPLICATES)
            replicates = replicates[np.isfinite(replicates)]
            reach = max(float(np.abs(replicates).max(initial=0.0)), 4.0)
            axes.hist(
                replicates,
                bins=_bins(reach, cell.counts.k),
                weights=np.full(len(replicates), 1 / N_REPLICATES),
                histtype="stepfilled",
                color=palette.series[0],
                alpha=0.55,
                linewidth=0,
            )
            axes.axvline(
                math.copysign(min(abs(t), 1e3), t),
                color=palette.series[1],
                linewidth=2,
                gid=hints.add(_say_t(cell)),
            )
            axes.set_title(f"ρ = {rho.rho:g}, m = {cell.m}", fontsize=9)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.tick_params(labelsize=8)
        figure.supxlabel("t under H0 (filled), and observed (line)", fontsize=10)
        return figure, hints.texts

    said = "; ".join(_say_t(rho.strongest) for rho in chosen)
    is_clustered = run.cells[0].n_clusters is not None
    return Chart(
        name=name,
        title=f"Bootstrap distribution of t under H0, and the t of {run.name}"
        + (", as if its observations were independent" if is_clustered else ""),
        summary=f"The classifier with the smallest p at each ρ. {said}.",
        draw=draw,
    )


def _say_t(cell: CellResult) -> str:
    """Say what t is; its p-value stands by it where it is of the same test."""
    p = f", {say_p(show_p(cell.p_value))}" if cell.n_clusters is None else ""
    return f"ρ = {cell.rho:g}, m = {cell.m}: t = {format_t(cell.counts.t)}{p}"


def _bins(reach: float, k: int) -> NDArray[np.float64]:
    """Cut an axis into bins that hold equally many values that t* takes.

    With k discordant pairs t* lies close to the multiples of 1/sqrt(k). Every bin holds the same
    odd number of them, 0 in the middle of the middle one: bins of any other width would hold now
    more of them and now fewer, and show dips that the law does not have.
    """
    step = 1 / math.sqrt(max(k, 1))
    per_bin = 2 * round((reach / 14.5 / step - 1) / 2) + 1
    width = max(per_bin, 1) * step
    half = max(math.ceil(reach / width - 0.5), 1)
    edges: NDArray[np.float64] = (np.arange(-half, half + 2) - 0.5) * np.float64(width)
    return edges


def _parts(found: RobustnessResult) -> Iterator[tuple[SignalToNoise, str, int, str]]:
    """Give all classifiers, and if some have collapsed the others, with marker and colour."""
    yield found.every, "o", 0, "all classifiers"
    others = found.without_collapsed
    if found.collapsed and others is not None and math.isfinite(others.snr):
        yield others, "D", 1, "without collapsed"


def snr_chart(runs: Sequence[FinishedRun], name: str) -> Chart | None:
    """Draw the ranking by signal-to-noise ratio with intervals (Table 2).

    None where every ratio is infinite, the accuracies of each model being equal.
    """
    ranked = [run for run in rank_by_snr(runs) if math.isfinite(run.robustness.every.snr)]
    n_left = len(ranked) - _MOST_RANKED
    ranked = ranked[:_MOST_RANKED]
    if not ranked:
        return None

    def draw(palette: Palette) -> Drawn:
        from matplotlib.ticker import LogLocator, NullFormatter

        names = [run.name for run in ranked]
        figure, axes = make_axes(0.9 + 0.38 * len(ranked), left=label_width(names))
        hints = Hints()
        for height, run in enumerate(reversed(ranked)):
            for part, marker, place, said in _parts(run.robustness):
                look: dict[str, Any] = {"color": palette.series[place]}
                if part.interval is not None and part.interval.low > 0:
                    axes.plot(
                        [part.interval.low, part.interval.high],
                        [height, height],
                        linewidth=1.2,
                        **look,
                    )
                draw_points(
                    axes,
                    [part.snr],
                    [height],
                    [f"{run.name}, {said}: SNR {part.snr:.1f}"],
                    hints,
                    marker=marker,
                    markersize=6,
                    **look,
                )
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_yticks(range(len(ranked)), [escape_label(run.name) for run in reversed(ranked)])
        axes.set_ylim(-0.6, len(ranked) - 0.4)
        axes.set_xlabel("SNR (mean/sd of the accuracy on the original test set)")
        draw_grid(axes, palette, "x")
        return figure, hints.texts

    said = "; ".join(f"{run.name} {run.robustness.every.snr:.1f}" for run in ranked)
    return Chart(
        name=name,
        title="Signal-to-noise ratios with intervals",
        summary=f"{said}.",
        draw=draw,
        note=f"The first {_MOST_RANKED} runs; {n_left:,} more are in the table." * (n_left > 0),
    )


def substitution_chart(found: Substitutions, name: str, n: int) -> Chart:
    """Draw the most frequent substitutions (Figure 8)."""
    names, times = found.names[:n], found.times[:n]

    def draw(palette: Palette) -> Drawn:
        from matplotlib.ticker import MaxNLocator

        figure, axes = make_axes(0.7 + 0.24 * len(names), left=label_width(names))
        hints = Hints()
        for height, (said, count) in enumerate(zip(reversed(names), times[::-1], strict=True)):
            (bar,) = axes.barh([height], [count], color=palette.series[0])
            bar.set_gid(hints.add(f"{plain_label(said)}: {count:,}"))
        axes.set_yticks(
            range(len(names)), [escape_label(each) for each in reversed(names)], fontsize=9
        )
        axes.set_ylim(-0.7, len(names) - 0.3)
        axes.set_xlabel("times")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        draw_grid(axes, palette, "x")
        return figure, hints.texts

    first = ", ".join(
        f"{plain_label(each)} {count:,}" for each, count in zip(names[:3], times, strict=False)
    )
    return Chart(
        name=name,
        title=f"The {len(names)} most frequent substitutions",
        summary=f"The first are {first}.",
        draw=draw,
    )


# The two figures that a run leaves in its folder, and that of a plan.


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
