"""Predictions from logs: which versions and classifiers they are of, row matched with row."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ietest_fast.answers.alignment import (
    Epochs,
    align,
    align_pair,
    check_gold,
    check_repeats,
    keep_common,
    name_order,
    prepare,
    say_other_ids,
    say_other_labels,
    with_own_gold,
)
from ietest_fast.answers.assembly import assemble
from ietest_fast.answers.file import plain_name, refuse_no_rewordings
from ietest_fast.answers.labels import Unparsed, check_names
from ietest_fast.answers.readers import READERS, Fields, Log, find_reader, read_log
from ietest_fast.answers.readers.base import FileStart
from ietest_fast.answers.readers.facts_beside import say_named_otherwise
from ietest_fast.answers.readers.facts_of_tables import say_flips_of_files
from ietest_fast.answers.readers.label_columns import check_named
from ietest_fast.answers.readers.settings import (
    OF_MODELS,
    OF_REQUESTS,
    OF_SOME,
    OF_TABLES,
)
from ietest_fast.answers.table import ORIGINAL
from ietest_fast.answers.texts import (
    VersionLog,
    have_same_inputs,
    have_same_texts,
    say_contradictions,
    say_other_texts,
    say_wrong_targets,
)
from ietest_fast.corpus.columns import usual_label_column
from ietest_fast.corpus.labels import label_key
from ietest_fast.errors import InputError
from ietest_fast.numerals import say_count
from ietest_fast.values import as_texts, show_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ietest_fast.answers.table import Predictions


# Folders of logs, as harnesses write them for several tasks, and which of the logs is meant.

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


# Which version and which classifier a log is of.

LogsAre = Literal["versions", "models"]

_TRANSFORMED = "transformed"
# Settings of which nothing is known where there is no value.
_IF_KNOWN = frozenset({"n-shot", *OF_SOME, *OF_REQUESTS})
_OF_ANY_TABLE = frozenset({"model", "model_name", *OF_TABLES})


def name_parts(
    logs: Sequence[Log], *, logs_are: LogsAre | None
) -> tuple[list[VersionLog], list[str]]:
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
            VersionLog(log=log, version=log.version or ORIGINAL, model=str(name))
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
            VersionLog(log=log, version=version, model=model or str(log.path))
            for log, version, model in zip(logs, versions, models, strict=True)
        ]
    else:
        names = [_TRANSFORMED] if len(logs) == 2 else _distinct(logs, tasks)[1:]
        parts = [
            VersionLog(log=log, version=version, model=None)
            for log, version in zip(logs, [ORIGINAL, *names], strict=True)
        ]
    notes = _compare_said(parts)
    if all(log.is_scored for log in logs) or len(logs) > 2:
        which = ", ".join(_say(part) for part in parts)
        return parts, [f"The logs are versions of the same items: {which}.", *notes]
    return parts, notes


def _compare_said(parts: Sequence[VersionLog]) -> list[str]:
    """Refuse an original that another table says it is, and tell versions with one name.

    The order of the files says which is the original; a column ``version`` may say otherwise.
    """
    said = [
        (part, label_key(part.log.said_version))
        for part in parts
        if part.log.said_version is not None
    ]
    first, notes = parts[0].log, []
    for part in parts[1:]:
        for name, is_original in part.log.sides.items():
            if is_original and first.sides.get(name) is False and part.version != ORIGINAL:
                _refuse_order(first, part.log, name)
    for place, (part, name) in enumerate(said):
        if name == ORIGINAL and part.version != ORIGINAL and said[0][1] != ORIGINAL:
            _refuse_order(first, part.log, None)
        same = next((other for other, known in said[:place] if known == name), None)
        if same is not None and same.model == part.model:
            notes.append(
                f"Warning: {part.log.path} and {same.log.path} are both of version "
                f"{part.log.said_version} by what they say of it, and they are compared as two."
            )
    return notes


def _refuse_order(first: Log, log: Log, column: str | None) -> None:
    raise InputError(
        f"holds the originals by what it says of its version, but {first.path} comes first and "
        "holds another one; give the file of the originals first",
        path=log.path,
        column=column,
    )


def _name_tables(
    logs: Sequence[Log], *, logs_are: LogsAre | None
) -> tuple[list[VersionLog], list[str]]:
    """Name the logs of tables that hold several versions each.

    Tables that have a version in common are of one classifier if they agree about it and have
    other versions beside it, and otherwise of several.
    """
    places: dict[tuple[str | None, str | None], Log] = {}
    again: list[tuple[Log, Log]] = []
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
            VersionLog(
                log=log,
                version=log.version or "",
                model=names[log.path] if log.model is None else f"{log.model} ({names[log.path]})",
            )
            for log in logs
        ]
        which = ", ".join(dict.fromkeys(f"{part.model} ({part.log.path})" for part in parts))
        return parts, [_say_models(which, firsts, logs)] if len(paths) > 1 else []
    several = len({log.model for log in logs}) > 1
    dropped = [id(log) for _, log in again]
    notes = [
        f"{log.path}: its answers to {log.version!r} are those of {known.path}; they count once."
        for known, log in again
    ]
    return [
        VersionLog(log=log, version=log.version or "", model=log.model if several else None)
        for log in logs
        if id(log) not in dropped
    ], notes


def _say_models(which: str, tables: Sequence[Log], logs: Sequence[Log]) -> str:
    """Say of which classifiers tables are, and of how many items all have answers."""
    own = [
        {
            item
            for log in logs
            if log.path == table.path and log.items is not None
            for item in as_texts(log.items, path=log.path).to_pylist()
        }
        for table in tables
    ]
    n_all, n_shared = len(set().union(*own)), len(set.intersection(*own))
    if n_all == n_shared:
        return f"The logs are of {len(own)} classifiers on the same items: {which}."
    return (
        f"Warning: the logs are of {len(own)} classifiers: {which}. All have answered "
        f"{n_shared:,} of {say_count(n_all, 'item')}, so their numbers are of other items; give "
        "the answers to the same items to compare the classifiers."
    )


def _say_the_same(first: Log, second: Log) -> bool:
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


def _decide(logs: Sequence[Log], tasks: Sequence[str], models: Sequence[str | None]) -> LogsAre:
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


def say_other_settings(parts: Sequence[VersionLog]) -> list[str]:
    """Say in what the models were asked otherwise, whose answers are not comparable for that.

    Columns of tables are compared by model: each may have its own.
    """
    told = [part for part in parts if part.log.settings]
    several = len({part.log.model for part in told}) > 1
    differ = []
    for name in dict.fromkeys(name for part in told for name in part.log.settings):
        by_model: dict[tuple[Any, ...], list[Any]] = {}
        for part in (part for part in told if name in part.log.settings):
            key = _name_classifier(part) if name in _OF_ANY_TABLE else ()
            by_model.setdefault(key, []).append(part.log.settings[name])
        for values in by_model.values():
            if (several and name in OF_MODELS) or (name in _IF_KNOWN and None in values):
                continue  # what else is null was not given
            if any(value != values[0] for value in values):
                shown = " and ".join(dict.fromkeys(map(show_value, values)))
                differ.append(f"{name} ({shown})")
                break
    is_one = len({part.log.path for part in told}) == 1
    which = f"the versions in {told[0].log.path}" if is_one else "the logs"
    note = (
        f"Warning: {which} differ in {', '.join(differ)}; differences between their answers may "
        "come of that."
    )
    return [note] if differ else []


def _name_classifier(part: VersionLog) -> tuple[Any, ...]:
    """Return what tells the classifier of a log from others, also those of retrained models."""
    keys = part.log.keys
    return (part.model, *(keys[name][0].as_py() for name in ("m", "rho") if name in keys))


def _tasks(logs: Sequence[Log]) -> list[str]:
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


def _stems(logs: Sequence[Log]) -> list[str]:
    return _distinct(logs, [log.path.stem for log in logs])


def _distinct(logs: Sequence[Log], names: Sequence[str]) -> list[str]:
    """Return names that differ: as they are, or with the folders before them."""
    if len(set(names)) == len(names):
        return list(names)
    paths = [str(log.path) for log in logs]
    if len(set(paths)) == len(paths):
        return paths
    return [f"{path} ({place})" for place, path in enumerate(paths, start=1)]


def _say(part: VersionLog) -> str:
    model = "" if part.model is None else f" of {part.model}"
    return f"{part.version}{model} ({part.log.path})"


# Formats of this package whose answers were not filtered; a package that adds one may have filters.
_WITHOUT_FILTERS = frozenset({"table", "inspect", "helm"})

_PERCENT = 100.0

NOT_IN_ALL = "not in all logs"
"""Why an item is left out where only common ones are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadLogs:
    """What logs say."""

    predictions: Predictions
    """The long table."""
    notes: tuple[str, ...]
    """Sentences about what was decided while reading: which log is which version or classifier,
    which metric was taken, how many answers could not be parsed."""
    model: str | None = None
    """What all logs call their one model, which the table does not name; None if there are more."""


