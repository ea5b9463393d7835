"""``ie.evaluate``: a classifier of any kind on a table of any kind, and the test of its answers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ietest_fast as ie
from ietest_fast.corpus import corpus_from_table
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.transform import WordSubstitution
from toys import Swap

SOFA = WordSubstitution(mapping={"couch": "sofa"})
CHAIR = Swap("couch", "chair", name="chair")
# Of 60 texts, 40 with the word, of which 20 are good.
TEXTS = [f"{'good' if i % 2 else 'bad'} {'couch' if i < 40 else 'lamp'} {i}" for i in range(60)]
FRAME = pd.DataFrame({"text": TEXTS, "label": ["pos" if i % 2 else "neg" for i in range(60)]})


def guess(texts: Sequence[str]) -> list[str]:
    """Good if it says so, but nothing is good on a sofa."""
    return ["pos" if "good" in text and "sofa" not in text else "neg" for text in texts]


class Numbers:
    """As scikit-learn's classifiers are, fitted on numbers."""

    classes_ = np.array([0, 1])

    def predict(self, texts: Sequence[str]) -> Any:
        return np.array([int(answer == "pos") for answer in guess(texts)])


def test_one_version_has_the_attributes_of_its_test() -> None:
    found = ie.evaluate(guess, FRAME, phi=SOFA)
    expected = ie.paired_test(ie.PairedCounts(40, 20, 0, 0))
    assert found.pvalue == expected.pvalue < 1e-4
    assert found.statistic == expected.statistic
    assert found.delta == pytest.approx(1 / 3)
    assert str(found.confidence_interval()) == str(expected.confidence_interval())
    assert found.reject
    assert list(found.tests) == ["words"]
    assert found["words"].pvalue == found.pvalue
    with pytest.raises(KeyError, match="there are words"):
        found["word"]


def test_it_prints_and_shows_itself() -> None:
    found = ie.evaluate(guess, FRAME, phi=SOFA)
    for shown in (str(found), repr(found), found._repr_html_()):
        assert "Accuracy is lower on 40 reworded texts: 100.0 → 50.0 (−50.0, 95% " in shown
        assert "words" in shown
        assert "differs (alpha = 0.05 for all that is claimed)" in shown
    frame = found.to_frame()
    assert frame.loc[0, ["version", "n10", "n01", "reject"]].to_list() == ["words", 20, 0, True]
    assert found.to_dict()["texts_changed"] == {"words": 40}


def test_it_draws_itself() -> None:
    axes = ie.evaluate(guess, FRAME, phi=[SOFA, CHAIR]).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["words", "chair"]
    assert "points" in axes.get_xlabel()
    import matplotlib.pyplot as plt

    plt.close(axes.figure)


def test_predictions_are_the_long_table() -> None:
    frame = FRAME.assign(genre=["a", "b"] * 30, id=range(100, 160))
    found = ie.evaluate(guess, frame, phi=SOFA, keep_columns=["genre"], id_column="id")
    table = found.predictions.table.to_pandas()
    assert len(table) == 120
    assert {"item", "version", "gold", "predicted", "changed", "text", "genre"} <= set(table)
    assert table["item"].unique().tolist() == list(range(100, 160))
    assert table.groupby("version", observed=True)["changed"].sum().to_dict() == {
        "original": 0,
        "words": 40,
    }


def test_several_versions_are_corrected_together() -> None:
    found = ie.evaluate(guess, FRAME, phi=[SOFA, CHAIR])
    assert len(found.tests) == 2
    assert len(found.to_frame()) == 2
    assert found.to_dict()["correction"] == "holm"
    with pytest.raises(AttributeError, match=r"result\[\.\.\.\] gives one of"):
        found.pvalue  # noqa: B018
    assert "Cochran's Q" in str(found)


@pytest.mark.parametrize("kind", ["arrow", "mapping", "corpus", "file"])
def test_every_kind_of_data(kind: str, tmp_path: Path) -> None:
    data: Any = pa.table(FRAME)
    if kind == "mapping":
        data = FRAME.to_dict("list")
    elif kind == "corpus":
        data = corpus_from_table(FRAME)
    elif kind == "file":
        data = tmp_path / "test.csv"
        FRAME.to_csv(data, index=False)
    assert ie.evaluate(guess, data, phi=SOFA).delta == pytest.approx(1 / 3)


