"""Constituents in the other order."""

from __future__ import annotations

import pytest

from ietest_fast.errors import ConfigError
from ietest_fast.lexicon import annotator
from ietest_fast.lexicon.parsing import Parser
from ietest_fast.lexicon.wordnet import WordNet
from ietest_fast.transform import Material, plan
from ietest_fast.transform.permute import Permutation

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


@pytest.mark.parametrize(
    "n_threads",
    [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(7, marks=pytest.mark.slow)],
)
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
