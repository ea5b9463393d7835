"""What ``ietest-fast consistency`` refuses and what it counts, in every format that it reads."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

import ietest_fast as ie
from command_line import run_here
from ietest_fast.answers import Predictions
from ietest_fast.cli.main import main
from ietest_fast.errors import InputError
from tiny_models import make_onnx_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = list[dict[str, Any]]

FORMATS = ("csv", "jsonl", "parquet")
WORDINGS = {
    "a": ["A dog runs.", "A big dog runs.", "The dog runs outside."],
    "b": ["Nobody eats.", "Not a man eats."],
    "c": ["The cat is small.", "The small cat is a cat."],
    "d": ["A girl sits on the couch."],
}
GOLD = dict(zip("abcd", ("entailment", "neutral", "contradiction", "neutral"), strict=True))
ANSWERS = {"1": ["yes", "yes", "no"], "2": ["no", "no", "no"], "3": ["yes", "yes"], "4": ["no"]}


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["consistency", *map(str, arguments), "-S", "50"])
    captured = capsys.readouterr()
    err = " ".join(captured.err.split())
    assert "Traceback" not in err
    return int(stop.value.code or 0), captured.out, err


def write(path: Path, rows: Rows) -> Path:
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        pacsv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


def paraphrases() -> Rows:
    return [
        {"item": item, "premise": "It is so.", "hypothesis": text, "label": GOLD[item]}
        for item, texts in WORDINGS.items()
        for text in texts
    ]


def answers() -> Rows:
    return [
        {
            "item": item,
            "version": f"p{place}" if place else "original",
            "gold": "yes",
            "predicted": answer,
            "confidence": 0.75 if answer == "yes" else 0.25,
        }
        for item, given in ANSWERS.items()
        for place, answer in enumerate(given)
    ]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_onnx_folder(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda rows: rows[1].update(label="neutral"),
            (
                "column 'label': 1 item has wordings with different labels: 'a' has entailment and "
                "neutral. All wordings of an item need the same right answer: correct the labels, "
                "or leave such items out (--drop-mixed)"
            ),
        ),
        (lambda rows: rows[2].update(item=None), "column 'item': 1 row has none"),
        (
            lambda rows: [row.update(version="v") for row in rows],
            "3 wordings are there more than once: version 'v' of item 'a', for one",
        ),
        (
            lambda rows: [row.update(item=f"i{n}") for n, row in enumerate(rows)],
            "no item has a paraphrase: every item has one row",
        ),
        (lambda rows: [row.update(label="-") for row in rows], "no rows are left"),
        (lambda rows: [row.pop("item") for row in rows], "column 'item': there is no such column"),
    ],
    ids=["mixed labels", "no item", "twice", "originals alone", "no labels", "no column"],
)
def test_paraphrases_that_cannot_be_measured(
    *,
    tmp_path: Path,
    model: Path,
    form: str,
    change: Callable[[Rows], Any],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = paraphrases()
    change(rows)
    path = write(tmp_path / f"bad.{form}", rows)
    status, said, err = run(capsys, "--onnx", model, "--test", path)
    assert (status, said) == (1, "")
    assert err.startswith(f"Error: {path}")
    assert expected in err


@pytest.mark.parametrize(
    ("form", "where"), [("csv", "line 6"), ("jsonl", "line 5"), ("parquet", "row 4")]
)
def test_the_row_without_an_item_is_that_of_the_file(
    *, tmp_path: Path, model: Path, form: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that are left out before it count."""
    rows = paraphrases()
    rows[0]["label"] = "-"
    rows[4]["item"] = None
    path = write(tmp_path / f"bad.{form}", rows)
    status, _, err = run(capsys, "--onnx", model, "--test", path)
    assert status == 1
    assert f"{where}, column 'item'" in err


