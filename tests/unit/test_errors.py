"""Messages: of any value of a file they show a part only, and of many mistakes the first."""

from __future__ import annotations

import pytest

from ietest_fast.errors import ConfigError, InputError, ResourceError, StoreError


@pytest.mark.parametrize("length", [3, 90, 5_000, 10**7])
def test_a_long_value_is_not_shown_whole_and_the_end_is(length: int) -> None:
    value = "x" * length
    for text in (
        str(InputError(f"{value!r} is no label; say --labels", path="a.csv", row="line 7")),
        str(InputError("say --labels", path="a.csv", row="line 7", column=value)),
        str(InputError("say --labels", path="a.csv", row=f"item {value}")),
        str(InputError("no such file; say --labels", path=f"a.csv{value}")),
        str(ConfigError([f"a.csv: line 7: {value} is unknown; say --labels"])),
        str(StoreError(f"a.csv: is damaged ({value}); say --labels")),
        str(ResourceError(f"a.csv: is damaged ({value}); say --labels")),
    ):
        assert len(text) <= 1500
        assert text.startswith("a.csv")
        assert text.endswith("say --labels")
        assert (value in text) == (length <= 90)


def test_of_many_mistakes_the_first_are_told_and_the_others_counted() -> None:
    few = ConfigError([f"key {i}" for i in range(100)])
    assert few.problems == tuple(f"key {i}" for i in range(100))
    many = ConfigError([f"key {i}" for i in range(5_100)])
    assert many.problems == (*few.problems, "and 5,000 more mistakes")
    assert str(many) == "\n".join(many.problems)
