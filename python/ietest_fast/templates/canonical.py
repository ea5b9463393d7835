"""Formulas that differ only in names and order, as one: what is proved of one is proved of all."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ietest_fast.templates.formulas import And, Constant, Not, Or, constants_of, rename
from ietest_fast.templates.printing import print_formula

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ietest_fast.templates.formulas import Formula

_MOST_REMEMBERED = 2**12


def canonical(
    formula: Formula, others: Iterable[Constant]
) -> tuple[Formula, dict[Constant, Constant]]:
    """Return a formula with numbers for names, its parts in an order that names do not change.

    Formulas of which this is the same say the same of other entities; not all such formulas are
    found, as two parts of one pattern stay in their order.
    """
    ordered = _ordered(formula)
    names = {
        each: Constant(str(number), each.sort)
        for number, each in enumerate((*constants_of(ordered), *others))
    }
    return rename(ordered, names), names


def _ordered(formula: Formula) -> Formula:
    """Return a formula whose conjuncts and disjuncts are in the order of their patterns."""
    match formula:
        case Not(body):
            return Not(_ordered(body))
        case And(parts) | Or(parts):
            return type(formula)(tuple(sorted(map(_ordered, parts), key=_pattern)))
        case _:
            return formula


@functools.lru_cache(_MOST_REMEMBERED)
def _pattern(formula: Formula) -> str:
    """Return a formula with numbers for its names."""
    numbered = {
        each: Constant(f"{each.sort.value}-{number}", each.sort)
        for number, each in enumerate(constants_of(formula))
    }
    try:
        return print_formula(rename(formula, numbered))
    except ValueError:  # without parts
        return repr(rename(formula, numbered))
