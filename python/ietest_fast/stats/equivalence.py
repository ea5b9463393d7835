"""Not rejecting is not invariance: two one-sided tests against a margin, and a verdict."""

from __future__ import annotations

import enum
import functools
import math
import sys
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.drawing import axes_or_new, draw_intervals, draw_margin
from ietest_fast.stats.few_discordant import exact_equivalence_p
from ietest_fast.stats.inputs import as_scores, check_lengths
from ietest_fast.stats.intervals import Clustering, Differences, Interval
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, read_pairs
from ietest_fast.stats.outcomes import FEW_DISCORDANT, outcome_test
from ietest_fast.stats.plans import MAX_PLANNED_PAIRS
from ietest_fast.stats.resampling import (
    RELATIVE_ROUNDING,
)
from ietest_fast.stats.result import Result, format_p
from ietest_fast.stats.score_intervals import invert_tango, tango_score
from ietest_fast.stats.verdict_power import first_reaching, pairs_to_decide

if TYPE_CHECKING:
    from collections.abc import Callable


#: The probability of a verdict that ``n_to_decide`` aims at.
POWER_TO_DECIDE = 0.8


class Verdict(enum.StrEnum):
    """What the data show about two versions of the same texts.

    Equal accuracy is less than invariance: ``EQUIVALENT`` is about accuracy alone, ``ALIKE`` says
    that few answers flip, too, and ``CHANGES`` that many do, whatever the accuracies are.
    ``COLLAPSED`` is a verdict on several classifiers alone: none of them learnt anything, so
    nothing can be told.
    """

    DIFFERS = "differs"
    CHANGES = "changes answers"
    ALIKE = "alike within margins"
    EQUIVALENT = "equivalent within margin"
    UNDECIDED = "undecided"
    COLLAPSED = "collapsed"


