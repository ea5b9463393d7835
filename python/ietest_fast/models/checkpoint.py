"""Checkpoints of transformers: finding them, reading what they say of themselves, running them."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import re
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.atomic import hash_file
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import check_folder
from ietest_fast.models.classifiers import TokenClassifier
from ietest_fast.models.label_map import (
    check_kind,
    find_max_length,
    find_padding,
    read_head,
    read_json,
    read_n_known,
)
from ietest_fast.models.training import (
    autocast,
    choose_device,
    import_torch,
    multiplies_bf16_fast,
    pad,
    plan_batches,
)
from ietest_fast.models.vocabularies import (
    TOKENIZER_FILES,
    VOCABULARIES,
    find_vocabulary,
    load_tokenizer_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TextTokenizer, TokenStore
    from ietest_fast.models.training import Batch, Padding
    from ietest_fast.registry import FileNames

_FINGERPRINTED = frozenset({"config.json", *TOKENIZER_FILES})

# No file of a checkpoint runs code of its own, or has something fetched.
_NO_CODE: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}

# Settings that count parts of a model. No model has so many; transformers makes lists of them.
_COUNT = re.compile(r"num_labels|layers?$|n_layer")
_MOST_PARTS = 100_000

TORCH_PRECISIONS = ("auto", "fp32", "bf16")
"""In which products of matrices are computed; ``auto`` is bf16 where that is faster."""

TOKEN_BUDGET = {"cuda": 16_384, "cpu": 2048}
"""Padded tokens of a batch that is only predicted."""


def chooses_bf16(precision: str, device: str) -> bool:
    """Say whether matrix products are to be computed in bfloat16."""
    if precision not in TORCH_PRECISIONS:
        names = ", ".join(map(repr, TORCH_PRECISIONS))
        raise InputError(f"precision must be one of {names}, not {precision!r}")
    return precision == "bf16" or (precision == "auto" and multiplies_bf16_fast(device))


def find_checkpoint(name: str, *, named_by: FileNames | None = None) -> Path:
    """Give the folder of a checkpoint, fetched from the hub if it is no folder."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise InputError("there is no such folder", path=folder)
    import_torch()
    from huggingface_hub import snapshot_download

    def fetch(weights: str) -> Path:
        patterns = ["*.json", "*.txt", "*.model", weights]
        # Folders inside hold other formats of the same weights.
        return Path(
            snapshot_download(
                name,
                allow_patterns=patterns,
                ignore_patterns=["*/*"],
                etag_timeout=5,
                local_files_only=named_by is not None,
            )
        )

    try:
        fetched = fetch("*.safetensors")
        if not any(fetched.glob("*.safetensors")):
            fetched = fetch("*.bin")
    except Exception as error:
        if named_by is not None:
            raise InputError(
                f"{name!r} is no folder and has not been fetched from the hub before, and nothing "
                f"is fetched because a file ({named_by.path}) names it; fetch it yourself (`hf "
                f"download {name}`), give it on the command line as well (--model-option "
                f"checkpoint={name}), or pass --allow-code if you trust the file"
            ) from error
        raise InputError(
            f"{name!r} is no folder, and could not be had from the hub "
            f"({type(error).__name__}); fetch it where there is a network and name its folder"
        ) from error
    return fetched


def fingerprint_checkpoint(folder: Path) -> str:
    """Give a checkpoint's kind, and a sha256 of its settings, weights and tokenizer.

    Where the folder lies and what it is called makes no difference.
    """
    config, _ = _read_settings(folder)
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name in _FINGERPRINTED or path.suffix in {".safetensors", ".bin"}:
            digest.update(f"{path.name}:{hash_file(path)}\n".encode())
    return f"{config.get('model_type', 'unknown')}@{digest.hexdigest()}"


def count_weight_bytes(folder: Path) -> int:
    """Say how large a checkpoint's weights are in fp32, in bytes."""
    config, _ = _read_settings(folder)
    files = list(folder.glob("*.safetensors")) or list(folder.glob("pytorch_model*.bin"))
    is_half = str(config.get("dtype", config.get("torch_dtype"))) in {"float16", "bfloat16"}
    return sum(path.stat().st_size for path in files) * (2 if is_half else 1)


