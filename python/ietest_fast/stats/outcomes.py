"""The bootstrap paired t-test on binary outcomes: one null law, three engines.

The null law is that of Konietschke and Pauly (2014) as the IE test uses it: pairs are drawn with
replacement and each is swapped with probability 1/2. ``docs/statistics.md`` derives the exact law.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, format_paper_p, format_t
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import Rng, check_cost, seed_of
from ietest_fast.stats.intervals import invert_tango, upper_level
from ietest_fast.stats.laws.null import null_law_of
from ietest_fast.stats.matched import (
    MatchedSample,
    OfCounts,
    PairedCounts,
    counts_of,
    describe_counts,
)
from ietest_fast.stats.resampling import Alternative, check_options, choose_tail
from ietest_fast.stats.result import PairedResult, list_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.intervals import Interval
    from ietest_fast.stats.laws.null import NullHistogram

Method = Literal["exact", "multinomial", "resample"]
METHODS: tuple[str, ...] = get_args(Method)

DEFAULT_N_RESAMPLES = 10_000

#: Below this many discordant pairs the bootstrap may reject too often, and the result says so.
FEW_DISCORDANT = 25


@dataclass(frozen=True, kw_only=True)
class PairedTestResult(OfCounts, PairedResult):
    """Outcome of a paired test of independent outcomes."""

    title = "Paired bootstrap t-test"

    counts: PairedCounts
    """The four counts that were tested."""
    t: float
    """The statistic of eq. 12."""
    p_value: float
    """``min(1, 2 min(P(t* <= t), P(t* >= t)))``: both tails count their ties. Decisions use it.
    Monte Carlo methods estimate each tail by (c + 1) / (S + 1). One-sided alternatives take one
    tail: ``P(t* >= t)`` for ``greater``, ``P(t* <= t)`` for ``less``."""
    p_paper: float | None
    """Eq. 14 to the letter, ``2 min(P(t* <= t), P(t* > t))``; c / S for Monte Carlo methods. None
    for a one-sided alternative."""
    p_symmetric: float
    """``P(|t*| >= |t|)``, whatever the alternative; (c + 1) / (S + 1) for Monte Carlo methods."""
    p_mcnemar_exact: float
    """Conditional exact McNemar test of the same alternative, whatever the method."""
    alternative: Alternative
    """``two-sided``, ``greater`` (the original is right more often) or ``less``."""
    method: Method
    """``exact``, ``multinomial`` or ``resample``."""
    n_resamples: int | None
    """S of a Monte Carlo method, None for ``exact``."""
    seed: int | None
    """Seed of a Monte Carlo method, None for ``exact``."""

    @property
    def few_discordant(self) -> bool:
        """Whether there are so few discordant pairs that the bootstrap is a little liberal."""
        return 0 < self.counts.k < FEW_DISCORDANT

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        if not self.few_discordant:
            return None
        return (
            f"only {self.counts.k} discordant pairs: below {FEW_DISCORDANT} the bootstrap test may "
            f"reject too often; the conditional exact McNemar p is {self.p_mcnemar_exact:.4g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result, ready for JSON but for infinite t."""
        fields = describe_counts(self.counts) | list_fields(self, "counts")
        return fields | {"warning": self.warning}

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        counts = self.counts
        exact = self.n_resamples is None
        monte_carlo = "" if exact else "  [(c+1)/(S+1)]"
        p_value = format_p(self.p_value, floor=self.p_floor)
        least = None if self.n_resamples is None else 1 / (self.n_resamples + 1)
        symmetric = format_p(self.p_symmetric, floor=least)
        lines = [
            ("pairs", f"{counts.n:,}"),
            ("right on both", f"{counts.n11:,}"),
            ("only on the original", f"{counts.n10:,}"),
            ("only on the transformed", f"{counts.n01:,}"),
            ("wrong on both", f"{counts.n00:,}"),
            ("accuracy, original", f"{counts.accuracy_original:.4f}"),
            ("accuracy, transformed", f"{counts.accuracy_transformed:.4f}"),
            ("delta", f"{counts.delta:+.4f}"),
            ("discordant pairs", f"{counts.k:,} ({counts.discordance_rate:.2%})"),
            ("t", format_t(self.t)),
        ]
        if self.p_paper is None:
            lines.append((f"p-value, {self.alternative}", p_value + monte_carlo))
        else:
            lines += [
                ("p-value", p_value + monte_carlo),
                ("  eq. 14 of the paper", format_paper_p(self.p_paper, self.n_resamples)),
                ("  symmetric", symmetric + monte_carlo),
            ]
        lines += [
            ("  McNemar, exact", format_p(self.p_mcnemar_exact)),
            ("method", self.method if exact else f"{self.method}, S = {self.n_resamples:,}"),
        ]
        return lines

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return Tango's (1998) score interval of delta, one-sided where the alternative is."""
        return score_interval(self.counts, confidence_level, self.alternative)

    def null_law(self) -> NullHistogram:
        """Return the exact law of t under H0, in bins."""
        return null_law_of(self.counts)


