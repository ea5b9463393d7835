"""How often a corpus uses each noun."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_tags import NOUN, TokenTags

if TYPE_CHECKING:
    from collections.abc import Sequence


def count_nouns(
    texts: pa.Array | pa.ChunkedArray | Sequence[str], tags: TokenTags
) -> dict[str, int]:
    """Count tokens that are tagged as common nouns, in lower case.

    Parameters
    ----------
    texts
        n texts; repeated texts count each time.
    tags
        Their tags, as :meth:`Tagger.tag` gives them.

    Returns
    -------
    dict
        Surface form in lower case -> number of tokens, most frequent first, then alphabetical.

    Raises
    ------
    InputError
        If there are not as many texts as tagged ones.
    """
    if len(texts) != len(tags):
        raise InputError(f"{len(texts)} texts, but tags of {len(tags)}")
    of_text = np.repeat(np.arange(len(tags)), np.diff(tags.offsets))
    is_noun = tags.pos == NOUN
    spans = zip(
        of_text[is_noun].tolist(),
        tags.start[is_noun].tolist(),
        tags.end[is_noun].tolist(),
        strict=True,
    )
    plain = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
    encoded = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in plain]
    counted = Counter(encoded[i][start:end] for i, start, end in spans)
    counts: Counter[str] = Counter()
    for token, count in counted.items():
        counts[token.decode("utf-8", "surrogatepass").lower()] += count
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
