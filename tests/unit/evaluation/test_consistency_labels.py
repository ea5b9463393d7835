"""Answers of long tables are labels by the rules of ``eval``: a spelling makes none wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import ietest_fast as ie
from ietest_fast.analyses.compare.page import read_tested
from ietest_fast.analyses.consistency.file import need_wordings
from ietest_fast.answers.logs import read_logs
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")


def answers() -> pd.DataFrame:
    """Thirty items with three wordings; an answer in three is the next label."""
    return pd.DataFrame(
        {
            "item": f"i{item}",
            "version": version,
            "gold": LABELS[item % 3],
            "predicted": LABELS[(item + (item + place) % 3 // 2) % 3],
        }
        for item in range(30)
        for place, version in enumerate(("original", "p0", "p1"))
    )


def write_csv(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def write_jsonl(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_json(folder / "log.jsonl", orient="records", lines=True)
    return folder / "log.jsonl"


def write_parquet(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def keep(frame: pd.DataFrame, folder: Path) -> pd.DataFrame:
    return frame


WRITERS = [write_csv, write_jsonl, write_parquet, keep]


@pytest.mark.parametrize("give", WRITERS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (LABELS.index, r"holds numbers \(0, 1, 2\), but gold labels are names.*Write the labels'"),
        (lambda name: name[0].upper(), "unknown label '[ENC]'.*write answers as the gold labels"),
        (lambda name: "none of these" if name == "neutral" else name, "'none of these'"),
    ],
    ids=["numbers", "letters", "no label"],
)
def test_answers_that_are_no_labels_are_refused(
    give: Callable[[pd.DataFrame, Path], Any],
    change: Callable[[str], Any],
    expected: str,
    tmp_path: Path,
) -> None:
    frame = answers()
    given = give(frame.assign(predicted=frame["predicted"].map(change)), tmp_path)
    with pytest.raises(InputError, match=f"(?s)column 'predicted': .*{expected}"):
        ie.consistency(given)
    with pytest.raises(InputError, match=f"(?s)column 'predicted': .*{expected}"):
        ie.consistency(answers(), test_set=given)
    if given is not None and not isinstance(given, pd.DataFrame):
        with pytest.raises(InputError, match=r"column 'predicted': .*options of eval, whose --out"):
            read_tested(given)


@pytest.mark.parametrize("give", WRITERS)
def test_second_columns_of_labels_and_answers_are_compared(
    give: Callable[[pd.DataFrame, Path], Any], tmp_path: Path
) -> None:
    frame = answers()
    for name, of in (("label", "gold"), ("target", "gold"), ("pred", "predicted")):
        alike = give(frame.assign(**{name: frame[of]}), tmp_path)
        assert ie.consistency(alike, n_resamples=50).warnings == ()
        turned = give(frame.assign(**{name: frame[of][::-1].to_numpy()}), tmp_path)
        (said,) = ie.consistency(turned, n_resamples=50).warnings
        assert (
            f"{name} is another {'answer' if of == 'predicted' else 'label'} than {of} in" in said
        )


@pytest.mark.parametrize("give", WRITERS)
def test_marks_beside_answers_are_compared(
    give: Callable[[pd.DataFrame, Path], Any], tmp_path: Path
) -> None:
    frame = answers()
    right = frame["gold"] == frame["predicted"]
    assert ie.consistency(give(frame.assign(is_correct=right), tmp_path), n_resamples=50)
    given = give(frame.assign(is_correct=~right), tmp_path)
    message = "column 'is_correct': says otherwise than gold and predicted in"
    with pytest.raises(InputError, match=message):
        ie.consistency(given)
    if given is not None and not isinstance(given, pd.DataFrame):
        with pytest.raises(InputError, match=message):
            read_logs([given])


@pytest.mark.parametrize("give", WRITERS)
def test_numbers_among_gold_labels_are_named(
    give: Callable[[pd.DataFrame, Path], Any], tmp_path: Path
) -> None:
    """As eval takes 0, 1, 2 beside NLI's names."""
    frame = answers()
    given = give(frame.assign(gold=frame["gold"].map(LABELS.index)), tmp_path)
    expected = ie.consistency(answers(), n_resamples=50)
    found = ie.consistency(given, n_resamples=50)
    assert found.to_dict() == expected.to_dict()
    assert 0.5 < found["accuracy_micro"].value < 0.8


