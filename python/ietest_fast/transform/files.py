"""Transforming whole files, batch by batch, in bounded memory."""

from __future__ import annotations

import contextlib
import functools
import os
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.atomic import put_back_on_error
from ietest_fast.corpus import Corpus
from ietest_fast.corpus.columns import (
    LABELS_BESIDE,
    check_columns,
    find_text_columns,
    usual_label_column,
)
from ietest_fast.corpus.formats import format_of
from ietest_fast.corpus.labels import list_old_labels, name_numbers, put_labels_beside
from ietest_fast.corpus.streams import (
    BatchReader,
    BatchWriter,
    TypesChangeError,
    check_target,
    open_batches,
)
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.frames import to_arrow
from ietest_fast.transform.base import RowError, Transformation, Transformed
from ietest_fast.transform.edits import COMPANION_RULES, as_strings, check_text_columns
from ietest_fast.transform.phi import Material, plan
from ietest_fast.values import find_outcomes, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ietest_fast.transform.phi import TextSource

# Counting how often things occur when there may be more different ones than memory holds.

Key = TypeVar("Key")

MOST_KEPT = 100_000
"""How many different keys are kept unless told otherwise."""


class FrequentCounts(Generic[Key]):
    """Count keys, and keep the frequent ones in bounded memory (Misra and Gries 1982).

    Counts are exact as long as there are at most `capacity` different keys. After that, the rare
    ones are dropped, and each count that is left is too low by at most `error`; a key that
    occurs more than `error` times is always there. With N counted in all, `error` is at most
    N / (`capacity` + 1) (Agarwal et al. 2012, for sums of counts).
    """

    def __init__(self, capacity: int = MOST_KEPT) -> None:
        self.capacity = capacity
        self.counts: Counter[Key] = Counter()
        self.error = 0

    def add(self, counts: Iterable[tuple[Key, int]]) -> None:
        """Add counts of different keys, each at least 1."""
        for key, count in counts:
            self.counts[key] += count
        if len(self.counts) <= self.capacity:
            return
        ranked = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        # The largest count that is not kept is taken off all.
        taken = int(-np.partition(-ranked, self.capacity)[self.capacity])
        self.counts = Counter(
            {key: count - taken for key, count in self.counts.items() if count > taken}
        )
        self.error += taken


CHANGED = "changed"
"""Column of a transformed file that says which rows are changed."""


STEP_ROWS = 16_384
"""Rows that are transformed at a time, where that changes nothing."""


@runtime_checkable
class CountsSubstitutions(Protocol):
    """A transformation that can list its substitutions more cheaply than all of its edits."""

    def substitutions_only(
        self, table: pa.Table, text_columns: Sequence[str], *, n_threads: int | None = None
    ) -> Transformed:
        """Transform; of the edits, those with the rule ``normalise`` may be left out."""
        ...


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """The texts of a file, for :class:`ietest_fast.transform.Material`."""

    path: Path
    text_columns: Sequence[str] | None = None
    """As for :func:`read_texts`."""

    def text_chunks(self) -> Iterator[pa.Array]:
        """Yield arrays of strings or large strings; memory does not grow with the file."""
        return read_texts(self.path, self.text_columns)


@dataclass(frozen=True, kw_only=True)
class FileSummary:
    """What was done to a file."""

    n_rows: int
    """Rows written."""
    n_changed: int
    """Rows with a text that is another than it was."""
    text_columns: tuple[str, ...]
    """The columns that were transformed."""
    n_edits: dict[str, int]
    """Edits by rule, the most frequent first. ``normalise`` is there only if edits were written."""
    substitutions: Counter[tuple[str, str]]
    """(old, new) in lower case -> how often; without what follows from other edits (``article``)
    and what rewords nothing (``normalise``). The rare ones are left out if there are more than
    100,000 different ones."""
    n_source_rows: int
    """Rows read."""
    most_uncounted: int = 0
    """By how much counts of substitutions may be too low; 0 if none was left out."""

    def most_frequent(self, n: int = 10) -> list[tuple[str, str, int]]:
        """Give the n most frequent substitutions as (old, new, count), ties in the alphabet."""
        ranked = sorted(self.substitutions.items(), key=lambda item: (-item[1], item[0]))
        return [(old, new, count) for (old, new), count in ranked[:n]]


