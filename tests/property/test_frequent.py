"""Counts in bounded memory beside counts of everything."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.transform.files import FrequentCounts

_BATCHES = st.lists(st.lists(st.integers(0, 30), max_size=60), max_size=12)


@given(batches=_BATCHES, capacity=st.integers(1, 40))
def test_counts_err_by_no_more_than_is_said(batches, capacity):
    found, truth = FrequentCounts(capacity), Counter()
    for batch in batches:
        found.add(Counter(batch).items())
        truth.update(batch)
        assert len(found.counts) <= capacity
    assert found.error <= truth.total() / (capacity + 1)
    for key, count in truth.items():
        assert count - found.error <= found.counts[key] <= count
    if len(truth) <= capacity:
        assert found.counts == truth
        assert found.error == 0


def test_of_many_rare_ones_the_frequent_are_kept():
    found = FrequentCounts(10)
    for start in range(0, 10_000, 100):
        found.add([(f"rare {n}", 1) for n in range(start, start + 100)] + [("often", 50)])
    assert list(found.counts) == ["often"]
    assert 0 < found.error <= 15_000 / 11
    assert found.counts["often"] == 5_000 - found.error
