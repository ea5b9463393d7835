"""Corpora, and their versions, of whatever table or file a caller has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus import Corpus, corpus_from_table, read_corpus
from ietest_fast.corpus.columns import check_columns, find_label_column, find_text_columns
from ietest_fast.corpus.dataset import LABEL
from ietest_fast.errors import InputError
from ietest_fast.frames import to_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.evaluation.versions import Version

# What tables call the column that names their rows, case-folded.
_IDS = (
    "id",
    "item",
    "uid",
    "guid",
    "pairid",
    "pair_id",
    "idx",
    "row_id",
    "sample_id",
    "example_id",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTable:
    """A corpus, and the table that it was made of.

    Attributes
    ----------
    corpus
        The rows that have a label.
    table
        All rows and columns; None if they came from a file.
    text_columns, label_column
        Names in the table; None if they came from a file.
    """

    corpus: Corpus
    table: pa.Table | None = None
    text_columns: tuple[str, ...] = ()
    label_column: str | None = None

    @property
    def are_numbers(self) -> bool:
        """Whether labels came as integers."""
        if self.table is None or self.label_column is None:
            return False
        return bool(pa.types.is_integer(self.table.schema.field(self.label_column).type))


def as_labelled(
    data: Any,
    *,
    text_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
    source: str = "<memory>",
) -> LabelledTable:
    """Make a corpus of a table of any kind, or of a file.

    Parameters
    ----------
    data
        What :func:`ietest_fast.frames.to_arrow` takes, a path, or a corpus, which is taken as it
        is.
    text_columns, label_column, label_names, keep_columns
        As for :func:`ietest_fast.corpus.read_corpus`.
    source
        What messages call a table.

    Raises
    ------
    InputError
        Naming the row and the column.
    """
    options: dict[str, Any] = {"label_names": label_names, "keep_columns": tuple(keep_columns)}
    if isinstance(data, Corpus):
        check_columns(data.source, data.table.column_names, keep_columns)
        return LabelledTable(
            corpus=data, table=data.table, text_columns=data.text_columns, label_column=None
        )
    if isinstance(data, str | Path):
        found = read_corpus(data, text_columns=text_columns, label_column=label_column, **options)
        return LabelledTable(corpus=found)
    table = to_arrow(data, source=source)
    if label_column is None:
        label_column = find_label_column(source, table.column_names, prefer_gold=False)
    # Under their own names: a classifier may have been fitted on a frame that has them.
    names = tuple(text_columns or find_text_columns(source, table.column_names)[0])
    corpus = corpus_from_table(
        table, text_columns=names, label_column=label_column, source=source, **options
    )
    return LabelledTable(corpus=corpus, table=table, text_columns=names, label_column=label_column)


def with_labels(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Return a corpus with its labels numbered as by a classifier that knows these and others.

    Where the classifier does not know all of them, the corpus stays as it is.
    """
    folded = [name.strip().casefold() for name in names]
    own = [name.strip().casefold() for name in corpus.label_names]
    if not set(own) < set(folded) or len(set(folded)) < len(folded):
        return corpus
    codes = np.array([folded.index(name) for name in own], dtype=np.int8)[corpus.labels]
    place = corpus.table.schema.get_field_index(LABEL)
    table = corpus.table.set_column(place, LABEL, pa.array(codes))
    return replace(corpus, table=table, label_names=tuple(names))


def find_id_column(one: pa.Table, other: pa.Table) -> str | None:
    """Return the column that names the rows of two tables; None if there is none.

    It is called ``id``, ``item``, ``uid``, ``guid``, ``pairID``, ``idx`` or the like, and no value
    of it is missing or there twice.
    """
    shared = [name for name in one.column_names if name in other.column_names]
    for name in map(str, shared):
        tables = (one, other) if name.casefold() in _IDS else ()
        if tables and all(_are_ids(table.column(name)) for table in tables):
            return name
    return None


