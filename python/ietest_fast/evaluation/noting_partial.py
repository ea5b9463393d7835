"""What a model that saw a part of the input gets right, noted in the table of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.errors import InputError
from ietest_fast.evaluation.paranlu import ABDUCTIVE, DEFEASIBLE
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.evaluation.schema import plain_type
from ietest_fast.evaluation.shared_wordings import SharedWordings, name_rows
from ietest_fast.values import say_repeated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.predictions import Predictions

COLUMN = "partial_input"
"""Column that says whether the model that saw a part of the input got an item right."""

CORRECT = "partial_input_correct"
"""Column that says whether the model that saw a part of the input got a wording right."""

TEXT_COLUMNS = ("premise", "hypothesis", "sentence1", "sentence2", "text", "sentence")
"""What columns of texts are called, of which the model that saw a part may have one."""

RIGHT, WRONG = "right", "wrong"


def note_partial_input(
    answers: ConsistencyAnswers, partial: Predictions, name: str
) -> ConsistencyAnswers:
    """Note which items a model that saw a part of the input gets right, in columns of the table.

    A model that sees the hypothesis or the update alone cannot know the answer, so what it gets
    right is likelier to have an artefact (Srikanth et al. 2024, section 7, Table 7). An item, with
    all its wordings, goes by the answer to its original.
    """
    predictions = answers.predictions
    table = predictions.table
    for column in (COLUMN, CORRECT):
        if column in table.column_names:
            if answers.run.partial_input is None:
                raise InputError(
                    "is there already; rename it", path=predictions.source, column=column
                )
            table = table.drop_columns([column])
    right, is_matched = find_partial_answers(predictions, partial)
    words = pa.array(np.where(right, RIGHT, WRONG), pa.string(), mask=~is_matched)
    notes = _check_facts(answers, partial)
    place = pc.index_in(name_rows(predictions), value_set=name_rows(partial))
    is_asked = np.asarray(place.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
    correct = np.zeros(len(predictions), np.bool_)
    correct[is_asked] = partial.correct[np.asarray(place.drop_null(), dtype=np.int64)]
    table = table.append_column(COLUMN, words)
    table = table.append_column(CORRECT, pa.array(correct, mask=~is_asked))
    return replace(
        answers,
        predictions=replace(predictions, table=table),
        run=replace(
            answers.run,
            partial_input=name,
            warnings=tuple(dict.fromkeys((*answers.run.warnings, *notes))),
        ),
    )


def _check_facts(answers: ConsistencyAnswers, partial: Predictions) -> tuple[str, ...]:
    """Compare gold labels and texts, so that answers to other items part nothing."""
    predictions = answers.predictions
    shared = SharedWordings.find(predictions, partial)
    originals = SharedWordings.find(
        predictions.select(version=ORIGINAL) if ORIGINAL in predictions.versions else predictions,
        partial.select(version=ORIGINAL),
        keys=("item",),
    )
    has_labels = [each.check_labels("gold", "the gold label") for each in (originals, shared)]
    names = (*answers.run.text_columns, *ABDUCTIVE, *DEFEASIBLE, *TEXT_COLUMNS)
    shared.check_texts(tuple(dict.fromkeys(names)))
    notes = []
    if shared.are_equal_answers():
        notes.append(
            f"Warning: {partial.source} answers every wording as {predictions.source} does, and is "
            "to be of a model that saw a part of the input; give its own file."
        )
    if not all(has_labels):
        said = "has other names for labels than"
        notes.append(
            f"{partial.source} {said} {predictions.source}, so gold labels are not compared."
        )
    return tuple(notes)


def find_partial_answers(
    predictions: Predictions, partial: Predictions
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find what a model that saw a part of the input answered to the items of predictions."""
    if len(partial.groups) > 1:
        raise InputError(
            f"{len(partial.groups)} classifiers are in these predictions, and one that saw a part "
            f"of the input is expected; choose it by {', '.join(partial.groups[0])}",
            path=partial.source,
        )
    if ORIGINAL not in partial.versions:
        raise InputError(
            f"has no version {ORIGINAL!r}; it has {', '.join(partial.versions)}",
            path=partial.source,
        )
    asked = partial.select(version=ORIGINAL)
    names = _item_names(asked)
    repeated = say_repeated(names, "item")
    if repeated is not None:
        raise InputError(
            f"in version {ORIGINAL!r} {repeated}, so it is not clear which answer counts; leave "
            "the others out",
            path=partial.source,
            column="item",
        )
    items = _item_names(predictions)
    place = pc.index_in(items, value_set=names)
    is_matched = np.asarray(place.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
    if not is_matched.any():
        raise InputError(
            f"has no item of {predictions.source}, such as {items[0].as_py()!r}",
            path=partial.source,
            column="item",
        )
    right = np.zeros(len(predictions), np.bool_)
    right[is_matched] = asked.correct[np.asarray(place.drop_null(), dtype=np.int64)]
    return right, is_matched


def _item_names(predictions: Predictions) -> pa.Array:
    """Return items as texts, so that 1 and "1" are the same."""
    column = predictions.table["item"]
    return column.cast(plain_type(column.type)).cast(pa.string()).combine_chunks()
