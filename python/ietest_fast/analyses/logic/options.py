"""What is asked of a classifier in the suite logic, and how its answers are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.analyses.stress.options import SuiteOptions
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST = {"draws": 1, "nearest": 0, "instances": 1, "seed": 0}


@dataclass(frozen=True, kw_only=True, eq=False)
class LogicOptions(SuiteOptions):
    """How candidates of rules are found, and what the score weighs."""

    draws: int = 1
    """Sentences of other sources that are drawn for each item; 1 or more."""
    nearest: int = 3
    """Sentences with the same words that are looked for, for each item; 0 or more."""
    instances: int = 10_000
    """Most candidates of a rule, 1 or more; of more, so many are drawn."""
    seed: int = 0
    """Of what is drawn, also by Monte Carlo methods; 0 or more."""
    weights: Mapping[str, float] | None = None
    """Of the score, as :func:`~ietest_fast.analyses.logic.score.read_weights` gives them; None:
    those of the accuracy and of all rules alike."""
    renormalise: bool = False
    """Whether parts of the score that are not defined are left out."""

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} must be a whole number of at least {least}, not {value}")

    @property
    def search(self) -> dict[str, int]:
        """How candidates are found, by name, as answers tell it."""
        return {name: getattr(self, name) for name in _LEAST}
