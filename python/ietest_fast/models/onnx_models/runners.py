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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_file, open_file
from ietest_fast.runtime import n_cores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    from numpy.typing import NDArray

# What an ONNX file says of itself, read without the package onnx, and without its weights.


# Numbers of fields: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
_GRAPH = 7
_NODE, _INITIALIZER = 1, 5
_NODE_INPUT, _NODE_OUTPUT, _NODE_KIND = 1, 2, 4
_TENSOR_SIZE, _TENSOR_NAME = 1, 8

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5

# Operators after which an id is still the same, and those that leave the rows of a table.
_KEEP_IDS = frozenset({"Cast", "Identity", "Reshape"})
_KEEP_ROWS = frozenset({"Cast", "Identity", "DequantizeLinear"})

# Which inputs of an operator that looks rows up are the ids and the table.
_LOOKUPS = {"Gather": (1, 0), "EmbedLayerNormalization": (0, 2), "QEmbedLayerNormalization": (0, 2)}


@dataclass(frozen=True, kw_only=True)
class _Node:
    """An operator with the names of what goes in and comes out."""

    kind: str
    inputs: list[str]
    outputs: list[str]


@dataclass(kw_only=True)
class _Graph:
    """The operators of a model, in their order, and the sizes of its weights."""

    nodes: list[_Node] = field(default_factory=list)
    sizes: dict[str, list[int]] = field(default_factory=dict)


class NoOnnxError(ValueError):
    """A file is no ONNX model, or is cut."""


def count_known_tokens(model: Path, ids: str) -> int | None:
    """Count the rows of a model's table of tokens: ids from there on are another model's."""
    try:
        graph = _read_graph(model)
    except NoOnnxError:
        return None
    names, rows = {ids}, {name: sizes[0] for name, sizes in graph.sizes.items() if sizes}
    found = []
    for node in graph.nodes:  # each behind those whose results it takes
        first = next(iter(node.inputs), None)
        if node.kind in _KEEP_IDS and first in names:
            names.update(node.outputs)
        if node.kind in _KEEP_ROWS and first in rows:
            rows |= dict.fromkeys(node.outputs, rows[first])
        places = _LOOKUPS.get(node.kind)
        if places is not None and len(node.inputs) > max(places):
            at, table = (node.inputs[place] for place in places)
            if at in names and table in rows:
                found.append(rows[table])
    return min(found, default=None)


def check_onnx(model: Path) -> None:
    """Make sure that a file is an ONNX model, and whole."""
    _read_graph(model)


def _read_graph(model: Path) -> _Graph:
    if model.stat().st_size == 0:  # which cannot be mapped
        raise NoOnnxError("it is empty")
    with open_file(model) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            places = [value for number, value in _fields(data, 0, len(data)) if number == _GRAPH]
            if not places:
                raise NoOnnxError("it holds no graph")
            graph = _Graph()
            for place in places:
                _add_parts(graph, data, _as_place(place))
        except UnicodeDecodeError as error:
            raise NoOnnxError("a name in it is no text") from error
        return graph


def _add_parts(graph: _Graph, data: mmap.mmap, place: slice) -> None:
    for number, value in _fields(data, place.start, place.stop):
        if number == _NODE:
            graph.nodes.append(_read_node(data, _as_place(value)))
        elif number == _INITIALIZER:
            name, sizes = _read_tensor(data, _as_place(value))
            graph.sizes[name] = sizes


def _read_node(data: mmap.mmap, place: slice) -> _Node:
    found: dict[int, list[str]] = {_NODE_INPUT: [], _NODE_OUTPUT: [], _NODE_KIND: []}
    for number, value in _fields(data, place.start, place.stop):
        if number in found:
            found[number].append(data[_as_place(value)].decode())
    return _Node(
        kind="".join(found[_NODE_KIND][-1:]),
        inputs=found[_NODE_INPUT],
        outputs=found[_NODE_OUTPUT],
    )


