"""Consistency of the parts that a column makes of items or of paraphrases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.evaluation.consistency_pairs import ComparedPair
    from ietest_fast.stats.consistency.measure import ConsistencyResult


@dataclass(frozen=True, kw_only=True)
class ConsistencySubsets:
    """Consistency by the values of a column."""

    column: str
    """Its name."""
    are_items: bool
    """Whether the values part the items; otherwise they part the paraphrases of each item."""
    parts: Mapping[str, ConsistencyResult]
    """By value; without those that have no paraphrase."""
    pairs: tuple[ComparedPair, ...]
    """Of two values, the one comparison. Of more, if they part the items, each value against the
    others, and otherwise all pairs on the items that both have."""

    def to_dict(self) -> dict[str, Any]:
        """Return every number by name."""
        return {
            "column": self.column,
            "are_items": self.are_items,
            "parts": {name: part.to_dict() for name, part in self.parts.items()},
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def remarks(self) -> list[str]:
        """Return what the intervals of parts do not say, each once with the parts it is of."""
        of_line: dict[str, list[str]] = {}
        for name, part in self.parts.items():
            for line in part.limits():
                of_line.setdefault(line, []).append(name)
        return [
            f"{self.column.replace('_', ' ')}, {' and '.join(names)}: {line}"
            for line, names in of_line.items()
        ]
