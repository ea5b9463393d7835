"""The product of the lexicon: which word is replaced by which."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.files import read_text
from ietest_fast.lexicon.words import Plurals, porter_stem
from ietest_fast.runtime import load_core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ietest_fast.lexicon.wordnet import WordNet


RuleSet = Literal["paper", "broad"]
Rule = Literal["frequency", "edit_distance"]

ANY_NUMBER, SINGULAR_KEY, PLURAL_KEY = 0, 1, 2
_IN_NO_WORD = re.compile(r'[,;:"|<>()\[\]{}\t]')


@dataclass(frozen=True, kw_only=True, eq=False)
class SynonymTable:
    """Substitutions, sorted by key and number; a key comes at most once with each number."""

    keys: pa.StringArray
    """K surface forms in lower case; words of a multi-word key are joined by one space."""
    values: pa.StringArray
    """K replacements."""
    number: npt.NDArray[np.int8]
    """int8 (K,): 0 the key is replaced whatever its number (``paper`` rules), 1 where it is a
    singular noun, 2 where it is a plural one."""
    rules: pa.StringArray
    """Why this value won: ``"frequency"`` (how often a corpus uses it) or ``"edit_distance"``."""
    rule_set: RuleSet
    """``"paper"`` or ``"broad"``."""

    @classmethod
    def from_entries(
        cls, entries: Iterable[tuple[str, str, int, Rule]], rule_set: RuleSet
    ) -> SynonymTable:
        """Make a table of (key, value, number, rule)."""
        rows = sorted(entries, key=lambda row: (row[0], row[2]))
        return cls(
            keys=pa.array([row[0] for row in rows], pa.string()),
            values=pa.array([row[1] for row in rows], pa.string()),
            number=np.array([row[2] for row in rows], np.int8),
            rules=pa.array([row[3] for row in rows], pa.string()),
            rule_set=rule_set,
        )

    def __len__(self) -> int:
        return len(self.keys)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sha256 of rule set and entries, 64 hexadecimal digits."""
        digest = hashlib.sha256(self.rule_set.encode())
        for row in self.rows():
            digest.update(("\n" + "\t".join(map(str, row))).encode())
        return digest.hexdigest()

    def rows(self) -> Iterator[tuple[str, str, int, str]]:
        """Give key, value, number and rule of each entry."""
        keys, values, rules = (each.to_pylist() for each in (self.keys, self.values, self.rules))
        return zip(keys, values, self.number.tolist(), rules, strict=True)

    def as_dict(self, number: int | None = None) -> dict[str, str]:
        """Give key -> value.

        Parameters
        ----------
        number
            Only entries with this number. None: all; of a key that stands in the table as a
            singular and as a plural (sheep) the plural entry is given.
        """
        rows = self.rows()
        return {key: value for key, value, own, _ in rows if number is None or own == number}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SynonymTable):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> str | tuple[object, ...]:
        return (SynonymTable.from_entries, (list(self.rows()), self.rule_set))


def read_block_list(path: str | Path) -> frozenset[str]:
    """Read words to leave alone: one a line; trailing commas and blank lines do not matter.

    Raises
    ------
    InputError
        If there is no such file, it is a folder or not text in UTF-8, or a line is not one word.
    ResourceError
        If it cannot be read.
    """
    path = Path(path)
    text = read_text(path)
    words = set()
    for row, line in enumerate(text.splitlines(), start=1):
        word = line.strip().rstrip(",").strip().strip("\"'").strip().lower()
        if _IN_NO_WORD.search(word):  # would never be found in a text
            raise InputError(
                f"expected one word, found {line.strip()!r}", path=path, row=f"line {row}"
            )
        if word:
            words.add(word)
    return frozenset(words)


def counts_by_word(counts: Mapping[str, int]) -> dict[str, int]:
    """Check noun counts and give them in lower case, entries that differ in case added up."""
    lower: dict[str, int] = {}
    for word, count in counts.items():
        if count < 0:
            raise InputError(f"the noun count of {word!r} is {count}, expected 0 or more")
        lower[word.lower()] = lower.get(word.lower(), 0) + count
    return lower


