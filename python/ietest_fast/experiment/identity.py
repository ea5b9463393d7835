"""What makes two results the same: hashes of canonical JSON, and seeds derived from addresses."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Counted up when the meaning of a cell changes without any of its settings changing.
CELL_SCHEME = 1

# First word of the spawn key: what a seed is for.
_RESAMPLING, _TRAINING, _TRIAL, _SEARCH, _BOOTSTRAP = range(1, 6)


def canonical_json(value: Any) -> str:
    """Write a value as JSON in one way only: sorted keys, no spaces, ASCII, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def identify(value: Mapping[str, Any]) -> str:
    """Give the sha256 (64 hexadecimal digits) of a mapping's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def identify_evaluation(cell: str, transformation: str) -> str:
    """Give the identity of a cell's answers to the test set under a further transformation."""
    return identify({"kind": "evaluation", "cell": cell, "transformation": transformation})


def _words_of(number: float) -> tuple[int, int]:
    high, low = struct.unpack(">II", struct.pack(">d", number))
    return high, low


def _seed(seed: int, *address: int) -> int:
    # 31 bits: what every trainer takes.
    state = np.random.SeedSequence(seed, spawn_key=address).generate_state(1, np.uint32)
    return int(state[0]) >> 1


def training_seed(seed: int, *, rho: float, m: int, voter: int = 0) -> int:
    """Give the training seed of the cell (rho, m), 0 <= seed < 2**31; each cell has its own.

    So has each of several classifiers that vote in a cell.
    """
    return _seed(seed, _TRAINING, m, *_words_of(rho), *_unless_zero(voter))


def _unless_zero(voter: int) -> tuple[int, ...]:
    return () if voter == 0 else (voter,)


def trial_seed(seed: int, *, number: int, address: tuple[float, int] | None = None) -> int:
    """Give the training seed of a trial of the search, of that at a resample (rho, m) if given."""
    return _seed(seed, _TRIAL, number, *_words_of_address(address))


def search_seed(seed: int, *, address: tuple[float, int] | None = None) -> int:
    """Give the seed of the sampler of hyperparameters, of that at a resample (rho, m) if given."""
    return _seed(seed, _SEARCH, *_words_of_address(address))


def _words_of_address(address: tuple[float, int] | None) -> tuple[int, ...]:
    return () if address is None else (address[1], *_words_of(address[0]))


def bootstrap_seed(seed: int, *, rho: float, m: int) -> int:
    """Give the seed of the bootstrap of the cell (rho, m)."""
    return _seed(seed, _BOOTSTRAP, m, *_words_of(rho))


def resampling_key(seed: int) -> NDArray[np.uint64]:
    """Give the Philox key of the resampling, uint64, shape (2,)."""
    sequence = np.random.SeedSequence(seed, spawn_key=(_RESAMPLING,))
    key: NDArray[np.uint64] = sequence.generate_state(2, np.uint64)  # type: ignore[assignment]
    return key


def differing_keys(a: Any, b: Any, prefix: str = "") -> list[str]:
    """List the dotted keys at which two nested mappings differ, sorted."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return [
            key
            for name in sorted({*a, *b})
            for key in differing_keys(a.get(name), b.get(name), f"{prefix}.{name}".lstrip("."))
        ]
    return [] if canonical_json(a) == canonical_json(b) else [prefix]
