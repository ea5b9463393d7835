"""How much two texts have in common: words, characters, edits, for many pairs at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.corpus.description import number_tokens
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


# How much of one text's words and characters another has, for many pairs of texts at once.

BLEU_ORDERS = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Sequences:
    """Sequences of codes, one after the other."""

    codes: NDArray[np.int64]
    """int64."""
    offsets: NDArray[np.int64]
    """int64 (n + 1,): those of sequence i are ``offsets[i]:offsets[i + 1]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Codes of each sequence, int64 (n,)."""
        return np.diff(self.offsets)


def number_words(
    first: pa.Array | Sequence[str], second: pa.Array | Sequence[str]
) -> tuple[Sequences, Sequences]:
    """Return the words of n pairs of texts as numbers, equal words alike.

    Words are what white space separates, lower-cased, without what is no letter and no digit at
    their ends; what has neither is no word.
    """
    return split_words(first, second)[:2]


def split_words(
    first: pa.Array | Sequence[str], second: pa.Array | Sequence[str]
) -> tuple[Sequences, Sequences, pa.Array]:
    """Return the words of n pairs of texts as numbers, and what each number stands for.

    Parameters and errors as for :func:`number_words`.
    """
    texts = _check(first, second)
    row, code, words = number_tokens(pa.chunked_array([texts]))
    return *_halve(code, np.bincount(row, minlength=len(texts))), words


def number_characters(
    first: pa.Array | Sequence[str], second: pa.Array | Sequence[str]
) -> tuple[Sequences, Sequences]:
    """Return the characters of n pairs of texts as numbers: their code points.

    Texts are lower-cased; white space becomes one space, and one stands before and behind each
    text, so that the beginnings and ends of words are seen. Parameters and errors as for
    :func:`number_words`.
    """
    plain = [" ".join(text.lower().split()) for text in _check(first, second).to_pylist()]
    padded = [f" {text} " if text else "" for text in plain]
    codes = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.int64)
    return _halve(codes, np.array([len(text) for text in padded], np.int64))


def measure_jaccard(first: Sequences, second: Sequences) -> NDArray[np.float64]:
    """Compute the Jaccard similarity of the sets of words, float64 (n,).

    |A ∩ B| / |A ∪ B|; 1 where both are empty. With the words of :func:`number_words`, this is what
    the annotators of ParaNLU were shown (Srikanth et al. 2024, section 4.1), up to what counts as a
    word.
    """
    n = len(first)
    left, right = _count_grams(first, second, 1)
    mine = np.intersect1d(left.keys, right.keys, assume_unique=True, return_indices=True)[1]
    shared = np.bincount(left.rows[mine], minlength=n)
    union = np.bincount(left.rows, minlength=n) + np.bincount(right.rows, minlength=n) - shared
    return _divide(shared, union, empty=1.0)


def measure_gram_overlap(
    first: Sequences, second: Sequences, *, size: int = 3
) -> NDArray[np.float64]:
    """Compute the overlap of n-grams, each counted as often as it occurs, float64 (n,).

    Dice's coefficient of multisets, 2 Σ min(a, b) / (Σ a + Σ b); 1 where neither has an n-gram and
    the sequences are equal, 0 where neither has one and they differ.
    """
    if size < 1:
        raise InputError(f"size must be at least 1, not {size}")
    matches, n_first, n_second = _match(first, second, size)
    overlap = _divide(2 * matches, n_first + n_second, empty=0.0)
    bare = (n_first + n_second == 0) & (first.lengths == second.lengths)
    longest = int(first.lengths[bare].max(initial=0))
    for length in range(longest + 1):
        rows = np.flatnonzero(bare & (first.lengths == length))
        place = np.arange(length)
        same = (
            first.codes[first.offsets[rows, None] + place]
            == second.codes[second.offsets[rows, None] + place]
        )
        overlap[rows] = same.all(axis=1)
    return overlap


def measure_bleu(first: Sequences, second: Sequences) -> NDArray[np.float64]:
    """Compute how much a text has of another in the manner of BLEU, float64 (n,).

    The second text is the hypothesis, the first its only reference: the geometric mean of clipped
    precisions of 1 to 4 words, times exp(1 − r/c) where the hypothesis has fewer words (c) than the
    reference (r) (Papineni et al. 2002). Precisions of two words and more are smoothed by adding 1
    to both counts (Lin and Och 2004), and a hypothesis of fewer than four words has as many
    precisions as words. So a text has 1 with itself, and 0 with one that shares no word. NLTK's
    ``sentence_bleu`` gives the same with ``SmoothingFunction().method2`` and equal weights of these
    precisions. Where both are empty it is 1, where one is, 0.
    """
    n_first, n_second = first.lengths, second.lengths
    orders = np.minimum(n_second, BLEU_ORDERS)
    total = np.zeros(len(first))
    is_zero = np.zeros(len(first), np.bool_)
    for size in range(1, BLEU_ORDERS + 1):
        used = orders >= size
        matches, _, n_grams = _match(first, second, size)
        added = 0 if size == 1 else 1
        precision = _divide(matches + added, n_grams + added, empty=0.0)
        is_zero |= used & (precision == 0)
        total += np.log(precision, out=np.zeros(len(first)), where=used & (precision > 0))
    mean = _divide(total, orders, empty=0.0)
    short = np.minimum(1.0 - _divide(n_first, n_second, empty=0.0), 0.0)
    bleu = np.where(is_zero | (orders == 0), 0.0, np.exp(mean + short))
    bleu[(n_first == 0) & (n_second == 0)] = 1.0
    return bleu


def measure_length_ratio(first: Sequences, second: Sequences) -> NDArray[np.float64]:
    """Compute how long the second sequences are, the first being 1, float64 (n,).

    1 where both are empty, NaN where only the first is.
    """
    ratio = _divide(second.lengths, first.lengths, empty=np.nan)
    ratio[(first.lengths == 0) & (second.lengths == 0)] = 1.0
    return ratio


def measure_edit_distance(first: Sequences, second: Sequences) -> NDArray[np.float64]:
    """Compute Levenshtein's distance over the length of the longer sequence, float64 (n,).

    0 for equal sequences, and where both are empty; 1 where nothing stands in both.
    """
    from ietest_fast.runtime import load_core

    distance = load_core().text.edit_distance
    codes = (first.codes, second.codes)
    if any(part.size and (part.min() < 0 or part.max() >= 0xD800) for part in codes):
        raise InputError("codes of edit distances go from 0 to 55,295")
    left, right = (_as_strings(each) for each in (first, second))
    known: dict[tuple[str, str], int] = {}
    for pair in zip(left, right, strict=True):
        if pair not in known:
            known[pair] = 0 if pair[0] == pair[1] else distance(*pair)
    edits = np.array([known[pair] for pair in zip(left, right, strict=True)], np.int64)
    return _divide(edits, np.maximum(first.lengths, second.lengths), empty=0.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Grams:
    """Which n-grams each row has, and how often: rows and counts beside ascending keys."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    rows: NDArray[np.int64]