@pytest.mark.parametrize("form", FORMATS)
def test_paraphrases_that_are_counted(
    tmp_path: Path, model: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = paraphrases()
    rows[1]["label"] = "neutral"
    rows = [row | {"label": "-"} if row["item"] == "c" else row for row in rows]
    path = write(tmp_path / f"some.{form}", rows)
    asked = ("--onnx", model, "--test", path, "--drop-mixed")
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    for line in (
        "2 rows left out: no gold label.",
        "1 item left out: its wordings have different gold labels.",
        "1 item has no row that can be used.",
        "1 item has one paraphrase and so no pair",
        "1 item has an original but no paraphrase",
    ):
        assert line in said
    status, said, _ = run(capsys, *asked, "--json")
    (profile,) = json.loads(said)["profiles"]
    assert (profile["n_buckets"], profile["n_mixed"], profile["n_empty"]) == (1, 1, 1)
    assert profile["items_by_paraphrases"] == [1, 1]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda rows: rows[1].update(gold="no"),
            "column 'gold': 1 item has wordings with different gold labels: '1' has yes and no",
        ),
        (lambda rows: rows[1].update(gold=None), "column 'gold': 1 row has no gold label"),
        (
            lambda rows: rows.append(dict(rows[0])),
            "1 item occurs more than once in a version: item '1', version 'original'",
        ),
        (lambda rows: rows[2].update(item=None), "row 2, column 'item': 1 value is missing"),
        (
            lambda rows: rows[2].update(confidence=None),
            "column 'confidence': version 'p2' of item '1' has none",
        ),
        (
            lambda rows: rows[2].update(confidence=math.nan),
            "column 'confidence': version 'p2' of item '1' has none",
        ),
        (
            lambda rows: [row.update(confidence=1.5) for row in rows[2:4]],
            (
                "version 'p2' of item '1' has 1.5; the confidence in the gold label is a number "
                "from 0 to 1 (2 wordings are wrong)"
            ),
        ),
        (
            lambda rows: [row.update(confidence=0.75) for row in rows],
            (
                "column 'confidence': in 5 of 9 rows the confidence does not go with the answer: "
                "version 'p2' of item '1', for one, has 0.75, and its answer is wrong; the "
                "confidence in the gold label is a number from 0 to 1, more than 0 beside a right "
                "answer, 0.5 or less beside a wrong one; is it that of the answer? mend the column,"
                " or rename it if it is something else"
            ),
        ),
        (
            lambda rows: rows[0].update(confidence=0),
            (
                "in 1 of 9 rows the confidence does not go with the answer: version 'original' of "
                "item '1' has 0, and its answer is right"
            ),
        ),
        (
            lambda rows: [
                row.update(gold="neutral", predicted="neutral", confidence=0.3) for row in rows
            ],
            (
                "in 9 of 9 rows the confidence does not go with the answer: version 'original' of "
                "item '1', for one, has 0.3, and its answer is right; the confidence in the gold "
                "label is a number from 0 to 1, 0.333 or more (3 labels) beside a right answer"
            ),
        ),
        (
            lambda rows: [row.update(confidence="high") for row in rows],
            "version 'original' of item '1' has 'high'",
        ),
        (
            lambda rows: [row.update(confidence=True) for row in rows],
            "the confidence in the gold label is a number from 0 to 1; rename the column",
        ),
        (
            lambda rows: [
                row.update(version="original", item=str(n)) for n, row in enumerate(rows)
            ],
            "has no version but 'original': there is no paraphrase",
        ),
    ],
    ids=[
        *(
            "mixed",
            "no gold",
            "twice",
            "no item",
            "null",
            "NaN",
            "1.5",
            "of the answer",
            "0",
            "0.3",
        ),
        *("words", "truth", "alone"),
    ],
)
def test_answers_that_cannot_be_measured(
    *,
    tmp_path: Path,
    form: str,
    change: Callable[[Rows], Any],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = answers()
    change(rows)
    path = write(tmp_path / f"log.{form}", rows)
    status, said, err = run(capsys, path)
    assert (status, said) == (1, "")
    assert err.startswith(f"Error: {path}")
    assert expected in err


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("story", "expected"),
    [
        (lambda n, _: n, "3 items have wordings with different clusters: '1', for one, has 0 and "),
        (
            lambda n, item: "ab"[n == 1] + item,
            "1 item has wordings with different clusters: '1' has",
        ),
        (lambda n, item: "new" if n == 1 else item, "'1' has 1 and new. Whole items are drawn, so"),
        (lambda _, item: item, None),
        (lambda n, item: f" s{int(item) % 2}" + " " * (n % 2), None),
    ],
    ids=["of rows", "of one row", "of another", "of items", "of two, with blanks"],
)
def test_items_of_two_clusters_are_named(
    *,
    tmp_path: Path,
    form: str,
    story: Callable[[int, str], Any],
    expected: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row | {"story": story(n, row["item"])} for n, row in enumerate(answers())]
    path = write(tmp_path / f"log.{form}", rows)
    status, _, err = run(capsys, path, "--clusters", "story")
    if expected is None:
        assert (status, err) == (0, "")
        return
    assert status == 1
    assert err.startswith(f"Error: {path}, column 'story': ")
    assert expected in err
    assert "correct the column, or name another (--clusters)" in err


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("missing", "is_refused"), [("", True), (" ", True), ("nan", True), ("none", False)]
)
def test_an_item_without_a_cluster_is_named(
    *, tmp_path: Path, form: str, missing: str, is_refused: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row | {"story": missing if row["item"] == "2" else row["item"]} for row in answers()]
    path = write(tmp_path / f"log.{form}", rows)
    status, _, err = run(capsys, path, "--clusters", "story")
    assert status == int(is_refused)
    said = f"Error: {path}, column 'story': item '2' belongs to no cluster; "
    assert err.startswith(said) if is_refused else err == ""


