"""Random draws of one transformation: several wordings of each row."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.transform.columns import are_same_rows, find_changed
from ietest_fast.transform.edits import (
    address_items,
    apply_edits,
    choose_edits,
    find_choices,
    row_generator,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ietest_fast.transform import Transformation
    from ietest_fast.transform.edits import Choices

    # Gives a draw of some rows: the texts, and which of the rows have it.
    _Maker = Callable[[int, NDArray[np.int64]], tuple[pa.Table, NDArray[np.int64]]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """Wordings of some rows."""

    table: pa.Table
    """n rows with the columns of the originals."""
    source_row: NDArray[np.int64]
    """int64 (n,): the row of the originals that each comes from."""
    draw: NDArray[np.int64]
    """int64 (n,): which of its row's wordings it is, from 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """How wordings are drawn from a transformation.

    A transformation whose edits are independent of each other (synonyms, voice) makes each possible
    edit with probability `share`; equal rewordings in one row are one edit. One that draws by
    itself (spelling: a dataclass with a field ``seed``) gets another seed for each draw. Of several
    in turn each draws in its turn; parts that can do neither are made as they are. Random numbers
    are addressed by seed, item and draw, so that an item has the same wordings in whichever company
    it is.
    """

    transformation: Transformation
    """What to draw from; it keeps labels."""
    share: float = 0.5
    """In (0, 1)."""
    seed: int = 0
    """0 or more."""
    _parts: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InputError(
                f"share must be more than 0 and less than 1, not {self.share}: it is the "
                "probability of each possible edit"
            )
        if isinstance(self.seed, bool) or self.seed < 0:
            raise InputError(f"seed must be 0 or more, not {self.seed}")
        parts = tuple(getattr(self.transformation, "parts", (self.transformation,)))
        object.__setattr__(self, "_parts", parts)
        if not any(_has_seed(part) or _has_choices(part) for part in parts):
            raise InputError(
                f"the transformation {self.transformation.name!r} has nothing to draw: it always "
                "makes the same text; make buckets of it once (without draws), together with "
                "other transformations"
            )

    def draw(
        self,
        table: pa.Table,
        columns: Sequence[str],
        items: Sequence[object],
        *,
        n_draws: int,
        n_threads: int | None = None,
    ) -> Drawn:
        """Draw up to `n_draws` different wordings of each row, none of them the original."""
        if n_draws < 1:
            raise InputError(f"draws must be at least 1, not {n_draws}")
        addresses = address_items(items)
        if len(self._parts) == 1 and not _has_seed(self._parts[0]):
            make = self._set_maker(table, columns, addresses, n_draws, n_threads)
            return _gather(table, columns, make, n_draws=n_draws, n_tries=n_draws)
        make = self._turn_maker(table, columns, addresses, n_threads)
        # A draw may leave a text as it is, or give what an earlier one gave.
        return _gather(table, columns, make, n_draws=n_draws, n_tries=max(8 * n_draws, 40))

    def _set_maker(
        self,
        table: pa.Table,
        columns: Sequence[str],
        addresses: NDArray[np.uint64],
        n_draws: int,
        n_threads: int | None,
    ) -> _Maker:
        """Return what makes each draw of a transformation whose edits can all be listed."""
        edits = _transform(self._parts[0], table, columns, n_threads).edits
        choices = find_choices(edits)
        taken, n_drawn = choose_edits(
            choices.count(table.num_rows),
            addresses,
            n_draws=n_draws,
            share=self.share,
            key=philox_key(self.seed),
        )

        def make(draw: int, rows: NDArray[np.int64]) -> tuple[pa.Table, NDArray[np.int64]]:
            rows = rows[n_drawn[rows] > draw]
            return _make_some(table, edits, choices.pick(taken[draw]), rows), rows

        return make

    def _turn_maker(
        self,
        table: pa.Table,
        columns: Sequence[str],
        addresses: NDArray[np.uint64],
        n_threads: int | None,
    ) -> _Maker:
        """Return what makes each draw of one part after the other."""

        def make(draw: int, rows: NDArray[np.int64]) -> tuple[pa.Table, NDArray[np.int64]]:
            now = table.take(pa.array(rows))
            for number, part in enumerate(self._parts):
                if _has_seed(part):
                    seeded = dataclasses.replace(part, seed=self._seed_of(part, draw, number))
                    now = _transform(seeded, now, columns, n_threads).table
                elif _has_choices(part):
                    edits = _transform(part, now, columns, n_threads).edits
                    choices = find_choices(edits)
                    taken = self._take(choices, addresses[rows], draw, number)
                    now = _make_some(now, edits, choices.pick(taken), np.arange(len(rows)))
                else:
                    now = _transform(part, now, columns, n_threads).table
            return now, rows

        return make

    def _seed_of(self, part: Any, draw: int, number: int) -> int:
        state = np.random.SeedSequence([part.seed, self.seed, draw, number])
        return int(state.generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _take(
        self, choices: Choices, addresses: NDArray[np.uint64], draw: int, number: int
    ) -> NDArray[np.bool_]:
        """Take each choice by itself, so that a part of several may make no edit at all."""
        key = philox_key(self.seed)
        n_choices = choices.count(len(addresses))
        taken = [np.empty(0, np.bool_)]
        for row in np.flatnonzero(n_choices):
            rng = row_generator(key, int(addresses[row]), draw=draw + 1, part=number)
            taken.append(rng.random(int(n_choices[row])) < self.share)
        return np.concatenate(taken)


def _has_seed(part: Any) -> bool:
    return dataclasses.is_dataclass(part) and any(
        each.name == "seed" for each in dataclasses.fields(part)
    )


def _has_choices(part: Any) -> bool:
    return bool(getattr(part, "edits_are_independent", False))


def _transform(part: Any, table: pa.Table, columns: Sequence[str], n_threads: int | None) -> Any:
    made = part.transform(table, list(columns), with_edits=True, n_threads=n_threads)
    if not are_same_rows(made.source_row, table.num_rows):
        raise InputError(
            f"the transformation {part.name!r} leaves rows out or adds some, so its wordings "
            "cannot be drawn; make buckets of it once (without draws)"
        )
    return made


def _make_some(
    table: pa.Table, edits: pa.Table, made: NDArray[np.bool_], rows: NDArray[np.int64]
) -> pa.Table:
    """Return some rows of a table, ascending, with some of its edits made."""
    row = edits["row"].to_numpy()
    place = np.full(table.num_rows, -1, np.int64)
    place[rows] = np.arange(len(rows))
    own = edits.filter(pa.array(made & (place[row] >= 0)))
    moved = pa.array(place[own["row"].to_numpy()], pa.int64())
    return apply_edits(table.take(pa.array(rows)), own.set_column(0, "row", moved))


def _gather(
    table: pa.Table, columns: Sequence[str], make: _Maker, *, n_draws: int, n_tries: int
) -> Drawn:
    """Make draws, and keep those that are neither their original nor there already."""
    n_kept = np.zeros(table.num_rows, np.int64)
    seen: dict[int, set[tuple[str | None, ...]]] = {}
    tables, sources, draws = [table.slice(0, 0)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for draw in range(n_tries):
        short = np.flatnonzero(n_kept < n_draws)
        if len(short) == 0:
            break
        made, rows = make(draw, short)
        is_new = find_changed(
            table.take(pa.array(rows)), made, columns, np.ones(len(rows), np.bool_)
        )
        places = np.flatnonzero(is_new)
        texts = (made[name].take(pa.array(places)).to_pylist() for name in columns)
        for place, wording in zip(places, zip(*texts, strict=True), strict=True):
            known = seen.setdefault(int(rows[place]), set())
            is_new[place] = wording not in known
            known.add(wording)
        kept = rows[is_new]
        tables.append(made.filter(pa.array(is_new)))
        sources.append(kept)
        draws.append(n_kept[kept])
        n_kept[kept] += 1
    return Drawn(
        table=pa.concat_tables(tables, promote_options="permissive"),
        source_row=np.concatenate(sources),
        draw=np.concatenate(draws),
    )
