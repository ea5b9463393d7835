import numpy as np
from numpy.typing import NDArray

class Bootstrap:
    def __init__(
        self,
        values: NDArray[np.float64],
        weights: NDArray[np.int64],
        measures: NDArray[np.int64],
        *,
        n_replicates: int,
        key: NDArray[np.uint64],
    ) -> None: ...
    def locate(
        self, observed: NDArray[np.float64], *, n_threads: int | None = None
    ) -> NDArray[np.int64]: ...
    def order_statistics(
        self, requests: NDArray[np.int64], *, n_threads: int | None = None
    ) -> NDArray[np.float64]: ...

def value_of(measures: NDArray[np.int64], sums: NDArray[np.float64]) -> NDArray[np.float64]: ...
def draw_sums(
    values: NDArray[np.float64],
    weights: NDArray[np.int64],
    *,
    n_replicates: int,
    key: NDArray[np.uint64],
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
