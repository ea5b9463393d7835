"""Texts as hashed word n-grams, in the core: tokenised and hashed once, chosen from ever after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.models.pooling import PooledInputs, pool_texts
from ietest_fast.models.protocol import EncodedSplit
from ietest_fast.models.ragged import Ragged, Rows, find_offsets, spread
from ietest_fast.models.settings import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.models.protocol import SplitTexts

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
    offsets = find_offsets(lengths.sum(axis=1))
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
