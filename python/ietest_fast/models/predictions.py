"""Predictions and outcomes made elsewhere, read from files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.stats import MatchedSample
from ietest_fast.stats.inputs import MAX_INTEGER, MAX_SCORE, is_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.corpus.labels import EncodedLabels
    from ietest_fast.corpus.streams import BatchReader

_TRUE = frozenset({"true", "t", "yes", "right", "correct"})
_FALSE = frozenset({"false", "f", "no", "wrong", "incorrect"})

# What Python and Arrow take for numbers beside these (1_000, other scripts' digits) is a mistake.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_LONG_INTEGER = r"^[+-]?[0-9]{16,}$"
_MOST_DIGITS = 16  # of 2**53

_MOST_SHOWN = 60


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """One classifier's predictions on both versions of a labelled test set.

    Attributes
    ----------
    gold, original, transformed
        Shape (n,), int8: indices into ``label_names``.
    label_names
        Names of the labels.
    dropped
        Rows without a gold label, by reason.
    """

    gold: NDArray[np.int8]
    original: NDArray[np.int8]
    transformed: NDArray[np.int8]
    label_names: tuple[str, ...]
    dropped: dict[str, int]

    @property
    def sample(self) -> MatchedSample:
        """The matched sample (eq. 9)."""
        return MatchedSample.from_predictions(self.gold, self.original, self.transformed)


def read_columns(
    path: str | Path, columns: Sequence[str], *, types_of: Literal["start", "file"] = "start"
) -> pa.Table:
    """Read named columns of a Parquet, CSV, TSV or JSONL file.

    Parameters
    ----------
    path
        The file.
    columns
        Their names.
    types_of
        As for :func:`ietest_fast.corpus.streams.open_batches`; where the start of a file does not
        tell the types, all of it is asked.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, has no rows, or a value is a list or an object.
    """
    import pyarrow as pa

    from ietest_fast.corpus.streams import TypesChangeError, open_batches

    names = list(dict.fromkeys(columns))
    try:
        with open_batches(path, columns=names, types_of=types_of) as reader:
            batches = list(reader)
    except TypesChangeError:
        with open_batches(path, columns=names, types_of="file") as reader:
            batches = list(reader)
    table = pa.Table.from_batches(batches) if batches else None
    if table is None or table.num_rows == 0:
        raise InputError("the file has no rows", path=path)
    for place, name in enumerate(table.column_names):
        plain = _decode(table.column(place), name, path)
        _check_values(plain, name, path)
        table = table.set_column(place, name, plain)
    mixed = [name for name in names if pa.types.is_large_string(table.column(name).type)]
    if mixed and reader.format.kind == "jsonl":
        _check_json_values(reader, mixed)
    return table.select(names)


def _check_json_values(reader: BatchReader, names: Sequence[str]) -> None:
    """Refuse lists and objects in columns of several types, where they have become texts."""
    from ietest_fast.corpus.formats import json_records

    for number, record in json_records(reader.path, reader.format):
        for name in names:
            value = record.get(name)
            if isinstance(value, (list, dict)):
                kind = "a list" if isinstance(value, list) else "an object"
                raise InputError(
                    f"{_show(value)} is {kind}; expected text, numbers or true and false",
                    path=reader.path,
                    row=f"line {number}",
                    column=name,
                )


def _show(value: object) -> str:
    """Give a value of a file as messages show it, which is not at any length."""
    shown = repr(value) if isinstance(value, (str, bytes)) else str(value)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."


def _decode(column: pa.ChunkedArray, name: str, path: str | Path) -> pa.ChunkedArray:
    """Give the values of categories, and texts as texts, however the file keeps them."""
    import pyarrow as pa

    from ietest_fast.corpus.formats import check_utf8

    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_string_view(kind):
        kind = pa.string()
    if kind == column.type:
        return column
    decoded = column.cast(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        check_utf8(Path(path), decoded, name)
    return decoded


def _check_values(column: pa.ChunkedArray, name: str, path: str | Path) -> None:
    import pyarrow as pa

    kind = column.type
    bytes_of_any_kind = (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )
    if pa.types.is_nested(kind) or bytes_of_any_kind:
        raise InputError(
            f"values are of type {kind}; expected text, numbers or true and false",
            path=path,
            column=name,
        )


def read_outcomes(
    path: str | Path, *, original: str = "A", transformed: str = "B"
) -> MatchedSample:
    """Read correctness on both versions from two columns of a file.

    Parameters
    ----------
    path
        Parquet, CSV, TSV or JSONL.
    original, transformed
        Names of the columns of A_i and B_i. Values are booleans, 0 and 1, or words such as
        true/false, yes/no, correct/incorrect in any case.

    Raises
    ------
    InputError
        If a value is missing or none of these; names the column and the row.
    """
    if original == transformed:
        raise InputError(
            "the outcomes on both versions come from one column; two are expected",
            path=path,
            column=original,
        )
    table = read_columns(path, [original, transformed])
    return MatchedSample(
        original_correct=_as_outcomes(table, original, path),
        transformed_correct=_as_outcomes(table, transformed, path),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """Columns of one file that a paired test compares.

    Attributes
    ----------
    columns
        By name, each of shape (n,): bool if they hold outcomes, float64 if they hold scores.
    are_scores
        Whether they hold scores.
    clusters
        Shape (n,), labels; None without a column of clusters.
    """

    columns: dict[str, NDArray[np.bool_] | NDArray[np.float64]]
    are_scores: bool
    clusters: NDArray[Any] | None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(next(iter(self.columns.values())).size)


def read_measurements(
    path: str | Path,
    names: Sequence[str],
    *,
    clusters: str | None = None,
    scores: bool | None = None,
) -> Measurements:
    """Read the columns of outcomes or scores that a paired test compares.

    Parameters
    ----------
    path
        Parquet, CSV, TSV or JSONL.
    names
        The columns, each once.
    clusters
        A column that says to which cluster a row belongs.
    scores
        True to take all columns for scores, False for outcomes, None to find out: a column with a
        number that is neither 0 nor 1 holds scores.

    Raises
    ------
    InputError
        If a column is named twice, a value is missing or of the wrong kind (a NaN, a word), some
        columns hold outcomes and others scores, all scores of a column are equal, or there are
        fewer than two rows. Names the column and the row.
    """
    for name in names:
        if list(names).count(name) > 1:
            raise InputError(
                "this column stands for two versions; two are expected", path=path, column=name
            )
    if clusters is not None and clusters in names:
        raise InputError(
            "this column holds what is compared; clusters need one of their own",
            path=path,
            column=clusters,
        )
    wanted = [*names, *([] if clusters is None else [clusters])]
    table = read_columns(path, wanted)
    if table.num_rows < 2:
        raise InputError(f"a paired test needs at least two rows, not {table.num_rows}", path=path)
    if scores is None:
        scores = _hold_scores(table, names, path)
    if scores and any(_may_be_rounded(table.column(name)) for name in names):
        table = read_columns(path, wanted, types_of="file")
    read: Any = _as_scores if scores else _as_outcomes
    return Measurements(
        columns={name: read(table, name, path) for name in names},
        are_scores=scores,
        clusters=None if clusters is None else _as_labels(table, clusters, path),
    )


def _hold_scores(table: pa.Table, names: Sequence[str], path: str | Path) -> bool:
    """Find out whether columns hold scores: numbers, some of which are neither 0 nor 1.

    Raises
    ------
    InputError
        If one holds outcomes and another scores; names the first score.
    """
    rows = {name: np.flatnonzero(_are_scores(table.column(name))) for name in names}
    score = next((name for name in names if rows[name].size), None)
    if score is None:
        return False
    others = [name for name in names if not rows[name].size]
    outcomes = [name for name in others if not _find_outcomes(table.column(name))[1].size]
    if outcomes:
        row = int(rows[score][0])
        raise InputError(
            f"{_show(table.column(score)[row].as_py())} is a score ({rows[score].size} of "
            f"{table.num_rows} values are neither 0 nor 1), but column {outcomes[0]!r} holds "
            "outcomes; both must be of one kind (--scores takes 0 and 1 for scores, too)",
            path=path,
            row=f"row {row}",
            column=score,
        )
    return True


def _are_scores(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Say of each value whether it is a finite number but neither 0 nor 1."""
    import pyarrow as pa

    if pa.types.is_boolean(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    values = _as_numbers(column)
    return np.asarray(np.isfinite(values) & (values != 0) & (values != 1))


def _as_words(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Give texts and decimals as words without blanks around them; None for other types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.utf8_trim_whitespace(column)
    return None


def _as_numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Give every value as a number; NaN for what is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = _as_words(column)
    if words is None:
        try:
            numbers = column.cast(pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return np.full(len(column), np.nan)
    else:
        words = pc.if_else(pc.match_substring_regex(words, _NUMBER), words, None)
        try:
            numbers = words.cast(pa.float64())
        except pa.ArrowInvalid:  # it does not know all of them, such as +1: one by one
            return np.array(
                [np.nan if word is None else float(word) for word in words.to_pylist()],
                dtype=np.float64,
            )
    values: NDArray[np.float64] = numbers.to_numpy().astype(np.float64)
    return values


def _are_large_integers(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Say of each value whether it is an integer that a float may round."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = _as_words(column)
    large = np.zeros(len(column), dtype=np.bool_)
    if words is not None:
        long = pc.fill_null(pc.match_substring_regex(words, _LONG_INTEGER), False).to_numpy()
        large[long] = [_is_large(word) for word in words.filter(long).to_pylist()]
    elif pa.types.is_integer(column.type) and column.type.bit_width == 64:
        beyond = pc.greater(column, pa.scalar(MAX_INTEGER, column.type))
        if pa.types.is_signed_integer(column.type):
            below = pc.less(column, pa.scalar(-MAX_INTEGER, column.type))
            beyond = pc.or_(beyond, below)
        large[:] = pc.fill_null(beyond, False).to_numpy()
    return large


def _is_large(integer: str) -> bool:
    digits = integer.lstrip("+-").lstrip("0")
    return len(digits) > _MOST_DIGITS or int(digits or "0") > MAX_INTEGER


def _may_be_rounded(column: pa.ChunkedArray) -> bool:
    """Whether there may have been a large integer among floats, which has become one."""
    import pyarrow as pa

    if not pa.types.is_float64(column.type):
        return False
    with np.errstate(invalid="ignore"):
        return bool((np.abs(_as_numbers(column)) >= MAX_INTEGER).any())


def _as_scores(table: pa.Table, name: str, path: str | Path) -> NDArray[np.float64]:
    column = table.column(name)
    values = _as_numbers(column)
    large = _are_large_integers(column)
    bad = np.flatnonzero(~is_score(values) | large)
    if bad.size:
        row = int(bad[0])
        value = column[row].as_py()
        if value is None:
            what = "a score is missing"
        elif large[row]:
            what = f"{_show(value)} is an integer beyond 2**53, which a float may round"
        elif np.isfinite(values[row]):
            what = f"{_show(value)} is too large, {MAX_SCORE:.4g} is the most"
        else:
            what = f"{_show(value)} is no finite number"
        raise InputError(
            f"{what}; expected a number in every row ({bad.size} of {values.size} are something "
            "else)",
            path=path,
            row=f"row {row}",
            column=name,
        )
    if values.min() == values.max():
        raise InputError(
            f"every score is {values[0]:g}: a constant column cannot be compared",
            path=path,
            column=name,
        )
    return values


def _as_labels(table: pa.Table, name: str, path: str | Path) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    words = _as_words(column)
    lack = pc.is_null(column, nan_is_null=True).to_numpy()
    if words is not None:
        lack = lack | pc.fill_null(pc.equal(words, ""), False).to_numpy()
    missing = np.flatnonzero(lack)
    if missing.size:
        raise InputError(
            f"{missing.size} of {len(column)} rows belong to no cluster",
            path=path,
            row=f"row {int(missing[0])}",
            column=name,
        )
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0, column.type))  # -0 is 0
    encoded = column.combine_chunks().dictionary_encode()
    if len(encoded.dictionary) < 2:
        raise InputError(
            "all rows belong to one cluster; at least two are needed", path=path, column=name
        )
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False))


