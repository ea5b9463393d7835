from __future__ import annotations

import csv
import math
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats import (
    MatchedSample,
    PairedCounts,
    decide,
    draw_t_replicates,
    is_collapsed,
    mcnemar_test,
    paired_test,
    signal_to_noise,
)
from ietest_fast.stats.planning.power import size_given
from reference.paired_oracle import upper_tail_in_decimals

THREADS = (1, 2, 3, 7)


def test_t_is_the_paired_t_of_the_definition() -> None:
    counts = PairedCounts(30, 14, 6, 10)
    a = np.repeat([1, 1, 0, 0], [30, 14, 6, 10])
    b = np.repeat([1, 0, 1, 0], [30, 14, 6, 10])
    difference = a - b
    expected = math.sqrt(60) * difference.mean() / difference.std()
    assert counts.t == pytest.approx(expected, rel=1e-14)
    assert counts.delta == pytest.approx(a.mean() - b.mean())
    assert PairedCounts.from_outcomes(a, b) == counts


@pytest.mark.parametrize("method", ["exact", "multinomial", "resample"])
def test_no_discordant_pair_is_no_evidence(method: str) -> None:
    result = paired_test(PairedCounts(3, 0, 0, 5), method=method)  # type: ignore[arg-type]
    assert (result.t, result.p_value, result.p_paper, result.p_symmetric) == (0, 1, 1, 1)
    assert result.p_mcnemar_exact == 1
    assert result.warning is None


def test_all_pairs_pointing_one_way_have_an_infinite_t_and_a_finite_p() -> None:
    result = paired_test(PairedCounts(0, 9, 0, 0))
    assert result.t == math.inf
    assert paired_test(PairedCounts(0, 0, 9, 0)).t == -math.inf
    assert result.p_value == pytest.approx(2 * 0.5**9, rel=1e-14)


def test_one_pair() -> None:
    assert paired_test(PairedCounts(0, 1, 0, 0)).p_value == 1
    assert paired_test(PairedCounts(1, 0, 0, 0)).p_value == 1


@pytest.mark.parametrize(
    ("n10", "n01", "n"),
    [
        (800, 0, 10_000),
        (700, 100, 10_000),
        (500, 10, 9_824),
        (420, 20, 1_000),
        pytest.param(3_150, 2_850, 10**5, marks=pytest.mark.slow),
        (1_800, 1_200, 3_100),
        (64, 36, 10**4),
        (45, 36, 1000),
        (3, 1, 50),
        (12, 0, 13),
    ],
)
def test_deep_tails_keep_nine_digits(n10: int, n01: int, n: int) -> None:
    at_least, _, log_at_least, _ = _core.stats.exact_tails(n - n10 - n01, n10, n01, 0)
    expected = upper_tail_in_decimals(n10, n01, n)
    assert log_at_least == pytest.approx(float(expected.ln()), abs=1e-9)
    if expected > Decimal("1e-300"):
        assert at_least == pytest.approx(float(expected), rel=1e-9)


def test_a_tail_of_1e_minus_200_keeps_nine_digits() -> None:
    n10, n01, n = 1_160, 140, 20_000
    at_least, *_ = _core.stats.exact_tails(n - n10 - n01, n10, n01, 0)
    assert 1e-260 < at_least < 1e-190
    assert at_least == pytest.approx(float(upper_tail_in_decimals(n10, n01, n)), rel=1e-9)


def test_p_value_does_not_depend_on_the_sign_but_eq_14_does() -> None:
    n = 9824
    plus = paired_test(PairedCounts(n - 5, 5, 0, 0))
    minus = paired_test(PairedCounts(n - 5, 0, 5, 0))
    assert plus.p_value == minus.p_value
    assert plus.p_paper == pytest.approx(0.00879, abs=5e-6)
    assert minus.p_paper == pytest.approx(0.01976, abs=5e-6)
    assert paired_test(PairedCounts(n - 1, 1, 0, 0)).p_paper == pytest.approx(0.1105, abs=5e-5)


