from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")
pytest.importorskip("onnxscript", reason="needs the train extra")

from ietest_fast.answers.asking import score_table
from ietest_fast.errors import InputError
from ietest_fast.models.checkpoint import load_classifier
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from ietest_fast.models.onnx_models.export import check_export, export_onnx
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.transformer import Transformer
from tiny_models import LABELS, make_tokenizer, random_texts

pytestmark = pytest.mark.train

STYLES = ("bert", "roberta", "albert", "distilbert")

LEARNING = {
    "epochs": 40,
    "max_length": 40,
    "learning_rate": 2e-3,
    "weight_decay": 0.0,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 1.0,
}


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
        # And a head that gives every label to some texts.
        some = tokenizer.encode_batch(random_texts(100, seed=7, longest=20))
        logits = [model.eval()(torch.tensor([each.ids])).logits[0] for each in some]
        heads = [p for name, p in model.named_parameters() if name.endswith("bias")]
        head = [bias for bias in heads if bias.shape == (len(LABELS),)][-1]
        head.sub_(torch.stack(logits).median(dim=0).values)
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
    folder = export_onnx(checkpoints[family], tmp_path / "onnx").folder
    texts = [random_texts(150, seed=1, longest=30), random_texts(150, seed=2, longest=30)]
    found = check_export(checkpoints[family], folder, texts)
    assert (found.n, found.n_flipped) == (150, 0)
    assert found.largest_difference < 1e-4
    model = OnnxClassifier.load(folder)
    assert model.labels == LABELS
    # And on one text instead of two, with other sizes of batches.
    table = pa.table({"text": texts[0]})
    scores = score_table(model, table, ["text"])
    assert np.isfinite(scores.scores.logits).all()


def largest_int8_factor(folder):
    """Give the largest of the 8-bit weights that matrix products multiply by."""
    import onnx

    graph = onnx.load(str(folder / "model.onnx")).graph
    weights = {each.name: each for each in graph.initializer}
    made_by = {name: node for node in graph.node for name in node.output}
    largest = 0
    for node in graph.node:
        if "MatMul" not in node.op_type and node.op_type != "Gemm":
            continue
        for factor in node.input:
            name = factor
            while name in made_by and made_by[name].op_type in ("DequantizeLinear", "Transpose"):
                name = made_by[name].input[0]
            weight = weights.get(name)
            if weight is not None and weight.data_type == onnx.TensorProto.INT8:
                values = onnx.numpy_helper.to_array(weight)
                if values.ndim > 1:
                    largest = max(largest, int(np.abs(values.astype(int)).max()))
    return largest


def test_int8_is_smaller_and_its_flips_are_counted(checkpoints, tmp_path):
    sizes = {}
    for precision in ("fp32", "int8"):
        folder = export_onnx(checkpoints["bert"], tmp_path / precision, precision=precision).folder
        sizes[precision] = (folder / "model.onnx").stat().st_size
        found = check_export(checkpoints["bert"], folder, [random_texts(200, seed=3)])
        assert found.largest_difference > 0
    assert found.largest_difference > 1e-3
    assert found.n_flipped <= 60
    assert sizes["int8"] < sizes["fp32"]
    # More would overflow 16-bit sums of two products on a processor without VNNI.
    assert 0 < largest_int8_factor(folder) <= 64


def _teach(checkpoint, folder):
    """Write a classifier that has learnt to count two words; random ones leave all to rounding."""
    premise, hypothesis = (random_texts(400, seed=seed, longest=20) for seed in (11, 12))
    labels = np.array([("boy" in text) + ("dog" in text) for text in hypothesis], np.int8)
    table = pa.table({"premise": premise, "hypothesis": hypothesis})
    texts = SplitTexts(versions={"original": table}, labels=labels)
    model = Transformer(checkpoint=str(checkpoint), precision="fp32", token_budget=600)
    split = model.encode({"train": texts}, table.column_names)["train"]
    fitted = model.fit(split.resample(), None, params=LEARNING, n_classes=3, seed=1)
    folder.mkdir()
    fitted.save(folder, label_names=LABELS)
    return np.mean(fitted.predict(split.store, split.original) == labels)


