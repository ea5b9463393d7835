"""How well a word fits in the place of another, as a language model or an encoder sees it."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.lexicon.token_table import offsets_of
from ietest_fast.models.onnx_models.classifier import (
    OnnxFiles,
    find_shift,
    is_checkpoint,
    open_token_network,
    refuse_narrow,
)
from ietest_fast.models.tokens import Ragged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.onnx_models.classifier import OnnxNetwork
    from ietest_fast.models.tokens import TokenStore

    _Reduction = Callable[[NDArray[np.int64], NDArray[np.float32]], NDArray[np.float32]]

# Vectors of texts from an encoder: features for linear classifiers.


def embed_texts(
    path: str | Path,
    columns: Sequence[pa.ChunkedArray],
    *,
    n_threads: int | None = None,
) -> NDArray[np.float32]:
    """Return the mean vector of the tokens of each input, float32 (n, d)."""
    model = SenseModel.load(path)
    if model.kind != "encoder":
        raise InputError(
            "is a masked language model, whose output is a number for each word; give an encoder, "
            "such as a sentence encoder",
            path=path,
        )
    network = model.network
    rows = np.arange(len(columns[0]), dtype=np.int64)
    store = network.tokenizer.join(
        [network.tokenizer.tokenise(column.to_pylist()) for column in columns],
        [rows for _ in columns],
    )

    def reduce(places: NDArray[np.int64], output: NDArray[np.float32]) -> NDArray[np.float32]:
        lengths = store.lengths[places]
        start = find_shift(network, lengths, output)
        column = np.arange(output.shape[1])
        inside = (column >= start[:, None]) & (column < (start + lengths)[:, None])
        total = np.where(inside[:, :, None], output, 0).sum(axis=1, dtype=np.float64)
        return np.asarray(total / lengths[:, None], dtype=np.float32)

    found = np.empty((len(rows), 0), np.float32)

    def take(places: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        nonlocal found
        if not found.shape[1]:
            found = np.empty((len(rows), vectors.shape[1]), np.float32)
        found[places] = vectors

    network.run(store, rows, take, reduce=reduce, n_threads=n_threads)
    return found


SenseKind = Literal["encoder", "masked"]

# Contexts that are tokenised and held in memory at a time, and their characters.
_CONTEXTS_AT_ONCE = 16_384
_CHARACTERS_AT_ONCE = 1 << 22
# Characters of a token, at most on the average; what is farther from the word is not read.
_CHARACTERS_OF_TOKEN = 16


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
    """

    def __init__(
        self,
        network: OnnxNetwork,
        mask: int | None,
        *,
        path: Path,
        fingerprint: str | None = None,
    ) -> None:
        self.network = network
        self._mask = mask
        self._path = path.absolute()
        self._fingerprint = fingerprint or network.hash("sense ", self.kind)

    @classmethod
    def load(cls, path: str | Path) -> SenseModel:
        """Load an ONNX file or folder, or the folder of a checkpoint."""
        path = Path(path)
        if path.is_file() and path.suffix != ".onnx":
            raise InputError(
                "this is no model: give an .onnx file, a folder that holds one, or the folder of a "
                "checkpoint",
                path=path,
            )
        if not is_checkpoint(path):
            return cls(*open_token_network(OnnxFiles.find(path)), path=path)
        from ietest_fast.models.checkpoint import fingerprint_checkpoint
        from ietest_fast.models.onnx_models.export import export_sense_model

        # The checkpoint's own: another version of torch exports it to other bytes.
        fingerprint = hashlib.sha256(f"sense {fingerprint_checkpoint(path)}".encode()).hexdigest()
        with tempfile.TemporaryDirectory(prefix="ietest-sense-") as room:
            # Loaded while it is there: ONNX Runtime keeps what it has read.
            exported = export_sense_model(path, Path(room) / "model")
            network, mask = open_token_network(OnnxFiles.find(exported))
            return cls(network, mask, path=path, fingerprint=fingerprint)

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        # What runs it cannot be copied to another process.
        return SenseModel.load, (self._path,)

    @property
    def kind(self) -> SenseKind:
        """``"encoder"`` or ``"masked"``."""
        return "encoder" if self._mask is None else "masked"

    @property
    def fingerprint(self) -> str:
        """Hash of the model's files, or of the checkpoint's, 64 hexadecimal digits."""
        return self._fingerprint

    def score(
        self,
        old: Sequence[Context],
        new: Sequence[Context],
        *,
        n_threads: int | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Compute how well each new word fits in the old one's place.

        Every distinct context is computed once.
        """
        places: dict[Context, int] = {}
        old, new = [self._near(each) for each in old], [self._near(each) for each in new]
        for context in (*old, *new):
            places.setdefault(context, len(places))
        contexts = list(places)
        mask = self._mask
        parts = []
        for some in _cut(contexts):
            inputs = self._read(some)
            reduce = (
                self._vectors(inputs) if mask is None else self._log_probabilities(inputs, mask)
            )
            parts.append(self._compute(inputs, reduce, n_threads, on_batch))
        found = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
        first = found[[places[context] for context in old]]
        second = found[[places[context] for context in new]]
        if self._mask is None:
            return np.asarray((first * second).sum(axis=1), dtype=np.float32)
        return np.asarray((second - first)[:, 0], dtype=np.float32)

    def _near(self, context: Context) -> Context:
        """Cut off what is farther from the word than the model reads."""
        reach = _CHARACTERS_OF_TOKEN * self.network.tokenizer.max_length
        before, word, after = context
        if len(before) <= reach and len(after) <= reach:
            return context
        return Context(before[max(0, len(before) - reach) :], word, after[:reach])

    def _compute(
        self,
        inputs: _Inputs,
        reduce: _Reduction,
        n_threads: int | None,
        on_batch: Callable[[int], None] | None,
    ) -> NDArray[np.float32]:
        """Return the numbers of each context's word, shape (n, d)."""
        n = len(inputs.begin)
        found: list[NDArray[np.float32]] = []
        order: list[NDArray[np.int64]] = []

        def take(places: NDArray[np.int64], numbers: NDArray[np.float32]) -> None:
            order.append(places)
            found.append(numbers)
            if on_batch is not None:
                on_batch(len(places))

        rows = np.arange(n, dtype=np.int64)
        self.network.run(inputs.store, rows, take, reduce=reduce, n_threads=n_threads)
        together = np.concatenate(found)
        in_order = np.empty_like(together)
        in_order[np.concatenate(order)] = together
        return in_order

    def _vectors(self, inputs: _Inputs) -> _Reduction:
        """Make what computes the mean vector of each context's word, of length 1, shape (b, d)."""

        def reduce(places: NDArray[np.int64], output: NDArray[np.float32]) -> NDArray[np.float32]:
            begin, end = self._places(inputs, places, output)
            means = np.stack(
                [
                    vectors[first:last].mean(axis=0, dtype=np.float64)
                    for vectors, first, last in zip(output, begin, end, strict=True)
                ]
            )
            lengths = np.linalg.norm(means, axis=1, keepdims=True)
            return (means / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)

        return reduce

    def _log_probabilities(self, inputs: _Inputs, mask: int) -> _Reduction:
        """Hide the words; make what computes their tokens' mean log-probability, shape (b, 1)."""
        firsts = inputs.store.offsets[:-1]
        words = []
        for first, begin, end in zip(firsts, inputs.begin, inputs.end, strict=True):
            tokens = inputs.store.ids[first + begin : first + end]
            words.append(tokens.copy())
            tokens[:] = mask
        largest = max(int(word.max()) for word in words)

        def reduce(places: NDArray[np.int64], output: NDArray[np.float32]) -> NDArray[np.float32]:
            begin, end = self._places(inputs, places, output)
            refuse_narrow(self.network, output, largest)
            found = np.empty((len(places), 1), np.float32)
            for i, (place, first, last) in enumerate(zip(places, begin, end, strict=True)):
                hidden = output[i, first:last].astype(np.float64)
                hidden -= hidden.max(axis=1, keepdims=True)
                chosen = hidden[np.arange(last - first), words[place]]
                found[i] = np.mean(chosen - np.log(np.exp(hidden).sum(axis=1)))
            return found

        return reduce

    def _places(
        self, inputs: _Inputs, places: NDArray[np.int64], output: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where words begin and end in a batch; some models are padded on the left."""
        shift = find_shift(self.network, inputs.store.lengths[places], output)
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
        ragged = Ragged(values=np.concatenate(texts), offsets=offsets_of(kept))
        rows = np.arange(len(contexts), dtype=np.int64)
        ahead = len(template.ids[0])
        return _Inputs(
            store=tokenizer.join([ragged], [rows]),
            begin=spans.begin - cut + ahead,
            end=np.minimum(spans.end - cut, kept) + ahead,
        )


def _cut(contexts: Sequence[Context]) -> Iterator[Sequence[Context]]:
    begin = size = 0
    for end, context in enumerate(contexts, start=1):
        size += sum(map(len, context))
        if end - begin == _CONTEXTS_AT_ONCE or size >= _CHARACTERS_AT_ONCE or end == len(contexts):
            yield contexts[begin:end]
            begin, size = end, 0
