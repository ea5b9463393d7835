"""How large the difference is: delta and the discordance rate, with intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.stats.inputs import as_clusters, in_one_order
from ietest_fast.stats.intervals import (
    Interval,
    axes_or_new,
    check_level,
    draw_intervals,
    draw_margin,
    tango_interval,
    wilson_interval,
)
from ietest_fast.stats.laws.bootstrap import bootstrap_intervals
from ietest_fast.stats.matched import MatchedSample, PairedCounts, counts_of, outcome_columns
from ietest_fast.stats.resampling import count_equal
from ietest_fast.stats.result import Result, list_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Below so many clusters that tell something, bootstrap intervals are too short.
FEW_CLUSTERS = 40.0


@dataclass(frozen=True, kw_only=True)
class EstimateResult(Result):
    """Estimates of delta and of the discordance rate."""

    title = "Estimates"

    counts: PairedCounts
    """The four counts."""
    n_clusters: int | None
    """Number of clusters, None if the pairs are taken as independent."""
    n_deciding: float | None
    """How many clusters with equal differences would tell as much; None without clusters."""
    confidence_level: float
    """Of every interval."""
    delta: float
    """Accuracy on the originals minus accuracy on the transformed texts."""
    delta_score: Interval | None
    """Tango's (1998) score interval; None with clusters, for it takes pairs as independent."""
    delta_percentile: Interval
    """Bootstrap percentile interval, from the exact bootstrap law."""
    delta_bca: Interval
    """Bootstrap BCa interval (Efron 1987), from the exact bootstrap law."""
    discordance_rate: float
    """k / n."""
    discordance_wilson: Interval | None
    """Its score interval (Wilson 1927); None with clusters."""

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name, intervals as [low, high]."""
        return {"n": self.counts.n, **asdict(self.counts), **list_fields(self, "counts")}

    def plot(self, *, margin: float | None = None, ax: Any = None) -> Any:
        """Draw delta and its intervals, against a margin if one is given.

        Parameters
        ----------
        margin
            Differences smaller than this do not matter.
        ax
            A matplotlib ``Axes``; a new figure is made if not given.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        if margin is not None:
            draw_margin(ax, margin)
        ax.axvline(0, color="black", linewidth=0.8, label="no difference")
        known = {
            "score (Tango)": self.delta_score,
            "percentile": self.delta_percentile,
            "BCa": self.delta_bca,
        }
        shown = [(name, interval) for name, interval in known.items() if interval is not None]
        draw_intervals(ax, self.delta, shown)
        ax.set_xlabel("delta (original − transformed)")
        ax.set_title(f"{100 * self.confidence_level:g}% intervals")
        ax.legend()
        return ax

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        rows = [("pairs", f"{self.counts.n:,}")]
        if self.n_clusters is not None:
            rows.append(("clusters", f"{self.n_clusters:,}"))
        rows.append(("delta", f"{self.delta:+.4f}"))
        level = f"{100 * self.confidence_level:g}%"
        if self.delta_score is not None:
            rows.append((f"  {level}, score (Tango)", str(self.delta_score)))
        rows += [
            (f"  {level}, percentile", str(self.delta_percentile)),
            (f"  {level}, BCa", str(self.delta_bca)),
            ("discordance k/n", f"{self.discordance_rate:.4f}"),
        ]
        if self.discordance_wilson is not None:
            rows.append((f"  {level}, Wilson", str(self.discordance_wilson)))
        return rows

    def remarks(self) -> list[str]:
        """Say what the numbers do not."""
        shown = {"percentile": self.delta_percentile, "BCa": self.delta_bca}
        flat = [name for name, interval in shown.items() if interval.low == interval.high]
        if not flat:
            return self._warn_of_few_clusters()
        if self.counts.k == 0:
            why = "No pair is discordant: every bootstrap sample is like the observed one"
        elif self.n_clusters is None:
            why = "The bootstrap samples hardly differ in delta"
        else:
            why = "The clusters hardly differ in delta, nor do the bootstrap samples"
        which = "bootstrap intervals have" if len(flat) == 2 else f"{flat[0]} interval has"
        nothing = "They say" if len(flat) == 2 else "It says"
        return [f"{why}, so the {which} no width. {nothing} nothing about delta."]

    def _warn_of_few_clusters(self) -> list[str]:
        if self.n_deciding is None or self.n_deciding >= FEW_CLUSTERS:
            return []
        said = (
            f"The clusters that differ tell as much as {self.n_deciding:.0f} of equal size would; "
            f"below {FEW_CLUSTERS:.0f} the bootstrap intervals contain delta less often than they "
            "say. Quote the interval of equivalence_test with alpha=0.025."
        )
        return [said]


