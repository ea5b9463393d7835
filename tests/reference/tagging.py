"""Tags of texts, one text at a time, read off spaCy's tokens in plain Python."""

from __future__ import annotations

from typing import Any


def tags_of(nlp: Any, text: str) -> list[tuple[int, int, str, int]]:
    """Give (first byte, last byte + 1, universal tag, number) of each token."""
    tags = []
    for token in nlp(text):
        start = len(text[: token.idx].encode())
        end = start + len(token.text.encode())
        pos = "SPACE" if token.is_space else token.pos_
        number = 0
        if pos == "NOUN":
            found = token.morph.get("Number")
            number = 1 if found == ["Sing"] else 2 if found in (["Plur"], ["Ptan"]) else 0
        tags.append((start, end, pos, number))
    return tags
