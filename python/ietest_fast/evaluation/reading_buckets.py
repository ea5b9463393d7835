"""Reading buckets: long tables with a row for each wording of an item."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.dataset import LABEL, Corpus, corpus_from_table
from ietest_fast.errors import InputError
from ietest_fast.evaluation.bucket_rows import (
    error_of_missing,
    find_mixed,
    name_items,
    number_wordings,
)
from ietest_fast.evaluation.buckets import Buckets
from ietest_fast.values import as_items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
