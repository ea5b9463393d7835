from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.runtime import load_core
from reference.edit_distance import edit_distance as slow

# Few letters, so that equal ones meet often; one outside ASCII and one outside the first plane.
words = st.text(alphabet="aabcé\U0001d11e ", max_size=9)


@given(words, words)
def test_edit_distance_is_the_definition(a: str, b: str) -> None:
    assert load_core().text.edit_distance(a, b) == slow(a, b)


@given(words, words)
def test_edit_distance_is_symmetric(a: str, b: str) -> None:
    edit_distance = load_core().text.edit_distance
    assert edit_distance(a, b) == edit_distance(b, a)
