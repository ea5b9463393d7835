"""The bootstrap paired t-test on binary outcomes whose observations come in clusters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ietest_fast.runtime import core
from ietest_fast.stats.inputs import as_clusters, as_outcomes, check_lengths
from ietest_fast.stats.matched import PairedCounts, format_t
from ietest_fast.stats.resampling import (
    FEW_UNITS,
    Alternative,
    check_options,
    design_effect,
    sort_into_types,
    sum_clusters,
)
from ietest_fast.stats.result import Result, format_p
from ietest_fast.stats.scores import run_score_test


@dataclass(frozen=True, kw_only=True)
class ClusteredTestResult(Result):
    """Outcome of :func:`clustered_test`.

    Attributes
    ----------
    counts
        The pairs of outcomes, clusters aside.
    n_clusters
        C.
    n_nonzero
        Clusters in which the two versions are not right equally often; the others cancel out.
    n_types
        Number of different values that abs(sum of differences) takes over clusters, 0 left out.
    t
        The paired t of the C cluster sums.
    t_independent
        The paired t of the n pairs, as if they were independent.
    p_value
        ``min(1, 2 min(P(t* <= t), P(t* >= t)))``, or one of the two tails, each tail as
        (c+1)/(S+1). Decides.
    p_paper
        Eq. 14 to the letter, tails as c/S; None for a one-sided alternative.
    p_symmetric
        P(abs(t*) >= abs(t)) as (c+1)/(S+1).
    p_independent
        The exact p-value of the test on independent pairs, for comparison.
    design_effect
        Variance of delta by clusters over its variance by independent pairs, both around delta.
        Above 1 the test on independent pairs rejects too often. None if there is no variance.
    alternative, n_resamples, seed
        As asked for.
    """

    counts: PairedCounts
    n_clusters: int
    n_nonzero: int
    n_types: int
    t: float
    t_independent: float
    p_value: float
    p_paper: float | None
    p_symmetric: float
    p_independent: float
    design_effect: float | None
    alternative: Alternative
    n_resamples: int
    seed: int

    title = "Paired bootstrap t-test by clusters"

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.counts.n

    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.counts.delta

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        if not 0 < self.n_nonzero < FEW_UNITS:
            return None
        return (
            f"the two versions differ in only {self.n_nonzero} clusters: below {FEW_UNITS} the "
            "bootstrap test is a little liberal"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del fields["counts"]
        return {
            "n": self.n,
            **asdict(self.counts),
            "delta": self.delta,
            **fields,
            "warning": self.warning,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        effect = "none" if self.design_effect is None else f"{self.design_effect:.3f}"
        return [
            ("pairs", f"{self.n:,} in {self.n_clusters:,} clusters"),
            ("accuracy, original", f"{self.counts.accuracy_original:.4f}"),
            ("accuracy, transformed", f"{self.counts.accuracy_transformed:.4f}"),
            ("delta", f"{self.delta:+.4f}"),
            ("t", format_t(self.t)),
            (f"p ({self.alternative})", format_p(self.p_value)),
            ("p, as if independent", format_p(self.p_independent)),
            ("design effect", effect),
            ("resamples", f"{self.n_resamples:,} (seed {self.seed})"),
        ]

    def remarks(self) -> list[str]:
        """Give the warning, if there is one."""
        return [] if self.warning is None else [f"Warning: {self.warning}."]


def clustered_test(
    original: Any,
    transformed: Any,
    clusters: Any,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 10_000,
    seed: int = 0,
    n_threads: int | None = None,
) -> ClusteredTestResult:
    """Test whether a classifier is equally often right on two versions, with clustered texts.

    Texts that share a premise, an annotator or a document are right and wrong together more often
    than others. Drawing single pairs overlooks that and rejects too often. Here whole clusters
    are drawn with replacement and swapped with probability 1/2, and t is studentised by clusters:
    with D_c the sum of A - B over cluster c, D their sum and Q the sum of their squares,
    t = D / sqrt(Q - D**2 / C), which is eq. 12 and 13 on the C cluster sums. No assumption is made
    on the dependence within clusters or on their sizes; clusters must be independent of each
    other.

    Parameters
    ----------
    original, transformed
        Shape (n,), bool or numbers 0 and 1: is the classifier right?
    clusters
        Shape (n,), labels; at least two different ones.
    alternative
        ``two-sided``; ``greater``: the original fares better; ``less``: it fares worse.
    n_resamples
        S.
    seed
        0 or more. Results depend on it and on nothing else.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    ClusteredTestResult

    Raises
    ------
    InputError
        If a value is missing or neither 0 nor 1, lengths differ, n < 2, there are fewer than two
        clusters, or an option is none.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import clustered_test
    >>> premise = np.repeat(np.arange(100), 3)
    >>> original = np.ones(300, dtype=bool)
    >>> rephrased = premise % 10 != 0  # wrong on all three texts of every tenth premise
    >>> result = clustered_test(original, rephrased, premise)
    >>> round(result.t, 3), round(result.t_independent, 3), round(result.design_effect, 2)
    (3.333, 5.774, 3.02)
    """
    check_options(alternative=alternative, n_resamples=n_resamples, seed=seed, n_threads=n_threads)
    a = as_outcomes(original, "original")
    b = as_outcomes(transformed, "transformed")
    n = check_lengths(original=a, transformed=b)
    codes, n_clusters = as_clusters(clusters, n)
    counts = PairedCounts.from_outcomes(a, b)
    before, after = (outcomes.astype(np.float64)[:, None] for outcomes in (a, b))
    types = sort_into_types(sum_clusters(before, after, codes, n_clusters))
    outcome = run_score_test(
        types,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        levels=(),
        keep_replicates=False,
        n_threads=n_threads,
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
        p_independent=_exact_p(counts, alternative),
        design_effect=design_effect((before - after)[:, 0], codes, n_clusters),
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
    )


def _exact_p(counts: PairedCounts, alternative: Alternative) -> float:
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    if alternative == "two-sided":
        p: float = core.stats.exact_p_values(*four)[0]
        return p
    at_least, above, *_ = core.stats.exact_tails(*four)  # beyond abs(t); the law is symmetric
    is_ahead = counts.d >= 0 if alternative == "greater" else counts.d <= 0
    return float(at_least) if is_ahead else 1 - float(above)
