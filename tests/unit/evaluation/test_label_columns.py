"""Columns that nobody reads and that nearly repeat one that counts, whatever their names."""

from __future__ import annotations

import contextlib
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ietest_fast.analyses.consistency.file import name_answers, need_wordings
from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.readers.label_columns import key_counted, say_near_copies
from ietest_fast.errors import InputError
from toy_logs import inspect_log, reword, sample

N = 20
LABELS = ["pos" if i % 2 else "neg" for i in range(N)]
FIRST = [label if i % 7 else "pos" for i, label in enumerate(LABELS)]
SECOND = [label if i % 5 else "neg" for i, label in enumerate(LABELS)]
RIGHT = [a == b for a, b in zip(LABELS, FIRST, strict=True)]


def but(values: list[Any], *rows: int) -> list[Any]:
    """The values with others in some rows."""
    kinds = list(dict.fromkeys(values))
    return [kinds[1 - kinds.index(v)] if i in rows else v for i, v in enumerate(values)]


def named(values: list[str], neg: Any, pos: Any) -> list[Any]:
    return [pos if value == "pos" else neg for value in values]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (but(LABELS, 3, 4), "foo (unlike label in 2 rows)"),
        ([each.upper() + " " for each in but(LABELS, 3)], "foo (unlike label in 1 row)"),
        (named(but(LABELS, 3), "ja", "pos"), "foo (unlike label in 1 row)"),  # one word is shared
        (named(but(LABELS, 3), 0, 1), "foo (unlike label in 1 row)"),
        (named(but(LABELS, 3), "B", "A"), "foo (unlike label in 1 row)"),
        (but(FIRST, 1), "foo (unlike original in 1 row)"),
        (but(SECOND, 8, 9), "foo (unlike transformed in 2 rows)"),
        (but(RIGHT, 9), "foo (unlike whether original is right in 1 row)"),
        ([int(each) for each in but(RIGHT, 9)], "foo (unlike whether original is right in 1 row)"),
        (
            [-1 if i == 6 else v for i, v in enumerate(named(but(LABELS, 3), 0, 1))],
            "foo (unlike label in 1 row)",
        ),
        (
            ["?" if i == 6 else str(v) for i, v in enumerate(named(but(LABELS, 3), 0, 1))],
            "foo (unlike label in 2 rows)",
        ),
        (
            but([a != b for a, b in zip(FIRST, SECOND, strict=True)], 2),
            "foo (unlike whether the answer changes in 1 row)",
        ),
        (
            but([int(a == b) for a, b in zip(FIRST, SECOND, strict=True)], 2),
            "foo (unlike the opposite of whether the answer changes in 1 row)",
        ),
        ([a == b for a, b in zip(FIRST, SECOND, strict=True)], None),
        (["✗✓"[each] for each in but(RIGHT, 9)], "foo (unlike whether original is right in 1 row)"),
        (["-+"[each] for each in but(RIGHT, 9)], "foo (unlike whether original is right in 1 row)"),
        (["-+"[each] for each in RIGHT], None),
        ([not each for each in RIGHT], None),
        (LABELS, None),
        (SECOND, None),
        (named(LABELS, "B", "A"), None),
        (RIGHT, None),
        (["web", "book"] * 5 + ["book", "web"] * 5, None),
        ([[0.3, 0.75][label == "pos"] for label in but(LABELS, 3)], None),
        (["one"] * N, None),
        ([None] * N, None),
        ([f"word {i}" for i in range(N)], None),
        ([i / 7 for i in range(N)], None),
    ],
)
@pytest.mark.parametrize("end", ["csv", "tsv", "jsonl", "parquet"])
def test_near_copies_in_tables_are_told(
    tmp_path: Path, column: list[Any], said: str | None, end: str
) -> None:
    frame = pd.DataFrame({"label": LABELS, "original": FIRST, "transformed": SECOND, "foo": column})
    path = tmp_path / f"t.{end}"
    if end == "parquet":
        frame.to_parquet(path)
    elif end == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if end == "tsv" else ",")
    notes = [note for note in read_logs([path]).notes if "nearly the same" in note]
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


