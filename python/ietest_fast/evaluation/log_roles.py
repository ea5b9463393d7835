"""Which version and which classifier a log is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.evaluation.log_texts import Part, have_same_inputs, have_same_texts
from ietest_fast.evaluation.predictions import ORIGINAL
from ietest_fast.evaluation.readers.base import MODEL_OF_ANSWERS, OF_MODELS
from ietest_fast.values import as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ietest_fast.evaluation.readers import Answers

LogsAre = Literal["versions", "models"]

_TRANSFORMED = "transformed"
# Settings of which nothing is known where there is no value.
_IF_KNOWN = frozenset({"n-shot", MODEL_OF_ANSWERS})


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
        return _name_tables(logs, logs_are=logs_are)
    tasks = _tasks(logs)
    models = [log.model for log in logs]
    n_models = len(set(models))
    is_said = logs_are is not None
    if logs_are is None:
        logs_are = _decide(logs, tasks, models)
    if logs_are == "models":
        named = models if n_models == len(logs) and None not in models else _stems(logs)
        parts = [
            Part(log=log, version=log.version or ORIGINAL, model=str(name))
            for log, name in zip(logs, named, strict=True)
        ]
        which = ", ".join(f"{part.model} ({part.log.path})" for part in parts)
        said = f"The logs are of {len(logs)} classifiers on the same items: {which}."
        if is_said:
            return parts, [said]
        if not all(have_same_inputs(logs[0], log) for log in logs[1:]):
            said += " Their documents are the same, and their prompts differ."
        return parts, [f"{said} --logs-are versions if they are versions."]
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
    notes = _compare_said(parts)
    if all(log.is_scored for log in logs) or len(logs) > 2:
        which = ", ".join(_say(part) for part in parts)
        return parts, [f"The logs are versions of the same items: {which}.", *notes]
    return parts, notes


def _compare_said(parts: Sequence[Part]) -> list[str]:
    """Refuse an original that another table says it is, and tell versions with one name.

    The order of the files says which is the original; a column ``version`` may say otherwise.
    """
    said = [
        (part, label_key(part.log.said_version))
        for part in parts
        if part.log.said_version is not None
    ]
    notes = []
    for place, (part, name) in enumerate(said):
        if name == ORIGINAL and part.version != ORIGINAL and said[0][1] != ORIGINAL:
            first = parts[0].log
            raise InputError(
                f"holds the originals by its column version, but {first.path} comes first and "
                "holds another version; give the file of the originals first",
                path=part.log.path,
            )
        same = next((other for other, known in said[:place] if known == name), None)
        if same is not None and same.model == part.model:
            notes.append(
                f"Warning: {part.log.path} and {same.log.path} are both of version "
                f"{part.log.said_version} by their columns version, and they are compared as two."
            )
    return notes


def _name_tables(
    logs: Sequence[Answers], *, logs_are: LogsAre | None
) -> tuple[list[Part], list[str]]:
    """Name the logs of tables that hold several versions each.

    Tables that have a version in common are of one classifier if they agree about it and have
    other versions beside it, and otherwise of several.
    """
    places: dict[tuple[str | None, str | None], Answers] = {}
    again: list[tuple[Answers, Answers]] = []
    new: set[Path] = set()
    for log in logs:
        known = places.setdefault((log.model, log.version), log)
        if known is not log:
            again.append((known, log))
        elif log.path != logs[0].path:
            new.add(log.path)
    other = next((pair for pair in again if not _say_the_same(*pair)), None)
    if logs_are == "versions" and other is not None:
        raise InputError(
            f"answers {other[1].version!r} otherwise than {other[0].path}, so it is of another "
            "classifier: --logs-are models compares the two",
            path=other[1].path,
        )
    are_joined = other is None and all(log.path in new for _, log in again)
    if again and (logs_are == "models" or (logs_are is None and not are_joined)):
        paths = list(dict.fromkeys(log.path for log in logs))
        firsts = [next(log for log in logs if log.path == path) for path in paths]
        names = dict(zip(paths, _stems(firsts), strict=True))
        parts = [
            Part(
                log=log,
                version=log.version or "",
                model=names[log.path] if log.model is None else f"{log.model} ({names[log.path]})",
            )
            for log in logs
        ]
        which = ", ".join(dict.fromkeys(f"{part.model} ({part.log.path})" for part in parts))
        n = len({part.model for part in parts})
        return parts, [f"The logs are of {n} classifiers on the same items: {which}."]
    several = len({log.model for log in logs}) > 1
    dropped = [id(log) for _, log in again]
    notes = [
        f"{log.path}: its answers to {log.version!r} are those of {known.path}; they count once."
        for known, log in again
    ]
    return [
        Part(log=log, version=log.version or "", model=log.model if several else None)
        for log in logs
        if id(log) not in dropped
    ], notes


def _say_the_same(first: Answers, second: Answers) -> bool:
    """Whether two logs give the same answers to the same items, in any order."""
    found = []
    for log in (first, second):
        columns = [log.items, *(log.keys[name] for name in sorted(log.keys))]
        columns += [log.gold, log.predicted, log.correct]
        rows = [
            [None] * len(log) if each is None else as_texts(each, path=log.path).to_pylist()
            for each in columns
        ]
        found.append(set(zip(*rows, strict=True)))
    return found[0] == found[1] and len(first) == len(second)


def _decide(logs: Sequence[Answers], tasks: Sequence[str], models: Sequence[str | None]) -> LogsAre:
    """Find out whether several logs are versions or classifiers."""
    if len(set(tasks)) == 1 and all(log.inputs is not None for log in logs):
        return "models"
    known = [place for place, model in enumerate(models) if model is not None]
    other = next((place for place in known if models[place] != models[known[0]]), None)
    if other is not None and (len(logs) == 2 or len(set(tasks)) == len(logs)):
        raise InputError(
            f"these logs are of two models ({models[known[0]]} and {models[other]}), and their "
            "texts differ, too; a paired test would mix both. --logs-are versions or --logs-are "
            "models says what is compared",
            path=logs[other].path,
        )
    return "versions"


def say_other_settings(logs: Sequence[Answers]) -> list[str]:
    """Say in what the models were asked otherwise, whose answers are not comparable for that."""
    told = [log for log in logs if log.settings]
    several = len({log.model for log in told}) > 1
    differ = []
    for name in told[0].settings if told else ():
        values = [log.settings.get(name) for log in told]
        if name in _IF_KNOWN and None in values:
            continue  # what else is null was not given
        if any(value != values[0] for value in values) and not (several and name in OF_MODELS):
            shown = " and ".join(dict.fromkeys(map(show_value, values)))
            differ.append(f"{name} ({shown})")
    note = (
        f"Warning: the logs differ in {', '.join(differ)}; differences between their answers may "
        "come of that."
    )
    return [note] if differ else []


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
