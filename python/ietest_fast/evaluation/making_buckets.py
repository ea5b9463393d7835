"""Making buckets: every item under several transformations, or several draws of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ietest_fast.corpus.columns import check_columns
from ietest_fast.corpus.reasoning import task_of_corpus
from ietest_fast.errors import InputError
from ietest_fast.evaluation.bucket_rows import rank_within
from ietest_fast.evaluation.buckets import Buckets
from ietest_fast.evaluation.draws import Drawing
from ietest_fast.evaluation.making import Making
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.evaluation.versions import number_names
from ietest_fast.values import read_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ietest_fast.corpus import Corpus
    from ietest_fast.transform import Transformation
    from ietest_fast.transform.kinds import TextSource


@dataclass(frozen=True, kw_only=True, eq=False)
class _Wordings:
    table: pa.Table
    source_row: NDArray[np.int64]
    version: NDArray[np.int64]
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
        transformation, see :class:`ietest_fast.evaluation.draws.Drawing`: every draw makes some of
        the edits that are possible, never none, and the draws of an item differ. A row with u
        possible edits has at most 2**u - 1 draws;
        :class:`~ietest_fast.evaluation.making.Making` counts the shortage.
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
            if draw is None:
                return _word_once(corpus, made, columns, n_threads)
            return _word_by_draws(corpus, made, columns, items, draw, n_threads=n_threads)
        except RowError as error:
            raise error.locate(corpus) from error


def _word_once(
    corpus: Corpus, made: Transformation, columns: tuple[str, ...], n_threads: int | None
) -> _Wordings:
    found = made.transform(corpus.table, columns, with_edits=False, n_threads=n_threads)
    rows = np.flatnonzero(found.changed)
    source = found.source_row[rows]
    return _Wordings(
        table=found.table.take(pa.array(rows)),
        source_row=source,
        version=rank_within(source),
        making=Making(
            name=made.name,
            identity=f"{made.name}@{made.fingerprint[:4]}",
            n_items=len(corpus),
            n_wordings=len(rows),
            n_unchanged=len(corpus) - len(np.unique(source)),
        ),
    )


def _word_by_draws(
    corpus: Corpus,
    made: Transformation,
    columns: tuple[str, ...],
    items: pa.Array,
    draw: tuple[int, float, int],
    *,
    n_threads: int | None,
) -> _Wordings:
    n_draws, share, seed = draw
    found = Drawing(transformation=made, share=share, seed=seed).draw(
        corpus.table, columns, items.to_pylist(), n_draws=n_draws, n_threads=n_threads
    )
    counts = np.bincount(found.source_row, minlength=len(corpus))
    short = counts[(counts > 0) & (counts < n_draws)]
    return _Wordings(
        table=found.table,
        source_row=found.source_row,
        version=found.draw,
        making=Making(
            name=made.name,
            identity=f"{made.name}@{made.fingerprint[:4]}",
            n_items=len(corpus),
            n_wordings=len(found.source_row),
            n_unchanged=int((counts == 0).sum()),
            n_draws=n_draws,
            n_short=len(short),
            n_missing=int((n_draws - short).sum()),
        ),
    )


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
