"""What all classifiers trained by torch share: devices, batches, and a loop that can be resumed."""

from __future__ import annotations

import io
import math
import time
from dataclasses import dataclass
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.protocol import Unfinished
    from ietest_fast.models.tokens import TokenStore


# Batches of inputs of like length, cut by a budget of tokens.


@dataclass(frozen=True, kw_only=True)
class Padding:
    """How a model wants inputs of different lengths brought to one."""

    token: int
    """Id of the padding token."""
    type_id: int = 0
    """Its token type."""
    left: bool = False
    """Whether it stands before the text instead of behind it."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Inputs of one length, padded."""

    input_ids: NDArray[np.int64]
    attention_mask: NDArray[np.int64]
    token_type_ids: NDArray[np.int64]
    """int64, shape (b, w)."""

    @property
    def position_ids(self) -> NDArray[np.int64]:
        """Places counted from 0 at the first token of the text, shape (b, w)."""
        return np.maximum(np.cumsum(self.attention_mask, axis=1) - 1, 0)


def plan_batches(lengths: NDArray[np.int64], *, token_budget: int) -> list[NDArray[np.int64]]:
    """Cut rows into batches: sorted by length, as many as fit the budget when padded."""
    order = np.argsort(lengths, kind="stable")
    widths = np.maximum(lengths[order], 1)
    batches = []
    end = len(order)
    while end > 0:
        # Sorted: the last row of a batch is the widest.
        size = max(1, int(token_budget // widths[end - 1]))
        batches.append(order[max(0, end - size) : end])
        end -= size
    return batches


def pad(
    store: TokenStore, rows: NDArray[np.int64], padding: Padding, *, multiple_of: int = 1
) -> Batch:
    """Put rows of a store into one rectangle."""
    some = store.take(rows)
    lengths = some.lengths
    width = -(-max(1, int(lengths.max())) // multiple_of) * multiple_of
    shape = (len(rows), width)
    mask: NDArray[Any] = np.arange(width) < lengths[:, None]
    if padding.left:
        mask = mask[:, ::-1]
    input_ids = np.full(shape, padding.token, dtype=np.int64)
    token_type_ids = np.full(shape, padding.type_id, dtype=np.int64)
    input_ids[mask] = some.ids
    token_type_ids[mask] = some.type_ids
    return Batch(
        input_ids=input_ids,
        attention_mask=mask.astype(np.int64),
        token_type_ids=token_type_ids,
    )


# Of so many batches' worth of shuffled rows those of like length are put together.
_BATCHES_SORTED_TOGETHER = 50


def never() -> bool:
    """Say no: nobody interrupts."""
    return False


def import_torch() -> Any:
    """Import torch, and let transformers say errors only."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise InputError(
            "this model needs torch and transformers, which are not installed: "
            "pip install 'ietest-fast[train]'"
        ) from error
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return torch


def check_minutes(minutes: float) -> float:
    """Give seconds for ``checkpoint_minutes``."""
    if not 0 <= minutes < math.inf:
        raise InputError(f"checkpoint_minutes is 0 or more, not {minutes}")
    return 60 * minutes


def choose_device() -> str:
    """Give ``cuda`` where there is a usable GPU, else ``cpu``."""
    torch = import_torch()
    return "cuda" if torch.cuda.is_available() else "cpu"


def multiplies_bf16_fast(device: str) -> bool:
    """Say whether a device has instructions for matrix products in bfloat16."""
    torch = import_torch()
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    for name in ("_is_amx_tile_supported", "_is_avx512_bf16_supported"):
        supported = getattr(torch.cpu, name, None)
        if supported is not None and supported():
            return True
    return False


def autocast(device: str, *, use_bf16: bool) -> Any:
    """Compute matrix products in bfloat16 where that is asked for; weights stay float32."""
    torch = import_torch()
    return torch.autocast(device, dtype=torch.bfloat16, enabled=use_bf16)


def order_batches(
    lengths: NDArray[np.int64], *, token_budget: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Cut one epoch's rows into batches of like length, in random order."""
    shuffled = rng.permutation(len(lengths))
    together = max(1, int(_BATCHES_SORTED_TOGETHER * token_budget / max(1.0, lengths.mean())))
    batches = []
    for begin in range(0, len(shuffled), together):
        rows = shuffled[begin : begin + together]
        batches += [
            rows[places] for places in plan_batches(lengths[rows], token_budget=token_budget)
        ]
    return [batches[i] for i in rng.permutation(len(batches))]


def plan_epochs(
    lengths: NDArray[np.int64], *, epochs: int, token_budget: int, seed: int
) -> list[NDArray[np.int64]]:
    """Give the batches of several epochs, each epoch in an order of its own."""
    return [
        rows
        for epoch in range(epochs)
        for rows in order_batches(
            lengths, token_budget=token_budget, rng=np.random.default_rng([seed, epoch])
        )
    ]


def make_adamw(
    module: Any, *, learning_rate: float, weight_decay: float, epsilon: float = 1e-8
) -> Any:
    """Make AdamW over what is trained; neither biases nor the scales of normalisations decay."""
    torch = import_torch()
    weights = [p for p in module.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in weights if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in weights if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=learning_rate, eps=epsilon, fused=True)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How large the steps of a training are."""

    learning_rate: float
    """The largest."""
    warmup: float = 0.0
    """Share of the steps in which it climbs."""
    decays: bool = True
    """Whether it then falls linearly to 0, or stays."""

    def rate(self, step: int, n_steps: int) -> float:
        """Give the learning rate of a step, counted from 0."""
        n_warmup = int(self.warmup * n_steps)
        if step < n_warmup:
            return self.learning_rate * (step + 1) / n_warmup
        if not self.decays:
            return self.learning_rate
        return self.learning_rate * (n_steps - step) / max(1, n_steps - n_warmup)


@dataclass(kw_only=True)
class Training:
    """One training, which can be stopped between two steps and taken up again."""

    module: Any
    """The network."""
    loss: Callable[[NDArray[np.int64]], Any]
    """Gives the mean loss of some rows, a tensor."""
    optimizer: Any
    """Over the network's weights."""
    schedule: Schedule
    """Of the learning rate."""
    max_grad_norm: float
    """Gradients are scaled down to this Euclidean length."""
    device: str
    """Where the network is."""

    def run(
        self,
        batches: Sequence[NDArray[np.int64]],
        *,
        unfinished: Unfinished | None,
        every_seconds: float,
        is_interrupted: Callable[[], bool],
    ) -> None:
        """Take a step on each batch."""
        kept = None if unfinished is None else unfinished.read()
        done = 0 if unfinished is None or kept is None else self._load(kept, unfinished.name)
        saved = time.monotonic()
        self.module.train()
        for step in range(done, len(batches)):
            if is_interrupted():
                if unfinished is not None:
                    unfinished.write(self._pack(step))
                raise KeyboardInterrupt
            self._step(batches[step], rate=self.schedule.rate(step, len(batches)))
            if unfinished is not None and time.monotonic() - saved >= every_seconds:
                unfinished.write(self._pack(step + 1))
                saved = time.monotonic()
        self.module.eval()
        if unfinished is not None and done < len(batches) and unfinished.read() is not None:
            unfinished.write(self._pack(len(batches)))

    def _step(self, rows: NDArray[np.int64], *, rate: float) -> None:
        torch = import_torch()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.loss(rows).backward()
        torch.nn.utils.clip_grad_norm_(self.module.parameters(), self.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def _weights(self) -> list[Any]:
        """Give what is trained; frozen weights are those that the training began with."""
        return [weight for weight in self.module.parameters() if weight.requires_grad]

    def _set_weights(self, values: Sequence[Any]) -> None:
        torch = import_torch()
        with torch.no_grad():
            for weight, value in zip(self._weights(), values, strict=True):
                weight.copy_(value)

    def _pack(self, done: int) -> bytes:
        """Return all that the training needs to be taken up again."""
        torch = import_torch()
        file = io.BytesIO()
        torch.save(
            {
                "done": done,
                "weights": [weight.detach() for weight in self._weights()],
                "optimizer": self.optimizer.state_dict(),
                "torch": torch.get_rng_state(),
                "cuda": torch.cuda.get_rng_state() if self.device == "cuda" else None,
            },
            file,
        )
        return file.getvalue()

    def _load(self, data: bytes, name: str) -> int:
        torch = import_torch()
        try:
            state = torch.load(io.BytesIO(data), map_location=self.device, weights_only=True)
            self._set_weights(state["weights"])
            self.optimizer.load_state_dict(state["optimizer"])
            torch.set_rng_state(state["torch"].cpu())
            if state["cuda"] is not None:
                torch.cuda.set_rng_state(state["cuda"].cpu())
            return int(state["done"])
        except (OSError, RuntimeError, KeyError, ValueError, EOFError, UnpicklingError) as error:
            raise InputError(
                f"the unfinished training {name} cannot be read; delete this file to begin it "
                f"anew: {error}"
            ) from error
