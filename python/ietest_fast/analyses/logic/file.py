"""Answers to the questions of rules in a file, with what has to be known to measure them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.analyses.logic.notes import LogicNotes
from ietest_fast.analyses.logic.rules import RULES, Text
from ietest_fast.answers.file import NotedAnswers, holds, read_answers, write_answers
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

    from ietest_fast.analyses.logic.rules import How, Rule

    Place = tuple[str, int]


# The columns of answers to the suite logic.

ANTECEDENT, CONSEQUENT, CONTROL = "antecedent", "consequent", "control"
"""What a row is, in the column ``part``; rows of labelled pairs have no value there."""


# Whether a file of answers to the suite logic still says what was written.

_ANSWERS = ("gold", "predicted")
_PARTS = (ANTECEDENT, CONSEQUENT, CONTROL)

# Which texts of consequents and control questions are one, by what controls are; see Rule. A place
# is a part, and the side of the premise, 0, or of the hypothesis, 1.
_SAME_IN_CONTROLS = {
    "exchange": [(CONSEQUENT, 0), (CONTROL, 0)],
    "self": [(CONSEQUENT, 0), (CONTROL, 0), (CONTROL, 1)],
    "contrary": [(CONSEQUENT, 1), (CONTROL, 1)],
}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answers:
    """Answers to the suite, to be checked."""

    predictions: Predictions
    text_columns: Sequence[str]

    @property
    def table(self) -> pa.Table:
        return self.predictions.table

    @cached_property
    def texts(self) -> dict[str, pa.ChunkedArray]:
        """What rows say, blank where they say nothing, and as ``place``, which part they are."""
        names = ("version", "part", "expected", *_ANSWERS)
        texts = {name: pc.fill_null(self.cast(name, "string"), "") for name in names}
        return texts | {"place": self._number_parts(texts)}

    @cached_property
    def sides(self) -> list[pa.ChunkedArray]:
        """Premises and hypotheses."""
        return [self.cast(name, "large_string") for name in self.text_columns]

    def check(self, *, rules: Collection[str], n_rows: int) -> None:
        """Stop if rows, columns or values are not those of answers to the suite.

        Each value is checked by itself and against the others of its row, and each instance against
        its rule: the number of its questions, its source, that its antecedents hold, what is
        expected, and which texts are one. A question has one answer.
        """
        self._check_shape(n_rows)
        texts = self.texts
        is_original = _mask(pc.equal(texts["version"], ORIGINAL))
        versions = pa.array([ORIGINAL, *rules])
        self._refuse(_mask(pc.is_in(texts["version"], versions)), "version", "is no rule")
        is_part = _mask(pc.is_in(texts["part"], pa.array(_PARTS)))
        self._refuse(is_part | is_original, "part", "is no part of an instance")
        for name, may_lack in (("instance", is_original), ("unit", np.zeros_like(is_original))):
            numbers = np.asarray(pc.fill_null(self.cast(name, "int64"), -1))
            self._refuse((numbers >= 0) | may_lack, name, "is no number from 0 on")
        is_gold = _mask(pc.equal(texts["gold"], texts["predicted"]))
        is_right = np.where(is_original, is_gold, _are_expected(texts))
        self._refuse(self.predictions.correct == is_right, "correct", "is not what the answer is")
        is_antecedent = _mask(pc.equal(texts["part"], ANTECEDENT)) & ~is_original
        complaint = "is not what the rule asks of an antecedent, so it does not apply here"
        self._refuse(is_right | ~is_antecedent, "predicted", complaint)
        self._check_instances()
        self._check_expected()
        self._check_texts()
        self._check_compounds()
        self._check_repeats()

    def _check_shape(self, n_rows: int) -> None:
        wanted = (*LogicNotes.columns, *_ANSWERS, *self.text_columns)
        lacking = [name for name in wanted if name not in self.table.column_names]
        if lacking:
            raise self._error("there is no such column", column=lacking[0])
        if self.table.num_rows != n_rows:
            raise self._error(f"has {self.table.num_rows:,} rows, and {n_rows:,} were written")

    def _error(
        self, complaint: str, *, row: int | None = None, column: str | None = None
    ) -> InputError:
        return InputError(
            f"{complaint}; ask the model again",
            path=self.predictions.source,
            row=None if row is None else f"row {row}",
            column=column,
        )

    def _refuse(self, fits: NDArray[np.bool_], name: str, complaint: str) -> None:
        wrong = np.flatnonzero(~fits)
        if wrong.size:
            row = int(wrong[0])
            value = show_value(self.table[name][row].as_py())
            raise self._error(f"{value} {complaint}", row=row, column=name)

    def cast(self, name: str, kind: str) -> pa.ChunkedArray:
        """Return a column in a type."""
        try:
            return self.table[name].cast(kind)
        except pa.ArrowException as error:
            held = self.table[name].type
            raise self._error(f"holds {held}, {kind} expected", column=name) from error

    def _with_models(self, columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
        """Return columns with those that part models, and the number of each row."""
        who = [name for name in GROUPS if name in self.table.column_names]
        own = {name: self.table[name].cast(plain_type(self.table[name].type)) for name in who}
        return pa.table(own | dict(columns) | {"row": pa.array(range(self.table.num_rows))})

    def _check_instances(self) -> None:
        """Stop if an instance lacks a question, has one too many, or is of two sources."""
        columns = {name: self.cast(name, "int64") for name in ("instance", "unit")}
        columns |= {part: pc.equal(self.texts["part"], part).cast("int64") for part in _PARTS}
        whole = self._with_models(columns | {"version": self.texts["version"]})
        asked = whole.filter(pc.is_in(whole["version"], pa.array(list(RULES))))
        who = [name for name in GROUPS if name in whole.column_names]
        found = asked.group_by([*who, "version", "instance"], use_threads=False).aggregate(
            [*((part, "sum") for part in _PARTS), ("row", "min"), ("unit", "min"), ("unit", "max")]
        )
        rules = [RULES[name] for name in found["version"].to_pylist()]
        n_antecedents = np.array([len(rule.when) for rule in rules])
        n_consequents = np.array([len(rule.then) for rule in rules])
        n_controls = np.array([len(rule.then) * (rule.control is not None) for rule in rules])
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
                said = f"the instance {first['instance']} of {first['version']} {complaint}"
                raise self._error(said, row=first["row_min"], column=name)
        self._check_units(whole, who)

    def _check_units(self, whole: pa.Table, who: Sequence[str]) -> None:
        """Stop if an item, which comes from one source, has several by what its rows say."""
        items = as_texts(self.table["item"], path=self.predictions.source, name="item")
        rows = whole.append_column("item", items)
        found = rows.group_by([*who, "item"], use_threads=False).aggregate(
            [("unit", "min"), ("unit", "max"), ("row", "min")]
        )
        wrong = found.filter(pc.not_equal(found["unit_min"], found["unit_max"]))
        if wrong.num_rows:
            first = wrong.slice(0, 1).to_pylist()[0]
            raise self._error(
                f"the item {first['item']} is of source {first['unit_min']} in some rows and of "
                f"{first['unit_max']} in others ({say_count(wrong.num_rows, 'such item')})",
                row=first["row_min"],
                column="unit",
            )

    def _check_expected(self) -> None:
        """Stop where a row expects what its rule does not ask for."""
        names = ["version", "part", "place", "expected"]
        said = pa.table({name: self.texts[name] for name in names})
        fits = np.ones(len(said), np.bool_)
        asked_for = said.filter(pc.not_equal(said["version"], ORIGINAL))
        for row in asked_for.group_by(names).aggregate([]).to_pylist():
            rule, expected = RULES[row["version"]], row["expected"]
            is_first = row["part"] == ANTECEDENT
            is_negated = rule.is_negated and not is_first
            label = expected.removeprefix("not ") if is_negated else expected
            asked = rule.antecedents if is_first else rule.consequents
            number = int(row["place"].rpartition(" ")[2]) - 1
            if label_key(label) != asked[number] or is_negated == (label == expected):
                same = [_mask(pc.equal(said[name], value)) for name, value in row.items()]
                fits &= ~np.logical_and.reduce(same)
        self._refuse(fits, "expected", "is not what the rule asks for")

    def _number_parts(self, texts: Mapping[str, pa.ChunkedArray]) -> pa.ChunkedArray:
        """Return which antecedent of its instance a row is, or which consequent: *antecedent 2*.

        They are in the order in which they were asked, as their copies are numbered.
        """
        table = self.table
        own = self._with_models({"instance": table["instance"], **texts})
        keys = [name for name in own.column_names if name not in {*_ANSWERS, "expected", "row"}]
        codes = np.zeros(len(own), np.int64)
        for name in keys:
            column = as_texts(own[name], path=self.predictions.source, name=name)
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

    def _check_texts(self) -> None:
        """Stop where an instance has two texts in places where its rule has the same one."""
        instance = {"instance": self.table["instance"]}
        whole = [self._with_models(instance | {"value": side}) for side in self.sides]
        for name, rule in RULES.items():
            is_own = pc.equal(self.texts["version"], name)
            said = f"an instance of {name} has {{}} and {{}}, where the rule has one text"
            same = [
                places
                for text, places in _find_places(rule).items()
                if text.how == "alone" and len(places) > 1
            ]
            if rule.control is not None:
                same.append(_SAME_IN_CONTROLS[rule.control])
            for places in same:
                cells = []
                for part, side in places:
                    of_part = pc.equal(self.texts["part" if part in _PARTS else "place"], part)
                    cells.append(whole[side].filter(pc.and_(is_own, of_part)))
                self._check_one(pa.concat_tables(cells), said, self.text_columns[places[-1][1]])

    def _check_compounds(self) -> None:
        """Stop where a compound is not of the sentences of its instance, but for capitals."""
        pairs = zip(self.text_columns, self.sides, strict=True)
        sides = {name: pc.fill_null(side, "") for name, side in pairs}
        whole = self._with_models({"instance": self.table["instance"], **sides})
        keys = [(name, "ascending") for name in whole.column_names if name not in {*sides, "row"}]
        for name, rule in RULES.items():
            places = _find_places(rule)
            compounds = [text for text in places if text.how != "alone"]
            if not compounds:
                continue
            is_own = pc.equal(self.texts["version"], name)
            own = {}
            for place in dict.fromkeys(place for each in places.values() for place, _ in each):
                is_there = pc.and_(is_own, pc.equal(self.texts["place"], place))
                own[place] = whole.filter(is_there).sort_by(keys)
            cells = {
                text: own[place][self.text_columns[side]]
                for text, ((place, side), *_) in places.items()
            }
            for text in compounds:
                place, side = places[text][0]
                self._check_compound(name, text, cells, own[place]["row"], self.text_columns[side])

    def _check_compound(
        self,
        rule: str,
        text: Text,
        cells: Mapping[Text, pa.ChunkedArray],
        rows: pa.ChunkedArray,
        column: str,
    ) -> None:
        one = cells[Text(text.letters[0])]
        two = cells.get(Text(text.letters[-1]))  # a sentence of another item stands nowhere alone
        wrong = _find_other(cells[text], _compose(text.how, one, two), is_whole=two is not None)
        if wrong is not None:
            shown, sentence = (show_value(each[wrong].as_py()) for each in (cells[text], one))
            raise self._error(
                f"an instance of {rule} has {shown}, where the rule makes a text of {sentence}",
                row=rows[wrong].as_py(),
                column=column,
            )

    def _check_repeats(self) -> None:
        """Stop where a question has two answers: each different one was asked once."""
        columns = dict(zip(self.text_columns, self.sides, strict=True))
        whole = self._with_models(columns | {"value": self.texts["predicted"]})
        self._check_one(whole, "these two texts have the answers {} and {}", "predicted")

    def _check_one(self, table: pa.Table, complaint: str, column: str) -> None:
        """Stop where rows that are equal but for ``value`` and ``row`` have two values."""
        keys = [name for name in table.column_names if name not in {"value", "row"}]
        found = table.group_by(keys).aggregate([("value", "min"), ("value", "max"), ("row", "max")])
        wrong = found.filter(pc.not_equal(found["value_min"], found["value_max"]))
        if wrong.num_rows:
            first = wrong.sort_by("row_max").slice(0, 1).to_pylist()[0]
            values = (show_value(first[f"value_{name}"]) for name in ("min", "max"))
            raise self._error(complaint.format(*values), row=first["row_max"], column=column)


def _find_places(rule: Rule) -> dict[Text, list[Place]]:
    """Return where each text of a rule stands: in which question, on which side."""
    found: dict[Text, list[Place]] = {}
    for part, questions in ((ANTECEDENT, rule.when), (CONSEQUENT, rule.then)):
        for number, question in enumerate(questions, start=1):
            found.setdefault(question.premise, []).append((f"{part} {number}", 0))
            found.setdefault(question.hypothesis, []).append((f"{part} {number}", 1))
    return found


def _find_other(texts: pa.ChunkedArray, wanted: pa.ChunkedArray, *, is_whole: bool) -> int | None:
    """Find the first text that is not the wanted one, or does not begin as it; None if all do."""
    pairs = (pc.utf8_lower(each).to_pylist() for each in (texts, wanted))
    for row, (text, own) in enumerate(zip(*pairs, strict=True)):
        if text != own and (is_whole or not text.startswith(own)):
            return row
    return None


def _compose(how: How, one: pa.ChunkedArray, two: pa.ChunkedArray | None) -> pa.ChunkedArray:
    """Write compounds, or how they begin where the second sentence is not known."""
    none = pa.scalar("", pa.large_string())
    if how == "behind":
        return follow(one, none if two is None else two)
    if how == "not":
        start = pa.scalar(NOT_TRUE, pa.large_string())
        return pc.binary_join_element_wise(start, pc.utf8_trim_whitespace(one), none)
    left = without_mark(pc.utf8_trim_whitespace(one))
    right = none if two is None else pc.utf8_trim_whitespace(two)
    return pc.binary_join_element_wise(left, right, pa.scalar(f" {how} ", pa.large_string()))


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


def _mask(values: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(values, dtype=np.bool_)


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
        holds(path, LogicNotes)  # or has lost what tells how they came about
    found = read_answers(paths, LogicNotes)
    for each in found:
        told = each.notes
        own = _Answers(predictions=each.predictions, text_columns=told.text_columns)
        own.check(rules=told.rules, n_rows=told.n_rows)
    return tuple(found)
