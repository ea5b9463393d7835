"""How easy texts are to read (Flesch 1948)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.words import strip_punctuation

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
