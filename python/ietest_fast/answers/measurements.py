"""Outcomes and scores measured elsewhere, read from the columns of a file."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import find_named
from ietest_fast.corpus.formats import check_utf8, json_records
from ietest_fast.corpus.streams import BatchReader, TypesChangeError, open_batches
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import say_count
from ietest_fast.stats.inputs import MAX_INTEGER, MAX_SCORE, is_score
from ietest_fast.values import (
    are_ids,
    as_numbers,
    as_words,
    common_type,
    find_missing,
    find_outcomes,
    is_bytes,
    show_value,
    spell_numbers,
    trim_texts,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray


# Named columns of files of values: Parquet, CSV, TSV or JSONL.


def read_columns(
    path: str | Path, columns: Sequence[str], *, types_of: Literal["start", "file"] = "start"
) -> pa.Table:
    """Read named columns of a Parquet, CSV, TSV or JSONL file."""
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
    plain: dict[str, pa.ChunkedArray] = {}  # a table of many columns is made once
    for name, column in zip(table.column_names, table.columns, strict=True):
        plain[name] = _decode(column, name, path)
        _check_values(plain[name], name, path)
    mixed = [name for name in names if pa.types.is_large_string(plain[name].type)]
    if mixed and reader.format.kind == "jsonl":
        _check_json_values(reader, mixed)
    return pa.table({name: plain[name] for name in names})


# How a column is called that says how many items a row stands for.
_COUNTS = {"n", "count", "counts", "freq", "frequency", "weight", "weights", "total", "n_items"}

# A table of counts has a row for each kind of item, and there are few.
_MOST_COUNTED = 1_000


def refuse_counts(path: str | Path, names: Sequence[str], taken: Collection[str | None]) -> None:
    """Refuse a table of counts, whose rows would count as one item each.

    Its rows all differ beside the counts, and nothing tells single items apart.
    """
    for name in find_named(names, _COUNTS):
        others = [other for other in names if other != name]
        if name in taken or not others:
            continue
        try:
            numbers = as_numbers(read_columns(path, [name])[name])
            is_whole = bool(np.all((numbers >= 0) & (numbers == np.floor(numbers))))
            if not is_whole or numbers.max() <= 1 or not 2 < numbers.size <= _MOST_COUNTED:
                continue
            table = read_columns(path, others)
        except InputError:  # nobody has asked for them
            continue
        rows = set(zip(*(table[other].to_pylist() for other in others), strict=True))
        if len(rows) < table.num_rows or any(are_ids(table[other]) for other in others):
            continue
        raise InputError(
            f"seems to count items: {table.num_rows:,} rows, of which no two are alike, stand for "
            f"{int(numbers.sum()):,}, and here a row is one item; write a row for each item, give "
            "the four counts of two versions with --counts of `ietest-fast test`, or, if it says "
            "something else, rename the column or leave it out",
            path=path,
            column=name,
        )


def _check_json_values(reader: BatchReader, names: Sequence[str]) -> None:
    """Refuse lists and objects in columns of several types, where they have become texts."""
    for number, record in json_records(reader.path, reader.format):
        for name in names:
            value = record.get(name)
            if isinstance(value, (list, dict)):
                kind = "a list" if isinstance(value, list) else "an object"
                raise InputError(
                    f"{show_value(value)} is {kind}; expected text, numbers or true and false",
                    path=reader.path,
                    row=f"line {number}",
                    column=name,
                )


def _decode(column: pa.ChunkedArray, name: str, path: str | Path) -> pa.ChunkedArray:
    """Give the values of categories, and texts as texts, however the file keeps them."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    kind = pa.string() if pa.types.is_string_view(kind) else common_type(kind)
    if kind == column.type:
        return column
    decoded = column.cast(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        check_utf8(Path(path), decoded, name)
    return decoded


def _check_values(column: pa.ChunkedArray, name: str, path: str | Path) -> None:
    kind = column.type
    if pa.types.is_nested(kind) or is_bytes(kind):
        raise InputError(
            f"values are of type {kind}; expected text, numbers or true and false",
            path=path,
            column=name,
        )


# The largest of scores that seem to be percentages lies between these.
_PERCENT = (10, 100)
# If so many rows for each score are 0 or 1, the scores are likelier sums or means of these.
_MOST_OUTCOMES = 20
_LONG_INTEGER = r"^[+-]?[0-9]{16,}$"
_MOST_DIGITS = 16  # of 2**53


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurements:
    """Columns of one file that a paired test compares."""

    columns: dict[str, NDArray[np.bool_] | NDArray[np.float64]]
    """By name, each of shape (n,): bool if they hold outcomes, float64 if they hold scores."""
    are_scores: bool
    """Whether they hold scores."""
    clusters: NDArray[Any] | None
    """Shape (n,), labels; None without a column of clusters."""
    reworded: NDArray[np.bool_] | None = None
    """Shape (n,): which texts are reworded; None without a column that says it."""
    beside: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    """Further columns as the file has them, each of shape (n,)."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(next(iter(self.columns.values())).size)


def read_measurements(
    path: str | Path,
    names: Sequence[str],
    *,
    clusters: str | None = None,
    reworded: str | None = None,
    scores: bool | None = None,
    beside: Sequence[str] = (),
) -> Measurements:
    """Read the columns of outcomes or scores that a paired test compares."""
    for name in names:
        if list(names).count(name) > 1:
            raise InputError(
                "this column stands for two versions; two are expected", path=path, column=name
            )
    roles = {"clusters": clusters, "which texts are reworded": reworded}
    for what, column in roles.items():
        if column is not None and column in names:
            raise InputError(
                f"this column holds what is compared; {what} must stand in one of its own",
                path=path,
                column=column,
            )
    extra = [column for column in roles.values() if column is not None]
    wanted = list(dict.fromkeys([*names, *extra, *beside]))
    table = read_columns(path, wanted)
    if table.num_rows < 2:
        raise InputError(f"a paired test needs at least two rows, not {table.num_rows}", path=path)
    if scores is None:
        scores = _hold_scores(table, names, path)
    if scores and any(_may_be_rounded(table.column(name)) for name in names):
        table = read_columns(path, wanted, types_of="file")
    read: Any = _as_scores if scores else _as_outcomes
    values = {name: read(table, name, path) for name in names}
    if scores:
        _warn_of_units(values, path)
    return Measurements(
        columns=values,
        are_scores=scores,
        clusters=None if clusters is None else _as_labels(table, clusters, path),
        reworded=None if reworded is None else _as_outcomes(table, reworded, path),
        beside={
            name: pa.chunked_array([spell_numbers(table.column(name).combine_chunks())])
            for name in beside
        },
    )


def _warn_of_units(scores: Mapping[str, NDArray[np.float64]], path: str | Path) -> None:
    """Warn of shares that are compared with what seem to be percentages."""
    most = {name: values.max() for name, values in scores.items() if values.min() >= 0}
    shares = [name for name, value in most.items() if 0 < value <= 1]
    others = [name for name, value in most.items() if _PERCENT[0] <= value <= _PERCENT[1]]
    if shares and others:
        warnings.warn(
            f"{path}: the scores in {shares[0]} are between 0 and 1, those in {others[0]} go up to "
            f"{most[others[0]]:g}; write both in one unit",
            IetestWarning,
            stacklevel=3,
        )


def _hold_scores(table: pa.Table, names: Sequence[str], path: str | Path) -> bool:
    """Find out whether columns hold scores: numbers, some of which are neither 0 nor 1."""
    rows = {name: np.flatnonzero(_are_scores(table.column(name))) for name in names}
    score = next((name for name in names if rows[name].size), None)
    if score is None:
        return False
    others = [name for name in names if not rows[name].size]
    outcomes = [name for name in others if not find_outcomes(table.column(name))[1].size]
    if outcomes:
        row = int(rows[score][0])
        raise InputError(
            f"{show_value(table.column(score)[row].as_py())} is a score ({rows[score].size} of "
            f"{table.num_rows} values are neither 0 nor 1), but column {outcomes[0]!r} holds "
            "outcomes; both must be of one kind (--scores takes 0 and 1 for scores, too)",
            path=path,
            row=f"row {row}",
            column=score,
        )
    among = np.unique(np.concatenate(list(rows.values())))
    if _MOST_OUTCOMES * among.size <= table.num_rows:
        raise InputError(
            f"{show_value(table.column(score)[int(among[0])].as_py())} is neither 0 nor 1, and all "
            f"but {say_count(among.size, 'row')} of {table.num_rows:,} are; leave out a row that "
            "holds a total or a mean (--scores takes all values for scores)",
            path=path,
            row=f"row {among[0]}",
            column=score,
        )
    return True


def _are_scores(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Say of each value whether it is a finite number but neither 0 nor 1."""
    if pa.types.is_boolean(column.type):
        return np.zeros(len(column), dtype=np.bool_)
    values = as_numbers(column)
    return np.asarray(np.isfinite(values) & (values != 0) & (values != 1))


def _are_large_integers(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Say of each value whether it is an integer that a float may round."""
    words = as_words(column)
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
    if not pa.types.is_float64(column.type):
        return False
    with np.errstate(invalid="ignore"):
        return bool((np.abs(as_numbers(column)) >= MAX_INTEGER).any())


def _as_scores(table: pa.Table, name: str, path: str | Path) -> NDArray[np.float64]:
    column = table.column(name)
    values = as_numbers(column)
    large = _are_large_integers(column)
    bad = np.flatnonzero(~is_score(values) | large)
    if bad.size:
        row = int(bad[0])
        value = column[row].as_py()
        if value is None:
            what = "a score is missing"
        elif large[row]:
            what = f"{show_value(value)} is an integer beyond 2**53, which a float may round"
        elif np.isfinite(values[row]):
            what = f"{show_value(value)} is too large, {MAX_SCORE:.4g} is the most"
        else:
            what = f"{show_value(value)} is no finite number{_say_comma(value)}"
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
    column = table.column(name)
    missing = np.flatnonzero(find_missing(trim_texts(column)))
    if missing.size:
        raise InputError(
            f"{missing.size} of {len(column)} rows belong to no cluster",
            path=path,
            row=f"row {int(missing[0])}",
            column=name,
        )
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0, column.type))  # -0 is 0
    encoded = spell_numbers(trim_texts(column).combine_chunks()).dictionary_encode()
    if len(encoded.dictionary) < 2:
        raise InputError(
            "all rows belong to one cluster; at least two are needed", path=path, column=name
        )
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False))


def _say_comma(value: Any) -> str:
    """Say what is wrong with a number that has a decimal comma."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+\s*", value):
        return "; a number has a decimal point, not a comma"
    return ""


def _as_outcomes(table: pa.Table, name: str, path: str | Path) -> NDArray[np.bool_]:
    column = table.column(name)
    right, bad = find_outcomes(column)
    if bad.size:
        row = int(bad[0])
        value = column[row].as_py()
        what = "a value is missing" if value is None else f"{show_value(value)} is no outcome"
        raise InputError(
            f"{what}; expected 0 or 1, or true or false, or --scores for other numbers, in every "
            f"row ({bad.size} of {right.size} are something else){_say_comma(value)}",
            path=path,
            row=f"row {row}",
            column=name,
        )
    return right
