"""Which sentences of labelled pairs stand together: drawn at random, or with the same words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ietest_fast.evaluation.logic.nearest import WordIndex
from ietest_fast.philox import philox_key, philox_uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ietest_fast.evaluation.logic.items import Items
    from ietest_fast.evaluation.logic.options import LogicOptions

NO_STATEMENT = "a text is a question, a request, several sentences or a phrase without a verb"
NO_OTHER = "no sentence of another source was found"

# Streams of random numbers: of sentences, and of what is left out where there is too much.
_PREMISES, _HYPOTHESES = 0, 1
_PAIRS, _FIRSTS, _DENIED, _TOGETHER, _CONTAINED, _LIKE = range(8, 14)
# So many times a sentence of another source is drawn: of two sources with as many sentences, one
# item in a million gets none.
_TRIES = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Draft:
    """Items with what stands beside them, n of them."""

    row: NDArray[np.int64]
    """int64 (n,): items."""
    other: NDArray[np.int64]
    """int64 (n,): a sentence that each item gets; its own premise where it gets none."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Items that are not among them, by reason."""

    def __len__(self) -> int:
        return len(self.row)

    def keep(self, mask: NDArray[np.bool_], reason: str | None) -> Draft:
        """Return those that are to be kept, and count the others, if there is a reason."""
        left_out, n_out = dict(self.left_out), int((~mask).sum())
        if n_out and reason is not None:
            left_out[reason] = left_out.get(reason, 0) + n_out
        return Draft(row=self.row[mask], other=self.other[mask], left_out=left_out)


