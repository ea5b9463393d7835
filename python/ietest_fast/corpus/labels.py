"""From the labels that stand in a file to small integers; the one place that compares labels.

Two spellings name the same label if :func:`label_key` gives the same for them: case, white space
around it, Unicode's several forms of a letter and other names of NLI's labels aside.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.columns import LABEL_COLUMNS, LABELS_BESIDE, NAMES_BESIDE, OTHER_TRUTHS
from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

NLI_LABELS = ("entailment", "neutral", "contradiction")
"""Names of the labels 0, 1 and 2 of natural language inference."""

NOT_ENTAILED = frozenset({"not_entailment", "non-entailment", "not-entailment", "non_entailment"})
"""Names of the other label where there are two, as in HANS, RTE and their kin."""

NOT_CONTRADICTED = frozenset(
    {"non-contradiction", "not_contradiction", "not-contradiction", "non_contradiction"}
)
"""Names of the other label where contradictions are to be detected."""

TWO_LABELS = ("not_entailment", "not_contradiction")
"""What :func:`label_key` calls a label that stands for two of NLI's."""

# Other names of NLI's labels, folded.
_ALIASES = (
    {
        "entail": "entailment",
        "entails": "entailment",
        "entailed": "entailment",
        "contradict": "contradiction",
        "contradicts": "contradiction",
        "contradictory": "contradiction",
    }
    | dict.fromkeys(NOT_ENTAILED, TWO_LABELS[0])
    | dict.fromkeys(NOT_CONTRADICTED, TWO_LABELS[1])
)

MAX_LABELS = 127
"""Labels are int8."""

_MOST_DIGITS = 18
_LONGEST_SHOWN = 80
# A number is another name of a label if it goes with another one in at most a quarter of the rows.
_FEW = 4
# A column nearly repeats labels if both have few values that agree so well, by Cohen's kappa and
# by kappa times the root of the number of rows, about normal where they have nothing in common.
_MOST_KINDS = 20
_LEAST_KAPPA = 0.5
_LEAST_Z = 2.5
# In names of columns that may say labels.
_LIKE_LABELS = re.compile(r"label|gold|target|truth|y_true|annotat|answer|correct", re.IGNORECASE)
_DECIMAL = re.compile(r"^\s*[-+]?\d+\.\d")
_FRACTION = re.compile(r"^([-+]?\d+)\.0*$")
_NUMBERED = re.compile(r"(?i)^(label|class)?[ _-]?\d+$")
_PLUS = re.compile(r"^\+(?=\d)")

_WHICH_IS_WRONG = (
    "leave out the column that is wrong, or give the names of 0, 1, ... in their order "
    "(label_names, --label-names)"
)

NO_GOLD_LABEL = "no gold label"
LABEL_MISSING = "label missing"
TEXT_MISSING = "text missing"


class UnknownLabelError(Exception):
    """A label that is none of the names; the reader adds file and line."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedLabels:
    """Labels of a column as integers."""

    codes: NDArray[np.int8]
    """int8 array (n,): index into ``names``, or -1 where the row has no label."""
    names: tuple[str, ...]
    """The labels' names."""
    dropped: dict[str, int]
    """How many rows have no label, by reason; reasons that did not occur are left out."""


def label_key(name: str) -> str:
    """Return what is the same for all spellings of a label.

    These are names that differ in case, in white space around them or in Unicode's form of a
    letter, and other names of NLI's labels: ``entailment``, ``neutral``, ``contradiction``,
    ``not_entailment`` and ``not_contradiction`` stand for all of theirs.
    """
    folded = _fold(name)
    return _ALIASES.get(folded, folded)


def check_label_names(names: Sequence[str]) -> None:
    """Stop unless each label has a name of its own; case and white space around it aside."""
    folded = [label_key(name) for name in names]
    for name, key in zip(names, folded, strict=True):
        if not key:
            raise InputError(f"label names: one of {show_value(list(names))} is empty")
        if folded.count(key) > 1:
            raise InputError(
                f"label names: {show_value(name)} is there {folded.count(key)} times; case, white "
                "space around it and other names of NLI's labels aside"
            )


