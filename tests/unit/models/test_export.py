from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")
pytest.importorskip("onnxscript", reason="needs the train extra")

from ietest_fast.errors import InputError
from ietest_fast.models.checkpoint import load_classifier
from ietest_fast.models.evaluation import score_versions
from ietest_fast.models.export import check_export, export_onnx
from ietest_fast.models.onnx import OnnxClassifier
from tiny_models import LABELS, make_tokenizer, random_texts

STYLES = ("bert", "roberta", "albert", "distilbert")


def make_checkpoint(folder, family):
    import torch
    import transformers

    style = "roberta" if family == "roberta" else "bert"
    tokenizer = make_tokenizer(style)
    sizes = {
        "vocab_size": tokenizer.get_vocab_size(),
        "max_position_embeddings": 40,
        "pad_token_id": 1 if style == "roberta" else 0,
        "id2label": dict(enumerate(LABELS)),
        "label2id": {name: i for i, name in enumerate(LABELS)},
    }
    if family == "distilbert":
        sizes |= {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
    else:
        sizes |= {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
        sizes |= {"intermediate_size": 32}
    if family == "albert":
        sizes |= {"embedding_size": 8}
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, **sizes)
    # Large weights: small ones would leave all labels to rounding.
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.mul_(8)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    padding = {"pad_token": "<pad>" if style == "roberta" else "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(padding))


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    folders = {}
    for family in STYLES:
        folders[family] = tmp_path_factory.mktemp(family)
        make_checkpoint(folders[family], family)
    return folders


@pytest.mark.parametrize("family", STYLES)
def test_an_export_gives_pytorchs_logits(checkpoints, tmp_path, family):
    folder = export_onnx(checkpoints[family], tmp_path / "onnx")
    texts = [random_texts(150, seed=1, longest=30), random_texts(150, seed=2, longest=30)]
    found = check_export(checkpoints[family], folder, texts)
    assert (found.n, found.n_flipped) == (150, 0)
    assert found.largest_difference < 1e-4
    model = OnnxClassifier.load(folder)
    assert model.labels == LABELS
    # And on one text instead of two, with other sizes of batches.
    table = pa.table({"text": texts[0]})
    scores = score_versions(model, table, table, ["text"])
    assert np.isfinite(scores.original).all()


def test_int8_is_smaller_and_its_flips_are_counted(checkpoints, tmp_path):
    sizes = {}
    for precision in ("fp32", "int8"):
        folder = export_onnx(checkpoints["bert"], tmp_path / precision, precision=precision)
        sizes[precision] = (folder / "model.onnx").stat().st_size
        found = check_export(checkpoints["bert"], folder, [random_texts(200, seed=3)])
        assert found.largest_difference > 0
    assert found.largest_difference > 1e-3
    assert found.n_flipped <= 60
    assert sizes["int8"] < sizes["fp32"]


def test_fp16_is_half_as_large_and_nearly_the_same(checkpoints, tmp_path):
    sizes = {}
    for precision in ("fp32", "fp16"):
        folder = export_onnx(checkpoints["bert"], tmp_path / precision, precision=precision)
        sizes[precision] = (folder / "model.onnx").stat().st_size
    found = check_export(checkpoints["bert"], folder, [random_texts(200, seed=3)])
    assert 0 < found.largest_difference < 0.01
    assert sizes["fp16"] < sizes["fp32"]


def test_the_command_line_exports_and_says_what_changed(checkpoints, tmp_path):
    from click.testing import CliRunner

    from ietest_fast.cli.main import cli

    texts = tmp_path / "texts.csv"
    lines = [f"{text or 'a'},{LABELS[i % 3]}" for i, text in enumerate(random_texts(60, seed=5))]
    texts.write_text("text,label\n" + "\n".join(lines) + "\n")
    arguments = ["export", str(checkpoints["bert"]), str(tmp_path / "out"), "--check", str(texts)]
    done = CliRunner().invoke(cli, [*arguments, "--n-check", "50", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.output)
    assert (said["n_checked"], said["n_flipped"], said["precision"]) == (50, 0, "fp32")
    assert said["model_bytes"] == (tmp_path / "out" / "model.onnx").stat().st_size
    again = CliRunner().invoke(cli, arguments)
    assert again.exit_code == 1
    other = CliRunner().invoke(
        cli,
        ["export", str(checkpoints["bert"]), str(tmp_path / "eight"), "--precision", "int8"],
    )
    assert other.exit_code == 0, other.output
    assert "on 1,000 inputs" in other.output
    assert "labels are others" in other.output


def test_what_is_no_classifier_is_refused_and_nothing_is_left(checkpoints, tmp_path):
    from transformers import AutoModel

    encoder = tmp_path / "encoder"
    AutoModel.from_pretrained(checkpoints["bert"]).save_pretrained(encoder)
    (encoder / "tokenizer.json").write_bytes((checkpoints["bert"] / "tokenizer.json").read_bytes())
    with pytest.raises(InputError, match=r"no fine-tuned classifier.*classifier\.weight"):
        export_onnx(encoder, tmp_path / "out")
    with pytest.raises(InputError, match=r"no config\.json"):
        load_classifier(tmp_path)
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="there already"):
        export_onnx(checkpoints["bert"], tmp_path / "there")
    with pytest.raises(InputError, match="the precision is one of"):
        export_onnx(checkpoints["bert"], tmp_path / "out", precision="fp4")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["encoder", "there"]
