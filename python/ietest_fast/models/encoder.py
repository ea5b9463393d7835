"""Vectors of texts from an encoder: features for linear classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.sense import SenseModel
from ietest_fast.models.token_networks import find_shift

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray


def embed_texts(
    path: str | Path,
    columns: Sequence[pa.ChunkedArray],
    *,
    n_threads: int | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> NDArray[np.float32]:
    """Return the mean vector of the tokens of each input, float32 (n, d)."""
    model = SenseModel.load(path)
    if model.kind != "encoder":
        raise InputError(
            "is a masked language model, whose output is a number for each word; give an encoder, "
            "such as a sentence encoder",
            path=path,
        )
    network = model.network
    rows = np.arange(len(columns[0]), dtype=np.int64)
    store = network.tokenizer.join(
        [network.tokenizer.tokenise(column.to_pylist()) for column in columns],
        [rows for _ in columns],
    )

    def reduce(places: NDArray[np.int64], output: NDArray[np.float32]) -> NDArray[np.float32]:
        lengths = store.lengths[places]
        start = find_shift(network, lengths, output)
        column = np.arange(output.shape[1])
        inside = (column >= start[:, None]) & (column < (start + lengths)[:, None])
        total = np.where(inside[:, :, None], output, 0).sum(axis=1, dtype=np.float64)
        return np.asarray(total / lengths[:, None], dtype=np.float32)

    found = np.empty((len(rows), 0), np.float32)

    def take(places: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        nonlocal found
        if not found.shape[1]:
            found = np.empty((len(rows), vectors.shape[1]), np.float32)
        found[places] = vectors
        if on_batch is not None:
            on_batch(len(places))

    network.run(store, rows, take, reduce=reduce, n_threads=n_threads)
    return found