@pytest.mark.parametrize("form", FORMATS)
def test_answers_that_are_counted(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answers()
    rows[2]["predicted"] = None
    path = write(tmp_path / f"log.{form}", rows)
    status, said, err = run(capsys, path)
    assert (status, err) == (0, "")
    assert "1 answer is missing and counts as wrong." in said
    rows[1]["gold"] = "no"
    path = write(path, rows)
    status, said, err = run(capsys, path, "--drop-mixed")
    assert (status, err) == (0, "")
    assert "1 item left out: its wordings have different gold labels." in said


@pytest.mark.parametrize("form", FORMATS)
def test_confidences_that_may_be_those_of_the_gold_label(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels may tie, and an answer that could not be parsed is wrong beside any confidence."""
    rows = answers()
    for row in rows:
        row["confidence"] = 0.5
    rows[0]["confidence"] = 0.4  # there may be more labels than were seen
    rows[2] |= {"predicted": None, "confidence": 0.9}
    status, _, err = run(capsys, write(tmp_path / f"log.{form}", rows))
    assert (status, err) == (0, "")


@pytest.mark.parametrize(
    ("probabilities", "names", "said"),
    [
        ([0.9, 0.1], None, "in 9 of 9 rows the confidence is none of the probabilities beside it"),
        ([0.7, 0.3], None, "in 9 of 9 rows the confidence is none of the probabilities beside it"),
        ("turned", ("no", "yes"), "is not the probability of the gold label beside it"),
        ("right", ("no", "yes"), None),
        ([0.75, 0.25], None, None),  # an order of labels may fit
        ([0.746, 0.254], None, None),  # rounded
        ("right", None, None),
    ],
)
def test_confidences_that_probabilities_contradict_are_counted(
    probabilities: Any, names: tuple[str, ...] | None, said: str | None
) -> None:
    rows = answers()
    for row in rows:
        own = [1 - row["confidence"], row["confidence"]]
        row["probabilities"] = {"right": own, "turned": own[::-1]}.get(
            probabilities if isinstance(probabilities, str) else "", probabilities
        )
    table = pa.Table.from_pylist(rows)
    if probabilities == "turned":  # or the answers would contradict the probabilities
        table = table.drop_columns(["predicted"]).append_column(
            "correct", pa.array([row["predicted"] == row["gold"] for row in rows])
        )
    found = ie.consistency(Predictions(table=table, label_names=names), n_resamples=50)
    warned = [line for line in found.warnings if "confidence" in line]
    assert len(warned) == (said is not None)
    assert said is None or said in warned[0]


@pytest.mark.parametrize(("low", "said"), [(0.2, True), (0.5, False), (0.7, False)])
def test_confidences_too_low_for_the_labels_in_the_file_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], low: float, *, said: bool
) -> None:
    """There may be more labels than those that are seen, so it is no error."""
    rows = answers()
    right = [row for row in rows if row["predicted"] == row["gold"]]
    for row in right:
        row["confidence"] = low
    status, out, _ = run(capsys, write(tmp_path / "log.csv", rows))
    assert status == 0
    expected = f"In {len(right)} of {len(rows)} rows the confidence beside a right answer is below"
    assert (expected in " ".join(out.split())) == said


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(("change", "said"), [(0.0, False), (0.004, False), (0.2, True)])
def test_confidences_that_are_not_the_score_of_the_gold_label_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, change: float, *, said: bool
) -> None:
    rows = answers()
    for row in rows:
        right = (
            row["confidence"] - change if row["confidence"] > 0.5 else row["confidence"] + change
        )
        row |= {f"prob_{row['gold']}": right}
        row |= {f"prob_{'no' if row['gold'] == 'yes' else 'yes'}": 1 - right}
    _, out, _ = run(capsys, write(tmp_path / f"log.{form}", rows))
    assert ("is not the score of the gold label" in " ".join(out.split())) == said


@pytest.mark.parametrize(("more", "said"), [({}, True), ({"note": "b"}, False)])
def test_a_copy_of_a_file_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: dict[str, str], *, said: bool
) -> None:
    paths = [
        write(tmp_path / "a.csv", answers()),
        write(tmp_path / "b.csv", [row | more for row in answers()]),
    ]
    status, _, err = run(capsys, *paths)
    assert status == 0
    assert ("b.csv is a copy of" in err) == said


def test_confidences_of_a_table_and_of_a_full_test_set() -> None:
    known = Predictions(table=pa.Table.from_pylist(answers()), label_names=("no", "yes"))
    assert ie.consistency(known, n_resamples=50).n_items == 4
    rows = [row | {"confidence": 0.75} for row in answers()]
    with pytest.raises(InputError, match="in 5 of 9 rows the confidence does not go with"):
        ie.consistency(pa.Table.from_pylist(rows), n_resamples=50)
    originals = pa.Table.from_pylist(rows[:1] + rows[3:4])
    with pytest.raises(InputError, match="in 1 of 2 rows the confidence does not go with"):
        ie.consistency(known, test_set=originals, n_resamples=50)
    low = [row | {"confidence": 0.4} for row in answers()]
    with pytest.raises(InputError, match=r"0\.5 or more \(2 labels\) beside a right answer"):
        ie.consistency(
            Predictions(table=pa.Table.from_pylist(low), label_names=("no", "yes")), n_resamples=50
        )


def test_every_item_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answers()[:3]
    rows[1]["gold"] = "no"
    path = write(tmp_path / "log.csv", rows)
    status, said, err = run(capsys, path, "--drop-mixed")
    assert (status, said) == (1, "")
    assert "the wordings of every item have different gold labels" in err


@pytest.mark.parametrize("known", [True, False])
def test_probabilities_that_are_not_used_are_said(
    *, tmp_path: Path, known: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row | {"probabilities": [0.25, 0.75]} for row in answers()]
    for row in rows:
        del row["confidence"]
    rows[2]["probabilities"] = None
    path = tmp_path / "log.parquet"
    table = pa.Table.from_pylist(rows)
    if known:
        Predictions(table=table, label_names=("no", "yes")).write(path)
    else:
        pq.write_table(table, path)
    status, said, err = run(capsys, path)
    assert (status, err) == (0, "")
    expected = "1 wording has no probabilities, so there are no measures of confidence."
    if not known:
        expected = "The probabilities are not used, because the file does not say which label"
    assert expected in said
    assert "change of confidence" not in said


def results() -> dict[str, Any]:
    """ParaNLU's predictions of two abductive problems with three paraphrases each."""
    found: dict[str, Any] = {}
    for label, item in enumerate(("anli.1", "anli.2")):
        original = {
            "example_id": item,
            "obs1": "A dog runs.",
            "hyp1": "A boy sits.",
            "hyp2": "A girl eats.",
            "obs2": "Nobody sleeps.",
            "modeling_label": label,
        }
        found[item] = {
            "gold_label": label,
            "original_confidence": [0.25, 0.75],
            "original_prediction": 1,
            "bucket_confidences": [
                {
                    "paraphrased_example": {
                        "paraphrase_id": f"{item}.{place}",
                        "original_example_id": item,
                        "original_example": dict(original),
                        "hyp1_paraphrase": f"A kid sits, {place}.",
                        "hyp2_paraphrase": "A girl is eating.",
                    },
                    "confidence": [0.5, 0.5],
                    "prediction": place % 2,
                }
                for place in range(3)
            ],
        }
    return found


def as_paraphrases(content: dict[str, Any]) -> dict[str, Any]:
    return {
        item: [each["paraphrased_example"] for each in bucket["bucket_confidences"]]
        for item, bucket in content.items()
    }


def first(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = content["anli.1"]["bucket_confidences"][1]
    return found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda all_: first(all_)["paraphrased_example"]["original_example"].update(
                modeling_label=1
            ),
            "1: its original_example has the modeling_label 1, but that of its item is 0",
        ),
        (
            lambda all_: first(all_)["paraphrased_example"].update(paraphrase_id="anli.1.0"),
            "paraphrase 1: the paraphrase_id 'anli.1.0' occurs twice",
        ),
        (
            lambda all_: first(all_)["paraphrased_example"].update(original_example_id="anli.9"),
            "paraphrase 1: is a paraphrase of 'anli.9'",
        ),
        (
            lambda all_: first(all_).update(confidence=[math.nan, 0.5]),
            "paraphrase 1: has the confidence nan",
        ),
        (
            lambda all_: first(all_).update(confidence=[0.75, 0.5]),
            "paraphrase 1: its confidences add up to 1.25, not to 1",
        ),
        (
            lambda all_: [own["bucket_confidences"].clear() for own in all_.values()],
            "there is no paraphrase",
        ),
    ],
    ids=["mixed", "twice", "another item", "NaN", "sum", "all empty"],
)
def test_results_of_paranlu_that_cannot_be_measured(
    *,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], Any],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = results()
    change(content)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content))
    status, said, err = run(capsys, path)
    assert (status, said) == (1, "")
    assert err.startswith(f"Error: {path}")
    assert expected in err


