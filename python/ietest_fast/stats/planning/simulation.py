"""Which test keeps its level on data like mine? Null tables are simulated and tested."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats.inputs import in_one_order
from ietest_fast.stats.intervals import Differences, wilson_interval
from ietest_fast.stats.laws.bootstrap import DEFAULT_DF
from ietest_fast.stats.laws.null import NullTables, ObservedTables, check_count
from ietest_fast.stats.matched import PairedCounts
from ietest_fast.stats.mcnemar import classical_p_values
from ietest_fast.stats.multiple import check_alpha
from ietest_fast.stats.outcomes import outcome_test
from ietest_fast.stats.resampling import check_options, monte_carlo_p, sort_into_types, sum_clusters
from ietest_fast.stats.result import Result, list_fields
from ietest_fast.stats.studentised import NULL_LAWS, StudentisedUnits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.inputs import Rng


# The tests whose levels are simulated, each on the differences of one null table.

# Stream of Philox; null_tables.py has others.
_TESTS = 50

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
    "scores_symmetric": "  symmetric null law",
    "scores_studentised": "  studentised null law",
    "scores_clustered": "paired scores, clustered",
    "scores_symmetric_clustered": "  symmetric, clustered",
    "scores_studentised_clustered": "  studentised, clustered",
}

OF_COUNTS = tuple(TESTS)[:5]
_OF_SCORES = tuple(name for name in TESTS if name.startswith("scores"))


@dataclass(frozen=True, kw_only=True)
class SimulatedTest:
    """What one test says of one table: its p-value (adjusted, of M), and whether it warns."""

    p_value: float
    warns: bool = False


def discordant_pairs(drawn: NDArray[Any]) -> list[tuple[int, int]]:
    """Return (n10, n01) of each classifier, from the differences or from three counts."""
    if drawn.ndim == 1:
        return [(int(drawn[0]), int(drawn[1]))]
    return [(int((d > 0).sum()), int((d < 0).sum())) for d in drawn.T]


def choose_tests(
    tests: tuple[str, ...] | None, *, scores: bool, clustered: bool, n_classifiers: int
) -> tuple[str, ...]:
    """Return the names of the tests that fit the tables, or those asked for."""
    if n_classifiers > 1:
        fitting = [*(() if scores else OF_COUNTS), "joint", "joint_clustered"]
    else:
        fitting = [*_OF_SCORES] if scores else [*OF_COUNTS, "clustered"]
    if not clustered:
        fitting = [name for name in fitting if not name.endswith("clustered")]
    if tests is None:
        return tuple(fitting)
    if not isinstance(tests, (tuple, list)) or not tests:
        raise InputError(f"tests must be names of tests, such as ({fitting[0]!r},), not {tests!r}")
    for name in tests:
        if name not in TESTS:
            raise InputError(f"there is no test {name!r}; there are {', '.join(TESTS)}")
        if name not in fitting:
            raise InputError(
                f"the test {name!r} does not fit these tables; those that do are "
                f"{', '.join(fitting)}"
            )
    return tuple(dict.fromkeys(tests))


def p_values_of_counts(n: int, n10: int, n01: int) -> dict[str, float]:
    """Return the p-values of all tests of counts, two-sided."""
    counts = PairedCounts(n - n10 - n01, n10, n01, 0)
    classical = classical_p_values(counts)
    return {
        "paired": outcome_test(counts).p_value,
        "mcnemar_exact": classical["p_conditional"],
        "mcnemar_mid": classical["p_mid"],
        "mcnemar_asymptotic": classical["p_asymptotic"],
        "mcnemar_corrected": classical["p_corrected"],
    }


def run_tests(
    names: tuple[str, ...],
    differences: NDArray[Any],
    codes: NDArray[np.int64] | None,
    *,
    n_resamples: int,
    key: tuple[int, int],
    threads: int | None,
) -> dict[str, SimulatedTest]:
    """Run the Monte Carlo tests among ``names`` on one table."""
    if differences.shape[0] * n_resamples <= _FEW_DRAWS:
        threads = 1
    # The tests' own seed: tables and resamples must not share their words.
    seed = int(philox_key([*key, _TESTS])[0])
    found: dict[str, SimulatedTest] = {}
    for clustered in (False, True):
        wanted = {
            name for name in names if name in _OF_SCORES and name.endswith("clustered") is clustered
        }
        if wanted:
            found |= _test_scores(
                wanted,
                differences[:, 0],
                codes if clustered else None,
                n_resamples=n_resamples,
                seed=seed,
                threads=threads,
            )
    options: dict[str, Any] = {"n_resamples": n_resamples, "rng": seed, "n_threads": threads}
    if differences.dtype.kind == "f":
        original, transformed = differences, np.zeros_like(differences)
    else:
        original, transformed = differences >= 0, differences <= 0
    if "clustered" in names:
        from ietest_fast.stats.clustered import clustered_test

        columns = original[:, 0], transformed[:, 0]
        result = clustered_test(*columns, codes, method="resample", **options)
        found["clustered"] = SimulatedTest(p_value=float(result.p_value))
    for name, clusters in (("joint", None), ("joint_clustered", codes)):
        if name in names:
            from ietest_fast.stats.joint import joint_test

            # Max-|t| is what is simulated; min-p would cost more.
            joint = joint_test(original, transformed, clusters=clusters, min_p=False, **options)
            found[name] = SimulatedTest(
                p_value=float(np.min(joint.p_max_t)), warns=joint.warning is not None
            )
    return found


def _test_scores(
    wanted: set[str],
    differences: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    *,
    n_resamples: int,
    seed: int,
    threads: int | None,
) -> dict[str, SimulatedTest]:
    """Test one column of scores by both null laws as far as wanted, and by the one that fits."""
    from ietest_fast.stats.scores import run_score_test

    n_clusters = None if codes is None else int(codes.max()) + 1
    units = StudentisedUnits.of(Differences.of(differences), codes, n_clusters)
    ending = "" if codes is None else "_clustered"
    default = f"scores_{units.fits}{ending}"
    needed = (wanted | {default}) if f"scores{ending}" in wanted else wanted
    p_values = {}
    if f"scores_symmetric{ending}" in needed:
        column = differences[:, None]
        if codes is not None and n_clusters is not None:
            column = sum_clusters(column, np.zeros_like(column), codes, n_clusters)
        p_values[f"scores_symmetric{ending}"] = run_score_test(
            sort_into_types(column),
            alternative="two-sided",
            n_resamples=n_resamples,
            seed=seed,
            n_threads=threads,
        )["p_value"]
    if f"scores_studentised{ending}" in needed:
        (tails,), _ = units.count_tails(
            [0.0], n_resamples=n_resamples, seed=seed, n_threads=threads
        )
        p_values[f"scores_studentised{ending}"] = monte_carlo_p("two-sided", *tails, n_resamples)
    if f"scores{ending}" in wanted:
        p_values[f"scores{ending}"] = p_values[default]
    warns = {law: units.warn(law, unit="pairs") is not None for law in NULL_LAWS}
    laws = {f"scores_{law}{ending}": law for law in NULL_LAWS} | {f"scores{ending}": units.fits}
    return {
        name: SimulatedTest(p_value=p, warns=warns[laws[name]])
        for name, p in p_values.items()
        if name in wanted
    }


#: A test is said to keep its level if its size is shown to lie below so many times the level.
MOST_EXCESS = 1.5

#: What a normal variable exceeds by three standard deviations with.
THREE_ERRORS = 0.00135

_WORDS = {True: "below {bound:.2%}", False: "TOO LARGE", None: "too few tables to say"}


@dataclass(frozen=True, kw_only=True)
class TestSize:
    """How often one test rejected a true H0."""

    __test__ = False  # no test case of pytest's

    test: str
    """Its name, a key of ``TESTS``."""
    n_rejected: int
    """Tables that it rejected."""
    size: float
    """Their share."""
    low: float
    high: float
    """95% Wilson interval of the true size."""
    excess: float
    """How many standard errors the share lies above the level; negative below."""
    keeps_level: bool | None
    """False if a test that keeps its level would reject so many tables with a probability below
    0.135% (three standard errors). True if not, and the interval ends below one and a half times
    the level. None if the tables are too few to say."""
    n_warned: int = 0
    """Tables on which the test of scores warned: too few differences, or too skewed ones."""
    n_rejected_unwarned: int = 0
    """Tables that it rejected without such a warning."""


@dataclass(frozen=True, kw_only=True)
class SimulationResult(Result):
    """Sizes of several tests on simulated null tables."""

    title = "Sizes of tests on null tables"

    n: int
    discordance: float
    """Pairs in each table, and the probability psi that a pair is discordant: that its two
    outcomes, or scores, differ."""
    law: str | None
    """What differences of scores follow: ``student``, ``lognormal`` (about its mean), or
    ``observed``, the ones given; None for outcomes."""
    df: float | None
    skew: float | None
    """Degrees of freedom of Student's law, and the sigma of the lognormal one; None for others."""
    n_clusters: int
    icc: float | None
    """Clusters in each table (n if observations are independent) and the correlation of two
    differences within one; None where whole observed clusters are drawn."""
    n_classifiers: int
    classifier_correlation: float | None
    """M and the correlation of two classifiers' differences on one observation, None where they are
    observed. With M > 1 a table counts as rejected if at least one classifier's p lies below alpha
    / M, or its adjusted p below alpha: sizes are family-wise."""
    alpha: float
    """Nominal level."""
    n_tables: int
    n_resamples: int
    seed: int
    """Simulated tables, S of the Monte Carlo tests, the seed."""
    sizes: tuple[TestSize, ...]
    """One for each test."""

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
        return list_fields(self) | {"sizes": [asdict(line) for line in self.sizes]}

    def rows(self) -> list[tuple[str, str]]:
        """Give the setting, then a line for each test."""
        setting = f"{self.n:,} pairs, {self.discordance:.4g} discordant"
        if self.law is not None:
            setting = f"{self.n:,} pairs of scores, {self.discordance:.4g} different"
            setting += {
                "student": f" (Student's t, df {self.df or 0:g})",
                "lognormal": f" (lognormal about its mean, sigma {self.skew or 0:g})",
                "observed": " (drawn from those given, centred)",
            }[self.law]
        if self.n_clusters < self.n:
            setting += f", {self.n_clusters:,} clusters"
            setting += " (drawn whole)" if self.icc is None else f" (correlation {self.icc:.3g})"
        rows = [("tables", f"{self.n_tables:,} of {setting}")]
        if self.n_classifiers > 1:
            r = self.classifier_correlation
            family = "sizes are family-wise (Bonferroni but for max-|t|)"
            tie = "as observed" if r is None else f"correlation {r:.3g}"
            rows.append(("classifiers", f"{self.n_classifiers} ({tie}); {family}"))
        rows.append(("nominal level", f"{self.alpha:.2%}"))
        for line in self.sizes:
            word = _WORDS[line.keeps_level].format(bound=MOST_EXCESS * self.alpha)
            name = TESTS[line.test]
            size = f"{line.size:6.2%}  [{line.low:.2%}, {line.high:.2%}]  {word}"
            if line.n_warned:
                unwarned = line.n_rejected_unwarned / self.n_tables
                size += f"; warns on {line.n_warned / self.n_tables:.0%}, "
                size += f"rejects without a warning {unwarned:.2%}"
                n_quiet = self.n_tables - line.n_warned
                if n_quiet:
                    share = line.n_rejected_unwarned / n_quiet
                    size += f" ({share:.1%} of the tables without one)"
            rows.append((name, size))
        return rows

    def remarks(self) -> list[str]:
        """Say what to do."""
        liberal = [_name(line.test) for line in self.sizes if line.keeps_level is False]
        open_ = [_name(line.test) for line in self.sizes if line.keeps_level is None]
        said = []
        if liberal:
            said.append(f"Do not use on such data: {'; '.join(liberal)}.")
        if open_:
            which = "any test" if len(open_) == len(self.sizes) else "; ".join(open_)
            said.append(
                f"{self.n_tables:,} {'table is' if self.n_tables == 1 else 'tables are'} too few "
                f"to say whether {which} exceeds its level: simulate more tables."
            )
        bound = f"{MOST_EXCESS:g} times it"
        each = f"each size is shown to lie below {bound}"
        said = said or [f"No test is shown to exceed its level; {each}, in this model."]
        if self.law == "student":
            said.append(
                "These differences are symmetric. Skewed ones are drawn by skew=, or from your own."
            )
        return said


