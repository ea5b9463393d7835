"""Which version and which classifier a log is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ietest_fast.errors import InputError
from ietest_fast.evaluation.log_texts import have_same_texts
from ietest_fast.evaluation.predictions import ORIGINAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ietest_fast.evaluation.readers import Answers

LogsAre = Literal["versions", "models"]

_TRANSFORMED = "transformed"


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A log, and which version and classifier it is of."""

    log: Answers
    version: str
    model: str | None


def name_parts(
    logs: Sequence[Answers], *, logs_are: LogsAre | None
) -> tuple[list[Part], list[str]]:
    """Say which version and which classifier each log is of."""
    if len(logs) == 1 and logs[0].version is None:
        raise InputError(
            "holds one version only; give the log of another version, or of another classifier on "
            "the same items, as a second file (of a folder, by a second --task)",
            path=logs[0].path,
        )
    if all(log.version is not None for log in logs):
        several = len({log.model for log in logs}) > 1
        return [
            Part(log=log, version=log.version or "", model=log.model if several else None)
            for log in logs
        ], []
    tasks = _tasks(logs)
    models = [log.model for log in logs]
    n_models = len(set(models))
    if logs_are is None:
        logs_are = _decide(logs, tasks, models)
    if logs_are == "models":
        named = models if n_models == len(logs) and None not in models else _stems(logs)
        parts = [
            Part(log=log, version=log.version or ORIGINAL, model=str(name))
            for log, name in zip(logs, named, strict=True)
        ]
        which = ", ".join(f"{part.model} ({part.log.path})" for part in parts)
        return parts, [f"The logs are of {len(logs)} classifiers on the same items: {which}."]
    if n_models > 1 and len(set(tasks)) < len(logs):
        # Several classifiers, each on the same versions.
        versions = [ORIGINAL if task == tasks[0] else task for task in tasks]
        parts = [
            Part(log=log, version=version, model=model or str(log.path))
            for log, version, model in zip(logs, versions, models, strict=True)
        ]
    else:
        names = [_TRANSFORMED] if len(logs) == 2 else _distinct(logs, tasks)[1:]
        parts = [
            Part(log=log, version=version, model=None)
            for log, version in zip(logs, [ORIGINAL, *names], strict=True)
        ]
    if all(log.is_scored for log in logs) or len(logs) > 2:
        which = ", ".join(_say(part) for part in parts)
        return parts, [f"The logs are versions of the same items: {which}."]
    return parts, []


def _decide(logs: Sequence[Answers], tasks: Sequence[str], models: Sequence[str | None]) -> LogsAre:
    """Find out whether several logs are versions or classifiers."""
    if len(set(tasks)) == 1 and all(log.inputs is not None for log in logs):
        return "models"
    if len(logs) == 2 and len(set(models)) == 2 and None not in models:
        raise InputError(
            f"these logs are of two models ({models[0]} and {models[1]}), and their texts differ, "
            "too; a paired test would mix both. --logs-are versions or --logs-are models says what "
            "is compared",
            path=logs[1].path,
        )
    return "versions"


def _tasks(logs: Sequence[Answers]) -> list[str]:
    """Return what tells the texts of logs apart: logs with the same texts have the same name."""
    found: list[str] = []
    for place, log in enumerate(logs):
        same = next(
            (i for i, other in enumerate(logs[:place]) if have_same_texts(log, other)), None
        )
        found.append(found[same] if same is not None else f"{log.name}\0{place}")
    shown = [task.partition("\0")[0] for task in found]
    unique = dict(zip(found, shown, strict=True))
    clash = len(set(unique.values())) < len(unique)
    return [task.replace("\0", " ") if clash else unique[task] for task in found]


def _stems(logs: Sequence[Answers]) -> list[str]:
    return _distinct(logs, [log.path.stem for log in logs])


def _distinct(logs: Sequence[Answers], names: Sequence[str]) -> list[str]:
    """Return names that differ: as they are, or with the folders before them."""
    if len(set(names)) == len(names):
        return list(names)
    paths = [str(log.path) for log in logs]
    if len(set(paths)) == len(paths):
        return paths
    return [f"{path} ({place})" for place, path in enumerate(paths, start=1)]


def _say(part: Part) -> str:
    model = "" if part.model is None else f" of {part.model}"
    return f"{part.version}{model} ({part.log.path})"