@pytest.mark.parametrize("family", ["bert", "albert"])  # whose layers share their weights
def test_measured_ranges_cost_few_labels(checkpoints, tmp_path, family):
    pytest.importorskip("nncf", reason="needs the int8 extra")
    import onnx

    taught = tmp_path / "taught"
    assert _teach(checkpoints[family], taught) > 0.8
    columns = [random_texts(150, seed=seed, longest=20) for seed in (1, 2)]
    exported = export_onnx(taught, tmp_path / "eight", precision="int8", calibration=columns)
    operators = {n.op_type for n in onnx.load(str(exported.folder / "model.onnx")).graph.node}
    assert {"QuantizeLinear", "DequantizeLinear"} <= operators
    assert not any(name.startswith(("Dynamic", "QLinear")) for name in operators)
    assert 0 < largest_int8_factor(exported.folder) <= 64
    unseen = [random_texts(200, seed=seed, longest=20) for seed in (3, 4)]
    found = check_export(taught, exported.folder, unseen)
    assert found.largest_difference > 1e-3
    assert found.n_flipped <= 10
    # What OpenVINO makes of the same file is another rounding of the same sums.
    pytest.importorskip("openvino", reason="needs the openvino extra")
    table = pa.table({"premise": unseen[0], "hypothesis": unseen[1]})
    labels = {}
    for runtime in ("onnxruntime", None):
        model = OnnxClassifier.load(exported.folder, runtime=runtime)
        scores = score_table(model, table, table.column_names)
        labels[model.backend.split()[0]] = scores.scores.predicted
    one, other = labels["onnxruntime"], labels["openvino"]
    assert len(set(one)) > 1
    assert (one != other).sum() <= 5


def test_ranges_are_for_int8_and_need_texts_and_nncf(checkpoints, tmp_path, monkeypatch):
    texts = [random_texts(5, seed=1)]
    with pytest.raises(InputError, match="ranges are measured for int8, not for fp32"):
        export_onnx(checkpoints["bert"], tmp_path / "out", calibration=texts)
    with pytest.raises(InputError, match=r"compare on are of 2 columns, .* measure ranges on of 1"):
        export_onnx(
            checkpoints["bert"],
            tmp_path / "out",
            precision="int8",
            texts=texts * 2,
            calibration=texts,
        )
    with pytest.raises(InputError, match="no texts to measure ranges on"):
        export_onnx(checkpoints["bert"], tmp_path / "out", precision="int8", calibration=[[]])
    monkeypatch.setitem(sys.modules, "nncf", None)
    with pytest.raises(InputError, match=r"pip install 'ietest-fast\[int8\]'"):
        export_onnx(checkpoints["bert"], tmp_path / "out", precision="int8", calibration=texts)
    assert not list(tmp_path.iterdir())


def test_what_nncf_stumbles_over_is_told_and_nothing_is_left(
    checkpoints, tmp_path, monkeypatch, capsys
):
    nncf = pytest.importorskip("nncf", reason="needs the int8 extra")

    def fail(*arguments, **options):
        capsys.readouterr()  # what the exporter said
        for stream in (sys.stdout, sys.stderr):
            print("[1/5] of something", file=stream)
        raise RuntimeError("no such operator")

    monkeypatch.setattr(nncf, "quantize", fail)
    texts = [random_texts(5, seed=1)]
    with pytest.raises(InputError, match="NNCF cannot quantise this model: no such operator"):
        export_onnx(checkpoints["bert"], tmp_path / "out", precision="int8", calibration=texts)
    assert tuple(capsys.readouterr()) == ("", "")
    assert not list(tmp_path.iterdir())


def test_texts_are_columns_of_one_size(checkpoints, tmp_path):
    three = [random_texts(n, seed=1) for n in (3, 3, 2)]
    arguments = checkpoints["bert"], tmp_path / "out"
    with pytest.raises(InputError, match="no texts to compare on"):
        export_onnx(*arguments, texts=[])
    with pytest.raises(InputError, match=r"compare on are one or two columns .* not of 3, 2"):
        export_onnx(*arguments, texts=three[1:])
    with pytest.raises(InputError, match=r"compare on are one or two columns .* not of 3, 3, 2"):
        check_export(*arguments, three)
    with pytest.raises(InputError, match=r"ranges on are one or two columns .* not of 3, 2"):
        export_onnx(*arguments, precision="int8", calibration=three[1:])