@in_one_order
def estimate(
    sample: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    clusters: Any = None,
    confidence_level: float = 0.95,
) -> EstimateResult:
    """Estimate delta = acc(original) - acc(transformed) and the discordance rate.

    The bootstrap intervals are those of the limit of large S: the law of delta in samples drawn
    with replacement (not under H0: nothing is swapped) is computed, not simulated.

    Parameters
    ----------
    sample
        Counts, a matched sample, or the outcomes on the originals (shape (n,), 0 and 1).
    transformed
        The outcomes on the transformed texts, shape (n,), if ``sample`` is a column.
    clusters
        Shape (n,), the cluster of each pair: whole clusters are drawn. Needs a matched sample or
        two columns. There are then no score intervals.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If the columns hold no outcomes or differ in length, the confidence level is not in
        (0, 1), or clusters come with counts.

    Examples
    --------
    >>> from ietest_fast.stats import PairedCounts, estimate
    >>> print(estimate(PairedCounts(59, 6, 16, 80)))
    Estimates
    pairs                    161
    delta                    -0.0621
      95%, score (Tango)     [-0.1240, -0.0054]
      95%, percentile        [-0.1180, -0.0062]
      95%, BCa               [-0.1180, -0.0062]
    discordance k/n          0.1366
      95%, Wilson            [0.0920, 0.1982]
    """
    check_level(confidence_level)
    if clusters is None:
        counts = counts_of(sample, transformed)
        n_clusters = n_deciding = None
        sums = np.array([1, -1, 0])
        sizes = np.ones(3, dtype=np.int64)
        frequencies = np.array([counts.n10, counts.n01, counts.n - counts.k])
        score: Interval | None = tango_interval(counts, confidence_level=confidence_level)
        wilson: Interval | None = wilson_interval(
            counts.k, counts.n, confidence_level=confidence_level
        )
    else:
        a, b = outcome_columns(sample, transformed)
        counts = PairedCounts.from_outcomes(a, b)
        codes, n_clusters = as_clusters(clusters, a.size)
        sums, sizes, frequencies = _cluster_types(a, b, codes)
        score = wilson = None
        n_deciding = count_equal(np.square(sums.astype(np.float64)), frequencies)
    percentile, bca = bootstrap_intervals(sums, sizes, frequencies, 1 - confidence_level)
    return EstimateResult(
        counts=counts,
        n_clusters=n_clusters,
        n_deciding=n_deciding,
        confidence_level=confidence_level,
        delta=counts.delta,
        delta_score=score,
        delta_percentile=percentile,
        delta_bca=bca,
        discordance_rate=counts.discordance_rate,
        discordance_wilson=wilson,
    )


def _cluster_types(
    a: NDArray[np.bool_], b: NDArray[np.bool_], codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give sums of differences, sizes, and how many clusters have them."""
    difference = a.astype(np.int64) - b.astype(np.int64)
    sums = np.bincount(codes, weights=difference).astype(np.int64)
    sizes = np.bincount(codes)
    types, frequencies = np.unique(np.stack([sums, sizes], axis=1), axis=0, return_counts=True)
    return types[:, 0], types[:, 1], frequencies
