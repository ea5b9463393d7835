"""Interpretations: finite worlds in which a formula is true or false."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from ietest_fast.errors import InputError
from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Constant,
    Description,
    Domain,
    Equal,
    Exactly,
    ForAll,
    Implies,
    Not,
    Or,
    SameHeight,
    Sort,
    Taller,
    Variable,
    Visited,
    terms_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ietest_fast.templates.formulas import Atom, Formula, Term


@dataclass(frozen=True)
class Interpretation:
    """A finite world.

    Parameters
    ----------
    people, places
        Its entities, at least one of each sort.
    visits
        Pairs of a person and whom or what this person has visited.
    heights
        The height of each person; people may be of equal height.
    """

    people: tuple[Constant, ...]
    places: tuple[Constant, ...]
    visits: frozenset[tuple[Constant, Constant]] = frozenset()
    heights: Mapping[Constant, int] = field(default_factory=dict)

    def renamed(self, names: Mapping[Constant, Constant]) -> Interpretation:
        """Return the same world, in which some entities have other names."""
        return Interpretation(
            people=tuple(names.get(each, each) for each in self.people),
            places=tuple(names.get(each, each) for each in self.places),
            visits=frozenset(
                (names.get(visitor, visitor), names.get(visited, visited))
                for visitor, visited in self.visits
            ),
            heights={names.get(each, each): height for each, height in self.heights.items()},
        )

    def entities(self, domain: Domain) -> tuple[Constant, ...]:
        """Return the entities that a quantifier ranges over."""
        people = self.people if Sort.PERSON in domain.sorts else ()
        return people + (self.places if Sort.PLACE in domain.sorts else ())


def is_true(formula: Formula, world: Interpretation) -> bool:
    """Evaluate a formula without free variables by the definition of truth.

    Raises
    ------
    InputError
        If a variable is free, or a constant is no entity of the world.
    """
    return _holds(formula, world, {})


def _holds(  # noqa: PLR0911 - one line for each kind
    formula: Formula, world: Interpretation, bound: Mapping[str, Constant]
) -> bool:
    match formula:
        case Not(body):
            return not _holds(body, world, bound)
        case And(parts):
            return all(_holds(part, world, bound) for part in parts)
        case Or(parts):
            return any(_holds(part, world, bound) for part in parts)
        case Implies(antecedent, consequent):
            return not _holds(antecedent, world, bound) or _holds(consequent, world, bound)
        case ForAll(variable, domain, body):
            return all(
                _holds(body, world, {**bound, variable: entity})
                for entity in world.entities(domain)
            )
        case AtLeast(number, variable, domain, body):
            return _count(variable, domain, body, world, bound) >= number
        case Exactly(number, variable, domain, body):
            return _count(variable, domain, body, world, bound) == number
        case Visited() | Taller() | AsTall() | SameHeight() | Equal():
            return _holds_atom(formula, world, bound)
        case _:
            assert_never(formula)


def _count(
    variable: str,
    domain: Domain,
    body: Formula,
    world: Interpretation,
    bound: Mapping[str, Constant],
) -> int:
    return len(_satisfying(variable, domain, body, world, bound))


def _satisfying(
    variable: str,
    domain: Domain,
    body: Formula,
    world: Interpretation,
    bound: Mapping[str, Constant],
) -> list[Constant]:
    return [
        entity
        for entity in world.entities(domain)
        if _holds(body, world, {**bound, variable: entity})
    ]


def _holds_atom(atom: Atom, world: Interpretation, bound: Mapping[str, Constant]) -> bool:
    first, second = (_denote(term, world, bound) for term in terms_of(atom))
    if first is None or second is None:
        return False
    match atom:
        case Visited():
            return (first, second) in world.visits
        case Taller():
            return world.heights[first] > world.heights[second]
        case AsTall():
            return world.heights[first] >= world.heights[second]
        case SameHeight():
            return world.heights[first] == world.heights[second]
        case Equal():
            return first == second
        case _:
            assert_never(atom)


def _denote(term: Term, world: Interpretation, bound: Mapping[str, Constant]) -> Constant | None:
    """Return the entity that a term stands for, None if a description fits none or several."""
    match term:
        case Constant():
            if term not in world.entities(Domain.BOTH):
                raise InputError(f"{term.name!r} is no {term.sort.value} of this world")
            return term
        case Variable(name):
            if name not in bound:
                raise InputError(f"the variable {name!r} is free; bind it by a quantifier")
            return bound[name]
        case Description(variable, domain, body):
            fitting = _satisfying(variable, domain, body, world, bound)
            return fitting[0] if len(fitting) == 1 else None
        case _:
            assert_never(term)
