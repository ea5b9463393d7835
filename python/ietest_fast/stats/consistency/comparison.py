"""Comparison of paraphrastic consistency on the same items: two classifiers, or two sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, say_count
from ietest_fast.stats.consistency.buckets import MEASURES, OTHER, bucket_columns, find_unit_types
from ietest_fast.stats.consistency.intervals import BucketEstimate, estimate_measures
from ietest_fast.stats.inputs import Rng, as_outcomes, seed_of
from ietest_fast.stats.intervals import check_level
from ietest_fast.stats.mean_difference import MeanDifference, compare_means
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.stats.resampling import check_options
from ietest_fast.stats.result import Result
from ietest_fast.stats.scores import ScoreTestResult, paired_score_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.consistency.buckets import BucketCounts


#: What means over buckets are called.
COMPARED_LABELS = {
    "accuracy_macro": "accuracy, macro",
    "p_c_unbiased": "P_C, unbiased",
    "agreement_unbiased": "same answer, unbiased",
}


@dataclass(frozen=True, kw_only=True)
class ConsistencyComparison(Result):
    """Two sets of answers to the same items: first minus second."""

    title = "Comparison on the same items"

    n_buckets: int
    """Items that both have."""
    n_only_first: int
    n_only_second: int
    """Items that only one of them has; they are left out."""
    n_clusters: int | None
    """Number of clusters; None if buckets are independent."""
    confidence_level: float
    """Of every interval."""
    differences: dict[str, BucketEstimate]
    """Of each measure of :func:`~ietest_fast.stats.measure_consistency` that both have, without the
    least P_C, with a BCa interval from drawing the same buckets for both."""
    tests: dict[str, ScoreTestResult]
    """The bootstrap paired t-test over buckets, for ``accuracy_macro``, ``p_c_unbiased`` and
    ``agreement_unbiased``, which are means over buckets."""

    def __getitem__(self, name: str) -> BucketEstimate:
        return self.differences[name]

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        fields: dict[str, Any] = {
            "n_buckets": self.n_buckets,
            "n_only_first": self.n_only_first,
            "n_only_second": self.n_only_second,
            "n_clusters": self.n_clusters,
            "confidence_level": self.confidence_level,
        }
        for name, own in self.differences.items():
            ends = own.interval
            fields[name] = own.value
            fields[f"{name}_interval"] = None if ends is None else [ends.low, ends.high]
        for name, test in self.tests.items():
            fields |= {f"{name}_p_value": test.p_value, f"{name}_warning": test.warning}
        return fields

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = [("buckets", f"{self.n_buckets:,}")]
        for name, test in self.tests.items():
            own = self.differences[name]
            rows.append((COMPARED_LABELS[name], f"{own.value:+.4f}  {own.interval}"))
            rows.append(("  p", format_p(test.p_value, floor=2 / (test.n_resamples + 1))))
        return rows

    def remarks(self) -> list[str]:
        """Return what the numbers do not say."""
        said = []
        if self.n_only_first or self.n_only_second:
            said.append(
                f"{self.n_only_first:,} items of the first and {self.n_only_second:,} of the "
                "second are not in the other, and are left out."
            )
        for name, test in self.tests.items():
            if test.warning is not None:
                said.append(f"{COMPARED_LABELS[name]}: {test.warning}.")
        return said


def compare_consistency(
    first: BucketCounts,
    second: BucketCounts,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = DEFAULT_N_RESAMPLES,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ConsistencyComparison:
    """Compare two sets of answers to the same items.

    These are the answers of two classifiers, or of one classifier to paraphrases from two sources,
    such as people and a program. Buckets are matched by name; they need not have the same number
    of paraphrases.

    Parameters
    ----------
    first, second
        Of :func:`~ietest_fast.stats.count_buckets`. If one has clusters, both have the same.
    confidence_level
        In (0, 1).
    n_resamples
        S, of intervals and tests.
    rng
        See :func:`ietest_fast.stats.paired_test`.
    n_threads
        Threads; None for all cores. No result depends on it.

    Returns
    -------
    ConsistencyComparison

    Raises
    ------
    InputError
        If fewer than two items are in both, the clusters differ, or an option is none.
    """
    check_options(alternative="two-sided", n_resamples=n_resamples, n_threads=n_threads)
    check_level(confidence_level)
    seed = seed_of(rng)
    a, b = _match(first, second)
    table = find_unit_types(_side_by_side(a, b), a.clusters, a.n_clusters)
    # Flips of answers are not compared with flips of right and wrong.
    left_out = {"lower_bound"} | ({"flip_rate"} if (a.same is None) != (b.same is None) else set())
    both = [
        name
        for name, measure in MEASURES.items()
        if name not in left_out
        and table.has(measure)
        and {column + OTHER for column in measure.columns} <= {*table.columns}
    ]
    options: dict[str, Any] = {"n_resamples": int(n_resamples), "n_threads": n_threads}
    differences = estimate_measures(
        table,
        both,
        are_differences=True,
        method="resample",
        confidence_level=confidence_level,
        seed=seed,
        **options,
    )
    for name in ("", "_unbiased"):
        differences[f"p_c{name}"] = differences[f"vap{name}"].as_difference_of_consistency()
    scores = {
        "accuracy_macro": (a.theta, b.theta),
        "p_c_unbiased": (a.pair_consistency, b.pair_consistency),
    }
    if a.pair_agreement is not None and b.pair_agreement is not None:
        scores["agreement_unbiased"] = (a.pair_agreement, b.pair_agreement)
    tests = {}
    for name, (x, y) in scores.items():
        rows = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
        clusters = None if a.clusters is None else a.clusters[rows]
        if rows.size < 2 or (clusters is not None and np.unique(clusters).size < 2):
            continue
        tests[name] = paired_score_test(x[rows], y[rows], clusters=clusters, rng=seed, **options)
    return ConsistencyComparison(
        n_buckets=len(a),
        n_only_first=len(first) - len(a),
        n_only_second=len(second) - len(b),
        n_clusters=a.n_clusters,
        confidence_level=confidence_level,
        differences=differences,
        tests=tests,
    )


def _side_by_side(a: BucketCounts, b: BucketCounts) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of both sides; only buckets with pairs on both sides have pairs."""
    columns = bucket_columns(a) | {name + OTHER: own for name, own in bucket_columns(b).items()}
    for other in ("paired", "originals"):
        if other not in columns or other + OTHER not in columns:
            continue
        together = columns[other] * columns[other + OTHER]
        names = {
            "paired": (
                "paired",
                "variance_paired",
                "theta_paired",
                "theta_squared",
                "variance_of_theta",
                "same_paired",
            ),
            "originals": (
                "originals",
                "originals_right",
                "theta_change",
                "flipped",
                "beside_original",
                "confidence_change",
                "confidence_distance",
            ),
        }[other]
        for name in names:
            for side in (name, name + OTHER):
                if side in columns:
                    columns[side] = columns[side] * together
    return columns


