"""A coin for each unit that says whether its two versions are swapped.

If versions are exchangeable, a swap leaves the law of the data as it is. It turns the sign of what
the unit adds to a sum u, and leaves V, the sum of squares of what units add, so u' V⁻ u can be
compared with what coins make of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.philox import philox_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Numbers that are held in memory at a time.
_MOST_DRAWN = 2**24

# Eigenvalues up to this share of the largest one are what rounding left of a 0.
_ROUNDING = 1e-12


def quadratic_form(
    values: NDArray[np.float64],
) -> tuple[float, int, NDArray[np.float64]]:
    """Return u' V⁻ u, the rank of V, and a root R of its inverse: u' V⁻ u = |u R|²."""
    sizes, vectors = np.linalg.eigh(values.T @ values)
    kept = sizes > _ROUNDING * sizes.max(initial=0.0)
    root = vectors[:, kept] / np.sqrt(sizes[kept])
    return float(np.square(values.sum(axis=0) @ root).sum()), int(kept.sum()), root


def chi_square_tail(statistic: float, df: int) -> float:
    """Return the asymptotic p-value of a quadratic form of rank ``df``; 1 of rank 0."""
    from scipy.special import chdtrc

    return 1.0 if df == 0 else float(chdtrc(df, statistic))


def p_by_coins(
    values: NDArray[np.float64],
    root: NDArray[np.float64],
    observed: float,
    *,
    n_resamples: int,
    seed: int,
) -> float:
    """Compute P(B* >= B) if a coin swaps the versions of each unit; V stays what it is."""
    if len(values) == 0:
        return 1.0
    # A coin tells no row from its opposite, and many units add the same: theirs is one binomial.
    first = np.take_along_axis(values, (values != 0).argmax(axis=1)[:, None], axis=1)
    rows = values * np.sign(first) + 0.0  # no -0.0: rows are compared by their bytes
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, place, counts = np.unique(keys, return_index=True, return_counts=True)
    # By value: the order of bytes would change with the unit of the values.
    order = np.lexsort(rows[place].T[::-1])
    rows, counts = rows[place][order], counts[order]
    scaled = rows @ root
    generator = np.random.Generator(np.random.Philox(key=philox_key(seed)))
    # B* takes few values where units are few: rounding is not to part equal ones.
    least = observed * (1 - 1e-9)
    reached, chunk = 0, max(1, _MOST_DRAWN // len(rows))
    for begin in range(0, n_resamples, chunk):
        drawn = min(chunk, n_resamples - begin)
        heads = generator.binomial(counts, 0.5, size=(drawn, len(rows)))
        sums = (2.0 * heads - counts) @ scaled
        reached += int((np.square(sums).sum(axis=1) >= least).sum())
    return (reached + 1) / (n_resamples + 1)
