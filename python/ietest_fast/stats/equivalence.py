"""Not rejecting is not invariance: two one-sided tests against a margin, and a verdict."""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.equivalence_result import EquivalenceResult, Verdict
from ietest_fast.stats.few_discordant import exact_equivalence_p
from ietest_fast.stats.inputs import (
    as_clusters,
    as_scores,
    check_between,
    check_lengths,
    in_one_order,
    is_number,
)
from ietest_fast.stats.intervals import FEW_TELLING, Clustering, Differences, Interval
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, read_pairs
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES, FEW_DISCORDANT, outcome_test
from ietest_fast.stats.resampling import RELATIVE_ROUNDING, check_options, monte_carlo_p
from ietest_fast.stats.score_intervals import invert_tango, tango_score
from ietest_fast.stats.seeds import Rng, seed_of
from ietest_fast.stats.studentised import StudentisedUnits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.stats.studentised import NullLaw

# A margin is held to lie at most so many standard errors from 0.
_FARTHEST = 2.0**200

__all__ = ["EquivalenceResult", "Verdict", "equivalence_test"]


@in_one_order
def equivalence_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    clusters: Any = None,
    margin: float = 0.01,
    alpha: float = 0.05,
    scores: bool = False,
    p_difference: float | None = None,
    null: NullLaw | None = None,
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> EquivalenceResult:
    r"""Test whether the difference of two versions is smaller than a margin (TOST).

    Two one-sided tests (Schuirmann 1987) of H0: delta <= -margin and H0: delta >= margin, each at
    level alpha. On outcomes both are Tango's (1998) score test,

    .. math:: p = \max\bigl(1 - \Phi(T(-\epsilon)),\ \Phi(T(\epsilon))\bigr);

    on real-valued scores both are Student's paired t-test with n - 1 degrees of freedom, or, where
    differences are skewed, tests by the studentised bootstrap as in :func:`paired_test`.

    With C clusters the statistics are divided by the root of the design effect (Rao and Scott
    1992), the variance of delta over clusters against that over independent pairs, and compared
    with Student's law with C - 1 degrees of freedom. The design effect is taken for 1 at least,
    and for the size of the largest cluster, a bound, where fewer than 25 clusters hold a
    discordant pair.
    The studentised bootstrap draws clusters instead, and studentises delta as a ratio.

    Parameters
    ----------
    sample
        Counts, a matched sample, or the column of the originals, shape (n,).
    transformed
        The column of the transformed texts, shape (n,), if ``sample`` is a column. Columns are
        outcomes or scores by the rule of :func:`paired_test`.
    clusters
        Shape (n,), the cluster of each pair. Needs a matched sample or two columns.
    margin
        Differences smaller than this do not matter; below 1 for outcomes, in the scores' unit
        else. Fix it before you look at the data.
    alpha
        In (0, 0.5).
    scores
        Take the columns for scores even if they hold nothing but 0 and 1.
    p_difference
        The p-value of a test of delta = 0 that you report beside this one, such as
        ``paired_test(...).pvalue``: the verdict then goes by it, and no second p-value of the same
        hypothesis appears. Computed if not given.
    null
        The null law of scores, ``symmetric`` (Student's t) or ``studentised``; None for the one
        that fits, as in :func:`paired_test`.
    n_resamples
        S of the studentised bootstrap; 10,000 if not given. No p-value lies below 1 / (S + 1).
    rng
        See :func:`paired_test`; for the studentised bootstrap.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    InputError
        If a column holds no numbers, the columns differ in length, clusters or ``scores`` come
        with counts, margin, alpha or an option are out of their range, or ``null`` comes with
        outcomes.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, equivalence_test
    >>> print(equivalence_test(PairedCounts(8000, 52, 48, 1900)).verdict)
    equivalent within margin
    >>> result = equivalence_test(PairedCounts(760, 42, 38, 160))
    >>> print(result.verdict, round(result.p_value, 4), round(result.p_difference, 4))
    undecided 0.2519 0.6603
    """
    check_between(alpha, "alpha", 0, 0.5)
    if p_difference is not None:
        check_between(p_difference, "p_difference", 0, 1, with_ends=True)
    if not is_number(margin) or not 0 < margin <= sys.float_info.max:
        raise InputError(f"the margin must be a positive number, not {margin!r}")
    drawn = DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples
    check_options(alternative="two-sided", n_resamples=drawn, n_threads=n_threads)
    pairs = read_pairs(sample, transformed, clustered=clusters is not None, scores=scores)
    if null is not None and (isinstance(pairs, PairedCounts) or not pairs.are_scores):
        raise InputError(
            "null names the null law of scores; these are outcomes. Say scores=True to take them "
            "for scores"
        )
    if isinstance(pairs, PairedCounts):
        return _test_counts(pairs, None, margin, alpha, p_difference)
    a, b = as_scores(pairs.original, "original"), as_scores(pairs.transformed, "transformed")
    check_lengths(original=a, transformed=b)
    differences = Differences.of(a - b)
    codes: NDArray[np.int64] | None = None
    clustering, n_clusters = None, None
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, a.size)
        clustering = Clustering.of_codes(differences, codes, n_clusters)
    if not pairs.are_scores:
        return _test_counts(counts_of(a, b), clustering, margin, alpha, p_difference)
    units = StudentisedUnits.of(differences, codes, n_clusters)
    law = units.choose(null)
    unit = "pairs" if clusters is None else "clusters"
    warning = units.warn(law, unit=unit)
    result = _test_scores(differences, clustering, margin, alpha, p_difference)
    warning = warning or result.warning
    if law == "symmetric":
        return replace(result, null=law, warning=warning)
    return replace(
        _studentise(
            result,
            units,
            is_given=p_difference is not None,
            n_resamples=drawn,
            seed=seed_of(rng),
            n_threads=n_threads,
        ),
        warning=warning,
    )


