"""Buckets: items in several wordings, the texts that consistency is measured on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.dataset import LABEL, Corpus
from ietest_fast.errors import InputError
from ietest_fast.evaluation.bucket_rows import error_of_missing
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.plurals import say_count
from ietest_fast.signs import escape
from ietest_fast.values import as_items, name_versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.evaluation.making import Making


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
