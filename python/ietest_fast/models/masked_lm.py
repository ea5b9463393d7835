"""Masked language models: what they say of hidden tokens, by PyTorch or ONNX Runtime."""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ietest_fast.atomic import new_folder
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
from ietest_fast.models.onnx_models.classifier import (
    BYTES_OF_OUTPUT,
    OnnxFiles,
    find_mask,
    find_shift,
    open_token_network,
    refuse_narrow,
)
from ietest_fast.models.tokens import TokenStore
from ietest_fast.models.training import (
    Schedule,
    Training,
    choose_device,
    import_torch,
    make_adamw,
    never,
    pad,
    plan_batches,
    plan_epochs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TextTokenizer
    from ietest_fast.models.training import Padding

    Take = Callable[[NDArray[np.int64], NDArray[np.float32]], None]
    "Is given rows, int64 (b,), and for each the score of every token, float32 (b, V)."


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
        with new_folder(target) as folder:
            save_checkpoint(self.module, self.folder, folder)

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


# Training masked language models: tokens are hidden at random, and the model has to find them.


# What a label is where nothing has to be found; torch's own number.
_NOTHING = -100


@dataclass(frozen=True, kw_only=True)
class MaskedSettings:
    """How a masked language model is trained."""

    epochs: int = 3
    """How often each pair is seen, with other tokens hidden each time."""
    learning_rate: float = 5e-5
    """Of AdamW; it falls linearly to 0."""
    batch_size: int = 32
    """Pairs of a batch, on the average: batches hold pairs of like length."""
    share: float = 0.15
    """Of a pair's tokens that have to be found, rounded; one at least."""
    masked: float = 0.8
    random: float = 0.1
    """Of these, the shares that the mask and a random token stand for; the others stay."""
    weight_decay: float = 0.01
    """Of AdamW; neither biases nor scales decay."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this Euclidean length."""
    seed: int = 0
    """Of the order, what is hidden, and dropout."""

    def __post_init__(self) -> None:
        checks = (
            ("epochs", self.epochs >= 1, "1 or more"),
            ("learning_rate", 0 < self.learning_rate < math.inf, "a number above 0"),
            ("batch_size", self.batch_size >= 1, "1 or more"),
            ("share", 0 < self.share <= 1, "above 0 and at most 1"),
            ("masked", 0 <= self.masked <= 1, "from 0 to 1"),
            ("random", 0 <= self.random <= 1 - self.masked + 1e-12, "from 0 to 1 - masked"),
            ("weight_decay", 0 <= self.weight_decay < math.inf, "a number, 0 or more"),
            ("max_grad_norm", self.max_grad_norm > 0, "above 0"),
            ("seed", self.seed >= 0, "0 or more"),
        )
        for name, is_right, expected in checks:
            if not is_right:
                raise InputError(f"{name} is {getattr(self, name)}; {expected} expected")


@dataclass(frozen=True, kw_only=True)
class TrainedMasked:
    """A trained masked language model, and how its training went."""

    model: TorchMaskedModel
    """The model; it is the one that training began with, changed."""
    settings: MaskedSettings
    """How it was trained."""
    n_pairs: int
    n_truncated: int
    """Pairs, and those that lost tokens because they were too long."""
    n_steps: int
    """Batches."""
    losses: tuple[float, ...]
    """Mean loss of each epoch, in nats for a hidden token."""
    seconds: float
    """How long it took."""


def train_masked(
    model: TorchMaskedModel,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    settings: MaskedSettings,
    *,
    on_step: Callable[[int, int], None] | None = None,
    is_interrupted: Callable[[], bool] = never,
) -> TrainedMasked:
    """Train a masked language model on pairs of texts."""
    torch = import_torch()
    if not len(premises):
        raise InputError("there are no texts to train on")
    begun = time.monotonic()
    store, n_truncated = _tokenise(model, premises, hypotheses)
    hider = Hider.of(model, store, settings)
    batches = plan_epochs(
        store.lengths,
        epochs=settings.epochs,
        token_budget=max(1, round(settings.batch_size * float(store.lengths.mean()))),
        seed=settings.seed,
    )
    devices = [torch.cuda.current_device()] if model.device == "cuda" else []
    seen: list[tuple[int, int, float]] = []
    epochs = np.zeros(len(store), np.int64)

    def loss(rows: NDArray[np.int64]) -> Any:
        (epoch,) = np.unique(epochs[rows])
        hidden, wanted = hider.hide(int(epoch))
        epochs[rows] += 1
        batch = pad(hidden, rows, model.padding)
        labels = pad(wanted, rows, model.padding).input_ids
        labels[batch.attention_mask == 0] = _NOTHING
        found = model.module(
            **model_inputs(model.module, batch, model.device),
            labels=torch.from_numpy(labels).to(model.device),
        ).loss
        seen.append((int(epoch), int((labels != _NOTHING).sum()), float(found.detach())))
        if not math.isfinite(seen[-1][2]):
            raise InputError(
                f"the training diverges: the loss of batch {len(seen):,} is {seen[-1][2]}; a "
                "smaller learning rate helps"
            )
        if on_step is not None:
            on_step(len(seen), len(batches))
        return found

    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(settings.seed)
        Training(
            module=model.module,
            loss=loss,
            optimizer=make_adamw(
                model.module,
                learning_rate=settings.learning_rate,
                weight_decay=settings.weight_decay,
            ),
            schedule=Schedule(learning_rate=settings.learning_rate),
            max_grad_norm=settings.max_grad_norm,
            device=model.device,
        ).run(batches, unfinished=None, every_seconds=math.inf, is_interrupted=is_interrupted)
    trained = TorchMaskedModel(
        model.module,
        folder=model.folder,
        device=model.device,
        fingerprint=_fingerprint(model, store, settings),
    )
    return TrainedMasked(
        model=trained,
        settings=settings,
        n_pairs=len(store),
        n_truncated=n_truncated,
        n_steps=len(batches),
        losses=tuple(_mean_loss(seen, epoch) for epoch in range(settings.epochs)),
        seconds=time.monotonic() - begun,
    )


def _tokenise(
    model: TorchMaskedModel, premises: Sequence[str], hypotheses: Sequence[str]
) -> tuple[TokenStore, int]:
    texts = [model.tokenizer.tokenise(list(column)) for column in (premises, hypotheses)]
    rows = [np.arange(len(premises), dtype=np.int64)] * 2
    kept = model.tokenizer.count_kept(texts, rows)
    n_truncated = int((sum(kept) < texts[0].lengths + texts[1].lengths).sum())
    return model.tokenizer.join(texts, rows), n_truncated


def _mean_loss(seen: Sequence[tuple[int, int, float]], epoch: int) -> float:
    own = [(n, loss) for each, n, loss in seen if each == epoch]
    return sum(n * loss for n, loss in own) / sum(n for n, _ in own)


def _fingerprint(model: TorchMaskedModel, store: TokenStore, settings: MaskedSettings) -> str:
    """Return a hash of what the trained model follows from, but for the order of sums."""
    digest = hashlib.sha256(model.fingerprint.encode())
    digest.update(json.dumps(asdict(settings), sort_keys=True).encode())
    for array in (store.ids, store.offsets):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(kw_only=True)
class Hider:
    """Hides tokens of a store, others in each epoch."""

    store: TokenStore
    """n inputs."""
    is_special: NDArray[np.bool_]
    """bool (tokens,): what is never hidden."""
    mask: int
    """The token that hides another."""
    n_words: int
    """Number of tokens that the model knows."""
    settings: MaskedSettings
    """How many are hidden, and the seed."""
    _epoch: int = -1
    _hidden: tuple[TokenStore, TokenStore] | None = None

    @classmethod
    def of(cls, model: TorchMaskedModel, store: TokenStore, settings: MaskedSettings) -> Hider:
        """Hide what a model has to find."""
        special = np.concatenate(model.tokenizer.template(2).ids)
        return cls(
            store=store,
            is_special=np.isin(store.ids, special),
            mask=model.mask,
            n_words=int(model.module.config.vocab_size),
            settings=settings,
        )

    def hide(self, epoch: int) -> tuple[TokenStore, TokenStore]:
        """Return the inputs of an epoch, and what has to be found (-100: nothing).

        The same tokens are hidden whatever the order of the batches is.
        """
        if self._hidden is None or self._epoch != epoch:
            self._epoch, self._hidden = epoch, self._draw(epoch)
        return self._hidden

    def _draw(self, epoch: int) -> tuple[TokenStore, TokenStore]:
        store, settings = self.store, self.settings
        rng = np.random.default_rng([settings.seed, epoch, 1])
        n = len(store.ids)
        row = np.repeat(np.arange(len(store)), store.lengths)
        # Special tokens come last in the random order of a row.
        order = np.lexsort((rng.random(n), self.is_special, row))
        place = np.empty(n, np.int64)
        place[order] = np.arange(n) - np.repeat(store.offsets[:-1], store.lengths)
        n_plain = np.bincount(row[~self.is_special], minlength=len(store))
        wanted = np.minimum(n_plain, np.maximum(1, np.rint(settings.share * n_plain)))
        is_chosen = place < wanted[row]
        way = rng.random(n)
        ids = store.ids.copy()
        ids[is_chosen & (way < settings.masked)] = self.mask
        is_random = is_chosen & (way >= settings.masked) & (way < settings.masked + settings.random)
        ids[is_random] = rng.integers(0, self.n_words, n)[is_random]
        labels = np.where(is_chosen, store.ids, _NOTHING).astype(np.int32)
        return tuple(  # type: ignore[return-value]
            TokenStore(ids=each, type_ids=store.type_ids, offsets=store.offsets)
            for each in (ids, labels)
        )
