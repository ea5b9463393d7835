"""What all parts of the results are made of: numbers that JSON can hold, and frozen classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from ietest_fast.stats import bonferroni, holm

if TYPE_CHECKING:
    from collections.abc import Sequence


def _read_number(value: Any) -> Any:
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("is not a number")
    return value


def _write_number(value: float) -> float | str:
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


# JSON has no infinities.
Number = Annotated[
    float,
    Field(allow_inf_nan=True),
    BeforeValidator(_read_number),
    PlainSerializer(_write_number, return_type=float | str, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}),
]
Share = Annotated[float, Field(ge=0, le=1)]
Level = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=0)]
Text = Annotated[str, Field(max_length=100_000)]
# Files are called so: no separator, no dot leads out of the folder.
Identity = Annotated[str, Field(max_length=200, pattern=r"^[0-9A-Za-z_-]+$")]
TrainSize = Annotated[int, Field(ge=2)] | None
Correction = Literal["bonferroni", "holm", "maxt", "minp"]


class Part(BaseModel):
    """A part of the results: frozen, strict about types, without NaN."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", allow_inf_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return self.model_dump(mode="json")


class Spread(Part):
    """Mean and standard deviation over the M classifiers."""

    mean: Number | None
    """Infinite if some numbers are; None if they are so on both sides."""
    sd: float | None
    """Divisor M - 1; None if M is 1 or the mean is not finite."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise some numbers, infinite ones allowed, none of them NaN."""
        if math.inf in values and -math.inf in values:
            return cls(mean=None, sd=None)
        mean = float(np.mean(values))
        if len(values) < 2 or not math.isfinite(mean):
            return cls(mean=mean, sd=None)
        return cls(mean=mean, sd=float(np.std(values, ddof=1)))


def adjust(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Return p-values corrected for their number, in their order.

    Raises
    ------
    ValueError
        If the correction takes more than the p-values (``"maxt"``, ``"minp"``).
    """
    if correction not in {"bonferroni", "holm"}:
        raise ValueError(f"the correction {correction} needs its own adjusted p-values")
    return bonferroni(p_values) if correction == "bonferroni" else holm(p_values)
