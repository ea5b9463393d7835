"""Tokens of texts and their parts of speech, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from ietest_fast.lexicon.token_table import TokenTable

if TYPE_CHECKING:
    from collections.abc import Mapping

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
class TokenTags(TokenTable):
    """Tokens of n texts and their parts of speech (CSR).

    Attributes
    ----------
    offsets
        int64 (n + 1,): the tokens of text i are ``offsets[i]:offsets[i + 1]``.
    start, end
        int32: where a token begins and ends in its text, in bytes of its UTF-8.
    """

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {
        **TokenTable.DTYPES,
        "pos": np.uint8,
        "number": np.int8,
    }

    pos: npt.NDArray[np.uint8]
    """uint8: index into :data:`UPOS`."""
    number: npt.NDArray[np.int8]
    """int8: 1 a singular common noun, 2 a plural one, 0 anything else or unknown."""
