"""How well a word fits in the place of another, as a language model or an encoder sees it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.onnx import OnnxFiles, OnnxNetwork
from ietest_fast.models.ports import ChosenPorts
from ietest_fast.models.ragged import Ragged, find_offsets
from ietest_fast.models.settings import read_json, read_n_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ietest_fast.models.tokens import TokenStore

SenseKind = Literal["encoder", "masked"]

# Contexts that are tokenised and held in memory at a time.
_CONTEXTS_AT_ONCE = 16_384


class Context(NamedTuple):
    """A word, and the text before and after it."""

    before: str
    word: str
    after: str


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """Contexts as token ids; ``begin:end`` are the places of the word's tokens."""

    store: TokenStore
    begin: NDArray[np.int64]
    end: NDArray[np.int64]


class SenseModel:
    """A model that says how well a word fits in another's place.

    A *sentence encoder* (or any encoder) gives each token a vector of numbers that depends on its
    context. The score is the cosine between the mean vectors of the old word's and the new word's
    tokens, each in its own sentence: 1 for the same word.

    A *masked language model* gives each token a probability when it is hidden. The score is the
    difference of mean log-probabilities, those of the new word's tokens less those of the old
    word's, in nats; all tokens of a word are hidden at once. 0: both are as likely.

    Parameters
    ----------
    network
        Its model, with an output for every token.
    mask
        Id of the token that hides another; None for an encoder.
    path
        What it was loaded from, and can be loaded from again.
    """

    def __init__(self, network: OnnxNetwork, mask: int | None, *, path: Path) -> None:
        self.network = network
        self._mask = mask
        self._path = path
        # Now, because files that were made for it do not stay.
        self._fingerprint = network.hash("sense ", self.kind)

    @classmethod
    def load(cls, path: str | Path) -> SenseModel:
        """Load an ONNX file or folder, or the folder of a checkpoint.

        Parameters
        ----------
        path
            A folder or an .onnx file; its tokenizer.json is beside it. The model is a masked
            language model if its output has a number for each token of its vocabulary, and an
            encoder otherwise. A checkpoint is exported first, which needs torch and takes some
            seconds; :func:`ietest_fast.models.export.export_sense_model` does it once for all.

        Raises
        ------
        InputError
            If it cannot be loaded, or is neither.
        """
        path = Path(path)
        if not _is_checkpoint(path):
            return cls(*_open(path), path=path)
        from ietest_fast.models.export import export_sense_model

        with tempfile.TemporaryDirectory(prefix="ietest-sense-") as room:
            # Loaded while it is there: ONNX Runtime keeps what it has read.
            exported = export_sense_model(path, Path(room) / "model")
            return cls(*_open(exported), path=path)

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        # What runs it cannot be copied to another process.
        return SenseModel.load, (self._path,)

    @property
    def kind(self) -> SenseKind:
        """``"encoder"`` or ``"masked"``."""
        return "encoder" if self._mask is None else "masked"

    @property
    def fingerprint(self) -> str:
        """Hash of the model's files, 64 hexadecimal digits."""
        return self._fingerprint

    def score(
        self,
        old: Sequence[Context],
        new: Sequence[Context],
        *,
        on_batch: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Compute how well each new word fits in the old one's place.

        Every distinct context is computed once.

        Parameters
        ----------
        old, new
            n words each; the contexts of a word and its replacement are the same, but for an
            article that goes with the word.
        on_batch
            Told the number of contexts of every batch that is done.

        Returns
        -------
        ndarray
            float32 (n,).
        """
        places: dict[Context, int] = {}
        for context in (*old, *new):
            places.setdefault(context, len(places))
        contexts = list(places)
        mask = self._mask
        parts = [
            self._vectors(some, on_batch)
            if mask is None
            else self._log_probabilities(some, on_batch, mask=mask)
            for some in _cut(contexts)
        ]
        found = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
        first = found[[places[context] for context in old]]
        second = found[[places[context] for context in new]]
        if self._mask is None:
            return np.asarray((first * second).sum(axis=1), dtype=np.float32)
        return np.asarray((second - first)[:, 0], dtype=np.float32)

    def _vectors(
        self, contexts: Sequence[Context], on_batch: Callable[[int], None] | None
    ) -> NDArray[np.float32]:
        """Return the mean vector of each context's word, of length 1, shape (n, d)."""
        inputs = self._read(contexts)
        means: dict[int, NDArray[np.float32]] = {}

        def take(places: NDArray[np.int64], output: NDArray[np.float32]) -> None:
            begin, end = self._places(inputs, places, output)
            for place, vectors, first, last in zip(places, output, begin, end, strict=True):
                mean = vectors[first:last].mean(axis=0, dtype=np.float64)
                length = float(np.linalg.norm(mean))
                means[int(place)] = (mean / (length or 1.0)).astype(np.float32)
            if on_batch is not None:
                on_batch(len(places))

        rows = np.arange(len(contexts), dtype=np.int64)
        self.network.run(inputs.store, rows, take)
        return np.stack([means[place] for place in range(len(contexts))])

    def _log_probabilities(
        self, contexts: Sequence[Context], on_batch: Callable[[int], None] | None, *, mask: int
    ) -> NDArray[np.float32]:
        """Return the mean log-probability of each word's tokens, all hidden at once, (n, 1)."""
        inputs = self._read(contexts)
        words = [
            inputs.store.ids[first + begin : first + end].copy()
            for first, begin, end in zip(
                inputs.store.offsets[:-1], inputs.begin, inputs.end, strict=True
            )
        ]
        for first, begin, end in zip(
            inputs.store.offsets[:-1], inputs.begin, inputs.end, strict=True
        ):
            inputs.store.ids[first + begin : first + end] = mask
        found = np.zeros((len(contexts), 1), np.float32)

        def take(places: NDArray[np.int64], output: NDArray[np.float32]) -> None:
            begin, end = self._places(inputs, places, output)
            for place, logits, first, last in zip(places, output, begin, end, strict=True):
                hidden = logits[first:last].astype(np.float64)
                hidden -= hidden.max(axis=1, keepdims=True)
                chosen = hidden[np.arange(last - first), words[place]]
                found[place] = np.mean(chosen - np.log(np.exp(hidden).sum(axis=1)))
            if on_batch is not None:
                on_batch(len(places))

        rows = np.arange(len(contexts), dtype=np.int64)
        self.network.run(inputs.store, rows, take)
        return found

    def _places(
        self, inputs: _Inputs, places: NDArray[np.int64], output: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where words begin and end in a batch; some models are padded on the left."""
        width = int(inputs.store.lengths[places].max())
        if output.ndim != 3 or output.shape[:2] != (len(places), width):
            raise InputError(
                f"the model returned an array of shape {output.shape} for {len(places)} inputs of "
                f"{width} tokens; expected {(len(places), width)} and the numbers of each token",
                path=self.network.files.model,
            )
        shift = width - inputs.store.lengths[places] if self.network.padding.left else 0
        return inputs.begin[places] + shift, inputs.end[places] + shift

    def _read(self, contexts: Sequence[Context]) -> _Inputs:
        """Tokenise contexts; of long ones, what is nearest to the word."""
        tokenizer = self.network.tokenizer
        template = tokenizer.template(1)
        room = tokenizer.max_length - template.n_special
        spans = tokenizer.tokenise_with_spans(
            [context.before + context.word + context.after for context in contexts],
            [
                (len(context.before), len(context.before) + len(context.word))
                for context in contexts
            ],
        )
        lengths = spans.tokens.lengths
        half = np.maximum((room - (spans.end - spans.begin)) // 2, 0)
        cut = np.clip(np.minimum(spans.begin - half, lengths - room), 0, None)
        kept = np.minimum(lengths - cut, room)
        texts = [
            spans.tokens.values[first + start : first + start + n]
            for first, start, n in zip(spans.tokens.offsets[:-1], cut, kept, strict=True)
        ]
        ragged = Ragged(values=np.concatenate(texts), offsets=find_offsets(kept))
        rows = np.arange(len(contexts), dtype=np.int64)
        ahead = len(template.ids[0])
        return _Inputs(
            store=tokenizer.join([ragged], [rows]),
            begin=spans.begin - cut + ahead,
            end=np.minimum(spans.end - cut, kept) + ahead,
        )


def _open(path: Path) -> tuple[OnnxNetwork, int | None]:
    """Load an ONNX file, and find the token that hides others if it is of a language model."""
    files = OnnxFiles.find(path)
    network = OnnxNetwork.open(
        files,
        # One runtime, whatever is installed: another one rounds in another way.
        runtime="onnxruntime",
        chosen=ChosenPorts(inputs={}, each_token=True),
    )
    ports, n_known = network.runner.ports, read_n_known(read_json(files.config))
    if ports.output != "logits" and (n_known is None or ports.n_labels != n_known):
        return network, None
    token = _mask_token(files)
    mask = None if token is None else network.tokenizer.token_id(token)
    if mask is None:
        raise InputError(
            "the tokenizer has no mask token, so this is no masked language model; give a "
            "sentence encoder or a masked language model",
            path=files.tokenizer,
        )
    return network, mask


def _is_checkpoint(path: Path) -> bool:
    """Tell a checkpoint of transformers, which has weights and no .onnx file."""
    if not path.is_dir() or any(path.glob("*.onnx")) or any((path / "onnx").glob("*.onnx")):
        return False
    return any(path.glob("*.safetensors")) or any(path.glob("pytorch_model*.bin"))


def _cut(contexts: Sequence[Context]) -> Iterator[Sequence[Context]]:
    for begin in range(0, len(contexts), _CONTEXTS_AT_ONCE):
        yield contexts[begin : begin + _CONTEXTS_AT_ONCE]


def _mask_token(files: OnnxFiles) -> str | None:
    """Return how a tokenizer writes the token that hides another."""
    named: Any = read_json(files.tokenizer_config).get("mask_token")
    if isinstance(named, dict):
        named = named.get("content")
    return named if isinstance(named, str) else None
