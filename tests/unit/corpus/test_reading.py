from __future__ import annotations

import gzip
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.corpus import (
    Corpus,
    corpus_from_table,
    read_corpora,
    read_corpus,
    require_trainable,
)
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = [
    ("A man sleeps.", 'He says "no".', "entailment"),
    ("Two dogs, one cat", "zero\x00byte", "neutral"),
    ("Größe\n", "n/a", "contradiction"),
    ("A man sleeps.", "NA", "entailment"),
]
CODES = [0, 1, 2, 0]


def texts(corpus: Corpus) -> list[tuple[str, ...]]:
    columns = [corpus.texts(name).to_pylist() for name in corpus.text_columns]
    return list(zip(*columns, strict=True))


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("by_name", [True, False])
def test_reads_jsonl(tmp_path: Path, by_name: bool) -> None:
    rows = [
        {"premise": p, "hypothesis": h, "label": name if by_name else code, "other": [1, {"a": 2}]}
        for (p, h, name), code in zip(PAIRS, CODES, strict=True)
    ]
    corpus = read_corpus(write_jsonl(tmp_path / "a.jsonl", rows))
    assert texts(corpus) == [(p, h) for p, h, _ in PAIRS]
    assert corpus.labels.tolist() == CODES
    assert corpus.labels.dtype == np.int8
    assert corpus.label_names == ("entailment", "neutral", "contradiction")
    assert corpus.dropped == {}
    assert corpus.table.column_names == ["premise", "hypothesis", "label"]


def test_reads_jsonl_with_labels_of_two_types(tmp_path: Path) -> None:
    rows = [
        {"premise": "a", "hypothesis": "b", "label": 0},
        {"premise": "c", "hypothesis": "d", "label": "-"},
        {"premise": "e", "hypothesis": "f", "label": "Neutral"},
        {"premise": "g", "hypothesis": "h"},
    ]
    corpus = read_corpus(write_jsonl(tmp_path / "a.jsonl", rows))
    assert corpus.labels.tolist() == [0, 1]
    assert corpus.dropped == {"no gold label": 1, "label missing": 1}


def test_reads_csv_with_quotes_line_ends_and_commas(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'\xef\xbb\xbfpremise,hypothesis,label\r\n"a, ""b""","c\nd",entailment\r\n\r\n'
        b'NA,"",CONTRADICTION\r\n'
    )
    corpus = read_corpus(path)
    assert texts(corpus) == [('a, "b"', "c\nd"), ("NA", "")]
    assert corpus.labels.tolist() == [0, 2]


def test_quotes_are_ordinary_characters_in_tsv(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(
        'index\tsentence1\tsentence2\tgold_label\n0\t"Yes he said\t"No"\tneutral\n'
        "1\tA'b\tc\tentailment\n",
        encoding="utf-8",
    )
    corpus = read_corpus(path)
    assert texts(corpus) == [('"Yes he said', '"No"'), ("A'b", "c")]
    assert corpus.text_columns == ("premise", "hypothesis")
    quoted = tmp_path / "b.tsv"
    quoted.write_text('text\tlabel\n"a\tb"\tx\n', encoding="utf-8")
    assert texts(read_corpus(quoted, quoted=True)) == [("a\tb",)]


def test_reads_the_original_snli_files(tmp_path: Path) -> None:
    rows = [
        ("neutral", "A man plays.", "A man wins.", ["neutral"]),
        ("-", "A man plays.", "A boy.", ["neutral", "entailment"]),
        ("contradiction", "Dogs run.", "Dogs sleep.", ["contradiction"] * 5),
    ]
    jsonl = write_jsonl(
        tmp_path / "snli_1.0_dev.jsonl",
        [
            {
                "annotator_labels": labels,
                "captionID": "1.jpg#0",
                "gold_label": gold,
                "pairID": "1.jpg#0r1n",
                "sentence1": first,
                "sentence1_binary_parse": "( A man )",
                "sentence2": second,
            }
            for gold, first, second, labels in rows
        ],
    )
    text = tmp_path / "snli_1.0_dev.txt"
    header = (
        "gold_label sentence1_parse sentence1 sentence2 pairID label1 label2 label3 label4 label5"
    )
    lines = [header.split()]
    for gold, first, second, labels in rows:
        # Single annotators' columns at the end are often left out.
        lines.append([gold, '(ROOT ("A))', first, second, "1.jpg", *labels])
    text.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    for path in (jsonl, text):
        corpus = read_corpus(path)
        assert texts(corpus) == [("A man plays.", "A man wins."), ("Dogs run.", "Dogs sleep.")]
        assert corpus.labels.tolist() == [1, 2]
        assert corpus.dropped == {"no gold label": 1}
    assert read_corpus(jsonl).fingerprint == read_corpus(text).fingerprint


def test_reads_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"sentence,label\na,1\nb,0\n")
    corpus = read_corpus(path)
    assert texts(corpus) == [("a",), ("b",)]
    assert corpus.text_columns == ("text",)


