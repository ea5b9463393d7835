"""The bootstrap paired t-test on binary outcomes whose observations come in clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, format_t
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    as_outcomes,
    check_cost,
    check_lengths,
    seed_of,
)
from ietest_fast.stats.intervals import Clustering, Differences, invert_tango, upper_level
from ietest_fast.stats.laws.integer import tails_of_sum
from ietest_fast.stats.matched import OfCounts, PairedCounts, describe_counts
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES, outcome_test
from ietest_fast.stats.resampling import (
    FEW_UNITS,
    Alternative,
    check_options,
    design_effect,
    sort_into_types,
    sum_clusters,
    warn_of_large_units,
)
from ietest_fast.stats.result import PairedResult, list_fields
from ietest_fast.stats.scores import histogram_of_types, run_score_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.intervals import Interval
    from ietest_fast.stats.laws.null import NullHistogram
    from ietest_fast.stats.outcomes import Method
    from ietest_fast.stats.resampling import UnitTypes


@dataclass(frozen=True, kw_only=True)
class ClusteredTestResult(OfCounts, PairedResult):
    """Outcome of :func:`clustered_test`."""

    counts: PairedCounts
    """The pairs of outcomes, clusters aside."""
    n_clusters: int
    """C."""
    n_nonzero: int
    """Clusters in which the two versions are not right equally often; the others cancel out."""
    n_types: int
    """Number of different values that abs(sum of differences) takes over clusters, 0 left out."""
    t: float
    """The paired t of the C cluster sums."""
    t_independent: float
    """The paired t of the n pairs, as if they were independent."""
    p_value: float
    """Decides. By the exact law the mid-p: the probability of a sum farther out, and half of that
    of the same sum. Among replicates ``min(1, 2 min(P(t* <= t), P(t* >= t)))``, or one of the two
    tails, each tail as (c+1)/(S+1)."""
    p_paper: float | None
    """Eq. 14 to the letter, tails as c/S; None by the exact law, and for a one-sided
    alternative."""
    p_symmetric: float
    """P(abs(t*) >= abs(t)), ties in full: exact, or as (c+1)/(S+1)."""
    p_independent: float
    """The exact p-value of the test on independent pairs, for comparison."""
    design_effect: float | None
    """Variance of delta by clusters over its variance by independent pairs, both around delta.
    Above 1 the test on independent pairs rejects too often. None if there is no variance."""
    alternative: Alternative
    method: Literal["exact", "resample"]
    n_resamples: int | None
    seed: int | None
    """As asked for; None by the exact law."""
    variance_factor: float
    """What the interval's variance is multiplied by: the design effect, at least 1."""
    types: UnitTypes = field(repr=False, compare=False)
    """What replicates are drawn of."""

    title = "Paired test by clusters"

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        if self.n_nonzero >= FEW_UNITS or not self.n_nonzero:
            return warn_of_large_units(float(self.types.n_deciding[0]), "clusters")
        if self.method == "exact":  # which is right for few, if their versions are exchangeable
            return None
        return (
            f"the two versions differ in only {self.n_nonzero} clusters: below {FEW_UNITS} the "
            "bootstrap test may reject too often"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        fields = list_fields(self, "counts", "variance_factor", "types")
        return describe_counts(self.counts) | fields | {"warning": self.warning}

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        effect = "none" if self.design_effect is None else f"{self.design_effect:.3f}"
        return [
            ("pairs", f"{self.n:,} in {self.n_clusters:,} clusters"),
            ("accuracy, original", f"{self.counts.accuracy_original:.4f}"),
            ("accuracy, transformed", f"{self.counts.accuracy_transformed:.4f}"),
            ("delta", f"{self.delta:+.4f}"),
            ("t", format_t(self.t)),
            (f"p ({self.alternative})", format_p(self.p_value, floor=self.p_floor)),
            ("p, as if independent", format_p(self.p_independent)),
            ("design effect", effect),
            ("method", "exact")
            if self.n_resamples is None
            else ("resamples", f"{self.n_resamples:,} (seed {self.seed})"),
        ]

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return Tango's interval of delta with the variance of clusters (Rao and Scott 1992).

        Student's quantile with C - 1 degrees of freedom; one-sided where the alternative is.
        """
        from scipy.special import stdtrit

        level = upper_level(confidence_level, self.alternative)
        quantile = max(0.0, float(stdtrit(self.n_clusters - 1, level)))
        interval = invert_tango(self.counts, quantile * math.sqrt(self.variance_factor))
        return interval.one_sided(self.alternative, 1.0)

    def null_law(self) -> NullHistogram:
        """Return the law of t under H0 in bins, of up to 100,000 of the same replicates."""
        drawn = DEFAULT_N_RESAMPLES if self.n_resamples is None else self.n_resamples
        return histogram_of_types(self.types, n_resamples=drawn, seed=self.seed or 0)


def clustered_test(
    original: Any,
    transformed: Any,
    clusters: Any,
    *,
    alternative: Alternative = "two-sided",
    method: Method | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ClusteredTestResult:
    """Test clustered outcomes; the inside of :func:`ietest_fast.stats.paired_test`.

    Texts that share a premise, an annotator or a document are right and wrong together more often
    than others. Drawing single pairs overlooks that and rejects too often. Here the versions of
    whole clusters are swapped with probability 1/2: with D_c the sum of A - B over cluster c, the
    law of D = sum D_c is that of the sum of +-abs(D_c) with fair coins, and is computed exactly
    (:func:`~ietest_fast.stats.laws.integer.tails_of_sum`). ``resample`` draws clusters with
    replacement besides, as the paper draws pairs, and studentises by clusters: with Q the sum of
    D_c**2, t = D / sqrt(Q - D**2 / C), which is eq. 12 and 13 on the C cluster sums. No assumption
    is made on the dependence within clusters or on their sizes; clusters must be independent of
    each other, and their versions exchangeable under H0.
    """
    used = _choose_method(method, n_resamples)
    drawn = DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples
    check_options(alternative=alternative, n_resamples=drawn, n_threads=n_threads)
    seed = seed_of(rng)
    a = as_outcomes(original, "original")
    b = as_outcomes(transformed, "transformed")
    n = check_lengths(original=a, transformed=b)
    codes, n_clusters = as_clusters(clusters, n)
    counts = PairedCounts.from_outcomes(a, b)
    before, after = (outcomes.astype(np.float64)[:, None] for outcomes in (a, b))
    types = sort_into_types(sum_clusters(before, after, codes, n_clusters))
    clustering = Clustering.of_codes(Differences.of((before - after)[:, 0]), codes, n_clusters)
    outcome: dict[str, Any]
    if used == "exact":
        sums = np.bincount(codes, weights=(before - after)[:, 0], minlength=n_clusters)
        outcome = _toss_coins(np.rint(sums).astype(np.int64), alternative)
    else:
        check_cost(n_clusters, drawn, method="resample", has_exact_law=True)
        outcome = run_score_test(
            types, alternative=alternative, n_resamples=drawn, seed=seed, n_threads=n_threads
        )
    return ClusteredTestResult(
        counts=counts,
        n_clusters=n_clusters,
        n_nonzero=types.n_nonzero,
        n_types=types.n_types,
        t=float(types.t[0]),
        t_independent=counts.t,
        p_value=outcome["p_value"],
        p_paper=outcome["p_paper"],
        p_symmetric=outcome["p_symmetric"],
        p_independent=outcome_test(counts, alternative=alternative).p_value,
        design_effect=design_effect((before - after)[:, 0], codes, n_clusters),
        alternative=alternative,
        method=used,
        n_resamples=None if used == "exact" else drawn,
        seed=None if used == "exact" else seed,
        variance_factor=clustering.cautious_effect,
        types=types,
    )


def _choose_method(method: Method | None, n_resamples: int | None) -> Literal["exact", "resample"]:
    """Return how clustered outcomes are tested: exactly, unless replicates are asked for."""
    if method == "multinomial":
        raise InputError(
            "clusters are tested by the exact law or resampled; the method 'multinomial' is not "
            "for them"
        )
    if method == "exact" and n_resamples is not None:
        raise InputError(
            "the exact law has no replicates: leave n_resamples out (-S), or choose another method "
            "(method, --method)"
        )
    if method is None:
        return "exact" if n_resamples is None else "resample"
    return method


def _toss_coins(sums: NDArray[np.int64], alternative: Alternative) -> dict[str, Any]:
    """Compute p-values by the law of a sum of numbers, shape (C,), whose signs are fair coins."""
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    observed = int(sums.sum())
    if sizes.size == 0:
        return {"p_value": 1.0, "p_paper": None, "p_symmetric": 1.0}
    coins = [[0.5, 0.5]] * sizes.size
    supports = [[-size, size] for size in sizes.tolist()]

    def beyond(least: int) -> float:
        return tails_of_sum(supports, coins, counts, least)[1]

    farthest = abs(observed)
    there, farther = beyond(farthest), beyond(farthest + 1)
    p = min(1.0, there + farther)
    if alternative != "two-sided":
        own = observed if alternative == "greater" else -observed
        p = (beyond(own) + beyond(own + 1)) / 2
    return {"p_value": p, "p_paper": None, "p_symmetric": min(1.0, 2 * there)}
