"""The outcome of an equivalence test: a verdict, and how many pairs would give one."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.stats.drawing import axes_or_new, draw_intervals, draw_margin
from ietest_fast.stats.few_discordant import exact_equivalence_p
from ietest_fast.stats.plans import MAX_PLANNED_PAIRS
from ietest_fast.stats.result import Result, format_p
from ietest_fast.stats.verdict_power import first_reaching, pairs_to_decide

if TYPE_CHECKING:
    from ietest_fast.stats.intervals import Interval
    from ietest_fast.stats.matched import PairedCounts
    from ietest_fast.stats.studentised import NullLaw


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


@dataclass(frozen=True, kw_only=True)
class EquivalenceResult(Result):
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
    warning: str | None = None
    """Why the p-values of scores cannot be trusted; None if they can."""

    @property
    def p_floor(self) -> float | None:
        """The smallest ``p_value`` that S replicates allow; None where nothing is drawn."""
        return None if self.n_resamples is None else 1 / (self.n_resamples + 1)

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
            said = f"Equivalent within {margin} (p = {self._format_p()}): delta has the {ends}."
            if self.differs:
                said += f" A difference is shown, too (p = {p_difference}), but a smaller one."
            return said
        if self.verdict is Verdict.DIFFERS:
            beyond = self.interval.low >= self.margin or self.interval.high <= -self.margin
            return (
                f"The versions differ (p = {p_difference}): delta is {self.delta:+.4g}, {ends}, "
                f"{'beyond' if beyond else 'perhaps beyond'} the margin of {margin}."
            )
        said = (
            f"Undecided: neither a difference (p = {p_difference}) nor equivalence within "
            f"{margin} (p = {self._format_p()}) is shown; delta has the {ends}."
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
        ax.set_title(f"{self.verdict}: p = {self._format_p()}")
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

    def remarks(self) -> list[str]:
        """Give the verdict as a sentence, and the warning if there is one."""
        said = [self.explanation]
        return said if self.warning is None else [*said, f"Warning: {self.warning}."]


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
