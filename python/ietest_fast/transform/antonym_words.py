"""The packaged pairs of antonyms in all their forms, and beside what each is replaced."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from ietest_fast.lexicon.inflection import Plurals
from ietest_fast.lexicon.packaged import RESOURCES, check_packaged

if TYPE_CHECKING:
    from ietest_fast.lexicon import TaggedWords, WordNet

_PAIRS = RESOURCES / "reviewed" / "antonyms.tsv"

# Adjectives whose degrees are other words.
_IRREGULAR = {
    "good": {"er": "better", "est": "best"},
    "bad": {"er": "worse", "est": "worst"},
    "far": {"er": "farther", "est": "farthest"},
    "little": {"er": "less", "est": "least"},
}


def with_degree(adjective: str, ending: str) -> str | None:
    """Return the comparative (``er``) or superlative (``est``) of a short adjective.

    The adjective itself for no ending; None for one that is compared with "more".
    """
    if not ending:
        return adjective
    if adjective in _IRREGULAR:
        return _IRREGULAR[adjective][ending]
    n_syllables = len(re.findall(r"[aeiouy]+", re.sub(r"e$", "", adjective)))
    if n_syllables > (2 if adjective.endswith(("y", "le", "ow")) else 1):
        return None
    stem = adjective
    if adjective.endswith("e"):
        stem = adjective[:-1]
    elif re.search(r"[^aeiou]y$", adjective):
        stem = f"{adjective[:-1]}i"
    elif re.search(r"(?:^|[^aeiou])[aeiou][bdgmnprt]$", adjective):
        stem = adjective + adjective[-1]
    return stem + ending


SEXED = frozenset(
    "man woman boy girl mother father son daughter husband wife brother sister nephew "  # noqa: SIM905
    "niece uncle aunt grandmother grandfather grandson granddaughter male female waiter "
    "waitress".split()
)
"""Nouns that name people by their sex."""

# What is used, where the lexicon also has another plural (brethren).
_PLURALS = {"brother": "brothers"}
# At the end of what a form of "be" says.
_SAID_OF_IT = "prev=AUX;next=END|PUNCT|CCONJ|ADP"
# In captions also before a noun.
_ADJECTIVE_PLACES = ("next=NOUN|ADJ", _SAID_OF_IT)

# Elsewhere only what excludes its opposite when a form of "be" says it of the same thing, and goes
# with the same nouns: who is not honest on one day may be so on another.
_SAID_OF_THINGS = frozenset(
    "acceptable accurate adequate ancient appropriate attractive available bad beautiful "  # noqa: SIM905
    "big boring cheap clean comfortable compulsory convenient correct difficult dirty dry "
    "easy effective efficient empty expensive false familiar friendly full good healthy "
    "helpful illegal important inaccurate inadequate inappropriate incorrect ineffective "
    "inefficient inconvenient insignificant interesting invisible irrelevant large legal "
    "modern narrow necessary new nasty popular permanent reasonable relevant reliable "
    "rural shallow significant slow small successful temporary true ugly unacceptable "
    "unattractive unavailable uncomfortable unfamiliar unfriendly unhealthy unhelpful "
    "unimportant unnecessary unpopular unreasonable unreliable unsuccessful urban useful "
    "useless visible voluntary wet wide worse better".split()
)
_SAID_OF_PEOPLE = frozenset(
    "alive armed asleep attractive awake beautiful brave cowardly dead drunk eligible "  # noqa: SIM905
    "familiar friendly happy healthy helpful important ineligible intelligent married "
    "polite popular rude stupid successful tall unarmed unattractive unfamiliar "
    "unfriendly unhappy unhealthy unhelpful unimportant unmarried unpopular unsuccessful "
    "weak strong".split()
)
# "It is a bad idea"
_SAID_WITH_NOUN = frozenset(
    "ancient bad beautiful big boring cheap dangerous difficult easy expensive friendly "  # noqa: SIM905
    "good healthy illegal important interesting large legal modern permanent popular "
    "rural safe slow small successful temporary ugly unfriendly unhealthy unimportant "
    "unpopular unsuccessful urban useful useless weak strong".split()
)
_NO_NOUNS = "deal|bit|number|part|portion|amount|way|chance|thing|while|lot|world|enough|one|ones"
# There is one of it.
_SUPERLATIVES = frozenset(
    "best worst oldest youngest largest smallest highest lowest tallest shortest biggest".split()  # noqa: SIM905
)
_DEGREES = "very|really|extremely"
# ... of things with the preposition that both words go with.
_TAILS = "END|PUNCT|for|to|in|among|amongst"
_BEFORE_END = frozenset({"empty", "false", "full", "true", "armed", "unarmed"})
# Of whom there is hardly another one that the sentence could be about; a king has a queen.
_SUBJECTS = frozenset({"man", "woman", "boy", "girl"})
_KNOWN = "prev=the|this|that;prev2=END;next!='s|'|ADP|NOUN|who|whom|that|which"
# What somebody or something is said to be.
_SAID_TO_BE = "prev=a|an;prev2=AUX;next=END|PUNCT|ADP"
_CALLED = frozenset(
    "man woman boy girl success failure victory defeat advantage disadvantage strength "  # noqa: SIM905
    "weakness winner loser friend enemy".split()
)


def antonym_words(wordnet: WordNet, *, are_captions: bool = True) -> TaggedWords:
    """Return the packaged pairs of antonyms in all their forms."""
    from ietest_fast.lexicon import TaggedWord, TaggedWords
    from ietest_fast.lexicon.reviewed import phrases_with

    plurals = Plurals(wordnet)
    entries: list[TaggedWord] = []
    forms: dict[str, set[str]] = {}
    for pair in read_pairs():
        found: list[tuple[str, int, str]] = []
        if pair.pos == "NOUN":
            plural = _PLURALS.get(pair.antonym) or plurals.plural(pair.antonym)
            found = [(pair.word, 1, pair.antonym)]
            found += [(form, 2, plural) for form in plurals.forms(pair.word) if form != pair.word]
        else:
            for ending in ("", "er", "est"):
                form, opposite = with_degree(pair.word, ending), with_degree(pair.antonym, ending)
                if form is not None and opposite is not None:
                    found.append((form, 0, opposite))
        places = _places(pair, are_captions=are_captions)
        if not are_captions:  # several may be the one and the other
            found = [each for each in found if each[1] != 2]
        entries += [
            TaggedWord(form, pair.pos, number, new, when, f"{pair.word}/{pair.pos}", "reviewed")
            for form, number, new in found
            for when in places
        ]
        forms.setdefault(pair.word, set()).update(form for form, _, _ in found)
    return TaggedWords(entries=tuple(entries), phrases=phrases_with(forms, wordnet))


def _places(pair: AntonymPair, *, are_captions: bool) -> tuple[str, ...]:
    """Return beside what a pair's words are replaced."""
    if are_captions:
        return (pair.when,) if pair.when or pair.pos == "NOUN" else _ADJECTIVE_PLACES
    return _places_elsewhere(pair)


