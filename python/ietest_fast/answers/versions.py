"""Versions of a corpus: its texts as transformations make them, or as a file has them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.table_columns import INDEX, list_columns, read_index
from ietest_fast.answers.schema import CHANGED, as_changed
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.corpus.columns import LABEL_COLUMNS, check_columns, usual_label_column
from ietest_fast.corpus.dataset import LABEL, corpus_from_table, is_text, rename_texts
from ietest_fast.corpus.labels import UnknownLabelError, index_labels, name_as_noted
from ietest_fast.corpus.labels import encode_labels as encode_column
from ietest_fast.corpus.reading import find_texts, read_rows
from ietest_fast.corpus.streams import open_batches
from ietest_fast.errors import IetestWarning, InputError, shorten_error
from ietest_fast.numerals import say_count
from ietest_fast.transform.edits import count_by_row, find_changed
from ietest_fast.values import (
    are_ids,
    as_texts,
    find_displaced,
    is_bytes,
    is_id_name,
    match_ids,
    may_name_rows,
    number_names,
    show_names,
    show_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.transform import Transformed
    from ietest_fast.transform.phi import TextSource


# Texts of another file, without labels: what tests that set labels can be made of.

#: What a column of texts may be called, in this order.
TEXT_COLUMNS = ("text", "sentence", "question", "premise")


@dataclass(frozen=True, kw_only=True, eq=False)
class UnlabelledTexts:
    """Texts of a file."""

    table: pa.Table
    """n rows with the columns of texts of a labelled corpus: the first holds the texts, the others
    are null."""
    source: Path
    """The file."""

    @property
    def items(self) -> pa.Array:
        """Names of the rows, shape (n,): the file's name and the number of the row, from 0."""
        return pa.array([f"{self.source.name}:{row}" for row in range(self.table.num_rows)])

    @property
    def fingerprint(self) -> str:
        """Sha256 of the texts, 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for text in self.table.column(0).to_pylist():
            # A length tells a missing text from an empty one, and where each begins.
            data = b"" if text is None else text.encode()
            digest.update(f"{-1 if text is None else len(data)}:".encode() + data)
        return digest.hexdigest()

    def text_chunks(self) -> Iterator[pa.Array]:
        """Yield arrays of large strings, for a transformation to learn from."""
        yield from self.table.column(0).drop_null().chunks


def read_unlabelled_texts(
    path: str | Path, column: str | None, text_columns: Sequence[str]
) -> UnlabelledTexts:
    """Read a column of texts, such as AQuA-RAT's word problems."""
    path = Path(path)
    with open_batches(path) as batches:
        schema = batches.schema
    if column is None:
        column = _find_column(path, schema)
    check_columns(path, schema.names, [column])
    with open_batches(path, columns=[column], texts=[column]) as batches:
        kind = batches.schema.field(column).type
        if not (is_text(kind) or pa.types.is_null(kind)):
            raise InputError(f"holds {kind}, texts expected", path=path, column=column)
        chunks = [batch.column(0).cast(pa.large_string()) for batch in batches]
    return _put(pa.chunked_array(chunks, pa.large_string()), path, column, text_columns)


def take_unlabelled_texts(
    texts: Iterable[str | None], text_columns: Sequence[str]
) -> UnlabelledTexts:
    """Take texts as they are; see :func:`read_unlabelled_texts`."""
    try:
        column = pa.chunked_array([pa.array(list(texts), pa.large_string())])
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"texts must be strings: {shorten_error(error)}", path="texts") from error
    return _put(column, Path("texts"), None, text_columns)


def _put(
    texts: pa.ChunkedArray, source: Path, column: str | None, text_columns: Sequence[str]
) -> UnlabelledTexts:
    if texts.null_count == len(texts):
        raise InputError("holds no text", path=source, column=column)
    nothing = pa.nulls(len(texts), pa.large_string())
    first, *others = text_columns
    return UnlabelledTexts(
        table=pa.table({first: texts, **dict.fromkeys(others, nothing)}), source=source
    )


