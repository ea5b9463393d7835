"""The door for values: ids, scores, outcomes and numbers of other tools become this tool's types.

An id is a text, so that 1, 1.0 and "1" name the same item. An outcome is right, wrong or not there,
and there is one list of the words for each. A number is what :func:`as_numbers` takes for one.
Labels have a door of their own, :mod:`ietest_fast.corpus.labels`.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError, shorten_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

ID_COLUMNS = frozenset(
    {
        "id", "idx", "index", "item", "item_id", "doc_id", "example_id", "sample_id", "question_id",
        "pairid", "pair_id", "guid", "uid", "uuid", "row_id", "promptid", "prompt_id", "_id", "qid",
        "text_id", "sentence_id", "captionid", "tweet_id", "record_id",
    }
)  # fmt: skip
"""Names, case-folded, of columns that usually tell rows apart; others are known by their values."""
# Those of them which several rows share in published data.
_LIKE_ID = re.compile(r"(?i)(^|_)(id|idx|index|row|item)s?(_|$)|[a-z]ids?(_|$)")
_SHARED_IDS = frozenset(
    {"promptid", "prompt_id", "captionid", "text_id", "sentence_id", "question_id", "qid"}
)

_LIKE_LIST = re.compile(r"\s*[\[{].*[\]}]\s*$", re.DOTALL)
_LONGEST_LIST = 1000
_PRINTED = re.compile(r"\s*\[[-+.0-9e\s]+\]\s*")
_MOST_SHOWN = 60
_MOST_NAMES = 20
# The least share of rows whose texts stand elsewhere that is no chance: two texts may be reworded
# into each other.
LEAST_MOVED = 0.05
_ORIGINAL = "original"  # the version that others are compared with
_TRUE = frozenset({"true", "t", "yes", "right", "correct", "pass", "passed"})
_FALSE = frozenset({"false", "f", "no", "wrong", "incorrect", "fail", "failed"})

# What Python and Arrow take for numbers beside these (1_000, other scripts' digits) is a mistake.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


# Whole numbers as programs that write tables spell them.
_WHOLE = r"^\s*\+?(-?)0*([0-9]+)(?:\.0*)?\s*$"
# Soft hyphens, signs of no width, and marks of the order of bytes.
_UNSEEN = re.compile("[\\u00ad\\u200b-\\u200d\\u2060\\ufeff]")
_WITH_ZEROS = r"^([+-]?[0-9]+)\.0+$"


def parse_list(text: str) -> Any:
    """Return the list or object that a text spells in Python or JSON, or as NumPy prints one.

    None if it spells none, or is very long.
    """
    if len(text) > _LONGEST_LIST or not _LIKE_LIST.match(text):
        return None
    if _PRINTED.fullmatch(text):
        text = f"[{', '.join(text.strip()[1:-1].split())}]"
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return found if isinstance(found, (list, dict)) else None
    return None


def trim_texts(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Leave out blanks around names of groups of rows, and compose accents: nobody sees either."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return pc.utf8_normalize(pc.utf8_trim_whitespace(column), "NFC") if is_text else column


def as_seen(text: str) -> str:
    """Return a text as it is seen: with composed accents, without runs of blanks."""
    return " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", text)).split())


def are_ids(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether no value is missing or there twice."""
    if pa.types.is_nested(column.type) or column.null_count:
        return False
    return len(pc.unique(column)) == len(column)


def is_id_name(name: str) -> bool:
    """Whether a column is called as columns are that tell rows apart."""
    return name.casefold() in ID_COLUMNS


def is_like_id(name: str) -> bool:
    """Whether a column may tell rows apart by its name, such as pid or row_index."""
    return _LIKE_ID.search(name) is not None


def may_be_shared(name: str) -> bool:
    """Whether several rows share the ids of a column of this name in published data."""
    return name.casefold() in _SHARED_IDS


def pair_columns(names: Iterable[str], others: Iterable[str]) -> list[tuple[str, str]]:
    """Return which columns of two tables say the same of their rows.

    Columns of one name do, and so may any two that are called like ids, such as id and pid.
    """
    mine, theirs = list(names), list(others)
    ids = [
        [name for name in own if (is_id_name(name) or is_like_id(name)) and name not in other]
        for own, other in ((mine, theirs), (theirs, mine))
    ]
    return [(name, name) for name in mine if name in theirs] + list(
        itertools.product(ids[0], ids[1])
    )


