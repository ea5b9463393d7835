from __future__ import annotations

from itertools import pairwise
from unittest import mock

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.models import ngrams
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.runtime import load_core
from reference.ngrams import encode as encode_slowly
from reference.ngrams import hash_ngrams as slow

# Few words, so that n-grams recur; one outside ASCII and one outside the first plane.
words = st.sampled_from(["a", "the", "dog", "naïve", "木", "\U0001d11e", "abcde", "x_1"])
texts = st.lists(st.lists(words, max_size=9).map(" ".join), max_size=6)


@given(texts, st.integers(1, 6), st.integers(1, 30))
def test_hashed_ngrams_are_the_definition(rows: list[str], max_n: int, bits: int) -> None:
    offsets, buckets = load_core().linear.hash_ngrams(
        pa.array(rows, pa.large_string()), max_n=max_n, bits=bits
    )
    found = [buckets[begin:end].tolist() for begin, end in pairwise(offsets)]
    assert found == [slow(text, max_n, bits) for text in rows]


@given(texts, st.integers(1, 4), st.sampled_from([1, 2, 3, 7]))
def test_threads_and_slices_do_not_matter(rows: list[str], max_n: int, n_threads: int) -> None:
    hash_ngrams = load_core().linear.hash_ngrams
    every = pa.array([*rows, *rows], pa.string())
    offsets, buckets = hash_ngrams(every.slice(len(rows)), max_n=max_n, bits=20)
    again = hash_ngrams(pa.array(rows, pa.string()), max_n=max_n, bits=20, n_threads=n_threads)
    assert offsets.tolist() == again[0].tolist()
    assert buckets.tolist() == again[1].tolist()


# As normalise_words makes them: it takes what is no letter for a blank.
letters = st.lists(words.filter(lambda word: word != "\U0001d11e"), max_size=6).map(" ".join)
inputs = st.lists(st.tuples(letters, letters), max_size=8)


@given(
    inputs,
    inputs,
    st.builds(
        ngrams.NgramOptions,
        max_n=st.integers(1, 4),
        bits=st.sampled_from([2, 12]),
        texts=st.sampled_from(["apart", "joined"]),
    ),
    st.sampled_from([1, 7, 1 << 18]),
)
def test_stores_are_the_definition_however_many_ngrams_are_looked_at_together(
    train: list[tuple[str, str]],
    test: list[tuple[str, str]],
    options: ngrams.NgramOptions,
    at_once: int,
) -> None:
    texts = {"train": [("a", "木"), *train], "test": [*test, ("zz", "a")]}
    splits = {}
    for name, own in texts.items():
        table = pa.table(dict(zip("ab", zip(*own, strict=True), strict=True)))
        splits[name] = SplitTexts(versions={"original": table}, labels=np.zeros(len(own), np.int8))
    with mock.patch.object(ngrams, "_ENTRIES_AT_ONCE", at_once):
        found = ngrams.encode_ngrams(splits, "ab", options)
    buckets, rows = encode_slowly(
        texts, options.max_n, options.bits, apart=options.texts == "apart"
    )
    for name, split in found.items():
        store = split.store
        assert isinstance(store, ngrams.NgramRows)
        assert store.buckets.tolist() == buckets
        assert [each.dtype for each in store.arrays().values()] == [
            np.int64,
            np.int32,
            np.int32,
            np.int32,
            np.int64,
        ]
        made = [
            (store.columns[store.offsets[i] : store.offsets[i + 1]].tolist(), store.sizes[i])
            for i in split.original
        ]
        assert made == rows[name]
        assert store.offsets[-1] == len(store.columns)