def test_a_line_longer_than_a_block_is_read(tmp_path: Path) -> None:
    long = "x" * (9 << 20)
    path = write_jsonl(
        tmp_path / "a.jsonl", [{"text": long, "label": 0}, {"text": "y", "label": 1}]
    )
    assert texts(read_corpus(path))[0] == (long,)
    path = tmp_path / "a.csv"
    path.write_text(f"text,label\n{long},0\ny,1\n", encoding="utf-8")
    assert texts(read_corpus(path))[0] == (long,)


def test_parquet_may_hold_dictionaries_floats_and_names_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "sentence1": pa.array(["a", "b", "a"]).dictionary_encode(),
            "sentence2": pa.array(["c", "d", "e"], pa.large_string()),
            "label": pa.array([1.0, float("nan"), 0.0]),
        }
    )
    features = {"info": {"features": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(features)}), path)
    corpus = read_corpus(path)
    assert corpus.label_names == ("no", "yes")
    assert corpus.labels.tolist() == [1, 0]
    assert corpus.dropped == {"label missing": 1}
    assert texts(corpus) == [("a", "c"), ("a", "e")]
    features["info"]["features"]["label"]["names"] = ["no", "No"]
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(features)}), path)
    with pytest.raises(
        InputError, match=r"a.parquet, column 'label': label names: 'no' is there 2"
    ):
        read_corpus(path)


def noted(path: Path, names: list[str], labels: list[Any]) -> Path:
    """Write a file whose numbers have the names that the datasets library notes."""
    table = pa.table({"text": [f"text {n}" for n in range(len(labels))], "label": labels})
    about = {"info": {"features": {"label": {"names": names, "_type": "ClassLabel"}}}}
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(about)}), path)
    return path


@pytest.mark.parametrize(
    ("first", "second", "labels", "codes"),
    [
        (["no", "yes"], ["yes", "no"], [0, 0, 1], [1, 1, 0]),
        (["no", "yes"], ["Yes", "NO "], [0, None, 1], [1, 0]),
        (["no", "yes"], ["yes", "no"], [0.0, float("nan"), 1.0], [1, 0]),
        (["no", "yes", "so"], ["so", "yes"], [0, 1, -1], [2, 1]),
        (["no", "yes"], ["LABEL_0", "LABEL_1"], [0, 1, 1], [0, 1, 1]),
        (["0", "1"], ["bad", "good"], [0, 1, 1], [0, 1, 1]),
        (["no", "yes"], ["bad", "good"], [0, 1], "unknown label 'bad'"),
        (["no", "yes"], ["no", "so", "yes"], [0, 1], "unknown label 'so'"),
        (["no", "yes", "so"], ["no", "yes"], [0, 2], "row 1, .* unknown label 2; the file names n"),
        (["no", "yes", "so"], ["yes", "no"], [2.0, None], "row 0, .* unknown label 2; the file na"),
        (["no", "yes", "so"], ["yes", "no"], [0, -2], "row 1, .* unknown label -2; the file names"),
    ],
)
def test_names_of_labels_count_where_files_number_them_differently(
    first: list[str], second: list[str], labels: list[Any], codes: Any, tmp_path: Path
) -> None:
    paths = [noted(tmp_path / "a.parquet", first, [0, 1] if len(first) == 2 else [0, 1, 2])]
    paths.append(noted(tmp_path / "b.parquet", second, labels))
    if isinstance(codes, str):
        with pytest.raises(InputError, match=codes):
            read_corpora(paths)
        return
    corpora = read_corpora(paths)
    assert corpora[1].label_names == tuple(first)
    assert corpora[1].labels.tolist() == codes
    # What the user names is one of these, too.
    assert read_corpus(paths[1], label_names=first).labels.tolist() == codes


