"""Exact laws of strata against every table, in fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import strata_oracle as oracle

from ietest_fast.stats import PairedCounts
from ietest_fast.stats.fixed_margins import (
    count_heterogeneous,
    heterogeneity_tail,
    tails_given_total,
)
from ietest_fast.stats.strata import min_p, paired_p

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
def test_drawn_tables_have_the_same_law(groups: tuple[list[int], tuple[int, ...]]) -> None:
    sizes, marked = groups
    p = float(oracle.heterogeneity_p(marked, sizes))
    reached = count_heterogeneous(np.array(marked), np.array(sizes), n_tables=2_000, seed=1)
    assert abs(reached - 2_000 * p) <= 6 * (2_000 * p * (1 - p)) ** 0.5 + 1e-6


@given(st.lists(st.integers(0, 6).flatmap(lambda k: st.tuples(st.integers(0, k // 2), st.just(k))),
                min_size=1, max_size=3))  # fmt: skip
def test_min_p_is_that_of_every_way_that_losses_fall(strata: list[tuple[int, int]]) -> None:
    counts = [PairedCounts(9, k - w, w, 9) for w, k in strata]
    found = min_p([paired_p(own) for own in counts], counts)
    expected = oracle.min_p([w for w, _ in strata], [k for _, k in strata])
    assert found == pytest.approx([float(p) for p in expected], rel=1e-9)
