"""Trees by hand, and as spaCy gives them, token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

Token = tuple[int, int, str, int, str]
"""Where a token begins and ends in bytes, its tag, the index of its head, and the relation."""


def parse_slowly(nlp: Language, text: str) -> list[Token]:
    """Parse one text by itself and read it off token by token, without white space."""
    found = []
    kept = [token for token in nlp(text) if not token.is_space]
    place = {token.i: i for i, token in enumerate(kept)}
    for token in kept:
        start = len(text[: token.idx].encode())
        end = start + len(token.text.encode())
        relation = "root" if token.dep_ == "ROOT" else token.dep_
        if relation == "compound" and token.tag_ == "RP":
            relation = "compound:prt"
        head = token.head
        while head.is_space and head.head != head:
            head = head.head
        found.append((start, end, token.tag_, place.get(head.i, place[token.i]), relation))
    return found
