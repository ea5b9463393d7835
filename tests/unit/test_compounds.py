"""Compound statements: which sentences can be put into them, and how they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.transform.numerical import Statements, follow
from ietest_fast.transform.structure import are_single_sentences, are_statements

if TYPE_CHECKING:
    from ietest_fast.lexicon import Tagger


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    from ietest_fast.lexicon import Tagger

    return Tagger.load()


def large(*texts: str) -> pa.Array:
    return pa.array(texts, pa.large_string())


def first_word(text: str, tagger: Tagger) -> str:
    return Statements.of(large(text), tagger).inner[0].as_py().split()[0]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A man sleeps.", "a"),
        ("Two dogs run.", "two"),
        ("Men are asleep.", "men"),
        ("Everyone has visited Rome.", "everyone"),
        ("John sleeps.", "John"),
        ("I sleep.", "I"),
        ("I'm asleep.", "I'm"),
        ("NASA launched a rocket.", "NASA"),
        ("American soldiers march.", "American"),
        ("Large dogs run.", "large"),
        ("the dog runs.", "the"),
        ('"Stop" is written there.', '"Stop"'),
        ("7 men sleep.", "7"),
    ],
)
def test_the_first_word_is_small_unless_it_is_a_name(text: str, word: str, tagger: Tagger) -> None:
    assert first_word(text, tagger) == word


def test_sentences_are_joined(tagger: Tagger) -> None:
    made = Statements.of(
        large(
            "A man sleeps.", "Two dogs run", "John eats!", "He lives in the U.S.", " It rains . "
        ),
        tagger,
    )
    one, other = np.array([0, 1, 2, 3, 4]), np.array([1, 0, 0, 2, 3])
    assert made.join("and", one, other).to_pylist() == [
        "A man sleeps and two dogs run",
        "Two dogs run and a man sleeps.",
        "John eats and a man sleeps.",
        "He lives in the U.S. and John eats!",
        "It rains and he lives in the U.S.",
    ]
    assert made.join("or", one[:1], other[:1]).to_pylist() == ["A man sleeps or two dogs run"]
    assert made.deny(one[:3]).to_pylist() == [
        "It is not true that a man sleeps.",
        "It is not true that two dogs run",
        "It is not true that John eats!",
    ]


def test_one_text_stands_behind_another() -> None:
    first = large("A man sleeps", "A man sleeps. ", 'He said "go!"', "Is it so?")
    assert follow(first, large("Dogs run.", " Dogs run.", "Dogs run", "No")).to_pylist() == [
        "A man sleeps. Dogs run.",
        "A man sleeps. Dogs run.",
        'He said "go!" Dogs run',
        "Is it so? No",
    ]


def test_what_cannot_stand_in_a_compound(tagger: Tagger) -> None:
    texts = large(
        "A man sleeps.",
        "Mr. Smith sleeps.",
        "A man sleeps. He snores.",
        "Is a man asleep?",
        "please sleep",
        "",
        " .",
    )
    assert Statements.of(texts, tagger).fit.tolist() == [True, True, *[False] * 5]
    assert are_statements(texts).tolist() == [True, True, True, False, False, True, True]
    assert are_single_sentences(texts).tolist() == [True, True, False, True, True, True, True]
    nothing = pa.array([None], pa.large_string())
    assert not are_statements(nothing).any()
    assert not are_single_sentences(nothing).any()


def test_a_phrase_is_no_statement(tagger: Tagger) -> None:
    whole = ["Two dogs run in the park", "The man has gone", "She didn't see it", "Men are old"]
    phrases = ["Two men carrying an axe.", "A dog in the park", "Hm.", "A house made of bricks"]
    made = Statements.of(large(*whole, *phrases), tagger)
    assert made.fit.tolist() == [True] * 4 + [False] * 4


def test_no_sentence_at_all(tagger: Tagger) -> None:
    made = Statements.of(large(), tagger)
    assert len(made.bare) == len(made.inner) == len(made.fit) == 0
