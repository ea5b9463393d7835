"""Texts with names and verbs in their places: the slow, obvious oracle of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ietest_fast.templates.wording import Slot, VerbForm, Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ietest_fast.templates.formulas import Constant
    from ietest_fast.templates.language import Verbs
    from ietest_fast.templates.wording import Piece


def fill(
    pieces: Iterable[Piece],
    verbs: Verbs,
    names: Mapping[Constant, str],
    women: frozenset[Constant] = frozenset(),
) -> str:
    """Return a text with the words of verbs, and the name of each entity."""
    text = []
    for piece in pieces:
        if isinstance(piece, Slot):
            text.append(names[piece.constant])
        elif isinstance(piece, VerbForm):
            words = piece.words(verbs)
            is_feminine = all(person in women for person in piece.people)
            text.append(words.feminine if is_feminine else words.masculine)
        elif isinstance(piece, Word):
            text.append(piece.text)
        else:
            text.append(piece)
    return "".join(text)
