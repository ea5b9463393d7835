import numpy as np
from numpy.typing import NDArray

MAX_OUTCOMES: int
MAX_LISTED_VERSIONS: int

def count_versions(
    outcomes: NDArray[np.bool_],
) -> tuple[list[int], list[int], NDArray[np.uint8], int, int]: ...
def exact_cost(levels: list[int]) -> tuple[float, float]: ...
def exact_tails(levels: list[int], spread: int, weight: int) -> tuple[float, float]: ...
def multinomial_tails(
    levels: list[int],
    spread: int,
    weight: int,
    *,
    n_replicates: int,
    key: NDArray[np.uint64],
    q_replicates: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> tuple[int, int, int]: ...
def resample_tails(
    row_levels: NDArray[np.uint8],
    versions: int,
    spread: int,
    weight: int,
    *,
    n_replicates: int,
    key: NDArray[np.uint64],
    q_replicates: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> tuple[int, int, int]: ...
