"""Where finished runs come from: folders of runs, and files of counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ietest_fast.errors import InputError
from ietest_fast.experiment.results import RESULTS
from ietest_fast.report.counts import read_counts
from ietest_fast.report.runs import read_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ietest_fast.report.runs import FinishedRun

# What tells runs of one model apart, in turn, and the word that leads to it in a name.
_LINKS = {"data_name": " on ", "transformation": " under ", "source": ", "}


def read_runs(
    folders: Sequence[str | Path],
    names: Sequence[str] = (),
    *,
    where: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
) -> list[FinishedRun]:
    """Read finished runs, each from a folder or all those in a file of counts.

    Runs whose names would be equal are told apart by what differs: data, transformation, folder.

    Parameters
    ----------
    folders
        Folders of runs, and files of counts; see :func:`~ietest_fast.report.counts.read_counts`.
    names
        One for each run, instead of the models' names; none: found.
    where, alpha, margin
        For files of counts: which rows are meant, and how they are tested.

    Raises
    ------
    InputError
        As for :func:`read_run`; also without a run, or with another number of names.
    """
    runs: list[FinishedRun] = []
    for folder in map(Path, folders):
        if folder.name == RESULTS and folder.is_file():
            raise InputError("belongs to a run; name its folder", path=folder)
        if folder.is_file():
            runs.extend(read_counts(folder, where=where, alpha=alpha, margin=margin))
        else:
            runs.extend(read_folder(folder))
    if not runs:
        raise InputError("there is no run to report on")
    return name_runs(runs, names)


def name_runs(runs: Sequence[FinishedRun], names: Sequence[str] = ()) -> list[FinishedRun]:
    """Give runs the names asked for, or make those they have differ; see :func:`read_runs`."""
    if names:
        if len(names) != len(runs) or len(set(names)) < len(names):
            raise InputError(
                f"{len(runs)} {'runs need' if len(runs) > 1 else 'run needs'} as many different "
                f"names, not {', '.join(names)}"
            )
        return [run.renamed(name) for run, name in zip(runs, names, strict=True)]
    for attribute, link in _LINKS.items():
        by_name: dict[str, set[str]] = {}
        for run in runs:
            by_name.setdefault(run.name, set()).add(_say(run, attribute))
        runs = [
            run.renamed(f"{run.name}{link}{_say(run, attribute)}")
            if len(by_name[run.name]) > 1
            else run
            for run in runs
        ]
    taken: set[str] = set()
    different = []
    for run in runs:
        name, again = run.name, 1
        while name in taken:
            again += 1
            name = f"{run.name} ({again})"
        taken.add(name)
        different.append(run.renamed(name))
    return different


def _say(run: FinishedRun, attribute: str) -> str:
    value = getattr(run, attribute)
    return value.name if isinstance(value, Path) else str(value)
