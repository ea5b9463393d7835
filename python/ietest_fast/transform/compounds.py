"""Compound statements of whole sentences: both, one of them, the contrary, one behind the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.transform.numerical import has_finite_verb
from ietest_fast.transform.sentences import are_single_sentences, are_statements
from ietest_fast.transform.syntax.trees import is_common

if TYPE_CHECKING:
    import numpy.typing as npt

    from ietest_fast.lexicon import Tagger
    from ietest_fast.lexicon.wordnet import WordNet

Connective = Literal["and", "or"]

NOT_TRUE = "It is not true that "
"""What denies the statement behind it."""

# At the end of a sentence; "the U.S." keeps its own.
_MARKS = r"[\s.!;:,]+$"
_ABBREVIATED = r"(?:\pL\.){2,}\s*$"
_CLOSED = r"[.!?][\"')\]]*$"
# "didn't", "she's".
_SHORTENED = r"(?i)n['’]t\b|\b(?:I|you|he|she|it|we|they|there|that|who)['’](?:m|s|re|ve|ll|d)\b"
_FIRST_WORD = r"^(?P<word>[\pL'’-]+)"

# Words of these classes have no capital of their own, but for "I".
_FUNCTION_CLASSES = frozenset(
    {"DET", "PRON", "ADP", "AUX", "CCONJ", "SCONJ", "PART", "NUM", "INTJ"}
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statements:
    """Sentences in the forms in which they stand in compound statements."""

    bare: pa.Array
    """Large strings (n,): without the final mark."""
    inner: pa.Array
    """Large strings (n,): beginning with a small letter, unless the first word is a name, an
    acronym or *I*, and with the final mark."""
    fit: npt.NDArray[np.bool_]
    """bool (n,): which are single statements. Of questions and requests nothing follows, of several
    sentences *or* and *not* would take the one beside them only, and a phrase without a finite
    verb, such as *two men carrying an axe*, is no part of a sentence."""

    @classmethod
    def of(cls, texts: pa.Array, tagger: Tagger, *, n_threads: int | None = None) -> Statements:
        """Bring sentences into these forms."""
        trimmed = pc.utf8_trim_whitespace(texts)
        bare = without_mark(trimmed)
        return cls(
            bare=bare,
            inner=_begin_small(trimmed, tagger, n_threads),
            fit=are_statements(trimmed) & are_single_sentences(trimmed) & _have_verbs(bare),
        )

    def join(
        self,
        connective: Connective,
        first: npt.NDArray[np.int64],
        second: npt.NDArray[np.int64],
    ) -> pa.Array:
        """Return "P and H" or "P or H" of k pairs of sentences, large strings (k,)."""
        left, right = self.bare.take(pa.array(first)), self.inner.take(pa.array(second))
        return pc.binary_join_element_wise(left, right, _large(f" {connective} "))

    def deny(self, which: npt.NDArray[np.int64]) -> pa.Array:
        """Return "It is not true that P" of k sentences, large strings (k,)."""
        inner = self.inner.take(pa.array(which))
        return pc.binary_join_element_wise(_large(NOT_TRUE), inner, _large(""))


def without_mark(trimmed: pa.Array) -> pa.Array:
    """Return texts without the final mark, with which they begin compounds, large strings (n,)."""
    return pc.if_else(
        pc.match_substring_regex(trimmed, _ABBREVIATED),
        trimmed,
        pc.replace_substring_regex(trimmed, _MARKS, ""),
    )


def follow(first: pa.Array, second: pa.Array) -> pa.Array:
    """Return texts with another behind each, large strings (k,).

    A text without a final mark gets a full stop.
    """
    trimmed = pc.utf8_trim_whitespace(first)
    between = pc.if_else(pc.match_substring_regex(trimmed, _CLOSED), _large(" "), _large(". "))
    return pc.binary_join_element_wise(
        trimmed, between, pc.utf8_trim_whitespace(second), _large("")
    )


def _have_verbs(texts: pa.Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.asarray(pc.match_substring_regex(texts, _SHORTENED)).copy()
    unsure = np.flatnonzero(~found)
    left = texts.take(pa.array(unsure)).to_pylist()
    found[unsure] = [has_finite_verb(text, ()) for text in left]
    return found


def _begin_small(texts: pa.Array, tagger: Tagger, n_threads: int | None) -> pa.Array:
    from ietest_fast.lexicon import UPOS, WordNet

    tags = tagger.tag(texts, n_process=n_threads)
    # The class of the first token; that of a text without one is not looked at.
    first = np.minimum(tags.offsets[:-1], max(len(tags.pos) - 1, 0))
    classes = tags.pos[first] if len(tags.pos) else np.zeros(len(texts), np.uint8)
    words = pc.fill_null(pc.struct_field(pc.extract_regex(texts, _FIRST_WORD), "word"), "")
    encoded = words.dictionary_encode()
    # Each word once for each of its classes.
    keys = np.asarray(encoded.indices).astype(np.int64) * len(UPOS) + classes
    found, place = np.unique(keys, return_inverse=True)
    spellings, wordnet = encoded.dictionary.to_pylist(), WordNet.packaged()
    small = np.array(
        [_may_begin_small(spellings[k // len(UPOS)], UPOS[k % len(UPOS)], wordnet) for k in found],
        np.bool_,
    )
    lowered = pc.binary_join_element_wise(
        pc.utf8_lower(pc.utf8_slice_codeunits(texts, 0, 1)),
        pc.utf8_slice_codeunits(texts, 1),
        _large(""),
    )
    return pc.if_else(pa.array(small[place.reshape(-1)]), lowered, texts)


def _may_begin_small(word: str, pos: str, wordnet: WordNet) -> bool:
    """Whether a word that begins a sentence has its capital from there."""
    if not word[:1].isupper() or word[1:] != word[1:].lower():
        return False
    if pos == "PROPN" or word == "I" or word.startswith(("I'", "I’")):
        return False
    return pos in _FUNCTION_CLASSES or is_common(word.lower(), wordnet)


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
