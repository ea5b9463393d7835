"""Two classifiers, or two subsets, compared by their consistency, with Holm's correction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.stats.consistency.comparison import (
    COMPARED_LABELS,
    ConsistencyComparison,
    SubsetComparison,
)
from ietest_fast.stats.multiple import holm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ietest_fast.stats.intervals import Interval


@dataclass(frozen=True, kw_only=True)
class ComparedMeans:
    """A mean over buckets of two sides: first minus second."""

    difference: float | None
    """First minus second."""
    interval: Interval | None
    """Of the difference; None where there is none."""
    p_value: float
    """Of equal means, two-sided."""
    p_adjusted: float
    """The same by Holm's correction over all pairs that are compared."""
    warning: str | None
    """What to know of the test; None if nothing."""


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """Two classifiers on the same items, or two subsets of the answers of one."""

    first: str
    second: str
    """What is compared."""
    result: ConsistencyComparison | SubsetComparison
    """The comparison."""
    means: Mapping[str, ComparedMeans]
    """By measure, the tests of :data:`~ietest_fast.stats.consistency.comparison.COMPARED_LABELS`
    that can be made."""

    @property
    def n_buckets(self) -> int:
        """Buckets in either set, or in both where they are the same."""
        if isinstance(self.result, SubsetComparison):
            return self.result.n_first + self.result.n_second
        return self.result.n_buckets

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "first": self.first,
            "second": self.second,
            **self.result.to_dict(),
            **{f"{name}_p_holm": own.p_adjusted for name, own in self.means.items()},
        }

    def warnings(self) -> list[str]:
        """Return what to know of the tests, as whole sentences that name the measure."""
        said = [
            f"{COMPARED_LABELS[name]}: {own.warning}."
            for name, own in self.means.items()
            if own.warning is not None
        ]
        if isinstance(self.result, SubsetComparison) and (untested := self.result.say_untested()):
            said.append(untested)
        return said


def adjust_pairs(
    found: Iterable[tuple[str, str, ConsistencyComparison | SubsetComparison]],
) -> tuple[ComparedPair, ...]:
    """Correct the p-values of comparisons by Holm, measure by measure."""
    listed = list(found)
    means: list[dict[str, ComparedMeans]] = [{} for _ in listed]
    numbers = [_numbers_of(result) for _, _, result in listed]
    for measure in dict.fromkeys(name for own in numbers for name in own):
        places = [place for place, own in enumerate(numbers) if measure in own]
        adjusted = holm([numbers[place][measure][2] for place in places])
        for place, p in zip(places, adjusted, strict=True):
            difference, interval, p_value, warning = numbers[place][measure]
            means[place][measure] = ComparedMeans(
                difference=difference,
                interval=interval,
                p_value=p_value,
                p_adjusted=p,
                warning=warning,
            )
    return tuple(
        ComparedPair(first=first, second=second, result=result, means=own)
        for (first, second, result), own in zip(listed, means, strict=True)
    )


def _numbers_of(
    result: ConsistencyComparison | SubsetComparison,
) -> dict[str, tuple[Any, Any, float, str | None]]:
    if isinstance(result, ConsistencyComparison):
        return {
            name: (
                result.differences[name].value,
                result.differences[name].interval,
                float(test.p_value),
                test.warning,
            )
            for name, test in result.tests.items()
        }
    return {
        name: (own.difference, own.interval, float(own.p_value), own.warning)
        for name, own in result.differences.items()
    }
