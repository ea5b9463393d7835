"""Corrected estimates: the paper's sum, its renormalised form, intervals, warnings."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import IetestWarning, InputError
from ietest_fast.stats import BucketCounts, correct_consistency, count_buckets
from ietest_fast.stats.consistency.corrected import stratum_of
from reference import consistency_oracle as oracle
from simulations import scaled, slack


def draw_buckets(
    seed: int, *, confidence: np.ndarray, most: int = 6, **columns: Any
) -> BucketCounts:
    """Buckets that are answered the better the surer the classifier is of the original."""
    rng = np.random.default_rng(seed)
    n = confidence.size
    sizes = rng.integers(2, most + 1, n)
    names = np.concatenate([np.arange(n), np.repeat(np.arange(n), sizes)])
    is_original = np.arange(names.size) < n
    sure = confidence[names]
    return count_buckets(
        names,
        rng.random(names.size) < sure,
        is_original=is_original,
        confidence=sure,
        **{name: own[names] for name, own in columns.items()},
    )


@pytest.mark.parametrize("n_strata", [1, 3, 10, 40])
def test_the_estimates_are_those_of_section_4_3(n_strata: int) -> None:
    rng = np.random.default_rng(n_strata)
    confidence, test = rng.random(80) * 0.7, rng.random(500)
    confidence[0] = test[0] = 1.0
    buckets = draw_buckets(1, confidence=confidence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IetestWarning)
        result = correct_consistency(buckets, test, n_strata=n_strata)
    theta = buckets.theta
    for name, values in (("accuracy", theta), ("p_c", theta**2 + (1 - theta) ** 2)):
        expected, used = oracle.corrected(values, confidence, test, n_strata)
        found = getattr(result, name)
        assert found.paper == pytest.approx(expected)
        assert found.renormalised == pytest.approx(expected / used)
        assert result.weight_used == pytest.approx(used)
    assert sum(stratum.n_buckets for stratum in result.strata) == 80
    assert sum(stratum.weight for stratum in result.strata) == pytest.approx(1)
    assert result.missing == tuple(
        place for place, own in enumerate(result.strata) if own.p_c is None
    )


def test_weights_may_be_given_instead() -> None:
    rng = np.random.default_rng(0)
    confidence, test = rng.random(80), rng.random(500)
    buckets = draw_buckets(2, confidence=confidence)
    shares = np.bincount((test * 10).astype(int), minlength=10) / 500
    drawn, known = correct_consistency(buckets, test), correct_consistency(buckets, weights=shares)
    assert known.p_c.paper == pytest.approx(drawn.p_c.paper)
    assert known.n_test is None
    # The test set is a sample too, so its weights add to the error.
    assert known.p_c.standard_error < drawn.p_c.standard_error


def test_low_weight_is_warned_of_and_always_said() -> None:
    buckets = draw_buckets(3, confidence=np.linspace(0, 0.79, 40))
    test = np.linspace(0, 1, 201)
    with pytest.warns(IetestWarning, match="hold 79.6% of the test set"):
        result = correct_consistency(buckets, test)
    assert result.warning is not None
    assert "weight used              0.7960" in str(result)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = correct_consistency(buckets, np.linspace(0, 0.82, 201))
    assert enough.warning is None
    assert 0.9 < enough.weight_used < 1


def test_one_stratum_is_the_plain_mean() -> None:
    rng = np.random.default_rng(0)
    buckets = draw_buckets(4, confidence=rng.random(60))
    result = correct_consistency(buckets, rng.random(99), n_strata=1)
    assert result.accuracy.paper == pytest.approx(buckets.theta.mean())
    assert result.accuracy.standard_error == pytest.approx(buckets.theta.std(ddof=1) / 60**0.5)
    assert result.p_c_unbiased is not None
    assert result.p_c_unbiased.paper == pytest.approx(buckets.pair_consistency.mean())


@pytest.mark.parametrize("n_strata", [10, 100])
def test_a_confidence_at_an_edge_is_in_the_stratum_above(n_strata: int) -> None:
    edges = np.array([float(f"{place / n_strata:.2f}") for place in range(n_strata + 1)])
    assert stratum_of(edges, n_strata).tolist() == [*range(n_strata), n_strata - 1]


def test_results_are_strict_json_and_tables() -> None:
    buckets = draw_buckets(3, confidence=np.linspace(0.2, 0.9, 40))
    with pytest.warns(IetestWarning):
        result = correct_consistency(buckets, np.linspace(0, 1, 99))
    read = json.loads(result.to_json())
    assert read["p_c"] == result.p_c.paper
    assert read["p_c_renormalised"] == result.p_c.renormalised
    assert read["strata"][0] == {
        "low": 0.0,
        "high": 0.1,
        "weight": result.strata[0].weight,
        "n_buckets": 0,
        "accuracy": None,
        "p_c": None,
        "is_alike": True,
    }
    assert len(result.to_frame()) == 1
    assert "say nothing about the rest" in result._repr_html_()


def test_few_items_that_are_all_alike_are_remarked_on() -> None:
    """The most confident tenth is answered rightly throughout, but it is four items."""
    confidence = np.concatenate([np.linspace(0.05, 0.85, 50), np.full(4, 0.95)])
    test = np.concatenate([np.linspace(0, 1, 100), np.full(100, 0.95)])
    rng = np.random.default_rng(0)
    names = np.concatenate([np.arange(54), np.repeat(np.arange(54), 5)])
    columns = {"is_original": np.arange(names.size) < 54, "confidence": confidence[names]}
    right = (rng.random(names.size) < 0.5) | (names >= 50)
    few = correct_consistency(count_buckets(names, right, **columns), test)
    assert few.weight_alike == pytest.approx(0.5 + 0.05, abs=0.006)
    assert "fewer than 25 items each, which are all answered alike" in " ".join(few.remarks())
    right[-1] = not right[-1]
    spread = correct_consistency(count_buckets(names, right, **columns), test)
    assert spread.weight_alike == 0
    assert "answered alike" not in " ".join(spread.remarks())


def test_clusters_of_one_bucket_hardly_change_the_error() -> None:
    rng = np.random.default_rng(0)
    confidence, test = rng.random(300), rng.random(1000)
    alone = correct_consistency(draw_buckets(5, confidence=confidence), test)
    single = correct_consistency(
        draw_buckets(5, confidence=confidence, clusters=np.arange(300)), test
    )
    assert single.p_c.standard_error == pytest.approx(alone.p_c.standard_error, rel=0.05)
    assert single.p_c.interval.low == pytest.approx(alone.p_c.interval.low, abs=0.004)


@pytest.mark.slow
def test_intervals_contain_the_truth_of_the_population() -> None:
    # P(right) is the confidence itself, whose law on the test set is beta(2, 1); buckets are drawn
    # evenly over the deciles.
    n_tables = scaled(2000)
    rng = np.random.default_rng(0)
    edges = np.linspace(0, 1, 11)
    # Within a decile buckets are drawn by the test set's own law.
    truth = {"accuracy": 2 / 3, "p_c_unbiased": 2 * 2 / 4 - 2 * 2 / 3 + 1}
    hits = dict.fromkeys(truth, 0)
    for seed in range(n_tables):
        low = np.repeat(edges[:-1], 20) ** 2
        high = np.repeat(edges[1:], 20) ** 2
        confidence = np.sqrt(low + (high - low) * rng.random(200))
        buckets = draw_buckets(seed, confidence=np.minimum(confidence, 1 - 1e-12))
        result = correct_consistency(buckets, rng.beta(2, 1, 2000))
        for name, value in truth.items():
            hits[name] += value in getattr(result, name).interval
    for name, count in hits.items():
        assert count / n_tables >= 0.935 - slack(n_tables), (name, count / n_tables)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either test_confidence"),
        ({"test_confidence": [0.5], "weights": [1.0]}, "either test_confidence"),
        ({"test_confidence": [0.5, 1.5]}, r"row 1.*in \[0, 1\]"),
        ({"test_confidence": []}, "empty"),
        ({"test_confidence": [0.5, np.nan]}, "missing"),
        ({"weights": [0.5, 0.4]}, "add up to 1, not to 0.9"),
        ({"weights": [0.5, 0.5], "n_strata": 3}, "2 weights are given for 3 strata"),
        ({"test_confidence": [0.5], "n_strata": 0}, "n_strata must be"),
        ({"test_confidence": [0.95]}, "no stratum of the test set has a bucket"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    buckets = draw_buckets(6, confidence=np.array([0.2, 0.4, 0.5]))
    with pytest.raises(InputError, match=message):
        correct_consistency(buckets, **options)


def test_buckets_without_confidence_are_refused() -> None:
    with pytest.raises(InputError, match="give is_original and confidence"):
        correct_consistency(count_buckets([1, 1, 2, 2], [1, 0, 1, 1]), [0.5])