CHANGES = [a != b for a, b in zip(FIRST, SECOND, strict=True)]
OF_RIGHT = "the opposite of whether original is right in {} rows of 20"
OF_CHANGES = "the opposite of whether the answer changes in {} rows of 20"


@pytest.mark.parametrize(
    ("name", "marks", "is_said", "said"),
    [
        ("hit_original", RIGHT, False, OF_RIGHT.format(20)),
        ("originalHit", but(RIGHT, 9), False, OF_RIGHT.format(19)),
        ("original_result", ["PASS" if each else "FAIL" for each in RIGHT], False, None),
        ("original_result", ["FAIL" if each else "PASS" for each in RIGHT], True, OF_RIGHT),
        ("status", ["FAIL" if each else "PASS" for each in RIGHT], True, OF_RIGHT),
        ("original_error", RIGHT, True, OF_RIGHT.format(20)),
        ("is wrong", but(RIGHT, 9), True, OF_RIGHT.format(19)),
        ("flipped", CHANGES, False, OF_CHANGES.format(20)),
        ("changed_answer", but(CHANGES, 2), False, OF_CHANGES.format(19)),
        ("same", CHANGES, True, OF_CHANGES.format(20)),
        ("same", CHANGES, False, None),
        ("flipped", CHANGES, True, None),
        ("hit_original", RIGHT, True, None),
        ("original_wrong", RIGHT, False, None),
        ("n_errors", RIGHT, False, None),
        ("not_right", RIGHT, False, None),
        ("original_seen", RIGHT, False, None),
        ("hit_original", ["✓" if each else "✗" for each in RIGHT], True, None),
    ],
)
def test_marks_that_say_the_opposite_of_their_name_are_told(
    tmp_path: Path, name: str, marks: list[Any], is_said: bool, said: str | None
) -> None:
    column = [each if isinstance(each, str) else int(each == is_said) for each in marks]
    frame = pd.DataFrame({"label": LABELS, "original": FIRST, "transformed": SECOND, name: column})
    frame.to_csv(tmp_path / "t.csv", index=False)
    notes = [note for note in read_logs([tmp_path / "t.csv"]).notes if "nearly the same" in note]
    assert len(notes) == (said is not None)
    assert all(f"or its opposite: {name} ({said.format(20)})" in note for note in notes if said)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (but(LABELS, 3, 4), "foo (unlike gold in 4 rows)"),
        (but(RIGHT, 9), "foo (unlike whether original is right in 1 row)"),
        (LABELS, None),
        (["web", "book"] * 5 + ["book", "web"] * 5, None),
    ],
)
def test_near_copies_in_long_tables_are_told(
    tmp_path: Path, column: list[Any], said: str | None
) -> None:
    parts = [
        pd.DataFrame({"item": range(N), "version": version, "gold": LABELS, "predicted": answers})
        for version, answers in (("original", FIRST), ("transformed", but(FIRST, 1)))
    ]
    path = tmp_path / "t.csv"
    pd.concat([part.assign(foo=column) for part in parts]).to_csv(path, index=False)
    notes = [note for note in read_logs([path]).notes if "nearly the same" in note]
    assert len(notes) == (said is not None)
    assert all(str(said) in note for note in notes)


def test_columns_of_any_type_stand_beside_labels(tmp_path: Path) -> None:
    table = pa.table({"label": LABELS, "original": FIRST, "transformed": SECOND})
    kinds = [
        *(pa.null(), pa.binary(), pa.string_view(), pa.float16(), pa.decimal128(9, 2)),
        *(pa.date32(), pa.time64("us"), pa.timestamp("s", "UTC"), pa.duration("s")),
        *(pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.int8()), pa.struct({"a": pa.int8()})),
    ]
    for kind in kinds:
        pq.write_table(table.append_column("foo", pa.nulls(N, kind)), tmp_path / "t.parquet")
        assert not [note for note in read_logs([tmp_path / "t.parquet"]).notes if "foo" in note]


