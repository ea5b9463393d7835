"""Drawing some of the edits that a transformation can make."""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.transform.edits import ARTICLE_RULE, NORMALISING_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

# Up to so many choices all of their subsets are looked at; of more, sizes are drawn first.
_MOST_ENUMERATED = 10
# So many sets of a size can be numbered; of more, two draws are hardly ever the same.
_MOST_NUMBERED = 2**62


@dataclass(frozen=True, kw_only=True, eq=False)
class Choices:
    """What there is to choose among the edits of a table."""

    of_edit: npt.NDArray[np.int64]
    """int64 (n_edits,): the choice that each edit is made with; -1 for an edit that is always
    made."""
    row: npt.NDArray[np.int64]
    """int64 (n_choices,): the row of each choice, ascending."""

    def count(self, n_rows: int) -> npt.NDArray[np.int64]:
        """Return how many choices each row has, int64 (n_rows,)."""
        return np.bincount(self.row, minlength=n_rows).astype(np.int64)

    def pick(self, taken: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which edits are made, bool (n_edits,), if some choices, bool (n_choices,), are."""
        return np.append(taken, True)[self.of_edit]  # -1 leads to the last


def find_choices(edits: pa.Table) -> Choices:
    """Find which edits are made together.

    Equal rewordings in one row, in whichever of its texts, are one choice: what is called a sofa in
    the premise is not to be a couch in the hypothesis. The repair of an article is made with the
    word behind it. Edits that bring a text into normal form are always made.
    """
    rule = edits["rule"].cast(pa.string())
    is_normal = np.asarray(pc.equal(rule, NORMALISING_RULE).combine_chunks()).astype(np.bool_)
    is_article = np.asarray(pc.equal(rule, ARTICLE_RULE).combine_chunks()).astype(np.bool_)
    row = edits["row"].to_numpy().astype(np.int64)
    column = np.asarray(
        edits["column"].cast(pa.string()).combine_chunks().dictionary_encode().indices
    ).astype(np.int64)
    of_edit = np.full(len(row), -1, np.int64)
    chosen = np.flatnonzero(~is_normal & ~is_article)
    keys = np.stack(
        [row[chosen], *(_codes(edits[name])[chosen] for name in ("old", "new"))], axis=1
    )
    found, first, where = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    # A row's choices in the order of its texts, whatever other rows there are.
    order = np.lexsort((first, found[:, 0]))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    of_edit[chosen] = number[where.reshape(-1)]
    articles = np.flatnonzero(is_article)
    place = np.searchsorted(chosen, articles)
    behind = chosen[np.minimum(place, max(len(chosen) - 1, 0))] if len(chosen) else articles
    fits = (place < len(chosen)) & (row[behind] == row[articles])
    fits &= column[behind] == column[articles]
    of_edit[articles[fits]] = of_edit[behind[fits]]
    return Choices(of_edit=of_edit, row=found[order, 0].astype(np.int64))


def _codes(texts: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    lowered = pc.utf8_lower(texts).combine_chunks()
    return np.asarray(lowered.dictionary_encode().indices).astype(np.int64)


def choose_edits(
    n_choices: npt.NDArray[np.int64],
    addresses: npt.NDArray[np.uint64],
    *,
    n_draws: int,
    share: float,
    key: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Draw different sets of choices for each row.

    Each choice is taken with probability `share`, independently. Sets that are empty or were drawn
    before are drawn again, so a row with u choices has at most 2**u - 1 sets.
    """
    first = np.concatenate([[0], np.cumsum(n_choices)])
    taken = np.zeros((n_draws, int(first[-1])), np.bool_)
    n_drawn = np.zeros(len(n_choices), np.int64)
    for place in np.flatnonzero(n_choices):
        rng = row_generator(key, int(addresses[place]))
        sets = draw_sets(int(n_choices[place]), n_draws, share, rng)
        taken[: len(sets), first[place] : first[place + 1]] = sets
        n_drawn[place] = len(sets)
    return taken, n_drawn


def draw_sets(
    n: int, n_draws: int, share: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Draw different sets among `n` choices, none of them empty.

    The law is that of taking each choice with probability `share`, and drawing again where a set is
    empty or was drawn before. Where all sets can be listed, that is drawing without replacement
    with unequal probabilities: the largest of ``log p + Gumbel`` (Efraimidis and Spirakis 2006, in
    logarithms). Otherwise each draw takes the size of the set first, by the weight of the sets of
    that size that are left, and then one of these, which all have the same probability.
    """
    if n <= _MOST_ENUMERATED:
        sets = _all_sets(n)
        size = sets.sum(axis=1)
        weight = size * np.log(share) + (n - size) * np.log1p(-share)
        best = np.argsort(-(weight + rng.gumbel(size=len(sets))), kind="stable")
        return sets[best[:n_draws]]
    wells = [_SetsOfSize(n, size) for size in range(1, n + 1)]
    each = np.array([w.size * np.log(share) + (n - w.size) * np.log1p(-share) for w in wells])
    found = np.zeros((min(n_draws, 2**n - 1), n), np.bool_)
    for one in found:
        weight = each + [math.log(w.n_left) if w.n_left else -np.inf for w in wells]
        until = np.cumsum(np.exp(weight - weight.max()))
        chosen = np.searchsorted(until, rng.random() * until[-1], side="right")
        one[wells[chosen].draw(rng)] = True
    return found


class _SetsOfSize:
    """The sets of one size among n choices, drawn without replacement and all equally likely."""

    def __init__(self, n: int, size: int) -> None:
        self._n = n
        self.size = size
        self.n_left = math.comb(n, size)
        self._is_numbered = self.n_left <= _MOST_NUMBERED
        # Fisher and Yates' shuffle of the numbers of all sets, of which few have moved.
        self._moved: dict[int, int] = {}
        self._seen: set[bytes] = set()

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return which choices are in the next set, int64 (size,)."""
        if not self._is_numbered:
            while True:
                members = np.sort(rng.choice(self._n, self.size, replace=False))
                if members.tobytes() not in self._seen:
                    self._seen.add(members.tobytes())
                    self.n_left -= 1
                    return members
        place = int(rng.integers(self.n_left))
        self.n_left -= 1
        number = self._moved.get(place, place)
        self._moved[place] = self._moved.pop(self.n_left, self.n_left)
        return np.array(self._find_members(number), np.int64)

    def _find_members(self, number: int) -> list[int]:
        """Return the choices in a set by its number, in the order of dictionaries."""
        members = []
        size = self.size
        for choice in range(self._n):
            with_it = math.comb(self._n - choice - 1, size - 1) if size else 0
            if number < with_it:
                members.append(choice)
                size -= 1
            else:
                number -= with_it
        return members


@functools.cache
def _all_sets(n: int) -> npt.NDArray[np.bool_]:
    numbers = np.arange(1, 2**n)
    return ((numbers[:, None] >> np.arange(n)) & 1).astype(np.bool_)


def row_generator(
    key: npt.NDArray[np.uint64], address: int, *, draw: int = 0, part: int = 0
) -> np.random.Generator:
    """Return the random numbers of one row, draw and part of a composition."""
    counter = np.array([0, address, draw, part], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def address_items(items: Iterable[object]) -> npt.NDArray[np.uint64]:
    """Return where the random numbers of items stand: 64 bits of the hash of each one's name.

    So an item has the same draws in whichever order and company it stands.
    """
    return np.array(
        [
            int.from_bytes(hashlib.blake2b(str(item).encode(), digest_size=8).digest(), "little")
            for item in items
        ],
        np.uint64,
    )
