"""Competence with antonyms: a text beside itself with one word turned into its opposite.

Naik et al. 2018, section 3.1.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa
from pydantic import Field

from ietest_fast.lexicon.pipelines import RESOURCES, check_packaged
from ietest_fast.lexicon.senses import GlossedSense, Senses, lesk, lesk_as_nltk
from ietest_fast.lexicon.words import Plurals
from ietest_fast.transform.base import (
    BaseTransformation,
    NewPair,
    Transformed,
    check_pair_columns,
    fingerprint_of,
    put_pairs,
)
from ietest_fast.transform.edits import ARTICLE_RULE, put_pieces
from ietest_fast.transform.phi import (
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
)
from ietest_fast.transform.syntax.trees import PEOPLE, nouns_of
from ietest_fast.transform.words import TaggedSubstitution, pipeline_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ietest_fast.lexicon import TaggedWords, Tagger
    from ietest_fast.lexicon.wordnet import WordNet

# The packaged pairs of antonyms in all their forms, and beside what each is replaced.


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


# Where the opposite of a word surely makes a sentence false: what stands around the word.

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
    return words[at] in (_SAID_OF_PEOPLE if is_person else _SAID_OF_THINGS)


LABEL = "contradiction"
RULE = "antonym"

NEVER_REPLACED = frozenset(
    "here goodness yes no decision growing priority cheers volume right left goods addition income "  # noqa: SIM905
    "indecision there parent being parents lord lady put capital lowercase unions".split()
)
"""The 25 words that the published code leaves alone."""

# What the published code never puts in.
_NEVER_PUT = frozenset({"civilian"})
# Where a sentence denies, supposes or asks, the opposite need not contradict it.
_UNSURE = re.compile(
    r"\?|n't\b|\b(?:if|whether|not|no|never|none|neither|nor|without|unless|or|would|could|should|"
    r"can|able|may|might|some|many|several|few|most|other|another)\b",
    re.IGNORECASE,
)
# Who is meant is said by a pronoun as well.
_OF_PEOPLE = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
_SCHEME = 4
# Words whose senses and base forms are remembered.
_MOST_REMEMBERED = 2**16
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True, kw_only=True, eq=False)
class Antonym(BaseTransformation):
    """Put a word's antonym in its place: the new text contradicts the old one.

    Both texts of a pair are taken for themselves. From a premise comes the pair (premise, premise
    with the antonym), from a hypothesis (hypothesis with the antonym, hypothesis); rows of which no
    word has an antonym are left out, and equal pairs are there once.
    """

    tagger: Tagger
    """Finds words, and for the careful rules their parts of speech."""
    senses: Senses = field(default_factory=Senses.packaged)
    """Antonyms by sense."""
    are_captions: bool = True
    """Whether the texts describe scenes, so that two of them are about the same one. In others, *a
    new house is sold* need not contradict *an old house is sold*, and the careful rules only
    replace what a plain sentence of one clause says of something definite, or its subject: *the
    house is new*, *the man slept in the house*
    (:func:`ietest_fast.transform.antonym.says_one_thing`)."""
    rules: Literal["careful", "paper"] = "careful"
    """``"careful"``: the packaged pairs of common nouns and adjectives, where what stands beside
    the word allows it, as :class:`~ietest_fast.transform.TaggedSubstitution` finds out; with
    number, degree, capitals and article; where WordNet knows the antonym, only in the sense that
    shares most content words with the text; nothing in texts that deny, ask or suppose something.
    ``"paper"``: as the published code, every antonym of every lemma of the sense that NLTK's
    ``lesk`` finds, put where the word's letters first occur."""

    name = "antonym"
    keeps_labels = False  # they are set

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of options, lexicon and tagger, 64 hexadecimal digits."""
        careful = {"words": self._substitution.fingerprint} if self.rules == "careful" else {}
        return fingerprint_of(
            {
                "scheme": _SCHEME,
                **self.describe(),
                **careful,
                "tagger": self.tagger.fingerprint,
                "wordnet": self.senses.wordnet.fingerprint,
            }
        )

    @property
    def _options(self) -> dict[str, Any]:
        options = {"rules": self.rules, "tagger": pipeline_name(self.tagger)}
        if self.rules == "careful":
            options["texts"] = "captions" if self.are_captions else "any"
        return options

    @functools.cached_property
    def _substitution(self) -> TaggedSubstitution:
        return TaggedSubstitution(
            words=antonym_words(self.senses.wordnet, are_captions=self.are_captions),
            tagger=self.tagger,
            name=self.name,
        )

    @functools.cached_property
    def _parts(self) -> dict[str, set[str]]:
        """WordNet's parts of speech of each form that is replaced."""
        parts: dict[str, set[str]] = {}
        for entry in self._substitution.words.entries:
            parts.setdefault(entry.key, set()).update("n" if entry.pos == "NOUN" else "as")
        return parts

    @functools.cached_property
    def _people(self) -> frozenset[str]:
        """Forms of nouns that name people by their sex."""
        return frozenset(
            entry.key
            for entry in self._substitution.words.entries
            if entry.word.removesuffix("/NOUN") in SEXED
        )

    @functools.cached_property
    def _bases_of(self) -> Callable[[str], frozenset[str]]:
        """Give what a word may be a form of, as a noun or adjective."""
        wordnet = self.senses.wordnet

        def find(word: str) -> frozenset[str]:
            return frozenset({*wordnet.base_forms(word, "n"), *wordnet.base_forms(word, "a")})

        return functools.lru_cache(_MOST_REMEMBERED)(find)

    @functools.cached_property
    def _senses_of(self) -> Callable[[str], list[GlossedSense]]:
        return functools.lru_cache(_MOST_REMEMBERED)(self.senses.of_word)

    def _is_there(self, words: Sequence[str], antonym: str) -> bool:
        """Say whether a form of the antonym is among the words of a text already."""
        own = self._bases_of(antonym.lower()) | {antonym.lower()}
        return any(word in own or not own.isdisjoint(self._bases_of(word)) for word in words)

    def transform_table(
        self,
        table: pa.Table,
        text_columns: tuple[str, ...],
        *,
        with_edits: bool,
        n_threads: int | None,
    ) -> Transformed:
        """Make pairs; see :meth:`ietest_fast.transform.Transformation.transform`."""
        columns = check_pair_columns(self.name, text_columns)
        find = self._as_published if self.rules == "paper" else self._carefully
        pairs: list[NewPair] = []
        for place, name in enumerate(columns):
            for row, text, new in find(table[name], n_threads):
                premise, hypothesis = (text, new) if place == 0 else (new, text)
                pairs.append(
                    NewPair(row=row, premise=premise, hypothesis=hypothesis, label=LABEL, rule=RULE)
                )
        return put_pairs(table, columns, pairs, with_edits=with_edits)

    def _carefully(
        self, texts: pa.ChunkedArray, n_threads: int | None
    ) -> Iterator[tuple[int, str, str]]:
        """Yield (row, text, text with one word replaced)."""
        alone = pa.table({"text": texts})
        edits = self._substitution.transform(alone, ["text"], n_threads=n_threads).edits
        assert edits is not None  # noqa: S101 - asked for
        rows, starts, ends = (edits[key].to_pylist() for key in ("row", "start", "end"))
        olds, news, rules = (edits[key].to_pylist() for key in ("old", "new", "rule"))
        found: list[tuple[int, str, str, int]] = []
        for i, rule in enumerate(rules):
            if rule == ARTICLE_RULE:
                continue
            text = texts[rows[i]].as_py()
            if not self._is_clear(text, olds[i].lower(), news[i]):
                continue
            # The article before it, if it had to change.
            first = i - 1 if i and rules[i - 1] == ARTICLE_RULE and rows[i - 1] == rows[i] else i
            pieces = ((starts[k], ends[k], news[k].encode()) for k in range(first, i + 1))
            found.append((rows[i], text, put_pieces(text.encode(), pieces).decode(), starts[i]))
        kept = self._fitting(found, n_threads)
        yield from ((row, text, new) for row, text, new, _ in kept)

    def _fitting(
        self, found: list[tuple[int, str, str, int]], n_threads: int | None
    ) -> Iterator[tuple[int, str, str, int]]:
        """Yield what stands where the opposite surely makes the text false.

        Each is row, text, new text, and where the word begins in bytes of the text.
        """
        from ietest_fast.lexicon import UPOS

        if self.are_captions or not found:
            for each in found:
                word = _WORD.match(each[1].encode()[each[3] :].decode().lower())
                if word is not None and fits_caption(each[1], word[0]):
                    yield each
            return
        texts = pa.chunked_array([pa.array([each[1] for each in found], pa.large_string())])
        tags = self.tagger.tag(texts, n_process=n_threads)
        for i, each in enumerate(found):
            data = each[1].encode()
            tokens = range(tags.offsets[i], tags.offsets[i + 1])
            words = [data[tags.start[k] : tags.end[k]].decode().lower() for k in tokens]
            parts = [UPOS[tags.pos[k]] for k in tokens]
            at = next((n for n, k in enumerate(tokens) if tags.start[k] == each[3]), None)
            if at is not None and says_one_thing(words, parts, at, self.senses.wordnet):
                yield each

    def _is_clear(self, text: str, word: str, antonym: str) -> bool:
        """Say whether the antonym of a word, in lower case, surely says the opposite in a text."""
        if _UNSURE.search(text) or not self._is_meant(text, word, antonym):
            return False
        words = _WORD.findall(text.lower())
        if words.count(word) != 1 or self._is_there(words, antonym):
            return False
        return word not in self._people or _OF_PEOPLE.search(text) is None

    def _is_meant(self, text: str, word: str, antonym: str) -> bool:
        """Say whether a word has an antonym in the sense that the text shows, as far as known."""
        senses = self._senses_of(word)
        bases = self._bases_of(antonym)

        def has_it(sense: GlossedSense) -> bool:
            return not bases.isdisjoint(other.lower() for _, other in sense.antonyms)

        if not any(map(has_it, senses)):
            return True  # nothing that WordNet could tell
        context = [each for each in _WORD.findall(text.lower()) if each != word]
        wanted = [sense for sense in senses if sense.pos in self._parts[word]]
        found = lesk(context, wanted)
        return found is not None and has_it(found)

    def _as_published(
        self, texts: pa.ChunkedArray, n_threads: int | None
    ) -> Iterator[tuple[int, str, str]]:
        """Yield (row, text, text with one word replaced)."""
        tags = self.tagger.tag(texts, n_process=n_threads)
        for row, text in enumerate(texts.to_pylist()):
            if not text:
                continue
            data = text.encode()
            spans = range(tags.offsets[row], tags.offsets[row + 1])
            tokens = [data[tags.start[i] : tags.end[i]].decode().lower() for i in spans]
            for token, antonym in self._find_as_published(text, tokens):
                yield row, text, text.replace(token, antonym, 1)

    def _find_as_published(self, text: str, tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield tokens of a text, and their antonyms."""
        for token in filter(None, map(str.strip, tokens)):
            if token in NEVER_REPLACED or token not in text:
                continue
            sense = lesk_as_nltk(tokens, self.senses.of_word(token))
            if sense is None or sense.pos not in {"n", "s"}:
                continue
            for _, antonym in sense.antonyms:
                if antonym not in _NEVER_PUT and "_" not in antonym:
                    yield token, antonym


class AntonymOptions(PhiOptions):
    """What the pairs of antonyms can be told."""

    rules: Literal["careful", "paper"] = Field(
        "careful",
        description="careful: packaged pairs, where they fit; paper: all antonyms of the sense, "
        "as published",
    )
    tagger: str | None = Field(None, description="a spaCy pipeline [the packaged one]")
    texts: Literal["auto", "captions", "any"] = Field(
        "auto",
        description="what the texts are: more is replaced in captions, which describe a scene; "
        "auto tells them by how they begin",
    )


def _plan_antonym(options: AntonymOptions) -> PlannedTransformation:
    from ietest_fast.lexicon import SceneCounter, Tagger

    tagger = Tagger.load("packaged" if options.tagger is None else options.tagger)
    made = Antonym(tagger=tagger, rules=options.rules)

    def build(material: Material) -> Antonym:
        material.keep_tags(tagger)
        are_captions = options.texts == "captions"
        if options.texts == "auto" and options.rules == "careful":
            scenes = SceneCounter()
            for texts in material.texts():
                scenes.add(texts)
            are_captions = scenes.are_captions
        return replace(made, are_captions=are_captions)

    planned = PlannedTransformation.of(made, closer=tagger.close)
    recorded = {**planned.options, "texts": options.texts}
    return replace(planned, options=recorded, builder=build, learns=True)


ANTONYM = TransformationKind(
    name="antonym",
    summary="makes pairs of a text and its opposite by an antonym; they contradict each other",
    options=AntonymOptions,
    plan=_plan_antonym,
    language="English",
)