# The synonyms of the published experiments (Salvatore et al. 2023), as their code chose them.


def paper_candidates(word: str, wordnet: WordNet) -> tuple[str, ...]:
    """Give what `word` might be replaced by.

    Returns
    -------
    tuple of str
        The lemmas of its first synset in NLTK's order of parts of speech (n, v, a, r; after
        morphy), with spaces for underscores, without `word` itself. Case is WordNet's.
    """
    lemmas = (lemma.replace("_", " ") for lemma in wordnet.first_synset_lemmas(word))
    return tuple(lemma for lemma in lemmas if lemma != word)


def paper_table(
    noun_counts: Mapping[str, int], wordnet: WordNet, *, block_list: Iterable[str] = ()
) -> SynonymTable:
    """Make the table of the published experiments.

    Of the candidates the one that the corpus uses most as a noun wins (ties: the last in the
    alphabet); if it uses none, the one with the smallest edit distance to the word (ties: the
    first in the alphabet). The winner is lower-cased. There is no entry if it has the word's
    Porter stem, if the word is on the block list, or if it ends in "ing".

    Parameters
    ----------
    noun_counts
        Noun -> how often the corpus uses it, counted in normalised text
        (:func:`ietest_fast.transform.synonyms.normalise`); these are also the words that get an
        entry.
    wordnet
        Where the candidates come from.
    block_list
        Words to leave alone.

    Returns
    -------
    SynonymTable
        With number 0: entries apply whatever the part of speech.
    """
    edit_distance = load_core().text.edit_distance
    counts = counts_by_word(noun_counts)
    blocked = {word.lower() for word in block_list}
    entries: list[tuple[str, str, int, Rule]] = []
    for word in counts:
        if word in blocked or word.endswith("ing"):
            continue
        candidates = paper_candidates(word, wordnet)
        if not candidates:
            continue
        counted = [(counts[name], name) for name in candidates if counts.get(name, 0) > 0]
        rule: Rule
        if counted:
            value, rule = max(counted)[1], "frequency"
        else:
            value = min((edit_distance(word, name), name) for name in candidates)[1]
            rule = "edit_distance"
        if porter_stem(word) != porter_stem(value):
            entries.append((word, value.lower(), ANY_NUMBER, rule))
    return SynonymTable.from_entries(entries, "paper")


# Synonyms of nouns that WordNet, SemCor and the corpus speak for: what ``syn.broad`` adds.
#
# WordNet's synsets hold much that no one says (chapeau, terpsichore) and senses that a text does
# not mean (court as tribunal). SemCor's sense counts and the corpus itself tell most of it apart;
# the thresholds below were set by reading the substitutions that SNLI's and MNLI's texts get.
# docs/lexicon.md lists the rules with examples.

# The first sense of a word to be replaced has to carry this share of its SemCor tags.
_KEY_SHARE = 0.55
# The common synset has to carry this share of the synonym's tags, as its first or second sense.
_VALUE_SHARE = {0: 0.45, 1: 0.35}
# Each further sense counts as if seen that often: a word tagged once or twice proves little.
_PRIOR = 0.2
# A corpus that uses a word this often would use its synonym too, if it meant that sense ...
_OFTEN = 20
# ... unless the synonym is so well attested in that sense that the corpus may just prefer the word.
_ATTESTED = 4
# Of two readings of a plural form (arms), one has to be this much more frequent than the other.
_CLEARLY = 4
# Fewer plurals than this might be missing from a corpus by chance.
_SEVERAL = 4

_WORD = re.compile(r"[a-z]+(?:[ '-][a-z]+)*\Z")
_DIGIT = re.compile(r"[0-9]")
_VOWEL = re.compile(r"[aeiouy]")
_MASS = ("ness", "ism", "wear", "ware", "dom", "hood")
# Never a replacement: what would put an obscenity or a slur into a text that had none.
_OFFENSIVE = frozenset(
    "arse ass asshole bastard bitch boob broad bullshit chink cock coon crap cunt darkie darky "  # noqa: SIM905
    "dick dyke fag faggot fanny fuck fucker fucking gook gringo hooker hymie injun kike kraut "
    "limey motherfucker nigga nigger nut paddy paki pecker piss poof poove prick pussy queer "
    "redskin retard shit shitter slut spic spick squaw stupid tit tits tosser turd twat wank "
    "wanker wetback whore wog wop yid".split()
)
_PLURAL_HEAD = re.compile(r"[^s]s_(?:of|in|on|at|to|for|from|with|by)_")
# Endings in -s of singulars (glass, bus, basis).
_SINGULAR_S = ("ss", "us", "is")


