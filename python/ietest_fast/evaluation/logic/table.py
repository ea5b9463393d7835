"""The long table of answers: labelled pairs, and the questions of every instance of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.evaluation.logic.columns import ANTECEDENT, CONSEQUENT, CONTROL
from ietest_fast.evaluation.predictions import Predictions
from ietest_fast.evaluation.running import number_copies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.logic.rules import Rule
    from ietest_fast.evaluation.logic.texts import Texts

    Answered = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

_PARTS = (ANTECEDENT, CONSEQUENT, CONTROL)


@dataclass(frozen=True, kw_only=True, eq=False)
class RuleQuestions:
    """The questions and answers of the n instances to which a rule applies."""

    rule: Rule
    """Which."""
    row: NDArray[np.int64]
    """int64 (n,): the item of each instance."""
    antecedents: Sequence[Answered]
    consequents: Sequence[Answered]
    controls: Sequence[Answered]
    """Of each question int64 (n,): premises, hypotheses, answers; the answer to what was not asked
    is -1."""


def make_predictions(
    originals: Predictions,
    questions: Sequence[RuleQuestions],
    texts: Texts,
    *,
    unit: NDArray[np.int64],
    classes: Mapping[str, int],
    text_columns: Sequence[str],
) -> Predictions:
    """Put answers to labelled pairs and to the questions of rules into one table."""
    assert originals.label_names is not None  # noqa: S101 - they were matched
    names = pa.array(originals.label_names, pa.string())
    own = originals.table
    columns = {
        "item": own["item"],
        "version": own["version"].cast(pa.string()),
        **{name: own[name].cast(pa.string()) for name in ("gold", "predicted")},
        "correct": pa.array(originals.correct),
        "copy": pa.array(np.zeros(len(originals), np.int32)),
        "unit": pa.array(unit),
        **{name: own[name].cast(pa.large_string()) for name in text_columns},
    }
    tables = [pa.table(columns)]
    items = own["item"].combine_chunks()
    tables += [
        _tabulate(
            each,
            items=items,
            texts=texts,
            names=names,
            unit=unit,
            classes=classes,
            text_columns=text_columns,
        )
        for each in questions
        if len(each.row)
    ]
    return Predictions(
        table=pa.concat_tables(tables, promote_options="permissive"),
        label_names=originals.label_names,
        dropped=originals.dropped,
        source=originals.source,
    )


def _tabulate(
    own: RuleQuestions,
    *,
    items: pa.Array,
    texts: Texts,
    names: pa.Array,
    unit: NDArray[np.int64],
    classes: Mapping[str, int],
    text_columns: Sequence[str],
) -> pa.Table:
    """Return the rows of a rule, the questions of an instance one after the other."""
    rule, n = own.rule, len(own.row)
    groups = (own.antecedents, own.consequents, own.controls)
    asked = [question for group in groups for question in group]
    premise, hypothesis, answer = (
        np.stack([question[place] for question in asked], axis=1).reshape(-1) for place in range(3)
    )
    parts = np.repeat(np.arange(3), [len(group) for group in groups])
    labels = (*rule.antecedents, *rule.consequents, *(rule.consequents if own.controls else ()))
    expected = np.tile(np.array([classes[label] for label in labels]), n)
    part = np.tile(parts, n)
    is_negated = rule.is_negated & (part != _PARTS.index(ANTECEDENT))
    instance = np.repeat(np.arange(n), len(asked))
    row = np.repeat(own.row, len(asked))
    kept = answer >= 0
    right = (answer == expected) ^ is_negated ^ (part == _PARTS.index(CONTROL))
    said = pa.array(
        [*names.to_pylist(), *(f"not {name}" for name in names.to_pylist())], pa.string()
    )
    columns = {
        "item": items.take(pa.array(row)),
        "version": pa.repeat(pa.scalar(rule.name), len(row)),
        "predicted": names.take(pa.array(np.maximum(answer, 0))),
        "correct": pa.array(right),
        "copy": pa.array(number_copies(row)),
        "instance": pa.array(instance.astype(np.int32)),
        "part": pa.array(_PARTS).take(pa.array(part)),
        "expected": said.take(pa.array(expected + len(names) * is_negated)),
        "unit": pa.array(unit[row]),
        text_columns[0]: texts.take(premise),
        text_columns[1]: texts.take(hypothesis),
    }
    return pa.table(columns).filter(pa.array(kept))
