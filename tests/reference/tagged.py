"""A slow, obvious definition of substitution by tagged words, on rows of plain text."""

from __future__ import annotations

import itertools
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
    number: int = 0
    group: int = 0
    pos: str = "NOUN"
    is_bound: bool = False
    # (place, negated, words and tags), all of which must hold.
    tests: tuple[tuple[int, bool, tuple[str, ...]], ...] = ()


NAMES = {"PROPN"}
QUOTES = {*"\"'`\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u00ab\u00bb\u2039\u203a", "``", "''"}
HYPHENS = "\\-\u2010\u2011\u2013"


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


class Place:
    """A key in a text, and what stands beside it."""

    def __init__(self, text: str, tokens: list[Token], begin: int, end: int) -> None:
        self.text, self.begin, self.end, self.all = text, begin, end, tokens
        self.inside = [t for t in tokens if begin <= t.start and t.end <= end]
        self.before = [t for t in tokens if t.end <= begin]
        self.after = [t for t in tokens if t.start >= end]

    def beside(self, place: int) -> Token | None:
        if place < 0:
            return self.before[place] if len(self.before) >= -place else None
        return self.after[place - 1] if len(self.after) >= place else None

    def word(self, token: Token) -> str:
        return self.text[token.start : token.end].lower()

    def listed(self, place: int, words: tuple[str, ...]) -> bool:
        token = self.beside(place)
        if token is None:
            return "END" in words
        return token.pos in words or self.word(token) in words

    def asked_for(self, entry: Entry, place: int) -> bool:
        token = self.beside(place)
        return token is not None and any(
            at == place and not negated and self.word(token) in words
            for at, negated, words in entry.tests
        )

    @property
    def is_of_tokens(self) -> bool:
        return (
            bool(self.inside)
            and self.inside[0].start == self.begin
            and self.inside[-1].end == self.end
            and not any(
                t.start < self.begin < t.end or t.start < self.end < t.end for t in self.all
            )
        )

    @property
    def is_joined(self) -> bool:
        before, after = self.text[: self.begin], self.text[self.end :]
        # What is not ASCII counts as a letter here, whatever it is.
        letter = r"[A-Za-z0-9\u0080-\U0010ffff]"
        return bool(
            before.endswith(("#", "@"))
            or re.search(rf"{letter}[{HYPHENS}']\Z", before)
            or re.match(rf"[{HYPHENS}]{letter}", after)
        )

    @property
    def is_named(self) -> bool:
        if not self.text[self.begin].isupper():
            return False
        following = self.beside(1)
        if following is not None and following.pos in NAMES:
            return True
        before = list(self.before)
        while before and self.word(before[-1]) in QUOTES | set("([{"):
            before.pop()
        return bool(before) and not set(self.word(before[-1])) <= set(".!?\u2026")

    @property
    def is_quoted(self) -> bool:
        before, after, later = (
            None if token is None else self.word(token)
            for token in (self.beside(-1), self.beside(1), self.beside(2))
        )
        return before in QUOTES and (
            after in QUOTES or (after in set(",.!?;:") and later in QUOTES)
        )

    def is_in_compound(self, entry: Entry) -> bool:
        if entry.pos != "NOUN":
            return False
        return any(
            (token := self.beside(place)) is not None
            and token.pos in {"NOUN", *NAMES}
            and not self.asked_for(entry, place)
            for place in (-1, 1)
        )

    def is_in_phrase(self, entry: Entry, phrases: set[str]) -> bool:
        own = " ".join(self.word(t) for t in self.inside)
        found = []
        for n_before, n_after in itertools.product(range(4), repeat=2):
            if not 1 <= n_before + n_after <= 3:
                continue
            if len(self.before) < n_before or len(self.after) < n_after:
                continue
            words = [
                *(self.word(t) for t in self.before[len(self.before) - n_before :]),
                own,
                *(self.word(t) for t in self.after[:n_after]),
            ]
            if " ".join(words) in phrases:
                found.append((n_before, n_after))
        return any(
            not (n == (1, 0) and self.asked_for(entry, -1))
            and not (n == (0, 1) and self.asked_for(entry, 1))
            for n in found
        )

    def breaks_possessive(self, entry: Entry) -> bool:
        following = self.beside(1)
        return (
            following is not None
            and self.word(following) in {"'", "'s", "\u2019", "\u2019s"}
            and self.text[: self.end].lower().endswith("s") != entry.value.endswith("s")
        )


def _entry_for(here: Place, entries: list[Entry], phrases: set[str]) -> Entry | None:
    if not here.is_of_tokens or any(t.pos in NAMES for t in here.inside[:-1]):
        return None
    last = here.inside[-1]
    for entry in entries:
        fits = (
            entry.pos == last.pos
            and (0 in {entry.number, last.number} or entry.number == last.number)
            and all(here.listed(at, words) != negated for at, negated, words in entry.tests)
        )
        if fits:
            is_part = (
                here.is_joined
                or here.is_named
                or here.is_quoted
                or here.is_in_compound(entry)
                or here.is_in_phrase(entry, phrases)
                or here.breaks_possessive(entry)
            )
            return None if is_part else entry
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
    texts: list[str],
    tokens: list[list[Token]],
    entries: list[Entry],
    takes_an,
    phrases: set[str] = frozenset(),
) -> list[str]:
    """Replace the words of one row."""
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
            entry = _entry_for(Place(text, of_text, begin, end), of_key, phrases)
            if entry is not None:
                chosen.append((begin, end, entry))
        found.append(chosen)

    blocked = set()
    spans = [{(b, e) for b, e, _ in chosen} for chosen in found]
    for own, occurrences in zip(spans, everywhere, strict=True):
        blocked |= {
            entry.group
            for b, e, of_key in occurrences
            if (b, e) not in own
            for entry in of_key
            if entry.is_bound
        }
    # Of a bound group all values are compared, for all its forms are replaced.
    values: dict[int, set[str]] = {}
    for entry in {entry for chosen in found for _, _, entry in chosen}:
        of_entry = [e for e in entries if e.group == entry.group] if entry.is_bound else [entry]
        values.setdefault(entry.group, set()).update(e.value.lower() for e in of_entry)
    for group, own_values in values.items():
        for other in values.keys() - {group}:
            if own_values & values[other]:
                blocked.add(group)
        for text, chosen in zip(texts, found, strict=True):
            for value in own_values:
                written = r"\s+".join(map(re.escape, value.split(" ")))
                pattern = rf"(?<![A-Za-z0-9_])(?=({written})(?![A-Za-z0-9_]))"
                for match in re.finditer(pattern, text.lower()):
                    start, end = match.span(1)
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
            article = ARTICLE.search(between)
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
