"""What is in a corpus: counts, lengths, repetitions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.labels import index_labels, label_key
from ietest_fast.values import as_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus.dataset import Corpus

# Texts as words: lower-cased, without the punctuation around them.


CHUNK_ROWS = 262_144

# Of each byte whether it is white space, as regular expressions have it (\s). The bytes of other
# characters are never among these.
IS_SPACE = np.zeros(256, np.bool_)
IS_SPACE[list(b"\t\n\f\r ")] = True


@dataclass(frozen=True, kw_only=True, eq=False)
class WordIncidence:
    """Which words stand in which texts, each counted once a text."""

    words: pa.Array
    """Different words, large_string."""
    row: NDArray[np.int64]
    word: NDArray[np.int64]
    """Text and word (a position in `words`) of each incidence, int64, sorted by text."""


def strip_punctuation(words: pa.Array) -> pa.Array:
    """Take from words what is no letter and no digit at their ends."""
    return pc.replace_substring_regex(words, r"^[^\pL\pN]+|[^\pL\pN]+$", "")


def number_tokens(
    *columns: pa.ChunkedArray,
) -> tuple[NDArray[np.int64], NDArray[np.int64], pa.Array]:
    """Return the row and the number of each word of texts that may have several columns.

    And what the numbers stand for: words without what is no letter and no digit at their ends.
    """
    rows: list[NDArray[np.int64]] = []
    pieces: list[pa.Array] = []
    for column in columns:
        texts = pa.chunked_array(column).combine_chunks().cast(pa.large_string())
        lists = pc.utf8_split_whitespace(pc.utf8_lower(texts))
        rows.append(np.asarray(pc.list_parent_indices(lists)).astype(np.int64))
        pieces.append(pc.list_flatten(lists).cast(pa.large_string()))
    encoded = pa.concat_arrays(pieces).dictionary_encode()
    # Few words are different, so they are stripped when they are; "dog." and "dog" then meet.
    plain = strip_punctuation(encoded.dictionary).dictionary_encode()
    word = np.asarray(plain.indices).astype(np.int64)[np.asarray(encoded.indices)]
    row = np.concatenate(rows)
    blank = pc.index(plain.dictionary, "").as_py()
    if blank >= 0:
        row, word = row[word != blank], word[word != blank]
    return row, word, plain.dictionary


def find_incidence(*columns: pa.ChunkedArray) -> WordIncidence:
    """Find the words of texts that may have several columns."""
    row, word, words = number_tokens(*columns)
    joined = np.unique(row * len(words) + word)
    row, word = np.divmod(joined, max(len(words), 1))
    return WordIncidence(words=words, row=row, word=word)


def count_words(texts: pa.Array) -> NDArray[np.int64]:
    r"""Count what white space separates (``\S+``) in the texts of a large_string array."""
    counts = [np.empty(0, np.int64)]
    for offsets, content in bytes_of(texts):
        in_word = ~IS_SPACE[content]
        begins = in_word.copy()
        begins[1:] &= ~in_word[:-1]
        # A text begins anew, whatever the one before it ends with.
        first = offsets[:-1][np.diff(offsets) > 0]
        begins[first] = in_word[first]
        counts.append(count_marks(begins, offsets))
    return np.concatenate(counts)


def bytes_of(texts: pa.Array) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
    """Give a large_string array's offsets and bytes, some rows at a time, offsets from 0."""
    for start in range(0, len(texts), CHUNK_ROWS):
        chunk = texts.slice(start, CHUNK_ROWS)
        _, offsets_buffer, data = chunk.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int64, len(chunk) + 1, 8 * chunk.offset)
        content = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
        yield offsets - offsets[0], content


