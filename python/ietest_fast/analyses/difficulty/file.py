"""A file of labelled texts whose items AFLite marks as easy or difficult."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.difficulty.aflite import (
    MOST_FEATURE,
    are_features,
    blocks,
    count_word_features,
    filter_adversarially,
)
from ietest_fast.answers.schema import is_predictions
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.corpus import Corpus, corpus_from_table, open_batches, read_corpus
from ietest_fast.corpus.columns import (
    LABEL_COLUMNS,
    LABELS_BESIDE,
    OTHER_TRUTHS,
    check_columns,
    find_label_column,
    find_text_columns,
    usual_label_column,
)
from ietest_fast.corpus.formats import check_readable, format_of, open_parquet
from ietest_fast.corpus.labels import index_labels, label_key
from ietest_fast.corpus.reasoning import find_task
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.files import read_array
from ietest_fast.frames import to_arrow
from ietest_fast.numerals import say_count
from ietest_fast.report.tables import Column, Table
from ietest_fast.values import (
    as_items,
    as_numbers,
    as_texts,
    is_id_name,
    name_groups,
    name_versions,
    pair_columns,
    say_repeated,
    show_value,
    spell_whole,
    trim_texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.analyses.difficulty.aflite import Difficulty

# Vectors of texts that another program has computed, from a file.


def read_vectors(path: str | Path, *, column: str | None = None) -> NDArray[Any]:
    """Read a vector for each row of another file, numbers as they are in the file, (n, d)."""
    path = Path(path)
    check_readable(path)
    if path.suffix == ".npy":
        if column is not None:
            raise InputError("is an array without columns; name none", path=path)
        values = _read_array(path)
    elif path.suffix == ".parquet":
        values = _read_lists(path, column)
    else:
        raise InputError("holds no vectors: a .npy or .parquet file expected", path=path)
    if values.ndim != 2 or 0 in values.shape:
        shape = " x ".join(map(str, values.shape))
        raise InputError(
            f"has the shape {shape or 'of one number'}; a vector for each row expected", path=path
        )
    parts = [are_features(values[block]).all(axis=1) for block in blocks(len(values))]
    wrong = np.flatnonzero(~np.concatenate(parts))
    if wrong.size:
        raise InputError(
            f"{say_count(wrong.size, 'vector has', 'vectors have')} a number that is missing, "
            f"infinite or beyond {MOST_FEATURE:.0e}",
            path=path,
            row=f"row {wrong[0]}",
        )
    return values


def _read_array(path: Path) -> NDArray[Any]:
    found = read_array(path)
    if found.dtype.kind not in "fiu":
        raise InputError("is no array of numbers", path=path)
    return found


def _read_lists(path: Path, column: str | None) -> NDArray[Any]:
    try:
        file = open_parquet(path)
        schema = file.schema_arrow
        lists = [field.name for field in schema if _holds_vectors(field.type)]
        if column is None:
            if len(lists) != 1:
                raise InputError(
                    f"has {len(lists)} columns of lists of numbers; "
                    + ("name the one to use" if lists else "one vector for each row expected"),
                    path=path,
                )
            column = lists[0]
        check_columns(path, schema.names, [column])
        if column not in lists:
            raise InputError(
                f"is {schema.field(column).type}; lists of numbers expected",
                path=path,
                column=column,
            )
        own = file.read(columns=[column])[column].combine_chunks()
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read: {shorten_error(error)}", path=path) from error
    if own.null_count:
        raise InputError(f"{own.null_count:,} vectors are missing", path=path, column=column)
    lengths = pc.list_value_length(own)
    width = pc.max(lengths).as_py() or 0
    different = np.flatnonzero(np.asarray(lengths) != width)
    if different.size:
        raise InputError(
            f"{different.size:,} vectors are shorter than the longest, which has {width} numbers",
            path=path,
            row=f"row {different[0]}",
            column=column,
        )
    flat = pc.list_flatten(own)
    if flat.null_count:
        flat = pc.fill_null(flat.cast(pa.float64()), float("nan"))
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(own), width)


def _holds_vectors(kind: pa.DataType) -> bool:
    is_list = (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
    return bool(
        is_list and (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type))
    )


DIFFICULTY, SCORE = "difficulty", "aflite_score"
"""Columns that are written."""

MOST_TRAINED_ON = 10_000
"""Items that a classifier is trained on unless told, at most (Sakaguchi et al. 2020)."""

MOST_SLICED = 500
"""Items that a round removes unless told, at most."""


@dataclass(frozen=True, kw_only=True)
class FeatureSource:
    """Where the features of texts come from: their words, unless something else is named."""

    vectors: Path | None = None
    """A file with a vector for each row; see
    :func:`~ietest_fast.analyses.difficulty.file.read_vectors`."""
    column: str | None = None
    """Its column."""
    encoder: Path | None = None
    """A model that gives them; see :func:`~ietest_fast.models.sense.embed_texts`."""
    min_texts: int = 2
    """Of words: those in fewer items are left out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MarkedFile:
    """A file with marks of difficulty, not written yet."""

    table: pa.Table
    """The file's, with the columns ``difficulty`` (``easy``, ``difficult``, or null for rows
    without a gold label and for items without a score) and ``aflite_score`` (float64, null where
    there is none)."""
    difficulty: Difficulty
    """Of the items."""
    n_items: int
    """Items that were filtered."""
    has_wordings: bool
    """Whether an item may have several rows, all of which are marked by its original."""
    n_unmarked: int
    """Rows without a gold label."""
    n_features: int
    """Numbers of an item."""
    text_columns: tuple[str, ...]
    """Columns of texts that were read."""
    n_train: int
    slice_size: int
    """As they were used."""

    def write(self, path: str | Path) -> None:
        """Write the table, whole or not at all, in the format of the name."""
        path = Path(path)
        if format_of(path).kind == "parquet":
            import pyarrow.parquet as pq

            from ietest_fast.atomic import write_file

            write_file(path, lambda file: pq.write_table(self.table, file, compression="zstd"))
            return
        from ietest_fast.corpus.streams import BatchWriter

        with BatchWriter(path, self.table.schema) as writer:
            writer.write(self.table)