def _read_tensor(data: mmap.mmap, place: slice) -> tuple[str, list[int]]:
    name, sizes = "", []
    for number, value in _fields(data, place.start, place.stop):
        if number == _TENSOR_NAME:
            name = data[_as_place(value)].decode()
        elif number == _TENSOR_SIZE and not isinstance(value, slice):
            sizes.append(value)
        elif number == _TENSOR_SIZE and isinstance(value, slice):  # all of them in one value
            at, end = value.start, value.stop
            while at < end:
                size, at = _read_varint(data, at, end)
                sizes.append(size)
    return name, sizes


def _as_place(value: int | slice) -> slice:
    if isinstance(value, int):
        raise NoOnnxError("a part of it is of another type")
    return value


def _fields(data: mmap.mmap, begin: int, end: int) -> Iterator[tuple[int, int | slice]]:
    """Go through a message: each field's number, and its integer or the place of its bytes."""
    at = begin
    while at < end:
        key, at = _read_varint(data, at, end)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at, end)
            yield number, value
            continue
        if kind == _BYTES:
            length, at = _read_varint(data, at, end)
        elif kind in {_FIXED_64, _FIXED_32}:
            length = 8 if kind == _FIXED_64 else 4
        else:
            raise NoOnnxError("it is no protocol buffer")
        if number == 0 or length > end - at:
            raise NoOnnxError("it is no protocol buffer, or cut")
        yield number, slice(at, at + length)
        at += length


def _read_varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """Read an integer of seven bits a byte, and say where the next value begins."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise NoOnnxError("it is no protocol buffer, or cut")


# Inputs and outputs of an ONNX file, and which of them is what.

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})
_DTYPES: dict[str, type[np.integer[Any]]] = {"int64": np.int64, "int32": np.int32}


@dataclass(frozen=True, kw_only=True)
class ChosenPorts:
    """What a user, or a model's settings, say of its inputs and outputs."""

    inputs: Mapping[str, str]
    """Role of each input by its name, as far as it is given."""
    output: str | None = None
    """Name of the class scores; None to find it."""
    n_labels: int | None = None
    """How many labels there should be; None if that is not known."""
    each_token: bool = False
    """Whether an output of every token is wanted, shape (texts, tokens, numbers), and not class
    scores."""


NOTHING_CHOSEN = ChosenPorts(inputs={})
"""For models whose inputs and outputs have the usual names."""


@dataclass(frozen=True, kw_only=True)
class Ports:
    """What goes into a model and comes out."""

    inputs: dict[str, type[np.integer[Any]]]
    """The type of each input, by its name."""
    roles: dict[str, str]
    """What each input is: ``input_ids``, ``attention_mask``, ``token_type_ids`` or
    ``position_ids``."""
    output: str
    """Name of the class scores, or of the numbers of each token."""
    n_labels: int | None
    """How many there are; None if the file does not say so."""

    @classmethod
    def check(
        cls,
        inputs: Mapping[str, tuple[str, Sequence[Any]]],
        outputs: Mapping[str, Sequence[Any]],
        path: Path,
        chosen: ChosenPorts = NOTHING_CHOSEN,
    ) -> Ports:
        """Make sure that a model is one of token ids in and class scores or per-token outputs
        out.
        """
        try:
            roles = _find_roles(list(inputs), chosen.inputs)
            for name, (kind, shape) in inputs.items():
                _check_input(name, kind, shape)
            find_output = _find_token_output if chosen.each_token else _find_output
            output = find_output(outputs, chosen)
        except InputError as error:
            raise InputError(str(error), path=path) from error
        last = outputs[output][-1]
        return cls(
            inputs={name: _DTYPES[kind] for name, (kind, _) in inputs.items()},
            roles=roles,
            output=output,
            n_labels=last if isinstance(last, int) else None,
        )


