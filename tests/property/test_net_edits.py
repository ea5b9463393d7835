"""Edits of several steps as edits of the first texts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.transform import Composition, WordSubstitution, apply_edits
from ietest_fast.transform.edits import merge_steps


def words(rule: str = "words", **mapping: str) -> WordSubstitution:
    return WordSubstitution(mapping=mapping, rule=rule)


def merged(texts: list[str], *parts: Any) -> tuple[pa.Table, pa.Table, pa.Table]:
    table = pa.table({"text": texts})
    made = Composition(parts=parts).transform(table, ["text"])
    return table, made.table, merge_steps(table, made.edits)


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        # A later edit in another place is moved to where the first text has it.
        (
            "the boy sees a cat",
            (words(boy="young lad"), words(cat="dog")),
            [(4, 7, "boy", "young lad", "words"), (15, 18, "cat", "dog", "words")],
        ),
        # One of the same place is one edit with both rules.
        (
            "a cat",
            (words("one", cat="dog"), words("two", dog="hound")),
            [(2, 5, "cat", "hound", "one+two")],
        ),
        # One that only overlaps takes in what the first left around it.
        (
            "é cat!",
            (words("one", cat="big dog"), words("two", big="small")),
            [(3, 6, "cat", "small dog", "one+two")],
        ),
        # What is taken back is none; companions do not name what they accompany.
        ("a cat", (words(cat="dog"), words(dog="cat")), []),
        (
            "a cat",
            (words("normalise", cat="dog"), words("frequency", dog="hound")),
            [(2, 5, "cat", "hound", "frequency")],
        ),
    ],
)
def test_edits_of_two_steps(text: str, parts: Any, expected: list[tuple[Any, ...]]) -> None:
    _, _, net = merged([text], *parts)
    assert [
        (each["start"], each["end"], each["old"], each["new"], each["rule"])
        for each in net.to_pylist()
    ] == expected


WORDS = st.sampled_from(["a", "bb", "é", "a bb", "bb a", "c", ""])
MAPPINGS = st.dictionaries(WORDS.filter(bool), WORDS, min_size=1, max_size=3)


@given(
    texts=st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=4),
    mappings=st.lists(MAPPINGS, min_size=2, max_size=4),
)
def test_merged_edits_make_the_same_texts(texts: list[str], mappings: list[dict[str, str]]) -> None:
    parts = [WordSubstitution(mapping=mapping) for mapping in mappings]
    table, new, net = merged(texts, *parts)
    assert apply_edits(table, net).equals(new)
    ends: dict[int, int] = {}
    for each in net.to_pylist():
        assert each["old"] != each["new"]
        assert each["start"] >= ends.get(each["row"], 0)
        ends[each["row"]] = each["end"]


def test_edits_of_one_step_come_back_as_they_are() -> None:
    made = words(cat="dog").transform(pa.table({"text": ["a cat"]}), ["text"])
    assert merge_steps(pa.table({"text": ["a cat"]}), made.edits) is made.edits
