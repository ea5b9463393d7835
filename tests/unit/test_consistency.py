"""Paraphrastic consistency: definitions, unbiasedness, intervals, bad tables."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.runtime import core
from ietest_fast.stats import (
    BucketCounts,
    compare_consistency,
    consistency_at,
    count_buckets,
    flip_test,
    measure_consistency,
)
from ietest_fast.stats.consistency import buckets as bucket_measures
from ietest_fast.stats.consistency.buckets import MEASURES, evaluate, tabulate, to_core
from ietest_fast.stats.consistency.intervals import two_part_interval
from ietest_fast.stats.consistency.measure import ISO_PVAP
from ietest_fast.stats.intervals import wilson_interval
from ietest_fast.stats.laws.bootstrap import Draws, SumLaw, ratio_interval
from reference import consistency_oracle as oracle
from simulations import scaled, slack


def draw_table(
    seed: int, *, n_buckets: int = 30, least: int = 1, most: int = 7
) -> dict[str, np.ndarray]:
    """Rows of buckets, some of one paraphrase; the originals are apart."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least, most + 1, n_buckets)
    buckets = np.repeat(np.arange(n_buckets) * 10 + 3, sizes)
    theta = np.repeat(rng.beta(2, 1, n_buckets), sizes)
    correct = rng.random(buckets.size) < theta
    answers = np.where(correct, 0, rng.integers(1, 4, buckets.size))
    order = rng.permutation(buckets.size)
    return {"buckets": buckets[order], "correct": correct[order], "answers": answers[order]}


