"""The packaged substitutions that readers accepted, and which of them fit a corpus."""

from __future__ import annotations

import csv
import functools
import hashlib
import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.lexicon.pipelines import RESOURCES, check_packaged
from ietest_fast.lexicon.token_table import UPOS
from ietest_fast.lexicon.words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    import numpy.typing as npt

    from ietest_fast.lexicon.synonym_table import SynonymTable
    from ietest_fast.lexicon.wordnet import PartOfSpeech, WordNet

# Words of a part of speech, what replaces them, and beside what.

PLACES = {"prev2": -2, "prev": -1, "next": 1, "next2": 2}
#: In a list of a condition: there is no such token.
NOTHING = "END"
_NOTHING_BIT = 31
_CONDITION = re.compile(rf"({'|'.join(PLACES)})(!?)=(.+)\Z")


class Condition(NamedTuple):
    """Compare the token at a place with a list; see :func:`read_conditions`."""

    place: int
    negated: bool
    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_conditions(text: str) -> tuple[Condition, ...]:
    """Read conditions, all of which have to hold: ``next=of|in;prev!=NOUN|END``."""
    tests = []
    for part in filter(None, text.split(";")):
        found = _CONDITION.match(part)
        if found is None:
            raise InputError(f"{part!r} is no condition such as next=of|in or prev!=NOUN|END")
        place, negation, listed = found.groups()
        items = listed.split("|")
        tags = tuple(item for item in items if item in UPOS or item == NOTHING)
        words = tuple(item for item in items if item not in tags)
        if "" in items or any(word != word.lower() for word in words):
            raise InputError(f"{part!r} lists a word that is not in lower case, or none")
        tests.append(Condition(PLACES[place], bool(negation), words, tags))
    return tuple(tests)


class TaggedWord(NamedTuple):
    """One entry of a table."""

    key: str
    pos: str
    number: int
    value: str
    when: str
    word: str
    rule: str
    is_bound: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class TaggedWords:
    """A table of substitutions that look at tags and at what stands beside a word."""

    entries: tuple[TaggedWord, ...]
    """In the order in which those of one key are tried. ``key`` is a form in lower case, words
    separated by one blank; ``pos`` the universal tag that it has to have; ``number`` 1 for
    singular, 2 for plural, 0 for any; ``when`` the conditions (:func:`read_conditions`); ``word``
    what it is a form of. Where ``is_bound``, a row replaces all forms of the word or none."""
    phrases: tuple[str, ...] = ()
    """In lower case: their words are left alone in them."""

    def __len__(self) -> int:
        return len(self.entries)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of entries and phrases, 64 hexadecimal digits."""
        lines = ["\t".join(map(str, entry)) for entry in self.entries]
        return hashlib.sha256("\n".join([*lines, "", *self.phrases]).encode()).hexdigest()

    @functools.cached_property
    def _families(self) -> dict[str, str]:
        # A word is told from a form by what no form begins with.
        family_of = join_groups((entry.key, f"\n{entry.word}") for entry in self.entries)
        return {entry.key: family_of(entry.key) for entry in self.entries}

    def family_of(self, form: str) -> str:
        """Return by what a form is known: the same for all forms of a word, in any case.

        Forms that are forms of several words (*running* of a noun and of a verb) join them.
        """
        return self._families.get(form.lower(), form.lower())

    @classmethod
    def of_nouns(
        cls, table: SynonymTable, groups: Sequence[int] | npt.NDArray[np.int32]
    ) -> TaggedWords:
        """Take over a table of nouns, whose groups are bound.

        Parameters
        ----------
        table
            Of nouns by number.
        groups
            Shape (len(table),): see :func:`ietest_fast.transform.group_forms`.
        """
        entries = tuple(
            TaggedWord(key, "NOUN", number, value, "", f"{group}", rule, is_bound=True)
            for (key, value, number, rule), group in zip(table.rows(), groups, strict=True)
        )
        return cls(entries=entries)

    def with_others(self, others: TaggedWords) -> TaggedWords:
        """Add the phrases of another table, and its entries for keys that this one lacks."""
        known = {entry.key for entry in self.entries}
        added = tuple(entry for entry in others.entries if entry.key not in known)
        phrases = dict.fromkeys((*self.phrases, *others.phrases))
        return TaggedWords(entries=self.entries + added, phrases=tuple(phrases))

    def columns(self, rules: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of the core's table.

        Parameters
        ----------
        rules
            Names of rules, in the order of the core's codes.
        """
        entries = self.entries
        groups = {word: i for i, word in enumerate(dict.fromkeys(each.word for each in entries))}
        return {
            "keys": pa.array([each.key for each in entries], pa.large_string()),
            "values": pa.array([each.value for each in entries], pa.large_string()),
            "pos": np.array([UPOS.index(each.pos) for each in entries], np.uint8),
            "number": np.array([each.number for each in entries], np.int8),
            "group": np.array([groups[each.word] for each in entries], np.int32),
            "is_bound": np.array([each.is_bound for each in entries], np.int8),
            "rules": np.array([rules.index(each.rule) for each in entries] or [0], np.int8),
            "conditions": _condition_columns([read_conditions(each.when) for each in entries]),
            "phrases": pa.array(self.phrases, pa.large_string()),
        }


