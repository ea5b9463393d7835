"""Whether losses and gains come in the same proportion in every stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.stats.fixed_margins import count_heterogeneous, heterogeneity_tail
from ietest_fast.stats.resampling import count_equal, warn_of_large_units
from ietest_fast.stats.result import Result, format_p
from ietest_fast.stats.symmetry import chi_square_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class HeterogeneityResult(Result):
    """Test of H0: the share of losses among discordant pairs is the same in every stratum.

    Attributes
    ----------
    losses, gains
        For each stratum: pairs that become wrong, and that become right.
    n_clusters
        Clusters with a discordant pair; None without clusters.
    n_deciding
        How many clusters with equal numbers of discordant pairs would tell as much; None without
        clusters.
    statistic
        Pearson's chi-square of the table of losses and gains; with clusters the score statistic.
    df
        Strata with a discordant pair, less one; 0 where there is nothing to compare.
    p_value
        Exact or from drawn tables; with clusters from the F law.
    p_asymptotic
        From the chi-square law with ``df`` degrees of freedom.
    method
        ``exact``: all tables with these margins. ``resample``: drawn ones, (c+1)/(S+1).
        ``clusters``: the F law.
    n_resamples, seed
        S and the seed of the tables; None unless they were drawn.
    """

    title = "Losses and gains over the strata"

    losses: tuple[int, ...]
    gains: tuple[int, ...]
    n_clusters: int | None
    n_deciding: float | None
    statistic: float
    df: int
    p_value: float
    p_asymptotic: float
    method: Literal["exact", "resample", "clusters"]
    n_resamples: int | None
    seed: int | None

    @property
    def pvalue(self) -> float:
        """``p_value``, as SciPy calls it."""
        return self.p_value

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        if not self.df or self.n_deciding is None:
            return None
        return warn_of_large_units(self.n_deciding, "clusters")

    @property
    def p_floor(self) -> float | None:
        """The smallest p-value that the drawn tables allow; None if it is not from such."""
        return None if self.n_resamples is None else 1 / (self.n_resamples + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return {
            "losses": list(self.losses),
            "gains": list(self.gains),
            "n_clusters": self.n_clusters,
            "n_deciding": self.n_deciding,
            "statistic": self.statistic,
            "df": self.df,
            "p_value": self.p_value,
            "p_asymptotic": self.p_asymptotic,
            "method": self.method,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "warning": self.warning,
        }

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

    Parameters
    ----------
    losses, gains
        Shape (L,).
    n_resamples
        Tables to draw if there are too many to enumerate.
    seed
        Of the draws.
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
        n_deciding=None,
        statistic=statistic,
        df=df,
        p_value=p,
        p_asymptotic=chi_square_tail(statistic, df),
        method="resample" if is_drawn else "exact",
        n_resamples=n_resamples if is_drawn else None,
        seed=seed if is_drawn else None,
    )


def compare_strata_by_clusters(
    signs: NDArray[np.int64], strata: NDArray[np.int64], clusters: NDArray[Any], n_strata: int
) -> HeterogeneityResult:
    r"""Test the same of pairs that come in clusters, by a score with a correlation within them.

    With r_i = s_i - m, s_i being 1 for a loss and -1 for a gain, and m their mean over all K
    discordant pairs, stratum s has the score U_s, the sum of its r_i. Two discordant pairs of a
    cluster have the correlation a if they are in the same stratum, and b otherwise; both are
    estimated from the products r_i r_j of all such pairs. With k_cs the discordant pairs of cluster
    c in stratum s, this gives the covariance of U before the mean is taken away,

    .. math:: (1 - m^2)\bigl(k_s + a \sum_c k_{cs} (k_{cs} - 1)\bigr)
              \quad\text{and}\quad (1 - m^2)\, b \sum_c k_{cs} k_{ct},

    and U' V⁻ U is held against the F law with L - 1 and C - 1 degrees of freedom, C being the
    clusters with a discordant pair. A variance of each stratum by itself would assume less, and be
    too uncertain where a stratum has few clusters.

    Parameters
    ----------
    signs
        Shape (n,): 1 for a loss, -1 for a gain, 0 for a concordant pair.
    strata
        Shape (n,): 0 to n_strata - 1.
    clusters
        Shape (n,), labels or numbers.
    n_strata
        L.
    """
    from scipy.special import fdtrc

    there = np.flatnonzero(signs)
    own, places = signs[there], strata[there]
    sizes = np.bincount(places, minlength=n_strata)
    losses = np.bincount(places[own > 0], minlength=n_strata)
    _, units = np.unique(clusters[there], return_inverse=True)
    n_units = int(units.max(initial=-1)) + 1
    statistic, df, p = 0.0, max(0, int((sizes > 0).sum()) - 1), 1.0
    if df and 0 < losses.sum() < own.size and n_units > 1:
        statistic = _score(own - own.mean(), places, units, 1 - float(own.mean()) ** 2)
        p = float(fdtrc(df, n_units - 1, statistic / df))
    return HeterogeneityResult(
        losses=tuple(losses.tolist()),
        gains=tuple((sizes - losses).tolist()),
        n_clusters=n_units,
        n_deciding=count_equal(np.square(np.bincount(units, minlength=1).astype(np.float64))),
        statistic=statistic,
        df=df,
        p_value=p,
        p_asymptotic=chi_square_tail(statistic, df),
        method="clusters",
        n_resamples=None,
        seed=None,
    )


def _score(
    residuals: NDArray[np.float64],
    strata: NDArray[np.int64],
    units: NDArray[np.int64],
    variance: float,
) -> float:
    """Return U' V⁻ U of discordant pairs; see :func:`compare_strata_by_clusters`."""
    _, strata = np.unique(strata, return_inverse=True)
    n_units, n_strata = int(units.max()) + 1, int(strata.max()) + 1
    cells, n_cells = units * n_strata + strata, n_units * n_strata

    def add(weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        sums = np.bincount(cells, weights=weights, minlength=n_cells)
        return sums.reshape(n_units, n_strata).astype(np.float64)

    counts, sums = add(None), add(residuals)
    square = float(np.square(residuals).sum())
    pairs_within = float((counts * (counts - 1)).sum())
    pairs_across = float(np.square(counts.sum(axis=1)).sum() - np.square(counts).sum())
    product_within = float(np.square(sums).sum()) - square
    product_across = float(np.square(sums.sum(axis=1)).sum() - np.square(sums).sum())
    within = across = 0.0
    if pairs_within:
        within = max(0.0, product_within / pairs_within / variance)
    if pairs_across:
        across = max(-1 / (n_strata - 1), product_across / pairs_across / variance)
    covariance = across * (counts.T @ counts)
    sizes = counts.sum(axis=0)
    np.fill_diagonal(covariance, sizes + within * (np.square(counts).sum(axis=0) - sizes))
    centre = np.eye(n_strata) - np.outer(sizes / sizes.sum(), np.ones(n_strata))
    covariance = variance * centre @ covariance @ centre.T
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * values.max()
    return float((np.square(sums.sum(axis=0) @ vectors[:, kept]) / values[kept]).sum())
