"""Finished models as ONNX files, run without torch or transformers."""

from __future__ import annotations

import dataclasses
import hashlib
import mmap
import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.atomic import hash_file
from ietest_fast.errors import InputError
from ietest_fast.files import check_file, open_file
from ietest_fast.models.classifiers import TokenClassifier
from ietest_fast.models.label_map import (
    check_kind,
    count_labels,
    find_max_length,
    find_padding,
    has_positions_after_padding,
    read_head,
    read_json,
    read_n_known,
    read_token,
)
from ietest_fast.models.onnx_models.runners import (
    NOTHING_CHOSEN,
    ChosenPorts,
    count_known_tokens,
    open_runner,
)
from ietest_fast.models.training import pad, plan_batches
from ietest_fast.models.vocabularies import (
    TOKENIZER_FILES,
    VOCABULARIES,
    find_vocabulary,
    load_tokenizer_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from ietest_fast.models.onnx_models.runners import Runner
    from ietest_fast.models.tokens import TextTokenizer, TokenStore
    from ietest_fast.models.training import Padding


@dataclass(frozen=True, kw_only=True)
class OnnxFiles:
    """Where the parts of a model are."""

    model: Path
    """The .onnx file."""
    tokenizer: Path
    """``tokenizer.json``, or the vocabulary of an older tokenizer."""
    config: Path | None
    tokenizer_config: Path | None
    """``config.json`` and ``tokenizer_config.json``; None where there is none."""

    @property
    def tokenizer_files(self) -> list[Path]:
        """The files that the tokens hang on, beside ``tokenizer_config.json``."""
        if self.tokenizer.name not in VOCABULARIES:
            return [self.tokenizer]
        beside = [self.tokenizer.parent / name for name in TOKENIZER_FILES]
        return [file for file in beside if file.is_file() and file != self.tokenizer_config]

    @classmethod
    def find(cls, path: str | Path, *, tokenizer: str | Path | None = None) -> OnnxFiles:
        """Find them in a folder (the layout that Optimum writes), or beside an .onnx file."""
        path = Path(path)
        if path.is_dir():
            model = _find_model(path)
        elif path.exists():
            model = check_file(path)
        else:
            raise InputError("there is no such file or folder", path=path)
        folders = list(dict.fromkeys([model.parent, path if path.is_dir() else model.parent]))
        if model.parent.name == "onnx":
            folders.append(model.parent.parent)
        vocabulary = _find_tokenizer(path, folders, tokenizer)
        beside = [] if tokenizer is None else [vocabulary.parent]
        return cls(
            model=model,
            tokenizer=vocabulary,
            config=_first(folders, "config.json"),
            tokenizer_config=_first([*beside, *folders], "tokenizer_config.json"),
        )


def _find_tokenizer(path: Path, folders: list[Path], named: str | Path | None) -> Path:
    """Return the file of a model's tokenizer: what is named, or else in the model's folders."""
    places = folders if named is None else [Path(named)]
    if named is not None and places[0].exists() and not places[0].is_dir():
        return check_file(named)
    found = [file for file in map(find_vocabulary, places) if file is not None]
    if found:
        # Wherever it is, tokenizer.json needs no conversion.
        return min(found, key=lambda file: file.name != "tokenizer.json")
    wanted = [place / "tokenizer.json" if place.is_dir() else place for place in places]
    raise InputError(
        f"the model has no tokenizer: there is no {' or '.join(map(str, wanted))}, nor a "
        f"vocabulary ({', '.join(VOCABULARIES)}); --tokenizer names it",
        path=path,
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


# As protocol buffers write the entry "location" of a tensor whose values are in another file: the
# key, then the tag of the value, its length (one byte or two), and the value.
_LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f]|[\x80-\xff][\x01-\x7f])")


