"""All texts that are asked about: sentences, and compounds of them, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.transform.compounds import Statements, follow

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.lexicon import Tagger
    from ietest_fast.transform.compounds import Connective


class Texts:
    """A list of different texts that grows; the sentences of labelled pairs come first."""

    def __init__(
        self, sentences: pa.Array, tagger: Tagger, *, n_threads: int | None = None
    ) -> None:
        self._sentences = sentences
        self._texts = sentences
        self._statements = Statements.of(sentences, tagger, n_threads=n_threads)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def fit(self) -> NDArray[np.bool_]:
        """Which sentences can stand in compounds with *and*, *or* and *not*, bool (S,)."""
        return self._statements.fit

    def take(self, numbers: NDArray[np.int64]) -> pa.Array:
        """Return texts by their numbers, large strings (k,)."""
        return self._texts.take(pa.array(numbers))

    def join(
        self, connective: Connective, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the numbers of "P and H" or "P or H" of pairs of sentences, int64 (k,)."""
        return self._compose(
            lambda one, other: self._statements.join(connective, one, other), first, second
        )

    def deny(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of "It is not true that P" of sentences, int64 (k,)."""
        return self._compose(lambda one, _: self._statements.deny(one), which, which)

    def follow(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of sentences with another behind each, int64 (k,)."""
        return self._compose(
            lambda one, other: follow(self.take(one), self.take(other)), first, second
        )

    def _compose(
        self,
        write: Callable[[NDArray[np.int64], NDArray[np.int64]], pa.Array],
        first: NDArray[np.int64],
        second: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Write each different compound once."""
        n = len(self._sentences)
        keys, place = np.unique(first * n + second, return_inverse=True)
        numbers: NDArray[np.int64] = self._add(write(keys // n, keys % n))[place]
        return numbers

    def _add(self, texts: pa.Array) -> NDArray[np.int64]:
        """Put texts on the list, unless they are there; return their numbers."""
        new = texts.filter(pc.invert(pc.is_in(texts, value_set=self._texts)))
        self._texts = pa.concat_arrays([self._texts, pc.unique(new)])
        numbers: NDArray[np.int64] = np.asarray(pc.index_in(texts, value_set=self._texts)).astype(
            np.int64
        )
        return numbers