def _find_column(path: Path, schema: pa.Schema) -> str:
    names = [field.name for field in schema if is_text(field.type)]
    known = [name for name in TEXT_COLUMNS if name in names]
    if known or len(names) == 1:
        return str((known or names)[0])
    raise InputError(
        f"none of its columns is called {', '.join(TEXT_COLUMNS)}; they are "
        f"{show_names(schema.names)}; say which holds the texts (texts_column in a suite, "
        "--quantities-column)",
        path=path,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Version:
    """A corpus in other words."""

    name: str
    """Such as ``syn.careful``."""
    identity: str
    """The name with four digits of a hash, for signatures."""
    table: pa.Table
    """Its texts, of n rows."""
    source_row: NDArray[np.int64]
    """int64, shape (n,): the row of the corpus that each row comes from."""
    labels: NDArray[np.int8]
    """int8, shape (n,): the right answers, indices into the corpus' labels; -1 where nobody
    knows."""
    warnings: tuple[str, ...] = ()
    """Sentences of the transformation about what is seldom wanted."""
    edits: Mapping[str, NDArray[np.int64]] | None = None
    """By column of texts, int64, shape (n,): how many edits were made in each row, those left out
    that reword nothing. None if it is not known."""
    notes: Mapping[str, pa.Array] = field(default_factory=dict)
    """Further columns of predictions on it, shape (n,)."""
    items: pa.Array | None = None
    """Strings, shape (n,): what the rows are called where they come from other texts than the
    corpus'; ``source_row`` counts the rows of these then. None if they come from the corpus."""
    keeps_labels: bool = True
    """Whether each row has the label of the row that it comes from; otherwise the transformation
    sets it."""
    repeated: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """int64: rows of the source that have no row because all that they would give is there
    already."""

    def find_changed(self, corpus: Corpus, columns: Sequence[str]) -> NDArray[np.bool_]:
        """Say in which rows texts differ from the corpus', bool, shape (n,)."""
        from ietest_fast.models.tokens import find_changed as find_seen

        if self.items is not None:  # nothing of the corpus is in it
            return np.ones(len(self.source_row), dtype=bool)
        before = corpus.table.select(columns).take(pa.array(self.source_row))
        return find_seen(before, self.table, columns, source=corpus.source)


def transform_corpus(
    corpus: Corpus,
    phi: Any,
    *,
    learn_from: Sequence[Corpus | TextSource] = (),
    unlabelled: UnlabelledTexts | None = None,
    n_threads: int | None = None,
    note: Callable[[pa.Table, Transformed, Sequence[str]], dict[str, pa.Array]] | None = None,
) -> Version:
    """Transform a corpus."""
    from ietest_fast.transform import Material, RowError, plan

    source = corpus if unlabelled is None else unlabelled
    material = Material(
        corpora=list(learn_from) or [source],
        source=corpus,
        tag_cache="temporary",
        n_threads=n_threads,
    )
    told: list[str] = []

    def tell(message: str) -> None:
        told.append(message)
        material.on_warning(message)

    with plan(phi) as planned:
        if unlabelled is not None and planned.keeps_labels:
            raise InputError(
                f"the transformation {planned.name!r} keeps the labels of texts, and these have "
                "none; only one that sets labels, such as numerical, can take them",
                path=unlabelled.source,
            )
        made = planned.build(replace(material, on_warning=tell))
        try:
            found = made.transform(
                source.table, corpus.text_columns, with_edits=True, n_threads=n_threads
            )
        except RowError as error:
            if unlabelled is not None:
                row = f"row {error.index}"
                raise InputError(error.message, path=unlabelled.source, row=row) from error
            raise error.locate(corpus) from error
        name, fingerprint, keeps_labels = made.name, made.fingerprint, made.keeps_labels
    rows = pa.array(found.source_row)
    if keeps_labels:
        labels = corpus.labels[found.source_row]
    else:
        if found.labels is None:
            raise InputError(
                f"the transformation {name!r} does not keep labels and sets none, so nobody knows "
                "the right answers to what it writes"
            )
        labels = encode_labels(found.labels, corpus, name)
    if unlabelled is not None:
        fingerprint = hashlib.sha256(f"{fingerprint}{unlabelled.fingerprint}".encode()).hexdigest()
    return Version(
        name=name,
        identity=f"{name}@{fingerprint[:4]}",
        table=found.table,
        source_row=found.source_row,
        labels=labels,
        warnings=tuple(told),
        edits=None
        if found.edits is None
        else {
            column: count_by_row(found.edits, column, n=found.table.num_rows)
            for column in corpus.text_columns
        },
        notes={} if note is None else note(source.table.take(rows), found, corpus.text_columns),
        items=None if unlabelled is None else unlabelled.items.take(rows),
        keeps_labels=keeps_labels,
        repeated=found.repeated,
    )


def encode_labels(
    labels: pa.Array | pa.ChunkedArray, corpus: Corpus, name: str
) -> NDArray[np.int8]:
    """Return labels that a transformation has set as indices, int8, shape (n,); -1 for none."""
    codes = index_labels(labels, corpus.label_names)
    unknown = labels.filter(pc.and_(codes.is_null(), labels.is_valid()))
    if len(unknown):
        raise InputError(
            f"the transformation {name!r} sets the label {show_value(unknown[0].as_py())}, "
            f"which is none of the data's ({', '.join(corpus.label_names)}); leave this "
            "transformation out, or give the data's labels these names",
            path=corpus.source,
        )
    return np.asarray(pc.fill_null(codes, -1), dtype=np.int8)


def read_shared(corpus: Corpus, names: Sequence[str]) -> pa.Table:
    """Read the columns that the file of a corpus shares with another table, for its rows."""
    known = list_columns(corpus.source)
    own = {*corpus.text_columns, *LABEL_COLUMNS}
    shared = [x for x in known if x in names and x not in own and known.count(x) == 1]
    if not shared:
        return corpus.table
    return read_rows(corpus.source, shared)[0].take(pa.array(corpus.source_rows))


def read_version(
    corpus: Corpus,
    path: str | Path,
    *,
    columns: pa.Table | None = None,
    id_column: str | None = None,
    label_column: str | None = None,
) -> Version:
    """Read the same rows of a corpus in other words; see :func:`pair_version`.

    `columns` are read from the corpus' file where they are None.
    """
    names = list_columns(path)
    texts, _ = find_texts(path, names, corpus.text_columns, or_usual=True)
    columns = read_shared(corpus, names) if columns is None else columns
    known = {*columns.column_names, CHANGED, label_column, *LABEL_COLUMNS}
    others = [name for name in names if name in known and names.count(name) == 1]
    wanted = [*texts, *others, *([] if id_column is None else [id_column])]
    table, say_row = read_rows(path, wanted, texts=texts)
    return pair_version(
        corpus,
        table,
        name=Path(path).stem,
        source=str(path),
        columns=columns,
        id_column=id_column,
        label_column=label_column,
        say_row=say_row,
        check_indexes=lambda: check_index_order((corpus.source, path)),
    )


def pair_version(
    corpus: Corpus,
    other: pa.Table,
    *,
    name: str,
    source: str,
    columns: pa.Table,
    check_indexes: Callable[[], None],
    id_column: str | None = None,
    label_column: str | None = None,
    say_row: Callable[[int], str] = "row {}".format,
) -> Version:
    """Return the version of a corpus that another table is: its rows in other words.

    Rows are matched by ids, or else by their order, which no column that both have may contradict.

    Parameters
    ----------
    corpus
        The originals.
    other
        All rows in other words. A column of labels is optional; each label is the original's.
    name, source
        Of the version, and of `other` in messages.
    columns
        n rows: what else the originals' table says of them.
    check_indexes
        Refuses rows whose indexes have another order; is called where rows are matched by it.
    id_column
        The column of ids. None to find one by its name and values.
    label_column
        The column of labels. None, or where `other` has none of this name: a usual name.
    say_row
        Gives the words for a 0-based row of `other` in messages about values.

    Raises
    ------
    InputError
        If rows cannot be matched, or a label is not the original's.
    """
    texts, _ = find_texts(source, other.column_names, corpus.text_columns, or_usual=True)
    other = rename_texts(other, texts, corpus.text_columns, ())
    ids = [] if id_column is None else [id_column]
    check_columns(source, other.column_names, [*corpus.text_columns, *ids])
    own = _by_name(columns) | _by_name(corpus.table)
    labels = _read_labels(corpus, other, label_column, source=source, say_row=say_row)
    # All rows that the corpus was made of, or the labelled ones.
    n_dropped = sum(corpus.dropped.values())
    is_whole = other.num_rows == len(corpus) + n_dropped
    rows = np.arange(other.num_rows)
    if labels is not None and not is_whole:
        rows = np.flatnonzero(labels >= 0)
    theirs = _by_name(other.take(pa.array(rows)))
    shared = [each for each in own if each in theirs and each not in {label_column, *LABEL_COLUMNS}]
    if id_column is None:
        named = filter(is_id_name, shared)
        id_column = next((x for x in named if are_ids(own[x]) and are_ids(theirs[x])), None)
    if id_column is not None:
        places = match_ids(
            own[id_column],
            theirs[id_column],
            name=id_column,
            sources=(corpus.source, source),
            rows=(corpus.source_rows, rows),
            n_more=n_dropped * is_whole,
        )
    else:
        if not is_whole:
            _check_length(corpus, len(rows), has_labels=labels is not None, source=source)
        places = pa.array(corpus.source_rows if is_whole and n_dropped else np.arange(len(corpus)))
        check_indexes()
        # Texts last: rows can be matched by other columns.
        for each in sorted(shared, key=lambda each: each in corpus.text_columns):
            pair = (own[each], theirs[each].take(places))
            if not any(pa.types.is_nested(x.type) or is_bytes(x.type) for x in pair):
                is_text = each in corpus.text_columns
                check_row_order(each, *pair, sources=(corpus.source, source), is_text=is_text)
    rows = rows[places]
    if labels is not None:
        _check_labels(corpus, labels[rows], rows, source=source, by_id=id_column)

    made = {each: theirs[each].take(places) for each in corpus.text_columns}
    made[LABEL] = pa.array(corpus.label_names).take(pa.array(corpus.labels))
    version = corpus_from_table(
        pa.table(made),
        text_columns=corpus.text_columns,
        label_column=LABEL,
        label_names=corpus.label_names,
        source=source,
        locate=lambda row: say_row(int(rows[row])),
    )
    marks = theirs[CHANGED].take(places) if CHANGED in theirs else None
    return Version(
        name=name,
        identity=f"given@{version.fingerprint[:4]}",
        table=version.table,
        source_row=np.arange(len(corpus), dtype=np.int64),
        labels=corpus.labels,
        warnings=_say_other_marks(marks, corpus, version),
    )


def _by_name(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _check_length(corpus: Corpus, n: int, *, has_labels: bool, source: str) -> None:
    """Refuse rows that are matched by their order if there are more or fewer than originals."""
    what, n_original = "labelled rows", len(corpus)
    if not has_labels:
        what, n_original = "rows", len(corpus) + sum(corpus.dropped.values())
    if n != n_original:
        raise InputError(
            f"has {n:,} {what}, and {corpus.source} has {n_original:,}; rows are matched by their "
            "order, unless a column of ids that both have matches them (id_column, --id-column)",
            path=source,
        )


def _read_labels(
    corpus: Corpus,
    other: pa.Table,
    column: str | None,
    *,
    source: str,
    say_row: Callable[[int], str],
) -> NDArray[np.int8] | None:
    """Return the labels of all rows in other words, int8, -1 for none; None without a column."""
    if column not in other.column_names:
        column = usual_label_column(source, other.column_names)
    if column is None:
        return None
    try:
        labels, names = name_as_noted(other, column, corpus.label_names, is_told=True)
        return encode_column(labels, label_names=names, is_pair=corpus.is_pair).codes
    except UnknownLabelError as error:
        row = say_row(error.row)
        raise InputError(str(error), path=source, row=row, column=column) from None


def check_row_order(
    name: str,
    one: pa.ChunkedArray,
    two: pa.ChunkedArray,
    *,
    sources: tuple[str, str],
    can_match: bool = True,
    is_text: bool = False,
) -> None:
    """Refuse rows that are matched by their order, where a column says that it is another one.

    One of texts says so too: many are the same in both, such as all that were not changed.
    """
    if not may_name_rows(name, one):
        return
    before, here = (
        as_texts(column, path=path, name=name)
        for column, path in zip((one, two), sources, strict=True)
    )
    row = find_displaced(before, here)
    if row is None:
        return
    can_match = can_match and are_ids(before) and are_ids(here)
    can_match = can_match and pc.all(pc.is_in(here, value_set=before)).as_py()
    remedy = "bring both into one order"
    if is_text:
        remedy += ", or match them by a column of ids (id_column)"
    elif can_match:
        remedy = f"match them by it (id_column={name!r})"
    if not is_text:
        remedy += ", or leave this column out of one of the tables"
    old, new = (show_value(each[row].as_py()) for each in (before, here))
    raise InputError(
        f"has values of {sources[0]} in another order: here {new} for {old}. Rows are matched by "
        f"their order: {remedy}",
        path=sources[1],
        row=f"row {row}",
        column=name,
    )


def check_index_order(sources: tuple[str | Path, str | Path]) -> None:
    """Refuse rows that are matched by their order, where pandas' indexes have another one."""
    one, two = map(read_index, sources)
    if one is not None and two is not None:
        pair = (str(sources[0]), str(sources[1]))
        columns = [pa.chunked_array([each]) for each in (one, two)]
        check_row_order(INDEX, *columns, sources=pair, can_match=False)


def _say_other_marks(
    marks: pa.ChunkedArray | None, corpus: Corpus, other: Corpus
) -> tuple[str, ...]:
    said = None if marks is None else as_changed(marks)
    if said is None:
        return ()
    candidates = np.ones(len(corpus), np.bool_)
    differs = find_changed(corpus.table, other.table, corpus.text_columns, candidates)
    n = pc.sum(pc.not_equal(said, pa.array(differs))).as_py() or 0
    if not n:
        return ()
    warning = (
        f"{other.source}: in {say_count(n, 'row', 'rows')} the column {CHANGED} and the texts "
        "disagree about what was reworded; the texts count"
    )
    warnings.warn(warning, IetestWarning, stacklevel=2)
    return (warning,)


def _check_labels(
    corpus: Corpus,
    labels: NDArray[np.int8],
    rows: NDArray[np.int64],
    *,
    source: str,
    by_id: str | None,
) -> None:
    """Refuse rows in other words that have another label than their originals."""
    differs = labels != corpus.labels
    if not differs.any():
        return
    place = int(np.argmax(differs))
    names = (*corpus.label_names, "missing")  # -1 is the last
    remedy = (
        "the rows of an id need the same label"
        if by_id is not None
        else "are the rows in the same order? A column of ids that both have matches them "
        "(id_column, --id-column)"
    )
    raise InputError(
        f"the label is {names[labels[place]]}, and {names[corpus.labels[place]]} in "
        f"{corpus.source}: {remedy}",
        path=source,
        row=f"row {rows[place]}",
    )


def as_versions(
    phi: Any, corpus: Corpus, *, learn_from: Sequence[Corpus], n_threads: int | None
) -> list[Version]:
    """Return the versions that one or several transformations make; ready ones as they are.

    Versions of one name get numbers, as in a run: the second ``words`` becomes ``words#2``.
    """
    is_several = isinstance(phi, Sequence) and not isinstance(phi, (str, Mapping))
    versions = [
        each
        if isinstance(each, Version)
        else transform_corpus(corpus, each, learn_from=learn_from, n_threads=n_threads)
        for each in (phi if is_several else [phi])
    ]
    for place, version in enumerate(versions):
        if any(_are_same(version, other) for other in versions[:place]):
            raise InputError(f"the transformation {version.name!r} is there twice")
    names = number_names([version.name for version in versions], taken=[ORIGINAL])
    return [replace(version, name=name) for version, name in zip(versions, names, strict=True)]


def _are_same(one: Version, other: Version) -> bool:
    return one.identity == other.identity and one.table.equals(other.table)
