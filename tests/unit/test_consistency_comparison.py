"""Two classifiers on the same buckets, and two sets of buckets."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    compare_consistency,
    compare_subsets,
    count_buckets,
    measure_consistency,
    paired_test,
)
from simulations import scaled, slack


def draw_answers(
    seed: int, *, n_buckets: int = 60, noise: float = 0.1, sizes: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Names and correctness; a noisier classifier splits more buckets."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, n_buckets) if sizes is None else sizes
    buckets = np.repeat(np.arange(n_buckets), sizes)
    knows = np.random.default_rng(100).random(n_buckets) < 0.7
    wrong = rng.random(buckets.size) < noise
    return buckets, knows[buckets] ^ wrong


def test_differences_are_those_of_the_two_results() -> None:
    first = count_buckets(*draw_answers(1, noise=0.05))
    second = count_buckets(*draw_answers(2, noise=0.3))
    found = compare_consistency(first, second, n_resamples=4000)
    a, b = (measure_consistency(each, n_resamples=100) for each in (first, second))
    for name, difference in found.differences.items():
        one, two = a[name].value, b[name].value
        assert one is not None
        assert two is not None
        assert difference.value == pytest.approx(one - two), name
    test = found.tests["p_c_unbiased"]
    scores = [each.pair_consistency for each in (first, second)]
    assert test.p_value == paired_test(*scores, n_resamples=4000).p_value
    assert test.p_value < 0.001
    interval = found["p_c_unbiased"].interval
    assert interval is not None
    assert interval.low > 0
    assert test.delta == pytest.approx(found["p_c_unbiased"].value)
    own = test.confidence_interval()
    error = found["p_c_unbiased"].standard_error
    assert error is not None
    assert interval.low == pytest.approx(own.low, abs=0.35 * error)
    assert interval.high == pytest.approx(own.high, abs=0.35 * error)


def test_results_are_strict_json_and_texts() -> None:
    first, second = (count_buckets(*draw_answers(seed)) for seed in (1, 2))
    paired = compare_consistency(first, second, n_resamples=200)
    read = json.loads(paired.to_json())
    assert read["p_c_unbiased"] == paired["p_c_unbiased"].value
    assert read["p_c_unbiased_p_value"] == paired.tests["p_c_unbiased"].p_value
    assert "P_C, unbiased" in str(paired)
    subsets = compare_subsets(first, first.names < 20)
    read = json.loads(subsets.to_json())
    assert read["p_c_unbiased"] == subsets["p_c_unbiased"].difference
    assert "20 and 40" in str(subsets)


def test_a_classifier_does_not_differ_from_itself() -> None:
    buckets = count_buckets(*draw_answers(3))
    found = compare_consistency(buckets, buckets, n_resamples=500)
    for name, difference in found.differences.items():
        assert difference.value == 0
        if name.startswith(("between", "pvap")):
            assert difference.interval is None
            continue
        assert difference.interval is not None
        assert (difference.interval.low, difference.interval.high) == (0, 0)
    assert {test.p_value for test in found.tests.values()} == {1.0}


def test_items_are_matched_by_name_and_the_others_counted() -> None:
    names, right = draw_answers(4)
    more = count_buckets(names, right)
    some = names % 3 > 0
    order = np.random.default_rng(0).permutation(int(some.sum()))
    fewer = count_buckets(names[some][order], right[some][order])
    found = compare_consistency(more, fewer, n_resamples=200)
    assert (found.n_buckets, found.n_only_first, found.n_only_second) == (40, 20, 0)
    assert found["p_c_unbiased"].value == pytest.approx(0)
    assert "20 items of the first" in found.remarks()[0]


def test_pairs_count_where_both_have_them() -> None:
    sizes = np.full(20, 4)
    sizes[:5] = 1
    first = count_buckets(*draw_answers(5, n_buckets=20, sizes=sizes))
    second = count_buckets(*draw_answers(6, n_buckets=20, noise=0.4, sizes=np.full(20, 3)))
    found = compare_consistency(first, second, n_resamples=200)
    expected = np.nanmean(first.pair_consistency[5:]) - np.nanmean(second.pair_consistency[5:])
    assert found["p_c_unbiased"].value == pytest.approx(expected)
    assert found.tests["p_c_unbiased"].n == 15


def test_paired_clusters_must_be_the_same() -> None:
    names, right = draw_answers(7)
    plain = count_buckets(names, right)
    thirds = count_buckets(names, right, clusters=names // 3)
    halves = count_buckets(names, right, clusters=names // 2)
    assert compare_consistency(thirds, thirds, n_resamples=99).n_clusters == 20
    with pytest.raises(InputError, match="only one of the two has clusters"):
        compare_consistency(plain, thirds)
    with pytest.raises(InputError, match="different clusters"):
        compare_consistency(halves, thirds)


def test_too_few_items_in_both_are_refused() -> None:
    first = count_buckets([1, 1, 2, 2], [1, 0, 1, 1])
    with pytest.raises(InputError, match="1 item is in both"):
        compare_consistency(first, count_buckets([2, 2, 3, 3], [1, 0, 1, 1]))


def test_subsets_are_compared_by_welchs_test() -> None:
    from scipy.stats import ttest_ind

    buckets = count_buckets(*draw_answers(8, n_buckets=80, noise=0.2))
    is_first = buckets.names < 30
    found = compare_subsets(buckets, is_first)
    for name, values in (
        ("accuracy_macro", buckets.theta),
        ("p_c_unbiased", buckets.pair_consistency),
    ):
        expected = ttest_ind(values[is_first], values[~is_first], equal_var=False)
        interval = expected.confidence_interval()
        assert found[name].p_value == pytest.approx(expected.pvalue)
        assert found[name].df == pytest.approx(expected.df)
        assert found[name].interval.low == pytest.approx(interval.low)
        assert found[name].interval.high == pytest.approx(interval.high)


def test_clusters_of_one_bucket_hardly_change_a_comparison_of_subsets() -> None:
    names, right = draw_answers(9, n_buckets=200, noise=0.2)
    alone = compare_subsets(count_buckets(names, right), np.arange(200) < 90)
    single = compare_subsets(count_buckets(names, right, clusters=names), np.arange(200) < 90)
    for name, own in alone.differences.items():
        assert single[name].standard_error == pytest.approx(own.standard_error, rel=0.02)


def test_sets_without_any_spread() -> None:
    buckets = count_buckets(np.repeat(np.arange(8), 2), np.repeat([1, 1, 1, 0, 0, 0, 0, 0], 2))
    found = compare_subsets(buckets, [1, 1, 1, 0, 0, 0, 0, 0])
    assert found["p_c_unbiased"].p_value == 1  # all 1 in both
    # Of the 56 ways to choose three buckets, one has these means.
    assert found["accuracy_macro"].p_value == pytest.approx(1 / 56)
    assert found["accuracy_macro"].interval is None
    assert "neither set has any spread" in str(found)
    assert json.loads(found.to_json())["accuracy_macro_interval"] is None
    ways = [set(way) == {0, 1, 2} for way in combinations(range(8), 3)]
    assert found["accuracy_macro"].p_value == pytest.approx(np.mean(ways))
    assert len(ways) == math.comb(8, 3)


def test_bad_subsets_are_refused() -> None:
    buckets = count_buckets([1, 1, 2, 2, 3, 3], [1, 0, 1, 1, 0, 0])
    with pytest.raises(InputError, match="1 and 2 buckets"):
        compare_subsets(buckets, [1, 0, 0])
    with pytest.raises(InputError, match="has 2 rows"):
        compare_subsets(buckets, [1, 0])


@pytest.mark.slow
@pytest.mark.parametrize("design", ["60 buckets", "60 clusters", "other sizes"])
def test_equal_sets_and_equal_classifiers_are_rarely_told_apart(design: str) -> None:
    """60 buckets of 3 to 7, theta from beta(2, 1); or 60 clusters of one to five with one theta.

    Two classifiers with the same theta of each item, and 25 buckets or clusters against the others.
    With other sizes, the second classifier has answered 2 or 3 paraphrases of each item.
    """
    is_clustered = design == "60 clusters"
    n_tables = scaled(2000)
    rng = np.random.default_rng(0)
    measures = ("accuracy_macro", "p_c_unbiased")
    keys = [(side, name) for side in ("paired", "sets") for name in measures]
    hits, covered = dict.fromkeys(keys, 0), dict.fromkeys(keys, 0)
    for _ in range(n_tables):
        owner = np.repeat(np.arange(60), rng.integers(1, 6, 60) if is_clustered else 1)
        theta = rng.beta(2, 1, 60)[owner]
        sides = []
        sizes = rng.integers(3, 8, owner.size)
        for place in range(2):
            if place and design == "other sizes":
                sizes = rng.integers(2, 4, owner.size)
            names = np.repeat(np.arange(owner.size), sizes)
            clusters = owner[names] if is_clustered else None
            right = rng.random(names.size) < theta[names]
            sides.append(count_buckets(names, right, clusters=clusters))
        paired = compare_consistency(*sides, n_resamples=999, n_threads=1)
        sets = compare_subsets(sides[0], owner < 25)
        for name in measures:
            hits["paired", name] += paired.tests[name].p_value < 0.05
            hits["sets", name] += sets[name].p_value < 0.05
            for side, interval in (
                ("paired", paired[name].interval),
                ("sets", sets[name].interval),
            ):
                covered[side, name] += interval is not None and 0 in interval
    for what, counts in (("size", hits), ("coverage", covered)):
        shown = ", ".join(f"{' '.join(key)} {n / n_tables:.1%}" for key, n in counts.items())
        print(f"{design}, {what}: {shown} of {n_tables}")
    for key in keys:
        assert hits[key] / n_tables <= 0.065 + slack(n_tables), key
        assert covered[key] / n_tables >= 0.93 - slack(n_tables), key
