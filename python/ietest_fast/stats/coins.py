"""A coin for each unit that says whether its two versions are swapped.

If versions are exchangeable, a swap leaves the law of the data as it is. It turns the sign of what
the unit adds to a sum u, and leaves V, the sum of squares of what units add, so u' V⁻ u can be
compared with what coins make of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.random import philox_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Signs that are held in memory at a time.
_MOST_SIGNS = 2**24


def quadratic_form(
    values: NDArray[np.float64], *, tolerance: float | None = None
) -> tuple[float, int, NDArray[np.float64]]:
    """Return u' V⁻ u, the rank of V, and a root R of its inverse: u' V⁻ u = |u R|².

    Parameters
    ----------
    values
        Shape (C, q): what each unit adds to u. V is the sum of their squares, V = Σ z_c z_c'.
    tolerance
        Eigenvalues of V up to this share of the largest one count as 0; None: those that rounding
        may have left of a 0.
    """
    square = values.T @ values
    sizes, vectors = np.linalg.eigh(square)
    if tolerance is None:
        tolerance = max(square.shape) * float(np.finfo(np.float64).eps)
    kept = sizes > tolerance * sizes.max(initial=0.0)
    root = vectors[:, kept] / np.sqrt(sizes[kept])
    return float(np.square(values.sum(axis=0) @ root).sum()), int(kept.sum()), root


def chi_square_tail(statistic: float, df: int) -> float:
    """Return the asymptotic p-value of a quadratic form of rank ``df``; 1 of rank 0."""
    from scipy.special import chdtrc

    return 1.0 if df == 0 else float(chdtrc(df, statistic))


def p_by_coins(
    moves: NDArray[np.float64],
    root: NDArray[np.float64],
    observed: float,
    *,
    counts: NDArray[np.int64] | None = None,
    one_column_each: bool = False,
    n_resamples: int,
    seed: int,
) -> float:
    """Compute P(B* >= B) if a coin swaps the versions of each unit; V stays what it is.

    Parameters
    ----------
    moves, root, observed
        Shape (C, q), a root of the inverse of V, and B; see :func:`quadratic_form`.
    counts
        Shape (C,): how many units add such a row, or its opposite; None: one each.
    one_column_each
        Whether each unit is 1 or -1 in one column, and 0 in the others: V is then diagonal.
    n_resamples, seed
        S draws, of which c reach B: p is (c + 1) / (S + 1).
    """
    n_units = moves.shape[0]
    if n_units == 0:
        return 1.0
    generator = np.random.Generator(np.random.Philox(key=philox_key(seed)))
    # B* takes few values where units are few: rounding is not to part equal ones.
    least = observed * (1 - 1e-9)
    if one_column_each:  # the units of a column are one binomial
        totals = np.abs(moves).sum(axis=0).astype(np.int64)
        heads = generator.binomial(totals, 0.5, size=(n_resamples, totals.size))
        drawn = (np.square(2.0 * heads - totals) / totals).sum(axis=1)
        return (int((drawn >= least).sum()) + 1) / (n_resamples + 1)
    scaled = moves @ root
    reached, chunk = 0, max(1, _MOST_SIGNS // n_units)
    for begin in range(0, n_resamples, chunk):
        size = (min(chunk, n_resamples - begin), n_units)
        if counts is None:
            heads = generator.integers(0, 2, size=size, dtype=np.int8).astype(np.float64)
        else:
            heads = generator.binomial(counts, 0.5, size=size).astype(np.float64)
        sums = (2 * heads - (1 if counts is None else counts)) @ scaled
        reached += int((np.square(sums).sum(axis=1) >= least).sum())
    return (reached + 1) / (n_resamples + 1)
