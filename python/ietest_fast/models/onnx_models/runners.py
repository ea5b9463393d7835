"""What runs an ONNX file: ONNX Runtime, or OpenVINO, which is faster on most processors.

Both compute in the file's own precision. OpenVINO also computes in bfloat16, which processors that
have it in their vector or tile units multiply two to four times as fast as float32; some labels
are then others.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
import mmap
import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_file, open_file
from ietest_fast.models.onnx_models.files import (
    NOTHING_CHOSEN,
    ChosenPorts,
    NoOnnxError,
    Ports,
    check_onnx,
)
from ietest_fast.runtime import n_cores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from numpy.typing import NDArray


_CPU = "CPUExecutionProvider"

_CUDA = "CUDAExecutionProvider"
# Has to be asked for: it builds an engine for new lengths, which takes minutes.
_TENSORRT = "TensorrtExecutionProvider"

RUN_PRECISIONS = ("fp32", "bf16")
"""``fp32`` is the file's own precision, whatever that is."""

RUNTIMES = ("onnxruntime", "openvino")

# Parts of names of operators: DynamicQuantizeLinear, DynamicQuantizeMatMul, MatMulInteger,
# QLinearMatMul, QAttention.
_OF_ONNX_RUNTIME = (b"DynamicQuantize", b"MatMulInteger", b"QLinear", b"QAttention")

# Padded tokens of a batch: activations should stay in a core's cache; a GPU wants work.
_GPU_TOKEN_BUDGET = 16_384
_CPU_TOKEN_BUDGET = 512
_OPENVINO_TOKEN_BUDGET = 1024


