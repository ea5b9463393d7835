"""Two runs beside each other, observation by observation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.report.tables import Column, MeanSd, PValue, Table
from ietest_fast.stats import PairedCounts, decide, paired_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.experiment.schema import Spread
    from ietest_fast.report.runs import FinishedRun
    from ietest_fast.stats import Decision

N_REPLICATES = 10_000
"""S of the test of losses, which are no outcomes but differences of them."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One quantity of two runs at one rho."""

    rho: float
    """Which."""
    quantity: str
    """``"original"`` or ``"transformed"`` (accuracies), or ``"loss"`` (original minus transformed,
    of each run)."""
    first: Spread
    second: Spread
    """The quantity in either run, over the classifiers."""
    difference: Spread
    """First minus second, over the pairs of classifiers of equal m."""
    decision: Decision
    """Over the M paired tests of H0: no difference."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two runs on the same test observations."""

    first: str
    second: str
    """Names of the runs."""
    rows: tuple[Compared, ...]
    """Three quantities at every rho that both have."""


def are_comparable(first: FinishedRun, second: FinishedRun) -> bool:
    """Whether two runs have the same test observations in the same order, and a rho in common."""
    if first.results is None or second.results is None:
        return False
    data = [results.data for results in (first.results, second.results)]
    same = all(
        getattr(data[0], name) == getattr(data[1], name) for name in ("label_names", "text_columns")
    )
    tests = {results.settings.data.test for results in (first.results, second.results)}
    common = {rho.rho for rho in first.rhos} & {rho.rho for rho in second.rhos}
    return same and len(tests) == 1 and bool(common)


def compare_runs(
    first: FinishedRun,
    second: FinishedRun,
    *,
    gold: NDArray[np.int8],
    answers: tuple[NDArray[np.int8], NDArray[np.int8]],
    alpha: float | None = None,
) -> Comparison:
    """Compare two models, or a model under two transformations, on the same observations.

    The classifiers of equal rho and m are compared by paired tests: right or wrong on the original
    version (exact law), on the transformed version (exact law), and by how much of the accuracy
    each loses, whose observations are differences -1, 0 or 1 (scores, S replicates). H0 is rejected
    where a p lies below alpha / M, M being that of the run with fewer classifiers. Observations are
    drawn one by one, also where the runs themselves drew clusters.
    """
    if not are_comparable(first, second):
        raise InputError(
            f"{first.name} and {second.name} have no test set, or no rho, in common: there is "
            "nothing to pair"
        )
    level = min(first.alpha, second.alpha) if alpha is None else alpha
    rows = []
    places = {rho.rho: number for number, rho in enumerate(second.rhos)}
    for number, rho in enumerate(first.rhos):
        if rho.rho not in places:
            continue
        n_pairs = min(first.n_classifiers, second.n_classifiers)
        right_first, right_second = (
            own[:, place, :n_pairs] == gold[:, None, None]
            for own, place in zip(answers, (number, places[rho.rho]), strict=True)
        )
        rows += _compare(rho.rho, right_first, right_second, level)
    return Comparison(first=first.name, second=second.name, rows=tuple(rows))


def _compare(
    rho: float, first: NDArray[np.bool_], second: NDArray[np.bool_], alpha: float
) -> list[Compared]:
    """Compare outcomes, bool of shape (n, M, 2)."""
    from ietest_fast.experiment.schema import Spread

    compared = []
    for quantity in ("original", "transformed", "loss"):
        values, p_values = [], []
        for m in range(first.shape[1]):
            if quantity == "loss":
                lost = [own[:, m, 0].astype(np.float64) - own[:, m, 1] for own in (first, second)]
                p_values.append(paired_test(*lost, scores=True, n_resamples=N_REPLICATES).p_value)
                values.append([float(own.mean()) for own in lost])
            else:
                version = ("original", "transformed").index(quantity)
                right = [own[:, m, version] for own in (first, second)]
                p_values.append(paired_test(PairedCounts.from_outcomes(*right)).p_value)
                values.append([float(own.mean()) for own in right])
        compared.append(
            Compared(
                rho=rho,
                quantity=quantity,
                first=Spread.of([a for a, _ in values]),
                second=Spread.of([b for _, b in values]),
                difference=Spread.of([a - b for a, b in values]),
                decision=decide(p_values, alpha=alpha),
            )
        )
    return compared


def comparable_pairs(runs: Sequence[FinishedRun]) -> list[tuple[FinishedRun, FinishedRun]]:
    """Give the pairs of runs that can be compared, in order."""
    return [pair for pair in itertools.combinations(runs, 2) if are_comparable(*pair)]


_SAID = {
    "original": "accuracy, original",
    "transformed": "accuracy, transformed",
    "loss": "loss (original − transformed)",
}


def comparison_table(comparison: Comparison, *, number: int = 1) -> Table:
    """Give a comparison as a table, the number of which is in its name."""
    return Table(
        name=f"comparison-{number}",
        title=f"{comparison.first} beside {comparison.second}",
        columns=(
            Column("ρ", "number", -1),
            Column("quantity"),
            Column(f"{comparison.first} %", "percent"),
            Column(f"{comparison.second} %", "percent"),
            Column("difference (points)", "points"),
            Column("smallest p", "p"),
            Column("α/M", "number", -1),
            Column("different"),
        ),
        rows=tuple(
            (
                row.rho,
                _SAID[row.quantity],
                MeanSd(row.first.mean, row.first.sd),
                MeanSd(row.second.mean, row.second.sd),
                MeanSd(row.difference.mean, row.difference.sd),
                PValue(row.decision.p_min, row.decision.threshold),
                row.decision.threshold,
                row.decision.reject,
            )
            for row in comparison.rows
        ),
        note=(
            "Paired tests of the classifiers of equal ρ and m on the same observations, drawn one "
            f"by one; losses with S = {N_REPLICATES:,} replicates."
        ),
    )