def _count_grams(first: Sequences, second: Sequences, size: int) -> tuple[_Grams, _Grams]:
    """Count n-grams; the keys of both are comparable."""
    codes = np.concatenate([first.codes, second.codes])
    lengths = np.concatenate([first.lengths, second.lengths])
    # Where an n-gram begins: not in the last places of a sequence.
    n_left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(codes))
    start = np.flatnonzero(n_left >= size)
    grams = codes[start]
    for place in range(1, size):
        # Numbered anew after each code, so that keys stay small.
        pairs = grams * (int(codes.max(initial=0)) + 1) + codes[start + place]
        grams = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    rows = np.repeat(np.arange(len(lengths)) % max(len(first), 1), lengths)[start]
    base = int(grams.max(initial=0)) + 1
    is_first = start < len(first.codes)
    found = []
    for own in (is_first, ~is_first):
        keys, counts = np.unique(rows[own] * base + grams[own], return_counts=True)
        found.append(_Grams(keys=keys, counts=counts, rows=keys // base))
    return found[0], found[1]


def _match(
    first: Sequences, second: Sequences, size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count common n-grams, as often as both have them, and those of each, int64 (n,) each."""
    n = len(first)
    left, right = _count_grams(first, second, size)
    common, mine, theirs = np.intersect1d(
        left.keys, right.keys, assume_unique=True, return_indices=True
    )
    matches = np.zeros(n, np.int64)
    if len(common):
        np.add.at(matches, left.rows[mine], np.minimum(left.counts[mine], right.counts[theirs]))
    n_first, n_second = (np.maximum(each.lengths - size + 1, 0) for each in (first, second))
    return matches, n_first, n_second


def _divide(upper: NDArray[Any], lower: NDArray[Any], *, empty: float) -> NDArray[np.float64]:
    made: NDArray[np.float64] = np.divide(
        upper, lower, out=np.full(len(lower), empty), where=lower != 0
    )
    return made


def _as_strings(sequences: Sequences) -> list[str]:
    """Return sequences as strings of characters that have their codes."""
    text = sequences.codes.astype("<u4").tobytes().decode("utf-32-le")
    ends = sequences.offsets.tolist()
    return [text[start:end] for start, end in itertools.pairwise(ends)]


def _check(first: Any, second: Any) -> pa.Array:
    """Return the first and then the second texts."""
    both = []
    for texts in (first, second):
        column = (
            texts
            if isinstance(texts, pa.Array | pa.ChunkedArray)
            else pa.array(list(texts), pa.large_string())
        )
        if column.null_count:
            raise InputError(f"{say_count(column.null_count, 'text is', 'texts are')} missing")
        both.append(pa.chunked_array(column).combine_chunks().cast(pa.large_string()))
    if len(both[0]) != len(both[1]):
        raise InputError(
            f"there are {len(both[0]):,} first texts and {len(both[1]):,} second; they are "
            "compared pair by pair"
        )
    return pa.concat_arrays(both)


def _halve(codes: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[Sequences, Sequences]:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n = len(lengths) // 2
    middle = int(offsets[n])
    return (
        Sequences(codes=codes[:middle], offsets=offsets[: n + 1]),
        Sequences(codes=codes[middle:], offsets=offsets[n:] - middle),
    )


# How far the words of one text are from those of another, whatever their order.

_WORD_PAIRS_AT_ONCE = 1 << 16
_SPELT_AT_ONCE = 1 << 12
_CELLS_AT_ONCE = 1 << 16


def measure_bag_distance(
    first: pa.Array | Sequence[str], second: pa.Array | Sequence[str]
) -> NDArray[np.float64]:
    r"""Compute the lexical distance of n pairs of texts (Bandel et al. 2022), float64 (n,).

    Srikanth et al. (2024) call it the normalised character-level minimal edit distance between bags
    of words. Words are matched one to one, as many as the text with fewer words has, so that

    .. math:: d = \frac{|n_1 - n_2| + \sum_{(v, w)} 2\, e(v, w) / (|v| + |w|)}{n_1 + n_2}

    is smallest; :math:`n_1` and :math:`n_2` count the words of the texts, and :math:`e` the
    insertions and deletions of characters that turn one word into the other (a replacement is one
    of each). 0 for the same words in any order, and where both texts have none; 1 where no two
    words share a character. It is ``1 - Levenshtein.setratio`` of the lists of words.
    """
    from scipy.optimize import linear_sum_assignment

    left, right, words = split_words(first, second)
    n_words = len(words)
    n_left, n_right = left.lengths, right.lengths
    found = np.zeros(len(left))
    known = _Costs(words.to_pylist())
    for rows in _cut(n_left * n_right):
        pairs = [
            np.add.outer(
                left.codes[left.offsets[row] : left.offsets[row + 1]] * n_words,
                right.codes[right.offsets[row] : right.offsets[row + 1]],
            )
            for row in rows
        ]
        costs = known.of(np.concatenate([pair.reshape(-1) for pair in pairs]))
        end = 0
        for row, pair in zip(rows, pairs, strict=True):
            matrix = costs[end : end + pair.size].reshape(pair.shape)
            end += pair.size
            matched = matrix[linear_sum_assignment(matrix)].sum()
            total = n_left[row] + n_right[row]
            found[row] = (abs(n_left[row] - n_right[row]) + matched) / total if total else 0.0
    return found


def _cut(sizes: NDArray[np.int64]) -> Iterator[range]:
    """Cut rows into runs of about so many pairs of words as are compared at once."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        end = int(np.searchsorted(ends, before + _WORD_PAIRS_AT_ONCE, side="right"))
        end = max(end, start + 1)
        yield range(start, end)
        start = end


class _Costs:
    """Twice the insertions and deletions between two words over the sum of their lengths."""

    def __init__(self, words: Sequence[str]) -> None:
        self._n = len(words)
        self._lengths = np.array([len(word) for word in words], np.int64)
        self._offsets = np.concatenate([[0], np.cumsum(self._lengths)])
        text = "".join(words).encode("utf-32-le")
        self._letters = np.frombuffer(text, np.uint32).astype(np.int64)

    def of(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the cost of pairs of words, numbered ``first * n_words + second``."""
        if not pairs.size:
            return np.zeros(0)
        distinct, place = np.unique(pairs, return_inverse=True)
        first, second = np.divmod(distinct, self._n)
        sizes = self._lengths[first] + self._lengths[second]
        common = np.zeros(len(distinct), np.int64)
        common[first == second] = self._lengths[first[first == second]]
        swapped = self._lengths[first] > self._lengths[second]
        shorter, longer = np.where(swapped, second, first), np.where(swapped, first, second)
        # Of about the same lengths together, so that little is compared in vain.
        rows = np.flatnonzero(first != second)
        rows = rows[np.lexsort((self._lengths[shorter[rows]], self._lengths[longer[rows]]))]
        start = 0
        while start < len(rows):
            lengths = self._lengths[longer[rows[start : start + _SPELT_AT_ONCE]]]
            fits = np.arange(1, len(lengths) + 1) * lengths <= _CELLS_AT_ONCE
            fits &= lengths <= 2 * lengths[0]
            some = rows[start : start + max(1, int(fits.sum()))]
            common[some] = _longest_common(
                self._spell(shorter[some], -1), self._spell(longer[some], -2)
            )
            start += len(some)
        return (2.0 * (sizes - 2 * common) / sizes)[place.reshape(-1)]

    def _spell(self, words: NDArray[np.int64], filler: int) -> NDArray[np.int64]:
        """Return the letters of words, shape (n, longest), with a filler behind short ones."""
        lengths = self._lengths[words]
        columns = np.arange(int(lengths.max()))
        inside = columns < lengths[:, None]
        places = np.where(inside, self._offsets[words][:, None] + columns, 0)
        return np.where(inside, self._letters[places], filler)


def _longest_common(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the length of the longest common subsequence of each row, int64 (n,)."""
    n, width = second.shape
    table = np.zeros((n, width + 1), np.int64)
    for letter in first.T:
        best = table[:, :-1] + (second == letter[:, None])
        np.maximum(best, table[:, 1:], out=best)
        # A longer start of the second word has at least as much in common.
        np.maximum.accumulate(best, axis=1, out=table[:, 1:])
    return table[:, width]
