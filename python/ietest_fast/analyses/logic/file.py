"""Answers to the questions of rules in a file, with what has to be known to measure them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.logic.rules import RULES
from ietest_fast.answers.file import (
    LOGIC,
    LOGIC_COLUMNS,
    NotedAnswers,
    Notes,
    Told,
    holds_logic,
    read_answers,
    write_answers,
)
from ietest_fast.answers.schema import GROUPS, plain_type
from ietest_fast.answers.table import ORIGINAL, Predictions
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.transform.numerical import NOT_TRUE, follow, without_mark
from ietest_fast.values import as_texts, rank_within, show_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


# The columns of answers to the suite logic.

ANTECEDENT, CONSEQUENT, CONTROL = "antecedent", "consequent", "control"
"""What a row is, in the column ``part``; rows of labelled pairs have no value there."""


# Whether a file of answers to the suite logic still says what was written.

_ANSWERS = ("gold", "predicted")
_PARTS = (ANTECEDENT, CONSEQUENT, CONTROL)

_P, _H = 0, 1
_REFLEXIVE = (((CONSEQUENT, _P), (CONSEQUENT, _H)),)
_SWAPPED = (((ANTECEDENT, _P), (CONSEQUENT, _H)), ((ANTECEDENT, _H), (CONSEQUENT, _P)))
_SAME_PREMISE = (((ANTECEDENT, _P), (CONSEQUENT, _P)),)
_SAME_HYPOTHESIS = (((ANTECEDENT, _H), (CONSEQUENT, _H)),)
_FIRST, _SECOND = f"{ANTECEDENT} 1", f"{ANTECEDENT} 2"
_CHAIN = (
    ((_FIRST, _P), (CONSEQUENT, _P)),
    ((_FIRST, _H), (_SECOND, _P)),
    ((_SECOND, _H), (CONSEQUENT, _H)),
)
# Which premises and hypotheses of an instance are one text, by rule.
_SAME = {
    "reflexive-premise": _REFLEXIVE,
    "reflexive-hypothesis": _REFLEXIVE,
    "symmetric-contradiction": _SWAPPED,
    "symmetric-neutral": _SWAPPED,
    "anti-symmetric": _SWAPPED,
    "consistency": _SWAPPED,
    "monotonic-entailment": _SAME_HYPOTHESIS,
    "monotonic-contradiction": _SAME_HYPOTHESIS,
    "and-intro": _SAME_PREMISE,
    "and-elim": _SAME_PREMISE,
    "or-intro": _SAME_PREMISE,
    "entailed-contradiction": _CHAIN,
    "transitivity": _CHAIN,
}
_THEN, _ALSO = f"{CONSEQUENT} 1", f"{CONSEQUENT} 2"
_AND, _OR, _NOT, _BEHIND = "and", "or", "not", "behind"
_LONGER = (((_THEN, _P), _BEHIND, (_FIRST, _P), None),)
# Which texts of an instance are made of which, by rule; None: of a sentence of another item.
_COMPOUNDS = {
    "monotonic-entailment": _LONGER,
    "monotonic-contradiction": _LONGER,
    "explosion": (((_THEN, _P), _BEHIND, (_FIRST, _P), (_FIRST, _H)),),
    "inclusion": (((_THEN, _P), _BEHIND, (_THEN, _H), (_ALSO, _H)),),
    "negation": (((_THEN, _H), _NOT, (_THEN, _P), (_THEN, _P)),),
    "and-intro": (((_THEN, _H), _AND, (_FIRST, _H), (_SECOND, _H)),),
    "and-elim": (((_FIRST, _H), _AND, (_THEN, _H), (_ALSO, _H)),),
    "and-elim-premise": (((_THEN, _P), _AND, (_THEN, _H), (_ALSO, _H)),),
    "or-intro": (((_THEN, _H), _OR, (_FIRST, _H), None),),
    "contraposition": (
        ((_THEN, _P), _NOT, (_FIRST, _H), (_FIRST, _H)),
        ((_THEN, _H), _NOT, (_FIRST, _P), (_FIRST, _P)),
    ),
}
# The same of control questions, by what they are; see Rule.
_SAME_IN_CONTROLS = {
    "exchange": (((CONSEQUENT, _P), (CONTROL, _P)),),
    "self": (((CONSEQUENT, _P), (CONTROL, _P), (CONTROL, _H)),),
    "contrary": (((CONSEQUENT, _H), (CONTROL, _H)),),
}


def check_answers(
    predictions: Predictions, *, rules: Collection[str], text_columns: Sequence[str], n_rows: int
) -> None:
    """Stop if rows, columns or values are not those of answers to the suite.

    Each value is checked by itself and against the others of its row, and each instance against its
    rule: the number of its questions, its source, that its antecedents hold, what is expected, and
    which texts are one. A question has one answer.
    """
    table, path = predictions.table, predictions.source
    lacking = [
        name
        for name in (*LOGIC_COLUMNS, *_ANSWERS, *text_columns)
        if name not in table.column_names
    ]
    if lacking:
        raise InputError(
            "there is no such column; ask the model again", path=path, column=lacking[0]
        )
    if table.num_rows != n_rows:
        raise InputError(
            f"has {table.num_rows:,} rows, and {n_rows:,} were written; ask the model again",
            path=path,
        )
    names = ("version", "part", "expected", *_ANSWERS)
    texts = {name: pc.fill_null(_cast(table, name, "string", path), "") for name in names}
    texts["place"] = _number_parts(table, texts, path)
    is_original = _mask(pc.equal(texts["version"], ORIGINAL))
    versions = pa.array([ORIGINAL, *rules])
    _check(_mask(pc.is_in(texts["version"], versions)), table, "version", path, "is no rule")
    is_part = _mask(pc.is_in(texts["part"], pa.array(_PARTS)))
    _check(is_part | is_original, table, "part", path, "is no part of an instance")
    for name, may_lack in (("instance", is_original), ("unit", np.zeros_like(is_original))):
        numbers = np.asarray(pc.fill_null(_cast(table, name, "int64", path), -1))
        _check((numbers >= 0) | may_lack, table, name, path, "is no number from 0 on")
    is_gold = _mask(pc.equal(texts["gold"], texts["predicted"]))
    is_right = np.where(is_original, is_gold, _are_expected(texts))
    _check(predictions.correct == is_right, table, "correct", path, "is not what the answer is")
    is_antecedent = _mask(pc.equal(texts["part"], ANTECEDENT)) & ~is_original
    complaint = "is not what the rule asks of an antecedent, so it does not apply here"
    _check(is_right | ~is_antecedent, table, "predicted", path, complaint)
    _check_instances(table, texts, path)
    _check_expected(table, texts, path)
    _check_texts(table, texts, text_columns, path)
    _check_compounds(table, texts, text_columns, path)
    _check_repeats(table, texts, text_columns, path)


def _check_instances(
    table: pa.Table, texts: Mapping[str, pa.ChunkedArray], path: str | None
) -> None:
    """Stop if an instance lacks a question, has one too many, or is of two sources."""
    who = [name for name in GROUPS if name in table.column_names]
    columns = {name: table[name].cast(plain_type(table[name].type)) for name in who}
    columns |= {name: _cast(table, name, "int64", path) for name in ("instance", "unit")}
    columns |= {part: pc.equal(texts["part"], part).cast("int64") for part in _PARTS}
    columns |= {"version": texts["version"], "row": pa.array(range(table.num_rows))}
    asked = pa.table(columns).filter(pc.is_in(texts["version"], pa.array(list(RULES))))
    found = asked.group_by([*who, "version", "instance"], use_threads=False).aggregate(
        [*((part, "sum") for part in _PARTS), ("row", "min"), ("unit", "min"), ("unit", "max")]
    )
    rules = [RULES[name] for name in found["version"].to_pylist()]
    n_antecedents = np.array([len(rule.antecedents) for rule in rules])
    n_consequents = np.array([len(rule.consequents) for rule in rules])
    n_controls = np.array([len(rule.consequents) * (rule.control is not None) for rule in rules])
    controls = np.asarray(found[f"{CONTROL}_sum"])
    is_whole = (
        (np.asarray(found[f"{ANTECEDENT}_sum"]) == n_antecedents)
        & (np.asarray(found[f"{CONSEQUENT}_sum"]) == n_consequents)
        & ((controls == 0) | (controls == n_controls))
    )
    is_of_one = np.asarray(found["unit_min"]) == np.asarray(found["unit_max"])
    for name, fits, complaint in (
        ("instance", is_whole, "lacks a question or has one too many"),
        ("unit", is_of_one, "has rows of different sources"),
    ):
        wrong = found.filter(pa.array(~fits))
        if wrong.num_rows:
            first = wrong.slice(0, 1).to_pylist()[0]
            raise InputError(
                f"the instance {first['instance']} of {first['version']} {complaint}; ask the "
                "model again",
                path=path,
                row=f"row {first['row_min']}",
                column=name,
            )
    _check_units(table, columns, who, path)


def _check_units(
    table: pa.Table, columns: Mapping[str, pa.ChunkedArray], who: Sequence[str], path: str | None
) -> None:
    """Stop if an item, which comes from one source, has several by what its rows say."""
    rows = pa.table({**columns, "item": as_texts(table["item"], path=path or "", name="item")})
    found = rows.group_by([*who, "item"], use_threads=False).aggregate(
        [("unit", "min"), ("unit", "max"), ("row", "min")]
    )
    wrong = found.filter(pc.not_equal(found["unit_min"], found["unit_max"]))
    if wrong.num_rows:
        first = wrong.slice(0, 1).to_pylist()[0]
        raise InputError(
            f"the item {first['item']} is of source {first['unit_min']} in some rows and of "
            f"{first['unit_max']} in others ({say_count(wrong.num_rows, 'such item')}); ask the "
            "model again",
            path=path,
            row=f"row {first['row_min']}",
            column="unit",
        )


def _check_expected(
    table: pa.Table, texts: Mapping[str, pa.ChunkedArray], path: str | None
) -> None:
    """Stop where a row expects what its rule does not ask for."""
    names = ["version", "part", "place", "expected"]
    said = pa.table({name: texts[name] for name in names})
    fits = np.ones(len(said), np.bool_)
    asked_for = said.filter(pc.not_equal(said["version"], ORIGINAL))
    for version, part, place, expected in {tuple(row.values()) for row in _distinct(asked_for)}:
        rule = RULES[version]
        is_negated = rule.is_negated and part != ANTECEDENT
        label = expected.removeprefix("not ") if is_negated else expected
        asked = rule.antecedents if part == ANTECEDENT else rule.consequents
        number = int(place.rpartition(" ")[2]) - 1
        if label_key(label) != asked[number] or is_negated == (label == expected):
            keys = zip(names, (version, part, place, expected), strict=True)
            fits &= ~np.logical_and.reduce([_mask(pc.equal(said[n], key)) for n, key in keys])
    _check(fits, table, "expected", path, "is not what the rule asks for")


def _number_parts(
    table: pa.Table, texts: Mapping[str, pa.ChunkedArray], path: str
) -> pa.ChunkedArray:
    """Return which antecedent of its instance a row is, or which consequent: *antecedent 2*.

    They are in the order in which they were asked, as their copies are numbered.
    """
    own = _with_models(table, {"instance": table["instance"], **texts})
    keys = [name for name in own.column_names if name not in {*_ANSWERS, "expected", "row"}]
    codes = np.zeros(len(own), np.int64)
    for name in keys:
        column = as_texts(own[name], path=path, name=name)
        column = column.dictionary_encode(null_encoding="encode")
        both = codes * len(column.dictionary) + np.asarray(column.indices)
        codes = np.unique(both, return_inverse=True)[1].reshape(-1)
    order = np.arange(len(own))
    if "copy" in table.column_names:
        order = np.argsort(np.asarray(table["copy"]), kind="stable")
    numbers = np.empty(len(own), np.int64)
    numbers[order] = rank_within(codes[order]) + 1
    number = pa.chunked_array([pa.array(numbers).cast(pa.string())])
    return pc.binary_join_element_wise(texts["part"], number, " ")


def _distinct(table: pa.Table) -> list[dict[str, str]]:
    found: list[dict[str, str]] = table.group_by(table.column_names).aggregate([]).to_pylist()
    return found


def _check_texts(
    table: pa.Table,
    texts: Mapping[str, pa.ChunkedArray],
    text_columns: Sequence[str],
    path: str | None,
) -> None:
    """Stop where an instance has two texts in places where its rule has the same one."""
    sides = [_cast(table, name, "large_string", path) for name in text_columns]
    instance = {"instance": table["instance"]}
    whole = [_with_models(table, instance | {"value": side}) for side in sides]
    for name, rule in RULES.items():
        is_own = pc.equal(texts["version"], name)
        for places in _SAME.get(name, ()) + _SAME_IN_CONTROLS.get(rule.control or "", ()):
            masks = [
                pc.and_(is_own, pc.equal(texts["part" if part in _PARTS else "place"], part))
                for part, _ in places
            ]
            cells = [whole[place[1]].filter(m) for place, m in zip(places, masks, strict=True)]
            said = f"an instance of {name} has {{}} and {{}}, where the rule has one text"
            _check_one(pa.concat_tables(cells), said, text_columns[places[-1][1]], path)


def _check_compounds(
    table: pa.Table,
    texts: Mapping[str, pa.ChunkedArray],
    text_columns: Sequence[str],
    path: str | None,
) -> None:
    """Stop where a compound is not of the sentences of its instance; capitals are not compared."""
    sides = {
        name: pc.fill_null(_cast(table, name, "large_string", path), "") for name in text_columns
    }
    whole = _with_models(table, {"instance": table["instance"], **sides})
    keys = [(name, "ascending") for name in whole.column_names if name not in {*sides, "row"}]
    for name, compounds in _COMPOUNDS.items():
        is_own = pc.equal(texts["version"], name)
        own = {
            place: whole.filter(pc.and_(is_own, pc.equal(texts["place"], place))).sort_by(keys)
            for place in (_FIRST, _SECOND, _THEN, _ALSO)
        }
        for (place, side), how, first, second in compounds:
            column = text_columns[side]
            one = own[first[0]][text_columns[first[1]]]
            two = None if second is None else own[second[0]][text_columns[second[1]]]
            whole_texts = own[place][column]
            row = _find_other(whole_texts, _compose(how, one, two), is_whole=second is not None)
            if row is not None:
                shown = (show_value(each[row].as_py()) for each in (whole_texts, one))
                raise InputError(
                    "an instance of {} has {}, where the rule makes a text of {}; ask the model "
                    "again".format(name, *shown),
                    path=path,
                    row=f"row {own[place]['row'][row].as_py()}",
                    column=column,
                )


def _find_other(texts: pa.ChunkedArray, wanted: pa.ChunkedArray, *, is_whole: bool) -> int | None:
    """Find the first text that is not the wanted one, or does not begin as it; None if all do."""
    pairs = (pc.utf8_lower(each).to_pylist() for each in (texts, wanted))
    for row, (text, own) in enumerate(zip(*pairs, strict=True)):
        if text != own and (is_whole or not text.startswith(own)):
            return row
    return None


def _compose(how: str, one: pa.ChunkedArray, two: pa.ChunkedArray | None) -> pa.ChunkedArray:
    """Write compounds, or how they begin where the second sentence is not known."""
    none = pa.scalar("", pa.large_string())
    if how == _BEHIND:
        return follow(one, none if two is None else two)
    if how == _NOT:
        start = pa.scalar(NOT_TRUE, pa.large_string())
        return pc.binary_join_element_wise(start, pc.utf8_trim_whitespace(one), none)
    left = without_mark(pc.utf8_trim_whitespace(one))
    right = none if two is None else pc.utf8_trim_whitespace(two)
    return pc.binary_join_element_wise(left, right, pa.scalar(f" {how} ", pa.large_string()))


def _check_repeats(
    table: pa.Table,
    texts: Mapping[str, pa.ChunkedArray],
    text_columns: Sequence[str],
    path: str | None,
) -> None:
    """Stop where a question has two answers: each different one was asked once."""
    columns = {name: _cast(table, name, "large_string", path) for name in text_columns}
    whole = _with_models(table, columns | {"value": texts["predicted"]})
    _check_one(whole, "these two texts have the answers {} and {}", "predicted", path)


def _with_models(table: pa.Table, columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """Return columns with those that part models, and the number of each row."""
    who = [name for name in GROUPS if name in table.column_names]
    own = {name: table[name].cast(plain_type(table[name].type)) for name in who}
    return pa.table(own | dict(columns) | {"row": pa.array(range(table.num_rows))})


def _check_one(table: pa.Table, complaint: str, column: str, path: str | None) -> None:
    """Stop where rows that are equal but for ``value`` and ``row`` have two values."""
    keys = [name for name in table.column_names if name not in {"value", "row"}]
    found = table.group_by(keys).aggregate([("value", "min"), ("value", "max"), ("row", "max")])
    wrong = found.filter(pc.not_equal(found["value_min"], found["value_max"])).sort_by("row_max")
    if wrong.num_rows:
        first = wrong.slice(0, 1).to_pylist()[0]
        values = (show_value(first[f"value_{name}"]) for name in ("min", "max"))
        raise InputError(
            f"{complaint.format(*values)}; ask the model again",
            path=path,
            row=f"row {first['row_max']}",
            column=column,
        )


def _are_expected(texts: Mapping[str, pa.ChunkedArray]) -> NDArray[np.bool_]:
    """Return whether each answer is the expected one; of a control question, whether it is not."""
    expected, predicted = texts["expected"], texts["predicted"]
    denied = pc.binary_join_element_wise("not", predicted, " ")
    is_met = pc.if_else(
        pc.starts_with(expected, "not "),
        pc.not_equal(expected, denied),
        pc.equal(expected, predicted),
    )
    met: NDArray[np.bool_] = _mask(is_met) ^ _mask(pc.equal(texts["part"], CONTROL))
    return met


def _cast(table: pa.Table, name: str, kind: str, path: str | None) -> pa.ChunkedArray:
    try:
        return table[name].cast(kind)
    except pa.ArrowException as error:
        held = table[name].type
        raise InputError(
            f"holds {held}, {kind} expected; ask the model again", path=path, column=name
        ) from error


def _mask(values: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(values, dtype=np.bool_)


def _check(
    fits: NDArray[np.bool_], table: pa.Table, name: str, path: str | None, complaint: str
) -> None:
    wrong = np.flatnonzero(~fits)
    if wrong.size:
        row = int(wrong[0])
        value = table[name][row].as_py()
        raise InputError(
            f"{show_value(value)} {complaint}; ask the model again",
            path=path,
            row=f"row {row}",
            column=name,
        )


@dataclass(frozen=True, kw_only=True)
class RuleOrigin(Told):
    """What the instances of a rule were found among."""

    n_items: int = 0
    """Labelled pairs of which candidates were made."""
    n_candidates: int = 0
    """Candidates: instances to which the rule applies if the classifier says so."""
    left_out: dict[str, int] = field(default_factory=dict)
    """What is not among them, by reason."""
    reason: str | None = None
    """Why the labels do not allow to ask for it; None if they do."""


@dataclass(frozen=True, kw_only=True)
class LogicNotes(Notes):
    """How answers to the suite came about; without `clusters` the premise tells sources apart."""

    kind = LOGIC
    what = "answers to the suite logic (ietest-fast stress --suite logic --out)"

    rules: dict[str, RuleOrigin]
    """By rule, what its instances were found among."""
    options: dict[str, int]
    """How candidates were found."""
    n_rows: int = 0
    """Rows of the table that was written."""


LogicAnswers = NotedAnswers[LogicNotes]
"""The long table has the labelled pairs (the version ``original``), and for each rule a version
with the questions of the instances to which it applies. Its further columns are ``instance``
(number of the instance), ``part`` (``antecedent``, ``consequent`` or ``control``), ``expected``
(what the rule asks for), ``unit`` (number of the source) and the texts. ``correct`` says whether
the answer is the one expected, and of control questions, whether it is another."""


def write_logic(answers: LogicAnswers, path: Path) -> None:
    """Write answers to a Parquet file, with the number of its rows."""
    notes = replace(answers.notes, n_rows=answers.predictions.table.num_rows)
    write_answers(replace(answers, notes=notes), path)


def read_logic(paths: Sequence[Path]) -> tuple[LogicAnswers, ...]:
    """Read files of answers to the suite, and check that they still say what was asked."""
    for path in paths:
        holds_logic(path)  # or has lost what tells how they came about
    found = read_answers(paths, LogicNotes)
    for each in found:
        told = each.notes
        check_answers(
            each.predictions, rules=told.rules, text_columns=told.text_columns, n_rows=told.n_rows
        )
    return tuple(found)
