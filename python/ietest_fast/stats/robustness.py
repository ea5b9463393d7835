"""Robustness of a model over all its classifiers, and classifiers that have collapsed."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import as_array, check_between, check_spellings, in_one_order
from ietest_fast.stats.intervals import Interval
from ietest_fast.stats.result import Result, list_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

#: A classifier is at chance unless its accuracy is above chance at this level (one-sided).
CHANCE_ALPHA = 0.01


def signal_to_noise(accuracies: ArrayLike) -> float:
    """Signal-to-noise ratio of accuracies pooled over rho and m (eq. 15).

    Parameters
    ----------
    accuracies
        Any shape; accuracies on the original test set.

    Returns
    -------
    float
        mean / standard deviation (divisor n); infinite if all accuracies are equal, NaN of a
        single accuracy, which has no spread: the ratio is not defined.

    Raises
    ------
    InputError
        If there are none or one is NaN.
    """
    values = as_array(accuracies, "accuracies").astype(np.float64).ravel()
    if values.size == 0:
        raise InputError("a signal-to-noise ratio needs at least one accuracy")
    if np.isnan(values).any():
        raise InputError("a signal-to-noise ratio needs accuracies, but one is NaN")
    if values.size == 1:
        return math.nan
    if np.ptp(values) == 0:
        return math.inf
    return float(values.mean() / values.std())


@dataclass(frozen=True, kw_only=True)
class SignalToNoise:
    """A signal-to-noise ratio with an interval."""

    n: int
    """Number of classifiers."""
    mean: float
    std: float
    """Of their accuracies; divisor n."""
    snr: float
    """mean / std; infinite if all accuracies are equal, NaN (not defined) of one classifier."""
    interval: Interval | None
    """For the ratio; None where the accuracies have no variance, or are fewer than three."""


@dataclass(frozen=True, kw_only=True)
class RobustnessResult(Result):
    """Signal-to-noise ratio of a model, with its collapsed classifiers and without."""

    title = "Robustness"

    every: SignalToNoise
    """The ratio over all classifiers, as the paper defines it."""
    without_collapsed: SignalToNoise | None
    """The ratio over those that have not collapsed; None if there is none."""
    collapsed: tuple[str, ...]
    """Names of the collapsed classifiers, in the order given."""
    confidence_level: float
    """Of the intervals."""

    def to_dict(self) -> dict[str, Any]:
        """Give every number of the result by name."""
        rest = self.without_collapsed
        return {
            "every": list_fields(self.every),
            "without_collapsed": None if rest is None else list_fields(rest),
            "n_collapsed": len(self.collapsed),
            "collapsed": list(self.collapsed),
            "confidence_level": self.confidence_level,
        }

    def rows(self) -> list[tuple[str, str]]:
        """Give names and formatted values in reading order."""
        rows = [
            ("classifiers", f"{self.every.n:,}, {len(self.collapsed):,} of them collapsed"),
            ("mean accuracy", f"{self.every.mean:.4f}"),
            ("SNR", self._say(self.every)),
        ]
        if self.collapsed and self.without_collapsed is not None:
            rows.append(("SNR without collapsed", self._say(self.without_collapsed)))
        return rows

    def remarks(self) -> list[str]:
        """Name the collapsed classifiers."""
        if not self.collapsed:
            return []
        said = f"Collapsed: {', '.join(self.collapsed)}."
        if self.without_collapsed is None:
            said += " No classifier is shown to beat the most frequent label."
        return [said]

    def _say(self, part: SignalToNoise) -> str:
        if math.isnan(part.snr):
            return "not defined: it needs two classifiers or more"
        if part.interval is None:
            return f"{part.snr:.2f}"
        level = f"{100 * self.confidence_level:g}%"
        return f"{part.snr:.2f} ({level}: {part.interval.low:.2f} to {part.interval.high:.2f})"


def robustness(
    accuracies: ArrayLike,
    collapsed: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    confidence_level: float = 0.95,
) -> RobustnessResult:
    r"""Compute a model's signal-to-noise ratio, with and without its collapsed classifiers.

    The interval is the delta method's on the log scale with Student's quantile: with z_i the
    standardised accuracies, the influence of classifier i on log(SNR) is

    .. math:: u_i = (x_i - \bar x)/\bar x - (z_i^2 - 1)/2,

    and the interval is SNR exp(± t sqrt(sum u_i^2 / (n (n - 1)))). It assumes no normality: a
    share of collapsed classifiers would make an interval built on normality far too short.

    Parameters
    ----------
    accuracies
        Accuracies on the original test set, of any shape, such as (n_rho, M); pooled.
    collapsed
        Same shape, bool: which classifiers have collapsed (:func:`is_collapsed`). None of them if
        not given.
    names
        One for each classifier, in the order of the flattened accuracies; their numbers,
        ``#0`` and so on, if not given.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If there is no accuracy, one is NaN or negative, the shapes differ, or the confidence
        level is not in (0, 1).

    Examples
    --------
    >>> from ietest_fast.stats import robustness
    >>> result = robustness([0.83, 0.84, 0.81, 0.33], [False, False, False, True])
    >>> round(result.every.snr, 2), round(result.without_collapsed.snr, 2)
    (3.26, 66.28)
    """
    values = as_array(accuracies, "accuracies").astype(np.float64)
    flags: NDArray[Any] = np.zeros(values.shape, dtype=np.bool_)
    if collapsed is not None:
        flags = as_array(collapsed, "collapsed")
        if flags.dtype.kind != "b":
            raise InputError(f"collapsed must hold true or false, not values of {flags.dtype}")
    if flags.shape != values.shape:
        raise InputError(
            f"there are accuracies of shape {values.shape}, but flags of shape {flags.shape}"
        )
    values, flags = values.ravel(), flags.ravel()
    if names is None:
        names = [f"#{i}" for i in range(values.size)]
    elif len(names) != values.size:
        raise InputError(f"there are {values.size} accuracies, but {len(names)} names")
    check_between(confidence_level, "confidence_level", 0, 1)
    if (values < 0).any():
        raise InputError("an accuracy is negative", row=f"row {int(np.argmax(values < 0))}")
    kept = values[~flags]
    return RobustnessResult(
        every=_signal_to_noise(values, confidence_level),
        without_collapsed=_signal_to_noise(kept, confidence_level) if kept.size else None,
        collapsed=tuple(str(name) for name, flag in zip(names, flags, strict=True) if flag),
        confidence_level=confidence_level,
    )


def _signal_to_noise(values: NDArray[np.float64], confidence_level: float) -> SignalToNoise:
    snr = signal_to_noise(values)
    n, mean = values.size, float(values.mean())
    if not math.isfinite(snr):
        return SignalToNoise(n=n, mean=mean, std=0.0, snr=snr, interval=None)
    from scipy.special import stdtrit

    std = float(values.std())
    if n < 3:
        return SignalToNoise(n=n, mean=mean, std=std, snr=snr, interval=None)
    influence = (values - mean) / mean - (((values - mean) / std) ** 2 - 1) / 2
    error = math.sqrt(float((influence**2).sum()) / (n * (n - 1)))
    half = float(stdtrit(n - 1, (1 + confidence_level) / 2)) * error
    factor = math.exp(half) if half < 700 else math.inf
    return SignalToNoise(
        n=n, mean=mean, std=std, snr=snr, interval=Interval(snr / factor, snr * factor)
    )


class Collapse(enum.StrEnum):
    """How a classifier has collapsed."""

    ONE_CLASS = "one predicted class"
    AT_CHANCE = "accuracy not above chance"


@in_one_order
def find_collapse(predictions: ArrayLike, gold: ArrayLike) -> Collapse | None:
    """Say by which rule a classifier has collapsed, if it has.

    ``ONE_CLASS``: it predicts a single class though the gold labels have more. ``AT_CHANCE``: its
    accuracy does not lie above :func:`chance_limit`.

    Parameters
    ----------
    predictions, gold
        Shape (n,), class labels on the original test set.

    Raises
    ------
    InputError
        If the lengths differ or are 0, or no answer is a gold label but for case and blanks.
    """
    predicted = as_array(predictions, "predictions")
    labels = as_array(gold, "gold")
    if predicted.shape != labels.shape or labels.ndim != 1 or labels.size == 0:
        raise InputError(
            f"predictions and gold labels must be columns of one length, not of shape "
            f"{predicted.shape} and {labels.shape}"
        )
    check_spellings(predictions=predicted, gold=labels)
    if np.unique(predicted).size == 1 and np.unique(labels).size > 1:
        return Collapse.ONE_CLASS
    accuracy = float((predicted == labels).mean())
    return Collapse.AT_CHANCE if accuracy <= chance_limit(labels) else None


def is_collapsed(predictions: ArrayLike, gold: ArrayLike) -> bool:
    """Whether a classifier predicts one class, or is not shown to be above chance.

    That means: its accuracy is not significantly above the share of the most frequent gold
    label (one-sided exact binomial test at 1%). Parameters and errors as for
    :func:`find_collapse`, which says by which rule.
    """
    return find_collapse(predictions, gold) is not None


def chance_limit(gold: ArrayLike) -> float:
    """Give the largest accuracy that counts as chance on these gold labels.

    Whoever always says the most frequent label is right with its share p; the interval of chance
    reaches to the largest share of right answers that a Binomial(n, p) reaches or passes with
    more than 1%.

    Parameters
    ----------
    gold
        Shape (n,), class labels.

    Returns
    -------
    float
        1 if there is only one label.

    Raises
    ------
    InputError
        If there is no label.
    """
    labels = as_array(gold, "gold")
    if labels.ndim != 1 or labels.size == 0:
        raise InputError(f"gold labels must be a column, not of shape {labels.shape}")
    from scipy.stats import binom

    n = labels.size
    _, counts = np.unique(labels, return_counts=True)
    p = counts.max() / n
    # isf gives the smallest x with P(X > x) <= 1%; x itself is reached with more than that.
    return float(binom.isf(CHANCE_ALPHA, n, p)) / n
