"""The template language: formulas about people, places, visits and heights.

Section 3.1 of Salvatore's thesis (2020). People (Pe) and places (Pl) are the two sorts of entities;
``V(x, y)`` says that x has visited y, ``x > y`` that x is taller than y, ``x >= y`` that x is as
tall as y or taller, and ``x == y`` that both are of one height. Formulas are values: they compare
by what they say, and can be keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeVar, assert_never, cast, get_args

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

T = TypeVar("T")


class Sort(Enum):
    """What an entity is."""

    PERSON = "person"
    PLACE = "place"

    # Enum hashes names, in Python; constants are hashed millions of times.
    __hash__ = object.__hash__


class Domain(Enum):
    """What a quantifier ranges over."""

    PEOPLE = "Pe"
    PLACES = "Pl"
    BOTH = "Pe+Pl"

    @property
    def sorts(self) -> tuple[Sort, ...]:
        """The sorts of its entities."""
        if self is Domain.BOTH:
            return (Sort.PERSON, Sort.PLACE)
        return (Sort.PERSON,) if self is Domain.PEOPLE else (Sort.PLACE,)


@dataclass(frozen=True, slots=True)
class Constant:
    """A term that stands for one entity; different constants are different entities."""

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class Variable:
    """A term that a quantifier binds."""

    name: str


@dataclass(frozen=True, slots=True)
class Description:
    """The definite description ι: the only entity of a domain that the body is true of.

    As in Russell's analysis, what is said of it is false if there is no such entity, or more than
    one. Its scope is the smallest formula that it stands in.
    """

    variable: str
    domain: Domain
    body: Formula


Term = Constant | Variable | Description


@dataclass(frozen=True, slots=True)
class Visited:
    """V(visitor, visited): a person has visited a person or a place."""

    visitor: Term
    visited: Term


@dataclass(frozen=True, slots=True)
class Taller:
    """``first > second``: a person is taller than another."""

    first: Term
    second: Term


@dataclass(frozen=True, slots=True)
class AsTall:
    """``first >= second``: a person is at least as tall as another."""

    first: Term
    second: Term


@dataclass(frozen=True, slots=True)
class SameHeight:
    """``first == second``: a person is exactly as tall as another."""

    first: Term
    second: Term


@dataclass(frozen=True, slots=True)
class Equal:
    """``first = second``: both terms stand for the same entity."""

    first: Term
    second: Term


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a formula."""

    body: Formula


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction; true if it has no part."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction; false if it has no part."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies:
    """``antecedent -> consequent``."""

    antecedent: Formula
    consequent: Formula


@dataclass(frozen=True, slots=True)
class ForAll:
    """The body is true of every entity of a domain."""

    variable: str
    domain: Domain
    body: Formula


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The counting quantifier ∃≥n; of ``number`` 1, the quantifier ∃."""

    number: int
    variable: str
    domain: Domain
    body: Formula


@dataclass(frozen=True, slots=True)
class Exactly:
    """The counting quantifier ∃=n: the body is true of exactly ``number`` entities."""

    number: int
    variable: str
    domain: Domain
    body: Formula


Atom = Visited | Taller | AsTall | SameHeight | Equal
Connective = Not | And | Or | Implies
Quantified = ForAll | AtLeast | Exactly
Formula = Atom | Connective | Quantified

_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(each.name for each in fields(kind))
    for kind in (*get_args(Term), *get_args(Formula))
}


def terms_of(atom: Atom) -> tuple[Term, Term]:
    """Return the two terms of an atom."""
    if isinstance(atom, Visited):
        return atom.visitor, atom.visited
    return atom.first, atom.second


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the formulas that a formula is made of, those of descriptions included."""
    match formula:
        case And(parts=parts) | Or(parts=parts):
            return parts
        case Not(body=body) | ForAll(body=body) | AtLeast(body=body) | Exactly(body=body):
            return (body,)
        case Implies(antecedent=antecedent, consequent=consequent):
            return (antecedent, consequent)
        case _:
            return tuple(each.body for each in terms_of(formula) if isinstance(each, Description))


def map_parts(
    formula: Connective | Quantified, change: Callable[[Formula], Formula]
) -> Connective | Quantified:
    """Return the same connective or quantifier with other parts."""
    match formula:
        case Not(body):
            return Not(change(body))
        case And(parts) | Or(parts):
            return type(formula)(tuple(map(change, parts)))
        case Implies(antecedent, consequent):
            return Implies(change(antecedent), change(consequent))
        case ForAll(body=body) | AtLeast(body=body) | Exactly(body=body):
            return replace(formula, body=change(body))
        case _:
            assert_never(formula)