def test_whoever_names_labels_may_name_more_than_the_file(tmp_path: Path) -> None:
    path = noted(tmp_path / "a.parquet", ["no", "yes"], [0, 2, 1])
    with pytest.raises(InputError, match="row 1, column 'label': unknown label '2'"):
        read_corpus(path)
    assert read_corpus(path, label_names=["No", "yes", "so"]).labels.tolist() == [0, 2, 1]
    with pytest.raises(InputError, match="unknown label 2; the file names no, yes as 0 to 1"):
        read_corpus(path, label_names=["yes", "no", "so"])


@pytest.mark.parametrize(
    ("labels", "name", "beside", "names"),
    [
        ([1, 0, 1, 0], "label_text", ["pos", "neg", "pos", "neg"], ("neg", "pos")),
        (["1", "0", "-", "0"], "label_str", ["pos", "neg", "neg", ""], ("neg", "pos")),
        ([0, 1, 2, 0], "label_name", ["a", "b", "b", "a"], ("0", "1", "2")),  # fewer names
        ([1, 3, 1, 3], "label_text", ["a", "b", "a", "b"], ("1", "3")),  # not from 0
        ([1, 0, 1, 0], "genre", ["a", "b", "a", "a"], ("0", "1")),
        ([1, 0, 1, 0], "label_text", ["0", "1", "0", "0"], None),
        ([1, 0, 1, 0], "label_text", ["pos", "neg", "neg", "neg"], None),
    ],
)
def test_numbers_are_named_by_the_column_beside_them(
    labels: list[Any], name: str, beside: list[str], names: tuple[str, ...] | None
) -> None:
    table = pa.table({"text": list("abcd"), "label": labels, name: beside})
    if names is None:
        with pytest.raises(InputError, match=f"by the column {name}"):
            corpus_from_table(table)
        return
    corpus = corpus_from_table(table)
    assert corpus.label_names == names
    assert corpus_from_table(table, label_names=("x", "y", "z", "w")).label_names[0] == "x"
    # In the other parts of a dataset, too.
    other = table.set_column(1, "label", pa.array([str(1 - int(each)) for each in "1010"]))
    if names == ("neg", "pos"):
        with pytest.raises(InputError, match=f"by the column {name}"):
            corpus_from_table(other, like=corpus)
        assert corpus_from_table(table, like=corpus).labels.tolist() == corpus.labels.tolist()


def test_pairs_of_which_some_labels_occur_have_all_names_of_nli() -> None:
    columns = {"premise": list("ab"), "hypothesis": list("cd"), "label": [0, 1]}
    named = corpus_from_table(pa.table({**columns, "label_text": ["Entailment", "neutral"]}))
    assert named.label_names == ("entailment", "neutral", "contradiction")


