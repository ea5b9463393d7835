"""Sequence-classification transformers, fine-tuned on resamples (section 4.3, Tables 8 to 12).

Texts are tokenised once and kept as arrays; a resample is a choice of rows. Batches hold inputs of
like length and are cut by a budget of tokens, so that hardly anything is padding.
"""

from __future__ import annotations

import copy
import json
import re
import warnings
import weakref
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.checkpoint import (
    TORCH_PRECISIONS,
    chooses_bf16,
    count_weight_bytes,
    find_checkpoint,
    fingerprint_checkpoint,
    load_classifier,
    load_tokenizer,
    load_weights,
    model_inputs,
    read_max_length,
    read_padding,
    run_model,
    save_checkpoint,
)
from ietest_fast.models.classifiers import ScoringClassifier
from ietest_fast.models.label_map import read_json
from ietest_fast.models.protocol import (
    Bounds,
    Capabilities,
    EncodedRows,
    EncodedSplit,
    FixedSpace,
    FloatRange,
    IntegerRange,
    Params,
    RowStore,
    SearchSpace,
    SplitTexts,
    Unfinished,
    normalise_params,
)
from ietest_fast.models.tokens import TextRows, encode_splits
from ietest_fast.models.training import (
    Schedule,
    Training,
    autocast,
    check_minutes,
    choose_device,
    import_torch,
    make_adamw,
    never,
    pad,
    plan_epochs,
)
from ietest_fast.registry import must_be_here
from ietest_fast.runtime import available_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ietest_fast.models.training import Padding


# Low-rank adapters (LoRA, Hu et al. 2022): one frozen encoder, few weights per classifier.


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


# Tables 8 to 12: one space for all.
_SEARCH_SPACE: SearchSpace = {
    "epochs": IntegerRange(low=1, high=3),
    "max_length": IntegerRange(low=50, high=200, step=10),
    "learning_rate": FloatRange(low=5e-5, high=1e-4),
    "weight_decay": FloatRange(low=0.0, high=0.01),
    "adam_epsilon": FloatRange(low=1e-8, high=1e-7),
    "max_grad_norm": FloatRange(low=0.9, high=1.0),
}

_ALLOWED: Mapping[str, Bounds] = {
    "epochs": Bounds(low=1),
    "max_length": Bounds(low=4),
    "learning_rate": Bounds(low=0, high=1, low_included=False),
    "weight_decay": Bounds(low=0, high=1),
    "adam_epsilon": Bounds(low=0, high=1, low_included=False),
    "max_grad_norm": Bounds(low=0, low_included=False),
}


def _preset(*values: float) -> Params:
    return dict(zip(_SEARCH_SPACE, values, strict=True))


# The values that Tables 8 to 12 give as best.
_PRESETS: dict[str, Params] = {
    "table8-albert-snli": _preset(2, 90, 6.7e-5, 1.1e-3, 3e-8, 0.91),
    "table8-albert-mnli": _preset(2, 130, 6.7e-5, 6.6e-3, 2e-8, 0.97),
    "table9-bert-snli": _preset(3, 130, 7.7e-5, 2.2e-3, 1e-7, 0.94),
    "table9-bert-mnli": _preset(2, 90, 7.2e-5, 3.3e-3, 3e-8, 1.0),
    "table10-xlnet-snli": _preset(1, 100, 6.7e-5, 0.01, 4e-8, 1.0),
    "table10-xlnet-mnli": _preset(2, 100, 6.1e-5, 4.4e-3, 1e-7, 0.9),
    "table11-roberta-base-snli": _preset(3, 140, 3.2e-5, 8.8e-3, 2e-8, 0.9),
    "table11-roberta-base-mnli": _preset(1, 150, 6.1e-5, 3.3e-3, 1e-7, 0.93),
    "table12-roberta-large-snli": _preset(1, 140, 5e-5, 8.8e-3, 4e-8, 0.93),
    "table12-roberta-large-mnli": _preset(2, 150, 5e-5, 8.8e-3, 5e-7, 0.9),
}


