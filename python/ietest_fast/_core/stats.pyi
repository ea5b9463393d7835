from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_PValues: TypeAlias = tuple[float, float, float]
_ReplicateCounts: TypeAlias = tuple[int, int, int, int, int]

MAX_PAIRS: int

def count_pairs(
    original: NDArray[np.bool_], transformed: NDArray[np.bool_]
) -> tuple[int, int, int, int]: ...
def paired_t(difference: int, discordant: int, n: int) -> float: ...
def compare_t(difference1: int, discordant1: int, difference2: int, discordant2: int) -> int: ...
def exact_p_values(n11: int, n10: int, n01: int, n00: int) -> _PValues: ...
def exact_tails(n11: int, n10: int, n01: int, n00: int) -> tuple[float, float, float, float]: ...
def mcnemar_exact_p(n11: int, n10: int, n01: int, n00: int) -> float: ...
def mcnemar_mid_p(n11: int, n10: int, n01: int, n00: int) -> float: ...
def multinomial_test(
    n11: int,
    n10: int,
    n01: int,
    n00: int,
    *,
    n_replicates: int,
    key: NDArray[np.uint64],
    t_replicates: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> tuple[_PValues, _ReplicateCounts]: ...
def resample_test(
    differences: NDArray[np.int8],
    *,
    n_replicates: int,
    key: NDArray[np.uint64],
    t_replicates: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> tuple[_PValues, _ReplicateCounts]: ...
