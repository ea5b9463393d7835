"""Answers to wordings in a file, and what it says of itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ietest_fast.analyses.consistency.file import (
    ConsistencyAnswers,
    ConsistencyNotes,
    confidences_of,
    count_strata,
    read_wordings,
)
from ietest_fast.analyses.logic.notes import LogicNotes
from ietest_fast.analyses.stress.asking import StressNotes
from ietest_fast.answers import Predictions
from ietest_fast.answers import file as files_of_answers
from ietest_fast.answers.file import NoRewordings, plain_name, read_notes, write_answers
from ietest_fast.answers.logs import read_logs
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
    run = ConsistencyNotes(
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
    write_answers(ConsistencyAnswers(predictions=Predictions(table=table), notes=run), path)
    assert read_notes(path, ConsistencyNotes) == run
    assert len(Predictions.read(path)) == 2
    Predictions(table=table).write(path)
    assert read_notes(path, ConsistencyNotes) is None
    assert read_notes(tmp_path / "none.parquet", ConsistencyNotes) is None
    renamed = run.renamed({"": "m"})
    assert (renamed.n_empty, renamed.strata) == ({"m": 2}, {"m": (3, 0, 4)})


CURVE = {"name": "", "of": "rows", "by_model": {"a": 0.1}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "are of format 2, and this version of ietest-fast reads format 1"),
        ({"format": None}, "are of format None, and this version"),
        ({"format": True}, "are of format True, and this version"),
        ({"n_empty": {"": -1}}, "are damaged: n_empty: Input should be greater than or equal to 0"),
        ({"n_mixed": {"": 1.5}}, "are damaged: n_mixed: Input should be a valid integer"),
        ({"n_wanted": {"": True}}, "are damaged: n_wanted: Input should be a valid integer"),
        ({"n_wanted": [1]}, "are damaged: n_wanted: Input should be an object"),
        ({"strata": {"": [10**12]}}, "are damaged: strata.0: Input should be less than"),
        ({"strata": {"": [0, 0]}}, "are damaged: Value error, strata has 0 items in 2 strata"),
        ({"strata": {"": [1] * 10_001}}, "are damaged: strata: Tuple should have at most 10000"),
        ({"clusters": 3}, "are damaged: clusters: Input should be a valid string"),
        ({"diversity": "jaccard"}, "are damaged: diversity: Input should be a valid array"),
        (
            {"diversity_groups": 10**6},
            "are damaged: diversity_groups: Input should be less",
        ),
        ({"warnings": [3]}, "are damaged: warnings.0: Input should be a valid string"),
        ({"identity": {"phi": 1}}, "are damaged: identity.phi: Input should be a valid string"),
        (
            {"curves": [{"name": "", "of": "x", "by_model": {"a": -1}}]},
            "are damaged: curves.0.by_model.a: Input should be greater than 0",
        ),
        ({"curves": [CURVE | {"in_percent": None}]}, "are damaged: curves.0.in_percent: Input"),
        ({"curves": [CURVE | {"in_percent": 1}]}, "are damaged: curves.0.in_percent: Input"),
        ({"curves": [CURVE | {"in_percent": "true"}]}, "are damaged: curves.0.in_percent: Input"),
        ({"more": 1}, "are damaged: more: Unexpected keyword argument"),
    ],
)
def test_metadata_of_another_format_or_type_are_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    table = pa.table({"item": ["a"], "version": ["original"], "correct": [True]})
    path = tmp_path / "a.parquet"
    run = ConsistencyNotes(strata={"": (1,)})
    write_answers(ConsistencyAnswers(predictions=Predictions(table=table), notes=run), path)
    written = pq.read_table(path)
    key = b"ietest_fast.consistency"
    told = json.loads(written.schema.metadata[key]) | change
    known = {**written.schema.metadata, key: json.dumps(told).encode()}
    pq.write_table(written.replace_schema_metadata(known), path)
    with pytest.raises(InputError, match=rf"a.parquet: its metadata {message}"):
        read_notes(path, ConsistencyNotes)


RULES = {"and-intro": {"n_items": 1, "n_candidates": 1, "left_out": {}, "reason": None}}
ORIGIN = {"identity": "x", "keeps_labels": True, "n_texts": 3}


@pytest.mark.parametrize(
    ("kind", "told", "message"),
    [
        (StressNotes, {"origins": {"x": ORIGIN}}, None),
        (StressNotes, {"warnings": "abc"}, "warnings: Input should be a valid array"),
        (StressNotes, {"origins": {"x": ORIGIN | {"n_texts": "x"}}}, "origins.x.n_texts: Input"),
        (StressNotes, {"origins": {"x": ORIGIN | {"more": 1}}}, "origins.x.more: Unexpected"),
        (StressNotes, {"group_by": ["a"]}, "group_by: Input should be a valid string"),
        (StressNotes, [], "an object expected, not list"),
        (LogicNotes, {"rules": RULES, "options": {"draws": 2}}, None),
        (LogicNotes, {"rules": RULES, "options": {"draws": "2"}}, "options.draws: Input"),
        (LogicNotes, {"options": {}}, "rules: Field required"),
        (LogicNotes, {"rules": {"and-intro": []}, "options": {}}, "rules.and-intro: Input"),
        (LogicNotes, {"rules": RULES, "options": {}, "format": 7}, "of format 7"),
    ],
)
def test_notes_of_every_kind_are_checked(
    tmp_path: Path, kind: type[Any], told: Any, message: str | None
) -> None:
    table = pa.table({"item": ["a"], "version": ["original"], "correct": [True]})
    known = {f"ietest_fast.{kind.kind}".encode(): json.dumps(told).encode()}
    pq.write_table(table.replace_schema_metadata(known), tmp_path / "a.parquet")
    if message is None:
        assert read_notes(tmp_path / "a.parquet", kind) is not None
        return
    with pytest.raises(InputError, match=f"its metadata are .*{re.escape(message)}"):
        read_notes(tmp_path / "a.parquet", kind)


@dataclass(frozen=True, kw_only=True)
class RiddleNotes(NoRewordings):
    """Of a wing that `answers` has never heard of."""

    kind = "riddles"
    short = "answers to riddles"
    versions = "riddles"
    commands = "riddle"
    columns = ("riddle", "hint")


@pytest.mark.parametrize("is_read_by_consistency", [False, True])
@pytest.mark.parametrize(
    ("columns", "metadata", "said"),
    [
        (("text",), {}, None),
        (("riddle",), {}, None),
        (("riddle", "hint"), {}, "holds answers to riddles, but no longer how they came about: "),
        (
            (),
            {"ietest_fast.riddles": "{}"},
            "holds answers to riddles, whose versions are riddles and no rewordings; only iet",
        ),
    ],
)
def test_answers_whose_versions_are_no_rewordings_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    columns: tuple[str, ...],
    metadata: dict[str, str],
    said: str | None,
    is_read_by_consistency: bool,
) -> None:
    monkeypatch.setattr(files_of_answers, "NO_REWORDINGS", (f"{__name__}:RiddleNotes",))
    table = pa.table({"item": ["a"], "version": ["original"], "correct": [True]})
    table = pa.concat_tables([table, table.set_column(1, "version", [["b"]])])
    for name in columns:
        table = table.append_column(name, [["x", "y"]])
    path = tmp_path / "a.parquet"
    pq.write_table(table.replace_schema_metadata(metadata), path)

    def read() -> object:
        return read_wordings(path) if is_read_by_consistency else read_logs([path])

    if said is None:
        assert read()
        return
    with pytest.raises(InputError, match=re.escape(said)):
        read()


def test_reading_a_table_imports_no_wing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,version,correct,text\na,original,1,x\na,b,0,y\n")
    code = (
        "import sys; from ietest_fast.answers.logs import read_logs;"
        f"read_logs([{str(path)!r}]); print(*(n for n in sys.modules if '.analyses.' in n))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    # What a kind of notes says of itself, and nothing that asks or measures.
    assert {name.rpartition(".")[2] for name in out.stdout.split()} == {"logic", "notes"}
