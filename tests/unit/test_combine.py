"""Several tests combined: each correction against its definition, and what cannot be combined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    MatchedSample,
    PairedCounts,
    combine,
    decide,
    joint_test,
    paired_test,
)

COUNTS = {"a": PairedCounts(90, 20, 4, 86), "b": PairedCounts(98, 9, 3, 90)}
RNG = np.random.default_rng(0)
RIGHT = RNG.random((300, 3)) < 0.9
LATER = RIGHT & (RNG.random((300, 3)) < [1.0, 0.97, 0.85])
SAMPLES = [
    MatchedSample(original_correct=a, transformed_correct=b)
    for a, b in zip(RIGHT.T, LATER.T, strict=True)
]


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["bonferroni", "holm"])
@pytest.mark.parametrize("seed", range(8))
def test_corrections_are_those_of_statsmodels(correction: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p_values = rng.random(rng.integers(1, 8)) ** 4
    result = combine(p_values, correction=correction, alpha=0.1)
    reject, adjusted, *_ = multipletests(p_values, alpha=0.1, method=correction)
    assert result.p_adjusted == pytest.approx(adjusted.tolist())
    assert result.reject == tuple(reject.tolist())
    assert result.decision.reject == reject.any()
    assert result.decision.correction == correction
    assert result.pvalue == min(result.p_adjusted)
    assert result.thresholds is not None
    for p, held, no in zip(p_values, result.thresholds, result.reject, strict=True):
        assert p < held or not no


def test_bonferroni_is_the_papers_decision() -> None:
    p_values = [0.01, 0.012, 0.5]
    assert combine(p_values).decision == decide(p_values)


def test_counts_and_finished_tests_are_the_same_family() -> None:
    of_counts = combine(COUNTS, correction="holm")
    of_results = combine({k: paired_test(v) for k, v in COUNTS.items()}, correction="holm")
    of_numbers = combine(of_counts.p_values, correction="holm")
    assert of_counts.names == of_results.names == ("a", "b")
    assert of_numbers.names == ("test 1", "test 2")
    assert of_counts.to_dict() == of_results.to_dict()
    assert of_counts.p_adjusted == of_numbers.p_adjusted
    assert of_counts.tests == of_results.tests
    assert of_numbers.tests is None


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("correction", ["maxt", "minp"])
def test_joint_corrections_draw_the_same_rows(correction: Any, clustered: bool) -> None:
    clusters = np.arange(300) // 3 if clustered else None
    result = combine(
        SAMPLES, correction=correction, clusters=clusters, n_resamples=2_000, rng=4, alpha=0.1
    )
    joint = joint_test(
        RIGHT, LATER, clusters=clusters, n_resamples=2_000, rng=4, min_p=correction == "minp"
    )
    assert result.p_adjusted == joint.p_adjusted
    assert result.p_values == joint.p_value
    assert result.thresholds is None
    assert result.reject == tuple(p < 0.1 for p in joint.p_adjusted)
    assert result.decision.p_min == min(joint.p_adjusted)
    assert (result.decision.threshold, result.decision.n_tests) == (0.1, 3)
    pairs = list(zip(RIGHT.T, LATER.T, strict=True))
    again = combine(
        pairs, correction=correction, clusters=clusters, n_resamples=2_000, rng=4, alpha=0.1
    )
    assert again.to_dict() == result.to_dict()


def test_samples_are_tested_with_their_clusters() -> None:
    clusters = np.arange(300) // 3
    result = combine(SAMPLES, clusters=clusters, n_resamples=500, rng=1)
    one = paired_test(RIGHT[:, 2], LATER[:, 2], clusters=clusters, n_resamples=500, rng=1)
    assert result.p_values[2] == one.p_value


def test_a_family_is_a_frame_with_a_row_for_each_test() -> None:
    frame = combine(COUNTS, correction="holm").to_frame()
    assert list(frame["name"]) == ["a", "b"]
    assert list(frame["reject"]) == [True, False]
    said = str(combine(COUNTS, correction="holm"))
    assert "rejected: a." in said


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ([], {}, "no test"),
        ([0.1, 2.0], {}, r"\[0, 1\]"),
        ([0.1, COUNTS["a"]], {}, "finished tests and samples"),
        ([0.1], {"correction": "sidak"}, "correction must be one of"),
        ([0.1], {"correction": "minp"}, "row by row"),
        (COUNTS, {"correction": "maxt"}, "row by row"),
        (SAMPLES, {"correction": "maxt", "method": "exact"}, "leave the method"),
        ([0.1], {"clusters": [1, 2]}, "these tests are finished"),
        ([0.1], {"alpha": 1.0}, "alpha"),
        (["x"], {}, "neither a p-value"),
        (3, {}, "sequence or a mapping"),
        (
            [(RIGHT[:, 0], LATER[:, 0]), ([1, 0], [1, 1])],
            {"correction": "maxt"},
            "differ in length",
        ),
    ],
)
def test_what_cannot_be_combined_is_refused(samples: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        combine(samples, **options)


def test_warnings_of_the_tests_are_passed_on() -> None:
    rng = np.random.default_rng(3)
    skewed = np.exp(1.5 * rng.normal(size=60))
    plain = rng.normal(size=60)
    zeros = np.zeros(60)
    family = combine({"skewed": (skewed, zeros), "plain": (plain, zeros)}, correction="holm")
    assert family.tests is not None
    assert family.tests[0].warning is not None
    assert family.tests[1].warning is None
    assert family.remarks()[1:] == [f"Warning: skewed: {family.tests[0].warning}."]
