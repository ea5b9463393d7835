"""McNemar's test of paired outcomes, by the bootstrap and in its classical forms.

The paper's Alternative 1: the statistic is ``d**2 / k`` (eq. 12's t squared, up to a strictly
increasing function), the null law that of :func:`ietest_fast.stats.paired_test`, and the p-value
the upper tail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.numerals import format_p, format_paper_p
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import Rng, check_cost, in_one_order, seed_of
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, describe_counts
from ietest_fast.stats.outcomes import (
    Method,
    check_engine,
    exact_tail,
    mcnemar_tail,
    run_engine,
    score_interval,
)
from ietest_fast.stats.resampling import choose_tail
from ietest_fast.stats.result import ResampledResult, list_fields

if TYPE_CHECKING:
    from ietest_fast.stats.intervals import Interval
    from ietest_fast.stats.resampling import Alternative


@dataclass(frozen=True, kw_only=True)
class McNemarResult(ResampledResult):
    """Outcome of McNemar's test.

    With a one-sided alternative ``p_conditional`` and ``p_mid`` are the binomial tail of its side,
    ``p_asymptotic`` and ``p_corrected`` the normal tail of ``d / sqrt(k)``.
    """

    title = "McNemar's test"

    counts: PairedCounts
    """The four counts that were tested."""
    statistic: float
    """``d**2 / k``; 0 without discordant pairs."""
    p_value: float
    """Bootstrap, ``P(stat* >= stat)``: ties count. (c + 1) / (S + 1) for Monte Carlo methods.
    Decisions use it. The exact value equals that of the two-sided paired t-test, whose statistic is
    the signed root. With a one-sided alternative it is a tail of the signed root."""
    p_paper: float | None
    """Bootstrap as the paper has it, ``P(stat* > stat)``; c / S for Monte Carlo methods. None with
    a one-sided alternative."""
    p_conditional: float
    """Conditional exact test, ``min(1, 2 P(Binomial(k, 1/2) <= min(n10, n01)))``."""
    p_mid: float
    """Its mid-p form: tables as extreme as the observed one count half."""
    p_asymptotic: float
    """Upper tail of chi-square with one degree of freedom."""
    p_corrected: float
    """The same with Edwards' continuity correction, ``max(0, abs(d) - 1)**2 / k``."""
    alternative: Alternative
    """``two-sided``, ``greater`` or ``less``."""
    method: Method
    """How the bootstrap p-values were found: ``exact``, ``multinomial`` or ``resample``."""
    n_resamples: int | None
    seed: int | None
    """S and seed of a Monte Carlo method, None for ``exact``."""

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        return describe_counts(self.counts) | list_fields(self, "counts")

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        c = self.counts
        engine = self.method if self.n_resamples is None else f"{self.method}, {self.n_resamples:,}"
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        rows = [
            ("pairs", f"{c.n:,}"),
            ("discordant", f"{c.k:,} ({c.n10:,} / {c.n01:,})"),
            ("delta", f"{c.delta:+.4f}"),
            ("statistic d²/k", f"{self.statistic:.4f}"),
            (f"p, bootstrap ({engine}{side})", format_p(self.p_value, floor=self.p_floor)),
        ]
        if self.p_paper is not None:
            rows.append(("p, bootstrap, ties out", format_paper_p(self.p_paper, self.n_resamples)))
        return [
            *rows,
            ("p, conditional exact", format_p(self.p_conditional)),
            ("p, mid-p", format_p(self.p_mid)),
            ("p, asymptotic", format_p(self.p_asymptotic)),
            ("p, corrected", format_p(self.p_corrected)),
        ]

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return Tango's (1998) score interval of delta; see :class:`PairedTestResult`."""
        return score_interval(self.counts, confidence_level, self.alternative)


