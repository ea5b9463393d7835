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
    parts_of,
    terms_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.templates.formulas import Atom, Formula, Term


@dataclass(frozen=True)
class Interpretation:
    """A finite world."""

    people: tuple[Constant, ...]
    places: tuple[Constant, ...]
    """Its entities, at least one of each sort."""
    visits: frozenset[tuple[Constant, Constant]] = frozenset()
    """Pairs of a person and whom or what this person has visited."""
    heights: Mapping[Constant, int] = field(default_factory=dict)
    """The height of each person; people may be of equal height."""

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
    """Evaluate a formula without free variables by the definition of truth."""
    return _Evaluation(world).holds(formula, {})


class _Evaluation:
    """The definition of truth in a world.

    A body that does not speak of the entity is looked at once, not for each: nested quantifiers
    would take time without end otherwise.
    """

    def __init__(self, world: Interpretation) -> None:
        self._world = world
        self._entities = {domain: world.entities(domain) for domain in Domain}
        self._everyone = frozenset(self._entities[Domain.BOTH])
        self._free: dict[int, frozenset[str]] = {}  # by where formulas are; all are kept by one

    def holds(  # noqa: PLR0911 - one line for each kind
        self, formula: Formula, bound: Mapping[str, Constant]
    ) -> bool:
        """Say whether a formula is true, given what its free variables stand for."""
        match formula:
            case Not(body):
                return not self.holds(body, bound)
            case And(parts):
                return all(self.holds(part, bound) for part in parts)
            case Or(parts):
                return any(self.holds(part, bound) for part in parts)
            case Implies(antecedent, consequent):
                return not self.holds(antecedent, bound) or self.holds(consequent, bound)
            case ForAll(variable, domain, body):
                return all(
                    self.holds(body, {**bound, variable: entity})
                    for entity in self._range(variable, domain, body)
                )
            case AtLeast(number, variable, domain, body):
                return len(self._satisfying(variable, domain, body, bound)) >= number
            case Exactly(number, variable, domain, body):
                return len(self._satisfying(variable, domain, body, bound)) == number
            case Visited() | Taller() | AsTall() | SameHeight() | Equal():
                return self._holds_atom(formula, bound)
            case _:
                assert_never(formula)

    def _range(self, variable: str, domain: Domain, body: Formula) -> tuple[Constant, ...]:
        entities = self._entities[domain]
        return entities if variable in self._free_in(body) else entities[:1]

    def _free_in(self, formula: Formula) -> frozenset[str]:
        found = self._free.get(id(formula))
        if found is None:
            own: set[str] = set()
            if not isinstance(formula, Not | And | Or | Implies | ForAll | AtLeast | Exactly):
                for term in terms_of(formula):
                    if isinstance(term, Variable):
                        own.add(term.name)
                    elif isinstance(term, Description):
                        own |= self._free_in(term.body) - {term.variable}
            else:
                own.update(*map(self._free_in, parts_of(formula)))
                if isinstance(formula, ForAll | AtLeast | Exactly):
                    own.discard(formula.variable)
            found = self._free[id(formula)] = frozenset(own)
        return found

    def _satisfying(
        self, variable: str, domain: Domain, body: Formula, bound: Mapping[str, Constant]
    ) -> Sequence[Constant]:
        tried = self._range(variable, domain, body)
        fitting = [each for each in tried if self.holds(body, {**bound, variable: each})]
        return self._entities[domain] if fitting and len(tried) == 1 else fitting

    def _holds_atom(self, atom: Atom, bound: Mapping[str, Constant]) -> bool:
        first, second = (self._denote(term, bound) for term in terms_of(atom))
        if first is None or second is None:
            return False
        match atom:
            case Visited():
                return (first, second) in self._world.visits
            case Taller():
                return self._world.heights[first] > self._world.heights[second]
            case AsTall():
                return self._world.heights[first] >= self._world.heights[second]
            case SameHeight():
                return self._world.heights[first] == self._world.heights[second]
            case Equal():
                return first == second
            case _:
                assert_never(atom)

    def _denote(self, term: Term, bound: Mapping[str, Constant]) -> Constant | None:
        """Return the entity that a term stands for, None if a description fits none or several."""
        match term:
            case Constant():
                if term not in self._everyone:
                    raise InputError(f"{term.name!r} is no {term.sort.value} of this world")
                return term
            case Variable(name):
                if name not in bound:
                    raise InputError(f"the variable {name!r} is free; bind it by a quantifier")
                return bound[name]
            case Description(variable, domain, body):
                fitting = self._satisfying(variable, domain, body, bound)
                return fitting[0] if len(fitting) == 1 else None
            case _:
                assert_never(term)
