"""Texts as words: lower-cased, without the punctuation around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


CHUNK_ROWS = 262_144

# Of each byte whether it is white space, as regular expressions have it (\s). The bytes of other
# characters are never among these.
IS_SPACE = np.zeros(256, np.bool_)
IS_SPACE[list(b"\t\n\f\r ")] = True


@dataclass(frozen=True, kw_only=True, eq=False)
class WordIncidence:
    """Which words stand in which texts, each counted once a text."""

    words: pa.Array
    """Different words, large_string."""
    row: NDArray[np.int64]
    word: NDArray[np.int64]
    """Text and word (a position in `words`) of each incidence, int64, sorted by text."""


def strip_punctuation(words: pa.Array) -> pa.Array:
    """Take from words what is no letter and no digit at their ends."""
    return pc.replace_substring_regex(words, r"^[^\pL\pN]+|[^\pL\pN]+$", "")


def find_incidence(*columns: pa.ChunkedArray) -> WordIncidence:
    """Find the words of texts that may have several columns."""
    rows: list[NDArray[np.int64]] = []
    pieces: list[pa.Array] = []
    for column in columns:
        texts = pa.chunked_array(column).combine_chunks().cast(pa.large_string())
        lists = pc.utf8_split_whitespace(pc.utf8_lower(texts))
        rows.append(np.asarray(pc.list_parent_indices(lists)).astype(np.int64))
        pieces.append(pc.list_flatten(lists).cast(pa.large_string()))
    encoded = pa.concat_arrays(pieces).dictionary_encode()
    # Few words are different, so they are stripped when they are; "dog." and "dog" then meet.
    plain = strip_punctuation(encoded.dictionary).dictionary_encode()
    word = np.asarray(plain.indices).astype(np.int64)[np.asarray(encoded.indices)]
    row = np.concatenate(rows)
    blank = pc.index(plain.dictionary, "").as_py()
    if blank >= 0:
        row, word = row[word != blank], word[word != blank]
    joined = np.unique(row * len(plain.dictionary) + word)
    return WordIncidence(
        words=plain.dictionary,
        row=joined // max(len(plain.dictionary), 1),
        word=joined % max(len(plain.dictionary), 1),
    )


def count_words(texts: pa.Array) -> NDArray[np.int64]:
    r"""Count what white space separates (``\S+``) in the texts of a large_string array."""
    counts = [np.empty(0, np.int64)]
    for offsets, content in bytes_of(texts):
        in_word = ~IS_SPACE[content]
        begins = in_word.copy()
        begins[1:] &= ~in_word[:-1]
        # A text begins anew, whatever the one before it ends with.
        first = offsets[:-1][np.diff(offsets) > 0]
        begins[first] = in_word[first]
        counts.append(count_marks(begins, offsets))
    return np.concatenate(counts)


def bytes_of(texts: pa.Array) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
    """Give a large_string array's offsets and bytes, some rows at a time, offsets from 0."""
    for start in range(0, len(texts), CHUNK_ROWS):
        chunk = texts.slice(start, CHUNK_ROWS)
        _, offsets_buffer, data = chunk.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int64, len(chunk) + 1, 8 * chunk.offset)
        content = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
        yield offsets - offsets[0], content


def count_marks(marks: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the marks between each two offsets."""
    counts: NDArray[np.int64] = np.diff(np.searchsorted(np.flatnonzero(marks), offsets))
    return counts


# How easy texts are to read (Flesch 1948).

# The end of a sentence and the beginning of another: . ! or ?, perhaps closed, a space, a sign.
_LONGEST = 100
_BREAK = r"[.!?]+[\"'”’)\]]*\s+[^\s.!?]"


def count_syllables(words: pa.Array) -> NDArray[np.int64]:
    """Estimate the syllables of English words, one at least, by where they may be hyphenated."""
    import pyphen

    places = pyphen.Pyphen(lang="en_US", left=1, right=1)

    def count(word: str) -> int:
        # pyphen looks at every piece of a word; one so long is none of English.
        return len(places.positions(word)) + 1 if len(word) <= _LONGEST else len(word) // 3

    return np.array([count(word) for word in words.to_pylist()], np.int64)


def reading_ease(texts: pa.Array) -> NDArray[np.float64]:
    """Estimate Flesch's reading ease of English texts.

    206.835 - 1.015 * words / sentences - 84.6 * syllables / words (Flesch 1948): above 90 very
    easy, below 30 very hard; single sentences reach far beyond 0 and 100. Words are what white
    space separates and holds a letter or a digit; sentences end in ``.``, ``!`` or ``?`` before
    white space, so abbreviations count as ends; syllables are estimated from hyphenation.
    """
    plain = texts.cast(pa.large_string())
    lists = pc.utf8_split_whitespace(plain)
    row = np.asarray(pc.list_parent_indices(lists)).astype(np.int64)
    encoded = pc.list_flatten(lists).cast(pa.large_string()).dictionary_encode()
    words = strip_punctuation(encoded.dictionary)
    syllables = count_syllables(words)
    syllables[np.asarray(pc.equal(words, ""), dtype=bool)] = 0
    own = syllables[np.asarray(encoded.indices).astype(np.int64)]
    n_words = np.bincount(row[own > 0], minlength=len(plain))
    n_syllables = np.bincount(row, own, minlength=len(plain))
    n_sentences = 1 + pc.count_substring_regex(plain, _BREAK).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        ease = 206.835 - 1.015 * n_words / n_sentences - 84.6 * n_syllables / n_words
    return np.where(n_words > 0, ease, np.nan)