def mark_difficulty(
    path: str | Path,
    *,
    features: FeatureSource | None = None,
    text_columns: Sequence[str] | None = None,
    input_column: str | None = None,
    label_column: str | None = None,
    item_column: str | None = None,
    groups: str | None = None,
    n_train: int | None = None,
    slice_size: int | None = None,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    **options: Any,
) -> MarkedFile:
    """Mark the items of a file as easy or difficult by AFLite."""
    path, chosen = Path(path), features or FeatureSource()
    table = _read_unmarked(path)
    if label_column is None and is_predictions(table.schema) and "gold" in table.column_names:
        label_column = "gold"
    item = item_column or ("item" if "item" in table.column_names else None)
    kept = [item, groups, "version" if item and "version" in table.column_names else None]
    wanted = tuple(dict.fromkeys(name for name in kept if name is not None))
    check_columns(path, table.column_names, wanted)
    if chosen.vectors is not None and (input_column is not None or text_columns is not None):
        raise InputError("columns of texts are not for vectors, which stand for the texts")
    if chosen.vectors is not None and find_task(table.column_names) is None:
        corpus = _take_labels(table, label_column, wanted, path)
    else:
        corpus = read_corpus(
            path, text_columns=text_columns, label_column=label_column, keep_columns=wanted
        )
    names = corpus.text_columns
    if input_column is not None:
        check_columns(path, names, [input_column])
        names = (input_column,)
    of_row, first = _find_items(corpus, item)
    items = corpus.take(first)
    matrix = _make_features(items, names, chosen, n_rows=table.num_rows, n_threads=n_threads)
    if chosen.vectors is not None:
        _check_labels(table, label_column, path, Path(chosen.vectors))
    group_names = None if groups is None else _read_groups(items, groups)
    n = len(first)
    used_train = n_train if n_train is not None else min(MOST_TRAINED_ON, n // 2)
    used_slice = slice_size if slice_size is not None else min(MOST_SLICED, max(1, n // 40))
    try:
        found = filter_adversarially(
            matrix,
            items.labels,
            n_train=used_train,
            slice_size=used_slice,
            groups=group_names,
            n_threads=n_threads,
            on_progress=on_progress,
            **options,
        )
    except InputError as error:
        raise InputError(str(error), path=path) from error
    marks = np.full(table.num_rows, -1, np.int64)
    marks[corpus.source_rows] = of_row
    return MarkedFile(
        table=_append_marks(table, marks, found),
        difficulty=found,
        n_items=n,
        has_wordings=item is not None,
        n_unmarked=int((marks < 0).sum()),
        n_features=int(matrix.shape[1]),
        text_columns=() if chosen.vectors is not None else tuple(names),
        n_train=used_train,
        slice_size=used_slice,
    )


def _read_unmarked(path: Path) -> pa.Table:
    """Read a file to which marks can be added."""
    table = _read_table(path)
    for name in (DIFFICULTY, SCORE):
        if name in table.column_names:
            raise InputError("is there already; rename it", path=path, column=name)
    return table


def _append_marks(table: pa.Table, marks: NDArray[np.int64], found: Difficulty) -> pa.Table:
    """Give each row what was found of its item; rows that are no item's (-1) have nothing."""
    is_marked = marks >= 0
    words = pa.array(found.names[np.maximum(marks, 0)], pa.string(), mask=~is_marked)
    scores = np.where(is_marked, found.score[np.maximum(marks, 0)], np.nan)
    marked = table.append_column(DIFFICULTY, words)
    return marked.append_column(SCORE, pa.array(scores, pa.float64(), from_pandas=True))


def check_marked(data: Any) -> None:
    """Stop if marks of difficulty in a file, or a table, contradict the scores beside them."""
    if isinstance(data, str | Path):
        with open_batches(data) as batches:
            names = batches.schema.names
        if not {DIFFICULTY, SCORE} <= set(names):
            return
        with open_batches(data, columns=[DIFFICULTY, SCORE], types_of="file") as batches:
            table = pa.Table.from_batches(list(batches), schema=batches.schema)
        check_marks(table, str(data))
    elif isinstance(getattr(data, "table", None), pa.Table):  # a corpus, or buckets
        check_marks(data.table, data.source)
    else:
        check_marks(to_arrow(data), "<memory>")


def check_marks(table: pa.Table, source: str) -> None:
    """Stop if marks of difficulty contradict the scores beside them, whatever threshold made them.

    Other marks than ``easy`` and ``difficult`` are somebody else's.
    """
    if not {DIFFICULTY, SCORE} <= set(table.column_names):
        return
    words = trim_texts(as_texts(table[DIFFICULTY], path=source, name=DIFFICULTY))
    marks = np.array([label_key(word or "") for word in words.to_pylist()])
    if not set(marks) <= {"easy", "difficult", ""}:
        return
    scores = as_numbers(pa.chunked_array([table[SCORE].combine_chunks()]))
    easy, difficult = marks == "easy", marks == "difficult"
    wrong = np.flatnonzero((scores < 0) | (scores > 1) | ((marks == "") != ~(np.abs(scores) <= 1)))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"is {show_value(table[SCORE][row].as_py())}, where {DIFFICULTY} is "
            f"{show_value(marks[row])}; a marked item has a score from 0 to 1, and others none",
            path=source,
            row=f"row {row}",
            column=SCORE,
        )
    lowest = int(np.argmin(np.where(easy, scores, np.inf)))
    highest = int(np.argmax(np.where(difficult, scores, -np.inf)))
    if easy.any() and difficult.any() and scores[lowest] < scores[highest]:
        raise InputError(
            f"is easy with an {SCORE} of {scores[lowest]:g}, and row {highest} is difficult with "
            f"{scores[highest]:g}, but what is easy has the higher scores; mark the items anew by "
            f"`ietest-fast difficulty`, or leave {SCORE} out",
            path=source,
            row=f"row {lowest}",
            column=DIFFICULTY,
        )


def _take_labels(
    table: pa.Table, label_column: str | None, keep_columns: tuple[str, ...], path: Path
) -> Corpus:
    """Return the rows with a label; vectors stand for their texts, so none is needed."""
    if label_column is None:
        label_column = find_label_column(path, table.column_names)
    place = next(name for n in count() if (name := f"text{n}") not in table.column_names)
    return corpus_from_table(
        table.append_column(place, pa.array(["-"] * table.num_rows, pa.string())),
        text_columns=(place,),
        label_column=label_column,
        keep_columns=keep_columns,
        source=str(path),
    )


def _read_table(path: Path) -> pa.Table:
    with open_batches(path, types_of="file") as batches:
        table = pa.Table.from_batches(list(batches), schema=batches.schema)
    if format_of(path).kind != "parquet":
        return table
    # What a table of answers says of itself goes with it.
    with open_parquet(path) as file:
        return table.replace_schema_metadata(file.schema_arrow.metadata)


def _find_items(corpus: Corpus, item: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the item of each row, and the row that stands for each item."""
    n = len(corpus)
    if item is None:
        return np.arange(n), np.arange(n)
    named = as_items(corpus.table[item], path=corpus.source, name=item)
    column = as_texts(named, path=corpus.source, name=item)

    def error(complaint: str, row: int | None = None) -> InputError:
        where = None if row is None else f"row {corpus.source_rows[row]}"
        return InputError(complaint, path=corpus.source, row=where, column=item)

    if column.null_count:
        lack = say_count(column.null_count, "row has", "rows have")
        row = pc.index(pc.is_null(column), pa.scalar(True)).as_py()
        raise error(f"{lack} none; every wording needs its item", row)
    codes = np.asarray(column.dictionary_encode().indices, dtype=np.int64)
    first = np.full(int(codes.max()) + 1, n, np.int64)
    np.minimum.at(first, codes, np.arange(n))
    # Of the wordings of an item any may be the first, unless one is called the original.
    differs = corpus.labels != corpus.labels[first[codes]]
    if "version" in corpus.table.column_names:
        versions = name_versions(corpus.table["version"], path=corpus.source)
        is_original = pc.fill_null(pc.equal(versions, ORIGINAL), False)
        rows = np.flatnonzero(is_original.to_numpy(zero_copy_only=False))
        if said := say_repeated(column.take(rows), rows=corpus.source_rows[rows]):
            raise error(f"{said} in the version {ORIGINAL!r}; give each item one original")
        first[codes[rows]] = rows
        differs &= ~np.isin(codes, codes[rows])
    if differs.any():
        row = int(differs.argmax())
        one, other = (corpus.label_names[corpus.labels[i]] for i in (first[codes[row]], row))
        n_mixed = len(np.unique(codes[differs]))
        raise error(
            f"{say_count(n_mixed, 'item has', 'items have')} wordings with different gold labels, "
            f"and none that is called {ORIGINAL!r} in a column version: {column[row].as_py()!r} "
            f"has {one} and {other}. Correct the labels, or name another column of items",
            row,
        )
    return codes, first


def _read_groups(items: Corpus, name: str) -> pa.Array:
    """Return the group of each item; an item without one would be in no training part for sure."""
    found = name_groups(as_texts(items.table[name], path=items.source, name=name))
    if found.null_count:
        row = pc.index(pc.is_null(found), pa.scalar(True)).as_py()
        raise InputError(
            f"{say_count(found.null_count, 'item belongs', 'items belong')} to no group, and each "
            "needs one; give each its group, of its own if it belongs to no other (--groups)",
            path=items.source,
            row=f"row {items.source_rows[row]}",
            column=name,
        )
    return found


def _make_features(
    items: Corpus,
    names: Sequence[str],
    source: FeatureSource,
    *,
    n_rows: int,
    n_threads: int | None,
) -> Any:
    columns = [items.table[name] for name in names]
    if source.encoder is not None:
        from ietest_fast.models.sense import embed_texts

        return embed_texts(source.encoder, columns, n_threads=n_threads)
    if source.vectors is None:
        return count_word_features(columns, min_texts=source.min_texts)
    values = read_vectors(source.vectors, column=source.column)
    if len(values) != n_rows:
        raise InputError(
            f"has {len(values):,} vectors, but {items.source} has {n_rows:,} rows; a vector for "
            "each row expected, in their order",
            path=source.vectors,
        )
    if Path(source.vectors).suffix == ".parquet":
        _check_rows(items.source, source.vectors)
    # Where every row is an item, vectors are not copied.
    is_every = np.array_equal(items.source_rows, np.arange(n_rows))
    return values if is_every else values[items.source_rows]


def _check_rows(texts: str, vectors: str | Path) -> None:
    """Stop if ids or texts that both files have are of other rows, or in another order."""
    from ietest_fast.answers.measurements import read_columns
    from ietest_fast.answers.readers.table_columns import list_columns
    from ietest_fast.answers.versions import check_index_order, check_row_order

    check_index_order((texts, vectors))
    names, others = list_columns(texts), list_columns(vectors)
    telling = set(filter(is_id_name, names))
    pairs = pair_columns(names, others)
    with contextlib.suppress(InputError):  # vectors need no texts
        columns = find_text_columns(texts, names)[0]
        telling |= set(columns)
        # Which may have other names there.
        there = find_text_columns(vectors, others)[0]
        pairs += [pair for pair in zip(columns, there, strict=False) if pair not in pairs]
    for own, name in pairs:
        if own in telling:
            one = read_columns(texts, [own])[own]
            two = read_columns(vectors, [name])[name]
            check_row_order(name, one, two, sources=(texts, str(vectors)), can_match=False)
            before, here = (
                spell_whole(as_texts(each, path=path, name=name)).to_pylist()
                if is_id_name(own)
                else trim_texts(as_texts(each, path=path, name=name)).to_pylist()
                for each, path in ((one, texts), (two, vectors))
            )
            differs = [a != b and None not in {a, b} for a, b in zip(before, here, strict=True)]
            _refuse(differs, before, here, name, (texts, vectors))


def _check_labels(table: pa.Table, label_column: str | None, texts: Path, vectors: Path) -> None:
    """Stop if labels beside the vectors are not those of the rows; others, as of topics, may be."""
    if vectors.suffix != ".parquet":
        return
    own = label_column or usual_label_column(texts, table.column_names)
    if own is None:
        return
    from ietest_fast.answers.measurements import read_columns
    from ietest_fast.answers.readers.table_columns import list_columns

    there = list_columns(vectors)
    before = as_texts(table[own], path=texts, name=own)
    known = {label_key(each): each for each in pc.unique(before).drop_null().to_pylist()}
    wanted = list(known.values())
    first = np.asarray(pc.fill_null(index_labels(before, wanted), -1))
    others = (*LABEL_COLUMNS, *LABELS_BESIDE, *OTHER_TRUTHS)
    for name in dict.fromkeys(each for each in (own, *others) if each in there):
        here = as_texts(read_columns(vectors, [name])[name], path=vectors, name=name)
        second = np.asarray(pc.fill_null(index_labels(here, wanted), -1))
        differs = (first != second) & (first >= 0) & (second >= 0)
        if (second < 0).all():
            differs = _find_unlike(first, spell_whole(here))
        _refuse(differs, before.to_pylist(), here.to_pylist(), name, (texts, vectors))


def _find_unlike(codes: NDArray[np.int64], here: pa.Array) -> NDArray[np.bool_]:
    """Find rows whose label is not the one that its number beside the vectors usually stands for.

    There are none if what stands there is no number of each label.
    """
    encoded = here.dictionary_encode()
    numbers = np.asarray(pc.fill_null(encoded.indices, -1))
    known = (codes >= 0) & (numbers >= 0)
    is_number = pc.all(pc.match_substring_regex(encoded.dictionary, "^[0-9]+$"), min_count=0)
    if not is_number.as_py() or len(encoded.dictionary) != len(np.unique(codes[codes >= 0])):
        return np.zeros(len(codes), np.bool_)
    counts = np.zeros((len(encoded.dictionary), int(codes.max()) + 1), np.int64)
    np.add.at(counts, (numbers[known], codes[known]), 1)
    return np.asarray(known & (counts.argmax(1)[numbers] != codes))


def _refuse(
    differs: Sequence[bool] | NDArray[np.bool_],
    before: Sequence[Any],
    here: Sequence[Any],
    name: str,
    paths: tuple[str | Path, str | Path],
) -> None:
    rows = np.flatnonzero(differs)
    if rows.size:
        row = int(rows[0])
        raise InputError(
            f"is {show_value(here[row])}, and {show_value(before[row])} in {paths[0]}, and so in "
            f"{say_count(rows.size, 'row')} of {len(here):,}; give the vectors of these rows in "
            "their order, or leave this column out of one of the tables",
            path=paths[1],
            row=f"row {row}",
            column=name,
        )


# Tables of AFLite: its rounds, and how many items are easy.


_ENDED = {
    "slice": "fewer items than a slice reached the threshold",
    "target": "only as many items are left as were asked for",
    "training": "no more items are left than a classifier is trained on",
}


def round_table(found: MarkedFile) -> Table:
    """Return what each round did."""
    return Table(
        name="difficulty-rounds",
        title="Rounds of adversarial filtering",
        columns=(
            Column("round", "count"),
            Column("items", "count"),
            Column("accuracy %", "percent"),
            Column("removed", "count"),
            Column("without a score", "count"),
        ),
        rows=tuple(
            (number, each.n_before, each.accuracy, each.n_removed, each.n_unscored)
            for number, each in enumerate(found.difficulty.rounds, start=1)
        ),
        note="accuracy: of classifiers on items that they were not trained on. The last round ends "
        f"it: {_ENDED[found.difficulty.ended]}.",
    )


def difficulty_table(found: MarkedFile) -> Table:
    """Return how many items are easy, how many difficult, and how many have no score."""
    own = found.difficulty
    counts = [("easy", int(own.easy.sum())), ("difficult", int(own.difficult.sum()))]
    if own.n_unscored:
        counts.append(("without a score", own.n_unscored))
    return Table(
        name="difficulty",
        title="Items by difficulty",
        columns=(Column("difficulty"), Column("items", "count"), Column("items %", "percent")),
        rows=tuple((name, n, n / found.n_items) for name, n in counts),
        note=f"easy: an item's score, the mean over rounds, is above {own.tau:g}.",
    )
