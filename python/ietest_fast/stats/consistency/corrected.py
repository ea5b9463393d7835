"""Accuracy and consistency on the full test set, from buckets drawn by confidence (section 4.3)."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import format_p, say_count
from ietest_fast.stats.consistency.buckets import MEASURES, OTHER, bucket_columns, find_unit_types
from ietest_fast.stats.consistency.intervals import BucketEstimate, estimate_measures
from ietest_fast.stats.inputs import (
    Rng,
    as_outcomes,
    as_scores,
    check_shares,
    in_one_order,
    is_integer,
    seed_of,
)
from ietest_fast.stats.intervals import Interval, check_level
from ietest_fast.stats.mean_difference import MeanDifference, compare_means, estimate_stratified
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.stats.resampling import FEW_UNITS, check_options
from ietest_fast.stats.result import Result, list_fields
from ietest_fast.stats.scores import MeanTestResult, paired_mean_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.stats.consistency.buckets import BucketCounts

#: The paper's deciles.
DEFAULT_CONFIDENCE_STRATA = 10
#: If the strata with buckets have less weight than this, estimates are warned of.
LOW_WEIGHT = 0.9
MOST_CONFIDENCE_STRATA = 10_000
#: A standard error with fewer degrees of freedom is remarked on.
FEW_FREEDOMS = 10
#: Strata of few items that are all alike are remarked on if they hold as much of the test set.
MUCH_WEIGHT = 0.1


@dataclass(frozen=True, kw_only=True)
class CorrectedEstimate:
    """An estimate for the full test set."""

    paper: float
    """The sum over strata of weight times mean. A stratum without buckets loses its weight, as in
    the published numbers, so this is too small where ``weight_used`` is below 1."""
    renormalised: float
    """The same over ``weight_used``: the mean of the part of the test set that the buckets stand
    for."""
    interval: Interval
    """Of ``renormalised``; from 0 to 1 if nothing tells the spread."""
    standard_error: float | None
    df: float | None
    """Of ``renormalised``, and its degrees of freedom; None if there is one bucket only, or one
    cluster."""
    weight_used: float
    """Weight of the strata that have buckets."""


@dataclass(frozen=True, kw_only=True)
class ConfidenceStratum:
    """Items whose originals have about the same confidence in the gold label."""

    low: float
    high: float
    """Confidence from ``low`` up to ``high``, which only the last stratum includes."""
    weight: float
    """Its share of the full test set."""
    n_buckets: int
    """Buckets in it."""
    accuracy: float | None
    p_c: float | None
    """Means over its buckets; None if it has none."""
    is_alike: bool
    """Whether all its buckets have the same accuracy, so that they tell no spread; True for one
    bucket, and for none."""


@dataclass(frozen=True, kw_only=True)
class CorrectedResult(Result):
    """What the buckets say of the full test set that they were drawn from.

    Intervals are about the population that the test set is a sample of, where ``n_test`` is known;
    about the shares given, where only weights are.
    """

    title = "Corrected for the confidence of the originals"

    n_buckets: int
    """Buckets with an original."""
    n_without_original: int
    """Buckets without one; they are in no stratum."""
    n_test: int | None
    """Items of the full test set; None if only weights were given."""
    confidence_level: float
    """Of every interval."""
    accuracy: CorrectedEstimate
    """Corrected accuracy (A with a tilde): means of theta within strata."""
    p_c: CorrectedEstimate
    """Corrected P_C: means of theta**2 + (1 - theta)**2."""
    p_c_unbiased: CorrectedEstimate | None
    """The same from pairs of different paraphrases; None if no bucket has a pair."""
    strata: tuple[ConfidenceStratum, ...]
    """From the least confident to the most."""

    @property
    def weight_used(self) -> float:
        """Share of the test set in strata that have buckets."""
        return self.accuracy.weight_used

    @property
    def missing(self) -> tuple[int, ...]:
        """Strata without buckets, counted from 0."""
        return tuple(place for place, own in enumerate(self.strata) if own.n_buckets == 0)

    @property
    def n_lone(self) -> int:
        """Strata with weight but a single bucket, whose spread those beside them tell."""
        return sum(own.n_buckets == 1 and own.weight > 0 for own in self.strata)

    @property
    def weight_alike(self) -> float:
        """Share of the test set in strata of few buckets, two or more, that are all alike."""
        return sum(
            own.weight for own in self.strata if own.is_alike and 2 <= own.n_buckets < FEW_UNITS
        )

    @property
    def warning(self) -> str | None:
        """What to know of the estimates; None if nothing."""
        if self.weight_used < LOW_WEIGHT:
            return _say_low_weight(self.weight_used, "items", "the corrected estimates say")
        pairs = self.p_c_unbiased
        if pairs is not None and pairs.weight_used < LOW_WEIGHT:
            return _say_low_weight(
                pairs.weight_used, "items with two paraphrases or more", "the unbiased P_C says"
            )
        return None

    @property
    def _estimates(self) -> dict[str, CorrectedEstimate]:
        found = {"accuracy": self.accuracy, "p_c": self.p_c}
        return found if self.p_c_unbiased is None else found | {"p_c_unbiased": self.p_c_unbiased}

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        fields = list_fields(self, "accuracy", "p_c", "p_c_unbiased", "strata")
        fields |= {"weight_used": self.weight_used, "missing": list(self.missing)}
        for name, own in self._estimates.items():
            fields |= {
                name: own.paper,
                f"{name}_renormalised": own.renormalised,
                f"{name}_interval": [own.interval.low, own.interval.high],
                f"{name}_standard_error": own.standard_error,
                f"{name}_df": own.df,
                f"{name}_weight_used": own.weight_used,
            }
        return fields | {"strata": [vars(own) for own in self.strata], "warning": self.warning}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        rows = [
            ("buckets", f"{self.n_buckets:,}"),
            ("strata", f"{len(self.strata)}, {len(self.missing)} without buckets"),
            ("weight used", f"{self.weight_used:.4f}"),
        ]
        labels = {"accuracy": "accuracy", "p_c": "P_C", "p_c_unbiased": "P_C, unbiased"}
        for name, own in self._estimates.items():
            rows.append((labels[name], f"{own.renormalised:.4f}  {own.interval}"))
            rows.append(("  not renormalised", f"{own.paper:.4f}"))
        return [*rows, ("intervals", f"{100 * self.confidence_level:g}%")]

    def remarks(self) -> list[str]:
        """Return warnings."""
        said = super().remarks()
        if self.n_lone:
            said.append(
                f"{say_count(self.n_lone, 'stratum with weight has', 'strata with weight have')} "
                "a single item. The strata beside it tell its spread: if these are all alike, the "
                "intervals are too short."
            )
        freedoms = [own.df for own in self._estimates.values() if own.df is not None]
        if not freedoms:
            said.append("A single item or cluster does not tell any spread: intervals are void.")
        elif min(freedoms) < FEW_FREEDOMS:
            said.append(
                "Few items decide the estimates: a standard error has "
                f"{min(freedoms):.1f} degrees of freedom. Paraphrase more items of the strata that "
                "have much weight."
            )
        if self.weight_alike >= MUCH_WEIGHT:
            said.append(
                f"Strata that hold {self.weight_alike:.1%} of the test set have fewer than "
                f"{FEW_UNITS} items each, which are all answered alike. They tell no spread, so "
                "intervals may be much too short: paraphrase more items of these strata."
            )
        if any(own.standard_error == 0 for own in self._estimates.values()):
            said.append(
                "All items are alike, so an interval has no width and says nothing of others."
            )
        return said


def _say_low_weight(weight: float, what: str, subject: str) -> str:
    return (
        f"the strata that have {what} hold {weight:.1%} of the test set: {subject} nothing about "
        "the rest. Quote renormalised numbers, use fewer strata, or paraphrase items of the strata "
        "that are missing"
    )


@in_one_order
def correct_consistency(
    buckets: BucketCounts,
    test_confidence: Any = None,
    *,
    weights: Any = None,
    n_strata: int | None = None,
    confidence_level: float = 0.95,
) -> CorrectedResult:
    r"""Estimate accuracy and P_C on the full test set that buckets were selected from.

    Where the items to paraphrase were chosen by the confidence that a model has in the gold label,
    plain means over buckets are not those of the test set. Items are sorted into strata of equal
    width by the confidence on their original wording, and

    .. math:: \tilde A = \sum_j w_j \bar\theta_j, \qquad
        \tilde P_C = \sum_j w_j \overline{\theta^2 + (1 - \theta)^2}_j,

    w_j being stratum j's share of the full test set (section 4.3 of Srikanth et al. 2024, with ten
    strata).

    Intervals are the limit for large S of a bootstrap that draws buckets within strata, and the
    test set's items to the first order; a stratum of few buckets borrows spread from those beside
    it, and Student's quantiles widen the interval
    (:func:`~ietest_fast.stats.mean_difference.estimate_stratified`). With clusters they are
    Student's, over clusters.

    Parameters
    ----------
    buckets
        With originals and their confidence.
    test_confidence
        Shape (T,), in [0, 1]: confidence in the gold label on the full test set.
    weights
        Shape (J,), instead of it: each stratum's share of the test set; they are taken as known.
    n_strata
        J, at most 10,000; None: ten, or as many as there are weights.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If there are both or neither of ``test_confidence`` and ``weights``, these are not shares
        that add up to 1, confidences are missing or outside [0, 1], or no stratum with weight has
        a bucket.

    Warns
    -----
    IetestWarning
        If strata with buckets hold less than 90% of the test set.
    """
    check_level(confidence_level)
    if buckets.original_confidence is None or not (buckets.originals >= 0).any():
        raise InputError(
            "buckets are corrected by the confidence in the gold label on their originals: give "
            "is_original and confidence"
        )
    n_strata, shares, n_test = _weigh(test_confidence, weights, n_strata)
    known = np.flatnonzero(buckets.originals >= 0)
    strata = stratum_of(buckets.original_confidence[known], n_strata)
    theta = buckets.theta[known]
    consistency = theta**2 + (1 - theta) ** 2
    clusters = None if buckets.clusters is None else buckets.clusters[known]
    options: dict[str, Any] = {
        "clusters": clusters,
        "n_test": n_test,
        "alpha": 1 - confidence_level,
    }
    accuracy = _estimate(theta, strata, shares, **options)
    p_c = _estimate(consistency, strata, shares, **options)
    paired = np.flatnonzero(buckets.has_pairs[known])
    unbiased = None
    if paired.size and shares[np.unique(strata[paired])].sum() > 0:
        options["clusters"] = None if clusters is None else clusters[paired]
        pairs = buckets.pair_consistency[known][paired]
        unbiased = _estimate(pairs, strata[paired], shares, **options)
    counts = np.bincount(strata, minlength=n_strata)
    result = CorrectedResult(
        n_buckets=int(known.size),
        n_without_original=len(buckets) - int(known.size),
        n_test=n_test,
        confidence_level=confidence_level,
        accuracy=accuracy,
        p_c=p_c,
        p_c_unbiased=unbiased,
        strata=tuple(
            ConfidenceStratum(
                low=place / n_strata,
                high=(place + 1) / n_strata,
                weight=float(shares[place]),
                n_buckets=int(counts[place]),
                accuracy=float(theta[strata == place].mean()) if counts[place] else None,
                p_c=float(consistency[strata == place].mean()) if counts[place] else None,
                is_alike=bool(counts[place] < 2 or np.ptp(theta[strata == place]) == 0),
            )
            for place in range(n_strata)
        ),
    )
    if result.warning is not None:
        warnings.warn(result.warning, IetestWarning, stacklevel=2)
    return result


def stratum_of(confidence: NDArray[np.float64], n_strata: int) -> NDArray[np.int64]:
    """Return the stratum of each confidence, of strata of equal width; 1 is in the last one."""
    # By the edges: 0.29 times 100 is rounded to less than 29.
    inner = np.arange(1, n_strata) / n_strata
    return np.searchsorted(inner, confidence, side="right").astype(np.int64)


def _weigh(
    test_confidence: Any, weights: Any, n_strata: int | None
) -> tuple[int, NDArray[np.float64], int | None]:
    if (test_confidence is None) == (weights is None):
        raise InputError(
            "give either test_confidence, the confidences on the full test set, or weights"
        )
    most = MOST_CONFIDENCE_STRATA
    if n_strata is not None and not (is_integer(n_strata) and 1 <= n_strata <= most):
        raise InputError(f"n_strata must be an integer from 1 to {most:,}, not {n_strata!r}")
    if weights is not None:
        given = as_scores(weights, "weights")
        if n_strata is not None and given.size != n_strata:
            raise InputError(f"{given.size} weights are given for {n_strata} strata")
        if (given < 0).any() or not math.isclose(float(given.sum()), 1, abs_tol=1e-6):
            raise InputError(
                f"weights must be shares, 0 or more, that add up to 1, not to {given.sum():.6g}"
            )
        return given.size, given, None
    scores = as_scores(test_confidence, "test_confidence")
    if scores.size == 0:
        raise InputError("test_confidence is empty")
    check_shares(scores, "test_confidence")
    n = DEFAULT_CONFIDENCE_STRATA if n_strata is None else int(n_strata)
    counts = np.bincount(stratum_of(scores, n), minlength=n)
    return n, counts / scores.size, int(scores.size)


def _estimate(
    values: NDArray[np.float64],
    strata: NDArray[np.int64],
    shares: NDArray[np.float64],
    **options: Any,
) -> CorrectedEstimate:
    found = estimate_stratified(values, strata, shares, **options)
    return CorrectedEstimate(
        paper=found.total,
        renormalised=found.mean,
        interval=found.interval,
        standard_error=found.standard_error,
        df=found.df,
        weight_used=found.weight,
    )


# Comparison of paraphrastic consistency on the same items: two classifiers, or two sources.


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
    tests: dict[str, MeanTestResult]
    """The bootstrap paired t-test over buckets, for ``accuracy_macro``, ``p_c_unbiased`` and
    ``agreement_unbiased``, which are means over buckets."""

    def __getitem__(self, name: str) -> BucketEstimate:
        return self.differences[name]

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        fields = list_fields(self, "differences", "tests")
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
    rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`.

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
        tests[name] = paired_mean_test(x[rows], y[rows], clusters=clusters, rng=seed, **options)
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
    parts = {
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
    }
    for other, names in parts.items():
        if other not in columns or other + OTHER not in columns:
            continue
        together = columns[other] * columns[other + OTHER]
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
        fields = list_fields(self, "differences", "untested")
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