def load_tokenizer(folder: Path, *, max_length: int | None = None) -> TextTokenizer:
    """Load a checkpoint's tokenizer, converted from its older formats if need be."""
    config, tokenizer_config = _read_settings(folder)
    limit = find_max_length(config, tokenizer_config)
    length = limit if max_length is None else min(limit, max_length)
    path = find_vocabulary(folder)
    if path is None:
        raise InputError(
            f"this checkpoint has no tokenizer: there is none of tokenizer.json, "
            f"{', '.join(VOCABULARIES)}",
            path=folder,
        )
    return load_tokenizer_file(
        path,
        config=config,
        tokenizer_config=tokenizer_config,
        max_length=length,
        n_known=_count_known_tokens(folder),
    )


def read_max_length(folder: Path) -> int:
    """Find how many tokens a checkpoint takes."""
    return find_max_length(*_read_settings(folder))


def read_padding(folder: Path) -> Padding:
    """Find how a checkpoint's inputs are padded."""
    n_known = _count_known_tokens(folder)
    return find_padding(*_read_settings(folder), load_tokenizer(folder), n_known=n_known)


def _count_known_tokens(folder: Path) -> int | None:
    """Count a checkpoint's tokens: what its settings leave out is as usual in its family."""
    config, _ = _read_settings(folder)
    n_known = read_n_known(config)
    if n_known is not None or not isinstance(config.get("model_type"), str):
        return n_known
    import_torch()
    from transformers import AutoConfig

    try:
        whole = AutoConfig.from_pretrained(check_folder(folder), **_NO_CODE)
    except Exception:  # noqa: BLE001 - it is no model then, which is said where it is loaded
        return None
    return read_n_known({"vocab_size": getattr(whole, "vocab_size", None)})


def read_tokenizer_config(folder: Path) -> dict[str, Any]:
    """Read what a checkpoint says of its tokenizer; nothing if it says nothing."""
    return _read_settings(folder)[1]


