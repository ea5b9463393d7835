"""Laws of sums of independent integers, against every way in which they come about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ietest_fast.errors import InputError
from ietest_fast.stats.laws.integer import tails_of_sum, upper_tail

Law = dict[int, Fraction]


def convolve(laws: list[tuple[Law, int]]) -> Law:
    """The law of the sum, term by term, in fractions."""
    total: Law = {0: Fraction(1)}
    for law, count in laws:
        for _ in range(count):
            new: Law = {}
            for value, mass in total.items():
                for step, share in law.items():
                    new[value + step] = new.get(value + step, Fraction(0)) + mass * share
            total = new
    return total


def as_arguments(laws: list[tuple[Law, int]]) -> tuple[Any, Any, Any]:
    return (
        [np.array(list(law)) for law, _ in laws],
        [np.array([float(mass) for mass in law.values()]) for law, _ in laws],
        np.array([count for _, count in laws]),
    )


@st.composite
def some_laws(draw: st.DrawFn) -> list[tuple[Law, int]]:
    laws = []
    for _ in range(draw(st.integers(1, 3))):
        values = draw(st.lists(st.integers(-6, 6), min_size=1, max_size=4, unique=True))
        weights = draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
        law = {
            value: Fraction(weight, sum(weights))
            for value, weight in sorted(zip(values, weights, strict=True))
        }
        laws.append((law, draw(st.integers(0, 12))))
    return laws


def even(*values: int) -> Law:
    return dict.fromkeys(values, Fraction(1, len(values)))


@given(laws=some_laws())
# Their transforms are 0 at some frequencies.
@example(laws=[(even(0, 1, 2), 1)])
@example(laws=[(even(0, 1, 5), 1)])
@example(laws=[(even(-1, 1), 1), (even(0, 1, 2), 2)])
def test_tails_are_exact(laws: list[tuple[Law, int]]) -> None:
    expected = convolve(laws)
    for observed in range(min(expected) - 1, max(expected) + 2):
        low, high = tails_of_sum(*as_arguments(laws), observed)
        at_most = float(sum((m for v, m in expected.items() if v <= observed), Fraction(0)))
        at_least = float(sum((m for v, m in expected.items() if v >= observed), Fraction(0)))
        assert low == pytest.approx(at_most, rel=1e-9, abs=1e-300)
        assert high == pytest.approx(at_least, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("n", [50, 800, 5_000])
def test_deep_tails_of_coins_keep_their_digits(n: int) -> None:
    from scipy.stats import binom

    for share in (0.5, 0.6, 0.75, 1.0):
        heads = int(share * n)
        found = upper_tail([[0, 1]], [[0.5, 0.5]], [n], heads)
        expected = float(binom.logsf(heads - 1, n, 0.5))
        if expected > -570:  # 1e-250
            assert np.log(found) == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_large_sums_of_many_types() -> None:
    rng = np.random.default_rng(0)
    supports = [np.sort(rng.choice(np.arange(-1_000, 1_000), 6, replace=False)) for _ in range(40)]
    masses = [rng.dirichlet(np.ones(6)) for _ in range(40)]
    counts = rng.integers(1, 4_000, size=40)
    mean = sum(c * float(x @ m) for x, m, c in zip(supports, masses, counts, strict=True))
    variance = sum(
        c * float((x - x @ m) ** 2 @ m) for x, m, c in zip(supports, masses, counts, strict=True)
    )
    observed = round(mean + 3 * variance**0.5)
    assert upper_tail(supports, masses, counts, observed) == pytest.approx(0.00135, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]], [[0.5, 0.5]], [1, 2]), "each type needs one of each"),
        (([[0, 1]], [[0.5, 0.6]], [1]), "sum to"),
        (([[0, 1]], [[0.5, 0.5]], [-1]), "fewer than 0"),
        (([[0.5, 1]], [[0.5, 0.5]], [1]), "integer"),
    ],
)
def test_bad_laws_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tails_of_sum(*arguments, 1)
