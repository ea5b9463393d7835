"""The value that everything else works on: texts with labels, checked."""

from __future__ import annotations

import functools
import hashlib
import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import check_columns, find_label_column, find_text_columns
from ietest_fast.corpus.labels import (
    MAX_LABELS,
    TEXT_MISSING,
    EncodedLabels,
    UnknownLabelError,
    compare_labels,
    encode_labels,
    name_as_noted,
    name_by_column,
    warn_of_other_labels,
    warn_of_places,
)
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.escapes import escape
from ietest_fast.frames import to_arrow
from ietest_fast.numerals import list_dropped, say_count
from ietest_fast.philox import philox_key, philox_uniforms, philox_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

Split = Literal["train", "valid"]

_STREAMS: dict[Split, int] = {"train": 0, "valid": 1}
_SUBSET_STREAM = 2
# First word of the spawn key; those of other seeds stand in experiment.identity.
_RESAMPLING = 1


def resampling_key(seed: int) -> NDArray[np.uint64]:
    """Give the Philox key of the resampling, uint64, shape (2,)."""
    sequence = np.random.SeedSequence(seed, spawn_key=(_RESAMPLING,))
    key: NDArray[np.uint64] = sequence.generate_state(2, np.uint64)  # type: ignore[assignment]
    return key


@dataclass(frozen=True, kw_only=True)
class DataGeneratingProcess:
    """Each observation is replaced by its transformed version with probability rho (section 3.1).

    Observation i of a split is transformed in resample m if u(seed, split, m, i) < rho. The u do
    not depend on rho, so for each m the sets of transformed observations are nested: raising rho
    only adds to them. u is the i-th double of ``numpy.random.Philox(key=k, counter=[0, m, s, 0])``
    with s = 0 for train and 1 for valid, and k from ``SeedSequence(seed, spawn_key=(1,))``.
    """

    seed: int
    """Any integer >= 0; 0 is a seed like others."""

    def uniforms(self, split: Split, m: int, n: int) -> NDArray[np.float64]:
        """Give u for observations 0 ... n - 1, multiples of 2**-53 in [0, 1), shape (n,)."""
        key = resampling_key(self.seed)
        return philox_uniforms(key, n, replicate=m, stream=_STREAMS[split], n_threads=1)

    def mask(self, split: Split, *, rho: float, m: int, n: int) -> NDArray[np.bool_]:
        """Say which of n observations are transformed.

        Parameters
        ----------
        split
            ``"train"`` or ``"valid"``; the test set is never mixed.
        rho
            Probability of transformation, 0 <= rho <= 1; 0 transforms none, 1 all.
        m
            Which resample, from 0.
        n
            Number of observations.

        Returns
        -------
        ndarray
            bool, shape (n,).

        Raises
        ------
        InputError
            If rho is not a probability.
        """
        if not 0.0 <= rho <= 1.0:
            raise InputError(f"rho must lie between 0 and 1, not {rho}")
        return self.uniforms(split, m, n) < rho

    def subset(self, n: int, size: int) -> NDArray[np.int64]:
        """Choose so many of the training rows, the same for all classifiers.

        Row i is one of them if fewer than `size` rows have a smaller v, where v is the i-th double
        of ``numpy.random.Philox(key=k, counter=[0, 0, 2, 0])``; see :class:`DataGeneratingProcess`
        for k. So the rows of a smaller size are among those of a larger one.

        Parameters
        ----------
        n
            Number of rows.
        size
            How many to choose, 1 to n.

        Returns
        -------
        ndarray
            int64, shape (size,), ascending.

        Raises
        ------
        InputError
            If there are not so many rows.
        """
        if not 1 <= size <= n:
            raise InputError(f"{size} of {n} rows cannot be chosen")
        return _choose_subset(self.seed, n, size)


