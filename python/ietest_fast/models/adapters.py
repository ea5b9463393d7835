"""Low-rank adapters (LoRA, Hu et al. 2022): one frozen encoder, few weights per classifier."""

from __future__ import annotations

import copy
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ietest_fast.errors import InputError
from ietest_fast.models.training import import_torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, kw_only=True)
class AdapterSettings:
    """How large adapters are."""

    rank: int
    """Of each product that is added to a matrix; 1 or more."""
    alpha: float
    """The product is scaled by ``alpha / rank``."""
    dropout: float
    """In front of it, while it is trained."""


@contextmanager
def _quietly() -> Iterator[None]:
    """Let peft and transformers keep their advice to each other to themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def draw_weight(name: str, weight: Any, *, std: float) -> None:
    """Begin anew: matrices at random, biases at 0, the scales of normalisations at 1."""
    torch = import_torch()
    with torch.no_grad():
        if weight.ndim > 1:
            weight.normal_(std=std)
        elif name.endswith(".bias"):
            weight.zero_()
        else:
            weight.fill_(1.0)


class SharedEncoder:
    """A frozen encoder that any number of adapters share, each with a head of its own."""

    def __init__(self, model: Any, fresh: Sequence[str], settings: AdapterSettings) -> None:
        try:
            import peft
        except ImportError as error:
            raise InputError(
                "adapters need peft, which is not installed: pip install 'ietest-fast[train]'"
            ) from error
        prefix = f"{model.base_model_prefix}."
        heads = {name.removeprefix(prefix).partition(".")[0] for name in fresh}
        self._fresh = frozenset(fresh)
        self._std = float(getattr(model.config, "initializer_range", 0.02))
        self._config = peft.LoraConfig(
            task_type=peft.TaskType.SEQ_CLS,
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules="all-linear",
            exclude_modules=rf"(.*\.)?({'|'.join(sorted(heads))})(\..*)?" if heads else None,
            modules_to_save=sorted(heads),
        )
        with _quietly():
            self.model = peft.get_peft_model(model, self._config, adapter_name="unused")
        self._n_made = 0

    def add(self) -> str:
        """Make an adapter and a head, drawn from torch's random numbers, and use them."""
        self._n_made += 1
        name = f"adapter_{self._n_made}"
        with _quietly():
            self.model.add_adapter(name, copy.copy(self._config))
        saved = f".modules_to_save.{name}"
        for path, weight in self.model.named_parameters():
            plain = path.replace(saved, "").removeprefix("base_model.model.")
            if saved in path and plain in self._fresh:
                draw_weight(path, weight, std=self._std)
        self.use(name)
        return name

    def use(self, name: str) -> None:
        """Let the encoder run with an adapter; only its weights are then trainable."""
        with _quietly():
            self.model.set_adapter(name)

    def drop(self, name: str) -> None:
        """Forget an adapter."""
        with _quietly():
            self.model.delete_adapter(name)

    def merge(self, name: str) -> Any:
        """Give a model of its own, the adapter's products added to its matrices."""
        self.use(name)
        model = copy.deepcopy(self.model)
        with _quietly():
            return model.merge_and_unload(adapter_names=[name])
