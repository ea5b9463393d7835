"""Quantifiers of hard cases, against loops over all classifiers."""

from __future__ import annotations

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.experiment.view.text_tables import (
    DEFAULT_QUANTIFIER,
    QUANTIFIERS,
    find_hard_cases,
    hard_case_table,
    pack_hardness,
)

BY_HAND = {
    "every-m-every-rho": lambda lost: all(all(row) for row in lost),
    "every-m-any-rho": lambda lost: any(all(row) for row in lost),
    "any-m-every-rho": lambda lost: all(any(row) for row in lost),
    "any-m-any-rho": lambda lost: any(any(row) for row in lost),
    "first-m-every-rho": lambda lost: all(row[0] for row in lost),
    "first-m-any-rho": lambda lost: any(row[0] for row in lost),
}


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 3, 400).astype(np.int8)
    answers = []
    for n_rho, n_m in ((3, 2), (2, 4)):
        own = np.broadcast_to(gold[:, None, None, None], (400, n_rho, n_m, 2)).copy()
        wrong = rng.random(own.shape) < np.array([0.02, 0.9])
        answers.append(np.where(wrong, (own + 1) % 3, own).astype(np.int8))
    return gold, answers


def test_the_default_is_every_resample_at_every_rho():
    assert DEFAULT_QUANTIFIER == "every-m-every-rho"
    assert set(QUANTIFIERS) == set(BY_HAND)


@pytest.mark.parametrize("name", BY_HAND)
def test_quantifiers_mean_what_they_say(models, name):
    gold, answers = models
    expected = []
    for row in range(len(gold)):
        lost = [
            [
                [own[row, r, m, 0] == gold[row] != own[row, r, m, 1] for m in range(own.shape[2])]
                for r in range(own.shape[1])
            ]
            for own in answers
        ]
        if all(BY_HAND[name](own) for own in lost):
            expected.append(row)
    assert expected
    assert find_hard_cases(answers, gold, quantifier=name).tolist() == expected
    bit = list(QUANTIFIERS).index(name)
    packed = [pack_hardness(own, gold) for own in answers]
    assert np.flatnonzero(packed[0] & packed[1] & (1 << bit)).tolist() == expected
    table = hard_case_table({"a": packed[0], "b": packed[1]})
    assert table.rows[bit][-2:] == (len(expected), len(expected) / 400)
    assert table.rows[bit][1] == len(find_hard_cases(answers[:1], gold, quantifier=name))


def test_mistakes_are_told(models):
    gold, answers = models
    with pytest.raises(InputError, match="not often"):
        find_hard_cases(answers, gold, quantifier="often")
    with pytest.raises(InputError, match="answers of a model"):
        find_hard_cases([], gold)
