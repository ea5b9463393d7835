"""The data-generating process is what the documentation says, number by number."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ietest_fast.corpus import DataGeneratingProcess
from ietest_fast.errors import InputError


def _by_numpy(seed, split, m, n):
    key = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(2, np.uint64)
    counter = [0, m, {"train": 0, "valid": 1}[split], 0]
    return np.random.Generator(np.random.Philox(key=key, counter=counter)).random(n)


@pytest.mark.parametrize("seed", [0, 1, 2**40])
@pytest.mark.parametrize("split", ["train", "valid"])
def test_uniforms_are_numpys(seed, split):
    for m in (0, 3):
        ours = DataGeneratingProcess(seed=seed).uniforms(split, m, 1003)
        assert np.array_equal(ours, _by_numpy(seed, split, m, 1003))


def test_sets_are_nested_in_rho():
    process = DataGeneratingProcess(seed=7)
    masks = [process.mask("train", rho=rho, m=2, n=5000) for rho in (0, 0.1, 0.5, 0.51, 1)]
    for smaller, larger in itertools.pairwise(masks):
        assert not (smaller & ~larger).any()
    assert not masks[0].any()
    assert masks[-1].all()


def test_the_share_is_rho():
    mask = DataGeneratingProcess(seed=0).mask("train", rho=0.3, m=0, n=100_000)
    assert abs(mask.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 100_000)


def test_each_resample_split_and_seed_has_its_own_draw():
    n = 2000
    draws = [
        DataGeneratingProcess(seed=seed).mask(split, rho=0.5, m=m, n=n)
        for seed in (0, 1)
        for split in ("train", "valid")
        for m in (0, 1)
    ]
    for i, a in enumerate(draws):
        for b in draws[:i]:
            assert abs((a == b).mean() - 0.5) < 0.06


def test_fewer_rows_are_the_first_of_more():
    process = DataGeneratingProcess(seed=5)
    few, many = (process.mask("valid", rho=0.4, m=1, n=n) for n in (10, 1000))
    assert np.array_equal(few, many[:10])


@pytest.mark.parametrize("rho", [-0.1, 1.1, float("nan")])
def test_rho_is_a_probability(rho):
    with pytest.raises(InputError, match="rho"):
        DataGeneratingProcess(seed=0).mask("train", rho=rho, m=0, n=3)
