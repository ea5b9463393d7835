"""Conjunctions as independent parts, which can be decided one by one.

``(exactly 20 u in Pl: V(x, u)) & (exactly 30 v in Pe: V(x, v))`` is true in some world if and only
if each part is: the one speaks of visits to places and of all places, the other of visits to people
and of all people.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

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
    SameHeight,
    Sort,
    Taller,
    Variable,
    Visited,
    parts_of,
    terms_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ietest_fast.templates.formulas import Formula, Term

Subject = tuple[str, Sort]
"""What a formula speaks of: ``("visits", sort)``, ``("all", sort)`` or ``("heights", person)``."""

_MOST_REMEMBERED = 2**12

HEIGHTS: Subject = ("heights", Sort.PERSON)


def split(formula: Formula) -> tuple[Formula, ...]:
    """Return parts of a conjunction that have nothing in common but named entities.

    At most one of them speaks of a sort as a whole, so a world of the conjunction has as many of it
    as a world of this part.
    """
    groups: list[tuple[set[Subject], list[Formula]]] = []
    for conjunct in _conjuncts(formula):
        subjects, members = set(subjects_of(conjunct)), [conjunct]
        apart = []
        for other_subjects, others in groups:
            if subjects.isdisjoint(other_subjects):
                apart.append((other_subjects, others))
            else:
                subjects |= other_subjects
                members = [*others, *members]
        groups = [*apart, (subjects, members)]
    return tuple(And(tuple(members)) for _, members in groups)


@functools.lru_cache(_MOST_REMEMBERED)
def subjects_of(formula: Formula) -> frozenset[Subject]:
    """Return what a formula speaks of."""
    return frozenset(_subjects(formula, {}))


def quantified_sorts(formula: Formula) -> frozenset[Sort]:
    """Return the sorts of which a formula speaks as a whole."""
    return frozenset(sort for kind, sort in subjects_of(formula) if kind == "all")


def _conjuncts(formula: Formula) -> Iterable[Formula]:
    if isinstance(formula, And):
        for part in formula.parts:
            yield from _conjuncts(part)
    else:
        yield formula


def _subjects(formula: Formula, bound: Mapping[str, Domain]) -> Iterable[Subject]:
    if isinstance(formula, ForAll | AtLeast | Exactly):
        yield from (("all", sort) for sort in formula.domain.sorts)
        yield from _subjects(formula.body, {**bound, formula.variable: formula.domain})
        return
    if not isinstance(formula, Visited | Taller | AsTall | SameHeight | Equal):
        for part in parts_of(formula):
            yield from _subjects(part, bound)
        return
    for term in terms_of(formula):
        if isinstance(term, Description):
            yield from (("all", sort) for sort in term.domain.sorts)
            yield from _subjects(term.body, {**bound, term.variable: term.domain})
    if isinstance(formula, Visited):
        yield from (("visits", sort) for sort in _sorts_of(formula.visited, bound))
    elif isinstance(formula, Taller | AsTall | SameHeight):
        yield HEIGHTS


def _sorts_of(term: Term, bound: Mapping[str, Domain]) -> tuple[Sort, ...]:
    if isinstance(term, Constant):
        return (term.sort,)
    if isinstance(term, Variable):
        return bound[term.name].sorts
    return term.domain.sorts
