"""Every family of transformers, from a tiny random checkpoint to a checked ONNX file."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")
pytest.importorskip("onnxscript", reason="needs the train extra")

from ietest_fast.errors import InputError
from ietest_fast.models.checkpoint import (
    fingerprint_checkpoint,
    load_classifier,
    load_tokenizer,
    load_weights,
    read_padding,
    run_model,
)
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from ietest_fast.models.onnx_models.export import check_export, export_onnx
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.transformer import Transformer
from tiny_models import LABELS, make_tokenizer, random_texts

pytestmark = pytest.mark.train

_SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 48,
}

# name -> (configuration's class, base model's class, style of tokenizer, settings)
FAMILIES = {
    "bert": ("BertConfig", "BertModel", "bert", _SIZES),
    "albert": ("AlbertConfig", "AlbertModel", "bert", {**_SIZES, "embedding_size": 8}),
    "roberta": (
        "RobertaConfig",
        "RobertaModel",
        "roberta",
        {**_SIZES, "type_vocab_size": 1, "max_position_embeddings": 50},
    ),
    "distilbert": (
        "DistilBertConfig",
        "DistilBertModel",
        "bert",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 48},
    ),
    "deberta-v2": (
        "DebertaV2Config",
        "DebertaV2Model",
        "bert",
        {
            **_SIZES,
            "type_vocab_size": 0,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
        },
    ),
    "electra": ("ElectraConfig", "ElectraModel", "bert", {**_SIZES, "embedding_size": 8}),
    "modernbert": (
        "ModernBertConfig",
        "ModernBertModel",
        "bert",
        {**_SIZES, "cls_token_id": 2, "sep_token_id": 3, "global_attn_every_n_layers": 2},
    ),
    "xlnet": (
        "XLNetConfig",
        "XLNetModel",
        "xlnet",
        {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32},
    ),
}

_PADDING = {"bert": ("[PAD]", 0), "roberta": ("<pad>", 1), "xlnet": ("<pad>", 1)}

PARAMS = {
    "epochs": 1,
    "max_length": 40,
    "learning_rate": 5e-3,
    "weight_decay": 0.01,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 1.0,
}


def _make_checkpoint(name, folder):
    import torch
    import transformers

    config_class, model_class, style, settings = FAMILIES[name]
    tokenizer = make_tokenizer(style)
    token, number = _PADDING[style]
    config = getattr(transformers, config_class)(
        vocab_size=tokenizer.get_vocab_size(), pad_token_id=number, **settings
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, model_class)(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    described = {"pad_token": token} | ({"padding_side": "left"} if style == "xlnet" else {})
    (folder / "tokenizer_config.json").write_text(json.dumps(described))


def test_a_tokenizer_of_sentencepieces_alone_is_converted(tmp_path):
    """As DeBERTa-v3 is published: spm.model, and no tokenizer.json."""
    pieces = pytest.importorskip("sentencepiece", reason="needs the train extra")
    encoder, saved = tmp_path / "encoder", tmp_path / "saved"
    encoder.mkdir()
    _make_checkpoint("deberta-v2", encoder)
    (encoder / "tokenizer.json").unlink()
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(random_texts(2000, seed=0)))
    special = {"pad": (0, "[PAD]"), "bos": (1, "[CLS]"), "eos": (2, "[SEP]"), "unk": (3, "[UNK]")}
    pieces.SentencePieceTrainer.train(
        input=str(texts),
        model_prefix=str(encoder / "spm"),
        vocab_size=make_tokenizer("bert").get_vocab_size() - 2,
        hard_vocab_limit=False,
        minloglevel=2,
        **{f"{name}_id": number for name, (number, _) in special.items()},
        **{f"{name}_piece": piece for name, (_, piece) in special.items()},
    )
    before = fingerprint_checkpoint(encoder)
    table = pa.table({"text": random_texts(40, seed=1)})
    labels = (np.arange(40) % 3).astype(np.int8)
    model = Transformer(checkpoint=str(encoder), precision="fp32")
    splits = {
        "train": SplitTexts(versions={"original": table, "transformed": table}, labels=labels)
    }
    split = model.encode(splits, ("text",))["train"]
    classifier = model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=1)
    saved.mkdir()
    classifier.save(saved, label_names=LABELS)
    kept = load_tokenizer(saved).tokenise(table["text"].to_pylist())
    own = load_tokenizer(encoder).tokenise(table["text"].to_pylist())
    assert (saved / "tokenizer.json").is_file()
    assert (kept.values == own.values).all()
    assert len(own.values) > 40
    (encoder / "spm.model").write_bytes(b"another")
    assert fingerprint_checkpoint(encoder) != before


def test_a_model_without_a_padding_token_is_refused(tmp_path):
    import transformers

    config = transformers.GPT2Config(vocab_size=60, n_embd=16, n_layer=1, n_head=2, n_positions=48)
    transformers.GPT2Model(config).save_pretrained(tmp_path)
    make_tokenizer("bert").save(str(tmp_path / "tokenizer.json"))
    table = pa.table({"text": random_texts(20, seed=1)})
    splits = {
        "train": SplitTexts(
            versions={"original": table, "transformed": table},
            labels=np.arange(20, dtype=np.int8) % 3,
        )
    }
    model = Transformer(checkpoint=str(tmp_path))
    split = model.encode(splits, ("text",))["train"]
    with pytest.raises(InputError, match=r"config\.json has no pad_token_id"):
        model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=1)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_damaged_weights_are_told(name, tmp_path):
    import torch

    _make_checkpoint("bert", tmp_path)
    whole = tmp_path / "model.safetensors"
    if name == "pytorch_model.bin":
        torch.save({"weight": torch.zeros(1000)}, tmp_path / name)
        whole.unlink()
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    for load in (load_classifier, lambda folder: load_weights(folder, num_labels=3)):
        with pytest.raises(InputError, match=r"cannot be loaded \(are its files whole\?\)"):
            load(tmp_path)


class _Code:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_code_among_weights_is_not_loaded_and_nobody_advises_to(tmp_path):
    _make_checkpoint("bert", tmp_path)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(_Code(), protocol=2))
    with pytest.raises(InputError, match=r"such as code, .*safetensors") as refusal:
        load_classifier(tmp_path)
    assert "weights_only" not in str(refusal.value)


@pytest.mark.parametrize("kind", [256, 2**31])
@pytest.mark.parametrize("piece", ["Sequence", "SpecialToken"])
def test_types_of_tokens_beyond_a_byte_are_told(tmp_path, kind, piece):
    tokenizer = json.loads(make_tokenizer().to_str())
    (changed, *_) = (part[piece] for part in tokenizer["post_processor"]["single"] if piece in part)
    changed["type_id"] = kind
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match=f"types of tokens from 0 to {kind}, and models take"):
        load_tokenizer(tmp_path).template(1)


@pytest.mark.parametrize(
    ("config", "n_known"), [({"vocab_size": 40}, 40), ({}, 30_522), ({"model_type": "other"}, None)]
)
def test_tokens_beyond_a_checkpoints_are_told(tmp_path, config, n_known):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"} | config))
    tokenizer = json.loads(make_tokenizer().to_str())
    tokenizer["model"]["vocab"]["zebra"] = 50_000
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    made = load_tokenizer(tmp_path)
    if n_known is None:
        assert made.tokenise(["zebra"]).values.tolist() == [50_000]
        return
    with pytest.raises(InputError, match=f"makes token 50000, but the model knows {n_known} tok"):
        made.tokenise(["zebra"])


@pytest.mark.parametrize("name", FAMILIES)
def test_a_bare_encoder_becomes_a_classifier_and_an_onnx_file(name, tmp_path):
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    _make_checkpoint(name, encoder)
    n = 60
    columns = [random_texts(n, seed=seed) for seed in (1, 2)]
    table = pa.table({"premise": columns[0], "hypothesis": columns[1]})
    labels = (np.arange(n) % 3).astype(np.int8)
    texts = SplitTexts(versions={"original": table, "transformed": table}, labels=labels)
    model = Transformer(checkpoint=str(encoder), precision="fp32", token_budget=300)
    split = model.encode({"train": texts}, ("premise", "hypothesis"))["train"]
    classifier = model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=1)
    scores = classifier.predict_logits(split.store, split.original)
    assert np.isfinite(scores).all()
    again = model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=1)
    assert (again.predict_logits(split.store, split.original) == scores).all()

    saved = tmp_path / "saved"
    saved.mkdir()
    classifier.save(saved, label_names=LABELS)
    tokens = split.store.tokens(split.original, max_length=PARAMS["max_length"])
    padding = read_padding(saved)
    assert padding.left == (name == "xlnet")
    loaded = run_model(load_classifier(saved), tokens, padding, device="cpu", use_bf16=False)
    assert loaded == pytest.approx(scores, abs=1e-5)
    # A text alone, without padding, is scored as among others.
    alone = [
        run_model(
            load_classifier(saved), tokens.take(row[None]), padding, device="cpu", use_bf16=False
        )
        for row in np.arange(3)
    ]
    assert np.concatenate(alone) == pytest.approx(loaded[:3], abs=1e-4)

    exported = export_onnx(saved, tmp_path / "exported").folder
    found = check_export(saved, exported, columns)
    assert found.n == n
    assert found.n_flipped == 0
    assert found.largest_difference < 1e-4
    assert OnnxClassifier.load(exported).labels == LABELS


def test_a_transformer_is_not_shown_what_it_cannot_take(tmp_path):
    """Texts longer than the model's positions lose their ends, instead of crashing it."""
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    _make_checkpoint("roberta", encoder)
    long = pa.table({"text": ["boy " * 500, "a dog"]})
    texts = SplitTexts(
        versions={"original": long, "transformed": long}, labels=np.array([0, 1], np.int8)
    )
    model = Transformer(checkpoint=str(encoder))
    split = model.encode({"train": texts}, ("text",))["train"]
    params = {**PARAMS, "max_length": 200}
    classifier = model.fit(split.resample(), None, params=params, n_classes=2, seed=0)
    assert np.isfinite(classifier.predict_logits(split.store, split.original)).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_adapters_fit_every_family(name, tmp_path):
    pytest.importorskip("peft", reason="needs the train extra")
    encoder, saved = tmp_path / "encoder", tmp_path / "saved"
    encoder.mkdir()
    saved.mkdir()
    _make_checkpoint(name, encoder)
    table = pa.table({"text": random_texts(40, seed=1)})
    labels = (np.arange(40) % 3).astype(np.int8)
    texts = SplitTexts(versions={"original": table, "transformed": table}, labels=labels)
    model = Transformer(checkpoint=str(encoder), precision="fp32", token_budget=300, lora_rank=2)
    split = model.encode({"train": texts}, ("text",))["train"]
    classifier = model.fit(split.resample(), None, params=PARAMS, n_classes=3, seed=1)
    scores = classifier.predict_logits(split.store, split.original)
    classifier.save(saved, label_names=LABELS)
    tokens = split.store.tokens(split.original, max_length=PARAMS["max_length"])
    padding = read_padding(saved)
    merged = run_model(load_classifier(saved), tokens, padding, device="cpu", use_bf16=False)
    assert merged == pytest.approx(scores, abs=1e-4)
