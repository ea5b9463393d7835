"""Antonyms by word sense, and the sense of a word in its sentence (Lesk 1986)."""

from __future__ import annotations

import functools
import io
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import ResourceError
from ietest_fast.lexicon.pipelines import RESOURCES, check_packaged
from ietest_fast.lexicon.wordnet import WordNet, as_bytes, as_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ietest_fast.lexicon.wordnet import PartOfSpeech

SENSES_FILE = RESOURCES / "wordnet-3.0" / "senses.npz"
_FORMAT = 1
_ORDER: tuple[PartOfSpeech, ...] = ("n", "v", "a", "r")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True, kw_only=True)
class GlossedSense:
    """A synset with what tells it from others."""

    synset: int
    """Its number in the packaged WordNet."""
    name: str
    """As NLTK named it in 2018: ``hot.a.01``, satellites counted among all adjectives."""
    pos: str
    """``n``, ``v``, ``a``, ``s`` (an adjective that belongs to a group) or ``r``."""
    definition: str
    """The gloss without its examples."""
    examples: tuple[str, ...]
    """Those of the gloss."""
    antonyms: tuple[tuple[str, str], ...]
    """Lemma names opposite to the lemmas of the synset, in WordNet's order, with the lemma that
    each belongs to."""

    @functools.cached_property
    def gloss_words(self) -> frozenset[str]:
        """Words of definition and examples, in lower case."""
        gloss = " ".join((self.definition, *self.examples)).lower()
        return frozenset(_WORD.findall(gloss))


@dataclass(frozen=True, kw_only=True, eq=False)
class Senses:
    """Glosses and antonyms of the synsets that words with antonyms have."""

    wordnet: WordNet
    """The lexicon whose synsets are numbered here."""
    senses: Mapping[int, GlossedSense]
    """By the number of the synset."""

    @classmethod
    @functools.cache
    def packaged(cls) -> Senses:
        """Load what comes with the package."""
        check_packaged(SENSES_FILE.parent)
        return cls(wordnet=WordNet.packaged(), senses=read_senses(SENSES_FILE))

    def of_word(self, word: str) -> list[GlossedSense]:
        """Return the senses of a word in any form, in the order of NLTK's ``synsets``."""
        found: dict[int, GlossedSense] = {}
        for pos in _ORDER:
            for lemma in self.wordnet.base_forms(word, pos):
                for number in self.wordnet.sense_numbers(lemma, pos)[0]:
                    if number in self.senses:
                        found.setdefault(number, self.senses[number])
        return list(found.values())


def lesk_as_nltk(context: Collection[str], senses: Sequence[GlossedSense]) -> GlossedSense | None:
    """Return the sense whose definition shares most words with a context, as NLTK's ``lesk`` did.

    Words are what stands between blanks. Of several senses the one with the last name wins, as in
    the NLTK of 2018 (newer ones take the first). None without senses.
    """
    words = set(context)
    return max(
        senses,
        key=lambda sense: (len(words.intersection(sense.definition.split())), sense.name),
        default=None,
    )


def lesk(context: Collection[str], senses: Sequence[GlossedSense]) -> GlossedSense | None:
    """Return the sense whose gloss shares most content words with a context.

    Definition and examples count; function words do not. Of several the first, which is WordNet's
    most frequent one, wins. None without senses.
    """
    from ietest_fast.lexicon.words import FUNCTION_WORDS

    words = set(context) - FUNCTION_WORDS
    best, most = None, -1
    for sense in senses:
        overlap = len(words & sense.gloss_words)
        if overlap > most:
            best, most = sense, overlap
    return best


def write_senses(senses: Sequence[GlossedSense], *, wordnet: str) -> bytes:
    """Give the one-file form; equal senses give equal bytes."""
    header = {"format": _FORMAT, "wordnet": wordnet}
    arrays: dict[str, npt.NDArray[Any]] = {
        "header": as_bytes([json.dumps(header, sort_keys=True)]),
        "synset": np.array([sense.synset for sense in senses], np.int32),
        "name": as_bytes([sense.name for sense in senses]),
        "pos": as_bytes(["".join(sense.pos for sense in senses)]),
        "definition": as_bytes([sense.definition for sense in senses]),
        "examples": as_bytes(["\t".join(sense.examples) for sense in senses]),
        "antonyms": as_bytes(
            [" ".join(f"{own}>{other}" for own, other in sense.antonyms) for sense in senses]
        ),
    }
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def read_senses(path: Path) -> dict[int, GlossedSense]:
    """Read the one-file form."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header = json.loads(as_text(arrays["header"]))
            if header["format"] != _FORMAT or header["wordnet"] != WordNet.packaged().fingerprint:
                raise ResourceError(
                    f"{path}: made for another WordNet; make it again with tools/make_senses.py"
                )
            columns = [
                as_text(arrays[key]).split("\n")
                for key in ("name", "definition", "examples", "antonyms")
            ]
            rows = zip(arrays["synset"].tolist(), as_text(arrays["pos"]), *columns, strict=True)
            return {
                synset: GlossedSense(
                    synset=synset,
                    name=name,
                    pos=pos,
                    definition=definition,
                    examples=tuple(filter(None, examples.split("\t"))),
                    antonyms=tuple(_pair(each) for each in antonyms.split()),
                )
                for synset, pos, name, definition, examples, antonyms in rows
            }
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise ResourceError(f"{path}: not a readable file of senses ({error})") from error


def _pair(written: str) -> tuple[str, str]:
    own, _, other = written.partition(">")
    return own, other
