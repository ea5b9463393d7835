"""The long table of predictions: its schema, its pairs, its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses import compare_versions
from ietest_fast.answers import Predictions
from ietest_fast.answers.file import name_models
from ietest_fast.errors import InputError

LABELS = ("no", "yes")
GOLD = np.array([0, 1, 1, 0], dtype=np.int8)
ORIGINAL = np.array([0, 1, 0, 0], dtype=np.int8)
REPHRASED = np.array([0, 0, 1, -1], dtype=np.int8)


def make(**options: object) -> Predictions:
    return Predictions.from_codes(
        **{
            "items": ["a", "b", "c", "d"],
            "gold": GOLD,
            "versions": {"original": ORIGINAL, "syn": REPHRASED},
            "label_names": LABELS,
            **options,
        }
    )


def test_pairs_are_the_matched_sample() -> None:
    pairs = make().pairs("syn")
    assert pairs.items.to_pylist() == ["a", "b", "c", "d"]
    assert pairs.gold.tolist() == GOLD.tolist()
    assert pairs.original.tolist() == ORIGINAL.tolist()
    assert pairs.transformed.tolist() == REPHRASED.tolist()
    assert pairs.sample.original_correct.tolist() == [True, True, False, True]
    assert pairs.sample.transformed_correct.tolist() == [True, False, True, False]
    assert (pairs.n_flipped, pairs.n_unmatched) == (3, 0)


def test_rows_are_matched_by_item_in_any_order() -> None:
    whole = make()
    order = np.random.default_rng(1).permutation(8)
    mixed = Predictions(table=whole.table.take(pa.array(order)), label_names=LABELS)
    pairs, expected = mixed.pairs("syn"), whole.pairs("syn")
    back = np.argsort(pairs.items.to_pylist())
    assert pairs.sample.transformed_correct[back].tolist() == (
        expected.sample.transformed_correct.tolist()
    )
    assert pairs.sample.original_correct[back].tolist() == (
        expected.sample.original_correct.tolist()
    )


def test_items_that_one_version_lacks_are_counted() -> None:
    whole = make()
    some = Predictions(table=whole.table.slice(1, 6), label_names=LABELS)
    pairs = some.pairs("syn")
    assert pairs.items.to_pylist() == ["b", "c"]
    assert pairs.n_unmatched == 2


def test_several_rows_of_an_item_are_told_apart_by_copy() -> None:
    table = pa.table(
        {
            "item": [1, 2, 1, 1, 2],
            "version": ["original", "original", "many", "many", "many"],
            "copy": [0, 0, 0, 1, 0],
            "correct": [True, False, True, False, False],
        }
    )
    pairs = Predictions(table=table).pairs("many")
    assert pairs.items.to_pylist() == [1, 1, 2]
    assert pairs.sample.original_correct.tolist() == [True, True, False]
    with pytest.raises(InputError, match="1 item occurs more than once in a version: item 1"):
        Predictions(table=table.drop_columns(["copy"]))


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    probabilities = np.full((4, 2), 0.5, dtype=np.float32)
    written = make(
        probabilities={"original": probabilities, "syn": probabilities},
        columns={"model": "bow", "m": 3, "rho": 0.5, "genre": ["x", "y", "x", "y"]},
        version_columns={"text": {"original": list("abcd"), "syn": list("efgh")}},
        dropped={"no gold label": 2},
    )
    written.write(tmp_path / "p.parquet")
    read = Predictions.read(tmp_path / "p.parquet")
    assert read.table.equals(written.table)
    assert (read.label_names, read.dropped) == (LABELS, {"no gold label": 2})
    assert read.versions == ("original", "syn")
    assert read.groups == ({"model": "bow", "m": 3, "rho": 0.5},)
    assert read.extra_columns == ("genre", "text")
    assert read.pairs("syn").column("genre").to_pylist() == ["x", "y", "x", "y"]
    assert pq.read_schema(tmp_path / "p.parquet").field("version").type == pa.dictionary(
        pa.int32(), pa.string()
    )


def test_several_classifiers_share_a_table() -> None:
    both = Predictions.concat(
        [make(columns={"model": "a"}), make(columns={"model": "b", "genre": list("xyxy")})]
    )
    assert both.groups == ({"model": "a"}, {"model": "b"})
    assert len(both.pairs("syn", model="b")) == 4
    with pytest.raises(InputError, match="2 classifiers are in these predictions; say which"):
        both.pairs("syn")
    with pytest.raises(InputError, match="no prediction has model 'c'"):
        both.pairs("syn", model="c")
    with pytest.raises(InputError, match="occur more than once"):
        Predictions.concat([make(), make()])


def golden(model: str, labels: str) -> pa.Table:
    """Answers of a model to two items in two versions, and the labels that it is compared with."""
    return pa.table(
        {
            "item": [1, 2, 1, 2],
            "version": ["original", "original", "x", "x"],
            "model": [model] * 4,
            "gold": list(labels),
            "predicted": list("ynyn"),
        }
    )


def test_models_of_the_same_item_have_the_same_gold_label(tmp_path: Path) -> None:
    parts = [golden("a", "ynnn"), golden("b", "ynyn")]
    said = (
        "item '?1'? has in version 'x' the gold label 'y' for model 'b', and 'n' for model 'a'; "
        "classifiers are compared on the same items"
    )
    with pytest.raises(InputError, match=f"row 6, column 'gold': {said}"):
        Predictions.from_table(pa.concat_tables(parts))
    paths = [tmp_path / name for name in "ab"]
    models = [Predictions(table=part, source=name) for part, name in zip(parts, "ab", strict=True)]
    with pytest.raises(InputError, match=f"^b, row 2, column 'gold': {said}"):
        name_models(models, paths)
    # A version may have labels of its own, and free texts that are marked are no labels.
    assert len(Predictions(table=pa.concat_tables([parts[0], golden("b", "ynnn")]))) == 8
    marked = [part.append_column("correct", pa.array([True] * 4)) for part in parts]
    assert len(Predictions(table=pa.concat_tables(marked))) == 8
    others = Predictions(
        table=golden("b", "jkjk")
        .drop_columns("predicted")
        .append_column("predicted", pa.array(list("jkjk")))
    )
    assert len(name_models([models[0], others], paths)) == 2  # in other words


def test_correctness_alone_is_enough() -> None:
    table = pa.table({"item": [1, 1], "version": ["original", "x"], "correct": [True, False]})
    pairs = Predictions(table=table).pairs("x")
    assert pairs.n_flipped is None
    assert pairs.sample.counts.n10 == 1


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"item": [1], "correct": [True]}, "column 'version': is missing"),
        ({"item": [1], "version": ["original"], "gold": ["a"]}, "needs a column correct, or both"),
        (
            {"item": [1, None], "version": ["a", "b"], "correct": [True, True]},
            "row 1, column 'item': 1 value is missing",
        ),
        (
            {"item": [1], "version": ["a"], "gold": pa.array([None], pa.string()),
             "predicted": ["a"]},
            "column 'gold': 1 row has no gold label",
        ),
        (
            {"item": [1], "version": ["a"], "correct": ["perhaps"]},
            "column 'correct': 'perhaps' is no outcome",
        ),
        (
            {"item": [[1]], "version": ["a"], "correct": [True]},
            "column 'item': values are of type list",
        ),
        (
            {"item": pa.array([], pa.int64()), "version": pa.array([], pa.string()),
             "correct": pa.array([], pa.bool_())},
            "there are no predictions",
        ),
    ],
)  # fmt: skip
def test_tables_of_another_schema_are_refused(columns: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Predictions(table=pa.table(columns), source="p")


def test_labels_outside_the_names_are_refused() -> None:
    table = make().table
    with pytest.raises(InputError, match="'yes' is none of the labels no, maybe"):
        Predictions(table=table, label_names=("no", "maybe"))


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match="is no readable Parquet file"):
        Predictions.read(path)


def test_versions_that_are_not_there_are_named() -> None:
    with pytest.raises(InputError, match="has no version 'voice'; it has original, syn"):
        make().pairs("voice")


def suite(**items: range) -> Predictions:
    """Versions of some items each; every third answer to a version is wrong."""
    everything = sorted({item for own in items.values() for item in own})
    rows = [(item, "original", True) for item in everything]
    rows += [(item, name, item % 3 > 0) for name, own in items.items() for item in own]
    names = ("item", "version", "correct")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    return Predictions(table=table)


def test_cochran_is_of_the_items_that_have_all_versions() -> None:
    apart = compare_versions(suite(voice=range(30), negation=range(30, 60)))
    assert [test.result.n for test in apart.tests] == [30, 30]
    assert apart.cochran == ()
    assert compare_versions(suite(voice=range(30), negation=range(29, 60))).cochran == ()
    (overlap,) = compare_versions(suite(voice=range(30), negation=range(20, 60))).cochran
    assert overlap.result.n == 10


def test_cochran_is_left_out_where_an_item_has_several_rows() -> None:
    whole = suite(voice=range(30), negation=range(30)).table
    copies = whole.slice(30, 30).append_column("copy", pa.array([1] * 30, pa.int32()))
    table = pa.concat_tables(
        [whole.append_column("copy", pa.array([0] * 90, pa.int32())), copies],
        promote_options="permissive",
    )
    found = compare_versions(Predictions(table=table))
    assert [test.result.n for test in found.tests] == [60, 30]
    assert found.cochran == ()


def label_setting(n: int = 300) -> Predictions:
    """A version whose labels are the other ones: 8 items are lost, and 8 others are won."""
    gold = np.arange(n) % 2
    wrong, still = np.arange(n) % 40 == 1, np.arange(n) % 40 == 0
    first = Predictions.from_codes(
        items=np.arange(n),
        gold=gold,
        versions={"original": np.where(wrong, 1 - gold, gold)},
        label_names=LABELS,
        columns={"edits": np.arange(n) % 3 + 1},
    )
    second = Predictions.from_codes(
        items=np.arange(n),
        gold=1 - gold,
        versions={"negated": np.where(still, gold, 1 - gold)},
        label_names=LABELS,
        columns={"edits": np.arange(n) % 3 + 1},
    )
    return Predictions.concat([first, second])


def test_a_version_with_labels_of_its_own_is_right_by_them_in_every_stratum() -> None:
    found = compare_versions(
        label_setting(), reworded=True, strata=["label", "edits"], dose="edits"
    )
    (test,) = found.tests
    counts = test.result.counts
    assert (counts.n10, counts.n01) == (8, 8)
    for strata in test.statistics["strata"].results:
        heterogeneity = strata.heterogeneity
        assert (sum(heterogeneity.losses), sum(heterogeneity.gains)) == (8, 8)
        assert sum(each.flips.n_flipped for each in strata.strata if each.flips) == 300 - 16
    dose = test.statistics["dose"].result
    assert (sum(dose.losses), sum(dose.gains)) == (8, 8)
    assert sum(dose.flipped or ()) == 300 - 16
    assert test.invariance is not None
    assert test.invariance.strata is not None
    own = [each.to_dict() for each in test.invariance.strata.strata]
    assert [each.to_dict() for each in test.statistics["strata"].results[0].strata] == own


def test_edits_of_a_version_are_not_those_of_the_reference() -> None:
    versions = {"original": ORIGINAL, "syn": REPHRASED, "file": REPHRASED}
    edits = {
        "original": pa.array([0, 0, 0, 0]),
        "syn": pa.array([1, 2, 1, 2]),
        "file": pa.nulls(4, pa.int64()),
    }
    genre = {name: pa.array(["x", None, "y", "y"]) for name in versions}
    genre["original"] = pa.array(["x", "x", "y", "y"])
    mixed = make(versions=versions, version_columns={"edits": edits, "genre": genre})
    assert mixed.pairs("syn").column("edits", of_version=True).to_pylist() == [1, 2, 1, 2]
    assert mixed.pairs("file").column("genre", of_version=True).to_pylist() == ["x", "x", "y", "y"]
    for options in ({"strata": ["edits"]}, {"dose": "edits"}):
        with pytest.raises(InputError, match="'file': what made it tells no edits; leave edits"):
            compare_versions(mixed, reworded=True, **options)


def test_labels_of_several_versions_are_corrected_as_accuracy_is() -> None:
    n = 3_000
    gold = np.arange(n) % 2
    original = np.where(np.arange(n) // 2 % 10 < 7, gold, 1 - gold)
    other = original.copy()
    for label, lost in ((0, 15), (1, 5)):  # p = 0.0038, held to 0.005
        own = gold == label
        other[np.flatnonzero(own & (original == gold))[:lost]] = 1 - label
        other[np.flatnonzero(own & (original != gold))[: 20 - lost]] = label

    def judge(names: list[str]) -> list[tuple[str, bool]]:
        table = Predictions.from_codes(
            items=np.arange(n),
            gold=gold,
            versions={"original": original} | dict.fromkeys(names, other),
            label_names=LABELS,
        )
        found = compare_versions(table, reworded=True, margin=0.005).tests
        return [
            (str(test.invariance.verdict), test.invariance.uneven)
            for test in found
            if test.invariance is not None
        ]

    assert judge(["one"]) == [("changes answers", True)]
    assert [uneven for _, uneven in judge(["one", "two", "three"])] == [False] * 3
