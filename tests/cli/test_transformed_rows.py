"""The same rephrased rows as a table and as a file: the same answers, or the same error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("onnx", reason="makes the model that is asked")

import ietest_fast as ie
from ietest_fast.cli.main import main
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from tiny_models import LABELS, WORDS, make_onnx_folder

NAMES = ",".join(f"{label}={label}" for label in LABELS)
PAIRS = [
    (f"The boy {WORDS[20 + i % 7]} in the park", f"A {WORDS[30 - i]} {WORDS[i]}") for i in range(30)
]
DATA = pd.DataFrame(PAIRS, columns=["premise", "hypothesis"]).assign(
    label=[LABELS[i % 3] for i in range(30)]
)


def _with_ids(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(pairID=[f"p{i}" for i in range(len(frame))])


def _reword(frame: pd.DataFrame) -> pd.DataFrame:
    new = frame["premise"].where(frame.index % 3 > 0, frame["premise"].str.replace("boy", "man"))
    return frame.assign(premise=new)


def _turn(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring rows of the same labels into another order."""
    return pd.concat([frame.iloc[3:], frame.iloc[:3]]).reset_index(drop=True)


def _contradict(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=[*frame["label"][:-1], LABELS[0]])


def _unlabel(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=["-", *frame["label"][1:]])


def _drop_labels(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="label")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    make_onnx_folder(folder)
    return folder


Ask = Callable[[pd.DataFrame, pd.DataFrame], list[Any]]


