"""Corpora from templates, as files."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from ietest_fast import __version__
from ietest_fast.atomic import UNFINISHED, write_file
from ietest_fast.corpus.batch_writer import BatchWriter
from ietest_fast.errors import InputError, ResourceError
from ietest_fast.templates.drawing import PairDrawer
from ietest_fast.templates.naming import check_disjoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ietest_fast.templates.drawing import ProvedTemplates
    from ietest_fast.templates.naming import Names
    from ietest_fast.templates.solver import Label

RECORD = "templates.json"
"""The file of the folder that says how the others were made."""


@dataclass(frozen=True)
class SplitPlan:
    """One file of a corpus.

    Parameters
    ----------
    name
        Of the split, and of the file.
    n_rows
        1 or more.
    names
        For its entities.
    """

    name: str
    n_rows: int
    names: Names


@dataclass(frozen=True)
class CorpusPlan:
    """What is written.

    Parameters
    ----------
    folder
        Where; it is made if it is not there.
    splits
        One or more.
    label_names
        What rows say for each label.
    seed
        Of all draws.
    form
        ``parquet``, ``csv``, ``tsv`` or ``jsonl``.
    about
        Further entries for the record.
    """

    folder: Path
    splits: tuple[SplitPlan, ...]
    label_names: Mapping[Label, str]
    seed: int
    form: str
    about: Mapping[str, object]

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
    """Stop if the files cannot be written, as far as that can be told without writing.

    Raises
    ------
    InputError
        If something stands in the folder: corpora would be mixed.
    ResourceError
        If the folder cannot be made.
    """
    folder = plan.folder
    try:
        names = sorted(each.name for each in folder.iterdir())
    except FileNotFoundError:
        _check_writable(folder, next(each for each in folder.absolute().parents if each.exists()))
        return
    except NotADirectoryError as error:
        file = next(each for each in (folder, *folder.absolute().parents) if each.is_file())
        raise ResourceError(f"{file}: is a file, a folder expected") from error
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be read: {error.strerror or error}") from error
    _check_writable(folder, folder)
    visible = [name for name in names if not name.startswith(".")]
    if visible:
        raise InputError(
            f"is not empty: {visible[0]!r} stands in it; name a new folder, or empty this one",
            path=folder,
        )


def _check_writable(folder: Path, place: Path) -> None:
    """Stop if a folder cannot be made or filled at a place."""
    if not os.access(place, os.W_OK | os.X_OK):
        raise ResourceError(f"{folder}: nothing may be written in {str(place)!r}")


def _remove_leftovers(folder: Path) -> None:
    """Remove what a command that was killed has left in an empty folder."""
    for path in folder.glob(f".*{UNFINISHED}"):
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

    The files appear when all of them are complete.

    Parameters
    ----------
    proved
        From :func:`ietest_fast.templates.drawing.prove_templates`.
    plan
        What to write.
    n_threads
        All cores by default. The rows do not depend on it.
    on_rows
        Called after each batch with the number of rows so far.

    Returns
    -------
    dict
        What stands in the record, ``templates.json``.

    Raises
    ------
    InputError
        If there are fewer names than a shape has entities, or something stands in the folder.
    ResourceError
        If a file cannot be written.
    """
    drawers = [draw_split(proved, plan, split) for split in plan.splits]
    check_plan(plan)
    _remove_leftovers(plan.folder)
    with _made(plan.folder), contextlib.ExitStack() as stack:
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
        record = _record(proved, plan)
        text = json.dumps(record, ensure_ascii=False, indent=2)
        write_file(plan.folder / RECORD, lambda file: _write(file, f"{text}\n"))
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


def _write(file: BinaryIO, text: str) -> None:
    file.write(text.encode())
