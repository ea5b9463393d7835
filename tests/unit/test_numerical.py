"""Pairs about quantities."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.errors import InputError
from ietest_fast.lexicon.words import find_quantities
from ietest_fast.transform.base import find_difference
from ietest_fast.transform.numerical import Draws, Numerical, can_be_compared, careful_pairs
from ietest_fast.transform.structure import split_sentences

TABLE = {
    "premise": ["Tim has 350 pounds of cement.", "A dog runs.", "Is it 5 miles?", None],
    "hypothesis": ["She ran 12 miles.", "", "He lives on the 3rd floor.", "He paid $20."],
}


def _rows(rules, seed=0):
    made = Numerical(rules=rules, seed=seed).transform(TABLE, ["premise", "hypothesis"])
    pairs = zip(
        made.table["premise"], made.table["hypothesis"], made.labels.to_pylist(), strict=True
    )
    return made, list(pairs)


def test_careful_pairs_say_what_follows():
    made, rows = _rows("careful")
    assert [row for *_, row in rows].count("entailment") == 3
    sources = {"Tim has 350 pounds of cement.", "She ran 12 miles.", "He paid $20."}
    for premise, hypothesis, label in rows:
        if label == "entailment":
            assert premise in sources
            found = re.search(r"(less|more) than (\$?)(\d+)", hypothesis)
            old = int(re.search(r"\d+", premise)[0])
            assert (found[1] == "less") == (int(found[3]) > old)
        elif label == "neutral":
            assert hypothesis in sources
            assert re.search("(less|more) than", premise)
    # Of an ordinal, only a contradiction.
    assert [label for premise, _, label in rows if premise == "He lives on the 3rd floor."] == [
        "contradiction"
    ]
    assert not any("Is it" in premise for premise, *_ in rows)
    assert made.source_row.tolist() == sorted(made.source_row.tolist())


def test_paper_pairs_change_the_first_digit_of_the_first_integer():
    _, rows = _rows("paper")
    entailed = {premise: hypothesis for premise, hypothesis, label in rows if label == "entailment"}
    assert set(entailed) == {"Tim has 350 pounds of cement.", "Is it 5 miles?", "She ran 12 miles."}
    for premise, hypothesis in entailed.items():
        old, new = (re.search(r"\d+", text)[0] for text in (premise, hypothesis))
        assert old[1:] == new[1:]
        assert old[0] != new[0]
        assert new[0] in "12345678"
        prefix = "less than" if int(new) > int(old) else "more than"
        assert hypothesis == premise.replace(old, f"{prefix} {new}", 1)
    assert len(rows) == 9


@pytest.mark.parametrize("rules", ["careful", "paper"])
def test_edits_lead_back(rules):
    made, _ = _rows(rules)
    taken = [TABLE["premise"][row] for row in made.source_row]
    assert [text or None for text in made.undo()["premise"]] == taken


def test_seeds_differ_and_repeat():
    assert _rows("careful", 1)[1] == _rows("careful", 1)[1]
    assert len({str(_rows("careful", seed)[1]) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He ran 5 miles. Then he sat.", ["He ran 5 miles.", "Then he sat."]),
        ("Mr. Smith has 5 cows! He sold 2.", ["Mr. Smith has 5 cows!", "He sold 2."]),
        ('He paid Rs. 500. "Well." She left', ["He paid Rs. 500.", '"Well."', "She left"]),
        ("It is 3.5 km long", ["It is 3.5 km long"]),
        ("", [""]),
    ],
)
def test_texts_are_cut_into_sentences(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "The length of the 20 trains is:",
        "The probability that 2 boys are _____.",
        "It is 54 km (33 miles) from here.",
        "He mixed 5 litres, 6 litres and 7 litres.",
        "He left after 5 days.",
    ],
)
def test_quantities_that_others_decide_stay(text):
    assert list(careful_pairs(text, Draws(0, text))) == []


@pytest.mark.parametrize(
    ("left", "changed"),
    [
        ("When 6 men work, they dig 5 holes.", "The 6 men dig 5 holes."),
        ("She smiled because 5 boys came.", "She smiled at 5 boys."),
        ("The man who sold 5 cows left.", "The man sold 5 cows."),
        ("Mary thought that he sold 5 cows.", "Mary said that he sold 5 cows."),
        ("He has to pay 5 pounds.", "He paid 5 pounds."),
        ("The room requires 5 chairs.", "The room has 5 chairs."),
        ("He wants 5 cows.", "He has 5 cows."),
        ("The bus is designed for 50 guests.", "The bus carried 50 guests."),
        ("He gives a cake in return for 5 bottles.", "He gives a cake with 5 bottles."),
        ("6 pigs cost the same as 9 sheep.", "6 pigs cost him 9 pounds."),
        ("There are two friends A and B.", "There are two friends from Berlin."),
        ("Four historic towns Elche and Orihuela line the road.", "Four old towns line the road."),
        ("Anna, Berta and Carl have 3 cows.", "Anna and Berta have 3 cows."),
        ("Anna and Berta are three players.", "There are three players."),
        ("They are three museums.", "It has three museums."),
        ("He split it into five parts north, west, and south.", "He split it into five parts."),
        ("Two curiosities exist here, both underground.", "Two curiosities exist here."),
        ("They paid 5 pounds respectively.", "They paid 5 pounds."),
        ("Four men argue, each with 2 dogs.", "Each man has 2 dogs."),
        ("Three rooms of hard stone.", "Three rooms of hard stone remained."),
        ("8 pieces in 1997.", "He sold 8 pieces in 1997."),
        ("A house made of bricks with 3 rooms.", "A house had 3 rooms."),
        ("12 days is bad.", "12 days passed."),
        ("18% interest is common.", "18% of the loans failed."),
        ("Three quarts of bleach, Minum, contains salt.", "The tin contains three quarts of salt."),
        ("He says two years is a blink.", "He says two years passed."),
        ("Having two kids makes him happy.", "He has two kids."),
        ("He left, carrying 5 bags.", "He carried 5 bags."),
        ("He climbed the final 68 steps.", "He climbed 68 steps."),
        ("He paid a reasonable fifty dollars.", "He paid fifty dollars."),
        ("It opens seven days a week.", "It opened for seven days."),
        ("He has only five cows.", "He has five cows."),
        ("He was as much as 5 miles away.", "He was 5 miles away."),
        ("She has 33 cents for 33 cents.", "She has 33 cents for 34 apples."),
        ("There ten cities stood.", "There are ten cities."),
        ("Take 5 apples from her.", "She took 5 apples from her."),
        ("He came 2 hours late than her.", "He came 2 hours later than her."),
        ("Vegetables contains 68% water.", "A tomato contains 68% water."),
        ("He sold it (cheaply) for 5 pounds.", "He sold it for 5 pounds."),
        ("He said 'I have 5 cows.", "He said he has 5 cows."),
        ("I met A and B. A has 5 cows.", "I met two men with 5 cows."),
        ("He drove 58km for 5 pounds.", "He drove 58 km for 5 pounds."),
        ("5 million men were there.", "5 men were there."),
        ("he has 5 cows.", "He has 5 cows."),
        ("He studied 2010 income rules.", "He studied 2010 incomes."),
        ("He finished it, much less two pages.", "He finished it and two pages."),
        ("It's price was 5 pounds.", "Its price was 5 pounds."),
        ("The cart is made of wood to carry two men.", "The cart of wood carries two men."),
    ],
)
def test_sentences_that_do_not_settle_it_stay(left, changed):
    assert list(careful_pairs(left, Draws(0, left))) == []
    assert list(careful_pairs(changed, Draws(0, changed)))


def test_ordinals_that_are_others_stay():
    left = ["The third floor is closed.", "The Tenth Street bridge has been closed."]
    for text in left:
        assert list(careful_pairs(text, Draws(0, text))) == []
    text = "He works on the third floor."
    ((premise, hypothesis, label),) = careful_pairs(text, Draws(0, text))
    assert (premise, label) == (text, "contradiction")
    assert hypothesis != text


def test_numbers_that_sentences_cut_stay():
    made = Numerical()
    assert list(made.pairs(["It costs $22. 7 dollars were paid."])) == []
    assert list(made.pairs(["It costs $22. Then 7 dollars were paid."]))
    # The published rules take them as they come.
    assert list(Numerical(rules="paper").pairs(["It costs 22. 7 dollars were paid."]))


def test_one_column_is_not_enough():
    with pytest.raises(InputError, match="two columns of texts, not 1"):
        Numerical().transform(["5 miles"], ["text"])


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("He ran 5 miles.", True),
        ("Prices fell by 20%.", True),
        ("It cost $20.", True),
        ("the 5 boys", False),
        ("more than 5 boys", False),
        ("in 1999 people", False),
        ("at 5 pm", False),
        ("page 12 says", False),
        ("He has 5.", False),
        ("between 3 and 5 miles", False),
        ("five boys", True),
        ("Cave 31 tries", False),
        ("at 86 Queensway", False),
        ("twelve times more", False),
    ],
)
def test_which_quantities_are_compared(text, compared):
    assert can_be_compared(text, find_quantities(text)[0]) == compared


@given(st.text(max_size=8), st.text(max_size=8))
def test_the_difference_of_two_texts(old, new):
    before, after = old.encode(), new.encode()
    start, end, piece = find_difference(before, after)
    assert before[:start] + piece + before[end:] == after
    for part in (before[:start], before[start:end], before[end:], piece):
        part.decode()


def test_very_long_texts_and_numbers_end():
    long = "9" * 5_000
    texts = [
        f"He has {long} books.",
        "x" * 8_000 + " 25 books.",
        "He paid" + "." * 400 + " 25 books.",
    ]
    for rules in ("careful", "paper"):
        made = Numerical(rules=rules).transform({"p": texts, "h": [""] * 3}, ["p", "h"])
        assert not any(long in text for text in made.table["p"])
    assert len(split_sentences("A. " * 20_000)) > 0


def test_of_equal_pairs_the_first_row_counts():
    text = "The shop sold 25 books."
    made = Numerical().transform({"p": ["x", text], "h": [text, "y"]}, ["p", "h"])
    assert set(made.source_row.tolist()) == {0}
