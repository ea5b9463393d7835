"""Whether losses and gains come in the same proportion in every stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.stats.coins import chi_square_tail, p_by_coins, quadratic_form
from ietest_fast.stats.fixed_margins import count_heterogeneous, heterogeneity_tail
from ietest_fast.stats.result import Result, format_p

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class HeterogeneityResult(Result):
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

    @property
    def pvalue(self) -> float:
        """``p_value``, as SciPy calls it."""
        return self.p_value

    @property
    def p_floor(self) -> float | None:
        """The smallest p-value that the draws allow; None if nothing was drawn."""
        return None if self.n_resamples is None else 1 / (self.n_resamples + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        return {
            "losses": list(self.losses),
            "gains": list(self.gains),
            "n_clusters": self.n_clusters,
            "statistic": self.statistic,
            "df": self.df,
            "p_value": self.p_value,
            "p_asymptotic": self.p_asymptotic,
            "method": self.method,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
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
