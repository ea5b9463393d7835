"""Reading a corpus from a file."""

from __future__ import annotations

import contextlib
import itertools
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import (
    LABELS_BESIDE,
    OTHER_TRUTHS,
    check_columns,
    find_label_column,
    find_text_columns,
)
from ietest_fast.corpus.dataset import (
    Corpus,
    OnMissingText,
    are_categories,
    corpus_from_table,
    is_text,
    names_like,
    rename_texts,
)
from ietest_fast.corpus.formats import (
    SKIP_HINT,
    Format,
    QuoteWatch,
    check_readable,
    check_repeats,
    check_utf8,
    column_names,
    diagnosing,
    field_records,
    find_format,
    has_no_rows,
    json_records,
    locate_row,
    open_bytes,
    open_fields,
    open_parquet,
    warn_of_bad_rows,
)
from ietest_fast.corpus.labels import NLI_LABELS
from ietest_fast.corpus.reasoning import find_task, read_task
from ietest_fast.corpus.streams import csv_options, open_batches
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_BLOCK_BYTES = 4 << 20


def read_corpus(
    path: str | Path,
    *,
    text_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    label_names: Sequence[str] | None = None,
    keep_columns: Sequence[str] = (),
    missing_text: OnMissingText = "error",
    quoted: bool | None = None,
    labels_file: str | Path | None = None,
    or_usual_texts: bool = False,
    like: Corpus | None = None,
) -> Corpus:
    """Read and check a file of labelled texts or pairs of texts.

    Parameters
    ----------
    path
        Parquet (``.parquet``), CSV (``.csv``), tab-separated (``.tsv``, ``.txt``, among them the
        original SNLI and MNLI files) or JSON lines (``.jsonl``); the text formats in UTF-8 and,
        if the name says so, compressed (``.gz``, ``.bz2``, ``.zst``). α-NLI and δ-NLI are told by
        their keys, where `text_columns` and `label_column` are None: see
        :func:`~ietest_fast.corpus.read_alpha_nli` and :func:`~ietest_fast.corpus.read_delta_nli`,
        whose further columns `keep_columns` may name.
    text_columns
        The one or two columns of texts. None to find ``premise`` and ``hypothesis`` (or
        ``sentence1`` and ``sentence2``, which get these names), ``text`` or ``sentence``.
    label_column
        None to find ``label`` or ``gold_label``.
    label_names
        Names of the labels 0, 1, ...; where a Parquet file of the ``datasets`` library notes names
        for its numbers, these are looked up among them. None to take them from such a file, else
        those of natural language inference (0 entailment, 1 neutral, 2 contradiction) for pairs
        that are labelled by these names or by 0, 1 and 2, all of which occur, else the distinct
        labels in sorted order.
    keep_columns
        Further columns to keep.
    missing_text
        Rows with a null where a text should be are an error; ``"drop"`` drops and counts them.
        In CSV and TSV a field of nothing, not even quotes, is a null.
    quoted
        Whether double quotes enclose fields; None: in CSV yes, in TSV no.
    labels_file
        Of α-NLI: one label a line. None: the key ``label``, or the file beside `path` that the
        publication gives it, ``dev-labels.lst`` for ``dev.jsonl``.
    or_usual_texts
        Whether a file that has none of `text_columns` is read as without them; its texts get these
        names.
    like
        Another file of the dataset, whose names of labels count where `label_names` is None.

    Returns
    -------
    Corpus
        Rows labelled -1 or ``-`` (no gold label), or not labelled at all, are dropped and counted.

    Raises
    ------
    InputError
        Naming the file, the line or row, the column and what was expected.
    """
    path = Path(path)
    form, file, names = _open(path, quoted=quoted)
    is_told = text_columns is not None or label_column is not None
    task = find_task(names) if form.kind == "jsonl" and not is_told else None
    if task is not None:
        return read_task(
            path,
            task,
            names,
            labels_file=labels_file,
            label_names=names_like(like, label_names),
            keep_columns=keep_columns,
        )
    if labels_file is not None:
        raise InputError(
            "is not α-NLI (JSON lines with obs1, obs2, hyp1 and hyp2), which alone has its labels "
            "in a file of their own",
            path=path,
        )
    texts, canonical = find_texts(path, names, text_columns, or_usual=or_usual_texts)
    if label_column is None:
        label_column = find_label_column(path, names)
    # A text goes by its name in the file and by its name in the corpus.
    kept = [name for name in keep_columns if name in names or name not in canonical]
    # Whoever names the labels says what they are.
    usual = (*LABELS_BESIDE, *OTHER_TRUTHS) if label_names is None else ()
    beside = [each for each in usual if names.count(each) == 1]
    wanted = [*dict.fromkeys((*texts, label_column, *kept, *beside))]
    table = _read(path, form, file, names, wanted, texts=texts)
    table = rename_texts(table, texts, canonical, keep_columns)
    return corpus_from_table(
        table,
        text_columns=canonical,
        label_column=label_column,
        label_names=label_names,
        keep_columns=tuple(keep_columns),
        missing_text=missing_text,
        source=str(path),
        locate=partial(locate_row, path, form),
        like=like,
    )


