"""The sampler by types: what holds for every table, whatever is drawn."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ietest_fast import _core
from ietest_fast.philox import philox_key
from ietest_fast.stats import holm, joint_test
from ietest_fast.stats.resampling import sort_into_types
from ietest_fast.stats.scores import paired_mean_test
from reference import scores_oracle as oracle

PATHS = _core.runtime.instruction_sets()

small_tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 90), st.integers(1, 3)),
    elements=st.integers(-3, 3).map(float),
)
real_columns = hnp.arrays(
    np.float64, st.integers(2, 60), elements=st.floats(-1e3, 1e3, allow_subnormal=False)
)


@given(small_tables)
def test_types_are_the_units_up_to_their_sign(units: np.ndarray) -> None:
    types = sort_into_types(units)
    found = Counter()
    for value, weight in zip(types.values.T, types.weights.tolist(), strict=True):
        found[tuple(value.tolist())] += weight
    expected: Counter[tuple[float, ...]] = Counter()
    for row in units.tolist():
        first = next((x for x in row if x != 0), None)
        if first is not None:
            expected[tuple(x if first > 0 else -x + 0.0 for x in row)] += 1
    assert found == expected
    assert types.exact
    assert types.n_units == len(units)
    for column, t in zip(units.T, types.t, strict=True):
        assert math.isclose(t, oracle.paired_t(column), rel_tol=1e-9, abs_tol=1e-12)


@given(small_tables, st.integers(0, 2**32))
def test_drawn_sums_could_have_been_drawn(units: np.ndarray, seed: int) -> None:
    types = sort_into_types(units)
    options = {"n_units": types.n_units, "n_replicates": 40, "key": philox_key(seed)}
    drawn = _core.scores.draw_sums(
        types.values, types.weights, **options, instruction_set="portable"
    )
    for path in PATHS:
        other = _core.scores.draw_sums(types.values, types.weights, **options, instruction_set=path)
        assert (drawn == other).all()
    sums, squares = drawn[..., 0], drawn[..., 1]
    assert (sums == np.rint(sums)).all()
    assert (squares == np.rint(squares)).all()
    assert ((sums - squares) % 2 == 0).all()  # x and x*x are odd together
    assert (sums**2 <= types.n_units * squares).all()  # Cauchy and Schwarz
    assert (squares <= types.n_units * np.square(units).max(axis=0)).all()


@given(real_columns)
def test_results_are_probabilities_and_know_the_sign(d: np.ndarray) -> None:
    zero = np.zeros_like(d)
    result = paired_mean_test(d, zero, n_resamples=99, n_threads=1)
    mirrored = paired_mean_test(-d, zero, n_resamples=99, n_threads=1)
    assert 0 < result.p_value <= 1
    assert 0 < result.p_symmetric <= 1
    assert not math.isnan(result.t)
    assert mirrored.t == -result.t
    # One set of replicates serves both, and its types forget the sign of t.
    assert mirrored.p_symmetric == result.p_symmetric


@given(small_tables)
def test_adjusted_p_values_keep_their_order(units: np.ndarray) -> None:
    joint = joint_test(units, np.zeros_like(units), n_resamples=199, min_p=True, n_threads=1)
    assert joint.p_min_p is not None
    for i, p in enumerate(joint.p_value):
        assert p <= joint.p_max_t[i] <= 1
        assert p <= joint.p_min_p[i] <= joint.p_holm[i] + 1e-12
        assert p <= joint.p_holm[i] <= joint.p_bonferroni[i]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_the_definition(p_values: list[float]) -> None:
    np.testing.assert_allclose(holm(p_values), oracle.holm(p_values), rtol=1e-12)
