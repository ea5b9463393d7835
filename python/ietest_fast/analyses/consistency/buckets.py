"""Buckets: items in several wordings, the texts that consistency is measured on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.table import ORIGINAL
from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.dataset import LABEL, Corpus, corpus_from_table
from ietest_fast.errors import InputError
from ietest_fast.escapes import escape
from ietest_fast.numerals import say_count
from ietest_fast.values import as_items, name_versions, rank_within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


# What is said of how a transformation made wordings.


@dataclass(frozen=True, kw_only=True)
class Making:
    """How one transformation made wordings."""

    name: str
    """Of the transformation."""
    identity: str
    """The name with four digits of a hash, for signatures."""
    n_items: int
    """Items that it was given."""
    n_wordings: int
    """Wordings in the buckets that it made."""
    n_unchanged: int
    """Items in which it changes nothing."""
    n_repeated: int = 0
    """Wordings that were left out because their item has the same one from another transformation
    already."""
    n_draws: int | None = None
    """Draws that were asked for; None if the transformation was made once."""
    n_short: int = 0
    """Items that it changes, with fewer different wordings than draws."""
    n_missing: int = 0
    """Wordings that these lack."""

    @property
    def n_wanted(self) -> int:
        """Wordings of each item that were asked for."""
        return 1 if self.n_draws is None else self.n_draws

    def sentences(self) -> list[str]:
        """Return what was made and what could not be, in whole sentences."""
        draws = "" if self.n_draws is None else f", {say_count(self.n_draws, 'draw')} asked for"
        made = (
            f"{say_count(self.n_wordings, 'wording')} of {say_count(self.n_items, 'item')}{draws}"
        )
        same = say_count(self.n_unchanged, "item stays as it is", "items stay as they are")
        said = [f"{self.name}: {made}; {same}."]
        if self.n_short:
            said.append(
                f"{self.name}: {say_count(self.n_short, 'item has', 'items have')} fewer different "
                f"wordings than draws; {say_count(self.n_missing, 'is', 'are')} missing."
            )
        if self.n_repeated:
            said.append(
                f"{self.name}: {say_count(self.n_repeated, 'wording')} left out, because another "
                "transformation gives the same."
            )
        return said


# Rows of buckets: which belong to mixed items, and what wordings without a name are called.

PARAPHRASE = "paraphrase"
"""What wordings without a name are called; the second becomes ``paraphrase#2``."""


