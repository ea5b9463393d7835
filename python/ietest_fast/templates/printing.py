"""Writing formulas as text that can be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Description,
    Domain,
    Equal,
    Exactly,
    ForAll,
    Implies,
    Not,
    Or,
    SameHeight,
    Taller,
    Visited,
    terms_of,
)

if TYPE_CHECKING:
    from ietest_fast.templates.formulas import Formula, Term

_MARKS = {Taller: ">", AsTall: ">=", SameHeight: "==", Equal: "="}
_RANGES = {Domain.PEOPLE: " in Pe", Domain.PLACES: " in Pl", Domain.BOTH: ""}


def print_formula(formula: Formula) -> str:  # noqa: PLR0911 - one line for each kind
    """Write a formula in the syntax of :mod:`ietest_fast.templates.parsing`.

    Reading the text gives the formula again, except that a conjunction or disjunction of one part
    is written as this part. One without parts, which is always true or false, cannot be written.
    """
    match formula:
        case Not(body):
            return f"~{_closed(body)}"
        case And(parts) | Or(parts):
            if not parts:
                raise ValueError("a conjunction or disjunction without parts cannot be written")
            if len(parts) == 1:
                return print_formula(parts[0])
            mark = " & " if isinstance(formula, And) else " | "
            return mark.join(_closed(part) for part in parts)
        case Implies(antecedent, consequent):
            return f"{_closed(antecedent)} -> {_closed(consequent)}"
        case ForAll(variable, domain, body):
            return _quantified("all", variable, domain, body)
        case AtLeast(number, variable, domain, body):
            word = "some" if number == 1 else f"at least {number}"
            return _quantified(word, variable, domain, body)
        case Exactly(number, variable, domain, body):
            return _quantified(f"exactly {number}", variable, domain, body)
        case Visited(visitor, visited):
            return f"V({_term(visitor)}, {_term(visited)})"
        case Taller() | AsTall() | SameHeight() | Equal():
            first, second = terms_of(formula)
            return f"{_term(first)} {_MARKS[type(formula)]} {_term(second)}"
        case _:
            assert_never(formula)


def _quantified(word: str, variable: str, domain: Domain, body: Formula) -> str:
    return f"{word} {variable}{_RANGES[domain]}: {print_formula(body)}"


def _closed(formula: Formula) -> str:
    while isinstance(formula, And | Or) and len(formula.parts) == 1:
        (formula,) = formula.parts
    text = print_formula(formula)
    is_closed = isinstance(formula, Visited | Taller | AsTall | SameHeight | Equal | Not)
    return text if is_closed else f"({text})"


def _term(term: Term) -> str:
    if isinstance(term, Description):
        return f"({_quantified('the', term.variable, term.domain, term.body)})"
    return term.name