@functools.lru_cache(maxsize=4)
def _choose_subset(seed: int, n: int, size: int) -> NDArray[np.int64]:
    """Choose rows once for all cells of a size."""
    key = resampling_key(seed)
    drawn = philox_uniforms(key, n, stream=_SUBSET_STREAM, n_threads=1)
    chosen: NDArray[np.int64] = np.sort(np.argsort(drawn, kind="stable")[:size])
    chosen.flags.writeable = False
    return chosen


def check_train_sizes(sizes: Sequence[int], train: Corpus, process: DataGeneratingProcess) -> None:
    """Make sure that there are so many rows, and that classifiers can learn from each number."""
    for size in sizes:
        if size > len(train):
            raise InputError(
                f"train_size: the training set has {len(train):,} labelled rows, not {size:,}; "
                f"name sizes from 2 to {len(train)}",
                path=train.source,
            )
        labels = np.unique(train.labels[process.subset(len(train), size)])
        if len(labels) < 2:
            raise InputError(
                f"train_size: the {size:,} rows that are drawn all have the label "
                f"{train.label_names[labels[0]]!r}; name a larger size, or another seed",
                path=train.source,
            )


LABEL = "label"
"""The name of the labels' column in every corpus."""

_MISSING = ("nan", "NaN", "None", "<NA>")

