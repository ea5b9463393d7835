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
from ietest_fast.stats.matched import MatchedSample, PairedCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

Method = Literal["exact", "multinomial", "resample"]
METHODS: tuple[str, ...] = get_args(Method)

DEFAULT_N_REPLICATES = 10_000

#: The engines count replicates in 64 bits, with a sign.
MAX_REPLICATES = 2**63 - 1

#: Below this many discordant pairs the bootstrap is a little liberal, and the result says so.
FEW_DISCORDANT = 25


@dataclass(frozen=True, kw_only=True)
class PairedTestResult:
    """Outcome of a paired test.

    Attributes
    ----------
    counts
        The four counts that were tested.
    method
        ``exact``, ``multinomial`` or ``resample``.
    n_replicates
        S of a Monte Carlo method, None for ``exact``.
    seed
        Seed of a Monte Carlo method, None for ``exact``.
    t
        The statistic of eq. 12.
    p_value
        ``min(1, 2 min(P(t* <= t), P(t* >= t)))``: both tails count their ties. Decisions use
        it. Monte Carlo methods estimate each tail by (c + 1) / (S + 1).
    p_paper
        Eq. 14 to the letter, ``2 min(P(t* <= t), P(t* > t))``; c / S for Monte Carlo methods.
    p_symmetric
        ``P(|t*| >= |t|)``; (c + 1) / (S + 1) for Monte Carlo methods.
    p_mcnemar_exact
        Conditional exact McNemar test, two-sided, whatever the method.
    """

    counts: PairedCounts
    method: Method
    n_replicates: int | None
    seed: int | None
    t: float
    p_value: float
    p_paper: float
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
            "method": self.method,
            "n_replicates": self.n_replicates,
            "seed": self.seed,
            "warning": self.warning,
        }


def _as_counts(sample: PairedCounts | MatchedSample) -> PairedCounts:
    return sample.counts if isinstance(sample, MatchedSample) else sample


def _run_engine(
    counts: PairedCounts,
    method: Method,
    *,
    n_replicates: int,
    seed: int,
    n_threads: int | None,
    t_replicates: NDArray[np.float64] | None = None,
) -> tuple[float, float, float]:
    options: dict[str, Any] = {
        "n_replicates": n_replicates,
        "key": philox_key(seed),
        "t_replicates": t_replicates,
        "n_threads": n_threads,
    }
    if method == "multinomial":
        four = (counts.n11, counts.n10, counts.n01, counts.n00)
        p_values, _ = core.stats.multinomial_test(*four, **options)
    else:
        p_values, _ = core.stats.resample_test(counts.differences(), **options)
    return p_values


def _check(method: str, n_replicates: int | None, seed: int) -> None:
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if n_replicates is not None:
        if method == "exact":
            raise InputError("the exact law has no replicates: leave n_replicates out")
        if not 1 <= n_replicates <= MAX_REPLICATES:
            raise InputError(
                f"n_replicates must be at least 1 and at most 2**63 - 1, not {n_replicates}"
            )
    if seed < 0:
        raise InputError(f"a seed must be 0 or more, not {seed}")


def paired_test(
    sample: PairedCounts | MatchedSample,
    *,
    method: Method = "exact",
    n_replicates: int | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> PairedTestResult:
    """Test whether a classifier is equally often right on two versions of the same texts.

    H0: the accuracies are equal (delta = 0); the alternative is two-sided.

    Parameters
    ----------
    sample
        A matched sample or its four counts.
    method
        ``exact`` (default) gives the p-value that the bootstrap tends to as S grows;
        ``multinomial`` draws S replicates in O(1) time each; ``resample`` draws S samples of n
        pairs, the definition itself.
    n_replicates
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
        If the method is unknown, n_replicates does not fit it, or the seed is negative.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, paired_test
    >>> result = paired_test(PairedCounts(7614, 614, 292, 1304))
    >>> round(result.t, 4)
    10.7606
    >>> result.p_value < 1e-25
    True
    """
    _check(method, n_replicates, seed)
    counts = _as_counts(sample)
    four = (counts.n11, counts.n10, counts.n01, counts.n00)
    used_replicates: int | None = None
    if method == "exact":
        p_value, p_paper, p_symmetric = core.stats.exact_p_values(*four)
    else:
        used_replicates = DEFAULT_N_REPLICATES if n_replicates is None else n_replicates
        p_value, p_paper, p_symmetric = _run_engine(
            counts, method, n_replicates=used_replicates, seed=seed, n_threads=n_threads
        )
        if counts.k == 0:
            # Every replicate is 0 as well; nothing is left for eq. 14 to measure.
            p_paper = 1.0
    return PairedTestResult(
        counts=counts,
        method=method,
        n_replicates=used_replicates,
        seed=None if method == "exact" else seed,
        t=counts.t,
        p_value=p_value,
        p_paper=p_paper,
        p_symmetric=p_symmetric,
        p_mcnemar_exact=core.stats.mcnemar_exact_p(*four),
    )


def draw_t_replicates(
    sample: PairedCounts | MatchedSample,
    *,
    method: Method = "multinomial",
    n_replicates: int = DEFAULT_N_REPLICATES,
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
    n_replicates, seed, n_threads
        As for :func:`paired_test`, which counts these very replicates.

    Returns
    -------
    ndarray of float64, shape (n_replicates,)

    Raises
    ------
    InputError
        If the method has no replicates, or as for :func:`paired_test`.
    """
    if method == "exact":
        raise InputError("the exact law has no replicates: choose multinomial or resample")
    _check(method, n_replicates, seed)
    t_replicates = np.empty(n_replicates, dtype=np.float64)
    _run_engine(
        _as_counts(sample),
        method,
        n_replicates=n_replicates,
        seed=seed,
        n_threads=n_threads,
        t_replicates=t_replicates,
    )
    return t_replicates