def test_empty_buckets_of_paranlu_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_onnx_folder(tmp_path / "two", labels=("hyp1", "hyp2"))
    content = results()
    content["anli.1"]["bucket_confidences"].clear()
    path, texts = tmp_path / "results.json", tmp_path / "texts.json"
    path.write_text(json.dumps(content))
    texts.write_text(json.dumps(as_paraphrases(content)))
    status, said, err = run(capsys, path)
    assert (status, err) == (0, "")
    assert "1 item has an original but no paraphrase" in said
    # Without answers, nothing is known of such an item.
    asked = ("--onnx", tmp_path / "two", "--test", texts)
    status, said, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    assert "1 item has no row that can be used." in said
    for option in (("--phi", "swap"), ("--drop-mixed",)):
        status, said, err = run(capsys, *asked, *option)
        assert (status, said) == (2, "")
        assert f"{option[0]} is for" in err


@pytest.mark.parametrize("name", ["table.csv", "paranlu.json"])
def test_paraphrases_without_a_model_are_said(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(
        "item,text,label\n1,a,yes\n1,b,yes\n"
        if name == "table.csv"
        else json.dumps({"x": [{"paraphrase_id": "a", "original_example": {}}]})
    )
    status, out, err = run_here("consistency", name, folder=tmp_path)
    assert (status, out) == (1, "")
    said = " ".join(err.split())
    assert (
        f"{name}: holds paraphrases, no answers; add --onnx or --model, and --test {name}" in said
    )