@dataclass(frozen=True, kw_only=True)
class _Noun:
    """A noun lemma that may be a key or a value."""

    text: str  # words joined by single spaces
    synsets: tuple[int, ...]
    counts: tuple[int, ...]  # SemCor tags of each sense
    n_tags: int
    is_plural: bool

    def share(self, rank: int) -> float:
        """Give a sense's share of all tags, a little less where tags are few."""
        return self.counts[rank] / (self.n_tags + _PRIOR * (len(self.counts) - 1))


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A synonym of a key."""

    name: str
    noun: _Noun
    n_tags: int  # SemCor's, of the common sense


def broad_table(
    noun_counts: Mapping[str, int], wordnet: WordNet, *, block_list: Iterable[str] = ()
) -> SynonymTable:
    """Make the table of the ``broad`` rules.

    Parameters
    ----------
    noun_counts
        Noun in lower case -> how often the corpus uses it (:func:`count_nouns`). May be empty:
        SemCor's counts then decide alone.
    wordnet
        Where nouns, senses, counts and irregular plurals come from.
    block_list
        Words that are neither replaced nor used as a replacement.

    Returns
    -------
    SynonymTable
        Entries of number 1 (singular forms) and 2 (plural forms), for all usable nouns of the
        lexicon, whether or not the corpus has them.
    """
    rules = _BroadRules(counts_by_word(noun_counts), wordnet, block_list)
    return SynonymTable.from_entries(rules.entries(), "broad")


class _Lexicon:
    """What WordNet alone decides: nouns, which of them may be keys, and which values these have.

    Found once for each WordNet of a process; a second table, of another corpus, takes it as it is.
    """

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self.plurals = Plurals(wordnet)
        self._irregular = wordnet.exceptions("n")
        self._nouns: dict[str, _Noun | None] = {}

    @cached_property
    def keys(self) -> list[tuple[_Noun, list[_Value]]]:
        """Nouns that nearly always have their first sense, each with its synonyms in it."""
        found = []
        for lemma in self.wordnet.words_with_synonyms("n"):
            noun = self.noun(lemma)
            if noun is not None and self._is_clear(noun):
                values = self._values(noun)
                if values:
                    found.append((noun, values))
        return found

    def noun(self, lemma: str) -> _Noun | None:
        """Give the noun of a lemma, or None if it cannot be a key or a value."""
        if lemma not in self._nouns:
            self._nouns[lemma] = self._make_noun(lemma)
        return self._nouns[lemma]

    def _make_noun(self, lemma: str) -> _Noun | None:
        text = lemma.replace("_", " ")
        # Lower case throughout: no names. No digits, no abbreviations.
        if len(text) < 3 or not _WORD.match(text) or not _VOWEL.search(text):
            return None
        synsets, counts = self.wordnet.sense_numbers(lemma, "n")
        if not synsets or self.wordnet.is_instance(synsets[0]):
            return None
        lemmas = self.wordnet.lemmas_of(synsets[0])
        # Not if it is a name in that sense, nor a number (one: 1, ace).
        if lemma not in lemmas or any(map(_DIGIT.search, lemmas)):
            return None
        is_plural = self._looks_plural(lemma)
        if is_plural is None:
            return None
        return _Noun(
            text=text, synsets=synsets, counts=counts, n_tags=sum(counts), is_plural=is_plural
        )

    def _looks_plural(self, lemma: str) -> bool | None:
        """Tell whether a lemma is a plural form (trousers); None if that is not clear (news)."""
        if lemma in self._irregular:
            return True
        if _PLURAL_HEAD.search(lemma):
            return None  # facts_of_life
        if not lemma.endswith("s") or lemma.endswith(_SINGULAR_S):
            return False
        bases = self.wordnet.base_forms(lemma, "n")
        return True if any(2 < len(base) < len(lemma) for base in bases) else None

    def _is_clear(self, noun: _Noun) -> bool:
        """Tell whether the word nearly always is this noun in its first sense."""
        lemma = noun.text.replace(" ", "_")
        verbs = self.wordnet.base_forms(lemma, "v")
        if verbs:
            if lemma.endswith("ing"):
                return False  # eating, crossing: too often a verb's form
            n_verb = sum(self.wordnet.sense_numbers(verbs[0], "v")[1])
            if n_verb > _CLEARLY * max(1, noun.n_tags):
                return False
        if len(noun.counts) == 1:
            return True
        return noun.counts[0] - noun.counts[1] >= 2 and noun.share(0) >= _KEY_SHARE

    def _values(self, noun: _Noun) -> list[_Value]:
        """Give the synonyms of the noun's first sense that the corpus may choose from."""
        values = []
        for name in self.wordnet.lemmas_of(noun.synsets[0]):
            if "_" in name or name == noun.text:
                continue  # moving ridge, performing artist
            value = self.noun(name)
            if value is None or value.is_plural != noun.is_plural:
                continue
            rank = value.synsets.index(noun.synsets[0])
            if not _is_meant(value, rank):
                continue
            if name.endswith("ing") and self.wordnet.base_forms(name, "v"):
                continue  # feeding, gaming
            if not _resemble(noun.text, name):
                values.append(_Value(name=name, noun=value, n_tags=value.counts[rank]))
        return values


