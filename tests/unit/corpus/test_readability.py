"""Reading ease against a count by hand."""

from __future__ import annotations

import math
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.corpus import corpus_from_table, describe
from ietest_fast.corpus.description import count_syllables, reading_ease

SYLLABLES = {"the": 1, "cat": 1, "sat": 1, "on": 1, "mat": 1, "it": 1, "purred": 1, "a": 1}


def test_flesch_is_computed_as_defined():
    texts = pa.array(["The cat sat on the mat. It purred.", "The cat", "  ", "..."])
    ease = reading_ease(texts)
    assert ease[0] == pytest.approx(206.835 - 1.015 * 8 / 2 - 84.6 * 8 / 8)
    assert ease[1] == pytest.approx(206.835 - 1.015 * 2 / 1 - 84.6 * 2 / 2)
    assert math.isnan(ease[2])
    assert math.isnan(ease[3])


@pytest.mark.parametrize(
    ("word", "syllables"),
    [("cat", 1), ("table", 2), ("computer", 3), ("information", 4), ("a", 1), ("", 1), ("dog", 1)],
)
def test_syllables_are_those_of_the_dictionary(word, syllables):
    assert count_syllables(pa.array([word])).tolist() == [syllables]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two. Three", 3),
        ("One! Two? Three...", 3),
        ('He said "no." Then he left.', 2),
        ("It costs 3.50 today.", 1),
        ("No end", 1),
        ("Done.   ", 1),
    ],
)
def test_sentences_end_where_another_begins(text, sentences):
    words = pa.array(text.split())
    plain = pa.array([re.sub(r"^\W+|\W+$", "", word) for word in words.to_pylist()])
    n = len(words)
    syllables = int(count_syllables(plain).sum())
    expected = 206.835 - 1.015 * n / sentences - 84.6 * syllables / n
    assert reading_ease(pa.array([text]))[0] == pytest.approx(expected)


def test_long_words_are_harder_than_short_ones():
    easy, hard = reading_ease(
        pa.array(["The cat sat on the mat.", "Institutional considerations notwithstanding."])
    )
    assert easy > 90
    assert hard < 30


@pytest.mark.slow
@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_every_text_has_a_value_of_its_own(texts):
    together = reading_ease(pa.array(texts, pa.string()))
    for text, value in zip(texts, together, strict=True):
        alone = reading_ease(pa.array([text], pa.string()))[0]
        assert alone == value or (math.isnan(alone) and math.isnan(value))


def test_a_corpus_is_described_with_it():
    table = pa.table(
        {"text": ["The cat sat.", "The cat sat.", "...", "A dog."], "label": [0, 1, 0, 1]}
    )
    found = describe(corpus_from_table(table, text_columns=["text"])).columns[0].reading_ease
    ease = reading_ease(pa.array(["The cat sat.", "A dog."]))
    assert found.n_without == 1
    assert found.mean == pytest.approx((2 * ease[0] + ease[1]) / 3)
    assert found.q25 <= found.median <= found.q75
    blank = pa.table({"text": ["...", "!"], "label": [0, 1]})
    found = describe(corpus_from_table(blank, text_columns=["text"])).columns[0].reading_ease
    assert (found.mean, found.median, found.n_without) == (None, None, 2)


def test_a_word_of_a_million_letters_takes_no_time():
    assert count_syllables(pa.array(["a" * 1_000_000])).tolist() == [333_333]
