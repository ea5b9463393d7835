"""Small tokenizers and ONNX classifiers, made on the spot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = tuple(
    word
    for words in (
        "a the boy girl man woman dog cat kid guy street sofa couch park is on in at runs sleeps",
        "sits eats big small red blue not nobody somebody outside inside",
    )
    for word in words.split()
)
LABELS = ("entailment", "neutral", "contradiction")


def make_tokenizer(style: str = "bert") -> Tokenizer:
    """Words of a small vocabulary with the special tokens of some family of models."""
    special = {
        "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        "roberta": ["<s>", "<pad>", "</s>", "<unk>"],
        "xlnet": ["<unk>", "<pad>", "<sep>", "<cls>"],
    }[style]
    vocabulary = {word: i for i, word in enumerate([*special, *WORDS])}
    unknown = "[UNK]" if style == "bert" else "<unk>"
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    single, pair = {
        "bert": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),
        "roberta": ("<s> $A </s>", "<s> $A </s> </s> $B </s>"),
        "xlnet": ("$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2"),
    }[style]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(word, vocabulary[word]) for word in special]
    )
    return tokenizer


def write_onnx(
    path: Path,
    weights: np.ndarray,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    rank: int = 2,
    integer: str = "INT64",
    each_token: str | None = None,
) -> None:
    """A classifier whose logits are the sums of its tokens' weights, shape (tokens, labels).

    With ``token_type_ids`` or ``position_ids`` among its inputs these are added, times 0.01. With
    `each_token` it has an output of that name instead: the weights of each token, and of all.
    """
    from onnx import TensorProto, checker, helper, numpy_helper, save

    kind = getattr(TensorProto, integer)
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["each"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["mask3"]),
    ]
    each = "each"
    for name in inputs:
        if name in {"input_ids", "attention_mask"}:
            continue
        nodes += [
            helper.make_node("Cast", [name], [f"{name}_float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}_float", "hundredth"], [f"{name}_small"]),
            helper.make_node("Unsqueeze", [f"{name}_small", "last"], [f"{name}_3"]),
            helper.make_node("Mul", [f"{name}_3", "only_first"], [f"{name}_first"]),
            helper.make_node("Add", [each, f"{name}_first"], [f"with_{name}"]),
        ]
        each = f"with_{name}"
    nodes.append(helper.make_node("Mul", [each, "mask3"], ["masked"]))
    result = each_token or "logits"
    output = helper.make_tensor_value_info(
        "logits", TensorProto.FLOAT, ["batch", weights.shape[1]][:rank]
    )
    if rank == 2 and not each_token:
        nodes.append(helper.make_node("ReduceSum", ["masked", "middle"], ["logits"], keepdims=0))
    else:
        nodes.append(helper.make_node("ReduceSum", ["masked", "middle"], ["sum"], keepdims=1))
        nodes.append(
            helper.make_node("Add", ["masked", "sum"], [result])
            if each_token
            else helper.make_node("Identity", ["masked"], [result])
        )
        output = helper.make_tensor_value_info(
            result, TensorProto.FLOAT, ["batch", "sequence", weights.shape[1]]
        )
    only_first = np.zeros(weights.shape[1], np.float32)
    only_first[0] = 1
    constants = {
        "weights": weights.astype(np.float32),
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
        "hundredth": np.array(0.01, np.float32),
        "only_first": only_first,
    }
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "sequence"]) for name in inputs],
        [output],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    save(model, str(path))


def make_onnx_folder(
    folder: Path,
    *,
    style: str = "bert",
    labels: tuple[str, ...] = LABELS,
    config: dict[str, Any] | None = None,
    seed: int = 0,
    **options: Any,
) -> np.ndarray:
    """A folder as Optimum writes it; gives the tokens' weights."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(style)
    weights = (
        np.random.default_rng(seed)
        .normal(size=(tokenizer.get_vocab_size(), len(labels)))
        .astype(np.float32)
    )
    write_onnx(folder / "model.onnx", weights, **options)
    tokenizer.save(str(folder / "tokenizer.json"))
    padding = {"bert": ("[PAD]", 0), "roberta": ("<pad>", 1), "xlnet": ("<pad>", 1)}[style]
    settings = {
        "model_type": style,
        "max_position_embeddings": 64,
        "pad_token_id": padding[1],
        "id2label": {str(i): name for i, name in enumerate(labels)},
    } | (config or {})
    (folder / "config.json").write_text(json.dumps(settings))
    named = {"pad_token": padding[0]} | ({"mask_token": "[MASK]"} if style == "bert" else {})
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
    return weights


def make_bert(folder: Path, *, labels: tuple[str, ...] = (), masked: bool = False) -> None:
    """A random checkpoint of BERT in 48 positions: a classifier, or without labels an encoder.

    `masked`: a masked language model.
    """
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertModel

    tokenizer = make_tokenizer()
    names = {"id2label": dict(enumerate(labels)), "label2id": {n: i for i, n in enumerate(labels)}}
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=48,
        pad_token_id=0,
        **(names if labels else {}),
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind = BertForMaskedLM if masked else BertForSequenceClassification if labels else BertModel
        kind(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"pad_token": "[PAD]", "mask_token": "[MASK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))


def random_texts(n: int, *, seed: int, longest: int = 14) -> list[str]:
    """Texts of words of the vocabulary, some of them empty."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, longest))) for _ in range(n)]
