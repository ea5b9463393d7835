"""Figures of stress tests: the profile of a classifier over tests, at one glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.analyses.stress.profile import StressProfile
    from ietest_fast.report.drawing import Drawn
    from ietest_fast.report.svg import Palette
    from ietest_fast.stats.informedness import Share

MOST_DRAWN = 21
"""Of more classifiers or groups the first so many are drawn; the tables have all."""

Series = tuple[str, "Mapping[str, Share]"]


def stress_chart(profiles: Sequence[StressProfile], name: str) -> Chart:
    """Draw the accuracy of classifiers on the originals and on every test."""
    series = [(each.name, each.accuracies) for each in profiles]
    what = profiles[0].name if len(profiles) == 1 else f"{len(profiles)} models"
    return _chart(series, name=name, title=f"Accuracy of {what} on every test")


def group_chart(profile: StressProfile, name: str) -> Chart | None:
    """Draw the accuracy of a classifier on every test by a column such as genre."""
    results = (profile.original, *profile.tests)
    groups = list(dict.fromkeys(group for each in results for group in each.by_group))
    if not groups:
        return None
    series = [
        (
            group,
            {each.name: each.by_group[group] for each in results if group in each.by_group},
        )
        for group in groups
    ]
    return _chart(series, name=name, title=f"Accuracy of {profile.name} by {profile.grouped_by}")


def _chart(series: Sequence[Series], *, name: str, title: str) -> Chart:
    drawn = series[:MOST_DRAWN]
    tests = list(dict.fromkeys(test for _, shares in drawn for test in shares))

    def draw(palette: Palette) -> Drawn:
        n = len(drawn)
        names = [label for label, _ in drawn]
        n_rows = legend_rows(names)
        figure, axes = make_axes(
            0.8 + len(tests) * (0.22 + 0.11 * n) + 0.28 * n_rows,
            left=label_width(tests),
            legend_rows=n_rows,
        )
        hints = Hints()
        for number, (label, shares) in enumerate(drawn):
            look = choose_look(number, palette)
            color, marker = look["color"], look["marker"]
            shift = (number - (n - 1) / 2) * 0.7 / n
            first = shares.get(tests[0])
            if first is not None and first.share is not None and n <= 3:
                axes.axvline(
                    100 * first.share, color=color, linewidth=0.8, linestyle=look["linestyle"]
                )
            for place, test in enumerate(tests):
                share = shares.get(test)
                if share is None or share.share is None or share.interval is None:
                    continue
                ends = [100 * share.interval.low, 100 * share.interval.high]
                axes.plot(ends, [place + shift] * 2, color=color, linewidth=1.5)
                draw_points(
                    axes,
                    [100 * share.share],
                    [place + shift],
                    [_say(label, test, share, several=n > 1)],
                    hints,
                    marker=marker,
                    markersize=6,
                    color=color,
                )
            if n > 1:
                axes.plot(
                    [], [], label=escape_label(label), marker=marker, linewidth=1.5, color=color
                )
        axes.set_yticks(range(len(tests)), [escape_label(test) for test in tests])
        axes.set_ylim(len(tests) - 0.4, -0.6)
        axes.set_xlabel("accuracy (%)")
        draw_grid(axes, palette, "x")
        if n > 1:
            figure.legend(loc="lower center", ncols=legend_columns(names))
        return figure, hints.texts

    left = len(series) - len(drawn)
    note = "Marks: accuracy, with its 95% interval. "
    if len(drawn) <= 3:
        note += "Vertical lines: accuracy on the originals. "
    note += f"The first {len(drawn)} are drawn; {left:,} more are in the table." * (left > 0)
    return Chart(
        name=name,
        title=title,
        summary=" ".join(_summarise(label, shares) for label, shares in drawn),
        draw=draw,
        note=note.strip(),
    )


def _say(label: str, test: str, share: Share, *, several: bool) -> str:
    interval = share.interval
    assert interval is not None  # noqa: S101 - it is drawn
    assert share.share is not None  # noqa: S101
    whose = f"{plain_label(label)}, " if several else ""
    return (
        f"{whose}{plain_label(test)}: {100 * share.share:.1f}% of {share.n:,} "
        f"({100 * interval.low:.1f} to {100 * interval.high:.1f})"
    )


def _summarise(label: str, shares: Mapping[str, Share]) -> str:
    said = [
        f"{plain_label(test)} {100 * share.share:.1f}%"
        for test, share in shares.items()
        if share.share is not None
    ]
    return f"{plain_label(label)}: {', '.join(said)}."
