"""α-NLI and δ-NLI in the files that were published."""

from __future__ import annotations

import gzip
import json

import pytest

from ietest_fast.corpus import read_corpus
from ietest_fast.corpus.reasoning import (
    find_task,
    join_contexts,
    read_alpha_nli,
    read_delta_nli,
    tell_stories,
)
from ietest_fast.errors import InputError

ALPHA = [
    {
        "story_id": "s-1",
        "obs1": "Ann baked a cake.",
        "obs2": "Nobody ate it.",
        "hyp1": "She took salt for sugar.",
        "hyp2": "She took the best sugar.",
    },
    {
        "story_id": "s-1",
        "obs1": "Ann baked a cake.",
        "obs2": "Nobody ate it.",
        "hyp1": "It was a very good cake.",
        "hyp2": "The cake burnt in the oven.",
    },
]
DELTA = [
    {
        "DataSource": "SNLI",
        "Premise": "Two men talk.",
        "Hypothesis": "They are friends.",
        "SNLIPairId": "1.jpg#0r1n",
        "Update": "They laugh.",
        "UpdateType": "strengthener",
        "UpdateTypeImpossible": False,
        "UpdateTypeImpossibleReason": "{}",
    },
    {
        "Premise": "Two men talk.",
        "Hypothesis": "They are men.",
        "Update": "",
        "UpdateType": "weakener",
        "UpdateTypeImpossible": True,
        "UpdateTypeImpossibleReason": "It only says it again.",
    },
    {
        "Premise": "Two men talk.",
        "Hypothesis": "They are friends.",
        "Update": "One is the judge.",
        "UpdateType": "weakener",
        "UpdateTypeImpossible": False,
    },
]


def write(path, records):
    lines = "".join(json.dumps(record) + "\n" for record in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines)
    return path


@pytest.fixture
def alpha(tmp_path):
    (tmp_path / "dev-labels.lst").write_text("1\n2\n")
    return write(tmp_path / "dev.jsonl", ALPHA)


def test_alpha_nli_is_a_choice_between_two_stories(alpha):
    corpus = read_alpha_nli(alpha)
    assert corpus.text_columns == ("first_story", "second_story")
    assert corpus.label_names == ("hyp1", "hyp2")
    assert corpus.labels.tolist() == [0, 1]
    for row, record in zip(corpus.table.to_pylist(), ALPHA, strict=True):
        o1, o2 = record["obs1"], record["obs2"]
        assert row["first_story"] == f"{o1} {record['hyp1']} {o2}"
        assert row["second_story"] == f"{o1} {record['hyp2']} {o2}"
        assert {name: row[name] for name in ("obs1", "obs2", "hyp1", "hyp2")} == {
            name: record[name] for name in ("obs1", "obs2", "hyp1", "hyp2")
        }
    assert corpus.table["item"].to_pylist() == [0, 1]
    assert corpus.table["story"].to_pylist() == ["s-1", "s-1"]


def test_alpha_nli_is_a_judgement_of_each_hypothesis(alpha):
    corpus = read_alpha_nli(alpha, form="hypotheses")
    rows = corpus.table.to_pylist()
    assert [row["item"] for row in rows] == ["0.1", "0.2", "1.1", "1.2"]
    assert [corpus.label_names[row["label"]] for row in rows] == [
        "plausible",
        "implausible",
        "implausible",
        "plausible",
    ]
    assert rows[3]["hypothesis"] == "The cake burnt in the oven."
    assert rows[3]["premise"] == "Ann baked a cake. Nobody ate it."


def test_labels_stand_in_the_rows_or_in_a_file_of_any_name(tmp_path):
    labelled = [{**record, "label": label} for record, label in zip(ALPHA, (2, "1"), strict=True)]
    corpus = read_alpha_nli(write(tmp_path / "x.jsonl.gz", labelled))
    assert corpus.labels.tolist() == [1, 0]
    (tmp_path / "gold").write_text("2\n2\n\n")
    bare = write(tmp_path / "y.jsonl", ALPHA)
    assert read_alpha_nli(bare, tmp_path / "gold").labels.tolist() == [1, 1]