OnMissingText = Literal["error", "drop"]


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def are_categories(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of strings kept once each, a row having only their number."""
    return bool(pa.types.is_dictionary(kind) and is_text(kind.value_type))


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """Texts, or pairs of texts, with labels: no text and no label is missing.

    Raises
    ------
    InputError
        If the table does not have these columns and types.
    """

    table: pa.Table
    """The text columns (``string`` or ``large_string``), ``label`` (int8), and the columns that
    were kept besides."""
    text_columns: tuple[str, ...]
    """Names of the one or two text columns, in order."""
    label_names: tuple[str, ...]
    """Name of every label; label ``i`` is ``label_names[i]``."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows of the source that are not in the table, by reason."""
    source: str = "<memory>"
    """Where the texts come from, for messages."""
    rows: NDArray[np.int64] | None = None
    """int64, shape (n,): the 0-based row of the source that each row was; None where none is
    missing and none was moved."""

    def __post_init__(self) -> None:
        if len(self.text_columns) not in {1, 2}:
            raise InputError(
                f"a corpus has one or two text columns, not {len(self.text_columns)}",
                path=self.source,
            )
        if not 1 <= len(self.label_names) <= MAX_LABELS:
            raise InputError(
                f"a corpus has 1 to {MAX_LABELS} labels, not {len(self.label_names)}",
                path=self.source,
            )
        for name in self.text_columns:
            self._check_column(name, "text", is_text)
        self._check_column(LABEL, "int8", pa.types.is_int8)
        if len(self.table) > 0:
            span = pc.min_max(self.table.column(LABEL)).as_py()
            if span["min"] < 0 or span["max"] >= len(self.label_names):
                raise InputError(
                    f"has labels from {span['min']} to {span['max']} for "
                    f"{len(self.label_names)} label names",
                    path=self.source,
                    column=LABEL,
                )

    def _check_column(
        self, name: str, expected: str, is_expected: Callable[[pa.DataType], bool]
    ) -> None:
        n_columns = self.table.column_names.count(name)
        if n_columns != 1:
            what = f"stands {n_columns} times in the table, once expected"
            raise InputError(what, path=self.source, column=name)
        column = self.table.column(name)
        if not is_expected(column.type):
            what = f"is {column.type}, {expected} expected"
            raise InputError(what, path=self.source, column=name)
        if column.null_count > 0:
            what = f"has {column.null_count} nulls, none expected"
            raise InputError(what, path=self.source, column=name)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        counts = zip(self.label_names, self.label_counts, strict=True)
        lines = [
            f"Corpus of {len(self):,} rows from {self.source}",
            f"  texts: {', '.join(self.text_columns)}",
            f"  labels: {', '.join(f'{name} ({n:,})' for name, n in counts)}",
        ]
        if self.dropped:
            lines.append(
                f"  dropped: {', '.join(f'{n:,} {why}' for why, n in self.dropped.items())}"
            )
        return "\n".join(map(escape, lines))

    @property
    def labels(self) -> NDArray[np.int8]:
        """Labels, an int8 array (n,)."""
        labels: NDArray[np.int8] = self.table.column(LABEL).to_numpy()
        return labels

    @property
    def source_rows(self) -> NDArray[np.int64]:
        """The 0-based row of the source that each row was, an int64 array (n,)."""
        return np.arange(len(self), dtype=np.int64) if self.rows is None else self.rows

    @property
    def is_pair(self) -> bool:
        """Whether a row has two texts."""
        return len(self.text_columns) == 2

    def texts(self, column: str | int) -> pa.ChunkedArray:
        """One text column, by name or by its position among the text columns."""
        name = self.text_columns[column] if isinstance(column, int) else column
        if name not in self.text_columns:
            raise InputError(
                f"is not a text column; those are {', '.join(self.text_columns)}",
                path=self.source,
                column=name,
            )
        return self.table.column(name)

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """Rows with each label, an int64 array (n_labels,)."""
        counts: NDArray[np.int64] = np.bincount(self.labels, minlength=len(self.label_names))
        return counts

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (64 hexadecimal digits) of the texts, the labels and their names.

        It is the same however the table is cut into chunks, whether its strings have 32 or 64 bit
        offsets, and whatever the columns are called.
        """
        digest = hashlib.sha256(b"ietest-corpus-1")
        digest.update(np.array([len(self), len(self.text_columns)], "<i8").tobytes())
        for name in self.label_names:
            digest.update(f"{len(name.encode())}:{name}".encode())
        digest.update(self.labels.tobytes())
        for name in self.text_columns:
            column = self.table.column(name)
            # Lengths first, then all bytes: together they say where each text ends.
            for chunk in column.chunks:
                digest.update(np.asarray(pc.binary_length(chunk)).astype("<i8").tobytes())
            for chunk in column.chunks:
                digest.update(_text_bytes(chunk))
        return digest.hexdigest()

    def with_shuffled_labels(self, seed: int | Sequence[int]) -> Corpus:
        """Give the rows each other's labels, in a random order that follows from a seed."""
        order = np.argsort(philox_words(philox_key(seed), len(self)), kind="stable")
        place = self.table.column_names.index(LABEL)
        labels = pa.chunked_array([self.labels[order]])
        return replace(self, table=self.table.set_column(place, LABEL, labels))

    def take(self, indices: ArrayLike) -> Corpus:
        """Choose the rows with these indices, in this order.

        Parameters
        ----------
        indices
            Integers in ``[0, n)``; an index may occur more than once.
        """
        rows = np.asarray(indices)
        if rows.size > 0 and rows.dtype.kind not in "iu":
            raise InputError(f"rows are chosen by integers, not {rows.dtype}", path=self.source)
        rows = rows.astype(np.int64)
        table = self.table.take(pa.array(rows))
        return replace(self, table=table, dropped={}, rows=self.source_rows[rows])


def corpus_from_table(
    table: Any,
    *,
    text_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
    missing_text: OnMissingText = "error",
    source: str = "<memory>",
    locate: Any = None,
    like: Corpus | None = None,
) -> Corpus:
    """Check a table and make it a corpus.

    Parameters
    ----------
    table
        A table with the columns named below: a pandas or polars frame, an Arrow table, a
        ``datasets.Dataset``, a mapping of columns, or whatever else
        :func:`ietest_fast.frames.to_arrow` takes.
    text_columns
        One or two columns of strings. None to find them by name, see
        :func:`ietest_fast.corpus.read_corpus`.
    label_column
        Integers or names; becomes ``label``. None to find ``label`` or ``gold_label``.
    label_names
        As for :func:`ietest_fast.corpus.read_corpus`.
    keep_columns
        Further columns to keep as they are.
    missing_text
        What to do with rows in which a text is null: stop, or drop and count them.
    source
        For messages.
    locate
        Gives the words for a 0-based row in messages, such as ``"line 7"``.
    like
        Another part of the dataset, whose names of labels count where `label_names` is None.

    Raises
    ------
    InputError
        Naming the row and the column.
    """
    where = locate if locate is not None else "row {}".format
    table = to_arrow(table, source=source)
    if text_columns is None:
        found, text_columns = find_text_columns(source, table.column_names)
        table = rename_texts(table, found, text_columns, keep_columns)
    texts = (text_columns,) if isinstance(text_columns, str) else tuple(text_columns)
    if label_column is None:
        label_column = find_label_column(source, table.column_names)
    check_columns(
        source, table.column_names, [*dict.fromkeys((*texts, label_column, *keep_columns))]
    )
    _check_choice(texts, label_column, tuple(keep_columns), source=source)
    columns: dict[str, Any] = {}
    dropped: dict[str, int] = {}
    keep = np.ones(table.num_rows, np.bool_)

    for name in texts:
        column = _as_text(table.column(name), name, source)
        is_null = pc.is_null(column).to_numpy()
        if is_null.any() and missing_text == "error":
            raise InputError(
                f"the text is missing (in {say_count(column.null_count, 'row')}); "
                "fill it in, or remove the row",
                path=source,
                row=where(int(np.argmax(is_null))),
                column=name,
            )
        keep &= ~is_null
        _warn_of_nan(column, name, source)
        columns[name] = column
    if not keep.all():
        dropped[TEXT_MISSING] = int((~keep).sum())

    encoded = _read_labels(
        table,
        label_column,
        label_names,
        keep=keep,
        is_pair=len(texts) == 2,
        like=like,
        source=source,
        where=where,
    )
    keep &= encoded.codes >= 0
    dropped.update(encoded.dropped)

    columns[LABEL] = pa.chunked_array([pa.array(encoded.codes)])
    for name in keep_columns:
        columns.setdefault(name, table.column(name))
    checked = pa.table(columns)
    if not keep.all():
        checked = checked.filter(pa.array(keep))
    if checked.num_rows == 0:
        raise InputError(
            "no rows are left: "
            + (
                ", ".join(f"{why} in {say_count(n, 'row')}" for why, n in dropped.items())
                or "the table has none"
            ),
            path=source,
        )
    return Corpus(
        table=checked,
        text_columns=texts,
        label_names=encoded.names,
        dropped=dropped,
        source=source,
        rows=None if keep.all() else np.flatnonzero(keep),
    )


def names_like(like: Corpus | None, label_names: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names of labels that are given, or else those of another part of the dataset."""
    return like.label_names if label_names is None and like is not None else label_names


def _read_labels(
    table: pa.Table,
    label_column: str,
    label_names: Sequence[str] | None,
    *,
    keep: NDArray[np.bool_],
    is_pair: bool,
    like: Corpus | None,
    source: str,
    where: Callable[[int], str],
) -> EncodedLabels:
    """Encode the labels of a table, by the names that the user, the dataset or the table gives.

    A row that goes because of its text (not one of `keep`) does not count a second time by its
    label, which is -1.
    """
    wanted = names_like(like, label_names)
    rows = np.flatnonzero(keep)
    if len(rows) < len(keep):
        table = table.filter(pa.array(keep))
    try:
        is_told = label_names is not None
        labels, wanted = name_as_noted(table, label_column, wanted, is_told=is_told)
        if like is not None and not is_told:
            warn_of_places(table, label_column, labels, wanted or (), source=source)
        found = encode_labels(labels, label_names=wanted, is_pair=is_pair)
        if label_names is None:  # whoever names the labels says what the numbers mean
            names = name_by_column(table, found, label_column, is_pair=is_pair)
            found = found if like is not None else replace(found, names=names)
            compare_labels(table, found, label_column)
            warn_of_other_labels(table, found, label_column, source=source)
    except (UnknownLabelError, InputError) as error:
        # Of a label, or of the names of all, which may be those of the file.
        at = error.row if isinstance(error, UnknownLabelError) and len(rows) > 0 else None
        row = None if at is None else where(int(rows[at]))
        raise InputError(str(error), path=source, row=row, column=label_column) from None
    codes = np.full(len(keep), -1, np.int8)
    codes[rows] = found.codes
    return replace(found, codes=codes)


def _warn_of_nan(column: pa.ChunkedArray, name: str, source: str) -> None:
    """Count texts that are what pandas writes of a missing one."""
    n = pc.sum(pc.is_in(column, value_set=pa.array(_MISSING, column.type))).as_py() or 0
    if n:
        warnings.warn(
            f"{source}, column '{name}': {say_count(n, 'text is', 'texts are')} only "
            f"{', '.join(_MISSING[:-1])} or {_MISSING[-1]}, as pandas writes a missing text; "
            "remove the rows whose text is missing",
            IetestWarning,
            stacklevel=2,
        )


def rename_texts(
    table: pa.Table, found: Sequence[str], names: Sequence[str], keep: Sequence[str]
) -> pa.Table:
    """Return a table whose text columns have a corpus's names."""
    renamed = dict(zip(found, names, strict=True))
    kept = [(name, table.column(name)) for name in keep if renamed.get(name, name) != name]
    notes = table.schema.metadata  # which Arrow forgets where it renames
    table = table.rename_columns([renamed.get(name, name) for name in table.column_names])
    table = table.replace_schema_metadata(notes)
    for name, column in kept:
        table = table.append_column(name, column)
    return table


def require_trainable(corpus: Corpus) -> None:
    """Check that a classifier can learn something from a corpus.

    Raises
    ------
    InputError
        If all rows have the same label.
    """
    present = np.flatnonzero(corpus.label_counts)
    if len(present) < 2:
        only = f", {corpus.label_names[present[0]]}" if len(present) == 1 else ""
        lost = "".join(f"; {each}" for each in list_dropped(corpus.dropped))
        raise InputError(
            f"a classifier needs rows of two labels or more, and all {len(corpus)} rows have "
            f"one{only}{lost}",
            path=corpus.source,
            column=LABEL,
        )


def _check_choice(
    texts: tuple[str, ...], label_column: str, keep: tuple[str, ...], *, source: str
) -> None:
    if not 1 <= len(texts) <= 2:
        raise InputError(f"one or two columns of texts are expected, not {len(texts)}", path=source)
    # A kept column may be a text too: premises are what a clustered test draws by.
    for name in (*texts, label_column):
        if (*texts, label_column).count(name) > 1:
            raise InputError("is asked for twice", path=source, column=name)
    if label_column != LABEL and LABEL in (*texts, *keep):
        raise InputError(
            f"has the name that the labels (here in {label_column!r}) get; rename it",
            path=source,
            column=LABEL,
        )


def _as_text(column: pa.ChunkedArray, name: str, source: str) -> pa.ChunkedArray:
    kind = column.type
    if are_categories(kind):
        return column.cast(kind.value_type)
    if pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return column.cast(pa.large_string())
    if not is_text(kind):
        raise InputError(f"is {kind}, text expected", path=source, column=name)
    return column


def _text_bytes(chunk: pa.Array) -> memoryview:
    """Give the UTF-8 bytes of an array of strings without nulls, whatever it is a slice of."""
    width = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    _, offsets_buffer, data = chunk.buffers()
    if data is None or len(chunk) == 0:
        return memoryview(b"")
    offsets = np.frombuffer(offsets_buffer, width, len(chunk) + 1, chunk.offset * width().itemsize)
    return memoryview(data)[int(offsets[0]) : int(offsets[-1])]
