"""A weighted sum of rates of the same units, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats.intervals import Interval, check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RatePart:
    """A rate in a weighted sum."""

    weight: float
    """Any number."""
    holds: NDArray[np.bool_]
    """bool (n,), n at least 1."""
    units: NDArray[Any]
    """(n,): labels; equal ones are the same unit in all parts."""


def sum_rates(
    parts: Sequence[RatePart],
    *,
    offset: float = 0.0,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    confidence_level: float = 0.95,
) -> tuple[float, Interval | None]:
    """Compute a weighted sum of rates, and its interval.

    The interval is Student's, with a standard error by the delta method (the infinitesimal
    jackknife) over units: a unit moves each rate by what its own instances have more than the rate.
    """
    from scipy.special import stdtrit

    check_level(confidence_level)
    if not parts or not all(len(part.holds) for part in parts):
        raise InputError("a weighted sum of rates needs rates, each of at least one instance")
    _, codes = np.unique(np.concatenate([part.units for part in parts]), return_inverse=True)
    n_units = int(codes.max()) + 1
    moved = np.zeros(n_units)
    value, start = offset, 0
    for part in parts:
        n = len(part.holds)
        rate = float(part.holds.mean())
        value += part.weight * rate
        own = codes[start : start + n]
        start += n
        moved += np.bincount(own, weights=part.weight * (part.holds - rate) / n, minlength=n_units)
    if n_units < 2:
        return value, None
    error = math.sqrt(n_units / (n_units - 1) * float(np.square(moved).sum()))
    reach = -float(stdtrit(n_units - 1, (1 - confidence_level) / 2)) * error
    low, high = bounds
    return value, Interval(max(low, value - reach), min(high, value + reach))
