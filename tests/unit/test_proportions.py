"""The interval of a share, of independent and of clustered outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.errors import InputError
from ietest_fast.stats import flip_test, proportion_interval, wilson_interval


@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=40))
def test_without_clusters_it_is_wilsons(outcomes: list[bool]) -> None:
    wilson = wilson_interval(sum(outcomes), len(outcomes))
    for clusters in (None, np.arange(len(outcomes))):
        found = proportion_interval(outcomes, clusters)
        assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))


def test_rows_of_a_cluster_that_agree_count_once() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(200), 5)
    right = np.repeat(rng.random(200) < 0.7, 5)
    found = proportion_interval(right, clusters)
    once = wilson_interval(int(right.sum()) / 5, 200)
    # Student's quantile of 199 degrees of freedom is a little larger than that of 999.
    assert found.high - found.low == pytest.approx(once.high - once.low, rel=0.01)
    assert found.high - found.low >= once.high - once.low


def test_the_effective_number_is_that_of_flips() -> None:
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(60), 4)
    wrong = rng.random(240) < np.repeat(rng.beta(1, 3, 60), 4)
    flips = flip_test(np.zeros(240, bool), wrong, clusters=clusters, alpha=0.025)
    size = flips.n_effective
    expected = wilson_interval(wrong.mean() * size, size)
    found = proportion_interval(wrong, clusters)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("outcome", [False, True])
def test_what_is_all_the_same_thing_may_be_anything(outcome: bool) -> None:
    of_one = proportion_interval([outcome] * 30, [7] * 30)
    assert of_one == wilson_interval(float(outcome), 1)
    of_two = proportion_interval([outcome] * 30, [7] * 15 + [8] * 15)
    assert of_two.high - of_two.low > 0.5


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="no outcome"):
        proportion_interval([])
    with pytest.raises(InputError, match="clusters has 2 rows, but there are 3"):
        proportion_interval([True, False, True], [1, 2])
    with pytest.raises(InputError, match="clusters has 3 rows, but there are 1"):
        proportion_interval([True], [1, 2, 3])
    with pytest.raises(InputError, match="must hold 0 or 1"):
        proportion_interval([2, 0])
    for missing in (None, "", float("nan")):
        with pytest.raises(InputError, match="clusters"):
            proportion_interval([True, False], [missing, missing])
    with pytest.raises(InputError, match="confidence"):
        proportion_interval([True], confidence_level=1)


def test_labels_are_compared_as_python_does() -> None:
    right = [True, False, True, True] * 10
    apart = proportion_interval(right, [1, "1", 2, "2"] * 10)
    assert apart == proportion_interval(right, ["a", "b", "c", "d"] * 10)
    assert proportion_interval(right, [1, 1.0, 2, 2] * 10) == proportion_interval(
        right, [1, 1, 2, 2] * 10
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [40, 200])
@pytest.mark.parametrize(("a", "b"), [(6, 4), (0.8, 0.2), (2, 14)])
def test_it_covers_the_share(n_clusters: int, a: float, b: float) -> None:
    """Clusters of 1 to 6 rows, whose shares are drawn from a beta distribution."""
    rng = np.random.default_rng(3)
    n_drawn, covered, naive = 2_000, 0, 0
    for _ in range(n_drawn):
        sizes = rng.integers(1, 7, n_clusters)
        clusters = np.repeat(np.arange(n_clusters), sizes)
        right = rng.random(clusters.size) < np.repeat(rng.beta(a, b, n_clusters), sizes)
        found = proportion_interval(right, clusters)
        wilson = wilson_interval(int(right.sum()), right.size)
        covered += found.low <= a / (a + b) <= found.high
        naive += wilson.low <= a / (a + b) <= wilson.high
    print(f"{covered / n_drawn:.3f}, as independent {naive / n_drawn:.3f}")
    assert covered / n_drawn >= 0.935
    assert covered > naive