def _places_elsewhere(pair: AntonymPair) -> tuple[str, ...]:
    if pair.pos == "NOUN":
        nouns = ((_KNOWN, _SUBJECTS), (_SAID_TO_BE, _CALLED))
        return tuple(place for place, words in nouns if pair.word in words)
    # What is dead is called alive, but not living, behind a verb.
    if pair.antonym == "living":
        return ()
    if pair.word in _SUPERLATIVES:
        return ("prev=the;prev2=AUX;next=NOUN",)
    if pair.word in {"better", "worse"}:
        return ("prev=AUX;next=than",)
    places: tuple[str, ...] = ()
    if pair.word in _SAID_OF_THINGS | _SAID_OF_PEOPLE:
        tails = "END|PUNCT" if pair.word in _BEFORE_END else _TAILS
        places = (f"prev=AUX;next={tails}", f"prev={_DEGREES};prev2=AUX;next={tails}")
    if pair.word in _SAID_WITH_NOUN:
        behind = f"next=NOUN;next!={_NO_NOUNS};next2={_TAILS}"
        places += (f"prev=a|an;prev2=AUX;{behind}", f"prev={_DEGREES};prev2=a;{behind}")
    return places


def is_said_of_people(adjective: str) -> bool:
    """Say whether an adjective and its opposite mean of people what they mean of things."""
    return adjective in _SAID_OF_PEOPLE


def is_said_of_things(adjective: str) -> bool:
    """Say whether an adjective and its opposite exclude each other of one thing."""
    return adjective in _SAID_OF_THINGS


class AntonymPair(NamedTuple):
    """A word, its antonym, and beside what (:func:`read_conditions`); of one part of speech."""

    word: str
    pos: str
    antonym: str
    when: str


@functools.cache
def read_pairs() -> tuple[AntonymPair, ...]:
    """Read the packaged pairs of antonyms."""
    check_packaged(_PAIRS.parent)
    _, *lines = _PAIRS.read_text("utf-8").splitlines()
    return tuple(AntonymPair(*line.split("\t")) for line in lines)
