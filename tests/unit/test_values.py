"""The doors for values: whatever a file holds is text, a label, an outcome, or one clear error."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.consistency.file import need_wordings
from ietest_fast.analyses.difficulty.file import mark_difficulty
from ietest_fast.answers import Predictions, read_predictions
from ietest_fast.corpus import read_corpus
from ietest_fast.corpus.labels import index_labels, label_key
from ietest_fast.errors import InputError
from ietest_fast.values import (
    as_finite,
    as_items,
    as_outcomes,
    as_texts,
    name_versions,
    read_ids,
    show_value,
)

DAY = dt.date(2020, 1, 2)
AS_TEXTS = {
    "int8": (pa.array([1, 2, None], pa.int8()), ["1", "2", None]),
    "uint64": (pa.array([2**63, 2, 3], pa.uint64()), [str(2**63), "2", "3"]),
    "whole floats": (pa.array([1.0, -2.0, None]), ["1", "-2", None]),
    "whole floats with NaN": (pa.array([1.0, float("nan"), 3.0]), ["1", None, "3"]),
    "floats": (pa.array([1.0, 2.5, 3.0]), ["1", "2.5", "3"]),
    "half floats": (pa.array(np.array([1, 2, 3], np.float16)), ["1", "2", "3"]),
    "decimals": (pa.array([decimal.Decimal("1.00"), None]), ["1", None]),
    "parts": (pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.00")]), ["1.50", "2.00"]),
    "bools": (pa.array([True, False]), ["true", "false"]),
    "dates": (pa.array([DAY, None]), ["2020-01-02", None]),
    "strings": (pa.array([" a", "b ", None]), [" a", "b ", None]),
    "large": (pa.array(["a", None], pa.large_string()), ["a", None]),
    "views": (pa.array(["a", None], pa.string_view()), ["a", None]),
    "categories": (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
    "categories of numbers": (pa.array([1.0, 2.0, 1.0]).dictionary_encode(), ["1", "2", "1"]),
    "a null category": (
        pa.array(["a", None]).dictionary_encode(null_encoding="encode"),
        ["a", None],
    ),
    "nulls": (pa.nulls(2), [None, None]),
    "nothing": (pa.array([], pa.int32()), []),
}
NO_TEXTS = {
    "binary": pa.array([b"a", b"b"]),
    "fixed": pa.array([b"a", b"b"], pa.binary(1)),
    "lists": pa.array([[1], [2]]),
    "objects": pa.array([{"a": 1}, {"a": 2}]),
    "maps": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int8())),
    "categories of lists": pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1]])),
}


@pytest.mark.parametrize("name", AS_TEXTS)
def test_values_of_any_type_are_texts(name: str) -> None:
    column, expected = AS_TEXTS[name]
    assert as_texts(column, path="p").to_pylist() == expected
    both = pa.chunked_array([column, column], column.type)
    assert as_texts(both, path="p").to_pylist() == expected * 2
    assert as_texts(pa.chunked_array([], column.type), path="p").to_pylist() == []


@pytest.mark.parametrize("name", NO_TEXTS)
@pytest.mark.parametrize("door", [as_texts, as_items, read_ids, name_versions])
def test_other_values_are_refused(door: Callable[..., object], name: str) -> None:
    with pytest.raises(InputError, match=r"p, column 'n': values are of type"):
        door(NO_TEXTS[name], path="p", name="n")


@pytest.mark.parametrize(
    ("ids", "rows", "message"),
    [
        (["1", "2", "1"], None, "one id occurs more than once: '1'; give"),
        ([1, 2, 1], [0, 1, 2], "one id occurs more than once: '1' (rows 0 and 2); give"),
        ([1, 2, 1], [5, 7, 9], "one id occurs more than once: '1' (rows 5 and 9); give"),
        (["b", "b", "b"], [0, 1, 2], "once: 'b' (rows 0 and 1, and 1 more); give"),
        (
            ["a", "a", "b", "b"],
            [0, 1, 2, 3],
            "2 ids occur more than once, such as 'a' (rows 0 and",
        ),
        (["a", None], [3, 8], "p, row 8, column 'n': a row has no id"),
        (["1", "1.0", "a"], [0, 1, 2], None),
    ],
)
def test_ids_that_are_there_twice_are_named(
    ids: list[object], rows: list[int] | None, message: str | None
) -> None:
    places = None if rows is None else np.array(rows)
    if message is None:
        assert len(read_ids(pa.array(ids), path="p", name="n", rows=places)) == len(ids)
        return
    with pytest.raises(InputError, match=re.escape(message)):
        read_ids(pa.array(ids), path="p", name="n", rows=places)


def test_versions_are_named_alike_or_refused() -> None:
    given = pa.array(["Original ", "syn", None, " Typo"])
    assert name_versions(given, path="p").to_pylist() == ["original", "syn", None, "Typo"]
    assert name_versions(pa.array([1, 2]), path="p").to_pylist() == ["1", "2"]
    for first, second in (("Original", "original "), ("syn", "SYN"), ("é", "e\u0301")):
        with pytest.raises(InputError, match=r"column 'version': .* name the same version"):
            name_versions(pa.array([first, second]), path="p")


SPELLINGS = {
    "yes": ["yes", "YES", " Yes ", "\tyes\n", "yes\u00a0"],
    "entailment": ["entails", "Entailed", "entail", "ENTAILMENT"],
    "contradiction": ["contradictory", "Contradicts", "contradict ", "contradiction"],
    "not_entailment": ["non-entailment", "Not-Entailment", "non_entailment"],
    "é": ["É", "e\u0301", "E\u0301 "],
    "straße": ["STRASSE", "Straße"],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_of_a_label_are_one_label(name: str) -> None:
    others = ["no", name, "other"]
    column = pa.chunked_array([SPELLINGS[name], ["what", None]])
    n = len(SPELLINGS[name])
    assert index_labels(column, others).to_pylist() == [1] * n + [None, None]
    assert {label_key(spelling) for spelling in SPELLINGS[name]} == {label_key(name)}


def long_table(**columns: object) -> pa.Table:
    own: dict[str, object] = {
        "item": ["a", "b", "a", "b"],
        "version": ["original", "original", "syn", "syn"],
        "gold": ["yes", "no", "yes", "no"],
        "predicted": ["YES", "No ", " yes", "YES"],
    }
    return pa.table(own | columns)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_answers_are_right_however_they_are_spelled(tmp_path: Path, suffix: str) -> None:
    from ietest_fast.corpus import BatchWriter

    table = long_table(version=["Original", "Original", "syn ", "syn "])
    path = tmp_path / f"p{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with BatchWriter(path, table.schema) as writer:
            writer.write(table)
    for found in (read_predictions(path), need_wordings(path).predictions):
        assert found.versions == ("original", "syn")
        assert found.correct.tolist() == [True, True, True, False]
        assert found.pairs("syn").n_flipped == 1


def test_spellings_are_one_label_unless_answers_are_free_texts() -> None:
    own = long_table(predicted=["YES", "no", "yes", "yes"])
    alike = own.append_column("correct", pa.array([True, True, True, False]))
    assert Predictions.from_table(alike).pairs("syn").n_flipped == 1
    apart = own.append_column("correct", pa.array([False, True, True, False]))
    with pytest.raises(InputError, match="contradicts the gold label 'yes' and the answer 'YES'"):
        Predictions.from_table(apart)
    texts = Predictions(table=apart)  # a log's, which has marked what a model wrote
    assert (texts.correct.tolist(), texts.pairs("syn").n_flipped) == (
        [False, True, True, False],
        None,
    )


def test_labels_that_are_numbers_of_several_types_agree() -> None:
    own = Predictions(table=long_table(gold=[1, 0, 1, 0], predicted=["1.0", "0", "0", "1"]))
    assert own.correct.tolist() == [True, True, False, False]
    own = Predictions(table=long_table(gold=[1.0, 0.0, 1.0, 0.0], predicted=[1, 0, 0, 1]))
    assert own.correct.tolist() == [True, True, False, False]


# Not all types can be written to Parquet.
WRITTEN = [*AS_TEXTS, *(name for name in NO_TEXTS if name != "categories of lists")]
WRITTEN.remove("a null category")


def repeat(values: pa.Array, n: int) -> pa.Array:
    rows = [row % len(values) if len(values) else None for row in range(n)]
    return pa.concat_arrays(
        [values.slice(row, 1) if row is not None else pa.nulls(1, values.type) for row in rows]
    )


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("column", ["item", "version", "gold", "predicted", "correct", "model"])
def test_tables_of_answers_hold_values_of_any_type_or_say_so(
    tmp_path: Path, column: str, name: str
) -> None:
    values = AS_TEXTS[name][0] if name in AS_TEXTS else NO_TEXTS[name]
    path = tmp_path / "p.parquet"
    pq.write_table(long_table(**{column: repeat(values, 4)}), path)
    for read in (Predictions.read, read_predictions, need_wordings):
        try:
            read(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize("name", WRITTEN)
def test_columns_of_labels_hold_labels_or_say_so(tmp_path: Path, name: str) -> None:
    values = AS_TEXTS[name][0] if name in AS_TEXTS else NO_TEXTS[name]
    columns = dict.fromkeys(("label", "original", "transformed"), repeat(values, 6))
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"text": [f"It rains {n}." for n in range(6)]} | columns), path)
    for read in (read_corpus, read_predictions, mark_difficulty):
        try:
            read(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017 - either is right


def test_whole_numbers_are_labels_in_every_type(tmp_path: Path) -> None:
    whole = pa.array([1, 0, 1, None])
    kinds = (pa.int8(), pa.float32(), pa.decimal128(24, 2))
    for labels in (whole.dictionary_encode(), *(whole.cast(kind) for kind in kinds)):
        path = tmp_path / "p.parquet"
        pq.write_table(pa.table({"text": list("abcd"), "label": labels}), path)
        corpus = read_corpus(path)
        assert (corpus.label_names, corpus.labels.tolist()) == (("0", "1"), [1, 0, 1])


@pytest.mark.parametrize("version", [[0, 1, 0, 1], [b"a", b"b", b"a", b"b"], [1.0, 2.0, 1.0, 2.0]])
def test_wordings_of_items_have_versions_of_any_type(tmp_path: Path, version: list[object]) -> None:
    n = 40
    table = pa.table(
        {
            "text": [f"It {'rains' if i % 3 else 'snows'} {i}." for i in range(n)],
            "label": [i // 2 % 2 for i in range(n)],
            "item": [i // 2 for i in range(n)],
            "version": version * (n // 4),
        }
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    if isinstance(version[0], bytes):
        with pytest.raises(InputError, match="column 'version': values are of type binary"):
            mark_difficulty(path, n_classifiers=2)
        return
    assert mark_difficulty(path, n_classifiers=2).n_items == n // 2


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a", "'a'"), ("x" * 5000, "'" + "x" * 59 + "..."), (None, "null"), (True, "true"),
     ({"a": [1, "é"]}, '{"a": [1, "é"]}'), ([1] * 99, "[" + "1, " * 19 + "1,..."), (1.5, "1.5")],
)  # fmt: skip
def test_values_are_shown_cut(value: object, shown: str) -> None:
    assert show_value(value) == shown


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0), (-0.5, -0.5), (10**400, None), (float("nan"), None), (float("inf"), None),
        (True, None), ("1", None), (None, None), ([1], None),
    ],
)  # fmt: skip
def test_numbers_of_foreign_files_are_finite(value: object, number: float | None) -> None:
    assert as_finite(value) == number


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.string()])
@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7, 0.8])
def test_a_threshold_is_rounded_as_the_scores_are(kind: pa.DataType, threshold: float) -> None:
    scores = np.round(np.arange(0, 1, 0.1), 1)
    written = pa.array(scores.tolist()).cast(pa.string())
    column = written if kind == pa.string() else written.cast(pa.float64()).cast(kind)
    found = as_outcomes(pa.chunked_array([column]), path="x", name="s", threshold=threshold)
    assert found.to_pylist() == (scores >= threshold).tolist()


def test_a_threshold_that_a_column_cannot_hold_is_not_reached() -> None:
    column = pa.chunked_array([pa.array([1.0, 60_000.0, None], pa.float16())])
    found = as_outcomes(column, path="x", name="s", threshold=1e9)
    assert found.to_pylist() == [False, False, None]
