"""Tokens of texts and their parts of speech, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

UPOS = (
    "",
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
    "SPACE",
)
"""Universal tags; ``TokenTags.pos`` indexes this. ``""`` is a token that got no tag."""

NOUN = UPOS.index("NOUN")
SINGULAR, PLURAL = 1, 2


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenTags:
    """Tokens of n texts, one text after the other (CSR).

    Attributes
    ----------
    offsets
        int64 (n + 1,): the tokens of text i are ``offsets[i]:offsets[i + 1]``.
    start, end
        int32: where a token begins and ends in its text, in bytes of its UTF-8.
    pos
        uint8: index into :data:`UPOS`.
    number
        int8: 1 a singular common noun, 2 a plural one, 0 anything else or unknown.
    """

    offsets: npt.NDArray[np.int64]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    pos: npt.NDArray[np.uint8]
    number: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, indices: npt.NDArray[np.integer[Any]]) -> TokenTags:
        """Give the tags of the texts `indices` (n_taken,), in that order; repeats are allowed.

        An index of -1 stands for a text without tokens.
        """
        absent = indices < 0
        first = np.where(absent, 0, self.offsets[:-1][indices] if len(self) else 0)
        n_tokens = np.where(absent, 0, np.diff(self.offsets)[indices] if len(self) else 0)
        offsets = np.zeros(len(indices) + 1, np.int64)
        np.cumsum(n_tokens, out=offsets[1:])
        # Token k of the result stands at first[text] + (k - offsets[text]).
        source = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], n_tokens)
        return TokenTags(
            offsets=offsets,
            start=self.start[source],
            end=self.end[source],
            pos=self.pos[source],
            number=self.number[source],
        )

    @staticmethod
    def concatenate(parts: Sequence[TokenTags]) -> TokenTags:
        """Give the tags of all parts' texts, part after part."""
        n_tokens = [np.diff(part.offsets) for part in parts]
        offsets = np.zeros(1 + sum(len(part) for part in parts), np.int64)
        if parts:
            np.cumsum(np.concatenate(n_tokens), out=offsets[1:])
        return TokenTags(
            offsets=offsets,
            start=_joined([part.start for part in parts], np.int32),
            end=_joined([part.end for part in parts], np.int32),
            pos=_joined([part.pos for part in parts], np.uint8),
            number=_joined([part.number for part in parts], np.int8),
        )


def _joined(arrays: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)