@pytest.mark.parametrize("give", WRITERS)
def test_a_missing_answer_is_wrong_and_counted_however_it_is_written(
    give: Callable[[pd.DataFrame, Path], Any], tmp_path: Path
) -> None:
    frame = answers()
    is_lacking = frame["item"] == "i0"
    expected = ie.consistency(frame.assign(predicted=frame["predicted"].mask(is_lacking, None)))
    given = give(frame.assign(predicted=frame["predicted"].mask(is_lacking, "-")), tmp_path)
    found = ie.consistency(given)
    assert found.to_dict() == expected.to_dict()
    assert found.warnings == ("3 answers are missing and count as wrong.",)


@pytest.mark.parametrize("give", WRITERS)
def test_a_sign_for_no_gold_label_is_no_label(
    give: Callable[[pd.DataFrame, Path], Any], tmp_path: Path
) -> None:
    frame = answers()
    given = give(frame.assign(gold=frame["gold"].mask(frame["item"] == "i0", "-")), tmp_path)
    with pytest.raises(InputError, match="column 'gold': 3 rows have no gold label: '-' stands"):
        ie.consistency(given)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ("yes", ["yes", "no", "maybe"]),  # gold labels do not show which others there are
        ("not_entailment", ["non-entailment", "entailment", "entailment"]),
        ("-1", ["-1", "-1", "1"]),
        ("ENTAILMENT", ["entailment", "contradiction", "Neutral"]),
    ],
)
def test_what_may_be_labels_is_taken_for_them(gold: str, predicted: list[str]) -> None:
    frame = answers().head(3).assign(gold=gold, predicted=predicted)
    if gold == "-1":  # a label, as long as answers have it, too
        frame.loc[3] = ["i0", "p2", "-1", "-1"]
        frame = pd.concat([frame, frame.assign(item="i1", gold="1")])
    assert ie.consistency(frame, n_resamples=50)["accuracy_micro"].value is not None


@pytest.mark.parametrize(
    ("names", "given", "said"),
    [
        (
            "012",
            "210",
            "would be if 0 and 2 were exchanged: do the numbers mean other labels",
        ),
        ("012", "120", "would be if 0 stood for 2, 1 stood for 0 and 2 stood for 1"),
        ("01", "10", "would be if 0 and 1 were exchanged"),
        ("0123", "1233", "would be if each number were less by one"),
        ("012", "012", None),
        (LABELS, LABELS[::-1], None),
    ],
)
@pytest.mark.parametrize("give", WRITERS[:3])
def test_numbers_of_other_labels_are_warned_of_as_by_eval(
    tmp_path: Path,
    give: Callable[[pd.DataFrame, Path], Path],
    names: Sequence[str],
    given: Sequence[str],
    said: str | None,
) -> None:
    rows = [
        {"item": f"i{item}", "version": version, "gold": names[place], "predicted": answer}
        for item in range(80)
        for place in [item % len(names)]
        for version, answer in (("original", names[place]), ("p0", given[place]))
    ]
    path = give(pd.DataFrame(rows), tmp_path)
    notes = [need_wordings(path).notes.warnings, read_logs([path]).notes]
    for found in notes:
        assert len(found) == (said is not None)
        assert all("version 'p0'" in note and str(said) in note for note in found)
    marked = pd.DataFrame(rows).assign(correct=[row["gold"] == row["predicted"] for row in rows])
    assert not need_wordings(give(marked, tmp_path)).notes.warnings


def test_marks_say_which_free_texts_are_right(tmp_path: Path) -> None:
    frame = answers()
    right = frame["gold"] == frame["predicted"]
    expected = ie.consistency(frame, n_resamples=50)["accuracy_micro"].value
    frame = frame.assign(predicted="I think: " + frame["predicted"], correct=right)
    for give in WRITERS:
        given = give(frame, tmp_path)
        assert ie.consistency(given, n_resamples=50)["accuracy_micro"].value == expected


def test_many_gold_labels_are_texts() -> None:
    frame = answers()
    frame = frame.assign(gold="text " + frame["item"], predicted="text " + frame["item"])
    frame.loc[1, "predicted"] = "another text"
    assert ie.consistency(frame, n_resamples=50)["accuracy_micro"].value == pytest.approx(59 / 60)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    expected = ie.consistency(answers(), out=out, n_resamples=50)
    assert ie.consistency(out, n_resamples=50).to_dict() == expected.to_dict()
    assert need_wordings(out).predictions.table.num_rows == 90