def test_two_keys_of_labels_are_refused(tmp_path):
    both = [{**record, "label": 1, "gold_label": 2} for record in ALPHA]
    with pytest.raises(InputError, match="two columns of labels, label and gold_label; name the"):
        read_alpha_nli(write(tmp_path / "x.jsonl", both))
    # One key in some rows and the other one in others are two as well.
    apart = [{**ALPHA[0], "label": 1}, {**ALPHA[1], "gold_label": 2}]
    with pytest.raises(InputError, match="two columns of labels, label and gold_label"):
        read_corpus(write(tmp_path / "y.jsonl", apart))
    other = [{**record, "gold_label": 2} for record in ALPHA]
    assert read_alpha_nli(write(tmp_path / "z.jsonl", other)).labels.tolist() == [1, 1]


@pytest.mark.parametrize("key", ["label", "gold_label"])
@pytest.mark.parametrize("name", [None, "mine.txt"])
def test_labels_in_the_rows_and_in_a_file_are_compared(tmp_path, key, name):
    path = write(tmp_path / "own.jsonl", [{**record, key: 1} for record in ALPHA])
    beside = tmp_path / (name or "own-labels.lst")
    labels = beside if name else None
    beside.write_text("1\n1\n")
    assert read_alpha_nli(path, labels).labels.tolist() == [0, 0]
    for said, n, line in (("2\n2\n", 2, 1), ("1\n2\n", 1, 2)):
        beside.write_text(said)
        message = (
            rf"own\.jsonl: its key {key} and {beside.name} contradict each other in {n} of 2 rows, "
            rf"the first in line {line}; correct one of them, or remove it"
        )
        with pytest.raises(InputError, match=message):
            read_corpus(path, labels_file=labels)
    beside.write_text("1\n")
    with pytest.raises(InputError, match="has 1 labels"):
        read_alpha_nli(path, labels)
    # A row that says nothing contradicts nothing.
    write(path, [{**ALPHA[0], key: None}, {**ALPHA[1], key: 2}])
    beside.write_text("1\n2\n")
    assert read_alpha_nli(path, labels).labels.tolist() == [0, 1]


@pytest.mark.parametrize("key", ["gold", "label_text"])
@pytest.mark.parametrize("second", [2, "2", "hyp2", "Hyp2 "])
def test_other_keys_of_labels_of_alpha_nli_are_compared(tmp_path, key, second):
    (tmp_path / "own-labels.lst").write_text("1\n2\n")
    path = write(tmp_path / "own.jsonl", [{**record, key: second} for record in ALPHA])
    message = rf"its key {key} and the labels contradict each other in 1 of 2 rows, .* line 1;"
    with pytest.raises(InputError, match=message):
        read_alpha_nli(path)
    for said in ((1, "2"), ("hyp1", second), (None, 2), ("a text", "b")):
        rows = [{**record, key: value} for record, value in zip(ALPHA, said, strict=True)]
        assert read_alpha_nli(write(path, rows)).labels.tolist() == [0, 1]


@pytest.mark.parametrize("key", ["label", "Gold_Label", "gold", "label_text"])
def test_labels_of_delta_nli_that_are_there_twice_are_compared(tmp_path, key):
    path = write(tmp_path / "d.jsonl", [{**record, key: "Weakener"} for record in DELTA])
    message = rf"keys UpdateType and {key.lower()} contradict each other in 1 of 2 rows, .* line 1;"
    with pytest.raises(InputError, match=message):
        read_delta_nli(path)
    write(path, [{**record, key: record["UpdateType"]} for record in DELTA])
    assert read_delta_nli(path).labels.tolist() == [1, 0]
    write(path, [{**record, key: 1} for record in DELTA])  # a label of something else
    assert read_delta_nli(path).labels.tolist() == [1, 0]


def test_an_update_marked_as_impossible_is_counted_by_itself(tmp_path):
    path = write(tmp_path / "d.jsonl", [*DELTA, {**DELTA[0], "UpdateTypeImpossible": True}])
    assert read_delta_nli(path).dropped == {"no update": 1, "update marked as impossible": 1}


