"""What figures are drawn with: axes, looks of series, points with hints, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ietest_fast.report.svg import LINES, MARKERS, Palette
from ietest_fast.signs import plain_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawn = tuple["Figure", "Mapping[str, str]"]
"""A figure, and the hints of its artists by gid."""

WIDTH = 6.4
"""Inches."""


def make_axes(
    height: float = 3.6, *, left: float = 0.75, right: float = 0.12, legend_rows: int = 0
) -> tuple[Figure, Axes]:
    """Make axes, lengths in inches.

    Matplotlib's own layouts would draw everything twice.
    """
    from matplotlib.figure import Figure

    height += 0.28 * max(0, legend_rows - 2)
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(
        left=left / WIDTH,
        right=1 - right / WIDTH,
        top=1 - 0.12 / height,
        bottom=(0.52 + 0.28 * legend_rows) / height,
    )
    return figure, figure.add_subplot()


def draw_grid(axes: Axes, palette: Palette, axis: str = "y") -> None:
    """Draw lines behind the data."""
    axes.grid(axis=axis, color=palette.grid, linewidth=0.7)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


class Hints:
    """Titles of artists, by gid."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Keep a text and give the gid of its artist."""
        gid = f"hint-{len(self.texts)}"
        self.texts[gid] = text
        return gid


def choose_look(number: int, palette: Palette) -> dict[str, Any]:
    """Give the look of a series: colour, marker and line all differ."""
    place = number % len(palette.series)
    return {
        "color": palette.series[place],
        "marker": MARKERS[place],
        "linestyle": LINES[(number // len(palette.series) + place) % len(LINES)],
    }


def draw_points(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    texts: Sequence[str],
    hints: Hints,
    **look: Any,
) -> None:
    """Draw points one by one, each with a text to show when it is pointed at."""
    for each_x, each_y, text in zip(x, y, texts, strict=True):
        axes.plot([each_x], [each_y], linestyle="none", gid=hints.add(text), zorder=4, **look)


def label_width(names: Sequence[str]) -> float:
    """Say how wide names are as labels of an axis, in inches, wide letters and all."""
    return 0.3 + 0.082 * max(len(plain_label(name)) for name in names)


def legend_columns(names: Sequence[str], *, most: int = 3, size: float = 11) -> int:
    """Say how many columns of a legend lie beside each other without being cut off."""
    longest = max(len(plain_label(name)) for name in names)
    # Beside the letters stand the sign of a line and some space.
    width = (0.082 * longest + 0.65) * size / 11
    return max(1, min(most, len(names), int(WIDTH / width)))


def legend_rows(names: Sequence[str], *, most: int = 3, size: float = 11) -> int:
    """Say how many rows a legend has then; none with one name."""
    if len(names) < 2:
        return 0
    return -(-len(names) // legend_columns(names, most=most, size=size))
