"""Competence with antonyms: a text beside itself with one word turned into its opposite.

Naik et al. 2018, section 3.1.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from pydantic import Field

from ietest_fast.lexicon.antonyms import GlossedSense, Senses, lesk, lesk_as_nltk
from ietest_fast.transform.antonym_words import SEXED, antonym_words, fits_caption, says_one_thing
from ietest_fast.transform.base import BaseTransformation, Transformed, fingerprint_of
from ietest_fast.transform.edits import ARTICLE_RULE
from ietest_fast.transform.kinds import (
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
)
from ietest_fast.transform.new_pairs import NewPair, check_pair_columns, put_pairs
from ietest_fast.transform.tagged import TaggedSubstitution, pipeline_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ietest_fast.lexicon import Tagger


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
    (:func:`ietest_fast.transform.antonym_words.says_one_thing`)."""
    rules: Literal["careful", "paper"] = "careful"
    """``"careful"``: the packaged pairs of common nouns and adjectives, where what stands beside
    the word allows it, as :class:`~ietest_fast.transform.TaggedSubstitution` finds out; with
    number, degree, capitals and article; where WordNet knows the antonym, only in the sense that
    shares most content words with the text; nothing in texts that deny, ask or suppose something.
    ``"paper"``: as the published code, every antonym of every lemma of the sense that NLTK's
    ``lesk`` finds, put where the word's letters first occur."""

    @property
    def name(self) -> str:
        """``"antonym"``."""
        return "antonym"

    @property
    def keeps_labels(self) -> bool:
        """False: labels are set."""
        return False

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

    def describe(self) -> dict[str, Any]:
        """Return name and options."""
        options = {"rules": self.rules, "tagger": pipeline_name(self.tagger)}
        if self.rules == "careful":
            options["texts"] = "captions" if self.are_captions else "any"
        return {"name": self.name, "options": options}

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

    def __getstate__(self) -> dict[str, Any]:
        made = {"_substitution", "_parts", "_people", "_bases_of", "_senses_of"}
        return {key: value for key, value in self.__dict__.items() if key not in made}

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
            if _UNSURE.search(text) or not self._is_meant(text, olds[i], news[i]):
                continue
            words = _WORD.findall(text.lower())
            is_clear = words.count(olds[i].lower()) == 1 and not self._is_there(words, news[i])
            if not is_clear or (olds[i].lower() in self._people and _OF_PEOPLE.search(text)):
                continue
            # The article before it, if it had to change.
            first = i - 1 if i and rules[i - 1] == ARTICLE_RULE and rows[i - 1] == rows[i] else i
            data, new, at = text.encode(), b"", 0
            for edit in range(first, i + 1):
                new += data[at : starts[edit]] + news[edit].encode()
                at = ends[edit]
            found.append((rows[i], text, (new + data[at:]).decode(), starts[i]))
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

    def _is_meant(self, text: str, word: str, antonym: str) -> bool:
        """Say whether a word has an antonym in the sense that the text shows, as far as known."""
        senses = self._senses_of(word)
        bases = self._bases_of(antonym)

        def has_it(sense: GlossedSense) -> bool:
            return not bases.isdisjoint(other.lower() for _, other in sense.antonyms)

        if not any(map(has_it, senses)):
            return True  # nothing that WordNet could tell
        context = [each for each in _WORD.findall(text.lower()) if each != word.lower()]
        wanted = [sense for sense in senses if sense.pos in self._parts[word.lower()]]
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
            for token in filter(None, map(str.strip, tokens)):
                if token in NEVER_REPLACED or token not in text:
                    continue
                sense = lesk_as_nltk(tokens, self.senses.of_word(token))
                if sense is None or sense.pos not in {"n", "s"}:
                    continue
                for _, antonym in sense.antonyms:
                    if antonym not in _NEVER_PUT and "_" not in antonym:
                        yield row, text, text.replace(token, antonym, 1)


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
    from ietest_fast.lexicon import SceneCounter, TagCache, Tagger

    tagger = Tagger.load("packaged" if options.tagger is None else options.tagger)
    made = Antonym(tagger=tagger, rules=options.rules)

    def build(material: Material) -> Antonym:
        if material.tag_cache is not None:
            kept = None if material.tag_cache == "temporary" else material.tag_cache
            tagger.keep_tags(TagCache(kept))
        are_captions = options.texts == "captions"
        if options.texts == "auto" and options.rules == "careful":
            scenes = SceneCounter()
            for texts in material.texts():
                scenes.add(texts)
            are_captions = scenes.are_captions
        return Antonym(tagger=tagger, rules=options.rules, are_captions=are_captions)

    return PlannedTransformation(
        name=made.name,
        fingerprint=made.fingerprint,
        options={**made.describe()["options"], "texts": options.texts},
        builder=build,
        closer=tagger.close,
        keeps_labels=False,
        learns=True,
    )


ANTONYM = TransformationKind(
    name="antonym",
    summary="makes pairs of a text and its opposite by an antonym; they contradict each other",
    options=AntonymOptions,
    plan=_plan_antonym,
    language="English",
)
