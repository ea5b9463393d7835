"""Rows of large matrices, some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ROWS_AT_ONCE = 1_024
"""Rows of a block."""

MOST_FEATURE = np.float64(1e50)
"""The largest number that is computed with: its square, and sums of squares, are numbers, too."""


def are_features(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each value whether it is a number that can be computed with."""
    return np.asarray(np.abs(values) <= MOST_FEATURE)


def blocks(n: int) -> Iterator[slice]:
    """Give the blocks of n rows, in their order."""
    for begin in range(0, n, ROWS_AT_ONCE):
        yield slice(begin, min(begin + ROWS_AT_ONCE, n))


def take_rows(features: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows as float64.

    Beside the result, it holds the rows of one block.
    """
    if hasattr(features, "tocsr"):
        return features[rows].astype(np.float64, copy=False)
    taken = np.empty((len(rows), features.shape[1]))
    for block in blocks(len(rows)):
        taken[block] = features[rows[block]]
    return taken
