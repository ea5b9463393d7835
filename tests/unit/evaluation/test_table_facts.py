"""Facts that stand in a table more than once, or in several forms: compared, and never lost."""

from __future__ import annotations

import contextlib
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ietest_fast as ie
from ietest_fast.analyses.compare.page import read_tested
from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.analyses.consistency.file import need_wordings
from ietest_fast.analyses.consistency.wordings import read_confidence
from ietest_fast.answers.file import name_models
from ietest_fast.answers.logs import ReadLogs, read_logs
from ietest_fast.answers.measurements import read_measurements
from ietest_fast.answers.readers.facts_beside import check_outcomes, say_ids_again
from ietest_fast.answers.table import Predictions
from ietest_fast.errors import IetestWarning, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

N = 12
ACCENTS = ("e\u0301", "é")
MARKS = [i % 3 == 0 for i in range(N)]


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def long(changed: Sequence[Any], **more: Callable[[int, bool], Any]) -> pd.DataFrame:
    """A long table: two versions of each item, and what is changed in the second."""
    rows = [
        {
            "item": i,
            "version": version,
            "gold": "xy"[i % 2],
            "predicted": "xy"[i % 2] if i > 3 or version == "original" else "x",
            "changed": changed[i] if version == "t" else type(changed[i])(),
            **{name: make(i, version == "t") for name, make in more.items()},
        }
        for i in range(N)
        for version in ("original", "t")
    ]
    return pd.DataFrame(rows)


def reworded(found: ReadLogs) -> Any:
    version = next(name for name in found.predictions.versions if name != "original")
    marks = found.predictions.pairs(version).reworded()
    return None if marks is None else marks.tolist()


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "changed",
    [MARKS, [int(mark) for mark in MARKS], ["yes" if mark else "no" for mark in MARKS]],
    ids=["bool", "int", "words"],
)
def test_a_long_table_says_the_same_in_every_format(
    tmp_path: Path, ending: str, changed: list[Any]
) -> None:
    frame = long(changed)
    if changed[0] == "yes":
        frame.loc[frame.version == "original", "changed"] = "no"
    path = write(frame, tmp_path / f"long.{ending}")
    found = read_logs([path])
    assert reworded(found) == MARKS
    assert found.notes == ()
    shown = read_tested(path).comparison.tests[0].invariance
    assert shown is not None
    assert shown.n_reworded == sum(MARKS)


TEXT = {"text": lambda i, new: f"a child {i} {'rests' if new and i % 3 == 0 else 'sleeps'}"}
EDITS = {"edits": lambda i, new: int(new and i % 3 == 0)}


@pytest.mark.parametrize(
    ("changed", "more", "note"),
    [
        (MARKS, TEXT, None),
        ([not mark for mark in MARKS], TEXT, "in 12 rows of t the column changed and the texts"),
        (MARKS, {"text": lambda i, _: f"kept {i}"}, "in 4 rows of t the column changed and the te"),
        (MARKS, EDITS, None),
        ([*MARKS[:9], True, True, True], EDITS, "in 2 rows of t the column changed and the column"),
    ],
)
def test_a_long_table_that_contradicts_itself_is_told(
    tmp_path: Path, changed: list[bool], more: dict[str, Any], note: str | None
) -> None:
    for ending in ("csv", "parquet"):
        found = read_logs([write(long(changed, **more), tmp_path / f"long.{ending}")])
        assert reworded(found) == changed
        assert len(found.notes) == (note is not None)
        assert note is None or note in found.notes[0]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["true", "", *["false"] * 10], "1 value is missing"),
        (["2", *["1"] * 11], "row 0 holds '2'"),
        ([*["no"] * 11, "Monday"], "row 11 holds 'Monday'"),
    ],
)
def test_a_column_that_does_not_say_what_changed_is_not_left_aside_silently(
    tmp_path: Path, values: list[str], why: str
) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "changed": values})
    wide = frame.assign(original=frame.label, transformed="x")
    one, other = frame.assign(prediction=frame.label), frame.assign(prediction="x")
    version = long(MARKS).astype({"changed": object})
    version.loc[version.version == "t", "changed"] = values
    version.loc[version.version == "original", "changed"] = ""
    for frames in ([wide], [one.drop(columns="changed"), other], [version]):
        paths = [write(each, tmp_path / f"{i}.csv") for i, each in enumerate(frames)]
        found = read_logs(paths)
        assert reworded(found) is None
        (note,) = found.notes
        assert f"{paths[-1]}: the column changed is not used: " in note
        assert why.rpartition(" holds")[2] in note


def test_tables_that_mark_other_rows_are_told(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "prediction": ["x", "y"] * 6})
    paths = [
        write(frame.assign(changed=marks), tmp_path / f"{name}.csv")
        for name, marks in (("a", MARKS), ("b", [not mark for mark in MARKS]))
    ]
    found = read_logs(paths)
    assert reworded(found) is None
    assert "mark other rows as changed" in found.notes[0]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("marks", "n"),
    [
        ((MARKS, None), 4),
        (([True] * N, None), 12),
        ((MARKS, None, None), 4),
        ((None, MARKS), None),
        (([False] * N, MARKS), None),
        ((MARKS, MARKS), None),
        (([False] * N, None), None),
    ],
)
def test_a_first_file_that_alone_marks_reworded_texts_is_told(
    tmp_path: Path, marks: tuple[list[bool] | None, ...], n: int | None, ending: str
) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "prediction": ["x", "y"] * 6})
    paths = [
        write(frame if own is None else frame.assign(changed=own), tmp_path / f"{i}.{ending}")
        for i, own in enumerate(marks)
    ]
    told = [note for note in read_logs(paths).notes if "give the original first" in note]
    assert len(told) == (n is not None)
    assert n is None or f"0.{ending} has the column changed, true in {n} rows" in told[0]


def test_a_column_of_one_version_is_not_that_of_three(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: ["x", "y"] * 6 for name in ("label", "original", "a", "b")})
    path = write(frame.assign(changed=MARKS), tmp_path / "three.csv")
    found = read_logs([path], columns=["original", "a", "b"])
    assert reworded(found) is None
    assert "there are more" in found.notes[0]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "name",
    ["", "Unnamed: 0", "__index_level_0__", "_id", "qid", "captionID", "row", "key", "caption"],
)
def test_whatever_names_rows_shows_that_they_are_in_another_order(
    tmp_path: Path, ending: str, name: str
) -> None:
    frame = pd.DataFrame({"label": ["x", "y", "x", "y"], "prediction": ["x", "y", "x", "x"]})
    names = ["d", "a", "c", "b"] if name == "caption" else [7, 3, 9, 5]
    for order, is_right in (([0, 1, 2, 3], True), ([2, 1, 0, 3], False)):
        second = frame.assign(by="b")  # else it might be a copy
        named = frame.assign(**{name: names}), second.assign(**{name: [names[i] for i in order]})
        paths = [write(each, tmp_path / f"{i}.{ending}") for i, each in enumerate(named)]
        if is_right:
            assert read_logs(paths).notes == ()
            continue
        with pytest.raises(InputError, match=r"names the rows otherwise than in .*--id-column"):
            read_logs(paths)
        if name:
            by_id = read_logs(paths, id_column=name).predictions.pairs("transformed")
            assert by_id.predictions.correct.tolist() == [True, True, True, False] * 2


@pytest.mark.parametrize(
    "spell",
    [lambda i: f"{i:03d}", lambda i: f"{i}.0", lambda i: f" {i}", lambda i: f"+{i}"],
    ids=["007", "7.0", " 7", "+7"],
)
def test_ids_that_a_program_has_rewritten_show_another_order(
    tmp_path: Path, spell: Callable[[int], str]
) -> None:
    labels = ["x", "y"] * 6
    frame = pd.DataFrame({"label": labels, "prediction": labels})
    first = write(frame.assign(id=[spell(i) for i in range(12)]), tmp_path / "a.csv")
    second = write(frame.assign(id=[*range(6, 12), *range(6)]), tmp_path / "b.csv")
    with pytest.raises(InputError, match="column 'id': names the rows otherwise than in"):
        read_logs([first, second])
    second = write(frame.assign(id=range(12)), tmp_path / "b.csv")
    assert len(read_logs([first, second]).predictions) == 24


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("kind", ["shuffled", "sorted", "filtered", "same"])
def test_an_index_that_pandas_has_stored_shows_another_order(
    tmp_path: Path, kind: str, place: int
) -> None:
    """One that only counts rows is no column of the file."""
    plain = pd.DataFrame({"correct": [1, 0, 1, 1, 0, 1, 1, 1, 0, 1] * 3})
    other = {
        "shuffled": plain.sample(frac=1, random_state=1),
        "sorted": plain.sort_values("correct"),
        "filtered": plain.set_axis(range(7, 37)),
        "same": plain,
    }[kind]
    frames = (plain, other) if place else (other, plain)
    paths = [write(frame, tmp_path / f"{i}.parquet") for i, frame in enumerate(frames)]
    if kind in {"shuffled", "sorted"}:
        with pytest.raises(InputError, match="'__index_level_0__': names the rows otherwise"):
            read_logs(paths, correct_columns=["correct"])
        return
    assert len(read_logs(paths, correct_columns=["correct"]).predictions) == 60


@pytest.mark.parametrize("names", [("original_text", "transformed_text"),
                                   ("premise_original", "premise_transformed"),
                                   ("premise", "premise_transformed"),
                                   ("text", "transformed_text")])  # fmt: skip
@pytest.mark.parametrize("n", [0, 4, 12])
def test_texts_side_by_side_are_held_against_their_marks(
    tmp_path: Path, names: tuple[str, str], n: int
) -> None:
    gold = ["x", "y"] * 6
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": gold[::-1]})
    frame[names[0]] = [f"text {i}" for i in range(12)]
    frame[names[1]] = [f"text {i}" if i < n else f"words {i}" for i in range(12)]
    frame["changed"] = True
    notes = read_logs([write(frame, tmp_path / "wide.csv")]).notes
    said = [note for note in notes if f"the texts ({', '.join(names)}) disagree" in note]
    assert len(said) == (n > 0)
    assert not n or f"in {n} rows" in said[0]