class Runner(Protocol):
    """A loaded model."""

    name: str
    """What runs it, with its version."""
    ports: Ports
    """Of the model."""
    n_parallel: int
    """How many batches it takes at a time, from as many threads."""
    token_budget: int
    """Padded tokens of a batch that suit it."""

    def run(self, feed: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Compute the output of one batch, float32; see :class:`Ports`.

        Raises
        ------
        InputError
            If the model fails.
        """
        ...


def import_onnxruntime() -> ModuleType:
    """Import ONNX Runtime with its telemetry switched off, unless the environment has decided.

    Otherwise it writes a persistent device id and events below the home folder and looks up the
    address to send them to (seen in 1.32). It reads the variable when it is imported, so a program
    that has imported it before has to set ``ORT_DISABLE_TELEMETRY=1`` itself.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    module: ModuleType = onnxruntime
    return module


class OnnxRuntime:
    """A model in ONNX Runtime.

    On a processor every thread runs batches of its own: that leaves no thread waiting for others.
    """

    def __init__(
        self,
        path: Path,
        *,
        providers: Sequence[str] | None = None,
        n_threads: int | None = None,
        chosen: ChosenPorts = NOTHING_CHOSEN,
    ) -> None:
        ort = import_onnxruntime()
        available = ort.get_available_providers()
        wanted = list(providers or ([_CUDA, _CPU] if _has_gpu() else [_CPU]))
        if wanted == [_TENSORRT] and _CUDA in available:
            wanted.append(_CUDA)  # for what TensorRT does not take
        for name in wanted:
            if name not in available:
                raise InputError(
                    f"this ONNX Runtime has no {name}; it has {', '.join(available)} "
                    f"({_advise_on_gpu()})"
                )
        if _is_gpu_build_hidden(available):
            warnings.warn(f"the GPU is not used: {_advise_on_gpu()}", RuntimeWarning, stacklevel=2)
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors come as exceptions
        try:
            self._session = ort.InferenceSession(str(check_file(path)), options, providers=wanted)
        except Exception as error:
            raise InputError(
                f"ONNX Runtime cannot load this model (is the file whole?): {shorten_error(error)}",
                path=path,
            ) from error
        try:
            inputs = {
                node.name: (node.type[7:-1], node.shape) for node in self._session.get_inputs()
            }
            outputs = {node.name: node.shape for node in self._session.get_outputs()}
        except UnicodeDecodeError as error:
            raise InputError("the name of an input or output is not UTF-8", path=path) from error
        self.ports = Ports.check(inputs, outputs, path, chosen)
        provider = self._session.get_providers()[0]
        if provider != wanted[0]:
            # It has said why on stderr, and would run on the processor.
            problem = f"{wanted[0]} could not be loaded (no GPU, or not its libraries)"
            if providers is not None:
                raise InputError(f"{problem}; ONNX Runtime would use {provider}", path=path)
            warnings.warn(f"{problem}; {provider} is used", RuntimeWarning, stacklevel=2)
        self.name = f"onnxruntime {ort.__version__} ({provider})"
        self._binds = provider != _CPU
        self.n_parallel = 1 if self._binds else n_threads or n_cores()
        self.token_budget = _GPU_TOKEN_BUDGET if self._binds else _CPU_TOKEN_BUDGET

    def run(self, feed: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Compute the output of one batch."""
        output = self.ports.output
        try:
            if not self._binds:
                return np.asarray(self._session.run([output], dict(feed))[0], dtype=np.float32)
            binding = self._session.io_binding()
            for name, array in feed.items():
                binding.bind_cpu_input(name, array)
            binding.bind_output(output)
            self._session.run_with_iobinding(binding)
            return np.asarray(binding.copy_outputs_to_cpu()[0], dtype=np.float32)
        except Exception as error:  # the library's are of no common type
            raise _explain(error, feed) from error


@functools.cache
def _openvino_core() -> Any:
    """Return the one core of this process.

    With its last core OpenVINO takes the stack for signals away that others, such as Python's
    faulthandler, have registered: the next signal would end the process.
    """
    import openvino as ov

    return ov.Core()


def openvino_has_bf16() -> bool:
    """Return whether OpenVINO computes in bf16 here; where not, it takes fp32 and says nothing."""
    return "BF16" in _openvino_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


class OpenVino:
    """A model in OpenVINO, on the processor."""

    def __init__(
        self,
        path: Path,
        *,
        precision: str = "fp32",
        n_threads: int | None = None,
        chosen: ChosenPorts = NOTHING_CHOSEN,
    ) -> None:
        try:
            import openvino as ov
        except ImportError as error:
            raise InputError(
                "OpenVINO is not installed (bf16 on a processor needs it): "
                "pip install 'ietest-fast[openvino]'"
            ) from error
        self.n_parallel = n_threads or n_cores()
        self.token_budget = _OPENVINO_TOKEN_BUDGET
        core = _openvino_core()
        if precision == "bf16" and not openvino_has_bf16():
            raise InputError(
                "OpenVINO computes bf16 only on processors with AVX-512, which this one lacks; "
                "leave --precision out to compute in fp32"
            )
        settings = {
            "INFERENCE_PRECISION_HINT": "f32" if precision == "fp32" else precision,
            "PERFORMANCE_HINT": "THROUGHPUT",
            "INFERENCE_NUM_THREADS": self.n_parallel,
            "NUM_STREAMS": self.n_parallel,
        }
        try:
            check_onnx(check_file(path))  # of what is none, OpenVINO writes lines to the terminal
            model = core.read_model(str(path))
            self.ports = Ports.check(
                {
                    port.any_name: (port.element_type.to_dtype().name, _sizes(port.partial_shape))
                    for port in model.inputs
                },
                {port.any_name: _sizes(port.partial_shape) for port in model.outputs},
                path,
                chosen,
            )
            self._compiled = core.compile_model(model, "CPU", settings)
        except (NoOnnxError, RuntimeError) as error:
            raise InputError(
                f"OpenVINO cannot load this model (is the file whole?): {shorten_error(error)}",
                path=path,
            ) from error
        self.name = f"openvino {ov.__version__.partition('-')[0]} (CPU, {precision})"
        self._of_thread = threading.local()

    def run(self, feed: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Compute the output of one batch."""
        request = getattr(self._of_thread, "request", None)
        if request is None:
            request = self._of_thread.request = self._compiled.create_infer_request()
        try:
            scores = request.infer(dict(feed))[self.ports.output]
        except RuntimeError as error:
            raise _explain(error, feed) from error
        return np.array(scores, dtype=np.float32)


def _explain(error: Exception, feed: Mapping[str, NDArray[Any]]) -> Exception:
    """Say on what a model failed; a lack of memory is left as it is."""
    if isinstance(error, MemoryError):
        return error
    n_texts, n_tokens = next(iter(feed.values())).shape
    return InputError(
        f"the model failed on {n_texts} inputs of up to {n_tokens} tokens (does it take that many, "
        f"and is the tokenizer its own? --max-length cuts them): {shorten_error(error)}"
    )


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _is_gpu_build_hidden(available: Sequence[str]) -> bool:
    """Say whether ONNX Runtime's build for GPUs is there, but another lies over it."""
    return _CUDA not in available and _is_installed("onnxruntime-gpu")


def _advise_on_gpu() -> str:
    """Say how to come by NVIDIA's providers."""
    if not _is_installed("onnxruntime-gpu"):
        return "pip install 'ietest-fast[gpu]' brings NVIDIA's"
    return (
        "onnxruntime and onnxruntime-gpu share a folder, and the last to be installed is used; "
        "pip uninstall -y onnxruntime, then pip install --force-reinstall --no-deps onnxruntime-gpu"
    )


def _sizes(shape: Any) -> list[Any]:
    if shape.rank.is_dynamic:
        return []
    return [size.get_length() if size.is_static else str(size) for size in shape]


def open_runner(
    path: Path,
    *,
    precision: str = "fp32",
    runtime: str | None = None,
    providers: Sequence[str] | None = None,
    n_threads: int | None = None,
    chosen: ChosenPorts = NOTHING_CHOSEN,
) -> Runner:
    """Load an ONNX file into what runs it fastest."""
    if precision not in RUN_PRECISIONS:
        raise InputError(f"the precision is one of {', '.join(RUN_PRECISIONS)}, not {precision!r}")
    if runtime is not None and runtime not in RUNTIMES:
        raise InputError(f"the runtime is one of {', '.join(RUNTIMES)}, not {runtime!r}")
    if (precision == "bf16" or runtime == "openvino") and providers is not None:
        raise InputError("providers are ONNX Runtime's, and OpenVINO is asked for")
    if precision == "bf16" and runtime == "onnxruntime":
        raise InputError("ONNX Runtime computes in the file's own precision; bf16 is OpenVINO's")
    if runtime is None and precision == "bf16" and _has_gpu():
        raise InputError(
            "bf16 is computed by OpenVINO on the processor, and here is a GPU: export the model "
            "with --precision fp16 for it, or say --runtime openvino"
        )
    if runtime is None and precision == "fp32":
        runtime = "openvino" if providers is None and _suits_openvino(path) else "onnxruntime"
    if runtime == "onnxruntime":
        return OnnxRuntime(path, providers=providers, n_threads=n_threads, chosen=chosen)
    return OpenVino(path, precision=precision, n_threads=n_threads, chosen=chosen)


def _suits_openvino(path: Path) -> bool:
    """Say whether OpenVINO is installed, there is no GPU to use, and the model suits it."""
    if importlib.util.find_spec("openvino") is None or not path.is_file():
        return False
    return not _has_gpu() and not suits_onnx_runtime(path)


def _has_gpu() -> bool:
    """Say whether there is a GPU, and an ONNX Runtime that was built for it."""
    ort = import_onnxruntime()
    return _CUDA in ort.get_available_providers() and _count_gpus() > 0


def _count_gpus() -> int:
    """Ask NVIDIA's driver; without a driver there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def suits_onnx_runtime(path: Path) -> bool:
    """Say whether a model computes in 8 bits in a way that ONNX Runtime is the faster with.

    So it is where activations are quantised as they come, and with operators that are products
    and quantisation in one; not with ordinary operators between QuantizeLinear and
    DequantizeLinear.
    """
    if path.stat().st_size == 0:
        return False
    with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        # What computes in 8 bits has something that quantises; all else is read through once only.
        return data.find(b"Quantize") >= 0 and any(
            data.find(name) >= 0 for name in _OF_ONNX_RUNTIME
        )
