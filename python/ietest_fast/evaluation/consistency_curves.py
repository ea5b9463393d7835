"""Consistency over the amount of data: the curves of Srikanth et al. (2024), section 8."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.evaluation.amounts import format_amount
from ietest_fast.evaluation.consistency_pairs import ComparedPair, adjust_pairs
from ietest_fast.stats.consistency.comparison import compare_consistency

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ietest_fast.evaluation.amounts import Amounts
    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.consistency_profile import ConsistencyProfile
    from ietest_fast.stats.consistency.buckets import BucketCounts
    from ietest_fast.stats.consistency.measure import ConsistencyResult


@dataclass(frozen=True, kw_only=True, eq=False)
class CurvePoint:
    """A classifier of a curve, or several that have seen the same amount of data."""

    name: str
    """Of the classifier."""
    amount: float
    """Of data that it has seen."""
    result: ConsistencyResult
    """Its measures, with intervals."""
    counts: BucketCounts
    """Its answers, counted by bucket."""
    by_classifier: dict[str, tuple[float, ...]]
    """By measure, the estimates of several classifiers, whose mean is that of `result`; empty for
    one classifier."""
    in_percent: bool = False
    """Whether the amount is a share that is shown as a percentage."""

    @property
    def written(self) -> str:
        """The amount as people read it, such as ``10M`` or ``10%``."""
        return format_amount(self.amount, in_percent=self.in_percent)

    @property
    def n_classifiers(self) -> int:
        """How many classifiers these are."""
        return max((len(own) for own in self.by_classifier.values()), default=1)

    @property
    def consistency(self) -> str:
        """Which measure is shown: P_C without bias, or plug-in where no item has a pair."""
        own = self.result.estimates.get("p_c_unbiased")
        return "p_c" if own is None or own.value is None else "p_c_unbiased"

    def spread(self, measure: str) -> float | None:
        """Return the standard deviation (divisor M - 1) of a measure; None of one classifier."""
        own = self.by_classifier.get(measure, ())
        return float(np.std(own, ddof=1)) if len(own) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "name": self.name,
            "amount": self.amount,
            **self.result.to_dict(),
            "by_classifier": {name: list(own) for name, own in self.by_classifier.items()},
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ConsistencyCurve:
    """Classifiers that differ in the amount of data that they have seen."""

    name: str
    """Of the curve; empty if there is one only."""
    of: str
    """What there is an amount of."""
    points: tuple[CurvePoint, ...]
    """One for each amount, ascending."""
    steps: tuple[ComparedPair, ...]
    """Each amount compared with the one before, larger minus smaller, on the items that both have
    answered; without those that have fewer than two items in common. P-values are corrected by Holm
    over the steps of all curves, measure by measure."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "name": self.name,
            "of": self.of,
            "points": [each.to_dict() for each in self.points],
            "steps": [each.to_dict() for each in self.steps],
        }


def curves_of_answers(
    answers: Iterable[ConsistencyAnswers], profiles: Sequence[ConsistencyProfile], **options: Any
) -> tuple[ConsistencyCurve, ...]:
    """Return the curves that files speak of."""
    amounts = [own for each in answers for own in each.run.curves]
    return curves_of_profiles(amounts, profiles, **options)


def curves_of_profiles(
    amounts: Iterable[Amounts], profiles: Sequence[ConsistencyProfile], **options: Any
) -> tuple[ConsistencyCurve, ...]:
    """Order the profiles of classifiers by the amount of data that they have seen."""
    by_name = {each.name: each for each in profiles}
    found = []
    for own in amounts:
        points = [
            CurvePoint(
                name=name,
                amount=amount,
                result=by_name[name].result,
                counts=by_name[name].counts,
                by_classifier={},
                in_percent=own.in_percent,
            )
            for name, amount in own.by_model.items()
            if name in by_name
        ]
        if len(points) > 1:
            found.append((own.name, own.of, points))
    return make_curves(found, **options)


def make_curves(
    found: Iterable[tuple[str, str, Sequence[CurvePoint]]], **options: Any
) -> tuple[ConsistencyCurve, ...]:
    """Put points in their order, and compare each with the one before."""
    curves = [
        (name, of, tuple(sorted(points, key=lambda each: each.amount)))
        for name, of, points in found
    ]
    compared, whose = [], []
    for place, (_, _, points) in enumerate(curves):
        for smaller, larger in pairwise(points):
            common = set(smaller.counts.names.tolist()) & set(larger.counts.names.tolist())
            if len(common) > 1:
                result = compare_consistency(larger.counts, smaller.counts, **options)
                compared.append((larger.name, smaller.name, result))
                whose.append(place)
    adjusted = adjust_pairs(compared)
    return tuple(
        ConsistencyCurve(
            name=name,
            of=of,
            points=points,
            steps=tuple(pair for pair, own in zip(adjusted, whose, strict=True) if own == place),
        )
        for place, (name, of, points) in enumerate(curves)
    )
