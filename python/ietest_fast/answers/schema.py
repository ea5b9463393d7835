"""What a table of predictions has to look like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.labels import answer_key, index_labels
from ietest_fast.errors import InputError, shorten_error
from ietest_fast.numerals import say_count
from ietest_fast.values import (
    as_items,
    as_outcomes,
    as_texts,
    find_outcomes,
    name_versions,
    show_value,
    trim_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


GROUPS = ("model", "m", "rho")
"""Columns that tell classifiers apart; every classifier answers every version by itself."""

KEY = b"ietest_fast.predictions"
"""What the metadata of a table of predictions stand under."""

NAMES = pa.dictionary(pa.int32(), pa.string())
"""The type of a column of names."""

TYPES = {
    "version": NAMES,
    "gold": NAMES,
    "predicted": NAMES,
    "probabilities": pa.list_(pa.float32()),
    "correct": pa.bool_(),
    "model": NAMES,
    "m": pa.int32(),
    "rho": pa.float64(),
    "copy": pa.int32(),
}
"""Types of the known columns beside ``item``; a table may have others, of any kind."""

CHANGED = "changed"
"""Column that says which texts of a version are reworded."""

CLUSTER = "cluster"
"""Column that tells clusters apart where nobody names one."""

MARKS = ("correct", "is_correct", "is_right", "exact_match", "acc")
"""Columns that say of answers whether they are right, where nobody has named one."""

ROWS_OF_A_KIND = 5
"""Right answers that recur less often than this are no classes, where answers are free texts."""

MOST_KINDS = 20
"""With more different right answers than this they are texts, unless a table names its labels."""

OF_NONE = frozenset({"", "-", "-1", "-1.0", "nan"})
"""What stands for no label, unless it is one."""

# As lists of NumPy's numbers are written.
_OF_NUMPY = re.compile(r"np\.float[0-9]+\(([^()]*)\)")

_REQUIRED = ("item", "version")
_WITHOUT_NULLS = ("item", "version", "correct", "model", "m", "rho", "copy")


def is_predictions(schema: pa.Schema) -> bool:
    """Whether a schema is one of predictions: it says so, or has the columns that are needed."""
    names = set(schema.names)
    needed = {"item", "version"} <= names and ("correct" in names or {"gold", "predicted"} <= names)
    return needed or KEY in (schema.metadata or {})


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values where it keeps each value once."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def with_plain_types(table: pa.Table) -> pa.Table:
    """Return a table whose columns have each row's value itself."""
    return table.cast(pa.schema([(each.name, plain_type(each.type)) for each in table.schema]))


def check_columns(names: Sequence[str], source: str) -> None:
    """Refuse a table that lacks a column or has one twice."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"stands {names.count(name)} times in the table", path=source, column=name
            )
    for name in _REQUIRED:
        if name not in names:
            raise InputError(
                f"is missing; a table of predictions has {', '.join(_REQUIRED)} and either "
                "correct or gold and predicted",
                path=source,
                column=name,
            )
    if "correct" not in names and not {"gold", "predicted"} <= set(names):
        raise InputError("needs a column correct, or both gold and predicted", path=source)


def check_kept(names: Iterable[str], source: str | Path, *, made: Sequence[str] = ()) -> None:
    """Refuse to keep a column under a name that has another meaning in a table of predictions."""
    for name in names:
        if name in {"item", *TYPES, *made}:
            raise InputError(
                "cannot be kept or tell clusters apart under this name, which means something else "
                "in a table of predictions; rename the column",
                path=source,
                column=name,
            )


def align_types(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Return tables whose columns of one name can be put together.

    Where one has texts and another numbers, all become texts: so 1 and "1" are the same item, or
    the same cluster.
    """
    kinds: dict[str, set[pa.DataType]] = {}
    for table in tables:
        for each in table.schema:
            kinds.setdefault(each.name, set()).add(plain_type(each.type))
    different = [
        name
        for name, own in kinds.items()
        if not _fit_together(own) or (name == "item" and len(own) > 1)  # a float is no exact id
    ]
    return [
        table
        if not different
        else table.cast(
            pa.schema(
                [
                    pa.field(each.name, pa.string()) if each.name in different else each
                    for each in table.schema
                ]
            )
        )
        for table in tables
    ]