@dataclass(frozen=True, kw_only=True)
class EquivalenceResult(Result):
    """Outcome of an equivalence test.

    Attributes
    ----------
    n
        Number of pairs.
    n_clusters, design_effect
        Number of clusters and what they do to the variance of delta; None without clusters.
    counts
        The four counts; None for real-valued scores.
    delta
        Mean of original minus transformed: a difference of accuracies, or of mean scores.
    margin
        Differences smaller than this do not matter.
    alpha
        Level of each test.
    interval
        For delta, at confidence 1 - 2 alpha: Tango's, or Student's for scores. The versions are
        equivalent if it lies inside (-margin, margin); with fewer than 25 discordant pairs exact
        p-values decide, which ask for a little more.
    statistic_lower, statistic_upper
        Of H0: delta <= -margin and of H0: delta >= margin; Tango's score, or t for scores.
    p_lower, p_upper
        Their one-sided p-values.
    p_value
        The larger of the two: the p-value of "the difference is at least the margin".
    p_difference
        p-value of H0: delta = 0: the one that was given, or two-sided that of the exact paired
        test, of Student's paired t-test for scores, of the statistic at 0 with clusters.
    standard_error
        Of delta; with divisor n for outcomes and n - 1 for scores, times the root of the design
        effect.
    """

    title = "Equivalence test"

    n: int
    n_clusters: int | None
    design_effect: float | None
    counts: PairedCounts | None
    delta: float
    margin: float
    alpha: float
    interval: Interval
    statistic_lower: float
    statistic_upper: float
    p_lower: float
    p_upper: float
    p_value: float
    p_difference: float
    standard_error: float

    @property
    def equivalent(self) -> bool:
        """Whether both one-sided tests reject: the difference is shown to be below the margin."""
        return self.p_value < self.alpha

    @property
    def differs(self) -> bool:
        """Whether the test of delta = 0 rejects."""
        return self.p_difference < self.alpha

    @property
    def verdict(self) -> Verdict:
        """One of three outcomes.

        Equivalence comes first: a difference that is shown, and shown to be smaller than what
        was said to matter, is equivalence within the margin. ``differs`` stays true beside it.
        """
        if self.equivalent:
            return Verdict.EQUIVALENT
        return Verdict.DIFFERS if self.differs else Verdict.UNDECIDED

    @property
    def n_to_decide(self) -> int | None:
        """How many pairs would give a verdict with probability 80%, were the sample the truth.

        Computed when it is asked for. None unless undecided, if no number up to 100 million would,
        or if the number is no larger than the n that did not decide.
        """
        planned = self._planned
        return None if planned is None or planned <= self.n else planned

    @functools.cached_property
    def _planned(self) -> int | None:
        if self.verdict is not Verdict.UNDECIDED:
            return None
        if self.counts is not None and self.n_clusters is None:
            return pairs_to_decide(
                self.counts, margin=self.margin, alpha=self.alpha, power=POWER_TO_DECIDE
            )
        delta, margin, error = self.delta, self.margin, self.standard_error
        if self.counts is None:  # scores of any size: in a unit in which nothing is infinite or 0
            exponent = math.frexp(max(abs(delta), margin, error))[1]
            delta, margin, error = (math.ldexp(x, -exponent) for x in (delta, margin, error))
        spread = on_zero = on_margin = error * math.sqrt(self.n)
        if self.counts is not None:
            # Tango's variances; psi is at least the margin on its border.
            psi, effect = self.counts.discordance_rate, self.design_effect or 1.0
            on_zero = math.sqrt(effect * psi)
            on_margin = math.sqrt(effect * (max(psi, margin) - margin**2))
        units = self.n if self.n_clusters is None else self.n_clusters
        if self.counts is not None and self.counts.k == 0:
            effect = self.design_effect or 1.0
            return math.ceil(effect * math.log(self.alpha) / math.log1p(-margin))
        return _pairs_to_decide(
            delta,
            spread,
            on_zero=on_zero,
            on_margin=on_margin,
            margin=margin,
            alpha=self.alpha,
            units_per_pair=units / self.n,
        )

    @property
    def explanation(self) -> str:
        """Give the verdict in plain words."""
        margin, p_difference = f"{self.margin:g}", format_p(self.p_difference)
        ends = f"between {self.interval.low:.4g} and {self.interval.high:.4g}"
        if self.verdict is Verdict.EQUIVALENT:
            said = f"Equivalent within {margin}: delta lies {ends} (p = {format_p(self.p_value)})."
            if self.differs:
                said += (
                    f" A difference is there (p = {p_difference}), but it is smaller than the "
                    "margin."
                )
            return said
        if self.verdict is Verdict.DIFFERS:
            beyond = self.interval.low >= self.margin or self.interval.high <= -self.margin
            return (
                f"The versions differ: delta is {self.delta:+.4g} (p = {p_difference}) and lies "
                f"{ends}, {'beyond' if beyond else 'perhaps beyond'} the margin of {margin}."
            )
        said = (
            f"Undecided: neither a difference (p = {p_difference}) nor equivalence within "
            f"{margin} (p = {format_p(self.p_value)}) is shown; delta lies {ends}."
        )
        if self.n_to_decide is not None:
            return f"{said} Some {self.n_to_decide:,} pairs like these would decide (power 80%)."
        if self._planned is not None:
            return f"{said} More pairs may decide; how many cannot be said from these."
        return f"{said} Not even {MAX_PLANNED_PAIRS:,} pairs like these would decide (power 80%)."

    @property
    def statistic(self) -> float:
        """The statistic of the one-sided test that decides, the one with the larger p-value."""
        return self.statistic_lower if self.p_lower >= self.p_upper else self.statistic_upper

    @property
    def pvalue(self) -> float:
        """The p-value of "the difference is at least the margin", as SciPy calls it."""
        return self.p_value

    def plot(self, *, ax: Any = None) -> Any:
        """Draw delta and its interval against the margin.

        Parameters
        ----------
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        draw_margin(ax, self.margin)
        ax.axvline(0, color="black", linewidth=0.8)
        level = f"{100 * (1 - 2 * self.alpha):g}%"
        draw_intervals(ax, self.delta, [(level, self.interval)])
        ax.set_xlabel("delta (original − transformed)")
        ax.set_title(f"{self.verdict}: p = {format_p(self.p_value)}")
        ax.legend()
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name, and the verdict."""
        return {
            "n": self.n,
            "n_clusters": self.n_clusters,
            "design_effect": self.design_effect,
            **({} if self.counts is None else asdict(self.counts)),
            "delta": self.delta,
            "margin": self.margin,
            "alpha": self.alpha,
            "interval": [self.interval.low, self.interval.high],
            "statistic_lower": self.statistic_lower,
            "statistic_upper": self.statistic_upper,
            "p_lower": self.p_lower,
            "p_upper": self.p_upper,
            "p_value": self.p_value,
            "p_difference": self.p_difference,
            "standard_error": self.standard_error,
            "differs": self.differs,
            "equivalent": self.equivalent,
            "verdict": str(self.verdict),
            "n_to_decide": self.n_to_decide,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        rows = [("pairs", f"{self.n:,}")]
        if self.n_clusters is not None:
            rows.append(
                ("clusters", f"{self.n_clusters:,}, design effect {self.design_effect:.2f}")
            )
        delta = f"{self.delta:+.6g}" if self.counts is None else f"{self.delta:+.4f}"
        return [
            *rows,
            ("delta", delta),
            (f"  {100 * (1 - 2 * self.alpha):g}% interval", str(self.interval)),
            ("margin", f"±{self.margin:g}"),
            ("p, difference ≥ margin", format_p(self.p_value)),
            ("p, no difference", format_p(self.p_difference)),
            ("verdict", str(self.verdict)),
        ]

    def remarks(self) -> list[str]:
        """Give the verdict as a sentence."""
        return [self.explanation]


def equivalence_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    clusters: Any = None,
    margin: float = 0.01,
    alpha: float = 0.05,
    scores: bool = False,
    p_difference: float | None = None,
) -> EquivalenceResult:
    r"""Test whether the difference of two versions is smaller than a margin (TOST).

    Two one-sided tests (Schuirmann 1987) of H0: delta <= -margin and H0: delta >= margin, each at
    level alpha. On outcomes both are Tango's (1998) score test,

    .. math:: p = \max\bigl(1 - \Phi(T(-\epsilon)),\ \Phi(T(\epsilon))\bigr);

    on real-valued scores both are Student's paired t-test with n - 1 degrees of freedom. With fewer
    than 25 discordant pairs the normal law is too sure, and the p-values of Tango's test are exact
    (Chan 1998): the largest that any share of discordant pairs gives.

    With C clusters the statistics are divided by the root of the design effect (Rao and Scott
    1992), the variance of delta over clusters against that over independent pairs, and compared
    with Student's law with C - 1 degrees of freedom. The design effect is taken for 1 at least,
    and for its largest, with pairs that are alike within a cluster, where no difference varies.

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

    Returns
    -------
    EquivalenceResult

    Raises
    ------
    InputError
        If a column holds no numbers, the columns differ in length, clusters or ``scores`` come
        with counts, or margin or alpha are out of their range.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, equivalence_test
    >>> print(equivalence_test(PairedCounts(8000, 52, 48, 1900)).verdict)
    equivalent within margin
    >>> result = equivalence_test(PairedCounts(760, 42, 38, 160))
    >>> print(result.verdict, round(result.p_value, 4), round(result.p_difference, 4))
    undecided 0.2519 0.6603
    """
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha must lie between 0 and 0.5, not {alpha}")
    if p_difference is not None and not 0 <= p_difference <= 1:
        raise InputError(f"p_difference must lie in [0, 1], not {p_difference}")
    if not 0 < margin <= sys.float_info.max:
        raise InputError(f"the margin must be a positive number, not {margin}")
    pairs = read_pairs(sample, transformed, clustered=clusters is not None, scores=scores)
    if isinstance(pairs, PairedCounts):
        return _test_counts(pairs, None, margin, alpha, p_difference)
    a, b = as_scores(pairs.original, "original"), as_scores(pairs.transformed, "transformed")
    check_lengths(original=a, transformed=b)
    differences = Differences.of(a - b)
    clustering = None if clusters is None else Clustering.of(differences, clusters)
    if not pairs.are_scores:
        return _test_counts(counts_of(a, b), clustering, margin, alpha, p_difference)
    return _test_scores(differences, clustering, margin, alpha, p_difference)


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
        root = math.sqrt(clustering.design_effect)
        quantile = -float(stdtrit(df, alpha))
        tail = functools.partial(_student_tail, stdtr, df)

    lower, upper = (tango_score(counts, side * margin) / root for side in (-1, 1))
    p_lower, p_upper = tail(lower), tail(-upper)
    if clustering is None and counts.k < FEW_DISCORDANT:
        p_lower = exact_equivalence_p(counts.n, counts.n01, counts.n10, margin)
        p_upper = exact_equivalence_p(counts.n, counts.n10, counts.n01, margin)
    elif counts.k == 0:  # a cluster's pairs may be alike: as many as there are clusters, or fewer
        p_none = (1 - margin) ** (counts.n / root**2)
        p_lower, p_upper = max(p_lower, p_none), max(p_upper, p_none)
    if p_difference is None and clustering is None:
        p_difference = outcome_test(counts).p_value
    elif p_difference is None:
        p_difference = min(1.0, 2 * tail(abs(tango_score(counts, 0.0)) / root))
    return EquivalenceResult(
        n=counts.n,
        n_clusters=None if clustering is None else clustering.n,
        design_effect=None if clustering is None else clustering.design_effect,
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
        """P(T >= t); without any variance a t of 0 is no evidence at all."""
        if error == 0 and t == 0:
            return 1.0
        return float(stdtr(df, -t))

    lower, upper = t_at(-edge), t_at(edge)
    p_lower, p_upper = tail(lower), tail(-upper)
    if p_difference is None:
        p_difference = min(1.0, 2 * tail(abs(t_at(0.0))))
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
    )