def join_groups(pairs: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    """Return what gives the first name of a name's group; both of each pair are in one group."""
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for pair in pairs:
        one, other = sorted(map(find, pair))
        leader[other] = one
    return find


def _condition_columns(conditions: Sequence[tuple[Condition, ...]]) -> tuple[Any, ...]:
    tests = [test for each in conditions for test in each]
    words = [word for test in tests for word in test.words]
    masks = [
        sum(1 << (_NOTHING_BIT if tag == NOTHING else UPOS.index(tag)) for tag in set(test.tags))
        for test in tests
    ]
    return (
        np.cumsum([0, *map(len, conditions)], dtype=np.int64),
        np.array([test.place for test in tests], np.int8),
        np.array([test.negated for test in tests], np.int8),
        np.array(masks, np.uint32),
        np.cumsum([0, *(len(test.words) for test in tests)], dtype=np.int64),
        pa.array(words, pa.large_string()),
    )


TextKind = Literal["captions", "any", "formal"]
REVIEWED_RULE = "reviewed"
PARTS_OF_SPEECH = ("NOUN", "ADJ", "ADV", "VERB")
_FILE = RESOURCES / "reviewed" / "table.tsv"
_COLUMNS = ("form", "pos", "number", "value", "when", "word", "texts", "in_wordnet", "n_read")

# Texts that describe a scene begin like this.
_SCENE = (
    r"^\W*(?:an?|two|three|four|five|six|several|some|one|people|persons?|m[ae]n|wom[ae]n|boys?|"
    r"girls?|child(?:ren)?|kids|group|young|couple|there)\b"
)
#: With such a share of them, texts are taken for captions.
CAPTIONS_SHARE = 1 / 3


@dataclass(frozen=True, kw_only=True)
class ReviewedSubstitution:
    """One form of a word, and what readers let replace it."""

    form: str
    pos: str
    number: int
    value: str
    when: str
    word: str
    """As of :class:`ietest_fast.lexicon.TaggedWord`."""
    texts: TextKind
    """Where it was accepted: ``any`` text, ``captions``, which describe a scene, or ``formal``
    ones."""
    in_wordnet: bool
    """Whether some synset of WordNet has both words."""
    n_read: int
    """Sentences in which it was read, and accepted by both readers."""


@functools.cache
def load_reviewed() -> tuple[ReviewedSubstitution, ...]:
    """Read the packaged table, in its order."""
    check_packaged(_FILE.parent)
    with _FILE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(rows.fieldnames or ()) != _COLUMNS:
            raise ResourceError(f"{_FILE}: expected the columns {', '.join(_COLUMNS)}")
        return tuple(
            ReviewedSubstitution(
                form=row["form"],
                pos=row["pos"],
                number=int(row["number"]),
                value=row["value"],
                when=row["when"],
                word=row["word"],
                texts=row["texts"],  # type: ignore[arg-type]
                in_wordnet=row["in_wordnet"] == "yes",
                n_read=int(row["n_read"]),
            )
            for row in rows
        )


def reviewed_words(
    wordnet: WordNet,
    *,
    texts: TextKind = "any",
    pos: Collection[str] = PARTS_OF_SPEECH,
    wordnet_only: bool = False,
    least_read: int = 0,
    block_list: Iterable[str] = (),
) -> TaggedWords:
    """Choose from the reviewed substitutions.

    Parameters
    ----------
    wordnet
        Where phrases come from.
    texts
        What the texts are: ``captions`` and ``formal`` ones get the substitutions that were
        accepted there, too.
    pos
        Universal parts of speech.
    wordnet_only
        Whether to leave out pairs that are no synonyms in WordNet.
    least_read
        Leaves out what was read in fewer sentences.
    block_list
        Words that are neither replaced nor used as a replacement, in any of their forms and in any
        case.
    """
    check_parts_of_speech(pos)
    blocked = _with_bases((word.lower() for word in block_list), wordnet)
    chosen = [
        each
        for each in load_reviewed()
        if each.texts in {"any", texts}
        and each.pos in pos
        and (each.in_wordnet or not wordnet_only)
        and each.n_read >= least_read
        and (not blocked or blocked.isdisjoint(_with_bases(_words_of(each), wordnet)))
    ]
    entries = tuple(
        TaggedWord(
            each.form, each.pos, each.number, each.value, each.when, each.word, REVIEWED_RULE
        )
        for each in chosen
    )
    forms: dict[str, set[str]] = defaultdict(set)
    for each in chosen:
        forms[lemma_of(each.word)].add(each.form)
        forms[each.form].add(each.form)
    return TaggedWords(entries=entries, phrases=phrases_with(forms, wordnet))


def _words_of(each: ReviewedSubstitution) -> tuple[str, ...]:
    return (each.form, each.value, *each.value.split(), lemma_of(each.word))


def _with_bases(words: Iterable[str], wordnet: WordNet) -> set[str]:
    """Return words in lower case, and the lemmas that they may be forms of."""
    found = {word.lower() for word in words}
    parts: tuple[PartOfSpeech, ...] = ("n", "v", "a", "r")
    return found.union(*(wordnet.base_forms(word, pos) for word in found for pos in parts))


@functools.cache
def known_words() -> frozenset[str]:
    """Return every form, substitute and lemma of the packaged table, in lower case."""
    return frozenset(word.lower() for each in load_reviewed() for word in _words_of(each))


def check_parts_of_speech(pos: Collection[str]) -> None:
    """Stop unless these are parts of speech that have reviewed substitutions."""
    parts = (pos,) if isinstance(pos, str) else pos
    unknown = sorted(set(parts) - set(PARTS_OF_SPEECH))
    if unknown or not pos or isinstance(pos, str):
        known = ", ".join(PARTS_OF_SPEECH)
        raise InputError(
            f"parts of speech are a tuple of some of {known}, not {', '.join(unknown) or repr(pos)}"
        )


def fingerprint_reviewed() -> str:
    """Return the sha256 of the packaged table, 64 hexadecimal digits."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()


def lemma_of(word: str) -> str:
    """Return the lemma of ``lemma/POS``."""
    return word.rsplit("/", 1)[0]


def phrases_with(forms: dict[str, set[str]], wordnet: WordNet) -> tuple[str, ...]:
    """Return WordNet's entries of two to four words of which one is among some lemmas."""
    return _phrases_with(frozenset((word, frozenset(own)) for word, own in forms.items()), wordnet)


@functools.lru_cache(maxsize=8)
def _phrases_with(
    given: frozenset[tuple[str, frozenset[str]]], wordnet: WordNet
) -> tuple[str, ...]:
    forms = dict(given)
    found: set[str] = set()
    for pos in _INFLECTED:
        for lemma in _entries_of_several_words(wordnet, pos):
            words = lemma.split("_")
            if forms.keys().isdisjoint(words):
                continue
            # A word of the table is inflected as the table has it.
            found.update(
                " ".join((*variant[:i], form, *variant[i + 1 :]))
                for variant in _inflect(words, pos, wordnet)
                for i, word in enumerate(words)
                if variant[i] == word
                for form in forms.get(word, ())
            )
    return tuple(sorted(found))


# Which words of an entry of several words are inflected, by its part of speech.
_INFLECTED: dict[PartOfSpeech, tuple[int, ...]] = {"n": (0, -1), "v": (0,), "a": (), "r": ()}


def _inflect(words: list[str], pos: PartOfSpeech, wordnet: WordNet) -> Iterator[list[str]]:
    """Yield an entry of several words as it is, and with one of them in each other form."""
    yield words
    for place in _INFLECTED[pos]:
        for form in wordnet.forms_of(words[place], pos)[1:]:
            variant = words.copy()
            variant[place] = form
            yield variant


@functools.lru_cache(maxsize=8)
def _entries_of_several_words(wordnet: WordNet, pos: PartOfSpeech) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(word.lower() for word in wordnet.words(pos) if 1 <= word.count("_") <= 3)
    )


