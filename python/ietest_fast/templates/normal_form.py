"""Monotone normal form: negations stand before atoms only.

Two quantifiers are enough: *at least n* entities satisfy a body, and *all but at most n* do. The
form is monotone: if a part of it is replaced by something weaker, the whole becomes weaker.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.formulas import (
    And,
    AsTall,
    AtLeast,
    Atom,
    Constant,
    Description,
    Domain,
    Equal,
    Exactly,
    ForAll,
    Implies,
    Not,
    Or,
    Quantified,
    SameHeight,
    Sort,
    Taller,
    Variable,
    Visited,
    constants_of,
    exists,
    free_in,
    map_parts,
    parts_of,
    rename,
    terms_of,
)
from ietest_fast.templates.parsing import print_formula

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ietest_fast.templates.formulas import Formula, Term


# Definite descriptions as quantifiers (Russell 1905).


def spell_out(formula: Formula) -> Formula:
    """Return a formula that is true in the same worlds and has no descriptions.

    An atom A(ιy φ(y)) becomes ¬∃≥2 y φ(y) ∧ ∃y (φ(y) ∧ A(y)). Every bound variable gets a name of
    its own, so nothing is bound by a quantifier that it did not belong to.
    """
    # No template can have such names.
    return _spell_out(formula, {}, (f"#{number}" for number in count()))


def _spell_out(formula: Formula, names: Mapping[str, str], fresh: Iterator[str]) -> Formula:
    if isinstance(formula, Atom):
        return _spell_out_atom(formula, names, fresh)
    if isinstance(formula, Quantified):
        name = next(fresh)
        names = {**names, formula.variable: name}
        formula = replace(formula, variable=name)
    return map_parts(formula, lambda part: _spell_out(part, names, fresh))


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
        case Conjunction(parts) | Disjunction(parts):
            return type(form)(tuple(substitute(part, variable, constant) for part in parts))
        case Some(body=body) | AllBut(body=body):
            return replace(form, body=substitute(body, variable, constant))
        case _:
            assert_never(form)


# Quantifiers moved inwards, to what their variable stands in.


def miniscope(formula: Formula) -> Formula:
    """Return a formula that means the same, with universal quantifiers as far in as they can be.

    ``all y in Pe: all z in Pl: V(x, y) & V(x, z)`` becomes ``(all y in Pe: V(x, y)) & (all z in Pl:
    V(x, z))``, as there is at least one person and one place. Conjunctions in conjunctions become
    one.
    """
    if isinstance(formula, Atom):
        return type(formula)(*(_miniscope_term(term) for term in terms_of(formula)))
    whole = map_parts(formula, miniscope)
    if isinstance(whole, And):
        return And(_flat(whole.parts))
    return _move(whole.variable, whole) if isinstance(whole, ForAll) else whole


def _move(variable: str, formula: ForAll) -> Formula:
    """Move a universal quantifier into a conjunction, or leave it out if it binds nothing."""
    if variable not in free_in(formula.body):
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


# Conjunctions as independent parts, which can be decided one by one.
#
# ``(exactly 20 u in Pl: V(x, u)) & (exactly 30 v in Pe: V(x, v))`` is true in some world if and
# only if each part is: the one speaks of visits to places and of all places, the other of visits
# to people and of all people.

Subject = tuple[str, Sort]
"""What a formula speaks of: ``("visits", sort)``, ``("all", sort)`` or ``("heights", person)``."""

# Formulas that differ only in names and order, as one: what is proved of one is proved of all.

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
    if isinstance(formula, Quantified):
        yield from (("all", sort) for sort in formula.domain.sorts)
        yield from _subjects(formula.body, {**bound, formula.variable: formula.domain})
        return
    if not isinstance(formula, Atom):
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
