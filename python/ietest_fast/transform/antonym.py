"""Competence with antonyms: a text beside itself with one word turned into its opposite.

Naik et al. 2018, section 3.1.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from ietest_fast.lexicon.antonyms import Senses, lesk, lesk_as_nltk
from ietest_fast.lexicon.inflection import Plurals
from ietest_fast.runtime import load_core
from ietest_fast.transform.base import BaseTransformation, Transformed, fingerprint_of
from ietest_fast.transform.kinds import (
    Material,
    PhiOptions,
    PlannedTransformation,
    TransformationKind,
)
from ietest_fast.transform.new_pairs import NewPair, check_pair_columns, put_pairs
from ietest_fast.transform.numerical import Draws
from ietest_fast.transform.tagged import pipeline_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

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
    r"may|might|some|many|several|few|most|other|another)\b",
    re.IGNORECASE,
)
_SCHEME = 1


class Word(NamedTuple):
    """A token of a sentence: characters ``start:end``, its universal tag, and 2 for a plural."""

    start: int
    end: int
    pos: str
    number: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Antonym(BaseTransformation):
    """Put a word's antonym in its place: the new text contradicts the old one.

    Both texts of a pair are taken for themselves. From a premise comes the pair (premise, premise
    with the antonym), from a hypothesis (hypothesis with the antonym, hypothesis); rows of which no
    word has an antonym are left out, and equal pairs are there once.

    Parameters
    ----------
    tagger
        Finds words, and for the careful rules their parts of speech.
    senses
        Antonyms by sense.
    rules
        ``"careful"``: common nouns and adjectives that stand alone, in the sense that shares most
        content words with the sentence, where the antonym is that of the word itself; one antonym
        each, with number, degree, capitals and article; nothing in sentences that deny, ask or
        suppose something. ``"paper"``: as the published code, every antonym of every lemma of the
        sense that NLTK's ``lesk`` finds, put where the word's letters first occur.
    seed
        Seed of the draws, which are addressed by the text.
    """

    tagger: Tagger
    senses: Senses = field(default_factory=Senses.packaged)
    rules: Literal["careful", "paper"] = "careful"
    seed: int = 0

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
        return fingerprint_of(
            {
                "scheme": _SCHEME,
                **self.describe(),
                "tagger": self.tagger.fingerprint,
                "wordnet": self.senses.wordnet.fingerprint,
            }
        )

    def describe(self) -> dict[str, Any]:
        """Return name and options."""
        options = {"rules": self.rules, "seed": self.seed, "tagger": pipeline_name(self.tagger)}
        return {"name": self.name, "options": options}

    @functools.cached_property
    def _plurals(self) -> Plurals:
        return Plurals(self.senses.wordnet)

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
        pairs: list[NewPair] = []
        for place, name in enumerate(columns):
            texts = table[name].to_pylist()
            for row, text, words in self._read(texts, n_threads):
                for new in dict.fromkeys(self.opposites(text, words)):
                    premise, hypothesis = (text, new) if place == 0 else (new, text)
                    pairs.append(
                        NewPair(
                            row=row, premise=premise, hypothesis=hypothesis, label=LABEL, rule=RULE
                        )
                    )
        first = {(pair.premise, pair.hypothesis): pair for pair in reversed(pairs)}
        ordered = sorted(first.values(), key=lambda pair: pair.row)
        return put_pairs(table, columns, ordered, with_edits=with_edits)

    def _read(
        self, texts: Sequence[str | None], n_threads: int | None
    ) -> Iterator[tuple[int, str, list[Word]]]:
        """Yield (row, text, its words) for the texts that are there."""
        from ietest_fast.lexicon import UPOS

        tags = self.tagger.tag(list(texts), n_process=n_threads)  # type: ignore[arg-type]
        for row, text in enumerate(texts):
            if not text:
                continue
            data = text.encode()
            words = [
                Word(
                    len(data[: tags.start[i]].decode()),
                    len(data[: tags.end[i]].decode()),
                    UPOS[tags.pos[i]],
                    int(tags.number[i]),
                )
                for i in range(tags.offsets[row], tags.offsets[row + 1])
                if UPOS[tags.pos[i]] != "SPACE"
            ]
            yield row, text, words

    def opposites(self, text: str, words: Sequence[Word]) -> Iterator[str]:
        """Yield a text with one word after the other replaced by an antonym."""
        return self._as_published(text, words) if self.rules == "paper" else self._carefully(text, words)

    def _as_published(self, text: str, words: Sequence[Word]) -> Iterator[str]:
        tokens = [text[word.start : word.end].lower() for word in words]
        for token in tokens:
            if token in NEVER_REPLACED or token not in text:
                continue
            sense = lesk_as_nltk(tokens, self.senses.of_word(token))
            if sense is None or sense.pos not in {"n", "s"}:
                continue
            for _, antonym in sense.antonyms:
                if antonym not in _NEVER_PUT and "_" not in antonym:
                    yield text.replace(token, antonym, 1)

    def _carefully(self, text: str, words: Sequence[Word]) -> Iterator[str]:
        if _UNSURE.search(text):
            return
        folded = [text[word.start : word.end].lower() for word in words]
        draws = Draws(self.seed, text)
        for i, word in enumerate(words):
            found = self._antonyms_of(folded, words, i)
            if found:
                form = found[draws.below(len(found))]
                yield put_word(text, words, i, form)

    def _antonyms_of(self, folded: Sequence[str], words: Sequence[Word], i: int) -> list[str]:
        """Return what may stand for a word; nothing where it should stay."""
        token, word = folded[i], words[i]
        if (
            word.pos not in {"NOUN", "ADJ"}
            or token in NEVER_REPLACED
            or not token.isalpha()
            or folded.count(token) > 1
            or _is_bound(words, i)
        ):
            return []
        wanted = {"n"} if word.pos == "NOUN" else {"a", "s"}
        senses = [sense for sense in self.senses.of_word(token) if sense.pos in wanted]
        sense = lesk([*folded[:i], *folded[i + 1 :]], senses)
        if sense is None:
            return []
        forms = [
            form
            for own, antonym in sense.antonyms
            if "_" not in antonym
            for form in [self._inflected(token, word, own.lower(), antonym)]
            if form is not None and form not in folded
        ]
        return list(dict.fromkeys(forms))

    def _inflected(self, token: str, word: Word, lemma: str, antonym: str) -> str | None:
        """Return the antonym in the form that a lemma has in a token; None if it has none."""
        if word.pos == "NOUN":
            if token == lemma:
                return antonym
            is_plural = word.number == 2 and token in self._plurals.forms(lemma)
            return self._plurals.plural(antonym) if is_plural else None
        for ending in ("", "er", "est"):
            if token == with_degree(lemma, ending):
                return with_degree(antonym, ending)
        return None


def _is_bound(words: Sequence[Word], i: int) -> bool:
    """Say whether a word belongs to a compound or a name: nouns stand beside it."""
    before = words[i - 1] if i > 0 else None
    behind = words[i + 1] if i + 1 < len(words) else None
    noun = {"NOUN", "PROPN"}
    if words[i].pos == "NOUN" and (
        (before is not None and before.pos in noun) or (behind is not None and behind.pos in noun)
    ):
        return True
    # "well-known", "the 'hot' one", "x-ray"
    touches = (before is not None and before.end == words[i].start) or (
        behind is not None and behind.start == words[i].end and behind.pos != "PUNCT"
    )
    return touches or (behind is not None and behind.pos == "PROPN")


# Adjectives whose degrees are other words.
_IRREGULAR = {
    "good": {"er": "better", "est": "best"},
    "bad": {"er": "worse", "est": "worst"},
    "far": {"er": "farther", "est": "farthest"},
    "little": {"er": "less", "est": "least"},
    "many": {"er": "more", "est": "most"},
    "few": {"er": "fewer", "est": "fewest"},
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
    if adjective.endswith("e"):
        return adjective + ending[1:]
    if re.search(r"[^aeiou]y$", adjective):
        return f"{adjective[:-1]}i{ending}"
    if re.search(r"(?:^|[^aeiou])[aeiou][bdgmnprt]$", adjective):
        return adjective + adjective[-1] + ending
    return adjective + ending


def put_word(text: str, words: Sequence[Word], i: int, new: str) -> str:
    """Put a word in the place of another, with its capitals, and repair the article before it."""
    word = words[i]
    old = text[word.start : word.end]
    if old.isupper() and len(old) > 1:
        new = new.upper()
    elif old[0].isupper():
        new = new[0].upper() + new[1:]
    head = text[: word.start]
    if i > 0:
        article = text[words[i - 1].start : words[i - 1].end]
        if article.lower() in {"a", "an"}:
            wanted = "an" if load_core().text.takes_an(new) else "a"
            if wanted != article.lower():
                wanted = wanted.capitalize() if article[0].isupper() else wanted
                head = text[: words[i - 1].start] + wanted + text[words[i - 1].end : word.start]
    return head + new + text[word.end :]


class AntonymOptions(PhiOptions):
    """What the pairs of antonyms can be told."""

    rules: Literal["careful", "paper"] = Field(
        "careful",
        description="careful: one antonym of the word itself, inflected; paper: all of the sense, "
        "as published",
    )
    seed: int = Field(0, ge=0, description="seed of the draws")
    tagger: str | None = Field(None, description="a spaCy pipeline [the packaged one]")


def _plan_antonym(options: AntonymOptions) -> PlannedTransformation:
    from ietest_fast.lexicon import TagCache, Tagger

    tagger = Tagger.load("packaged" if options.tagger is None else options.tagger)
    made = Antonym(tagger=tagger, rules=options.rules, seed=options.seed)

    def build(material: Material) -> Antonym:
        if material.tag_cache is not None:
            kept = None if material.tag_cache == "temporary" else material.tag_cache
            tagger.keep_tags(TagCache(kept))
        return made

    return PlannedTransformation(
        name=made.name,
        fingerprint=made.fingerprint,
        options=made.describe()["options"],
        builder=build,
        closer=tagger.close,
        keeps_labels=False,
    )


ANTONYM = TransformationKind(
    name="antonym",
    summary="makes pairs of a text and its opposite by an antonym; they contradict each other",
    options=AntonymOptions,
    plan=_plan_antonym,
)
