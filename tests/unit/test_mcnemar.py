from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from ietest_fast.errors import InputError
from ietest_fast.stats import MatchedSample, PairedCounts, mcnemar_test, paired_test
from reference.paired_oracle import compare_t, sum_in_fractions

TABLES = [(59, 6, 16, 80), (1, 1, 7, 12), (40, 30, 30, 2), (900, 61, 39, 0), (3, 5, 0, 0)]


def test_published_p_values() -> None:
    """Complete response before and after consolidation (Cavo et al. 2012), as in Fagerland,
    Lydersen and Laake, Statistical Analysis of Contingency Tables (2017), chapter 8."""
    result = mcnemar_test(PairedCounts(59, 6, 16, 80))
    assert result.p_conditional == pytest.approx(0.052479, abs=5e-7)
    assert result.p_mid == pytest.approx(0.034690, abs=5e-7)
    assert result.p_asymptotic == pytest.approx(0.033006, abs=5e-7)
    assert result.p_corrected == pytest.approx(0.055009, abs=5e-7)
    assert math.sqrt(result.statistic) == pytest.approx(2.132, abs=5e-4)


@pytest.mark.parametrize("table", TABLES)
def test_classical_p_values_are_those_of_statsmodels(table: tuple[int, int, int, int]) -> None:
    n11, n10, n01, n00 = table
    matrix = [[n11, n10], [n01, n00]]
    result = mcnemar_test(PairedCounts(*table))
    exact = statsmodels_mcnemar(matrix, exact=True)
    assert result.p_conditional == pytest.approx(exact.pvalue, rel=1e-11)
    chi2 = statsmodels_mcnemar(matrix, exact=False, correction=False)
    assert result.statistic == pytest.approx(chi2.statistic, rel=1e-14)
    assert result.p_asymptotic == pytest.approx(chi2.pvalue, rel=1e-11)
    if n10 != n01:  # where they are equal statsmodels takes (0 - 1)^2 for a correction
        corrected = statsmodels_mcnemar(matrix, exact=False, correction=True)
        assert result.p_corrected == pytest.approx(corrected.pvalue, rel=1e-11)
    else:
        assert result.p_corrected == 1


@pytest.mark.parametrize("k", [1, 2, 5, 8, 31])
def test_mid_p_counts_ties_half(k: int) -> None:
    """From the definition: the binomial masses of all tables, by their distance from k / 2."""
    masses = [math.comb(k, a) / 2**k for a in range(k + 1)]
    for n10 in range(k + 1):
        distance = abs(2 * n10 - k)
        p = sum(
            mass * (1 if abs(2 * a - k) > distance else 0.5)
            for a, mass in enumerate(masses)
            if abs(2 * a - k) >= distance
        )
        assert mcnemar_test(PairedCounts(3, n10, k - n10, 1)).p_mid == pytest.approx(p, rel=1e-12)


def _tails(n10: int, n01: int, rest: int) -> tuple[float, float]:
    """P(stat* >= stat) and P(stat* > stat) from the symmetric p-value and the law's ties."""
    from fractions import Fraction

    n, k, d = n10 + n01 + rest, n10 + n01, abs(n10 - n01)
    at_least = above = Fraction(0)
    for drawn in range(n + 1):
        p_drawn = Fraction(math.comb(n, drawn) * k**drawn * (n - k) ** (n - drawn), n**n)
        for hits in range(drawn + 1):
            mass = p_drawn * Fraction(math.comb(drawn, hits), 2**drawn)
            order = compare_t(abs(2 * hits - drawn), drawn, d, k)
            at_least += mass * (order >= 0)
            above += mass * (order > 0)
    return float(at_least), float(above)


@pytest.mark.parametrize(
    "cells", [(1, 0, 1), (3, 1, 2), (2, 2, 3), (5, 1, 9), (7, 3, 0), (4, 9, 12)]
)
def test_the_exact_law_is_the_sum_in_fractions(cells: tuple[int, int, int]) -> None:
    n10, n01, rest = cells
    result = mcnemar_test(PairedCounts(rest, n10, n01, 0))
    at_least, above = _tails(n10, n01, rest)
    assert result.p_value == pytest.approx(at_least, rel=1e-12)
    assert result.p_paper == pytest.approx(above, rel=1e-12, abs=1e-15)
    assert result.p_value == pytest.approx(float(sum_in_fractions(n10, n01, rest)[2]), rel=1e-12)


@pytest.mark.parametrize("table", TABLES)
def test_exact_p_is_that_of_the_two_sided_t_test(table: tuple[int, int, int, int]) -> None:
    counts = PairedCounts(*table)
    assert mcnemar_test(counts).p_value == paired_test(counts).p_value
    assert mcnemar_test(counts.swapped()).p_paper == mcnemar_test(counts).p_paper


