"""Buckets: read from long tables, and what is wrong with them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses.consistency.buckets import Buckets, buckets_from_table, read_buckets
from ietest_fast.errors import InputError
from ietest_fast.values import rank_within

ROWS = [
    ("q1", "A dog runs.", "pos"),
    ("q2", "It rains.", "neg"),
    ("q1", "A hound runs.", "pos"),
    ("q1", "A dog is running.", "pos"),
    ("q3", "All is well.", "pos"),
    ("q2", "Rain falls.", "neg"),
]


def table(rows=ROWS, **more):
    item, text, label = zip(*rows, strict=True)
    return {"item": list(item), "text": list(text), "label": list(label), **more}


def test_the_first_row_of_an_item_is_its_original():
    buckets = buckets_from_table(table())
    assert buckets.table["version"].to_pylist() == [
        "original",
        "original",
        "paraphrase",
        "paraphrase#2",
        "original",
        "paraphrase",
    ]
    assert buckets.items.to_pylist() == ["q1", "q2", "q3"]
    assert buckets.codes.tolist() == [0, 1, 0, 0, 2, 1]
    assert buckets.sizes.tolist() == [3, 2, 1]
    assert buckets.n_paraphrases.tolist() == [2, 1, 0]
    assert len(buckets) == buckets.n_buckets == 3
    assert (buckets.n_alone, buckets.n_without_paraphrases, buckets.n_without_original) == (1, 1, 0)
    assert buckets.find_originals().tolist() == [0, 1, 0, 0, 4, 1]
    assert buckets.label_names == ("neg", "pos")
    assert "3 items in 6 wordings, 1 of them with one wording" in repr(buckets)


def test_a_column_names_the_versions():
    versions = ["original", "a", "b", "c", "original", "b"]
    buckets = buckets_from_table(table(version=versions))
    assert buckets.table["version"].to_pylist() == versions
    assert buckets.is_original.tolist() == [True, False, False, False, True, False]
    assert buckets.n_without_original == 1
    assert buckets.find_originals().tolist() == [0, -1, 0, 0, 4, -1]


def test_buckets_are_a_corpus_that_a_model_can_answer():
    corpus = buckets_from_table(table()).as_corpus()
    assert corpus.text_columns == ("text",)
    assert len(corpus) == 6
    assert corpus.labels.tolist() == [1, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_files_give_what_tables_give(tmp_path, suffix):
    path = tmp_path / f"b.{suffix}"
    rows = pa.table(table(source=["x"] * 6))
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    elif suffix == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(rows, path)
    else:
        import pyarrow.csv as pacsv

        pacsv.write_csv(rows, path)
    found = read_buckets(path, keep_columns=("source",))
    wanted = buckets_from_table(rows, keep_columns=("source",))
    assert found.table.to_pylist() == wanted.table.to_pylist()
    assert found.table["source"].to_pylist() == ["x"] * 6


def test_other_names_of_columns_are_taken(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("id,how,sentence,gold_label\n7,original,A.,1\n7,x,B.,1\n8,x,C.,0\n")
    buckets = read_buckets(path, item_column="id", version_column="how")
    assert buckets.table["item"].to_pylist() == ["7", "7", "8"]
    assert buckets.table["version"].to_pylist() == ["original", "x", "x"]
    assert buckets.n_without_original == 1


def test_numbers_are_items():
    buckets = buckets_from_table({"item": [3, 3, 1], "text": list("abc"), "label": [0, 0, 1]})
    assert buckets.table["item"].type == pa.int64()
    assert buckets.items.to_pylist() == [3, 1]


def test_items_whose_every_row_is_dropped_are_counted(tmp_path):
    rows = [*ROWS[:5], ("q4", "Who knows?", "-"), ("q4", "Nobody knows.", "-"), ("q1", "Eh?", "-")]
    buckets = buckets_from_table(table(rows))
    assert buckets.dropped == {"no gold label": 3}
    assert buckets.n_empty == 1
    assert buckets.n_buckets == 3
    path = tmp_path / "b.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pa.table(table(rows)).to_pylist()))
    found = read_buckets(path)
    assert (found.n_empty, found.dropped) == (1, {"no gold label": 3})


def test_no_paraphrase_takes_the_place_of_an_original_that_was_dropped(tmp_path):
    rows = [("q1", "A dog runs.", "-"), *ROWS[1:3], ("q1", "Eh?", "-"), *ROWS[3:]]
    path = tmp_path / "b.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pa.table(table(rows)).to_pylist()))
    for buckets in (buckets_from_table(table(rows)), read_buckets(path)):
        found = zip(*(buckets.table[name].to_pylist() for name in ("text", "version")), strict=True)
        assert dict(found) == {
            "It rains.": "original",
            "A hound runs.": "paraphrase",
            "A dog is running.": "paraphrase#3",
            "All is well.": "original",
            "Rain falls.": "paraphrase",
        }
        assert (buckets.n_without_original, buckets.n_empty) == (1, 0)


def test_mixed_labels_are_refused():
    rows = [*ROWS, ("q2", "It pours.", "pos")]
    with pytest.raises(InputError, match=r"1 item has wordings with different labels:"):
        buckets_from_table(table(rows))


def test_ids_that_are_there_twice_are_refused():
    versions = ["original", "a", "b", "b", "original", "b"]
    with pytest.raises(
        InputError, match=r"1 wording is there more than once: version 'b' of item 'q1'"
    ):
        buckets_from_table(table(version=versions))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": ["a", None, "a", "a", "b", "b"]}, r"row 1, column 'item': 1 row has none"),
        ({"item": [[1]] * 6}, r"column 'item': values are of type list"),
        ({"version": [1] * 6}, r"wordings are there more than once: version '1'"),
        ({"version": [None] * 6}, r"column 'version'"),
        ({"text": ["a", None, "a", "a", "b", "b"]}, r"row 1, column 'text': the text is missing"),
        ({"label": ["-"] * 6}, r"no rows are left: no gold label in 6 rows"),
    ],
)
def test_tables_that_are_not_buckets_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        buckets_from_table(table() | change)


def test_missing_columns_are_named(tmp_path):
    with pytest.raises(InputError, match=r"column 'item': there is no such column"):
        buckets_from_table({"items": ["a"], "text": ["x"], "label": [0]})
    path = tmp_path / "b.csv"
    path.write_text("Item,text,label\na,b,1\n")
    with pytest.raises(InputError, match="did you mean 'Item'"):
        read_buckets(path)
    with pytest.raises(InputError, match="cannot be kept under this name"):
        buckets_from_table(table(id=list("abcdef")), item_column="id", keep_columns=("item",))


def test_ranks_count_from_nought_in_each_code():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 7, 200)
    seen: dict[int, int] = {}
    wanted = []
    for code in codes.tolist():
        wanted.append(seen.get(code, 0))
        seen[code] = wanted[-1] + 1
    assert rank_within(codes).tolist() == wanted


def test_an_empty_table_is_no_buckets(tmp_path):
    whole = buckets_from_table(table())
    with pytest.raises(InputError, match="there are no buckets"):
        Buckets(
            table=whole.table.slice(0, 0), text_columns=("text",), label_names=whole.label_names
        )
    path = tmp_path / "e.csv"
    path.write_text("item,text,label\n")
    with pytest.raises(InputError, match="no rows are left"):
        read_buckets(path)


def test_published_paraphrases_are_buckets(shared):
    """ParaNLU's human paraphrases of δ-SNLI, written as a long table."""
    import gzip

    source = shared / "data" / "paranlu" / "snli_paraphrases_human.json.gz"
    published = json.loads(gzip.decompress(source.read_bytes()))
    rows = []
    for item, paraphrases in published.items():
        if paraphrases:
            first = paraphrases[0]["original_example"]
            rows.append((item, first["update"], first["update_type"]))
        rows += [
            (item, each["update_paraphrase"], each["original_example"]["update_type"])
            for each in paraphrases
        ]
    buckets = buckets_from_table(table(rows))
    n = sum(len(each) for each in published.values())
    assert buckets.n_buckets == len(published) == 250
    assert int(buckets.n_paraphrases.sum()) == n
    assert buckets.n_paraphrases.tolist() == [len(each) for each in published.values()]


def test_mixed_labels_are_left_out_and_counted_if_asked():
    rows = [*ROWS, ("q2", "It pours.", "pos")]
    found = buckets_from_table(table(rows), drop_mixed=True)
    assert found.n_mixed == 1
    assert "q2" not in found.items.to_pylist()
    assert found.n_buckets == buckets_from_table(table(ROWS)).n_buckets - 1
