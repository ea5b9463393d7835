"""From the answers that stand in logs to labels."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.answers.readers.base import Log
from ietest_fast.answers.schema import MOST_KINDS, OF_NONE
from ietest_fast.corpus.labels import (
    NLI_LABELS,
    TWO_LABELS,
    EncodedLabels,
    UnknownLabelError,
    answer_key,
    check_label_names,
    encode_labels,
    is_integer,
    label_key,
)
from ietest_fast.errors import InputError
from ietest_fast.models.label_map import find_better_permutation, is_better
from ietest_fast.numerals import say_count
from ietest_fast.values import as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.answers.table import Predictions


Unparsed = Literal["wrong", "drop", "error"]

_NUMBER = r"^\s*[-+]?\d+(\.0*)?\s*$"
_STEPS = (1, -1)  # how much higher numbers are that are counted from another one
_NUMBERS_HINT = (
    "If it says which answers are right, name it with --correct-columns; if the numbers count the "
    "labels from 0, name these in their order with --labels"
)
_UNKNOWN_HINT = (
    "name all labels with --labels if the gold labels lack one; --unparsed wrong or drop takes "
    "what is no label for an answer that could not be parsed"
)


def check_names(names: Sequence[str]) -> None:
    """Refuse names of labels that are fewer than two, empty, or the same."""
    try:
        check_label_names(names)
    except InputError as error:
        raise InputError(
            f"labels need at least two different names, none of them empty: {error}"
        ) from error
    if len(names) < 2:
        raise InputError(f"labels need at least two different names, not {show_value(list(names))}")


def encode_gold(answers: Log, names: Sequence[str] | None) -> EncodedLabels:
    """Return the gold labels of a log as indices; -1 where a row has none."""
    assert answers.gold is not None  # noqa: S101 - the caller has seen to it
    return _encode_column(answers.gold, names, answers.path, answers.gold_column)


def _encode_column(
    values: pa.ChunkedArray,
    names: Sequence[str] | None,
    path: Path,
    column: str,
    *,
    remedy: str | None = None,
) -> EncodedLabels:
    try:
        return encode_labels(values, label_names=names, is_pair=False)
    except UnknownLabelError as error:
        said = f"{error} ({remedy})" if remedy is not None else str(error)
        raise InputError(said, path=path, row=f"row {error.row}", column=column) from error


def has_numbers(gold: Log) -> bool:
    """Whether gold labels are numbers, or nothing is known of them, so that answers may be some."""
    known = encode_gold(gold, None).names
    return not known or any(_are_numbers({name}) for name in known)


def find_names(
    gold: Log,
    answers: Sequence[Log],
    *,
    unparsed: Unparsed = "error",
    remedy: str = _NUMBERS_HINT,
) -> tuple[str, ...]:
    """Find the labels' names in the gold labels and the predictions of several logs.

    Integers are NLI's if NLI's names stand elsewhere, or if 0, 1, 2 are all there are; a task
    with two classes or with five has 0 and 1, too. A number that no gold label reaches is no
    label.
    """
    names = encode_gold(gold, None).names
    unless = "; --unparsed wrong takes them for no answers" if remedy == _NUMBERS_HINT else ""
    known = {label_key(name) for name in names}
    may_be_numbers = has_numbers(gold)
    predicted: set[str] = set()
    own: list[set[str]] = []
    for each in answers:
        found = _values(each)
        predicted |= found
        own.append(found)
        numbers = {name for name in found if _are_numbers({name.removeprefix("+")})}
        if not may_be_numbers and numbers and (unparsed == "error" or numbers == found):
            raise InputError(
                f"holds numbers ({', '.join(sorted(numbers)[:4])}), but gold labels are names "
                f"({', '.join(names[:4])}). {remedy}{'' if numbers == found else unless}",
                path=each.path,
                column=each.predicted_column,
            )
    seen = known | predicted
    numbers = {name for name in seen if _are_numbers({name})}
    if not known <= numbers:
        return NLI_LABELS if known & set(NLI_LABELS) and not known & set(TWO_LABELS) else names
    if len(set(map(int, known))) < len(known):
        return names  # 1 and 01
    for each, found in zip(answers, own, strict=True):
        _check_first_number(known, found, each)
    if seen == {"0", "1", "2"} or numbers < seen <= {"0", "1", "2", *NLI_LABELS}:
        return NLI_LABELS
    highest = max(map(int, known), default=0)
    within = {name for name in numbers if int(name) <= highest}
    return tuple(sorted({str(int(name)) for name in within}, key=int))


def _check_first_number(known: set[str], predicted: set[str], answers: Log) -> None:
    """Refuse answers that are right answers' numbers, each one higher or each one lower.

    A single version or file may be counted from another number, and never give one of the answers.
    """
    if not predicted or not _are_numbers(known | predicted) or len(known) < 2:
        return
    wanted, given = (sorted(map(int, names)) for names in (known, predicted))
    is_outside = given[0] < wanted[0] or given[-1] > wanted[-1]
    if is_outside and any(_are_shifted(given, wanted, step) for step in _STEPS):
        shown = [", ".join(map(str, numbers[:5])) for numbers in (wanted, given)]
        raise InputError(
            f"answers are {shown[1]}, and right answers {shown[0]}: is one of both counted from "
            "another number? If so, number both alike; if not, name all labels (--labels)",
            path=answers.path,
            column=answers.predicted_column,
        )


def _are_shifted(given: Collection[int], wanted: Iterable[int], step: int) -> bool:
    """Whether all answers are right answers' numbers that are a step higher."""
    return set(given) <= {number + step for number in wanted}


