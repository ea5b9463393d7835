"""Buckets made here: transformations, and random draws of them."""

from __future__ import annotations

import itertools
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses.consistency.making import Drawing, make_buckets
from ietest_fast.corpus import corpus_from_table
from ietest_fast.corpus.reasoning import tell_stories
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.philox import philox_key
from ietest_fast.transform import Composition, Identity, WordSubstitution
from ietest_fast.transform import edits as drawing
from ietest_fast.transform.edits import address_items, choose_edits, draw_sets, find_choices
from ietest_fast.transform.spelling import Spelling
from ietest_fast.transform.structure import LabelChoice, Swap

WORDS = WordSubstitution(mapping={"a": "A1", "b": "B1", "c": "C1"})
TEXTS = ["a b c", "a x a", "x y", "c", "b c"]


def corpus(texts=TEXTS, second=None, **more):
    columns = {"premise": texts, "hypothesis": second or ["x"] * len(texts)}
    return corpus_from_table(
        {**columns, "label": [0] * len(texts), **more}, keep_columns=tuple(more)
    )


def wordings(buckets, item, column="premise"):
    rows = buckets.table.to_pylist()
    return [row[column] for row in rows if row["item"] == item and row["version"] != "original"]


def all_wordings(text):
    """Every text that some of the possible edits make: equal words go together."""
    words = sorted(set(text.split()) & set("abc"))
    made = set()
    for n in range(1, len(words) + 1):
        for chosen in itertools.combinations(words, n):
            made.add(" ".join(f"{w.upper()}1" if w in chosen else w for w in text.split()))
    return made


def test_draws_are_some_of_all_wordings_and_all_where_there_are_few():
    buckets = make_buckets(corpus(), WORDS, draws=4, seed=3)
    for item, text in enumerate(TEXTS):
        found = wordings(buckets, item)
        possible = all_wordings(text)
        assert len(set(found)) == len(found) == min(4, len(possible))
        assert set(found) <= possible
    made = buckets.made[0]
    assert (made.n_items, made.n_draws, made.n_unchanged) == (5, 4, 1)
    # "a x a" and "c" have one wording, "b c" three.
    assert (made.n_short, made.n_missing) == (3, 3 + 3 + 1)
    assert made.n_wordings == buckets.table.num_rows - 5 == 4 + 1 + 0 + 1 + 3
    assert buckets.n_without_paraphrases == 1


def test_buckets_begin_with_their_originals_and_keep_the_order():
    buckets = make_buckets(corpus(), WORDS, draws=2)
    rows = buckets.table.to_pylist()
    assert [row["item"] for row in rows] == sorted(row["item"] for row in rows)
    assert [row["premise"] for row in rows if row["version"] == "original"] == TEXTS
    versions = [row["version"] for row in rows if row["item"] == 0]
    assert versions == ["original", "words", "words#2"]


def test_draws_do_not_depend_on_order_and_company():
    named = [f"i{n}" for n in range(len(TEXTS))]
    whole = make_buckets(corpus(item=named), WORDS, draws=3, seed=1)
    part = make_buckets(corpus(TEXTS[::-1][:3], item=named[::-1][:3]), WORDS, draws=3, seed=1)
    for name in named[::-1][:3]:
        assert wordings(whole, name) == wordings(part, name)
    other = make_buckets(corpus(item=named), WORDS, draws=3, seed=2)
    assert any(wordings(whole, name) != wordings(other, name) for name in named)
    again = make_buckets(corpus(item=named), WORDS, draws=3, seed=1, n_threads=1)
    assert again.table.equals(whole.table)


def test_equal_rewordings_of_a_row_go_together():
    buckets = make_buckets(corpus(["a b"], ["b a A"]), WORDS, draws=9)
    rows = [(row["premise"], row["hypothesis"]) for row in buckets.table.to_pylist()[1:]]
    assert sorted(rows) == [("A1 B1", "B1 A1 A"), ("A1 b", "b A1 A"), ("a B1", "B1 a A")]


