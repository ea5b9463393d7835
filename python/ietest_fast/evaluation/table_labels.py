"""The answers of a long table held against its gold labels, by the rules that logs are read by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.labels import NLI_LABELS, answer_key
from ietest_fast.errors import InputError
from ietest_fast.evaluation.answer_labels import (
    encode_answers,
    encode_gold,
    find_names,
    say_numbers,
)
from ietest_fast.evaluation.readers import Answers
from ietest_fast.evaluation.schema import MOST_KINDS, OF_NONE
from ietest_fast.plurals import say_count
from ietest_fast.values import as_texts, show_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Predictions


_MARKS = "where answers are no labels, add a column correct that says which are right"
_MARKS_ALONE = "add a column correct that says which answers are right"
_NUMBERS_HINT = f"Write the labels' names in the place of the numbers; {_MARKS}"
_UNKNOWN_HINT = (
    "write answers as the gold labels are written; leave the field of an answer empty that could "
    f"not be parsed, and it counts as wrong; {_MARKS}"
)


def with_known_answers(predictions: Predictions) -> Predictions:
    """Return predictions whose answers are labels or missing, so that no spelling makes one
    wrong.
    """
    names = predictions.columns
    if predictions.label_names is not None or "correct" in names or "predicted" not in names:
        return predictions
    gold, predicted = (_kinds(predictions, name) for name in ("gold", "predicted"))
    if len(gold) > MOST_KINDS or _is_sound(gold, predicted):
        return predictions
    return _encode(predictions)


def say_known_numbers(predictions: Predictions) -> tuple[str, ...]:
    """Say of numbers in a long table what ``eval`` says, which are no gold label or mean
    another.
    """
    own = predictions.columns
    if predictions.label_names is not None or "correct" in own or "predicted" not in own:
        return ()
    wanted, given = (_kinds(predictions, name) for name in ("gold", "predicted"))
    kinds = wanted | (given - (OF_NONE - wanted))
    if len(kinds) > MOST_KINDS or not wanted or not all(map(_is_number, kinds)):
        return ()
    names = tuple(str(number) for number in sorted(set(map(int, kinds))))
    numbered = []
    for group in predictions.groups:
        classifier = predictions.select(**group) if group else predictions
        for version in classifier.versions:
            part = classifier.select(version=version)
            gold, codes = (
                np.array([_place(value, names) for value in _texts(part, name).to_pylist()], "int8")
                for name in ("gold", "predicted")
            )
            log = replace(_as_log(part), version=version)
            numbered.append((log, gold, codes))
    return tuple(say_numbers(numbered, names, remedy=_MARKS_ALONE))


def _place(value: str | None, names: tuple[str, ...]) -> int:
    """Return the place of a number among others, -1 if it is none of them."""
    key = "" if value is None else answer_key(value)
    name = str(int(key)) if _is_number(key) else key
    return names.index(name) if name in names else -1


def _kinds(predictions: Predictions, name: str) -> set[str]:
    """Return what tells the labels of a column apart."""
    found = pc.unique(_texts(predictions, name)).drop_null().to_pylist()
    return {answer_key(value) for value in found}


def _texts(predictions: Predictions, name: str) -> pa.Array:
    return as_texts(predictions.table[name], path=predictions.source, name=name)


def _is_sound(gold: set[str], predicted: set[str]) -> bool:
    """Whether all answers are gold labels, or nothing shows what other labels there are."""
    others = predicted - gold
    if not others:
        is_label = bool(gold & predicted & OF_NONE) and gold.isdisjoint(NLI_LABELS)
        return is_label or gold.isdisjoint(OF_NONE)
    is_alone = len(gold) == 1 and gold.isdisjoint({*NLI_LABELS, *OF_NONE})
    return is_alone and others.isdisjoint(OF_NONE) and not any(map(_is_number, predicted | gold))


def _is_number(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def _encode(predictions: Predictions) -> Predictions:
    """Return predictions with the labels that eval finds in the same columns."""
    table = predictions.table
    answers = _as_log(predictions)
    given, version = _texts(predictions, "predicted"), _texts(predictions, "version")
    parts = [
        replace(answers, predicted=pa.chunked_array([given.filter(pc.equal(version, name))]))
        for name in predictions.versions
    ]
    names = find_names(answers, [answers, *parts], remedy=_NUMBERS_HINT)
    gold = encode_gold(answers, names).codes
    _check_gold(predictions, np.flatnonzero(gold < 0))
    found = encode_answers(answers, names, remedy=_UNKNOWN_HINT)
    labels = pa.array(names, pa.string())
    for name, codes in (("gold", gold), ("predicted", found)):
        indices = pa.array(codes.astype(np.int32), mask=codes < 0)
        place = table.column_names.index(name)
        table = table.set_column(place, name, labels.take(indices))
    return replace(predictions, table=table)


def _as_log(predictions: Predictions) -> Answers:
    return Answers(
        path=Path(predictions.source),
        name=predictions.source,
        items=None,
        gold=pa.chunked_array([_texts(predictions, "gold")]),
        predicted=pa.chunked_array([_texts(predictions, "predicted")]),
        gold_column="gold",
        predicted_column="predicted",
    )


def _check_gold(predictions: Predictions, missing: NDArray[Any]) -> None:
    """Refuse rows whose gold label is a sign that there is none: every answer would be wrong."""
    if not missing.size:
        return
    row = int(missing[0])
    sign = show_value(predictions.table["gold"][row].as_py())
    raise InputError(
        f"{say_count(missing.size, 'row has', 'rows have')} no gold label: {sign} stands for none; "
        "leave such rows out, or say in a column correct which answers are right",
        path=predictions.source,
        row=f"row {row}",
        column="gold",
    )
