"""Quantities in text: which are found, and how others are written in their place."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.lexicon.words import (
    find_quantities,
    read_number_words,
    write_like,
    write_number_words,
    write_ordinal,
    write_ordinal_word,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tim has 350 pounds.", [("350", 350, "number")]),
        ("It cost $1,234.50, or 20%.", [("1,234.50", "1234.5", "decimal"), ("20", 20, "number")]),
        ("about 2 1/2 hours", [("2 1/2", "5/2", "fraction")]),
        ("3/4 of the cake", [("3/4", "3/4", "fraction")]),
        (".5 litres", [(".5", "1/2", "decimal")]),
        ("the 3rd of 12 men", [("3rd", 3, "ordinal"), ("12", 12, "number")]),
        ("Twenty-five people", [("Twenty-five", 25, "words")]),
        (
            "three hundred and five dogs, two million cats",
            [("three hundred and five", 305, "words"), ("two million", 2_000_000, "words")],
        ),
        (
            "the third man and his second wife",
            [("third", 3, "ordinal-word"), ("second", 2, "ordinal-word")],
        ),
        ("five seconds, one third, a second", [("five", 5, "words")]),
        ("one of them", []),
        ("B2 at 3:30 on 9/11/2001, 10-12 of the 5-year-olds", []),
        ("version 1.2.3 and 192.168.0.1", []),
        ("two and three", [("two", 2, "words"), ("three", 3, "words")]),
        ("", []),
    ],
)
def test_quantities_are_found(text, found):
    assert [
        (text[each.start : each.end], each.value, each.kind) for each in find_quantities(text)
    ] == [(written, Fraction(value), kind) for written, value, kind in found]


def test_a_currency_sign_is_outside():
    (found,) = find_quantities("It is $20 now")
    assert (found.currency, found.outer_start, found.start) == ("$", 6, 7)


@given(st.integers(0, 10**15 - 1))
def test_number_words_are_read_as_they_are_written(number):
    assert read_number_words(write_number_words(number)) == number


@pytest.mark.parametrize("text", ["twenty thirty", "hundred", "two and", "five twenty", "thousand"])
def test_other_words_are_no_number(text):
    assert read_number_words(text) is None or text == "two and"


@pytest.mark.parametrize(
    ("number", "digits", "word"),
    [
        (1, "1st", "first"),
        (2, "2nd", "second"),
        (11, "11th", "eleventh"),
        (23, "23rd", "twenty-third"),
    ],
)
def test_ordinals(number, digits, word):
    assert (write_ordinal(number), write_ordinal_word(number)) == (digits, word)


@pytest.mark.parametrize(
    ("written", "kind", "value", "new"),
    [
        ("1,234", "number", 2234, "2,234"),
        ("350", "number", 750, "750"),
        ("3.50", "decimal", "4.5", "4.50"),
        (".5", "decimal", "0.7", ".7"),
        ("3/4", "fraction", "1/4", "1/4"),
        ("2 1/3", "fraction", "8/3", "2 2/3"),
        ("Five", "words", 7, "Seven"),
        ("FIVE", "words", 7, "SEVEN"),
        ("3rd", "ordinal", 2, "2nd"),
        ("third", "ordinal-word", 12, "twelfth"),
    ],
)
def test_a_value_is_written_like_another(written, kind, value, new):
    assert write_like(written, kind, Fraction(value)) == new
