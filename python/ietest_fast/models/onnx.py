"""Finished classifiers as ONNX files, run without torch or transformers."""

from __future__ import annotations

import hashlib
import json
import mmap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.atomic import hash_file
from ietest_fast.errors import InputError
from ietest_fast.models.batching import Padding, pad, plan_batches
from ietest_fast.models.runners import open_runner
from ietest_fast.models.token_classifier import TokenClassifier
from ietest_fast.models.tokens import TextTokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TokenStore

# Families whose positions begin behind the padding token's id.
_POSITIONS_AFTER_PADDING = frozenset(
    {
        "roberta",
        "xlm-roberta",
        "xlm-roberta-xl",
        "camembert",
        "longformer",
        "mpnet",
        "roberta-prelayernorm",
    }
)
# Lengths beyond this in a tokenizer's settings mean that nobody has set one.
_NO_LENGTH = 10**9
_DEFAULT_LENGTH = 512


@dataclass(frozen=True, kw_only=True)
class OnnxFiles:
    """Where the parts of a model are.

    Attributes
    ----------
    model
        The .onnx file.
    tokenizer
        ``tokenizer.json``.
    config, tokenizer_config
        ``config.json`` and ``tokenizer_config.json``; None where there is none.
    """

    model: Path
    tokenizer: Path
    config: Path | None
    tokenizer_config: Path | None

    @classmethod
    def find(cls, path: str | Path, *, tokenizer: str | Path | None = None) -> OnnxFiles:
        """Find them in a folder (the layout that Optimum writes), or beside an .onnx file.

        Parameters
        ----------
        path
            A folder or an .onnx file.
        tokenizer
            A tokenizer.json or its folder; None to look beside the model.

        Raises
        ------
        InputError
            If there is no model, more than one, or no tokenizer.
        """
        path = Path(path)
        if path.is_dir():
            model = _find_model(path)
        elif path.is_file():
            model = path
        else:
            raise InputError("there is no such file or folder", path=path)
        folders = list(dict.fromkeys([model.parent, path if path.is_dir() else model.parent]))
        if model.parent.name == "onnx":
            folders.append(model.parent.parent)
        if tokenizer is None:
            places = folders
        else:
            tokenizer = Path(tokenizer)
            places = [tokenizer if tokenizer.is_dir() else tokenizer.parent]
        named = tokenizer if tokenizer is not None and not Path(tokenizer).is_dir() else None
        tokenizer_file = named or _first(places, "tokenizer.json")
        if tokenizer_file is None or not Path(tokenizer_file).is_file():
            where = named or " or ".join(str(place / "tokenizer.json") for place in places)
            raise InputError(
                f"the model has no tokenizer: there is no {where}; a tokenizer of the tokenizers "
                "library is needed (--tokenizer names it)",
                path=path,
            )
        return cls(
            model=model,
            tokenizer=Path(tokenizer_file),
            config=_first(folders, "config.json"),
            tokenizer_config=_first([*places, *folders], "tokenizer_config.json"),
        )