@in_one_order
def mcnemar_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    method: Method = "exact",
    alternative: Alternative = "two-sided",
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> McNemarResult:
    """Test by McNemar's statistic whether two versions are answered rightly equally often.

    H0: delta = 0. One-sided alternatives use the statistic's signed root, ``d / sqrt(k)``.

    Parameters
    ----------
    sample
        Counts, a matched sample, or the outcomes on the originals (shape (n,), 0 and 1).
    transformed
        The outcomes on the transformed texts, shape (n,), if ``sample`` is a column.
    method, alternative, n_resamples, rng, n_threads
        As for :func:`ietest_fast.stats.paired_test` of independent outcomes.

    Returns
    -------
    McNemarResult
        With the classical p-values beside the bootstrap's. Without discordant pairs the
        statistic is 0 and every p-value is 1.

    Raises
    ------
    InputError
        If the columns hold no outcomes or differ in length, the method or the alternative is
        unknown, n_resamples does not fit the method, or n_resamples, rng or n_threads is no
        integer in its range.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, mcnemar_test
    >>> result = mcnemar_test(PairedCounts(59, 6, 16, 80))
    >>> round(result.statistic, 4), round(result.p_conditional, 4), round(result.p_mid, 4)
    (4.5455, 0.0525, 0.0347)
    """
    used = check_engine(method, n_resamples, n_threads=n_threads, alternative=alternative)
    seed = seed_of(rng)
    counts = counts_of(sample, transformed)
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    two_sided = alternative == "two-sided"
    p_paper: float | None
    if used is not None:
        check_cost(counts.n, used, method=method, has_exact_law=True)
    if counts.k == 0:
        p_value = p_paper = 1.0
    elif used is None:
        at_least, above, *_ = core.stats.exact_tails(*four)
        p_value = 1.0 if counts.d == 0 else min(1.0, 2 * at_least)
        if not two_sided:
            p_value = exact_tail(counts, alternative)
        p_paper = 2 * above
    else:
        _, tails = run_engine(counts, method, n_resamples=used, seed=seed, n_threads=n_threads)
        at_most, reached, beyond, outside, s = tails
        p_value = (beyond + 1) / (s + 1)
        if not two_sided:
            p_value = (choose_tail(alternative, at_most, reached) + 1) / (s + 1)
        p_paper = outside / s
    return McNemarResult(
        counts=counts,
        method=method,
        alternative=alternative,
        n_resamples=used,
        seed=None if used is None else seed,
        statistic=counts.mcnemar_statistic,
        p_value=p_value,
        p_paper=p_paper if two_sided else None,
        **classical_p_values(counts, alternative=alternative),
    )


def classical_p_values(
    counts: PairedCounts, *, alternative: Alternative = "two-sided"
) -> dict[str, float]:
    """Return the p-values of McNemar's test that need no bootstrap."""
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    if alternative != "two-sided":
        return _one_sided_p_values(counts, alternative)
    corrected = max(0, abs(counts.d) - 1) ** 2 / counts.k if counts.k else 0.0
    return {
        "p_conditional": core.stats.mcnemar_exact_p(*four),
        "p_mid": core.stats.mcnemar_mid_p(*four),
        "p_asymptotic": math.erfc(math.sqrt(counts.mcnemar_statistic / 2)),
        "p_corrected": math.erfc(math.sqrt(corrected / 2)),
    }


def _one_sided_p_values(counts: PairedCounts, alternative: Alternative) -> dict[str, float]:
    if counts.k == 0:
        return dict.fromkeys(("p_conditional", "p_mid", "p_asymptotic", "p_corrected"), 1.0)
    from scipy.special import bdtrc, ndtr

    more = counts.n10 if alternative == "greater" else counts.n01
    at_least = mcnemar_tail(counts, alternative)
    above = float(bdtrc(more, counts.k, 0.5)) if more < counts.k else 0.0
    gap, root = 2 * more - counts.k, math.sqrt(counts.k)
    return {
        "p_conditional": at_least,
        "p_mid": (at_least + above) / 2,
        "p_asymptotic": float(ndtr(-gap / root)),
        "p_corrected": float(ndtr(-(gap - 1) / root)),
    }