def read_rows(
    path: str | Path, columns: Sequence[str], *, texts: Sequence[str] = ()
) -> tuple[pa.Table, Callable[[int], str]]:
    """Read columns of all rows of a file, labelled or not, and what messages call a row."""
    path = Path(path)
    form, file, names = _open(path)
    table = _read(path, form, file, names, list(dict.fromkeys(columns)), texts=texts)
    return table, partial(locate_row, path, form)


def _open(path: Path, *, quoted: bool | None = None) -> tuple[Format, Any, list[str]]:
    """Return the format of a file, the open file if it is Parquet, and the names of its columns."""
    check_readable(path)
    form = find_format(path, quoted=quoted)
    with diagnosing(path, form):
        file = open_parquet(path) if form.kind == "parquet" else None
        names = column_names(path, form) if file is None else list(file.schema_arrow.names)
    return form, file, names


def _read(
    path: Path,
    form: Format,
    file: Any,
    names: Sequence[str],
    wanted: list[str],
    *,
    texts: Sequence[str],
) -> pa.Table:
    """Read named columns, of which some hold texts."""
    check_columns(path, names, wanted)
    with diagnosing(path, form):
        if file is not None:
            check_repeats(path, file, wanted)
            table = file.read(columns=wanted).select(wanted)
        elif form.kind == "jsonl":
            table = _read_jsonl(path, form, texts, wanted)
        else:
            table = _read_delimited(path, form, names, wanted)
    _check_encoding(path, form, table)
    return table