def _find_roles(names: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the role of each of a model's inputs."""
    known = ", ".join(sorted(_INPUTS))
    for name, role in given.items():
        if name not in names:
            raise InputError(
                f"--onnx-inputs: the model has no input {name!r}; it has {', '.join(names)}"
            )
        if role not in _INPUTS:
            raise InputError(f"--onnx-inputs: {name}={role}: an input is one of {known}")
    roles = {name: given.get(name, name) for name in names}
    for name, role in roles.items():
        if role not in _INPUTS:
            raise InputError(
                f"the model wants an input {name!r}; known are {known} "
                f"(--onnx-inputs {name}=input_ids,... says what each input is)"
            )
        if list(roles.values()).count(role) > 1:
            twice = " and ".join(repr(each) for each in names if roles[each] == role)
            raise InputError(f"--onnx-inputs: {twice} are both {role}")
    if "input_ids" not in roles.values():
        raise InputError("the model has no input 'input_ids' (--onnx-inputs NAME=input_ids)")
    return roles


def _check_input(name: str, kind: str, shape: Sequence[Any]) -> None:
    if kind not in _DTYPES:
        raise InputError(f"the model's input {name!r} is {kind}; int64 or int32 is expected")
    if len(shape) != 2:
        raise InputError(
            f"the model's input {name!r} has the shape {_show(shape)}; (texts, tokens) is expected"
        )
    if any(isinstance(size, int) for size in shape):
        raise InputError(
            f"the model's input {name!r} has the fixed shape {_show(shape)}; export the model with "
            "sizes that are free (dynamic_axes or dynamic_shapes of torch.onnx.export), so that "
            "batches of any size and length can be run"
        )


def _find_output(outputs: Mapping[str, Sequence[Any]], chosen: ChosenPorts) -> str:
    """Return the name of the class scores."""
    shown = ", ".join(f"{name} {_show(shape)}" for name, shape in outputs.items())
    if chosen.output is not None:
        if chosen.output not in outputs:
            raise InputError(f"--onnx-output: there is no {chosen.output!r}; there are {shown}")
        if len(outputs[chosen.output]) != 2:
            raise InputError(
                f"the output {chosen.output!r} has the shape {_show(outputs[chosen.output])}; "
                f"(texts, labels) is expected"
            )
        return chosen.output
    n = chosen.n_labels
    found = [
        name
        for name, shape in outputs.items()
        if len(shape) == 2 and (n is None or not isinstance(shape[1], int) or shape[1] == n)
    ]
    if not found and n is not None:
        # Then its labels are named wrongly, which is said where they are read.
        found = [name for name, shape in outputs.items() if len(shape) == 2]
    if "logits" in found or len(found) == 1:
        return "logits" if "logits" in found else found[0]
    exact = [name for name in found if outputs[name][1] == n]
    if len(exact) == 1:
        return exact[0]
    if not found:
        raise InputError(
            f"no output has the shape (texts, labels); there are {shown}: is it a classifier?"
        )
    raise InputError(f"several outputs may be the class scores: {shown}; --onnx-output names one")


# As transformers, sentence-transformers and transformers' models with a head name them.
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings", "logits")


def _find_token_output(outputs: Mapping[str, Sequence[Any]], chosen: ChosenPorts) -> str:
    """Return the name of what comes out for every token."""
    found = [name for name, shape in outputs.items() if len(shape) == 3]
    usual = [name for name in _TOKEN_OUTPUTS if name in found]
    if chosen.output in found:
        return str(chosen.output)
    if chosen.output is None and (usual or len(found) == 1):
        return (usual or found)[0]
    shown = ", ".join(f"{name} {_show(shape)}" for name, shape in outputs.items())
    raise InputError(
        f"no output has the shape (texts, tokens, numbers); there are {shown}: an encoder or a "
        "masked language model is needed"
        if not found
        else f"several outputs are of every token: {shown}; export the model with one of them, "
        "named last_hidden_state or logits"
    )


def _show(shape: Sequence[Any]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


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
    if (runtime or _choose_runtime(path, precision, providers)) == "onnxruntime":
        return OnnxRuntime(path, providers=providers, n_threads=n_threads, chosen=chosen)
    return OpenVino(path, precision=precision, n_threads=n_threads, chosen=chosen)


def _choose_runtime(path: Path, precision: str, providers: Sequence[str] | None) -> str:
    """Say what runs a file fastest; bf16 beside a GPU is a mistake."""
    if precision != "bf16":
        is_better = providers is None and _suits_openvino(path)
        return "openvino" if is_better else "onnxruntime"
    if _has_gpu():
        raise InputError(
            "bf16 is computed by OpenVINO on the processor, and here is a GPU: export the model "
            "with --precision fp16 for it, or say --runtime openvino"
        )
    return "openvino"


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