def test_columns_of_other_names() -> None:
    frame = FRAME.rename(columns={"text": "said", "label": "mood"})
    found = ie.evaluate(guess, frame, phi=SOFA, text_columns="said", label_column="mood")
    assert found.delta == pytest.approx(1 / 3)


def test_numbers_on_both_sides_are_the_same_numbers() -> None:
    frame = FRAME.assign(label=[i % 2 for i in range(60)])
    assert ie.evaluate(Numbers(), frame, phi=SOFA).delta == pytest.approx(1 / 3)
    named = ie.evaluate(Numbers(), frame, phi=SOFA, label_names=["neg", "pos"])
    assert named.delta == pytest.approx(1 / 3)
    assert named.predictions.label_names == ("neg", "pos")
    with pytest.raises(ie.IetestError, match="nobody can tell which is which"):
        ie.evaluate(Numbers(), FRAME, phi=SOFA)


def test_data_may_lack_a_label_of_the_classifier() -> None:
    def answer(texts: Sequence[str]) -> Any:
        return np.eye(3)[[["neg", "pos"].index(each) for each in guess(texts)]]

    found = ie.evaluate(answer, FRAME, phi=SOFA, labels=["neg", "pos", "mixed"])
    assert found.delta == pytest.approx(1 / 3)
    assert found.predictions.label_names == ("neg", "pos", "mixed")


