"""Which test keeps its level on data like mine? Null tables are simulated and tested.

The model. Of the difference A - B only the sign and whether it is 0 matter to tests of paired
outcomes. Under H0 a difference is +1 or -1 with probability psi/2 each and 0 otherwise. Dependence
is made by copying (Lunn and Davies 1998): an observation takes, with probability sqrt(icc), the
difference that its cluster drew, and else one of its own, so two observations of one cluster have
correlation icc and each keeps its law. Classifiers are tied in the same way: what the cluster or
the observation draws for classifier m is, with probability sqrt(r), a draw that all classifiers
share, so two classifiers have correlation r on one observation.

Scores. A difference is 0 with probability 1 - psi, else it follows Student's law with so many
degrees of freedom: few differences are large, as those of probabilities and losses are. It is the
quantile of that mixture at Phi(Z), Z being standard normal; dependence is that of the Z. With u, v
for the correlations of Z within a cluster and of two classifiers, observation i of cluster c and
classifier m has

    Z = sqrt(u) (sqrt(v) C[c] + sqrt(1 - v) C[c, m])
        + sqrt(1 - u) (sqrt(v) E[i] + sqrt(1 - v) E[i, m])

with independent standard normal C and E. The correlation of two differences is a function of that
of their Z, sum(a_k**2 * u**k) / sum(a_k**2) with the Hermite coefficients a_k of the quantile
(Cario and Nelson 1997, "NORTA"); u and v are those that give the correlations asked for.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.random import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.estimates import wilson_interval
from ietest_fast.stats.inputs import as_clusters, as_column
from ietest_fast.stats.matched import PairedCounts
from ietest_fast.stats.mcnemar import classical_p_values
from ietest_fast.stats.multiple import check_alpha
from ietest_fast.stats.outcomes import outcome_test
from ietest_fast.stats.resampling import check_options, to_squarable
from ietest_fast.stats.result import Result
from ietest_fast.stats.seeds import Rng, seed_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

# Streams of Philox, one for each thing that is drawn.
_INDEPENDENT, _DEPENDENT, _TESTS, _SCORES = 48, 49, 50, 51

#: Degrees of freedom of the differences of simulated scores, unless others are asked for.
DEFAULT_DF = 3.0
#: The fewest: nearer to 2, where the variance ends, correlations are no longer what was asked for.
MIN_DF = 2.1

#: A test is said to keep its level if its size is shown to lie below so many times the level.
MOST_EXCESS = 1.5
#: What a normal variable exceeds by three standard deviations with.
THREE_ERRORS = 0.00135
_WORDS = {True: "keeps its level", False: "TOO LARGE", None: "too few tables to say"}

# Draws of a test that are too few to be worth a meeting of several threads.
_FEW_DRAWS = 10**7

# So many Hermite coefficients say how correlated differences are; those beyond matter to
# correlations near 1 only.
_N_COEFFICIENTS = 300

#: Names of the tests in the order in which they are reported, and what each is.
TESTS = {
    "paired": "paired, exact",
    "mcnemar_exact": "McNemar, exact",
    "mcnemar_mid": "McNemar, mid-p",
    "mcnemar_asymptotic": "McNemar, chi-square",
    "mcnemar_corrected": "McNemar, corrected",
    "clustered": "paired, clustered",
    "joint": "joint max-|t|",
    "joint_clustered": "joint max-|t|, clustered",
    "scores": "paired scores",
    "scores_clustered": "paired scores, clustered",
}
_OF_COUNTS = tuple(TESTS)[:5]


@dataclass(frozen=True, kw_only=True)
class TestSize:
    """How often one test rejected a true H0.

    Attributes
    ----------
    test
        Its name, a key of ``TESTS``.
    n_rejected
        Tables that it rejected.
    size
        Their share.
    low, high
        95% Wilson interval of the true size.
    excess
        How many standard errors the share lies above the level; negative below.
    keeps_level
        False if a test that keeps its level would reject so many tables with a probability below
        0.135% (three standard errors). True if not, and the interval ends below one and a half
        times the level. None if the tables are too few to say.
    """

    __test__ = False  # no test case of pytest's

    test: str
    n_rejected: int
    size: float
    low: float
    high: float
    excess: float
    keeps_level: bool | None


@dataclass(frozen=True, kw_only=True)
class SimulationResult(Result):
    """Sizes of several tests on simulated null tables.

    Attributes
    ----------
    n, discordance
        Pairs in each table, and the probability psi that a pair is discordant: that its two
        outcomes, or scores, differ.
    df
        Degrees of freedom of the differences of scores; None for outcomes.
    n_clusters, icc
        Clusters in each table (n if observations are independent) and the correlation of two
        differences within one.
    n_classifiers, classifier_correlation
        M and the correlation of two classifiers' differences on one observation. With M > 1 a table
        counts as rejected if at least one classifier's p lies below alpha / M, or its adjusted p
        below alpha: sizes are family-wise.
    alpha
        Nominal level.
    n_tables, n_resamples, seed
        Simulated tables, S of the Monte Carlo tests, the seed.
    sizes
        One for each test.
    """

    title = "Sizes of tests on null tables"

    n: int
    discordance: float
    df: float | None
    n_clusters: int
    icc: float
    n_classifiers: int
    classifier_correlation: float
    alpha: float
    n_tables: int
    n_resamples: int
    seed: int
    sizes: tuple[TestSize, ...]

    def size_of(self, test: str) -> TestSize:
        """Return the line of one test.

        Raises
        ------
        InputError
            If it was not simulated; the message names those that were.
        """
        lines = {line.test: line for line in self.sizes}
        if test not in lines:
            raise InputError(f"there is no size of {test!r}; there are {', '.join(lines)}")
        return lines[test]

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result."""
        return {
            "n": self.n,
            "discordance": self.discordance,
            "df": self.df,
            "n_clusters": self.n_clusters,
            "icc": self.icc,
            "n_classifiers": self.n_classifiers,
            "classifier_correlation": self.classifier_correlation,
            "alpha": self.alpha,
            "n_tables": self.n_tables,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
            "sizes": [
                {
                    "test": line.test,
                    "n_rejected": line.n_rejected,
                    "size": line.size,
                    "low": line.low,
                    "high": line.high,
                    "excess": line.excess,
                    "keeps_level": line.keeps_level,
                }
                for line in self.sizes
            ],
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give the setting, then a line for each test."""
        setting = f"{self.n:,} pairs, {self.discordance:.4g} discordant"
        if self.df is not None:
            setting = f"{self.n:,} pairs of scores, {self.discordance:.4g} different"
            setting += f" (Student's t, df {self.df:g})"
        if self.n_clusters < self.n:
            setting += f", {self.n_clusters:,} clusters (correlation {self.icc:.3g})"
        rows = [("tables", f"{self.n_tables:,} of {setting}")]
        if self.n_classifiers > 1:
            r = self.classifier_correlation
            family = "sizes are family-wise (Bonferroni but for max-|t|)"
            rows.append(("classifiers", f"{self.n_classifiers} (correlation {r:.3g}); {family}"))
        rows.append(("nominal level", f"{self.alpha:.2%}"))
        for line in self.sizes:
            word = _WORDS[line.keeps_level]
            name = TESTS[line.test]
            rows.append(
                (name, f"{line.size:6.2%}  [{line.low:.2%}, {line.high:.2%}]  {word}"),
            )
        return rows

    def remarks(self) -> list[str]:
        """Say what to do."""
        liberal = [TESTS[line.test] for line in self.sizes if line.keeps_level is False]
        open_ = [TESTS[line.test] for line in self.sizes if line.keeps_level is None]
        said = []
        if liberal:
            said.append(f"Do not use on such data: {'; '.join(liberal)}.")
        if open_:
            which = "any test" if len(open_) == len(self.sizes) else "; ".join(open_)
            said.append(
                f"{self.n_tables:,} {'table is' if self.n_tables == 1 else 'tables are'} too few "
                f"to say whether {which} keeps its level: simulate more tables."
            )
        return said or ["Every test keeps its level on such data."]


def simulate(
    n: int,
    discordance: float,
    *,
    scores: bool = False,
    df: float = DEFAULT_DF,
    clusters: ArrayLike | None = None,
    icc: float = 0.0,
    n_classifiers: int = 1,
    classifier_correlation: float = 0.0,
    tests: tuple[str, ...] | None = None,
    alpha: float = 0.05,
    n_tables: int = 10_000,
    n_resamples: int = 1_000,
    rng: Rng = 0,
    n_threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Simulate null tables and report how often each test rejects them.

    A test's size is the share of tables with equal accuracies that it rejects at level alpha. The
    model of the tables stands at the head of this module.

    Parameters
    ----------
    n
        Pairs in each table.
    discordance
        psi, the probability that a pair is discordant (that its scores differ).
    scores
        Whether to simulate real-valued scores rather than outcomes.
    df
        Degrees of freedom, 2.1 or more, of the law of the scores' differences; the fewer, the
        heavier its tails.
    clusters
        Shape (n,), labels of the clusters as in the user's data, of any type;
        None for independent observations.
    icc
        Correlation of two differences of one cluster, in [0, 1];
        :func:`intra_cluster_correlation` estimates it.
    n_classifiers
        M.
    classifier_correlation
        Correlation of two classifiers' differences on one observation, in [0, 1].
    tests
        Keys of ``TESTS``; None for those that fit: all tests of counts, ``clustered`` with clusters
        and one classifier, ``joint`` with several classifiers, ``joint_clustered`` with both. For
        scores ``scores`` (:func:`paired_score_test`) and with clusters ``scores_clustered``, or
        the joint tests.
    alpha
        Nominal level.
    n_tables
        How many tables.
    n_resamples
        S of the Monte Carlo tests. With (c + 1) / (S + 1) any S keeps a level.
    rng
        A seed of 0 or more, a ``SeedSequence``, a ``Generator`` or None, see
        :func:`ietest_fast.stats.paired_test`.
    n_threads
        Threads; None for all cores. No result depends on it.
    progress
        Called with the number of tables done.

    Returns
    -------
    SimulationResult

    Raises
    ------
    InputError
        If an argument is out of its range, or a test does not fit the tables.

    Examples
    --------
    >>> from ietest_fast.stats import simulate
    >>> result = simulate(1_000, 0.1, n_tables=2_000)
    >>> result.size_of("paired").keeps_level
    True
    """
    _check_range(
        n,
        discordance,
        icc,
        classifier_correlation,
        n_classifiers=n_classifiers,
        n_tables=n_tables,
    )
    check_options(alternative="two-sided", n_resamples=n_resamples, n_threads=n_threads)
    seed = seed_of(rng)
    check_alpha(alpha)
    codes, n_clusters = (None, n) if clusters is None else as_clusters(clusters, n)
    if codes is None and icc > 0:
        raise InputError("a correlation within clusters needs clusters")
    names = _choose(tests, scores=scores, clustered=codes is not None, n_classifiers=n_classifiers)
    law = _ScoreLaw(discordance, df) if scores else None

    tables: Iterator[NDArray[Any]]
    needs_rows = not set(names) <= set(_OF_COUNTS)
    if law is not None:
        correlations = law.latent(icc), law.latent(classifier_correlation)
        tables = (
            law.draw((n, n_classifiers), codes, n_clusters, *correlations, counter=(seed, table))
            for table in range(n_tables)
        )
    elif codes is None and n_classifiers == 1 and not needs_rows:
        tables = iter(_draw_counts(n, discordance, n_tables, seed))
    else:
        tables = (
            _draw(
                (n, n_classifiers),
                discordance,
                codes,
                n_clusters,
                icc=icc,
                r=classifier_correlation,
                counter=(seed, table),
            )
            for table in range(n_tables)
        )
    level = alpha / n_classifiers
    rejected = dict.fromkeys(names, 0)
    known: dict[tuple[int, int], dict[str, float]] = {}
    for table, drawn in enumerate(tables):
        of_counts = []
        for pair in () if scores else _discordant_pairs(drawn):
            if pair not in known:
                known[pair] = _p_values(n, *pair)
            of_counts.append(known[pair])
        for name in names:
            if name in _OF_COUNTS:
                rejected[name] += any(p[name] < level for p in of_counts)
                continue
            smallest = _smallest_p(
                name, drawn, codes, n_resamples=n_resamples, key=(seed, table), threads=n_threads
            )
            rejected[name] += smallest < alpha
        if progress is not None:
            progress(table + 1)
    return SimulationResult(
        n=n,
        discordance=discordance,
        df=float(df) if scores else None,
        n_clusters=n_clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        alpha=alpha,
        n_tables=n_tables,
        n_resamples=n_resamples,
        seed=seed,
        sizes=tuple(_summarise(name, count, n_tables, alpha) for name, count in rejected.items()),
    )


def draw_null_differences(
    n: int,
    discordance: float,
    *,
    clusters: ArrayLike | None = None,
    icc: float = 0.0,
    n_classifiers: int = 1,
    classifier_correlation: float = 0.0,
    rng: Rng = 0,
    table: int = 0,
) -> NDArray[np.int8]:
    """Draw the differences A - B of one null table.

    Parameters
    ----------
    n, discordance, clusters, icc, n_classifiers, classifier_correlation, rng
        As for :func:`simulate`.
    table
        Which table; it depends on this and on ``rng`` only, if that is a number.

    Returns
    -------
    ndarray of int8, shape (n, n_classifiers)
        +1, -1 and 0.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    _check_range(
        n,
        discordance,
        icc,
        classifier_correlation,
        n_classifiers=n_classifiers,
        table=table,
    )
    seed = seed_of(rng)
    codes, n_clusters = (None, n) if clusters is None else as_clusters(clusters, n)
    return _draw(
        (n, n_classifiers),
        discordance,
        codes,
        n_clusters,
        icc=icc,
        r=classifier_correlation,
        counter=(seed, table),
    )


def draw_null_scores(
    n: int,
    discordance: float,
    *,
    df: float = DEFAULT_DF,
    clusters: ArrayLike | None = None,
    icc: float = 0.0,
    n_classifiers: int = 1,
    classifier_correlation: float = 0.0,
    rng: Rng = 0,
    table: int = 0,
) -> NDArray[np.float64]:
    """Draw the differences of the scores of one null table.

    Parameters
    ----------
    n, discordance, df, clusters, icc, n_classifiers, classifier_correlation, rng
        As for :func:`simulate`.
    table
        Which table; it depends on this and on ``rng`` only, if that is a number.

    Returns
    -------
    ndarray of float64, shape (n, n_classifiers)
        Original minus transformed.

    Raises
    ------
    InputError
        If an argument is out of its range.
    """
    _check_range(
        n,
        discordance,
        icc,
        classifier_correlation,
        n_classifiers=n_classifiers,
        table=table,
    )
    seed = seed_of(rng)
    codes, n_clusters = (None, n) if clusters is None else as_clusters(clusters, n)
    law = _ScoreLaw(discordance, df)
    return law.draw(
        (n, n_classifiers),
        codes,
        n_clusters,
        law.latent(icc),
        law.latent(classifier_correlation),
        counter=(seed, table),
    )


class _ScoreLaw:
    """Zeros and Student's law, as a function of standard normal variables."""

    def __init__(self, psi: float, df: float) -> None:
        if not MIN_DF <= df < math.inf:  # a NaN is not, either
            raise InputError(
                f"the degrees of freedom must be a number of {MIN_DF} or more, not {df}"
            )
        self._psi = psi
        self._df = float(df)

    def quantile(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the mixture's quantiles at Phi(z)."""
        from scipy.special import ndtr, stdtrit

        differences = np.zeros(z.shape)
        tail = ndtr(-np.abs(z))
        large = tail < self._psi / 2
        differences[large] = np.copysign(stdtrit(self._df, tail[large] / self._psi), z[large])
        return differences

    def draw(
        self,
        shape: tuple[int, int],
        codes: NDArray[np.int64] | None,
        n_clusters: int,
        within: float,
        between: float,
        *,
        counter: tuple[int, int],
    ) -> NDArray[np.float64]:
        """Draw a table, given the correlations of Z within clusters and between classifiers."""
        n, m = shape
        rng = _generator(*counter, stream=_SCORES)

        def draw(rows: int) -> NDArray[np.float64]:
            own = rng.standard_normal((rows, m))
            if m == 1 or between == 0:
                return own
            shared = rng.standard_normal((rows, 1))
            return math.sqrt(between) * shared + math.sqrt(1 - between) * own

        z = draw(n)
        if codes is not None and within > 0:
            of_cluster = draw(n_clusters)[codes]
            z = math.sqrt(within) * of_cluster + math.sqrt(1 - within) * z
        return self.quantile(z)

    def latent(self, correlation: float) -> float:
        """Give the correlation of two Z whose quantiles have the correlation asked for."""
        if correlation in (0, 1) or self._psi == 0:
            return correlation
        from scipy.optimize import brentq

        return float(brentq(lambda r: self.correlation(r) - correlation, 0.0, 1.0, xtol=1e-12))

    def correlation(self, latent: float) -> float:
        """Give the correlation of two differences from that of their Z."""
        squares = self._squares
        # The quantile is odd, and every second coefficient 0. Those beyond the last go with it.
        rest = max(0.0, self._psi * self._df / (self._df - 2) - float(squares.sum()))
        powers = latent ** (2.0 * np.arange(squares.size + 1) + 1)
        weights = np.append(squares, rest)
        return float(weights @ powers / weights.sum())

    @functools.cached_property
    def _squares(self) -> NDArray[np.float64]:
        """Squares of the Hermite coefficients 1, 3, 5, ..."""
        step = 1e-3
        z = np.arange(step / 2, 12, step)  # the quantile is odd: one half is enough
        weight = 2 * step * self.quantile(z) * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        coefficients = []
        before, now = np.zeros_like(z), np.ones_like(z)  # Hermite polynomials over sqrt(k!)
        for k in range(_N_COEFFICIENTS):
            if k % 2 == 1:
                coefficients.append(float((weight * now).sum()))
            before, now = now, (z * now - math.sqrt(k) * before) / math.sqrt(k + 1)
        return np.square(coefficients)


def _generator(seed: int, table: int, *, stream: int) -> np.random.Generator:
    """Give the random numbers of one table."""
    start = np.array([0, table, stream, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=philox_key(seed), counter=start))


def _draw(
    shape: tuple[int, int],
    psi: float,
    codes: NDArray[np.int64] | None,
    n_clusters: int,
    *,
    icc: float,
    r: float,
    counter: tuple[int, int],
) -> NDArray[np.int8]:
    n, m = shape
    rng = _generator(*counter, stream=_DEPENDENT)

    def draw(rows: int) -> NDArray[np.int8]:
        own = _signs(rng.random((rows, m)), psi)
        if m == 1 or r == 0:
            return own
        shared = _signs(rng.random((rows, 1)), psi)
        return np.where(rng.random((rows, m)) < math.sqrt(r), shared, own)

    own = draw(n)
    if codes is None or icc == 0:
        return own
    of_cluster = draw(n_clusters)
    return np.where(rng.random((n, 1)) < math.sqrt(icc), of_cluster[codes], own)


def intra_cluster_correlation(values: ArrayLike, clusters: ArrayLike) -> float:
    """Estimate the correlation of two values of one cluster by analysis of variance.

    With mean squares B between and W within C clusters of sizes n_c,
    ``(B - W) / (B + (n0 - 1) W)``, where ``n0 = (n - sum(n_c**2) / n) / (C - 1)``
    (Donner and Koval 1980).

    Parameters
    ----------
    values
        Shape (n,), for paired data the differences A - B.
    clusters
        Shape (n,), labels.

    Returns
    -------
    float
        At least 0: negative estimates are set to 0. 0 if all values are equal or every cluster has
        one observation only.

    Raises
    ------
    InputError
        If the lengths differ or values are missing.
    """
    x = as_column(values, "values").astype(np.float64)
    codes, n_clusters = as_clusters(clusters, x.size)
    sizes = np.bincount(codes, minlength=n_clusters)
    if n_clusters == x.size:
        return 0.0
    x, _ = to_squarable(x)
    means = np.bincount(codes, weights=x, minlength=n_clusters) / sizes
    between = float((sizes * (means - x.mean()) ** 2).sum()) / (n_clusters - 1)
    within = float(((x - means[codes]) ** 2).sum()) / (x.size - n_clusters)
    n0 = (x.size - float((sizes**2).sum()) / x.size) / (n_clusters - 1)
    spread = between + (n0 - 1) * within
    return max(0.0, (between - within) / spread) if spread > 0 else 0.0


def _signs(u: NDArray[np.float64], psi: float) -> NDArray[np.int8]:
    return (u < psi / 2).astype(np.int8) - (u >= 1 - psi / 2).astype(np.int8)


def _draw_counts(n: int, psi: float, n_tables: int, seed: int) -> NDArray[np.int64]:
    law = np.array([psi / 2, psi / 2, 1 - psi])
    counts: NDArray[np.int64] = core.random.multinomials(
        philox_key(seed), _INDEPENDENT, n, law, n_tables
    )
    return counts


def _discordant_pairs(drawn: NDArray[Any]) -> list[tuple[int, int]]:
    """(n10, n01) of each classifier, from the differences or from three counts."""
    if drawn.ndim == 1:
        return [(int(drawn[0]), int(drawn[1]))]
    return [(int((d > 0).sum()), int((d < 0).sum())) for d in drawn.T]


def _check_range(n: int, psi: float, icc: float, r: float, **counts: int) -> None:
    for name, count in (("n", n), *counts.items()):
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)):
            raise InputError(f"{name} must be an integer, not {count!r}")
    if n < 2:
        raise InputError(f"a paired test needs at least two pairs, not {n}")
    for name, count in counts.items():
        least = 0 if name == "table" else 1
        if count < least:
            raise InputError(f"{name} must be {least} or more, not {count}")
    for name, value in (
        ("the discordance", psi),
        ("the correlation within clusters", icc),
        ("the correlation of classifiers", r),
    ):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must lie between 0 and 1, not {value}")
    check_options(alternative="two-sided", n_resamples=1)


