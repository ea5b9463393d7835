"""Test observations as the page carries them: both versions, edits, and every answer."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ietest_fast.report.hard_cases import QUANTIFIERS, pack_hardness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ietest_fast.report.runs import FinishedRun, Versions


@dataclass(frozen=True, kw_only=True, eq=False)
class TestSetAnswers:
    """A test set and what the models of a report answered on it."""

    __test__ = False  # no test of pytest's

    versions: Versions
    """Both versions."""
    runs: tuple[FinishedRun, ...]
    """Those with this test set."""
    answers: tuple[NDArray[np.int8], ...]
    """For each run int8, shape (n, n_rho, M, 2)."""

    @property
    def hardness(self) -> dict[str, NDArray[np.uint8]]:
        """For each run which quantifiers of hard cases hold, by row."""
        return {
            run.name: pack_hardness(answers, self.versions.gold)
            for run, answers in zip(self.runs, self.answers, strict=True)
        }


def gather_answers(runs: Sequence[FinishedRun]) -> list[TestSetAnswers]:
    """Read the test sets of runs, each once, with the answers of all its runs."""
    by_test_set: dict[str, list[FinishedRun]] = {}
    for run in runs:
        if run.test_set is not None:
            by_test_set.setdefault(run.test_set, []).append(run)
    return [
        TestSetAnswers(
            versions=own[0].read_versions(),
            runs=tuple(own),
            answers=tuple(run.read_answers() for run in own),
        )
        for own in by_test_set.values()
    ]


def pack(found: TestSetAnswers) -> dict[str, str]:
    """Compress a test set for the page."""
    versions = found.versions
    described = {
        "n": len(versions),
        "columns": list(versions.columns),
        "labels": list(versions.label_names),
        "texts": [versions.original[name].to_pylist() for name in versions.columns],
        "edits": _pack_edits(versions),
        "runs": [
            {
                "name": run.name,
                "rho": [rho.rho for rho in run.rhos],
                "m": run.n_classifiers,
            }
            for run in found.runs
        ],
        "quantifiers": [each.title for each in QUANTIFIERS.values()],
    }
    blocks = [versions.gold.astype(np.uint8), versions.changed.astype(np.uint8)]
    hardness = found.hardness
    for run, answers in zip(found.runs, found.answers, strict=True):
        blocks += [hardness[run.name], answers.astype(np.uint8).ravel()]
    return {
        "texts": compress(json.dumps(described, ensure_ascii=False).encode()),
        "answers": compress(np.concatenate(blocks).tobytes()),
    }


def compress(data: bytes) -> str:
    """Return data gzipped, in base64."""
    # Without a time, so that equal runs give equal pages.
    return base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode("ascii")


def _pack_edits(versions: Versions) -> dict[str, Any]:
    edits = versions.edits  # by column, row and start
    names = edits["column"].cast(pa.string())
    column = pc.index_in(names, pa.array(versions.columns)).to_numpy().astype(np.int64)
    rules = edits["rule"].cast(pa.string()).combine_chunks().dictionary_encode()
    start, end = (edits[name].to_numpy().astype(np.int64).copy() for name in ("start", "end"))
    row = edits["row"].to_numpy().astype(np.int64)
    for number, name in enumerate(versions.columns):
        texts = versions.original[name]
        wide = pc.not_equal(pc.binary_length(texts), pc.utf8_length(texts)).to_numpy()
        for place in np.flatnonzero((column == number) & wide[row]):
            data = texts[int(row[place])].as_py().encode()
            # JavaScript counts UTF-16 code units.
            first = _n_units(data[: start[place]])
            start[place], end[place] = first, first + _n_units(data[start[place] : end[place]])
    return {
        "row": row.tolist(),
        "column": column.tolist(),
        "start": start.tolist(),
        "end": end.tolist(),
        "new": edits["new"].to_pylist(),
        "rule": np.asarray(rules.indices).tolist(),
        "rules": rules.dictionary.to_pylist(),
    }


def _n_units(data: bytes) -> int:
    return len(data.decode().encode("utf-16-le")) // 2
