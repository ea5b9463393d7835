"""Answers to wordings in a file, and what it says of itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyRun,
    confidences_of,
    count_strata,
    read_consistency_run,
    write_wordings,
)
from ietest_fast.answers import Predictions
from ietest_fast.answers.metadata import plain_name
from ietest_fast.errors import InputError


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a.parquet", "a"),
        ("snli_human_roberta-base-0.01.json.gz", "snli_human_roberta-base-0.01"),
        ("model.v2.csv", "model.v2"),
        (".json", ".json"),
        ("plain", "plain"),
    ],
)
def test_names_of_files_without_their_endings(file: str, name: str) -> None:
    assert plain_name(Path("folder.json") / file) == name


@pytest.mark.parametrize("n_strata", [1, 3, 10, 97])
def test_strata_are_counted_and_come_back(n_strata: int) -> None:
    rng = np.random.default_rng(n_strata)
    confidence = np.concatenate([rng.random(500), [0.0, 1.0, 0.5]])
    counts = count_strata(confidence, n_strata)
    expected = [0] * n_strata
    for value in confidence:
        place = max(j for j in range(n_strata) if j == 0 or value >= j / n_strata)
        expected[place] += 1
    assert list(counts) == expected
    assert count_strata(confidences_of(counts), n_strata) == counts


def test_a_confidence_that_is_none() -> None:
    for values in ([0.5, np.nan], [0.5, 1.5], []):
        with pytest.raises(InputError, match="needs confidences from 0 to 1"):
            count_strata(np.array(values), 10)


def test_what_a_file_says_of_itself_comes_back(tmp_path: Path) -> None:
    columns = {"item": ["a"] * 2, "version": ["original", "p"], "correct": [True] * 2}
    table = pa.table(columns)
    run = ConsistencyRun(
        clusters="who",
        subset="kind",
        n_empty={"": 2},
        n_mixed={"": 1},
        strata={"": (3, 0, 4)},
        text_columns=("text",),
        warnings=("Mind this.",),
        backend="x",
        identity={"phi": "p"},
    )
    path = tmp_path / "a.parquet"
    write_wordings(ConsistencyAnswers(predictions=Predictions(table=table), run=run), path)
    assert read_consistency_run(path) == run
    assert len(Predictions.read(path)) == 2
    Predictions(table=table).write(path)
    assert read_consistency_run(path) is None
    assert read_consistency_run(tmp_path / "none.parquet") is None
    renamed = run.renamed({"": "m"})
    assert (renamed.n_empty, renamed.strata) == ({"m": 2}, {"m": (3, 0, 4)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "are of format 2, and this version of ietest-fast reads format 1"),
        ({"format": None}, "are of format None, and this version"),
        ({"format": True}, "are of format True, and this version"),
        ({"n_empty": {"": -1}}, "are damaged: n_empty has -1, a count expected"),
        ({"n_mixed": {"": 1.5}}, "are damaged: n_mixed has 1.5, a count expected"),
        ({"n_wanted": {"": True}}, "are damaged: n_wanted has true, a count expected"),
        ({"n_wanted": [1]}, r"are damaged: n_wanted is \[1\], an object expected"),
        ({"strata": {"": [10**12]}}, "are damaged: strata has 1000000000000, a count expected"),
        ({"strata": {"": [0, 0]}}, "are damaged: strata has 0 items in 2 strata"),
        ({"strata": {"": [1] * 10_001}}, "are damaged: strata has 10,001 items in 10,001 strata"),
        ({"clusters": 3}, "are damaged: clusters has 3, a text expected"),
        ({"diversity": "jaccard"}, "are damaged: diversity is .*, a list expected"),
        ({"diversity_groups": 10**6}, "are damaged: diversity_groups is 1000000"),
        ({"warnings": [3]}, "are damaged: warnings has 3, a text expected"),
        ({"identity": {"phi": 1}}, "are damaged: identity has 1, a text expected"),
        (
            {"curves": [{"name": "", "of": "x", "by_model": {"a": -1}}]},
            "are damaged: curves has an amount that is no number above 0",
        ),
        ({"more": 1}, "are damaged: unknown: more"),
    ],
)
def test_metadata_of_another_format_or_type_are_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    table = pa.table({"item": ["a"], "version": ["original"], "correct": [True]})
    path = tmp_path / "a.parquet"
    run = ConsistencyRun(strata={"": (1,)})
    write_wordings(ConsistencyAnswers(predictions=Predictions(table=table), run=run), path)
    written = pq.read_table(path)
    key = b"ietest_fast.consistency"
    told = json.loads(written.schema.metadata[key]) | change
    known = {**written.schema.metadata, key: json.dumps(told).encode()}
    pq.write_table(written.replace_schema_metadata(known), path)
    with pytest.raises(InputError, match=rf"a.parquet: its metadata {message}"):
        read_consistency_run(path)