def test_columns_that_somebody_has_chosen_are_not_questioned(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame = pd.DataFrame({"label": LABELS, "a": FIRST, "b": SECOND, "other": but(FIRST, 1)})
    frame.assign(gold2=but(LABELS, 3)).to_csv(path, index=False)
    read = read_logs([path], columns=["a", "b"], gold_column="label")
    assert not [note for note in read.notes if "nearly the same" in note]
    read = read_logs([path], columns=["a", "b"])
    assert "gold2 (unlike label in 1 row)" in "".join(read.notes)
    # A copy of what is chosen is nearly the labels, too.
    frame.assign(copy=FIRST).to_csv(path, index=False)
    read = read_logs([path], columns=["a", "b"])
    assert not [note for note in read.notes if "nearly the same" in note]


@pytest.mark.parametrize("column", ["flipped", "foo", "diff"])
@pytest.mark.parametrize("how", ["outcomes", "answers"])
def test_what_follows_from_chosen_columns_is_compared(
    tmp_path: Path, column: str, how: str
) -> None:
    path = tmp_path / "t.csv"
    first, second = (np.array(each) == np.array(LABELS) for each in (FIRST, SECOND))
    own = first.astype(int) - second if column == "diff" else (first != second).astype(int)
    other = own.copy()
    other[1] = 1 - abs(own[1])
    for values, is_told in ((own, False), (other, True)):
        marks = {"a": first.astype(int), "b": second.astype(int)}
        frame = pd.DataFrame(marks if how == "outcomes" else {"a": FIRST, "b": SECOND})
        frame.assign(label=LABELS, **{column: values}).to_csv(path, index=False)
        names = {"outcomes": "correct_columns", "answers": "columns"}[how]
        notes = read_logs([path], **{names: ["a", "b"]}).notes
        assert any(f"{column} (unlike " in note for note in notes) == is_told


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"k": 1}, None),
        (["a", "b"], None),
        ([{"role": "user"}], None),
        ({"pos": 0.9, "neg": 0.1}, "by foo.pos, foo.neg, another label than predicted"),
        ("mixed", None),
    ],
)
@pytest.mark.parametrize("how", ["labels", "outcomes"])
def test_objects_and_lists_stand_beside_long_tables_of_json(
    tmp_path: Path, value: Any, said: str | None, how: str
) -> None:
    """They are read as from Parquet, and never keep the rest from being read."""
    rows = [
        {"item": i, "version": version, "gold": LABELS[i], "predicted": FIRST[i], "correct": 1}
        | {"correct": int(LABELS[i] == FIRST[i]), "scores" if said else "foo": value}
        for i in range(N)
        for version in ("original", "transformed")
    ]
    if value == "mixed":
        for i, row in enumerate(rows):
            row["foo"] = {"k": i} if i % 2 else "text"
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_logs([path], **({} if how == "labels" else {"correct_columns": ["correct"]}))
    assert read.predictions.versions == ("original", "transformed")
    notes = "".join(read.notes)
    if said is not None and how == "labels":
        assert said.replace("foo", "scores") in notes


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (lambda i: int(i % 2 if i != 3 else 0), "doc.mine (unlike target in 1 row)"),
        (lambda i: "AB"[i % 2 if i != 3 else 0], "doc.mine (unlike target in 1 row)"),
        (lambda i: i % 2, None),
        (lambda i: [i % 2], None),
        (lambda i: f"text {i}", None),
    ],
)
def test_near_copies_in_logs_of_the_harness_are_told(
    tmp_path: Path, field: Any, said: str | None
) -> None:
    logs = []
    for name in ("plain", "other"):
        lines = [
            {
                "doc_id": i,
                "doc": {"q": f"{name} {i}?", "mine": field(i)},
                "target": ["no", "yes"][i % 2],
                "arguments": [[f"{name} {i}?", {}]],
                "resps": [[["no", "yes"][i % 2]]],
                "filtered_resps": [["no", "yes"][i % 2]],
                "exact_match": 1,
                "metrics": ["exact_match"],
            }
            for i in range(N)
        ]
        logs.append(tmp_path / f"samples_{name}.jsonl")
        logs[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    notes = [note for note in read_logs(logs).notes if "nearly the same" in note]
    assert len(notes) == 2 * (said is not None)
    assert all(str(said) in note for note in notes)


@pytest.mark.parametrize(
    "more",
    [
        lambda said: {"output": {"completion": f"ANSWER: {said}"}},
        lambda said: {"output": {"choices": [{"message": {"content": said}}]}},
        lambda said: {"metadata": {"graded": said == "yes"}},
    ],
)
@pytest.mark.parametrize("n_other", [0, 2])
def test_near_copies_in_logs_of_inspect_are_told(tmp_path: Path, more: Any, n_other: int) -> None:
    """What the model has written is held against the answer that a scorer has found in it."""
    values = ["C" if i % 3 else "I" for i in range(N)]
    words = ["no" if (value == "I") != (i < n_other) else "yes" for i, value in enumerate(values)]
    samples = [
        sample(i, value, **more(word))
        for i, (value, word) in enumerate(zip(values, words, strict=True))
    ]
    other = [each | {"input": reword(each["input"])} for each in samples]
    logs = [inspect_log(tmp_path / "o.json", samples), inspect_log(tmp_path / "r.json", other)]
    notes = [note for note in read_logs(logs).notes if "nearly the same" in note]
    assert len(notes) == 2 * (n_other > 0)
    assert all(f"in {n_other} rows" in note for note in notes)


def oracle(own: list[str], mine: list[str]) -> tuple[int, float]:
    """Rows that differ, and Cohen's kappa, one row after the other; with names in common."""
    n = sum(a != b for a, b in zip(own, mine, strict=True))
    by_chance = sum(own.count(k) * mine.count(k) for k in {*own, *mine}) / len(own) ** 2
    kappa = 0.0 if by_chance == 1 else (1 - n / len(own) - by_chance) / (1 - by_chance)
    return n, kappa


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=40))
def test_near_copies_are_those_of_the_plain_rule(pairs: list[tuple[str, str]]) -> None:
    own, mine = ([*each] for each in zip(*pairs, strict=True))
    counted = key_counted(None, {"said": pa.array(mine)}, Path("x.csv"))
    notes = say_near_copies({"foo": pa.array(own)}, counted, Path("x.csv"))
    n, kappa = oracle(own, mine)
    kinds = len({*own}), len({*mine})
    if not {*own} & {*mine} or min(kinds) < 2 or abs(kappa - 0.5) < 1e-9:
        return  # names of their own are matched, and are tested above
    near = n > 0 and kappa >= 0.5 and kappa * math.sqrt(len(own)) >= 2.5
    assert [f"unlike said in {n} row" in note for note in notes] == [True] * near