def may_name_rows(name: str, column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether the same values in another order show that rows are in another order.

    So do those of a column that is called like an id, and of any with a quarter of its values
    distinct: of a few labels, two files may have equally many by chance.
    """
    if pa.types.is_nested(column.type):
        return False
    return is_id_name(name) or 4 * len(pc.unique(column)) >= len(column) > 0


def find_displaced(one: pa.Array, two: pa.Array) -> int | None:
    """Return the first row that shows that two columns of texts stand in different orders.

    They do if they have the same values, or if most of the texts that both have once, and not too
    few, stand in other rows: a transformation leaves many texts as they are, where they are. 007,
    7.0 and 7 are one value: programs that write tables change them.
    """
    one, two = (pc.utf8_lower(pc.fill_null(spell_whole(each), "")) for each in (one, two))
    if len(one) != len(two) or one.equals(two):
        return None
    if one.take(pc.sort_indices(one)).equals(two.take(pc.sort_indices(two))):
        return int(pc.index(pc.not_equal(one, two), True).as_py())
    shared = find_once(one)
    shared = shared.filter(pc.is_in(shared, find_once(two)))
    rows, others = (np.asarray(pc.index_in(shared, each)) for each in (one, two))
    moved = others[rows != others]
    if 2 * moved.size <= len(shared) or moved.size < max(2.0, LEAST_MOVED * len(one)):
        return None
    return int(moved.min())


def spell_whole(texts: pa.Array) -> pa.Array:
    """Write whole numbers among texts without zeros before them, and without .0 behind them."""
    return pc.replace_substring_regex(texts, _WHOLE, r"\1\2")


def find_once(column: pa.Array) -> pa.Array:
    """Return the texts that stand in a column once; numbers may be equal by chance."""
    counts = pc.value_counts(column)
    values = counts.field("values").filter(pc.equal(counts.field("counts"), 1))
    return values.filter(pc.match_substring_regex(values, r"\p{L}.*\p{L}"))


def as_texts(
    column: pa.Array | pa.ChunkedArray, *, path: str | Path, name: str | None = None
) -> pa.Array:
    """Return ids, versions or labels of any type as texts, in one piece; what is missing stays so.

    Numbers that are whole are written as integers, as 1 for 1.0.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        # Not all kinds of categories can be cast, and each value is looked at once.
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        parts = [
            as_texts(chunk.dictionary, path=path, name=name).take(chunk.indices) for chunk in chunks
        ]
        return pa.concat_arrays(parts) if parts else pa.array([], pa.string())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if is_bytes(kind) or pa.types.is_nested(kind):
        raise InputError(
            f"values are of type {kind}; expected texts or numbers", path=path, column=name
        )
    try:
        if pa.types.is_floating(kind):
            return _write_floats(column)
        if pa.types.is_decimal(kind):
            return _strip_decimals(column.cast(pa.string()))
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise InputError(
            f"values of type {kind} are no texts: {shorten_error(error)}", path=path, column=name
        ) from error


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a type holds bytes, which are no texts."""
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _write_floats(column: pa.Array) -> pa.Array:
    numbers = column.cast(pa.float64())
    numbers = pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    small = pc.less(pc.abs(numbers), float(2**53))
    are_whole = pc.and_(pc.equal(pc.round(numbers), numbers), small)
    if pc.all(are_whole, min_count=0).as_py():
        return numbers.cast(pa.int64()).cast(pa.string())
    texts = column.cast(common_type(column.type)).cast(pa.string())
    return pc.if_else(numbers.is_valid(), texts, None)


def _strip_decimals(texts: pa.Array) -> pa.Array:
    whole = pc.all(pc.match_substring_regex(texts, r"^[+-]?[0-9]+(\.0*)?$"), min_count=0).as_py()
    return pc.replace_substring_regex(texts, r"\.0*$", "") if whole else texts


def as_items(column: pa.Array | pa.ChunkedArray, *, path: str | Path, name: str) -> pa.Array:
    """Return names of items: integers as int64, anything else as texts that can be told apart.

    Blanks around a name, and the two ways of writing an accent, make no other item, nor does 1.0
    beside 1.
    """
    if pa.types.is_integer(column.type):
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if whole.type != pa.uint64():  # which need not be one
            return whole.cast(pa.int64())
    return spell_numbers(trim_texts(as_texts(column, path=path, name=name)))


def version_key(name: str) -> str:
    """Give what is the same of two names of a version: case and blanks around make no other."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def number_names(names: Iterable[str], *, taken: Iterable[str] = ()) -> list[str]:
    """Make names different, also as names of versions: the second ``a`` becomes ``a#2``."""
    used = set(map(version_key, taken))
    keys = []
    for name in names:
        key, number = name, 1
        while version_key(key) in used:
            number += 1
            key = f"{name}#{number}"
        used.add(version_key(key))
        keys.append(key)
    return keys


def find_twins(names: Iterable[str]) -> tuple[str, str] | None:
    """Find two different names that name the same version."""
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(version_key(name), name)
        if other != name:
            return other, name
    return None


def name_versions(
    column: pa.Array | pa.ChunkedArray, *, path: str | Path, name: str = "version"
) -> pa.Array:
    """Return names of versions as texts without blanks around them."""
    encoded = as_texts(column, path=path, name=name).dictionary_encode()
    found: dict[str, str] = {}
    names: list[str | None] = []
    for given in encoded.dictionary.to_pylist():
        if given is None:
            names.append(None)
            continue
        plain = unicodedata.normalize("NFC", given.strip())
        key = version_key(given)
        if found.setdefault(key, given) != given:
            raise InputError(
                f"{show_value(found[key])} and {show_value(given)} name the same version; write "
                "them alike",
                path=path,
                column=name,
            )
        names.append(_ORIGINAL if key == _ORIGINAL else plain)
    return pa.array(names, pa.string()).take(encoded.indices)


def read_ids(
    column: pa.Array | pa.ChunkedArray,
    *,
    path: str | Path,
    name: str | None = None,
    rows: NDArray[np.int64] | None = None,
) -> pa.Array:
    """Return ids as texts, by which 1 and "1" name the same row."""
    texts = trim_texts(as_texts(column, path=path, name=name))
    if are_ids(texts):
        return texts
    if texts.null_count:
        row = int(np.flatnonzero(texts.is_null().to_numpy(zero_copy_only=False))[0])
        row = row if rows is None else int(rows[row])
        raise InputError("a row has no id", path=path, row=f"row {row}", column=name)
    said = say_repeated(texts, rows=rows)
    raise InputError(
        f"{said}; give each row an id of its own, or remove what is there twice",
        path=path,
        column=name,
    )


def say_repeated(
    ids: pa.Array | pa.ChunkedArray, what: str = "id", *, rows: NDArray[np.int64] | None = None
) -> str | None:
    """Say which ids are there twice, and where if the numbers of their rows are known.

    None if there are none.
    """
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(repeated):
        return None
    first = repeated[0]["values"]
    shown = show_value(first.as_py())
    if rows is not None:
        places = rows[np.flatnonzero(pc.equal(ids, first).to_numpy(zero_copy_only=False))]
        more = "" if len(places) == 2 else f", and {len(places) - 2:,} more"
        shown += f" (rows {places[0]} and {places[1]}{more})"
    if len(repeated) == 1:
        return f"one {what} occurs more than once: {shown}"
    return f"{len(repeated):,} {what}s occur more than once, such as {shown}"


def say_written(mine: pa.Array, theirs: pa.Array) -> str:
    """Say that items are the same in two ways of writing, if they are, and what to do."""
    for how, read in (
        ("how numbers are written", lambda names: as_numbers(pa.chunked_array([names]))),
        ("case", lambda names: np.array([version_key(str(each)) for each in names.to_pylist()])),
    ):
        known, given = read(mine), read(theirs)
        if not (np.isin(known, given).all() or np.isin(given, known).all()):  # NaN is in neither
            continue
        one = int(np.flatnonzero(np.isin(known, given))[0])
        two = int(np.flatnonzero(given == known[one])[0])
        return (
            f"; they differ only in {how}, such as {show_value(mine[one].as_py())} and "
            f"{show_value(theirs[two].as_py())}: write them alike"
        )
    return ""


def match_ids(
    wanted: pa.ChunkedArray,
    given: pa.ChunkedArray,
    *,
    name: str,
    sources: tuple[str, str],
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    n_more: int = 0,
) -> pa.Array:
    """Return the row of `given` that each row of `wanted` is; both have the same ids.

    `given` may have so many more, such as those of rows without a label.
    """
    mine, theirs = (
        read_ids(column, path=path, name=name, rows=own)
        for column, path, own in zip((wanted, given), sources, rows, strict=True)
    )
    found = pc.index_in(mine, value_set=theirs)
    if found.null_count or len(theirs) not in {len(mine), len(mine) + n_more}:
        absent = mine.filter(found.is_null())
        which = f", such as {show_value(absent[0].as_py())}" if len(absent) else ""
        raise InputError(
            f"its {len(theirs):,} ids are not those of the {len(mine):,} rows of {sources[0]}: "
            f"{len(absent):,} of these are missing{which}; give the same rows the same ids",
            path=sources[1],
            column=name,
        )
    return found


def as_finite(value: object) -> float | None:
    """Give a number that a file holds; None for what is none, is not finite, or has no place here.

    JSON and TOML may hold integers of any length.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def with_common_types(table: pa.Table) -> pa.Table:
    """Cast what neither the core nor most of Arrow's functions take (:func:`common_type`)."""
    fields = [field.with_type(common_type(field.type)) for field in table.schema]
    schema = pa.schema(fields, table.schema.metadata)
    return table if schema.equals(table.schema) else table.cast(schema)


def common_type(kind: pa.DataType) -> pa.DataType:
    """Give large strings for views (polars' strings), and float32 for half floats."""
    if pa.types.is_dictionary(kind):
        plain = common_type(kind.value_type)
        return kind if plain == kind.value_type else pa.dictionary(kind.index_type, plain)
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.float32() if pa.types.is_float16(kind) else kind


def as_words(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Give texts and decimals as words without blanks around them; None for other types."""
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.utf8_trim_whitespace(column)
    return None


def as_numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Give every value as a number; NaN for what is none."""
    words = as_words(column)
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


def find_range(column: pa.ChunkedArray) -> tuple[float, float] | None:
    """Return the least and the largest number of a column; None if it has none."""
    numbers = as_numbers(column)
    known = numbers[np.isfinite(numbers)]
    return (float(known.min()), float(known.max())) if known.size else None


def find_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Say of each value whether it is missing: a null, NaN, or a text of either or of blanks."""
    missing: NDArray[np.bool_] = pc.is_null(column, nan_is_null=True).to_numpy().copy()
    words = as_words(column)
    if words is not None:
        is_empty = pc.is_in(pc.utf8_lower(words), value_set=pa.array(["", "nan"], words.type))
        missing |= is_empty.to_numpy()
    return missing


def name_groups(names: pa.Array) -> pa.Array:
    """Give names of groups of rows without blanks around them, and null where one is missing."""
    trimmed = trim_texts(names)
    missing = pa.array(find_missing(pa.chunked_array([trimmed])))
    return spell_numbers(pc.if_else(missing, pa.scalar(None, trimmed.type), trimmed))


def spell_numbers(names: pa.Array) -> pa.Array:
    """Give texts that are one number, such as 1 and 1.0, one name, as a column of numbers does."""
    if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
        return names
    encoded = names.dictionary_encode()
    known = encoded.dictionary
    plain = pc.replace_substring_regex(known, _WITH_ZEROS, r"\1")
    is_twice = pc.and_(pc.is_in(plain, value_set=known), pc.not_equal(plain, known))
    if not pc.any(is_twice, min_count=0).as_py():
        return names
    return pc.if_else(is_twice, plain, known).take(encoded.indices)


def find_outcomes(column: pa.ChunkedArray) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Say of each value whether it is a right one, and in which rows there is no outcome."""
    if pa.types.is_boolean(column.type) and column.null_count == 0:
        return np.asarray(column.to_numpy(), dtype=np.bool_), np.empty(0, dtype=np.int64)
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    # As a word a duration of 1 s is 1, and bytes need not be one.
    if pa.types.is_temporal(kind) or pa.types.is_nested(kind) or is_bytes(kind):
        return np.zeros(len(column), dtype=np.bool_), np.arange(len(column))
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
    encoded = words.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    # The last is for what is missing; 1.00 and 0e0 are outcomes, too.
    distinct = pa.array([*encoded.dictionary.to_pylist(), None], pa.string())
    numbers = as_numbers(pa.chunked_array([distinct]))
    said = distinct.to_pylist()
    right = (numbers == 1) | np.array([word in _TRUE for word in said], dtype=np.bool_)
    wrong = (numbers == 0) | np.array([word in _FALSE for word in said], dtype=np.bool_)
    return right[codes], np.flatnonzero(~right[codes] & ~wrong[codes])


def as_outcomes(
    column: pa.ChunkedArray, *, path: str | Path, name: str, threshold: float | None = None
) -> pa.Array:
    """Return outcomes, or scores of which a threshold makes some, as booleans.

    A missing one stays missing.
    """
    if threshold is None:
        right, bad = find_outcomes(column)
        expected = "outcome; expected 0 or 1, or true or false, or --threshold for other scores"
    else:
        scores = as_numbers(column)
        least = _round_as(threshold, column.type)
        right, bad = scores >= least, np.flatnonzero(~np.isfinite(scores))
        expected = "score; expected a number, as --threshold is given"
    missing = pc.is_null(column, nan_is_null=True).to_numpy().copy()
    for row in bad[~missing[bad]].tolist():
        value = column[row].as_py()
        if str(value).strip().casefold() not in {"", "nan"}:
            raise InputError(
                f"{show_value(value)} is no {expected}",
                path=path,
                row=f"row {row}",
                column=name,
            )
    missing[bad] = True
    return pa.array(right, mask=missing)


def _round_as(number: float, kind: pa.DataType) -> float:
    """Round a number as the values of a column were: 0.7 of 32 bits is less than 0.7 of 64."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_float16(kind) or pa.types.is_float32(kind)):
        return number
    with np.errstate(over="ignore"):  # no score of the column reaches it then
        return float(np.dtype(kind.to_pandas_dtype()).type(number))


def unwrap(value: Any) -> Any:
    """Return the one value of a list of one, however deep; anything else as it is."""
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return value


def as_text(value: Any) -> str | None:
    """Return a JSON value as a label: numbers as they are written, objects and lists as JSON."""
    value = unwrap(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def as_outcome(value: Any) -> bool | None:
    """Return whether a score says right or wrong; None for a score that is no outcome."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and value in {0, 1}:
        return bool(value)
    return None


def show_value(value: object) -> str:
    """Give a value of a file as messages show it: one line, which is not of any length."""
    if isinstance(value, (str, bytes)):
        shown = repr(value[: _MOST_SHOWN + 1])
        return shown if len(value) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    if isinstance(value, (list, dict, bool)) or value is None:
        try:
            shown = json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):
            shown = str(value)
    else:
        shown = " ".join(str(value).split())
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."


def show_names(names: Sequence[str], *, none: str = "no columns") -> str:
    """Give names of a file as messages show them: in a row, cut where there are too many."""
    shown = [show_value(name) for name in names[:_MOST_NAMES]]
    if len(names) > len(shown):
        shown.append(f"and {len(names) - len(shown)} more")
    return ", ".join(shown) if shown else none


def find_half(text: str) -> str | None:
    r"""Return the first half of a surrogate pair that stands alone, as ``\ud83d``, or None."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(text[error.start]):04x}"
    return None


def show_object(value: object) -> str:
    """Give what a function of a caller's has returned as messages show it: as Python writes it."""
    try:
        shown = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - anything may be wrong with somebody else's object
        shown = f"a {type(value).__name__}"
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."


def rank_within(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows of the same code stand before each row, int64 (n,)."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.searchsorted(ordered, ordered, side="left")
    ranks = np.empty(len(codes), np.int64)
    ranks[order] = np.arange(len(codes)) - first
    return ranks