def read_predictions(*paths: str | Path, **options: Any) -> Predictions:
    """Read predictions from logs and tables.

    Parameters
    ----------
    *paths
        One file with all versions, or one for each version or classifier, the original first.
    **options
        As for :func:`read_logs`.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        As for :func:`read_logs`.
    """
    if not paths:
        raise InputError("read_predictions needs a file, or several")
    for path in paths:
        if not isinstance(path, str | Path):
            raise InputError(
                f"read_predictions reads files, and this is of type {type(path).__name__}: write a "
                "table to a CSV or Parquet file first, or give it to ie.consistency or "
                "ie.paired_test"
            )
    return read_logs(paths, **options).predictions


def read_logs(
    paths: Sequence[str | Path],
    *,
    tasks: Sequence[str] = (),
    reader: str | None = None,
    logs_are: LogsAre | None = None,
    gold_path: str | Path | None = None,
    gold_column: str | None = None,
    columns: Sequence[str | None] | None = None,
    correct_columns: Sequence[str | None] | None = None,
    id_column: str | None = None,
    filter: str | None = None,  # noqa: A002 - its name in lm-evaluation-harness
    threshold: float | None = None,
    epochs: Epochs = "all",
    common_items: bool = False,
    keep_columns: Sequence[str] = (),
    label_names: Sequence[str] | None = None,
    unparsed: Unparsed | None = None,
) -> ReadLogs:
    """Read predictions from logs, and say what was decided on the way."""
    for name, value, known in (
        ("logs_are", logs_are, (None, *get_args(LogsAre))),
        ("epochs", epochs, get_args(Epochs)),
        ("unparsed", unparsed, (None, *get_args(Unparsed))),
    ):
        if value not in known:
            names = ", ".join("None" if each is None else each for each in known)
            raise InputError(f"{name} must be one of {names}, not {value!r}")
    paths = find_logs(paths, tasks, reader=reader)
    for path in paths:
        refuse_no_rewordings(path)
    if label_names is not None:
        check_names(label_names)
    fields = Fields(
        item=id_column,
        gold=gold_column,
        filter=filter,
        threshold=threshold,
        keep=tuple(keep_columns),
        is_alone=len(paths) == 1,
    )
    own = [_of_log(fields, n, len(paths), columns, correct_columns) for n in range(len(paths))]

    def read_one(place: int, filter: str | None) -> Sequence[Log]:  # noqa: A002
        return read_log(paths[place], replace(own[place], filter=filter), reader=reader)

    by_path = [read_one(place, filter) for place in range(len(paths))]
    common, filters = _choose_filter([log for logs in by_path for log in logs], filter)
    for place, found in enumerate(by_path):
        if any(log.filters and log.filters[0] != common for log in found):
            by_path[place] = read_one(place, common)
    logs = [log for found in by_path for log in found]
    _check_effects(
        paths,
        logs,
        reader=reader,
        filter=filter,
        logs_are=logs_are,
        epochs=epochs,
        common_items=common_items,
    )
    judges = _check_judges(logs)
    if threshold is not None:
        _check_scores(logs)
        judges += say_threshold([log.correct for log in logs if log.correct is not None], threshold)
        judges += _say_units(logs, threshold)
    if threshold is None:  # a score may be too low for an answer that is the target
        judges += say_wrong_targets(logs)
    for path, column in dict.fromkeys((log.path, log.gold_column) for log in logs):
        both = (each for log in logs if log.path == path for each in (log.gold, log.predicted))
        counted = [each for each in both if each is not None]
        judges += say_named_otherwise(path, column, label_names or (), counted)
    logs, prepared = prepare(logs, epochs=epochs, threshold=threshold)
    if gold_path is not None:
        logs = _with_gold(logs, Path(gold_path), gold_column, id_column)
    check_named([each for log in logs for each in log.named])
    parts, roles = name_parts(logs, logs_are=logs_are)
    n_left_out = 0
    if common_items:
        parts, n_left_out = keep_common(parts)
    ordered = [note for part in parts[1:] for note in say_other_ids(parts[0].log, part.log)]
    parts = align(parts, has_ids=id_column is not None)
    repeated = [*check_repeats(parts), *say_other_labels(parts)]
    _check_kept(logs, keep_columns)
    predictions, notes = assemble(
        parts,
        label_names=None if label_names is None else tuple(label_names),
        unparsed=unparsed,
    )
    if n_left_out:
        predictions = replace(predictions, dropped=predictions.dropped | {NOT_IN_ALL: n_left_out})
    models = {log.model for log in logs}
    return ReadLogs(
        predictions=predictions,
        model=models.pop() if len(models) == 1 else None,
        notes=(
            *filters,
            *(note for log in logs for note in log.notes),
            *prepared,
            *roles,
            *say_other_settings(parts),
            *judges,
            *repeated,
            *ordered,
            *say_contradictions(parts),
            *say_other_texts(parts),
            *_say_flips(predictions, parts, reader=reader),
            *notes,
        ),
    )


