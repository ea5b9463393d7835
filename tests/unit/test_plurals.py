"""Numbers of things in words."""

from __future__ import annotations

import pytest

from ietest_fast.numerals import say_count


@pytest.mark.parametrize(
    ("n", "words", "expected"),
    [
        (1, ("item",), "1 item"),
        (0, ("item",), "0 items"),
        (2000, ("item",), "2,000 items"),
        (1, ("stratum has", "strata have"), "1 stratum has"),
        (3, ("stratum has", "strata have"), "3 strata have"),
    ],
)
def test_one_thing_and_several(n: int, words: tuple[str, ...], expected: str) -> None:
    assert say_count(n, *words) == expected