def count_marks(marks: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the marks between each two offsets."""
    counts: NDArray[np.int64] = np.diff(np.searchsorted(np.flatnonzero(marks), offsets))
    return counts


# How easy texts are to read (Flesch 1948).

# The end of a sentence and the beginning of another: . ! or ?, perhaps closed, a space, a sign.
_LONGEST = 100
_BREAK = r"[.!?]+[\"'”’)\]]*\s+[^\s.!?]"


def count_syllables(words: pa.Array) -> NDArray[np.int64]:
    """Estimate the syllables of English words, one at least, by where they may be hyphenated."""
    import pyphen

    places = pyphen.Pyphen(lang="en_US", left=1, right=1)

    def count(word: str) -> int:
        # pyphen looks at every piece of a word; one so long is none of English.
        return len(places.positions(word)) + 1 if len(word) <= _LONGEST else len(word) // 3

    return np.array([count(word) for word in words.to_pylist()], np.int64)


def reading_ease(texts: pa.Array) -> NDArray[np.float64]:
    """Estimate Flesch's reading ease of English texts.

    206.835 - 1.015 * words / sentences - 84.6 * syllables / words (Flesch 1948): above 90 very
    easy, below 30 very hard; single sentences reach far beyond 0 and 100. Words are what white
    space separates and holds a letter or a digit; sentences end in ``.``, ``!`` or ``?`` before
    white space, so abbreviations count as ends; syllables are estimated from hyphenation.
    """
    plain = texts.cast(pa.large_string())
    lists = pc.utf8_split_whitespace(plain)
    row = np.asarray(pc.list_parent_indices(lists)).astype(np.int64)
    encoded = pc.list_flatten(lists).cast(pa.large_string()).dictionary_encode()
    words = strip_punctuation(encoded.dictionary)
    syllables = count_syllables(words)
    syllables[np.asarray(pc.equal(words, ""), dtype=bool)] = 0
    own = syllables[np.asarray(encoded.indices).astype(np.int64)]
    n_words = np.bincount(row[own > 0], minlength=len(plain))
    n_syllables = np.bincount(row, own, minlength=len(plain))
    n_sentences = 1 + pc.count_substring_regex(plain, _BREAK).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        ease = 206.835 - 1.015 * n_words / n_sentences - 84.6 * n_syllables / n_words
    return np.where(n_words > 0, ease, np.nan)


# From here on the repetitions of a text are more than a few accidents.
_REPEATED_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Lengths of texts in some unit: smallest, mean, median, 95th percentile, largest."""

    min: int
    mean: float
    median: float
    p95: float
    max: int


@dataclass(frozen=True, kw_only=True)
class Readability:
    """Flesch's reading ease of texts: mean, quartiles, and how many texts have none.

    Numbers are None if no text has words.
    """

    mean: float | None
    q25: float | None
    median: float | None
    q75: float | None
    n_without: int


@dataclass(frozen=True, kw_only=True)
class ColumnDescription:
    """One text column."""

    name: str
    """Of the column."""
    words: Lengths
    """Lengths in words, which are separated by white space."""
    characters: Lengths
    """Lengths in Unicode characters."""
    n_blank: int
    """Texts with nothing but white space in them."""
    n_distinct: int
    """Different texts."""
    repeated_share: float
    """Share of the rows whose text stands in another row as well, 0 to 1."""
    reading_ease: Readability
    """Of the rows' texts, as if they were English."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """What is in a corpus."""

    source: str
    n_rows: int
    fingerprint: str
    """Of the corpus."""
    labels: dict[str, int]
    """Rows with each label, by name, in the labels' order."""
    columns: tuple[ColumnDescription, ...]
    """One for each text column."""
    n_duplicates: int
    """Rows whose texts (all of them) stand in an earlier row already."""
    n_same_words: int
    """The same with case, white space and a final period left out of account; at least
    ``n_duplicates``."""
    n_conflicts: int
    """Rows that have the same words as an earlier row and another label."""
    vocabulary_size: int
    """Different words, lower-cased, punctuation around them left out, over all columns."""
    dropped: dict[str, int]
    """Rows of the source that are not in the corpus, by reason."""

    @property
    def is_one_class(self) -> bool:
        """Whether all rows have the same label, so that nothing can be learned from them."""
        return sum(count > 0 for count in self.labels.values()) < 2

    @property
    def suggested_clusters(self) -> str | None:
        """The text column whose repetitions make rows depend on each other, if there is one.

        Rows with the same premise are not independent observations; a test that draws whole
        clusters of them takes that into account.
        """
        most = max(self.columns, key=lambda column: column.repeated_share)
        repeats = most.repeated_share >= _REPEATED_SHARE and most.n_distinct > 1
        return most.name if repeats else None

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values for JSON."""
        return {
            **dataclasses.asdict(self),
            "is_one_class": self.is_one_class,
            "suggested_clusters": self.suggested_clusters,
        }


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """What two corpora have in common."""

    first: str
    second: str
    """Their sources."""
    n_same_words: int
    """Rows of the second whose texts stand in the first, case and final period aside."""
    n_conflicts: int
    """Those of them whose label none of these rows of the first has."""
    n_shared_texts: int
    """Rows of the second whose first text stands in the first corpus, case and final period aside:
    the same premise with other hypotheses, for example."""


def describe(corpus: Corpus) -> Description:
    """Describe a corpus: labels, lengths, duplicates, vocabulary, what was dropped and why."""
    columns = [_Texts.of(corpus.texts(name)) for name in corpus.text_columns]
    exact = _row_codes([column.codes for column in columns])
    same_words = _row_codes([column.plain_codes() for column in columns])
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
        columns=tuple(
            _describe_column(name, column)
            for name, column in zip(corpus.text_columns, columns, strict=True)
        ),
        n_duplicates=len(corpus) - _n_distinct(exact),
        n_same_words=len(corpus) - n_groups,
        n_conflicts=n_conflicts,
        vocabulary_size=_vocabulary_size([column.distinct for column in columns]),
        dropped=dict(corpus.dropped),
    )


def count_other_annotators(corpus: Corpus, annotators: pa.Table) -> int:
    """Count rows whose label is none of the most frequent ones that annotators gave them."""
    votes = np.zeros((annotators.num_rows, len(corpus.label_names)), np.int64)
    for column in annotators.itercolumns():
        own, rows = column.combine_chunks(), np.arange(len(column))
        if pa.types.is_list(own.type) or pa.types.is_large_list(own.type):
            own, rows = pc.list_flatten(own), np.asarray(pc.list_parent_indices(own))
        texts = as_texts(pa.chunked_array([own]), path=corpus.source)
        codes = np.asarray(pc.fill_null(index_labels(texts, corpus.label_names), -1))
        np.add.at(votes, (rows[codes >= 0], codes[codes >= 0]), 1)
    kept = votes if corpus.rows is None else votes[corpus.rows]
    return int((kept[np.arange(len(corpus)), corpus.labels] < kept.max(axis=1)).sum())


def find_overlap(first: Corpus, second: Corpus) -> Overlap:
    """Find what a second corpus (a test set, say) shares with a first (the training set)."""
    n_columns = min(len(first.text_columns), len(second.text_columns))
    both = [
        _Texts.of(first.texts(index), second.texts(index)).plain_codes()
        for index in range(n_columns)
    ]
    rows = _row_codes(both)
    is_shared = _stand_in(rows, len(first))
    labels = np.concatenate([first.labels, _labels_as_in(first, second)])
    has_label = _stand_in(_row_codes([rows, labels.astype(np.int64)]), len(first))
    return Overlap(
        first=first.source,
        second=second.source,
        n_same_words=int(is_shared.sum()),
        n_conflicts=int((is_shared & ~has_label).sum()),
        n_shared_texts=int(_stand_in(_row_codes(both[:1]), len(first)).sum()),
    )


def _stand_in(codes: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    """Say which of the codes from the n-th on are among those before."""
    seen = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
    seen[codes[:n]] = True
    return seen[codes[n:]]


def _labels_as_in(first: Corpus, second: Corpus) -> NDArray[np.int64]:
    """Return labels by another corpus's numbers; those that it lacks have higher ones."""
    keys = [label_key(name) for name in first.label_names]
    numbers = [
        keys.index(key) if (key := label_key(name)) in keys else len(keys) + place
        for place, name in enumerate(second.label_names)
    ]
    return np.array(numbers, np.int64)[second.labels]


@dataclass(frozen=True, kw_only=True)
class _Texts:
    """A column as its different texts, a large_string array, and which of them each row has."""

    distinct: pa.Array
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, *columns: pa.ChunkedArray) -> _Texts:
        """Encode columns, one after the other, without nulls."""
        chunks = [chunk.cast(pa.large_string()) for column in columns for chunk in column.chunks]
        # In one piece: Arrow takes its time to unify the dictionaries of several.
        encoded = pa.chunked_array(chunks, pa.large_string()).combine_chunks().dictionary_encode()
        codes = np.asarray(encoded.indices).astype(np.int64)
        return cls(distinct=encoded.dictionary, codes=codes)

    def plain_codes(self) -> NDArray[np.int64]:
        """Give every row a number, the same where texts have the same words."""
        encoded = _plain_words(self.distinct).dictionary_encode()
        codes: NDArray[np.int64] = np.asarray(encoded.indices).astype(np.int64)[self.codes]
        return codes


