"""Constituents of a symmetric relation in the other order (thesis, section 4.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ietest_fast.transform.coordinations import swap_coordination
from ietest_fast.transform.doubt import Doubt
from ietest_fast.transform.kinds import PlannedTransformation, TransformationKind, take_several
from ietest_fast.transform.permutations import swap_adjectives, swap_copula
from ietest_fast.transform.syntactic import (
    Rewritten,
    SyntacticTransformation,
    find_texts_with,
    plan_syntactic,
)
from ietest_fast.transform.voice import SyntaxOptions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ietest_fast.lexicon.token_parses import TokenParses
    from ietest_fast.transform.trees import Sentence

Construction = Literal["copula", "relative", "coordination"]
ALL: tuple[Construction, ...] = ("copula", "relative", "coordination")

_WAYS = {"copula": swap_copula, "relative": swap_adjectives, "coordination": swap_coordination}
# A tree without such a relation has nothing to permute.
_RELATIONS = {"copula": "cop", "relative": "acl:relcl", "coordination": "conj"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Permutation(SyntacticTransformation):
    """Exchange what a sentence relates symmetrically."""

    constructions: tuple[Construction, ...] = ALL
    """``"copula"``: *Iggy Pop was the lead singer* and *The lead singer was Iggy Pop*;
    ``"relative"``: *a red ball that is large* and *a large ball that is red*; ``"coordination"``:
    *a man and a woman* and *a woman and a man*. Of a sentence the first that it has is permuted."""

    @property
    def name(self) -> str:
        """``"permute"``."""
        return "permute"

    @property
    def options(self) -> dict[str, Any]:
        """The constructions."""
        return {"constructions": [each for each in ALL if each in self.constructions]}

    def find_candidates(self, parses: TokenParses) -> npt.NDArray[np.bool_]:
        """Return which texts have one of the constructions' relations."""
        return find_texts_with(parses, [_RELATIONS[each] for each in self.constructions])

    def rewrite(self, sentence: Sentence) -> list[Rewritten]:
        """Return the sentence with its constituents in the other order."""
        found = []
        for each in ALL:
            if each not in self.constructions:
                continue
            try:
                found.append(Rewritten(_WAYS[each](sentence, self.wordnet), each))
            except Doubt:
                continue
        return found


class PermutationOptions(SyntaxOptions):
    """What the permutation of constituents can be told."""

    constructions: Annotated[tuple[Construction, ...], BeforeValidator(take_several)] = Field(
        ALL,
        min_length=1,
        description="copula, relative, coordination: what to permute; may be repeated",
    )


def _plan_permutation(options: PermutationOptions) -> PlannedTransformation:
    from ietest_fast.lexicon.parsing import Parser
    from ietest_fast.lexicon.wordnet import WordNet

    parser = Parser.load(options.parser)
    made = Permutation(
        parser=parser, wordnet=WordNet.packaged(), constructions=options.constructions
    )
    return plan_syntactic(made)


PERMUTE = TransformationKind(
    name="permute",
    summary="exchanges what a copula, a relative clause or a coordination relates",
    options=PermutationOptions,
    plan=_plan_permutation,
    language="English",
)
