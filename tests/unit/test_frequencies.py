from __future__ import annotations

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.lexicon import UPOS, TokenTags, count_nouns


def tags_of(spans: list[list[tuple[int, int, str]]]) -> TokenTags:
    tokens = [token for text in spans for token in text]
    return TokenTags(
        offsets=np.cumsum([0, *map(len, spans)]),
        start=np.array([token[0] for token in tokens], np.int32),
        end=np.array([token[1] for token in tokens], np.int32),
        pos=np.array([UPOS.index(token[2]) for token in tokens], np.uint8),
        number=np.zeros(len(tokens), np.int8),
    )


def test_counts_nouns_by_bytes_and_in_lower_case() -> None:
    texts = ["Élan and dog", "", "Dog élan Rex"]
    tags = tags_of(
        [
            [(0, 5, "NOUN"), (6, 9, "CCONJ"), (10, 13, "NOUN")],
            [],
            [(0, 3, "NOUN"), (4, 9, "NOUN"), (10, 13, "PROPN")],
        ]
    )
    assert count_nouns(texts, tags) == {"dog": 2, "élan": 2}


def test_refuses_tags_of_other_texts() -> None:
    with pytest.raises(InputError, match="3 texts, but tags of 1"):
        count_nouns(["a", "b", "c"], tags_of([[(0, 1, "NOUN")]]))
