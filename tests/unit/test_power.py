from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.stats import (
    FEW_DISCORDANT,
    PairedCounts,
    PowerCurve,
    detectable_difference,
    equivalence_test,
    paired_test,
    pairs_to_decide,
    plan,
    power,
    power_curve,
    sample_size,
    verdict_probability,
)
from ietest_fast.stats.planning.power import exact_equivalence_p
from reference.interval_oracle import tango_score
from reference.power_oracle import enumerate_tables, p_value

THREADS = (1, 2, 3, 7)


@pytest.mark.parametrize("level", [Fraction(1, 5), Fraction(1, 20), Fraction(1, 100)])
def test_power_is_the_sum_over_every_table(level: Fraction) -> None:
    for n in (1, 2, 3, 5, 8, 12):
        for share10 in map(Fraction, ("0", "1/8", "1/2", "7/8")):
            for share01 in map(Fraction, ("0", "1/16", "1/8", "1/2")):
                if share10 + share01 > 1:
                    continue
                expected = enumerate_tables(
                    n, share10, share01, lambda a, b, n=n: p_value(a, b, n) < level
                )
                got = power(
                    n, float(share10 + share01), float(share10 - share01), alpha=float(level)
                )
                assert got == pytest.approx(float(expected), abs=1e-13)


def test_critical_differences_are_where_the_test_begins_to_reject() -> None:
    n, level = 900, 0.01
    critical = _core.power.critical_differences(n, 0, n, level)
    for k, c in enumerate(critical.tolist()):
        assert (c - k) % 2 == 0 or c == k + 1
        if c <= k:
            at = PairedCounts(n - k, (k + c) // 2, (k - c) // 2, 0)
            assert paired_test(at).p_value < level
        if c >= 2:
            d = min(c, k + 2) - 2 + (c == k + 1)
            below = PairedCounts(n - k, (k + d) // 2, (k - d) // 2, 0)
            assert paired_test(below).p_value >= level


def test_power_is_what_simulated_tables_show() -> None:
    n, psi, delta, s = 600, 0.15, 0.04, 20_000
    rng = np.random.default_rng(4)
    tables = rng.multinomial(n, [(psi + delta) / 2, (psi - delta) / 2, 1 - psi], size=s)
    rejected = sum(
        count
        for (n10, n01, rest), count in zip(
            *np.unique(tables, axis=0, return_counts=True), strict=True
        )
        if paired_test(PairedCounts(int(rest), int(n10), int(n01), 0)).p_value < 0.05
    )
    expected = power(n, psi, delta)
    assert abs(rejected / s - expected) < 4 * math.sqrt(expected * (1 - expected) / s)


def test_power_at_no_difference_is_the_size() -> None:
    assert power(9824, 0.06, 0.0) == pytest.approx(0.05, abs=0.001)
    assert power(9824, 0.06, 0.01) == power(9824, 0.06, -0.01)
    assert power(50, 0.0, 0.0) == 0
    # All pairs discordant: K is n, and the test is the sign test.
    critical = int(_core.power.critical_differences(40, 40, 40, 0.05)[0])
    law = scipy_stats.binom(40, 0.7)
    expected = law.sf((40 + critical) // 2 - 1) + law.cdf((40 - critical) // 2)
    assert power(40, 1.0, 0.4) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("share10", "share01", "level"),
    [(0.3, 0.1, 0.05), (0.5, 0.5, 0.01), (0.9, 0.0, 0.2), (0.02, 0.001, 0.05), (0.5, 0.45, 0.05)],
)
def test_a_scan_gives_the_power_at_each_sample_size(
    share10: float, share01: float, level: float
) -> None:
    shares = np.array([share10]), np.array([share01])
    for first, last in ((1, 150), (700, 760)):
        scan = _core.power.power_scan(first, last, share10, share01, level)
        single = [_core.power.powers(n, *shares, level)[0] for n in range(first, last + 1)]
        assert scan == pytest.approx(single, abs=1e-13)


def test_threads_change_no_power() -> None:
    curves = [
        (
            power_curve(0.2, n=3000, delta=np.linspace(0, 0.05, 9), n_threads=t).powers.tolist(),
            _core.power.power_scan(500, 600, 0.12, 0.08, 0.05, n_threads=t).tolist(),
            _core.power.critical_differences(5000, 0, 400, 0.05, n_threads=t).tolist(),
        )
        for t in THREADS
    ]
    assert all(other == curves[0] for other in curves[1:])


@pytest.mark.parametrize(
    ("psi", "delta", "goal", "n_tests"),
    [
        (1.0, 0.3, 0.8, 1),
        (0.9, 0.25, 0.9, 1),
        (0.3, 0.3, 0.8, 5),
        (0.5, -0.2, 0.6, 2),
        (1, 1, 0.9, 1),
    ],
)
def test_sample_size_is_where_power_stays_above(
    psi: float, delta: float, goal: float, n_tests: int
) -> None:
    n = sample_size(psi, delta, power=goal, n_tests=n_tests)
    level = 0.05 / n_tests
    shares = (psi + delta) / 2, (psi - delta) / 2
    every = _core.power.power_scan(1, 4 * n, *shares, level)
    assert n == 2 + np.flatnonzero(every < goal)[-1]


def test_sample_size_of_a_usual_plan() -> None:
    n = sample_size(0.08, 0.01)
    assert power(n, 0.08, 0.01) >= 0.8 > power(n - 1, 0.08, 0.01)
    z = scipy_stats.norm.isf([0.025, 0.2])
    connor = ((z[0] * math.sqrt(0.08) + z[1] * math.sqrt(0.08 - 1e-4)) / 0.01) ** 2
    assert n == pytest.approx(connor, rel=0.01)


@pytest.mark.parametrize(("n", "psi", "goal"), [(10_000, 0.08, 0.8), (30, 0.5, 0.5), (8, 1.0, 0.9)])
def test_the_detectable_difference_has_the_power_and_no_smaller_one(
    n: int, psi: float, goal: float
) -> None:
    delta = detectable_difference(n, psi, power=goal)
    assert 0 < delta <= psi
    assert power(n, psi, delta) >= goal > power(n, psi, delta * (1 - 1e-8))


def test_a_plan_solves_for_what_is_left_out() -> None:
    assert plan(discordance=0.08, n=10_000, delta=0.01).power == power(10_000, 0.08, 0.01)
    by_n = plan(discordance=0.3, delta=0.1, power=0.9)
    assert (by_n.solved_for, by_n.n) == ("n", sample_size(0.3, 0.1, power=0.9))
    by_delta = plan(discordance=0.3, n=500, n_tests=5)
    assert by_delta.delta == detectable_difference(500, 0.3, n_tests=5)
    assert by_delta.power >= 0.8
    assert "for one of 5 classifiers" in str(by_delta)
    assert by_delta.to_dict()["solved_for"] == "delta"


def test_curves_hold_power_and_draw_it() -> None:
    over_n = power_curve(0.1, n=[100, 1000, 5000], delta=0.03)
    assert isinstance(over_n, PowerCurve)
    assert over_n.powers.tolist() == [power(n, 0.1, 0.03) for n in (100, 1000, 5000)]
    over_delta = power_curve(0.1, n=1000, delta=[0.0, 0.02, 0.1])
    assert over_delta.powers.tolist() == [power(1000, 0.1, d) for d in (0.0, 0.02, 0.1)]
    text = over_delta.as_text(width=30, height=9)
    lines = text.splitlines()
    assert len(lines) == 11
    assert sum(line.count("•") for line in lines) == 30
    assert lines[0].endswith("•")  # power 1 at the right end, in the top row
    assert "delta = 0.02" in str(over_delta)


def test_a_curve_is_the_same_in_any_order() -> None:
    for ascending in (
        {"n": [100, 500, 1000], "delta": 0.03},
        {"n": 1000, "delta": [-0.02, 0.0, 0.1]},
    ):
        other = {
            name: value[::-1] if isinstance(value, list) else value
            for name, value in ascending.items()
        }
        one, two = power_curve(0.1, **ascending), power_curve(0.1, **other)  # type: ignore[arg-type]
        assert two.values.tolist() == one.values.tolist() == sorted(one.values)
        assert two.powers.tolist() == one.powers.tolist()
        assert two.as_text() == one.as_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "share10", "share01", "margin", "alpha"),
    [
        (1, "1/8", "1/8", "1/2", "1/5"),
        (7, "1/2", "1/4", "3/10", "1/5"),
        (12, "1/4", "1/4", "3/10", "1/5"),
        (14, "0", "0", "3/10", "1/10"),
        (14, "1/10", "9/10", "3/10", "1/10"),
        (20, "1/4", "0", "1/4", "1/10"),
        (26, "1/10", "1/20", "1/5", "1/20"),
    ],
)
def test_probability_of_a_verdict_is_the_sum_over_every_table(
    n: int, share10: str, share01: str, margin: str, alpha: str
) -> None:
    p10, p01, size, level = (Fraction(each) for each in (share10, share01, margin, alpha))
    z = scipy_stats.norm.isf(float(level))

    def decides(n_tests: int, n10: int, n01: int) -> bool:
        if p_value(n10, n01, n) < level / n_tests:
            return True
        if n10 + n01 < FEW_DISCORDANT:  # test_few_discordant.py holds these to their definition
            one, other = (
                exact_equivalence_p(n, *pairs, float(size)) for pairs in ((n10, n01), (n01, n10))
            )
            return max(one, other) < level
        lower, upper = (tango_score(n10, n01, n, side * float(size)) for side in (-1, 1))
        return lower > z and upper < -z

    for n_tests in (1, 3):
        expected = enumerate_tables(n, p10, p01, functools.partial(decides, n_tests))
        for sign in (1, -1):
            got = verdict_probability(
                n,
                float(p10 + p01),
                sign * float(p10 - p01),
                margin=float(size),
                alpha=float(level),
                n_tests=n_tests,
            )
            assert got == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "margin"),
    [
        (PairedCounts(760, 42, 38, 160), 0.02),  # half of the verdicts are "equivalent"
        (PairedCounts(760, 50, 30, 160), 0.02),  # delta is the margin: nearly all are "differs"
        (PairedCounts(900, 25, 15, 60), 0.01),
        (PairedCounts(980, 8, 2, 10), 0.01),
    ],
)
def test_so_many_pairs_do_decide(counts: PairedCounts, margin: float) -> None:
    """Of tables like the sample, with as many pairs as were asked for, 80% have a verdict."""
    n = pairs_to_decide(counts, margin=margin)
    assert n is not None
    law = [counts.n10 / counts.n, counts.n01 / counts.n, 1 - counts.k / counts.n]
    drawn, times = np.unique(
        np.random.default_rng(5).multinomial(n, law, size=4_000), axis=0, return_counts=True
    )
    decided = 0
    for (n10, n01, rest), count in zip(drawn.tolist(), times.tolist(), strict=True):
        result = equivalence_test(PairedCounts(rest, n10, n01, 0), margin=margin)
        decided += count * (result.equivalent or result.differs)
    share, error = decided / 4_000, math.sqrt(0.8 * 0.2 / 4_000)
    assert abs(verdict_probability(n, counts.k / counts.n, counts.delta, margin=margin) - share) < (
        4 * error
    )
    # n is no larger than it has to be, either.
    assert -4 * error < share - 0.8 < 0.02 + 4 * error


