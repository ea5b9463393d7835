"""The structural inference score: accuracy and rates of rules, weighted (thesis, eq. 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.evaluation.logic.weights import ACCURACY
from ietest_fast.stats.informedness import RatePart, sum_rates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ietest_fast.stats.intervals import Interval


@dataclass(frozen=True, kw_only=True)
class StructuralScore:
    """A weighted sum."""

    value: float | None
    """None where a part of it is not defined."""
    interval: Interval | None = None
    """At 95%, by the delta method over sources; None where there are too few."""
    undefined: tuple[str, ...] = ()
    """Parts with a weight that are not defined."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        interval = self.interval
        return {
            "value": self.value,
            "interval": None if interval is None else [interval.low, interval.high],
            "undefined": list(self.undefined),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """What instances of a rule, or labelled pairs, came to."""

    holds: NDArray[np.bool_]
    units: NDArray[np.int64]
    """(n,): whether each holds, and its source."""
    control_holds: NDArray[np.bool_]
    control_units: NDArray[np.int64]
    """(m,): whether each control question got the answer, and its source."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Accuracy:
    """Answers to labelled pairs."""

    right: NDArray[np.bool_]
    units: NDArray[np.int64]
    gold: NDArray[np.int32]
    """(n,): whether each answer is right, its source, and the place of its label."""

    @property
    def informedness(self) -> float | None:
        """The mean share of right answers over labels, scaled: guessing gives 0, no error 1.

        Labels without a pair do not count; None where fewer than two have pairs. Of two labels it
        is Youden's J.
        """
        found = self.informed_parts(1.0)
        if found is None:
            return None
        parts, offset = found
        return offset + sum(part.weight * float(part.holds.mean()) for part in parts)

    def informed_parts(self, weight: float) -> tuple[list[RatePart], float] | None:
        """Return the weighted informedness as parts of a sum and what to add, if it is defined."""
        labels = sorted(set(self.gold.tolist()))
        if len(labels) < 2:
            return None
        own = weight / (len(labels) - 1)
        rows = [self.gold == label for label in labels]
        parts = [
            RatePart(weight=own, holds=self.right[each], units=self.units[each]) for each in rows
        ]
        return parts, -own


def score_plainly(
    weights: Mapping[str, float], accuracy: Accuracy, outcomes: Mapping[str, Outcomes]
) -> StructuralScore:
    """Compute β0 acc + Σ βi s(ri), where s is the rate of instances that hold (eq. 5.2, 5.3)."""
    parts: list[RatePart] = []
    undefined = []
    for name, weight in _weighing(weights):
        if name == ACCURACY:
            parts.append(RatePart(weight=weight, holds=accuracy.right, units=accuracy.units))
        elif name not in outcomes or len(outcomes[name].holds) == 0:
            undefined.append(name)
        else:
            own = outcomes[name]
            parts.append(RatePart(weight=weight, holds=own.holds, units=own.units))
    return _sum(parts, undefined, bounds=(0.0, 1.0))


def score_informedly(
    weights: Mapping[str, float], accuracy: Accuracy, outcomes: Mapping[str, Outcomes]
) -> StructuralScore:
    """Compute the same of informedness: what guessing gives is taken off from every part."""
    parts: list[RatePart] = []
    undefined, offset = [], 0.0
    for name, weight in _weighing(weights):
        if name == ACCURACY:
            found = accuracy.informed_parts(weight)
            if found is None:
                undefined.append(name)
            else:
                parts += found[0]
                offset += found[1]
            continue
        own = outcomes.get(name)
        if own is None or len(own.holds) == 0 or len(own.control_holds) == 0:
            undefined.append(name)
            continue
        parts.append(RatePart(weight=weight, holds=own.holds, units=own.units))
        parts.append(RatePart(weight=-weight, holds=own.control_holds, units=own.control_units))
    return _sum(parts, undefined, offset=offset, bounds=(-1.0, 1.0))


def renormalise(weights: Mapping[str, float], undefined: Sequence[str]) -> dict[str, float]:
    """Return weights without some names, divided by their sum; empty if none is left."""
    left = {name: weight for name, weight in weights.items() if name not in undefined}
    total = sum(left.values())
    return {name: weight / total for name, weight in left.items()} if total > 0 else {}


def _weighing(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(name, weight) for name, weight in weights.items() if weight > 0]


def _sum(
    parts: Sequence[RatePart],
    undefined: Sequence[str],
    *,
    bounds: tuple[float, float],
    offset: float = 0.0,
) -> StructuralScore:
    if undefined or not parts:
        return StructuralScore(value=None, undefined=tuple(undefined))
    value, interval = sum_rates(parts, offset=offset, bounds=bounds)
    return StructuralScore(value=value, interval=interval)
