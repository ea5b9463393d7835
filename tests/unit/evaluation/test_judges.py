"""Which judge says right or wrong, and what is said where that is not one thing."""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.compare.page import read_tested
from ietest_fast.analyses.compare.profile import compare_versions
from ietest_fast.analyses.consistency.file import need_wordings
from ietest_fast.answers.alignment import check_gold
from ietest_fast.answers.logs import read_logs
from ietest_fast.answers.readers import Log
from ietest_fast.answers.table import Predictions
from ietest_fast.corpus.labels import NLI_LABELS
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.stats import invariance_test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
        ("label,original,transformed,is_correct", "{a},{a},{a},0",
         "is_correct says of the answers of none of original, transformed"),
        ("label,y_true,original,transformed", "{a},{b},{a},{a}",
         "y_true is another label than label in 20 rows; label counts"),
        ("label,true_label,original,transformed", "{a},{k},{a},{a}",
         "true_label is another label than label in 3 rows"),
        ("label,ground_truth,original,transformed", "{n},{wrong},{right},{right}",
         "ground_truth is another label than label in 20 rows"),
        ("label,label.1,original,transformed", "{a},{b},{a},{a}",
         "label.1 is another label than label in 20 rows"),
        ("label,label_1,original,transformed", "{a},{b},{a},{a}",
         "label_1 is another label than label in 20 rows"),
        ("label,original,transformed,Original", "{a},{a},{a},{b}",
         "Original is another answer than original in 20 rows"),
        ("label,original,transformed,TRANSFORMED", "{a},{a},{a},{b}",
         "TRANSFORMED is another answer than transformed in 20 rows"),
        ("label,original,transformed,original_1", "{a},{a},{a},{b}",
         "original_1 is another answer than original in 20 rows"),
        ("item,version,gold,gold_1,predicted", "{i},{v},{a},{b},{a}",
         "gold_1 is another label than gold in 20 rows"),
        ("item,version,gold,predicted,predicted_1", "{i},{v},{a},{a},{b}",
         "predicted_1 is another answer than predicted in 20 rows"),
        ("label,original,transformed,Original", "{a},{a},{b},{a}", ""),
        ("label,label_1,label_2,original,transformed", "{a},{b},{a},{a},{b}", ""),  # annotators'
        ("label,original,transformed,Original", "{a},{a},{b},in words {i} {v}", ""),
        ("item,version,gold,y_true,predicted", "{i},{v},{a},{b},{a}",
         "y_true is another label than gold in 20 rows"),
        ("label,y_true,original,transformed", "{right},{n},{right},{right}", ""),
        ("label,label_y,original,transformed", "{a},{b},{a},{a}", ""),  # of something else
        ("label,ground_truth,original,transformed", "{a},in words {i} {v},{a},{a}", ""),
        ("label,original,transformed,exact_match", "{a},{a},{a},0",
         "exact_match says of the answers of none of original, transformed"),
        ("label,original,transformed,acc", "{a},{a},{b},0.87", ""),  # of all rows
        ("label,original,transformed,is_right", "{a},{a},{b},1", ""),
        ("item,version,gold,label,predicted", "{i},{v},{a},{b},{a}",
         "label is another label than gold in 20 rows"),
        ("label,target,original,transformed", "{a},{b},{a},{a}",
         "target is another label than label in 20 rows"),
        ("label,label_name,original,transformed", "{n},{wrong},{right},{right}",
         "label_name is another label than label in 20 rows"),
        ("label,label_name,original,transformed", "{n},{right},{right},{right}", ""),
        ("label,label_id,original,transformed", "{wrong},{n},{right},{right}",
         "label_id is another label than label in 20 rows"),
        ("label,label_id,original,transformed", "{right},{n},{right},{right}", ""),
        ("label,label_id,original,transformed", "{a},{k},{a},{a}",
         "label_id is another label than label in 3 rows"),
        ("label,label_id,original,transformed", "{a},{j},{a},{a}", ""),
        ("label,target,original,transformed", "{a},{k},{a},{a}", ""),
        ("label,label_text,original,transformed", "{n},{a},{n},{n}", ""),
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
        right, wrong = NLI_LABELS[i % 3], NLI_LABELS[(i + 1) % 3]
        names = {
            "n": i % 3,
            "right": right,
            "wrong": wrong,
            "j": i % 2,
            "k": i % 2 if i < 14 else 0,
        }
        lines.append(row.format(i=i // 2, v=("original", "new")[i % 2], a=a, b=b, **names))
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    warned = [note for note in read_logs([tmp_path / "t.csv"]).notes if "Warning" in note]
    assert any(said in note for note in warned) if said else not warned


@pytest.mark.parametrize(
    ("names", "n_told"),
    [(("label_x", "label_y"), 1), (("label_y", "label_x"), 1), (("label_x", "label_z"), 0)],
)
@pytest.mark.parametrize("is_same", [False, True])
def test_the_other_labels_of_a_merge_are_compared(
    tmp_path: Path, names: tuple[str, str], n_told: int, is_same: bool
) -> None:
    rows = [f"{a},{a if is_same else b},{a},{b}\n" for a, b in ("pn", "np") * 10]
    header = ",".join((*names, "prediction_x", "prediction_y")) + "\n"
    (tmp_path / "m.csv").write_text(header + "".join(rows))
    found = read_logs(
        [tmp_path / "m.csv"], gold_column=names[0], columns=["prediction_x", "prediction_y"]
    )
    said = f"{names[1]} is another label than {names[0]} in 20 rows"
    assert sum(said in note for note in found.notes) == (0 if is_same else n_told)


@pytest.mark.parametrize("n_labels", [2, 3, 4])
@pytest.mark.parametrize("missing", [None, math.nan, "null"])
@pytest.mark.parametrize("unparsed", ["wrong", "drop"])
@pytest.mark.parametrize("kind", ["int", "float", "text"])
def test_numbers_are_labels_where_gold_labels_are_numbers(
    tmp_path: Path, n_labels: int, missing: float | str | None, unparsed: Any, kind: str
) -> None:
    """0, 1 and 2 are NLI's, and numbers all the same."""
    gold = [i % n_labels for i in range(12)]
    answers: list[Any] = [*gold]
    if missing is not None:
        answers[-1] = None if missing == "null" else missing
    made = {"int": int, "float": float, "text": str}[kind]
    column: pa.Array = pa.array(
        [made(each) if isinstance(each, int) else each for each in answers],
        from_pandas=kind != "float",
    )
    table = pa.table({"label": gold, "original": gold, "transformed": column})
    pq.write_table(table, tmp_path / "t.parquet")
    found = read_logs([tmp_path / "t.parquet"], unparsed=unparsed)
    told = [note for note in found.notes if "Answers to 1 of 12 items" in note]
    assert len(told) == (missing is not None and unparsed == "wrong")
    is_dropped = missing is not None and unparsed == "drop"
    assert found.predictions.dropped == ({"answer not parsed": 1} if is_dropped else {})
    kept = 12 if unparsed == "wrong" or missing is None else 11
    assert len(found.predictions) == 2 * kept
    right = found.predictions.correct
    assert int(right.sum()) == 2 * 12 - (missing is not None) * (1 if unparsed == "wrong" else 2)
    if missing is not None:
        with pytest.raises(InputError, match="1 of 12 predictions are missing"):
            read_logs([tmp_path / "t.parquet"])


@pytest.mark.parametrize("probabilities", [{"a": 0.9, "b": 0.1}, [{"a": 0.9}]])
def test_probabilities_by_name_are_refused_in_words(probabilities: Any) -> None:
    rows = [
        {"item": 0, "version": version, "gold": "a", "predicted": "a"}
        | {"probabilities": probabilities}
        for version in ("original", "p1")
    ]
    with pytest.raises(InputError, match="a list of numbers in the order of the labels is exp"):
        Predictions.from_table(pa.Table.from_pylist(rows))


@pytest.mark.parametrize(
    ("gold", "step"), [([1, 2, 3, 4, 5], -1), ([0, 1], 1), ([0, 1, 2, 3], 1), ([1, 2], -1)]
)
def test_one_version_that_is_counted_from_another_number_is_refused(
    tmp_path: Path, gold: list[int], step: int
) -> None:
    """Also where the other versions' answers hide it."""
    told = "is one of both counted from another number"
    wide = "".join(f"{n},{n},{n + step}\n" for n in gold * 4)
    (tmp_path / "wide.csv").write_text(f"label,original,transformed\n{wide}")
    with pytest.raises(InputError, match=f"'transformed': answers are .*{told}"):
        read_logs([tmp_path / "wide.csv"])
    rows = [
        f"{i},{version},{n},{n + (step if version == 'p2' else 0)}\n"
        for version in ("original", "p1", "p2")
        for i, n in enumerate(gold * 4)
    ]
    (tmp_path / "long.csv").write_text("item,version,gold,predicted\n" + "".join(rows))
    for read in (lambda path: read_logs([path]), need_wordings, read_tested):
        with pytest.raises(InputError, match=told):
            read(tmp_path / "long.csv")
    same = wide.replace(f",{gold[0] + step}\n", f",{gold[0]}\n")  # one is right: no shift
    (tmp_path / "same.csv").write_text(f"label,original,transformed\n{same}")
    if len(gold) > 4:
        assert len(read_logs([tmp_path / "same.csv"]).predictions)


def _write_wide(path: Path, rows: Sequence[tuple[Any, ...]]) -> Path:
    """Write labels, answers to the originals, and answers to the transformed texts."""
    lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
    path.write_text(f"label,original,transformed\n{lines}")
    return path


@pytest.mark.parametrize(
    ("gold", "answers", "is_refused"),
    [
        ([1, 2, 3], [0, 2, 0], True),  # counted from 0, and never 1
        ([0, 1, 2], [3, 1, 1], True),  # counted from 1, and never 2
        ([1, 2, 3, 4], [0, 1, 0, 1], True),
        ([1, 2, 3], [0, 1, 3], False),  # 3 is no label of three that are counted from 0
        ([0, 2, 3], [0, 1, 3], False),
        ([1, 2, 3], [1, 2, 2], None),
        ([1, 2, 3], [2, 3, 3], None),
    ],
)
def test_numbers_that_are_no_gold_labels_are_not_silent(
    tmp_path: Path, gold: list[int], answers: list[int], is_refused: bool | None
) -> None:
    rows = [(wanted, wanted, given) for wanted, given in zip(gold, answers, strict=True)]
    path = _write_wide(tmp_path / "t.csv", rows * 3)
    if is_refused:
        with pytest.raises(InputError, match="is one of both counted from another number"):
            read_logs([path])
        assert not read_logs([path], label_names=list("01234")[: max(gold + answers) + 1]).notes
        return
    found = read_logs([path]).notes
    told = "3 of 18 answers are no gold label (" if is_refused is False else ""
    assert len(found) == bool(told)
    assert all(told in note for note in found)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([1, 2, 3, 4, 4], "20.0% of the answers are right, but 80.0% would be if each number were"),
        ([0, 0, 1, 2, 3], "each number were more by one"),
        ([1, 1, 2, 3, 4], None),  # the classifier never says 0, and is right
        ([1, 1, 1, 1, 1], None),
        ([2, 1, 0, 3, 4], "60.0% of the answers are right, but 100.0% would be if 0 and 2 were ex"),
        ([1, 2, 0, 3, 3], "would be if 0 stood for 2, 1 stood for 0 and 2 stood for 1: do the num"),
        ([4, 2, 0, 1, 3], "4 stood for 0"),
        ([0, 1, 2, 4, 4], None),  # each number is the likeliest for itself
    ],
)
def test_a_version_that_fits_better_from_another_number_is_warned_of(
    tmp_path: Path, answers: list[int], said: str | None
) -> None:
    """All its answers are gold labels, since the classifier never says one of them."""
    rows = [(wanted, wanted, given) for wanted, given in enumerate(answers)]
    path = _write_wide(tmp_path / "t.csv", rows * 10)
    found = read_logs([path]).notes
    assert len(found) == (said is not None)
    assert all("'transformed'" in note and str(said) in note for note in found)
    assert not read_logs([path], label_names=list("01234")).notes
    named = [tuple("abcde"[number] for number in row) for row in rows]
    assert not read_logs([_write_wide(tmp_path / "n.csv", named * 10)]).notes
    assert not read_logs([_write_wide(path, rows)]).notes  # too few to tell