def test_clusters_are_drawn_whole() -> None:
    frame = FRAME.assign(author=[i // 6 for i in range(60)])
    found: Any = ie.evaluate(guess, frame, phi=SOFA, clusters="author", n_resamples=99)
    assert found.test.n_clusters == 10
    assert found.test.n_resamples == 99


def test_pairs_and_what_a_classifier_sees_of_them() -> None:
    frame = pd.DataFrame({"premise": TEXTS, "hypothesis": ["a couch"] * 60, "label": FRAME.label})
    joined = ie.evaluate(guess, frame, phi=SOFA, inputs="joined", label_names=["neg", "pos"])
    assert joined.delta == pytest.approx(0.5)  # every hypothesis says sofa
    seen = ie.evaluate(guess, frame, phi=SOFA, input_columns="premise", label_names=["neg", "pos"])
    assert seen.delta == pytest.approx(1 / 3)


class OfColumns(Numbers):
    """As scikit-learn's classifiers are, fitted on a frame."""

    classes_ = np.array(["neg", "pos"])
    feature_names_in_ = np.array(["sentence1", "sentence2"], dtype=object)

    def predict(self, frame: Any) -> Any:
        assert list(frame) == ["sentence1", "sentence2"]
        return np.array(guess(frame["sentence1"]))


def test_columns_keep_the_names_that_a_classifier_was_fitted_on() -> None:
    frame = pd.DataFrame({"sentence1": TEXTS, "sentence2": "a lamp", "label": FRAME.label})
    found = ie.evaluate(OfColumns(), frame, phi=SOFA, clusters="sentence1", n_resamples=9)
    assert found.delta == pytest.approx(1 / 3)
    assert "sentence1" in found.predictions.columns


def test_transformed_rows_are_matched_by_their_order() -> None:
    other = ie.transform(FRAME, SOFA)
    expected = ie.evaluate(guess, FRAME, phi=SOFA)
    found = ie.evaluate(guess, FRAME, transformed=other)
    assert list(found.tests) == ["transformed"]
    assert found.pvalue == expected.pvalue
    assert ie.evaluate(guess, FRAME, transformed=other[["text"]]).pvalue == expected.pvalue
    with pytest.raises(ie.IetestError, match="has 59 labelled rows, and data has 60"):
        ie.evaluate(guess, FRAME, transformed=other.iloc[1:])
    backwards = other.iloc[::-1].reset_index(drop=True)
    with pytest.raises(ie.IetestError, match="row 0, column 'text': has values of data in another"):
        ie.evaluate(guess, FRAME, transformed=backwards)
    backwards["text"] = backwards["text"].str.upper() + "!"
    with pytest.raises(ie.IetestError, match="are the rows in the same order"):
        ie.evaluate(guess, FRAME, transformed=backwards)
    with pytest.raises(ie.IetestError, match="given as `transformed` tells no edits"):
        ie.evaluate(guess, FRAME, phi=CHAIR, transformed=other, dose="edits")
    both = ie.evaluate(guess, FRAME, phi=CHAIR, transformed=other)
    assert list(both.tests) == ["chair", "transformed"]


def test_transformed_rows_are_matched_by_ids_that_both_have() -> None:
    frame = FRAME.assign(pairID=[f"p{i}" for i in range(60)])
    other = ie.transform(frame, SOFA).sample(frac=1, random_state=0)
    expected = ie.evaluate(guess, FRAME, phi=SOFA).pvalue
    assert ie.evaluate(guess, frame, transformed=other).pvalue == expected
    for wrong in (other.iloc[1:], other.assign(pairID=other["pairID"] + "x")):
        with pytest.raises(ie.IetestError, match="ids are not those of the 60 rows of data"):
            ie.evaluate(guess, frame, transformed=wrong)
    renamed = {"pairID": "name"}
    found = ie.evaluate(
        guess, frame.rename(columns=renamed), transformed=other.rename(columns=renamed),
        id_column="name",
    )  # fmt: skip
    assert found.pvalue == expected
    assert found.predictions.items[0].as_py() == "p0"
    twice = frame.assign(pairID="p0")
    with pytest.raises(ie.IetestError, match=r"once: 'p0' \(rows 0 and 1, and 58 more\)"):
        ie.evaluate(guess, twice, transformed=twice, id_column="pairID")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_rows_of_files_are_matched_by_ids_as_well(tmp_path: Path, ending: str) -> None:
    frame = FRAME.assign(pairID=[f"p{i}" for i in range(60)])
    other = ie.transform(frame, SOFA)
    test, same, shifted, wrong = (tmp_path / f"{name}.{ending}" for name in "tsoy")
    for path, table in (
        (test, frame),
        (same, other.drop(columns="pairID")),
        (shifted, _shift(other)),
        (wrong, other.assign(pairID=other["pairID"] + "x")),
    ):
        if ending == "parquet":
            table.to_parquet(path)
        elif ending == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_json(path, orient="records", lines=True)
    expected = ie.evaluate(guess, test, transformed=same)
    found = ie.evaluate(guess, test, transformed=shifted)
    assert (found.delta, found.pvalue) == (expected.delta, expected.pvalue)
    with pytest.raises(ie.IetestError, match=r"'pairID': its 60 ids .* give the same rows the"):
        ie.evaluate(guess, test, transformed=wrong)


def _shift(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring rows of the same label into another order."""
    return pd.concat([frame.iloc[2:], frame.iloc[:2]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "row 0: data and transformed have the same index in different orders: here 0 and 2"),
        ({"key": range(60)}, "row 0, column 'key': .* here '2' for '0'.*id_column='key'"),
        ({"Unnamed: 0": [f"n{i}" for i in range(60)]}, "'Unnamed: 0': has values of data in"),
        (
            {"doc_id": np.arange(60) // 3 * 1.0},
            "row 1, column 'doc_id': .* bring both into one order",
        ),
    ],
)
def test_transformed_rows_whose_index_or_column_is_in_another_order_are_refused(
    columns: dict[str, Any], message: str
) -> None:
    frame = FRAME.assign(**columns)
    other = ie.transform(frame, SOFA)
    expected = ie.evaluate(guess, FRAME, phi=SOFA).pvalue
    assert ie.evaluate(guess, frame, transformed=other).pvalue == expected
    shifted = _shift(other)
    shifted = shifted.reset_index(drop=True) if columns else shifted
    with pytest.raises(ie.IetestError, match=message):
        ie.evaluate(guess, frame, transformed=shifted)
    if columns:  # as polars and Arrow have it, without an index
        with pytest.raises(ie.IetestError, match=message):
            ie.evaluate(guess, pa.table(dict(frame)), transformed=pa.table(dict(shifted)))


def test_an_index_or_a_column_that_tells_nothing_for_certain_is_no_reason_to_refuse() -> None:
    other = ie.transform(FRAME, SOFA)
    expected = ie.evaluate(guess, FRAME, phi=SOFA).pvalue
    for frame, given in (
        (FRAME, other.set_axis(range(7, 67))),
        (FRAME.set_axis([0] * 60), other),
        (FRAME.assign(genre="a"), other.assign(genre=["b"] * 59 + ["a"])),
        (FRAME.assign(genre=["a"] * 59 + ["b"]), other.assign(genre=["b"] + ["a"] * 59)),
        (FRAME.assign(tags=[[1]] * 60), other.assign(tags=[[2]] * 60)),
        (FRAME.assign(id=range(60)), _shift(other.assign(id=range(60)))),
    ):
        assert ie.evaluate(guess, frame, transformed=given).pvalue == expected


class Grades(Numbers):
    """Fitted on grades from 1 to 5."""

    classes_ = np.arange(1, 6)

    def predict(self, texts: Sequence[str]) -> Any:
        return np.array([1 + 4 * int(answer == "pos") for answer in guess(texts)])


def test_transformed_rows_may_have_labels_that_are_numbers() -> None:
    grades = [1 + 4 * (i % 2) for i in range(60)]
    for label in (grades, [i % 2 for i in range(60)]):
        frame = FRAME.assign(label=label)
        model = Grades() if label is grades else Numbers()
        expected = ie.evaluate(model, frame, phi=SOFA)
        found = ie.evaluate(model, frame, transformed=ie.transform(frame, SOFA))
        assert found.pvalue == expected.pvalue
        assert found.predictions.label_names == expected.predictions.label_names


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_labels_of_transformed_rows_may_be_written_in_another_way(
    kind: str, tmp_path: Path
) -> None:
    def answer(texts: Sequence[str]) -> Any:
        return np.eye(3)[[["mixed", "neg", "pos"].index(each) for each in guess(texts)]]

    names = ie.transform(FRAME, SOFA)
    numbers = FRAME.assign(label=[i % 2 for i in range(60)])
    names.to_csv(tmp_path / "names.csv", index=False)
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    given = tmp_path / "names.csv" if kind == "file" else names
    found = ie.evaluate(
        answer, numbers, transformed=given, label_names=["neg", "pos"],
        labels=["mixed", "neg", "pos"],
    )  # fmt: skip
    assert found.delta == pytest.approx(1 / 3)
    swapped = ie.transform(numbers, SOFA)
    back: Any = tmp_path / "swapped.csv" if kind == "file" else swapped
    swapped.to_csv(tmp_path / "swapped.csv", index=False)
    found = ie.evaluate(
        answer, FRAME, transformed=back, label_names=["neg", "pos"],
        labels=["mixed", "neg", "pos"],
    )  # fmt: skip
    assert found.delta == pytest.approx(1 / 3)
    other = names.assign(label="maybe")
    with pytest.raises(ie.IetestError, match="row 0, column 'label': unknown label 'maybe'"):
        ie.evaluate(guess, FRAME, transformed=other)


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_marks_of_transformed_rows_are_compared_with_their_texts(kind: str, tmp_path: Path) -> None:
    other = ie.transform(FRAME, SOFA)
    right = other.assign(changed=other["text"] != FRAME["text"])
    wrong = right.assign(changed=True)
    n = int((~right["changed"]).sum())
    assert 0 < n < len(FRAME)

    def give(frame: pd.DataFrame, name: str) -> object:
        path = tmp_path / f"{name}.csv"
        frame.to_csv(path, index=False)
        return path if kind == "file" else frame

    with warnings.catch_warnings():
        warnings.simplefilter("error", IetestWarning)
        ie.evaluate(guess, give(FRAME, "data"), transformed=give(right, "right"))
    with pytest.warns(IetestWarning, match=f"in {n} rows the column changed and the texts"):
        found = ie.evaluate(guess, give(FRAME, "data"), transformed=give(wrong, "wrong"))
    assert [each for each in found.to_dict()["warnings"] if f"in {n} rows" in each]


@pytest.mark.parametrize("name", ["row_id", "uuid", "doc_id", "index"])
def test_ids_have_the_names_that_logs_have_too(name: str) -> None:
    frame = FRAME.assign(**{name: range(60)})
    other = ie.transform(frame, SOFA).sample(frac=1, random_state=0)
    found = ie.evaluate(guess, frame, transformed=other)
    assert found.delta == pytest.approx(1 / 3)
    # The same ids as texts.
    texts = ie.evaluate(guess, frame, transformed=other.assign(**{name: other[name].astype(str)}))
    assert texts.pvalue == found.pvalue


def test_rows_without_a_label_are_left_out_of_both_versions() -> None:
    frame = FRAME.assign(label=[None, *FRAME["label"][1:]])
    other = ie.transform(frame, SOFA)
    found = ie.evaluate(guess, frame, transformed=other)
    assert found.pvalue == ie.evaluate(guess, frame, phi=SOFA).pvalue
    assert "1 row left out" in str(found)


@pytest.mark.slow
def test_synonyms_are_the_default() -> None:
    found = ie.evaluate(guess, FRAME, learn_from=FRAME.head(30))
    assert list(found.tests) == ["syn.careful"]
    assert found.delta == pytest.approx(1 / 3)


@pytest.mark.train
@pytest.mark.slow
def test_a_checkpoint_by_its_folder_and_as_a_pipeline_of_transformers(tmp_path: Path) -> None:
    import transformers

    from tiny_models import LABELS, make_bert, random_texts

    make_bert(tmp_path, labels=LABELS)
    settings = {"pad_token": "[PAD]", "model_max_length": 48}
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    frame = pd.DataFrame(
        {
            "premise": [f"{text} couch" for text in random_texts(40, seed=0)],
            "hypothesis": random_texts(40, seed=1),
            "label": [LABELS[i % 3] for i in range(40)],
        }
    )
    pipeline = transformers.pipeline("text-classification", model=str(tmp_path), device="cpu")
    for classifier in (tmp_path, str(tmp_path), pipeline):
        found = ie.evaluate(classifier, frame, phi=SOFA)
        assert found.to_frame().loc[0, "n"] == 40
        assert found.predictions.label_names == LABELS
        assert "probabilities" in found.predictions.columns


def test_the_verdict_is_on_the_reworded_texts() -> None:
    texts = [f"{'boy' if i % 2 else 'stone'} {i}" for i in range(4_000)]
    labels = ["yes" if i % 2 else "no" for i in range(4_000)]

    def classify(given: list[str]) -> list[str]:  # knows boys, and takes a third of lads for stones
        return [
            "yes"
            if text.startswith("boy") or (text.startswith("lad") and int(text[-1]) % 3)
            else "no"
            for text in given
        ]

    def steady(given: list[str]) -> list[str]:
        return ["no" if text.startswith("stone") else "yes" for text in given]

    data = {"text": texts, "label": labels}
    rephrased = {"text": [text.replace("boy", "lad") for text in texts], "label": labels}
    result = ie.evaluate(steady, data, transformed=rephrased)
    assert result.verdict == "alike within margins"
    assert "Alike within 1 point and 5% of the answers: accuracy " in str(result)
    result = ie.evaluate(classify, data, transformed=rephrased, margin=0.05)
    assert result.verdict == "differs"
    assert next(iter(result.verdicts)) == next(iter(result.tests))


def test_rows_that_are_there_twice_are_told() -> None:
    twice = pd.concat([FRAME, FRAME.head(5)]).assign(row=range(65))
    said = "5 rows of 65 have the texts and the label of another row"
    assert said in str(ie.evaluate(guess, twice, phi=SOFA))
    assert said in " ".join(ie.evaluate(guess, twice, phi=SOFA).to_dict()["warnings"])
    assert said not in str(ie.evaluate(guess, FRAME, phi=SOFA))
    assert said not in str(ie.evaluate(guess, twice, phi=SOFA, id_column="row"))
    other = twice.assign(
        label=[*FRAME["label"], *("pos" if i % 2 == 0 else "neg" for i in range(5))]
    )
    assert said not in str(ie.evaluate(guess, other, phi=SOFA))


class Probable(Numbers):
    """Its probabilities have the labels in an order of their own."""

    def __init__(self, order: slice, threshold: float = 0.5) -> None:
        self.order, self.threshold = order, threshold

    def predict_proba(self, texts: Sequence[str]) -> Any:
        sure = np.where(self.predict(texts) == 1, 0.9, 0.2)
        return np.column_stack([1 - sure, sure])[:, self.order]

    def predict(self, texts: Sequence[str]) -> Any:
        return np.where(np.array([len(text) % 2 for text in texts]) > self.threshold, 1, 0)


def test_probabilities_of_other_labels_than_the_answers_are_refused() -> None:
    frame = FRAME.assign(label=[i % 2 for i in range(60)])
    ie.evaluate(Probable(slice(None)), frame, phi=SOFA)
    with pytest.raises(InputError, match="in none of 120 rows does the answer have the largest"):
        ie.evaluate(Probable(slice(None, None, -1)), frame, phi=SOFA)
    ie.evaluate(Probable(slice(None, None, -1), threshold=1), frame, phi=SOFA)  # one answer only