def _as_outcomes(table: pa.Table, name: str, path: str | Path) -> NDArray[np.bool_]:
    column = table.column(name)
    right, bad = _find_outcomes(column)
    if bad.size:
        row = int(bad[0])
        value = column[row].as_py()
        what = "a value is missing" if value is None else f"{_show(value)} is no outcome"
        raise InputError(
            f"{what}; expected 0 or 1, or true or false, in every row "
            f"({bad.size} of {right.size} are something else)",
            path=path,
            row=f"row {row}",
            column=name,
        )
    return right


def _find_outcomes(column: pa.ChunkedArray) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Say of each value whether it is a right one, and in which rows there is no outcome."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(column.type) and column.null_count == 0:
        return np.asarray(column.to_numpy(), dtype=np.bool_), np.empty(0, dtype=np.int64)
    if pa.types.is_temporal(column.type):  # as a word a duration of 1 s is 1
        return np.zeros(len(column), dtype=np.bool_), np.arange(len(column))
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
    encoded = words.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    # The last is for what is missing; 1.00 and 0e0 are outcomes, too.
    distinct = pa.array([*encoded.dictionary.to_pylist(), None], pa.string())
    numbers = _as_numbers(pa.chunked_array([distinct]))
    said = distinct.to_pylist()
    right = (numbers == 1) | np.array([word in _TRUE for word in said], dtype=np.bool_)
    wrong = (numbers == 0) | np.array([word in _FALSE for word in said], dtype=np.bool_)
    return right[codes], np.flatnonzero(~right[codes] & ~wrong[codes])


