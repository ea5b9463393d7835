"""The examples in docstrings and on pages say what comes out."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import ietest_fast.stats

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("statistics.md", "python.md")]
MODULES = [
    f"ietest_fast.stats.{module.name}"
    for module in pkgutil.iter_modules(ietest_fast.stats.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_public_functions_that_test_have_examples() -> None:
    finder = doctest.DocTestFinder(recurse=False)
    for name in ("paired_test", "power", "sample_size", "detectable_difference", "simulate"):
        function = getattr(ietest_fast.stats, name)
        assert any(found.examples for found in finder.find(function, name)), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_pages(page: Path) -> None:
    """All blocks of a page in one namespace, one after the other."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner()
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        names = test.globs
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0
