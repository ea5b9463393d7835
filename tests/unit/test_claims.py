"""What is claimed of an algorithm: its parts by plain loops, its levels, its words."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast.errors import InputError
from ietest_fast.stats import Verdict, algorithm_test, share_alpha
from ietest_fast.stats.algorithm.claims import (
    SHARES,
    AlgorithmClaims,
    PairedChurn,
    hold_claims_together,
    judge_algorithm,
)
from reference import churn_oracle

RHOS = (0.0, 0.25, 1.0)


def draw(
    seed: int, *, n: int = 400, m: int = 4, lost: float = 0.0, rhos: tuple[float, ...] = RHOS
) -> tuple[dict[float, tuple[Any, Any]], np.ndarray]:
    """Answers of m trainings at each rho; the loss falls to 0 as rho grows to 1."""
    rng = np.random.default_rng(seed)
    gold = np.arange(n) % 3
    answers = {}
    for rho in rhos:
        right = rng.random((n, m)) < 0.8
        original = np.where(right, gold[:, None], (gold[:, None] + 1) % 3)
        moved = rng.random((n, m)) < 0.05
        mended = np.where(moved, (original + 1) % 3, original)
        gone = right & (rng.random((n, m)) < lost * (1 - rho) / 0.8)
        answers[rho] = original, np.where(gone, (gold[:, None] + 2) % 3, mended)
    return answers, gold


def test_the_slope_is_that_of_lines_through_each_text_and_training() -> None:
    answers, gold = draw(0, lost=0.2)
    found = judge_algorithm(answers, gold)
    slopes = np.zeros((gold.size, 4))
    for i, m in itertools.product(range(gold.size), range(4)):
        losses = [
            float(answers[rho][0][i, m] == gold[i]) - float(answers[rho][1][i, m] == gold[i])
            for rho in RHOS
        ]
        slopes[i, m] = np.polyfit(RHOS, losses, 1)[0]
    expected = algorithm_test(slopes, np.zeros_like(slopes))
    assert found.slope is not None
    assert found.slope.delta == pytest.approx(expected.delta)
    assert found.slope.p_value == pytest.approx(expected.p_value)
    assert found.slope.delta < 0  # the loss shrinks
    assert found.is_shown("slope")
    assert found.trend is not None
    assert found.trend.startswith("Training on rephrased texts matters: from ρ = 0 to 1 the change")


def test_the_churn_is_that_of_the_definition_and_t_is_over_pairs() -> None:
    answers, gold = draw(1, n=200, m=4, lost=0.2)
    a, b = answers[0.0]
    found = PairedChurn.of(a, b)
    assert found is not None
    assert found.excess == pytest.approx(float(churn_oracle.excess_churn(a, b)))
    products = []
    for m, other in itertools.combinations(range(4), 2):
        vectors = [(np.eye(3)[b[:, k]] - np.eye(3)[a[:, k]]).ravel() for k in (m, other)]
        products.append(float(vectors[0] @ vectors[1]) / 200)
    mean, error = np.mean(products), np.std(products, ddof=1) / np.sqrt(6)
    assert found.excess == pytest.approx(mean / 2)
    assert found.p_value == pytest.approx(scipy_stats.t.sf(mean / error, 3))
    assert PairedChurn.of(a[:, :2], b[:, :2]) is None
    assert judge_algorithm({0.0: (a, b)}, gold).p_values.keys() == {"change", "churn", "labels"}


def test_a_label_is_held_against_all_others() -> None:
    answers, gold = draw(2, n=900, rhos=(0.0,))
    original, other = answers[0.0]
    other = np.where((gold == 1)[:, None] & (np.arange(900) % 4 == 1)[:, None], 0, other)
    found = judge_algorithm({0.0: (original, other)}, gold, names=["x", "y", "z"])
    lost = (original == gold[:, None]).astype(float) - (other == gold[:, None])
    for place, label in enumerate(found.labels):
        own = gold == place
        assert (label.name, label.n) == ("xyz"[place], 300)
        assert label.delta == pytest.approx(lost[own].mean())
        sides = np.where(own, 3.0, -1.5)[:, None]
        expected = algorithm_test(lost * sides, np.zeros_like(lost))
        assert expected.delta == pytest.approx(lost[own].mean() - lost[~own].mean())
        assert label.p_other == pytest.approx(expected.p_value)
    assert found.is_shown("labels")


def test_claims_share_alpha_and_so_do_versions() -> None:
    answers, gold = draw(3, lost=0.1)
    found = judge_algorithm(answers, gold)
    names = list(found.p_values)
    held = share_alpha(
        [found.p_values[name] for name in names], [SHARES[name] for name in names], alpha=0.05
    )
    assert [found.levels[name] for name in names] == pytest.approx(held)
    one, two = hold_claims_together([found, found])
    for name in names:
        assert max(one.levels[name], two.levels[name]) <= found.levels[name]
    assert (one.n_versions, two.n_versions) == (2, 2)
    assert len(one.headline) == len(found.headline)
    assert one.headline != found.headline  # their intervals hold together


def test_trainings_that_answer_alike_are_one_classifier() -> None:
    answers, gold = draw(4, m=1)
    copies = {
        rho: tuple(np.repeat(each, 3, axis=1) for each in own) for rho, own in answers.items()
    }
    with pytest.raises(InputError, match="they are one classifier"):
        judge_algorithm(copies, gold)


@pytest.fixture(scope="module")
def claims() -> AlgorithmClaims:
    answers, gold = draw(5, n=3_000, m=5, lost=0.1)
    return judge_algorithm(answers, gold)


def test_the_sentence_has_one_finding_and_its_numbers(claims: AlgorithmClaims) -> None:
    assert claims.verdict is Verdict.DIFFERS
    assert claims.headline.startswith("Accuracy is lower on 3,000 reworded texts: 79.9 → 66.1 (")
    assert len(claims.headline.split()) <= 30
    assert claims.remarks()[0] == claims.headline
    assert claims.to_dict()["verdict"] == "differs"
    assert "answers changed" in str(claims)


def test_nothing_is_alike_while_a_label_may_lose() -> None:
    n = 6_000
    gold = np.arange(n) % 3
    rng = np.random.default_rng(6)
    original = np.where(rng.random((n, 5)) < 0.9, gold[:, None], (gold[:, None] + 1) % 3)
    flip = rng.random((n, 5)) < 0.002
    found = judge_algorithm({0.0: (original, np.where(flip, (original + 1) % 3, original))}, gold)
    assert found.verdict is Verdict.ALIKE
    assert len(found.headline.split()) <= 30
    open_ = tuple(replace(label, p_bounded=0.2, upper=0.02) for label in found.labels)
    loose = replace(found, labels=open_)
    assert loose.p_alike == 0.2
    assert loose.verdict is Verdict.EQUIVALENT
    assert "that the label 0 loses 1 point is not excluded" in loose.headline
    assert len(loose.headline.split()) <= 30


def test_guessing_shows_nothing() -> None:
    gold = np.arange(300) % 3
    constant = np.zeros((300, 3), int)
    other = constant.copy()
    other[::7, 0] = other[::9, 1] = 1
    found = judge_algorithm({0.0: (constant, other)}, gold)
    assert found.verdict is Verdict.COLLAPSED
    assert len(found.headline.split()) <= 30
