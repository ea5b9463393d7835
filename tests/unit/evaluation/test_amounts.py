"""Amounts of data: as they are written and read, and the curves over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from ietest_fast.analyses.consistency.curves import curves_of_profiles, note_amounts, read_amounts
from ietest_fast.analyses.consistency.file import (
    AMOUNT,
    Amounts,
    ConsistencyAnswers,
    ConsistencyNotes,
    join_answers,
    name_answers,
    parse_amounts,
    read_wordings,
)
from ietest_fast.analyses.consistency.noting import ConsistencyOptions
from ietest_fast.analyses.consistency.profile import measure_wordings
from ietest_fast.answers import Predictions
from ietest_fast.answers.file import read_notes, write_answers
from ietest_fast.errors import InputError
from ietest_fast.numerals import format_amount

if TYPE_CHECKING:
    from pathlib import Path

QUICK = {"n_resamples": 200, "n_threads": 1}
MEASURED = ConsistencyOptions(**QUICK)
# Right answers to three paraphrases of each of four items.
RIGHT = {
    "small": ["111", "000", "111", "000"],
    "large": ["111", "110", "101", "011"],
    "middle": ["111", "110", "111", "000"],
}


def answers(right: dict[str, list[str]], **columns: list[object]) -> ConsistencyAnswers:
    listed = [
        {
            "item": item,
            "version": f"p{place}",
            "gold": "yes",
            "predicted": "yes" if sign == "1" else "no",
            "model": model,
        }
        for model, items in right.items()
        for item, signs in enumerate(items)
        for place, sign in enumerate(signs)
    ]
    table = pa.Table.from_pylist(listed)
    for name, values in columns.items():
        n = len(listed) // len(values)
        table = table.append_column(name, pa.array([v for v in values for _ in range(n)]))
    return ConsistencyAnswers(predictions=Predictions.from_table(table), notes=ConsistencyNotes())


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("10M,100M,1B", (1e7, 1e8, 1e9)),
        ("1k, 2.5K,3g,1T", (1e3, 2.5e3, 3e9, 1e12)),
        ("1%,10 %,100%", (0.01, 0.1, 1.0)),
        ("0.01,0.5,28300", (0.01, 0.5, 28300.0)),
    ],
)
def test_amounts_are_read(text: str, amounts: tuple[float, ...]) -> None:
    found = parse_amounts(text.split(","))
    assert found.values == amounts
    assert found.in_percent == ("%" in text)


@pytest.mark.parametrize("text", ["10%,1000", "0.5,50%", "1%,10%,1M"])
def test_percentages_are_not_mixed_with_numbers(text: str) -> None:
    with pytest.raises(InputError, match="mixes percentages and other numbers"):
        parse_amounts(text.split(","))


@pytest.mark.parametrize("text", ["", "10M,", "0", "-5", "many", "10MB", "1e3", "nan", "inf,1"])
def test_what_is_no_amount_is_said(text: str) -> None:
    with pytest.raises(InputError, match="is no amount; numbers above 0 are"):
        parse_amounts(text.split(","))


@pytest.mark.parametrize("text", ["10%,150%", "100.5%", "50%, 1000 %"])
def test_more_than_all_the_data_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is more than all the data; write percentages up to 100%"):
        parse_amounts(text.split(","))


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1e7, "10M"),
        (3e10, "30B"),
        (1.1e6, "1.1M"),
        (2.2e9, "2.2B"),
        (100_000, "100k"),
        (28_300, "28,300"),
        (1_234_567, "1,234,567"),
        (60, "60"),
        (0.01, "0.01"),
        (1.5, "1.5"),
    ],
)
def test_amounts_are_written(amount: float, text: str) -> None:
    assert format_amount(amount) == text


@pytest.mark.parametrize("text", ["1%", "7%", "0.1%", "12.5%", "28.3%", "100%", "99.9%"])
def test_percentages_are_written_as_they_were_given(text: str) -> None:
    (amount,), in_percent = parse_amounts([text])
    assert format_amount(amount, in_percent=in_percent) == text


def test_files_keep_that_amounts_are_percentages(tmp_path: Path) -> None:
    (noted,) = note_amounts([answers(RIGHT)], [0.01, 1, 0.1], in_percent=True)
    write_answers(noted, tmp_path / "x.parquet")
    read = read_wordings(tmp_path / "x.parquet")
    assert read is not None
    assert read.notes.curves == noted.notes.curves
    (curve,) = curves_of_profiles(read.notes.curves, measure_wordings([read], MEASURED), **QUICK)
    assert [point.written for point in curve.points] == ["1%", "10%", "100%"]
    assert [point.to_dict()["amount"] for point in curve.points] == [0.01, 0.1, 1]


def test_a_curve_is_in_the_order_of_the_amounts() -> None:
    noted = note_amounts([answers(RIGHT)], [10, 1000, 100], of="rows")
    profiles = measure_wordings(noted, MEASURED)
    (curve,) = curves_of_profiles(noted[0].notes.curves, profiles, **QUICK)
    assert (curve.name, curve.of) == ("", "rows")
    assert [(own.name, own.amount) for own in curve.points] == [
        ("small", 10.0),
        ("middle", 100.0),
        ("large", 1000.0),
    ]
    # Of three paraphrases two right make one pair of three.
    expected = [1.0, (3 + 1 / 3) / 4, (1 + 3 * (1 / 3)) / 4]
    for point, value in zip(curve.points, expected, strict=True):
        assert point.result["p_c_unbiased"].value == pytest.approx(value)
        assert (point.n_classifiers, point.spread("p_c_unbiased")) == (1, None)
    assert [(step.first, step.second) for step in curve.steps] == [
        ("middle", "small"),
        ("large", "middle"),
    ]
    for step, before, after in zip(curve.steps, expected, expected[1:], strict=False):
        assert step.means["p_c_unbiased"].difference == pytest.approx(after - before)
    written = curve.to_dict()
    assert [each["amount"] for each in written["points"]] == [10.0, 100.0, 1000.0]
    assert len(written["steps"]) == 2


def test_holm_is_over_the_steps_of_all_curves() -> None:
    noted = note_amounts([answers(RIGHT)], [10, 1000, 100])
    profiles = measure_wordings(noted, MEASURED)
    own = noted[0].notes.curves[0]
    assert own.of == AMOUNT
    (alone,) = curves_of_profiles([own], profiles, **QUICK)
    twice = curves_of_profiles([own, own], profiles, **QUICK)
    for one, two in zip(alone.steps, twice[1].steps, strict=True):
        for name, mean in one.means.items():
            assert two.means[name].p_value == mean.p_value
            assert two.means[name].p_adjusted >= mean.p_adjusted
    assert min(step.means["p_c_unbiased"].p_adjusted for step in twice[0].steps) == min(
        1.0, 4 * min(step.means["p_c_unbiased"].p_value for step in twice[0].steps)
    )


def test_a_column_says_the_amounts() -> None:
    found = answers(RIGHT, rows=[10, 1000, 100])
    (noted,) = read_amounts([found], "rows")
    (own,) = noted.notes.curves
    assert own == Amounts(of="rows", by_model={"small": 10.0, "large": 1000.0, "middle": 100.0})
    assert read_amounts([found], "rows", of="sentences")[0].notes.curves[0].of == "sentences"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, 2], "large and middle have the same amount, 2"),
        ([1, 2, None], "None in the rows of middle; an amount is a number above 0"),
        ([1, 2, -3], "-3.0 in the rows of middle"),
        (["1", "x", "2"], "amounts are numbers"),
        ([1, 2, 3, 4], "2 different amounts in the rows of"),
    ],
)
def test_columns_that_are_none_of_amounts(values: list[object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_amounts([answers(RIGHT, rows=values)], "rows")


def test_amounts_that_do_not_fit_the_classifiers() -> None:
    found = [answers(RIGHT)]
    with pytest.raises(InputError, match=r"2 amounts for 3 classifiers; .* 'small', 'large'"):
        note_amounts(found, [1, 2])
    alone = replace(found[0], predictions=found[0].predictions.select(model="small"))
    table = alone.predictions.table.drop_columns("model")
    unnamed = replace(alone, predictions=Predictions.from_table(table, source="a/con.csv"))
    with pytest.raises(InputError, match=r"2 amounts for 1 classifier; .* 'con'"):
        note_amounts([unnamed], [1, 2])
    with pytest.raises(InputError, match="small and middle have the same amount, 10M"):
        note_amounts(found, [1e7, 5, 1e7])
    with pytest.raises(InputError, match="has no such column of amounts; it has item, version"):
        read_amounts(found, "rows")
    with pytest.raises(InputError, match="needs two classifiers or more"):
        note_amounts([answers({"small": RIGHT["small"]})], [1])


def test_amounts_are_held_against_those_of_the_file() -> None:
    (noted,) = note_amounts([answers(RIGHT)], [10, 1000, 100])
    assert noted.notes.warnings == ()
    (again,) = note_amounts([noted], [10, 1000, 100])
    assert again.notes.warnings == ()
    (other,) = note_amounts([noted], [1000, 10, 100])
    assert len(other.notes.warnings) == 2
    assert "the amount of small is 10 there, and 1,000 is given" in other.notes.warnings[0]
    beside = answers(RIGHT, rows=[10, 1000, 100])
    assert note_amounts([beside], [3, 2, 1])[0].notes.warnings == ()
    assert len(note_amounts([beside], [10, 1000, 1], of="rows")[0].notes.warnings) == 1


def test_files_keep_their_curves(tmp_path: Path) -> None:
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    for path, end in zip(paths, "xy", strict=True):
        rows = {name + end: items for name, items in RIGHT.items()}
        (noted,) = note_amounts([answers(rows)], [10, 1000, 100], of="rows")
        write_answers(noted, path)
        kept = read_notes(path, ConsistencyNotes)
        assert kept is not None
        assert kept.curves == noted.notes.curves
    read = [read_wordings(path) for path in paths]
    found = name_answers([each for each in read if each is not None], paths)
    assert [own.name for each in found for own in each.notes.curves] == ["one", "two"]
    joined = join_answers(found)
    assert [own.name for own in joined.notes.curves] == ["one", "two"]
    profiles = measure_wordings([joined], MEASURED)
    curves = curves_of_profiles(joined.notes.curves, profiles, **QUICK)
    assert [[point.name for point in curve.points] for curve in curves] == [
        ["smallx", "middlex", "largex"],
        ["smally", "middley", "largey"],
    ]
