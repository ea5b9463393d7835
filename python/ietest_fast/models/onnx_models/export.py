"""Fine-tuned classifiers as ONNX folders, in the layout that Optimum writes, checked before use."""

from __future__ import annotations

import io
import json
import logging
import math
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.atomic import new_folder
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.models.checkpoint import (
    check_new_folder,
    copy_tokenizer,
    load_classifier,
    load_sense_model,
    load_tokenizer,
    model_inputs,
    read_padding,
    run_model,
)
from ietest_fast.models.label_map import read_json
from ietest_fast.models.onnx_models.classifier import OnnxClassifier
from ietest_fast.models.onnx_models.runners import import_onnxruntime
from ietest_fast.models.training import import_torch, pad
from ietest_fast.runtime import hide_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TokenStore


# ONNX files in fewer bits: half precision for GPUs, 8 bits for processors.
#
# Weights use seven of them: a processor without VNNI instructions adds two products of an
# activation and a weight in 16 bits, which overflow if both have eight.
#
# Eight bits come in two ways. *Dynamic*: the range of every activation is found while the model
# runs; nothing has to be known before, and ONNX Runtime is the faster with it. *Static*: ranges
# are measured beforehand on example texts, with NNCF, which moves large activations into the
# weights (SmoothQuant, Xiao et al. 2023) and corrects biases; the file is of ordinary operators
# between QuantizeLinear and DequantizeLinear, and OpenVINO is the faster with it.

# An ONNX file holds two gigabytes; more weights go into a file beside it.
_MOST_INSIDE = 1.8e9


@contextmanager
def quietly() -> Iterator[None]:
    """Let exporter and quantisers keep to themselves what they have to say about their insides."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def count_bytes(path: Path) -> int:
    """Add up an ONNX file and the files that its weights are in."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def _remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def _forget_shapes(model: Any) -> None:
    """Drop the exporter's shapes of intermediate results: they do not survive quantisation."""
    model.graph.ClearField("value_info")


def _save(model: Any, path: Path) -> None:
    import onnx

    n_bytes = sum(
        math.prod(weights.dims) * onnx.helper.tensor_dtype_to_np_dtype(weights.data_type).itemsize
        for weights in model.graph.initializer
    )
    onnx.save(
        model,
        str(path),
        save_as_external_data=n_bytes > _MOST_INSIDE,
        location=f"{path.name}.data",
    )


def halve(path: Path) -> None:
    """Rewrite a file in half precision; what goes in and comes out stays as it is."""
    import_onnxruntime()
    from onnxruntime.transformers.float16 import convert_float_to_float16

    # By its name, for what is in memory already is refused beyond two gigabytes.
    model = convert_float_to_float16(str(path), keep_io_types=True)
    _remove(path)
    _save(model, path)


def quantise_dynamically(path: Path) -> None:
    """Rewrite a file with weights of 8 bits, and activations that are quantised as they come."""
    import onnx

    import_onnxruntime()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(str(path))
    n_bytes = count_bytes(path)
    _remove(path)
    _forget_shapes(model)
    with quietly():
        quantize_dynamic(
            model,
            path,
            weight_type=QuantType.QInt8,
            reduce_range=True,
            per_channel=True,
            use_external_data_format=n_bytes / 4 > _MOST_INSIDE,
        )


def import_nncf() -> Any:
    """Import NNCF, and keep it from reporting its calls to its makers over the network."""
    try:
        with hide_module("openvino_telemetry"), quietly():
            import nncf
    except ImportError as error:
        raise InputError(
            f"ranges are measured by NNCF: pip install 'ietest-fast[int8]' ({error})"
        ) from error
    return nncf


def quantise_statically(path: Path, feeds: Sequence[Mapping[str, NDArray[Any]]]) -> None:
    """Rewrite a file with weights and activations of 8 bits, the latter in measured ranges."""
    nncf = import_nncf()
    import onnx
    from nncf.onnx.quantization.backend_parameters import BackendParameters

    # Weights in a file of their own stay there: NNCF takes no more than two gigabytes otherwise.
    model = onnx.load(str(path), load_external_data=False)
    _forget_shapes(model)
    where = {BackendParameters.EXTERNAL_DATA_DIR: str(path.parent.resolve())}
    # It draws progress on both streams.
    said = io.StringIO()
    with quietly(), redirect_stdout(said), redirect_stderr(said):
        try:
            model = nncf.quantize(
                model,
                nncf.Dataset(feeds),
                model_type=nncf.ModelType.TRANSFORMER,
                subset_size=len(feeds),
                advanced_parameters=nncf.AdvancedQuantizationParameters(
                    overflow_fix=nncf.OverflowFix.ENABLE, backend_params=where
                ),
            )
        except MemoryError:
            raise
        except Exception as error:  # whatever it stumbles over, it is of no common type
            raise InputError(
                f"NNCF cannot quantise this model: {shorten_error(error)} (without texts to "
                "measure ranges on, activations are quantised as they come)"
            ) from error
    _remove(path)
    _save(model, path)


