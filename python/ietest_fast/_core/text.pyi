from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

class _ArrowStrings(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = ...) -> tuple[Any, Any]: ...

class ExportedArray:
    def __arrow_c_array__(self, requested_schema: Any = ...) -> tuple[Any, Any]: ...

_Substituted: TypeAlias = tuple[ExportedArray, npt.NDArray[np.bool_], int, ExportedArray | None]
_Tokens: TypeAlias = tuple[
    npt.NDArray[np.int64],
    npt.NDArray[np.int32],
    npt.NDArray[np.int32],
    npt.NDArray[np.uint8],
    npt.NDArray[np.int8],
]

class SubstitutionTable:
    def __init__(
        self,
        keys: _ArrowStrings,
        values: _ArrowStrings,
        rules: npt.NDArray[np.int8],
        *,
        by_words: bool = ...,
        ignore_case: bool = ...,
    ) -> None: ...
    def __len__(self) -> int: ...
    def replace_words(
        self,
        strings: _ArrowStrings,
        *,
        with_edits: bool = ...,
        normalise_edits: bool = ...,
        n_threads: int | None = ...,
        instruction_set: str | None = ...,
        offset_limit: int | None = ...,
    ) -> _Substituted: ...
    def replace_normalised(
        self,
        strings: _ArrowStrings,
        *,
        with_edits: bool = ...,
        normalise_edits: bool = ...,
        n_threads: int | None = ...,
        instruction_set: str | None = ...,
        offset_limit: int | None = ...,
    ) -> _Substituted: ...

class TaggedTable:
    def __init__(
        self,
        keys: _ArrowStrings,
        values: _ArrowStrings,
        *,
        pos: npt.NDArray[np.uint8],
        number: npt.NDArray[np.int8],
        group: npt.NDArray[np.int32],
        is_bound: npt.NDArray[np.int8],
        rules: npt.NDArray[np.int8],
        conditions: tuple[
            npt.NDArray[np.int64],
            npt.NDArray[np.int8],
            npt.NDArray[np.int8],
            npt.NDArray[np.uint32],
            npt.NDArray[np.int64],
            _ArrowStrings,
        ],
        phrases: _ArrowStrings,
    ) -> None: ...
    def __len__(self) -> int: ...
    def replace_tagged(
        self,
        columns: Sequence[_ArrowStrings],
        tokens: Sequence[_Tokens],
        *,
        tags: tuple[int, int],
        with_edits: bool = ...,
        n_threads: int | None = ...,
    ) -> tuple[list[_Substituted], npt.NDArray[np.bool_], int]: ...

class Misspelling:
    def __init__(
        self,
        letters: _ArrowStrings,
        neighbours: _ArrowStrings,
        *,
        known: _ArrowStrings,
        listed: _ArrowStrings,
        key: tuple[int, int],
        n_words: int,
        swaps: bool,
        with_neighbours: bool,
        only_listed: bool | None,
        min_letters: int,
        between_blanks: bool,
    ) -> None: ...
    def misspell(
        self,
        strings: _ArrowStrings,
        *,
        with_edits: bool = ...,
        n_threads: int | None = ...,
    ) -> _Substituted: ...

def insert_phrase(
    strings: _ArrowStrings,
    *,
    phrase: str,
    before_first_mark: bool,
    with_edits: bool = ...,
    n_threads: int | None = ...,
) -> _Substituted: ...
def apply_edits(
    strings: _ArrowStrings,
    row: npt.NDArray[np.int64],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    expected: _ArrowStrings,
    pieces: _ArrowStrings,
) -> ExportedArray: ...
def takes_an(phrase: str) -> bool: ...
def edit_distance(a: str, b: str) -> int: ...