def _name(test: str) -> str:
    """Return a test's name for a sentence."""
    return TESTS[test] if not TESTS[test].startswith(" ") else f"paired scores,{TESTS[test][1:]}"


@in_one_order
def simulate(
    n: int | None = None,
    discordance: float | None = None,
    *,
    scores: bool = False,
    differences: ArrayLike | None = None,
    df: float | None = None,
    skew: float | None = None,
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
    model of the tables stands at the head of :mod:`ietest_fast.stats.laws.null`.

    Parameters
    ----------
    n
        Pairs in each table; None with ``differences``.
    discordance
        psi, the probability that a pair is discordant (that its scores differ); None with
        ``differences``.
    scores
        Whether to simulate real-valued scores rather than outcomes.
    differences
        Shape (n,) or (n, M): the differences of your scores, original minus transformed. Tables
        are drawn from them after those that are not 0 were centred, with replacement and by whole
        clusters, so that they are as skewed as yours. No other law, and no correlation, is then to
        be given.
    df
        Degrees of freedom, 2.1 or more, of Student's law of the scores' differences; the fewer, the
        heavier its tails. None for 3.
    skew
        Instead: sigma of a lognormal law about its mean, in (0, 2]; 0.5 has a skewness of 1.75, 1
        one of 6.2.
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
        scores ``scores`` (:func:`paired_test`, whose null law fits the data), ``scores_symmetric``
        and ``scores_studentised``, with clusters also the three by clusters, or the joint tests.
    alpha
        Nominal level.
    n_tables
        How many tables.
    n_resamples
        S of the Monte Carlo tests. With (c + 1) / (S + 1) any S keeps a level.
    rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`.
    progress
        Called with the number of tables done.

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
    check_options(alternative="two-sided", n_resamples=n_resamples, n_threads=n_threads)
    check_alpha(alpha)
    if df is not None and skew is not None:
        raise InputError("df and skew name two laws: give one of them")
    setting = _set_up(
        n,
        discordance,
        differences,
        scores=scores,
        df=df,
        skew=skew,
        clusters=clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        rng=rng,
        n_tables=n_tables,
    )
    df = DEFAULT_DF if df is None else df
    scores = scores or differences is not None
    n, n_classifiers, seed = setting.n, setting.n_classifiers, setting.seed
    names = choose_tests(
        tests, scores=scores, clustered=setting.codes is not None, n_classifiers=n_classifiers
    )
    law, tables = _draw_tables(setting, names, n_tables, scores=scores, df=df, skew=skew)
    tallies = _Tallies(names, n, n_classifiers, alpha)
    for table, (drawn, codes) in enumerate(tables):
        if not scores:
            tallies.add_counts(drawn)
        tallies.add(
            run_tests(
                tallies.drawing,
                drawn,
                codes,
                n_resamples=n_resamples,
                key=(seed, table),
                threads=n_threads,
            )
        )
        if progress is not None:
            progress(table + 1)
    is_observed = law == "observed"
    return SimulationResult(
        n=n,
        discordance=setting.discordance,
        law=law,
        df=float(df) if law == "student" else None,
        skew=float(skew) if skew is not None else None,
        n_clusters=setting.n_clusters,
        icc=None if is_observed else icc,
        n_classifiers=n_classifiers,
        classifier_correlation=None if is_observed else classifier_correlation,
        alpha=alpha,
        n_tables=n_tables,
        n_resamples=n_resamples,
        seed=seed,
        sizes=tuple(tallies.summarise(name, n_tables) for name in names),
    )


# Differences, shape (n, M) or three counts; and clusters, shape (n,), or None.
_Table = tuple["NDArray[Any]", "NDArray[np.int64] | None"]


def _set_up(
    n: int | None,
    discordance: float | None,
    differences: ArrayLike | None,
    *,
    scores: bool,
    df: float | None,
    skew: float | None,
    clusters: ArrayLike | None,
    icc: float,
    n_classifiers: int,
    classifier_correlation: float,
    rng: Rng,
    n_tables: int,
) -> NullTables | ObservedTables:
    """Check what describes the tables."""
    if differences is not None:
        described = (n, discordance, df, skew) != (None, None, None, None)
        if described or icc or classifier_correlation or n_classifiers != 1:
            raise InputError(
                "n, discordance, df, skew, n_classifiers and correlations are those of the "
                "differences given: leave them out"
            )
        check_count("n_tables", n_tables)
        return ObservedTables(differences, clusters=clusters, rng=rng)
    if n is None or discordance is None:
        raise InputError("say n and discordance, or give differences")
    for name, law in (("df", df), ("skew", skew)):
        if law is not None and not scores:
            raise InputError(f"{name} is of scores: say scores=True")
    return NullTables.of(
        n,
        discordance,
        clusters=clusters,
        icc=icc,
        n_classifiers=n_classifiers,
        classifier_correlation=classifier_correlation,
        rng=rng,
        n_tables=n_tables,
    )


def _draw_tables(
    setting: NullTables | ObservedTables,
    names: tuple[str, ...],
    n_tables: int,
    *,
    scores: bool,
    df: float,
    skew: float | None,
) -> tuple[str | None, Iterable[_Table]]:
    """Name the law of scores' differences (None for outcomes), and draw tables."""
    if isinstance(setting, ObservedTables):
        return "observed", map(setting.draw, range(n_tables))
    codes = setting.codes
    if scores:
        draw = setting.score_drawer(df, skew)
        law = "student" if skew is None else "lognormal"
        return law, ((draw(table), codes) for table in range(n_tables))
    if codes is None and setting.n_classifiers == 1 and set(names) <= set(OF_COUNTS):
        return None, ((counts, None) for counts in setting.draw_counts(n_tables))
    return None, ((setting.draw_differences(table), codes) for table in range(n_tables))


class _Tallies:
    """How many tables each test rejects, and warns of."""

    def __init__(self, names: tuple[str, ...], n: int, n_classifiers: int, alpha: float) -> None:
        self.drawing = tuple(name for name in names if name not in OF_COUNTS)
        self._of_counts = tuple(name for name in names if name in OF_COUNTS)
        self._n, self._alpha, self._level = n, alpha, alpha / n_classifiers
        self._rejected, self._warned, self._unwarned = (dict.fromkeys(names, 0) for _ in range(3))
        self._known: dict[tuple[int, int], dict[str, float]] = {}

    def add_counts(self, drawn: NDArray[Any]) -> None:
        """Add the tests of counts of one table; tables with equal counts are tested once."""
        tested = []
        for pair in discordant_pairs(drawn):
            if pair not in self._known:
                self._known[pair] = p_values_of_counts(self._n, *pair)
            tested.append(self._known[pair])
        for name in self._of_counts:
            self._rejected[name] += any(p[name] < self._level for p in tested)

    def add(self, outcomes: dict[str, SimulatedTest]) -> None:
        """Add the Monte Carlo tests of one table."""
        for name, outcome in outcomes.items():
            rejects = outcome.p_value < self._alpha
            self._rejected[name] += rejects
            self._warned[name] += outcome.warns
            self._unwarned[name] += rejects and not outcome.warns

    def summarise(self, name: str, n_tables: int) -> TestSize:
        """Return the line of one test."""
        from scipy.special import bdtrc

        n_rejected, alpha = self._rejected[name], self._alpha
        size = n_rejected / n_tables
        interval = wilson_interval(n_rejected, n_tables)
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
            n_warned=self._warned[name],
            n_rejected_unwarned=self._unwarned[name],
        )
