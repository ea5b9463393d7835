"""The template language: formulas about people, places, visits and heights.

Section 3.1 of Salvatore's thesis (2020). People (Pe) and places (Pl) are the two sorts of entities;
``V(x, y)`` says that x has visited y, ``x > y`` that x is taller than y, ``x >= y`` that x is as
tall as y or taller, and ``x == y`` that both are of one height. Formulas are values: they compare
by what they say, and can be keys.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, TypeVar, cast, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

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

_ATOMS = get_args(Atom)
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


def constants_of(formula: Formula) -> tuple[Constant, ...]:
    """Return the constants of a formula, each once, in the order in which they stand there."""
    found: dict[Constant, None] = {}
    _collect(formula, found)
    return tuple(found)


def _collect(formula: Formula, found: dict[Constant, None]) -> None:
    if isinstance(formula, _ATOMS):
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
