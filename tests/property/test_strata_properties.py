"""Exact laws of strata against every table, in fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reference import strata_oracle as oracle

from ietest_fast.stats import PairedCounts, stratified_test
from ietest_fast.stats.laws.integer import (
    count_heterogeneous,
    heterogeneity_tail,
    tails_given_total,
)
from ietest_fast.stats.strata import min_p, paired_p
from simulations import could_be

GROUPS = st.lists(st.integers(1, 6), min_size=1, max_size=4).flatmap(
    lambda sizes: st.tuples(st.just(sizes), st.tuples(*(st.integers(0, k) for k in sizes)))
)


@given(GROUPS)
def test_heterogeneity_is_that_of_every_table(groups: tuple[list[int], tuple[int, ...]]) -> None:
    sizes, marked = groups
    p = heterogeneity_tail(np.array(marked), np.array(sizes))
    assert p == pytest.approx(float(oracle.heterogeneity_p(marked, sizes)), rel=1e-9)


@given(GROUPS, st.data())
def test_trend_is_that_of_every_table(
    groups: tuple[list[int], tuple[int, ...]], data: st.DataObject
) -> None:
    sizes, marked = groups
    doses = data.draw(st.lists(st.integers(-3, 9), min_size=len(sizes), max_size=len(sizes)))
    found = tails_given_total(
        np.array(sizes),
        sum(marked),
        [dose * np.arange(k + 1) for dose, k in zip(doses, sizes, strict=True)],
        sum(w * dose for w, dose in zip(marked, doses, strict=True)),
    )
    assert found is not None
    expected = oracle.trend_tails(marked, sizes, doses)
    assert found == pytest.approx([float(p) for p in expected], rel=1e-9)


@given(GROUPS)
@example(([6, 6, 6, 3], (0, 6, 6, 0)))  # as far out as one table in 100,000
def test_drawn_tables_have_the_same_law(groups: tuple[list[int], tuple[int, ...]]) -> None:
    sizes, marked = groups
    p = float(oracle.heterogeneity_p(marked, sizes))
    reached = count_heterogeneous(np.array(marked), np.array(sizes), n_tables=2_000, seed=1)
    assert could_be(reached, 2_000, p)


@given(st.lists(st.integers(0, 6).flatmap(lambda k: st.tuples(st.integers(0, k // 2), st.just(k))),
                min_size=1, max_size=3))  # fmt: skip
def test_min_p_is_that_of_every_way_that_losses_fall(strata: list[tuple[int, int]]) -> None:
    counts = [PairedCounts(9, k - w, w, 9) for w, k in strata]
    found = min_p([paired_p(own) for own in counts], counts)
    expected = oracle.min_p([w for w, _ in strata], [k for _, k in strata])
    assert found == pytest.approx([float(p) for p in expected], rel=1e-9)


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(6, 60), st.integers(1, 4), st.floats(0.05, 0.5))
def test_no_adjusted_p_lies_below_its_own_or_a_smaller_one(
    seed: int, n: int, n_strata: int, loss: float
) -> None:
    rng = np.random.default_rng(seed)
    strata, clusters = rng.integers(n_strata, size=n), np.arange(n) // 2
    a = rng.random(n) < 0.9
    b = np.where(rng.random(n) < loss, rng.random(n) < 0.3, a)
    for correction in ("holm", "minp"):
        for units in (None, clusters):
            result = stratified_test(
                a, b, strata, clusters=units, correction=correction, n_resamples=99
            )
            pairs = sorted(
                (each.p_value, each.p_adjusted)
                for each in result.strata
                if each.p_value is not None and each.p_adjusted is not None
            )
            assert all(own <= adjusted * (1 + 1e-9) for own, adjusted in pairs)
            assert [p for _, p in pairs] == sorted(p for _, p in pairs)
