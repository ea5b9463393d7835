from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ietest_fast.corpus import BatchWriter, corpus_from_table, read_corpus, split
from ietest_fast.corpus.labels import NLI_LABELS

# A text of a few letters may be the word nan.
pytestmark = pytest.mark.filterwarnings("ignore:.*as pandas writes a missing text")
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
ROWS = st.lists(st.tuples(TEXT, TEXT, st.integers(0, 2)), min_size=1, max_size=30)


def table(rows: list[tuple[str, str, int]]) -> pa.Table:
    first, second, labels = zip(*rows, strict=True)
    return pa.table(
        {
            "premise": pa.array(first, pa.string()),
            "hypothesis": pa.array(second, pa.string()),
            "label": pa.array(labels, pa.int8()),
        }
    )


@pytest.mark.slow
@given(rows=ROWS, cuts=st.lists(st.integers(0, 30), max_size=4), large=st.booleans())
def test_the_fingerprint_does_not_depend_on_chunks(
    rows: list[tuple[str, str, int]], cuts: list[int], large: bool
) -> None:
    whole = table(rows)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [whole.slice(a, b - a) for a, b in itertools.pairwise(edges)]
    chunked = pa.concat_tables(parts)
    if large:
        columns = [c.cast(pa.large_string()) for c in chunked.columns[:2]]
        chunked = pa.table([*columns, chunked.column(2)], chunked.column_names)
    first, second = (
        corpus_from_table(t, text_columns=["premise", "hypothesis"]) for t in (whole, chunked)
    )
    assert first.fingerprint == second.fingerprint


@given(rows=ROWS, other=ROWS)
def test_the_fingerprint_is_equal_only_for_equal_content(
    rows: list[tuple[str, str, int]], other: list[tuple[str, str, int]]
) -> None:
    prints = [
        corpus_from_table(table(r), text_columns=["premise", "hypothesis"]).fingerprint
        for r in (rows, other)
    ]
    assert (prints[0] == prints[1]) == (rows == other)


@given(rows=ROWS, suffix=st.sampled_from(["parquet", "csv", "jsonl", "jsonl.gz"]))
def test_files_give_back_what_was_written(rows: list[tuple[str, str, int]], suffix: str) -> None:
    # What is written are numbers of labels, NLI's if all three occur, or if one says so.
    names = {"label_names": NLI_LABELS}
    corpus = corpus_from_table(table(rows), text_columns=["premise", "hypothesis"], **names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{suffix}"
        with BatchWriter(path, corpus.table.schema) as writer:
            writer.write(corpus.table)
        assert read_corpus(path, **names).fingerprint == corpus.fingerprint


@given(
    rows=st.lists(st.tuples(TEXT, TEXT, st.integers(0, 2)), min_size=10, max_size=60),
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=2),
    seed=st.integers(0, 2**64),
    how=st.sampled_from(["plain", "stratify", "group_by"]),
)
def test_splits_are_disjoint(
    rows: list[tuple[str, str, int]], sizes: list[int], seed: int, how: str
) -> None:
    numbered = table(rows).append_column("row", pa.array(range(len(rows))))
    groups = np.arange(len(rows)) // 2
    numbered = numbered.append_column("group", pa.array(groups))
    corpus = corpus_from_table(
        numbered, text_columns=["premise", "hypothesis"], keep_columns=["row", "group"]
    )
    if how == "group_by" and len(rows) < 12:
        return
    parts = split(
        corpus,
        sizes,
        seed=seed,
        stratify=how == "stratify",
        group_by="group" if how == "group_by" else None,
    )
    seen = [set(part.table.column("row").to_pylist()) for part in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))
    if how != "group_by":
        assert [len(part) for part in parts] == sizes
    else:
        taken = [set(part.table.column("group").to_pylist()) for part in parts]
        assert sum(map(len, taken)) == len(set().union(*taken))
