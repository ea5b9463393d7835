"""Formulas as clauses: who does what, before a language has words for it.

Section 3.3 of the thesis. Conjunctions are condensed where a language would condense them: of
``V(a, c) & V(b, c)`` there is one clause, *a and b have visited c*, and of ``all x in Pe: V(x, a) &
V(x, b)``, too: *everyone has visited a and b*. What has no condensed form becomes several clauses
with connectives between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
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
    free_in_term,
    terms_of,
)
from ietest_fast.templates.normal_form import miniscope
from ietest_fast.templates.parsing import print_formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.templates.formulas import Formula, Term


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody, or a place, by name."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class Quantity:
    """*everyone*, *some place*, *no one*, *only three places*, *at least two people*."""

    kind: str
    """``"every"``, ``"some"``, ``"no"``, ``"exactly"`` or ``"at-least"``."""
    domain: Domain
    """People, places or both."""
    number: int = 0
    """For the last two."""


@dataclass(frozen=True, slots=True)
class Described:
    """*the person that has visited every place*."""

    domain: Domain
    predicate: Predicate


Nominal = Named | Quantity | Described


@dataclass(frozen=True, slots=True)
class Predicate:
    """What is said of a subject."""

    verb: str
    """``"visited"``, ``"taller"``, ``"as-tall"``, ``"same-height"`` or ``"is"``."""
    positive: bool
    """Whether it is affirmed."""
    objects: tuple[Nominal, ...]
    """One or several, with *and* between."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One subject, or several with *and* between, and what is said of each."""

    subjects: tuple[Nominal, ...]
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Compound:
    """Sentences with a connective: ``"and"``, ``"or"``, ``"if"`` or ``"not"``."""

    connective: str
    parts: tuple[Sentence, ...]


Sentence = Clause | Compound

# Whether it is true of somebody and the same person.
_OF_ONESELF = {"taller": False, "as-tall": True, "same-height": True}
_VERBS = {
    Visited: "visited",
    Taller: "taller",
    AsTall: "as-tall",
    SameHeight: "same-height",
    Equal: "is",
}


def to_sentence(formula: Formula) -> Sentence:
    """Return the clauses of a formula."""
    return _sentence(miniscope(formula))


def _sentence(formula: Formula) -> Sentence:
    clause = _of_one(formula) or _of_several(formula)
    if clause is not None:
        return clause
    match formula:
        case And(parts) if parts:
            return _compound("and", formula, parts)
        case Or(parts) if parts:
            return _compound("or", formula, parts)
        case Implies(antecedent, consequent):
            return _compound("if", formula, (antecedent, consequent))
        case Not(body):
            return _denial(formula, _sentence(body))
        case _:
            raise InputError(
                f"there are no words for {print_formula(formula)} that mean just that: a "
                "quantifier or description needs a verb whose subject or object it can be, and a "
                "number above 0 (see 'What has words' in the guide to templates)"
            )


def _compound(connective: str, formula: Formula, parts: Sequence[Formula]) -> Compound:
    """Join sentences, if it can be heard where each of them ends.

    *A and B or C* can mean two things, and so can *If A, then B and C* where A is not all of the
    condition of C.
    """
    sentences = tuple(_sentence(part) for part in parts)
    for place, each in enumerate(sentences):
        if not isinstance(each, Compound) or each.connective == connective != "if":
            continue
        is_last = place == len(sentences) - 1
        is_unclear = (
            each.connective == "if" if connective == "if" else each.connective in {"and", "or"}
        )
        if (is_unclear and not (is_last and connective == "if")) or (
            not is_last and connective != "if"
        ):
            raise _unclear(formula)
    return Compound(connective, sentences)


def _denial(formula: Formula, sentence: Sentence) -> Compound:
    """Deny a sentence, if it can be heard where it ends: not *it's not true that A or B*."""
    if isinstance(sentence, Compound) and sentence.connective in {"and", "or"}:
        raise _unclear(formula)
    return Compound("not", (sentence,))


def _unclear(formula: Formula) -> InputError:
    return InputError(
        f"there are no words for {print_formula(formula)} that could not mean something else: "
        "write several premises, or simpler ones"
    )


