"""Rows of different lengths, one behind the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Where rows of different lengths begin and end."""

    offsets: NDArray[np.int64]
    """int64, shape (rows + 1,): row i has the entries ``offsets[i]:offsets[i + 1]``."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each row."""
        return np.diff(self.offsets)

    def runs(self, most: int) -> Iterator[tuple[int, int]]:
        """Give the bounds of runs of rows that have at most `most` entries, or are one row."""
        begin = 0
        while begin < len(self):
            within = np.searchsorted(self.offsets, self.offsets[begin] + most, side="right")
            end = max(int(within) - 1, begin + 1)
            yield begin, end
            begin = end


@dataclass(frozen=True, kw_only=True)
class Ragged(Rows):
    """Rows of numbers."""

    values: NDArray[Any]
    """Shape (entries,), the entries of all rows."""


def find_offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Say where rows of these lengths begin, and where the last ends, shape (rows + 1,)."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def spread(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the positions ``begin, begin + 1, ...`` of all rows, one row behind the other."""
    offsets = find_offsets(lengths)
    return np.arange(offsets[-1], dtype=np.int64) + np.repeat(begins - offsets[:-1], lengths)


# Every distinct text once, and every distinct input as a choice among them.


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledInputs:
    """The inputs of one split."""

    codes: NDArray[np.int64]
    """int64, shape (columns, inputs): the texts of each distinct input."""
    versions: Mapping[str, NDArray[np.int64]]
    """int64, shape (n,), by version: the input of each row."""

    def __len__(self) -> int:
        return int(self.codes.shape[1])


def pool_texts(
    splits: Mapping[str, Mapping[str, pa.Table]], text_columns: Sequence[str]
) -> tuple[pa.Array, dict[str, PooledInputs]]:
    """Find the distinct texts of all splits, and the distinct inputs of each.

    Premises and hypotheses, originals and transformed texts share one list.
    """
    import pyarrow as pa

    arrays = [
        table[name].cast(pa.large_string()).combine_chunks()
        for versions in splits.values()
        for name in text_columns
        for table in versions.values()
    ]
    pooled = pa.concat_arrays(arrays).dictionary_encode()
    codes = np.asarray(pooled.indices, dtype=np.int64)
    inputs = {}
    for name, versions in splits.items():
        ends = np.cumsum([table.num_rows for table in versions.values()])
        shape = len(text_columns), int(ends[-1])
        here, codes = np.split(codes, [shape[0] * shape[1]])
        distinct, row_of = np.unique(here.reshape(shape), axis=1, return_inverse=True)
        rows = np.split(row_of.reshape(-1).astype(np.int64), ends[:-1])
        inputs[name] = PooledInputs(codes=distinct, versions=dict(zip(versions, rows, strict=True)))
    return pooled.dictionary, inputs


def find_changed(
    original: pa.Table, transformed: pa.Table, columns: Sequence[str], *, source: str | None
) -> NDArray[np.bool_]:
    """Say in which rows the texts of some columns differ, bool, shape (n,)."""
    import pyarrow.compute as pc

    changed = np.zeros(original.num_rows, dtype=bool)
    for name in columns:
        differs = pc.not_equal(original[name], transformed[name])
        changed |= differs.to_numpy(zero_copy_only=False)
    if not changed.any():
        raise InputError(
            f"both versions of the test set have the same texts in {' and '.join(columns)}, so "
            "there is nothing to test",
            path=source,
        )
    return changed
