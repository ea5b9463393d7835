"""Interval of a share of observations, some of which may belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import as_clusters
from ietest_fast.stats.intervals import Clustering, Differences, check_level, effective_size
from ietest_fast.stats.score_intervals import wilson_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ietest_fast.stats.intervals import Interval


def proportion_interval(
    outcomes: ArrayLike, clusters: Any = None, *, confidence_level: float = 0.95
) -> Interval:
    """Compute Wilson's (1927) interval of a share, of clustered outcomes at their effective number.

    The effective number is that of outcomes over their design effect, and smaller again where few
    clusters tell that effect, as for the interval of Korn and Graubard (1998). Without clusters, or
    with one outcome in each, the interval is Wilson's.

    Parameters
    ----------
    outcomes
        Shape (n,), bool; at least one.
    clusters
        Shape (n,), labels; equal ones are a cluster. None: outcomes are independent.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If there is no outcome, the confidence level is not in (0, 1), or clusters do not have a
        label for each outcome.
    """
    check_level(confidence_level)
    values = np.asarray(outcomes, np.float64)
    n = values.size
    if n == 0:
        raise InputError("there is no outcome, so there is no share of them")
    size = float(n)
    if clusters is not None and n > 1:
        labels = np.asarray(clusters)
        if labels.size == n and (labels == labels[0]).all():
            size = 1.0  # whatever there is may be the same thing n times
        else:
            codes, n_clusters = as_clusters(labels, n)
            clustering = Clustering.of_codes(Differences.of(values), codes, n_clusters)
            size = effective_size(
                n, n_clusters, clustering.cautious_effect, (1 - confidence_level) / 2
            )
    return wilson_interval(float(values.mean()) * size, size, confidence_level=confidence_level)
