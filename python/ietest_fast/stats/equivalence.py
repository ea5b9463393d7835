"""Not rejecting is not invariance: two one-sided tests against a margin, and a verdict."""

from __future__ import annotations

import enum
import functools
import math
import sys
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, say_p
from ietest_fast.stats.inputs import (
    MAX_PLANNED_PAIRS,
    Rng,
    as_clusters,
    as_scores,
    check_between,
    check_lengths,
    in_one_order,
    is_number,
    seed_of,
)
from ietest_fast.stats.intervals import (
    FEW_TELLING,
    Clustering,
    Differences,
    Interval,
    check_level,
    draw_intervals,
    draw_margin,
    invert_tango,
    tango_score,
)
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, read_pairs
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES, FEW_DISCORDANT, outcome_test
from ietest_fast.stats.planning.power import exact_equivalence_p
from ietest_fast.stats.planning.verdicts import first_reaching, pairs_to_decide
from ietest_fast.stats.resampling import RELATIVE_ROUNDING, check_options, monte_carlo_p
from ietest_fast.stats.result import Plottable, ResampledResult
from ietest_fast.stats.studentised import StudentisedUnits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.stats.studentised import NullLaw


# The outcome of an equivalence test: a verdict, and how many pairs would give one.

#: The probability of a verdict that ``n_to_decide`` aims at.
POWER_TO_DECIDE = 0.8


class Verdict(enum.StrEnum):
    """What the data show about two versions of the same texts.

    Equal accuracy is less than invariance: ``EQUIVALENT`` is about accuracy alone, ``ALIKE`` says
    that few answers flip, too, and ``CHANGES`` that many do, whatever the accuracies are.
    ``COLLAPSED`` says that no classifier that was asked can be told from guessing, so nothing can
    be told of rephrasing.
    """

    DIFFERS = "differs"
    CHANGES = "changes answers"
    ALIKE = "alike within margins"
    EQUIVALENT = "equivalent within margin"
    UNDECIDED = "undecided"
    COLLAPSED = "collapsed"

    @property
    def finding_kind(self) -> Literal["differs", "equivalent", "undecided"]:
        """What it comes down to, as the head of a page says it."""
        if self in {Verdict.DIFFERS, Verdict.CHANGES}:
            return "differs"
        return "equivalent" if self is Verdict.ALIKE else "undecided"


