"""Score intervals: Tango's for a difference of paired proportions, Wilson's for a proportion."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.intervals import Interval, check_level

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.matched import PairedCounts


def tango_score(counts: PairedCounts, delta: float) -> float:
    r"""Compute Tango's (1998) score statistic of H0: delta = ``delta``.

    .. math:: T(\delta) = \frac{n_{10} - n_{01} - n\delta}
                              {\sqrt{n\,(2\tilde q + \delta(1-\delta))}},

    where q is the maximum-likelihood estimate of P(only the transformed version is right) if
    P(only the original is right) = q + delta: the larger root of

    .. math:: 2n\,q^2 + \bigl((2n - n_{10} + n_{01})\delta - n_{10} - n_{01}\bigr)q
              - n_{01}\,\delta(1-\delta) = 0.

    At delta = 0 it is D / sqrt(k), the signed root of McNemar's statistic.

    Parameters
    ----------
    counts
        The four counts.
    delta
        In [-1, 1].

    Returns
    -------
    float
        Decreasing in delta; close to standard normal if ``delta`` is the truth. 0 for 0 / 0.
    """
    # The same as tango_scores, which takes twenty times as long for one table.
    n = counts.n
    gap = counts.d - n * delta
    # With the roles exchanged if need be, delta >= 0 and no term below cancels another.
    b, c = (counts.n10, counts.n01) if delta >= 0 else (counts.n01, counts.n10)
    size = abs(delta)
    constant = c * size * (1 - size)
    linear = (2 * n - b + c) * size - b - c
    root = math.sqrt(linear * linear + 8 * n * constant)
    q = 2 * constant / (linear + root) if linear > 0 else (root - linear) / (4 * n)
    variance = n * (2 * q + size * (1 - size))
    if variance <= 0:
        return 0.0 if gap == 0 else math.copysign(math.inf, gap)
    return gap / math.sqrt(variance)


def tango_scores(n: ArrayLike, n10: ArrayLike, n01: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Compute :func:`tango_score` for many tables."""
    n, n10, n01 = (np.asarray(each, dtype=np.float64) for each in (n, n10, n01))
    gap = n10 - n01 - n * delta
    b, c = (n10, n01) if delta >= 0 else (n01, n10)
    size = abs(delta)
    constant = c * size * (1 - size)
    linear = (2 * n - b + c) * size - b - c
    root = np.sqrt(linear * linear + 8 * n * constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(linear > 0, 2 * constant / (linear + root), (root - linear) / (4 * n))
        variance = np.maximum(n * (2 * q + size * (1 - size)), 0)
        return np.where(gap == 0, 0.0, gap / np.sqrt(variance))


def tango_interval(counts: PairedCounts, *, confidence_level: float = 0.95) -> Interval:
    """Give Tango's (1998) score interval for delta: all delta with abs(T(delta)) <= z.

    Parameters
    ----------
    counts
        The four counts.
    confidence_level
        In (0, 1).

    Returns
    -------
    Interval
        Inside [-1, 1]; it holds the estimate, and has a width even where no pair is discordant.

    Raises
    ------
    InputError
        If the confidence level is not in (0, 1).
    """
    check_level(confidence_level)
    return invert_tango(counts, NormalDist().inv_cdf((1 + confidence_level) / 2))


def invert_tango(counts: PairedCounts, z: float) -> Interval:
    """Give all delta with abs(T(delta)) <= z, T being :func:`tango_score`."""
    middle = counts.delta
    return Interval(
        _bisect(lambda delta: tango_score(counts, delta) <= z, -1.0, middle),
        -_bisect(lambda delta: tango_score(counts, -delta) >= -z, -1.0, -middle),
    )


def _bisect(holds: Any, outside: float, inside: float) -> float:
    """Halve down to the smallest number at which ``holds``: it does inside, and not below."""
    if holds(outside):
        return outside
    while True:
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            return inside
        if holds(middle):
            inside = middle
        else:
            outside = middle


def wilson_interval(successes: float, n: float, *, confidence_level: float = 0.95) -> Interval:
    """Give Wilson's (1927) score interval for a proportion.

    Parameters
    ----------
    successes, n
        Counts, 0 <= successes <= n, n > 0; no whole numbers if they are effective ones.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If the counts are impossible or the confidence level is not in (0, 1).
    """
    check_level(confidence_level)
    if not 0 <= successes <= n or n <= 0:
        raise InputError(f"{successes} of {n} is no proportion")
    z = NormalDist().inv_cdf((1 + confidence_level) / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Interval(
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == n else min(1.0, centre + half),
    )
