"""Figures of paraphrastic consistency: P_C of models, the plane with accuracy, shares right."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.analyses.consistency.curves import scale_amounts
from ietest_fast.analyses.consistency.tables import (
    choose_known,
    interval_name,
    measure_cells,
    measure_columns,
    pair_table,
    say_warnings,
)
from ietest_fast.escapes import escape_label, plain_label
from ietest_fast.numerals import say_count
from ietest_fast.report.drawing import (
    Chart,
    Hints,
    choose_look,
    draw_grid,
    draw_points,
    label_width,
    legend_columns,
    legend_rows,
    make_axes,
)
from ietest_fast.report.tables import Column, Table
from ietest_fast.stats.consistency.measure import ISO_PVAP, consistency_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from ietest_fast.analyses.consistency.curves import ConsistencyCurve, CurvePoint
    from ietest_fast.analyses.consistency.partition import ConsistencySubsets
    from ietest_fast.analyses.consistency.profile import ConsistencyProfile
    from ietest_fast.report.drawing import Drawn, Palette
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
    drawn, intervals = profiles[:MOST_DRAWN], f"{interval_name(profiles[0].result)}s"

    def draw(palette: Palette) -> Drawn:
        names = [each.name for each in drawn]
        figure, axes = make_axes(1.1 + 0.5 * len(drawn), left=label_width(names), legend_rows=1)
        hints = Hints()
        for number, (measure, (label, marker)) in enumerate(_KINDS.items()):
            look: dict[str, Any] = {"color": palette.series[number], "marker": marker}
            pen = _Pen(axes=axes, hints=hints, look=look)
            for place, each in enumerate(drawn):
                own = each.result.estimates.get(measure)
                if own is None or own.value is None:
                    continue
                at = place + (number - 0.5) * 0.3
                pen.draw_ends(own, level_at=at, linewidth=1.5)
                text = f"{plain_label(each.name)}, {label}: {say_estimate(own)}"
                pen.mark(100 * own.value, at, text)
            axes.plot([], [], label=label, linewidth=1.5, **look)
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
        note=f"Marks: estimates, with {intervals}. {_say_left(profiles)}".strip(),
    )


def plane_chart(profiles: Sequence[ConsistencyProfile], name: str) -> Chart:
    """Draw classifiers in the plane of macro accuracy and P_C, over lines of equal PVAP (Figure
    3).
    """
    drawn, intervals = profiles[:MOST_DRAWN], f"{interval_name(profiles[0].result)}s"

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
            text = (
                f"{plain_label(each.name)}: accuracy {say_estimate(across)}, P_C {say_estimate(up)}"
            )
            _Pen(axes=axes, hints=hints, look=look).mark_in_plane(across, up, text)
            if n > 1:
                axes.plot([], [], label=escape_label(each.name), **look | {"linestyle": "none"})
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
        note=f"Each mark: a model, with plug-in P_C and {intervals}. Lines: equal PVAP, the share "
        "of the variance of correctness that is due to paraphrasing. At 100% all items are "
        f"answered rightly equally often: no P_C lies below. {_say_left(profiles)}".strip(),
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


def _say_left(profiles: Sequence[ConsistencyProfile | _Drawn]) -> str:
    left = len(profiles) - MOST_DRAWN
    return f"The first {MOST_DRAWN} are drawn; {left:,} more are in the table." if left > 0 else ""


# Figures of consistency over the amount of data (Srikanth et al. 2024, Figures 5 and 6).

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
            pen = _Pen(axes=axes, hints=hints, look=look)
            known = [each for each in points if _value(each, measure) is not None]
            at = [each.amount for each in known]
            heights = [_percent(each, measure) for each in known]
            axes.plot(at, heights, linewidth=1.5, color=look["color"], linestyle=look["linestyle"])
            for each, height in zip(known, heights, strict=True):
                pen.draw_ends(each.result[measure], upright_at=each.amount)
                said = say_estimate(each.result[measure])
                text = f"{each.written} {curve.of}, {label}: {said}"
                pen.mark(each.amount, height, text)
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
        note=f"Bars: {interval_name(points[0].result)}s.",
    )


@dataclass(frozen=True, kw_only=True)
class _Path:
    """The points of a curve at which its measure is known, by accuracy and consistency."""

    curve: ConsistencyCurve
    """All of its points."""
    measure: str
    """Which measure of consistency it has."""
    points: tuple[CurvePoint, ...]
    """Those with this measure, in the order of the amounts."""

    @classmethod
    def of(cls, curve: ConsistencyCurve) -> _Path:
        """Take the points that can be drawn."""
        measure = _consistency_of(curve.points)
        known = tuple(each for each in curve.points if _value(each, measure) is not None)
        return cls(curve=curve, measure=measure, points=known)

    @property
    def places(self) -> list[tuple[float, float]]:
        """Percent across and up, of each point."""
        return [
            (_percent(each, "accuracy_macro"), _percent(each, self.measure)) for each in self.points
        ]

    def labels(self, *, of_ends: bool) -> list[tuple[float, float, str]]:
        """Where amounts stand, and how they are written; of several curves the ends alone are."""
        found = [(*own, each.written) for own, each in zip(self.places, self.points, strict=True)]
        if of_ends and len(found) > 2:
            return [found[0], found[-1]]
        return found

    def draw(self, pen: _Pen) -> None:
        """Draw the line and its points, with intervals both ways."""
        x, y = [a for a, _ in self.places], [b for _, b in self.places]
        line = {name: pen.look[name] for name in ("color", "linestyle")}
        pen.axes.plot(x, y, linewidth=1.5, **line)
        for each in self.points:
            across, up = each.result["accuracy_macro"], each.result[self.measure]
            pen.mark_in_plane(across, up, self._say(each))

    def _say(self, each: CurvePoint) -> str:
        whose = f"{plain_label(self.curve.name)}, " if self.curve.name else ""
        return (
            f"{whose}{each.written} {self.curve.of}: accuracy "
            f"{say_estimate(each.result['accuracy_macro'])}, {_CONSISTENCY[self.measure]} "
            f"{say_estimate(each.result[self.measure])}"
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
            path = _Path.of(curve)
            across += [end for each in path.points for end in _ends(each, "accuracy_macro")]
            up += [end for each in path.points for end in _ends(each, path.measure)]
            path.draw(_Pen(axes=axes, hints=hints, look=look))
            labels += path.labels(of_ends=len(drawn) > 1)
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
        f"that is due to paraphrasing. Bars: {interval_name(curves[0].points[0].result)}s.{more}",
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


@dataclass(frozen=True, kw_only=True)
class _Pen:
    """Draws estimates in the look of a series."""

    axes: Axes
    hints: Hints
    look: Mapping[str, Any]

    def mark(self, x: float, y: float, text: str, *, size: int = 6) -> None:
        """Draw a mark with a text to show when it is pointed at."""
        own = {"marker": self.look["marker"], "markersize": size, "color": self.look["color"]}
        draw_points(self.axes, [x], [y], [text], self.hints, **own)

    def mark_in_plane(self, across: BucketEstimate, up: BucketEstimate, text: str) -> None:
        """Draw a mark by accuracy and consistency, with intervals both ways."""
        x, y = (math.nan if own.value is None else 100 * own.value for own in (across, up))
        self.draw_ends(across, level_at=y)
        self.draw_ends(up, upright_at=x)
        self.mark(x, y, text, size=7)

    def draw_ends(
        self,
        own: BucketEstimate,
        *,
        upright_at: float | None = None,
        level_at: float | None = None,
        linewidth: float = 1.2,
    ) -> None:
        """Draw the interval of an estimate: upright at a place across, or level at a height."""
        if own.interval is None:
            return
        ends = [100 * own.interval.low, 100 * own.interval.high]
        where: list[Any] = [upright_at, upright_at] if level_at is None else [level_at, level_at]
        pair = (where, ends) if level_at is None else (ends, where)
        self.axes.plot(*pair, color=self.look["color"], linewidth=linewidth)


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


# Tables of consistency over the amount of data that classifiers have seen.

_MEASURES = {
    "accuracy_macro": "accuracy, macro",
    "p_c_unbiased": "P_C, unbiased",
    "p_c": "P_C, plug-in",
    "pvap_unbiased": "PVAP, unbiased",
    "agreement_unbiased": "same answer",
}
_WITH_INTERVALS = {"accuracy_macro", "p_c_unbiased"}
_OF_RUNS = (
    "Wordings of a text: its original and the rephrasings that change it. The M classifiers have "
    "the mean of their measures, and ± is their standard deviation. Intervals: over "
    "texts, with the answers of all M to a text together."
)
_OF_LOGS = (
    "Originals are no paraphrases. Intervals: over items, or over clusters. Unbiased "
    "measures do not pair a paraphrase with itself."
)


def curve_table(curves: Sequence[ConsistencyCurve], *, of_runs: bool) -> Table:
    """Return accuracy and consistency of each amount."""
    points = [each for curve in curves for each in curve.points]
    labels = choose_known(_MEASURES, [each.result for each in points])
    several, m = len(curves) > 1, max(each.n_classifiers for each in points)
    whole = all(each.amount == int(each.amount) and not each.in_percent for each in points)
    heads = (
        Column("curve"),
        Column(_say_of(curves), "count" if whole else "text"),
        Column("model"),
        Column("M", "count"),
        Column("items", "count"),
        Column("wordings" if of_runs else "paraphrases", "count"),
    )
    is_shown = (several, True, not of_runs, m > 1, True, True)
    columns = [*compress(heads, is_shown)]
    columns += measure_columns(labels, _WITH_INTERVALS, points[0].result, with_spread=m > 1)
    rows = tuple(
        (
            *compress(
                (
                    curve.name,
                    int(each.amount) if whole else each.written,
                    each.name,
                    each.n_classifiers,
                    each.result.n_buckets // each.n_classifiers,
                    each.result.n_paraphrases // each.n_classifiers,
                ),
                is_shown,
            ),
            *measure_cells(each.result, labels, _WITH_INTERVALS, each.spread if m > 1 else None),
        )
        for curve in curves
        for each in curve.points
    )
    return Table(
        name="consistency-amounts",
        title=f"Accuracy and P_C over the {_say_of(curves)}",
        columns=tuple(columns),
        rows=rows,
        note=_OF_RUNS if of_runs else _OF_LOGS,
    )


def step_table(curves: Sequence[ConsistencyCurve], *, of_runs: bool) -> Table | None:
    """Return the comparisons of each amount with the one before; None if there is none."""
    steps = [each for curve in curves for each in curve.steps]
    # Of several classifiers a text is one item, not M of them.
    n_items = [
        each.n_buckets if n is None or not of_runs else n
        for each in steps
        for n in (each.result.n_clusters,)
    ]
    title = f"Each amount against the one before: {_say_of(curves)}"
    found = pair_table(steps, title=title, n_items=n_items)
    if found is None:
        return None
    return replace(
        found,
        name="consistency-steps",
        note="In points, larger amount minus smaller, on the items that both have. Holm's "
        "correction is over the lines of the same measure; intervals are not corrected. A step "
        "compares these classifiers, not amounts of data"
        f"{'; look at the standard deviation over M' if of_runs else ''}.{say_warnings(steps)}",
    )


def amount_tables(curves: Sequence[ConsistencyCurve], *, of_runs: bool = False) -> list[Table]:
    """Return all tables of curves, in reading order; nothing without curves."""
    if not curves:
        return []
    steps = step_table(curves, of_runs=of_runs)
    return [curve_table(curves, of_runs=of_runs), *([] if steps is None else [steps])]


def _say_of(curves: Sequence[ConsistencyCurve]) -> str:
    """Say what there is an amount of; of several curves what all have in common."""
    found = list(dict.fromkeys(each.of for each in curves))
    return found[0] if len(found) == 1 else " or ".join(found)
