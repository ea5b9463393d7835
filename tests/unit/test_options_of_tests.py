"""Options of the statistical tests that are no numbers, or out of their range, are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ietest_fast import stats
from ietest_fast.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

A = np.ones(50, dtype=bool)
B = np.arange(50) >= 9
SPREAD = {"sd_items": 0.3, "sd_classifiers": 0.01, "sd_residual": 0.1}

CALLS: dict[str, tuple[Callable[..., Any], dict[str, float]]] = {
    "equivalence": (lambda **own: stats.equivalence_test(A, B, **own), {"alpha": 0, "margin": 0}),
    "strata": (
        lambda **own: stats.stratified_test(A, B, A, **own),
        {"alpha": 0, "margin": 1, "flip_margin": 1},
    ),
    "dose": (lambda **own: stats.dose_response_test(A, B, A, **own), {"alpha": 0}),
    "decide": (lambda **own: stats.decide([0.1], **own), {"alpha": 0}),
    "joint": (lambda **own: stats.joint_test({0: A}, {0: B}, **own), {"alpha": 0}),
    "algorithm": (
        lambda **own: stats.algorithm_test({0: A, 1: A}, {0: B, 1: B}, **own),
        {"alpha": 0, "margin": 1},
    ),
    "flips": (lambda **own: stats.flip_test(A, B, **own), {"alpha": 0, "margin": 1}),
    "anytime": (lambda **own: stats.anytime_test(A, B, **own), {"alpha": 0}),
    "power": (
        lambda **own: stats.plan(**({"n": 100, "discordance": 0.1, "delta": 0.01} | own)),
        {"discordance": 2, "delta": 2, "alpha": 0},
    ),
    "plan": (
        lambda **own: stats.plan_algorithm(
            **({"n": 100, "n_classifiers": 5, "delta": 0.01} | SPREAD | own)
        ),
        {"sd_items": -1, "alpha": 0, "delta": 1e101},
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("wrong", ["x", None, True, [0.1], float("nan"), "out of range"])
def test_an_option_that_is_no_number_in_its_range_is_refused(call: str, wrong: Any) -> None:
    test, outside = CALLS[call]
    for option, number in outside.items():
        if wrong is None and (call, option) in {("power", "delta"), ("plan", "delta")}:
            continue  # it is what follows from the others
        value = number if wrong == "out of range" else wrong
        with pytest.raises(InputError, match=option.replace("sd_items", "standard").split("_")[-1]):
            test(**{option: value})
