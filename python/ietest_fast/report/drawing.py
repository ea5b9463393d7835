"""What figures are drawn with: axes, looks of series, points with hints, labels."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.atomic import write_artefact
from ietest_fast.escapes import plain_label, show_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Matplotlib's figures as SVG that a page can hold: themed, named and with values on hover.

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours of figures."""

    ink: str
    quiet: str
    grid: str
    """Of text, of axes and of lines behind the data."""
    ground: str
    """Of what lies behind the figure."""
    series: tuple[str, ...]
    """Of models or versions, in order; markers and lines differ, too."""

    @property
    def style(self) -> dict[Any, Any]:
        """Matplotlib's settings."""
        return {
            "font.size": 11,
            "font.family": "sans-serif",
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": self.quiet,
            "axes.labelcolor": self.ink,
            "axes.titlecolor": self.ink,
            "axes.facecolor": "none",
            "figure.facecolor": "none",
            "text.color": self.ink,
            "xtick.color": self.quiet,
            "ytick.color": self.quiet,
            "xtick.labelcolor": self.ink,
            "ytick.labelcolor": self.ink,
            "legend.frameon": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "ietest-fast",
        }


PAPER = Palette(
    ink="#1a1a1a",
    quiet="#5a5a5a",
    grid="#dddddd",
    ground="#ffffff",
    # Okabe and Ito's, which can be told apart with any colour vision.
    series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
)

PAGE = Palette(
    ink="#010203",
    quiet="#040506",
    grid="#070809",
    ground="#0a0b0c",
    series=("#0e0001", "#0e0002", "#0e0003", "#0e0004", "#0e0005", "#0e0006", "#0e0007"),
)
"""Colours that no figure has by itself: the page puts its own in their place, light or dark."""

MARKERS: tuple[str, ...] = ("o", "s", "^", "D", "v", "P", "X")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

_THEME = {
    PAGE.ink: "var(--ink)",
    PAGE.quiet: "var(--quiet)",
    PAGE.grid: "var(--grid)",
    PAGE.ground: "var(--ground)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(PAGE.series, start=1)},
}


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure and what a page has to say with it."""

    name: str
    """Of its files, and of its ids in a page."""
    title: str
    """What it shows."""
    summary: str
    """What there is to see, for readers that do not see it."""
    draw: Callable[[Palette], tuple[Figure, Mapping[str, str]]]
    """Makes the figure in a palette; gives it with the hints of its artists, by gid."""
    note: str = ""
    """How it is read, for everybody: stands below it."""

    def to_page(self) -> str:
        """Draw it as one ``svg`` element in the page's colours, without a fixed size."""
        from matplotlib import rc_context

        with rc_context(PAGE.style):
            figure, hints = self.draw(PAGE)
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        return _dress(text.getvalue(), self, hints)

    def save(self, path: Path) -> None:
        """Write it as SVG, PDF or PNG, by the path's ending, whole or not at all."""
        from matplotlib import rc_context

        suffix = path.suffix.removeprefix(".")
        no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
        with rc_context({**PAPER.style, "figure.facecolor": PAPER.ground}):
            figure, _ = self.draw(PAPER)
            write_artefact(
                path,
                lambda file: figure.savefig(file, format=suffix, dpi=200, metadata=no_date[suffix]),
            )


def _dress(source: str, chart: Chart, hints: Mapping[str, str]) -> str:
    """Give ids the chart's name, colours the page's, and elements their titles."""
    name = chart.name
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    root = ET.fromstring(source)  # noqa: S314 - Matplotlib's own
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    for element in root.iter():
        own = element.get("id", "")
        if own in hints:
            element.set("class", "hint")
            _insert(element, "title", hints[own])
        if own:
            # Ids are unique in a page, not only in a figure.
            element.set("id", f"{name}-{own}")
        for key, value in element.attrib.items():
            if key == f"{{{_XLINK}}}href":
                element.set(key, value.replace("#", f"#{name}-", 1))
            elif key in {"style", "clip-path"}:
                element.set(key, _in_theme(value.replace("url(#", f"url(#{name}-")))
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    root.set("class", "chart")
    _insert(root, "desc", chart.summary, id=f"{name}-desc")
    _insert(root, "title", chart.title, id=f"{name}-title")
    return ET.tostring(root, encoding="unicode")


def _insert(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    element = ET.Element(f"{{{_SVG}}}{tag}", attributes)
    element.text = show_controls(text)
    parent.insert(0, element)


def _in_theme(style: str) -> str:
    for colour, variable in _THEME.items():
        style = style.replace(colour, variable)
    return style


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