def score_interval(
    counts: PairedCounts, confidence_level: float, alternative: Alternative
) -> Interval:
    """Return Tango's (1998) interval of delta, one-sided where the alternative is."""
    z = NormalDist().inv_cdf(upper_level(confidence_level, alternative))
    return invert_tango(counts, max(z, 0.0)).one_sided(alternative, 1.0)


def run_engine(
    counts: PairedCounts,
    method: Method,
    *,
    n_resamples: int,
    seed: int,
    n_threads: int | None,
    t_replicates: NDArray[np.float64] | None = None,
) -> tuple[tuple[float, float, float], tuple[int, ...]]:
    """Draw S replicates; return the three two-sided p-values and what the kernel counted."""
    options: dict[str, Any] = {
        "n_replicates": n_resamples,
        "key": philox_key(seed),
        "t_replicates": t_replicates,
        "n_threads": n_threads,
    }
    if method == "multinomial":
        four = (counts.n11, counts.n10, counts.n01, counts.n00)
        p_values, drawn = core.stats.multinomial_test(*four, **options)
    else:
        p_values, drawn = core.stats.resample_test(counts.differences(), **options)
    return p_values, drawn


def exact_tail(counts: PairedCounts, alternative: Alternative) -> float:
    """Return P(t* >= t) for ``greater``, P(t* <= t) for ``less``, from the exact law."""
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    at_least, above, *_ = core.stats.exact_tails(*four)  # beyond abs(t); the law is symmetric
    is_ahead = counts.d >= 0 if alternative == "greater" else counts.d <= 0
    return float(at_least) if is_ahead else 1 - float(above)


def mcnemar_tail(counts: PairedCounts, alternative: Alternative) -> float:
    """P(Binomial(k, 1/2) >= n10), or >= n01."""
    from scipy.special import bdtrc

    more = counts.n10 if alternative == "greater" else counts.n01
    return float(bdtrc(more - 1, counts.k, 0.5)) if more > 0 else 1.0


def check_engine(
    method: str,
    n_resamples: int | None,
    *,
    n_threads: int | None,
    alternative: str = "two-sided",
) -> int | None:
    """Give S: the number asked for, the default of a Monte Carlo engine, or None for ``exact``."""
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    used = DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples
    check_options(alternative=alternative, n_resamples=used, n_threads=n_threads)
    if method != "exact":
        return used
    if n_resamples is not None:
        raise InputError(
            "the exact law has no replicates: leave n_resamples out (-S), or choose another method "
            "(method, --method)"
        )
    return None


def outcome_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    method: Method = "exact",
    alternative: Alternative = "two-sided",
    n_resamples: int | None = None,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> PairedTestResult:
    """Test independent pairs of outcomes; the inside of :func:`ietest_fast.stats.paired_test`."""
    used = check_engine(method, n_resamples, n_threads=n_threads, alternative=alternative)
    seed = seed_of(rng)
    counts = counts_of(sample, transformed)
    if used is not None:
        check_cost(counts.n, used, method=method, has_exact_law=True)
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    two_sided = alternative == "two-sided"
    if used is None:
        p_value, p_paper, p_symmetric = core.stats.exact_p_values(*four)
        if not two_sided:
            p_value = exact_tail(counts, alternative)
    else:
        (p_value, p_paper, p_symmetric), (at_most, reached, *_) = run_engine(
            counts, method, n_resamples=used, seed=seed, n_threads=n_threads
        )
        if counts.k == 0:
            # Every replicate is 0 as well; nothing is left for eq. 14 to measure.
            p_paper = 1.0
        if not two_sided:
            p_value = (choose_tail(alternative, at_most, reached) + 1) / (used + 1)
    return PairedTestResult(
        counts=counts,
        method=method,
        alternative=alternative,
        n_resamples=used,
        seed=None if used is None else seed,
        t=counts.t,
        p_value=p_value,
        p_paper=p_paper if two_sided else None,
        p_symmetric=p_symmetric,
        p_mcnemar_exact=core.stats.mcnemar_exact_p(*four)
        if two_sided
        else mcnemar_tail(counts, alternative),
    )


def draw_t_replicates(
    sample: PairedCounts | MatchedSample,
    *,
    method: Method = "multinomial",
    n_resamples: int = DEFAULT_N_RESAMPLES,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Draw t* under H0, for figures of its distribution.

    Parameters
    ----------
    sample
        A matched sample or its four counts.
    method
        ``multinomial`` or ``resample``.
    n_resamples, rng, n_threads
        As for :func:`outcome_test`, which counts these very replicates.

    Returns
    -------
    ndarray of float64, shape (n_resamples,)

    Raises
    ------
    InputError
        If the method has no replicates, or as for :func:`outcome_test`.
    """
    if method == "exact":
        raise InputError("the exact law has no replicates: choose multinomial or resample")
    check_engine(method, n_resamples, n_threads=n_threads)
    seed = seed_of(rng)
    counts = counts_of(sample)
    check_cost(counts.n, n_resamples, method=method, has_exact_law=True)
    t_replicates = np.empty(n_resamples, dtype=np.float64)
    run_engine(
        counts,
        method,
        n_resamples=n_resamples,
        seed=seed,
        n_threads=n_threads,
        t_replicates=t_replicates,
    )
    return t_replicates
