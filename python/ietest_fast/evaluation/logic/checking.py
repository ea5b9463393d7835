"""Whether a file of answers to the suite logic still says what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.logic.columns import ANTECEDENT, COLUMNS, CONSEQUENT, CONTROL
from ietest_fast.evaluation.predictions import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Predictions


def check_answers(
    predictions: Predictions, *, rules: Collection[str], text_columns: Sequence[str], n_rows: int
) -> None:
    """Stop if rows, columns or values are not those of answers to the suite.

    Parameters
    ----------
    predictions
        The long table.
    rules
        Their names.
    text_columns
        Columns of premises and of hypotheses.
    n_rows
        How many rows were written.

    Raises
    ------
    InputError
        With the first thing that is wrong.
    """
    table, path = predictions.table, predictions.source
    lacking = [name for name in (*COLUMNS, *text_columns) if name not in table.column_names]
    if lacking:
        raise InputError(
            "there is no such column; ask the model again", path=path, column=lacking[0]
        )
    if table.num_rows != n_rows:
        raise InputError(
            f"has {table.num_rows:,} rows, and {n_rows:,} were written; ask the model again",
            path=path,
        )
    version = _texts(table, "version")
    is_original = version == ORIGINAL
    _check(np.isin(version, [ORIGINAL, *rules]), table, "version", path, "is no rule")
    is_part = np.isin(_texts(table, "part"), [ANTECEDENT, CONSEQUENT, CONTROL])
    _check(is_part | is_original, table, "part", path, "is no part of an instance")
    for name, may_lack in (("instance", is_original), ("unit", np.zeros_like(is_original))):
        numbers = np.asarray(pc.fill_null(table[name].cast("int64"), -1))
        _check((numbers >= 0) | may_lack, table, name, path, "is no number from 0 on")
    is_right = np.where(is_original, _are_gold(table), _are_expected(table))
    _check(predictions.correct == is_right, table, "correct", path, "is not what the answer is")


def _are_gold(table: pa.Table) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = _texts(table, "gold") == _texts(table, "predicted")
    return same


def _are_expected(table: pa.Table) -> NDArray[np.bool_]:
    """Say of each answer whether it is the one expected, and of control questions another one."""
    expected, predicted = _texts(table, "expected"), _texts(table, "predicted")
    is_negated = np.char.startswith(expected, "not ")
    is_met = np.where(is_negated, expected != np.char.add("not ", predicted), expected == predicted)
    met: NDArray[np.bool_] = is_met ^ (_texts(table, "part") == CONTROL)
    return met


def _texts(table: pa.Table, name: str) -> NDArray[np.str_]:
    column = pc.fill_null(table[name].cast("string"), "")
    return np.array(column.to_pylist(), dtype=str)


def _check(
    fits: NDArray[np.bool_], table: pa.Table, name: str, path: str | None, complaint: str
) -> None:
    wrong = np.flatnonzero(~fits)
    if wrong.size:
        row = int(wrong[0])
        value = table[name][row].as_py()
        raise InputError(
            f"{value!r} {complaint}; ask the model again", path=path, row=f"row {row}", column=name
        )