def find_mixed(items: pa.ChunkedArray, labels: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which rows are of items that have rows with different labels, bool (n,).

    A label that is missing is none that differs.
    """
    known = pa.table({"item": items, "label": labels})
    counts = known.group_by("item").aggregate([("label", "count_distinct")])
    mixed = counts.filter(pc.greater(counts["label_count_distinct"], 1))["item"]
    found = pc.is_in(items, value_set=mixed.combine_chunks())
    return np.asarray(found.combine_chunks().to_numpy(zero_copy_only=False), dtype=np.bool_)


def name_items(items: pa.ChunkedArray) -> tuple[str, ...]:
    """Return the distinct items, as texts; rows without one are left out."""
    return tuple(pc.unique(items.drop_null()).cast(pa.string()).to_pylist())


def number_wordings(items: pa.ChunkedArray) -> pa.Array:
    """Name wordings by their place in their item: the first is the original."""
    codes = items.combine_chunks().dictionary_encode(null_encoding="encode").indices
    places = rank_within(np.asarray(codes, dtype=np.int64))
    most = int(places.max(initial=0))
    names = [ORIGINAL, PARAPHRASE, *(f"{PARAPHRASE}#{number}" for number in range(2, most + 1))]
    return pa.array(names, pa.string()).take(pa.array(places))


def error_of_missing(
    column: pa.ChunkedArray,
    name: str,
    source: str,
    locate: Callable[[int], str],
    source_rows: NDArray[np.int64] | None = None,
) -> InputError:
    """Return the error of a column of items or versions in which some are missing."""
    lack = say_count(column.null_count, "row has", "rows have")
    row = pc.index(pc.is_null(column), pa.scalar(True)).as_py()
    return InputError(
        f"{lack} none; every wording needs its {name}",
        path=source,
        row=locate(row if source_rows is None else int(source_rows[row])),
        column=name,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Buckets:
    """Items in several wordings: one row for each item and version.

    Raises
    ------
    InputError
        If a column is missing or of another type, an item has no name, a version of an item is
        there twice, or the rows of an item have different labels.
    """

    table: pa.Table
    """``item`` (string or int64), ``version`` (string; ``original`` is the reference), the text
    columns, ``label`` (int8), and the columns that were kept besides. Rows may stand in any
    order."""
    text_columns: tuple[str, ...]
    """Names of the one or two text columns."""
    label_names: tuple[str, ...]
    """Name of every label; label ``i`` is ``label_names[i]``."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows of the source that are not in the table, by reason."""
    empty: tuple[str, ...] = ()
    """Items of the source, as texts, that have no row because all of theirs were dropped."""
    mixed: tuple[str, ...] = ()
    """Items of the source, as texts, that were left out because their rows have different
    labels."""
    made: tuple[Making, ...] = ()
    """How the wordings were made, one entry for each transformation; empty if they were read."""
    notes: tuple[str, ...] = ()
    """Whole sentences about how the wordings came about."""
    source: str = "<memory>"
    """Where the texts come from, for messages."""

    def __post_init__(self) -> None:
        check_columns(self.source, self.table.column_names, ["item", "version"])
        table = _with_plain_names(self.table, self.source)
        object.__setattr__(self, "table", table)
        corpus = self.as_corpus()  # checks texts and labels
        if len(corpus) == 0:
            raise InputError("there are no buckets", path=self.source)
        self._check_versions()
        self._check_labels()

    def __len__(self) -> int:
        return self.n_buckets

    def __repr__(self) -> str:
        alone = f", {self.n_alone:,} of them with one wording" if self.n_alone else ""
        return escape(
            f"Buckets({say_count(self.n_buckets, 'item')} in "
            f"{say_count(self.table.num_rows, 'wording')}{alone}, "
            f"from {self.source})"
        )

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The bucket of each row, int64 (n,): buckets count from 0, in order of occurrence."""
        encoded = self.table["item"].combine_chunks().dictionary_encode()
        return np.asarray(encoded.indices, dtype=np.int64)

    @cached_property
    def items(self) -> pa.Array:
        """The item of each bucket, in the order of :attr:`codes`."""
        return pc.unique(self.table["item"].combine_chunks())

    @property
    def n_buckets(self) -> int:
        """How many items there are."""
        return len(self.items)

    @property
    def n_empty(self) -> int:
        """Items of the source that have no row because all of theirs were dropped."""
        return len(self.empty)

    @property
    def n_mixed(self) -> int:
        """Items of the source that were left out because their rows have different labels."""
        return len(self.mixed)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Wordings of each bucket, the original included, int64 (n_buckets,)."""
        return np.bincount(self.codes, minlength=self.n_buckets).astype(np.int64)

    @cached_property
    def is_original(self) -> NDArray[np.bool_]:
        """Which rows are originals, bool (n,)."""
        equal = pc.equal(self.table["version"], ORIGINAL)
        return np.asarray(equal.combine_chunks().to_numpy(zero_copy_only=False), dtype=np.bool_)

    @cached_property
    def n_paraphrases(self) -> NDArray[np.int64]:
        """Wordings of each bucket beside its original, int64 (n_buckets,)."""
        others = self.codes[~self.is_original]
        return np.bincount(others, minlength=self.n_buckets).astype(np.int64)

    @property
    def n_alone(self) -> int:
        """Buckets with one wording only, of which no consistency can be measured."""
        return int((self.sizes == 1).sum())

    @property
    def n_without_paraphrases(self) -> int:
        """Originals that have no other wording."""
        return int((self.n_paraphrases == 0).sum())

    @property
    def n_without_original(self) -> int:
        """Buckets that lack their original."""
        return int((self.n_paraphrases == self.sizes).sum())

    def as_corpus(self) -> Corpus:
        """Return all wordings as a corpus, a row for each, for a model to answer."""
        return Corpus(
            table=self.table,
            text_columns=self.text_columns,
            label_names=self.label_names,
            dropped=dict(self.dropped),
            source=self.source,
        )

    def find_originals(self) -> NDArray[np.int64]:
        """Return the row of the original of each row's bucket, int64 (n,); -1 for none."""
        places = np.full(self.n_buckets, -1, np.int64)
        rows = np.flatnonzero(self.is_original)
        places[self.codes[rows]] = rows
        return places[self.codes]

    def _check_versions(self) -> None:
        keys = self.table.select(["item", "version"])
        counts = keys.group_by(["item", "version"], use_threads=False).aggregate(
            [([], "count_all")]
        )
        repeated = counts.filter(pc.greater(counts["count_all"], 1))
        if repeated.num_rows:
            first = repeated.slice(0, 1).to_pylist()[0]
            more = ", for one" if repeated.num_rows > 1 else ""
            many = say_count(repeated.num_rows, "wording is", "wordings are")
            raise InputError(
                f"{many} there more than once: version {first['version']!r} of item "
                f"{first['item']!r}{more}; each version of an item needs a name of its own, and "
                "each item an id of its own",
                path=self.source,
                column="item",
            )

    def _check_labels(self) -> None:
        labels = np.asarray(self.table[LABEL].to_numpy())
        low = np.full(self.n_buckets, np.iinfo(np.int8).max, np.int8)
        high = np.full(self.n_buckets, -1, np.int8)
        np.minimum.at(low, self.codes, labels)
        np.maximum.at(high, self.codes, labels)
        mixed = np.flatnonzero(low != high)
        if len(mixed):
            item = self.items[int(mixed[0])].as_py()
            names = [self.label_names[code[mixed[0]]] for code in (low, high)]
            more = ", for one," if len(mixed) > 1 else ""
            raise InputError(
                f"{say_count(len(mixed), 'item has', 'items have')} wordings with different "
                f"labels: {item!r}{more} has {' and '.join(names)}. All wordings of an item need "
                "the same right answer: correct the labels, or leave such items out (--drop-mixed)",
                path=self.source,
                column=LABEL,
            )


def _with_plain_names(table: pa.Table, source: str) -> pa.Table:
    """Return the table with items as strings or int64 and versions as strings, none missing."""
    for name in ("item", "version"):
        as_names = as_items if name == "item" else name_versions
        column = pa.chunked_array([as_names(table[name], path=source, name=name)])
        if column.null_count:
            raise error_of_missing(column, name, source, "row {}".format)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


# Reading buckets: long tables with a row for each wording of an item.


def read_buckets(
    path: str | Path,
    *,
    item_column: str = "item",
    version_column: str | None = None,
    keep_columns: Sequence[str] = (),
    drop_mixed: bool = False,
    **options: Any,
) -> Buckets:
    """Read a long table of buckets: one row for each wording of an item.

    Parameters
    ----------
    path
        Parquet, CSV, TSV or JSON lines with a column of items, one or two of texts and one of
        labels; see :func:`ietest_fast.corpus.read_corpus`.
    item_column
        Says which rows are wordings of the same item; its values are texts or integers.
    version_column
        Names the wordings, ``original`` the one that the others are compared with. None: the column
        ``version`` if there is one; otherwise the first row of an item is its original, and the
        others are ``paraphrase``, ``paraphrase#2`` and so on. Rows that are dropped have a place in
        this order, too: an item whose first row is dropped has no original.
    keep_columns
        Further columns to keep.
    drop_mixed
        Whether to leave out, and count, items whose rows have different labels.
    **options
        ``text_columns``, ``label_column``, ``label_names``, ``missing_text`` and ``quoted``, as for
        :func:`ietest_fast.corpus.read_corpus`.

    Returns
    -------
    Buckets
        Rows without a gold label are dropped and counted, and so are items that have no row then.

    Raises
    ------
    InputError
        If the file is not as it should be, an item has no id, a version of an item is there twice,
        or the rows of an item have different labels and are not to be left out.
    """
    from ietest_fast.corpus import open_batches, read_corpus
    from ietest_fast.corpus.formats import find_format, locate_row

    path = Path(path)
    with open_batches(path, types_of="start") as reader:
        names = list(reader.schema.names)
    check_columns(path, names, [item_column])
    if version_column is None and "version" in names:
        version_column = "version"
    kept = [item_column, *([] if version_column is None else [version_column]), *keep_columns]
    corpus = read_corpus(path, keep_columns=tuple(dict.fromkeys(kept)), **options)
    items = corpus.table[item_column]
    if corpus.dropped:
        with open_batches(path, columns=[item_column], types_of="file") as reader:
            items = pa.Table.from_batches(list(reader), reader.schema)[item_column]
    return _from_corpus(
        corpus,
        items,
        item_column=item_column,
        version_column=version_column,
        drop_mixed=drop_mixed,
        locate=partial(locate_row, path, find_format(path, quoted=options.get("quoted"))),
    )


def buckets_from_table(
    table: Any,
    *,
    item_column: str = "item",
    version_column: str | None = None,
    keep_columns: Sequence[str] = (),
    drop_mixed: bool = False,
    source: str = "<memory>",
    **options: Any,
) -> Buckets:
    """Make buckets of a long table in memory; see :func:`read_buckets`.

    Parameters
    ----------
    table
        A table of any kind that :func:`ietest_fast.frames.to_arrow` takes.
    item_column, version_column, keep_columns, drop_mixed
        As for :func:`read_buckets`.
    source
        For messages.
    **options
        As for :func:`ietest_fast.corpus.corpus_from_table`.

    Raises
    ------
    InputError
        As for :func:`read_buckets`.
    """
    from ietest_fast.frames import to_arrow

    arrow = to_arrow(table, source=source)
    check_columns(source, arrow.column_names, [item_column])
    if version_column is None and "version" in arrow.column_names:
        version_column = "version"
    kept = [item_column, *([] if version_column is None else [version_column]), *keep_columns]
    corpus = corpus_from_table(
        arrow, keep_columns=tuple(dict.fromkeys(kept)), source=source, **options
    )
    return _from_corpus(
        corpus,
        arrow[item_column],
        item_column=item_column,
        version_column=version_column,
        drop_mixed=drop_mixed,
        locate="row {}".format,
    )


def _find_lost(before: pa.ChunkedArray, after: pa.ChunkedArray) -> tuple[str, ...]:
    kept = set(name_items(after))
    return tuple(name for name in name_items(before) if name not in kept)


def _from_corpus(
    corpus: Corpus,
    source_items: pa.ChunkedArray,
    *,
    item_column: str,
    version_column: str | None,
    drop_mixed: bool,
    locate: Callable[[int], str],
) -> Buckets:
    """Make buckets of a corpus; `source_items` has the item of every row of its source."""
    table = corpus.table
    place = table.column_names.index(item_column)
    source_items, own = (
        pa.chunked_array([as_items(column, path=corpus.source, name=item_column)])
        for column in (source_items, table[item_column])
    )
    table = table.set_column(place, item_column, own)
    empty = _find_lost(source_items, table[item_column]) if corpus.dropped else ()
    for column, name in ((item_column, "item"), (version_column, "version")):
        if column is not None and table[column].null_count:
            raise error_of_missing(table[column], name, corpus.source, locate, corpus.source_rows)
    names = {item_column: "item"} | ({} if version_column is None else {version_column: "version"})
    for old, new in names.items():
        if old != new and new in table.column_names:
            raise InputError(
                f"cannot be kept under this name, which the column {old!r} gets; rename it",
                path=corpus.source,
                column=new,
            )
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    if version_column is None:
        if "version" in table.column_names:
            raise InputError(
                "cannot be kept under this name, which means something else in a table of buckets; "
                "rename it",
                path=corpus.source,
                column="version",
            )
        # Of the rows of the source: where the original was dropped, no paraphrase takes its place.
        versions = number_wordings(source_items).take(pa.array(corpus.source_rows))
        table = table.append_column("version", versions)
    mixed: tuple[str, ...] = ()
    if drop_mixed:
        is_mixed = find_mixed(table["item"], table[LABEL])
        mixed = name_items(table["item"].filter(pa.array(is_mixed)))
        table = table.filter(pa.array(~is_mixed))
    return Buckets(
        table=table,
        text_columns=corpus.text_columns,
        label_names=corpus.label_names,
        dropped=dict(corpus.dropped),
        empty=empty,
        mixed=mixed,
        source=corpus.source,
    )