def _read_settings(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    settings = []
    for name in ("config.json", "tokenizer_config.json"):
        path = folder / name
        settings.append(read_json(path if path.is_file() else None))
    return settings[0], settings[1]


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


def run_model(
    model: Any,
    store: TokenStore,
    padding: Padding,
    *,
    device: str,
    use_bf16: bool,
    on_batch: Callable[[int], None] | None = None,
) -> NDArray[np.float32]:
    """Give the class scores of all rows of a store."""
    torch = import_torch()
    scores = np.empty((len(store), model.config.num_labels), dtype=np.float32)
    model.eval()
    waiting: list[tuple[NDArray[np.int64], Any]] = []
    with torch.inference_mode(), autocast(device, use_bf16=use_bf16):
        for rows in plan_batches(store.lengths, token_budget=TOKEN_BUDGET[device]):
            inputs = model_inputs(model, pad(store, rows, padding), device)
            logits = model(**inputs).logits
            # A GPU works on while the next batch is put together; scores are fetched afterwards.
            waiting.append((rows, logits if device == "cuda" else logits.float().numpy()))
            if on_batch is not None:
                on_batch(len(rows))
        for rows, logits in waiting:
            scores[rows] = logits.float().cpu().numpy() if device == "cuda" else logits
    return scores


class CheckpointClassifier(TokenClassifier):
    """A finished classifier, run by PyTorch."""

    def __init__(
        self,
        checkpoint: str,
        *,
        precision: str = "auto",
        n_threads: int | None = None,
        max_length: int | None = None,
        threshold: float | None = None,
    ) -> None:
        folder = find_checkpoint(checkpoint)
        torch = import_torch()
        self._device = choose_device()
        self._use_bf16 = chooses_bf16(precision, self._device)
        limit = read_max_length(folder)
        if max_length is not None and max_length > limit:
            raise InputError(
                f"max_length: the model takes at most {limit} tokens, not {max_length}", path=folder
            )
        self._model = load_classifier(folder).to(self._device)
        self.tokenizer = load_tokenizer(folder, max_length=max_length)
        self._padding = read_padding(folder)
        config, _ = _read_settings(folder)
        n_outputs = self._model.config.num_labels
        self.head = read_head(config, n_outputs, folder / "config.json", threshold=threshold)
        self._folder = folder
        if n_threads is not None:
            torch.set_num_threads(n_threads)

    @cached_property
    def fingerprint(self) -> str:
        """Give a hash of the checkpoint's weights, settings, tokenizer and longest input."""
        weights = fingerprint_checkpoint(self._folder).rpartition("@")[2]
        told = " ".join((weights, str(self.tokenizer.max_length), *self.head.settings))
        return hashlib.sha256(told.encode()).hexdigest()

    @property
    def backend(self) -> str:
        """Torch with its version, the device and the precision."""
        torch = import_torch()
        return f"torch {torch.__version__} ({self._device}, {'bf16' if self._use_bf16 else 'fp32'})"

    def predict_logits(
        self,
        store: TokenStore,
        rows: NDArray[np.int64],
        *,
        on_batch: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Give the class scores of some rows, float32, shape (len(rows), outputs)."""
        return run_model(
            self._model,
            store.take(rows),
            self._padding,
            device=self._device,
            use_bf16=self._use_bf16,
            on_batch=on_batch,
        )


def load_weights(
    folder: Path, *, architecture: str = "AutoModelForSequenceClassification", **options: Any
) -> tuple[Any, dict[str, Any]]:
    """Load a model in fp32, and say what its checkpoint did not have."""
    torch = import_torch()
    import transformers

    _refuse_foreign(folder)
    _check_counts(folder)
    try:
        with _no_larger_than(folder):
            model, report = getattr(transformers, architecture).from_pretrained(
                check_folder(folder),
                dtype=torch.float32,
                output_loading_info=True,
                weights_only=True,
                **_NO_CODE,
                **options,
            )
    except InputError:
        raise
    except pickle.UnpicklingError as error:  # whose message says how to load it all the same
        raise InputError(
            "its weights are pickled, and the file holds more than weights, such as code, or is "
            "damaged: it is not loaded; use a checkpoint whose weights are safetensors",
            path=folder,
        ) from error
    except Exception as error:  # what is damaged fails in more ways than can be named
        raise InputError(
            f"this checkpoint cannot be loaded (are its files whole?): {shorten_error(error)}",
            path=folder,
        ) from error
    if getattr(model.config, "pad_token_id", None) is None:
        raise InputError(
            "config.json has no pad_token_id: name the token that inputs are padded with, one "
            "that no text has",
            path=folder,
        )
    return model, report


def load_classifier(folder: str | Path) -> Any:
    """Load a fine-tuned classifier, ready to predict."""
    folder = Path(folder)
    _check_config(folder)
    check_kind(_read_settings(folder)[0], folder / "config.json")
    model, report = load_weights(folder, ignore_mismatched_sizes=True)
    if report["mismatched_keys"]:
        name, found, expected = min(report["mismatched_keys"])
        raise InputError(
            f"config.json does not fit the weights: {name} is {tuple(found)} and should be "
            f"{tuple(expected)} (are labels missing in id2label?)",
            path=folder,
        )
    _refuse_left_out(model, report, folder)
    missing = [name for name in report["missing_keys"] if "position_ids" not in name]
    if missing:
        raise InputError(
            f"this is no fine-tuned classifier: it has no weights for {', '.join(sorted(missing))}",
            path=folder,
        )
    return model.eval()


def load_sense_model(folder: str | Path) -> tuple[Any, str]:
    """Load a masked language model or an encoder, and name what it gives for every token."""
    folder = Path(folder)
    _check_config(folder)
    config, _ = _read_settings(folder)
    architectures = config.get("architectures") or [""]
    is_masked = str(architectures[0]).endswith("ForMaskedLM")
    if is_masked:
        return load_masked_model(folder), "logits"
    model, report = load_weights(folder, architecture="AutoModel")
    missing = _find_missing(report)
    if missing:
        raise InputError(f"the checkpoint has no weights for {', '.join(missing)}", path=folder)
    return model.eval(), "last_hidden_state"


def load_masked_model(folder: Path) -> Any:
    """Load a masked language model, ready to predict."""
    _check_config(folder)
    model, report = load_weights(folder, architecture="AutoModelForMaskedLM")
    _refuse_left_out(model, report, folder)
    missing = _find_missing(report)
    if missing:
        shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if missing[3:] else "")
        raise InputError(
            f"this is no masked language model: the checkpoint has no weights for {shown}",
            path=folder,
        )
    return model.eval()


def check_new_folder(target: Path) -> None:
    """Stop unless a folder can be made: it is not there, and the folder above it is."""
    if target.exists():
        raise InputError("is there already; name a folder that is not", path=target)
    if not target.parent.is_dir():
        raise InputError("there is no such folder", path=target.parent)


def save_checkpoint(model: Any, source: Path, folder: Path) -> None:
    """Write a model and the tokenizer of the checkpoint that it comes from, into an empty folder.

    Anything built on transformers loads it.
    """
    model.save_pretrained(folder)
    copy_tokenizer(source, folder)


def copy_tokenizer(source: Path, folder: Path) -> None:
    """Write the files of a checkpoint's tokenizer into another folder."""
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)
    if not (folder / "tokenizer.json").is_file():  # converted from an older format
        load_tokenizer(source).save(folder / "tokenizer.json")


def _check_config(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise InputError("there is no config.json: this is no checkpoint", path=folder)


def _check_counts(folder: Path) -> None:
    """Refuse settings by which transformers would make a list that is longer than any model's."""
    for key, value in _read_settings(folder)[0].items():
        if isinstance(value, int) and value > _MOST_PARTS and _COUNT.search(key):
            raise InputError(
                f"config.json says that {key} is {value:.3g}, and no model has more than "
                f"{_MOST_PARTS:,}: correct it",
                path=folder,
            )


@contextlib.contextmanager
def _no_larger_than(folder: Path) -> Iterator[None]:
    """Stop as soon as the model that is being built is clearly larger than its weights.

    transformers builds it by its settings alone, without memory for it, before it reads a weight;
    a line of them can name any number of layers, and any width.
    """
    nn = import_torch().nn.modules.module
    files = [*folder.glob("*.safetensors"), *folder.glob("*.bin")]
    n_known = sum(_count_tensors(path) for path in files)
    # A number may have a byte, and be there twice in the model; a new head and a pooler are small.
    most_numbers = 2 * sum(path.stat().st_size for path in files) + 10**7
    n_built = n_numbers = 0

    def count(_module: Any, name: str, part: Any) -> None:
        nonlocal n_built, n_numbers
        if part is None or not getattr(part, "is_meta", False):
            return
        n_built += 1
        n_numbers += part.numel()
        if n_built > 4 * n_known + 1000 or n_numbers > most_numbers:
            raise InputError(
                "config.json does not fit the weights: it describes a model that is far larger "
                f"than the {n_known:,} tensors that the weights hold (stopped at {name!r}, of the "
                f"shape {tuple(part.shape)}); correct its sizes, such as num_hidden_layers",
                path=folder,
            )

    hooks = [
        nn.register_module_parameter_registration_hook(count),
        nn.register_module_buffer_registration_hook(count),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _count_tensors(path: Path) -> int:
    """Count the tensors of a file of weights; too many rather than too few."""
    if path.suffix == ".bin":
        return path.stat().st_size // 64
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            return len(file.keys())
    except SafetensorError:  # which transformers will say
        return 0


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder whose files name what lies elsewhere: code, or another model."""
    if (folder / "adapter_config.json").is_file():
        raise InputError(
            "this is an adapter, whose configuration names another model to fetch; merge the two "
            "(in peft: merge_and_unload) and save the whole",
            path=folder,
        )
    attention = [value for key, value in _read_settings(folder)[0].items() if "attn_impl" in key]
    of_hub = [value for value in attention if not _is_known_attention(value)]
    if of_hub:
        raise InputError(
            f"config.json names code of the hub for its attention, {of_hub[0]!r}; take it out",
            path=folder,
        )


def _is_known_attention(name: object) -> bool:
    """Say whether a name is one of transformers' own, and not of a program to be fetched."""
    return not (isinstance(name, dict) or "/" in str(name))


def _refuse_left_out(model: Any, report: dict[str, Any], folder: Path) -> None:
    """Refuse settings with fewer layers than the weights have: it would be another model."""
    inside = f"{model.base_model_prefix}."
    left_out = sorted(
        name
        for name in report["unexpected_keys"]
        if name.startswith(inside) and re.search(r"\.\d+\.", name)
    )
    if left_out:
        raise InputError(
            f"config.json does not fit the weights: they hold {left_out[0]}, and by its sizes the "
            "model has no such layer; correct them, such as num_hidden_layers",
            path=folder,
        )


def _find_missing(report: dict[str, Any]) -> list[str]:
    """Return the weights that a checkpoint lacks; a pooler is above what is used."""
    return sorted(
        name
        for name in report["missing_keys"]
        if "position_ids" not in name and not name.startswith("pooler.")
    )
