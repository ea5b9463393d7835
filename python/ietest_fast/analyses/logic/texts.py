"""All texts that are asked about: sentences, and compounds of them, each once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.transform.compounds import Statements, follow

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.lexicon import Tagger
    from ietest_fast.transform.compounds import Connective


# The sentences of labelled pairs, each once, and which of them come from the same source.


@dataclass(frozen=True, kw_only=True, eq=False)
class Items:
    """Labelled pairs of sentences by number."""

    sentences: pa.Array
    """Large strings (S,): the distinct premises and hypotheses."""
    premise: NDArray[np.int64]
    hypothesis: NDArray[np.int64]
    """int64 (n,): sentences of each row."""
    unit: NDArray[np.int64]
    """int64 (n,): the source of each row: those with one premise, or one cluster."""
    n_units: int
    """Number of sources."""

    @classmethod
    def of(cls, corpus: Corpus, *, clusters: str | None = None) -> Items:
        """Give the sentences of a corpus numbers."""
        if not corpus.is_pair:
            raise InputError(
                "rows have one text; the suite logic asks what follows from what, and needs a "
                "premise and a hypothesis (text_columns, --text-columns)",
                path=corpus.source,
            )
        sides = [corpus.texts(i).cast(pa.large_string()).combine_chunks() for i in (0, 1)]
        encoded = pa.concat_arrays(sides).dictionary_encode()
        premise, hypothesis = np.split(np.asarray(encoded.indices).astype(np.int64), 2)
        unit, n_units = _number_units(premise, None if clusters is None else corpus.table[clusters])
        return cls(
            sentences=encoded.dictionary,
            premise=premise,
            hypothesis=hypothesis,
            unit=unit,
            n_units=n_units,
        )

    def __len__(self) -> int:
        return len(self.premise)

    @cached_property
    def pairs(self) -> NDArray[np.int64]:
        """Rows of distinct pairs without a blank text, ascending, int64 (m,)."""
        keys = self.premise * len(self.sentences) + self.hypothesis
        rows = np.sort(np.unique(keys, return_index=True)[1])
        blank = np.asarray(
            pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(self.sentences)), 0), dtype=np.bool_
        )
        found: NDArray[np.int64] = rows[~(blank[self.premise[rows]] | blank[self.hypothesis[rows]])]
        return found

    @cached_property
    def sources(self) -> Any:
        """In which sources each sentence occurs: a sparse matrix of 0 and 1, (S, n_units)."""
        from scipy.sparse import csr_array

        sentence = np.concatenate([self.premise, self.hypothesis])
        keys = np.unique(sentence * self.n_units + np.tile(self.unit, 2))
        shape = len(self.sentences), self.n_units
        ones = np.ones(len(keys), np.int32)
        return csr_array((ones, (keys // self.n_units, keys % self.n_units)), shape=shape)

    def sources_of(self, parts: NDArray[np.int64]) -> Any:
        """Return the sources of several sentences together, a sparse matrix (k, n_units)."""
        found = self.sources[parts[:, 0]]
        for place in range(1, parts.shape[1]):
            found = found + self.sources[parts[:, place]]
        return found


def _number_units(
    premise: NDArray[np.int64], clusters: pa.ChunkedArray | None
) -> tuple[NDArray[np.int64], int]:
    if clusters is None:
        labels = premise
    else:
        if pa.types.is_floating(clusters.type):  # as pandas has missing numbers
            clusters = pc.if_else(pc.is_nan(clusters), None, clusters)
        codes = clusters.cast("string").combine_chunks().dictionary_encode().indices
        known = np.asarray(pc.fill_null(codes, -1)).astype(np.int64)
        labels = np.where(known >= 0, known, known.max(initial=0) + 1 + premise)
    _, unit = np.unique(labels, return_inverse=True)
    return unit.astype(np.int64), int(unit.max(initial=-1)) + 1


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
