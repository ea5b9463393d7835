"""Quantifiers moved inwards, to what their variable stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Description,
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
    from ietest_fast.templates.formulas import Formula, Term


def miniscope(formula: Formula) -> Formula:  # noqa: PLR0911 - one line for each kind
    """Return a formula that means the same, with universal quantifiers as far in as they can be.

    ``all y in Pe: all z in Pl: V(x, y) & V(x, z)`` becomes ``(all y in Pe: V(x, y)) & (all z in Pl:
    V(x, z))``, as there is at least one person and one place. Conjunctions in conjunctions become
    one.
    """
    match formula:
        case ForAll(variable, domain, body):
            return _move(variable, ForAll(variable, domain, miniscope(body)))
        case Not(body):
            return Not(miniscope(body))
        case And(parts):
            return And(_flat(tuple(miniscope(part) for part in parts)))
        case Or(parts):
            return Or(tuple(miniscope(part) for part in parts))
        case Implies(antecedent, consequent):
            return Implies(miniscope(antecedent), miniscope(consequent))
        case AtLeast(number, variable, domain, body):
            return AtLeast(number, variable, domain, miniscope(body))
        case Exactly(number, variable, domain, body):
            return Exactly(number, variable, domain, miniscope(body))
        case Visited() | Taller() | AsTall() | SameHeight() | Equal():
            return type(formula)(*(_miniscope_term(term) for term in terms_of(formula)))
        case _:
            assert_never(formula)


def is_free(variable: str, formula: Formula) -> bool:
    """Say whether a variable is free in a formula."""
    match formula:
        case Not(body):
            return is_free(variable, body)
        case And(parts) | Or(parts):
            return any(is_free(variable, part) for part in parts)
        case Implies(antecedent, consequent):
            return is_free(variable, antecedent) or is_free(variable, consequent)
        case ForAll(bound, _, body) | AtLeast(_, bound, _, body) | Exactly(_, bound, _, body):
            return bound != variable and is_free(variable, body)
        case Visited() | Taller() | AsTall() | SameHeight() | Equal():
            return any(is_free_in_term(variable, term) for term in terms_of(formula))
        case _:
            assert_never(formula)


def is_free_in_term(variable: str, term: Term) -> bool:
    """Say whether a variable is free in a term."""
    if isinstance(term, Description):
        return term.variable != variable and is_free(variable, term.body)
    return term == Variable(variable)


def _move(variable: str, formula: ForAll) -> Formula:
    """Move a universal quantifier into a conjunction, or leave it out if it binds nothing."""
    if not is_free(variable, formula.body):
        return formula.body
    if isinstance(formula.body, And):
        parts = (ForAll(variable, formula.domain, part) for part in formula.body.parts)
        return And(_flat(tuple(_move(variable, part) for part in parts)))
    return formula


def _flat(parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    return tuple(
        inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))
    )


def _miniscope_term(term: Term) -> Term:
    if isinstance(term, Description):
        return Description(term.variable, term.domain, miniscope(term.body))
    return term
