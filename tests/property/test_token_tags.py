from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.lexicon import TokenTags

lengths = st.lists(st.integers(0, 4), max_size=6)


def tags_with(n_tokens: list[int]) -> TokenTags:
    n = sum(n_tokens)
    return TokenTags(
        offsets=np.cumsum([0, *n_tokens]).astype(np.int64),
        start=np.arange(n, dtype=np.int32),
        end=np.arange(n, dtype=np.int32) + 1,
        pos=(np.arange(n) % 19).astype(np.uint8),
        number=(np.arange(n) % 3).astype(np.int8),
    )


def plain(tags: TokenTags) -> list[list[tuple[int, ...]]]:
    return [
        [
            tuple(int(column[k]) for column in (tags.start, tags.end, tags.pos, tags.number))
            for k in range(tags.offsets[i], tags.offsets[i + 1])
        ]
        for i in range(len(tags))
    ]


@given(lengths, st.data())
def test_take_is_indexing(n_tokens: list[int], data: st.DataObject) -> None:
    tags = tags_with(n_tokens)
    indices = data.draw(st.lists(st.integers(-1, len(n_tokens) - 1), max_size=8))
    expected = [[] if i < 0 else plain(tags)[i] for i in indices]
    assert plain(tags.take(np.array(indices, np.int64))) == expected


@given(st.lists(lengths, max_size=4))
def test_concatenate_is_concatenation(parts: list[list[int]]) -> None:
    tags = [tags_with(part) for part in parts]
    expected = [row for part in tags for row in plain(part)]
    assert plain(TokenTags.concatenate(tags)) == expected
