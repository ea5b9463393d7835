"""Inputs and outputs of an ONNX file, and which of them is what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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
