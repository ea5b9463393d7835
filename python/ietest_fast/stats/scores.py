"""The bootstrap paired t-test on real-valued scores, by pairs or by clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.random import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import as_clusters, as_scores, check_lengths
from ietest_fast.stats.matched import format_t
from ietest_fast.stats.resampling import (
    FEW_UNITS,
    Alternative,
    UnitTypes,
    check_options,
    check_quantiles,
    monte_carlo_p,
    sort_into_types,
    sum_clusters,
)
from ietest_fast.stats.result import Result, format_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Up to here the replicates are held for their quantiles (8 MB), beyond they are drawn again.
_MAX_HELD = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTestResult(Result):
    """Outcome of :func:`paired_score_test`.

    Attributes
    ----------
    n
        Number of pairs.
    n_clusters
        Number of clusters; None without them.
    mean_original, mean_transformed
        Mean scores.
    delta
        Their difference, original minus transformed.
    t
        Eq. 12 and 13 over the units (pairs, or sums over clusters); 0 if every unit's difference
        is 0, infinite if all are the same otherwise.
    p_value
        ``min(1, 2 min(P(t* <= t), P(t* >= t)))``, or one of the two tails, each tail as
        (c+1)/(S+1). Decides.
    p_paper
        Eq. 14 to the letter, tails as c/S; None for a one-sided alternative.
    p_symmetric
        P(abs(t*) >= abs(t)) as (c+1)/(S+1).
    alternative, n_resamples, seed
        As asked for.
    n_types
        Number of types of units; a replicate costs time in proportion to it.
    n_nonzero
        Units whose difference is not 0.
    replicate_mean, replicate_deviation
        Mean and standard deviation of the replicates t* that are finite (divisor: their number);
        None if none is.
    quantiles
        The quantiles of t* asked for, by level, interpolated as by ``numpy.quantile``. Between an
        infinite and a finite replicate lies the infinite one, between -inf and inf the nearer.
    replicates
        All t*, shape (n_resamples,), if they were to be kept, else None.
    """

    n: int
    n_clusters: int | None
    mean_original: float
    mean_transformed: float
    delta: float
    t: float
    p_value: float
    p_paper: float | None
    p_symmetric: float
    alternative: Alternative
    n_resamples: int
    seed: int
    n_types: int
    n_nonzero: int
    replicate_mean: float | None
    replicate_deviation: float | None
    quantiles: dict[float, float]
    replicates: NDArray[np.float64] | None = None

    title = "Paired bootstrap t-test on scores"

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name, the replicates left out."""
        names = [name for name in self.__dataclass_fields__ if name != "replicates"]
        return {name: getattr(self, name) for name in names} | {"warning": self.warning}

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters:,} clusters"
        lines = [
            ("pairs", f"{self.n:,}{clusters}"),
            ("mean, original", f"{self.mean_original:.6g}"),
            ("mean, transformed", f"{self.mean_transformed:.6g}"),
            ("delta", f"{self.delta:+.6g}"),
            ("t", format_t(self.t)),
            (f"p ({self.alternative})", format_p(self.p_value)),
        ]
        if self.p_paper is not None:
            lines.append(("p, eq. 14", format_p(self.p_paper)))
        lines.append(("resamples", f"{self.n_resamples:,} (seed {self.seed})"))
        lines += [(f"t*, {level:g} quantile", f"{q:.4f}") for level, q in self.quantiles.items()]
        return lines

    def remarks(self) -> list[str]:
        """Give the warning, if there is one."""
        return [] if self.warning is None else [f"Warning: {self.warning}."]

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        if not 0 < self.n_nonzero < FEW_UNITS:
            return None
        unit = "pairs" if self.n_clusters is None else "clusters"
        return (
            f"only {self.n_nonzero} {unit} have a difference other than 0: below {FEW_UNITS} the "
            "bootstrap test is a little liberal"
        )


