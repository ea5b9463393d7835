"""The law of t under H0 as a histogram whose bins fit a discrete law.

The sum D* of outcomes takes whole numbers only, so t* lies near multiples of 1/sqrt(k). Bins laid
without regard to that hold now more, now fewer of those values, and show dips and peaks that are
none: the worst at 0. Here every bin holds the same number of values of D*, and one is centred at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.matched import PairedCounts

#: t* is shown from minus so much to so much.
SPAN = 4.5
MOST_BINS = 61
# So many standard deviations of K around its mean; beyond lies less than 1e-14 of the law.
_WIDE = 8.0
# So many values of K are summed over at most; of more, pairs of neighbours at equal distances.
_MOST_VALUES = 4_000


@dataclass(frozen=True, kw_only=True, eq=False)
class NullHistogram:
    """A histogram of t* under H0."""

    edges: NDArray[np.float64]
    """Shape (B + 1,), ascending."""
    mass: NDArray[np.float64]
    """Shape (B,): the probability of each bin. What lies outside all bins is missing from it."""

    @property
    def density(self) -> NDArray[np.float64]:
        """Mass divided by width, shape (B,)."""
        density: NDArray[np.float64] = self.mass / np.diff(self.edges)
        return density


def bin_edges(counts: PairedCounts, *, most_bins: int = MOST_BINS) -> NDArray[np.float64]:
    """Return edges of bins that fit the law of t* for these counts.

    They are meant for replicates, too (:func:`ietest_fast.stats.draw_t_replicates`).

    Parameters
    ----------
    counts
        The four counts.
    most_bins
        At most so many bins, at least 3.

    Returns
    -------
    ndarray of float64, shape (B + 1,)
        Symmetric about 0; no bin is empty by construction. One bin without discordant pairs.
    """
    # If every pair is discordant D* has the parity of n: it takes every other whole number.
    step = 2 if counts.k == counts.n else 1
    return lattice_edges(
        math.sqrt(counts.k),
        n=counts.n,
        step=step,
        holds_zero=step == 1 or counts.n % 2 == 0,
        most_bins=most_bins,
    )


def lattice_edges(
    root: float, *, n: int, step: float = 1, holds_zero: bool = True, most_bins: int = MOST_BINS
) -> NDArray[np.float64]:
    """Return bin edges for t = D / sqrt(Q - D**2 / n), D being a multiple of ``step``."""
    if root == 0:
        return np.array([-0.5, 0.5])
    each = max(1, math.ceil(2 * SPAN * root / step / most_bins))
    if each % 2 != holds_zero:  # a bin centred at 0 holds an odd number of values if 0 is one
        each += 1
    half = math.ceil(SPAN * root / (each * step) - 0.5)
    ends = (np.arange(max(half, 1) + 1) + 0.5) * each * step / root
    # Beyond r = sqrt(n) there is no t.
    ends = ends[(ends**2 < n * (1 - 1e-9)) | (np.arange(ends.size) == 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = ends / np.sqrt(np.maximum(1 - ends**2 / n, 1e-9))
    return np.concatenate([-t[::-1], t])


def null_law_of(counts: PairedCounts, *, most_bins: int = MOST_BINS) -> NullHistogram:
    """Return the exact law of t* under H0, in bins.

    Parameters
    ----------
    counts
        The four counts.
    most_bins
        At most so many bins, at least 3.

    Returns
    -------
    NullHistogram

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, null_law_of
    >>> law = null_law_of(PairedCounts(900, 22, 18, 60))
    >>> law.mass.size, round(float(law.mass.sum()), 4), int(law.mass.argmax()) == law.mass.size // 2
    (57, 1.0, True)
    """
    edges = bin_edges(counts, most_bins=most_bins)
    n, k = counts.n, counts.k
    if k == 0:
        return NullHistogram(edges=edges, mass=np.ones(1))
    from scipy.special import bdtr
    from scipy.stats import binom

    values, weights = np.array([n]), np.ones(1)
    if k < n:
        reach = _WIDE * math.sqrt(k * (1 - k / n)) + _WIDE
        low, high = max(0, math.floor(k - reach)), min(n, math.ceil(k + reach))
        values = np.arange(low, high + 1)
        if values.size > _MOST_VALUES:
            first = np.linspace(low, high - 1, _MOST_VALUES // 2).astype(np.int64)
            values = np.unique(np.concatenate([first, first + 1]))
        weights = binom.pmf(values, n, k / n)
        weights /= weights.sum()
    r = edges / np.sqrt(1 + edges**2 / n)
    below = np.zeros(edges.size)
    for drawn, weight in zip(values.tolist(), weights.tolist(), strict=True):
        if drawn == 0:
            below += weight * (edges >= 0)
            continue
        at_most = np.floor((r * math.sqrt(drawn) + drawn) / 2)
        share = bdtr(np.clip(at_most, 0, drawn), drawn, 0.5)
        below += weight * np.where(at_most < 0, 0.0, share)
    return NullHistogram(edges=edges, mass=np.diff(below))


def count_replicates(replicates: ArrayLike, edges: NDArray[np.float64]) -> NullHistogram:
    """Return the histogram of replicates of t, shape (S,), infinite ones included in S."""
    drawn = np.asarray(replicates, dtype=np.float64)
    found, _ = np.histogram(drawn[np.isfinite(drawn)], bins=edges)
    return NullHistogram(edges=edges, mass=found / drawn.size)