def find_external_data(model: Path) -> list[Path]:
    """Find the files that a model's weights are in, in its folder or below."""
    if model.stat().st_size == 0:  # which cannot be mapped; the runner says that it is no model
        return []
    siblings = [path for path in sorted(model.parent.iterdir()) if path.is_file() and path != model]
    with open_file(model) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        beside = [path for path in siblings if data.find(path.name.encode()) >= 0]
        places = set()
        for found in _LOCATION.finditer(data):
            size = found[1]
            length = size[0] if len(size) == 1 else (size[0] & 0x7F) | size[1] << 7
            places.add(data[found.end() : found.end() + length])
    below = {model.parent / place.decode(errors="surrogateescape") for place in places}
    for path in below:  # the runtime would open them
        if _is_special(path):
            check_file(path)
    return [*beside, *sorted(path for path in below - set(beside) if path.is_file())]


def _is_special(path: Path) -> bool:
    """Whether there is a pipe or a device; what is no name of a file is nothing."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, kw_only=True)
class OnnxNetwork:
    """A model in an ONNX file with its tokenizer: token ids in, an array for each batch out."""

    files: OnnxFiles
    """Its parts."""
    tokenizer: TextTokenizer
    """Its own."""
    runner: Runner
    """What computes."""
    padding: Padding
    """How inputs of different lengths are brought to one."""
    first_position: int
    """Position of the first token, for models that are told positions."""
    token_budget: int
    """Padded tokens of a batch."""

    @classmethod
    def open(
        cls,
        files: OnnxFiles,
        *,
        max_length: int | None = None,
        token_budget: int | None = None,
        chosen: ChosenPorts = NOTHING_CHOSEN,
        **options: Any,
    ) -> OnnxNetwork:
        """Load a model."""
        config = read_json(files.config)
        tokenizer_config = read_json(files.tokenizer_config)
        limit = find_max_length(config, tokenizer_config)
        if max_length is not None and max_length > limit:
            raise InputError(
                f"max_length: the model takes at most {limit} tokens, not {max_length}",
                path=files.model,
            )
        n_known = _count_known_tokens(files, config, chosen)
        tokenizer = load_tokenizer_file(
            files.tokenizer,
            config=config,
            tokenizer_config=tokenizer_config,
            max_length=max_length or limit,
            n_known=n_known,
        )
        find_external_data(files.model)  # which the runner opens
        runner = open_runner(files.model, chosen=chosen, **options)
        padding = find_padding(config, tokenizer_config, tokenizer, n_known=n_known)
        return cls(
            files=files,
            tokenizer=tokenizer,
            runner=runner,
            padding=padding,
            first_position=padding.token + 1 if has_positions_after_padding(config) else 0,
            token_budget=token_budget or runner.token_budget,
        )

    def run(
        self,
        store: TokenStore,
        rows: NDArray[np.int64],
        take: Callable[[NDArray[np.int64], NDArray[np.float32]], None],
        *,
        reduce: Callable[[NDArray[np.int64], NDArray[np.float32]], NDArray[np.float32]]
        | None = None,
        n_threads: int | None = None,
    ) -> None:
        """Run the model on some rows of a store, as many batches at a time as the runner takes."""
        batches = plan_batches(store.lengths[rows], token_budget=self.token_budget)
        n_parallel = min(self.runner.n_parallel, n_threads or self.runner.n_parallel)

        def compute(places: NDArray[np.int64]) -> NDArray[np.float32]:
            output = self.runner.run(self.feed(store, rows[places]))
            return output if reduce is None else reduce(places, output)

        running: deque[tuple[NDArray[np.int64], Future[NDArray[np.float32]]]] = deque()

        def take_first() -> None:
            places, output = running.popleft()
            take(places, output.result())

        with ThreadPoolExecutor(n_parallel, thread_name_prefix="infer") as threads:
            try:
                for batch in batches:
                    # No more than that, so that few outputs wait to be taken.
                    if len(running) == 2 * n_parallel:
                        take_first()
                    running.append((batch, threads.submit(compute, batch)))
                while running:
                    take_first()
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def feed(self, store: TokenStore, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Put one batch together as the model wants it."""
        batch = pad(store, rows, self.padding)
        ports = self.runner.ports
        arrays = {
            "input_ids": batch.input_ids,
            "attention_mask": batch.attention_mask,
            "token_type_ids": batch.token_type_ids,
        }
        if "position_ids" in ports.roles.values():
            arrays["position_ids"] = batch.position_ids + self.first_position
        return {
            name: np.ascontiguousarray(arrays[ports.roles[name]], dtype=kind)
            for name, kind in ports.inputs.items()
        }

    def hash(self, *settings: str) -> str:
        """Compute a hash of settings, the model's file with its weights, and its tokenizer."""
        digest = hashlib.sha256("".join(settings).encode())
        files = self.files
        for path in (
            files.model,
            *find_external_data(files.model),
            *files.tokenizer_files,
            files.config,
            files.tokenizer_config,
        ):
            if path is not None:
                digest.update(hash_file(path).encode())
        return digest.hexdigest()