def _are_ids(column: pa.ChunkedArray) -> bool:
    return column.null_count == 0 and len(pc.unique(column)) == len(column)


def given_version(
    data: LabelledTable, transformed: Any, *, id_column: str | None, name: str = "transformed"
) -> Version:
    """Take a table for the same rows of a corpus in other words.

    Parameters
    ----------
    data
        The originals.
    transformed
        A table of any kind with the same text columns. If it has the column of labels, it has to
        agree.
    id_column
        A column of both by which rows are matched; None to find one
        (:func:`find_id_column`), and to match rows by their order if there is none.
    name
        Of the version.

    Raises
    ------
    InputError
        If the rows are not the same.
    """
    from ietest_fast.evaluation.versions import Version

    corpus, table = data.corpus, data.table
    if table is None:
        raise InputError(
            "a table of transformed texts is for a table of originals; read the file first",
            path=corpus.source,
        )
    other = to_arrow(transformed, source="transformed")
    check_columns("transformed", other.column_names, data.text_columns)
    if id_column is None:
        id_column = find_id_column(table, other)
    if id_column is not None:
        rows = _match(table, other, id_column)
        other = other.take(rows)
    elif other.num_rows != table.num_rows:
        raise InputError(
            f"has {other.num_rows:,} rows, and the originals have {table.num_rows:,}; rows are "
            "matched by their order, unless both tables have a column of ids (id_column)",
            path="transformed",
        )
    _check_labels(data, other)
    # Of a corpus, all rows are labelled; of a table, those that the corpus has kept.
    rows_kept = np.arange(len(corpus)) if data.label_column is None else corpus.source_rows
    other = other.take(pa.array(rows_kept)).select(list(data.text_columns))
    labels = pa.array(corpus.labels)
    version = corpus_from_table(
        other.rename_columns(list(corpus.text_columns)).append_column(LABEL, labels),
        text_columns=corpus.text_columns,
        label_column=LABEL,
        label_names=corpus.label_names,
        source="transformed",
    )
    return Version(
        name=name,
        identity=f"given@{version.fingerprint[:4]}",
        table=version.table,
        source_row=np.arange(len(corpus), dtype=np.int64),
        labels=corpus.labels,
    )


def _match(table: pa.Table, other: pa.Table, name: str) -> pa.Array:
    """Return the row of another table that each row of a table is, by their ids."""
    for each, source in ((table, "<memory>"), (other, "transformed")):
        check_columns(source, each.column_names, [name])
        if not _are_ids(each.column(name)):
            raise InputError("an id is missing or there twice", path=source, column=name)
    wanted, given = table.column(name), other.column(name)
    try:
        rows = pc.index_in(wanted, value_set=given.cast(wanted.type).combine_chunks())
    except pa.ArrowException as error:
        raise InputError(
            f"holds {given.type}, and {wanted.type} in the originals",
            path="transformed",
            column=name,
        ) from error
    if rows.null_count or len(given) != len(wanted):
        absent = wanted.filter(rows.is_null())
        which = f", such as {absent[0].as_py()!r}" if len(absent) else ""
        raise InputError(
            f"its {len(given):,} ids are not those of the {len(wanted):,} originals: "
            f"{len(absent):,} of these are missing{which}",
            path="transformed",
            column=name,
        )
    return rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows


def _check_labels(data: LabelledTable, other: pa.Table) -> None:
    """Refuse transformed rows that have other labels than their originals."""
    name = data.label_column
    if name is None or data.table is None or name not in other.column_names:
        return
    one, two = (table.column(name).to_pylist() for table in (data.table, other))
    for row, (before, after) in enumerate(zip(one, two, strict=True)):
        # NaN is what pandas makes of a missing label.
        if before != after and not (before != before and after != after):  # noqa: PLR0124
            raise InputError(
                f"is {after!r}, and {before!r} in the originals: are the rows in the same order? "
                "A column of ids in both tables matches them (id_column)",
                path="transformed",
                row=f"row {row}",
                column=name,
            )
