"""What pictures of results are made of: axes, intervals, p-values, an observed statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.signs import escape_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.stats.intervals import Interval


def axes_or_new(ax: Any) -> Any:
    """Return matplotlib axes: those given, or of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots()[1]


def draw_observed(ax: Any, value: float, *, low: float, high: float, name: str) -> None:
    """Draw an observed statistic as a line, at the edge if it lies beyond."""
    shown = min(max(value, low), high)
    beyond = "" if shown == value else f" ({name} = {value:.4g}, beyond the edge)"
    ax.axvline(shown, color="black", label=f"observed{beyond}")


def draw_intervals(ax: Any, estimate: float, intervals: Sequence[tuple[str, Interval]]) -> None:
    """Draw an estimate and intervals of it, each in a row, from the top down."""
    for row, (_, interval) in enumerate(intervals):
        ax.plot([interval.low, interval.high], [row, row], color="C0", linewidth=2, marker="|")
        ax.plot([estimate], [row], color="C0", marker="o")
    ax.set_yticks(range(len(intervals)), [escape_label(name) for name, _ in intervals])
    ax.set_ylim(len(intervals) - 0.5, -0.5)


def draw_margin(ax: Any, margin: float) -> None:
    """Draw the region in which differences do not matter."""
    ax.axvspan(-margin, margin, alpha=0.15, color="C2", label=f"margin ±{margin:g}")


def draw_p_values(
    ax: Any,
    names: Sequence[str],
    p_values: Sequence[float],
    p_adjusted: Sequence[float],
    *,
    alpha: float,
) -> None:
    """Draw p-values before and after a correction, each test in a row, and the level."""
    least = min([alpha, *(p for p in [*p_values, *p_adjusted] if p > 0)]) / 10
    rows = np.arange(len(names))
    for values, marker, label in ((p_values, "|", "p"), (p_adjusted, "o", "adjusted p")):
        # There is no 0 on a scale of logarithms: such a p is drawn at its lower end.
        shown = np.maximum(np.asarray(values, dtype=np.float64), least)
        ax.plot(shown, rows, linestyle="none", marker=marker, color="C0", label=label)
    ax.axvline(alpha, color="black", linestyle="--", label=f"α = {alpha:g}")
    ax.set_xscale("log")
    ax.set_yticks(rows, [escape_label(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