class SceneCounter:
    """Counts texts that begin as descriptions of a scene do."""

    def __init__(self) -> None:
        self._n_texts = 0
        self._n_scenes = 0

    def add(self, texts: pa.Array) -> None:
        """Count some more texts; missing and empty ones do not count."""
        import pyarrow.compute as pc

        begins = pc.match_substring_regex(texts, _SCENE, ignore_case=True)
        self._n_scenes += pc.sum(begins).as_py() or 0
        self._n_texts += pc.sum(pc.greater(pc.binary_length(texts), 0)).as_py() or 0

    @property
    def are_captions(self) -> bool:
        """Whether the texts describe scenes, as captions do.

        A share of :data:`CAPTIONS_SHARE` begins with an article, a number, or a word such as
        *people*, *man*, *several* or *there*: half in SNLI, 6% in MNLI.
        """
        return self._n_texts > 0 and self._n_scenes >= CAPTIONS_SHARE * self._n_texts


# Which language texts are in, by their script and their most frequent words.


ENGLISH = "English"

FEWEST_WORDS = 200
"""With fewer words nothing is said: names, titles and lists are in no language."""

MOST_TEXTS = 5_000
"""How many texts are looked at, the first ones."""

FEWEST_FOREIGN = 5
"""With fewer texts in other languages nothing is said of them."""

