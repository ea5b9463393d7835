"""One entrance for tests of two versions of the same texts: outcomes, counts, scores, clusters."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

import numpy as np

import ietest_fast
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.stats.clustered import clustered_test
from ietest_fast.stats.inputs import in_one_order
from ietest_fast.stats.matched import MatchedSample, PairedColumns, PairedCounts, read_pairs
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES, METHODS, Method, outcome_test
from ietest_fast.stats.scores import paired_mean_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.inputs import Rng
    from ietest_fast.stats.outcomes import PairedTestResult
    from ietest_fast.stats.resampling import Alternative
    from ietest_fast.stats.result import PairedResult
    from ietest_fast.stats.studentised import NullLaw


_PERCENT = 10


@overload
def paired_test(
    a: PairedCounts | MatchedSample,
    b: None = None,
    *,
    clusters: None = None,
    scores: bool = ...,
    method: Method | None = ...,
    null: NullLaw | None = ...,
    alternative: Alternative = ...,
    n_resamples: int | None = ...,
    rng: Rng = ...,
    quantiles: Sequence[float] = ...,
    keep_replicates: bool = ...,
    n_threads: int | None = ...,
) -> PairedTestResult: ...


@overload
def paired_test(
    a: Any,
    b: Any = None,
    *,
    clusters: Any = None,
    scores: bool = ...,
    method: Method | None = ...,
    null: NullLaw | None = ...,
    alternative: Alternative = ...,
    n_resamples: int | None = ...,
    rng: Rng = ...,
    quantiles: Sequence[float] = ...,
    keep_replicates: bool = ...,
    n_threads: int | None = ...,
) -> PairedResult: ...


@in_one_order
def paired_test(
    a: Any,
    b: Any = None,
    *,
    clusters: Any = None,
    scores: bool = False,
    method: Method | None = None,
    null: NullLaw | None = None,
    alternative: Alternative = "two-sided",
    n_resamples: int | None = None,
    rng: Rng = 0,
    quantiles: Sequence[float] = (),
    keep_replicates: bool = False,
    n_threads: int | None = None,
) -> PairedResult:
    """Test whether two versions of the same texts are answered equally well.

    H0: the mean of ``a`` equals the mean of ``b``, be it the accuracy (outcomes) or a mean score.
    Under H0 a pair may as well have been seen the other way round: a bootstrap sample draws pairs
    with replacement and swaps each with probability 1/2 (Konietschke and Pauly 2014). With
    clusters, the versions of whole clusters are swapped; their p-value is the mid-p of the exact
    law, or, if replicates are asked for, that of clusters that are drawn as well. Scores whose
    differences are skewed are not swapped; they have the studentised null law.

    Parameters
    ----------
    a
        The original version. Outcomes (is the classifier right on text i?), bool or 0 and 1, or
        scores (any numbers), shape (n,): a list, a NumPy array, a pandas, polars or Arrow column.
        Or both versions at once: a ``MatchedSample``, or its four ``PairedCounts``.
    b
        The other version of the same texts, in the same order, shape (n,). None beside a
        ``MatchedSample`` or counts.
    clusters
        Shape (n,), labels: texts with the same label (premise, annotator, document) may depend on
        each other in any way. Not for counts, which have no texts.
    scores
        Treat the columns as scores even if they hold nothing but 0 and 1. Otherwise they are
        scores if one of them holds any other number, and neither is of type bool.
    method
        ``exact`` is the default for outcomes; of independent ones it is the p-value that the
        bootstrap tends to as S grows. ``multinomial`` draws S replicates of the same law in O(1)
        time each.
        ``resample`` draws S samples of n pairs or clusters, the definition itself; it is the
        default, and the only method, for scores. Clusters of outcomes have ``exact``, the default
        without ``n_resamples``, and ``resample``.
    null
        The null law of t, for scores: ``symmetric`` swaps the versions by coins; ``studentised``
        is the bootstrap-t, for skewed differences. None takes the one that fits; the result says
        which, and warns where neither can be trusted.
    alternative
        ``two-sided``; ``greater``: ``a`` does better; ``less``: ``a`` does worse.
    n_resamples
        S, for Monte Carlo methods only; 10,000 if not given.
    rng
        A seed (0 or more; 0 is the default), a ``SeedSequence``, a ``Generator``, or None for a
        seed from the operating system. All draws are addressed Philox words of one seed, which
        the result reports: ``rng=result.seed`` repeats it, on any number of threads.
    quantiles
        Levels in [0, 1] at which quantiles of t* are wanted; scores only.
    keep_replicates
        Keep all t* in ``result.replicates``, 8 bytes each; scores only.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    PairedTestResult, ClusteredTestResult or MeanTestResult
        For independent outcomes, outcomes in clusters, and scores. All have ``statistic``,
        ``pvalue``, ``confidence_interval()``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    InputError
        If a column holds a missing value or no numbers, lengths differ, the method does not fit
        the data, an option is out of its range, or the test would take days.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, paired_test
    >>> result = paired_test(PairedCounts(7614, 614, 292, 1304))
    >>> round(result.statistic, 4), result.pvalue < 1e-25
    (10.7606, True)
    >>> print(result.confidence_interval())
    [0.0268, 0.0388]

    Scores, and outcomes of texts that share premises:

    >>> paired_test([0.9, 0.8, 0.7, 0.9], [0.8, 0.8, 0.6, 0.7]).n_resamples
    10000
    >>> paired_test([1, 1, 0, 1], [1, 0, 0, 0], clusters=["p", "p", "q", "r"]).n_clusters
    3
    """
    if method is not None and method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    pairs = read_pairs(a, b, clustered=clusters is not None, scores=scores)
    are_scores = isinstance(pairs, PairedColumns) and pairs.are_scores
    if isinstance(pairs, PairedColumns) and are_scores:
        _say_units(pairs.original, pairs.transformed)
    else:
        _refuse_options_of_scores(null, quantiles, keep_replicates=keep_replicates)
    if isinstance(pairs, PairedCounts):
        return outcome_test(
            pairs,
            method="exact" if method is None else method,
            alternative=alternative,
            n_resamples=n_resamples,
            rng=rng,
            n_threads=n_threads,
        )
    if method not in (None, "resample") and are_scores:
        raise InputError(f"scores are resampled; the method {method!r} is not for them")
    a, b = pairs.original, pairs.transformed
    if not are_scores:
        return clustered_test(
            a,
            b,
            clusters,
            method=method,
            alternative=alternative,
            n_resamples=n_resamples,
            rng=rng,
            n_threads=n_threads,
        )
    common: dict[str, Any] = {
        "alternative": alternative,
        "n_resamples": DEFAULT_N_RESAMPLES if n_resamples is None else n_resamples,
        "rng": rng,
        "n_threads": n_threads,
    }
    return paired_mean_test(
        a,
        b,
        clusters=clusters,
        null=null,
        quantiles=quantiles,
        keep_replicates=keep_replicates,
        **common,
    )


def _refuse_options_of_scores(
    null: NullLaw | None, quantiles: Sequence[float], *, keep_replicates: bool
) -> None:
    if keep_replicates or len(quantiles) > 0:
        name = "replicates" if len(quantiles) == 0 else "quantiles"
        raise InputError(f"{name} are of scores; these columns hold outcomes")
    if null is not None:
        raise InputError(
            "null names the null law of scores; these are outcomes, whose law is symmetric. Say "
            "scores=True to take them for scores"
        )


def _say_units(a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    """Warn of shares in one column and percentages, or other large numbers, in the other."""
    for name, low, other, high in (("a", a, "b", b), ("b", b, "a", a)):
        is_share = bool(low.size) and low.min() >= 0 and low.max() <= 1
        # An outlier is no other unit.
        is_more = is_share and high.max() >= _PERCENT and np.median(high[high != 0]) > 1
        if is_more:
            warnings.warn(
                f"the numbers of {name} are between 0 and 1, and those of {other} go up to "
                f"{high.max():g}; write both in one unit",
                IetestWarning,
                stacklevel=3,
            )


# One line that says how a result came about, for papers and bug reports.


def clean_field(text: object) -> str:
    """Make a text fit for a name in a signature: the separators cannot stand inside it."""
    return "".join("_" if c in "|:@" or c.isspace() else c for c in str(text))


def write_signature(kind: str, **fields: object) -> str:
    """Join fields to ``kind|name:value|...|v:VERSION``; None leaves a field out."""
    parts = [f"{name}:{value}" for name, value in fields.items() if value is not None]
    return "|".join([kind, *parts, f"v:{ietest_fast.__version__}"])


def write_signature_of_test(result: PairedTestResult, **fields: object) -> str:
    """Sign one paired test."""
    replicates = "" if result.n_resamples is None else f"{result.n_resamples}."
    return write_signature(
        "test",
        n=result.n,
        k=result.counts.k,
        S=f"{replicates}{result.method}",
        stat="t",
        alt=result.alternative.removesuffix("-sided"),
        seed=result.seed,
        **fields,
    )
