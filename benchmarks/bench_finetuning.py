"""Fine-tuning, beside transformers' Trainer with its default collation on the same pairs.

One epoch of pairs from SNLI in batches of 32 (ours: of as many tokens as 32 pairs have), the same
checkpoint, AdamW, clipping and linear decay on both sides, and as many threads, or the same GPU.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchmarks.minilm import PARAMS, find_checkpoint, read_pairs, take
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.training import choose_device, plan_epochs
from ietest_fast.models.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.conftest import Race
    from ietest_fast.corpus import Corpus
    from ietest_fast.models.tokens import TextRows

N_PAIRS = {"cpu": 640, "cuda": 6_400}
BATCH = 32
ROUNDS = 3

pytestmark = [
    pytest.mark.models,
    pytest.mark.benchmark(group="fine-tuning, a pair"),
    pytest.mark.filterwarnings("ignore"),
]


def _trainer(corpus: Corpus, *, bf16: bool) -> Callable[[], object]:
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        Trainer,
        TrainingArguments,
    )

    tokenizer = AutoTokenizer.from_pretrained(find_checkpoint(), model_max_length=512)
    columns = [corpus.texts(name).to_pylist() for name in corpus.text_columns]
    encoded = tokenizer(*columns, truncation=True, max_length=int(PARAMS["max_length"]))
    rows: list[dict[str, Any]] = [
        {**{key: encoded[key][i] for key in encoded}, "labels": int(corpus.labels[i])}
        for i in range(len(corpus))
    ]
    room = tempfile.mkdtemp()

    def train() -> None:
        torch.set_num_threads(os.cpu_count() or 1)
        model = AutoModelForSequenceClassification.from_pretrained(find_checkpoint(), num_labels=3)
        arguments = TrainingArguments(
            output_dir=room,
            per_device_train_batch_size=BATCH,
            num_train_epochs=1,
            learning_rate=float(PARAMS["learning_rate"]),
            weight_decay=float(PARAMS["weight_decay"]),
            max_grad_norm=float(PARAMS["max_grad_norm"]),
            bf16=bf16,
            use_cpu=choose_device() == "cpu",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            logging_strategy="no",
        )
        Trainer(model=model, args=arguments, train_dataset=rows, processing_class=tokenizer).train()

    return train


def _ours(corpus: Corpus, precision: str) -> Callable[[], object]:
    checkpoint = str(find_checkpoint())
    texts = SplitTexts(versions={"original": corpus.table}, labels=corpus.labels)
    encoded = Transformer(checkpoint=checkpoint).encode({"train": texts}, corpus.text_columns)
    rows = encoded["train"].resample()
    store = cast("TextRows", rows.store)
    lengths = store.tokens(rows.rows, max_length=int(PARAMS["max_length"])).lengths
    budget = round(BATCH * lengths.mean())
    n_steps = len(plan_epochs(lengths, epochs=1, token_budget=budget, seed=0))
    n_batches = len(corpus) // BATCH
    print(f"{precision}: {n_steps} steps of {budget} tokens; Trainer takes {n_batches}")
    model = Transformer(checkpoint=checkpoint, precision=precision, token_budget=budget)
    n_threads = os.cpu_count() or 1
    return lambda: model.fit(rows, None, params=PARAMS, n_classes=3, seed=0, n_threads=n_threads)


@pytest.fixture(scope="module")
def corpus(quick: bool) -> Corpus:
    """The pairs to train on."""
    return take(read_pairs("train")[0], 16 if quick else N_PAIRS[choose_device()])


@pytest.mark.parametrize("precision", ["auto", "fp32"])
def test_ours(race: Race, corpus: Corpus, precision: str) -> None:
    race.ours(precision, _ours(corpus, precision), units=len(corpus), rounds=ROUNDS)


@pytest.mark.parametrize("bf16", [False, True])
def test_trainer(race: Race, corpus: Corpus, bf16: bool) -> None:
    race.peer(
        "Trainer, bf16" if bf16 else "Trainer",
        _trainer(corpus, bf16=bf16),
        units=len(corpus),
        rounds=ROUNDS,
        at_least=1.2,
    )