# On top of an encoder, and often not kept with it.
_POOLER = re.compile(r"\bpooler\b|\bposition_ids\b")

# Generous for encoders of up to 24 layers of 1,024; and what torch takes for itself.
_BYTES_PER_TOKEN = 2_000_000
_BYTES_OF_A_PROCESS = 700_000_000


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """What is not searched over."""

    token_budget: int
    """Padded tokens of a training batch."""
    warmup: float
    """Share of the steps in which the learning rate climbs; it then falls linearly to 0."""
    precision: str
    """``fp32``, ``bf16``, or ``auto``: bf16 where the hardware multiplies it faster."""
    adapters: AdapterSettings | None
    """Of low rank, or None to train all weights."""
    attention: str
    """transformers' name of an implementation; empty for its own choice."""
    compiles: bool
    """Whether the model is compiled."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TransformerClassifier(ScoringClassifier):
    """A fine-tuned transformer."""

    model: Any
    checkpoint: Path
    padding: Padding
    max_length: int
    device: str
    use_bf16: bool
    shared: SharedEncoder | None = None
    adapter: str = ""

    def __post_init__(self) -> None:
        if self.shared is not None:
            weakref.finalize(self, self.shared.drop, self.adapter)

    def predict_logits(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Give class scores, float32, shape (len(rows), n_classes); equal rows are run once."""
        distinct, place_of = np.unique(rows, return_inverse=True)
        tokens = cast("TextRows", store).tokens(distinct, max_length=self.max_length)
        if self.shared is not None:
            self.shared.use(self.adapter)
        scores = run_model(
            self.model,
            tokens,
            self.padding,
            device=self.device,
            use_bf16=self.use_bf16,
        )
        return scores[place_of]

    def save(self, folder: Path, *, label_names: Sequence[str]) -> None:
        """Write a checkpoint that anything built on transformers loads, tokenizer included."""
        whole = self.model if self.shared is None else self.shared.merge(self.adapter)
        whole.config.id2label = dict(enumerate(label_names))
        whole.config.label2id = {name: i for i, name in enumerate(label_names)}
        save_checkpoint(whole, self.checkpoint, folder)
        # Whatever runs it later is to cut texts where this does.
        settings = folder / "tokenizer_config.json"
        values = read_json(settings if settings.is_file() else None)
        values["model_max_length"] = self.max_length
        settings.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


