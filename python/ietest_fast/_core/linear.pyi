from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

class _ArrowStrings(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = ...) -> tuple[Any, Any]: ...

def hash_ngrams(
    texts: _ArrowStrings, *, max_n: int, bits: int, n_threads: int | None = ...
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
def train_softmax(
    offsets: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int32],
    *,
    n_columns: int,
    chosen: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int8],
    n_classes: int,
    epochs: int,
    learning_rate: float,
    l2: float,
    key: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...
def score_rows(
    offsets: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int32],
    *,
    chosen: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float32],
    intercepts: npt.NDArray[np.float32],
    n_threads: int | None = ...,
) -> npt.NDArray[np.float32]: ...
