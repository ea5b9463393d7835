import numpy as np
from numpy.typing import NDArray

def replicates(
    values: NDArray[np.float64],
    *,
    n_units: int,
    sizes: NDArray[np.float64] | None = None,
    rest: float = 0.0,
    compared: NDArray[np.float64],
    n_replicates: int,
    key: NDArray[np.uint64],
    t_replicates: NDArray[np.float64] | None = None,
    instruction_set: str | None = None,
    n_threads: int | None = None,
) -> tuple[list[tuple[int, int]], tuple[int, float, float]]: ...
def order_statistics(
    values: NDArray[np.float64],
    *,
    n_units: int,
    sizes: NDArray[np.float64] | None = None,
    rest: float = 0.0,
    ranks: NDArray[np.int64],
    n_replicates: int,
    key: NDArray[np.uint64],
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