def test_nncf_does_not_report_what_it_is_used_for():
    """In a process of its own: inside pytest NNCF is silent by itself, as where these are set."""
    pytest.importorskip("nncf", reason="needs the int8 extra")
    pytest.importorskip("openvino_telemetry", reason="has nothing to report with")
    code = (
        "from ietest_fast.models.onnx_models.export import import_nncf; import_nncf()\n"
        "from unittest.mock import MagicMock\n"
        "from nncf.telemetry import telemetry; assert isinstance(telemetry, MagicMock), telemetry\n"
        "import openvino_telemetry"
    )
    silent = {"NNCF_CI", "NNCF_DEV"}
    environment = {name: value for name, value in os.environ.items() if name not in silent}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_fp16_is_half_as_large_and_nearly_the_same(checkpoints, tmp_path):
    sizes = {}
    for precision in ("fp32", "fp16"):
        folder = export_onnx(checkpoints["bert"], tmp_path / precision, precision=precision).folder
        sizes[precision] = (folder / "model.onnx").stat().st_size
    found = check_export(checkpoints["bert"], folder, [random_texts(200, seed=3)])
    assert 0 < found.largest_difference < 0.01
    # The graph itself does not shrink, and is most of so small a model.
    n_weights = sum(p.numel() for p in load_classifier(checkpoints["bert"]).parameters())
    assert sizes["fp32"] - sizes["fp16"] > 1.6 * n_weights


