"""Counting how often things occur when there may be more different ones than memory holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

Key = TypeVar("Key")

MOST_KEPT = 100_000
"""How many different keys are kept unless told otherwise."""


class FrequentCounts(Generic[Key]):
    """Count keys, and keep the frequent ones in bounded memory (Misra and Gries 1982).

    Counts are exact as long as there are at most `capacity` different keys. After that, the rare
    ones are dropped, and each count that is left is too low by at most `error`; a key that
    occurs more than `error` times is always there. With N counted in all, `error` is at most
    N / (`capacity` + 1) (Agarwal et al. 2012, for sums of counts).

    Attributes
    ----------
    counts
        By key.
    error
        By how much a count may be too low; 0 if all are exact.
    """

    def __init__(self, capacity: int = MOST_KEPT) -> None:
        self.capacity = capacity
        self.counts: Counter[Key] = Counter()
        self.error = 0

    def add(self, counts: Iterable[tuple[Key, int]]) -> None:
        """Add counts of different keys, each at least 1."""
        for key, count in counts:
            self.counts[key] += count
        if len(self.counts) <= self.capacity:
            return
        ranked = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        # The largest count that is not kept is taken off all.
        taken = int(-np.partition(-ranked, self.capacity)[self.capacity])
        self.counts = Counter(
            {key: count - taken for key, count in self.counts.items() if count > taken}
        )
        self.error += taken