def _say_flips(
    predictions: Predictions, parts: Sequence[VersionLog], *, reader: str | None
) -> list[str]:
    """Say where tables of one version each count other flips than there are."""
    files = {part.version: part.log.path for part in parts}
    is_each = len({part.log.path for part in parts}) == len(parts) == len(predictions.versions) > 1
    # Whether all are tables is found out by reading their starts.
    if is_each and all((reader or find_reader(path)[0]) == "table" for path in files.values()):
        return say_flips_of_files(predictions, files)
    return []


def _check_kept(logs: Sequence[Log], names: Sequence[str]) -> None:
    """Stop if no log has a column that is to be kept; of several, one is enough."""
    for name in names:
        if not any(name in log.columns for log in logs):
            raise InputError("there is no such column", path=logs[0].path, column=name)


def _check_effects(
    paths: Sequence[Path],
    logs: Sequence[Log],
    *,
    reader: str | None,
    filter: str | None,  # noqa: A002
    logs_are: LogsAre | None,
    epochs: Epochs,
    common_items: bool,
) -> None:
    """Refuse what says nothing of these logs and would be ignored."""
    if filter is None and logs_are is None and epochs == "all" and not common_items:
        return
    kinds = {reader or find_reader(path)[0] for path in paths}
    if (
        epochs != "all"
        and not any(log.repeats or log.repeated for log in logs)
        and kinds == {"table"}
    ):
        raise InputError(
            f"has one answer to each item, so --epochs {epochs} has no effect: it is for logs with "
            "several; leave it out",
            path=paths[0],
        )
    if filter is not None and kinds <= _WITHOUT_FILTERS:
        raise InputError(
            f"has no filters, so --filter {filter} has no effect: it is for logs of "
            "lm-evaluation-harness; leave it out",
            path=paths[0],
        )
    if logs_are is not None and len(paths) == 1:
        raise InputError(
            f"is one log, so --logs-are {logs_are} has no effect: it says what several are; leave "
            "it out, or give the other logs, too",
            path=paths[0],
        )
    if not common_items:
        return
    from ietest_fast.answers.readers.tables import holds_versions

    if len(paths) == 1 and kinds == {"table"} and not holds_versions(paths[0]):
        raise InputError(
            "has all versions of an item in one row, so --common-items has no effect: it is for "
            "logs that lack items of others; leave it out",
            path=paths[0],
        )
    if all(log.items is None for log in logs):
        raise InputError(
            "does not name its items, and rows are matched by their order, so --common-items has "
            "no effect; name a column of ids with --id-column",
            path=paths[0],
        )