def _match(first: BucketCounts, second: BucketCounts) -> tuple[BucketCounts, BucketCounts]:
    place = {name: at for at, name in enumerate(second.names.tolist())}
    pairs = [(at, place[name]) for at, name in enumerate(first.names.tolist()) if name in place]
    if len(pairs) < 2:
        raise InputError(
            f"{say_count(len(pairs), 'item is', 'items are')} in both; at least two are needed. "
            "Sets of different items are compared by compare_subsets"
        )
    rows = np.array(pairs, dtype=np.int64)
    a, b = first.take(rows[:, 0]), second.take(rows[:, 1])
    if (a.clusters is None) != (b.clusters is None):
        raise InputError("only one of the two has clusters: give both or neither the same clusters")
    if a.clusters is not None and b.clusters is not None:
        both = len(set(zip(a.clusters.tolist(), b.clusters.tolist(), strict=True)))
        if not both == a.n_clusters == b.n_clusters:
            raise InputError("the two have different clusters of the same items")
    return a, b


# Comparison of paraphrastic consistency between two sets of items.


@dataclass(frozen=True, kw_only=True)
class SubsetComparison(Result):
    """Two sets of items, none of which is in both."""

    title = "Comparison of two sets of items"

    n_first: int
    n_second: int
    """Buckets of each."""
    n_clusters: int | None
    """Number of clusters; None if buckets are independent."""
    confidence_level: float
    """Of every interval."""
    differences: dict[str, MeanDifference]
    """Of ``accuracy_macro``, ``p_c_unbiased`` and, where answers are known, ``agreement_unbiased``;
    without those for which a set has fewer than two buckets."""
    untested: tuple[str, ...] = ()
    """Measures that clusters leave without a test: a set lies in one cluster, or has no spread
    while a cluster lies in both sets."""

    def __getitem__(self, name: str) -> MeanDifference:
        return self.differences[name]

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        fields: dict[str, Any] = {
            "n_first": self.n_first,
            "n_second": self.n_second,
            "n_clusters": self.n_clusters,
            "confidence_level": self.confidence_level,
        }
        for name, own in self.differences.items():
            fields |= {
                f"{name}_first": own.first,
                f"{name}_second": own.second,
                name: own.difference,
                f"{name}_interval": (
                    None if own.interval is None else [own.interval.low, own.interval.high]
                ),
                f"{name}_p_value": own.p_value,
                f"{name}_method": own.method,
                f"{name}_warning": own.warning,
            }
        return fields

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = [("buckets", f"{self.n_first:,} and {self.n_second:,}")]
        for name, own in self.differences.items():
            rows.append((COMPARED_LABELS[name], f"{own.first:.4f} and {own.second:.4f}"))
            ends = "no interval: a set has no spread" if own.interval is None else str(own.interval)
            rows.append(("  difference", f"{own.difference:+.4f}  {ends}"))
            rows.append(("  p", format_p(own.p_value, floor=own.p_floor)))
        return rows

    def remarks(self) -> list[str]:
        """Return what the numbers do not say."""
        said = [
            f"{COMPARED_LABELS[name]}: {own.warning}."
            for name, own in self.differences.items()
            if own.warning is not None
        ]
        untested = self.say_untested()
        return said if untested is None else [*said, untested]

    def say_untested(self) -> str | None:
        """Say which measures have no test because of clusters; None if all have one."""
        if not self.untested:
            return None
        names = " and ".join(COMPARED_LABELS[name] for name in self.untested)
        return (
            f"No test of {names}: a set lies in one cluster, or has no spread while clusters lie "
            "in both sets."
        )