def paired_score_test(
    original: Any,
    transformed: Any,
    *,
    clusters: Any = None,
    alternative: Alternative = "two-sided",
    n_resamples: int = 10_000,
    seed: int = 0,
    quantiles: Sequence[float] = (),
    keep_replicates: bool = False,
    n_threads: int | None = None,
) -> ScoreTestResult:
    """Test whether scores on two versions of the same texts have the same mean.

    Scores may be any numbers, such as the probability of the gold label or the log-loss. Under H0
    pairs are drawn with replacement and swapped with probability 1/2 (Konietschke and Pauly
    2014), so that a replicate of the difference gets a random sign; t is that of eq. 12 and 13,
    with variance divisor n. With clusters, whole clusters are drawn and swapped, and t is computed
    from the clusters' sums of differences: observations of one cluster may depend on each other
    in any way.

    Parameters
    ----------
    original, transformed
        Shape (n,), numbers; n at least 2. Lists, NumPy, pandas, polars or Arrow columns.
    clusters
        Shape (n,), labels of clusters (premise, annotator, document); None for independent pairs.
    alternative
        ``two-sided``; ``greater``: the original scores higher; ``less``: it scores lower.
    n_resamples
        S.
    seed
        0 or more. Results depend on it and on nothing else.
    quantiles
        Levels in [0, 1] at which quantiles of t* are wanted. They are exact. Above 2**20
        replicates these are drawn again two or three times rather than held.
    keep_replicates
        Whether to keep all t*, 8 bytes each. Else memory does not depend on S.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    ScoreTestResult
        Differences that are all 0 give t = 0 and p = 1; all the same otherwise, an infinite t.

    Raises
    ------
    InputError
        If a score is missing or no finite number, lengths differ, n < 2, there are fewer than two
        clusters, or an option is none.

    Examples
    --------
    >>> from ietest_fast.stats import paired_score_test
    >>> original = [0.91, 0.85, 0.77, 0.64, 0.93, 0.88, 0.71, 0.95]
    >>> rephrased = [0.90, 0.71, 0.79, 0.55, 0.90, 0.80, 0.66, 0.94]
    >>> result = paired_score_test(original, rephrased, n_resamples=100_000)
    >>> round(result.delta, 4), round(result.t, 3)
    (0.0487, 2.823)
    """
    check_options(alternative=alternative, n_resamples=n_resamples, seed=seed, n_threads=n_threads)
    levels = check_quantiles(quantiles)
    a = as_scores(original, "original")
    b = as_scores(transformed, "transformed")
    n = check_lengths(original=a, transformed=b)
    units = (a - b)[:, None]
    n_clusters: int | None = None
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, n)
        units = sum_clusters(a[:, None], b[:, None], codes, n_clusters)
    types = sort_into_types(units)
    outcome = run_score_test(
        types,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        levels=levels,
        keep_replicates=keep_replicates,
        n_threads=n_threads,
    )
    return ScoreTestResult(
        n=n,
        n_clusters=n_clusters,
        mean_original=float(a.mean()),
        mean_transformed=float(b.mean()),
        delta=float(units.sum()) / n,
        t=float(types.t[0]),
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        n_types=types.n_types,
        n_nonzero=types.n_nonzero,
        **outcome,
    )


def run_score_test(
    types: UnitTypes,
    *,
    alternative: Alternative,
    n_resamples: int,
    seed: int,
    levels: tuple[float, ...],
    keep_replicates: bool,
    n_threads: int | None,
) -> dict[str, Any]:
    """Draw the replicates of one column of values and sum them up.

    Returns
    -------
    dict
        ``p_value``, ``p_paper``, ``p_symmetric``, ``replicate_mean``, ``replicate_deviation``,
        ``quantiles`` and ``replicates``, as :class:`ScoreTestResult` has them.
    """
    key = philox_key(seed)
    held = keep_replicates or (bool(levels) and n_resamples <= _MAX_HELD)
    replicates = np.empty(n_resamples, dtype=np.float64) if held else None
    (at_most, at_least, beyond, _), (n_finite, mean, deviation) = core.scores.score_test(
        types.values,
        types.weights,
        n_units=types.n_units,
        sums=types.sums,
        exact=types.exact,
        n_replicates=n_resamples,
        key=key,
        t_replicates=replicates,
        n_threads=n_threads,
    )
    to_sort = replicates
    if replicates is not None and keep_replicates and levels:
        to_sort = replicates.copy()
    p_paper: float | None = None
    if alternative == "two-sided":
        p_paper = 2 * min(at_most, n_resamples - at_most) / n_resamples
        if types.n_types == 0:
            p_paper = 1.0  # every replicate is 0 as well: nothing is left for eq. 14 to measure
    return {
        "p_value": monte_carlo_p(alternative, at_most, at_least, n_resamples),
        "p_paper": p_paper,
        "p_symmetric": (beyond + 1) / (n_resamples + 1),
        "replicate_mean": mean if n_finite else None,
        "replicate_deviation": deviation if n_finite else None,
        "quantiles": _find_quantiles(
            types,
            levels=levels,
            n_resamples=n_resamples,
            key=key,
            replicates=to_sort,
            n_threads=n_threads,
        ),
        "replicates": replicates if keep_replicates else None,
    }


def _find_quantiles(
    types: UnitTypes,
    *,
    levels: tuple[float, ...],
    n_resamples: int,
    key: NDArray[np.uint64],
    replicates: NDArray[np.float64] | None,
    n_threads: int | None,
) -> dict[float, float]:
    """Give quantiles between neighbouring order statistics, as numpy.quantile does by default.

    Replicates that are given are brought into another order.
    """
    if not levels:
        return {}
    places = [level * (n_resamples - 1) for level in levels]
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, n_resamples - 1)
    ranks = np.unique(np.concatenate([below, above]))
    if replicates is not None:
        replicates.partition(ranks)
        found = replicates[ranks]
    else:
        found = core.scores.Replicates(
            types.values,
            types.weights,
            n_units=types.n_units,
            quantity="t",
            n_replicates=n_resamples,
            key=key,
        ).order_statistics(np.zeros(ranks.size, dtype=np.int64), ranks, n_threads=n_threads)
    statistics = dict(zip(ranks.tolist(), found.tolist(), strict=True))
    quantiles = {}
    for level, place, low, high in zip(levels, places, below.tolist(), above.tolist(), strict=True):
        quantiles[level] = _interpolate(statistics[low], statistics[high], place - low)
    return quantiles


def _interpolate(lower: float, upper: float, share: float) -> float:
    """Give the value a share of [0, 1) of the way up; never NaN, though either may be infinite."""
    if share == 0 or lower == upper:
        return lower
    if math.isinf(lower) and math.isinf(upper):
        return lower if share < 0.5 else upper
    if math.isinf(lower):
        return lower
    return lower + (upper - lower) * share