class Transformer(FixedSpace):
    """Any checkpoint for sequence classification, from a hub's name or a local folder."""

    name = "transformer"
    _SPACE = _SEARCH_SPACE
    _ALLOWED = _ALLOWED
    _PRESETS = _PRESETS

    def __init__(
        self,
        *,
        checkpoint: str = "",
        token_budget: int = 1024,
        warmup: float = 0.0,
        precision: str = "auto",
        lora_rank: int = 0,
        lora_alpha: float = 16.0,
        lora_dropout: float = 0.05,
        attention: str = "",
        compile: bool = False,  # noqa: A002 - an option by name
        checkpoint_minutes: float = 10.0,
    ) -> None:
        if not checkpoint:
            raise InputError(
                'a transformer needs a checkpoint, such as --model-option checkpoint="roberta-base"'
            )
        if precision not in TORCH_PRECISIONS:
            raise InputError(
                f"precision must be one of {', '.join(TORCH_PRECISIONS)}, not {precision!r}"
            )
        if token_budget < 1:
            raise InputError(f"token_budget must be 1 or more, not {token_budget}")
        if not 0 <= warmup < 1:
            raise InputError(f"warmup is a share of the steps, 0 or more and below 1, not {warmup}")
        if "/" in attention:
            raise InputError(
                f"attention is one of transformers' own, such as sdpa, not {attention!r}, which is "
                "code of the hub"
            )
        self._checkpoint = checkpoint
        self._named_by = must_be_here(checkpoint)
        if lora_rank < 0 or not 0 <= lora_dropout < 1:
            raise InputError(
                f"lora_rank is 0 or more and lora_dropout a probability below 1, not {lora_rank} "
                f"and {lora_dropout}"
            )
        self._settings = TrainingSettings(
            token_budget=token_budget,
            warmup=warmup,
            precision=precision,
            adapters=AdapterSettings(rank=lora_rank, alpha=lora_alpha, dropout=lora_dropout)
            if lora_rank
            else None,
            attention=attention,
            compiles=bool(compile),
        )
        self._shared: dict[int, SharedEncoder] = {}
        self._checkpoint_seconds = check_minutes(checkpoint_minutes)

    @property
    def backend(self) -> str:
        """Torch and transformers with their versions, the device and the precision."""
        torch = import_torch()
        import transformers

        device = choose_device()
        precision = "bf16" if chooses_bf16(self._settings.precision, device) else "fp32"
        return (
            f"torch {torch.__version__}, transformers {transformers.__version__}, "
            f"{device} {precision}"
        )

    @cached_property
    def _fingerprint(self) -> str:
        return fingerprint_checkpoint(self._folder)

    @cached_property
    def _folder(self) -> Path:
        """Find the checkpoint, once: what a hub's name stands for may change."""
        return find_checkpoint(self._checkpoint, named_by=self._named_by)

    @property
    def capabilities(self) -> Capabilities:
        """It saves, restores, resumes, and sums in another order on another number of threads."""
        return Capabilities(
            saves=True,
            restores=True,
            resumes=True,
            depends_on_threads=True,
            max_jobs=self._count_jobs,
            worker_options=self._find_worker_options,
        )

    def _find_worker_options(self) -> dict[str, Any]:
        """Return the folder that was found, not a hub's name."""
        return {"checkpoint": str(self._folder.resolve())}

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over; the checkpoint counts by what is in it."""
        return {
            "checkpoint": self._fingerprint,
            "token_budget": self._settings.token_budget,
            "warmup": self._settings.warmup,
            "precision": self._settings.precision,
            "attention": self._settings.attention,
            "compile": self._settings.compiles,
            **self._adapter_options(),
        }

    def _adapter_options(self) -> dict[str, str | int | float | bool]:
        settings = self._settings.adapters
        if settings is None:
            return {"lora_rank": 0}
        return {
            "lora_rank": settings.rank,
            "lora_alpha": settings.alpha,
            "lora_dropout": settings.dropout,
        }

    def _count_jobs(self) -> int:
        """Compute how many trainings fit into the memory of the GPU, or else of the machine.

        Each has its weights four times (with gradients and Adam's two moments), and activations.
        """
        torch = import_torch()
        copies = 4 if self._settings.adapters is None else 2
        activations = self._settings.token_budget * _BYTES_PER_TOKEN
        needed = copies * count_weight_bytes(self._folder) + activations + _BYTES_OF_A_PROCESS
        if choose_device() == "cuda":
            free, _ = torch.cuda.mem_get_info()
        else:
            free = available_memory() or 0
        return max(1, int(0.9 * free / needed))

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Tokenise every split, each distinct text once."""
        folder = self._folder
        return encode_splits(load_tokenizer(folder), splits, text_columns)

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> TextRows:
        """Make a store again from its arrays."""
        return TextRows.from_arrays(arrays)

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,  # noqa: ARG002 - the number of epochs is a hyperparameter
        *,
        params: Params,
        n_classes: int,
        seed: int,
        n_threads: int = 1,
        unfinished: Unfinished | None = None,
        is_interrupted: Callable[[], bool] = never,
    ) -> TransformerClassifier:
        """Fine-tune the checkpoint."""
        torch = import_torch()
        torch.set_num_threads(n_threads)
        params = normalise_params(params, _SEARCH_SPACE)
        device = choose_device()
        use_bf16 = chooses_bf16(self._settings.precision, device)
        folder = self._folder
        max_length = min(int(params["max_length"]), read_max_length(folder))
        padding = read_padding(folder)
        tokens = cast("TextRows", train.store).tokens(np.asarray(train.rows), max_length=max_length)
        labels = torch.from_numpy(np.asarray(train.labels, dtype=np.int64)).to(device)
        devices = [torch.cuda.current_device()] if device == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            shared, adapter = None, ""
            if self._settings.adapters is None:
                model, _ = _load_model(folder, n_classes, self._settings.attention)
                model = model.to(device)
            else:
                shared = self._share(folder, n_classes, device)
                adapter = shared.add()
                model = shared.model
            run = torch.compile(model, dynamic=True) if self._settings.compiles else model

            def loss(rows: NDArray[np.int64]) -> Any:
                inputs = model_inputs(model, pad(tokens, rows, padding), device)
                with autocast(device, use_bf16=use_bf16):
                    return run(**inputs, labels=labels[torch.from_numpy(rows).to(device)]).loss

            Training(
                module=model,
                loss=loss,
                optimizer=make_adamw(
                    model,
                    learning_rate=float(params["learning_rate"]),
                    weight_decay=float(params["weight_decay"]),
                    epsilon=float(params["adam_epsilon"]),
                ),
                schedule=Schedule(
                    learning_rate=float(params["learning_rate"]), warmup=self._settings.warmup
                ),
                max_grad_norm=float(params["max_grad_norm"]),
                device=device,
            ).run(
                plan_epochs(
                    tokens.lengths,
                    epochs=int(params["epochs"]),
                    token_budget=self._settings.token_budget,
                    seed=seed,
                ),
                unfinished=unfinished,
                every_seconds=self._checkpoint_seconds,
                is_interrupted=is_interrupted,
            )
        return TransformerClassifier(
            model=model,
            checkpoint=folder,
            padding=padding,
            max_length=max_length,
            device=device,
            use_bf16=use_bf16,
            shared=shared,
            adapter=adapter,
        )

    def restore(self, folder: Path, *, params: Params, n_threads: int = 1) -> TransformerClassifier:
        """Return a classifier that was saved; adapters have become part of its weights."""
        import_torch().set_num_threads(n_threads)
        params = normalise_params(params, _SEARCH_SPACE)
        device = choose_device()
        checkpoint = self._folder
        return TransformerClassifier(
            model=load_classifier(folder).to(device),
            checkpoint=checkpoint,
            padding=read_padding(checkpoint),
            max_length=min(int(params["max_length"]), read_max_length(checkpoint)),
            device=device,
            use_bf16=chooses_bf16(self._settings.precision, device),
        )

    def _share(self, folder: Path, n_classes: int, device: str) -> SharedEncoder:
        """Give the frozen encoder, loaded once in a process."""
        torch = import_torch()
        if n_classes not in self._shared:
            with torch.random.fork_rng():
                torch.manual_seed(0)  # of weights that the adapters replace
                model, fresh = _load_model(folder, n_classes, self._settings.attention)
                settings = cast("AdapterSettings", self._settings.adapters)
                self._shared[n_classes] = SharedEncoder(model.to(device), fresh, settings)
        return self._shared[n_classes]