def read_predictions(
    path: str | Path,
    transformed_path: str | Path | None = None,
    *,
    gold_path: str | Path | None = None,
    gold_column: str = "label",
    original_column: str | None = None,
    transformed_column: str | None = None,
    id_column: str | None = None,
    label_names: Sequence[str] | None = None,
) -> Predictions:
    """Read predictions on the original and on the transformed texts, and the gold labels.

    Parameters
    ----------
    path
        Predictions on the original texts; with one file, those on the transformed texts too.
    transformed_path
        A second file, with the predictions on the transformed texts.
    gold_path
        Where the gold labels are; None for ``path``.
    gold_column
        Name of the gold labels' column.
    original_column, transformed_column
        Names of the predictions' columns. None: ``prediction`` in each of two files, or
        ``original`` and ``transformed`` in one.
    id_column
        A column that all files have and that names each row once: rows are matched by it. None:
        rows are matched by their order.
    label_names
        All labels in the order of their numbers. None: NLI's if the gold labels are those names,
        or integers beside predictions of those names, or if the integers 0, 1 and 2 all occur
        and no others; otherwise the integers that occur in gold labels and predictions, or the
        names that occur in the gold labels.

    Returns
    -------
    Predictions
        Without the rows that have no gold label.

    Raises
    ------
    InputError
        If files differ in length or ids, or a prediction is missing or is no label.
    """
    if label_names is not None:
        _check_names(label_names)
    one_file = transformed_path is None
    original_name = original_column or ("original" if one_file else "prediction")
    transformed_name = transformed_column or ("transformed" if one_file else "prediction")
    if one_file and original_name == transformed_name:
        raise InputError(
            "the predictions on both versions come from one column; two are expected",
            path=path,
            column=original_name,
        )
    places = {
        "gold labels": (Path(gold_path if gold_path is not None else path), gold_column),
        "original predictions": (Path(path), original_name),
        "transformed predictions": (
            Path(path if transformed_path is None else transformed_path),
            transformed_name,
        ),
    }
    wanted: dict[Path, list[str]] = {}
    for file, column in places.values():
        wanted.setdefault(file, [] if id_column is None else [id_column]).append(column)
    tables = {file: read_columns(file, columns) for file, columns in wanted.items()}
    tables = _align(tables, id_column)

    gold_file, _ = places["gold labels"]
    if label_names is None:
        label_names = _find_names(tables, list(places.values()))
    gold = _encode(tables, gold_file, gold_column, label_names)
    kept = gold.codes >= 0
    if not kept.any():
        raise InputError("no row has a gold label", path=gold_file, column=gold_column)
    codes = {
        what: _encode_predictions(tables[file], file, column, gold.names)
        for what, (file, column) in places.items()
        if what != "gold labels"
    }
    return Predictions(
        gold=gold.codes[kept],
        original=codes["original predictions"][kept],
        transformed=codes["transformed predictions"][kept],
        label_names=gold.names,
        dropped=gold.dropped,
    )


