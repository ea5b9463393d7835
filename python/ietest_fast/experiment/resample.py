"""The data-generating process DGP_{phi,rho}: which observations of a resample are transformed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.experiment.identity import resampling_key
from ietest_fast.philox import philox_uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Split = Literal["train", "valid"]

Mode = Literal["replace", "augment"]
"""What becomes of transformed rows: they replace their originals, or are added to them."""

_STREAMS: dict[Split, int] = {"train": 0, "valid": 1}
_SUBSET_STREAM = 2


@dataclass(frozen=True, kw_only=True)
class Resample:
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


@dataclass(frozen=True, kw_only=True)
class DataGeneratingProcess:
    """Each observation is replaced by its transformed version with probability rho (section 3.1).

    Observation i of a split is transformed in resample m if u(seed, split, m, i) < rho. The u do
    not depend on rho, so for each m the sets of transformed observations are nested: raising rho
    only adds to them. u is the i-th double of ``numpy.random.Philox(key=k, counter=[0, m, s, 0])``
    with s = 0 for train and 1 for valid, and k from ``SeedSequence(seed, spawn_key=(1,))``.
    """

    seed: int
    """Any integer >= 0; 0 is a seed like others."""

    def uniforms(self, split: Split, m: int, n: int) -> NDArray[np.float64]:
        """Give u for observations 0 ... n - 1, multiples of 2**-53 in [0, 1), shape (n,)."""
        return philox_uniforms(
            resampling_key(self.seed), n, replicate=m, stream=_STREAMS[split], n_threads=1
        )

    def mask(self, split: Split, *, rho: float, m: int, n: int) -> NDArray[np.bool_]:
        """Say which of n observations are transformed.

        Parameters
        ----------
        split
            ``"train"`` or ``"valid"``; the test set is never mixed.
        rho
            Probability of transformation, 0 <= rho <= 1; 0 transforms none, 1 all.
        m
            Which resample, from 0.
        n
            Number of observations.

        Returns
        -------
        ndarray
            bool, shape (n,).

        Raises
        ------
        InputError
            If rho is not a probability.
        """
        if not 0.0 <= rho <= 1.0:
            raise InputError(f"rho must lie between 0 and 1, not {rho}")
        return self.uniforms(split, m, n) < rho

    def subset(self, n: int, size: int) -> NDArray[np.int64]:
        """Choose so many of the training rows, the same for all classifiers.

        Row i is one of them if fewer than `size` rows have a smaller v, where v is the i-th double
        of ``numpy.random.Philox(key=k, counter=[0, 0, 2, 0])``; see :class:`DataGeneratingProcess`
        for k. So the rows of a smaller size are among those of a larger one.

        Parameters
        ----------
        n
            Number of rows.
        size
            How many to choose, 1 to n.

        Returns
        -------
        ndarray
            int64, shape (size,), ascending.

        Raises
        ------
        InputError
            If there are not so many rows.
        """
        if not 1 <= size <= n:
            raise InputError(f"{size} of {n} rows cannot be chosen")
        return _choose_subset(self.seed, n, size)


@functools.lru_cache(maxsize=4)
def _choose_subset(seed: int, n: int, size: int) -> NDArray[np.int64]:
    """Choose rows once for all cells of a size."""
    drawn = philox_uniforms(resampling_key(seed), n, stream=_SUBSET_STREAM, n_threads=1)
    chosen: NDArray[np.int64] = np.sort(np.argsort(drawn, kind="stable")[:size])
    chosen.flags.writeable = False
    return chosen
