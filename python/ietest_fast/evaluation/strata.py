"""Versions by label, genre or number of edits: columns of predictions that tell texts apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ietest_fast.models.measurements import as_numbers
from ietest_fast.stats import dose_response_test, stratified_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.evaluation.predictions import Pairs

#: As strata this is the gold label, whatever its column is called.
LABEL = "label"


def comparable_answers(pairs: Pairs) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Return both answers where they may be compared.

    Free texts that a log has marked may differ in wording alone: only the marks are compared.
    """
    columns = pairs.predictions.columns
    are_labels = pairs.predictions.label_names is not None or "correct" not in columns
    if "predicted" not in columns or not are_labels:
        return None
    return pairs.original, pairs.transformed


def look_closer(
    pairs: Pairs,
    clusters: Any,
    strata: Sequence[str],
    dose: str | None,
    *,
    reworded: str | Literal[True] | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Test the strata of columns, and the growth with another, on the reworded texts.

    Parameters
    ----------
    pairs
        The answers to both versions.
    clusters
        Shape (n,), or None.
    strata, dose
        Names of columns.
    reworded
        As for :func:`~ietest_fast.evaluation.comparison.compare_versions`.
    options
        Of :func:`ietest_fast.stats.stratified_test`.

    Returns
    -------
    dict
        ``strata`` and ``dose``; empty if there is nothing to look at.
    """
    if not strata and dose is None:
        return {}
    mask = None if reworded is True else pairs.reworded(reworded)
    rows = np.arange(len(pairs)) if mask is None else np.flatnonzero(mask)
    units = None if clusters is None else np.asarray(clusters)[rows]
    if rows.size < 2 or (units is not None and np.unique(units).size < 2):
        return {}
    answers, gold = comparable_answers(pairs), pairs.gold
    columns: tuple[Any, Any, Any] = (
        pairs.sample.original_correct[rows],
        pairs.sample.transformed_correct[rows],
        None,
    )
    if answers is not None and (gold >= 0).all():
        columns = (answers[0][rows], answers[1][rows], gold[rows])

    def read(name: str) -> Any:
        if name == LABEL:
            name = "gold"
        return pairs.column(name, of_version=True).take(pa.array(rows))

    resampling = {name: options[name] for name in ("n_resamples", "rng")}
    return {
        "strata": tuple(
            stratified_test(
                columns[0],
                columns[1],
                read(name),
                gold=columns[2],
                clusters=units,
                name=name,
                **options,
            )
            for name in strata
        ),
        "dose": None
        if dose is None
        else dose_response_test(
            columns[0],
            columns[1],
            as_numbers(pa.chunked_array([read(dose)])),
            gold=columns[2],
            clusters=units,
            name=dose,
            **resampling,
        ),
    }
