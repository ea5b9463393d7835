"""Amounts of data, such as tokens of pretraining, that the classifiers of a curve have seen."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

from annotated_types import Gt, Lt

from ietest_fast.answers.file import Told
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


AMOUNT = "amount of data"
"""What amounts are of, if nobody says it."""

_UNITS = {"k": "e3", "m": "e6", "b": "e9", "g": "e9", "t": "e12", "%": "e-2", "": ""}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?) ?([kmbgt%]?)", re.IGNORECASE)
_IN_NAME = re.compile(r"(?<![a-z\d.])(\d+(?:\.\d+)?)([kmbgt%]?)(?![a-z\d])")


Amount = Annotated[float, Gt(0), Lt(math.inf)]


@dataclass(frozen=True, kw_only=True)
class Amounts(Told):
    """How much data each classifier of a curve has seen."""

    name: str = ""
    """Of the curve, where there are several; empty otherwise."""
    of: str = AMOUNT
    """What there is an amount of, such as ``pretraining tokens``."""
    by_model: dict[str, Amount]
    """By classifier, the amount: all different, and above 0."""
    in_percent: bool = False
    """Whether the amounts are shares that were written as percentages, and are shown so."""

    def renamed(self, names: Mapping[str, str]) -> Amounts:
        """Return these of classifiers that have other names, by their old ones."""
        by_model = {names.get(name, name): amount for name, amount in self.by_model.items()}
        return replace(self, by_model=by_model)


class ParsedAmounts(NamedTuple):
    """Amounts as they were written."""

    values: tuple[float, ...]
    """One for each text; a share for a percentage."""
    in_percent: bool
    """Whether they were written as percentages."""


def parse_amounts(texts: Iterable[str]) -> ParsedAmounts:
    """Read amounts such as ``10M``, ``100M`` and ``1B``, or ``1%``, ``10%`` and ``100%``."""
    written = [text.strip() for text in texts]
    found = []
    for text in written:
        match = _NUMBER.fullmatch(text)
        amount = 0.0 if match is None else float(match[1] + _UNITS[match[2].casefold()])
        if not 0 < amount < math.inf:
            raise InputError(
                f"{text!r} is no amount; numbers above 0 are, such as 1000, 10M, 1B or 10%"
            )
        if text.endswith("%") and amount > 1:
            raise InputError(
                f"{text!r} is more than all the data; write percentages up to 100%, or all amounts "
                "without %, such as 10M"
            )
        found.append(amount)
    are_shares = [text.endswith("%") for text in written]
    if any(are_shares) and not all(are_shares):
        raise InputError(
            f"{','.join(written)!r} mixes percentages and other numbers; write all with %, or none "
            "of them"
        )
    return ParsedAmounts(values=tuple(found), in_percent=any(are_shares))


def find_swapped(texts: Iterable[str], amounts: Sequence[float]) -> int | None:
    """Return the first of several names with another one's amount, if each has one of them all.

    Other numbers in names are of something else.
    """
    named = []
    for text in texts:
        written = [float(n + _UNITS[unit]) for n, unit in _IN_NAME.findall(text.casefold())]
        own = {amount for amount in amounts if any(map(partial(math.isclose, amount), written))}
        named.append(own)
    if not all(len(own) == 1 for own in named) or set().union(*named) != {*amounts}:
        return None
    pairs = zip(named, amounts, strict=True)
    return next((place for place, (own, given) in enumerate(pairs) if own != {given}), None)
