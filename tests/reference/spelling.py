"""A slow, obvious definition of the noise by misspelt words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from reference.substitution import split_words

ENDINGS = ("s", "es", "d", "ed", "ing", "r", "er", "st", "est", "ly")


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
            address = 0xCBF29CE484222325
            for byte in self.text.encode():
                address = (address ^ byte) * 0x100000001B3 % 2**64
            source = np.random.Philox(
                key=np.array(self.key, np.uint64), counter=np.array([0, address, 0, 0], np.uint64)
            )
            self.words = [int(word) for word in source.random_raw(1000)]
        return self.words.pop(0) * n >> 64


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
    pool = [i for i, piece in enumerate(pieces) if piece.strip() and _is_eligible(piece, how)]
    n_done = 0
    while pool and n_done < how.n_words:
        place = draws.below(len(pool))
        chosen = pool[place]
        pool[place] = pool[-1]
        pool.pop()
        word = pieces[chosen]
        swaps, keys = [], []
        for i, char in enumerate(word):
            alone = [c.isalpha() and word[j + 1 : j + 2] != "\u0301" for j, c in enumerate(word)]
            if not alone[i]:
                continue
            if how.keys:
                keys += [
                    word[:i] + _as_case_of(char, letter) + word[i + 1 :]
                    for letter in how.neighbours.get(_lower(char), "")
                ]
            if how.swaps and i + 1 < len(word) and alone[i + 1]:
                other = word[i + 1]
                if _lower(char) != _lower(other):
                    pair = _as_case_of(char, other) + _as_case_of(other, char)
                    swaps.append(word[:i] + pair + word[i + 2 :])
        swaps = [spelling for spelling in swaps if not _is_known(spelling, how.known)]
        keys = [spelling for spelling in keys if not _is_known(spelling, how.known)]
        if not swaps and not keys:
            continue
        options = swaps or keys
        if swaps and keys and draws.below(2) == 1:
            options = keys
        pieces[chosen] = options[draws.below(len(options))]
        n_done += 1
    return "".join(pieces)