def test_reworded_hypotheses_make_other_stories(alpha):
    table = read_alpha_nli(alpha).table
    place = table.column_names.index("hyp2")
    reworded = table.set_column(place, "hyp2", [["A.", "B."]])
    assert tell_stories(reworded)["second_story"].to_pylist() == [
        "Ann baked a cake. A. Nobody ate it.",
        "Ann baked a cake. B. Nobody ate it.",
    ]
    assert tell_stories(reworded).column_names == table.column_names


@pytest.mark.parametrize(
    ("change", "labels", "message"),
    [
        ({}, "1\n", r"dev-labels.lst: has 1 labels, and .*dev.jsonl has 2 rows"),
        ({}, "1\n3\n", r"dev-labels.lst, line 2: the label is '3'; 1 or 2 expected"),
        ({"obs1": None}, "1\n2\n", r"dev.jsonl, line 1, column 'obs1': the text is missing"),
        ({"hyp2": 5}, "1\n2\n", r"line 1, column 'hyp2': is 5, text expected"),
        ({"label": True}, "1\n2\n", r"line 1: the label is true"),
    ],
)
def test_alpha_nli_that_is_broken_is_refused(tmp_path, change, labels, message):
    (tmp_path / "dev-labels.lst").write_text(labels)
    path = write(tmp_path / "dev.jsonl", [ALPHA[0] | change, ALPHA[1]])
    with pytest.raises(InputError, match=message):
        read_alpha_nli(path)


def test_missing_labels_and_other_formats_are_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", ALPHA)
    with pytest.raises(InputError, match=r"no a-labels\.lst beside it; name the file of labels"):
        read_alpha_nli(path)
    (tmp_path / "a.csv").write_text("obs1\nx\n")
    with pytest.raises(InputError, match="is csv, JSON lines"):
        read_alpha_nli(tmp_path / "a.csv")
    with pytest.raises(InputError, match="form is 'stories' or 'hypotheses'"):
        read_alpha_nli(path, form="pairs")


def test_ids_are_taken_and_those_that_are_there_twice_refused(tmp_path):
    own = [{**record, "label": 1, "id": f"a{i}"} for i, record in enumerate(ALPHA)]
    path = write(tmp_path / "a.jsonl", own)
    assert read_alpha_nli(path, id_key="id").table["item"].to_pylist() == ["a0", "a1"]
    with pytest.raises(InputError, match=r"line 2, column 'story_id': the id 's-1' stands in line"):
        read_alpha_nli(path, id_key="story_id")
    with pytest.raises(InputError, match=r"line 1, column 'none': the id is missing"):
        read_alpha_nli(path, id_key="none")


def test_delta_nli_has_contexts_and_updates(tmp_path):
    corpus = read_delta_nli(write(tmp_path / "train.jsonl", DELTA))
    assert corpus.text_columns == ("context", "update")
    assert corpus.label_names == ("weakener", "strengthener")
    assert corpus.labels.tolist() == [1, 0]
    rows = corpus.table.to_pylist()
    assert rows[0]["context"] == "Two men talk. They are friends."
    assert rows[1]["update"] == "One is the judge."
    assert [row["pair"] for row in rows] == [0, 0]
    # Rows without an update are gone, counted, and leave the numbers of the others alone.
    assert corpus.dropped == {"no update": 1}
    assert [row["item"] for row in rows] == [0, 2]
    assert corpus.source_rows.tolist() == [0, 2]


def test_delta_nli_without_premises_has_hypotheses_as_contexts(tmp_path):
    social = [
        {"Hypothesis": "It is rude to shout.", "Update": "It burns.", "UpdateType": "Weakener"},
        {
            "Hypothesis": "It is rude to shout.",
            "Update": "It is late.",
            "UpdateType": "strengthener",
        },
    ]
    corpus = read_delta_nli(write(tmp_path / "social.jsonl", social))
    assert corpus.table["context"].to_pylist() == ["It is rude to shout."] * 2
    assert corpus.labels.tolist() == [0, 1]
    assert join_contexts(corpus.table).equals(corpus.table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"UpdateType": "neutral"}, r"line 1, column 'UpdateType': is 'neutral'; strengthener or"),
        ({"UpdateType": None}, r"line 1, column 'UpdateType': is null"),
        ({"Hypothesis": None}, r"line 1, column 'hypothesis': the text is missing"),
        ({"Premise": None}, r"line 1, column 'premise': the text is missing"),
        ({"UpdateTypeImpossible": "no"}, r"line 1, column 'UpdateTypeImpossible': is 'no', true"),
        ({"Update": ["x"]}, r"line 1, column 'update': is \[.x.\], text expected"),
    ],
)
def test_delta_nli_that_is_broken_is_refused(tmp_path, change, message):
    path = write(tmp_path / "d.jsonl", [DELTA[0] | change, *DELTA[1:]])
    with pytest.raises(InputError, match=message):
        read_delta_nli(path)


