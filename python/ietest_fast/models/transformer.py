"""Sequence-classification transformers, fine-tuned on resamples (section 4.3, Tables 8 to 12).

Texts are tokenised once and kept as arrays; a resample is a choice of rows. Batches hold inputs of
like length and are cut by a budget of tokens, so that hardly anything is padding.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.batching import pad, plan_batches
from ietest_fast.models.onnx import find_max_length, find_padding, read_json
from ietest_fast.models.protocol import (
    EncodedRows,
    EncodedSplit,
    FloatRange,
    IntegerRange,
    Interval,
    Params,
    RowStore,
    SearchSpace,
    SplitTexts,
    check_against_space,
    normalise_params,
)
from ietest_fast.models.tokens import TextRows, TextTokenizer, encode_splits
from ietest_fast.models.training import (
    Schedule,
    Training,
    autocast,
    choose_device,
    import_torch,
    multiplies_bf16_fast,
    plan_epochs,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.batching import Batch, Padding

# Tables 8 to 12: one space for all. Lengths are multiples of 10.
_SEARCH_SPACE: SearchSpace = {
    "epochs": IntegerRange(low=1, high=3),
    "max_length": IntegerRange(low=50, high=200),
    "learning_rate": FloatRange(low=5e-5, high=1e-4),
    "weight_decay": FloatRange(low=0.0, high=0.01),
    "adam_epsilon": FloatRange(low=1e-8, high=1e-7),
    "max_grad_norm": FloatRange(low=0.9, high=1.0),
}

_ALLOWED: Mapping[str, Interval] = {
    "epochs": Interval(low=1),
    "max_length": Interval(low=4),
    "learning_rate": Interval(low=0, high=1, low_included=False),
    "weight_decay": Interval(low=0, high=1),
    "adam_epsilon": Interval(low=0, high=1, low_included=False),
    "max_grad_norm": Interval(low=0, low_included=False),
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

# Files from which transformers makes a tokenizer where there is no tokenizer.json.
_VOCABULARIES = (
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "tokenizer.model",
    "sentencepiece.bpe.model",
)

_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "merges.txt",
    "added_tokens.json",
)


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """What is not searched over.

    Attributes
    ----------
    token_budget
        Padded tokens of a training batch.
    warmup
        Share of the steps in which the learning rate climbs; it then falls linearly to 0.
    precision
        ``fp32``, ``bf16``, or ``auto``: bf16 where the hardware multiplies it faster.
    """

    token_budget: int
    warmup: float
    precision: str


class TransformerClassifier:
    """A fine-tuned transformer."""

    def __init__(
        self,
        model: Any,
        *,
        checkpoint: Path,
        padding: Padding,
        max_length: int,
        device: str,
        use_bf16: bool,
    ) -> None:
        self._model = model
        self._checkpoint = checkpoint
        self._padding = padding
        self._max_length = max_length
        self._device = device
        self._use_bf16 = use_bf16

    def predict_logits(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Give class scores, float32, shape (len(rows), n_classes); equal rows are run once."""
        torch = import_torch()
        distinct, place_of = np.unique(rows, return_inverse=True)
        tokens = cast("TextRows", store).tokens(distinct, max_length=self._max_length)
        budget = 16_384 if self._device == "cuda" else 2048
        scores: NDArray[np.float32] | None = None
        self._model.eval()
        with torch.inference_mode(), autocast(self._device, use_bf16=self._use_bf16):
            for places in plan_batches(tokens.lengths, token_budget=budget):
                batch = pad(tokens, places, self._padding)
                logits = self._model(**model_inputs(self._model, batch, self._device)).logits
                some = logits.float().cpu().numpy()
                if scores is None:
                    scores = np.empty((len(distinct), some.shape[1]), dtype=np.float32)
                scores[places] = some
        if scores is None:
            return np.empty((0, self._model.config.num_labels), dtype=np.float32)
        return scores[place_of]

    def save(self, folder: Path, *, label_names: Sequence[str]) -> None:
        """Write a checkpoint that anything built on transformers loads, tokenizer included.

        Parameters
        ----------
        folder
            An empty folder.
        label_names
            In the order of the labels' codes.
        """
        self._model.config.id2label = dict(enumerate(label_names))
        self._model.config.label2id = {name: i for i, name in enumerate(label_names)}
        self._model.save_pretrained(folder)
        for name in (*_TOKENIZER_FILES, *_VOCABULARIES):
            if (self._checkpoint / name).is_file():
                shutil.copyfile(self._checkpoint / name, folder / name)

    def predict_proba(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Predict class probabilities, float32, shape (len(rows), n_classes)."""
        from ietest_fast.models.evaluation import softmax

        return softmax(self.predict_logits(store, rows))

    def predict(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Predict labels, int8, shape (len(rows),); of equally likely ones the lowest."""
        labels: NDArray[np.int8] = self.predict_logits(store, rows).argmax(axis=1).astype(np.int8)
        return labels


def model_inputs(model: Any, batch: Batch, device: str) -> dict[str, Any]:
    """Give a batch as the tensors that a model takes."""
    torch = import_torch()
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    if getattr(model.config, "type_vocab_size", 0) > 1 or model.config.model_type == "xlnet":
        inputs["token_type_ids"] = batch.token_type_ids
    return {
        name: torch.from_numpy(array).to(device, non_blocking=True)
        for name, array in inputs.items()
    }


class Transformer:
    """Any checkpoint for sequence classification, from a hub's name or a local folder.

    Parameters
    ----------
    checkpoint
        A folder, or a name such as ``"roberta-base"``; a bare encoder gets a fresh head.
    token_budget
        Padded tokens of a training batch, 1,024 (some 32 pairs of SNLI's) unless given.
    warmup
        Share of the steps in which the learning rate climbs; it then falls linearly to 0.
    precision
        ``"auto"``, ``"fp32"`` or ``"bf16"`` (autocast; weights stay fp32).
    checkpoint_minutes
        How often an unfinished training is saved.

    Raises
    ------
    InputError
        If an option is none. That a checkpoint cannot be had is found out by :meth:`encode`.
    """

    name = "transformer"
    resumes = True
    saves = True

    def __init__(
        self,
        checkpoint: str = "",
        token_budget: int = 1024,
        warmup: float = 0.0,
        precision: str = "auto",
        checkpoint_minutes: float = 10.0,
    ) -> None:
        if not checkpoint:
            raise InputError(
                'a transformer needs a checkpoint, such as --model-option checkpoint="roberta-base"'
            )
        if precision not in {"auto", "fp32", "bf16"}:
            raise InputError(f'precision must be "auto", "fp32" or "bf16", not {precision!r}')
        if token_budget < 1:
            raise InputError(f"token_budget must be 1 or more, not {token_budget}")
        if not 0 <= warmup < 1:
            raise InputError(f"warmup is a share of the steps, 0 or more and below 1, not {warmup}")
        self._checkpoint = checkpoint
        self._settings = TrainingSettings(
            token_budget=token_budget, warmup=warmup, precision=precision
        )
        self._checkpoint_seconds = 60 * checkpoint_minutes

    @property
    def backend(self) -> str:
        """Torch and transformers with their versions, and the device."""
        torch = import_torch()
        import transformers

        return (
            f"torch {torch.__version__}, transformers {transformers.__version__}, {choose_device()}"
        )

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over."""
        return {
            "checkpoint": self._checkpoint,
            "token_budget": self._settings.token_budget,
            "warmup": self._settings.warmup,
            "precision": self._settings.precision,
        }

    @property
    def search_space(self) -> SearchSpace:
        """Tables 8 to 12."""
        return _SEARCH_SPACE

    @property
    def presets(self) -> Mapping[str, Params]:
        """The values that Tables 8 to 12 give as best."""
        return _PRESETS

    def check_params(self, params: Mapping[str, Any]) -> list[str]:
        """Say what is wrong with some hyperparameters, each with its name."""
        return check_against_space(params, _SEARCH_SPACE, allowed=_ALLOWED)

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Tokenise every split, each distinct text once.

        Raises
        ------
        InputError
            If the checkpoint or its tokenizer cannot be had.
        """
        folder = find_checkpoint(self._checkpoint)
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
        resume_from: Path | None = None,
    ) -> TransformerClassifier:
        """Fine-tune the checkpoint.

        Parameters
        ----------
        train, valid
            The validation set is not used.
        params
            As in :attr:`search_space`.
        n_classes
            Number of labels.
        seed
            Of the head's weights, the order of batches and dropout.
        n_threads
            Threads of the processor.
        resume_from
            A file for an unfinished training: read if it is there, written now and then, removed
            at the end. None to keep none.
        """
        torch = import_torch()
        torch.set_num_threads(n_threads)
        params = normalise_params(params, _SEARCH_SPACE)
        device = choose_device()
        precision = self._settings.precision
        use_bf16 = precision == "bf16" or (precision == "auto" and multiplies_bf16_fast(device))
        folder = find_checkpoint(self._checkpoint)
        max_length = min(int(params["max_length"]), read_max_length(folder))
        padding = read_padding(folder)
        tokens = cast("TextRows", train.store).tokens(np.asarray(train.rows), max_length=max_length)
        labels = torch.from_numpy(np.asarray(train.labels, dtype=np.int64)).to(device)
        devices = [torch.cuda.current_device()] if device == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            model = _load_model(folder, n_classes).to(device)

            def loss(rows: NDArray[np.int64]) -> Any:
                inputs = model_inputs(model, pad(tokens, rows, padding), device)
                with autocast(device, use_bf16=use_bf16):
                    return model(**inputs, labels=labels[torch.from_numpy(rows).to(device)]).loss

            Training(
                module=model,
                loss=loss,
                optimizer=_make_optimizer(model, params),
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
                resume_from=resume_from,
                every_seconds=self._checkpoint_seconds,
            )
        return TransformerClassifier(
            model,
            checkpoint=folder,
            padding=padding,
            max_length=max_length,
            device=device,
            use_bf16=use_bf16,
        )


