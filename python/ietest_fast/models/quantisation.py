"""ONNX files in fewer bits: half precision for GPUs, 8 bits for processors.

Weights use seven of them: a processor without VNNI instructions adds two products of an activation
and a weight in 16 bits, which overflow if both have eight.

Eight bits come in two ways. *Dynamic*: the range of every activation is found while the model
runs; nothing has to be known before, and ONNX Runtime is the faster with it. *Static*: ranges are
measured beforehand on example texts, with NNCF, which moves large activations into the weights
(SmoothQuant, Xiao et al. 2023) and corrects biases; the file is of ordinary operators between
QuantizeLinear and DequantizeLinear, and OpenVINO is the faster with it.
"""

from __future__ import annotations

import io
import logging
import math
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.models.runners import import_onnxruntime
from ietest_fast.runtime import hide_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

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
