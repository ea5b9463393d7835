"""The axis of a figure over amounts of data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ietest_fast.evaluation.consistency_curves import CurvePoint

# From so many times the smallest amount on the axis is logarithmic.
_LOGARITHMIC_FROM = 4
_MOST_TICKS = 6


def scale_amounts(axes: Axes, points: Sequence[CurvePoint]) -> None:
    """Write amounts below an axis, which is logarithmic if they are far apart."""
    from matplotlib.ticker import NullFormatter, NullLocator

    amounts = [each.amount for each in points]
    is_log = amounts[-1] >= _LOGARITHMIC_FROM * amounts[0]
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    shown = _choose_ticks(amounts, is_log=is_log)
    axes.set_xticks([amounts[place] for place in shown], [points[place].written for place in shown])


def _choose_ticks(amounts: Sequence[float], *, is_log: bool) -> list[int]:
    """Return which amounts are written: the ends, and those with room for their labels."""
    place = math.log if is_log else float
    whole = place(amounts[-1]) - place(amounts[0])
    least = whole / (_MOST_TICKS + 1)
    shown = [0]
    for number, each in enumerate(amounts[1:-1], 1):
        apart = place(each) - place(amounts[shown[-1]]), place(amounts[-1]) - place(each)
        if min(apart) >= least:
            shown.append(number)
    return [*shown, len(amounts) - 1]
