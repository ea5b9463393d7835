"""The bootstrap paired t-test on binary outcomes: one null law, three engines.

The null law is that of Konietschke and Pauly (2014) as the IE test uses it: pairs are drawn with
replacement and each is swapped with probability 1/2. ``docs/statistics.md`` derives the exact law.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.random import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, format_t
from ietest_fast.stats.resampling import Alternative, check_options
from ietest_fast.stats.result import Result, format_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

Method = Literal["exact", "multinomial", "resample"]
METHODS: tuple[str, ...] = get_args(Method)

DEFAULT_N_RESAMPLES = 10_000

#: Below this many discordant pairs the bootstrap is a little liberal, and the result says so.
FEW_DISCORDANT = 25


@dataclass(frozen=True, kw_only=True)
class PairedTestResult(Result):
    """Outcome of a paired test.

    Attributes
    ----------
    counts
        The four counts that were tested.
    method
        ``exact``, ``multinomial`` or ``resample``.
    alternative
        ``two-sided``, ``greater`` (the original is right more often) or ``less``.
    n_resamples
        S of a Monte Carlo method, None for ``exact``.
    seed
        Seed of a Monte Carlo method, None for ``exact``.
    t
        The statistic of eq. 12.
    p_value
        ``min(1, 2 min(P(t* <= t), P(t* >= t)))``: both tails count their ties. Decisions use
        it. Monte Carlo methods estimate each tail by (c + 1) / (S + 1). One-sided alternatives
        take one tail: ``P(t* >= t)`` for ``greater``, ``P(t* <= t)`` for ``less``.
    p_paper
        Eq. 14 to the letter, ``2 min(P(t* <= t), P(t* > t))``; c / S for Monte Carlo methods. None
        for a one-sided alternative.
    p_symmetric
        ``P(|t*| >= |t|)``, whatever the alternative; (c + 1) / (S + 1) for Monte Carlo methods.
    p_mcnemar_exact
        Conditional exact McNemar test of the same alternative, whatever the method.
    """

    title = "Paired bootstrap t-test"

    counts: PairedCounts
    method: Method
    alternative: Alternative
    n_resamples: int | None
    seed: int | None
    t: float
    p_value: float
    p_paper: float | None
    p_symmetric: float
    p_mcnemar_exact: float

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.counts.n

    @property
    def delta(self) -> float:
        """Accuracy on the originals minus accuracy on the transformed texts."""
        return self.counts.delta

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
            f"only {self.counts.k} discordant pairs: below {FEW_DISCORDANT} the bootstrap test is "
            f"a little liberal; the conditional exact McNemar p is {self.p_mcnemar_exact:.4g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result, ready for JSON but for infinite t."""
        return {
            "n": self.n,
            **asdict(self.counts),
            "delta": self.delta,
            "t": self.t,
            "p_value": self.p_value,
            "p_paper": self.p_paper,
            "p_symmetric": self.p_symmetric,
            "p_mcnemar_exact": self.p_mcnemar_exact,
            "alternative": self.alternative,
            "method": self.method,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "warning": self.warning,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        counts = self.counts
        exact = self.n_resamples is None
        monte_carlo = "" if exact else "  [(c+1)/(S+1)]"
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
            lines.append((f"p-value, {self.alternative}", format_p(self.p_value) + monte_carlo))
        else:
            lines += [
                ("p-value", format_p(self.p_value) + monte_carlo),
                ("  eq. 14 of the paper", format_p(self.p_paper)),
                ("  symmetric", format_p(self.p_symmetric) + monte_carlo),
            ]
        lines += [
            ("  McNemar, exact", format_p(self.p_mcnemar_exact)),
            ("method", self.method if exact else f"{self.method}, S = {self.n_resamples:,}"),
        ]
        return lines

    def remarks(self) -> list[str]:
        """Give the warning, if there is one."""
        return [] if self.warning is None else [f"Careful: {self.warning}."]


def _run_engine(
    counts: PairedCounts,
    method: Method,
    *,
    n_resamples: int,
    seed: int,
    n_threads: int | None,
    t_replicates: NDArray[np.float64] | None = None,
) -> tuple[tuple[float, float, float], tuple[int, ...]]:
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


def _one_tail(at_most: float, at_least: float, alternative: Alternative) -> float:
    return at_least if alternative == "greater" else at_most


def _mcnemar_tail(counts: PairedCounts, alternative: Alternative) -> float:
    """P(Binomial(k, 1/2) >= n10), or >= n01."""
    from scipy.special import bdtrc

    more = counts.n10 if alternative == "greater" else counts.n01
    return float(bdtrc(more - 1, counts.k, 0.5)) if more > 0 else 1.0


def check_engine(
    method: str,
    n_resamples: int | None,
    *,
    seed: int,
    n_threads: int | None,
    alternative: str = "two-sided",
) -> int | None:
    """Give S: the number asked for, the default of a Monte Carlo engine, or None for ``exact``.

    Raises
    ------
    InputError
        If the method is unknown, S does not fit it, or as for
        :func:`ietest_fast.stats.resampling.check_options`.
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    used = DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples
    check_options(alternative=alternative, n_resamples=used, seed=seed, n_threads=n_threads)
    if method != "exact":
        return used
    if n_resamples is not None:
        raise InputError("the exact law has no replicates: leave n_resamples out")
    return None


def paired_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    method: Method = "exact",
    alternative: Alternative = "two-sided",
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> PairedTestResult:
    """Test whether a classifier is equally often right on two versions of the same texts.

    H0: the accuracies are equal (delta = 0).

    Parameters
    ----------
    sample
        A matched sample or its four counts; or the outcomes on the originals, shape (n,), bool or
        0 and 1: a list, a NumPy array, a pandas, polars or Arrow column.
    transformed
        The outcomes on the transformed texts, if ``sample`` is a column.
    method
        ``exact`` (default) gives the p-value that the bootstrap tends to as S grows;
        ``multinomial`` draws S replicates in O(1) time each; ``resample`` draws S samples of n
        pairs, the definition itself.
    alternative
        ``two-sided``; ``greater``: the original is right more often; ``less``: less often.
    n_resamples
        S, for Monte Carlo methods only; 10,000 if not given.
    seed
        Seed of a Monte Carlo method. Results depend on it and on nothing else.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    PairedTestResult
        Without discordant pairs t is 0 and every p-value is 1.

    Raises
    ------
    InputError
        If the method or the alternative is unknown, n_resamples does not fit the method,
        n_resamples, the seed or n_threads is no integer in its range, or a column holds no
        outcomes.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, paired_test
    >>> result = paired_test(PairedCounts(7614, 614, 292, 1304))
    >>> round(result.t, 4)
    10.7606
    >>> result.p_value < 1e-25
    True
    """
    used = check_engine(
        method, n_resamples, seed=seed, n_threads=n_threads, alternative=alternative
    )
    counts = counts_of(sample, transformed)
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    two_sided = alternative == "two-sided"
    if used is None:
        p_value, p_paper, p_symmetric = core.stats.exact_p_values(*four)
        if not two_sided:
            at_least, above, *_ = core.stats.exact_tails(*four)  # of abs(t), by symmetry
            upper, lower = (at_least, 1 - above) if counts.d >= 0 else (1 - above, at_least)
            if counts.d == 0:
                lower = at_least
            p_value = _one_tail(lower, upper, alternative)
    else:
        (p_value, p_paper, p_symmetric), (at_most, reached, *_) = _run_engine(
            counts, method, n_resamples=used, seed=seed, n_threads=n_threads
        )
        if counts.k == 0:
            # Every replicate is 0 as well; nothing is left for eq. 14 to measure.
            p_paper = 1.0
        if not two_sided:
            p_value = (_one_tail(at_most, reached, alternative) + 1) / (used + 1)
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
        else _mcnemar_tail(counts, alternative),
    )


def draw_t_replicates(
    sample: PairedCounts | MatchedSample,
    *,
    method: Method = "multinomial",
    n_resamples: int = DEFAULT_N_RESAMPLES,
    seed: int = 0,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Draw t* under H0, for figures of its distribution.

    Parameters
    ----------
    sample
        A matched sample or its four counts.
    method
        ``multinomial`` or ``resample``.
    n_resamples, seed, n_threads
        As for :func:`paired_test`, which counts these very replicates.

    Returns
    -------
    ndarray of float64, shape (n_resamples,)

    Raises
    ------
    InputError
        If the method has no replicates, or as for :func:`paired_test`.
    """
    if method == "exact":
        raise InputError("the exact law has no replicates: choose multinomial or resample")
    check_engine(method, n_resamples, seed=seed, n_threads=n_threads)
    t_replicates = np.empty(n_resamples, dtype=np.float64)
    _run_engine(
        counts_of(sample),
        method,
        n_resamples=n_resamples,
        seed=seed,
        n_threads=n_threads,
        t_replicates=t_replicates,
    )
    return t_replicates
