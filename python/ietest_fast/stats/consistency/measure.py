"""Paraphrastic consistency: whether an item is answered alike however it is worded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.consistency.buckets import (
    MEASURES,
    BucketCounts,
    count_buckets,
    find_flips,
    tabulate,
)
from ietest_fast.stats.consistency.intervals import (
    BootstrapMethod,
    BucketEstimate,
    estimate_measures,
)
from ietest_fast.stats.inputs import (
    Rng,
    as_outcomes,
    check_between,
    check_cost,
    in_one_order,
    seed_of,
)
from ietest_fast.stats.intervals import Interval, check_level, wilson_interval
from ietest_fast.stats.outcomes import DEFAULT_N_RESAMPLES
from ietest_fast.stats.resampling import FEW_UNITS, check_options, count_equal
from ietest_fast.stats.result import Plottable, Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ietest_fast.stats.flips import FlipResult


# The plane of accuracy and P_C (Figure 3), and its lines of equal PVAP.

#: Shares of variance whose lines are drawn.
ISO_PVAP = (0.1, 0.25, 0.5, 0.75, 1.0)


def consistency_at(accuracy: ArrayLike, pvap: float) -> NDArray[np.float64]:
    r"""Compute P_C at an accuracy and a share of variance that is due to paraphrasing.

    .. math:: P_C = 1 - 2 \cdot PVAP \cdot A (1 - A),

    by eq. 7 and 8 of Srikanth et al. (2024). At a PVAP of 1 it is the least P_C that there is at
    this accuracy, ``A**2 + (1 - A)**2``: all items are answered right equally often.

    Parameters
    ----------
    accuracy
        A, in [0, 1], of any shape.
    pvap
        In [0, 1].

    Returns
    -------
    ndarray of float64
        Of the shape of ``accuracy``.

    Raises
    ------
    InputError
        If one of them is not in [0, 1].

    Examples
    --------
    >>> from ietest_fast.stats import consistency_at
    >>> [round(float(p), 2) for p in consistency_at([0.5, 0.8, 1.0], 1.0)]
    [0.5, 0.68, 1.0]
    """
    check_between(pvap, "pvap", 0, 1, with_ends=True)
    values = np.asarray(accuracy, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("accuracy must lie in [0, 1]")
    return np.asarray(1 - 2 * pvap * values * (1 - values))


_LABELS = {
    "accuracy_original": "accuracy, originals",
    "accuracy_micro": "accuracy, micro",
    "accuracy_macro": "accuracy, macro",
    "accuracy_change": "  macro − originals",
    "flip_rate": "flips from the original",
    "p_c": "P_C",
    "p_c_unbiased": "P_C, unbiased",
    "lower_bound": "  least at this accuracy",
    "vap": "VAP",
    "between": "variance between",
    "pvap": "PVAP",
    "vap_unbiased": "VAP, unbiased",
    "between_unbiased": "variance between, unb.",
    "pvap_unbiased": "PVAP, unbiased",
    "agreement": "same answer",
    "agreement_unbiased": "same answer, unbiased",
    "confidence_change": "confidence change",
    "confidence_distance": "confidence distance",
}


@dataclass(frozen=True, kw_only=True)
class ConsistencyResult(Plottable, Result):
    """How alike a classifier answers paraphrases of the same items (Srikanth et al. 2024)."""

    title = "Paraphrastic consistency"

    n_buckets: int
    n_paraphrases: int
    """Items with a paraphrase, and paraphrases."""
    n_single: int
    """Buckets of one paraphrase: they have no pair, so the unbiased measures leave them out."""
    n_without_paraphrases: int
    """Items with nothing but an original; no measure takes them."""
    n_without_original: int
    """Buckets without an original; measures of changes leave them out."""
    n_split: int
    """Buckets with right and wrong answers."""
    n_clusters: int | None
    """Number of clusters; None if buckets are independent."""
    n_units_equal: float
    """How many buckets, or clusters of equal size, would tell as much if all that a cluster holds
    were alike: ``(sum n**2)**2 / sum n**4`` over the clusters' numbers of buckets."""
    n_units_paired: float
    """The same of the buckets with two paraphrases or more, which the unbiased measures are
    about."""
    confidence_level: float
    """Of every interval."""
    n_resamples: int
    seed: int
    """S and the seed of the intervals that were resampled."""
    estimates: dict[str, BucketEstimate]
    """By name; those that the data do not tell are not there.

    ``accuracy_micro``, ``accuracy_macro``
        A over paraphrases, and over buckets: the mean of theta, a bucket's accuracy.
    ``p_c``, ``p_c_unbiased``
        Eq. 2, the mean of theta**2 + (1 - theta)**2, which pairs each paraphrase with itself
        too and so is too large on average (its interval is about what it estimates, not about
        P_C); and the mean share of pairs of different
        paraphrases that are both right or both wrong, which is not.
    ``lower_bound``
        The least P_C at the macro accuracy: all buckets have the same theta.
    ``vap``, ``between``, ``pvap``
        Eq. 3 and 8: the mean of theta (1 - theta), the variance of theta, and the share of the
        former in the variance of all answers' correctness (at the micro accuracy). As the
        former is over buckets and the latter over answers, unequal buckets may make it exceed
        1; it then has no interval.
    ``vap_unbiased``, ``between_unbiased``, ``pvap_unbiased``
        The same from pairs of different paraphrases; the last is a ratio of unbiased estimates.
        ``between_unbiased`` may be negative.
    ``agreement``, ``agreement_unbiased``
        As P_C, of answers: two paraphrases agree if they have the same answer, also if wrong.
        The rest to 1 is how often the answer flips from one paraphrase to another.
    ``accuracy_original``, ``accuracy_change``
        Accuracy on the originals, and macro accuracy minus it.
    ``flip_rate``
        Share of all paraphrases whose answer is not that to the original; where answers are not
        known, of those that are right while it is wrong, or wrong while it is right.
    ``confidence_change``, ``confidence_distance``
        Confidence in the gold label on the paraphrases minus that on the original, and its
        absolute value; mean over each bucket, then over buckets."""
    flips: FlipResult | None
    """Kinds of flips, and the tests of the flip rate against a margin; None without originals, or
    with fewer than two clusters. Its own interval is that of these tests: where few clusters tell
    how alike their answers are, it takes them for all alike, and is much wider than that of
    ``flip_rate``."""

    def __getitem__(self, name: str) -> BucketEstimate:
        return self.estimates[name]

    @property
    def statistic(self) -> float | None:
        """P_C, as the paper has it."""
        return self.estimates["p_c"].value

    @property
    def is_lower_bound(self) -> bool:
        """Whether ``flip_rate`` counts flips of right and wrong alone, as answers are not known."""
        return "agreement" not in self.estimates

    @property
    def split_interval(self) -> Interval | None:
        """Wilson's interval of the share of buckets that split.

        None with clusters, or if no bucket has two paraphrases: one cannot split.
        """
        if self.n_clusters is not None or self.n_single == self.n_buckets:
            return None
        return wilson_interval(self.n_split, self.n_buckets, confidence_level=self.confidence_level)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name."""
        split = self.split_interval
        fields: dict[str, Any] = {
            "n_buckets": self.n_buckets,
            "n_paraphrases": self.n_paraphrases,
            "n_single": self.n_single,
            "n_without_paraphrases": self.n_without_paraphrases,
            "n_without_original": self.n_without_original,
            "n_split": self.n_split,
            "split_interval": None if split is None else [split.low, split.high],
            "n_clusters": self.n_clusters,
            "n_units_equal": self.n_units_equal,
            "n_units_paired": self.n_units_paired,
            "confidence_level": self.confidence_level,
            "n_resamples": self.n_resamples,
            "seed": self.seed,
        }
        for name, estimate in self.estimates.items():
            own = estimate.interval
            fields[name] = estimate.value
            fields[f"{name}_standard_error"] = estimate.standard_error
            fields[f"{name}_interval"] = None if own is None else [own.low, own.high]
            fields[f"{name}_method"] = estimate.method
        return fields | {"flips": None if self.flips is None else self.flips.to_dict()}

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        in_clusters = (
            "" if self.n_clusters is None else f" in {say_count(self.n_clusters, 'cluster')}"
        )
        rows = [
            ("buckets", f"{self.n_buckets:,}{in_clusters}"),
            ("paraphrases", f"{self.n_paraphrases:,}"),
            ("buckets that split", f"{self.n_split:,} ({self.n_split / self.n_buckets:.2%})"),
        ]
        for name, label in _LABELS.items():
            if name not in self.estimates:
                continue
            estimate = self.estimates[name]
            value = "not defined" if estimate.value is None else f"{estimate.value:.4f}"
            interval = "" if estimate.interval is None else f"  {estimate.interval}"
            least = f"{label}, at least" if name == "flip_rate" and self.is_lower_bound else label
            rows.append((least, value + interval))
        level = f"{100 * self.confidence_level:g}%"
        none = "none of variances between items and of the plug-in PVAP keeps its level"
        return [*rows, ("intervals", f"{level}; {none}")]

    def draw_on(self, ax: Any) -> None:
        """Draw macro accuracy and P_C, with their intervals, over lines of equal PVAP (Figure 3).

        P_C is drawn twice: plug-in, as in the paper, and unbiased.
        """
        grid = np.linspace(0, 1, 201)
        for share in ISO_PVAP:
            line = consistency_at(grid, share)
            ax.plot(grid, line, color="0.7", linewidth=0.8)
            ax.annotate(f"PVAP {share:g}", (0.5, line[100]), color="0.4", ha="center", va="bottom")
        accuracy, least = self.estimates["accuracy_macro"], 0.5
        shown = (("p_c", "plug-in", "C0", "o"), ("p_c_unbiased", "unbiased", "C1", "D"))
        for name, label, color, marker in shown:
            p_c = self.estimates[name]
            if p_c.value is None:
                continue
            if accuracy.interval is not None:
                ax.plot(accuracy.interval, [p_c.value] * 2, color=color, marker="|")
            if p_c.interval is not None:
                ax.plot([accuracy.value] * 2, p_c.interval, color=color, marker="_")
            ax.plot(
                [accuracy.value], [p_c.value], color=color, marker=marker, label=f"P_C, {label}"
            )
            least = min(least, p_c.value if p_c.interval is None else p_c.interval.low)
        ax.set_xlim(0, 1)
        ax.set_ylim(least - 0.05, 1.02)
        ax.set_xlabel("accuracy, macro")
        ax.set_ylabel("P_C")
        ax.legend(loc="lower left")

    def remarks(self) -> list[str]:
        """Return what the numbers do not say."""
        said = []
        if self.n_single:
            said.append(
                f"{say_count(self.n_single, 'item has', 'items have')} one paraphrase and so no "
                "pair: the unbiased measures need two."
            )
        if self.n_without_paraphrases:
            said.append(
                f"{say_count(self.n_without_paraphrases, 'item has', 'items have')} an original "
                "but no paraphrase: no measure is about "
                f"{'it' if self.n_without_paraphrases == 1 else 'them'}."
            )
        if self.n_without_original and "accuracy_change" in self.estimates:
            said.append(
                f"{say_count(self.n_without_original, 'item has', 'items have')} no original: "
                "changes are those of the others."
            )
        if self.n_single == self.n_buckets:
            said.append(
                "Consistency is not measured: the plug-in P_C of an item with one paraphrase is 1."
            )
        return said + self.limits()

    def limits(self) -> list[str]:
        """Return what the intervals do not say: remarks that parts of the data have, too."""
        said = self._say_few_units()
        pvap = self.estimates["pvap"].value
        if pvap is not None and pvap > 1 + 1e-12:
            said.append(
                f"The plug-in PVAP is {pvap:.2f}, which is no share: VAP is a mean over items and "
                "the accuracy one over paraphrases, and items have very different numbers of these."
                " Use the unbiased one."
            )
        share = self.estimates["pvap_unbiased"]
        if share.value is not None and share.interval is None and self.n_buckets > 1:
            said.append(
                "PVAP has no interval: too few items split, or are not all right or all wrong, to "
                "tell by how much items differ."
            )
        if any(
            own is not None and own.low == own.high
            for own in (self.estimates[name].interval for name in ("accuracy_macro", "p_c"))
        ):
            said.append(
                "An interval without width says nothing of other items: all of these have the same "
                "accuracy, or none splits."
            )
        return said

    def _say_few_units(self) -> list[str]:
        if self.n_units_equal < FEW_UNITS:
            which, n, short = "item", self.n_units_equal, "intervals"
        elif 0 < self.n_units_paired < FEW_UNITS:
            which, n = "item with two paraphrases or more", self.n_units_paired
            short = "intervals of unbiased measures"
        else:
            return []
        if self.n_clusters is None:
            plural = which.replace("item", "items", 1)
            few = f"Only {say_count(round(n), which, plural)}"
        else:
            few = f"The clusters count like only {round(n):,} of equal size"
        return [f"{few}: {short} may be too short."]


@in_one_order
def measure_consistency(
    buckets: Any,
    correct: Any = None,
    *,
    is_original: Any = None,
    answers: Any = None,
    gold: Any = None,
    confidence: Any = None,
    clusters: Any = None,
    method: BootstrapMethod = "exact",
    confidence_level: float = 0.95,
    n_resamples: int = DEFAULT_N_RESAMPLES,
    rng: Rng = 0,
    n_threads: int | None = None,
) -> ConsistencyResult:
    r"""Measure the paraphrastic consistency of a classifier (Srikanth et al. 2024).

    P_C is the probability that two paraphrases of an item are both answered right or both wrong,

    .. math:: P_C = E[\theta^2] + E[(1 - \theta)^2] = 1 - 2\, VAP,

    theta being a bucket's accuracy (eq. 2 and 7). Intervals are those of the bootstrap over
    buckets, or over clusters of buckets where these share a source.

    Parameters
    ----------
    buckets
        Shape (n,), labels: the item of each row; or :class:`BucketCounts`, without further columns.
    correct, is_original, answers, gold, confidence, clusters
        As for :func:`count_buckets`. The original wording is no paraphrase: P_C and A leave it out.
    method
        ``exact``: intervals of means and ratios are those of the limit for large S, computed;
        others are resampled. ``resample``: all are resampled.
    confidence_level
        In (0, 1).
    n_resamples
        S.
    rng, n_threads
        As for :func:`ietest_fast.stats.paired_test`.

    Raises
    ------
    InputError
        As for :func:`~ietest_fast.stats.count_buckets`, or if an option is none.

    Examples
    --------
    >>> from ietest_fast.stats import measure_consistency
    >>> items = [1, 1, 1, 2, 2, 2, 3, 3]
    >>> right = [1, 1, 0, 1, 1, 1, 0, 0]
    >>> result = measure_consistency(items, right)
    >>> round(result["p_c"].value, 4), round(result["p_c_unbiased"].value, 4)
    (0.8519, 0.7778)
    """
    check_options(alternative="two-sided", n_resamples=n_resamples, n_threads=n_threads)
    check_level(confidence_level)
    check_method(method)
    flips = None
    if isinstance(buckets, BucketCounts):
        given = (correct, is_original, answers, gold, confidence, clusters)
        if any(column is not None for column in given):
            raise InputError("buckets are counted already: leave the columns out")
        counted = buckets
    else:
        if correct is None:
            raise InputError("correct is missing: it says which answers are right")
        counted = count_buckets(
            buckets,
            correct,
            is_original=is_original,
            answers=answers,
            gold=gold,
            confidence=confidence,
            clusters=clusters,
        )
        if is_original is not None:
            flips = find_flips(
                buckets,
                as_outcomes(correct, "correct"),
                as_outcomes(is_original, "is_original"),
                answers=answers,
                gold=gold,
                clusters=clusters,
            )
    table = tabulate(counted)
    check_cost(table.n_units, n_resamples, method="resample", has_exact_law=False)
    seed = seed_of(rng)
    estimates = estimate_measures(
        table,
        [name for name, own in MEASURES.items() if table.has(own) and name != "lower_bound"],
        method=method,
        confidence_level=confidence_level,
        n_resamples=int(n_resamples),
        seed=seed,
        n_threads=n_threads,
    )
    estimates |= {
        "p_c": estimates["vap"].as_consistency(),
        "p_c_unbiased": estimates["vap_unbiased"].as_consistency(),
        "lower_bound": estimates["accuracy_macro"].as_lower_bound(),
    }
    return ConsistencyResult(
        n_buckets=len(counted),
        n_paraphrases=counted.n_paraphrases,
        n_single=int((~counted.has_pairs).sum()),
        n_without_paraphrases=counted.n_without_paraphrases,
        n_without_original=int((counted.originals < 0).sum()),
        n_split=int(counted.splits.sum()),
        n_clusters=counted.n_clusters,
        n_units_equal=count_equal(np.square(table.column("buckets")), table.weights),
        n_units_paired=count_equal(np.square(table.column("paired")), table.weights),
        confidence_level=confidence_level,
        n_resamples=int(n_resamples),
        seed=seed,
        estimates={name: estimates[name] for name in _LABELS if name in estimates},
        flips=flips,
    )


def check_method(method: str) -> None:
    """Refuse what is no method of finding intervals, as an :class:`InputError`."""
    if method not in get_args(BootstrapMethod):
        raise InputError(f"method must be exact or resample, not {method!r}")
