"""The tests whose levels are simulated, each on the differences of one null table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats.intervals import Differences
from ietest_fast.stats.matched import PairedCounts
from ietest_fast.stats.mcnemar import classical_p_values
from ietest_fast.stats.outcomes import outcome_test
from ietest_fast.stats.resampling import monte_carlo_p, sort_into_types, sum_clusters
from ietest_fast.stats.studentised import NULL_LAWS, StudentisedUnits

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
class Outcome:
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
    of_one = list(_OF_SCORES) if scores else [*OF_COUNTS, "clustered"]
    fitting = of_one if not scores or n_classifiers == 1 else []
    if not clustered or n_classifiers > 1:
        fitting = [name for name in fitting if not name.endswith("clustered")]
    if n_classifiers > 1:
        fitting.append("joint")
        if clustered:
            fitting.append("joint_clustered")
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
) -> dict[str, Outcome]:
    """Run the Monte Carlo tests among ``names`` on one table."""
    if differences.shape[0] * n_resamples <= _FEW_DRAWS:
        threads = 1
    # The tests' own seed: tables and resamples must not share their words.
    seed = int(philox_key([*key, _TESTS])[0])
    found: dict[str, Outcome] = {}
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
    for name in names:
        if name == "clustered":
            from ietest_fast.stats.clustered import clustered_test

            result = clustered_test(original[:, 0], transformed[:, 0], codes, **options)
            found[name] = Outcome(p_value=float(result.p_value))
        elif name in ("joint", "joint_clustered"):
            from ietest_fast.stats.joint import joint_test

            clusters = codes if name == "joint_clustered" else None
            # Max-|t| is what is simulated; min-p would cost more.
            joint = joint_test(original, transformed, clusters=clusters, min_p=False, **options)
            found[name] = Outcome(
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
) -> dict[str, Outcome]:
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
            levels=(),
            keep_replicates=False,
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
        name: Outcome(p_value=p, warns=warns[laws[name]])
        for name, p in p_values.items()
        if name in wanted
    }
