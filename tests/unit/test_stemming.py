"""Stems are NLTK's, and are had without all of NLTK."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ietest_fast.lexicon import porter_stem


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("dogs", "dog"),
        ("skies", "sky"),
        ("dies", "die"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("relational", "relat"),
        ("hopping", "hop"),
        ("A", "a"),
        ("", ""),
    ],
)
def test_some_stems(word: str, stem: str) -> None:
    assert porter_stem(word) == stem


@pytest.mark.slow
def test_a_stem_costs_one_module_of_nltk() -> None:
    program = (
        "import sys; from ietest_fast.lexicon import porter_stem; porter_stem('dogs');"
        "print(sorted(name for name in sys.modules if name.startswith(('nltk', 'spacy'))));"
        # What comes later gets the whole package.
        "import nltk; print(nltk.PorterStemmer().stem('flies'), nltk.stem.porter.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\nfli nltk.stem.porter\n"
