"""Counting, weighting and row sharing against the slow definitions, on arbitrary texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ietest_fast.models import SplitTexts
from ietest_fast.models.bag_of_words import (
    BagOfWordsXGBoost,
    _keep_columns,
    inverse_document_frequency,
    weight_tfidf,
)
from reference.word_counts import count_words, learn_idf, weigh_tfidf

# Letters with and without accents, digits, underscore, marks that are no word characters, an
# apostrophe, letters of other scripts. (Not İ: Python lowers it to two characters, Unicode's
# simple mapping to one.)
_TEXT = st.text(alphabet="abAB_ 1.,'’-éÉßж中\n²\u0301", max_size=20)
_PAIRS = st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=8)


def _table(pairs):
    return pa.table(
        {
            "premise": pa.array([a for a, _ in pairs], pa.string()),
            "hypothesis": pa.array([b for _, b in pairs], pa.string()),
        }
    )


def _joined(pairs):
    return [f"{a} {b}" for a, b in pairs]


def _encode(train, other):
    n = len(train)
    split = SplitTexts(
        versions={"original": _table(train), "transformed": _table(other)},
        labels=np.zeros(n, np.int8),
    )
    return BagOfWordsXGBoost().encode({"train": split}, ["premise", "hypothesis"])["train"]


def _vocabulary(*texts):
    return sorted({word for part in texts for text in part for word in count_words(text)})


@given(pairs=_PAIRS, changes=st.lists(st.booleans(), min_size=8, max_size=8), word=_TEXT)
def test_counts_are_those_of_the_slow_definition(pairs, changes, word):
    other = [
        (a, f"{b} {word}") if change else (a, b)
        for (a, b), change in zip(pairs, changes, strict=False)
    ]
    vocabulary = _vocabulary(_joined(pairs), _joined(other))
    assume(vocabulary)
    encoded = _encode(pairs, other)
    matrix = encoded.store.matrix().toarray()
    for texts, rows in ((pairs, encoded.original), (other, encoded.versions["transformed"])):
        for text, row in zip(_joined(texts), rows, strict=True):
            counts = count_words(text)
            assert matrix[row].tolist() == [counts[w] for w in vocabulary]
    # Two versions share a row exactly where they are the same bag.
    same = [
        count_words(a) == count_words(b)
        for a, b in zip(_joined(pairs), _joined(other), strict=True)
    ]
    assert (encoded.original == encoded.versions["transformed"]).tolist() == same


@given(pairs=_PAIRS, data=st.data())
def test_tfidf_of_a_resample_is_as_if_learnt_from_its_texts(pairs, data):
    vocabulary = _vocabulary(_joined(pairs))
    assume(vocabulary)
    rows = data.draw(st.lists(st.integers(0, len(pairs) - 1), min_size=1, max_size=8))
    counts = _encode(pairs, pairs).store.matrix()
    idf = inverse_document_frequency(counts[rows])
    weighted = weight_tfidf(counts, idf).toarray()
    slow = learn_idf([_joined(pairs)[row] for row in rows])
    for text, values in zip(_joined(pairs), weighted, strict=True):
        expected = weigh_tfidf(text, slow) if any(w in slow for w in count_words(text)) else {}
        assert values == pytest.approx([expected.get(w, 0.0) for w in vocabulary], rel=1e-6)


@given(data=st.data())
def test_keeping_columns_is_indexing(data):
    shape = data.draw(st.tuples(st.integers(0, 6), st.integers(1, 8)))
    dense = data.draw(arrays(np.float32, shape, elements=st.sampled_from([0.0, 1.0, 2.5])))
    kept = data.draw(st.sets(st.integers(0, shape[1] - 1), min_size=1))
    columns = np.array(sorted(kept), dtype=np.int64)
    ours = _keep_columns(sp.csr_matrix(dense), columns)
    assert ours.shape == (shape[0], len(columns))
    assert np.array_equal(ours.toarray(), dense[:, columns])