def with_originals(table: dict[str, np.ndarray], seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    names = np.unique(table["buckets"])
    right = rng.random(names.size) < 0.7
    columns = {
        "buckets": np.append(names, table["buckets"]),
        "correct": np.append(right, table["correct"]),
        "answers": np.append(np.where(right, 0, 2), table["answers"]),
    }
    n = columns["buckets"].size
    return columns | {
        "is_original": np.arange(n) < names.size,
        "confidence": rng.random(n),
        "gold": np.zeros(n, dtype=int),
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_measure_is_that_of_the_definition(seed: int) -> None:
    table = draw_table(seed)
    right = oracle.group(table["buckets"], [int(x) for x in table["correct"]])
    answers = oracle.group(table["buckets"], table["answers"].tolist())
    result = measure_consistency(**table, n_resamples=100)
    expected = {
        "accuracy_micro": oracle.micro(right),
        "accuracy_macro": oracle.mean(oracle.accuracies(right)),
        "p_c": oracle.plug_in(right),
        "p_c_unbiased": oracle.unbiased(right),
        "vap": oracle.vap(right),
        "between": oracle.between(right),
        "pvap": oracle.pvap(right),
        "vap_unbiased": oracle.vap_unbiased(right),
        "between_unbiased": oracle.between_unbiased(right),
        "agreement": oracle.plug_in(answers),
        "agreement_unbiased": oracle.unbiased(answers),
    }
    within, across = expected["vap_unbiased"], expected["between_unbiased"]
    expected["pvap_unbiased"] = within / (within + max(across, 0))
    macro = expected["accuracy_macro"]
    expected["lower_bound"] = macro**2 + (1 - macro) ** 2
    assert set(result.estimates) == set(expected)
    for name, value in expected.items():
        assert result[name].value == pytest.approx(float(value), abs=1e-12), name
    assert result.n_buckets == len(right)
    assert result.n_single == sum(len(bucket) == 1 for bucket in right)
    assert result.n_split == sum(0 < sum(bucket) < len(bucket) for bucket in right)
    # Law of total variance (eq. 3), and eq. 7.
    assert result["vap"].value + result["between"].value == pytest.approx(
        float(macro * (1 - macro))
    )
    assert result["p_c"].value == pytest.approx(1 - 2 * result["vap"].value)
    assert result["lower_bound"].value <= result["p_c"].value


@pytest.mark.slow
def test_changes_are_those_from_the_original_to_the_bucket() -> None:
    table = with_originals(draw_table(2))
    result = measure_consistency(**table, n_resamples=100)
    change, distance, accuracy = [], [], []
    for name in np.unique(table["buckets"]):
        of = table["buckets"] == name
        own, others = of & table["is_original"], of & ~table["is_original"]
        scores = table["confidence"]
        change.append(np.mean(scores[others]) - scores[own][0])
        distance.append(np.mean(np.abs(scores[others] - scores[own][0])))
        accuracy.append(np.mean(table["correct"][others]) - table["correct"][own][0])
    assert result["confidence_change"].value == pytest.approx(np.mean(change))
    assert result["confidence_distance"].value == pytest.approx(np.mean(distance))
    assert result["accuracy_change"].value == pytest.approx(np.mean(accuracy))
    expected = table["correct"][table["is_original"]].mean()
    assert result["accuracy_original"].value == pytest.approx(expected)


@pytest.mark.slow
def test_a_result_is_strict_json_a_table_and_a_text() -> None:
    result = measure_consistency(**with_originals(draw_table(2)), n_resamples=100)
    read = json.loads(result.to_json())
    interval = result["p_c"].interval
    assert interval is not None
    assert read["p_c"] == result["p_c"].value
    assert read["p_c_interval"] == [interval.low, interval.high]
    assert read["flips"]["flip_rate"] == result.flips.rate if result.flips else None
    assert len(result.to_frame()) == 1
    assert "P_C, unbiased" in str(result)


@pytest.mark.slow
def test_the_original_is_no_paraphrase_of_itself() -> None:
    table = draw_table(3)
    alone = measure_consistency(**table, n_resamples=100)
    beside = measure_consistency(**with_originals(table), n_resamples=100)
    for name, estimate in alone.estimates.items():
        assert beside[name].value == pytest.approx(estimate.value)


@pytest.mark.slow
def test_flips_are_those_of_the_flip_test() -> None:
    table = with_originals(draw_table(4))
    result = measure_consistency(**table, n_resamples=100)
    pairs = [
        (own, other)
        for own in np.flatnonzero(table["is_original"])
        for other in np.flatnonzero(~table["is_original"])
        if table["buckets"][own] == table["buckets"][other]
    ]
    own, other = np.array(pairs).T
    expected = flip_test(
        table["answers"][own],
        table["answers"][other],
        gold=table["gold"][other],
        clusters=table["buckets"][other],
    )
    assert result.flips is not None
    assert result.flips.rate == expected.rate
    assert result.flips.interval == expected.interval
    assert result.flips.rows() == expected.rows()
    outcomes = measure_consistency(
        table["buckets"], table["correct"], is_original=table["is_original"], n_resamples=100
    )
    assert outcomes.flips is not None
    assert outcomes.flips.right_to_wrong == expected.right_to_wrong
    assert outcomes.flips.wrong_to_wrong is None


def test_the_flip_rate_is_that_of_the_flip_test_with_the_interval_of_the_other_measures() -> None:
    table = with_originals(draw_table(4, n_buckets=60))
    result = measure_consistency(**table, method="resample", n_resamples=5000)
    assert result.flips is not None
    assert result["flip_rate"].value == pytest.approx(result.flips.rate)
    # Three clusters of ten buckets and thirty of one: the flip test takes all in one for alike.
    names = np.unique(table["buckets"])
    cluster_of = dict(
        zip(names, np.append(np.repeat([0, 1, 2], 10), np.arange(3, 33)), strict=True)
    )
    own = [cluster_of[name] for name in table["buckets"]]
    clustered = measure_consistency(**table, clusters=own, method="resample", n_resamples=5000)
    assert clustered.flips is not None
    assert clustered["flip_rate"].value == result["flip_rate"].value
    bound = clustered.flips.confidence_interval(0.95)
    interval = clustered["flip_rate"].interval
    assert interval is not None
    assert bound.low < interval.low < interval.high < bound.high
    outcomes = {name: own for name, own in table.items() if name in ("buckets", "correct")}
    by_outcome = measure_consistency(
        **outcomes, is_original=table["is_original"], method="resample", n_resamples=100
    )
    assert by_outcome.flips is not None
    assert by_outcome["flip_rate"].value == pytest.approx(by_outcome.flips.rate)
    assert by_outcome.flips.is_lower_bound


def test_the_interval_of_the_least_p_c_is_the_image_of_that_of_accuracy() -> None:
    for seed, contains_half in ((3, False), (6, True)):
        rng = np.random.default_rng(seed)
        theta = 0.5 if contains_half else 0.85
        buckets = np.repeat(np.arange(100), 4)
        result = measure_consistency(buckets, rng.random(400) < theta, n_resamples=100)
        ends, image = result["accuracy_macro"].interval, result["lower_bound"].interval
        assert ends is not None
        assert image is not None
        grid = np.linspace(ends.low, ends.high, 2001)
        values = grid**2 + (1 - grid) ** 2
        assert image.high == pytest.approx(values.max())
        assert image.low == pytest.approx(values.min(), abs=1e-6)
        assert (image.low == 0.5) == contains_half


def test_ends_are_moved_out_by_students_quantile() -> None:
    rng = np.random.default_rng(0)
    sizes = np.full(12, 5)
    counts = _from_counts(sizes, rng.binomial(sizes, rng.beta(2, 1, 12)))
    found = measure_consistency(counts)["accuracy_macro"]
    plain = ratio_interval(counts.theta, np.ones(12), np.ones(12, dtype=np.int64), 0.05)
    factor = 2.200985 / 1.959964  # Student's quantile of 11 degrees of freedom
    assert found.value is not None
    assert found.interval is not None
    assert found.interval.low - found.value == pytest.approx(factor * (plain.low - found.value))
    assert found.interval.high - found.value == pytest.approx(factor * (plain.high - found.value))


@pytest.mark.slow
def test_unequal_clusters_count_as_fewer() -> None:
    table = draw_table(5, n_buckets=40)
    clusters = np.minimum(table["buckets"] // 10, 10)  # 30 buckets in one
    result = measure_consistency(**table, clusters=clusters, n_resamples=100)
    assert result.n_clusters == 11
    sizes = np.array([1] * 10 + [30])
    assert result.n_units_equal == pytest.approx((sizes**2).sum() ** 2 / (sizes**4).sum())
    assert "The clusters count like only 1 of equal size" in " ".join(result.remarks())


@pytest.mark.parametrize(
    ("sizes", "right", "expected"),
    [
        # theta is 1 everywhere, or 0: nothing varies.
        ([3] * 30, [3] * 30, {"p_c": 1, "p_c_unbiased": 1, "vap": 0, "pvap": None}),
        ([3] * 30, [0] * 30, {"p_c": 1, "accuracy_macro": 0, "pvap_unbiased": None}),
        # One bucket of several: no interval, and no variance between.
        ([4], [2], {"p_c": 0.5, "p_c_unbiased": 1 / 3, "between_unbiased": None}),
        # Buckets of one have no pair.
        ([1] * 30, [1, 0] * 15, {"p_c": 1, "p_c_unbiased": None, "vap_unbiased": None}),
        # Buckets of two: theta = 1/2 agrees with itself by half, and in no distinct pair.
        ([2] * 30, [1] * 30, {"p_c": 0.5, "p_c_unbiased": 0, "between": 0}),
        ([2] * 30, [1, 2] * 15, {"p_c": 0.75, "p_c_unbiased": 0.5, "vap_unbiased": 0.25}),
    ],
)
def test_degenerate_tables(
    sizes: list[int], right: list[int], expected: dict[str, float | None]
) -> None:
    counts = _from_counts(np.array(sizes), np.array(right))
    for method in ("exact", "resample"):
        result = measure_consistency(counts, method=method, n_resamples=500)
        for name, value in expected.items():
            assert result[name].value == (None if value is None else pytest.approx(value)), name
        for name, own in result.estimates.items():
            if own.value is None or len(sizes) == 1:
                assert own.interval is None, name
                continue
            if name.startswith(("between", "pvap")):
                continue  # whose intervals keep no level, or need items that differ
            assert own.interval is not None, name
            assert own.interval.low <= own.value + 1e-12, name
            assert own.interval.high >= own.value - 1e-12, name
        said = " ".join(result.remarks())
        flat = [result[name].interval for name in ("accuracy_macro", "p_c")]
        is_flat = any(own is not None and own.low == own.high for own in flat)
        assert ("An interval without width" in said) == is_flat
        if method == "resample" and len(sizes) > 1:
            alike = {k / n for k, n in zip(right, sizes, strict=True)}
            assert is_flat == (len(alike) == 1 or max(sizes) == 1)
        assert ("Consistency is not measured" in said) == (max(sizes) == 1)
        assert "NaN" not in result.to_json()
        if max(sizes) == 1:
            assert result.split_interval is None


@pytest.mark.slow
def test_estimators_from_distinct_pairs_are_unbiased() -> None:
    a, b, n_tables = 2.0, 1.0, 3000
    second = a * (a + 1) / ((a + b) * (a + b + 1))  # E theta**2
    mean = a / (a + b)
    truth = {
        "p_c_unbiased": 1 - 2 * (mean - second),
        "vap_unbiased": mean - second,
        "between_unbiased": second - mean**2,
        "accuracy_macro": mean,
    }
    rng = np.random.default_rng(0)
    found: dict[str, list[float]] = {name: [] for name in [*truth, "vap"]}
    for _ in range(n_tables):
        sizes = rng.integers(2, 6, 12)
        right = rng.binomial(sizes, rng.beta(a, b, 12))
        table = tabulate(_from_counts(sizes, right))
        for name, values in found.items():
            measure = MEASURES["vap_unbiased" if name == "p_c_unbiased" else name]
            value = float(evaluate(measure, table.columns, table.sums))
            values.append(1 - 2 * value if name == "p_c_unbiased" else value)
    for name, value in truth.items():
        error = np.std(found[name]) / math.sqrt(n_tables)
        assert abs(np.mean(found[name]) - value) < 4 * error, name
    # The paper's plug-in pairs each paraphrase with itself: it is too small, far beyond chance.
    error = np.std(found["vap"]) / math.sqrt(n_tables)
    assert np.mean(found["vap"]) < truth["vap_unbiased"] - 20 * error


def _from_counts(sizes: np.ndarray, right: np.ndarray) -> BucketCounts:
    n = len(sizes)
    return BucketCounts(
        names=np.arange(n),
        sizes=np.asarray(sizes, dtype=np.int64),
        right=np.asarray(right, dtype=np.int64),
        same=None,
        originals=np.full(n, -1, dtype=np.int8),
        flipped=np.zeros(n, dtype=np.int64),
        confidence=None,
        original_confidence=None,
        confidence_distance=None,
        clusters=None,
        n_clusters=None,
        n_without_paraphrases=0,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [(2.0, 1.0), (0.5, 0.2), (6.0, 2.0)])
def test_intervals_contain_the_truth_as_often_as_they_say(a: float, b: float) -> None:
    mean = a / (a + b)
    second = a * (a + 1) / ((a + b) * (a + b + 1))
    within, across = mean - second, second - mean**2
    truth = {
        "accuracy_micro": mean,
        "accuracy_macro": mean,
        "vap_unbiased": within,
        "pvap_unbiased": within / (within + across),
    }
    n_tables = scaled(4000)
    rng = np.random.default_rng(1)
    hits = dict.fromkeys(truth, 0)
    for seed in range(n_tables):
        sizes = rng.integers(3, 13, 250)
        right = rng.binomial(sizes, rng.beta(a, b, 250))
        result = measure_consistency(_from_counts(sizes, right), rng=seed, n_threads=1)
        for name, value in truth.items():
            interval = result[name].interval
            assert interval is not None
            hits[name] += value in interval
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"beta({a}, {b}): {shown} of {n_tables}")
    for name, count in hits.items():
        assert count / n_tables >= 0.935 - slack(n_tables), (name, count / n_tables)


#: How many buckets each cluster has: as many as ParaNLU's premises with their hypotheses have.
UNEQUAL = np.repeat([10, 8, 7, 6, 5, 4, 3, 2, 1], [2, 2, 2, 2, 2, 2, 13, 29, 73])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_intervals_by_unequal_clusters(share: float) -> None:
    """127 clusters of 250 buckets of 3 to 12; ``share`` is the clusters' part of a latent normal.

    Answers flip from an original that is right with the same probability theta, beta(2, 1).
    """
    from scipy.stats import beta, norm

    clusters = np.repeat(np.arange(UNEQUAL.size), UNEQUAL)
    n_buckets = clusters.size
    truth = {"accuracy_macro": 2 / 3, "vap_unbiased": 1 / 6, "flip_rate": 2 * (2 / 3 - 1 / 2)}
    n_tables = scaled(1000)
    rng = np.random.default_rng(2)
    hits, bound = dict.fromkeys(truth, 0), 0
    for seed in range(n_tables):
        latent = math.sqrt(share) * rng.normal(size=UNEQUAL.size)[clusters]
        latent += math.sqrt(1 - share) * rng.normal(size=n_buckets)
        theta = beta(2, 1).ppf(norm.cdf(latent))
        sizes = rng.integers(3, 13, n_buckets)
        names = np.concatenate([np.arange(n_buckets), np.repeat(np.arange(n_buckets), sizes)])
        result = measure_consistency(
            names,
            rng.random(names.size) < theta[names],
            is_original=np.arange(names.size) < n_buckets,
            clusters=clusters[names],
            method="resample",
            n_resamples=1000,
            rng=seed,
            n_threads=1,
        )
        for name, value in truth.items():
            interval = result[name].interval
            assert interval is not None
            hits[name] += value in interval
        assert result.flips is not None
        bound += truth["flip_rate"] in result.flips.confidence_interval(0.95)
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"clusters, {share}: {shown}; flip test {bound / n_tables:.1%} of {n_tables}")
    assert bound / n_tables > 0.99
    for name, count in hits.items():
        assert count / n_tables >= (0.9 if share == 0.5 else 0.925) - slack(n_tables), name


@pytest.mark.slow
@pytest.mark.parametrize("n_buckets", [10, 25, 50])
def test_intervals_of_few_buckets(n_buckets: int) -> None:
    """Buckets of 3 to 12, theta from beta(2, 1)."""
    truth = {
        "accuracy_micro": 2 / 3,
        "accuracy_macro": 2 / 3,
        "vap_unbiased": 1 / 6,
        "pvap_unbiased": 3 / 4,
    }
    n_tables = scaled(2000)
    rng = np.random.default_rng(3)
    hits = dict.fromkeys(truth, 0)
    for seed in range(n_tables):
        sizes = rng.integers(3, 13, n_buckets)
        counts = _from_counts(sizes, rng.binomial(sizes, rng.beta(2, 1, n_buckets)))
        result = measure_consistency(counts, rng=seed, n_threads=1)
        for name, value in truth.items():
            interval = result[name].interval
            hits[name] += interval is not None and value in interval
    shown = ", ".join(f"{name} {count / n_tables:.1%}" for name, count in hits.items())
    print(f"{n_buckets} buckets: {shown} of {n_tables}")
    for name, count in hits.items():
        assert count / n_tables >= 0.93 - slack(n_tables), name


@pytest.mark.slow
def test_the_exact_limit_is_that_of_many_replicates() -> None:
    table = with_originals(draw_table(5, n_buckets=120))
    exact = measure_consistency(**table)
    drawn = measure_consistency(**table, method="resample", n_resamples=200_000, rng=1)
    for name, estimate in exact.estimates.items():
        if estimate.method != "exact" or estimate.interval is None:
            continue
        ours, theirs, error = estimate.interval, drawn[name].interval, estimate.standard_error
        assert ours is not None
        assert theirs is not None
        assert error is not None
        tolerance = 0.05 * error + 1e-9
        if name.startswith("accuracy") and name != "accuracy_change":
            tolerance += 0.01  # few values: a neighbouring one may be the quantile
        assert ours.low == pytest.approx(theirs.low, abs=tolerance), name
        assert ours.high == pytest.approx(theirs.high, abs=tolerance), name


def test_intervals_are_those_of_numpys_bootstrap() -> None:
    table = draw_table(6, n_buckets=60)
    counted = count_buckets(**table)
    units = tabulate(counted)
    rows = np.stack([*bucket_measures.bucket_columns(counted).values()], axis=1)
    for name in ("accuracy_micro", "accuracy_macro", "vap_unbiased"):
        measure = MEASURES[name]

        def statistic(times: np.ndarray, measure: Any = measure) -> float:
            return float(evaluate(measure, units.columns, times @ rows))

        replicates = oracle.bootstrap(statistic, len(counted), 4000, seed=3)
        result = measure_consistency(counted, method="resample", n_resamples=100_000)
        error = result[name].standard_error
        assert error is not None
        assert np.std(replicates) == pytest.approx(error, rel=0.15)
        # The BCa interval by the textbook.
        from scipy.stats import norm

        observed = statistic(np.ones(len(counted), dtype=int))
        left_out = np.array(
            [statistic(1 - np.eye(len(counted), dtype=int)[i]) for i in range(len(counted))]
        )
        centred = left_out.mean() - left_out
        bend = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
        z0 = norm.ppf((replicates < observed).mean())
        for level, end in ((0.025, "low"), (0.975, "high")):
            z = z0 + norm.ppf(level)
            wanted = np.quantile(replicates, norm.cdf(z0 + z / (1 - bend * z)))
            interval = result[name].interval
            assert interval is not None
            assert getattr(interval, end) == pytest.approx(wanted, abs=0.2 * error), (name, end)


def test_clusters_of_one_bucket_change_nothing() -> None:
    table = draw_table(7)
    alone = measure_consistency(**table, method="resample", n_resamples=5000)
    single = measure_consistency(
        **table, clusters=table["buckets"], method="resample", n_resamples=5000
    )
    assert single.n_clusters == single.n_buckets
    assert single.estimates == alone.estimates


@pytest.mark.slow
def test_twice_the_same_bucket_in_a_cluster_is_worth_one() -> None:
    table = draw_table(8, n_buckets=40)
    doubled = {name: np.concatenate([own, own]) for name, own in table.items()}
    clusters = doubled["buckets"].copy()
    doubled["buckets"] = np.append(table["buckets"], table["buckets"] + 1)
    for method in ("exact", "resample"):
        once = measure_consistency(**table, method=method, n_resamples=20_000)
        twice = measure_consistency(**doubled, clusters=clusters, method=method, n_resamples=20_000)
        for name in ("accuracy_macro", "p_c", "p_c_unbiased", "accuracy_micro"):
            one, two = once[name], twice[name]
            assert two.value == pytest.approx(one.value)
            assert two.standard_error == pytest.approx(one.standard_error)
            assert one.interval is not None
            assert two.interval is not None
            for end in ("low", "high"):
                assert getattr(two.interval, end) == pytest.approx(
                    getattr(one.interval, end), abs=0.05 * (one.standard_error or 0)
                ), (name, method)


def test_results_do_not_depend_on_threads_or_on_the_order_of_rows() -> None:
    table = draw_table(9, n_buckets=200)
    first = measure_consistency(**table, method="resample", n_resamples=3000, n_threads=1)
    for n_threads in (2, 3, 7):
        again = measure_consistency(
            **table, method="resample", n_resamples=3000, n_threads=n_threads
        )
        assert again == first
    assert measure_consistency(**table, method="resample", n_resamples=3000, rng=1) != first


def test_the_core_has_the_formulas_of_this_package() -> None:
    for seed in range(4):
        table = tabulate(count_buckets(**with_originals(draw_table(seed))))
        for name, measure in MEASURES.items():
            found = core.buckets.value_of(to_core([measure], table.columns), table.sums)
            expected = evaluate(measure, table.columns, table.sums)
            assert found[0] == pytest.approx(float(expected), rel=1e-13), name


def test_replicates_draw_as_many_units_as_there_are() -> None:
    rng = np.random.default_rng(0)
    weights = np.array([1, 1, 30, 2, 400, 23, 24], dtype=np.int64)
    values = np.column_stack([np.ones(7), np.eye(7)]).copy()
    drawn = core.buckets.draw_sums(
        values, weights, n_replicates=20_000, key=rng.integers(2**63, size=2, dtype=np.uint64)
    )
    assert (drawn[:, 0] == weights.sum()).all()
    n = int(weights.sum())
    expected = weights / n * n
    assert drawn[:, 1:].mean(axis=0) == pytest.approx(expected, abs=0.6)
    # The covariance of multinomial counts.
    shares = weights / n
    covariance = n * (np.diag(shares) - np.outer(shares, shares))
    assert np.cov(drawn[:, 1:].T) == pytest.approx(covariance, abs=6)
    assert np.var(drawn[:, 1:], axis=0) == pytest.approx(np.diag(covariance), rel=0.06)


def test_a_classifier_that_never_splits_a_bucket() -> None:
    buckets = np.repeat(np.arange(50), 4)
    correct = buckets % 2 == 0
    result = measure_consistency(buckets, correct)
    assert result["p_c"].value == result["p_c_unbiased"].value == 1
    assert result["pvap"].value == result["pvap_unbiased"].value == 0
    assert result["p_c"].interval is not None
    # None of 50 splits: by Wilson, up to 7.1% may, and each by half at most.
    most = wilson_interval(0, 50).high
    assert result["p_c"].interval == pytest.approx((1 - most / 2, 1))
    assert result["p_c_unbiased"].interval == pytest.approx((1 - most, 1))
    assert result.n_split == 0
    assert result["pvap_unbiased"].interval is None
    assert any(said.startswith("PVAP has no interval") for said in result.remarks())


def test_what_does_not_vary_has_no_share() -> None:
    result = measure_consistency(np.repeat(np.arange(5), 2), np.ones(10))
    assert result["pvap"].value is None
    assert result["pvap_unbiased"].value is None
    assert result["p_c"].value == 1
    assert "not defined" in str(result)
    assert '"pvap": null' in result.to_json()


def test_undefined_replicates_are_left_out_and_counted() -> None:
    # A third of the buckets has no pair, so no sample of these alone has a P_C: (1/3)**3 of them.
    names, right = [1, 1, 2, 2, 3], [1, 1, 1, 0, 1]
    result = measure_consistency(names, right, n_resamples=9000, method="resample")
    vap = result["vap_unbiased"]
    assert 0.02 < vap.n_undefined / 9000 < 0.06
    assert vap.interval is not None


def test_a_pvap_above_1_has_no_interval_and_is_remarked_on() -> None:
    names = np.repeat([0, 1, 2], [2, 2, 100])
    right = np.ones(104, bool)
    right[[0, 2]] = False
    result = measure_consistency(names, right, n_resamples=500)
    # VAP is (1/4 + 1/4 + 0)/3, and A is 102/104.
    assert result["pvap"].value == pytest.approx(1 / 6 / (102 / 104 * 2 / 104))
    assert result["pvap"].interval is None
    assert "which is no share" in " ".join(result.remarks())
    equal = measure_consistency(np.repeat([0, 1, 2], 2), [1, 0, 1, 0, 1, 1], n_resamples=500)
    assert "which is no share" not in " ".join(equal.remarks())
    compared = compare_consistency(
        count_buckets(names, right), count_buckets(names, right), n_resamples=200
    )
    assert compared["pvap"].interval is None


def test_no_interval_reaches_what_cannot_be() -> None:
    names, rng = np.repeat(np.arange(4), 2), np.random.default_rng(0)
    seen = 0.0
    for _ in range(40):
        result = measure_consistency(names, rng.random(8) < 0.5, n_resamples=200)
        for name, most in (("vap", 0.25), ("vap_unbiased", 0.5)):
            interval = result[name].interval
            if interval is not None:
                assert interval.high <= most, name
                seen = max(seen, interval.high / most)
        interval = result["p_c"].interval
        assert interval is None or interval.low >= 0.5
    assert seen == 1  # the bounds are reached


def test_few_buckets_with_pairs_are_remarked_on() -> None:
    names = np.concatenate([np.arange(104), np.arange(4)])
    right = np.random.default_rng(0).random(108) < 0.5
    right[[0, 104]] = [True, False]
    result = measure_consistency(names, right, n_resamples=200)
    assert result.n_units_equal == 104
    assert result.n_units_paired == 4
    assert "Only 4 items with two paraphrases or more: intervals of unbiased measures" in " ".join(
        result.remarks()
    )
    more = measure_consistency(np.repeat(np.arange(104), 2), right[[*range(104)] * 2])
    assert "Only" not in " ".join(more.remarks())


@pytest.mark.parametrize("seed", range(8))
def test_an_interval_of_two_parts_is_wilsons_times_students(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, most = int(rng.integers(2, 60)), float(rng.choice([0.25, 0.5, 1.0]))
    values = np.where(rng.random(n) < rng.choice([0.1, 0.5, 0.9]), 0.0, most * rng.random(n) ** 2)
    if seed % 2:
        values = most - values
    expected = oracle.two_part_interval(values.tolist(), most, 0.1)
    own, counts = np.unique(values, return_counts=True)
    assert two_part_interval(own, counts, most=most, alpha=0.1) == pytest.approx(expected)


def test_an_interval_of_outcomes_in_two_parts_is_wilsons() -> None:
    for k in range(21):
        counts = np.array([20 - k, k])
        found = two_part_interval(np.array([0.0, 1.0]), counts, most=1.0, alpha=0.05)
        wilson = wilson_interval(k, 20)
        # On logarithms the ends are those that are further away by ratio.
        assert found == pytest.approx(wilson, abs=0.02)
        if k in {0, 20}:
            assert found == pytest.approx(wilson)


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_of_pvap_is_what_a_test_of_each_share_does_not_reject(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, 40)
    right = rng.binomial(sizes, rng.beta(1.5, 0.8, 40))
    found = measure_consistency(_from_counts(sizes, right))["pvap_unbiased"]
    shares = np.linspace(0, 1, 2001)
    kept = shares[oracle.pvap_not_rejected(sizes.tolist(), right.tolist(), shares, 0.05)]
    assert found.method == "fieller"
    assert found.interval is not None
    assert found.interval == pytest.approx((kept.min(), kept.max()), abs=1e-3)


@pytest.mark.slow
def test_the_interval_of_the_plug_in_is_not_about_p_c() -> None:
    """250 buckets of 3 to 12, theta from beta(2, 1): P_C is 2/3."""
    rng = np.random.default_rng(2)
    hits, bias = {"p_c": 0, "p_c_unbiased": 0}, []
    for _ in range(100):
        sizes = rng.integers(3, 13, 250)
        counts = _from_counts(sizes, rng.binomial(sizes, rng.beta(2, 1, 250)))
        result = measure_consistency(counts, n_resamples=50)
        bias.append(result["p_c"].value - 2 / 3)
        for name in hits:
            hits[name] += 2 / 3 in result[name].interval
    print(f"plug-in P_C: bias {np.mean(bias):.3f}, contained {hits} of 100 times")
    assert hits["p_c"] == 0
    assert hits["p_c_unbiased"] >= 87
    # A bucket of n has the bias 2 E[theta (1 - theta)] / n, and so 1/3 of the mean of 1/n.
    expected = np.mean(1 / np.arange(3, 13)) / 3
    assert np.mean(bias) == pytest.approx(expected, abs=0.004)


def test_the_variance_between_is_too_small_in_clusters() -> None:
    """Ten clusters of ten buckets with one theta from beta(2, 1), whose variance is 1/18."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(4000):
        theta = np.repeat(rng.beta(2, 1, 10), 10)
        right = rng.binomial(5, theta)
        across = right.var(ddof=1) / 25
        within = (right * (5 - right) / (5 * 4)).mean()
        found.append(across - within / 5)
    print(f"variance between in clusters: {np.mean(found):.4f} instead of {1 / 18:.4f}")
    result = measure_consistency(_from_counts(np.full(100, 5), right), n_resamples=50)
    assert result["between_unbiased"].value == pytest.approx(found[-1])
    # Two of 100 buckets are of one cluster 9 times in 99.
    assert np.mean(found) == pytest.approx((1 - 9 / 99) / 18, abs=0.001)


def test_one_bucket_has_values_but_no_interval() -> None:
    result = measure_consistency([1, 1, 1], [1, 0, 1])
    assert result["p_c_unbiased"].value == pytest.approx(1 / 3)
    assert result["p_c_unbiased"].interval is None
    assert result["between_unbiased"].value is None


def test_items_without_paraphrases_or_originals_are_counted() -> None:
    result = measure_consistency(
        ["a", "a", "a", "b", "c", "c", "d", "d", "d"],
        [1, 1, 0, 1, 1, 1, 1, 0, 1],
        is_original=[1, 0, 0, 1, 0, 0, 1, 0, 0],
    )
    assert (result.n_buckets, result.n_without_paraphrases, result.n_without_original) == (3, 1, 1)
    assert result["accuracy_original"].value == 1
    said = " ".join(result.remarks())
    assert "1 item has an original but no paraphrase" in said
    assert "1 item has no original" in said


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"gold": [0, 1, 1, 1]}, "1 bucket has several gold labels.*'a', with 0 and 1"),
        ({"clusters": [0, 1, 1, 1]}, "several clusters"),
        ({"is_original": [1, 1, 0, 0]}, "bucket 'a' has 2 originals"),
        ({"is_original": [1, 0, 1]}, "is_original has 3 rows, but correct has 4"),
        ({"confidence": [0.5, math.nan, 0.5, 0.5]}, "row 1.*missing"),
        ({"confidence": [0.5, 0.5, 1.5, 0.5]}, r"row 2.*in \[0, 1\]"),
        ({"answers": ["x", None, "y", "y"]}, "answers has 1 missing"),
        ({"answers": ["x", "y"]}, "answers has 2 rows"),
        ({"correct": [0, 1, 2, 1]}, "correct must hold 0 or 1"),
        ({"buckets": ["a", None, "b", "b"]}, "buckets has 1 missing"),
        ({"method": "bayes"}, "method must be exact or resample"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"confidence_level": 1.0}, "confidence_level"),
    ],
)
def test_a_table_that_is_none_is_refused(columns: dict[str, Any], message: str) -> None:
    table = {"buckets": ["a", "a", "b", "b"], "correct": [1, 0, 1, 1]} | columns
    with pytest.raises(InputError, match=message):
        measure_consistency(**table)


def test_only_originals_are_refused() -> None:
    with pytest.raises(InputError, match="no paraphrase"):
        measure_consistency([1, 2], [1, 0], is_original=[1, 1])
    with pytest.raises(InputError, match="leave the columns out"):
        measure_consistency(count_buckets([1, 1], [1, 0]), [1, 0])
    with pytest.raises(InputError, match="correct is missing"):
        measure_consistency([1, 1])


def test_the_law_of_a_sum_on_a_grid_is_the_law() -> None:
    # Twelve draws of a fair coin with sides 0.1 and 0.7, and one of a die.
    from scipy.stats import binom

    coin = Draws(values=np.array([0.1, 0.7]), frequencies=np.array([1.0, 1.0]), n_draws=12)
    law = SumLaw([coin])
    for heads in range(13):
        middle = 0.1 * (12 - heads) + 0.7 * heads
        assert law.share_below(middle + 0.3) == pytest.approx(binom.cdf(heads, 12, 0.5), abs=1e-9)
    die = Draws(values=np.arange(1.0, 7.0), frequencies=np.ones(6), n_draws=1)
    both = SumLaw([coin, die])
    exact = sum(
        binom.pmf(heads, 12, 0.5) / 6 * (0.1 * (12 - heads) + 0.7 * heads + side < 8.1)
        for heads in range(13)
        for side in range(1, 7)
    )
    assert both.share_below(8.1) == pytest.approx(exact, abs=1e-6)


def test_the_interval_of_a_mean_is_right_for_large_numbers() -> None:
    rng = np.random.default_rng(0)
    values = rng.exponential(size=100_000)
    interval = ratio_interval(values, np.ones(values.size), np.ones(values.size, np.int64), 0.05)
    half = 1.959964 * values.std() / math.sqrt(values.size)
    assert interval.low == pytest.approx(values.mean() - half, abs=0.01 * half)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.01 * half)


def test_lines_of_equal_pvap_go_through_what_was_measured() -> None:
    # With buckets of one size, micro and macro accuracy are the same and eq. 8 is exact.
    table = draw_table(10, least=4, most=4)
    result = measure_consistency(**table, n_resamples=100)
    accuracy, pvap = result["accuracy_macro"].value, result["pvap"].value
    assert pvap is not None
    assert consistency_at(accuracy, pvap) == pytest.approx(result["p_c"].value)
    assert consistency_at(accuracy, 1) == pytest.approx(result["lower_bound"].value)
    with pytest.raises(InputError, match="pvap must"):
        consistency_at(0.5, 1.5)
    with pytest.raises(InputError, match="accuracy must"):
        consistency_at([0.5, 1.5], 0.5)


@pytest.mark.slow
def test_the_plane_shows_the_point_and_its_intervals() -> None:
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    result = measure_consistency(**draw_table(11), n_resamples=100)
    ax = result.plot()
    drawn = [line.get_xydata().tolist() for line in ax.get_lines()]
    for name in ("p_c", "p_c_unbiased"):
        assert [[result["accuracy_macro"].value, result[name].value]] in drawn
    assert len(drawn) == len(ISO_PVAP) + 2 * 3


@pytest.mark.parametrize(("n", "said"), [(1, "Only 1 item: "), (6, "Only 6 items: ")])
def test_few_items_are_said_in_words(n: int, said: str) -> None:
    items = np.repeat(np.arange(n), 3)
    correct = np.tile([1, 0, 1], n)
    found = measure_consistency(items, correct, n_resamples=50)
    assert f"{said}intervals may be too short." in found.remarks()


@pytest.mark.parametrize(
    "names", [["a", "a ", "b", "b ", "c", "c", "d", "d"], [7, 7, "7b", "7b", 8, 8, 9, 9]]
)
@pytest.mark.parametrize("are_clusters", [False, True])
def test_flips_are_of_the_buckets_that_are_counted(names: list[Any], *, are_clusters: bool) -> None:
    right, original = [1, 0, 1, 0, 1, 1, 0, 0], [1, 0] * 4
    buckets = np.array(names, dtype=object)
    options: dict[str, Any] = {"is_original": original, "n_resamples": 50}
    if are_clusters:
        options["clusters"] = np.array(["x", "x ", "x", "x", "y", "y", "z", "z"], dtype=object)
    found = measure_consistency(buckets, right, **options)
    assert found["flip_rate"].value == 0.5
    assert (found.flips.n, found.flips.n_flipped, found.flips.right_to_wrong) == (4, 2, 2)


def test_correct_that_contradicts_answers_and_gold_is_refused() -> None:
    buckets, answers, gold = list("aabbccdd"), ["e", "n"] * 4, ["e"] * 8
    given = {"is_original": [1, 0] * 4, "answers": answers, "gold": gold, "n_resamples": 50}
    assert measure_consistency(buckets, [1, 0] * 4, **given).flips.right_to_wrong == 4
    with pytest.raises(InputError, match=r"row 2: correct says otherwise .* in 1 row of 8"):
        measure_consistency(buckets, [1, 0, 0, 0, 1, 0, 1, 0], **given)
