"""Consistency on items that a model gets right from a part of the input, and on others."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ietest_fast.analyses import find_wordings
from ietest_fast.analyses.consistency.file import ConsistencyAnswers, ConsistencyNotes
from ietest_fast.analyses.consistency.noting import (
    COLUMN,
    CORRECT,
    ConsistencyOptions,
    note_partial_input,
)
from ietest_fast.analyses.consistency.partition import part_by_partial_input
from ietest_fast.analyses.consistency.profile import measure_wordings
from ietest_fast.answers import Predictions
from ietest_fast.errors import InputError

QUICK = ConsistencyOptions(confidence_level=0.9, n_resamples=50)
RIGHT = {"a": True, "b": False, "c": True, "e": False}


def make(rows, **columns):
    item, version, correct = zip(*rows, strict=True)
    return Predictions(
        table=pa.table(
            {"item": list(item), "version": list(version), "correct": list(correct), **columns}
        )
    )


FULL = make(
    [
        ("a", "original", True),
        ("a", "p", False),
        ("a", "q", True),
        ("b", "original", False),
        ("b", "p", True),
        ("c", "p", True),
        ("d", "original", True),
        ("d", "p", True),
    ]
)
# Item e is not among the answers of the full model.
PARTIAL = make([(item, "original", right) for item, right in RIGHT.items()] + [("b", "p", True)])


def note(full, partial):
    answers = ConsistencyAnswers(predictions=full, notes=ConsistencyNotes())
    return note_partial_input(answers, partial, "part")


def part(noted):
    counts = find_wordings(noted.predictions).count()
    return part_by_partial_input(noted, counts, QUICK, strata=None)


def items(noted, value):
    """The items of the rows whose item the partial model got right, or wrong."""
    table = noted.predictions.table
    rows = zip(table["item"].to_pylist(), table[COLUMN].to_pylist(), strict=True)
    return [item for item, own in rows if own == value]


def test_items_go_with_all_their_wordings():
    noted = note(FULL, PARTIAL)
    assert noted.notes.partial_input == "part"
    assert items(noted, "right") == ["a", "a", "a", "c"]
    assert items(noted, "wrong") == ["b", "b"]
    # d was not asked.
    assert items(noted, None) == ["d", "d"]
    # Each row's own answer is beside it, where there is one.
    asked = noted.predictions.table[CORRECT].to_pylist()
    assert asked == [True, None, None, False, True, None, None, None]
    assert noted.predictions.correct.tolist() == FULL.correct.tolist()


def test_the_parts_have_their_items_and_the_others_are_counted():
    found = part(note(FULL, PARTIAL))
    right, wrong = (found.subsets.parts[name] for name in ("right", "wrong"))
    assert (right.n_buckets, wrong.n_buckets, found.n_unmatched) == (2, 1, 1)
    # Of the paraphrases of a half are right, that of c, and that of b.
    assert (right["accuracy_macro"].value, wrong["accuracy_macro"].value) == (0.75, 1)
    own = {name: vars(each) for name, each in found.own.items()}
    assert own == {
        "right": {"n_items": 2, "originals": 1, "paraphrases": None, "n_paraphrases": 0},
        "wrong": {"n_items": 1, "originals": 0, "paraphrases": 1, "n_paraphrases": 1},
    }
    assert "1 item is in neither part: part, which saw a part" in found.remarks()[0]


def test_a_part_without_items_is_left_out():
    found = part(note(FULL, make([("a", "original", True), ("c", "original", True)])))
    assert list(found.subsets.parts) == ["right"]
    assert found.n_unmatched == 2


@pytest.mark.slow
def test_several_full_models_are_noted_together():
    table = pa.concat_tables(
        [FULL.table.append_column("model", pa.array([name] * len(FULL))) for name in ("x", "y")]
    )
    noted = note(Predictions(table=table), PARTIAL)
    assert items(noted, "right") == ["a", "a", "a", "c"] * 2
    profiles = measure_wordings([noted], QUICK)
    assert [profile.group["model"] for profile in profiles] == ["x", "y"]
    for profile in profiles:
        sizes = {name: own.n_buckets for name, own in profile.partial.subsets.parts.items()}
        assert (sizes, profile.partial.n_unmatched) == ({"right": 2, "wrong": 1}, 1)


def test_numbers_and_texts_name_the_same_items():
    full = make([(1, "original", True), (2, "original", True), (2, "p", True)])
    partial = make([("2", "original", False), ("1", "original", True), ("2", "p", True)])
    noted = note(full, partial)
    assert (items(noted, "right"), items(noted, "wrong")) == ([1], [2, 2])
    assert noted.predictions.table[CORRECT].to_pylist() == [True, False, True]


def test_answers_are_right_if_they_are_the_gold_label():
    partial = Predictions.from_codes(
        items=["a", "b", "c"],
        gold=np.array([0, 1, 1]),
        versions={"original": np.array([0, 0, -1])},
        label_names=("weakener", "strengthener"),
    )
    noted = note(FULL, partial)
    assert set(items(noted, "right")) == {"a"}
    assert set(items(noted, "wrong")) == {"b", "c"}


def test_noted_again_it_is_noted_anew():
    noted = note(FULL, PARTIAL)
    again = note_partial_input(noted, make([("b", "original", True)]), "other")
    assert again.notes.partial_input == "other"
    assert (items(again, "right"), items(again, "wrong")) == (["b", "b"], [])


def test_what_cannot_be_is_refused():
    two = make([("a", "original", True)] * 2, model=["x", "y"])
    with pytest.raises(InputError, match="2 classifiers are in these predictions"):
        note(FULL, two)
    with pytest.raises(InputError, match="has no version 'original'; it has p, r"):
        note(FULL, make([("a", "p", True), ("a", "r", True)]))
    with pytest.raises(InputError, match=r"has no item of <memory>, such as 'a'"):
        note(FULL, make([("z", "original", True)]))
    copies = make([("a", "original", True)] * 2, copy=[0, 1])
    with pytest.raises(
        InputError, match="in version 'original' one item occurs more than once: 'a'"
    ):
        note(FULL, copies)
    for name in (COLUMN, CORRECT):
        marked = FULL.table.append_column(name, pa.array(["x"] * len(FULL)))
        with pytest.raises(InputError, match=f"column '{name}': is there already"):
            note(replace(FULL, table=marked), PARTIAL)
    noted = note(FULL, PARTIAL)
    table = noted.predictions.table.drop_columns([CORRECT])
    without = replace(noted, predictions=replace(noted.predictions, table=table))
    with pytest.raises(InputError, match=f"column '{CORRECT}': is not in the file, which says"):
        part(without)


def read_published(path):
    rows = []
    for item, bucket in json.loads(gzip.decompress(path.read_bytes())).items():
        gold = bucket["gold_label"]
        rows.append((item, "original", bucket["original_prediction"] == gold))
        for place, each in enumerate(bucket["bucket_confidences"]):
            rows.append((item, f"p{place}", each["prediction"] == gold))
    return rows


@pytest.mark.slow
def test_published_predictions_are_parted(shared):
    folder = shared / "data" / "paranlu" / "results"
    full = read_published(folder / "snli_human_d-snli-roberta-large.json.gz")
    partial = read_published(folder / "snli_human_d-snli-partial_input_lexical.json.gz")
    noted = note(make(full), make(partial))
    right = {item: correct for item, version, correct in partial if version == "original"}
    for value, wanted in (("right", True), ("wrong", False)):
        slow = [correct for item, _, correct in full if right[item] == wanted]
        assert noted.predictions.select(**{COLUMN: value}).correct.tolist() == slow
    found = part(noted)
    assert found.subsets.parts["right"].n_buckets == sum(right.values())
    assert sum(own.n_buckets for own in found.subsets.parts.values()) == 250
    assert found.n_unmatched == 0
    # How the partial model itself answers the paraphrases of each part.
    for value, wanted in (("right", True), ("wrong", False)):
        own = [
            correct
            for item, version, correct in partial
            if version != "original" and right[item] == wanted
        ]
        assert found.own[value].n_paraphrases == len(own)
        assert found.own[value].paraphrases == pytest.approx(np.mean(own))
