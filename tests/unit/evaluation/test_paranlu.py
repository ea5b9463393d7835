"""ParaNLU's published files: what is read from them, and what is wrong with a broken one."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ietest_fast as ie
from ietest_fast.analyses import find_confidence, find_wordings, read_paranlu, read_paranlu_texts
from ietest_fast.analyses.consistency.paranlu import paranlu_kind
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def paraphrase(item: str, place: int, **fields: Any) -> dict[str, Any]:
    """A paraphrase of a defeasible problem, in the published form."""
    original = {
        "example_id": item,
        "premise_hypothesis_id": f"pair of {item[0]}",
        "data_source": "snli",
        "source_example_metadata": None,
        "premise": "A man sleeps.",
        "hypothesis": "He is tired.",
        "update": f"It is {item}.",
        "update_type": "strengthener",
        "label": 1,
        "annotated_paraphrases": None,
    }
    return {
        "paraphrase_id": f"{item}.{place}",
        "original_example": original,
        "original_example_id": item,
        "update_paraphrase": f"Now it is {item}, the {place}th time.",
        "worker_id": "W",
        "premise_paraphrase": None,
        "hypothesis_paraphrase": None,
        "automatic_system_metadata": None,
    } | fields


def bucket(item: str, confidences: list[float]) -> dict[str, Any]:
    """Answers to an original and to its paraphrases; the last confidence is the original's."""

    def answer(sure: float) -> dict[str, Any]:
        return {"confidence": [1 - sure, sure], "prediction": int(sure > 0.5)}

    own = answer(confidences[-1])
    return {
        "original_confidence": own["confidence"],
        "original_prediction": own["prediction"],
        "gold_label": 1,
        "bucket_confidences": [
            answer(sure) | {"paraphrased_example": paraphrase(item, place)}
            for place, sure in enumerate(confidences[:-1])
        ],
    }


def make_results() -> dict[str, Any]:
    return {"a1": bucket("a1", [0.9, 0.2, 0.75, 0.8]), "b1": bucket("b1", [0.4, 0.3])}


def make_test_set() -> list[dict[str, Any]]:
    return [
        {"confidence": [0.25, 0.75], "prediction": 1, "label": 1, "example_id": "snli.test.0"},
        {"confidence": [0.25, 0.75], "prediction": 1, "label": 0, "example_id": "snli.test.1"},
    ]


def make_paraphrases() -> dict[str, Any]:
    return {"a1": [paraphrase("a1", 0), paraphrase("a1", 1)], "b1": [paraphrase("b1", 0)]}


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("is_compressed", [False, True])
def test_results_become_a_table_of_predictions(tmp_path: Path, is_compressed: bool) -> None:
    path = write(tmp_path / "human.json", make_results())
    if is_compressed:
        path = tmp_path / "human.json.gz"
        path.write_bytes(gzip.compress((tmp_path / "human.json").read_bytes()))
    predictions = read_paranlu(path)
    assert paranlu_kind(path) == "results"
    assert predictions.label_names == ("weakener", "strengthener")
    assert predictions.versions == ("original", "paraphrase")
    table = predictions.table
    assert table["item"].to_pylist() == ["a1"] * 4 + ["b1"] * 2
    assert table["copy"].to_pylist() == [0, 0, 1, 2, 0, 0]
    assert predictions.correct.tolist() == [True, True, False, True, False, False]
    assert table["confidence"].to_pylist() == [0.8, 0.9, 0.2, 0.75, 0.3, 0.4]
    assert table["update"].to_pylist()[:2] == ["It is a1.", "Now it is a1, the 0th time."]
    assert table["premise"].to_pylist() == ["A man sleeps."] * 6
    assert table["cluster"].to_pylist() == ["pair of a"] * 4 + ["pair of b"] * 2
    result = find_wordings(predictions, cluster="cluster").measure(n_resamples=100)
    assert (result.n_buckets, result.n_clusters, result.n_single) == (2, 2, 1)
    assert result["p_c_unbiased"].value == pytest.approx(1 / 3)
    assert result["confidence_change"].value == pytest.approx(
        ((0.9 + 0.2 + 0.75) / 3 - 0.8 + 0.1) / 2
    )
    # Through the project's own file and back.
    predictions.write(tmp_path / "table.parquet")
    again = type(predictions).read(tmp_path / "table.parquet")
    assert (
        find_wordings(again).count().theta.tolist()
        == find_wordings(predictions).count().theta.tolist()
    )