_FEWEST_DIFFERENT = 8  # in names and formulas there are "de", "von" and "y", too

# What is frequent in another language, too, says nothing.
_AMBIGUOUS = """
    a all also am an any as at but can do had has have he her here him i in is it me more most
    no none of on one or our over per plus so some such to was we will
"""
_FRENCH = """
    le la les de des du un une et est dans pour que qui qu sur avec par pas ne il elle ils elles
    au aux ce cette ces sont mais nous vous je ou où leur leurs comme très aussi été être fait
    sans sous ont était l
"""
_SPANISH = """
    el la los las de del que y en un una es por con para su sus se lo al más como pero este esta
    fue ser está son muy también entre hay sin sobre ha yo
"""
_PORTUGUESE = """
    o os de da dos das que e em um uma para com não por na nos nas se é ao à mais como mas foi
    ele ela seu sua está são também pelo pela ser há estão eu
"""
_ITALIAN = """
    il lo la gli le di che è e un una con non del della dei delle nel nella al alla si da sono
    più anche ha ma questo questa alle dal dalla
"""
_GERMAN = """
    der die das und ist von mit den dem des ein eine einen einem einer nicht auch auf für sich
    im zu zum zur als bei nach aus wird werden wurde sind oder wie er sie es ich wir haben durch
"""
_DUTCH = """
    de het een en van dat niet op te zijn voor met die er aan ook als bij naar wordt werd maar
    om hij ze je wat deze worden uit
"""

