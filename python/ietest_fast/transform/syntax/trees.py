"""Sentences with their dependency trees, and the noun phrases in them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ietest_fast.lexicon.token_table import PENN, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ietest_fast.lexicon.token_table import TokenParses
    from ietest_fast.lexicon.wordnet import PartOfSpeech, WordNet


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence of a text."""

    start: int
    end: int
    """Where it stands in its text, in bytes, without white space around it."""
    words: tuple[str, ...]
    """As written."""
    spaces: tuple[str, ...]
    """What stands before each word: white space, or nothing; before the first nothing."""
    tags: tuple[str, ...]
    """Penn tags."""
    heads: tuple[int, ...]
    """The index of each word's head; a root's is its own."""
    relations: tuple[str, ...]
    """The relation of each word to its head, in Universal Dependencies."""

    def __len__(self) -> int:
        return len(self.words)

    @functools.cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in small letters."""
        return tuple(word.lower() for word in self.words)

    @functools.cached_property
    def text(self) -> str:
        """The sentence as written."""
        return self.write(range(len(self)))

    @functools.cached_property
    def roots(self) -> tuple[int, ...]:
        """Words without a head; one, unless the parse is odd."""
        return tuple(i for i, head in enumerate(self.heads) if head == i)

    @functools.cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.words]
        for i, head in enumerate(self.heads):
            if head != i:
                found[head].append(i)
        return tuple(tuple(each) for each in found)

    def children(self, word: int, *relations: str) -> tuple[int, ...]:
        """Return the dependents of a word in their order, of these relations if any are named."""
        found = self._children[word]
        if not relations:
            return found
        return tuple(each for each in found if self.relations[each] in relations)

    def subtree(self, word: int) -> list[int]:
        """Return a word and all below it, in order."""
        found, waiting = [], [word]
        while waiting:
            each = waiting.pop()
            found.append(each)
            waiting.extend(self._children[each])
        return sorted(found)

    def span(self, word: int) -> range | None:
        """Return where the subtree of a word stands; None if it is broken up."""
        found = self.subtree(word)
        return range(found[0], found[-1] + 1) if len(found) == found[-1] - found[0] + 1 else None

    def write(self, words: range) -> str:
        """Return some words in a row as written, without space before the first."""
        return "".join(
            self.words[i] if i == words.start else self.spaces[i] + self.words[i] for i in words
        )

    def write_on(self, words: range) -> str:
        """Return some words in a row as written, with the space before the first."""
        return "".join(self.spaces[i] + self.words[i] for i in words)

    def end_before(self, marks: Collection[str]) -> int:
        """Return where the last words begin that are such marks."""
        end = len(self)
        while end and self.words[end - 1] in marks:
            end -= 1
        return end


def sentences_of(data: bytes, parses: TokenParses, text: int) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    first, end = int(parses.offsets[text]), int(parses.offsets[text + 1])
    starts = parses.start[first:end].tolist()
    ends = parses.end[first:end].tolist()
    tags = [PENN[code] for code in parses.tag[first:end].tolist()]
    relations = [RELATIONS[code] for code in parses.relation[first:end].tolist()]
    heads = [i + distance for i, distance in enumerate(parses.head[first:end].tolist())]
    for begin, stop in _cut(heads):
        yield Sentence(
            start=starts[begin],
            end=ends[stop - 1],
            words=tuple(data[starts[i] : ends[i]].decode() for i in range(begin, stop)),
            spaces=tuple(
                "" if i == begin else data[ends[i - 1] : starts[i]].decode()
                for i in range(begin, stop)
            ),
            tags=tuple(tags[begin:stop]),
            heads=tuple(head - begin for head in heads[begin:stop]),
            relations=tuple(relations[begin:stop]),
        )


def _cut(heads: list[int]) -> Iterator[tuple[int, int]]:
    """Yield where sentences begin and end: between them no word hangs on one of the other side."""
    lowest = [len(heads)] * (len(heads) + 1)
    for i in range(len(heads) - 1, -1, -1):
        lowest[i] = min(lowest[i + 1], heads[i])
    begin, furthest = 0, 0
    for i, head in enumerate(heads):
        furthest = max(furthest, head)
        if furthest <= i < lowest[i + 1]:
            yield begin, i + 1
            begin = i + 1


# What transformations of syntax raise where a sentence is not surely what it looks like.


class Doubt(Exception):  # noqa: N818 - no error: the sentence stays as it is
    """A sentence, or a part of it, is not sure enough to be rewritten."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def only(found: tuple[int, ...]) -> tuple[int, ...]:
    """Return what was found if it is one word."""
    if len(found) != 1:
        raise Doubt("not the construction")
    return found


# Kinds of nouns that transformations of syntax tell apart.