def test_articles_follow_their_words():
    texts = ["A man in a car sat on a couch.", "A car and a car."]
    buckets = make_buckets(corpus(texts), "syn.careful", draws=7)
    found = wordings(buckets, 0)
    assert len(found) >= 2
    for text in [*found, *wordings(buckets, 1)]:
        assert ("an automobile" in text) == ("automobile" in text)
        assert ("a car" in text) == (" car" in text)
    full = make_buckets(corpus(texts), "syn.careful")
    assert wordings(full, 0)[0] in found


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(3, 0.5), (3, 0.2), (2, 0.9)])
@pytest.mark.parametrize("way", ["all sets", "sizes first", "sizes first, of too many sets"])
def test_sets_have_the_law_of_drawing_until_they_are_new(n, share, way, monkeypatch):
    """Against the exact probabilities of the first two sets, by enumeration."""
    if way != "all sets":
        monkeypatch.setattr(drawing, "_MOST_ENUMERATED", 0)
    if way == "sizes first, of too many sets":
        monkeypatch.setattr(drawing, "_MOST_NUMBERED", 0)
    sets = [s for s in itertools.product([False, True], repeat=n) if any(s)]
    weight = {s: np.prod([share if one else 1 - share for one in s]) for s in sets}
    total = sum(weight.values())
    wanted = {
        (a, b): weight[a] / total * weight[b] / (total - weight[a])
        for a, b in itertools.permutations(sets, 2)
    }
    rng = np.random.default_rng(5)
    size = 20_000
    found = Counter(
        tuple(tuple(row) for row in draw_sets(n, 2, share, rng).tolist()) for _ in range(size)
    )
    statistic = sum((found[key] - size * p) ** 2 / (size * p) for key, p in wanted.items())
    from scipy.stats import chi2

    assert sum(found.values()) == size
    assert set(found) <= set(wanted)
    assert chi2.sf(statistic, len(wanted) - 1) > 1e-3


def test_many_choices_are_each_taken_with_the_share():
    rng = np.random.default_rng(1)
    sets = np.concatenate([draw_sets(20, 5, 0.3, rng) for _ in range(400)])
    assert len(sets) == 2000
    rate = sets.mean(axis=0)
    assert np.abs(rate - 0.3).max() < 4.5 * np.sqrt(0.3 * 0.7 / 2000)
    assert len({tuple(row) for row in draw_sets(12, 50, 0.5, rng).tolist()}) == 50


def test_a_share_that_leaves_little_to_draw_ends():
    rng = np.random.default_rng(1)
    sets = draw_sets(11, 5, 1 - 1e-9, rng)
    # All choices, and then all but one.
    assert sets[0].all()
    assert sets[1:].sum(axis=1).tolist() == [10] * 4
    assert draw_sets(12, 1, 1e-5, rng).sum() == 1
    assert len(draw_sets(3, 100, 0.5, rng)) == 7


@pytest.mark.parametrize(("n", "share"), [(11, 0.5), (11, 0.9999), (12, 1e-5), (12, 0.3)])
def test_all_sets_of_many_choices_are_drawn_once_each_and_soon(n, share):
    begin = time.perf_counter()
    sets = draw_sets(n, 2**n + 500, share, np.random.default_rng(3))
    assert time.perf_counter() - begin < 4  # trying took longer, or gave up
    assert len({row.tobytes() for row in sets}) == len(sets) == 2**n - 1
    assert sets.any(axis=1).all()
    assert len(draw_sets(n, 5, share, np.random.default_rng(4))) == 5


