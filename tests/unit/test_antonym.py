"""Pairs of a text and its opposite."""

from __future__ import annotations

import pickle

import pytest

from ietest_fast.lexicon import Tagger
from ietest_fast.lexicon.senses import Senses, lesk, lesk_as_nltk
from ietest_fast.transform.antonym import NEVER_REPLACED, Antonym, with_degree
from reference.nltk_wordnet import dict_folder, reader


@pytest.fixture(scope="module")
def tagger():
    with Tagger.load("packaged") as loaded:
        yield loaded


def _new(tagger, text, rules="careful", *, are_captions=True):
    made = Antonym(tagger=tagger, rules=rules, are_captions=are_captions).transform(
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["It is not hot.", "Is it hot?", "A hot dog", "The right way", "The cover is x-hot", ""],
)
def test_words_that_are_not_sure_stay(tagger, text):
    assert _new(tagger, text) == []


@pytest.mark.parametrize(
    ("left", "changed"),
    [
        ("A dark suit", "A dark room"),
        ("A small toddler runs.", "A small dog runs."),
        ("A wide awake teenager", "A wide street"),
        ("A new teacher sits in a chair.", "A new house"),
        ("A calm lake", "A shallow lake"),
        ("There is a woman outside the shop.", "A woman is singing outside the shop."),
        ("The woman is young.", "The woman is cleaning the shop."),
        ("A bearded man is shaving.", "A tired man is shaving."),
        ("A third man stands behind them.", "A man stands behind them."),
        ("The woman is the girl's father.", "The woman is calling a doctor."),
        ("A small boys runs in the park.", "Three boys run in the park."),
        ("The men is on the roof.", "Two women look at the roof."),
        ("Two sick man sit on a bench.", "Two sick men sit on a bench."),
        ("Children watch a cold person.", "A child plays on a cold day."),
        ("A thin blond women smiles.", "Two thin women smile."),
        ("A woman with a hat a is skiing.", "A woman with a hat is skiing."),
        ("A old man sits.", "An old man sits."),
        ("Two women looks at a wall.", "Two women look at a wall."),
        ("Dogs jump on a bright sunny day.", "Dogs jump on a sunny day."),
        ("They climb outdoor stairs in the mountains.", "They climb outdoor stairs."),
        ("The guests are dancing outside.", "The brothers are dancing outside."),
        # Somebody else may have, wear or be the same.
        ("The man has a phone.", "The man uses a phone."),
        ("The woman is wearing a dress.", "The woman is sewing a dress."),
        ("The woman is wearing a dress.", "A woman is wearing a dress."),
        ("The woman was on the ground.", "The woman was digging on the ground."),
        ("A man is in an airport.", "A man is sleeping in an airport."),
        ("Two men are indoors.", "Two men are dancing indoors."),
        ("A woman is in the swimming pool.", "A woman is singing in the swimming pool."),
        ("A woman can carry a large pot.", "A woman carries a large pot."),
        ("The woman is hammering a", "The woman is hammering a nail"),
    ],
)
def test_captions(tagger, left, changed):
    assert _new(tagger, left) == []
    assert _new(tagger, changed)


def test_brothers_are_no_brethren(tagger):
    assert _new(tagger, "Two sisters are dancing.") == ["Two brothers are dancing."]
    assert _new(tagger, "Two brothers are dancing.") == ["Two sisters are dancing."]


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        # One plain sentence about something known ...
        ("The meal was bad.", "The meal was good."),
        ("The hotel is very cheap.", "The hotel is very expensive."),
        ("It was a bad idea.", "It was a good idea."),
        (
            "Rhodes is the largest island in the group.",
            "Rhodes is the smallest island in the group.",
        ),
        ("He was unhappy.", "He was happy."),
        ("My dog is dead.", "My dog is alive."),
        ("The report was useful to the public.", "The report was useless to the public."),
        ("The woman walked to the station.", "The man walked to the station."),
        # that says what somebody does, not what others may be or have as well,
        ("The woman was at the station.", None),
        ("The woman was standing at the station.", None),
        ("The woman had a ticket to the station.", None),
        # ... with no other clause,
        ("The meal was bad because he was late.", None),
        ("The meal was bad, he said.", None),
        ("The meal that they gave us was bad.", None),
        ("The woman who came walked to the station.", None),
        ("The woman they met was a doctor at home.", None),
        ("The woman said the group walked to the station.", None),
        # contrast, exception or coordination,
        ("The meal was bad but cheap.", None),
        ("The yard was empty except for the columns.", None),
        ("The meal was bad and cheap.", None),
        # modal verb or infinitive,
        ("The meal can be bad for children.", None),
        ("To be useful was his aim.", None),
        ("It is difficult to cook.", None),
        # opinion,
        ("I think the meal was bad.", None),
        ("The meal was bad in my opinion.", None),
        # part or time,
        ("The meal was always bad.", None),
        ("Most of the meal was bad.", None),
        ("One half of the meal was bad.", None),
        # about all of a kind,
        ("Restaurants are bad.", None),
        ("People are unhappy.", None),
        ("Gardening is popular.", None),
        # and of words that exclude each other.
        ("The man was honest.", None),
        ("The queen went hunting in Germany.", None),
        ("He is easy.", None),
        ("The story is easy.", "The story is difficult."),
        ("There was a winner in the hall.", None),
        ("Anna was a winner in the hall.", "Anna was a loser in the hall."),
        ("They were armed with swords.", None),
        ("They were armed.", "They were unarmed."),
        # A tower may be somebody's, but is nobody.
        ("The tower is tall.", None),
        ("The girl is tall.", "The girl is short."),
        ("The water is dirty.", "The water is clean."),
        # Nothing stands behind the verb.
        ("The man really truly is", None),
    ],
)
def test_other_texts(tagger, text, opposite):
    assert _new(tagger, text, are_captions=False) == ([] if opposite is None else [opposite])


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
