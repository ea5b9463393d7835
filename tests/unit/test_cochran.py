from __future__ import annotations

import bisect
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.multitest import multipletests

from ietest_fast import _core
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.stats import PairedCounts, cochran_q_test, mcnemar_test
from reference.cochran_oracle import enumerate_resamples, q_statistic, sum_over_subsets


def random_table(n: int, v: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.random((n, v)) < rng.uniform(0.2, 0.8, v)).astype(int)


def as_rows(table: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(int(x) for x in row) for row in table]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "v"), [(2, 2), (3, 2), (2, 3), (3, 3), (2, 4)])
def test_exact_law_of_tiny_tables_is_the_enumeration_of_all_resamples(n: int, v: int) -> None:
    for seed in range(5):
        table = random_table(n, v, seed)
        result = cochran_q_test(table, method="exact")
        at_least, above = enumerate_resamples(as_rows(table))
        if result.n_mixed == 0:
            assert (result.statistic, result.p_value, result.p_paper) == (0, 1, 1)
            continue
        assert result.statistic == pytest.approx(float(q_statistic(as_rows(table))), rel=1e-13)
        assert result.p_value == pytest.approx(float(at_least), rel=1e-12)
        assert result.p_paper == pytest.approx(float(above), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("n", "v"), [(9, 2), pytest.param(11, 3, marks=pytest.mark.slow), (6, 4), (4, 5)]
)
def test_exact_law_is_the_sum_over_subsets(n: int, v: int) -> None:
    for seed in range(3):
        table = random_table(n, v, 10 + seed)
        result = cochran_q_test(table, method="exact")
        at_least, above = sum_over_subsets(as_rows(table))
        assert result.p_value == pytest.approx(float(at_least), rel=1e-11)
        assert result.p_paper == pytest.approx(float(above), rel=1e-11)


def test_two_versions_are_mcnemars_test() -> None:
    table = random_table(300, 2, 4)
    counts = PairedCounts.from_outcomes(table[:, 0], table[:, 1])
    expected = mcnemar_test(counts)
    result = cochran_q_test(table, method="exact")
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-14)
    assert (result.p_value, result.p_paper) == (expected.p_value, expected.p_paper)
    assert result.p_asymptotic == pytest.approx(expected.p_asymptotic, rel=1e-12)


def test_the_convolution_for_two_versions_is_the_sweep_of_the_paired_law() -> None:
    """Two independent pieces of code for one law."""
    table = random_table(120, 2, 5).astype(bool)
    levels, sums, _, spread, weight = _core.cochran.count_versions(table)
    n10 = int((table[:, 0] & ~table[:, 1]).sum())
    at_least, above, *_ = _core.stats.exact_tails(levels[2], n10, levels[1] - n10, levels[0])
    got = _core.cochran.exact_tails(levels, spread, weight)
    assert got == pytest.approx((2 * at_least, 2 * above), rel=1e-11)
    assert sums == table.sum(axis=0).tolist()


@pytest.mark.parametrize(("n", "v"), [(40, 3), (60, 5), (300, 9)])
def test_statistic_and_asymptotic_p_are_those_of_statsmodels(n: int, v: int) -> None:
    table = random_table(n, v, n)
    result = cochran_q_test(table, n_resamples=10)
    peer = cochrans_q(table)
    assert result.statistic == pytest.approx(peer.statistic, rel=1e-12)
    assert result.df == peer.df
    assert result.p_asymptotic == pytest.approx(peer.pvalue, rel=1e-10)


@pytest.mark.parametrize("method", ["multinomial", "resample"])
def test_engines_agree_with_the_exact_law(method: str) -> None:
    """Many small tables of three versions, combined by Fisher's rule."""
    p_values = []
    s = 6000
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = (rng.random((int(rng.integers(8, 60)), 3)) < 0.6).astype(int)
        exact = cochran_q_test(table, method="exact")
        drawn = cochran_q_test(table, method=method, n_resamples=s, rng=seed)  # type: ignore[arg-type]
        above = round(drawn.p_paper * s)
        ties = round(drawn.p_value * (s + 1) - 1) - above
        observed = np.array([above, ties, s - above - ties])
        expected = s * np.array([exact.p_paper, exact.p_value - exact.p_paper, 1 - exact.p_value])
        keep = expected > 5
        if keep.sum() < 2:
            continue
        cells, masses = observed[keep], expected[keep]
        if not keep.all():
            cells, masses = (np.append(a[keep], a[~keep].sum()) for a in (observed, expected))
        statistic = ((cells - masses) ** 2 / masses).sum()
        p_values.append(scipy_stats.chi2.sf(statistic, cells.size - 1))
    assert len(p_values) > 20
    assert scipy_stats.combine_pvalues(p_values).pvalue > 1e-4


