"""The words that a masked word of a hypothesis competes with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ietest_fast.templates.formulas import And, AtLeast, Exactly, ForAll, Implies, Not, Or

if TYPE_CHECKING:
    from ietest_fast.templates.formulas import Formula

STRONGER = {"or": "'and'", "some": "'every'", "number": "a greater number"}
"""What says more than a word that can be masked."""


def strengthen(  # noqa: PLR0911 - one line for each kind
    formula: Formula, what: str
) -> Formula:
    """Return what a hypothesis says with a stronger word in the place of the masked one."""
    match formula:
        case Or(parts) if what == "or":
            return And(tuple(strengthen(each, what) for each in parts))
        case AtLeast(1, variable, domain, body) if what == "some":
            return ForAll(variable, domain, strengthen(body, what))
        case AtLeast(number, variable, domain, body) if what == "number" and number > 1:
            return AtLeast(number + 1, variable, domain, body)
        case Not(Exactly(0, variable, domain, body)) if what == "number":
            return AtLeast(2, variable, domain, body)
        case And(parts) | Or(parts):
            return replace(formula, parts=tuple(strengthen(each, what) for each in parts))
        case Implies(antecedent, consequent):
            return Implies(antecedent, strengthen(consequent, what))
        case ForAll(body=body) | AtLeast(body=body):
            return replace(formula, body=strengthen(body, what))
        case _:
            return formula
