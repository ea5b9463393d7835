"""Interval of a share of observations, some of which may belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import as_clusters, as_outcomes, in_one_order
from ietest_fast.stats.intervals import Clustering, Differences, check_level, effective_size
from ietest_fast.stats.score_intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.stats.intervals import Interval


@in_one_order
def proportion_interval(
    outcomes: Sequence[bool] | NDArray[Any], clusters: Any = None, *, confidence_level: float = 0.95
) -> Interval:
    """Compute Wilson's (1927) interval of a share, of clustered outcomes at their effective number.

    The effective number is that of outcomes over their design effect, and smaller again where few
    clusters tell that effect, as for the interval of Korn and Graubard (1998). Without clusters, or
    with one outcome in each, the interval is Wilson's. Where fewer than 25 clusters hold an outcome
    that is not the commonest one, they do not tell the design effect, and the size of the largest
    cluster, which bounds it, is taken for it.

    Parameters
    ----------
    outcomes
        Shape (n,), bool, or 0 and 1; at least one.
    clusters
        Shape (n,), labels; equal ones are a cluster. None: outcomes are independent.
    confidence_level
        In (0, 1).

    Raises
    ------
    InputError
        If there is no outcome, one is neither 0 nor 1, the confidence level is not in (0, 1), or
        clusters do not have a label for each outcome.
    """
    check_level(confidence_level)
    if len(outcomes) == 0:
        raise InputError("there is no outcome, so there is no share of them")
    values = as_outcomes(outcomes, "outcomes").astype(np.float64)
    n = values.size
    size = float(n)
    if clusters is not None:
        codes, n_clusters = as_clusters(clusters, n, fewest=1)
        if n_clusters == 1:
            size = 1.0  # whatever there is may be the same thing n times
        else:
            clustering = Clustering.of_codes(Differences.of(values), codes, n_clusters)
            size = effective_size(
                n, n_clusters, clustering.cautious_effect, (1 - confidence_level) / 2
            )
    return wilson_interval(float(values.mean()) * size, size, confidence_level=confidence_level)