Precision = Literal["fp32", "fp16", "int8"]
EXPORT_PRECISIONS: tuple[Precision, ...] = get_args(Precision)

_OPSET = 18
_MODEL = "model.onnx"

# Of the largest logit, or of 1: rounding differs by less. What 8 bits do is told, not judged.
_TOLERANCE = {"fp32": 1e-3, "fp16": 0.1, "int8": float("inf")}


@dataclass(frozen=True, kw_only=True)
class ExportCheck:
    """How an exported model differs from the one in PyTorch."""

    n: int
    """Inputs on which both were run."""
    largest_difference: float
    """Of the logits, in absolute value."""
    n_flipped: int
    """Inputs with another label."""
    largest_logit: float
    """Of PyTorch's logits, in absolute value."""


@dataclass(frozen=True, kw_only=True)
class Export:
    """An exported classifier."""

    folder: Path
    """Where it is."""
    n_bytes: int
    """Of the model, weights in files of their own included."""
    check: ExportCheck | None
    """What came of comparing it; None if it was not compared."""


def export_onnx(
    checkpoint: str | Path,
    target: str | Path,
    *,
    precision: Precision = "fp32",
    texts: Sequence[Sequence[str]] | None = None,
    calibration: Sequence[Sequence[str]] | None = None,
) -> Export:
    """Write a classifier as an ONNX folder: model.onnx, config.json, tokenizer.json and the
    rest.
    """
    checkpoint, target = Path(checkpoint), Path(target)
    if precision not in EXPORT_PRECISIONS:
        raise InputError(
            f"the precision is one of {', '.join(EXPORT_PRECISIONS)}, not {precision!r}"
        )
    if calibration is not None:
        if precision != "int8":
            raise InputError(f"ranges are measured for int8, not for {precision}")
        _check_columns(calibration, "measure ranges on")
    if texts is not None:
        _check_columns(texts, "compare on")
        if calibration is not None and len(texts) != len(calibration):
            raise InputError(
                f"texts to compare on are of {len(texts)} columns, those to measure ranges on of "
                f"{len(calibration)}"
            )
    if calibration is not None:
        import_nncf()
    check_new_folder(target)
    model = load_classifier(checkpoint)
    with new_folder(target) as folder:
        _write_graph(model, checkpoint, folder / _MODEL)
        _write_companions(model, checkpoint, folder)
        if calibration is not None:
            quantise_statically(folder / _MODEL, _make_feeds(folder, calibration))
        elif precision == "int8":
            quantise_dynamically(folder / _MODEL)
        elif precision == "fp16":
            halve(folder / _MODEL)
        check = None if texts is None else check_export(checkpoint, folder, texts)
        if check is not None:
            _refuse_wrong(check, precision)
    return Export(folder=target, n_bytes=count_bytes(target / _MODEL), check=check)


def export_sense_model(checkpoint: str | Path, target: str | Path) -> Path:
    """Write an encoder or a masked language model as an ONNX folder, for the sense check."""
    checkpoint, target = Path(checkpoint), Path(target)
    check_new_folder(target)
    model, output = load_sense_model(checkpoint)
    with new_folder(target) as folder:
        _write_graph(model, checkpoint, folder / _MODEL, output=output, each_token=True)
        _write_companions(model, checkpoint, folder)
    return target


def _check_columns(texts: Sequence[Sequence[str]], what_for: str) -> None:
    sizes = [len(column) for column in texts]
    if not any(sizes):
        raise InputError(f"there are no texts to {what_for}")
    if len(sizes) > 2 or len(set(sizes)) > 1:
        raise InputError(
            f"texts to {what_for} are one or two columns of one size, not of "
            f"{', '.join(f'{size:,}' for size in sizes)}"
        )