def test_parts_of_a_dataset_name_their_numbers_alike(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,label,label_text\na,1,positive\nb,0,negative\n")
    (tmp_path / "b.csv").write_text("text,label,label_text\nc,1,positive\n")
    (tmp_path / "c.csv").write_text("text,label,label_text\nc,0,positive\nd,1,negative\n")
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    assert [corpus.labels.tolist() for corpus in read_corpora(paths)] == [[1, 0], [1]]
    with pytest.raises(InputError, match=r"c.csv, line 2.*'negative', and 'positive' by"):
        read_corpora([*paths, tmp_path / "c.csv"])


@pytest.mark.parametrize(
    ("labels", "name", "beside", "told"),
    [
        ("012012", "label_text", "enc", None),
        ("012012", "label_text", "nce", "'entailment', and 'neutral' by the column label_text.*6"),
        ("encenc", "gold", "cen", "column 'label': the label is 'entailment', and 'contradiction'"),
        ("012012", "gold", "120", "'entailment', and 'neutral' by the column gold"),
        ("010101", "label_name", "en", None),
        ("012012", "label_name", "xyz", None),
        ("012012", "label_str", "-nc", None),
        ("encenc", "gold", "abc", None),  # a translation
        ("encenc", "gold", "eba", None),
        ("encenc", "label_text", "ecn", "'neutral', and 'contradiction' by the column label_text"),
    ],
)
def test_columns_that_name_labels_otherwise_are_refused(
    labels: str, name: str, beside: str, told: str | None, tmp_path: Path
) -> None:
    words = {"e": "entailment", "n": "neutral", "c": "contradiction"}
    columns = {
        "premise": [f"A {n}" for n in range(6)],
        "hypothesis": [f"B {n}" for n in range(6)],
        "label": [words.get(each, each) for each in labels],
        name: [words.get(beside[n % len(beside)], beside[n % len(beside)]) for n in range(6)],
    }
    path = tmp_path / "a.csv"
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")

    for read, data in ((read_corpus, path), (corpus_from_table, pa.table(columns))):
        if told is None:
            assert len(read(data)) == 6
            continue
        with pytest.raises(InputError, match=told):
            read(data)
        # Whoever names the labels says what the numbers mean.
        assert len(read(data, label_names=tuple(words.values()))) == 6


@pytest.mark.parametrize(
    ("labels", "name", "beside", "n"),
    [
        ("encenc", "true_label", "nce", 6),
        ("encenc", "y_true", "eccenc", 1),
        ("012012", "ground_truth", "nce", 6),
        ("encenc", "ground_truth", "120", 6),
        ("abaaba", "true_label", "baa", 4),
        ("encenc", "true_label", "enc", 0),
        ("encenc", "y_true", "012", 0),
        ("abaaba", "y_true", "101", 0),  # which number is which is not known
        ("encenc", "ground_truth", "xyz", 0),
        ("encenc", "true_label", "-nc", 0),
        ("encenc", "target", "nce", 6),
        ("encenc", "target", "xyz", 0),
        ("ababab", "label_id", "010100", 1),
        ("ababab", "label_id", "010101", 0),
        ("ababab", "label_id", "001100", 0),
    ],
)
def test_other_columns_of_right_answers_are_compared(
    labels: str, name: str, beside: str, n: int, tmp_path: Path
) -> None:
    words = {"e": "entailment", "n": "neutral", "c": "contradiction"}
    columns = {
        "premise": [f"A {n}" for n in range(6)],
        "hypothesis": [f"B {n}" for n in range(6)],
        "label": [words.get(each, each) for each in labels],
        name: [words.get(beside[n % len(beside)], beside[n % len(beside)]) for n in range(6)],
    }
    path = tmp_path / "a.csv"
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    for read, data in ((read_corpus, path), (corpus_from_table, pa.table(columns))):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert len(read(data)) == 6
            read(data, label_names=tuple(dict.fromkeys(columns["label"])))
        assert [
            f"{name} is another label than label in {n} row" in str(each.message) for each in said
        ] == [True] * (n > 0)


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        (["pos", "neg", "Pos "], ("neg", "pos"), [1, 0, 1]),
        ([5, 1, 3], ("1", "3", "5"), [2, 0, 1]),
        (["10", "9", "10"], ("9", "10"), [1, 0, 1]),
        ([True, False, True], ("false", "true"), [1, 0, 1]),
    ],
)
def test_finds_the_labels_of_other_tasks(
    labels: list[object], names: tuple[str, ...], codes: list[int]
) -> None:
    table = pa.table({"text": ["a", "b", "c"], "label": labels})
    corpus = corpus_from_table(table, text_columns=["text"])
    assert corpus.label_names == names
    assert corpus.labels.tolist() == codes


