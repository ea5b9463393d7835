"""Packages offer what they are for, and load it when it is asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import ietest_fast

LAZY = ("ietest_fast", *(f"ietest_fast.{room}" for room in ("corpus", "lexicon", "transform")))


@pytest.mark.parametrize("name", LAZY)
def test_a_package_lists_its_names_and_nothing_that_it_has_imported(name: str) -> None:
    package = importlib.import_module(name)
    listed = {each for each in dir(package) if not each.startswith("__")}
    assert not listed & {"lazy", "lazy_names", "TYPE_CHECKING", "annotations"}
    assert listed >= {each for each in package.__all__ if not each.startswith("__")}
    for each in listed:
        assert getattr(package, each) is not None
    assert "__doc__" in dir(package)


@pytest.mark.slow
def test_rooms_are_there_without_an_import_of_their_own() -> None:
    script = (
        "import sys, ietest_fast as ie\n"
        "assert 'ietest_fast.stats' not in sys.modules\n"
        "print(*(each.__name__ for each in (ie.stats.PairedCounts, ie.corpus.Corpus)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["PairedCounts", "Corpus"]


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ietest_fast' has no attribute 'utils'"):
        _ = ietest_fast.utils
