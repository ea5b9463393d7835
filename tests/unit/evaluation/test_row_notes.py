"""What is noted of each row of a stress test, held against looking at the texts."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

from ietest_fast.analyses.stress.origins import (
    RULE,
    WORD_CLASS,
    WORD_PAIR,
    find_word_pair,
    note_rows,
    split_words,
)
from ietest_fast.lexicon.words import FUNCTION_WORDS
from ietest_fast.transform import plan

COLUMNS = ("premise", "hypothesis")
TEXTS = [
    ("A large dog runs in the park.", "The dog's owner isn't there, I think!"),
    ("The café was closed when we came.", "It was open and we went in."),
    ("Two old women sit on a bench.", "An old woman sits with her sister."),
    ("He said nothing.", ""),
    ("Nobody is in the well-known park.", "Everybody should be in it by now."),
]


def transform(phi: Any) -> tuple[pa.Table, Any, dict[str, list[str | None]]]:
    table = pa.table({name: [row[i] for row in TEXTS * 4] for i, name in enumerate(COLUMNS)})
    with plan(phi) as planned:
        made = planned.build().transform(table, COLUMNS)
    before = table.take(pa.array(made.source_row))
    notes = note_rows(before, made, COLUMNS)
    assert all(len(notes[name]) == made.table.num_rows for name in notes)
    return before, made, {name: notes[name].to_pylist() for name in notes}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", ["any", "function", "content"])
def test_the_misspelt_word_and_how(words: str, seed: int) -> None:
    before, made, notes = transform({"name": "spelling", "words": words, "seed": seed})
    for row, (old, new) in enumerate(
        zip(before["hypothesis"].to_pylist(), made.table["hypothesis"].to_pylist(), strict=True)
    ):
        if old == new:
            assert (notes[RULE][row], notes[WORD_CLASS][row]) == (None, None)
            continue
        # The one word that is another, found by comparing blank by blank.
        changed = [(a, b) for a, b in zip(old.split(" "), new.split(" "), strict=True) if a != b]
        ((was, became),) = changed
        is_swap = sorted(was.lower()) == sorted(became.lower())
        assert notes[RULE][row] == ("adjacent-swap" if is_swap else "neighbouring-key")
        word = was.strip(".,!?").lower()
        expected = "function" if word in FUNCTION_WORDS else "content"
        assert notes[WORD_CLASS][row] == expected
        assert words in {"any", expected}
    assert notes[WORD_PAIR] == [None] * made.table.num_rows


def test_several_rules_and_words_of_a_row() -> None:
    _, _, notes = transform({"name": "spelling", "n_words": 4, "seed": 1})
    assert "adjacent-swap + neighbouring-key" in notes[RULE]
    assert "content + function" in notes[WORD_CLASS]


def test_the_steps_of_a_composition() -> None:
    before, _, notes = transform("word-overlap+spelling")
    alone = transform("word-overlap")[2]
    assert set(alone[RULE]) <= {"word-overlap", None}
    assert set(alone[WORD_CLASS]) == {None}  # nothing is replaced
    for row, text in enumerate(before["hypothesis"].to_pylist()):
        if text:
            assert notes[RULE][row] in {
                "adjacent-swap + word-overlap",
                "neighbouring-key + word-overlap",
            }
            assert notes[WORD_CLASS][row] in {"function", "content"}


def test_a_word_that_is_cut_is_not_replaced() -> None:
    table = pa.table({"premise": ["A dog."], "hypothesis": ["He met Mr. Smith"]})
    with plan("word-overlap:rules=paper") as planned:
        made = planned.build().transform(table, COLUMNS)
    assert "cut" in made.edits["rule"].to_pylist()
    notes = note_rows(table, made, COLUMNS)
    assert notes[WORD_CLASS].to_pylist() == [None]


@pytest.mark.parametrize("rules", ["careful", "paper"])
def test_the_words_of_antonyms(rules: str) -> None:
    _, made, notes = transform({"name": "antonym", "rules": rules, "texts": "captions"})
    assert made.table.num_rows > 0
    found = 0
    for row, pair in enumerate(notes[WORD_PAIR]):
        texts = [made.table[name][row].as_py().lower() for name in COLUMNS]
        one, other = (set(re.findall(r"[\w'-]+", text)) for text in texts)
        if pair is None:
            continue
        found += 1
        assert set(pair.split(" / ")) == (one ^ other) - {"a", "an"}
        assert pair == " / ".join(sorted(pair.split(" / ")))
    assert found > 0
    # The edits lead from another pair, so that no word's class is known.
    assert set(notes[WORD_CLASS]) == {None}


def test_an_antonym_that_brings_back_the_old_row() -> None:
    texts = ["The dog is wet.", "The dog is dry.", "A boy sleeps."]
    table = pa.table({"premise": texts[:1] * 2, "hypothesis": texts[1:]})
    with plan("antonym:texts=captions") as planned:
        made = planned.build().transform(table, COLUMNS)
    assert not made.changed.all()
    notes = note_rows(table.take(pa.array(made.source_row)), made, COLUMNS)
    assert set(notes[WORD_PAIR].to_pylist()) == {"dry / wet", "boy / girl"}


@pytest.mark.parametrize(
    ("premise", "hypothesis", "expected"),
    [
        ("A big dog.", "A small dog.", ("big", "small")),
        ("He has a new car.", "He has an old car.", ("new", "old")),
        ("An old car", "a new car", ("new", "old")),
        ("It is hot", "It is cold!", ("cold", "hot")),
        ("It is well-known.", "It is unknown.", ("unknown", "well-known")),
        ("The same", "the same.", None),
        ("", "", None),
        ("One two", "two one", None),
        ("A dog", "A big dog", None),
        ("The man's dog", "The woman's dog", ("man's", "woman's")),
    ],
)
def test_two_texts_that_differ_in_a_word(
    premise: str, hypothesis: str, expected: tuple[str, str] | None
) -> None:
    assert find_word_pair(premise, hypothesis) == expected
    assert find_word_pair(hypothesis, premise) == expected


def test_words() -> None:
    assert split_words("The man's well-known café, no. 7_b") == [
        *("the", "man's", "well-known", "café", "no", "7", "b")
    ]