def test_mcnemar_exact_is_the_binomial_test() -> None:
    for n10, n01 in [(5, 0), (7, 2), (2, 7), (30, 30), (31, 30), (400, 100), (1, 1)]:
        expected = scipy_stats.binomtest(n10, n10 + n01).pvalue
        got = paired_test(PairedCounts(10, n10, n01, 0)).p_mcnemar_exact
        assert got == pytest.approx(expected, rel=1e-11)


def _class_shares(counts: PairedCounts) -> np.ndarray:
    """P(t* < t), P(t* = t), P(t* > t) from the exact law, for a positive t."""
    at_least, above, *_ = _core.stats.exact_tails(counts.n11, counts.n10, counts.n01, counts.n00)
    return np.array([1 - at_least, at_least - above, above])


def _replicates(engine: str, k: int) -> int:
    """So many that the multinomial engine makes tables, or so few that it draws binomials."""
    return {"resample": 4_000, "multinomial, many": 60_000, "multinomial, few": 40 * k + 200}[
        engine
    ]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["multinomial, many", "multinomial, few", "resample"])
def test_engines_agree_with_the_exact_law(engine: str) -> None:
    """Chi-square over many tables: replicates below, at and above t against the exact masses."""
    rng = np.random.default_rng(20)
    p_values = []
    for seed in range(60):
        k = int(rng.integers(1, 120))
        n10 = int(rng.binomial(k, 0.5))
        counts = PairedCounts(int(rng.integers(0, 300)), max(n10, k - n10), min(n10, k - n10), 40)
        if counts.d == 0:
            continue
        s = _replicates(engine, k)
        options = {"n_replicates": s, "key": philox_key([1, seed])}
        if engine != "resample":
            four = (counts.n11, counts.n10, counts.n01, counts.n00)
            _, (at_most, at_least, *_) = _core.stats.multinomial_test(*four, **options)
        else:
            _, (at_most, at_least, *_) = _core.stats.resample_test(counts.differences(), **options)
        observed = np.array([s - at_least, at_most + at_least - s, s - at_most])
        expected = _class_shares(counts) * s
        keep = expected > 5
        if keep.sum() < 2:
            continue
        cells = np.append(observed[keep], observed[~keep].sum())
        masses = np.append(expected[keep], expected[~keep].sum())
        if masses[-1] <= 1e-9:
            assert cells[-1] == 0
            cells, masses = cells[:-1], masses[:-1]
        statistic = ((cells - masses) ** 2 / masses).sum()
        p_values.append(scipy_stats.chi2.sf(statistic, cells.size - 1))
    assert len(p_values) > 40
    # Fisher's combination of all tables.
    combined = scipy_stats.combine_pvalues(p_values).pvalue
    assert combined > 1e-4


@pytest.mark.parametrize("d", [0, 1, 40, 107, 130])
def test_rare_outcomes_are_as_rare_as_they_should_be(d: int) -> None:
    """From d = 107 on, t is 3.8 and more: all beyond is drawn from the table of rare outcomes."""
    k, s = 800, 20_000_000
    n10 = (k + d) // 2
    counts = PairedCounts(7_000, n10, n10 - d, 2_200)
    at_most, at_least, beyond, *_ = _core.stats.multinomial_test(
        counts.n11, counts.n10, counts.n01, counts.n00, n_replicates=s, key=philox_key([7, d])
    )[1]
    exact_at_least, exact_above, *_ = _core.stats.exact_tails(
        counts.n11, counts.n10, counts.n01, counts.n00
    )
    for drawn, share in [
        (at_least, exact_at_least),
        (s - at_most, exact_above),
        (beyond, 2 * exact_at_least if d else 1.0),
    ]:
        assert abs(drawn - s * share) <= 4.5 * math.sqrt(s * share * (1 - share))


def test_laws_without_rare_outcomes_are_drawn() -> None:
    """One pair gives D = 1 or -1, each with one half."""
    t = draw_t_replicates(PairedCounts(0, 1, 0, 0), n_resamples=40_000, rng=2)
    assert set(np.sign(t)) == {-1.0, 1.0}
    assert abs((t > 0).mean() - 0.5) < 4.5 * 0.5 / 200


