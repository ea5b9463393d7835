"""The packaged substitutions that readers accepted, and which of them fit a corpus."""

from __future__ import annotations

import csv
import functools
import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ietest_fast.errors import InputError, ResourceError
from ietest_fast.lexicon.packaged import RESOURCES, check_packaged
from ietest_fast.lexicon.tagged_words import TaggedWord, TaggedWords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa

    from ietest_fast.lexicon.wordnet import PartOfSpeech, WordNet

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
    """Read the packaged table, in its order.

    Raises
    ------
    ResourceError
        If it is missing or damaged.
    """
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
    for pos, places in _INFLECTED.items():
        for lemma in _entries_of_several_words(wordnet, pos):
            words = lemma.split("_")
            if forms.keys().isdisjoint(words):
                continue
            variants = [words]
            for place in places:
                for form in wordnet.forms_of(words[place], pos)[1:]:
                    variant = words.copy()
                    variant[place] = form
                    variants.append(variant)
            for i, word in enumerate(words):
                for variant in variants:
                    # A word of the table is inflected as the table has it.
                    if word in forms and variant[i] == word:
                        before, after = variant[:i], variant[i + 1 :]
                        found.update(" ".join((*before, form, *after)) for form in forms[word])
    return tuple(sorted(found))


# Which words of an entry of several words are inflected, by its part of speech.
_INFLECTED: dict[PartOfSpeech, tuple[int, ...]] = {"n": (0, -1), "v": (0,), "a": (), "r": ()}


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