def _of_one(formula: Formula) -> Clause | None:
    """Return a clause with one subject: *everyone has visited ...*, *Anna has visited ...*."""
    inner = formula.body if isinstance(formula, Not) else formula
    if isinstance(inner, Quantified):
        quantity = _quantity(formula)
        predicate = _predicate(inner.body, Variable(inner.variable))
        if quantity is not None and predicate is not None and _denies_all(quantity, predicate):
            # Not "everyone didn't visit ...", which could also mean that someone did not.
            quantity, predicate = replace(quantity, kind="no"), replace(predicate, positive=True)
        if quantity is not None and predicate is not None and _can_stand(quantity, predicate):
            return Clause((quantity,), predicate)
    subject = _first_term(formula)
    if subject is None or isinstance(subject, Variable):
        return None
    predicate, nominal = _predicate(formula, subject), _nominal(subject)
    if predicate is None or nominal is None:
        return None
    return Clause((nominal,), predicate)


def _can_stand(quantity: Quantity, predicate: Predicate) -> bool:
    """Say whether a sentence is denied once, and where it is natural.

    Not *no one didn't visit*, *no one visited no one*, *everyone visited no one*.
    """
    if any(isinstance(each, Named) for each in predicate.objects) and _is_of_others(
        quantity, predicate.verb, positive=predicate.positive
    ):
        return False
    if quantity.kind == "no":
        return predicate.positive and not _has_no(predicate)
    return quantity.kind != "every" or not _has_no(predicate)


def _is_of_others(quantity: Quantity, verb: str, *, positive: bool) -> bool:
    """Say whether readers would not count somebody among those that they are compared with.

    *Anna is taller than every person* is false in logic, since she is not taller than herself, and
    that she is at least as tall as someone is true of herself. Readers think of other people.
    """
    if verb not in _OF_ONESELF:
        return False
    of_oneself = _OF_ONESELF[verb] is positive
    return not of_oneself if quantity.kind == "every" else of_oneself


def _denies_all(quantity: Quantity, predicate: Predicate) -> bool:
    return quantity.kind == "every" and not predicate.positive


def _has_no(predicate: Predicate) -> bool:
    return any(isinstance(each, Quantity) and each.kind == "no" for each in predicate.objects)


def _of_several(formula: Formula) -> Clause | None:
    """Return a clause for a conjunction.

    Several subjects (*Anna and Bob have visited ...*), or of *everyone* several objects.
    """
    if not isinstance(formula, And):
        return None
    clauses = [_of_one(part) for part in formula.parts]
    known = [each for each in clauses if each is not None]
    if not known or len(known) < len(clauses) or not known[0].predicate.positive:
        return None
    subjects, predicates = [each.subjects[0] for each in known], [each.predicate for each in known]
    if all(isinstance(each, Named) for each in subjects) and len(set(predicates)) == 1:
        return Clause(tuple(subjects), predicates[0]) if _is_of_each(predicates[0]) else None
    is_of_all = all(isinstance(each, Quantity) and each.kind == "every" for each in subjects)
    if not is_of_all or len(set(subjects)) > 1:
        return None
    joined = _joined(predicates)
    return None if joined is None else Clause((subjects[0],), joined)


def _is_of_each(predicate: Predicate) -> bool:
    """Say whether "Anna and Bob have visited ..." can only mean that each of them has.

    With *only two places* it could mean two places together, with *some place* the same place.
    """
    return all(not isinstance(each, Quantity) or each.kind == "every" for each in predicate.objects)


def _first_term(formula: Formula) -> Term | None:
    """Return the first term of all atoms of a formula, if it is the same."""
    match formula:
        case Not(body) | ForAll(body=body) | AtLeast(body=body) | Exactly(body=body):
            return _first_term(body)
        case And(parts) if parts:
            first = _first_term(parts[0])
            return first if all(_first_term(part) == first for part in parts) else None
        case Visited() | Taller() | AsTall() | SameHeight() | Equal():
            return terms_of(formula)[0]
        case _:
            return None


def _predicate(formula: Formula, subject: Term) -> Predicate | None:
    """Return what a formula says of a term, None if that is no predicate."""
    match formula:
        case Visited() | Taller() | AsTall() | SameHeight() | Equal():
            return _predicate_of_atom(formula, subject, positive=True)
        case Not(body) if isinstance(body, Atom):
            return _predicate_of_atom(body, subject, positive=False)
        case And(parts) if parts:
            return _joined([_predicate(part, subject) for part in parts])
        case ForAll() | AtLeast() | Exactly() | Not():
            return _predicate_of_quantity(formula, subject)
        case _:
            return None