def test_wide_laws_are_drawn_by_binomials_with_the_same_result() -> None:
    """Above some thousand discordant pairs no table is used; the law stays the same."""
    counts = PairedCounts(60_000, 20_150, 19_850, 0)
    s = 40_000
    t = draw_t_replicates(counts, n_resamples=s, rng=3)
    assert abs(t.mean()) < 4.5 / math.sqrt(s)
    assert abs(t.std() - 1) < 4.5 / math.sqrt(2 * s) + 1e-3
    _, above, *_ = _core.stats.exact_tails(counts.n11, counts.n10, counts.n01, counts.n00)
    share = (t > counts.t).mean()
    assert abs(share - above) < 4.5 * math.sqrt(above * (1 - above) / s)


@pytest.mark.parametrize("method", ["multinomial", "resample"])
@pytest.mark.parametrize("k", [30, 40_000])
def test_threads_change_no_replicate(method: str, k: int) -> None:
    n_resamples = 3_000_000 if (method == "multinomial" and k == 30) else 400
    counts = PairedCounts(100, k - k // 3, k // 3, 57)
    results = [
        draw_t_replicates(
            counts,
            method=method,  # type: ignore[arg-type]
            n_resamples=n_resamples,
            rng=5,
            n_threads=n_threads,
        )
        for n_threads in THREADS
    ]
    for other in results[1:]:
        assert (results[0] == other).all()


def test_monte_carlo_p_values_count_the_drawn_resamples() -> None:
    counts = PairedCounts(70, 12, 7, 11)
    s = 20_000
    t = draw_t_replicates(counts, n_resamples=s, rng=0)
    result = paired_test(counts, method="multinomial", n_resamples=s, rng=0)
    # Equal values of (D, K) give equal doubles here, so comparing floats is safe for ties.
    at_most, at_least = (t <= counts.t).sum(), (t >= counts.t).sum()
    assert result.p_value == min(1, 2 * (min(at_most, at_least) + 1) / (s + 1))
    assert result.p_paper == 2 * min(at_most, (t > counts.t).sum()) / s
    assert result.p_symmetric == ((np.abs(t) >= abs(counts.t)).sum() + 1) / (s + 1)


@pytest.mark.parametrize(
    ("heading", "rows"),
    [
        (
            "## Few discordant pairs",
            {"bootstrap (`p_value`)": "p_value", "`p_mcnemar_exact`": "p_conditional"},
        ),
        (
            "## McNemar's test",
            {
                f"`{name}`": name
                for name in ("p_value", "p_asymptotic", "p_mid", "p_conditional", "p_corrected")
            },
        ),
    ],
)
def test_size_given_k_is_that_of_the_documentation(heading: str, rows: dict[str, str]) -> None:
    """docs/statistics.md: all tables with k discordant pairs, n = 9824; halves rounded up."""
    page = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text()
    table = page.split(heading)[1].split("| k  ")[1]
    lines = {
        name.strip(): [cell.strip() for cell in cells]
        for name, *cells in (line.strip("|").split("|") for line in f"|k  {table}".splitlines())
    }
    assert len(lines["k"]) == 11
    n = 9824
    for column, k in enumerate(map(int, lines["k"])):
        results = [mcnemar_test(PairedCounts(n - k, a, k - a, 0)) for a in range(k + 1)]
        for row, name in rows.items():
            rejected = sum(
                math.comb(k, a) for a, result in enumerate(results) if getattr(result, name) < 0.05
            )
            share = 100 * Decimal(rejected) / 2**k
            assert lines[row][column] == f"{share.quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def test_sizes_at_one_percent_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text()
    head, _, line, *_ = page.split("A run holds each of M = 5")[1].split("| k  ")[1].splitlines()
    numbers = [int(cell) for cell in head.strip("| ").split("|")]
    assert len(numbers) == 10
    for k, cell in zip(numbers, line.strip("|").split("|")[1:], strict=True):
        assert cell.strip() == f"{size_given(k, 9824, 0.01):.1%}"


@pytest.mark.slow
@pytest.mark.parametrize("n", [1_000, 9_824])
def test_the_published_p_value_is_near_from_300_discordant_pairs_on(n: int) -> None:
    """docs/statistics.md: where a tenth of the pairs are concordant, down to p = 1e-9."""
    furthest = 0.0
    for k in np.linspace(300, 0.9 * n, 25).astype(int).tolist():
        for d in range(k % 2, k + 1, 2):
            found = paired_test(PairedCounts(n - k, (k + d) // 2, (k - d) // 2, 0))
            if found.p_value < 1e-9:
                break
            assert found.p_paper is not None
            if d and found.p_value < 1:
                furthest = max(furthest, abs(found.p_value / found.p_paper - 1))
    print(f"n = {n}: within {furthest:.1%}")
    assert furthest < 0.03


@pytest.mark.parametrize(
    ("n", "k", "level", "s", "expected"),
    [
        (9_824, 31, 0.05, 999, (0.071, 0.048)),
        (9_824, 6, 0.01, 999, (0.031, 0.009)),
        (9_824, 21, 0.05, 1_000, (0.027, 0.050)),
        (40, 6, 0.01, 1_000, (0.0, 0.014)),
    ],
)
def test_drawn_p_values_hide_an_excess_and_reject_where_the_exact_one_lies_just_above(
    n: int, k: int, level: float, s: int, expected: tuple[float, float]
) -> None:
    """docs/statistics.md: sizes given k discordant pairs of n."""
    exact = drawn = 0.0
    most = math.ceil(level * (s + 1) / 2) - 2  # 2 (c + 1) / (S + 1) < level
    for a in range(k + 1):
        p = paired_test(PairedCounts(n - k, a, k - a, 0)).p_value
        chance = math.comb(k, a) / 2**k
        exact += chance * (p < level)
        drawn += chance * scipy_stats.binom.cdf(most, s, min(1.0, p / 2))
    print(f"n = {n}, k = {k}, at {level:.0%}: exact {exact:.1%}, drawn {drawn:.1%}")
    assert (round(exact, 3), round(drawn, 3)) == expected


@pytest.mark.parametrize(("level", "largest"), [(0.05, 0.068), (0.01, 0.015)])
def test_one_sided_sizes_from_25_discordant_pairs_on(level: float, largest: float) -> None:
    """docs/statistics.md: the largest size given k; p falls as more pairs favour the original."""

    def size(k: int) -> float:
        fewest = next(
            a
            for a in range(k // 2, k + 1)
            if paired_test(PairedCounts(9_824 - k, a, k - a, 0), alternative="greater").p_value
            < level
        )
        return float(scipy_stats.binom.sf(fewest - 1, k, 0.5))

    assert round(max(size(k) for k in range(25, 250)), 3) == largest


def test_fewer_than_25_discordant_pairs_are_warned_of() -> None:
    few = paired_test(PairedCounts(100, 20, 4, 0))
    assert few.few_discordant
    assert "24 discordant pairs" in str(few.warning)
    assert not paired_test(PairedCounts(100, 20, 5, 0)).few_discordant


def _published(shared: Path) -> list[dict[str, str]]:
    with (shared / "reference" / "ie_runs_snli.csv").open() as file:
        return list(csv.DictReader(file))


def _counts(row: dict[str, str]) -> PairedCounts:
    return PairedCounts(*(int(row[name]) for name in ("n11", "n10", "n01", "n00")))


def test_published_statistics_are_reproduced(shared: Path) -> None:
    rows = _published(shared)
    assert len(rows) == 307
    for row in rows:
        counts = _counts(row)
        if row["collapsed"] == "True":
            result = paired_test(counts)
            assert (counts.k, result.t, result.p_value) == (0, 0, 1)
            continue
        assert counts.t == pytest.approx(float(row["t"]), rel=1e-9, abs=1e-9)
        assert counts.mcnemar_statistic == pytest.approx(float(row["cochran"]), rel=1e-9, abs=1e-9)


def test_published_p_values_are_reproduced(shared: Path) -> None:
    scores = []
    for row in _published(shared):
        if row["collapsed"] == "True":
            continue
        result = paired_test(_counts(row))
        simulated = float(row["p_coin_20000"])
        if simulated == 0:
            assert result.p_paper < 1e-3
        else:
            # p is twice a share of 20,000 replicates.
            tail = result.p_paper / 2
            error = 2 * math.sqrt(tail * (1 - tail) / 20_000)
            scores.append((simulated - result.p_paper) / error)
        assert abs(result.p_value - result.p_paper) < 0.1
        assert paired_test(_counts(row).swapped()).p_value == result.p_value
    assert np.abs(scores).max() < 4.5
    assert abs(np.mean(scores)) < 0.5


def test_bonferroni_compares_strictly_with_alpha_over_m() -> None:
    assert not decide([0.01, 0.5, 0.5, 0.5, 0.5], alpha=0.05).reject
    decision = decide([0.5, 0.00999, 0.5, 0.5, 0.5], alpha=0.05)
    assert decision.reject
    assert (decision.threshold, decision.p_min, decision.n_tests) == (0.01, 0.00999, 5)


@pytest.mark.parametrize(
    ("p_values", "alpha"), [([], 0.05), ([math.nan], 0.05), ([1.2], 0.05), ([0.5], 0.0), ([0.5], 1)]
)
def test_impossible_decisions_are_refused(p_values: list[float], alpha: float) -> None:
    with pytest.raises(InputError):
        decide(p_values, alpha=alpha)


def test_snr_uses_the_population_deviation() -> None:
    assert signal_to_noise([[0.5, 0.7], [0.6, 0.6]]) == pytest.approx(0.6 / math.sqrt(0.005))
    assert signal_to_noise([0.5, 0.5]) == math.inf
    with pytest.raises(InputError):
        signal_to_noise([])
    with pytest.raises(InputError):
        signal_to_noise([0.1, math.nan])


def test_published_snr_is_reproduced(shared: Path) -> None:
    import json

    table = json.loads((shared / "reference" / "table2_snli.json").read_text())["snli"]
    rows = [row for row in _published(shared) if row["used_in_paper"] == "True"]
    for model in {row["model"] for row in rows}:
        accuracies = [_counts(row).accuracy_original for row in rows if row["model"] == model]
        assert signal_to_noise(accuracies) == pytest.approx(table[model]["recomputed"], rel=1e-9)


def test_collapsed_means_one_class_or_chance() -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, 900)
    assert is_collapsed(np.zeros(900, int), gold)
    assert is_collapsed(rng.integers(0, 3, 900), gold)
    assert not is_collapsed(np.where(rng.random(900) < 0.5, gold, 0), gold)
    with pytest.raises(InputError):
        is_collapsed(gold[:5], gold)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 0, 2], [1, 1, 1], "0 or 1"),
        ([1.0, math.nan], [1, 0], "row 1"),
        (["yes", "no"], [1, 0], "not values of type"),
        ([1, 0], [1, 0, 1], "2 and 3 rows"),
        ([[1], [0]], [1, 0], "shape"),
        ([], [], "no pair"),
    ],
)
def test_bad_outcomes_are_refused(a: list[object], b: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PairedCounts.from_outcomes(np.array(a), np.array(b))


@pytest.mark.parametrize(
    "counts", [(-1, 2, 3, 4), (0, 0, 0, 0), (1.5, 2, 3, 4), (2**40, 1, 0, 0), (True, 1, 1, 1)]
)
def test_impossible_counts_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(InputError):
        PairedCounts(*counts)


def test_unknown_methods_and_replicates_of_the_exact_law_are_refused() -> None:
    counts = PairedCounts(1, 2, 3, 4)
    with pytest.raises(InputError, match="method"):
        paired_test(counts, method="magic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no replicates"):
        paired_test(counts, n_resamples=5)
    with pytest.raises(InputError, match="at least 1"):
        paired_test(counts, method="resample", n_resamples=0)


def test_matched_sample_compares_predictions_with_gold() -> None:
    sample = MatchedSample.from_predictions([0, 1, 2, 2], [0, 1, 1, 2], [0, 0, 2, 1])
    assert sample.counts == PairedCounts(1, 2, 1, 0)
    assert len(sample) == 4
    with pytest.raises(InputError, match="3 predictions"):
        MatchedSample.from_predictions([0, 1], [0, 1, 1], [0, 1])


def test_labels_of_one_kind_are_compared_whatever_holds_them() -> None:
    import pyarrow as pa

    counts = PairedCounts(1, 1, 1, 0)
    for gold, a, b in (
        (pa.array([0, 1, 2]), np.array([0.0, 1.0, 0.0]), [0, 0, 2]),
        (["yes", "no", "no"], np.array(["yes", "no", "yes"]), pa.array(["yes", "yes", "no"])),
        ([True, False, False], [1, 0, 1], np.array([True, True, False])),
    ):
        assert MatchedSample.from_predictions(gold, a, b).counts == counts


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["0", "1", "2"], [0, 1, 2], [0, 1, 2]), "gold holds texts, original holds numbers"),
        (([0, 1, 2], [0, 1, 2], ["0", "1", "2"]), "transformed holds texts"),
        (([0, 1, 2], [0, "1", 2], [0, 1, 2]), "row 1: original must hold labels of one kind"),
        (([0, 1, 2], [0, 1, 2], [0, float("nan"), 2]), "row 1: transformed has 1 missing"),
        ((["a", None, "b"], ["a", "b", "b"], ["a", "b", "b"]), "row 1: gold has 1 missing"),
        (([0, 1], [[0, 1], [1, 0]], [0, 1]), "original holds values of type list"),
        (([0, 1], np.eye(2), [0, 1]), "original must be one column"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(columns, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        MatchedSample.from_predictions(*columns)


@pytest.mark.parametrize("n_resamples", [0, -1, 2**63, 10**30])
@pytest.mark.parametrize("function", [paired_test, draw_t_replicates])
def test_a_wrong_number_of_replicates_is_told(function, n_resamples: int) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=r"at least 1 and at most 2\*\*63 - 1"):
        function(PairedCounts(5, 3, 2, 1), method="multinomial", n_resamples=n_resamples)


@pytest.mark.parametrize("method", ["exact", "multinomial", "resample"])
def test_a_negative_seed_is_told(method: str) -> None:
    with pytest.raises(InputError, match="rng must be 0 or more, not -1"):
        paired_test(PairedCounts(5, 3, 2, 1), method=method, rng=-1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("library", "make"),
    [
        ("builtins", "list"),
        ("numpy", "array"),
        ("pandas", "Series"),
        pytest.param("polars", "Series", marks=pytest.mark.peer),
        ("pyarrow", "array"),
    ],
)
def test_columns_of_any_library_are_taken(library: str, make: str) -> None:
    column = getattr(pytest.importorskip(library), make)
    a, b = [1, 1, 0, 1, 0], [1, 0, 0, 0, 1]
    expected = paired_test(PairedCounts(1, 2, 1, 1))
    assert paired_test(column(a), column(b)) == expected
    assert paired_test(MatchedSample(original_correct=a, transformed_correct=b)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [(40, 12, 5, 9), (40, 5, 12, 9), (3, 4, 4, 0), (5, 0, 0, 2)])
def test_one_sided_alternatives_take_one_tail(counts: tuple[int, int, int, int]) -> None:
    """Against the sum over the whole law, and the binomial test of scipy."""
    from reference.paired_oracle import one_sided_in_fractions

    n11, n10, n01, n00 = counts
    table = PairedCounts(*counts)
    upper, lower = one_sided_in_fractions(n10, n01, n11 + n00)
    for alternative, expected in (("greater", upper), ("less", lower)):
        result = paired_test(table, alternative=alternative)  # type: ignore[arg-type]
        assert result.p_value == pytest.approx(float(expected), rel=1e-12)
        assert result.p_paper is None
        assert result.p_symmetric == paired_test(table).p_symmetric
        if table.k:
            binomial = scipy_stats.binomtest(n10, table.k, alternative=alternative).pvalue
            assert result.p_mcnemar_exact == pytest.approx(binomial, rel=1e-12)
        s = 40_000
        drawn = paired_test(table, method="multinomial", alternative=alternative, n_resamples=s)  # type: ignore[arg-type]
        error = math.sqrt(float(expected) * (1 - float(expected)) / s)
        assert abs(drawn.p_value - float(expected)) <= 4.5 * error + 1 / s
        assert f"p-value, {alternative}" in str(result)
    with pytest.raises(InputError, match="alternative must be one of"):
        paired_test(table, alternative="bigger")  # type: ignore[arg-type]


def test_results_show_themselves() -> None:
    result = paired_test(PairedCounts(70, 12, 7, 11), method="resample", n_resamples=500)
    text = str(result)
    assert text.startswith("Paired bootstrap t-test\npairs                    100\n")
    assert "[(c+1)/(S+1)]" in text
    assert "resample, S = 500" in text
    assert "Warning: only 19 discordant pairs" in text
    assert "only 19 discordant pairs" in result._repr_html_()
    given = result.to_dict()
    assert (given["alternative"], given["n_resamples"], given["p_value"]) == (
        "two-sided",
        500,
        result.p_value,
    )
    assert '"t": "inf"' in paired_test(PairedCounts(0, 9, 0, 0)).to_json()


# Clusters of outcomes: the exact law of swapping whole clusters.


def toss_coins(sums: list[int]) -> dict[int, float]:
    """The law of a sum whose terms get fair signs, by the definition."""
    law = {0: 1.0}
    for size in sums:
        new: dict[int, float] = {}
        for total, mass in law.items():
            for signed in (size, -size):
                new[total + signed] = new.get(total + signed, 0.0) + mass / 2
        law = new
    return law


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=9),
    st.sampled_from(["two-sided", "greater", "less"]),
)
def test_clusters_are_tested_by_the_law_of_their_coins(
    lost_and_won: list[tuple[int, int]], alternative: Any
) -> None:
    a, b, clusters = [], [], []
    for cluster, (lost, won) in enumerate(lost_and_won):
        a += [1] * lost + [0] * won + [1]
        b += [0] * lost + [1] * won + [1]
        clusters += [cluster] * (lost + won + 1)
    sums = [lost - won for lost, won in lost_and_won]
    law, total = toss_coins([size for size in sums if size]), sum(sums)
    found = paired_test(a, b, clusters=clusters, alternative=alternative)

    def tail(side: int) -> float:
        beyond = sum(mass for value, mass in law.items() if side * value > side * total)
        return beyond + law[total] / 2

    expected = {
        "greater": tail(1),
        "less": tail(-1),
        "two-sided": sum(mass for value, mass in law.items() if abs(value) > abs(total))
        + sum(mass for value, mass in law.items() if abs(value) == abs(total))
        / (2 if total else 1),
    }[alternative]
    if not any(sums):
        expected = 1.0
    assert found.p_value == pytest.approx(min(1.0, expected), rel=1e-9)
    assert (found.method, found.n_resamples, found.seed, found.p_floor) == ("exact",) + (None,) * 3


