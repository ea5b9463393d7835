"""Sentences in the words of a language, with places for names and verbs.

A text is made once for each shape. Its verbs are in a form, without words yet: these depend on the
wording, and may agree with the gender of somebody who has a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ietest_fast.templates.clauses import (
    Clause,
    Compound,
    Described,
    Named,
    Predicate,
    Quantity,
    to_sentence,
)
from ietest_fast.templates.formulas import Domain, Sort
from ietest_fast.templates.language import Agreeing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ietest_fast.templates.clauses import Nominal, Sentence
    from ietest_fast.templates.formulas import Constant, Formula
    from ietest_fast.templates.language import CountWords, Gender, Language, Verbs


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a name."""

    constant: Constant


@dataclass(frozen=True, slots=True)
class VerbForm:
    """The place of a verb.

    Parameters
    ----------
    verb
        One of those of :class:`ietest_fast.templates.clauses.Predicate`.
    plural, positive
        Its form.
    gender
        With which it agrees; None: feminine if all of `people` are women, else masculine.
    people
        Of the subject; only where `gender` is None.
    """

    verb: str
    plural: bool
    positive: bool
    gender: Gender | None = None
    people: tuple[Constant, ...] = ()

    def words(self, verbs: Verbs) -> Agreeing:
        """Return its words in one wording, for men and for women."""
        words = verbs.of(self.verb).words(plural=self.plural, positive=self.positive)
        if self.gender is None:
            return words
        return Agreeing(masculine=words.of(self.gender), feminine=words.of(self.gender))


Piece = str | Slot | VerbForm

MASK = "[MASK]"
"""What stands in the place of a masked word."""


def word_premises(formulas: Sequence[Formula], language: Language) -> tuple[Piece, ...]:
    """Return the text of premises, one sentence behind the other.

    Raises
    ------
    InputError
        If there are no words for one of them.
    """
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


def mask(pieces: Sequence[Piece], words: Sequence[str]) -> tuple[tuple[Piece, ...], str] | None:
    """Return a text in which one word is masked, and that word.

    Parameters
    ----------
    pieces
        From :func:`word_hypothesis`.
    words
        What may stand there; the first of them that does is masked, where it stands first.

    Returns
    -------
    tuple or None
        None if none of the words is there.
    """
    for word in words:
        for place, piece in enumerate(pieces):
            found = _find_word(word, piece) if isinstance(piece, str) else None
            if found is not None:
                masked = f"{found.string[: found.start()]}{MASK}{found.string[found.end() :]}"
                return (*pieces[:place], masked, *pieces[place + 1 :]), word
    return None


def masked_words(what: str, formula: Formula, language: Language) -> tuple[str, ...]:
    """Return the words of a language that a mask stands for.

    Parameters
    ----------
    what
        One of :data:`ietest_fast.templates.template.MASKS`.
    formula
        That the text says.
    language
        Its words.

    Returns
    -------
    tuple of str
        The first that the text has is meant. None if that cannot be told: *every person and every
        place* has two words for *every*, and an *and* that joins no sentences.
    """
    quantities = _quantities(to_sentence(formula))
    own = [(each, _words_of(each, language)) for each in quantities]
    if what == "number":
        return tuple(
            numeral
            for each, _ in own
            if each.kind in {"exactly", "at-least"}
            for numeral in [language.numeral(each.number, _counted(each, language).gender)]
        )
    if what in {"every", "some"}:
        meant = [(each, texts) for each, texts in own if each.kind == what]
        if any(each.domain is Domain.BOTH for each, _ in meant):
            return ()
        return tuple(text for _, texts in meant for text in texts)
    word = language.connectives.of(what).replace("{0}", "").replace("{1}", "").strip()
    is_elsewhere = any(_find_word(word, text) for _, texts in own for text in texts)
    return () if is_elsewhere else (word,)