def _describe_column(name: str, column: _Texts) -> ColumnDescription:
    words = count_words(column.distinct)[column.codes]
    characters = pc.utf8_length(column.distinct).to_numpy(zero_copy_only=False)[column.codes]
    times = np.bincount(column.codes)
    return ColumnDescription(
        name=name,
        words=_lengths(words),
        characters=_lengths(characters),
        n_blank=int((words == 0).sum()),
        n_distinct=len(times),
        repeated_share=float(times[times > 1].sum() / max(len(words), 1)),
        reading_ease=_readability(reading_ease(column.distinct)[column.codes]),
    )


def _readability(ease: NDArray[np.float64]) -> Readability:
    known = ease[~np.isnan(ease)]
    if len(known) == 0:
        return Readability(mean=None, q25=None, median=None, q75=None, n_without=len(ease))
    q25, median, q75 = (float(q) for q in np.percentile(known, (25, 50, 75)))
    return Readability(
        mean=float(known.mean()),
        q25=q25,
        median=median,
        q75=q75,
        n_without=len(ease) - len(known),
    )


def _has_runs(texts: pa.Array) -> NDArray[np.bool_]:
    """Find the texts with two blanks in a row or white space that is no blank.

    A blank at a text's beginning may count as one in a row.
    """
    found = [np.empty(0, np.bool_)]
    for offsets, content in bytes_of(texts):
        blank = content == ord(" ")
        runs = IS_SPACE[content] & ~blank
        runs[1:] |= blank[1:] & blank[:-1]
        found.append(count_marks(runs, offsets) > 0)
    return np.concatenate(found)


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