@pytest.mark.parametrize(("unit", "is_told"), [("logit_", True), ("prob_", True), ("", False)])
def test_whole_numbers_are_votes_only_without_a_name_of_scores(
    tmp_path: Path, unit: str, *, is_told: bool
) -> None:
    gold = ["x", "y"] * 6
    frame = pd.DataFrame({"label": gold, "prediction": gold})
    frame[f"{unit}x"] = [0, 3] * 6
    frame[f"{unit}y"] = [3, 0] * 6
    paths = [write(frame, tmp_path / f"{name}.csv") for name in "ab"]
    assert any("in 12 rows" in note for note in read_logs(paths).notes) == is_told


@pytest.mark.parametrize(("marked", "n"), [("original", 6), ("t", 0)])
def test_an_original_that_is_marked_as_reworded_is_told(
    tmp_path: Path, marked: str, n: int
) -> None:
    frame = long([False] * N)
    frame["changed"] = (frame["version"] == marked) & (frame["item"] < 6)
    notes = read_logs([write(frame, tmp_path / "long.csv")]).notes
    said = [note for note in notes if "of original, with which the others are compared" in note]
    assert len(said) == (n > 0)
    assert not n or f"{n} rows" in said[0]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_groups_that_are_one_number_are_one_group(tmp_path: Path, ending: str) -> None:
    frame = long([True] * N, group=lambda i, _: f"{i // 2}" + ".0" * (i % 2))
    found = read_logs([write(frame, tmp_path / f"long.{ending}")]).predictions
    whole = compare_versions(found, clusters="group", strata=["group"])
    (test,) = whole.tests
    assert test.clusters is not None
    assert len(set(test.clusters.tolist())) == N // 2
    assert [each.name for each in test.statistics["strata"].results[0].strata] == list("012345")
    pair = pd.DataFrame({"A": [0, 1] * 6, "B": [1, 1] * 6, "c": frame["group"][::2]})
    path = write(pair, tmp_path / f"pair.{ending}")
    clusters = read_measurements(path, ("A", "B"), clusters="c").clusters
    assert clusters is not None
    assert len(set(clusters.tolist())) == N // 2


@pytest.mark.parametrize("spell", [str.upper, lambda name: f" {name}", lambda name: name])
def test_groups_are_told_apart_by_what_is_seen(tmp_path: Path, spell: Callable[[str], str]) -> None:
    """Case is seen; blanks around a name, and how its accents are composed, are not."""
    names = [f"Jos{ACCENTS[i % 2]}{i // 2}" for i in range(N)]
    names[1:2] = map(spell, names[1:2])
    n = N // 2 + (names[1] == "JOSÉ0")
    frame = long([True] * N, group=lambda i, _: names[i])
    found = read_logs([write(frame, tmp_path / "long.csv")]).predictions
    (test,) = compare_versions(found, clusters="group", strata=["group"]).tests
    assert test.clusters is not None
    assert len(set(test.clusters.tolist())) == n
    assert len(test.statistics["strata"].results[0].strata) == n
    pair = pd.DataFrame({"A": [0, 1] * 6, "B": [1, 1] * 6, "c": names})
    path = write(pair, tmp_path / "pair.csv")
    clusters = read_measurements(path, ("A", "B"), clusters="c").clusters
    assert clusters is not None
    assert len(set(clusters.tolist())) == n
    a, b = pair["A"].to_numpy(), pair["B"].to_numpy()
    assert ie.paired_test(a, b, clusters=names).n_clusters == n
    assert ie.paired_test(a, b, clusters=np.array(names)).n_clusters == n


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (("01", "02"), "they differ only in how numbers are written, such as '1' and '01'"),
        (("i1", "i2"), "give an item the same name in all versions"),
    ],
)
def test_versions_without_a_common_item_say_why(
    tmp_path: Path, items: tuple[str, str], said: str
) -> None:
    rows = ["item,version,gold,predicted"]
    rows += [f"{i},original,{g},{g}" for i, g in zip("12", "ab", strict=True)]
    rows += [f"{i},para,{g},a" for i, g in zip(items, "ab", strict=True)]
    (tmp_path / "l.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(InputError, match="no item has both versions") as caught:
        compare_versions(read_logs([tmp_path / "l.csv"]).predictions)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [("{}", "{}.0"), ("{}.0", "{}"), ("é{}", "e\u0301{}"), ("q{}", " q{} ")],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_items_in_two_ways_of_writing_are_the_same(
    tmp_path: Path, first: str, second: str, ending: str
) -> None:
    """In whatever reads a long table; where a number is written otherwise, only in one column."""
    frame = pd.DataFrame(
        {
            "item": (second if version == "p2" else first).format(i),
            "version": version,
            "gold": "xy"[i % 2],
            "predicted": "xy"[(i + (version == "p2")) % 2],
        }
        for i in range(6)
        for version in ("original", "p1", "p2")
    )
    path = write(frame, tmp_path / f"l.{ending}")
    assert len(read_logs([path]).predictions.items) == 6
    assert ie.consistency(str(path), n_resamples=50).n_items == 6


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("é{}", "e\u0301{}", True),
        ("q{}", "q{} ", True),
        ("Q{}", "q{}", False),
    ],
)
def test_ids_of_two_files_that_look_alike(
    tmp_path: Path, first: str, second: str, ending: str, *, is_same: bool
) -> None:
    paths = [
        write(
            pd.DataFrame(
                {
                    "id": [name.format(i) for i in range(6)],
                    "label": list("xyxyxy"),
                    "prediction": list("xyxyxx"),
                    "text": [f"{name[0]} text {i}" for i in range(6)],
                }
            ),
            tmp_path / f"{place}.{ending}",
        )
        for place, name in enumerate((first, second))
    ]
    if is_same:
        assert len(read_logs(paths, id_column="id").predictions.items) == 6
        return
    with pytest.raises(InputError, match="they differ only in case, such as 'Q0' and 'q0': write"):
        read_logs(paths, id_column="id")