@pytest.mark.parametrize(
    "labels", [("entailment", "not_entailment"), ("contradiction", "non-contradiction")]
)
def test_pairs_with_two_way_labels_keep_them(labels: tuple[str, str]) -> None:
    table = pa.table({"a": ["x", "y"], "b": ["x", "y"], "label": labels[::-1]})
    corpus = corpus_from_table(table, text_columns=["a", "b"])
    assert corpus.label_names == labels


def test_a_name_is_looked_up_before_an_index() -> None:
    table = pa.table({"text": ["a", "b"], "label": [-1, 1]})
    corpus = corpus_from_table(table, text_columns=["text"], label_names=["-1", "1"])
    assert corpus.labels.tolist() == [0, 1]
    assert corpus.dropped == {}


def test_an_integer_is_no_index_into_integers(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("text,label\na,1\nb,2\nc,3\n", encoding="utf-8")
    test.write_text("text,label\na,3\nb,0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 3.*unknown label '0'; expected one of: 1, 2, 3,"):
        read_corpora([train, test])
    table = pa.table({"text": ["a", "b"], "label": ["01", "02"]})
    assert corpus_from_table(table, text_columns=["text"]).labels.tolist() == [0, 1]
    mixed = pa.table({"text": ["a"], "label": [1]})
    with pytest.raises(InputError, match="unknown label '1'"):
        corpus_from_table(mixed, text_columns=["text"], label_names=["none", "5"])


def test_splits_share_the_labels_of_the_first(tmp_path: Path) -> None:
    train, test, other = (tmp_path / f"{name}.csv" for name in ("train", "test", "other"))
    train.write_text("text,label\na,x\nb,y\nc,z\n", encoding="utf-8")
    test.write_text("text,label\na,z\n", encoding="utf-8")
    other.write_text("text,label\na,z\nb,w\n", encoding="utf-8")
    assert read_corpora([train, test])[1].labels.tolist() == [2]
    with pytest.raises(InputError, match=r"line 3.*'label'.*unknown label 'w'"):
        read_corpora([train, other])


def test_the_last_split_keeps_more_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label,id,annotator\na,x,1,p\nb,y,2,q\n", encoding="utf-8")
    # The same file may be given twice.
    corpora = read_corpora([path, path], keep_columns=["id"], keep_in_last=["annotator", "id"])
    assert [corpus.table.column_names for corpus in corpora] == [
        ["text", "label", "id"],
        ["text", "label", "id", "annotator"],
    ]


def test_one_text_column_may_be_given_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("body,label\na,x\nb,y\n", encoding="utf-8")
    assert read_corpus(path, text_columns="body").text_columns == ("body",)


def test_missing_texts_can_be_dropped_and_are_counted(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "a.jsonl",
        [
            {"text": None, "label": 7},
            {"text": "a", "label": None},
            {"text": "b", "label": 1},
            {"text": "c", "label": 0},
        ],
    )
    corpus = read_corpus(path, missing_text="drop")
    assert corpus.dropped == {"text missing": 1, "label missing": 1}
    assert texts(corpus) == [("b",), ("c",)]


def test_keeps_columns_and_names_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,q,a,kind\n1,x,y,yes\n2,z,w,no\n", encoding="utf-8")
    corpus = read_corpus(path, text_columns=["q", "a"], label_column="kind", keep_columns=["id"])
    assert corpus.table.column_names == ["q", "a", "label", "id"]
    assert corpus.is_pair
    with pytest.raises(InputError, match="asked for twice"):
        read_corpus(path, text_columns=["q", "q"], label_column="kind")


def test_take_keeps_order_and_repeats(tmp_path: Path) -> None:
    table = pa.table({"text": ["a", "b", "c"], "label": [0, 1, 0]})
    corpus = corpus_from_table(table, text_columns=["text"])
    assert texts(corpus.take([2, 0, 2])) == [("c",), ("a",), ("c",)]
    assert len(corpus.take([])) == 0
    with pytest.raises(InputError, match="integers"):
        corpus.take(np.array([True, False, True]))


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"text": ["a"]}, "0 times"),
        ({"text": [1], "label": pa.array([0], pa.int8())}, "text expected"),
        ({"text": ["a"], "label": [0]}, "int8 expected"),
        ({"text": [None, "a"], "label": pa.array([0, 0], pa.int8())}, "1 nulls"),
        ({"text": ["a"], "label": pa.array([2], pa.int8())}, "from 2 to 2"),
    ],
)
def test_a_corpus_cannot_be_made_wrongly(table: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Corpus(table=pa.table(table), text_columns=("text",), label_names=("x", "y"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_labels_written_as_floats_are_integers(tmp_path: Path, suffix: str) -> None:
    floats, integers = tmp_path / f"floats{suffix}", tmp_path / f"integers{suffix}"
    if suffix == ".csv":
        floats.write_text("text,label\na,0.0\nb,2.0\nc,-1.0\nd,1.0\ne,\n", encoding="utf-8")
        integers.write_text("text,label\na,0\nb,2\nc,-1\nd,1\ne,\n", encoding="utf-8")
    else:
        labels = [0, 2, -1, 1, None]
        for path, kind in ((floats, pa.float16()), (integers, pa.int64())):
            pq.write_table(pa.table({"text": list("abcde"), "label": pa.array(labels, kind)}), path)
    train = read_corpus(floats)
    assert train.label_names == ("0", "1", "2")
    assert train.labels.tolist() == [0, 2, 1]
    assert train.dropped == {"no gold label": 1, "label missing": 1}
    assert read_corpus(integers, label_names=train.label_names).fingerprint == train.fingerprint


def test_decimals_are_names_and_not_integers() -> None:
    table = pa.table({"text": ["a", "b", "c"], "label": ["1.0", "2.5", "2.0"]})
    corpus = corpus_from_table(table)
    assert corpus.label_names == ("1.0", "2.0", "2.5")
    later = pa.table({"text": ["a"], "label": ["2.0"]})
    assert corpus_from_table(later, label_names=corpus.label_names).labels.tolist() == [1]
    unknown = pa.table({"text": ["a"], "label": ["0.0"]})
    with pytest.raises(InputError, match=r"unknown label '0.0'"):
        corpus_from_table(unknown, label_names=corpus.label_names)


@pytest.mark.parametrize(
    ("names", "problem"),
    [(["a", "b", "A "], "'a' is there 2 times"), (["a", " "], r"one of \[\"a\", \" \"\] is empty")],
)
def test_each_label_needs_a_name_of_its_own(names: list[str], problem: str) -> None:
    table = pa.table({"text": ["x"], "label": ["a"]})
    with pytest.raises(InputError, match=problem):
        corpus_from_table(table, label_names=names)


def test_a_label_in_memory_has_to_be_utf8() -> None:
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"b\xff"]).buffers())
    table = pa.table({"text": ["x", "y"], "label": broken})
    with pytest.raises(InputError, match=r"row 1, column 'label': the label is not UTF-8"):
        corpus_from_table(table)