def test_delta_nli_without_any_update_is_refused(tmp_path):
    path = write(tmp_path / "d.jsonl", [DELTA[1]])
    with pytest.raises(InputError, match="no row is left: 1 no update"):
        read_delta_nli(path)
    path.write_text("\n\n")
    with pytest.raises(InputError, match="no objects"):
        read_delta_nli(path)


def test_read_corpus_tells_them_by_their_keys(alpha, tmp_path):
    corpus = read_corpus(alpha)
    assert corpus.table.column_names == ["first_story", "second_story", "label"]
    assert corpus.labels.tolist() == read_alpha_nli(alpha).labels.tolist()
    kept = read_corpus(alpha, keep_columns=["hyp2", "story_id", "story"])
    assert kept.table["hyp2"].to_pylist() == [record["hyp2"] for record in ALPHA]
    assert kept.table["story_id"].to_pylist() == kept.table["story"].to_pylist() == ["s-1"] * 2
    delta = write(tmp_path / "delta.jsonl", DELTA)
    corpus = read_corpus(delta, keep_columns=["UpdateTypeImpossible", "pair", "item"])
    whole = read_delta_nli(delta)
    assert corpus.dropped == whole.dropped
    for name in ("context", "update", "label", "pair", "item"):
        assert corpus.table[name].to_pylist() == whole.table[name].to_pylist(), name
    assert corpus.table["UpdateTypeImpossible"].to_pylist() == [False, False]
    assert corpus.source_rows.tolist() == [0, 2]


def test_what_read_corpus_cannot_read_of_them_is_said(alpha, tmp_path):
    with pytest.raises(InputError, match="'hyp3': there is no such column"):
        read_corpus(alpha, keep_columns=["hyp3"])
    with pytest.raises(InputError, match=r"labels of α-NLI are 'hyp1', 'hyp2', and 'a', 'b'"):
        read_corpus(alpha, label_names=("a", "b"))
    (tmp_path / "gold").write_text("2\n2\n")
    assert read_corpus(alpha, labels_file=tmp_path / "gold").labels.tolist() == [1, 1]
    delta = write(tmp_path / "delta.jsonl", DELTA)
    with pytest.raises(InputError, match="a file of labels is of α-NLI"):
        read_corpus(delta, labels_file=tmp_path / "gold")


def test_the_other_spelling_of_update_type_is_told_too(tmp_path):
    path = tmp_path / "delta.jsonl"
    record = {"hypothesis": "A man is cold.", "update": "He shivers.", "update_type": "weakener"}
    path.write_text(
        json.dumps(record) + "\n" + json.dumps(record | {"update": "Snow falls."}) + "\n"
    )
    assert find_task(list(record)) is not None
    read = read_corpus(path, keep_columns=["update"])
    assert read.table["update"].to_pylist() == ["He shivers.", "Snow falls."]
    assert read_delta_nli(path).label_counts.tolist() == [2, 0]


@pytest.mark.parametrize("key", ["UPDATE", "update_type"])
def test_keys_that_differ_in_case_alone_are_refused(tmp_path, key):
    path = tmp_path / "delta.jsonl"
    record = {"Hypothesis": "A man is cold.", "Update": "Snow.", "UpdateType": "weakener"}
    path.write_text(json.dumps(record | {key: "weakener"}) + "\n")
    with pytest.raises(InputError, match=rf"line 1, column '{key}': is there twice, as 'Update"):
        read_delta_nli(path)
