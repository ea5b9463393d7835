"""Masked language models: what they say of hidden tokens, by PyTorch or ONNX Runtime."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.checkpoint import (
    TOKEN_BUDGET,
    check_new_folder,
    find_checkpoint,
    fingerprint_checkpoint,
    load_masked_model,
    load_tokenizer,
    model_inputs,
    read_padding,
    read_tokenizer_config,
    save_checkpoint,
)
from ietest_fast.models.onnx_models.classifier import OnnxFiles
from ietest_fast.models.token_networks import (
    BYTES_OF_OUTPUT,
    find_mask,
    find_shift,
    open_token_network,
    refuse_narrow,
)
from ietest_fast.models.training import choose_device, import_torch, pad, plan_batches

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TextTokenizer, TokenStore
    from ietest_fast.models.training import Padding

    Take = Callable[[NDArray[np.int64], NDArray[np.float32]], None]
    """Is given rows, int64 (b,), and for each the score of every token, float32 (b, V)."""


class MaskedModel(Protocol):
    """A masked language model."""

    tokenizer: TextTokenizer
    """Its own."""
    mask: int
    """Number of the token that hides another."""

    @property
    def backend(self) -> str:
        """What runs it, with its version."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of its files, 64 hexadecimal digits."""
        ...

    def read(self, store: TokenStore, places: NDArray[np.int64], take: Take) -> None:
        """Compute the scores of all tokens for one place of each input.

        Parameters
        ----------
        store
            n inputs; see :meth:`~ietest_fast.models.tokens.TextTokenizer.join`.
        places
            int64 (n,): which token of the input.
        take
            Is given every input once, in batches, in any order and from any thread; the scores are
            logits.

        Raises
        ------
        InputError
            If what the model returns is not of the shape that it should be.
        """
        ...


class OnnxMaskedModel:
    """A masked language model in an ONNX file, run by ONNX Runtime.

    Parameters
    ----------
    path
        A folder or an .onnx file, with the output ``logits`` of shape (texts, tokens, vocabulary).
    tokenizer
        A tokenizer.json or its folder; None to look beside the model.
    n_threads
        Batches that a processor computes at a time; None: as many as there are cores.

    Raises
    ------
    InputError
        If it cannot be loaded, or is no masked language model.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        tokenizer: str | Path | None = None,
        n_threads: int | None = None,
    ) -> None:
        network, mask = open_token_network(OnnxFiles.find(path, tokenizer=tokenizer))
        if mask is None:
            raise InputError(
                "is an encoder, which has no number for each word; give a masked language model",
                path=path,
            )
        self.tokenizer, self.mask = network.tokenizer, mask
        self._network = network
        self._n_threads = n_threads

    @property
    def backend(self) -> str:
        """ONNX Runtime with its version."""
        return self._network.runner.name

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the model's file, its tokenizer and its settings."""
        return self._network.hash("masked")

    def read(self, store: TokenStore, places: NDArray[np.int64], take: Take) -> None:
        """Compute the scores of all tokens for one place of each input."""
        network = self._network
        if not len(store):
            return
        largest = int(store.ids.max())

        def reduce(rows: NDArray[np.int64], output: NDArray[np.float32]) -> NDArray[np.float32]:
            shift = find_shift(network, store.lengths[rows], output)
            refuse_narrow(network, output, largest)
            take(rows, output[np.arange(len(rows)), places[rows] + shift])
            return output[:0]

        network.run(
            store,
            np.arange(len(store), dtype=np.int64),
            lambda _rows, _output: None,
            reduce=reduce,
            n_threads=self._n_threads,
        )


class TorchMaskedModel:
    """A masked language model of transformers, run by PyTorch in fp32.

    Parameters
    ----------
    module
        The model, ready to predict, on the device.
    folder
        The checkpoint that it and its tokenizer come from.
    device
        ``cuda`` or ``cpu``.
    fingerprint
        None: the checkpoint's.

    Raises
    ------
    InputError
        If the tokenizer has no token that hides another.
    """

    def __init__(
        self, module: Any, *, folder: Path, device: str, fingerprint: str | None = None
    ) -> None:
        self.tokenizer = load_tokenizer(folder)
        mask = find_mask(read_tokenizer_config(folder), self.tokenizer)
        if mask is None:
            raise InputError(
                "the tokenizer has no mask token, so this is no masked language model", path=folder
            )
        self.mask = mask
        self.module = module
        self.folder = folder
        self.device = device
        self.padding: Padding = read_padding(folder)
        self._fingerprint = fingerprint

    @classmethod
    def load(cls, checkpoint: str | Path, *, n_threads: int | None = None) -> TorchMaskedModel:
        """Load a checkpoint.

        Parameters
        ----------
        checkpoint
            A folder, or a name of the hub.
        n_threads
            Threads of the processor; None for torch's own choice.

        Raises
        ------
        InputError
            If it cannot be had, or is no masked language model.
        """
        folder = find_checkpoint(str(checkpoint))
        torch = import_torch()
        device = choose_device()
        module = load_masked_model(folder).to(device)
        if n_threads is not None:
            torch.set_num_threads(n_threads)
        return cls(module, folder=folder, device=device)

    @property
    def backend(self) -> str:
        """Torch with its version, the device and the precision."""
        return f"torch {import_torch().__version__} ({self.device}, fp32)"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the weights, the settings and the tokenizer."""
        if self._fingerprint is not None:
            return self._fingerprint
        weights = fingerprint_checkpoint(self.folder).rpartition("@")[2]
        return hashlib.sha256(f"masked {weights}".encode()).hexdigest()

    def save(self, target: Path) -> None:
        """Write a checkpoint, tokenizer included, into a folder that appears when it is complete.

        Raises
        ------
        InputError
            If it exists, or the folder above does not.
        """
        check_new_folder(target)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as room:
            whole = Path(room) / "whole"
            whole.mkdir()
            save_checkpoint(self.module, self.folder, whole)
            whole.rename(target)

    def read(self, store: TokenStore, places: NDArray[np.int64], take: Take) -> None:
        """Compute the scores of all tokens for one place of each input."""
        torch = import_torch()
        if not len(store):
            return
        n_words = int(self.module.config.vocab_size)
        budget = min(TOKEN_BUDGET[self.device], max(1, BYTES_OF_OUTPUT // (4 * n_words)))
        self.module.eval()
        with torch.inference_mode():
            for rows in plan_batches(store.lengths, token_budget=budget):
                lengths = store.lengths[rows]
                inputs = model_inputs(self.module, pad(store, rows, self.padding), self.device)
                at = places[rows] + (lengths.max() - lengths if self.padding.left else 0)
                logits = self.module(**inputs).logits
                # Of all tokens' scores one row an input is wanted, so the others stay on the GPU.
                chosen = logits[
                    torch.arange(len(rows), device=self.device),
                    torch.from_numpy(at).to(self.device),
                ]
                take(rows, chosen.float().cpu().numpy())