@pytest.mark.parametrize("method", ["multinomial", "resample"])
@pytest.mark.parametrize("table", TABLES)
def test_monte_carlo_agrees_with_the_exact_law(
    method: str, table: tuple[int, int, int, int]
) -> None:
    exact = mcnemar_test(PairedCounts(*table))
    s = 40_000
    drawn = mcnemar_test(PairedCounts(*table), method=method, n_resamples=s, rng=11)  # type: ignore[arg-type]
    assert (drawn.n_resamples, drawn.seed) == (s, 11)
    for got, p in ((drawn.p_value, exact.p_value), (drawn.p_paper, exact.p_paper)):
        assert abs(got - p) < 4.5 * math.sqrt(p * (1 - p) / s) + 2 / s


@pytest.mark.parametrize("method", ["multinomial", "resample"])
def test_threads_change_nothing(method: str) -> None:
    counts = PairedCounts(70, 12, 7, 11)
    results = [
        mcnemar_test(counts, method=method, n_resamples=30_000, rng=0, n_threads=t)  # type: ignore[arg-type]
        for t in (1, 2, 3, 7)
    ]
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("method", ["exact", "multinomial", "resample"])
def test_no_discordant_pair_is_no_evidence(method: str) -> None:
    result = mcnemar_test(PairedCounts(9, 0, 0, 4), method=method)  # type: ignore[arg-type]
    assert result.statistic == 0
    assert {result.p_value, result.p_paper, result.p_conditional, result.p_mid} == {1.0}
    assert {result.p_asymptotic, result.p_corrected} == {1.0}


def test_columns_of_any_library_are_taken() -> None:
    a, b = [1, 1, 0, 0, 1], [1, 0, 1, 0, 0]
    expected = mcnemar_test(PairedCounts(1, 2, 1, 1))
    assert mcnemar_test(a, b) == expected
    assert mcnemar_test(np.array(a, bool), np.array(b, float)) == expected
    assert mcnemar_test(pa.array(a), pa.chunked_array([b[:2], b[2:]])) == expected
    sample = MatchedSample(original_correct=np.array(a), transformed_correct=np.array(b))
    assert mcnemar_test(sample) == expected


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 0, 1],), {}, "two columns"),
        (([1, 0, 1], [1, 0]), {}, "original has 3, transformed has 2"),
        (([1, 0, 2], [1, 0, 1]), {}, "row 2: original must hold 0 or 1"),
        (([1, 0, math.nan], [1, 0, 1]), {}, "row 2: original has 1 missing"),
        (([1], [0]), {}, "at least two rows"),
        ((PairedCounts(1, 2, 3, 4), [1, 0]), {}, "leave the second column out"),
        ((PairedCounts(1, 2, 3, 4),), {"method": "magic"}, "method must be one of"),
        ((PairedCounts(1, 2, 3, 4),), {"n_resamples": 5}, "no replicates"),
        ((PairedCounts(1, 2, 3, 4),), {"method": "resample", "n_resamples": 0}, "at least 1"),
        ((PairedCounts(1, 2, 3, 4),), {"method": "resample", "rng": -1}, "rng must be 0"),
    ],
)
def test_bad_input_is_refused(
    arguments: tuple[object, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        mcnemar_test(*arguments, **options)  # type: ignore[arg-type]


def test_the_result_tells_everything() -> None:
    result = mcnemar_test(PairedCounts(59, 6, 16, 80))
    assert "conditional exact" in str(result)
    assert result.to_dict()["p_mid"] == result.p_mid
    assert "<table>" in result._repr_html_()
    assert '"statistic"' in result.to_json()


def test_published_cochran_p_values(shared: Path) -> None:
    """175 + 132 published runs. Their resampling swaps the first half of each bootstrap sample,
    which conditions a little more than a coin for each pair; S was 1000."""
    with (shared / "reference" / "ie_runs_snli.csv").open() as file:
        rows = list(csv.DictReader(file))
    differences = []
    for row in rows:
        if row["collapsed"] == "True":
            continue
        counts = PairedCounts(*(int(row[name]) for name in ("n11", "n10", "n01", "n00")))
        result = mcnemar_test(counts)
        assert result.statistic == pytest.approx(float(row["cochran"]), rel=1e-9, abs=1e-9)
        differences.append(result.p_paper - float(row["published_cochran_p"]))
    assert len(differences) > 150
    assert np.abs(differences).max() < 0.06
    assert abs(np.mean(differences)) < 0.005


def test_no_replicate_as_far_out_is_not_printed_as_a_tiny_p() -> None:
    result = mcnemar_test(PairedCounts(500, 60, 5, 100), method="multinomial", n_resamples=500)
    assert result.p_paper == 0
    assert "0 of 500" in str(result)
    assert "1e-300" not in str(result)
