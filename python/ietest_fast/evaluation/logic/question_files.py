"""The questions of the suite as files: one for each rule, and one with every different input."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.atomic import name_temporary
from ietest_fast.evaluation.predictions import ORIGINAL

if TYPE_CHECKING:
    from pathlib import Path

    from ietest_fast.evaluation.logic.run_file import LogicAnswers

_KEPT = ("item", "instance", "part")
INPUTS = "inputs"
"""The name of the file with every different input."""


def write_questions(answers: LogicAnswers, folder: Path) -> None:
    """Write the questions of each rule to a Parquet file in a new folder, all of them or none.

    A file has the instances to which the rule applies, as the classifier that was run sees it:
    ``item``, ``instance``, ``part``, the texts and ``expected``. ``inputs.parquet`` has every
    different input of the labelled pairs and of all rules, once.
    """
    import pyarrow.parquet as pq

    table = answers.predictions.table
    texts = answers.run.text_columns
    versions = table["version"].cast(pa.string())
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = name_temporary(folder)
    unfinished.mkdir()
    try:
        inputs = table.select(texts).group_by(list(texts), use_threads=False).aggregate([])
        pq.write_table(inputs, unfinished / f"{INPUTS}.parquet")
        for name in answers.predictions.versions:
            if name != ORIGINAL:
                own = table.filter(pc.equal(versions, name)).select([*_KEPT, *texts, "expected"])
                pq.write_table(own.replace_schema_metadata(None), unfinished / f"{name}.parquet")
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
