"""The demonstration corpus, of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from ietest_fast.corpus.dataset import Corpus
from ietest_fast.corpus.demo.scenes import draw_scenes
from ietest_fast.corpus.demo.sentences import say
from ietest_fast.corpus.labels import NLI_LABELS
from ietest_fast.errors import InputError
from ietest_fast.runtime import available_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

DEMO_SCHEMA = pa.schema(
    [("premise", pa.string()), ("hypothesis", pa.string()), ("label", pa.int8())]
)
"""Columns of the demonstration corpus."""

_BATCH_ROWS = 32_768
_BYTES_OF_PAIR = 100  # at the least


class DemoSplits(NamedTuple):
    """Three disjoint parts of the demonstration corpus."""

    train: Corpus
    valid: Corpus
    test: Corpus


def demo_corpus(n: int, *, seed: int = 0, start: int = 0) -> Corpus:
    """Generate sentence pairs about everyday scenes, with labels that are true by construction.

    The premise and the hypothesis are about the same event. A third of the pairs each are
    entailment, neutral and contradiction, in random order.

    Parameters
    ----------
    n
        How many pairs.
    seed
        Any integer from 0. Pair ``i`` depends on the seed and ``i`` alone.
    start
        Number of the first pair: ``demo_corpus(10, start=90)`` is the end of
        ``demo_corpus(100)``.

    Returns
    -------
    Corpus
        With the columns ``premise``, ``hypothesis`` and ``label``.

    Raises
    ------
    InputError
        If the pairs do not fit in memory; :func:`demo_batches` gives any number.
    """
    _check_room(n)
    table = pa.Table.from_batches(
        demo_batches(n, seed=seed, start=start, batch_size=_BATCH_ROWS), DEMO_SCHEMA
    )
    return Corpus(
        table=table,
        text_columns=("premise", "hypothesis"),
        label_names=NLI_LABELS,
        source=f"demo:{seed}" if start == 0 else f"demo:{seed}+{start}",
    )


def _check_room(n: int) -> None:
    """Stop before pairs are made for which there is no memory."""
    available = available_memory()
    if available is not None and n * _BYTES_OF_PAIR > available:
        raise InputError(
            f"{n:,} demonstration pairs take {n * _BYTES_OF_PAIR / 1e9:,.0f} GB of memory or more, "
            f"and {available / 1e9:,.1f} GB are available; ask for fewer"
        )


def demo_batches(
    n: int, *, seed: int = 0, batch_size: int = _BATCH_ROWS, start: int = 0
) -> Iterator[pa.RecordBatch]:
    """Generate the demonstration corpus in batches, in bounded memory.

    Parameters
    ----------
    n, seed, start
        As for :func:`demo_corpus`.
    batch_size
        Rows of a batch; the rows are the same whatever it is.

    Yields
    ------
    pyarrow.RecordBatch
        With the schema ``DEMO_SCHEMA``.
    """
    if n < 0 or start < 0 or seed < 0:
        raise InputError(f"n, start and seed are 0 or more, not {n}, {start} and {seed}")
    if batch_size < 1:
        raise InputError(f"a batch has at least one row, not {batch_size}")
    for first in range(start, start + n, batch_size):
        scenes = draw_scenes(first, min(batch_size, start + n - first), seed=seed)
        premise, hypothesis = say(scenes)
        yield pa.record_batch([premise, hypothesis, pa.array(scenes.label)], schema=DEMO_SCHEMA)


def demo_splits(
    n_train: int = 3_000, n_valid: int = 500, n_test: int = 2_000, *, seed: int = 0
) -> DemoSplits:
    """Generate a training, a validation and a test set: one run of pairs, cut in three.

    Parameters
    ----------
    n_train, n_valid, n_test
        Pairs of each.
    seed
        Any integer from 0.
    """
    _check_room(n_train + n_valid + n_test)
    return DemoSplits(
        train=demo_corpus(n_train, seed=seed),
        valid=demo_corpus(n_valid, seed=seed, start=n_train),
        test=demo_corpus(n_test, seed=seed, start=n_train + n_valid),
    )