def _test_counts(
    counts: PairedCounts,
    clustering: Clustering | None,
    margin: float,
    alpha: float,
    p_difference: float | None,
) -> EquivalenceResult:
    if margin >= 1:
        raise InputError(f"the margin of a difference of accuracies lies below 1, not at {margin}")
    variance = max(0.0, counts.discordance_rate - counts.delta**2)
    root = 1.0
    tail: Callable[[float], float] = _normal_tail
    quantile = -NormalDist().inv_cdf(alpha)
    if clustering is not None:
        from scipy.special import stdtr, stdtrit

        df = clustering.n - 1
        root = math.sqrt(clustering.cautious_effect)
        quantile = -float(stdtrit(df, alpha))
        tail = functools.partial(_student_tail, stdtr, df)

    lower, upper = (tango_score(counts, side * margin) / root for side in (-1, 1))
    p_lower, p_upper = tail(lower), tail(-upper)
    if clustering is None and counts.k < FEW_DISCORDANT:
        p_lower = exact_equivalence_p(counts.n, counts.n01, counts.n10, margin)
        p_upper = exact_equivalence_p(counts.n, counts.n10, counts.n01, margin)
    elif clustering is not None and clustering.n_telling < FEW_TELLING:
        p_lower = max(p_lower, _cautious_p(counts.n, counts.n01, counts.n10, clustering, margin))
        p_upper = max(p_upper, _cautious_p(counts.n, counts.n10, counts.n01, clustering, margin))
    if p_difference is None and clustering is None:
        p_difference = outcome_test(counts).p_value
    elif p_difference is None:
        p_difference = min(1.0, 2 * tail(abs(tango_score(counts, 0.0)) / root))
    return EquivalenceResult(
        n=counts.n,
        n_clusters=None if clustering is None else clustering.n,
        design_effect=None if clustering is None else clustering.cautious_effect,
        counts=counts,
        delta=counts.delta,
        margin=margin,
        alpha=alpha,
        interval=invert_tango(counts, quantile * root),
        statistic_lower=lower,
        statistic_upper=upper,
        p_lower=p_lower,
        p_upper=p_upper,
        p_value=max(p_lower, p_upper),
        p_difference=p_difference,
        standard_error=root * math.sqrt(variance / counts.n),
    )


def _cautious_p(n: int, n10: int, n01: int, clustering: Clustering, margin: float) -> float:
    """Compute the exact p-value of as many pairs as there would be largest clusters, rounded up."""
    effect = clustering.largest_effect * (1 - 1e-12)
    size = max(2, int(n / effect))
    against = min(size, math.ceil(n10 / clustering.largest_effect - 1e-9))
    return exact_equivalence_p(size, against, min(size - against, int(n01 / effect)), margin)