def _load_model(folder: Path, n_classes: int, attention: str) -> tuple[Any, list[str]]:
    """Load a checkpoint with a head for so many classes, and say which weights are fresh.

    A head that the checkpoint has is drawn anew: its outputs are in the order of the labels that it
    was trained on, which need not be the data's.
    """
    model, report = load_weights(
        folder,
        num_labels=n_classes,
        problem_type="single_label_classification",
        attn_implementation=attention or None,
        ignore_mismatched_sizes=True,
    )
    fresh = [*report["missing_keys"], *(key[0] for key in report["mismatched_keys"])]
    encoder = f"{model.base_model_prefix}."
    wanting = [name for name in fresh if name.startswith(encoder) and not _POOLER.search(name)]
    if wanting:
        raise InputError(
            f"this checkpoint lacks weights of its encoder, or has them in other sizes than its "
            f"config.json says: {', '.join(sorted(wanting)[:3])}"
            f"{f' and {len(wanting) - 3} more' if len(wanting) > 3 else ''}",
            path=folder,
        )
    std = float(getattr(model.config, "initializer_range", 0.02))
    known = set(fresh)
    for name, weight in model.named_parameters():
        if not name.startswith(encoder) and name not in known:
            draw_weight(name, weight, std=std)
            fresh.append(name)
    return model, fresh
