"""Control questions: what a rule asks, of sentences of which it must not be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ietest_fast.philox import philox_key, philox_uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.evaluation.logic.candidates import Candidates
    from ietest_fast.evaluation.logic.items import Items

# A stream of random numbers for each rule, behind those of candidates.
_STREAM = 64
# So many turns of the circle are tried, and so many instances exchanged one by one.
_TURNS = 32
_MOST_REPAIRED = 1000


def exchange(
    items: Items, found: Candidates, applicable: NDArray[np.int64], *, seed: int, number: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give each applicable instance the hypotheses of another, of another source.

    Every instance gets those of one other, and gives its own to one other. So a classifier that
    looks at premises alone, or at hypotheses alone, says the same as often as of the instances.
    """
    n = len(applicable)
    if n < 2:
        return applicable, np.zeros(n, np.bool_)
    theirs = items.sources_of(found.hypothesis_parts[applicable])
    own = items.sources_of(found.premise_parts[applicable]) + theirs
    # Instances of one source beside each other, sources in random order.
    place = philox_uniforms(philox_key(seed), items.n_units, stream=_STREAM + number)
    unit = items.unit[found.row[applicable]]
    circle = np.lexsort((np.arange(n), unit, place[unit]))
    largest = int(np.bincount(unit).max())
    # To begin with, everybody keeps what is his, which is related.
    best, fewest = np.arange(n), _are_related(own, theirs)
    for turn in _turns(n, largest, seed, number):
        given = np.empty(n, np.int64)
        given[circle] = np.roll(circle, -turn)
        related = _are_related(own, theirs[given])
        if related.sum() < fewest.sum():
            best, fewest = given, related
        if not fewest.any():
            break
    _repair(best, fewest, own, theirs)
    return applicable[best], ~fewest


def borrow(
    items: Items,
    found: Candidates,
    applicable: NDArray[np.int64],
    contrary: NDArray[np.int64],
    *,
    seed: int,
    number: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Give each applicable instance the premise of a contrary one, in turns."""
    n = len(applicable)
    if n == 0 or len(contrary) == 0:
        return applicable, np.zeros(n, np.bool_)
    place = philox_uniforms(philox_key(seed), len(contrary), stream=_STREAM + number)
    chosen = contrary[np.argsort(place, kind="stable")][np.arange(n) % len(contrary)]
    related = _are_related(
        items.sources_of(found.premise_parts[chosen]),
        items.sources_of(found.hypothesis_parts[applicable]),
    )
    return chosen, ~related


def _turns(n: int, largest: int, seed: int, number: int) -> NDArray[np.int64]:
    """Return how far to turn a circle of n: beyond the largest source, if there is so much."""
    low, high = (largest, n - largest) if 2 * largest <= n else (1, n - 1)
    drawn = philox_uniforms(philox_key(seed), _TURNS, stream=_STREAM + number, replicate=1)
    return low + (drawn * (high - low + 1)).astype(np.int64)


def _are_related(one: Any, other: Any) -> NDArray[np.bool_]:
    """Say in which rows two sparse matrices have an entry in common, bool (n,)."""
    common = one.multiply(other)
    return np.asarray(common.sum(axis=1)).reshape(-1) > 0


def _repair(given: NDArray[np.int64], related: NDArray[np.bool_], own: Any, theirs: Any) -> None:
    """Exchange what related instances have got with others, where that helps both, in place."""
    for place in np.flatnonzero(related)[:_MOST_REPAIRED]:
        if not related[place]:
            continue
        # What the others have got, for this one; and what this one has got, for the others.
        for_this = (theirs[given] @ own[[place]].T).toarray().reshape(-1) == 0
        for_others = (own @ theirs[[given[place]]].T).toarray().reshape(-1) == 0
        fits = np.flatnonzero(for_this & for_others & ~related)
        if len(fits):
            other = fits[0]
            given[[place, other]] = given[[other, place]]
            related[place] = False
