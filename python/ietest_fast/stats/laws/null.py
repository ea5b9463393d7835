"""The law of t under H0 as a histogram whose bins fit a discrete law.

The sum D* of outcomes takes whole numbers only, so t* lies near multiples of 1/sqrt(k). Bins laid
without regard to that hold now more, now fewer of those values, and show dips and peaks that are
none: the worst at 0. Here every bin holds the same number of values of D*, and one is centred at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    Rng,
    as_array,
    as_clusters,
    as_column,
    as_scores,
    check_between,
    in_one_order,
    is_integer,
    seed_of,
)
from ietest_fast.stats.laws.bootstrap import DEFAULT_DF, LognormalLaw, ScoreLaw, StudentLaw
from ietest_fast.stats.resampling import to_squarable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.matched import PairedCounts


#: t* is shown from minus so much to so much.
SPAN = 4.5
MOST_BINS = 61
# So many standard deviations of K around its mean; beyond lies less than 1e-14 of the law.
_WIDE = 8.0
# So many values of K are summed over at most; of more, pairs of neighbours at equal distances.
_MOST_VALUES = 4_000


@dataclass(frozen=True, kw_only=True, eq=False)
class NullHistogram:
    """A histogram of t* under H0."""

    edges: NDArray[np.float64]
    """Shape (B + 1,), ascending."""
    mass: NDArray[np.float64]
    """Shape (B,): the probability of each bin. What lies outside all bins is missing from it."""

    @property
    def density(self) -> NDArray[np.float64]:
        """Mass divided by width, shape (B,)."""
        density: NDArray[np.float64] = self.mass / np.diff(self.edges)
        return density


def bin_edges(counts: PairedCounts, *, most_bins: int = MOST_BINS) -> NDArray[np.float64]:
    """Return edges of bins that fit the law of t* for these counts.

    They are meant for replicates, too (:func:`ietest_fast.stats.draw_t_replicates`).

    Parameters
    ----------
    counts
        The four counts.
    most_bins
        At most so many bins, at least 3.

    Returns
    -------
    ndarray of float64, shape (B + 1,)
        Symmetric about 0; no bin is empty by construction. One bin without discordant pairs.
    """
    # If every pair is discordant D* has the parity of n: it takes every other whole number.
    step = 2 if counts.k == counts.n else 1
    return lattice_edges(
        math.sqrt(counts.k),
        n=counts.n,
        step=step,
        holds_zero=step == 1 or counts.n % 2 == 0,
        most_bins=most_bins,
    )


def lattice_edges(
    root: float, *, n: int, step: float = 1, holds_zero: bool = True, most_bins: int = MOST_BINS
) -> NDArray[np.float64]:
    """Return bin edges for t = D / sqrt(Q - D**2 / n), D being a multiple of ``step``."""
    if root == 0:
        return np.array([-0.5, 0.5])
    each = max(1, math.ceil(2 * SPAN * root / step / most_bins))
    if each % 2 != holds_zero:  # a bin centred at 0 holds an odd number of values if 0 is one
        each += 1
    half = math.ceil(SPAN * root / (each * step) - 0.5)
    ends = (np.arange(max(half, 1) + 1) + 0.5) * each * step / root
    # Beyond r = sqrt(n) there is no t.
    ends = ends[(ends**2 < n * (1 - 1e-9)) | (np.arange(ends.size) == 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = ends / np.sqrt(np.maximum(1 - ends**2 / n, 1e-9))
    return np.concatenate([-t[::-1], t])


def null_law_of(counts: PairedCounts, *, most_bins: int = MOST_BINS) -> NullHistogram:
    """Return the exact law of t* under H0, in bins.

    Parameters
    ----------
    counts
        The four counts.
    most_bins
        At most so many bins, at least 3.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, null_law_of
    >>> law = null_law_of(PairedCounts(900, 22, 18, 60))
    >>> law.mass.size, round(float(law.mass.sum()), 4), int(law.mass.argmax()) == law.mass.size // 2
    (57, 1.0, True)
    """
    edges = bin_edges(counts, most_bins=most_bins)
    n, k = counts.n, counts.k
    if k == 0:
        return NullHistogram(edges=edges, mass=np.ones(1))
    from scipy.special import bdtr
    from scipy.stats import binom

    values, weights = np.array([n]), np.ones(1)
    if k < n:
        reach = _WIDE * math.sqrt(k * (1 - k / n)) + _WIDE
        low, high = max(0, math.floor(k - reach)), min(n, math.ceil(k + reach))
        values = np.arange(low, high + 1)
        if values.size > _MOST_VALUES:
            first = np.linspace(low, high - 1, _MOST_VALUES // 2).astype(np.int64)
            values = np.unique(np.concatenate([first, first + 1]))
        weights = binom.pmf(values, n, k / n)
        weights /= weights.sum()
    r = edges / np.sqrt(1 + edges**2 / n)
    below = np.zeros(edges.size)
    for drawn, weight in zip(values.tolist(), weights.tolist(), strict=True):
        if drawn == 0:
            below += weight * (edges >= 0)
            continue
        at_most = np.floor((r * math.sqrt(drawn) + drawn) / 2)
        share = bdtr(np.clip(at_most, 0, drawn), drawn, 0.5)
        below += weight * np.where(at_most < 0, 0.0, share)
    return NullHistogram(edges=edges, mass=np.diff(below))


def count_replicates(replicates: ArrayLike, edges: NDArray[np.float64]) -> NullHistogram:
    """Return the histogram of replicates of t, shape (S,), infinite ones included in S."""
    drawn = np.asarray(replicates, dtype=np.float64)
    found, _ = np.histogram(drawn[np.isfinite(drawn)], bins=edges)
    return NullHistogram(edges=edges, mass=found / drawn.size)


# Null tables: tables of differences between two versions that are equally accurate.
#
# The model. Of the difference A - B only the sign and whether it is 0 matter to tests of paired
# outcomes. Under H0 a difference is +1 or -1 with probability psi/2 each and 0 otherwise.
# Dependence is made by copying (Lunn and Davies 1998): an observation takes, with probability
# sqrt(icc), the difference that its cluster drew, and else one of its own, so two observations of
# one cluster have correlation icc and each keeps its law. Classifiers are tied in the same way:
# what the cluster or the observation draws for classifier m is, with probability sqrt(r), a draw
# that all classifiers share, so two classifiers have correlation r on one observation.
#
# Scores. A difference is 0 with probability 1 - psi, else it follows Student's law with so many
# degrees of freedom: few differences are large, as those of probabilities and losses are. Or it
# is skewed: a lognormal variable about its mean. It is the quantile of that mixture at Phi(Z), Z
# being standard normal; dependence is that of the Z. With u, v for the correlations of Z within a
# cluster and of two classifiers, observation i of cluster c and classifier m has
#
#     Z = sqrt(u) (sqrt(v) C[c] + sqrt(1 - v) C[c, m])
#         + sqrt(1 - u) (sqrt(v) E[i] + sqrt(1 - v) E[i, m])
#
# with independent standard normal C and E. The correlation of two differences is a function of
# that of their Z, sum(a_k**2 * u**k) / sum(a_k**2) with the Hermite coefficients a_k of the
# quantile (Cario and Nelson 1997, "NORTA"); u and v are those that give the correlations asked
# for.
#
# Scores can also be drawn from differences that were observed: those that are not 0 are centred,
# and rows, or whole clusters of rows, are drawn with replacement.

# Streams of Philox, one for each thing that is drawn; _TESTS in simulation.py is another.
_INDEPENDENT, _DEPENDENT, _SCORES, _OBSERVED = 48, 49, 51, 52


def draw_null_differences(
    n: int,
    discordance: float,
    *,
    clusters: ArrayLike | None = None,
    icc: float = 0.0,
    n_classifiers: int = 1,
    classifier_correlation: float = 0.0,
    rng: Rng = 0,
    table: int = 0,
) -> NDArray[np.int8]:
    """Draw the differences A - B of one null table.

    Parameters
    ----------
    n, discordance, clusters, icc, n_classifiers, classifier_correlation, rng
        As for :func:`simulate`.
    table
        Which table; it depends on this and on ``rng`` only, if that is a number.

    Returns
    -------
    ndarray of int8, shape (n, n_classifiers)
        +1, -1 and 0.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    tables = NullTables.of(
        n,
        discordance,
        clusters=clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        rng=rng,
        table=table,
    )
    return tables.draw_differences(table)


