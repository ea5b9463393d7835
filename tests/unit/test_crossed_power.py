"""Plans for the test of an algorithm: each solves for one number, and they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import AlgorithmPlans, algorithm_power, plan_algorithm, split_variance

SPREAD = {"sd_items": 0.22, "sd_classifiers": 0.005, "sd_residual": 0.22}


def test_power_is_that_of_the_noncentral_law() -> None:
    n, m, delta = 3_000, 5, 0.012
    items, between, rest = (sd**2 for sd in SPREAD.values())
    v_i, v_c, v_e = items / n + rest / (n * m), between / m + rest / (n * m), rest / (n * m)
    variance = v_i + v_c - v_e
    df = variance**2 / (v_i**2 / (n - 1) + v_c**2 / (m - 1))
    law = scipy_stats.nct(df, delta / variance**0.5)
    laws = [scipy_stats.t.isf(0.025, own) for own in (n - 1, m - 1)]
    critical = np.average(laws, weights=[v_i - 2 / m * v_e, v_c])
    expected = law.sf(critical) + law.cdf(-critical)
    assert algorithm_power(n, m, delta, **SPREAD) == pytest.approx(expected, rel=1e-6)


def test_what_is_left_out_is_found() -> None:
    delta = plan_algorithm(n=4_000, n_classifiers=8, power=0.9, **SPREAD).delta
    assert algorithm_power(4_000, 8, delta, **SPREAD) == pytest.approx(0.9)
    plan = plan_algorithm(n_classifiers=8, delta=delta, power=0.9, **SPREAD)
    assert (plan.n, plan.solved_for) == (pytest.approx(4_000, abs=1), "n")
    plan = plan_algorithm(n=4_000, delta=delta, power=0.9, **SPREAD)
    assert (plan.n_classifiers, plan.solved_for) == (pytest.approx(8, abs=1), "n_classifiers")
    plan = plan_algorithm(n=4_000, n_classifiers=8, delta=delta, **SPREAD)
    assert (plan.power, plan.solved_for) == (pytest.approx(0.9), "power")
    for found in (plan.n - 1, plan.n):
        reached = algorithm_power(found, 8, delta, **SPREAD) >= plan.power
        assert reached == (found == plan.n)


def test_both_numbers_can_be_planned() -> None:
    plans = plan_algorithm(delta=0.008, **{**SPREAD, "sd_classifiers": 0.01})
    assert isinstance(plans, AlgorithmPlans)
    assert plans.too_few[0] == 2
    texts = [plan.n for plan in plans.plans]
    assert texts == sorted(texts, reverse=True)
    assert all(plan.power >= 0.8 for plan in plans.plans)
    assert len(plans.to_frame()) == len(texts)
    assert "no number of texts" in str(plans)


def test_spreads_of_outcomes_follow_from_the_discordance() -> None:
    items, residual = split_variance(0.1, delta=0.02, correlation=0.3)
    assert items**2 + residual**2 == pytest.approx(0.1 - 0.02**2)
    assert items**2 / (0.1 - 0.02**2) == pytest.approx(0.3)


def test_more_texts_do_not_help_where_trainings_vary() -> None:
    with pytest.raises(InputError, match=r"no number of texts .* because trainings vary .*train"):
        plan_algorithm(n_classifiers=3, delta=0.01, **{**SPREAD, "sd_classifiers": 0.02})
    with pytest.raises(InputError, match="take more texts"):
        plan_algorithm(n=50, delta=0.01, **SPREAD)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1, "n_classifiers": 5, "delta": 0.01}, "at least 2"),
        ({"n": 100, "n_classifiers": 5.5, "delta": 0.01}, "integer"),
        ({"n": 100, "n_classifiers": 5, "delta": 0.01, "power": 0.8}, "leave out"),
        ({"n": 100}, "needs delta"),
        ({"delta": 0}, "difference of 0"),
        ({"delta": 0.1, "n_classifiers": 0}, "number of classifiers must be at least 2"),
        ({"delta": 0.1, "power": 0.01}, "power must lie"),
        ({"delta": 0.1, "sd_classifiers": -1}, "standard deviation"),
        ({"delta": 0.1, "alpha": 1}, "alpha"),
    ],
)
def test_plans_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_algorithm(**SPREAD | options)


def test_power_grows_with_texts_and_classifiers_without_end() -> None:
    for m in (20, 500, 10_000):
        powers = [algorithm_power(int(10**e), m, 0.01, **SPREAD) for e in range(1, 9)]
        assert powers == sorted(powers)
        assert 0.04 < powers[0] < powers[-1] <= 1


def test_power_that_falls_again_is_found_where_it_is_high() -> None:
    spread = {**SPREAD, "sd_classifiers": 0.0025}
    assert algorithm_power(10**8, 3, 0.01, **spread) < 0.909
    plan = plan_algorithm(n_classifiers=3, delta=0.01, power=0.91, **spread)
    assert plan.power >= 0.91 > algorithm_power(plan.n - 1, 3, 0.01, **spread)
