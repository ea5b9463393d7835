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