def encode_labels(
    column: pa.ChunkedArray, *, label_names: Sequence[str] | None, is_pair: bool
) -> EncodedLabels:
    """Map a column of labels, integers or names, to int8 codes.

    A label is first looked up among the names (by :func:`label_key`), then, unless numbers are
    among the names, read as an index into them; ``1.0`` is the integer 1 where all labels are
    integers.
    -1 and ``-`` mean that annotators did not agree on a label; a null, a NaN, an empty field and
    ``nan`` that there is none.
    """
    # In one piece: Arrow cannot unify the dictionaries of several if a null is in them.
    encoded = _as_strings(column).combine_chunks().dictionary_encode(null_encoding="encode")
    values: list[str | None] = encoded.dictionary.to_pylist()
    indices = np.asarray(encoded.indices)
    # "1.0", which is how a column of integers is written once one of them is missing.
    plain = _without_fractions(values)

    if label_names is not None:
        names = tuple(str(name) for name in label_names)
        check_label_names(names)
    else:
        names = _find_names(plain, is_pair=is_pair)
    if len(names) > MAX_LABELS:
        raise UnknownLabelError(
            0,
            f"there are {len(names)} different labels, such as {show_value(names[0])} and "
            f"{show_value(names[-1])}, and at most {MAX_LABELS} are possible; is this the column "
            "of labels?",
        )

    by_name = {label_key(name): code for code, name in enumerate(names)}
    by_number = _find_numbers(names)
    codes_of_values = np.full(len(values), -1, np.int8)
    reasons: dict[str, list[int]] = {NO_GOLD_LABEL: [], LABEL_MISSING: []}
    unknown: list[int] = []
    for index, (value, number) in enumerate(zip(values, plain, strict=True)):
        code = None
        if value is not None and number is not None:
            bare = _PLUS.sub("", number)
            place = by_number.get(int(bare)) if is_integer(bare) else None
            code = by_name.get(label_key(value), by_name.get(label_key(number), place))
        if code is not None:
            codes_of_values[index] = code
        elif (reason := _absent(number)) is not None:
            reasons[reason].append(index)
        else:
            unknown.append(index)
    if unknown:
        row = int(np.argmax(np.isin(indices, unknown)))
        raise UnknownLabelError(row, _unknown_label(str(values[indices[row]]), names))

    counts = np.bincount(indices, minlength=len(values))
    dropped = {reason: int(counts[which].sum()) for reason, which in reasons.items() if which}
    return EncodedLabels(codes=codes_of_values[indices], names=names, dropped=dropped)


def _find_numbers(names: Sequence[str]) -> dict[int, int]:
    """Return the codes that numbers stand for, by number.

    Where integers are names, one that is none of them is a mistake and no index.
    """
    integers = [(int(name), code) for code, name in enumerate(names) if is_integer(name)]
    by_number = dict(integers)
    if len(by_number) < len(integers):
        return {}  # 01 and 1: the number does not say which
    if not integers and not any(map(_DECIMAL.match, names)):
        return {code: code for code in range(len(names))}
    return by_number


def index_labels(column: pa.Array | pa.ChunkedArray, names: Sequence[str]) -> pa.Array:
    """Return the place of each label among names, int32; null where it is none, or missing."""
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = texts.dictionary_encode()
    place_of = {answer_key(name): place for place, name in enumerate(names)}
    found = [
        None if value is None else place_of.get(answer_key(value))
        for value in encoded.dictionary.to_pylist()
    ]
    return pa.array(found, pa.int32()).take(encoded.indices)


def answer_key(name: str) -> str:
    """Return what is the same for all spellings of a label, 1 and 1.0 among them."""
    return label_key(_FRACTION.sub(r"\1", name.strip()))


def names_in_metadata(schema: pa.Schema, label_column: str) -> tuple[str, ...] | None:
    """Return the names of labels that the ``datasets`` library notes in its tables, if any."""
    try:
        features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
        names = features[label_column]["names"]
    except (KeyError, TypeError, ValueError):
        return None
    return tuple(str(name) for name in names) or None