@pytest.mark.parametrize(
    ("other", "n"),
    [
        ("The cafe\u0301 {} sleeps.", 6),
        ("The café {} sleeps. ", 6),
        ("The café {} sleeps.\r\n", 6),
        ("The\u00a0café {} sleeps.", 6),
        ("The caf\u00adé {} sleeps.\u200b", 6),
        ("The café {} sleeps.", 0),
        ("The café {} rests.", 0),
        ("the café {} sleeps.", 0),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_texts_that_differ_in_nothing_that_is_seen_are_told(
    tmp_path: Path, other: str, n: int, ending: str
) -> None:
    paths = []
    for place, text in enumerate(("The café {} sleeps.", other)):
        texts = [text.format(i) for i in range(6)] + [f"Text {place} of {i}." for i in range(6)]
        frame = pd.DataFrame({"text": texts, "label": ["x", "y"] * 6, "prediction": ["x", "y"] * 6})
        paths.append(write(frame, tmp_path / f"{place}.{ending}"))
    notes = [note for note in read_logs(paths).notes if "signs that nobody sees" in note]
    assert len(notes) == (n > 0)
    assert all(f"has {n} texts that only" in note for note in notes)


def test_blanks_around_a_model_make_no_other_model(tmp_path: Path) -> None:
    frame = long(MARKS)
    frame["model"] = ["m", "m ", " m"] * (len(frame) // 3)
    read = read_logs([write(frame, tmp_path / "l.csv")])
    assert len(read.predictions.groups) == 1
    assert len(read.predictions.items) == N


@pytest.mark.parametrize("columns", [["item", "gold", "predicted"], ["item", "correct"]])
def test_a_long_table_without_versions_says_what_is_missing(
    tmp_path: Path, columns: list[str]
) -> None:
    path = write(pd.DataFrame({name: [1, 0, 1] for name in columns}), tmp_path / "l.csv")
    with pytest.raises(InputError, match="column 'version': there is no such column; a table with"):
        read_logs([path])


@pytest.mark.parametrize(("names", "n"), [(("original", "p1"), 0), (("orig", "p1", "p2", "p3"), 1)])
def test_answers_without_an_original_are_told(
    tmp_path: Path, names: tuple[str, ...], n: int
) -> None:
    rows = [
        {"item": i, "version": name, "gold": "xy"[i % 2], "predicted": "x"}
        for i in range(6)
        for name in names
    ]
    told = need_wordings(write(pd.DataFrame(rows), tmp_path / "l.csv")).notes.warnings
    found = [note for note in told if "no version is called original" in note]
    assert len(found) == n
    assert all("(orig, p1, p2, ...)" in note for note in found)


@pytest.mark.parametrize(
    ("name_first", "name_second", "is_told"),
    [
        (lambda i: f"a{i}", lambda i: f"b{i // 6}", True),
        (lambda i: f"a{i // 6}", lambda i: f"b{i}", True),
        (lambda i: f"premise {i // 2}", lambda i: f"reworded premise {i // 2}", False),
        (lambda i: f"a{i // 2}", lambda i: f"a{i // 2}", False),
        (lambda i: f"a{i // 2}", lambda _: None, False),
    ],
)
def test_clusters_that_differ_between_versions_are_told(
    tmp_path: Path, name_first: Any, name_second: Any, *, is_told: bool
) -> None:
    frame = long(MARKS, c=lambda i, new: (name_second if new else name_first)(i))
    predictions = read_logs([write(frame, tmp_path / "l.csv")]).predictions
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_versions(predictions, clusters="c")
    told = [each for each in caught if "c draws the items together otherwise" in str(each.message)]
    assert bool(told) == is_told


@pytest.mark.parametrize(
    ("a", "b", "is_told"),
    [
        ([0, 1, 1, 0], [0, 100, 100, 100], True),
        ([55.0, 70, 20, 10], [0.5, 0.7, 0.2, 0.1], True),
        ([0.5, 0.7, 0.2, 0.1], [0.4, 0.8, 0.2, 0.0], False),
        ([0.5, 0.7, 0.2, 0.1], [0.4, 1.8, 0.2, 0.0], False),
        ([5, 4, 3, 1], [20, 4, 3, 1], False),
    ],
)
def test_arrays_in_two_units_are_told(a: list[float], b: list[float], *, is_told: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ie.paired_test(a * 8, b * 8, n_resamples=99)
    assert any("write both in one unit" in str(each.message) for each in caught) == is_told


@pytest.mark.parametrize("gold", ["gold", "label", "y_true"])
@pytest.mark.parametrize("form", ["pred_{}", "{}_prediction", "Prediction_{}"])
@pytest.mark.parametrize("wrong", [True, False])
def test_outcomes_are_held_against_answers_of_the_same_name(
    tmp_path: Path, gold: str, form: str, *, wrong: bool
) -> None:
    answers = {"A": ["x", "y"] * 6, "B": ["x"] * 12}
    frame = pd.DataFrame({gold: ["x", "y"] * 6})
    for name, own in answers.items():
        frame[name] = [int(a == b) for a, b in zip(own, frame[gold], strict=True)]
        frame[form.format(name)] = own
    if wrong:
        frame.loc[3, "A"] = 0
    path = write(frame, tmp_path / "t.csv")
    outcomes = {name: frame[name].to_numpy(bool) for name in answers}
    if not wrong:
        check_outcomes(path, outcomes)
        return
    with pytest.raises(InputError, match=r"row 3, column 'A': false contradicts 'y' in .* and 1 r"):
        check_outcomes(path, outcomes)


@pytest.mark.parametrize("answers", ["xxxyyy", "xyzuvw"])
def test_outcomes_of_the_rows_of_one_label_are_held_against_the_answers(
    tmp_path: Path, answers: str
) -> None:
    """Answers that recur are labels; those that do not may be right in other words."""
    frame = pd.DataFrame({"A": [1] * 6, "B": [1] * 6, "label": ["x"] * 6})
    frame["pred_A"], frame["pred_B"] = list(answers), list(answers[::-1])
    path = write(frame, tmp_path / "t.csv")
    outcomes = {name: frame[name].to_numpy(bool) for name in "AB"}
    if answers == "xyzuvw":
        check_outcomes(path, outcomes)
        return
    with pytest.raises(InputError, match=r"row 3, column 'A': true contradicts 'x' .* and 3 rows"):
        check_outcomes(path, outcomes)


@pytest.mark.parametrize(("values", "n"), [("1,0,1,0,1,0", 0), ("1,,1,,1,0", 2)])
def test_rows_of_which_a_column_does_not_say_whether_they_are_reworded(
    tmp_path: Path, values: str, n: int
) -> None:
    paths = []
    for name in "ab":
        lines = ["text,label,prediction" + ",changed" * (name == "b")]
        for i, value in enumerate(values.split(",")):
            lines.append(f"text {i} {name},x,x" + f",{value}" * (name == "b"))
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(lines) + "\n")
    read = read_logs(paths, keep_columns=["changed"])
    if not n:
        assert compare_versions(read.predictions, reworded="changed").tests
        return
    with pytest.raises(InputError, match="'changed': is missing in 2 rows of 6 of transformed; it"):
        compare_versions(read.predictions, reworded="changed")


@pytest.mark.parametrize(
    ("labels", "names", "n"),
    [
        (["pos", "neg"], ["neg", "pos"], 6),
        (["neg", "pos"], ["neg", "pos"], 0),
        (["Neg", "Pos"], ["neg", "pos"], 0),
        (["bad", "good"], ["neg", "pos"], 0),  # other words for the same
    ],
)
@pytest.mark.parametrize("form", ["wide", "long"])
def test_names_of_the_user_are_held_against_a_column_of_names(
    tmp_path: Path, labels: list[str], names: list[str], n: int, form: str
) -> None:
    gold = [0, 1] * 3
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": gold})
    frame["label_name"] = [names[number] for number in gold]
    if form == "long":
        frame = pd.concat(
            pd.DataFrame({"item": range(6), "version": version, "gold": gold, "predicted": gold})
            for version in ("original", "p")
        ).assign(label_name=[names[number] for number in gold * 2])
        n *= 2
    notes = read_logs([write(frame, tmp_path / "t.csv")], label_names=labels).notes
    told = [note for note in notes if "gives another name to the number" in note]
    assert len(told) == (n > 0)
    assert all(f"in {n} rows of {len(frame)}" in note for note in told)


def test_probabilities_by_label_say_what_to_do(tmp_path: Path) -> None:
    frame = long(MARKS)
    frame["probabilities"] = [{"x": 0.1, "y": 0.9}] * len(frame)
    with pytest.raises(InputError, match=r"row 0, .* is an object; write a list of numbers in the"):
        read_logs([write(frame, tmp_path / "l.jsonl")])


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("kind", [bool, int, str, float])
@pytest.mark.parametrize("change", ["gold", "predicted"])
def test_labels_in_another_case_are_the_same_beside_marks_of_any_type(
    tmp_path: Path, ending: str, kind: type, change: str
) -> None:
    rows = []
    for i in range(12):
        for version in ("original", "p"):
            gold = ("pos", "neg")[i % 2]
            right = i % (3 if version == "p" else 6) != 0
            row = {"item": i, "version": version, "gold": gold, "correct": kind(right)}
            row["predicted"] = gold if right else ("neg", "pos")[i % 2]
            if version == "p":
                row[change] = row[change].capitalize()
            rows.append(row)
    path = write(pd.DataFrame(rows), tmp_path / f"l.{ending}")
    found = read_logs([path])
    assert [name.lower() for name in found.predictions.label_names or ()] == ["neg", "pos"]
    assert not [note for note in found.notes if "the right answer" in note or "free texts" in note]
    counted = found.predictions.pairs("p").sample.counts
    assert [counted.n11, counted.n10, counted.n01, counted.n00] == [8, 2, 0, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "b.csv is a copy of"),
        ({"note": "x"}, None),
        ({"label": ["N/A"] + ["x", "y"] * 5 + ["y"]}, "'N/A' is the right answer to 1 item and"),
        (
            {"label": ["none"] * 2 + ["x", "y"] * 5, "prediction": ["none"] * 6 + ["x", "y"] * 3},
            None,
        ),
    ],
)
def test_copies_of_a_file_and_labels_that_are_none_are_told(
    tmp_path: Path, change: dict[str, Any], said: str | None
) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "prediction": ["x", "y", "y"] * 4})
    paths = [
        write(frame.assign(**{k: v for k, v in change.items() if k != "note"}), tmp_path / "a.csv"),
        write(frame.assign(**change), tmp_path / "b.csv"),
    ]
    if change and said:
        write(frame.assign(**change, note="y"), paths[1])
    notes = read_logs(paths).notes
    told = [each for each in notes if "is a copy" in each or "never given" in each]
    if said is None:
        assert not [each for each in told if change.get("note") or "never given" in each]
        return
    assert len(told) == 1
    assert said in told[0]


@pytest.mark.parametrize(
    ("label", "remedy"),
    [
        ("#N/A", "leave the field empty"),
        ("<NA>", "leave the field empty"),
        ("TODO", "leave the field empty"),
        ("pos.", "write it as the others if it is 'pos'"),
        ("postive", "write it as the others if it is 'pos'"),
        ("p\u043es", "write it as the others if it is 'pos'"),
        ("mixed", None),
        ("neg2", None),
    ],
)
def test_gold_labels_that_are_none_or_misspelt_are_told(
    tmp_path: Path, label: str, remedy: str | None
) -> None:
    gold = ["neg", "pos"] * 20
    frame = pd.DataFrame(
        {"label": [label, label, *gold[2:]], "original": gold, "transformed": gold}
    )
    told = [each for each in read_logs([write(frame, tmp_path / "a.csv")]).notes if "never" in each]
    assert len(told) == (remedy is not None)
    assert all(f"{label!r} is the right answer to 2 items" in each for each in told)
    assert all(str(remedy) in each for each in told)


@pytest.mark.parametrize("name", ["model", "model_name", "version"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_rows_of_two_models_in_a_wide_table_are_told(
    tmp_path: Path, name: str, ending: str
) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "original": ["x", "y", "y"] * 4})
    frame = frame.assign(transformed="x", **{name: ["a"] * 6 + ["b "] * 5 + [" b"]})
    said = [
        each
        for each in read_logs([write(frame, tmp_path / f"a.{ending}")]).notes
        if "all count" in each
    ]
    assert len(said) == 1
    assert f"column '{name}': there are rows of 2 " in said[0]
    alone = write(frame.assign(**{name: "a"}), tmp_path / f"b.{ending}")
    assert not [each for each in read_logs([alone]).notes if "all count" in each]


@pytest.mark.parametrize("name", ["model", "model_name"])
def test_tables_of_two_models_in_two_wordings_are_no_versions(tmp_path: Path, name: str) -> None:
    paths = []
    for model, word in (("gpt", "film"), ("llama", "movie")):
        frame = pd.DataFrame({"label": ["x", "y"] * 6, "prediction": ["x", "y", "y"] * 4})
        frame["text"] = [f"The {word} number {i}." for i in range(12)]
        paths.append(write(frame.assign(**{name: model}), tmp_path / f"{model}.csv"))
    with pytest.raises(InputError, match=r"two models \(gpt and llama\), and their texts differ"):
        read_logs(paths)


@pytest.mark.parametrize(
    ("names", "shift", "is_told"),
    [
        (("id_A", "id_B"), 1, True),
        (("id", "pairID"), 2, True),
        (("id_A", "id_B"), 0, False),
        (("A_count", "B_count"), 1, False),
    ],
)
def test_ids_side_by_side_that_name_other_rows_are_told(
    tmp_path: Path, names: tuple[str, str], shift: int, *, is_told: bool
) -> None:
    columns = {
        name: pa.array([f"q{(i + shift * place) % 12}" for i in range(12)])
        for place, name in enumerate(names)
    }
    said = say_ids_again(columns, set(), tmp_path / "t.csv")
    assert len(said) == is_told
    assert all("name the rows otherwise" in note for note in said)


