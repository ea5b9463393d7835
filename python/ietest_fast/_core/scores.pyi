import numpy as np
from numpy.typing import NDArray

TIE_TOLERANCE: float

def score_test(
    values: NDArray[np.float64],
    weights: NDArray[np.int64],
    *,
    n_units: int,
    sums: NDArray[np.float64],
    exact: bool,
    n_replicates: int,
    key: NDArray[np.uint64],
    t_replicates: NDArray[np.float64] | None = None,
    instruction_set: str | None = None,
    n_threads: int | None = None,
) -> tuple[tuple[int, int, int, int], tuple[int, float, float]]: ...
def draw_sums(
    values: NDArray[np.float64],
    weights: NDArray[np.int64],
    *,
    n_units: int,
    n_replicates: int,
    key: NDArray[np.uint64],
    instruction_set: str | None = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def side_bounds(sums: NDArray[np.float64], exact: bool, side: str) -> NDArray[np.float64]: ...

class Replicates:  # for one thread at a time
    def __init__(
        self,
        values: NDArray[np.float64],
        weights: NDArray[np.int64],
        *,
        n_units: int,
        quantity: str,
        n_replicates: int,
        key: NDArray[np.uint64],
    ) -> None: ...
    def order_statistics(
        self,
        columns: NDArray[np.int64],
        ranks: NDArray[np.int64],
        *,
        n_threads: int | None = None,
    ) -> NDArray[np.float64]: ...
    def joint_counts(
        self, order: list[int], bounds: NDArray[np.float64], *, n_threads: int | None = None
    ) -> tuple[list[int], list[int]]: ...