@pytest.mark.slow
def test_pairs_to_decide_is_where_the_probability_of_a_verdict_stays_high() -> None:
    for counts, margin in [
        (PairedCounts(760, 60, 20, 160), 0.05),
        (PairedCounts(700, 60, 40, 200), 0.05),
        (PairedCounts(880, 20, 10, 90), 0.03),
    ]:
        psi, delta = counts.discordance_rate, counts.delta
        n = pairs_to_decide(counts, margin=margin)
        assert n is not None
        assert verdict_probability(n, psi, delta, margin=margin) >= 0.8
        short = [
            m
            for m in range(n // 2, n + n // 2)
            if verdict_probability(m, psi, delta, margin=margin) < 0.8
        ]
        assert n == pytest.approx(max(short) + 1, rel=0.005, abs=1)


@pytest.mark.slow
def test_either_verdict_takes_fewer_pairs_than_one_of_them() -> None:
    apart = PairedCounts(760, 60, 20, 160)
    assert pairs_to_decide(apart) == pytest.approx(sample_size(0.08, 0.04), rel=0.01)
    n = pairs_to_decide(PairedCounts(760, 40, 40, 160))
    assert n is not None
    # Two one-sided tests in normal approximation, both at 5%, each failing with 10%; and 5% of
    # the tables are told to differ.
    z = scipy_stats.norm.isf([0.05, 0.1])
    assert n < 0.95 * 0.08 * (sum(z) / 0.01) ** 2
    # On the margin itself "equivalent" is said with probability alpha.
    assert pairs_to_decide(PairedCounts(900, 15, 5, 80)) < 0.95 * sample_size(0.02, 0.01)  # type: ignore[operator]
    # Without discordant pairs nothing is random: 0.99**299 is below 5%.
    assert pairs_to_decide(PairedCounts(50, 0, 0, 0)) == 299


@pytest.mark.slow
@pytest.mark.parametrize("delta_of_margin", [0.0, 0.9])
def test_where_plans_end_there_is_no_n_instead_of_an_error(delta_of_margin: float) -> None:
    """So few discordant pairs and so small a margin that about 10**8 pairs decide."""
    found = []
    for margin in np.geomspace(4e-7, 2e-6, 12):
        d = round(delta_of_margin * margin * 10**7)
        n = pairs_to_decide(PairedCounts(10**7 - 100, 50 + d, 50 - d, 0), margin=float(margin))
        found.append(n)
        assert n is None or n <= 10**8
    assert found[0] is None
    assert found[-1] is not None
    n = pairs_to_decide(PairedCounts(999_990, 5, 5, 0), margin=9e-7)
    assert n is not None
    assert 9 * 10**7 < n <= 10**8


@pytest.mark.slow
def test_many_pairs_to_decide_are_found_by_the_normal_law() -> None:
    for counts, margin in (
        (PairedCounts(500, 250, 250, 0), 0.0065),
        (PairedCounts(4_600, 210, 190, 0), 0.0045),
    ):
        psi, delta = counts.discordance_rate, counts.delta
        n = pairs_to_decide(counts, margin=margin)
        assert n is not None
        assert n * psi > 2_500
        for factor, side in ((1.01, 1), (0.99, -1)):
            share = verdict_probability(round(factor * n), psi, delta, margin=margin)
            assert side * (share - 0.8) > 0
    # The limit of equivalence is looked for among tens of millions of pairs.
    level = {"alpha": 0.0016158166004061432, "n_tests": 2}
    apart = pairs_to_decide(PairedCounts(1, 5, 2, 0), margin=0.0016087333898235057, **level)  # type: ignore[arg-type]
    assert apart == sample_size(0.875, 0.375, **level)  # type: ignore[arg-type]
    assert pairs_to_decide(PairedCounts(1, 1, 1, 1), margin=1e-4) is None
    assert equivalence_test(PairedCounts(1, 1, 1, 1), margin=1e-4).explanation.endswith(
        "Not even 100,000,000 pairs like these would decide (power 80%)."
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power(0, 0.1, 0.0), "number of pairs"),
        (lambda: power(1.5, 0.1, 0.0), "number of pairs"),  # type: ignore[arg-type]
        (lambda: power(10**9, 0.1, 0.0), "up to 100,000,000"),
        (lambda: power(10, 1.1, 0.0), "discordance"),
        (lambda: power(10, math.nan, 0.0), "discordance"),
        (lambda: power(10, 0.1, 0.2), "no larger than the share"),
        (lambda: power(10, 0.1, math.nan), "delta must lie between -1 and 1, not nan"),
        (lambda: sample_size(0.1, 1e-320), "more than 100,000,000 pairs"),
        (lambda: power(10, 0.1, 0.0, alpha=0), "alpha"),
        (lambda: power(10, 0.1, 0.0, n_tests=0), "number of tests"),
        (lambda: sample_size(0.1, 0.0), "difference of 0"),
        (lambda: sample_size(0.1, 0.05, power=0.01), "between the level"),
        (lambda: sample_size(0.1, 1e-6), "more than 100,000,000"),
        (lambda: detectable_difference(3, 0.5), "more pairs are needed"),
        (
            lambda: detectable_difference(10, 0.475, power=0.05145),
            "a difference of 0 with probability 0.0529: ask for a higher power, not 0.05145",
        ),
        (lambda: plan(discordance=0.1), "needs the number of pairs"),
        (lambda: plan(discordance=0.1, n=9, delta=0.1, power=0.5), "leave out"),
        (lambda: power_curve(0.1, n=10, delta=0.1), "a curve needs"),
        (lambda: pairs_to_decide(PairedCounts(1, 1, 0, 0), margin=0), "margin"),
        (lambda: pairs_to_decide(PairedCounts(1, 1, 0, 0), alpha=0.5), "alpha below 0.5"),
        (lambda: verdict_probability(9, 0.1, 0.0, margin=1), "margin"),
        (lambda: verdict_probability(9, 0.1, 0.0, alpha=0.6), "alpha below 0.5"),
        (lambda: verdict_probability(9, 0.1, 0.2), "no larger than the share"),
        (lambda: verdict_probability(0, 0.1, 0.0), "number of pairs"),
    ],
)
def test_impossible_plans_are_explained(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: power(4_000_000, 0.5, 1e-4), "2,000,000 discordant.*choose a smaller n"),
        (lambda: detectable_difference(10**8, 0.5), "50,000,000 discordant.*choose a smaller n"),
        (
            lambda: power_curve(0.5, n=[400_000 * i for i in range(1, 51)], delta=1e-3),
            "at the 50 points.*or fewer points",
        ),
        (lambda: sample_size(0.5, 5e-4), r"about 15,69\d,\d{3} pairs.*normal approximation"),
        (lambda: sample_size(0.5, 1e-5), "more than 100,000,000 pairs"),
    ],
)
def test_what_would_take_minutes_is_refused(call, remedy):
    with pytest.raises(InputError, match=remedy):
        call()