def draw_null_scores(
    n: int,
    discordance: float,
    *,
    df: float = DEFAULT_DF,
    skew: float | None = None,
    clusters: ArrayLike | None = None,
    icc: float = 0.0,
    n_classifiers: int = 1,
    classifier_correlation: float = 0.0,
    rng: Rng = 0,
    table: int = 0,
) -> NDArray[np.float64]:
    """Draw the differences of the scores of one null table.

    Parameters
    ----------
    df, skew
        As for :func:`simulate`.
    n, discordance, clusters, icc, n_classifiers, classifier_correlation, rng, table
        As for :func:`draw_null_differences`, and errors likewise.

    Returns
    -------
    ndarray of float64, shape (n, n_classifiers)
        Original minus transformed.
    """
    tables = NullTables.of(
        n,
        discordance,
        clusters=clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        rng=rng,
        table=table,
    )
    return tables.score_drawer(df, skew)(table)


@dataclass(frozen=True, kw_only=True, eq=False)
class NullTables:
    """The setting of null tables, which draws them one by one."""

    n: int
    n_classifiers: int
    """Rows and columns of a table."""
    discordance: float
    """As for :func:`ietest_fast.stats.simulate`."""
    codes: NDArray[np.int64] | None
    """Shape (n,), the cluster of each row; None for independent observations."""
    n_clusters: int
    """How many clusters there are; n without any."""
    icc: float
    classifier_correlation: float
    seed: int
    """As for :func:`ietest_fast.stats.simulate`."""

    @classmethod
    def of(
        cls,
        n: int,
        discordance: float,
        *,
        clusters: ArrayLike | None,
        icc: float,
        n_classifiers: int,
        classifier_correlation: float,
        rng: Rng,
        **counts: int,
    ) -> NullTables:
        """Check what describes null tables; ``counts`` are further numbers of things."""
        _check_range(
            n, discordance, icc, classifier_correlation, n_classifiers=n_classifiers, **counts
        )
        codes, n_clusters = (None, n) if clusters is None else as_clusters(clusters, n)
        if codes is None and icc > 0:
            raise InputError("a correlation within clusters needs clusters")
        return cls(
            n=n,
            n_classifiers=n_classifiers,
            discordance=discordance,
            codes=codes,
            n_clusters=n_clusters,
            icc=icc,
            classifier_correlation=classifier_correlation,
            seed=seed_of(rng),
        )

    def draw_counts(self, n_tables: int) -> NDArray[np.int64]:
        """Draw n10, n01 and the other pairs of independent tables, shape (n_tables, 3)."""
        psi = self.discordance
        law = np.array([psi / 2, psi / 2, 1 - psi])
        counts: NDArray[np.int64] = core.random.multinomials(
            philox_key(self.seed), _INDEPENDENT, self.n, law, n_tables
        )
        return counts

    def draw_differences(self, table: int) -> NDArray[np.int8]:
        """Draw the differences of one table, shape (n, n_classifiers)."""
        m, r = self.n_classifiers, self.classifier_correlation
        rng = _generator(self.seed, table, _DEPENDENT)

        def draw(rows: int) -> NDArray[np.int8]:
            own = _signs(rng.random((rows, m)), self.discordance)
            if m == 1 or r == 0:
                return own
            shared = _signs(rng.random((rows, 1)), self.discordance)
            return np.where(rng.random((rows, m)) < math.sqrt(r), shared, own)

        own = draw(self.n)
        if self.codes is None or self.icc == 0:
            return own
        of_cluster = draw(self.n_clusters)
        return np.where(rng.random((self.n, 1)) < math.sqrt(self.icc), of_cluster[self.codes], own)

    def score_drawer(
        self, df: float, skew: float | None = None
    ) -> Callable[[int], NDArray[np.float64]]:
        """Return the function that draws the differences of the scores of a table."""
        law: ScoreLaw = StudentLaw(self.discordance, df)
        if skew is not None:
            law = LognormalLaw(self.discordance, skew)
        m = self.n_classifiers
        # Of the Z; to find them takes longer than to draw a table.
        within, between = law.latent(self.icc), law.latent(self.classifier_correlation)

        def draw_table(table: int) -> NDArray[np.float64]:
            rng = _generator(self.seed, table, _SCORES)

            def draw(rows: int) -> NDArray[np.float64]:
                own = rng.standard_normal((rows, m))
                if m == 1 or between == 0:
                    return own
                shared = rng.standard_normal((rows, 1))
                return math.sqrt(between) * shared + math.sqrt(1 - between) * own

            z = draw(self.n)
            if self.codes is not None and within > 0:
                of_cluster = draw(self.n_clusters)[self.codes]
                z = math.sqrt(within) * of_cluster + math.sqrt(1 - within) * z
            return law.quantile(z)

        return draw_table