FREQUENT_WORDS = {
    ENGLISH: FUNCTION_WORDS.difference(_AMBIGUOUS.split()),
    "French": frozenset(_FRENCH.split()),
    "Spanish": frozenset(_SPANISH.split()),
    "Portuguese": frozenset(_PORTUGUESE.split()),
    "Italian": frozenset(_ITALIAN.split()),
    "German": frozenset(_GERMAN.split()),
    "Dutch": frozenset(_DUTCH.split()),
}
"""In lower case; French elisions are cut at the apostrophe."""

_LANGUAGES_OF = {
    word: tuple(language for language, frequent in FREQUENT_WORDS.items() if word in frequent)
    for word in frozenset().union(*FREQUENT_WORDS.values())
}

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")


@dataclass(frozen=True, kw_only=True)
class LanguageCount:
    """What texts are in."""

    n_texts: int
    n_words: int
    """That were looked at."""
    foreign: Counter[str]
    """Language or script -> texts that are clearly in it and not in English."""
    main: str | None
    """The language of all of them together: ``"English"``, another one, a script, or None if
    nothing is clear."""

    @property
    def n_foreign(self) -> int:
        """Texts that are clearly not in English."""
        return sum(self.foreign.values())

    @property
    def is_foreign(self) -> bool:
        """Whether the texts as a whole, or nearly all of them, are clearly not in English."""
        if _are_nearly_all(self.n_foreign, self.n_texts):
            return True
        return self.n_words >= FEWEST_WORDS and self.main not in {None, ENGLISH}


def count_languages(texts: Iterable[str | None]) -> LanguageCount:
    """Say which languages texts are in.

    Examples
    --------
    >>> count_languages(["Le chat dort sur la table et le chien est dans le jardin."]).foreign
    Counter({'French': 1})
    >>> count_languages(["A man walking a dog."]).foreign
    Counter()
    """
    together: Counter[str] = Counter()
    seen: set[str] = set()
    foreign: Counter[str] = Counter()
    n_texts = n_words = n_strange = 0
    for text in itertools.islice((each for each in texts if each is not None), MOST_TEXTS):
        n_texts += 1
        words = _WORD.findall(text.lower())
        strange = [word for word in words if _LATIN.match(word) is None]
        n_words += len(words)
        n_strange += len(strange)
        found = _count(words)
        other = _clearly(found, fewest=4)
        if 2 * len(strange) > len(words):
            other = _script_of(strange[0])
        if other is not None:
            foreign[other] += 1
        together.update(found)
        seen.update(words)
    # A sentence that is there often has few different words, and is in its language all the same.
    if 2 * n_strange > n_words or _are_nearly_all(sum(foreign.values()), n_texts):
        main = next((name for name, _ in foreign.most_common()), None)
    else:
        main = _clearly(together, fewest=n_words // 10)
        if main is not None and len(seen & FREQUENT_WORDS[main]) < _FEWEST_DIFFERENT:
            main = None
        if main is None and 10 * together[ENGLISH] >= n_words:
            main = ENGLISH
    return LanguageCount(n_texts=n_texts, n_words=n_words, foreign=foreign, main=main)


def _are_nearly_all(n_foreign: int, n_texts: int) -> bool:
    return n_foreign >= FEWEST_FOREIGN and 10 * n_foreign >= 9 * n_texts


def _count(words: list[str]) -> Counter[str]:
    """Count the words that are frequent in each language."""
    return Counter(language for word in words for language in _LANGUAGES_OF.get(word, ()))


def _clearly(found: Counter[str], *, fewest: int) -> str | None:
    """Return the language that is not English, if there is three times as much of it."""
    others = [(number, name) for name, number in found.items() if name != ENGLISH]
    number, name = max(others, default=(0, ENGLISH), key=lambda own: own[0])
    return name if number >= max(fewest, 1) and number >= 3 * found[ENGLISH] else None


def _script_of(word: str) -> str:
    """Return the name of a word's script, ``Cyrillic``: its letters' names begin with it."""
    name = unicodedata.name(word[0], "unknown").split()[0]
    return name if name == "CJK" else name.capitalize()
