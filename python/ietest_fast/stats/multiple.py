"""From M p-values to adjusted ones, and to one decision (section 3.3 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ietest_fast.errors import InputError
from ietest_fast.stats.inputs import check_between

if TYPE_CHECKING:
    from collections.abc import Sequence

Correction = Literal["bonferroni", "holm", "maxt", "minp"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)

#: The corrections that need the samples, because they learn the dependence of the tests.
JOINT_CORRECTIONS: tuple[Correction, ...] = ("maxt", "minp")


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Whether invariance is rejected, and by what."""

    reject: bool
    """True if at least one p-value lies below the threshold."""
    alpha: float
    """Significance level of the whole test."""
    threshold: float
    """What the smallest p-value was held to: alpha / M, or alpha for ``maxt`` and ``minp``, whose
    p-values are adjusted."""
    p_min: float
    """The smallest p-value; for ``maxt`` and ``minp`` the smallest adjusted one."""
    n_tests: int
    """M."""
    correction: Correction = "bonferroni"
    """How the M p-values were combined."""


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Return Bonferroni's adjusted p-values, ``min(1, M p)``.

    Parameters
    ----------
    p_values
        Shape (M,), in [0, 1].

    Returns
    -------
    list of float, length M

    Raises
    ------
    InputError
        Without p-values, or if one is NaN or outside [0, 1].

    Examples
    --------
    >>> from ietest_fast.stats import bonferroni
    >>> bonferroni([0.01, 0.04, 0.5])
    [0.03, 0.12, 1.0]
    """
    values = _check_p_values(p_values)
    return [min(1.0, len(values) * p) for p in values]


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Return Holm's (1979) adjusted p-values.

    With p in ascending order, the i-th is the running maximum of ``min(1, (M - i) p_i)``, i = 0,
    1, ...; never larger than Bonferroni's, and like it valid under any dependence. What it takes
    and returns is as for :func:`bonferroni`; with weights as for :func:`share_alpha`, which
    rejects what has an adjusted p-value below alpha.

    Examples
    --------
    >>> from ietest_fast.stats import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = _check_p_values(p_values)
    shares = _check_weights(weights, len(values))
    adjusted = [0.0] * len(values)
    largest = 0.0
    left = _by_share(values, shares)
    for place, index in enumerate(left):
        total = sum(shares[each] for each in left[place:])
        largest = max(largest, min(1.0, total / shares[index] * values[index]))
        adjusted[index] = largest
    return adjusted


def share_alpha(
    p_values: Sequence[float], weights: Sequence[float], *, alpha: float
) -> tuple[float, ...]:
    """Return the level that each p-value is held to where alpha is shared by weight.

    Holm's (1979) weighted procedure: the p-value that is the smallest for its weight is held to
    ``alpha w_i / sum(w)``, and if it lies below, its share goes to the others. One false rejection
    or more has probability alpha at most, under any dependence. A hypothesis is rejected if its
    p-value lies below its level.

    Parameters
    ----------
    p_values
        Shape (M,), in [0, 1].
    weights
        Shape (M,), above 0.
    alpha
        In (0, 1).

    Examples
    --------
    >>> from ietest_fast.stats import share_alpha
    >>> [round(level, 4) for level in share_alpha([0.03, 0.004, 0.6], [8, 1, 1], alpha=0.05)]
    [0.04, 0.025, 0.05]
    """
    check_alpha(alpha)
    values = _check_p_values(p_values)
    shares = _check_weights(weights, len(values))
    held = [0.0] * len(values)
    left = _by_share(values, shares)
    for place, first in enumerate(left):
        total = sum(shares[index] for index in left[place:])
        for index in left[place:]:
            held[index] = alpha * shares[index] / total
        if not values[first] < held[first]:
            break
    return tuple(held)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return q-values: the smallest rate of false discoveries at which each is one.

    Benjamini and Hochberg (1995): with p in ascending order, the i-th (i = 1, 2, ...) is the
    smallest of ``M p_j / j`` over j >= i. What it takes and returns is as for :func:`bonferroni`.

    Examples
    --------
    >>> from ietest_fast.stats import benjamini_hochberg
    >>> [round(q, 3) for q in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    values = _check_p_values(p_values)
    found = [0.0] * len(values)
    least = 1.0
    for place, index in reversed(list(enumerate(_ascending(values), start=1))):
        least = min(least, len(values) / place * values[index])
        found[index] = least
    return found


def thresholds_of(
    p_values: Sequence[float], *, correction: Correction, alpha: float
) -> tuple[float, ...]:
    """Return the level that each p-value is held to, by Bonferroni's or Holm's rule."""
    check_alpha(alpha)
    values = _check_p_values(p_values)
    m = len(values)
    if correction == "bonferroni":
        return (alpha / m,) * m
    if correction != "holm":
        raise InputError(f"correction must be bonferroni or holm, not {correction!r}")
    held = [0.0] * m
    for place, index in enumerate(_ascending(values)):
        held[index] = alpha / (m - place)
    return tuple(held)


def rejections(p_values: Sequence[float], thresholds: Sequence[float]) -> tuple[bool, ...]:
    """Say which tests reject, stepping down from the smallest p-value to the first that does not.

    Equality does not reject. With equal thresholds (Bonferroni) stepping changes nothing.
    """
    rejected = [False] * len(p_values)
    for index in _ascending(list(p_values)):
        if not p_values[index] < thresholds[index]:
            break
        rejected[index] = True
    return tuple(rejected)


def decide(p_values: Sequence[float], *, alpha: float = 0.05) -> Decision:
    """Combine the p-values of M classifiers by Bonferroni's rule, the paper's.

    H0 is rejected if p_m < alpha / M for at least one m (Algorithm 1, step 4); equality does not
    reject. :func:`ietest_fast.stats.combine` has the other rules.

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
    check_alpha(alpha)
    values = _check_p_values(p_values)
    threshold = alpha / len(values)
    p_min = min(values)
    return Decision(
        reject=p_min < threshold,
        alpha=alpha,
        threshold=threshold,
        p_min=p_min,
        n_tests=len(values),
    )


def check_alpha(alpha: float) -> None:
    """Refuse a level outside (0, 1), as an :class:`InputError`."""
    check_between(alpha, "alpha", 0, 1)


def _check_p_values(p_values: Sequence[float]) -> list[float]:
    values = [float(p) for p in p_values]
    if not values:
        raise InputError("there is no p-value; at least one is needed")
    for p in values:
        if math.isnan(p) or not 0 <= p <= 1:
            raise InputError(f"a p-value must lie in [0, 1], not {p}")
    return values


def _check_weights(weights: Sequence[float] | None, n: int) -> Sequence[float]:
    if weights is None:
        return [1] * n
    if len(weights) != n or not all(0 < weight < math.inf for weight in weights):
        raise InputError("a weight above 0 is needed for each p-value")
    return weights


def _by_share(values: Sequence[float], shares: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda index: values[index] / shares[index])


def _ascending(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=values.__getitem__)
