"""How far the words of one text are from those of another, whatever their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.evaluation.text_overlap import split_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

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
