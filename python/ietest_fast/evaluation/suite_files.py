"""The texts of a suite as files: one for each test, with labels and the rows they come from."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow as pa

from ietest_fast.atomic import name_files, name_temporary

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.corpus import Corpus
    from ietest_fast.evaluation.suite import Suite


def write_texts(suite: Suite, corpus: Corpus, folder: Path) -> None:
    """Write the texts of each test to a Parquet file in a new folder, all of them or none."""
    import pyarrow.parquet as pq

    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = name_temporary(folder)
    unfinished.mkdir()
    try:
        names = pa.array(corpus.label_names)
        stems = name_files((version.name for version in suite.versions), otherwise="test")
        for version, stem in zip(suite.versions, stems, strict=True):
            codes = pa.array(version.labels, pa.int32(), mask=version.labels < 0)
            table = version.table.select(corpus.text_columns)
            table = table.append_column("label", names.take(codes))
            rows = version.source_row if version.items is not None else None
            rows = corpus.source_rows[version.source_row] if rows is None else rows
            table = table.append_column("source_row", pa.array(rows))
            pq.write_table(table, unfinished / f"{stem}.parquet")
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
