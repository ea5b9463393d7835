"""Tokens of texts with their Penn tags and a dependency tree, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from ietest_fast.lexicon.token_table import TokenTable

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    """Tokens of n texts with tags and a dependency tree for each sentence (CSR).

    Attributes
    ----------
    offsets
        int64 (n + 1,): the tokens of text i are ``offsets[i]:offsets[i + 1]``.
    start, end
        int32: where a token begins and ends in its text, in bytes of its UTF-8.
    """

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
