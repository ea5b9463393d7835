"""A small masked language model, and items of masked inference to train it on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

PEOPLE = ("Ida", "Ethel", "Neil", "Adam", "Renee", "Elsie")
PLACES = ("Senegal", "Serbia", "Kenya", "Peru", "Cuba", "Nepal")
VERBS = ("has visited", "did not visit")


def make_coordinations(n: int, *, seed: int, n_facts: int = 2) -> pa.Table:
    """Items of the module Boolean coordination (Salvatore 2020, B.1 and B.2), half of each kind.

    Conjunction: two facts of the premise. Disjunction: one of them, and a fact about somebody and
    some place that the premise does not mention.
    """
    rng = np.random.default_rng(seed)
    rows: dict[str, list[str]] = {
        name: [] for name in ("premise", "hypothesis", "answer", "module", "template")
    }
    for number in range(n):
        people = rng.permutation(PEOPLE)[: n_facts + 1]
        places = rng.permutation(PLACES)[: n_facts + 1]
        facts = [
            f"{who} {VERBS[rng.integers(2)]} {where}"
            for who, where in zip(people, places, strict=True)
        ]
        is_and = number % 2 == 0
        first, other = rng.permutation(n_facts)[:2]
        second = facts[other] if is_and else facts[-1]
        rows["premise"].append(", ".join(facts[:-1]) + ".")
        rows["hypothesis"].append(f"{facts[first]} [MASK] {second}")
        rows["answer"].append("and" if is_and else "or")
        rows["module"].append("coordination")
        rows["template"].append("conjunction" if is_and else "disjunction")
    return pa.table(rows)


def make_word_tokenizer(words: list[str]) -> Tokenizer:
    """Whole words, lower-cased, in BERT's frame."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: i for i, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(special)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(word, vocabulary[word]) for word in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def make_masked_bert(folder: Path, *, words: tuple[str, ...] = (), **options: Any) -> None:
    """A random BertForMaskedLM that knows the words of :func:`make_coordinations`, and others."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    own = ["and", "or", "has", "visited", "did", "not", "visit", ".", ",", "'"]
    known = dict.fromkeys([*own, *map(str.lower, (*PEOPLE, *PLACES)), *words])
    tokenizer = make_word_tokenizer(list(known))
    settings = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    } | options
    config = BertConfig(vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **settings)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"pad_token": "[PAD]", "mask_token": "[MASK]", "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(named))
