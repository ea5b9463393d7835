"""Networks with an output for every token: encoders and masked language models."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.label_map import read_json, read_n_known
from ietest_fast.models.onnx_models.classifier import OnnxNetwork
from ietest_fast.models.onnx_models.runners import ChosenPorts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models.onnx_models.classifier import OnnxFiles
    from ietest_fast.models.tokens import TextTokenizer

BYTES_OF_OUTPUT = 1 << 28
"""Of a batch's log-probabilities: a language model gives one for each token it knows."""

# What families call the token that hides another, where a tokenizer's settings do not say so.
_USUAL_MASKS = ("[MASK]", "<mask>")


def is_checkpoint(path: Path) -> bool:
    """Tell a checkpoint of transformers, which has weights and no .onnx file."""
    if not path.is_dir() or any(path.glob("*.onnx")) or any((path / "onnx").glob("*.onnx")):
        return False
    return any(path.glob("*.safetensors")) or any(path.glob("pytorch_model*.bin"))


def find_mask(tokenizer_config: Mapping[str, Any], tokenizer: TextTokenizer) -> int | None:
    """Return the number of the token that hides another; None if there is no such token."""
    named = tokenizer_config.get("mask_token")
    if isinstance(named, dict):
        named = named.get("content")
    for token in (named,) if isinstance(named, str) else _USUAL_MASKS:
        number = tokenizer.token_id(token)
        if number is not None:
            return number
    return None


def open_token_network(files: OnnxFiles) -> tuple[OnnxNetwork, int | None]:
    """Load an ONNX file, and find the token that hides others if it is of a language model."""
    network = OnnxNetwork.open(
        files,
        # One runtime, whatever is installed: another one rounds in another way.
        runtime="onnxruntime",
        chosen=ChosenPorts(inputs={}, each_token=True),
    )
    ports, n_known = network.runner.ports, read_n_known(read_json(files.config))
    if ports.output != "logits" and (n_known is None or ports.n_labels != n_known):
        return network, None
    if ports.n_labels is not None and n_known is not None and ports.n_labels < n_known:
        raise InputError(
            f"its output {ports.output!r} has {ports.n_labels:,} numbers for each token, and its "
            f"vocabulary {n_known:,} tokens, so this is neither an encoder nor a masked language "
            "model (is it one that labels tokens?)",
            path=files.model,
        )
    mask = find_mask(read_json(files.tokenizer_config), network.tokenizer)
    if mask is None:
        raise InputError(
            "the tokenizer has no mask token, so this is no masked language model; give a "
            "sentence encoder or a masked language model",
            path=files.tokenizer,
        )
    n_numbers = ports.n_labels or n_known
    if n_numbers is not None:
        budget = min(network.token_budget, max(1, BYTES_OF_OUTPUT // (4 * n_numbers)))
        network = dataclasses.replace(network, token_budget=budget)
    return network, mask


def find_shift(
    network: OnnxNetwork, lengths: NDArray[np.int64], output: NDArray[np.float32]
) -> NDArray[np.int64]:
    """Return how far padding moves the tokens of each input of a batch, int64 (b,)."""
    width = int(lengths.max())
    if output.ndim != 3 or output.shape[:2] != (len(lengths), width):
        raise InputError(
            f"the model returned an array of shape {output.shape} for {len(lengths)} inputs of "
            f"{width} tokens; expected {(len(lengths), width)} and the numbers of each token",
            path=network.files.model,
        )
    return width - lengths if network.padding.left else np.zeros_like(lengths)


def refuse_narrow(network: OnnxNetwork, output: NDArray[np.float32], largest: int) -> None:
    """Refuse an output without a number for a token that the tokenizer makes."""
    if output.shape[2] <= largest:
        raise InputError(
            f"the model returned {output.shape[2]:,} numbers for each token, but the "
            f"tokenizer has a token {largest:,}; give a masked language model, or the "
            "tokenizer that belongs to it",
            path=network.files.model,
        )