def _check_scores(logs: Sequence[Log]) -> None:
    """Refuse a threshold for logs that have labels, not scores."""
    for log in logs:
        if log.correct is None:
            raise InputError(
                "a threshold (--threshold) is for scores, and this log has answers and right "
                "answers; --correct-columns names a column of scores",
                path=log.path,
            )


def say_threshold(columns: Sequence[pa.Array | pa.ChunkedArray], threshold: float) -> list[str]:
    """Say that a threshold tells no answers apart, which a slip such as 50 for 0.5 does."""
    known = {outcome for each in columns for outcome in each.unique().to_pylist()} - {None}
    if len(known) != 1:
        return []
    which, what = (
        ("every score reaches", "right") if known == {True} else ("no score reaches", "wrong")
    )
    return [f"Warning: {which} the threshold {threshold:g}, so all answers count as {what}."]


def _say_units(logs: Sequence[Log], threshold: float) -> list[str]:
    """Say that one threshold serves shares and what seem to be percentages."""
    known = [(log, *log.scores) for log in logs if log.scores is not None and log.scores[0] >= 0]
    shares = [log for log, _, most in known if 0 < most <= 1]
    others = [(log, most) for log, _, most in known if 1 < most <= _PERCENT]
    if not shares or not others:
        return []
    one, two = (
        str(log.path) if log.version is None else f"{log.version} in {log.path}"
        for log in (shares[0], others[0][0])
    )
    said = (
        f"Warning: the scores of {one} are between 0 and 1, those of {two} go up to "
        f"{others[0][1]:g}, and one threshold, {threshold:g}, serves both; write both in one unit."
    )
    return [said]