def test_weights_beyond_half_precision_are_refused_and_nothing_is_left(checkpoints, tmp_path):
    import torch

    model = load_classifier(checkpoints["bert"])
    with torch.no_grad():
        model.classifier.weight.mul_(1e6)  # the converter cuts them off
    large = tmp_path / "large"
    model.save_pretrained(large)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (large / name).write_bytes((checkpoints["bert"] / name).read_bytes())
    texts = [random_texts(50, seed=3)]
    with pytest.raises(InputError, match="in fp16 the exported model does not compute"):
        export_onnx(large, tmp_path / "out", precision="fp16", texts=texts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large"]
    check = export_onnx(large, tmp_path / "out", texts=texts).check
    assert check is not None
    assert check.n_flipped == 0


def test_an_export_that_computes_something_else_is_refused(checkpoints, tmp_path, monkeypatch):
    from ietest_fast.models.onnx_models import export

    def wrong(model, checkpoint, path):
        import torch

        with torch.no_grad():
            model.classifier.bias.add_(torch.tensor([0.5, 0.0, -0.5]))
        write(model, checkpoint, path)

    write = export._write_graph
    monkeypatch.setattr(export, "_write_graph", wrong)
    with pytest.raises(InputError, match=r"does not compute what PyTorch does: .* differ by 0\.5"):
        export_onnx(checkpoints["bert"], tmp_path / "out", texts=[random_texts(50, seed=3)])
    assert not list(tmp_path.iterdir())


def test_many_weights_get_a_file_of_their_own(checkpoints, tmp_path, monkeypatch):
    """As models beyond two gigabytes in the new precision are written."""
    from ietest_fast.models.onnx_models import export as quantisation

    texts = [random_texts(50, seed=3)]
    bert = checkpoints["bert"]
    inside = export_onnx(bert, tmp_path / "inside", precision="fp16", texts=texts)
    monkeypatch.setattr(quantisation, "_MOST_INSIDE", 0)
    apart = export_onnx(bert, tmp_path / "apart", precision="fp16", texts=texts)
    assert apart.check == inside.check
    assert (apart.folder / "model.onnx.data").is_file()
    assert apart.n_bytes > (apart.folder / "model.onnx").stat().st_size


@pytest.mark.parametrize("way", ["fp16", "int8, measured"])
def test_weights_in_a_file_of_their_own_are_not_left_behind(
    checkpoints, tmp_path, monkeypatch, way
):
    """As models beyond two gigabytes are written."""
    import onnx

    from ietest_fast.models.onnx_models import export

    write = export._write_graph

    def apart(model, checkpoint, path):
        write(model, checkpoint, path)
        whole = onnx.load(str(path))
        onnx.save(
            whole,
            str(path),
            save_as_external_data=True,
            location="model.onnx.data",
            size_threshold=256,
        )

    monkeypatch.setattr(export, "_write_graph", apart)
    one = export_onnx(checkpoints["bert"], tmp_path / "fp32", texts=[random_texts(50, seed=3)])
    assert (one.folder / "model.onnx.data").is_file()
    assert one.n_bytes > (one.folder / "model.onnx").stat().st_size
    before = OnnxClassifier.load(one.folder).fingerprint
    weights = bytearray((one.folder / "model.onnx.data").read_bytes())
    weights[-1] ^= 1
    (one.folder / "model.onnx.data").write_bytes(weights)
    assert OnnxClassifier.load(one.folder).fingerprint != before
    precision, _, measured = way.partition(", ")
    if measured:
        pytest.importorskip("nncf", reason="needs the int8 extra")
    texts = [random_texts(50, seed=3)]
    other = export_onnx(
        checkpoints["bert"],
        tmp_path / "other",
        precision=precision,
        texts=texts,
        calibration=texts if measured else None,
    )
    assert other.check.n_flipped <= 15
    assert [path.name for path in other.folder.glob("*.data")] == []
    assert other.n_bytes == (other.folder / "model.onnx").stat().st_size


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
    assert "labels differ." in other.output


def test_the_command_line_measures_ranges_all_over_a_file(checkpoints, tmp_path, monkeypatch):
    pytest.importorskip("nncf", reason="needs the int8 extra")
    from click.testing import CliRunner

    from ietest_fast.cli.main import cli
    from ietest_fast.models.onnx_models import export

    seen = []
    measure = export.quantise_statically
    monkeypatch.setattr(
        export,
        "quantise_statically",
        lambda path, feeds: (seen.extend(feeds), measure(path, feeds)),
    )
    texts = tmp_path / "texts.csv"
    lines = ["cat " * (1 + i // 4) + f",{LABELS[i % 3]}" for i in range(60)]
    texts.write_text("text,label\n" + "\n".join(lines) + "\n")
    arguments = ["export", str(checkpoints["bert"]), str(tmp_path / "out"), "--precision", "int8"]
    arguments += ["--calibrate", str(texts), "--json"]
    done = CliRunner().invoke(cli, [*arguments, "--n-calibrate", "12"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["n_calibrated"], said["n_checked"]) == (12, 48), "compared on the other rows"
    shapes = [feed["input_ids"].shape for feed in seen]
    assert [n_texts for n_texts, _ in shapes] == [1] * 12
    assert len(set(shapes)) == 12, "every fifth line is longer than the one before"
    assert {"input_ids", "attention_mask"} <= set(seen[0])
    arguments[2] = str(tmp_path / "again")
    done = CliRunner().invoke(cli, arguments)
    said = json.loads(done.stdout)
    assert (said["n_calibrated"], said["n_checked"]) == (60, 60), "there are no others"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--calibrate", "absent.csv"], "--calibrate is for --precision int8"),
        (["--precision", "int8", "--n-calibrate", "5"], "--n-calibrate is of --calibrate"),
    ],
)
def test_options_that_would_be_of_no_use_are_refused(checkpoints, tmp_path, options, message):
    from click.testing import CliRunner

    from ietest_fast.cli.main import cli

    done = CliRunner().invoke(
        cli, ["export", str(checkpoints["bert"]), str(tmp_path / "out"), *options]
    )
    assert done.exit_code == 2
    assert message in done.output
    assert not list(tmp_path.iterdir())


def test_the_command_line_compares_rows_from_all_over_a_file(checkpoints, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from ietest_fast.cli.main import cli
    from ietest_fast.models.onnx_models import export

    seen = []
    check = export.check_export
    monkeypatch.setattr(
        export, "check_export", lambda *given: (seen.extend(given[2]), check(*given))[1]
    )
    texts = tmp_path / "texts.csv"
    lines = [f"cat {i},{LABELS[i // 20]}" for i in range(60)]
    texts.write_text("text,label\n" + "\n".join(lines) + "\n")
    arguments = ["export", str(checkpoints["bert"]), str(tmp_path / "out"), "--check", str(texts)]
    done = CliRunner().invoke(cli, [*arguments, "--n-check", "3"])
    assert done.exit_code == 0, done.output
    assert seen == [["cat 0", "cat 20", "cat 40"]]


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


def test_a_config_that_does_not_fit_its_weights_is_told(checkpoints, tmp_path):
    for path in checkpoints["bert"].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    del config["id2label"], config["label2id"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    message = r"does not fit the weights: classifier\.bias is \(3,\) and should be \(2,\)"
    with pytest.raises(InputError, match=message):
        load_classifier(tmp_path)
