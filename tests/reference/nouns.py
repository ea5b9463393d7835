"""A slow, obvious definition of the careful rules on rows of plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORD = re.compile(r"[A-Za-z0-9_]+")
ARTICLE = re.compile(r"(?<![A-Za-z0-9_\-'.&])(an?)(\s+[\"'(\[]*)\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Token:
    start: int
    end: int
    pos: str
    number: int  # 0 unknown, 1 singular, 2 plural


@dataclass(frozen=True)
class Entry:
    key: str
    value: str
    number: int
    group: int


def _occurrences(text: str, entries: list[Entry]) -> list[tuple[int, int, list[Entry]]]:
    """Every stretch of text, from a word's begin to a word's end, that is a key."""
    begins = [m.start() for m in WORD.finditer(text)]
    ends = [m.end() for m in WORD.finditer(text)]
    found = []
    for begin in begins:
        for end in ends:
            of_key = [e for e in entries if e.key == text[begin:end].lower()]
            if end > begin and of_key:
                found.append((begin, end, of_key))
    return found


def _entry_for(  # noqa: PLR0911 - one reason after the other
    text: str, tokens: list[Token], begin: int, end: int, entries: list[Entry]
) -> Entry | None:
    inside = [t for t in tokens if begin <= t.start and t.end <= end]
    if not inside or inside[0].start != begin or inside[-1].end != end:
        return None
    if any(t.start < begin < t.end or t.start < end < t.end for t in tokens):
        return None
    if inside[-1].pos != "NOUN" or any(t.pos == "PROPN" for t in inside):
        return None
    if re.search(r"[A-Za-z0-9][-']\Z", text[:begin]) or re.match(r"-[A-Za-z0-9]", text[end:]):
        return None
    if text[begin].isupper():
        before = [t for t in tokens if t.end <= begin and begin - t.end <= 1][-1:]
        after = [t for t in tokens if t.start >= end and t.start - end <= 1][:1]
        if any(t.pos == "PROPN" for t in before + after):
            return None
    number = inside[-1].number
    order = {0: [0, 1, 2], 1: [1, 0], 2: [2, 0]}[number]
    for wanted in order:
        for entry in entries:
            if entry.number == wanted:
                return entry
    return None


def _capitals(piece: str, value: str) -> str:
    if piece.isupper() and sum(c.isupper() for c in piece) >= 2:
        return value.upper()
    if not piece[0].isupper():
        return value
    words = piece.split(" ")
    if len(words) > 1 and all(word[:1].isupper() for word in words):
        return " ".join(word[:1].upper() + word[1:] for word in value.split(" "))
    return value[0].upper() + value[1:]


def replace_row(  # noqa: PLR0912 - a definition, step by step
    texts: list[str], tokens: list[list[Token]], entries: list[Entry], takes_an
) -> list[str]:
    """Replace the nouns of one row."""
    found: list[list[tuple[int, int, Entry]]] = []
    everywhere: list[list[tuple[int, int, list[Entry]]]] = []
    for text, of_text in zip(texts, tokens, strict=True):
        occurrences = _occurrences(text, entries)
        everywhere.append(occurrences)
        chosen = []
        done = 0
        for begin in sorted({o[0] for o in occurrences}):
            _, end, of_key = max((o for o in occurrences if o[0] == begin), key=lambda o: o[1])
            if begin < done:
                continue
            done = end
            entry = _entry_for(text, of_text, begin, end, of_key)
            if entry is not None:
                chosen.append((begin, end, entry))
        found.append(chosen)

    blocked = set()
    spans = [{(b, e) for b, e, _ in chosen} for chosen in found]
    for own, occurrences in zip(spans, everywhere, strict=True):
        blocked |= {k[0].group for b, e, k in occurrences if (b, e) not in own}
    active = {entry.group for chosen in found for _, _, entry in chosen}
    for group in active:
        values = {e.value.lower() for e in entries if e.group == group}
        for other in active - {group}:
            if values & {e.value.lower() for e in entries if e.group == other}:
                blocked.add(group)
        for text, chosen in zip(texts, found, strict=True):
            for value in values:
                pattern = rf"(?<![A-Za-z0-9_]){re.escape(value)}(?![A-Za-z0-9_])"
                starts = [m.start() for m in re.finditer(f"(?={pattern})", text.lower())]
                for start in starts:
                    end = start + len(value)
                    own = [(b, e) for b, e, entry in chosen if entry.group == group]
                    if not any(b <= start and end <= e for b, e in own):
                        blocked.add(group)

    result = []
    for text, chosen in zip(texts, found, strict=True):
        new = ""
        done = 0
        for begin, end, entry in chosen:
            piece = text[begin:end]
            value = _capitals(piece, entry.value)
            if entry.group in blocked or value == piece:
                continue
            between = text[done:begin]
            article = re.search(
                r"(?<![A-Za-z0-9_\-'.&])(an?)(\s+[\"'(\[]*)\Z", between, re.IGNORECASE
            )
            if article is not None and takes_an(entry.value) != (article[1].lower() == "an"):
                if takes_an(entry.value):
                    capitals = piece.isupper() and sum(c.isupper() for c in piece) >= 2
                    right = "an" if article[1].islower() else "AN" if capitals else "An"
                else:
                    right = "A" if article[1][0].isupper() else "a"
                between = between[: article.start()] + right + article[2]
            new += between + value
            done = end
        result.append(new + text[done:])
    return result
