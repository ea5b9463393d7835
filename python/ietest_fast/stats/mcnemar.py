"""McNemar's test of paired outcomes, by the bootstrap and in its classical forms.

The paper's Alternative 1: the statistic is ``d**2 / k`` (eq. 12's t squared, up to a strictly
increasing function), the null law that of :func:`ietest_fast.stats.paired_test`, and the p-value
the upper tail.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ietest_fast.random import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of
from ietest_fast.stats.paired import Method, check_engine
from ietest_fast.stats.result import Result, format_p


@dataclass(frozen=True, kw_only=True)
class McNemarResult(Result):
    """Outcome of McNemar's test.

    Attributes
    ----------
    counts
        The four counts that were tested.
    method
        How the bootstrap p-values were found: ``exact``, ``multinomial`` or ``resample``.
    n_resamples
        S of a Monte Carlo method, None for ``exact``.
    seed
        Seed of a Monte Carlo method, None for ``exact``.
    statistic
        ``d**2 / k``; 0 without discordant pairs.
    p_value
        Bootstrap, ``P(stat* >= stat)``: ties count. (c + 1) / (S + 1) for Monte Carlo methods.
        Decisions use it. The exact value equals that of the two-sided paired t-test, whose
        statistic is the signed root.
    p_paper
        Bootstrap as the paper has it, ``P(stat* > stat)``; c / S for Monte Carlo methods.
    p_conditional
        Conditional exact test, ``min(1, 2 P(Binomial(k, 1/2) <= min(n10, n01)))``.
    p_mid
        Its mid-p form: tables as extreme as the observed one count half.
    p_asymptotic
        Upper tail of chi-square with one degree of freedom.
    p_corrected
        The same with Edwards' continuity correction, ``max(0, abs(d) - 1)**2 / k``.
    """

    title = "McNemar's test"

    counts: PairedCounts
    method: Method
    n_resamples: int | None
    seed: int | None
    statistic: float
    p_value: float
    p_paper: float
    p_conditional: float
    p_mid: float
    p_asymptotic: float
    p_corrected: float

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        return {
            "n": self.counts.n,
            **asdict(self.counts),
            "delta": self.counts.delta,
            "statistic": self.statistic,
            "p_value": self.p_value,
            "p_paper": self.p_paper,
            "p_conditional": self.p_conditional,
            "p_mid": self.p_mid,
            "p_asymptotic": self.p_asymptotic,
            "p_corrected": self.p_corrected,
            "method": self.method,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        c = self.counts
        engine = self.method if self.n_resamples is None else f"{self.method}, {self.n_resamples:,}"
        return [
            ("pairs", f"{c.n:,}"),
            ("discordant", f"{c.k:,} ({c.n10:,} / {c.n01:,})"),
            ("delta", f"{c.delta:+.4f}"),
            ("statistic d²/k", f"{self.statistic:.4f}"),
            (f"p, bootstrap ({engine})", format_p(self.p_value)),
            ("p, bootstrap, ties out", format_p(self.p_paper)),
            ("p, conditional exact", format_p(self.p_conditional)),
            ("p, mid-p", format_p(self.p_mid)),
            ("p, asymptotic", format_p(self.p_asymptotic)),
            ("p, corrected", format_p(self.p_corrected)),
        ]


def mcnemar_test(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    method: Method = "exact",
    n_resamples: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> McNemarResult:
    """Test by McNemar's statistic whether two versions are answered rightly equally often.

    H0: delta = 0, against any difference.

    Parameters
    ----------
    sample
        Counts, a matched sample, or the outcomes on the originals (shape (n,), 0 and 1).
    transformed
        The outcomes on the transformed texts, shape (n,), if ``sample`` is a column.
    method
        ``exact`` (default) gives the bootstrap p-value in the limit of large S, ``multinomial``
        and ``resample`` draw S bootstrap samples; see ``docs/statistics.md``.
    n_resamples
        S, for Monte Carlo methods only; 10,000 if not given.
    seed
        Seed of a Monte Carlo method, 0 or more.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    McNemarResult
        With the classical p-values beside the bootstrap's. Without discordant pairs the
        statistic is 0 and every p-value is 1.

    Raises
    ------
    InputError
        If the columns hold no outcomes or differ in length, the method is unknown, n_resamples
        does not fit it, or n_resamples, the seed or n_threads is no integer in its range.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, mcnemar_test
    >>> result = mcnemar_test(PairedCounts(59, 6, 16, 80))
    >>> round(result.statistic, 4), round(result.p_conditional, 4), round(result.p_mid, 4)
    (4.5455, 0.0525, 0.0347)
    """
    used = check_engine(method, n_resamples, seed=seed, n_threads=n_threads)
    counts = counts_of(sample, transformed)
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    if counts.k == 0:
        p_value = p_paper = 1.0
    elif used is None:
        at_least, above, *_ = core.stats.exact_tails(*four)
        p_value = 1.0 if counts.d == 0 else min(1.0, 2 * at_least)
        p_paper = 2 * above
    else:
        options: dict[str, Any] = {
            "n_replicates": used,
            "key": philox_key(seed),
            "n_threads": n_threads,
        }
        if method == "multinomial":
            _, tails = core.stats.multinomial_test(*four, **options)
        else:
            _, tails = core.stats.resample_test(counts.differences(), **options)
        _, _, beyond, outside, s = tails
        p_value = (beyond + 1) / (s + 1)
        p_paper = outside / s
    return McNemarResult(
        counts=counts,
        method=method,
        n_resamples=used,
        seed=None if used is None else seed,
        statistic=counts.mcnemar_statistic,
        p_value=p_value,
        p_paper=p_paper,
        **classical_p_values(counts),
    )


def classical_p_values(counts: PairedCounts) -> dict[str, float]:
    """Give the p-values of McNemar's test that need no bootstrap.

    Returns
    -------
    dict
        ``p_conditional``, ``p_mid``, ``p_asymptotic`` and ``p_corrected``, as
        :class:`McNemarResult` has them.
    """
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    corrected = max(0, abs(counts.d) - 1) ** 2 / counts.k if counts.k else 0.0
    return {
        "p_conditional": core.stats.mcnemar_exact_p(*four),
        "p_mid": core.stats.mcnemar_mid_p(*four),
        "p_asymptotic": math.erfc(math.sqrt(counts.mcnemar_statistic / 2)),
        "p_corrected": math.erfc(math.sqrt(corrected / 2)),
    }