@pytest.mark.slow
def test_columns_that_have_nothing_to_do_with_labels_are_rarely_taken_for_copies() -> None:
    rng = np.random.default_rng(0)
    n_told = 0
    for _ in range(1000):
        n = int(rng.integers(6, 200))
        label, other = (pa.array(rng.choice(["p", "n"], n)) for _ in range(2))
        counted = key_counted(("label", label), {}, Path("x.csv"))
        n_told += len(say_near_copies({"foo": other}, counted, Path("x.csv")))
    assert n_told <= 10


WORDS = ["anger", "joy", "sadness"]
NLI = ["contradiction", "neutral", "entailment"]


def numbered(names: list[str], order: list[int], n: int = 30, step: int = 0) -> pd.DataFrame:
    """Answers by number and by name, each seventh another one."""
    places = [(i + (i % 7 == step)) % len(names) for i in range(n)]
    return pd.DataFrame(
        {"prediction": [order[each] for each in places], "name": [names[each] for each in places]}
    )


@pytest.mark.parametrize("names", [WORDS, NLI, ["neg", "pos"]])
@pytest.mark.parametrize(
    ("form", "beside", "step"),
    [
        ("files", "prediction_name", -1),
        ("files", "prediction_label", -1),
        ("files", "prediction_text", -1),
        ("files", "pred_text", -1),
        ("gold file", "prediction_name", -1),
        ("wide", "original_name", -1),
        ("wide", "original_prediction_label", -1),
        ("long", "predicted_name", -1),
        ("long", "prediction_text", -1),
        ("files", "of_something", -1),
        ("files", "prediction_name", 1),
        ("wide", "original_name", 1),
        ("long", "predicted_name", 1),
    ],
)
def test_numbers_have_one_name_beside_labels_and_answers(
    tmp_path: Path, names: list[str], form: str, beside: str, step: int
) -> None:
    order = [*range(len(names))][::step]
    gold = pd.DataFrame({"label": [i % len(names) for i in range(30)]})
    gold["label_text"] = [names[each] for each in gold["label"]]
    first, second = numbered(names, order), numbered(names, order, step=1)
    paths, options = [tmp_path / "a.csv"], {}
    if form == "wide":
        frame = gold.assign(original=first["prediction"], transformed=second["prediction"])
        frame.assign(**{beside: first["name"]}).to_csv(paths[0])
    elif form == "long":
        parts = [
            gold.assign(item=range(30), version=version, predicted=own["prediction"])
            .rename(columns={"label": "gold"})
            .assign(**{beside: own["name"]})
            for version, own in (("original", first), ("t", second))
        ]
        pd.concat(parts).to_csv(paths[0])
    else:
        paths.append(tmp_path / "b.csv")
        for path, own in zip(paths, (first, second), strict=True):
            frame = pd.concat([gold, own.rename(columns={"name": beside})], axis=1)
            frame.assign(text=f"in {path.stem}").to_csv(path)
        if form == "gold file":
            gold.to_csv(tmp_path / "g.csv")
            options["gold_path"] = tmp_path / "g.csv"
    if step == 1 or beside == "of_something":
        assert read_logs(paths, **options).predictions
        return
    said = rf"column '{beside}': \d in \w+ is '\w+', and '\w+' by the column label_text beside"
    with pytest.raises(InputError, match=said):
        read_logs(paths, **options)
    if form == "files":
        assert read_logs(paths, columns=[beside] * 2, gold_column="label_text").predictions


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (WORDS, WORDS[::-1], "0 in label is 'sadness', and 'anger' by the column label_text "),
        (["neg", "pos"], ["pos", "neg"], "0 in label is 'pos', and 'neg' by the column label_text"),
        (
            NLI,
            NLI[::-1],
            "0 in label is 'entailment', and 'contradiction' by the column label_text",
        ),
        (WORDS, ["joy"], "0 in label is 'joy', and 'anger' by the column label_text beside label"),
        (WORDS, [WORDS[0].upper(), "joy ", "Sadness"], None),
        (WORDS, WORDS[:2], None),
        (WORDS, ["colère", "joie", "tristesse"], None),  # other words for the same
        (["animal", "animal", "vehicle"], ["animal", "animal", "vehicle"], None),
        (["animal", "animal", "vehicle"], ["animal"], None),
        (WORDS, [f"text {i}" for i in range(30)], None),
    ],
)
@pytest.mark.parametrize("column", ["label_name", "label_str"])
def test_numbers_have_one_name_in_all_files(
    tmp_path: Path, first: list[str], second: list[str], said: str | None, column: str
) -> None:
    paths = []
    for name, words, beside in (("a", first, "label_text"), ("b", second, column)):
        gold = [i % len(words) for i in range(30)]
        names = [words[each] for each in gold]
        frame = pd.DataFrame({"text": f"in {name}", "label": [each % 3 for each in gold]})
        paths.append(tmp_path / f"{name}.csv")
        frame.assign(prediction=frame["label"], **{beside: names}).to_csv(paths[-1])
    if said is None:
        with contextlib.suppress(InputError):  # for want of one of the labels
            read_logs(paths)
        return
    with pytest.raises(InputError, match=f"b.csv, column '{column}': {said}.*a.csv: the numbers"):
        read_logs(paths)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_numbers_have_one_name_in_all_answers_to_wordings(tmp_path: Path, order: list[int]) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, numbers in zip(paths, ([0, 1, 2], order), strict=True):
        gold = [each % 3 for each in range(30)] * 2
        versions = ["original"] * 30 + ["p"] * 30
        frame = pd.DataFrame({"item": [*range(30)] * 2, "version": versions})
        frame["gold"] = frame["predicted"] = [numbers[each] for each in gold]
        frame = frame.assign(label_name=[WORDS[each] for each in gold], model=path.stem)
        frame.to_csv(path, index=False)
    answers = [need_wordings(path) for path in paths]
    if order == [0, 1, 2]:
        assert len(name_answers(answers, paths)) == 2
        return
    with pytest.raises(InputError, match=r"b.csv, column 'label_name': \d in gold is .*a.csv: the"):
        name_answers(answers, paths)