def _encode(
    tables: dict[Path, pa.Table], file: Path, column: str, names: Sequence[str] | None
) -> EncodedLabels:
    from ietest_fast.corpus.labels import UnknownLabelError, encode_labels

    try:
        return encode_labels(tables[file].column(column), label_names=names, is_pair=False)
    except UnknownLabelError as error:
        raise InputError(str(error), path=file, row=f"row {error.row}", column=column) from error


def _find_names(
    tables: dict[Path, pa.Table], places: Sequence[tuple[Path, str]]
) -> tuple[str, ...]:
    """Find the labels' names in the columns of gold labels and of both predictions.

    Integers are NLI's if NLI's names stand elsewhere, or if 0, 1, 2 are all there are; a task
    with two classes or with five has 0 and 1, too.
    """
    from ietest_fast.corpus.labels import NLI_LABELS, NOT_ENTAILED

    gold, *predicted = (
        {name.casefold() for name in _encode(tables, file, column, None).names}
        for file, column in places
    )
    seen = gold.union(*predicted)
    numbers = {name for name in seen if name.removeprefix("-").isdecimal()}
    if not gold <= numbers:
        if gold & set(NLI_LABELS) and not gold & NOT_ENTAILED:
            return NLI_LABELS
        return _encode(tables, *places[0], None).names
    if seen == {"0", "1", "2"}:
        return NLI_LABELS
    if numbers < seen <= {"0", "1", "2", *NLI_LABELS}:
        return NLI_LABELS
    return tuple(sorted(numbers, key=int))