def say_numbers(
    numbered: Sequence[tuple[Log, NDArray[np.int8], NDArray[np.int8]]],
    names: tuple[str, ...],
    *,
    remedy: str = "name all labels (--labels)",
) -> list[str]:
    """Say which numbers are no gold label, and which would be right if they were taken
    otherwise.
    """
    if names == NLI_LABELS:
        are_numbers = all(_are_numbers(_values(answers)) for answers, _, _ in numbered)
        numbers = np.arange(len(names))
    else:
        are_numbers = _are_numbers(set(names))
        numbers = np.array([int(name) if are_numbers else 0 for name in names])
    if not are_numbers:
        return []
    known = np.unique(np.concatenate([gold[gold >= 0] for _, gold, _ in numbered]))
    given = np.concatenate([codes[codes >= 0] for _, _, codes in numbered])
    others = given[~np.isin(given, known)]
    path = numbered[0][0].path
    said = []
    if others.size:
        which = ", ".join(map(str, numbers[np.unique(others)].tolist()))
        said.append(
            f"Warning: {others.size:,} of {given.size:,} answers are no gold label ({which}; gold "
            f"labels are {', '.join(map(str, numbers[known].tolist()))}), and count as another "
            f"label, in {path}; are both counted from the same number?"
        )
    found: dict[str, list[tuple[Log, float, float]]] = {}
    for answers, gold, codes in numbered:
        is_given = (gold >= 0) & (codes >= 0)
        better = _find_better(gold[is_given], codes[is_given], numbers, numbers[known])
        if better is not None:
            how, now, then = better
            found.setdefault(how, []).append((answers, now, then))
    for how, versions in found.items():
        answers, now, then = versions[0]
        many = f", in {say_count(len(versions), 'version')}" if len(versions) > 1 else ""
        where = f"version {answers.version!r}" if answers.version else answers.predicted_column
        said.append(
            f"Warning: {answers.path}, {where}: {now:.1%} of the answers are right, but "
            f"{then:.1%} would be if {how}{many}? If so, number both alike; if not, {remedy}."
        )
    return said


def _find_better(
    gold: NDArray[np.int8], codes: NDArray[np.int8], numbers: NDArray[Any], known: NDArray[Any]
) -> tuple[str, float, float] | None:
    """Say how numbers are to be taken that significantly more are right, and both shares of them.

    Those that are counted from another number may lie outside the labels; others are exchanged.
    """
    if (codes == codes[:1]).all():
        return None  # of a collapsed model, another number is only another guess
    wanted, given = numbers[gold], numbers[codes]
    now = wanted == given
    for step in _STEPS:
        shifted = wanted == given - step
        if _are_shifted(given.tolist(), known.tolist(), step) and is_better(
            shifted, now, n_tried=len(_STEPS)
        ):
            size = "less" if step > 0 else "more"
            how = f"each number were {size} by one: is one of both counted from another number"
            return how, float(now.mean()), float(shifted.mean())
    better = find_better_permutation(gold, codes, len(numbers))
    if better is None:
        return None
    moved = [place for place, label in enumerate(better) if place != label]
    if len(moved) == 2:
        how = "{} and {} were exchanged".format(*numbers[moved])
    else:
        pairs = [f"{numbers[i]} stood for {numbers[better[i]]}" for i in moved if i in codes]
        how = ", ".join(pairs[:-1]) + f" and {pairs[-1]}" if len(pairs) > 1 else pairs[0]
    permuted = np.asarray(better)[codes] == gold
    how += ": do the numbers mean other labels in one of both"
    return how, float(now.mean()), float(permuted.mean())


def check_minus(gold: Log, answers: Sequence[Log], names: Sequence[str]) -> None:
    """Refuse labels of which one is written like the sign that a row has none: -1, 0, 1."""
    if tuple(names) == NLI_LABELS:
        return
    wanted, *given = (
        {answer_key(value) for value in pc.unique(texts).drop_null().to_pylist()}
        for texts in (
            as_texts(values, path=each.path)
            for each, values in ((gold, gold.gold), *((each, each.predicted) for each in answers))
            if values is not None
        )
    )
    predicted = set().union(*given)
    has_plus = not (wanted | predicted).isdisjoint({"+", "+1"})
    either = wanted | predicted if has_plus else wanted & predicted
    minus = next((sign for sign in ("-1", "-") if sign in either), None)
    if minus is None:
        return
    raise InputError(
        f"{minus!r} is among the labels, and means that there is none unless all are named: if it "
        f"is a label, add {shlex.quote(f'--labels={minus},' + ','.join(names))}; if not, leave the "
        "fields empty in which it stands",
        path=gold.path,
        column=gold.gold_column,
    )