PEOPLE = frozenset(
    "adult artist athlete baby biker boy bride brother chef child cop dancer daughter "  # noqa: SIM905
    "doctor driver elder fan father female firefighter friend girl grandfather "
    "grandmother groom guitarist guy husband infant jockey kid lady male man mother "
    "musician nurse officer parent people performer person player policeman runner "
    "singer sister soldier son student surfer teacher teenager toddler vendor wife "
    "woman worker".split()
)
# How far, how long, how much.
MEASURES = frozenset(
    "% afternoon cent century day decade degree dollar euro foot gallon gram hour "  # noqa: SIM905
    "inch kilogram kilometer kilometre lap lb liter litre meter metre mile minute "
    "month morning night ounce percent pound second step time ton week yard year".split()
)


def nouns_of(wordnet: WordNet, word: str) -> set[str]:
    """Return a word and the nouns that it may be a form of."""
    return {word, *wordnet.base_forms(word, "n")}


def is_one_of(nouns: frozenset[str], word: str, wordnet: WordNet) -> bool:
    """Tell whether a word may be a form of one of some nouns."""
    return not nouns.isdisjoint(nouns_of(wordnet, word))


def is_verb_form(wordnet: WordNet, word: str) -> bool:
    """Tell whether a word may be a verb with a regular ending, such as *wears* or *wearing*."""
    return word.endswith(("s", "ed", "ing")) and any(
        base != word for base in wordnet.base_forms(word, "v")
    )


# Noun phrases of a sentence: number, person, case, and whether they can be moved.

Person = Literal["i", "we", "you", "singular", "plural"]
"""What a finite verb agrees with."""

NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})

_AS_SUBJECT = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they", "it": "it"}
_AS_OBJECT = {subject.lower(): written for written, subject in _AS_SUBJECT.items()}
_PERSON_OF: dict[str, Person] = {
    "i": "i",
    "we": "we",
    "you": "you",
    "he": "singular",
    "she": "singular",
    "it": "singular",
    "they": "plural",
}
_DEFINITE = frozenset({"the", "this", "that", "these", "those"})
_OPENERS = frozenset({"WP", "WDT", "WRB", "EX", "IN", "TO"})
_SINGULAR = frozenset("a an this that one another each every".split())  # noqa: SIM905
_PLURAL = frozenset(
    "these those two three four five six seven eight nine ten eleven twelve several many few "  # noqa: SIM905
    "some".split()
)
# "A group of men is" and "are".
_COLLECTIVE = frozenset(
    "audience band bunch committee couple crew crowd dozens family group half handful hundreds "  # noqa: SIM905
    "kind loads lot lots majority millions minority number pair percent plenty police rest scores "
    "sort staff team thousands tons type variety".split()
)
# Whatever holds of all, none or few of them may not hold in another order.
QUANTIFIERS = frozenset(
    "all any anybody anyone anything both each either enough even every everybody everyone "  # noqa: SIM905
    "everything few fewer half less little many more most much neither no nobody none nothing "
    "only several somebody someone something".split()
)
OTHERS = frozenset("another else other others rest same".split())  # noqa: SIM905
_REFLEXIVE = frozenset(
    "myself yourself himself herself itself ourselves yourselves themselves oneself other another "  # noqa: SIM905
    "own".split()
)
_FUNCTION_TAGS = frozenset({"DT", "PRP$", "CD", "IN", "PDT"})
# What a noun phrase may consist of besides its head.
_INSIDE = frozenset(
    "det amod compound nummod nmod nmod:poss case conj cc advmod flat punct fixed acl:relcl acl "  # noqa: SIM905
    "goeswith".split()
)
_FREQUENT = 3  # in SemCor
_POSTMODIFIERS = frozenset({"nmod", "acl:relcl", "acl", "conj"})


@dataclass(frozen=True, kw_only=True)
class NounPhrase:
    """A noun phrase that stands in one piece."""

    span: range
    """Its words."""
    head: int
    """The noun or pronoun."""
    person: Person
    """What a verb agrees with."""
    is_pronoun: bool
    """Whether it is a personal pronoun."""
    is_definite: bool
    """Whether it is a pronoun, a name, or begins with *the* or the like."""
    is_long: bool
    """Whether something stands behind its noun."""


def read_noun_phrase(sentence: Sentence, head: int) -> NounPhrase:
    """Read the noun phrase of a word."""
    span = sentence.span(head)
    if span is None:
        raise Doubt("a noun phrase is broken up")
    if sentence.tags[head] == "PRP":
        return _read_pronoun(sentence, head, span)
    words = {sentence.lower[i] for i in span}
    if sentence.tags[head] not in NOUN_TAGS or sentence.tags[span.start] in _OPENERS:
        raise Doubt("no noun phrase")
    if not (QUANTIFIERS.isdisjoint(words) and _REFLEXIVE.isdisjoint(words)):
        raise Doubt("a quantifier may mean something else in another order")
    for i in span:
        _check_inside(sentence, head, i)
    first = sentence.lower[span.start]
    return NounPhrase(
        span=span,
        head=head,
        person=_read_number(sentence, head),
        is_pronoun=False,
        is_definite=first in _DEFINITE
        or sentence.tags[span.start] == "PRP$"
        or sentence.tags[head].startswith("NNP"),
        is_long=any(each > head for each in sentence.children(head, *_POSTMODIFIERS)),
    )


