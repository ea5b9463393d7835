"""Monotone normal form: negations stand before atoms only.

Two quantifiers are enough: *at least n* entities satisfy a body, and *all but at most n* do. The
form is monotone: if a part of it is replaced by something weaker, the whole becomes weaker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.descriptions import spell_out
from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Equal,
    Exactly,
    ForAll,
    Implies,
    Not,
    Or,
    SameHeight,
    Taller,
    Variable,
    Visited,
    terms_of,
)

if TYPE_CHECKING:
    from ietest_fast.templates.formulas import Atom, Constant, Domain, Formula


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom without descriptions, or its negation."""

    atom: Atom
    positive: bool


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction."""

    parts: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """A disjunction."""

    parts: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least ``number`` entities of a domain satisfy the body; ``number`` is at least 1."""

    number: int
    variable: str
    domain: Domain
    body: Form


@dataclass(frozen=True, slots=True)
class AllBut:
    """All entities of a domain but at most ``number`` satisfy the body."""

    number: int
    variable: str
    domain: Domain
    body: Form


Form = Literal | Conjunction | Disjunction | Some | AllBut

TRUE = Conjunction(())
FALSE = Disjunction(())


def normalise(formula: Formula) -> Form:
    """Return the monotone normal form of a formula; every bound variable has a name of its own."""
    return _normalise(spell_out(formula), positive=True)


def _normalise(  # noqa: PLR0911 - one line for each kind
    formula: Formula, *, positive: bool
) -> Form:
    match formula:
        case Not(body):
            return _normalise(body, positive=not positive)
        case And(parts):
            forms = tuple(_normalise(part, positive=positive) for part in parts)
            return Conjunction(forms) if positive else Disjunction(forms)
        case Or(parts):
            forms = tuple(_normalise(part, positive=positive) for part in parts)
            return Disjunction(forms) if positive else Conjunction(forms)
        case Implies(antecedent, consequent):
            return _normalise(Or((Not(antecedent), consequent)), positive=positive)
        case ForAll(variable, domain, body):
            counted = _normalise(body, positive=positive)
            return (
                _all_but(0, variable, domain, counted)
                if positive
                else _some(1, variable, domain, counted)
            )
        case AtLeast(number, variable, domain, body):
            counted = _normalise(body, positive=positive)
            if positive:
                return _some(number, variable, domain, counted)
            return _all_but(number - 1, variable, domain, counted)
        case Exactly(number, variable, domain, body):
            # The variable is bound in both parts, which do not stand in each other.
            least = AtLeast(number, variable, domain, body)
            more = AtLeast(number + 1, variable, domain, body)
            return _normalise(And((least, Not(more))), positive=positive)
        case SameHeight(first, second):
            both = And((AsTall(first, second), AsTall(second, first)))
            return _normalise(both, positive=positive)
        case Visited() | Taller() | AsTall() | Equal():
            return Literal(formula, positive)
        case _:
            assert_never(formula)


def _some(number: int, variable: str, domain: Domain, body: Form) -> Form:
    """Return at least so many; a body without the variable is said once, beside the number."""
    if number <= 0:
        return TRUE
    if _is_in(variable, body):
        return Some(number, variable, domain, body)
    # There is at least one person and one place.
    return body if number == 1 else Conjunction((body, Some(number, variable, domain, TRUE)))


def _all_but(number: int, variable: str, domain: Domain, body: Form) -> Form:
    if number < 0:
        return FALSE
    if _is_in(variable, body):
        return AllBut(number, variable, domain, body)
    return body if number == 0 else Disjunction((body, AllBut(number, variable, domain, FALSE)))


def _is_in(variable: str, form: Form) -> bool:
    """Say whether a variable stands in a form; each is bound once, so it is free there."""
    match form:
        case Literal(atom):
            return Variable(variable) in terms_of(atom)
        case Conjunction(parts) | Disjunction(parts):
            return any(_is_in(variable, part) for part in parts)
        case Some(_, _, _, body) | AllBut(_, _, _, body):
            return _is_in(variable, body)
        case _:
            assert_never(form)


def substitute(form: Form, variable: str, constant: Constant) -> Form:
    """Return a form with a constant in the place of a free variable."""
    match form:
        case Literal(atom, positive):
            free = Variable(variable)
            terms = (constant if term == free else term for term in terms_of(atom))
            return Literal(type(atom)(*terms), positive)
        case Conjunction(parts):
            return Conjunction(tuple(substitute(part, variable, constant) for part in parts))
        case Disjunction(parts):
            return Disjunction(tuple(substitute(part, variable, constant) for part in parts))
        case Some(number, bound, domain, body):
            return Some(number, bound, domain, substitute(body, variable, constant))
        case AllBut(number, bound, domain, body):
            return AllBut(number, bound, domain, substitute(body, variable, constant))
        case _:
            assert_never(form)
