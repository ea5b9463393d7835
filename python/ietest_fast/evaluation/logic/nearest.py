"""Sentences that share words with another, found by an index of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.evaluation.text_overlap import number_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Numbers that a block of similarities holds at once.
_BLOCK = 4_000_000


class WordIndex:
    """Which words each sentence has; rare words weigh more.

    A word weighs log(S / s), where s of the S sentences have it.
    """

    def __init__(self, sentences: pa.Array) -> None:
        from scipy.sparse import csr_array

        n = len(sentences)
        words, _ = number_words(sentences, pa.repeat(pa.scalar("", pa.large_string()), n))
        n_words = int(words.codes.max(initial=-1)) + 1
        row = np.repeat(np.arange(n), words.lengths)
        keys = np.unique(row * max(n_words, 1) + words.codes)
        row, word = np.divmod(keys, max(n_words, 1))
        weights = np.log(n / np.maximum(np.bincount(word, minlength=n_words), 1))
        shape = n, max(n_words, 1)
        self._has = csr_array((np.ones(len(keys)), (row, word)), shape=shape)
        self._weighed = csr_array((weights[word], (row, word)), shape=shape)
        self._total = np.bincount(row, weights=weights[word], minlength=n)

    def find(
        self,
        queries: NDArray[np.int64],
        pool: NDArray[np.int64],
        *,
        n_nearest: int,
        contained: bool,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find the sentences of a pool that share most with each query."""
        n_nearest = min(n_nearest, len(pool))
        if n_nearest == 0 or len(queries) == 0:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        theirs = self._has[pool].T.tocsc()
        total = self._total[pool]
        most = max(float(self._total.max(initial=0.0)), 1.0)
        places, found = [], []
        size = max(1, _BLOCK // len(pool))
        for start in range(0, len(queries), size):
            block = queries[start : start + size]
            shared = (self._weighed[block] @ theirs).toarray()
            whole = total if contained else total + self._total[block, None] - shared
            score = np.round(shared / np.maximum(whole, 1e-12), 6) + 1e-7 * shared / most
            score[block[:, None] == pool] = 0.0
            best = np.argpartition(-score, n_nearest - 1, axis=1)[:, :n_nearest]
            values = np.take_along_axis(score, best, axis=1)
            order = np.lexsort((best, -values), axis=1)
            best, values = (np.take_along_axis(each, order, axis=1) for each in (best, values))
            row, column = np.nonzero(values > 0)
            places.append(start + row)
            found.append(pool[best[row, column]])
        return np.concatenate(places), np.concatenate(found)