def compare_subsets(
    buckets: BucketCounts, is_first: Any, *, confidence_level: float = 0.95, rng: Rng = 0
) -> SubsetComparison:
    """Compare two sets of items that a classifier has answered, such as easy and difficult ones.

    The test is Welch's (1947) of means over buckets. If a set has fewer than 25 buckets, or no
    spread, p is that of permuting the buckets: 9,999 times, or all ways if these are at most
    20,000. It holds if the buckets of both sets follow one law.

    With clusters, which may lie in both sets, the variance is that of the clusters' sums. A set has
    the degrees of freedom of as many equal clusters as tell as much, as if all buckets of a cluster
    were alike: ``(sum n**2)**2 / sum n**4 - 1`` over its numbers n of buckets. The two are put
    together as Welch does; if a cluster lies in both sets, the smaller is taken. If a set has no
    spread, whole clusters are permuted, unless some lie in both sets.

    Parameters
    ----------
    buckets
        All buckets.
    is_first
        Shape (B,), 0 or 1, in the order of ``buckets.names``: which are in the first set.
    confidence_level
        In (0, 1).
    rng
        Of permutations; see :func:`ietest_fast.stats.paired_test`.

    Returns
    -------
    SubsetComparison

    Raises
    ------
    InputError
        If a set has fewer than two buckets, or lengths differ.
    """
    check_level(confidence_level)
    mask = as_outcomes(is_first, "is_first")
    if mask.size != len(buckets):
        raise InputError(f"is_first has {mask.size} rows, but there are {len(buckets)} buckets")
    n_first, n_second = int(mask.sum()), int((~mask).sum())
    if min(n_first, n_second) < 2:
        raise InputError(
            f"the sets have {n_first} and {say_count(n_second, 'bucket')}; each needs two or more"
        )
    scores = {"accuracy_macro": buckets.theta, "p_c_unbiased": buckets.pair_consistency}
    if buckets.pair_agreement is not None:
        scores["agreement_unbiased"] = buckets.pair_agreement
    seed = seed_of(rng)
    differences, untested = {}, []
    for name, values in scores.items():
        rows = np.flatnonzero(~np.isnan(values))
        if min(mask[rows].sum(), (~mask[rows]).sum()) < 2:
            continue
        clusters = None if buckets.clusters is None else buckets.clusters[rows]
        found = compare_means(
            values[rows], mask[rows], clusters, alpha=1 - confidence_level, seed=seed
        )
        if found is None:
            untested.append(name)
        else:
            differences[name] = found
    return SubsetComparison(
        n_first=n_first,
        n_second=n_second,
        n_clusters=buckets.n_clusters,
        confidence_level=confidence_level,
        differences=differences,
        untested=tuple(untested),
    )