@pytest.mark.parametrize("v", [2, 3, 5, 9, 16])
def test_the_two_monte_carlo_engines_draw_from_one_law(v: int) -> None:
    table = random_table(90, v, v).astype(bool)
    levels, _, rows, spread, weight = _core.cochran.count_versions(table)
    s = 20_000
    drawn = []
    for engine, first in (
        (_core.cochran.multinomial_tails, (levels,)),
        (_core.cochran.resample_tails, (rows, v)),
    ):
        q = np.empty(s)
        engine(*first, spread, weight, n_replicates=s, key=philox_key(2), q_replicates=q)
        drawn.append(q)
    assert scipy_stats.ks_2samp(*drawn).pvalue > 1e-4
    # Q* is close to chi-square under H0.
    assert drawn[0].mean() == pytest.approx(v - 1, abs=5 * math.sqrt(2 * (v - 1) / s) + 0.02 * v)


@pytest.mark.parametrize("method", ["multinomial", "resample"])
def test_threads_change_no_replicate(method: str) -> None:
    table = random_table(50, 4, 3).astype(bool)
    levels, _, rows, spread, weight = _core.cochran.count_versions(table)
    s = 20_001
    results = []
    for n_threads in (1, 2, 3, 7):
        q = np.empty(s)
        options = {"n_replicates": s, "key": philox_key(0), "q_replicates": q}
        if method == "multinomial":
            tails = _core.cochran.multinomial_tails(
                levels, spread, weight, n_threads=n_threads, **options
            )
        else:
            tails = _core.cochran.resample_tails(
                rows, 4, spread, weight, n_threads=n_threads, **options
            )
        results.append((tails, q))
    for tails, q in results[1:]:
        assert tails == results[0][0]
        assert (q == results[0][1]).all()


def test_monte_carlo_p_values_count_the_drawn_replicates() -> None:
    table = random_table(50, 3, 3).astype(bool)
    levels, _, _, spread, weight = _core.cochran.count_versions(table)
    s = 5000
    q = np.empty(s)
    _core.cochran.multinomial_tails(
        levels, spread, weight, n_replicates=s, key=philox_key(7), q_replicates=q
    )
    result = cochran_q_test(table, n_resamples=s, rng=7)
    assert result.p_paper == (q > result.statistic * (1 + 1e-12)).sum() / s
    assert result.p_value == ((q > result.statistic * (1 - 1e-12)).sum() + 1) / (s + 1)


@pytest.mark.slow
def test_size_under_h0() -> None:
    """Three versions with the same accuracy, dependent through the text: 5% are rejected."""
    rng = np.random.default_rng(8)
    rejected = 0
    n_tables = 1500
    for seed in range(n_tables):
        ease = rng.beta(2, 1, 120)
        table = rng.random((120, 3)) < ease[:, None]
        rejected += cochran_q_test(table, n_resamples=199, rng=seed).p_value <= 0.05
    assert abs(rejected / n_tables - 0.05) < 3 * math.sqrt(0.05 * 0.95 / n_tables) + 0.005


def multinomial_thirds(n: int) -> dict[tuple[int, int, int], float]:
    """Return how probable it is that n texts fall on three versions so, each with 1/3."""
    shares = {}
    for a in range(n + 1):
        for b in range(n - a + 1):
            ways = math.factorial(n) // math.prod(map(math.factorial, (a, b, n - a - b)))
            shares[a, b, n - a - b] = ways / 3**n
    return shares


def sizes_of_a_split(n: int, at_one: int, at_two: int) -> tuple[float, float]:
    """Return how often the exact and the chi-square test reject at 5% under H0.

    Of n texts, some are right on one version of three, some on two, and all others on all.
    """
    tables: dict[int, np.ndarray] = {}
    shares: dict[int, float] = {}
    for right, p in multinomial_thirds(at_one).items():
        for wrong, q in multinomial_thirds(at_two).items():
            totals = np.subtract(right, wrong)
            spread = int(3 * np.square(totals).sum() - totals.sum() ** 2)
            shares[spread] = shares.get(spread, 0.0) + p * q
            if spread not in tables:
                mixed = [np.repeat(np.eye(3, dtype=int), right, axis=0)]
                mixed.append(1 - np.repeat(np.eye(3, dtype=int), wrong, axis=0))
                all_right = np.ones((n - at_one - at_two, 3), int)
                tables[spread] = np.concatenate([*mixed, all_right])
    spreads = sorted(shares)

    def rejects(place: int) -> bool:
        return cochran_q_test(tables[spreads[place]], method="exact").p_value <= 0.05

    first = bisect.bisect_left(range(len(spreads)), True, key=rejects)
    exact = sum(shares[spread] for spread in spreads[first:])
    critical = float(scipy_stats.chi2.isf(0.05, 2))
    mixed_texts = at_one + at_two
    return exact, sum(p for spread, p in shares.items() if spread >= critical * mixed_texts)