def test_choices_beyond_all_numbers_are_drawn():
    sets = draw_sets(400, 50, 0.5, np.random.default_rng(5))
    assert len({row.tobytes() for row in sets}) == 50
    assert np.abs(sets.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(400 * 50)


def test_rows_without_choices_have_no_draws():
    taken, n_drawn = choose_edits(
        np.array([0, 2, 0, 1]),
        address_items("abcd"),
        n_draws=3,
        share=0.5,
        key=philox_key(0),
    )
    assert taken.shape == (3, 3)
    assert n_drawn.tolist() == [0, 3, 0, 1]
    assert not taken[1:, 2].any()


def test_choices_are_found_in_the_order_of_their_texts():
    table = pa.table({"premise": ["c b", "b a b"], "hypothesis": ["a", "c"]})
    edits = WORDS.transform(table, ["premise", "hypothesis"]).edits
    choices = find_choices(edits)
    assert choices.row.tolist() == [0, 0, 0, 1, 1, 1]
    by_edit = list(
        zip(
            edits["row"].to_pylist(),
            edits["old"].to_pylist(),
            choices.of_edit.tolist(),
            strict=True,
        )
    )
    assert sorted(set(by_edit), key=lambda each: each[2]) == [
        (0, "c", 0),
        (0, "b", 1),
        (0, "a", 2),
        (1, "b", 3),
        (1, "a", 4),
        (1, "c", 5),
    ]


def test_a_transformation_that_draws_itself_gets_other_seeds():
    texts = ["The children were running through the garden.", "Nobody understood the question."]
    buckets = make_buckets(corpus(["x", "y"], texts), "spelling", draws=5, seed=4)
    for item, text in enumerate(texts):
        found = wordings(buckets, item, "hypothesis")
        assert len(set(found)) == 5
        assert text not in found
    assert buckets.made[0].n_short == 0
    other = make_buckets(corpus(["x", "y"], texts), "spelling:seed=9", draws=5, seed=4)
    assert other.table["hypothesis"] != buckets.table["hypothesis"]


@pytest.mark.slow
def test_few_wordings_of_a_random_transformation_are_counted():
    # Three letters: few misspellings, so 12 draws cannot be had.
    buckets = make_buckets(corpus(["x", "y"], ["zzq it", "in"]), "spelling:rules=careful", draws=12)
    made = buckets.made[0]
    assert made.n_unchanged == 1
    assert made.n_short == 1
    assert made.n_missing == 12 - made.n_wordings
    assert made.n_wordings == len(set(wordings(buckets, 0, "hypothesis"))) > 0


@pytest.mark.slow
def test_of_several_in_turn_each_draws():
    both = Composition(parts=(WORDS, WordSubstitution(mapping={"A1": "A2", "B1": "B2"})))
    buckets = make_buckets(corpus(["a b", "c"]), both, draws=12)
    found = wordings(buckets, 0)
    possible = {f"{x} {y}" for x in ("a", "A1", "A2") for y in ("b", "B1", "B2")} - {"a b"}
    assert sorted(found) == sorted(possible)
    assert wordings(buckets, 1) == ["C1"]
    mixed = Composition(parts=(WORDS, Spelling(n_words=1, columns=("hypothesis",))))
    buckets = make_buckets(corpus(["a b"], ["these words"]), mixed, draws=6)
    assert len({(r["premise"], r["hypothesis"]) for r in buckets.table.to_pylist()}) == 7


def test_several_transformations_make_a_bucket():
    second = WordSubstitution(mapping={"a": "A1", "b": "B9"})
    buckets = make_buckets(corpus(), [WORDS, second])
    assert wordings(buckets, 0) == ["A1 B1 C1", "A1 B9 c"]
    # The second gives "a x a" the words of the first: that is no other wording.
    assert wordings(buckets, 1) == ["A1 x A1"]
    assert wordings(buckets, 2) == []
    assert [made.n_repeated for made in buckets.made] == [0, 1]
    assert [made.n_unchanged for made in buckets.made] == [1, 2]
    assert [made.n_wordings for made in buckets.made] == [4, 2]
    versions = [row["version"] for row in buckets.table.to_pylist() if row["item"] == 0]
    assert versions == ["original", "words", "words#2"]


def test_draws_of_several_with_one_name_have_names_of_their_own():
    second = WordSubstitution(mapping={"a": "A8", "b": "B9"})
    buckets = make_buckets(corpus(), [WORDS, second], draws=3)
    rows = [row["version"] for row in buckets.table.to_pylist() if row["item"] == 0]
    assert rows == ["original", *(f"words{end}" for end in ("", "#2", "#3", "#4", "#5", "#6"))]


def test_hypotheses_are_reworded_and_stories_told_anew():
    parts = {"obs1": ["a"], "obs2": ["c"], "hyp1": ["a b"], "hyp2": ["x b"]}
    table = tell_stories(pa.table({**parts, "label": [1]}))
    stories = corpus_from_table(
        table, text_columns=("first_story", "second_story"), keep_columns=tuple(parts)
    )
    buckets = make_buckets(stories, WORDS, draws=5, columns=("hyp1", "hyp2"), compose=tell_stories)
    found = {(row["first_story"], row["second_story"]) for row in buckets.table.to_pylist()}
    assert found == {
        ("a a b c", "a x b c"),
        ("a A1 b c", "a x b c"),
        ("a a B1 c", "a x B1 c"),
        ("a A1 B1 c", "a x B1 c"),
    }


def test_half_of_an_exchange_is_not_drawn():
    swap = Swap(labels=LabelChoice(names=("all",)))
    with pytest.raises(InputError, match="'swap' has nothing to draw"):
        make_buckets(corpus(), swap, draws=2)
    with pytest.raises(InputError, match="'identity' has nothing to draw"):
        Drawing(transformation=Identity())


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="share must be more than 0 and less than 1"):
        make_buckets(corpus(), WORDS, draws=2, share=1.0)
    with pytest.raises(InputError, match="seed must be 0 or more"):
        make_buckets(corpus(), WORDS, draws=2, seed=-1)
    with pytest.raises(InputError, match="draws must be at least 1"):
        make_buckets(corpus(), WORDS, draws=0)
    with pytest.raises(InputError, match="'antonym' does not keep labels"):
        make_buckets(corpus(), "antonym")
    with pytest.raises(InputError, match="is there twice"):
        make_buckets(corpus(), [WORDS, WORDS])
    with pytest.raises(InputError, match="none of the texts is changed by identity"):
        make_buckets(corpus(), Identity())
    with pytest.raises(
        InputError, match=r"one id occurs more than once: 'a' \(rows 0 and 1, and 3 more\);"
    ):
        make_buckets(corpus(item=["a"] * 5), WORDS)
    with pytest.raises(InputError, match="column 'version': cannot be kept"):
        make_buckets(corpus(version=list("abcde")), WORDS)


def test_what_brings_a_text_into_normal_form_is_always_made():
    texts = ["A dog, and a couch.", "Yes, yes."]
    with pytest.warns(IetestWarning, match="without a block list"):
        buckets = make_buckets(corpus(texts), "syn.paper:tagger=packaged", draws=3)
    found = wordings(buckets, 0)
    assert len(found) == len(set(found)) == 3
    for text in found:
        assert "," not in text
        assert "." not in text
        assert not text.startswith("A ")
    # Normal form by itself rewords nothing.
    assert wordings(buckets, 1) == []


def test_sentences_are_rewritten_each_by_itself():
    text = "A dog was chased by a cat. The boy was seen by a girl."
    buckets = make_buckets(corpus(["x"], [text]), "voice", draws=5)
    assert sorted(wordings(buckets, 0, "hypothesis")) == [
        "A cat chased a dog. A girl saw the boy.",
        "A cat chased a dog. The boy was seen by a girl.",
        "A dog was chased by a cat. A girl saw the boy.",
    ]
    assert buckets.made[0].n_missing == 2