def _fit_together(kinds: set[pa.DataType]) -> bool:
    """Whether values of these types can stand in one column; what cannot be a text has to."""
    own = {kind for kind in kinds if not pa.types.is_null(kind)}
    are_numbers = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in own)
    are_texts = all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in own)
    return len(own) < 2 or are_numbers or are_texts or any(map(pa.types.is_nested, own))


def as_schema(table: pa.Table, label_names: tuple[str, ...] | None, source: str) -> pa.Table:
    """Return the table with the types of the schema, each column in one piece."""
    names = table.column_names
    answers = [name for name in ("gold", "predicted") if name in names]
    labels: Sequence[str] = label_names or ()
    if answers and label_names is None:
        labels = _find_labels(table, answers, source)
    for place, name in enumerate(names):
        column = table.column(place)
        try:
            made = _as_column(column, name, labels, source)
        except (pa.ArrowException, ValueError) as error:
            if isinstance(error, InputError):
                raise
            wanted = shorten_error(error)
            if name == "probabilities":
                wanted = "a list of numbers in the order of the labels is expected in each row"
            raise InputError(
                f"is of the type {column.type}: {wanted}", path=source, column=name
            ) from error
        # In one piece: rows are taken by their number.
        made = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
        if made is not column:
            table = table.set_column(place, pa.field(name, made.type), made)
    return table


def _as_column(
    column: pa.ChunkedArray, name: str, labels: Sequence[str], source: str
) -> pa.Array | pa.ChunkedArray:
    """Return a column with the type that its name has in the schema."""
    kind = TYPES.get(name)
    if name == "item":
        return as_items(column, path=source, name=name)
    if name in {"gold", "predicted"}:
        return _encode(column, labels, source, name)
    if name == "version":
        return name_versions(column, path=source).dictionary_encode()
    if name == "correct" and not pa.types.is_boolean(column.type):
        return as_outcomes(column, path=source, name=name)
    if kind == NAMES:
        return trim_texts(as_texts(column, path=source, name=name)).dictionary_encode()
    if name == "probabilities":
        column = _parse_lists(column, source)
    if name == CHANGED and (found := as_changed(column)) is not None:
        column = pa.chunked_array([found])
    return column if kind is None else column.cast(kind)


