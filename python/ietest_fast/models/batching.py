"""Batches of inputs of like length, cut by a budget of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TokenStore


@dataclass(frozen=True, kw_only=True)
class Padding:
    """How a model wants inputs of different lengths brought to one."""

    token: int
    """Id of the padding token."""
    type_id: int = 0
    """Its token type."""
    left: bool = False
    """Whether it stands before the text instead of behind it."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Inputs of one length, padded."""

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    """int64, shape (b, w)."""

    @property
    def position_ids(self) -> NDArray[np.int64]:
        """Places counted from 0 at the first token of the text, shape (b, w)."""
        return np.maximum(np.cumsum(self.attention_mask, axis=1) - 1, 0)


def plan_batches(lengths: NDArray[np.int64], *, token_budget: int) -> list[NDArray[np.int64]]:
    """Cut rows into batches: sorted by length, as many as fit the budget when padded."""
    order = np.argsort(lengths, kind="stable")
    widths = np.maximum(lengths[order], 1)
    batches = []
    end = len(order)
    while end > 0:
        # Sorted: the last row of a batch is the widest.
        size = max(1, int(token_budget // widths[end - 1]))
        batches.append(order[max(0, end - size) : end])
        end -= size
    return batches


def pad(
    store: TokenStore, rows: NDArray[np.int64], padding: Padding, *, multiple_of: int = 1
) -> Batch:
    """Put rows of a store into one rectangle."""
    some = store.take(rows)
    lengths = some.lengths
    width = -(-max(1, int(lengths.max())) // multiple_of) * multiple_of
    shape = (len(rows), width)
    mask: NDArray[Any] = np.arange(width) < lengths[:, None]
    if padding.left:
        mask = mask[:, ::-1]
    input_ids = np.full(shape, padding.token, dtype=np.int64)
    token_type_ids = np.full(shape, padding.type_id, dtype=np.int64)
    input_ids[mask] = some.ids
    token_type_ids[mask] = some.type_ids
    return Batch(
        input_ids=input_ids,
        attention_mask=mask.astype(np.int64),
        token_type_ids=token_type_ids,
    )