@dataclass(frozen=True, kw_only=True)
class EquivalenceResult(Plottable, ResampledResult):
    """Outcome of an equivalence test."""

    title = "Equivalence test"

    n: int
    """Number of pairs."""
    n_clusters: int | None
    design_effect: float | None
    """Number of clusters and what they do to the variance of delta; None without clusters."""
    counts: PairedCounts | None
    """The four counts; None for real-valued scores."""
    delta: float
    """Mean of original minus transformed: a difference of accuracies, or of mean scores."""
    margin: float
    """Differences smaller than this do not matter."""
    alpha: float
    """Level of each test."""
    interval: Interval
    """For delta, at confidence 1 - 2 alpha: Tango's, or for scores Student's or that of the
    studentised bootstrap. The versions are equivalent if it lies inside (-margin, margin); with
    fewer than 25 discordant pairs exact p-values decide, which ask for a little more."""
    statistic_lower: float
    statistic_upper: float
    """Of H0: delta <= -margin and of H0: delta >= margin; Tango's score, or t for scores (with
    divisor n for the studentised bootstrap)."""
    p_lower: float
    p_upper: float
    """Their one-sided p-values."""
    p_value: float
    """The larger of the two: the p-value of "the difference is at least the margin"."""
    p_difference: float
    """p-value of H0: delta = 0: the one that was given, or two-sided that of the exact paired test,
    of Student's paired t-test for scores, of the statistic at 0 with clusters."""
    standard_error: float
    """Of delta; with divisor n for outcomes and n - 1 for scores, times the root of the design
    effect."""
    null: NullLaw | None = None
    """The null law of scores: ``symmetric`` (Student's) or ``studentised``; None for outcomes."""
    n_resamples: int | None = None
    seed: int | None = None
    """S and seed of the studentised bootstrap; None where nothing is drawn."""
    swap_effect: float | None = None
    """With clusters of outcomes, what they do to the variance of delta if the versions of whole
    clusters are swapped by fair coins; None otherwise."""
    warning: str | None = None
    """Why the p-values of scores cannot be trusted; None if they can."""

    def _format_p(self) -> str:
        return format_p(self.p_value, floor=self.p_floor)

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

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return Tango's interval of delta, of outcomes alone.

        With clusters its variance is that of swapping the versions of whole clusters, as the test
        of delta = 0 does, whose p-value it belongs to; :attr:`interval` is more cautious where few
        clusters tell how alike their pairs are, and belongs to the test against the margin.

        Raises
        ------
        InputError
            Of scores, or if the level is not in (0, 1).
        """
        check_level(confidence_level)
        return self.ends_at((1 - confidence_level) / 2)

    def ends_at(self, tail: float) -> Interval:
        """Return the same interval by the probability beyond each end, which may be tiny."""
        if self.counts is None:
            raise InputError("scores have the interval of a paired test")
        effect = 1.0 if self.swap_effect is None else self.swap_effect
        return invert_tango(self.counts, -NormalDist().inv_cdf(tail) * math.sqrt(effect))

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
        planned = _pairs_to_decide(
            delta,
            spread,
            on_zero=on_zero,
            on_margin=on_margin,
            margin=margin,
            alpha=self.alpha,
            units_per_pair=units / self.n,
        )
        if planned is None or self.counts is None or self.counts.k > 0:
            return planned
        # Nor may the exact p-value of so many independent pairs be too large.
        effect = self.design_effect or 1.0
        alone = max(
            math.ceil(planned / effect), math.ceil(math.log(self.alpha) / math.log1p(-margin))
        )
        while exact_equivalence_p(alone, 0, 0, margin) >= self.alpha:
            alone += 1
        return max(planned, math.ceil(alone * effect))

    @property
    def explanation(self) -> str:
        """Give the verdict in plain words."""
        margin, p_difference = f"{self.margin:g}", format_p(self.p_difference)
        level = f"{100 * (1 - 2 * self.alpha):g}%"
        ends = f"{level} interval {self.interval.low:.4g} to {self.interval.high:.4g}"
        if self.verdict is Verdict.EQUIVALENT:
            said = f"Equivalent within {margin} ({say_p(self._format_p())}): delta has the {ends}."
            if self.differs:
                said += f" A difference is shown, too ({say_p(p_difference)}), but a smaller one."
            return said
        if self.verdict is Verdict.DIFFERS:
            beyond = self.interval.low >= self.margin or self.interval.high <= -self.margin
            return (
                f"The versions differ ({say_p(p_difference)}): delta is {self.delta:+.4g}, {ends}, "
                f"{'beyond' if beyond else 'perhaps beyond'} the margin of {margin}."
            )
        said = (
            f"Undecided: neither a difference ({say_p(p_difference)}) nor equivalence within "
            f"{margin} ({say_p(self._format_p())}) is shown; delta has the {ends}."
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

    def draw_on(self, ax: Any) -> None:
        """Draw delta and its interval against the margin."""
        draw_margin(ax, self.margin)
        ax.axvline(0, color="black", linewidth=0.8)
        level = f"{100 * (1 - 2 * self.alpha):g}%"
        draw_intervals(ax, self.delta, [(level, self.interval)])
        ax.set_xlabel("delta (original − transformed)")
        ax.set_title(f"{self.verdict}: {say_p(self._format_p())}")
        ax.legend()

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
            "null": self.null,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "warning": self.warning,
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
            ("p, difference ≥ margin", self._format_p()),
            ("p, no difference", format_p(self.p_difference)),
            *([] if self.null is None else [("null law of t", self.null)]),
            ("verdict", str(self.verdict)),
        ]


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


# A margin is held to lie at most so many standard errors from 0.
_FARTHEST = 2.0**200


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
    rng, n_threads
        As for :func:`paired_test`; for the studentised bootstrap.

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
        swap_effect=None if clustering is None else clustering.swap_effect,
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
