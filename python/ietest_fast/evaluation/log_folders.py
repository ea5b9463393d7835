"""Folders of logs, as harnesses write them for several tasks, and which of the logs is meant."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.evaluation.readers import READERS, find_reader
from ietest_fast.evaluation.readers.base import FileStart
from ietest_fast.evaluation.run_metadata import plain_name
from ietest_fast.plurals import say_count

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENDINGS = (".jsonl", ".json", ".eval")
_PACKED = (".gz", ".bz2", ".zst")
# A table may be anything; only what a harness has written is a log of a task.
_TABLE = "table"
# More is no folder of logs but somebody's home.
_MOST_FILES = 10_000
_MOST_SHOWN = 20


def find_logs(
    paths: Sequence[str | Path], tasks: Sequence[str], *, reader: str | None = None
) -> list[Path]:
    """Return the logs that paths lead to: files as they are, of folders those of the tasks."""
    places = [Path(path) for path in paths]
    if tasks and not any(path.is_dir() for path in places):
        raise InputError("a task is named (--task), and no folder in which to look for its log")
    found: list[Path] = []
    for path in places:
        if not path.is_dir():
            found.append(path)
            continue
        logs = _list_tasks(path, reader)
        if not logs:
            raise InputError(
                "is a folder, a file expected, or a folder with logs of a harness in it", path=path
            )
        wanted = tasks or list(logs)
        if not tasks and len(logs) > 1:
            raise InputError(
                f"is a folder with logs of {len(logs)} tasks: {_show(sorted(logs))}; --task names "
                "one, and another --task one more",
                path=path,
            )
        for task in wanted:
            own = logs.get(task, [])
            if not own:
                raise InputError(
                    f"has no log of the task {task!r}; it has {_show(sorted(logs))}", path=path
                )
            if len(own) > 1:
                names = _show([str(each.relative_to(path)) for each in own])
                raise InputError(
                    f"has {len(own)} logs of the task {task!r}: {names}; name the file that is "
                    "meant in place of the folder",
                    path=path,
                )
            found += own
    return found


def _list_tasks(folder: Path, reader: str | None) -> dict[str, list[Path]]:
    """Return the logs in a folder by the names of their tasks."""
    found: dict[str, list[Path]] = {}
    logs: list[Path] = []
    n_files = 0
    # All are counted before one is opened.
    for place, folders, names in os.walk(folder):
        folders.sort()
        n_files += len(names)
        logs += [Path(place, name) for name in sorted(names) if _may_be_log(name)]
        if n_files > _MOST_FILES:
            raise InputError(
                f"is a folder with more than {say_count(_MOST_FILES, 'file', 'files')}; name the "
                "one that holds the logs",
                path=folder,
            )
    for path in logs:
        # What cannot be read, or is of no harness, is no log.
        with contextlib.suppress(InputError):
            task = _task_of(path, reader)
            if task is not None:
                found.setdefault(task, []).append(path)
    return found


def _may_be_log(name: str) -> bool:
    """Whether a file's name ends as those of logs do, packed or not."""
    plain = name.lower()
    for packed in _PACKED:
        plain = plain.removesuffix(packed)
    return plain.endswith(_ENDINGS)


def _task_of(path: Path, reader: str | None) -> str | None:
    name, found = (reader, READERS.find(reader)()) if reader else find_reader(path)
    if name == _TABLE:
        return None
    start = FileStart.of(path)
    if reader and not found.recognises(start):
        return None
    name_task = getattr(found, "name_task", None)
    return plain_name(path) if name_task is None else str(name_task(start))


def _show(names: Sequence[str]) -> str:
    more = len(names) - _MOST_SHOWN
    return ", ".join([*names[:_MOST_SHOWN], *([f"and {more} more"] if more > 0 else [])])