def free_in(formula: Formula) -> frozenset[str]:
    """Return the names of the variables that are free in a formula."""
    if isinstance(formula, Quantified):
        return free_in(formula.body) - {formula.variable}
    if isinstance(formula, Connective):
        return frozenset().union(*map(free_in, parts_of(formula)))
    return frozenset().union(*map(free_in_term, terms_of(formula)))


def free_in_term(term: Term) -> frozenset[str]:
    """Return the names of the variables that are free in a term."""
    if isinstance(term, Description):
        return free_in(term.body) - {term.variable}
    return frozenset({term.name} if isinstance(term, Variable) else ())


def constants_of(formula: Formula) -> tuple[Constant, ...]:
    """Return the constants of a formula, each once, in the order in which they stand there."""
    found: dict[Constant, None] = {}
    _collect(formula, found)
    return tuple(found)


def _collect(formula: Formula, found: dict[Constant, None]) -> None:
    if isinstance(formula, Atom):
        for term in terms_of(formula):
            if isinstance(term, Constant):
                found[term] = None
            elif isinstance(term, Description):
                _collect(term.body, found)
    else:
        for part in parts_of(formula):
            _collect(part, found)


def rename(value: T, names: Mapping[Constant, Constant]) -> T:
    """Return a formula with other constants in the places of some."""
    return cast("T", _rename(value, names))


def _rename(value: object, names: Mapping[Constant, Constant]) -> object:
    if isinstance(value, Constant):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple([_rename(each, names) for each in value])
    own = _FIELDS.get(type(value))
    if own is None:  # a number, a name, a domain
        return value
    return type(value)(*[_rename(getattr(value, name), names) for name in own])


def at_least_one(variable: str, domain: Domain, body: Formula) -> Not:
    """Return ∃≥1 in the words of a number: ¬∃=0, which says the same as ∃, and is another value."""
    return Not(Exactly(0, variable, domain, body))


def exists(variable: str, domain: Domain, body: Formula) -> AtLeast:
    """Return ∃: the body is true of at least one entity of a domain."""
    return AtLeast(1, variable, domain, body)


# Interpretations: finite worlds in which a formula is true or false.


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
            found = self._free[id(formula)] = free_in(formula)
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


class TemplateError(InputError):
    """A formula or a template is not what it has to be."""

    def __init__(
        self, message: str, *, line: int, column: int, path: str | Path | None = None
    ) -> None:
        self.line = line
        self.text_column = column
        super().__init__(message, path=path, row=f"line {line}, column {column}")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a mark."""

    kind: str
    """``"name"``, ``"number"``, ``"end"``, or the mark itself, as it is written in ASCII."""
    text: str
    """As it is written."""
    line: int
    column: int
    """Where it begins, 1-based."""


SAME_AS = {
    "¬": "~",
    "∧": "&",
    "∨": "|",
    "→": "->",
    "≥": ">=",
    "≠": "!=",
    "∀": "all",
    "∃": "some",
    "ι": "the",
}
"""Signs of logic, and what stands for them in ASCII."""

_MARKS = ("->", ">=", "==", "!=", "..", *"~&|()[],:>=+-/", *(sign for sign in SAME_AS))
_PATTERN = re.compile(
    r"(?P<blank>\s+|#[^\n]*)"
    r"|(?P<number>[0-9]+)"
    r"|(?P<name>(?!ι)[^\W\d_]\w*(?:(?:-(?=[^\W\d_])|\.(?=\w))\w+)*)"
    rf"|(?P<mark>{'|'.join(re.escape(mark) for mark in _MARKS)})"
)


def split_tokens(text: str, *, path: str | Path | None = None) -> list[Token]:
    """Split a text into tokens; the last one is of kind ``"end"``.

    Comments begin with ``#`` and end with the line.
    """
    return list(_tokens(text, path))


def _tokens(text: str, path: str | Path | None) -> Iterator[Token]:
    position, line, line_begin = 0, 1, 0
    while position < len(text):
        column = position - line_begin + 1
        found = _PATTERN.match(text, position)
        if found is None:
            raise TemplateError(
                f"{text[position]!r} means nothing here", line=line, column=column, path=path
            )
        own = found.group()
        if found.lastgroup == "blank":
            line += own.count("\n")
            if "\n" in own:
                line_begin = position + own.rindex("\n") + 1
        elif found.lastgroup == "mark":
            yield Token(SAME_AS.get(own, own), own, line, column)
        else:
            yield Token(str(found.lastgroup), own, line, column)
        position = found.end()
    yield Token("end", "", line, position - line_begin + 1)