def test_clusters_of_one_give_mcnemars_mid_p() -> None:
    counts = PairedCounts(60, 14, 4, 22)
    a = np.repeat([1, 1, 0, 0], [60, 14, 4, 22])
    b = np.repeat([1, 0, 1, 0], [60, 14, 4, 22])
    found = paired_test(a, b, clusters=np.arange(100))
    assert found.p_value == pytest.approx(mcnemar_test(counts).p_mid, rel=1e-12)
    assert found.p_symmetric == pytest.approx(mcnemar_test(counts).p_conditional, rel=1e-12)


def test_clusters_have_no_floor() -> None:
    lost = np.arange(200_000) < 60_000
    found = paired_test(np.ones(200_000, bool), ~lost, clusters=np.arange(200_000) // 1_000)
    assert found.p_value == pytest.approx(2.0**-60, rel=1e-9)
    assert found.warning is None


@pytest.mark.parametrize(("alpha", "largest"), [(0.05, 0.0494), (0.04, 0.0401), (0.01, 0.0099)])
def test_the_mid_p_of_coins_keeps_its_level(alpha: float, largest: float) -> None:
    most = 200
    sizes = np.zeros(most)
    for k in range(1, most):
        masses = scipy_stats.binom.pmf(np.arange(k + 1), k, 0.5)
        far = np.abs(2 * np.arange(k + 1) - k)
        p = [masses[far > d].sum() + masses[far == d].sum() / 2 for d in far]
        sizes[k] = masses[np.array(p) < alpha].sum()
    expected = np.linspace(1, 120, 120)
    numbers = scipy_stats.binom.pmf(np.arange(most), 2_000, expected[:, None] / 2_000)
    assert (numbers @ sizes).max() <= largest
