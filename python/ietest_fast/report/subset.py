"""The test of a finished run on some of its observations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.experiment.schema import CellResult, ConditionResult, RhoResult
from ietest_fast.stats import PairedCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.report.runs import FinishedRun


def repeat_on(run: FinishedRun, rows: Sequence[int]) -> FinishedRun:
    """Test every classifier of a run again, on some rows of its test set.

    Nothing is retrained. The exact law is used, and observations are taken as independent, also
    where the run drew clusters. Which classifiers are collapsed is what the whole test set says:
    on a few of its rows any might be.
    """
    chosen = np.asarray(rows, np.int64)
    if chosen.size == 0:
        raise InputError("there is no observation left to test on")
    if len(np.unique(chosen)) < chosen.size or chosen.min() < 0 or chosen.max() >= run.n:
        raise InputError(f"rows are different numbers from 0 to {run.n - 1}")
    gold = run.read_versions().gold[chosen]
    answers = run.read_answers()[chosen]
    rhos = []
    for place, rho in enumerate(run.rhos):
        cells = []
        for m in range(run.n_classifiers):
            original, transformed = answers[:, place, m, 0], answers[:, place, m, 1]
            whole = rho.cells[m]
            cells.append(
                CellResult.from_counts(
                    PairedCounts.from_outcomes(original == gold, transformed == gold),
                    rho=rho.rho,
                    m=m,
                    collapsed=whole.collapsed,
                    alpha=run.alpha,
                    margin=run.margin,
                )
            )
        rhos.append(RhoResult.from_cells(cells, alpha=run.alpha))
    condition = ConditionResult.of(
        model=run.condition.model,
        transformation=run.condition.transformation,
        signature=None,
        rhos=tuple(rhos),
    )
    return replace(run, condition=condition, results=None)