def _make_optimizer(model: Any, params: Params) -> Any:
    """Make AdamW; neither biases nor the scales of normalisations decay."""
    torch = import_torch()
    weights = [p for p in model.parameters() if p.requires_grad]
    decay = float(params["weight_decay"])
    groups = [
        {"params": [p for p in weights if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in weights if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        groups,
        lr=float(params["learning_rate"]),
        eps=float(params["adam_epsilon"]),
        fused=True,
    )


def find_checkpoint(name: str) -> Path:
    """Give the folder of a checkpoint, fetched from the hub if it is no folder.

    Raises
    ------
    InputError
        If there is no such folder, and the hub has no such name or cannot be reached.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise InputError("there is no such folder", path=folder)
    import_torch()
    from huggingface_hub import snapshot_download

    try:
        fetched = snapshot_download(
            name,
            allow_patterns=["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"],
            etag_timeout=5,
        )
    except Exception as error:
        raise InputError(
            f"{name!r} is no folder, and could not be had from the hub "
            f"({type(error).__name__}); fetch it where there is a network and name its folder"
        ) from error
    return Path(fetched)


def load_tokenizer(folder: Path, *, max_length: int | None = None) -> TextTokenizer:
    """Load a checkpoint's tokenizer, converted from its older formats if need be."""
    limit = read_max_length(folder)
    length = limit if max_length is None else min(limit, max_length)
    if (folder / "tokenizer.json").is_file():
        return TextTokenizer.load(folder / "tokenizer.json", max_length=length)
    if not any((folder / name).is_file() for name in _VOCABULARIES):
        raise InputError(
            f"this checkpoint has no tokenizer: there is none of tokenizer.json, "
            f"{', '.join(_VOCABULARIES)}",
            path=folder,
        )
    import_torch()
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except Exception as error:
        raise InputError(
            f"this checkpoint has no tokenizer that can be loaded: {error}", path=folder
        ) from error
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError("this checkpoint's tokenizer has no fast version", path=folder)
    return TextTokenizer(backend, max_length=length, path=folder)


def read_max_length(folder: Path) -> int:
    """Find how many tokens a checkpoint takes."""
    return find_max_length(*_read_settings(folder))


def read_padding(folder: Path) -> Padding:
    """Find how a checkpoint's inputs are padded."""
    return find_padding(*_read_settings(folder), load_tokenizer(folder))


def _read_settings(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    settings = []
    for name in ("config.json", "tokenizer_config.json"):
        path = folder / name
        settings.append(read_json(path if path.is_file() else None))
    return settings[0], settings[1]


def _load_model(folder: Path, n_classes: int) -> Any:
    torch = import_torch()
    from transformers import AutoModelForSequenceClassification

    try:
        return AutoModelForSequenceClassification.from_pretrained(
            folder,
            num_labels=n_classes,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise InputError(f"this checkpoint cannot be loaded: {error}", path=folder) from error


def load_classifier(folder: str | Path) -> Any:
    """Load a fine-tuned classifier, ready to predict.

    Raises
    ------
    InputError
        If it cannot be loaded, or has no trained head.
    """
    torch = import_torch()
    from transformers import AutoModelForSequenceClassification

    folder = Path(folder)
    if not (folder / "config.json").is_file():
        raise InputError("there is no config.json: this is no checkpoint", path=folder)
    try:
        model, report = AutoModelForSequenceClassification.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise InputError(f"this checkpoint cannot be loaded: {error}", path=folder) from error
    missing = [name for name in report["missing_keys"] if "position_ids" not in name]
    if missing:
        raise InputError(
            f"this is no fine-tuned classifier: it has no weights for {', '.join(sorted(missing))}",
            path=folder,
        )
    return model.eval()
