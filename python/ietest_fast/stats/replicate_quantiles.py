"""Quantiles of the replicates of t, held in memory or drawn again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Up to here the replicates are held for their quantiles (8 MB), beyond they are drawn again.
_MAX_HELD = 1 << 20


def make_room(
    levels: tuple[float, ...], *, n_resamples: int, keep: bool
) -> NDArray[np.float64] | None:
    """Return places for all replicates if they are to be kept or held for quantiles."""
    if keep or (levels and n_resamples <= _MAX_HELD):
        return np.empty(n_resamples, dtype=np.float64)
    return None


def find_quantiles(
    levels: tuple[float, ...],
    replicates: NDArray[np.float64] | None,
    order_statistics: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    *,
    n_resamples: int,
    keep: bool,
) -> dict[float, float]:
    """Return quantiles between neighbouring order statistics, as numpy.quantile does by default."""
    if not levels:
        return {}
    places = [level * (n_resamples - 1) for level in levels]
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, n_resamples - 1)
    ranks = np.unique(np.concatenate([below, above]))
    if replicates is not None:
        to_sort = replicates.copy() if keep else replicates
        to_sort.partition(ranks)
        found = to_sort[ranks]
    else:
        found = order_statistics(ranks)
    statistics = dict(zip(ranks.tolist(), found.tolist(), strict=True))
    quantiles = {}
    for level, place, low, high in zip(levels, places, below.tolist(), above.tolist(), strict=True):
        quantiles[level] = _interpolate(statistics[low], statistics[high], place - low)
    return quantiles


def _interpolate(lower: float, upper: float, share: float) -> float:
    """Give the value a share of [0, 1) of the way up; never NaN, though either may be infinite."""
    if share == 0 or lower == upper:
        return lower
    if math.isinf(lower) and math.isinf(upper):
        return lower if share < 0.5 else upper
    if math.isinf(lower):
        return lower
    return lower + (upper - lower) * share