def find_texts(
    path: str | Path, names: Sequence[str], wanted: Sequence[str] | None, *, or_usual: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of texts in a file, and what they are called in the corpus."""
    if wanted is None:
        return find_text_columns(path, names)
    texts = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    if or_usual and not set(texts) & set(names):
        with contextlib.suppress(InputError):  # which would not name the user's columns
            usual = find_text_columns(path, names)[0]
            return (usual if len(usual) == len(texts) else texts), texts
    return texts, texts


def read_corpora(
    paths: Sequence[str | Path], *, keep_in_last: Sequence[str] = (), **options: Any
) -> tuple[Corpus, ...]:
    """Read the splits of one dataset, so that a label means the same in all of them.

    Parameters
    ----------
    paths
        The first file's labels are the dataset's: one that occurs only later is unknown. But where
        the numbers 0, 1 and 2 occur in all files of pairs together, they are NLI's labels.
    keep_in_last
        More columns to keep from the last file, which is where the test set comes from.
    **options
        As for :func:`read_corpus`.
    """
    corpora: list[Corpus] = []
    try:
        for number, path in enumerate(paths, start=1):
            options["like"] = corpora[0] if corpora else None
            if number == len(paths):
                kept = (*options.get("keep_columns", ()), *keep_in_last)
                options["keep_columns"] = tuple(dict.fromkeys(kept))
            # The parts of one dataset may be of several makers, as XNLI's are.
            corpora.append(read_corpus(path, **options, or_usual_texts=number > 1))
    except InputError:
        if not corpora or options.get("label_names") is not None:
            raise
        if not corpora[0].is_pair or not {"0", "1", "2"}.issuperset(corpora[0].label_names):
            raise
        with contextlib.suppress(InputError):
            options["label_names"] = NLI_LABELS
            return read_corpora(paths, keep_in_last=keep_in_last, **options)
        raise
    return tuple(corpora)


def _read_delimited(
    path: Path, form: Format, names: Sequence[str], wanted: Sequence[str]
) -> pa.Table:
    import pyarrow.csv as pacsv

    warn_of_bad_rows(path, form)
    block_bytes = _BLOCK_BYTES
    while True:
        options = csv_options(form, names, wanted, block_bytes=block_bytes)
        try:
            table = pacsv.read_csv(open_fields(path, form, block_bytes=block_bytes), **options)
        except pa.ArrowInvalid as error:
            if has_no_rows(error):
                return pa.schema([(name, pa.string()) for name in wanted]).empty_table()
            if "straddl" in str(error) and block_bytes < 1 << 30:
                block_bytes = min(8 * block_bytes, 1 << 30)  # a record longer than a block
                continue
            if not form.quoted and "Expected" in str(error):
                return _read_short_rows(path, form, names, wanted)
            raise
        QuoteWatch(path, form).advance()
        return table


def _read_short_rows(
    path: Path, form: Format, names: Sequence[str], wanted: Sequence[str]
) -> pa.Table:
    """Read a table whose rows may end before the columns of annotators (label1, ...)."""
    needed = next(
        (
            width
            for width in range(len(names), 0, -1)
            if not names[width - 1].removeprefix("label").isdecimal()
        ),
        len(names),
    )
    needed = max(needed, *(list(names).index(name) + 1 for name in wanted))
    places = [list(names).index(name) for name in wanted]
    columns: list[list[str | None]] = [[] for _ in wanted]
    records = field_records(path, form)
    next(records, None)
    for number, fields in records:
        if not needed <= len(fields) <= len(names):
            raise InputError(
                f"{len(fields)} fields, {len(names)} expected as in the header; {SKIP_HINT}",
                path=path,
                row=f"line {number}",
            )
        for column, place in zip(columns, places, strict=True):
            column.append(fields[place] or None)
    return pa.table([pa.array(column, pa.large_string()) for column in columns], list(wanted))


def _read_jsonl(path: Path, form: Format, texts: Sequence[str], wanted: Sequence[str]) -> pa.Table:
    """Read named columns; slowly if a column's values are of several types, as labels may be."""
    import pyarrow.json as pajson

    kinds = _first_kinds(path, form, texts, wanted)
    block_bytes = _BLOCK_BYTES
    while form.array is None and all(kind is not None for kind in kinds.values()):
        # All types are given: Arrow crashes where it has to find them in deeply nested values.
        options = pajson.ParseOptions(
            explicit_schema=pa.schema(list(kinds.items())), unexpected_field_behavior="ignore"
        )
        try:
            table = pajson.read_json(
                open_bytes(path, form),
                read_options=pajson.ReadOptions(block_size=block_bytes),
                parse_options=options,
            )
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error) or block_bytes >= 1 << 30:
                break
            block_bytes = min(8 * block_bytes, 1 << 30)
        except pa.ArrowNotImplementedError:
            break
        else:
            return table.select(list(wanted))
    with open_batches(path, columns=wanted, texts=texts, types_of="file") as reader:
        return pa.Table.from_batches(list(reader), reader.schema)


def _first_kinds(
    path: Path, form: Format, texts: Sequence[str], wanted: Sequence[str]
) -> dict[str, pa.DataType | None]:
    """Give the types of columns as their first values have them; None where they are nested."""
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    kinds: dict[str, pa.DataType | None] = dict.fromkeys(texts, pa.string())
    n_objects = 0
    for _, record in json_records(path, form):
        n_objects += 1
        for name in wanted:
            value = record.get(name)
            if name not in kinds and value is not None:
                kinds[name] = types.get(type(value))
        if len(kinds) == len(wanted):
            break
    if n_objects == 0:
        raise InputError("the file has no objects in it", path=path)
    return {name: kinds.get(name, pa.null()) for name in wanted}


def _check_encoding(path: Path, form: Format, table: pa.Table) -> None:
    for name, column in zip(table.column_names, table.columns, strict=True):
        if form.kind == "parquet":
            if is_text(column.type) or are_categories(column.type):
                check_utf8(path, column, name)
            continue
        with diagnosing(path, form):
            column.validate(full=True)


# Cutting one corpus into disjoint parts.