def test_a_test_set_has_originals_only(tmp_path: Path) -> None:
    path = write(tmp_path / "test.json", make_test_set())
    assert paranlu_kind(path) == "test set"
    predictions = read_paranlu(path)
    assert predictions.versions == ("original",)
    assert predictions.label_names == ("weakener", "strengthener")
    assert predictions.correct.tolist() == [True, False]
    assert find_confidence(predictions).tolist() == [0.75, 0.25]
    with pytest.raises(InputError, match="there is no paraphrase"):
        find_wordings(predictions)


def test_confidence_comes_from_probabilities_where_there_is_no_column(tmp_path: Path) -> None:
    predictions = read_paranlu(write(tmp_path / "human.json", make_results()))
    bare = type(predictions)(
        table=predictions.table.drop_columns(["confidence"]), label_names=predictions.label_names
    )
    found, expected = find_wordings(bare), find_wordings(predictions)
    assert found.confidence == pytest.approx(np.asarray(expected.confidence))


def test_paraphrases_become_texts_with_their_originals(tmp_path: Path) -> None:
    path = write(tmp_path / "paraphrases.json", make_paraphrases())
    assert paranlu_kind(path) == "paraphrases"
    table = read_paranlu_texts(path, version="human")
    assert table["item"].to_pylist() == ["a1", "a1", "a1", "b1", "b1"]
    assert table["version"].to_pylist() == ["original", "human", "human", "original", "human"]
    assert table["gold"].to_pylist() == ["strengthener"] * 5
    assert table["update"][0].as_py() == "It is a1."
    assert table["update"][4].as_py() == "Now it is b1, the 0th time."
    assert table["hypothesis"].to_pylist() == ["He is tired."] * 5
    # Results hold the same texts.
    results = make_results()
    own = read_paranlu_texts(write(tmp_path / "human.json", results), version="human")
    assert own.num_rows == 6
    assert own.column_names == table.column_names


def test_the_published_paraphrases_are_read(shared: Path) -> None:
    folder = shared / "data" / "paranlu"
    abductive = read_paranlu_texts(folder / "anli_paraphrases_human.json.gz")
    defeasible = read_paranlu_texts(folder / "snli_paraphrases_human.json.gz")
    assert abductive.num_rows == 2098 + 250
    assert defeasible.num_rows == 1980 + 250
    assert {"obs1", "hyp1", "hyp2", "obs2"} < set(abductive.column_names)
    assert set(abductive["gold"].to_pylist()) == {"hyp1", "hyp2"}
    assert len(set(defeasible["cluster"].to_pylist())) == 127
    of_results = read_paranlu_texts(folder / "results" / "anli_human_bilstm.json.gz")
    assert of_results.equals(abductive)


