"""Corpora from templates, as files."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ietest_fast import __version__
from ietest_fast.atomic import UNFINISHED, name_temporary, put_back_on_error, write_file
from ietest_fast.corpus.batch_writer import BatchWriter
from ietest_fast.errors import InputError, ResourceError
from ietest_fast.files import read_json
from ietest_fast.templates.drawing import PairDrawer
from ietest_fast.templates.naming import check_disjoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ietest_fast.templates.drawing import ProvedTemplates
    from ietest_fast.templates.naming import Names
    from ietest_fast.templates.solver import Label

RECORD = "templates.json"
"""The file of the folder that says how the others were made."""

_APPEARING = ".templates.appearing"
# Which files are about to appear: those that stand there without a record are of a killed command.

_UNFINISHED = re.compile(rf"\.[0-9a-f]{{16}}{re.escape(UNFINISHED)}\Z")


@dataclass(frozen=True)
class SplitPlan:
    """One file of a corpus."""

    name: str
    """Of the split, and of the file."""
    n_rows: int
    """1 or more."""
    names: Names
    """For its entities."""


@dataclass(frozen=True)
class CorpusPlan:
    """What is written."""

    folder: Path
    """Where; it is made if it is not there."""
    splits: tuple[SplitPlan, ...]
    """One or more."""
    label_names: Mapping[Label, str]
    """What rows say for each label."""
    seed: int
    """Of all draws."""
    form: str
    """``parquet``, ``csv``, ``tsv`` or ``jsonl``."""
    about: Mapping[str, object]
    """Further entries for the record."""

    def path_of(self, split: SplitPlan) -> Path:
        """Return the file of a split."""
        return self.folder / f"{split.name}.{self.form}"

    @property
    def are_disjoint(self) -> bool:
        """Whether no name stands in two splits."""
        try:
            check_disjoint([(each.name, each.names) for each in self.splits])
        except InputError:
            return False
        return True


def check_plan(plan: CorpusPlan) -> None:
    """Stop if the files cannot be written, as far as that can be told without writing."""
    folder = plan.folder
    try:
        _check_empty(folder)
    except FileNotFoundError:
        _check_writable(folder, next(each for each in folder.absolute().parents if each.exists()))
        return
    except NotADirectoryError as error:
        places = (folder, *folder.absolute().parents)
        wrong = next(each for each in places if each.exists() and not each.is_dir())
        raise ResourceError(f"{wrong}: is no folder; name another one") from error
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be read: {error.strerror or error}") from error
    _check_writable(folder, folder)
    with _held(folder):
        pass


def _check_empty(folder: Path) -> None:
    names = sorted(each.name for each in folder.iterdir())
    own = _list_left_over(folder)
    visible = [name for name in names if not name.startswith(".") and name not in own]
    if visible:
        raise InputError(
            f"is not empty: {visible[0]!r} stands in it; name a new folder, or empty this one",
            path=folder,
        )


def _check_writable(folder: Path, place: Path) -> None:
    """Stop if a folder cannot be made or filled at a place."""
    if not os.access(place, os.W_OK | os.X_OK):
        raise ResourceError(f"{folder}: nothing may be written in {str(place)!r}")


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Keep other commands from writing into a folder; False where it cannot be locked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be read: {error.strerror or error}") from error
    try:
        is_locked = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                "another command is writing there; wait for it or name another folder", path=folder
            ) from error
        except OSError:  # some network file systems lock files only
            is_locked = False
        yield is_locked
    finally:
        os.close(descriptor)


def _list_left_over(folder: Path) -> list[str]:
    """List the files of a command that was killed while its files appeared, one by one."""
    if not (folder / _APPEARING).exists() or (folder / RECORD).exists():
        return []
    found = read_json(folder / _APPEARING)
    names = found if isinstance(found, list) else []
    return [name for name in names if isinstance(name, str) and Path(name).name == name]


def _remove_leftovers(plan: CorpusPlan) -> None:
    """Remove what a command has left in the folder when it was killed."""
    for name in _list_left_over(plan.folder):
        (plan.folder / name).unlink(missing_ok=True)
    targets = [*map(plan.path_of, plan.splits), plan.folder / RECORD]
    own = {_UNFINISHED.sub("", name_temporary(each).name) for each in targets}
    for path in plan.folder.glob(f".*{UNFINISHED}"):
        start, n_endings = _UNFINISHED.subn("", path.name)
        if n_endings and start in own and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder with its parents, and remove those again after an error that are empty."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be made: {error.strerror or error}") from error
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for each in new:
                each.rmdir()
        raise


def draw_split(proved: ProvedTemplates, plan: CorpusPlan, split: SplitPlan) -> PairDrawer:
    """Return what draws the pairs of a split; each split has a seed of its own."""
    try:
        return PairDrawer(
            proved,
            split.names,
            label_names=plan.label_names,
            seed=(plan.seed, *split.name.encode()),
        )
    except InputError as error:
        raise InputError(f"split {split.name!r}: {error}") from error


def write_corpus(
    proved: ProvedTemplates,
    plan: CorpusPlan,
    *,
    n_threads: int | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> dict[str, object]:
    """Draw the pairs of all splits, and write them in batches.

    The files appear when all of them are complete, the record last; after an error there are none.
    """
    drawers = [draw_split(proved, plan, split) for split in plan.splits]
    check_plan(plan)
    with (
        _made(plan.folder),
        _held(plan.folder) as is_locked,
        contextlib.ExitStack() as stack,
    ):
        _check_empty(plan.folder)
        if is_locked:
            _remove_leftovers(plan)
        writers: list[BatchWriter] = []
        for split, drawer in zip(plan.splits, drawers, strict=True):
            writer = BatchWriter(plan.path_of(split), drawer.draw(0, 1, n_threads=1).schema)
            writers.append(stack.enter_context(writer))
        n_done = 0
        for split, drawer, writer in zip(plan.splits, drawers, writers, strict=True):
            for batch in drawer.batches(split.n_rows, n_threads=n_threads):
                writer.write(batch)
                n_done += batch.num_rows
                if on_rows is not None:
                    on_rows(n_done)
        for writer in writers:
            writer.finish()
        stack.callback((plan.folder / _APPEARING).unlink, missing_ok=True)
        _write_text(plan.folder / _APPEARING, json.dumps([each.path.name for each in writers]))
        for writer in writers:
            stack.enter_context(put_back_on_error(writer.path))
            writer.publish()
        record = _record(proved, plan)
        text = json.dumps(record, ensure_ascii=False, indent=2)
        _write_text(plan.folder / RECORD, f"{text}\n")
    return record


def _record(proved: ProvedTemplates, plan: CorpusPlan) -> dict[str, object]:
    return {
        "ietest_fast": __version__,
        **plan.about,
        "tasks": [task.name for task in proved.tasks],
        "templates": len(proved.templates),
        "shapes_proved": proved.n_shapes,
        "labels": _unique([plan.label_names[each.label] for each in proved.templates]),
        "seed": plan.seed,
        "splits": {
            split.name: {
                "file": plan.path_of(split).name,
                "rows": split.n_rows,
                "people": len(split.names.women) + len(split.names.men),
                "places": len(split.names.places),
            }
            for split in plan.splits
        },
        "names_are_disjoint": plan.are_disjoint,
    }


def _unique(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _write_text(path: Path, text: str) -> None:
    try:
        with put_back_on_error(path):
            write_file(path, lambda file: _write(file, text))
    except OSError as error:
        raise ResourceError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write(file: BinaryIO, text: str) -> None:
    file.write(text.encode())
