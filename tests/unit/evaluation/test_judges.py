"""Which judge says right or wrong, and what is said where that is not one thing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ietest_fast.errors import InputError
from ietest_fast.evaluation.reading import read_logs
from ietest_fast.stats import invariance_test

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(path: Path, scores_of: Callable[[int], dict[str, Any]], *, n: int = 40) -> Path:
    """Write a log of Inspect with these scores of each sample."""
    samples = [
        {
            "id": i,
            "epoch": 1,
            "input": f"{path.stem} {i}",
            "target": "A",
            "scores": {name: {"value": value} for name, value in scores_of(i).items()},
        }
        for i in range(n)
    ]
    about = {"task": "t", "model": "m", "eval_id": "e"}
    path.write_text(
        json.dumps({"version": 2, "status": "success", "eval": about} | {"samples": samples})
    )
    return path


def grade(is_right: bool) -> str:
    return "C" if is_right else "I"


def test_a_judge_that_keeps_no_answer_does_not_say_what_it_has_parsed(tmp_path: Path) -> None:
    logs = [
        write(tmp_path / "a.json", lambda i: {"judge": grade(i % 5 > 0)}),
        write(tmp_path / "b.json", lambda i: {"judge": grade(i % 5 > 1)}),
    ]
    for unparsed in (None, "drop"):
        options = {} if unparsed is None else {"unparsed": unparsed}
        read = read_logs(logs, **options)
        assert len(read.predictions) == 80
        assert not any("parsed" in note for note in read.notes)


def test_judges_that_have_nothing_in_common_are_told(tmp_path: Path) -> None:
    logs = [
        write(tmp_path / "a.json", lambda _: {"includes": "C"}),
        write(tmp_path / "b.json", lambda i: {"exact": grade(i % 2 > 0)}),
    ]
    said = "b.json is right or wrong by 'exact', and .*a.json by 'includes', and they have no judge"
    (note,) = [each for each in read_logs(logs).notes if each.startswith("Warning")]
    assert re.search(said, note)


@pytest.mark.parametrize("n_strange", [1, 5])
def test_a_scorer_of_few_samples_is_not_preferred(tmp_path: Path, n_strange: int) -> None:
    logs = [
        write(tmp_path / "a.json", lambda i: {"s": grade(i % 4 > 0)}),
        write(
            tmp_path / "b.json", lambda i: {"s": {"a": 1} if i < n_strange else grade(i % 3 > 0)}
        ),
    ]
    with pytest.raises(
        InputError, match=r"b\.json: sample 0: the score .* of 's' is neither right"
    ):
        read_logs(logs)


def test_other_right_answers_in_a_version_are_told(tmp_path: Path) -> None:
    rows = ["item,version,gold,predicted"]
    for i in range(20):
        rows.append(f"{i},original,{'pn'[i % 2]},p")
        rows.append(f"{i},reworded,{'pn'[(i + (i < 4)) % 2]},p")
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    notes = read_logs([tmp_path / "long.csv"]).notes
    assert any("the right answer to 4 items of 20 is another one in reworded" in n for n in notes)


def test_texts_left_alone_are_told_where_no_text_was_reworded() -> None:
    gold = ["p", "n"] * 50
    after = ["q"] * 20 + gold[20:]
    found = invariance_test(gold, after, gold, reworded=[False] * 100)
    assert "No text was reworded" in found.explanation
    assert "20 texts that were left alone have another outcome" in found.explanation


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("label,gold_label,original,transformed", "{a},{b},{a},{a}",
         "gold_label is another label than label in 20 rows; label counts"),
        ("label,gold,original,transformed", "{a},{b},{a},{a}",
         "gold is another label than label in 20 rows"),
        ("label,original,transformed,correct", "{a},{a},{a},0",
         "correct says of the answers of none of original, transformed"),
        ("item,version,gold,label,predicted", "{i},{v},{a},{b},{a}",
         "label is another label than gold in 20 rows"),
        ("label,gold_label,original,transformed", "{a},{a},{a},{a}", ""),
        ("label,gold_label,original,transformed", "{a},entailment,{a},{a}", ""),
        ("label,gold_label,original,transformed", "{a},,{a},{a}", ""),
        ("label,original,transformed,correct", "{a},{a},{b},1", ""),
    ],
)  # fmt: skip
def test_columns_that_contradict_the_labels_are_told(
    tmp_path: Path, header: str, row: str, said: str
) -> None:
    lines = [header]
    for i in range(20):
        a, b = ("pn", "np")[i % 2]
        lines.append(row.format(i=i // 2, v=("original", "new")[i % 2], a=a, b=b))
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    warned = [note for note in read_logs([tmp_path / "t.csv"]).notes if "Warning" in note]
    assert any(said in note for note in warned) if said else not warned
