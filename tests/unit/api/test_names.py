"""What hangs at the top: few names, all of them there, and none that costs anything at import."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import ietest_fast as ie

ORDERS = {
    "the function first": "from ietest_fast import transform as f; import ietest_fast.transform",
    "the room first": "import ietest_fast.transform.phi; from ietest_fast import transform as f",
}


def test_dir_names_what_users_want_and_all_of_it_is_there() -> None:
    assert set(ie.__all__) <= set(dir(ie))
    for name in dir(ie):
        assert name.startswith("__") or inspect.getdoc(getattr(ie, name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'transfrom'"):
        ie.transfrom  # noqa: B018


def test_names_are_those_of_the_rooms() -> None:
    import ietest_fast.stats
    import ietest_fast.transform

    assert ie.paired_test is ietest_fast.stats.paired_test
    assert ie.transform is ietest_fast.transform


@pytest.mark.slow
@pytest.mark.parametrize("code", ORDERS.values(), ids=ORDERS)
def test_the_room_can_be_called_in_any_order_of_imports(code: str) -> None:
    code += (
        "\nimport sys, ietest_fast"
        "\nassert f is ietest_fast.transform is sys.modules['ietest_fast.transform']"
        "\nassert callable(f) and callable(f.plan)"
        "\nprint(f(['A b.'], 'identity'))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert out.stdout == "['A b.']\n"
