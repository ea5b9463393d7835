"""How candidates of rules are found."""

from __future__ import annotations

from dataclasses import dataclass

from ietest_fast.errors import InputError


@dataclass(frozen=True, kw_only=True)
class LogicOptions:
    """How candidates are found."""

    draws: int = 1
    """Sentences of other sources that are drawn for each item."""
    nearest: int = 3
    """Sentences with the same words that are looked for, for each item."""
    instances: int = 10_000
    """Most candidates of a rule; of more, so many are drawn."""
    seed: int = 0
    """Of what is drawn."""

    def __post_init__(self) -> None:
        for name, least in (("draws", 1), ("nearest", 0), ("instances", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} must be a whole number of at least {least}, not {value}")
