"""Corpora, and their versions, of whatever table or file a caller has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.corpus import Corpus, corpus_from_table, read_corpus
from ietest_fast.corpus.columns import check_columns, find_label_column, find_text_columns
from ietest_fast.corpus.dataset import LABEL
from ietest_fast.corpus.labels import (
    UnknownLabelError,
    encode_labels,
    label_key,
    name_as_noted,
)
from ietest_fast.errors import InputError
from ietest_fast.frames import check_order, to_arrow
from ietest_fast.transform.files import check_out
from ietest_fast.values import are_ids, is_bytes, is_id_name, match_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.answers.versions import Version


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTable:
    """A corpus, and the table that it was made of."""

    corpus: Corpus
    """The rows that have a label."""
    table: pa.Table | None = None
    """All rows and columns; None if they came from a file."""
    text_columns: tuple[str, ...] = ()
    label_column: str | None = None
    """Names in the table; None if they came from a file."""
    given: Any = None
    """The table as it came, whose index pandas may have; None if it was a file."""

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
    like: Corpus | None = None,
    source: str = "<memory>",
) -> LabelledTable:
    """Make a corpus of a table of any kind, or of a file."""
    options: dict[str, Any] = {
        "label_names": label_names,
        "keep_columns": tuple(keep_columns),
        "like": like,
    }
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
        label_column = find_label_column(source, table.column_names)
    # Under their own names: a classifier may have been fitted on a frame that has them.
    names = tuple(text_columns or find_text_columns(source, table.column_names)[0])
    corpus = corpus_from_table(
        table, text_columns=names, label_column=label_column, source=source, **options
    )
    return LabelledTable(
        corpus=corpus, table=table, text_columns=names, label_column=label_column, given=data
    )


def with_labels(corpus: Corpus, names: Sequence[str]) -> Corpus:
    """Return a corpus with its labels numbered as by a classifier that knows these and others.

    Where the classifier does not know all of them, the corpus stays as it is.
    """
    folded = [label_key(name) for name in names]
    own = [label_key(name) for name in corpus.label_names]
    if not set(own) < set(folded) or len(set(folded)) < len(folded):
        return corpus
    codes = np.array([folded.index(name) for name in own], dtype=np.int8)[corpus.labels]
    place = corpus.table.schema.get_field_index(LABEL)
    table = corpus.table.set_column(place, LABEL, pa.array(codes))
    return replace(corpus, table=table, label_names=tuple(names))


def list_names(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of columns as a tuple; None stays."""
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


def check_answers_file(out: str | Path | None, read: Iterable[object]) -> Path | None:
    """Find out before the work whether answers can be written there, and over what."""
    if out is None:
        return None
    other = InputError("out is a Parquet file, whose name ends in .parquet", path=out)
    check_out(Path(out), read, unless_parquet=other)
    return Path(out)


def find_id_column(one: pa.Table, other: pa.Table) -> str | None:
    """Return the column that names the rows of two tables; None if there is none.

    It is called ``id``, ``item``, ``uid``, ``guid``, ``pairID``, ``idx`` or the like, and no value
    of it is missing or there twice.
    """
    shared = [name for name in one.column_names if name in other.column_names]
    for name in map(str, shared):
        tables = (one, other) if is_id_name(name) else ()
        if tables and all(are_ids(table.column(name)) for table in tables):
            return name
    return None


def version_from_table(
    data: LabelledTable, transformed: Any, *, id_column: str | None, name: str = "transformed"
) -> Version:
    """Take a table for the same rows of a corpus in other words."""
    from ietest_fast.answers.schema import CHANGED
    from ietest_fast.answers.versions import check_labels, check_length, given_version

    corpus, table = data.corpus, data.table
    if table is None:
        raise InputError(
            "a table of transformed texts is for a table of originals; read the file first",
            path=corpus.source,
        )
    source = "transformed"
    other = to_arrow(transformed, source=source)
    check_columns(source, other.column_names, data.text_columns)
    if id_column is None:
        id_column = find_id_column(table, other)
    # Of a corpus, all rows are labelled; of a table, those that the corpus has kept.
    rows = np.arange(len(corpus)) if data.label_column is None else corpus.source_rows
    if id_column is None:
        check_length(other.num_rows, table.num_rows, what="rows", sources=(corpus.source, source))
        check_order({corpus.source: data.given, source: transformed})
        _check_columns_agree(data, other, source=source)
    else:
        for each, where in ((table, corpus.source), (other, source)):
            check_columns(where, each.column_names, [id_column])
        matched = match_ids(
            table.column(id_column),
            other.column(id_column),
            name=id_column,
            sources=(corpus.source, source),
            rows=(np.arange(table.num_rows), np.arange(other.num_rows)),
        )
        rows = matched.to_numpy(zero_copy_only=False)[rows]
    other = other.take(pa.array(rows))
    if data.label_column is not None and data.label_column in other.column_names:
        labels = _encode(other, data, rows)
        check_labels(corpus, labels, rows, source=source, by_id=id_column)
    names = pa.array(corpus.label_names).take(pa.array(corpus.labels))
    texts = other.select(list(data.text_columns)).rename_columns(list(corpus.text_columns))
    version = corpus_from_table(
        texts.append_column(LABEL, names),
        text_columns=corpus.text_columns,
        label_column=LABEL,
        label_names=corpus.label_names,
        source=source,
    )
    marks = other[CHANGED] if CHANGED in other.column_names else None
    return given_version(name, corpus, version, marks=marks)


def _check_columns_agree(data: LabelledTable, other: pa.Table, *, source: str) -> None:
    """Refuse rows in another order, where a column of both tables says that they are.

    That is one that usually tells rows apart, or does so here, with the same values elsewhere.
    """
    from ietest_fast.answers.versions import check_row_order

    table: Any = data.table
    own = {data.label_column, LABEL}
    # Texts last: rows can be matched by other columns.
    for name in sorted(table.column_names, key=lambda name: name in data.text_columns):
        if name in own or name not in other.column_names:
            continue
        columns = [table.column(name), other.column(name)]
        if any(pa.types.is_nested(kind.type) or is_bytes(kind.type) for kind in columns):
            continue
        is_text = name in data.text_columns
        check_row_order(name, *columns, sources=(data.corpus.source, source), is_text=is_text)


def _encode(other: pa.Table, data: LabelledTable, rows: NDArray[np.int64]) -> Any:
    """Return labels of some rows of a transformed table as indices into the corpus' labels."""
    corpus = data.corpus
    name = str(data.label_column)
    try:
        column, names = name_as_noted(other, name, corpus.label_names)
        found = encode_labels(column, label_names=names, is_pair=corpus.is_pair)
    except UnknownLabelError as error:
        raise InputError(
            str(error), path="transformed", row=f"row {rows[error.row]}", column=name
        ) from None
    return found.codes
