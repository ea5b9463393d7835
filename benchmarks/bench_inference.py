"""A finished classifier over both versions of a test set, beside the usual ways of running one.

The peers get every pair of both versions, as scripts do; ours finds out what is the same. All have
the same weights and as many threads.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.minilm import fine_tune, read_pairs, take
from ietest_fast.answers.asking import score_table
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from ietest_fast.models.onnx_models.export import export_onnx
from ietest_fast.models.onnx_models.runners import openvino_has_bf16

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmarks.conftest import Race
    from ietest_fast.corpus import Corpus

N_TRAIN = 3000
N_TEST = 1000
ROUNDS = 3
MAX_LENGTH = 128
N_CALIBRATE = 300

pytestmark = [
    pytest.mark.models,
    pytest.mark.benchmark(group="both versions of a pair"),
    pytest.mark.filterwarnings("ignore"),
]


def _cross_encoder(folder: Path, pairs: list[tuple[str, str]], dtype: str) -> Any:
    import torch
    from sentence_transformers import CrossEncoder

    encoder = CrossEncoder(
        str(folder),
        device="cpu",
        max_length=MAX_LENGTH,
        model_kwargs={"dtype": getattr(torch, dtype), "attn_implementation": "sdpa"},
    )
    return lambda: encoder.predict(pairs, batch_size=32, show_progress_bar=False)


def _pipeline(folder: Path, pairs: list[tuple[str, str]]) -> Any:
    from transformers import pipeline

    run = pipeline("text-classification", model=str(folder), device=-1, top_k=None)
    inputs = [{"text": premise, "text_pair": hypothesis} for premise, hypothesis in pairs]

    def scores() -> NDArray[np.float64]:
        found = run(inputs, batch_size=32, truncation=True, max_length=MAX_LENGTH)
        place = run.model.config.label2id
        table = np.zeros((len(found), len(place)))
        for row, each in enumerate(found):
            for label in each:
                table[row, place[label["label"]]] = label["score"]
        return table

    return scores


@dataclass(frozen=True, kw_only=True)
class Work:
    """A fine-tuned classifier, what it was trained on, and a test set in two versions."""

    room: Path
    folder: Path
    train: Corpus
    table: Any
    text_columns: tuple[str, ...]
    pairs: list[tuple[str, str]]
    n_calibrate: int

    @functools.cached_property
    def reference(self) -> NDArray[np.int64]:
        """The labels of the CrossEncoder in fp32."""
        scores = _cross_encoder(self.folder, self.pairs, "float32")()
        return np.argmax(np.asarray(scores), axis=1)

    def export(self, kind: str) -> Path:
        """Export in whole numbers of 32 or 8 bits, or in 8 bits with measured ranges; once."""
        place = self.room / kind
        if place.is_dir():
            return place
        if kind == "fp32":
            return export_onnx(self.folder, place).folder
        calibration = None
        if kind == "ranges":
            seen = take(self.train, self.n_calibrate)
            calibration = [seen.texts(column).to_pylist() for column in seen.text_columns]
        return export_onnx(self.folder, place, precision="int8", calibration=calibration).folder


@pytest.fixture(scope="module")
def work(quick: bool, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """Fine-tune once."""
    import pyarrow as pa
    import transformers

    from ietest_fast.transform import build_synonym_substitution

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    train, _ = read_pairs("train")
    test = take(read_pairs("dev")[0], 20 if quick else N_TEST)
    transformed = build_synonym_substitution([take(train, 200) if quick else train]).transform(
        test.table, test.text_columns, with_edits=False
    )
    versions = [test.table, transformed.table]
    columns = [
        [text for table in versions for text in table[column].to_pylist()]
        for column in test.text_columns
    ]
    room = tmp_path_factory.mktemp("inference")
    fine_tune(room / "classifier", n_pairs=64 if quick else N_TRAIN)
    return Work(
        room=room,
        folder=room / "classifier",
        train=train,
        table=pa.concat_tables(versions),
        text_columns=tuple(test.text_columns),
        pairs=list(zip(*columns, strict=True)),
        n_calibrate=20 if quick else N_CALIBRATE,
    )


@pytest.mark.parametrize(
    ("kind", "runtime", "precision"),
    [
        ("fp32", "openvino", "fp32"),
        ("fp32", "openvino", "bf16"),
        ("fp32", "onnxruntime", "fp32"),
        ("int8", "onnxruntime", "fp32"),
        ("ranges", "openvino", "fp32"),
    ],
)
def test_finished_model(race: Race, work: Work, kind: str, runtime: str, precision: str) -> None:
    if precision == "bf16" and not openvino_has_bf16():
        pytest.skip("OpenVINO has no bf16 on this processor")
    model = OnnxClassifier.load(
        work.export(kind), runtime=runtime, precision=precision, max_length=MAX_LENGTH
    )
    labels = score_table(model, work.table, work.text_columns).scores.predicted
    flips = int((labels != work.reference).sum())
    number = {"int8": "int8", "ranges": "int8, measured ranges"}.get(kind, precision)
    race.ours(
        f"{number}, {'OpenVINO' if runtime == 'openvino' else 'ONNX Runtime'}",
        lambda: score_table(model, work.table, work.text_columns),
        units=len(work.pairs) / 2,
        rounds=ROUNDS,
        note=f"labels that differ from the CrossEncoder's in fp32: {flips} of {len(labels):,}",
    )


PEERS = {
    "CrossEncoder, fp32": lambda work: _cross_encoder(work.folder, work.pairs, "float32"),
    "CrossEncoder, bf16": lambda work: _cross_encoder(work.folder, work.pairs, "bfloat16"),
    "transformers pipeline, fp32": lambda work: _pipeline(work.folder, work.pairs),
}


@pytest.mark.parametrize("name", PEERS)
def test_peer(race: Race, work: Work, name: str) -> None:
    race.peer(
        name,
        PEERS[name](work),
        units=len(work.pairs) / 2,
        rounds=ROUNDS,
        at_least={"fp32, OpenVINO": 0.7, "bf16, OpenVINO": 1.5},
    )