def test_paraphrases_are_no_predictions_and_the_other_way_round(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without predictions"):
        read_paranlu(write(tmp_path / "a.json", make_paraphrases()))
    with pytest.raises(InputError, match="but no texts"):
        read_paranlu_texts(write(tmp_path / "b.json", make_test_set()))


def test_an_original_without_paraphrases_is_counted(tmp_path: Path) -> None:
    content = make_results() | {"c1": bucket("c1", [0.9])}
    result = find_wordings(read_paranlu(write(tmp_path / "a.json", content))).measure(n_resamples=9)
    assert (result.n_buckets, result.n_without_paraphrases) == (2, 1)


def _set(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


def _drop(*path: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        del content[path[-1]]

    return change


_FIRST = ("a1", "bucket_confidences", 1)
_ITS = ("a1", "bucket_confidences", 0, "paraphrased_example")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop("a1", "gold_label"), "a1: has no 'gold_label'"),
        (_set("a1", "gold_label", value=2), "a1: its gold_label is 2"),
        (_set("a1", "gold_label", value="1"), "'gold_label' is '1'"),
        (_set("a1", "gold_label", value=True), "wrong type"),
        (_set("b1", value=[]), r"b1: is \[\]; an object expected"),
        (_set(*_FIRST, value=7), "a1, paraphrase 1: is 7; an object expected"),
        (_drop(*_FIRST, "confidence"), "a1, paraphrase 1: has no 'confidence'"),
        (_set(*_FIRST, "confidence", value=[0.4, 0.4]), "paraphrase 1: its .* add up to 0.8"),
        (_set(*_FIRST, "confidence", value=[1.5, -0.5]), r"confidence 1.5; numbers in \[0, 1\]"),
        (_set(*_FIRST, "confidence", value=[float("nan"), 1]), "confidence nan"),
        (_set(*_FIRST, "confidence", value=["x", 1]), "confidence 'x'"),
        (_set(*_FIRST, "confidence", value=[0.5, 0.3, 0.2]), "3 confidences, but the first has 2"),
        (_set(*_FIRST, "prediction", value=2), "the prediction 2, but 2 confidences"),
        (
            _set(*_FIRST, "prediction", value=1),
            r"1: its prediction is 1, but its confidence in 0 is larger \(\[0.8, 0.2\]\)",
        ),
        (_set("a1", "original_prediction", value=0), "a1: its prediction is 0, but its confidence"),
        (_set(*_FIRST, "paraphrased_example", "original_example_id", value="b1"), "paraphrase of"),
        (
            _set(*_FIRST, "paraphrased_example", "original_example", "label", value=0),
            "original_example has the label 0, but that of its item is 1",
        ),
        (
            _set(*_FIRST, "paraphrased_example", "original_example", "update_type", value="weak"),
            "original_example has the update_type 'weak', but that of its item is 'str",
        ),
        (
            _set(*_ITS, "original_example", "update_type", value="weakener"),
            "a1: its original_example has the update_type 'weakener', and 'strengthener' is exp",
        ),
        (
            _set(*_ITS, "original_example", "example_id", value="b1"),
            "a1: its original_example has the example_id 'b1', and 'a1' is expected",
        ),
        (_set(*_FIRST, "paraphrased_example", "paraphrase_id", value="a1.0"), "occurs twice"),
        (
            _set(*_FIRST, "paraphrased_example", "update_paraphrase", value=None),
            (
                "a1, paraphrase 1: has no text: premise_paraphrase, hypothesis_paraphrase, "
                "update_paraphrase are all missing or null"
            ),
        ),
        (
            _drop(*_FIRST, "paraphrased_example", "update_paraphrase"),
            "a1, paraphrase 1: has no text: .*; fill in what is reworded, or leave the paraphrase",
        ),
        (
            _set(*_FIRST, "paraphrased_example", "original_example", "update", value="Other."),
            (
                "a1, paraphrase 1: its original_example has the update 'Other.', but that of its "
                "item is 'It is a1.'; correct one of them"
            ),
        ),
        (
            _drop(*_FIRST, "paraphrased_example", "original_example", "premise"),
            "paraphrase 1: its original_example has the premise null, but that of its item is 'A",
        ),
        (
            _set(*_FIRST, "paraphrased_example", "original_example", "hypothesis", value="x"),
            "paraphrase 1: its original_example has the hypothesis 'x', but",
        ),
        (
            _set(
                *_FIRST,
                "paraphrased_example",
                "original_example",
                "premise_hypothesis_id",
                value="x",
            ),
            "paraphrase 1: its original_example has the premise_hypothesis_id 'x', but",
        ),
        (
            _drop(
                "a1", "bucket_confidences", 0, "paraphrased_example", "original_example", "update"
            ),
            "has no 'update'",
        ),
    ],
)
def test_damaged_results_are_refused(
    tmp_path: Path, change: Callable[[Any], None], message: str
) -> None:
    content = make_results()
    change(content)
    path = write(tmp_path / "broken.json", content)
    with pytest.raises(InputError, match=f"broken.json.*{message}"):
        read_paranlu(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop(1, "label"), "entry 1: has no 'label'"),
        (_set(1, "example_id", value="snli.test.0"), "entry 1: has the example_id"),
        (_set(1, value=None), "entry 1: is null"),
        (_set(1, "prediction", value=0), "entry 1: its prediction is 0, but its confidence in 1"),
    ],
)
def test_damaged_test_sets_are_refused(
    tmp_path: Path, change: Callable[[Any], None], message: str
) -> None:
    content = make_test_set()
    change(content)
    with pytest.raises(InputError, match=message):
        read_paranlu(write(tmp_path / "broken.json", content))


