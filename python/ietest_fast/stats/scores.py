"""The bootstrap paired t-test on real-valued scores, by pairs or by clusters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.numerals import format_p, format_paper_p, format_t
from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats.consistency.intervals import find_quantiles, make_room
from ietest_fast.stats.inputs import Rng, as_clusters, as_scores, check_cost, check_lengths, seed_of
from ietest_fast.stats.intervals import Clustering, Differences, Interval, upper_level
from ietest_fast.stats.laws.null import SPAN, NullHistogram, count_replicates, lattice_edges
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.stats.resampling import (
    Alternative,
    UnitTypes,
    check_options,
    check_quantiles,
    monte_carlo_p,
    sort_into_types,
    sum_clusters,
)
from ietest_fast.stats.result import PairedResult, list_fields
from ietest_fast.stats.studentised import NullLaw, StudentisedUnits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# So many replicates are drawn again for a figure.
_MOST_SHOWN = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanTestResult(PairedResult):
    """Outcome of :func:`paired_mean_test`."""

    n: int
    """Number of pairs."""
    n_clusters: int | None
    """Number of clusters; None without them."""
    mean_original: float
    mean_transformed: float
    """Mean scores."""
    delta: float
    """Their difference, original minus transformed."""
    standard_error: float
    """Of delta, with divisor n - 1, times the root of the design effect of clusters."""
    t: float
    """Eq. 12 and 13 over the units (pairs, or sums over clusters); 0 if every unit's difference is
    0, infinite if all are the same otherwise. Of clusters and the studentised null law, delta over
    the standard error of a ratio."""
    null: NullLaw
    """Which null law t* has: ``symmetric`` or ``studentised``."""
    skewness: float
    """Of the mean difference: the skewness of the units over the root of their number. The
    studentised law is meant for values away from 0; beyond 0.25 no law is right to a digit."""
    p_value: float
    """``min(1, 2 min(P(t* <= t), P(t* >= t)))``, or one of the two tails, each tail as (c+1)/(S+1).
    Decides."""
    p_paper: float | None
    """Eq. 14 to the letter, tails as c/S; None for a one-sided alternative. Of the symmetric law,
    whichever decides."""
    p_symmetric: float
    """P(abs(t*) >= abs(t)) of the symmetric law, as (c+1)/(S+1)."""
    alternative: Alternative
    n_resamples: int
    seed: int
    """As asked for."""
    n_types: int
    """Number of types of units; a replicate costs time in proportion to it."""
    n_nonzero: int
    """Units whose difference is not 0."""
    replicate_mean: float | None
    replicate_deviation: float | None
    """Mean and standard deviation of the replicates t* that are finite (divisor: their number);
    None if none is."""
    quantiles: dict[float, float]
    """The quantiles of t* asked for, by level, interpolated as by ``numpy.quantile``. Between an
    infinite and a finite replicate lies the infinite one, between -inf and inf the nearer."""
    replicates: NDArray[np.float64] | None = field(default=None, repr=False)
    """All t*, shape (n_resamples,), if they were to be kept, else None."""
    types: UnitTypes = field(repr=False)
    units: StudentisedUnits = field(repr=False)
    """What replicates of the symmetric and of the studentised law are drawn of."""

    title = "Paired bootstrap t-test on scores"

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name, the replicates left out."""
        fields = list_fields(self, "replicates", "types", "units")
        return fields | {"warning": self.warning}

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters:,} clusters"
        lines = [
            ("pairs", f"{self.n:,}{clusters}"),
            ("mean, original", f"{self.mean_original:.6g}"),
            ("mean, transformed", f"{self.mean_transformed:.6g}"),
            ("delta", f"{self.delta:+.6g}"),
            ("t", format_t(self.t)),
            ("null law of t", f"{self.null} (skewness of the mean {self.skewness:+.2f})"),
            (f"p ({self.alternative})", format_p(self.p_value, floor=self.p_floor)),
        ]
        if self.p_paper is not None:
            lines.append(("p, eq. 14", format_paper_p(self.p_paper, self.n_resamples)))
        lines.append(("resamples", f"{self.n_resamples:,} (seed {self.seed})"))
        lines += [(f"t*, {level:g} quantile", f"{q:.4f}") for level, q in self.quantiles.items()]
        return lines

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of delta, one-sided where the alternative is.

        Of the symmetric null law it is Student's, with one degree of freedom less than there are
        units (pairs or clusters). Of the studentised law it holds the means that the test does not
        reject at ``1 - confidence_level``, and may be infinite where units are few.
        """
        level = upper_level(confidence_level, self.alternative)
        if self.null == "studentised":
            low, high = self.units.interval(1 - level, n_resamples=self.n_resamples, seed=self.seed)
            return Interval(low, high).one_sided(self.alternative, math.inf)
        from scipy.special import stdtrit

        units = self.n if self.n_clusters is None else self.n_clusters
        quantile = float(stdtrit(units - 1, level))
        half = 0.0 if self.standard_error == 0 else quantile * self.standard_error
        return Interval(self.delta - half, self.delta + half).one_sided(self.alternative, math.inf)

    def null_law(self) -> NullHistogram:
        """Return the law of t under H0 in bins, of up to 100,000 of the same replicates."""
        if self.null == "studentised":
            drawn = np.empty(min(self.n_resamples, _MOST_SHOWN))
            self.units.count_tails([0.0], n_resamples=drawn.size, seed=self.seed, replicates=drawn)
            return count_replicates(drawn, np.linspace(-SPAN, SPAN, 62))
        return histogram_of_types(self.types, n_resamples=self.n_resamples, seed=self.seed)

    @property
    def warning(self) -> str | None:
        """What the reader has to know before the p-value is used; None if there is nothing."""
        unit = "pairs" if self.n_clusters is None else "clusters"
        return self.units.warn(self.null, unit=unit)


def paired_mean_test(
    original: Any,
    transformed: Any,
    *,
    clusters: Any = None,
    null: NullLaw | None = None,
    alternative: Alternative = "two-sided",
    n_resamples: int = DEFAULT_N_RESAMPLES,
    rng: Rng = 0,
    quantiles: Sequence[float] = (),
    keep_replicates: bool = False,
    n_threads: int | None = None,
) -> MeanTestResult:
    """Test real-valued scores; the inside of :func:`ietest_fast.stats.paired_test`.

    t is that of eq. 12 and 13, with variance divisor n; with clusters it is computed from their
    sums of differences. The studentised null law is Hall's (1992); see
    :mod:`ietest_fast.stats.studentised`.
    """
    check_options(alternative=alternative, n_resamples=n_resamples, n_threads=n_threads)
    seed = seed_of(rng)
    levels = check_quantiles(quantiles)
    a = as_scores(original, "original")
    b = as_scores(transformed, "transformed")
    n = check_lengths(original=a, transformed=b)
    units = (a - b)[:, None]
    n_clusters: int | None = None
    differences, clustering, codes = Differences.of(a - b), None, None
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, n)
        clustering = Clustering.of_codes(differences, codes, n_clusters)
        units = sum_clusters(a[:, None], b[:, None], codes, n_clusters)
    check_cost(units.shape[0], n_resamples, method="resample", has_exact_law=False)
    types = sort_into_types(units)
    centred = StudentisedUnits.of(differences, codes, n_clusters)
    law = centred.choose(null)
    with np.errstate(over="ignore"):  # of differences near the largest that a float holds
        error = float(np.ldexp(differences.standard_error(clustering), differences.exponent))
    is_studentised = law == "studentised"
    outcome = run_score_test(
        types,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        levels=() if is_studentised else levels,
        keep_replicates=keep_replicates and not is_studentised,
        n_threads=n_threads,
    )
    if is_studentised:
        outcome |= _run_studentised(
            centred,
            alternative=alternative,
            n_resamples=n_resamples,
            seed=seed,
            levels=levels,
            keep_replicates=keep_replicates,
            n_threads=n_threads,
        )
    return MeanTestResult(
        n=n,
        n_clusters=n_clusters,
        mean_original=float(a.mean()),
        mean_transformed=float(b.mean()),
        delta=float(units.sum()) / n,
        standard_error=error,
        t=centred.t_of(0.0) if is_studentised and n_clusters else float(types.t[0]),
        null=law,
        skewness=centred.skewness,
        alternative=alternative,
        n_resamples=n_resamples,
        seed=seed,
        n_types=types.n_types,
        n_nonzero=types.n_nonzero,
        types=types,
        units=centred,
        **outcome,
    )


def run_score_test(
    types: UnitTypes,
    *,
    alternative: Alternative,
    n_resamples: int,
    seed: int,
    levels: tuple[float, ...] = (),
    keep_replicates: bool = False,
    n_threads: int | None,
) -> dict[str, Any]:
    """Draw the replicates of one column of values and sum them up."""
    key = philox_key(seed)
    replicates = make_room(levels, n_resamples=n_resamples, keep=keep_replicates)
    (at_most, at_least, beyond, _), (n_finite, mean, deviation) = core.scores.score_test(
        types.values,
        types.weights,
        n_units=types.n_units,
        sums=types.sums,
        exact=types.exact,
        n_replicates=n_resamples,
        key=key,
        t_replicates=replicates,
        n_threads=n_threads,
    )
    p_paper: float | None = None
    if alternative == "two-sided":
        p_paper = 2 * min(at_most, n_resamples - at_most) / n_resamples
        if types.n_types == 0:
            p_paper = 1.0  # every replicate is 0 as well: nothing is left for eq. 14 to measure

    def order_statistics(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        return core.scores.Replicates(
            types.values,
            types.weights,
            n_units=types.n_units,
            quantity="t",
            n_replicates=n_resamples,
            key=key,
        ).order_statistics(np.zeros(ranks.size, dtype=np.int64), ranks, n_threads=n_threads)

    return {
        "p_value": monte_carlo_p(alternative, at_most, at_least, n_resamples),
        "p_paper": p_paper,
        "p_symmetric": (beyond + 1) / (n_resamples + 1),
        "replicate_mean": mean if n_finite else None,
        "replicate_deviation": deviation if n_finite else None,
        "quantiles": find_quantiles(
            levels, replicates, order_statistics, n_resamples=n_resamples, keep=keep_replicates
        ),
        "replicates": replicates if keep_replicates else None,
    }


def _run_studentised(
    units: StudentisedUnits,
    *,
    alternative: Alternative,
    n_resamples: int,
    seed: int,
    levels: tuple[float, ...],
    keep_replicates: bool,
    n_threads: int | None,
) -> dict[str, Any]:
    """Do what :func:`run_score_test` does, without the p-values of the symmetric law."""
    replicates = make_room(levels, n_resamples=n_resamples, keep=keep_replicates)
    ((at_most, at_least),), (n_finite, mean, deviation) = units.count_tails(
        [0.0], n_resamples=n_resamples, seed=seed, replicates=replicates, n_threads=n_threads
    )

    def order_statistics(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        return units.order_statistics(
            ranks, n_resamples=n_resamples, seed=seed, n_threads=n_threads
        )

    return {
        "p_value": monte_carlo_p(alternative, at_most, at_least, n_resamples),
        "replicate_mean": mean if n_finite else None,
        "replicate_deviation": deviation if n_finite else None,
        "quantiles": find_quantiles(
            levels, replicates, order_statistics, n_resamples=n_resamples, keep=keep_replicates
        ),
        "replicates": replicates if keep_replicates else None,
    }


def histogram_of_types(types: UnitTypes, *, n_resamples: int, seed: int) -> NullHistogram:
    """Return the histogram of the first 100,000 replicates of t, or of all if they are fewer."""
    n_drawn = min(n_resamples, _MOST_SHOWN)
    replicates = np.empty(n_drawn, dtype=np.float64)
    core.scores.score_test(
        types.values,
        types.weights,
        n_units=types.n_units,
        sums=types.sums,
        exact=types.exact,
        n_replicates=n_drawn,
        key=philox_key(seed),
        t_replicates=replicates,
        n_threads=None,
    )
    edges = np.linspace(-SPAN, SPAN, 62)
    if types.exact and types.n_types:  # sums of whole numbers: a discrete law
        values = types.values[0].astype(np.int64)
        step = int(np.gcd.reduce(values))
        is_even = types.n_nonzero == types.n_units and bool((values // step % 2 == 1).all())
        edges = lattice_edges(
            math.sqrt(types.sums[0, 1]),
            n=types.n_units,
            step=2 * step if is_even else step,
            holds_zero=not is_even or types.n_units % 2 == 0,
        )
    return count_replicates(replicates, edges)