def _choose(
    tests: tuple[str, ...] | None, *, scores: bool, clustered: bool, n_classifiers: int
) -> tuple[str, ...]:
    of_one = ["scores", "scores_clustered"] if scores else [*_OF_COUNTS, "clustered"]
    fitting = of_one if not scores or n_classifiers == 1 else []
    if not clustered or n_classifiers > 1:
        fitting = [name for name in fitting if not name.endswith("clustered")]
    if n_classifiers > 1:
        fitting.append("joint")
        if clustered:
            fitting.append("joint_clustered")
    if tests is None:
        return tuple(fitting)
    for name in tests:
        if name not in TESTS:
            raise InputError(f"there is no test {name!r}; there are {', '.join(TESTS)}")
        if name not in fitting:
            raise InputError(
                f"the test {name!r} does not fit these tables; those that do are "
                f"{', '.join(fitting)}"
            )
    return tuple(dict.fromkeys(tests))


def _p_values(n: int, n10: int, n01: int) -> dict[str, float]:
    """All tests of counts, two-sided."""
    counts = PairedCounts(n - n10 - n01, n10, n01, 0)
    classical = classical_p_values(counts)
    return {
        "paired": outcome_test(counts).p_value,
        "mcnemar_exact": classical["p_conditional"],
        "mcnemar_mid": classical["p_mid"],
        "mcnemar_asymptotic": classical["p_asymptotic"],
        "mcnemar_corrected": classical["p_corrected"],
    }