def _choose_filter(logs: Sequence[Log], wanted: str | None) -> tuple[str | None, list[str]]:
    """Return the first filter that all logs have, and what there is to say about the choice."""
    filtered = [log for log in logs if log.filters]
    if not filtered or wanted is not None:
        return wanted, []
    common = filtered[0].filters
    for log in filtered[1:]:
        both = tuple(name for name in common if name in log.filters)
        if not both:
            raise InputError(
                f"has answers of the filter {_show_names(log.filters)}, and {filtered[0].path} of "
                f"{_show_names(common)}; only answers of one filter are compared, so give all "
                "tasks the same",
                path=log.path,
            )
        common = both
    if all(len(log.filters) == 1 for log in filtered):
        return common[0], []
    others = f"; --filter chooses another ({', '.join(common[1:])})" if common[1:] else ""
    why = others or ", the only one that all logs have"
    return common[0], [f"The answers of the filter {common[0]!r} are compared{why}."]


def _show_names(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names))


def _check_judges(logs: Sequence[Log]) -> list[str]:
    """Stop if readers have chosen different judges for logs that could have the same; else say so.

    Each takes the first that says right or wrong, which may be another in another log.
    """
    judged = [log for log in logs if log.judged_by]
    others: list[str] = []
    for log in judged[1:]:
        first = judged[0]
        if log.judged_by[0] == first.judged_by[0]:
            continue
        common = [name for name in first.judged_by[1:] if name in log.judged_by[1:]]
        if common:
            raise InputError(
                f"is right or wrong by {log.judged_by[0]!r}, and {first.path} by "
                f"{first.judged_by[0]!r}; --correct-columns {common[0]} takes the same for both",
                path=log.path,
            )
        others.append(
            f"Warning: {log.path} is right or wrong by {log.judged_by[0]!r}, and {first.path} by "
            f"{first.judged_by[0]!r}, and they have no judge in common: a difference may be one "
            "between the judges."
        )
    return others


