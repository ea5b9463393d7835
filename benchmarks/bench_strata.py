"""Strata, heterogeneity and dose, beside numpy and scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ietest_fast.stats import dose_response_test, stratified_test
from ietest_fast.stats.symmetry import compare_strata

if TYPE_CHECKING:
    from benchmarks.conftest import Race

S = 10_000


def make_answers(n: int) -> tuple[Any, Any, Any, Any]:
    """Answers to both versions of n texts, a tenth of which change, gold labels and edits."""
    rng = np.random.default_rng(0)
    gold = rng.integers(3, size=n)
    original = np.where(rng.random(n) < 0.8, gold, (gold + 1) % 3)
    transformed = np.where(rng.random(n) < 0.85, original, rng.integers(3, size=n))
    return original, transformed, gold, np.minimum(rng.geometric(0.5, size=n), 8)


def losses_by_label(original: Any, transformed: Any, gold: Any) -> tuple[Any, Any]:
    lost = (original == gold) & (transformed != gold)
    won = (original != gold) & (transformed == gold)
    return np.bincount(gold[lost], minlength=3), np.bincount(gold[won], minlength=3)


def numpy_permutations(original: Any, transformed: Any, gold: Any, n_replicates: int) -> float:
    """The definition in numpy: permute losses among discordant pairs, a replicate at a time."""
    rng = np.random.default_rng(0)
    there = np.flatnonzero((original == gold) != (transformed == gold))
    lost, labels = (original == gold)[there], gold[there]
    sizes = np.bincount(labels, minlength=3)

    def statistic(marks: Any) -> float:
        return float((np.bincount(labels[marks], minlength=3) ** 2 / sizes).sum())

    observed = statistic(lost)
    reached = sum(statistic(rng.permutation(lost)) >= observed for _ in range(n_replicates))
    return (reached + 1) / (n_replicates + 1)


HETEROGENEITY = pytest.mark.benchmark(group="heterogeneity over three labels, n = 10⁴")
STRATA = pytest.mark.benchmark(group="strata and dose")


@HETEROGENEITY
def test_exact_heterogeneity(race: Race) -> None:
    table = losses_by_label(*make_answers(10_000)[:3])
    found = compare_strata(*table, n_resamples=S, seed=0)
    assert found.method == "exact"
    race.ours(
        "exact", lambda: compare_strata(*table, n_resamples=S, seed=0), units=1, at_most_seconds=1
    )


@HETEROGENEITY
def test_numpy_permutations(race: Race) -> None:
    answers = make_answers(10_000)[:3]
    drawn = race.scale(1_000, 10)
    race.peer(
        "numpy, S = 10,000 permutations",
        lambda: numpy_permutations(*answers, drawn),
        units=drawn / S,
        at_least=1,
    )


@STRATA
@pytest.mark.parametrize("n", [10_000, 100_000])
@pytest.mark.parametrize("correction", ["holm", "minp"])
def test_strata(race: Race, n: int, correction: Any) -> None:
    a, b, gold, _ = make_answers(n)
    race.ours(
        f"three labels, {correction}, n = {n:,}",
        lambda: stratified_test(a, b, gold, gold=gold, correction=correction),
        units=1,
        at_most_seconds=1,
    )


@STRATA
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_clustered_strata(race: Race, n: int) -> None:
    a, b, gold, _ = make_answers(n)
    clusters = np.arange(n) // 3
    race.ours(
        f"three labels, clusters, n = {n:,}",
        lambda: stratified_test(a, b, gold, gold=gold, clusters=clusters),
        units=1,
        at_most_seconds=1,
    )


@STRATA
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_dose(race: Race, n: int) -> None:
    a, b, gold, edits = make_answers(n)
    race.ours(
        f"dose and response, n = {n:,}",
        lambda: dose_response_test(a, b, edits, gold=gold),
        units=1,
        at_most_seconds=1,
    )
