"""Sentences in the words of a language, with places for names and verbs.

A text is made once for each shape. Its verbs are in a form, without words yet: these depend on the
wording, and may agree with the gender of somebody who has a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.clauses import (
    Clause,
    Described,
    Named,
    Quantity,
    sorts_of,
    to_sentence,
)
from ietest_fast.templates.formulas import Domain, Sort
from ietest_fast.templates.language import Agreeing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ietest_fast.templates.clauses import Nominal, Predicate, Sentence
    from ietest_fast.templates.formulas import Constant, Formula
    from ietest_fast.templates.language import Gender, Language, Verbs


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a name."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class VerbForm:
    """The place of a verb."""

    verb: str
    """One of those of :class:`ietest_fast.templates.clauses.Predicate`."""
    plural: bool
    positive: bool
    """Its form."""
    gender: Gender | None = None
    """With which it agrees; None: feminine if all of `people` are women, else masculine."""
    people: tuple[Constant, ...] = ()
    """Of the subject; only where `gender` is None."""

    def words(self, verbs: Verbs) -> Agreeing:
        """Return its words in one wording, for men and for women."""
        words = verbs.of(self.verb).words(plural=self.plural, positive=self.positive)
        if self.gender is None:
            return words
        return Agreeing(masculine=words.of(self.gender), feminine=words.of(self.gender))


@dataclass(frozen=True, slots=True)
class Word:
    """A word that can be masked."""

    text: str
    """As it stands there."""
    what: str
    """One of :data:`ietest_fast.templates.template.MASKS`."""
    answer: str
    """The word as it stands within a sentence."""


Piece = str | Slot | VerbForm | Word

MASK = "[MASK]"
"""What stands in the place of a masked word."""


def word_premises(formulas: Sequence[Formula], language: Language) -> tuple[Piece, ...]:
    """Return the text of premises, one sentence behind the other."""
    pieces: list[Piece] = []
    for formula in formulas:
        sentence = _sentence(to_sentence(formula), language)
        if pieces:
            pieces.append(language.lists.sentences)
        has_capital = not pieces or language.lists.sentences.strip() in {".", "!"}
        pieces += _capitalise(sentence) if has_capital else sentence
    return merge(pieces)


def word_hypothesis(formula: Formula, language: Language) -> tuple[Piece, ...]:
    """Return the text of a hypothesis."""
    return word_premises([formula], language)


def mask(pieces: Sequence[Piece], what: str) -> tuple[tuple[Piece, ...], str] | None:
    """Return a text in which one word is masked, and that word."""
    for place, piece in enumerate(pieces):
        if isinstance(piece, Word) and piece.what == what:
            return merge([*pieces[:place], MASK, *pieces[place + 1 :]]), piece.answer
    return None


def _sentence(sentence: Sentence, language: Language) -> list[Piece]:
    if isinstance(sentence, Clause):
        return _clause(sentence, language)
    parts = [_sentence(part, language) for part in sentence.parts]
    pattern: list[Piece] = [language.connectives.of(sentence.connective)]
    if sentence.connective in {"and", "or"}:
        pattern = _mark_connective(str(pattern[0]), sentence.connective)
    if len(parts) == 1:
        return _put(pattern, [parts[0]])
    # As if the first two were joined, then these and the third, and so on.
    around = _put(pattern, [["\0"], ["\0"]])
    first, second = (place for place, piece in enumerate(around) if piece == "\0")
    joined = [*around[:first] * (len(parts) - 1), *parts[0]]
    for part in parts[1:]:
        joined += [*around[first + 1 : second], *part, *around[second + 1 :]]
    return joined


def _mark_connective(pattern: str, what: str) -> list[Piece]:
    return _mark(pattern, re.sub(r"\{\d\}", "", pattern).strip(), what)


def _mark(text: str, word: str, what: str) -> list[Piece]:
    """Return a text in pieces, one of which is a word that can be masked, if it stands there."""
    found = re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", text)
    if not word or found is None:
        return [text]
    return [text[: found.start()], Word(word, what, word), text[found.end() :]]


def _clause(clause: Clause, language: Language) -> list[Piece]:
    subjects = [_subject(each, language) for each in clause.subjects]
    return [
        *_join([words for words, _, _ in subjects], language),
        " ",
        *_predicate(clause, language),
    ]


def _subject(nominal: Nominal, language: Language) -> tuple[list[Piece], bool, Gender | None]:
    """Return the words of a subject, whether it is plural, and its gender; None: that of a name."""
    match nominal:
        case Named(constant):
            return [Slot(constant)], False, None
        case Quantity("exactly" | "at-least", number=number):
            counted = (
                language.quantities.exactly
                if nominal.kind == "exactly"
                else language.quantities.at_least
            ).of(nominal.domain)
            numeral = language.numeral(number, counted.gender)
            if number == 1:
                return _mark(counted.one, numeral, "number"), False, counted.gender
            before, _, behind = counted.many.partition("{number}")
            return [before, Word(numeral, "number", numeral), behind], True, counted.gender
        case Quantity(kind, domain):
            words = getattr(language.quantities, kind).of(domain)
            said = _quantity(words.subject, nominal)
            return [said], words.number == "plural", words.gender
        case Described(domain, predicate):
            described = language.described.of(domain)
            inner = _say(
                predicate,
                language,
                plural=False,
                gender=described.gender,
                people=(),
                is_described=True,
            )
            before, _, behind = described.text.partition("{predicate}")
            return [before, *inner, behind], False, described.gender
        case _:
            assert_never(nominal)


def _quantity(text: str, quantity: Quantity) -> Piece:
    can_be_masked = quantity.kind in {"every", "some"} and quantity.domain is not Domain.BOTH
    return Word(text, quantity.kind, text) if can_be_masked else text


def _predicate(clause: Clause, language: Language) -> list[Piece]:
    subjects = [_subject(each, language) for each in clause.subjects]
    plural = len(subjects) > 1 or subjects[0][1]
    genders = {gender for _, _, gender in subjects}
    people = tuple(
        each.constant
        for each in clause.subjects
        if isinstance(each, Named) and each.constant.sort is Sort.PERSON
    )
    gender: Gender | None = None if people else (genders - {None} or {"masculine"}).pop()
    return _say(clause.predicate, language, plural=plural, gender=gender, people=people)


def _say(
    predicate: Predicate,
    language: Language,
    *,
    plural: bool,
    gender: Gender | None,
    people: tuple[Constant, ...],
    is_described: bool = False,
) -> list[Piece]:
    """Return verb and objects."""
    person = language.verbs.of(predicate.verb).person
    objects = [_object(each, language, is_described) for each in predicate.objects]
    is_positive = predicate.positive and not any(negates for _, negates in objects)
    said = [
        _put([person], [words]) if Sort.PERSON in sorts_of(each) else words
        for each, (words, _) in zip(predicate.objects, objects, strict=True)
    ]
    return [
        VerbForm(predicate.verb, plural, is_positive, gender, () if gender else people),
        " ",
        *_join(said, language),
    ]


def _object(nominal: Nominal, language: Language, is_described: bool) -> tuple[list[Piece], bool]:
    """Return the words of an object, and whether the verb before it is negated."""
    if isinstance(nominal, Quantity) and nominal.kind in {"every", "some", "no"}:
        words = getattr(language.quantities, nominal.kind).of(nominal.domain)
        text = words.described if is_described and words.described else words.object
        return [_quantity(text, nominal)], words.negates
    words, _, _ = _subject(nominal, language)
    return words, False


def _join(parts: Sequence[list[Piece]], language: Language) -> list[Piece]:
    pieces = list(parts[0])
    for place, part in enumerate(parts[1:], start=2):
        is_last = place == len(parts)
        pieces += (
            _mark_connective(language.lists.last, "and") if is_last else [language.lists.between]
        )
        pieces += part
    return pieces


def _put(pattern: Sequence[Piece], parts: Sequence[list[Piece]]) -> list[Piece]:
    """Put parts in the places ``{0}`` and ``{1}`` of a pattern."""
    pieces = list(pattern)
    for number, part in enumerate(parts):
        mark = f"{{{number}}}"
        at = next(i for i, own in enumerate(pieces) if isinstance(own, str) and mark in own)
        before, _, behind = str(pieces[at]).partition(mark)
        pieces[at : at + 1] = [before, *part, behind]
    return pieces


def _capitalise(pieces: list[Piece]) -> list[Piece]:
    place = next((place for place, piece in enumerate(pieces) if piece != ""), 0)
    first = pieces[place]
    if isinstance(first, Word):
        first = replace(first, text=_with_capital(first.text))
    elif isinstance(first, str):
        first = _with_capital(first)
    return [first, *pieces[place + 1 :]]


def _with_capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def merge(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Join texts that stand beside each other."""
    merged: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    return tuple(merged)
