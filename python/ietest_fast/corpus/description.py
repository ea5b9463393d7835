"""What is in a corpus: counts, lengths, repetitions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus.dataset import Corpus

_CHUNK_ROWS = 262_144


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Lengths of texts in some unit: smallest, mean, median, 95th percentile, largest."""

    min: int
    mean: float
    median: float
    p95: float
    max: int


@dataclass(frozen=True, kw_only=True)
class ColumnDescription:
    """One text column.

    Parameters
    ----------
    name
        Of the column.
    words
        Lengths in words, which are separated by white space.
    characters
        Lengths in Unicode characters.
    n_blank
        Texts with nothing but white space in them.
    n_distinct
        Different texts.
    repeated_share
        Share of the rows whose text stands in another row as well, 0 to 1.
    """

    name: str
    words: Lengths
    characters: Lengths
    n_blank: int
    n_distinct: int
    repeated_share: float


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is in a corpus.

    Parameters
    ----------
    source, n_rows, fingerprint
        Of the corpus.
    labels
        Rows with each label, by name, in the labels' order.
    columns
        One for each text column.
    n_duplicates
        Rows whose texts (all of them) stand in an earlier row already.
    n_same_words
        The same with case, white space and a final period left out of account; at least
        ``n_duplicates``.
    n_conflicts
        Rows that have the same words as an earlier row and another label.
    vocabulary_size
        Different words, lower-cased, punctuation around them left out, over all columns.
    dropped
        Rows of the source that are not in the corpus, by reason.
    """

    source: str
    n_rows: int
    fingerprint: str
    labels: dict[str, int]
    columns: tuple[ColumnDescription, ...]
    n_duplicates: int
    n_same_words: int
    n_conflicts: int
    vocabulary_size: int
    dropped: dict[str, int]

    @property
    def is_one_class(self) -> bool:
        """Whether all rows have the same label, so that nothing can be learned from them."""
        return sum(count > 0 for count in self.labels.values()) < 2

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values for JSON."""
        return {**dataclasses.asdict(self), "is_one_class": self.is_one_class}


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What two corpora have in common.

    Parameters
    ----------
    first, second
        Their sources.
    n_same_words
        Rows of the second whose texts stand in the first, case and final period aside.
    n_shared_texts
        Rows of the second whose first text stands in the first corpus, case and final period
        aside: the same premise with other hypotheses, for example.
    """

    first: str
    second: str
    n_same_words: int
    n_shared_texts: int


def describe(corpus: Corpus) -> Description:
    """Describe a corpus: labels, lengths, duplicates, vocabulary, what was dropped and why."""
    exact = _row_codes([corpus.texts(name) for name in corpus.text_columns])
    plain = [_plain_words(corpus.texts(name)) for name in corpus.text_columns]
    same_words = _row_codes(plain)
    n_groups = _n_distinct(same_words)
    first_label = np.zeros(int(same_words.max(initial=-1)) + 1, np.int8)
    first_label[same_words[::-1]] = corpus.labels[::-1]
    n_conflicts = int((corpus.labels != first_label[same_words]).sum()) if len(corpus) else 0
    return Description(
        source=corpus.source,
        n_rows=len(corpus),
        fingerprint=corpus.fingerprint,
        labels={
            name: int(count)
            for name, count in zip(corpus.label_names, corpus.label_counts, strict=True)
        },
        columns=tuple(_describe_column(corpus, name) for name in corpus.text_columns),
        n_duplicates=len(corpus) - _n_distinct(exact),
        n_same_words=len(corpus) - n_groups,
        n_conflicts=n_conflicts,
        vocabulary_size=_vocabulary_size(corpus),
        dropped=dict(corpus.dropped),
    )


def find_overlap(first: Corpus, second: Corpus) -> Overlap:
    """Find what a second corpus (a test set, say) shares with a first (the training set)."""
    counts = []
    for n_columns in (min(len(first.text_columns), len(second.text_columns)), 1):
        both = [
            pa.chunked_array(
                [
                    chunk.cast(pa.large_string())
                    for corpus in (first, second)
                    for chunk in _plain_words(corpus.texts(index)).chunks
                ],
                pa.large_string(),
            )
            for index in range(n_columns)
        ]
        codes = _row_codes(both)
        seen = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
        seen[codes[: len(first)]] = True
        counts.append(int(seen[codes[len(first) :]].sum()))
    return Overlap(
        first=first.source, second=second.source, n_same_words=counts[0], n_shared_texts=counts[1]
    )


def _describe_column(corpus: Corpus, name: str) -> ColumnDescription:
    texts = corpus.texts(name)
    words = pc.count_substring_regex(texts, r"\S+").to_numpy()
    times = np.bincount(_row_codes([texts]))
    return ColumnDescription(
        name=name,
        words=_lengths(words),
        characters=_lengths(pc.utf8_length(texts).to_numpy()),
        n_blank=int((words == 0).sum()),
        n_distinct=len(times),
        repeated_share=float(times[times > 1].sum() / max(len(corpus), 1)),
    )


def _lengths(values: NDArray[np.integer[Any]]) -> Lengths:
    if len(values) == 0:
        return Lengths(min=0, mean=0.0, median=0.0, p95=0.0, max=0)
    return Lengths(
        min=int(values.min()),
        mean=float(values.mean()),
        median=float(np.median(values)),
        p95=float(np.percentile(values, 95)),
        max=int(values.max()),
    )


def _plain_words(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts without what does not make another sentence: case, spaces, a final period."""
    lowered = pc.utf8_lower(texts)
    spaced = pc.replace_substring_regex(lowered, r"\s+", " ")
    return pc.utf8_trim(pc.utf8_rtrim(pc.utf8_trim(spaced, " "), "."), " ")


def _row_codes(columns: Sequence[pa.ChunkedArray]) -> NDArray[np.int64]:
    """Give every row a number (from 0, without gaps), the same where all columns are."""
    codes: NDArray[np.int64] | None = None
    for column in columns:
        encoded = column.dictionary_encode().unify_dictionaries()
        new = np.concatenate(
            [np.empty(0, np.int64), *(np.asarray(chunk.indices) for chunk in encoded.chunks)]
        ).astype(np.int64)
        if codes is not None:
            width = int(new.max(initial=0)) + 1
            new = np.unique(codes * width + new, return_inverse=True)[1]
        codes = new
    assert codes is not None  # noqa: S101 - a corpus has a text column
    return codes


def _n_distinct(codes: NDArray[np.int64]) -> int:
    return int(codes.max(initial=-1)) + 1


def _vocabulary_size(corpus: Corpus) -> int:
    found: pa.Array | None = None
    for name in corpus.text_columns:
        distinct = corpus.texts(name).unique()
        for start in range(0, len(distinct), _CHUNK_ROWS):
            texts = pc.utf8_lower(distinct.slice(start, _CHUNK_ROWS))
            words = pc.list_flatten(pc.utf8_split_whitespace(texts)).unique()
            words = pc.replace_substring_regex(words, r"^[^\pL\pN]+|[^\pL\pN]+$", "")
            words = words.cast(pa.large_string())
            found = words if found is None else pa.concat_arrays([found, words])
            found = found.unique()
    if found is None:
        return 0
    return int(pc.sum(pc.not_equal(found, "")).as_py() or 0)
