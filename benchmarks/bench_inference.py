"""A finished classifier over both versions of a test set, beside the usual ways of running one.

The peers get every pair of both versions, as scripts do; ours finds out what is the same. All have
the same weights and as many threads.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.minilm import fine_tune, read_pairs, take
from benchmarks.timing import Comparison, interleaved
from ietest_fast.models.evaluation import score_versions
from ietest_fast.models.export import export_onnx
from ietest_fast.models.onnx import OnnxClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_TRAIN = 3000
N_TEST = 1000
ROUNDS = 3
MAX_LENGTH = 128
N_CALIBRATE = 300
# Parameters of MiniLM that every token passes: six layers of 12 x 384 x 384.
_WEIGHTS_PER_TOKEN = 6 * 12 * 384 * 384


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


def measure_products(dtype: str) -> float:
    """Give the floating-point operations a second of a product of matrices of MiniLM's sizes."""
    import torch

    a = torch.randn(2048, 384).to(getattr(torch, dtype))
    b = torch.randn(384, 1536).to(getattr(torch, dtype))
    (seconds,) = interleaved(lambda: a @ b, rounds=9, numbers=(20,))
    return 2 * 2048 * 384 * 1536 / seconds


def measure() -> list[Comparison]:
    """Time all on the same pairs, in turns."""
    import transformers

    from ietest_fast.transform import build_synonym_substitution

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")
    train, name = read_pairs("train")
    test = take(read_pairs("dev")[0], N_TEST)
    transformed = build_synonym_substitution([train]).transform(
        test.table, test.text_columns, with_edits=False
    )
    versions = (test.table, transformed.table)
    columns = [
        [text for table in versions for text in table[column].to_pylist()]
        for column in test.text_columns
    ]
    pairs = list(zip(*columns, strict=True))
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "classifier"
        fine_tune(folder, n_pairs=N_TRAIN)
        whole = export_onnx(folder, Path(room) / "fp32").folder
        quantised = export_onnx(folder, Path(room) / "int8", precision="int8").folder
        seen = take(train, N_CALIBRATE)
        measured = export_onnx(
            folder,
            Path(room) / "ranges",
            precision="int8",
            calibration=[seen.texts(column).to_pylist() for column in seen.text_columns],
        ).folder
        models = {
            name: OnnxClassifier.load(
                stored, runtime=runtime, precision=precision, max_length=MAX_LENGTH
            )
            for name, stored, runtime, precision in (
                ("fp32, OpenVINO", whole, "openvino", "fp32"),
                ("fp32, ONNX Runtime", whole, "onnxruntime", "fp32"),
                ("bf16, OpenVINO", whole, "openvino", "bf16"),
                ("int8, ONNX Runtime", quantised, "onnxruntime", "fp32"),
                ("int8, measured ranges, OpenVINO", measured, "openvino", "fp32"),
            )
        }
        peers = {
            "CrossEncoder, fp32": _cross_encoder(folder, pairs, "float32"),
            "CrossEncoder, bf16": _cross_encoder(folder, pairs, "bfloat16"),
            "transformers pipeline, fp32": _pipeline(folder, pairs),
        }
        ours = {
            precision: (lambda model=model: score_versions(model, *versions, test.text_columns))
            for precision, model in models.items()
        }
        times = interleaved(*ours.values(), *peers.values(), rounds=ROUNDS)
        labels = {key: np.argmax(np.asarray(call()), axis=1) for key, call in peers.items()}
        found = {key: call() for key, call in ours.items()}
    seconds = dict(zip([*ours, *peers], times, strict=True))
    fastest = min(seconds[key] for key in peers)
    reference = labels["CrossEncoder, fp32"]
    some = found["fp32, OpenVINO"]
    print(
        f"{name}: {len(pairs):,} inputs, {some.n_inputs:,} of them different, "
        f"{some.n_tokens / some.n_inputs:.1f} tokens each; "
        + "; ".join(f"{key} {len(pairs) / value:,.0f}/s" for key, value in seconds.items())
        + "; flips beside CrossEncoder, fp32: "
        + ", ".join(f"{key} {int((value != reference).sum())}" for key, value in labels.items())
    )
    return [
        _compare(key, peer, seconds, found[key], reference, fastest)
        for key in ours
        for peer in peers
    ]


def _compare(  # noqa: PLR0917
    key: str,
    peer: str,
    seconds: dict[str, float],
    found: Any,
    reference: NDArray[np.int64],
    fastest: float,
) -> Comparison:
    both = np.concatenate((found.original, found.transformed)).argmax(axis=1)
    rate = 2 * _WEIGHTS_PER_TOKEN * found.n_tokens / seconds[key]
    precision = "fp32" if key.startswith("fp32") else "bf16"
    limit = measure_products({"fp32": "float32", "bf16": "bfloat16"}[precision])
    input_for_input = seconds[peer] / seconds[key] * found.n_inputs / len(reference)
    goals = {
        "fp32, OpenVINO": 1.2,
        "bf16, OpenVINO": 1.2,
        "int8, ONNX Runtime": 2.0,
        "int8, measured ranges, OpenVINO": 2.0,
    }
    return Comparison(
        path=f"both versions of {len(reference) // 2:,} pairs, {key}",
        ours_seconds=seconds[key],
        peer=peer,
        peer_seconds=seconds[peer],
        goal=goals.get(key) if seconds[peer] == fastest else None,
        note=f"{int((both != reference).sum())} labels of {len(reference):,} are not those of the "
        f"CrossEncoder in fp32; input for input {input_for_input:.2f}x; {rate / 1e9:.0f} GFLOP/s "
        f"of products, {rate / limit:.0%} of torch's rate in {precision}",
    )
