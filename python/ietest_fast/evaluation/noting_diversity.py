"""The diversity of paraphrases that were answered, noted in the table of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.evaluation.answered_texts import find_answered_texts
from ietest_fast.evaluation.consistency_file import MOST_DIVERSITY_GROUPS
from ietest_fast.evaluation.diversity import LEXICAL, SYNTACTIC, measure_pairs, pair_texts
from ietest_fast.evaluation.schema import GROUPS, plain_type
from ietest_fast.evaluation.wordings import find_originals
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.consistency_file import ConsistencyAnswers
    from ietest_fast.evaluation.predictions import Predictions

MEASURES = (*LEXICAL, *SYNTACTIC)
"""Measures that items can be grouped by."""

_ROUNDING = 1e-6
MOST_GROUPS = MOST_DIVERSITY_GROUPS
"""Groups of items, at most."""


def check_measures(measures: Sequence[str]) -> None:
    """Refuse what is no measure of diversity."""
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise InputError(
            f"there is no measure of diversity {unknown[0]!r}; there are {', '.join(MEASURES)}"
        )


def check_groups(n_groups: int) -> None:
    """Refuse a number of groups that is out of its range."""
    if type(n_groups) is not int or not 2 <= n_groups <= MOST_GROUPS:
        raise InputError(f"there are from 2 to {MOST_GROUPS} groups, not {n_groups}")


def note_diversity(
    answers: ConsistencyAnswers,
    measures: Sequence[str],
    *,
    n_groups: int,
    columns: Sequence[str] | None = None,
    n_threads: int | None = None,
) -> ConsistencyAnswers:
    """Measure the diversity of the paraphrases that were answered, in columns of the table."""
    predictions, run = answers.predictions, answers.run
    check_measures(measures)
    check_groups(n_groups)
    table = predictions.table
    if run.diversity:  # measured before
        table = table.drop_columns([name for name in MEASURES if name in table.column_names])
    texts = tuple(columns) if columns is not None else _find_texts(answers)
    originals, paraphrases = _match_originals(predictions)
    if not len(paraphrases):
        raise InputError(
            "no paraphrase has an original to be compared with: diversity is the distance from the "
            "version 'original'",
            path=predictions.source,
        )
    pairs = pair_texts(
        table,
        texts,
        originals,
        paraphrases,
        all_columns=columns is not None,
        source=predictions.source,
    )
    found = measure_pairs(pairs, syntax=bool(set(measures) & set(SYNTACTIC)), n_threads=n_threads)
    for name, values in found.items():
        if name in table.column_names:
            raise InputError(
                "is there already, and is the name of a measure of diversity; rename it",
                path=predictions.source,
                column=name,
            )
        whole = np.full(len(predictions), np.nan)
        whole[paraphrases] = values
        table = table.append_column(name, pa.array(whole, pa.float64(), from_pandas=True))
    return replace(
        answers,
        predictions=replace(predictions, table=table),
        run=replace(
            run,
            diversity=tuple(dict.fromkeys(measures)),
            diversity_groups=n_groups,
            diversity_texts=tuple(pairs),
        ),
    )


def check_diversity(answers: ConsistencyAnswers) -> None:
    """Refuse measures of words that are not those of the texts beside them in a file."""
    predictions, run = answers.predictions, answers.run
    table = predictions.table
    texts = [name for name in run.diversity_texts if name in table.column_names]
    originals, paraphrases = _match_originals(predictions)
    if not run.diversity or not texts or not len(paraphrases):
        return
    pairs = pair_texts(
        table, texts, originals, paraphrases, all_columns=True, source=predictions.source
    )
    for name, values in measure_pairs(pairs, syntax=False).items():
        if name not in table.column_names:
            continue
        noted = np.asarray(table[name].cast(pa.float64()).to_numpy())[paraphrases]
        differs = ~np.isclose(noted, values, rtol=0, atol=_ROUNDING, equal_nan=True)
        if differs.any():
            first = int(differs.argmax())
            raise InputError(
                f"is {noted[first]:.4g}, and {values[first]:.4g} by the texts beside it, and so in "
                f"{say_count(int(differs.sum()), 'row')}; measure edited texts again "
                "(--by-diversity)",
                path=predictions.source,
                row=f"row {paraphrases[first]}",
                column=name,
            )


def _find_texts(answers: ConsistencyAnswers) -> tuple[str, ...]:
    """Return the columns of texts: as the file says, or by their names."""
    predictions = answers.predictions
    found = find_answered_texts(predictions, answers.run.text_columns)
    if not found:
        raise InputError(
            "holds no texts under a known name (premise and hypothesis, sentence1 and sentence2, "
            "text), and the diversity of paraphrases is measured from their texts: name the "
            "columns that hold them (--text-columns, in Python text_columns), or write the answers "
            "with the texts, as "
            "ietest-fast consistency --out does",
            path=predictions.source,
        )
    return found


def _match_originals(
    predictions: Predictions,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of paraphrases that have an original, behind those of their originals."""
    table = predictions.table
    codes = np.zeros(len(predictions), np.int64)
    for name in ("item", *(name for name in GROUPS if name in table.column_names)):
        column = table[name].cast(plain_type(table[name].type)).combine_chunks()
        own = column.dictionary_encode()
        codes = codes * len(own.dictionary) + np.asarray(own.indices, dtype=np.int64)
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
    is_original = find_originals(predictions)
    places = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
    rows = np.flatnonzero(is_original)
    places[codes[rows]] = rows
    paraphrases = np.flatnonzero(~is_original & (places[codes] >= 0))
    return places[codes[paraphrases]], paraphrases