def test_of_two_confidences_that_tie_either_may_be_predicted(tmp_path: Path) -> None:
    for prediction in (0, 1):
        content = make_test_set()
        content[0] |= {"confidence": [0.5, 0.5], "prediction": prediction}
        found = read_paranlu(write(tmp_path / "a.json", content))
        assert found.correct.tolist() == [prediction == 1, False]


@pytest.mark.slow
def test_every_published_answer_is_the_likeliest(shared: Path) -> None:
    paths = sorted((shared / "data" / "paranlu" / "results").glob("*.json.gz"))
    assert sum(len(read_paranlu(path)) for path in paths) == 53_113
    assert len(paths) == 23


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"[]", "no file of ParaNLU"),
        (b"{}", "no file of ParaNLU"),
        (b'{"a": 1}', "no file of ParaNLU"),
        (b'{"a": [], "a": []}', "the key 'a' stands there twice"),
        (b"\xff\xfe", "UTF-8 expected"),
        (gzip.compress(b"{" * 1000, mtime=0)[:-9], "cannot be decompressed"),
        (b"\x1f\x8bnothing", "cannot be decompressed"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_paranlu(path)
    assert paranlu_kind(path) is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.json"):
        read_paranlu(tmp_path / "nowhere.json")


def test_wordings_of_several_classifiers_are_told_apart(tmp_path: Path) -> None:
    import pyarrow as pa

    one = read_paranlu(write(tmp_path / "a.json", make_results()))
    parts = [
        type(one)(
            table=one.table.append_column("model", pa.array([name] * len(one))),
            label_names=one.label_names,
        )
        for name in ("x", "y")
    ]
    both = type(one).concat(parts)
    with pytest.raises(InputError, match="say which by model"):
        find_wordings(both)
    assert find_wordings(both, model="y").count().n_paraphrases == 4
    with pytest.raises(InputError, match="no version 'z'; it has original, paraphrase"):
        find_wordings(one, versions=["z"])
    with pytest.raises(InputError, match="premisses"):
        find_wordings(one, cluster="premisses")


@pytest.mark.parametrize(
    ("worker", "known"), [("W", "W"), (7, "7"), (["a", "b"], '["a", "b"]'), ({"a": 1}, '{"a": 1}')]
)
def test_workers_have_names_of_any_type(tmp_path: Path, worker: Any, known: str) -> None:
    listed = {"a1": [paraphrase("a1", 0, worker_id=worker), paraphrase("a1", 1)]}
    table = read_paranlu_texts(write(tmp_path / "texts.json", listed))
    assert table["worker_id"].to_pylist() == [None, known, "W"]
    answered = make_results()
    answered["a1"]["bucket_confidences"][0]["paraphrased_example"]["worker_id"] = worker
    predictions = read_paranlu(write(tmp_path / "results.json", answered))
    assert predictions.table["worker_id"].to_pylist()[:3] == [None, known, "W"]


def test_paraphrases_for_a_model_have_texts_and_one_original(tmp_path: Path) -> None:
    listed = make_paraphrases()
    listed["a1"][1]["update_paraphrase"] = None
    path = write(tmp_path / "texts.json", listed)
    with pytest.raises(InputError, match=r"texts\.json, a1, paraphrase 1: has no text"):
        read_paranlu_texts(path)
    listed["a1"][1]["premise_paraphrase"] = "One man sleeps."  # reworded, too
    table = read_paranlu_texts(write(path, listed))
    assert table["premise"].to_pylist()[:3] == ["A man sleeps.", "A man sleeps.", "One man sleeps."]
    listed["a1"][1]["original_example"]["update"] = "It is not."
    with pytest.raises(InputError, match="its original_example has the update 'It is not"):
        read_paranlu_texts(write(path, listed))


def test_equal_paraphrases_are_counted_and_stay(tmp_path: Path) -> None:
    """One of the published ones is another's equal, so the published numbers have it."""
    content = make_results()
    first, second = (
        each["paraphrased_example"] for each in content["a1"]["bucket_confidences"][:2]
    )
    second["update_paraphrase"] = first["update_paraphrase"]
    path = write(tmp_path / "human.json", content)
    profile = ie.consistency(str(path), n_resamples=50)
    assert profile.result.n_paraphrases == 4
    (said,) = (line for line in profile.warnings if line.startswith("Warning"))
    assert said.startswith("Warning: 1 of 4 paraphrases has the texts (premise, hypothesis, update")
    assert "version 'paraphrase' of item 'a1', for one" in said
