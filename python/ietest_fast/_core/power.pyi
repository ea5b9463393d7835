import numpy as np
from numpy.typing import NDArray

def critical_differences(
    n: int, first: int, last: int, level: float, *, n_threads: int | None = None
) -> NDArray[np.int64]: ...
def powers(
    n: int,
    original: NDArray[np.float64],
    transformed: NDArray[np.float64],
    level: float,
    *,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def power_at_sizes(
    sizes: NDArray[np.int64],
    original: float,
    transformed: float,
    level: float,
    *,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def powers_given(
    n: int,
    original: NDArray[np.float64],
    transformed: NDArray[np.float64],
    first: int,
    critical: NDArray[np.int64],
    *,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def likely_discordant(n: int, psi: float) -> tuple[int, int]: ...
def power_scan(
    n_first: int,
    n_last: int,
    original: float,
    transformed: float,
    level: float,
    *,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
