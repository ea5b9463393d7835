"""Which labels a classifier's answers move to: Bowker's and Stuart and Maxwell's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.stats.coins import chi_square_tail, p_by_coins, quadratic_form
from ietest_fast.stats.inputs import as_clusters, check_label_kinds, check_lengths, in_one_order
from ietest_fast.stats.resampling import check_options
from ietest_fast.stats.result import Result, format_p
from ietest_fast.stats.seeds import Rng, seed_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: With fewer units that flip, the laws that the tests refer to are too coarse to trust.
FEW_FLIPS = 25


@dataclass(frozen=True, kw_only=True, eq=False)
class SymmetryResult(Result):
    """Bowker's test of symmetry, and Stuart and Maxwell's of equal shares of labels."""

    title = "Where answers move"

    labels: tuple[Any, ...]
    """The K labels, in the order of the table."""
    table: NDArray[np.int64]
    """int64, shape (K, K): texts by the answer to the original (row) and to the transformed text
    (column)."""
    n_clusters: int | None
    """None without clusters."""
    n_flipped_units: int
    """Texts with a flip, or clusters with one."""
    symmetry_statistic: float
    symmetry_df: int
    p_symmetry: float
    """Bowker's (1948) chi-square, its degrees of freedom, and its p-value by swapping units with
    coins, (c+1)/(S+1)."""
    p_symmetry_asymptotic: float
    """Its p-value by the chi-square law."""
    homogeneity_statistic: float
    homogeneity_df: int
    p_homogeneity: float
    """Stuart (1955) and Maxwell's (1970) chi-square, and its p-value by the chi-square law."""
    n_resamples: int
    seed: int
    """S and the seed of the coins."""

    @property
    def statistic(self) -> float:
        """Bowker's statistic."""
        return self.symmetry_statistic

    @property
    def pvalue(self) -> float:
        """The p-value of symmetry."""
        return self.p_symmetry

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each label among the answers, shape (2, K): original, transformed."""
        margins = np.stack([self.table.sum(axis=1), self.table.sum(axis=0)])
        return np.asarray(margins / self.table.sum(), dtype=np.float64)

    @property
    def warning(self) -> str | None:
        """What to know of a p-value that rests on few flips."""
        if not 0 < self.n_flipped_units < FEW_FLIPS:
            return None
        what = "texts" if self.n_clusters is None else "clusters"
        return (
            f"answers flip in only {self.n_flipped_units} {what}: below {FEW_FLIPS} the p-value of "
            "equal shares is rough"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {
            "labels": [str(label) for label in self.labels],
            "table": self.table.tolist(),
            "shares": self.shares.tolist(),
            "warning": self.warning,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        shares = self.shares
        rows = [
            (f"share of {label}", f"{shares[0, i]:.2%} → {shares[1, i]:.2%}")
            for i, label in enumerate(self.labels)
        ]
        return [
            *rows,
            (
                "symmetry (Bowker)",
                _say(
                    self.symmetry_statistic,
                    self.symmetry_df,
                    self.p_symmetry,
                    floor=1 / (self.n_resamples + 1),
                ),
            ),
            (
                "equal shares (Stuart–Maxwell)",
                _say(self.homogeneity_statistic, self.homogeneity_df, self.p_homogeneity),
            ),
        ]

    def remarks(self) -> list[str]:
        """Return the warning, if there is one."""
        return [] if self.warning is None else [f"Warning: {self.warning}."]


@in_one_order
def symmetry_test(
    original: Any,
    transformed: Any,
    *,
    clusters: Any = None,
    n_resamples: int = 10_000,
    rng: Rng = 0,
) -> SymmetryResult:
    r"""Test whether a classifier's flips between labels have a direction.

    With n_jk the number of texts that are answered j in the original and k in the transformed
    version, Bowker's test is of H0: a flip from j to k is as likely as one from k to j,

    .. math:: B = \sum_{j<k} \frac{(n_{jk} - n_{kj})^2}{n_{jk} + n_{kj}}.

    Stuart and Maxwell's test is of H0: each label has the same share of the answers to both
    versions. With two labels both are McNemar's test. Neither sees flips that cancel: see
    :func:`ietest_fast.stats.flip_test` for their number.

    Both are quadratic forms u' V⁻ u, where u is the sum over units of their flips (of n_jk - n_kj,
    or of the differences of label counts) and V the sum of the squares. With clusters the units
    are clusters.

    Parameters
    ----------
    original, transformed
        Labels that the classifier gives, shape (n,), numbers or texts.
    clusters
        Shape (n,), the cluster of each text.
    n_resamples
        S, the swaps that Bowker's p-value is found from.
    rng
        See :func:`ietest_fast.stats.paired_test`.

    Returns
    -------
    SymmetryResult

    Raises
    ------
    InputError
        If a label is missing, or columns differ in length or in kind.

    Examples
    --------
    >>> from ietest_fast.stats import symmetry_test
    >>> result = symmetry_test(["yes"] * 40 + ["no"] * 60, ["no"] * 25 + ["yes"] * 25 + ["no"] * 50)
    >>> result.table.tolist()
    [[50, 10], [25, 15]]
    >>> round(result.statistic, 3), round(result.p_symmetry_asymptotic, 4)
    (6.429, 0.0112)
    """
    check_options(alternative="two-sided", n_resamples=n_resamples)
    a, b = check_label_kinds(original=original, transformed=transformed)
    n = check_lengths(original=a, transformed=b)
    labels, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    first, second = codes[:n], codes[n:]
    k = labels.size
    n_clusters = None
    units = np.arange(n)
    if clusters is not None:
        units, n_clusters = as_clusters(clusters, n)
    moves, shifts = _units(first, second, units, k)
    seed = seed_of(rng)
    symmetry, symmetry_df, root = quadratic_form(moves)
    homogeneity, homogeneity_df, _ = quadratic_form(shifts)
    return SymmetryResult(
        labels=tuple(label.item() if hasattr(label, "item") else label for label in labels),
        table=np.bincount(first * k + second, minlength=k * k).reshape(k, k).astype(np.int64),
        n_clusters=n_clusters,
        n_flipped_units=int(np.unique(units[first != second]).size),
        symmetry_statistic=symmetry,
        symmetry_df=symmetry_df,
        p_symmetry=p_by_coins(moves, root, symmetry, n_resamples=n_resamples, seed=seed),
        p_symmetry_asymptotic=chi_square_tail(symmetry, symmetry_df),
        homogeneity_statistic=homogeneity,
        homogeneity_df=homogeneity_df,
        p_homogeneity=chi_square_tail(homogeneity, homogeneity_df),
        n_resamples=n_resamples,
        seed=seed,
    )


def _units(
    first: NDArray[np.int64], second: NDArray[np.int64], units: NDArray[np.int64], k: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what units with a flip add to u, for both tests: a row for each."""
    flipped = first != second
    _, place = np.unique(units[flipped], return_inverse=True)
    n_units = int(place.max(initial=-1)) + 1
    a, b = first[flipped], second[flipped]
    low, high = np.minimum(a, b), np.maximum(a, b)
    pairs, column = np.unique(low * k + high, return_inverse=True)
    moves = np.zeros((n_units, pairs.size))
    np.add.at(moves, (place, column), np.where(a < b, 1.0, -1.0))
    shifts = np.zeros((n_units, k))
    np.add.at(shifts, (place, a), 1.0)
    np.add.at(shifts, (place, b), -1.0)
    return moves, shifts


def _say(statistic: float, df: int, p_value: float, floor: float | None = None) -> str:
    return f"{statistic:.3f}, df {df}, p = {format_p(p_value, floor=floor)}"