def _of_log(
    fields: Fields,
    place: int,
    n_paths: int,
    columns: Sequence[str | None] | None,
    correct: Sequence[str | None] | None,
) -> Fields:
    """Return what the user has named in one of the logs."""
    if n_paths == 1:
        return replace(
            fields,
            answer_columns=tuple(columns or ()),
            correct_columns=tuple(correct or ()),
            predicted=columns[0] if columns is not None and len(columns) == 1 else None,
            correct=correct[0] if correct is not None and len(correct) == 1 else None,
        )
    for names in (columns, correct):
        if names is not None and len(names) not in {1, n_paths}:
            raise InputError(
                f"{len(names)} columns are named for {n_paths} logs; name one for all, or one for "
                "each"
            )

    def pick(names: Sequence[str | None] | None) -> str | None:
        return None if names is None else names[0] if len(names) == 1 else names[place]

    return replace(fields, predicted=pick(columns), correct=pick(correct))


def _with_gold(
    logs: Sequence[Log], path: Path, column: str | None, id_column: str | None
) -> list[Log]:
    """Return the logs with the gold labels of a table."""
    from ietest_fast.answers.readers.facts_beside import (
        find_number_names,
        list_beside,
        say_other_facts,
    )
    from ietest_fast.answers.readers.table_columns import list_columns, read_values

    there = list_columns(path)
    if column is None:
        column = usual_label_column(path, there, how="gold_column, --gold-column") or "label"
    table = read_values(path, [column] if id_column is None else [column, id_column])
    ids = {}
    for name in there:
        if name not in {id_column, column} and there.count(name) == 1:
            with contextlib.suppress(InputError):  # nobody has asked for it; it may name the rows
                ids[name] = read_values(path, [name])[name].combine_chunks()
    gold = Log(
        path=path,
        name=path.stem,
        items=None if id_column is None else table[id_column].combine_chunks(),
        gold=table[column],
        ids=ids,
        gold_column=column,
    )
    beside = {name: ids[name] for name in list_beside(there, column) if name in ids}
    notes = say_other_facts(beside, table[column], column, {}, path=path)
    named = find_number_names(
        [*ids],
        lambda wanted: {name: ids[name] for name in wanted},
        {column: table[column]},
        {},
        path=path,
        is_alone=True,
    )
    found: list[Log] = []
    for log in logs:
        own = replace(log, ids=name_order(log, gold) | dict(log.ids))
        _, aligned = align_pair(own, gold, has_ids=id_column is not None)
        check_gold(with_own_gold(log), aligned)
        found.append(
            replace(
                log,
                gold=aligned.gold,
                own_gold=with_own_gold(log).gold,
                own_gold_column=with_own_gold(log).gold_column,
                right=None,
                gold_column=column,
                gold_path=path,
                named=(*named, *log.named),
                notes=(*log.notes, *(() if found else notes), *say_other_ids(own, gold)),
            )
        )
    return found
