"""Options that no test understands are refused alike by every test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ietest_fast.errors import InputError
from ietest_fast.stats import (
    PairedCounts,
    cochran_q_test,
    detectable_difference,
    draw_t_replicates,
    mcnemar_test,
    paired_test,
    pairs_to_decide,
    power,
    power_curve,
    sample_size,
    simulate,
)
from ietest_fast.stats.laws.null import draw_null_differences

COUNTS = PairedCounts(30, 9, 4, 7)
TABLE = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]] * 5)

MONTE_CARLO = {
    "paired": lambda **options: paired_test(COUNTS, method="multinomial", **options),
    "replicates": lambda **options: draw_t_replicates(COUNTS, **options),
    "mcnemar": lambda **options: mcnemar_test(COUNTS, method="resample", **options),
    "cochran": lambda **options: cochran_q_test(TABLE, **options),
    "simulate": lambda **options: simulate(20, 0.2, **{"n_tables": 2, **options}),
}
THREADED = {
    "exact": lambda **options: paired_test(COUNTS, **options),
    "power": lambda **options: power(20, 0.2, 0.1, **options),
    "sample_size": lambda **options: sample_size(0.2, 0.2, **options),
    "detectable": lambda **options: detectable_difference(200, 0.2, **options),
    "curve": lambda **options: power_curve(0.2, n=[10, 20], delta=0.1, **options),
    "decide": lambda **options: pairs_to_decide(COUNTS, **options),
}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"n_resamples": 1e4}, "n_resamples must be an integer, not 10000.0"),
    ({"n_resamples": True}, "n_resamples must be an integer"),
    ({"n_resamples": 0}, "n_resamples must be at least 1"),
    ({"n_resamples": 2**63}, "n_resamples must be at least 1 and at most"),
    ({"rng": 1.5}, "rng must be an integer, a SeedSequence, a Generator or None, not 1.5"),
    ({"rng": "1"}, "rng must be an integer"),
    ({"rng": -1}, "rng must be 0 or more"),
]
WRONG_THREADS: list[tuple[dict[str, Any], str]] = [
    ({"n_threads": 0}, "n_threads must be at least 1, not 0"),
    ({"n_threads": 2.0}, "n_threads must be an integer, not 2.0"),
]


@pytest.mark.parametrize("name", MONTE_CARLO)
@pytest.mark.parametrize(("options", "message"), WRONG + WRONG_THREADS)
def test_options_of_resampling_are_checked(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        MONTE_CARLO[name](**options)


@pytest.mark.parametrize("name", THREADED)
@pytest.mark.parametrize(("options", "message"), WRONG_THREADS)
def test_threads_are_checked(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        THREADED[name](**options)


@pytest.mark.parametrize("name", MONTE_CARLO)
def test_integers_of_numpy_are_integers(name: str) -> None:
    options = {"n_resamples": 20, "rng": 3, "n_threads": 2}
    one = MONTE_CARLO[name](**options)
    two = MONTE_CARLO[name](**{key: np.int64(value) for key, value in options.items()})
    if isinstance(one, np.ndarray):
        assert one.tolist() == two.tolist()
    else:
        assert one.to_json() == two.to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 20.5}, "n must be an integer, not 20.5"),
        ({"n_tables": 1e3}, "n_tables must be an integer"),
        ({"n_tables": 0}, "n_tables must be 1 or more"),
        ({"n_classifiers": 1.5}, "n_classifiers must be an integer"),
    ],
)
def test_amounts_of_a_simulation_are_integers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(**{"n": 20, "discordance": 0.2, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rng": 0.5}, "rng must be an integer"),
        ({"table": -1}, "table must be 0 or more"),
        ({"n_classifiers": 0}, "n_classifiers must be 1 or more"),
    ],
)
def test_a_null_table_has_an_address_of_integers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_null_differences(20, 0.2, **options)
