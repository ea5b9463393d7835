"""From the labels that stand in a file to small integers."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NLI_LABELS = ("entailment", "neutral", "contradiction")
"""Names of the labels 0, 1 and 2 of natural language inference."""

NOT_ENTAILED = frozenset({"not_entailment", "non-entailment", "not-entailment", "non_entailment"})
"""Names of the other label where there are two, as in HANS, RTE and their kin."""

MAX_LABELS = 127
"""Labels are int8."""

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
    """Labels of a column as integers.

    Parameters
    ----------
    codes
        int8 array (n,): index into ``names``, or -1 where the row has no label.
    names
        The labels' names.
    dropped
        How many rows have no label, by reason; reasons that did not occur are left out.
    """

    codes: NDArray[np.int8]
    names: tuple[str, ...]
    dropped: dict[str, int]


def encode_labels(
    column: pa.ChunkedArray, *, label_names: Sequence[str] | None, is_pair: bool
) -> EncodedLabels:
    """Map a column of labels, integers or names, to int8 codes.

    A label is first looked up among the names (case-folded), then, unless integers are among the
    names, read as an index into them. -1 and ``-`` mean that annotators did not agree on a label;
    a null, a NaN, an empty field and ``nan`` that there is none.

    Parameters
    ----------
    column
        Integers, integral floats, booleans or strings.
    label_names
        The names in order; None to use NLI's for pairs that are labelled so, and otherwise the
        distinct values in sorted order.
    is_pair
        Whether rows have two texts.

    Raises
    ------
    UnknownLabelError
        If a label is none of the names, or there are more than 127 of them.
    """
    # In one piece: Arrow cannot unify the dictionaries of several if a null is in them.
    encoded = _as_strings(column).combine_chunks().dictionary_encode(null_encoding="encode")
    values: list[str | None] = encoded.dictionary.to_pylist()
    indices = np.asarray(encoded.indices)

    if label_names is not None:
        names = tuple(str(name) for name in label_names)
    else:
        names = _find_names(values, is_pair=is_pair)
    if len(names) > MAX_LABELS:
        raise UnknownLabelError(
            0,
            f"there are {len(names)} different labels, such as {names[0]!r} and {names[-1]!r}, "
            f"and at most {MAX_LABELS} are possible; is this the column of labels?",
        )

    by_name = {_fold(name): code for code, name in enumerate(names)}
    # Where integers are names, one that is none of them is a mistake and no index.
    by_number = {int(name): code for code, name in enumerate(names) if _is_integer(name)}
    by_number = by_number or dict(enumerate(range(len(names))))
    codes_of_values = np.full(len(values), -1, np.int8)
    reasons: dict[str, list[int]] = {NO_GOLD_LABEL: [], LABEL_MISSING: []}
    unknown: list[int] = []
    for index, value in enumerate(values):
        code = by_name.get(_fold(value)) if value is not None else None
        if code is None and value is not None and _is_integer(value):
            code = by_number.get(int(value))
        if code is not None:
            codes_of_values[index] = code
        elif (reason := _absent(value)) is not None:
            reasons[reason].append(index)
        else:
            unknown.append(index)
    if unknown:
        row = int(np.argmax(np.isin(indices, unknown)))
        raise UnknownLabelError(row, _unknown_label(str(values[indices[row]]), names))

    counts = np.bincount(indices, minlength=len(values))
    dropped = {reason: int(counts[which].sum()) for reason, which in reasons.items() if which}
    codes = codes_of_values[indices] if values else np.empty(0, np.int8)
    return EncodedLabels(codes=codes, names=names, dropped=dropped)


def names_in_metadata(schema: pa.Schema, label_column: str) -> tuple[str, ...] | None:
    """Return the names of labels that the ``datasets`` library notes in its tables, if any."""
    try:
        features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
        names = features[label_column]["names"]
    except (KeyError, TypeError, ValueError):
        return None
    return tuple(str(name) for name in names) or None


def _as_strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):
        # pandas turns integers into floats as soon as one is missing.
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        whole = pc.equal(pc.round(column), column)
        if pc.all(whole).as_py() is False:
            row = pc.index(whole, pa.scalar(False)).as_py()
            raise UnknownLabelError(row, f"the label {column[row].as_py()!r} is not an integer")
        column = column.cast(pa.int64())
        kind = column.type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
        or _is_string(kind)
    ):
        raise UnknownLabelError(0, f"labels are integers or names, not of the type {kind}")
    return column.cast(pa.large_string())


def _is_string(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _fold(name: str) -> str:
    return name.strip().casefold()


def _absent(value: str | None) -> str | None:
    """Why a value is no label; None if it is one."""
    if value is None or _fold(value) in {"", "nan"}:
        return LABEL_MISSING
    if _fold(value) in {"-", "-1"}:
        return NO_GOLD_LABEL
    return None


def _is_integer(value: str) -> bool:
    return value.strip().removeprefix("-").isdecimal()


def _find_names(values: list[str | None], *, is_pair: bool) -> tuple[str, ...]:
    present = sorted(v.strip() for v in values if v is not None and _absent(v) is None)
    folded = {_fold(value) for value in present}
    if is_pair:
        if all(value.isdecimal() for value in folded):
            return NLI_LABELS
        if folded & set(NLI_LABELS) and not folded & NOT_ENTAILED:
            return NLI_LABELS
    if all(_is_integer(value) for value in present):
        return tuple(str(number) for number in sorted({int(value) for value in present}))
    # Of several spellings the last in order: "pos", not "Pos" or "POS".
    spellings = {_fold(value): value for value in present}
    return tuple(spellings[key] for key in sorted(spellings))


def _unknown_label(value: str, names: tuple[str, ...]) -> str:
    has_numbers = any(_is_integer(name) for name in names)
    expected = ", ".join(
        name if has_numbers else f"{code} {name}" for code, name in enumerate(names)
    )
    close = difflib.get_close_matches(_fold(value), [_fold(name) for name in names], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"unknown label {value!r}; expected one of: {expected}, or - or -1 for none{hint}"
