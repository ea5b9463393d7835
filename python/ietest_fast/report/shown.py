"""How numbers are written for people in summaries and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ietest_fast.experiment.schema import Spread

UNDEFINED = "undefined"
"""Stands for a mean of infinities of both signs."""


def format_p(p: float, *, threshold: float | None = None) -> str:
    """Write a p-value for people: three digits, or a power of ten where it is tiny.

    With a threshold there are as many digits as it takes to see on which side of it p lies.
    """
    if p == 0:
        return "<1e-300"  # smaller than a double can be, but no p-value is 0
    if p < 0.001:
        return f"{p:.1e}"
    for digits in range(3, 17):
        text = f"{p:.{digits}f}"
        if threshold is None or (float(text) < threshold) == (p < threshold):
            break
    return text


def percent(spread: Spread) -> str:
    """Write the mean and standard deviation of shares in percent."""
    if spread.mean is None:
        return UNDEFINED
    sd = "" if spread.sd is None else f" ± {100 * spread.sd:.2f}"
    return f"{100 * spread.mean:.2f}{sd}"


def signed_points(spread: Spread) -> str:
    """Write the mean and standard deviation of differences of shares in percentage points."""
    if spread.mean is None:
        return UNDEFINED
    sd = "" if spread.sd is None else f" ± {100 * spread.sd:.2f}"
    return f"{100 * spread.mean:+.2f}{sd}"
