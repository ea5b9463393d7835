import numpy as np
from numpy.typing import NDArray

MAX_LISTED_CLASSIFIERS: int

def list_values(products: NDArray[np.int64], size: int) -> NDArray[np.int64]: ...
def count_at_least(
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    products: NDArray[np.int64],
    *,
    observed: int,
    n_replicates: int,
    key: NDArray[np.uint64],
    sums: NDArray[np.int64] | None = None,
    n_threads: int | None = None,
) -> int: ...