def transform_file(
    source: str | Path,
    target: str | Path,
    transformation: Transformation,
    *,
    text_columns: Sequence[str] | None = None,
    edits_path: str | Path | None = None,
    label_column: str | None = None,
    n_threads: int | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> FileSummary:
    """Transform the texts of a file into another one.

    The target appears when it is complete; after an error, or a kill, it is not there. Memory
    does not grow with the number of rows.

    Parameters
    ----------
    source, target, edits_path
        Files whose formats are those of their names (Parquet, CSV, TSV, JSONL); no two are the
        same. Edits have the columns of :data:`ietest_fast.transform.EDIT_SCHEMA`, rows counted
        from 0 in the target. None: edits are counted, not written.
    transformation
        What to do. If it does not keep labels, the column of labels holds what it gives as names
        of labels; null where it gives none.
    text_columns
        The columns that hold texts; None: premise and hypothesis, or as
        :func:`ietest_fast.corpus.read_corpus` finds them. All other columns are copied, and a
        column ``changed`` says which rows have other texts; rows that it marks in the source,
        which an earlier transformation changed, stay marked.
    label_column
        The column of labels, for transformations that do not keep them; None: label or
        gold_label, if there is one.
    n_threads
        Threads to use; None: all cores.
    on_progress
        Called with the rows done and, where the format tells, the rows to do; of a text file about
        so many.

    Raises
    ------
    InputError
        If a file has no rows, lacks a column or is broken; if its column ``changed`` says something
        else; or if a target is also a source.
    ResourceError
        If a target cannot be written.
    """
    source, target = Path(source), Path(target)
    edits_path = None if edits_path is None else Path(edits_path)
    check_distinct(source, *[path for path in (target, edits_path) if path is not None])
    for path in (target, edits_path):
        if path is not None:
            check_target(path)
    again = functools.partial(
        _transform_file,
        source,
        target,
        transformation,
        text_columns=text_columns,
        edits_path=edits_path,
        label_column=label_column,
        n_threads=n_threads,
        on_progress=on_progress,
    )
    try:
        return again(types_of="start")
    except TypesChangeError:
        # Seldom: what was written by then is gone, and the types are learnt before it begins anew.
        return again(types_of="file")


def _transform_file(
    source: Path,
    target: Path,
    transformation: Transformation,
    *,
    text_columns: Sequence[str] | None,
    edits_path: Path | None,
    label_column: str | None,
    n_threads: int | None,
    on_progress: Callable[[int, int | None], None] | None,
    types_of: Literal["start", "file"],
) -> FileSummary:
    n_read = n_rows = n_changed = 0
    n_edits: Counter[str] = Counter()
    substitutions: FrequentCounts[tuple[str, str]] = FrequentCounts()
    transform: Callable[..., Transformed] = transformation.transform
    if edits_path is None and isinstance(transformation, CountsSubstitutions):
        transform = transformation.substitutions_only
    # The order of written edits, and which new pairs are there already, is a batch's.
    is_apart = edits_path is None and transformation.keeps_labels
    with contextlib.ExitStack() as stack:
        reader, names = _open_texts(source, text_columns, types_of=types_of)
        stack.enter_context(reader)
        empty = _name_labels(reader.schema.empty_table(), target, source)
        labels = (
            None
            if transformation.keeps_labels
            else label_column_of(source, reader.schema, label_column)
        )
        made = transformation.transform(empty, names, n_threads=n_threads)
        schema = _put_changed(put_labels(made, labels, source), made, source).schema
        assert made.edits is not None  # noqa: S101 - asked for
        edit_schema = made.edits.schema
        writer = stack.enter_context(BatchWriter(target, schema))
        edit_writer = None
        if edits_path is not None:
            edit_writer = stack.enter_context(BatchWriter(edits_path, edit_schema))
        for table in _read_tables(reader, target, STEP_ROWS if is_apart else None):
            if n_read == 0:
                warn_of_old_labels(source, table, labels, names)
            with _locating_errors(source, n_read):
                made = transform(table, names, n_threads=n_threads)
            writer.write(_put_changed(put_labels(made, labels, source), made, source).cast(schema))
            edits = made.edits
            assert edits is not None  # noqa: S101 - asked for
            _count(edits, n_edits, substitutions)
            if edit_writer is not None:
                row = pc.add(edits["row"], n_rows)
                edit_writer.write(edits.set_column(0, edit_schema.field("row"), row))
            n_read += table.num_rows
            n_rows += made.table.num_rows
            n_changed += int(np.count_nonzero(made.changed))
            if on_progress is not None:
                on_progress(n_read, reader.n_rows_about)
        writer.finish()
        if edit_writer is not None:
            edit_writer.finish()
            # Both files are new, or both are as they were.
            with put_back_on_error(edit_writer.path):
                edit_writer.publish()
                writer.publish()
    return FileSummary(
        n_rows=n_rows,
        n_changed=n_changed,
        text_columns=names,
        n_edits=dict(sorted(n_edits.items(), key=lambda item: (-item[1], item[0]))),
        substitutions=substitutions.counts,
        n_source_rows=n_read,
        most_uncounted=substitutions.error,
    )


def _read_tables(reader: BatchReader, target: Path, most_rows: int | None) -> Iterator[pa.Table]:
    """Yield the rows of a file, by batches or in smaller tables, with labels fit for the target."""
    n_read = 0
    for batch in reader:
        whole = pa.Table.from_batches([batch], reader.schema)
        whole = _name_labels(whole, target, reader.path, n_read)
        size = most_rows or max(whole.num_rows, 1)
        for start in range(0, whole.num_rows, size):
            yield whole.slice(start, size)
        n_read += whole.num_rows
    if n_read == 0:
        raise InputError("has no rows; at least one is needed", path=reader.path)


@contextlib.contextmanager
def _locating_errors(source: Path, n_before: int) -> Iterator[None]:
    """Name the row of the file where a text of some of its rows cannot be transformed."""
    try:
        yield
    except RowError as error:
        row = f"row {n_before + error.index}"
        raise InputError(error.message, path=source, row=row, column=error.column) from error


def read_texts(path: str | Path, text_columns: Sequence[str] | None = None) -> Iterator[pa.Array]:
    """Read the text columns of a file and nothing else, batch by batch."""
    path = Path(path)
    with open_batches(path) as reader:
        schema = reader.schema
    if text_columns is not None and not set(text_columns) <= set(schema.names):
        text_columns = None
    names = choose_text_columns(path, schema, text_columns)
    n_rows = 0
    with open_batches(path, columns=names, texts=names) as reader:
        for batch in reader:
            for name in names:
                column = batch[name]
                _check_lengths(path, column, name, n_rows)
                yield as_strings(column)
            n_rows += batch.num_rows
    if n_rows == 0:
        raise InputError("has no rows; at least one is needed", path=path)


def _open_texts(
    path: Path, text_columns: Sequence[str] | None, *, types_of: Literal["start", "file"]
) -> tuple[BatchReader, tuple[str, ...]]:
    """Open a file with all its columns, of which some are checked to hold texts."""
    reader = open_batches(path)
    names = choose_text_columns(path, reader.schema, text_columns)
    if reader.format.kind == "jsonl":
        reader.close()
        reader = open_batches(path, texts=names, types_of=types_of)
    return reader, names


def choose_text_columns(
    path: Path, schema: pa.Schema, text_columns: Sequence[str] | None
) -> tuple[str, ...]:
    """Give the columns that hold a file's texts, checked."""
    names = find_text_columns(path, schema.names)[0] if text_columns is None else text_columns
    try:
        check_text_columns(schema, names)
    except InputError as error:
        raise InputError(_bare(error), path=path, column=error.column) from error
    return tuple(names)


def label_column_of(path: str | Path, schema: pa.Schema, label_column: str | None) -> str | None:
    """Return the column whose labels a transformation sets; None if the file has none."""
    if label_column is not None:
        check_columns(path, schema.names, [label_column])
        return label_column
    found = usual_label_column(path, schema.names)
    beside = [name for name in LABELS_BESIDE if name in schema.names]
    if found is None and beside:
        raise InputError(
            "would keep its labels, and the new texts have others; say that it is the column of "
            "labels (label_column, --label-column), or drop it",
            path=path,
            column=beside[0],
        )
    return found


def warn_of_old_labels(
    source: str | Path, table: pa.Table, column: str | None, text_columns: Sequence[str]
) -> None:
    """Warn of columns that seem to say labels and stay as they are where labels are set anew."""
    found = [] if column is None else list_old_labels(table, column, text_columns)
    if found:
        stay = "column stays" if len(found) == 1 else "columns stay"
        warnings.warn(
            f"{source}: labels are set anew in {column}, and the {stay} as before: "
            f"{', '.join(found)}; drop what says the old labels",
            IetestWarning,
            stacklevel=3,
        )


def _name_labels(table: pa.Table, target: Path, source: Path, n_before: int = 0) -> pa.Table:
    """Write names for numbers of labels that a file notes, where the target cannot note them."""
    if format_of(target).kind == "parquet":
        return table
    return name_numbers(table, table.schema, path=source, n_before=n_before)


def put_labels(made: Transformed, column: str | None, source: str | Path) -> pa.Table:
    """Put new labels in the place of the old ones, which do not hold any more."""
    if column is None:
        return made.table
    table = made.table
    labels = pa.nulls(table.num_rows, pa.string()) if made.labels is None else made.labels
    labels = labels.cast(pa.string())
    try:
        table = put_labels_beside(table, column, labels)
    except InputError as error:
        raise InputError(_bare(error), path=source, column=error.column) from error
    place = table.schema.get_field_index(column)
    return table.set_column(place, pa.field(column, pa.string()), labels)


def _put_changed(table: pa.Table, made: Transformed, source: Path) -> pa.Table:
    """Put a column that says which rows are changed, also by an earlier transformation."""
    mask = np.asarray(made.changed, dtype=np.bool_)
    place = table.schema.get_field_index(CHANGED)
    if place < 0:
        return table.append_column(CHANGED, pa.array(mask))
    before, bad = find_outcomes(table[CHANGED])
    if bad.size:
        raise InputError(
            f"holds {show_value(table[CHANGED][int(bad[0])].as_py())}, and the transformation "
            "writes there, as true or false, which rows it changes; rename the column",
            path=source,
            column=CHANGED,
        )
    return table.set_column(place, CHANGED, pa.array(mask | before))


def _check_lengths(path: Path, column: pa.Array, name: str, first_row: int) -> None:
    """Name a text that is too long for the tagger, which does not know where it stands."""
    from ietest_fast.lexicon.annotator import find_too_long

    if pa.types.is_null(column.type):
        return
    found = find_too_long(as_strings(column))
    if found is not None:
        raise InputError(found[1], path=path, row=f"row {first_row + found[0]}", column=name)


def check_distinct(source: Path, *targets: Path) -> None:
    """Raise InputError if a file would be written that is read, or written twice."""
    for i, target in enumerate(targets):
        for other in (source, *targets[:i]):
            same = os.path.realpath(target) == os.path.realpath(other)  # links may go in a circle
            if not same and target.exists() and other.exists():
                same = target.samefile(other)
            if same:
                raise InputError(
                    "would be overwritten while it is in use; name another file", path=target
                )


def check_out(
    path: Path, read: Iterable[object], *, unless_parquet: Exception | None = None
) -> None:
    """Find out before the work whether its result can be written, and over what.

    Of what is read, paths alone matter. `unless_parquet` is raised for a file of another kind.
    """
    check_target(path)
    if unless_parquet is not None and path.suffix != ".parquet":
        raise unless_parquet
    for other in read:
        if isinstance(other, str | Path):
            check_distinct(Path(other), path)


def _bare(error: InputError) -> str:
    prefix = f"column {error.column!r}: "
    return str(error).removeprefix(prefix)


def _count(
    edits: pa.Table, n_edits: Counter[str], substitutions: FrequentCounts[tuple[str, str]]
) -> None:
    if len(edits) == 0:
        return
    rule = edits["rule"].cast(pa.string())
    for item in pc.value_counts(rule).to_pylist():
        n_edits[item["values"]] += item["counts"]
    chosen = pc.invert(pc.is_in(rule, pa.array(COMPANION_RULES)))
    pairs = pa.table(
        {
            "old": pc.ascii_lower(edits["old"].filter(chosen)),
            "new": pc.ascii_lower(edits["new"].filter(chosen)),
        }
    )
    # A change of capitals alone is no substitution.
    pairs = pairs.filter(pc.not_equal(pairs["old"], pairs["new"]))
    counted = pairs.group_by(["old", "new"], use_threads=False).aggregate([([], "count_all")])
    keys = zip(counted["old"].to_pylist(), counted["new"].to_pylist(), strict=True)
    substitutions.add(zip(keys, counted["count_all"].to_pylist(), strict=True))


# Tables in memory, of any kind, through a transformation.


_SOURCE = "<memory>"


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTable:
    """Columns of an Arrow table, for a transformation to learn from."""

    table: pa.Table
    """Has these columns."""
    text_columns: tuple[str, ...]
    """Strings; missing texts are left out."""

    def text_chunks(self) -> Iterator[pa.Array]:
        """Yield arrays of strings or large strings, one after the other."""
        for name in self.text_columns:
            yield from as_strings(self.table.column(name).drop_null()).chunks


def find_texts(table: pa.Table, text_columns: Sequence[str] | None, source: str) -> tuple[str, ...]:
    """Return the names of the columns of texts, after a check that they are."""
    names = table.column_names
    if text_columns is None and len(names) > 1:
        found, _ = find_text_columns(source, names)
    else:
        found = tuple(names if text_columns is None else text_columns)
    check_text_columns(table.schema, found)
    return found


def text_source(data: Any, text_columns: Sequence[str] | None) -> Corpus | TextSource:
    """Make texts to learn from of a corpus, or of a table of any kind."""
    if isinstance(data, Corpus):
        return data
    table = to_arrow(data, source="learn_from")
    return TextTable(table=table, text_columns=find_texts(table, text_columns, "learn_from"))


# What a call of the room itself does: a table in, the same kind of table with new texts out.


class TransformRoom(ModuleType):
    """The package ``ietest_fast.transform``, which can be called: ``ie.transform(table)``.

    So the function is there whether or not the package has been imported, and the other way round.
    """

    def __call__(
        self,
        data: Any,
        phi: Any = "syn.careful",
        *,
        text_columns: str | Sequence[str] | None = None,
        label_column: str | None = None,
        learn_from: Any = None,
        return_edits: bool = False,
        n_threads: int | None = None,
    ) -> Any:
        """Rephrase the texts of a table.

        Examples
        --------
        >>> import ietest_fast as ie
        >>> ie.transform(["A boy sleeps on the couch."])
        ['A boy sleeps on the sofa.']
        """
        from ietest_fast.frames import give_back

        names = (text_columns,) if isinstance(text_columns, str) else text_columns
        table = to_arrow(data, source=_SOURCE)
        columns = find_texts(table, names, _SOURCE)
        learnt: Corpus | TextSource = TextTable(table=table, text_columns=columns)
        if learn_from is not None:
            learnt = text_source(learn_from, names)
        with plan(phi) as planned:
            material = Material(corpora=(learnt,), tag_cache="temporary", n_threads=n_threads)
            transformation = planned.build(material)
            made = transformation.transform(table, columns, n_threads=n_threads)
        new = made.table
        if not transformation.keeps_labels:
            own = label_column_of(_SOURCE, table.schema, label_column)
            warn_of_old_labels(_SOURCE, table, own, columns)
            new = put_labels(made, own, _SOURCE)
        given = give_back(new, like=data, rows=made.source_row)
        return (given, made.edits) if return_edits else given
