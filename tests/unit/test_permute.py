"""Constituents in the other order."""

from __future__ import annotations

import pytest

from ietest_fast.errors import ConfigError
from ietest_fast.lexicon import annotator
from ietest_fast.lexicon.annotator import Parser
from ietest_fast.lexicon.wordnet import WordNet
from ietest_fast.transform import Material, plan
from ietest_fast.transform.syntax.permute import Permutation

PAIRS = [
    ("copula", "Havana is the capital of Cuba.", "The capital of Cuba is Havana."),
    ("copula", "The director was Elena Popp.", "Elena Popp was the director."),
    ("relative", "John threw a red ball that is large.", "John threw a large ball that is red."),
    ("relative", "He owns a big house that is empty.", "He owns an empty house that is big."),
    ("coordination", "They saw a man and a woman.", "They saw a woman and a man."),
    ("coordination", "They saw cats and dogs.", "They saw dogs and cats."),
    ("coordination", "Kal and Thorn were traveling.", "Thorn and Kal were traveling."),
]

STAY = [
    "",
    "Havana is a city.",
    "He is the director.",
    "Elena Popp was not the director.",
    "The director is in Havana.",
    "Old men and women are sleeping.",
    "A man and his dog are sleeping.",
    "He likes bread and butter.",
    "Both cats and dogs are sleeping.",
    "He saw cats, dogs and birds.",
    "A former minister who is old left.",
    "He waited a year and five months.",
    "A man in a hat and a boy in a hat sit.",
]

# What stays, what is like it but is exchanged, and what that becomes.
ALIKE = [
    (
        "A man and a lady, carrying a gray bag on her shoulder, are walking among a crowd.",
        "A man and a woman are dancing in the street.",
        "A woman and a man are dancing in the street.",
    ),
    (
        "A man and a smiling young boy in a float vest are swimming together.",
        "A man and a boy are wearing hats.",
        "A boy and a man are wearing hats.",
    ),
    (
        "The box had beleongings and memories of an ex girlfriend.",
        "The box had pictures and memories.",
        "The box had memories and pictures.",
    ),
    (
        "Charlie has never used alcohol or drugs in his life.",
        "Charlie has never used alcohol or drugs.",
        "Charlie has never used drugs or alcohol.",
    ),
    (
        "A girl rides a scooter and a boy his three wheel.",
        "A girl rides a scooter and a horse.",
        "A girl rides a horse and a scooter.",
    ),
    (
        "They have developed committees and strategies to address this.",
        "They have developed committees and strategies.",
        "They have developed strategies and committees.",
    ),
    (
        "A woman wears sunglasses and a black coat as she walks.",
        "A woman saw a red hat and a black coat.",
        "A woman saw a black coat and a red hat.",
    ),
    (
        "A man and a boy sat down when he was tired.",
        "A man and a boy sat down when they were tired.",
        "A boy and a man sat down when they were tired.",
    ),
    (
        "Also on the premises are a nightclub with a floor show and an art gallery.",
        "They came with a dog and a cat.",
        "They came with a cat and a dog.",
    ),
    (
        "Gass was named a justice of the peace and a territorial legislator.",
        "He spoke of a judge and a lawyer.",
        "He spoke of a lawyer and a judge.",
    ),
    (
        "She grew up in France and later America.",
        "She grew up in France and America.",
        "She grew up in America and France.",
    ),
    (
        "I have two kids I enrolled in soccer and things.",
        "I have two kids I enrolled in soccer and tennis.",
        "I have two kids I enrolled in tennis and soccer.",
    ),
    (
        "They use them as talking books or readers.",
        "They use them as books or readers.",
        "They use them as readers or books.",
    ),
    (
        "A girl holding a apple on a stick and a stuff character.",
        "She sat on a stick and a toy.",
        "She sat on a toy and a stick.",
    ),
    (
        "They met in July and August.",
        "They met in France and Spain.",
        "They met in Spain and France.",
    ),
    ("The nail paint is Gothic.", "Savonarola is the winner.", "The winner is Savonarola."),
    (
        "Passwords and identification codes generally do not provide this detection capability.",
        "Passwords and codes provide this.",
        "Codes and passwords provide this.",
    ),
    (
        "Two guys standing next to a ocean or a lake fishing.",
        "Two guys standing next to a ocean or a lake.",
        "Two guys standing next to a lake or a ocean.",
    ),
    (
        '"Two men and a woman are performing on stage."',
        "Two men and a woman are performing on stage.",
        "A woman and two men are performing on stage.",
    ),
    (
        "Facilities need the control devices and the associated limits.",
        "Facilities need the control devices and the strict limits.",
        "Facilities need the strict limits and the control devices.",
    ),
    (
        "Tea is the Turkish national drink.",
        "The director was Elena Popp.",
        "Elena Popp was the director.",
    ),
]


@pytest.fixture(scope="module")
def permutation():
    with Parser.load() as parser:
        yield Permutation(parser=parser, wordnet=WordNet.packaged())


@pytest.mark.parametrize(("rule", "one", "other"), PAIRS)
def test_both_orders(permutation, rule, one, other):
    made = permutation.transform({"text": [one, other]}, ["text"])
    assert made.table["text"] == [other, one]
    assert made.edits["rule"].to_pylist() == [rule, rule]
    assert made.undo()["text"] == [one, other]


def test_what_is_not_sure_stays(permutation):
    made = permutation.transform({"text": STAY}, ["text"])
    assert made.table["text"] == STAY


@pytest.mark.parametrize(("left", "like", "new"), ALIKE)
def test_what_is_left_beside_what_is_like_it(permutation, left, like, new):
    made = permutation.transform({"text": [left, like]}, ["text"])
    assert made.table["text"] == [left, new]


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_threads_make_no_difference(permutation, n_threads, monkeypatch):
    monkeypatch.setattr(annotator, "_TEXTS_PER_CHUNK", 4)
    texts = [text for _, *pair in PAIRS for text in pair] + STAY
    one = permutation.transform({"text": texts}, ["text"], n_threads=1)
    more = permutation.transform({"text": texts}, ["text"], n_threads=n_threads)
    assert more.table == one.table
    assert more.edits.equals(one.edits)


def test_some_constructions_alone():
    with plan("permute:constructions=copula") as planned:
        built = planned.build(Material())
        texts = [one for _, one, _ in PAIRS]
        made = built.transform(texts, ["text"])
        assert made.changed.tolist() == [rule == "copula" for rule, *_ in PAIRS]
        assert planned.options == {"constructions": ["copula"], "parser": "packaged"}
    with pytest.raises(ConfigError, match="constructions"):
        plan("permute:constructions=voice")