def _refuse_wrong(check: ExportCheck, precision: Precision) -> None:
    bound = _TOLERANCE[precision] * max(1.0, check.largest_logit)
    if not np.isfinite(check.largest_difference) or check.largest_difference > bound:
        raise InputError(
            f"in {precision} the exported model does not compute what PyTorch does: logits of up "
            f"to {check.largest_logit:.2g} differ by {check.largest_difference:.2g}, and "
            f"{check.n_flipped:,} of {check.n:,} labels differ"
        )


def check_export(
    checkpoint: str | Path, folder: str | Path, texts: Sequence[Sequence[str]]
) -> ExportCheck:
    """Run a checkpoint in PyTorch and its export in ONNX Runtime on the same texts."""
    _check_columns(texts, "compare on")
    exported = OnnxClassifier.load(folder, runtime="onnxruntime")
    store, rows = _tokenise(exported, texts)
    ours = exported.predict_logits(store, rows)
    theirs = run_model(
        load_classifier(checkpoint),
        store,
        read_padding(Path(checkpoint)),
        device="cpu",
        use_bf16=False,
    )
    return ExportCheck(
        n=len(rows),
        largest_difference=float(np.abs(ours - theirs).max(initial=0.0)),
        n_flipped=int((exported.head.choose(ours) != exported.head.choose(theirs)).sum()),
        largest_logit=float(np.abs(theirs).max(initial=0.0)),
    )


def _tokenise(
    model: OnnxClassifier, texts: Sequence[Sequence[str]]
) -> tuple[TokenStore, NDArray[np.int64]]:
    tokens = [model.tokenizer.tokenise(list(column)) for column in texts]
    rows = np.arange(len(texts[0]), dtype=np.int64)
    return model.tokenizer.join(tokens, [rows] * len(tokens)), rows


def _make_feeds(
    folder: Path, texts: Sequence[Sequence[str]]
) -> list[dict[str, NDArray[np.integer[Any]]]]:
    """Put together what goes into an exported model, one input at a time."""
    model = OnnxClassifier.load(folder, runtime="onnxruntime", n_threads=1)
    store, rows = _tokenise(model, texts)
    return [model.feed(store, rows[i : i + 1]) for i in range(len(rows))]


def _write_graph(
    model: Any, checkpoint: Path, path: Path, *, output: str = "logits", each_token: bool = False
) -> None:
    torch = import_torch()
    tokenizer = load_tokenizer(checkpoint)
    tokens = [tokenizer.tokenise(["a b c", "a"])]
    store = tokenizer.join(tokens, [np.arange(2, dtype=np.int64)])
    # Two rows of different lengths, so that neither size is taken for a constant.
    batch = pad(store, np.arange(2, dtype=np.int64), read_padding(checkpoint), multiple_of=4)
    inputs = model_inputs(model, batch, "cpu")
    # Plain products and softmax, which whatever runs the file knows as attention. The exporter
    # takes torch's fused one apart into a quarter more operators, some of which nothing fuses.
    model.set_attn_implementation("eager")
    with quietly():
        try:
            dims = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence")}
            program = torch.onnx.export(
                model,
                args=(),
                kwargs=inputs,
                input_names=list(inputs),
                output_names=[output],
                dynamic_shapes=dict.fromkeys(inputs, dims),
                dynamo=True,
                opset_version=_OPSET,
                verbose=False,
            )
            program.save(str(path))
        except Exception as error:  # noqa: BLE001 - whatever the newer exporter stumbles over
            _trace_graph(model, inputs, path, output=output, each_token=each_token, because=error)


def _trace_graph(
    model: Any,
    inputs: dict[str, Any],
    path: Path,
    *,
    output: str,
    each_token: bool,
    because: BaseException,
) -> None:
    """Export by tracing, the older way, for models that the newer one cannot follow (XLNet)."""
    torch = import_torch()
    axes = {0: "batch", 1: "sequence"}
    try:
        torch.onnx.export(
            model,
            args=(),
            kwargs=inputs,
            f=str(path),
            input_names=list(inputs),
            output_names=[output],
            dynamic_axes={
                **dict.fromkeys(inputs, axes),
                output: axes if each_token else {0: "batch"},
            },
            dynamo=False,
            opset_version=_OPSET,
            verbose=False,
        )
    except Exception as error:
        raise InputError(
            f"this model cannot be exported: {because}; nor by tracing: {error}"
        ) from error


def _write_companions(model: Any, checkpoint: Path, folder: Path) -> None:
    copy_tokenizer(checkpoint, folder)
    config = read_json(checkpoint / "config.json")
    # transformers leaves names out that are LABEL_0, LABEL_1, ...
    config.setdefault("id2label", {str(i): name for i, name in model.config.id2label.items()})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
