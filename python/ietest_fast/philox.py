"""Addressed random numbers: any word of any stream, in any order, on any thread.

The generator is Philox 4x64-10 (Salmon et al. 2011). Its counter is read as
``(block, replicate, stream, 0)``, and word *w* of ``(replicate, stream)`` is word *w* of
``numpy.random.Philox(key=key, counter=[0, replicate, stream, 0])``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.runtime import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def philox_key(seed: int | Sequence[int]) -> NDArray[np.uint64]:
    """Derive a Philox key from a seed, as ``numpy.random.Philox(seed)`` does."""
    key: NDArray[np.uint64] = np.random.SeedSequence(seed).generate_state(2, np.uint64)  # type: ignore[assignment]
    return key


def philox_words(
    key: NDArray[np.uint64],
    size: int,
    *,
    replicate: int = 0,
    stream: int = 0,
    n_threads: int | None = None,
) -> NDArray[np.uint64]:
    """Give the first words of one address."""
    counter = np.array([0, replicate, stream, 0], dtype=np.uint64)
    words: NDArray[np.uint64] = core.random.philox_words(key, counter, size, n_threads=n_threads)
    return words


def philox_uniforms(
    key: NDArray[np.uint64],
    size: int,
    *,
    replicate: int = 0,
    stream: int = 0,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Give the first uniforms in [0, 1) of one address, multiples of 2**-53.

    They equal ``numpy.random.Generator(numpy.random.Philox(key=key, counter=[0, replicate,
    stream, 0])).random(size)``. Parameters as for :func:`philox_words`.
    """
    counter = np.array([0, replicate, stream, 0], dtype=np.uint64)
    values: NDArray[np.float64] = core.random.uniforms(key, counter, size, n_threads=n_threads)
    return values
