from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    Collapse,
    chance_limit,
    find_collapse,
    is_collapsed,
    robustness,
    signal_to_noise,
)


def test_snr_is_given_with_and_without_collapsed_classifiers() -> None:
    accuracies = np.array([[0.8, 0.82, 0.33], [0.81, 0.79, 0.8]])
    collapsed = accuracies < 0.5
    result = robustness(accuracies, collapsed)
    assert result.every.snr == signal_to_noise(accuracies)
    assert result.without_collapsed is not None
    assert result.without_collapsed.snr == signal_to_noise(accuracies[~collapsed])
    assert (result.every.n, result.without_collapsed.n) == (6, 5)
    assert result.collapsed == ("#2",)
    assert "Collapsed: #2." in str(result)
    named = robustness([0.8, 0.3], [False, True], names=["rho 0, m 0", "rho 0, m 1"])
    assert named.collapsed == ("rho 0, m 1",)
    assert robustness(accuracies).collapsed == ()


def test_published_snr_with_the_runs_as_first_executed(shared: Path) -> None:
    """ALBERT on SNLI: 10.8 with the runs that were set aside replaced, 2.61 with them."""
    with (shared / "reference" / "ie_runs_snli.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "albert_base"]

    def accuracy(row: dict[str, str]) -> float:
        return (int(row["n11"]) + int(row["n10"])) / int(row["n"])

    used = robustness([accuracy(row) for row in rows if row["used_in_paper"] == "True"])
    assert used.every.snr == pytest.approx(10.8, abs=0.05)
    assert used.every.interval is not None
    assert used.every.snr in used.every.interval


def test_the_interval_is_the_delta_methods() -> None:
    """With the influences found numerically: leave a little weight of one classifier out."""
    x = np.random.default_rng(0).normal(0.8, 0.03, 12)

    def log_snr(weights: np.ndarray) -> float:
        mean = weights @ x / weights.sum()
        return math.log(mean / math.sqrt(weights @ (x - mean) ** 2 / weights.sum()))

    n = x.size
    step = 1e-6
    influence = []
    for i in range(n):
        weights = np.full(n, 1 - step)
        weights[i] += n * step
        influence.append((log_snr(weights) - log_snr(np.ones(n))) / step)
    error = math.sqrt(np.square(influence).sum() / (n * (n - 1)))
    factor = math.exp(scipy_stats.t.ppf(0.95, n - 1) * error)
    result = robustness(x, confidence_level=0.9).every
    assert result.interval is not None
    assert result.interval.low == pytest.approx(result.snr / factor, rel=1e-4)
    assert result.interval.high == pytest.approx(result.snr * factor, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "least", "most"),
    [
        (0.0, 0.89, 0.95),
        (0.15, 0.94, 0.99),
        (0.1, 0.92, 0.98),
        (0.05, 0.75, 0.88),
        (0.03, 0.57, 0.7),
        (0.01, 0.2, 0.28),
    ],
)
def test_coverage_with_35_classifiers(share: float, least: float, most: float) -> None:
    """docs/statistics.md, "Robustness": each collapses with a probability."""
    rng = np.random.default_rng(1)
    mean = (1 - share) * 0.8 + share / 3
    square = (1 - share) * (0.8**2 + 0.02**2) + share / 9
    truth = mean / math.sqrt(square - mean**2)
    covered, n_samples = 0, 2_000
    for _ in range(n_samples):
        x = np.where(rng.random(35) < share, 1 / 3, rng.normal(0.8, 0.02, 35))
        interval = robustness(x).every.interval
        assert interval is not None
        covered += truth in interval
    print(f"35 classifiers, {share:.0%} collapse: {covered / n_samples:.1%}")
    assert least < covered / n_samples < most


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 10, 20])
def test_coverage_with_few_classifiers(n: int) -> None:
    """docs/statistics.md, "Robustness": normal accuracies."""
    rng = np.random.default_rng(2)
    covered, n_samples = 0, 4_000
    for _ in range(n_samples):
        interval = robustness(rng.normal(0.8, 0.02, n)).every.interval
        assert interval is not None
        covered += 0.8 / 0.02 in interval
    print(f"{n} classifiers: {covered / n_samples:.1%}")
    assert 0.8 < covered / n_samples < (0.9 if n <= 7 else 0.93)


def test_equal_accuracies_have_no_interval() -> None:
    result = robustness([0.5, 0.5, 0.5])
    assert result.every.snr == math.inf
    assert result.every.interval is None
    assert result.to_dict()["every"]["interval"] is None
    assert '"snr": "inf"' in result.to_json()
    assert math.isnan(robustness([0.7]).every.snr)


def test_two_accuracies_say_nothing_about_their_spread() -> None:
    result = robustness([0.5, 0.6])
    assert result.every.snr == pytest.approx(11)
    assert result.every.interval is None


def test_three_accuracies_and_an_extreme_confidence_have_an_interval_without_an_end() -> None:
    interval = robustness([0.5, 0.6, 0.9], confidence_level=1 - 1e-12).every.interval
    assert interval is not None
    assert (interval.low, interval.high) == (0, math.inf)


def test_a_model_that_collapsed_everywhere_is_told() -> None:
    result = robustness([0.33, 0.34], [True, True])
    assert result.without_collapsed is None
    assert "No classifier is shown to beat the most frequent label" in str(result)


@pytest.mark.parametrize("n", [10, 100, 9824])
@pytest.mark.parametrize("classes", [2, 3])
def test_chance_reaches_to_what_the_binomial_test_does_not_reject(n: int, classes: int) -> None:
    gold = np.arange(n) % classes
    limit = round(chance_limit(gold) * n)
    p = np.bincount(gold).max() / n
    assert scipy_stats.binomtest(limit, n, p, alternative="greater").pvalue > 0.01
    assert scipy_stats.binomtest(limit + 1, n, p, alternative="greater").pvalue <= 0.01


def test_collapse_is_found_by_its_rule() -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, 900)
    assert find_collapse(np.zeros(900, int), gold) is Collapse.ONE_CLASS
    assert find_collapse(rng.integers(0, 3, 900), gold) is Collapse.AT_CHANCE
    assert find_collapse((gold + 1) % 3, gold) is Collapse.AT_CHANCE
    assert find_collapse(np.where(rng.random(900) < 0.5, gold, 0), gold) is None
    assert is_collapsed(np.zeros(900, int), gold)
    assert not is_collapsed(gold, gold)


@pytest.mark.parametrize(
    ("accuracies", "options", "message"),
    [
        ([], {}, "at least one accuracy"),
        ([0.5, math.nan], {}, "one is NaN"),
        ([0.5, -0.1], {}, "row 1: an accuracy is negative"),
        ([0.5, 0.6], {"collapsed": [True]}, "shape"),
        ([0.5, 0.6], {"collapsed": [1, 0]}, "true or false"),
        ([0.5, 0.6], {"names": ["a"]}, "2 accuracies, but 1 names"),
        ([0.5, 0.6], {"confidence_level": 0}, "between 0 and 1"),
    ],
)
def test_bad_input_is_refused(
    accuracies: list[float], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        robustness(accuracies, **options)  # type: ignore[arg-type]


def test_gold_labels_have_to_be_there() -> None:
    with pytest.raises(InputError, match="column"):
        chance_limit([])
