"""Answers to stress tests from files and logs: what they say of themselves is not guessed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ietest_fast as ie
from ietest_fast.analyses.stress.asking import (
    StressAnswers,
    StressNotes,
    measure_answers,
    measure_stress,
    read_stress_answers,
)
from ietest_fast.analyses.stress.origins import StressOrigin, say_made_of
from ietest_fast.analyses.stress.page import accuracy_table, side_by_side
from ietest_fast.analyses.stress.suite import StressOptions, StressTest
from ietest_fast.answers import Predictions, read_predictions
from ietest_fast.answers.file import read_notes, write_answers
from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.versions import Version
from ietest_fast.errors import InputError
from ietest_fast.stats import Verdict, paired_test

if TYPE_CHECKING:
    from collections.abc import Callable
from pathlib import Path

LABELS = ["entailment", "neutral", "contradiction"]
PAIRS = [
    ("A large dog runs in the park.", "A big animal moves.", "contradiction"),
    ("Some women sit on a bench.", "The women are old.", "neutral"),
    ("A boy sleeps in the house.", "Somebody sleeps.", "entailment"),
    ("Nobody swims.", "No one is in it.", "contradiction"),
]


def frame(rows: list[tuple[str, str, str]] = PAIRS) -> dict[str, Any]:
    columns: Any = zip(*rows, strict=True)
    return dict(zip(("premise", "hypothesis", "label"), map(list, columns), strict=True))


def neutral(pairs: list[tuple[str, str]]) -> list[str]:
    return ["neutral"] * len(pairs)


def no_means_no(pairs: list[tuple[str, str]]) -> list[str]:
    return ["contradiction" if "no" in pair[1].lower() else "neutral" for pair in pairs]


def test_a_test_that_sets_labels_is_not_paired_though_its_labels_are_the_originals(
    tmp_path: Path,
) -> None:
    # One row, from a contradiction: nothing but the transformation says that the label was set.
    found = ie.stress(
        neutral, frame([PAIRS[0], ("It is.", "So be it.", "neutral")]), suite={"a": "antonym"},
        label_names=LABELS, out=tmp_path / "a.parquet",
    )  # fmt: skip
    assert found["a"].accuracy.n == 1
    assert (found["a"].keeps_labels, found["a"].comparison) == (False, None)
    (again,) = measure_answers(read_stress_answers([tmp_path / "a.parquet"]))
    assert not again["a"].keeps_labels
    # Several rows, each of an item of its own: they stay out of Holm's family.
    several = [(f"A large dog runs in park {i}.", "It moves.", "contradiction") for i in range(4)]
    found = ie.stress(
        no_means_no, frame([*several, ("It is.", "So be it.", "neutral")]),
        suite={"a": "antonym", "no": "negation"}, label_names=LABELS,
    )  # fmt: skip
    assert found["a"].accuracy.n == 4
    assert found["a"].comparison is None
    no = found["no"].comparison
    assert no is not None
    assert no.p_adjusted < 2 * no.result.p_value  # a family of one version


def log(**columns: Any) -> Predictions:
    return Predictions(table=pa.table(columns))


def answers_of(**changes: list[Any]) -> pa.Table:
    """Answers to ten items and to their version `neg`, as the package writes them."""
    columns = {
        "item": [*range(10)] * 2,
        "version": ["original"] * 10 + ["neg"] * 10,
        "gold": LABELS[:2] * 10,
        "predicted": LABELS[:2] * 10,
        "genre": ["a", "b"] * 10,
    }
    return pa.table({**columns, **changes})


@pytest.mark.parametrize(
    ("spell", "is_told"), [(str.upper, True), (" {}".format, False), ("x{}".format, False)]
)
def test_items_of_a_test_in_another_case_than_the_originals_are_refused(
    spell: Callable[[str], str], *, is_told: bool
) -> None:
    """Blanks are cut; other items are those of another file."""
    names = [f"q{i}" for i in range(10)]
    table = Predictions.from_table(answers_of(item=[*names, *map(spell, names)]))
    if not is_told:
        assert measure_stress(table)[0].tests[0].n_items == 10
        return
    with pytest.raises(InputError, match="the originals; they differ only in case, such as 'Q0'"):
        measure_stress(table)


def test_rows_of_a_test_that_contradict_the_originals_are_refused() -> None:
    origins = {"neg": StressOrigin(identity="negation@0000", keeps_labels=True, n_texts=10)}
    table = answers_of()
    (found,) = measure_stress(Predictions.from_table(table), notes=StressNotes(origins=origins))
    assert found.tests[0].comparison is not None
    half = table.filter([i >= 5 for i in range(20)])
    with pytest.raises(InputError, match="5 rows of neg are of items without an original, such as"):
        measure_stress(Predictions.from_table(half))
    other = answers_of(item=[*range(10), *range(100, 110)])
    with pytest.raises(InputError, match="10 rows of neg are of items without an original"):
        measure_stress(Predictions.from_table(other), notes=StressNotes(origins=origins))
    gold = answers_of(gold=[*LABELS[:2] * 9, LABELS[1], LABELS[0]])
    with pytest.raises(InputError, match="column 'gold': is 'neutral' in neg, and 'entailment' in"):
        measure_stress(Predictions.from_table(gold), notes=StressNotes(origins=origins))
    # Where nobody has said that labels are kept, it is told.
    (found,) = measure_stress(Predictions.from_table(gold))
    assert any("neg: not compared with the originals" in said for said in found.remarks())
    genre = answers_of(genre=[*["a", "b"] * 9, "b", "b"])
    with pytest.raises(InputError, match="column 'genre': is 'b' in neg, and 'a' in the original"):
        measure_stress(Predictions.from_table(genre), StressOptions(group_by="genre"))


@pytest.mark.parametrize(
    ("before", "after", "is_refused"),
    [
        (["a", "b"], ["b", "a"], True),
        (["a", "b"], ["b", "c"], True),
        (["a", "b"], ["b", "b"], True),
        (["a", "b"], ["A2", "B2"], False),
        (["a", "a"], ["b", "b"], False),
        ([0, 1], [1, 2], False),
        (["0", "1"], ["1", "2"], False),
        (["a", None], [None, "b"], False),
    ],
)
def test_a_group_that_is_of_the_item_is_the_same_in_all_versions(
    before: list[Any], after: list[Any], is_refused: bool
) -> None:
    predictions = Predictions.from_table(answers_of(genre=[*before * 5, *after * 5]))
    if is_refused:
        with pytest.raises(InputError, match=r"column 'genre': is .* give each item one value"):
            measure_stress(predictions, StressOptions(group_by="genre"))
    else:
        (profile,) = measure_stress(predictions, StressOptions(group_by="genre"))
        assert profile["neg"].by_group


def test_blanks_around_clusters_make_no_other_stress_test() -> None:
    blank = answers_of(genre=["a", "a ", "b", " b", "c"] * 4)
    plain = answers_of(genre=["a", "a", "b", "b", "c"] * 4)
    found = [
        measure_stress(Predictions.from_table(each), StressOptions(clusters="genre"))
        for each in (blank, plain)
    ]
    first, second = (profile.original.accuracy for (profile,) in found)
    assert first == second


def test_answers_that_are_missing_in_a_file_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    model = ie.stress(no_means_no, frame(PAIRS * 3), suite={"neg": "negation"})
    notes = StressNotes(text_columns=("premise", "hypothesis"))
    write_answers(StressAnswers(predictions=model.predictions, notes=notes), path)
    table = pq.read_table(path)
    place = table.schema.get_field_index("predicted")
    kept = table["predicted"].to_pylist()
    lost = pa.array([None if i % 3 == 0 else each for i, each in enumerate(kept)], pa.string())
    column = lost.cast(table.schema.field(place).type)
    pq.write_table(table.set_column(place, table.schema.field(place), column), path)
    (found,) = measure_answers(read_stress_answers([path]))
    n = sum(each is None for each in lost.to_pylist())
    assert f"{n} answers are no label, and count as wrong." in found.remarks()


def test_a_single_row_is_too_few_and_said() -> None:
    predictions = log(
        item=[0, 1, 0, 0, 1],
        version=["original", "original", "one", "two", "two"],
        correct=[True, True, False, True, True],
    )
    (profile,) = measure_stress(predictions)
    assert profile["one"].comparison is None
    assert profile["two"].comparison is not None
    assert "one: a single row is too few for a paired test." in profile.remarks()


@pytest.mark.parametrize("gold", [None, [None] * 40], ids=["no column", "all null"])
def test_without_right_answers_items_are_paired(gold: list[None] | None, tmp_path: Path) -> None:
    before, after = np.arange(20) < 15, np.arange(20) < 4
    columns = {
        "item": [*range(20), *range(20)],
        "version": ["original"] * 20 + ["typos"] * 20,
        "correct": [*before.tolist(), *after.tolist()],
    }
    if gold is not None:
        columns["gold"] = pa.array(gold, pa.string())
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    (profile,) = measure_stress(read_predictions(tmp_path / "log.parquet"))
    compared = profile["typos"].comparison
    assert compared is not None
    assert compared.result.p_value == paired_test(before, after).p_value


def test_what_gave_no_row_is_counted_by_its_reason() -> None:
    premise = "A large dog runs in the park."
    rows = [(premise, f"It is number {i}.", "neutral") for i in range(5)]
    rows.append(("Hm.", "So it is.", "contradiction"))
    found = ie.stress(neutral, frame(rows), suite={"a": "antonym"}, label_names=LABELS)
    assert found["a"].n_items == 1
    assert found.remarks() == [
        "a: made of 1 of 6 items; 1 has nothing for it; 4 would only repeat what others give."
    ]
    composed = ie.stress(neutral, frame(rows), suite={"a": "antonym+negation"}, label_names=LABELS)
    assert composed.remarks() == found.remarks()


def test_labels_that_nobody_knows_are_a_reason_of_their_own() -> None:
    version = Version(
        name="v",
        identity="v@1234",
        table=pa.table({"text": ["a", "b", "c"]}),
        source_row=np.array([0, 0, 1]),
        labels=np.array([-1, 0, -1], np.int8),
        keeps_labels=False,
        repeated=np.array([1, 3]),
    )
    origin = StressOrigin.of(version, n_texts=5)
    assert (origin.n_repeated, origin.n_unknown) == (1, 1)
    assert say_made_of("v", 1, 5, is_foreign=False, origin=origin) == (
        "v: made of 1 of 5 items; 2 have nothing for it; 1 would only repeat what others give; "
        "1 gets no known label."
    )
    assert say_made_of("v", 3, 5, is_foreign=False, origin=None) == (
        "v: made of 3 of 5 items; 2 have no row in it."
    )


def test_missing_texts_of_another_file_are_counted() -> None:
    texts = ["Anna buys 12 apples.", None, "Nothing.", "Tom eats 7 nuts.", "So it is."]
    found = ie.stress(neutral, frame(), quantities=texts, suite=None, label_names=LABELS)
    said = "numerical: made of 2 of 5 texts of another file; 2 have nothing for it; 1 is missing."
    assert said in found.remarks()


def test_every_file_keeps_what_it_says_of_itself(tmp_path: Path) -> None:
    paths = []
    for name, suite in (("a", {"no": "negation"}), ("b", {"no": "negation", "q": "numerical"})):
        paths.append(tmp_path / f"{name}.parquet")
        ie.stress(neutral, frame(), suite=suite, out=paths[-1], label_names=LABELS)
    table = pq.read_table(paths[0])
    known = json.loads(table.schema.metadata[b"ietest_fast.predictions"])
    known["dropped"] = {"no label": 7}
    metadata = {**table.schema.metadata, b"ietest_fast.predictions": json.dumps(known).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), paths[0])
    a, b = measure_answers(read_stress_answers(paths))
    assert (a.name, b.name) == ("a", "b")
    assert (a.empty, b.empty) == ((), ("q",))
    assert (a.to_dict()["dropped"], b.to_dict()["dropped"]) == ({"no label": 7}, {})
    assert "7 rows left out: no label." in a.remarks()
    assert b.warnings == ()


def test_answers_to_other_texts_or_rules_are_said_to_be(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.parquet" for name in ("first", "fewer", "other", "rules")}
    changed = [("A cat sleeps.", *PAIRS[0][1:]), *PAIRS[1:]]
    suite = {"w": "word-overlap"}
    for name, rows in (("first", PAIRS), ("fewer", PAIRS[:3]), ("other", changed)):
        ie.stress(neutral, frame(rows), suite=suite, out=paths[name], label_names=LABELS)
    paper = {"w": "word-overlap:rules=paper"}
    ie.stress(neutral, frame(), suite=paper, out=paths["rules"], label_names=LABELS)
    profiles = measure_answers(read_stress_answers(list(paths.values())))
    first, fewer, other, rules = profiles
    assert first.unlike == ()
    (said,) = fewer.unlike
    assert (
        said == "fewer has answered other originals than first (3 and 4), so do not compare them."
    )
    assert "other originals than first (4 and 4)" in other.unlike[0]
    assert rules.unlike[0].startswith("rules: w is not made as for first: word-overlap@")
    note = side_by_side(profiles).note
    assert all(line in note for each in profiles for line in each.unlike)
    table = pq.read_table(paths["fewer"])
    named = table.append_column("model", pa.array(["fewer"] * len(table)))
    pq.write_table(named, tmp_path / "again.parquet")
    with pytest.raises(InputError, match="another file holds answers of fewer as well"):
        read_stress_answers([paths["fewer"], tmp_path / "again.parquet"])


def answered(folder: Path, name: str, *, without: tuple[str, ...] = (), **new: str) -> Path:
    """Write a table of another program; `new` are endings of texts of a version."""
    rows = [
        {"item": str(i), "version": version, "premise": pair[0],
         "hypothesis": pair[1] + ending + new.get(version, ""), "gold": pair[2],
         "predicted": "neutral", "correct": pair[2] == "neutral"}
        for version, ending in (("original", ""), ("negation", " Yes."), ("spelling", " Yess."))
        for i, pair in enumerate(PAIRS)
    ]  # fmt: skip
    rows = [{k: v for k, v in row.items() if k not in without} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows), folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


@pytest.mark.parametrize(
    ("new", "without", "said"),
    [
        ({}, (), None),
        ({"original": " Really."}, (), "m2 has answered other originals than m1 (4 and 4), so do"),
        ({"negation": "!"}, (), "m2: negation is not made as for m1: 4 rows, there 4, and 0 are"),
        ({"spelling": "!"}, (), "m2: spelling is not made as for m1: 4 rows, there 4, and 0 are"),
        ({"spelling": "!"}, ("premise", "hypothesis"), None),  # nobody knows
    ],
)
def test_tables_of_other_programs_say_what_they_are_made_of_by_their_texts(
    new: dict[str, str], without: tuple[str, ...], said: str | None, tmp_path: Path
) -> None:
    paths = [answered(tmp_path, "m1"), answered(tmp_path, "m2", without=without, **new)]
    found = read_logs(paths)
    run = StressNotes(warnings=found.notes)
    first, other = measure_answers([StressAnswers(predictions=found.predictions, notes=run)])
    assert first.unlike == ()
    assert len(other.unlike) == (said is not None)
    assert said is None or other.unlike[0].startswith(said)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = ie.stress(
        neutral, frame(), suite={"l": "length-mismatch", "no": "negation"},
        input_columns="hypothesis", out=tmp_path / "a.parquet", label_names=LABELS,
    )  # fmt: skip
    assert (found.empty, found.unseen) == (("l",), ("l",))
    assert "l: changes no column that the model sees." in found.remarks()
    run = read_notes(tmp_path / "a.parquet", StressNotes)
    assert run is not None
    assert (run.empty, run.unseen, run.text_columns) == (("l",), ("l",), ("premise", "hypothesis"))
    assert run.origins["no"] == found["no"].origin
    (again,) = measure_answers(read_stress_answers([tmp_path / "a.parquet"]))
    assert again.to_dict() == found.to_dict()
    with pytest.raises(InputError, match="changes a text in hypothesis, which the model sees"):
        ie.stress(neutral, frame(), suite={"l": "length-mismatch"}, input_columns="hypothesis")


def edit(path: Path, *, is_old: bool, keep: Any = None, texts: str | None = None) -> Path:
    """Write answers again, of some rows or with other texts in a test, under the same metadata."""
    table = pq.read_table(path)
    known = dict(table.schema.metadata)
    if is_old:
        told = json.loads(known[b"ietest_fast.stress"])
        for each in told["origins"].values():
            del each["n_made"], each["n_rows"]
        known[b"ietest_fast.stress"] = json.dumps(told).encode()
    rows = [row for n, row in enumerate(table.to_pylist()) if keep is None or keep(row, n)]
    for row in rows:
        row["premise"] += " So." if row["version"] == texts else ""
    target = path.parent / f"{path.stem}-edited.parquet"
    edited = pa.Table.from_pylist(rows, schema=table.schema).replace_schema_metadata(known)
    pq.write_table(edited, target)
    return target


@pytest.mark.parametrize(
    ("keep", "said", "said_of_old"),
    [
        (None, [], []),
        (
            lambda row, _: row["version"] != "no" or row["item"] in {0, 1},
            ["no: made of 2 of 4 items; 4 rows were answered, and the file has 2, so it was ed"],
            ["no: made of 2 of 4 items; 2 have no row in it."],
        ),
        (
            lambda row, _: row["item"] != 0,
            ["no: made of 3 of 4 items; 4 rows were answered, and the file has 3, so it was ed"],
            ["no: made of 3 of 4 items; 1 has no row in it."],
        ),
    ],
)
def test_rows_that_a_file_has_lost_are_no_texts_without_use(
    keep: Any, said: list[str], said_of_old: list[str], tmp_path: Path
) -> None:
    ie.stress(
        neutral, frame(), suite={"no": "negation"}, out=tmp_path / "a.parquet", label_names=LABELS
    )
    for is_old, expected in ((False, said), (True, said_of_old)):
        path = edit(tmp_path / "a.parquet", is_old=is_old, keep=keep)
        (found,) = measure_answers(read_stress_answers([path]))
        remarks = [each for each in found.remarks() if "made of" in each]
        assert len(remarks) == len(expected)
        assert all(map(str.startswith, remarks, expected))


def test_a_test_of_several_rows_of_an_item_may_lose_some(tmp_path: Path) -> None:
    rows = [(f"Anna buys {n} apples.", "She eats.", "neutral") for n in range(12, 16)]
    found = ie.stress(
        neutral, frame(rows), suite={"n": "numerical"}, out=tmp_path / "a.parquet",
        label_names=LABELS,
    )  # fmt: skip
    n = found["n"].accuracy.n
    assert n > found["n"].n_items == 4
    last = pq.read_table(tmp_path / "a.parquet").num_rows - 1
    path = edit(tmp_path / "a.parquet", is_old=False, keep=lambda _, n: n != last)
    (again,) = measure_answers(read_stress_answers([path]))
    said = f"n: made of 4 of 4 items; {n} rows were answered, and the file has {n - 1}, so it was "
    assert again.remarks()[0].startswith(said)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (None, None),
        ("no", "a-edited: no is not made as for a: 4 rows, there 4, and 0 are of the same texts."),
        ("original", "a-edited has answered other originals than a (4 and 4), so do not compare"),
    ],
)
@pytest.mark.parametrize("is_old", [False, True])
def test_texts_that_were_edited_are_told(
    texts: str | None, said: str | None, is_old: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    ie.stress(neutral, frame(), suite={"no": "negation"}, out=path, label_names=LABELS)
    paths = [path, edit(path, is_old=is_old, texts=texts)]
    _, other = measure_answers(read_stress_answers(paths))
    assert len(other.unlike) == (said is not None)
    assert said is None or other.unlike[0].startswith(said)


@pytest.mark.filterwarnings("ignore:.*edits is .* mend the column")  # of the comparison
@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        (None, [], ()),
        ("changed", [False] * 8, ("in 4 rows of no the column changed and the column edits",)),
        ("edits", [0] * 7 + [1], ("in 3 rows of no the column changed and the column edits",)),
        ("edits", [None] * 8, ()),
        ("changed", ["no"] * 4 + ["perhaps"] * 4, ("the column changed is not used: row 0 holds",)),
    ],
)
def test_columns_of_an_own_file_that_contradict_each_other_are_told(
    column: str | None, values: list[Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.parquet"
    ie.stress(neutral, frame(), suite={"no": "negation"}, out=path, label_names=LABELS)
    table = pq.read_table(path)
    if column is not None:
        kind = None if isinstance(values[0], str) else table.schema.field(column).type
        place = table.column_names.index(column)
        made = table.set_column(place, column, pa.array(values, kind))
        pq.write_table(made.replace_schema_metadata(table.schema.metadata), path)
    (profile,) = measure_answers(read_stress_answers([path]))
    assert len(profile.warnings) == len(said)
    assert all(part in line for part, line in zip(said, profile.warnings, strict=True))
    notes = read_logs([path]).notes  # as of any other table
    assert set(profile.warnings) <= set(notes)


def test_a_classifier_that_guesses_is_not_called_alike() -> None:
    rows = [(f"Premise {i}.", f"Hypothesis {i}.", LABELS[i % 3]) for i in range(6000)]
    found = ie.stress(neutral, frame(rows), suite={"no": "negation"}, label_names=LABELS)
    compared = found["no"].comparison
    assert compared is not None
    assert compared.collapsed
    assert compared.verdict is Verdict.COLLAPSED
    assert accuracy_table(found).rows[1][-1] == Verdict.COLLAPSED.value


def test_columns_that_accuracies_cannot_be_parted_by() -> None:
    columns = {
        "item": [0, 1, 2, 3] * 2,
        "version": ["original"] * 4 + ["typos"] * 4,
        "correct": [True, False, True, True] * 2,
        "list": [[1], [2], [3], [4]] * 2,
        "genre": ["missing", None, "fiction", None] * 2,
    }
    predictions = log(**columns)
    with pytest.raises(InputError, match=r"list.*a column to part accuracies by holds texts"):
        measure_stress(predictions, StressOptions(group_by="list"))
    (profile,) = measure_stress(predictions, StressOptions(group_by="genre"))
    assert {name: share.n for name, share in profile.original.by_group.items()} == {
        "fiction": 1, "missing": 1, "missing#2": 2,
    }  # fmt: skip


def test_the_same_test_under_two_names_is_refused_before_anything_is_made() -> None:
    suite = {
        "first": StressTest(phi="numerical", texts_from="none.csv"),  # which nobody gets to read
        "one": "word-overlap",
        "two": {"name": "word-overlap", "times": 1},
    }
    with pytest.raises(InputError, match="the tests 'one' and 'two' are the same"):
        ie.stress(neutral, frame(), suite=suite, label_names=LABELS)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (["True", "False", "True", None], 2),
        (["yes", "no", "yes", "yes"], 3),
        ([1, 0, 0, 0], 1),
        ([1.0, 0.0, 1.0, None], 2),
        (["maybe", "no", "yes", "yes"], None),
        ([0.25, 0.0, 1.0, 1.0], None),
    ],
)
def test_what_is_changed_is_counted_whatever_its_type(said: list[Any], wanted: int | None) -> None:
    gold = ["a", "b", "a", "b"]
    predictions = log(
        item=[0, 1, 2, 3] * 2,
        version=["original"] * 4 + ["typos"] * 4,
        gold=gold * 2,
        predicted=[*gold, "a", "a", "a", "b"],
        changed=pa.array([None] * 4 + said),
    )
    (profile,) = measure_stress(predictions)
    assert profile["typos"].n_changed == wanted


def test_bytes_that_are_no_text_part_no_accuracies() -> None:
    predictions = log(
        item=[0, 1] * 2,
        version=["original"] * 2 + ["typos"] * 2,
        gold=["a", "b"] * 2,
        predicted=["a", "b", "a", "a"],
        genre=pa.array([b"a", b"\xff"] * 2),
    )
    with pytest.raises(InputError, match="column 'genre'"):
        measure_stress(predictions, StressOptions(group_by="genre"))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", " a"], {"a"}),
        (["a", "b\t"], {"a", "b"}),
        (["a", "nan"], {"a", "missing"}),
        (["a", " "], {"a", "missing"}),
        (["nancy", None], {"nancy", "missing"}),
    ],
)
def test_blanks_make_no_group_and_missing_texts_are_missing(
    names: list[Any], expected: set[str]
) -> None:
    predictions = Predictions.from_table(answers_of(genre=[*names * 10]))
    (profile,) = measure_stress(predictions, StressOptions(group_by="genre"))
    assert set(profile["neg"].by_group) == expected