def _first(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _find_model(folder: Path) -> Path:
    for place in (folder, folder / "onnx"):
        if (place / "model.onnx").is_file():
            return place / "model.onnx"
        found = sorted(place.glob("*.onnx"))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(file.name for file in found)
            raise InputError(f"there are several models: {names}; name one of them", path=folder)
    raise InputError("there is no .onnx file in this folder, nor in its folder onnx", path=folder)


def find_external_data(model: Path) -> list[Path]:
    """Find the files beside a model that its weights are in: those whose names stand in it."""
    siblings = [path for path in sorted(model.parent.iterdir()) if path.is_file() and path != model]
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return [path for path in siblings if data.find(path.name.encode()) >= 0]


def read_json(path: Path | None) -> dict[str, Any]:
    """Read a JSON object; an empty one if there is no file.

    Raises
    ------
    InputError
        If the file is none.
    """
    if path is None:
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON: {error}", path=path) from error
    if not isinstance(values, dict):
        raise InputError("a JSON object is expected", path=path)
    return values


def find_max_length(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> int:
    """Find how many tokens a model takes, by its own and its tokenizer's settings.

    Parameters
    ----------
    config, tokenizer_config
        The contents of ``config.json`` and ``tokenizer_config.json``.

    Returns
    -------
    int
        512 if neither says so.
    """
    limits = []
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        if config.get("model_type") in _POSITIONS_AFTER_PADDING:
            padding = config.get("pad_token_id")
            positions -= (padding if isinstance(padding, int) else 0) + 1
        limits.append(positions)
    length = tokenizer_config.get("model_max_length")
    if isinstance(length, int | float) and 0 < length < _NO_LENGTH:
        limits.append(int(length))
    return min(limits, default=_DEFAULT_LENGTH)


def read_n_known(config: Mapping[str, Any]) -> int | None:
    """Read how many tokens a model knows from ``vocab_size``; None if that is not there."""
    size = config.get("vocab_size")
    return size if isinstance(size, int) and size > 0 else None


def find_padding(
    config: Mapping[str, Any], tokenizer_config: Mapping[str, Any], tokenizer: TextTokenizer
) -> Padding:
    """Find with what a model's inputs are padded, and on which side.

    Raises
    ------
    InputError
        If the model does not know the token.
    """
    token = config.get("pad_token_id")
    if not isinstance(token, int):
        name = tokenizer_config.get("pad_token")
        name = name.get("content") if isinstance(name, dict) else name
        token = tokenizer.token_id(name) if isinstance(name, str) else None
    token = 0 if token is None else token
    n_known = read_n_known(config)
    if token < 0 or (n_known is not None and token >= n_known):
        raise InputError(
            f"config.json's pad_token_id is {token}, and the model knows "
            f"{'no such token' if n_known is None else f'{n_known} tokens'}"
        )
    is_xlnet = config.get("model_type") == "xlnet"
    type_id = tokenizer_config.get("pad_token_type_id")
    return Padding(
        token=token,
        type_id=3 if is_xlnet else (type_id if isinstance(type_id, int) else 0),
        left=tokenizer_config.get("padding_side", "left" if is_xlnet else "right") == "left",
    )


class OnnxClassifier(TokenClassifier):
    """A text classifier in an ONNX file.

    Parameters
    ----------
    files
        Its parts.
    providers
        Of ONNX Runtime, in order of preference; None for what is best.
    precision
        ``"fp32"`` (the file's own) or ``"bf16"``.
    runtime
        ``"onnxruntime"`` or ``"openvino"``; None for what is fastest. See
        :func:`~ietest_fast.models.runners.open_runner`.
    n_threads
        Batches that a processor runs at a time; None for as many as there are cores.
    token_budget
        Padded tokens of a batch; None for what suits the provider.
    max_length
        Longest input in tokens; None for what the model takes.

    Raises
    ------
    InputError
        If the model cannot be loaded, has inputs that are none of ``input_ids``,
        ``attention_mask``, ``token_type_ids`` and ``position_ids``, or no output of class scores.
    """

    def __init__(
        self,
        files: OnnxFiles,
        *,
        providers: Sequence[str] | None = None,
        precision: str = "fp32",
        runtime: str | None = None,
        n_threads: int | None = None,
        token_budget: int | None = None,
        max_length: int | None = None,
    ) -> None:
        config = read_json(files.config)
        tokenizer_config = read_json(files.tokenizer_config)
        limit = find_max_length(config, tokenizer_config)
        if max_length is not None and max_length > limit:
            raise InputError(
                f"max_length: the model takes at most {limit} tokens, not {max_length}",
                path=files.model,
            )
        self.files = files
        self.tokenizer = TextTokenizer.load(
            files.tokenizer, max_length=max_length or limit, n_known=read_n_known(config)
        )
        self._runner = open_runner(
            files.model,
            precision=precision,
            runtime=runtime,
            providers=providers,
            n_threads=n_threads,
        )
        self.labels = read_labels(
            config,
            self._runner.signature.n_labels,
            files.config or files.model.parent / "config.json",
        )
        self._padding = find_padding(config, tokenizer_config, self.tokenizer)
        self._first_position = 0
        if config.get("model_type") in _POSITIONS_AFTER_PADDING:
            self._first_position = self._padding.token + 1
        self._budget = token_budget or self._runner.token_budget

    @classmethod
    def load(
        cls, path: str | Path, *, tokenizer: str | Path | None = None, **options: Any
    ) -> OnnxClassifier:
        """Find a model's parts and load them."""
        return cls(OnnxFiles.find(path, tokenizer=tokenizer), **options)

    @property
    def backend(self) -> str:
        """What runs it, with its version."""
        return self._runner.name

    @cached_property
    def fingerprint(self) -> str:
        """Give a hash of the model's file with its weights, its tokenizer and its settings."""
        files = self.files
        digest = hashlib.sha256(f"max_length {self.tokenizer.max_length}".encode())
        for path in (
            files.model,
            *find_external_data(files.model),
            files.tokenizer,
            files.config,
            files.tokenizer_config,
        ):
            if path is not None:
                digest.update(hash_file(path).encode())
        return digest.hexdigest()

    def predict_logits(
        self,
        store: TokenStore,
        rows: NDArray[np.int64],
        *,
        on_batch: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Run the model on some rows of a store.

        Parameters
        ----------
        store
            Token ids.
        rows
            int64, shape (n,).
        on_batch
            Told the number of rows of every batch that is done.

        Returns
        -------
        ndarray
            float32, shape (n, n_labels).
        """
        logits = np.empty((len(rows), len(self.labels)), dtype=np.float32)
        batches = plan_batches(store.lengths[rows], token_budget=self._budget)

        def run(place: NDArray[np.int64]) -> NDArray[np.float32]:
            return self._runner.run(self.feed(store, rows[place]))

        with ThreadPoolExecutor(self._runner.n_parallel, thread_name_prefix="infer") as threads:
            try:
                for place, scores in zip(batches, threads.map(run, batches), strict=True):
                    logits[place] = scores
                    if on_batch is not None:
                        on_batch(len(place))
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        return logits

    def feed(self, store: TokenStore, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Put one batch together as the model wants it.

        Parameters
        ----------
        store
            Token ids.
        rows
            int64, shape (n,).

        Returns
        -------
        dict
            By name, of the model's own integers, shape (n, longest of the rows).
        """
        batch = pad(store, rows, self._padding)
        inputs = self._runner.signature.inputs
        arrays = {
            "input_ids": batch.input_ids,
            "attention_mask": batch.attention_mask,
            "token_type_ids": batch.token_type_ids,
        }
        if "position_ids" in inputs:
            arrays["position_ids"] = batch.position_ids + self._first_position
        return {
            name: np.ascontiguousarray(arrays[name], dtype=kind) for name, kind in inputs.items()
        }


def read_labels(config: Mapping[str, Any], n_labels: int | None, where: Path) -> tuple[str, ...]:
    """Read the names of a model's labels from ``id2label`` of the settings in `where`.

    Raises
    ------
    InputError
        If they are not 0 to n - 1, or not as many as the model's outputs.
    """
    id2label = config.get("id2label")
    if not isinstance(id2label, dict) or not id2label:
        if n_labels is None:
            raise InputError("there is no id2label: the labels have no names", path=where)
        return tuple(f"LABEL_{i}" for i in range(n_labels))
    try:
        by_number = {int(number): name for number, name in id2label.items()}
    except ValueError as error:
        raise InputError(f"id2label's keys are not numbers: {error}", path=where) from error
    if sorted(by_number) != list(range(len(id2label))):
        raise InputError(f"id2label numbers the labels {sorted(by_number)}", path=where)
    if n_labels is not None and n_labels != len(by_number):
        raise InputError(
            f"id2label names {len(by_number)} labels, but the model has {n_labels} outputs",
            path=where,
        )
    if not all(isinstance(name, str) and name for name in by_number.values()):
        raise InputError("id2label has labels without a name", path=where)
    return tuple(by_number[i] for i in range(len(by_number)))
