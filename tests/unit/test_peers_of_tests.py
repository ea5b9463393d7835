"""Where tools for finished logs should agree with ours, they do; see docs/statistics.md."""

from __future__ import annotations

import numpy as np
import pytest

from ietest_fast.stats import holm, paired_test

pytestmark = pytest.mark.peer

RNG = np.random.default_rng(0)
A = RNG.random(400) < 0.9
B = A & (RNG.random(400) < 0.95)


def test_mcnemars_exact_p_is_that_of_evalsig_and_evalci() -> None:
    evalsig = pytest.importorskip("evalsig.inference.mcnemar")
    evalci = pytest.importorskip("evalci.stats")
    ours = paired_test(A, B).p_mcnemar_exact
    a, b = A.astype(float), B.astype(float)
    assert evalsig.mcnemar_test(a, b).p_value == pytest.approx(ours)
    assert evalci.mcnemar_test(a, b, exact=True)[0] == pytest.approx(ours)


def test_tangos_interval_is_that_of_evalstats() -> None:
    evalstats = pytest.importorskip("evalstats")
    found = evalstats.pairwise_differences(np.stack([A, B]).astype(float), 0, 1, method="tango")
    ours = paired_test(A, B).confidence_interval()
    assert (found.ci_low, found.ci_high) == pytest.approx((ours.low, ours.high), abs=1e-6)


def test_the_difference_is_that_of_deltagate() -> None:
    deltagate = pytest.importorskip("deltagate")
    found = deltagate.paired_delta(A.astype(float), B.astype(float))
    result = paired_test(A, B, scores=True, n_resamples=9)
    assert found["delta"] == pytest.approx(result.delta)
    assert found["stderr"] == pytest.approx(result.standard_error)  # type: ignore[attr-defined]


def test_holm_is_everybodys() -> None:
    p_values = [0.01, 0.04, 0.03, 0.2]
    evalsig = pytest.importorskip("evalsig")
    deltagate = pytest.importorskip("deltagate")
    assert evalsig.holm(np.array(p_values)).p_adjusted == pytest.approx(holm(p_values))
    assert deltagate.holm_bonferroni(p_values).adjusted == pytest.approx(holm(p_values))