def _predicate_of_atom(atom: Atom, subject: Term, *, positive: bool) -> Predicate | None:
    first, second = terms_of(atom)
    if first != subject:
        return None
    if isinstance(subject, Variable) and subject.name in free_in_term(second):
        return None
    nominal, verb = _nominal(second), _VERBS[type(atom)]
    if nominal is None or (verb != "is" and _ends_in_list(nominal)):
        return None
    return Predicate(verb, positive, (nominal,))


def _ends_in_list(nominal: Nominal) -> bool:
    """Say whether the last of several objects could be taken for one of the verb before.

    *Anna has visited the person that has visited Bob and Rome*: Rome may be what Anna has visited.
    """
    if not isinstance(nominal, Described):
        return False
    objects = nominal.predicate.objects
    return len(objects) > 1 or _ends_in_list(objects[-1])


def _predicate_of_quantity(formula: Formula, subject: Term) -> Predicate | None:
    """Return a predicate with a quantity as its object: *has visited every place*."""
    inner = formula.body if isinstance(formula, Not) else formula
    if not isinstance(inner, Quantified):
        return None
    quantity, variable, atom = _quantity(formula), Variable(inner.variable), inner.body
    if isinstance(formula, ForAll) and isinstance(atom, Not):
        quantity, atom = Quantity("no", formula.domain), atom.body
    if quantity is None or not isinstance(atom, Visited | Taller | AsTall | SameHeight):
        return None
    verb = _VERBS[type(atom)]
    if terms_of(atom) != (subject, variable) or subject == variable:
        return None
    return (
        None if _is_of_others(quantity, verb, positive=True) else Predicate(verb, True, (quantity,))
    )


def _joined(predicates: Sequence[Predicate | None]) -> Predicate | None:
    """Return one predicate with all objects: *has visited a and b*."""
    known = [each for each in predicates if each is not None]
    alike = {(each.verb, each.positive) for each in known}
    if len(known) < len(predicates) or len(alike) > 1:
        return None
    verb, positive = alike.pop()
    if not positive or verb == "is":
        return None
    # In some languages "no" also denies the verb, and with it the other objects.
    if len(known) > 1 and any(_has_no(each) for each in known):
        return None
    objects = tuple(one for each in known for one in each.objects)
    if any(isinstance(each, Described) for each in objects[:-1]) or _adds_up(objects):
        return None
    return Predicate(verb, True, objects)


def _adds_up(objects: Sequence[Nominal]) -> bool:
    """Say whether readers would add up what may be the same.

    *only two people and Bob* are three for readers, and in logic Bob may be one of the two.
    """
    sorts = [sorts_of(each) for each in objects]
    return any(
        isinstance(each, Quantity)
        and each.kind not in {"every", "no"}
        and sum(not own.isdisjoint(other) for other in sorts) > 1
        for each, own in zip(objects, sorts, strict=True)
    )


def sorts_of(nominal: Nominal) -> set[Sort]:
    """Return whether a nominal stands for people, for places, or for both."""
    if isinstance(nominal, Named):
        return {nominal.constant.sort}
    return set(nominal.domain.sorts)


def _quantity(  # noqa: PLR0911 - one line for each kind
    formula: Formula,
) -> Quantity | None:
    """Return the quantity of a quantifier, or of its negation."""
    match formula:
        case ForAll(domain=domain):
            return Quantity("every", domain)
        case AtLeast(number=1, domain=domain):
            return Quantity("some", domain)
        case AtLeast(number=number, domain=domain) if number > 1:
            return Quantity("at-least", domain, number)
        case Exactly(number=number, domain=domain) if number > 0:
            return Quantity("exactly", domain, number)
        case Not(Exactly(number=0, domain=domain)):
            return Quantity("at-least", domain, 1)
        case Exactly(number=0, domain=domain) | Not(AtLeast(number=1, domain=domain)):
            return Quantity("no", domain)
        case _:
            return None


def _nominal(term: Term) -> Nominal | None:
    if isinstance(term, Constant):
        return Named(term)
    if isinstance(term, Description):
        predicate = _predicate(term.body, Variable(term.variable))
        return None if predicate is None else Described(term.domain, predicate)
    return None