def _student_tail(distribution: Callable[[int, float], float], df: int, t: float) -> float:
    return float(distribution(df, -t))


def _normal_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))


def _pairs_to_decide(
    delta: float,
    spread: float,
    *,
    on_zero: float,
    on_margin: float,
    margin: float,
    alpha: float,
    units_per_pair: float,
) -> int | None:
    """Give the n at which a verdict is likely enough, for means with a normal law.

    With s the error of the standard errors, s**2 being chi-square over its degrees of freedom, the
    verdict is open if sqrt(n) times the estimate of delta lies within t(1 - alpha/2) s on_zero of
    0, but not within sqrt(n) margin - t(1 - alpha) s on_margin. Student's quantiles t have one
    degree of freedom less than there are units (pairs or clusters) in n pairs.
    """
    from scipy.special import chdtri, ndtr, stdtrit

    tails = (np.arange(200) + 0.5) / 200

    def probability(n: int) -> float:
        df = n * units_per_pair - 1
        if df < 1:
            return 0.0
        centre, edge = math.sqrt(n) * abs(delta), math.sqrt(n) * margin
        t_zero, t_margin = -stdtrit(df, alpha / 2) * on_zero, -stdtrit(df, alpha) * on_margin
        if spread == 0:  # nor does s vary
            return float(centre > t_zero or centre < edge - t_margin)
        s = np.sqrt(chdtri(df, tails) / df)
        outer = t_zero * s
        inner = np.clip(edge - t_margin * s, 0, outer)
        undecided = sum(
            ndtr((outer - middle) / spread) - ndtr((inner - middle) / spread)
            for middle in (centre, -centre)
        )
        return 1 - float(np.mean(undecided))

    return first_reaching(probability, POWER_TO_DECIDE, 1, MAX_PLANNED_PAIRS)