def name_numbers(
    table: pa.Table, schema: pa.Schema, *, path: str | Path, n_before: int = 0
) -> pa.Table:
    """Return a table with the names of labels where the ``datasets`` library notes their
    numbers.
    """
    for place, column in enumerate(table.column_names):
        names = names_in_metadata(schema, column)
        if names is None:
            continue
        try:
            named = _name(table.column(place), names)
        except UnknownLabelError as error:
            row = f"row {n_before + error.row}"
            raise InputError(str(error), path=path, row=row, column=column) from None
        table = table.set_column(place, column, named)
    return table


def name_as_noted(
    table: pa.Table, column: str, wanted: Sequence[str] | None, *, is_told: bool = False
) -> tuple[pa.ChunkedArray, Sequence[str] | None]:
    """Return the labels of one table of several by name, where it notes names of its own.

    Two tables of one dataset may number the same names differently: the names count.
    """
    labels, noted = table.column(column), names_in_metadata(table.schema, column)
    if noted is None or wanted is None:
        return labels, noted if wanted is None else wanted
    are_numbers = any(all(map(_NUMBERED.match, names)) for names in (noted, wanted))
    if is_told and [*map(label_key, wanted)][: len(noted)] == [*map(label_key, noted)]:
        are_numbers = True
    return labels if are_numbers else _name(labels, noted), wanted


def name_by_column(
    table: pa.Table, labels: EncodedLabels, label_column: str, *, is_pair: bool
) -> tuple[str, ...]:
    """Return the names that a column beside the labels 0, 1, ... gives them; else their own."""
    names = labels.names
    are_numbers = bool(names) and all(map(is_integer, names))
    for column in NAMES_BESIDE if are_numbers else ():
        beside = _encode_beside(table, column, label_column, None)
        if beside is None or any(map(is_integer, beside.names)):
            continue
        name_of = _name_each(labels, beside, column)
        is_complete = names == tuple(map(str, range(len(names)))) and min(name_of) >= 0
        if is_complete and len(set(name_of)) == len(names):
            found = tuple(beside.names[place] for place in name_of)
            is_nli = is_pair and tuple(map(label_key, found)) == NLI_LABELS[: len(found)]
            return NLI_LABELS if is_nli else found
    return names


def _name_each(labels: EncodedLabels, beside: EncodedLabels, column: str) -> list[int]:
    """Return which name of a column each label has; -1 if none."""
    rows = np.flatnonzero((labels.codes >= 0) & (beside.codes >= 0))
    codes, named = labels.codes[rows], beside.codes[rows]
    places, first = np.unique(codes, return_index=True)
    name_of = np.full(len(labels.names), -1)
    name_of[places] = named[first]
    odd = np.flatnonzero(named != name_of[codes])
    if odd.size:
        code = codes[odd[0]]
        raise UnknownLabelError(
            int(rows[odd[0]]),
            f"the label {labels.names[code]} is {beside.names[named[odd[0]]]!r} by the column "
            f"{column}, and {beside.names[name_of[code]]!r} in another row; {_WHICH_IS_WRONG}",
        )
    found: list[int] = name_of.tolist()
    return found


def compare_labels(table: pa.Table, labels: EncodedLabels, label_column: str) -> None:
    """Refuse labels to which another column gives other names; other kinds of labels say nothing.

    Numbers may be named in another order than that of natural language inference.
    """
    codes, names = labels.codes, labels.names
    for name in LABELS_BESIDE:
        found = _encode_beside(table, name, label_column, names)
        if found is None:
            continue
        differs = (found.codes != codes) & (found.codes >= 0) & (codes >= 0)
        if differs.any():
            row = int(np.argmax(differs))
            raise UnknownLabelError(
                row,
                f"the label is {names[codes[row]]!r}, and {names[found.codes[row]]!r} by the "
                f"column {name}, and so in {say_count(int(differs.sum()), 'row')}; "
                f"{_WHICH_IS_WRONG}",
            )


