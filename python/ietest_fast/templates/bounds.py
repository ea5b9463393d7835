"""How large a world must be, so that a formula that is true anywhere is true in one of that size.

A formula in monotone normal form stays true if entities are taken away that neither it nor a
*some* of it needs. So the named entities are enough, and the witnesses of each *some*: as many as
it asks for, and if it stands under an *all but*, as many for each entity there. That is finite if
no *some* under an *all but* asks for entities for each entity of the same sort, in a circle
("everyone has visited someone"). The axioms of heights hold in every part of a world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import Sort
from ietest_fast.templates.grounding import too_large
from ietest_fast.templates.normal_form import (
    TRUE,
    AllBut,
    Conjunction,
    Disjunction,
    Literal,
    Some,
    substitute,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.templates.formulas import Constant
    from ietest_fast.templates.normal_form import Form

MOST_PARTS = 20_000
"""Parts of a weaker form, at most."""

ORDERS = ((Sort.PERSON, Sort.PLACE), (Sort.PLACE, Sort.PERSON))
"""Pairs of sorts: for each entity of the first, some of the second may be asked for."""


@dataclass(frozen=True)
class Bounded:
    """A form that a world of bounded size decides."""

    form: Form
    """Implied by the form that it was made of."""
    is_whole: bool
    """Whether it is that form itself; otherwise parts of it were replaced by what is always
    true."""
    sizes: Mapping[Sort, int]
    """How many entities of each sort are enough."""


def bound(form: Form, named: Sequence[Constant]) -> tuple[Bounded, ...]:
    """Return the form with the sizes that are enough for it, or weaker forms with theirs.

    A weaker form leaves out what an *all but* would ask for without an end, except of the entities
    that have names.
    """
    found = []
    counts = {sort: sum(each.sort is sort for each in named) for sort in Sort}
    for order in ORDERS:
        weaker = _Weakening(order, named).weaken(form)
        bounded = Bounded(weaker, weaker == form, _sizes(weaker, order, counts))
        if bounded.is_whole:
            return (bounded,)
        found.append(bounded)
    return tuple(found)


class _Weakening:
    """Leave out each *some* under an *all but* that asks for sorts against an order."""

    def __init__(self, order: tuple[Sort, Sort], named: Sequence[Constant]) -> None:
        self._order = order
        self._named = named
        self._n_parts = 0

    def weaken(  # noqa: PLR0911 - one line for each kind
        self, form: Form, outer: frozenset[Sort] = frozenset()
    ) -> Form:
        # What is said again of each named entity, and in it of each again, has no end otherwise.
        self._n_parts += 1
        if self._n_parts > MOST_PARTS:
            raise too_large()
        match form:
            case Literal():
                return form
            case Conjunction(parts):
                return Conjunction(tuple(self.weaken(part, outer) for part in parts))
            case Disjunction(parts):
                return Disjunction(tuple(self.weaken(part, outer) for part in parts))
            case Some(number, variable, domain, body):
                first, second = self._order
                if outer and (outer != {first} or domain.sorts != (second,)):
                    return TRUE
                return Some(number, variable, domain, self.weaken(body, outer))
            case AllBut(number, variable, domain, body):
                inner = outer | frozenset(domain.sorts)
                weaker = AllBut(number, variable, domain, self.weaken(body, inner))
                if weaker == form or number:
                    return weaker
                own = [
                    self.weaken(substitute(body, variable, each), outer)
                    for each in self._named
                    if each.sort in domain.sorts
                ]
                return Conjunction((weaker, *own))
            case _:
                assert_never(form)


def _sizes(form: Form, order: tuple[Sort, Sort], named: Mapping[Sort, int]) -> dict[Sort, int]:
    first, second = order
    # None of the second sort asks for one of the first, so the number of these is known.
    alone = _witnesses(form, {Sort.PERSON: 0, Sort.PLACE: 0})
    sizes = {first: max(named[first] + alone[first], 1)}
    of_all = _witnesses(form, {first: sizes[first], second: 0})
    sizes[second] = max(named[second] + of_all[second], 1)
    return sizes


def _witnesses(form: Form, each: Mapping[Sort, int]) -> dict[Sort, int]:
    """Count the witnesses that a form asks for, if each sort has so many entities."""
    match form:
        case Literal():
            return dict.fromkeys(Sort, 0)
        case Conjunction(parts):
            counted = [_witnesses(part, each) for part in parts]
            return {sort: sum(own[sort] for own in counted) for sort in Sort}
        case Disjunction(parts):
            counted = [_witnesses(part, each) for part in parts]
            return {sort: max((own[sort] for own in counted), default=0) for sort in Sort}
        case Some(number, _, domain, body):
            inner = _witnesses(body, each)
            return {sort: number * (inner[sort] + (sort in domain.sorts)) for sort in Sort}
        case AllBut(_, _, domain, body):
            inner = _witnesses(body, each)
            times = sum(each[sort] for sort in domain.sorts)
            return {sort: times * inner[sort] for sort in Sort}
        case _:
            assert_never(form)