@in_one_order
def intra_cluster_correlation(values: ArrayLike, clusters: ArrayLike) -> float:
    """Estimate the correlation of two values of one cluster by analysis of variance.

    With mean squares B between and W within C clusters of sizes n_c,
    ``(B - W) / (B + (n0 - 1) W)``, where ``n0 = (n - sum(n_c**2) / n) / (C - 1)``
    (Donner and Koval 1980).

    Parameters
    ----------
    values
        Shape (n,), for paired data the differences A - B.
    clusters
        Shape (n,), labels.

    Returns
    -------
    float
        At least 0: negative estimates are set to 0. 0 if all values are equal or every cluster has
        one observation only.

    Raises
    ------
    InputError
        If the lengths differ or values are missing.
    """
    x = as_column(values, "values").astype(np.float64)
    codes, n_clusters = as_clusters(clusters, x.size)
    sizes = np.bincount(codes, minlength=n_clusters)
    if n_clusters == x.size:
        return 0.0
    x, _ = to_squarable(x)
    means = np.bincount(codes, weights=x, minlength=n_clusters) / sizes
    between = float((sizes * (means - x.mean()) ** 2).sum()) / (n_clusters - 1)
    within = float(((x - means[codes]) ** 2).sum()) / (x.size - n_clusters)
    n0 = (x.size - float((sizes**2).sum()) / x.size) / (n_clusters - 1)
    spread = between + (n0 - 1) * within
    return max(0.0, (between - within) / spread) if spread > 0 else 0.0