def _parse_lists(column: pa.ChunkedArray, source: str) -> pa.ChunkedArray:
    """Return lists of numbers that a text format has written as texts."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    found: list[list[float] | None] = []
    for row, text in enumerate(column.to_pylist()):
        if text is None or not text.strip():
            found.append(None)
            continue
        numbers = _OF_NUMPY.sub(r"\1", text).strip()
        try:
            if numbers[:1] + numbers[-1:] != "[]":
                raise ValueError
            found.append([float(each) for each in numbers[1:-1].replace(",", " ").split()])
        except ValueError:
            raise InputError(
                f"{show_value(text)} is no list of numbers, such as [0.2, 0.8]; mend it, or leave "
                "the column out",
                path=source,
                row=f"row {row}",
                column="probabilities",
            ) from None
    return pa.chunked_array([pa.array(found, pa.list_(pa.float32()))])


def as_changed(column: pa.ChunkedArray) -> pa.Array | None:
    """Return what says which texts are reworded as booleans, null where a value is missing.

    Text formats know no types, and a table means the same in each. None if a value says neither
    yes nor no.
    """
    if pa.types.is_boolean(column.type):
        return column.combine_chunks()
    try:
        words = as_texts(column, path="")
    except InputError:
        return None
    right, bad = find_outcomes(pa.chunked_array([words]))
    missing = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(words), ""), True)
    is_missing = np.asarray(missing.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return pa.array(right, mask=is_missing) if is_missing[bad].all() else None


def _distinct(column: pa.ChunkedArray, source: str, name: str) -> tuple[pa.Array, list[str | None]]:
    """Return the values of a column, each once, and which of them each row has."""
    if pa.types.is_dictionary(column.type) and column.num_chunks == 1:
        chunk = column.chunk(0)
        return chunk.indices, as_texts(chunk.dictionary, path=source, name=name).to_pylist()
    encoded = as_texts(column, path=source, name=name).dictionary_encode()
    return encoded.indices, encoded.dictionary.to_pylist()


def _find_labels(table: pa.Table, answers: Sequence[str], source: str) -> list[str]:
    """Return all labels, sorted: each once, as gold labels spell it.

    Free texts are labels letter by letter where ``correct`` does not take other spellings for the
    same.
    """
    spellings: dict[str, str] = {}
    exact: set[str] = set()
    for name in answers:
        indices, values = _distinct(table[name], source, name)
        used = {values[place] for place in pc.unique(indices).drop_null().to_pylist()}
        found = sorted(value for value in used if value is not None)
        exact.update(found)
        for value in found:
            spellings.setdefault(answer_key(value), value)
    labels = sorted(spellings.values())
    if len(labels) == len(exact) or "correct" not in table.column_names:
        return labels
    marks = table["correct"]
    if len(answers) < 2:
        return sorted(exact)
    if not pa.types.is_boolean(marks.type):
        outcomes, bad = find_outcomes(marks)
        if bad.size:
            return sorted(exact)
        marks = pa.chunked_array([pa.array(outcomes)])
    gold, predicted = (_encode(table[name], labels, source, name).indices for name in answers)
    same = pc.fill_null(pc.equal(gold, predicted), False)
    agrees = pc.all(pc.equal(pa.chunked_array([same]), marks), min_count=0).as_py()
    return labels if agrees else sorted(exact)


def _encode(column: pa.ChunkedArray, labels: Sequence[str], source: str, name: str) -> pa.Array:
    """Return a column of labels as indices into all labels."""
    names = pa.array(labels, pa.string())
    if pa.types.is_dictionary(column.type) and column.num_chunks == 1:
        chunk = column.chunk(0)
        if chunk.type == NAMES and chunk.dictionary.equals(names):
            return chunk
    indices, values = _distinct(column, source, name)
    texts = pa.array(values, pa.string())
    # Letter by letter first: of free texts, several spellings may be labels.
    places = pc.coalesce(pc.index_in(texts, value_set=names), index_labels(texts, labels))
    made = places.take(indices)
    if made.null_count:
        lost = pc.and_(made.is_null(), texts.take(indices).is_valid())
        if pc.any(lost).as_py():
            unknown = texts.take(indices).filter(lost)[0].as_py()
            raise ValueError(
                f"{show_value(unknown)} is none of the labels {', '.join(labels[:20])}"
            )
    return pa.DictionaryArray.from_arrays(made, names)


def check_values(
    table: pa.Table,
    label_names: tuple[str, ...] | None,
    source: str,
    *,
    dropped: Mapping[str, int] | None = None,
) -> None:
    """Refuse a table without rows, and columns with values that are missing or do not fit."""
    if table.num_rows == 0:
        if dropped:
            reasons = ", ".join(f"{reason}: {n:,}" for reason, n in dropped.items())
            raise InputError(f"all items are left out ({reasons}): none is left", path=source)
        raise InputError("there are no predictions", path=source)
    for name in _WITHOUT_NULLS:
        if name in table.column_names and table[name].null_count:
            missing = say_count(table[name].null_count, "value is", "values are")
            raise InputError(
                f"{missing} missing; every row needs one",
                path=source,
                row=f"row {pc.index(pc.is_null(table[name]), pa.scalar(True)).as_py()}",
                column=name,
            )
    if "correct" not in table.column_names and table["gold"].null_count:
        raise InputError(
            f"{say_count(table['gold'].null_count, 'row has', 'rows have')} no gold label; leave "
            "such rows out, or say in a column correct which answers are right",
            path=source,
            column="gold",
        )
    if label_names is not None and len(set(label_names)) < len(label_names):
        raise InputError(f"two labels have the same name: {', '.join(label_names)}", path=source)
    if "probabilities" in table.column_names and label_names is not None:
        column = table["probabilities"]
        lengths = pc.fill_null(pc.list_value_length(column), len(label_names))
        if pc.any(pc.not_equal(lengths, len(label_names))).as_py():
            raise InputError(
                f"there are {len(label_names)} labels, and lists of another length",
                path=source,
                column="probabilities",
            )


def check_marks(table: pa.Table, label_names: tuple[str, ...] | None, source: str) -> None:
    """Refuse rows whose ``correct`` says otherwise than ``gold`` and ``predicted``."""
    if not {"gold", "predicted", "correct"} <= set(table.column_names):
        return
    columns = [table[name].combine_chunks() for name in ("gold", "predicted")]
    said = [answer_key(label) for label in columns[0].dictionary.to_pylist()]
    if not said:
        return
    kinds = np.append(np.unique(said, return_inverse=True)[1], -1)  # the last is for what is none
    gold, predicted = (kinds[np.asarray(pc.fill_null(each.indices, -1))] for each in columns)
    is_known = gold >= 0
    if label_names is None:
        labels = np.unique(gold[is_known])
        if labels.size > MOST_KINDS:
            return
        is_known &= np.isin(predicted, labels)
    correct = table["correct"].to_numpy()
    wrong = np.flatnonzero(is_known & ((gold == predicted) != correct))
    if wrong.size:
        row = int(wrong[0])
        shown = [show_value(table[name][row].as_py()) for name in ("gold", "predicted")]
        raise InputError(
            f"{'true' if correct[row] else 'false'} contradicts the gold label {shown[0]} and the "
            f"answer {shown[1]}, and {say_count(wrong.size, 'row does', 'rows do')} so of "
            f"{table.num_rows:,}; mend what is wrong, or leave out correct, or predicted",
            path=source,
            row=f"row {row}",
            column="correct",
        )


def check_likeliest(table: pa.Table, label_names: tuple[str, ...] | None, source: str) -> None:
    """Refuse answers of a classifier none of which is the label with the largest probability.

    Some need not be: where a model has several labels for one class, or a label needs more than
    half. But then those of one class at least are.
    """
    found = _find_unlikely(table, label_names)
    if label_names is None or found is None:
        return
    rows, values, codes = found
    if np.unique(codes).size < 2 or len(rows) < len(values):
        return
    likeliest = label_names[int(values[0].argmax())]
    raise InputError(
        f"{likeliest!r} is likeliest, and the answer {label_names[codes[0]]!r}; in none of "
        f"{rows.size:,} rows does the answer have the largest probability, so the labels "
        f"({', '.join(label_names[:20])}) are in another order, or the answers are others'; mend "
        "what is wrong, or leave out probabilities",
        path=source,
        row=f"row {rows[0]}",
        column="probabilities",
    )


def say_unlikely(
    table: pa.Table, label_names: tuple[str, ...] | None, source: str | Path
) -> list[str]:
    """Count the answers of a classifier that are not the label with the largest probability."""
    found = _find_unlikely(table, label_names)
    if found is None or not len(found[0]):
        return []
    rows, values, _ = found
    said = (
        f"Warning: {source}: in {len(rows):,} of {say_count(len(values), 'row')} the answer is not "
        "the label with the largest probability, as where a threshold decides, or labels are put "
        "together; if the answers are new, leave out the old probabilities."
    )
    return [said]


def _find_unlikely(
    table: pa.Table, label_names: tuple[str, ...] | None
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]] | None:
    """Return the rows with an unlikely answer, all probabilities, and the answers' labels.

    None if a row with both is not there.
    """
    if label_names is None or not {"predicted", "probabilities"} <= set(table.column_names):
        return None
    lists, answers = (table[name].combine_chunks() for name in ("probabilities", "predicted"))
    rows = np.flatnonzero(np.asarray(pc.and_(lists.is_valid(), answers.is_valid())))
    if not rows.size:
        return None
    values = np.asarray(lists.take(pa.array(rows)).flatten()).reshape(rows.size, -1)
    codes = np.asarray(answers.indices.take(pa.array(rows)))
    own = values[np.arange(rows.size), codes]
    return rows[own < values.max(axis=1)], values, codes


def find_labels(table: pa.Table) -> tuple[str, ...] | None:
    """Return the labels of a table that has marks, too; None if answers are no gold labels."""
    if not {"gold", "predicted", "correct"} <= set(table.column_names) or table["gold"].null_count:
        return None
    gold, predicted = (
        pc.unique(table[name].cast(pa.string())).drop_null() for name in ("gold", "predicted")
    )
    if len(gold) > MOST_KINDS or not pc.all(pc.is_in(predicted, value_set=gold)).as_py():
        return None
    is_missing = table["predicted"].is_null()
    if pc.any(pc.and_(is_missing, table["correct"])).as_py():
        return None  # the mark is of something that is not there
    return tuple(sorted(gold.to_pylist()))


def say_no_labels(table: pa.Table) -> str | None:
    """Say why answers are no labels to :func:`find_labels`, although they look like labels.

    They do if some are gold labels, or if all recur as often as these, such as numbers in the place
    of names. None if the answers are texts, or the gold labels are none.
    """
    if not {"gold", "predicted", "correct"} <= set(table.column_names):
        return None
    gold, predicted = (
        table[name].cast(pa.string()).combine_chunks() for name in ("gold", "predicted")
    )
    names = pc.unique(gold).drop_null()
    is_label = pc.is_in(predicted, value_set=names)
    if len(names) > MOST_KINDS:
        return None
    remedy = "leave empty what could not be parsed"
    if not pc.any(is_label, min_count=0).as_py():
        if not (_recur(gold) and _recur(predicted)):
            return None
        remedy = "write answers as the gold labels are written"
    others = pc.and_(predicted.is_valid(), pc.invert(is_label))
    n = pc.sum(others).as_py() or 0
    if n:
        row = pc.index(others, True).as_py()
        is_none = say_count(n, "answer is none", "answers are none")
        return (
            f"{is_none} of the gold labels (the first in row {row}, "
            f"{show_value(predicted[row].as_py())}; {remedy})"
        )
    if gold.null_count:
        return f"{say_count(gold.null_count, 'row has', 'rows have')} no gold label"
    n = pc.sum(pc.and_(predicted.is_null(), table["correct"])).as_py() or 0
    return f"{say_count(n, 'answer is', 'answers are')} missing and marked as right" if n else None


def _recur(column: pa.Array) -> bool:
    """Whether values recur as often as those of classes do; others may be texts."""
    n = len(pc.unique(column).drop_null())
    return 1 < n <= MOST_KINDS and ROWS_OF_A_KIND * n <= len(column)


def check_unique(table: pa.Table, source: str) -> None:
    """Refuse the same item twice in one version of one classifier."""
    keys = [name for name in ("item", "version", *GROUPS, "copy") if name in table.column_names]
    counts = with_plain_types(table.select(keys)).group_by(keys).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts["count_all"], 1))
    if repeated.num_rows:
        first = repeated.select(keys).slice(0, 1).to_pylist()[0]
        shown = ", ".join(f"{name} {value!r}" for name, value in first.items())
        raise InputError(
            f"{say_count(repeated.num_rows, 'item occurs', 'items occur')} more than once in a "
            f"version: {shown}{', for one' if repeated.num_rows > 1 else ''}; each may occur once "
            "for each model",
            path=source,
        )


def check_gold_of_models(table: pa.Table, source: str, *, n_before: int = 0) -> None:
    """Refuse classifiers that have other gold labels for the same item and version.

    A version may set labels of its own, and a classifier may not: answers are compared by them.
    """
    groups = [name for name in GROUPS if name in table.column_names]
    if "gold" not in table.column_names or all(len(pc.unique(table[n])) < 2 for n in groups):
        return
    keys = [name for name in ("item", "version", "copy") if name in table.column_names]
    codes = pa.table({name: _codes_of(table[name]) for name in (*keys, "gold")})
    found = codes.group_by(keys).aggregate([("gold", "min_max")])
    differs = pc.not_equal(*found["gold_min_max"].combine_chunks().flatten())
    n = pc.sum(differs).as_py() or 0
    if not n:
        return
    case = found.slice(pc.index(differs, pa.scalar(True)).as_py(), 1).to_pylist()[0]
    rows = [
        next(row for row, each in enumerate(codes.to_pylist()) if each == wanted)
        for wanted in (
            {name: case[name] for name in keys} | {"gold": code}
            for code in case["gold_min_max"].values()
        )
    ]
    first, second = (
        {
            name: show_value(table[name][row].as_py())
            for name in (*groups, "gold", "item", "version")
        }
        for row in sorted(rows)
    )
    who = [", ".join(f"{name} {own[name]}" for name in groups) for own in (first, second)]
    more = f", and {n:,} answered texts differ so" if n > 1 else ""
    raise InputError(
        f"item {second['item']} has in version {second['version']} the gold label {second['gold']} "
        f"for {who[1]}, and {first['gold']} for {who[0]}{more}; classifiers are compared on the "
        "same items: mend the labels, or, if these are other items, give them other names",
        path=source,
        row=f"row {max(rows) - n_before}",
        column="gold",
    )


def _codes_of(column: pa.ChunkedArray) -> pa.Array:
    """Return numbers in the place of names, which Arrow compares faster."""
    values = column.combine_chunks()
    return values.indices if pa.types.is_dictionary(values.type) else values
