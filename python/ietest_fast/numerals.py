"""Every way to write a number for people, and to make one fit for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

UNDEFINED = "undefined"
"""Stands for a share of nothing, and for a mean of infinities of both signs."""

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_UNITS = (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3))


# Numbers of things.


def say_count(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things with the words behind it.

    Examples
    --------
    >>> say_count(1, "test"), say_count(2000, "test")
    ('1 test', '2,000 tests')
    >>> say_count(2, "item has", "items have")
    '2 items have'
    """
    return f"{n:,} {one if n == 1 else f'{one}s' if many is None else many}"


def list_dropped(dropped: Mapping[str, int], done: str = "dropped") -> list[str]:
    """Say of each reason how many rows were dropped for it."""
    return [f"{say_count(n, 'row')} {done}: {why}" for why, n in dropped.items()]


def format_amount(amount: float, *, in_percent: bool = False) -> str:
    """Write an amount briefly, such as ``10M``; with all digits if few digits do not do."""
    if in_percent:
        return f"{100 * amount:.12g}%"
    for unit, size in _UNITS:
        if amount >= size and math.isclose(float(brief := f"{amount / size:.3g}") * size, amount):
            return f"{brief}{unit}" if size >= 1e6 or amount >= 1e5 else f"{amount:,.0f}"
    return f"{amount:,.0f}" if amount == int(amount) else f"{amount:g}"


# Shares, and differences of shares.


def percent(share: float | None, digits: int = 1, *, undefined: str = UNDEFINED) -> str:
    """Write a share of 1 in percent.

    Examples
    --------
    >>> percent(0.8), percent(None)
    ('80.0%', 'undefined')
    """
    return undefined if share is None else f"{100 * share:.{digits}f}%"


def brief_percent(share: float) -> str:
    """Write a share of 1 in percent, without zeros at the end."""
    return f"{_without_zeros(f'{100 * share:.1f}')}%"


def signed_points(difference: float) -> str:
    """Write a difference of shares in percentage points, its sign before it."""
    return f"{100 * difference:+.2f}".replace("-", "\N{MINUS SIGN}")


def show_points(difference: float, digits: int = 1) -> str:
    """Write a difference of shares in percentage points, its sign before it, for a sentence."""
    shown = f"{100 * difference:+.{digits}f}"
    return shown.lstrip("+-") if float(shown) == 0 else shown.replace("-", "\N{MINUS SIGN}")


def show_change(
    before: float, after: float, ends: tuple[float, float], *, alpha: float = 0.05
) -> str:
    """Write two accuracies in percent, what is gained, and its interval.

    `ends` are those of what is lost, ``before - after``. A second decimal stands where the interval
    is narrower than a point.

    Examples
    --------
    >>> show_change(0.608, 0.547, (0.044, 0.078))
    '60.8 → 54.7 (−6.1, 95% −7.8 to −4.4)'
    """
    digits = 1 if ends[1] - ends[0] >= 0.01 else 2
    low, high = (show_points(-end, digits) for end in (ends[1], ends[0]))
    shares = f"{100 * before:.{digits}f} → {100 * after:.{digits}f}"
    change = show_points(after - before, digits)
    return f"{shares} ({change}, {100 * (1 - alpha):g}% {low} to {high})"


def has_shares(before: float, after: float, text: str) -> bool:
    """Whether a text has two accuracies as :func:`show_change` writes them."""
    return any(
        f"{100 * before:.{digits}f} → {100 * after:.{digits}f} " in text for digits in (1, 2)
    )


def brief_points(difference: float) -> str:
    """Write a difference of shares with the word behind it, without zeros at the end.

    Examples
    --------
    >>> brief_points(0.01), brief_points(0.005)
    ('1 point', '0.5 points')
    """
    size = _without_zeros(f"{100 * difference:.2f}")
    return f"{size} {'point' if size == '1' else 'points'}"


class Spread(Protocol):
    """What has a mean and a standard deviation (None of one value)."""

    @property
    def mean(self) -> float | None:
        """None if there is none."""

    @property
    def sd(self) -> float | None:
        """None of one value."""


def percent_of(shares: Spread) -> str:
    """Write the mean and standard deviation of shares in percent, without the sign of percent."""
    return UNDEFINED if shares.mean is None else f"{100 * shares.mean:.2f}{_with_sd(shares.sd)}"


def points_of(differences: Spread) -> str:
    """Write the mean and standard deviation of differences of shares in percentage points."""
    mean = differences.mean
    return UNDEFINED if mean is None else f"{100 * mean:+.2f}{_with_sd(differences.sd)}"


def _with_sd(sd: float | None) -> str:
    return "" if sd is None else f" ± {100 * sd:.2f}"


def _without_zeros(number: str) -> str:
    return number.rstrip("0").rstrip(".")


# Statistics and p-values.


def format_t(t: float) -> str:
    """Write a t statistic for people; infinities as a sign and the symbol."""
    return f"{'−' if t < 0 else ''}∞" if math.isinf(t) else f"{t:.3f}"


def format_p(p: float, *, floor: float | None = None) -> str:
    """Write a p-value with four digits, marked where it is the smallest that can be."""
    if p == 0:
        return "<1e-300"  # smaller than a double can be, but no p-value is 0
    mark = "≤ " if floor is not None and p <= floor * (1 + 1e-9) and p < 1 else ""
    return f"{mark}{p:.4g}"


def say_p(written: str) -> str:
    """Write ``p = 0.02`` of a p-value that is written, or ``p ≤ 0.01`` if it says a bound."""
    sign = written[0] if written[0] in "≤<" else "="
    return f"p {sign} {written.removeprefix(sign).lstrip()}"


def format_paper_p(p: float, n_resamples: int | None) -> str:
    """Write the paper's p-value, which is 0 where no replicate lies as far out."""
    if p == 0 and n_resamples is not None:
        return f"0 of {n_resamples:,}"
    return format_p(p)


def brief_p(p: float, *, threshold: float | None = None) -> str:
    """Write a p-value with three decimals, or a power of ten where it is tiny.

    With a threshold there are as many digits as it takes to see on which side of it p lies.
    """
    if p == 0:
        return "<1e-300"
    if p < 0.001:
        return f"{p:.1e}"
    for digits in range(3, 17):
        text = f"{p:.{digits}f}"
        if threshold is None or (float(text) < threshold) == (p < threshold):
            break
    return text


def show_p(p: float, *, threshold: float | None = None) -> str:
    """Write a p-value as :func:`brief_p`, its power of ten raised."""
    digits, tiny, exponent = brief_p(p, threshold=threshold).partition("e")
    return f"{digits}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}" if tiny else digits


# For JSON.


def plain(value: Any) -> Any:
    """Make a value fit for JSON: NumPy's become Python's, infinities ``"inf"`` and ``"-inf"``.

    NaN becomes None: it stands for "there is no such number".
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
