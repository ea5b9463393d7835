"""The published SNLI runs under the tests that came later: what docs/snli.md says of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ietest_fast.experiment.finished import read_counts
from ietest_fast.stats import VarianceComponents, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.experiment.finished import FinishedRun
    from ietest_fast.experiment.schema import RhoResult


@pytest.fixture(scope="module")
def published(shared: Path) -> list[FinishedRun]:
    path = shared / "reference" / "ie_runs_snli.csv"
    return read_counts(path, where={"used_in_paper": "True"})


def algorithm_p(rho: RhoResult, correlation: float) -> float:
    """p of the test of the algorithm, if two classifiers' differences correlate so on a text."""
    deltas = np.array([cell.delta for cell in rho.cells])
    m, n, mean = deltas.size, rho.cells[0].n, float(deltas.mean())
    variance = np.mean([cell.counts.discordance_rate for cell in rho.cells]) - mean**2
    residual = (1 - correlation) * variance / (n * m)
    found = VarianceComponents(
        correlation * variance / n + residual, float(deltas.var(ddof=1)) / m, residual
    )
    t = abs(mean) / math.sqrt(found.of_mean)
    return 2 * found.law(n, m).tail(t)


def test_rejections_of_equal_accuracy_hold_over_all_rho(published: list[FinishedRun]) -> None:
    assert len(published) == 5
    alone = [rho.reject for run in published for rho in run.rhos]
    over = [p < 0.05 for run in published for p in run.condition.over_rho.p_adjusted]
    assert (len(alone), sum(alone), sum(over)) == (35, 34, 34)


def test_where_accuracy_stays_answers_change(published: list[FinishedRun]) -> None:
    (bert,) = (run for run in published if run.name == "bert_base")
    last = bert.rhos[-1]
    assert last.rho == 1
    assert all(cell.is_equivalent for cell in last.cells)
    rates = [cell.counts.discordance_rate for cell in last.cells]
    assert 0.065 < min(rates) < max(rates) < 0.08
    assert bert.condition.verdicts[-1] is Verdict.CHANGES
    verdicts = [verdict for run in published for verdict in run.condition.verdicts]
    assert verdicts.count(Verdict.DIFFERS) == 34
    assert verdicts.count(Verdict.CHANGES) == 1


def test_all_but_two_rejections_are_of_the_algorithm(published: list[FinishedRun]) -> None:
    shown = {}
    for run in published:
        for rho in run.rhos:
            p_values = [algorithm_p(rho, r) for r in (0.0, 0.25, 0.5, 0.75, 1.0)]
            shown[run.name, rho.rho] = max(p_values)
    open_ = sorted(key for key, p in shown.items() if p > 0.05 / 7)
    assert open_ == [("albert_base", 1.0), ("bert_base", 1.0)]
    assert min(shown[key] for key in open_) > 0.2