@pytest.mark.parametrize("number", ["1", "0", "+1"])
@pytest.mark.parametrize("labels", [("yes", "no"), ("entailment", "neutral")])
def test_a_number_beside_named_answers_is_no_label(
    tmp_path: Path, number: str, labels: tuple[str, str]
) -> None:
    """Their order in the alphabet is nothing that anybody has said."""
    rows = [f"{labels[i % 2]},{labels[i % 2]},{labels[i % 2]}\n" for i in range(20)]
    rows[3] = f"{labels[1]},{labels[1]},{number}\n"
    path = tmp_path / "t.csv"
    path.write_text("label,original,transformed\n" + "".join(rows))
    with pytest.raises(
        InputError, match=r"column 'transformed': holds numbers .* --unparsed wrong"
    ):
        read_logs([path])
    assert read_logs([path], unparsed="drop").predictions.dropped
    # Whoever names them in their order says it.
    read_logs([path], label_names=labels)
    rows[3] = f"{labels[1]},{labels[1]},{labels[0]}\n"
    path.write_text("label,original,transformed\n" + "".join(rows))
    assert not read_logs([path]).predictions.dropped


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        ("item,version,gold,predicted,prediction", "{i},{v},{a},{a},{b}",
         "prediction is another answer than predicted in 20 rows; predicted counts"),
        ("item,version,gold,predicted,pred", "{i},{v},{a},{a},{k}",
         "pred is another answer than predicted in 3 rows"),
        ("item,version,gold,predicted,predicted_label", "{i},{v},{right},{right},{wrong}",
         "predicted_label is another answer than predicted in 20 rows"),
        ("item,version,gold,predicted,prediction", "{i},{v},{right},{right},{n}", ""),
        ("item,version,gold,predicted,prediction", "{i},{v},{a},{a}, {a}", ""),
        ("item,version,gold,predicted,prediction", "{i},{v},{a},{a},", ""),
        ("item,version,gold,predicted,prediction", "{i},{v},{a},{a},so it is {i} {v}", ""),
        ("label,prediction,predicted", "{a},{a},{b}",
         "predicted is another answer than prediction in 20 rows; prediction counts"),
        ("label,prediction,predicted", "{a},{a},{a}", ""),
        ("label,prediction,answer", "{a},{b},{a}", ""),  # the right one, maybe
        ("label,prediction,prediction.1", "{a},{a},{b}",
         "prediction.1 is another answer than prediction in 20 rows; prediction counts"),
        ("label,prediction,y_pred", "{a},{a},{k}",
         "y_pred is another answer than prediction in 3 rows"),
        ("label,prediction,pred_label", "{a},{a},{b}",
         "pred_label is another answer than prediction in 20 rows"),
        ("label,prediction,y_pred", "{a},{a},I think so {i} {v}", ""),
        ("label,prediction,prediction_label", "{a},{a},{b}",
         "prediction_label is another answer than prediction in 20 rows"),
        ("label,prediction,label_pred", "{a},{a},{k}",
         "label_pred is another answer than prediction in 3 rows"),
        ("item,version,gold,predicted,predicted_name", "{i},{v},{a},{a},{b}",
         "predicted_name is another answer than predicted in 20 rows"),
        ("label,prediction,prediction_name", "{a},{a},{a}", ""),
        ("label,prediction,model_answer", "{a},{a},I think so {i} {v}", ""),
        ("label,original,transformed,original_prediction", "{a},{a},{a},{b}",
         "original_prediction is another answer than original in 20 rows; original counts"),
        ("label,original,transformed,Pred_Original", "{a},{a},{b},{k}",
         "Pred_Original is another answer than original in 3 rows"),
        ("label,original,transformed,transformed_predicted", "{a},{b},{a},{b}",
         "transformed_predicted is another answer than transformed in 20 rows"),
        ("label,original,transformed,transformed.1", "{a},{b},{a},{b}",
         "transformed.1 is another answer than transformed in 20 rows"),
        ("label,original,transformed,original_pred", "{right},{right},{right},{n}", ""),
        ("label,original,transformed,pred_transformed", "{a},{a},{b},{b}", ""),
        ("label,original,transformed,prediction", "{a},{a},{a},{b}", ""),  # of which is not known
        ("item,version,gold,predicted,answer", "{i},{v},{a},{a},{b}",
         "answer is another answer than predicted in 20 rows"),
        ("item,version,gold,predicted,response", "{i},{v},{a},{a},{k}",
         "response is another answer than predicted in 3 rows"),
        ("item,version,gold,predicted,answer", "{i},{v},{a},{k},{a}", ""),  # the right one
        ("item,version,gold,predicted,response", "{i},{v},{a},{a},maybe {a}", ""),
    ],
)  # fmt: skip
def test_answers_that_stand_there_twice_are_compared(
    tmp_path: Path, header: str, row: str, said: str
) -> None:
    lines = [header]
    for i in range(20):
        a, b = ("pn", "np")[i % 2]
        right, wrong = NLI_LABELS[i % 3], NLI_LABELS[(i + 1) % 3]
        names = {"n": i % 3, "right": right, "wrong": wrong, "k": "pn"[i % 2] if i < 14 else "p"}
        lines.append(row.format(i=i // 2, v=("original", "new")[i % 2], a=a, b=b, **names))
    paths = [tmp_path / "t.csv"]
    paths[0].write_text("\n".join(lines) + "\n")
    if header.startswith("label,prediction"):
        paths.append(tmp_path / "u.csv")
        paths[1].write_text("label,prediction\n" + "p,p\nn,p\n" * 10)
    told = [note for note in read_logs(paths).notes if "another answer" in note]
    assert len(told) == (said != "")
    assert all(said in note for note in told)


_BARE = {("", ""), ("", "_original")}
_OF_LABELS = "{0}entailment{1},{0}neutral{1},{0}contradiction{1}"


@pytest.mark.parametrize(
    ("header", "affixes", "n"),
    [
        ("label,original,transformed", ("original_prob_", ""), 20),
        ("label,original,transformed", ("transformed_", "_score"), 20),
        ("label,original,transformed", ("prob_", ""), 0),  # of which of both is not known
        ("label,original,transformed", ("", "_original"), 20),
        ("label,original,transformed", ("prob_", "_transformed"), 20),
        ("label,original,transformed", ("", "_original_prob"), 20),
        ("label,original,transformed", ("", "_annotators"), 0),
        ("label,original,transformed", ("original_annotators_", ""), 0),
        ("item,version,gold,predicted", ("p_", ""), 20),
        ("item,version,gold,predicted", ("", "_prob"), 20),
        ("item,version,gold,predicted", ("probs.", ""), 20),
        ("item,version,gold,predicted", ("prob(", ")"), 20),
        ("item,version,gold,predicted", ("", " logit"), 20),
        ("label,original,transformed", ("original:prob-", ""), 20),
        ("label,original,transformed", ("transformed.score/", ""), 20),
        ("label,original,transformed", ("original.annotators.", ""), 0),
        ("item,version,gold,predicted", ("", ""), 20),
    ],
)
@pytest.mark.parametrize(
    ("scores", "is_other"),
    [
        ("0.05,0.05,0.9", True),
        ("-3.5,-2.5,-1.5", True),
        ("0.1,0.8,0.1", False),
        ("0.1,0.45,0.45", False),  # the answer is one of the likeliest
        ("0.1,,0.9", False),
        ("1,0,4", None),  # votes, unless the name says otherwise
        ("no,numbers,here", False),
    ],
)
@pytest.mark.parametrize("are_numbers", [False, True])
def test_scores_of_labels_that_contradict_the_answers_are_counted(
    tmp_path: Path,
    *,
    header: str,
    affixes: tuple[str, str],
    n: int,
    scores: str,
    is_other: bool | None,
    are_numbers: bool,
) -> None:
    names = [*map(str, range(3))] if are_numbers else NLI_LABELS
    lines = [f"{header},{_OF_LABELS.format(*affixes)}"]
    for row in range(20):
        start = [names[row % 3], names[1], names[1]]
        if header.startswith("item"):
            start = [str(row // 2), ("original", "new")[row % 2], names[row // 2 % 3], names[1]]
        lines.append(",".join([*start, scores]))
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    told = [note for note in read_logs([path]).notes if "likeliest" in note]
    if is_other is None:
        is_other = "prob" in affixes[0] or affixes[1].endswith(("_prob", " logit"))
    is_found = bool(n) and is_other and not (are_numbers and affixes in _BARE)
    assert len(told) == is_found
    assert all(f"is the likeliest in {n} rows of 20" in note for note in told)


def pipeline(**scores: float) -> list[dict[str, Any]]:
    """Scores of all labels as transformers gives them, the largest first."""
    return [{"label": name, "score": score} for name, score in scores.items()]


@pytest.mark.parametrize(
    ("name", "labels", "scores", "is_told"),
    [
        ("scores", "abc", dict(zip("abc", (0.1, 0.2, 0.7), strict=True)), True),
        ("prediction_probs", "abc", dict(zip("abc", (0.1, 0.2, 0.7), strict=True)), True),
        ("logits", [0, 1, 2], [-1.5, -0.5, 2.5], True),
        ("prediction.probs", [0, 1, 2], [0.1, 0.2, 0.7], True),
        ("probs", [0, 1, 2], [0.2, 0.7, 0.1], False),  # the same
        ("softmax", [0, 1, 2], [0.1, 0.2, 0.7], True),
        (
            "scores",
            "abc",
            pipeline(c=0.7, b=0.2, a=0.1),
            True,
        ),
        (
            "scores",
            "abc",
            pipeline(b=0.7, c=0.2, a=0.1),
            False,
        ),
        ("output", "abc", pipeline(c=0.7, b=0.2, a=0.1), True),
        ("hf.result", "abc", pipeline(c=0.7, a=0.2, b=0.1), True),
        ("prediction_output", "abc", [pipeline(c=0.7, b=0.2, a=0.1)], True),
        ("output", "abc", pipeline(b=0.7, c=0.2, a=0.1), False),
        ("output", "abc", pipeline(x=0.7, y=0.2, z=0.1), False),  # of other labels
        ("scores", "abc", [0.1, 0.2, 0.7], False),  # of which label is not known
        ("scores", [0, 1, 2], [0.1, 0.7], False),
        ("scores", [0, 1, 2], [1, 0, 4], False),  # votes
        ("embedding", [0, 1, 2], [0.1, 0.2, 0.7], False),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "parquet", "long"])
def test_scores_in_one_column_that_contradict_the_answers_are_counted(
    tmp_path: Path, *, name: str, labels: Any, scores: Any, is_told: bool, form: str
) -> None:
    rows = [{"label": labels[i % 3], "prediction": labels[1], name: scores} for i in range(12)]
    if form == "long":
        rows = [
            {"item": i // 2, "version": ("original", "p1")[i % 2], "gold": labels[i // 2 % 3]}
            | {"predicted": labels[1], name.replace("prediction", "predicted"): scores}
            for i in range(12)
        ]
    paths = [tmp_path / f"{each}.{form.replace('long', 'jsonl')}" for each in "ab"]
    for path in paths:
        if form == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    is_long = form == "long"
    notes = need_wordings(paths[0]).notes.warnings if is_long else read_logs(paths).notes
    told = [note for note in notes if "is the likeliest in 12 rows of 12" in note]
    assert len(told) == is_told * (1 if is_long else 2)


def test_scores_of_the_right_answers_contradict_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    header = "label,original,transformed,original_prob_a,original_prob_b\n"
    path.write_text(header + "a,b,b,0.9,0.1\nb,b,a,0.2,0.8\n" * 5)
    assert not any("likeliest" in note for note in read_logs([path]).notes)


@pytest.mark.parametrize(
    ("gold", "answers", "marks", "said"),
    [
        ("pn", "pz", "10", "1 answer is none of the gold labels (the first in row 1, 'z'; leave"),
        ("pnp", "pxy", "100", "2 answers are none of the gold labels (the first in row 1, 'x'"),
        ("pn-", "pnp", "111", "1 row has no gold label"),
        ("pn", "p-", "11", "1 answer is missing and marked as right"),
        ("pn", "p-", "10", None),  # it counts as wrong
        ("pn", "pn", "11", None),
        ("pn", "xy", "10", None),  # free texts throughout
    ],
)
def test_what_makes_texts_of_answers_is_told(
    tmp_path: Path, gold: str, answers: str, marks: str, said: str | None
) -> None:
    lines = ["item,version,gold,predicted,correct"]
    rows = list(zip(gold, answers, marks, strict=False))
    lines += [f"{i},original,{g},{a},{m}" for i, (g, a, m) in enumerate(rows)]
    lines += [f"{i},new,{g},{a},{m}" for i, (g, a, m) in enumerate(rows[:1] * len(rows))]
    (tmp_path / "t.csv").write_text("\n".join(lines).replace("-", "") + "\n")
    read = read_logs([tmp_path / "t.csv"])
    told = [note for note in read.notes if "taken for free texts" in note]
    assert len(told) == (said is not None)
    assert said is None or said in told[0]
    assert said is None or read.predictions.label_names is None


@pytest.mark.parametrize(
    ("beside", "n"),
    [
        ({3: "p"}, 1),  # where label says n
        ({3: "p", 5: "p", 7: "p"}, 3),
        ({3: "n", 4: "p"}, 0),
        ({3: "N", 4: ""}, 0),
        ({3: "negative"}, 0),  # another word for the same
    ],
)
def test_a_second_label_in_a_few_rows_is_compared(
    tmp_path: Path, beside: dict[int, str], n: int
) -> None:
    rows = [
        {"label": "pn"[i % 2], "original": "p", "transformed": "n"}
        | ({"gold": beside[i]} if i in beside else {})
        for i in range(20)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = [note for note in read_logs([tmp_path / "t.jsonl"]).notes if "gold is another" in note]
    assert len(told) == (n > 0)
    assert not told or f"in {n} row{'s' if n > 1 else ''};" in told[0]


@pytest.mark.parametrize(
    ("changed", "is_other", "said"),
    [
        (1, False, "disagree about what was reworded; changed counts, though no text differs"),
        (0, True, "disagree about what was reworded; changed counts."),
        (0, False, None),
        (1, True, None),
    ],
)
def test_changed_and_texts_of_a_long_table_are_compared(
    tmp_path: Path, changed: int, is_other: bool, said: str | None
) -> None:
    rows = [
        f"{i},{version},a,a,text {i}{version if is_other else ''},{own}\n"
        for version, own in (("original", 0), ("para", changed))
        for i in range(8)
    ]
    (tmp_path / "t.csv").write_text("item,version,gold,predicted,text,changed\n" + "".join(rows))
    told = [note for note in read_logs([tmp_path / "t.csv"]).notes if "disagree" in note]
    assert len(told) == (said is not None)
    assert said is None or said in told[0]


@pytest.mark.parametrize(
    ("changed", "edits", "n"), [("1", "0", 20), ("true", "0.0", 20), ("0", "3", 20), ("1", "2", 0)]
)
def test_changed_and_edits_of_a_second_table_are_compared(
    tmp_path: Path, changed: str, edits: str, n: int
) -> None:
    (tmp_path / "a.csv").write_text("label,prediction\n" + "p,p\nn,p\n" * 10)
    line = f"p,p,{edits},{changed}\nn,n,{edits},{changed}\n"
    (tmp_path / "b.csv").write_text("label,prediction,edits,changed\n" + line * 10)
    notes = read_logs([tmp_path / "a.csv", tmp_path / "b.csv"]).notes
    told = [note for note in notes if "the column changed and the column edits disagree" in note]
    assert len(told) == (n > 0)
    assert not told or f"in {n} rows" in told[0]


@pytest.mark.parametrize(
    ("edits", "is_other", "said"),
    [
        (0, True, "edits is 0 in 8 rows of para that are reworded; mend"),
        ("0.0", True, "edits is 0 in 8 rows of para that are reworded; mend"),
        (2, False, "edits is more than 0 in 8 rows of para that are as they were; mend"),
        (2, True, None),
        (0, False, None),
        ("", True, None),  # nobody has counted them
    ],
)
def test_texts_and_edits_are_compared(
    tmp_path: Path, edits: object, is_other: bool, said: str | None
) -> None:
    rows = [
        f"{i},{version},{'ab'[i % 2]},a,text {i}{version if is_other else ''},{own}\n"
        for version, own in (("original", 0), ("para", edits))
        for i in range(8)
    ]
    (tmp_path / "t.csv").write_text("item,version,gold,predicted,text,edits\n" + "".join(rows))
    predictions = read_logs([tmp_path / "t.csv"]).predictions
    with pytest.warns(IetestWarning, match=said) if said else contextlib.nullcontext():
        compare_versions(predictions)


def test_names_beside_the_numbers_of_right_answers_are_compared(tmp_path: Path) -> None:
    lines = [f"{i},{i % 3},{NLI_LABELS[(i + 1) % 3]}\n" for i in range(30)]
    (tmp_path / "g.csv").write_text("id,label,label_name\n" + "".join(lines))
    logs = [tmp_path / name for name in ("a.csv", "b.csv")]
    for log in logs:
        rows = [f"{i},t{i},{NLI_LABELS[(i + 1) % 3]}\n" for i in range(30)]
        log.write_text("id,text,prediction\n" + "".join(rows))
    notes = read_logs(logs, gold_path=tmp_path / "g.csv").notes
    told = [note for note in notes if "label_name is another label than label in 30 rows" in note]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("first", "second", "texts", "said"),
    [
        ("version=original", "version=new", "other", None),
        ("version=new", "", "other", None),
        ("version=new", "version=Original ", "other", "error: holds the originals by what it says"),
        ("version=original", "version=original", "other", "are both of version original"),
        ("version=original", "version=original", "same", None),
        ("model=bert", "model=roberta", "other", "error: are of two models (bert and roberta)"),
        ("model=bert", "model=roberta", "same", "classifiers on the same items: bert"),
        ("model=bert", "model=bert", "other", None),
    ],
)
def test_what_tables_of_one_version_say_of_themselves_is_heeded(
    first: str, second: str, texts: str, said: str | None, tmp_path: Path
) -> None:
    logs = [tmp_path / name for name in ("a.csv", "b.csv")]
    for place, (log, about) in enumerate(zip(logs, (first, second), strict=True)):
        name, _, value = about.partition("=")
        word = "other" if place and texts == "other" else "text"
        rows = [f"{word} {i},{'pn'[i % 2]},{'pn'[i % 3 % 2]},{value}\n" for i in range(20)]
        log.write_text(f"text,label,prediction,{name or 'more'}\n" + "".join(rows))
    if said is not None and said.startswith("error: "):
        with pytest.raises(InputError, match=re.escape(said.removeprefix("error: "))):
            read_logs(logs)
        return
    notes = " ".join(read_logs(logs).notes)
    if said is None:
        assert "are both of version" not in notes
    else:
        assert said in notes


@pytest.mark.parametrize(
    ("targets", "is_refused"),
    [
        (["x"] * 36, True),
        ([f"{'lmn'[i % 3]}" for i in range(36)], False),
        ([f"{'lmn'[(i + i // 30) % 3]}" for i in range(36)], True),
        ([f"{'ABCD'[i % 4]}" for i in range(36)], False),
        ([f"answer {i}" for i in range(36)], False),
        (["yes" if i % 3 else "no" for i in range(36)], True),
    ],
)
def test_right_answers_in_other_words_rename_those_of_the_first(
    targets: list[str], is_refused: bool, tmp_path: Path
) -> None:
    """Letters of choices, and free texts, may differ in each item."""
    own = [NLI_LABELS[i % 3] for i in range(36)]
    first, other = (
        Log(path=tmp_path / name, name=name, gold=pa.chunked_array([gold]))
        for name, gold in (("a", own), ("b", targets))
    )
    if is_refused:
        with pytest.raises(InputError, match="the right answer is"):
            check_gold(first, other)
    else:
        check_gold(first, other)


def test_probabilities_beside_the_answers_to_one_version_are_compared(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for path in paths:
        rows = [
            {"label": i % 3, "prediction": 1, "probabilities": [0.1, 0.2, 0.7]} for i in range(12)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert sum("the likeliest in 12 rows of 12" in note for note in read_logs(paths).notes) == 2


@pytest.mark.parametrize(
    ("name", "scores", "said"),
    [
        ("prob_pos", (0.9, 0.2), 12),
        ("pos_prob", (0.1, 0.2), 12),
        ("p(pos)", (0.1, 0.2), 12),
        ("pos_proba", (0.1, 0.2), 12),
        ("prob_pos", (0.9, 0.6), 0),
        ("prob_pos", (0.9, 0.5), 0),
        ("prob_pos", (9, 2), 0),
        ("logit_pos", (-1.5, -0.5), 0),
        ("prob_other", (0.1, 0.2), 0),
        ("prob", (0.1, 0.2), 0),
    ],
)
def test_the_probability_of_one_of_two_labels_is_compared(
    tmp_path: Path, name: str, scores: tuple[float, float], said: int
) -> None:
    """The prediction is pos in every second row only, and the score the other way round."""
    paths = [tmp_path / f"{each}.csv" for each in "ab"]
    for path in paths:
        rows = [f"{'np'[i % 2]},pos,{scores[i % 2]}" for i in range(24)]
        rows = [row.replace("n,", "neg,", 1).replace("p,", "pos,", 1) for row in rows]
        path.write_text(f"label,prediction,{name}\n" + "\n".join(rows) + "\n")
    found = [note for note in read_logs(paths).notes if "is the likeliest in" in note]
    n = sum(score < 0.5 for score in scores) * 12 if said else 0
    assert len(found) == 2 * (n > 0)
    assert all(f"in {n} rows of 24" in note for note in found)
