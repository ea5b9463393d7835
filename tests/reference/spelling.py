"""A slow, obvious definition of the noise by misspelt words."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from reference.substitution import split_words

ENDINGS = ("s", "es", "d", "ed", "ing", "r", "er", "st", "est", "ly")


Drawn = TypeVar("Drawn")


@dataclass(frozen=True, kw_only=True)
class Noise:
    neighbours: dict[str, str]
    key: tuple[int, int]
    known: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    only_listed: bool | None = None
    n_words: int = 1
    swaps: bool = True
    keys: bool = True
    min_letters: int = 2
    between_blanks: bool = False


@dataclass
class Draws:
    """Whole numbers below n, addressed by a text."""

    text: str
    key: tuple[int, int]
    words: list[int] = field(default_factory=list)

    def below(self, n: int) -> int:
        if not self.words:
            data = self.text.encode()
            address = 0xCBF29CE484222325 ^ len(data)
            for at in range(0, len(data), 8):
                word = int.from_bytes(data[at : at + 8], "little")
                address = (address ^ word) * 0x9E3779B97F4A7C15 % 2**64
                address ^= address >> 32
            source = np.random.Philox(
                key=np.array(self.key, np.uint64), counter=np.array([0, address, 0, 0], np.uint64)
            )
            self.words = [int(word) for word in source.random_raw(1000)]
        return self.words.pop(0) * n >> 64

    def take(self, pool: list[Drawn]) -> Drawn:
        """Take one out; the last one moves to its place."""
        place = self.below(len(pool))
        drawn = pool[place]
        pool[place] = pool[-1]
        pool.pop()
        return drawn


def _pieces(text: str) -> list[str]:
    """Cut text at word boundaries; letters beyond ASCII are letters."""
    plain = "".join("a" if ord(c) > 127 and c.isalpha() else c for c in text)
    pieces, at = [], 0
    for piece in split_words(plain):
        pieces.append(text[at : at + len(piece)])
        at += len(piece)
    return pieces


def _lower(char: str) -> str:
    return char.lower() if len(char.lower()) == 1 and ord(char) < 256 else char


def _is_upper(char: str) -> bool:
    return ord(char) < 256 and _lower(char) != char


def _is_lower(char: str) -> bool:
    return "a" <= char <= "z" or ("\xe0" <= char <= "\xfe" and char != "\xf7")


def _as_case_of(model: str, letter: str) -> str:
    if _is_upper(model) and _is_lower(letter):
        return letter.upper()
    return _lower(letter) if _is_lower(model) else letter


def _is_known(word: str, known: frozenset[str]) -> bool:
    folded = re.sub("[A-Z]", lambda letter: letter[0].lower(), word)
    stems = [folded.removesuffix(e) for e in ENDINGS if folded.endswith(e) and folded != e]
    return any(form in known for form in [folded, *stems])


def _is_eligible(word: str, how: Noise) -> bool:
    letters = [c for c in word if c.isalpha()]
    if how.between_blanks:
        letters = list(word)
    elif any(c.isdigit() or c == "_" for c in word):
        return False
    if not letters or not (how.between_blanks or word[0].isalpha()):
        return False
    if len(letters) < how.min_letters:
        return False
    folded = re.sub("[A-Z]", lambda letter: letter[0].lower(), word)
    return how.only_listed is None or (folded in how.listed) == how.only_listed


def misspell(text: str, how: Noise) -> str:
    """Misspell words of a text."""
    pieces = re.split(r"(\s+)", text) if how.between_blanks else _pieces(text)
    draws = Draws(text, how.key)
    pool = [i for i, piece in enumerate(pieces) if _is_word(piece, how)]
    n_done = 0
    while pool and n_done < how.n_words:
        chosen = draws.take(pool)
        word = pieces[chosen]
        if not _is_eligible(word, how):
            continue
        ways = [_swaps(word)] if how.swaps else []
        if how.keys:
            ways.append(_keys(word, how.neighbours))
        if len(ways) == 2 and draws.below(2) == 1:
            ways.reverse()
        for spellings in ways:
            spelling = None
            while spellings and spelling is None:
                drawn = draws.take(spellings)
                spelling = None if _is_known(drawn, how.known) else drawn
            if spelling is not None:
                pieces[chosen] = spelling
                n_done += 1
                break
    return "".join(pieces)


def _is_word(piece: str, how: Noise) -> bool:
    if how.between_blanks:
        return bool(piece.strip())
    return piece[:1].isalnum() or piece[:1] == "_"


def _stands_alone(word: str, i: int) -> bool:
    return word[i : i + 1].isalpha() and word[i + 1 : i + 2] != "\u0301"


def _swaps(word: str) -> list[str]:
    found = []
    for i, (a, b) in enumerate(itertools.pairwise(word)):
        if _stands_alone(word, i) and _stands_alone(word, i + 1) and _lower(a) != _lower(b):
            found.append(word[:i] + _as_case_of(a, b) + _as_case_of(b, a) + word[i + 2 :])
    return found


def _keys(word: str, neighbours: dict[str, str]) -> list[str]:
    return [
        word[:i] + _as_case_of(char, letter) + word[i + 1 :]
        for i, char in enumerate(word)
        if _stands_alone(word, i)
        for letter in neighbours.get(_lower(char), "")
    ]
