import numpy as np
from numpy.typing import NDArray

def replicates(
    units: NDArray[np.float64],
    *,
    n_units: int,
    shifts: NDArray[np.float64],
    t: NDArray[np.float64],
    n_replicates: int,
    key: NDArray[np.uint64],
    t_replicates: NDArray[np.float64] | None = None,
    instruction_set: str | None = None,
    n_threads: int | None = None,
) -> tuple[list[tuple[int, int]], tuple[int, float, float]]: ...
def order_statistics(
    units: NDArray[np.float64],
    *,
    n_units: int,
    ranks: NDArray[np.int64],
    n_replicates: int,
    key: NDArray[np.uint64],
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def draw_moments(
    units: NDArray[np.float64],
    *,
    n_units: int,
    n_replicates: int,
    key: NDArray[np.uint64],
    instruction_set: str | None = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def t_ranges_of_moments(
    moments: NDArray[np.float64],
    *,
    n_units: int,
    n_listed: int,
    first_shift: float,
    last_shift: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
