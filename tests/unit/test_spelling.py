"""Noise as a transformation: what changed, and what never comes out."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from ietest_fast.corpus import demo_corpus
from ietest_fast.transform.spelling import Spelling, known_words

TEXTS = [
    None,
    "",
    "Two dogs run, and a cat sleeps.",
    "I am 5.",
    "The the THE the",
    "?!",
    "\xe9t\xe9",
]


@pytest.mark.parametrize("rules", ["careful", "paper"])
@pytest.mark.parametrize("n_words", [1, 3])
def test_changed_rows_are_those_that_differ(rules, n_words):
    table = pa.table({"premise": TEXTS, "hypothesis": TEXTS[::-1]})
    made = Spelling(rules=rules, n_words=n_words, columns=("premise", "hypothesis")).transform(
        table, ("premise", "hypothesis")
    )
    before, after = table.to_pylist(), made.table.to_pylist()
    assert made.changed.tolist() == [a != b for a, b in zip(before, after, strict=True)]
    assert made.changed.any()
    assert made.edits.num_rows > 0
    for row in made.edits.to_pylist():
        assert row["old"] != row["new"]
    assert made.undo().equals(table)


def test_careful_noise_makes_no_words():
    corpus = demo_corpus(2_000)
    made = Spelling().transform(corpus.table, corpus.text_columns)
    assert made.changed.mean() > 0.99
    known = known_words()
    assert not [new for new in made.edits["new"].to_pylist() if new.lower() in known]
    rules = set(made.edits["rule"].to_pylist())
    assert rules == {"adjacent-swap", "neighbouring-key"}


@pytest.mark.slow
def test_equal_texts_are_misspelt_alike_whatever_stands_around():
    table = pa.table({"hypothesis": ["A dog runs in the park."] * 3 + ["Another text"]})
    made = pickle.loads(pickle.dumps(Spelling(seed=3))).transform(table, ("hypothesis",))
    texts = made.table["hypothesis"].to_pylist()
    assert len(set(texts[:3])) == 1
    alone = Spelling(seed=3).transform(table.slice(2, 1), ("hypothesis",))
    assert alone.table["hypothesis"].to_pylist() == texts[2:3]
    others = {
        Spelling(seed=seed).transform(table, ("hypothesis",)).table["hypothesis"][0].as_py()
        for seed in range(20)
    }
    assert len(others) > 10