def warn_of_other_labels(
    table: pa.Table, labels: EncodedLabels, label_column: str, *, source: str
) -> None:
    """Count the rows to which another column of right answers gives another label."""
    for name in OTHER_TRUTHS:
        own = _encode_beside(table, name, label_column, None)
        found = _encode_beside(table, name, label_column, labels.names)
        if own is None or found is None:
            continue
        are_places = all(map(is_integer, own.names)) and not any(map(is_integer, labels.names))
        both = (found.codes >= 0) & (labels.codes >= 0)
        if are_places and labels.names != NLI_LABELS:  # numbers in an order that is not known
            n = _count_odd(found.codes[both], labels.codes[both])
        else:
            n = int((found.codes != labels.codes)[both].sum())
        if n:
            warnings.warn(
                f"{source}: {name} is another label than {label_column} in "
                f"{say_count(n, 'row')} of {int(both.sum()):,}; {label_column} counts (name the "
                "column of labels: label_column, --label-column; or leave the wrong one out)",
                IetestWarning,
                stacklevel=2,
            )


def warn_of_places(
    table: pa.Table,
    label_column: str,
    labels: pa.ChunkedArray,
    names: Sequence[str],
    *,
    source: str,
) -> None:
    """Say which names numbers are taken for, where another part of a dataset has the names alone.

    NLI's order is known, and so is one that the file notes, or a column beside the labels.
    """
    keys = [label_key(name) for name in names]
    is_known = any(name in table.column_names for name in NAMES_BESIDE)
    is_known |= names_in_metadata(table.schema, label_column) is not None
    if is_known or keys == [*NLI_LABELS]:
        return
    kinds: list[str | None] = pc.unique(_as_strings(labels)).drop_null().to_pylist()
    said = [str(each) for each in _without_fractions(kinds)]
    if not said or not keys or not all(map(is_integer, said)) or any(map(is_integer, keys)):
        return
    read = ", ".join(f"{place} is {name}" for place, name in enumerate(names))
    warnings.warn(
        f"{source}: labels are numbers, and those of the rest of the data are names; {read} (in "
        "the order of the alphabet, unless the names were given: label_names, --label-names)",
        IetestWarning,
        stacklevel=2,
    )


def _count_odd(numbers: NDArray[Any], codes: NDArray[Any]) -> int:
    """Count rows in which a number stands beside another label than mostly; 0 if it has none."""
    pairs = np.zeros((len(codes) and int(numbers.max()) + 1, len(codes) and int(codes.max()) + 1))
    np.add.at(pairs, (numbers, codes), 1)
    n = int(len(codes) - pairs.max(axis=1, initial=0).sum())
    is_one_to_one = len(set(pairs.argmax(axis=1))) == len(pairs) if len(codes) else False
    return n if is_one_to_one and _FEW * n <= len(codes) else 0


def list_old_labels(table: pa.Table, label_column: str, text_columns: Sequence[str]) -> list[str]:
    """Name the columns that may still say the old labels once :func:`put_labels_beside` is done.

    Their names say so, or what they hold: but for some rows, one value beside each label.
    """
    new = {label_column, *LABEL_COLUMNS, *LABELS_BESIDE, *text_columns}
    labels = _encode_beside(table, label_column, "", None)
    found = []
    for name in table.column_names:
        if name in new:
            continue
        is_near = False
        if labels is not None and not pa.types.is_nested(table.schema.field(name).type):
            own = _encode_beside(table, name, label_column, None)
            is_near = own is not None and _are_near(labels, own)
        if is_near or _LIKE_LABELS.search(name):
            found.append(name)
    return found


def _are_near(labels: EncodedLabels, own: EncodedLabels) -> bool:
    """Whether values go with labels one to one in most rows, far beyond chance (Cohen's kappa)."""
    known = (labels.codes >= 0) & (own.codes >= 0)
    n_rows, sizes = int(known.sum()), (len(labels.names), len(own.names))
    if not n_rows or min(sizes) < 2 or max(sizes) > _MOST_KINDS:
        return False
    shares = np.zeros(sizes)
    np.add.at(shares, (labels.codes[known], own.codes[known]), 1 / n_rows)
    rows = np.flatnonzero(shares.sum(axis=1))
    partners = shares[rows].argmax(axis=1)
    if len(rows) < 2 or len({*partners}) < len(rows):
        return False
    by_chance = float(shares.sum(axis=1)[rows] @ shares.sum(axis=0)[partners])
    kappa = (float(shares[rows, partners].sum()) - by_chance) / (1 - by_chance)
    return kappa >= _LEAST_KAPPA and kappa * np.sqrt(n_rows) >= _LEAST_Z


