"""Figures of paraphrastic consistency: P_C of models, the plane with accuracy, shares right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.plurals import say_count
from ietest_fast.report.drawing import (
    Hints,
    choose_look,
    draw_grid,
    draw_points,
    label_width,
    legend_columns,
    legend_rows,
    make_axes,
)
from ietest_fast.report.svg import Chart
from ietest_fast.signs import escape_label, plain_label
from ietest_fast.stats.consistency.measure import ISO_PVAP, consistency_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ietest_fast.analyses.consistency.partition import ConsistencySubsets
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.drawing import Drawn
    from ietest_fast.report.svg import Palette
    from ietest_fast.stats.consistency.intervals import BucketEstimate
    from ietest_fast.stats.consistency.measure import ConsistencyResult

MOST_DRAWN = 21
"""Of more classifiers the first so many are drawn; the tables have all."""

N_BINS = 10
"""Of histograms of the share of right answers."""

_KINDS = {"p_c": ("P_C, plug-in", "o"), "p_c_unbiased": ("P_C, unbiased", "D")}


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """What stands in a line of a chart."""

    name: str
    result: ConsistencyResult


def part_chart(
    profile: ConsistencyProfile, found: ConsistencySubsets, name: str, *, what: str
) -> Chart:
    """Draw P_C of the parts of a classifier's answers, plug-in and unbiased, with intervals."""
    parts = [_Drawn(name=value, result=own) for value, own in found.parts.items()]
    return replace(consistency_chart(parts, name), title=f"P_C by {what}: {profile.name}")


def consistency_chart(profiles: Sequence[ConsistencyProfile | _Drawn], name: str) -> Chart:
    """Draw P_C of classifiers, plug-in and unbiased, with intervals."""
    drawn = profiles[:MOST_DRAWN]

    def draw(palette: Palette) -> Drawn:
        names = [each.name for each in drawn]
        figure, axes = make_axes(1.1 + 0.5 * len(drawn), left=label_width(names), legend_rows=1)
        hints = Hints()
        for number, (measure, (label, marker)) in enumerate(_KINDS.items()):
            color = palette.series[number]
            for place, each in enumerate(drawn):
                own = each.result.estimates.get(measure)
                if own is None or own.value is None:
                    continue
                at = place + (number - 0.5) * 0.3
                if own.interval is not None:
                    ends = [100 * own.interval.low, 100 * own.interval.high]
                    axes.plot(ends, [at, at], color=color, linewidth=1.5)
                text = f"{plain_label(each.name)}, {label}: {say_estimate(own)}"
                draw_points(
                    axes,
                    [100 * own.value],
                    [at],
                    [text],
                    hints,
                    marker=marker,
                    markersize=6,
                    color=color,
                )
            axes.plot([], [], label=label, marker=marker, linewidth=1.5, color=color)
        axes.set_yticks(range(len(drawn)), [escape_label(each) for each in names])
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.set_xlabel("P_C (%)")
        draw_grid(axes, palette, "x")
        figure.legend(loc="lower center", ncols=2)
        return figure, hints.texts

    return Chart(
        name=name,
        title="Probability that two paraphrases are both answered rightly, or both wrongly",
        summary=" ".join(
            f"{plain_label(each.name)}: P_C {say_estimate(each.result['p_c'])}." for each in drawn
        ),
        draw=draw,
        note=f"Marks: estimates, with {_level(profiles)} intervals. {_say_left(profiles)}".strip(),
    )