def _test_scores(
    differences: Differences,
    clustering: Clustering | None,
    margin: float,
    alpha: float,
    p_difference: float | None,
) -> EquivalenceResult:
    from scipy.special import stdtr, stdtrit

    n = differences.values.size
    mean, exponent = differences.mean, differences.exponent
    error = differences.standard_error(clustering)
    df = (n if clustering is None else clustering.n) - 1
    with np.errstate(over="ignore"):  # differences of 1e-310 are nothing beside any margin
        edge = float(np.ldexp(margin, -exponent))

    def t_at(delta0: float) -> float:
        gap = mean - delta0
        if error > 0:
            return gap / error
        # Rounding errors must not decide on which side of the margin a constant lies.
        return 0.0 if abs(gap) <= RELATIVE_ROUNDING * abs(mean) else math.copysign(math.inf, gap)

    def tail(t: float) -> float:
        """P(T >= t); without any variance, P(as many fair coins fall alike)."""
        if error == 0:
            return 0.5 ** (df + 1) if t > 0 else 1.0
        return float(stdtr(df, -t))

    lower, upper = t_at(-edge), t_at(edge)
    p_lower, p_upper = tail(lower), tail(-upper)
    if p_difference is None:
        p_difference = min(1.0, 2 * tail(abs(t_at(0.0))))
    warning = None
    if error == 0:
        units = n if clustering is None else n / clustering.largest_effect
        p_lower = max(p_lower, _missed(float(np.ldexp(mean, exponent)) + margin, units))
        p_upper = max(p_upper, _missed(margin - float(np.ldexp(mean, exponent)), units))
        warning = (
            "all differences are equal, so nothing tells how much they vary: rare differences of "
            "more than 1 could hide more than the p-value says"
        )
    half = -float(stdtrit(df, alpha)) * error
    with np.errstate(over="ignore"):  # an interval may be infinite where a score may not
        low, delta, high, error_of_delta = np.ldexp(
            [mean - half, mean, mean + half, error], exponent
        ).tolist()
    return EquivalenceResult(
        n=n,
        n_clusters=None if clustering is None else clustering.n,
        design_effect=None if clustering is None else clustering.design_effect,
        counts=None,
        delta=delta,
        margin=margin,
        alpha=alpha,
        interval=Interval(low, high),
        statistic_lower=lower,
        statistic_upper=upper,
        p_lower=p_lower,
        p_upper=p_upper,
        p_value=max(p_lower, p_upper),
        p_difference=p_difference,
        standard_error=error_of_delta,
        warning=warning,
    )


def _missed(gap: float, n: float) -> float:
    """Return P(n equal differences) if a share of the gap's size differs by 1 from the rest.

    With clusters, n is how many of the largest one make all pairs: a bound, whichever differ.
    """
    return (1 - gap) ** n if 0 < gap < 1 else 0.0


def _studentise(
    result: EquivalenceResult,
    units: StudentisedUnits,
    *,
    is_given: bool,
    n_resamples: int,
    seed: int,
    n_threads: int | None,
) -> EquivalenceResult:
    """Put the studentised bootstrap in the place of Student's t; ``is_given``: p_difference is."""
    with np.errstate(over="ignore"):
        edge = min(float(np.ldexp(result.margin, -units.exponent)), sys.float_info.max)
    if units.error > 0:  # beyond, t is all that is wanted, and squares must not overflow
        edge = min(edge, _FARTHEST * units.error)
    options: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "n_threads": n_threads}
    ((_, above_lower), (below_upper, _), on_zero), _ = units.count_tails(
        [-edge, edge, 0.0], **options
    )
    p_lower = monte_carlo_p("greater", 0, above_lower, n_resamples)
    p_upper = monte_carlo_p("less", below_upper, 0, n_resamples)
    interval = Interval(*units.interval(result.alpha, **options))
    # H0 holds every mean beyond the margin. With few differences one further out may be kept.
    if interval.low <= -result.margin:
        p_lower = max(p_lower, result.alpha)
    if interval.high >= result.margin:
        p_upper = max(p_upper, result.alpha)
    return replace(
        result,
        interval=interval,
        statistic_lower=units.t_of(-edge),
        statistic_upper=units.t_of(edge),
        p_lower=p_lower,
        p_upper=p_upper,
        p_value=max(p_lower, p_upper),
        p_difference=result.p_difference
        if is_given
        else monte_carlo_p("two-sided", *on_zero, n_resamples),
        null="studentised",
        n_resamples=n_resamples,
        seed=seed,
    )


def _student_tail(distribution: Callable[[int, float], float], df: int, t: float) -> float:
    return float(distribution(df, -t))


def _normal_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))
