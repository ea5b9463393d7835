"""Sizes and coverage of the tests of scores under symmetric and skewed laws.

``IETEST_SIMULATIONS=full python -m pytest -m slow -s tests/unit/test_score_levels.py`` prints the
tables of docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ietest_fast.stats import equivalence_test
from ietest_fast.stats.intervals import Differences
from ietest_fast.stats.resampling import sort_into_types
from ietest_fast.stats.scores import run_score_test
from ietest_fast.stats.studentised import StudentisedUnits
from simulations import IS_FULL, scaled, slack

S = 399
S_OF_INTERVALS = 1_999  # with 399, an interval of 95% would have 95.5%
ALPHA = 0.05


def _lognormal(sigma: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: rng.lognormal(0, sigma, n) - math.exp(sigma**2 / 2)


LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "Student's t, df 3": lambda rng, n: rng.standard_t(3, n),
    "±1": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "lognormal, σ = 0.5": _lognormal(0.5),
    "lognormal, σ = 1": _lognormal(1.0),
    "lognormal, σ = 1.5": _lognormal(1.5),
    "jumps, 10%": lambda rng, n: np.where(rng.random(n) < 0.1, 0.9, -0.1),
}
SYMMETRIC = tuple(LAWS)[:3]
SETTINGS = ((50, 1.0), (200, 0.5), (1_000, 0.1), (1_000, 1.0), (5_000, 0.1))


def _draw(law: str, n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    differs = rng.random(n) < share
    d = np.zeros(n)
    d[differs] = LAWS[law](rng, int(differs.sum()))
    return d


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), SETTINGS)
def test_tests_of_scores_keep_their_level_or_warn(n: int, share: float) -> None:
    n_tables = scaled(4_000 if n < 1_000 or share < 1 else 2_000)
    print(f"\n\n{n} pairs, {share:.0%} with a difference, {n_tables} tables")
    for number, law in enumerate(LAWS):
        rng = np.random.default_rng([number, n, int(100 * share)])
        found = []
        for _ in range(n_tables):
            d = _draw(law, n, share, rng)
            units = StudentisedUnits.of(Differences.of(d))
            options: dict[str, Any] = {
                "n_resamples": S,
                "seed": int(rng.integers(1 << 62)),
                "n_threads": 1,
            }
            types = sort_into_types(d[:, None])
            symmetric = run_score_test(
                types, alternative="two-sided", levels=(), keep_replicates=False, **options
            )["p_value"]
            ((at_most, at_least),), _ = units.count_tails([0.0], **options)
            studentised = min(1.0, 2 * (min(at_most, at_least) + 1) / (S + 1))
            default = studentised if units.fits == "studentised" else symmetric
            warned = units.warn(units.fits, unit="pairs") is not None
            found.append(
                (
                    symmetric <= ALPHA,
                    studentised <= ALPHA,
                    default <= ALPHA,
                    default <= ALPHA and not warned,
                    units.fits == "studentised",
                    warned,
                )
            )
        shares = np.mean(found, axis=0)
        cells = " | ".join(f"{100 * x:.1f}%" for x in shares[:4])
        print(f"| {law} | {cells} | {shares[4]:.0%} | {shares[5]:.0%} |")
        error = math.sqrt(0.05 * 0.95 / n_tables)
        assert shares[3] <= 0.065 + slack(n_tables)
        if law in SYMMETRIC:
            assert shares[2] <= 0.065 + error + slack(n_tables)
        if n * share >= 100 and law in ("normal", "exponential"):
            assert abs(shares[1] - 0.05) <= 0.01 + error + slack(n_tables)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(50, 1.0), (1_000, 0.1)])
def test_equivalence_tests_of_scores_keep_their_level_or_warn(n: int, share: float) -> None:
    """One-sided at delta = margin, skewed to either side; and what the 95% interval covers."""
    n_tables = scaled(2_000)
    print(f"\n\n{n} pairs, {share:.0%} with a difference, {n_tables} tables")
    for number, law in enumerate(LAWS):
        rng = np.random.default_rng([number, n, int(100 * share), 1])
        # Differences that are not 0 have half a standard deviation as their mean.
        shift = 0.5 * float(LAWS[law](rng, 1_000_000).std())
        margin = share * shift
        found = []
        for _ in range(n_tables):
            base = _draw(law, n, share, rng)
            for sign in (1, -1):
                d = np.where(base != 0, sign * base + shift, 0)
                shown = equivalence_test(
                    d, np.zeros(n), scores=True, margin=margin, alpha=ALPHA / 2,
                    n_resamples=S_OF_INTERVALS, rng=int(rng.integers(1 << 62)), n_threads=1,
                )  # fmt: skip
                low, high = shown.interval.low, shown.interval.high
                found.append(
                    (shown.p_upper <= ALPHA, low <= margin <= high, shown.warning is not None)
                )
        sizes = np.array(found).reshape(n_tables, 2, 3)
        cells = []
        for side in (0, 1):
            rejects, _, warned = sizes[:, side].T
            cells.append(f"{rejects.mean():.1%} | {(rejects & ~warned).mean():.1%}")
            assert (rejects & ~warned).mean() <= 0.065 + 0.005 + slack(n_tables)
        covers, warned = sizes[:, :, 1], sizes[:, :, 2]
        assert (covers | warned).mean() >= 0.935 - slack(2 * n_tables)
        print(
            f"| {law} | {' | '.join(cells)} | {covers.mean():.1%} | "
            f"{(covers | warned).mean():.1%} |"
        )


@pytest.mark.slow
@pytest.mark.parametrize("law", ["normal", "exponential"])
def test_zeros_that_are_shifted_with_the_others_break_the_level(law: str) -> None:
    """Next to nothing in the place of 0 makes the usual bootstrap-t, which shifts all."""
    n, n_tables = 200, scaled(4_000)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n_tables):
        d = _draw(law, n, 0.1, rng)
        tested = []
        for each in (d, np.where(d == 0, 1e-9, d)):
            units = StudentisedUnits.of(Differences.of(each))
            (tails,), _ = units.count_tails(
                [0.0], n_resamples=S, seed=int(rng.integers(1 << 62)), n_threads=1
            )
            tested.append(2 * (min(tails) + 1) / (S + 1) <= ALPHA)
        found.append(tested)
    kept, shifted = np.mean(found, axis=0)
    print(f"\n{law}: zeros kept {kept:.1%}, shifted {shifted:.1%}")
    assert kept < 0.065 + slack(n_tables)
    assert shifted > kept + (0.02 if IS_FULL else 0)
