"""From M p-values to one decision (section 3.3 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Whether invariance is rejected, and by what.

    Attributes
    ----------
    reject
        True if at least one p-value lies below the threshold.
    alpha
        Significance level of the whole test.
    threshold
        The level alpha / M that each single test was held to.
    p_min
        The smallest p-value.
    n_tests
        M.
    """

    reject: bool
    alpha: float
    threshold: float
    p_min: float
    n_tests: int


def decide(p_values: Sequence[float], *, alpha: float = 0.05) -> Decision:
    """Combine the p-values of M classifiers by Bonferroni's rule.

    H0 is rejected if p_m < alpha / M for at least one m (Algorithm 1, step 4); equality does not
    reject.

    Parameters
    ----------
    p_values
        One for each classifier, in [0, 1].
    alpha
        In (0, 1).

    Raises
    ------
    InputError
        Without p-values, or if one is NaN or outside [0, 1], or alpha is outside (0, 1).
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha}")
    if len(p_values) == 0:
        raise InputError("there is no p-value to decide by")
    for p in p_values:
        if math.isnan(p) or not 0 <= p <= 1:
            raise InputError(f"a p-value must lie in [0, 1], not {p}")
    threshold = alpha / len(p_values)
    p_min = min(p_values)
    return Decision(
        reject=p_min < threshold,
        alpha=alpha,
        threshold=threshold,
        p_min=p_min,
        n_tests=len(p_values),
    )
