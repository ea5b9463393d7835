"""Texts as hashed word n-grams, in the core: tokenised and hashed once, chosen from ever after."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

import ietest_fast
from ietest_fast.errors import InputError
from ietest_fast.files import read_arrays
from ietest_fast.lexicon.token_table import offsets_of
from ietest_fast.models.classifiers import Head, ScoringClassifier
from ietest_fast.models.label_map import read_json, read_labels
from ietest_fast.models.protocol import (
    Bounds,
    Capabilities,
    EncodedRows,
    EncodedSplit,
    FixedSpace,
    FloatRange,
    IntegerRange,
    Params,
    SearchSpace,
    SplitTexts,
    normalise_params,
)
from ietest_fast.models.tokens import PooledInputs, Ragged, Rows, pool_texts, spread
from ietest_fast.runtime import n_cores
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.classifiers import Scores
    from ietest_fast.models.protocol import RowStore


NAME = "ngram-linear"
"""Of the model over these features."""

WEIGHTS = "ngram-linear.npz"
"""The file that tells a folder of a kept classifier of this model from others."""

Texts = Literal["apart", "joined"]

# Runs of anything but the characters of Python's \w. RE2's own \w is ASCII only.
_NO_WORD = r"[^\p{L}\p{N}_]+"

MOST_BITS = 26
"""The buckets of two texts are counted with 32 bits, and take 4 bytes each while texts are
encoded."""

# N-grams that are looked at together: they take up to some 40 bytes each, kept ones 4.
_ENTRIES_AT_ONCE = 1 << 18


def is_ngram_folder(path: Path) -> bool:
    """Return whether a folder holds a kept classifier of the model ``ngram-linear``."""
    if (path / WEIGHTS).is_file():
        return True
    # One that has lost its weights is told so by whoever reads it.
    settings = path / "config.json"
    return settings.is_file() and read_json(settings).get("model_type") == NAME


@dataclass(frozen=True, kw_only=True)
class NgramOptions:
    """How texts become features."""

    max_n: int = 4
    """Most words of an n-gram."""
    bits: int = 22
    """There are 2**bits buckets (for each text, if texts are apart)."""
    texts: str = "apart"
    """``"apart"``, the n-grams of each text of a pair are features of their own; ``"joined"``, both
    texts are one, and n-grams may reach over their border."""

    def __post_init__(self) -> None:
        for name, most in (("max_n", 10), ("bits", MOST_BITS)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise InputError(f"{name} must be a whole number from 1 to {most}, not {value!r}")
        if self.texts not in get_args(Texts):
            raise InputError(f'texts must be "apart" or "joined", not {self.texts!r}')


@dataclass(frozen=True, kw_only=True, eq=False)
class NgramRows(Rows):
    """Inputs as rows of n-grams that are there."""

    columns: NDArray[np.int32]
    """int32, shape (entries,): n-grams that the training texts have, in the order of their buckets,
    each once."""
    sizes: NDArray[np.int32]
    """int32, shape (rows,): how many n-grams a row has, those that no training text has included.
    An n-gram weighs 1 / sqrt(size), so a row has the Euclidean length 1."""
    buckets: NDArray[np.int32]
    """int32, shape (n_columns,): the bucket of each column; the commonest columns come first."""
    n_texts: int
    """How many texts an input has."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the store consists of."""
        return {
            "offsets": self.offsets,
            "columns": self.columns,
            "sizes": self.sizes,
            "buckets": self.buckets,
            "n_texts": np.array([self.n_texts], dtype=np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> NgramRows:
        """Make it again from arrays, which may be memory-mapped."""
        own = {name: arrays[name] for name in ("offsets", "columns", "sizes", "buckets")}
        return cls(**own, n_texts=int(arrays["n_texts"][0]))


def normalise_words(texts: pa.Array) -> pa.Array:
    """Return the words of texts in lower case, separated by single blanks."""
    import pyarrow.compute as pc

    lower = pc.utf8_lower(texts)
    return pc.utf8_trim(pc.replace_substring_regex(lower, _NO_WORD, " "), " ")


def hash_inputs(
    distinct: pa.Array,
    inputs: Mapping[str, PooledInputs],
    options: NgramOptions,
    *,
    n_threads: int | None = None,
) -> dict[str, Ragged]:
    """Hash the n-grams of inputs into buckets.

    The bucket of an n-gram is the magnitude of MurmurHash3_x86_32 (seed 0) of its UTF-8 bytes,
    words separated by a blank, modulo 2**bits, as in scikit-learn's ``HashingVectorizer``. That of
    a second text, if texts are apart, has 2**bits added to it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from ietest_fast.runtime import load_core

    def hash_texts(texts: pa.Array) -> Ragged:
        offsets, buckets = load_core().linear.hash_ngrams(
            texts, max_n=options.max_n, bits=options.bits, n_threads=n_threads
        )
        return Ragged(values=buckets, offsets=offsets)

    def join(codes: NDArray[np.int64]) -> pa.Array:
        columns = [distinct.take(pa.array(column)) for column in codes]
        blank = pa.scalar(" ", pa.large_string())
        return pc.utf8_trim(pc.binary_join_element_wise(*columns, blank), " ")

    if options.texts == "joined" and any(len(own.codes) > 1 for own in inputs.values()):
        return {name: hash_texts(join(own.codes)) for name, own in inputs.items()}
    hashed = hash_texts(distinct)
    return {name: _set_apart(hashed, own.codes, options.bits) for name, own in inputs.items()}


def _set_apart(hashed: Ragged, codes: NDArray[np.int64], bits: int) -> Ragged:
    """Put the buckets of an input's texts one behind the other, each text in buckets of its own."""
    lengths = np.stack([hashed.lengths[column] for column in codes], axis=1)
    begins = np.stack([hashed.offsets[column] for column in codes], axis=1)
    first = np.arange(len(codes), dtype=np.int32) << bits
    offsets = offsets_of(lengths.sum(axis=1))
    made = Ragged(values=np.empty(offsets[-1], np.int32), offsets=offsets)
    for begin, end in made.runs(_ENTRIES_AT_ONCE):
        of_text = lengths[begin:end].ravel()
        own = made.values[offsets[begin] : offsets[end]]
        own[:] = hashed.values[spread(begins[begin:end].ravel(), of_text)]
        own += np.repeat(np.tile(first, end - begin), of_text)
    return made


def number_columns(
    hashed: Ragged, buckets: NDArray[np.int32], options: NgramOptions, *, n_texts: int
) -> NgramRows:
    """Give buckets the numbers of columns, and leave out those that are no column."""
    column_of = np.full(count_buckets(options, n_texts), -1, dtype=np.int32)
    column_of[buckets] = np.arange(len(buckets), dtype=np.int32)
    values, n_known = hashed.values, 0
    offsets = np.zeros_like(hashed.offsets)
    for begin, end in hashed.runs(_ENTRIES_AT_ONCE):
        own = hashed.offsets[begin : end + 1]
        columns = column_of[values[own[0] : own[-1]]]
        known = columns >= 0
        before = np.concatenate(([0], np.cumsum(known, dtype=np.int64)))
        offsets[begin + 1 : end + 1] = n_known + before[own[1:] - own[0]]
        # Never beyond what has been read.
        values[n_known : n_known + before[-1]] = columns[known]
        n_known += int(before[-1])
    return NgramRows(
        offsets=offsets,
        columns=values if n_known == len(values) else values[:n_known].copy(),
        sizes=hashed.lengths.astype(np.int32),
        buckets=buckets,
        n_texts=n_texts,
    )


def encode_ngrams(
    splits: Mapping[str, SplitTexts], text_columns: Sequence[str], options: NgramOptions
) -> dict[str, EncodedSplit]:
    """Hash every split in all its versions; columns are the n-grams of ``"train"``."""
    distinct, inputs = _pool_words(splits, text_columns)
    hashed = hash_inputs(distinct, inputs, options)
    n_texts = len(text_columns)
    buckets = _rank_buckets(hashed["train"].values, count_buckets(options, n_texts))
    if not len(buckets):
        raise InputError("the training texts contain no word")
    return {
        name: EncodedSplit(
            store=number_columns(hashed.pop(name), buckets, options, n_texts=n_texts),
            versions=own.versions,
            labels=splits[name].labels,
        )
        for name, own in inputs.items()
    }


def _rank_buckets(values: NDArray[np.int32], n_buckets: int) -> NDArray[np.int32]:
    """Return the buckets that there are, the commonest first, and of equals the lower number.

    The weights of the commonest n-grams stand together, and stay in a core's cache.
    """
    counts = np.zeros(n_buckets, np.int32)
    for begin in range(0, len(values), _ENTRIES_AT_ONCE):
        np.add.at(counts, values[begin : begin + _ENTRIES_AT_ONCE], 1)
    used = np.flatnonzero(counts).astype(np.int32)
    ranked: NDArray[np.int32] = used[np.argsort(-counts[used], kind="stable")]
    return ranked


def count_buckets(options: NgramOptions, n_texts: int) -> int:
    """Return the number of buckets; all are below it."""
    return (n_texts if options.texts == "apart" else 1) << options.bits


def encode_inputs(
    inputs: pa.Table, options: NgramOptions, buckets: NDArray[np.int32]
) -> tuple[NgramRows, NDArray[np.int64]]:
    """Hash inputs for a trained classifier."""
    import pyarrow as pa

    names = [f"text{place}" for place in range(inputs.num_columns)]
    columns = [_normalise_column(column) for column in inputs.columns]
    distinct, pooled = pool_texts(
        {"inputs": {"all": pa.table(dict(zip(names, columns, strict=True)))}}, names
    )
    hashed = hash_inputs(distinct, pooled, options)["inputs"]
    rows = number_columns(hashed, buckets, options, n_texts=inputs.num_columns)
    return rows, pooled["inputs"].versions["all"]


def _pool_words(
    splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
) -> tuple[pa.Array, dict[str, PooledInputs]]:
    """Pool texts by their words: versions that differ in case and marks alone share a row."""
    import pyarrow as pa

    words = {
        name: {
            version: pa.table({each: _normalise_column(table[each]) for each in text_columns})
            for version, table in split.versions.items()
        }
        for name, split in splits.items()
    }
    return pool_texts(words, text_columns)


def _normalise_column(column: pa.ChunkedArray) -> pa.Array:
    """Normalise each distinct text once: premises recur."""
    import pyarrow as pa

    encoded = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
    return normalise_words(encoded.dictionary).take(encoded.indices)


# A trained linear classifier over n-grams: its answers, its files, and what else runs it.

BACKEND = f"ietest_fast {ietest_fast.__version__}"
"""What trains it and runs it: the core of this package."""

_CONFIG = "config.json"
_FORMAT = 1

# Inputs that are scored between two reports.
_INPUTS_AT_ONCE = 65_536


@dataclass(frozen=True, kw_only=True, eq=False)
class NgramClassifier(ScoringClassifier):
    """A trained multinomial logistic regression over n-grams."""

    buckets: NDArray[np.int32]
    """int32, shape (n_columns,): the n-grams that it knows."""
    weights: NDArray[np.float32]
    """float32, shape (n_columns, n_classes), behind each row zeros up to a multiple of 4."""
    intercepts: NDArray[np.float32]
    """float32, shape (n_classes,)."""
    options: NgramOptions
    """How texts became features."""
    n_texts: int
    """How many texts an input has."""
    n_threads: int = 1
    """Threads of a prediction, which does not depend on them."""

    def predict_logits(self, store: RowStore, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Compute class scores, float32, shape (len(rows), n_classes)."""
        from ietest_fast.runtime import load_core

        own = cast("NgramRows", store)
        scores: NDArray[np.float32] = load_core().linear.score_rows(
            own.offsets,
            own.columns,
            own.sizes,
            chosen=np.ascontiguousarray(rows, dtype=np.int64),
            weights=self.weights_for(own.buckets),
            intercepts=self.intercepts,
            n_threads=self.n_threads,
        )
        return scores

    def weights_for(self, buckets: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the weights of other columns; zeros for n-grams that it does not know."""
        if buckets is self.buckets or np.array_equal(buckets, self.buckets):
            return self.weights
        if not len(self.buckets):
            return np.zeros((len(buckets), self.weights.shape[1]), np.float32)
        order = np.argsort(self.buckets)
        ascending = self.buckets[order]
        place = np.minimum(np.searchsorted(ascending, buckets), len(order) - 1)
        weights = self.weights[order[place]]
        weights[ascending[place] != buckets] = 0.0
        return weights

    def save(self, folder: Path, *, label_names: Sequence[str]) -> None:
        """Write ``ngram-linear.npz``, the n-grams that have weights, and ``config.json``, the rest.

        The folder is empty before; :func:`read_ngram_classifier` reads it.
        """
        n_classes = len(self.intercepts)
        used = np.flatnonzero(self.weights.any(axis=1))
        used = used[np.argsort(self.buckets[used])]
        np.savez(
            folder / WEIGHTS,
            buckets=self.buckets[used],
            weights=np.ascontiguousarray(self.weights[used, :n_classes]),
            intercepts=self.intercepts,
            **_as_arrays(self.options, self.n_texts),
        )
        settings = {
            "model_type": NAME,
            "format": _FORMAT,
            **asdict(self.options),
            "n_texts": self.n_texts,
            "id2label": {str(i): name for i, name in enumerate(label_names)},
        }
        (folder / _CONFIG).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def _as_arrays(options: NgramOptions, n_texts: int) -> dict[str, Any]:
    """Return what the buckets depend on, to stand beside them: settings alone may be edited."""
    return {
        name: np.array(value) for name, value in (asdict(options) | {"n_texts": n_texts}).items()
    }


def read_ngram_classifier(
    folder: Path, *, expected: NgramOptions | None = None
) -> tuple[NgramClassifier, tuple[str, ...]]:
    """Read what :meth:`NgramClassifier.save` wrote."""
    path = folder / _CONFIG
    if not path.is_file():
        raise InputError(f"there is no {_CONFIG} beside {WEIGHTS}", path=folder)
    settings = read_json(path)
    if settings.get("model_type") != NAME or settings.get("format") != _FORMAT:
        raise InputError(
            f"is not of a model {NAME!r} of format {_FORMAT}; train it again, or take "
            "the version of ietest-fast that has written it",
            path=path,
        )
    try:
        own: dict[str, Any] = {name: settings.get(name) for name in asdict(NgramOptions())}
        options = NgramOptions(**own)
    except InputError as error:
        raise InputError(str(error), path=path) from error
    n_texts = settings.get("n_texts")
    if type(n_texts) is not int or n_texts not in {1, 2}:
        raise InputError(f"n_texts must be 1 or 2, not {n_texts!r}", path=path)
    if expected is not None and options != expected:
        raise InputError(f"was trained with other options: {asdict(options)}", path=path)
    own |= {"n_texts": n_texts}
    arrays = _read_arrays(folder / WEIGHTS, own, n_buckets=count_buckets(options, n_texts))
    labels = read_labels(settings, len(arrays["intercepts"]), path)
    padded = np.zeros((len(arrays["weights"]), -(-len(labels) // 4) * 4), np.float32)
    padded[:, : len(labels)] = arrays["weights"]
    classifier = NgramClassifier(
        buckets=arrays["buckets"],
        weights=padded,
        intercepts=arrays["intercepts"],
        options=options,
        n_texts=n_texts,
    )
    return classifier, labels


def _read_arrays(path: Path, said: Mapping[str, Any], *, n_buckets: int) -> dict[str, NDArray[Any]]:
    """Read the weights, which come from anywhere."""
    kinds = {"buckets": (np.int32, 1), "weights": (np.float32, 2), "intercepts": (np.float32, 1)}
    arrays: dict[str, NDArray[Any]] = {}
    file = read_arrays(path)
    try:
        for name, (dtype, n_dimensions) in kinds.items():
            arrays[name] = file[name]
            if arrays[name].dtype != dtype or arrays[name].ndim != n_dimensions:
                raise ValueError(f"{name} is {arrays[name].dtype}, {arrays[name].ndim}-d")
        trained = {name: file[name].tolist() for name in said if name in file}
    except (LookupError, ValueError) as error:
        raise InputError(
            f"is damaged, or no file of n-grams' weights: {error}", path=path
        ) from error
    for name, value in trained.items():  # nothing in a file of an earlier version
        if value != said[name]:
            raise InputError(
                f"was trained with {name} {show_value(value)}, but {_CONFIG} beside it says "
                f"{show_value(said[name])}; put the {_CONFIG} back that was written with it",
                path=path,
            )
    buckets, weights, intercepts = arrays.values()
    if weights.shape != (len(buckets), len(intercepts)) or not 2 <= len(intercepts) <= 127:
        raise InputError("its arrays do not fit together", path=path)
    # There are none where every weight is zero: then intercepts alone decide.
    are_inside = ((buckets >= 0) & (buckets < n_buckets)).all()
    if not are_inside or not (buckets[1:] > buckets[:-1]).all():
        raise InputError(f"its buckets are not ascending numbers below {n_buckets:,}", path=path)
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
        raise InputError("a weight is no number", path=path)
    return arrays


class NgramTextClassifier:
    """A kept linear classifier over n-grams; see :class:`ietest_fast.models.TextClassifier`."""

    def __init__(self, folder: str | Path, *, n_threads: int | None = None) -> None:
        found, self.labels = read_ngram_classifier(Path(folder))
        self._classifier = replace(found, n_threads=n_threads or n_cores())

    @property
    def backend(self) -> str:
        """The core of this package, with its version."""
        return BACKEND

    @cached_property
    def fingerprint(self) -> str:
        """Hash of weights, options and labels."""
        own = self._classifier
        digest = hashlib.sha256(repr((asdict(own.options), self.labels)).encode())
        for array in (own.buckets, own.weights, own.intercepts):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def score(self, inputs: pa.Table, *, on_batch: Callable[[int], None] | None = None) -> Scores:
        """Classify inputs."""
        own = self._classifier
        if inputs.num_columns != own.n_texts:
            raise InputError(
                f"the model was trained on {own.n_texts} texts an input, and there are "
                f"{inputs.num_columns} columns: {', '.join(inputs.column_names)}; name those that "
                "it sees (on the command line --input or --text-columns)"
            )
        parts = []
        for begin in range(0, max(inputs.num_rows, 1), _INPUTS_AT_ONCE):
            some = inputs.slice(begin, _INPUTS_AT_ONCE)
            rows, which = encode_inputs(some, own.options, own.buckets)
            parts.append(own.predict_logits(rows, which))
            if on_batch is not None:
                on_batch(len(which))
        return Head(labels=self.labels).score(np.concatenate(parts))


# A linear classifier over hashed word n-grams: the lexical baseline of Srikanth et al. (2024).
#
# Theirs is fastText's (Joulin et al. 2017): n-grams of up to four words, five epochs of
# stochastic gradient descent, a learning rate that falls to zero. So is this one, but for
# fastText's layer of 100 numbers between n-grams and labels: here each n-gram has a weight for
# each label.

# Passes over the training set, the first step's rate, and the weight of the penalty.
_SEARCH_SPACE: SearchSpace = {
    "epochs": IntegerRange(low=2, high=20),
    "learning_rate": FloatRange(low=0.25, high=2.0, step=0.25),
    "l2": FloatRange(low=0.0, high=2e-5, step=2e-6),
}

_ALLOWED: Mapping[str, Bounds] = {
    "epochs": Bounds(low=1, high=10_000),
    "learning_rate": Bounds(low=0, high=10, low_included=False),
    "l2": Bounds(low=0, high=0.05),
}

# The paper's five epochs, without a penalty.
_PRESETS: Mapping[str, Params] = {"default": {"epochs": 5, "learning_rate": 1.0, "l2": 0.0}}


class NgramLinear(FixedSpace):
    """Word n-grams up to four and a linear classifier: fast enough for sweeps of thousands.

    Notes
    -----
    Multinomial logistic regression by stochastic gradient descent, one row a step, with a learning
    rate that falls linearly to 0. An epoch takes the rows in a new order, drawn from the seed.
    Training runs on one thread whatever `n_threads` is.
    """

    name = NAME
    _SPACE = _SEARCH_SPACE
    _ALLOWED = _ALLOWED
    _PRESETS = _PRESETS
    capabilities = Capabilities(saves=True, restores=True)

    def __init__(self, max_n: int = 4, bits: int = 22, texts: str = "apart") -> None:
        self._options = NgramOptions(max_n=max_n, bits=bits, texts=texts)

    @property
    def backend(self) -> str:
        """The core of this package, with its version."""
        return BACKEND

    @property
    def options(self) -> dict[str, str | int | float | bool]:
        """The settings that are not searched over."""
        return asdict(self._options)

    def encode(
        self, splits: Mapping[str, SplitTexts], text_columns: Sequence[str]
    ) -> dict[str, EncodedSplit]:
        """Hash the n-grams of every split; those of ``"train"`` are columns."""
        return encode_ngrams(splits, text_columns, self._options)

    def load_store(self, arrays: Mapping[str, NDArray[Any]]) -> NgramRows:
        """Make a store again from its arrays."""
        return NgramRows.from_arrays(arrays)

    def fit(
        self,
        train: EncodedRows,
        valid: EncodedRows | None,  # noqa: ARG002 - the number of epochs is a hyperparameter
        *,
        params: Params,
        n_classes: int,
        seed: int,
        n_threads: int = 1,
    ) -> NgramClassifier:
        """Minimise the mean log-loss plus l2 / 2 times the squared norm of the weights."""
        from ietest_fast.philox import philox_key
        from ietest_fast.runtime import load_core

        params = normalise_params(params, _SEARCH_SPACE)
        store = cast("NgramRows", train.store)
        weights, intercepts = load_core().linear.train_softmax(
            store.offsets,
            store.columns,
            store.sizes,
            n_columns=len(store.buckets),
            chosen=np.ascontiguousarray(train.rows, dtype=np.int64),
            labels=np.ascontiguousarray(train.labels, dtype=np.int8),
            n_classes=n_classes,
            epochs=int(params["epochs"]),
            learning_rate=float(params["learning_rate"]),
            l2=float(params["l2"]),
            key=philox_key(seed),
        )
        return NgramClassifier(
            buckets=np.asarray(store.buckets),
            weights=weights,
            intercepts=intercepts,
            options=self._options,
            n_texts=store.n_texts,
            n_threads=n_threads,
        )

    def restore(self, folder: Path, *, params: Params, n_threads: int = 1) -> NgramClassifier:  # noqa: ARG002 - weights are all it needs
        """Return a classifier that was saved."""
        found, _ = read_ngram_classifier(folder, expected=self._options)
        return replace(found, n_threads=n_threads)
