"""What a text, or a cluster of texts, is worth to the excess churn: its products, and its type.

The formulas stand at the head of ``cpp/include/ietest/stats/churn.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ChurnTypes:
    """Units with flips of at least two classifiers, sorted into types."""

    sizes: NDArray[np.int64]
    """Shape (U,), int64: the number of classifiers whose products a type has."""
    counts: NDArray[np.int64]
    """Shape (U,), int64: how many units are of the type."""
    products: NDArray[np.int64]
    """int64, size * (size - 1) / 2 for each type: g(0, 1), g(0, 2), ..., g(1, 2), ..."""

    @property
    def n_units(self) -> int:
        """Number of units of all types."""
        return int(self.counts.sum())


def sum_churn(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return M (M - 1) times the excess churn of each text, shape (n,), of labels of (n, M)."""
    total = np.zeros(a.shape[0], dtype=np.int64)
    for m, other in combinations(range(a.shape[1]), 2):
        total += _products(a, b, m, other)
    return total


def count_disagreements(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count ordered pairs of different classifiers that disagree."""
    within_a = within_b = across = 0
    for m, other in combinations(range(a.shape[1]), 2):
        within_a += 2 * int((a[:, m] != a[:, other]).sum())
        within_b += 2 * int((b[:, m] != b[:, other]).sum())
        across += int((a[:, m] != b[:, other]).sum()) + int((a[:, other] != b[:, m]).sum())
    return np.array([within_a, within_b, across])


def find_types(
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    n_labels: int,
    *,
    codes: NDArray[np.int64] | None = None,
    n_clusters: int | None = None,
) -> ChurnTypes:
    """Sort texts, or clusters of them, into types."""
    if codes is None or n_clusters is None:
        return _types_of_texts(a, b, n_labels)
    return _types_of_clusters(a, b, codes, n_clusters)


def _products(a: NDArray[np.int64], b: NDArray[np.int64], m: int, other: int) -> NDArray[np.int64]:
    """<v_m, v_other> of each text, v being e(a) - e(b)."""
    same = (a[:, m] == a[:, other]).astype(np.int64) + (b[:, m] == b[:, other])
    crossed = (a[:, m] == b[:, other]).astype(np.int64) + (b[:, m] == a[:, other])
    return np.asarray(same - crossed, dtype=np.int64)


def _types_of_texts(a: NDArray[np.int64], b: NDArray[np.int64], n_labels: int) -> ChurnTypes:
    """Only which two labels a flip is between matters: a coin decides on its direction."""
    flipped = a != b
    rows = flipped.sum(axis=1) >= 2
    low, high = np.minimum(a, b)[rows], np.maximum(a, b)[rows]
    nothing = n_labels * n_labels
    kinds = np.sort(np.where(flipped[rows], low * n_labels + high, nothing), axis=1)
    types, counts = np.unique(kinds, axis=0, return_counts=True)
    sizes, products = [], []
    for kind in types:
        own = kind[kind < nothing]
        first, second = own // n_labels, own % n_labels
        sizes.append(own.size)
        products += [
            int(first[m] == first[x])
            + int(second[m] == second[x])
            - int(first[m] == second[x])
            - int(second[m] == first[x])
            for m, x in combinations(range(own.size), 2)
        ]
    return ChurnTypes(
        sizes=np.array(sizes, dtype=np.int64),
        counts=counts.astype(np.int64),
        products=np.array(products, dtype=np.int64),
    )


def _types_of_clusters(
    a: NDArray[np.int64], b: NDArray[np.int64], codes: NDArray[np.int64], n_clusters: int
) -> ChurnTypes:
    n_classifiers = a.shape[1]
    pairs = list(combinations(range(n_classifiers), 2))
    sums = np.empty((n_clusters, len(pairs)), dtype=np.int64)
    for place, (m, other) in enumerate(pairs):
        own = _products(a, b, m, other)
        sums[:, place] = np.bincount(codes, weights=own, minlength=n_clusters).astype(np.int64)
    sums = sums[(sums != 0).any(axis=1)]
    types, counts = np.unique(sums, axis=0, return_counts=True)
    sizes, products = [], []
    for own in types:
        # A classifier all of whose products are 0 changes nothing, so its coin need not be drawn.
        taking_part = sorted({m for pair, g in zip(pairs, own, strict=True) if g for m in pair})
        sizes.append(len(taking_part))
        inside = set(taking_part)
        products += [
            int(g)
            for (m, other), g in zip(pairs, own, strict=True)
            if m in inside and other in inside
        ]
    return ChurnTypes(
        sizes=np.array(sizes, dtype=np.int64),
        counts=counts.astype(np.int64),
        products=np.array(products, dtype=np.int64),
    )
