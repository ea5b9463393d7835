import numpy as np
from numpy.typing import NDArray

def philox_words(
    key: NDArray[np.uint64],
    counter: NDArray[np.uint64],
    size: int,
    *,
    n_threads: int | None = None,
) -> NDArray[np.uint64]: ...
def uniforms(
    key: NDArray[np.uint64],
    counter: NDArray[np.uint64],
    size: int,
    *,
    n_threads: int | None = None,
) -> NDArray[np.float64]: ...
def multinomials(
    key: NDArray[np.uint64],
    stream: int,
    n: int,
    probabilities: NDArray[np.float64],
    size: int,
    *,
    n_threads: int | None = None,
) -> NDArray[np.int64]: ...
