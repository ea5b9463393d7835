"""Buckets of ParaNLU's published paraphrases, for a model to answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.corpus.reasoning import CONTEXT, STORIES, join_contexts, tell_stories
from ietest_fast.evaluation.paranlu import read_texts_and_empty
from ietest_fast.evaluation.reading_buckets import buckets_from_table

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.evaluation.buckets import Buckets


def read_paranlu_buckets(path: str | Path) -> Buckets:
    """Read published paraphrases as buckets."""
    table, empty = read_texts_and_empty(path)
    is_abductive = "hyp1" in table.column_names
    if is_abductive:
        table, texts, labels = tell_stories(table), STORIES, ("hyp1", "hyp2")
    else:
        place = table.column_names.index("premise")
        premise = pc.fill_null(table["premise"].cast(pa.string()), "")
        table = join_contexts(table.set_column(place, "premise", premise))
        texts, labels = CONTEXT, ("weakener", "strengthener")
    kept = [
        name
        for name in ("paraphrase_id", "worker_id", "cluster", "premise", "hypothesis")
        if name in table.column_names and name not in texts
    ]
    table = table.drop_columns(["version", "copy"])  # wordings are numbered instead
    found = buckets_from_table(
        table,
        keep_columns=tuple(kept),
        text_columns=texts,
        label_column="gold",
        label_names=labels,
        source=str(path),
    )
    return replace(found, empty=empty)
