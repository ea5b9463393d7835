"""Pairs whose texts are exchanged, or put into one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.corpus import corpus_from_table, read_corpus
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import ConfigError, InputError
from ietest_fast.transform import Material, files, plan
from ietest_fast.transform.base import Transformed
from ietest_fast.transform.files import transform_file

COLUMNS = ("premise", "hypothesis")
PAIRS = [
    ("A man sleeps.", "A man is awake.", "contradiction"),
    ("A man sleeps.", "Somebody sleeps", "entailment"),
    ("A man sleeps.", "He is tired.", "neutral"),
    ("Zwölf Äpfel", "Äpfel", None),
    ("", "Nobody sleeps.", "contradiction"),
    (None, "Nobody sleeps.", "contradiction"),
    ("All sleep.", "All sleep.", "contradiction"),
]


def _table(pairs: list[Any] = PAIRS) -> pa.Table:
    return pa.table(
        {
            name: pa.array(values, pa.string())
            for name, values in zip((*COLUMNS, "label"), zip(*pairs, strict=True), strict=True)
        }
    )


def _transform(phi: str, table: pa.Table, material: Material | None = None) -> Transformed:
    with plan(phi) as planned:
        assert planned.keeps_labels
        made = planned.build(material).transform(table, COLUMNS)
    assert made.undo().equals(table)
    assert made.labels is None
    return made


def _pairs(made: Transformed) -> list[Any]:
    return list(zip(*(made.table[name].to_pylist() for name in COLUMNS), strict=True))


def test_contradictions_are_exchanged_and_nothing_else() -> None:
    made = _transform("swap", _table())
    expected = [pair[:2] for pair in PAIRS]
    expected[0] = ("A man is awake.", "A man sleeps.")
    assert _pairs(made) == expected
    assert made.changed.tolist() == [True, *[False] * 6]
    assert made.edits.num_rows == 2


@pytest.mark.parametrize(
    ("symmetric", "exchanged"),
    [
        ("symmetric=neutral", [2]),
        ("symmetric=Contradiction,symmetric=neutral", [0, 2]),
        ("symmetric=all", [0, 1, 2, 3]),
    ],
)
def test_other_labels_may_be_symmetric(symmetric: str, exchanged: list[int]) -> None:
    made = _transform(f"swap:{symmetric}", _table())
    assert made.changed.nonzero()[0].tolist() == exchanged
    for row in exchanged:
        assert _pairs(made)[row] == PAIRS[row][1::-1]


def test_labels_may_be_numbers() -> None:
    numbers = pa.array([2, 0, 1, -1, 2, 2, 2], pa.int8())
    table = _table().set_column(2, "label", numbers)
    assert _transform("swap", table).changed.nonzero()[0].tolist() == [0]
    numbers = pa.array([2.0, 0.0, 1.0, float("nan"), 2.0, 2.0, None])
    with plan("swap") as planned:
        made = planned.build().transform(table.set_column(2, "label", numbers), COLUMNS)
    assert made.changed.nonzero()[0].tolist() == [0]
    # Those of a corpus are its own.
    corpus = corpus_from_table(
        pa.table({"premise": ["a", "b"], "hypothesis": ["c", "d"], "label": ["same", "other"]}),
        label_names=("same", "other"),
    )
    made = _transform("swap:symmetric=other", corpus.table, Material(corpora=[corpus]))
    assert made.changed.tolist() == [False, True]
    # Those of what is transformed come first.
    other = corpus_from_table(
        corpus.table.set_column(2, "label", pa.array(["same", "other"])),
        label_names=("other", "same"),
    )
    material = Material(corpora=[corpus], source=other)
    made = _transform("swap:symmetric=other", other.table, material)
    assert made.changed.tolist() == [False, True]


NUMBERS = [
    ([0, 1, 2, -1], [2]),
    (["0", "1", " 2 ", "-"], [2]),
    ([0.0, 1.0, 2.0, None], [2]),
    (["Neutral", "contradictory", "Contradiction ", "-1"], [1, 2]),
    (["neutral", "entailment", "neutral", "entailment"], []),
]


@pytest.mark.parametrize(("labels", "changed"), NUMBERS)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_labels_are_read_alike_in_all_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    labels: list[Any],
    changed: list[int],
    suffix: str,
) -> None:
    """By the rules for corpora, whatever the format, and whatever a batch has of them."""
    monkeypatch.setattr(files, "STEP_ROWS", 1)
    source = tmp_path / f"in{suffix}"
    _write_pairs(source, labels)
    assert _changed_rows(source, tmp_path / "out.parquet", "swap") == changed


@pytest.mark.parametrize("labels", [["e", "f"], ["entailment", "not_entailment"], ["1", "yes"]])
def test_labels_without_the_wanted_one_are_refused(tmp_path: Path, labels: list[Any]) -> None:
    source = tmp_path / "in.csv"
    _write_pairs(source, labels)
    with pytest.raises(InputError, match=r"labels are .*; write such names .*labels_in=COLUMN"):
        _changed_rows(source, tmp_path / "out.csv", "swap")
    assert _changed_rows(source, tmp_path / "out.csv", f"swap:symmetric={labels[1]}") == [1]


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        (["neutral", "entailment"], "row 0.*'contradiction', and 'neutral' by the column label_t"),
        (["contradiction", "neutral"], "row 1.*'entailment', and 'neutral' by the column label_t"),
        (["Contradictory", "entailment"], None),
    ],
)
def test_names_beside_the_labels_are_compared(
    tmp_path: Path, beside: list[str], said: str | None
) -> None:
    table = _pairs_table(["contradiction", "entailment"])
    pq.write_table(table.append_column("label_text", [beside]), tmp_path / "in.parquet")
    if said is None:
        assert _changed_rows(tmp_path / "in.parquet", tmp_path / "out.csv", "swap") == [0]
        return
    with pytest.raises(InputError, match=said):
        _changed_rows(tmp_path / "in.parquet", tmp_path / "out.csv", "swap")


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], ["1", "0", "1", "-"], [1.0, 2.0, None, 1.0]])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_numbers_that_may_stand_for_anything_are_refused(
    tmp_path: Path, labels: list[Any], suffix: str
) -> None:
    """PAWS has 0 and 1, of which none is entailment."""
    source = tmp_path / f"in{suffix}"
    _write_pairs(source, labels)
    for phi in ("swap", "internalise", "internalise:connective=and"):
        with pytest.raises(InputError, match="which stand for other things in each data set"):
            _changed_rows(source, tmp_path / "out.parquet", phi)
    (first, *_) = [row for row, label in enumerate(labels) if label in {1, "1"}]
    assert first in _changed_rows(source, tmp_path / "out.parquet", "swap:symmetric=1")


def test_names_that_a_file_notes_are_those_of_its_numbers(tmp_path: Path) -> None:
    features = {"label": {"names": ["contradiction", "entailment"], "_type": "ClassLabel"}}
    note = {"huggingface": json.dumps({"info": {"features": features}})}
    table = _pairs_table([1, 0, 1, 0])
    pq.write_table(table.replace_schema_metadata(note), tmp_path / "in.parquet")
    assert _changed_rows(tmp_path / "in.parquet", tmp_path / "out.csv", "swap") == [1, 3]
    made = _transform("swap", table.replace_schema_metadata(note))
    assert made.changed.nonzero()[0].tolist() == [1, 3]
    # What is written notes them, too, or has them in the place of the numbers.
    assert _changed_rows(tmp_path / "in.parquet", tmp_path / "out.parquet", "swap") == [1, 3]
    before = read_corpus(tmp_path / "in.parquet")
    assert before.label_names == ("contradiction", "entailment")
    for suffix in (".parquet", ".csv", ".tsv", ".jsonl"):
        with plan("identity") as planned:
            transform_file(tmp_path / "in.parquet", tmp_path / f"out{suffix}", planned.build())
        after = read_corpus(tmp_path / f"out{suffix}")
        names = [[each.label_names[code] for code in each.labels] for each in (before, after)]
        assert names[0] == names[1]


@pytest.mark.parametrize(
    ("labels", "row"),
    [([0, 1, -1], None), ([0, 2, 1], 1), ([1, 0, 9], 2), ([1, -2, 0], 1)],
)
@pytest.mark.parametrize("kind", ["int64", "int8"])
def test_a_number_without_a_name_is_none(
    tmp_path: Path, labels: list[int], row: int | None, kind: str
) -> None:
    features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    note = {"huggingface": json.dumps({"info": {"features": features}})}
    source = tmp_path / "in.parquet"
    column = pa.array(labels, pa.type_for_alias(kind))
    table = _pairs_table(labels).set_column(2, "label", column)
    pq.write_table(table.replace_schema_metadata(note), source)
    _changed_rows(source, tmp_path / "out.parquet", "identity")
    if row is None:
        _changed_rows(source, tmp_path / "out.csv", "identity")
        assert (tmp_path / "out.csv").read_text().splitlines()[3].split(",")[2] == '"-1"'
        return
    with pytest.raises(
        InputError, match=rf"row {row}, column 'label': unknown label {labels[row]}"
    ):
        _changed_rows(source, tmp_path / "out.csv", "identity")


def test_numbers_without_a_sign_have_names_too(tmp_path: Path) -> None:
    features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    note = {"huggingface": json.dumps({"info": {"features": features}})}
    table = _pairs_table([0, 0, 0]).set_column(2, "label", pa.array([1, None, 0], pa.uint8()))
    pq.write_table(table.replace_schema_metadata(note), tmp_path / "in.parquet")
    _changed_rows(tmp_path / "in.parquet", tmp_path / "out.csv", "identity")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [line.split(",")[2] for line in lines] == ['"yes"', "", '"no"']


def _pairs_table(labels: list[Any]) -> pa.Table:
    n = len(labels)
    texts = {name: [f"{name} {row} sleeps." for row in range(n)] for name in COLUMNS}
    return pa.table({**texts, "label": labels})


def _write_pairs(path: Path, labels: list[Any]) -> None:
    table = _pairs_table(labels)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        frame = pd.DataFrame(table.to_pylist())
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def _changed_rows(source: Path, target: Path, phi: str) -> list[int]:
    with plan(phi) as planned:
        made = planned.build(Material(source=source))
        transform_file(source, target, made)
    with open_batches(target, columns=["changed"]) as reader:
        changed = pa.Table.from_batches(reader)["changed"].to_pylist()
    return [row for row, value in enumerate(changed) if str(value).lower() == "true"]


def test_a_pair_becomes_one_text() -> None:
    made = _transform("internalise", _table())
    pairs = _pairs(made)
    assert pairs[1] == ("True is true.", '"A man sleeps." implies that "Somebody sleeps".')
    assert made.changed.nonzero()[0].tolist() == [1]
    made = _transform("internalise:connective=and,premise=''", _table())
    both = '"A man sleeps." and "A man is awake." are both true descriptions of the same situation.'
    assert _pairs(made)[0] == ("", both)
    assert made.changed.nonzero()[0].tolist() == [0, 2, 6]


@pytest.mark.parametrize("connective", ["implies", "and"])
@pytest.mark.parametrize(
    ("text", "is_statement"),
    [
        ("A man is asleep", True),
        ("Whatever he does is right.", True),
        ("Letters were sent.", True),
        ("Oh, he is asleep.", True),
        ("Doing it is hard.", True),
        ("Is he asleep?", False),
        ("He is asleep? I doubt it.", False),
        ("do you have the basic plan", False),
        ("well, um do you have time", False),
        ("Don't go there.", False),
        ("Let's go outside.", False),
        ("Suppose you tell me.", False),
    ],
)
def test_questions_and_requests_are_left(text: str, is_statement: bool, connective: str) -> None:
    label = "entailment" if connective == "implies" else "neutral"
    table = _table([(text, "A man.", label), ("A man.", text, label)])
    made = _transform(f"internalise:connective={connective}", table)
    assert made.changed.tolist() == [is_statement, is_statement]


TEXTS = st.one_of(st.none(), st.text('ab é."\U0001f600', max_size=6))


@given(
    pairs=st.lists(
        st.tuples(TEXTS, TEXTS, st.sampled_from(["contradiction", "entailment", "neutral", None])),
        max_size=6,
    ),
    phi=st.sampled_from(
        ["swap", "swap:symmetric=all", "internalise", "internalise:connective=and,premise=''"]
    ),
)
def test_whatever_is_changed_can_be_undone(pairs: list[Any], phi: str) -> None:
    table = _table(pairs) if pairs else _table().slice(0, 0)
    made = _transform(phi, table)
    with plan(phi) as planned:
        plain = planned.build().transform(table, COLUMNS, with_edits=False)
    assert plain.edits is None
    assert plain.table.equals(made.table)
    differ = [new != tuple(old[:2]) for new, old in zip(_pairs(made), pairs, strict=True)]
    assert made.changed.tolist() == differ


def test_what_cannot_be_done_is_said() -> None:
    table = _table()
    with pytest.raises(InputError, match="no column label or gold_label; name it"):
        _build("swap").transform(table.drop_columns("label"), COLUMNS)
    with pytest.raises(
        InputError, match=r"two columns of labels, label and gold_label.*labels_in="
    ):
        _build("swap").transform(table.append_column("gold_label", table["label"]), COLUMNS)
    with pytest.raises(InputError, match="no such column of labels; there are premise"):
        _build("internalise:labels_in=gold").transform(table, COLUMNS)
    for labels, said in (
        (pa.nulls(7, pa.date32()), "integers or names, not of the type date32"),
        (pa.array([2, 0, 1.5, 2, 2, 2, 2]), "row 2, column 'label': swap: the label 1.5 is not an"),
    ):
        with pytest.raises(InputError, match=said):
            _build("swap").transform(table.set_column(2, "label", labels), COLUMNS)
    with pytest.raises(InputError, match="two columns of texts, not 1"):
        _build("swap").transform(table, ["premise"])
    with pytest.raises(ConfigError, match="connective"):
        plan("internalise:connective=or")


def _build(phi: str) -> Any:
    with plan(phi) as planned:
        return planned.build()
