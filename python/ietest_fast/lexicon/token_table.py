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


# Tokens of texts and their parts of speech, as arrays.

UPOS = (
    "",
    *"ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X "  # noqa: SIM905
    "SPACE".split(),
)
"""Universal tags; ``TokenTags.pos`` indexes this. ``""`` is a token that got no tag."""

NOUN = UPOS.index("NOUN")
SINGULAR, PLURAL = 1, 2


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenTags(TokenTable):
    """Tokens of n texts and their parts of speech (CSR)."""

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {
        **TokenTable.DTYPES,
        "pos": np.uint8,
        "number": np.int8,
    }

    pos: npt.NDArray[np.uint8]
    """uint8: index into :data:`UPOS`."""
    number: npt.NDArray[np.int8]
    """int8: 1 a singular common noun, 2 a plural one, 0 anything else or unknown."""


# Tokens of texts with their Penn tags and a dependency tree, as arrays.

PENN = (
    "",
    *"# $ '' ( ) , . : `` ADD AFX CC CD DT EX FW GW HYPH IN JJ JJR JJS LS MD NFP NN NNP NNPS NNS "  # noqa: SIM905
    "PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB XX _SP".split(),
)
"""Penn Treebank tags as UD English EWT writes them; ``TokenParses.tag`` indexes this. ``""``: none.

Brackets are ``(`` and ``)``.
"""

RELATIONS = (
    *"dep root acl acl:relcl advcl advmod amod appos aux aux:pass case cc ccomp clf compound "  # noqa: SIM905
    "compound:prt conj cop csubj csubj:pass det discourse dislocated expl fixed flat goeswith iobj "
    "list mark nmod nmod:poss nsubj nsubj:pass nummod obj obl obl:agent orphan parataxis punct "
    "reparandum vocative xcomp".split(),
)
"""Universal Dependencies and the subtypes that are told apart; ``TokenParses.relation`` indexes
this. ``"dep"`` also stands for relations that have no name here."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenParses(TokenTable):
    """Tokens of n texts with tags and a dependency tree for each sentence (CSR)."""

    DTYPES: ClassVar[Mapping[str, type[np.generic]]] = {
        **TokenTable.DTYPES,
        "tag": np.uint8,
        "head": np.int32,
        "relation": np.uint8,
    }

    tag: npt.NDArray[np.uint8]
    """uint8: index into :data:`PENN`."""
    head: npt.NDArray[np.int32]
    """int32: how many tokens further on the head stands (negative: before); 0 for the root of a
    sentence."""
    relation: npt.NDArray[np.uint8]
    """uint8: index into :data:`RELATIONS`, the relation to the head."""
