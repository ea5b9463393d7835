"""Rates and their differences, held against literal resampling of units."""

from __future__ import annotations

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats.informedness import (
    RatePart,
    measure_informedness,
    measure_rate,
    proportion_interval,
    sum_rates,
)


def clustered(seed: int, n_units: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Instances of which those of a unit are alike, 1 to 4 of each."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(n_units), rng.integers(1, 5, n_units))
    level = rng.beta(2 * share, 2 * (1 - share), n_units)
    return rng.random(len(units)) < level[units], units


def resampled(draw: object, n_units: int, n: int = 4000) -> np.ndarray:
    """Draw units again and again; return the statistic of each sample, sorted."""
    rng = np.random.default_rng(5)
    weights = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n)
    return np.sort([draw(each) for each in weights])  # type: ignore[operator]


def test_a_rate_and_its_interval() -> None:
    holds, units = clustered(1, 200, 0.7)
    found = measure_rate(holds, units)
    assert (found.n, found.k, found.value) == (len(holds), holds.sum(), holds.mean())
    drawn = resampled(lambda w: (w[units] @ holds) / w[units].sum(), 200)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(drawn[100], abs=0.012)
    assert found.interval.high == pytest.approx(drawn[3900], abs=0.012)
    names = np.array([f"unit {i}" for i in units])
    assert measure_rate(holds.astype(int), names) == found


@pytest.mark.parametrize("all_hold", [True, False])
def test_where_all_or_none_hold_the_interval_has_a_width(all_hold: bool) -> None:
    holds, units = np.full(40, all_hold), np.arange(40) // 2
    found = measure_rate(holds, units)
    assert found.interval == proportion_interval(holds, units)
    assert found.interval is not None
    assert found.interval.high > found.interval.low


def test_the_difference_and_its_interval() -> None:
    holds, units = clustered(2, 300, 0.8)
    others, other_units = clustered(3, 300, 0.3)
    found = measure_informedness(holds, units, others, other_units, seed=3)
    assert found.value == holds.mean() - others.mean()
    assert found.rate == measure_rate(holds, units, seed=3)
    assert found.control == measure_rate(others, other_units, seed=3)

    def difference(w: np.ndarray) -> float:
        mine, theirs = w[units], w[other_units]
        return (mine @ holds) / mine.sum() - (theirs @ others) / theirs.sum()

    drawn = resampled(difference, 300)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(drawn[100], abs=0.015)
    assert found.interval.high == pytest.approx(drawn[3900], abs=0.015)
    assert measure_informedness(holds, units, others, other_units, seed=3) == found


def test_newcombes_interval_where_none_of_one_side_hold() -> None:
    """Newcombe (1998, Table II): 10/10 and 0/20, and 10/10 and 0/10, by method 10."""
    for n, low in ((20, 0.6791), (10, 0.6075)):
        found = measure_informedness(
            np.ones(10, bool), np.arange(10), np.zeros(n, bool), 10 + np.arange(n)
        )
        assert found.value == 1
        assert found.interval is not None
        assert found.interval.low == pytest.approx(low, abs=5e-5)
        assert found.interval.high == pytest.approx(1)


def test_what_is_not_known_is_none() -> None:
    nothing = np.empty(0, bool)
    found = measure_informedness(np.ones(3, bool), np.arange(3), nothing, nothing)
    assert found.value is None
    assert found.interval is None
    assert found.control.value is None
    assert found.rate.value == 1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="there are 2 instances and 1 units"):
        measure_rate([True, False], [1])
    with pytest.raises(InputError, match="must hold 0 or 1"):
        measure_rate([0, 2], [1, 2])
    with pytest.raises(InputError, match="each of at least one instance"):
        sum_rates([])
    with pytest.raises(InputError, match="each of at least one instance"):
        sum_rates([RatePart(weight=1, holds=np.empty(0, bool), units=np.empty(0))])


def test_a_weighted_sum() -> None:
    sides = [clustered(seed, 400, share) for seed, share in ((4, 0.8), (5, 0.4), (6, 0.6))]
    weights = (0.5, 0.3, -0.2)
    parts = [
        RatePart(weight=w, holds=holds, units=units)
        for w, (holds, units) in zip(weights, sides, strict=True)
    ]
    value, interval = sum_rates(parts, offset=0.1)
    expected = 0.1 + sum(w * h.mean() for w, (h, _) in zip(weights, sides, strict=True))
    assert value == pytest.approx(expected)

    def total(w: np.ndarray) -> float:
        return 0.1 + sum(
            own * (w[u] @ h) / w[u].sum() for own, (h, u) in zip(weights, sides, strict=True)
        )

    drawn = resampled(total, 400)
    assert interval is not None
    assert interval.low == pytest.approx(drawn[100], abs=0.008)
    assert interval.high == pytest.approx(drawn[3900], abs=0.008)
    assert sum_rates(parts, offset=0.1, bounds=(expected, 1))[1].low == pytest.approx(expected)
    one = RatePart(weight=1, holds=np.ones(3, bool), units=np.zeros(3))
    assert sum_rates([one]) == (1, None)
