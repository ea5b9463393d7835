"""Figures of consistency over the amount of data (Srikanth et al. 2024, Figures 5 and 6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ietest_fast.analyses.consistency.curves import scale_amounts
from ietest_fast.report.consistency_charts import draw_lines_of_pvap, say_estimate
from ietest_fast.report.drawing import (
    Hints,
    choose_look,
    draw_grid,
    draw_points,
    legend_columns,
    legend_rows,
    make_axes,
)
from ietest_fast.report.svg import Chart
from ietest_fast.signs import escape_label, plain_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve, CurvePoint
    from ietest_fast.report.drawing import Drawn
    from ietest_fast.report.svg import Palette
    from ietest_fast.stats.consistency.intervals import BucketEstimate

MOST_CURVES = 12
"""Of more curves the first so many are drawn; the tables have all."""

# Percent that the plane shows at least, across and up.
_LEAST_WIDE = 20.0
_CONSISTENCY = {"p_c": "P_C, plug-in", "p_c_unbiased": "P_C, unbiased"}


def amount_chart(curve: ConsistencyCurve, name: str) -> Chart:
    """Draw P_C and accuracy over the amount of data, with intervals."""
    points = curve.points
    lines = {_consistency_of(points): _CONSISTENCY[_consistency_of(points)]}
    lines["accuracy_macro"] = "accuracy, macro"

    def draw(palette: Palette) -> Drawn:
        figure, axes = make_axes(legend_rows=1)
        hints = Hints()
        for number, (measure, label) in enumerate(lines.items()):
            look = choose_look(number, palette)
            known = [each for each in points if _value(each, measure) is not None]
            at = [each.amount for each in known]
            heights = [_percent(each, measure) for each in known]
            axes.plot(at, heights, linewidth=1.5, color=look["color"], linestyle=look["linestyle"])
            for each, height in zip(known, heights, strict=True):
                _draw_ends(axes, each, measure, look["color"], upright_at=each.amount)
                text = f"{each.written} {curve.of}, {label}: "
                draw_points(
                    axes,
                    [each.amount],
                    [height],
                    [text + say_estimate(each.result[measure])],
                    hints,
                    marker=look["marker"],
                    markersize=6,
                    color=look["color"],
                )
            axes.plot([], [], label=label, linewidth=1.5, **look)
        scale_amounts(axes, points)
        axes.set_xlabel(escape_label(curve.of))
        axes.set_ylabel("%")
        draw_grid(axes, palette)
        figure.legend(loc="lower center", ncols=2)
        return figure, hints.texts

    return Chart(
        name=name,
        title=f"P_C and accuracy over the {plain_label(curve.of)}{_whose(curve)}",
        summary=_summarise(curve),
        draw=draw,
        note=f"Bars: {_level(points[0])} intervals.",
    )


def path_chart(curves: Sequence[ConsistencyCurve], name: str) -> Chart:
    """Draw accuracy and P_C with the points of a curve connected in the order of the amounts."""
    drawn = curves[:MOST_CURVES]

    def draw(palette: Palette) -> Drawn:
        names = [each.name for each in drawn]
        rows = legend_rows(names)
        figure, axes = make_axes(4.2 + 0.28 * rows, right=0.25, legend_rows=rows)
        hints = Hints()
        across: list[float] = []
        up: list[float] = []
        labels: list[tuple[float, float, str]] = []
        for number, curve in enumerate(drawn):
            look = choose_look(number, palette)
            measure = _consistency_of(curve.points)
            known = [each for each in curve.points if _value(each, measure) is not None]
            x = [_percent(each, "accuracy_macro") for each in known]
            y = [_percent(each, measure) for each in known]
            across += [end for each in known for end in _ends(each, "accuracy_macro")]
            up += [end for each in known for end in _ends(each, measure)]
            axes.plot(x, y, linewidth=1.5, color=look["color"], linestyle=look["linestyle"])
            for place, (each, a, b) in enumerate(zip(known, x, y, strict=True)):
                _draw_ends(axes, each, "accuracy_macro", look["color"], level_at=b)
                _draw_ends(axes, each, measure, look["color"], upright_at=a)
                whose = f"{plain_label(curve.name)}, " if curve.name else ""
                text = (
                    f"{whose}{each.written} {curve.of}: accuracy "
                    f"{say_estimate(each.result['accuracy_macro'])}, {_CONSISTENCY[measure]} "
                    f"{say_estimate(each.result[measure])}"
                )
                draw_points(
                    axes, [a], [b], [text], hints,
                    marker=look["marker"], markersize=7, color=look["color"],
                )  # fmt: skip
                if len(drawn) == 1 or place in {0, len(known) - 1}:
                    labels.append((a, b, each.written))
            if len(drawn) > 1:
                axes.plot([], [], label=escape_label(curve.name), linewidth=1.5, **look)
        left, right = _room(across, 0, 100)
        bottom, top = _room(up, 45, 102)
        draw_lines_of_pvap(axes, palette, left=left, right=right, bottom=bottom, top=top)
        _label_points(axes, palette, labels, right - left, top - bottom)
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        axes.set_xlabel("accuracy, macro (%)")
        axes.set_ylabel(f"{_say_consistency(drawn)} (%)")
        if rows:
            figure.legend(loc="lower center", ncols=legend_columns(names))
        return figure, hints.texts

    left_out = len(curves) - len(drawn)
    more = f" {left_out:,} more curves are in the table." if left_out else ""
    of = " or ".join(dict.fromkeys(plain_label(each.of) for each in curves))
    return Chart(
        name=name,
        title=f"Accuracy and P_C by {of}, from the least to the most",
        summary=" ".join(_summarise(each) for each in drawn),
        draw=draw,
        note=f"Each mark: an amount, with {_say_consistency(drawn)}; lines connect the amounts of "
        "a curve in their order. Grey lines: equal PVAP, the share of the variance of correctness "
        f"that is due to paraphrasing. Bars: {_level(curves[0].points[0])} intervals.{more}",
    )


def _label_points(
    axes: Axes,
    palette: Palette,
    labels: Sequence[tuple[float, float, str]],
    width: float,
    height: float,
) -> None:
    """Write amounts beside points, but for those that would lie on each other."""
    taken: list[tuple[float, float]] = []
    for a, b, text in labels:
        if any(abs(a - x) < 0.1 * width and abs(b - y) < 0.06 * height for x, y in taken):
            continue
        taken.append((a, b))
        axes.annotate(
            text,
            (a, b),
            xytext=(6, 6),
            textcoords="offset points",
            fontsize=9,
            color=palette.ink,
        )


def _consistency_of(points: Sequence[CurvePoint]) -> str:
    """Return which P_C a curve shows: that of all points, without bias if all have it."""
    return "p_c" if any(each.consistency == "p_c" for each in points) else "p_c_unbiased"


def _say_consistency(curves: Sequence[ConsistencyCurve]) -> str:
    """Say which P_C curves show: one kind, or P_C if they differ."""
    found = {_CONSISTENCY[_consistency_of(each.points)] for each in curves}
    return found.pop() if len(found) == 1 else "P_C"


def _value(point: CurvePoint, measure: str) -> float | None:
    own = point.result.estimates.get(measure)
    return None if own is None else own.value


def _percent(point: CurvePoint, measure: str) -> float:
    value = _value(point, measure)
    return math.nan if value is None else 100 * value


def _ends(point: CurvePoint, measure: str) -> list[float]:
    """Return what a measure and its interval take on an axis, in percent."""
    own = point.result[measure]
    found = [own.value] if own.interval is None else [own.interval.low, own.interval.high]
    return [100 * each for each in found if each is not None]


def _draw_ends(
    axes: Axes,
    point: CurvePoint,
    measure: str,
    color: str,
    *,
    upright_at: float | None = None,
    level_at: float | None = None,
) -> None:
    """Draw the interval of a measure: upright at a place across, or level at a height."""
    own: BucketEstimate = point.result[measure]
    if own.interval is None:
        return
    ends = [100 * own.interval.low, 100 * own.interval.high]
    where: list[Any] = [upright_at, upright_at] if level_at is None else [level_at, level_at]
    pair = (where, ends) if level_at is None else (ends, where)
    axes.plot(*pair, color=color, linewidth=1.2)


def _room(values: Sequence[float], low: float, high: float) -> tuple[float, float]:
    """Return ends of an axis around values, with some room and within limits."""
    middle = (min(values) + max(values)) / 2
    half = max(max(values) - min(values), _LEAST_WIDE) * 0.6
    return max(low, middle - half), min(high, middle + half)


def _summarise(curve: ConsistencyCurve) -> str:
    measure = _consistency_of(curve.points)
    said = "; ".join(
        f"{each.written}: accuracy {say_estimate(each.result['accuracy_macro'])}, "
        f"P_C {say_estimate(each.result[measure])}"
        for each in curve.points
    )
    name = plain_label(curve.name) or f"By {plain_label(curve.of)}"
    return f"{name}: {said}."


def _whose(curve: ConsistencyCurve) -> str:
    return f": {plain_label(curve.name)}" if curve.name else ""


def _level(point: CurvePoint) -> str:
    return f"{100 * point.result.confidence_level:g}%"
