"""Texts with places for names and verbs, as the arrays that the core fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.templates.formulas import Sort
from ietest_fast.templates.wording import Slot, VerbForm, Word, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.templates.formulas import Constant
    from ietest_fast.templates.language import Verbs
    from ietest_fast.templates.wording import Piece

_LITERAL, _NAME, _VERB = range(3)


@dataclass(frozen=True)
class Skeleton:
    """The texts of a shape."""

    constants: tuple[Constant, ...]
    """Its entities."""
    premise: tuple[Piece, ...]
    hypothesis: tuple[Piece, ...]
    """Pieces of text."""


@dataclass(frozen=True, eq=False)
class PackedSkeletons:
    """Skeletons as arrays.

    The text 2s is the premise of shape s, 2s + 1 its hypothesis. Entities are numbered within their
    shape, people first.
    """

    pieces: NDArray[np.int32]
    """int32, shape (pieces, 3): 0 and a literal; 1 and an entity; or 2, a literal and a group of
    people. From this literal on there are two for each wording, for men and for women."""
    text_ends: NDArray[np.int64]
    """int64, shape (2 shapes + 1,): text t has the pieces from ``text_ends[t]`` on."""
    literals: pa.Array
    """Large strings."""
    group_ends: NDArray[np.int32]
    group_people: NDArray[np.int32]
    """int32: group g has the people from ``group_ends[g]`` on."""
    n_people: NDArray[np.int32]
    n_places: NDArray[np.int32]
    """int32, shape (shapes,)."""
    n_wordings: int
    """1 or more."""


class _Packer:
    def __init__(self, wordings: Sequence[Verbs]) -> None:
        self.pieces: list[tuple[int, int, int]] = []
        self.text_ends = [0]
        self.literals: list[str] = []
        self.group_ends = [0]
        self.group_people: list[int] = []
        self._wordings = wordings
        self._words_of: dict[VerbForm, tuple[str, ...]] = {}
        self._literal_of: dict[tuple[str, ...], int] = {}
        self._group_of: dict[tuple[int, ...], int] = {}

    def add(self, text: Iterable[Piece], numbers: dict[Constant, int]) -> None:
        for piece in merge(self._spell(each) for each in text):
            if isinstance(piece, Slot):
                self.pieces.append((_NAME, numbers[piece.constant], 0))
            elif isinstance(piece, VerbForm):
                words = self._literal(*self._words(piece))
                group = self._group(tuple(sorted(numbers[each] for each in piece.people)))
                self.pieces.append((_VERB, words, group))
            else:
                self.pieces.append((_LITERAL, self._literal(str(piece)), 0))
        self.text_ends.append(len(self.pieces))

    def _spell(self, piece: Piece) -> Piece:
        """Return as text what has the same words in all pairs."""
        if isinstance(piece, Word):
            return piece.text
        if not isinstance(piece, VerbForm):
            return piece
        words = set(self._words(piece))
        return words.pop() if len(words) == 1 else piece

    def _words(self, verb: VerbForm) -> tuple[str, ...]:
        """Return the words of a verb in each wording, for men and for women."""
        # Who is meant changes nothing of the words.
        key = VerbForm(verb.verb, verb.plural, verb.positive, verb.gender)
        if key not in self._words_of:
            words = (key.words(verbs) for verbs in self._wordings)
            self._words_of[key] = tuple(
                text for each in words for text in (each.masculine, each.feminine)
            )
        return self._words_of[key]

    def _literal(self, *texts: str) -> int:
        if texts not in self._literal_of:
            self._literal_of[texts] = len(self.literals)
            self.literals += texts
        return self._literal_of[texts]

    def _group(self, people: tuple[int, ...]) -> int:
        if people not in self._group_of:
            self._group_of[people] = len(self.group_ends) - 1
            self.group_people += people
            self.group_ends.append(len(self.group_people))
        return self._group_of[people]


def pack(skeletons: Sequence[Skeleton], wordings: Sequence[Verbs]) -> PackedSkeletons:
    """Return skeletons as arrays; equal texts and groups are kept once."""
    packer = _Packer(wordings)
    counts = np.zeros((len(skeletons), 2), dtype=np.int32)
    for place, skeleton in enumerate(skeletons):
        people = [each for each in skeleton.constants if each.sort is Sort.PERSON]
        places = [each for each in skeleton.constants if each.sort is Sort.PLACE]
        counts[place] = len(people), len(places)
        numbers = {each: number for number, each in enumerate(people + places)}
        packer.add(skeleton.premise, numbers)
        packer.add(skeleton.hypothesis, numbers)
    return PackedSkeletons(
        pieces=np.array(packer.pieces, dtype=np.int32).reshape(-1, 3),
        text_ends=np.array(packer.text_ends, dtype=np.int64),
        literals=pa.array(packer.literals, pa.large_string()),
        group_ends=np.array(packer.group_ends, dtype=np.int32),
        group_people=np.array(packer.group_people, dtype=np.int32),
        n_people=np.ascontiguousarray(counts[:, 0]),
        n_places=np.ascontiguousarray(counts[:, 1]),
        n_wordings=len(wordings),
    )