def test_a_text_can_be_kept_as_the_column_of_clusters_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis,label\na,b,neutral\nc,d,1\n", encoding="utf-8")
    corpus = read_corpus(path, keep_columns=["premise"])
    assert corpus.table.column_names == ["premise", "hypothesis", "label"]

    path.write_text("sentence1,sentence2,label\na,b,neutral\nc,d,1\n", encoding="utf-8")
    assert read_corpus(path, keep_columns=["premise"]).table.column_names[0] == "premise"
    corpus = read_corpus(path, keep_columns=["sentence1"])
    assert corpus.text_columns == ("premise", "hypothesis")
    assert corpus.table.column("sentence1").to_pylist() == ["a", "c"]


def test_one_class_reads_but_cannot_be_trained_on(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("premise,hypothesis,label\na,b,neutral\nc,d,1\ne,f,-1\n", encoding="utf-8")
    corpus = read_corpus(path)
    with pytest.raises(InputError, match="all 2 rows have one, neutral; 1 row dropped"):
        require_trainable(corpus)
    require_trainable(
        corpus_from_table(pa.table({"t": ["a", "b"], "label": [0, 1]}), text_columns=["t"])
    )


def test_the_fingerprint_is_that_of_the_content() -> None:
    table = pa.table({"text": ["a", "bc", "", "d"], "label": [0, 1, 0, 1]})
    corpus = corpus_from_table(table, text_columns=["text"])
    whole = corpus.fingerprint
    assert len(whole) == 64
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 3)])
    large = chunked.cast(pa.schema([("text", pa.large_string()), ("label", pa.int64())]))
    for same in (chunked, large, table.rename_columns(["x", "label"])):
        name = same.column_names[0]
        assert corpus_from_table(same, text_columns=[name]).fingerprint == whole
    for texts_, labels in (
        (["ab", "c", "", "d"], [0, 1, 0, 1]),
        (["a", "bc", "d", ""], [0, 1, 0, 1]),
        (["a", "bc", "", "d"], [0, 1, 1, 1]),
    ):
        other = pa.table({"text": texts_, "label": labels})
        assert corpus_from_table(other, text_columns=["text"]).fingerprint != whole
    renamed = corpus_from_table(table, text_columns=["text"], label_names=["n", "y"])
    assert renamed.fingerprint != whole


