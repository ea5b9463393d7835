"""Answers to wordings, with the amount of data that each classifier has seen."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.amounts import AMOUNT, Amounts, format_amount
from ietest_fast.evaluation.consistency_profile import name_group
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.predictions import Predictions


def note_amounts(
    answers: Sequence[ConsistencyAnswers],
    amounts: Sequence[float],
    *,
    of: str | None = None,
    in_percent: bool = False,
) -> tuple[ConsistencyAnswers, ...]:
    """Note how much data each classifier has seen: all of them are one curve."""
    names = [name_group(group) for each in answers for group in each.predictions.groups]
    if len(amounts) != len(names):
        raise InputError(
            f"there {'is' if len(amounts) == 1 else 'are'} {say_count(len(amounts), 'amount')} for "
            f"{say_count(len(names), 'classifier')}; give one for each, in "
            f"the order of {', '.join(map(repr, names))}"
        )
    by_model = dict(zip(names, amounts, strict=True))
    said = [_say_other_amounts(each, by_model, of) for each in answers]
    noted = _with_curve(answers, Amounts(of=of or AMOUNT, by_model=by_model, in_percent=in_percent))
    return tuple(
        replace(each, run=replace(each.run, warnings=(*each.run.warnings, *own)))
        for each, own in zip(noted, said, strict=True)
    )


def _say_other_amounts(
    answers: ConsistencyAnswers, given: Mapping[str, float], of: str | None
) -> list[str]:
    """Say where a file has noted other amounts, or has a column of their name that says so."""
    own = {name: n for curve in answers.run.curves for name, n in curve.by_model.items()}
    if of is not None and of in answers.predictions.extra_columns:
        with contextlib.suppress(InputError):
            own |= read_amounts_of(answers, of)
    return [
        f"Warning: {answers.predictions.source}: the amount of {name or 'the classifier'} is "
        f"{format_amount(n)} there, and {format_amount(given[name])} is given, which counts."
        for name, n in own.items()
        if name in given and n != given[name]
    ]


def read_amounts(
    answers: Sequence[ConsistencyAnswers], column: str, *, of: str | None = None
) -> tuple[ConsistencyAnswers, ...]:
    """Note how much data each classifier has seen, as a column of the answers says."""
    found: dict[str, float] = {}
    for each in answers:
        found |= read_amounts_of(each, column)
    return _with_curve(answers, Amounts(of=of or column, by_model=found))


def read_amounts_of(answers: ConsistencyAnswers, column: str) -> dict[str, float]:
    """Read how much data each classifier of a file has seen, by its name."""
    found = {}
    for group in answers.predictions.groups:
        own = answers.predictions.select(**group) if group else answers.predictions
        found[name_group(group)] = read_amount(own, column, name_group(group))
    return found


def read_amount(predictions: Predictions, column: str, name: str = "") -> float:
    """Read how much data a classifier has seen, as a column of its answers says."""
    table = predictions.table
    if column not in table.column_names:
        raise InputError(
            f"has no such column of amounts; it has {', '.join(table.column_names)}",
            path=predictions.source,
            column=column,
        )
    whose = f" of {name}" if name else ""
    try:
        values = pc.unique(pc.cast(table[column].combine_chunks(), pa.float64())).to_pylist()
    except pa.ArrowException as error:
        raise InputError(
            f"holds {table[column].type}; amounts are numbers",
            path=predictions.source,
            column=column,
        ) from error
    if len(values) != 1:
        raise InputError(
            f"holds {len(values):,} different amounts in the rows{whose}; a classifier has seen "
            "one amount of data",
            path=predictions.source,
            column=column,
        )
    amount = values[0]
    if amount is None or not 0 < amount < math.inf:
        raise InputError(
            f"holds {amount!r} in the rows{whose}; an amount is a number above 0",
            path=predictions.source,
            column=column,
        )
    return float(amount)


def check_curve(amounts: Amounts) -> None:
    """Refuse amounts that make no curve: of one classifier only, or of two with the same amount."""
    if len(amounts.by_model) < 2:
        raise InputError("a curve over amounts needs two classifiers or more")
    by_amount: dict[float, str] = {}
    for name, amount in amounts.by_model.items():
        if amount in by_amount:
            raise InputError(
                f"{by_amount[amount]} and {name} have the same amount, "
                f"{format_amount(amount, in_percent=amounts.in_percent)}; a curve has one "
                "classifier for each amount"
            )
        by_amount[amount] = name


def _with_curve(
    answers: Sequence[ConsistencyAnswers], amounts: Amounts
) -> tuple[ConsistencyAnswers, ...]:
    check_curve(amounts)
    # The whole curve stands in the first file alone.
    curves: list[tuple[Amounts, ...]] = [(amounts,)]
    curves += [()] * (len(answers) - 1)
    return tuple(
        replace(each, run=replace(each.run, curves=own))
        for each, own in zip(answers, curves, strict=True)
    )