def versions(n_same: int, n: int = 40) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Originals and their versions, of which the first n_same are as they were."""
    texts = [f"The {'abcdefgh'[i % 8]}{'abcde'[i // 8]} sleeps." for i in range(n)]
    labels = ["x", "y"] * (n // 2)
    first = pd.DataFrame({"text": texts, "label": labels, "prediction": labels})
    changed = [text if i < n_same else f"{text} Now." for i, text in enumerate(texts)]
    return first, first.assign(text=changed)


@pytest.mark.parametrize("n_same", [3, 8, 20, 39, 40])
def test_texts_that_were_left_alone_show_another_order(tmp_path: Path, n_same: int) -> None:
    first, other = versions(n_same)
    paths = [write(each, tmp_path / f"{i}.csv") for i, each in enumerate((first, other))]
    assert len(read_logs(paths).predictions.items) == 40
    # Within the labels, so that these agree.
    shifted = pd.concat([other[2:], other[:2]])
    write(shifted, paths[1])
    with pytest.raises(InputError, match=r"column 'text': names the rows otherwise than in "):
        read_logs(paths)


def test_texts_that_are_reworded_into_each_other_show_nothing(tmp_path: Path) -> None:
    first, other = versions(0)
    other.loc[[3, 5], "text"] = first.loc[[5, 3], "text"].tolist()
    paths = [write(each, tmp_path / f"{i}.csv") for i, each in enumerate((first, other))]
    with pytest.raises(InputError, match="names the rows otherwise"):
        read_logs(paths)
    first, other = versions(4)
    other.loc[[5, 7], "text"] = first.loc[[7, 5], "text"].tolist()
    write(other, paths[1])
    assert len(read_logs(paths).predictions.items) == 40


@pytest.mark.parametrize(
    ("one", "two"),
    [("id", "ID"), ("id", "pairID"), ("uid", "item"), ("id", "pid"), ("row", "docids")],
)
def test_ids_of_two_names_show_another_order(tmp_path: Path, one: str, two: str) -> None:
    first, other = (each.drop(columns="text") for each in versions(0))
    names = [f"i{i}" for i in range(40)]
    paths = [write(first.assign(**{one: names}), tmp_path / "a.csv"), tmp_path / "b.csv"]
    write(other.assign(**{two: names}), paths[1])
    assert len(read_logs(paths).predictions.items) == 40
    write(other.assign(**{two: [*names[2:], *names[:2]]}), paths[1])
    said = f"column '{two}': names the rows otherwise than the column {one} of .*call both columns"
    with pytest.raises(InputError, match=said):
        read_logs(paths)


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("n_labels", [2, 4])
def test_labels_and_answers_that_are_counted_from_other_numbers_are_refused(
    tmp_path: Path, step: int, n_labels: int
) -> None:
    gold = [2 + i % n_labels for i in range(24)]
    wide = pd.DataFrame({"label": gold, "original": gold, "transformed": [*gold[1:], gold[0]]})
    path = write(wide, tmp_path / "t.csv")
    assert compare_versions(read_logs([path]).predictions).tests[0].result.delta == 1.0
    wide[["original", "transformed"]] += step
    write(wide, path)
    with pytest.raises(
        InputError, match=r"is one of both counted from another number|unknown label"
    ):
        read_logs([path])
    # A classifier may never give one answer, and all labels may be named.
    wide["original"] = wide["transformed"] = gold[1]
    assert read_logs([write(wide, path)]).predictions.label_names is not None


@pytest.mark.parametrize("kind", ["wide", "long", "gold"])
def test_the_names_of_labels_in_a_parquet_file_count(tmp_path: Path, kind: str) -> None:
    """As the datasets library writes them; 0 was taken for entailment."""
    names = ["contradiction", "neutral", "entailment"]
    features = {"label": {"names": names, "_type": "ClassLabel"}}
    features["gold"] = features["label"]
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    numbers = [i % 3 for i in range(N)]
    said = [names[i % 3] for i in range(N)]
    wrong = [names[(i + (i == 5)) % 3] for i in range(N)]
    wide = {"label": numbers, "original": said, "transformed": wrong}
    if kind == "long":
        table = pa.table(
            {
                "item": [*range(N)] * 2,
                "version": ["original"] * N + ["t"] * N,
                "gold": numbers * 2,
                "predicted": said + wrong,
            }
        )
    else:
        table = pa.table(wide)
    pq.write_table(table.replace_schema_metadata(about), tmp_path / "t.parquet")
    options = {}
    paths = [tmp_path / "t.parquet"]
    if kind == "gold":
        options["gold_path"] = paths[0]
        frame = pd.DataFrame(wide).drop(columns="label")
        paths = [write(frame, tmp_path / "wide.csv")]
    pairs = read_logs(paths, **options).predictions
    found = pairs.pairs(pairs.versions[1]).sample.counts
    assert [found.n11, found.n10, found.n01, found.n00] == [N - 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("number", "is_refused"), [(2, True), (7.0, True), (-2, True), (-1, False), (1, False)]
)
@pytest.mark.parametrize("kind", ["wide", "long"])
def test_numbers_without_a_name_are_none_beside_names(
    tmp_path: Path, kind: str, number: float | None, is_refused: bool
) -> None:
    """2 became a label of its own name."""
    features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    features["gold"] = features["label"]
    gold = [0, 1] * (N // 2 - 1) + [0, number]
    said = ["no", "yes"] * (N // 2)
    table = (
        pa.table({"label": gold, "original": said, "transformed": said})
        if kind == "wide"
        else pa.table(
            {
                "item": [*range(len(gold))] * 2,
                "version": ["original"] * len(gold) + ["t"] * len(gold),
                "gold": gold * 2,
                "predicted": said * 2,
            }
        )
    )
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(table.replace_schema_metadata(about), tmp_path / "t.parquet")
    if not is_refused:
        read_logs([tmp_path / "t.parquet"])
        return
    row, column = len(gold) - 1, "label" if kind == "wide" else "gold"
    said_of = f"row {row}, column '{column}': unknown label {int(number or 0)}; the file names no"
    with pytest.raises(InputError, match=said_of):
        read_logs([tmp_path / "t.parquet"])


def test_a_threshold_that_tells_no_answers_apart_is_told(tmp_path: Path) -> None:
    scores = [i / 12 for i in range(N)]
    table = pd.DataFrame({"original_correct": scores, "transformed_correct": scores[::-1]})
    path = write(table, tmp_path / "t.csv")
    for threshold, said in (
        (50, "no score reaches the threshold 50, so all answers count as wrong"),
        (0, "every score reaches the threshold 0, so all answers count as right"),
        (0.5, None),
    ):
        notes = [
            note for note in read_logs([path], threshold=threshold).notes if "threshold" in note
        ]
        assert notes == ([] if said is None else [f"Warning: {said}."])


@pytest.mark.parametrize("form", ["wide", "files", "long"])
@pytest.mark.parametrize(
    ("scale", "is_told"), [(100, True), (20, True), (1, False), (0, False), (1000, False)]
)
def test_scores_in_two_units_are_told(form: str, scale: int, is_told: bool, tmp_path: Path) -> None:
    scores = [i / N for i in range(N)]
    columns = {"original": scores, "transformed": [score * scale for score in scores]}
    if form == "wide":
        marks = pd.DataFrame({f"{name}_correct": own for name, own in columns.items()})
        paths = [write(marks, tmp_path / "t.csv")]
    elif form == "files":
        tables = [pd.DataFrame({"score": own}) for own in columns.values()]
        paths = [write(each, tmp_path / f"{i}.parquet") for i, each in enumerate(tables)]
    else:
        rows = [
            {"item": i, "version": name, "correct": own[i]}
            for i in range(N)
            for name, own in columns.items()
        ]
        paths = [write(pd.DataFrame(rows), tmp_path / "t.jsonl")]
    options = {"correct_columns": ["score"]} if form == "files" else {}
    notes = read_logs(paths, threshold=0.5, **options).notes
    told = [note for note in notes if "write both in one unit" in note]
    assert len(told) == is_told
    assert all(f"go up to {scores[-1] * scale:g}, and one threshold" in note for note in told)


def test_other_values_do_not_name_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": ["x", "y", "x", "y"], "prediction": ["x", "y", "x", "x"]})
    paths = [
        write(frame.assign(score=score, note=["n", "n", "n", "m"]), tmp_path / f"{name}.csv")
        for name, score in (("a", [0.1, 0.2, 0.3, 0.4]), ("b", [0.4, 0.2, 0.5, 0.1]))
    ]
    assert len(read_logs(paths).predictions.items) == 4


@pytest.mark.parametrize("order", [["A", "B"], ["B", "A"]])
def test_no_order_of_rows_decides_which_labels_there_are(tmp_path: Path, order: list[str]) -> None:
    frame = long(MARKS).drop(columns="changed")
    models = {"A": frame[frame.gold == "x"].assign(model="A"), "B": frame.assign(model="B")}
    path = write(pd.concat([models[name] for name in order]), tmp_path / "long.csv")
    found = read_logs([path]).predictions
    assert found.label_names == ("x", "y")
    assert {group["model"] for group in found.groups} == {"A", "B"}


def of_probabilities(values: list[list[float]], answers: list[str]) -> Predictions:
    """Answers and probabilities as the package writes them."""
    n = len(values) // 2
    table = pa.table(
        {
            "item": [*range(n)] * 2,
            "version": ["original"] * n + ["t"] * n,
            "gold": answers,
            "predicted": answers,
            "probabilities": pa.array(values, pa.list_(pa.float32())),
        }
    )
    return Predictions(table=table, label_names=("x", "y", "z"))


SURE = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]


@pytest.mark.parametrize(
    ("answers", "is_read"),
    [
        ("xyzx", True),
        ("yzxy", False),  # the labels in another order
        ("yxxy", False),
        ("yyyy", True),  # what a threshold can do
        ("xzxy", True),  # some, where labels were merged
    ],
)
def test_answers_that_are_nowhere_likeliest_are_refused(
    tmp_path: Path, answers: str, is_read: bool
) -> None:
    of_probabilities(SURE, list(answers)).write(path := tmp_path / "own.parquet")
    if is_read:
        assert len(read_logs([path]).predictions) == 4
        return
    with pytest.raises(InputError, match="in none of 4 rows does the answer have the largest"):
        read_logs([path])


@pytest.mark.parametrize(("answers", "n"), [("xyzx", 0), ("xzxy", 3), ("yyyy", 3)])
def test_answers_that_are_not_the_likeliest_are_counted(
    tmp_path: Path, answers: str, n: int
) -> None:
    of_probabilities(SURE, list(answers)).write(path := tmp_path / "own.parquet")
    for notes in (read_logs([path]).notes, need_wordings(path).notes.warnings):
        said = [note for note in notes if "not the label with the largest" in note]
        assert len(said) == (n > 0)
        assert not n or f"in {n} of 4 rows" in said[0]


@pytest.mark.parametrize("name", ["Label", "GOLD", "Target", "Y_true"])
@pytest.mark.parametrize("is_long", [False, True])
def test_second_columns_are_seen_in_any_case(tmp_path: Path, name: str, *, is_long: bool) -> None:
    gold, other = ["x", "y"] * 6, ["y", "x"] * 6
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": other, name: other})
    if is_long:
        frame = long([True] * N).drop(columns="changed")
        frame[name] = frame["gold"].map({"x": "y", "y": "x"})
    said = " ".join(read_logs([write(frame, tmp_path / "a.csv")]).notes)
    assert f"{name} is another label than" in said


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("kind", [list, np.asarray, lambda row: [np.float32(x) for x in row]])
def test_what_was_written_comes_back_from_text(tmp_path: Path, ending: str, kind: Any) -> None:
    whole = of_probabilities(SURE, list("xyzx"))
    frame = whole.table.to_pandas()
    frame["probabilities"] = [kind(row) for row in SURE]
    found = read_logs([write(frame, tmp_path / f"own.{ending}")]).predictions
    assert found.versions == ("original", "t")
    lists = need_wordings(tmp_path / f"own.{ending}").predictions
    assert np.allclose(lists.table["probabilities"].to_pylist(), SURE)


def test_probabilities_that_are_no_list_are_refused(tmp_path: Path) -> None:
    frame = long(MARKS).assign(probabilities="0.2;0.8")
    with pytest.raises(InputError, match=r"'0\.2;0\.8' is no list of numbers"):
        read_logs([write(frame, tmp_path / "long.csv")])


@pytest.mark.parametrize(("right", "wrong", "is_read"), [(0, 1, False), (1, 0, True)])
def test_a_confidence_that_contradicts_the_answers_is_refused(
    tmp_path: Path, right: float, wrong: float, is_read: bool
) -> None:
    frame = long(MARKS).drop(columns="changed")
    frame["confidence"] = np.where(frame.gold == frame.predicted, right, wrong)
    path = write(frame, tmp_path / "long.csv")
    predictions = Predictions.from_table(pa.Table.from_pandas(frame), source=str(path))
    rows = np.arange(len(predictions))
    if is_read:
        values, _ = read_confidence(predictions, rows, predictions.codes("gold"))
        assert values is not None
        assert values.sum() == (frame.gold == frame.predicted).sum()
        return
    with pytest.raises(InputError, match="has 0, and its answer is right"):
        read_confidence(predictions, rows, predictions.codes("gold"))


@pytest.mark.parametrize("named", [{}, {"correct_columns": ["correct"]}])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_threshold_makes_outcomes_of_scores_in_a_long_table(
    tmp_path: Path, ending: str, named: dict[str, Any]
) -> None:
    scores = [0.7, 0.2, 1.0, 0.5]
    frame = pd.DataFrame(
        {"item": [1, 2] * 2, "version": ["a", "a", "b", "b"], "correct": scores, "gold": "x"}
    )
    path = write(frame, tmp_path / f"long.{ending}")
    with pytest.raises(InputError, match="--threshold"):
        read_logs([path], **named)
    found = read_logs([path], threshold=0.5, **named).predictions
    assert found.correct.tolist() == [True, False, True, True]


NLI = ["entailment", "neutral", "contradiction"]


@pytest.mark.parametrize(
    ("golds", "said"),
    [
        ([i % 3 for i in range(N)], None),
        ([(i + 1) % 3 for i in range(N)], "g.csv, row 0, .* the right answer is '1', and 'ent"),
        ([2, *(i % 3 for i in range(1, N))], "g.csv, row 0, .* the right answer is '2', and 'ent"),
    ],
)
@pytest.mark.parametrize("names", [NLI, ["no", "unsure", "yes"]])
def test_gold_labels_of_a_file_are_compared_by_what_their_numbers_mean(
    golds: list[int], said: str | None, names: list[str], tmp_path: Path
) -> None:
    labels = [names[i % 3] for i in range(N)]
    paths = [
        write(pd.DataFrame({"label": labels, "prediction": answers}), tmp_path / f"{name}.csv")
        for name, answers in (("a", labels), ("b", [names[0]] * N))
    ]
    gold = write(pd.DataFrame({"label": golds}), tmp_path / "g.csv")
    options = {"gold_path": gold, "label_names": None if names == NLI else names}
    if said is None:
        found = read_logs(paths, **options).predictions
        assert found.table["gold"].to_pylist() == labels * 2
        return
    with pytest.raises(InputError, match=said.replace("ent", names[0][:3])):
        read_logs(paths, **options)


def two_tables(labels: Sequence[Any], folder: Path) -> list[Path]:
    """Two tables with the same gold labels; of the second, every third answer is another."""
    golds = [labels[i % len(labels)] for i in range(N)]
    others = [labels[(i + (i % 3 == 0)) % len(labels)] for i in range(N)]
    return [
        write(pd.DataFrame({"label": golds, "prediction": answers}), folder / f"{name}.csv")
        for name, answers in (("a", golds), ("b", others))
    ]


@pytest.mark.parametrize("unparsed", [None, "drop", "wrong"])
@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ([-1, 0, 1], "--labels=-1,0,1"),
        ([-1, 1], "--labels=-1,1"),
        (["+", "-", "0"], r"--labels=-,\+,0"),
        (["+1", "-1"], "--labels=-1,1"),
    ],
)
def test_a_label_that_looks_like_none_has_to_be_named(
    labels: list[Any], named: str, unparsed: Any, tmp_path: Path
) -> None:
    paths = two_tables(labels, tmp_path)
    with pytest.raises(InputError, match=f"a.csv, column 'label': .* add {named};"):
        read_logs(paths, unparsed=unparsed)
    names = named.replace("\\", "").removeprefix("--labels=").split(",")
    found = read_logs(paths, unparsed=unparsed, label_names=names).predictions
    assert (len(found), int((~found.correct).sum())) == (2 * N, N // 3)


def test_nli_data_may_have_rows_without_a_label(tmp_path: Path) -> None:
    found = read_logs(two_tables([-1, 0, 1, 2], tmp_path), unparsed="wrong")
    assert found.predictions.dropped == {"no gold label": N // 4}


@pytest.mark.parametrize("labels", [["01", "1", "001"], ["+1", "1", "2"], ["01", "1.0", "2"]])
def test_numbers_in_several_spellings_are_several_labels(labels: list[str], tmp_path: Path) -> None:
    found = read_logs(two_tables(labels, tmp_path)).predictions
    assert found.label_names == tuple(sorted(label.removesuffix(".0") for label in labels))
    assert int((~found.correct).sum()) == N // 3


def test_nothing_is_compared_with_itself(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: ["x", "y", "x"] for name in ("label", "prediction", "transformed")})
    frame["other"] = ["x", "x", "x"]
    path = write(frame, tmp_path / "a.csv")
    (tmp_path / "folder").mkdir()
    again = tmp_path / "folder" / ".." / "a.csv"
    for paths, options in (
        ([path], {"columns": ["label", "transformed"]}),
        ([path], {"columns": ["prediction", "other"], "gold_column": "other"}),
        ([path, path], {}),
        ([path, again], {}),
        ([path, again], {"columns": ["prediction", "transformed"]}),
    ):
        with pytest.raises(InputError, match=r"compared with itself|is the same file as"):
            read_logs(paths, **options)
    found = read_logs([path, again], columns=["prediction", "other"]).predictions
    assert found.correct.tolist() == [True, True, True, True, False, True]


@pytest.mark.parametrize("place", [0, 1])
def test_one_of_two_tables_may_have_what_is_asked_for(tmp_path: Path, place: int) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "prediction": ["x", "y"] * 6})
    more = frame.assign(touched=MARKS, genre=[f"g{i % 4}" for i in range(N)])
    paths = [write(more if i == place else frame, tmp_path / f"{i}.csv") for i in (0, 1)]
    found = read_logs(paths, keep_columns=["touched", "genre"]).predictions
    tests = compare_versions(found, reworded="touched", clusters="genre", strata=["genre"]).tests
    assert tests[0].invariance is not None
    assert tests[0].invariance.n_reworded == sum(MARKS)
    assert len(np.unique(tests[0].clusters)) == 4
    assert len(tests[0].statistics["strata"].results) == 1
    with pytest.raises(InputError, match="there is no such column"):
        read_logs(paths, keep_columns=["touched", "nothing"])


@pytest.mark.parametrize(
    ("n", "told"), [(0, None), (1, "in 1 row of transformed"), (N, f"in {N} rows of transformed")]
)
def test_a_named_column_of_reworded_rows_is_compared_with_the_texts(
    n: int, told: str | None, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "prediction": ["x", "y"] * 6})
    first = frame.assign(text=[f"text {i}" for i in range(N)])
    second = frame.assign(
        text=[f"{'other' if mark else 'text'} {i}" for i, mark in enumerate(MARKS)]
    )
    second["touched"] = [mark != (i < n) for i, mark in enumerate(MARKS)]
    paths = [write(first, tmp_path / "a.csv"), write(second, tmp_path / "b.csv")]
    found = read_logs(paths, keep_columns=["touched"]).predictions
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_versions(found, reworded="touched")
    said = [str(each.message) for each in caught if "was reworded" in str(each.message)]
    assert len(said) == (told is not None)
    assert told is None or (told in said[0] and said[0].endswith("touched counts"))
    with pytest.warns(IetestWarning, match=f"in {N - sum(MARKS)} rows of transformed --all-rewo"):
        compare_versions(found, reworded=True)


@pytest.mark.parametrize("options", [{"clusters": "genre"}, {"strata": ["genre"]}])
def test_an_item_has_one_genre(tmp_path: Path, options: dict[str, Any]) -> None:
    for genre, is_read in (
        (lambda i, new: f"g{i % 3}", True),
        (lambda i, new: f"g{(i + (new and i == 5)) % 3}", False),
        (lambda i, new: f"a text {i % 3}{', reworded' if new else ''}", True),
        (lambda i, new: f"g{i % 3}" if new else "original", "strata" in options),
    ):
        path = write(long(MARKS, genre=genre), tmp_path / "long.csv")
        found = read_logs([path]).predictions
        if is_read:
            compare_versions(found, **options)
            continue
        with pytest.raises(InputError, match=r"give each item one value|two clusters"):
            compare_versions(found, **options)


@pytest.mark.parametrize("options", [{"clusters": "genre"}, {"strata": ["genre"]}])
def test_what_is_missing_names_its_file(tmp_path: Path, options: dict[str, Any]) -> None:
    frame = long(MARKS, genre=lambda i, _: None if i == 3 else f"g{i % 4}")
    path = write(frame, tmp_path / "long.csv")
    with pytest.raises(InputError) as caught:
        compare_versions(read_logs([path]).predictions, **options)
    assert caught.value.path == str(path)
    assert "genre" in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "shown"),
    [(("g", "g"), "'g'"), (("g", " g"), "'g'"), ((7, 7), "7"), (("g", "h"), None), ((7, 8), None)],
)
def test_one_cluster_names_its_file_and_column(
    tmp_path: Path, groups: tuple[object, object], shown: str | None
) -> None:
    path = write(long(MARKS, group=lambda i, _: groups[i % 2]), tmp_path / "long.jsonl")
    found = read_logs([path]).predictions
    if shown is None:
        compare_versions(found, clusters="group")
        return
    said = f"column 'group': all 12 rows of t belong to one cluster, {shown}, and at least two"
    with pytest.raises(InputError, match=said) as caught:
        compare_versions(found, clusters="group")
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"clusters": "group"}, "belongs to no cluster; 2 rows have none"),
        ({"strata": ["group"]}, "2 missing values"),
        ({"dose": "group"}, "2 of 12 have none"),
    ],
)
@pytest.mark.parametrize("where", ["both", "one"])
def test_a_number_that_is_none_is_missing_and_no_other_value(
    tmp_path: Path, options: dict[str, Any], said: str, where: str
) -> None:
    """Parquet tells NaN from null; what one version says of an item is known of it."""
    frame = long([True] * N, group=lambda i, _: float(i % 4))
    is_none = frame["item"].isin([2, 3]) & ((frame["version"] == "t") | (where == "both"))
    frame.loc[is_none, "group"] = np.nan
    table = pa.Table.from_pandas(frame.drop(columns="group"))
    path = tmp_path / "long.parquet"
    pq.write_table(table.append_column("group", pa.array(frame["group"].to_numpy())), path)
    found = read_logs([path]).predictions
    assert found.table["group"].null_count == 0
    if where == "one":
        compare_versions(found, **options)
        return
    with pytest.raises(InputError, match=said) as caught:
        compare_versions(found, **options)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(("scores", "named"), [(None, "--scores"), (True, "finite")])
def test_a_decimal_comma_is_told(tmp_path: Path, scores: bool | None, named: str) -> None:
    path = write(pd.DataFrame({"A": ["1,5", "0,5"], "B": ["1,2", "1,0"]}), tmp_path / "a.csv")
    with pytest.raises(InputError, match="a decimal point, not a comma") as caught:
        read_measurements(path, ("A", "B"), scores=scores)
    assert named in str(caught.value)


def test_the_same_file_is_one_model(tmp_path: Path) -> None:
    predictions = of_probabilities(SURE, list("xyzx"))
    paths = [tmp_path / "a.parquet", tmp_path / "." / ".." / tmp_path.name / "a.parquet"]
    with pytest.raises(InputError, match="is the same file as"):
        name_models([predictions] * 2, paths)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("name", "ids", "said"),
    [
        ("id", [i // 4 for i in range(N)], "3 ids occur more than once"),
        ("pairID", [f"p{max(i, 1)}" for i in range(N)], "one id occurs more than once: 'p1'"),
        ("doc_id", [f"{min(i, 10)}" for i in range(N)], "one id occurs more than once: "),
        ("id", [*range(N)], None),
        ("captionID", [i // 4 for i in range(N)], None),  # several pairs have the caption
        ("question_id", [i // 4 for i in range(N)], "3 ids occur more than once"),
        ("genre", [i // 4 for i in range(N)], None),
    ],
)
def test_ids_that_stand_in_several_rows_are_counted(
    name: str, ids: list[Any], said: str | None, ending: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"label": ["x", "y"] * 6, "original": "x", "transformed": "x", name: ids})
    if name == "captionID":
        frame["premise"] = [f"A man number {i}." for i in range(N)]
        frame["hypothesis"] = "Somebody."
    path = write(frame, tmp_path / f"merged.{ending}")
    notes = read_logs([path]).notes
    assert len(notes) == (said is not None)
    assert said is None or f"of the column {name}, {said}" in notes[0]
    assert said is None or f"--clusters {name}" in notes[0]
    assert read_logs([path], keep_columns=[name]).notes == ()  # as --clusters does


@pytest.mark.parametrize("column", ["premise", "hypothesis", "sentence"])
def test_texts_in_another_encoding_are_told(column: str, tmp_path: Path) -> None:
    wide = pd.DataFrame(
        {"label": ["x", "y"] * 6, "original": "x", "transformed": ["x", "y", "y"] * 4}
    )
    wide = wide.assign(changed=[1, 0] * 6, premise="A man.", hypothesis="Somebody.")
    if column == "sentence":
        wide = wide.drop(columns=["premise", "hypothesis"])
    path = tmp_path / "t.csv"
    wide.assign(**{column: "S\xf6mebody."}).to_csv(path, index=False, encoding="latin-1")
    found = read_logs([path])
    assert reworded(found) == [True, False] * 6
    (note,) = [note for note in found.notes if note.startswith("Warning: the texts are not read")]
    assert "not UTF-8" in note


@pytest.mark.parametrize("n", [1, 4, 12])
def test_rows_that_are_there_twice_are_counted(n: int, tmp_path: Path) -> None:
    wide = pd.DataFrame(
        {"label": ["x", "y"] * 6, "original": "x", "transformed": ["x", "y", "y"] * 4}
    )
    wide = wide.assign(text=[f"Text {i}." for i in range(N)])
    twice = pd.concat([wide, wide[:n]])
    found = read_logs([write(twice, tmp_path / "t.jsonl")]).notes
    are = "1 row of 13 has" if n == 1 else f"{n} rows of {N + n} have"
    assert [f"{are} the texts and the label of another row" in note for note in found] == [True]
    again = pd.concat([wide, wide[:n].assign(transformed="x")])  # as of another run
    found = read_logs([write(again, tmp_path / "again.jsonl")]).notes
    assert [f"{are} the texts and the label of another row" in note for note in found] == [True]
    # An id tells them apart.
    named = twice.assign(uid=range(len(twice)))
    assert read_logs([write(named, tmp_path / "named.jsonl")]).notes == ()
    other = pd.concat([wide, wide[:n].assign(transformed="z", label="z")])
    assert read_logs([write(other, tmp_path / "other.jsonl")]).notes == ()


@pytest.mark.parametrize("column", ["cluster", "changed", "confidence", "correct"])
@pytest.mark.parametrize("kind", [pa.float16(), pa.binary()], ids=str)
def test_every_type_of_parquet_is_read_or_told(
    tmp_path: Path, column: str, kind: pa.DataType
) -> None:
    table = pa.Table.from_pandas(long([True] * N).drop(columns="changed"))
    values = [1.0, 0.0] * N if kind == pa.float16() else [b"\xff", b"1"] * N
    pq.write_table(table.append_column(column, pa.array(values, kind)), tmp_path / "t.parquet")
    chosen = {"clusters": "cluster"} if column == "cluster" else {}
    with contextlib.suppress(InputError):  # anything else is a defect
        compare_versions(read_logs([tmp_path / "t.parquet"]).predictions, **chosen)


_LABELS = ["entailment", "neutral", "neutral", "contradiction", "entailment", "entailment"] * 2
_NUMBERS = [str(["entailment", "neutral", "contradiction"].index(label)) for label in _LABELS]
_TURNED = "the right answer is 'neutral', and '{}' in the column {} of .*b.csv, and so in 8 rows"


@pytest.mark.parametrize(
    ("column", "values", "refused"),
    [
        ("gold", _LABELS[::-1], _TURNED.format("entailment", "gold")),
        ("gold_label", _LABELS[::-1], _TURNED.format("entailment", "gold_label")),
        ("target", _LABELS[::-1], _TURNED.format("entailment", "target")),
        ("label_id", _NUMBERS[::-1], _TURNED.format("0", "label_id")),
        ("gold", [*_LABELS[:-1], "neutral"], "and so in 1 row of 12"),
        ("correct", [0, *[1] * 11], "'correct': false contradicts the gold label 'entailment'"),
        ("gold", _LABELS, None),
        ("gold", [*_LABELS[:6], *["-"] * 6], None),
        ("gold", [f"{label[0]}!" for label in _LABELS], None),
        ("label_id", _NUMBERS, None),
        ("target", ["man", "woman"] * 6, None),
        ("target", [f"A man sleeps {i}." for i in range(12)], None),
        ("correct", [1] * 12, None),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("has_file", [False, True])
def test_labels_of_another_name_than_those_that_count_are_compared(
    *,
    tmp_path: Path,
    column: str,
    values: list[Any],
    refused: str | None,
    place: int,
    has_file: bool,
) -> None:
    """Rows may stand in another order, or one file be of other labels."""
    one = pd.DataFrame({"label": _LABELS, "prediction": _LABELS})
    other = pd.DataFrame({column: values, "prediction": _LABELS})
    frames = {"a": one, "b": other} if place else {"b": other, "a": one}
    paths = [write(frame, tmp_path / f"{name}.csv") for name, frame in frames.items()]
    gold = write(one[["label"]], tmp_path / "gold.csv") if has_file else None
    if refused is None:
        assert read_logs(paths, gold_path=gold).notes == ()
        return
    for named in (None, "label"):
        with pytest.raises(InputError, match=refused):
            read_logs(paths, gold_path=gold, gold_column=named)


@pytest.mark.parametrize("names", [("label", "gold"), ("gold", "gold_label"), ("gold", "gold")])
@pytest.mark.parametrize("step", [1, -1])
def test_outcomes_beside_other_labels_are_told(
    tmp_path: Path, names: tuple[str, str], step: int
) -> None:
    """A version may have labels of its own, so its outcomes may still be compared."""
    labels = _LABELS if step > 0 else [*_LABELS[:-1], "neutral"]
    paths = [
        write(
            pd.DataFrame({name: values, "right": [1, 0] * 6, "by": file}), tmp_path / f"{file}.csv"
        )
        for name, values, file in zip(names, (_LABELS, labels), "ab", strict=True)
    ]
    notes = read_logs(paths, correct_columns=["right"]).notes
    told = [note for note in notes if "the right answer is 'neutral', and 'entailment'" in note]
    assert len(told) == len(notes) == (step < 0)


def test_marks_that_are_the_labels_of_another_file_are_no_marks(tmp_path: Path) -> None:
    one = pd.DataFrame({"label": [1, 0] * 6, "prediction": [1, 0] * 6})
    other = pd.DataFrame({"correct": [1, 0] * 6, "prediction": [1, 0, 0, 0] * 3})
    paths = [write(one, tmp_path / "a.csv"), write(other, tmp_path / "b.csv")]
    assert int(read_logs(paths).predictions.correct.sum()) == 21


@pytest.mark.parametrize("is_one_file", [True, False])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row["text"].replace("house", "barn"), "in 12 of 12 wordings"),
        (lambda row: row["text"] + "!" * (row["version"] == "voice"), "in 6 of 12 wordings"),
        (lambda row: row["text"] + "!" * (row["item"] == 2), "version 'original' of item 2 of b"),
        (lambda row: row["text"], None),
        (lambda row: "" if row["item"] else row["text"], None),  # not known
    ],
)
def test_other_texts_of_two_models_under_one_name_are_counted(
    change: Callable[[dict[str, Any]], str], said: str | None, *, is_one_file: bool, tmp_path: Path
) -> None:
    rows = [
        {"item": item, "version": version, "gold": "yn"[item % 2], "predicted": answer}
        | {"text": f"{version} of house {item}", "model": "a"}
        for item in range(6)
        for version, answer in (("original", "yn"[item % 2]), ("voice", "y"))
    ]
    others = [row | {"text": change(row), "model": "b", "predicted": "n"} for row in rows]
    files = [rows + others] if is_one_file else [rows, others]
    paths = [write(pd.DataFrame(own), tmp_path / f"{n}.csv") for n, own in enumerate(files)]
    told = [note for note in read_logs(paths).notes if "their texts differ" in note]
    assert len(told) == (said is not None)
    assert all(str(said) in note for note in told)


def test_lists_name_no_clusters(tmp_path: Path) -> None:
    frame = long([True] * N).drop(columns="changed")
    frame["cluster"] = [[i] * (1 + i % 2) for i in range(len(frame))]
    path = write(frame, tmp_path / "long.parquet")
    with pytest.raises(InputError, match=r"column 'cluster': values are of type list<.*name clus"):
        compare_versions(read_logs([path]).predictions, clusters="cluster")


@pytest.mark.parametrize("key", ["m", "rho", "copy", "model"])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_texts_tell_what_is_reworded_in_long_tables_of_several_classifiers(
    tmp_path: Path, key: str, name: str
) -> None:
    rows = []
    for value in (0, 1):
        for i in range(12):
            texts = [("original", f"text {i}"), ("new", f"text {i}" if i < 4 else f"other {i}")]
            for version, text in texts[value if key == "copy" else 0 :]:
                wrong = version == "new" and i in {5, 6, 9}
                said = "xy"[(i + wrong) % 2]
                row = {"item": str(i), "version": version, "text": text, key: value}
                rows.append(row | {"gold": "xy"[i % 2], "predicted": said})
    if key == "model":
        for row in rows:
            row["model"] = f"m{row['model']}"
    read = read_logs([write(pd.DataFrame(rows), tmp_path / name)])
    assert not any("classifiers" in note for note in read.notes)
    changed = read.predictions.table["changed"].to_pylist()
    versions = read.predictions.table["version"].to_pylist()
    assert [c for c, v in zip(changed, versions, strict=True) if v == "original"].count(True) == 0
    assert [c for c, v in zip(changed, versions, strict=True) if v == "new"].count(True) == 16


@pytest.mark.parametrize("n_shared", [0, 6, 12])
def test_tables_of_classifiers_on_other_items_are_told(tmp_path: Path, n_shared: int) -> None:
    logs = []
    for name, seed in (("d", 0), ("e", 12 - n_shared)):
        rows = [
            {"item": f"q{i}", "version": v, "text": f"{v} {i}", "gold": "xy"[i % 2]}
            | {"predicted": "xy"[(i + (v == "a" and i % 3 == len(logs))) % 2]}
            for i in range(seed, seed + 12)
            for v in ("original", "a")
        ]
        logs.append(write(pd.DataFrame(rows), tmp_path / f"{name}.csv"))
    said = read_logs(logs).notes[0]
    if n_shared == 12:
        assert said.startswith("The logs are of 2 classifiers on the same items: d (")
    else:
        assert said.startswith("Warning: the logs are of 2 classifiers: d (")
        assert f"All have answered {n_shared} of {24 - n_shared} items" in said


@pytest.mark.parametrize(
    ("name", "counts", "more", "is_told"),
    [
        ("count", [40, 3, 5, 20], {}, True),
        ("n", [40, 3, 5, 20], {"genre": ["a", "a", "a", "b"]}, True),
        ("Freq", [7, 1, 1, 9], {}, True),
        ("count", [1, 1, 1, 1], {}, False),
        ("count", [0.5, 3, 5, 20], {}, False),
        ("n", [40, 3, 5, 20], {"text": ["t", "u", "v", "w"]}, False),  # of single texts
        ("n_tokens", [40, 3, 5, 20], {}, False),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_tables_of_counts_are_refused(
    tmp_path: Path,
    name: str,
    counts: list[float],
    more: dict[str, Any],
    ending: str,
    *,
    is_told: bool,
) -> None:
    """Their rows would count as one text each."""
    table = {"label": list("xxyy"), "original": list("xyyx"), "transformed": list("xxyy")}
    path = write(pd.DataFrame(table | {name: counts} | more), tmp_path / f"t.{ending}")
    if not is_told:
        read_logs([path])
        return
    with pytest.raises(InputError, match=rf"column '{name}': seems to count items: 4 rows, .*"):
        read_logs([path])


@pytest.mark.parametrize(
    ("name", "n_each", "is_told"), [("seed", 6, True), ("fold", 4, True), ("seed", 1, False)]
)
def test_rows_of_several_runs_without_texts_are_told(
    tmp_path: Path, name: str, n_each: int, *, is_told: bool
) -> None:
    n = 12 if n_each > 1 else 11
    table = {"label": (["x", "y"] * 6)[:n], "original": ["x"] * n, "transformed": ["y"] * n}
    table[name] = [str(i // n_each) for i in range(n)]
    notes = read_logs([write(pd.DataFrame(table), tmp_path / "t.csv")]).notes
    said = f"there are {n // n_each} {name}s of {n_each} rows each"
    assert any(said in note for note in notes) == is_told
    text = table | {"text": [f"t {i}" for i in range(n)]}
    assert not any(
        said in x for x in read_logs([write(pd.DataFrame(text), tmp_path / "u.csv")]).notes
    )


@pytest.mark.parametrize("name", ["original_prediction", "pred_original", "original"])
@pytest.mark.parametrize(
    ("said", "n"),
    [
        ("yyxy" + "xy" * 4, 1),
        ("zyxy" + "xy" * 4, 1),  # nobody has answered z
        ("xy" * 6, 0),
        ("tuvwtuvwtuvw", 0),
        ("xytuvwtuvwtu", 0),
    ],
)
def test_answers_to_the_originals_in_the_table_of_a_version_are_compared(
    tmp_path: Path, name: str, said: str, n: int
) -> None:
    gold, first = list("xy" * 6), list("xy" * 6)
    both = {"id": [f"q{i}" for i in range(12)], "label": gold}
    a = pd.DataFrame(both | {"text": [f"t {i}" for i in range(12)], "prediction": first})
    b = pd.DataFrame(both | {"text": [f"u {i}" for i in range(12)], "prediction": list("y" * 12)})
    logs = [write(a, tmp_path / "a.csv"), write(b.assign(**{name: list(said)}), tmp_path / "b.csv")]
    notes = read_logs(logs, logs_are="versions").notes
    told = [note for note in notes if f"b.csv: {name} is another answer to the original" in note]
    assert len(told) == (n > 0)
    assert not told or f"in {n} row," in told[0]


@pytest.mark.parametrize("name", ["original", "pred_before", "baseline_prediction", "orig_pred"])
@pytest.mark.parametrize("n", [0, 3, 20])
def test_answers_to_the_originals_are_no_copies_of_labels(
    tmp_path: Path, name: str, n: int
) -> None:
    """With most of them otherwise, a column may be of another classifier, unless it says not."""
    gold, first = list("xy" * 12), list("xy" * 11 + "yx")
    a = pd.DataFrame({"text": [f"t {i}" for i in range(24)], "label": gold, "prediction": first})
    said = [*list("yx" * 12)[:n], *first[n:]]
    b = a.assign(text=[f"u {i}" for i in range(24)], prediction=gold, **{name: said})
    logs = [write(a, tmp_path / "a.csv"), write(b, tmp_path / "b.csv")]
    notes = read_logs(logs, logs_are="versions").notes
    assert not [note for note in notes if "nearly the same" in note]
    told = [note for note in notes if f"{name} is another answer to the original" in note]
    assert len(told) == (n > 0 and (n < 20 or name == "original"))
    assert all(f"in {n} rows" in note for note in told)


@pytest.mark.parametrize(("name", "of"), [("output", "prediction"), ("meta", "label")])
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("end", ["jsonl", "parquet"])
def test_labels_inside_of_objects_are_compared(
    tmp_path: Path, name: str, of: str, n: int, end: str
) -> None:
    """Whatever their names."""
    gold, first = list("xy" * 12), list("xxyy" * 6)
    a = pd.DataFrame({"id": range(24), "label": gold, "prediction": first})
    said = [{"x": "y", "y": "x"}[own] if i < n else own for i, own in enumerate(a[of])]
    inner = [{"label": own, "confidence": 0.5 + i / 50} for i, own in enumerate(said)]
    for values, called in (
        (inner, f"{name}.label"),
        ([{"by": x} for x in inner], f"{name}.by.label"),
    ):
        frame = a.assign(**{name: values})
        logs = [write(frame, tmp_path / f"{which}.{end}") for which in "ab"]
        told = [note for note in read_logs(logs).notes if f"{called}" in note]
        assert len(told) == 2 * (n > 0)
        assert all(f"(unlike {of} in {n} rows)" in note for note in told)


@pytest.mark.parametrize("name", ["label_transformed", "transformed_gold", "gold_label_original"])
@pytest.mark.parametrize("n", [0, 3, 12])
def test_labels_of_one_version_beside_those_of_all(tmp_path: Path, name: str, n: int) -> None:
    gold = list("xy" * 6)
    own = list("yx" * 6)[:n] + gold[n:]
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": own, name: own})
    path = write(frame, tmp_path / "wide.csv")
    if not n:
        assert read_logs([path]).predictions
        return
    with pytest.raises(InputError, match=rf"'{name}': is another label than label in {n} rows"):
        read_logs([path])
    assert read_logs([path], gold_column="label").predictions


@pytest.mark.parametrize("n", [0, 5])
def test_ids_of_versions_side_by_side_name_the_same_rows(tmp_path: Path, n: int) -> None:
    gold, ids = list("xy" * 6), [f"a{i}" for i in range(12)]
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": gold[::-1]})
    frame["id_original"], frame["id_transformed"] = ids, ids[n:] + ids[:n]
    notes = read_logs([write(frame, tmp_path / "wide.csv")]).notes
    assert any("id_original and id_transformed name the rows" in note for note in notes) == (n > 0)


def test_answers_to_the_suite_logic_without_their_notes_are_no_rewordings(tmp_path: Path) -> None:
    frame = long([True] * N).assign(instance=1, part="a", expected="x", unit="u")
    for ending in ("csv", "jsonl", "parquet"):
        with pytest.raises(InputError, match="no longer how they came about"):
            read_logs([write(frame, tmp_path / f"l.{ending}")])


@pytest.mark.parametrize("unit", ["nll", "loss"])
@pytest.mark.parametrize("n", [0, 3])
def test_scores_of_which_the_lowest_is_likeliest(tmp_path: Path, unit: str, n: int) -> None:
    gold = list("xy" * 6)
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": gold[::-1]})
    for label in "xy":
        values = [0.2 if (own == label) != (i < n) else 2.3 for i, own in enumerate(gold)]
        frame[f"{unit}_{label}_original"] = values
    notes = read_logs([write(frame, tmp_path / "wide.csv")]).notes
    told = [note for note in notes if "is the likeliest in" in note]
    assert len(told) == (n > 0)
    assert not told or f"in {n} rows" in told[0]


def test_other_records_of_what_was_reworded_are_compared(tmp_path: Path) -> None:
    gold, changed = list("xy" * 12), [i % 3 > 0 for i in range(24)]
    frame = pd.DataFrame({"label": gold, "original": gold, "transformed": gold[::-1]})
    frame["changed"] = changed
    for n in (0, 2):
        frame["n_substitutions"] = [2 * (own != (i < n)) for i, own in enumerate(changed)]
        notes = read_logs([write(frame, tmp_path / "wide.csv")]).notes
        assert any("n_substitutions (unlike changed in" in note for note in notes) == (n > 0)


@pytest.mark.parametrize(
    ("name", "second", "is_told"),
    [
        ("classifier", "own", True),
        ("engine", "own", True),
        ("perturbation", "same", True),
        ("genre", "own", False),
        ("genre", "same", True),
    ],
)
def test_rows_of_several_runs_are_known_by_what_they_hold(
    tmp_path: Path, name: str, second: str, *, is_told: bool
) -> None:
    gold, other = list("xyxxyyxyxyyx"), list("xyxyyyxyxyxx")
    first = pd.DataFrame({"label": gold, "original": gold, "transformed": other})
    again = first if second == "same" else first.assign(original=other)
    whole = pd.concat([first.assign(**{name: "a"}), again.assign(**{name: "b"})])
    notes = read_logs([write(whole, tmp_path / "wide.csv")]).notes
    assert any("of 12 rows each, and every row counts" in note for note in notes) == is_told


@pytest.mark.parametrize("marks", ["✗✓", ["falsch", "richtig"], ["❌", "✅"]])
@pytest.mark.parametrize("form", ["files", "long"])
def test_marks_in_words_that_are_unknown_are_compared(
    tmp_path: Path, marks: Sequence[str], form: str
) -> None:
    gold, said = list("xy" * 12), list("xy" * 8 + "yx" * 4)
    for n in (0, 2):
        own = [marks[(a == b) != (i < n)] for i, (a, b) in enumerate(zip(gold, said, strict=True))]
        one = pd.DataFrame({"gold": gold, "predicted": said, "is_right": own})
        if form == "long":
            parts = [one.assign(item=range(24), version=v) for v in ("original", "t")]
            paths = [write(pd.concat(parts), tmp_path / "long.csv")]
        else:
            one.columns = ["label", "prediction", "is_right"]
            paths = [write(one, tmp_path / f"{v}.csv") for v in "ab"]
        notes = read_logs(paths).notes
        assert any("is_right (unlike whether" in note for note in notes) == (n > 0)


@pytest.mark.parametrize("prefix", ["", "prob_", "logit", "class_"])
def test_scores_that_are_numbered_are_compared(tmp_path: Path, prefix: str) -> None:
    gold = list("xy" * 12)
    for n in (0, 2):
        frame = pd.DataFrame({"label": gold, "prediction": gold})
        frame[f"{prefix}0"] = [0.9 if (g == "x") != (i < n) else 0.2 for i, g in enumerate(gold)]
        frame[f"{prefix}1"] = 1 - frame[f"{prefix}0"]
        notes = read_logs([write(frame, tmp_path / f"{v}.csv") for v in "ab"]).notes
        assert any(f"of {prefix}0 to {prefix}1 (unlike" in note for note in notes) == (n > 0)


@pytest.mark.parametrize(("rate", "is_told"), [(0.5, False), (50, False), (0.01, True)])
def test_the_share_of_changed_answers_is_compared(
    tmp_path: Path, rate: float, *, is_told: bool
) -> None:
    frame = pd.DataFrame({"label": list("xy" * 6), "original": list("xy" * 6)})
    frame["transformed"], frame["flip_rate"] = list("xxxx" * 3), rate
    notes = read_logs([write(frame, tmp_path / "wide.csv")]).notes
    assert any("of 12 answers are changed" in note for note in notes) == is_told


@pytest.mark.parametrize("n_digits", [19, 400, 5000])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_labels_of_very_many_digits_are_names(tmp_path: Path, n_digits: int, ending: str) -> None:
    labels = ["1" * n_digits, "2" * n_digits]
    names = [labels[i % 2] for i in range(2 * N)]
    frame = pd.DataFrame({"item": np.arange(2 * N) // 2, "version": ["original", "t"] * N})
    frame["gold"] = frame["predicted"] = [labels[i // 2 % 2] for i in range(2 * N)]
    frame["gold_name"] = frame["gold"].map(dict(zip(labels, ("yes", "no"), strict=True)))
    found = read_logs([write(frame, tmp_path / f"long.{ending}")])
    assert set(found.predictions.label_names) == set(labels)
    wide = pd.DataFrame({"label": names, "original": names, "transformed": names[::-1]})
    read = read_logs([write(wide, tmp_path / f"wide.{ending}")])
    assert read.predictions.pairs("transformed").sample.counts.n10 == 2 * N


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_ids_of_several_items_are_told_in_a_long_table(tmp_path: Path, suffix: str) -> None:
    """As where another program writes again what eval wrote of several epochs."""
    frame = pd.DataFrame(
        {
            "item": [f"{i}, epoch {e}" for _ in "ab" for e in (1, 2) for i in range(20)],
            "version": ["original"] * 40 + ["other"] * 40,
            "gold": ["y", "n"] * 40,
            "predicted": ["y", "n", "y", "y"] * 20,
            "sample_id": [i for _ in "ab" for _ in (1, 2) for i in range(20)],
        }
    )
    path = write(frame, tmp_path / f"long.{suffix}")
    (said,) = [note for note in read_logs([path]).notes if "sample_id" in note]
    assert "20 ids occur more than once" in said
    assert "--clusters sample_id" in said
    path = write(frame.drop(columns="sample_id"), tmp_path / f"without.{suffix}")
    assert not [note for note in read_logs([path]).notes if "more than once" in note]


@pytest.mark.parametrize(
    ("said", "told"), [(0.9, True), (0.25, False), (25.0, False), (10, False), (11, True)]
)
@pytest.mark.parametrize("name", ["flip_rate", "n_flips"])
def test_counts_of_flips_are_compared_in_every_form(
    tmp_path: Path, name: str, said: float, *, told: bool
) -> None:
    gold = ["a", "b"] * 20
    other = ["b" if i % 4 == 0 else each for i, each in enumerate(gold)]
    long = pd.DataFrame(
        {
            "item": [*range(40)] * 2,
            "version": ["original"] * 40 + ["other"] * 40,
            "gold": gold * 2,
            "predicted": gold + other,
            name: said,
        }
    )
    first, second = (
        pd.DataFrame({"text": [f"{kind} {i}" for i in range(40)], "label": gold, "prediction": own})
        for kind, own in (("a", gold), ("b", other))
    )
    forms = [
        [write(long, tmp_path / "long.csv")],
        [
            write(first, tmp_path / "first.csv"),
            write(second.assign(**{name: said}), tmp_path / "second.csv"),
        ],
    ]
    for paths in forms:
        notes = read_logs(paths).notes
        assert any(f"{name} is {said:g}" in note for note in notes) == told, paths


def test_moves_between_labels_are_called_as_the_labels(tmp_path: Path) -> None:
    rows = [(i % 3 + 1, (i + (i % 5 == 0)) % 3 + 1) for i in range(90)]
    frame = pd.DataFrame(
        {
            "item": [*range(90)] * 2,
            "version": ["original"] * 90 + ["other"] * 90,
            "gold": [str(gold) for gold, _ in rows] * 2,
            "predicted": [str(gold) for gold, _ in rows] + [str(own) for _, own in rows],
        }
    )
    path = write(frame, tmp_path / "stars.csv")
    found = compare_versions(read_logs([path]).predictions, reworded=True).tests[0].invariance
    assert found is not None
    assert found.symmetry is not None
    assert found.symmetry.labels == ("1", "2", "3")
