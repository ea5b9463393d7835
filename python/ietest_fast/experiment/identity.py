"""What makes two results of a run the same: identities, seeds, and what a classifier trains on."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

# Counted up when the meaning of a cell changes without any of its settings changing.
CELL_SCHEME = 1

# First word of the spawn key: what a seed is for; 1 is for the resampling, corpus.dataset.
_TRAINING, _TRIAL, _SEARCH, _BOOTSTRAP = range(2, 6)


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
    return _seed(seed, _TRAINING, m, *_words_of(rho), *([voter] if voter else []))


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


def differing_keys(a: Any, b: Any, prefix: str = "") -> list[str]:
    """List the dotted keys at which two nested mappings differ, sorted."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return [
            key
            for name in sorted({*a, *b})
            for key in differing_keys(a.get(name), b.get(name), f"{prefix}.{name}".lstrip("."))
        ]
    return [] if canonical_json(a) == canonical_json(b) else [prefix]


# What classifiers are trained on.

Mode = Literal["replace", "augment"]
"""What becomes of transformed rows: they replace their originals, or are added to them."""


@dataclass(frozen=True, kw_only=True)
class TrainingDraw:
    """Which resample a classifier is trained on.

    At rho = 0 nothing of it is transformed, so it is the same for all transformations.
    """

    rho: float
    m: int
    """Probability of transformation, and which resample at it."""
    phi: str | None
    """Key of the transformation; None at rho = 0."""
    train_size: int | None = None
    """Number of training rows; None for all."""

    @classmethod
    def of(cls, phi: str, *, rho: float, m: int, train_size: int | None = None) -> Self:
        """Return the resample of a transformation, which rho = 0 leaves out."""
        return cls(rho=rho, m=m, phi=None if rho == 0 else phi, train_size=train_size)

    @property
    def address(self) -> tuple[float, int]:
        """Rho and m, from which seeds follow."""
        return self.rho, self.m

    @property
    def columns(self) -> dict[str, Any]:
        """What a table of answers says of it, beside the model."""
        size = {} if self.train_size is None else {"train_size": self.train_size}
        return {"rho": self.rho, "m": self.m, **size}

    def describe(self) -> str:
        """Name it in a message."""
        phi = "" if self.phi is None else f", {self.phi}"
        size = "" if self.train_size is None else f", {self.train_size} training rows"
        return f"rho={self.rho:g}, m={self.m}{phi}{size}"
