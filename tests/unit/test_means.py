"""The interval of a mean, against SciPy's bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ietest_fast.errors import InputError
from ietest_fast.stats.mean_difference import mean_interval


@pytest.mark.parametrize("n", [12, 400])
def test_it_is_the_bca_interval_moved_out_by_students_quantile(n: int) -> None:
    values = 1 / np.random.default_rng(n).integers(1, 9, n)
    drawn = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=1
    ).confidence_interval
    factor = stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)
    found = mean_interval(values)
    assert found is not None
    mean, error = values.mean(), values.std() / np.sqrt(n)
    assert found.low == pytest.approx(mean - factor * (mean - drawn.low), abs=0.06 * error)
    assert found.high == pytest.approx(mean + factor * (drawn.high - mean), abs=0.06 * error)


def test_its_ends_are_values_that_there_can_be() -> None:
    found = mean_interval([1.0, 1.0, 0.5], least=0, most=1)
    assert found is not None
    assert 0 <= found.low < found.high == 1


def test_values_without_spread_have_no_interval() -> None:
    assert mean_interval([0.5]) is None
    assert mean_interval([0.5, 0.5, 0.5]) is None


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [[1.0, 2.0]], [1.0, float("inf")]])
def test_what_is_no_sample_is_refused(values: list[float]) -> None:
    with pytest.raises(InputError, match="a mean needs values"):
        mean_interval(values)
    with pytest.raises(InputError, match="confidence_level"):
        mean_interval([1.0, 2.0], confidence_level=1.0)
