"""Which labels a classifier's answers move to: Bowker's and Stuart and Maxwell's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.numerals import format_p, say_p
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    check_label_kinds,
    check_lengths,
    in_one_order,
    seed_of,
)
from ietest_fast.stats.laws.integer import (
    count_heterogeneous,
    draw_coins,
    heterogeneity_tail,
)
from ietest_fast.stats.resampling import check_options
from ietest_fast.stats.result import ResampledResult, Result, list_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray


# A coin for each unit that says whether its two versions are swapped.
#
# If versions are exchangeable, a swap leaves the law of the data as it is. It turns the sign of
# what the unit adds to a sum u, and leaves V, the sum of squares of what units add, so u' V⁻ u
# can be compared with what coins make of it.

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
    # B* takes few values where units are few: rounding is not to part equal ones.
    least = observed * (1 - 1e-9)
    reached = 0
    for signs in draw_coins(counts, n_resamples, seed):
        reached += int((np.square(signs @ scaled).sum(axis=1) >= least).sum())
    return (reached + 1) / (n_resamples + 1)


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
        return list_fields(self) | {
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
        least = 1 / (self.n_resamples + 1)
        symmetry = _say(self.symmetry_statistic, self.symmetry_df, self.p_symmetry, floor=least)
        homogeneity = _say(self.homogeneity_statistic, self.homogeneity_df, self.p_homogeneity)
        return [
            *rows,
            ("symmetry (Bowker)", symmetry),
            ("equal shares (Stuart–Maxwell)", homogeneity),
        ]


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
    return f"{statistic:.3f}, df {df}, {say_p(format_p(p_value, floor=floor))}"


# Whether losses and gains come in the same proportion in every stratum.


@dataclass(frozen=True, kw_only=True)
class HeterogeneityResult(ResampledResult):
    """Test of H0: the share of losses among discordant pairs is the same in every stratum."""

    title = "Losses and gains over the strata"

    losses: tuple[int, ...]
    gains: tuple[int, ...]
    """For each stratum: pairs that become wrong, and that become right."""
    n_clusters: int | None
    """Clusters with a discordant pair; None without clusters."""
    statistic: float
    """Pearson's chi-square of the table of losses and gains; with clusters U' V⁻ U."""
    df: int
    """Strata with a discordant pair, less one; 0 where there is nothing to compare. With clusters,
    the rank of V, which is less where some strata always go together."""
    p_value: float
    """Exact, from drawn tables, or with clusters from drawn coins."""
    p_asymptotic: float
    """From the chi-square law with ``df`` degrees of freedom."""
    method: Literal["exact", "resample", "clusters"]
    """``exact``: all tables with these margins. ``resample``: drawn ones, (c+1)/(S+1).
    ``clusters``: drawn coins for whole clusters, (c+1)/(S+1)."""
    n_resamples: int | None
    seed: int | None
    """S and the seed of the draws; None without draws."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return list_fields(self) | {"losses": list(self.losses), "gains": list(self.gains)}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        return [
            ("losses, gains", f"{sum(self.losses):,}, {sum(self.gains):,}"),
            ("chi-square", f"{self.statistic:.3f}, df {self.df}"),
            (f"p ({self.method})", format_p(self.p_value, floor=self.p_floor)),
        ]


def compare_strata(
    losses: NDArray[np.int64], gains: NDArray[np.int64], *, n_resamples: int, seed: int
) -> HeterogeneityResult:
    r"""Test whether losses and gains of independent pairs come in the same proportion.

    With w_s losses among the k_s discordant pairs of stratum s, W of K in all, Pearson's statistic
    is

    .. math:: X^2 = \frac{K^2}{W (K - W)} \Bigl(\sum_s \frac{w_s^2}{k_s} - \frac{W^2}{K}\Bigr).

    Given W and the k_s, the w_s are multivariate hypergeometric under H0, whatever the common
    share of losses is.
    """
    sizes = losses + gains
    there = sizes > 0
    marked, own = losses[there], sizes[there]
    total, n = int(marked.sum()), int(own.sum())
    statistic, df = 0.0, max(0, int(there.sum()) - 1)
    if df and 0 < total < n:
        expected = own * (total / n)
        gap = float((np.square(marked - expected) / own).sum())
        statistic = gap * n * n / (total * (n - total))
    p = heterogeneity_tail(marked, own) if df else 1.0
    is_drawn = p is None
    if p is None:
        reached = count_heterogeneous(marked, own, n_tables=n_resamples, seed=seed)
        p = (reached + 1) / (n_resamples + 1)
    return HeterogeneityResult(
        losses=tuple(losses.tolist()),
        gains=tuple(gains.tolist()),
        n_clusters=None,
        statistic=statistic,
        df=df,
        p_value=p,
        p_asymptotic=chi_square_tail(statistic, df),
        method="resample" if is_drawn else "exact",
        n_resamples=n_resamples if is_drawn else None,
        seed=seed if is_drawn else None,
    )


def compare_strata_by_clusters(
    signs: NDArray[np.int64],
    strata: NDArray[np.int64],
    clusters: NDArray[Any],
    n_strata: int,
    *,
    n_resamples: int,
    seed: int,
) -> HeterogeneityResult:
    r"""Test the same of pairs that come in clusters, by swapping the versions of whole clusters.

    Let d_cs be the losses less the gains of cluster c in stratum s, d_s their sum over clusters,
    and k_s the discordant pairs of stratum s, K in all. The scores are

    .. math:: U_s = \sum_c z_{cs}, \quad
              z_{cs} = d_{cs} - \frac{k_s}{K} \sum_t d_{ct},
              \quad V = \sum_c z_c z_c',

    and U' V⁻ U is compared with its law if a coin decides for each cluster whether its versions are
    swapped. That changes the sign of z_c, and neither V nor the k_s. If versions are exchangeable,
    the test is exact up to its ties, whatever sizes of clusters and dependence within them are. If
    they are not, V also contains the squares of the means of z_c. Then the test of equal shares of
    losses is mostly conservative and loses power, but liberal in some cases; docs/statistics.md has
    examples of both.
    """
    there = np.flatnonzero(signs)
    own, places = signs[there], strata[there]
    sizes = np.bincount(places, minlength=n_strata)
    losses = np.bincount(places[own > 0], minlength=n_strata)
    _, units = np.unique(clusters[there], return_inverse=True)
    n_units = int(units.max(initial=-1)) + 1
    statistic, df, p = 0.0, max(0, int((sizes > 0).sum()) - 1), 1.0
    if df and 0 < losses.sum() < own.size:
        cells = np.zeros((n_units, n_strata))
        np.add.at(cells, (units, places), own)
        scores = cells - np.outer(cells.sum(axis=1), sizes / own.size)
        statistic, rank, root = quadratic_form(scores)
        p = p_by_coins(scores, root, statistic, n_resamples=n_resamples, seed=seed)
        df = rank or df
    return HeterogeneityResult(
        losses=tuple(losses.tolist()),
        gains=tuple((sizes - losses).tolist()),
        n_clusters=n_units,
        statistic=statistic,
        df=df,
        p_value=p,
        p_asymptotic=chi_square_tail(statistic, df),
        method="clusters",
        n_resamples=n_resamples,
        seed=seed,
    )
