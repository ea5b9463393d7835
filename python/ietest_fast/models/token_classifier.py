"""What finished classifiers that take tokens have in common: tokenising ahead of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.models.tokens import Ragged, find_offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.classifiers import Head, Scores
    from ietest_fast.models.tokens import TextTokenizer, TokenStore

# Inputs that are tokenised together while those before them are run.
_WINDOW = 4096


class TokenClassifier(ABC):
    """A finished classifier that takes tokens."""

    head: Head
    """What its outputs stand for."""
    tokenizer: TextTokenizer
    """Its tokenizer."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its labels, in the order of its outputs."""
        return self.head.labels

    @abstractmethod
    def predict_logits(
        self,
        store: TokenStore,
        rows: NDArray[np.int64],
        *,
        on_batch: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Compute the class scores of some rows, float32, shape (len(rows), outputs)."""

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs.

        Inputs are sorted by their length in bytes, the longest first, and tokenised in the
        background a few thousand ahead of the model, each distinct text once.
        """
        texts, codes = _find_texts(inputs)
        logits = np.empty((inputs.num_rows, self.head.n_outputs), dtype=np.float32)
        n_tokens = 0
        for places, store in _tokenised_ahead(texts, codes, self.tokenizer):
            rows = np.arange(len(store), dtype=np.int64)
            logits[places] = self.predict_logits(store, rows, on_batch=on_batch)
            n_tokens += int(store.offsets[-1])
        return self.head.score(logits, n_tokens=n_tokens)


def _find_texts(inputs: pa.Table) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the distinct texts, and which of them stands where, shape (columns, n)."""
    import pyarrow as pa

    columns = [column.cast(pa.large_string()).combine_chunks() for column in inputs.columns]
    pooled = pa.concat_arrays(columns).dictionary_encode()
    codes = np.asarray(pooled.indices, dtype=np.int64)
    return pooled.dictionary, codes.reshape(len(columns), inputs.num_rows)


def _windows(texts: pa.Array, codes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the inputs in the order in which they are run, some thousands at a time."""
    import pyarrow.compute as pc

    n_bytes = np.asarray(pc.binary_length(texts), dtype=np.int64)
    order = np.argsort(-n_bytes[codes].sum(axis=0), kind="stable")
    return [order[begin : begin + _WINDOW] for begin in range(0, len(order), _WINDOW)]


def _tokenised_ahead(
    texts: pa.Array, codes: NDArray[np.int64], tokenizer: TextTokenizer
) -> Iterator[tuple[NDArray[np.int64], TokenStore]]:
    """Yield the inputs' places and tokens, one window being made while the one before is used."""
    import pyarrow as pa

    tokens: dict[int, NDArray[Any]] = {}

    def prepare(places: NDArray[np.int64]) -> TokenStore:
        chosen = codes[:, places]
        needed, local = np.unique(chosen, return_inverse=True)
        fresh = [code for code in needed.tolist() if code not in tokens]
        # A window may have no text of its own; an empty list would have no type to take by.
        made = tokenizer.tokenise(texts.take(pa.array(fresh, pa.int64())).to_pylist())
        for place, code in enumerate(fresh):
            tokens[code] = made.values[made.offsets[place] : made.offsets[place + 1]]
        rows = [tokens[code] for code in needed.tolist()]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        here = Ragged(values=np.concatenate(rows), offsets=find_offsets(lengths))
        return tokenizer.join([here] * len(chosen), list(local.reshape(chosen.shape)))

    windows = _windows(texts, codes)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokenise") as background:
        ahead = [background.submit(prepare, window) for window in windows[:1]]
        for place, window in enumerate(windows):
            store = ahead.pop().result()
            ahead.extend(
                background.submit(prepare, each) for each in windows[place + 1 : place + 2]
            )
            yield window, store
