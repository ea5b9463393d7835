"""Any table of buckets: measures by their definitions, and draws of any types."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.philox import philox_key
from ietest_fast.runtime import core
from ietest_fast.stats import count_buckets, measure_consistency
from reference import consistency_oracle as oracle

ROWS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.integers(0, 2), st.booleans()), min_size=1, max_size=30
)


@pytest.mark.slow
@given(rows=ROWS)
def test_measures_of_any_table_are_those_of_the_definition(
    rows: list[tuple[str, int, bool]],
) -> None:
    names, answers, _ = (list(column) for column in zip(*rows, strict=True))
    right = [answer == 0 for answer in answers]
    result = measure_consistency(names, right, answers=answers, n_resamples=20)
    outcomes = oracle.group(names, [int(x) for x in right])
    labels = oracle.group(names, answers)
    assert result["p_c"].value == pytest.approx(float(oracle.plug_in(outcomes)))
    assert result["agreement"].value == pytest.approx(float(oracle.plug_in(labels)))
    if all(len(bucket) == 1 for bucket in outcomes):
        assert result["p_c_unbiased"].value is None
        assert result["agreement_unbiased"].value is None
    else:
        assert result["p_c_unbiased"].value == pytest.approx(float(oracle.unbiased(outcomes)))
        assert result["agreement_unbiased"].value == pytest.approx(float(oracle.unbiased(labels)))
    rate = oracle.micro(outcomes)
    if 0 < rate < 1:
        assert result["pvap"].value == pytest.approx(float(oracle.pvap(outcomes)))
    else:
        assert result["pvap"].value is None
    for estimate in result.estimates.values():
        if estimate.interval is not None:
            assert estimate.interval.low <= estimate.interval.high


@given(rows=ROWS)
def test_originals_are_kept_apart(rows: list[tuple[str, int, bool]]) -> None:
    seen: set[str] = set()
    marks = []
    for name, _, wants in rows:
        marks.append(wants and name not in seen)
        if wants:
            seen.add(name)
    left = [row for row, mark in zip(rows, marks, strict=True) if not mark]
    if not left:
        return
    names, answers, _ = (list(column) for column in zip(*rows, strict=True))
    right = [answer == 0 for answer in answers]
    counted = count_buckets(names, right, is_original=marks)
    assert counted.n_paraphrases == len(left)
    assert set(counted.names.tolist()) == {name for name, *_ in left}
    assert counted.n_without_paraphrases == len(set(names)) - len(counted)
    for name, original in zip(counted.names.tolist(), counted.originals.tolist(), strict=True):
        own = [
            int(correct)
            for other, mark, correct in zip(names, marks, right, strict=True)
            if other == name and mark
        ]
        assert [original] == (own or [-1])


@given(
    weights=st.lists(st.integers(1, 60), min_size=1, max_size=12),
    seed=st.integers(0, 2**32),
    n_threads=st.sampled_from([1, 2, 3, 7]),
)
def test_any_types_give_as_many_units_on_any_threads(
    weights: list[int], seed: int, n_threads: int
) -> None:
    counts = np.array(weights, dtype=np.int64)
    values = np.eye(counts.size)
    options = {"n_replicates": 50, "key": philox_key(seed)}
    drawn = core.buckets.draw_sums(values, counts, **options, n_threads=1)
    assert (drawn >= 0).all()
    assert (drawn == np.rint(drawn)).all()
    assert (drawn.sum(axis=1) == counts.sum()).all()
    again = core.buckets.draw_sums(values, counts, **options, n_threads=n_threads)
    assert (again == drawn).all()
    # Whatever is drawn, the first replicates do not depend on how many there are.
    few = core.buckets.draw_sums(values, counts, n_replicates=7, key=philox_key(seed))
    assert (few == drawn[:7]).all()