def put_labels_beside(table: pa.Table, label_column: str, labels: pa.Array) -> pa.Table:
    """Put new labels in the columns beside that say the same as the old ones."""
    for name in (*LABEL_COLUMNS, *LABELS_BESIDE):
        if name == label_column or table.column_names.count(name) != 1:
            continue
        said = _say_beside(table, name, label_column, labels)
        if said is None:
            raise InputError(
                f"does not say the same as the column {label_column}, whose labels are set anew, "
                "and would contradict them; drop the column, or rename it if it is something else",
                column=name,
            )
        place = table.schema.get_field_index(name)
        table = table.set_column(place, pa.field(name, said.type), said)
    return table


def _say_beside(
    table: pa.Table, name: str, label_column: str, labels: pa.Array
) -> pa.Array | pa.ChunkedArray | None:
    """Return new labels as a column beside says the old ones; None if it says something else."""
    old = _encode_beside(table, label_column, name, None)
    own = _encode_beside(table, name, label_column, None)
    if old is None or own is None:
        return None
    kind = table.schema.field(name).type
    is_numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    wanted = kind if is_numeric or pa.types.is_null(kind) else pa.string()
    known = (old.codes >= 0) & (own.codes >= 0)
    codes = zip(old.codes[known].tolist(), own.codes[known].tolist(), strict=True)
    pairs = {(old.names[one], own.names[two]) for one, two in codes}
    if not pairs:
        return table.column(name).cast(wanted)
    if not _is_translation(pairs) or any(_DECIMAL.match(said) for _, said in pairs):
        return None
    if not all(is_integer(number) for _, number in pairs):
        return labels.cast(wanted)
    names = names_in_metadata(table.schema, name) or NLI_LABELS
    named = {str(place): label_key(each) for place, each in enumerate(names)}
    if any(answer_key(label) not in {number, named.get(number)} for label, number in pairs):
        return None
    numbers = index_labels(labels, names)
    return numbers.cast(wanted) if numbers.null_count == labels.null_count else None


def _is_translation(pairs: set[tuple[str, str]]) -> bool:
    """Whether each label has one name, and the same names are the same labels."""
    is_one_to_one = all(len({pair[side] for pair in pairs}) == len(pairs) for side in (0, 1))
    keys = [[label_key(pair[side]) for pair in pairs] for side in (0, 1)]
    if keys[0] == keys[1]:
        return is_one_to_one
    are_nli = all(set(NLI_LABELS).issuperset(side) for side in keys)  # none is another's name
    return is_one_to_one and not are_nli and set(keys[0]).isdisjoint(keys[1])


def _encode_beside(
    table: pa.Table, column: str, label_column: str, names: Sequence[str] | None
) -> EncodedLabels | None:
    """Encode another column of labels; None if there is none, or it has labels of another kind."""
    if column == label_column or table.column_names.count(column) != 1:
        return None
    try:
        return encode_labels(table.column(column), label_names=names, is_pair=False)
    except (UnknownLabelError, InputError):
        return None


def _name(labels: pa.ChunkedArray, names: Sequence[str]) -> pa.ChunkedArray:
    """Return the names of numbers; labels that are no numbers, and -1, as they are."""
    if pa.types.is_floating(labels.type):  # as pandas has integers of which one is missing
        labels = pc.if_else(pc.is_nan(labels), pa.scalar(None, labels.type), labels)
    elif not pa.types.is_integer(labels.type):
        return labels
    try:
        numbers = labels.cast(pa.int64())
    except pa.ArrowInvalid:  # fractions, which whoever reads labels refuses
        return labels
    known = pc.and_(pc.greater_equal(numbers, 0), pc.less(numbers, len(names)))
    odd = np.flatnonzero(pc.fill_null(pc.invert(pc.or_(known, pc.equal(numbers, -1))), False))
    if odd.size:
        raise UnknownLabelError(
            int(odd[0]),
            f"unknown label {numbers[odd[0]]}; the file names {', '.join(names)} as 0 to "
            f"{len(names) - 1}: correct the label, or the names in the file's metadata",
        )
    named = pc.take(pa.array(names), pc.if_else(known, numbers, None))
    return pc.coalesce(named, numbers.cast(pa.string()))


