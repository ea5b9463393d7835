"""Texts back to formulas: the inverse of :mod:`ietest_fast.templates.wording`.

Reads what the verbs, quantities and lists of a language say. It shows that the words of a language
can be told apart, and reads published corpora, of which only texts are left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.templates.clauses import Quantity
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
    Not,
    SameHeight,
    Taller,
    Variable,
    Visited,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ietest_fast.templates.formulas import Atom, Formula, Sort, Term
    from ietest_fast.templates.language import Language

_ATOMS: dict[str, type[Atom]] = {
    "visited": Visited,
    "taller": Taller,
    "as-tall": AsTall,
    "same-height": SameHeight,
    "is": Equal,
}
_GENDERS = ("masculine", "feminine")


@dataclass(frozen=True, slots=True)
class _VerbForm:
    verb: str
    positive: bool
    plural: bool


class TextReader:
    """Read texts of a language.

    Parameters
    ----------
    language
        Its words.
    sort_of
        Says whether a name is a person's or a place's.
    """

    def __init__(self, language: Language, sort_of: Callable[[str], Sort]) -> None:
        self.language = language
        self.sort_of = sort_of
        self._verbs = dict(_verb_forms(language))
        self._quantities = dict(_quantity_forms(language))
        words = sorted(self._verbs, key=len, reverse=True)
        self._verb = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, words))})(?!\S)")
        self._fresh = 0

    def read_sentences(self, text: str) -> tuple[Formula, ...]:
        """Return the formulas of a text's sentences.

        Raises
        ------
        InputError
            If a sentence has no verb, or not the parts that it has to have.
        """
        return tuple(self.read_sentence(each) for each in self._split_sentences(text))

    def read_sentence(self, text: str) -> Formula:
        """Return the formula of one sentence."""
        found = self._verb.search(text)
        if found is None:
            raise InputError(f"there is no verb in {text!r}")
        form = self._verbs[found.group()]
        subjects = self._read_list(text[: found.start()].strip())
        behind = text[found.end() :].strip()
        if form.verb == "is":
            return self._described(subjects, behind)
        objects = self._read_list(behind, form.verb)
        negates = any(isinstance(each, Quantity) and each.kind == "no" for each in objects)
        positive = form.positive or (negates and self._negates_objects())
        formulas = [
            self._relate(form.verb, subject, each, positive=positive)
            for subject in subjects
            for each in objects
        ]
        if len(formulas) == 1:
            return formulas[0]
        if len(subjects) == 1 and isinstance(subjects[0], Quantity):
            return self._of_subject(form.verb, subjects[0], objects)
        return And(tuple(formulas))

    def _negates_objects(self) -> bool:
        return self.language.quantities.no.people.negates

    def _split_sentences(self, text: str) -> list[str]:
        """Split at what stands between sentences, but not between the parts of a list."""
        mark = self.language.lists.sentences.strip()
        sentences: list[str] = []
        waiting: list[str] = []  # without a verb so far
        for chunk in text.split(mark):
            verb = self._verb.search(chunk)
            if verb is None:
                waiting.append(chunk)
                continue
            if self._verbs[verb.group()].plural:
                sentences.append(mark.join([*waiting, chunk]))
            else:
                if waiting and sentences:
                    sentences[-1] = mark.join([sentences[-1], *waiting])
                sentences.append(chunk)
            waiting = []
        if waiting and sentences:
            sentences[-1] = mark.join([sentences[-1], *waiting])
        return [each.strip() for each in sentences] or [text.strip()]

    def _read_list(self, text: str, verb: str | None = None) -> list[Term | Quantity]:
        """Read *a, b and c*: names and quantities, as subjects or as objects of a verb."""
        lists = self.language.lists
        person = "{0}" if verb is None else self.language.verbs.of(verb).person
        whole = self._quantities.get(_bare(text, person).lower())
        if whole is not None:
            return [whole]
        head, mark, last = text.rpartition(lists.last)
        parts = [*head.split(lists.between), last] if mark else [text]
        read: list[Term | Quantity] = []
        for part in parts:
            name = _bare(part.strip(), person)
            if not name:
                raise InputError(f"a name is missing in {text!r}")
            read.append(self._quantities.get(name.lower()) or Constant(name, self.sort_of(name)))
        return read

    def _variable(self) -> str:
        self._fresh += 1
        return f"u{self._fresh}"

    def _relate(
        self, verb: str, subject: Term | Quantity, each: Term | Quantity, *, positive: bool
    ) -> Formula:
        """Return what a sentence with one subject and one object says."""
        if isinstance(subject, Quantity):
            name = self._variable()
            inner = self._relate(verb, Variable(name), each, positive=positive)
            return _quantified(subject, name, inner)
        if isinstance(each, Quantity):
            name = self._variable()
            atom = _ATOMS[verb](subject, Variable(name))
            formula = _quantified(each, name, atom)
            return formula if positive else Not(formula)
        atom = _ATOMS[verb](subject, each)
        return atom if positive else Not(atom)

    def _of_subject(self, verb: str, subject: Quantity, objects: list[Term | Quantity]) -> Formula:
        name = self._variable()
        said = (self._relate(verb, Variable(name), each, positive=True) for each in objects)
        return _quantified(subject, name, And(tuple(said)))

    def _described(self, subjects: list[Term | Quantity], text: str) -> Formula:
        """Read *x is the person that ...*."""
        for domain in Domain:
            before, _, behind = self.language.described.of(domain).text.partition("{predicate}")
            if text.startswith(before) and text.endswith(behind) and len(subjects) == 1:
                inner = text[len(before) : len(text) - len(behind)]
                break
        else:
            raise InputError(f"there is no description in {text!r}")
        (subject,) = subjects
        found = self._verb.match(inner)
        if found is None or isinstance(subject, Quantity):
            raise InputError(f"the description has no verb, or nobody is described: {text!r}")
        form = self._verbs[found.group()]
        name = self._variable()
        said = [
            self._relate(form.verb, Variable(name), each, positive=form.positive)
            for each in self._read_list(inner[found.end() :].strip(), form.verb)
        ]
        body = said[0] if len(said) == 1 else And(tuple(said))
        return Equal(subject, Description(name, domain, body))


def _bare(text: str, person: str) -> str:
    """Return a text without the marks of a person as object, if it has them."""
    before, _, behind = person.partition("{0}")
    is_marked = text.startswith(before) and text.endswith(behind)
    return text[len(before) : len(text) - len(behind)] if is_marked else text


def _quantified(quantity: Quantity, variable: str, body: Formula) -> Formula:
    match quantity:
        case Quantity("every", domain):
            return ForAll(variable, domain, body)
        case Quantity("some", domain):
            return AtLeast(1, variable, domain, body)
        case Quantity("no", domain):
            return Not(AtLeast(1, variable, domain, body))
        case Quantity("exactly", domain, number):
            return Exactly(number, variable, domain, body)
        case Quantity(_, domain, number):
            return AtLeast(number, variable, domain, body)


def _verb_forms(language: Language) -> Iterator[tuple[str, _VerbForm]]:
    for name in _ATOMS:
        verb = language.verbs.of(name)
        for plural in (True, False):
            for positive in (True, False):
                words = verb.words(plural=plural, positive=positive)
                for gender in _GENDERS:
                    yield getattr(words, gender), _VerbForm(name, positive, plural)


def _quantity_forms(language: Language) -> Iterator[tuple[str, Quantity]]:
    quantities = language.quantities
    for domain in Domain:
        for kind in ("every", "some", "no"):
            words = getattr(quantities, kind).of(domain)
            for text in (words.subject, words.object):
                yield text.lower(), Quantity(kind, domain)
        for kind, counted in (("exactly", quantities.exactly), ("at-least", quantities.at_least)):
            words = counted.of(domain)
            for number in range(1, len(language.numerals.words) + 1):
                numeral = language.numeral(number, words.gender)
                text = words.one if number == 1 else words.many.replace("{number}", numeral)
                yield text.lower(), Quantity(kind, domain, number)
