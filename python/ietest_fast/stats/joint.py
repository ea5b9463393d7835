"""Several classifiers on one test set: adjusted p-values, the dependent ones by joint resamples."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.numerals import format_p, format_t
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.inputs import (
    Rng,
    as_clusters,
    check_cost,
    in_one_order,
    is_outcomes,
    read_classifiers,
    seed_of,
)
from ietest_fast.stats.intervals import Differences
from ietest_fast.stats.matched import PairedCounts
from ietest_fast.stats.multiple import bonferroni, check_alpha, holm
from ietest_fast.stats.outcomes import outcome_test
from ietest_fast.stats.resampling import (
    FEW_DECIDING,
    FEW_UNITS,
    Alternative,
    UnitTypes,
    check_options,
    sort_into_types,
    sum_clusters,
)
from ietest_fast.stats.result import Result, list_fields
from ietest_fast.stats.studentised import StudentisedUnits

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class JointTestResult(Result):
    """Outcome of :func:`joint_test`; every tuple has one place for each classifier."""

    names: tuple[str, ...]
    """The classifiers' names."""
    n: int
    """Number of pairs."""
    n_clusters: int | None
    """Number of clusters; None without them."""
    delta: tuple[float, ...]
    """Mean of original minus transformed."""
    t: tuple[float, ...]
    """The paired t over units (pairs or clusters)."""
    p_value: tuple[float, ...]
    """P(abs(t*) >= abs(t)), or the tail of a one-sided alternative, as (c+1)/(S+1), unadjusted."""
    p_bonferroni: tuple[float, ...]
    p_holm: tuple[float, ...]
    """The same, adjusted by Bonferroni and Holm."""
    p_max_t: tuple[float, ...]
    """Adjusted by Westfall and Young's step-down max-abs(t)."""
    p_min_p: tuple[float, ...] | None
    """Adjusted by Westfall and Young's step-down min-p, never larger than ``p_holm``. Decides; None
    if it was not wanted, and ``p_max_t`` decides."""
    alternative: Alternative
    n_resamples: int
    seed: int
    alpha: float
    """As asked for."""
    n_types: int
    """Number of different vectors of differences among units, up to sign, 0 left out."""
    warning: str | None = None
    """Which classifiers' versions differ in too few pairs or clusters for the bootstrap, and whose
    scores differ so skewedly that the symmetric null law does not fit; None without such."""

    title = "Joint bootstrap test of several classifiers"

    @property
    def p_adjusted(self) -> tuple[float, ...]:
        """The adjusted p-values that decide: ``p_min_p``, or ``p_max_t`` without it."""
        return self.p_max_t if self.p_min_p is None else self.p_min_p

    @property
    def reject(self) -> tuple[bool, ...]:
        """For which classifiers invariance is rejected: ``p_adjusted < alpha``."""
        return tuple(p < self.alpha for p in self.p_adjusted)

    @property
    def statistic(self) -> tuple[float, ...]:
        """The paired t of each classifier, as SciPy calls it."""
        return self.t

    @property
    def pvalue(self) -> tuple[float, ...]:
        """The adjusted p-values that decide, as SciPy calls them."""
        return self.p_adjusted

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each classifier."""
        nothing = (None,) * len(self.names)
        columns = {
            "name": self.names,
            "delta": self.delta,
            "t": self.t,
            "p_value": self.p_value,
            "p_bonferroni": self.p_bonferroni,
            "p_holm": self.p_holm,
            "p_max_t": self.p_max_t,
            "p_min_p": self.p_min_p or nothing,
            "reject": self.reject,
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        return list_fields(self) | {"p_adjusted": self.p_adjusted, "reject": self.reject}

    def rows(self) -> list[tuple[str, str]]:
        """Give one line for each classifier, and what they have in common."""
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters:,} clusters"
        lines = [("pairs", f"{self.n:,}{clusters}")]
        least = 1 / (self.n_resamples + 1)
        kind = "max-t" if self.p_min_p is None else "min-p"
        for i, name in enumerate(self.names):
            adjusted = (
                f"adjusted {format_p(self.p_adjusted[i], floor=least)} ({kind}; Holm "
                f"{format_p(self.p_holm[i])}, Bonferroni {format_p(self.p_bonferroni[i])})"
            )
            estimate = f"delta {self.delta[i]:+.4g}, t {format_t(self.t[i])}"
            p_value = format_p(self.p_value[i], floor=least)
            lines.append((name, f"{estimate}, p {p_value}, {adjusted}"))
        lines.append(("resamples", f"{self.n_resamples:,} (seed {self.seed})"))
        return lines

    def remarks(self) -> list[str]:
        """Say for which classifiers invariance is rejected."""
        rejected = [name for name, reject in zip(self.names, self.reject, strict=True) if reject]
        said = f"At a family-wise level of {self.alpha:g} no classifier is rejected."
        if rejected:
            said = f"At a family-wise level of {self.alpha:g} rejected: {', '.join(rejected)}."
        return [said, *super().remarks()]


@in_one_order
def joint_test(
    original: Any,
    transformed: Any,
    *,
    clusters: Any = None,
    alternative: Alternative = "two-sided",
    n_resamples: int = 10_000,
    rng: Rng = 0,
    alpha: float = 0.05,
    min_p: bool = True,
    n_threads: int | None = None,
) -> JointTestResult:
    """Test M classifiers that saw the same texts, and adjust their p-values to each other.

    The M tests are dependent. Bonferroni and Holm hold for any dependence and pay for it. Westfall
    and Young (1993) learn the dependence from the data: every replicate draws the same units
    (pairs or clusters) with the same coins for all classifiers. With the classifiers in order of
    their p-values, the adjusted p of the i-th is the share of replicates in which any of the i-th
    and those after it has a p-value, among its own replicates, as small as the i-th's (min-p); a
    running maximum keeps the order. It decides, and is never larger than Holm's or Bonferroni's.
    Max-t compares abs(t) itself instead: it is quicker, but can be weaker than Bonferroni where
    the classifiers' null laws differ.

    Parameters
    ----------
    original, transformed
        Shape (n, M), numbers: outcomes (0 and 1) or scores of each classifier on the two
        versions. 2-d arrays, pandas or polars data frames, Arrow tables, or dictionaries of
        columns. Columns are paired by name if both have the same names, in whatever order, and
        by position otherwise; the names reported are those of ``original`` where it has some.
    clusters
        Shape (n,), labels of clusters; None for independent pairs.
    alternative
        ``two-sided``; ``greater``: the original scores higher; ``less``: it scores lower.
    n_resamples
        S.
    rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`.
    alpha
        The family-wise level that :attr:`JointTestResult.reject` refers to.
    min_p
        Whether to adjust by step-down min-p, and to decide by it. Where M S is at most 2^20 the
        replicates are drawn once and kept for that (8 MB); above they are drawn four times or
        five, more often for very many classifiers. False draws them once, and decides by max-t.

    Raises
    ------
    InputError
        If a value is missing or no finite number, shapes differ, two columns have one name,
        n < 2, or an option is none.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats import joint_test
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((500, 3)) < 0.9
    >>> rephrased = right & (rng.random((500, 3)) < [1.0, 0.97, 0.9])
    >>> result = joint_test(right, rephrased)
    >>> result.reject
    (False, True, True)
    """
    check_options(alternative=alternative, n_resamples=n_resamples, n_threads=n_threads)
    seed = seed_of(rng)
    check_alpha(alpha)
    a, b, names = read_classifiers(original, transformed)
    n = a.shape[0]
    units = a - b
    n_clusters: int | None = None
    codes: NDArray[np.int64] | None = None
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, n)
        units = sum_clusters(a, b, codes, n_clusters)
    types = sort_into_types(units)
    check_cost(units.shape[0], n_resamples, method="resample", has_exact_law=False)
    engine = _JointEngine(types, alternative, n_resamples, philox_key(seed), n_threads)
    p_value = engine.marginal_p()
    unit = "pairs" if clusters is None else "clusters"
    warnings = [
        _warn_of_few(names, units, unit=unit, alternative=alternative),
        _warn_of_large(names, types, unit=unit),
        _warn_of_skewness(names, a, b, codes, n_clusters),
    ]
    return JointTestResult(
        names=names,
        n=n,
        n_clusters=n_clusters,
        delta=tuple((units.sum(axis=0) / n).tolist()),
        t=tuple(types.t.tolist()),
        p_value=tuple(p_value),
        p_bonferroni=tuple(bonferroni(p_value)),
        p_holm=tuple(holm(p_value)),
        p_max_t=tuple(engine.max_t()),
        p_min_p=tuple(engine.min_p()) if min_p else None,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        alpha=alpha,
        n_types=types.n_types,
        warning="; ".join(filter(None, warnings)) or None,
    )


def _warn_of_few(
    names: tuple[str, ...], units: NDArray[np.float64], *, unit: str, alternative: Alternative
) -> str | None:
    """Name the classifiers whose versions differ in too few pairs or clusters."""
    few = []
    for name, column in zip(names, units.T, strict=True):
        differ = column[column != 0]
        if not 0 < differ.size < FEW_UNITS:
            continue
        said = f"{differ.size}"
        if unit == "pairs" and (np.abs(differ) == 1).all():
            n10 = int((differ > 0).sum())
            counts = PairedCounts(column.size - differ.size, n10, differ.size - n10, 0)
            exact = outcome_test(counts, alternative=alternative).p_mcnemar_exact
            said += f"; conditional exact p {format_p(exact)}"
        few.append(f"{name} ({said})")
    if not few:
        return None
    return (
        f"below {FEW_UNITS} {unit} that differ the bootstrap test may reject too often, and the "
        f"correction with it: {', '.join(few)}"
    )


def _warn_of_large(names: tuple[str, ...], types: UnitTypes, *, unit: str) -> str | None:
    """Name the classifiers for which a few pairs or clusters decide."""
    differ = (types.values != 0) @ types.weights
    found = [
        f"{name} ({deciding:.1f})"
        for name, n, deciding in zip(names, differ, types.n_deciding, strict=True)
        if n >= FEW_UNITS and deciding < FEW_DECIDING
    ]
    if not found:
        return None
    return (
        f"a few {unit} decide, which tell as much as so many of equal size would; below "
        f"{FEW_DECIDING:g} the test may reject too often: {', '.join(found)}"
    )


def _warn_of_skewness(
    names: tuple[str, ...],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    n_clusters: int | None,
) -> str | None:
    """Name the classifiers whose scores the symmetric law, the only one here, does not fit."""
    skewed = []
    for name, original, transformed in zip(names, a.T, b.T, strict=True):
        if is_outcomes(original) and is_outcomes(transformed):
            continue  # outcomes: their differences are signs
        differences = Differences.of(original - transformed)
        if StudentisedUnits.of(differences, codes, n_clusters).fits == "studentised":
            skewed.append(name)
    if not skewed:
        return None
    return (
        f"the differences of {', '.join(skewed)} are skewed: the symmetric null law of the joint "
        "test rejects a true H0 too often; test each by paired_test, and combine them with "
        "correction='holm'"
    )


class _JointEngine:
    """The passes over one family of replicates."""

    def __init__(
        self,
        types: UnitTypes,
        side: Alternative,
        n_resamples: int,
        key: NDArray[np.uint64],
        n_threads: int | None,
    ) -> None:
        self._n_resamples = n_resamples
        self._n_threads = n_threads
        self._replicates = core.scores.Replicates(
            types.values,
            types.weights,
            n_units=types.n_units,
            quantity=side,
            n_replicates=n_resamples,
            key=key,
        )
        self._bounds = core.scores.side_bounds(types.sums, types.exact, side)
        m = self._bounds.size
        order = sorted(range(m), key=lambda c: -self._bounds[c])
        # Adjusted by max-t, all columns are held against one bound.
        self._counts, self._max_t = self._step_down(
            order, np.repeat(self._bounds[:, None], m, axis=1)
        )

    def marginal_p(self) -> list[float]:
        return [(count + 1) / (self._n_resamples + 1) for count in self._counts]

    def max_t(self) -> list[float]:
        return self._max_t

    def min_p(self) -> list[float]:
        """Reach means: a rank, among replicates and sample, of at most the sample's.

        The sample is one of the S + 1 that are ranked, as if it were a replicate. (Ranked among the
        replicates alone, the smallest of M p-values would be too small by up to (M - 1)/(S + 1).)
        So with c replicates that reach the i-th, a replicate reaches it in column j if c + 1 of the
        S + 1 values there, or fewer, are at least its own. A tie with the sample is the
        replicate's.
        """
        m = self._bounds.size
        order = sorted(range(m), key=lambda c: (self._counts[c], -self._bounds[c]))
        bounds = np.full((m, m), -np.inf)
        wanted, ranks = [], []
        for i, j in itertools.permutations(range(m), 2):
            count, other = self._counts[i], self._counts[j]
            if count == self._n_resamples:
                continue
            if other == count + 1:
                bounds[i, j] = self._bounds[j]
                continue
            # Above the next largest: where the sample is above it, too, one replicate fewer.
            wanted.append((i, j))
            ranks.append(self._n_resamples - 1 - count - (other > count))
        if wanted:
            found = self._replicates.order_statistics(
                np.array([j for _, j in wanted], dtype=np.int64),
                np.array(ranks, dtype=np.int64),
                n_threads=self._n_threads,
            )
            for (i, j), value in zip(wanted, found.tolist(), strict=True):
                bounds[i, j] = np.nextafter(value, np.inf)
        np.fill_diagonal(bounds, self._bounds)
        return self._step_down(order, bounds)[1]

    def _step_down(
        self, order: list[int], bounds: NDArray[np.float64]
    ) -> tuple[list[int], list[float]]:
        """Count, and make adjusted p-values of the counts of the steps."""
        marginal, steps = self._replicates.joint_counts(
            order, np.ascontiguousarray(bounds), n_threads=self._n_threads
        )
        adjusted = [0.0] * len(order)
        largest = 0.0
        for column, count in zip(order, steps, strict=True):
            largest = max(largest, (count + 1) / (self._n_resamples + 1))
            adjusted[column] = largest
        return marginal, adjusted