def plane_chart(profiles: Sequence[ConsistencyProfile], name: str) -> Chart:
    """Draw classifiers in the plane of macro accuracy and P_C, over lines of equal PVAP (Figure
    3).
    """
    drawn = profiles[:MOST_DRAWN]

    def draw(palette: Palette) -> Drawn:
        n = len(drawn)
        names = [each.name for each in drawn]
        rows = legend_rows(names)
        figure, axes = make_axes(4.2 + 0.28 * rows, right=0.25, legend_rows=rows)
        draw_lines_of_pvap(axes, palette)
        hints = Hints()
        for number, each in enumerate(drawn):
            look = choose_look(number, palette)
            across, up = each.result["accuracy_macro"], each.result["p_c"]
            if across.value is None or up.value is None:
                continue
            x, y = 100 * across.value, 100 * up.value
            if across.interval is not None:
                ends = [100 * across.interval.low, 100 * across.interval.high]
                axes.plot(ends, [y, y], color=look["color"], linewidth=1.2)
            if up.interval is not None:
                ends = [100 * up.interval.low, 100 * up.interval.high]
                axes.plot([x, x], ends, color=look["color"], linewidth=1.2)
            text = (
                f"{plain_label(each.name)}: accuracy {say_estimate(across)}, P_C {say_estimate(up)}"
            )
            draw_points(
                axes,
                [x],
                [y],
                [text],
                hints,
                marker=look["marker"],
                markersize=7,
                color=look["color"],
            )
            if n > 1:
                axes.plot(
                    [],
                    [],
                    label=escape_label(each.name),
                    marker=look["marker"],
                    linestyle="none",
                    color=look["color"],
                )
        axes.set_xlim(0, 100)
        axes.set_ylim(45, 102)
        axes.set_xlabel("accuracy, macro (%)")
        axes.set_ylabel("P_C, plug-in (%)")
        if n > 1:
            figure.legend(loc="lower center", ncols=legend_columns(names))
        return figure, hints.texts

    return Chart(
        name=name,
        title=f"Accuracy and P_C of {plain_label(drawn[0].name)}"
        if len(profiles) == 1
        else "Accuracy and P_C of each model",
        summary=" ".join(
            f"{plain_label(each.name)}: accuracy {say_estimate(each.result['accuracy_macro'])}, "
            f"P_C {say_estimate(each.result['p_c'])}."
            for each in drawn
        ),
        draw=draw,
        note=f"Each mark: a model, with plug-in P_C and {_level(profiles)} intervals. Lines: equal "
        "PVAP, the share of the variance of correctness that is due to "
        "paraphrasing. At 100% all items are answered rightly equally often: no P_C lies below. "
        f"{_say_left(profiles)}".strip(),
    )


def draw_lines_of_pvap(
    axes: Axes,
    palette: Palette,
    *,
    left: float = 0,
    right: float = 100,
    bottom: float = 45,
    top: float = 102,
) -> None:
    """Draw lines of equal PVAP into a plane of accuracy and P_C, each named at its left."""
    grid = np.linspace(0, 1, 1001)
    # Where the name stands: a fifth of the way, where lines have room between them.
    at = left + (right - left) / 5
    for share in ISO_PVAP:
        line = 100 * consistency_at(grid, share)
        axes.plot(100 * grid, line, color=palette.grid, linewidth=1.2)
        height = float(np.interp(at, 100 * grid, line))
        if bottom < height < top:
            axes.annotate(
                f"PVAP {100 * share:g}%",
                (at, height),
                color=palette.quiet,
                ha="left",
                va="bottom",
                fontsize=9,
            )


def theta_chart(profile: ConsistencyProfile, name: str) -> Chart:
    """Draw how many items have which share of right answers to their paraphrases."""
    counts, edges = np.histogram(profile.counts.theta, bins=N_BINS, range=(0, 1))

    def draw(palette: Palette) -> Drawn:
        figure, axes = make_axes(2.9, right=0.25)
        hints = Hints()
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
            axes.bar(
                50 * (low + high),
                count,
                width=90 * (high - low),
                color=palette.series[0],
                gid=hints.add(_say_bin(float(low), float(high), int(count))),
            )
        axes.set_xlim(0, 100)
        axes.set_xlabel("paraphrases of an item answered rightly (%)")
        axes.set_ylabel("items")
        draw_grid(axes, palette)
        return figure, hints.texts

    right = int((profile.counts.right == profile.counts.sizes).sum())
    wrong = int((profile.counts.right == 0).sum())
    split = profile.result.n_split
    return Chart(
        name=name,
        title=f"Shares of right answers by item: {profile.name}",
        summary=f"Of {say_count(profile.result.n_buckets, 'item')} {right:,} are answered rightly "
        f"in all paraphrases, {wrong:,} in none, and {split:,} in some.",
        draw=draw,
        note=f"All right: {say_count(right, 'item')}; all wrong: {wrong:,}; split: {split:,}.",
    )


def _say_bin(low: float, high: float, count: int) -> str:
    end = "to" if high == 1 else "to below"
    return f"{100 * low:.0f}% {end} {100 * high:.0f}% right: {say_count(count, 'item')}"


def say_estimate(own: BucketEstimate) -> str:
    """Return an estimate in percent, with its interval."""
    if own.value is None:
        return "not defined"
    if own.interval is None:
        return f"{100 * own.value:.1f}%"
    return f"{100 * own.value:.1f}% ({100 * own.interval.low:.1f} to {100 * own.interval.high:.1f})"


def _level(profiles: Sequence[ConsistencyProfile | _Drawn]) -> str:
    return f"{100 * profiles[0].result.confidence_level:g}%"


def _say_left(profiles: Sequence[ConsistencyProfile | _Drawn]) -> str:
    left = len(profiles) - MOST_DRAWN
    return f"The first {MOST_DRAWN} are drawn; {left:,} more are in the table." if left > 0 else ""
