"""What the settings of a model say of its outputs: one logit, several labels, contradictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("onnx", reason="makes the models that are tested")

import ietest_fast as ie
from command_line import run_here
from ietest_fast.errors import InputError
from ietest_fast.models import as_classifier
from ietest_fast.models.classifiers import Head
from ietest_fast.models.label_map import read_head
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from tiny_models import make_bert, make_onnx_folder, make_tokenizer, random_texts

CONFIG = Path("config.json")
THREE = {"0": "entailment", "1": "neutral", "2": "contradiction"}


@pytest.mark.parametrize(
    ("config", "n_outputs", "message"),
    [
        ({"problem_type": "regression"}, 1, 'problem_type is "regression": the model gives a num'),
        ({"problem_type": "regression", "id2label": THREE}, 3, "ie.paired_test"),
        (
            {"problem_type": "multi_label_classification", "id2label": THREE},
            3,
            "any number of its labels may hold .* one label at a time",
        ),
        ({"problem_type": "multi_label_classification"}, None, "any number of its labels may hold"),
        ({"id2label": THREE}, 2, "id2label names 3 labels, but the model has 2 outputs"),
        ({"id2label": {"0": "yes"}}, 2, "id2label names 1 label, but the model has 2 outputs"),
        ({"id2label": {"0": "a", "1": "b"}}, 1, "names 2 labels, but the model has 1 output"),
        ({"id2label": THREE, "num_labels": 2}, None, "num_labels is 2 and id2label's labels are 3"),
        ({"num_labels": 2}, 3, "num_labels is 2 and the model's outputs are 3"),
        ({"id2label": ["a", "b"]}, 2, "id2label is a list; an object of numbers and names"),
        (
            {"id2label": THREE, "label2id": {"contradiction": 0, "neutral": 1, "entailment": 2}},
            3,
            "id2label calls the label 0 'entailment', and label2id numbers it 2",
        ),
        (
            {"id2label": {"0": "no", "1": "yes"}, "label2id": {"No": 1, "Yes": 0}},
            2,
            "the label 0 'no', and label2id numbers it 1",
        ),
        (
            {"id2label": THREE, "label2id": {"entailment": 0, "other": 1}},
            3,
            "the label 1 'neutral', and label2id has no such label",
        ),
    ],
)
def test_settings_that_choose_no_label_or_contradict_each_other(
    config: dict[str, Any], n_outputs: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_head(config, n_outputs, CONFIG)
    assert "config.json" in str(caught.value)


@pytest.mark.parametrize(
    "label2id",
    [
        {"entailment": 0, "neutral": 1, "contradiction": 2},
        {"ENTAILMENT": "0", "Neutral": "1", "Contradiction": "2"},
        {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
        {},
        None,
    ],
)
def test_a_label2id_that_agrees_or_says_nothing(label2id: Any) -> None:
    head = read_head({"id2label": THREE, "label2id": label2id, "num_labels": 3}, 3, CONFIG)
    assert head == Head(labels=("entailment", "neutral", "contradiction"))
    assert head.n_outputs == 3


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}},
        {"id2label": {"0": "duplicate"}, "problem_type": "multi_label_classification"},
    ],
)
def test_one_logit_is_a_yes_or_no(config: dict[str, Any]) -> None:
    head = read_head(config, 1, CONFIG)
    assert (head.labels, head.threshold, head.n_outputs) == (("LABEL_0", "LABEL_1"), 0.5, 1)
    logits = np.array([[-200.0], [-1e-6], [0.0], [1.5], [200.0]], dtype=np.float32)
    scores = head.score(logits)
    expected = 1 / (1 + np.exp(-logits[:, 0].astype(np.float64)))
    np.testing.assert_allclose(scores.probabilities[:, 1], expected, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(scores.probabilities[:, 0], 1 - expected, rtol=1e-5, atol=1e-6)
    assert scores.predicted.tolist() == [0, 0, 1, 1, 1]
    strict = read_head(config, 1, CONFIG, threshold=0.9)
    assert strict.score(logits).predicted.tolist() == [0, 0, 0, 0, 1]
    assert strict.settings != head.settings
    with pytest.raises(InputError, match="scores of 1 of 1 inputs are no numbers"):
        head.score(np.array([[np.nan]], np.float32))


@pytest.mark.parametrize("threshold", [0, 1, -0.5, float("nan")])
def test_thresholds_that_are_none(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold must be between 0 and 1"):
        read_head({}, 1, CONFIG, threshold=threshold)


def test_a_threshold_is_for_one_logit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one logit, and this one has 3 outputs"):
        read_head({"id2label": THREE}, 3, CONFIG, threshold=0.5)
    with pytest.raises(InputError, match="gives labels or probabilities itself"):
        as_classifier(len, labels=("a", "b"), threshold=0.5)


def _pairs(n: int) -> pd.DataFrame:
    texts = random_texts(n, seed=3, longest=8), random_texts(n, seed=4, longest=8)
    first = [f"{text} couch" for text in texts[0]]
    return pd.DataFrame({"premise": first, "hypothesis": [f"a {text}" for text in texts[1]]})


def _logits(weights: np.ndarray, frame: pd.DataFrame) -> np.ndarray:
    tokenizer = make_tokenizer()
    ids = [tokenizer.encode(a, b).ids for a, b in zip(*frame.to_numpy().T, strict=True)]
    return np.array([weights[row].sum() for row in ids])


@pytest.mark.slow
def test_eval_of_an_onnx_file_with_one_logit(tmp_path: Path) -> None:
    weights = make_onnx_folder(tmp_path / "model", labels=("LABEL_0",))
    frame = _pairs(80)
    logits = _logits(weights, frame)
    frame["label"] = np.where(logits >= 0, "yes", "no")
    frame.to_csv(tmp_path / "test.csv", index=False)
    told = ["eval", "--onnx", str(tmp_path / "model"), "--test", str(tmp_path / "test.csv")]
    told += ["--phi", "words:mapping=" + str(tmp_path / "words.csv"), "--json"]
    (tmp_path / "words.csv").write_text("old,new\ncouch,sofa\n")
    out = tmp_path / "answers.parquet"
    assert "nobody can tell which is which" in run_here(*told, folder=tmp_path)[2]
    named = [*told, "--label-map", "0=no,1=yes", "--out", str(out)]
    status, said, err = run_here(*named, folder=tmp_path)
    assert status == 0, err
    table = pd.read_parquet(out)
    table = table[table["version"] == "original"]
    assert (table["predicted"] == table["gold"]).all()
    chances = np.stack(table["probabilities"].to_list())
    np.testing.assert_allclose(chances[:, 1], 1 / (1 + np.exp(-logits)), rtol=1e-4, atol=1e-6)
    status, moved, err = run_here(*named, "--threshold", "0.9", folder=tmp_path)
    assert status == 0, err
    again = pd.read_parquet(out)
    again = again[again["version"] == "original"]["predicted"]
    assert (again == np.where(logits >= np.log(9), "yes", "no")).all()
    assert json.loads(said)["signature"] != json.loads(moved)["signature"]
    model = OnnxClassifier.load(tmp_path / "model")
    found = ie.evaluate(
        tmp_path / "model",
        frame,
        phi="words:mapping=" + str(tmp_path / "words.csv"),
        labels=["no", "yes"],
        threshold=0.9,
    )
    own = found.predictions.table.to_pandas()
    assert (own[own["version"] == "original"]["predicted"].to_numpy() == again.to_numpy()).all()
    assert model.labels == ("LABEL_0", "LABEL_1")


@pytest.mark.parametrize(
    ("labels", "config", "message"),
    [
        (("a", "b", "c"), {"problem_type": "multi_label_classification"}, "any number of its lab"),
        (("a",), {"problem_type": "regression"}, "the model gives a number, not a label"),
        (("a", "b", "c"), {"num_labels": 2}, "num_labels is 2 and id2label's labels are 3"),
        (("a", "b"), {"label2id": {"a": 1, "b": 0}}, "label2id numbers it 1"),
    ],
)
def test_an_onnx_folder_that_contradicts_itself_is_refused(
    labels: tuple[str, ...], config: dict[str, Any], message: str, tmp_path: Path
) -> None:
    make_onnx_folder(tmp_path, labels=labels, config=config)
    with pytest.raises(InputError, match=message):
        as_classifier(tmp_path)


def _spread_logits(folder: Path, table: pa.Table) -> None:
    """Make the logits of a random model lie around 0, and differ from text to text."""
    from transformers import BertForSequenceClassification

    from ietest_fast.models.checkpoint import CheckpointClassifier

    model = BertForSequenceClassification.from_pretrained(folder)
    for name, weight in model.bert.named_parameters():
        if "weight" in name and "LayerNorm" not in name:
            weight.data *= 10
    model.save_pretrained(folder)
    logits = CheckpointClassifier(str(folder), precision="fp32").score(table).logits
    assert logits is not None
    scale = 2 / float(logits.std())
    model.classifier.weight.data *= scale
    model.classifier.bias.data -= scale * float(np.median(logits))
    model.save_pretrained(folder)


@pytest.mark.train
@pytest.mark.slow
def test_torch_onnx_and_a_pipeline_agree_on_one_logit(tmp_path: Path) -> None:
    import transformers

    from ietest_fast.models.checkpoint import CheckpointClassifier
    from ietest_fast.models.onnx_models.export import export_onnx

    make_bert(tmp_path / "torch", labels=("LABEL_0",))
    settings: dict[str, Any] = {"pad_token": "[PAD]", "model_max_length": 48}
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    settings["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    (tmp_path / "torch" / "tokenizer_config.json").write_text(json.dumps(settings))
    frame = _pairs(60)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    _spread_logits(tmp_path / "torch", table)
    texts = [frame["premise"].to_list(), frame["hypothesis"].to_list()]
    exported = export_onnx(tmp_path / "torch", tmp_path / "onnx", texts=texts)
    assert exported.check is not None
    assert exported.check.n_flipped == 0
    torch = CheckpointClassifier(str(tmp_path / "torch"), precision="fp32", threshold=0.7)
    expected = torch.score(table)
    assert expected.probabilities is not None
    pipeline = transformers.pipeline(
        "text-classification", model=str(tmp_path / "torch"), device="cpu"
    )
    onnx = as_classifier(tmp_path / "onnx", threshold=0.7)
    for model in (torch, onnx, as_classifier(pipeline, threshold=0.7)):
        classifier = as_classifier(model, labels=("no", "yes"))
        scores = classifier.score(table)
        assert scores.probabilities is not None
        np.testing.assert_allclose(scores.probabilities, expected.probabilities, atol=1e-3)
        assert (scores.predicted == (scores.probabilities[:, 1] >= 0.7)).all()
        assert 0 < scores.predicted.mean() < 1
        assert classifier.labels == ("no", "yes")
    for kind, message in (
        ("regression", "the model gives a number"),
        ("multi_label_classification", "any number of its labels"),
    ):
        folder = tmp_path / kind
        make_bert(folder, labels=("a", "b") if kind.startswith("m") else ("a",))
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "problem_type": kind}))
        with pytest.raises(InputError, match=message):
            as_classifier(folder)
        with pytest.raises(InputError, match=message):
            export_onnx(folder, tmp_path / "out")
