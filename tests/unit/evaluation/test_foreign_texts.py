"""Tests made of another file's texts: which column, which labels, which items."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.stress.asking import StressNotes, measure_stress
from ietest_fast.analyses.stress.suite import (
    StressOptions,
    StressTest,
    make_suite,
    paper_suite,
    read_suite,
)
from ietest_fast.answers import evaluate
from ietest_fast.answers.versions import read_unlabelled_texts
from ietest_fast.corpus import Corpus, corpus_from_table
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.models import as_classifier
from ietest_fast.transform.numerical import Numerical

LABELS = ("entailment", "neutral", "contradiction")
COLUMNS = ("premise", "hypothesis")
PROBLEMS = [
    "Anna buys 12 apples in the shop.",
    None,
    "Nothing to count here.",
    "The train needs 3 hours. It carries 250 people.",
]


@pytest.fixture
def corpus() -> Corpus:
    return corpus_from_table(
        pa.table(
            {
                "premise": [f"A dog runs in the park {i} times." for i in range(6)],
                "hypothesis": ["A dog moves."] * 6,
                "label": [LABELS[i % 3] for i in range(6)],
                "genre": ["a", "b"] * 3,
            }
        ),
        keep_columns=("genre",),
    )


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    lines = [json.dumps({"question": text, "correct": "A"}) for text in PROBLEMS]
    with gzip.open(tmp_path / "problems.json.gz", "wt") as file:
        file.write("\n".join(lines))
    return tmp_path / "problems.json.gz"


def test_the_column_is_named_or_known(problems: Path, tmp_path: Path) -> None:
    found = read_unlabelled_texts(problems, None, COLUMNS)
    assert found.table.column_names == list(COLUMNS)
    assert found.table["premise"].to_pylist() == PROBLEMS
    assert found.table["hypothesis"].null_count == 4
    assert found.items.to_pylist() == [f"problems.json.gz:{i}" for i in range(4)]
    other = read_unlabelled_texts(problems, "correct", COLUMNS)
    assert other.table["premise"].to_pylist() == ["A"] * 4
    assert other.fingerprint != found.fingerprint
    pq.write_table(pa.table({"story": ["It costs 5 dollars."], "n": [1]}), tmp_path / "one.parquet")
    assert read_unlabelled_texts(tmp_path / "one.parquet", None, COLUMNS).table.num_rows == 1


@pytest.mark.parametrize(
    ("table", "column", "message"),
    [
        ({"a": ["x"], "b": ["y"]}, None, "none of its columns is called text, sentence.*'a', 'b'"),
        ({"n": [1]}, "n", "holds int64, texts expected"),
        ({"text": ["x"]}, "txt", "no such column.*did you mean 'text'"),
        ({"text": pa.nulls(2, pa.string())}, None, "holds no text"),
    ],
)
def test_what_holds_no_texts_is_refused(
    tmp_path: Path, table: dict[str, object], column: str | None, message: str
) -> None:
    pq.write_table(pa.table(table), tmp_path / "texts.parquet")
    with pytest.raises(InputError, match=message):
        read_unlabelled_texts(tmp_path / "texts.parquet", column, COLUMNS)
    with pytest.raises(InputError, match="no such file"):
        read_unlabelled_texts(tmp_path / "none.csv", column, COLUMNS)


def test_quantities_of_another_file(corpus: Corpus, problems: Path) -> None:
    suite = make_suite(corpus, paper_suite(quantities=problems))
    version = next(each for each in suite.versions if each.name == "numerical")
    # The pairs of each text by itself, one after the other.
    expected = [
        (f"problems.json.gz:{row}", pair.premise, pair.hypothesis, pair.label)
        for row, text in enumerate(PROBLEMS)
        for pair in Numerical().pairs([text])
    ]
    assert len(expected) >= 6
    assert version.items is not None
    made = zip(
        version.items.to_pylist(),
        *(version.table[name].to_pylist() for name in COLUMNS),
        [corpus.label_names[code] for code in version.labels],
        strict=True,
    )
    assert sorted(made) == sorted(expected)
    found = evaluate(
        as_classifier(lambda pairs: ["neutral"] * len(pairs), data_labels=corpus.label_names),
        corpus,
        list(suite.versions),
        keep_columns=("genre",),
    )
    rows = [row for row in found.predictions.table.to_pylist() if row["version"] == "numerical"]
    said = [tuple(row[name] for name in ("item", *COLUMNS, "gold")) for row in rows]
    assert sorted(said) == sorted(expected)
    assert {row["genre"] for row in rows} == {None}
    assert all(row["changed"] for row in rows)
    original = found.predictions.select(version="original").table
    assert original["item"].to_pylist() == [str(i) for i in range(6)]
    (profile,) = measure_stress(
        found.predictions, StressOptions(group_by="genre"), notes=StressNotes(empty=suite.empty)
    )
    test = next(each for each in profile.tests if each.name == "numerical")
    assert (test.n_items, test.is_foreign, dict(test.by_group)) == (2, True, {})
    assert test.accuracy.k == sum(row[-1] == "neutral" for row in expected)
    assert "numerical: made of 2 texts of another file." in profile.remarks()


def test_a_suite_names_the_file(tmp_path: Path, corpus: Corpus, problems: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(
        "[tests]\n"
        'problems = { name = "numerical", rules = "paper", texts_from = "problems.json.gz", '
        'texts_column = "question" }\n'
    )
    tests = read_suite(path)
    assert tests["problems"].files == [problems]
    suite = make_suite(corpus, tests)
    assert [version.name for version in suite.versions] == ["problems"]
    other = make_suite(corpus, {"problems": StressTest(phi="numerical:rules=paper")})
    assert suite.versions[0].identity != other.versions[0].identity


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{ name = "numerical", texts_from = 3 }', "texts_from: must be a string"),
        ('{ name = "numerical", texts_column = "a" }', "texts_column: is of texts_from"),
        ("{ n_words = 3 }", "name: is missing"),
        ('{ name = "numerical", texts_from = "none.csv" }', "none.csv: no such file"),
    ],
)
def test_a_suite_that_names_it_wrongly(tmp_path: Path, entry: str, message: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(f"[tests]\na = {entry}\n")
    with pytest.raises(ConfigError, match=message):
        read_suite(path)


def test_texts_without_labels_are_for_tests_that_set_them(corpus: Corpus, problems: Path) -> None:
    with pytest.raises(InputError, match="'negation' keeps the labels of texts, and these have"):
        make_suite(corpus, {"not": StressTest(phi="negation", texts_from=problems)})


def test_a_file_without_quantities_is_counted(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("text\nNothing to count here.\n")
    suite = make_suite(corpus, paper_suite(quantities=tmp_path / "texts.csv"))
    assert "numerical" in suite.empty


@pytest.mark.parametrize("rules", ["careful", "paper"])
def test_word_problems(corpus: Corpus, rules: str, shared: Path) -> None:
    path = shared / "data/aqua/dev.json.gz"
    suite = make_suite(corpus, paper_suite(rules=rules, quantities=path))
    version = next(each for each in suite.versions if each.name == "numerical")
    with gzip.open(path, "rt") as file:
        questions = [json.loads(line)["question"] for line in file]
    assert len(version.labels) > (300 if rules == "paper" else 150)
    assert (np.bincount(version.labels, minlength=3) > 50).all()
    for item, premise, hypothesis, label in zip(
        version.items.to_pylist(),  # type: ignore[union-attr]
        version.table["premise"].to_pylist(),
        version.table["hypothesis"].to_pylist(),
        version.labels,
        strict=True,
    ):
        source = hypothesis if label == 1 else premise
        assert source in questions[int(item.partition(":")[2])]
