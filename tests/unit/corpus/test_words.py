"""Words of texts, against Python's own splitting."""

from __future__ import annotations

import re

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.corpus.description import find_incidence

WORDS = st.lists(
    st.sampled_from(["dog", "Dog.", "DOG!", "cat,", "(cat)", "...", "don't", "3.5", "éa", "-"]),
    max_size=6,
).map(" ".join)


def by_hand(text):
    return {re.sub(r"^[\W_]+|[\W_]+$", "", word) for word in text.lower().split()} - {""}


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6))
def test_every_word_counts_once_a_row(pairs):
    first, second = (pa.chunked_array([list(column)]) for column in zip(*pairs, strict=True))
    found = find_incidence(first, second)
    words = found.words.to_pylist()
    rows = [set() for _ in pairs]
    for row, word in zip(found.row, found.word, strict=True):
        assert words[word] not in rows[row]
        rows[row].add(words[word])
    assert rows == [by_hand(a) | by_hand(b) for a, b in pairs]