class ObservedTables:
    """Null tables of scores, drawn from differences that were observed.

    Differences of 0 stay, the others are centred: their mean is 0, and so is that of all.
    """

    def __init__(self, differences: ArrayLike, *, clusters: ArrayLike | None, rng: Rng) -> None:
        values = as_array(differences, "differences")
        if values.ndim not in (1, 2):
            raise InputError("differences must have shape (n,) or (n, n_classifiers)")
        columns = [as_scores(column, "differences") for column in np.atleast_2d(values.T)]
        observed = np.column_stack(columns)
        if observed.shape[0] < 2:
            raise InputError(f"a paired test needs at least two pairs, not {observed.shape[0]}")
        self.discordance = float((observed != 0).mean())
        for column in observed.T:
            has_difference = column != 0
            column[has_difference] -= column[has_difference].mean() if has_difference.any() else 0
        self.n, self.n_classifiers = int(observed.shape[0]), int(observed.shape[1])
        self.seed = seed_of(rng)
        self.codes: NDArray[np.int64] | None = None
        self.n_clusters = self.n
        self._observed = observed
        if clusters is not None:
            self.codes, self.n_clusters = as_clusters(clusters, self.n)
            order = np.argsort(self.codes, kind="stable")
            self._rows = np.split(order, np.cumsum(np.bincount(self.codes))[:-1])

    def draw(self, table: int) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
        """Draw the differences of one table, shape (n', n_classifiers), and its clusters."""
        rng = _generator(self.seed, table, _OBSERVED)
        drawn = rng.integers(0, self.n_clusters, self.n_clusters)
        if self.codes is None:
            return self._observed[drawn], None
        rows = [self._rows[cluster] for cluster in drawn]
        codes = np.repeat(np.arange(self.n_clusters), [each.size for each in rows])
        return self._observed[np.concatenate(rows)], codes


def _generator(seed: int, table: int, stream: int) -> np.random.Generator:
    start = np.array([0, table, stream, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=philox_key(seed), counter=start))


def _signs(u: NDArray[np.float64], psi: float) -> NDArray[np.int8]:
    return (u < psi / 2).astype(np.int8) - (u >= 1 - psi / 2).astype(np.int8)


def check_count(name: str, count: int) -> None:
    """Refuse a number of things that is no integer or too small, as an :class:`InputError`."""
    if not is_integer(count):
        raise InputError(f"{name} must be an integer, not {count!r}")
    least = 0 if name == "table" else 1
    if count < least:
        raise InputError(f"{name} must be {least} or more, not {count}")


def _check_range(n: int, psi: float, icc: float, r: float, **counts: int) -> None:
    if not is_integer(n):
        raise InputError(f"n must be an integer, not {n!r}")
    if n < 2:
        raise InputError(f"a paired test needs at least two pairs, not {n}")
    for name, count in counts.items():
        check_count(name, count)
    for name, value in (
        ("the discordance", psi),
        ("the correlation within clusters", icc),
        ("the correlation of classifiers", r),
    ):
        check_between(value, name, 0, 1, with_ends=True)