def _count_known_tokens(
    files: OnnxFiles, config: Mapping[str, Any], chosen: ChosenPorts
) -> int | None:
    """Count the model's own rows: beyond them some runtimes compute with what is in memory."""
    named = [name for name, role in chosen.inputs.items() if role == "input_ids"]
    counted = count_known_tokens(files.model, next(iter(named), "input_ids"))
    return read_n_known(config) if counted is None else counted


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
        :func:`~ietest_fast.models.onnx_models.runners.open_runner`.
    n_threads
        Batches that a processor runs at a time; None for as many as there are cores.
    token_budget
        Padded tokens of a batch; None for what suits the provider.
    max_length
        Longest input in tokens; None for what the model takes.
    inputs
        What the model's inputs are, by their names: one of ``input_ids``, ``attention_mask``,
        ``token_type_ids`` and ``position_ids`` each. Inputs that are called so need not be given.
    output
        Name of the output with the class scores; None for ``logits``, or the only one of shape
        (texts, labels).
    threshold
        Of a model with one logit; see :class:`~ietest_fast.models.classifiers.Head`.

    Raises
    ------
    InputError
        If the model cannot be loaded, is no classifier that chooses one label, has inputs that
        nobody says anything about, or no output of class scores, or if its settings contradict
        each other or its outputs.
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
        inputs: Mapping[str, str] | None = None,
        output: str | None = None,
        threshold: float | None = None,
    ) -> None:
        config = read_json(files.config)
        settings = files.config or files.model.parent / "config.json"
        check_kind(config, settings)
        self._network = OnnxNetwork.open(
            files,
            max_length=max_length,
            token_budget=token_budget,
            precision=precision,
            runtime=runtime,
            providers=providers,
            n_threads=n_threads,
            chosen=ChosenPorts(
                inputs=dict(inputs or {}), output=output, n_labels=count_labels(config)
            ),
        )
        self.files = files
        self.tokenizer = self._network.tokenizer
        self._chosen = sorted((inputs or {}).items()), output
        self.head = read_head(
            config, self._network.runner.ports.n_labels, settings, threshold=threshold
        )

    @classmethod
    def load(
        cls, path: str | Path, *, tokenizer: str | Path | None = None, **options: Any
    ) -> OnnxClassifier:
        """Find a model's parts and load them."""
        return cls(OnnxFiles.find(path, tokenizer=tokenizer), **options)

    @property
    def backend(self) -> str:
        """What runs it, with its version."""
        return self._network.runner.name

    @cached_property
    def fingerprint(self) -> str:
        """Give a hash of the model's file with its weights, its tokenizer and its settings."""
        chosen = repr(self._chosen) if any(self._chosen) else ""
        length = f"max_length {self.tokenizer.max_length}"
        return self._network.hash(length, chosen, *self.head.settings)

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
            float32, shape (n, outputs).
        """
        n_outputs = self.head.n_outputs
        logits = np.empty((len(rows), n_outputs), dtype=np.float32)

        def take(places: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
            if scores.shape != (len(places), n_outputs):
                raise InputError(
                    f"the model returned an array of shape {scores.shape} for {len(places)} inputs "
                    f"and {n_outputs} labels; expected {(len(places), n_outputs)} "
                    "(--onnx-output names another output)",
                    path=self.files.model,
                )
            logits[places] = scores
            if on_batch is not None:
                on_batch(len(places))

        self._network.run(store, rows, take)
        return logits

    def feed(self, store: TokenStore, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Put one batch together as the model wants it; see :meth:`OnnxNetwork.feed`."""
        return self._network.feed(store, rows)


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
    named = read_token(tokenizer_config.get("mask_token"))
    for token in _USUAL_MASKS if named is None else (named,):
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
