"""Overlap of texts against its definition, and BLEU against NLTK's."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.corpus.similarity import (
    Sequences,
    measure_bag_distance,
    measure_bleu,
    measure_edit_distance,
    measure_gram_overlap,
    measure_jaccard,
    measure_length_ratio,
    number_characters,
    number_words,
)
from ietest_fast.errors import InputError
from reference import overlap_oracle as slow

# Few words, so that equal ones meet; marks, capitals and letters outside ASCII among them.
word = st.sampled_from(["a", "A", "b,", "(b)", "c", "...", "é", "𝄞x", "don't", "-"])
text = st.lists(word, max_size=9).map(" ".join)
pairs = st.lists(st.tuples(text, text), min_size=1, max_size=6)


def columns(drawn):
    first, second = zip(*drawn, strict=True)
    return list(first), list(second)


@given(pairs)
def test_words_and_their_sets_are_the_definition(drawn):
    first, second = columns(drawn)
    left, right = number_words(first, second)
    assert left.lengths.tolist() == [len(slow.words_of(each)) for each in first]
    wanted = [slow.jaccard(slow.words_of(a), slow.words_of(b)) for a, b in drawn]
    assert measure_jaccard(left, right) == pytest.approx(wanted, abs=1e-12)


@given(pairs, st.integers(1, 6))
def test_overlap_of_characters_is_the_definition(drawn, size):
    left, right = number_characters(*columns(drawn))
    wanted = [
        slow.gram_overlap(slow.characters_of(a), slow.characters_of(b), size) for a, b in drawn
    ]
    assert measure_gram_overlap(left, right, size=size) == pytest.approx(wanted, abs=1e-12)


@given(pairs)
def test_bleu_is_the_definition(drawn):
    left, right = number_words(*columns(drawn))
    wanted = [slow.bleu(slow.words_of(a), slow.words_of(b)) for a, b in drawn]
    assert measure_bleu(left, right) == pytest.approx(wanted, abs=1e-12)


@given(text, text)
def test_bleu_is_nltks(first, second):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    reference, hypothesis = slow.words_of(first), slow.words_of(second)
    if not reference or not hypothesis:
        return
    orders = min(4, len(hypothesis))
    wanted = sentence_bleu(
        [reference],
        hypothesis,
        weights=[1 / orders] * orders,
        smoothing_function=SmoothingFunction().method2,
    )
    assert measure_bleu(*number_words([first], [second]))[0] == pytest.approx(wanted, abs=1e-12)


few_words = st.lists(
    st.sampled_from(["run", "Runs", "ran,", "un", "urn", "(u)", "...", "é", "𝄞x", "x𝄞"]), max_size=4
).map(" ".join)


@given(st.lists(st.tuples(few_words, few_words), min_size=1, max_size=4))
def test_the_distance_of_bags_of_words_is_the_definition(drawn):
    wanted = [slow.bag_distance(slow.words_of(a), slow.words_of(b)) for a, b in drawn]
    assert measure_bag_distance(*columns(drawn)) == pytest.approx(wanted, abs=1e-12)


def test_distances_of_bags_of_words_are_levenshteins():
    """What setratio of the package Levenshtein gives, version 0.27."""
    pairs = [("abc", "abd x"), ("ab cd", "cd ab"), ("a", ""), ("", ""), ("x y z", "p q")]
    assert measure_bag_distance(*columns(pairs)) == pytest.approx([1 - 4 / 9, 0, 1, 0, 1])


def test_many_texts_are_compared_as_one_by_one():
    rng = np.random.default_rng(5)
    letters = np.array(list("abcde"))

    def make():
        return " ".join(
            "".join(rng.choice(letters, rng.integers(1, 5))) for _ in range(rng.integers(0, 30))
        )

    pairs = [(make(), make()) for _ in range(60)]
    together = measure_bag_distance(*columns(pairs))
    alone = [measure_bag_distance([a], [b])[0] for a, b in pairs]
    assert together == pytest.approx(alone, abs=1e-12)


sequence = st.lists(st.integers(0, 4), max_size=8)


@given(st.lists(st.tuples(sequence, sequence), min_size=1, max_size=6))
def test_edit_distance_is_the_definition(drawn):
    sides = []
    for side in zip(*drawn, strict=True):
        offsets = np.cumsum([0, *map(len, side)])
        codes = np.array([code for each in side for code in each], np.int64)
        sides.append(Sequences(codes=codes, offsets=offsets))
    wanted = [slow.edit_distance(a, b) for a, b in drawn]
    assert measure_edit_distance(*sides) == pytest.approx(wanted, abs=1e-12)
    ratio = [1.0 if not a and not b else np.nan if not a else len(b) / len(a) for a, b in drawn]
    assert measure_length_ratio(*sides) == pytest.approx(ratio, nan_ok=True)


@given(text)
def test_a_text_has_everything_of_itself(same):
    words, again = number_words([same], [same])
    assert measure_jaccard(words, again)[0] == 1
    assert measure_bleu(words, again)[0] == pytest.approx(1, abs=1e-12)
    assert measure_gram_overlap(*number_characters([same], [same]))[0] == 1
    assert measure_edit_distance(words, again)[0] == 0


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="2 first texts and 1 second"):
        number_words(["a", "b"], ["a"])
    with pytest.raises(InputError, match="1 text is missing"):
        number_characters(["a", None], ["a", "b"])
    words = number_words(["a"], ["b"])
    with pytest.raises(InputError, match="size must be at least 1"):
        measure_gram_overlap(*words, size=0)
    odd = Sequences(codes=np.array([0xD800]), offsets=np.array([0, 1]))
    with pytest.raises(InputError, match="from 0 to 55,295"):
        measure_edit_distance(odd, odd)


@pytest.mark.slow
def test_a_very_long_word_costs_little():
    """A link or a line without blanks among words: the others are not compared at its length."""
    rng = np.random.default_rng(1)

    def word(length):
        return "".join(rng.choice(list("abcdefgh"), length))

    def text(lengths):
        return " ".join(word(int(length)) for length in lengths)

    pairs = [
        (text([*rng.integers(1, 12, 12), 600]), text([*rng.integers(1, 12, 12), 590]))
        for _ in range(200)
    ]
    begin = time.perf_counter()
    found = measure_bag_distance(*columns(pairs))
    assert time.perf_counter() - begin < 15  # many times what it takes; padding took minutes
    assert ((found > 0) & (found < 1)).all()


def test_single_words_of_any_lengths_have_the_distance_of_their_letters():
    rng = np.random.default_rng(2)
    lengths = [*rng.integers(1, 30, 80), *rng.integers(100, 300, 4), 700]
    words = ["".join(rng.choice(list("abcde"), int(length))) for length in lengths]
    pairs = [(a, b) for a, b in zip(words, rng.permutation(words).tolist(), strict=True) if a != b]
    wanted = []
    for a, b in pairs:
        table = [0] * (len(b) + 1)
        for letter in a:
            above = table[:]
            for place, other in enumerate(b, start=1):
                same = above[place - 1] + (letter == other)
                table[place] = max(above[place], table[place - 1], same)
        wanted.append(1 - 2 * table[-1] / (len(a) + len(b)))
    assert measure_bag_distance(*columns(pairs)) == pytest.approx(wanted, abs=1e-12)
