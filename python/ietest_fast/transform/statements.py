"""Telling statements from questions and requests, and one sentence from several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from ietest_fast.transform.sentences import split_sentences

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

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
