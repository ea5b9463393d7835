"""What versions of one file say otherwise than the original: answers, labels, strata and texts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.analyses.consistency.file import need_wordings
from ietest_fast.analyses.consistency.noting import ConsistencyOptions
from ietest_fast.analyses.consistency.profile import measure_wordings
from ietest_fast.analyses.consistency.tables import measure_table
from ietest_fast.answers.logs import read_logs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 60
LABELS = ("entailment", "neutral", "contradiction")


def write(rows: list[dict[str, Any]], path: Path) -> Path:
    frame = pd.DataFrame(rows)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def long(**columns: Callable[[int, bool], Any]) -> list[dict[str, Any]]:
    """Return answers to two versions; columns are made of the item and whether it is reworded."""
    return [
        {"item": f"q{i}", "version": "syn" if new else "original", "gold": LABELS[i % 3]}
        | {"predicted": LABELS[(i + (i % 5 == int(new))) % 3]}
        | {name: make(i, new) for name, make in columns.items()}
        for new in (False, True)
        for i in range(N)
    ]


def marked(answers: Callable[[int, str], str | None]) -> list[dict[str, Any]]:
    rows = long()
    for i, row in enumerate(rows):
        row["correct"] = row["predicted"] == row["gold"]
        row["predicted"] = answers(i, row["predicted"])
    return rows


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (lambda i, own: "E" if i == 1 else own, "1 answer is none of the gold labels"),
        (lambda i, own: "E" if i in {1, 60} else own, None),
        (lambda _, own: str(LABELS.index(own)), "120 answers are none of the gold labels"),
        (lambda i, own: f"I think {own} in case {i}", ""),
        (lambda _, own: own, ""),
    ],
)
def test_consistency_says_why_answers_are_texts_as_eval_does(
    tmp_path: Path, answers: Any, said: str | None, ending: str
) -> None:
    path = write(marked(answers), tmp_path / f"t.{ending}")
    known = need_wordings(path)
    told = [
        [each for each in notes if "taken for free texts" in each]
        for notes in (known.notes.warnings, read_logs([path]).notes)
    ]
    assert told[0] == told[1]
    assert [said in each for each in told[0]] == [True] if said else True
    assert bool(told[0]) == (said != "")
    (profile,) = measure_wordings([known], ConsistencyOptions(n_resamples=99, rng=1))
    is_bound = not known.predictions.has_labels
    for names in (
        [row[0] for row in measure_table(profile).rows],
        [name for name, _ in profile.result.rows()],
    ):
        assert ("flips from the original, at least" in names) == is_bound
        assert ("flips from the original" in names) != is_bound


@pytest.mark.parametrize("lacking", [set(), {"original"}, {"syn"}, {"original", "syn"}])
@pytest.mark.parametrize("n", [0, 12])
def test_other_right_answers_are_told_where_a_version_lacks_items(
    tmp_path: Path, lacking: set[str], n: int
) -> None:
    rows = long(gold=lambda i, new: LABELS[(i + (new and i < n)) % 3])
    drop = {("original", "q58"), ("syn", "q59")}
    kept = [
        row
        for row in rows
        if row["version"] not in lacking or (row["version"], row["item"]) not in drop
    ]
    notes = read_logs([write(kept, tmp_path / "l.csv")]).notes
    said = f"the right answer to 12 items of {N - len(lacking)} is another one in syn"
    assert any(said in note for note in notes) == bool(n)
    assert any("is another one in" in note for note in notes) == bool(n)


GENRES = ("fiction", "news", "speech")


@pytest.mark.parametrize(
    ("genre", "n"),
    [
        (lambda i, new: "travel" if new and i in {3, 6, 9} else GENRES[i * 7 % 11 % 3], 3),
        (lambda i, new: "travel" if new and i == 59 else GENRES[i * 7 % 11 % 3], 1),
        (lambda i, _: GENRES[i * 7 % 11 % 3], 0),
        (lambda i, new: None if new else GENRES[i * 7 % 11 % 3], 0),
        (lambda i, new: GENRES[i * 7 % 11 % 3] if new else None, 0),
        (lambda i, new: ("swap", "delete", "none")[i * 7 % 11 % 3] if new else "none", 0),
        (lambda i, new: f"{GENRES[i * 7 % 11 % 3]}, {'new' if new else 'old'}", 0),
        (lambda i, new: i * 7 % 11 % 3 + (new and i % 7 == 0), 0),  # such as numbers of words
    ],
)
def test_strata_that_differ_between_versions_are_counted(
    tmp_path: Path, genre: Any, n: int
) -> None:
    path = write(long(genre=genre), tmp_path / "l.csv")
    predictions = read_logs([path]).predictions
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare_versions(predictions, strata=["genre"])
    told = [str(each.message) for each in caught if "genre is another one" in str(each.message)]
    assert len(told) == bool(n)
    assert not n or f"than in original for {n} of 60 items" in told[0]


def text(i: int) -> str:
    return f"{('apple', 'river', 'stone', 'cloud')[i % 4]} and the number {i} of all"


def shift(i: int, new: bool) -> str:
    return text((i + new) % N)


def only_swap(i: int, new: bool) -> str:
    return f"{('She', 'He')[(i + new) % 2]} is a nurse in town {i // 2}"


@pytest.mark.parametrize("form", ["csv", "parquet", "wide", "two"])
@pytest.mark.parametrize(
    ("premise", "hypothesis", "slipped"),
    [
        (shift, lambda i, _: f"It is {i}.", "premise"),
        (lambda i, _: f"It is {i}.", shift, "hypothesis"),
        (lambda i, new: text((i + new * (i < 40)) % N), lambda i, _: f"It is {i}.", "premise"),
        (lambda i, new: text(i) + " again" * new, lambda i, _: f"It is {i}.", None),
        (only_swap, lambda i, _: f"It is {i}.", None),
        (lambda i, _: text(i // 3), lambda i, new: f"It is {i}{'!' * new}", None),
        (lambda i, new: f"It is {i}." if new else text(i), lambda i, _: text(i), None),
    ],
)
def test_a_column_of_texts_that_has_slipped_in_a_version_is_told(
    tmp_path: Path, form: str, premise: Any, hypothesis: Any, slipped: str | None
) -> None:
    rows = long(premise=premise, hypothesis=hypothesis)
    rows = [row for row in rows if form == "wide" or row["item"] != "q7" or row["version"] != "syn"]
    notes: list[tuple[str, ...]] = []
    if form == "wide":
        pairs = zip(rows[:N], rows[N:], strict=True)
        made = [
            {"id": one["item"], "label": one["gold"]}
            | {"original": one["predicted"], "transformed": two["predicted"]}
            | {f"{name}_original": one[name] for name in ("premise", "hypothesis")}
            | {f"{name}_transformed": two[name] for name in ("premise", "hypothesis")}
            for one, two in pairs
        ]
        notes = [read_logs([write(made, tmp_path / "w.csv")]).notes]
    elif form == "two":
        names = {"gold": "label", "predicted": "prediction"}
        paths = [
            write(
                [
                    {names.get(name, name): value for name, value in row.items()}
                    for row in rows
                    if row["version"] == version
                ],
                tmp_path / f"{version}.csv",
            )
            for version in ("original", "syn")
        ]
        notes = [read_logs(paths, id_column="item", common_items=True, logs_are="versions").notes]
    else:
        path = write(rows, tmp_path / f"l.{form}")
        notes = [read_logs([path]).notes, need_wordings(path).notes.warnings]
    for said in notes:
        told = [note for note in said if "put each text beside its own item" in note]
        assert len(told) == (slipped is not None), told
        assert slipped is None or f" in {slipped}" in told[0]


def _answer(i: int, *, new: bool) -> str:
    return LABELS[(i + (i % 5 == int(new))) % 3]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("is_filled", [False, True])
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("original_prediction", "answer to"),
        ("pred_before", "answer to"),
        ("original_text", "text of"),
    ],
)
def test_what_rewordings_repeat_of_their_originals_is_compared(
    tmp_path: Path, name: str, what: str, n: int, *, is_filled: bool, ending: str
) -> None:
    def repeat(i: int, new: bool) -> str | None:
        own = f"text {i}" if name == "original_text" else _answer(i, new=False)
        other = "another text" if name == "original_text" else LABELS[LABELS.index(own) - 1]
        return (other if i < n else own) if new else own if is_filled else None

    rows = long(text=lambda i, new: f"{'other' if new else 'text'} {i}", **{name: repeat})
    path = write(rows, tmp_path / f"own.{ending}")
    for notes in (read_logs([path]).notes, need_wordings(path).notes.warnings):
        assert not [note for note in notes if "nearly the same" in note]
        told = [note for note in notes if f"{name} is another {what} the original" in note]
        assert len(told) == (n > 0)
        assert not told or f"in {n} rows; the row of original counts" in told[0]


@pytest.mark.parametrize("n", [0, 3])
def test_a_second_record_of_each_answer_says_nothing_of_originals(tmp_path: Path, n: int) -> None:
    """An ``original_prediction`` may also be what was answered before it was made a label."""
    rows = long(original_prediction=lambda i, new: _answer(i + 1 if new and i < n else i, new=new))
    notes = read_logs([write(rows, tmp_path / "own.csv")]).notes
    assert not [note for note in notes if "another answer to" in note]
    assert sum("nearly the same as what counts" in note for note in notes) == (n > 0)


def test_other_texts_of_originals_are_no_contradiction(tmp_path: Path) -> None:
    """Of nearly all rows, a column holds something else; bytes are no texts."""
    texts = {"text": lambda i, new: f"{'other' if new else 'text'} {i}"}
    rows = long(**texts, original_text=lambda i, _: f"before cleaning {i}")
    assert not read_logs([write(rows, tmp_path / "own.csv")]).notes
    rows = long(**texts, original_text=lambda i, _: b"text %d" % i, original_prediction=_bytes)
    assert not read_logs([write(rows, tmp_path / "own.parquet")]).notes


def _bytes(i: int, new: bool) -> bytes:
    return _answer(i, new=new).encode()
