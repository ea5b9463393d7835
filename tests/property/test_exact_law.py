from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast import _core
from ietest_fast.stats import PairedCounts, paired_test
from reference.paired_oracle import compare_t, enumerate_resamples, sum_in_fractions


def _got(n10: int, n01: int, n_concordant: int) -> tuple[float, float, float]:
    result = paired_test(PairedCounts(n_concordant, n10, n01, 0))
    return result.p_value, result.p_paper, result.p_symmetric


def _assert_equal(n10: int, n01: int, n_concordant: int, expected: tuple[object, ...]) -> None:
    got = _got(n10, n01, n_concordant)
    if n10 + n01 == 0:
        assert got == (1, 1, 1)
        return
    for ours, theirs in zip(got, expected, strict=True):
        # 1 - p of the strict tail may lose digits near 0, nothing else may.
        assert ours == pytest.approx(float(theirs), rel=1e-10, abs=1e-15)  # type: ignore[arg-type]


def test_all_resamples_of_tiny_samples() -> None:
    for n in range(1, 5):
        for n10 in range(n + 1):
            for n01 in range(n + 1 - n10):
                rest = n - n10 - n01
                _assert_equal(n10, n01, rest, enumerate_resamples(n10, n01, rest))


@pytest.mark.slow
@given(n10=st.integers(0, 25), n01=st.integers(0, 25), rest=st.integers(0, 60))
def test_exact_law_equals_the_sum_in_fractions(n10: int, n01: int, rest: int) -> None:
    if n10 + n01 + rest == 0:
        return
    _assert_equal(n10, n01, rest, sum_in_fractions(n10, n01, rest))


@given(
    n10=st.integers(0, 10**6),
    n01=st.integers(0, 10**6),
    rest=st.integers(1, 10**9),
)
def test_p_values_are_probabilities_and_even_in_the_sign(n10: int, n01: int, rest: int) -> None:
    here, there = _got(n10, n01, rest), _got(n01, n10, rest)
    assert here[0] == there[0]
    assert here[2] == there[2]
    for p in here:
        assert 0 <= p <= 1
    assert here[0] >= min(here[1], there[1])


@given(st.lists(st.integers(-(10**12), 10**12), min_size=2, max_size=2), st.data())
def test_t_is_compared_in_integers(d: list[int], data: st.DataObject) -> None:
    k = [abs(x) + data.draw(st.integers(0, 10**12 - abs(x))) for x in d]
    assert _core.stats.compare_t(d[0], k[0], d[1], k[1]) == compare_t(d[0], k[0], d[1], k[1])


@given(n10=st.integers(1, 400), rest=st.integers(1, 4000), extra=st.integers(1, 50))
def test_more_evidence_never_raises_p(n10: int, rest: int, extra: int) -> None:
    """With k and n fixed, a larger difference has a smaller p-value."""
    n01 = n10
    weaker = _got(n10, n01, rest)[0]
    moved = min(extra, n01)
    stronger = _got(n10 + moved, n01 - moved, rest)[0]
    assert stronger <= weaker
