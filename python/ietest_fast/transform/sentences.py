"""Cutting texts into sentences by their marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa


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


# Telling statements from questions and requests, and one sentence from several.

# Neither true nor false: questions, also without their mark, and requests.
_FILLERS = "well|so|and|but|or|oh|yeah|yes|no|um|uh|huh|now|okay|ok|right|then"
_OPENERS = (
    "who|whom|whose|what|which|when|where|why|how|am|is|are|was|were|do|does|did|have|has|had|"
    "can|could|will|would|shall|should|may|might|must|let|lets|let's|suppose|imagine|please|try|"
    "do(?:n't| not)|isn't|aren't|wasn't|weren't|doesn't|didn't|haven't|hasn't|can't|won't"
)
NO_STATEMENT = rf"[?]|(?i:^[^\pL]*(?:(?:{_FILLERS})(?:[\s,.!;:-]+))*(?:{_OPENERS})(?:\s|$))"
"""Matches a text that has a question mark, or begins as questions and requests do."""

# A mark that may end a sentence, and more behind it.
_MARK_INSIDE = r"[.!?][\"')\]]*\s+\S"


def are_statements(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Say which texts are neither questions nor requests, bool (n,); a null is none."""
    odd = pc.match_substring_regex(texts, NO_STATEMENT)
    return ~np.asarray(pc.fill_null(odd, fill_value=True), dtype=np.bool_)


def are_single_sentences(texts: pa.Array) -> npt.NDArray[np.bool_]:
    """Say which texts are one sentence, as far as marks tell, bool (n,); a null is none."""
    may_be_several = pc.match_substring_regex(texts, _MARK_INSIDE)
    single = ~np.asarray(pc.fill_null(may_be_several, fill_value=True), dtype=np.bool_)
    unsure = np.flatnonzero(~single)
    # "Mr. Smith" has a mark inside, too.
    single[unsure] = [
        text is not None and len(split_sentences(text)) == 1
        for text in texts.take(unsure).to_pylist()
    ]
    return single
