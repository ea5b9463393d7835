"""Cutting texts into sentences by their marks."""

from __future__ import annotations

import re

# Behind a mark that ends a sentence, before what may begin one.
_BETWEEN = re.compile(r"(?<=[.!?])([\"')\]]*)\s+(?=[\"'(\[]?[A-Z0-9])")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|[Rr]s|[Mm]r|[Mm]rs|[Mm]s|[Dd]r|[Pp]rof|[Ss]t|[Jj]r|[Ss]r|[Nn]o|[Vv]s|etc|"
    r"[Ii]nc|[Cc]o|[Ll]td|[Cc]orp|approx|sq|ft|in|hrs?|mins?|secs?|[Aa]\.m|[Pp]\.m|[Ii]\.e|[Ee]\.g|"
    r"U\.S)\.$"
)
# With what stands before it.
_LONGEST_ABBREVIATION = 10


def split_sentences(text: str) -> list[str]:
    """Cut a text into its sentences, without the blanks between them."""
    sentences, begin = [], 0
    for between in _BETWEEN.finditer(text):
        end = between.end(1)
        if _ABBREVIATED.search(text, max(begin - 1, end - _LONGEST_ABBREVIATION, 0), end):
            continue
        sentences.append(text[begin:end].strip())
        begin = between.end()
    return [*sentences, text[begin:].strip()]


def without_cut_numbers(sentences: list[str]) -> list[str]:
    """Leave out what "$22. 7 million" makes two sentences of."""
    cut: set[int] = set()
    for i in range(len(sentences) - 1):
        if re.search(r"\d\.$", sentences[i]) and sentences[i + 1][:1].isdigit():
            cut |= {i, i + 1}
    return [each for i, each in enumerate(sentences) if i not in cut]
