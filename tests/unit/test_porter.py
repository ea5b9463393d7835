from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ietest_fast.lexicon import WordNet, porter_stem

if TYPE_CHECKING:
    from pathlib import Path


def test_stems_are_nltks_on_all_wordnet_lemmas() -> None:
    nltk = pytest.importorskip("nltk")
    stemmer = nltk.PorterStemmer()
    words = [word.replace("_", " ") for word in WordNet.packaged().words()][::3]
    assert [word for word in words if porter_stem(word) != stemmer.stem(word)] == []


@pytest.mark.slow
def test_stems_are_nltks_on_real_texts(shared: Path) -> None:
    import pyarrow.parquet as pq

    nltk = pytest.importorskip("nltk")
    stemmer = nltk.PorterStemmer()
    words: set[str] = set()
    for path in sorted((shared / "data").glob("?nli/*.parquet")):
        table = pq.read_table(path, columns=["premise", "hypothesis"])
        for column in table.columns:
            for text in column.to_pylist():
                words.update(text.split(), re.findall(r"\w+", text))
    assert len(words) > 50_000
    assert [word for word in words if porter_stem(word) != stemmer.stem(word)] == []


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
