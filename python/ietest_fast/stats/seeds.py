"""Where randomness comes from: SciPy's ``rng``, made into one seed that is written down."""

from __future__ import annotations

from typing import Any

import numpy as np

from ietest_fast.errors import InputError

#: What a test accepts as ``rng``.
Rng = int | np.integer | np.random.SeedSequence | np.random.Generator | None


def seed_of(rng: Any) -> int:
    """Return the seed that ``rng`` stands for.

    Every test draws from addressed Philox streams, whose key comes from one integer. Results
    report it as ``seed``; passing it as ``rng`` repeats them.

    Examples
    --------
    >>> import numpy as np
    >>> from ietest_fast.stats.seeds import seed_of
    >>> seed_of(0), seed_of(np.random.SeedSequence(7))
    (0, 7)
    """
    if type(rng) is int and rng >= 0:
        return rng
    if rng is None:
        return _first_word(np.random.SeedSequence())
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if isinstance(rng, np.random.SeedSequence):
        entropy: Any = rng.entropy
        if isinstance(entropy, (int, np.integer)) and not rng.spawn_key:
            return int(entropy)
        return _first_word(rng)
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)):
        raise InputError(
            f"rng must be an integer, a SeedSequence, a Generator or None, not {rng!r}"
        )
    if rng < 0:
        raise InputError(f"rng must be 0 or more, not {rng}")
    return int(rng)


def _first_word(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
