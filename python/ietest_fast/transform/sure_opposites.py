"""Where the opposite of a word surely makes a sentence false: what stands around the word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ietest_fast.transform.antonym_words import SEXED, is_said_of_people, is_said_of_things
from ietest_fast.transform.noun_kinds import PEOPLE, nouns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.lexicon.wordnet import WordNet

_PERSON = (
    "(?:man|woman|men|women|boys?|girls?|males?|females?|ladies|lady|mothers?|fathers?|sons?|"
    "daughters?|husbands?|wife|wives|brothers?|sisters?|uncles?|aunts?)"
)
# "There is a man" and "There is a woman" may be true of one scene.
_EXISTS = re.compile(r"^\W*there(?:\s+(?:is|are|was|were)\b|'s\b)", re.IGNORECASE)
# "A young women", "with a hat a is": mistakes are not corrected here.
_MISMATCHED = re.compile(
    r"\ban? (?:(?!(?:of|with|and|to|for|in|on|at|by|as|from|is|are)\b)[a-z-]+ ){0,3}"
    r"(?:men|women|boys|girls|children|people)\b|"
    r"\b(?:an?|the) (?:an?|the|you|is|are|was|and|of|to|with)\b|"
    r"\b(?:in|on|at|of|to|with) (?:and|is|are)\b|\ba (?!one|once)[aio][a-z]+|"
    r"\b(?:two|three|four|five|six|\d+) (?:[a-z-]+ )?(?:man|woman|boy|girl|child|person)\b|"
    r"\b(?:two|three|four|five|six|\d+) (?:[a-z-]+ )?(?:men|women|boys|girls) [a-z]+[^s\W]s\b|"
    r"^(?:[a-z]+ ){0,2}(?:men|women|boys|girls|people) (?:is|was|has|walks|runs|sits|stands)\b|"
    r"\b(?:an?|the|and|of)\W*$",
    re.IGNORECASE,
)
# What there is outside only.
_OUTSIDE = re.compile(
    r"\b(?:outsides?|outdoors|streets?|roads?|mountains?|hills?|beach|park|sky|sun|sunny|trees?|grass|"
    r"grassy|fields?|snow|rain|lakes?|rivers?|ocean|city|garden|sidewalk|sunset|dusk|day)\b",
    re.IGNORECASE,
)
# What shows which sex somebody has.
_SHOWN = re.compile(
    r"\b(?:beard(?:ed|s)?|goatee|m(?:o)?ustached?|pregnant|masculine|feminine|second|third|fourth|"
    r"fifth|sixth|last|the one)\b",
    re.IGNORECASE,
)
# "The woman is her aunt": the one word decides the other.
_EQUATED = re.compile(
    rf"\b{_PERSON}\b.*\b(?:is|are|was|were)\s+(?:an?|the|his|her|their|[\w' ]+'s)\s+"
    rf"(?:\w+\s+){{0,2}}{_PERSON}\b|\b{_PERSON}'s\s+{_PERSON}\b",
    re.IGNORECASE,
)
# "The man is young": so little is said that there may be a woman as well.
_SHORT = re.compile(r"^\W*(?:the|this|that|these|those)(?:\s+\w+){1,3}\W*$", re.IGNORECASE)
_LONE_PEOPLE = SEXED | {"men", "women", "boys", "girls", "males", "females"}
# What somebody else may have, wear or be at the same time: "the man has a phone".
_HAVE = frozenset({"has", "have", "had"})
_STATES = _HAVE | frozenset(
    "having wears wear wore wearing owns own owned stands stand stood standing sits sit sat "  # noqa: SIM905
    "sitting lies lie lay lying laying lives live lived stays stay stayed".split()
)
_STATE = re.compile(
    rf"\b(?:{'|'.join(sorted(_STATES))})\b|"
    r"(?:\b(?:is|are|was|were)|'s)\s+(?!(?:[a-z]+ly\s+)?[a-z]+ing\b)",
    re.IGNORECASE,
)
_PRESENCE = re.compile(
    r"^\s+(?:is|are|was|were)\s+(?:(?:in|out)(?:side|doors)|here|there|home|near|nearby|next|in|at|"
    r"on|by|with|under|behind|beside|among)\b",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"\b(?!(?:building|morning|evening|clothing|wedding|painting|ceiling|railing|crossing|meeting|"
    r"spring|string|nothing|something)\b)[a-z]{3,}ing\b"
    r"(?! (?:area|board|center|house|lot|mall|park|pool|ring|rink|room|shop|site|store)s?\b)",
    re.IGNORECASE,
)


def fits_caption(text: str, word: str) -> bool:
    """Say whether a caption with the opposite of a word is English, and about the same scene."""
    if _EXISTS.search(text) or _MISMATCHED.search(text):
        return False
    if word.lower() in {"outdoor", "indoor"} and _OUTSIDE.search(text):
        return False
    if word.lower() not in _LONE_PEOPLE:
        return True
    is_open = any(found.search(text) for found in (_SHOWN, _EQUATED, _SHORT))
    return not is_open and not _holds_of_several(text, word)


def _holds_of_several(text: str, word: str) -> bool:
    """Say whether a text says of somebody only what somebody else may be, have or wear as well.

    "The man has a phone" and "the woman has a phone" may be about two people in one scene, and "a
    man is outside" says no more than that there is one.
    """
    found = re.search(rf"(\bthe\s+(?:[a-z'-]+\s+){{0,2}})?\b{word}\b", text, re.IGNORECASE)
    if found is None:
        return False
    rest = text[found.end() :]
    if found[1] is not None and _STATE.search(rest):
        return True
    return _PRESENCE.search(rest) is not None and not _DOING.search(rest)


_DEFINITE = frozenset(
    "the this that these those it he she they i we you my our your his her its their".split()  # noqa: SIM905
)
_BE = frozenset("is are was were am 's 're 'm been".split())  # noqa: SIM905
# The last word before the verb, of what may be a person or an animal.
_SOMEBODY = PEOPLE | frozenset(
    "animal brother cat child cow dog girl horse husband king lion mother puppy queen "  # noqa: SIM905
    "sister".split()
)
_PRONOUNS = frozenset({"he", "she", "they", "i", "we", "you"})
# Contrast and exception; other clauses; what is doubted, or said by somebody.
_CLAUSES = frozenset(
    "but although though except yet however despite whereas while unlike instead rather "  # noqa: SIM905
    "besides as when where who whom whose which what whatever because since until before "
    "after once there only also likely perhaps maybe probably possibly apparently "
    "seemingly supposedly supposed expected guaranteed due owing thanks opinion opinions "
    "view mind me us uh um well yeah oh okay hey".split()
)
# Part of a group, of the time or of a degree.
_SHARES = frozenset(
    "even just always often sometimes usually generally typically mostly mainly largely "  # noqa: SIM905
    "partly once almost nearly hardly barely either each every all any both half percent "
    "part parts one much more less so too enough such same still anyway ever today now".split()
)
# What several may say and think.
_SAYING = frozenset(
    "say says said state states stated think thinks thought believe believes believed "  # noqa: SIM905
    "claim claims claimed know knows knew tell tells told feel feels felt agree agrees "
    "agreed like likes liked want wants wanted love loves loved hate hates hated need "
    "needs needed".split()
)
_TENSES = frozenset({"AUX", "VERB"})
_JOINING = frozenset({"CCONJ", "SCONJ", "INTJ", "SYM", "X"})
_MARKS = frozenset({".", "!"})


def says_one_thing(words: Sequence[str], tags: Sequence[str], at: int, wordnet: WordNet) -> bool:
    """Say whether a text is one plain sentence, of which the word at a place is the point.

    It has one finite verb and no other clause, no contrast, exception, list or share, nobody's
    opinion, and is about somebody or something known.
    """
    last = len(words) - 1
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        is_odd = tag in _JOINING or (tag == "PUNCT" and not (i == last and word in _MARKS))
        if is_odd or word in _CLAUSES or not word.isascii():
            return False
    if tags[at] == "NOUN" and at == 1:
        text = " ".join(words)
        is_open = not _SAYING.isdisjoint(words) or _SHOWN.search(text) or _SHORT.search(text)
        return not is_open and _has_one_verb(words, tags)
    is_known = words[0] in _DEFINITE or (tags[0] == "PROPN" and not words[0].endswith("ing"))
    is_partial = "NUM" in tags or not _SHARES.isdisjoint(words)
    return is_known and not is_partial and _is_said(words, tags, at, wordnet)


def _has_one_verb(words: Sequence[str], tags: Sequence[str]) -> bool:
    """Say whether a subject, the second word, does one thing: one verb besides infinitives.

    Not where the subject is, has or wears something, or an adjective describes it: this may be true
    of others as well.
    """
    verbs = [i for i, tag in enumerate(tags) if tag == "VERB" and words[i - 1] != "to"]
    helpers = [i for i, tag in enumerate(tags) if tag == "AUX"]
    if any(words[i] not in _BE | _HAVE for i in helpers) or tags[2] not in {*_TENSES, "ADV"}:
        return False
    if len(verbs) != 1 or words[verbs[0]] in _STATES:
        return False
    behind = tags[verbs[0] + 1] if verbs[0] + 1 < len(tags) else "PUNCT"
    return behind != "ADJ" and all(i < verbs[0] for i in helpers)


def _is_said(words: Sequence[str], tags: Sequence[str], at: int, wordnet: WordNet) -> bool:
    """Say whether a form of "be", the only verb, says it of the subject before it."""
    verbs = [i for i, tag in enumerate(tags) if tag in _TENSES]
    helpers = [words[i] for i in verbs]
    is_be = helpers in ([each] for each in _BE - {"been"}) or (
        len(helpers) == 2 and helpers[0] in _HAVE and helpers[1] == "been"
    )
    if not is_be or verbs[0] == 0 or verbs[-1] > at:
        return False
    if any(tag not in {"DET", "ADV"} for tag in tags[verbs[-1] + 1 : at]):
        return False
    subject = words[: verbs[0]]
    is_person = subject[0] in _PRONOUNS or (tags[0] == "PROPN" and len(subject) == 1)
    if tags[at] == "NOUN" or "DET" in tags[verbs[-1] + 1 : at]:
        return True
    is_person = is_person or not nouns_of(wordnet, subject[-1]).isdisjoint(_SOMEBODY)
    return is_said_of_people(words[at]) if is_person else is_said_of_things(words[at])
