from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ietest_fast import _core
from ietest_fast.philox import philox_key, philox_uniforms, philox_words

THREADS = (1, 2, 3, 7)


def test_key_is_the_one_numpy_derives_from_the_seed() -> None:
    for seed in (0, 1, 2**70 + 3):
        expected = np.random.Philox(seed).state["state"]["key"]
        assert (philox_key(seed) == expected).all()


@pytest.mark.parametrize(("replicate", "stream"), [(0, 0), (5, 3), (2**63 + 1, 2**64 - 1)])
def test_words_are_numpys(replicate: int, stream: int) -> None:
    key = philox_key(7)
    bits = np.random.Philox(key=key, counter=np.array([0, replicate, stream, 0], dtype=np.uint64))
    expected = bits.random_raw(1003)
    assert (philox_words(key, 1003, replicate=replicate, stream=stream) == expected).all()


def test_words_carry_over_all_counter_words_like_numpy() -> None:
    key = np.array([2**64 - 1, 12345], dtype=np.uint64)
    counter = np.array([2**64 - 2, 2**64 - 1, 2**64 - 1, 9], dtype=np.uint64)
    expected = np.random.Philox(key=key, counter=counter).random_raw(50)
    assert (_core.random.philox_words(key, counter, 50) == expected).all()


def test_uniforms_are_numpys() -> None:
    key = philox_key(11)
    bits = np.random.Philox(key=key, counter=np.array([0, 4, 2, 0], dtype=np.uint64))
    expected = np.random.Generator(bits).random(999)
    assert (philox_uniforms(key, 999, replicate=4, stream=2) == expected).all()


@pytest.mark.parametrize("n_threads", THREADS)
def test_threads_change_no_word(n_threads: int) -> None:
    key = philox_key(3)
    size = 200_001
    serial = philox_words(key, size, n_threads=1)
    assert (philox_words(key, size, n_threads=n_threads) == serial).all()


@pytest.mark.parametrize(
    ("n", "p"),
    [(0, 0.5), (5, 0.0), (5, 1.0), (1, 0.3), (40, 0.02), (60, 0.5), (1000, 0.03), (1000, 0.97)],
)
def test_binomials_follow_the_law(n: int, p: float) -> None:
    size = 200_000
    draws = _core.random.multinomials(philox_key(1), 9, n, [p, 1 - p], size)[:, 0]
    observed = np.bincount(draws, minlength=n + 1)
    expected = scipy_stats.binom.pmf(np.arange(n + 1), n, p) * size
    assert observed[expected == 0].sum() == 0
    # Chi-square over cells with enough mass, the rest pooled.
    big = expected >= 10
    if big.sum() < 2:
        return
    cells = np.append(observed[big], observed[~big].sum())
    masses = np.append(expected[big], max(expected[~big].sum(), 1e-9))
    if masses[-1] < 10:
        cells, masses = cells[:-1], masses[:-1] * cells[:-1].sum() / masses[:-1].sum()
    chi_square = ((cells - masses) ** 2 / masses).sum()
    assert scipy_stats.chi2.sf(chi_square, cells.size - 1) > 1e-4


def test_binomials_of_a_large_n_have_the_right_moments() -> None:
    n, p, size = 10**9, 0.37, 100_000
    draws = _core.random.multinomials(philox_key(2), 0, n, [p, 1 - p], size)[:, 0]
    deviation = np.sqrt(n * p * (1 - p))
    z = (draws - n * p) / deviation
    assert abs(z.mean()) < 4.5 / np.sqrt(size)
    assert abs(z.std() - 1) < 4.5 / np.sqrt(2 * size)
    assert scipy_stats.kstest(z, "norm").pvalue > 1e-4


@pytest.mark.parametrize("n_threads", THREADS)
def test_threads_change_no_draw(n_threads: int) -> None:
    key = philox_key(5)
    law = [0.4, 0.35, 0.25]
    serial = _core.random.multinomials(key, 1, 500, law, 30_000, n_threads=1)
    drawn = _core.random.multinomials(key, 1, 500, law, 30_000, n_threads=n_threads)
    assert (drawn == serial).all()


def test_multinomials_sum_to_n_and_have_the_right_means_and_covariances() -> None:
    n, size = 900, 100_000
    law = np.array([0.5, 0.04, 0.3, 0.16])
    draws = _core.random.multinomials(philox_key(4), 2, n, law, size)
    assert draws.shape == (size, 4)
    assert (draws.sum(axis=1) == n).all()
    covariance = n * (np.diag(law) - np.outer(law, law))
    error = (draws.mean(axis=0) - n * law) / np.sqrt(np.diag(covariance) / size)
    assert np.abs(error).max() < 4.5
    assert np.allclose(np.cov(draws.T), covariance, atol=4)


@pytest.mark.parametrize(
    "call",
    [
        lambda key: _core.random.philox_words(key[:1], np.zeros(4, np.uint64), 3),
        lambda key: _core.random.philox_words(key, np.zeros(3, np.uint64), 3),
        lambda key: _core.random.philox_words(key, np.zeros(4, np.uint64), -1),
        lambda key: _core.random.philox_words(key, np.zeros(4, np.uint64), 3, n_threads=0),
        lambda key: _core.random.multinomials(key, 0, -1, [0.5, 0.5], 3),
        lambda key: _core.random.multinomials(key, 0, 5, [], 3),
    ],
)
def test_bad_arguments_are_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=r"must|needs"):
        call(philox_key(0))
