"""The plane of accuracy and P_C (Figure 3), and its lines of equal PVAP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.signs import escape_label
from ietest_fast.stats.drawing import axes_or_new
from ietest_fast.stats.inputs import check_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.bucket_intervals import BucketEstimate

#: Shares of variance whose lines are drawn.
ISO_PVAP = (0.1, 0.25, 0.5, 0.75, 1.0)


def consistency_at(accuracy: ArrayLike, pvap: float) -> NDArray[np.float64]:
    r"""Compute P_C at an accuracy and a share of variance that is due to paraphrasing.

    .. math:: P_C = 1 - 2 \cdot PVAP \cdot A (1 - A),

    by eq. 7 and 8 of Srikanth et al. (2024). At a PVAP of 1 it is the least P_C that there is at
    this accuracy, ``A**2 + (1 - A)**2``: all items are answered right equally often.

    Parameters
    ----------
    accuracy
        A, in [0, 1], of any shape.
    pvap
        In [0, 1].

    Returns
    -------
    ndarray of float64
        Of the shape of ``accuracy``.

    Raises
    ------
    InputError
        If one of them is not in [0, 1].

    Examples
    --------
    >>> from ietest_fast.stats import consistency_at
    >>> [round(float(p), 2) for p in consistency_at([0.5, 0.8, 1.0], 1.0)]
    [0.5, 0.68, 1.0]
    """
    check_between(pvap, "pvap", 0, 1, with_ends=True)
    values = np.asarray(accuracy, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("accuracy must lie in [0, 1]")
    return np.asarray(1 - 2 * pvap * values * (1 - values))


def draw_plane(
    accuracy: BucketEstimate, kinds: Mapping[str, BucketEstimate], *, ax: Any = None
) -> Any:
    """Draw a classifier's accuracy and P_C, with their intervals, over lines of equal PVAP."""
    ax = axes_or_new(ax)
    grid = np.linspace(0, 1, 201)
    for share in ISO_PVAP:
        line = consistency_at(grid, share)
        ax.plot(grid, line, color="0.7", linewidth=0.8)
        ax.annotate(f"PVAP {share:g}", (0.5, line[100]), color="0.4", ha="center", va="bottom")
    least = 0.5
    for place, (label, p_c) in enumerate(kinds.items()):
        if p_c.value is None:
            continue
        color, marker = f"C{place}", "oD"[place % 2]
        for own, other, is_across in ((accuracy, p_c, True), (p_c, accuracy, False)):
            if own.interval is None:
                continue
            ends, middle = [own.interval.low, own.interval.high], [other.value] * 2
            x, y = (ends, middle) if is_across else (middle, ends)
            ax.plot(x, y, color=color, marker="|" if is_across else "_")
        ax.plot(
            [accuracy.value], [p_c.value], color=color, marker=marker, label=escape_label(label)
        )
        least = min(least, p_c.value if p_c.interval is None else p_c.interval.low)
    ax.set_xlim(0, 1)
    ax.set_ylim(least - 0.05, 1.02)
    ax.set_xlabel("accuracy, macro")
    ax.set_ylabel("P_C")
    ax.legend(loc="lower left")
    return ax
