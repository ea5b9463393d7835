"""What an ONNX file says of itself, read without the package onnx, and without its weights.

The file is one protocol buffer: fields, each a number and a value. Weights are skipped by their
length, so that a file of gigabytes is read as fast as a small one.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.files import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


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