def _smallest_p(
    name: str,
    differences: NDArray[Any],
    codes: NDArray[np.int64] | None,
    *,
    n_resamples: int,
    key: tuple[int, int],
    threads: int | None,
) -> float:
    """One Monte Carlo test of one table: its p, or the smallest adjusted p of M."""
    if differences.dtype.kind == "f":
        original, transformed = differences, np.zeros_like(differences)
    else:
        original, transformed = differences >= 0, differences <= 0
    if differences.shape[0] * n_resamples <= _FEW_DRAWS:
        threads = 1
    # The tests' own seed: tables and resamples must not share their words.
    seed = int(philox_key([*key, _TESTS])[0])
    options: dict[str, Any] = {
        "n_resamples": n_resamples,
        "rng": seed,
        "n_threads": threads,
    }
    if name == "clustered":
        from ietest_fast.stats.clustered import clustered_test

        return float(clustered_test(original[:, 0], transformed[:, 0], codes, **options).p_value)
    if name in ("scores", "scores_clustered"):
        from ietest_fast.stats.scores import paired_score_test

        clusters = codes if name == "scores_clustered" else None
        return float(
            paired_score_test(
                original[:, 0], transformed[:, 0], clusters=clusters, **options
            ).p_value
        )
    from ietest_fast.stats.joint import joint_test

    clusters = codes if name == "joint_clustered" else None
    # Max-|t| is what is simulated; min-p would cost more.
    result = joint_test(original, transformed, clusters=clusters, min_p=False, **options)
    return float(np.min(result.p_max_t))


def _summarise(name: str, n_rejected: int, n_tables: int, alpha: float) -> TestSize:
    size = n_rejected / n_tables
    interval = wilson_interval(n_rejected, n_tables)
    from scipy.special import bdtrc

    keeps_level: bool | None = None
    if n_rejected and bdtrc(n_rejected - 1, n_tables, alpha) < THREE_ERRORS:
        keeps_level = False
    elif interval.high <= MOST_EXCESS * alpha:
        keeps_level = True
    return TestSize(
        test=name,
        n_rejected=n_rejected,
        size=size,
        low=interval.low,
        high=interval.high,
        excess=(size - alpha) / math.sqrt(alpha * (1 - alpha) / n_tables),
        keeps_level=keeps_level,
    )
