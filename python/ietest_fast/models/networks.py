"""Recurrent networks and sums of word vectors, in torch: the papers' simpler neural baselines."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from ietest_fast.atomic import hash_file
from ietest_fast.errors import InputError
from ietest_fast.files import open_file
from ietest_fast.models.classifiers import ScoringClassifier
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
from ietest_fast.models.tokens import (
    Ragged,
    Template,
    TextRows,
    encode_splits,
    spread,
)
from ietest_fast.models.training import (
    Schedule,
    Training,
    check_minutes,
    choose_device,
    import_torch,
    never,
    plan_batches,
    plan_epochs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

# Texts as numbers of words, for models that learn (or are given) a vector for each word.


PADDING, UNKNOWN, SEPARATOR = range(3)
"""Numbers that are no word's."""

_FIRST_WORD = 3

# Words and single punctuation marks.
_PIECE = re.compile(r"\w+|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Give a text's words and punctuation marks, in lower case."""
    return _PIECE.findall(text.lower())


class WordTokenizer:
    """Gives the words of a vocabulary numbers."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._number_of = {word: i for i, word in enumerate(vocabulary, _FIRST_WORD)}

    @classmethod
    def learn(cls, texts: Iterable[str]) -> tuple[WordTokenizer, list[str]]:
        """Take all words of some texts, and give them in alphabetical order, too."""
        vocabulary = sorted({word for text in texts for word in split_words(text)})
        return cls(vocabulary), vocabulary

    def tokenise(self, texts: Sequence[str]) -> Ragged:
        """Give the words of texts their numbers, int32, a row for each text."""
        find = self._number_of.get
        rows = ([find(word, UNKNOWN) for word in split_words(text)] for text in texts)
        return Ragged.of([np.array(row, dtype=np.int32) for row in rows])

    def template(self, n_texts: int) -> Template:
        """Put a separator between two texts, and nothing around them."""
        nothing = np.zeros(0, np.int32)
        between = [np.array([SEPARATOR], np.int32)] * (n_texts - 1)
        ids = (nothing, *between, nothing)
        return Template(
            ids=ids,
            type_ids=tuple(np.zeros(len(piece), np.uint8) for piece in ids),
            text_types=(0,) * n_texts,
        )


@dataclass(frozen=True, kw_only=True)
class WordRows:
    """Inputs as choices among texts of numbered words."""

    rows: TextRows
    """The texts, and which of them each input consists of."""
    n_words: int
    """How many numbers there are, those that are no word's included."""
    vectors: NDArray[np.float32]
    """Given vectors, float32, shape (n_words, d), NaN where there is none; shape (n_words, 0) where
    none are given at all."""

    def __len__(self) -> int:
        return len(self.rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Give the arrays that the store consists of."""
        return self.rows.arrays() | {
            "n_words": np.array([self.n_words], dtype=np.int64),
            "vectors": self.vectors,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> WordRows:
        """Make it again from arrays, which may be memory-mapped."""
        return cls(
            rows=TextRows.from_arrays(arrays),
            n_words=int(arrays["n_words"][0]),
            vectors=arrays["vectors"],
        )


def encode_words(
    splits: Mapping[str, SplitTexts], text_columns: Sequence[str], *, vectors: Path | None = None
) -> dict[str, EncodedSplit]:
    """Give the words of ``"train"`` numbers, and write every split in all its versions in them."""
    train = _all_texts([splits["train"]], text_columns)
    tokenizer, vocabulary = WordTokenizer.learn(train)
    if not vocabulary:
        raise InputError("the training texts contain no word")
    given = np.zeros((len(vocabulary) + _FIRST_WORD, 0), np.float32)
    if vectors is not None:
        _, every = WordTokenizer.learn(_all_texts(splits.values(), text_columns))
        found = read_vectors(vectors, set(every))
        if not found:
            raise InputError(
                f"it has a vector for none of the {len(every):,} words of these texts; is it of "
                "another language, or not a text file of word vectors?",
                path=vectors,
            )
        vocabulary = sorted({*vocabulary, *found})
        tokenizer = WordTokenizer(vocabulary)
        size = len(next(iter(found.values())))
        given = np.full((len(vocabulary) + _FIRST_WORD, size), np.nan, np.float32)
        for number, word in enumerate(vocabulary, _FIRST_WORD):
            if word in found:
                given[number] = found[word]
    encoded = encode_splits(tokenizer, splits, text_columns)
    n_words = len(vocabulary) + _FIRST_WORD
    return {
        name: EncodedSplit(
            store=WordRows(rows=split.store, n_words=n_words, vectors=given),  # type: ignore[arg-type]
            versions=split.versions,
            labels=split.labels,
        )
        for name, split in encoded.items()
    }


def _all_texts(splits: Iterable[SplitTexts], text_columns: Sequence[str]) -> Iterable[str]:
    import pyarrow.compute as pc

    for split in splits:
        for table in split.versions.values():
            for name in text_columns:
                yield from pc.unique(table[name]).to_pylist()


def read_vectors(path: Path, words: set[str]) -> dict[str, NDArray[np.float32]]:
    """Read the vectors of some words from a text file, as GloVe's and fastText's are."""
    found: dict[str, NDArray[np.float32]] = {}
    size: int | None = None
    try:
        with open_file(path) as opened, io.TextIOWrapper(opened, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                parts = line.rstrip("\n").rstrip(" ").split(" ")
                if number == 1 and len(parts) == 2:
                    continue
                size = len(parts) - 1 if size is None else size
                if len(parts) - 1 < size or size == 0:
                    raise InputError(
                        f"{len(parts) - 1} numbers, where the lines before have {size}",
                        path=path,
                        row=f"line {number}",
                    )
                # Some of GloVe's words contain blanks.
                word = " ".join(parts[: len(parts) - size]).lower()
                if word in words and word not in found:
                    found[word] = _read_vector(parts[-size:], path, number)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
    return found


def _read_vector(numbers: list[str], path: Path, line: int) -> NDArray[np.float32]:
    try:
        vector = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"a line has no numbers behind its word: {error}", path=path) from error
    if not np.isfinite(vector).all():
        raise InputError("not a finite number", path=path, row=f"line {line}")
    return vector


Cell = Literal["rnn", "gru", "lstm"]

# Padded words of a batch that is only predicted.
_WORDS_AT_ONCE = 8192

# Longer texts lose their ends.
_MOST_WORDS = 512

_ALLOWED: Mapping[str, Bounds] = {
    "epochs": Bounds(low=1),
    "batch_size": Bounds(low=1),
    "learning_rate": Bounds(low=0, high=1, low_included=False),
    "embedding_size": Bounds(low=1, high=4096),
    "hidden_size": Bounds(low=1, high=4096),
    "n_layers": Bounds(low=1, high=16),
    "dropout": Bounds(low=0, high=0.99),
}

# Chapter 3 of the thesis searches sizes of 10 to 500, 1 to 6 layers, batches of 32 to 128, and
# rates and dropout from 0 to 1; the upper parts of the latter two train nothing.
_SPACE: SearchSpace = {
    "epochs": IntegerRange(low=2, high=10),
    "batch_size": IntegerRange(low=32, high=128),
    "learning_rate": FloatRange(low=1e-4, high=5e-3),
    "embedding_size": IntegerRange(low=10, high=500),
    "hidden_size": IntegerRange(low=10, high=500),
    "n_layers": IntegerRange(low=1, high=6),
    "dropout": FloatRange(low=0.0, high=0.7),
}

_DEFAULT: Params = {
    "epochs": 6,
    "batch_size": 32,
    "learning_rate": 1e-3,
    "embedding_size": 100,
    "hidden_size": 128,
    "n_layers": 1,
    "dropout": 0.2,
}


@dataclass(frozen=True, kw_only=True)
class _Vocabulary:
    """Which words a network knows, and where their vectors are."""

    place_of: NDArray[np.int64]
    """int64, shape (n_words,): the row of each word's vector; rare words share one."""
    n_rows: int
    """Number of vectors."""

    @classmethod
    def learn(cls, store: WordRows, rows: NDArray[np.int64], *, min_count: int) -> _Vocabulary:
        """Know the words that occur often enough in some rows, with given vectors if at all."""
        texts, counts = np.unique(store.rows.codes[:, rows], return_counts=True)
        every = store.rows.texts
        weights = np.repeat(counts, every.lengths[texts])
        words = every.values[spread(every.offsets[texts], every.lengths[texts])]
        occurs = np.bincount(words, weights=weights, minlength=store.n_words)
        known = occurs >= min_count
        if store.vectors.shape[1]:
            known |= (occurs > 0) & ~np.isnan(store.vectors[:, 0])
        known[: UNKNOWN + 2] = True  # padding, unknown, separator
        place_of = np.where(known, np.cumsum(known) - 1, UNKNOWN)
        return cls(place_of=place_of.astype(np.int64), n_rows=int(known.sum()))


def _read_unseen(
    network: Any, vocabulary: _Vocabulary, vectors: NDArray[np.float32]
) -> _Vocabulary:
    """Let a trained network read words that its training did not have, by their given vectors.

    They come in afterwards, so that a network does not depend on what else is in the files: texts
    of other splits and of other transformations.
    """
    if vectors.shape[1] == 0:
        return vocabulary
    torch = import_torch()
    unseen = np.flatnonzero((vocabulary.place_of == UNKNOWN) & ~np.isnan(vectors[:, 0]))
    weight = network.embed.weight.detach()
    more = torch.from_numpy(np.ascontiguousarray(vectors[unseen])).to(weight.device)
    network.embed = torch.nn.Embedding.from_pretrained(
        torch.cat([weight, more]), padding_idx=PADDING
    )
    place_of = vocabulary.place_of.copy()
    place_of[unseen] = vocabulary.n_rows + np.arange(len(unseen))
    return _Vocabulary(place_of=place_of, n_rows=vocabulary.n_rows + len(unseen))


def _rectangle(
    texts: Ragged, which: NDArray[np.int64], place_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give texts as a padded rectangle of vectors' rows, and their lengths, 1 at least."""
    lengths = np.minimum(texts.lengths[which], _MOST_WORDS)
    width = max(1, int(lengths.max()))
    inside = np.arange(width) < lengths[:, None]
    positions = texts.offsets[which][:, None] + np.arange(width)
    words = np.full(inside.shape, PADDING, dtype=np.int64)
    words[inside] = place_of[texts.values[positions[inside]]]
    return words, np.maximum(lengths, 1)


def _embed_words(n_rows: int, size: int, vectors: NDArray[np.float32] | None) -> Any:
    """Make vectors of words: random ones, but for padding and the words with a given one."""
    torch = import_torch()
    embed = torch.nn.Embedding(n_rows, size, padding_idx=PADDING)
    torch.nn.init.normal_(embed.weight, std=0.1)
    with torch.no_grad():
        embed.weight[PADDING] = 0.0
        if vectors is not None:
            given = torch.from_numpy(vectors)
            has = ~given[:, 0].isnan()
            embed.weight[has] = given[has]
    return embed


def _make_head(widths: Sequence[int], dropout: float) -> Any:
    """Make layers of these widths, the first of which is that of the input."""
    nn = import_torch().nn
    layers = [nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths)]
    between = [each for layer in layers[:-1] for each in (layer, nn.ReLU())]
    return nn.Sequential(nn.Dropout(dropout), *between, layers[-1])


def _pool(vectors: Any, lengths: Any, how: str) -> Any:
    """Make one vector of those of a text's words: their ``"sum"``, ``"mean"`` or ``"max"``."""
    places = import_torch().arange(vectors.shape[1], device=vectors.device)
    inside = (places < lengths[:, None])[:, :, None]
    if how == "max":
        return vectors.masked_fill(~inside, float("-inf")).amax(dim=1)
    total = (vectors * inside).sum(dim=1)
    return total / lengths[:, None] if how == "mean" else total


def _join_directions(last: Any, n_layers: int) -> Any:
    """Put the last states of the uppermost layer, one for each direction, beside each other."""
    final = last[0] if isinstance(last, tuple) else last  # an LSTM gives its cells, too
    final = final.view(n_layers, -1, *final.shape[1:])[-1]
    return import_torch().cat(list(final), dim=1)


def _build(
    *,
    kind: str,
    n_texts: int,
    n_rows: int,
    n_classes: int,
    params: Params,
    options: _Options,
    vectors: NDArray[np.float32] | None,
) -> Any:
    """Make a network: words of each text in, class scores out."""
    torch = import_torch()
    nn = torch.nn
    hidden = int(params["hidden_size"])
    n_layers = int(params.get("n_layers", 1))
    dropout = float(params["dropout"])
    dropout_between = dropout if n_layers > 1 else 0.0
    embedding_size = int(params["embedding_size"]) if vectors is None else vectors.shape[1]
    layer = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}.get(kind)  # None: a sum of vectors
    n_directions = 2 if options.bidirectional else 1
    size = embedding_size if layer is None else hidden * n_directions
    widths = [size * (4 if n_texts == 2 else 1), hidden, hidden] if options.pairs else [size]

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed = _embed_words(n_rows, embedding_size, vectors)
            self.drop = nn.Dropout(dropout)
            self.recur = None
            if layer is not None:
                self.recur = layer(
                    embedding_size,
                    hidden,
                    num_layers=n_layers,
                    bidirectional=options.bidirectional,
                    dropout=dropout_between,
                    batch_first=True,
                )
            self.head = _make_head([*widths, n_classes], dropout)

        def encode(self, words: Any, lengths: Any) -> Any:
            embedded = self.drop(self.embed(words))
            if self.recur is None:
                return _pool(embedded, lengths, "sum")
            packed = nn.utils.rnn.pack_padded_sequence(
                embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            states, last = self.recur(packed)
            if options.pooling == "last":
                return _join_directions(last, n_layers)
            states, _ = nn.utils.rnn.pad_packed_sequence(
                states, batch_first=True, total_length=words.shape[1]
            )
            return _pool(states, lengths, options.pooling)

        def forward(self, texts: Sequence[tuple[Any, Any]]) -> Any:
            encoded = [self.encode(words, lengths) for words, lengths in texts]
            if len(encoded) == 1:
                return self.head(encoded[0])
            u, v = encoded
            return self.head(torch.cat([u, v, u - v, u * v], dim=1))

    return Network()


@dataclass(frozen=True, kw_only=True)
class _Options:
    """What is not searched over."""

    pairs: bool
    """Whether the texts of a pair are encoded apart."""
    bidirectional: bool
    """Of the recurrence."""
    pooling: str
    """``"last"``, ``"mean"`` or ``"max"`` of the states."""
    min_count: int
    """Rarer words share a vector."""

    def __post_init__(self) -> None:
        if self.pooling not in {"last", "mean", "max"}:
            raise InputError(f'pooling must be "last", "mean" or "max", not {self.pooling!r}')
        if self.min_count < 1:
            raise InputError(f"min_count must be 1 or more, not {self.min_count}")


@dataclass(frozen=True, kw_only=True)
class NetworkClassifier(ScoringClassifier):
    """A trained network."""

    network: Any
    vocabulary: _Vocabulary
    n_classes: int
    pairs: bool
    device: str

    def predict_logits(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Give class scores, float32, shape (len(rows), n_classes); equal rows are run once."""
        torch = import_torch()
        distinct, place_of = np.unique(rows, return_inverse=True)
        texts = _texts_of(cast("WordRows", store), distinct, pairs=self.pairs)
        lengths = np.sum([column.lengths[which] for column, which in texts], axis=0)
        scores = np.empty((len(distinct), self.n_classes), dtype=np.float32)
        self.network.eval()
        with torch.inference_mode():
            for places in plan_batches(lengths, token_budget=_WORDS_AT_ONCE):
                inputs = _inputs(texts, places, self.vocabulary, self.device)
                scores[places] = self.network(inputs).float().cpu().numpy()
        return scores[place_of]


def _texts_of(
    store: WordRows, rows: NDArray[np.int64], *, pairs: bool
) -> list[tuple[Ragged, NDArray[np.int64]]]:
    """Give the texts of some rows: those of a pair apart, or as one sequence."""
    if pairs:
        return [(store.rows.texts, np.asarray(column)[rows]) for column in store.rows.codes]
    tokens = store.rows.tokens(np.asarray(rows), max_length=_MOST_WORDS)
    whole = Ragged(values=tokens.ids, offsets=tokens.offsets)
    return [(whole, np.arange(len(rows), dtype=np.int64))]


def _inputs(
    texts: Sequence[tuple[Ragged, NDArray[np.int64]]],
    places: NDArray[np.int64],
    vocabulary: _Vocabulary,
    device: str,
) -> list[tuple[Any, Any]]:
    torch = import_torch()
    rectangles = [_rectangle(column, which[places], vocabulary.place_of) for column, which in texts]
    return [
        (torch.from_numpy(words).to(device), torch.from_numpy(lengths).to(device))
        for words, lengths in rectangles
    ]


class _Network(FixedSpace):
    """A family of networks over word vectors."""

    name: ClassVar[str]
    _ALLOWED = _ALLOWED
    capabilities = Capabilities(resumes=True, depends_on_threads=True)
    _KIND: ClassVar[str]

    def __init__(self, options: _Options, *, vectors: str, checkpoint_minutes: float) -> None:
        if vectors and not Path(vectors).exists():
            raise InputError("there is no such file of word vectors", path=vectors)
        self._options = options
        self._vectors = Path(vectors) if vectors else None
        self._checkpoint_seconds = check_minutes(checkpoint_minutes)

    @property
    def backend(self) -> str:
        """Torch with its version, and the device."""
        torch = import_torch()
        return f"torch {torch.__version__}, {choose_device()}"

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over; a file of vectors counts by what is in it."""
        return {
            "bidirectional": self._options.bidirectional,
            "pooling": self._options.pooling,
            "min_count": self._options.min_count,
            "vectors": self._vectors_hash,
        }

    @cached_property
    def _vectors_hash(self) -> str:
        return "" if self._vectors is None else hash_file(self._vectors)

    @property
    def search_space(self) -> SearchSpace:
        """Near chapter 3 of the thesis; see the module's source for where it differs."""
        left_out = {"n_layers"} if self._KIND == "cbow" else set()
        if self._vectors is not None:
            left_out.add("embedding_size")
        return {name: domain for name, domain in _SPACE.items() if name not in left_out}

    @property
    def presets(self) -> Mapping[str, Params]:
        """What does well on a few thousand pairs."""
        return {"default": {name: _DEFAULT[name] for name in self.search_space}}

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Give the words of every split numbers."""
        return encode_words(splits, text_columns, vectors=self._vectors)

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> WordRows:
        """Make a store again from its arrays."""
        return WordRows.from_arrays(arrays)

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
    ) -> NetworkClassifier:
        """Train a network with Adam."""
        torch = import_torch()
        torch.set_num_threads(n_threads)
        params = normalise_params(params, self.search_space)
        device = choose_device()
        store = cast("WordRows", train.store)
        rows = np.asarray(train.rows)
        vocabulary = _Vocabulary.learn(store, rows, min_count=self._options.min_count)
        texts = _texts_of(store, rows, pairs=self._options.pairs)
        lengths = np.sum([column.lengths[which] for column, which in texts], axis=0)
        labels = torch.from_numpy(np.asarray(train.labels, dtype=np.int64)).to(device)
        devices = [torch.cuda.current_device()] if device == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            network = _build(
                kind=self._KIND,
                n_texts=len(store.rows.codes),
                n_rows=vocabulary.n_rows,
                n_classes=n_classes,
                params=params,
                options=self._options,
                vectors=self._known_vectors(store, vocabulary),
            ).to(device)

            def loss(some: NDArray[np.int64]) -> Any:
                scores = network(_inputs(texts, some, vocabulary, device))
                wanted = labels[torch.from_numpy(some).to(device)]
                return torch.nn.functional.cross_entropy(scores, wanted)

            rate = float(params["learning_rate"])
            words_of_batch = max(1, round(int(params["batch_size"]) * lengths.mean()))
            Training(
                module=network,
                loss=loss,
                optimizer=torch.optim.Adam(network.parameters(), lr=rate, fused=True),
                schedule=Schedule(learning_rate=rate, decays=False),
                max_grad_norm=5.0,
                device=device,
            ).run(
                plan_epochs(
                    lengths, epochs=int(params["epochs"]), token_budget=words_of_batch, seed=seed
                ),
                unfinished=unfinished,
                every_seconds=self._checkpoint_seconds,
                is_interrupted=is_interrupted,
            )
        return NetworkClassifier(
            network=network,
            vocabulary=_read_unseen(network, vocabulary, store.vectors),
            n_classes=n_classes,
            pairs=self._options.pairs,
            device=device,
        )

    @staticmethod
    def _known_vectors(store: WordRows, vocabulary: _Vocabulary) -> NDArray[np.float32] | None:
        if store.vectors.shape[1] == 0:
            return None
        vectors = np.full((vocabulary.n_rows, store.vectors.shape[1]), np.nan, np.float32)
        vectors[vocabulary.place_of] = store.vectors
        vectors[: UNKNOWN + 2] = np.nan  # rare words were written there
        return vectors


class _Sequence(_Network):
    """A recurrent network over the texts as one sequence, as in chapter 3 of the thesis."""

    def __init__(
        self,
        bidirectional: bool = False,
        pooling: str = "max",
        vectors: str = "",
        min_count: int = 2,
        checkpoint_minutes: float = 10.0,
    ) -> None:
        options = _Options(
            pairs=False, bidirectional=bidirectional, pooling=pooling, min_count=min_count
        )
        super().__init__(options, vectors=vectors, checkpoint_minutes=checkpoint_minutes)


class RecurrentNetwork(_Sequence):
    """Elman's recurrent network over both texts as one sequence."""

    name = "rnn"
    _KIND = "rnn"


class GatedRecurrentUnits(_Sequence):
    """Gated recurrent units over both texts as one sequence."""

    name = "gru"
    _KIND = "gru"


class LongShortTermMemory(_Sequence):
    """Long short-term memory over both texts as one sequence."""

    name = "lstm"
    _KIND = "lstm"


class PairBiLSTM(_Network):
    """Each text of a pair through one bidirectional LSTM, then a perceptron over both.

    The baseline of Nangia et al. (2017) that Naik et al. test: features u, v, u - v and u * v, two
    hidden layers.
    """

    name = "bilstm"
    _KIND = "lstm"

    def __init__(
        self,
        pooling: str = "mean",
        vectors: str = "",
        min_count: int = 2,
        checkpoint_minutes: float = 10.0,
    ) -> None:
        options = _Options(pairs=True, bidirectional=True, pooling=pooling, min_count=min_count)
        super().__init__(options, vectors=vectors, checkpoint_minutes=checkpoint_minutes)


class PairCBOW(_Network):
    """Each text of a pair as the sum of its words' vectors, then a perceptron over both.

    The CBOW baseline of Naik et al. (2018), with the head of :class:`PairBiLSTM`.
    """

    name = "cbow"
    _KIND = "cbow"

    def __init__(
        self, vectors: str = "", min_count: int = 2, checkpoint_minutes: float = 10.0
    ) -> None:
        options = _Options(pairs=True, bidirectional=False, pooling="mean", min_count=min_count)
        super().__init__(options, vectors=vectors, checkpoint_minutes=checkpoint_minutes)
