"""Pairs of a text and its opposite."""

from __future__ import annotations

import pickle

import pytest

from ietest_fast.lexicon import Tagger
from ietest_fast.lexicon.antonyms import Senses, lesk, lesk_as_nltk
from ietest_fast.transform.antonym import NEVER_REPLACED, Antonym, with_degree
from reference.nltk_wordnet import dict_folder, reader


@pytest.fixture(scope="module")
def tagger():
    with Tagger.load("packaged") as loaded:
        yield loaded


def _new(tagger, text, rules="careful"):
    made = Antonym(tagger=tagger, rules=rules).transform(
        {"premise": [text], "hypothesis": [""]}, ["premise", "hypothesis"]
    )
    assert set(made.labels.to_pylist()) <= {"contradiction"}
    assert set(made.table["premise"]) <= {text}
    return list(made.table["hypothesis"])


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("A tall man is sleeping.", "A short man is sleeping."),
        ("He is the taller one.", None),
        ("An old man sits.", "A young man sits."),
        ("It is a hot day.", "It is a cold day."),
        ("A hot dog and a tall man.", "A hot dog and a short man."),
        ("A hot dog and a hot day.", None),
        ("The biggest boys", "The smallest boys"),
    ],
)
def test_words_become_their_opposites(tagger, text, opposite):
    found = _new(tagger, text)
    if opposite is not None:
        assert opposite in found
    assert all(new != text for new in found)


@pytest.mark.parametrize(
    "text",
    ["It is not hot.", "Is it hot?", "A hot dog", "The right way", "The cover is x-hot", ""],
)
def test_words_that_are_not_sure_stay(tagger, text):
    assert _new(tagger, text) == []


def test_hypotheses_become_premises(tagger):
    made = Antonym(tagger=tagger).transform(
        {"premise": [""], "hypothesis": ["A tall man is sleeping."]}, ["premise", "hypothesis"]
    )
    assert "A short man is sleeping." in made.table["premise"]
    assert set(made.table["hypothesis"]) == {"A tall man is sleeping."}
    assert set(made.undo()["premise"]) == {""}


def test_published_rules(tagger):
    found = _new(tagger, "An adult is alone and the parents are here.", "paper")
    assert all("parents" in new and "here" in new for new in found)
    assert len(NEVER_REPLACED) == 25


@pytest.fixture(scope="module")
def nltk_wordnet(tmp_path_factory):
    scratch = tmp_path_factory.mktemp("nltk")
    return reader(dict_folder(scratch), scratch)


def test_senses_are_nltks(nltk_wordnet):
    senses = Senses.packaged()
    words = sorted(
        {
            own.lower()
            for sense in senses.senses.values()
            if sense.pos in {"n", "a", "s"}
            for own, _ in sense.antonyms
            if "_" not in own
        }
    )
    assert len(words) > 4_000
    for word in [*words[::20], "boys", "women", "lighter"]:
        expected = list(nltk_wordnet.synsets(word))
        found = senses.of_word(word)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            # Newer ones count satellites by themselves.
            assert one.pos == "s" or one.name == other.name()
            assert one.name.split(".")[0] == other.name().split(".")[0]
            assert one.pos == other.pos()
            assert one.definition == other.definition()
            assert [name for _, name in one.antonyms] == [
                opposite.name() for lemma in other.lemmas() for opposite in lemma.antonyms()
            ]


def test_lesk():
    senses = Senses.packaged()
    found = senses.of_word("hot")
    assert lesk(["the", "water", "is", "at", "a", "high", "temperature"], found).name == "hot.a.01"
    assert lesk([], found) == found[0]
    assert lesk([], []) is None
    assert lesk_as_nltk([], found).name == max(each.name for each in found)


@pytest.mark.parametrize(
    ("adjective", "ending", "form"),
    [
        ("big", "er", "bigger"),
        ("happy", "est", "happiest"),
        ("nice", "er", "nicer"),
        ("good", "est", "best"),
        ("beautiful", "er", None),
        ("old", "", "old"),
        ("low", "er", "lower"),
    ],
)
def test_degrees(adjective, ending, form):
    assert with_degree(adjective, ending) == form


def test_it_can_be_sent(tagger):
    phi = Antonym(tagger=tagger)
    assert pickle.loads(pickle.dumps(phi)).fingerprint == phi.fingerprint
