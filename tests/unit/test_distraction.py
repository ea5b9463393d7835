"""Tautologies and misspelt words, as a user asks for them."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.transform import plan
from ietest_fast.transform.spelling import KEYBOARDS, RULES, Spelling, find_neighbours, known_words

TABLE = {
    "premise": ["A dog runs. It is big.", "Two men sit"],
    "hypothesis": ["An animal moves.", "Nobody sits."],
    "label": ["entailment", "contradiction"],
}
COLUMNS = ("premise", "hypothesis")


def _new(phi: str) -> dict[str, list[str]]:
    with plan(phi) as planned:
        made = planned.build().transform(pa.table(TABLE), COLUMNS)
    assert planned.keeps_labels
    assert made.labels is None
    return {name: made.table[name].to_pylist() for name in COLUMNS}


def test_the_published_distractions():
    assert _new("word-overlap") == {
        "premise": TABLE["premise"],
        "hypothesis": ["An animal moves and true is true.", "Nobody sits and true is true."],
    }
    assert _new("negation")["hypothesis"][0] == "An animal moves and false is not true."
    five = " and true is true" * 5
    assert _new("length-mismatch") == {
        "premise": [f"A dog runs. It is big{five}.", f"Two men sit{five}"],
        "hypothesis": TABLE["hypothesis"],
    }


def test_rules_of_the_paper_drop_the_rest():
    new = _new("length-mismatch:rules=paper,times=1")
    assert new["premise"] == ["A dog runs and true is true. ", "Two men sit and true is true"]


def test_other_tautologies_and_columns():
    new = _new("negation:tautology='and green is not red',columns=premise,columns=hypothesis")
    assert new["premise"][1] == "Two men sit and green is not red"
    assert new["hypothesis"][1] == "Nobody sits and green is not red."


@pytest.mark.parametrize(
    ("phi", "error", "message"),
    [
        ("negation:times=0", ConfigError, "times"),
        ("negation:tautology=''", ConfigError, "tautology"),
        ("spelling:keyboard=dvorak", ConfigError, "keyboard"),
        ("spelling:n_words=0", ConfigError, "n_words"),
        ("negation:columns=title", InputError, "the texts are in premise, hypothesis"),
        ("spelling:columns=title", InputError, "the texts are in premise, hypothesis"),
        ("spelling:rules=paper,ways=swap", InputError, "give key"),
    ],
)
def test_wrong_options_are_named(phi, error, message):
    with pytest.raises(error, match=message):
        _new(phi)


def test_one_column_is_enough():
    new = ie.transform(["So it is."], "negation")
    assert list(new) == ["So it is and false is not true."]


def test_a_word_of_the_hypothesis_is_misspelt():
    new = _new("spelling")
    assert new["premise"] == TABLE["premise"]
    for before, after in zip(TABLE["hypothesis"], new["hypothesis"], strict=True):
        old, now = before.split(), after.split()
        (place,) = [i for i, word in enumerate(old) if word != now[i]]
        assert len(old) == len(now)
        assert now[place].strip(".").lower() not in known_words()


def test_equal_texts_are_misspelt_alike_and_seeds_differ():
    texts = ["The quick brown fox jumps over the lazy dog."] * 3
    made = [list(Spelling(seed=seed).transform(texts, ["text"]).table) for seed in range(6)]
    assert all(len(set(each)) == 1 for each in made)
    assert len({each[0] for each in made}) > 1
    alone = Spelling(seed=2).transform(texts[:1], ["text"]).table
    assert list(alone) == made[2][:1]


@pytest.mark.parametrize("words", ["function", "content"])
def test_kinds_of_words(words):
    text = "The cat is under the table."
    for seed in range(10):
        made = Spelling(words=words, seed=seed, n_words=9).transform([text], ["text"])
        changed = set(made.edits["old"].to_pylist())
        function = {"The", "the", "under"}
        assert changed == (function if words == "function" else {"cat", "table"})
        assert set(made.edits["rule"].to_pylist()) <= set(RULES)
        assert list(made.undo()) == [text]


def test_rules_of_the_paper_use_the_keyboard_alone():
    beside = find_neighbours("qwerty")
    text = "a-b thing (of) --"
    for seed in range(20):
        (new,) = Spelling(rules="paper", seed=seed).transform([text], ["text"]).table
        (at,) = [i for i, char in enumerate(text) if char != new[i]]
        assert new[at] in beside[text[at]]


def test_keyboards():
    assert find_neighbours("qwerty")["a"] == "s"
    assert find_neighbours("qwerty")["e"] == "wr"
    assert find_neighbours("qwertz")["z"] == "tu"
    assert find_neighbours("azerty")["a"] == "z"
    for name, rows in KEYBOARDS.items():
        assert set("abcdefghijklmnopqrstuvwxyz") <= set("".join(rows)), name


def test_they_can_be_sent():
    phi = Spelling(n_words=2)
    again = pickle.loads(pickle.dumps(phi))
    assert again.fingerprint == phi.fingerprint
    assert again == phi
    assert phi.fingerprint != Spelling(n_words=3).fingerprint


@pytest.mark.parametrize("name", ["negation", "word-overlap", "length-mismatch"])
def test_words_are_added_no_more_often_than_fits_in_a_text(name: str) -> None:
    for times in (1001, 10**30):
        with pytest.raises(ConfigError, match=r"times: .*1000"):
            plan(f"{name}:times={times}")
    with plan(f"{name}:times=1000") as planned:
        assert planned.build().describe()["options"]["times"] == 1000
