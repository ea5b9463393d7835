"""Comparison of paraphrastic consistency between two sets of items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.plurals import say_count
from ietest_fast.stats.consistency_comparison import COMPARED_LABELS
from ietest_fast.stats.inputs import as_outcomes
from ietest_fast.stats.intervals import check_level
from ietest_fast.stats.mean_difference import MeanDifference, compare_means
from ietest_fast.stats.result import Result, format_p
from ietest_fast.stats.seeds import Rng, seed_of

if TYPE_CHECKING:
    from ietest_fast.stats.buckets import BucketCounts


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
