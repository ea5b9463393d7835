from __future__ import annotations

import json
import re
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.cli.main import main
from ietest_fast.corpus import Corpus, corpus_from_table, demo_corpus, describe, find_overlap

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    ("A man sleeps.", "He  rests", 0),
    ("A man sleeps.", "He  rests", 0),
    ("a man sleeps", "He rests.", 2),
    ("Größe zählt!", "", 1),
    ("“Yes,” he said", "It's no - well-known thing", 1),
    ("A man sleeps.", "   ", None),
]


def corpus(rows: list[tuple[str, str, int | None]] = ROWS) -> Corpus:
    first, second, labels = zip(*rows, strict=True)
    table = pa.table({"premise": first, "hypothesis": second, "label": labels})
    return corpus_from_table(table, text_columns=["premise", "hypothesis"])


def test_describes_a_corpus() -> None:
    found = describe(corpus())
    assert found.n_rows == 5
    assert found.labels == {"entailment": 2, "neutral": 2, "contradiction": 1}
    assert found.dropped == {"label missing": 1}
    assert found.n_duplicates == 1
    assert found.n_same_words == 2
    assert found.n_conflicts == 1
    premise, hypothesis = found.columns
    assert (premise.n_distinct, premise.repeated_share) == (4, 0.4)
    assert hypothesis.n_blank == 1
    lengths = sorted(len(p) for p, _, label in ROWS if label is not None)
    assert premise.characters.min == lengths[0]
    assert premise.characters.max == lengths[-1]
    assert premise.characters.mean == pytest.approx(statistics.mean(lengths))
    assert premise.characters.median == statistics.median(lengths)
    assert premise.characters.p95 == np.percentile(lengths, 95)
    assert (premise.words.min, premise.words.max) == (2, 3)
    # a man sleeps größe zählt yes he said rests it's no well-known thing
    assert found.vocabulary_size == 13
    assert not found.is_one_class
    assert json.loads(json.dumps(found.to_dict()))["columns"][0]["name"] == "premise"


def test_describes_what_is_almost_nothing() -> None:
    found = describe(corpus([("x", "y", 1)]))
    assert found.is_one_class
    assert found.n_duplicates == 0
    empty = describe(corpus().take([]))
    assert (empty.n_rows, empty.vocabulary_size, empty.n_same_words) == (0, 0, 0)


def test_agrees_with_counting_by_hand() -> None:
    demo = demo_corpus(3000, seed=5)
    pairs = list(zip(*(demo.texts(i).to_pylist() for i in (0, 1)), strict=True))
    pairs = [*pairs, *[(p.upper(), h + "  ") for p, h in pairs[:100]]]
    labels = np.concatenate([demo.labels, demo.labels[:50], (demo.labels[50:100] + 1) % 3])
    found = describe(
        corpus([(p, h, int(label)) for (p, h), label in zip(pairs, labels, strict=True)])
    )

    def plain(text: str) -> str:
        return " ".join(text.lower().split()).removesuffix(".")

    first: dict[tuple[str, str], int] = {}
    same = conflicts = 0
    for (p, h), label in zip(pairs, labels, strict=True):
        key = (plain(p), plain(h))
        same += key in first
        conflicts += first.setdefault(key, label) != label
    assert (found.n_same_words, found.n_conflicts) == (same, conflicts)
    assert found.n_duplicates == len(pairs) - len(set(pairs))
    words = {w for pair in pairs for text in pair for w in re.findall(r"[\w']+", text.lower())}
    assert found.vocabulary_size == len(words)