@pytest.fixture
def ask_all(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Ask in all ways: four counts of each, or what its error says."""
    classifier = OnnxClassifier.load(model)
    paths = [tmp_path / "before.csv", tmp_path / "after.csv"]

    def plain(error: str) -> str:
        for path, name in zip(paths, ("data", "transformed"), strict=True):
            error = error.replace(str(path), name)
        # A message about a value has the line of a file; the first row stands in line 2.
        return re.sub(r"line (\d+)", lambda found: f"row {int(found[1]) - 2}", error)

    def ask(one: Any, two: Any) -> Any:
        try:
            given = ie.evaluate(
                classifier, one, transformed=two, label_map={label: label for label in LABELS}
            )
        except ie.IetestError as error:
            return plain(str(error))
        counts = given.predictions.pairs(given.comparison.tests[0].pairs.version).sample.counts
        return [counts.n11, counts.n10, counts.n01, counts.n00]

    def run() -> Any:
        arguments = ["--test", paths[0], "--transformed-test", paths[1], "--label-map", NAMES]
        with pytest.raises(SystemExit) as stop:
            main(["eval", "--onnx", str(model), *map(str, arguments), "--json"])
        captured = capsys.readouterr()
        if stop.value.code:
            return plain(captured.err).removeprefix("Error: ").removesuffix("\n")
        return [json.loads(captured.out)[name] for name in ("n11", "n10", "n01", "n00")]

    def ask_all(before: pd.DataFrame, after: pd.DataFrame) -> list[Any]:
        for path, frame in zip(paths, (before, after), strict=True):
            frame.to_csv(path, index=False)
        tables = (before, after)
        ways = [(tables[0], tables[1]), (paths[0], paths[1]), (tables[0], paths[1])]
        return [*(ask(*way) for way in [*ways, (paths[0], tables[1])]), run()]

    return ask_all


def _alike(found: list[Any]) -> Any:
    assert all(each == found[0] for each in found), found
    return found[0]


def test_rows_are_matched_and_checked_in_both(ask_all: Ask) -> None:
    named = _with_ids(DATA)
    turned = _turn(_reword(named))
    found = _alike(ask_all(named, _drop_labels(turned)))
    assert sum(found) == 30
    said = _alike(ask_all(named, _contradict(turned)))
    assert "transformed, row 29: the label is entailment, and contradiction in data" in said


@pytest.mark.slow
def test_a_file_and_a_table_give_the_same_answers(ask_all: Ask) -> None:
    expected = _alike(ask_all(DATA, _reword(DATA)))
    assert sum(expected) == 30
    named = _with_ids(DATA)
    for before, after in (
        (DATA, _drop_labels(_reword(DATA))),
        (named, _reword(named)),
        (named, _drop_labels(_reword(named))),
        (named, _turn(_reword(named))),
        (named, _drop_labels(_turn(_reword(named)))),
        (named.assign(key=named["pairID"]), _reword(DATA)),
    ):
        assert _alike(ask_all(before, after)) == expected
    mnli = DATA.set_axis(["sentence1", "sentence2", "label"], axis=1)
    other = _reword(DATA).set_axis(mnli.columns, axis=1)
    assert _alike(ask_all(mnli, other)) == expected


@pytest.mark.slow
def test_rows_without_a_label_are_left_out(ask_all: Ask) -> None:
    named = _with_ids(DATA)
    left = DATA.iloc[1:].reset_index(drop=True)
    other = _reword(DATA).iloc[1:].reset_index(drop=True)
    expected = _alike(ask_all(left, other))
    for before, after in (
        (_unlabel(DATA), _reword(DATA)),
        (_unlabel(DATA), _unlabel(_reword(DATA))),
        (_unlabel(DATA), _drop_labels(_reword(DATA))),
        (_unlabel(DATA), other),
        (left, _unlabel(_reword(DATA))),
        (_unlabel(named), _turn(_reword(named))),
        (_unlabel(named), _turn(_unlabel(_reword(named)))),
        (_unlabel(named), _drop_labels(_turn(_reword(named)))),
        (named.iloc[1:].reset_index(drop=True), _turn(_unlabel(_reword(named)))),
    ):
        assert _alike(ask_all(before, after)) == expected


@pytest.mark.slow
def test_a_file_and_a_table_are_refused_for_the_same_reason(ask_all: Ask) -> None:
    named, keyed = _with_ids(DATA), DATA.assign(key=[f"k{i}" for i in range(30)])
    numbers = {label: place for place, label in enumerate(LABELS)}
    unnamed = _turn(_reword(DATA))
    for before, after, said in (
        (DATA, _contradict(_reword(DATA)), "row 29: the label is .* in data: are the rows"),
        (named, _turn(_contradict(_reword(named))), "row 26: .*: the rows of an id need the same"),
        (DATA, _unlabel(_reword(DATA)), "row 0: the label is missing, and "),
        (named, _unlabel(_reword(named)), "row 0: the label is missing, and "),
        (DATA, unnamed, "row 0, column 'hypothesis': has values of data in another order"),
        (DATA, _drop_labels(unnamed), "row 0, column 'hypothesis': has values of data in another"),
        (keyed, _turn(_reword(keyed)), "column 'key': .* match them by it .id_column='key'"),
        (keyed, _drop_labels(_turn(_reword(keyed))), "column 'key': has values of data in another"),
        (DATA, _reword(DATA).iloc[1:], "has 29 labelled rows, and data has 30"),
        (DATA, _drop_labels(_reword(DATA)).iloc[1:], "has 29 rows, and data has 30"),
        (_unlabel(DATA), _drop_labels(_reword(DATA)).iloc[1:], "has 29 rows, and data has 30"),
        (named, _reword(named).iloc[1:], "its 29 ids are not those of the 30 rows of data"),
        (named, _drop_labels(_reword(named)).iloc[1:], "its 29 ids are not those of the 30 rows"),
        (DATA, _reword(DATA).assign(label="maybe"), "row 0, column 'label': unknown label 'maybe'"),
        (DATA, _reword(DATA).assign(gold_label=DATA["label"]), "two columns of labels, label and"),
        (DATA, DATA.drop(columns="premise"), "column 'premise': there is no such column"),
        (DATA, DATA.assign(premise=[*DATA["premise"][:-1], None]), "row 29, column 'premise': the"),
    ):
        assert re.search(said, _alike(ask_all(before, after)))
    wrong = _contradict(_reword(DATA))
    wrong["label"] = wrong["label"].map(numbers)
    assert re.search("row 29: the label is", _alike(ask_all(DATA, wrong)))


def test_the_column_of_labels_that_is_named_counts_in_both(tmp_path: Path) -> None:
    def guess(texts: list[str]) -> list[str]:
        return ["b" if "man" in text or len(text) % 2 else "a" for text in texts]

    before = pd.DataFrame({"text": [f"The boy {WORDS[i]} here" for i in range(30)]})
    before = before.assign(truth=["a", "b"] * 15, label=["x", "y", "z"] * 10)
    after = before.assign(text=before["text"].str.replace("boy", "man"), label="w")
    wrong = after.assign(truth=[*after["truth"][:-1], "a"])
    paths = {}
    for name, frame in (("before", before), ("after", after), ("wrong", wrong)):
        paths[name] = tmp_path / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    for one in (before, paths["before"]):
        found = [
            ie.evaluate(guess, one, transformed=two, label_column="truth").pvalue
            for two in (after, paths["after"])
        ]
        assert found[0] == found[1]
        for two in (wrong, paths["wrong"]):
            with pytest.raises(ie.IetestError, match="row 29: the label is a, and b in "):
                ie.evaluate(guess, one, transformed=two, label_column="truth")
