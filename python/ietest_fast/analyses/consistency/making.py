"""Making buckets: every item under several transformations, or several draws of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.analyses.consistency.buckets import Buckets, Making
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.reasoning import ALPHA_NLI, DELTA_NLI, task_of_corpus
from ietest_fast.errors import InputError
from ietest_fast.philox import philox_key
from ietest_fast.transform.edits import (
    address_items,
    apply_edits,
    are_same_rows,
    choose_edits,
    find_changed,
    find_choices,
    row_generator,
)
from ietest_fast.values import number_names, rank_within, read_ids, show_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.transform import Transformation
    from ietest_fast.transform.edits import Choices
    from ietest_fast.transform.phi import TextSource

    Numbers = NDArray[np.int64]
    # Gives a draw of some rows: the texts, and which of the rows have it.
    _Maker = Callable[[int, Numbers], tuple[pa.Table, Numbers]]
    # Wordings, which row of the originals each comes from, and which of its row's it is, from 0.
    _Worded = tuple[pa.Table, Numbers, Numbers]


# Which columns are reworded to make buckets, and which of them a model sees.


def choose_reworded_columns(
    corpus: Corpus, *, seen: Sequence[str] | None = None, reworded: Sequence[str] | None = None
) -> tuple[str, ...] | None:
    """Return the columns to reword, for :func:`ietest_fast.analyses.make_buckets`."""
    texts = corpus.text_columns
    if seen is not None:
        check_columns(corpus.source, texts, seen)
    task = task_of_corpus(corpus)
    parts_of: dict[str, tuple[str, ...]]
    if task is None:
        if reworded is None:
            _check_not_joined(corpus)
            return None if seen is None else tuple(seen)
        parts_of = {name: (name,) for name in texts}
    else:
        parts_of = dict(task.made_of)
        reworded = task.reworded if reworded is None else reworded
    check_columns(corpus.source, texts if task is None else task.parts, reworded)
    visible = {part for name in seen or texts for part in parts_of[name]}
    if visible.isdisjoint(reworded):
        others = " or ".join(sorted(visible))
        raise InputError(
            f"the model sees {' and '.join(seen or texts)}, so it does not see "
            f"{' and '.join(reworded)}, which would be reworded; reword {others} "
            "(reword, --reword)",
            path=corpus.source,
        )
    return tuple(reworded)


def _check_not_joined(corpus: Corpus) -> None:
    """Refuse texts that are joined of several ones, of which some have to stay as they are."""
    for task in (ALPHA_NLI, DELTA_NLI):
        if corpus.text_columns == task.text_columns:
            missing = [name for name in task.parts if name not in corpus.table.column_names]
            raise InputError(
                f"holds the joined texts of {task.name} without the single texts "
                f"{show_names(missing)}, so all of {' and '.join(task.text_columns)} would be "
                "reworded; pass the name of the file, keep the columns (keep_columns="
                f"{list(task.parts)}), or say what to reword (reword, --reword)",
                path=corpus.source,
            )


# Random draws of one transformation: several wordings of each row.


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
    ) -> _Worded:
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

        def make(draw: int, rows: Numbers) -> tuple[pa.Table, Numbers]:
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

        def make(draw: int, rows: Numbers) -> tuple[pa.Table, Numbers]:
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
    table: pa.Table, edits: pa.Table, made: NDArray[np.bool_], rows: Numbers
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
) -> _Worded:
    """Make draws, and keep those that are neither their original nor there already."""
    n_kept = np.zeros(table.num_rows, np.int64)
    seen: dict[int, set[tuple[str | None, ...]]] = {}
    tables, sources, draws = [table.slice(0, 0)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for draw in range(n_tries):
        short = np.flatnonzero(n_kept < n_draws)
        if len(short) == 0:
            break
        found, rows = make(draw, short)
        is_new = find_changed(
            table.take(pa.array(rows)), found, columns, np.ones(len(rows), np.bool_)
        )
        places = np.flatnonzero(is_new)
        texts = (found[name].take(pa.array(places)).to_pylist() for name in columns)
        for place, wording in zip(places, zip(*texts, strict=True), strict=True):
            known = seen.setdefault(int(rows[place]), set())
            is_new[place] = wording not in known
            known.add(wording)
        kept = rows[is_new]
        tables.append(found.filter(pa.array(is_new)))
        sources.append(kept)
        draws.append(n_kept[kept])
        n_kept[kept] += 1
    made = pa.concat_tables(tables, promote_options="permissive")
    return made, np.concatenate(sources), np.concatenate(draws)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Wordings:
    table: pa.Table
    source_row: Numbers
    version: Numbers
    making: Making


def make_buckets(
    corpus: Corpus,
    phi: Any,
    *,
    draws: int | None = None,
    share: float = 0.5,
    seed: int = 0,
    item_column: str | None = None,
    columns: Sequence[str] | None = None,
    compose: Callable[[pa.Table], pa.Table] | None = None,
    learn_from: Sequence[Corpus | TextSource] = (),
    n_threads: int | None = None,
) -> Buckets:
    """Make a bucket of each row of a corpus: the row as it is, and in other words.

    Wordings that equal their original or another wording of the same item are left out and counted.

    Parameters
    ----------
    corpus
        The labelled originals.
    phi
        A transformation (its name with options, a mapping of these, or a finished transformation)
        or several. They must keep labels.
    draws
        None: every transformation is made once. Otherwise the number of random draws of each
        transformation, see :class:`Drawing`: every draw makes some of
        the edits that are possible, never none, and the draws of an item differ. A row with u
        possible edits has at most 2**u - 1 draws;
        :class:`~ietest_fast.analyses.consistency.buckets.Making` counts the shortage.
    share
        With draws: the probability of each possible edit, in (0, 1).
    seed
        With draws: seed of the random numbers, which are addressed by item and draw.
    item_column
        A kept column of the corpus with an id for each row. None: ``item`` if it is kept, otherwise
        the number of the row in the source.
    columns
        Columns of texts to reword. None: the corpus' text columns. Others are possible if `compose`
        puts their words into the text columns. Of α-NLI and δ-NLI that have kept their single texts
        these may be named; None: the hypotheses, and the update, as in Srikanth et al. (2024).
    compose
        Makes the text columns anew of the reworded ones. None: as α-NLI and δ-NLI need it
        (:func:`ietest_fast.corpus.reasoning.tell_stories`,
        :func:`ietest_fast.corpus.reasoning.join_contexts`).
    learn_from
        Corpora that transformations may learn from; by default the corpus itself.
    n_threads
        Threads; None for all cores. Makes no difference to the result.

    Returns
    -------
    Buckets
        Ordered by row of the corpus, the original first. Versions have the names of the
        transformations; those after the first get a number, as in ``syn.careful#2``.

    Raises
    ------
    InputError
        If a transformation does not keep labels, has nothing to draw or is there twice, an item is
        there twice, no text is changed, or an option is out of its range.
    """
    task = task_of_corpus(corpus)
    if task is not None and compose is None and set(columns or ()) <= set(task.parts):
        columns, compose = columns or task.reworded, task.compose
    texts = tuple(columns or corpus.text_columns)
    check_columns(corpus.source, corpus.table.column_names, texts)
    items = _find_items(corpus, item_column)
    several = isinstance(phi, Sequence) and not isinstance(phi, str | Mapping)
    made = [
        _word(
            corpus,
            each,
            texts,
            items,
            learn_from=learn_from,
            n_threads=n_threads,
            draw=None if draws is None else (draws, share, seed),
        )
        for each in (phi if several else [phi])
    ]
    if len({each.making.identity for each in made}) < len(made):
        raise InputError("one of the transformations is there twice; leave it out")
    made, is_kept = _without_repeated(made, texts)
    table = _assemble(corpus, items, made, is_kept)
    if table.num_rows == len(corpus):
        names = ", ".join(each.making.name for each in made)
        raise InputError(
            f"none of the texts is changed by {names}; choose another transformation",
            path=corpus.source,
        )
    return Buckets(
        table=table if compose is None else compose(table),
        text_columns=corpus.text_columns,
        label_names=corpus.label_names,
        dropped=dict(corpus.dropped),
        made=tuple(each.making for each in made),
        source=corpus.source,
    )


def _find_items(corpus: Corpus, item_column: str | None) -> pa.Array:
    names = corpus.table.column_names
    taken = [name for name in ("item", "version") if name in names and name != item_column]
    if item_column is None and "item" in taken:
        item_column = taken.pop(0)
    if taken:
        raise InputError(
            "cannot be kept under this name, which means something else in a table of buckets; "
            "rename it",
            path=corpus.source,
            column=taken[0],
        )
    if item_column is None:
        return pa.array(corpus.source_rows)
    check_columns(corpus.source, names, [item_column])
    column = corpus.table[item_column].combine_chunks()
    texts = read_ids(column, path=corpus.source, name=item_column, rows=corpus.source_rows)
    return column.cast(pa.int64()) if pa.types.is_integer(column.type) else texts


def _word(
    corpus: Corpus,
    phi: Any,
    columns: tuple[str, ...],
    items: pa.Array,
    *,
    learn_from: Sequence[Corpus | TextSource],
    n_threads: int | None,
    draw: tuple[int, float, int] | None,
) -> _Wordings:
    """Make the wordings of one transformation."""
    from ietest_fast.transform import Material, RowError, plan

    material = Material(
        corpora=list(learn_from) or [corpus],
        source=corpus,
        tag_cache="temporary",
        n_threads=n_threads,
    )
    with plan(phi) as planned:
        if not planned.keeps_labels:
            raise InputError(
                f"the transformation {planned.name!r} does not keep labels, and the wordings of an "
                "item are to have the same right answer; choose one that keeps them, such as "
                "syn.careful"
            )
        made = planned.build(material)
        try:
            table, source, version = _reword(
                corpus, made, columns, items, draw, n_threads=n_threads
            )
        except RowError as error:
            raise error.locate(corpus) from error
    counts = np.bincount(source, minlength=len(corpus))
    n_draws = 0 if draw is None else draw[0]
    short = counts[(counts > 0) & (counts < n_draws)]
    making = Making(
        name=made.name,
        identity=f"{made.name}@{made.fingerprint[:4]}",
        n_items=len(corpus),
        n_wordings=len(source),
        n_unchanged=int((counts == 0).sum()),
        n_draws=n_draws or None,
        n_short=len(short),
        n_missing=int((n_draws - short).sum()),
    )
    return _Wordings(table=table, source_row=source, version=version, making=making)


def _reword(
    corpus: Corpus,
    made: Transformation,
    columns: tuple[str, ...],
    items: pa.Array,
    draw: tuple[int, float, int] | None,
    *,
    n_threads: int | None,
) -> _Worded:
    if draw is not None:
        n_draws, share, seed = draw
        return Drawing(transformation=made, share=share, seed=seed).draw(
            corpus.table, columns, items.to_pylist(), n_draws=n_draws, n_threads=n_threads
        )
    found = made.transform(corpus.table, columns, with_edits=False, n_threads=n_threads)
    rows = np.flatnonzero(found.changed)
    source = found.source_row[rows]
    return found.table.take(pa.array(rows)), source, rank_within(source)


def _without_repeated(
    made: Sequence[_Wordings], columns: tuple[str, ...]
) -> tuple[list[_Wordings], list[NDArray[np.bool_]]]:
    """Say which wordings no earlier transformation gave, and count the others."""
    seen: set[tuple[Any, ...]] = set()
    counted, masks = [], []
    for each in made:
        texts = zip(*(each.table[name].to_pylist() for name in columns), strict=True)
        keys = list(zip(each.source_row.tolist(), texts, strict=True))
        is_new = np.ones(len(keys), np.bool_)
        for place, key in enumerate(keys):
            is_new[place] = key not in seen
            seen.add(key)
        n_new = int(is_new.sum())
        making = replace(each.making, n_wordings=n_new, n_repeated=len(keys) - n_new)
        counted.append(replace(each, making=making))
        masks.append(is_new)
    return counted, masks


def _assemble(
    corpus: Corpus,
    items: pa.Array,
    made: Sequence[_Wordings],
    is_kept: Sequence[NDArray[np.bool_]],
) -> pa.Table:
    """Put the originals and the wordings of each item beneath each other."""
    n = len(corpus)
    base = corpus.table
    parts, sources = [base], [np.arange(n)]
    versions = [np.full(n, ORIGINAL, object)]
    most = [int(each.version.max(initial=0)) + 1 for each in made]
    repeated = [each.making.name for each, k in zip(made, most, strict=True) for _ in range(k)]
    names = np.array(number_names(repeated, taken=[ORIGINAL]), object)
    first = np.cumsum([0, *most])
    for each, mask, start in zip(made, is_kept, first[:-1], strict=True):
        parts.append(each.table.filter(pa.array(mask)))
        sources.append(each.source_row[mask])
        versions.append(names[start + each.version[mask]])
    source = np.concatenate(sources)
    table = pa.concat_tables(parts, promote_options="permissive")
    table = table.append_column("version", pa.array(np.concatenate(versions), pa.string()))
    if "item" in table.column_names:
        table = table.drop_columns(["item"])
    table = table.add_column(0, "item", items.take(pa.array(source)))
    return table.take(pa.array(np.argsort(source, kind="stable")))
