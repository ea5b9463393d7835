"""``results.json``: written by a run, and read by whoever does not trust it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ietest_fast.atomic import write_text
from ietest_fast.errors import InputError, StoreError
from ietest_fast.experiment.artefacts import reading
from ietest_fast.experiment.coherence import check_coherence, compare, shorten
from ietest_fast.experiment.schema import RESULTS_FORMAT, RunResult
from ietest_fast.files import parse_json, read_bytes

RESULTS = "results.json"

MOST_BYTES = 1 << 29
"""A file beyond it is nothing that a run has written."""


def write_results(result: RunResult, folder: Path) -> RunResult:
    """Write ``results.json`` into the run's folder and return the results that know their
    folder.
    """
    text = json.dumps(result.to_dict(), indent=1, allow_nan=False)
    write_text(folder / RESULTS, text + "\n")
    return result.located(folder)


def read_results(folder: str | Path) -> RunResult:
    """Read and check a run's ``results.json``.

    The file is input like any other: types, ranges, and that every number that follows from others
    does (:mod:`ietest_fast.experiment.coherence`), p-values of the exact law included.
    """
    folder = Path(folder)
    path = folder / RESULTS
    if not path.exists():
        begun = (folder / "run.sqlite").is_file()
        raise InputError(
            "its run has not ended yet; give its command again" if begun else "is no run's folder",
            path=folder,
        )
    with reading(path):
        text = read_bytes(path, most_bytes=MOST_BYTES)
        written = parse_json(text, path)
        found = written.get("format") if isinstance(written, dict) else None
        if found != RESULTS_FORMAT:
            is_of = "says no format" if found is None else f"is of format {shorten(found)}"
            raise StoreError(
                f"{path}: {is_of}, this version reads {RESULTS_FORMAT}; "
                "give the run's command again, which trains nothing anew"
            )
        return check_results(text, written).located(folder)


def check_results(text: bytes, written: Any) -> RunResult:
    """Make results of the bytes of a file, and of what JSON says that they hold."""
    try:
        result = RunResult.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from None
    needed = result.model_dump(mode="json", exclude_defaults=True)
    compare(written, result.to_dict(), needed, "")
    check_coherence(result)
    return result