def encode_predictions(
    answers: Log, names: tuple[str, ...], *, unparsed: Unparsed, may_be_numbers: bool
) -> NDArray[np.int8]:
    """Return the predictions of a log as indices; -1 where an answer is no label."""
    column = answers.predicted
    assert column is not None  # noqa: S101 - the caller has seen to it
    if unparsed != "error":
        texts = as_texts(column, path=answers.path, name=answers.predicted_column)
        known = find_known(texts, names).is_valid()
        if not may_be_numbers:
            known = pc.and_(known, pc.invert(pc.match_substring_regex(texts, _NUMBER)))
        column = pa.chunked_array([pc.if_else(known, texts, pa.scalar(None, pa.string()))])
    codes = encode_answers(replace(answers, predicted=column), names)
    missing = np.flatnonzero(codes < 0)
    if missing.size and unparsed == "error":
        raise InputError(
            f"{missing.size} of {codes.size} predictions are missing; every row needs one "
            "(--unparsed wrong counts a missing one as wrong, --unparsed drop leaves its item out)",
            path=answers.path,
            row=f"row {int(missing[0])}",
            column=answers.predicted_column,
        )
    return codes


def encode_answers(
    answers: Log, names: tuple[str, ...], *, remedy: str = _UNKNOWN_HINT
) -> NDArray[np.int8]:
    """Return the predictions of a log as indices; -1 where one is missing."""
    column = answers.predicted
    assert column is not None  # noqa: S101 - the caller has seen to it
    if answers.marks_column is not None:
        remedy = f"-C {answers.marks_column} compares which answers are right; {remedy}"
    where = answers.path, answers.predicted_column
    return _encode_column(column, names, *where, remedy=remedy).codes


def find_known(texts: pa.Array, names: Sequence[str]) -> pa.Array:
    """Return the place of each label among names, to which numbers may lead; null for any other."""
    encoded = texts.dictionary_encode()
    found: list[int | None] = []
    for value in encoded.dictionary.to_pylist():
        try:
            (code,) = encode_labels(
                pa.chunked_array([pa.array([value])]), label_names=names, is_pair=False
            ).codes.tolist()
        except UnknownLabelError:
            code = -1
        found.append(code if code >= 0 else None)
    return pa.array(found, pa.int32()).take(encoded.indices)


def _values(answers: Log) -> set[str]:
    """Return the distinct predictions of a log, case-folded; numbers as integers."""
    column = answers.predicted
    assert column is not None  # noqa: S101 - the caller has seen to it
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64())
        numbers = pc.if_else(pc.is_nan(numbers), None, numbers)  # a missing one, as a null is
        if not pc.all(pc.equal(pc.round(numbers), numbers), min_count=0).as_py():
            raise InputError(
                "holds numbers with decimals, which are no labels; `ietest-fast test` compares "
                "scores",
                path=answers.path,
                column=answers.predicted_column,
            )
    found = _encode_column(column, None, answers.path, answers.predicted_column)
    return {label_key(name) for name in found.names}


def _are_numbers(names: set[str]) -> bool:
    return all(map(is_integer, names))


# The answers of a long table held against its gold labels, by the rules that logs are read by.

_MARKS = "where answers are no labels, add a column correct that says which are right"
_MARKS_ALONE = "add a column correct that says which answers are right"
_WRITE_NAMES = f"Write the labels' names in the place of the numbers; {_MARKS}"
_WRITE_AS_GOLD = (
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
    if len(kinds) > MOST_KINDS or not wanted or not all(map(is_integer, kinds)):
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
    name = str(int(key)) if is_integer(key) else key
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
    return is_alone and others.isdisjoint(OF_NONE) and not any(map(is_integer, predicted | gold))


def _encode(predictions: Predictions) -> Predictions:
    """Return predictions with the labels that eval finds in the same columns."""
    table = predictions.table
    answers = _as_log(predictions)
    given, version = _texts(predictions, "predicted"), _texts(predictions, "version")
    parts = [
        replace(answers, predicted=pa.chunked_array([given.filter(pc.equal(version, name))]))
        for name in predictions.versions
    ]
    names = find_names(answers, [answers, *parts], remedy=_WRITE_NAMES)
    gold = encode_gold(answers, names).codes
    _check_gold(predictions, np.flatnonzero(gold < 0))
    found = encode_answers(answers, names, remedy=_WRITE_AS_GOLD)
    labels = pa.array(names, pa.string())
    for name, codes in (("gold", gold), ("predicted", found)):
        indices = pa.array(codes.astype(np.int32), mask=codes < 0)
        place = table.column_names.index(name)
        table = table.set_column(place, name, labels.take(indices))
    return replace(predictions, table=table)


def _as_log(predictions: Predictions) -> Log:
    return Log(
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