class Drafts:
    """Puts sentences together.

    Random numbers are addressed by the seed, what is drawn, and the place of the item.
    """

    def __init__(self, items: Items, fit: NDArray[np.bool_], options: LogicOptions) -> None:
        self._items = items
        self._fit = fit
        self._options = options
        self._key = philox_key(options.seed)

    @cached_property
    def pairs(self) -> Draft:
        """Items whose texts differ."""
        items = self._items
        row = items.pairs[items.premise[items.pairs] != items.hypothesis[items.pairs]]
        return self._limit(Draft(row=row, other=items.premise[row]), _PAIRS)

    def first_with(self, side: NDArray[np.int64]) -> Draft:
        """Return the first item with each sentence of a side, the premises or the hypotheses."""
        rows = self._items.pairs
        row = rows[np.sort(np.unique(side[rows], return_index=True)[1])]
        return self._limit(Draft(row=row, other=side[row]), _FIRSTS)

    @cached_property
    def statements(self) -> Draft:
        """The first item with each sentence, and that, if it can stand in compounds."""
        rows, sides = self._items.pairs, (self._items.premise, self._items.hypothesis)
        other, first = np.unique(np.concatenate([side[rows] for side in sides]), return_index=True)
        draft = Draft(row=np.tile(rows, 2)[first], other=other)
        return self._limit(draft.keep(self._fit[other], NO_STATEMENT), _DENIED)

    @cached_property
    def with_premises(self) -> Draft:
        """Items, each with a premise of another source, or several."""
        return self._draw(self.pairs, self._items.premise, _PREMISES, draws=self._options.draws)

    @cached_property
    def with_hypotheses(self) -> Draft:
        """Items, each with a hypothesis of another source, or several."""
        return self._draw(
            self.pairs, self._items.hypothesis, _HYPOTHESES, draws=self._options.draws
        )

    @cached_property
    def two_premises(self) -> Draft:
        """The first item of each premise, with a premise of another source."""
        first = self.first_with(self._items.premise)
        return self._draw(first, self._items.premise, _PREMISES, draws=1)

    @cached_property
    def two_hypotheses(self) -> Draft:
        """Items, each with another hypothesis: of the same premise, or with the premise's words.

        Both can stand in compounds.
        """
        items = self._items
        near = self._near(items.premise, np.unique(items.hypothesis[items.pairs]), contained=True)
        both = _join(self._siblings(), near)
        # Two hypotheses are one pair, whichever is first.
        premise, one = items.premise[both.row], items.hypothesis[both.row]
        keys = np.stack([premise, np.minimum(one, both.other), np.maximum(one, both.other)])
        is_first = np.zeros(len(both), np.bool_)
        is_first[np.unique(keys, axis=1, return_index=True)[1]] = True
        both = both.keep(is_first & (one != both.other) & (both.other != premise), None)
        fit = self._fit[items.hypothesis[both.row]] & self._fit[both.other]
        return self._limit(both.keep(fit, NO_STATEMENT), _TOGETHER)

    @cached_property
    def with_contained(self) -> Draft:
        """Items, each with a sentence whose words are in the hypothesis, or several."""
        items = self._items
        rows = items.pairs
        pool = np.unique(np.concatenate([items.premise[rows], items.hypothesis[rows]]))
        near = self._near(items.hypothesis, pool, contained=True)
        return self._limit(near.keep(near.other != items.premise[near.row], None), _CONTAINED)

    @cached_property
    def with_like(self) -> Draft:
        """Items, each with a hypothesis of the same premise, or one like its own, or several."""
        items = self._items
        pool = np.unique(items.hypothesis[items.pairs])
        both = _join(self._siblings(), self._near(items.hypothesis, pool, contained=False))
        row, other = np.unique(np.stack([both.row, both.other]), axis=1)
        differs = (other != items.premise[row]) & (other != items.hypothesis[row])
        return self._limit(Draft(row=row, other=other).keep(differs, None), _LIKE)

    def _limit(self, draft: Draft, stream: int) -> Draft:
        """Draw some candidates where there are too many."""
        n, most = len(draft), self._options.instances
        if n <= most:
            return draft
        order = np.argsort(philox_uniforms(self._key, n, stream=stream), kind="stable")
        kept = np.zeros(n, np.bool_)
        kept[order[:most]] = True
        return draft.keep(kept, f"there are more than {most:,} candidates")

    def _draw(self, draft: Draft, side: NDArray[np.int64], stream: int, *, draws: int) -> Draft:
        """Give each item a sentence of another source, several times.

        The sentences are the different ones of a side, all with the same probability.
        """
        pool = np.unique(side[self._items.pairs])
        drawn = np.full((draws, len(draft)), -1, np.int64)
        for number, other in enumerate(drawn):
            for attempt in range(_TRIES):
                short = np.flatnonzero(other < 0)
                if len(short) == 0:
                    break
                place = philox_uniforms(
                    self._key,
                    len(self._items),
                    stream=stream,
                    replicate=number * _TRIES + attempt,
                )[draft.row[short]]
                tried = pool[(place * len(pool)).astype(np.int64)]
                # None twice for one item.
                is_new = (drawn[:number, short] != tried).all(axis=0)
                is_new &= ~self._share_source(draft.row[short], tried)
                other[short[is_new]] = tried[is_new]
        found = Draft(
            row=np.tile(draft.row, draws), other=drawn.reshape(-1), left_out=draft.left_out
        )
        return found.keep(found.other >= 0, NO_OTHER)

    def _share_source(
        self, row: NDArray[np.int64], sentence: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Say which sentences come from the source of a row, too, bool (k,)."""
        found = self._items.sources[sentence, self._items.unit[row]]
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found).reshape(-1) > 0

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self._items.sentences)

    def _near(self, side: NDArray[np.int64], pool: NDArray[np.int64], *, contained: bool) -> Draft:
        """Give each item sentences with the words of a side, looked for once for equal ones."""
        rows = self.pairs.row
        queries, place = np.unique(side[rows], return_inverse=True)
        at, found = self._words.find(
            queries, pool, n_nearest=self._options.nearest, contained=contained
        )
        counts = np.bincount(at, minlength=len(queries))
        # The sentences found for a query stand one after the other.
        start, own = (np.cumsum(counts) - counts)[place], counts[place]
        step = np.arange(int(own.sum())) - np.repeat(np.cumsum(own) - own, own)
        return Draft(row=np.repeat(rows, own), other=found[np.repeat(start, own) + step])

    def _siblings(self) -> Draft:
        """Give each item the next hypotheses of its premise; behind the last is the first."""
        items = self._items
        rows = items.pairs
        order = rows[np.argsort(items.premise[rows], kind="stable")]
        _, start, size = np.unique(items.premise[order], return_index=True, return_counts=True)
        first, n = np.repeat(start, size), np.repeat(size, size)
        place = np.arange(len(order)) - first
        found = Draft(row=np.empty(0, np.int64), other=np.empty(0, np.int64))
        for ahead in range(1, max(self._options.nearest, 1) + 1):
            there = n > ahead
            next_row = order[(first + (place + ahead) % n)[there]]
            found = _join(found, Draft(row=order[there], other=items.hypothesis[next_row]))
        return found


def _join(one: Draft, other: Draft) -> Draft:
    return Draft(
        row=np.concatenate([one.row, other.row]), other=np.concatenate([one.other, other.other])
    )
