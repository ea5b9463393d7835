"""Which reviewed substitutions are chosen, and that white space is no neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.errors import InputError
from ietest_fast.lexicon import SceneCounter, WordNet, reviewed_words
from ietest_fast.lexicon.reviewed import (
    CAPTIONS_SHARE,
    known_words,
    load_reviewed,
    phrases_with,
    read_conditions,
)
from ietest_fast.transform import Material, plan

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet.packaged()


@pytest.fixture(scope="module")
def careful() -> Any:
    with plan("syn.careful:texts=captions") as planned:
        yield planned.build()


def keys_of(wordnet: WordNet, **options: Any) -> set[tuple[str, str, str]]:
    entries = reviewed_words(wordnet, **options).entries
    return {(each.key, each.pos, each.value) for each in entries}


def test_every_line_of_the_packaged_table_can_be_used() -> None:
    lines = load_reviewed()
    assert len(lines) > 700
    for each in lines:
        assert each.form == each.form.lower()
        assert each.form != each.value
        assert each.n_read > 0
        read_conditions(each.when)
        assert {each.form, each.value, each.word.split("/")[0]} <= known_words()


@pytest.mark.parametrize(
    ("options", "is_chosen"),
    [
        ({"texts": "any"}, lambda each: each.texts == "any"),
        ({"texts": "captions"}, lambda each: each.texts in {"any", "captions"}),
        ({"texts": "formal"}, lambda each: each.texts in {"any", "formal"}),
        ({"pos": ("ADJ", "ADV")}, lambda each: each.texts == "any" and each.pos[:2] == "AD"),
        ({"wordnet_only": True}, lambda each: each.texts == "any" and each.in_wordnet),
        ({"least_read": 6}, lambda each: each.texts == "any" and each.n_read >= 6),
    ],
)
def test_what_is_asked_for_is_chosen(
    options: dict[str, Any], is_chosen: Callable[[Any], bool], wordnet: WordNet
) -> None:
    expected = {(each.form, each.pos, each.value) for each in load_reviewed() if is_chosen(each)}
    assert keys_of(wordnet, **options) == expected
    assert 10 < len(expected) < len(load_reviewed())


def test_blocked_words_are_neither_replaced_nor_used(wordnet: WordNet) -> None:
    everything = keys_of(wordnet, texts="captions")
    without = keys_of(wordnet, texts="captions", block_list=["CHILD", "big"])
    gone = everything - without
    assert {("kid", "NOUN", "child"), ("large", "ADJ", "big")} <= gone
    # All forms of a blocked lemma are left alone.
    assert ("children", "NOUN", "kids") in gone
    for key, _, value in gone:
        assert {key, value} & {"child", "children", "big", "bigger", "biggest"}, (key, value)


@pytest.mark.parametrize("word", ["man", "Men", "guy", "guys"])
def test_a_blocked_form_blocks_the_word(word: str, wordnet: WordNet) -> None:
    without = keys_of(wordnet, texts="captions", block_list=[word])
    assert not {("man", "NOUN", "guy"), ("men", "NOUN", "guys")} & without
    assert ("woman", "NOUN", "lady") in without


def test_forms_that_wordnet_knows_are_blocked(wordnet: WordNet) -> None:
    without = keys_of(wordnet, texts="captions", block_list=["talk"])
    assert not [key for key, *_ in without if key in {"talk", "talks", "talking", "talked"}]


def test_parts_of_speech_that_nobody_read_are_refused(wordnet: WordNet) -> None:
    for pos in (("PRON",), ("noun",), (), "NOUN"):
        with pytest.raises(InputError, match="a tuple of some of NOUN, ADJ, ADV, VERB, not"):
            reviewed_words(wordnet, pos=pos)


def test_phrases_are_those_of_wordnet_in_every_form(wordnet: WordNet) -> None:
    found = set(phrases_with({"take": {"take", "took"}, "cream": {"cream"}}, wordnet))
    assert {"take place", "took place", "ice cream", "took into account"} <= found
    assert all({"take", "took", "cream"} & set(phrase.split()) for phrase in found)
    assert all(1 < len(phrase.split()) < 5 for phrase in found)
    more = set(
        phrases_with(
            {"lady": {"lady"}, "large": {"large"}, "color": {"color"}, "place": {"place"}}, wordnet
        )
    )
    assert {"lady of the house", "large intestines", "persons of color", "takes place"} <= more


@pytest.mark.parametrize("n", [3, 30, 301])
def test_texts_are_captions_from_a_third_on(n: int) -> None:
    needed = -(-n // 3)
    assert needed >= CAPTIONS_SHARE * n
    for n_scenes in (needed - 1, needed):
        counter = SceneCounter()
        texts = ["A man sleeps."] * n_scenes + ["It is late."] * (n - n_scenes) + ["", None]
        counter.add(pa.array(texts[::2]))
        counter.add(pa.array(texts[1::2], pa.large_string()))
        assert counter.are_captions == (n_scenes == needed)
    assert not SceneCounter().are_captions


@pytest.mark.parametrize(
    "text",
    [
        "A man and a woman.",
        "A race car driver waves.",
        "It will take place here.",
        "Yes. Boys are running.",
        "A large dog is sitting on a couch.",
    ],
)
@pytest.mark.parametrize("blank", ["  ", " \n", "\n\n"])
def test_white_space_is_no_neighbour(text: str, blank: str, careful: Any) -> None:
    """A tagger takes the second of two blanks for a token."""
    single, double = (
        careful.transform(pa.table({"text": [each]}), ["text"]).table["text"][0].as_py()
        for each in (text, text.replace(" ", blank))
    )
    assert double == single.replace(" ", blank)


def test_a_text_may_begin_with_a_line(careful: Any) -> None:
    texts = pa.table({"text": ["Boys are running.", "\nBoys are running."]})
    plain, after_line = careful.transform(texts, ["text"]).table["text"].to_pylist()
    assert after_line == f"\n{plain}"


@pytest.mark.parametrize(
    "text",
    [
        # Names and titles, after whatever mark.
        *('She likes "Movies of Love".', "Star Wars: Movies of the Future", "- Women - is old."),
        *('In "Couch of Life" he plays.', "Large  Marge waved.", "Large\u00a0Hadron Collider"),
        # Endings apart from their word.
        *("The children 's toys are red.", "The kids ' toys."),
        # Phrases of two to four words.
        *("The large intestines hurt.", "To begin with, we ate.", "the odd man out"),
        *("The lady of the house waved.", "The man in the street says no."),
        # Words that are spoken of, compounds and tags.
        *('the word "movie," he said', "the word \u00abmovie\u00bb here", "see #movie now"),
        "The couch\u2013bed is here",
    ],
)
def test_what_is_part_of_something_is_left_alone(text: str, careful: Any) -> None:
    assert careful.transform(pa.table({"text": [text]}), ["text"]).table["text"].to_pylist() == [
        text
    ]


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u2003", "\u3000", "\n", " \u2028 "])
def test_an_article_is_right_before_any_blank(blank: str, careful: Any) -> None:
    texts = pa.table({"text": [f"He is a{blank}person."]})
    made = careful.transform(texts, ["text"]).table["text"].to_pylist()
    assert made == [f"He is an{blank}individual."]


def test_long_runs_of_marks_are_tagged_as_one_token(careful: Any) -> None:
    """One after the other would take seconds for ten thousand."""
    run = "=" * 30_000 + '"' * 30_000
    texts = [f"A man sleeps. {run} A man sleeps.", run, f"{run}\u00e9"]
    made = careful.transform(pa.table({"text": texts}), ["text"]).table["text"].to_pylist()
    assert made == [texts[0].replace("man", "guy"), *texts[1:]]
    tags = careful.tagger.tag(pa.chunked_array([pa.array(texts, pa.large_string())]))
    assert np.diff(tags.offsets).tolist()[1] == 1
    for i, text in enumerate(texts):
        spans = slice(tags.offsets[i], tags.offsets[i + 1])
        words = [
            text.encode()[start:end].decode()
            for start, end in zip(tags.start[spans], tags.end[spans], strict=True)
        ]
        assert "".join(words) == text.replace(" ", "")


@pytest.mark.slow
def test_broad_rules_take_no_nouns_if_none_are_wanted() -> None:
    corpus = pa.table({"text": ["A store sells sunglasses to a vendor."] * 3})
    found = {}
    for pos in ("noun", "adj"):
        with plan(f"syn.broad:pos={pos}") as planned:
            found[pos] = {entry.pos for entry in planned.build(Material()).words.entries}
    assert found == {"noun": {"NOUN"}, "adj": {"ADJ"}}
    with plan("syn.broad") as planned:
        built = planned.build(Material())
        assert built.transform(corpus, ["text"]).changed.all()
