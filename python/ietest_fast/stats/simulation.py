"""Which test keeps its level on data like mine? Null tables are simulated and tested."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.random import philox_key
from ietest_fast.stats.matched import PairedCounts
from ietest_fast.stats.mcnemar import classical_p_values
from ietest_fast.stats.multiple import check_alpha
from ietest_fast.stats.null_tables import DEFAULT_DF, NullTables
from ietest_fast.stats.outcomes import outcome_test
from ietest_fast.stats.resampling import check_options
from ietest_fast.stats.result import Result
from ietest_fast.stats.score_intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.seeds import Rng

# Stream of Philox; null_tables.py has others.
_TESTS = 50

#: A test is said to keep its level if its size is shown to lie below so many times the level.
MOST_EXCESS = 1.5

#: What a normal variable exceeds by three standard deviations with.
THREE_ERRORS = 0.00135

_WORDS = {True: "keeps its level", False: "TOO LARGE", None: "too few tables to say"}

# Draws of a test that are too few to be worth a meeting of several threads.
_FEW_DRAWS = 10**7

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
    model of the tables stands at the head of :mod:`ietest_fast.stats.null_tables`.

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
    setting = NullTables.of(
        n,
        discordance,
        clusters=clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        rng=rng,
        n_tables=n_tables,
    )
    check_options(alternative="two-sided", n_resamples=n_resamples, n_threads=n_threads)
    check_alpha(alpha)
    codes, seed = setting.codes, setting.seed
    names = _choose(tests, scores=scores, clustered=codes is not None, n_classifiers=n_classifiers)

    tables: Iterable[NDArray[Any]]
    if scores:
        tables = map(setting.score_drawer(df), range(n_tables))
    elif codes is None and n_classifiers == 1 and set(names) <= set(_OF_COUNTS):
        tables = setting.draw_counts(n_tables)
    else:
        tables = map(setting.draw_differences, range(n_tables))
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
        n_clusters=setting.n_clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        alpha=alpha,
        n_tables=n_tables,
        n_resamples=n_resamples,
        seed=seed,
        sizes=tuple(_summarise(name, count, n_tables, alpha) for name, count in rejected.items()),
    )


def _discordant_pairs(drawn: NDArray[Any]) -> list[tuple[int, int]]:
    """(n10, n01) of each classifier, from the differences or from three counts."""
    if drawn.ndim == 1:
        return [(int(drawn[0]), int(drawn[1]))]
    return [(int((d > 0).sum()), int((d < 0).sum())) for d in drawn.T]


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
