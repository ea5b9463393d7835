"""Slow, obvious definitions of what the substitution kernels do."""

from __future__ import annotations

import re
import string

LETTERS = string.ascii_letters
DIGITS = string.digits
ACCENT = "\N{COMBINING ACUTE ACCENT}"
FLAG_HALVES = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def split_words(text: str) -> list[str]:
    """Cut text at the word boundaries of Unicode Standard Annex 29: ASCII, flags and accents."""

    def glued(i: int) -> bool:  # noqa: PLR0911 - a rule of the annex each
        """Whether there is no boundary between text[i - 1] and text[i]."""
        a, b = text[i - 1], text[i]
        before = text[i - 2] if i >= 2 else " "
        after = text[i + 1] if i + 1 < len(text) else " "
        word = LETTERS + DIGITS + "_"
        if a in word and b in word:
            return True
        if b == ACCENT:  # WB4: it belongs to what stands before it, but for line breaks
            return a not in "\r\n"
        if b in FLAG_HALVES:  # WB15, WB16: halves pair up from the start of their run
            run = re.search(f"[{FLAG_HALVES}{ACCENT}]*$", text[:i])[0].lstrip(ACCENT)
            return sum(c in FLAG_HALVES for c in run) % 2 == 1
        if (a == " " and b == " ") or a + b == "\r\n":
            return True
        if a in LETTERS and b in ".':" and after in LETTERS:
            return True
        if before in LETTERS and a in ".':" and b in LETTERS:
            return True
        if a in DIGITS and b in ".',;" and after in DIGITS:
            return True
        return before in DIGITS and a in ".',;" and b in DIGITS

    pieces: list[str] = []
    for i, char in enumerate(text):
        if i > 0 and glued(i):
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def replace_words(text: str, mapping: dict[str, str], *, ignore_case: bool = False) -> str:
    """Replace the leftmost longest keys between word boundaries."""
    keys = {key.lower() if ignore_case else key: value for key, value in mapping.items()}
    pieces = split_words(text)
    result = []
    i = 0
    while i < len(pieces):
        for j in range(len(pieces), i, -1):
            candidate = "".join(pieces[i:j])
            found = candidate.lower() if ignore_case else candidate
            if found in keys and split_words(candidate) == pieces[i:j]:
                result.append(keys[found])
                i = j
                break
        else:
            result.append(pieces[i])
            i += 1
    return "".join(result)


def replace_as_flashtext2(text: str, mapping: dict[str, str]) -> str:
    """Replace as flashtext2 1.1 does: like replace_words, but what was looked at is lost.

    Pieces that were looked at for a longer key than the one that then stands there are not looked
    at again; at the end of a text they are lost even where no key stands.
    """
    keys = {tuple(split_words(key)): value for key, value in mapping.items()}
    beginnings = {key[:n] for key in keys for n in range(1, len(key) + 1)}
    pieces = split_words(text)
    result = []
    i = 0
    while i < len(pieces):
        looked_at = i
        found = None
        while looked_at < len(pieces) and tuple(pieces[i : looked_at + 1]) in beginnings:
            looked_at += 1
            if tuple(pieces[i:looked_at]) in keys:
                found = looked_at
        if found is not None:
            result.append(keys[tuple(pieces[i:found])])
            result.extend(pieces[found:looked_at])
            i = looked_at
        elif looked_at == len(pieces):
            result.extend(pieces[i:])
            break
        else:
            result.append(pieces[i])
            i += 1
    return "".join(result)


def replace_normalised(text: str, mapping: dict[str, str]) -> str:
    """Normalise as published, then look every word up."""
    words = re.sub(r"[^a-zA-z0-9\s]", "", text.lower()).split()
    return " ".join(mapping.get(word, word) for word in words)


def make_edits(text: str, edits: list[tuple[int, int, str, str]]) -> str:
    """Make edits (start byte, end byte, old, new) one after the other, from the last on."""
    data = text.encode()
    for start, end, old, new in sorted(edits, reverse=True):
        assert data[start:end] == old.encode()
        data = data[:start] + new.encode() + data[end:]
    return data.decode()