def _check_inside(sentence: Sentence, head: int, word: int) -> None:
    if sentence.heads[word] == head != word and sentence.relations[word] not in _INSIDE:
        raise Doubt(f"a noun has a {sentence.relations[word]}")
    if sentence.tags[word] in {"WP", "WDT"} and sentence.relations[word] == "root":
        raise Doubt("a question")
    # Commas belong to what would have to be moved with them.
    if sentence.relations[word] == "punct" and sentence.words[word] != "-":
        raise Doubt("a mark inside a noun phrase")


def _read_pronoun(sentence: Sentence, head: int, span: range) -> NounPhrase:
    word = sentence.lower[head]
    written = _AS_SUBJECT.get(word, word).lower()
    if len(span) != 1 or written not in _PERSON_OF:
        raise Doubt("a pronoun that is not known")
    return NounPhrase(
        span=span,
        head=head,
        person=_PERSON_OF[written],
        is_pronoun=True,
        is_definite=True,
        is_long=False,
    )


def _read_number(sentence: Sentence, head: int) -> Person:
    """Tell singular from plural where tag and determiner agree and usage does not vary."""
    word, tag = sentence.lower[head], sentence.tags[head]
    coordinated = sentence.children(head, "conj")
    if coordinated:
        joined = {
            sentence.lower[each] for conj in coordinated for each in sentence.children(conj, "cc")
        }
        if joined != {"and"} or any(sentence.tags[conj] not in NOUN_TAGS for conj in coordinated):
            raise Doubt("a coordination whose number is not sure")
        return "plural"
    if word.endswith("ics") or word == "news":
        raise Doubt("a noun whose number is not sure")
    determiners = {sentence.lower[i] for i in sentence.children(head, "det", "nummod")}
    if tag in {"NNS", "NNPS"}:
        is_sure = determiners.isdisjoint(_SINGULAR)
    else:
        ends_in_s = word.endswith("s") and not word.endswith(("ss", "us", "is"))
        is_odd = ends_in_s and tag == "NN" and determiners.isdisjoint(_SINGULAR)
        is_sure = determiners.isdisjoint(_PLURAL) and not is_odd
    if not is_sure or word in _COLLECTIVE:
        raise Doubt("a noun whose number is not sure")
    return "plural" if tag in {"NNS", "NNPS"} else "singular"


def write_noun_phrase(sentence: Sentence, phrase: NounPhrase, case: str, wordnet: WordNet) -> str:
    """Return a noun phrase as it stands within a sentence, as ``"subject"`` or ``"object"``."""
    text = sentence.write(phrase.span)
    if phrase.is_pronoun:
        forms = _AS_SUBJECT if case == "subject" else _AS_OBJECT
        word = text.lower()
        return forms.get(word, "I" if word == "i" else word)
    return uncapitalise(sentence, text, wordnet) if phrase.span.start == 0 else text


def uncapitalise(sentence: Sentence, text: str, wordnet: WordNet) -> str:
    """Return a text that stands at the begin of a sentence with the first letter made small."""
    first = sentence.words[0]
    is_name = sentence.tags[0] in {"NNP", "NNPS"}
    is_alone = not any(tag.startswith("NNP") for tag in sentence.tags[1:2])
    if is_name and is_alone and _is_usual(first.lower(), wordnet):
        raise Doubt("a name that is a usual noun, too")  # "Tea", "Radio"
    # "Grant's caddy": a noun without an article
    is_name |= sentence.tags[0] == "NN" and len(sentence) > 1 and sentence.tags[1] == "POS"
    if is_name or first == "I" or first[1:] != first[1:].lower():
        return text
    # "Legal Aid", "News Quiz": the first word of a name, or one before it?
    is_before_name = (
        len(sentence) > 1 and sentence.words[1][0].isupper() and sentence.tags[1] in NOUN_TAGS
    )
    if is_before_name and sentence.tags[0] not in _FUNCTION_TAGS:
        raise Doubt("a capital that may be that of a name")
    is_known = sentence.tags[0] in _FUNCTION_TAGS or is_common(first.lower(), wordnet)
    return text[0].lower() + text[1:] if is_known else text


def _is_usual(word: str, wordnet: WordNet) -> bool:
    """Tell whether a word is a frequent noun that is never written with a capital."""
    senses = wordnet.senses(word, "n")
    is_name = any(word.capitalize() in sense.lemmas for sense in senses)
    return not is_name and sum(sense.count for sense in senses) >= _FREQUENT


def is_common(word: str, wordnet: WordNet) -> bool:
    """Tell whether a word, or a base form of it, is written with a small letter in WordNet."""
    parts: tuple[PartOfSpeech, ...] = ("n", "a", "v", "r")
    for part in parts:
        for base in {word, *wordnet.base_forms(word, part)}:
            if any(base in sense.lemmas for sense in wordnet.senses(base, part)):
                return True
    return False
