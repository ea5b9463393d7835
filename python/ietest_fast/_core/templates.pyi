import numpy as np
import numpy.typing as npt

from .text import ExportedArray, _ArrowStrings

class PairFiller:
    def __init__(
        self,
        *,
        pieces: npt.NDArray[np.int32],
        text_ends: npt.NDArray[np.int64],
        literals: _ArrowStrings,
        group_ends: npt.NDArray[np.int32],
        group_people: npt.NDArray[np.int32],
        n_people: npt.NDArray[np.int32],
        n_places: npt.NDArray[np.int32],
        people: _ArrowStrings,
        is_woman: npt.NDArray[np.uint8],
        places: _ArrowStrings,
        weights: npt.NDArray[np.float64],
        labels: npt.NDArray[np.int32],
        n_labels: int,
    ) -> None: ...
    def fill(
        self,
        key: npt.NDArray[np.uint64],
        *,
        first: int,
        n_rows: int,
        n_threads: int | None = ...,
    ) -> tuple[ExportedArray, ExportedArray, npt.NDArray[np.int32]]: ...