def test_white_space_of_every_kind_is_seen_as_expressions_see_it() -> None:
    rng = np.random.default_rng(0)
    marks = [*"ab.A", *" \t\n\f\r", *"\x0b\x85\u00a0\u2003", "é", ""]
    texts = ["".join(rng.choice(marks, rng.integers(0, 7))) for _ in range(2000)]
    demo = corpus([(a, b, 0) for a, b in zip(texts[:1000], texts[1000:], strict=True)])
    # Columns come in pieces, and a piece need not begin with its buffer.
    pieces = pa.concat_tables([demo.table.slice(3, 400), demo.table.slice(100, 7), demo.table])
    found = describe(replace(demo, table=pieces))
    for column in found.columns:
        texts = pieces[column.name].to_pylist()
        words = [len(re.findall(r"[^\t\n\f\r ]+", text)) for text in texts]
        assert (column.words.min, column.words.max) == (min(words), max(words))
        assert column.words.mean == pytest.approx(np.mean(words))
        assert column.n_blank == words.count(0)
        assert column.characters.mean == pytest.approx(np.mean([len(text) for text in texts]))
        assert column.n_distinct == len(set(texts))

    def plain(text: str) -> str:
        return re.sub(r"[\t\n\f\r ]+", " ", text.lower()).strip(" ").rstrip(".").strip(" ")

    pairs = [
        (plain(a), plain(b))
        for a, b in zip(*(pieces[name].to_pylist() for name in demo.text_columns), strict=True)
    ]
    assert found.n_same_words == len(pairs) - len(set(pairs))
    part = replace(demo, table=demo.table.slice(3, 500))
    overlap = find_overlap(part, demo)
    whole = pairs[407:]
    assert overlap.n_same_words == sum(pair in set(whole[3:503]) for pair in whole)
    firsts = {a for a, _ in whole[3:503]}
    assert overlap.n_shared_texts == sum(a in firsts for a, _ in whole)


def test_finds_what_two_corpora_share() -> None:
    first = corpus([("A man.", "x", 0), ("A dog.", "y", 1)])
    second = corpus([("a man", "X.", 2), ("A dog", "z", 1), ("A cat", "y", 1)])
    overlap = find_overlap(first, second)
    assert (overlap.n_same_words, overlap.n_shared_texts) == (1, 2)
    assert overlap.n_conflicts == 1


@pytest.mark.parametrize(
    ("first", "second", "n"),
    [
        ([("A", 0), ("B", 1)], [("a.", 0), ("b", 1)], 0),
        ([("A", 0), ("B", 1)], [("a.", 1), ("b", 1), ("c", 0)], 1),
        ([("A", 0), ("A", 1), ("B", 1)], [("a", 1), ("a", 0), ("b", 0)], 1),
        ([("A", "no"), ("B", "yes")], [("a", "YES"), ("b", "yes"), ("c", "maybe")], 1),
        ([("A", "no"), ("B", "yes")], [("a", "no"), ("b", "maybe")], 1),
    ],
)
def test_shared_rows_with_another_label_are_counted(
    first: list[tuple[str, Any]], second: list[tuple[str, Any]], n: int
) -> None:
    def read(rows: list[tuple[str, Any]]) -> Corpus:
        texts, labels = zip(*rows, strict=True)
        return corpus_from_table(pa.table({"text": texts, "label": labels}))

    assert find_overlap(read(first), read(second)).n_conflicts == n


def test_the_command_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in (("train", "a,x,0\nb,y,1\nc,z,-1\n"), ("test", "A.,X,0\n")):
        content = "premise,hypothesis,label\n" + lines
        (tmp_path / f"{name}.csv").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as status:
        main(["describe", str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--json"])
    assert status.value.code == 0
    found = json.loads(capsys.readouterr().out)
    train, test = found["corpora"]
    assert train["labels"] == {"0": 1, "1": 1}
    assert train["dropped"] == {"no gold label": 1}
    assert test["is_one_class"] is True
    assert [(o["n_same_words"], o["n_shared_texts"]) for o in found["overlaps"]] == [(1, 1)]
    assert found["overlaps"][0]["n_conflicts"] == 0


def test_the_command_prints_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one [red] file.jsonl"
    path.write_text('{"text": "a b", "label": "x"}\n{"text": "a b", "label": "-"}\n', "utf-8")
    with pytest.raises(SystemExit) as status:
        main(["describe", str(path), "--label-names", "w,x"])
    assert status.value.code == 0
    out = capsys.readouterr().out
    assert str(path) in out
    assert "w 0 (0.0%), x 1 (100.0%)" in out
    assert "1 no gold label" in out
    assert "same label" in out
    assert describe(demo_corpus(1)).fingerprint not in out


def test_the_command_describes_the_demonstration(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as status:
        main(["describe", "--demo", "50", "--seed", "3", "--json"])
    assert status.value.code == 0
    (found,) = json.loads(capsys.readouterr().out)["corpora"]
    assert found["fingerprint"] == demo_corpus(50, seed=3).fingerprint


@pytest.mark.parametrize("arguments", [[], ["--demo", "5", "a.csv"], ["--demo", "0"]])
def test_wrong_usage_ends_with_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as status:
        main(["describe", *arguments])
    assert status.value.code == 2