def _quantities(part: Sentence | Nominal | Predicate) -> list[Quantity]:
    """Return the quantities of a sentence, in their order."""
    match part:
        case Quantity():
            return [part]
        case Named():
            return []
        case Described(predicate=predicate):
            return _quantities(predicate)
        case Predicate(objects=objects):
            return [own for each in objects for own in _quantities(each)]
        case Clause(subjects, predicate):
            return [own for each in (*subjects, predicate) for own in _quantities(each)]
        case Compound(parts=parts):
            return [own for each in parts for own in _quantities(each)]
        case _:
            assert_never(part)


def _counted(quantity: Quantity, language: Language) -> CountWords:
    quantities = language.quantities
    counted = quantities.exactly if quantity.kind == "exactly" else quantities.at_least
    return counted.of(quantity.domain)


def _words_of(quantity: Quantity, language: Language) -> tuple[str, ...]:
    """Return the texts that a quantity has, as subject and as object."""
    if quantity.kind in {"exactly", "at-least"}:
        counted = _counted(quantity, language)
        return (counted.one, counted.many)
    words = getattr(language.quantities, quantity.kind).of(quantity.domain)
    return (words.subject, words.object)


def _find_word(word: str, text: str) -> re.Match[str] | None:
    pattern = rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return re.search(pattern, text, re.IGNORECASE)


def _sentence(sentence: Sentence, language: Language) -> list[Piece]:
    if isinstance(sentence, Clause):
        return _clause(sentence, language)
    parts = [_sentence(part, language) for part in sentence.parts]
    joined = parts[0]
    if len(parts) == 1:
        return _put(language.connectives.of(sentence.connective), [joined])
    for part in parts[1:]:
        joined = _put(language.connectives.of(sentence.connective), [joined, part])
    return joined


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
            counted = _counted(nominal, language)
            numeral = language.numeral(number, counted.gender)
            pattern = counted.one if number == 1 else counted.many
            return [pattern.replace("{number}", numeral)], number != 1, counted.gender
        case Quantity(kind, domain):
            words = getattr(language.quantities, kind).of(domain)
            return [words.subject], words.number == "plural", words.gender
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
        _put(person, [words]) if _may_be_person(each) else words
        for each, (words, _) in zip(predicate.objects, objects, strict=True)
    ]
    return [
        VerbForm(predicate.verb, plural, is_positive, gender, () if gender else people),
        " ",
        *_join(said, language),
    ]


def _may_be_person(nominal: Nominal) -> bool:
    if isinstance(nominal, Named):
        return nominal.constant.sort is Sort.PERSON
    return Sort.PERSON in nominal.domain.sorts


def _object(nominal: Nominal, language: Language, is_described: bool) -> tuple[list[Piece], bool]:
    """Return the words of an object, and whether the verb before it is negated."""
    if isinstance(nominal, Quantity) and nominal.kind in {"every", "some", "no"}:
        words = getattr(language.quantities, nominal.kind).of(nominal.domain)
        text = words.described if is_described and words.described else words.object
        return [text], words.negates
    words, _, _ = _subject(nominal, language)
    return words, False


def _join(parts: Sequence[list[Piece]], language: Language) -> list[Piece]:
    pieces = list(parts[0])
    for place, part in enumerate(parts[1:], start=2):
        pieces.append(language.lists.last if place == len(parts) else language.lists.between)
        pieces += part
    return pieces


def _put(pattern: str, parts: Sequence[list[Piece]]) -> list[Piece]:
    """Put parts in the places ``{0}`` and ``{1}`` of a pattern."""
    pieces: list[Piece] = [pattern]
    for number, part in enumerate(parts):
        mark = f"{{{number}}}"
        at = next(i for i, own in enumerate(pieces) if isinstance(own, str) and mark in own)
        before, _, behind = str(pieces[at]).partition(mark)
        pieces[at : at + 1] = [before, *part, behind]
    return pieces


def _capitalise(pieces: list[Piece]) -> list[Piece]:
    place = next((place for place, piece in enumerate(pieces) if piece != ""), 0)
    first = pieces[place]
    if not isinstance(first, str):
        return pieces
    return [first[:1].upper() + first[1:], *pieces[place + 1 :]]


def merge(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Join texts that stand beside each other."""
    merged: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    return tuple(merged)
