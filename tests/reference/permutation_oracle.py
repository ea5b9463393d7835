"""The permutation test of two means, by going through every way to part the units."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def permutation_p(values: np.ndarray, mask: np.ndarray, units: np.ndarray) -> float:
    """Return the share of ways whose means differ as much; whole units are parted."""
    names = sorted(set(units.tolist()))
    firsts = {name for name in names if mask[units == name].all()}
    observed = abs(values[mask].mean() - values[~mask].mean())
    hits = []
    for way in combinations(names, len(firsts)):
        chosen = np.isin(units, way)
        hits.append(abs(values[chosen].mean() - values[~chosen].mean()) >= observed - 1e-9)
    return float(np.mean(hits))
