"""Files of the texts of a suite: names that any file system takes, and all files or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.stress.suite import make_suite, write_texts
from ietest_fast.atomic import name_files
from ietest_fast.corpus import corpus_from_table

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.corpus import Corpus


@pytest.fixture
def corpus() -> Corpus:
    rows = [("A dog runs.", "It moves.", "neutral"), ("A cat sleeps.", "It is.", "entailment")]
    columns = ("premise", "hypothesis", "label")
    return corpus_from_table(
        pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows])
    )


def test_names_of_any_length_and_none(tmp_path: Path, corpus: Corpus) -> None:
    names = ["x" * 300, f"{'x' * 300}y", "語" * 200, "", ".hidden", "Not 2", "not-2"]
    tests = {name: {"name": "negation", "times": i} for i, name in enumerate(names, start=1)}
    write_texts(make_suite(corpus, tests), corpus, tmp_path / "deep" / "sets")
    files = name_files(names, otherwise="test")
    assert len({file.casefold() for file in files}) == len(names)
    assert not any(file.startswith(".") for file in files)
    for i, file in enumerate(files, start=1):
        texts = pq.read_table(tmp_path / "deep" / "sets" / f"{file}.parquet")["hypothesis"]
        assert texts[0].as_py().count("false is not true") == i
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["sets"]


def test_a_folder_is_whole_or_not_there(tmp_path: Path, corpus: Corpus) -> None:
    suite = make_suite(corpus, {"a": "negation"})
    (tmp_path / "sets").write_text("a file in its place")
    with pytest.raises(OSError, match="sets"):
        write_texts(suite, corpus, tmp_path / "sets")
    assert [path.name for path in tmp_path.iterdir()] == ["sets"]
    assert (tmp_path / "sets").read_text() == "a file in its place"
