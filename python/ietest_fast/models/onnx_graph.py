"""What an ONNX file says of itself, read without the package onnx, and without its weights.

The file is one protocol buffer: fields, each a number and a value. Weights are skipped by their
length, so that a file of gigabytes is read as fast as a small one.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ietest_fast.files import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator
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