@pytest.mark.parametrize(
    ("k", "average", "least", "most"),
    [
        (3, 0.028, 0.0, 0.111),
        (4, 0.069, 0.037, 0.074),
        (7, 0.051, 0.021, 0.093),
        (8, 0.047, 0.033, 0.059),
        (12, 0.058, 0.048, 0.072),
        (20, 0.052, 0.047, 0.056),
        pytest.param(40, 0.049, 0.042, 0.054, marks=pytest.mark.slow),
    ],
)
def test_sizes_given_mixed_texts(k: int, average: float, least: float, most: float) -> None:
    """docs/statistics.md: every table of k mixed texts out of 9,824, for each split of levels."""
    splits = [sizes_of_a_split(9_824, at_one, k - at_one) for at_one in range(k // 2 + 1)]
    splits += splits[: (k + 1) // 2][::-1]  # right and wrong may be exchanged
    exact = np.array([size for size, _ in splits])
    weights = scipy_stats.binom.pmf(np.arange(k + 1), k, 0.5)
    differ = [
        (m, f"{a:.1%}", f"{b:.1%}") for m, (a, b) in enumerate(splits) if not np.isclose(a, b)
    ]
    print(f"k = {k}: {weights @ exact:.1%}, {exact.min():.1%} to {exact.max():.1%}; {differ}")
    found = [round(float(size), 3) for size in (weights @ exact, exact.min(), exact.max())]
    assert found == pytest.approx([average, least, most], abs=0.00051)
    assert len(differ) == (2 if k == 12 else 0)


@pytest.mark.slow
def test_pairwise_tests_are_mcnemars_with_holms_correction() -> None:
    table = random_table(200, 4, 1)
    result = cochran_q_test(table, versions=["a", "b", "c", "d"], n_resamples=10)
    assert [(pair.first, pair.second) for pair in result.pairwise] == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"),
    ]  # fmt: skip
    for pair in result.pairwise:
        first, second = "abcd".index(pair.first), "abcd".index(pair.second)
        counts = PairedCounts.from_outcomes(table[:, first], table[:, second])
        assert pair.counts == counts
        assert pair.p_value == mcnemar_test(counts).p_value
    adjusted = multipletests([pair.p_value for pair in result.pairwise], method="holm")[1]
    assert [pair.p_adjusted for pair in result.pairwise] == pytest.approx(adjusted, rel=1e-14)


@pytest.mark.parametrize("method", ["exact", "multinomial", "resample"])
def test_no_mixed_text_is_no_evidence(method: str) -> None:
    table = [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    result = cochran_q_test(table, method=method)  # type: ignore[arg-type]
    assert (result.statistic, result.n_mixed) == (0, 0)
    assert (result.p_value, result.p_paper, result.p_asymptotic) == (1, 1, 1)


@pytest.mark.peer
def test_tables_of_any_library_are_taken() -> None:
    table = random_table(30, 3, 2)
    expected = cochran_q_test(table, versions=["x", "y", "z"], rng=4)
    frame = pd.DataFrame(table, columns=["x", "y", "z"])
    assert cochran_q_test(frame, rng=4) == expected
    assert cochran_q_test(pa.Table.from_pandas(frame), rng=4) == expected
    assert cochran_q_test({name: frame[name].tolist() for name in frame}, rng=4) == expected
    pl = pytest.importorskip("polars")
    assert cochran_q_test(pl.DataFrame(frame.to_dict("list")), rng=4) == expected


def test_what_is_left_out_is_no_evidence() -> None:
    """Versions so different that p is the bound on what the enumeration misses."""
    table = np.repeat([[1, 0, 0], [1, 1, 1]], [200, 300], axis=0)
    result = cochran_q_test(table, method="exact")
    assert result.p_value == 1e-30
    assert result.p_paper <= result.p_value


def test_an_exact_law_that_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match=r"4 versions and \d+ mixed texts.*multinomial"):
        cochran_q_test(random_table(400, 4, 0), method="exact")


@pytest.mark.parametrize(
    ("outcomes", "options", "message"),
    [
        ([1, 0, 1], {}, "table of texts by versions"),
        ([[1], [0]], {}, "at least two versions, not 1"),
        ([[1, 0]], {}, "at least two rows"),
        ([[1, 0], [1, 3]], {}, "row 1: version 2 must hold 0 or 1"),
        ([[1, 0], [1, math.nan]], {}, "row 1: version 2 has 1 missing"),
        ({"a": [1, 0, 1], "b": [1, 0]}, {}, "a has 3, b has 2"),
        ([[1, 0], [0, 1]], {"versions": ["a"]}, "2 versions, but 1 names"),
        ([[1, 0], [0, 1]], {"versions": ["a", "a"]}, "two versions have the name 'a'"),
        ([[1, 0], [0, 1]], {"method": "magic"}, "method must be one of"),
        ([[1, 0] * 10, [0, 1] * 10], {"method": "resample"}, "at most 16 versions, not 20"),
    ],
)
def test_bad_input_is_refused(outcomes: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cochran_q_test(outcomes, **options)  # type: ignore[arg-type]


def test_the_result_tells_everything() -> None:
    result = cochran_q_test(random_table(30, 3, 2), method="exact")
    assert "version 1 − version 2" in str(result)
    assert len(result.to_dict()["pairwise"]) == 3
    assert "<table>" in result._repr_html_()
    assert '"n_mixed"' in result.to_json()