def test_reads_real_pairs(shared: Path) -> None:
    corpus = read_corpus(shared / "data" / "snli" / "train.parquet")
    assert len(corpus) == 29_622
    assert corpus.label_counts.sum() == 29_622


@pytest.mark.parametrize("line", ["0.1 0.9", "1", "0,1", "0.5\t1e-5"])
def test_a_file_without_a_header_is_told(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.csv").write_text(f"{line}\n{line}\n")
    with pytest.raises(InputError, match="first line is read as its header, and holds numbers: p"):
        read_corpus(tmp_path / "a.csv")


def test_no_column_of_texts_is_refused() -> None:
    with pytest.raises(InputError, match="one or two columns of texts are expected, not 0"):
        corpus_from_table({"text": ["a", "b"], "label": [0, 1]}, text_columns=[])


@pytest.mark.parametrize(
    ("first", "second", "names", "is_told"),
    [
        ("pos,neg", "1,0", None, True),
        ("pos,neg", "1.0,0.0", None, True),
        ("pos,neg", "1,0", ("neg", "pos"), False),
        ("pos,neg", "pos,neg", None, False),
        ("0,1", "1,0", None, False),
        ("good,bad", "x,y", ("good", "bad", "x", "y"), False),
    ],
)
def test_numbers_beside_names_of_another_part_are_told(
    tmp_path: Path, first: str, second: str, names: tuple[str, ...] | None, *, is_told: bool
) -> None:
    paths = []
    for name, labels in (("train", first), ("test", second)):
        lines = [f"text {i},{label}" for i, label in enumerate(labels.split(","))]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(["text,label", *lines]) + "\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_corpora(paths, label_names=names)
    told = [str(each.message) for each in caught if "labels are numbers" in str(each.message)]
    assert len(told) == is_told
    assert all("0 is neg, 1 is pos" in each for each in told)


@pytest.mark.parametrize(("text", "n"), [("nan", 2), ("NaN", 2), ("None", 2), ("Nan is here.", 0)])
def test_texts_that_are_what_is_written_of_missing_ones_are_told(
    tmp_path: Path, text: str, n: int
) -> None:
    lines = ["text,label", f"{text},a", "A text.,b", f"{text},a"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(read_corpus(tmp_path / "t.csv")) == 3
    told = [str(each.message) for each in caught if "a missing text" in str(each.message)]
    assert len(told) == (n > 0)
    assert all(f"column 'text': {n} texts are only nan, NaN" in each for each in told)
