"""Definite descriptions as quantifiers (Russell 1905)."""

from __future__ import annotations

from itertools import count
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
    exists,
    terms_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ietest_fast.templates.formulas import Atom, Formula, Term


def spell_out(formula: Formula) -> Formula:
    """Return a formula that is true in the same worlds and has no descriptions.

    An atom A(ιy φ(y)) becomes ¬∃≥2 y φ(y) ∧ ∃y (φ(y) ∧ A(y)). Every bound variable gets a name of
    its own, so nothing is bound by a quantifier that it did not belong to.
    """
    # No template can have such names.
    return _spell_out(formula, {}, (f"#{number}" for number in count()))


def _spell_out(  # noqa: PLR0911 - one line for each kind
    formula: Formula, names: Mapping[str, str], fresh: Iterator[str]
) -> Formula:
    match formula:
        case Not(body):
            return Not(_spell_out(body, names, fresh))
        case And(parts):
            return And(tuple(_spell_out(part, names, fresh) for part in parts))
        case Or(parts):
            return Or(tuple(_spell_out(part, names, fresh) for part in parts))
        case Implies(antecedent, consequent):
            return Implies(
                _spell_out(antecedent, names, fresh), _spell_out(consequent, names, fresh)
            )
        case ForAll(variable, domain, body):
            name = next(fresh)
            return ForAll(name, domain, _spell_out(body, {**names, variable: name}, fresh))
        case AtLeast(number, variable, domain, body):
            name = next(fresh)
            body = _spell_out(body, {**names, variable: name}, fresh)
            return AtLeast(number, name, domain, body)
        case Exactly(number, variable, domain, body):
            name = next(fresh)
            body = _spell_out(body, {**names, variable: name}, fresh)
            return Exactly(number, name, domain, body)
        case Visited() | Taller() | AsTall() | SameHeight() | Equal():
            return _spell_out_atom(formula, names, fresh)
        case _:
            assert_never(formula)


def _spell_out_atom(atom: Atom, names: Mapping[str, str], fresh: Iterator[str]) -> Formula:
    terms = terms_of(atom)
    for place, term in enumerate(terms):
        if isinstance(term, Description):
            # Twice, as what is bound gets a name for each.
            many, one = next(fresh), next(fresh)
            fits_many = _spell_out(term.body, {**names, term.variable: many}, fresh)
            fits_one = _spell_out(term.body, {**names, term.variable: one}, fresh)
            # What stands for the described entity is free here, and named as it is.
            said = _replace(atom, place, Variable(one))
            said_of = _spell_out_atom(said, {**names, one: one}, fresh)
            return And(
                (
                    Not(AtLeast(2, many, term.domain, fits_many)),
                    exists(one, term.domain, And((fits_one, said_of))),
                )
            )
    return type(atom)(*(_rename(term, names) for term in terms))


def _replace(atom: Atom, place: int, term: Term) -> Atom:
    terms = list(terms_of(atom))
    terms[place] = term
    return type(atom)(*terms)


def _rename(term: Term, names: Mapping[str, str]) -> Term:
    return Variable(names.get(term.name, term.name)) if isinstance(term, Variable) else term
