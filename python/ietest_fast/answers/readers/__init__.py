"""Readers of logs, by name, and which of them a file is for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ietest_fast.answers.readers.base import Fields, FileStart, Log, Reader
from ietest_fast.corpus.formats import check_readable
from ietest_fast.errors import InputError
from ietest_fast.registry import Registry, lacks_methods

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["READERS", "Fields", "FileStart", "Log", "Reader", "find_reader", "read_log"]

_HERE = "ietest_fast.answers.readers"

READERS: Registry[type[Reader]] = Registry(
    group="ietest_fast.readers",
    # In the order in which they are asked whether a file is theirs; the first two need its start.
    builtin={
        "inspect": f"{_HERE}.inspect_ai:InspectReader",
        "helm": f"{_HERE}.helm:HelmReader",
        "lm-eval": f"{_HERE}.lm_eval:LmEvalReader",
        "table": f"{_HERE}.tables:TableReader",
    },
    noun="reader",
    check=lacks_methods("readers", "recognises", "read", see=f"{_HERE}.Reader"),
)
"""All readers of logs; packages add theirs by the entry-point group ``ietest_fast.readers``."""

# Takes every file with a table's name, and so comes last.
_LAST = "table"


def find_reader(path: str | Path, name: str | None = None) -> tuple[str, Reader]:
    """Find the reader of a name, or the one that a file is for by its content, and its name."""
    if name is not None:
        return name, READERS.find(name)()
    start = FileStart.of(Path(path))
    names = READERS.names()
    for each in (*(other for other in names if other != _LAST), _LAST):
        reader = READERS.find(each)()
        if reader.recognises(start):
            return each, reader
    known = "; ".join(f"{each}: {READERS.find(each).summary}" for each in names)
    raise InputError(f"is of no known format. --reader names one ({known})", path=path)


def read_log(
    path: str | Path, fields: Fields | None = None, *, reader: str | None = None
) -> Sequence[Log]:
    """Read a log with the reader of a name, or the one that it is for."""
    check_readable(Path(path))
    _, found = find_reader(path, reader)
    answers = found.read(Path(path), fields or Fields())
    if not any(len(each) for each in answers):
        raise InputError("has no answers", path=path)
    return answers