_TYPES_OF_LABELS = (
    *(pa.types.is_integer, pa.types.is_boolean, pa.types.is_null),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
)


def _as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = pa.chunked_array(
            [chunk.dictionary.take(chunk.indices) for chunk in column.chunks], kind.value_type
        )
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64(), safe=False)
    if pa.types.is_floating(column.type):
        # pandas turns integers into floats as soon as one is missing.
        column = column.cast(pa.float64())
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        whole = pc.and_(
            pc.equal(pc.round(column), column), pc.less(pc.abs(column), 10.0**_MOST_DIGITS)
        )
        if pc.all(whole).as_py() is False:
            row = pc.index(whole, pa.scalar(False)).as_py()
            raise UnknownLabelError(row, f"the label {column[row].as_py()!r} is not an integer")
        column = column.cast(pa.int64())
    if not any(is_one(column.type) for is_one in _TYPES_OF_LABELS):
        raise UnknownLabelError(0, f"labels are integers or names, not of the type {column.type}")
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        row = next(i for i, label in enumerate(column.cast(pa.large_binary())) if _is_broken(label))
        raise UnknownLabelError(row, "the label is not UTF-8") from error
    return column.cast(pa.large_string())


def _is_broken(label: pa.Scalar) -> bool:
    try:
        (label.as_py() or b"").decode()
    except UnicodeDecodeError:
        return True
    return False


def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFC", name.strip()).casefold()
    return unicodedata.normalize("NFC", plain)


def _absent(value: str | None) -> str | None:
    """Why a value is no label; None if it is one."""
    if value is None or _fold(value) in {"", "nan"}:
        return LABEL_MISSING
    if _fold(value) in {"-", "-1"}:
        return NO_GOLD_LABEL
    return None


def is_integer(value: str) -> bool:
    """Whether a label is an integer; with more digits it is a name, if anything."""
    digits = value.strip().removeprefix("-")
    return digits.isdecimal() and len(digits) <= _MOST_DIGITS


def _without_fractions(values: list[str | None]) -> list[str | None]:
    """Write whole numbers as integers, if all values but absent ones are whole numbers.

    Of numbers in several spellings, such as 1, +1 and 01, each is a name and stays as it is.
    """
    whole = [None if value is None else _FRACTION.sub(r"\1", value.strip()) for value in values]
    plain = [None if value is None else _PLUS.sub("", value) for value in whole]
    there = [value for value in plain if value is not None and _absent(value) is None]
    if not all(map(is_integer, there)):
        return values
    spellings = {value for value in whole if _absent(value) is None}
    return plain if len(set(map(int, there))) == len(spellings) else whole


def _find_names(values: list[str | None], *, is_pair: bool) -> tuple[str, ...]:
    present = sorted(v.strip() for v in values if v is not None and _absent(v) is None)
    numbers = sorted({int(value) for value in present if is_integer(value)})
    if all(map(is_integer, present)) and len(numbers) == len(set(present)):
        if is_pair and numbers == list(range(len(NLI_LABELS))):
            return NLI_LABELS
        return tuple(map(str, numbers))
    keys = {label_key(value) for value in present}
    if is_pair and keys & set(NLI_LABELS) and not keys & set(TWO_LABELS):
        return NLI_LABELS
    # Of several spellings the last in order: "pos", not "Pos" or "POS".
    spellings = {label_key(value): value for value in present}
    return tuple(spellings[key] for key in sorted(spellings))


def _unknown_label(value: str, names: tuple[str, ...]) -> str:
    has_numbers = any(is_integer(name) for name in names)
    shown = [name if len(name) <= _LONGEST_SHOWN else show_value(name) for name in names]
    expected = ", ".join(
        name if has_numbers else f"{code} {name}" for code, name in enumerate(shown)
    )
    close = difflib.get_close_matches(_fold(value), [_fold(name) for name in names], n=1)
    hint = f"; did you mean {show_value(close[0])}?" if close else ""
    return (
        f"unknown label {show_value(value)}; expected one of: {expected}, or - or -1 for none{hint}"
    )