def split(
    corpus: Corpus,
    sizes: Sequence[int] | Sequence[float],
    *,
    seed: int = 0,
    stratify: bool = False,
    group_by: str | None = None,
) -> tuple[Corpus, ...]:
    """Cut a corpus into disjoint parts, the same ones for the same seed.

    Parameters
    ----------
    corpus
        What to cut.
    sizes
        Rows of each part (integers), or shares of all rows (floats). Rows that no part takes are
        left out: sizes need not add up to everything.
    seed
        Any integer from 0.
    stratify
        Keep the shares of the labels in each part, to within a row per label.
    group_by
        A column whose equal values stay together, such as ``premise``; no value is missing.
        Parts then have at least their size as long as there are groups, and are larger by less
        than the group that filled them.

    Returns
    -------
    tuple of Corpus
        One per size; the rows of a part keep their order.

    Raises
    ------
    InputError
        If the sizes are not positive or ask for more rows than there are, or `group_by` is not a
        column of values.
    """
    if stratify and group_by is not None:
        raise InputError("rows are split by label or by group, not both", path=corpus.source)
    wanted = _row_counts(sizes, len(corpus), corpus.source)
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
    if group_by is not None:
        parts = _by_group(_group_codes(corpus, group_by), wanted, rng, corpus.source)
    elif stratify:
        parts = _by_label(corpus.labels, wanted, rng)
    else:
        order = rng.permutation(len(corpus))
        parts = np.split(order, np.cumsum(wanted))[:-1]
    return tuple(corpus.take(np.sort(part)) for part in parts)


def _row_counts(sizes: Sequence[int] | Sequence[float], n: int, source: str) -> list[int]:
    if len(sizes) == 0:
        raise InputError("give the size of at least one part", path=source)
    if all(isinstance(size, int | np.integer) for size in sizes):
        counts = [int(size) for size in sizes]
    else:
        total = float(sum(sizes))
        if total > 1 + 1e-9:
            raise InputError(f"shares add up to {total:g}, more than 1", path=source)
        # Cumulative rounding: shares that add up to one leave no row out.
        edges = [round(n * share) for share in itertools.accumulate(sizes, initial=0.0)]
        counts = [int(after - before) for before, after in itertools.pairwise(edges)]
    if min(counts) < 1:
        raise InputError(f"every part needs at least one row; asked for {counts}", path=source)
    if sum(counts) > n:
        raise InputError(f"parts of {counts} rows need {sum(counts)}, there are {n}", path=source)
    return counts


def _by_label(
    labels: NDArray[np.int8], wanted: list[int], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    # Spread each label evenly over [0, 1); any interval then has every label's share of rows.
    place = np.empty(len(labels))
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        place[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    order = np.lexsort((rng.random(len(labels)), place))
    return np.split(order, np.cumsum(wanted))[:-1]


def _group_codes(corpus: Corpus, column: str) -> NDArray[np.int64]:
    if column not in corpus.table.column_names:
        raise InputError(
            f"is not in the corpus, which has {', '.join(corpus.table.column_names)}",
            path=corpus.source,
            column=column,
        )
    values = corpus.table.column(column)
    if values.null_count:
        raise InputError(
            f"has no value in {say_count(values.null_count, 'row')}, so the group is "
            "unknown; fill it in, leave such rows out, or group by another column",
            path=corpus.source,
            row=f"row {pc.index(values.is_null(), True).as_py()} of the corpus",
            column=column,
        )
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    # One array of strings cannot have more than 2 GiB.
    plain = values.cast(pa.large_string() if pa.types.is_string(kind) else kind)
    try:
        encoded = plain.combine_chunks().dictionary_encode()
    except pa.ArrowException as error:
        raise InputError(
            f"is {kind}, by which rows cannot be grouped; expected texts or numbers",
            path=corpus.source,
            column=column,
        ) from error
    return np.asarray(encoded.indices, dtype=np.int64)


def _by_group(
    codes: NDArray[np.int64], wanted: list[int], rng: np.random.Generator, source: str
) -> list[NDArray[np.int64]]:
    groups = rng.permutation(int(codes.max()) + 1)
    ends = np.cumsum(np.bincount(codes)[groups])
    parts: list[NDArray[np.int64]] = []
    start = 0
    for size in wanted:
        before = ends[start - 1] if start > 0 else 0
        stop = min(int(np.searchsorted(ends, before + size)) + 1, len(groups))
        if stop == start:
            raise InputError(
                f"there are too few groups ({len(groups)}) for parts of {wanted} rows", path=source
            )
        parts.append(np.flatnonzero(np.isin(codes, groups[start:stop])))
        start = stop
    return parts
