"""How often a classifier changes its answer: the flip rate, and whether it is below a margin."""

from __future__ import annotations

import enum
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.numerals import format_p, percent, say_p, show_p
from ietest_fast.stats.inputs import (
    as_clusters,
    check_between,
    check_label_kinds,
    check_lengths,
    in_one_order,
)
from ietest_fast.stats.intervals import (
    Clustering,
    Differences,
    Interval,
    check_level,
    effective_size,
)
from ietest_fast.stats.matched import MatchedSample, PairedCounts, outcome_columns
from ietest_fast.stats.multiple import benjamini_hochberg
from ietest_fast.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Fewer flips than this share of the reworded texts do not matter, unless told otherwise.
DEFAULT_FLIP_MARGIN = 0.05


class FlipVerdict(enum.StrEnum):
    """What is shown of a flip rate."""

    BELOW = "below margin"
    ABOVE = "above margin"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class FlipResult(Result):
    """How often answers flip, and the tests of the flip rate f against a margin."""

    title = "Flips"

    n: int
    """Number of pairs."""
    n_flipped: int
    """Pairs whose two answers differ."""
    right_to_wrong: int | None
    wrong_to_right: int | None
    wrong_to_wrong: int | None
    """The flips by kind; the last is from one wrong answer to another. None where gold labels are
    not known; ``wrong_to_wrong`` also where the answers are not, but only whether they are
    right."""
    n_clusters: int | None
    design_effect: float | None
    """Number of clusters and what they do to the variance of the flip rate; None without clusters.
    The design effect is the largest there can be where fewer than 25 clusters hold a flip."""
    n_effective: float
    """How many independent pairs the sample is worth (Korn and Graubard 1998); ``n`` without
    clusters."""
    margin: float
    """A smaller flip rate does not matter."""
    alpha: float
    """Level of each test."""
    interval: Interval
    """Of the flip rate, at confidence 1 - 2 alpha."""
    p_below: float
    """p-value of H0: f >= margin. If it is small, answers are shown to flip more rarely."""
    p_above: float
    """p-value of H0: f <= margin. If it is small, answers are shown to flip more often."""

    @property
    def rate(self) -> float:
        """The flip rate f: the share of pairs whose two answers differ."""
        return self.n_flipped / self.n

    @property
    def is_lower_bound(self) -> bool:
        """Whether flips from one wrong answer to another are missing, for answers are not known."""
        return self.right_to_wrong is not None and self.wrong_to_wrong is None

    @property
    def statistic(self) -> float:
        """The flip rate."""
        return self.rate

    @property
    def pvalue(self) -> float:
        """The p-value of the invariance test, H0: f >= margin."""
        return self.p_below

    @property
    def verdict(self) -> FlipVerdict:
        """What is shown of the flip rate.

        It is never shown to be below the margin where it is a lower bound only.
        """
        if self.p_above < self.alpha:
            return FlipVerdict.ABOVE
        if self.p_below < self.alpha and not self.is_lower_bound:
            return FlipVerdict.BELOW
        return FlipVerdict.OPEN

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of Clopper and Pearson (1934), by clusters that of Korn and Graubard.

        The level is as for :meth:`ietest_fast.stats.PairedResult.confidence_interval`.
        """
        check_level(confidence_level)
        return self.ends_at((1 - confidence_level) / 2)

    def ends_at(self, tail: float) -> Interval:
        """Return the same interval by the probability beyond each end, which may be tiny."""
        n = effective_size(self.n, self.n_clusters, self.design_effect, tail)
        return _interval(self.rate * n, n, tail)

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the result by name, and the verdict."""
        return {
            "n": self.n,
            "n_flipped": self.n_flipped,
            "flip_rate": self.rate,
            "right_to_wrong": self.right_to_wrong,
            "wrong_to_right": self.wrong_to_right,
            "wrong_to_wrong": self.wrong_to_wrong,
            "is_lower_bound": self.is_lower_bound,
            "n_clusters": self.n_clusters,
            "design_effect": self.design_effect,
            "n_effective": self.n_effective,
            "margin": self.margin,
            "alpha": self.alpha,
            "interval": [self.interval.low, self.interval.high],
            "p_below": self.p_below,
            "p_above": self.p_above,
            "verdict": str(self.verdict),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values in reading order."""
        least = "at least " if self.is_lower_bound else ""
        rows = [
            ("pairs", f"{self.n:,}"),
            ("answers flipped", f"{least}{self.n_flipped:,} ({self.rate:.2%})"),
            self._row_of_interval(),
        ]
        kinds = {
            "  right to wrong": self.right_to_wrong,
            "  wrong to right": self.wrong_to_right,
            "  wrong to wrong": self.wrong_to_wrong,
        }
        rows += [(name, f"{count:,}") for name, count in kinds.items() if count is not None]
        if self.n_clusters is not None:
            rows.append(
                ("clusters", f"{self.n_clusters:,}, design effect {self.design_effect:.2f}")
            )
        return [
            *rows,
            ("margin", f"{self.margin:g}"),
            ("p, flip rate ≥ margin", format_p(self.p_below)),
            ("p, flip rate ≤ margin", format_p(self.p_above)),
            ("verdict", str(self.verdict)),
        ]

    def _row_of_interval(self) -> tuple[str, str]:
        if self.is_lower_bound:  # an upper end would bound nothing
            return f"  lower {100 * (1 - self.alpha):g}% bound", f"{self.interval.low:.4g}"
        return f"  {100 * (1 - 2 * self.alpha):g}% interval", str(self.interval)

    @property
    def explanation(self) -> str:
        """The verdict in plain words."""
        return self.say(self.verdict)

    def say(self, verdict: FlipVerdict, excess: ExcessFlips | None = None) -> str:
        """Say a verdict in plain words; on what goes beyond the noise floor, if there is one."""
        least = "at least " if self.is_lower_bound else ""
        said = (
            f"The answer changes on {least}{self.n_flipped:,} of {self.n:,} texts ({self.rate:.2%})"
        )
        margin, tested = f"{self.margin:g}", excess or self
        if excess is not None:
            said += (
                f", and on {excess.n_flipped:,} of {excess.n:,} that were left alone "
                f"({excess.rate:.2%})"
            )
            margin += " beyond these"
        if verdict is FlipVerdict.ABOVE:
            return f"{said}: more than the margin of {margin} ({say_p(format_p(tested.p_above))})."
        if verdict is FlipVerdict.BELOW:
            return f"{said}: less than the margin of {margin} ({say_p(format_p(tested.p_below))})."
        if self.is_lower_bound and tested.p_below < self.alpha:
            return (
                f"{said}; how often one wrong answer turns into another is not known, so the "
                f"flip rate is not shown to be below {margin}."
            )
        return (
            f"{said}: neither more than the margin of {margin} ({say_p(format_p(tested.p_above))}) "
            f"nor less ({say_p(format_p(tested.p_below))}) is shown."
        )


# Rates of 0 and 1 have no likelihood where any text says otherwise.
_LEAST_RATE = 1e-12


@dataclass(frozen=True, kw_only=True)
class ExcessFlips:
    """Flips on reworded texts beyond those on texts that were left alone: the noise floor.

    A classifier that answers equal texts in several ways (it samples, or its numbers depend on the
    batch) flips anyway. Both rates are compared by the score test of Farrington and Manning (1990).
    """

    n: int
    n_flipped: int
    """Texts that were left alone, and how many have two answers."""
    excess: float
    """The flip rate of reworded texts minus that of texts that were left alone."""
    margin: float
    """A smaller excess does not matter."""
    p_below: float
    """p-value of H0: excess >= margin."""
    p_above: float
    """p-value of H0: excess <= margin."""

    @property
    def rate(self) -> float:
        """The noise floor: the share of texts left alone that have two answers."""
        return self.n_flipped / self.n

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "n_left_alone": self.n,
            "n_flipped_left_alone": self.n_flipped,
            "excess": self.excess,
            "p_below": self.p_below,
            "p_above": self.p_above,
        }

    @classmethod
    def of(
        cls, flips: FlipResult, left_alone: NDArray[np.bool_], *, clusters: NDArray[Any] | None
    ) -> ExcessFlips | None:
        """Compare flips with those of texts left alone, shape (n0,); None if none of them flips."""
        if not left_alone.any():
            return None
        n_flipped, n = int(left_alone.sum()), left_alone.size
        z = _score_of_excess(
            flips.rate,
            flips.n_effective,
            n_flipped / n,
            _effective_size(left_alone, clusters, flips.alpha),
            flips.margin,
        )
        tail = 0.5 * math.erfc(abs(z) / math.sqrt(2))
        return cls(
            n=n,
            n_flipped=n_flipped,
            excess=flips.rate - n_flipped / n,
            margin=flips.margin,
            p_below=tail if z < 0 else 1 - tail,
            p_above=tail if z > 0 else 1 - tail,
        )


def _effective_size(
    flipped: NDArray[np.bool_], clusters: NDArray[Any] | None, alpha: float
) -> float:
    """Return how many independent pairs these are worth; a single cluster is worth one."""
    if clusters is None:
        return float(flipped.size)
    if len(set(clusters.tolist())) == 1:
        return 1.0
    codes, n_clusters = as_clusters(clusters, flipped.size)
    clustering = Clustering.of_codes(Differences.of(flipped.astype(np.float64)), codes, n_clusters)
    return effective_size(flipped.size, n_clusters, clustering.cautious_effect, alpha)


def _score_of_excess(f: float, n: float, f0: float, n0: float, margin: float) -> float:
    """Compute the score statistic of H0: f - f0 = margin, whose variance is that under H0.

    The likelihood of f0 is concave, so its maximum is where the derivative changes its sign.
    """
    low, high = _LEAST_RATE, 1.0 - margin - _LEAST_RATE
    for _ in range(60):
        q = (low + high) / 2
        slope = n0 * (f0 - q) / (q * (1 - q))
        p = q + margin
        slope += n * (f - p) / (p * (1 - p))
        low, high = (q, high) if slope > 0 else (low, q)
    p = q + margin
    return (f - f0 - margin) / math.sqrt(p * (1 - p) / n + q * (1 - q) / n0)


@in_one_order
def flip_test(
    original: PairedCounts | MatchedSample | Any,
    transformed: Any = None,
    *,
    gold: Any = None,
    clusters: Any = None,
    margin: float = DEFAULT_FLIP_MARGIN,
    alpha: float = 0.05,
) -> FlipResult:
    r"""Test how often a classifier gives another answer to the transformed text.

    Equal accuracy is not invariance: answers may flip as often from right to wrong as from wrong to
    right, or from one wrong label to another. The flip rate counts them all,

    .. math:: f = \frac{1}{n} \sum_i 1[g(x_i) \neq g(\varphi x_i)].

    H0: f >= margin, the opposite of invariance, and H0: f <= margin are tested by the binomial law
    (Clopper and Pearson 1934). With clusters n is replaced by an effective n, the number of
    independent pairs of the same variance, with Korn and Graubard's (1998) correction for the
    degrees of freedom. Where fewer than 25 clusters hold a flip, they do not tell how alike the
    pairs of a cluster are; the size of the largest cluster, which is a bound, is then the design
    effect.

    Parameters
    ----------
    original, transformed
        Labels that the classifier gives, shape (n,), numbers or texts. Instead: counts or a matched
        sample, without a second column. They tell right answers from wrong ones only, so flips
        between wrong answers are missing from them.
    gold
        Gold labels, shape (n,), which tell the kinds of flips.
    clusters
        Shape (n,), the cluster of each pair.
    margin
        In (0, 1). Choose it before you look at the data.
    alpha
        In (0, 0.5).

    Raises
    ------
    InputError
        If a label is missing, columns differ in length or in kind, clusters come with counts, or
        margin or alpha are out of their range.

    Examples
    --------
    >>> from ietest_fast.stats import flip_test
    >>> gold = ["yes", "no"] * 200
    >>> answers = ["no", *gold[1:]]
    >>> result = flip_test(gold, answers, gold=gold)
    >>> result.right_to_wrong, result.rate, str(result.verdict)
    (1, 0.0025, 'below margin')
    """
    check_between(margin, "the margin of a flip rate", 0, 1)
    check_between(alpha, "alpha", 0, 0.5)
    kinds: tuple[int | None, int | None, int | None]
    if isinstance(original, PairedCounts):
        if transformed is not None or gold is not None or clusters is not None:
            raise InputError("counts are complete: leave the columns out")
        n, n_flipped = original.n, original.k
        kinds = (original.n10, original.n01, None)
        return _result(n, n_flipped, kinds, None, margin=margin, alpha=alpha)
    if isinstance(original, MatchedSample):
        if gold is not None:
            raise InputError("a matched sample holds right and wrong answers: leave gold out")
        a, b = outcome_columns(original, transformed)
        flipped = a != b
        kinds = (int((a & ~b).sum()), int((b & ~a).sum()), None)
    else:
        flipped, kinds = _compare(original, transformed, gold)
    clustering = None
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, flipped.size)
        differences = Differences.of(flipped.astype(np.float64))
        clustering = Clustering.of_codes(differences, codes, n_clusters)
    n_flipped = int(flipped.sum())
    return _result(flipped.size, n_flipped, kinds, clustering, margin=margin, alpha=alpha)


def _compare(
    original: Any, transformed: Any, gold: Any
) -> tuple[NDArray[np.bool_], tuple[int | None, int | None, int | None]]:
    if transformed is None:
        raise InputError("the second column is missing: flips are between two columns of labels")
    columns = {"original": original, "transformed": transformed}
    if gold is None:
        a, b = check_label_kinds(**columns)
        check_lengths(original=a, transformed=b)
        return a != b, (None, None, None)
    a, b, truth = check_label_kinds(**columns, gold=gold)
    check_lengths(original=a, transformed=b, gold=truth)
    flipped = np.asarray(a != b)
    was_right, is_right = a == truth, b == truth
    lost, won = int((was_right & flipped).sum()), int((is_right & flipped).sum())
    return flipped, (lost, won, int(flipped.sum()) - lost - won)


def _result(
    n: int,
    n_flipped: int,
    kinds: tuple[int | None, int | None, int | None],
    clustering: Clustering | None,
    *,
    margin: float,
    alpha: float,
) -> FlipResult:
    from scipy.special import betainc

    n_clusters, effect = None, None
    if clustering is not None:
        n_clusters, effect = clustering.n, clustering.cautious_effect
    size = effective_size(n, n_clusters, effect, alpha)
    x = n_flipped / n * size if clustering is not None else n_flipped
    lost, won, other = kinds
    return FlipResult(
        n=n,
        n_flipped=n_flipped,
        right_to_wrong=lost,
        wrong_to_right=won,
        wrong_to_wrong=other,
        n_clusters=n_clusters,
        design_effect=effect,
        n_effective=size,
        margin=margin,
        alpha=alpha,
        interval=_interval(x, size, alpha),
        p_below=1.0 if n_flipped == n else float(betainc(size - x, x + 1, 1 - margin)),
        p_above=1.0 if n_flipped == 0 else float(betainc(x, size - x + 1, margin)),
    )


def _interval(x: float, n: float, tail: float) -> Interval:
    """Clopper and Pearson's interval of x in n, which need not be whole, each end at one tail."""
    from scipy.special import betaincinv

    low = 0.0 if x <= 0 else float(betaincinv(x, n - x + 1, tail))
    high = 1.0 if x >= n else float(betaincinv(x + 1, n - x, 1 - tail))
    return Interval(low, high)


# Which edits flips go with.

LEAST_ROWS = 5
"""An edit in fewer texts is not tested."""

_N_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class EditEffect:
    """An edit, and what happens to the texts that have it."""

    edit: str
    """What was replaced, and by what."""
    n: int
    """Reworded texts that have it."""
    n_flipped: int
    """Those of them whose answer changes."""
    n_lost: int
    n_won: int
    """Those of them that become wrong, and right."""
    p_value: float
    """Of "its texts flip as often as other reworded ones", one-sided (Fisher's exact test)."""
    q_value: float
    """The smallest rate of false discoveries at which it is one (Benjamini and Hochberg 1995)."""

    def __str__(self) -> str:
        share = percent(self.n_flipped / self.n)
        return f"{self.n_flipped:,} of {self.n:,} flip ({share}, q {show_p(self.q_value)})"


@dataclass(frozen=True, kw_only=True, eq=False)
class EditEffects(Result):
    """Edits in at least five texts, those that go with flips most surely first."""

    title = "Edits that go with flips"

    effects: tuple[EditEffect, ...]
    """By p-value."""
    n: int
    n_flipped: int
    """Reworded texts, and those whose answer changes."""
    unit: Literal["texts", "clusters"] = "texts"
    """What is counted: with clusters these, as their texts are no independent evidence."""

    def leading(self, alpha: float = 0.05) -> EditEffect | None:
        """Return the first edit, if it is a discovery at this rate of false ones."""
        first = next(iter(self.effects), None)
        return first if first is not None and first.q_value < alpha else None

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "n": self.n,
            "n_flipped": self.n_flipped,
            "unit": self.unit,
            "edits": [asdict(each) for each in self.effects],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each edit."""
        return [asdict(each) for each in self.effects]

    def rows(self) -> list[tuple[str, str]]:
        """Return names and formatted values of the first ten."""
        return [(each.edit, str(each)) for each in self.effects[:_N_SHOWN]]


def rank_edits(
    names: Sequence[str],
    name: NDArray[np.int64],
    row: NDArray[np.int64],
    *,
    reworded: NDArray[np.bool_],
    flipped: NDArray[np.bool_],
    lost: NDArray[np.bool_],
    won: NDArray[np.bool_],
    unit: Literal["texts", "clusters"] = "texts",
) -> EditEffects:
    """Test of each edit whether the texts that have it flip more often than others.

    Of R reworded texts F flip. If an edit that r of them have does nothing, the number of its texts
    that flip is hypergeometric (Fisher's exact test, one-sided). The false discoveries are bounded
    as by Benjamini and Hochberg (1995).

    Parameters
    ----------
    names
        What the K edits are called.
    name, row
        int64, shape (E,): each occurrence of an edit, and the text that it stands in. Several in
        one text count once.
    reworded, flipped, lost, won
        bool, shape (n,): the texts.
    unit
        What ``row`` numbers, and the columns are of.
    """
    from scipy.stats import hypergeom

    pairs = np.unique(np.stack([name, row], axis=1), axis=0) if len(name) else np.zeros((0, 2), int)
    codes, rows = pairs[:, 0], pairs[:, 1]

    def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(codes[which[rows]], minlength=len(names))

    n_rows, n_flips = np.bincount(codes, minlength=len(names)), count(flipped)
    n_lost, n_won = count(lost), count(won)
    tested = np.flatnonzero(n_rows >= LEAST_ROWS)
    population, all_flips = int(reworded.sum()), int((flipped & reworded).sum())
    p_values = hypergeom.sf(n_flips[tested] - 1, population, all_flips, n_rows[tested])
    p_values = np.minimum(1.0, p_values)
    q_values = benjamini_hochberg(p_values.tolist()) if len(tested) else []
    order = sorted(range(len(tested)), key=lambda place: (p_values[place], tested[place]))
    return EditEffects(
        effects=tuple(
            EditEffect(
                edit=names[tested[place]],
                n=int(n_rows[tested[place]]),
                n_flipped=int(n_flips[tested[place]]),
                n_lost=int(n_lost[tested[place]]),
                n_won=int(n_won[tested[place]]),
                p_value=float(p_values[place]),
                q_value=q_values[place],
            )
            for place in order
        ),
        n=population,
        n_flipped=all_flips,
        unit=unit,
    )
