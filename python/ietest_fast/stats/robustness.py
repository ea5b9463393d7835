"""Robustness of a model over all its classifiers, and classifiers that learnt nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def signal_to_noise(accuracies: ArrayLike) -> float:
    """Signal-to-noise ratio of accuracies pooled over rho and m (eq. 15).

    Parameters
    ----------
    accuracies
        Any shape; accuracies on the original test set.

    Returns
    -------
    float
        mean / standard deviation (divisor n); infinite if all accuracies are equal.

    Raises
    ------
    InputError
        If there are none or one is NaN.
    """
    values = np.asarray(accuracies, dtype=np.float64).ravel()
    if values.size == 0:
        raise InputError("a signal-to-noise ratio needs at least one accuracy")
    if np.isnan(values).any():
        raise InputError("a signal-to-noise ratio needs accuracies, but one is NaN")
    if np.ptp(values) == 0:
        return float("inf")
    return float(values.mean() / values.std())


def is_collapsed(predictions: ArrayLike, gold: ArrayLike) -> bool:
    """Whether a classifier has learnt nothing: it predicts one class, or is at chance.

    At chance means: its accuracy is not significantly above the share of the most frequent gold
    label (one-sided exact binomial test at 1%).

    Parameters
    ----------
    predictions, gold
        Shape (n,), class labels on the original test set.

    Raises
    ------
    InputError
        If the lengths differ or are 0.
    """
    predicted = np.asarray(predictions)
    labels = np.asarray(gold)
    if predicted.shape != labels.shape or labels.ndim != 1 or labels.size == 0:
        raise InputError(
            f"predictions and gold labels must be columns of one length, not of shape "
            f"{predicted.shape} and {labels.shape}"
        )
    if np.unique(predicted).size == 1 and np.unique(labels).size > 1:
        return True
    from scipy.stats import binom

    _, counts = np.unique(labels, return_counts=True)
    n_right = int((predicted == labels).sum())
    chance = counts.max() / labels.size
    return bool(binom.sf(n_right - 1, labels.size, chance) > 0.01)
