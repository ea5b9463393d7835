"""The data-generating process DGP_{phi,rho}: which observations of a resample are transformed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from ietest_fast.errors import InputError
from ietest_fast.experiment.identity import resampling_key
from ietest_fast.random import philox_uniforms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Split = Literal["train", "valid"]

Mode = Literal["replace", "augment"]
"""What becomes of transformed rows: they replace their originals, or are added to them."""

_STREAMS: dict[Split, int] = {"train": 0, "valid": 1}


@dataclass(frozen=True, kw_only=True)
class Resample:
    """Which resample a classifier is trained on.

    At rho = 0 nothing of it is transformed, so it is the same for all transformations.

    Attributes
    ----------
    rho, m
        Probability of transformation, and which resample at it.
    phi
        Key of the transformation; None at rho = 0.
    """

    rho: float
    m: int
    phi: str | None

    @classmethod
    def of(cls, phi: str, *, rho: float, m: int) -> Self:
        """Return the resample of a transformation, which rho = 0 leaves out."""
        return cls(rho=rho, m=m, phi=None if rho == 0 else phi)

    @property
    def address(self) -> tuple[float, int]:
        """Rho and m, from which seeds follow."""
        return self.rho, self.m

    def describe(self) -> str:
        """Name it in a message."""
        return f"rho={self.rho:g}, m={self.m}" + ("" if self.phi is None else f", {self.phi}")


@dataclass(frozen=True, kw_only=True)
class DataGeneratingProcess:
    """Each observation is replaced by its transformed version with probability rho (section 3.1).

    Observation i of a split is transformed in resample m if u(seed, split, m, i) < rho. The u do
    not depend on rho, so for each m the sets of transformed observations are nested: raising rho
    only adds to them. u is the i-th double of ``numpy.random.Philox(key=k, counter=[0, m, s, 0])``
    with s = 0 for train and 1 for valid, and k from ``SeedSequence(seed, spawn_key=(1,))``.

    Attributes
    ----------
    seed
        Any integer >= 0; 0 is a seed like others.
    """

    seed: int

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
