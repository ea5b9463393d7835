"""Something about each token of many texts, as arrays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenTable:
    """Tokens of n texts, one text after the other (CSR).

    A class that inherits from it adds columns: fields that it names in :attr:`DTYPES`.
    """

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {"start": np.int32, "end": np.int32}
    """The columns and their types, in the order of the fields."""

    offsets: npt.NDArray[np.int64]
    """int64 (n + 1,): the tokens of text i are ``offsets[i]:offsets[i + 1]``."""
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    """int32: where a token begins and ends in its text, in bytes of its UTF-8."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns by name."""
        return {name: getattr(self, name) for name in self.DTYPES}

    def keep(self, kept: npt.NDArray[np.bool_]) -> Self:
        """Return the table without the tokens that are not `kept` (bool, one for each token)."""
        n_before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
        columns = {name: column[kept] for name, column in self.columns().items()}
        return dataclasses.replace(self, offsets=n_before[self.offsets], **columns)

    def take(self, indices: npt.NDArray[np.integer[Any]]) -> Self:
        """Return the tokens of the texts `indices` (n_taken,), in that order; repeats are allowed.

        An index of -1 stands for a text without tokens.
        """
        absent = indices < 0
        first = np.where(absent, 0, self.offsets[:-1][indices] if len(self) else 0)
        n_tokens = np.where(absent, 0, np.diff(self.offsets)[indices] if len(self) else 0)
        offsets = offsets_of(n_tokens)
        # Token k of the result stands at first[text] + (k - offsets[text]).
        source = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], n_tokens)
        columns = {name: column[source] for name, column in self.columns().items()}
        return dataclasses.replace(self, offsets=offsets, **columns)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the tokens of all parts' texts, part after part."""
        n_tokens = [np.diff(part.offsets) for part in parts]
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])
            if parts
            else np.empty(0, dtype)
            for name, dtype in cls.DTYPES.items()
        }
        counts = np.concatenate(n_tokens) if parts else np.empty(0, np.int64)
        return cls(offsets=offsets_of(counts), **columns)


def offsets_of(lengths: Sequence[int] | npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return where each of some consecutive runs begins, and the end: int64 (n + 1,)."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
