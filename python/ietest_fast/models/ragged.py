"""Rows of different lengths, one behind the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Where rows of different lengths begin and end."""

    offsets: NDArray[np.int64]
    """int64, shape (rows + 1,): row i has the entries ``offsets[i]:offsets[i + 1]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row."""
        return np.diff(self.offsets)

    def runs(self, most: int) -> Iterator[tuple[int, int]]:
        """Give the bounds of runs of rows that have at most `most` entries, or are one row."""
        begin = 0
        while begin < len(self):
            within = np.searchsorted(self.offsets, self.offsets[begin] + most, side="right")
            end = max(int(within) - 1, begin + 1)
            yield begin, end
            begin = end


@dataclass(frozen=True, kw_only=True)
class Ragged(Rows):
    """Rows of numbers."""

    values: NDArray[Any]
    """Shape (entries,), the entries of all rows."""


def find_offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Say where rows of these lengths begin, and where the last ends, shape (rows + 1,)."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def spread(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the positions ``begin, begin + 1, ...`` of all rows, one row behind the other."""
    offsets = find_offsets(lengths)
    return np.arange(offsets[-1], dtype=np.int64) + np.repeat(begins - offsets[:-1], lengths)