@lru_cache(maxsize=2)
def _lexicon_of(wordnet: WordNet) -> _Lexicon:
    return _Lexicon(wordnet)


class _BroadRules:
    def __init__(
        self, counts: Mapping[str, int], wordnet: WordNet, block_list: Iterable[str]
    ) -> None:
        self._corpus = counts
        self._wordnet = wordnet
        self._lexicon = _lexicon_of(wordnet)
        self._plurals = self._lexicon.plurals
        self._n_used: dict[str, int] = defaultdict(int)
        for form, count in counts.items():
            for base in wordnet.base_forms(form.replace(" ", "_"), "n"):
                self._n_used[base] += count
        self._blocked = {word.lower() for word in block_list}
        self._unwelcome = self._blocked | _OFFENSIVE

    def entries(self) -> list[tuple[str, str, int, Rule]]:
        singular: dict[str, tuple[str, int]] = {}
        plural: dict[str, tuple[str, int]] = {}
        for noun, values in self._lexicon.keys:
            if noun.is_plural and not self._is_noun_of_its_own(noun):
                continue
            value = self._best(noun, values)
            if value is None:
                continue
            weight = noun.counts[0]
            if noun.is_plural:
                self._offer(plural, noun.text, value.text, weight)
            else:
                self._offer(singular, noun.text, value.text, weight)
                self._offer_plurals(plural, noun, value, weight)
        return [
            (key, value, number, "frequency")
            for table, number in ((singular, SINGULAR_KEY), (plural, PLURAL_KEY))
            for key, (value, _) in table.items()
            if value and key not in self._blocked
        ]

    def _offer(self, table: dict[str, tuple[str, int]], key: str, value: str, weight: int) -> None:
        """Enter a substitution; of two for one form the clearly more frequent noun's stays."""
        old = table.get(key)
        if old is None or weight >= _CLEARLY * max(1, old[1]):
            table[key] = (value, weight)
        elif old[1] < _CLEARLY * max(1, weight) and old[0] != value:
            table[key] = ("", max(weight, old[1]))

    def _offer_plurals(
        self, table: dict[str, tuple[str, int]], noun: _Noun, value: _Noun, weight: int
    ) -> None:
        written = self._plurals.plural(value.text)
        for form in self._plurals.forms(noun.text):
            if _resemble(form, written) or self._is_rather_verb(form, noun):
                continue
            if self._is_clearly_of(form, noun):
                self._offer(table, form, written, weight)

    def _is_clearly_of(self, form: str, noun: _Noun) -> bool:
        """Tell whether a plural form leads back to this noun, and hardly to any other.

        "woods" is a noun of its own besides the plural of "wood", "ellipses" belongs to "ellipsis".
        """
        lemma = noun.text.replace(" ", "_")
        bases = self._wordnet.base_forms(form.replace(" ", "_"), "n")
        return (lemma in bases or " " in noun.text) and all(
            base == lemma
            or noun.counts[0] >= _CLEARLY * sum(self._wordnet.sense_numbers(base, "n")[1])
            for base in bases
        )

    def _is_noun_of_its_own(self, noun: _Noun) -> bool:
        """Tell whether a plural noun (woods, sunglasses) is rather that than a plural (arms)."""
        for base in self._wordnet.base_forms(noun.text.replace(" ", "_"), "n")[1:]:
            n_base = sum(self._wordnet.sense_numbers(base, "n")[1])
            n_plural = self._corpus.get(noun.text, 0)
            n_singular = self._corpus.get(base, 0)
            if n_base > noun.n_tags or (
                n_base == noun.n_tags and n_plural < _CLEARLY * max(1, n_singular)
            ):
                return False
        return True

    def _is_rather_verb(self, form: str, noun: _Noun) -> bool:
        """Tell whether a plural form is more often a verb (tries, leaps), where taggers err."""
        verbs = self._wordnet.base_forms(form, "v")
        return bool(verbs) and (sum(self._wordnet.sense_numbers(verbs[0], "v")[1]) > noun.n_tags)

    def _best(self, noun: _Noun, values: list[_Value]) -> _Noun | None:
        """Give the value that the corpus prefers, if any will do."""
        usable: list[tuple[int, int, int, str, _Noun]] = []
        n_used = self._n_used.get(noun.text.replace(" ", "_"), 0)
        for value in values:
            n_corpus = self._n_used.get(value.name, 0)
            if value.n_tags == 0 and n_corpus < 2:
                continue  # chapeau, terpsichore
            if n_used >= _OFTEN and n_corpus == 0 and value.n_tags < _ATTESTED:
                continue  # court -> tribunal, in texts about sport
            if value.name in self._unwelcome or self._is_mass_beside(value.name, noun):
                continue  # leaf -> foliage
            usable.append((n_corpus, value.n_tags, -len(value.name), value.name, value.noun))
        return max(usable, key=lambda item: item[:4])[4] if usable else None

    def _is_mass_beside(self, value: str, noun: _Noun) -> bool:
        """Tell whether the value, unlike the key, has no plural (leaf -> foliage).

        It has none by its ending, or if the corpus, going by how often the key is plural in it,
        should have several plurals of the value and has not one.
        """
        if value.endswith(_MASS):
            return not noun.text.endswith(_MASS)
        if noun.is_plural or self._n_plural(value):
            return False
        key = noun.text.replace(" ", "_")
        n_used = self._n_used.get(key, 0)
        share = self._n_plural(noun.text) / n_used if n_used else 0.0
        return share * self._n_used.get(value, 0) >= _SEVERAL

    def _n_plural(self, text: str) -> int:
        forms = self._plurals.forms(text)
        return sum(self._corpus.get(form, 0) for form in forms if form != text)


def _is_meant(value: _Noun, rank: int) -> bool:
    """Tell whether the common sense is one that the synonym often has."""
    if value.n_tags == 0:
        return len(value.counts) == 1
    return value.share(rank) >= _VALUE_SHARE.get(rank, 2.0)


def _resemble(key: str, value: str) -> bool:
    """Tell whether two nouns share a stem or a word, one contains the other, or gender differs."""
    if ("woman" in key or "women" in key) != ("woman" in value or "women" in value):
        return True  # sportsman and sportswoman are one synset, but not one meaning
    joined_key, joined_value = key.replace(" ", ""), value.replace(" ", "")
    if joined_key in joined_value or joined_value in joined_key:
        return True
    stems = {porter_stem(word) for word in re.split("[ '-]", key)}
    return any(porter_stem(word) in stems for word in re.split("[ '-]", value))
