"""The data-generating process DGP_{phi,rho}: which rows of a split are drawn."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_uniforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.corpus.dataset import Corpus

Split = Literal["train", "valid"]

_STREAMS: dict[Split, int] = {"train": 0, "valid": 1}
_SUBSET_STREAM = 2
# First word of the spawn key; those of other seeds stand in experiment.search.
_RESAMPLING = 1


def resampling_key(seed: int) -> NDArray[np.uint64]:
    """Give the Philox key of the resampling, uint64, shape (2,)."""
    sequence = np.random.SeedSequence(seed, spawn_key=(_RESAMPLING,))
    key: NDArray[np.uint64] = sequence.generate_state(2, np.uint64)  # type: ignore[assignment]
    return key


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
        key = resampling_key(self.seed)
        return philox_uniforms(key, n, replicate=m, stream=_STREAMS[split], n_threads=1)

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
    key = resampling_key(seed)
    drawn = philox_uniforms(key, n, stream=_SUBSET_STREAM, n_threads=1)
    chosen: NDArray[np.int64] = np.sort(np.argsort(drawn, kind="stable")[:size])
    chosen.flags.writeable = False
    return chosen


def check_train_sizes(sizes: Sequence[int], train: Corpus, process: DataGeneratingProcess) -> None:
    """Make sure that there are so many rows, and that classifiers can learn from each number."""
    for size in sizes:
        if size > len(train):
            raise InputError(
                f"train_size: the training set has {len(train):,} labelled rows, not {size:,}; "
                f"name sizes from 2 to {len(train)}",
                path=train.source,
            )
        labels = np.unique(train.labels[process.subset(len(train), size)])
        if len(labels) < 2:
            raise InputError(
                f"train_size: the {size:,} rows that are drawn all have the label "
                f"{train.label_names[labels[0]]!r}; name a larger size, or another seed",
                path=train.source,
            )