def _plain_words(texts: pa.Array) -> pa.Array:
    """Texts without what does not make another sentence: case, spaces, a final period."""
    lowered = pc.utf8_lower(texts)
    # Most texts have no white space but single blanks, and looking for it is cheap.
    spaced = pa.array(_has_runs(lowered))
    if pc.any(spaced).as_py():
        single = pc.replace_substring_regex(lowered.filter(spaced), r"\s+", " ")
        lowered = pc.replace_with_mask(lowered, spaced, single)
    return pc.utf8_trim(pc.utf8_rtrim(pc.utf8_trim(lowered, " "), "."), " ")


def _row_codes(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Give every row a number (from 0, without gaps), the same where all columns are."""
    codes = columns[0]
    for new in columns[1:]:
        # Each column has fewer than 2**31 codes, as Arrow's are of 32 bits.
        joined = codes * (int(new.max(initial=0)) + 1) + new
        codes = np.asarray(pa.array(joined).dictionary_encode().indices).astype(np.int64)
    return codes


def _n_distinct(codes: NDArray[np.int64]) -> int:
    return int(codes.max(initial=-1)) + 1


def _vocabulary_size(columns: Sequence[pa.Array]) -> int:
    found = pa.array([], pa.large_string())
    for distinct in columns:
        for start in range(0, len(distinct), CHUNK_ROWS):
            texts = pc.utf8_lower(distinct.slice(start, CHUNK_ROWS))
            words = pc.list_flatten(pc.utf8_split_whitespace(texts)).unique()
            words = strip_punctuation(words)
            found = pa.concat_arrays([found, words.cast(pa.large_string())]).unique()
    return int(pc.sum(pc.not_equal(found, "")).as_py() or 0)