_WORDS = ["neither", "transformed only", "original only", "both"]
# Classes of two answers: which are right, of 40 items; and others when both are wrong.
_PLACES = [3] * 20 + [2] * 8 + [1] * 4 + [0] * 8
_OTHERS = [place == 0 and i % 2 == 0 for i, place in enumerate(_PLACES)]


def of_pairs(form: str, column: list[Any], labels: str = "abc") -> pd.DataFrame:
    """A table of 40 items in two versions, with a column of what both answers say together."""
    gold = [labels[i % len(labels)] for i in range(40)]
    wrong = {label: labels[place - 1] for place, label in enumerate(labels)}
    first, second = (
        [label if place & bit else wrong[label] for label, place in zip(gold, _PLACES, strict=True)]
        for bit in (2, 1)
    )
    if len(labels) > 2:
        second = [wrong[second[i]] if _OTHERS[i] else second[i] for i in range(40)]
    if form == "wide":
        both = {"label": gold, "original": first, "transformed": second}
        return pd.DataFrame(both | {"foo": column})
    if form == "outcomes":
        marks = {name: [p // bit % 2 for p in _PLACES] for name, bit in (("o", 2), ("t", 1))}
        marks = {"original_correct": marks["o"], "transformed_correct": marks["t"]}
        return pd.DataFrame(marks | {"foo": column})
    parts = [
        pd.DataFrame({"item": range(40), "version": version, "gold": gold, "predicted": answers})
        for version, answers in (("original", first), ("transformed", second))
    ]
    whole = pd.concat([part.assign(foo=column) for part in parts])
    return whole.sample(frac=1, random_state=1)


HOW_MANY = "how many answers are right"
ALONE = "which answer alone is right"
ONE_ONLY = "whether original(_correct)? is right and not transformed(_correct)?"


@pytest.mark.parametrize(
    ("say", "said"),
    [
        (lambda p: p.bit_count(), HOW_MANY),
        (lambda p: 2 - p.bit_count(), HOW_MANY),
        (lambda p: p.bit_count() / 2, HOW_MANY),
        (lambda p: ["none", "one", "two"][p.bit_count()], HOW_MANY),
        (lambda p: _WORDS[p], "which answers are right"),
        (lambda p: p, "which answers are right"),
        (lambda p: p % 2 - p // 2, ALONE),
        (lambda p: p // 2 - p % 2, ALONE),
        (lambda p: ["same", "better", "worse", "same"][p], ALONE),
        (lambda p: int(p == 3), "whether both answers are right"),
        (lambda p: int(p > 0), "whether any answer is right"),
        (lambda p: int(p == 2), ONE_ONLY),
        (lambda p: "lost" if p == 2 else "kept", ONE_ONLY),
    ],
)
@pytest.mark.parametrize("form", ["wide", "long", "outcomes"])
@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_what_two_answers_say_together_is_compared(
    tmp_path: Path, say: Any, said: str, form: str, end: str
) -> None:
    path = tmp_path / f"t.{end}"
    for n in (0, 4):
        column = [say(place) for place in _PLACES]
        for i in range(0, 10 * n, 10):
            column[i] = next(each for each in [*column[::-1], *column] if each != column[i])
        frame = of_pairs(form, column, "ab")
        frame.to_csv(path, index=False) if end == "csv" else frame.to_parquet(path)
        notes = [note for note in read_logs([path]).notes if "nearly the same" in note]
        assert len(notes) == (n > 0)
        known = rf"foo \(unlike (the opposite of )?{said} in {n} rows\)"
        assert all(re.search(known, note) for note in notes)


@pytest.mark.parametrize(
    "column",
    [
        ["changed" if _OTHERS[i] or p in {1, 2} else str(p) for i, p in enumerate(_PLACES)],
        [f"{_WORDS[p]}, changed: {_OTHERS[i]}" for i, p in enumerate(_PLACES)],
        [
            ("TP" if p > 1 else "FN") if i % 3 else ["TN", "FP"][p < 2]
            for i, p in enumerate(_PLACES)
        ],
        ["abc"[i % 3] for i in range(40)],
        [["low", "middle", "high"][i % 3] for i in range(40)],
        [i % 4 for i in range(40)],
        [[0, 0.5, 1][i // 2 % 3] for i in range(40)],
        ["" if p == 0 else _WORDS[p] for p in _PLACES],
    ],
    ids=["three", "five", "confusion", "labels", "strata", "numbers", "shares", "blank"],
)
@pytest.mark.parametrize("form", ["wide", "long"])
def test_columns_that_say_something_else_of_two_answers_are_not_told(
    tmp_path: Path, column: list[Any], form: str
) -> None:
    of_pairs(form, column).to_csv(tmp_path / "t.csv", index=False)
    assert not [x for x in read_logs([tmp_path / "t.csv"]).notes if "nearly the same" in x]


@pytest.mark.parametrize("mark", ["x", "1", "true"])
@pytest.mark.parametrize("n", [0, 1])
def test_marks_that_are_ticked_off_are_compared(tmp_path: Path, mark: str, n: int) -> None:
    said = but([mark if right else "" for right in RIGHT], *range(9, 9 + n))
    frame = pd.DataFrame({"label": LABELS, "original": FIRST, "transformed": SECOND, "foo": said})
    frame.to_csv(tmp_path / "t.csv", index=False)
    notes = [x for x in read_logs([tmp_path / "t.csv"]).notes if "nearly the same" in x]
    assert len(notes) == (n > 0)
    assert all("foo (unlike whether original is right in 1 row)" in note for note in notes)


def flips(version: int, right: list[str], answers: list[list[str]], row: int) -> Any:
    return answers[version][row] != answers[0][row]


@pytest.mark.parametrize("n_versions", [2, 3])
@pytest.mark.parametrize(
    ("of_originals", "value", "said"),
    [
        (None, flips, "whether the answer changes"),
        (False, flips, "whether the answer changes"),
        (False, lambda *of: not flips(*of), "(the opposite of )?whether the answer changes"),
        (True, lambda v, right, all_of, row: all_of[0][row] == right[row], "whether original is"),
        (None, lambda v, right, all_of, row: all_of[v][row] == right[row], "whether .* is right"),
    ],
)
def test_what_a_rewording_says_beside_its_original_is_compared_in_long_tables(
    tmp_path: Path, n_versions: int, of_originals: bool | None, value: Any, said: str
) -> None:
    """Rows of originals may say nothing, or false, or the same as those of the rewordings."""
    rng = np.random.default_rng(3)
    right = [str(each) for each in rng.choice(["neg", "pos"], 40)]
    wrong = {"neg": "pos", "pos": "neg"}
    answers = [
        [each if rng.random() < 0.7 else wrong[each] for each in right] for _ in range(n_versions)
    ]
    for n in (0, 4):
        rows = [
            {
                "item": f"q{row}",
                "version": ["original", "a", "b"][version],
                "gold": right[row],
                "predicted": answers[version][row],
                "foo": of_originals
                if version == 0 and not of_originals
                else bool(value(version, right, answers, row)) != (version == 1 and row < n),
            }
            for row in range(40)
            for version in range(n_versions)
        ]
        pd.DataFrame(rows).to_parquet(tmp_path / "t.parquet")
        notes = read_logs([tmp_path / "t.parquet"]).notes
        told = [note for note in notes if "nearly the same" in note]
        assert len(told) == (n > 0)
        assert all(re.search(rf"foo \(unlike {said}.* in {n} rows\)", note) for note in told)


@pytest.mark.slow
def test_columns_that_have_nothing_to_do_with_pairs_are_rarely_taken_for_them() -> None:
    rng = np.random.default_rng(0)
    n_told = 0
    for _ in range(1000):
        n = int(rng.integers(10, 200))
        label, one, two, other = (pa.array(rng.choice(["p", "n"], n)) for _ in range(4))
        other = pa.array(rng.integers(0, int(rng.integers(2, 5)), n))
        counted = key_counted(("label", label), {"a": one, "b": two}, Path("x.csv"))
        n_told += len(say_near_copies({"foo": other}, counted, Path("x.csv")))
    assert n_told <= 10