def _check_names(names: Sequence[str]) -> None:
    folded = [name.strip().lower() for name in names]
    if len(names) < 2 or not all(folded) or len(set(folded)) < len(folded):
        raise InputError(
            f"labels need at least two different names, none of them empty, not {list(names)}"
        )


def _encode_predictions(
    table: pa.Table, file: Path, column: str, names: tuple[str, ...]
) -> NDArray[np.int8]:
    from ietest_fast.corpus.labels import UnknownLabelError, encode_labels

    try:
        encoded = encode_labels(table.column(column), label_names=names, is_pair=False)
    except UnknownLabelError as error:
        raise InputError(
            f"{error} (name all labels with --labels if the gold labels lack one)",
            path=file,
            row=f"row {error.row}",
            column=column,
        ) from error
    missing = np.flatnonzero(encoded.codes < 0)
    if missing.size:
        raise InputError(
            f"{missing.size} of {encoded.codes.size} predictions are missing; every row needs one",
            path=file,
            row=f"row {int(missing[0])}",
            column=column,
        )
    return encoded.codes


def _align(tables: dict[Path, pa.Table], id_column: str | None) -> dict[Path, pa.Table]:
    """Bring all tables into the order of the first, by id or as they stand."""
    import pyarrow as pa
    import pyarrow.compute as pc

    (first_file, first), *others = tables.items()
    if id_column is None:
        for file, table in others:
            if table.num_rows != first.num_rows:
                raise InputError(
                    f"{table.num_rows} rows, but {first_file} has {first.num_rows}; rows are "
                    "matched by their order (name a column with --id-column to match by it)",
                    path=file,
                )
        return tables
    ids = {}
    for file, table in tables.items():
        column = table.column(id_column).cast(pa.string()).combine_chunks()
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InputError("a row has no id", path=file, row=f"row {row}", column=id_column)
        counts = pc.value_counts(column)
        repeated = counts.filter(pc.greater(counts.field("counts"), 1))
        if len(repeated):
            raise InputError(
                f"{len(repeated)} ids occur more than once, such as "
                f"{repeated[0]['values'].as_py()!r}",
                path=file,
                column=id_column,
            )
        ids[file] = column
    aligned = {first_file: first}
    for file, table in others:
        where = pc.index_in(ids[first_file], value_set=ids[file])
        if where.null_count or table.num_rows != first.num_rows:
            extra = pc.is_in(ids[file], value_set=ids[first_file]).to_numpy(zero_copy_only=False)
            lost = (
                ids[first_file].filter(where.is_null())[0].as_py()
                if where.null_count
                else ids[file].filter(pa.array(~extra))[0].as_py()
            )
            raise InputError(
                f"the ids are not those of {first_file}: {lost!r} stands in one file only",
                path=file,
                column=id_column,
            )
        aligned[file] = table.take(where)
    return aligned
